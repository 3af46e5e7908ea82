//! The modifiers of instructions without rules: those that PTX ISA lists for
//! each, so that others are errors.
//!
//! Combinations of modifiers are not checked. If the document has several pages for an opcode,
//! or extends it from version to version, the list is the union.

use std::collections::HashMap;
use std::sync::LazyLock;

use text::cursor::short;

/// What follows an opcode: the operation, where it has several, and what may stand after it.
struct ModifierRow {
    /// The opcode and its operation, `cp.async.bulk`; several that have the same modifiers are
    /// separated by blanks.
    heads: &'static str,
    /// Words separated by blanks; `#` is any number, and `*` at the end any rest.
    words: &'static [&'static str],
}

/// Types of registers and of memory, packed ones among them.
const TYPES: &str = "pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64 tf32 \
    u16x2 s16x2 u8x4 s8x4 f16x2 bf16x2 f32x2";

/// Types of matrices and of conversions.
const NARROW: &str = "b1 u2 s2 u4 s4 e4m3 e5m2 e3m2 e2m3 e2m1 ue4m3 ue5m3 ue8m0 \
    e4m3x2 e5m2x2 e3m2x2 e2m3x2 e2m1x2 ue5m3x2 ue8m0x2 s2f6x2";

/// Four numbers of 8, 6 or 4 bits, for conversions and for arithmetic.
const PACKED: &str = "e4m3x4 e5m2x4 e3m2x4 e2m3x4 e2m1x4";

const ROUNDING: &str = "rn rz rm rp";
const ROUNDING_TO_INTEGERS: &str = "rni rzi rmi rpi";

const COMPARISONS: &str =
    "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";

const SPACES: &str =
    "global shared shared::cta shared::cluster local const param param::entry param::func";
const SHARED: &str = "shared shared::cta shared::cluster";

const ORDERS: &str = "weak relaxed acquire release cta cluster gpu sys";

const REDUCTIONS: &str = "add min max inc dec and or xor";

const VECTORS: &str = "v2 v4 v8";

const CACHE: &str = "L2::cache_hint L2::64B L2::128B L2::256B L2::evict_*";

const SHAPES: &str = "m#n#k# sync aligned row col satfinite";

/// What a matrix multiplication with scales has.
const SCALED: &str = "kind::f16 kind::tf32 kind::f8f6f4 kind::i8 kind::mxf8f6f4 kind::mxf4 \
    kind::mxf4nvf4 block_scale scale_vec::1X scale_vec::2X scale_vec::4X block16 block32 \
    kind::ti16 sp sp::ordered_metadata";

const GROUPS: &str = "cta_group::1 cta_group::2";

const MULTICAST: &str = "multicast::cluster multicast::cluster::16b multicast::cluster::32b \
    multicast::cluster::all";

/// How an asynchronous copy says that it is complete.
const COMPLETION: &str =
    "mbarrier::complete_tx::bytes mbarrier::report::* bulk_group cp_mask ignore_oob";

/// What a wait is restricted to.
const RESTRICTED: &str =
    "sync_restrict::proxy::async sync_restrict::shared::cta sync_restrict::shared::cluster";

/// What copies from and to the fabric have.
const FABRIC: &str = "shared::cta mbarrier::report::fabric relaxed sys L2::cache_hint";

const TENSOR: &str = "1d 2d 3d 4d 5d tile tile::gather4 tile::scatter4 im2col im2col::w \
    im2col::w::128 im2col_no_offs im2col_no_offs::w override::*";

const GEOMETRY: &str = "1d 2d 3d a1d a2d cube acube 2dms a2dms";

const VIDEO: &str = "u32 s32 sat add min max";

