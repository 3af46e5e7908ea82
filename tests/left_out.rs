//! Paths that are left out change no outcome, and hide nothing: those that only poll more often, and addresses that no
//! value gives.

use engine::{ENGINES, ExecutionFacts, Limits};
use execution::unfold::Unfolded;
use litmus::Test;
use model::memory::VariableId;
use model::program::{AccessEvents, ContestedBytes};
use model::ptx;
use model::value::Value;

use crate::agree::{
    Answer, BOUND, ELSEWHERE, LONG, MIXED, SMALL, WIDE, ask, difference, law, parse,
};
use crate::suite;

/// A thread that polls, up to three times, and does something before and after it.
fn polling(loads: [&str; 3], again: &str, [before, after]: [&str; 2], partner: &str) -> Test {
    let lines: Vec<String> = [
        before,
        &format!("{} r0, [x]", loads[0]),
        "setp.ne.u32 p0, r0, 0",
        "@p0 bra end",
        again,
        &format!("{} r0, [x]", loads[1]),
        "setp.ne.u32 p0, r0, 0",
        "@p0 bra end",
        again,
        &format!("{} r0, [x]", loads[2]),
        "end: ld.weak.u32 r1, [y]",
        after,
    ]
    .map(|line| format!(" {line} ;"))
    .into_iter()
    .filter(|line| line != "  ;")
    .collect();
    let partner: Vec<&str> = partner.split(';').map(str::trim).collect();
    let rows = (0..lines.len().max(partner.len())).map(|row| {
        let own = lines.get(row).map_or("", |line| line.trim_end_matches(" ;"));
        format!("{own} | {} ;", partner.get(row).unwrap_or(&""))
    });
    let text = format!(
        "PTX polling\n{{ uint32_t x=0; uint32_t y=0; uint32_t z=0; }}\nP0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 0,gpu 0 ;\n{0}\nlocations [0:r0; 0:r1; {1}x; y; z;]\nexists (0:r1=0)\n",
        rows.collect::<Vec<_>>().join("\n"),
        [
            if partner.concat().contains("r0") { "1:r0; " } else { "" },
            if !before.is_empty() && again.contains("r2") { "0:r2; " } else { "" },
            if again.contains("r3") { "0:r3; " } else { "" },
        ]
        .concat(),
    );
    litmus::parse("polling", text.as_bytes())
        .unwrap_or_else(|errors| panic!("it does not parse: {}\n{text}", errors[0]))
}

/// Paths that only poll more often than others change no outcome, and hide no undefined behaviour.
#[test]
fn covered_paths_change_no_outcome() {
    let model = ptx::model();
    let (weak, relaxed, acquire) = ("ld.weak.u32", "ld.relaxed.gpu.u32", "ld.acquire.gpu.u32");
    let loads = [
        [relaxed, relaxed, relaxed],
        [acquire, acquire, acquire],
        [acquire, relaxed, relaxed],
        [relaxed, relaxed, acquire],
        [weak, weak, weak],
        [weak, relaxed, weak],
        [relaxed, weak, acquire],
    ];
    let others = [
        "",
        "fence.acq_rel.gpu",
        "st.weak.u32 [z], 1",
        "ld.relaxed.gpu.u32 r2, [z]",
        "add.u32 r3, r3, 1",
    ];
    let partners = [
        "st.weak.u32 [y], 1; st.release.gpu.u32 [x], 1",
        "st.weak.u32 [y], 1; st.weak.u32 [x], 1; st.relaxed.gpu.u32 [z], 1",
        "ld.relaxed.gpu.u32 r0, [z]; fence.sc.gpu; st.relaxed.gpu.u32 [x], 2",
        "st.weak.u16 [x], 1; st.release.gpu.u32 [z], 1",
        "st.weak.u16 [z], 1; st.release.gpu.u32 [x], 1",
    ];
    let (mut compared, mut omitted) = (0, 0);
    for loads in loads {
        for again in others {
            for around in [["", ""], ["st.relaxed.gpu.u32 [z], 2", "fence.sc.gpu"]] {
                for partner in partners {
                    let test = polling(loads, again, around, partner);
                    let mut less = test.clone();
                    less.program.omits_covered = true;
                    for engine in ENGINES {
                        let answers = [&test, &less].map(|test| ask(*engine, &model, test));
                        if let [Ok(all), Ok(less)] = &answers {
                            let difference = difference(("all", all), ("less", less));
                            assert_eq!(difference, None, "{loads:?} {again} {around:?} {partner}");
                            compared += 1;
                        }
                    }
                    let unfolded = Unfolded::new(&less.program, model.conventions, BOUND);
                    let left_out = unfolded.is_ok_and(|all| !all.covered[0].is_empty());
                    omitted += ENGINES.len() * usize::from(left_out);
                }
            }
        }
    }
    assert!(omitted * 5 > compared, "{omitted} of {compared}");
}

