//! The registers that an instruction reads and writes, if its opcode is supported.

use std::collections::BTreeSet;

use super::opcode::{Class, class};
use super::syntax::{
    Atom, Indexed, Instruction, Operand, OperandKind, Register, RegisterFile, Value,
};

/// Registers with a value of their own, so not `RZ` and `PT`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    pub writes: BTreeSet<Register>,
    pub reads: BTreeSet<Register>,
}

impl Instruction<'_> {
    /// The registers that it reads and writes; `None` if the roles of its operands are unknown.
    pub fn registers(&self) -> Option<Registers> {
        let kind = class(self.opcode.text)?;
        if kind == Class::Other || self.is_of_matrices() {
            return None;
        }
        let mut all = Registers::default();
        if let Some(guard) = self.guard {
            add(&mut all.reads, guard.predicate, 1);
        }
        let width = self.width();
        let results = self.results(kind);
        let halves = self.halves().map(|halves| halves.map(u8::count_ones));
        let conversion = self.converts();
        let mut half = 0;
        for (index, operand) in self.operands.iter().enumerate() {
            if let Some(indexed) = operand.indexed() {
                self.address(indexed, &mut all.reads);
            } else if let Some(register) = operand.register() {
                let count = if register.file.is_of_predicates() { 1 } else { width };
                if index < results
                    && let Some(counts) = halves.filter(|_| register.file == RegisterFile::General)
                {
                    let count = counts.get(half).copied().unwrap_or(0);
                    add(&mut all.writes, register, u16::try_from(count).unwrap_or(0));
                    half += 1;
                } else if let Some((to, from)) = conversion {
                    let (set, count) = if index < results {
                        (&mut all.writes, to)
                    } else {
                        (&mut all.reads, from)
                    };
                    add(set, register, count);
                } else if index < results {
                    let wide = self.opcode.text.ends_with("IMAD") && self.has("WIDE");
                    add(&mut all.writes, register, if wide { 2 } else { count });
                } else {
                    let last = index + 1 == self.operands.len() || index == 3;
                    let wide = self.has("WIDE") && last && index > 2;
                    add(&mut all.reads, register, if wide { 2 } else { count });
                }
            } else if let OperandKind::List(list) = &operand.kind {
                list.iter()
                    .filter_map(Operand::register)
                    .for_each(|one| add(&mut all.reads, one, 1));
            }
        }
        Some(all)
    }

    /// The lanes of 4 bytes that a load of 256 bits fills its two groups of registers with, the
    /// upper group first, as it is written: a mask after the address names those that are loaded,
    /// and their registers follow one another.
    pub fn halves(&self) -> Option<[u8; 2]> {
        if class(self.opcode.text) != Some(Class::Load) || !self.has("256") {
            return None;
        }
        let mask = self
            .operands
            .iter()
            .rev()
            .find_map(Operand::number)
            .map_or(Some(0xff), |mask| mask.value.and_then(|value| u8::try_from(value).ok()))?;
        Some([mask & 0xf0, mask & 0x0f])
    }

    fn is_of_matrices(&self) -> bool {
        self.opcode.text.ends_with("MMA") || self.opcode.text == "MOVM"
    }

    /// The number of leading operands that are results; `None` if the roles of its operands are unknown.
    pub fn result_count(&self) -> Option<usize> {
        let kind = class(self.opcode.text).filter(|kind| *kind != Class::Other)?;
        (!self.is_of_matrices()).then(|| self.results(kind))
    }

    /// How many operands in front are results.
    fn results(&self, kind: Class) -> usize {
        let is = |index: usize, predicate: bool| {
            let register = self.operands.get(index).and_then(Operand::register);
            register.is_some_and(|register| register.file.is_of_predicates() == predicate)
        };
        // `VOTE.ANY R0, P1, P0`, `VOTE.ANY P1, P0`, `ELECT P1, UR4, PT`: the last operand is what lanes say.
        if matches!(self.opcode.text, "VOTE" | "VOTEU" | "ELECT") {
            return self.operands.len().saturating_sub(1);
        }
        match kind {
            Class::Load | Class::Atomic => {
                // A status may stand before it, and another register after.
                let place = self.operands.iter().position(|one| one.indexed().is_some());
                place.unwrap_or(1)
            }
            Class::Special => 1,
            Class::Arithmetic => {
                let first = self.operands.first().and_then(Operand::register);
                // `ISETP P0, PT, …`, `IADD3 R2, P0, …`, `SHFL P0, R2, …`, `R2P PR, …`
                match (first.is_some(), is(0, true), is(1, true), is(1, false)) {
                    (true, true, true, _) => 2,
                    (true, true, _, true)
                        if matches!(self.opcode.text, "SHFL" | "MATCH" | "LOP3" | "ULOP3") =>
                    {
                        2
                    }
                    (true, false, true, _) if self.operands.len() > 3 => 2,
                    _ => 1,
                }
            }
            Class::Store
            | Class::Reduction
            | Class::Membar
            | Class::Cache
            | Class::ErrorBarrier
            | Class::View
            | Class::Barrier
            | Class::ClusterArrive
            | Class::ClusterWait
            | Class::Depbar
            | Class::Other
            | Class::Branch
            | Class::Exit
            | Class::Nothing => 0,
        }
    }

    /// How many registers a value has.
    fn width(&self) -> u16 {
        let double = matches!(self.opcode.text, "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX");
        let access = class(self.opcode.text) != Some(Class::Arithmetic);
        let has = |names: &[&str]| access && names.iter().any(|name| self.has(name));
        let pair = match self.opcode.text {
            "CS2R" => !self.has("32"),
            "MOV" | "UMOV" | "IADD" | "UIADD" | "IADD3" | "UIADD3" | "SEL" | "USEL" => {
                self.has("64")
            }
            "ISETP" | "UISETP" => self.has("S64") || self.has("U64"),
            _ => false,
        };
        if has(&["128", "256"]) {
            4
        } else if double || pair || has(&["64", "U64", "S64", "F64"]) {
            2
        } else {
            1
        }
    }

    fn address(&self, indexed: &Indexed<'_>, reads: &mut BTreeSet<Register>) {
        for (bracket, terms) in indexed.brackets.iter().enumerate() {
            let descriptor = indexed.name == "desc" && bracket == 0;
            for term in terms {
                let Atom::Register(register) = term.value.atom else { continue };
                let pair = descriptor || self.is_pair(&term.value);
                add(reads, register, if pair { 2 } else { 1 });
            }
        }
    }

    /// Whether a register in the address of this instruction is the lower one of a pair: one with `.64`, or, in an
    /// extended address, one without a width, general or uniform.
    pub fn is_pair(&self, term: &Value<'_>) -> bool {
        let Atom::Register(register) = term.atom else { return false };
        let has_width = term
            .suffixes
            .iter()
            .any(|one| matches!(*one, "32" | "U32" | "S32") || one.starts_with('X'));
        let files = [RegisterFile::General, RegisterFile::Uniform];
        term.suffixes.contains(&"64")
            || self.has("E") && !has_width && files.contains(&register.file)
    }

    /// The registers of the result and of the operand of a conversion: two where its type has 64 bits.
    fn converts(&self) -> Option<(u16, u16)> {
        let opcode = self.opcode.text;
        if !matches!(opcode, "F2F" | "F2I" | "I2F" | "I2I" | "FRND") {
            return None;
        }
        let integer = |one: &&str| matches!(*one, "S64" | "U64");
        let is_type = |one: &&str| {
            integer(one)
                || matches!(
                    *one,
                    "F16" | "F32" | "F64" | "U8" | "S8" | "U16" | "S16" | "U32" | "S32"
                )
        };
        let types: Vec<&str> =
            self.modifiers.iter().map(|word| word.text).filter(|one| is_type(one)).collect();
        // A type of 32 bits is left out, on either side: it is known from the other one's kind.
        let (to, from) = match (opcode, &types[..]) {
            ("FRND", [one, ..]) => (*one, *one),
            (_, [to, from, ..]) => (*to, *from),
            ("I2F", [one]) if integer(one) || !one.starts_with('F') => ("F32", *one),
            ("F2I", [one]) if one.starts_with('F') => ("S32", *one),
            (_, [one]) => (*one, "32"),
            (_, []) => ("32", "32"),
        };
        let registers = |of: &str| if of.ends_with("64") { 2 } else { 1 };
        Some((registers(to), registers(from)))
    }
}

