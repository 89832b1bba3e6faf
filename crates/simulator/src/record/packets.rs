//! Every packet, on request.

pub use crate::packet::{Codepoint, MAXIMUM_SACK_BLOCKS, PacketKind, ResourceDiscovery};

use crate::packet::{Extra, Flags, Packet};
use crate::plan::Plan;
use selfclock_congestion::PeerOption;
use selfclock_congestion::names;
use selfclock_congestion::units::Time;

names! {
    /// What happened to a packet.
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
        /// It was lost on the wire of a link (random loss); the time is the end of its transmission.
        Lose = 4 => "lose",
        /// It arrived at the endpoint it was sent to.
        Deliver = 5 => "deliver",
        /// The queue of a link marked it congestion-experienced as it arrived there.
        Mark = 6 => "mark",
    }
}

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
    /// Number of the connection: that of the flow, or for short connections the number of flows and those that started before
    /// it.
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
    /// Count of marked payload that the receiver reports, bytes modulo 2^32 (acknowledgements with accurate ECN); else 0.
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
    /// What a resource discovery packet carries.
    pub resource: Option<ResourceDiscovery>,
}

/// Most packet events that one run records: some 3 GB, and as much again as tables.
pub const MOST_RECORDS: usize = 20_000_000;

/// Collects packet records.
#[derive(Clone, Debug)]
pub struct PacketRecorder {
    records: Vec<PacketRecord>,
    overflowed: bool,
    /// Per flow: the advertised window, and whether segments carry timestamps.
    flows: Vec<(u64, bool)>,
    /// The flow of each short connection.
    connections: Vec<u32>,
}

impl PacketRecorder {
    /// An empty record of this plan.
    pub fn new(plan: &Plan) -> Self {
        let flows = plan.flows.iter().map(|flow| match flow.protocol.tcp() {
            Some(tcp) => (tcp.transport.advertised_window().get(), tcp.transport.timestamps),
            None => (0, false),
        });
        Self { records: Vec::new(), overflowed: false, flows: flows.collect(), connections: Vec::new() }
    }

    /// A short connection of this flow starts: the next number is its.
    pub fn on_connection_start(&mut self, flow: u32) {
        self.connections.push(flow);
    }

    /// Adds one thing that happened to one packet.
    pub fn add(&mut self, event: PacketEvent, time: Time, link: u32, packet: &Packet, extra: &Extra) {
        if self.records.len() == MOST_RECORDS {
            self.overflowed = true;
            return;
        }
        let short = (packet.flow as usize).checked_sub(self.flows.len());
        let flow = short.map_or(packet.flow, |connection| self.connections[connection]);
        let (receive_window, timestamps) = self.flows[flow as usize];
        let acknowledges = matches!(packet.kind, PacketKind::Ack | PacketKind::SynAck);
        // Microseconds, wrapping at 32 bits as the option does.
        let microseconds =
            |time: Time| if time == Time::NEVER { 0 } else { (time.picoseconds() / 1_000_000) as u32 };
        self.records.push(PacketRecord {
            time,
            event,
            link,
            flow,
            connection: packet.flow,
            kind: packet.kind,
            retransmission: packet.flags.has(Flags::RETRANSMISSION),
            ecn: packet.flags.codepoint(),
            ece: packet.flags.has(Flags::ECE),
            cwr: packet.flags.has(Flags::CWR),
            marked: if acknowledges { packet.payload } else { 0 },
            packet: u64::from(packet.number),
            sequence: if acknowledges { 0 } else { packet.sequence },
            payload: if acknowledges { 0 } else { packet.payload },
            size: u32::from(packet.size),
            acknowledgement: if acknowledges { packet.sequence } else { 0 },
            receive_window: match extra.receive_window {
                _ if !acknowledges => u64::MAX,
                Some(window) => window,
                None => receive_window,
            },
            timestamps: timestamps.then(|| (microseconds(packet.sent), microseconds(packet.echo))),
            sack: extra.sack,
            sack_blocks: extra.sack_blocks,
            option: extra.option,
            resource: extra.resource,
        });
    }

    /// There was more to record than [`MOST_RECORDS`]: what there is is not whole.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// The records in the order of time; those at equal times in the order in which they came to be.
    pub fn finish(mut self) -> Vec<PacketRecord> {
        // A link that is served ahead of the clock writes ahead, too. The sort is stable. A record is large: times and numbers
        // are sorted, and each record is then moved once.
        self.records.sort_by_cached_key(|record| record.time);
        self.records
    }
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