const ROWS: &[ModifierRow] = &[
    ModifierRow {
        heads: "mbarrier.init mbarrier.check_layout",
        words: &["b64 shared shared::cta layout::v0 layout::v1 cta cluster gpu sys"],
    },
    ModifierRow { heads: "mbarrier.inval", words: &["b64 shared shared::cta"] },
    ModifierRow { heads: "mbarrier.pending_count", words: &["b64 layout::v0 layout::v1"] },
    ModifierRow {
        heads: "mbarrier.expect_tx mbarrier.complete_tx",
        words: &[SHARED, ORDERS, MULTICAST, "b64"],
    },
    ModifierRow {
        heads: "mbarrier.arrive mbarrier.arrive_drop",
        // Public code writes `.expect_copy` and `.nosleep`, which the document does not have.
        words: &[SHARED, ORDERS, MULTICAST, "b64 expect_tx noComplete expect_copy"],
    },
    ModifierRow {
        heads: "mbarrier.test_wait mbarrier.try_wait",
        words: &[SHARED, ORDERS, "b64 parity phase_type::primary phase_type::conditional nosleep"],
    },
    ModifierRow { heads: "cp.async", words: &["ca cg global L1::32B", SHARED, CACHE] },
    ModifierRow {
        heads: "cp.async.commit_group cp.async.wait_all cp.async.wait_group",
        words: &[],
    },
    ModifierRow { heads: "cp.async.mbarrier.arrive", words: &["noinc b64", SHARED] },
    ModifierRow {
        heads: "cp.async.bulk cp.async.bulk.tensor cp.async.bulk.prefetch \
            cp.async.bulk.prefetch.tensor",
        words: &["L2 global b128", SHARED, COMPLETION, MULTICAST, TENSOR, GROUPS, CACHE, ORDERS],
    },
    ModifierRow { heads: "cp.async.bulk.commit_group", words: &[] },
    ModifierRow { heads: "cp.async.bulk.wait_group", words: &["read", RESTRICTED] },
    ModifierRow {
        heads: "cp.reduce.async.bulk cp.reduce.async.bulk.tensor",
        words: &["global noftz", SHARED, COMPLETION, TENSOR, CACHE, ORDERS, REDUCTIONS, TYPES],
    },
    ModifierRow {
        heads: "wgmma.fence wgmma.commit_group wgmma.wait_group",
        words: &["sync aligned"],
    },
    ModifierRow { heads: "wgmma.mma_async", words: &[SHAPES, TYPES, NARROW, "sp and popc"] },
    ModifierRow {
        heads: "tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit",
        words: &["sync aligned b32 exclusive", SHARED, GROUPS],
    },
    ModifierRow {
        heads: "tcgen05.ld tcgen05.st",
        words: &[
            "sync aligned red min max abs NaN pack::16b unpack::16b spcompress sp::2:4 b2",
            "16x64b 16x128b 16x256b 32x32b 16x32bx2 x1 x2 x4 x8 x16 x32 x64 x128",
            TYPES,
        ],
    },
    ModifierRow {
        heads: "tcgen05.wait::ld tcgen05.wait::st tcgen05.fence::before_thread_sync \
            tcgen05.fence::after_thread_sync",
        words: &["sync aligned"],
    },
    ModifierRow {
        heads: "tcgen05.cp tcgen05.shift",
        words: &[
            "down b8x16 b6x16_p32 b4x16_p64 warpx2::02_13 warpx2::01_23 warpx4",
            "128x256b 4x256b 128x128b 64x128b 32x128b",
            GROUPS,
        ],
    },
    ModifierRow {
        heads: "tcgen05.mma",
        words: &["ws ashift collector::* decompress::lut::b", SCALED, GROUPS],
    },
    ModifierRow {
        heads: "tcgen05.commit",
        words: &["mbarrier::arrive::one b64 sync_restrict::*", SHARED, MULTICAST, GROUPS],
    },
    ModifierRow { heads: "griddepcontrol.launch_dependents griddepcontrol.wait", words: &[] },
    ModifierRow {
        heads: "clusterlaunchcontrol.try_cancel",
        words: &["async b128", SHARED, COMPLETION, MULTICAST],
    },
    ModifierRow {
        heads: "clusterlaunchcontrol.query_cancel",
        words: &[
            "is_canceled get_first_ctaid get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z",
            "pred b32 b128 v4",
        ],
    },
    ModifierRow { heads: "tex", words: &["base level grad", GEOMETRY, VECTORS, TYPES] },
    ModifierRow { heads: "tld4", words: &["r g b a", GEOMETRY, VECTORS, TYPES] },
    ModifierRow {
        heads: "txq suq",
        words: &[
            "b32 level width height depth channel_data_type channel_order normalized_coords",
            "array_size num_mipmap_levels num_samples memory_layout force_unnormalized_coords",
            "filter_mode addr_mode_0 addr_mode_1 addr_mode_2",
        ],
    },
    ModifierRow {
        heads: "suld.b suld.p",
        words: &["ca cg cs cv clamp trap zero", GEOMETRY, VECTORS, TYPES],
    },
    ModifierRow {
        heads: "sust.b sust.p",
        words: &["wb cg cs wt clamp trap zero", GEOMETRY, VECTORS, TYPES],
    },
    ModifierRow {
        heads: "sured.b sured.p",
        words: &["clamp trap zero", REDUCTIONS, GEOMETRY, TYPES],
    },
    ModifierRow {
        heads: "ldmatrix stmatrix movmatrix",
        words: &[
            "sync aligned m#n# x1 x2 x4 trans b8x16 b6x16_p32 b4x16_p64",
            SHARED,
            TYPES,
            NARROW,
        ],
    },
    ModifierRow {
        heads: "wmma.load wmma.store wmma.mma",
        words: &["a b c d global and xor popc", SHARED, SHAPES, ROUNDING, TYPES, NARROW],
    },
    ModifierRow { heads: "mma", words: &["and xor popc", SHAPES, SCALED, ROUNDING, TYPES, NARROW] },
    ModifierRow {
        heads: "tensormap.replace",
        words: &[
            "tile global_address rank box_dim global_dim global_stride element_stride elemtype",
            "interleave_layout swizzle_mode swizzle_atomicity fill_mode b32 b64 b1024 global",
            "alloc_large alloc_small alloc_same",
            SHARED,
        ],
    },
    ModifierRow {
        heads: "tensormap.query.alloc_class_large",
        words: &["global const param shared::cta b1024"],
    },
    ModifierRow {
        heads: "tensormap.cp_fenceproxy",
        words: &["tensormap::generic sync aligned global", SHARED, ORDERS],
    },
    ModifierRow {
        heads: "multimem.ld_reduce multimem.st multimem.red",
        words: &[
            "global async acc::f16 acc::f32",
            ORDERS,
            REDUCTIONS,
            VECTORS,
            TYPES,
            NARROW,
            PACKED,
            CACHE,
        ],
    },
    ModifierRow {
        heads: "multimem.cp.async.bulk multimem.cp.reduce.async.bulk",
        words: &["global noftz", SHARED, COMPLETION, CACHE, ORDERS, REDUCTIONS, TYPES],
    },
    ModifierRow {
        heads: "prefetch prefetchu",
        words: &["L1 L1::32B L2 L2::evict_last L2::evict_normal tensormap valid_addr", SPACES],
    },
    ModifierRow {
        heads: "applypriority.async.bulk applypriority.async.bulk.tensor",
        words: &["bulk_group global L2::evict_normal", TENSOR],
    },
    ModifierRow { heads: "discard applypriority", words: &["L2 L2::evict_normal global"] },
    ModifierRow {
        heads: "createpolicy.fractional createpolicy.range createpolicy.cvt",
        words: &[
            "global fabric L2 L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged b64",
        ],
    },
    ModifierRow { heads: "shfl", words: &["sync up down bfly idx b32 b64"] },
    ModifierRow { heads: "vote.sync vote", words: &["all any uni ballot pred b32"] },
    ModifierRow { heads: "match.all match.any", words: &["sync b32 b64"] },
    ModifierRow { heads: "activemask fns", words: &["b32"] },
    ModifierRow { heads: "redux", words: &["sync abs NaN", REDUCTIONS, TYPES] },
    ModifierRow { heads: "elect.sync", words: &[] },
    ModifierRow { heads: "bra call ret", words: &["uni"] },
    ModifierRow { heads: "brx.idx", words: &["uni"] },
    ModifierRow { heads: "exit trap brkpt", words: &[] },
    ModifierRow { heads: "pmevent", words: &["mask"] },
    ModifierRow { heads: "nanosleep", words: &["u32"] },
    ModifierRow { heads: "setmaxnreg.inc setmaxnreg.dec", words: &["sync aligned u32"] },
    ModifierRow { heads: "alloca stacksave stackrestore", words: &["u32 u64"] },
    ModifierRow { heads: "istypep", words: &["texref samplerref surfref"] },
    ModifierRow { heads: "mapa getctarank", words: &["u32 u64 s32 s64", SHARED] },
    ModifierRow {
        heads: "bar.sync bar.arrive bar.red bar.cta.sync bar.cta.arrive bar.cta.red barrier.sync \
            barrier.arrive barrier.red barrier.cta.sync barrier.cta.arrive barrier.cta.red",
        words: &["aligned popc and or u32 pred"],
    },
    ModifierRow { heads: "bar.warp.sync", words: &[] },
    ModifierRow { heads: "barrier.cluster.arrive", words: &["release relaxed aligned"] },
    ModifierRow { heads: "barrier.cluster.wait", words: &["acquire aligned"] },
    ModifierRow { heads: "add sub", words: &["sat cc ftz", ROUNDING, TYPES, PACKED] },
    ModifierRow { heads: "addc subc", words: &["cc", TYPES] },
    ModifierRow { heads: "mul mad", words: &["hi lo wide sat cc ftz", ROUNDING, TYPES, PACKED] },
    ModifierRow { heads: "mul24 mad24 madc", words: &["hi lo sat cc", TYPES] },
    ModifierRow { heads: "fma", words: &["sat ftz relu oob", ROUNDING, TYPES, PACKED] },
    ModifierRow { heads: "div rcp sqrt rsqrt", words: &["approx full ftz", ROUNDING, TYPES] },
    ModifierRow { heads: "lg2 ex2 tanh", words: &["approx ftz", TYPES] },
    ModifierRow { heads: "sin cos", words: &["approx ftz 2pi", TYPES] },
    ModifierRow { heads: "trace.mark", words: &[] },
    ModifierRow {
        heads: "fabric.try_get.async",
        words: &[FABRIC, "mbarrier::complete_tx::bytes b128"],
    },
    ModifierRow {
        heads: "fabric.try_put.async",
        words: &[FABRIC, "mbarrier::complete_tx::16B multimem counted::bytes cp_mask b128"],
    },
    ModifierRow {
        heads: "fabric.try_red.async fabric.try_atom.async",
        words: &[
            FABRIC,
            "mbarrier::complete_tx::16B multimem counted::bytes exch cas acc::f16 acc::f32",
            REDUCTIONS,
            TYPES,
        ],
    },
    ModifierRow {
        heads: "fabric.try_pullred.async",
        words: &[
            FABRIC,
            "mbarrier::complete_tx::bytes multimem sync acc::f16 acc::f32 e4m3 e5m2",
            REDUCTIONS,
            TYPES,
        ],
    },
    ModifierRow {
        heads: "fabric.try_get.async.tensor fabric.try_put.async.tensor fabric.try_red.async.tensor",
        words: &[
            FABRIC,
            "mbarrier::complete_tx::bytes mbarrier::complete_tx::16B 1d 2d 3d 4d 5d tile",
            "im2col im2col_no_offs",
            REDUCTIONS,
            TYPES,
        ],
    },
    ModifierRow { heads: "fabric.submit", words: &["op_restrict::fetching"] },
    ModifierRow { heads: "fabric.submit.commit_group", words: &[] },
    ModifierRow { heads: "fabric.wait", words: &["sync_restrict::read sync_restrict::reads"] },
    ModifierRow { heads: "abs neg", words: &["ftz", TYPES] },
    ModifierRow { heads: "min max", words: &["relu ftz NaN xorsign abs", TYPES] },
    ModifierRow { heads: "rem sad popc clz brev bfe bfi copysign", words: &[TYPES] },
    ModifierRow { heads: "bfind", words: &["shiftamt", TYPES] },
    ModifierRow { heads: "bmsk szext", words: &["clamp wrap", TYPES] },
    ModifierRow { heads: "dp4a", words: &["u32 s32"] },
    ModifierRow { heads: "dp2a", words: &["hi lo u32 s32"] },
    ModifierRow {
        heads: "testp",
        words: &["finite infinite number notanumber normal subnormal", TYPES],
    },
    ModifierRow { heads: "set setp", words: &[COMPARISONS, TYPES] },
    ModifierRow { heads: "selp slct", words: &["ftz", TYPES] },
    ModifierRow { heads: "and or xor not cnot shl shr", words: &[TYPES] },
    ModifierRow { heads: "mov", words: &[VECTORS, TYPES] },
    ModifierRow { heads: "lop3", words: &["and or", TYPES] },
    ModifierRow { heads: "shf", words: &["l r clamp wrap", TYPES] },
    ModifierRow { heads: "prmt", words: &["f4e b4e rc8 ecl ecr rc16", TYPES] },
    ModifierRow {
        heads: "cvt",
        words: &[
            "ftz sat relu satfinite rna rs pzo pack scaled::n1::ue8m0 scaled::n2::ue8m0",
            ROUNDING,
            ROUNDING_TO_INTEGERS,
            TYPES,
            NARROW,
            PACKED,
        ],
    },
    ModifierRow { heads: "cvta", words: &["to u32 u64", SPACES] },
    ModifierRow { heads: "isspacep", words: &[SPACES] },
    ModifierRow {
        heads: "vadd vsub vabsdiff vmin vmax vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vadd4 vsub4 \
            vavrg4 vabsdiff4 vmin4 vmax4",
        words: &[VIDEO],
    },
    ModifierRow { heads: "vshl vshr", words: &["clamp wrap", VIDEO] },
    ModifierRow { heads: "vmad", words: &["po shr7 shr15", VIDEO] },
    ModifierRow { heads: "vset vset2 vset4", words: &["eq ne lt le gt ge lo ls hi hs", VIDEO] },
    ModifierRow {
        heads: "st.async red.async",
        words: &["mmio global", SHARED, COMPLETION, ORDERS, REDUCTIONS, VECTORS, TYPES],
    },
    ModifierRow { heads: "st.bulk", words: &["weak", SHARED] },
];

