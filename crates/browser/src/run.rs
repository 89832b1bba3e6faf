//! Runs in progress.

use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::environment::{Command, Environment};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::hops::{Follower, Hops};
use selfclock_simulator::{Outcome, Progress, Simulation, Stopped};

use crate::refusal::Refusal;
use crate::request::Window;

/// A run in progress.
#[derive(Clone, Debug)]
pub enum Run {
    /// As in the scenario; with packet records, only to the end of their window.
    Free { plan: Box<Plan>, simulation: Box<Simulation>, packets: Option<Watched> },
    /// A flow is controlled from outside.
    Steered(Box<Environment>),
}

/// The packets of a window of a run.
#[derive(Clone, Debug)]
pub struct Watched {
    follower: Follower,
    from_s: f64,
    until: Time,
}

impl Watched {
    /// For a window of a run of this plan; enables the plan's packet record.
    pub fn new(plan: &mut Plan, window: Window) -> Self {
        let Window { from_s, until_s, most_hops } = window;
        let until = Time::ZERO + Duration::from_seconds(until_s.clamp(0.0, plan.duration.seconds()));
        Self { follower: Follower::of_window(plan, from_s, until_s, most_hops), from_s, until }
    }
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
        let Self::Free { simulation, packets, .. } = self else {
            return Err(Refusal::Failed("a steered run goes on by steps".to_owned()));
        };
        let Some(Watched { follower, until, .. }) = packets else {
            return Ok(simulation.advance(events)?.is_finished());
        };
        let progress: Progress = simulation.advance_towards(*until, events)?;
        simulation.take_packets().iter().for_each(|record| follower.add(&record));
        Ok(progress.is_finished() || follower.is_full())
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

    /// Ends the run now and returns the packets on its links, and the start of their window.
    pub fn hops(self) -> Result<(Hops, f64), Refusal> {
        let Self::Free { simulation, packets: Some(Watched { mut follower, from_s, until }), .. } = self
        else {
            return Err(Refusal::Failed("no packets of this run are recorded".to_owned()));
        };
        let now = simulation.now();
        simulation.finish().packets.iter().for_each(|record| follower.add(&record));
        Ok((follower.finish(now.min(until).seconds()), from_s))
    }
}
