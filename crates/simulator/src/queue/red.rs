//! Random early detection: drops or marks with a probability that grows with the average queue.
//! Floyd and Jacobson 1993; "gentle" is Floyd 2000, adaptive RED is Floyd, Gummadi and Shenker
//! 2001.

use super::managed::{ActsAbove, Decision, Discipline, LinkSite, UsualLimit, Work};
use crate::engine::{Ring, Stream};
use crate::named::{Contradiction, settings};
use crate::packet::Packet;
use selfclock_congestion::units::{Bytes, Duration, Packets, Rate, Time};

/// Step of an adaptation, and between adaptations: "alpha", "beta" and "interval" of the 2001
/// paper.
const INCREASE: f64 = 0.01;
const DECREASE: f64 = 0.9;
const ADAPT_EVERY: Duration = Duration::from_milliseconds(500);
/// Range in which adaptive RED keeps the maximum probability.
const ADAPTED: std::ops::RangeInclusive<f64> = 0.01..=0.5;
/// Packet that an idle time is counted in, bytes: ns-2's `mean_pktsize_` is 500, which today would
/// be small.
const MEAN_PACKET: u64 = 1000;

selfclock_congestion::parameters! {
    /// Settings of RED.
    Parameters {
        /// Average queue below which nothing is dropped: "min_th".
        minimum: Packets = Packets(5), shown "5 packets", unit "packets", range (1.0, 1e9), source "Floyd 1997, \"RED: Discussions of Setting Parameters\"";
        /// Average queue at which the probability is max_probability: "max_th".
        maximum: Option<Packets> = None, shown "three times the minimum", unit "packets", range (1.0, 1e9), source "Floyd 1997: at least three times min_th";
        /// Probability of a drop at the maximum: "max_p".
        max_probability: f64 = 0.1, shown "0.1", unit "", range (0.000001, 1.0), source "Floyd 1997";
        /// Weight of the queue that a packet finds in the average: "w_q".
        weight: f64 = 0.002, shown "0.002", unit "", range (0.000001, 1.0), source "Floyd and Jacobson 1993, section 6";
        /// Above the maximum the probability rises to one at twice the maximum; if not, it is one.
        gentle: bool = true, shown "true", unit "", range (0.0, 0.0), source "Floyd 2000";
        /// Adapt max_probability so that the average stays half-way between the thresholds.
        adaptive: bool = false, shown "false", unit "", range (0.0, 0.0), source "Floyd, Gummadi and Shenker 2001";
        /// Mark what understands marks (ECN) instead of dropping it, up to the maximum.
        ecn: bool = true, shown "true", unit "", range (0.0, 0.0), source "RFC 3168, section 7";
        /// Drop above the maximum also what could be marked; if not, mark it up to the limit, as
        /// Linux does unless told `harddrop`. With maximum = minimum and weight = 1 that is the
        /// step at K of DCTCP studies, which `mark_above` of a drop-tail queue has in one key.
        hard_drop: bool = true, shown "true", unit "", range (0.0, 0.0), source "RFC 3168, section 7: above an upper threshold packets are dropped";
    }
}
settings!(Parameters, "red", "Random early detection: drops or marks with a probability that grows with the average queue.", "Floyd and Jacobson 1993", check Parameters::thresholds_in_order);

impl Parameters {
    /// "max_th", packets.
    fn maximum(&self) -> f64 {
        self.maximum.map_or(3.0 * self.minimum.0 as f64, |maximum| maximum.0 as f64)
    }

    fn thresholds_in_order(&self) -> Result<(), Contradiction> {
        if self.maximum() >= self.minimum.0 as f64 {
            return Ok(());
        }
        Err(Contradiction {
            parameter: "maximum",
            message: "maximum is below minimum",
            help: "the usual maximum is three times the minimum; to mark from one threshold on, as DCTCP does, \
                   write queue = { mark_above = \"65 packets\" }",
        })
    }
}

