//! BBR's Startup as a start for any window algorithm: paced at a multiple of the largest delivery
//! rate seen, until that stops growing; then the window is the BDP.
//!
//! Section numbers below are those of draft-ietf-ccwg-bbr-06. There Drain follows Startup and
//! empties its queue; here the window of one BDP does, since nothing leaves beyond it.

use crate::decision::paced_at;
use crate::decision::{Pacing, Phase};
use crate::entry::{Entry, Need};
use crate::event::{Acknowledged, EcnEcho, LossDetected, RateSample, Timeout};
use crate::parameters;
use crate::part::StartPart;
use crate::state::WindowState;
use crate::units::Bytes;

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "bbr-startup",
    about: "BBR's Startup before any window algorithm: paced at 2.77 times the delivery rate until that grows no more, \
            then a window of one bandwidth-delay product.",
    source: "draft-ietf-ccwg-bbr-06 section 5.3.1",
    parameters: Parameters::TABLE,
    needs: &[Need::Pacing],
    ..Entry::START
};

parameters! {
    /// Parameters of BBR's Startup.
    Parameters {
        /// Pacing gain.
        startup_pacing_gain: f64 = 2.77, shown "2.77", unit "", range (1.0, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 2.5: 4 ln 2";
        /// Growth of the delivery rate in a round trip below which the path may be full.
        full_bandwidth_growth: f64 = 1.25, shown "1.25", unit "", range (1.01, 10.0),
            source "draft-ietf-ccwg-bbr-06 section 5.3.1.2";
        /// Round trips without such growth after which the path is full.
        full_bandwidth_rounds: f64 = 3.0, shown "3", unit "round trips", range (1.0, 100.0),
            source "draft-ietf-ccwg-bbr-06 section 5.3.1.2";
    }
}

/// BBR's Startup.
#[derive(Clone, Debug)]
pub struct BbrStartup {
    parameters: Parameters,
    /// Startup is over: slow start from now on.
    over: bool,
    /// Largest delivery rate, bytes per second.
    rate: f64,
    /// Total of bytes delivered at which the current round trip ends.
    round_end: Bytes,
    /// The rate that the next round trip must exceed, and how many did not.
    full_rate: f64,
    full_rounds: u32,
}

impl BbrStartup {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters, over: false, rate: 0.0, round_end: Bytes::ZERO, full_rate: 0.0, full_rounds: 0 }
    }

    fn read_sample(&mut self, sample: &RateSample) {
        let rate = sample.delivery_rate.bits_per_second() as f64 / 8.0;
        // "BBR only uses app-limited samples if they are larger than the current estimate" (section
        // 5.5.3): others change no maximum.
        self.rate = self.rate.max(rate);
        // "A round trip has passed when the data that was outstanding when it began is delivered"
        // (section 5.5.1).
        let round_ended = sample.prior_delivered >= self.round_end;
        if !round_ended {
            return;
        }
        self.round_end = sample.delivered_total;
        if sample.is_app_limited || rate <= 0.0 {
            return;
        }
        if self.rate >= self.full_rate * self.parameters.full_bandwidth_growth {
            (self.full_rate, self.full_rounds) = (self.rate, 0);
        } else {
            self.full_rounds = self.full_rounds.saturating_add(1);
        }
    }
}

