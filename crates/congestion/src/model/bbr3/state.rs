//! BBR.state, and its direct consequences: the gains of section 5.6.1 and the bound of section
//! 5.6.4.6.

use super::parameters::Parameters;
use super::path::Path;
use super::{drain, probe_bw, probe_rtt};
use crate::decision::Phase;

/// BBR.state, with the data that only that state needs.
#[derive(Clone, Debug, Default)]
pub enum State {
    #[default]
    Startup,
    Drain(drain::State),
    ProbeBw(probe_bw::State),
    ProbeRtt(probe_rtt::State),
}

impl State {
    /// The state as shown in records.
    pub const fn phase(&self) -> Phase {
        match self {
            Self::Startup => Phase::Startup,
            Self::Drain(_) => Phase::Drain,
            Self::ProbeBw(probe_bw::State::Down(_)) => Phase::ProbeDown,
            Self::ProbeBw(probe_bw::State::Cruise(_)) => Phase::ProbeCruise,
            Self::ProbeBw(probe_bw::State::Refill) => Phase::ProbeRefill,
            Self::ProbeBw(probe_bw::State::Up(_)) => Phase::ProbeUp,
            Self::ProbeRtt(_) => Phase::ProbeRtt,
        }
    }

    /// The phase of ProbeBW.
    pub const fn probe_bw(&mut self) -> Option<&mut probe_bw::State> {
        if let Self::ProbeBw(phase) = self { Some(phase) } else { None }
    }

    /// IsProbingBW.
    pub const fn is_probing_bw(&self) -> bool {
        matches!(self.phase(), Phase::Startup | Phase::ProbeRefill | Phase::ProbeUp)
    }

    /// BBR.pacing_gain. From the table, because the pseudocode does not set it on every transition.
    pub const fn pacing_gain(&self, parameters: &Parameters) -> f64 {
        match self.phase() {
            Phase::Startup => parameters.startup_pacing_gain,
            Phase::Drain => parameters.drain_pacing_gain,
            Phase::ProbeDown => parameters.down_pacing_gain,
            Phase::ProbeUp => parameters.up_pacing_gain,
            _ => 1.0,
        }
    }

    /// BBR.cwnd_gain, also from the table.
    pub const fn cwnd_gain(&self, parameters: &Parameters) -> f64 {
        match self.phase() {
            Phase::ProbeUp => parameters.up_cwnd_gain,
            Phase::ProbeRtt => parameters.probe_rtt_cwnd_gain,
            _ => parameters.cwnd_gain,
        }
    }

    /// The cap of BoundCwndForModel that inflight_longterm sets.
    pub const fn longterm_cap(&self, path: &Path) -> f64 {
        match self.phase() {
            Phase::ProbeDown | Phase::ProbeRefill | Phase::ProbeUp => path.bounds.inflight_longterm,
            Phase::ProbeRtt | Phase::ProbeCruise => path.inflight_with_headroom(),
            _ => f64::INFINITY,
        }
    }
}
