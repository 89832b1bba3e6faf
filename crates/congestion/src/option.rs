//! TCP options by which an algorithm speaks to its peer, and their bytes on the wire.

/// TCP option kind of the packet-pair paper (figures 2 and 3). It is RFC 1072's Echo, obsolete; on a real network
/// use 253 or 254 with an ExID (RFC 6994).
pub const PACKET_PAIR_KIND: u8 = 6;

/// Which segment of a pair carries the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairMark {
    /// "Packet Pair 1".
    First,
    /// "Packet Pair 2".
    Second,
}

/// The packet-pair option block of one segment: a mark, a reply, or both.
///
/// A mark is 4 bytes (kind, length, type 1 or 2, pair-id), as figures 2 and 3 of the paper print it. The layout of
/// the reply is lost in figure 4; here it is 6 bytes: kind, length, type 3, pair-id, 16-bit interval in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PacketPairOption {
    /// This segment is one of a pair with this pair-id.
    pub mark: Option<(PairMark, u8)>,
    /// The interval measured for this pair-id, in ticks.
    pub reply: Option<(u8, u16)>,
}

/// An option block that an algorithm puts on a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerOption {
    /// Packet-pair TCP.
    PacketPair(PacketPairOption),
}

/// Why option bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// The block ends inside an option.
    Truncated,
    /// The length byte does not fit the option's type.
    BadLength,
    /// The type byte is not 1, 2 or 3.
    UnknownType,
}

/// Longest option block that [`PeerOption::encode`] writes, in bytes (TCP allows 40).
pub const MAXIMUM_LENGTH: usize = 12;

impl PeerOption {
    /// Bytes on the wire, padded to a multiple of four with no-operation options.
    pub const fn wire_length(self) -> u32 {
        match self {
            Self::PacketPair(option) => {
                let mark = if option.mark.is_some() { 4 } else { 0 };
                let reply = if option.reply.is_some() { 6 } else { 0 };
                (mark + reply as u32).next_multiple_of(4)
            }
        }
    }

    /// Writes the option block; returns the buffer and the number of bytes used. The padding stands before the
    /// option that it aligns, as RFC 7323, appendix A, does with timestamps.
    pub fn encode(self) -> ([u8; MAXIMUM_LENGTH], usize) {
        const NO_OPERATION: u8 = 1;
        let mut bytes = [NO_OPERATION; MAXIMUM_LENGTH];
        let mut length = 0;
        let Self::PacketPair(option) = self;
        if let Some((mark, id)) = option.mark {
            let kind_of_mark = match mark {
                PairMark::First => 1,
                PairMark::Second => 2,
            };
            bytes[..4].copy_from_slice(&[PACKET_PAIR_KIND, 4, kind_of_mark, id]);
            length = 4;
        }
        if let Some((id, ticks)) = option.reply {
            let [high, low] = ticks.to_be_bytes();
            let reply = length + 2;
            bytes[reply..reply + 6].copy_from_slice(&[PACKET_PAIR_KIND, 6, 3, id, high, low]);
            length = reply + 6;
        }
        (bytes, length)
    }

    /// Reads the packet-pair options in a TCP option block; options of other kinds are passed over.
    /// `Ok(None)` if there is none.
    pub fn decode(mut bytes: &[u8]) -> Result<Option<Self>, OptionError> {
        let mut found = PacketPairOption::default();
        loop {
            match *bytes {
                [] | [0, ..] => break,
                [1, ref rest @ ..] => bytes = rest,
                [_] => return Err(OptionError::Truncated),
                [kind, length, ..] => {
                    let length = length as usize;
                    if length < 2 {
                        return Err(OptionError::BadLength);
                    }
                    let body = bytes.get(2..length).ok_or(OptionError::Truncated)?;
                    if kind == PACKET_PAIR_KIND {
                        match *body {
                            [1, id] => found.mark = Some((PairMark::First, id)),
                            [2, id] => found.mark = Some((PairMark::Second, id)),
                            [3, id, high, low] => found.reply = Some((id, u16::from_be_bytes([high, low]))),
                            [1..=3, ..] | [] => return Err(OptionError::BadLength),
                            _ => return Err(OptionError::UnknownType),
                        }
                    }
                    bytes = &bytes[length..];
                }
            }
        }
        Ok((found != PacketPairOption::default()).then_some(Self::PacketPair(found)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn option(mark: Option<(PairMark, u8)>, reply: Option<(u8, u16)>) -> PeerOption {
        PeerOption::PacketPair(PacketPairOption { mark, reply })
    }

    #[test]
    fn bytes_are_those_of_figures_2_and_3() {
        let (bytes, length) = option(Some((PairMark::First, 7)), None).encode();
        assert_eq!(&bytes[..length], &[6, 4, 1, 7]);
        let (bytes, length) = option(Some((PairMark::Second, 7)), None).encode();
        assert_eq!(&bytes[..length], &[6, 4, 2, 7]);
    }

    #[test]
    fn padded_lengths() {
        assert_eq!(option(Some((PairMark::First, 0)), None).wire_length(), 4);
        assert_eq!(option(None, Some((0, 4))).wire_length(), 8);
        assert_eq!(option(Some((PairMark::Second, 0)), Some((0, 4))).wire_length(), 12);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(mark in proptest::option::of((any::<bool>(), any::<u8>())), reply in any::<Option<(u8, u16)>>()) {
            prop_assume!(mark.is_some() || reply.is_some());
            let mark = mark.map(|(first, id)| (if first { PairMark::First } else { PairMark::Second }, id));
            let sent = option(mark, reply);
            let (bytes, length) = sent.encode();
            prop_assert_eq!(length as u32, sent.wire_length());
            prop_assert_eq!(PeerOption::decode(&bytes[..length]), Ok(Some(sent)));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = PeerOption::decode(&bytes);
        }
    }
}
