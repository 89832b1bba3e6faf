//! How the window grows and shrinks once slow start is over.
//!
//! A start grows the window while it is below ssthresh, the window algorithm above, so any start goes with any
//! window algorithm. Those that watch the delay (Vegas, FAST) have a say in slow start too: they can end it
//! ([`WindowPart::on_ack`]), and Vegas lets the start grow in every other round trip only
//! ([`WindowPart::holds_slow_start`]). How much an acknowledgement adds in slow start stays with the start.
//!
//! A new algorithm is a file, declared below (rustfmt finds files by these declarations), and a line in the list.

pub mod adaptive;
pub mod altcp;
pub mod bic;
pub mod cubic;
pub mod fast;
pub mod highspeed;
pub mod lotka_volterra;
pub mod ltcp;
pub mod reno;
pub mod scalable;
pub mod tri_s;
pub mod vegas;

pub use adaptive::Group;

use crate::algorithms::algorithms;
use crate::controller::WindowState;
use crate::estimate::{EstimateChoice, icim};
use crate::event::{Acknowledged, EcnEcho, LossDetected, Timeout};

algorithms! {
    /// One of the window algorithms. An enum, not a trait object: the per-acknowledgement path has no dynamic
    /// dispatch.
    Window, chosen by WindowChoice {
        reno::Reno,
        highspeed::HighSpeed,
        scalable::Scalable,
        fast::Fast,
        bic::Bic,
        cubic::Cubic,
        vegas::Vegas in Box,
        tri_s::TriS in Box,
        ltcp::Ltcp,
        altcp::Altcp,
        adaptive::Adaptive in Box,
        lotka_volterra::LotkaVolterra in Box,
    }
}

/// What a window algorithm is told.
pub trait WindowPart {
    /// An acknowledgement advanced, in whatever phase; called before any growth. Most algorithms have no use for
    /// it.
    #[inline]
    fn on_ack(&mut self, _event: &Acknowledged, _state: &mut WindowState) {}
    /// The start is not to grow the window now, although cwnd is below ssthresh.
    #[inline]
    fn holds_slow_start(&self) -> bool {
        false
    }
    /// It has a use for the delivery rates that acknowledgements measure. Most have none. Constant for a connection.
    fn wants_rate_samples(&self) -> bool {
        false
    }
    /// Grow on this acknowledgement; cwnd is at or above ssthresh and no loss is under repair.
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A loss was detected: set ssthresh, and cwnd for the time of the repair and after.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState);
    /// The receiver echoed a congestion mark: set ssthresh and cwnd. "The indication of congestion should be treated just
    /// as a congestion loss in non-ECN-Capable TCP" (RFC 3168, section 6.1.2).
    fn on_ecn_echo(&mut self, event: &EcnEcho, state: &mut WindowState) {
        let EcnEcho { now, flight_size } = *event;
        self.on_loss(&LossDetected { now, flight_size }, state);
    }
    /// The connection starts again from one segment: set ssthresh.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState);
    /// Of a member of a group of parallel flows, before each event: take what the group knows. Only `adaptive` has groups.
    fn take_from(&mut self, _group: &Group, _state: &mut WindowState) {}
    /// After each event: give the group what there is to know.
    fn give_to(&mut self, _group: &mut Group, _state: &WindowState) {}
}

/// Out of line what the usual case, Reno, has no need of.
impl Window {
    #[inline(never)]
    fn own_on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        each!(self, part => part.on_ack(event, state))
    }
    #[inline(never)]
    fn own_grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        each!(self, part => part.grow(event, state))
    }
}

