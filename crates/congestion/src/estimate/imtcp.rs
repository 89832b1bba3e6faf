//! ImTCP: available bandwidth from the spacing of single segments, the ancestor of ICIM (Man,
//! Hasegawa and Murata).
//!
//! Segments wait until there are enough for a stream, which then leaves with a spacing that sweeps
//! one part of the search range. While the sending rate exceeds the available bandwidth, each
//! segment waits longer than the one before. The part in which that begins contains the available
//! bandwidth. The papers were not available; this follows the thesis and later papers.
//!
//! It cannot work beyond some 100 Mbit/s on hosts whose network cards collect packets: all ACKs of
//! a stream then arrive together. Nor does it measure the physical bandwidth: the mechanism that
//! used it assumed that as known.

use alloc::boxed::Box;

use super::ack_clock::AckClock;
use super::search_range::{Place, SearchRange};
use crate::decision::Pacing;
use crate::entry::{Entry, Need};
use crate::event::{Acknowledged, Resumed, Sent};
use crate::parameters;
use crate::part::EstimatePart;
use crate::state::WindowState;
use crate::units::{Bytes, Duration, Time};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "imtcp",
    about: "Available bandwidth from the spacing of single segments, for paths without interrupt coalescence.",
    source: "Man, Hasegawa, Murata: Available bandwidth measurement via TCP connection, 2004; our reconstruction",
    parameters: Parameters::TABLE,
    needs: &[Need::Pacing, Need::Trains, Need::EveryAck],
    ..Entry::ESTIMATE
};

parameters! {
    /// Parameters of ImTCP.
    Parameters {
        /// Streams of a measurement, each for one part of the search range.
        streams: f64 = 4.0, shown "4", unit "", range (2.0, 8.0),
            source "2 to 4 in the literature";
        /// Segments of a stream.
        stream_length: f64 = 5.0, shown "5", unit "segments", range (4.0, 16.0),
            source "the order of 5 in the literature";
        /// Pause between measurements, in smoothed round-trip times.
        pause: f64 = 1.0, shown "1", unit "RTT", range (0.0, 1000.0),
            source "our choice: one result in 1 to 4 round trips";
    }
}

const MOST_STREAMS: usize = 8;
const MOST_SEGMENTS: usize = 16;

/// Pathload's tests of a trend: the fraction of delays larger than the one before, and the net
/// growth over the sum of all changes.
const COMPARISONS: f64 = 0.66;
const DIFFERENCE: f64 = 0.55;

/// Round trips after which an unanswered measurement is abandoned.
const PATIENCE: f64 = 8.0;

/// One stream.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Rates between its first two and its last two segments, bit/s.
    low: f64,
    high: f64,
    /// Its first byte.
    first: Bytes,
    sent: [Time; MOST_SEGMENTS],
    acknowledged: [Time; MOST_SEGMENTS],
}

impl Stream {
    const NONE: Self = Self {
        low: 0.0,
        high: 0.0,
        first: Bytes::ZERO,
        sent: [Time::ZERO; MOST_SEGMENTS],
        acknowledged: [Time::ZERO; MOST_SEGMENTS],
    };

    /// Rate between segments `index` and `index + 1` of `length`; `index` may be fractional.
    fn rate(&self, index: f64, length: usize) -> f64 {
        self.low + (self.high - self.low) * index.clamp(0.0, length as f64 - 2.0) / (length as f64 - 2.0)
    }

    /// Delay of each segment relative to the first, s.
    fn delays(&self, length: usize) -> [f64; MOST_SEGMENTS] {
        let mut delays = [0.0; MOST_SEGMENTS];
        let delay = |index: usize| self.acknowledged[index].since(self.sent[index]).seconds();
        for (index, entry) in delays[..length].iter_mut().enumerate() {
            *entry = delay(index) - delay(0);
        }
        delays
    }
}

/// Pathload's tests: pairwise comparison and pairwise difference.
fn has_trend(delays: &[f64]) -> bool {
    let changes = || delays.windows(2).map(|pair| pair[1] - pair[0]);
    let larger = changes().filter(|&change| change > 0.0).count() as f64;
    let variation: f64 = changes().map(f64::abs).sum();
    let growth = delays[delays.len() - 1] - delays[0];
    variation > 0.0 && larger >= COMPARISONS * (delays.len() - 1) as f64 && growth >= DIFFERENCE * variation
}

