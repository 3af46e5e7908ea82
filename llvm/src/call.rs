//! Calls of LLVM intrinsics: barriers, fences, special registers, small functions.

use super::function::{CellText, LoweringResult, Translator};
use super::step::Typed;
use super::ty::{ScalarType, Ty};
use lift::function::EntryValue;
use text::cursor::short;

/// Calls without an effect that this thread or another one can observe.
const NOTHING: &[&str] = &[
    "llvm.dbg.",
    "llvm.lifetime.",
    "llvm.invariant.",
    "llvm.assume",
    "llvm.experimental.noalias.scope.decl",
    "llvm.donothing",
    "llvm.pseudoprobe",
    "llvm.var.annotation",
];

/// Special registers whose value does not change while the kernel runs, without their common prefix.
const SPECIAL: &[(&str, &str)] = &[
    ("laneid", "laneid"),
    ("warpid", "warpid"),
    ("nwarpid", "nwarpid"),
    ("smid", "smid"),
    ("nsmid", "nsmid"),
    ("gridid", "gridid"),
    ("lanemask.eq", "lanemask_eq"),
    ("lanemask.le", "lanemask_le"),
    ("lanemask.lt", "lanemask_lt"),
    ("lanemask.ge", "lanemask_ge"),
    ("lanemask.gt", "lanemask_gt"),
    ("cluster.ctarank", "cluster_ctarank"),
    ("cluster.nctarank", "cluster_nctarank"),
];

/// The same for registers with three dimensions.
const DIMENSIONS: &[(&str, &str)] = &[
    ("tid", "tid"),
    ("ntid", "ntid"),
    ("ctaid", "ctaid"),
    ("nctaid", "nctaid"),
    ("clusterid", "clusterid"),
    ("nclusterid", "nclusterid"),
    ("cluster.ctaid", "cluster_ctaid"),
    ("cluster.nctaid", "cluster_nctaid"),
];

/// The number of threads in a warp.
const WARP: u64 = 32;

/// Whether calls of this function are skipped.
pub(super) fn does_nothing(callee: &str) -> bool {
    NOTHING.iter().any(|prefix| callee.starts_with(prefix))
}