/// How a part of a name is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// An operation is to follow it, and nothing does.
    Bare,
    /// It stands in the place of the operation, and is not an operation.
    Operation,
    Modifier,
}

/// What is wrong with the name of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadModifier {
    /// Which part it is.
    pub position: usize,
    pub wrong: Wrong,
    /// How many parts, from the opcode on, say which instruction it is.
    pub head: usize,
    /// What may stand there, or after it where it is bare.
    pub known: Vec<&'static str>,
}

/// The most modifiers that an error lists.
const FEW: usize = 12;

impl BadModifier {
    /// What is wrong, in words; `parts` are those of the instruction.
    pub fn message(&self, parts: &[&str]) -> String {
        let (head, part) = (short(&parts[..self.head].join(".")), short(parts[self.position]));
        match self.wrong {
            Wrong::Bare => format!("an operation is missing after `{head}`"),
            Wrong::Operation => format!("unknown operation `.{part}` of `{head}`"),
            Wrong::Modifier => format!("unknown modifier `.{part}` of `{head}`"),
        }
    }

    /// The nearest one that is known, or all of them where they are few.
    pub fn help(&self, near: Option<&str>) -> Option<String> {
        if let Some(near) = near.filter(|_| self.wrong != Wrong::Bare) {
            return Some(format!("did you mean `.{near}`?"));
        }
        let few = self.wrong != Wrong::Modifier || self.known.len() <= FEW;
        (few && !self.known.is_empty()).then(|| {
            let known: Vec<String> = self.known.iter().map(|one| format!("`.{one}`")).collect();
            format!("the known ones are {}", known.join(", "))
        })
    }
}

