//! Instructions that are no memory instruction of their own page: what of them is modelled, and where
//! the document speaks of them.

use std::io::{self, Write};

use model::isa::opcode;
use model::isa::shape::Opcode;
use model::section::{self, Section};
use serde::Serialize;

/// An instruction that is known by its opcode.
pub(super) struct Other<'a> {
    /// As it is written, without `;`.
    text: &'a str,
    is: String,
    modelled: bool,
    section: Section,
}

/// The account of an instruction whose opcode PTX has, if it is none of those with an account of
/// their own.
pub(super) fn other(text: &str) -> Option<Other<'_>> {
    let text = text.trim().trim_end_matches(';').trim_end();
    let mut rest = text;
    if let Some(guarded) = rest.strip_prefix('@') {
        rest = guarded.split_once(char::is_whitespace)?.1.trim_start();
    }
    let name = rest.split(|c: char| c.is_whitespace() || c == '[').next()?;
    let mut parts = name.split('.');
    let (opcode, form) = (parts.next()?, parts.next().unwrap_or(""));
    if !opcode::all().any(|known| known == opcode) {
        return None;
    }
    let own = opcode::has_own_rules(opcode, form);
    if Opcode::named(opcode).is_some() && !own {
        return None;
    }
    let found = section::of_opcode(&format!("{opcode}.{form}"));
    let section = if found == section::INSTRUCTIONS { section::of_opcode(opcode) } else { found };
    let (is, modelled) = match opcode {
        _ if own => {
            (format!("an asynchronous operation, and not the `{opcode}` of the model"), false)
        }
        "bar" if form == "warp" => ("a barrier of a warp".to_owned(), false),
        "barrier" if form == "cluster" => ("the barrier of a cluster".to_owned(), true),
        "bar" | "barrier" => ("a barrier of a CTA".to_owned(), true),
        "bra" | "ret" | "exit" => ("control flow".to_owned(), true),
        _ => match opcode::outside(opcode) {
            Some(what) => (format!("one of {what}"), false),
            None => {
                ("arithmetic: it accesses no memory, and carries dependencies".to_owned(), true)
            }
        },
    };
    Some(Other { text, is, modelled, section })
}

impl Other<'_> {
    fn status(&self) -> &'static str {
        if self.modelled {
            "modelled: litmus tests execute it, in the forms that docs/litmus-format.md lists; its rules are not checked by `lint`"
        } else {
            "not modelled: a litmus test with it is `unsupported`, and its rules are not checked by `lint`"
        }
    }

    pub(super) fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.text)?;
        writeln!(out, "  {} ({})", self.is, self.section.number)?;
        writeln!(out, "  {}", self.status())?;
        writeln!(out, "\nSections:\n  {}\n    {}", self.section, self.section.url())
    }

    pub(super) fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Line<'a> {
            instruction: &'a str,
            diagnostics: [(); 0],
            /// As for memory instructions that cannot be explained.
            explained: Option<()>,
            other: Account<'a>,
        }
        #[derive(Serialize)]
        struct Account<'a> {
            is: &'a str,
            modelled: bool,
            section: &'a str,
            title: &'a str,
            url: String,
        }
        let line = Line {
            instruction: self.text,
            diagnostics: [],
            explained: None,
            other: Account {
                is: &self.is,
                modelled: self.modelled,
                section: self.section.number,
                title: self.section.title,
                url: self.section.url(),
            },
        };
        serde_json::to_writer(&mut *out, &line)?;
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use model::section;

    use super::other;

    #[test]
    fn every_opcode_is_explained_or_has_an_account_of_its_own() {
        for opcode in model::isa::opcode::all() {
            let memory = model::isa::shape::Opcode::named(opcode).is_some();
            assert_eq!(other(opcode).is_none(), memory, "{opcode}");
        }
        assert!(other("foo.bar r, s").is_none());
        assert!(!other("st.async.u32 [a], r, [b];").expect("it is known").modelled);
        let barrier = other("@!p barrier.cluster.wait;").expect("it is known");
        assert!(barrier.modelled && barrier.section.anchor.ends_with("barrier-cluster"));
        let nowhere: Vec<&str> = model::isa::opcode::all()
            .filter(|opcode| section::of_opcode(opcode) == section::INSTRUCTIONS)
            .collect();
        assert_eq!(nowhere, ["tcgen05", "fabric"]);
    }
}
