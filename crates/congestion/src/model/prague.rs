//! Prague, after draft-briscoe-iccrg-prague-congestion-control: DCTCP's response to marks (RFC
//! 8257), paced, with Reno's increase and Reno's response to loss.
//!
//! Needs a path that marks early and a transport that reports how much was marked (accurate ECN
//! feedback). Without pacing and virtual round-trip time (`pacing = false`, `virtual_rtt = "0 s"`)
//! it is DCTCP.

use crate::decision::Pacing;
use crate::decision::paced_at;
use crate::entry::{Entry, Marks, Need};
use crate::estimate::round_trip::RoundTrip;
use crate::event::{Acknowledged, DuplicateAck, LossDetected, Timeout};
use crate::parameters;
use crate::part::ModelPart;
use crate::state::WindowState;
use crate::units::{Bytes, Duration, Time};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "prague",
    about: "Takes off half of the fraction that was marked, once per round trip, and adds a segment per round trip; \
            paced. Needs early marking and accurate ECN feedback; DCTCP with pacing and virtual_rtt off.",
    source: "draft-briscoe-iccrg-prague-congestion-control, RFC 8257",
    parameters: Parameters::TABLE,
    marks: Marks::InProportion,
    needs: &[Need::Pacing],
    ..Entry::MODEL
};

parameters! {
    /// Parameters of Prague.
    Parameters {
        /// Weight of the newest round trip in alpha, the moving average of the fraction marked.
        gain: f64 = 0.0625, shown "0.0625", unit "", range (0.001, 1.0),
            source "RFC 8257 section 3.3: g, 1/16";
        /// alpha when the connection begins: at 1 the first mark halves the window.
        initial_alpha: f64 = 1.0, shown "1", unit "", range (0.0, 1.0),
            source "RFC 8257 section 3.3";
        /// Part of the window that is kept at a loss.
        loss_beta: f64 = 0.5, shown "0.5", unit "", range (0.1, 0.99),
            source "RFC 5681 section 3.1, equation 4";
        /// Round-trip time that shorter ones are taken for, so that the rate depends less on it;
        /// zero: none are, as in RFC 8257. It holds from the beginning; the reference
        /// implementation waits for some round trips after slow start.
        virtual_rtt: Duration = Duration::from_milliseconds(25), shown "25 ms", unit "s", range (0.0, 1.0),
            source "draft-briscoe-iccrg-prague-congestion-control: reduced RTT-dependence";
        /// Space segments. Off, and without a virtual round-trip time: DCTCP.
        pacing: bool = true, shown "true", unit "", range (0.0, 0.0),
            source "draft-briscoe-iccrg-prague-congestion-control";
        /// Pacing rate in windows per round-trip time in slow start.
        slow_start_pacing_gain: f64 = 2.0, shown "2", unit "", range (1.0, 10.0),
            source "Linux, tcp_pacing_ss_ratio";
        /// Pacing rate in windows per round-trip time after it.
        pacing_gain: f64 = 1.0, shown "1", unit "", range (1.0, 10.0),
            source "our choice: no burst above the rate of the window";
    }
}

/// Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    parameters: Parameters,
    alpha: f64,
    /// The observation window of alpha: a round trip, or longer with a virtual round-trip time.
    round: RoundTrip,
    observed_since: Time,
    acknowledged: Bytes,
    marked: Bytes,
    seen_mark: bool,
    /// A duplicate ACK reported marks. It carries no count of data sent: the response waits for the
    /// next cumulative ACK.
    marked_on_duplicate: bool,
    /// Bytes sent when marks last reduced the window: the next reduction needs more than that
    /// acknowledged.
    reduced_until: Bytes,
    smoothed_rtt: Option<Duration>,
}

