//! The part common to all stacks: converts reports to [`Event`]s, and returns window and pacing.
//!
//! The terms in quotation marks are those of RFC 9002.

use selfclock_congestion::{
    Acknowledged, Bytes, Controller, EcnEcho, Event, LossDetected, MssChanged, RecoveryEnded, RestartCause,
    Resumed, Selection, Sent, Setup, SpuriousLoss, Time, Timeout,
};

use selfclock_congestion::entry::Marks;

use crate::flight::Flight;
use crate::round_trip::RoundTripTimes;
use crate::traces::{Trace, Traces};

/// "kMinimumWindow": "The RECOMMENDED value is 2 * max_datagram_size" (section 7.2).
const MINIMUM_WINDOW: u64 = 2;

/// "an initial congestion window of ten times the maximum datagram size (max_datagram_size), while
/// limiting the window to the larger of 14,720 bytes or twice the maximum datagram size" (section
/// 7.2), in packets with this UDP payload.
pub(crate) fn usual_initial_window(mtu: u64) -> f64 {
    let mtu = mtu as f64;
    (10.0 * mtu).min((2.0 * mtu).max(14_720.0)) / mtu
}

/// A congestion signal from a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Packets were declared lost.
    Lost {
        /// Send time of the newest of them.
        sent: Time,
        /// Their size, bytes.
        bytes: u64,
        /// Everything that was sent for longer than "kPersistentCongestionThreshold" probe timeouts
        /// was lost (section 7.6).
        persistent: bool,
    },
    /// The number of CE marks has grown.
    Marked {
        /// Send time of the newest packet acknowledged by the ACK frame.
        sent: Time,
    },
}

/// The congestion control of one path of a connection, between a stack and an algorithm.
///
/// A stack calls `on_...` at events, in order of time, and reads [`Driver::window`] and
/// [`Driver::pacing_rate`] before it sends. Sizes are whole UDP payloads, as QUIC counts them.
///
/// ```
/// use selfclock_congestion::{Duration, Selection, Setup, Time};
/// use selfclock_quic::driver::Driver;
///
/// let cubic = Selection::from_label("cubic+hystart++")?;
/// let setup = Setup { mss: selfclock_congestion::Bytes(1200), ..Setup::default() };
/// let mut driver = Driver::new(&cubic, setup, None);
/// assert_eq!(driver.window(), 12_000);
///
/// let (start, rtt) = (Time::ZERO, Duration::from_milliseconds(50));
/// for _ in 0..10 {
///     driver.on_packet_sent(start, 1200);
/// }
/// driver.on_packet_acked(start + rtt, start, 1200);
/// driver.on_acks_end(start + rtt, Some(9 * 1200), false);
/// assert_eq!(driver.window(), 13_200);
/// # Ok::<(), selfclock_congestion::registry::LabelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Driver {
    control: Control,
    /// Whether marks are reported as losses, because the algorithm does not respond to marks.
    marks_are_losses: bool,
    mss: u64,
    /// The initial window in packets, if it is not the usual one.
    initial_window: Option<f64>,
    /// Time of the last event.
    now: Time,
    /// When the last packet was sent.
    last_sent: Option<Time>,
    flight: Flight,
    round_trips: RoundTripTimes,
    batch: Batch,
    growth: Growth,
    peak: Peak,
    reduction: Reduction,
    app_limited: bool,
    acknowledged: u64,
    /// Smallest window, bytes.
    minimum: u64,
}

/// The algorithm, with its record if there is one.
#[derive(Clone, Debug)]
enum Control {
    Plain(Box<Controller>),
    Traced(Box<Trace>),
}

/// The packets acknowledged by one ACK frame.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// Bytes of packets that may grow the window.
    size: u64,
    /// Bytes of those sent before the last reduction: "Do not increase congestion_window in
    /// recovery period" (section B.5, which asks of each packet when it was sent).
    old: u64,
    newest_sent: Option<Time>,
}

