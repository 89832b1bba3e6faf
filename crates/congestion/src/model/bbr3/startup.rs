//! Startup, section 5.3.1: its end by loss. A plateau of the delivery rate ends it too: see
//! [`super::full_bw`].

use super::path::Path;
use super::sample::Sample;

/// CheckStartupHighLoss of section 5.3.1.3, which the draft describes in prose, in fast recovery;
/// true if Startup is over.
pub fn check_high_loss(path: &mut Path, sample: &Sample) -> bool {
    let is_high = if path.has_selective_acks {
        // A loss round trip ends a round trip after its first loss, so that a recovery still active
        // then has lasted at least one.
        path.signals.is_round_start
            && f64::from(path.signals.loss_events) >= path.parameters.startup_losses
            && path.is_inflight_too_high(sample)
    } else {
        sample.newly_lost > 0.0
    };
    if is_high {
        path.full_bw.is_reached = true;
        path.bounds.inflight_longterm = path.bdp_multiple(path.bw, 1.0).max(path.signals.inflight_latest);
    }
    is_high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Phase;
    use crate::model::bbr3::Parameters;
    use crate::model::bbr3::rig::Rounds;

    #[test]
    fn three_rounds_without_growth_end_startup() {
        let mut rounds = Rounds::new();
        for growing in [1e6, 2e6, 2.5e6] {
            rounds.round(growing, 0, 200_000);
        }
        for _ in 0..2 {
            rounds.round(2.5e6, 0, 200_000);
            assert_eq!(rounds.phase(), Phase::Startup);
        }
        rounds.round(2.5e6, 0, 200_000);
        assert_eq!(rounds.phase(), Phase::Drain);
        // 0.5 of 2.5 MB/s, less the margin of 1 %.
        assert!((rounds.bbr.pacing_rate.get() - 0.5 * 0.99 * 2.5e6).abs() < 1.0);
        rounds.round(2.5e6, 0, 100_000);
        // The volume in flight equals the BDP, so nothing is left to drain in ProbeBW_DOWN either.
        assert_eq!(rounds.phase(), Phase::ProbeCruise);
    }

    /// Section 5.3.1.3: six ACKs with losses in a round trip, and more than 2 % of the volume in
    /// flight; without SACK, any loss.
    #[test]
    fn high_loss_ends_startup() {
        for (selective, is_round_start, loss_events, lost, ends) in [
            (true, true, 6, 2001, true),
            (true, true, 6, 2000, false),
            (true, true, 5, 2001, false),
            (true, false, 6, 2001, false),
            (false, false, 1, 1, true),
            (false, true, 6, 0, false),
        ] {
            let mut path = Path::new(Parameters::default());
            path.has_selective_acks = selective;
            path.signals.is_round_start = is_round_start;
            path.signals.loss_events = loss_events;
            path.signals.inflight_latest = 90_000.0;
            let sample =
                Sample { newly_lost: f64::from(lost), lost: f64::from(lost), ..Sample::of_flight(1e5) };
            assert_eq!(check_high_loss(&mut path, &sample), ends);
            assert_eq!(path.full_bw.is_reached, ends, "{lost} lost on {loss_events} ACKs");
            assert_eq!(path.bounds.inflight_longterm, if ends { 90_000.0 } else { f64::INFINITY });
        }
    }
}
