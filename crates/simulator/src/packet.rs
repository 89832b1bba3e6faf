//! A packet: one cache line; rare fields are out of line.

use crate::engine::{Due, memory};
use selfclock_congestion::PeerOption;
use selfclock_congestion::names;
use selfclock_congestion::units::Time;

names! {
    /// ECN field of the IP header (RFC 3168). The number of a codepoint is its bits.
    #[repr(u8)]
    pub enum Codepoint {
        /// The transport is not ECN-capable.
        NotEct = 0 => "not-ect",
        /// The transport responds to CE marks in proportion (RFC 9331).
        Ect1 = 1 => "ect(1)",
        /// The transport is ECN-capable.
        Ect0 = 2 => "ect(0)",
        /// Congestion experienced.
        Ce = 3 => "ce",
    }
}

names! {
    /// Kind of packet.
    #[repr(u8)]
    pub enum PacketKind {
        /// TCP segment with payload.
        Data = 0 => "data",
        /// TCP ACK without payload.
        Ack = 1 => "ack",
        /// First packet of a handshake.
        Syn = 2 => "syn",
        /// Answer to it.
        SynAck = 3 => "syn-ack",
        /// UDP datagram.
        Datagram = 4 => "datagram",
        /// Resource discovery packet of FICCRD, between routers.
        ResourceDiscovery = 5 => "resource-discovery",
        /// UDP datagram from the receiver of a flow back to its sender (QUIC).
        Reply = 6 => "reply",
    }
}

impl PacketKind {
    /// Whether it travels from the receiver of a flow's data to their sender.
    pub const fn returns(self) -> bool {
        matches!(self, Self::Ack | Self::SynAck | Self::Reply)
    }

    /// Whether its number is that of the next byte expected. A reply is a packet of its own
    /// connection and acknowledges nothing that is visible.
    pub const fn acknowledges(self) -> bool {
        matches!(self, Self::Ack | Self::SynAck)
    }

    /// Whether it carries payload of the flow.
    pub const fn carries_data(self) -> bool {
        matches!(self, Self::Data | Self::Datagram)
    }

    /// Name before its number, for readers: "segment 7", "ACK of 7".
    pub const fn word(self) -> &'static str {
        match self {
            Self::Data => "segment",
            Self::Ack => "ACK of",
            Self::Syn => "SYN, segment",
            Self::SynAck => "SYN-ACK of",
            Self::Datagram => "datagram",
            Self::ResourceDiscovery => "resource discovery packet",
            Self::Reply => "reply",
        }
    }
}

/// Maximum number of SACK blocks on one ACK (RFC 2018: four fit, three beside timestamps).
pub const MAXIMUM_SACK_BLOCKS: usize = 4;

/// No out-of-line part.
pub const NO_EXTRA: u32 = u32::MAX;

/// A packet in flight. 64 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Packet {
    /// Arrival at its next stop; while it waits in a managed queue, its arrival there.
    pub arrival: Time,
    /// Position among events at that time.
    pub order: u64,
    /// Data, datagram: number of the first payload byte. ACK: next byte expected.
    pub sequence: u64,
    /// Send time: the timestamp value of RFC 7323, exact.
    pub sent: Time,
    /// The echoed timestamp; [`Time::NEVER`] without one.
    pub echo: Time,
    /// Flow it belongs to.
    pub flow: u32,
    /// Position in the route table of the next link to take.
    pub hop: u32,
    /// Payload, bytes. An ACK has none: there it is what [`Packet::window`] and
    /// [`Packet::marked_bytes`] read.
    pub payload: u32,
    /// Size on the wire, bytes.
    pub size: u16,
    /// Kind.
    pub kind: PacketKind,
    /// Single bits.
    pub flags: Flags,
    /// Index of its out-of-line part, or [`NO_EXTRA`].
    pub extra: u32,
    /// Number of the packet, for records.
    pub number: u32,
}

const _: () = assert!(size_of::<Packet>() == 64, "one cache line");

