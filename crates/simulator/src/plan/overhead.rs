//! Random processing time of senders, against the phase effects of identical clocks.
//!
//! S. Floyd and V. Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways"
//! (Internetworking: Research and Experience 3, 1992): a network without noise drops the packets of
//! one source again and again, and a random processing time at the sources, of up to one service
//! time of the bottleneck, ends that. ns-2 has it as `overhead_` of Agent/TCP.
//!
//! Below one service time the interval of two packets sent back to back stays below the service
//! time, so their spacing behind the bottleneck, which packet pairs measure, is not changed.

use std::collections::VecDeque;

use selfclock_congestion::units::{Bytes, Duration};

use super::assemble::full_packet;
use super::{FlowPlan, LinkPlan, LinkSettings};
use crate::shared::Shared;

/// Upper bound of the random processing time of a packet at the sending host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overhead {
    /// A time.
    Time(Duration),
    /// Transmission times of the flow's full packet on the slowest link of its path.
    Packets(u64),
}

impl Default for Overhead {
    fn default() -> Self {
        Self::Time(Duration::ZERO)
    }
}

impl Overhead {
    fn time(self, flow: &FlowPlan, links: &[LinkPlan]) -> Duration {
        match self {
            Self::Time(time) => time,
            Self::Packets(packets) => {
                let slowest = flow.forward.iter().map(|&link| links[link].rate).min();
                let size = Bytes(full_packet(&flow.protocol).get().saturating_mul(packets));
                slowest.map_or(Duration::ZERO, |rate| rate.transmission_time(size))
            }
        }
    }
}

/// Gives the first link of each flow with an overhead at least this jitter.
pub fn add_overheads(links: &mut [LinkPlan], flows: &[FlowPlan], overheads: impl Iterator<Item = Overhead>) {
    let mut recent = Recent::default();
    for (flow, overhead) in flows.iter().zip(overheads) {
        let jitter = overhead.time(flow, links);
        let Some(&first) = flow.forward.first() else { continue };
        if links[first].jitter < jitter {
            links[first].settings = recent.with_jitter(&links[first].settings, jitter);
        }
    }
}

/// Settings of the last few links without and with the jitter: equal links share them.
#[derive(Default)]
struct Recent(VecDeque<(Shared<LinkSettings>, Shared<LinkSettings>)>);

impl Recent {
    /// Flows in turn may have this many kinds of first links.
    const MOST: usize = 8;

    fn with_jitter(&mut self, plain: &Shared<LinkSettings>, jitter: Duration) -> Shared<LinkSettings> {
        let is_it = |(before, after): &&(Shared<LinkSettings>, Shared<LinkSettings>)| {
            Shared::is_one(before, plain) && after.jitter == jitter
        };
        if let Some((_, after)) = self.0.iter().find(is_it) {
            return after.clone();
        }
        let mut after = plain.clone();
        after.jitter = jitter;
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((plain.clone(), after.clone()));
        after
    }
}
