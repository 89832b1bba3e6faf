//! Filters of the path's bandwidth, RTT and ACK aggregation.

use super::parameters::Parameters;
use super::round::Round;
use super::sample::Sample;
use crate::estimate::windowed_maximum::WindowedMaximum;
use crate::units::{Duration, Time};

/// ExtraAckedFilterLen of section 2.12, in round trips; one in Startup (section 5.5.9).
const EXTRA_ACKED_ROUNDS: u64 = 10;

/// Longest silence between ACKs that the window bridges, in seconds: `bbr_extra_acked_max_us` of
/// Linux.
const LONGEST_AGGREGATION: f64 = 0.1;

/// BBR.max_bw_filter, section 5.5.6: the largest delivery rates of two cycles of ProbeBW, in bytes
/// per second.
#[derive(Clone, Debug, Default)]
pub struct MaxBw {
    last_cycle: f64,
    this_cycle: f64,
}

impl MaxBw {
    /// BBR.max_bw.
    pub const fn get(&self) -> f64 {
        self.last_cycle.max(self.this_cycle)
    }

    /// UpdateMaxBw, section 5.5.5.
    pub fn update(&mut self, rate: f64, is_app_limited: bool) {
        if rate > 0.0 && (rate >= self.get() || !is_app_limited) {
            self.this_cycle = self.this_cycle.max(rate);
        }
    }

    /// AdvanceMaxBwFilter. Our choice, as in Linux: a cycle without a sample keeps the old maximum.
    pub const fn advance(&mut self) {
        if self.this_cycle > 0.0 {
            *self = Self { last_cycle: self.this_cycle, this_cycle: 0.0 };
        }
    }
}

/// A round-trip time and when it was measured, in seconds; initially infinite.
#[derive(Clone, Copy, Debug)]
struct Measured {
    rtt: f64,
    at: Time,
}

impl Measured {
    const NONE: Self = Self { rtt: f64::INFINITY, at: Time::ZERO };
}

/// The smallest round-trip times, section 5.3.4.
#[derive(Clone, Debug)]
pub struct MinRtt {
    /// BBR.min_rtt and BBR.min_rtt_stamp.
    longterm: Measured,
    /// BBR.probe_rtt_min_delay and BBR.probe_rtt_min_stamp.
    probe: Measured,
    /// BBR.probe_rtt_expired: ProbeRTT is due.
    pub is_expired: bool,
}

impl Default for MinRtt {
    fn default() -> Self {
        Self { longterm: Measured::NONE, probe: Measured::NONE, is_expired: false }
    }
}

impl MinRtt {
    /// BBR.min_rtt, in seconds; infinite before the first sample.
    pub const fn get(&self) -> f64 {
        self.longterm.rtt
    }

    /// The connection begins.
    pub const fn begin(&mut self, now: Time) {
        self.longterm.at = now;
        self.probe.at = now;
    }

    /// ProbeRTT is over.
    pub const fn end_probe(&mut self, now: Time) {
        self.probe.at = now;
    }

    /// UpdateMinRTT.
    pub fn update(&mut self, now: Time, rtt: Option<Duration>, parameters: &Parameters) {
        self.is_expired = now > self.probe.at + parameters.probe_rtt_interval;
        if let Some(rtt) = rtt
            && (rtt.seconds() < self.probe.rtt || self.is_expired)
        {
            self.probe = Measured { rtt: rtt.seconds(), at: now };
        }
        let expired = now > self.longterm.at + parameters.min_rtt_window;
        if self.probe.rtt < self.longterm.rtt || expired {
            self.longterm = self.probe;
        }
    }
}

/// BBR.extra_acked, section 5.5.9: bytes delivered at once by ACKs beyond what the bandwidth
/// explains.
#[derive(Clone, Debug, Default)]
pub struct ExtraAcked {
    interval_start: Time,
    delivered: f64,
    maximum: WindowedMaximum,
}

impl ExtraAcked {
    /// The maximum of the last round trips, at this bandwidth. Not in the draft, where only C.cwnd
    /// bounds a sample, which the maximum itself then raises: Linux allows what the bandwidth
    /// delivers in 100 ms (`bbr_extra_acked_max_us`).
    pub const fn get(&self, bw: f64) -> f64 {
        self.maximum.get().min(bw * LONGEST_AGGREGATION)
    }

    /// The interval begins now: at the beginning of the connection and after an idle period. What
    /// was delivered in the interval before does not belong to it, as in Linux (`ack_epoch_acked =
    /// 0`); the draft moves the beginning alone, which turns all that was delivered until then into
    /// a surplus.
    pub const fn begin(&mut self, now: Time) {
        self.interval_start = now;
        self.delivered = 0.0;
    }