/// An instruction as its row has it: the parts that say which one it is.
struct OpcodeHead {
    parts: Vec<&'static str>,
    row: &'static ModifierRow,
}

/// The instructions of each opcode: a module may ask for millions.
static HEADS: LazyLock<HashMap<&str, Vec<OpcodeHead>>> = LazyLock::new(|| {
    let mut heads: HashMap<&str, Vec<OpcodeHead>> = HashMap::new();
    for row in ROWS {
        for head in row.heads.split_whitespace() {
            let parts: Vec<&str> = head.split('.').collect();
            heads.entry(parts[0]).or_default().push(OpcodeHead { parts, row });
        }
    }
    heads
});

/// The instructions that are known here, each with its modifiers: words in which `#` is any number, and `*` at the end any rest.
pub fn all() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    ROWS.iter().flat_map(|row| {
        let words: Vec<&str> =
            row.words.iter().flat_map(|words| words.split_whitespace()).collect();
        row.heads.split_whitespace().map(move |head| (head, words.clone()))
    })
}

/// How many of these parts, from the opcode on, say which instruction it is; `None` for one that is not known here.
pub fn head(parts: &[&str]) -> Option<usize> {
    let heads = HEADS.get(parts.first()?)?;
    let whole = heads.iter().filter(|head| parts.starts_with(&head.parts));
    whole.map(|head| head.parts.len()).max()
}

