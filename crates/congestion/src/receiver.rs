//! What an algorithm needs at the receiver: timing pairs, choosing how often to acknowledge.
//!
//! A receiver without such a part ignores the options it gets; the sender then behaves as plain TCP.

use crate::estimate::pair_interval::TickClock;
use crate::option::{
    PacketPairKind, PacketPairOption, PairMark, PeerOption, QuickStartOption, SwiftStartOption, XcpOption,
};
use crate::start::packet_pair::{AckRatio, Parameters, Probing};
use crate::units::{Duration, Time};
use std::collections::VecDeque;

/// Time to live of an IP packet that leaves its sender. Each router takes one.
pub const INITIAL_TTL: u8 = 64;

/// What the receiver's part asks for when a data segment has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AckRequest {
    /// Acknowledge now, whatever the delayed-acknowledgement rule says.
    pub immediately: bool,
    /// If the acknowledgement is to be delayed, count its time from now.
    pub restart_timer: bool,
    /// Option for that acknowledgement.
    pub option: Option<PeerOption>,
}

/// A receiver's part of an algorithm.
#[derive(Clone, Debug)]
pub enum ReceiverPart {
    /// None: a peer that knows of no option.
    Plain,
    /// Packet-pair TCP.
    PacketPair(Box<PacketPairReceiver>),
    /// The modified Swift Start.
    SwiftStart(Box<SwiftStartReceiver>),
    /// Quick-Start.
    QuickStart(QuickStartReceiver),
    /// XCP.
    Xcp,
}

impl ReceiverPart {
    /// A SYN has arrived, with so much of [`INITIAL_TTL`] left; the option for its answer.
    pub fn on_syn(&mut self, now: Time, option: Option<PeerOption>, ttl: u8) -> Option<PeerOption> {
        match self {
            Self::Plain | Self::PacketPair(_) | Self::Xcp => None,
            Self::SwiftStart(part) => {
                part.syn_answered = Some(now);
                None
            }
            Self::QuickStart(part) => part.answer(option, ttl),
        }
    }

    /// A data segment with an option has arrived, with so much of [`INITIAL_TTL`] left.
    #[inline]
    pub fn on_data(&mut self, now: Time, option: Option<PeerOption>, ttl: u8) -> AckRequest {
        match self {
            Self::Plain => AckRequest::default(),
            Self::PacketPair(part) => part.on_data(now, option),
            Self::SwiftStart(part) => part.on_data(now, option),
            // Each packet has its own feedback: none is to be lost in a delayed acknowledgement.
            Self::Xcp => {
                let Some(PeerOption::Xcp(XcpOption::Request { feedback, rtt_us, .. })) = option else {
                    return AckRequest::default();
                };
                // Before the first round-trip sample no router has looked at it.
                let feedback = if rtt_us == 0 { 0 } else { feedback };
                let option = Some(PeerOption::Xcp(XcpOption::Reply { feedback }));
                AckRequest { immediately: true, option, ..AckRequest::default() }
            }
            Self::QuickStart(part) => {
                let option = part.answer(option, ttl);
                AckRequest { immediately: option.is_some(), option, ..AckRequest::default() }
            }
        }
    }

    /// An acknowledgement leaves that no [`AckRequest`] has given an option: the option for it.
    #[inline]
    pub fn option_for_acknowledgement(&mut self, now: Time) -> Option<PeerOption> {
        match self {
            Self::Plain | Self::PacketPair(_) | Self::QuickStart(_) | Self::Xcp => None,
            Self::SwiftStart(part) => part.option_for_acknowledgement(now),
        }
    }

    /// Acknowledge every so many segments; `None`: as the delayed-acknowledgement rule has it.
    #[inline]
    pub fn ack_every(&self) -> Option<u32> {
        match self {
            Self::PacketPair(part) => part.ack_every,
            Self::Plain | Self::SwiftStart(_) | Self::QuickStart(_) | Self::Xcp => None,
        }
    }
}

