//! The modified Swift Start of Khalil, Elbery, Nosair and Morsi: the sender marks two segments as a
//! pair, the receiver times their arrival and reports the interval in an option of its ACKs, so
//! that neither delayed or thinned ACKs nor a queue on their way falsify it.
//!
//! Section numbers below are those of "A Modification to Swifter Start Algorithm for TCP Congestion
//! Control".
//!
//! The paper trusts the report. A receiver could then make a sender start at any rate, so here the
//! jump is bounded by something the receiver cannot fake without actually receiving: slow start
//! never sends more than twice as fast as its data is acknowledged, and the jump does not either.
//! With A the rate at which the ACKs of one flight acknowledge data, the window after a report of
//! the capacity C is
//!
//! W = min(C / alpha, max(10, min(2 A RTT, 2560))) segments,
//!
//! where 10 segments are RFC 6928's initial window for any connection, and 2560 the window eight
//! round trips later. As the flights get longer A is measured again, until it confirms C. Beyond W
//! the window grows as in slow start. A receiver that only lies about the interval thus gains a
//! factor of two; one that also holds back its first ACK until the second can make A arbitrarily
//! large, and is limited only by the 2560 segments.

mod receiver;

pub use receiver::SwiftStartReceiver;

use super::paced_round_trip::PacedRoundTrip;
use crate::decision::{Pacing, Phase, Probe, ProbePart};
use crate::entry::{Entry, Need};
use crate::event::{Acknowledged, DuplicateAck, EcnEcho, LossDetected, Sent, Timeout};
use crate::option::{PairMark, PeerOption, SwiftStartOption};
use crate::part::StartPart;
use crate::receiver::Partner;
use crate::state::{Setup, WindowState};
use crate::units::{Bytes, Duration, Time};
use crate::{choice, parameters};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "modified-swift-start",
    about: "Four segments, of which two are a marked pair; the receiver times the pair and reports the interval, and the \
            capacity that follows is sent spread over the next round trip.",
    source: "Khalil, Elbery, Nosair, Morsi: A Modification to Swifter Start Algorithm for TCP Congestion Control (2005)",
    parameters: Parameters::TABLE,
    needs: &[Need::Pacing, Need::Trains],
    ..Entry::START
};

choice! {
    /// Bounds the window that follows from a report.
    JumpBound {
        /// The rate at which data is acknowledged.
        AckClock = "ack-clock",
        /// Nothing: the receiver is trusted.
        None = "none",
    }
}

parameters! {
    /// Parameters of the modified Swift Start.
    Parameters {
        /// Initial window. It overrides the transport's.
        swift_initial_window: f64 = 4.0, shown "4", unit "segments", range (1.0, 1e6),
            source "section 3: the connection starts with four segments which are sent in burst";
        /// The alpha of the paper: the window after the estimate is the capacity over this.
        swift_alpha: f64 = 1.0, shown "1", unit "", range (1.0, 8.0),
            source "section 3.2: it is not needed to use only a fraction of the capacity";
        /// Go on sending pairs, and jump again, at most once a round trip, when one shows a larger
        /// capacity than is in use; until the first loss.
        continuous_probe: bool = false, shown "false", unit "", range (0.0, 0.0),
            source "our choice; section 3.2 sends all data in pairs and does not say what later ones change";
        /// Bounds the window that follows from a report.
        jump_bound: JumpBound = JumpBound::AckClock, shown "ack-clock", unit "", range (0.0, 0.0),
            source "our choice, the paper has none: twice the rate of acknowledgements, as in slow start";
        /// Largest window that a report can lead to, with `jump_bound = "ack-clock"`.
        largest_jump: f64 = 2560.0, shown "2560", unit "segments", range (10.0, 1e9),
            source "our choice: 10 segments (RFC 6928) doubled in each of eight round trips";
    }
}

/// Initial window of RFC 6928, in segments.
const INITIAL_WINDOW_10: f64 = 10.0;
/// Factor of slow start: the window, and with it the rate, at most doubles per round trip.
const DOUBLING: f64 = 2.0;

