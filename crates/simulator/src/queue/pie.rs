//! PIE: drops at arrival with a probability that a proportional-integral controller sets from the
//! delay. RFC 8033.

use super::managed::{ActsAbove, Decision, Discipline, LinkSite, UsualLimit, Work};
use crate::engine::{Ring, Stream};
use crate::named::settings;
use crate::packet::Packet;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

/// "alpha" and "beta", per second of delay.
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Up to twice this, bytes, nothing is dropped: "MEAN_PKTSIZE".
const MEAN_PACKET: u64 = 1500;
/// "PIE_MIN_RANDOM" and "PIE_MAX_RANDOM" times: bounds of the accumulated probability between
/// drops.
const LEAST_ACCUMULATED: f64 = 0.85;
const MOST_ACCUMULATED: f64 = 8.5;
/// Marks instead of drops up to this probability: "mark_ecnth".
const MOST_MARKED: f64 = 0.1;

selfclock_congestion::parameters! {
    /// Settings of PIE.
    Parameters {
        /// Delay that the controller aims at: "QDELAY_REF".
        target: Duration = Duration::from_milliseconds(15), shown "15 ms", unit "s", range (1e-9, 1000.0), source "RFC 8033, section 4.2";
        /// Interval of its updates: "T_UPDATE".
        update: Duration = Duration::from_milliseconds(15), shown "15 ms", unit "s", range (1e-9, 1000.0), source "RFC 8033, section 4.2";
        /// Burst that passes after the queue was short: "MAX_BURST".
        burst: Duration = Duration::from_milliseconds(150), shown "150 ms", unit "s", range (0.0, 1000.0), source "RFC 8033, section 4.4";
        /// Mark what understands marks (ECN) instead of dropping it, while the probability is at
        /// most 0.1.
        ecn: bool = true, shown "true", unit "", range (0.0, 0.0), source "RFC 8033, section 5.1: optional; our choice";
    }
}
settings!(
    Parameters,
    "pie",
    "Proportional-integral controller enhanced: drops at arrival with a probability that follows the queueing delay.",
    "RFC 8033"
);

/// PIE over one FIFO.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    plan: Parameters,
    rate: Rate,
    waiting: Ring<Packet>,
    stream: Stream,
    state: PieState,
}