    /// UpdateACKAggregation: an ACK at this bandwidth and window.
    pub fn update(&mut self, sample: &Sample, bw: f64, cwnd: f64, round: &Round, full_bw_reached: bool) {
        let interval = sample.now.since(self.interval_start).seconds();
        let mut expected = bw * interval;
        if self.delivered <= expected {
            self.delivered = 0.0;
            self.interval_start = sample.now;
            expected = 0.0;
        }
        self.delivered += sample.newly_acked;
        let extra = (self.delivered - expected).min(cwnd);
        let rounds = if full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.maximum.update(round.count, rounds, extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Phase;
    use crate::model::bbr3::rig::Rounds;

    /// The bandwidth is the largest of this cycle and the last.
    #[test]
    fn two_cycles_forget_a_bandwidth() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeCruise);
        rounds.round(5e6, 0, 90_000);
        assert_eq!(rounds.bbr.path.max_bw.get(), 5e6);
        rounds.until(Phase::ProbeUp);
        rounds.until(Phase::ProbeCruise);
        assert_eq!(rounds.bbr.path.max_bw.get(), 5e6);
        for _ in 0..2 {
            rounds.until(Phase::ProbeUp);
            rounds.until(Phase::ProbeCruise);
            rounds.round(2.5e6, 0, 40_000);
        }
        assert_eq!(rounds.bbr.path.max_bw.get(), 2.5e6);
    }

    /// A path that acknowledges a whole flight with one ACK, for minutes: 100 kbyte every 10 ms, or
    /// all that the window allows on a path of unbounded rate. Nothing pauses, so no epoch is
    /// extended: the aggregation is one flight, and what bridges it is at most 100 ms of the
    /// bandwidth. So the window is at most 2.25 BDP (section 5.6.1), one flight, and the two
    /// segments of ProbeBW_UP; in Startup, which does not cut, an ACK more.
    #[test]
    fn one_ack_per_flight_does_not_raise_the_window_for_ever() {
        let mut rounds = Rounds::new();
        for _ in 0..20_000 {
            let flight = ((rounds.state.cwnd * 1000.0) as u64).min(100_000);
            rounds.flight(0.01, flight);
            let window = rounds.state.cwnd * 1000.0;
            let startup = if rounds.phase() == Phase::Startup { 100_000.0 } else { 0.0 };
            assert!(window < 3.25 * 100_000.0 + 2_001.0 + startup, "{window} at {} s", rounds.now);
        }
        assert!(
            rounds.state.cwnd >= 200.0,
            "C.cwnd > 2 BDP, the draft's test of aggregation: {}",
            rounds.state.cwnd
        );
    }

    /// Bursts of 100 kbyte that do not fill the path, with a pause before each, from the beginning
    /// of the connection: not one byte of an earlier burst counts as aggregation. The window is
    /// that of the test above; Startup may never end, and does not cut.
    #[test]
    fn bursts_of_an_application_are_no_aggregation() {
        let mut rounds = Rounds::new();
        for _ in 0..10_000 {
            rounds.resume(0.16);
            rounds.flight(0.04, 100_000);
            assert!(rounds.bbr.path.extra_acked.get(f64::INFINITY) <= 100_000.0);
        }
        assert!(rounds.state.cwnd <= 2.25 * 100.0 + 100.0 + 2.0 + 100.0, "{}", rounds.state.cwnd);
    }

    /// Linux: "Max extra_acked is clamped by cwnd and bw * bbr_extra_acked_max_us (100 ms)".
    #[test]
    fn aggregation_beyond_100_ms_is_not_bridged() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeCruise);
        rounds.state.cwnd = 10_000.0;
        rounds.flight(0.001, 5_000_000);
        let extra = rounds.bbr.path.extra_acked.get(f64::INFINITY);
        assert!(extra > 4_000_000.0, "{extra}");
        assert_eq!(rounds.bbr.path.extra_acked.get(1e6), 1e5);
    }

    /// Now() of OnInit: the filters of a flow that begins late are not as old as the simulation.
    /// Otherwise the first ACK after 5 s of simulated time would begin ProbeRTT.
    #[test]
    fn a_flow_that_begins_late_does_not_begin_with_probe_rtt() {
        let mut rounds = Rounds::new();
        rounds.now = 60.0;
        for rate in [1e6, 2e6, 2.5e6] {
            rounds.round(rate, 0, 200_000);
            assert_eq!(rounds.phase(), Phase::Startup);
        }
        assert_eq!(rounds.bbr.path.min_rtt.longterm.at, Time::ZERO + Duration::from_seconds(60.04));
    }
}
