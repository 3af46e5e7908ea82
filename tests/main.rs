//! The workspace's tests: one binary, so that it links once.

mod agree;
mod asynchronous;
mod attack;
mod barriers;
mod beyond;
mod broken;
mod browser;
mod brute;
mod brute_force;
mod cited;
mod cli;
mod contexts;
mod cxx;
mod defects;
mod directed;
#[cfg(unix)]
mod docs;
mod document;
mod drive;
mod explained;
mod faults;
mod fix;
mod fmt;
mod follows;
mod formats;
mod functions;
mod fuzz;
mod generation;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod install;
mod json;
mod lanes;
mod left_out;
mod linked;
mod lint_fix;
mod lint_rules;
mod llvm;
mod load_bearing;
mod lower;
mod lowering;
mod machine;
mod machine_asynchronous;
mod meetings;
mod mutants;
mod numbers;
mod objects;
mod oracle;
#[cfg(unix)]
mod outputs;
mod pairs;
mod peer;
mod phases;
mod pictures;
mod planted;
mod pointers;
mod reach;
mod reading_numbers;
mod readings;
mod report_folder;
mod robust;
mod rules;
mod run_options;
mod sass;
#[cfg(unix)]
mod scripts;
mod selections;
mod serve;
mod smallest;
mod spins;
#[cfg(unix)]
mod streams;
mod suite;
mod tables;
mod terminal;
mod termination;
mod tidy;