/// A loop that reads other bytes before it polls again: they may race where the flag does not.
const READS_BETWEEN: &str = r"PTX reads-between
{ uint32_t x=0; uint32_t z=0; }
P0@cta 0,cluster 0,gpu 0          | P1@cta 1,cluster 0,gpu 0      ;
 again: ld.relaxed.gpu.u32 r0, [x] | st.weak.u16 [z], 1            ;
 setp.ne.u32 p0, r0, 0             | st.relaxed.gpu.u32 [x], 1     ;
 @p0 bra end                       |                               ;
 ld.relaxed.gpu.u32 r1, [z]        |                               ;
 bra again                         |                               ;
 end: ld.relaxed.gpu.u32 r0, [x]   |                               ;
locations [0:r0;]
exists (0:r0=1)
";

/// The address of a load at which paths meet depends on a read.
const COMPUTED_AT_A_LABEL: &str = r"PTX computed-at-a-label
{ uint32_t x=0; uint32_t y[4]={0,1,0,0}; uint64_t 0:r1=y; }
P0@cta 0,cluster 0,gpu 0              | P1@cta 1,cluster 0,gpu 0     ;
 atom.add.relaxed.gpu.u32 r3, [x], 1   | st.relaxed.gpu.u32 [y+4], 2  ;
 mul.wide.u32 r2, r3, 4                | st.release.gpu.u32 [x], 1    ;
 add.u64 r2, r2, r1                    |                              ;
 again: ld.acquire.gpu.u32 r4, [r2]    |                              ;
 setp.ne.u32 p0, r4, r3                |                              ;
 @p0 bra again                         |                              ;
locations [0:r3; 0:r4; y[1];]
exists (0:r4=1)
";

#[test]
fn an_address_that_is_computed_where_paths_meet_is_kept() {
    let test = litmus::parse("", COMPUTED_AT_A_LABEL.as_bytes()).expect("a test");
    let mut less = test.clone();
    less.program.omits_covered = true;
    for engine in ENGINES {
        let [all, less] = [&test, &less].map(|test| ask(*engine, &ptx::model(), test));
        let (all, less) = (all.expect("an answer"), less.expect("an answer"));
        assert_eq!(difference(("all", &all), ("less", &less)), None);
    }
}

/// An address is read whole, of which a half is written.
const HALF_OF_AN_ADDRESS: &str = r"PTX half-of-an-address
{ uint32_t x[64]; uint64_t y=0; uint32_t z=0; uint64_t 0:r1=x; }
P0@cta 0,cluster 0,gpu 0      | P1@cta 1,cluster 0,gpu 0   ;
 ld.acquire.gpu.u32 r0, [z]    | st.weak.u32 [y], 8         ;
 setp.eq.u32 p0, r0, 0         | st.release.gpu.u32 [z], 1  ;
 @p0 bra end                   |                            ;
 ld.weak.u64 r2, [y]           |                            ;
 add.u64 r2, r2, r1            |                            ;
 st.weak.u32 [r2], 5           |                            ;
 end:                          |                            ;
locations [0:r0; x[0]; x[1]; x[2];]
exists (0:r0=1)
";

