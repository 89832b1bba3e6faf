//! Physical bandwidth only, from pairs of segments: among recent pairs, the one with the smallest
//! total delay met no cross traffic, and its spacing is one packet's transmission time on the
//! narrowest link (CapProbe: Kapoor, Chen, Lao, Gerla, Sanadidi, 2004).
//!
//! CapProbe times the reply to each packet. A receiver that delays its ACKs replies to several
//! together, so a pair must be a train of twice as many segments: two ACKs then fall within it,
//! wherever they fall, and the spacing is that of the segments between them. With an ACK of every
//! segment the train is the paper's pair.
//!
//! When the available bandwidth is measured too, bursts determine the physical bandwidth even of a
//! path that is never idle: see [`super::capacity`]. On hosts whose network cards collect packets,
//! pairs show nothing, because both arrive together.

use crate::entry::{Entry, Need};
use crate::event::{Acknowledged, Resumed, Sent};
use crate::parameters;
use crate::part::EstimatePart;
use crate::state::WindowState;
use crate::units::{Bytes, Duration, Time};
use alloc::collections::VecDeque;

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "capacity",
    about: "Physical bandwidth from the pair of segments with the smallest delay.",
    source: "Kapoor et al.: CapProbe, SIGCOMM 2004",
    parameters: Parameters::TABLE,
    needs: &[Need::Trains],
    ..Entry::ESTIMATE
};

parameters! {
    /// Parameters of the measurement by pairs.
    Parameters {
        /// Pairs from which the one with the smallest delay is taken.
        pairs: f64 = 20.0, shown "20", unit "", range (1.0, 1000.0),
            source "our choice";
        /// Pause between pairs, in smoothed round-trip times.
        pair_pause: f64 = 0.5, shown "0.5", unit "RTT", range (0.0, 1000.0),
            source "our choice";
    }
}

/// Number of ACKs that show how many segments the receiver acknowledges together. Our choice: more
/// than two, so that one by the timer of delayed ACKs hides nothing, and few, so that the ACK that
/// ends a recovery is soon forgotten.
const ACKS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Wait until this time.
    Waiting(Time),
    /// Hold segments until this byte is acknowledged and a train waits.
    Storing(Bytes),
    /// Segments of the train sent so far.
    Sending(u64),
    /// The first ACK within the train, if any: its time, and the number of segments it covers.
    Collecting(Option<(Time, u64)>),
}

/// Measures by pairs.
#[derive(Clone, Debug)]
pub struct Pairs {
    parameters: Parameters,
    phase: Phase,
    /// First byte of the train, its send time, and its number of segments.
    first: Bytes,
    sent: Time,
    length: u64,
    /// Segments that each of the last ACKs covered, and the next place.
    covered: [u64; ACKS],
    place: usize,
    /// Sum of both delays, s, and spacing of two segments, s.
    results: VecDeque<(f64, f64)>,
}

impl Pairs {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            phase: Phase::Waiting(Time::ZERO),
            first: Bytes::ZERO,
            sent: Time::ZERO,
            length: 2,
            covered: [1; ACKS],
            place: 0,
            results: VecDeque::new(),
        }
    }

    /// Two ACKs for this many segments came at these times.
    fn record(&mut self, (first, second): (Time, Time), segments: u64, state: &mut WindowState) {
        let delays = first.since(self.sent).seconds() + second.since(self.sent).seconds();
        if self.results.len() >= self.parameters.pairs as usize {
            self.results.pop_front();
        }
        self.results.push_back((delays, second.since(first).seconds() / segments as f64));
        let least = self.results.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        // Both at the same time, as from one interrupt: no spacing.
        if let Some(&(_, spacing)) = least
            && spacing > 0.0
        {
            state.path.capacity_bps = Some(state.full_segment_on_wire().get() as f64 * 8.0 / spacing);
        }
    }
}

