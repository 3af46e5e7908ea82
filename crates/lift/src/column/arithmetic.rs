//! Arithmetic for addresses and dependencies.

use model::isa::alu::{AluOp, Comparison};
use model::isa::integer::IntegerOp;
use model::isa::{Operand, Reg, Type, TypeKind};

use super::float::{DOUBLE, FloatSum};
use super::{BIT, ColumnReader, SupportResult, unsupported};
use sass::syntax::{self, RegisterFile};
use text::report::ByteSpan;

pub(super) const S32: Type = Type { kind: TypeKind::Signed, bits: 32 };

pub(super) const WHAT: &str = "arithmetic of this form";

impl ColumnReader<'_> {
    pub(super) fn arithmetic(
        &mut self,
        instruction: &syntax::Instruction<'_>,
    ) -> SupportResult<()> {
        let name = instruction.opcode.text;
        let all = &instruction.operands;
        let Some((to, rest)) = all.split_first() else { return unsupported(WHAT) };
        let opcode = name.strip_prefix('U').unwrap_or(name);
        if let Some((work, ty)) = FloatSum::of(opcode) {
            return self.float_arithmetic(instruction, work, ty, to, rest);
        }
        let has = |modifier: &str| instruction.has(modifier);
        match (opcode, rest) {
            ("MOV", [from]) if has("64") => {
                let value = self.wide(from)?;
                self.halves(to, value)
            }
            ("MOV" | "MOV32I" | "R2UR", [from]) | ("MOV" | "MOV32I", [from, _]) => {
                self.simple(AluOp::Mov, to, &[from])
            }
            ("S2R" | "S2UR" | "CS2R", _) => self.special(instruction),
            ("IMAD", _) => self.multiply(instruction),
            ("LEA", _) => self.scaled(instruction),
            ("SHL", [a, by]) => self.simple(AluOp::Shl, to, &[a, by]),
            ("SHR", [a, by]) if has("U32") => self.simple(AluOp::Shr, to, &[a, by]),
            ("SHR", [a, by]) if instruction.modifiers.is_empty() => {
                let (a, by) = (self.source(a)?, self.source(by)?);
                self.shifted_signed(to, a, by)
            }
            ("SHF", [low, by, high]) => self.funnel(instruction, to, [low, by, high]),
            ("LOP" | "LOP32I", [a, b]) if has("AND") => self.simple(AluOp::And, to, &[a, b]),
            ("LOP" | "LOP32I", [a, b]) if has("OR") => self.simple(AluOp::Or, to, &[a, b]),
            ("LOP" | "LOP32I", [a, b]) if has("XOR") => self.simple(AluOp::Xor, to, &[a, b]),
            ("LOP3", [a, b, c, table, _]) if has("LUT") && !is_predicate(to) => {
                let value = self.lookup([a, b, c], table, u64::from(u32::MAX))?;
                self.low(to, value)
            }
            ("LOP3", [result, a, b, c, table, none]) if has("LUT") && is_predicate(to) => {
                if !is_false(none) || instruction.modifiers.len() > 1 {
                    return unsupported("a result that is joined with a predicate");
                }
                let value = self.lookup([a, b, c], table, u64::from(u32::MAX))?;
                let some = AluOp::Setp(Comparison::Ne);
                let some = self.computed(some, Type::U32, &[value, Operand::Imm(0)]);
                self.low(result, value)?;
                self.bit(to, some)
            }
            ("PLOP3", [other, a, b, c, table, tables]) if has("LUT") => {
                let value = self.lookup([a, b, c], table, 1)?;
                let second = self.lookup([a, b, c], tables, 1)?;
                self.bit(to, value)?;
                self.bit(other, second)
            }
            ("PSETP", [other, a, b, c]) => {
                let names: Vec<&str> = instruction.modifiers.iter().map(|word| word.text).collect();
                let join = |name: &str| JOINS.iter().find(|(known, _)| *known == name);
                let [Some((_, first)), Some((_, then))] =
                    names.iter().map(|name| join(name)).collect::<Vec<_>>()[..]
                else {
                    return unsupported(WHAT);
                };
                if !matches!(other.to_string().as_str(), "PT" | "UPT") {
                    return unsupported("two predicates as results");
                }
                let (a, b, c) = (self.source(a)?, self.source(b)?, self.source(c)?);
                let value = self.computed(*first, BIT, &[a, b]);
                let value = self.computed(*then, BIT, &[value, c]);
                self.bit(to, value)
            }
            ("SEL", [a, b, which]) => self.simple(AluOp::Selp, to, &[a, b, which]),
            ("PRMT", [a, which, b]) => self.permute(instruction, to, [a, b], which),
            ("SGXT", [from, count]) => self.field(instruction, to, [from, count]),
            ("BMSK", [first, count]) => self.mask(instruction, to, [first, count]),
            ("BREV", [from]) if instruction.modifiers.is_empty() => {
                self.simple(AluOp::Integer(IntegerOp::Brev), to, &[from])
            }
            ("IABS", [from]) if instruction.modifiers.is_empty() => {
                let from = self.source(from)?;
                let value = self.computed(AluOp::Integer(IntegerOp::Abs), S32, &[from]);
                self.low(to, value)
            }
            ("P2R", [_, from, mask]) => self.predicates_to_register(instruction, to, [from, mask]),
            ("R2P", [from, mask]) => self.register_to_predicates(from, mask),
            ("IMNMX" | "VIMNMX", [a, b, least]) => self.extreme(instruction, to, &[a, b], least),
            ("VIMNMX3", [a, b, c, least]) => self.extreme(instruction, to, &[a, b, c], least),
            ("VIADDMNMX", [a, b, c, least]) => {
                self.sum_and_extreme(instruction, to, [a, b, c], least)
            }
            ("IADD3", _) => self.add3(instruction),
            ("ISETP", _) => self.compare(instruction),
            ("IADD" | "VIADD", [a, b]) if has("64") => {
                let (a, b) = (self.wide(a)?, self.wide(b)?);
                let sum = self.computed(AluOp::Add, Type::U64, &[a, b]);
                self.halves(to, sum)
            }
            ("IADD" | "IADD32I", [a, b]) => self.add(to, &[a, b], carry(to), has("X")),
            ("VIADD", [a, b]) if instruction.modifiers.is_empty() => {
                self.add(to, &[a, b], None, false)
            }
            _ => self.float_or_lane(instruction, opcode, to, rest),
        }
    }

    /// Arithmetic of floats, and what other lanes take part in.
    fn float_or_lane(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        opcode: &str,
        to: &syntax::Operand<'_>,
        rest: &[syntax::Operand<'_>],
    ) -> SupportResult<()> {
        match (opcode, rest) {
            ("FADD2", _) => self.float_pairs(instruction, FloatSum::Add, to, rest),
            ("FMUL2", _) => self.float_pairs(instruction, FloatSum::Mul, to, rest),
            ("FFMA2", _) => self.float_pairs(instruction, FloatSum::Fma, to, rest),
            ("FSETP", _) => self.float_compare(instruction, Type::F32),
            ("DSETP", _) => self.float_compare(instruction, DOUBLE),
            ("FSET", [a, b, with]) => self.float_set(instruction, to, [a, b, with]),
            ("FMNMX", [a, b, least]) => self.float_least(instruction, Type::F32, to, [a, b, least]),
            ("DMNMX", [a, b, least]) => self.float_least(instruction, DOUBLE, to, [a, b, least]),
            ("FMNMX3", [a, b, c, least]) => self.least_of_three(instruction, to, [a, b, c, least]),
            ("FSEL", [a, b, which]) => self.float_select(instruction, to, [a, b, which]),
            ("FCHK", [a, b]) if instruction.modifiers.is_empty() => self.float_check(to, [a, b]),
            ("MUFU", [from]) => self.function(instruction, to, from),
            ("F2F", [from]) => self.float_to_float(instruction, to, from),
            ("FRND", [from]) => self.whole(instruction, to, from),
            ("F2I", [from]) => self.float_to_integer(instruction, to, from),
            ("I2F" | "I2FP", [from]) => self.integer_to_float(instruction, to, from),
            ("F2FP", [high, low]) => self.float_pack(instruction, to, [high, low]),
            ("HADD2", _) => self.half_arithmetic(instruction, FloatSum::Add, to, rest),
            ("HMUL2", _) => self.half_arithmetic(instruction, FloatSum::Mul, to, rest),
            ("HFMA2", [_, _, high, low]) if Self::loads_halves(instruction) => {
                self.halves_of_floats(to, high, low)
            }
            ("HFMA2", _) => self.half_arithmetic(instruction, FloatSum::Fma, to, rest),
            ("HMNMX2", _) => self.half_least(instruction, to, rest),
            ("HSETP2", _) => self.half_compare(instruction, to, rest),
            ("REDUX", [from]) => self.reduction(instruction, to, from),
            ("MATCH", _) => self.matched(instruction, to, rest),
            ("VOTE" | "VOTEU", _) => self.vote(instruction),
            ("SHFL", _) => self.shuffle(instruction),
            ("HMMA" | "IMMA" | "DMMA", _) => self.matrix_product(instruction),
            ("FLO", [from]) => self.leading(instruction, to, from),
            ("POPC", [from]) if instruction.modifiers.is_empty() => {
                self.simple(AluOp::Integer(IntegerOp::Popc), to, &[from])
            }
            _ => unsupported(WHAT),
        }
    }

    pub(super) fn simple(
        &mut self,
        op: AluOp,
        to: &syntax::Operand<'_>,
        from: &[&syntax::Operand<'_>],
    ) -> SupportResult<()> {
        let sources = from.iter().map(|one| self.source(one)).collect::<SupportResult<Vec<_>>>()?;
        if let Some(to) = self.destination(to)? {
            self.alu(op, Type::U32, to, &sources);
        }
        Ok(())
    }

    /// The sum in 64 bits. The bits from 32 on are the carry.
    pub(super) fn sum(&mut self, sources: &[Operand]) -> Operand {
        let mut sum = sources[0];
        for &source in &sources[1..] {
            if source != Operand::Imm(0) {
                sum = self.computed(AluOp::Add, Type::U64, &[sum, source]);
            }
        }
        sum
    }

    pub(super) fn low(&mut self, to: &syntax::Operand<'_>, sum: Operand) -> SupportResult<()> {
        if let Some(to) = self.destination(to)? {
            self.alu(AluOp::Mov, Type::U32, to, &[sum]);
        }
        Ok(())
    }

    /// A sum, which may write a carry and may add an earlier one.
    fn add(
        &mut self,
        to: &syntax::Operand<'_>,
        from: &[&syntax::Operand<'_>],
        out: Option<String>,
        carried: bool,
    ) -> SupportResult<()> {
        let mut sources =
            from.iter().map(|one| self.source(one)).collect::<SupportResult<Vec<_>>>()?;
        if carried {
            sources.push(Operand::Reg(self.named("CC", 1, ByteSpan::default())));
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
            let carry = self.named(&out, 1, ByteSpan::default());
            self.alu(AluOp::Extract(32), BIT, carry, &[sum]);
        }
        Ok(())
    }

    /// Combines three values with an eight-bit truth table, as the exclusive or of products of some of them.
    /// `ones` is the value with all bits set.
    fn lookup(
        &mut self,
        from: [&syntax::Operand<'_>; 3],
        table: &syntax::Operand<'_>,
        ones: u64,
    ) -> SupportResult<Operand> {
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
            let mut product = Operand::Imm(ones);
            for (value, bit) in values.iter().zip([4, 2, 1]) {
                if row & bit != 0 {
                    product = if product == Operand::Imm(ones) {
                        *value
                    } else {
                        self.computed(AluOp::And, Type::U32, &[product, *value])
                    };
                }
            }
            result = self.computed(AluOp::Xor, Type::U32, &[result, product]);
        }
        Ok(result)
    }

    /// `ISETP.NE.AND P0, PT, R0, RZ, PT`. With `.EX` it compares high halves, given the result for the low
    /// halves.
    fn compare(&mut self, instruction: &syntax::Instruction<'_>) -> SupportResult<()> {
        let (to, other, a, b, with, lower) = match &instruction.operands[..] {
            [to, other, a, b, with] => (to, other, a, b, with, None),
            [to, other, a, b, with, lower] => (to, other, a, b, with, Some(lower)),
            _ => return unsupported(WHAT),
        };
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
        let (wide, ty) = match ["U64", "S64", "U32"].into_iter().find(|name| instruction.has(name))
        {
            Some("U64") => (true, Type::U64),
            Some("S64") => (true, Type { bits: 64, ..S32 }),
            Some(_) => (false, Type::U32),
            None => (false, S32),
        };
        if lower.is_some() != instruction.has("EX") || wide && lower.is_some() {
            return unsupported(WHAT);
        }
        let (a, b) =
            if wide { (self.wide(a)?, self.wide(b)?) } else { (self.source(a)?, self.source(b)?) };
        let mut holds = self.computed(AluOp::Setp(comparison), ty, &[a, b]);
        if let Some(lower) = lower {
            let lower = self.source(lower)?;
            let same = self.computed(AluOp::Setp(Comparison::Eq), ty, &[a, b]);
            let strict = match comparison {
                Comparison::Le => Comparison::Lt,
                Comparison::Ge => Comparison::Gt,
                Comparison::Eq | Comparison::Ne | Comparison::Lt | Comparison::Gt => comparison,
            };
            let high = if comparison == Comparison::Eq {
                Operand::Imm(0)
            } else {
                self.computed(AluOp::Setp(strict), ty, &[a, b])
            };
            holds = self.computed(AluOp::Selp, BIT, &[lower, high, same]);
        }
        if let Operand::Reg(Reg(index)) = holds {
            self.draft.thread(self.thread).draft(Reg(index)).bits = 1;
        }
        self.settle(instruction, to, other, holds, with)
    }

    /// The operation that joins a comparison with a predicate.
    pub(super) fn join(instruction: &syntax::Instruction<'_>) -> SupportResult<AluOp> {
        let found = JOINS.iter().find(|(name, _)| instruction.has(name));
        found.map(|(_, join)| *join).ok_or(WHAT)
    }

    /// Writes a comparison that is joined with a predicate, and its negation that is joined with it.
    pub(super) fn settle(
        &mut self,
        instruction: &syntax::Instruction<'_>,
        to: &syntax::Operand<'_>,
        other: &syntax::Operand<'_>,
        holds: Operand,
        with: &syntax::Operand<'_>,
    ) -> SupportResult<()> {
        let join = Self::join(instruction)?;
        let with = self.source(with)?;
        let whole = with == Operand::Imm(1) && join == AluOp::And;
        // Both are computed before one is written: `with` may be the first.
        let mut second = None;
        if let Some(other) = self.destination(other)? {
            let not = self.computed(AluOp::Xor, BIT, &[holds, Operand::Imm(1)]);
            second = Some((other, self.truth(join, BIT, &[not, with])));
        }
        if let Some(to) = self.destination(to)? {
            if whole {
                self.alu(AluOp::Mov, BIT, to, &[holds]);
            } else {
                self.alu(join, BIT, to, &[holds, with]);
            }
        }
        if let Some((other, value)) = second {
            self.alu(AluOp::Mov, BIT, other, &[value]);
        }
        Ok(())
    }
}

const JOINS: [(&str, AluOp); 3] = [("AND", AluOp::And), ("OR", AluOp::Or), ("XOR", AluOp::Xor)];

pub(super) fn is_false(operand: &syntax::Operand<'_>) -> bool {
    matches!(operand.to_string().as_str(), "!PT" | "!UPT")
}

pub(super) fn is_predicate(operand: &syntax::Operand<'_>) -> bool {
    operand.register().is_some_and(|register| {
        matches!(register.file, RegisterFile::Predicate | RegisterFile::UniformPredicate)
    })
}

/// `R0.CC` writes the carry.
fn carry(operand: &syntax::Operand<'_>) -> Option<String> {
    let syntax::OperandKind::Value(value) = &operand.kind else { return None };
    value.suffixes.contains(&"CC").then(|| "CC".to_owned())
}
