//! ProbeRTT, section 5.3.4: every few seconds the volume in flight is kept low for a while, to
//! measure the RTT without a queue.

use super::path::Path;
use crate::units::{Bytes, Time};

/// Progress of ProbeRTT.
#[derive(Clone, Debug)]
pub enum State {
    /// More is in flight than ProbeRTTCwnd.
    Draining,
    /// The volume in flight is low.
    Holding { done_stamp: Time, round_done: bool },
}

impl State {
    /// HandleProbeRTT; true when ProbeRTT is over.
    pub fn update(&mut self, now: Time, in_flight: f64, path: &mut Path) -> bool {
        match self {
            Self::Draining => {
                if in_flight <= path.probe_rtt_cwnd() {
                    let done_stamp = now + path.parameters.probe_rtt_duration;
                    *self = Self::Holding { done_stamp, round_done: false };
                    path.round.restart();
                }
                false
            }
            Self::Holding { round_done, .. } => {
                *round_done |= path.round.is_start;
                *round_done && self.is_time_over(now)
            }
        }
    }

    /// CheckProbeRTTDone.
    pub fn is_time_over(&self, now: Time) -> bool {
        matches!(self, Self::Holding { done_stamp, .. } if now > *done_stamp)
    }
}

/// MarkConnectionAppLimited of the latest ProbeRTT: "Ignore low rate samples during ProbeRTT". The
/// transport takes the samples, so this remembers which segments left in ProbeRTT.
#[derive(Clone, Debug)]
pub struct AppLimited {
    /// C.delivered when ProbeRTT began.
    from: Bytes,
    /// C.delivered when all that was sent in ProbeRTT will be delivered.
    to: Bytes,
}

/// No ProbeRTT so far.
impl Default for AppLimited {
    fn default() -> Self {
        Self { from: Bytes::MAX, to: Bytes::ZERO }
    }
}

impl AppLimited {
    /// ProbeRTT begins.
    pub const fn begin(&mut self, delivered: Bytes) {
        *self = Self { from: delivered, to: delivered };
    }

    /// ProbeRTT goes on.
    pub fn extend(&mut self, delivered: Bytes, in_flight: f64) {
        self.to = delivered + Bytes(in_flight as u64);
    }

    /// Whether the newest segment of the sample left in ProbeRTT.
    pub fn contains(&self, prior_delivered: Bytes) -> bool {
        (self.from..=self.to).contains(&prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Phase;
    use crate::model::bbr3::rig::{Rounds, bench};
    use crate::model::harness::Path;

    /// Section 5.3.4: every 5 s plus its own duration, half of the BDP for 200 ms and a round trip.
    #[test]
    fn probe_rtt() {
        let path = Path::new(50e6, 0.04, 1.0);
        let mut bench = bench(path, &[0.0]);
        bench.run(30.0);
        let entries = bench.entries(Phase::ProbeRtt);
        assert_eq!(entries.len(), 5, "{entries:?}");
        for pair in entries.windows(2) {
            assert!((5.2..5.4).contains(&(pair[1] - pair[0])), "{entries:?}");
        }
        let in_it: Vec<f64> =
            bench.looks.iter().filter(|look| look.phase == Phase::ProbeRtt).map(|look| look.cwnd).collect();
        let window = in_it.iter().sum::<f64>() / in_it.len() as f64;
        assert!((window / (0.5 * path.bdp()) - 1.0).abs() < 0.05, "{window}");
        let length = in_it.len() as f64 / 1000.0 / 5.0;
        assert!((0.2..0.3).contains(&length), "{length} s");
    }

    /// HandleRestartFromIdle: "elif (BBR.state == ProbeRTT) CheckProbeRTTDone()": data sent after a
    /// pause ends a ProbeRTT whose time has passed meanwhile, without waiting for an ACK.
    #[test]
    fn a_restart_from_idle_ends_probe_rtt() {
        let mut rounds = Rounds::new();
        rounds.until(Phase::ProbeRtt);
        while matches!(rounds.bbr.state, super::super::State::ProbeRtt(State::Draining)) {
            rounds.round(2.5e6, 0, 10_000);
        }
        assert_eq!(rounds.phase(), Phase::ProbeRtt);
        rounds.resume(0.1);
        assert_eq!(rounds.phase(), Phase::ProbeRtt, "its 200 ms are not over");
        rounds.resume(0.9);
        assert_eq!(rounds.phase(), Phase::ProbeCruise);
    }
}