/// The state variables of RFC 8033, section 4, for one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieState {
    control: Control,
    /// Sum of the probabilities since the last drop, for whatever reason: "accu_prob_".
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
    fn update(&mut self, plan: &Parameters, delay: f64) {
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

impl PieState {
    /// An empty queue.
    pub fn new(plan: &Parameters) -> Self {
        Self {
            control: Control { probability: 0.0, delay_before: 0.0, burst_allowance: plan.burst },
            accumulated: 0.0,
            next_update: Time::ZERO + plan.update,
        }
    }

    /// Runs the updates due, with this delay, s: the queue has not changed since.
    pub fn catch_up(&mut self, plan: &Parameters, now: Time, delay: f64) {
        while self.next_update <= now {
            self.control.update(plan, delay);
            self.next_update += plan.update;
            let Control { probability, delay_before, burst_allowance } = self.control;
            if probability == 0.0 && delay_before == 0.0 && burst_allowance.is_zero() && delay == 0.0 {
                // Nothing will change before the next packet.
                let missed = now.since(self.next_update).picoseconds() / plan.update.picoseconds();
                self.next_update += plan.update.times(missed);
            }
        }
    }

    /// A packet arrives and finds this delay, s: a burst may pass while the queue is short.
    pub fn on_arrival(&mut self, plan: &Parameters, delay: f64) {
        let half = plan.target.seconds() / 2.0;
        if self.control.probability == 0.0 && delay < half && self.control.delay_before < half {
            self.control.burst_allowance = plan.burst;
        }
    }

    /// The packet that has arrived behind this many bytes is not kept; one that can be marked is
    /// marked instead while the probability is low.
    pub fn rejects(
        &mut self,
        plan: &Parameters,
        bytes: u64,
        stream: &mut Stream,
        packet: &mut Packet,
        work: &mut Work,
    ) -> bool {
        if !self.control.burst_allowance.is_zero() || !self.drops_early(plan, bytes, stream) {
            return false;
        }
        let marks = plan.ecn && self.control.probability <= MOST_MARKED;
        !marks || !work.mark(packet)
    }

    /// `drop_early`.
    fn drops_early(&mut self, plan: &Parameters, bytes: u64, stream: &mut Stream) -> bool {
        let Control { probability, delay_before, .. } = self.control;
        if (delay_before < plan.target.seconds() / 2.0 && probability < 0.2) || bytes <= 2 * MEAN_PACKET {
            return false;
        }
        if probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += probability;
        if self.accumulated < LEAST_ACCUMULATED {
            return false;
        }
        let drops = self.accumulated >= MOST_ACCUMULATED || stream.happens(probability);
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }
}

impl Pie {
    /// The delay of the queue, s: the rate at which it drains is known (section 4.2).
    fn delay(&self, work: &Work) -> f64 {
        self.rate.transmission_time(Bytes(work.backlog.bytes)).seconds()
    }

    /// The packet that arrives is kept, and may be marked; if not, it is dropped.
    fn keeps(&mut self, packet: &mut Packet, work: &mut Work) -> bool {
        let (plan, delay, bytes) = (self.plan, self.delay(work), work.backlog.bytes);
        self.state.catch_up(&plan, work.now, delay);
        self.state.on_arrival(&plan, delay);
        let has_room = work.backlog.has_room(packet.size);
        if !has_room {
            self.state.accumulated = 0.0;
        }
        let keeps = has_room && !self.state.rejects(&plan, bytes, &mut self.stream, packet, work);
        if !keeps {
            work.drop(*packet);
        }
        keeps
    }
}

impl Discipline for Pie {
    type Settings = Parameters;
    const DECIDES: bool = true;

    fn new(plan: Parameters, site: LinkSite) -> Self {
        Self {
            plan,
            rate: site.rate,
            waiting: Ring::default(),
            stream: site.stream,
            state: PieState::new(&plan),
        }
    }

    fn enqueue(&mut self, mut packet: Packet, work: &mut Work) {
        if self.keeps(&mut packet, work) {
            work.entered(&packet);
            self.waiting.push(packet);
        }
    }

    /// All is decided when a packet arrives.
    fn decide(&mut self, packet: &mut Packet, _start: Time, work: &mut Work) -> Decision {
        if self.keeps(packet, work) { Decision::Passes } else { Decision::Dropped }
    }

    fn catch_up(&mut self, work: &Work) -> Time {
        self.state.catch_up(&self.plan, work.now, self.delay(work));
        self.state.next_update
    }

    fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        self.state.catch_up(&self.plan, work.now, self.delay(work));
        let packet = self.waiting.pop()?;
        work.left(&packet);
        Some(packet)
    }

    fn for_each(&self, show: &mut dyn FnMut(&Packet)) {
        self.waiting.iter().for_each(show);
    }

    fn marks(settings: &Parameters) -> bool {
        settings.ecn
    }

    fn usual_limit(_: &Parameters) -> Option<UsualLimit> {
        Some(UsualLimit { packets: 1000, source: "Linux tc-pie(8)" })
    }

    fn acts_above(settings: &Parameters) -> Option<ActsAbove> {
        Some(ActsAbove::Delay(settings.target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Parameters {
        let ms = Duration::from_milliseconds;
        Parameters { target: ms(15), update: ms(15), burst: ms(150), ecn: false }
    }

    fn after(probability: f64, before: f64, delay: f64) -> f64 {
        let mut control = Control { probability, delay_before: before, burst_allowance: Duration::ZERO };
        control.update(&plan(), delay);
        control.probability
    }

    /// Each step by hand from the pseudo-code: 0.125 (delay - 0.015) + 1.25 (delay - before),
    /// scaled by the range that the probability is in.
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