/// Times pairs, and puts the interval in its acknowledgements (section 3.2 and figure 7 of the paper on the modified
/// Swift Start).
///
/// "Whenever it sends an acknowledgment, it will send Δt in it": for a round-trip time after the first that did, because
/// some may be lost or thinned out on their way (our choice). It knows the round-trip time from the handshake; without
/// one it takes a second, the initial retransmission timeout of RFC 6298.
#[derive(Clone, Debug)]
pub struct SwiftStartReceiver {
    syn_answered: Option<Time>,
    rtt: Duration,
    /// Pair-id and arrival of the last "First".
    first: Option<(u8, Time)>,
    /// The last interval, and until when acknowledgements carry it; not yet known before the first of them.
    report: Option<(SwiftStartOption, Option<Time>)>,
}

impl Default for SwiftStartReceiver {
    fn default() -> Self {
        Self { syn_answered: None, rtt: Duration::from_milliseconds(1000), first: None, report: None }
    }
}

impl SwiftStartReceiver {
    fn on_data(&mut self, now: Time, option: Option<PeerOption>) -> AckRequest {
        let Some(PeerOption::SwiftStart(SwiftStartOption::Mark(mark, id))) = option else {
            return AckRequest::default();
        };
        if let Some(answered) = self.syn_answered.take() {
            self.rtt = now.since(answered);
        }
        if mark == PairMark::First {
            self.first = Some((id, now));
            return AckRequest::default();
        }
        // "it will check whether it is the second for the recorded one or not"
        if let Some((first_id, first)) = self.first.take()
            && first_id == id
        {
            // Saturates: 2^32 µs are more than an hour.
            let microseconds = (now.since(first).seconds() * 1e6 + 0.5) as u32;
            self.report = Some((SwiftStartOption::Reply { id, microseconds }, None));
        }
        // "when it receives the second one it will calculate Δt and wait for new 200 ms"
        AckRequest { restart_timer: true, ..AckRequest::default() }
    }

    fn option_for_acknowledgement(&mut self, now: Time) -> Option<PeerOption> {
        let (report, until) = self.report.as_mut()?;
        let carried = now <= *until.get_or_insert(now + self.rtt);
        let option = carried.then_some(PeerOption::SwiftStart(*report));
        if option.is_none() {
            self.report = None;
        }
        option
    }
}

/// Answers a Quick-Start Request with what arrived of it (RFC 4782, section 4.3).
#[derive(Clone, Copy, Debug)]
pub struct QuickStartReceiver;

impl QuickStartReceiver {
    fn answer(self, option: Option<PeerOption>, ttl: u8) -> Option<PeerOption> {
        let Some(PeerOption::QuickStart(QuickStartOption::Request { rate, ttl: qs_ttl, nonce })) = option
        else {
            return None;
        };
        // TTL Diff is the TTL of the IP header less the QS TTL, modulo 256.
        let ttl_difference = ttl.wrapping_sub(qs_ttl);
        Some(PeerOption::QuickStart(QuickStartOption::Response { rate, ttl_difference, nonce }))
    }
}

/// Times pairs and answers with the interval (paper, section 4.1.2); in both-sides mode also answers pairs with
/// pairs and thins its acknowledgements on an asymmetric path (section 4.2.1).
///
/// The ratio compares t2 with t1 of the same pair. The paper names no pair, but t2 is the interval of the two ACKs that answer
/// one pair and carry its pair-id, and those ACKs left t1 of that very pair apart: only their ratio is what the reverse path
/// did. t1 of the last pair would be an interval of other packets, because in slow start several pairs are on their way before
/// t2 of the first comes back.
#[derive(Clone, Debug)]
pub struct PacketPairReceiver {
    probing: Probing,
    ack_ratio: AckRatio,
    option_kind: PacketPairKind,
    clock: TickClock,
    /// Pair-id and arrival of the last "pair 1".
    first: Option<(u8, Time)>,
    /// In both-sides mode, the pairs whose t2 has not come back yet, oldest first.
    timed: VecDeque<TimedPair>,
    ack_every: Option<u32>,
}

/// A whole pair that has arrived.
#[derive(Clone, Copy, Debug)]
struct TimedPair {
    id: u8,
    /// t1 of the paper, in ticks.
    interval: u16,
    /// Arrival of its second segment, at which the second ACK leaves.
    arrival: Time,
}

/// A pair-id is one byte: an older pair can no longer be told from a new one.
const MOST_TIMED_PAIRS: usize = 256;

