//! Tensormaps of a launch: `map='tensor(@a, u32, 8x4, box 8x2)'`.

use lift::module::TensorLayout;

use crate::argument::Inside;
use crate::launch::LaunchError;

/// A tensormap, and where its tensor is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorArgument {
    pub buffer: String,
    /// In bytes.
    pub offset: u64,
    pub layout: TensorLayout,
}

/// A tensor as it is written.
pub(crate) struct TensorText<'t> {
    pub(crate) base: &'t str,
    pub(crate) element: &'t str,
    pub(crate) extents: Vec<u32>,
    pub(crate) tile: Vec<u32>,
    /// None for a tensor without gaps.
    pub(crate) strides: Vec<u64>,
}

/// The types of elements of a tensor. `tf32` and types of fewer bits than 8 are none.
const ELEMENTS: &[&str] = &["u8", "u16", "u32", "u64", "s32", "s64", "f16", "bf16", "f32", "f64"];

/// The limits of `cuTensorMapEncodeTiled`: the dimensions, the extent of a tile in one of them, and what addresses and strides are
/// multiples of.
const MOST_DIMENSIONS: usize = 5;
const MOST_OF_TILE: u32 = 256;
const ALIGNMENT: u32 = 16;

const FORM: &str = "--arg map='tensor(@a, u32, 8x4, box 8x2)': the buffer, the type of the elements, the extents of the tensor and of a tile, the innermost one first; with `strides 64` bytes where rows have gaps";

impl TensorArgument {
    /// Reads what follows `tensor(`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(name: &str, text: &str) -> Result<TensorArgument, LaunchError> {
        let wrong =
            || LaunchError::new(format!("the tensor of `{name}` is not understood")).help(FORM);
        let inside = text.trim_end().strip_suffix(')').ok_or_else(wrong)?;
        let parts: Vec<&str> = inside.split(',').map(str::trim).collect();
        let [base, element, extents, rest @ ..] = &parts[..] else { return Err(wrong()) };
        let mut of = TensorText {
            base,
            element,
            extents: numbers(extents).ok_or_else(wrong)?,
            tile: Vec::new(),
            strides: Vec::new(),
        };
        for part in rest {
            match part.split_once(' ') {
                Some(("box", tile)) => of.tile = numbers(tile).ok_or_else(wrong)?,
                Some(("strides", strides)) => of.strides = numbers(strides).ok_or_else(wrong)?,
                Some(("swizzle" | "interleave" | "fill", "none")) => {}
                Some(("swizzle" | "interleave" | "fill", _)) => {
                    let why = format!("`{part}` of the tensor of `{name}` is not followed");
                    let help = "compile the kernel for a tensormap without swizzle and interleave, which fills with zeros";
                    return Err(LaunchError::new(why).help(help));
                }
                Some(_) | None => return Err(wrong()),
            }
        }
        TensorArgument::new(name, of)
    }

    /// A tensormap that the driver would make.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn new(name: &str, text: TensorText<'_>) -> Result<TensorArgument, LaunchError> {
        let TensorText { base, element, extents, tile, mut strides } = text;
        let error = |why: String| LaunchError::new(format!("the tensor of `{name}`{why}"));
        let inside = Inside::parse(base);
        let Inside { buffer, offset } =
            inside.ok_or_else(|| error(format!(" is in no buffer: `{base}`")).help(FORM))?;
        if !ELEMENTS.contains(&element) {
            return Err(error(format!(" has elements of the unknown type `{element}`"))
                .help(ELEMENTS.join(", ")));
        }
        let dimensions = extents.len();
        if !(1..=MOST_DIMENSIONS).contains(&dimensions) || tile.len() != dimensions {
            let why = format!(" has {dimensions} dimensions, and its tile {}", tile.len());
            return Err(error(why).help(FORM));
        }
        if extents.contains(&0) || tile.iter().any(|of| !(1..=MOST_OF_TILE).contains(of)) {
            let why = format!(
                " has an extent of 0, or a tile of more than {MOST_OF_TILE} elements in a dimension"
            );
            return Err(error(why).help(FORM));
        }
        let mut layout =
            TensorLayout { element: element.to_owned(), extents, strides: Vec::new(), tile };
        if strides.is_empty() {
            let mut bytes = u64::from(layout.element_bytes());
            for extent in &layout.extents[..dimensions - 1] {
                bytes = bytes.saturating_mul(u64::from(*extent));
                strides.push(bytes);
            }
        }
        let aligned = |bytes: &u64| bytes.is_multiple_of(ALIGNMENT.into()) && *bytes < 1 << 31;
        if strides.len() != dimensions - 1 || !strides.iter().chain([&offset]).all(aligned) {
            let why = " does not begin, or has not all of its rows, at a multiple of 16 bytes";
            return Err(error(why.to_owned()).help(FORM));
        }
        layout.strides = strides;
        let row = layout.extents[0].saturating_mul(layout.element_bytes());
        if !layout.row_bytes().is_multiple_of(ALIGNMENT) || !row.is_multiple_of(ALIGNMENT) {
            let why = " has rows, or a tile with rows, of no multiple of 16 bytes";
            return Err(error(why.to_owned()).help("a wider tensor and tile"));
        }
        Ok(TensorArgument { buffer, offset, layout })
    }

    /// The last byte of the tensor, from the beginning of its buffer.
    pub(crate) fn last_byte(&self) -> u64 {
        let TensorLayout { extents, strides, .. } = &self.layout;
        let rows = extents[1..].iter().zip(strides);
        let rows = rows.fold(0_u64, |sum, (extent, stride)| {
            sum.saturating_add(u64::from(extent - 1).saturating_mul(*stride))
        });
        let row = u64::from(extents[0]) * u64::from(self.layout.element_bytes());
        self.offset.saturating_add(rows).saturating_add(row) - 1
    }
}

/// `8x4`
fn numbers<N: std::str::FromStr>(text: &str) -> Option<Vec<N>> {
    text.trim().split('x').map(|number| number.trim().parse().ok()).collect()
}