/// The first part that the instruction does not have, opcode first; `None` too for an opcode of which
/// the modifiers are not known here.
pub fn fault(parts: &[&str]) -> Option<BadModifier> {
    let heads = HEADS.get(parts.first()?)?;
    let shared =
        |head: &OpcodeHead| head.parts.iter().zip(parts).take_while(|(a, b)| a == b).count();
    // What follows the heads that begin with this many of the parts.
    let next = |from: usize| {
        let longer = heads.iter().filter(move |head| shared(head) == from);
        longer.filter_map(move |head| head.parts.get(from).copied())
    };
    let whole = heads.iter().filter(|head| shared(head) == head.parts.len());
    let Some(head) = whole.max_by_key(|head| head.parts.len()) else {
        let longest = heads.iter().map(shared).max()?;
        let mut known: Vec<&str> = next(longest).collect();
        known.sort_unstable();
        known.dedup();
        return Some(if longest < parts.len() {
            BadModifier { position: longest, wrong: Wrong::Operation, head: longest, known }
        } else {
            BadModifier { position: longest - 1, wrong: Wrong::Bare, head: longest, known }
        });
    };
    let after = head.parts.len();
    let words = || head.row.words.iter().flat_map(|words| words.split_whitespace());
    let unknown = |part: &&str| !words().any(|word| is(part, word));
    let at = parts[after..].iter().position(unknown)?;
    let mut known: Vec<&str> = words().filter(|word| !word.contains(['#', '*'])).collect();
    if at == 0 {
        known.extend(next(after));
    }
    known.sort_unstable();
    known.dedup();
    Some(BadModifier { position: after + at, wrong: Wrong::Modifier, head: after, known })
}

