//! The time in which `causeway fix` finds and checks its proposals for each mistake of the gallery.

#![expect(clippy::print_stdout, reason = "it prints its measurements")]

use std::path::Path;
use std::time::Instant;

use checker::input;
use engine::ENGINES;
use litmus::revise::SourceTest;
use model::ptx;
use repair::{RepairOptions, repair, weaken};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus/suite/gallery");
    let files = input::find(&[folder], "litmus").expect("the gallery can be read");
    let model = ptx::model();
    let options = RepairOptions { engines: ENGINES.to_vec(), ..RepairOptions::new(&model) };
    let every = RepairOptions { all: true, proposals: usize::MAX, ..options.clone() };
    println!("{:<40} {:>9} {:>9} {:>9} {:>9}", "test", "changed", "fix", "--all", "found");
    for path in files {
        let bytes = input::read(&path).expect("the file can be read");
        let source = SourceTest::read(&path.to_string_lossy(), &bytes).expect("it is a test");
        if source.test.name.ends_with("+fixed") {
            let start = Instant::now();
            let weakening = weaken(&source, &options);
            let (asked, time) = (weakening.asked, start.elapsed());
            println!("{:<40} {asked:>9} {:>9.1?} (--weaken)", source.test.name, time);
            continue;
        }
        let start = Instant::now();
        let repairs = repair(&source, &options);
        let (asked, first) = (repairs.asked, start.elapsed());
        let start = Instant::now();
        let found = repair(&source, &every).found;
        let all = start.elapsed();
        println!("{:<40} {asked:>9} {first:>9.1?} {all:>9.1?} {found:>9}", source.test.name);
    }
}
