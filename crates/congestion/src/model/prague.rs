//! Prague, after draft-briscoe-iccrg-prague-congestion-control: DCTCP's response to marks (RFC 8257), paced, with
//! Reno's increase and Reno's response to loss.
//!
//! Needs a path that marks early and a transport that reports how much was marked (accurate ECN feedback). Without
//! pacing (`pacing = false`) it is DCTCP. Of what the draft makes optional or leaves to the transport, only the reduced
//! dependence on the round-trip time is here, and off unless asked for.

use super::{ModelPart, paced_at};
use crate::controller::WindowState;
use crate::estimate::round_trip::RoundTrip;
use crate::event::{Acknowledged, DuplicateAck, LossDetected, Pacing, Timeout};
use crate::parameters;
use crate::registry::{Entry, Part};
use crate::units::{Bytes, Duration, Time};

/// What `selfclock algorithms` says.
pub const ENTRY: Entry = Entry {
    name: "prague",
    part: Part::Model,
    about: "Takes off half of the fraction that was marked, once per round trip, and adds a segment per round trip; \
            paced. Needs early marking and accurate ECN feedback; DCTCP where pacing is off.",
    source: "draft-briscoe-iccrg-prague-congestion-control, RFC 8257",
    parameters: Parameters::TABLE,
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
        /// Round-trip time that shorter ones are taken for, so that the rate depends less on it; zero: none are. The
        /// draft has 25 ms.
        virtual_rtt: Duration = Duration::ZERO, shown "0 s", unit "s", range (0.0, 1.0),
            source "our choice: as in RFC 8257, which has none";
        /// Space segments. Off: DCTCP.
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
    /// The observation window of alpha: a round trip, or more where the virtual round-trip time is longer.
    round: RoundTrip,
    observed_since: Time,
    acknowledged: Bytes,
    marked: Bytes,
    /// A duplicate reported marks. It does not tell what was sent: the response is left to the next acknowledgement
    /// that advances.
    marked_on_duplicate: bool,
    /// What has to be acknowledged before marks may reduce the window again.
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
            marked_on_duplicate: false,
            reduced_until: Bytes::ZERO,
            smoothed_rtt: None,
        }
    }

    /// How many times the virtual round-trip time is the real one, at least 1.
    fn stretch(&self) -> f64 {
        let virtual_rtt = self.parameters.virtual_rtt.seconds();
        match self.smoothed_rtt {
            Some(rtt) if !rtt.is_zero() => (virtual_rtt / rtt.seconds()).max(1.0),
            _ => 1.0,
        }
    }

    /// The fraction marked since the last time goes into alpha.
    fn observe(&mut self, event: &Acknowledged) {
        self.acknowledged += event.size;
        let waited = event.now.since(self.observed_since) >= self.parameters.virtual_rtt;
        if !self.round.ended(event) || !waited {
            return;
        }
        if self.acknowledged > Bytes::ZERO {
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
        self.marked += event.marked;
        self.observe(event);
        let marked = core::mem::take(&mut self.marked_on_duplicate) || event.marked > Bytes::ZERO;
        if marked && event.acknowledged_total >= self.reduced_until {
            self.reduce(state);
            self.reduced_until = event.sent_total;
        }
        if event.recovering || !event.window_limited {
            return;
        }
        // Only what was not marked lets the window grow.
        let unmarked = state.segments(event.size.saturating_sub(event.marked));
        if state.in_slow_start() {
            state.cwnd += unmarked;
        } else {
            // A segment per virtual round-trip time and, as rates and not windows are to be alike, less in proportion
            // to the windows too.
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
    use crate::model::harness::{Bench, Path};
    use crate::registry::Selection;

    #[test]
    fn step() {
        for (k, rtt) in [(20, 0.01), (40, 0.01), (65, 0.01), (20, 0.02), (20, 0.005)] {
            let path = Path { mark_at: k, ..Path::new(100e6, rtt, 10.0) };
            let mut bench = Bench::new(path, Selection::model("prague").unwrap(), &[0.0]);
            bench.run(30.0);
            let (low, high) = bench.window_range(10.0, 30.0);
            let w = path.bdp() + k as f64;
            println!("Prague K {k} rtt {rtt}: window {low:.1} to {high:.1}, BDP+K {w:.1}, amplitude {:.2} closed {:.2}, utilisation {:.4} queue {}",
                high - low, (w + 1.0) * (2.0 / w).sqrt() / 2.0, bench.utilisation(10.0, 30.0), bench.mean_queue(10.0, 30.0));
        }
    }
}