/// RED over one FIFO.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    plan: Parameters,
    /// "min_th" and "max_th", packets.
    minimum: f64,
    maximum: f64,
    waiting: Ring<Packet>,
    stream: Stream,
    /// Rate of the link, and time that a mean packet takes on it.
    rate: Rate,
    packet_time: Duration,
    /// Average queue, packets.
    average: f64,
    /// Packets since the last drop or mark; -1: the average is below the minimum.
    count: i64,
    /// "max_p".
    probability: f64,
    /// When the queue became empty, if it is.
    idle_since: Option<Time>,
    /// When the transmission begins of the packet that passed last before its turn.
    passed_until: Time,
    adapt_at: Time,
}

/// RED's decision for an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Keep,
    /// Dropped, or marked if it can be.
    Congested,
    Drop,
}

impl Red {
    /// The link has this rate now.
    #[inline]
    fn follow(&mut self, rate: Rate) {
        if rate != self.rate {
            self.rate = rate;
            self.packet_time = rate.transmission_time(Bytes(MEAN_PACKET));
        }
    }

    /// Brings the average up to date with a queue of `packets`.
    fn average(&mut self, now: Time, packets: u64) {
        let weight = self.plan.weight;
        if let Some(since) = self.idle_since.take() {
            // "m small packets could have been transmitted during this idle time": each finds the
            // queue empty.
            let packets =
                now.since(since).picoseconds() as f64 / self.packet_time.picoseconds().max(1) as f64;
            self.average *= libm::pow(1.0 - weight, packets);
        }
        self.average += weight * (packets as f64 - self.average);
    }

    /// "p_b": the probability before it is spread out.
    fn initial_probability(&self) -> f64 {
        let Self { minimum, maximum, .. } = *self;
        if self.average < maximum {
            self.probability * ((self.average - minimum) / (maximum - minimum)).max(0.0)
        } else if self.plan.gentle {
            self.probability + (1.0 - self.probability) * (self.average - maximum) / maximum
        } else {
            1.0
        }
    }

    fn verdict(&mut self) -> Verdict {
        if self.average < self.minimum {
            self.count = -1;
            return Verdict::Keep;
        }
        let congested = match self.plan.hard_drop && self.average >= self.maximum {
            true => Verdict::Drop,
            false => Verdict::Congested,
        };
        let initial = self.initial_probability();
        if initial >= 1.0 {
            self.count = 0;
            return congested;
        }
        self.count += 1;
        // "p_a = p_b / (1 - count * p_b)": the gap between drops is then uniform up to 1 / p_b.
        let rest = 1.0 - self.count as f64 * initial;
        if rest > initial && !self.stream.happens(initial / rest) {
            return Verdict::Keep;
        }
        self.count = 0;
        congested
    }

    /// The packet that arrives is kept, and may be marked; if not, it is dropped.
    fn keeps(&mut self, packet: &mut Packet, work: &mut Work) -> bool {
        self.follow(work.rate);
        let is_empty = work.backlog.packets == 0;
        if is_empty && self.idle_since.is_none() {
            // The last packet left before its turn, without a notice.
            self.idle_since = Some(self.passed_until + self.packet_time);
        }
        let busy_until = self.idle_since;
        self.average(work.now, work.backlog.packets);
        if self.plan.adaptive {
            self.adapt(work.now);
        }
        let verdict = self.verdict();
        // A packet for which there is no room is dropped, and not marked before.
        let keep = work.backlog.has_room(packet.size)
            && match verdict {
                Verdict::Keep => true,
                Verdict::Congested => self.plan.ecn && work.mark(packet),
                Verdict::Drop => false,
            };
        if keep {
            return true;
        }
        if is_empty {
            self.idle_since = busy_until.max(Some(work.now));
        }
        work.drop(*packet);
        false
    }