/// With the values of the half, only the addresses are tried that there can be.
#[test]
fn an_address_that_is_written_in_parts_has_few_values() {
    let test = litmus::parse("", HALF_OF_AN_ADDRESS.as_bytes()).expect("a test");
    let named = |name: &str| {
        let at = test.program.variables.iter().position(|variable| variable.name == name);
        VariableId(u16::try_from(at.expect("a variable")).expect("few variables"))
    };
    let bytes = |name: &str, length: u32, values: &[Value]| ContestedBytes {
        variable: named(name),
        start: 0,
        length,
        values: Some(values.to_vec()),
    };
    let mut less = test.clone();
    less.program.contested =
        Some(vec![bytes("y", 8, &[]), bytes("y", 4, &[8]), bytes("z", 4, &[1])]);
    let mut model = ptx::model();
    model.conventions.tearing = false;
    // The addresses that the rest of the program can make are not looked at.
    model.conventions.thin_air = true;
    let paths = [&test, &less].map(|test| {
        let all = Unfolded::new(&test.program, model.conventions, BOUND);
        all.expect("few paths").paths[0].len()
    });
    // It ends, or accesses one of two places, or none.
    assert!(paths[0] > 64 && paths[1] == 4, "{paths:?}");
    for engine in ENGINES {
        let [all, less] = [&test, &less].map(|test| ask(*engine, &model, test));
        let (all, less) = (all.expect("an answer"), less.expect("an answer"));
        assert_eq!(difference(("all", &all), ("less", &less)), None);
    }
}

#[test]
fn a_read_that_races_is_not_left_out() {
    let mut test = litmus::parse("", READS_BETWEEN.as_bytes()).expect("a test");
    test.program.omits_covered = true;
    for engine in ENGINES {
        let limits = Limits { unending: false, ..Limits::unlimited(BOUND) };
        let mut seen = ExecutionFacts::default();
        let visit = &mut |_: &[Value], _: &dyn Fn() -> engine::witness::Witness| {
            std::ops::ControlFlow::Continue(())
        };
        let found = engine.outcomes(&ptx::model(), &test.program, &limits, &mut seen, visit);
        assert_eq!(found, Ok(()));
        assert!(seen.undefined.is_some(), "{}", engine.name());
    }
}

/// Of one variable, each of two threads has some bytes for itself, and both access others.
const BYTES_OF_SEVERAL: &str = r"PTX bytes-of-several
{ uint64_t x=0x1111111111111111; uint32_t y=0; }
P0@cta 0,cluster 0,gpu 0       | P1@cta 1,cluster 0,gpu 0    ;
 st.weak.u8 [x+1], 2            | st.weak.u8 [x+6], 4         ;
 st.relaxed.gpu.u16 [x+2], 3    | st.relaxed.gpu.u16 [x+2], 5 ;
 ld.relaxed.gpu.u32 r0, [y]     | st.relaxed.gpu.u32 [y], 7   ;
 st.weak.u8 [x+7], r0           |                             ;
locations [0:r0; x; y;]
exists (0:r0=7)
";

#[test]
fn bytes_of_several_threads_end_as_each_left_them() {
    let test = litmus::parse("", BYTES_OF_SEVERAL.as_bytes()).expect("a test");
    let bytes = |variable: u16, start: u32, length: u32| ContestedBytes {
        variable: VariableId(variable),
        start,
        length,
        values: None,
    };
    let mut less = test.clone();
    less.program.contested = Some(vec![bytes(0, 2, 2), bytes(1, 0, 4)]);
    let model = ptx::model();
    let unfolded = Unfolded::new(&less.program, model.conventions, BOUND).expect("few paths");
    let private = |of: usize| unfolded.paths[of].iter().all(|path| !path.private.is_empty());
    assert!(private(0) && private(1));
    for engine in ENGINES {
        let [all, less] = [&test, &less].map(|test| ask(*engine, &model, test));
        let (all, less) = (all.expect("an answer"), less.expect("an answer"));
        let Answer::Outcomes(outcomes) = &all else { panic!("{} has none", engine.name()) };
        assert_eq!(outcomes.len(), 4, "two values of the half word, two of the load");
        assert_eq!(difference(("all", &all), ("less", &less)), None, "{}", engine.name());
    }
}

