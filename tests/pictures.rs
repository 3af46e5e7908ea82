//! The pictures of explanations: current, well-formed, without loaded resources, with labels that can be read.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::suite;

/// The pictures of the documentation, and the tests that they are of.
const PICTURES: &[(&str, &str)] = &[
    ("MP-forbidden", "causality-axiom/MP+st.release.gpu+ld.acquire.gpu.litmus"),
    ("MP-allowed", "causality-axiom/MP+st.release.cta+ld.acquire.cta.litmus"),
    ("IRIW-forbidden", "fence-sc-order/IRIW+st.relaxed.gpu+ld.relaxed.gpu+fence.sc.gpu.litmus"),
    ("ISA2-forbidden", "memory-synchronization/ISA2+barrier.cluster+st.release.sys.litmus"),
];

/// Other tests whose pictures must be readable.
const OTHERS: &[&str] = &[
    "litmus/suite/fence-sc-order/SB+two-fences.litmus",
    "litmus/suite/fence-sc-order/IRIW+st.relaxed.gpu+ld.relaxed.gpu.litmus",
    "litmus/suite/memory-synchronization/ISA2+bar.sync+st.release.gpu.litmus",
    "litmus/suite/memory-synchronization/ISA2+atom.acq_rel.gpu-in-the-middle.litmus",
    "litmus/suite/overlap/MP+st.u8+four-bytes.litmus",
    "litmus/suite/atomicity-axiom/atom.relaxed.gpu.add+st.relaxed.gpu.litmus",
    "litmus/suite/no-thin-air-axiom/LB+selp+selp.litmus",
];

/// What `explain` prints of a text.
fn explained(arguments: &[&str], input: &str) -> String {
    let mut checker = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .arg("explain")
        .args(arguments)
        .current_dir(suite::root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    checker.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let output = checker.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).expect("output is text")
}

fn drawn(path: &str) -> String {
    explained(&["--format=svg", path], "")
}

fn attribute(of: &BytesStart<'_>, name: &str) -> String {
    let found = of.try_get_attribute(name).expect("attributes are well-formed");
    found.map_or(String::new(), |found| String::from_utf8_lossy(&found.value).into_owned())
}

