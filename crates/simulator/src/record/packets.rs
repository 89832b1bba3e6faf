//! Every packet, on request.

pub use super::packed::{Iter, MOST_RECORDS, Packets};
pub use crate::packet::{Codepoint, MAXIMUM_SACK_BLOCKS, PacketKind, ResourceDiscovery};

use selfclock_congestion::PeerOption;
use selfclock_congestion::names;
use selfclock_congestion::units::Time;

names! {
    /// Packet events.
    #[repr(u8)]
    pub enum PacketEvent {
        /// An endpoint handed it to its first link.
        Send = 0 => "send",
        /// It was accepted by the queue of a link.
        Enqueue = 1 => "enqueue",
        /// Its transmission on a link began.
        Transmit = 2 => "transmit",
        /// It was refused by the queue of a link.
        Drop = 3 => "drop",
        /// It was lost on the wire of a link (random loss); the time is the end of its
        /// transmission.
        Lose = 4 => "lose",
        /// It arrived at the endpoint it was sent to.
        Deliver = 5 => "deliver",
        /// The queue of a link marked it congestion-experienced as it arrived there.
        Mark = 6 => "mark",
    }
}

/// One event of one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketRecord {
    /// When.
    pub time: Time,
    /// Kind of event.
    pub event: PacketEvent,
    /// Index of the link; `u32::MAX` for events at endpoints (send, deliver).
    pub link: u32,
    /// Index of the flow.
    pub flow: u32,
    /// Number of the connection: that of the flow, or for short connections the number of flows and
    /// those that started before it.
    pub connection: u32,
    /// Kind of packet.
    pub kind: PacketKind,
    /// It was sent before.
    pub retransmission: bool,
    /// ECN field of the IP header.
    pub ecn: Codepoint,
    /// TCP: the receiver echoes a mark.
    pub ece: bool,
    /// TCP: the sender has reduced its window.
    pub cwr: bool,
    /// Count of marked payload that the receiver reports, bytes modulo 2^32 (acknowledgements with
    /// accurate ECN); else 0.
    pub marked: u32,
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
    /// Contents of a resource discovery packet.
    pub resource: Option<ResourceDiscovery>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables store the number and look the name up.
    #[test]
    fn names_stand_at_their_numbers() {
        let events = PacketEvent::ALL.map(PacketEvent::name);
        assert_eq!(events, ["send", "enqueue", "transmit", "drop", "lose", "deliver", "mark"]);
        assert!(PacketEvent::ALL.iter().enumerate().all(|(number, &event)| event as usize == number));
        let codepoints = Codepoint::ALL.map(Codepoint::name);
        assert_eq!(codepoints, ["not-ect", "ect(1)", "ect(0)", "ce"], "by the bits of RFC 3168 and RFC 9331");
        assert!(Codepoint::ALL.iter().enumerate().all(|(bits, &codepoint)| codepoint as usize == bits));
    }
}