impl StartPart for BbrStartup {
    fn on_ack(&mut self, event: &Acknowledged, _state: &WindowState) {
        if let Some(sample) = &event.rate
            && !self.over
        {
            self.read_sample(sample);
        }
    }

    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if !self.over && f64::from(self.full_rounds) >= self.parameters.full_bandwidth_rounds {
            self.over = true;
            if let Some(rtt) = event.minimum_rtt {
                let product = state.segments(Bytes((self.rate * rtt.seconds()) as u64)).max(2.0);
                state.ssthresh = product;
                state.cwnd = state.cwnd.min(product);
            }
            return;
        }
        // "If cwnd_limited in Startup: cwnd = cwnd + rs.newly_acked" (section 5.6.4.6). Afterwards
        // slow start.
        state.cwnd += if self.over { state.slow_start_step(event.size) } else { state.segments(event.size) };
    }

    /// The window algorithm responds to losses as usual (our choice; BBR continues until 2 % are
    /// lost).
    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {
        self.over = true;
    }

    fn on_ecn_echo(&mut self, _event: &EcnEcho) {
        self.over = true;
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        self.over = true;
    }

    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        if self.over || !state.in_slow_start() {
            return None;
        }
        paced_at(self.parameters.startup_pacing_gain * self.rate, state)
    }

    fn wants_rate_samples(&self) -> bool {
        true
    }

    fn phase(&self) -> Option<Phase> {
        (!self.over).then_some(Phase::Startup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack, state};
    use crate::units::{Duration, Rate};

    /// A path of 1 Mbyte/s and 100 ms, 100 segments, in round trips that fill the window.
    #[test]
    fn it_doubles_until_the_rate_stops_growing_and_leaves_one_bandwidth_delay_product() {
        let mut start = BbrStartup::new(Parameters::default());
        let mut state = state(10.0);
        let (mut delivered, mut windows) = (0_u64, Vec::new());
        while state.in_slow_start() {
            let flight = state.cwnd as u64;
            windows.push(flight);
            let prior_delivered = Bytes(delivered);
            for _ in 0..flight {
                delivered += 1000;
                let rate = (flight * 10_000).min(1_000_000) * 8;
                let sample = RateSample {
                    delivery_rate: Rate::from_bits_per_second(rate),
                    interval: Duration::from_milliseconds(100),
                    delivered: Bytes(flight * 1000),
                    delivered_total: Bytes(delivered),
                    prior_delivered,
                    newly_acked: Bytes(1000),
                    newly_lost: Bytes::ZERO,
                    lost: Bytes::ZERO,
                    tx_in_flight: Bytes(flight * 1000),
                    is_app_limited: false,
                };
                let rtt = Some(Duration::from_milliseconds(100));
                let event = Acknowledged { minimum_rtt: rtt, rate: Some(sample), ..ack(1000) };
                start.on_ack(&event, &state);
                if state.in_slow_start() {
                    start.grow(&event, &mut state);
                }
            }
            if windows.len() == 2 {
                // 20 segments in 100 ms, 200 kbyte/s: 2.77 times that, a segment every 1.805 ms.
                let pacing = start.pacing(&state).expect("paced");
                assert!((pacing.interval.seconds() * 2.77 - 0.005).abs() < 1e-8, "{pacing:?}");
            }
        }
        // Full at 160, 320 and 640, after the path has shown its rate for three round trips.
        assert_eq!(windows, [10, 20, 40, 80, 160, 320, 640, 1280]);
        assert_eq!((state.cwnd, state.ssthresh, start.pacing(&state)), (100.0, 100.0, None));
    }

    /// A round trip of `size` bytes at 1 Mbyte/s.
    fn sample(before: u64, size: u64, is_app_limited: bool) -> RateSample {
        RateSample {
            delivery_rate: Rate::from_bits_per_second(8_000_000),
            interval: Duration::from_milliseconds(100),
            delivered: Bytes(size),
            delivered_total: Bytes(before + size),
            prior_delivered: Bytes(before),
            newly_acked: Bytes(1000),
            newly_lost: Bytes::ZERO,
            lost: Bytes::ZERO,
            tx_in_flight: Bytes(size),
            is_app_limited,
        }
    }

    #[test]
    fn what_ends_it() {
        for (name, end) in crate::fixtures::ends() {
            let (mut start, mut state) = (BbrStartup::new(Parameters::default()), state(10.0));
            start.read_sample(&sample(0, 10_000, false));
            assert_eq!((start.phase(), start.pacing(&state).is_some()), (Some(Phase::Startup), true));
            end(&mut start, &mut state);
            crate::fixtures::is_plain_slow_start(&mut start, &mut state, name);
        }
    }

    /// App-limited round trips say nothing about the path: neither that it is full nor, unless they
    /// are faster than any before, its rate (draft-ietf-ccwg-bbr-06, sections 5.3.1.2 and 5.5.3).
    #[test]
    fn rounds_limited_by_the_application() {
        let mut start = BbrStartup::new(Parameters::default());
        for round in 0..10 {
            start.read_sample(&sample(round * 10_000, 10_000, true));
        }
        assert_eq!((start.rate, start.full_rounds), (1e6, 0));
        let slower = Rate::from_bits_per_second(4_000_000);
        start.read_sample(&RateSample { delivery_rate: slower, ..sample(100_000, 10_000, true) });
        assert_eq!(start.rate, 1e6);
        // The first round sets the value to exceed; three that do not are full.
        for full in [0, 1, 2, 3] {
            let before = 110_000 + full * 10_000;
            start.read_sample(&sample(before, 10_000, false));
            assert_eq!(u64::from(start.full_rounds), full);
            // In the middle of a round nothing is counted.
            start.read_sample(&RateSample {
                prior_delivered: Bytes(before + 9_999),
                ..sample(before, 10_000, false)
            });
            assert_eq!(u64::from(start.full_rounds), full);
        }
        // Growth by a quarter is growth.
        let faster = Rate::from_bits_per_second(10_000_000);
        start.read_sample(&RateSample { delivery_rate: faster, ..sample(150_000, 10_000, false) });
        assert_eq!((start.full_rate, start.full_rounds), (1.25e6, 0));
    }
}