impl PacketPairReceiver {
    /// The partner of a sender with these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            probing: parameters.probing,
            ack_ratio: parameters.ack_ratio,
            option_kind: parameters.option_kind,
            clock: TickClock::new(parameters.tick, parameters.timer_rounding),
            first: None,
            timed: VecDeque::new(),
            ack_every: None,
        }
    }

    fn on_data(&mut self, now: Time, option: Option<PeerOption>) -> AckRequest {
        let Some(PeerOption::PacketPair(PacketPairOption { mark, reply, .. })) = option else {
            return AckRequest::default();
        };
        if let Some((id, reverse)) = reply {
            self.take_reverse_interval(now, id, reverse);
        }
        let both_sides = self.probing == Probing::BothSides;
        let option =
            |mark, reply| PeerOption::PacketPair(PacketPairOption { kind: self.option_kind, mark, reply });
        match mark {
            None => AckRequest::default(),
            Some((PairMark::First, id)) => {
                self.first = Some((id, now));
                AckRequest {
                    // "The acknowledgement of packet with packet pair 1 type option can be delayed"; figure 6: not here.
                    immediately: both_sides,
                    option: both_sides.then(|| option(Some((PairMark::First, id)), None)),
                    ..AckRequest::default()
                }
            }
            Some((PairMark::Second, id)) => {
                // Without its first (lost, overtaken) there is nothing to report, only the immediate acknowledgement.
                let interval = match self.first.take() {
                    Some((first_id, first)) if first_id == id => Some(self.clock.interval(first, now)),
                    _ => None,
                };
                let mark = both_sides.then_some((PairMark::Second, id));
                let option = interval.map(|ticks| option(mark, Some((id, ticks))));
                if let Some(interval) = interval.filter(|_| both_sides) {
                    self.remember(TimedPair { id, interval, arrival: now });
                }
                AckRequest { immediately: true, option, ..AckRequest::default() }
            }
        }
    }

    fn remember(&mut self, pair: TimedPair) {
        if self.timed.len() == MOST_TIMED_PAIRS {
            self.timed.pop_front();
        }
        self.timed.push_back(pair);
    }

    /// The sender returns t2 of a pair. The ratio that follows from it acts until that of the next pair is known.
    fn take_reverse_interval(&mut self, now: Time, id: u8, reverse: u16) {
        let Some(place) = self.timed.iter().position(|pair| pair.id == id) else { return };
        let pair = self.timed[place];
        // What would tell of older pairs was lost or overtaken.
        self.timed.drain(..=place);
        self.ack_every = Some(match self.ack_ratio {
            AckRatio::Intervals => segments_per_ack(pair.interval, reverse),
            AckRatio::Rfc4782 => {
                let segment_time = self.clock.period().times(pair.interval.max(1).into());
                segments_per_ack_of_window(now.since(pair.arrival), segment_time)
            }
        });
    }
}

/// d of the paper, "every three or four packet arrival in proportion to ratio of t1 to t2".
///
/// Acknowledgements leave the receiver t1 apart and arrive t2 apart, so t2/t1 is just the number of segments that
/// must share one for the reverse link to keep up. Up to 2 ordinary delayed acknowledgements do already; the paper
/// stops at 4. (It prints the ratio as t1 to t2, which would shrink as the path grows more asymmetric.)
pub fn segments_per_ack(forward_ticks: u16, reverse_ticks: u16) -> u32 {
    u32::from(reverse_ticks.max(1)).div_ceil(u32::from(forward_ticks.max(1))).clamp(2, 4)
}

