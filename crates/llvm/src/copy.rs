//! `llvm.memcpy`, `llvm.memmove` and `llvm.memset`: plain accesses of elements, as wide as the alignment permits.

use super::cell::CellValue;
use super::function::{LoweringResult, Root, Translator};
use super::operand::Value;
use super::step::{CallAttributes, Typed};
use lift::written::WrittenArg;
use model::memory::Space;
use text::cursor::short;

/// The maximum number of elements. From 128 bytes on, `llc` makes loops of a copy.
const MOST: u64 = 64;

/// The sizes of elements in bytes, and the factor that repeats a byte in each.
const ELEMENTS: [(u64, &str, u64); 4] =
    [(8, "u64", 0x0101_0101_0101_0101), (4, "u32", 0x0101_0101), (2, "u16", 0x0101), (1, "u8", 1)];

/// An element: its offset, and one of [`ELEMENTS`].
type CopiedElement = (u64, (u64, &'static str, u64));

/// The elements of this many bytes at a place with this alignment; `None` if they are too many.
fn elements(bytes: u64, alignment: u64) -> Option<Vec<CopiedElement>> {
    let alignment = alignment.max(1);
    if bytes / alignment.min(8) > MOST {
        return None;
    }
    let mut elements = Vec::new();
    let mut at = 0;
    for element in ELEMENTS.into_iter().filter(|(size, ..)| *size <= alignment) {
        while bytes - at >= element.0 {
            elements.push((at, element));
            at += element.0;
        }
    }
    Some(elements)
}

/// Whether this function copies bytes, or sets them.
pub(super) fn is_copy(callee: &str) -> bool {
    ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|name| callee.starts_with(name))
}

impl<'a> Translator<'a, '_> {
    /// `(to, from, bytes, volatile)`. All elements are read before the first is written, since both places may
    /// overlap.
    pub(super) fn copies(
        &mut self,
        callee: &str,
        arguments: &[Typed<'a>],
        how: &CallAttributes<'a>,
    ) -> LoweringResult<()> {
        let name = short(callee);
        let [to, from, (_, size), (_, volatile)] = arguments else {
            return self.no(format!("`@{name}` of this form is not supported"));
        };
        if *volatile != Value::Literal("false") {
            return self.no(format!("a volatile `@{name}` is not supported"));
        }
        let bytes = if let Value::Literal(text) = size { text.parse().ok() } else { None };
        let Some(bytes) = bytes else {
            return self.no(format!("`@{name}` of a size that is not a constant is not supported"));
        };
        let sets = callee.starts_with("llvm.memset.");
        let aligned =
            |index| how.aligned.iter().find(|(at, _)| *at == index).map_or(1, |one| one.1);
        let alignment = if sets { aligned(0) } else { aligned(0).min(aligned(1)) };
        self.promise(Some(alignment).filter(|alignment| *alignment > 1));
        let Some(elements) = elements(bytes, alignment) else {
            return self.no(format!(
                "`@{name}` of more than {MOST} elements of {alignment} bytes is not supported"
            ));
        };
        if self.space_of_pointer(to)? == Space::Const {
            return self.no("a store to constant memory is not supported");
        }
        if callee.starts_with("llvm.memcpy.") && self.may_overlap(to, from) {
            self.undefined_overlap(to, from, bytes)?;
        }
        let values =
            if sets { self.repeated(from, &elements)? } else { self.read(from, &elements)? };
        let (base, offset) = self.constant_address(&to.1)?;
        for ((at, (_, ty, _)), value) in elements.into_iter().zip(values) {
            let to = WrittenArg::address(&base, offset.wrapping_add_unsigned(at));
            self.row(format!("store.{ty}"), &[&to, &value]).element = true;
        }
        Ok(())
    }

    /// Whether two places may be neither the same nor apart.
    fn may_overlap(&self, to: &Typed<'a>, from: &Typed<'a>) -> bool {
        let roots = (self.root(&to.1), self.root(&from.1));
        let whole =
            |value: &Value<'a>| matches!(value, Value::Local(name) if self.made(name).is_none());
        match roots {
            (Root::Alloca(_) | Root::Global(_), Root::Alloca(_) | Root::Global(_)) => {
                roots.0 == roots.1
            }
            (Root::Alloca(_), _) | (_, Root::Alloca(_)) => false,
            _ => to.1 != from.1 || !whole(&to.1),
        }
    }

    /// A `memcpy` between places that overlap in part is undefined.
    fn undefined_overlap(
        &mut self,
        to: &Typed<'a>,
        from: &Typed<'a>,
        bytes: u64,
    ) -> LoweringResult<()> {
        let (to, from) = (self.cell(to)?, self.cell(from)?);
        let ends = [&to, &from].map(|at| self.made_by("add.u64", &[at, &bytes]));
        let below = self.made_by("setp.lt.u64", &[&to, &ends[1]]);
        let above = self.made_by("setp.lt.u64", &[&from, &ends[0]]);
        let other = self.made_by("setp.ne.u64", &[&to, &from]);
        let both = self.made_by("and.pred", &[&below, &above]);
        let overlap = self.made_by("and.pred", &[&both, &other]);
        self.undefined_if(&overlap);
        Ok(())
    }

    /// The elements of a copy, from memory.
    fn read(
        &mut self,
        from: &Typed<'a>,
        elements: &[CopiedElement],
    ) -> LoweringResult<Vec<CellValue>> {
        self.space_of_pointer(from)?;
        let space = from.0.address_space().unwrap_or_default();
        let read_only = self.never_written(&from.1, space);
        let (base, offset) = self.constant_address(&from.1)?;
        let values = elements.iter().map(|(at, (_, ty, _))| {
            let value = self.temporary();
            let from = WrittenArg::address(&base, offset.wrapping_add_unsigned(*at));
            let row = self.row(format!("load.{ty}"), &[&value, &from]);
            (row.element, row.read_only) = (true, read_only);
            value
        });
        Ok(values.collect())
    }

    /// The elements of memory whose bytes are all the same; none if they are not defined.
    fn repeated(
        &mut self,
        byte: &Typed<'a>,
        elements: &[CopiedElement],
    ) -> LoweringResult<Vec<CellValue>> {
        let cells = self.cells(&byte.0, &byte.1)?;
        let [byte] = &cells[..] else {
            return self.no("a byte that is not a scalar is not supported");
        };
        if *byte == CellValue::Undefined {
            self.leaves_undefined();
            return Ok(Vec::new());
        }
        let values = elements.iter().map(|(_, (bytes, _, factor))| match byte.number() {
            Some(byte) => CellValue::Number(byte * factor),
            None if *bytes == 8 => {
                let wide = self.made_by("cvt.u64.u32", &[byte]);
                self.made_by("mul.lo.u64", &[&wide, factor])
            }
            None => self.made_by("mul.lo.u32", &[byte, factor]),
        });
        Ok(values.collect())
    }

    fn space_of_pointer(&self, pointer: &Typed<'a>) -> LoweringResult<Space> {
        pointer.0.address_space().map_or(Ok(Space::Global), |space| self.space(space))
    }
}

#[cfg(test)]
mod tests {
    /// Why the instructions of a function are refused.
    fn refused(body: &str) -> Vec<String> {
        let text = format!(
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n\
             declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n\
             define void @f(ptr %p, ptr %q, i64 %n) {{\n{body}\nret void\n}}\n"
        );
        let (_, function) = crate::functions("m.ll", &text).expect("it is read").remove(0);
        let refusals = function.err();
        refusals.map_or(Vec::new(), |all| all.all().iter().map(|one| one.why.clone()).collect())
    }

    #[test]
    fn large_and_volatile_copies_are_refused() {
        let copy = |rest: &str| refused(&format!("call void @llvm.memcpy.p0.p0.i64({rest})"));
        let name = "`@llvm.memcpy.p0.p0.i64` of";
        assert_eq!(copy("ptr align 8 %p, ptr align 8 %q, i64 512, i1 false"), [""; 0]);
        assert_eq!(
            copy("ptr align 8 %p, ptr align 4 %q, i64 512, i1 false"),
            [format!("{name} more than 64 elements of 4 bytes is not supported")]
        );
        assert_eq!(
            copy("ptr align 8 %p, ptr align 8 %q, i64 %n, i1 false"),
            [format!("{name} a size that is not a constant is not supported")]
        );
        assert_eq!(
            copy("ptr %p, ptr %q, i64 4, i1 true"),
            ["a volatile `@llvm.memcpy.p0.p0.i64` is not supported"]
        );
    }

    #[test]
    fn what_is_not_defined_is_left_out_of_plain_stores_only() {
        assert_eq!(refused("store i32 undef, ptr %p, align 4"), [""; 0]);
        let set = "call void @llvm.memset.p0.i64(ptr %p, i8 undef, i64 4, i1 false)";
        assert_eq!(refused(set), [""; 0]);
    }
}
