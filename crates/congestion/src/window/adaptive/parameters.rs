//! Parameters of Adaptive TCP, each with its source.

use crate::units::Duration;
use crate::{choice, parameters};

choice! {
    /// Effect of the strength k on the increase.
    Increase {
        /// One segment per round trip: TCP/k, on which equation 4 of the paper rests.
        One = "one",
        /// k segments per round trip, as figure 3 of the paper shows it.
        K = "k",
    }
}

choice! {
    /// For how long competition is believed.
    Hold {
        /// A number of round trips, or until the queue drains without a loss.
        RoundTrips = "round-trips",
        /// Until the queue drains without a loss.
        Drain = "drain",
    }
}

parameters! {
    /// Parameters of Adaptive TCP.
    Parameters {
        /// Increase per round trip: one segment, or k.
        k_increase: Increase = Increase::K, shown "k", unit "", range (0.0, 0.0),
            source "our choice: the paper's prose and figure 3 grow quickly, its equation 4 holds for one";
        /// Largest strength k; 1 is Reno.
        maximum_k: f64 = 64.0, shown "64", unit "", range (1.0, 1e4),
            source "our choice: the paper gives none";
        /// Increase of k per round trip without congestion and competition.
        k_step: f64 = 1.0, shown "1", unit "per round trip", range (0.0, 1e3),
            source "our choice: the paper says quickly";
        /// Queueing delay that counts as congestion, as a part of srtt_max - srtt_min over the last
        /// two loss epochs.
        congested_part: f64 = 0.25, shown "0.25", unit "", range (0.0, 1.0),
            source "our choice: the paper says some threshold";
        /// The same before the first loss, as a part of srtt_min.
        congested_part_at_start: f64 = 0.05, shown "0.05", unit "", range (0.0, 1.0),
            source "our choice: the paper says some threshold";
        /// Smallest queueing delay that counts as congestion.
        congested_minimum: Duration = Duration::from_milliseconds(1), shown "1 ms", unit "s", range (0.0, 10.0),
            source "our choice: below it timing is noise";
        /// How far from 1 the gradient of the queue must be to count as competition.
        gradient_tolerance: f64 = 0.25, shown "0.25", unit "", range (0.0, 10.0),
            source "our choice";
        /// For how long competition is believed: a number of round trips, or until the queue drains
        /// without a loss.
        competition_hold: Hold = Hold::Drain, shown "drain", unit "", range (0.0, 0.0),
            source "our choice: the paper has k = 1 while there is competition, and time alone ends none";
        /// Round trips for which competition is believed with "round-trips", unless the queue
        /// drains without a loss before.
        competing_rounds: f64 = 10.0, shown "10", unit "round trips", range (1.0, 1e6),
            source "our choice";
    }
}