fn add(set: &mut BTreeSet<Register>, first: Register, count: u16) {
    if let Some(number) = first.number {
        let all = number..number.saturating_add(count);
        set.extend(all.map(|number| Register { number: Some(number), ..first }));
    }
}

#[cfg(test)]
mod tests {
    use super::super::instructions;

    /// What is written, and what is read.
    fn registers(text: &str) -> Option<(String, String)> {
        let all = instructions("i", text).expect("it can be read");
        let found = all[0].registers()?;
        let show = |set: &std::collections::BTreeSet<super::Register>| {
            set.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        Some((show(&found.writes), show(&found.reads)))
    }

    #[test]
    fn shapes_show_what_is_read_and_written() {
        for (text, writes, reads) in [
            ("LDG.E R2, [R4]", "R2", "R4 R5"),
            ("LDG R2, [R4]", "R2", "R4"),
            ("@!P1 LDG.E.64 P0, R2, desc[UR4][R6.64+0x8]", "R2 R3 P0", "R6 R7 UR4 UR5 P1"),
            ("LDG.E.128 R4, [R4]", "R4 R5 R6 R7", "R4 R5"),
            (
                "LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64]",
                "R8 R9 R10 R11 R12 R13 R14 R15",
                "R2 R3 UR4 UR5",
            ),
            (
                "LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64], 0x7b",
                "R8 R9 R10 R12 R13 R14",
                "R2 R3 UR4 UR5",
            ),
            ("LDG.E.ENL2.256 RZ, R3, desc[UR4][R2.64], 0x1", "R3", "R2 R3 UR4 UR5"),
            (
                "STG.E.ENL2.256 desc[UR4][R12.64], R4, R8",
                "",
                "R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 UR4 UR5",
            ),
            ("STG.E.64 [R2], R4", "", "R2 R3 R4 R5"),
            ("STS [R2+UR4], RZ", "", "R2 UR4"),
            ("ATOMG.E.CAS.STRONG.GPU PT, R0, [R2], R4, R5", "R0", "R2 R3 R4 R5"),
            ("REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5", "", "R2 R3 R5 UR4 UR5"),
            ("LDC R1, c[0x0][R2+0x28]", "R1", "R2"),
            ("IADD3 R2, P0, R4, UR4, RZ", "R2 P0", "R4 UR4"),
            ("IADD3.X R3, R5, UR5, RZ, P0, !PT", "R3", "R5 UR5 P0"),
            ("ISETP.NE.AND P0, PT, R0, RZ, P2", "P0", "R0 P2"),
            ("IMAD.WIDE R2, R0, R5, R6", "R2 R3", "R0 R5 R6 R7"),
            ("DADD R2, -R4, R6", "R2 R3", "R4 R5 R6 R7"),
            ("SHFL.BFLY P0, R0, R2, 0x10, 0x1f", "R0 P0", "R2"),
            ("S2R R0, SR_TID.X", "R0", ""),
            ("CS2R R2, SRZ", "R2 R3", ""),
            ("MOV.64 R2, UR4", "R2 R3", "UR4 UR5"),
            ("LOP3.LUT P0, R3, R0, R4, RZ, 0xc, !PT", "R3 P0", "R0 R4"),
            ("LDG.E.64 R4, [UR12]", "R4 R5", "UR12 UR13"),
            ("LDG R4, [UR12]", "R4", "UR12"),
            ("LDG.E.128 R40, [R16.U32+UR18]", "R40 R41 R42 R43", "R16 UR18 UR19"),
            ("STG.E [R2.64+UR4+0x10], R6", "", "R2 R3 R6 UR4 UR5"),
            ("ATOMG.E.ADD.STRONG.GPU PT, R0, [UR6+0x8], R7", "R0", "R7 UR6 UR7"),
            ("CCTL.E.PF2 [R4]", "", "R4 R5"),
            ("F2F.F64.F32 R4, R6", "R4 R5", "R6"),
            ("F2F.F32.F64 R4, R6", "R4", "R6 R7"),
            ("I2F.F64 R4, R6", "R4 R5", "R6"),
            ("I2F.F64.S64 R4, R6", "R4 R5", "R6 R7"),
            ("I2F.U64.RP R4, R6", "R4", "R6 R7"),
            ("F2I.F64.TRUNC R4, R6", "R4", "R6 R7"),
            ("F2I.S64.F64.TRUNC R4, R6", "R4 R5", "R6 R7"),
            ("F2I.U64.TRUNC R4, R6", "R4 R5", "R6"),
            ("UIADD3.64 UR4, UPT, UPT, UR4, UR6, URZ", "UR4 UR5", "UR4 UR5 UR6 UR7"),
            ("VOTE.ANY R0, P1, !P0", "R0 P1", "P0"),
            ("VOTE.ALL P1, P0", "P1", "P0"),
            ("VOTEU.ANY UR4, UPT, PT", "UR4", ""),
            ("@P0 ELECT P1, UR6, PT", "UR6 P1", "P0"),
            ("BRA `(.L_1)", "", ""),
            ("DEPBAR.LE SB0, 0x0", "", "SB0"),
        ] {
            let expected = Some((writes.to_owned(), reads.to_owned()));
            assert_eq!(registers(text), expected, "{text}");
        }
        assert_eq!(registers("UNSEEN R0, R1"), None);
        assert_eq!(registers("HMMA.16816.F32 R0, R4, R8, R12"), None);
    }
}