impl Packet {
    /// ACK: the window of an autotuned receiver without accurate ECN feedback, bytes. Beside that
    /// feedback the window is out of line.
    #[inline(always)]
    pub const fn window(&self) -> Option<u64> {
        if self.flags.has(Flags::WINDOW) { Some(self.payload as u64) } else { None }
    }

    /// ACK: the receiver's count of marked payload, bytes modulo 2^32 (accurate ECN feedback; else
    /// zero).
    #[inline]
    pub const fn marked_bytes(&self) -> u32 {
        if self.flags.has(Flags::WINDOW) { 0 } else { self.payload }
    }
}

impl Due for Packet {
    #[inline]
    fn time(&self) -> Time {
        self.arrival
    }
    #[inline]
    fn order(&self) -> u64 {
        self.order
    }
}

/// Single bits of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// None.
    pub const NONE: Self = Self(0);
    /// Retransmission of an earlier segment.
    pub const RETRANSMISSION: Self = Self(1);
    /// IP: ECN-capable transport, ECT(0) of RFC 3168.
    pub const ECT_0: Self = Self(2);
    /// IP: CE-marked by a queue. Set beside ECT.
    pub const CE: Self = Self(4);
    /// TCP: the receiver echoes a CE mark (ECN-Echo).
    pub const ECE: Self = Self(8);
    /// TCP: the sender has reduced its window.
    pub const CWR: Self = Self(16);
    /// IP: ECN-capable transport with a response in proportion to the marks, ECT(1) of RFC 9331.
    pub const ECT_1: Self = Self(32);
    /// TCP: the segment ends what the application has written so far.
    pub const PUSH: Self = Self(64);
    /// An ACK shows the receive window in place of a count of marked bytes.
    pub const WINDOW: Self = Self(128);
    /// Either codepoint of an ECN-capable transport.
    pub const ECT: Self = Self(Self::ECT_0.0 | Self::ECT_1.0);

    /// Whether any of these is set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// These, too.
    #[inline]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Not these.
    #[inline]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// These bits, with this codepoint in the IP header.
    pub const fn with_codepoint(self, codepoint: Codepoint) -> Self {
        let others = self.without(Self(Self::ECT.0 | Self::CE.0));
        others.with(match codepoint {
            Codepoint::NotEct => Self::NONE,
            Codepoint::Ect0 => Self::ECT_0,
            Codepoint::Ect1 => Self::ECT_1,
            Codepoint::Ce => Self::CE,
        })
    }
    /// Codepoint in the IP header.
    pub const fn codepoint(self) -> Codepoint {
        if self.has(Self::CE) {
            Codepoint::Ce
        } else if self.has(Self::ECT_1) {
            Codepoint::Ect1
        } else if self.has(Self::ECT_0) {
            Codepoint::Ect0
        } else {
            Codepoint::NotEct
        }
    }
}

/// Rare parts of a packet: SACK blocks, the algorithm's option.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extra {
    /// SACK blocks: first byte, byte after the last.
    pub sack: [(u64, u64); MAXIMUM_SACK_BLOCKS],
    /// How many are used.
    pub sack_blocks: u8,
    /// The algorithm's option.
    pub option: Option<PeerOption>,
    /// ACK: the advertised window, bytes, if a router has changed it, or if the receiver is
    /// autotuned and its ACK has no other place for it. `None` otherwise.
    pub receive_window: Option<u64>,
    /// Contents of a resource discovery packet.
    pub resource: Option<ResourceDiscovery>,
    /// Label of core-stateless fair queueing: the flow's rate, bit/s.
    pub label: Option<f64>,
    /// When the network card of the host received it, if the card stamps exactly what it hands over
    /// later; [`Time::ZERO`] otherwise.
    pub card: Time,
    /// ACK: when the receiver received the segment that it answers, by its card's stamp if it has
    /// one; [`Time::ZERO`] if the sender does not use it.
    pub peer: Time,
}

/// From this many parts on their memory grows by an eighth and not to twice its size.
const MANY_EXTRAS: usize = 4096;