/// The answers to a test, with events for all accesses, and without those that change nothing for other threads; whether there
/// were fewer events.
fn apart(test: &Test) -> Result<bool, String> {
    let model = ptx::model();
    let mut less = test.clone();
    less.program.access_events = AccessEvents::OfInterest;
    for engine in ENGINES {
        if let [Ok(all), Ok(less)] = &[test, &less].map(|test| ask(*engine, &model, test))
            && let Some(difference) = difference(("all", all), ("less", less))
        {
            return Err(format!("{}: {difference}", engine.name()));
        }
    }
    let events = [test, &less].map(|test| {
        let unfolded = Unfolded::new(&test.program, model.conventions, BOUND).ok()?;
        Some(unfolded.paths.iter().flatten().map(|path| path.events.len()).sum::<usize>())
    });
    Ok(events[1] < events[0])
}

#[test]
fn accesses_that_change_nothing_for_others_need_no_events() {
    let (mut compared, mut fewer) = (0, 0);
    for entry in suite::load(&suite::folder()) {
        if entry.test.dialect == litmus::Dialect::Cxx {
            continue;
        }
        match apart(&entry.test) {
            Ok(less) => fewer += usize::from(less),
            Err(what) => panic!("{}: {what}", entry.test.name),
        }
        compared += 1;
    }
    eprintln!("{fewer} of {compared} tests have fewer events");
    assert!(fewer * 10 > compared, "{fewer} of {compared}");
    let shapes = [SMALL, LONG, WIDE, MIXED, ELSEWHERE];
    law("accesses apart", &shapes, 200, |sketch| apart(&parse(sketch)).map(drop));
}

/// Of the bytes of an access that is an event, one alone is another thread's, too.
const PART_OF_AN_ACCESS: &str = r"PTX part-of-an-access
{ x=0; f=0; }
P0@cta 0,gpu 0              | P1@cta 1,gpu 0              ;
 st.weak.u16 [x], 7         | st.weak.u8 [x+3], 1         ;
 ld.acquire.gpu.u32 r1, [f] | st.release.gpu.u32 [f], 1   ;
 setp.eq.u32 p, r1, 0       |                             ;
 @p bra E                   |                             ;
 ld.weak.u32 r0, [x]        |                             ;
 E:                         |                             ;
exists (P0:r0=16777223)
";

/// What is written last depends on no read.
const WRITTEN_TWICE: &str = r"PTX written-twice
{ x=0; y=0; s=0; }
P0@cta 0,gpu 0               | P1@cta 1,gpu 0             ;
 ld.relaxed.gpu.u32 r0, [y]  | ld.relaxed.gpu.u32 r1, [x] ;
 and.b32 r2, r0, 0           | st.relaxed.gpu.u32 [y], r1 ;
 add.u32 r2, r2, 1           |                            ;
 st.weak.u32 [s], r2         |                            ;
 st.weak.u32 [s], 1          |                            ;
 ld.weak.u32 r3, [s]         |                            ;
 st.relaxed.gpu.u32 [x], r3  |                            ;
exists (P0:r0=1 /\ P1:r1=1)
";

/// The atomic writes what is there, and that depends on the read.
const ADDED_NOTHING: &str = r"PTX added-nothing
{ x=0; y=0; s=1; }
P0@cta 0,gpu 0                         | P1@cta 1,gpu 0             ;
 ld.relaxed.gpu.u32 r0, [y]            | ld.relaxed.gpu.u32 r1, [x] ;
 and.b32 r2, r0, 0                     | st.relaxed.gpu.u32 [y], r1 ;
 atom.relaxed.cta.add.u32 r4, [s], r2  |                            ;
 ld.weak.u32 r3, [s]                   |                            ;
 st.relaxed.gpu.u32 [x], r3            |                            ;
