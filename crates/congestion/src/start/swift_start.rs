//! Swift Start (Partridge, Rockwell, Allman, Krishnan and Sterbenz, BBN Technical Report 8339), as
//! Khalil, Elbery, Nosair and Morsi describe it: four segments, the capacity of the path from the
//! times of the first two ACKs, and a fraction of it as the window, spread over the next round
//! trip.
//!
//! Section numbers below are those of "A Modification to Swifter Start Algorithm for TCP Congestion
//! Control". It prints BW = Δt × SegSize and means the quotient; and as capacity = BW × RTT, in
//! segments the capacity is RTT / Δt.

use super::paced_round_trip::PacedRoundTrip;
use crate::decision::{Pacing, Phase};
use crate::entry::{Entry, Need};
use crate::event::{Acknowledged, EcnEcho, LossDetected, Resumed, Sent, Timeout};
use crate::part::StartPart;
use crate::state::{Setup, WindowState};
use crate::units::{Bytes, Time};
use crate::{choice, parameters};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "swift-start",
    about: "Four segments; the times of the first two acknowledgements tell the capacity, and a part of it is sent \
            spread over the next round trip. Finds nothing where acknowledgements are delayed.",
    source: "Partridge et al.: A Swifter Start for TCP, BBN TR 8339, as described by Khalil, Elbery, Nosair, Morsi (2005)",
    parameters: Parameters::TABLE,
    needs: &[Need::Pacing, Need::EveryAck],
    ..Entry::START
};

choice! {
    /// How the first window after the estimate leaves.
    Burst {
        /// Evenly over the round trip.
        None = "none",
        /// The excess over the last window leaves at once, the rest over the round trip; likewise
        /// in the following round trips, in which the window doubles, until the capacity is
        /// reached.
        Difference = "difference",
    }
}

choice! {
    /// Behaviour if the first two ACKs do not cover one segment each.
    NoEstimate {
        /// The window stays constant until a loss.
        Freeze = "freeze",
        /// Slow start.
        SlowStart = "slow-start",
    }
}

parameters! {
    /// Parameters of Swift Start.
    Parameters {
        /// Initial window. It overrides the transport's.
        swift_initial_window: f64 = 4.0, shown "4", unit "segments", range (1.0, 1e6),
            source "section 3: the connection starts with four segments which are sent in burst";
        /// The alpha of the paper: the window after the estimate is the capacity over this.
        swift_alpha: f64 = 8.0, shown "8", unit "", range (1.0, 8.0),
            source "section 3.1c: rates between 1 and 8; no default is printed, the most careful is our choice";
        /// How the first window after the estimate leaves.
        burst: Burst = Burst::None, shown "none", unit "", range (0.0, 0.0),
            source "section 3: pacing spreads the packets over the RTT; section 4.1 and figure 4: difference";
        /// Behaviour if the first two ACKs do not cover one segment each.
        no_estimate: NoEstimate = NoEstimate::SlowStart, shown "slow-start", unit "", range (0.0, 0.0),
            source "Lawas-Grodek and Tran (NASA, 2004): falls back to regular TCP; figures 5 and 6: freeze";
    }
}

/// Progress of Swift Start.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Nothing is acknowledged.
    Waiting,
    /// The first segment was acknowledged alone, at this time.
    FirstAcknowledged(Time),
    /// An estimate, in segments, that is not yet in use.
    Estimated(f64),
    /// A round trip over which the window is spread; the capacity, in segments.
    Paced(PacedRoundTrip, f64),
    /// No estimate will be made.
    Frozen,
    /// Slow start.
    Over,
}

/// Swift Start.
#[derive(Clone, Debug)]
pub struct SwiftStart {
    parameters: Parameters,
    stage: Stage,
}

impl SwiftStart {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters, stage: Stage::Waiting }
    }

    const fn without_estimate(&self) -> Stage {
        match self.parameters.no_estimate {
            NoEstimate::Freeze => Stage::Frozen,
            NoEstimate::SlowStart => Stage::Over,
        }
    }

    /// Starts a round trip in which the window becomes `target`.
    fn begin_round_trip(
        &mut self,
        event: &Acknowledged,
        target: f64,
        capacity: f64,
        state: &mut WindowState,
    ) {
        let Some(rtt) = event.minimum_rtt else { return };
        let before = state.cwnd;
        state.cwnd = target;
        let (burst, spread) = match self.parameters.burst {
            Burst::None => (0.0, target),
            // "subtracts the previous sending rate from the new calculated one, and the difference
            // is sent in burst, then the rest of the window will be paced" (section 4.1).
            Burst::Difference => (target - before, before),
        };
        self.stage = Stage::Paced(PacedRoundTrip::new(event.now, rtt, spread, burst, state), capacity);
    }
}

impl StartPart for SwiftStart {
    fn begin(&mut self, _setup: &Setup, state: &mut WindowState) {
        state.cwnd = self.parameters.swift_initial_window;
    }

