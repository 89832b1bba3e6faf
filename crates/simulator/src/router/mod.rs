//! Mechanisms in routers: code that sees packets as they are about to enter a link.
//!
//! A mechanism can drop a packet, change it, hold it and release it later, and send packets of its own; it has a timer.
//! Packets stop where one stands, so it sees them in the order of time. Where a route begins at a host, so does the first
//! link: a mechanism there sees what that host sends.

pub mod ack_thinning;
pub mod csfq;
pub mod ficcrd;
pub mod forwarding_limit;
pub mod loss;
pub mod policer;
pub mod quick_start;
pub mod reordering;
pub mod tampering;
pub mod xcp;

use crate::engine::random::Purpose;
use crate::engine::{EventQueue, Stream, Target, Timer};
use crate::network::Network;
use crate::packet::Packet;
use crate::plan::{MechanismPlan, Plan};
use ack_thinning::AckThinning;
use csfq::Csfq;
use ficcrd::Ficcrd;
use forwarding_limit::ForwardingLimit;
use loss::LossOfKinds;
use policer::Policer;
use quick_start::QuickStart;
use reordering::Reordering;
use selfclock_congestion::units::Time;
use tampering::Tampering;
use xcp::Xcp;

/// What becomes of a packet that a mechanism has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on, as it now is.
    Pass,
    /// It is dropped; the link that it would have entered counts it.
    Drop,
    /// The mechanism keeps or consumes it, and answers for its out-of-line part.
    Taken,
}

/// What a mechanism works with: the clock, the event queue, the network.
pub struct Station<'a> {
    /// Now.
    pub now: Time,
    /// To set timers.
    pub events: &'a mut EventQueue,
    /// Links, and the out-of-line parts of packets.
    pub network: &'a mut Network,
    /// Index of the mechanism.
    pub router: u32,
    /// The link that the packet is about to enter; `usize::MAX` at a timer.
    pub link: usize,
}

impl Station<'_> {
    /// Puts a packet on its way that was held or that the mechanism has made: past this mechanism, into the link that the
    /// packet's `hop` stands for, which must be one that the mechanism stands before.
    pub fn release(&mut self, packet: Packet) {
        self.network.release(self.events, self.now, self.router, packet);
    }

    /// A packet of the mechanism's own enters the network: [`Station::release`], and it is counted and recorded as sent.
    pub fn send(&mut self, mut packet: Packet) {
        self.network.count_sent(self.now, &mut packet);
        self.release(packet);
    }

    /// Consumes a packet that was sent to this mechanism.
    pub fn consume(&mut self, packet: &Packet) {
        self.network.consume(self.now, packet);
    }

    /// Sets the mechanism's timer, a field of its own; when it comes up [`Mechanism::on_timer`] is called, which must ask
    /// [`Timer::due`].
    pub fn set_timer(&mut self, timer: &mut Timer, deadline: Time) {
        timer.set(self.events, deadline, Target::Router(self.router));
    }

    /// The timer is due now.
    pub fn timer_is_due(&mut self, timer: &mut Timer) -> bool {
        timer.due(self.events, self.now, Target::Router(self.router))
    }
}

/// A mechanism. Each is boxed as a whole, so that it can step aside while it works on the network.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Mechanism {
    /// Token-bucket policer.
    Policer(Policer),
    /// Loss of chosen kinds of packets.
    Loss(LossOfKinds),
    /// Holds some packets, so that others overtake them.
    Reordering(Reordering),
    /// The router's part of XCP.
    Xcp(Xcp),
    /// Core-stateless fair queueing.
    Csfq(Csfq),
    /// Fair Intelligent Congestion Control Resource Discovery.
    Ficcrd(Ficcrd),
    /// Thins acknowledgements.
    AckThinning(AckThinning),
    /// So many packets per second.
    ForwardingLimit(ForwardingLimit),
    /// The router's part of Quick-Start.
    QuickStart(QuickStart),
    /// Changes what it should only forward.
    Tampering(Tampering),
}

