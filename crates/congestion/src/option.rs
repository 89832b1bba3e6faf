//! TCP options by which an algorithm speaks to its peer, and their bytes on the wire.

use crate::choice;

/// TCP option kind of the packet-pair paper (figures 2 and 3). It is RFC 1072's Echo, obsolete.
pub const PACKET_PAIR_KIND: u8 = 6;
/// Experiment identifier of packet pair, our choice, not registered: "PP" in ASCII.
pub const PACKET_PAIR_EXID: [u8; 2] = *b"PP";
/// The two option kinds for experiments (RFC 4727), which are followed by an ExID (RFC 6994).
pub const EXPERIMENTAL_KINDS: [u8; 2] = [253, 254];

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
    /// The experimental kind; `None` if it is the paper's.
    const fn experimental(self) -> Option<u8> {
        match self {
            Self::Six => None,
            Self::Kind253 => Some(EXPERIMENTAL_KINDS[0]),
            Self::Kind254 => Some(EXPERIMENTAL_KINDS[1]),
        }
    }

    /// Bytes before the type of an option: kind, length, and with an experimental kind the ExID.
    const fn head(self) -> usize {
        if self.experimental().is_none() { 2 } else { 4 }
    }
}

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
/// the reply is lost in figure 4; here it is 6 bytes: kind, length, type 3, pair-id, 16-bit interval in ticks. With an
/// experimental kind each is 2 bytes longer: the ExID follows the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PacketPairOption {
    /// Kind of both.
    pub kind: PacketPairKind,
    /// This segment is one of a pair with this pair-id.
    pub mark: Option<(PairMark, u8)>,
    /// The interval measured for this pair-id, in ticks.
    pub reply: Option<(u8, u16)>,
}

/// TCP option kind of the modified Swift Start: one of the two for experiments (RFC 4727), with an ExID (RFC 6994).
pub const SWIFT_START_KIND: u8 = 253;
/// Its experiment identifier, our choice, not registered: "SW" in ASCII.
pub const SWIFT_START_EXID: [u8; 2] = *b"SW";

/// The option of the modified Swift Start. The paper prints no layout (its section 3.2); this one is our choice: kind 253,
/// length, ExID, then one byte with the part in its two highest bits (1 first, 2 second, 3 reply) and the pair-id in the
/// other six; a reply goes on with the interval in microseconds, 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwiftStartOption {
    /// This segment is the first or the second of the pair with this pair-id, 0 to 63.
    Mark(PairMark, u8),
    /// The interval in which this pair arrived, in microseconds.
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
}

/// IPv4 option of a Quick-Start Request and of a Report of Approved Rate (RFC 4782, section 3.1).
pub const QUICK_START_IP_OPTION: u8 = 25;
/// TCP option of a Quick-Start Response (RFC 4782, section 4.2).
pub const QUICK_START_RESPONSE_KIND: u8 = 27;

/// What Quick-Start puts on a segment. Rates are codes of four bits: 0 is nothing, N is 40000·2^N bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickStartOption {
    /// In the IP header: the sender asks for a rate. Routers reduce it.
    Request {
        /// Rate that is asked for.
        rate: u8,
        /// "QS TTL": routers that approve decrement it, as all routers do with the TTL of the IP header.
        ttl: u8,
        /// "QS Nonce", 30 bits: a router that reduces the rate from K to N overwrites what belongs to the steps between.
        nonce: u32,
    },
    /// In the TCP header: what the receiver got.
    Response {
        /// Rate that was approved.
        rate: u8,
        /// "TTL Diff": TTL of the IP header less the QS TTL, modulo 256.
        ttl_difference: u8,
        /// The nonce as it arrived.
        nonce: u32,
    },
    /// In the IP header: the rate that the sender uses, for the routers.
    Report {
        /// Rate; 0: it does not use what was approved.
        rate: u8,
        /// The nonce of the request.
        nonce: u32,
    },
}

impl QuickStartOption {
    /// It is an option of the IP header, not of the TCP header.
    pub const fn is_in_ip_header(self) -> bool {
        !matches!(self, Self::Response { .. })
    }

    /// The eight bytes of the option.
    fn bytes(self) -> [u8; 8] {
        let (kind, third, fourth, nonce) = match self {
            Self::Request { rate, ttl, nonce } => (QUICK_START_IP_OPTION, rate & 15, ttl, nonce),
            Self::Report { rate, nonce } => (QUICK_START_IP_OPTION, 0x80 | rate & 15, 0, nonce),
            Self::Response { rate, ttl_difference, nonce } => {
                (QUICK_START_RESPONSE_KIND, rate & 15, ttl_difference, nonce)
            }
        };
        // "Bytes 5-8 contain a 30-bit QS Nonce and a 2-bit Reserved field".
        let [a, b, c, d] = (nonce << 2).to_be_bytes();
        [kind, 8, third, fourth, a, b, c, d]
    }
}