impl WindowPart for Window {
    #[inline]
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if !matches!(self, Self::Reno(_)) {
            self.own_on_ack(event, state);
        }
    }
    #[inline]
    fn holds_slow_start(&self) -> bool {
        each!(self, part => part.holds_slow_start())
    }
    fn wants_rate_samples(&self) -> bool {
        each!(self, part => part.wants_rate_samples())
    }
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        match self {
            Self::Reno(reno) => reno.grow(event, state),
            _ => self.own_grow(event, state),
        }
    }
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        each!(self, part => part.on_loss(event, state))
    }
    fn on_ecn_echo(&mut self, event: &EcnEcho, state: &mut WindowState) {
        each!(self, part => part.on_ecn_echo(event, state))
    }
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        each!(self, part => part.on_timeout(event, state))
    }
    fn take_from(&mut self, group: &Group, state: &mut WindowState) {
        each!(self, part => part.take_from(group, state));
    }
    fn give_to(&mut self, group: &mut Group, state: &WindowState) {
        each!(self, part => part.give_to(group, state));
    }
}

impl WindowChoice {
    /// The estimator that it needs, where none is chosen.
    pub(crate) fn usual_estimate(&self) -> Option<EstimateChoice> {
        match self {
            Self::LotkaVolterra(_) => EstimateChoice::named(icim::ENTRY.name),
            _ => None,
        }
    }
}

crate::choice! {
    /// What a loss in slow start takes, and a timeout, after which there is slow start.
    SlowStartLoss {
        /// As much as any loss of a window of this size.
        Usual = "usual",
        /// Half of the window, as in ns-2.
        Half = "half",
        /// Half of the window, and so does the first loss of the connection, wherever it comes: ns-2.
        HalfAndFirst = "half-and-first",
    }
}

impl SlowStartLoss {
    /// A loss takes half, in slow start or not, and with or without one before it.
    fn halves(self, in_slow_start: bool, lost_before: bool) -> bool {
        match self {
            Self::Usual => false,
            Self::Half => in_slow_start,
            Self::HalfAndFirst => in_slow_start || !lost_before,
        }
    }
}

/// ssthresh after a timeout, of a window of which a loss leaves `kept`.
fn time_out_to(kept: f64, slow_start_loss: SlowStartLoss, event: &Timeout, state: &mut WindowState) {
    if !event.repeated {
        let left = match slow_start_loss {
            SlowStartLoss::Usual => kept,
            SlowStartLoss::Half | SlowStartLoss::HalfAndFirst => state.window_in_use() / 2.0,
        };
        state.ssthresh = left.max(2.0);
    }
}