/// Rate at which ACKs acknowledge data, over one flight.
#[derive(Clone, Copy, Debug, Default)]
struct AckClock {
    /// Arrival of the flight's first ACK, its acknowledged total, and the total that ends the
    /// flight.
    flight: Option<(Time, Bytes, Bytes)>,
    /// Bytes per second, of the current flight so far or of the last one.
    rate: f64,
}

impl AckClock {
    fn on_ack(&mut self, event: &Acknowledged) {
        let total = event.acknowledged_total;
        match self.flight {
            // A single ACK for the whole flight gives no rate.
            None if total >= event.sent_total => {}
            None => self.flight = Some((event.now, total, event.sent_total)),
            Some((first, before, end)) => {
                let interval = event.now.since(first).seconds();
                self.rate = total.saturating_sub(before).get() as f64 / interval;
                if total >= end {
                    self.flight = None;
                }
            }
        }
    }
}

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Slow start, until a report comes.
    Waiting,
    /// An estimate, in segments, that is not yet in full use.
    Estimated(f64),
    /// In the round trip after the estimate.
    Paced,
    /// Slow start up to the capacity. A new report can restart it.
    Done,
    /// After a loss.
    Over,
}

/// The sender's part.
#[derive(Clone, Debug)]
pub struct ModifiedSwiftStart {
    parameters: Parameters,
    stage: Stage,
    round: Option<PacedRoundTrip>,
    ack_clock: AckClock,
    next_pair_id: u8,
    /// Pair-id of the last report: it is repeated for a round trip.
    reported: Option<u8>,
    /// Time of the last estimate.
    estimated: Time,
}

impl ModifiedSwiftStart {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            stage: Stage::Waiting,
            round: None,
            ack_clock: AckClock { flight: None, rate: 0.0 },
            next_pair_id: 0,
            reported: None,
            estimated: Time::ZERO,
        }
    }

    /// The capacity from a new report, in full segments.
    fn read_report(
        &mut self,
        option: Option<PeerOption>,
        minimum_rtt: Option<Duration>,
        state: &WindowState,
    ) -> Option<f64> {
        let Some(PeerOption::SwiftStart(SwiftStartOption::Reply { id, microseconds })) = option else {
            return None;
        };
        if self.reported.replace(id) == Some(id) || microseconds == 0 {
            // A microsecond clock did not resolve the interval: the rate is not measurable.
            return None;
        }
        // "SegSize is the length of the second segment": a full one and its mark.
        let mark = SwiftStartOption::Mark(PairMark::Second, id);
        let full = state.full_segment_on_wire().get() as f64;
        let size = full + f64::from(PeerOption::SwiftStart(mark).wire_length());
        let rtt_us = minimum_rtt?.seconds() * 1e6;
        Some(rtt_us / f64::from(microseconds) * (size / full))
    }

    /// The window that the rate of ACKs supports, in segments.
    fn borne_out(&self, rtt: Duration, state: &WindowState) -> f64 {
        match self.parameters.jump_bound {
            JumpBound::None => f64::INFINITY,
            JumpBound::AckClock => {
                let acknowledged = self.ack_clock.rate * rtt.seconds() / state.mss.get() as f64;
                (DOUBLING * acknowledged).max(INITIAL_WINDOW_10)
            }
        }
    }

    fn largest_jump(&self) -> f64 {
        match self.parameters.jump_bound {
            JumpBound::None => f64::INFINITY,
            JumpBound::AckClock => self.parameters.largest_jump,
        }
    }

    /// Raises the window to the capacity, as far as the ACK rate supports it.
    fn jump(&mut self, capacity: f64, event: &Acknowledged, state: &mut WindowState) {
        let Some(rtt) = event.minimum_rtt else { return };
        let borne_out = self.borne_out(rtt, state);
        let target = (capacity / self.parameters.swift_alpha)
            .min(borne_out)
            .min(self.largest_jump())
            .min(state.receive_window_segments());
        let slow_start = state.cwnd + state.slow_start_step(event.size);
        if target > slow_start {
            state.cwnd = target;
            // A window that any connection may send in a burst leaves at the reported rate, so that
            // its ACKs can confirm it.
            let spread = if target <= INITIAL_WINDOW_10 { capacity } else { target };
            self.round = Some(PacedRoundTrip::new(event.now, rtt, spread, 0.0, state));
        } else if capacity > slow_start {
            state.cwnd = slow_start;
        }
        if borne_out >= capacity || state.cwnd >= capacity {
            // Slow start closes any gap to the capacity (our choice; the paper is silent).
            state.ssthresh = capacity.max(2.0);
            self.stage = Stage::Paced;
        }
    }
}