/// The acknowledgement of the last ACK frame, if it has not reached the algorithm. Losses and marks
/// that a frame reveals come before its growth ("ProcessECN" and "OnPacketsLost" precede
/// "OnPacketsAcked", section A.7), and packets sent before the reduction then grow nothing. Stacks
/// report them after the frame, at the same time.
#[derive(Debug, Default)]
struct Growth {
    event: Option<Acknowledged>,
    /// It belongs to a copy, which stacks make for inspection.
    is_copy: bool,
}

impl Clone for Growth {
    fn clone(&self) -> Self {
        Self { event: self.event, is_copy: true }
    }
}

/// Largest flight of the current and of the last round trip, bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Peak {
    now: u64,
    before: u64,
    /// The round trip ends when a packet sent then is acknowledged.
    began: Time,
}

impl Peak {
    fn on_sent(&mut self, flight: u64) {
        self.now = self.now.max(flight);
    }

    /// A packet sent at `sent` is acknowledged, and `flight` remains.
    fn on_ack(&mut self, now: Time, sent: Time, flight: u64) {
        if sent >= self.began {
            *self = Self { now: flight, before: self.now, began: now };
        }
    }

    /// Whether the flight was at least half of this window. Stacks call a sender limited by the
    /// window when their pacer holds a packet, also where the application alone would not fill the
    /// window; "if it would have fully utilized the congestion window without pacing delay"
    /// (section 7.8) is not visible here. Our choice: Linux's test in slow start
    /// (`tcp_is_cwnd_limited`).
    const fn uses(&self, window: u64) -> bool {
        let peak = if self.now > self.before { self.now } else { self.before };
        peak.saturating_mul(2) >= window
    }
}

/// The last reduction of the window.
#[derive(Clone, Copy, Debug, Default)]
struct Reduction {
    /// "congestion_recovery_start_time": losses and marks of packets sent until then cause no
    /// further response.
    at: Option<Time>,
    /// Packets sent until then do not grow the window: `at`, unless the reduction was undone or was
    /// persistent congestion, which resets "congestion_recovery_start_time" (section B.8).
    grows_after: Option<Time>,
    /// Whether the algorithm waits for the end of the recovery.
    told: bool,
    /// Whether it was persistent congestion, which a stack may report packet by packet.
    restarted: bool,
}

impl Reduction {
    /// At this time, of which the algorithm awaits no end.
    const fn at(now: Time) -> Self {
        Self { at: Some(now), grows_after: Some(now), told: false, restarted: false }
    }
}

impl Control {
    fn controller(&self) -> &Controller {
        match self {
            Self::Plain(controller) => controller,
            Self::Traced(trace) => trace.controller(),
        }
    }

    fn tell(&mut self, event: impl Into<Event>) {
        match self {
            Self::Plain(controller) => controller.on(&event.into()),
            Self::Traced(trace) => trace.on(&event.into()),
        }
    }
}

impl Driver {
    /// A new path, recorded in `traces` if given. [`Setup::mss`] is the UDP payload of a full
    /// packet. Stacks pace ("Senders MUST either use pacing or limit such bursts", section 7.7),
    /// and no window restarts after a pause: slow start returns "only [...] after persistent
    /// congestion is declared" (section 7.3.1).
    pub fn new(selection: &Selection, setup: Setup, traces: Option<&Traces>) -> Self {
        let setup = Setup { paced: true, restart_after_idle: false, ..setup };
        let control = match traces {
            Some(traces) => Control::Traced(Box::new(Trace::new(selection, setup, traces.clone()))),
            None => Control::Plain(Box::new(selection.controller(setup))),
        };
        let measures_rates = control.controller().wants_rate_samples();
        let mss = setup.mss.get();
        let is_usual = setup.initial_window == usual_initial_window(mss);
        Self {
            control,
            marks_are_losses: selection.marks() == Marks::Ignored,
            mss,
            initial_window: if is_usual { None } else { Some(setup.initial_window) },
            now: Time::ZERO,
            last_sent: None,
            flight: Flight::new(measures_rates),
            round_trips: RoundTripTimes::default(),
            batch: Batch::default(),
            growth: Growth::default(),
            peak: Peak::default(),
            reduction: Reduction::default(),
            app_limited: false,
            acknowledged: 0,
            minimum: MINIMUM_WINDOW * mss,
        }
    }

