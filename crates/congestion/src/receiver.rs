//! What an algorithm needs at the receiver: timing pairs, choosing how often to acknowledge.
//!
//! A receiver without such a part ignores the options it gets; the sender then behaves as plain TCP.

use crate::estimate::pair_interval::TickClock;
use crate::option::{PacketPairOption, PairMark, PeerOption};
use crate::start::packet_pair::{Parameters, Probing};
use crate::units::Time;

/// What the receiver's part asks for when a data segment has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AckRequest {
    /// Acknowledge now, whatever the delayed-acknowledgement rule says.
    pub immediately: bool,
    /// Option for that acknowledgement.
    pub option: Option<PeerOption>,
}

/// A receiver's part of an algorithm.
#[derive(Clone, Debug)]
pub enum ReceiverPart {
    /// None: a peer that knows of no option.
    Plain,
    /// Packet-pair TCP.
    PacketPair(PacketPairReceiver),
}

impl ReceiverPart {
    /// A data segment has arrived.
    #[inline]
    pub fn on_data(&mut self, now: Time, option: Option<PeerOption>) -> AckRequest {
        match self {
            Self::Plain => AckRequest::default(),
            Self::PacketPair(part) => part.on_data(now, option),
        }
    }

    /// Acknowledge every so many segments; `None`: as the delayed-acknowledgement rule has it.
    #[inline]
    pub fn ack_every(&self) -> Option<u32> {
        match self {
            Self::Plain => None,
            Self::PacketPair(part) => part.ack_every,
        }
    }
}

/// Times pairs and answers with the interval (paper, section 4.1.2); in both-sides mode also answers pairs with
/// pairs and thins its acknowledgements on an asymmetric path (section 4.2.1).
#[derive(Clone, Debug)]
pub struct PacketPairReceiver {
    probing: Probing,
    clock: TickClock,
    /// Pair-id and arrival of the last "pair 1".
    first: Option<(u8, Time)>,
    /// t1 of the paper, with its pair-id: the interval in which the last whole pair arrived, in ticks.
    forward_interval: Option<(u8, u16)>,
    ack_every: Option<u32>,
}

impl PacketPairReceiver {
    /// The partner of a sender with these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            probing: parameters.probing,
            clock: TickClock::new(parameters.tick, parameters.timer_rounding),
            first: None,
            forward_interval: None,
            ack_every: None,
        }
    }

    fn on_data(&mut self, now: Time, option: Option<PeerOption>) -> AckRequest {
        let Some(PeerOption::PacketPair(PacketPairOption { mark, reply })) = option else {
            return AckRequest::default();
        };
        if let (Some((id, reverse)), Some((forward_id, forward))) = (reply, self.forward_interval)
            && id == forward_id
        {
            self.ack_every = Some(segments_per_ack(forward, reverse));
        }
        let both_sides = self.probing == Probing::BothSides;
        match mark {
            None => AckRequest::default(),
            Some((PairMark::First, id)) => {
                self.first = Some((id, now));
                let echo = PacketPairOption { mark: Some((PairMark::First, id)), reply: None };
                AckRequest {
                    // "The acknowledgement of packet with packet pair 1 type option can be delayed"; figure 6: not here.
                    immediately: both_sides,
                    option: both_sides.then_some(PeerOption::PacketPair(echo)),
                }
            }
            Some((PairMark::Second, id)) => {
                // Without its first (lost, overtaken) there is nothing to report, only the immediate acknowledgement.
                let interval = match self.first.take() {
                    Some((first_id, first)) if first_id == id => Some(self.clock.interval(first, now)),
                    _ => None,
                };
                let option = interval.map(|ticks| {
                    self.forward_interval = Some((id, ticks));
                    PeerOption::PacketPair(PacketPairOption {
                        mark: both_sides.then_some((PairMark::Second, id)),
                        reply: Some((id, ticks)),
                    })
                });
                AckRequest { immediately: true, option }
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    fn marked(mark: PairMark, id: u8) -> Option<PeerOption> {
        Some(PeerOption::PacketPair(PacketPairOption { mark: Some((mark, id)), reply: None }))
    }

    #[test]
    fn sender_only_replies_to_the_second_at_once() {
        let mut receiver = PacketPairReceiver::new(Parameters::default());
        assert_eq!(receiver.on_data(at(100), marked(PairMark::First, 9)), AckRequest::default());
        let request = receiver.on_data(at(141), marked(PairMark::Second, 9));
        let reply = PacketPairOption { mark: None, reply: Some((9, 4)) };
        assert_eq!(request, AckRequest { immediately: true, option: Some(PeerOption::PacketPair(reply)) });
    }

    #[test]
    fn a_second_without_its_first_gets_no_reply() {
        let mut receiver = PacketPairReceiver::new(Parameters::default());
        receiver.on_data(at(100), marked(PairMark::First, 8));
        let request = receiver.on_data(at(141), marked(PairMark::Second, 9));
        assert_eq!(request, AckRequest { immediately: true, option: None });
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
}
