//! The types of declarations: C's as in herd, and PTX's with their state spaces.

use model::memory::{MBARRIER_BYTES, Space, TENSOR_COLUMN_BYTES};

use text::cursor::{Cursor, short};
use text::lex::TokenKind;
use text::report::{ByteSpan, Diagnostics};

/// C's types as herd's tests use them, with their bytes.
const C_TYPES: &[(&str, u32)] = &[
    ("int", 4),
    ("char", 1),
    ("short", 2),
    ("long", 8),
    ("unsigned", 4),
    ("float", 4),
    ("double", 8),
    ("int8_t", 1),
    ("int16_t", 2),
    ("int32_t", 4),
    ("int64_t", 8),
    ("uint8_t", 1),
    ("uint16_t", 2),
    ("uint32_t", 4),
    ("uint64_t", 8),
    ("intptr_t", 8),
    ("uintptr_t", 8),
];

/// PTX's types, with their bytes.
const PTX_TYPES: &[(&str, u32)] = &[
    ("u8", 1),
    ("u16", 2),
    ("u32", 4),
    ("u64", 8),
    ("s8", 1),
    ("s16", 2),
    ("s32", 4),
    ("s64", 8),
    ("b8", 1),
    ("b16", 2),
    ("b32", 4),
    ("b64", 8),
    ("b128", 16),
    ("f32", 4),
    ("f64", 8),
];

/// The state spaces of variables; since a test has no kernel declaration, a parameter names its sub-qualifier.
const SPACES: &[(&str, Space)] = &[
    ("global", Space::Global),
    ("shared", Space::Shared),
    ("const", Space::Const),
    ("local", Space::Local),
    ("param", Space::ParamEntry),
    ("param::entry", Space::ParamEntry),
    ("param::func", Space::ParamFunc),
    ("tmem", Space::Tensor),
];

#[derive(Default)]
pub(super) struct DeclaredType {
    pub(super) bytes: Option<u32>,
    pub(super) space: Option<Space>,
    /// `.mbarrier`.
    pub(super) mbarrier: bool,
}

/// `uint32_t`, `.global .align 4 .u32`, or nothing.
pub(super) fn read(cursor: &mut Cursor<'_>, report: &mut Diagnostics) -> Option<DeclaredType> {
    let mut ty = DeclaredType::default();
    let begin = cursor.here();
    while cursor.kind_at(0) == Some(TokenKind::Word)
        && matches!(cursor.kind_at(1), Some(TokenKind::Word | TokenKind::Number))
        && cursor.text_at(1) != "aliases"
        || cursor.kind_at(0) == Some(TokenKind::Word) && cursor.text_at(1) == "*"
    {
        let (name, at) = cursor.word()?;
        let known = C_TYPES.iter().find(|(c, _)| *c == name);
        if known.is_none() && !matches!(name, "volatile" | "const" | "_Atomic") {
            let near = report.nearest(name, C_TYPES.iter().map(|(c, _)| *c));
            report
                .error("type", at, format!("unknown type `{}` of a variable", short(name)))
                .help(near.unwrap_or("uint32_t x=0; or .global .u32 x = 0;"));
        }
        ty.bytes = known.map(|(_, bytes)| *bytes).or(ty.bytes);
    }
    while let Some(dot) = cursor.eat(".") {
        let Some((mut name, mut at)) = cursor.word() else {
            cursor.expected("a state space or a type", report);
            return None;
        };
        if cursor.eat("::").is_some() {
            let Some((_, end)) = cursor.word() else {
                cursor.expected("a name after `::`", report);
                return None;
            };
            at = at.to(end);
            name = at.of(cursor.text);
        }
        if let Some((_, space)) = SPACES.iter().find(|(known, _)| *known == name) {
            ty.space = Some(*space);
            if ty.mbarrier && *space != Space::Shared {
                not_shared(at, report);
            }
            if *space == Space::Tensor {
                ty.bytes = Some(TENSOR_COLUMN_BYTES);
            }
            continue;
        }
        match name {
            "align" => {
                if cursor.number(report).is_none() {
                    cursor.expected("an alignment", report);
                    return None;
                }
            }
            "mbarrier" => {
                if ty.space.is_some_and(|space| space != Space::Shared) {
                    not_shared(at, report);
                }
                ty.mbarrier = true;
                ty.bytes = Some(MBARRIER_BYTES);
                ty.space = Some(Space::Shared);
            }
            _ => {
                if let Some((_, bytes)) = PTX_TYPES.iter().find(|(ptx, _)| *ptx == name) {
                    ty.bytes = Some(*bytes);
                } else {
                    let known = PTX_TYPES.iter().map(|(ptx, _)| *ptx);
                    let spaces = SPACES.iter().map(|(ptx, _)| *ptx).chain(["align", "mbarrier"]);
                    let near = report.nearest(name, known.chain(spaces));
                    let help = near.map_or_else(
                        || {
                            "variables are `.global`, `.shared`, `.const`, `.local`, `.param` or `.tmem`, \
                             of types `.u8` to `.b128`"
                                .into()
                        },
                        |near| format!(".{near}"),
                    );
                    report
                        .error(
                            "type",
                            dot.to(at),
                            format!("unknown type `.{}` of a variable", short(name)),
                        )
                        .help(help);
                }
            }
        }
    }
    if ty.space == Some(Space::Tensor) && ty.bytes != Some(TENSOR_COLUMN_BYTES) {
        report
            .error("type", begin.to(cursor.here()), "tensor memory has columns of 32 bits")
            .help(".tmem .b32 c[4];");
    }
    // `.shared mbarrier b`: a dot is missing.
    let next = cursor.text_at(0);
    let is_type = next == "mbarrier" || PTX_TYPES.iter().any(|(ptx, _)| *ptx == next);
    let dotted = begin.start != cursor.here().start;
    if dotted && is_type && cursor.kind_at(1) == Some(TokenKind::Word) {
        let (name, at) = cursor.word()?;
        report
            .error("type", at, format!("the type `{name}` of a variable lacks its dot"))
            .help(format!(".{name}"));
        ty.mbarrier |= name == "mbarrier";
    }
    Some(ty)
}

/// An mbarrier object that is declared in another state space than `.shared`.
fn not_shared(at: ByteSpan, report: &mut Diagnostics) {
    report
        .error("mbarrier-space", at, "an mbarrier object is in shared memory")
        .section(model::section::MBARRIER)
        .help(".shared .mbarrier b;");
}
