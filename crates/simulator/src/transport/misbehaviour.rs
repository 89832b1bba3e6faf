//! A misbehaving receiver: greedy or broken ACKs.
//!
//! The first three are those of Savage, Cardwell, Wetherall and Anderson, "TCP congestion control
//! with a misbehaving receiver" (1999). For an honest receiver the cost is one pointer check per
//! ACK.

use crate::plan::MisbehaviourPlan;
use selfclock_congestion::PeerOption;
use selfclock_congestion::option::{PacketPairOption, QuickStartOption, SwiftStartOption, XcpOption};

/// Largest code of a Quick-Start rate: four bits.
const LARGEST_RATE_CODE: f64 = 15.0;

/// A receiver's protocol violations.
#[derive(Clone, Debug)]
pub struct Misbehaviour {
    plan: MisbehaviourPlan,
    mss: u64,
    /// Highest number acknowledged so far.
    acknowledged: u64,
    /// Number of ACKs so far that reported data beyond a gap.
    reports: u32,
}

impl Misbehaviour {
    /// As planned; `mss` is the payload of a full segment.
    pub fn new(plan: MisbehaviourPlan, mss: u64) -> Self {
        Self { plan, mss, acknowledged: 0, reports: 0 }
    }

    /// Whether it conceals gaps, so that there is nothing to report beyond them.
    pub fn conceals_gaps(&self) -> bool {
        self.plan.ack_ahead.is_some()
    }

    /// The numbers to acknowledge, in order, when all before `next` has arrived and nothing from
    /// `highest` on.
    pub fn numbers(&mut self, next: u64, highest: u64) -> impl Iterator<Item = u64> + use<> {
        let from = self.acknowledged;
        let to = match self.plan.ack_ahead {
            None => next,
            Some(segments) => (highest + u64::from(segments) * self.mss).max(from),
        };
        self.acknowledged = to;
        let new = to - from;
        // Whole bytes cannot be divided further.
        let parts = u64::from(self.plan.ack_parts).min(new).max(1);
        let divided = (1..=parts)
            .map(move |part| from + (u128::from(new) * u128::from(part) / u128::from(parts)) as u64);
        divided.chain(std::iter::repeat_n(to, self.plan.ack_repeats as usize))
    }

    /// An ACK has reported data beyond a gap. True if the receiver now discards that data.
    pub fn reneges(&mut self) -> bool {
        self.reports = self.reports.wrapping_add(1);
        self.plan.renege_every.is_some_and(|every| self.reports.is_multiple_of(every))
    }

    /// Its false reports: intervals are multiplied by the factor, rates and feedback are divided by
    /// it.
    pub fn falsify(&self, option: PeerOption) -> PeerOption {
        let factor = self.plan.interval_factor;
        if factor == 1.0 {
            return option;
        }
        // Conversions saturate.
        match option {
            PeerOption::PacketPair(PacketPairOption { kind, mark, reply }) => {
                let reply = reply.map(|(id, ticks)| (id, (f64::from(ticks) * factor + 0.5) as u16));
                PeerOption::PacketPair(PacketPairOption { kind, mark, reply })
            }
            PeerOption::SwiftStart(SwiftStartOption::Reply { id, microseconds }) => {
                let microseconds = (f64::from(microseconds) * factor + 0.5) as u32;
                PeerOption::SwiftStart(SwiftStartOption::Reply { id, microseconds })
            }
            PeerOption::QuickStart(QuickStartOption::Response { rate, ttl_difference, nonce }) => {
                // A step of the code is a factor of two.
                let code = f64::from(rate) - libm::log2(factor);
                let rate = libm::round(code).clamp(0.0, LARGEST_RATE_CODE) as u8;
                PeerOption::QuickStart(QuickStartOption::Response { rate, ttl_difference, nonce })
            }
            PeerOption::Xcp(XcpOption::Reply { feedback }) => {
                PeerOption::Xcp(XcpOption::Reply { feedback: (f64::from(feedback) / factor) as i32 })
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HONEST: MisbehaviourPlan = MisbehaviourPlan::NONE;

    fn numbers(plan: MisbehaviourPlan, arrivals: &[(u64, u64)]) -> Vec<Vec<u64>> {
        let mut receiver = Misbehaviour::new(plan, 1000);
        arrivals.iter().map(|&(next, highest)| receiver.numbers(next, highest).collect()).collect()
    }

    /// Section 2.1 of Savage et al.: "divide the resulting acknowledgment into M, where M <= N,
    /// separate acknowledgments - each covering one of M distinct pieces of the received data
    /// segment". No piece is smaller than a byte.
    #[test]
    fn pieces_cover_what_has_arrived() {
        let plan = MisbehaviourPlan { ack_parts: 4, ..HONEST };
        let expected = vec![vec![250, 500, 750, 1000], vec![1001, 1002, 1003], vec![1003]];
        assert_eq!(numbers(plan, &[(1000, 1000), (1003, 1003), (1003, 5000)]), expected);
    }

    #[test]
    fn optimistic_acknowledgements_run_ahead_and_never_go_back() {
        let plan = MisbehaviourPlan { ack_ahead: Some(2), ..HONEST };
        let expected = vec![vec![3000], vec![7000], vec![7000]];
        assert_eq!(numbers(plan, &[(1000, 1000), (1000, 5000), (1000, 4000)]), expected);
        assert!(Misbehaviour::new(plan, 1000).conceals_gaps());
    }

    #[test]
    fn repeats_come_after_the_acknowledgement() {
        let plan = MisbehaviourPlan { ack_repeats: 2, ..HONEST };
        assert_eq!(numbers(plan, &[(1000, 1000)]), vec![vec![1000, 1000, 1000]]);
    }

    #[test]
    fn every_second_report_is_withdrawn() {
        let mut receiver = Misbehaviour::new(MisbehaviourPlan { renege_every: Some(2), ..HONEST }, 1000);
        assert_eq!([(); 4].map(|()| receiver.reneges()), [false, true, false, true]);
    }

    #[test]
    fn a_tenth_of_the_interval_is_ten_times_the_rate() {
        let receiver = Misbehaviour::new(MisbehaviourPlan { interval_factor: 0.1, ..HONEST }, 1000);
        let pair = |ticks| {
            PeerOption::PacketPair(PacketPairOption {
                reply: Some((7, ticks)),
                ..PacketPairOption::default()
            })
        };
        assert_eq!(receiver.falsify(pair(52)), pair(5));
        let swift = |microseconds| PeerOption::SwiftStart(SwiftStartOption::Reply { id: 7, microseconds });
        assert_eq!(receiver.falsify(swift(1250)), swift(125));
        let xcp = |feedback| PeerOption::Xcp(XcpOption::Reply { feedback });
        assert_eq!(receiver.falsify(xcp(-30)), xcp(-300));
        // log2(10) is 3.3: three steps of the code; 15 is the highest.
        let quick =
            |rate| PeerOption::QuickStart(QuickStartOption::Response { rate, ttl_difference: 3, nonce: 9 });
        assert_eq!(receiver.falsify(quick(6)), quick(9));
        assert_eq!(receiver.falsify(quick(14)), quick(15));
    }
}