/// Bits of a Quick-Start nonce.
pub const QUICK_START_NONCE_BITS: u32 = 30;
/// Largest code of a Quick-Start rate: 1.31 Gbit/s.
pub const QUICK_START_LARGEST_RATE: u8 = 15;

/// Bits per second of a Quick-Start rate: "K*2^N" with K = 40000 (RFC 4782, section 3.1).
pub const fn quick_start_rate(code: u8) -> u64 {
    if code == 0 { 0 } else { 40_000 << (if code > 15 { 15 } else { code }) }
}

/// The bits of a nonce that must have survived if so much was approved: "the last 2K bits", two for each step from K
/// down to nothing.
pub const fn quick_start_nonce_mask(code: u8) -> u32 {
    (1 << (2 * if code > 15 { 15 } else { code })) - 1
}

/// Experiment identifier of XCP's header as a TCP option (kind [`SWIFT_START_KIND`]), our choice, not registered: "XC".
/// Katabi's header stands between IP and TCP; its fields are the same.
pub const XCP_EXID: [u8; 2] = *b"XC";

/// XCP's congestion header. Feedback counts in sixteenths of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XcpOption {
    /// On data: what the sender has, and what it may have more of. Routers lower the feedback.
    Request {
        /// "H_cwnd": its window, bytes.
        window: u32,
        /// "H_rtt": its round-trip time, microseconds; 0 before the first sample.
        rtt_us: u32,
        /// "H_feedback": change of the window.
        feedback: i32,
    },
    /// On acknowledgements: what the routers have left of it.
    Reply {
        /// Change of the window.
        feedback: i32,
    },
}

impl XcpOption {
    /// Feedback in bytes.
    pub fn bytes(feedback: i32) -> f64 {
        f64::from(feedback) / 16.0
    }

    /// The nearest feedback to so many bytes.
    pub fn feedback(bytes: f64) -> i32 {
        (bytes * 16.0) as i32
    }
}

/// An option block that an algorithm puts on a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerOption {
    /// Packet-pair TCP.
    PacketPair(PacketPairOption),
    /// The modified Swift Start.
    SwiftStart(SwiftStartOption),
    /// Quick-Start.
    QuickStart(QuickStartOption),
    /// XCP.
    Xcp(XcpOption),
}

/// Why option bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// The block ends inside an option.
    Truncated,
    /// The length byte does not fit the option's type.
    BadLength,
    /// The option's type is none that is known.
    UnknownType,
}

/// Longest option block that [`PeerOption::encode`] writes, in bytes (TCP allows 40).
pub const MAXIMUM_LENGTH: usize = 16;

const NO_OPERATION: u8 = 1;

impl PeerOption {
    /// Bytes on the wire, padded to a multiple of four with no-operation options.
    pub const fn wire_length(self) -> u32 {
        match self {
            Self::PacketPair(option) => {
                let head = option.kind.head() as u32;
                let mark = if option.mark.is_some() { head + 2 } else { 0 };
                let reply = if option.reply.is_some() { head + 4 } else { 0 };
                mark.next_multiple_of(4) + reply.next_multiple_of(4)
            }
            Self::SwiftStart(SwiftStartOption::Mark(..)) | Self::QuickStart(_) => 8,
            Self::SwiftStart(SwiftStartOption::Reply { .. }) => 12,
            Self::Xcp(XcpOption::Request { .. }) => 16,
            Self::Xcp(XcpOption::Reply { .. }) => 8,
        }
    }

    /// It is an option of the IP header, not of the TCP header.
    pub const fn is_in_ip_header(self) -> bool {
        matches!(self, Self::QuickStart(option) if option.is_in_ip_header())
    }

