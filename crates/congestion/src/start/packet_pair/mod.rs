//! Packet-pair TCP (Nishida, Nakamura, Murai): the receiver times pairs of segments, and the sender
//! spaces the bursts that slow start and the end of recovery would otherwise send.
//!
//! Section numbers below are those of the paper.

mod awaited;
mod receiver;

pub use receiver::PacketPairReceiver;

use awaited::Awaited;

use crate::decision::{Pacing, Phase, Probe, ProbePart};
use crate::entry::{Entry, Need};
use crate::estimate::pair_interval::{IntervalFilter, IntervalHistory, TickClock, TimerRounding};
use crate::event::{Acknowledged, DuplicateAck, LossDetected, Sent, Timeout};
use crate::option::{PacketPairKind, PacketPairOption, PairMark, PeerOption};
use crate::part::StartPart;
use crate::receiver::Partner;
use crate::state::WindowState;
use crate::units::{Bytes, Duration, Time};
use crate::{choice, parameters};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "packet-pair",
    about: "Slow start in pairs that the receiver times; the rest of the window is spaced by the interval it \
            reports, and so is what follows a recovery.",
    source: "Nishida, Nakamura, Murai: New Congestion Control mechanism for TCP with Packet Pair scheme",
    parameters: Parameters::TABLE,
    needs: &[Need::Pacing, Need::Trains],
    ..Entry::START
};

choice! {
    /// Which ends probe.
    Probing {
        /// The data sender sends pairs; the forward path is measured (section 4.2.1, figure 5).
        SenderOnly = "sender-only",
        /// The receiver's acknowledgements of a pair are a pair too; the reverse path is measured
        /// as well (figure 6).
        BothSides = "both-sides",
    }
}

choice! {
    /// How many pairs are on their way at a time.
    Pairs {
        /// One: the next leaves after the reply to the last.
        One = "one",
        /// Every two segments that leave together.
        Every = "every",
    }
}

choice! {
    /// The end of the wait for the reply to a pair, apart from the reply, a loss and a timeout.
    UnansweredPair {
        /// An ACK of its second segment without one (section 4.1.2: that ACK carries the reply).
        Acknowledged = "acknowledged",
        /// Two smoothed round-trip times.
        TwoRoundTrips = "two-round-trips",
        /// Nothing.
        Loss = "loss",
    }
}

choice! {
    /// Which segments the ratio of ACKs counts.
    AckRatioOf {
        /// Those that are in no pair: both segments of a pair are acknowledged at once (figure 6).
        Unpaired = "unpaired",
        /// All: on an asymmetric path pairs are acknowledged like other segments.
        All = "all",
    }
}

choice! {
    /// How many segments an ACK covers after probing from both sides.
    AckRatio {
        /// t2 / t1, rounded up, from 2 to 4 (section 4.2.1).
        Intervals = "intervals",
        /// K of RFC 4782, section 4.5: R RTT / (100 · 8 · MSS), at least 2.
        Rfc4782 = "rfc4782",
    }
}

choice! {
    /// The latest end of the shaping that follows slow start and a recovery, while the leaky bucket
    /// is not empty.
    ShapedUntil {
        /// Two round trips.
        TwoRoundTrips = "two-round-trips",
        /// None.
        Empty = "empty",
    }
}

choice! {
    /// Interpretation of an interval of 0 ticks.
    ZeroTicks {
        /// The rate is unknown, but at least one segment per tick: no shaping.
        Unshaped = "unshaped",
        /// As if it were 1 tick.
        One = "one",
    }
}