    /// Adaptive RED: the average is to lie in the middle fifth between the thresholds.
    fn adapt(&mut self, now: Time) {
        while self.adapt_at <= now {
            self.adapt_at += ADAPT_EVERY;
            let span = self.maximum - self.minimum;
            let (low, high) = (self.minimum + 0.4 * span, self.minimum + 0.6 * span);
            if self.average > high && self.probability <= *ADAPTED.end() {
                self.probability += INCREASE.min(self.probability / 4.0);
            } else if self.average < low && self.probability >= *ADAPTED.start() {
                self.probability *= DECREASE;
            }
        }
    }
}

impl Discipline for Red {
    type Settings = Parameters;
    const DECIDES: bool = true;

    fn new(plan: Parameters, site: LinkSite) -> Self {
        Self {
            plan,
            minimum: plan.minimum.0 as f64,
            maximum: plan.maximum(),
            waiting: Ring::default(),
            stream: site.stream,
            rate: site.rate,
            packet_time: site.rate.transmission_time(Bytes(MEAN_PACKET)),
            average: 0.0,
            count: -1,
            probability: plan.max_probability,
            idle_since: Some(Time::ZERO),
            passed_until: Time::ZERO,
            adapt_at: Time::ZERO + ADAPT_EVERY,
        }
    }

    fn enqueue(&mut self, mut packet: Packet, work: &mut Work) {
        if self.keeps(&mut packet, work) {
            work.entered(&packet);
            self.waiting.push(packet);
        }
    }

    /// All is decided when a packet arrives.
    fn decide(&mut self, packet: &mut Packet, start: Time, work: &mut Work) -> Decision {
        if !self.keeps(packet, work) {
            return Decision::Dropped;
        }
        self.passed_until = start;
        Decision::Passes
    }

    fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        self.follow(work.rate);
        let packet = self.waiting.pop()?;
        work.left(&packet);
        if self.waiting.is_empty() {
            self.idle_since = Some(work.now + self.packet_time);
        }
        Some(packet)
    }

    fn for_each(&self, show: &mut dyn FnMut(&Packet)) {
        self.waiting.iter().for_each(show);
    }

    fn marks(settings: &Parameters) -> bool {
        settings.ecn
    }

    fn usual_limit(settings: &Parameters) -> Option<UsualLimit> {
        let packets = 4 * settings.maximum() as u64;
        Some(UsualLimit {
            packets,
            source: "Linux tc-red: the maximum is a quarter of the limit, after Floyd",
        })
    }

    fn acts_above(settings: &Parameters) -> Option<ActsAbove> {
        Some(ActsAbove::Packets(settings.minimum.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::managed::tests::site;

    fn red(gentle: bool) -> Red {
        Red::new(Parameters { gentle, ecn: false, ..Parameters::default() }, site())
    }

    /// q (1 - (1 - w)^n) after n arrivals that find q packets; (1 - w)^m of it after m packet times
    /// without any.
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

    /// 1000 B take 1 ms at 8 Mbit/s and 10 ms at 0.8. The time of the first rate was kept, and an
    /// idle average aged ten times too fast.
    #[test]
    fn an_idle_average_ages_at_the_current_rate() {
        let mut red = red(true);
        (red.average, red.idle_since) = (20.0, Some(Time::ZERO));
        red.follow(Rate::from_bits_per_second(800_000));
        red.average(Time::ZERO + Duration::from_milliseconds(300), 0);
        let expected = 20.0 * libm::pow(0.998, 31.0);
        assert!((red.average / expected - 1.0).abs() < 1e-9, "{}", red.average);
    }

    /// By hand: max_p (avg - min) / (max - min); above the maximum it goes to one at twice that, or
    /// is one.
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

    /// The gap between drops is uniform: from 1 to 1/p_b - 1, because the first packet after a drop
    /// has count 1. For p_b = 0.05 its mean is 10 and it is never above 19. Standard error of the
    /// mean of 20 000 gaps: 0.4 %.
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
