//! Describes the modifiers of asynchronous instructions, and of those of warps and clusters.
//!
//! A modifier that memory instructions have too means the same there: `words` describes it.

use ::ptx::modifier;
use ::ptx::qualifier::{Qualifier, QualifierKind};
use ::ptx::shape::Opcode;
use model::section::Section;

use super::QualifierMeaning;
use super::words::{self, said};

/// Words of modifiers, and what they mean after these heads of instructions; `{0}` is the first number in the word.
struct ModifierMeaning {
    /// Separated by blanks; a longer name that begins with one is meant too.
    heads: &'static str,
    /// Separated by blanks, as in [`modifier`].
    words: &'static str,
    means: &'static str,
}

macro_rules! meanings {
    ($($heads:literal { $($words:literal: $means:literal;)* })*) => {
        &[$($(ModifierMeaning { heads: $heads, words: $words, means: $means },)*)*]
    };
}

/// The first one that fits holds.
const MEANINGS: &[ModifierMeaning] = meanings! {
    "mbarrier cp.async.mbarrier.arrive tcgen05.commit" {
        "b64": "the mbarrier object, which has 8 bytes";
    }
    "mbarrier" {
        "layout::v0": "the object has layout v0: it counts up to 1048575 arrivals, and has no reports";
        "layout::v1": "the object has layout v1: it counts up to 511 arrivals, and has reports of failures";
        "expect_tx": "before the arrival, the bytes of the last operand are added to the tx-count";
        "noComplete": "the arrival must not complete the phase: if it does, the behaviour is undefined";
        "expect_copy nosleep": "the document does not describe it";
        "parity": "the phase is given by its parity, 0 or 1, not by a state";
        "phase_type::primary": "asks for the phase in which the arrivals and bytes are counted";
        "phase_type::conditional": "asks for the phase that advances only if no failure was reported";
        "multicast::cluster multicast::cluster::16b": "it is made on the object at this offset in each CTA of a mask of 16 bits, the last operand";
        "multicast::cluster::32b": "it is made on the object at this offset in each CTA of a mask of 32 bits, the last operand";
        "multicast::cluster::all": "it is made on the object at this offset in each CTA of the cluster";
    }
    "cp.async.mbarrier.arrive" {
        "noinc": "the pending count is not incremented first: the object must expect this arrival";
    }
    "cp.async.bulk.wait_group" {
        "read": "waits only until the sources have been read";
        "sync_restrict::proxy::async": "waits until what the groups wrote is complete for accesses through the async proxy; a generic \
            access after it may still race with them: no document that is public says what it needs, nor whether the target is sm_90 or sm_100";
        "sync_restrict::shared::cta sync_restrict::shared::cluster": "ptxas takes it; the document does not describe it";
    }
    "cp.async" {
        "L1::32B": "ptxas takes it for a prefetch size; the document does not describe it";
    }
    "fabric" {
        "multimem": "the endpoint is a multicast one: each device that is a member is accessed";
        "shared::cta": "the bytes in shared memory, and the mbarrier object, are in this thread's CTA";
        "mbarrier::complete_tx::bytes": "it completes by a complete-tx operation of its bytes on the mbarrier object, which has layout v1";
        "mbarrier::complete_tx::16B": "it completes by a complete-tx operation of its bytes, divided by 16, on the mbarrier object, which has layout v1";
        "mbarrier::report::fabric": "a failure of the fabric is reported to the mbarrier object";
        "counted::bytes": "a counter of 8 bytes at the endpoint, whose offset is the third of the handle, counts the bytes that arrived";
        "cp_mask": "an operand is a mask: which bytes of each 16 are copied";
        "b128": "each 16 bytes are accessed as one";
        "relaxed": "each access of the fabric has this order";
        "sys": "with the scope of the system";
        "sync": "the thread waits until all threads of the mask, the last operand, execute it";
        "add min max and or xor inc dec exch cas": "what is done with each element at the endpoint and that in shared memory";
        "acc::f16 acc::f32": "sums are accumulated as `.f{0}`";
        "op_restrict::fetching": "only `fabric.try_get` and `fabric.try_pullred` are submitted; ptxas 13.5 emits nothing for it";
        "sync_restrict::read": "waits until the groups have read their sources in shared memory, except as many of the last groups as the operand says; no document that is \
            public says whether bulk groups are counted with them: the counter of the hardware is one";
        "sync_restrict::reads": "the name of `.sync_restrict::read` before PTX ISA 9.5; it waits for all that was submitted";
        "1d": "the tensor has one dimension";
        "2d 3d 4d 5d": "the tensor has {0} dimensions";
        "tile": "the tile is a box of the tensor, laid out as there";
        "im2col im2col_no_offs": "the elements under a window of a convolution are laid out as columns";
    }
    "tcgen05.commit" {
        "mbarrier::arrive::one": "completion makes one arrival on the mbarrier object";
        "multicast::cluster multicast::cluster::16b": "the arrival is made on the object at this offset in each CTA of a mask of 16 bits, the last operand";
        "multicast::cluster::32b": "the arrival is made on the object at this offset in each CTA of a mask of 32 bits, the last operand";
        "multicast::cluster::all": "the arrival is made on the object at this offset in each CTA of the cluster";
        "sync_restrict::*": "completion is signalled for these accesses alone";
    }
    "cp multimem st.async red.async clusterlaunchcontrol tcgen05" {
        "mbarrier::complete_tx::bytes": "it completes by a complete-tx operation of its bytes on the mbarrier object";
        "mbarrier::report::*": "the data is inspected, and what is found is reported to the mbarrier object, which has layout v1";
        "bulk_group": "it completes by groups: `cp.async.bulk.commit_group` makes them, `cp.async.bulk.wait_group` waits for them";
        "cp_mask": "the last operand is a mask: which bytes of each 16 are copied";
        "ignore_oob": "two operands are the numbers of bytes, 0 to 15, that are ignored at the beginning and at the end";
        "multicast::cluster multicast::cluster::16b": "the data, and the signal of completion, go to this offset in each CTA of a mask of 16 bits, an operand";
        "multicast::cluster::32b": "the data, and the signal of completion, go to this offset in each CTA of a mask of 32 bits, an operand";
        "multicast::cluster::all": "the result, and the signal of completion, go to this offset in each CTA of the cluster";
    }
    "cp" {
        "1d": "the tensor has one dimension";
        "2d 3d 4d 5d": "the tensor has {0} dimensions";
        "tile": "the tile is a box of the tensor, laid out as there";
        "tile::gather4": "four rows of a tensor of two dimensions become one tile";
        "tile::scatter4": "one tile becomes four rows of a tensor of two dimensions";
        "im2col im2col_no_offs": "the elements under a window of a convolution are laid out as columns";
        "im2col::w im2col_no_offs::w": "the elements under a window of a convolution are laid out as columns, along the dimension W";
        "im2col::w::128": "the elements under a window of a convolution are laid out as columns, 128 of them along the dimension W";
        "override::*": "an operand takes the place of this property of the tensormap";
        "cta_group::1": "the mbarrier object is in the CTA of the destination";
        "cta_group::2": "the mbarrier object is in the CTA of the destination or in the other one of its pair";
        "L2": "the data is fetched into the L2 cache";
    }
    "wgmma" {
        "and": "bits are multiplied by AND";
        "popc": "the products are summed by counting bits";
        "m#n#k#": "A has {0} rows and {2} columns, B {2} rows and {1} columns, the result {0} rows and {1} columns";
        "row": "the rows of the matrix are contiguous";
        "col": "the columns of the matrix are contiguous";
        "satfinite": "results out of range become the nearest number of the type";
        "sp": "two of four neighbouring elements of A are 0 and not stored: an operand tells which";
    }
    "tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit" {
        "exclusive": "the columns are those of an exclusive allocation";
        "b32": "the address of the columns in tensor memory has 4 bytes";
    }
    "tcgen05" {
        "cta_group::1": "it uses the tensor memory of this thread's CTA alone";
        "cta_group::2": "it uses the tensor memory of both CTAs of a pair";
        "red": "the loaded values are also reduced to one value, the last result";
        "min": "the reduction is a minimum";
        "max": "the reduction is a maximum";
        "abs": "the reduction takes absolute values";
        "NaN": "the reduction is NaN if a value is NaN";
        "pack::16b": "two neighbouring columns of 16 bits become one register";
        "unpack::16b": "each register becomes two neighbouring columns of 16 bits";
        "spcompress": "of each four elements only those that are not 0 are kept";
        "sp::2:4": "two of four neighbouring elements are kept";
        "16x32bx2": "the shape of the access: twice 16 lanes of 32 bits";
        "16x64b 16x128b 16x256b 32x32b": "the shape of the access: {0} lanes of {1} bits";
        "x1": "the shape is accessed once";
        "x#": "the shape is repeated {0} times along the columns";
        "down": "each row moves to the one below";
        "b8x16": "elements have 8 bits in the destination";
        "b6x16_p32": "in the source, 16 elements of 6 bits are followed by 32 bits of padding";
        "b4x16_p64": "in the source, 16 elements of 4 bits are followed by 64 bits of padding";
        "warpx2::02_13": "the data goes to the lanes of warps 0 and 2, and of warps 1 and 3";
        "warpx2::01_23": "the data goes to the lanes of warps 0 and 1, and of warps 2 and 3";
        "warpx4": "the data goes to the lanes of each of the four warps";
        "128x256b 4x256b 128x128b 64x128b 32x128b": "the shape of the data: {0} rows of {1} bits";
        "ws": "weight-stationary: matrix B is kept, and used with one matrix A after another";
        "ashift": "the rows of matrix A move down by one, but for the last";
        "collector::a::fill collector::b::fill collector::b#::fill": "the matrix is put into the collector buffer";
        "collector::a::use collector::b::use collector::b#::use": "the matrix is read from the collector buffer, and stays there";
        "collector::a::lastuse collector::b::lastuse collector::b#::lastuse": "the matrix is read from the collector buffer for the last time";
        "collector::a::discard collector::b::discard collector::b#::discard": "the matrix is not kept in the collector buffer";
        "collector::*": "the use of the collector buffer for this matrix";
        "decompress::lut::b": "matrix B is decompressed by a table";
        "kind::f16": "the elements of A and B are `.f16` or `.bf16`";
        "kind::tf32": "the elements of A and B are `.tf32`";
        "kind::f8f6f4": "the elements of A and B are floating-point numbers of 8, 6 or 4 bits";
        "kind::i8": "the elements of A and B are integers of 8 bits";
        "kind::ti16": "the elements of A and B are integers of kind `ti16`";
        "kind::mxf8f6f4": "the elements of A and B are floating-point numbers of 8, 6 or 4 bits, with scales";
        "kind::mxf4 kind::mxf4nvf4": "the elements of A and B are floating-point numbers of 4 bits, with scales";
        "block_scale": "elements are multiplied by scales in tensor memory";
        "scale_vec::1X": "one scale for each row of A and column of B";
        "scale_vec::2X scale_vec::4X": "{0} scales for each row of A and column of B";
        "block16 block32": "one scale for each {0} elements along K";
        "sp sp::ordered_metadata": "some elements of A are 0 and not stored: metadata in tensor memory tells which";
    }
    "clusterlaunchcontrol.try_cancel" {
        "async": "the result is written asynchronously";
        "b128": "the result has 16 bytes";
    }
    "clusterlaunchcontrol.query_cancel" {
        "is_canceled": "whether a cluster was cancelled";
        "get_first_ctaid": "the coordinates of the first CTA of the cancelled cluster";
        "get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z": "one coordinate of the first CTA of the cancelled cluster";
        "pred": "the result is a predicate";
        "b32": "a coordinate has 4 bytes";
        "v4": "the result is a vector of four registers";
        "b128": "the answer of `clusterlaunchcontrol.try_cancel` has 16 bytes";
    }
    "tensormap.replace" {
        "tile": "the tensormap is one for tiles";
        "global_address": "the field: the address of the tensor in global memory";
        "rank": "the field: the number of dimensions, less 1";
        "box_dim": "the field: the size of the box in one dimension";
        "global_dim": "the field: the size of the tensor in one dimension";
        "global_stride": "the field: the distance in bytes between elements of one dimension";
        "element_stride": "the field: how many elements of one dimension there are from one that is read to the next";
        "elemtype": "the field: the type of the elements";
        "interleave_layout": "the field: how elements are interleaved";
        "swizzle_mode": "the field: how bytes are exchanged in shared memory, so that accesses meet fewer bank conflicts";
        "swizzle_atomicity": "the field: how many bytes are exchanged as one";
        "fill_mode": "the field: what elements outside of the tensor are read as";
        "b1024": "the tensormap has 128 bytes";
        "b32 b64": "the type of the new value";
        "alloc_large": "the allocation is of the large class: bit 21 of the word at byte 8 is set; no document that is public says what it is for";
        "alloc_small": "the allocation is of the small class: bit 21 of the word at byte 8 is cleared; no document that is public says what it is for";
        "alloc_same": "the class of the allocation stays: the address is written without a look at it";
    }
    "tensormap.query.alloc_class_large" {
        "b1024": "the tensormap has 128 bytes; the result is whether its allocation is of the large class";
        "global const param": "where the tensormap is";
        "shared::cta": "ptxas takes it; no document that is public describes it";
    }
    "tensormap.cp_fenceproxy" {
        "tensormap::generic": "the fence is from the generic to the tensormap proxy";
    }
    "multimem.ld_reduce" {
        "add": "the result is the sum of the values at all addresses";
        "min": "the result is the minimum of the values at all addresses";
        "max": "the result is the maximum of the values at all addresses";
        "and": "the result is the bitwise AND of the values at all addresses";
        "or": "the result is the bitwise OR of the values at all addresses";
        "xor": "the result is the bitwise XOR of the values at all addresses";
    }
    "multimem" {
        "acc::f16 acc::f32": "sums are accumulated as `.f{0}`";
        "async": "it is performed asynchronously";
    }
    "redux" {
        "add": "the result is the sum of the values of all threads of the mask";
        "min": "the result is the minimum of the values of all threads of the mask";
        "max": "the result is the maximum of the values of all threads of the mask";
        "and": "the result is the bitwise AND of the values of all threads of the mask";
        "or": "the result is the bitwise OR of the values of all threads of the mask";
        "xor": "the result is the bitwise XOR of the values of all threads of the mask";
        "abs": "absolute values are taken";
        "NaN": "the result is NaN if a value is NaN";
    }
    "shfl" {
        "up": "from the lane whose number is lower by an operand";
        "down": "from the lane whose number is higher by an operand";
        "bfly": "from the lane whose number differs in the bits of an operand";
        "idx": "from the lane with the number of an operand";
    }
    "vote" {
        "all": "whether the predicate is true in all threads";
        "any": "whether the predicate is true in some thread";
        "uni": "whether the predicate has one value in all threads";
        "ballot": "the mask of the threads in which the predicate is true";
        "pred": "the result is a predicate";
        "b32": "the result is a mask of 32 bits";
    }
    "shfl vote match redux elect" {
        "sync": "the thread waits until all threads of the mask, the last operand, execute it";
    }
    "mapa getctarank" {
        "u32 u64": "an address has {0} bits";
        "shared::cluster shared::cta shared": "the address is one of the shared memory of a cluster, not a generic one";
    }
    "barrier.cluster" {
        "release": "what its thread did before it is released to the threads of the cluster that wait";
        "acquire": "what threads did before their releasing arrivals is seen after it";
        "relaxed": "it releases nothing: a fence has to";
    }
    "fence" {
        "proxy": "orders accesses through different proxies";
        "alias": "between virtual addresses of one location";
        "async": "between the generic and the async proxy";
        "tensormap::generic": "from the generic to the tensormap proxy";
        "async::generic": "from the generic to the async proxy";
        "generic::fabric": "from the fabric to the generic proxy";
        "fabric::generic": "from the generic to the fabric proxy";
        "fabric::fabric": "between accesses of the fabric proxy";
        "global": "only for objects in global memory";
        "shared::cta": "only for objects in the shared memory of this thread's CTA";
        "shared::cluster": "only for objects in the shared memory of this thread's cluster";
        "sync_restrict::shared::cta": "only for objects in the shared memory of this thread's CTA";
        "sync_restrict::shared::cluster": "only for objects in the shared memory of this thread's cluster";
        "sync_restrict::shared::cluster::read": "only for reads by this thread of objects in the shared memory \
            of its cluster";
        "sync_restrict::read": "only for reads by this thread; no document that is public says through which proxies, nor with which \
            acquire it pairs";
        "mbarrier_init": "only for the `mbarrier.init` of this thread";
    }
    "wgmma tcgen05 setmaxnreg tensormap barrier.cluster" {
        "sync": "the thread waits until all threads of its warp execute it";
        "aligned": "all threads of the warp execute the same instruction";
    }
};

