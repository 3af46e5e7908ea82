//! Every code of a diagnostic of [`crate::lint()`]: the rule in one sentence, its section, its authority and an example.
//!
//! Tests run each example through the linter.

mod examples;
mod reader;

use std::sync::LazyLock;

use model::section::Section;
use text::Diagnostic;
use text::fix;

use crate::rule::Authority;
use crate::rules::{self, gate};
use crate::sequence;
use crate::version::{PtxIsa, Target};
use crate::{LintOptions, lint};

/// A code, and the rule that it stands for.
#[derive(Clone, Debug)]
pub struct LintRule {
    pub code: &'static str,
    /// One sentence.
    pub text: &'static str,
    /// `None` where it is about the form of a file, or the section depends on the instruction.
    pub section: Option<Section>,
    pub by: Authority,
    /// `None` for the limits of a file, and where whatever breaks the rule breaks another one, too.
    pub example: Option<LintExample>,
}

/// What breaks a rule, and what does not.
#[derive(Clone, Debug)]
pub struct LintExample {
    pub frame: ExampleFrame,
    pub rejected: ExampleCode,
    /// `None` where it is the correction of what is rejected.
    pub accepted: Option<ExampleCode>,
}

/// A piece of PTX, with the version and the target for which it is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExampleCode {
    pub text: &'static str,
    pub isa: PtxIsa,
    pub target: Target,
}

/// What an example is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExampleFrame {
    /// Instructions of a kernel whose names are declared.
    Kernel,
    /// Instructions of a device function.
    Function,
    /// The example is the module.
    Module,
}

/// What the linter says of an example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExampleResult {
    pub diagnostics: Vec<Diagnostic>,
    /// The example after the correction of its diagnostic, and whether that keeps the meaning.
    pub corrected: Option<(String, bool)>,
}

const NEWEST: Target = Target { sm: 120, variant: None };

impl ExampleCode {
    fn newest(text: &'static str) -> ExampleCode {
        ExampleCode { text, isa: PtxIsa::NEWEST, target: NEWEST }
    }
}

impl ExampleFrame {
    /// A module with this code, in which every name of the examples is declared; registers are named by their type.
    pub fn module(self, code: &str, isa: &str, target: &str) -> String {
        let (before, after) = match self {
            ExampleFrame::Kernel => (".visible .entry k", ";\nret;\n}\n"),
            ExampleFrame::Function => (".func (.param .align 64 .b8 res[64]) k", ";\nret;\n}\n"),
            ExampleFrame::Module => return code.to_owned(),
        };
        format!(
            ".version {isa}\n.target {target}\n.address_size 64\n{GLOBALS}\
             {before}(.param .align 64 .b8 prm[256])\n{{\n{LOCALS}{code}{after}"
        )
    }
}

/// What the frame of an example declares outside of its function.
pub const GLOBALS: &str = "\
.visible .global .align 64 .b8 gbl[256];
.const .align 64 .b8 cst[256];
.visible .global .attribute(.unified(1,2)) .align 64 .b8 ugbl[256];
";

/// What the frame of an example declares in its function.
pub const LOCALS: &str = "\
.reg .b16 b16_<9>; .reg .b32 b32_<9>; .reg .b64 b64_<9>; .reg .b128 b128_<9>;
.reg .u16 u16_<9>; .reg .u32 u32_<9>; .reg .u64 u64_<9>;
.reg .s16 s16_<9>; .reg .s32 s32_<9>; .reg .s64 s64_<9>;
.reg .f16 f16_<9>; .reg .f32 f32_<9>; .reg .f64 f64_<9>;
.reg .f16x2 f16x2_<9>; .reg .b64 a, pol; .reg .b32 a32; .reg .pred p<3>;
.shared .align 64 .b8 sh[256];
.local .align 64 .b8 lcl[256];
.param .align 64 .b8 arg[256];
";

impl LintExample {
    fn kernel(rejected: &'static str, accepted: &'static str) -> LintExample {
        LintExample {
            frame: ExampleFrame::Kernel,
            rejected: ExampleCode::newest(rejected),
            accepted: (!accepted.is_empty()).then(|| ExampleCode::newest(accepted)),
        }
    }

    /// The module with the code.
    pub fn module(&self, code: &ExampleCode) -> String {
        self.frame.module(code.text, &code.isa.to_string(), &code.target.to_string())
    }