/// Whether a part is this word, in which each `#` is a number and a `*` at the end any rest.
pub fn is(part: &str, word: &str) -> bool {
    if let Some(start) = word.strip_suffix('*') {
        return part.len() > start.len() && part.starts_with(start);
    }
    if !word.contains('#') {
        return part == word;
    }
    let mut rest = part;
    let mut pieces = word.split('#');
    let first = pieces.next().unwrap_or("");
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    for piece in pieces {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if number.len() == rest.len() {
            return false;
        }
        let Some(after) = number.strip_prefix(piece) else { return false };
        rest = after;
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode;
    use crate::shape::Opcode;

    fn of(name: &str) -> Option<BadModifier> {
        fault(&name.split('.').collect::<Vec<_>>())
    }

    #[test]
    fn every_opcode_without_rules_has_its_modifiers() {
        let without: Vec<&str> = opcode::all()
            .filter(|opcode| Opcode::named(opcode).is_none())
            .filter(|opcode| of(&format!("{opcode}.no_such_modifier")).is_none())
            .collect();
        // The pages of these are not known here.
        assert_eq!(without, ["spcompress", "spdecompress"]);
        for head in ROWS.iter().flat_map(|row| row.heads.split_whitespace()) {
            let opcode = head.split('.').next().unwrap_or("");
            assert!(opcode::all().any(|known| known == opcode), "{head} is not an instruction");
            assert_eq!(of(head), None, "{head}");
        }
    }

    #[test]
    fn a_head_stands_once() {
        let mut seen = std::collections::BTreeSet::new();
        assert!(ROWS.iter().flat_map(|row| row.heads.split_whitespace()).all(|h| seen.insert(h)));
    }

    #[test]
    fn what_an_instruction_has_is_told_from_what_it_has_not() {
        for name in [
            "bar.sync",
            "bar.cta.red.popc.u32",
            "cp.async.bulk.wait_group.read",
            "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16",
            "tcgen05.mma.cta_group::1.kind::f16.collector::b3::lastuse",
            "vote.all.pred",
            "vote.sync.all.pred",
            "fabric.try_put.async.multimem.shared::cta.mbarrier::complete_tx::16B.relaxed.sys",
            "spcompress.anything",
            "tcgen05.mma.cta_group::1.kind::f16.collector::b::fill",
            "prefetch.L1::32B.valid_addr",
            "applypriority.async.bulk.tensor.2d.bulk_group.L2::evict_normal",
            "cvt.rn.satfinite.scaled::n1::ue8m0.ue5m3x2.f32",
            "mbarrier.arrive.release.cluster.multicast::cluster::32b.shared::cluster.b64",
            "cp.async.bulk.prefetch.tensor.2d.L2.global.L2::evict_last",
            "tcgen05.alloc.cta_group::1.exclusive.sync.aligned.shared::cta.b32",
            "no_such_opcode.x",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
        for (name, position, wrong, known) in [
            ("bar.syncc", 1, Wrong::Operation, "sync"),
            ("fabric.anything", 1, Wrong::Operation, "submit"),
            ("fabric.submit.banana", 2, Wrong::Modifier, "commit_group"),
            ("trace.banana", 1, Wrong::Operation, "mark"),
            ("barrier.cluster", 1, Wrong::Bare, "arrive"),
            ("bar", 0, Wrong::Bare, "warp"),
            ("mbarrier.bogus", 1, Wrong::Operation, "init"),
            ("cp.bogus", 1, Wrong::Operation, "async"),
            ("cp.async.bulkk", 2, Wrong::Modifier, "bulk"),
            ("tcgen05.zzz", 1, Wrong::Operation, "alloc"),
            ("setp.zz.s32", 1, Wrong::Modifier, "lt"),
            ("add.rn.f32.bogus", 3, Wrong::Modifier, "sat"),
            ("ret.foo", 1, Wrong::Modifier, "uni"),
            ("mma.sync.aligned.m8nk4", 3, Wrong::Modifier, "row"),
        ] {
            let fault = of(name).unwrap_or_else(|| panic!("{name} is not an instruction"));
            assert_eq!((fault.position, fault.wrong), (position, wrong), "{name}");
            assert!(fault.known.contains(&known), "{name}: {fault:?}");
        }
    }
}