parameters! {
    /// Parameters of packet-pair TCP.
    Parameters {
        /// Which ends probe.
        probing: Probing = Probing::SenderOnly, shown "sender-only", unit "", range (0.0, 0.0),
            source "paper, figure 5 (sender-only) and figure 6 (both-sides)";
        /// How many pairs are on their way at a time: one, or every two segments that leave
        /// together in slow start.
        pairs_at_once: Pairs = Pairs::One, shown "one", unit "", range (0.0, 0.0),
            source "paper, figure 5: pairs at 0.300, 0.540 and 0.780, one a round trip, and the segment at 0.900 sent by the \
                    leaky bucket; every: section 4.2.1, always chance of two packets transmission at a time";
        /// With one pair at a time: what ends the wait for a reply that does not come, apart from a
        /// loss and a timeout.
        unanswered_pair: UnansweredPair = UnansweredPair::Acknowledged, shown "acknowledged", unit "", range (0.0, 0.0),
            source "paper, section 4.1.2: the acknowledgement of the second packet is transmitted with the reply; the \
                    others are ours, the paper has no rule";
        /// Period of the timer that counts time and runs the leaky bucket.
        tick: Duration = Duration::from_milliseconds(10), shown "10 ms", unit "s", range (1e-6, 1.0),
            source "paper, section 4.1.1: 10 msec timer interrupt routine";
        /// How an interval becomes a number of ticks: difference of two readings of the counter,
        /// nearest whole number, or exact (10 us clock, releases at any time).
        timer_rounding: TimerRounding = TimerRounding::CounterDifference, shown "counter-difference", unit "", range (0.0, 0.0),
            source "paper, section 4.1.2: difference between timer counter values";
        /// Meaning of an interval of 0 ticks.
        zero_ticks: ZeroTicks = ZeroTicks::Unshaped, shown "unshaped", unit "", range (0.0, 0.0),
            source "our choice: a segment that takes less than a tick, above 1.2 Mbit/s, can give 0 ticks; the paper does not \
                    say what then";
        /// Which of the replies counts: the last, the smallest, or the median of the last three.
        interval_filter: IntervalFilter = IntervalFilter::Last, shown "last", unit "", range (0.0, 0.0),
            source "paper, section 4.2.1: the value is recorded";
        /// With probing from both sides: how many segments an ACK covers. "intervals" is the ratio
        /// of the reverse to the forward interval, from 2 to 4; "rfc4782" allows some 100 ACKs a
        /// round trip whatever the reverse path carries.
        ack_ratio: AckRatio = AckRatio::Intervals, shown "intervals", unit "", range (0.0, 0.0),
            source "paper, section 4.2.1: in proportion to ratio of t1 to t2; rfc4782: RFC 4782, section 4.5";
        /// Which segments that number counts, once the path is known to be asymmetric: those in no
        /// pair, or all.
        ack_ratio_of: AckRatioOf = AckRatioOf::Unpaired, shown "unpaired", unit "", range (0.0, 0.0),
            source "paper, figure 6: both segments of a pair acknowledged at once; all: section 4.2.1, acknowledgement packet \
                    is transmitted every three or four packet arrival";
        /// Kind of the option on the wire. 253 and 254 are followed by an ExID (RFC 6994), which
        /// takes 4 bytes more on a pair's segments and on their ACKs from both sides, and none on a
        /// reply alone.
        option_kind: PacketPairKind = PacketPairKind::Six, shown "6", unit "", range (0.0, 0.0),
            source "paper, figures 2 and 3; 253 and 254: RFC 4727 and RFC 6994";
        /// Space transmissions after a recovery.
        safe_transmit: bool = true, shown "true", unit "", range (0.0, 0.0),
            source "paper, section 4.2.2";
        /// The latest end of the shaping that follows slow start and a recovery: two round trips,
        /// or none while the leaky bucket is not empty.
        shaped_until: ShapedUntil = ShapedUntil::TwoRoundTrips, shown "two-round-trips", unit "", range (0.0, 0.0),
            source "our choice: section 4.2.2 names no end; section 4.2.3: to control interval of data transfer may destroy \
                    self-clocking, therefore we added no modification to congestion avoidance";
    }
}

/// The sender's part.
#[derive(Clone, Debug)]
pub struct PacketPair {
    parameters: Parameters,
    clock: TickClock,
    /// T of the paper: ticks between full-size segments.
    intervals: IntervalHistory,
    next_pair_id: u8,
    /// The pair whose reply decides when the next may leave.
    awaited: Option<Awaited>,
    spacing: Spacing,
    /// Arrival tick of the ACK that carried "pair 1", by pair-id (both-sides probing).
    first_ack: Option<(u8, Time)>,
    /// Reverse interval to report to the receiver on the next segment.
    interval_for_receiver: Option<(u8, u16)>,
    smoothed_rtt: Duration,
    /// Payload held back by pacing when the last segment left.
    held_back: Bytes,
}

