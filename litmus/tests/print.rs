//! Laws of the printer and of the formatter, on all the tests that there are as files.

use std::fs;
use std::path::{Path, PathBuf};

use litmus::format::{Unformatted, format};
use litmus::print::print;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            found.push(path);
        }
    }
}

/// The tests of the project.
fn ours() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    ["suite", "cxx", "../tests"].map(|folder| here.join(folder)).to_vec()
}

/// The tests below some folders, at least this many, with their texts.
fn all(folders: &[PathBuf], fewest: usize) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for folder in folders {
        files(folder, &mut paths);
    }
    paths.sort();
    assert!(paths.len() > fewest, "only {} tests", paths.len());
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).expect("the file can be read");
        (path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned())
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn a_printed_test_reads_back_as_the_same() {
    let count = read_back_the_same(&ours(), 1400);
    assert!(count > 1300, "only {count} tests");
}

/// How many of the files are tests.
fn read_back_the_same(folders: &[PathBuf], fewest: usize) -> usize {
    let mut count = 0;
    for (path, text) in all(folders, fewest) {
        let Ok(test) = litmus::parse(&path, text.as_bytes()) else { continue };
        let printed = print(&test);
        let again = litmus::parse(&path, printed.as_bytes())
            .unwrap_or_else(|errors| panic!("{path}: {}\n{printed}", errors[0]));
        assert_eq!(again.at_the_lines_of(&test), test, "{path}\n{printed}");
        assert!(test.is_same(&again), "{path}");
        assert_eq!(print(&again), printed, "{path}");
        count += 1;
    }
    count
}

/// Formatting rejects files that are not tests, is idempotent, and keeps comments.
#[test]
fn formatting_is_done_once_and_changes_no_test() {
    let count = formatted_once(&ours(), 1400);
    assert!(count > 1300, "only {count} tests");
}

/// The same of the tests of Dartagnan.
#[test]
#[ignore = "needs tests of others: CAUSEWAY_ORACLE"]
fn tests_of_a_peer_are_printed_and_formatted() {
    let peers = [measured::of_others("litmus/dat3m")];
    let counts = [read_back_the_same(&peers, 300), formatted_once(&peers, 300)];
    assert!(counts.iter().all(|count| *count > 300), "only {counts:?} tests");
}

/// How many of the files are tests.
fn formatted_once(folders: &[PathBuf], fewest: usize) -> usize {
    let mut count = 0;
    for (path, text) in all(folders, fewest) {
        let formatted = match format(&path, text.as_bytes()) {
            Ok(formatted) => formatted,
            Err(Unformatted::Rejected(errors)) => {
                let parsed = litmus::parse(&path, text.as_bytes());
                assert_eq!(parsed.err().map(|errors| errors.len()), Some(errors.len()), "{path}");
                continue;
            }
            Err(Unformatted::Changed) => panic!("{path} becomes another test"),
        };
        let again = format(&path, formatted.as_bytes()).unwrap_or_else(|_| panic!("{path}"));
        assert_eq!(again, formatted, "{path}");
        let words = |text: &str| text.split_whitespace().collect::<String>();
        let loose = |text: &str| words(text).replace([';', '\r', '\u{feff}'], "");
        assert_eq!(loose(&formatted), loose(&text), "{path}");
        count += 1;
    }
    count
}

const WITH_COMMENTS: &str = r#"(* top *)   (* second *)
// more

PTX   my test   (* named *)
"doc one"   "doc two" // why


Align =  4 (* key *)
(* before *)
{ (* open *) x = 0 ; .global   .u32 flag=0 ; // flags


(* a
   multi *) int a [ 4 ] = { 1 , 2 };;  y @generic aliases x (* al *); z(* in *)=1 // late
 @ home  gpu 1; P0 : r9=-7 (* last *) }  (* closed *)
// table
P0@cta 0 , cluster 0,gpu 0|P1 @ cta 1,cluster 0,gpu 0; // heads

  // own
  (* cell *)st.weak.u32 [x],1| L0:ld.acquire.gpu.u32 r0 , [ flag ] (* c *) ; (* after *) // more
 (* only *) |  setp.eq.u32 q | p , r0 ,0 // what
 ; (* off *)
  fence.proxy.alias|@q   bra L0;  (* multi
  line *)
  st.weak.v2.u32 [a+8],{1,2} |;  (* end of rows *)

(* before tail *)

locations [ x ;P1:r0 ; a[3] ; ]
filter ( P1:r0 = 1 )
~ exists ( P1:r0 = 1 (* one *)
   /\ // really
   not ( a[2] = 1 ) ) (* end *)


(* the end *)
"#;

const FORMATTED: &str = r#"(* top *) (* second *)
// more

PTX my test (* named *)
"doc one"
"doc two" // why