impl<'a> Translator<'a, '_> {
    pub(super) fn call(
        &mut self,
        callee: &str,
        arguments: &[Typed<'a>],
        result: Option<(ScalarType, CellText)>,
    ) -> LoweringResult<()> {
        if does_nothing(callee) {
            return match result {
                None => Ok(()),
                Some(_) => self.no(format!("`@{}` is not supported", short(callee))),
            };
        }
        if let Some(register) = callee.strip_prefix("llvm.nvvm.read.ptx.sreg.") {
            return self.special(register, result);
        }
        if callee.starts_with("llvm.nvvm.ldg.global.") {
            return self.read_only(arguments, result);
        }
        if callee.starts_with("llvm.nvvm.ptr.") && !callee.contains("param") {
            let (Some(pointer), Some((scalar, to))) = (arguments.first(), result) else {
                return Ok(());
            };
            self.kept_inside(&pointer.1)?;
            let from = self.cell(pointer)?;
            return self.mov(scalar, &to, &from);
        }
        if let Some(cell) = self.synchronizes(callee, arguments)? {
            self.row(cell);
            return Ok(());
        }
        let Some((scalar, to)) = result else {
            return self.no(format!("`@{}` is not supported", short(callee)));
        };
        if let Some(operation) = reduction(callee) {
            return self.reduce(operation, arguments, &to);
        }
        self.function(callee, arguments, scalar, &to)
    }

    /// A barrier or fence without a result, as a cell.
    fn synchronizes(
        &mut self,
        callee: &str,
        arguments: &[Typed<'a>],
    ) -> LoweringResult<Option<String>> {
        let bare = callee.strip_prefix("llvm.nvvm.").unwrap_or("").replace(".aligned", "");
        let mut cells = Vec::new();
        for argument in arguments {
            if argument.0 != Ty::Scalar(ScalarType::Int(32)) {
                return Ok(None);
            }
            cells.push(self.cell(argument)?);
        }
        let cell = match (&bare[..], &cells[..]) {
            ("barrier0", []) => "bar.sync 0".to_owned(),
            ("barrier.cta.sync.all" | "barrier.n" | "bar.sync" | "barrier.sync", [id]) => {
                format!("barrier.cta.sync {id}")
            }
            ("barrier.cta.sync.count" | "barrier" | "barrier.sync.cnt", [id, count]) => {
                format!("barrier.cta.sync {id}, {count}")
            }
            ("barrier.cta.arrive.count", [id, count]) => {
                format!("barrier.cta.arrive {id}, {count}")
            }
            ("barrier.cluster.arrive", []) => "barrier.cluster.arrive".to_owned(),
            ("barrier.cluster.arrive.relaxed", []) => "barrier.cluster.arrive.relaxed".to_owned(),
            ("barrier.cluster.wait", []) => "barrier.cluster.wait".to_owned(),
            ("membar.cta", []) => "fence.seq_cst.block".to_owned(),
            ("membar.gl", []) => "fence.seq_cst.device".to_owned(),
            ("membar.sys", []) => "fence.seq_cst.system".to_owned(),
            ("fence.sc.cluster", []) => "fence.seq_cst.cluster".to_owned(),
            _ => return Ok(None),
        };
        Ok(Some(cell))
    }

    /// A special register, whose value is in the initial state.
    fn special(
        &mut self,
        name: &str,
        result: Option<(ScalarType, CellText)>,
    ) -> LoweringResult<()> {
        let Some((scalar, to)) = result else { return Ok(()) };
        if name == "warpsize" {
            return self.mov(scalar, &to, &WARP.to_string());
        }
        let dimension = name.rsplit_once('.').filter(|(_, axis)| matches!(*axis, "x" | "y" | "z"));
        let ptx = match dimension {
            Some((name, axis)) => {
                let known = DIMENSIONS.iter().find(|(llvm, _)| *llvm == name);
                known.map(|(_, ptx)| format!("{ptx}.{axis}"))
            }
            None => {
                SPECIAL.iter().find(|(llvm, _)| *llvm == name).map(|(_, ptx)| (*ptx).to_owned())
            }
        };
        let Some(ptx) = ptx else {
            return self.no(format!("the special register `{}` is not supported", short(name)));
        };
        let known = |(register, initial): &(CellText, EntryValue)| {
            matches!(initial, EntryValue::Special(held) if *held == ptx).then(|| register.clone())
        };
        let register = self.initial.iter().find_map(known).unwrap_or_else(|| {
            let register = self.register(&ptx.replace('.', "_"));
            self.entry(&register, EntryValue::Special(ptx.clone()));
            register
        });
        self.mov(scalar, &to, &register)
    }

    /// `llvm.nvvm.ldg.global.…(ptr, align)`: a load of memory that no thread writes.
    fn read_only(
        &mut self,
        arguments: &[Typed<'a>],
        result: Option<(ScalarType, CellText)>,
    ) -> LoweringResult<()> {
        let (Some(pointer), Some((scalar, to))) = (arguments.first(), result) else {
            return self.no("this load is not supported");
        };
        let ty = match scalar.bits() {
            8 => "u8",
            16 => "u16",
            32 => "u32",
            64 => "u64",
            _ => return self.no(format!("an access of type {scalar} is not supported")),
        };
        let address = self.cell(pointer)?;
        self.row(format!("load.{ty} {to}, [{address}]")).read_only = true;
        Ok(())
    }

    /// `barrier0.popc` and similar: a barrier with a reduction.
    fn reduce(&mut self, operation: &str, arguments: &[Typed<'a>], to: &str) -> LoweringResult<()> {
        let (id, count, of) = match arguments {
            [of] => ("0".to_owned(), None, of),
            [id, of] => (self.cell(id)?, None, of),
            [id, count, of] => (self.cell(id)?, Some(self.cell(count)?), of),
            _ => return self.no("this barrier is not supported"),
        };
        let value = self.cell(of)?;
        let predicate = if of.0 == Ty::BIT {
            let register = self.temporary();
            self.row(format!("mov.pred {register}, {value}"));
            register
        } else {
            let register = self.temporary();
            self.row(format!("setp.ne.u32 {register}, {value}, 0"));
            register
        };
        let count = count.map_or(String::new(), |count| format!("{count}, "));
        let number = self.temporary();
        match operation {
            "popc" => self.row(format!("barrier.cta.red.popc.u32 {to}, {id}, {count}{predicate}")),
            _ if of.0 == Ty::BIT => {
                self.row(format!("barrier.cta.red.{operation}.pred {to}, {id}, {count}{predicate}"))
            }
            _ => {
                self.row(format!(
                    "barrier.cta.red.{operation}.pred {number}, {id}, {count}{predicate}"
                ));
                self.row(format!("selp.u32 {to}, 1, 0, {number}"))
            }
        };
        Ok(())
    }

    /// An intrinsic that computes its result from its arguments.
    fn function(
        &mut self,
        callee: &str,
        arguments: &[Typed<'a>],
        scalar: ScalarType,
        to: &str,
    ) -> LoweringResult<()> {
        let name = callee.split('.').nth(1).unwrap_or("");
        let relation = match name {
            "umax" => "ugt",
            "umin" => "ult",
            "smax" => "sgt",
            "smin" => "slt",
            _ => "",
        };
        match (name, arguments) {
            ("umax" | "umin" | "smax" | "smin", [a, b]) => {
                let (a, b) = (self.cell(a)?, self.cell(b)?);
                let first = self.temporary();
                self.compare(relation, scalar, (&first, &a, &b))?;
                self.select(scalar, (to, &a, &b), &first)
            }
            ("abs", [a, _]) => {
                let a = self.cell(a)?;
                let (negative, negated) = (self.temporary(), self.temporary());
                self.compare("slt", scalar, (&negative, &a, "0"))?;
                self.binary("sub", false, scalar, (&negated, "0", &a))?;
                self.select(scalar, (to, &negated, &a), &negative)
            }
            ("expect", [a, ..]) => {
                let from = self.cell(a)?;
                self.mov(scalar, to, &from)
            }
            _ => self.no(format!("`@{}` is not supported", short(callee))),
        }
    }
}

/// The reduction of a barrier; `None` for any other callee.
fn reduction(callee: &str) -> Option<&'static str> {
    let bare = callee.strip_prefix("llvm.nvvm.")?;
    let of_cta = bare.strip_prefix("barrier0.").or(bare.strip_prefix("barrier.cta.red."))?;
    match of_cta.split('.').next()? {
        "popc" => Some("popc"),
        "and" => Some("and"),
        "or" => Some("or"),
        _ => None,
    }
}
