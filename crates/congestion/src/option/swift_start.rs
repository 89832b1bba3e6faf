//! The option of the modified Swift Start.

use super::{Block, EXPERIMENTAL_KINDS, OptionError, PairMark};

/// TCP option kind of the modified Swift Start: one of the two for experiments (RFC 4727), with an
/// ExID (RFC 6994).
pub const SWIFT_START_KIND: u8 = EXPERIMENTAL_KINDS[0];
/// Its experiment identifier, our choice, not registered: "SW" in ASCII.
pub const SWIFT_START_EXID: [u8; 2] = *b"SW";

/// The option of the modified Swift Start. The paper prints no layout (its section 3.2); this one
/// is our choice: kind 253, length, ExID, then one byte with the part in its two highest bits (1
/// first, 2 second, 3 reply) and the pair-id in the other six; a reply goes on with the interval in
/// microseconds, 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwiftStartOption {
    /// This segment is the first or the second of the pair with this pair-id, 0 to 63.
    Mark(PairMark, u8),
    /// The interval between the arrivals of this pair, in microseconds.
    Reply {
        /// Pair-id, 0 to 63.
        id: u8,
        /// The interval.
        microseconds: u32,
    },
}

impl SwiftStartOption {
    /// Number of pair-ids.
    pub const IDS: u8 = 64;

    pub(super) const fn wire_length(self) -> u32 {
        match self {
            Self::Mark(..) => 8,
            Self::Reply { .. } => 12,
        }
    }

    pub(super) fn write(self, block: &mut Block) {
        let (part, id, microseconds) = match self {
            Self::Mark(PairMark::First, id) => (1, id, None),
            Self::Mark(PairMark::Second, id) => (2, id, None),
            Self::Reply { id, microseconds } => (3, id, Some(microseconds.to_be_bytes())),
        };
        let [a, b, c, d] = microseconds.unwrap_or_default();
        let body = [part << 6 | id & 63, a, b, c, d];
        let length = if microseconds.is_some() { 5 } else { 1 };
        block.put(SWIFT_START_KIND, &SWIFT_START_EXID, &body[..length]);
    }

    /// `body` follows the ExID.
    pub(super) fn read(body: &[u8]) -> Result<Self, OptionError> {
        let &[part, ref rest @ ..] = body else { return Err(OptionError::BadLength) };
        let id = part & 63;
        match (part >> 6, rest) {
            (1, []) => Ok(Self::Mark(PairMark::First, id)),
            (2, []) => Ok(Self::Mark(PairMark::Second, id)),
            (3, &[a, b, c, d]) => Ok(Self::Reply { id, microseconds: u32::from_be_bytes([a, b, c, d]) }),
            (0, _) => Err(OptionError::UnknownType),
            _ => Err(OptionError::BadLength),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option::PeerOption;

    fn swift(option: SwiftStartOption) -> PeerOption {
        PeerOption::SwiftStart(option)
    }

    #[test]
    fn bytes_of_swift_start() {
        let (bytes, length) = swift(SwiftStartOption::Mark(PairMark::Second, 5)).encode();
        assert_eq!(&bytes[..length], &[1, 1, 1, 253, 5, b'S', b'W', 0x85]);
        // One segment of 1500 bytes at 49.5 Mbit/s: 242 µs.
        let (bytes, length) = swift(SwiftStartOption::Reply { id: 5, microseconds: 242 }).encode();
        assert_eq!(&bytes[..length], &[1, 1, 1, 253, 9, b'S', b'W', 0xc5, 0, 0, 0, 242]);
    }
}
