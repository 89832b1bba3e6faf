//! Interrupt-coalescence-aware inline measurement: available and physical bandwidth from bursts of
//! the connection's own segments (Matsuura, section 2.2.3).
//!
//! Network cards that collect packets before they interrupt their host make it see and send bursts.
//! So the method sizes bursts instead of spacing single packets: burst i has N_i segments and
//! begins S_i after the previous one, and its rate N_i P / S_i is B_i, one of k points of a search
//! range. If that exceeds the available bandwidth A, the distance to the next burst grows on the
//! way, as the distance R_i of the ACKs shows.
//!
//! The segments of a burst beyond what TCP would send come from a buffer below TCP. Here that is an
//! allowance ([`crate::Decision::allowance`]): data that the window permits but the allowance does
//! not stays unsent, and leaves with a later burst.
//!
//! Beyond the thesis, or where it is silent:
//! * A burst lasts `span` of a round-trip time, many interrupts; `span = 0` has the thesis's burst
//!   of one interrupt. A receiver's card rounds the arrival of a burst up to its next interrupt: an
//!   error of R as large as an interrupt, and so as large as an S of one interrupt.
//! * S_i and N_i are unknown when burst i begins (equation 13), so the point of the range is the
//!   intended rate, and B_i in the reading the actual one.
//! * With `reading = "line"` the result is the rate at which the bursts' spacings would begin to
//!   grow, extrapolated from those that grew, instead of the smallest B_j that did.
//! * An available bandwidth that can no longer be measured expires. Where a burst has no room for
//!   eight gaps between ACKs there are no measurements, and a window that follows from the last one
//!   would stay forever.
//! * `clock` says when an ACK arrived: when the sender processes it, when the sender's card
//!   received it, or when the receiver received the segment that it answers, which no card at the
//!   sender and no queue on the way back changes. Section 2.2.2 assumes the last: "the TCP receiver
//!   then sends the ACK of the two bursts in the same intervals to the sender TCP".
//! * Every few measurements another burst at a multiple of A follows, for the physical bandwidth:
//!   see [`super::capacity`]. With `capacity = "pairs"` it comes from pairs, as in reference 17,
//!   "based on the packet pair technique": two segments that left at the same time.

mod bursts;
mod pairs;
mod reading;

pub use reading::{Reading, Verdict};

use super::ack_clock::AckClock;
use super::capacity::{Capacity, capacity};
use super::search_range::{Place, SearchRange};
use crate::entry::{Entry, Need};
use crate::event::{Acknowledged, Resumed, Sent, Stamped};
use crate::part::EstimatePart;
use crate::state::WindowState;
use crate::units::{Bytes, Duration, Time};
use crate::{choice, parameters};
use bursts::{Bursts, Interrupt};
use pairs::Pairs;
use reading::{Line, Shown, first_that_grew};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "icim",
    about: "Available and physical bandwidth from the spacing of bursts of the connection's own segments.",
    source: "Matsuura 2006, section 2.2; physical bandwidth: our reconstruction",
    parameters: Parameters::TABLE,
    needs: &[Need::Trains, Need::EveryAck],
    ..Entry::ESTIMATE
};

choice! {
    /// Which clock says when an ACK arrived.
    Clock {
        /// The sender's, when it processes the ACK.
        Host = "host",
        /// The time stamp of the sender's network card.
        Card = "card",
        /// The receiver's, at the arrival of the segment that the ACK answers.
        Receiver = "receiver",
    }
}

choice! {
    /// Source of the physical bandwidth.
    CapacityFrom {
        /// The spacings of bursts.
        Bursts = "bursts",
        /// The spacings of pairs of segments.
        Pairs = "pairs",
    }
}