/// Why segments are spaced outside slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spacing {
    /// They are not: the ACK clock runs.
    Off,
    /// Slow start has ended with segments still in the leaky bucket.
    Draining(Bucket),
    /// A loss was detected, and nothing new acknowledged yet: Reno, unchanged.
    AwaitingFirstAck,
    /// Safe-transmit (section 4.2.2).
    SafeTransmit(Bucket),
}

/// The leaky bucket outside slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    since: Time,
    /// T alone has not emptied it within a round-trip time.
    overdue: bool,
}

impl Bucket {
    fn since(since: Time) -> Self {
        Self { since, overdue: false }
    }
}

impl PacketPair {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            clock: TickClock::new(parameters.tick, parameters.timer_rounding),
            intervals: IntervalHistory::default(),
            next_pair_id: 0,
            awaited: None,
            spacing: Spacing::Off,
            first_ack: None,
            interval_for_receiver: None,
            smoothed_rtt: Duration::ZERO,
            held_back: Bytes::ZERO,
        }
    }

    /// T, in ticks, after the first reply.
    pub fn interval_ticks(&self) -> Option<u16> {
        self.intervals.filtered(self.parameters.interval_filter)
    }

    fn read_option(&mut self, now: Time, option: Option<PeerOption>) {
        let Some(PeerOption::PacketPair(PacketPairOption { mark, reply, .. })) = option else {
            return;
        };
        if let Some((id, ticks)) = reply {
            self.awaited = self.awaited.filter(|pair| !pair.is(id));
            // "When data sender receives packet pair reply option, data sender records timer
            // values" (4.2.1).
            self.intervals.record(ticks);
        }
        match mark {
            Some((PairMark::First, id)) => self.first_ack = Some((id, now)),
            Some((PairMark::Second, id)) => {
                if let Some((first_id, first)) = self.first_ack.take()
                    && first_id == id
                {
                    self.interval_for_receiver = Some((id, self.clock.interval(first, now)));
                }
            }
            None => {}
        }
    }

    /// The paper names no exit. Ours: the bucket is empty and, in safe-transmit, one round-trip
    /// time has passed, because only then do all ACKs belong to spaced segments, and the clock
    /// sustains itself. A T that is too large, or ACKs of many segments at once, would never let
    /// the bucket be empty, and no pair leaves meanwhile to correct T: a second round trip is
    /// spaced by no more than the window's share of it, and is the last.
    fn stop_spacing_if_done(&mut self, now: Time) {
        let round_trip = self.smoothed_rtt;
        let (bucket, least) = match &mut self.spacing {
            Spacing::Draining(bucket) => (bucket, Duration::ZERO),
            Spacing::SafeTransmit(bucket) => (bucket, round_trip),
            Spacing::Off | Spacing::AwaitingFirstAck => return,
        };
        let spent = now.since(bucket.since);
        let ends = self.parameters.shaped_until == ShapedUntil::TwoRoundTrips;
        bucket.overdue = ends && spent >= round_trip;
        if self.held_back == Bytes::ZERO && spent >= least || ends && spent >= round_trip.times(2) {
            self.spacing = Spacing::Off;
        }
    }

    fn interval(&self, state: &WindowState) -> Option<Duration> {
        let share = || Duration::from_seconds(self.smoothed_rtt.seconds() / state.cwnd.max(1.0));
        let measured = match self.interval_ticks() {
            Some(0) => match self.parameters.zero_ticks {
                ZeroTicks::Unshaped => None,
                ZeroTicks::One => Some(self.clock.period()),
            },
            Some(ticks) => Some(self.clock.period().times(ticks.into())),
            // A loss before any reply: the window spread over a round-trip time (our choice).
            None if matches!(self.spacing, Spacing::SafeTransmit(_)) && !self.smoothed_rtt.is_zero() => {
                Some(share())
            }
            None => None,
        };
        match self.spacing {
            Spacing::Draining(bucket) | Spacing::SafeTransmit(bucket) if bucket.overdue => {
                measured.map(|interval| interval.min(share()))
            }
            _ => measured,
        }
    }
}

