//! Random early detection: drops or marks with a probability that grows with the average queue. Floyd and Jacobson 1993;
//! "gentle" is Floyd 2000, adaptive RED is Floyd, Gummadi and Shenker 2001.

use super::managed::Work;
use crate::engine::{Ring, Stream};
use crate::network::Packet;
use crate::plan::RedPlan;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

/// Step of an adaptation, and between adaptations: "alpha", "beta" and "interval" of the 2001 paper.
const INCREASE: f64 = 0.01;
const DECREASE: f64 = 0.9;
const ADAPT_EVERY: Duration = Duration::from_milliseconds(500);
/// Range in which adaptive RED keeps the maximum probability.
const ADAPTED: std::ops::RangeInclusive<f64> = 0.01..=0.5;
/// Packet that an idle time is counted in, bytes: ns-2's `mean_pktsize_` is 500, which today would be small.
const MEAN_PACKET: u64 = 1000;

/// RED over one FIFO.
#[derive(Clone, Debug)]
pub struct Red {
    plan: RedPlan,
    waiting: Ring<Packet>,
    stream: Stream,
    /// Time that a mean packet takes on the wire.
    packet_time: Duration,
    /// Average queue, packets.
    average: f64,
    /// Packets since the last drop or mark; -1: the average is below the minimum.
    count: i64,
    /// "max_p".
    probability: f64,
    /// When the queue became empty, if it is.
    idle_since: Option<Time>,
    adapt_at: Time,
}

/// What RED does with an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Keep,
    /// Dropped, or marked if it can be.
    Congested,
    Drop,
}

impl Red {
    /// An empty queue of a link with this rate.
    pub fn new(plan: RedPlan, rate: Rate, stream: Stream) -> Self {
        Self {
            plan,
            waiting: Ring::default(),
            stream,
            packet_time: rate.transmission_time(Bytes(MEAN_PACKET)),
            average: 0.0,
            count: -1,
            probability: plan.max_probability,
            idle_since: Some(Time::ZERO),
            adapt_at: Time::ZERO + ADAPT_EVERY,
        }
    }

    /// Brings the average up to date with a queue of `packets`.
    fn average(&mut self, now: Time, packets: u64) {
        let weight = self.plan.weight;
        if let Some(since) = self.idle_since.take() {
            // "m small packets could have been transmitted during this idle time": each finds the queue empty.
            let packets =
                now.since(since).picoseconds() as f64 / self.packet_time.picoseconds().max(1) as f64;
            self.average *= libm::pow(1.0 - weight, packets);
        }
        self.average += weight * (packets as f64 - self.average);
    }

    /// "p_b": the probability before it is spread out.
    fn initial_probability(&self) -> f64 {
        let RedPlan { minimum, maximum, gentle, .. } = self.plan;
        let above = (self.average - minimum) / (maximum - minimum);
        if above < 1.0 {
            self.probability * above.max(0.0)
        } else if gentle {
            self.probability + (1.0 - self.probability) * (self.average - maximum) / maximum
        } else {
            1.0
        }
    }

    fn verdict(&mut self) -> Verdict {
        if self.average < self.plan.minimum {
            self.count = -1;
            return Verdict::Keep;
        }
        let initial = self.initial_probability();
        if initial >= 1.0 {
            self.count = 0;
            return Verdict::Drop;
        }
        self.count += 1;
        // "p_a = p_b / (1 - count * p_b)": the gap between drops is then uniform up to 1 / p_b.
        let rest = 1.0 - self.count as f64 * initial;
        if rest > initial && !self.stream.happens(initial / rest) {
            return Verdict::Keep;
        }
        self.count = 0;
        if self.average < self.plan.maximum { Verdict::Congested } else { Verdict::Drop }
    }

    /// Adaptive RED: the average is to lie in the middle fifth between the thresholds.
    fn adapt(&mut self, now: Time) {
        while self.adapt_at <= now {
            self.adapt_at += ADAPT_EVERY;
            let span = self.plan.maximum - self.plan.minimum;
            let (low, high) = (self.plan.minimum + 0.4 * span, self.plan.minimum + 0.6 * span);
            if self.average > high && self.probability <= *ADAPTED.end() {
                self.probability += INCREASE.min(self.probability / 4.0);
            } else if self.average < low && self.probability >= *ADAPTED.start() {
                self.probability *= DECREASE;
            }
        }
    }

