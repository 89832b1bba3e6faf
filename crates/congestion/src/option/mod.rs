//! TCP options between an algorithm and its peer, and their wire formats: one file each.

mod custom;
mod packet_pair;
mod quick_start;
mod swift_start;
mod xcp;

use core::fmt;

pub use custom::CustomOption;
pub use packet_pair::{PACKET_PAIR_EXID, PACKET_PAIR_KIND, PacketPairKind, PacketPairOption};
pub use quick_start::{
    QUICK_START_IP_OPTION, QUICK_START_LARGEST_RATE, QUICK_START_NONCE_BITS, QUICK_START_RESPONSE_KIND,
    QuickStartOption, quick_start_nonce_mask, quick_start_rate,
};
pub use swift_start::{SWIFT_START_EXID, SWIFT_START_KIND, SwiftStartOption};
pub use xcp::{XCP_EXID, XcpOption};

/// The two option kinds for experiments (RFC 4727), which are followed by an ExID (RFC 6994).
pub const EXPERIMENTAL_KINDS: [u8; 2] = [253, 254];

/// Position of a segment in a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairMark {
    /// "Packet Pair 1".
    First,
    /// "Packet Pair 2".
    Second,
}

/// An option block that an algorithm puts on a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerOption {
    /// Packet-pair TCP.
    PacketPair(PacketPairOption),
    /// The modified Swift Start.
    SwiftStart(SwiftStartOption),
    /// Quick-Start.
    QuickStart(QuickStartOption),
    /// XCP.
    Xcp(XcpOption),
    /// A user-defined algorithm.
    Custom(CustomOption),
}

/// Why option bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionError {
    /// The block ends inside an option.
    Truncated,
    /// The length byte does not fit the option's type.
    BadLength,
    /// The option's type is unknown.
    UnknownType,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the block ends inside an option",
            Self::BadLength => "the length of an option does not fit its type",
            Self::UnknownType => "an option is of an unknown type",
        })
    }
}

impl core::error::Error for OptionError {}

/// Longest option block that [`PeerOption::encode`] writes, in bytes (TCP allows 40).
pub const MAXIMUM_LENGTH: usize = 16;

const NO_OPERATION: u8 = 1;

/// An option block under construction.
struct Block {
    bytes: [u8; MAXIMUM_LENGTH],
    length: usize,
}

impl Block {
    /// Appends an option. Padding precedes the option that it aligns, as RFC 7323, appendix A, does
    /// with timestamps.
    fn put(&mut self, kind: u8, exid: &[u8], body: &[u8]) {
        let own = 2 + exid.len() + body.len();
        let end = self.length + own.next_multiple_of(4);
        let (head, rest) = self.bytes[end - own..end].split_at_mut(2);
        head.copy_from_slice(&[kind, own as u8]);
        let (before, after) = rest.split_at_mut(exid.len());
        before.copy_from_slice(exid);
        after.copy_from_slice(body);
        self.length = end;
    }
}

/// The options of a block, each as its kind and body, up to the end of the list or an error.
fn options(mut bytes: &[u8]) -> impl Iterator<Item = Result<(u8, &[u8]), OptionError>> {
    core::iter::from_fn(move || {
        while let [NO_OPERATION, rest @ ..] = bytes {
            bytes = rest;
        }
        let read = match *bytes {
            [] | [0, ..] => return None,
            [_] => Err(OptionError::Truncated),
            [_, 0 | 1, ..] => Err(OptionError::BadLength),
            [kind, length, ..] => {
                bytes.get(2..length.into()).map(|body| (kind, body)).ok_or(OptionError::Truncated)
            }
        };
        bytes = read.map_or(&[], |(_, body)| &bytes[2 + body.len()..]);
        Some(read)
    })
}

impl PeerOption {
    /// Bytes on the wire, padded to a multiple of four with no-operation options.
    pub const fn wire_length(self) -> u32 {
        match self {
            Self::PacketPair(option) => option.wire_length(),
            Self::SwiftStart(option) => option.wire_length(),
            Self::QuickStart(_) => 8,
            Self::Xcp(option) => option.wire_length(),
            Self::Custom(option) => option.wire_length(),
        }
    }

    /// Whether it belongs in the IP header instead of the TCP header.
    pub const fn is_in_ip_header(self) -> bool {
        matches!(self, Self::QuickStart(option) if option.is_in_ip_header())
    }

    /// Writes the option block; returns the buffer and the number of bytes used.
    pub fn encode(self) -> ([u8; MAXIMUM_LENGTH], usize) {
        let mut block = Block { bytes: [NO_OPERATION; MAXIMUM_LENGTH], length: 0 };
        match self {
            Self::PacketPair(option) => option.write(&mut block),
            Self::SwiftStart(option) => option.write(&mut block),
            Self::QuickStart(option) => option.write(&mut block),
            Self::Xcp(option) => option.write(&mut block),
            Self::Custom(option) => option.write(&mut block),
        }
        (block.bytes, block.length)
    }

