//! Runs in progress.

use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::environment::{Command, Environment};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::{Outcome, Progress, Simulation, Stopped};

use crate::hops::Hops;
use crate::refusal::Refusal;

/// A run in progress.
#[derive(Clone, Debug)]
pub enum Run {
    /// As in the scenario; with packet records, only to the end of their window.
    Free { plan: Box<Plan>, simulation: Box<Simulation>, packets: Option<(Hops, Time)> },
    /// A flow is controlled from outside.
    Steered(Box<Environment>),
}

/// Default window of a steered flow, in multiples of its rate times the RTT: BBR's cwnd_gain, which
/// leaves room for delayed ACKs, so that the rate is the limit.
const WINDOW_GAIN: f64 = 2.0;
/// Minimum of that window, segments.
const SMALLEST_WINDOW: f64 = 4.0;

impl From<Stopped> for Refusal {
    fn from(stopped: Stopped) -> Self {
        Self::Failed(stopped.to_string())
    }
}

impl Run {
    /// The plan that is run.
    pub fn plan(&self) -> &Plan {
        match self {
            Self::Free { plan, .. } => plan,
            Self::Steered(environment) => environment.plan(),
        }
    }

    /// The run.
    pub fn simulation(&self) -> &Simulation {
        match self {
            Self::Free { simulation, .. } => simulation,
            Self::Steered(environment) => environment.simulation(),
        }
    }

    /// Runs at most `events` events; true when the run, or the packet window, is over.
    pub fn advance(&mut self, events: u64) -> Result<bool, Refusal> {
        let Self::Free { plan, simulation, packets } = self else {
            return Err(Refusal::Failed("a steered run goes on by steps".to_owned()));
        };
        let Some((hops, until)) = packets else {
            return Ok(simulation.advance(events)?.is_finished());
        };
        let progress: Progress = simulation.advance_towards(*until, events)?;
        simulation.take_packets().iter().for_each(|record| hops.add(plan, &record));
        Ok(progress.is_finished() || hops.is_full())
    }

    /// One step of a steered run.
    pub fn step(&mut self, rate_bps: f64, length_s: f64, window: Option<f64>) -> Result<[f64; 15], Refusal> {
        let Self::Steered(environment) = self else {
            return Err(Refusal::Failed("no flow of this run is steered".to_owned()));
        };
        if !(rate_bps.is_finite() && rate_bps > 0.0 && length_s.is_finite() && length_s > 0.0) {
            return Err(Refusal::Failed(format!(
                "a rate of {rate_bps} bit/s for {length_s} s: both must be positive"
            )));
        }
        let rtt_s = environment.look().rtt_s.max(environment.path_rtt().seconds());
        let segments = rate_bps / 8.0 * rtt_s / environment.mss().get().max(1) as f64;
        let window = window.unwrap_or((WINDOW_GAIN * segments).max(SMALLEST_WINDOW));
        let command = Command { window, pacing_bps: Some(rate_bps) };
        Ok(environment.step(command, Duration::from_seconds(length_s))?.values())
    }

    /// Ends the run now.
    pub fn finish(self) -> Outcome {
        match self {
            Self::Free { simulation, .. } => simulation.finish(),
            Self::Steered(environment) => environment.simulation().clone().finish(),
        }
    }

    /// Ends the run now and returns the packets on its links.
    pub fn hops(self) -> Result<(Plan, Hops, f64), Refusal> {
        let Self::Free { plan, simulation, packets: Some((mut hops, _)) } = self else {
            return Err(Refusal::Failed("no packets of this run are recorded".to_owned()));
        };
        let now_s = simulation.now().seconds();
        simulation.finish().packets.iter().for_each(|record| hops.add(&plan, &record));
        Ok((*plan, hops, now_s))
    }
}
