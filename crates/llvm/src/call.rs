//! Calls of LLVM intrinsics: barriers, fences, special registers, small functions.

use super::bits::ScalarPart;
use super::cell::{CellValue, operands};
use super::function::{LoweringResult, Root, Translator};
use super::step::Typed;
use super::ty::{ScalarType, Ty};
use lift::function::EntryValue;
use lift::written::{WrittenArg, WrittenInstruction, written};
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

/// The largest alignment in bytes that LLVM has.
const LARGEST_ALIGNMENT: u64 = 1 << 32;

impl<'a, 'm> Translator<'a, 'm> {
    pub(super) fn call(
        &mut self,
        callee: &'a str,
        arguments: &'m [Typed<'a>],
        result: &[ScalarPart],
    ) -> LoweringResult<()> {
        if let Some(body) = self.bodies.get(callee) {
            return self.inline(body, arguments, result);
        }
        if callee == "llvm.assume" {
            // What it says of alignments is not read, so it may be any.
            self.promise(Some(LARGEST_ALIGNMENT));
        }
        if let ("llvm.assume", true, Some(condition)) = (callee, self.checked, arguments.first()) {
            let holds = self.cell(condition)?;
            let fails = self.made_by("not.pred", &[&holds]);
            self.undefined_if(&fails);
        }
        if does_nothing(callee) {
            return match result {
                [] => Ok(()),
                _ => self.no_call(callee),
            };
        }
        if let Some(register) = callee.strip_prefix("llvm.nvvm.read.ptx.sreg.") {
            return self.special(register, result);
        }
        if callee == "__nvvm_reflect" || callee.starts_with("llvm.nvvm.reflect") {
            return self.reflected(arguments, result);
        }
        let of_memory = ["llvm.nvvm.ldg.global.", "llvm.nvvm.ldu.global."];
        if of_memory.iter().any(|prefix| callee.starts_with(prefix)) {
            return self.read_only(arguments, result);
        }
        if callee.starts_with("llvm.nvvm.ptr.") && !callee.contains("param") {
            let (Some(pointer), [(scalar, to)]) = (arguments.first(), result) else {
                return Ok(());
            };
            self.kept_inside(&pointer.1)?;
            let from = self.cell(pointer)?;
            return self.mov(*scalar, to, &from);
        }
        if let Some(instruction) = self.synchronizes(callee, arguments)? {
            self.push(instruction);
            return Ok(());
        }
        if let (Some(operation), [(_, to)]) = (reduction(callee), result) {
            return self.reduce(operation, arguments, to);
        }
        if let Some(name) = callee.strip_prefix("llvm.nvvm.atomic.") {
            return self.atomic(callee, name, arguments, result);
        }
        if let Some(name) = callee.strip_prefix("llvm.nvvm.") {
            return self.of_ptx(callee, name, arguments, result);
        }
        self.of_llvm(callee, arguments, result)
    }

    /// Refuses a call by its name.
    pub(super) fn no_call<T>(&self, callee: &str) -> LoweringResult<T> {
        self.no(format!("`@{}` is not supported", short(callee)))
    }

    /// `__nvvm_reflect("__CUDA_FTZ")`: a property of the compilation, from the flags of the module.
    fn reflected(&mut self, arguments: &[Typed<'a>], result: &[ScalarPart]) -> LoweringResult<()> {
        let name = match arguments {
            [(_, pointer)] => match self.root(pointer) {
                Root::Global(name) => self.module.globals.get(name).and_then(|global| global.text),
                Root::Parameter(_) | Root::Alloca(_) | Root::Unknown => None,
            },
            _ => None,
        };
        let (Some(name), [(scalar, to)]) = (name, result) else {
            return self.no("a reflection of an unknown name");
        };
        let value = match name.trim_end_matches("\\00") {
            "__CUDA_FTZ" => self.module.flushes,
            "__CUDA_ARCH" => return self.no("the value of `__CUDA_ARCH` is not known"),
            // LLVM takes 0 for every other name.
            _ => false,
        };
        self.mov(*scalar, to, &u32::from(value).into())
    }

    /// A barrier or fence without a result.
    fn synchronizes(
        &mut self,
        callee: &str,
        arguments: &[Typed<'a>],
    ) -> LoweringResult<Option<WrittenInstruction>> {
        let bare = callee.strip_prefix("llvm.nvvm.").unwrap_or("").replace(".aligned", "");
        let mut cells = Vec::new();
        for argument in arguments {
            if argument.0 != Ty::Scalar(ScalarType::Int(32)) {
                return Ok(None);
            }
            cells.push(self.cell(argument)?);
        }
        let name = match (&bare[..], &cells[..]) {
            ("barrier0", []) => return Ok(Some(written("bar.sync", &[&0]))),
            ("barrier.cta.sync.all" | "barrier.n" | "bar.sync" | "barrier.sync", [_])
            | ("barrier.cta.sync.count" | "barrier" | "barrier.sync.cnt", [_, _]) => {
                "barrier.cta.sync"
            }
            ("barrier.cta.arrive.count", [_, _]) => "barrier.cta.arrive",
            ("barrier.cluster.arrive", []) => "barrier.cluster.arrive",
            ("barrier.cluster.arrive.relaxed", []) => "barrier.cluster.arrive.relaxed",
            ("barrier.cluster.wait", []) => "barrier.cluster.wait",
            ("membar.cta", []) => "fence.seq_cst.block",
            ("membar.gl", []) => "fence.seq_cst.device",
            ("membar.sys", []) => "fence.seq_cst.system",
            ("fence.sc.cluster", []) => "fence.seq_cst.cluster",
            _ => return Ok(None),
        };
        Ok(Some(written(name, &operands(&cells))))
    }

    /// A special register, whose value is in the initial state.
    fn special(&mut self, name: &str, result: &[ScalarPart]) -> LoweringResult<()> {
        let [(scalar, to)] = result else { return Ok(()) };
        if name == "warpsize" {
            return self.mov(*scalar, to, &WARP.into());
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
        let register = self.special_register(&ptx);
        self.mov(*scalar, to, &CellValue::Register(register))
    }

    /// The register with the value of a special register, by its name in PTX.
    pub(super) fn special_register(&mut self, ptx: &str) -> String {
        let known = |(register, initial): &(String, EntryValue)| {
            matches!(initial, EntryValue::Special(held) if held == ptx).then(|| register.clone())
        };
        self.builder.initial().iter().find_map(known).unwrap_or_else(|| {
            let register = self.fresh(&ptx.replace('.', "_"));
            self.entry(&register, EntryValue::Special(ptx.to_owned()));
            register
        })
    }

    /// `llvm.nvvm.ldg.global.…(ptr, align)`: a load of memory that no thread writes.
    fn read_only(&mut self, arguments: &[Typed<'a>], result: &[ScalarPart]) -> LoweringResult<()> {
        let Some(pointer) = arguments.first() else {
            return self.no("this load is not supported");
        };
        let (base, offset) = self.constant_address(&pointer.1)?;
        let mut at = offset;
        for (scalar, to) in result {
            let (ty, bytes) = self.width(*scalar)?;
            let place = WrittenArg::address(&base, at);
            self.row(format!("load.{ty}"), &[to, &place]).read_only = true;
            at += bytes;
        }
        Ok(())
    }

    /// `llvm.nvvm.atomic.add.gen.i.cta…`: an atomic operation of PTX, which is relaxed.
    fn atomic(
        &mut self,
        callee: &str,
        name: &str,
        arguments: &[Typed<'a>],
        result: &[ScalarPart],
    ) -> LoweringResult<()> {
        let ([(scalar, to)], Some((pointer, values))) = (result, arguments.split_first()) else {
            return self.no_call(callee);
        };
        let parts: Vec<&str> = name.split('.').collect();
        let (op, scope) = match &parts[..] {
            ["load", "add", ..] => ("add", "device"),
            ["load", "inc", ..] => ("inc", "device"),
            ["load", "dec", ..] => ("dec", "device"),
            [op, "gen", _, "cta", ..] => (*op, "block"),
            [op, "gen", _, "sys", ..] => (*op, "system"),
            _ => return self.no_call(callee),
        };
        self.space_of(&pointer.0)?;
        let (unsigned, _) = self.width(*scalar)?;
        let ty = match (op, scalar) {
            ("add", ScalarType::Float) => "f32".to_owned(),
            ("add", ScalarType::Double) => "f64".to_owned(),
            ("max" | "min", _) => unsigned.replace('u', "s"),
            _ => unsigned.to_owned(),
        };
        let (base, offset) = self.constant_address(&pointer.1)?;
        let place = WrittenArg::address(&base, offset);
        let mut cells = Vec::new();
        for value in values {
            cells.push(self.cell(value)?);
        }
        match (op, &cells[..]) {
            ("cas", [expected, value]) => {
                let name = format!("cmpxchg.relaxed.relaxed.{scope}.{ty}");
                self.row(name, &[to, &place, expected, value])
            }
            ("add" | "and" | "or" | "xor" | "exch" | "max" | "min" | "inc" | "dec", [value]) => {
                self.row(format!("rmw.{op}.relaxed.{scope}.{ty}"), &[to, &place, value])
            }
            _ => return self.no_call(callee),
        };
        Ok(())
    }

    fn space_of(&self, ty: &Ty) -> LoweringResult<()> {
        if let Ty::Ptr(space @ (0 | 1 | 3 | 7)) = ty {
            return self.space(*space).map(drop);
        }
        self.no("an atomic operation on local or constant memory is not supported")
    }

    /// `barrier0.popc` and similar: a barrier with a reduction.
    fn reduce(
        &mut self,
        operation: &str,
        arguments: &[Typed<'a>],
        to: &CellValue,
    ) -> LoweringResult<()> {
        let (id, count, of) = match arguments {
            [of] => (CellValue::Number(0), None, of),
            [id, of] => (self.cell(id)?, None, of),
            [id, count, of] => (self.cell(id)?, Some(self.cell(count)?), of),
            _ => return self.no("this barrier is not supported"),
        };
        let value = self.cell(of)?;
        let predicate = if of.0 == Ty::BIT {
            self.made_by("mov.pred", &[&value])
        } else {
            self.made_by("setp.ne.u32", &[&value, &0])
        };
        let number = self.temporary();
        let counts = operation == "popc" || of.0 == Ty::BIT;
        let to_or_number = if counts { to } else { &number };
        let all = [to_or_number, &id].into_iter().chain(&count).chain([&predicate]);
        let ty = if operation == "popc" { "u32" } else { "pred" };
        self.row(format!("barrier.cta.red.{operation}.{ty}"), &operands(all));
        if !counts {
            self.row("selp.u32", &[to, &1, &0, &number]);
        }
        Ok(())
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
