//! Progress of a run, and why it stopped early.

use super::Simulation;
use super::ends::SendingEnd;
use crate::plan::Protocol;
use crate::record::packets::MOST_RECORDS;
use selfclock_congestion::failure::Failure;
use selfclock_congestion::units::Time;

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The requested number of events is done, and the run is not over.
    Underway,
    /// The run is over.
    Finished,
}

impl Progress {
    /// Whether the run is over.
    pub fn is_finished(self) -> bool {
        self == Self::Finished
    }
}

/// Why a run stopped early. Its results are unusable.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Stopped {
    /// More than [`MOST_RECORDS`] packet events were in memory by this time.
    #[error(
        "more than {MOST_RECORDS} packet events in memory by {:.6} s of simulated time: shorten the run, or write them to a directory while it goes on",
        .0.seconds()
    )]
    RecordOverflowed(Time),
    /// A foreign stack has no connection to run.
    #[error("{scenario}, seed {seed}, {flow}: no connection of {stack}: {reason}")]
    NoConnection {
        /// Name of the scenario.
        scenario: String,
        /// Seed of the run.
        seed: u64,
        /// Name of the flow.
        flow: String,
        /// Name of the stack.
        stack: &'static str,
        /// Why.
        reason: String,
    },
    /// The algorithm of a flow failed.
    #[error(
        "{scenario}, seed {seed}, {flow}: {algorithm} failed at {:.6} s of simulated time: {}",
        .failure.now.seconds(),
        // An error may have no text after its name.
        .failure.reason.to_string().trim_end_matches([':', ' '])
    )]
    AlgorithmFailed {
        /// Name of the scenario.
        scenario: String,
        /// Seed of the run.
        seed: u64,
        /// Name of the flow.
        flow: String,
        /// Name of its algorithm.
        algorithm: String,
        /// When, and why.
        failure: Failure,
    },
}

impl Simulation {
    /// Fails if the run's results are unusable. Of several failed algorithms, reports the first.
    pub(super) fn check(&self) -> Result<(), Stopped> {
        if self.network.recorder.as_ref().is_some_and(|recorder| recorder.overflowed()) {
            return Err(Stopped::RecordOverflowed(self.now));
        }
        if !self.has_custom {
            return Ok(());
        }
        self.check_stacks()?;
        let of_flows = self
            .sources
            .iter()
            .filter_map(|(flow, source)| Some((flow, source.tcp()?.controller().failure()?)));
        let failures = of_flows.chain(self.connections.failure());
        let Some((flow, failure)) = failures.min_by_key(|(_, failure)| failure.now) else { return Ok(()) };
        let flow = &self.plan.flows[flow];
        Err(Stopped::AlgorithmFailed {
            scenario: self.plan.name.clone(),
            seed: self.plan.seed,
            flow: flow.name.to_string(),
            algorithm: flow.algorithm().unwrap_or_default().to_owned(),
            failure: failure.clone(),
        })
    }

    fn check_stacks(&self) -> Result<(), Stopped> {
        for (index, source) in self.sources.iter() {
            let flow = &self.plan.flows[index];
            if let (SendingEnd::Stack(sender), Protocol::Stack(stack)) = (source, &flow.protocol)
                && let Some(reason) = sender.missing()
            {
                return Err(Stopped::NoConnection {
                    scenario: self.plan.name.clone(),
                    seed: self.plan.seed,
                    flow: flow.name.to_string(),
                    stack: stack.stack.name(),
                    reason: reason.to_owned(),
                });
            }
        }
        Ok(())
    }
}