impl Prague {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            alpha: parameters.initial_alpha,
            round: RoundTrip::new(),
            observed_since: Time::ZERO,
            acknowledged: Bytes::ZERO,
            marked: Bytes::ZERO,
            seen_mark: false,
            marked_on_duplicate: false,
            reduced_until: Bytes::ZERO,
            smoothed_rtt: None,
        }
    }

    /// Ratio of the virtual round-trip time to the real one, at least 1.
    fn stretch(&self) -> f64 {
        let virtual_rtt = self.parameters.virtual_rtt.seconds();
        match self.smoothed_rtt {
            Some(rtt) if !rtt.is_zero() => (virtual_rtt / rtt.seconds()).max(1.0),
            _ => 1.0,
        }
    }

    /// Updates alpha with the fraction marked since the last update. As in Linux, not before the
    /// first mark: until then nothing shows that the path marks.
    fn observe(&mut self, event: &Acknowledged) {
        self.acknowledged += event.size;
        self.marked += event.marked;
        let seen_before = self.seen_mark;
        self.seen_mark |= self.marked > Bytes::ZERO;
        let waited = event.now.since(self.observed_since) >= self.parameters.virtual_rtt;
        if !self.round.ended(event) || !waited {
            return;
        }
        if seen_before && self.acknowledged > Bytes::ZERO {
            let fraction = (self.marked.get() as f64 / self.acknowledged.get() as f64).min(1.0);
            self.alpha += self.parameters.gain * (fraction - self.alpha);
        }
        (self.acknowledged, self.marked) = (Bytes::ZERO, Bytes::ZERO);
        self.observed_since = event.now;
    }

    /// "cwnd = cwnd * (1 - DCTCP.Alpha / 2)", which also ends slow start.
    fn reduce(&self, state: &mut WindowState) {
        state.cwnd = (state.cwnd * (1.0 - self.alpha / 2.0)).max(2.0).min(state.cwnd);
        state.ssthresh = state.cwnd.max(2.0);
    }
}

