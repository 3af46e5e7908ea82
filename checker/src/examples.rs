//! The examples at the end of the help texts of commands.

pub(crate) const CHECK: &str = "\
Filters: name(…), path(…), doc(…), instruction(…), condition(…) and threads(N), joined by `&`,
`|`, `!` and parentheses. A pattern is a part of what it matches; `=PATTERN` is all of it,
`#PATTERN` a glob, `/PATTERN/` a regular expression.

Example: judge the tests with a fence and two threads, then ask one of them something else
  causeway check litmus/suite --filter 'instruction(fence) & threads(2)'
  causeway check test.litmus --ask 'exists (1:r0=1 /\\ 1:r1=0)'";

pub(crate) const EXPLAIN: &str = "\
Example: why the condition of a test is allowed or forbidden, then why another one is
  causeway explain test.litmus
  causeway explain test.litmus --ask 'exists (1:r0=1 /\\ 1:r1=0)'";

pub(crate) const FMT: &str = "\
Example: list the tests of a folder that are not formatted, then format them
  causeway fmt --check litmus/suite
  causeway fmt litmus/suite";

pub(crate) const EXPORT: &str = "\
Example: a test for herd7, with the model, and a program for a GPU
  causeway export --format herd-lisa test.litmus --out folder
  causeway export --format cuda test.litmus > test.cu";

pub(crate) const COMPARE: &str = "\
Example: whether a GPU showed what is forbidden
  ./test > test.log
  causeway compare test.log test.litmus";

pub(crate) const MERGE: &str = "\
Example: two halves of a campaign, on two computers
  causeway fuzz --law machine --count 100000 --shard 1/2 --out first
  causeway fuzz --law machine --count 100000 --shard 2/2 --out second
  causeway merge first second";

pub(crate) const MODEL: &str = "\
Example: the built-in model of PTX in herd's language, under another reading
  causeway model --format cat --reading R13=semantic";

pub(crate) const READINGS: &str = "\
Example: what there is, then the verdicts under another choice
  causeway readings
  causeway check litmus/suite --reading R13=semantic";

pub(crate) const LINT: &str = "\
Example: the modules of a folder, for an older version of PTX
  causeway lint kernels --ptx-isa 8.0 --target sm_90
Example: see the corrections that can be made, then make those that keep the meaning
  causeway lint kernels --diff --unsafe-fixes
  causeway lint kernels --fix
Example: what the code of a diagnostic stands for
  causeway lint --explain ld-scope-missing";

pub(crate) const LOWER: &str = "\
Example: what llc makes of LLVM IR, what ptxas made of PTX, and a table of lowerings
  causeway lower --from kernel.ll --llc llc-19 --arch sm_90
  causeway lower --from kernel.ptx --to kernel.sass
  causeway lower --table mapping.table";

pub(crate) const EXPLORE: &str = "\
Example: the outcomes of a test on the machine, and whether PTX allows them, with a run to each
  causeway explore test.litmus --arch sm_90 --check --runs";

pub(crate) const SCHEMA: &str = "\
Example: the names, and the schema of the objects of `check`
  causeway schema
  causeway schema check";

pub(crate) const PTX_EXPLAIN: &str = "\
Example: what a load promises on a target
  causeway ptx explain 'ld.acquire.gpu.global.u32 r, [a]' --target sm_90";

pub(crate) const SASS_DECODE: &str = "\
Example: a word of a cubin
  echo 0x0000000404047981 0x000ea4000c1ebb00 | causeway sass decode --arch sm_80";

pub(crate) const SASS_EXPLAIN: &str = "\
Example: where a load looks
  causeway sass explain 'LDG.E.STRONG.GPU R2, [R4]' --arch sm_90";

pub(crate) const SASS_READ: &str = "\
Example: the memory instructions of a listing
  cuobjdump -sass kernel.cubin > kernel.sass
  causeway sass read kernel.sass";
