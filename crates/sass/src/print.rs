//! Instructions as `nvdisasm` spaces them.

use std::fmt::{self, Display, Formatter};

use super::syntax::{
    AddressTerm, Annotation, Atom, Guard, Indexed, Instruction, Operand, OperandKind, Value,
};

impl Display for Instruction<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(guard) = self.guard {
            write!(f, "{guard} ")?;
        }
        f.write_str(&self.name())?;
        for (index, operand) in self.operands.iter().enumerate() {
            write!(f, "{} {operand}", if index == 0 { "" } else { "," })?;
        }
        self.annotations.iter().try_for_each(|annotation| write!(f, " {annotation}"))
    }
}

impl Display for Guard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "@{}{}", if self.negated { "!" } else { "" }, self.predicate)
    }
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            OperandKind::Value(value) => value.fmt(f),
            OperandKind::Label(name) => write!(f, "`({name})"),
            OperandKind::Opaque(text) => f.write_str(text),
            OperandKind::List(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                write!(f, "{{{}}}", all.join(","))
            }
        }
    }
}

impl Display for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bar = if self.absolute { "|" } else { "" };
        write!(f, "{}{bar}{}", self.signs, self.atom)?;
        self.suffixes.iter().try_for_each(|suffix| write!(f, ".{suffix}"))?;
        f.write_str(bar)?;
        self.outer.iter().try_for_each(|suffix| write!(f, ".{suffix}"))
    }
}

impl Display for Atom<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Register(register) => register.fmt(f),
            Atom::Number(number) => f.write_str(number.text),
            Atom::Indexed(indexed) => indexed.fmt(f),
            Atom::Name(name) => f.write_str(name),
        }
    }
}

impl Display for Indexed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        for terms in &self.brackets {
            f.write_str("[")?;
            for (index, term) in terms.iter().enumerate() {
                write!(f, "{}{term}", if index == 0 { "" } else { "+" })?;
            }
            f.write_str("]")?;
        }
        Ok(())
    }
}

impl Display for AddressTerm<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.negative { "-" } else { "" }, self.value)
    }
}

impl Display for Annotation<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.braced { write!(f, "{{{}}}", self.text) } else { f.write_str(self.text) }
    }
}