impl EstimatePart for Pairs {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let mss = state.mss.get();
        if !event.recovering {
            self.covered[self.place] = event.size.get().div_ceil(mss).max(1);
            self.place = (self.place + 1) % ACKS;
        }
        // Segments of the train that have arrived: any byte of a segment shows it.
        let arrived = event.acknowledged_total.get().saturating_sub(self.first.get()).div_ceil(mss);
        match self.phase {
            Phase::Waiting(until) if event.now >= until => {
                self.length = 2 * self.covered.into_iter().max().unwrap_or(1);
                // A window of two trains leaves one to store.
                let may = !event.recovering && event.window_limited && state.cwnd >= 2.0 * self.length as f64;
                if may {
                    let stored = Bytes(self.length * mss);
                    self.phase = Phase::Storing(event.acknowledged_total + stored);
                }
            }
            Phase::Storing(until) if event.acknowledged_total >= until => {
                (self.first, self.sent) = (event.sent_total, event.now);
                self.phase = Phase::Sending(0);
            }
            Phase::Sending(sent) if sent >= self.length => self.phase = Phase::Collecting(None),
            Phase::Collecting(None) if arrived >= self.length => self.abandon(event.now),
            Phase::Collecting(None) if arrived > 0 => {
                self.phase = Phase::Collecting(Some((event.now, arrived)));
            }
            Phase::Collecting(Some((_, before))) if arrived > before && arrived > self.length => {
                // The second ACK covers what left after the train.
                self.abandon(event.now);
            }
            Phase::Collecting(Some((first, before))) if arrived > before => {
                self.record((first, event.now), arrived - before, state);
                let pause = event.smoothed_rtt.map_or(0.0, Duration::seconds) * self.parameters.pair_pause;
                self.phase = Phase::Waiting(event.now + Duration::from_seconds(pause));
            }
            _ => {}
        }
    }

    fn on_sent(&mut self, _event: &Sent, _state: &WindowState) {
        if let Phase::Sending(sent) = &mut self.phase {
            *sent += 1;
        }
    }

    /// A pause ends a measurement: the rest of a train would leave late, and the spacing would be
    /// that of the pause.
    fn on_resumed(&mut self, event: &Resumed) {
        if !matches!(self.phase, Phase::Waiting(_)) {
            self.abandon(event.now);
        }
    }

    fn abandon(&mut self, now: Time) {
        self.phase = Phase::Waiting(now);
    }

    fn allowance(&self, state: &WindowState) -> Bytes {
        match self.phase {
            Phase::Storing(_) => Bytes::ZERO,
            Phase::Sending(sent) => Bytes(self.length.saturating_sub(sent) * state.mss.get()),
            _ => Bytes::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack_at, state};

    /// A connection of segments of 1000 B, 1040 B on the wire, and round trips of 100 ms.
    struct Connection {
        pairs: Pairs,
        state: WindowState,
    }

    impl Connection {
        fn new(pairs: f64) -> Self {
            Self { pairs: Pairs::new(Parameters { pairs, ..Parameters::default() }), state: state(10.0) }
        }
        fn ack(&mut self, milliseconds: f64, acknowledged: u64, sent: u64) {
            let event = Acknowledged {
                acknowledged_total: Bytes(acknowledged),
                sent_total: Bytes(sent),
                ..ack_at(milliseconds * 1e-3, 0.1)
            };
            self.pairs.on_ack(&event, &mut self.state);
        }
        fn allowed(&self) -> u64 {
            self.pairs.allowance(&self.state).get()
        }
        fn send(&mut self) {
            let (now, nothing) = (Time::ZERO, Bytes::ZERO);
            let sent = Sent::new(now, Bytes(1000), nothing);
            self.pairs.on_sent(&sent, &self.state);
        }
        /// Stores and sends a pair at `at` ms that is acknowledged after these delays, ms;
        /// everything earlier is acknowledged.
        fn pair(&mut self, at: f64, delays: [f64; 2]) {
            let acknowledged = self.pairs.first.get() + 10_000;
            self.ack(at - 2.0, acknowledged, acknowledged);
            assert_eq!(self.allowed(), 0, "two segments are stored");
            self.ack(at - 1.0, acknowledged + 1999, acknowledged);
            assert_eq!(self.allowed(), 0, "not yet");
            let first = acknowledged + 2000;
            self.ack(at, first, first);
            for left in [2000, 1000, 0] {
                assert_eq!(self.allowed(), left);
                self.send();
            }
            // Earlier data is acknowledged, and everything may be sent.
            self.ack(at + 0.5, first, first);
            assert_eq!(self.allowed(), u64::MAX);
            for (delay, end) in delays.into_iter().zip([1000, 2000]) {
                self.ack(at + delay, first + end, first + 2000);
            }
        }
        fn capacity(&self) -> Option<f64> {
            self.state.path.capacity_bps
        }
    }

    fn is(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-6)
    }

    /// 1040 B in 1 ms are 8.32 Mbit/s. Pairs that met cross traffic, before the first segment or
    /// between both, have larger delays, and are ignored whatever their spacing.
    #[test]
    fn the_pair_with_the_smallest_delay() {
        let mut connection = Connection::new(20.0);
        connection.pair(1000.0, [50.0, 53.0]);
        assert!(is(connection.capacity(), 8.32e6 / 3.0));
        connection.pair(2000.0, [50.0, 51.0]);
        assert!(is(connection.capacity(), 8.32e6));
        // Behind other packets the second catches up: twice the bandwidth, with 2 ms of extra
        // delay.
        connection.pair(3000.0, [51.25, 51.75]);
        connection.pair(4000.0, [50.5, 51.0]);
        assert!(is(connection.capacity(), 8.32e6), "{:?}", connection.capacity());
        connection.pair(5000.0, [49.9, 50.5]);
        assert!(is(connection.capacity(), 8.32e6 / 0.6));
    }

    /// Of the last two, the one with the smaller delay: older ones are dropped.
    #[test]
    fn old_pairs_are_forgotten() {
        let mut connection = Connection::new(2.0);
        for (second, spacing) in [1.0, 4.0, 3.0].into_iter().enumerate() {
            connection.pair(1000.0 * (second + 1) as f64, [50.0, 50.0 + spacing]);
            let smallest = [1.0, 1.0, 3.0][second];
            assert!(is(connection.capacity(), 8.32e6 / smallest), "{second}: {:?}", connection.capacity());
        }
    }

    /// After half a round trip, and only if the window is the limit and holds two pairs.
    #[test]
    fn when_it_measures() {
        let mut connection = Connection::new(20.0);
        connection.pair(1000.0, [50.0, 51.0]);
        assert_eq!(connection.pairs.phase, Phase::Waiting(Time::ZERO + Duration::from_milliseconds(1101)));
        connection.ack(1100.9, 100_000, 100_000);
        assert_eq!(connection.allowed(), u64::MAX);
        connection.state.cwnd = 3.9;
        connection.ack(1101.0, 100_000, 100_000);
        assert_eq!(connection.allowed(), u64::MAX);
        connection.state.cwnd = 4.0;
        for change in [
            |event: &mut Acknowledged| event.recovering = true,
            |event: &mut Acknowledged| event.window_limited = false,
        ] {
            let mut event = ack_at(1.2, 0.1);
            change(&mut event);
            connection.pairs.on_ack(&event, &mut connection.state);
            assert_eq!(connection.allowed(), u64::MAX);
        }
        connection.ack(1200.0, 100_000, 100_000);
        assert_eq!(connection.allowed(), 0);
        connection.pairs.abandon(Time::ZERO);
        assert_eq!(connection.allowed(), u64::MAX, "after a loss");
    }

    /// One ACK for both, or both at the same time: no spacing was measured.
    #[test]
    fn pairs_that_come_back_together_tell_nothing() {
        let mut connection = Connection::new(20.0);
        connection.pair(1000.0, [50.0, 50.0]);
        assert_eq!(connection.capacity(), None);
        let first = 100_000;
        connection.ack(2000.0, first - 2000, first - 2000);
        connection.ack(2001.0, first, first);
        connection.send();
        connection.send();
        connection.ack(2002.0, first, first);
        connection.ack(2050.0, first + 2000, first + 2000);
        assert_eq!(connection.capacity(), None);
        assert!(matches!(connection.pairs.phase, Phase::Waiting(_)), "it goes on to the next pair");
    }

    /// A receiver that acknowledges half a segment: any byte of a segment shows that it arrived.
    #[test]
    fn halves_of_segments() {
        let mut connection = Connection::new(20.0);
        connection.pair(1000.0, [50.0, 60.0]);
        let first = 100_000;
        connection.ack(2000.0, first - 2000, first - 2000);
        connection.ack(2001.0, first, first);
        connection.send();
        connection.send();
        connection.ack(2002.0, first, first);
        for (at, acknowledged) in [(2040.0, 500), (2040.3, 1000), (2042.0, 1001), (2043.0, 2000)] {
            connection.ack(at, first + acknowledged, first + 2000);
        }
        assert!(is(connection.capacity(), 8.32e6 / 2.0), "{:?}", connection.capacity());
    }

    /// The sum of the two delays counts: 10 and 100 ms are more than 40 and 60 ms.
    #[test]
    fn the_sum_of_both_delays() {
        let mut connection = Connection::new(20.0);
        connection.pair(1000.0, [40.0, 60.0]);
        connection.pair(2000.0, [10.0, 100.0]);
        assert!(is(connection.capacity(), 8.32e6 / 20.0), "{:?}", connection.capacity());
    }
    /// The same link, 1 ms a segment, and an ACK for every two: 8.32 Mbit/s, whether the ACKs cover
    /// the first and third of the train's four segments or the second and fourth. An ACK that also
    /// covers what left later tells nothing.
    #[test]
    fn an_ack_for_two_segments() {
        for (ends, known) in [([1, 3], true), ([2, 4], true), ([3, 5], false), ([4, 6], false)] {
            let mut connection = Connection::new(20.0);
            let mut total = 10_000;
            let mut ack = |connection: &mut Connection, at: f64, to: u64, sent: u64| {
                let event = Acknowledged {
                    size: Bytes(to - total),
                    acknowledged_total: Bytes(to),
                    sent_total: Bytes(sent),
                    ..ack_at(at * 1e-3, 0.1)
                };
                total = to;
                connection.pairs.on_ack(&event, &mut connection.state);
            };
            ack(&mut connection, 1000.0, 12_000, 20_000);
            assert_eq!(connection.allowed(), 0, "a train is stored");
            ack(&mut connection, 1002.0, 14_000, 20_000);
            assert_eq!(connection.allowed(), 0);
            ack(&mut connection, 1004.0, 16_000, 20_000);
            assert_eq!(connection.allowed(), 4000);
            (0..4).for_each(|_| connection.send());
            ack(&mut connection, 1006.0, 18_000, 24_000);
            for end in ends {
                ack(&mut connection, 1100.0 + end as f64, 20_000 + end * 1000, 30_000);
            }
            assert_eq!(is(connection.capacity(), 8.32e6), known, "{ends:?}: {:?}", connection.capacity());
            assert!(matches!(connection.pairs.phase, Phase::Waiting(_)) || !known);
        }
    }
    /// A pause of the application while segments are stored, or between the two of a pair: nothing
    /// is held back when it ends, and its length is no spacing.
    #[test]
    fn a_pause_ends_a_measurement() {
        for sent in [None, Some(1)] {
            let mut connection = Connection::new(20.0);
            connection.ack(1000.0, 12_000, 12_000);
            if let Some(sent) = sent {
                connection.ack(1001.0, 14_000, 14_000);
                (0..sent).for_each(|_| connection.send());
            }
            assert!(connection.allowed() <= 1000);
            let (now, idle) =
                (Time::ZERO + Duration::from_milliseconds(9000), Duration::from_milliseconds(8000));
            connection.pairs.on_resumed(&Resumed::new(now, idle, Duration::from_milliseconds(200)));
            assert_eq!(connection.allowed(), u64::MAX);
            connection.ack(9100.0, 15_000, 20_000);
            assert_eq!(connection.capacity(), None);
        }
    }
}