impl Mechanism {
    /// The mechanisms of a plan, and for each link which of them stand before it, in the order of the plan.
    pub fn all(plan: &Plan) -> (Vec<Option<Box<Self>>>, Vec<Vec<u32>>) {
        let mut gates = vec![Vec::new(); plan.links.len()];
        for (index, router) in plan.routers.iter().enumerate() {
            for &link in &router.links {
                gates[link].push(index as u32);
            }
        }
        let mechanisms = plan.routers.iter().enumerate().map(|(index, router)| {
            Some(Box::new(match &router.mechanism {
                MechanismPlan::Policer(policer) => Self::Policer(Policer::new(*policer, plan.links.len())),
                MechanismPlan::Loss(loss) => {
                    let stream = Stream::new(plan.seed, Purpose::Router, index);
                    Self::Loss(LossOfKinds::new(loss.clone(), stream))
                }
                MechanismPlan::Tampering(tampering) => {
                    let stream = Stream::new(plan.seed, Purpose::Router, index);
                    Self::Tampering(Tampering::new(*tampering, plan, stream))
                }
                MechanismPlan::Reordering(reordering) => {
                    let stream = Stream::new(plan.seed, Purpose::Router, index);
                    Self::Reordering(Reordering::new(*reordering, stream))
                }
                MechanismPlan::Xcp => Self::Xcp(Xcp::new(plan)),
                MechanismPlan::Csfq(csfq) => {
                    Self::Csfq(Csfq::new(*csfq, plan, Stream::new(plan.seed, Purpose::Router, index)))
                }
                MechanismPlan::Ficcrd(ficcrd) => Self::Ficcrd(Ficcrd::new(ficcrd, plan)),
                MechanismPlan::AckThinning(interval) => Self::AckThinning(AckThinning::new(*interval)),
                MechanismPlan::ForwardingLimit(limit) => Self::ForwardingLimit(ForwardingLimit::new(*limit)),
                MechanismPlan::QuickStart(quick_start) => {
                    Self::QuickStart(QuickStart::new(*quick_start, plan.links.len(), plan.seed, index))
                }
            }))
        });
        (mechanisms.collect(), gates)
    }

    /// A packet is about to enter `station.link`.
    pub fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        match self {
            Self::Policer(policer) => policer.on_packet(station, packet),
            Self::Loss(loss) => loss.on_packet(station, packet),
            Self::Reordering(reordering) => reordering.on_packet(station, packet),
            Self::Xcp(xcp) => xcp.on_packet(station, packet),
            Self::Csfq(csfq) => csfq.on_packet(station, packet),
            Self::Ficcrd(ficcrd) => ficcrd.on_packet(station, packet),
            Self::AckThinning(thinning) => thinning.on_packet(station, packet),
            Self::ForwardingLimit(limit) => limit.on_packet(station, packet),
            Self::QuickStart(quick_start) => quick_start.on_packet(station, packet),
            Self::Tampering(tampering) => tampering.on_packet(station, packet),
        }
    }

    /// Packets that it holds.
    pub fn held(&self) -> u64 {
        match self {
            Self::Policer(_)
            | Self::QuickStart(_)
            | Self::Loss(_)
            | Self::Xcp(_)
            | Self::Csfq(_)
            | Self::Tampering(_) => 0,
            Self::Ficcrd(ficcrd) => ficcrd.held(),
            Self::Reordering(reordering) => reordering.held(),
            Self::AckThinning(thinning) => thinning.held(),
            Self::ForwardingLimit(limit) => limit.held(),
        }
    }

    /// An entry of the mechanism's timer has come up.
    pub fn on_timer(&mut self, station: &mut Station<'_>) {
        match self {
            Self::Policer(_)
            | Self::QuickStart(_)
            | Self::Loss(_)
            | Self::Xcp(_)
            | Self::Csfq(_)
            | Self::Tampering(_) => {}
            Self::Ficcrd(ficcrd) => ficcrd.on_timer(station),
            Self::Reordering(reordering) => reordering.on_timer(station),
            Self::AckThinning(thinning) => thinning.on_timer(station),
            Self::ForwardingLimit(limit) => limit.on_timer(station),
        }
    }
}