impl Extra {
    /// Whether it contains anything shown in packet records: labels are visible only to routers.
    pub fn is_recorded(&self) -> bool {
        self.sack_blocks > 0
            || self.option.is_some()
            || self.receive_window.is_some()
            || self.resource.is_some()
    }
}

/// Contents of a resource discovery packet of FICCRD.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResourceDiscovery {
    /// "APR": rate at which the flow's packets arrive at the domain, bit/s.
    pub rate: f64,
    /// "ER": rate that the network allows, bit/s.
    pub allowed: f64,
    /// "DIR": whether it is on its way back.
    pub backward: bool,
}

/// Storage for out-of-line parts; slots are reused, so a run allocates only while their number
/// grows.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    places: Vec<Extra>,
    free: Vec<u32>,
    /// Released parts in order, if requested.
    released: Option<Vec<u32>>,
    /// The bytes of foreign stacks' datagrams, indexed by slot.
    datagrams: Vec<Vec<u8>>,
}

impl Extras {
    /// Stores a part and returns its index.
    pub fn put(&mut self, extra: Extra) -> u32 {
        if let Some(index) = self.free.pop() {
            self.places[index as usize] = extra;
            return index;
        }
        if self.places.len() == self.places.capacity() {
            // By an eighth where they are many: they lie as close as the packets that have them.
            let many = self.places.len() >= MANY_EXTRAS;
            let more = if many { self.places.len() / 8 } else { self.places.len().max(8) };
            memory::reserve(&mut self.places, more);
        }
        self.places.push(extra);
        self.places.len() as u32 - 1
    }

    /// Stores the bytes of a datagram with an empty part, and returns its index. They last until
    /// the slot is reused.
    pub fn put_datagram(&mut self, bytes: &[u8]) -> u32 {
        let index = self.put(Extra::default());
        let room = self.datagrams.len().max(index as usize + 1);
        self.datagrams.resize_with(room, Vec::new);
        let datagram = &mut self.datagrams[index as usize];
        datagram.clear();
        datagram.extend_from_slice(bytes);
        index
    }

    /// The bytes of the datagram at this index; empty without one.
    pub fn datagram(&self, index: u32) -> &[u8] {
        self.datagrams.get(index as usize).map_or(&[], Vec::as_slice)
    }

    /// The part at this index; an empty one for [`NO_EXTRA`].
    #[inline]
    pub fn get(&self, index: u32) -> Extra {
        if index == NO_EXTRA { Extra::default() } else { self.places[index as usize] }
    }

    /// The part at this index, in place; `None` for [`NO_EXTRA`].
    #[inline]
    pub fn peek(&self, index: u32) -> Option<&Extra> {
        self.places.get(index as usize)
    }

    /// The part at this index, to change.
    pub fn get_mut(&mut self, index: u32) -> Option<&mut Extra> {
        self.places.get_mut(index as usize)
    }

    /// The out-of-line part of this packet, mutable; created if absent.
    pub fn of(&mut self, packet: &mut Packet) -> &mut Extra {
        if packet.extra == NO_EXTRA {
            packet.extra = self.put(Extra::default());
        }
        &mut self.places[packet.extra as usize]
    }

    /// Changes the part at this index.
    pub fn set(&mut self, index: u32, extra: Extra) {
        self.places[index as usize] = extra;
    }

    /// Frees the place.
    #[inline]
    pub fn release(&mut self, index: u32) {
        if index != NO_EXTRA {
            self.free.push(index);
            if let Some(released) = &mut self.released {
                released.push(index);
            }
        }
    }

    /// Records released parts from now on, for [`Extras::take_released`].
    pub fn watch(&mut self) {
        self.released = Some(Vec::new());
    }

    /// Packets released since the last call, if watched.
    pub fn take_released(&mut self) -> impl Iterator<Item = u32> {
        self.released.iter_mut().flat_map(|released| released.drain(..))
    }

    /// Places in use.
    pub fn in_use(&self) -> usize {
        self.places.len() - self.free.len()
    }
}
