//! Copies of tensors in a launched function, whose tensormaps are arguments of the launch. A copy becomes bulk copies of the rows
//! of its tile: what completes, in which proxy, and in which group is the same.
//!
//! A tensormap that the host has made does not change while the kernel runs, so nothing is said of its own proxy.

use std::collections::BTreeMap;

use model::memory::Space;
use ptx::{Instruction, PrintedOperand};

use super::operand::{constant_type, scalars};
use super::{FunctionReader, Purpose, ReadResult};
use crate::function::{EntryValue, FunctionVariable};
use crate::written::{AsOperand, WrittenArg, WrittenGuard, WrittenScalar, written};

/// What a tensormap says of its tensor, as `cuTensorMapEncodeTiled` takes it. The innermost dimension is the first one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorLayout {
    /// The type of the elements, `f16`.
    pub element: String,
    /// How many elements there are in each dimension.
    pub extents: Vec<u32>,
    /// The bytes from an element to the next one of each dimension but the first one.
    pub strides: Vec<u64>,
    /// How many elements a copy has in each dimension.
    pub tile: Vec<u32>,
}

/// How the register with the address of a tile in global memory is called.
pub const TILE: &str = "tensor_tile";

/// The bytes that a bulk copy has a multiple of.
const CHUNK: u32 = 16;

/// The most bulk copies of one copy.
const MOST_PIECES: usize = 64;

impl TensorLayout {
    /// In bytes; 0 if the type is not known.
    pub fn element_bytes(&self) -> u32 {
        let bits = self.element.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        bits.parse::<u32>().map_or(0, |bits| bits / 8)
    }

    /// The bytes of a row of the tile.
    pub fn row_bytes(&self) -> u32 {
        self.tile.first().copied().unwrap_or(0).saturating_mul(self.element_bytes())
    }

    /// Whether tiles that begin at a multiple of their width end with their rows.
    fn has_whole_rows(&self) -> bool {
        self.extents[0].is_multiple_of(self.tile[0])
    }

    fn pieces(&self) -> Vec<TilePiece> {
        let bytes = self.element_bytes();
        let width = if self.has_whole_rows() { self.row_bytes() } else { CHUNK };
        let rows = self.tile[1..].iter().map(|extent| *extent as usize).product::<usize>();
        let mut pieces = Vec::new();
        for row in 0..rows {
            let mut rest = row;
            let mut position = vec![0];
            for extent in &self.tile[1..] {
                let extent = *extent as usize;
                position.push(u32::try_from(rest % extent).expect("a tile is small"));
                rest /= extent;
            }
            for start in (0..self.row_bytes()).step_by(width as usize) {
                let at = u32::try_from(row).expect("a tile is small") * self.row_bytes() + start;
                let mut position = position.clone();
                position[0] = start / bytes;
                pieces.push(TilePiece { position, shared: at, bytes: width });
            }
        }
        pieces
    }

    /// The bytes from the beginning of a tile to a piece of it.
    fn offset(&self, piece: &TilePiece) -> u64 {
        let rows = piece.position[1..].iter().zip(&self.strides);
        let rows: u64 = rows.map(|(at, stride)| u64::from(*at) * stride).sum();
        rows + u64::from(piece.position[0] * self.element_bytes())
    }
}

/// What one bulk copy has of a tile.
struct TilePiece {
    /// Of its first element in the tile.
    position: Vec<u32>,
    /// The bytes from the beginning of the tile in shared memory.
    shared: u32,
    bytes: u32,
}

/// Whether the coordinates of a piece are those of the tensor.
#[derive(Clone)]
enum InTensor {
    Known(bool),
    /// A predicate.
    Computed(String),
}