    /// Writes the option block; returns the buffer and the number of bytes used. The padding stands before the
    /// option that it aligns, as RFC 7323, appendix A, does with timestamps.
    pub fn encode(self) -> ([u8; MAXIMUM_LENGTH], usize) {
        let mut bytes = [NO_OPERATION; MAXIMUM_LENGTH];
        let [kind, exid @ ..] = [SWIFT_START_KIND, SWIFT_START_EXID[0], SWIFT_START_EXID[1]];
        let length = match self {
            Self::PacketPair(option) => return encode_packet_pair(option),
            Self::SwiftStart(SwiftStartOption::Mark(mark, id)) => {
                let part = if mark == PairMark::First { 1 << 6 } else { 2 << 6 };
                bytes[3..8].copy_from_slice(&[kind, 5, exid[0], exid[1], part | id & 63]);
                8
            }
            Self::SwiftStart(SwiftStartOption::Reply { id, microseconds }) => {
                bytes[3..8].copy_from_slice(&[kind, 9, exid[0], exid[1], 3 << 6 | id & 63]);
                bytes[8..12].copy_from_slice(&microseconds.to_be_bytes());
                12
            }
            Self::QuickStart(option) => {
                bytes[..8].copy_from_slice(&option.bytes());
                8
            }
            Self::Xcp(XcpOption::Request { window, rtt_us, feedback }) => {
                bytes[..4].copy_from_slice(&[kind, 16, XCP_EXID[0], XCP_EXID[1]]);
                bytes[4..8].copy_from_slice(&window.to_be_bytes());
                bytes[8..12].copy_from_slice(&rtt_us.to_be_bytes());
                bytes[12..16].copy_from_slice(&feedback.to_be_bytes());
                16
            }
            Self::Xcp(XcpOption::Reply { feedback }) => {
                bytes[..4].copy_from_slice(&[kind, 8, XCP_EXID[0], XCP_EXID[1]]);
                bytes[4..8].copy_from_slice(&feedback.to_be_bytes());
                8
            }
        };
        (bytes, length)
    }

    /// Reads an algorithm's option in a TCP option block, or in the options of an IPv4 header: the one that comes first,
    /// or all of packet-pair's. Options of other kinds are passed over. `Ok(None)` if there is none.
    pub fn decode(mut bytes: &[u8]) -> Result<Option<Self>, OptionError> {
        let mut found = PacketPairOption::default();
        loop {
            match *bytes {
                [] | [0, ..] => break,
                [NO_OPERATION, ref rest @ ..] => bytes = rest,
                [_] => return Err(OptionError::Truncated),
                [kind, length, ..] => {
                    let length = length as usize;
                    if length < 2 {
                        return Err(OptionError::BadLength);
                    }
                    let body = bytes.get(2..length).ok_or(OptionError::Truncated)?;
                    match kind {
                        PACKET_PAIR_KIND => decode_packet_pair(PacketPairKind::Six, body, &mut found)?,
                        253 if body.starts_with(&PACKET_PAIR_EXID) => {
                            decode_packet_pair(PacketPairKind::Kind253, &body[2..], &mut found)?;
                        }
                        254 if body.starts_with(&PACKET_PAIR_EXID) => {
                            decode_packet_pair(PacketPairKind::Kind254, &body[2..], &mut found)?;
                        }
                        SWIFT_START_KIND if body.starts_with(&SWIFT_START_EXID) => {
                            return decode_swift_start(&body[2..])
                                .map(|option| Some(Self::SwiftStart(option)));
                        }
                        SWIFT_START_KIND if body.starts_with(&XCP_EXID) => {
                            return decode_xcp(&body[2..]).map(|option| Some(Self::Xcp(option)));
                        }
                        QUICK_START_IP_OPTION | QUICK_START_RESPONSE_KIND => {
                            return decode_quick_start(kind, body)
                                .map(|option| Some(Self::QuickStart(option)));
                        }
                        _ => {}
                    }
                    bytes = &bytes[length..];
                }
            }
        }
        Ok((found.mark.is_some() || found.reply.is_some()).then_some(Self::PacketPair(found)))
    }
}

/// `body` follows the ExID.
fn decode_xcp(body: &[u8]) -> Result<XcpOption, OptionError> {
    let word = |place: usize| -> [u8; 4] { body[4 * place..4 * place + 4].try_into().unwrap_or_default() };
    match body.len() {
        4 => Ok(XcpOption::Reply { feedback: i32::from_be_bytes(word(0)) }),
        12 => Ok(XcpOption::Request {
            window: u32::from_be_bytes(word(0)),
            rtt_us: u32::from_be_bytes(word(1)),
            feedback: i32::from_be_bytes(word(2)),
        }),
        _ => Err(OptionError::BadLength),
    }
}