impl StartPart for ModifiedSwiftStart {
    fn partner(&self) -> Partner {
        Partner::new(SwiftStartReceiver::default())
    }

    fn begin(&mut self, _setup: &Setup, state: &mut WindowState) {
        state.cwnd = self.parameters.swift_initial_window;
    }

    fn on_ack(&mut self, event: &Acknowledged, state: &WindowState) {
        if self.stage == Stage::Over {
            return;
        }
        self.ack_clock.on_ack(event);
        if self.round.is_some_and(|round| round.is_over(event.now)) {
            self.round = None;
        }
        if self.stage == Stage::Paced && self.round.is_none() {
            self.stage = Stage::Done;
        }
        let Some(capacity) = self.read_report(event.option, event.minimum_rtt, state) else { return };
        let again = self.parameters.continuous_probe
            && matches!(self.stage, Stage::Done | Stage::Estimated(_))
            && event.now.since(self.estimated) >= event.minimum_rtt.unwrap_or_default()
            && capacity > state.cwnd;
        if self.stage == Stage::Waiting || again {
            self.estimated = event.now;
            self.stage = Stage::Estimated(capacity);
        }
    }

    fn on_duplicate_ack(&mut self, _event: &DuplicateAck) {}

    fn holds_window(&self) -> bool {
        matches!(self.stage, Stage::Estimated(_) | Stage::Paced)
    }

    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        match self.stage {
            Stage::Estimated(capacity) => self.jump(capacity, event, state),
            Stage::Paced => {}
            // Also with a peer that lacks the option: plain slow start.
            Stage::Waiting | Stage::Done | Stage::Over => {
                state.cwnd += state.slow_start_step(event.size);
            }
        }
    }

    /// Reno from then on, and the estimate is discarded (our choice; the paper is silent).
    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {
        (self.stage, self.round) = (Stage::Over, None);
    }

    fn on_ecn_echo(&mut self, _event: &EcnEcho) {
        (self.stage, self.round) = (Stage::Over, None);
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        (self.stage, self.round) = (Stage::Over, None);
    }

    fn on_sent(&mut self, event: &Sent) {
        if let Some(round) = &mut self.round {
            round.on_sent(event);
        }
    }

    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        self.round.as_ref()?.pacing(state)
    }

    /// "The sender sends its data in form of packet pairs" (section 3.2): until one has been
    /// reported.
    fn probe(&self, _state: &WindowState) -> Option<Probe> {
        let wanted = match self.stage {
            Stage::Waiting => true,
            Stage::Estimated(_) | Stage::Paced | Stage::Done => self.parameters.continuous_probe,
            Stage::Over => false,
        };
        wanted.then_some(Probe::Pair)
    }

    fn option_for(&mut self, part: ProbePart) -> Option<PeerOption> {
        let id = self.next_pair_id;
        let mark = match part {
            ProbePart::Single => return None,
            ProbePart::PairFirst => PairMark::First,
            ProbePart::PairSecond => {
                self.next_pair_id = (id + 1) % SwiftStartOption::IDS;
                PairMark::Second
            }
        };
        Some(PeerOption::SwiftStart(SwiftStartOption::Mark(mark, id)))
    }

    fn phase(&self) -> Option<Phase> {
        self.round.is_some().then_some(Phase::PacedStart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack_at, state};

    /// OC-1, 1500 bytes: 242.424 µs.
    const INTERVAL_MS: f64 = 0.242_424;

    /// A connection over 49.5 Mbit/s and 470 ms, whose receiver acknowledges every other segment.
    struct Connection {
        start: ModifiedSwiftStart,
        state: WindowState,
        sent: u64,
        pair_id: u8,
    }

    impl Connection {
        fn new(parameters: Parameters) -> Self {
            let mut state = state(4.0);
            (state.mss, state.header) = (Bytes(1460), Bytes(40));
            Self { start: ModifiedSwiftStart::new(parameters), state, sent: 4, pair_id: 0 }
        }

        fn ack(&mut self, segments: u64, milliseconds: f64, report: Option<u32>) {
            let id = self.pair_id;
            let reply = |microseconds| PeerOption::SwiftStart(SwiftStartOption::Reply { id, microseconds });
            let event = Acknowledged {
                size: Bytes(2 * 1460),
                acknowledged_total: Bytes(segments * 1460),
                sent_total: Bytes(self.sent * 1460),
                option: report.map(reply),
                ..ack_at(milliseconds / 1000.0, 0.47)
            };
            self.start.on_ack(&event, &self.state);
            if self.start.holds_window() || self.state.in_slow_start() {
                self.start.grow(&event, &mut self.state);
            }
        }
    }

    /// 1939 segments of 1500 bytes (SPECS of the figures: 49.5 Mbit/s, 0.47 s); the second of the
    /// pair has 8 bytes more.
    #[test]
    fn the_capacity_is_used_when_the_second_acknowledgement_bears_it_out() {
        let mut connection = Connection::new(Parameters::default());
        let report = Some((INTERVAL_MS * 1000.0 * 1508.0 / 1500.0_f64).round() as u32);
        connection.ack(2, 470.0, report);
        assert_eq!(
            connection.state.cwnd, 10.0,
            "one acknowledgement bears out no more than RFC 6928 allows anyone"
        );
        connection.ack(4, 470.0 + 2.0 * INTERVAL_MS, report);
        // The report is in whole microseconds: half of one in 244.
        assert!((connection.state.cwnd / 1938.75 - 1.0).abs() < 0.003, "{}", connection.state.cwnd);
        let pacing = connection.start.pacing(&connection.state).expect("spread over the round trip");
        assert!((pacing.interval.seconds() / (INTERVAL_MS / 1000.0) - 1.0).abs() < 0.003);
        assert!(!connection.state.in_slow_start());
        connection.ack(6, 941.0, report);
        assert_eq!(connection.start.pacing(&connection.state), None);
    }

    #[test]
    fn a_receiver_that_reports_a_tenth_gets_twice_the_rate_of_its_acknowledgements() {
        for (jump_bound, window) in [(JumpBound::AckClock, 2.0 * 1938.75), (JumpBound::None, 19_480.0)] {
            let mut connection =
                Connection::new(Parameters { jump_bound, largest_jump: 1e9, ..Parameters::default() });
            connection.ack(2, 470.0, Some(24));
            connection.ack(4, 470.0 + 2.0 * INTERVAL_MS, Some(24));
            assert!((connection.state.cwnd / window - 1.0).abs() < 0.03, "{}", connection.state.cwnd);
        }
        let mut connection = Connection::new(Parameters::default());
        connection.ack(2, 470.0, Some(24));
        // The receiver holds back its first ACK until the second.
        connection.ack(4, 470.0, Some(24));
        assert_eq!(connection.state.cwnd, 2560.0);
    }

    #[test]
    fn without_a_report_it_is_slow_start() {
        let mut connection = Connection::new(Parameters::default());
        for (segments, milliseconds) in [(2, 470.0), (4, 470.5), (6, 940.0), (8, 940.5)] {
            connection.ack(segments, milliseconds, None);
        }
        assert_eq!((connection.state.cwnd, connection.start.pacing(&connection.state)), (8.0, None));
        assert_eq!(connection.start.probe(&connection.state), Some(Probe::Pair), "it goes on asking");
    }

    #[test]
    fn one_acknowledgement_for_the_flight_begins_with_ten_and_goes_on_when_there_are_more() {
        let mut connection = Connection::new(Parameters::default());
        connection.ack(4, 470.0, Some(243));
        assert_eq!(connection.state.cwnd, 10.0);
        connection.sent = 14;
        connection.ack(8, 940.0, Some(243));
        connection.ack(12, 940.0 + 4.0 * INTERVAL_MS, Some(243));
        assert!((connection.state.cwnd / 1938.75 - 1.0).abs() < 0.01, "{}", connection.state.cwnd);
    }

    #[test]
    fn a_repeated_report_counts_once_and_a_loss_ends_it() {
        let mut connection = Connection::new(Parameters { continuous_probe: true, ..Parameters::default() });
        connection.ack(2, 470.0, Some(2430));
        connection.ack(4, 472.4 + 2.0, Some(2430));
        let window = connection.state.cwnd;
        connection.ack(6, 1000.0, Some(243));
        assert_eq!(connection.state.cwnd, window, "the same pair-id");
        connection.start.on_loss(&LossDetected::new(Time::ZERO, Bytes(0)), &mut connection.state);
        assert_eq!(connection.start.probe(&connection.state), None);
        assert!(!connection.start.holds_window());
    }

    /// Cross traffic widened the first pair ten times, and a later one not at all.
    #[test]
    fn continuous_probing_jumps_again_when_a_later_pair_shows_more() {
        for (continuous_probe, window) in [(false, 196.0), (true, 1939.0)] {
            let mut connection = Connection::new(Parameters { continuous_probe, ..Parameters::default() });
            connection.ack(2, 470.0, Some(2430));
            connection.ack(4, 470.5, Some(2430));
            assert!((connection.state.cwnd / 194.6 - 1.0).abs() < 0.01, "{}", connection.state.cwnd);
            assert_eq!(connection.start.probe(&connection.state).is_some(), continuous_probe);
            connection.sent = 200;
            connection.pair_id = 1;
            connection.ack(6, 941.0, Some(243));
            connection.ack(8, 941.5, Some(243));
            assert!((connection.state.cwnd / window - 1.0).abs() < 0.02, "{}", connection.state.cwnd);
        }
    }

    #[test]
    fn pair_ids_are_six_bits() {
        let mut start = ModifiedSwiftStart::new(Parameters::default());
        for round in 0..100_u8 {
            for (part, mark) in
                [(ProbePart::PairFirst, PairMark::First), (ProbePart::PairSecond, PairMark::Second)]
            {
                let option = SwiftStartOption::Mark(mark, round % 64);
                assert_eq!(start.option_for(part), Some(PeerOption::SwiftStart(option)));
            }
        }
    }

    #[test]
    fn what_ends_it() {
        for (name, end) in crate::fixtures::ends() {
            let mut connection =
                Connection::new(Parameters { continuous_probe: true, ..Parameters::default() });
            connection.ack(2, 470.0, Some(242));
            let Connection { start, state, .. } = &mut connection;
            assert_eq!((start.phase(), start.probe(state)), (Some(Phase::PacedStart), Some(Probe::Pair)));
            assert!(start.pacing(state).is_some());
            end(start, state);
            crate::fixtures::is_plain_slow_start(start, state, name);
        }
    }

    /// Both segments of a pair carry its number, and the next pair the next of the 64.
    #[test]
    fn pairs_are_numbered() {
        let mut start = ModifiedSwiftStart::new(Parameters::default());
        assert_eq!(start.option_for(ProbePart::Single), None);
        for number in 0..130 {
            let id = number % 64;
            for (part, mark) in
                [(ProbePart::PairFirst, PairMark::First), (ProbePart::PairSecond, PairMark::Second)]
            {
                let expected = PeerOption::SwiftStart(SwiftStartOption::Mark(mark, id));
                assert_eq!(start.option_for(part), Some(expected), "{number}");
            }
        }
    }
}
