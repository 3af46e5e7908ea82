//! Corrections of instructions that break a rule: the location, and the corrected instruction.

#![allow(clippy::wildcard_enum_match_arm, reason = "each place asks for some kinds of edits")]

use crate::rule::{Breach, Edit, Spot};

use text::cursor::short;
use text::report::{ByteSpan, FixBuilder};

/// An instruction in pieces, each with its place.
pub struct InstructionPieces<'a> {
    pub text: &'a str,
    pub at: ByteSpan,
    /// `@p`
    pub guard: Option<ByteSpan>,
    /// The opcode first, without dots.
    pub parts: Vec<ByteSpan>,
    pub operands: Vec<OperandPiece>,
}

/// An operand.
pub struct OperandPiece {
    /// Without the suffix `.unified`.
    pub at: ByteSpan,
    pub shape: PieceShape,
}

pub enum PieceShape {
    Scalar,
    Lanes(Vec<ByteSpan>),
    Address { unified: Option<ByteSpan> },
}

impl InstructionPieces<'_> {
    fn name_end(&self) -> ByteSpan {
        self.parts.last().map_or(self.at, |part| part.after())
    }

    /// Where a breach is.
    pub fn place(&self, spot: Spot) -> ByteSpan {
        let operand = |index: usize| self.operands.get(index);
        match spot {
            Spot::Part(position) => {
                self.parts.get(position).copied().unwrap_or_else(|| self.name_end())
            }
            Spot::Operand(index) => operand(index).map_or(self.name_end(), |piece| piece.at),
            Spot::Lane(index, lane) => match operand(index) {
                Some(OperandPiece { at, shape: PieceShape::Lanes(lanes) }) => {
                    lanes.get(lane).copied().unwrap_or(*at)
                }
                Some(piece) => piece.at,
                None => self.name_end(),
            },
            Spot::Unified => {
                let found = self.operands.iter().find_map(|piece| match piece.shape {
                    PieceShape::Address { unified } => unified,
                    PieceShape::Scalar | PieceShape::Lanes(_) => None,
                });
                found.unwrap_or(self.at)
            }
            Spot::Operands => match (self.operands.first(), self.operands.last()) {
                (Some(first), Some(last)) => first.at.to(last.at),
                _ => self.name_end(),
            },
            Spot::Guard => self.guard.unwrap_or(self.at),
        }
    }

    /// What helps against a breach: the instruction without it, or advice.
    pub fn help(&self, breach: &Breach) -> Option<String> {
        let outside = breach.fix.iter().find_map(|edit| match edit {
            Edit::Version(isa) => Some(format!(".version {isa}")),
            Edit::Target(sm) => Some(format!(".target sm_{sm}")),
            _ => None,
        });
        let advice = || breach.advice.as_ref().map(ToString::to_string);
        let fixed = (!breach.fix.is_empty()).then(|| self.corrected(&breach.fix));
        outside.or(fixed).or_else(advice)
    }

    /// The instruction with all of the edits.
    pub fn corrected(&self, fix: &[Edit]) -> String {
        let mut out = String::new();
        if let Some(guard) = self.guard.filter(|_| !fix.contains(&Edit::RemoveGuard)) {
            out.push_str(guard.of(self.text));
            out.push(' ');
        }
        out.push_str(&self.corrected_parts(fix).join("."));
        let operands = self.operands(fix);
        if !operands.is_empty() {
            out.push(' ');
            out.push_str(&operands);
        }
        cut(out)
    }

    /// The edits of the text that make it the corrected instruction, blanks and comments kept; `None` where an
    /// edit is of something else, or is only an example.
    pub fn fix(&self, fix: &[Edit], safe: bool) -> Option<FixBuilder> {
        let after = |position: usize| Some(self.parts.get(position.checked_sub(1)?)?.after());
        let operand_end = |index: usize| Some(self.operands.get(index)?.end().after());
        let mut edits: Vec<(ByteSpan, String)> = Vec::new();
        for edit in fix {
            match *edit {
                Edit::Replace(at, text) => edits.push((*self.parts.get(at)?, text.to_owned())),
                Edit::Insert(at, text) => edits.push((after(at)?, format!(".{text}"))),
                // With the dot before it.
                Edit::Remove(at) => {
                    edits.push((after(at)?.to(*self.parts.get(at)?), String::new()));
                }
                Edit::RemoveOperand(index) => {
                    let before = operand_end(index.checked_sub(1)?)?;
                    edits.push((before.to(operand_end(index)?), String::new()));
                }
                Edit::Bracket(index) => {
                    let at = self.operands.get(index)?.at;
                    edits.push((ByteSpan { start: at.start, end: at.start }, "[".to_owned()));
                    edits.push((at.after(), "]".to_owned()));
                }
                Edit::SetUnified(unified) => {
                    let address = self
                        .operands
                        .iter()
                        .find(|piece| matches!(piece.shape, PieceShape::Address { .. }))?;
                    let suffix = address.at.after().to(address.end());
                    let text = if unified { ".unified" } else { "" };
                    edits.push((suffix, text.to_owned()));
                }
                Edit::RemoveGuard => {
                    let (guard, opcode) = (self.guard?, self.parts.first()?);
                    let at = ByteSpan { start: guard.start, end: opcode.start };
                    edits.push((at, String::new()));
                }
                Edit::SetOperands(_) | Edit::Version(_) | Edit::Target(_) => return None,
            }
        }
        (!edits.is_empty()).then_some(FixBuilder { safe, unit: self.at, edits })
    }

    /// Its parts with all of the edits, the opcode first.
    pub fn corrected_parts(&self, fix: &[Edit]) -> Vec<&str> {
        let mut parts: Vec<&str> = Vec::new();
        for position in 0..=self.parts.len() {
            let mut written = self.parts.get(position).map(|part| part.of(self.text));
            for edit in fix {
                match *edit {
                    Edit::Insert(at, text) if at == position => parts.push(text),
                    Edit::Replace(at, text) if at == position => written = Some(text),
                    Edit::Remove(at) if at == position => written = None,
                    _ => {}
                }
            }
            parts.extend(written);
        }
        parts
    }

    fn operands(&self, fix: &[Edit]) -> String {
        if let Some(all) = fix.iter().find_map(|edit| match edit {
            Edit::SetOperands(all) => Some(*all),
            _ => None,
        }) {
            return all.to_owned();
        }
        let touched = fix.iter().any(|edit| {
            matches!(edit, Edit::RemoveOperand(_) | Edit::Bracket(_) | Edit::SetUnified(_))
        });
        if let (false, Some(first), Some(last)) =
            (touched, self.operands.first(), self.operands.last())
        {
            // As they are, blanks included.
            return first.at.to(last.end()).of(self.text).to_owned();
        }
        let kept = self.operands.iter().enumerate();
        let kept = kept.filter(|(index, _)| !fix.contains(&Edit::RemoveOperand(*index)));
        let written: Vec<String> = kept
            .map(|(index, piece)| {
                let written = self.operand(piece, fix);
                if fix.contains(&Edit::Bracket(index)) { format!("[{written}]") } else { written }
            })
            .collect();
        written.join(", ")
    }

    fn operand(&self, piece: &OperandPiece, fix: &[Edit]) -> String {
        let written = piece.at.of(self.text);
        let PieceShape::Address { unified } = piece.shape else { return written.to_owned() };
        let said = fix.iter().find_map(|edit| match edit {
            Edit::SetUnified(unified) => Some(*unified),
            _ => None,
        });
        let suffix = if said.unwrap_or(unified.is_some()) { ".unified" } else { "" };
        format!("{written}{suffix}")
    }
}

impl OperandPiece {
    /// With the suffix `.unified`.
    fn end(&self) -> ByteSpan {
        match self.shape {
            PieceShape::Address { unified: Some(unified) } => unified,
            PieceShape::Address { unified: None } | PieceShape::Scalar | PieceShape::Lanes(_) => {
                self.at
            }
        }
    }
}

/// A line of 10 MB may be one name.
fn cut(line: String) -> String {
    const LONG: usize = 400;
    if line.len() <= LONG {
        return line;
    }
    let words: Vec<String> = line.split(' ').map(short).collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
