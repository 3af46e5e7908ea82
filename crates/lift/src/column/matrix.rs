//! Matrix operations of a warp: functions of the thread's own operands, with the names that PTX gives them.

use machine::form::AccessLevel;
use model::isa::alu::AluOp;
use model::isa::opaque::OpaqueOp;
use model::isa::{Operand, Reg, SpaceQualifier, Type, TypeKind};

use super::access::ElementAccess;
use super::{ColumnReader, SupportResult, unsupported};
use crate::opaque::{HASH, chained};
use sass::syntax::{self, OperandKind, Register};

const OTHER: &str = "a matrix operation of this form";

/// The shapes of products, as SASS and PTX write them, and the numbers of rows, columns and factors.
const SHAPES: &[(&str, &str, [u16; 3])] = &[
    ("16816", "m16n8k16", [16, 8, 16]),
    ("1688", "m16n8k8", [16, 8, 8]),
    ("1684", "m16n8k4", [16, 8, 4]),
    ("16832", "m16n8k32", [16, 8, 32]),
    ("16864", "m16n8k64", [16, 8, 64]),
    ("8816", "m8n8k16", [8, 8, 16]),
    ("8832", "m8n8k32", [8, 8, 32]),
    ("884", "m8n8k4", [8, 8, 4]),
    ("8x8x4", "m8n8k4", [8, 8, 4]),
];

/// A product of matrices and its sum with a third one.
pub(crate) struct MatrixProduct {
    /// The name of the PTX instruction.
    pub(crate) name: String,
    /// The numbers of bits that the operands have in this thread.
    bits: [u16; 3],
    /// The registers of its operands and of its result.
    operands: Type,
    result: Type,
}

impl MatrixProduct {
    /// `HMMA.16816.F32.BF16`, `IMMA.16832.S8.S8.SAT`, `DMMA.884`; `None` for others.
    pub(crate) fn of(instruction: &syntax::Instruction<'_>) -> Option<MatrixProduct> {
        let words: Vec<&str> = instruction.modifiers.iter().map(|word| word.text).collect();
        let (shape, types) = words.split_first()?;
        let (_, shape, [rows, columns, factors]) = SHAPES.iter().find(|(one, ..)| one == shape)?;
        let (types, saturates) = match types.split_last() {
            Some((&"SAT", types)) => (types, true),
            _ => (types, false),
        };
        let (result, [a, b]) = match (instruction.opcode.text, types) {
            ("HMMA", ["F32"]) => ("f32", ["f16"; 2]),
            ("HMMA", ["F16"]) => ("f16", ["f16"; 2]),
            ("HMMA", ["F32", "BF16"]) => ("f32", ["bf16"; 2]),
            ("HMMA", ["F32", "TF32"]) => ("f32", ["tf32"; 2]),
            ("IMMA", [a @ ("U8" | "S8" | "U4" | "S4"), b @ ("U8" | "S8" | "U4" | "S4")]) => {
                ("s32", [*a, *b])
            }
            ("DMMA", []) => ("f64", ["f64"; 2]),
            _ => return None,
        };
        let [result, a, b] = [result, a, b].map(str::to_lowercase);
        let width = |name: &str| match name {
            "f64" => 64,
            "f32" | "tf32" | "s32" => 32,
            "f16" | "bf16" => 16,
            "u4" | "s4" => 4,
            _ => 8,
        };
        let limit = if saturates { ".satfinite" } else { "" };
        let name = format!("mma.{shape}.row.col{limit}.{result}.{a}.{b}.{result}");
        // Of each matrix a thread has a part in 32.
        let bits = [
            rows * factors * width(&a) / 32,
            columns * factors * width(&b) / 32,
            rows * columns * width(&result) / 32,
        ];
        let double = result == "f64";
        let kind = match result.as_str() {
            "f32" | "f64" => TypeKind::Float,
            _ => TypeKind::Bits,
        };
        let width = if double { 64 } else { 32 };
        Some(MatrixProduct {
            name,
            bits,
            operands: Type { kind: TypeKind::Bits, bits: width },
            result: Type { kind, bits: width },
        })
    }

    /// The function of the first element of its result.
    pub(crate) fn function(&self) -> OpaqueOp {
        OpaqueOp::named(&format!("{}.d0", self.name))
    }
}

/// A register whose suffixes say no more than how the matrix is stored.
fn register(operand: &syntax::Operand<'_>) -> SupportResult<Register> {
    let OperandKind::Value(value) = &operand.kind else { return unsupported(OTHER) };
    let plain = value.suffixes.iter().all(|suffix| matches!(*suffix, "reuse" | "ROW" | "COL"));
    let plain = plain && value.signs.is_empty() && !value.absolute;
    operand.register().filter(|_| plain).ok_or(OTHER)
}

