//! Faults that are planted into one account, to test that the laws find them.

use std::fmt;

use engine::ENGINES;
use machine::MachineRule;
use model::ptx;
use model::rel::FlagMeaning;
use sass::lowering::{self, FamilyTable, PiecePlace, TablePiece};

use crate::law::REDUNDANT_AXIOMS;

/// What one account lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlantedFault {
    /// An engine, by its name, without an axiom.
    Axiom { engine: &'static str, axiom: String },
    /// An engine, by its name, without what makes a program undefined.
    Flag { engine: &'static str, flag: String },
    /// The machine without a rule.
    Rule(MachineRule),
    /// The lowering table of `sm_90` without a piece that orders memory.
    Table(TablePiece),
}

/// The table of `sm_90`.
fn hopper() -> &'static FamilyTable {
    let families = lowering::families().iter();
    families.rev().find(|family| family.name == "hopper").expect("the family has a table")
}

impl PlantedFault {
    /// All faults: each axiom and each cause of undefinedness off in each engine, each rule of the machine off, each piece of the table gone.
    ///
    /// Some cannot be found, as they change no outcome: `docs/redundant.md` lists the redundant axioms.
    pub fn all() -> Vec<PlantedFault> {
        let mut all = Vec::new();
        for engine in ENGINES {
            let (engine, model) = (engine.name(), ptx::model());
            let axioms = model.axioms.into_iter();
            all.extend(axioms.map(|of| PlantedFault::Axiom { engine, axiom: of.name }));
            let flags = model.flags.into_iter();
            let flags = flags.filter(|of| matches!(of.meaning, FlagMeaning::Undefined(_)));
            all.extend(flags.map(|of| PlantedFault::Flag { engine, flag: of.name }));
        }
        all.extend(MachineRule::ALL.map(PlantedFault::Rule));
        all.extend(hopper().table.ordering_pieces().into_iter().map(PlantedFault::Table));
        all
    }

    /// The fault with this name.
    pub fn of(name: &str) -> Option<PlantedFault> {
        PlantedFault::all().into_iter().find(|fault| fault.to_string() == name)
    }

    /// What the account lacks, in words.
    pub fn text(&self) -> String {
        match self {
            PlantedFault::Axiom { engine, axiom } => {
                format!("the engine `{engine}` without the axiom {axiom}")
            }
            PlantedFault::Flag { engine, flag } => {
                format!("the engine `{engine}` without the flag {flag}")
            }
            PlantedFault::Rule(rule) => {
                format!("the machine without its rule {}: {}", rule.name(), rule.text())
            }
            PlantedFault::Table(TablePiece { at: PiecePlace::Entry { list, entry }, piece }) => {
                format!("the table of sm_90 without `{piece}` at `{entry}` of {{{list}}}")
            }
            PlantedFault::Table(TablePiece { at: PiecePlace::Row(row), piece }) => {
                format!("the table of sm_90 without `{piece}` in the row of `{row}`")
            }
        }
    }

    /// The laws that find it with the fewest cases. Others may find it, too.
    pub fn laws(&self) -> &'static [&'static str] {
        match self {
            PlantedFault::Axiom { engine, .. } if *engine == "enumerate" => &["naive", "verdicts"],
            PlantedFault::Axiom { .. } | PlantedFault::Flag { .. } => &["verdicts", "engines"],
            PlantedFault::Rule(_) => &["machine"],
            PlantedFault::Table(_) => &["machine", "promises"],
        }
    }

    /// Why no law finds the fault, if none does.
    pub fn not_found_because(&self) -> Option<&'static str> {
        match self {
            PlantedFault::Axiom { axiom, .. } => REDUNDANT_AXIOMS
                .contains(&axiom.as_str())
                .then_some("the axiom is redundant: it changes no outcome"),
            PlantedFault::Flag { .. } | PlantedFault::Rule(_) => None,
            PlantedFault::Table(TablePiece { at: PiecePlace::Row(row), piece }) => {
                not_found_in_row(row, piece)
            }
            PlantedFault::Table(TablePiece { at: PiecePlace::Entry { list, .. }, piece }) => {
                let strong = piece.starts_with(".STRONG");
                if list.ends_with("-strong") {
                    Some("a load or store with only a cache operator is weak: it needs no scope")
                } else if strong && list == "atomic" && piece != ".STRONG.SYS" {
                    Some("an atomic without a scope is one of the GPU, which is not narrower")
                } else {
                    None
                }
            }
        }
    }

    /// The table with the fault, if it is one of the table.
    pub(crate) fn table(&self) -> Option<lowering::LoweringTable> {
        match self {
            PlantedFault::Table(piece) => Some(hopper().table.without(piece)),
            PlantedFault::Axiom { .. } | PlantedFault::Flag { .. } | PlantedFault::Rule(_) => None,
        }
    }
}

/// Why no law finds that a row lacks a piece, if none does.
fn not_found_in_row(row: &str, piece: &str) -> Option<&'static str> {
    match row {
        _ if row.starts_with("st.mmio.release") && piece == "MEMBAR.ALL.CTA" => {
            Some("the `MEMBAR.ALL.SYS` after it waits for the same and more")
        }
        _ if row.starts_with("fence.release.sync_restrict") && piece.starts_with("FENCE.VIEW") => {
            Some("PTX asks this fence for no order with the async proxy")
        }
        _ if row.contains("tensormap") => Some("the machine has no tensormaps"),
        "fence.proxy.alias" => Some("the machine has one line for all addresses of a location"),
        _ => None,
    }
}

impl fmt::Display for PlantedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlantedFault::Axiom { engine, axiom: part }
            | PlantedFault::Flag { engine, flag: part } => write!(f, "{engine}-without-{part}"),
            PlantedFault::Rule(rule) => write!(f, "machine-without-{}", rule.name()),
            PlantedFault::Table(TablePiece { at, piece }) => {
                write!(f, "table-without-{piece}-at-{}", at.name())
            }
        }
    }
}