/// The elements of a picture in order, which is well-formed.
fn elements(svg: &str) -> Vec<BytesStart<'static>> {
    let mut reader = Reader::from_str(svg);
    reader.config_mut().check_end_names = true;
    let (mut all, mut open) = (Vec::new(), 0);
    loop {
        match reader.read_event().expect("the picture is well-formed") {
            Event::Start(start) => {
                open += 1;
                all.push(start.into_owned());
            }
            Event::Empty(start) => all.push(start.into_owned()),
            Event::End(_) => open -= 1,
            Event::Eof => break,
            Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
    assert_eq!(open, 0, "an element is not closed");
    all
}

/// A rectangle: left, top, right, bottom.
type Edges = [f64; 4];

fn rectangles(all: &[BytesStart<'_>], class: &str) -> Vec<Edges> {
    let of = all.iter().filter(|e| e.name().as_ref() == b"rect" && attribute(e, "class") == class);
    let number = |e: &BytesStart<'_>, name: &str| attribute(e, name).parse().unwrap_or(f64::NAN);
    of.map(|e| {
        let (x, y) = (number(e, "x"), number(e, "y"));
        [x, y, x + number(e, "width"), y + number(e, "height")]
    })
    .collect()
}

fn meet(a: &Edges, b: &Edges) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

#[test]
fn the_pictures_of_the_documentation_are_current() {
    let folder = suite::root().join("docs/pictures");
    let update = std::env::var_os("UPDATE").is_some();
    for (name, test) in PICTURES {
        let file = folder.join(format!("{name}.svg"));
        let now = drawn(&format!("litmus/suite/{test}"));
        if update {
            fs::create_dir_all(&folder).expect("the folder can be made");
            fs::write(&file, &now).expect("the picture can be written");
        }
        let before = fs::read_to_string(&file).unwrap_or_default();
        assert!(now == before, "{} is another: UPDATE=1 rewrites it", file.display());
    }
    for entry in fs::read_dir(&folder).expect("the pictures are there") {
        let path = entry.expect("the folder can be read").path();
        // Screenshots of pages are of `tests/browser`.
        if path.extension().is_some_and(|extension| extension == "png") {
            continue;
        }
        let known = |name: &str| path.ends_with(format!("{name}.svg"));
        assert!(PICTURES.iter().any(|(name, _)| known(name)), "{} is of nothing", path.display());
    }
}

/// A label does not lie on an event or on another label, and everything is inside the picture.
#[test]
fn labels_can_be_read() {
    let pictures = PICTURES.iter().map(|(_, test)| format!("litmus/suite/{test}"));
    for path in pictures.chain(OTHERS.iter().map(|path| (*path).to_owned())) {
        let all = elements(&drawn(&path));
        let (labels, events) = (rectangles(&all, "plate"), rectangles(&all, "box"));
        assert!(!labels.is_empty() && events.len() > 2, "{path}: {labels:?} {events:?}");
        let view = attribute(&all[0], "viewBox");
        let size: Vec<f64> = view.split(' ').filter_map(|n| n.parse().ok()).collect();
        for (index, label) in labels.iter().enumerate() {
            let on_event = events.iter().any(|event| meet(label, event));
            let on_label = labels[..index].iter().any(|other| meet(label, other));
            assert!(!on_event && !on_label, "{path}: label {label:?}");
        }
        for [left, top, right, bottom] in labels.iter().chain(&events) {
            let inside = *left >= 0.0 && *top >= 0.0 && *right <= size[2] && *bottom <= size[3];
            assert!(inside, "{path}: {left} {top} {right} {bottom} of {size:?}");
        }
        for (index, event) in events.iter().enumerate() {
            assert!(!events[..index].iter().any(|other| meet(event, other)), "{path}: {event:?}");
        }
    }
}

/// The edges are those of the text: each pair of letters of the text is a line or a step of one.
#[test]
fn the_picture_has_the_steps_of_the_text() {
    let path = format!("litmus/suite/{}", PICTURES[0].1);
    let text = explained(&[&path], "");
    let svg = drawn(&path);
    for step in ["a → b", "b → c", "c → d", "d → a"] {
        assert!(text.contains(step) && svg.contains(&format!("<title>{step}")), "{step}");
    }
    let all = elements(&svg);
    let classes: Vec<String> = all.iter().map(|e| attribute(e, "class")).collect();
    let count = |class: &str| classes.iter().filter(|one| one.starts_with(class)).count();
    // One more of each in the legend.
    assert_eq!((count("edge derivation"), count("edge refuting")), (4, 2));
    let svg = drawn(&format!("litmus/suite/{}", PICTURES[1].1));
    assert!(svg.contains("edge unsynchronized") && svg.contains("does not include P1"));
}

/// A test may hold anything: nothing of it becomes markup, and the page loads nothing.
#[test]
fn hostile_names_and_comments_are_only_text() {
    let hostile = "</pre></title></style><script>alert(1)</script><img src=x onerror=alert(1)>";
    let test = format!(
        "PTX MP<b>\"'&+\u{202e}x\n\"{hostile}\"\n{{ x=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
         st.weak.u32 [x], 1 (* {hostile} *) | ld.weak.u32 r0, [x] ;\nexists (P1:r0=1)\n"
    );
    for format in ["svg", "html"] {
        let made = explained(&[&format!("--format={format}"), "-"], &test);
        assert!(made.contains("MP&lt;b&gt;"), "{made}");
        for bad in ["<script", "<img", "<b>", "\u{202e}", "http-equiv=\"refresh", "url("] {
            assert!(!made.contains(bad), "{format} has {bad}");
        }
        let links = made.split("http").filter(|rest| !rest.starts_with("-equiv")).skip(1);
        for link in links {
            assert!(link.starts_with("://www.w3.org/2000/svg"), "{format}: http{link:.40}");
        }
        let start = made.find("<svg").expect("a picture");
        let end = made.find("</svg>").expect("its end") + 6;
        assert!(elements(&made[start..end]).len() > 10);
    }
}

/// The page of runs has each outcome, and each step of the text with an arrow or a dot.
#[test]
fn a_timeline_has_the_steps_of_the_run() {
    let name = format!("causeway-{}-timeline.html", std::process::id());
    let file = std::env::temp_dir().join(name);
    let output = Command::new(env!("CARGO_BIN_EXE_causeway"))
        .args(["explore", "--runs", "tests/cli/fails.litmus", "--timeline"])
        .arg(&file)
        .current_dir(suite::root())
        .output()
        .expect("the program starts");
    let page = fs::read_to_string(&file).expect("the page is written");
    fs::remove_file(&file).expect("the page can be removed");
    let text = String::from_utf8(output.stdout).expect("output is text");
    let steps = text.lines().filter_map(|line| line.split_once(". ")).map(|(_, step)| step);
    let mut count = 0;
    for step in steps {
        count += 1;
        let escaped = step.replace('\'', "&#39;");
        assert!(page.contains(&escaped), "{step}");
    }
    let pictures: Vec<&str> = page.split("<svg").skip(1).collect();
    assert_eq!(pictures.len(), 4, "one for each outcome");
    let mut dots = 0;
    for picture in pictures {
        let svg = format!("<svg{}</svg>", picture.split("</svg>").next().expect("its end"));
        let all = elements(&svg);
        dots += all.iter().filter(|e| e.name().as_ref() == b"circle").count();
        for lane in ["P0 on sm0", "P1 on sm1", "L2 of GPU 0"] {
            assert!(svg.contains(&format!(">{lane}</text>")), "{lane}");
        }
        // A cache that no step names has no lane.
        assert_eq!(svg.contains(">L1 of sm1</text>"), svg.contains("L1[sm1]"));
    }
    assert!(page.contains(">L1 of sm1</text>"), "no run passes L1");
    assert!(count > 20 && dots == count, "{dots} dots for {count} steps");
}

/// The page has each candidate, and each link leads to a line.
#[test]
fn the_links_of_a_page_lead_to_lines() {
    let path = "litmus/suite/overlap/CoRR+ld.u32+ld.u32+same-half.litmus";
    let page = explained(&["--format=html", path], "");
    let links: Vec<&str> =
        page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.len() > 3, "{links:?}");
    for link in &links {
        assert_eq!(page.matches(&format!("id=\"{link}\"")).count(), 1, "{link}");
    }
    for wanted in ["prefers-color-scheme: dark", "name=\"viewport\"", "role=\"img\"", "<desc"] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

/// Of several candidates, the page has a choice for each and for all.
#[test]
fn a_page_of_several_candidates_has_a_choice_of_each() {
    let test = "litmus/suite/atomicity-axiom/2xatom.relaxed.gpu.max.litmus";
    let page = explained(&["--format=html", test], "");
    let count = page.matches("<figure>").count();
    assert!(count > 1, "{count} candidates");
    assert_eq!(page.matches("name=\"candidate\"").count(), count + 1);
    for number in 1..=count {
        for wanted in [
            format!("<section class=\"candidate\" id=\"candidate-{number}\">"),
            format!("id=\"show-{number}\""),
            format!("main:has(#show-{number}:checked) .candidate:not(#candidate-{number})"),
        ] {
            assert_eq!(page.matches(&wanted).count(), 1, "{wanted}");
        }
    }
    let one = explained(&["--format=html", "tests/cli/fails.litmus"], "");
    assert!(!one.contains("name=\"candidate\""), "there is nothing to choose");
}