    /// Bytes allowed in flight: at least two full packets, unless they became larger than that.
    pub fn window(&self) -> u64 {
        self.grown(|controller| controller.window().get()).max(self.minimum)
    }

    /// The algorithm's decision once the last ACK frame has reached it.
    fn grown<R>(&self, read: impl Fn(&Controller) -> R) -> R {
        let controller = self.control.controller();
        match &self.growth.event {
            None => read(controller),
            Some(event) => {
                let mut copy = controller.clone();
                copy.on_ack(event);
                read(&copy)
            }
        }
    }

    /// Initial value of [`Driver::window`], bytes: "If the maximum datagram size changes during the
    /// connection, the initial congestion window SHOULD be recalculated with the new size" (section
    /// 7.2).
    pub fn initial_window(&self) -> u64 {
        let bytes = (self.initial_window_packets() * self.mss as f64) as u64;
        bytes.max(MINIMUM_WINDOW * self.mss)
    }

    fn initial_window_packets(&self) -> f64 {
        self.initial_window.unwrap_or_else(|| usual_initial_window(self.mss))
    }

    /// Slow start threshold, bytes; `None` before the first.
    pub fn slow_start_threshold(&self) -> Option<u64> {
        let threshold = self.grown(|controller| controller.snapshot().ssthresh_segments);
        threshold.is_finite().then_some((threshold * self.mss as f64) as u64)
    }

    /// Pacing rate, bytes of UDP payload per second; `None` leaves pacing to the stack.
    pub fn pacing_rate(&self) -> Option<u64> {
        let pacing = self.grown(|controller| controller.decision().pacing)?;
        Some((pacing.bytes_per_second() as u64).max(1))
    }

    /// The algorithm, for inspection. The last ACK frame has not grown its window before the stack
    /// reports something else, or time passes.
    pub fn controller(&self) -> &Controller {
        self.control.controller()
    }

    /// The UDP payload of a full packet.
    pub const fn mtu(&self) -> u64 {
        self.mss
    }

    /// Bytes in flight, according to the stack's reports.
    pub const fn in_flight(&self) -> u64 {
        self.flight.bytes()
    }

    /// A packet that counts as in flight was sent.
    pub fn on_packet_sent(&mut self, now: Time, size: u64) {
        self.grow();
        self.note_pause(now);
        self.pass(now);
        self.put_in_flight(size);
    }

    /// Packets were sent at once, some of which may not count as in flight (ACK frames alone): the
    /// bytes in flight are known again at the next [`Driver::on_acks_end`], and until then limited
    /// to the window.
    pub fn on_burst_sent(&mut self, now: Time, size: u64) {
        self.grow();
        self.note_pause(now);
        self.pass(now);
        let room = self.window().saturating_sub(self.flight.bytes());
        self.put_in_flight(size.min(room));
    }

    /// Data are about to leave, and nothing is in flight: the connection was silent for lack of
    /// data if the stack said so with the last ACK, or if it did not send for a round trip since
    /// its last event. A sender that the window limits sends at once, or when its pacer allows.
    fn note_pause(&mut self, now: Time) {
        let Some(last_sent) = self.last_sent else { return };
        let quiet = now.since(self.now);
        let paced = self.round_trips.smoothed().unwrap_or_default();
        if self.flight.bytes() == 0 && (self.app_limited || quiet > paced) {
            let resumed = Resumed::new(now, now.since(last_sent), self.round_trips.probe_timeout());
            self.pass(now);
            self.control.tell(resumed);
        }
    }

    fn put_in_flight(&mut self, size: u64) {
        self.last_sent = Some(self.now);
        self.flight.sent(self.now, size);
        self.peak.on_sent(self.flight.bytes());
        self.tell_sent(size);
    }

    fn tell_sent(&mut self, size: u64) {
        if !self.control.controller().only_grows() && size > 0 {
            let mut event = Sent::new(self.now, Bytes(size), Bytes(self.flight.bytes()));
            event.app_limited = self.app_limited;
            self.control.tell(event);
        }
    }

