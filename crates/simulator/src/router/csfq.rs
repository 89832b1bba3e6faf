//! Core-stateless fair queueing: Stoica, Shenker and Zhang 1998. The first such router on a flow's
//! path labels its packets with the flow's rate; the others keep no per-flow state and drop by
//! label.

use super::mechanism::{Fate, Mechanism, RouterSite, Station};
use crate::engine::Stream;
use crate::named::settings;
use crate::packet::Packet;
use selfclock_congestion::parameter::ABOVE_ZERO;
use selfclock_congestion::units::{Duration, Time};
use std::collections::BTreeMap;

selfclock_congestion::parameters! {
    /// Settings of CSFQ.
    Parameters {
        /// Time constant of a flow's rate: "K".
        flow_constant: Duration = Duration::from_milliseconds(100), shown "100 ms", unit "s", range ABOVE_ZERO, source "Stoica, Shenker and Zhang 1998";
        /// Time constant of a link's rates, and window of its fair share: "K_alpha" and "K_c".
        link_constant: Duration = Duration::from_milliseconds(200), shown "200 ms", unit "s", range ABOVE_ZERO, source "Stoica, Shenker and Zhang 1998";
    }
}
settings!(
    Parameters,
    "csfq",
    "Core-stateless fair queueing: the first of its links that a packet meets labels it with the rate of its flow, every link drops by label and fair share.",
    "Stoica, Shenker and Zhang 1998"
);

/// Maximum reduction of the fair share by a full buffer within one window: to three quarters.
const LOWEST: f64 = 0.75;
/// Each packet that finds the buffer full lowers it by a hundredth.
const LOWERED: f64 = 0.99;

/// Edge and core of a group of links.
#[derive(Clone, Debug)]
pub(crate) struct Csfq {
    settings: Parameters,
    /// Edge: rate of each flow whose packets it labels.
    flows: BTreeMap<u32, Average>,
    /// Core: state of each link.
    links: Vec<Core>,
    stream: Stream,
}

/// A rate, averaged exponentially: bit/s.
#[derive(Clone, Copy, Debug, Default)]
struct Average {
    rate: f64,
    last: Option<Time>,
    /// Bits that arrived at the same time as the previous packet.
    at_once: f64,
}

impl Average {
    /// "r = (1 - exp(-T/K)) l/T + exp(-T/K) r".
    fn add(&mut self, now: Time, bits: f64, constant: Duration) {
        let Some(last) = self.last else {
            self.last = Some(now);
            return;
        };
        let gap = now.since(last);
        if gap.is_zero() {
            self.at_once += bits;
            return;
        }
        let kept = libm::exp(-gap.seconds() / constant.seconds());
        self.rate = (1.0 - kept) * (bits + self.at_once) / gap.seconds() + kept * self.rate;
        self.at_once = 0.0;
        self.last = Some(now);
    }
}

#[derive(Clone, Copy, Debug)]
struct Core {
    /// Capacity, bit/s.
    capacity: f64,
    /// "A" and "F": what arrives and what is accepted.
    arrival: Average,
    accepted: Average,
    /// Fair share "alpha", bit/s; `None` if never congested.
    share: Option<f64>,
    /// Lower bound of the share in this window, under a full buffer.
    lowest: f64,
    largest_label: f64,
    congested: bool,
    since: Time,
}

impl Core {
    /// `estimate_alpha` of figure 3 of the paper.
    fn estimate(&mut self, now: Time, window: Duration, label: f64) {
        // The rate is unknown at a flow's first packet. A share of zero would stay zero whatever
        // its factor.
        let largest = Some(self.largest_label.max(label)).filter(|&label| label > 0.0);
        if self.arrival.rate >= self.capacity {
            // The first estimate is the largest label of the last window.
            self.share = self.share.or(largest);
            if !self.congested {
                self.congested = true;
                self.since = now;
            } else if now > self.since + window {
                if let Some(share) = &mut self.share
                    && self.accepted.rate > 0.0
                {
                    *share *= self.capacity / self.accepted.rate;
                    self.lowest = *share * LOWEST;
                }
                self.since = now;
            }
        } else if self.congested {
            self.congested = false;
            self.since = now;
            self.largest_label = 0.0;
        } else if now < self.since + window {
            self.largest_label = self.largest_label.max(label);
        } else {
            self.share = largest.or(self.share);
            self.since = now;
            self.largest_label = 0.0;
        }
    }
}

impl Mechanism for Csfq {
    type Settings = Parameters;

    fn new(settings: Parameters, site: &RouterSite<'_>) -> Self {
        let core = |bits: u64| Core {
            capacity: bits as f64,
            arrival: Average::default(),
            accepted: Average::default(),
            share: None,
            lowest: 0.0,
            largest_label: 0.0,
            congested: false,
            since: Time::ZERO,
        };
        let links = site.layout.links.iter().map(|link| core(link.rate.bits_per_second())).collect();
        Self { settings, flows: BTreeMap::new(), links, stream: site.stream() }
    }

    /// Labels an unlabelled packet, and drops it with probability max(0, 1 - alpha / label).
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        let now = station.now;
        let bits = f64::from(packet.size) * 8.0;
        let waiting = station.network.waiting(station.link, now);
        let capacity = station.network.rate(station.link, now).bits_per_second() as f64;
        let extra = station.network.extras().of(packet);
        let mut label = match extra.label {
            Some(label) => label,
            None => {
                let flow = self.flows.entry(packet.flow).or_default();
                flow.add(now, bits, self.settings.flow_constant);
                flow.rate
            }
        };
        let core = &mut self.links[station.link];
        core.capacity = capacity;
        core.arrival.add(now, bits, self.settings.link_constant);
        core.estimate(now, self.settings.link_constant, label);
        let share = core.share.unwrap_or(f64::INFINITY);
        if core.congested && label > share && self.stream.happens(1.0 - share / label) {
            return Fate::Drop;
        }
        if !waiting.has_room(packet.size) {
            core.share = core.share.map(|share| (share * LOWERED).max(core.lowest.min(share)));
        } else {
            core.accepted.add(now, bits, self.settings.link_constant);
        }
        if core.congested {
            label = label.min(share);
        }
        extra.label = Some(label);
        Fate::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// State per flow, bytes, as in docs/validation.md, without the packets held.
    #[test]
    fn state_for_each_flow() {
        assert_eq!(size_of::<Average>(), 32);
    }
}
