//! XCP in routers: Katabi, Handley and Rohrs 2002. Each output queue distributes spare bandwidth,
//! or the excess, among the packets of one mean round-trip time, without per-flow state.

use super::mechanism::{Fate, Mechanism, RouterSite, Station};
use crate::named::settings;
use crate::packet::Packet;
use selfclock_congestion::PeerOption;
use selfclock_congestion::option::XcpOption;
use selfclock_congestion::units::{Duration, Rate, Time};

selfclock_congestion::parameters! {
    /// XCP has no settings in routers.
    Parameters {}
}
settings!(
    Parameters,
    "xcp",
    "The router's part of XCP: flows with congestion control \"xcp\" are told packet by packet how to change their windows.",
    "Katabi, Handley and Rohrs 2002"
);

/// Stability constants of the efficiency controller: any pair with 0 < alpha < pi / (4 sqrt 2),
/// beta = alpha^2 sqrt 2.
const ALPHA: f64 = 0.4;
const BETA: f64 = 0.226;
/// Fraction of the traffic that is taken from all and redistributed in each interval, so that
/// shares become equal.
const SHUFFLE: f64 = 0.1;
/// Bounds of the control interval, and its first value: those of ns-2.
const SHORTEST: f64 = 0.001;
const LONGEST: f64 = 1.0;
const FIRST: f64 = 0.05;

/// Every output queue it precedes.
#[derive(Clone, Debug)]
pub(crate) struct Xcp {
    queues: Vec<OutputQueue>,
}

/// State of one output queue. Sums are over the packets of the current interval.
#[derive(Clone, Debug)]
struct OutputQueue {
    /// Capacity, bytes per second.
    capacity: f64,
    /// Interval, s, and when it ends. The first begins with the run, whenever the first packet
    /// comes: our choice, for a router's clock knows no flow. A flow's start within an interval
    /// changes its result by some percent.
    interval: f64,
    ends: Time,
    /// Bytes that came.
    input: f64,
    /// Sums of rtt s / cwnd and rtt^2 s / cwnd, s and s^2.
    sum_inverse: f64,
    sum_rtt: f64,
    /// Sum of sizes of packets with a round-trip time, bytes.
    sum_size: f64,
    /// Shortest queue found by a packet, bytes.
    queue: f64,
    /// "xi_p" and "xi_n", and the feedback not yet distributed, bytes per second.
    positive: f64,
    negative: f64,
    positive_left: f64,
    negative_left: f64,
}

impl OutputQueue {
    fn new(capacity: f64) -> Self {
        Self {
            capacity,
            interval: FIRST,
            ends: Time::ZERO,
            input: 0.0,
            sum_inverse: 0.0,
            sum_rtt: 0.0,
            sum_size: 0.0,
            queue: f64::INFINITY,
            positive: 0.0,
            negative: 0.0,
            positive_left: 0.0,
            negative_left: 0.0,
        }
    }

    /// Ends the interval: "phi = alpha d S - beta Q", and its distribution.
    fn end_interval(&mut self) {
        let d = self.interval;
        let queue = if self.queue.is_finite() { self.queue } else { 0.0 };
        let spare = self.capacity - self.input / d;
        let total = ALPHA * d * spare - BETA * queue;
        let shuffled = (SHUFFLE * self.input - total.abs()).max(0.0);
        self.positive_left = (shuffled + total.max(0.0)) / d;
        self.negative_left = (shuffled + (-total).max(0.0)) / d;
        self.positive = if self.sum_inverse > 0.0 { self.positive_left / self.sum_inverse } else { 0.0 };
        self.negative = if self.sum_size > 0.0 { self.negative_left / self.sum_size } else { 0.0 };
        if self.sum_inverse > 0.0 {
            self.interval = (self.sum_rtt / self.sum_inverse).clamp(SHORTEST, LONGEST);
        }
        (self.input, self.sum_inverse, self.sum_rtt, self.sum_size) = (0.0, 0.0, 0.0, 0.0);
        self.queue = f64::INFINITY;
        self.ends += Duration::from_seconds(self.interval);
    }

    fn catch_up(&mut self, now: Time) {
        if self.ends <= now && now.since(self.ends).seconds() > LONGEST {
            // Idle: the state restarts.
            *self = Self { interval: self.interval, ..Self::new(self.capacity) };
            self.ends = now + Duration::from_seconds(self.interval);
        }
        while self.ends <= now {
            self.end_interval();
        }
    }

