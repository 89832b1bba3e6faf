//! The links, queues and routers of a plan for packets that come from outside: real ones, or
//! recorded ones.
//!
//! A [`Simulation`](crate::Simulation) has hosts that send. [`Wires`] has none: whoever drives it
//! sends packets at the times of a clock of its own, and gets each of them back when it is at the
//! other end, or learns that it was dropped. The code that a packet passes through is the
//! simulation's, so the same arrivals meet the same drops, marks and departures.
//!
//! ```
//! use selfclock_simulator::plan::{dumbbell, mbps, ms, tcp};
//! use selfclock_simulator::wires::{Direction, Parcel, Wires};
//! use selfclock_congestion::units::{Duration, Time};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let plan = dumbbell(mbps(10), ms(40)).flow(tcp("reno")).plan()?;
//! let mut wires = Wires::new(&plan);
//! wires.send(Time::ZERO, 0, Direction::Forward, &Parcel::datagram(1500), "hello");
//! let left: Vec<_> = wires.advance(Time::ZERO + Duration::from_milliseconds(40)).collect();
//! assert_eq!(left[0].load, "hello");
//! assert!(left[0].fate.is_arrival());
//! # Ok(())
//! # }
//! ```

use crate::engine::{EventQueue, Target};
use crate::network::{Hosts, Network};
use crate::packet::{Extra, Flags, Packet};
use crate::plan::Plan;
use crate::record::packed::Packets;
use crate::record::packets::{Codepoint, PacketKind};
use crate::record::series::{LinkSample, Rows, Sampled};
use crate::record::summary::LinkSummary;
use crate::router::mechanism::Waiting;
use crate::subset::Subset;
use selfclock_congestion::units::{Rate, Time};

/// The route that a packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// For data.
    Forward,
    /// For ACKs.
    Backward,
}

/// A packet as the network sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// Size from the IP header on, bytes.
    pub size: u16,
    /// ECN field of the IP header.
    pub ecn: Codepoint,
    /// Kind, for records and for routers that look at it.
    pub kind: PacketKind,
    /// TCP: number of the first payload byte; of an acknowledgement, the next byte expected.
    pub sequence: u64,
    /// Payload, bytes.
    pub payload: u32,
    /// TCP: retransmission of an earlier segment.
    pub retransmission: bool,
    /// TCP: the receiver echoes a mark (ECN-Echo).
    pub ece: bool,
    /// TCP: the sender has reduced its window.
    pub cwr: bool,
    /// TCP ACK: the advertised window, bytes; `None` for that of the plan's receiver.
    pub receive_window: Option<u64>,
}

impl Parcel {
    /// A datagram of this size that is not ECN-capable.
    pub const fn datagram(size: u16) -> Self {
        Self {
            size,
            ecn: Codepoint::NotEct,
            kind: PacketKind::Datagram,
            sequence: 0,
            payload: 0,
            retransmission: false,
            ece: false,
            cwr: false,
            receive_window: None,
        }
    }

    fn flags(&self) -> Flags {
        let ecn = match self.ecn {
            Codepoint::NotEct => Flags::NONE,
            Codepoint::Ect0 => Flags::ECT_0,
            Codepoint::Ect1 => Flags::ECT_1,
            // The codepoint before the mark is lost on the wire, too.
            Codepoint::Ce => Flags::ECT_0.with(Flags::CE),
        };
        [(self.retransmission, Flags::RETRANSMISSION), (self.ece, Flags::ECE), (self.cwr, Flags::CWR)]
            .into_iter()
            .filter(|&(is_set, _)| is_set)
            .fold(ecn, |flags, (_, flag)| flags.with(flag))
    }
}

/// A packet's fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It reached its destination.
    Arrived {
        /// When.
        at: Time,
        /// ECN field of the IP header on arrival.
        ecn: Codepoint,
        /// TCP: a router advertises this window in place of the receiver's, bytes.
        receive_window: Option<u64>,
    },
    /// Dropped by a queue, a router or the wire of a link.
    Dropped,
}