/// A copy of a tensor, as it is read.
struct ReadCopy<'r> {
    layout: &'r TensorLayout,
    /// The index of the parameter with its map.
    parameter: usize,
    coordinates: Vec<WrittenArg>,
    shared: WrittenArg,
    /// What comes behind the size of a bulk copy.
    rest: Vec<WrittenArg>,
    /// The name of the bulk copy.
    name: String,
    loads: bool,
    guard: Option<&'r WrittenGuard>,
}

impl<'a> FunctionReader<'_, 'a> {
    /// The tensors of the parameters that are tensormaps.
    fn tensors(&self) -> Option<&BTreeMap<usize, TensorLayout>> {
        match self.contents.purpose {
            Purpose::Launch(launched) if !launched.tensors.is_empty() => Some(&launched.tensors),
            Purpose::Launch(_) | Purpose::Lowering => None,
        }
    }

    /// Whether a parameter is a tensormap, whose bytes nobody reads.
    pub(super) fn is_tensormap(&self, parameter: usize) -> bool {
        self.tensors().is_some_and(|tensors| tensors.contains_key(&parameter))
    }

    /// The parameter whose map a name stands for: its own, or a register with its address.
    fn map_of(&self, name: &str) -> Option<usize> {
        let frame = self.frame().index;
        if let Some(parameter) = self.maps.get(&(frame, name.to_owned())) {
            return Some(*parameter);
        }
        let own = self.declared(frame).parameters.iter().filter(|_| self.frames.len() == 1);
        let mut names = own.map(|parameter| parameter.name);
        names.position(|own| own == name).filter(|index| self.is_tensormap(*index))
    }

    /// Whether an instruction only passes the address of a tensormap on, or copies a tensor that one describes.
    pub(super) fn of_tensor(
        &mut self,
        instruction: &Instruction<'a>,
        guard: Option<&WrittenGuard>,
        parts: &[&str],
    ) -> ReadResult<bool> {
        let copies = matches!(parts, ["cp", "async", "bulk", "tensor", ..])
            || matches!(parts, ["cp", "reduce", "async", "bulk", "tensor", ..]);
        if copies {
            self.copy_of_tensor(instruction, guard, parts)?;
            return Ok(true);
        }
        if matches!(parts, ["cp", "async", "bulk", "prefetch", "tensor", ..]) {
            return Ok(true);
        }
        if self.tensors().is_none() {
            return Ok(false);
        }
        let frame = self.frame().index;
        let used = instruction.operands.iter().skip(1).flat_map(named);
        let used: Vec<String> = used.collect();
        let map = used.iter().find_map(|name| self.map_of(name));
        let passes = matches!(parts[0], "mov" | "cvta")
            || parts[0] == "ld" && parts[1..].iter().any(|part| part.starts_with("param"));
        let to = instruction.operands.first().map(scalars).unwrap_or_default();
        match (map, &to[..]) {
            (Some(map), [to]) if passes && guard.is_none() && used.len() == 1 => {
                if parts[0] == "ld" && self.parameters[map].alignment.is_some() {
                    return Err(format!("`{}`: the bytes of a tensormap", instruction.text));
                }
                self.maps.insert((frame, to.clone()), map);
                Ok(true)
            }
            (Some(_), _) => {
                let text = instruction.text;
                Err(format!(
                    "`{text}`: the address of a tensormap, in another instruction than a copy"
                ))
            }
            (None, _) => {
                if instruction
                    .operands
                    .first()
                    .into_iter()
                    .flat_map(named)
                    .any(|of| self.map_of(&of).is_some())
                    && instruction.defines.is_empty()
                {
                    let text = instruction.text;
                    return Err(format!("`{text}`: a change of a tensormap, or an access to it"));
                }
                for defined in &instruction.defines {
                    self.maps.remove(&(frame, (*defined).to_owned()));
                }
                Ok(false)
            }
        }
    }

    /// `cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [s], [t, {x, y}], [b]`, and the copies in the
    /// other direction.
    fn copy_of_tensor(
        &mut self,
        instruction: &Instruction<'a>,
        guard: Option<&WrittenGuard>,
        parts: &[&str],
    ) -> ReadResult<()> {
        let text = instruction.text;
        let loads = !parts.contains(&"bulk_group");
        let at = usize::from(loads);
        let operands = &instruction.operands;
        let tensor = operands.get(at).map(ToString::to_string).unwrap_or_default();
        let inside = tensor.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let (map, coordinates) = inside
            .and_then(|inside| inside.split_once(','))
            .ok_or_else(|| format!("`{text}`: coordinates of another form than `{{x, y}}`"))?;
        let parameter = self.map_of(map.trim()).ok_or_else(|| {
            format!("`{text}`: the tensormap is none of the arguments of the launch")
        })?;
        let layout = self.tensors().and_then(|tensors| tensors.get(&parameter)).cloned();
        let layout = layout.ok_or("the tensormap has no tensor")?;
        let element = reduced(&layout.element);
        let name = bulk_name(parts, &element).map_err(|part| {
            format!("`{text}`: `.{part}` is not supported for the tensormap of a launch")
        })?;
        let coordinates = coordinates.trim().trim_start_matches('{').trim_end_matches('}');
        let ty = constant_type(&["b32"]);
        let coordinates = coordinates.split(',').map(|one| self.scalar(one.trim(), ty));
        let coordinates: Vec<WrittenArg> = coordinates.collect::<ReadResult<_>>()?;
        if coordinates.len() != layout.extents.len() {
            let count = layout.extents.len();
            return Err(format!("`{text}`: the tensor of the launch has {count} dimensions"));
        }
        let mut others: Vec<PrintedOperand<'_>> = operands.clone();
        others.remove(at);
        if parts.contains(&"L2::cache_hint") {
            others.pop();
        }
        let mut others = self.operands(&others, parts)?;
        let shared = others.remove(0);
        let copy = ReadCopy {
            layout: &layout,
            parameter,
            coordinates,
            shared,
            rest: others,
            name,
            loads,
            guard,
        };
        self.copy_tile(&copy).map_err(|why| format!("`{text}`: {why}"))
    }

    fn copy_tile(&mut self, copy: &ReadCopy<'_>) -> ReadResult<()> {
        let pieces = copy.layout.pieces();
        if pieces.len() > MOST_PIECES {
            let count = pieces.len();
            return Err(format!(
                "the tile of the tensormap has {count} rows or parts of rows, and {MOST_PIECES} are followed at most"
            ));
        }
        let tile = self.tile(copy)?;
        let mut known: BTreeMap<(usize, u32), InTensor> = BTreeMap::new();
        for piece in &pieces {
            let within = self.within(copy, piece, &mut known);
            self.copy_piece(copy, piece, &tile, &within)?;
        }
        Ok(())
    }

    /// A register with the address of the tile. One that begins where its rows do not end with those of the tensor has an
    /// address that no copy takes.
    fn tile(&mut self, copy: &ReadCopy<'_>) -> ReadResult<String> {
        let layout = copy.layout;
        let base = self.names.plain(&format!("param.{}", copy.parameter));
        self.builder.entry(&base, EntryValue::Parameter(copy.parameter));
        let mut tile = base;
        let own = [u64::from(layout.element_bytes())];
        let strides = own.iter().chain(&layout.strides);
        for (coordinate, stride) in copy.coordinates.iter().zip(strides) {
            let next = self.names.fresh(TILE);
            if let WrittenArg::Number(number) = coordinate {
                let bytes = WrittenArg::Number(number.wrapping_mul(*stride));
                self.push(&written("add.s64", &[&next, &tile, &bytes]));
            } else {
                let product = self.names.fresh("tensor offset");
                let stride = WrittenArg::Number(*stride);
                self.push(&written("mul.wide.s32", &[&product, coordinate, &stride]));
                self.push(&written("add.s64", &[&next, &tile, &product]));
            }
            tile = next;
        }
        if !layout.has_whole_rows() {
            return Ok(tile);
        }
        let width = layout.tile[0];
        if let WrittenArg::Number(number) = copy.coordinates[0] {
            if number.cast_signed() % i64::from(width) != 0 {
                let number = number.cast_signed();
                return Err(format!(
                    "the tile begins at {number}, which is no multiple of its width, {width}"
                ));
            }
        } else {
            let register = &copy.coordinates[0];
            let [rest, wide, next] =
                ["tensor rest", "tensor rest", TILE].map(|name| self.names.fresh(name));
            let differs = self.names.fresh("tensor differs");
            self.push(&written("rem.s32", &[&rest, register, &width]));
            self.push(&written("setp.ne.s32", &[&differs, &rest, &0]));
            self.push(&written("selp.b64", &[&wide, &1, &0, &differs]));
            self.push(&written("add.s64", &[&next, &tile, &wide]));
            tile = next;
        }
        Ok(tile)
    }

    /// Whether a piece of a tile is in the tensor.
    fn within(
        &mut self,
        copy: &ReadCopy<'_>,
        piece: &TilePiece,
        known: &mut BTreeMap<(usize, u32), InTensor>,
    ) -> InTensor {
        let mut all = InTensor::Known(true);
        for (dimension, &at) in piece.position.iter().enumerate() {
            let one = if let Some(one) = known.get(&(dimension, at)) {
                one.clone()
            } else {
                let extent = copy.layout.extents[dimension];
                let one = self.coordinate_within(&copy.coordinates[dimension], at, extent);
                known.insert((dimension, at), one.clone());
                one
            };
            all = match (all, one) {
                (InTensor::Known(true), other) | (other, InTensor::Known(true)) => other,
                (InTensor::Known(false), _) | (_, InTensor::Known(false)) => InTensor::Known(false),
                (InTensor::Computed(first), InTensor::Computed(second)) => {
                    let both = self.names.fresh("tensor within");
                    self.push(&written("and.pred", &[&both, &first, &second]));
                    InTensor::Computed(both)
                }
            };
        }
        all
    }

    fn coordinate_within(&mut self, coordinate: &WrittenArg, at: u32, extent: u32) -> InTensor {
        if let WrittenArg::Number(number) = coordinate {
            let number = number.cast_signed() + i64::from(at);
            return InTensor::Known((0..i64::from(extent)).contains(&number));
        }
        let within = self.names.fresh("tensor within");
        let mut place = coordinate.clone();
        if at > 0 {
            let sum = self.names.fresh("tensor place");
            self.push(&written("add.s32", &[&sum, coordinate, &at]));
            place = sum.operand();
        }
        self.push(&written("setp.lt.u32", &[&within, &place, &extent]));
        InTensor::Computed(within)
    }

    /// The copy of a piece: what is not in the tensor is 0 where it is loaded, and is not stored.
    fn copy_piece(
        &mut self,
        copy: &ReadCopy<'_>,
        piece: &TilePiece,
        tile: &str,
        within: &InTensor,
    ) -> ReadResult<()> {
        let offset = i64::try_from(copy.layout.offset(piece)).map_err(|_| "it is too large")?;
        let WrittenArg::Address(shared) = &copy.shared else {
            return Err("the address of the tile has another form".to_owned());
        };
        let mut shared = shared.clone();
        shared.offset += i64::from(piece.shared);
        let shared = WrittenArg::Address(shared);
        let mut global = WrittenArg::address(WrittenScalar::Name(tile.to_owned()), offset);
        let mut guard = copy.guard.cloned();
        match (copy.loads, within) {
            (_, InTensor::Known(true)) => {}
            (false, InTensor::Known(false)) => return Ok(()),
            (true, InTensor::Known(false)) => {
                let zeros = self.zeros(copy.layout);
                global = WrittenArg::address(WrittenScalar::Name(zeros), 0);
            }
            (true, InTensor::Computed(within)) => {
                let (zeros, from) = (self.zeros(copy.layout), self.names.fresh(TILE));
                let place = self.names.fresh(TILE);
                let offset = WrittenArg::Number(offset.cast_unsigned());
                self.push(&written("add.s64", &[&place, &tile, &offset]));
                self.push(&written("selp.b64", &[&from, &place, &zeros, within]));
                global = WrittenArg::address(WrittenScalar::Name(from), 0);
            }
            (false, InTensor::Computed(within)) => guard = Some(self.both(guard, within)),
        }
        let bytes = WrittenArg::Number(piece.bytes.into());
        let [to, from] = if copy.loads { [shared, global] } else { [global, shared] };
        let operands = [to, from, bytes].into_iter().chain(copy.rest.iter().cloned());
        let mut whole = written(copy.name.clone(), &[]).guarded(guard.as_ref());
        whole.operands = operands.collect();
        self.push(&whole);
        Ok(())
    }

    /// The guard that holds where another one does, and a predicate, too.
    fn both(&mut self, guard: Option<WrittenGuard>, within: &str) -> WrittenGuard {
        let Some(guard) = guard else {
            return WrittenGuard { predicate: within.to_owned(), negated: false };
        };
        let mut own = guard.predicate;
        if guard.negated {
            let inverted = self.names.fresh("tensor guard");
            self.push(&written("not.pred", &[&inverted, &own]));
            own = inverted;
        }
        let predicate = self.names.fresh("tensor guard");
        self.push(&written("and.pred", &[&predicate, &own, &within]));
        WrittenGuard { predicate, negated: false }
    }

    /// A register with the address of zeros, as many as a row has.
    fn zeros(&mut self, layout: &TensorLayout) -> String {
        let bytes = layout.row_bytes();
        let name = self.names.plain(&format!("tensor zeros {bytes}"));
        self.builder.variable(FunctionVariable {
            name: name.clone(),
            space: Space::Global,
            bytes,
            alignment: CHUNK,
            ..FunctionVariable::default()
        });
        let register = self.names.plain(&format!("tensor zeros {bytes} at"));
        self.builder.entry(&register, EntryValue::Address(name));
        register
    }
}