fn encode_packet_pair(option: PacketPairOption) -> ([u8; MAXIMUM_LENGTH], usize) {
    let mut bytes = [NO_OPERATION; MAXIMUM_LENGTH];
    let mut length = 0;
    // The padding stands before the option that it aligns.
    let mut put = |body: &[u8]| {
        let own = option.kind.head() + body.len();
        let end = length + own.next_multiple_of(4);
        let place = &mut bytes[end - own..end];
        match option.kind.experimental() {
            None => place[..2].copy_from_slice(&[PACKET_PAIR_KIND, own as u8]),
            Some(kind) => {
                place[..4].copy_from_slice(&[kind, own as u8, PACKET_PAIR_EXID[0], PACKET_PAIR_EXID[1]]);
            }
        }
        place[own - body.len()..].copy_from_slice(body);
        length = end;
    };
    if let Some((mark, id)) = option.mark {
        let kind_of_mark = match mark {
            PairMark::First => 1,
            PairMark::Second => 2,
        };
        put(&[kind_of_mark, id]);
    }
    if let Some((id, ticks)) = option.reply {
        let [high, low] = ticks.to_be_bytes();
        put(&[3, id, high, low]);
    }
    (bytes, length)
}

/// `body` begins with the type.
fn decode_packet_pair(
    kind: PacketPairKind,
    body: &[u8],
    found: &mut PacketPairOption,
) -> Result<(), OptionError> {
    found.kind = kind;
    match *body {
        [1, id] => found.mark = Some((PairMark::First, id)),
        [2, id] => found.mark = Some((PairMark::Second, id)),
        [3, id, high, low] => found.reply = Some((id, u16::from_be_bytes([high, low]))),
        [1..=3, ..] | [] => return Err(OptionError::BadLength),
        _ => return Err(OptionError::UnknownType),
    }
    Ok(())
}

/// `body` follows the ExID.
fn decode_swift_start(body: &[u8]) -> Result<SwiftStartOption, OptionError> {
    let &[part, ref rest @ ..] = body else { return Err(OptionError::BadLength) };
    let id = part & 63;
    match (part >> 6, rest) {
        (1, []) => Ok(SwiftStartOption::Mark(PairMark::First, id)),
        (2, []) => Ok(SwiftStartOption::Mark(PairMark::Second, id)),
        (3, &[a, b, c, d]) => {
            Ok(SwiftStartOption::Reply { id, microseconds: u32::from_be_bytes([a, b, c, d]) })
        }
        (0, _) => Err(OptionError::UnknownType),
        _ => Err(OptionError::BadLength),
    }
}