Align=4 (* key *)
(* before *)
{
(* open *) x=0; .global .u32 flag=0; // flags

(* a
   multi *) int a[4]={1,2}; y @ generic aliases x (* al *); z (* in *) =1 @home gpu 1; // late
P0:r9=-7; (* last *)
} (* closed *)
 // table
 P0@cta 0,cluster 0,gpu 0      | P1@cta 1,cluster 0,gpu 0                  ; // heads

 // own
 (* cell *) st.weak.u32 [x], 1 | L0: ld.acquire.gpu.u32 r0, [flag] (* c *) ; (* after *) // more
 (* only *)                    | setp.eq.u32 q|p, r0, 0                    ; // what
 (* off *)
 fence.proxy.alias             | @q bra L0                                 ; (* multi
  line *)
 st.weak.v2.u32 [a+8], {1, 2}  |                                           ; (* end of rows *)
(* before tail *)

locations [x; P1:r0; a[3];]
filter (P1:r0=1)
~exists (P1:r0=1 (* one *)
  /\ // really
  not (a[2]=1)) (* end *)

(* the end *)
"#;

#[test]
fn comments_stay_where_they_are() {
    let formatted = format("a", WITH_COMMENTS.as_bytes()).expect("it is a test");
    assert_eq!(formatted, FORMATTED);
    assert_eq!(format("a", FORMATTED.as_bytes()).expect("it is a test"), FORMATTED);
}

#[test]
fn lines_end_as_they_did() {
    let dos = WITH_COMMENTS.replace('\n', "\r\n");
    let formatted = format("a", format!("\u{feff}{dos}").as_bytes()).expect("it is a test");
    assert_eq!(formatted, FORMATTED.replace('\n', "\r\n"));
}

/// What no file of the suite has, of declarations and conditions.
const DECLARED: &str = "\
PTX declared
\"All that \"can\" be said.\"
\"Twice.\"
Align=4
{
.shared s=7; .b64 P0:wide; P0:none; .b16 P0:narrow=5; P0:copy=s@P1; P1:r=x; P0:r0=-1;
.local .u64 l[3]={1,0,3}; x[4]={1,2} @0x1000 @home gpu 1; uint8_t b[2]={255}; z aliases x; w=65536 @home host;
.global g=3; .b128 h=0x100000000000000000000; .u32 q @ generic aliases w; .const .u32 c=1; .param::func .u16 f;
}
 P1@cta 0,gpu 0                | P0@warp 3,cta 1,cluster 2,gpu 1,sm 4 ;
 L0: M: ld.weak.u32 r0, [x+12] | @!p ld.weak.u32 none, [s]            ;
 mad.lo.u32 r1, r0, r0, 1      | END:                                 ;
 bra L0                        |                                      ;
locations [x[3]; P1:r1;]
filter not not (P1:r0=1 \\/ x!=2 /\\ [x+4]<=3)
forall ((P1:r0=1 /\\ P0:r0=-1) /\\ w>=1 => [s@P0]=7 => not P1:r0=2 \\/ (false \\/ true))
";

#[test]
fn declarations_and_conditions_of_all_kinds_are_printed() {
    let parse = |text: &str| {
        litmus::parse("a", text.as_bytes()).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]))
    };
    let test = parse(DECLARED);
    let printed = print(&test);
    assert!(parse(&printed).is_same(&test), "{printed}");
    let expected = "\
PTX declared
\"All that \"can\" be said.\"
\"Twice.\"
Align=4
{
";
    assert!(printed.starts_with(expected), "{printed}");
    for line in [
        " L0: M: ld.weak.u32 r0, [x+12] | @!p ld.weak.u32 none, [s]            ;\n",
        "filter (not not (P1:r0=1 \\/ x!=2 /\\ [x+4]<=3))\n",
        ".shared s=7; .local .b64 l[3]={1,0,3}; x[4]={1,2} @0x1000 @home gpu 1;",
    ] {
        assert!(printed.contains(line), "{line}{printed}");
    }
}

#[test]
fn operands_of_no_known_form_are_formatted() {
    let cells = [
        ("SEL R10, 0x1, RZ, P0    D.OR  P5, P,1", "SEL R10, 0x1, RZ, P0 D.OR P5, P, 1"),
        ("EXIT P1    =", "EXIT P1 ="),
        ("FADD R4, R0,|R1|   .func", "FADD R4, R0, |R1| .func"),
        ("FADD R4,R0,-  |R1|", "FADD R4, R0, - |R1|"),
    ];
    for (cell, expected) in cells {
        let text =
            format!("SASS a\nArch=sm_90\n{{\nx=0;\n}}\n P0@cta 0 ;\n {cell} ;\nexists (x=0)\n");
        let formatted = format("a", text.as_bytes()).expect("it is a test, of what is unsupported");
        assert!(formatted.contains(&format!("\n {expected} ")), "{formatted}");
    }
}