    fn on_ack(&mut self, event: &Acknowledged, state: &WindowState) {
        let covers_alone = |segment: u64| {
            event.size == state.mss && event.acknowledged_total == Bytes(segment * state.mss.get())
        };
        self.stage = match self.stage {
            Stage::Waiting if covers_alone(1) => Stage::FirstAcknowledged(event.now),
            Stage::FirstAcknowledged(first) if covers_alone(2) => {
                let interval = event.now.since(first);
                match event.minimum_rtt {
                    Some(rtt) if !interval.is_zero() && !rtt.is_zero() => {
                        Stage::Estimated(rtt.seconds() / interval.seconds())
                    }
                    _ => self.without_estimate(),
                }
            }
            // An ACK of two segments hides their interval, and the interval between two such ACKs
            // covers two segments.
            Stage::Waiting | Stage::FirstAcknowledged(_) => self.without_estimate(),
            Stage::Paced(round, capacity) if round.is_over(event.now) => {
                if self.parameters.burst == Burst::Difference && state.cwnd < capacity {
                    Stage::Estimated(capacity)
                } else {
                    Stage::Over
                }
            }
            same => same,
        };
    }

    fn holds_window(&self) -> bool {
        self.stage != Stage::Over
    }

    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        match self.stage {
            Stage::Estimated(capacity) => {
                // After the paced round trip slow start closes the gap to the capacity: our choice,
                // the paper is silent.
                state.ssthresh = capacity.max(2.0);
                let first = capacity / self.parameters.swift_alpha;
                let target = if state.cwnd < first {
                    first
                } else if self.parameters.burst == Burst::Difference {
                    (2.0 * state.cwnd).min(capacity)
                } else {
                    state.cwnd
                };
                let target = target.max(state.cwnd).min(state.receive_window_segments()).max(1.0);
                self.begin_round_trip(event, target, capacity, state);
            }
            Stage::Over => state.cwnd += state.slow_start_step(event.size),
            Stage::Waiting | Stage::FirstAcknowledged(_) | Stage::Paced(..) | Stage::Frozen => {}
        }
    }

    /// Reno from then on, and the estimate is discarded (our choice; the paper is silent).
    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {
        self.stage = Stage::Over;
    }

    fn on_ecn_echo(&mut self, _event: &EcnEcho) {
        self.stage = Stage::Over;
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        self.stage = Stage::Over;
    }

    /// The second segment did not leave with the first: the interval would be the pause.
    fn on_resumed(&mut self, _event: &Resumed) {
        if let Stage::FirstAcknowledged(_) = self.stage {
            self.stage = self.without_estimate();
        }
    }

    fn on_sent(&mut self, event: &Sent) {
        if let Stage::Paced(round, _) = &mut self.stage {
            round.on_sent(event);
        }
    }

    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        match &self.stage {
            Stage::Paced(round, _) => round.pacing(state),
            _ => None,
        }
    }

    fn phase(&self) -> Option<Phase> {
        matches!(self.stage, Stage::Paced(..)).then_some(Phase::PacedStart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack_at, setup, state};
    use crate::units::Duration;

    /// The ACK of one segment, at this time, with a round-trip time of 470 ms.
    fn ack(segment: u64, milliseconds: f64) -> Acknowledged {
        Acknowledged { acknowledged_total: Bytes(1000 * segment), ..ack_at(milliseconds / 1000.0, 0.47) }
    }

    fn happen(start: &mut SwiftStart, state: &mut WindowState, event: &Acknowledged) {
        start.on_ack(event, state);
        if start.holds_window() || state.in_slow_start() {
            start.grow(event, state);
        }
    }

    fn begun(parameters: Parameters) -> (SwiftStart, WindowState) {
        let mut start = SwiftStart::new(parameters);
        let mut state = state(10.0);
        let setup = Setup { initial_ssthresh: f64::INFINITY, ..setup() };
        start.begin(&setup, &mut state);
        assert_eq!(state.cwnd, 4.0);
        (start, state)
    }

    /// OC-1 of the paper: 1500 bytes at 49.5 Mbit/s are 242.4 µs, and a round-trip time of 0.47 s
    /// holds 1939 of them.
    #[test]
    fn capacity_is_the_round_trip_over_the_interval() {
        for (swift_alpha, window) in [(1.0, 1938.75), (8.0, 242.34375)] {
            let (mut start, mut state) = begun(Parameters { swift_alpha, ..Parameters::default() });
            happen(&mut start, &mut state, &ack(1, 470.0));
            assert_eq!(state.cwnd, 4.0, "one acknowledgement tells nothing");
            // 242.424 µs
            happen(&mut start, &mut state, &ack(2, 470.0 + 0.47 / 1938.75 * 1000.0));
            assert!((state.cwnd / window - 1.0).abs() < 1e-6, "{}", state.cwnd);
            assert!((state.ssthresh / 1938.75 - 1.0).abs() < 1e-6, "{}", state.ssthresh);
            let pacing = start.pacing(&state).expect("spread over the round trip");
            assert!((pacing.interval.seconds() * window / 0.47 - 1.0).abs() < 1e-6);
            happen(&mut start, &mut state, &ack(3, 700.0));
            assert!((state.cwnd / window - 1.0).abs() < 1e-6, "held for a round trip");
            happen(&mut start, &mut state, &ack(4, 941.0));
            assert_eq!(start.pacing(&state), None);
            // Slow start below the capacity.
            assert_eq!(state.cwnd > window + 0.5, swift_alpha > 1.0);
        }
    }

    #[test]
    fn an_acknowledgement_of_two_segments_hides_the_interval() {
        for (no_estimate, window) in [(NoEstimate::Freeze, 4.0), (NoEstimate::SlowStart, 6.0)] {
            let (mut start, mut state) = begun(Parameters { no_estimate, ..Parameters::default() });
            for segment in [2, 4] {
                let event = Acknowledged { size: Bytes(2000), ..ack(segment, 470.0 + segment as f64) };
                happen(&mut start, &mut state, &event);
            }
            assert_eq!(state.cwnd, window, "one segment more for each acknowledgement, or none");
            assert_eq!(start.pacing(&state), None);
        }
    }

    #[test]
    fn the_window_is_no_larger_than_the_receivers() {
        let (mut start, mut state) = begun(Parameters::default());
        state.receive_window = Bytes(65_535);
        happen(&mut start, &mut state, &ack(1, 470.0));
        happen(&mut start, &mut state, &ack(2, 470.25));
        assert_eq!(state.cwnd, 65.535);
        let pacing = start.pacing(&state).expect("spread");
        assert!((pacing.interval.seconds() - 0.47 / 65.535).abs() < 1e-9);
    }

    /// Figure 4: a burst of the difference, then the rest over the round trip; and again in the
    /// next.
    #[test]
    fn the_difference_leaves_in_a_burst() {
        let parameters = Parameters { burst: Burst::Difference, swift_alpha: 2.0, ..Parameters::default() };
        let (mut start, mut state) = begun(parameters);
        happen(&mut start, &mut state, &ack(1, 470.0));
        happen(&mut start, &mut state, &ack(2, 480.0));
        assert!((state.cwnd - 23.5).abs() < 1e-9);
        let sent = Sent::new(Time::ZERO, Bytes(1000), Bytes(0));
        let mut burst = 0;
        while start.pacing(&state).is_none() {
            start.on_sent(&sent);
            burst += 1;
        }
        assert_eq!(burst, 19, "23.5 less 4");
        assert_eq!(start.pacing(&state).expect("the rest").interval, Duration::from_seconds(0.47 / 4.0));
        happen(&mut start, &mut state, &ack(3, 951.0));
        assert!((state.cwnd - 47.0).abs() < 1e-9, "{}", state.cwnd);
        assert_eq!(start.pacing(&state), None, "again a burst");
        happen(&mut start, &mut state, &ack(4, 1500.0));
        assert_eq!(start.phase(), None);
    }

    #[test]
    fn a_loss_ends_it() {
        let (mut start, mut state) = begun(Parameters::default());
        happen(&mut start, &mut state, &ack(1, 470.0));
        happen(&mut start, &mut state, &ack(2, 470.25));
        start.on_loss(&LossDetected::new(Time::ZERO, Bytes(10_000)), &mut state);
        assert_eq!((start.pacing(&state), start.holds_window()), (None, false));
    }

    /// The estimate is discarded, during its use and before.
    #[test]
    fn what_ends_it() {
        for (name, end) in crate::fixtures::ends() {
            for acknowledged in 0..=2 {
                let (mut start, mut state) = begun(Parameters::default());
                for segment in 1..=acknowledged {
                    happen(&mut start, &mut state, &ack(segment, 470.0 + 0.5 * segment as f64));
                }
                assert!(start.holds_window());
                assert_eq!(start.phase().is_some(), acknowledged == 2);
                end(&mut start, &mut state);
                crate::fixtures::is_plain_slow_start(&mut start, &mut state, name);
            }
        }
    }

    /// Simultaneous ACKs, as interrupts cause, or no round-trip time: no interval.
    #[test]
    fn what_tells_no_capacity() {
        let unknown = Acknowledged { minimum_rtt: None, ..ack(2, 471.0) };
        let nothing = Acknowledged { minimum_rtt: Some(Duration::ZERO), ..ack(2, 471.0) };
        for second in [ack(2, 470.0), unknown, nothing, ack(3, 471.0)] {
            let (mut start, mut state) = begun(Parameters::default());
            happen(&mut start, &mut state, &ack(1, 470.0));
            happen(&mut start, &mut state, &second);
            assert!(!start.holds_window(), "{second:?}");
            assert_eq!((state.cwnd, start.pacing(&state)), (5.0, None), "slow start");
        }
    }
}
