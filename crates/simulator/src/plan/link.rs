//! Links: rate, delay, queue, and imperfections of the wire.

use super::Name;
use crate::delivery_trace::DeliveryTrace;
use crate::queue::{DisciplinePlan, QueueLimit};
use crate::shared::Shared;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A one-way link: a FIFO queue, then a transmitter, then a delay line. It dereferences to its
/// [`LinkSettings`]; identical links share them until one of them is changed.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Name in records.
    pub name: Name,
    /// Index of the node it leaves.
    pub from: usize,
    /// Index of the node it enters.
    pub to: usize,
    /// Its properties.
    pub settings: Shared<LinkSettings>,
}

impl Deref for LinkPlan {
    type Target = LinkSettings;
    fn deref(&self) -> &LinkSettings {
        &self.settings
    }
}

impl DerefMut for LinkPlan {
    fn deref_mut(&mut self) -> &mut LinkSettings {
        &mut self.settings
    }
}

/// Properties of a link.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// Rate of the transmitter; the mean rate of its trace, if it has one.
    pub rate: Rate,
    /// Trace of its transmission opportunities, in place of a rate.
    pub trace: Option<Arc<DeliveryTrace>>,
    /// Size of the token bucket of a link that shapes with one, which fills at the rate and is full
    /// at the beginning: as much leaves at the peak rate after a pause.
    pub burst: Option<Bytes>,
    /// Rate at which packets leave that have their tokens; all at once if `None`.
    pub peak_rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Duration,
    /// Limit of the queue.
    pub queue: QueueLimit,
    /// Discipline of the queue.
    pub discipline: DisciplinePlan,
    /// Whether the packet in service occupies one of the queue's places (as in ns-2). If not, the
    /// limit counts waiting packets.
    pub counts_packet_in_service: bool,
    /// The most packets on the link at a time: waiting, in transmission and on the wire together. A
    /// packet that finds as many is dropped.
    pub total_limit: Option<u64>,
    /// Random loss on the wire, after the queue.
    pub loss: LossPlan,
    /// Each packet is delayed by an additional uniform random time in [0, jitter), without
    /// reordering.
    pub jitter: Duration,
    /// Coalescing time of the network card at the end of the link: packets reach the host together,
    /// this long after the first of them arrived (an absolute timer, such as RxAbsIntDelay of
    /// Intel's cards). Zero: each at once. All packets must end their way there.
    pub coalescing: Duration,
    /// Meaning of that card's time stamps.
    pub coalescing_stamps: CardStamps,
    /// Changes of rate and delay, in the order of time. A packet has those of the time at which its
    /// transmission begins, and nothing is reordered.
    pub changes: Vec<LinkChange>,
}

impl LinkPlan {
    /// A link with an unlimited drop-tail queue and no imperfections.
    pub fn new(name: &str, (from, to): (usize, usize), rate: Rate, delay: Duration) -> Self {
        Self { name: name.into(), from, to, settings: LinkSettings::new(rate, delay).into() }
    }

    /// A link with these settings.
    pub fn of(name: &str, (from, to): (usize, usize), settings: LinkSettings) -> Self {
        Self { name: name.into(), from, to, settings: settings.into() }
    }
}

impl LinkSettings {
    /// An unlimited drop-tail queue and no imperfections.
    pub fn new(rate: Rate, delay: Duration) -> Self {
        Self {
            rate,
            trace: None,
            burst: None,
            peak_rate: None,
            delay,
            queue: QueueLimit::Unlimited,
            discipline: DisciplinePlan::default(),
            counts_packet_in_service: false,
            total_limit: None,
            loss: LossPlan::None,
            jitter: Duration::ZERO,
            coalescing: Duration::ZERO,
            coalescing_stamps: CardStamps::Interrupt,
            changes: Vec::new(),
        }
    }
}

/// Meaning of the time stamps of a network card that coalesces. Algorithms read them that time
/// segments and ACKs: packet-pair, the modified Swift Start, ICIM with another clock than its
/// host's. The host processes a packet with the interrupt in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardStamps {
    /// When the packet was handed over.
    Interrupt,
    /// When it arrived.
    Arrival,
}

/// Rate and delay of a link from a given time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkChange {
    /// Time of the change.
    pub at: Time,
    /// Rate of the transmitter from then on.
    pub rate: Rate,
    /// Propagation delay from then on.
    pub delay: Duration,
}

/// Random loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossPlan {
    /// None.
    None,
    /// Each packet is lost with this probability, independently.
    Bernoulli(f64),
    /// A two-state Markov chain that steps once per packet.
    GilbertElliott {
        /// Probability to go from the good to the bad state.
        good_to_bad: f64,
        /// Probability to go from the bad to the good state.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
    /// The same chain in time: it stays in each state for an exponentially distributed time,
    /// whatever is sent. It begins in the good state.
    Bursts {
        /// Mean time in the good state, above zero.
        good: Duration,
        /// Mean time in the bad state, above zero.
        bad: Duration,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
}
