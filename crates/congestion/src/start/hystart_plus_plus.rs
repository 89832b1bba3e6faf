//! HyStart++, RFC 9406: leaves slow start when the delay grows, through a slower slow start.
//!
//! Section numbers below are those of RFC 9406.

use crate::entry::Entry;
use crate::estimate::round_trip::RoundTrip;
use crate::event::{Acknowledged, EcnEcho, LossDetected, Timeout};
use crate::parameters;
use crate::part::StartPart;
use crate::state::{Setup, WindowState};
use crate::units::Duration;

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "hystart++",
    about: "Slow start that turns slower when the round-trip time grows, and ends after five such round trips \
            unless the growth was spurious.",
    source: "RFC 9406",
    parameters: Parameters::TABLE,
    ..Entry::START
};

/// L is infinite if the transport paces ([`Setup::paced`]), otherwise 8: a value that cannot be
/// written.
const BY_TRANSPORT: f64 = 0.0;
/// "L = infinity if paced, L = 8 if non-paced" (section 4.3).
const UNPACED_LIMIT: f64 = 8.0;

parameters! {
    /// Parameters of HyStart++.
    Parameters {
        /// Smallest increase of the round-trip time that ends standard slow start.
        min_rtt_threshold: Duration = Duration::from_milliseconds(4), shown "4 ms", unit "s", range (0.0, 1.0),
            source "RFC 9406 section 4.3: MIN_RTT_THRESH";
        /// Largest increase of the round-trip time that standard slow start tolerates.
        max_rtt_threshold: Duration = Duration::from_milliseconds(16), shown "16 ms", unit "s", range (0.0, 1.0),
            source "RFC 9406 section 4.3: MAX_RTT_THRESH";
        /// The threshold between these two is the round-trip time over this.
        min_rtt_divisor: f64 = 8.0, shown "8", unit "", range (1.0, 1000.0),
            source "RFC 9406 section 4.3: MIN_RTT_DIVISOR";
        /// Round-trip time samples that a round needs.
        rtt_samples: f64 = 8.0, shown "8", unit "samples", range (1.0, 1e6),
            source "RFC 9406 section 4.3: N_RTT_SAMPLE";
        /// How many times slower the window grows in conservative slow start.
        css_growth_divisor: f64 = 4.0, shown "4", unit "", range (1.0, 1000.0),
            source "RFC 9406 section 4.3: CSS_GROWTH_DIVISOR (at least 2)";
        /// Rounds of conservative slow start.
        css_rounds: f64 = 5.0, shown "5", unit "round trips", range (1.0, 1000.0),
            source "RFC 9406 section 4.3: CSS_ROUNDS";
        /// Most segments that one acknowledgement may add to the window, L of the RFC.
        segments_per_ack: f64 = BY_TRANSPORT, shown "8, no limit where the transport paces", unit "segments", range (1.0, 1e6),
            source "RFC 9406 section 4.3: L = infinity if paced, L = 8 if non-paced";
    }
}

/// Where HyStart++ is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Standard slow start that watches the delay.
    Watching,
    /// Conservative slow start (CSS).
    Conservative {
        /// cssBaselineMinRtt of the RFC.
        baseline: Duration,
        /// Rounds that have ended, including the one in which it was entered.
        rounds: u32,
    },
    /// Conservative slow start is complete; the window has yet to become ssthresh.
    Leaving,
    /// Standard slow start for the rest of the connection.
    Over,
}

/// HyStart++.
#[derive(Clone, Debug)]
pub struct HyStartPlusPlus {
    parameters: Parameters,
    /// L of the RFC.
    limit: f64,
    stage: Stage,
    round: RoundTrip,
    /// "lastRoundMinRTT and currentRoundMinRTT are initialized to infinity"; `None` is infinity.
    last_round_minimum: Option<Duration>,
    round_minimum: Option<Duration>,
    /// rttSampleCount of the RFC.
    samples: u32,
}

impl HyStartPlusPlus {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        let written = parameters.segments_per_ack;
        Self {
            parameters,
            limit: if written == BY_TRANSPORT { UNPACED_LIMIT } else { written },
            stage: Stage::Watching,
            round: RoundTrip::default(),
            last_round_minimum: None,
            round_minimum: None,
            samples: 0,
        }
    }

    /// "RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))"
    fn threshold(&self, last_round_minimum: Duration) -> Duration {
        let part = Duration::from_seconds(last_round_minimum.seconds() / self.parameters.min_rtt_divisor);
        self.parameters.min_rtt_threshold.max(part.min(self.parameters.max_rtt_threshold))
    }

    fn begin_round(&mut self) {
        // "lastRoundMinRTT = currentRoundMinRTT, currentRoundMinRTT = infinity, rttSampleCount = 0"
        self.last_round_minimum = self.round_minimum.take();
        self.samples = 0;
        if let Stage::Conservative { rounds, .. } = &mut self.stage {
            // "CSS lasts at most CSS_ROUNDS rounds. If the transition into CSS happens in the
            // middle of a round, that partial round counts towards the limit."
            *rounds += 1;
            if f64::from(*rounds) >= self.parameters.css_rounds {
                self.stage = Stage::Leaving;
            }
        }
    }
}