/// Index, possibly fractional, at which a level line and a rising one, fitted to the delays, meet.
fn bend(delays: &[f64]) -> f64 {
    let last = delays.len() - 1;
    let mut best = (f64::INFINITY, 0.0);
    for split in 0..last {
        let (before, after) = (&delays[..=split], &delays[split..]);
        let level = before.iter().sum::<f64>() / before.len() as f64;
        // Through the end of the level part, by least squares.
        let (mut products, mut squares) = (0.0, 0.0);
        for (step, delay) in after.iter().enumerate() {
            products += step as f64 * (delay - level);
            squares += (step * step) as f64;
        }
        let slope = products / squares;
        let error: f64 = before.iter().map(|delay| (delay - level) * (delay - level)).sum::<f64>()
            + after
                .iter()
                .enumerate()
                .map(|(step, delay)| delay - level - slope * step as f64)
                .map(|error| error * error)
                .sum::<f64>();
        if slope > 0.0 && error < best.0 {
            best = (error, split as f64);
        }
    }
    best.1
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Wait until this time.
    Waiting(Time),
    /// Hold segments until this byte is acknowledged and enough of them wait for a stream.
    Storing(usize, Bytes),
    /// Segments of this stream sent so far.
    Sending(usize, usize),
    /// All is sent; ACKs are awaited.
    Collecting,
}

/// ImTCP.
#[derive(Clone, Debug)]
pub struct ImTcp {
    parameters: Parameters,
    clock: AckClock,
    range: SearchRange,
    phase: Phase,
    streams: Box<[Stream; MOST_STREAMS]>,
    /// Stream and segment to be acknowledged next.
    matched: (usize, usize),
    give_up: Time,
}

impl ImTcp {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            clock: AckClock::default(),
            range: SearchRange::default(),
            phase: Phase::Waiting(Time::ZERO),
            streams: Box::new([Stream::NONE; MOST_STREAMS]),
            matched: (0, 0),
            give_up: Time::NEVER,
        }
    }

    fn count(&self) -> usize {
        self.parameters.streams as usize
    }
    fn length(&self) -> usize {
        self.parameters.stream_length as usize
    }

    /// Plans the parts of the search range, lowest first; false if there is no range yet.
    fn plan(&mut self, state: &WindowState) -> bool {
        let per_payload = state.full_segment_on_wire().get() as f64 / state.mss.get() as f64;
        let Some(stretch) = self.clock.stretch() else { return false };
        let (low, high) = self.range.ends(stretch.bytes_per_second * 8.0 * per_payload);
        let (count, width) = (self.count(), (high - low) / self.count() as f64);
        for (i, stream) in self.streams[..count].iter_mut().enumerate() {
            let low = low + width * i as f64;
            *stream = Stream { low, high: low + width, ..Stream::NONE };
        }
        self.matched = (0, 0);
        low > 0.0 && high.is_finite()
    }

    fn store(&mut self, stream: usize, event: &Acknowledged, state: &WindowState) {
        let wanted = self.length() as u64 * state.mss.get();
        self.phase = Phase::Storing(stream, event.acknowledged_total + Bytes(wanted));
    }

    fn match_streams(&mut self, event: &Acknowledged, state: &WindowState) {
        let (streams, segments) = match self.phase {
            Phase::Storing(stream, _) => (stream, 0),
            Phase::Sending(stream, sent) => (stream, sent),
            Phase::Collecting => (self.count(), 0),
            Phase::Waiting(_) => (0, 0),
        };
        while self.matched < (streams, segments) {
            let (stream, segment) = self.matched;
            let stream = &mut self.streams[stream];
            let byte = stream.first + Bytes(state.mss.get().saturating_mul(segment as u64));
            if event.acknowledged_total <= byte {
                return;
            }
            stream.acknowledged[segment] = event.now;
            self.matched.1 += 1;
            if self.matched.1 == self.length() {
                self.matched = (self.matched.0 + 1, 0);
            }
        }
    }

    fn conclude(&mut self, state: &mut WindowState) {
        let (count, length) = (self.count(), self.length());
        let trend = |stream: &Stream| has_trend(&stream.delays(length)[..length]);
        let streams = &self.streams[..count];
        // The first part with the trend that all later parts have, too.
        let first = streams.iter().rposition(|stream| !trend(stream)).map_or(0, |last| last + 1);
        let (result, place) = match streams.get(first) {
            None => (streams[count - 1].high, Place::Top),
            Some(stream) => {
                let bend = bend(&stream.delays(length)[..length]);
                let place = if first == 0 && bend < 1.0 { Place::Bottom } else { Place::Inside };
                (stream.rate(bend, length), place)
            }
        };
        self.range.record(result, place);
        if place == Place::Inside || state.path.available_bps.is_some() {
            state.path.available_bps = Some(result);
        }
    }

    fn wait(&mut self, now: Time, round_trip: f64) {
        let pause = if self.range.is_settled() { self.parameters.pause * round_trip } else { 0.0 };
        self.phase = Phase::Waiting(now + Duration::from_seconds(pause));
    }
}

