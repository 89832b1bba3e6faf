//! A core router's state of one output queue: the mean allowed rate and the pressure of the queue.

use super::settings::{MaprRule, Parameters};
use crate::queue::QueueLimit;
use crate::router::mechanism::Waiting;

/// State of one output queue: 16 bytes, whatever the number of flows.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoreQueue {
    /// "MAPR", bit/s; `None` before the first packet.
    mean_rate: Option<f64>,
}

/// The queue as it is now.
#[derive(Clone, Copy, Debug)]
pub struct Occupancy {
    /// Backlog, in the unit of the size.
    pub queue: f64,
    /// Size of the buffer.
    pub size: f64,
}

impl Occupancy {
    /// In the unit of the limit; `None` without one: then there is no target.
    ///
    /// The size has room for the packet in service, which the backlog does not include: both as in
    /// ns-2.
    pub fn new(waiting: Waiting) -> Option<Self> {
        let Waiting { packets, bytes, limit, in_service, counts_packet_in_service: counted, .. } = waiting;
        let (queue, size) = match limit {
            QueueLimit::Unlimited => return None,
            QueueLimit::Packets(size) => (packets, size.saturating_add((!counted).into())),
            QueueLimit::Bytes(size) => {
                let more = in_service.filter(|_| !counted).unwrap_or(0);
                (bytes, size.get().saturating_add(more.into()))
            }
        };
        Some(Self { queue: queue as f64, size: size.max(1) as f64 })
    }
}

impl CoreQueue {
    /// A resource discovery packet goes forward, with this rate in its APR field; zero if its flow
    /// is silent.
    pub fn on_forward(&mut self, settings: &Parameters, occupancy: Occupancy, rate: f64) {
        if rate <= 0.0 {
            return;
        }
        let Some(mean) = &mut self.mean_rate else {
            self.mean_rate = Some(rate);
            return;
        };
        let above = occupancy.queue > settings.utilization * occupancy.size;
        let counts = match settings.rule {
            MaprRule::Literal => true,
            MaprRule::OuterElse => !above || rate < *mean,
            MaprRule::Icc if above => rate < *mean,
            MaprRule::Icc => rate > ICC_SHARE * *mean,
        };
        if counts {
            *mean += settings.beta * (rate - *mean);
        }
    }

    /// The rate that this queue allows a flow, bit/s: DPF * MAPR. `None` before the first packet.
    pub fn allowed_rate(&self, settings: &Parameters, occupancy: Occupancy) -> Option<f64> {
        Some(self.mean_rate? * down_pressure(settings, occupancy))
    }
}

/// "v" of EPRCA: flows far below the mean are limited elsewhere.
const ICC_SHARE: f64 = 7.0 / 8.0;

/// "DPF": one at the target, a at an empty queue, zero at a full one, straight lines between.
pub fn down_pressure(settings: &Parameters, occupancy: Occupancy) -> f64 {
    let Occupancy { queue, size } = occupancy;
    let target = settings.utilization * size;
    if queue > target {
        (size - queue).max(0.0) / (size - target)
    } else {
        1.0 + (settings.alpha - 1.0) * (target - queue) / target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(rule: MaprRule) -> Parameters {
        Parameters { rule, ..Parameters::default() }
    }

    fn at(queue: f64) -> Occupancy {
        Occupancy { queue, size: 200.0 }
    }

    #[test]
    fn pressure_at_the_corners() {
        for (queue, expected) in
            [(0.0, 1.15), (50.0, 1.075), (100.0, 1.0), (150.0, 0.5), (200.0, 0.0), (250.0, 0.0)]
        {
            assert!(
                (down_pressure(&with(MaprRule::OuterElse), at(queue)) - expected).abs() < 1e-12,
                "{queue}"
            );
        }
    }

    /// Mean rate after one packet, from 1.0.
    fn after(rule: MaprRule, queue: f64, rate: f64) -> f64 {
        let settings = with(rule);
        let mut core = CoreQueue { mean_rate: Some(1.0) };
        core.on_forward(&settings, at(queue), rate);
        core.mean_rate.expect("a mean")
    }

    #[test]
    fn readings_differ_in_what_they_let_count() {
        use MaprRule::{Icc, Literal, OuterElse};
        let step = |rate: f64| 1.0 + 0.0625 * (rate - 1.0);
        for (rule, queue, rate, counts) in [
            (Literal, 150.0, 2.0, true),
            (Literal, 150.0, 0.5, true),
            (Literal, 50.0, 0.5, true),
            (OuterElse, 150.0, 2.0, false),
            (OuterElse, 150.0, 0.5, true),
            (OuterElse, 50.0, 0.5, true),
            (OuterElse, 50.0, 2.0, true),
            (Icc, 150.0, 2.0, false),
            (Icc, 150.0, 0.5, true),
            (Icc, 50.0, 0.5, false),
            (Icc, 50.0, 0.9, true),
        ] {
            let expected = if counts { step(rate) } else { 1.0 };
            assert_eq!(after(rule, queue, rate), expected, "{rule:?} {queue} {rate}");
        }
    }

    /// Fluid model: sources respond at once. Two flows, one limited to 0.3 of the capacity: 75 %
    /// with the outer else, all of it with ICC; ten equal ones end at the target.
    fn fluid(rule: MaprRule, limits: &[f64]) -> (Vec<f64>, f64) {
        let settings = with(rule);
        let mut core = CoreQueue::default();
        let n = limits.len() as f64;
        let mut rates: Vec<f64> = limits.iter().map(|limit| limit.min(1.0 / n)).collect();
        // Capacity 1 is 305 packets/s; a step is a millisecond, and a flow reports its rates every
        // 32 packets.
        let (mut queue, mut due) = (0.0_f64, vec![0.0; limits.len()]);
        for _ in 0..400_000 {
            queue = (queue + (rates.iter().sum::<f64>() - 1.0) * 0.305).clamp(0.0, 200.0);
            for flow in 0..limits.len() {
                due[flow] += rates[flow] * 0.305;
                if due[flow] >= 32.0 {
                    due[flow] -= 32.0;
                    core.on_forward(&settings, at(queue), rates[flow]);
                    let allowed = core.allowed_rate(&settings, at(queue)).unwrap_or(1.0);
                    rates[flow] = allowed.min(limits[flow]);
                }
            }
        }
        (rates, queue)
    }

    #[test]
    fn equal_flows_end_at_the_target() {
        let (rates, queue) = fluid(MaprRule::OuterElse, &[1.0; 10]);
        assert!((queue / 100.0 - 1.0).abs() < 0.1, "{queue}");
        for rate in rates {
            assert!((rate / 0.1 - 1.0).abs() < 0.05, "{rate}");
        }
    }

    #[test]
    fn a_flow_limited_elsewhere_costs_the_outer_else_a_quarter() {
        let used = |rule| fluid(rule, &[0.3, 1.0]).0.iter().sum::<f64>();
        assert!((used(MaprRule::OuterElse) - 0.754).abs() < 0.02, "{}", used(MaprRule::OuterElse));
        assert!(used(MaprRule::Icc) > 0.97, "{}", used(MaprRule::Icc));
    }
}