    /// A packet left the flight without being acknowledged or lost: its packet number space was
    /// discarded.
    pub fn on_packet_discarded(&mut self, size: u64) {
        self.flight.correct(self.flight.bytes().saturating_sub(size));
    }

    /// A packet sent at `sent` is newly acknowledged. [`Driver::on_acks_end`] follows at the end of
    /// the ACK frame.
    pub fn on_packet_acked(&mut self, now: Time, sent: Time, size: u64) {
        self.grow();
        self.pass(now);
        self.flight.acknowledged(self.now, sent, size);
        if self.reduction.grows_after.is_some_and(|at| sent <= at) {
            self.batch.old += size;
        } else {
            self.batch.size += size;
        }
        self.batch.newest_sent = self.batch.newest_sent.max(Some(sent));
    }

    /// All packets of an ACK frame have been reported. `in_flight`: bytes still in flight, if the
    /// stack reports them; `app_limited`: the application had nothing to send, although the window
    /// had room.
    pub fn on_acks_end(&mut self, now: Time, in_flight: Option<u64>, app_limited: bool) {
        self.grow();
        self.pass(now);
        self.app_limited = app_limited;
        if let Some(in_flight) = in_flight {
            self.flight.correct(in_flight);
        }
        let Batch { size, old, newest_sent } = core::mem::take(&mut self.batch);
        let Some(newest_sent) = newest_sent else { return };
        let rtt = self.round_trips.sample(newest_sent, self.now);
        let limited = !app_limited && self.peak.uses(self.window());
        let advanced = |driver: &mut Self, size| {
            driver.acknowledged += size;
            let mut event = Acknowledged::new(driver.now, Bytes(size));
            event.acknowledged_total = Bytes(driver.acknowledged);
            // Lost data leaves in new packets: the round trip is over when the current flight is
            // acknowledged.
            event.sent_total = Bytes(driver.acknowledged + driver.flight.bytes());
            event.smoothed_rtt = driver.round_trips.smoothed();
            event.minimum_rtt = driver.round_trips.minimum();
            event.in_flight = Bytes(driver.flight.bytes());
            event.window_limited = limited;
            event
        };
        // A frame that ends a recovery is two events: packets sent before the reduction, and those
        // sent after it.
        let recovering = size == 0;
        if old > 0 && !recovering {
            let mut event = advanced(self, old);
            event.recovering = true;
            self.control.tell(event);
        }
        self.leave_recovery(newest_sent);
        let mut event = advanced(self, if recovering { old } else { size });
        (event.recovering, event.rtt) = (recovering, rtt);
        event.rate = self.flight.rate_sample(self.round_trips.minimum(), app_limited);
        let may_grow = !recovering && !self.flight.measures_rates();
        self.growth = Growth { event: Some(event), is_copy: false };
        if !may_grow {
            self.grow();
        }
        self.peak.on_ack(self.now, newest_sent, self.flight.bytes());
        self.flight.forget_before(newest_sent, self.round_trips.longest());
    }

    /// The last ACK frame revealed no congestion, or the response to it is done.
    fn grow(&mut self) {
        if let Some(event) = self.growth.event.take() {
            self.control.tell(event);
            let window = self.control.controller().window().get();
            self.minimum = self.minimum.max(window.min(MINIMUM_WINDOW * self.mss));
        }
    }

    /// "A recovery period ends and the sender enters congestion avoidance when a packet sent during
    /// the recovery period is acknowledged" (section 7.3.2).
    fn leave_recovery(&mut self, newest_sent: Time) {
        if self.reduction.at.is_some_and(|at| newest_sent > at) && core::mem::take(&mut self.reduction.told) {
            self.control.tell(RecoveryEnded::new(self.now));
        }
    }

    /// The stack signals congestion. The window is reduced once per round trip: "No
    /// further reductions in the congestion window are made in response to" what was sent before
    /// the last one (section 7.3.2).
    pub fn on_congestion(&mut self, now: Time, congestion: Congestion) {
        if now > self.now {
            self.grow();
        }
        self.pass(now);
        let (Congestion::Lost { sent, .. } | Congestion::Marked { sent }) = congestion;
        let is_new = self.reduction.at.is_none_or(|at| sent > at);
        let restarts = matches!(congestion, Congestion::Lost { persistent: true, .. });
        let revealing =
            if is_new || restarts && !self.reduction.restarted { self.growth.event.take() } else { None };
        self.respond(congestion, is_new);
        if let Some(mut event) = revealing {
            event.recovering = true;
            self.growth.event = Some(event);
        }
        self.grow();
    }

