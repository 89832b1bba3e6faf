//! The part common to all stacks: converts reports to [`Event`]s, and returns window and pacing.
//!
//! The terms in quotation marks are those of RFC 9002.

use selfclock_congestion::{
    Acknowledged, Bytes, Controller, EcnEcho, Event, LossDetected, MssChanged, RecoveryEnded, Selection,
    Sent, Setup, SpuriousLoss, Time, Timeout,
};

use selfclock_congestion::entry::Marks;

use crate::flight::Flight;
use crate::round_trip::RoundTripTimes;
use crate::traces::{Trace, Traces};

/// "kMinimumWindow": "The RECOMMENDED value is 2 * max_datagram_size" (section 7.2).
const MINIMUM_WINDOW: u64 = 2;

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
    initial_window: u64,
    /// Time of the last event.
    now: Time,
    flight: Flight,
    round_trips: RoundTripTimes,
    batch: Batch,
    /// Arrival time of the last ACK frame, and the bytes that it acknowledged.
    last_batch: (Time, u64),
    reduction: Reduction,
    app_limited: bool,
    acknowledged: u64,
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
    size: u64,
    newest_sent: Option<Time>,
}

/// The last reduction of the window.
#[derive(Clone, Copy, Debug, Default)]
struct Reduction {
    /// "congestion_recovery_start_time": losses and marks of packets sent until then cause no
    /// further response.
    at: Option<Time>,
    /// "In recovery": no packet sent after it has been acknowledged, so the window must not grow.
    in_recovery: bool,
    /// Whether the algorithm waits for the end of the recovery.
    told: bool,
    /// Whether it was persistent congestion, which a stack may report packet by packet.
    restarted: bool,
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
    /// packet.
    pub fn new(selection: &Selection, setup: Setup, traces: Option<&Traces>) -> Self {
        let control = match traces {
            Some(traces) => Control::Traced(Box::new(Trace::new(selection, setup, traces.clone()))),
            None => Control::Plain(Box::new(selection.controller(setup))),
        };
        let measures_rates = control.controller().wants_rate_samples();
        let mut driver = Self {
            control,
            marks_are_losses: selection.marks() == Marks::Ignored,
            mss: setup.mss.get(),
            initial_window: 0,
            now: Time::ZERO,
            flight: Flight::new(measures_rates),
            round_trips: RoundTripTimes::default(),
            batch: Batch::default(),
            last_batch: (Time::ZERO, 0),
            reduction: Reduction::default(),
            app_limited: false,
            acknowledged: 0,
        };
        driver.initial_window = driver.window();
        driver
    }

    /// Bytes allowed in flight: at least two full packets.
    pub fn window(&self) -> u64 {
        self.control.controller().window().get().max(MINIMUM_WINDOW * self.mss)
    }

    /// Initial value of [`Driver::window`], bytes.
    pub const fn initial_window(&self) -> u64 {
        self.initial_window
    }

    /// Slow start threshold, bytes; `None` before the first.
    pub fn slow_start_threshold(&self) -> Option<u64> {
        let threshold = self.control.controller().snapshot().ssthresh_segments;
        threshold.is_finite().then_some((threshold * self.mss as f64) as u64)
    }

    /// Pacing rate, bytes of UDP payload per second; `None` leaves pacing to the stack.
    pub fn pacing_rate(&self) -> Option<u64> {
        let pacing = self.control.controller().decision().pacing?;
        Some((pacing.bytes_per_second() as u64).max(1))
    }