impl ModelPart for Prague {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        self.smoothed_rtt = event.smoothed_rtt;
        self.observe(event);
        let marked = core::mem::take(&mut self.marked_on_duplicate) || event.marked > Bytes::ZERO;
        // Data acknowledged up to there was sent, and possibly marked, before the reduction.
        if marked && !event.recovering && event.acknowledged_total > self.reduced_until {
            self.reduce(state);
            self.reduced_until = event.sent_total;
        }
        if event.recovering || !event.window_limited {
            return;
        }
        // Only unmarked data grows the window.
        let unmarked = state.segments(event.size.saturating_sub(event.marked));
        if state.in_slow_start() {
            state.cwnd += unmarked;
        } else {
            // A segment per virtual round-trip time; and because rates should be equal rather than
            // windows, less in proportion to the window too.
            let stretch = self.stretch();
            state.cwnd += unmarked / state.cwnd / (stretch * stretch);
        }
    }

    fn on_duplicate_ack(&mut self, event: &DuplicateAck, _state: &mut WindowState) {
        self.marked += event.marked;
        self.marked_on_duplicate |= event.marked > Bytes::ZERO;
    }

    fn on_loss(&mut self, _event: &LossDetected, state: &mut WindowState) {
        state.ssthresh = (state.window_in_use() * self.parameters.loss_beta).max(2.0);
        state.cwnd = state.ssthresh;
    }

    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        if !event.repeated {
            state.ssthresh = (state.window_in_use() * self.parameters.loss_beta).max(2.0);
        }
    }

    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        let rtt = self.smoothed_rtt.filter(|rtt| !rtt.is_zero())?;
        let Parameters { pacing, slow_start_pacing_gain, pacing_gain, .. } = self.parameters;
        if !pacing {
            return None;
        }
        let gain = if state.in_slow_start() { slow_start_pacing_gain } else { pacing_gain };
        paced_at(gain * state.cwnd * state.mss.get() as f64 / rtt.seconds(), state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Phase;
    use crate::fixtures::{ack, ack_at, state};
    use crate::fixtures::{avoiding, loss};
    use crate::model::harness::{Bench, Path};
    use crate::random::Random;
    use crate::registry::Registry;

    /// Each segment is marked with the same probability p, independently. Marks reduce the window
    /// once, and again only when all data sent by then is acknowledged: a round trip of W ACKs, and
    /// 1/p more to the next mark. Meanwhile the window grows by (1 + 1/(W p))(1 - p) segments; a
    /// reduction takes alpha W/2 = p W/2. With x = W p before a reduction x/2 = (1 + 1/x)(1 - p): x
    /// = 1 + sqrt(3) = 2.73 for small p. (The W = 2/p of a reduction in every round trip would need
    /// a mark in every one; with 2.73 in the mean one in fifteen has none.) The mean window is half
    /// a growth smaller. 3 %: 2,000 reductions of a window whose standard deviation is about
    /// sqrt(8/W) of it, correlated over W/2 round trips.
    #[test]
    fn the_window_under_random_marks() {
        for p in [0.003, 0.01, 0.03, 0.1] {
            let mut prague = Prague::new(Parameters { initial_alpha: p, ..Parameters::default() });
            let mut random = Random::new(11);
            let free = 1.0 - p;
            let x = free + (free * free + 2.0 * free).sqrt();
            let expected = x / p - x / 4.0;
            let mut state = avoiding(expected);
            let (mut acknowledged, mut sum, mut count) = (0, 0.0, 0);
            let total = (2_000.0 * 1.4 * x / p) as u64;
            for number in 0..total {
                acknowledged += 1000;
                let marked = if random.uniform() < p { 1000 } else { 0 };
                prague.on_ack(
                    &Acknowledged {
                        acknowledged_total: Bytes(acknowledged),
                        sent_total: Bytes(acknowledged + (state.cwnd * 1000.0) as u64),
                        marked: Bytes(marked),
                        ..ack(1000)
                    },
                    &mut state,
                );
                if number > total / 20 {
                    sum += state.cwnd;
                    count += 1;
                }
            }
            let mean = sum / f64::from(count);
            println!("Prague, marks at {p}: W p {:.3}, formula {:.3}", mean * p, expected * p);
            assert!((mean / expected - 1.0).abs() < 0.03, "{p}: {mean} against {expected}");
        }
    }

    /// RFC 5681, section 3.1: when the timer expires again for the same segment, "the value of
    /// ssthresh is held constant".
    #[test]
    fn a_second_timeout_of_a_segment_keeps_ssthresh() {
        let mut prague = Prague::new(Parameters::default());
        let mut state = avoiding(100.0);
        let timeout = |repeated| crate::event::Timeout {
            repeated,
            ..Timeout::new(crate::units::Time::ZERO, Bytes(100_000))
        };
        prague.on_timeout(&timeout(false), &mut state);
        let kept = 100.0 * Parameters::default().loss_beta;
        assert_eq!(state.ssthresh, kept);
        state.cwnd = 1.0;
        prague.on_timeout(&timeout(true), &mut state);
        assert_eq!(state.ssthresh, kept);
    }

    /// With DCTCP's dependence on the round-trip time, which its formulas have.
    fn bench(path: Path, starts: &[f64]) -> Bench {
        let selection = Registry::built_in().read("prague:virtual_rtt=0s").expect("it is listed");
        Bench::new(path, selection, starts)
    }

    /// Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, section 3.3, for one flow: the
    /// window rises to W + 1 with W = BDP + K, alpha = sqrt(2/W), and a cut takes (W + 1) alpha /
    /// 2.
    #[test]
    fn step_marking() {
        for (k, rtt) in [(20, 0.01), (65, 0.01), (20, 0.02), (20, 0.005)] {
            let path = Path { mark_at: k, ..Path::new(100e6, rtt, 10.0) };
            let mut bench = bench(path, &[0.0]);
            bench.run(30.0);
            let (low, high) = bench.window_range(10.0, 30.0);
            let w = path.bdp() + k as f64;
            let amplitude = (w + 1.0) * (2.0 / w).sqrt() / 2.0;
            let utilization = bench.utilization(10.0, 30.0);
            println!(
                "Prague K {k}, {rtt} s: window {low:.1} to {high:.1} around {w:.1}, amplitude {:.2}, formula \
                 {amplitude:.2}, utilization {utilization:.4}, queue {:.1} of {k}",
                high - low,
                bench.mean_queue(10.0, 30.0)
            );
            assert!((high / (w + 1.0) - 1.0).abs() < 0.02, "{high} against {w}");
            assert!(((high - low) / amplitude - 1.0).abs() < 0.2, "{} against {amplitude}", high - low);
            assert!(utilization > 0.99, "{utilization}");
            assert_eq!(bench.drops, 0);
        }
    }

    #[test]
    fn two_flows_share() {
        let path = Path { mark_at: 20, ..Path::new(100e6, 0.01, 10.0) };
        let mut bench = bench(path, &[0.0, 2.0]);
        bench.run(40.0);
        let [first, second] = bench.shares(20.0, 40.0);
        println!("Prague, two flows: {first:.3} and {second:.3}");
        assert!((first / second - 1.0).abs() < 0.1, "{first} and {second}");
        assert!(first + second > 0.99);
    }

    /// The first mark ends slow start; alpha is still 1.
    #[test]
    fn first_mark_halves() {
        let mut prague = Prague::new(Parameters::default());
        let mut state = state(100.0);
        prague.on_ack(&ack_at(0.1, 0.1), &mut state);
        assert_eq!(state.cwnd, 101.0);
        let marked =
            Acknowledged { marked: Bytes(1000), acknowledged_total: Bytes(2000), ..ack_at(0.1, 0.1) };
        prague.on_ack(&marked, &mut state);
        assert_eq!((state.cwnd, state.ssthresh), (50.5, 50.5));
        // Once per round trip: nothing sent after the cut has been acknowledged yet.
        let again = Acknowledged { sent_total: Bytes(9000), acknowledged_total: Bytes(1000), ..marked };
        prague.on_ack(&again, &mut state);
        assert_eq!(state.cwnd, 50.5);
    }

    #[test]
    fn reno_without_marks() {
        let mut prague = Prague::new(Parameters::default());
        let mut state = avoiding(100.0);
        for _ in 0..100 {
            prague.on_ack(&ack_at(0.1, 0.1), &mut state);
        }
        assert!((state.cwnd - 100.995).abs() < 1e-3, "{}", state.cwnd);
        prague.on_loss(&loss(&state), &mut state);
        assert!((state.cwnd - 50.4975).abs() < 1e-3, "{}", state.cwnd);
    }

    /// At a fifth of the virtual round-trip time a round trip adds a twenty-fifth of a segment: the
    /// rate grows like Reno's at the virtual one.
    #[test]
    fn virtual_round_trip_time() {
        let mut prague = Prague::new(Parameters::default());
        let mut state = avoiding(100.0);
        for _ in 0..100 {
            prague.on_ack(&ack_at(0.1, 0.005), &mut state);
        }
        assert!((state.cwnd - 100.04).abs() < 1e-3, "{}", state.cwnd);
    }

    #[test]
    fn pacing_spreads_the_window_over_the_round_trip() {
        let mut prague = Prague::new(Parameters::default());
        let mut state = avoiding(100.0);
        prague.on_ack(&Acknowledged { window_limited: false, ..ack_at(0.1, 0.1) }, &mut state);
        let pacing = prague.pacing(&state).expect("it paces");
        assert_eq!((pacing.interval, pacing.size), (Duration::from_milliseconds(1), Bytes(1040)));
        prague.parameters.pacing = false;
        assert_eq!(prague.pacing(&state), None);
        assert_eq!(prague.phase(), None::<Phase>);
    }

    /// Marks on duplicate ACKs count once, with the next cumulative ACK.
    #[test]
    fn marks_on_duplicates() {
        use crate::event::DuplicateAck;
        let duplicate = |marked| {
            let nothing = Bytes::ZERO;
            let (now, rtt, rate, option) = (crate::units::Time::ZERO, None, None, None);
            DuplicateAck {
                rtt,
                in_flight: nothing,
                marked: Bytes(marked),
                rate,
                option,
                ..DuplicateAck::new(now, 1)
            }
        };
        let mut prague = Prague::new(Parameters { virtual_rtt: Duration::ZERO, ..Parameters::default() });
        let mut state = avoiding(100.0);
        prague.on_duplicate_ack(&duplicate(0), &mut state);
        let event = |acknowledged| Acknowledged {
            window_limited: false,
            acknowledged_total: Bytes(acknowledged),
            sent_total: Bytes(acknowledged + 5000),
            ..ack_at(0.1, 0.1)
        };
        prague.on_ack(&event(1000), &mut state);
        assert_eq!(state.cwnd, 100.0, "nothing was marked");
        prague.on_duplicate_ack(&duplicate(1000), &mut state);
        prague.on_duplicate_ack(&duplicate(0), &mut state);
        assert_eq!(state.cwnd, 100.0, "not before the next that advances");
        prague.on_ack(&event(2000), &mut state);
        assert_eq!(state.cwnd, 50.0);
        prague.on_ack(&event(8000), &mut state);
        assert_eq!(state.cwnd, 50.0, "once");
        // 1000 of the 2000 bytes acknowledged in the past round trip were marked; then 1000 of
        // 4000.
        let first = 1.0 + (0.5 - 1.0) / 16.0;
        assert_eq!(prague.alpha, first);
        prague.on_duplicate_ack(&duplicate(1000), &mut state);
        prague.on_ack(&Acknowledged { size: Bytes(4000), ..event(14_000) }, &mut state);
        assert_eq!(prague.alpha, first + (0.25 - first) / 16.0);
    }
}
