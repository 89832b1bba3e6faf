//! The receiver's part of packet-pair TCP.

use alloc::collections::VecDeque;

use super::{AckRatio, AckRatioOf, Parameters, Probing};
use crate::estimate::pair_interval::TickClock;
use crate::option::{PacketPairKind, PacketPairOption, PairMark, PeerOption};
use crate::receiver::{AckRequest, ReceiverPart};
use crate::units::{Duration, Time};

/// Times pairs and replies with the interval (paper, section 4.1.2); in both-sides mode also
/// answers pairs with pairs and thins its ACKs on an asymmetric path (section 4.2.1).
///
/// The ratio compares t2 with t1 of the same pair. The paper does not say which pair, but t2 is the
/// interval of the two ACKs that answer one pair and carry its pair-id, and those ACKs left t1 of
/// that very pair apart: only their ratio shows the effect of the reverse path. t1 of the last pair
/// would be an interval of other packets, because in slow start several pairs are in flight before
/// t2 of the first returns.
#[derive(Clone, Debug)]
pub struct PacketPairReceiver {
    probing: Probing,
    ack_ratio: AckRatio,
    ack_ratio_of: AckRatioOf,
    option_kind: PacketPairKind,
    clock: TickClock,
    /// Pair-id and arrival of the last "pair 1".
    first: Option<(u8, Time)>,
    /// In both-sides mode, the pairs whose t2 has not returned yet, oldest first.
    timed: VecDeque<TimedPair>,
    ack_every: Option<u32>,
    /// The reply to a pair that is not acknowledged at once, for the next ACK.
    reply: Option<(u8, u16)>,
}

/// A pair that has arrived completely.
#[derive(Clone, Copy, Debug)]
struct TimedPair {
    id: u8,
    /// t1 of the paper, in ticks.
    interval: u16,
    /// Arrival of its second segment, when the second ACK leaves.
    arrival: Time,
}

/// A pair-id is one byte: an older pair is indistinguishable from a new one.
const MOST_TIMED_PAIRS: usize = 256;

