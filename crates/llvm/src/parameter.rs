//! Parameters of functions, each in one register for each of its parts, and the register of a result.

use super::bits::WIDEST;
use super::cell::CellValue;
use super::function::{
    LoweredValue, LoweringResult, Translator, parameter_names, scalar_bits, word,
};
use super::module::SignatureParameter;
use super::ty::{ScalarType, Ty};
use lift::function::{EntryValue, FunctionVariable, Parameter};
use lift::written::WrittenArg;
use model::memory::Space;
use text::cursor::short;

/// The note of a function whose module has the layout of nvptx.
const OF_NVPTX: &str = "the data layout has generic pointers of 32 bits: they are read with 64, as `llc` does for nvptx64";

/// The maximum number of parts of a parameter with `byval`, each of which is copied.
pub(super) const MOST_PARTS: usize = 64;

impl<'a> Translator<'a, '_> {
    pub(super) fn parameters(&mut self) -> LoweringResult<Vec<Parameter>> {
        let definition = self.definition;
        if self.module.types.of_nvptx {
            self.note(OF_NVPTX.to_owned());
        }
        if definition.variadic {
            return self.no("`...` is not supported");
        }
        // Registers take their names before anything else can.
        let mut parameters = Vec::new();
        let names = parameter_names(definition);
        for (index, parameter) in definition.parameters.iter().enumerate() {
            let name = names[index];
            match self.parameter(index, parameter, name) {
                Ok(read) => parameters.push(read),
                Err(why) => {
                    self.refused.push(why);
                    self.unread.insert(name);
                    // Only its place counts.
                    parameters.push(Parameter::default());
                }
            }
        }
        Ok(parameters)
    }

    fn parameter(
        &mut self,
        index: usize,
        parameter: &SignatureParameter<'a>,
        name: &'a str,
    ) -> LoweringResult<Parameter> {
        if let Some(ty) = &parameter.copied {
            return self.copied(index, ty, name);
        }
        let by_value = ["byval", "byref", "inalloca", "preallocated"];
        if let Some(how) = parameter.attributes.iter().find(|how| by_value.contains(*how)) {
            return self.no(format!("a parameter with `{how}` is not supported"));
        }
        let mut points_to = None;
        if let Ty::Ptr(space) = parameter.ty {
            points_to = Some(self.space(space)?);
        }
        let types = &self.module.types;
        let is_short = matches!(parameter.ty, Ty::Ptr(space) if types.is_short(space));
        // A part of an aggregate in memory has as many bytes as its scalar.
        let places =
            if is_short { Some(vec![(ScalarType::Ptr, 0)]) } else { parameter.ty.places(types) };
        let Some(places) = places else {
            return self.no("a parameter of this type is not supported");
        };
        let no_alias = parameter.attributes.contains(&"noalias");
        let register = self.fresh(name);
        let shown = self.shown(name);
        let pointee_alignment = parameter.alignment;
        let mut read = Parameter {
            name: shown,
            no_alias,
            points_to,
            pointee_alignment,
            ..Parameter::default()
        };
        let aggregate = parameter.ty.is_aggregate(types);
        let parts = if let ([(scalar, _)], false) = (&places[..], aggregate)
            && scalar.bits() <= 64
        {
            self.container(*scalar)?;
            read.bits = if is_short { 32 } else { scalar_bits(*scalar) };
            self.entry(&register, EntryValue::Parameter(index));
            vec![(*scalar, CellValue::Register(register))]
        } else {
            let Some((bits, align)) = self.size(&parameter.ty) else {
                return self.no("a parameter of this size is not supported");
            };
            (read.bits, read.alignment) = (bits, Some(align));
            self.parts_of_parameter(index, name, &places)?
        };
        let held = LoweredValue { ty: parameter.ty.clone(), parts };
        if self.values.insert(name, held).is_some() {
            return self.wrong("llvm-value", format!("`%{}` is defined twice", short(name)));
        }
        Ok(read)
    }

    /// `ptr byval(T)`: a local variable that begins with the parts of the parameter. Its address must not escape.
    fn copied(&mut self, index: usize, ty: &Ty, name: &'a str) -> LoweringResult<Parameter> {
        let places = ty.places(&self.module.types).filter(|places| places.len() <= MOST_PARTS);
        let (Some(places), Some((bits, align))) = (places, self.size(ty)) else {
            return self.no("a parameter with `byval` of this type is not supported");
        };
        let register = self.fresh(name);
        let variable = self.fresh(&format!("copy_{name}"));
        self.variable(FunctionVariable {
            name: variable.clone(),
            space: Space::Local,
            bytes: u32::from(bits) / 8,
            ..FunctionVariable::default()
        });
        self.entry(&register, EntryValue::Address(variable));
        let parts = self.parts_of_parameter(index, name, &places)?;
        for ((scalar, mut cell), (_, offset)) in parts.into_iter().zip(&places) {
            let (ty, _) = self.width(scalar)?;
            if scalar.bits() == 1 {
                cell = self.number_of(&cell);
            }
            let at = WrittenArg::address(&register, offset.cast_signed());
            self.row(format!("store.{ty}"), &[&at, &cell]);
        }
        let parts = vec![(ScalarType::Ptr, CellValue::Register(register))];
        if self.values.insert(name, LoweredValue { ty: Ty::Ptr(0), parts }).is_some() {
            return self.wrong("llvm-value", format!("`%{}` is defined twice", short(name)));
        }
        self.copies.insert(name);
        let shown = self.shown(name);
        Ok(Parameter { name: shown, bits, alignment: Some(align), ..Parameter::default() })
    }

    /// The name of a parameter, which is not that of a variable.
    fn shown(&self, name: &str) -> String {
        let mut shown = word(name);
        while self.module.words.contains(&shown) {
            shown.push('_');
        }
        shown
    }

    /// The size in bits of a parameter in memory, and its alignment.
    fn size(&self, ty: &Ty) -> Option<(u16, u32)> {
        let types = &self.module.types;
        let (bytes, (_, align)) = ty.stride(types).zip(ty.layout(types))?;
        Some((u16::try_from(bytes.checked_mul(8)?).ok()?, u32::try_from(align).ok()?))
    }

    /// Registers for the parts of a parameter, each of which is read by itself.
    fn parts_of_parameter(
        &mut self,
        parameter: usize,
        name: &str,
        places: &[(ScalarType, u64)],
    ) -> LoweringResult<Vec<(ScalarType, CellValue)>> {
        let mut parts = Vec::new();
        for (number, (scalar, offset)) in places.iter().enumerate() {
            let register = self.fresh(&format!("{name}_{number}"));
            if scalar.bits() == WIDEST {
                let first = u32::try_from(*offset).unwrap_or(u32::MAX - 8);
                let halves = [(first, "low"), (first + 8, "high")].map(|(offset, half)| {
                    let register = self.fresh(&format!("{name}_{number}_{half}"));
                    self.entry(&register, EntryValue::Piece { parameter, offset, bits: 64 });
                    CellValue::Register(register)
                });
                let register = CellValue::Register(register);
                self.put(&halves[0], &halves[1], &register);
                parts.push((*scalar, register));
                continue;
            }
            let bits = match scalar.bits() {
                1 => 8,
                bits @ (8 | 16 | 32 | 64) => u16::try_from(bits).unwrap_or(64),
                _ => return self.no(format!("a parameter with parts of type {scalar}")),
            };
            let Ok(offset) = u32::try_from(*offset) else {
                return self.no("a parameter of this size is not supported");
            };
            self.entry(&register, EntryValue::Piece { parameter, offset, bits });
            if *scalar == ScalarType::Int(1) {
                // Of a byte in memory, only the lowest bit counts.
                let low = self.made_by("and.b32", &[&register, &1]);
                let predicate = self.made_by("setp.ne.u32", &[&low, &0]);
                parts.push((*scalar, predicate));
            } else {
                parts.push((*scalar, CellValue::Register(register)));
            }
        }
        Ok(parts)
    }
}