/// K of RFC 4782, section 4.5: R·RTT / (100 · 8 · MSS), at least 2.
///
/// R, the rate of the forward path, is a segment every t1, so that K is RTT / (100 t1): a hundredth of the segments that fill
/// the path, which leaves about 100 ACKs a round trip. The round trip is the receiver's: from its ACK of a pair to the
/// segment that returns t2 of that pair. Rounded down, our choice: more ACKs rather than fewer.
pub fn segments_per_ack_of_window(rtt: Duration, segment_time: Duration) -> u32 {
    let segments = rtt.picoseconds() / segment_time.picoseconds().max(1);
    u32::try_from(segments / 100).unwrap_or(u32::MAX).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    fn marked(mark: PairMark, id: u8) -> Option<PeerOption> {
        Some(PeerOption::PacketPair(PacketPairOption {
            mark: Some((mark, id)),
            ..PacketPairOption::default()
        }))
    }

    #[test]
    fn sender_only_replies_to_the_second_at_once() {
        let mut receiver = PacketPairReceiver::new(Parameters::default());
        assert_eq!(receiver.on_data(at(100), marked(PairMark::First, 9)), AckRequest::default());
        let request = receiver.on_data(at(141), marked(PairMark::Second, 9));
        let reply = PacketPairOption { reply: Some((9, 4)), ..PacketPairOption::default() };
        let option = Some(PeerOption::PacketPair(reply));
        assert_eq!(request, AckRequest { immediately: true, option, ..AckRequest::default() });
    }

    #[test]
    fn a_second_without_its_first_gets_no_reply() {
        let mut receiver = PacketPairReceiver::new(Parameters::default());
        receiver.on_data(at(100), marked(PairMark::First, 8));
        let request = receiver.on_data(at(141), marked(PairMark::Second, 9));
        assert_eq!(request, AckRequest { immediately: true, ..AckRequest::default() });
    }

    #[test]
    fn ack_ratio_on_the_papers_asymmetric_path() {
        // 1000 B at 500 kbit/s: 16 ms, 1 or 2 ticks; a 40 B acknowledgement at 4.8 kbit/s: 66.7 ms, 6 or 7 ticks.
        assert_eq!(segments_per_ack(2, 7), 4);
        assert_eq!(segments_per_ack(2, 6), 3);
        assert_eq!(segments_per_ack(1, 7), 4);
        assert_eq!(segments_per_ack(4, 4), 2);
        assert_eq!(segments_per_ack(0, 0), 2);
        assert_eq!(segments_per_ack(9, 1), 2);
    }

    fn swift_mark(mark: PairMark, id: u8) -> Option<PeerOption> {
        Some(PeerOption::SwiftStart(SwiftStartOption::Mark(mark, id)))
    }

    /// Figure 7 of the paper: the interval is in every acknowledgement after the second, for a round trip.
    #[test]
    fn the_interval_of_a_pair_is_told_for_a_round_trip() {
        let mut part = ReceiverPart::SwiftStart(Box::default());
        assert_eq!(part.on_syn(at(100), None, INITIAL_TTL), None);
        assert_eq!(part.on_data(at(370), swift_mark(PairMark::First, 9), INITIAL_TTL), AckRequest::default());
        assert_eq!(part.option_for_acknowledgement(at(371)), None);
        let request = part.on_data(at(378), swift_mark(PairMark::Second, 9), INITIAL_TTL);
        assert_eq!(request, AckRequest { restart_timer: true, ..AckRequest::default() });
        let reply = Some(PeerOption::SwiftStart(SwiftStartOption::Reply { id: 9, microseconds: 8000 }));
        // The first may come late: the round trip, 270 ms, counts from it.
        for now in [578, 600, 848] {
            assert_eq!(part.option_for_acknowledgement(at(now)), reply, "at {now} ms");
        }
        assert_eq!(part.option_for_acknowledgement(at(849)), None);
    }

    #[test]
    fn a_second_of_another_pair_tells_nothing() {
        let mut part = ReceiverPart::SwiftStart(Box::default());
        part.on_data(at(370), swift_mark(PairMark::First, 8), INITIAL_TTL);
        part.on_data(at(378), swift_mark(PairMark::Second, 9), INITIAL_TTL);
        assert_eq!(part.option_for_acknowledgement(at(380)), None);
    }

    /// RFC 4782, section 3.1: all three routers decremented both, or one of them only the TTL of the IP header.
    #[test]
    fn the_difference_of_the_times_to_live_is_told() {
        let mut part = ReceiverPart::QuickStart(QuickStartReceiver);
        for (ttl, difference) in [(197, 120), (198, 119)] {
            let request = QuickStartOption::Request { rate: 5, ttl, nonce: 7 };
            let response = QuickStartOption::Response { rate: 5, ttl_difference: difference, nonce: 7 };
            let answer = part.on_syn(at(0), Some(PeerOption::QuickStart(request)), INITIAL_TTL - 3);
            assert_eq!(answer, Some(PeerOption::QuickStart(response)));
        }
        assert_eq!(part.on_syn(at(0), None, INITIAL_TTL), None);
    }

    fn both_sides(more: Parameters) -> ReceiverPart {
        let parameters = Parameters { probing: Probing::BothSides, ..more };
        ReceiverPart::PacketPair(Box::new(PacketPairReceiver::new(parameters)))
    }

    fn pair(mark: Option<(PairMark, u8)>, reply: Option<(u8, u16)>) -> Option<PeerOption> {
        Some(PeerOption::PacketPair(PacketPairOption { mark, reply, ..PacketPairOption::default() }))
    }

    fn a_pair_arrives(part: &mut ReceiverPart, id: u8, first: u64, second: u64) {
        part.on_data(at(first), pair(Some((PairMark::First, id)), None), INITIAL_TTL);
        part.on_data(at(second), pair(Some((PairMark::Second, id)), None), INITIAL_TTL);
    }

    /// In slow start pairs 8 and 9 arrive before t2 of pair 7 comes back. The ratio was never applied, because t2 was compared
    /// with t1 of the last pair only if that was the pair it belongs to.
    #[test]
    fn the_ratio_is_that_of_the_pair_the_reply_names() {
        let mut part = both_sides(Parameters::default());
        a_pair_arrives(&mut part, 7, 0, 20);
        a_pair_arrives(&mut part, 8, 40, 80);
        a_pair_arrives(&mut part, 9, 100, 190);
        assert_eq!(part.ack_every(), None, "the other way has not been timed");
        part.on_data(at(200), pair(None, Some((6, 9))), INITIAL_TTL);
        assert_eq!(part.ack_every(), None, "pair 6 has not been timed here");
        for (id, reverse, expected) in [(7, 6, 3), (8, 16, 4), (9, 9, 2)] {
            part.on_data(at(210), pair(None, Some((id, reverse))), INITIAL_TTL);
            assert_eq!(part.ack_every(), Some(expected), "pair {id}");
        }
        // It acts until the next, also while another pair is under way.
        a_pair_arrives(&mut part, 10, 300, 310);
        assert_eq!(part.ack_every(), Some(2));
        assert_eq!(ReceiverPart::Xcp.ack_every(), None);
    }

    /// 300 pairs without a reply: the last 256 are kept, the one that has pair 44's id among them.
    #[test]
    fn pairs_without_a_reply_are_forgotten_after_the_ids_have_come_round() {
        let mut receiver =
            PacketPairReceiver::new(Parameters { probing: Probing::BothSides, ..Parameters::default() });
        for number in 0..300_u64 {
            receiver.on_data(at(100 * number), pair(Some((PairMark::First, number as u8)), None));
            receiver.on_data(at(100 * number + 10), pair(Some((PairMark::Second, number as u8)), None));
        }
        assert_eq!(receiver.timed.len(), MOST_TIMED_PAIRS);
        assert_eq!(receiver.timed.front().map(|pair| pair.arrival), Some(at(4410)));
    }

    /// RFC 4782, section 4.5. 1 Gbit/s, 1500 B, 100 ms: 8333 segments fill the path, so K = 83. The paper's path, 16 ms and
    /// 0.4 s: 25 segments, K = 2.
    #[test]
    fn k_of_rfc_4782() {
        let milliseconds = Duration::from_milliseconds;
        assert_eq!(segments_per_ack_of_window(milliseconds(100), Duration::from_microseconds(12)), 83);
        assert_eq!(segments_per_ack_of_window(milliseconds(400), milliseconds(16)), 2);
        assert_eq!(segments_per_ack_of_window(milliseconds(100), Duration::ZERO), 1_000_000_000);
        let mut part = both_sides(Parameters { ack_ratio: AckRatio::Rfc4782, ..Parameters::default() });
        a_pair_arrives(&mut part, 7, 0, 10);
        // 5.01 s after the ACKs of the pair: 501 ticks of one segment each; t2 has no say in it.
        part.on_data(at(5020), pair(None, Some((7, 1))), INITIAL_TTL);
        assert_eq!(part.ack_every(), Some(5));
    }
}