    /// Bytes that this queue grants a packet, given its header's request.
    fn grant(&mut self, size: f64, window: f64, rtt: f64, asked: f64) -> f64 {
        self.sum_inverse += rtt * size / window;
        self.sum_rtt += rtt * rtt * size / window;
        self.sum_size += size;
        let positive = if self.positive_left > 0.0 { self.positive * rtt * rtt * size / window } else { 0.0 };
        let negative = if self.negative_left > 0.0 { self.negative * rtt * size } else { 0.0 };
        let own = positive - negative;
        if asked >= own {
            self.positive_left -= positive / rtt;
            self.negative_left -= negative / rtt;
            return own;
        }
        // Another queue, or the source, limits it further.
        if asked > 0.0 {
            self.positive_left -= asked / rtt;
            self.negative_left -= (own - asked) / rtt;
        } else {
            self.negative_left += asked / rtt;
            if own > 0.0 {
                self.negative_left -= own / rtt;
            }
        }
        asked
    }
}

fn bytes_per_second(rate: Rate) -> f64 {
    rate.bits_per_second() as f64 / 8.0
}

impl Mechanism for Xcp {
    type Settings = Parameters;

    fn new(_: Parameters, site: &RouterSite<'_>) -> Self {
        let queues = site.layout.links.iter().map(|link| OutputQueue::new(bytes_per_second(link.rate)));
        Self { queues: queues.collect() }
    }

    /// Lowers the feedback in the packet to what its next queue grants.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        let waiting = station.network.waiting(station.link, station.now);
        let queue = &mut self.queues[station.link];
        queue.capacity = bytes_per_second(station.network.rate(station.link, station.now));
        queue.catch_up(station.now);
        queue.input += f64::from(packet.size);
        queue.queue = queue.queue.min(waiting.bytes as f64);
        let Some(extra) = station.network.extras().get_mut(packet.extra) else { return Fate::Pass };
        if let Some(PeerOption::Xcp(XcpOption::Request { window, rtt_us, feedback })) = &mut extra.option
            && *rtt_us > 0
            && *window > 0
        {
            let (window, rtt) = (f64::from(*window), f64::from(*rtt_us) / 1e6);
            let granted = queue.grant(f64::from(packet.size), window, rtt, XcpOption::bytes(*feedback));
            *feedback = XcpOption::feedback(granted);
        }
        Fate::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 1250000 B/s, an interval of 0.1 s, 100000 B from one flow with 0.1 s and 10000 B,
    /// no queue.
    #[test]
    fn an_interval_shares_what_is_spare() {
        let mut queue = OutputQueue::new(1_250_000.0);
        queue.interval = 0.1;
        for _ in 0..100 {
            queue.input += 1000.0;
            queue.grant(1000.0, 10_000.0, 0.1, f64::INFINITY);
        }
        queue.queue = 0.0;
        queue.end_interval();
        // phi = 0.4 * 0.1 * (1250000 - 1000000) = 10000 B; h = max(0, 0.1 * 100000 - 10000) = 0.
        assert!((queue.positive_left - 100_000.0).abs() < 1e-6 && queue.negative_left == 0.0);
        // Sum of rtt s / cwnd: 100 * 0.1 * 1000 / 10000 = 1 s, so xi_p = 100000 B/s^2; each packet
        // gets 0.1^2 / 10 of it.
        let granted = queue.grant(1000.0, 10_000.0, 0.1, f64::INFINITY);
        assert!((granted - 100.0).abs() < 1e-9, "{granted}");
        // A hundred packets share the 10000 B.
        for _ in 1..100 {
            queue.grant(1000.0, 10_000.0, 0.1, f64::INFINITY);
        }
        assert!(queue.positive_left.abs() < 1e-6, "{}", queue.positive_left);
    }

    /// A standing queue of 50000 B at full load: phi = -0.226 * 50000; the shuffle of a tenth of
    /// the traffic is less.
    #[test]
    fn a_queue_takes_back() {
        let mut queue = OutputQueue::new(1_000_000.0);
        queue.interval = 0.1;
        queue.input = 100_000.0;
        queue.sum_size = 100_000.0;
        queue.queue = 50_000.0;
        queue.end_interval();
        assert!((queue.negative_left - 113_000.0).abs() < 1e-6 && queue.positive_left == 0.0);
    }
}