impl Fate {
    /// Whether it reached its destination.
    pub fn is_arrival(&self) -> bool {
        matches!(self, Self::Arrived { .. })
    }
}

/// A packet that has left the network.
#[derive(Clone, Debug)]
pub struct Left<T> {
    /// Index of its flow.
    pub flow: usize,
    /// The route that it took.
    pub direction: Direction,
    /// Its fate.
    pub fate: Fate,
    /// Load sent with it.
    pub load: T,
}

/// Results of the network.
#[derive(Clone, Debug)]
pub struct WiresOutcome {
    /// Totals of every link.
    pub links: Vec<LinkSummary>,
    /// Series of every link.
    pub link_series: Sampled<LinkSample>,
    /// Every packet event, if the plan records them.
    pub packets: Packets,
    /// Events that were run.
    pub events: u64,
}

/// Activity of a link at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Packets that wait.
    pub queue_packets: u64,
    /// The same, bytes.
    pub queue_bytes: u64,
    /// Bytes of packets whose transmission has begun so far.
    pub bytes: u64,
    /// Packets dropped so far by the queue or lost on the wire.
    pub drops: u64,
    /// Packets marked so far.
    pub ce_marks: u64,
}

/// A packet under way.
#[derive(Clone, Debug)]
struct Carried<T> {
    direction: Direction,
    flow: u32,
    receive_window: Option<u64>,
    load: T,
}

/// Links, queues and routers, and the packets on them; each carries a payload of the driver's.
#[derive(Clone, Debug)]
pub struct Wires<T> {
    now: Time,
    network: Network,
    events: EventQueue,
    events_run: u64,
    /// By the index of a packet's out-of-line part: each has one, so a released part means a packet
    /// that has ended.
    carried: Vec<Option<Carried<T>>>,
    /// Packets that left the network since the last call of [`Wires::advance`].
    left: Vec<Left<T>>,
}

impl<T> Wires<T> {
    /// The idle network of a plan. Of its flows only the routes are used; the route of ACKs must
    /// not be empty.
    pub fn new(plan: &Plan) -> Self {
        let mut network = Network::new(plan, Hosts::Outside);
        network.extras.watch();
        Self {
            now: Time::ZERO,
            network,
            events: EventQueue::default(),
            events_run: 0,
            carried: Vec::new(),
            left: Vec::new(),
        }
    }

    /// A host sends a packet at `now`, which must not precede any earlier call. Everything due
    /// before must have been taken with [`Wires::advance`]: queues are as of the clock's time.
    pub fn send(&mut self, now: Time, flow: usize, direction: Direction, parcel: &Parcel, load: T) {
        debug_assert!(now >= self.now, "time goes on");
        self.now = now;
        let routes = self.network.flow_routes[flow];
        let hop = match direction {
            Direction::Forward => routes.forward,
            Direction::Backward => routes.reverse,
        };
        let receive_window = parcel.receive_window;
        let extra = self.network.extras.put(Extra { receive_window, ..Extra::default() });
        let place = extra as usize;
        if self.carried.len() <= place {
            self.carried.resize_with(place + 1, || None);
        }
        self.carried[place] = Some(Carried { direction, flow: flow as u32, receive_window, load });
        let packet = Packet {
            arrival: now,
            order: 0,
            sequence: parcel.sequence,
            sent: now,
            echo: Time::NEVER,
            flow: flow as u32,
            hop,
            payload: parcel.payload,
            size: parcel.size,
            kind: parcel.kind,
            flags: parcel.flags(),
            extra,
            number: 0,
        };
        self.network.send(&mut self.events, now, packet);
        self.take_released();
    }

    /// Time of the network's next event; `None` if there is none before the next packet is sent.
    pub fn next_event(&self) -> Option<Time> {
        self.events.peek().map(|event| event.time)
    }