/// The names in an operand that are no numbers.
fn named(operand: &PrintedOperand<'_>) -> Vec<String> {
    match operand {
        PrintedOperand::Address { base: Some(base), .. } => vec![base.to_string()],
        PrintedOperand::Scalar(_)
        | PrintedOperand::Vector(_)
        | PrintedOperand::Address { .. }
        | PrintedOperand::Joined(_)
        | PrintedOperand::List(_) => scalars(operand),
    }
}

/// The type of a reduction by bulk copies.
fn reduced(element: &str) -> String {
    if matches!(element, "f16" | "bf16") { format!("noftz.{element}") } else { element.to_owned() }
}

/// The name of the bulk copy of a row.
///
/// # Errors
/// The part of the name that it does not have.
fn bulk_name<'p>(parts: &[&'p str], element: &str) -> Result<String, &'p str> {
    let mut kept = Vec::new();
    for &part in parts {
        match part {
            "tensor" | "tile" | "1d" | "2d" | "3d" | "4d" | "5d" | "L2::cache_hint"
            | "cta_group::1" => {}
            "cp"
            | "reduce"
            | "async"
            | "bulk"
            | "shared::cta"
            | "shared::cluster"
            | "global"
            | "mbarrier::complete_tx::bytes"
            | "bulk_group"
            | "multicast::cluster"
            | "add"
            | "min"
            | "max"
            | "inc"
            | "dec"
            | "and"
            | "or"
            | "xor" => kept.push(part),
            other => return Err(other),
        }
    }
    if parts[1] == "reduce" {
        kept.push(element);
    }
    Ok(kept.join("."))
}