impl PacketPairReceiver {
    /// The partner of a sender with these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            probing: parameters.probing,
            ack_ratio: parameters.ack_ratio,
            ack_ratio_of: parameters.ack_ratio_of,
            option_kind: parameters.option_kind,
            clock: TickClock::new(parameters.tick, parameters.timer_rounding),
            first: None,
            timed: VecDeque::new(),
            ack_every: None,
            reply: None,
        }
    }

    /// Whether pairs are acknowledged like other segments. Their ACKs are then no pair, so t2 is
    /// measured no more, and d stays.
    fn thins_pairs(&self) -> bool {
        self.ack_ratio_of == AckRatioOf::All && self.ack_every.is_some_and(|every| every > 2)
    }

    fn remember(&mut self, pair: TimedPair) {
        if self.timed.len() == MOST_TIMED_PAIRS {
            self.timed.pop_front();
        }
        self.timed.push_back(pair);
    }

    /// The sender returns t2 of a pair. The resulting ratio applies until that of the next pair is
    /// known.
    fn take_reverse_interval(&mut self, now: Time, id: u8, reverse: u16) {
        let Some(place) = self.timed.iter().position(|pair| pair.id == id) else { return };
        let pair = self.timed[place];
        // The report on older pairs was lost or overtaken.
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

impl ReceiverPart for PacketPairReceiver {
    fn on_data(&mut self, now: Time, option: Option<PeerOption>, _ttl: u8) -> AckRequest {
        let Some(PeerOption::PacketPair(PacketPairOption { mark, reply, .. })) = option else {
            return AckRequest::default();
        };
        if let Some((id, reverse)) = reply {
            self.take_reverse_interval(now, id, reverse);
        }
        let thins_pairs = self.thins_pairs();
        let both_sides = self.probing == Probing::BothSides && !thins_pairs;
        let kind = self.option_kind;
        let option = |mark, reply| PeerOption::PacketPair(PacketPairOption { kind, mark, reply });
        match mark {
            None => AckRequest::default(),
            Some((PairMark::First, id)) => {
                self.first = Some((id, now));
                AckRequest {
                    // "The acknowledgement of packet with packet pair 1 type option can be
                    // delayed"; not in figure 6.
                    immediately: both_sides,
                    option: both_sides.then(|| option(Some((PairMark::First, id)), None)),
                    ..AckRequest::default()
                }
            }
            Some((PairMark::Second, id)) => {
                // Without its first (lost, reordered) there is nothing to report, only the
                // immediate ACK.
                let interval = match self.first.take() {
                    Some((first_id, first)) if first_id == id => Some(self.clock.interval(first, now)),
                    _ => None,
                };
                if thins_pairs {
                    self.reply = interval.map(|ticks| (id, ticks)).or(self.reply);
                    return AckRequest::default();
                }
                let mark = both_sides.then_some((PairMark::Second, id));
                let option = interval.map(|ticks| option(mark, Some((id, ticks))));
                if let Some(interval) = interval.filter(|_| both_sides) {
                    self.remember(TimedPair { id, interval, arrival: now });
                }
                AckRequest { immediately: true, option, ..AckRequest::default() }
            }
        }
    }

    fn option_for_ack(&mut self, _now: Time) -> Option<PeerOption> {
        let reply = Some(self.reply.take()?);
        Some(PeerOption::PacketPair(PacketPairOption { kind: self.option_kind, mark: None, reply }))
    }

    fn ack_every(&self) -> Option<u32> {
        self.ack_every
    }
}

/// d of the paper, "every three or four packet arrival in proportion to ratio of t1 to t2".
///
/// ACKs leave the receiver t1 apart and arrive t2 apart, so t2/t1 is the number of segments that
/// must share an ACK for the reverse link to keep up. Delayed ACKs already cover a ratio of 2; the
/// paper stops at 4. (It prints the ratio as t1 to t2, which would shrink as the path grows more
/// asymmetric.)
pub fn segments_per_ack(forward_ticks: u16, reverse_ticks: u16) -> u32 {
    u32::from(reverse_ticks.max(1)).div_ceil(u32::from(forward_ticks.max(1))).clamp(2, 4)
}

/// K of RFC 4782, section 4.5: R·RTT / (100 · 8 · MSS), at least 2.
///
/// R, the rate of the forward path, is a segment every t1, so that K is RTT / (100 t1): a hundredth
/// of the BDP in segments, which leaves about 100 ACKs a round trip. The round trip is the
/// receiver's: from its ACK of a pair to the segment that returns t2 of that pair. Rounded down,
/// our choice: more ACKs rather than fewer.
pub fn segments_per_ack_of_window(rtt: Duration, segment_time: Duration) -> u32 {
    let segments = rtt.picoseconds() / segment_time.picoseconds().max(1);
    u32::try_from(segments / 100).unwrap_or(u32::MAX).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receiver::INITIAL_TTL;

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
        assert_eq!(receiver.on_data(at(100), marked(PairMark::First, 9), INITIAL_TTL), AckRequest::default());
        let request = receiver.on_data(at(141), marked(PairMark::Second, 9), INITIAL_TTL);
        let reply = PacketPairOption { reply: Some((9, 4)), ..PacketPairOption::default() };
        let option = Some(PeerOption::PacketPair(reply));
        assert_eq!(request, AckRequest { immediately: true, option, ..AckRequest::default() });
    }

    #[test]
    fn a_second_without_its_first_gets_no_reply() {
        let mut receiver = PacketPairReceiver::new(Parameters::default());
        receiver.on_data(at(100), marked(PairMark::First, 8), INITIAL_TTL);
        let request = receiver.on_data(at(141), marked(PairMark::Second, 9), INITIAL_TTL);
        assert_eq!(request, AckRequest { immediately: true, ..AckRequest::default() });
    }

    #[test]
    fn ack_ratio_on_the_papers_asymmetric_path() {
        // 1000 B at 500 kbit/s: 16 ms, 1 or 2 ticks; a 40 B ACK at 4.8 kbit/s: 66.7 ms, 6 or 7
        // ticks.
        assert_eq!(segments_per_ack(2, 7), 4);
        assert_eq!(segments_per_ack(2, 6), 3);
        assert_eq!(segments_per_ack(1, 7), 4);
        assert_eq!(segments_per_ack(4, 4), 2);
        assert_eq!(segments_per_ack(0, 0), 2);
        assert_eq!(segments_per_ack(9, 1), 2);
    }

    fn both_sides(more: Parameters) -> PacketPairReceiver {
        let parameters = Parameters { probing: Probing::BothSides, ..more };
        PacketPairReceiver::new(parameters)
    }

    fn pair(mark: Option<(PairMark, u8)>, reply: Option<(u8, u16)>) -> Option<PeerOption> {
        Some(PeerOption::PacketPair(PacketPairOption { mark, reply, ..PacketPairOption::default() }))
    }

    fn a_pair_arrives(part: &mut PacketPairReceiver, id: u8, first: u64, second: u64) {
        part.on_data(at(first), pair(Some((PairMark::First, id)), None), INITIAL_TTL);
        part.on_data(at(second), pair(Some((PairMark::Second, id)), None), INITIAL_TTL);
    }

    /// In slow start pairs 8 and 9 arrive before t2 of pair 7 returns. The ratio was never applied,
    /// because t2 was compared with t1 of the last pair only if it belonged to that pair.
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
        // It applies until the next, also while another pair is in flight.
        a_pair_arrives(&mut part, 10, 300, 310);
        assert_eq!(part.ack_every(), Some(2));
    }

    /// "When new TCP finds an asymmetric link, acknowledgement packet is transmitted every three or
    /// four packet arrival" (section 4.2.1), of every packet: pairs are acknowledged like others,
    /// the reply goes with the next ACK, and the ACKs are no pair.
    #[test]
    fn d_can_count_every_segment() {
        let mut part = both_sides(Parameters { ack_ratio_of: AckRatioOf::All, ..Parameters::default() });
        let first = part.on_data(at(0), marked(PairMark::First, 7), INITIAL_TTL);
        assert!(first.immediately, "the path is not known yet");
        part.on_data(at(20), marked(PairMark::Second, 7), INITIAL_TTL);
        part.on_data(at(100), pair(Some((PairMark::First, 8)), Some((7, 8))), INITIAL_TTL);
        assert_eq!(part.ack_every(), Some(4));
        assert_eq!(part.option_for_ack(at(101)), None);
        let second = part.on_data(at(116), marked(PairMark::Second, 8), INITIAL_TTL);
        assert_eq!(second, AckRequest::default());
        let reply = PacketPairOption { reply: Some((8, 1)), ..PacketPairOption::default() };
        assert_eq!(part.option_for_ack(at(150)), Some(PeerOption::PacketPair(reply)));
        assert_eq!(part.option_for_ack(at(190)), None, "once");
        // On a path that is not asymmetric pairs stay pairs.
        let mut symmetric = both_sides(Parameters { ack_ratio_of: AckRatioOf::All, ..Parameters::default() });
        a_pair_arrives(&mut symmetric, 7, 0, 20);
        symmetric.on_data(at(100), pair(None, Some((7, 2))), INITIAL_TTL);
        assert_eq!(symmetric.ack_every(), Some(2));
        assert!(symmetric.on_data(at(110), marked(PairMark::First, 8), INITIAL_TTL).immediately);
    }

    /// 300 pairs without a reply: the last 256 are kept, including the one that has pair 44's id.
    #[test]
    fn pairs_without_a_reply_are_forgotten_after_the_ids_have_come_round() {
        let mut receiver =
            PacketPairReceiver::new(Parameters { probing: Probing::BothSides, ..Parameters::default() });
        for number in 0..300_u64 {
            receiver.on_data(
                at(100 * number),
                pair(Some((PairMark::First, number as u8)), None),
                INITIAL_TTL,
            );
            receiver.on_data(
                at(100 * number + 10),
                pair(Some((PairMark::Second, number as u8)), None),
                INITIAL_TTL,
            );
        }
        assert_eq!(receiver.timed.len(), MOST_TIMED_PAIRS);
        assert_eq!(receiver.timed.front().map(|pair| pair.arrival), Some(at(4410)));
    }

    /// RFC 4782, section 4.5. 1 Gbit/s, 1500 B, 100 ms: a BDP of 8333 segments, so K = 83. The
    /// paper's path, 16 ms and 0.4 s: 25 segments, K = 2.
    #[test]
    fn k_of_rfc_4782() {
        let milliseconds = Duration::from_milliseconds;
        assert_eq!(segments_per_ack_of_window(milliseconds(100), Duration::from_microseconds(12)), 83);
        assert_eq!(segments_per_ack_of_window(milliseconds(400), milliseconds(16)), 2);
        assert_eq!(segments_per_ack_of_window(milliseconds(100), Duration::ZERO), 1_000_000_000);
        let mut part = both_sides(Parameters { ack_ratio: AckRatio::Rfc4782, ..Parameters::default() });
        a_pair_arrives(&mut part, 7, 0, 10);
        // 5.01 s after the ACKs of the pair: 501 ticks of one segment each; t2 plays no role.
        part.on_data(at(5020), pair(None, Some((7, 1))), INITIAL_TTL);
        assert_eq!(part.ack_every(), Some(5));
    }
}
