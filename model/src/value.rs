//! Values of registers and memory: numbers of up to 128 bits, as wide as PTX's widest scalar.

/// A register's bits, or those of a scalar in memory; bits above a type's own repeat its sign or
/// are 0.
pub type Value = u128;

/// The bits of a [`Value`].
pub const BITS: u16 = 128;

/// The value whose lowest `bits` bits are set, and no others.
pub fn low_bits(bits: u16) -> Value {
    if bits >= BITS { Value::MAX } else { (1 << bits) - 1 }
}

/// The same, for a length in bytes.
pub fn low_bytes(length: u32) -> Value {
    if length >= 16 { Value::MAX } else { (1 << (8 * length)) - 1 }
}

/// The low 64 bits.
pub fn low64(value: Value) -> u64 {
    u64::try_from(value & Value::from(u64::MAX)).expect("64 bits are left")
}

/// The number that these bytes are in memory.
pub fn little_endian(bytes: &[u8]) -> Value {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | Value::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_reach_up_to_all_bits() {
        assert_eq!(low_bits(1), 1);
        assert_eq!(low_bits(64), Value::from(u64::MAX));
        assert_eq!(low_bits(128), low_bytes(16));
        assert_eq!(low64(low_bits(70)), u64::MAX);
    }
}
