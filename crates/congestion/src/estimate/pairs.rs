//! Physical bandwidth alone, from pairs of segments: of the pairs of late the one with the smallest total delay met no other
//! traffic, and its spacing is one packet's time in the narrowest link (CapProbe: Kapoor, Chen, Lao, Gerla, Sanadidi, 2004).
//!
//! Where the available bandwidth is measured, too, bursts tell the physical bandwidth also of a path that is never idle: see
//! [`super::capacity`]. On hosts whose network cards collect packets pairs tell nothing, for both arrive at one time.

use super::EstimatePart;
use crate::controller::WindowState;
use crate::event::{Acknowledged, Sent};
use crate::parameters;
use crate::registry::{Entry, Part};
use crate::units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// What `selfclock algorithms` says.
pub const ENTRY: Entry = Entry {
    name: "capacity",
    part: Part::Estimate,
    about: "Physical bandwidth from the pair of segments with the smallest delay.",
    source: "Kapoor et al.: CapProbe, SIGCOMM 2004",
    parameters: Parameters::TABLE,
};

parameters! {
    /// Parameters of the measurement by pairs.
    Parameters {
        /// Pairs from which the one with the smallest delay is taken.
        pairs: f64 = 20.0, shown "20", unit "", range (1.0, 1000.0),
            source "our choice";
        /// Pause between pairs, in smoothed round-trip times.
        pair_pause: f64 = 0.5, shown "0.5", unit "RTT", range (0.0, 1000.0),
            source "our choice";
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Not before this time.
    Waiting(Time),
    /// Nothing is sent until this has been acknowledged, and there are two segments.
    Storing(Bytes),
    /// So many of the two have been sent.
    Sending(u64),
    /// The first has been acknowledged at this time, if so.
    Collecting(Option<Time>),
}

/// Measures by pairs.
#[derive(Clone, Debug)]
pub struct Pairs {
    parameters: Parameters,
    phase: Phase,
    /// First byte of the pair, and when it was sent.
    first: Bytes,
    sent: Time,
    /// Sum of both delays, s, and spacing, s.
    results: VecDeque<(f64, f64)>,
}

impl Pairs {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            phase: Phase::Waiting(Time::ZERO),
            first: Bytes::ZERO,
            sent: Time::ZERO,
            results: VecDeque::new(),
        }
    }

    fn record(&mut self, first: Time, second: Time, state: &mut WindowState) {
        let delays = first.since(self.sent).seconds() + second.since(self.sent).seconds();
        if self.results.len() >= self.parameters.pairs as usize {
            self.results.pop_front();
        }
        self.results.push_back((delays, second.since(first).seconds()));
        let least = self.results.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        // Both at one time, as from one interrupt: no spacing was measured.
        if let Some(&(_, spacing)) = least
            && spacing > 0.0
        {
            state.path.capacity_bps = Some(state.full_segment_on_wire().get() as f64 * 8.0 / spacing);
        }
    }
}

impl EstimatePart for Pairs {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let second = self.first + state.mss;
        match self.phase {
            Phase::Waiting(until) if event.now >= until => {
                // A window of two pairs, so that one can be stored.
                let may = !event.recovering && event.window_limited && state.cwnd >= 4.0;
                if may {
                    let stored = Bytes(2 * state.mss.get());
                    self.phase = Phase::Storing(event.acknowledged_total + stored);
                }
            }
            Phase::Storing(until) if event.acknowledged_total >= until => {
                (self.first, self.sent) = (event.sent_total, event.now);
                self.phase = Phase::Sending(0);
            }
            Phase::Sending(2..) => self.phase = Phase::Collecting(None),
            Phase::Collecting(None) if event.acknowledged_total > second => self.abandon(event.now),
            Phase::Collecting(None) if event.acknowledged_total > self.first => {
                self.phase = Phase::Collecting(Some(event.now));
            }
            Phase::Collecting(Some(first)) if event.acknowledged_total > second => {
                self.record(first, event.now, state);
                let pause = event.smoothed_rtt.map_or(0.0, Duration::seconds) * self.parameters.pair_pause;
                self.phase = Phase::Waiting(event.now + Duration::from_seconds(pause));
            }
            _ => {}
        }
    }

    fn on_sent(&mut self, _event: &Sent, _state: &WindowState) {
        if let Phase::Sending(sent) = &mut self.phase {
            *sent += 1;
        }
    }

    fn abandon(&mut self, now: Time) {
        self.phase = Phase::Waiting(now);
    }

    fn allowance(&self, state: &WindowState) -> Bytes {
        match self.phase {
            Phase::Storing(_) => Bytes::ZERO,
            Phase::Sending(sent) => Bytes(2_u64.saturating_sub(sent) * state.mss.get()),
            _ => Bytes::MAX,
        }
    }
}