/// More instructions whose modifiers are described here: they mean what they mean in memory instructions.
const OF_MEMORY: [&str; 2] = ["activemask", "st.bulk"];

/// Whether the modifiers of the instruction with this head are described here.
fn is_described(head: &str) -> bool {
    let own = MEANINGS.iter().flat_map(|row| row.heads.split_whitespace());
    own.chain(OF_MEMORY).any(|known| begins(head, known))
}

/// Whether a name is this head, or begins with it.
fn begins(name: &str, head: &str) -> bool {
    name.strip_prefix(head).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The modifiers of an instruction, and what they mean.
#[derive(Default)]
pub struct ExplainedModifiers {
    pub parts: Vec<QualifierMeaning>,
    /// Those that affect only performance.
    pub hints: Vec<QualifierMeaning>,
}

/// What the modifiers of the instruction with these parts mean, whose section is `page`; none where they are not described.
pub fn explained(parts: &[&str], page: Section) -> ExplainedModifiers {
    let Some(length) = modifier::head(parts) else { return ExplainedModifiers::default() };
    let head = parts[..length].join(".");
    if !is_described(&head) {
        return ExplainedModifiers::default();
    }
    // `.sync` is a part of some heads.
    let sync = parts[1..length].iter().filter(|part| **part == "sync");
    let modifiers: Vec<&str> = sync.chain(&parts[length..]).copied().collect();
    of_head(&head, Opcode::Ld, &modifiers, page)
}

/// The same for a fence with these parts after its opcode.
pub(super) fn of_fence(parts: &[&str], page: Section) -> Vec<QualifierMeaning> {
    of_head("fence", Opcode::Fence, parts, page).parts
}

fn of_head(head: &str, opcode: Opcode, modifiers: &[&str], page: Section) -> ExplainedModifiers {
    let mut all = ExplainedModifiers::default();
    for (index, name) in modifiers.iter().enumerate() {
        let own = own(head, name).map(|text| said(page, text));
        let qualifier = Qualifier::named(name);
        let hint = own.is_none() && qualifier.is_some_and(|one| words::is_hint(one.kind()));
        let of_memory = || qualifier.map(|one| words::part(opcode, name, one, page));
        let Some(mut meaning) =
            own.or_else(of_memory).or_else(|| narrow(name).map(|text| said(page, text)))
        else {
            continue;
        };
        if let Some(role) = role(head, modifiers, index) {
            meaning.text = format!("{role}: {}", meaning.text).into();
        }
        let meaning = QualifierMeaning { name: (*name).to_owned(), said: meaning };
        if hint { &mut all.hints } else { &mut all.parts }.push(meaning);
    }
    all
}

/// What a modifier means after this head alone.
fn own(head: &str, name: &str) -> Option<String> {
    let row = MEANINGS.iter().find(|row| {
        row.heads.split_whitespace().any(|of| begins(head, of))
            && row.words.split_whitespace().any(|word| modifier::is(name, word))
    })?;
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let text = numbers.enumerate().fold(row.means.to_owned(), |text, (index, number)| {
        text.replace(&format!("{{{index}}}"), number)
    });
    Some(text)
}

/// What the modifier at this index is about, where its place tells.
fn role(head: &str, modifiers: &[&str], index: usize) -> Option<&'static str> {
    let of = |kind: QualifierKind| {
        let is = move |name: &&str| Qualifier::named(name).is_some_and(|one| one.kind() == kind);
        let all = (0..modifiers.len()).filter(move |&at| is(&modifiers[at]));
        all.collect::<Vec<_>>()
    };
    let spaces = of(QualifierKind::Space);
    if let ([to, from], true) =
        (&spaces[..], begins(head, "cp") || begins(head, "multimem") || begins(head, "tensormap"))
    {
        return (*to == index)
            .then_some("the destination")
            .or((*from == index).then_some("the source"));
    }
    if head == "wgmma.mma_async" {
        let is = |name: &str| own(head, name).is_none();
        let types = (0..modifiers.len()).filter(|&at| is(modifiers[at]));
        let place = types.into_iter().position(|at| at == index)?;
        return ["the result", "matrix A", "matrix B"].get(place).copied();
    }
    None
}