parameters! {
    /// Parameters of ICIM.
    Parameters {
        /// Bursts of a measurement, k.
        bursts: f64 = 4.0, shown "4", unit "", range (2.0, 8.0),
            source "thesis section 2.2.3";
        /// A burst's spacing has grown if it arrives with more than this times the spacing with
        /// which it was sent: lambda.
        lambda: f64 = 1.01, shown "1.01", unit "", range (1.0, 2.0),
            source "thesis section 2.2.3";
        /// Window from which on it measures, C_min.
        minimum_window: f64 = 50.0, shown "50", unit "segments", range (8.0, 1e6),
            source "thesis section 2.2.3";
        /// Which bursts must have grown.
        verdict: Verdict = Verdict::Strict, shown "strict", unit "", range (0.0, 0.0),
            source "thesis section 2.2.3, 'from burst number j'; first: our choice";
        /// Definition of a measurement's result.
        reading: Reading = Reading::Line, shown "line", unit "", range (0.0, 0.0),
            source "our choice; edge: thesis section 2.2.3";
        /// Pause between measurements, Q, in smoothed round-trip times.
        wait: f64 = 1.0, shown "1", unit "RTT", range (0.0, 1000.0),
            source "our choice: the thesis has one result in 1 to 4 round trips";
        /// Smoothed RTTs after which an unconfirmed available bandwidth expires.
        expiry: f64 = 40.0, shown "40", unit "RTT", range (4.0, 1e9),
            source "our choice: ten times the longest that the thesis takes for a result";
        /// Length of a burst in smoothed round-trip times; 0: one interrupt.
        span: f64 = 0.0625, shown "0.0625", unit "RTT", range (0.0, 0.1),
            source "our choice; 0: thesis section 2.2.3";
        /// Read from the place of an acknowledgement among those that came with one interrupt when
        /// its segment arrived.
        within_interrupt: bool = true, shown "true", unit "", range (0.0, 0.0),
            source "our choice; false: thesis section 2.2.2";
        /// Which clock says when an ACK arrived: the sender's when it processes the ACK, the time
        /// stamp of the sender's card, or the receiver's at the arrival of the segment that the ACK
        /// answers, which costs no bytes beside the time stamps of RFC 7323.
        clock: Clock = Clock::Host, shown "host", unit "", range (0.0, 0.0),
            source "thesis section 2.2.2, arrival intervals of the corresponding ACK packets; receiver: the same section, sends \
                    the ACK of the two bursts in the same intervals";
        /// Source of the physical bandwidth: bursts at a multiple of the available bandwidth, or
        /// pairs of segments that left at the same time.
        capacity: CapacityFrom = CapacityFrom::Bursts, shown "bursts", unit "", range (0.0, 0.0),
            source "our choice; pairs: reference 17 of the thesis, based on the packet pair technique";
        /// Time between the two segments of a pair on the sender's link: what a segment takes
        /// there. 0: not known.
        pair_spacing: Duration = Duration::ZERO, shown "0 s", unit "s", range (0.0, 1.0), requires capacity = "pairs",
            source "our choice: a host knows the rate of its card";
        /// Rate of the burst for the physical bandwidth over the available bandwidth.
        capacity_ratio: f64 = 2.0, shown "2", unit "", range (1.5, 10.0),
            source "our choice";
        /// Measurements from one such burst to the next.
        capacity_every: f64 = 4.0, shown "4", unit "", range (1.0, 1000.0),
            source "our choice";
    }
}

/// Length of the burst for the physical bandwidth, as a fraction of `span`: its growth is so large
/// that it can be short.
const CAPACITY_SPAN: f64 = 0.25;

/// Round trips after which an unanswered measurement is abandoned.
const PATIENCE: f64 = 4.0;

/// Minimum number of segments in a burst, if time permits. Our choice.
const FEWEST: f64 = 8.0;

/// A stretch of ACKs of this fraction of a round trip has no pause: a measurement can begin at any
/// time.
const CONTINUOUS: f64 = 0.9;

/// Longest measurement, storage included, in lengths of a burst.
const BURSTS_IN_STRETCH: f64 = 10.0;