    /// The algorithm, for inspection.
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
        self.pass(now);
        self.flight.sent(self.now, size);
        self.tell_sent(size);
    }

    /// Packets were sent at once, some of which may not count as in flight (ACK frames alone): the
    /// bytes in flight are known again at the next [`Driver::on_acks_end`], and until then limited
    /// to the window.
    pub fn on_burst_sent(&mut self, now: Time, size: u64) {
        self.pass(now);
        let room = self.window().saturating_sub(self.flight.bytes());
        let counted = size.min(room);
        self.flight.sent(self.now, counted);
        self.tell_sent(counted);
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
        self.pass(now);
        self.flight.acknowledged(self.now, sent, size);
        self.batch.size += size;
        self.batch.newest_sent = self.batch.newest_sent.max(Some(sent));
    }

    /// All packets of an ACK frame have been reported. `in_flight`: bytes still in flight, if the
    /// stack reports them; `app_limited`: the application had nothing to send, although the window
    /// had room.
    pub fn on_acks_end(&mut self, now: Time, in_flight: Option<u64>, app_limited: bool) {
        self.pass(now);
        self.app_limited = app_limited;
        if let Some(in_flight) = in_flight {
            self.flight.correct(in_flight);
        }
        let Batch { size, newest_sent } = core::mem::take(&mut self.batch);
        let Some(newest_sent) = newest_sent else { return };
        self.acknowledged += size;
        self.last_batch = (self.now, size);
        let rtt = self.round_trips.sample(newest_sent, self.now);
        self.leave_recovery(newest_sent);

        let mut event = Acknowledged::new(self.now, Bytes(size));
        event.acknowledged_total = Bytes(self.acknowledged);
        // Lost data leaves in new packets: the round trip is over when the current flight is
        // acknowledged.
        event.sent_total = Bytes(self.acknowledged + self.flight.bytes());
        event.rtt = rtt;
        event.smoothed_rtt = self.round_trips.smoothed();
        event.minimum_rtt = self.round_trips.minimum();
        event.in_flight = Bytes(self.flight.bytes());
        event.window_limited = !app_limited;
        event.recovering = self.reduction.in_recovery;
        event.rate = self.flight.rate_sample(self.round_trips.minimum(), app_limited);
        self.control.tell(event);
        self.flight.forget_before(newest_sent, self.round_trips.longest());
    }

    /// "A recovery period ends and the sender enters congestion avoidance when a packet sent during
    /// the recovery period is acknowledged" (section 7.3.2).
    fn leave_recovery(&mut self, newest_sent: Time) {
        if self.reduction.at.is_some_and(|at| newest_sent > at) {
            self.reduction.in_recovery = false;
            if core::mem::take(&mut self.reduction.told) {
                self.control.tell(RecoveryEnded::new(self.now));
            }
        }
    }

    /// The stack signals congestion. The window is reduced once per round trip: "No
    /// further reductions in the congestion window are made in response to" what was sent before
    /// the last one (section 7.3.2).
    pub fn on_congestion(&mut self, now: Time, congestion: Congestion) {
        self.pass(now);
        let flight_size = self.flight_size();
        let (Congestion::Lost { sent, .. } | Congestion::Marked { sent }) = congestion;
        let is_new = self.reduction.at.is_none_or(|at| sent > at);
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
                self.reduction =
                    Reduction { at: Some(self.now), in_recovery: true, restarted: false, ..self.reduction };
                self.control.tell(EcnEcho::new(self.now, flight_size));
            }
        }
    }

    /// Bytes outstanding when the ACK frame that reports congestion arrived, including those it
    /// acknowledges, like TCP's FlightSize. Loss probes go beyond the window, and RFC 9002 reduces
    /// the window, so it is at most that.
    fn flight_size(&self) -> Bytes {
        let (at, size) = self.last_batch;
        let acknowledged = if at == self.now { size } else { 0 };
        Bytes((self.flight.bytes() + acknowledged).min(self.window()))
    }

    fn reduce(&mut self, flight_size: Bytes, lost: u64) {
        self.reduction = Reduction { at: Some(self.now), in_recovery: true, told: true, restarted: false };
        let mut event = LossDetected::new(self.now, flight_size);
        event.lost = Bytes(lost);
        self.control.tell(event);
    }

    /// Persistent congestion: "the sender's congestion window MUST be reduced to the minimum
    /// congestion window", and the recovery is over (section 7.6.2). Without a new loss the
    /// threshold is as the first set it.
    fn restart(&mut self, flight_size: Bytes, repeated: bool) {
        self.reduction = Reduction { at: Some(self.now), in_recovery: false, told: false, restarted: true };
        let mut event = Timeout::new(self.now, flight_size);
        event.repeated = repeated;
        self.control.tell(event);
    }

    /// The packets last declared lost have arrived.
    pub fn on_spurious_loss(&mut self) {
        self.reduction = Reduction { in_recovery: false, told: false, restarted: false, ..self.reduction };
        self.control.tell(SpuriousLoss::new(self.now));
    }

    /// The path carries packets with this UDP payload from now on. Zero is ignored.
    pub fn on_mtu_changed(&mut self, mtu: u16) {
        if mtu > 0 && u64::from(mtu) != self.mss {
            self.mss = mtu.into();
            self.control.tell(MssChanged::new(self.now, Bytes(self.mss)));
        }
    }

    /// Stacks may report an event with a time slightly before the last one's.
    fn pass(&mut self, now: Time) {
        self.now = self.now.max(now);
    }
}

#[cfg(test)]
mod tests;
