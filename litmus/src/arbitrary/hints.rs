//! Qualifiers for performance alone: cache operators, eviction priorities, prefetch sizes and cache policies.

use super::RandomProgram;

/// As many rounds as any access has qualifiers to choose from.
pub const ROUNDS: usize = 21;

/// What an access of this order may say for performance alone. `wide`: it is a vector of 256 bits.
fn hints(order: &str, load: bool, wide: bool) -> Vec<&'static str> {
    let mut hints = vec![""];
    match (order, load) {
        ("weak", true) => hints.extend([".ca", ".cg", ".cs", ".lu", ".cv"]),
        ("weak", false) => hints.extend([".wb", ".cg", ".cs", ".wt"]),
        _ => {}
    }
    if load {
        hints.extend([".L2::64B", ".L2::128B", ".L2::256B"]);
    }
    if order != "volatile" {
        hints.extend([
            ".L1::evict_normal",
            ".L1::evict_unchanged",
            ".L1::evict_first",
            ".L1::evict_last",
            ".L1::no_allocate",
            ".L2::cache_hint",
            ".L1::evict_last.L2::cache_hint",
        ]);
        if load {
            hints.push(".L1::evict_first.L2::cache_hint.L2::128B");
        }
        if wide {
            hints.extend([
                ".L2::evict_normal",
                ".L2::evict_first",
                ".L2::evict_last",
                ".L1::evict_last.L2::evict_first.L2::cache_hint",
            ]);
        }
    }
    hints
}

/// The cell with a qualifier for performance; unchanged if it is not a load or store by a generic address.
fn with_hint(cell: &str, number: usize) -> String {
    let plain = || cell.to_owned();
    let Some((opcode, operands)) = cell.split_once(' ') else { return plain() };
    // Generic addresses of other state spaces, where fewer of them are allowed.
    if operands.contains("[g") {
        return plain();
    }
    let mut parts = opcode.split('.');
    let load = match parts.next() {
        Some("ld") => true,
        Some("st") => false,
        _ => return plain(),
    };
    let parts: Vec<&str> = parts.collect();
    let ordered = match parts.first() {
        Some(&("weak" | "volatile")) => 1,
        Some(&("relaxed" | "acquire" | "release")) => 2,
        _ => return plain(),
    };
    // Other state spaces have fewer of them.
    let typed = ["v4", "u8", "u16", "u32", "u64", "b8", "b16", "b32", "b64"];
    if parts.len() <= ordered || !typed.contains(&parts[ordered]) {
        return plain();
    }
    let all = hints(parts[0], load, parts[ordered] == "v4");
    let hint = all[number % all.len()];
    let policy = if hint.contains("cache_hint") { ", policy" } else { "" };
    let (order, ty) = (parts[..ordered].join("."), parts[ordered..].join("."));
    let opcode = if load { "ld" } else { "st" };
    format!("{opcode}.{order}{hint}.{ty} {operands}{policy}")
}

impl RandomProgram {
    /// The same program, its loads and stores with qualifiers for performance. Each of them has had all that there are
    /// once `round` has been every number below [`ROUNDS`].
    pub fn decorated(&self, round: usize) -> RandomProgram {
        let mut decorated = self.clone();
        let cells = decorated.threads.iter_mut().flat_map(|thread| &mut thread.cells);
        for (at, cell) in cells.enumerate() {
            *cell = with_hint(cell, round + at);
        }
        decorated
    }
}