/// Sets cwnd and ssthresh after a loss. Our choice where a paper has no smallest window: the two segments of RFC
/// 5681, "ssthresh = max (FlightSize / 2, 2*SMSS)".
fn cut_to(window: f64, state: &mut WindowState) {
    state.ssthresh = window.max(2.0);
    state.cwnd = state.ssthresh;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::controller::tests::ack_at;
    use crate::units::{Bytes, Time};

    /// A window of so many segments, in congestion avoidance.
    pub fn avoiding(cwnd: f64) -> WindowState {
        WindowState { cwnd, ssthresh: 2.0, ..crate::controller::tests::state(cwnd) }
    }

    /// A loss when all of the window is in flight.
    pub fn loss(state: &WindowState) -> LossDetected {
        LossDetected { now: Time::ZERO, flight_size: Bytes((state.cwnd * 1000.0) as u64) }
    }

    /// A congestion mark when all of the window is in flight.
    pub fn echo(state: &WindowState) -> EcnEcho {
        let LossDetected { now, flight_size } = loss(state);
        EcnEcho { now, flight_size }
    }

    /// A timeout when all of the window is in flight.
    pub fn timeout(state: &WindowState) -> Timeout {
        let LossDetected { now, flight_size } = loss(state);
        Timeout { now, flight_size, repeated: false, cause: crate::event::RestartCause::TimerExpired }
    }

    /// One flow of full segments, all acknowledged one by one, on a path with one queue. The acknowledgement clock
    /// in closed form: a window takes a round-trip time, and what the window has beyond the path is in the queue.
    pub struct LoneFlow {
        /// Round-trip time without a queue, in seconds.
        pub base_rtt: f64,
        /// Segments per second.
        pub capacity: f64,
        /// Time of the last acknowledgement, in seconds.
        pub now: f64,
        acknowledged: f64,
    }

    impl LoneFlow {
        /// On such a path.
        pub fn new(base_rtt: f64, capacity: f64) -> Self {
            Self { base_rtt, capacity, now: 0.0, acknowledged: 0.0 }
        }
        /// On a path that never has a queue.
        pub fn without_queue(rtt: f64) -> Self {
            Self::new(rtt, f64::INFINITY)
        }
        /// Round-trip time with this window.
        pub fn rtt(&self, cwnd: f64) -> f64 {
            self.base_rtt.max(cwnd / self.capacity)
        }
        /// The next acknowledgement under this window.
        pub fn next(&mut self, cwnd: f64) -> Acknowledged {
            let rtt = self.rtt(cwnd);
            self.now += rtt / cwnd;
            self.acknowledged += 1.0;
            Acknowledged {
                acknowledged_total: Bytes((self.acknowledged * 1000.0) as u64),
                sent_total: Bytes(((self.acknowledged + cwnd) * 1000.0) as u64),
                minimum_rtt: Some(crate::units::Duration::from_seconds(self.base_rtt)),
                ..ack_at(self.now, rtt)
            }
        }
        /// So many acknowledgements.
        pub fn run(&mut self, window: &mut impl WindowPart, state: &mut WindowState, acknowledgements: u64) {
            for _ in 0..acknowledgements {
                let event = self.next(state.cwnd);
                window.on_ack(&event, state);
                window.grow(&event, state);
            }
        }
        /// Acknowledgements until this time.
        pub fn run_until(&mut self, window: &mut impl WindowPart, state: &mut WindowState, seconds: f64) {
            while self.now < seconds {
                self.run(window, state, 1);
            }
        }
    }

    /// Mean window, in segments, when every `period`-th segment is lost: the segments of 20 periods over the round
    /// trips they take, after `settle` periods. A repair takes no time.
    pub fn response(
        window: &mut impl WindowPart,
        state: &mut WindowState,
        rtt: f64,
        period: u64,
        settle: u32,
    ) -> f64 {
        let mut flow = LoneFlow::without_queue(rtt);
        let mut begin = 0.0;
        for cycle in 0..settle + 20 {
            if cycle == settle {
                begin = flow.now;
            }
            flow.run(window, state, period);
            window.on_loss(&loss(state), state);
        }
        20.0 * period as f64 * rtt / (flow.now - begin)
    }

    /// Windows that add something for each acknowledgement add half of it for one of half a segment, or a receiver that divides
    /// its acknowledgements would have them grow faster (RFC 3465); within a tenth of a per cent, for the window has grown meanwhile.
    #[test]
    fn half_an_acknowledgement_is_worth_half() {
        for name in ["reno", "highspeed", "scalable", "bic", "cubic", "ltcp", "altcp", "adaptive"] {
            let grown = |size: u64| {
                let mut window = WindowChoice::named(name).expect("listed").build();
                // Two layers of LTCP; beyond Reno's part of HighSpeed, BIC and Scalable.
                let mut state = avoiding(120.0);
                for segment in 1..=10 {
                    let event = Acknowledged {
                        size: Bytes(size),
                        acknowledged_total: Bytes(segment * size),
                        sent_total: Bytes(1_000_000),
                        ..ack_at(0.1 + 0.001 * segment as f64, 0.1)
                    };
                    window.on_ack(&event, &mut state);
                    window.grow(&event, &mut state);
                }
                state.cwnd - 120.0
            };
            let (half, whole) = (grown(500), grown(1000));
            assert!(whole > 0.0 && (half / whole - 0.5).abs() < 1e-3, "{name}: {half} and {whole}");
            assert!((grown(250) / whole - 0.25).abs() < 1e-3, "{name}");
        }
    }
}