    fn respond(&mut self, congestion: Congestion, is_new: bool) {
        let flight_size = self.flight_size();
        match congestion {
            Congestion::Lost { sent, bytes, persistent } => {
                self.flight.lost(sent, bytes);
                if persistent && (is_new || !self.reduction.restarted) {
                    self.restart(flight_size, !is_new);
                } else if is_new {
                    self.reduce(flight_size, bytes);
                }
            }
            Congestion::Marked { .. } if !is_new => {}
            // Our choice: the packets are ECN-capable (ECT), so an algorithm without
            // a response to marks receives a loss: marks "should be treated just as a congestion
            // loss" (RFC 3168, section 6.1.2).
            Congestion::Marked { .. } if self.marks_are_losses => self.reduce(flight_size, 0),
            Congestion::Marked { .. } => {
                self.reduction = Reduction { told: self.reduction.told, ..Reduction::at(self.now) };
                self.control.tell(EcnEcho::new(self.now, flight_size));
            }
        }
    }

    /// The window, in the place of TCP's FlightSize: "On entering a recovery period, a sender MUST
    /// set the slow start threshold to half the value of the congestion window" (section 7.3.2),
    /// whatever part of it an application-limited sender uses.
    fn flight_size(&self) -> Bytes {
        Bytes(self.window())
    }

    fn reduce(&mut self, flight_size: Bytes, lost: u64) {
        self.reduction = Reduction { told: true, ..Reduction::at(self.now) };
        let mut event = LossDetected::new(self.now, flight_size);
        event.lost = Bytes(lost);
        self.control.tell(event);
    }

    /// Persistent congestion: "the sender's congestion window MUST be reduced to the minimum
    /// congestion window", and the recovery is over (section 7.6.2). Without a new loss the
    /// threshold is as the first set it.
    fn restart(&mut self, flight_size: Bytes, repeated: bool) {
        self.reduction = Reduction { grows_after: None, restarted: true, ..Reduction::at(self.now) };
        let mut event = Timeout::new(self.now, flight_size);
        (event.repeated, event.cause) = (repeated, RestartCause::PersistentCongestion);
        self.control.tell(event);
    }

    /// The packets last declared lost have arrived.
    pub fn on_spurious_loss(&mut self) {
        self.grow();
        self.reduction = Reduction { at: self.reduction.at, ..Reduction::default() };
        self.control.tell(SpuriousLoss::new(self.now));
    }

    /// The path carries packets with this UDP payload from now on. Zero is ignored. The window
    /// keeps its bytes: a new size "MUST NOT" change it (RFC 8899, section 3, 6), unless it would
    /// not hold a single packet. "kMinimumWindow" limits responses to congestion.
    pub fn on_mtu_changed(&mut self, mtu: u16) {
        self.grow();
        if mtu > 0 && u64::from(mtu) != self.mss {
            let smaller = u64::from(mtu) < self.mss;
            let window = self.window();
            self.mss = mtu.into();
            self.minimum = window.clamp(self.mss, MINIMUM_WINDOW * self.mss);
            let mut event = MssChanged::new(self.now, Bytes(self.mss));
            if smaller && self.acknowledged == 0 && self.reduction.at.is_none() {
                event.initial_window = self.initial_window_packets();
            }
            self.control.tell(event);
        }
    }

    /// Stacks may report an event with a time slightly before the last one's.
    fn pass(&mut self, now: Time) {
        self.now = self.now.max(now);
    }
}

/// The trace has the last ACK frame, too.
impl Drop for Driver {
    fn drop(&mut self) {
        if !self.growth.is_copy {
            self.grow();
        }
    }
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod revealed;
#[cfg(test)]
mod rfc9002;
#[cfg(test)]
mod rig;
#[cfg(test)]
mod tests;