    /// Asks the linter.
    pub fn judge(&self, code: &ExampleCode) -> ExampleResult {
        let module = self.module(code);
        let mut diagnostics =
            lint("example.ptx", module.as_bytes(), LintOptions::default()).diagnostics;
        // Instructions are shown for the version before the one that has them, which may have no such target.
        if self.frame != ExampleFrame::Module {
            diagnostics.retain(|one| one.code != "target-version");
        }
        let at = module.find(code.text).unwrap_or(0);
        let corrected = diagnostics.first().and_then(|one| one.fix.as_ref()).map(|fix| {
            let fixed = fix::apply(&module, [fix]);
            // A fix of a directive leaves the instruction as it is.
            let end = fixed.len() - (module.len() - at - code.text.len());
            (fixed.get(at..end).unwrap_or_default().to_owned(), fix.safe)
        });
        ExampleResult { diagnostics, corrected }
    }
}

impl LintRule {
    /// The rule with this code.
    pub fn named(code: &str) -> Option<&'static LintRule> {
        all().iter().find(|rule| rule.code == code)
    }
}

/// A target that is older.
fn target_before(sm: u16) -> Target {
    const TARGETS: &[u16] = &[
        10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 89, 90, 100,
    ];
    let before = TARGETS.iter().rev().find(|known| **known < sm);
    Target { sm: before.copied().unwrap_or(10), variant: None }
}

fn version_before(isa: PtxIsa) -> PtxIsa {
    match isa.minor.checked_sub(1) {
        Some(minor) => PtxIsa { minor, ..isa },
        None => PtxIsa::new(isa.major.saturating_sub(1), 0),
    }
}

/// The example of a rule of a version or a target: the same instruction for two of them.
fn gated(text: &'static str, need: &gate::Need, of_isa: bool) -> LintExample {
    let accepted = ExampleCode::newest(text);
    let (rejected, accepted) = if of_isa {
        let of = |isa| ExampleCode { isa, ..accepted };
        (of(version_before(need.isa)), of(need.isa))
    } else {
        let of = |target| ExampleCode { target, ..accepted };
        (of(target_before(need.sm)), of(Target { sm: need.sm, variant: None }))
    };
    LintExample { frame: ExampleFrame::Kernel, rejected, accepted: Some(accepted) }
}

/// The rules of several instructions.
fn sequences() -> impl Iterator<Item = LintRule> {
    sequence::RULES.iter().map(|rule| {
        let example = sequence::EXAMPLES.iter().find(|(code, ..)| *code == rule.code);
        LintRule {
            code: rule.code,
            text: rule.text,
            section: Some((rule.section)()),
            by: rule.by,
            example: example.map(|(_, rejected, accepted)| LintExample::kernel(rejected, accepted)),
        }
    })
}

/// All of them: of memory instructions, in the order of their pages; of versions and targets; and of the rest of a module.
pub fn all() -> &'static [LintRule] {
    static ALL: LazyLock<Vec<LintRule>> = LazyLock::new(|| {
        let needs: Vec<gate::Need> = gate::all().collect();
        let of_rule = |rule: &'static crate::rule::Rule| {
            let need = needs
                .iter()
                .find(|need| need.isa_rule.code == rule.code || need.sm_rule.code == rule.code);
            let example = if let Some(need) = need {
                let of_isa = need.isa_rule.code == rule.code;
                let name = rule.code.split_once('-').map_or("", |(_, name)| name);
                let found = examples::GATES.iter().find(|(known, _)| *known == name);
                found.map(|(_, text)| gated(text, need, of_isa))
            } else {
                examples::RULES.iter().find(|(code, ..)| *code == rule.code).map(
                    |&(_, rejected, accepted)| match rejected.strip_prefix('*') {
                        Some(rejected) => LintExample {
                            frame: ExampleFrame::Function,
                            ..LintExample::kernel(rejected, accepted)
                        },
                        None => LintExample::kernel(rejected, accepted),
                    },
                )
            };
            LintRule {
                code: rule.code,
                text: rule.text,
                section: Some(rule.section),
                by: rule.by,
                example,
            }
        };
        rules::all().into_iter().map(of_rule).chain(reader::rules()).chain(sequences()).collect()
    });
    &ALL
}
