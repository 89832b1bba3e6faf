//! The detector of competing flows.
//!
//! For a flow alone on a link with a queue, its whole increase ends up in the queue: with the link
//! at cwnd/RTT segments per second, the gradient g = (dRTT * cwnd/RTT)/dcwnd is 1 whatever k is.
//! With a share s of the link, and others that grow by m segments per round trip while this flow
//! grows by k, it is g = s (k + m)/k. So g is measured twice: before k drops to 1, when a large k
//! makes g close to the share s, and after, when k = 1 gives the increase of others the most
//! weight. If either is away from 1, others compete.

use super::parameters::{Hold, Parameters};
use crate::estimate::round_trip::RoundTripTimes;

/// Maximum number of round trips over which a gradient is averaged (our choice).
const GRADIENT_ROUNDS: usize = 3;

/// A round trip whose segments were sent under this mean window, in segments, and had this mean
/// round-trip time, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    rtt: f64,
    window: f64,
}

/// The latest round trips, the oldest first.
#[derive(Clone, Copy, Debug, Default)]
struct Gradient {
    rounds: [Round; GRADIENT_ROUNDS + 1],
    count: usize,
}

impl Gradient {
    fn record(&mut self, round: Round) {
        if self.is_complete() {
            self.rounds.rotate_left(1);
            self.count -= 1;
        }
        self.rounds[self.count] = round;
        self.count += 1;
    }

    fn is_complete(&self) -> bool {
        self.count == self.rounds.len()
    }

    /// g, over the round trips so far.
    fn value(&self) -> Option<f64> {
        let (first, last) = (self.rounds.first()?, self.rounds.get(self.count.checked_sub(1)?)?);
        let growth = last.window - first.window;
        (growth > 0.0 && last.rtt > 0.0).then(|| (last.rtt - first.rtt) * last.window / last.rtt / growth)
    }
}

/// State of the detector.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Detection {
    /// Waiting for the queue to pass the threshold.
    #[default]
    Waiting,
    /// It has, and k has dropped to 1, in this round trip.
    Triggered { was_strong: bool },
    /// ACKs of this round trip are for data sent in that one, partly at high k: the last of the
    /// first gradient.
    Settling { was_strong: bool },
    /// The second gradient, with k = 1, is being measured.
    Confirming,
    /// Both are measured; waiting for the queue to drain.
    Decided,
}

/// The current assumption of competition.
#[derive(Clone, Copy, Debug)]
struct Competition {
    rounds: f64,
    /// There has been a queue since it was last empty.
    queued: bool,
    /// There has also been a loss or a pause: the drained queue then says nothing about other
    /// flows.
    lost: bool,
}

/// The detector.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    /// Windows at the ends of the last two round trips, the latest first; 0 if a loss came between.
    windows: [f64; 2],
    gradient: Gradient,
    pub detection: Detection,
    competition: Option<Competition>,
}

impl Detector {
    /// Whether other flows are assumed to compete.
    pub const fn is_competing(&self) -> bool {
        self.competition.is_some()
    }

    /// A loss or a pause restarts the measurement.
    pub fn begin_epoch(&mut self) {
        let competition = self.competition.map(|competition| Competition { lost: true, ..competition });
        *self = Self { competition, ..Self::default() };
    }

    /// A round trip with these round-trip times ended, with or without a queue throughout, and with
    /// this window in segments. `grew`: as in congestion avoidance.
    pub fn end_round(
        &mut self,
        times: &RoundTripTimes,
        queued: bool,
        window: f64,
        grew: bool,
        parameters: &Parameters,
    ) {
        // Data acknowledged in this round trip was sent in the previous one, when the window went
        // from one of these to the other.
        let [end, begin] = self.windows;
        self.windows = [window, end];
        match times.mean() {
            Some(rtt) if grew && queued && begin > 0.0 => {
                self.gradient.record(Round { rtt, window: (begin + end) / 2.0 })
            }
            _ => self.gradient = Gradient::default(),
        }
        if grew {
            self.advance(parameters);
            self.age(queued, times.count > 0, parameters);
        }
    }

    fn advance(&mut self, parameters: &Parameters) {
        match self.detection {
            Detection::Triggered { was_strong } => self.detection = Detection::Settling { was_strong },
            Detection::Settling { was_strong } => {
                self.believe(self.gradient.value().filter(|_| was_strong), parameters);
                self.gradient = Gradient::default();
                self.detection = Detection::Confirming;
            }
            Detection::Confirming if self.gradient.is_complete() => {
                self.believe(self.gradient.value(), parameters);
                self.detection = Detection::Decided;
            }
            Detection::Waiting | Detection::Confirming | Detection::Decided => {}
        }
    }

    fn believe(&mut self, gradient: Option<f64>, parameters: &Parameters) {
        if gradient.is_some_and(|gradient| (gradient - 1.0).abs() > parameters.gradient_tolerance) {
            let rounds = parameters.competing_rounds;
            self.competition = Some(Competition { rounds, queued: true, lost: false });
        }
    }

    /// Ends the assumption of competition when its time is over or the queue has drained without a
    /// loss.
    fn age(&mut self, queued: bool, measured: bool, parameters: &Parameters) {
        let Some(competition) = &mut self.competition else { return };
        competition.rounds -= 1.0;
        let over = parameters.competition_hold == Hold::RoundTrips && competition.rounds < 0.0;
        let drained = competition.queued && !queued && measured;
        let loss_free = !competition.lost;
        if drained {
            competition.lost = false;
        }
        competition.queued = queued || competition.queued && !drained;
        if over || drained && loss_free {
            self.competition = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two gradients of the detector against s (k + m)/k.
    #[test]
    fn the_gradient_is_share_times_total_increase_over_own() {
        for (own, others, k, m) in [
            (600.0, 0.0, 8.0, 0.0),
            (300.0, 300.0, 8.0, 1.0),
            (570.0, 30.0, 1.0, 1.0),
            (570.0, 30.0, 1.0, 0.0),
        ] {
            let mut gradient = Gradient::default();
            for round in 0..4 {
                let (window, rest) = (own + k * f64::from(round), others + m * f64::from(round));
                gradient.record(Round { rtt: (window + rest) / 10_000.0, window });
            }
            let expected = own / (own + others) * (k + m) / k;
            let g = gradient.value().expect("complete");
            println!("gradient with {own} of {}: {g:.3}, formula {expected:.3}", own + others);
            assert!((g / expected - 1.0).abs() < 0.05, "{g} against {expected}");
        }
    }
}