exists (P0:r0=1 /\ P1:r1=1)
";

#[test]
fn bytes_without_events_keep_their_values_and_what_these_depend_on() {
    let model = ptx::model();
    let cases = [(PART_OF_AN_ACCESS, true), (WRITTEN_TWICE, true), (ADDED_NOTHING, false)];
    for (text, allowed) in cases {
        let test = litmus::parse("", text.as_bytes()).expect("a test");
        assert_eq!(apart(&test).map(drop), Ok(()), "{text}");
        let judgement = judge::judge(&test, &suite::task(&model));
        assert_eq!(judgement.positive > 0, allowed, "{text}");
    }
}

/// Shared memory of another CTA, which no other thread accesses.
const REMOTE: &str = r"PTX remote
Arch=sm_90
{ .shared .b32 s; .shared .b32 t; P1:ra=s@P0; }
P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 0,gpu 0         ;
                         | st.shared::cluster.u32 [ra], 1   ;
                         | st.shared::cta.u32 [t], 1        ;
exists ([t@P1]=1)
";

/// Whether its CTA may have exited is asked of an event.
#[test]
fn shared_memory_of_another_cta_keeps_its_events() {
    let mut test = litmus::parse("", REMOTE.as_bytes()).expect("a test");
    test.program.access_events = AccessEvents::OfInterest;
    let model = ptx::model();
    let unfolded = Unfolded::new(&test.program, model.conventions, BOUND).expect("few paths");
    let lines = |path: &execution::path::Path| path.events.iter().map(|of| of.line).collect();
    let lines: Vec<Vec<u16>> = unfolded.paths[1].iter().map(lines).collect();
    assert_eq!(lines, [[0]]);
}

/// What a copy reads, and whether something writes it: another thread, a copy, or a store of which only memory says where.
const COPIED: [(&str, &str, bool); 4] = [
    ("", "", true),
    ("", "st.relaxed.gpu.global.u32 [g], 9", false),
    ("cp.async.ca.shared::cta.global [s+8], [h], 4; ", "ld.relaxed.gpu.u32 r1, [x]", true),
    ("", "ld.relaxed.gpu.u64 rd, [x]; add.u64 rd, rd, rg; st.relaxed.gpu.u32 [rd], 9", false),
];

/// What nobody writes is copied without an event for the read.
#[test]
fn what_nobody_writes_is_copied_without_an_event() {
    let model = ptx::model();
    for (first, other, unwritten) in COPIED {
        let own = format!(
            "{first}cp.async.ca.shared::cta.global [s], [g], 8; cp.async.wait_all; \
             ld.weak.shared::cta.u32 r0, [s+4]; ld.weak.shared::cta.u32 r2, [s]"
        );
        let (own, other): (Vec<&str>, Vec<&str>) =
            (own.split("; ").collect(), other.split("; ").collect());
        let rows = own
            .iter()
            .enumerate()
            .map(|(row, cell)| format!("{cell} | {} ;\n", other.get(row).copied().unwrap_or("")));
        let written = format!(
            "PTX copied\nArch=sm_90\n{{ .global .b32 g[4]={{7,8}}; .global .b32 h[4]={{5}}; .shared .b32 s[4]; \
             .global .b64 x; P1:rg=g; }}\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n{}\
             locations [P0:r2;]\n~exists (P0:r0!=8)\n",
            rows.collect::<String>()
        );
        let test = litmus::parse("copied", written.as_bytes())
            .unwrap_or_else(|errors| panic!("{}\n{written}", errors[0]));
        assert_eq!(apart(&test).map(drop), Ok(()), "{written}");
        let mut less = test.clone();
        less.program.access_events = AccessEvents::OfInterest;
        let events = [&test, &less].map(|test| {
            let unfolded = Unfolded::new(&test.program, model.conventions, BOUND);
            unfolded.expect("few paths").paths[0][0].events.len()
        });
        assert_eq!(events[1] < events[0], unwritten, "{events:?}: {written}");
    }
}