    /// Decodes an algorithm's option from a TCP option block, or from the options of an IPv4
    /// header: the first one, or all of packet pair's. Options of other kinds are skipped.
    /// `Ok(None)` if there is none.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>, OptionError> {
        const FIRST: u8 = EXPERIMENTAL_KINDS[0];
        let mut found = PacketPairOption::default();
        for option in options(bytes) {
            let (kind, body) = option?;
            let (exid, rest) = body.split_at_checked(2).unwrap_or_default();
            match (kind, <[u8; 2]>::try_from(exid)) {
                (PACKET_PAIR_KIND, _) => found.read(PacketPairKind::Six, body)?,
                (FIRST, Ok(PACKET_PAIR_EXID)) => found.read(PacketPairKind::Kind253, rest)?,
                (254, Ok(PACKET_PAIR_EXID)) => found.read(PacketPairKind::Kind254, rest)?,
                (FIRST, Ok(SWIFT_START_EXID)) => {
                    return SwiftStartOption::read(rest).map(|option| Some(Self::SwiftStart(option)));
                }
                (FIRST, Ok(XCP_EXID)) => {
                    return XcpOption::read(rest).map(|option| Some(Self::Xcp(option)));
                }
                (QUICK_START_IP_OPTION | QUICK_START_RESPONSE_KIND, _) => {
                    return QuickStartOption::read(kind, body).map(|option| Some(Self::QuickStart(option)));
                }
                _ => {}
            }
        }
        Ok((found.mark.is_some() || found.reply.is_some()).then_some(Self::PacketPair(found)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn option(mark: Option<(PairMark, u8)>, reply: Option<(u8, u16)>) -> PeerOption {
        of_kind(PacketPairKind::Six, mark, reply)
    }

    fn of_kind(kind: PacketPairKind, mark: Option<(PairMark, u8)>, reply: Option<(u8, u16)>) -> PeerOption {
        PeerOption::PacketPair(PacketPairOption { kind, mark, reply })
    }

    fn swift(option: SwiftStartOption) -> PeerOption {
        PeerOption::SwiftStart(option)
    }

    /// Quick-Start requests and reports in the IP header, where routers see it, and responds in the
    /// TCP header (RFC 4782, sections 3.1 and 3.2); the others are TCP options.
    #[test]
    fn which_header_an_option_is_in() {
        let (rate, ttl, ttl_difference, nonce) = (1, 2, 3, 4);
        let request = QuickStartOption::Request { rate, ttl, nonce };
        let response = QuickStartOption::Response { rate, ttl_difference, nonce };
        for (option, in_ip_header) in [
            (PeerOption::QuickStart(request), true),
            (PeerOption::QuickStart(QuickStartOption::Report { rate, nonce }), true),
            (PeerOption::QuickStart(response), false),
            (swift(SwiftStartOption::Mark(PairMark::First, 1)), false),
            (PeerOption::Xcp(XcpOption::Reply { feedback: 0 }), false),
            (option(Some((PairMark::First, 0)), None), false),
        ] {
            assert_eq!(option.is_in_ip_header(), in_ip_header, "{option:?}");
        }
    }

    /// Values that are too large are truncated to their field, and never reach its neighbours.
    #[test]
    fn fields_keep_to_themselves() {
        let third = |option: PeerOption| option.encode().0[2];
        let nonce = 0;
        assert_eq!(
            third(PeerOption::QuickStart(QuickStartOption::Request { rate: 0xff, ttl: 0, nonce })),
            0x0f
        );
        assert_eq!(third(PeerOption::QuickStart(QuickStartOption::Report { rate: 0xff, nonce })), 0x8f);
        let id = 0xff;
        assert_eq!(swift(SwiftStartOption::Mark(PairMark::First, id)).encode().0[7], 0x7f);
        assert_eq!(swift(SwiftStartOption::Reply { id, microseconds: 0 }).encode().0[7], 0xff);
        // A rate code has four bits; larger values are capped.
        assert_eq!(quick_start_rate(200), quick_start_rate(15));
        assert_eq!(quick_start_nonce_mask(200), quick_start_nonce_mask(15));
    }

    #[test]
    fn blocks_that_are_no_options() {
        use OptionError::{BadLength, Truncated, UnknownType};
        for (bytes, expected) in [
            // An empty block, the end of the list, no-operations, and foreign options, including an
            // experimental one.
            (&[][..], Ok(None)),
            (&[0, 6, 4, 1, 7], Ok(None)),
            (&[1, 1, 1], Ok(None)),
            (&[8, 2, 1], Ok(None)),
            (&[253, 6, b'Z', b'Z', 0, 0], Ok(None)),
            (&[253, 8, b'S', b'X', 0, 0, 0, 0], Ok(None)),
            // A missing length, an option that exceeds the block, and lengths below their own size.
            (&[6], Err(Truncated)),
            (&[6, 4, 1], Err(Truncated)),
            (&[6, 0], Err(BadLength)),
            (&[6, 1], Err(BadLength)),
            // Packet pair: a body of the wrong length for its type, an empty one, and an unknown
            // type.
            (&[6, 2], Err(BadLength)),
            (&[6, 3, 1], Err(BadLength)),
            (&[6, 5, 2, 7, 7], Err(BadLength)),
            (&[6, 4, 3, 7], Err(BadLength)),
            (&[6, 4, 4, 7], Err(UnknownType)),
            // The same with an ExID; a foreign ExID is skipped.
            (&[253, 4, b'P', b'P'], Err(BadLength)),
            (&[254, 7, b'P', b'P', 2, 7, 7], Err(BadLength)),
            (&[254, 6, b'P', b'P', 4, 7], Err(UnknownType)),
            (&[254, 6, b'P', b'Q', 1, 7], Ok(None)),
            (&[254, 8, b'X', b'C', 0, 0, 0, 5], Ok(None)),
            // Swift Start: a part that is neither a mark nor a reply, and bodies of the wrong
            // length.
            (&[253, 5, b'S', b'W', 0x05], Err(UnknownType)),
            (&[253, 6, b'S', b'W', 0x45, 0], Err(BadLength)),
            (&[253, 4, b'S', b'W'], Err(BadLength)),
            // XCP: an invalid length.
            (&[253, 4, b'X', b'C'], Err(BadLength)),
            (&[253, 9, b'X', b'C', 0, 0, 0, 0, 0], Err(BadLength)),
            (&[253, 12, b'X', b'C', 0, 0, 0, 0, 0, 0, 0, 0], Err(BadLength)),
            // Behind another's option.
            (
                &[8, 3, 9, 253, 8, b'X', b'C', 0, 0, 0, 5],
                Ok(Some(PeerOption::Xcp(XcpOption::Reply { feedback: 5 }))),
            ),
        ] {
            assert_eq!(PeerOption::decode(bytes), expected, "{bytes:?}");
        }
    }

    fn any_mark() -> impl Strategy<Value = PairMark> {
        prop_oneof![Just(PairMark::First), Just(PairMark::Second)]
    }

    fn any_new_option() -> impl Strategy<Value = PeerOption> {
        let nonce = || 0..1_u32 << QUICK_START_NONCE_BITS;
        let rate = || 0..=QUICK_START_LARGEST_RATE;
        prop_oneof![
            (any_mark(), 0..SwiftStartOption::IDS)
                .prop_map(|(mark, id)| swift(SwiftStartOption::Mark(mark, id))),
            (0..SwiftStartOption::IDS, any::<u32>())
                .prop_map(|(id, microseconds)| swift(SwiftStartOption::Reply { id, microseconds })),
            (rate(), any::<u8>(), nonce())
                .prop_map(|(rate, ttl, nonce)| QuickStartOption::Request { rate, ttl, nonce })
                .prop_map(PeerOption::QuickStart),
            (rate(), any::<u8>(), nonce())
                .prop_map(|(rate, ttl_difference, nonce)| QuickStartOption::Response {
                    rate,
                    ttl_difference,
                    nonce
                })
                .prop_map(PeerOption::QuickStart),
            (rate(), nonce())
                .prop_map(|(rate, nonce)| QuickStartOption::Report { rate, nonce })
                .prop_map(PeerOption::QuickStart),
            any::<(u32, u32, i32)>()
                .prop_map(|(window, rtt_us, feedback)| XcpOption::Request { window, rtt_us, feedback })
                .prop_map(PeerOption::Xcp),
            any::<i32>().prop_map(|feedback| PeerOption::Xcp(XcpOption::Reply { feedback })),
        ]
    }

    proptest! {
        #[test]
        fn what_the_ways_to_begin_write_is_read_back(option in any_new_option()) {
            let (bytes, length) = option.encode();
            prop_assert_eq!(length as u32, option.wire_length());
            prop_assert_eq!(PeerOption::decode(&bytes[..length]), Ok(Some(option)));
        }

        #[test]
        fn what_is_written_is_read_back(
            kind in proptest::sample::select(&[PacketPairKind::Six, PacketPairKind::Kind253, PacketPairKind::Kind254][..]),
            mark in proptest::option::of((any_mark(), any::<u8>())),
            reply in any::<Option<(u8, u16)>>(),
        ) {
            prop_assume!(mark.is_some() || reply.is_some());
            let sent = of_kind(kind, mark, reply);
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
