//! The interface of a router mechanism: what it implements, and what it may ask of the network
//! around it.

use crate::engine::random::Purpose;
use crate::engine::{EventQueue, Stream, Target, Timer};
use crate::named::Settings;
use crate::packet::{Extras, Packet};
use crate::queue::QueueLimit;
use selfclock_congestion::units::{Bytes, Rate, Time};

/// A mechanism's decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is forwarded, as it now is.
    Pass,
    /// It is dropped; the link that it would have entered counts it.
    Drop,
    /// The mechanism keeps or consumes it, and answers for its out-of-line part.
    Taken,
}

/// How a scenario says before which links a mechanism stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// By their names.
    Links,
    /// By their names; without them, before all links that leave a router.
    LinksOrAllOfRouters,
    /// By the names of nodes: before all links that leave them.
    Nodes,
}

/// A mechanism at work.
pub trait Mechanism: Sized {
    /// Its settings.
    type Settings: Settings;
    /// How a scenario says where it stands.
    const PLACEMENT: Placement = Placement::Links;

    /// The mechanism before the first packet.
    fn new(settings: Self::Settings, site: &RouterSite<'_>) -> Self;

    /// A packet is about to enter `station.link`.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate;

    /// An entry of the timer has come up; asks [`Station::timer_is_due`].
    fn on_timer(&mut self, _: &mut Station<'_>) {}

    /// Packets that it holds.
    fn held(&self) -> u64 {
        0
    }

    /// A consequence of the settings that can hardly be meant, before a link whose largest data
    /// packets have this size.
    fn note(_: &Self::Settings, _: Option<Bytes>) -> Option<&'static str> {
        None
    }
}

/// A mechanism's view of the network at its creation.
#[derive(Clone, Copy, Debug)]
pub struct RouterSite<'a> {
    /// Indices of the links before which it stands.
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

/// A network as mechanisms know it.
#[derive(Clone, Debug)]
pub struct Layout<'a> {
    /// Number of nodes.
    pub nodes: usize,
    /// Links, in the order of the plan.
    pub links: Vec<LinkLayout>,
    /// Flows, in the order of the plan.
    pub flows: Vec<FlowLayout<'a>>,
}

/// A link as mechanisms know it.
#[derive(Clone, Copy, Debug)]
pub struct LinkLayout {
    /// Index of the node it leaves.
    pub from: usize,
    /// Rate at the beginning of the run.
    pub rate: Rate,
}

/// A flow as mechanisms know it.
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
    /// Nothing: the transport header is encrypted.
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
}

impl Waiting {
    /// The queue has room for a packet of `size` bytes.
    pub fn has_room(&self, size: u16) -> bool {
        self.limit.allows(self.packets + 1, || self.bytes + u64::from(size))
    }
}

/// The network around a mechanism.
pub trait Surroundings {
    /// Rate of a link's transmitter for a packet that comes now.
    fn rate(&self, link: usize, now: Time) -> Rate;
    /// Packets that wait for a link now.
    fn waiting(&mut self, link: usize, now: Time) -> Waiting;
    /// Out-of-line parts of packets.
    fn extras(&mut self) -> &mut Extras;
    /// The flow of the plan that a packet with this `hop` belongs to; short connections belong to
    /// theirs.
    fn flow_at(&self, hop: u32) -> usize;
    /// The link that a `hop` stands for.
    fn link_at(&self, hop: u32) -> usize;
    /// The first link on the way of a flow's data that is wanted.
    fn first_link(&self, flow: usize, wanted: &dyn Fn(usize) -> bool) -> Option<usize>;
    /// The `hop` that stands for the link at this position of the way of a flow's acknowledgements.
    fn acknowledgement_hop(&self, flow: usize, position: u32) -> u32;
    /// Puts a packet on its way past the mechanism `router`, into the link that its `hop` stands
    /// for.
    fn release(&mut self, events: &mut EventQueue, now: Time, router: u32, packet: Packet);
    /// Numbers, counts and records a packet that is about to be sent.
    fn count_sent(&mut self, now: Time, packet: &mut Packet);
    /// Counts and records a packet that has reached the mechanism to which it was sent.
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
    /// The link that the packet is about to enter; `usize::MAX` at a timer.
    pub link: usize,
}

impl Station<'_> {
    /// Puts a packet on its way that was held or that the mechanism has made: past this mechanism,
    /// into the link that the packet's `hop` stands for, which must be one that the mechanism
    /// stands before.
    pub fn release(&mut self, packet: Packet) {
        self.network.release(self.events, self.now, self.router, packet);
    }

    /// A packet of the mechanism's own enters the network: [`Station::release`], and it is counted
    /// and recorded as sent.
    pub fn send(&mut self, mut packet: Packet) {
        self.network.count_sent(self.now, &mut packet);
        self.release(packet);
    }

    /// Consumes a packet that was sent to this mechanism.
    pub fn consume(&mut self, packet: &Packet) {
        self.network.consume(self.now, packet);
    }

    /// Sets the mechanism's timer, a field of its own; when it comes up [`Mechanism::on_timer`] is
    /// called.
    pub fn set_timer(&mut self, timer: &mut Timer, deadline: Time) {
        timer.set(self.events, deadline, Target::Router(self.router));
    }

    /// The timer is due now.
    pub fn timer_is_due(&mut self, timer: &mut Timer) -> bool {
        timer.due(self.events, self.now, Target::Router(self.router))
    }
}