impl StartPart for PacketPair {
    fn partner(&self) -> Partner {
        Partner::new(PacketPairReceiver::new(self.parameters))
    }

    fn on_ack(&mut self, event: &Acknowledged, _state: &WindowState) {
        self.read_option(event.now, event.option);
        let rule = self.parameters.unanswered_pair;
        if self.awaited.as_mut().is_some_and(|pair| pair.is_unanswered(event, rule)) {
            self.awaited = None;
        }
        self.smoothed_rtt = event.smoothed_rtt.unwrap_or_default();
        if self.spacing == Spacing::AwaitingFirstAck {
            // "After retransmission of lost packets, TCP receives new acknowledgement packets. When
            // new acknowledgement packet is received, The new TCP enters in 'safe-transmit' mode."
            self.spacing = if self.parameters.safe_transmit {
                Spacing::SafeTransmit(Bucket::since(event.now))
            } else {
                Spacing::Off
            };
        }
        self.stop_spacing_if_done(event.now);
    }

    /// "TCP increases the value of congestion window by 1 segment for each ACK received" (section
    /// 1), as TCP's slow start did. Our choice: what slow start adds, so that with byte counting it
    /// is no slower than slow start where its partner is absent.
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        state.cwnd += state.slow_start_step(event.size);
        if !state.in_slow_start() && self.spacing == Spacing::Off {
            self.spacing = Spacing::Draining(Bucket::since(event.now));
        }
    }

    fn on_duplicate_ack(&mut self, event: &DuplicateAck) {
        self.read_option(event.now, event.option);
    }

    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {
        self.spacing = Spacing::AwaitingFirstAck;
        self.awaited = None;
    }

    /// T is kept: the path is the same. The next reply refreshes it (our choice; the paper is
    /// silent).
    fn on_timeout(&mut self, _event: &Timeout) {
        self.spacing = Spacing::Off;
        self.awaited = None;
    }

    fn on_sent(&mut self, event: &Sent) {
        if let Some(pair) = &mut self.awaited {
            pair.on_sent(event.now, event.size);
        }
        self.held_back = event.held_back;
        self.stop_spacing_if_done(event.now);
    }

    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        let spaced = match self.spacing {
            Spacing::Off => state.in_slow_start(),
            Spacing::Draining(_) | Spacing::SafeTransmit(_) => true,
            Spacing::AwaitingFirstAck => false,
        };
        if !spaced {
            return None;
        }
        // The share of the round-trip time rounds to zero for a very large window: no spacing.
        let interval = self.interval(state).filter(|interval| !interval.is_zero())?;
        // A window spread over a round trip can need more than one segment per tick: then the clock
        // is no limit.
        let tick = self.clock.release_tick().min(interval);
        Some(Pacing { interval, size: state.full_segment_on_wire(), tick })
    }

    /// "Packet pair option is used in this two packets transmission" (section 4.2.1): in slow
    /// start, while no other pair is on its way (figure 5).
    fn probe(&self, state: &WindowState) -> Option<Probe> {
        let may = self.parameters.pairs_at_once == Pairs::Every || self.awaited.is_none();
        (may && state.in_slow_start() && matches!(self.spacing, Spacing::Off)).then_some(Probe::Pair)
    }

    fn option_for(&mut self, part: ProbePart) -> Option<PeerOption> {
        let mark = match part {
            ProbePart::Single => None,
            ProbePart::PairFirst => Some((PairMark::First, self.next_pair_id)),
            ProbePart::PairSecond => {
                let id = self.next_pair_id;
                self.next_pair_id = id.wrapping_add(1);
                self.awaited = Some(Awaited::new(id));
                Some((PairMark::Second, id))
            }
        };
        let reply = self.interval_for_receiver.take();
        let kind = self.parameters.option_kind;
        (mark.is_some() || reply.is_some()).then_some(PeerOption::PacketPair(PacketPairOption {
            kind,
            mark,
            reply,
        }))
    }

    fn phase(&self) -> Option<Phase> {
        matches!(self.spacing, Spacing::SafeTransmit(_)).then_some(Phase::SafeTransmit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack, ack_at, state};

    fn reply(ticks: u16) -> Option<PeerOption> {
        Some(PeerOption::PacketPair(PacketPairOption {
            reply: Some((0, ticks)),
            ..PacketPairOption::default()
        }))
    }

    #[test]
    fn a_reply_of_four_ticks_spaces_slow_start_by_40_ms() {
        let mut start = PacketPair::new(Parameters::default());
        let mut state = state(2.0);
        assert_eq!(start.pacing(&state), None, "plain Reno until the first reply");
        let event = Acknowledged { option: reply(4), ..ack(1000) };
        start.on_ack(&event, &state);
        start.grow(&event, &mut state);
        let pacing = start.pacing(&state).expect("spaced");
        assert_eq!(pacing.interval, Duration::from_milliseconds(40));
        assert_eq!(pacing.size, Bytes(1040));
        assert_eq!(pacing.tick, Duration::from_milliseconds(10));
    }

    /// RFC 5681, section 3.1: by no more than the acknowledged amount, so that dividing ACKs gains
    /// nothing.
    #[test]
    fn an_acknowledgement_of_half_a_segment_is_half_of_one() {
        let mut start = PacketPair::new(Parameters::default());
        let mut state = state(2.0);
        for (size, cwnd) in [(500, 2.5), (1000, 3.5), (2000, 4.5)] {
            start.grow(&ack(size), &mut state);
            assert_eq!(state.cwnd, cwnd, "{size} bytes of segments of 1000");
        }
    }

    #[test]
    fn zero_ticks_is_unshaped_or_one_tick() {
        for (zero_ticks, expected) in
            [(ZeroTicks::Unshaped, None), (ZeroTicks::One, Some(Duration::from_milliseconds(10)))]
        {
            let mut start = PacketPair::new(Parameters { zero_ticks, ..Parameters::default() });
            let state = state(2.0);
            start.on_ack(&Acknowledged { option: reply(0), ..ack(1000) }, &state);
            assert_eq!(start.pacing(&state).map(|pacing| pacing.interval), expected);
        }
    }

    /// The rate learnt before a timeout is kept and spaces slow start after it, and probing with
    /// pairs resumes.
    #[test]
    fn a_timeout_ends_safe_transmit_and_keeps_the_interval() {
        let mut start = PacketPair::new(Parameters::default());
        let mut state = state(2.0);
        start.on_ack(&Acknowledged { option: reply(4), ..ack(1000) }, &state);
        start.on_loss(&LossDetected::new(Time::ZERO, Bytes(10_000)), &mut state);
        assert_eq!((start.pacing(&state), start.probe(&state)), (None, None), "awaiting the recovery");
        let timeout = Timeout::new(Time::ZERO, Bytes(10_000));
        start.on_timeout(&timeout);
        assert_eq!(start.probe(&state), Some(Probe::Pair));
        let pacing = start.pacing(&state).expect("spaced");
        assert_eq!(pacing.interval, Duration::from_milliseconds(40));
    }

    /// Sends a pair of segments of 1000 bytes.
    fn send_pair(start: &mut PacketPair, now: Time) {
        for part in [ProbePart::PairFirst, ProbePart::PairSecond] {
            start.option_for(part);
            start.on_sent(&Sent::new(now, Bytes(1000), Bytes(2000)));
        }
    }

    /// An ACK after `sent` bytes, of `acknowledged` bytes in all.
    fn ack_of(acknowledged: u64, sent: u64) -> Acknowledged {
        let (acknowledged_total, sent_total) = (Bytes(acknowledged), Bytes(sent));
        Acknowledged { acknowledged_total, sent_total, ..ack_at(1.0, 0.2) }
    }

    /// Figure 5: "packet pair option is used 0.300msec, 0.540msec, 0.780msec", one pair a round
    /// trip, the next when the reply to the last has arrived.
    #[test]
    fn the_next_pair_waits_for_the_reply_to_the_last() {
        for (pairs, meanwhile) in [(Pairs::One, None), (Pairs::Every, Some(Probe::Pair))] {
            let mut start = PacketPair::new(Parameters { pairs_at_once: pairs, ..Parameters::default() });
            let state = state(4.0);
            assert_eq!(start.probe(&state), Some(Probe::Pair));
            send_pair(&mut start, Time::ZERO);
            assert_eq!(start.probe(&state), meanwhile, "{pairs:?}");
            start.on_ack(&ack_of(500, 2000), &state);
            assert_eq!(start.probe(&state), meanwhile, "{pairs:?}: what came before the pair");
            start.on_ack(&Acknowledged { option: reply(4), ..ack_of(2000, 2000) }, &state);
            assert_eq!(start.probe(&state), Some(Probe::Pair));
        }
    }

    /// The ACK of the second segment carries the reply (section 4.1.2), so one without it says that
    /// none will come; segments sent after the pair do not belong to it.
    #[test]
    fn an_unanswered_pair_is_given_up() {
        for (rule, early, at_its_end, late) in [
            (UnansweredPair::Acknowledged, false, true, true),
            (UnansweredPair::TwoRoundTrips, false, false, true),
            (UnansweredPair::Loss, false, false, false),
        ] {
            let mut start = PacketPair::new(Parameters { unanswered_pair: rule, ..Parameters::default() });
            let state = state(8.0);
            let time = |seconds| Time::ZERO + Duration::from_seconds(seconds);
            send_pair(&mut start, time(0.9));
            start.on_sent(&Sent::new(time(0.95), Bytes(1000), Bytes(3000)));
            for (event, expected) in [
                (ack_of(1999, 3000), early),
                (ack_of(2000, 3000), at_its_end),
                (Acknowledged { now: time(1.31), ..ack_of(2000, 3000) }, late),
            ] {
                start.on_ack(&event, &state);
                assert_eq!(start.probe(&state).is_some(), expected, "{rule:?}, {event:?}");
            }
            if !late {
                start.on_timeout(&Timeout::new(Time::ZERO, Bytes(10_000)));
                assert_eq!(start.probe(&state), Some(Probe::Pair));
            }
        }
    }

    #[test]
    fn pair_ids_count_up_and_wrap() {
        let mut start = PacketPair::new(Parameters::default());
        for round in 0..300_u32 {
            let id = (round % 256) as u8;
            for (part, mark) in
                [(ProbePart::PairFirst, PairMark::First), (ProbePart::PairSecond, PairMark::Second)]
            {
                let option = PacketPairOption { mark: Some((mark, id)), ..PacketPairOption::default() };
                assert_eq!(start.option_for(part), Some(PeerOption::PacketPair(option)));
            }
        }
    }

    #[test]
    fn safe_transmit_begins_at_the_first_new_ack_and_ends_after_an_empty_bucket_and_a_round_trip() {
        let mut start = PacketPair::new(Parameters::default());
        let mut state = state(10.0);
        state.ssthresh = 5.0;
        start.on_ack(&Acknowledged { option: reply(4), ..ack(1000) }, &state);
        start.on_loss(&LossDetected::new(Time::ZERO, Bytes(10_000)), &mut state);
        assert_eq!(start.pacing(&state), None, "fast recovery itself is Reno's");
        start.on_ack(&ack_at(1.0, 0.2), &state);
        assert_eq!(start.phase(), Some(Phase::SafeTransmit));
        assert!(start.pacing(&state).is_some());
        let sent = |seconds, held_back| Sent {
            held_back: Bytes(held_back),
            ..Sent::new(Time::ZERO + Duration::from_seconds(seconds), Bytes(1000), Bytes(5000))
        };
        start.on_sent(&sent(1.1, 0));
        assert_eq!(start.phase(), Some(Phase::SafeTransmit), "a round trip has not passed");
        start.on_sent(&sent(1.3, 1000));
        assert_eq!(start.phase(), Some(Phase::SafeTransmit), "the bucket is not empty");
        start.on_sent(&sent(1.31, 0));
        assert_eq!(start.phase(), None);
        assert_eq!(start.pacing(&state), None, "congestion avoidance is not modified (4.2.3)");
    }

    /// A T that no pair of the path's ever corrects, 200 ms here for segments that leave 20 ms
    /// apart by themselves: 10 segments a round trip of 200 ms can only leave in time at most 20 ms
    /// apart.
    #[test]
    fn an_interval_that_is_too_large_spaces_one_round_trip_and_is_left_after_another() {
        let start = |shaped_until| {
            let mut start = PacketPair::new(Parameters { shaped_until, ..Parameters::default() });
            start.on_ack(&Acknowledged { option: reply(20), ..ack_at(0.5, 0.2) }, &state(10.0));
            start
        };
        let mut safe = start(ShapedUntil::TwoRoundTrips);
        let mut state = state(10.0);
        state.ssthresh = 5.0;
        safe.on_loss(&LossDetected::new(Time::ZERO, Bytes(10_000)), &mut state);
        safe.on_ack(&ack_at(1.0, 0.2), &state);
        let [mut draining, mut patient] = [ShapedUntil::TwoRoundTrips, ShapedUntil::Empty].map(start);
        for start in [&mut draining, &mut patient] {
            start.grow(&ack_at(1.0, 0.2), &mut state.clone());
        }
        for (mut start, second, third) in
            [(safe, Some(20), None), (draining, Some(20), None), (patient, Some(200), Some(200))]
        {
            let [second, third] = [second, third].map(|each| each.map(Duration::from_milliseconds));
            let interval_at = |start: &mut PacketPair, seconds| {
                let now = Time::ZERO + Duration::from_seconds(seconds);
                start.on_sent(&Sent { held_back: Bytes(1000), ..Sent::new(now, Bytes(1000), Bytes(5000)) });
                start.pacing(&state).map(|pacing| pacing.interval)
            };
            assert_eq!(interval_at(&mut start, 1.1), Some(Duration::from_milliseconds(200)));
            assert_eq!(interval_at(&mut start, 1.3), second, "{:?}", start.spacing);
            assert_eq!(interval_at(&mut start, 1.4), third, "{:?}", start.spacing);
        }
    }

    /// Without a reply, because the peer lacked the option, one segment left per 10 ms tick in
    /// safe-transmit, and the bucket was never empty: 1 segment per tick for the rest of the
    /// connection, at any link rate.
    #[test]
    fn without_a_reply_safe_transmit_spreads_the_window_over_a_round_trip() {
        let mut start = PacketPair::new(Parameters::default());
        let mut state = state(100.0);
        state.ssthresh = 50.0;
        start.on_loss(&LossDetected::new(Time::ZERO, Bytes(100_000)), &mut state);
        start.on_ack(&ack_at(1.0, 0.05), &state);
        let pacing = start.pacing(&state).expect("spaced");
        assert_eq!(pacing.interval, Duration::from_microseconds(500));
        assert!(pacing.tick <= pacing.interval, "{pacing:?}");
    }

    #[test]
    fn both_sides_returns_the_reverse_interval_once() {
        let mut start = PacketPair::new(Parameters { probing: Probing::BothSides, ..Parameters::default() });
        let state = state(4.0);
        let mark = |mark, reply| {
            let mark = Some((mark, 3));
            Some(PeerOption::PacketPair(PacketPairOption { mark, reply, ..PacketPairOption::default() }))
        };
        start.on_ack(&Acknowledged { option: mark(PairMark::First, None), ..ack_at(1.0, 0.2) }, &state);
        start.on_ack(
            &Acknowledged { option: mark(PairMark::Second, Some((3, 2))), ..ack_at(1.07, 0.2) },
            &state,
        );
        let reply = PacketPairOption { reply: Some((3, 7)), ..PacketPairOption::default() };
        assert_eq!(start.option_for(ProbePart::Single), Some(PeerOption::PacketPair(reply)));
        assert_eq!(start.option_for(ProbePart::Single), None);
    }
}
