//! Tri-S (Wang, Crowcroft): one more segment while it increases throughput, one less otherwise.
//!
//! The paper was not available: this follows Brakmo and Peterson's description, and says "our
//! choice" where that is ambiguous.
//!
//! With delayed ACKs it wanders between half and one and a half times the BDP: an additional
//! segment leaves in a burst, which is a queue for all that follows in its round trip, so that the
//! measured gradient is too small; and the two segments of a burst have round-trip times a
//! transmission apart.

use super::reno::Reno;
use crate::entry::Entry;
use crate::estimate::round_trip::{RoundTrip, RoundTripTimes};
use crate::event::{Acknowledged, LossDetected, Resumed, Timeout};
use crate::parameters;
use crate::part::WindowPart;
use crate::state::WindowState;

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "tri-s",
    about: "One segment more or less per round-trip time, by what the last change of the window did to the throughput.",
    source: "Wang, Crowcroft: A New Congestion Control Scheme: Slow Start and Search (Tri-S), as Brakmo and Peterson \
             describe it in TCP Vegas",
    parameters: Parameters::TABLE,
    ..Entry::WINDOW
};

parameters! {
    /// Parameters of Tri-S.
    Parameters {
        /// Minimum gain of one more segment, as a fraction of the throughput of one segment in
        /// transit.
        gradient: f64 = 0.5, shown "0.5", unit "", range (0.01, 0.99),
            source "Brakmo and Peterson 1995, section 6: one half";
    }
}

/// Tri-S.
#[derive(Clone, Debug)]
pub struct TriS {
    parameters: Parameters,
    reno: Reno,
    round: RoundTrip,
    times: RoundTripTimes,
    /// The window under which the segments acknowledged in this round trip were sent; 0 if unknown.
    sent_under: f64,
    /// Window and throughput of the previous round trip, in segments and in segments per second.
    last: Option<(f64, f64)>,
    /// Pending change of the window.
    step: f64,
}

impl TriS {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            reno: Reno::OF_WINDOW,
            round: RoundTrip::new(),
            times: RoundTripTimes::NONE,
            sent_under: 0.0,
            last: None,
            step: 0.0,
        }
    }

    /// The gradient between the throughput of this window, "the number of bytes outstanding in the
    /// network" over the round-trip time, and that of the previous round trip, as a fraction of
    /// that of one segment; `None` without a previous one. Our choices: the mean round-trip time of
    /// a round trip; and the smallest of all for one segment in transit, which meets no queue.
    fn measure(&mut self, window: f64, times: RoundTripTimes, base: f64) -> Option<f64> {
        let throughput = window / times.mean().filter(|&mean| mean > 0.0 && window > 0.0)?;
        let (earlier, at_earlier) = self.last.replace((window, throughput))?;
        let change = window - earlier;
        (change.abs() > 0.5).then(|| (throughput - at_earlier) / change * base)
    }

    fn forget(&mut self) {
        (self.sent_under, self.last, self.step) = (0.0, None, 0.0);
    }
}

impl WindowPart for TriS {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if self.round.ended(event) {
            let base = event.minimum_rtt.map_or(0.0, |rtt| rtt.seconds());
            let gradient = self.measure(self.sent_under, self.times, base);
            self.times = RoundTripTimes::NONE;
            self.sent_under = state.cwnd;
            let enough = gradient.is_none_or(|gradient| gradient >= self.parameters.gradient);
            self.step = if enough { 1.0 } else { -1.0 };
            // Our choice: slow start ends where the search would remove a segment.
            if state.in_slow_start() && !enough && !event.recovering {
                state.ssthresh = state.cwnd.max(2.0);
            }
        }
        if let Some(rtt) = event.rtt {
            self.times.record(rtt.seconds());
        }
    }

    fn grow(&mut self, _event: &Acknowledged, state: &mut WindowState) {
        let step = core::mem::take(&mut self.step);
        state.cwnd = (state.cwnd + step).max(2.0);
        // The reduced window must not return to slow start.
        state.ssthresh = state.ssthresh.min(state.cwnd);
    }

    /// The throughput before the pause was of another window.
    fn on_resumed(&mut self, _event: &Resumed, _state: &mut WindowState) {
        self.forget();
    }

    /// Our choice: as Reno.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        self.forget();
        self.reno.on_loss(event, state);
    }

    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.forget();
        self.reno.on_timeout(event, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{LoneFlow, avoiding, loss, timeout};
    use crate::part::StartPart;
    use crate::start::slow_start::{self, SlowStart};

    fn tri_s() -> TriS {
        TriS::new(Parameters::default())
    }

    fn times(seconds: f64) -> RoundTripTimes {
        let mut times = RoundTripTimes::NONE;
        times.record(seconds);
        times
    }

    /// Without a queue each segment adds as much throughput as the first; when the window goes into
    /// the queue, none.
    #[test]
    fn gradient_by_hand() {
        let mut tri_s = tri_s();
        assert_eq!(tri_s.measure(10.0, times(0.1), 0.1), None);
        let free = tri_s.measure(11.0, times(0.1), 0.1).expect("two windows");
        assert!((free - 1.0).abs() < 1e-12, "{free}");
        let full = tri_s.measure(12.0, times(0.1 * 12.0 / 11.0), 0.1).expect("two windows");
        assert!(full.abs() < 1e-12, "{full}");
        // One segment less: the former throughput.
        let back = tri_s.measure(11.0, times(0.1), 0.1).expect("two windows");
        assert!(back.abs() < 1e-12, "{back}");
        assert_eq!(tri_s.measure(11.0, times(0.2), 0.1), None, "the same window tells nothing");
        assert_eq!(tri_s.measure(12.0, RoundTripTimes::NONE, 0.1), None, "no sample");
    }

    #[test]
    fn slow_start_ends_when_the_queue_fills() {
        let mut tri_s = tri_s();
        let mut state = crate::fixtures::state(2.0);
        let mut start = SlowStart::new(slow_start::Parameters::default());
        let mut flow = LoneFlow::new(0.1, 1000.0);
        while state.in_slow_start() {
            let event = flow.next(state.cwnd);
            tri_s.on_ack(&event, &mut state);
            if state.in_slow_start() {
                start.grow(&event, &mut state);
            }
        }
        // A round-trip time of 4/3 of the smallest; known two doublings after its window was sent.
        assert!((100.0..=560.0).contains(&state.cwnd), "{}", state.cwnd);
        assert_eq!(state.ssthresh, state.cwnd);
    }

    #[test]
    fn a_loss_is_answered_as_by_reno_and_forgets_the_search() {
        let mut tri_s = tri_s();
        let mut state = avoiding(100.0);
        LoneFlow::new(0.1, 1000.0).run(&mut tri_s, &mut state, 1000);
        assert!(tri_s.last.is_some());
        let before = state.cwnd;
        tri_s.on_loss(&loss(&state), &mut state);
        assert_eq!((state.cwnd, state.ssthresh), (before / 2.0, before / 2.0));
        assert_eq!((tri_s.last, tri_s.step, tri_s.sent_under), (None, 0.0, 0.0));
        tri_s.on_timeout(&timeout(&state), &mut state);
        assert_eq!(state.ssthresh, before / 4.0);
    }
}