fn decode_quick_start(kind: u8, body: &[u8]) -> Result<QuickStartOption, OptionError> {
    let &[third, fourth, a, b, c, d] = body else { return Err(OptionError::BadLength) };
    let (rate, nonce) = (third & 15, u32::from_be_bytes([a, b, c, d]) >> 2);
    match (kind, third >> 4) {
        (QUICK_START_RESPONSE_KIND, _) => {
            Ok(QuickStartOption::Response { rate, ttl_difference: fourth, nonce })
        }
        (_, 0) => Ok(QuickStartOption::Request { rate, ttl: fourth, nonce }),
        (_, 8) => Ok(QuickStartOption::Report { rate, nonce }),
        _ => Err(OptionError::UnknownType),
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

    #[test]
    fn bytes_are_those_of_figures_2_and_3() {
        let (bytes, length) = option(Some((PairMark::First, 7)), None).encode();
        assert_eq!(&bytes[..length], &[6, 4, 1, 7]);
        let (bytes, length) = option(Some((PairMark::Second, 7)), None).encode();
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

    /// RFC 6994, section 3: kind 253 or 254, length, 16-bit ExID, then what figures 2 and 3 print after the length.
    #[test]
    fn bytes_with_an_experiment_identifier() {
        let (bytes, length) =
            of_kind(PacketPairKind::Kind253, Some((PairMark::Second, 7)), Some((7, 0x0102))).encode();
        assert_eq!(&bytes[..length], &[1, 1, 253, 6, b'P', b'P', 2, 7, 253, 8, b'P', b'P', 3, 7, 1, 2]);
        let (bytes, length) = of_kind(PacketPairKind::Kind254, None, Some((7, 4))).encode();
        assert_eq!(&bytes[..length], &[254, 8, b'P', b'P', 3, 7, 0, 4]);
    }

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

    /// RFC 4782, figures 1 to 3: function and rate share the third byte, the nonce fills the upper 30 bits.
    #[test]
    fn bytes_of_quick_start() {
        let encoded = |option| {
            let (bytes, length) = PeerOption::QuickStart(option).encode();
            bytes[..length].to_vec()
        };
        let request = QuickStartOption::Request { rate: 11, ttl: 77, nonce: 0x3fff_ffff };
        assert_eq!(encoded(request), [25, 8, 11, 77, 255, 255, 255, 0xfc]);
        let report = QuickStartOption::Report { rate: 11, nonce: 1 };
        assert_eq!(encoded(report), [25, 8, 0x8b, 0, 0, 0, 0, 4]);
        let response = QuickStartOption::Response { rate: 11, ttl_difference: 200, nonce: 1 };
        assert_eq!(encoded(response), [27, 8, 11, 200, 0, 0, 0, 4]);
    }

    #[test]
    fn rates_of_quick_start() {
        assert_eq!(quick_start_rate(0), 0);
        assert_eq!(quick_start_rate(1), 80_000);
        assert_eq!(quick_start_rate(15), 1_310_720_000);
        assert_eq!(quick_start_nonce_mask(0), 0);
        assert_eq!(quick_start_nonce_mask(1), 3);
        assert_eq!(quick_start_nonce_mask(15), 0x3fff_ffff);
    }

    /// The congestion header of the paper: H_cwnd, H_rtt, H_feedback, 32 bits each; on the way back the feedback alone.
    #[test]
    fn bytes_of_xcp() {
        let encoded = |option| {
            let (bytes, length) = PeerOption::Xcp(option).encode();
            bytes[..length].to_vec()
        };
        let request = XcpOption::Request { window: 0x0102_0304, rtt_us: 0x0506_0708, feedback: -2 };
        assert_eq!(encoded(request), [253, 16, b'X', b'C', 1, 2, 3, 4, 5, 6, 7, 8, 255, 255, 255, 254]);
        assert_eq!(encoded(XcpOption::Reply { feedback: 258 }), [253, 8, b'X', b'C', 0, 0, 1, 2]);
        assert_eq!(XcpOption::bytes(40), 2.5);
        assert_eq!([2.5, -2.5, 1e12, f64::NAN].map(XcpOption::feedback), [40, -40, i32::MAX, 0]);
    }

    /// Quick-Start asks and reports in the IP header, where routers see it, and answers in that of TCP (RFC 4782, sections 3.1
    /// and 3.2); the others are options of TCP.
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

    /// Fields that are too large are cut to their width, and never reach into their neighbours.
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
        // A rate code has four bits; what is larger counts as the largest.
        assert_eq!(quick_start_rate(200), quick_start_rate(15));
        assert_eq!(quick_start_nonce_mask(200), quick_start_nonce_mask(15));
    }

    #[test]
    fn blocks_that_are_no_options() {
        use OptionError::{BadLength, Truncated, UnknownType};
        for (bytes, expected) in [
            // Nothing, the end of the list, no-operations, and another's option, also an experimental one.
            (&[][..], Ok(None)),
            (&[0, 6, 4, 1, 7], Ok(None)),
            (&[1, 1, 1], Ok(None)),
            (&[8, 2, 1], Ok(None)),
            (&[253, 6, b'Z', b'Z', 0, 0], Ok(None)),
            (&[253, 8, b'S', b'X', 0, 0, 0, 0], Ok(None)),
            // One without a length, one that ends behind the block, and lengths that count less than themselves.
            (&[6], Err(Truncated)),
            (&[6, 4, 1], Err(Truncated)),
            (&[6, 0], Err(BadLength)),
            (&[6, 1], Err(BadLength)),
            // Packet pair: a body of another length than that of its type, none, and a type that is none.
            (&[6, 2], Err(BadLength)),
            (&[6, 3, 1], Err(BadLength)),
            (&[6, 5, 2, 7, 7], Err(BadLength)),
            (&[6, 4, 3, 7], Err(BadLength)),
            (&[6, 4, 4, 7], Err(UnknownType)),
            // With an ExID the same; an ExID of no experiment of ours is passed over.
            (&[253, 4, b'P', b'P'], Err(BadLength)),
            (&[254, 7, b'P', b'P', 2, 7, 7], Err(BadLength)),
            (&[254, 6, b'P', b'P', 4, 7], Err(UnknownType)),
            (&[254, 6, b'P', b'Q', 1, 7], Ok(None)),
            (&[254, 8, b'X', b'C', 0, 0, 0, 5], Ok(None)),
            // Swift Start: a part that is neither a mark nor a reply, and bodies of another length than theirs.
            (&[253, 5, b'S', b'W', 0x05], Err(UnknownType)),
            (&[253, 6, b'S', b'W', 0x45, 0], Err(BadLength)),
            (&[253, 4, b'S', b'W'], Err(BadLength)),
            // XCP: of no length that it has.
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