/// Describes a type of matrices and packed values, which no memory instruction has.
fn narrow(name: &str) -> Option<String> {
    if name == "pred" {
        return Some("the type: a predicate".to_owned());
    }
    let (one, count) = match name.split_once('x') {
        Some((one, count)) => (one, count.parse::<u8>().ok()?),
        None => (name, 1),
    };
    let (kind, bits) = one.split_at(one.find(|c: char| c.is_ascii_digit())?);
    let (what, size) = match kind {
        "e" | "ue" => {
            let (exponent, mantissa) = bits.split_once('m')?;
            let what = if kind == "e" {
                "a floating-point number"
            } else {
                "an unsigned floating-point number"
            };
            (what, format!("{exponent} bits of exponent and {mantissa} of mantissa"))
        }
        "u" => ("an unsigned integer", format!("{bits} bits")),
        "s" => match bits.split_once('f') {
            Some((before, after)) => (
                "a signed fixed-point number",
                format!("{before} bits before the point and {after} after it"),
            ),
            None => ("a signed integer", format!("{bits} bits")),
        },
        "b" => ("bits", bits.to_owned()),
        "f" => ("a floating-point number", format!("{bits} bits")),
        "tf" => ("a floating-point number", "32 bits, 10 of them of mantissa".to_owned()),
        _ => return None,
    };
    let packed = if count == 1 { String::new() } else { format!("{count} in one register, each ") };
    Some(match kind {
        "b" => format!("the type: {packed}{size} bit"),
        _ => format!("the type: {packed}{what} with {size}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::ptx::fences;
    use model::section;

    /// A word as a modifier may be: numbers for `#`, a rest for `*`.
    fn written(word: &str) -> String {
        word.replace('#', "8").replace("evict_*", "evict_first").replace('*', "rest")
    }

    #[test]
    fn every_modifier_of_these_instructions_is_explained() {
        let (mut explained, mut missing) = (0, Vec::new());
        for (head, words) in modifier::all() {
            if !is_described(&head) {
                continue;
            }
            for word in words {
                let name = written(word);
                let all = of_head(&head, Opcode::Ld, &[&name], section::INSTRUCTIONS);
                let said: Vec<_> = all.parts.iter().chain(&all.hints).collect();
                let [one] = &said[..] else {
                    missing.push(format!("{head}.{word}"));
                    continue;
                };
                let text = &one.said.text;
                assert!(text.len() > 10 && !text.ends_with('.'), "{head}.{word}: {text}");
                assert!(
                    !text.contains(['{', '}']) && !text.contains("  "),
                    "{head}.{word}: {text}"
                );
                assert!(!text.contains("does not cover"), "{head}.{word}: {text}");
                explained += 1;
            }
        }
        assert!(missing.is_empty(), "not explained: {missing:?}");
        assert!(explained > 500, "only {explained} were");
        for parts in fences::all().iter().map(|spelling| &spelling.parts) {
            assert_eq!(of_fence(parts, section::MEMBAR).len(), parts.len(), "{parts:?}");
        }
    }

    #[test]
    fn every_meaning_is_used() {
        let fences = fences::all().iter().flat_map(|spelling| &spelling.parts).copied();
        let fence = ("fence".to_owned(), fences.collect());
        let all: Vec<(String, Vec<&str>)> = modifier::all().chain([fence]).collect();
        for row in MEANINGS {
            for word in row.words.split_whitespace() {
                let name = written(word);
                let used = all.iter().any(|(head, words)| {
                    let parts: Vec<&str> = head.split('.').chain([name.as_str()]).collect();
                    let is_it = |one: &&str| modifier::is(&written(one), word);
                    row.heads.split_whitespace().any(|of| begins(head, of))
                        && (words.iter().any(is_it)
                            || head != "fence" && modifier::fault(&parts).is_none())
                });
                assert!(used, "no instruction of {} has .{word}", row.heads);
            }
        }
    }

    fn said_of(name: &str) -> Vec<String> {
        let parts: Vec<&str> = name.split('.').collect();
        let all = explained(&parts, section::INSTRUCTIONS);
        let all = all.parts.iter().chain(&all.hints);
        all.map(|one| format!(".{} {}", one.name, one.said.text)).collect()
    }

    #[test]
    fn a_place_tells_what_a_modifier_is_about() {
        let copy = said_of("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
        assert!(copy[0].starts_with(".shared::cluster the destination: "), "{copy:?}");
        assert!(copy[1].starts_with(".global the source: "), "{copy:?}");
        let multiply = said_of("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2");
        assert_eq!(multiply.len(), 6);
        assert!(multiply[2].contains("A has 64 rows and 32 columns"), "{multiply:?}");
        assert!(multiply[3].starts_with(".f32 the result: the type"), "{multiply:?}");
        assert!(
            multiply[5].contains("matrix B: the type: a floating-point number with 5 bits"),
            "{multiply:?}"
        );
        assert!(said_of("mbarrier.init.shared::cta.b64")[0].starts_with(".shared::cta the shared"));
        // The heads of these are not described.
        assert!(said_of("add.s32").is_empty() && said_of("no.such").is_empty());
    }
}