impl ColumnReader<'_> {
    /// All operands as one number.
    fn hashed(&mut self, operands: &[Operand]) -> SupportResult<Operand> {
        let op = AluOp::Opaque(OpaqueOp::named(HASH));
        chained(operands, |sources| self.computed(op, Type::U64, sources)).ok_or(OTHER)
    }

    /// Writes as many elements of a type as the registers from one on have room for.
    fn elements_of_matrix(
        &mut self,
        to: &syntax::Operand<'_>,
        bits: u16,
        ty: Type,
        name: &str,
        hash: Operand,
    ) -> SupportResult<()> {
        let first = register(to)?;
        if first.number.is_none() {
            return Ok(());
        }
        for index in 0..bits / ty.bits {
            let op = AluOp::Opaque(OpaqueOp::named(&format!("{name}.d{index}")));
            let register = first.ahead(index * ty.bits / 32);
            if ty.bits == 64 {
                let whole = self.hidden(64);
                self.alu(op, ty, whole, &[hash]);
                self.cut(whole, register, ty, to);
            } else {
                let register = self.register(register, to.at);
                self.alu(op, ty, register, &[hash]);
            }
        }
        Ok(())
    }

    /// `HMMA.16816.F32 R0, R4, R8, R12`
    pub(super) fn matrix_product(
        &mut self,
        instruction: &syntax::Instruction<'_>,
    ) -> SupportResult<()> {
        let Some(product) = MatrixProduct::of(instruction) else { return unsupported(OTHER) };
        let [to, from @ ..] = &instruction.operands[..] else { return unsupported(OTHER) };
        if from.len() != 3 {
            return unsupported(OTHER);
        }
        let mut operands = Vec::new();
        for (operand, bits) in from.iter().zip(product.bits) {
            operands.extend(self.elements_of(
                register(operand)?,
                bits,
                product.operands,
                operand.at,
            ));
        }
        let hash = self.hashed(&operands)?;
        let [.., bits] = product.bits;
        self.elements_of_matrix(to, bits, product.result, &product.name, hash)
    }

    /// `LDSM.16.MT88.4 R0, [R4]`: reads the row of 16 bytes whose address this thread has.
    pub(super) fn matrix_load(
        &mut self,
        instruction: &syntax::Instruction<'_>,
    ) -> SupportResult<()> {
        let words: Vec<&str> = instruction.modifiers.iter().map(|word| word.text).collect();
        let (stored, count) = match words[..] {
            ["16", stored] => (stored, 1),
            ["16", stored, "2"] => (stored, 2),
            ["16", stored, "4"] => (stored, 4),
            _ => return unsupported(OTHER),
        };
        let transposed = match stored {
            "M88" => "",
            "MT88" => ".trans",
            _ => return unsupported(OTHER),
        };
        let [to, address] = &instruction.operands[..] else { return unsupported(OTHER) };
        let space = SpaceQualifier::SharedCta;
        let found = self.address(instruction, address, 16, space)?;
        let words: Vec<Reg> = (0..4).map(|_| self.hidden(32)).collect();
        let destinations = words.iter().copied().map(Some).collect();
        let (ty, level) = (Type::U32, AccessLevel::Own);
        let access = ElementAccess { space, ty, place: &found, operand: address, level };
        self.issue(instruction, &access, destinations);
        let words: Vec<Operand> = words.into_iter().map(Operand::Reg).collect();
        let hash = self.hashed(&words)?;
        let ty = Type { kind: TypeKind::Bits, bits: 32 };
        let name = format!("ldmatrix.x{count}{transposed}");
        self.elements_of_matrix(to, 32 * count, ty, &name, hash)
    }
}

#[cfg(test)]
mod tests {
    use super::MatrixProduct;
    use text::report::{ByteSpan, Diagnostics};

    #[test]
    fn products_have_the_names_of_ptx() {
        for (text, name, registers) in [
            ("HMMA.16816.F32 R0, R4, R8, R12", "m16n8k16.row.col.f32.f16.f16.f32", [4, 2, 4]),
            ("HMMA.16816.F16 R0, R4, R8, R12", "m16n8k16.row.col.f16.f16.f16.f16", [4, 2, 2]),
            ("HMMA.1688.F32.BF16 R0, R4, R8, R12", "m16n8k8.row.col.f32.bf16.bf16.f32", [2, 1, 4]),
            ("HMMA.1688.F32.TF32 R0, R4, R8, R12", "m16n8k8.row.col.f32.tf32.tf32.f32", [4, 2, 4]),
            ("IMMA.8816.U8.S8 R0, R4, R8, R12", "m8n8k16.row.col.s32.u8.s8.s32", [1, 1, 2]),
            (
                "IMMA.16864.S4.S4.SAT R0, R4, R8, R12",
                "m16n8k64.row.col.satfinite.s32.s4.s4.s32",
                [4, 2, 4],
            ),
            ("DMMA.8x8x4 R0, R4, R8, R12", "m8n8k4.row.col.f64.f64.f64.f64", [2, 2, 4]),
        ] {
            let at = ByteSpan::new(0, text.len());
            let all = sass::parse::read(text, at, &mut Diagnostics::default());
            let product = MatrixProduct::of(&all[0]).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(product.name, format!("mma.{name}"), "{text}");
            assert_eq!(product.bits, registers.map(|count| 32 * count), "{text}");
        }
        for text in ["HMMA.SP.16832.F32 R0, R4, R8, R12", "IMMA.16832.S8 R0, R4, R8, R12"] {
            let at = ByteSpan::new(0, text.len());
            let all = sass::parse::read(text, at, &mut Diagnostics::default());
            assert!(MatrixProduct::of(&all[0]).is_none(), "{text}");
        }
    }
}