/// Minimum number of interrupts in a burst of several; with fewer, the rounding of R is worse than
/// with one. Our choice.
const FEWEST_INTERRUPTS: f64 = 8.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Wait until this time.
    Waiting(Time),
    /// Hold segments until this time, so that the bursts can exceed what the window releases
    /// meanwhile.
    Storing(Time),
    /// This burst is being sent.
    Sending(usize),
    /// All is sent; ACKs are awaited.
    Collecting,
}

/// ICIM.
#[derive(Clone, Debug)]
pub struct Icim {
    parameters: Parameters,
    clock: AckClock,
    range: SearchRange,
    capacity: Capacity,
    phase: Phase,
    bursts: Bursts,
    interrupt: Interrupt,
    pairs: Pairs,
    /// Times of the clocks for the ACK that follows.
    stamped: Option<Stamped>,
    /// When the last ACK was processed.
    heard: Time,
    /// Measurements since the last burst for the physical bandwidth.
    since_capacity: u32,
    give_up: Time,
    /// Time of the last result for the available bandwidth.
    told: Time,
}

impl Icim {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            clock: AckClock::default(),
            range: SearchRange::default(),
            capacity: Capacity::default(),
            phase: Phase::Waiting(Time::ZERO),
            bursts: Bursts::default(),
            interrupt: Interrupt::default(),
            pairs: Pairs::default(),
            stamped: None,
            heard: Time::ZERO,
            since_capacity: u32::MAX,
            give_up: Time::NEVER,
            told: Time::ZERO,
        }
    }

    /// Plans a measurement; returns the time for which to store segments before it, or `None` if
    /// nothing can be measured yet.
    fn plan(&mut self, round_trip: f64, begins: bool, state: &WindowState) -> Option<Duration> {
        let stretch = self.clock.stretch()?;
        if !begins && stretch.seconds < CONTINUOUS * round_trip {
            return None;
        }
        let per_payload = state.full_segment_on_wire().get() as f64 / state.mss.get() as f64;
        let throughput = stretch.bytes_per_second * 8.0 * per_payload;
        let packet = state.full_segment_on_wire().get() as f64 * 8.0;
        let (low, high) = self.range.ends(throughput);
        if !(low > 0.0 && high.is_finite()) {
            return None;
        }
        let mut span = 0.0;
        if self.parameters.span > 0.0 {
            let wanted = (self.parameters.span * round_trip).max(FEWEST * packet / low);
            span = wanted.min(stretch.seconds / BURSTS_IN_STRETCH);
            if span < FEWEST_INTERRUPTS * self.clock.gap() {
                return None;
            }
        }
        self.bursts.plan(self.parameters.bursts as usize, low, high, span);
        self.since_capacity = self.since_capacity.saturating_add(1);
        if self.parameters.capacity == CapacityFrom::Bursts
            && let Some(available) = state.path.available_bps
            && f64::from(self.since_capacity) >= self.parameters.capacity_every
        {
            let rate = (self.parameters.capacity_ratio * available).max(high);
            self.bursts.plan_another(rate, CAPACITY_SPAN * span);
            self.since_capacity = 0;
        }
        let store = self.bursts.beyond(throughput, self.clock.gap()) / throughput;
        // Holding back more than half of a window would starve the ACK clock.
        Some(Duration::from_seconds(store.min(stretch.seconds / 2.0)))
    }

    fn begin_burst(&mut self, number: usize, event: &Acknowledged) {
        let is_planned = number < self.bursts.planned;
        self.phase = if is_planned { Phase::Sending(number) } else { Phase::Collecting };
        let burst = &mut self.bursts.all[number];
        burst.sent = event.now;
        burst.first = event.sent_total;
    }

    /// When the ACK that is processed now arrived, by the chosen clock.
    fn arrival(&mut self, now: Time) -> Time {
        match (self.parameters.clock, self.stamped.take()) {
            (Clock::Card, Some(stamped)) => stamped.card,
            (Clock::Receiver, Some(stamped)) => stamped.peer,
            _ => now,
        }
    }

    /// Number of started bursts, including the closing one.
    fn begun(&self) -> usize {
        match self.phase {
            Phase::Waiting(_) | Phase::Storing(_) => 0,
            Phase::Sending(number) => number + 1,
            Phase::Collecting => self.bursts.planned + 1,
        }
    }

    /// Every burst is answered: computes the result.
    fn conclude(&mut self, state: &mut WindowState) {
        let shown = self.bursts.shown();
        let shown = &shown[..self.bursts.planned];
        if shown.iter().any(|burst| burst.sent <= 0.0 || burst.bits <= 0.0) {
            return;
        }
        let search = &shown[..self.bursts.searching];
        // Until the range has contained the available bandwidth its ends are mere bounds: the upper
        // one would end slow start early.
        let has_result = state.path.available_bps.is_some();
        let Some(first) = first_that_grew(search, self.parameters.lambda, self.parameters.verdict) else {
            let highest = search.iter().map(Shown::rate).fold(0.0, f64::max);
            self.range.record(highest, Place::Top);
            if has_result {
                self.tell(highest, state);
            }
            return;
        };
        let line = match self.parameters.reading {
            Reading::Edge => None,
            Reading::Line => Line::through(&shown[first..]).or_else(|| {
                let capacity = self.capacity.estimate()?.mean;
                Line::of_capacity(&search[first..], capacity)
            }),
        };
        let available = match line {
            Some(line) if first == 0 => {
                self.range.restart(line.available);
                line.available
            }
            Some(line) => {
                self.range.record(line.available, Place::Inside);
                line.available
            }
            None => {
                let edge = search[first].rate();
                self.range.record(edge, if first == 0 { Place::Bottom } else { Place::Inside });
                if first == 0 && !has_result {
                    return;
                }
                edge
            }
        };
        self.tell(available, state);
        self.learn_capacity(line, shown, available, state);
    }

    /// Updates the physical bandwidth from the line, or else from every burst that is fast enough.
    fn learn_capacity(
        &mut self,
        line: Option<Line>,
        shown: &[Shown],
        available: f64,
        state: &mut WindowState,
    ) {
        if self.parameters.capacity == CapacityFrom::Pairs {
            let spacing = self.parameters.pair_spacing.seconds();
            state.path.capacity_bps = self.pairs.capacity(spacing, available).or(state.path.capacity_bps);
            return;
        }
        if let Some(line) = line {
            line.capacity.into_iter().for_each(|result| self.capacity.add(result));
        } else {
            let results =
                shown.iter().filter_map(|burst| capacity(burst.bits, burst.sent, burst.arrived, available));
            results.for_each(|result| self.capacity.add(result));
        }
        if let Some(interval) = self.capacity.estimate() {
            state.path.capacity_bps = Some(interval.mean);
        }
    }

    fn tell(&mut self, available: f64, state: &mut WindowState) {
        state.path.available_bps = Some(available);
        self.told = self.heard;
    }

    /// An unconfirmed bandwidth expires, and the next search starts like the first.
    fn forget_what_is_old(&mut self, round_trip: f64, state: &mut WindowState) {
        if state.path.available_bps.is_some()
            && self.heard.since(self.told).seconds() > self.parameters.expiry * round_trip
        {
            state.path.available_bps = None;
            self.range = SearchRange::default();
        }
    }

    fn wait(&mut self, now: Time, round_trip: f64) {
        let pause = if self.range.is_settled() { self.parameters.wait * round_trip } else { 0.0 };
        self.phase = Phase::Waiting(now + Duration::from_seconds(pause));
    }
}

