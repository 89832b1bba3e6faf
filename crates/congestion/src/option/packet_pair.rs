//! The option of packet-pair TCP.

use super::{Block, EXPERIMENTAL_KINDS, OptionError, PairMark};
use crate::choice;

/// TCP option kind of the packet-pair paper (figures 2 and 3): RFC 1072's obsolete Echo.
pub const PACKET_PAIR_KIND: u8 = 6;
/// Experiment identifier of packet pair, our choice, not registered: "PP" in ASCII.
pub const PACKET_PAIR_EXID: [u8; 2] = *b"PP";
choice! {
    /// Kind of the packet-pair option on the wire.
    #[derive(Default)]
    PacketPairKind {
        /// Kind 6, as the paper prints it: for simulations, because kind 6 belongs to Echo.
        #[default]
        Six = "6",
        /// Kind 253 with an ExID, for real wires.
        Kind253 = "253",
        /// Kind 254 with an ExID, for real wires.
        Kind254 = "254",
    }
}

impl PacketPairKind {
    /// The experimental kind; `None` for the paper's.
    const fn experimental(self) -> Option<u8> {
        match self {
            Self::Six => None,
            Self::Kind253 => Some(EXPERIMENTAL_KINDS[0]),
            Self::Kind254 => Some(EXPERIMENTAL_KINDS[1]),
        }
    }

    /// Bytes before an option's type: kind, length, and the ExID of an experimental kind.
    const fn head(self) -> usize {
        if self.experimental().is_none() { 2 } else { 4 }
    }
}

/// The packet-pair option block of one segment: a mark, a reply, or both.
///
/// A mark is 4 bytes (kind, length, type 1 or 2, pair-id), as figures 2 and 3 of the paper print
/// it. The layout of the reply is lost in figure 4; here it is 6 bytes: kind, length, type 3,
/// pair-id, 16-bit interval in ticks. With an experimental kind each is 2 bytes longer: the ExID
/// follows the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PacketPairOption {
    /// Kind of both.
    pub kind: PacketPairKind,
    /// Position of this segment in the pair with this pair-id.
    pub mark: Option<(PairMark, u8)>,
    /// The interval measured for this pair-id, in ticks.
    pub reply: Option<(u8, u16)>,
}

impl PacketPairOption {
    pub(super) const fn wire_length(self) -> u32 {
        let head = self.kind.head() as u32;
        let mark = if self.mark.is_some() { head + 2 } else { 0 };
        let reply = if self.reply.is_some() { head + 4 } else { 0 };
        mark.next_multiple_of(4) + reply.next_multiple_of(4)
    }

    pub(super) fn write(self, block: &mut Block) {
        let mut put = |body: &[u8]| match self.kind.experimental() {
            None => block.put(PACKET_PAIR_KIND, &[], body),
            Some(kind) => block.put(kind, &PACKET_PAIR_EXID, body),
        };
        if let Some((mark, id)) = self.mark {
            let kind_of_mark = match mark {
                PairMark::First => 1,
                PairMark::Second => 2,
            };
            put(&[kind_of_mark, id]);
        }
        if let Some((id, ticks)) = self.reply {
            let [high, low] = ticks.to_be_bytes();
            put(&[3, id, high, low]);
        }
    }

    /// Reads a mark or a reply, at most one of each; `body` begins with the type.
    pub(super) fn read(&mut self, kind: PacketPairKind, body: &[u8]) -> Result<(), OptionError> {
        self.kind = kind;
        match *body {
            [1, id] => self.mark = Some((PairMark::First, id)),
            [2, id] => self.mark = Some((PairMark::Second, id)),
            [3, id, high, low] => self.reply = Some((id, u16::from_be_bytes([high, low]))),
            [1..=3, ..] | [] => return Err(OptionError::BadLength),
            _ => return Err(OptionError::UnknownType),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option::PeerOption;

    fn of_kind(kind: PacketPairKind, mark: Option<(PairMark, u8)>, reply: Option<(u8, u16)>) -> PeerOption {
        PeerOption::PacketPair(PacketPairOption { kind, mark, reply })
    }

    #[test]
    fn bytes_are_those_of_figures_2_and_3() {
        let (bytes, length) = of_kind(PacketPairKind::Six, Some((PairMark::First, 7)), None).encode();
        assert_eq!(&bytes[..length], &[6, 4, 1, 7]);
        let (bytes, length) = of_kind(PacketPairKind::Six, Some((PairMark::Second, 7)), None).encode();
        assert_eq!(&bytes[..length], &[6, 4, 2, 7]);
    }

    #[test]
    fn padded_lengths() {
        let (mark, reply) = (Some((PairMark::Second, 0)), Some((0, 4)));
        for (kind, lengths) in [
            (PacketPairKind::Six, [4, 8, 12]),
            (PacketPairKind::Kind253, [8, 8, 16]),
            (PacketPairKind::Kind254, [8, 8, 16]),
        ] {
            let options = [of_kind(kind, mark, None), of_kind(kind, None, reply), of_kind(kind, mark, reply)];
            assert_eq!(options.map(PeerOption::wire_length), lengths, "{kind:?}");
        }
    }

    /// RFC 6994, section 3: kind 253 or 254, length, 16-bit ExID, then what figures 2 and 3 print
    /// after the length.
    #[test]
    fn bytes_with_an_experiment_identifier() {
        let (bytes, length) =
            of_kind(PacketPairKind::Kind253, Some((PairMark::Second, 7)), Some((7, 0x0102))).encode();
        assert_eq!(&bytes[..length], &[1, 1, 253, 6, b'P', b'P', 2, 7, 253, 8, b'P', b'P', 3, 7, 1, 2]);
        let (bytes, length) = of_kind(PacketPairKind::Kind254, None, Some((7, 4))).encode();
        assert_eq!(&bytes[..length], &[254, 8, b'P', b'P', 3, 7, 0, 4]);
    }
}
