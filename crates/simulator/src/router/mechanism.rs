//! The interface of a router mechanism: its methods, and its access to the network.

use crate::engine::random::Purpose;
use crate::engine::{EventQueue, Stream, Target, Timer};
use crate::named::Settings;
use crate::packet::{Extras, Packet};
use crate::queue::QueueLimit;
use selfclock_congestion::units::{Bytes, Rate, Time};

/// A mechanism's decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Forward it, including changes.
    Pass,
    /// Drop it; counted at the link it would have entered.
    Drop,
    /// The mechanism keeps or consumes it, and owns its out-of-line part.
    Taken,
}

/// How a scenario places a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// By their names.
    Links,
    /// By links; by default before all links that leave a router.
    LinksOrAllOfRouters,
    /// By nodes: before all links that leave them.
    Nodes,
}

/// A running mechanism.
pub trait Mechanism: Sized {
    /// Its settings.
    type Settings: Settings;
    /// How a scenario says where it stands.
    const PLACEMENT: Placement = Placement::Links;

    /// Creates the mechanism.
    fn new(settings: Self::Settings, site: &RouterSite<'_>) -> Self;

    /// A packet is about to enter `station.link`.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate;

    /// A timer entry comes up; call [`Station::timer_is_due`].
    fn on_timer(&mut self, _: &mut Station<'_>) {}

    /// Packets that it holds.
    fn held(&self) -> u64 {
        0
    }

    /// A surprising consequence of the settings, before a link whose largest data packets have this
    /// size.
    fn note(_: &Self::Settings, _: Option<Bytes>) -> Option<&'static str> {
        None
    }
}

/// A mechanism's view of the network at its creation.
#[derive(Clone, Copy, Debug)]
pub struct RouterSite<'a> {
    /// Indices of the links it precedes.
    pub stands_before: &'a [usize],
    /// Links, nodes and flows.
    pub layout: &'a Layout<'a>,
    /// Seed of the run.
    pub seed: u64,
    /// Index of the mechanism.
    pub router: usize,
}

impl RouterSite<'_> {
    /// The mechanism's own stream of random numbers.
    pub fn stream(&self) -> Stream {
        Stream::new(self.seed, Purpose::Router, self.router)
    }
}

/// A network as mechanisms see it.
#[derive(Clone, Debug)]
pub struct Layout<'a> {
    /// Number of nodes.
    pub nodes: usize,
    /// Links, in the order of the plan.
    pub links: Vec<LinkLayout>,
    /// Flows, in the order of the plan.
    pub flows: Vec<FlowLayout<'a>>,
}

/// A link as mechanisms see it.
#[derive(Clone, Copy, Debug)]
pub struct LinkLayout {
    /// Index of the node it leaves.
    pub from: usize,
    /// Rate at the beginning of the run.
    pub rate: Rate,
}

/// A flow as mechanisms see it.
#[derive(Clone, Copy, Debug)]
pub struct FlowLayout<'a> {
    /// Links that data takes.
    pub forward: &'a [usize],
    /// Links that acknowledgements take.
    pub reverse: &'a [usize],
    /// Differentiated services codepoint.
    pub dscp: u8,
    /// Header fields of its TCP connections; `None` for UDP.
    pub tcp: Option<TcpHeader>,
}

/// Fields of a flow's TCP headers that a router can read.
#[derive(Clone, Copy, Debug)]
pub struct TcpHeader {
    /// Window that the receiver advertises, bytes.
    pub window: u64,
    /// Shift count of the window field.
    pub window_shift: u8,
    /// Whether nothing can be read, because the transport header is encrypted.
    pub encrypted: bool,
}

/// Packets that wait for a link.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
    /// Limit of the queue.
    pub limit: QueueLimit,
    /// Size of the packet in service, if there is one.
    pub in_service: Option<u32>,
    /// Whether it takes one of the places.
    pub counts_packet_in_service: bool,
    /// The transmitter is idle: an arriving packet needs no place.
    pub is_idle: bool,
}

impl Waiting {
    /// Whether the queue has room for a packet of `size` bytes.
    pub fn has_room(&self, size: u16) -> bool {
        let counted = self.in_service.filter(|_| self.counts_packet_in_service);
        let (in_service, its_bytes) = counted.map_or((0, 0), |size| (1, u64::from(size)));
        let bytes = || self.bytes + its_bytes + u64::from(size);
        self.is_idle || self.limit.allows(self.packets + in_service + 1, bytes)
    }
}

/// The network around a mechanism.
pub trait Surroundings {
    /// Rate of a link's transmitter for a packet that arrives now.
    fn rate(&self, link: usize, now: Time) -> Rate;
    /// Packets that wait for a link now.
    fn waiting(&mut self, link: usize, now: Time) -> Waiting;
    /// Out-of-line parts of packets.
    fn extras(&mut self) -> &mut Extras;
    /// The flow of the plan to which a packet with this `hop` belongs, also for short connections.
    fn flow_at(&self, hop: u32) -> usize;
    /// The link of a `hop`.
    fn link_at(&self, hop: u32) -> usize;
    /// The first link on a flow's data path that satisfies `wanted`.
    fn first_link(&self, flow: usize, wanted: &dyn Fn(usize) -> bool) -> Option<usize>;
    /// The `hop` of the link at this position of a flow's ACK path.
    fn acknowledgement_hop(&self, flow: usize, position: u32) -> u32;
    /// Sends a packet past the mechanism `router`, into the link of its `hop`.
    fn release(&mut self, events: &mut EventQueue, now: Time, router: u32, packet: Packet);
    /// Numbers, counts and records an outgoing packet.
    fn count_sent(&mut self, now: Time, packet: &mut Packet);
    /// Counts and records a packet that has reached the mechanism it was addressed to.
    fn consume(&mut self, now: Time, packet: &Packet);
}

/// A mechanism's environment: the clock, the event queue, the network.
pub struct Station<'a> {
    /// Now.
    pub now: Time,
    /// To set timers.
    pub events: &'a mut EventQueue,
    /// Links, and the out-of-line parts of packets.
    pub network: &'a mut dyn Surroundings,
    /// Index of the mechanism.
    pub router: u32,
    /// The link that the packet is about to enter; `usize::MAX` for a timer.
    pub link: usize,
}

impl Station<'_> {
    /// Sends a packet that was held, or made by the mechanism, past this mechanism, into the link
    /// of its `hop`, which must be one of the mechanism's links.
    pub fn release(&mut self, packet: Packet) {
        self.network.release(self.events, self.now, self.router, packet);
    }

    /// Sends a packet made by the mechanism: [`Station::release`], counted and recorded as sent.
    pub fn send(&mut self, mut packet: Packet) {
        self.network.count_sent(self.now, &mut packet);
        self.release(packet);
    }

    /// Consumes a packet addressed to this mechanism.
    pub fn consume(&mut self, packet: &Packet) {
        self.network.consume(self.now, packet);
    }

    /// Sets the mechanism's timer, one of its own fields; [`Mechanism::on_timer`] is called when it
    /// comes up.
    pub fn set_timer(&mut self, timer: &mut Timer, deadline: Time) {
        timer.set(self.events, deadline, Target::Router(self.router));
    }

    /// Whether the timer is due now.
    pub fn timer_is_due(&mut self, timer: &mut Timer) -> bool {
        timer.due(self.events, self.now, Target::Router(self.router))
    }
}
