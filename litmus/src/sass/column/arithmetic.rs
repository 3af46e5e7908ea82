//! The arithmetic that addresses and dependencies need.

use model::isa::alu::{AluOp, Comparison};
use model::isa::{Operand, Reg, Type, TypeKind};

use super::{BIT, Column, Got, unsupported};
use crate::report::Bytes;
use crate::sass::syntax::{self as text, File};

const S32: Type = Type { kind: TypeKind::Signed, bits: 32 };

const WHAT: &str = "arithmetic of this form";

impl Column<'_> {
    pub(super) fn arithmetic(&mut self, instruction: &text::Instruction<'_>) -> Got<()> {
        let name = instruction.opcode.text;
        let all = &instruction.operands;
        let Some((to, rest)) = all.split_first() else { return unsupported(WHAT) };
        let has = |modifier: &str| instruction.has(modifier);
        match (name.strip_prefix('U').unwrap_or(name), rest) {
            ("MOV" | "MOV32I", [from] | [from, _]) => self.simple(AluOp::Mov, to, &[from]),
            ("IMAD", [a, b, from]) if has("MOV") && zero(a) && zero(b) => {
                self.simple(AluOp::Mov, to, &[from])
            }
            ("SHL", [a, by]) => self.simple(AluOp::Shl, to, &[a, by]),
            ("SHR", [a, by]) if has("U32") => self.simple(AluOp::Shr, to, &[a, by]),
            ("SHF", [a, by, high]) if has("L") && has("U32") && zero(high) => {
                self.simple(AluOp::Shl, to, &[a, by])
            }
            ("SHF", [low, by, a]) if has("R") && has("U32") && has("HI") && zero(low) => {
                self.simple(AluOp::Shr, to, &[a, by])
            }
            ("LOP" | "LOP32I", [a, b]) if has("AND") => self.simple(AluOp::And, to, &[a, b]),
            ("LOP" | "LOP32I", [a, b]) if has("OR") => self.simple(AluOp::Or, to, &[a, b]),
            ("LOP" | "LOP32I", [a, b]) if has("XOR") => self.simple(AluOp::Xor, to, &[a, b]),
            ("LOP3", [a, b, c, table, _]) if has("LUT") => self.lookup(to, [a, b, c], table),
            ("SEL", [a, b, which]) => self.simple(AluOp::Selp, to, &[a, b, which]),
            ("ISETP", _) => self.compare(instruction),
            ("IADD" | "IADD32I", [a, b]) => self.add(to, &[a, b], carry(to), has("X")),
            ("IADD3", [a, b, c]) if !has("X") => self.add(to, &[a, b, c], None, false),
            ("IADD3", [out, a, b, c]) if !has("X") && is_predicate(out) => {
                let Some(register) = out.register() else { return unsupported(WHAT) };
                let out = register.number.map(|_| register.to_string());
                self.add(to, &[a, b, c], out, false)
            }
            ("IADD3", [a, b, c, carried, none]) if has("X") && is_false(none) => {
                let sources = [self.source(a)?, self.source(b)?, self.source(c)?];
                let carried = self.source(carried)?;
                let sum = self.sum(&[sources[0], sources[1], sources[2], carried]);
                self.low(to, sum)
            }
            _ => unsupported(WHAT),
        }
    }

    fn simple(
        &mut self,
        op: AluOp,
        to: &text::Operand<'_>,
        from: &[&text::Operand<'_>],
    ) -> Got<()> {
        let sources = from.iter().map(|one| self.source(one)).collect::<Got<Vec<_>>>()?;
        if let Some(to) = self.destination(to)? {
            self.alu(op, Type::U32, to, &sources);
        }
        Ok(())
    }

    /// The sum in 64 bits: what is above 32 was carried.
    fn sum(&mut self, sources: &[Operand]) -> Operand {
        let mut sum = sources[0];
        for &source in &sources[1..] {
            if source != Operand::Imm(0) {
                sum = self.computed(AluOp::Add, Type::U64, &[sum, source]);
            }
        }
        sum
    }

    fn low(&mut self, to: &text::Operand<'_>, sum: Operand) -> Got<()> {
        if let Some(to) = self.destination(to)? {
            self.alu(AluOp::Mov, Type::U32, to, &[sum]);
        }
        Ok(())
    }

    /// A sum, which may say what it carries, and may add what was carried before.
    fn add(
        &mut self,
        to: &text::Operand<'_>,
        from: &[&text::Operand<'_>],
        out: Option<String>,
        carried: bool,
    ) -> Got<()> {
        let mut sources = from.iter().map(|one| self.source(one)).collect::<Got<Vec<_>>>()?;
        if carried {
            sources.push(Operand::Reg(self.named("CC", 1, Bytes::default())));
        }
        let counted = sources.iter().filter(|one| **one != Operand::Imm(0)).count();
        let negated = from
            .iter()
            .any(|one| one.register().is_some() && one.to_string().starts_with(['-', '~']));
        if out.is_some() && (counted > 2 || negated) {
            return unsupported("a carry of more than a sum of two");
        }
        let sum = self.sum(&sources);
        self.low(to, sum)?;
        if let Some(out) = out {
            let carry = self.named(&out, 1, Bytes::default());
            self.alu(AluOp::Extract(32), BIT, carry, &[sum]);
        }
        Ok(())
    }

    /// Three values by a table of eight bits: the sum, without carry, of products of some of them.
    fn lookup(
        &mut self,
        to: &text::Operand<'_>,
        from: [&text::Operand<'_>; 3],
        table: &text::Operand<'_>,
    ) -> Got<()> {
        if is_predicate(to) {
            return unsupported("a predicate as the result");
        }
        let Operand::Imm(table @ 0..=0xff) = self.source(table)? else {
            return unsupported("a table of more than eight bits");
        };
        let mut values = Vec::new();
        for one in from {
            values.push(self.source(one)?);
        }
        // Bit 4a + 2b + c of the table is the result; summing over subsets gives the products.
        let mut products = (0..8).map(|row| table >> row & 1 == 1).collect::<Vec<bool>>();
        for bit in [1, 2, 4] {
            for row in (0..8).filter(|row| row & bit != 0) {
                products[row] ^= products[row ^ bit];
            }
        }
        let mut result = Operand::Imm(0);
        for (row, _) in products.iter().enumerate().filter(|(_, there)| **there) {
            let mut product = Operand::Imm(0xffff_ffff);
            for (value, bit) in values.iter().zip([4, 2, 1]) {
                if row & bit != 0 {
                    product = if product == Operand::Imm(0xffff_ffff) {
                        *value
                    } else {
                        self.computed(AluOp::And, Type::U32, &[product, *value])
                    };
                }
            }
            result = self.computed(AluOp::Xor, Type::U32, &[result, product]);
        }
        self.low(to, result)
    }

    /// `ISETP.NE.AND P0, PT, R0, RZ, PT`
    fn compare(&mut self, instruction: &text::Instruction<'_>) -> Got<()> {
        let [to, other, a, b, with] = &instruction.operands[..] else { return unsupported(WHAT) };
        let comparisons = [
            ("EQ", Comparison::Eq),
            ("NE", Comparison::Ne),
            ("LT", Comparison::Lt),
            ("LE", Comparison::Le),
            ("GT", Comparison::Gt),
            ("GE", Comparison::Ge),
        ];
        let found = comparisons.into_iter().find(|(name, _)| instruction.has(name));
        let Some((_, comparison)) = found else { return unsupported(WHAT) };
        let joins = [("AND", AluOp::And), ("OR", AluOp::Or), ("XOR", AluOp::Xor)];
        let Some((_, join)) = joins.into_iter().find(|(name, _)| instruction.has(name)) else {
            return unsupported(WHAT);
        };
        if instruction.has("EX") {
            return unsupported("a comparison of 64 bits");
        }
        let ty = if instruction.has("U32") { Type::U32 } else { S32 };
        let (a, b, with) = (self.source(a)?, self.source(b)?, self.source(with)?);
        let holds = self.computed(AluOp::Setp(comparison), ty, &[a, b]);
        if let Operand::Reg(Reg(index)) = holds {
            self.draft.thread(self.thread).draft(Reg(index)).bits = 1;
        }
        let whole = with == Operand::Imm(1) && join == AluOp::And;
        if let Some(other) = self.destination(other)? {
            let not = self.computed(AluOp::Xor, BIT, &[holds, Operand::Imm(1)]);
            self.alu(join, BIT, other, &[not, with]);
        }
        if let Some(to) = self.destination(to)? {
            if whole {
                self.alu(AluOp::Mov, BIT, to, &[holds]);
            } else {
                self.alu(join, BIT, to, &[holds, with]);
            }
        }
        Ok(())
    }
}

/// `RZ`, or a number that is zero.
fn zero(operand: &text::Operand<'_>) -> bool {
    let text = operand.to_string();
    matches!(text.as_str(), "RZ" | "URZ" | "0x0" | "0")
}

fn is_false(operand: &text::Operand<'_>) -> bool {
    matches!(operand.to_string().as_str(), "!PT" | "!UPT")
}

fn is_predicate(operand: &text::Operand<'_>) -> bool {
    operand
        .register()
        .is_some_and(|register| matches!(register.file, File::Predicate | File::UniformPredicate))
}

/// `R0.CC` says what it carries.
fn carry(operand: &text::Operand<'_>) -> Option<String> {
    let text::OperandKind::Value(value) = &operand.kind else { return None };
    value.suffixes.contains(&"CC").then(|| "CC".to_owned())
}