impl StartPart for HyStartPlusPlus {
    fn begin(&mut self, setup: &Setup, _state: &mut WindowState) {
        if setup.paced && self.parameters.segments_per_ack == BY_TRANSPORT {
            self.limit = f64::INFINITY;
        }
    }

    fn only_grows(&self) -> bool {
        true
    }

    fn on_ack(&mut self, event: &Acknowledged, state: &WindowState) {
        if self.stage == Stage::Over || !state.in_slow_start() {
            return;
        }
        // "When windowEnd is ACKed, the current round ends and windowEnd is set to SND.NXT."
        if self.round.ended(event) {
            self.begin_round();
        }
        let Some(rtt) = event.rtt else { return };
        // "currentRoundMinRTT = min(currentRoundMinRTT, currRTT), rttSampleCount += 1"
        let minimum = self.round_minimum.map_or(rtt, |minimum| minimum.min(rtt));
        self.round_minimum = Some(minimum);
        self.samples = self.samples.saturating_add(1);
        // "For rounds where at least N_RTT_SAMPLE RTT samples have been obtained [...]"
        if f64::from(self.samples) < self.parameters.rtt_samples {
            return;
        }
        match self.stage {
            Stage::Watching => {
                // "if (currentRoundMinRTT >= (lastRoundMinRTT + RttThresh)): cssBaselineMinRtt =
                // currentRoundMinRTT, exit slow start and enter CSS"
                if let Some(last) = self.last_round_minimum
                    && minimum >= last + self.threshold(last)
                {
                    self.stage = Stage::Conservative { baseline: minimum, rounds: 0 };
                }
            }
            // "if (currentRoundMinRTT < cssBaselineMinRtt): cssBaselineMinRtt = infinity, resume
            // slow start including HyStart++"
            Stage::Conservative { baseline, .. } if minimum < baseline => self.stage = Stage::Watching,
            Stage::Conservative { .. } | Stage::Leaving | Stage::Over => {}
        }
    }

    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let acknowledged = state.segments(event.size);
        let limited = acknowledged.min(self.limit);
        state.cwnd += match self.stage {
            // "cwnd = cwnd + min(N, L * SMSS)"
            Stage::Watching => limited,
            // "cwnd = cwnd + (min(N, L * SMSS) / CSS_GROWTH_DIVISOR)"
            Stage::Conservative { .. } => limited / self.parameters.css_growth_divisor,
            Stage::Leaving => {
                // "If CSS_ROUNDS rounds are complete, enter congestion avoidance by setting the
                // ssthresh to the current cwnd."
                state.ssthresh = state.cwnd.max(2.0);
                self.stage = Stage::Over;
                0.0
            }
            Stage::Over => state.slow_start_step(event.size),
        };
    }

    /// "An implementation SHOULD use HyStart++ only for the initial slow start [...] and fall back
    /// to using standard slow start for the remainder of the connection lifetime."
    ///
    /// A loss in slow start leads to congestion avoidance with ssthresh the current cwnd (section
    /// 4.2); our choice: the cwnd that the window algorithm has set for this loss.
    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {
        self.stage = Stage::Over;
    }

    fn on_ecn_echo(&mut self, _event: &EcnEcho) {
        self.stage = Stage::Over;
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        self.stage = Stage::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack_at, state};
    use crate::units::{Bytes, Time};

    /// A start, its window and the sequence numbers of one connection.
    struct Connection {
        start: HyStartPlusPlus,
        state: WindowState,
        acknowledged: u64,
    }

    impl Connection {
        fn new() -> Self {
            Self { start: HyStartPlusPlus::new(Parameters::default()), state: state(10.0), acknowledged: 0 }
        }

        /// A window of ACKs, the first of which has this round-trip time and each later one `step`
        /// more.
        fn round(&mut self, rtt: f64, step: f64) {
            let sent = self.acknowledged + self.state.cwnd as u64 * 1000;
            let mut rtt = rtt;
            while self.acknowledged < sent {
                self.acknowledged += 1000;
                let event = Acknowledged {
                    acknowledged_total: Bytes(self.acknowledged),
                    sent_total: Bytes(self.acknowledged + self.state.cwnd as u64 * 1000),
                    ..ack_at(0.0, rtt)
                };
                self.start.on_ack(&event, &self.state);
                if self.state.in_slow_start() {
                    self.start.grow(&event, &mut self.state);
                }
                rtt += step;
            }
        }

        fn conservative(&self) -> bool {
            matches!(self.start.stage, Stage::Conservative { .. })
        }
    }

    #[test]
    fn the_threshold_is_an_eighth_of_the_round_trip_between_4_and_16_ms() {
        let start = HyStartPlusPlus::new(Parameters::default());
        for (rtt, threshold) in [(1, 4_000), (32, 4_000), (80, 10_000), (128, 16_000), (1000, 16_000)] {
            let threshold = Duration::from_microseconds(threshold);
            assert_eq!(start.threshold(Duration::from_milliseconds(rtt)), threshold);
        }
    }

    #[test]
    fn a_constant_delay_is_standard_slow_start() {
        let mut connection = Connection::new();
        for _ in 0..5 {
            connection.round(0.1, 0.0);
        }
        assert!((300.0..=320.0).contains(&connection.state.cwnd), "{}", connection.state.cwnd);
        assert_eq!(connection.start.stage, Stage::Watching);
    }

    #[test]
    fn growing_delay_leads_through_five_conservative_rounds_to_congestion_avoidance() {
        let mut connection = Connection::new();
        connection.round(0.1, 0.0);
        connection.round(0.1, 0.0);
        connection.round(0.12, 0.0);
        assert!(connection.conservative(), "20 ms more than 100 ms is above the threshold of 12.5 ms");
        let entered = connection.state.cwnd;
        for _ in 0..4 {
            assert!(connection.conservative());
            let before = connection.state.cwnd;
            connection.round(0.12, 0.0);
            let growth = connection.state.cwnd / before;
            assert!((growth - 1.25).abs() < 0.02, "a quarter of doubling: {growth}");
        }
        // The fifth round, counting the one in which it entered, ends with the next ACK.
        connection.round(0.12, 0.0);
        assert_eq!(connection.start.stage, Stage::Over);
        assert_eq!(connection.state.ssthresh, connection.state.cwnd);
        assert!((connection.state.cwnd / entered / libm::pow(1.25, 4.0) - 1.0).abs() < 0.05);
    }

    #[test]
    fn seven_samples_are_not_enough() {
        let mut connection = Connection::new();
        connection.round(0.1, 0.0);
        connection.state.cwnd = 7.0;
        connection.acknowledged += 100_000;
        for _ in 0..7 {
            let event = Acknowledged {
                acknowledged_total: Bytes(connection.acknowledged),
                sent_total: Bytes(u64::MAX),
                ..ack_at(0.0, 0.5)
            };
            connection.start.on_ack(&event, &connection.state);
            assert!(!connection.conservative());
        }
        let event = Acknowledged { acknowledged_total: Bytes(1), ..ack_at(0.0, 0.5) };
        connection.start.on_ack(&event, &connection.state);
        assert!(connection.conservative(), "the eighth decides");
    }

    #[test]
    fn a_smaller_delay_shows_that_the_exit_was_spurious() {
        let mut connection = Connection::new();
        connection.round(0.1, 0.0);
        connection.round(0.1, 0.0);
        connection.round(0.12, 0.0);
        assert!(connection.conservative());
        connection.round(0.119, 0.0);
        assert_eq!(connection.start.stage, Stage::Watching, "below the baseline of 120 ms");
        let before = connection.state.cwnd;
        connection.round(0.119, 0.0);
        assert!(connection.state.cwnd / before > 1.9, "doubles again");
    }

    #[test]
    fn only_the_first_slow_start_is_watched() {
        let mut connection = Connection::new();
        connection.round(0.1, 0.0);
        connection.start.on_loss(&LossDetected::new(Time::ZERO, Bytes(10_000)), &mut connection.state);
        for round in 1..5 {
            connection.round(0.1 * f64::from(round), 0.0);
        }
        assert_eq!(connection.start.stage, Stage::Over);
    }

    /// In congestion avoidance entered before it has ended slow start itself it neither counts
    /// rounds nor takes samples: a later slow start would be judged by round trips of another
    /// phase.
    #[test]
    fn it_does_not_watch_congestion_avoidance() {
        let mut connection = Connection::new();
        connection.round(0.1, 0.0);
        connection.state.ssthresh = connection.state.cwnd;
        let before = connection.start.round_minimum;
        let event = Acknowledged {
            acknowledged_total: Bytes(u64::MAX),
            sent_total: Bytes(u64::MAX),
            ..ack_at(0.0, 0.01)
        };
        connection.start.on_ack(&event, &connection.state);
        assert_eq!(connection.start.round_minimum, before);
    }

    #[test]
    fn one_acknowledgement_adds_eight_segments_at_most() {
        let mut connection = Connection::new();
        connection
            .start
            .grow(&Acknowledged { size: Bytes(20_000), ..ack_at(0.0, 0.1) }, &mut connection.state);
        assert_eq!(connection.state.cwnd, 18.0);
    }

    /// "An implementation SHOULD use HyStart++ only for the initial slow start": marks and timeouts
    /// end that, too.
    #[test]
    fn what_ends_it() {
        for (name, end) in crate::fixtures::ends() {
            let mut connection = Connection::new();
            connection.round(0.1, 0.0);
            end(&mut connection.start, &mut connection.state);
            assert_eq!(connection.start.stage, Stage::Over, "{name}");
            crate::fixtures::is_plain_slow_start(&mut connection.start, &mut connection.state, name);
        }
    }
}