impl EstimatePart for Icim {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        self.heard = event.now;
        let arrived = self.arrival(event.now);
        if arrived > self.interrupt.at {
            let (begun, within) = (self.begun(), self.parameters.within_interrupt);
            self.bursts.match_interrupt(&self.interrupt, arrived, begun, within);
            self.interrupt.begin(arrived);
        }
        self.interrupt.take(event.acknowledged_total);
        if self.parameters.capacity == CapacityFrom::Pairs {
            self.pairs.on_ack(arrived, event.acknowledged_total, event.sent_total);
        }
        let Some(round_trip) = event.smoothed_rtt.map(Duration::seconds) else { return };
        let begins = self.clock.on_ack(event, round_trip);
        self.forget_what_is_old(round_trip, state);
        if begins && matches!(self.phase, Phase::Storing(_) | Phase::Sending(_)) {
            // Data held back in the pause did not leave as planned.
            self.abandon(event.now);
        }
        match self.phase {
            Phase::Waiting(until) => {
                let may =
                    !event.recovering && event.window_limited && state.cwnd > self.parameters.minimum_window;
                if event.now >= until
                    && may
                    && let Some(store) = self.plan(round_trip, begins, state)
                {
                    self.phase = Phase::Storing(event.now + store);
                    self.give_up = event.now + Duration::from_seconds(PATIENCE * round_trip);
                }
            }
            Phase::Storing(until) if event.now >= until => self.begin_burst(0, event),
            Phase::Storing(_) => {}
            Phase::Sending(number) => {
                if self.bursts.all[number].is_over(event.now) {
                    self.begin_burst(number + 1, event);
                }
            }
            Phase::Collecting => {
                if self.bursts.acknowledged > self.bursts.planned {
                    self.conclude(state);
                    self.wait(event.now, round_trip);
                } else if event.now > self.give_up {
                    self.wait(event.now, round_trip);
                }
            }
        }
    }

    fn on_stamped(&mut self, event: &Stamped) {
        self.stamped = Some(*event);
    }

    fn wants_stamps(&self) -> bool {
        self.parameters.clock != Clock::Host
    }

    fn on_sent(&mut self, event: &Sent, state: &WindowState) {
        if self.parameters.capacity == CapacityFrom::Pairs {
            self.pairs.on_sent(event.now, event.size, state.full_segment_on_wire());
        }
        if let Phase::Sending(number) = self.phase {
            self.bursts.all[number].bits += (event.size + state.header).get() as f64 * 8.0;
        }
    }

    /// A pause ends a measurement: what was stored or sent is no burst.
    fn on_resumed(&mut self, event: &Resumed) {
        if !matches!(self.phase, Phase::Waiting(_)) {
            self.abandon(event.now);
        }
    }

    fn abandon(&mut self, now: Time) {
        self.phase = Phase::Waiting(now);
        self.pairs.abandon();
    }

    fn allowance(&self, state: &WindowState) -> Bytes {
        match self.phase {
            Phase::Waiting(_) | Phase::Collecting => Bytes::MAX,
            Phase::Storing(_) => Bytes::ZERO,
            Phase::Sending(number) => {
                let packet = state.full_segment_on_wire().get() as f64 * 8.0;
                let due = self.bursts.all[number].due(self.heard, self.clock.gap(), packet);
                Bytes((due.max(0.0) * state.mss.get() as f64) as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack_at, state};

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-6
    }

    /// A connection of 1000 B every half millisecond, 16.64 Mbit/s on the wire, and round trips of
    /// 100 ms.
    struct Connection {
        icim: Icim,
        state: WindowState,
        /// ms
        now: f64,
        acknowledged: u64,
        sent: u64,
    }

    const THROUGHPUT: f64 = 16.64e6;
    const GAP: f64 = 0.5;
    /// A window far larger than a measurement.
    const WINDOW: u64 = 10_000_000;

    impl Connection {
        fn new(parameters: Parameters) -> Self {
            Self { icim: Icim::new(parameters), state: state(100.0), now: 0.0, acknowledged: 0, sent: 0 }
        }
        fn ack(&mut self, now: f64, acknowledged: u64) {
            (self.now, self.acknowledged) = (now, acknowledged);
            let event = Acknowledged {
                acknowledged_total: Bytes(acknowledged),
                sent_total: Bytes(self.sent),
                ..ack_at(now * 1e-3, 0.1)
            };
            self.icim.on_ack(&event, &mut self.state);
        }
        /// The next regular ACK.
        fn tick(&mut self) {
            self.ack(self.now + GAP, self.acknowledged + 1000);
        }
        fn allowed(&self) -> u64 {
            self.icim.allowance(&self.state).get()
        }
        fn send(&mut self, segments: u64) {
            let now = Time::ZERO + Duration::from_seconds(self.now * 1e-3);
            for _ in 0..segments {
                let nothing = Bytes::ZERO;
                let sent = Sent::new(now, Bytes(1000), nothing);
                self.icim.on_sent(&sent, &self.state);
                self.sent += 1000;
            }
        }
        /// Runs until and through a measurement; returns the time for which segments were stored,
        /// ms.
        fn send_bursts(&mut self) -> f64 {
            self.sent = self.acknowledged + WINDOW;
            let mut patience = 2000;
            while !matches!(self.icim.phase, Phase::Storing(_)) {
                self.tick();
                patience -= 1;
                assert!(patience > 0, "no measurement");
            }
            let began = self.now;
            while matches!(self.icim.phase, Phase::Storing(_)) {
                assert_eq!(self.allowed(), 0);
                self.tick();
            }
            let stored = self.now - began;
            while matches!(self.icim.phase, Phase::Sending(_)) {
                self.send(self.allowed() / 1000);
                self.tick();
            }
            assert_eq!((self.icim.phase, self.allowed()), (Phase::Collecting, u64::MAX));
            stored
        }
        /// Acknowledges the bursts as after a link of `capacity` with `available` free, both in
        /// bit/s.
        fn arrive(&mut self, available: f64, capacity: f64) {
            let sent: Vec<(f64, f64, u64)> = self.icim.bursts.all[..=self.icim.bursts.planned]
                .iter()
                .map(|burst| (burst.sent.since(Time::ZERO).seconds(), burst.bits, burst.first.get()))
                .collect();
            let mut at = self.now * 1e-3 + 0.05;
            for (i, &(begun, bits, first)) in sent.iter().enumerate() {
                self.ack(at * 1e3 - 0.1, first);
                self.ack(at * 1e3, first + 1000);
                if let Some(&(next, ..)) = sent.get(i + 1) {
                    let span = next - begun;
                    at += span * (1.0 + (bits / span - available).max(0.0) / capacity);
                }
            }
            // An interrupt's ACKs are known to be complete only when the next one comes.
            self.ack(self.now + GAP, self.acknowledged);
        }
        /// Rates of the bursts on the wire, bit/s.
        fn rates(&self) -> Vec<f64> {
            self.icim.bursts.shown()[..self.icim.bursts.planned].iter().map(Shown::rate).collect()
        }
        fn found(&self) -> (Option<f64>, Option<f64>) {
            (self.state.path.available_bps, self.state.path.capacity_bps)
        }
    }

    /// Four bursts from the throughput to twice that. Each takes a sixteenth of the round trip and
    /// ends with the next ACK: 6.5 ms, for 13, 17, 21 and 25 whole packets. Their excess over the
    /// throughput is stored before: (0 + 1 + 2 + 3) / 3 of 6.25 ms.
    #[test]
    fn the_first_measurement() {
        let mut connection = Connection::new(Parameters::default());
        let stored = connection.send_bursts();
        assert!(near(stored, 12.5), "{stored}");
        let rates = connection.rates();
        for (rate, packets) in rates.iter().zip([13.0, 17.0, 21.0, 25.0]) {
            assert!(near(*rate, packets * 8320.0 / 6.5e-3), "{rates:?}");
        }
        // The third is the first whose spacing grows, and gives the result: two bursts this close
        // determine no line.
        connection.arrive(24e6, 100e6);
        let (available, capacity) = connection.found();
        assert!(near(available.expect("a result"), rates[2]), "{available:?}");
        assert_eq!(capacity, None);
        let (low, high) = connection.icim.range.ends(0.0);
        assert!(near(low, 0.9 * rates[2]) && near(high, 1.1 * rates[2]));
        // A round trip of pause.
        let Phase::Waiting(until) = connection.icim.phase else { panic!("a pause") };
        assert!(near(until.since(Time::ZERO).seconds(), (connection.now + 100.0) * 1e-3));

        // The second has a fifth burst of a quarter of the length and twice the rate, 10.1 packets
        // in 1.56 ms, which ends after 2 ms; with it the line gives both bandwidths exactly.
        connection.send_bursts();
        assert_eq!(connection.icim.bursts.planned, 5);
        assert!(near(connection.rates()[4], 11.0 * 8320.0 / 2e-3), "{:?}", connection.rates());
        connection.arrive(24e6, 100e6);
        let (available, capacity) = connection.found();
        assert!(near(available.expect("a result"), 24e6), "{available:?}");
        assert!(near(capacity.expect("a result"), 100e6), "{capacity:?}");

        // Three without it, which use the known capacity, and one with it.
        for planned in [4, 4, 4, 5] {
            connection.send_bursts();
            assert_eq!(connection.icim.bursts.planned, planned);
            connection.arrive(24e6, 100e6);
            let (available, capacity) = connection.found();
            assert!(near(available.expect("a result"), 24e6), "{available:?}");
            assert!(near(capacity.expect("a result"), 100e6), "{capacity:?}");
        }
    }

    /// With everything free the range is doubled upwards without a result; later its end is the
    /// result.
    #[test]
    fn nothing_queues() {
        let mut connection = Connection::new(Parameters::default());
        connection.send_bursts();
        connection.arrive(1e12, 1e12);
        assert_eq!(connection.found(), (None, None));
        assert!(matches!(connection.icim.phase, Phase::Waiting(_)));
        let (low, high) = connection.icim.range.ends(0.0);
        assert!(near(low, THROUGHPUT) && near(high, 3.0 * THROUGHPUT), "{low} {high}");
        connection.state.path.available_bps = Some(20e6);
        connection.icim.since_capacity = 0;
        connection.send_bursts();
        let rates = connection.rates();
        connection.arrive(1e12, 1e12);
        assert_eq!(connection.found().0, rates.last().copied());
    }

    /// With almost nothing free every burst grows: no result at first, and the range moves down.
    #[test]
    fn everything_queues() {
        let edge = Parameters { reading: Reading::Edge, ..Parameters::default() };
        let mut connection = Connection::new(edge);
        connection.send_bursts();
        connection.arrive(1e6, 20e6);
        assert_eq!(connection.found(), (None, None));
        let (low, high) = connection.icim.range.ends(0.0);
        assert!(near(high, 2.0 * THROUGHPUT) && near(low, 0.01 * high), "{low} {high}");
        // With the line it has a result nevertheless, and the range restarts around it.
        let mut connection = Connection::new(Parameters::default());
        connection.send_bursts();
        connection.arrive(10e6, 20e6);
        assert!(near(connection.found().0.expect("a line"), 10e6));
        let (low, high) = connection.icim.range.ends(0.0);
        assert!(near(low, 9e6) && near(high, 11e6), "{low} {high}");
    }

    /// Two bursts grow, and one between them does not: the strict verdict takes the last, the other
    /// the first.
    #[test]
    fn verdicts() {
        for (verdict, burst) in [(Verdict::Strict, 3), (Verdict::First, 1)] {
            let mut connection = Connection::new(Parameters { verdict, ..Parameters::default() });
            connection.send_bursts();
            let rates = connection.rates();
            let mut at = 1.0;
            for (burst, grows) in connection.icim.bursts.all.iter_mut().zip([false, true, false, true, false])
            {
                burst.acknowledged = at;
                // A burst that does not grow arrives as fast as it was sent; one that grows, 2 %
                // slower.
                at += 6.5e-3 * if grows { 1.02 } else { 1.0 };
            }
            connection.icim.conclude(&mut connection.state);
            assert!(near(connection.found().0.expect("a result"), rates[burst]), "{verdict:?}");
        }
    }

    #[test]
    fn it_begins_only_where_the_window_is_what_limits() {
        type Change = fn(&mut Acknowledged, &mut WindowState);
        let changes: [(bool, Change); 4] = [
            (true, |_, state| state.cwnd = 50.1),
            (false, |_, state| state.cwnd = 50.0),
            (false, |event, _| event.recovering = true),
            (false, |event, _| event.window_limited = false),
        ];
        for (begins, change) in changes {
            let mut icim = Icim::new(Parameters::default());
            let mut state = state(100.0);
            for segment in 0..=210_u64 {
                let mut event = Acknowledged {
                    acknowledged_total: Bytes(1000 * segment),
                    ..ack_at(segment as f64 * GAP * 1e-3, 0.1)
                };
                change(&mut event, &mut state);
                icim.on_ack(&event, &mut state);
            }
            assert_eq!(icim.allowance(&state) == Bytes::ZERO, begins);
        }
    }

    /// Segments of an interrupt arrived in sequence: the position of a burst's first segment gives
    /// its arrival time.
    #[test]
    fn the_place_within_an_interrupt() {
        for (within_interrupt, expected) in [(true, 0.020 + 0.25 * 0.004), (false, 0.020)] {
            let mut icim = Icim::new(Parameters { within_interrupt, ..Parameters::default() });
            let mut state = state(10.0);
            (icim.phase, icim.bursts.planned) = (Phase::Collecting, 1);
            icim.bursts.all[0].first = Bytes(11_000);
            icim.bursts.all[1].first = Bytes(1_000_000);
            for (now, acknowledged) in [(0.016, 10_000), (0.020, 14_000), (0.024, 18_000)] {
                let event = Acknowledged { acknowledged_total: Bytes(acknowledged), ..ack_at(now, 0.1) };
                icim.on_ack(&event, &mut state);
            }
            assert_eq!(icim.bursts.acknowledged, 1);
            assert!(near(icim.bursts.all[0].acknowledged, expected), "{}", icim.bursts.all[0].acknowledged);
        }
    }

    #[test]
    fn it_gives_up() {
        // After four round trips without an answer.
        let mut connection = Connection::new(Parameters::default());
        connection.send_bursts();
        let since_the_plan = connection.icim.give_up.since(Time::ZERO).seconds() * 1e3;
        connection.ack(since_the_plan, connection.acknowledged);
        assert_eq!(connection.icim.phase, Phase::Collecting);
        connection.ack(since_the_plan + 0.01, connection.acknowledged);
        assert!(matches!(connection.icim.phase, Phase::Waiting(_)));
        // In a pause of the ACKs of a sixteenth of a round trip, nothing left as planned.
        for (pause, goes_on) in [(6.0, true), (6.5, false)] {
            let mut connection = Connection::new(Parameters::default());
            while !matches!(connection.icim.phase, Phase::Sending(1)) {
                connection.tick();
            }
            connection.ack(connection.now + pause, connection.acknowledged + 1000);
            assert_eq!(matches!(connection.icim.phase, Phase::Sending(_)), goes_on, "{pause}");
        }
        // After a loss.
        connection.icim.phase = Phase::Storing(Time::NEVER);
        connection.icim.abandon(Time::ZERO);
        assert_eq!(connection.allowed(), u64::MAX);
    }
}
