//! Every packet, on request.

use selfclock_congestion::PeerOption;
use selfclock_congestion::units::Time;

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketEvent {
    /// An endpoint handed it to its first link.
    Send = 0,
    /// It was accepted by the queue of a link.
    Enqueue = 1,
    /// Its transmission on a link began.
    Transmit = 2,
    /// It was refused by the queue of a link.
    Drop = 3,
    /// It was lost on the wire of a link (random loss); the time is the end of its transmission.
    Lose = 4,
    /// It arrived at the endpoint it was sent to.
    Deliver = 5,
}

impl PacketEvent {
    /// Every event, in the order of its number.
    pub const ALL: [Self; 6] =
        [Self::Send, Self::Enqueue, Self::Transmit, Self::Drop, Self::Lose, Self::Deliver];

    /// Name used in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Enqueue => "enqueue",
            Self::Transmit => "transmit",
            Self::Drop => "drop",
            Self::Lose => "lose",
            Self::Deliver => "deliver",
        }
    }
}

/// Kind of packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketKind {
    /// TCP segment with payload.
    Data = 0,
    /// TCP acknowledgement without payload.
    Ack = 1,
    /// First packet of a handshake.
    Syn = 2,
    /// Answer to it.
    SynAck = 3,
    /// UDP datagram.
    Datagram = 4,
}

impl PacketKind {
    /// Every kind, in the order of its number.
    pub const ALL: [Self; 5] = [Self::Data, Self::Ack, Self::Syn, Self::SynAck, Self::Datagram];

    /// Name used in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Ack => "ack",
            Self::Syn => "syn",
            Self::SynAck => "syn-ack",
            Self::Datagram => "datagram",
        }
    }
}

/// Most SACK blocks on one acknowledgement (RFC 2018: four fit, three beside timestamps).
pub const MAXIMUM_SACK_BLOCKS: usize = 4;

/// One thing that happened to one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketRecord {
    /// When.
    pub time: Time,
    /// What.
    pub event: PacketEvent,
    /// Index of the link; `u32::MAX` for events at endpoints (send, deliver).
    pub link: u32,
    /// Index of the flow.
    pub flow: u32,
    /// Kind of packet.
    pub kind: PacketKind,
    /// It was sent before.
    pub retransmission: bool,
    /// Number that is unique to this packet on its way through the network.
    pub packet: u64,
    /// Sequence number of the first payload byte, counted from 0 (data, datagrams); else 0.
    pub sequence: u64,
    /// Payload, bytes.
    pub payload: u32,
    /// Size on the wire, bytes, from the IP header on.
    pub size: u32,
    /// Next payload byte expected, counted from 0 (acknowledgements); else 0.
    pub acknowledgement: u64,
    /// Advertised window, bytes (acknowledgements); `u64::MAX` without a limit.
    pub receive_window: u64,
    /// It carries the timestamps option: value and echo in microseconds.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks: first byte, byte after the last; counted from 0.
    pub sack: [(u64, u64); MAXIMUM_SACK_BLOCKS],
    /// How many of them are used.
    pub sack_blocks: u8,
    /// The algorithm's option.
    pub option: Option<PeerOption>,
}
