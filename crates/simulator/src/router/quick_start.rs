//! The router's part of Quick-Start, RFC 4782: approves, reduces or refuses requests for a rate.

use std::collections::VecDeque;

use super::mechanism::{Fate, Mechanism, Placement, RouterSite, Station};
use crate::engine::Stream;
use crate::named::settings;
use crate::packet::{NO_EXTRA, Packet};
use selfclock_congestion::PeerOption;
use selfclock_congestion::option::{
    QUICK_START_LARGEST_RATE, QuickStartOption, quick_start_nonce_mask, quick_start_rate,
};
use selfclock_congestion::parameter::ABOVE_ZERO;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

selfclock_congestion::parameters! {
    /// Settings of Quick-Start in routers.
    Parameters {
        /// Part of the rate of a link up to which requests are approved.
        share: f64 = 0.9, shown "0.9", unit "", range (0.0, 1.0), source "our choice; RFC 4782 leaves it to the router";
        /// Time over which the load of a link is measured, and for which approvals are remembered.
        interval: Duration = Duration::from_milliseconds(150), shown "150 ms", unit "s", range ABOVE_ZERO, source "our choice; RFC 4782 leaves it to the router";
    }
}
settings!(
    Parameters,
    "quick-start",
    "Approves Quick-Start Requests for each of its links, up to a share of the link's rate less its traffic and recent approvals, or reduces them.",
    "RFC 4782"
);

/// Approves up to a share of each link's rate, less its traffic and recent approvals: the "Target
/// algorithm" of Sarolahti, Allman and Floyd, which RFC 4782 describes for routers.
#[derive(Clone, Debug)]
pub(crate) struct QuickStart {
    settings: Parameters,
    links: Vec<Accounts>,
    random: Stream,
}

/// State of a link.
#[derive(Clone, Debug, Default)]
struct Accounts {
    rate: Rate,
    /// Bytes in the current interval, and its number.
    bytes: u64,
    interval: u64,
    /// Bytes of the previous interval.
    bytes_before: u64,
    /// Remembered approvals: time, flow, rate.
    approvals: VecDeque<(Time, u32, u8)>,
}

impl Accounts {
    fn count(&mut self, now: Time, length: Duration, size: u16) {
        self.advance(now, length);
        self.bytes += u64::from(size);
    }

    fn advance(&mut self, now: Time, length: Duration) {
        let interval = now.ticks(length);
        if interval != self.interval {
            self.bytes_before = if interval == self.interval + 1 { self.bytes } else { 0 };
            (self.bytes, self.interval) = (0, interval);
        }
    }

    /// Bits per second that may still be approved.
    fn available(&mut self, now: Time, settings: &Parameters) -> f64 {
        self.advance(now, settings.interval);
        while self.approvals.front().is_some_and(|(at, ..)| now.since(*at) > settings.interval) {
            self.approvals.pop_front();
        }
        // "recent_qs_approvals": their flows may not have started sending.
        let approved: u64 = self.approvals.iter().map(|(.., code)| quick_start_rate(*code)).sum();
        let load = Bytes(self.bytes.max(self.bytes_before)).get() as f64 * 8.0 / settings.interval.seconds();
        self.rate.bits_per_second() as f64 * settings.share - load - approved as f64
    }
}

impl Mechanism for QuickStart {
    type Settings = Parameters;
    const PLACEMENT: Placement = Placement::LinksOrAllOfRouters;

    /// Nothing approved yet.
    fn new(settings: Parameters, site: &RouterSite<'_>) -> Self {
        let links = vec![Accounts::default(); site.layout.links.len()];
        Self { settings, links, random: site.stream() }
    }

    /// Counts the packet, and processes its request.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        let accounts = &mut self.links[station.link];
        accounts.rate = station.network.rate(station.link, station.now);
        if packet.extra != NO_EXTRA {
            let mut extra = station.network.extras().get(packet.extra);
            if let Some(PeerOption::QuickStart(option)) = &mut extra.option {
                match option {
                    QuickStartOption::Request { rate, ttl, nonce } => {
                        let available = accounts.available(station.now, &self.settings);
                        let approved = largest_code_within(available).min(*rate);
                        // A router that reduces the rate redraws the nonce bits of the steps
                        // between.
                        let kept = quick_start_nonce_mask(approved);
                        let redrawn = quick_start_nonce_mask(*rate) & !kept;
                        *nonce = *nonce & !redrawn | self.random.bits() as u32 & redrawn;
                        *rate = approved;
                        // A router with Quick-Start decrements the QS TTL even if it approves a
                        // rate of zero.
                        *ttl = ttl.wrapping_sub(1);
                        if approved > 0 {
                            accounts.approvals.push_back((station.now, packet.flow, approved));
                        }
                        station.network.extras().set(packet.extra, extra);
                    }
                    QuickStartOption::Report { rate, .. } => {
                        for (_, flow, approved) in &mut accounts.approvals {
                            if *flow == packet.flow {
                                *approved = (*approved).min(*rate);
                            }
                        }
                    }
                    QuickStartOption::Response { .. } => {}
                }
            }
        }
        accounts.count(station.now, self.settings.interval, packet.size);
        Fate::Pass
    }
}

/// The largest rate code of at most `bits` per second.
fn largest_code_within(bits: f64) -> u8 {
    (1..=QUICK_START_LARGEST_RATE).rev().find(|&code| quick_start_rate(code) as f64 <= bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_down() {
        for (bits, code) in [(-1.0, 0), (79_999.0, 0), (80_000.0, 1), (1e6, 4), (1e9, 14), (1e12, 15)] {
            assert_eq!(largest_code_within(bits), code, "{bits}");
        }
    }

    #[test]
    fn load_and_recent_approvals_are_taken_off() {
        let interval = Duration::from_milliseconds(100);
        let settings = Parameters { share: 0.9, interval };
        let mut accounts = Accounts { rate: Rate::from_bits_per_second(10_000_000), ..Accounts::default() };
        let at = |ms| Time::ZERO + Duration::from_milliseconds(ms);
        assert_eq!(accounts.available(at(0), &settings), 9e6);
        // 25 packets of 1500 bytes in 100 ms: 3 Mbit/s.
        for packet in 0..25 {
            accounts.count(at(100 + packet), interval, 1500);
        }
        assert_eq!(accounts.available(at(180), &settings), 6e6);
        accounts.approvals.push_back((at(180), 0, 6));
        // 2.56 Mbit/s.
        assert_eq!(accounts.available(at(250), &settings), 3_440_000.0);
        // Two intervals later both are forgotten.
        assert_eq!(accounts.available(at(399), &settings), 9e6);
    }
}