    /// Runs everything up to `now`, and returns the packets that have left the network since the
    /// last call: arrivals in the order of time.
    pub fn advance(&mut self, now: Time) -> impl Iterator<Item = Left<T>> {
        while let Some((time, lane)) = self.events.peek_lane()
            && time <= now
        {
            self.now = time;
            match lane {
                Some(lane) => self.move_packet(lane),
                None if self.network.open_epochs(&mut self.events) => continue,
                None => self.run_timer(),
            }
            self.events_run += 1;
            self.take_released();
        }
        self.now = self.now.max(now);
        self.left.drain(..)
    }

    /// Takes the records of everything before the time of the last call, if the plan records
    /// packets.
    pub fn take_packets(&mut self) -> Packets {
        let now = self.now;
        self.network.recorder.as_mut().map_or_else(Packets::default, |recorder| recorder.take_before(now))
    }

    /// Current activity of a link.
    pub fn link_state(&mut self, link: usize) -> LinkState {
        let Network { links, samples, .. } = &mut self.network;
        let link = &mut links[link];
        let Waiting { packets: queue_packets, bytes: queue_bytes, .. } =
            link.backlog(self.now, &mut samples.links);
        let (bytes, drops, ce_marks) = link.counted(self.now);
        LinkState { rate: link.rate(self.now), queue_packets, queue_bytes, bytes, drops, ce_marks }
    }

    /// Ends it at `end`, which must not precede any earlier time.
    pub fn finish(mut self, end: Time) -> WiresOutcome {
        let links: Vec<_> = self.network.finish_links(end).map(|(_, link)| link).collect();
        let Network { samples, recorder, .. } = &mut self.network;
        let series = std::mem::replace(&mut samples.links, Rows::new(Subset::none(), 0, None));
        WiresOutcome {
            link_series: Sampled::new(vec![series], (0..links.len() as u32).collect()),
            links,
            packets: recorder.take().map_or_else(Packets::default, |recorder| recorder.finish()),
            events: self.events_run,
        }
    }

    fn move_packet(&mut self, lane: u32) {
        let packet = self.network.take_first(&mut self.events, lane);
        if let Some(at) = self.network.arrive(&mut self.events, &packet) {
            self.deliver(at, &packet);
        }
    }

    fn run_timer(&mut self) {
        match self.events.pop() {
            Some(Target::Transmitter(link)) => self.network.on_transmitter(&mut self.events, self.now, link),
            Some(Target::Router(router)) => self.network.on_router_timer(&mut self.events, self.now, router),
            _ => {}
        }
    }

    /// A packet is at its end. Those of routers have no payload.
    fn deliver(&mut self, at: Time, packet: &Packet) {
        let sent = self.carried.get(packet.extra as usize).and_then(Option::as_ref);
        let sent = sent.and_then(|carried| carried.receive_window);
        let receive_window = self.network.extras.get(packet.extra).receive_window;
        let receive_window = receive_window.filter(|_| receive_window != sent);
        self.leave(packet.extra, Fate::Arrived { at, ecn: packet.flags.codepoint(), receive_window });
        self.network.extras.release(packet.extra);
    }

    /// A payload still present when its slot is released did not arrive.
    fn take_released(&mut self) {
        let Self { network, carried, left, .. } = self;
        for place in network.extras.take_released() {
            leave(carried, left, place, Fate::Dropped);
        }
    }

    fn leave(&mut self, place: u32, fate: Fate) {
        leave(&mut self.carried, &mut self.left, place, fate);
    }
}

/// The packet whose out-of-line part has this slot leaves the network.
fn leave<T>(carried: &mut [Option<Carried<T>>], left: &mut Vec<Left<T>>, place: u32, fate: Fate) {
    if let Some(Carried { direction, flow, load, .. }) =
        carried.get_mut(place as usize).and_then(Option::take)
    {
        left.push(Left { flow: flow as usize, direction, fate, load });
    }
}
