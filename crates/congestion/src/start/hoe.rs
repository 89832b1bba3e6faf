//! The start of Hoe (SIGCOMM 1996), reference 8 of the packet-pair paper: the spacing of two ACKs
//! sets ssthresh before slow start overshoots, and after a loss an ACK releases only a few
//! segments.

use crate::entry::{Entry, Need};
use crate::event::{Acknowledged, DuplicateAck, LossDetected, Resumed, Sent, Timeout};
use crate::part::StartPart;
use crate::state::WindowState;
use crate::units::{Bytes, Duration, Time};
use crate::{choice, parameters};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "hoe",
    about: "Slow start up to the bandwidth-delay product that the spacing of two ACKs gives; after a loss one ACK \
            lets only a few segments go.",
    source: "Hoe: Improving the Start-up Behavior of a Congestion Control Scheme for TCP, SIGCOMM 1996, as ns-2 has \
             it (newreno_changes_, maxburst_)",
    parameters: Parameters::TABLE,
    needs: &[Need::Trains],
    ..Entry::START
};

choice! {
    /// The two ACKs whose spacing is the bandwidth.
    AckPair {
        /// The first two after the first ACK that come within a quarter of the round-trip time.
        CloselySpaced = "closely-spaced",
        /// The second and the third, however far apart.
        SecondAndThird = "second-and-third",
    }
}

parameters! {
    /// Parameters of Hoe's start.
    Parameters {
        /// The two ACKs whose spacing is taken for the bandwidth.
        acks: AckPair = AckPair::CloselySpaced, shown "closely-spaced", unit "", range (0.0, 0.0),
            source "our choice; second-and-third: ns-2, tcp-newreno.cc, which delayed ACKs put a round trip apart";
        /// Largest number of segments that one ACK releases, from a loss until the window is in use
        /// again.
        burst: f64 = 3.0, shown "3", unit "segments", range (1.0, 1e6),
            source "our choice: what a delayed ACK lets go in slow start; ns-2's maxburst_ has no limit by default";
    }
}

/// Two ACKs are closely spaced within this part of the smallest round-trip time (our choice): their
/// estimate is then at least four times what the second of them acknowledges.
const CLOSE: f64 = 0.25;

/// Minimum threshold, in segments (RFC 5681, section 3.1).
const LEAST_THRESHOLD: f64 = 2.0;

/// The sender's part.
#[derive(Clone, Debug)]
pub struct Hoe {
    parameters: Parameters,
    /// Cumulative ACKs so far, until the threshold is set.
    acks: u32,
    last_ack: Option<Time>,
    estimated: bool,
    /// After a loss: data sent since the last ACK.
    since_ack: Option<Bytes>,
}

impl Hoe {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters, acks: 0, last_ack: None, estimated: false, since_ack: None }
    }

    fn burst(&self, state: &WindowState) -> Bytes {
        Bytes((self.parameters.burst * state.mss.get() as f64) as u64)
    }

    /// Whether an ACK this long after the previous one is the second of the pair.
    fn is_second(&self, spacing: Duration, rtt: Duration) -> bool {
        match self.parameters.acks {
            AckPair::SecondAndThird => self.acks == 3,
            AckPair::CloselySpaced => self.acks >= 3 && spacing.seconds() < CLOSE * rtt.seconds(),
        }
    }

    /// ssthresh = RTT · bandwidth, rounded down to whole segments, where that is lower. The
    /// bandwidth is the data acknowledged by the second ACK over the time since the first; ns-2
    /// takes one segment, which is the same without delayed ACKs. The RTT is the smallest, because
    /// that of the first ACK may include the delayed-ACK timer.
    fn estimate(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if self.estimated {
            return;
        }
        self.acks += 1;
        let last = self.last_ack.replace(event.now);
        if let (Some(last), Some(rtt)) = (last, event.minimum_rtt)
            && self.is_second(event.now.since(last), rtt)
        {
            self.estimated = true;
            let spacing = event.now.since(last).seconds();
            // Zero: both came with one interrupt, which yields no rate.
            if spacing > 0.0 {
                let product = libm::floor(rtt.seconds() / spacing * state.segments(event.size));
                state.ssthresh = state.ssthresh.min(product.max(LEAST_THRESHOLD));
            }
        }
    }
}