    pub(super) fn enqueue(&mut self, mut packet: Packet, work: &mut Work) {
        self.average(work.now, work.backlog.packets);
        if self.plan.adaptive {
            self.adapt(work.now);
        }
        let keep = match self.verdict() {
            Verdict::Keep => true,
            Verdict::Congested => self.plan.ecn && work.mark(&mut packet),
            Verdict::Drop => false,
        };
        if !keep || !work.backlog.has_room(packet.size) {
            if self.waiting.is_empty() {
                self.idle_since = Some(work.now);
            }
            return work.drop(packet);
        }
        work.entered(&packet);
        self.waiting.push(packet);
    }

    pub(super) fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        let packet = self.waiting.pop()?;
        work.left(&packet);
        if self.waiting.is_empty() {
            self.idle_since = Some(work.now + self.packet_time);
        }
        Some(packet)
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::Purpose;

    fn red(gentle: bool) -> Red {
        let plan = RedPlan {
            minimum: 5.0,
            maximum: 15.0,
            max_probability: 0.1,
            weight: 0.002,
            gentle,
            adaptive: false,
            ecn: false,
        };
        let rate = Rate::from_bits_per_second(8_000_000);
        Red::new(plan, rate, Stream::new(1, Purpose::LinkQueue, 0))
    }

    /// q (1 - (1 - w)^n) after n arrivals that find q packets; (1 - w)^m of it after m packet times without any.
    #[test]
    fn the_average_is_exponential_in_packets_and_in_idle_packet_times() {
        let mut red = red(true);
        red.idle_since = None;
        for _ in 0..1000 {
            red.average(Time::ZERO, 20);
        }
        let expected = 20.0 * (1.0 - libm::pow(0.998, 1000.0));
        assert!((red.average / expected - 1.0).abs() < 1e-9, "{}", red.average);
        // 1000 B at 8 Mbit/s: 1 ms.
        red.idle_since = Some(Time::ZERO);
        red.average(Time::ZERO + Duration::from_milliseconds(300), 0);
        let expected = expected * libm::pow(0.998, 301.0);
        assert!((red.average / expected - 1.0).abs() < 1e-9, "{}", red.average);
    }

    /// By hand: max_p (avg - min) / (max - min); above the maximum it goes to one at twice that, or is one.
    #[test]
    fn the_probability_is_that_of_the_papers() {
        for (average, gentle, expected) in
            [(5.0, true, 0.0), (10.0, true, 0.05), (15.0, true, 0.1), (22.5, true, 0.55), (15.0, false, 1.0)]
        {
            let mut red = red(gentle);
            red.average = average;
            assert!((red.initial_probability() - expected).abs() < 1e-12, "{average}");
        }
    }

    /// The gap between drops is uniform: from 1 to 1/p_b - 1, because the first packet after a drop has count 1. For p_b = 0.05
    /// its mean is 10 and it is never above 19. Standard error of the mean of 20 000 gaps: 0.4 %.
    #[test]
    fn gaps_between_drops_are_uniform() {
        let mut red = red(true);
        red.average = 10.0;
        red.count = 0;
        let (mut gaps, mut gap, mut longest) = (Vec::new(), 0, 0);
        while gaps.len() < 20_000 {
            gap += 1;
            if red.verdict() != Verdict::Keep {
                longest = longest.max(gap);
                gaps.push(gap);
                gap = 0;
            }
        }
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((mean / 10.0 - 1.0).abs() < 0.02, "{mean}");
        assert!(longest <= 19, "{longest}");
    }

    #[test]
    fn adaptive_red_steps_every_half_second() {
        let mut red = red(true);
        red.average = 14.0;
        red.adapt(Time::ZERO + Duration::from_milliseconds(1000));
        assert!((red.probability - 0.12).abs() < 1e-12, "two steps of 0.01: {}", red.probability);
        red.average = 6.0;
        red.adapt(Time::ZERO + Duration::from_milliseconds(1500));
        assert!((red.probability - 0.108).abs() < 1e-12, "{}", red.probability);
    }
}