impl EstimatePart for ImTcp {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let Some(round_trip) = event.smoothed_rtt.map(Duration::seconds) else { return };
        self.clock.on_ack(event, round_trip);
        self.match_streams(event, state);
        let answered = self.phase == Phase::Collecting && self.matched.0 == self.count();
        if answered {
            self.conclude(state);
        }
        let given_up = !matches!(self.phase, Phase::Waiting(_)) && event.now > self.give_up;
        if answered || given_up {
            return self.wait(event.now, round_trip);
        }
        match self.phase {
            Phase::Waiting(until) => {
                // A window of two streams leaves one to store.
                let large = state.cwnd >= 2.0 * self.parameters.stream_length;
                let may = !event.recovering && event.window_limited && large && event.now >= until;
                if may && self.plan(state) {
                    self.give_up = event.now + Duration::from_seconds(PATIENCE * round_trip);
                    self.store(0, event, state);
                }
            }
            Phase::Storing(stream, until) if event.acknowledged_total >= until => {
                self.streams[stream].first = event.sent_total;
                self.phase = Phase::Sending(stream, 0);
            }
            Phase::Sending(stream, sent) if sent == self.length() => {
                if stream + 1 < self.count() {
                    self.store(stream + 1, event, state);
                } else {
                    self.phase = Phase::Collecting;
                }
            }
            _ => {}
        }
    }

    fn on_sent(&mut self, event: &Sent, _state: &WindowState) {
        if let Phase::Sending(stream, sent) = &mut self.phase
            && *sent < MOST_SEGMENTS
        {
            self.streams[*stream].sent[*sent] = event.now;
            *sent += 1;
        }
    }

    /// A pause ends a measurement: what was stored or sent is no stream.
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
            Phase::Waiting(_) | Phase::Collecting => Bytes::MAX,
            Phase::Storing(..) => Bytes::ZERO,
            Phase::Sending(_, sent) => Bytes(state.mss.get() * self.length().saturating_sub(sent) as u64),
        }
    }

    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        let Phase::Sending(stream, sent) = self.phase else { return None };
        let size = state.full_segment_on_wire();
        let rate = self.streams[stream].rate(sent as f64, self.length());
        let interval = Duration::from_seconds(size.get() as f64 * 8.0 / rate);
        (!interval.is_zero()).then_some(Pacing { interval, size, tick: Duration::ZERO })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack_at, state};

    #[test]
    fn a_rising_delay_is_a_trend() {
        assert!(has_trend(&[0.0, 1.0, 2.0, 3.0, 4.0]));
        assert!(has_trend(&[0.0, 1.0, 0.9, 2.0, 3.0]));
        assert!(!has_trend(&[0.0, 0.0, 0.0, 0.0, 0.0]));
        assert!(!has_trend(&[0.0, 1.0, 0.0, 1.0, 0.0]));
        assert!(!has_trend(&[4.0, 3.0, 2.0, 1.0, 0.0]), "what an interrupt does to the delays of a stream");
    }

    #[test]
    fn the_bend_is_where_the_rise_begins() {
        assert_eq!(bend(&[0.0, 0.0, 0.0, 1.0, 2.0]), 2.0);
        assert_eq!(bend(&[0.0, 1.0, 2.0, 3.0, 4.0]), 0.0);
        assert_eq!(bend(&[0.0, 0.0, 0.0, 0.0, 1.0]), 3.0);
    }

    #[test]
    fn the_rate_sweeps_the_part_of_a_stream() {
        let stream = Stream { low: 10.0, high: 40.0, ..Stream::NONE };
        // Five segments have four gaps, of which the first has the lower rate and the last the
        // higher one.
        for (index, rate) in [(0.0, 10.0), (1.0, 20.0), (1.5, 25.0), (3.0, 40.0), (4.0, 40.0), (-1.0, 10.0)] {
            assert_eq!(stream.rate(index, 5), rate, "{index}");
        }
    }

    /// Rates in Mbit/s: 1000 B of payload every millisecond, 1040 B on the wire; the range is that
    /// and twice that.
    const THROUGHPUT: f64 = 8.32;
    const ROUND_TRIP: f64 = 0.1;
    const BITS: f64 = 8320.0;
    /// The first byte of stream i is i + 1 times this.
    const APART: u64 = 1_000_000;

    /// A connection that has sustained THROUGHPUT.
    struct Connection {
        imtcp: ImTcp,
        state: WindowState,
        /// ms
        now: f64,
        acknowledged: u64,
    }

    impl Connection {
        fn new() -> Self {
            let mut connection = Self {
                imtcp: ImTcp::new(Parameters::default()),
                state: state(100.0),
                now: -1.0,
                acknowledged: 0,
            };
            // The clock has its first stretch after one round trip.
            for segment in 0..=101 {
                assert_eq!(connection.imtcp.allowance(&connection.state), Bytes::MAX, "{segment}");
                connection.ack(connection.now + 1.0, 1000 * segment, 0);
            }
            connection
        }
        /// Up to this byte, at this time in ms.
        fn ack(&mut self, now: f64, acknowledged: u64, sent: u64) {
            (self.now, self.acknowledged) = (now, acknowledged);
            let event = Acknowledged {
                acknowledged_total: Bytes(acknowledged),
                sent_total: Bytes(sent),
                ..ack_at(now * 1e-3, ROUND_TRIP)
            };
            self.imtcp.on_ack(&event, &mut self.state);
        }
        fn allowed(&self) -> Bytes {
            self.imtcp.allowance(&self.state)
        }
        /// Stores and sends every stream; returns the pacing of each segment, us.
        fn send_streams(&mut self) -> Vec<Vec<f64>> {
            let mut all = Vec::new();
            for stream in 0..4 {
                for _ in 0..5 {
                    assert_eq!(self.allowed(), Bytes::ZERO, "five segments are stored");
                    assert_eq!(self.imtcp.pacing(&self.state), None);
                    self.ack(self.now + 1.0, self.acknowledged + 1000, (stream + 1) * APART);
                }
                let mut intervals = Vec::new();
                let mut at = self.now * 1e-3;
                for left in (1..=5).rev() {
                    assert_eq!(self.allowed(), Bytes(left * 1000));
                    let pacing = self.imtcp.pacing(&self.state).expect("a stream is being sent");
                    assert_eq!(pacing.size, Bytes(1040));
                    let now = Time::ZERO + Duration::from_seconds(at);
                    let nothing = Bytes::ZERO;
                    let sent = Sent::new(now, Bytes(1000), nothing);
                    self.imtcp.on_sent(&sent, &self.state);
                    intervals.push(pacing.interval.seconds() * 1e6);
                    at += pacing.interval.seconds();
                }
                all.push(intervals);
                assert_eq!(self.allowed(), Bytes::ZERO, "and no more");
                self.now = at * 1e3;
                self.ack(self.now + 1.0, self.acknowledged + 1000, 0);
            }
            assert_eq!(self.allowed(), Bytes::MAX, "all is sent");
            all
        }
        /// Acknowledges streams with these intervals, us, as after a bottleneck with this much
        /// free.
        fn arrive(&mut self, streams: &[Vec<f64>], free: f64) {
            for (stream, intervals) in (1..).zip(streams) {
                let base = self.now + 20.0;
                let (mut sent, mut queue) = (0.0, 0.0_f64);
                for (segment, interval) in (1..).zip(intervals) {
                    self.ack(base + (sent + queue) * 1e-3, stream * APART + segment * 1000, 0);
                    sent += interval;
                    queue = (queue + BITS / free - interval).max(0.0);
                }
            }
        }
    }

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-6
    }

    /// 13 Mbit/s are free. Of the quarters of (8.32, 16.64), the third, from 12.48 to 14.56, is the
    /// first whose later segments queue, by 8.42, 48.42 and 116.99 us; the best fit of the papers'
    /// lines bends at the third segment, where the stream has 13.87 Mbit/s.
    #[test]
    fn a_measurement() {
        let mut connection = Connection::new();
        let intervals = connection.send_streams();
        for (stream, intervals) in intervals.iter().enumerate() {
            let (low, part) = (THROUGHPUT * (1.0 + 0.25 * stream as f64), THROUGHPUT / 4.0);
            for (interval, third) in intervals.iter().zip([0.0, 1.0, 2.0, 3.0, 3.0]) {
                assert!(near(*interval, BITS / (low + part * third / 3.0)), "{intervals:?}");
            }
        }
        connection.arrive(&intervals, 13.0);
        let found = connection.state.path.available_bps.expect("inside the range");
        assert!(near(found, (12.48 + 2.08 * 2.0 / 3.0) * 1e6), "{found}");
        // The next range is a tenth of it around it (no deviation yet), and begins after a round
        // trip.
        let (low, high) = connection.imtcp.range.ends(0.0);
        assert!(near(low, 0.9 * found) && near(high, 1.1 * found), "{low} {high}");
        let Phase::Waiting(until) = connection.imtcp.phase else { panic!("a pause") };
        assert!(near(until.since(Time::ZERO).seconds(), connection.now * 1e-3 + ROUND_TRIP));
    }

    /// Nothing queues: more is free than the range covers. There is no result yet, and the range is
    /// doubled upwards.
    #[test]
    fn more_is_free_than_the_range_has() {
        let mut connection = Connection::new();
        let intervals = connection.send_streams();
        connection.arrive(&intervals, 100.0);
        assert_eq!(connection.state.path.available_bps, None);
        let (low, high) = connection.imtcp.range.ends(0.0);
        assert!(near(low, THROUGHPUT * 1e6) && near(high, 3.0 * THROUGHPUT * 1e6), "{low} {high}");
        let Phase::Waiting(until) = connection.imtcp.phase else { panic!("no pause") };
        assert!(near(until.since(Time::ZERO).seconds(), connection.now * 1e-3), "it goes on at once");
        // Once there has been a result, the end of the range counts as one.
        connection.state.path.available_bps = Some(1.0);
        let mut again = Connection { imtcp: Connection::new().imtcp, ..connection };
        (again.now, again.acknowledged) = (101.0, 101_000);
        let intervals = again.send_streams();
        again.arrive(&intervals, 100.0);
        assert!(near(again.state.path.available_bps.expect("a result"), 2.0 * THROUGHPUT * 1e6));
    }

    /// Everything queues from the first segment of the lowest part: less is free.
    #[test]
    fn less_is_free_than_the_range_has() {
        let mut connection = Connection::new();
        let intervals = connection.send_streams();
        connection.arrive(&intervals, 2.0);
        assert_eq!(connection.state.path.available_bps, None);
        let (low, high) = connection.imtcp.range.ends(0.0);
        // Doubling downwards would reach zero: a hundredth of the upper end is the minimum.
        assert!(near(high, 2.0 * THROUGHPUT * 1e6) && near(low, 0.01 * high), "{low} {high}");
    }

    #[test]
    fn it_begins_only_where_the_window_is_what_limits() {
        type Change = fn(&mut Acknowledged, &mut WindowState);
        let changes: [(bool, Change); 5] = [
            (true, |_, _| ()),
            (true, |_, state| state.cwnd = 10.0),
            // Two streams of five: below that none can be stored.
            (false, |_, state| state.cwnd = 9.9),
            (false, |event, _| event.recovering = true),
            (false, |event, _| event.window_limited = false),
        ];
        for (begins, change) in changes {
            let mut imtcp = ImTcp::new(Parameters::default());
            let mut state = state(100.0);
            for segment in 0..=101_u64 {
                let mut event = Acknowledged {
                    acknowledged_total: Bytes(1000 * segment),
                    ..ack_at(segment as f64 * 1e-3, 0.1)
                };
                change(&mut event, &mut state);
                imtcp.on_ack(&event, &mut state);
            }
            assert_eq!(imtcp.allowance(&state) == Bytes::ZERO, begins);
        }
    }

    #[test]
    fn it_gives_up_without_an_answer() {
        let mut connection = Connection::new();
        connection.send_streams();
        let began = 101.0;
        connection.ack(began + 8.0 * ROUND_TRIP * 1e3, connection.acknowledged, 0);
        assert_eq!(connection.imtcp.phase, Phase::Collecting, "eight round trips are not over");
        connection.ack(connection.now + 0.1, connection.acknowledged, 0);
        assert!(matches!(connection.imtcp.phase, Phase::Waiting(_)));
        // And at once after a loss.
        let mut connection = Connection::new();
        assert_eq!(connection.allowed(), Bytes::ZERO);
        connection.imtcp.abandon(Time::ZERO);
        assert_eq!(connection.allowed(), Bytes::MAX);
    }
}
