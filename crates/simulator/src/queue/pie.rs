//! PIE: drops at arrival with a probability that a proportional-integral controller sets from the delay. RFC 8033.

use super::managed::Work;
use crate::engine::{Ring, Stream};
use crate::network::Packet;
use crate::plan::PiePlan;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

/// "alpha" and "beta", per second of delay.
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Up to twice this, bytes, nothing is dropped: "MEAN_PKTSIZE".
const MEAN_PACKET: u64 = 1500;
/// "PIE_MIN_RANDOM" and "PIE_MAX_RANDOM" times: bounds of the accumulated probability between drops.
const LEAST_ACCUMULATED: f64 = 0.85;
const MOST_ACCUMULATED: f64 = 8.5;
/// Marks instead of drops up to this probability: "mark_ecnth".
const MOST_MARKED: f64 = 0.1;

/// PIE over one FIFO.
#[derive(Clone, Debug)]
pub struct Pie {
    plan: PiePlan,
    rate: Rate,
    waiting: Ring<Packet>,
    stream: Stream,
    control: Control,
    accumulated: f64,
    next_update: Time,
}

/// The controller.
#[derive(Clone, Copy, Debug)]
struct Control {
    probability: f64,
    /// Delay at the last update, s: "qdelay_old".
    delay_before: f64,
    burst_allowance: Duration,
}

impl Control {
    /// `calculate_drop_prob` of the pseudo-code in appendix A, from the delay now, s.
    fn update(&mut self, plan: &PiePlan, delay: f64) {
        let target = plan.target.seconds();
        let mut step = ALPHA * (delay - target) + BETA * (delay - self.delay_before);
        step /= match self.probability {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        if delay == 0.0 && self.delay_before == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay_before = delay;
        self.burst_allowance = self.burst_allowance.saturating_sub(plan.update);
    }
}

impl Pie {
    /// An empty queue of a link with this rate.
    pub fn new(plan: PiePlan, rate: Rate, stream: Stream) -> Self {
        Self {
            plan,
            rate,
            waiting: Ring::default(),
            stream,
            control: Control { probability: 0.0, delay_before: 0.0, burst_allowance: plan.burst },
            accumulated: 0.0,
            next_update: Time::ZERO + plan.update,
        }
    }

    /// The delay of the queue, s: the rate at which it drains is known (section 4.2).
    fn delay(&self, bytes: u64) -> f64 {
        self.rate.transmission_time(Bytes(bytes)).seconds()
    }

    /// Takes the updates that were due; the queue has not changed since.
    fn catch_up(&mut self, work: &Work) {
        if self.next_update > work.now {
            return;
        }
        let delay = self.delay(work.backlog.bytes);
        while self.next_update <= work.now {
            self.control.update(&self.plan, delay);
            self.next_update += self.plan.update;
            let Control { probability, delay_before, burst_allowance } = self.control;
            if probability == 0.0 && delay_before == 0.0 && burst_allowance.is_zero() && delay == 0.0 {
                // Nothing will change before the next packet.
                let missed = work.now.since(self.next_update).picoseconds() / self.plan.update.picoseconds();
                self.next_update += self.plan.update.times(missed);
            }
        }
    }

    /// `drop_early`.
    fn drops_early(&mut self, bytes: u64) -> bool {
        let Control { probability, delay_before, .. } = self.control;
        if (delay_before < self.plan.target.seconds() / 2.0 && probability < 0.2) || bytes <= 2 * MEAN_PACKET
        {
            return false;
        }
        if probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += probability;
        if self.accumulated < LEAST_ACCUMULATED {
            return false;
        }
        let drops = self.accumulated >= MOST_ACCUMULATED || self.stream.happens(probability);
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }

    pub(super) fn enqueue(&mut self, mut packet: Packet, work: &mut Work) {
        self.catch_up(work);
        let half = self.plan.target.seconds() / 2.0;
        let delay = self.delay(work.backlog.bytes);
        if self.control.probability == 0.0 && delay < half && self.control.delay_before < half {
            self.control.burst_allowance = self.plan.burst;
        }
        if !work.backlog.has_room(packet.size) {
            return work.drop(packet);
        }
        if self.control.burst_allowance.is_zero() && self.drops_early(work.backlog.bytes) {
            let marks = self.plan.ecn && self.control.probability <= MOST_MARKED;
            if !marks || !work.mark(&mut packet) {
                return work.drop(packet);
            }
        }
        work.entered(&packet);
        self.waiting.push(packet);
    }

    pub(super) fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        self.catch_up(work);
        let packet = self.waiting.pop()?;
        work.left(&packet);
        Some(packet)
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> PiePlan {
        let ms = Duration::from_milliseconds;
        PiePlan { target: ms(15), update: ms(15), burst: ms(150), ecn: false }
    }

    fn after(probability: f64, before: f64, delay: f64) -> f64 {
        let mut control = Control { probability, delay_before: before, burst_allowance: Duration::ZERO };
        control.update(&plan(), delay);
        control.probability
    }

    /// Each step by hand from the pseudo-code: 0.125 (delay - 0.015) + 1.25 (delay - before), scaled by the range that the
    /// probability is in.
    #[test]
    fn updates_are_those_of_the_pseudo_code() {
        // 0.125 * 0.010 + 1.25 * 0.005 = 0.0075.
        for (probability, divisor) in [
            (0.0, 2048.0),
            (0.000_005, 512.0),
            (0.000_05, 128.0),
            (0.000_5, 32.0),
            (0.005, 8.0),
            (0.05, 2.0),
            (0.3, 1.0),
        ] {
            let expected = probability + 0.0075 / divisor;
            let found = after(probability, 0.020, 0.025);
            assert!((found / expected - 1.0).abs() < 1e-9, "{probability}: {found}");
        }
        // 0.125 * 0.085 + 1.25 * 0.1 = 0.1356 is capped at 0.02.
        assert!((after(0.3, 0.0, 0.1) - 0.32).abs() < 1e-12);
        // An empty queue: 0.5 - 0.125 * 0.015, then a fiftieth less.
        assert!((after(0.5, 0.0, 0.0) - (0.5 - 0.001_875) * 0.98).abs() < 1e-12);
        assert_eq!(after(0.0, 0.1, 0.0), 0.0);
    }

    /// A constant delay of 35 ms: the probability grows by 0.0025 a step once above 0.1.
    #[test]
    fn a_standing_delay_is_integrated() {
        let mut control = Control { probability: 0.2, delay_before: 0.035, burst_allowance: Duration::ZERO };
        for _ in 0..100 {
            control.update(&plan(), 0.035);
        }
        assert!((control.probability - 0.45).abs() < 1e-9, "{}", control.probability);
    }
}
