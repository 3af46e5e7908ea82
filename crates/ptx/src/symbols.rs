//! The names of a module: scopes, and the ranges of registers that `%r<100>` declares.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use rustc_hash::FxHasher;

use super::syntax::Symbol;
use crate::version::PtxIsa;

type Map<'a, V> = HashMap<&'a str, V, BuildHasherDefault<FxHasher>>;

/// Names that are there without a declaration, up to their first dot.
const SPECIAL: &[&str] = &[
    "%tid",
    "%ntid",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%ctaid",
    "%nctaid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%is_explicit_cluster",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%total_smem_size",
    "%aggr_smem_size",
    "%dynamic_smem_size",
    "%current_graph_exec",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%perctamemoryoffset",
    "%perctamemorysize",
    "%locality_domain_id",
    "%locality_domain_supplemental_sm",
    "WARP_SZ",
];

/// Special registers with a number at the end.
const SPECIAL_NUMBERED: &[&str] = &["%pm", "%envreg", "%reserved_smem_offset_"];

/// Whether a name, up to its first dot, is that of a special register.
pub fn is_special(name: &str) -> bool {
    let numbered = |prefix: &&str| {
        // `%pm3_64`
        let number = name.strip_prefix(*prefix).map(|rest| rest.trim_end_matches("_64"));
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    SPECIAL.contains(&name) || SPECIAL_NUMBERED.iter().any(numbered)
}

/// Special registers of 64 bits, and one that has either size.
const SPECIAL_WIDE: &[&str] =
    &["%clock64", "%globaltimer", "%current_graph_exec", "%perctamemoryoffset"];

/// What a special register requires that not every module has.
pub(crate) struct SpecialNeed {
    name: &'static str,
    pub(crate) isa: PtxIsa,
    pub(crate) sm: u16,
    /// What a kernel that reads it has before its body.
    pub(crate) directive: Option<&'static str>,
}

/// The directive that gives each CTA memory of its own.
pub(crate) const CTA_MEMORY: &str = ".minperctamemory";

/// Of the special registers that have names of their own; what older ones require is not checked.
const SPECIAL_NEEDS: &[SpecialNeed] = &[
    SpecialNeed {
        name: "%perctamemoryoffset",
        isa: PtxIsa::new(9, 4),
        sm: 80,
        directive: Some(CTA_MEMORY),
    },
    SpecialNeed {
        name: "%perctamemorysize",
        isa: PtxIsa::new(9, 4),
        sm: 80,
        directive: Some(CTA_MEMORY),
    },
    SpecialNeed { name: "%locality_domain_id", isa: PtxIsa::new(9, 5), sm: 100, directive: None },
    SpecialNeed {
        name: "%locality_domain_supplemental_sm",
        isa: PtxIsa::new(9, 5),
        sm: 100,
        directive: None,
    },
];

/// What the special register with this name requires.
pub(crate) fn special_need(name: &str) -> Option<&'static SpecialNeed> {
    SPECIAL_NEEDS.iter().find(|need| need.name == name)
}

/// How many bits a special register has, or each of its elements; `None` for another name.
pub(crate) fn special_bits(name: &str) -> Option<u16> {
    let wide = SPECIAL_WIDE.contains(&name) || name.starts_with("%pm") && name.ends_with("_64");
    is_special(name).then_some(if wide { 64 } else { 32 })
}

/// What a name meant before a scope gave it another meaning.
enum Undo<'a> {
    Name(&'a str, Option<Symbol>),
    Range(&'a str, Option<(Symbol, u32)>),
}

#[derive(Default)]
pub(super) struct Symbols<'a> {
    names: Map<'a, Symbol>,
    /// By prefix: `%r<100>` is 100 registers `%r0` to `%r99`.
    ranges: Map<'a, (Symbol, u32)>,
    undo: Vec<Undo<'a>>,
    /// How long `undo` was when each open scope began.
    scopes: Vec<usize>,
}

impl<'a> Symbols<'a> {
    pub(super) fn open(&mut self) {
        self.scopes.push(self.undo.len());
    }

    pub(super) fn close(&mut self) {
        let length = self.scopes.pop().unwrap_or(0);
        for undo in self.undo.drain(length..).rev() {
            match undo {
                Undo::Name(name, Some(before)) => drop(self.names.insert(name, before)),
                Undo::Name(name, None) => drop(self.names.remove(name)),
                Undo::Range(prefix, Some(before)) => drop(self.ranges.insert(prefix, before)),
                Undo::Range(prefix, None) => drop(self.ranges.remove(prefix)),
            }
        }
    }

    pub(super) fn declare(&mut self, name: &'a str, symbol: Symbol) {
        let before = self.names.insert(name, symbol);
        self.undo.push(Undo::Name(name, before));
    }

    pub(super) fn declare_range(&mut self, prefix: &'a str, count: u32, symbol: Symbol) {
        let before = self.ranges.insert(prefix, (symbol, count));
        self.undo.push(Undo::Range(prefix, before));
    }

    pub(super) fn find(&self, name: &str) -> Option<Symbol> {
        if let Some(symbol) = self.names.get(name) {
            return Some(*symbol);
        }
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        // `%r<20>` and `%r1<5>` may both be there: the digits are split in every way, at most ten.
        (1..=digits.min(10)).find_map(|length| {
            let (prefix, number) = name.split_at(name.len() - length);
            if length > 1 && number.starts_with('0') {
                return None;
            }
            let (symbol, count) = *self.ranges.get(prefix)?;
            number.parse::<u32>().is_ok_and(|number| number < count).then_some(symbol)
        })
    }

    /// How many names are declared one by one.
    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    /// All names that are declared one by one, for suggestions.
    pub(super) fn all(&self) -> Vec<&'a str> {
        let mut all: Vec<&str> = self.names.keys().copied().collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::isa::Type;

    #[test]
    fn ranges_are_looked_up_by_prefix_and_number() {
        let mut symbols = Symbols::default();
        let wide = Symbol::Register(Type::U64);
        symbols.declare_range("%r", 11, Symbol::Register(Type::U32));
        symbols.declare_range("%r1", 2, wide);
        assert_eq!(symbols.find("%r9"), Some(Symbol::Register(Type::U32)));
        assert_eq!(symbols.find("%r11"), Some(wide));
        assert_eq!(symbols.find("%r12"), None);
        assert_eq!(symbols.find("%r01"), None);
        assert_eq!(symbols.find("%r"), None);
    }

    #[test]
    fn a_scope_takes_its_names_with_it() {
        let mut symbols = Symbols::default();
        symbols.declare("x", Symbol::Predicate);
        symbols.open();
        symbols.declare("x", Symbol::Other);
        symbols.declare("y", Symbol::Other);
        assert_eq!(symbols.find("x"), Some(Symbol::Other));
        symbols.close();
        assert_eq!((symbols.find("x"), symbols.find("y")), (Some(Symbol::Predicate), None));
    }
}