impl StartPart for Hoe {
    fn on_ack(&mut self, event: &Acknowledged, state: &WindowState) {
        let Some(sent) = &mut self.since_ack else { return };
        *sent = Bytes::ZERO;
        let window = Bytes((state.cwnd * state.mss.get() as f64) as u64);
        let room = window.saturating_sub(event.in_flight);
        if !event.recovering && room <= self.burst(state) {
            self.since_ack = None;
        }
    }

    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        state.cwnd += state.slow_start_step(event.size);
        self.estimate(event, state);
    }

    fn on_duplicate_ack(&mut self, _event: &DuplicateAck) {
        self.since_ack = self.since_ack.map(|_| Bytes::ZERO);
    }

    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {
        self.estimated = true;
        self.since_ack = Some(Bytes::ZERO);
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        self.estimated = true;
        self.since_ack = None;
    }

    /// The time between two ACKs with a pause between them is not their spacing.
    fn on_resumed(&mut self, _event: &Resumed) {
        self.last_ack = None;
    }

    fn on_sent(&mut self, event: &Sent) {
        if let Some(sent) = &mut self.since_ack {
            *sent += event.size;
        }
    }

    fn allowance(&self, state: &WindowState) -> Bytes {
        self.since_ack.map_or(Bytes::MAX, |sent| self.burst(state).saturating_sub(sent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack, ack_at, state};
    use crate::fixtures::{ends, is_plain_slow_start};

    fn hoe(acks: AckPair) -> Hoe {
        Hoe::new(Parameters { acks, ..Parameters::default() })
    }

    fn at(seconds: f64, size: u64) -> Acknowledged {
        let rtt = Some(Duration::from_milliseconds(240));
        Acknowledged { size: Bytes(size), minimum_rtt: rtt, ..ack_at(seconds, 0.24) }
    }

    /// 1000 B at 500 kbit/s are 16 ms, and 240 ms hold 15 of them; delayed ACKs of two segments are
    /// 32 ms apart and give the same.
    #[test]
    fn the_threshold_is_the_bandwidth_delay_product() {
        for (acks, times) in [
            (AckPair::SecondAndThird, [(0.24, 1000), (0.48, 1000), (0.496, 1000)]),
            (AckPair::CloselySpaced, [(0.24, 1000), (0.48, 1000), (0.496, 1000)]),
            (AckPair::CloselySpaced, [(0.24, 1000), (0.48, 2000), (0.512, 2000)]),
        ] {
            let (mut start, mut state) = (hoe(acks), state(2.0));
            state.ssthresh = f64::INFINITY;
            for (time, size) in times {
                start.grow(&at(time, size), &mut state);
            }
            assert_eq!((state.cwnd, state.ssthresh), (5.0, 15.0), "{acks:?} {times:?}");
            // Once: an immediately following ACK does not change it.
            start.grow(&at(0.513, 1000), &mut state);
            assert_eq!(state.ssthresh, 15.0);
        }
    }

    /// ACKs a round trip apart: ns-2's rule takes them for the bandwidth, and slow start ends at
    /// two segments.
    #[test]
    fn acks_of_different_flights_are_no_pair() {
        for (acks, expected) in
            [(AckPair::SecondAndThird, LEAST_THRESHOLD), (AckPair::CloselySpaced, f64::INFINITY)]
        {
            let (mut start, mut state) = (hoe(acks), state(2.0));
            state.ssthresh = f64::INFINITY;
            for time in [0.44, 0.68, 0.92] {
                start.grow(&at(time, 2000), &mut state);
            }
            assert_eq!(state.ssthresh, expected, "{acks:?}");
        }
    }

    /// "Applied only if it lowers ssthresh"; and two simultaneous ACKs yield no rate.
    #[test]
    fn the_threshold_is_never_raised() {
        for (last, expected) in [(0.496, 9.0), (0.48, 9.0)] {
            let (mut start, mut state) = (hoe(AckPair::SecondAndThird), state(2.0));
            state.ssthresh = 9.0;
            for time in [0.24, 0.48, last] {
                start.grow(&at(time, 1000), &mut state);
            }
            assert_eq!(state.ssthresh, expected);
        }
    }

    /// A cumulative ACK after recovery opens the window by ten segments: three leave, and three
    /// more with each ACK, until at most three fit.
    #[test]
    fn one_ack_lets_three_segments_go_after_a_loss() {
        let (mut start, mut state) = (hoe(AckPair::CloselySpaced), state(10.0));
        assert_eq!(start.allowance(&state), Bytes::MAX);
        start.on_loss(&LossDetected::new(Time::ZERO, Bytes(20_000)), &mut state);
        let sent = Sent::new(Time::ZERO, Bytes(1000), Bytes(1000));
        let large = Acknowledged { in_flight: Bytes::ZERO, ..ack(10_000) };
        for _ in 0..2 {
            start.on_ack(&large, &state);
            for left in [3000, 2000, 1000, 0] {
                assert_eq!(start.allowance(&state), Bytes(left));
                start.on_sent(&sent);
            }
        }
        let nearly_full = Acknowledged { in_flight: Bytes(7000), ..ack(1000) };
        start.on_ack(&Acknowledged { recovering: true, ..nearly_full }, &state);
        assert_eq!(start.allowance(&state), Bytes(3000), "the recovery is under way");
        start.on_ack(&nearly_full, &state);
        assert_eq!(start.allowance(&state), Bytes::MAX);
    }

    #[test]
    fn a_timeout_leaves_slow_start() {
        for (after, tell) in ends() {
            if after == "timeout" {
                let (mut start, mut state) = (hoe(AckPair::CloselySpaced), state(4.0));
                tell(&mut start, &mut state);
                is_plain_slow_start(&mut start, &mut state, after);
                assert_eq!(start.allowance(&state), Bytes::MAX);
            }
        }
    }
}
