//! Laws of the bridge: one stream of kernel events in two descriptions has the same answers.
//!
//! The kernel's counters have 32 bits and wrap (RFC 9293, section 3.4, for sequence numbers; the
//! kernel's `tcp_sock` for the others), so their origin must not matter; windows are in segments,
//! so their size must not matter; and time without data must not grow a window (RFC 9438, section
//! 4.2; RFC 5681, section 4.1).

use selfclock_congestion::Selection;
use selfclock_kernel::bridge::{Answer, Flow, NO_THRESHOLD};
use selfclock_kernel::event::{KernelEvent, kind, state};

/// Windows of every kind: by bytes or ACKs, with a function of time, of delay, of layers.
const WINDOWS: [&str; 8] = ["reno", "cubic", "highspeed", "scalable", "bic", "vegas", "ltcp", "tri-s"];
const RTT_US: u32 = 40_000;

/// A stream of ACKs, each for two segments, with a loss now and then, of a sender that follows the
/// answers.
#[derive(Clone, Copy)]
struct Stream {
    /// Value of each counter of the kernel at the beginning.
    origin: u32,
    mss: u32,
    /// After this ACK nothing is sent for a time, ns.
    pause: (usize, u64),
}

impl Stream {
    const PLAIN: Self = Self { origin: 0, mss: 1448, pause: (usize::MAX, 0) };

    fn begin(self) -> KernelEvent {
        KernelEvent {
            id: 5,
            now: 1_000_000,
            number: 1,
            bytes_acked: 1,
            rtt_us: -1,
            interval_us: -1,
            delivered: -1,
            cwnd: 10,
            ssthresh: NO_THRESHOLD,
            mss: self.mss,
            srtt_us: RTT_US,
            family: 2,
            tcp_header: 32,
            snd_una: self.origin,
            snd_nxt: self.origin,
            tp_delivered: self.origin,
            tp_lost: self.origin,
            data_segs_out: self.origin,
            total_retrans: self.origin,
            prior_delivered: self.origin,
            kind: kind::INIT,
            ..KernelEvent::default()
        }
    }

    /// An ACK for two segments out of a full window.
    fn ack(self, before: &KernelEvent, window: u32, later: u64) -> KernelEvent {
        let snd_una = before.snd_una.wrapping_add(2 * self.mss);
        KernelEvent {
            now: before.now + later,
            number: before.number + 1,
            kind: kind::ACK,
            state: before.new_state,
            bytes_acked: before.bytes_acked + 2 * u64::from(self.mss),
            tp_delivered: before.tp_delivered.wrapping_add(2),
            data_segs_out: before.data_segs_out.wrapping_add(2),
            snd_una,
            snd_nxt: snd_una.wrapping_add(window * self.mss),
            flag: 0x404,
            rtt_us: RTT_US as i32,
            acked_sacked: 2,
            cwnd: window,
            packets_out: window,
            prior_in_flight: window,
            max_packets_out: window,
            cwnd_limited: 1,
            ..*before
        }
    }

    /// Answers to this many ACKs.
    fn run(self, label: &str, acks: usize) -> Vec<Answer> {
        let selection = Selection::from_label(label).expect("listed");
        let begun = self.begin();
        let mut flow = Flow::new(&begun, |setup| selection.controller(setup));
        let mut answers = vec![flow.on(&begun)];
        let mut last = begun;
        for number in 0..acks {
            let window = answers[answers.len() - 1].cwnd;
            let later = u64::from(RTT_US) * 1000 * 2 / u64::from(window.max(2));
            if number == self.pause.0 {
                // Everything is acknowledged; the kernel reports the first segment after the pause.
                last = KernelEvent {
                    kind: kind::START,
                    now: last.now + self.pause.1,
                    number: last.number + 1,
                    state: last.new_state,
                    packets_out: 0,
                    ..last
                };
                answers.push(flow.on(&last));
            }
            if number % 500 == 499 {
                for new_state in [state::RECOVERY, state::OPEN] {
                    let lost = u32::from(new_state == state::RECOVERY);
                    last = KernelEvent {
                        kind: kind::STATE,
                        now: last.now + 1_000_000,
                        number: last.number + 1,
                        state: last.new_state,
                        new_state,
                        lost_out: lost,
                        tp_lost: last.tp_lost.wrapping_add(lost),
                        ..last
                    };
                    answers.push(flow.on(&last));
                }
            }
            last = self.ack(&last, window, later);
            answers.push(flow.on(&last));
        }
        answers
    }
}

#[test]
fn the_origin_of_the_counters_does_not_matter() {
    for label in WINDOWS {
        let plain = Stream::PLAIN.run(label, 2000);
        for origin in [u32::MAX - 1000, u32::MAX - 100_000, 1 << 31] {
            let shifted = Stream { origin, ..Stream::PLAIN }.run(label, 2000);
            assert!(shifted == plain, "{label}, counters from {origin}");
        }
    }
}

#[test]
fn the_size_of_a_segment_does_not_matter() {
    for label in WINDOWS {
        let plain: Vec<u32> = Stream::PLAIN.run(label, 2000).iter().map(|answer| answer.cwnd).collect();
        let doubled = Stream { mss: 2 * 1448, ..Stream::PLAIN }.run(label, 2000);
        let doubled: Vec<u32> = doubled.iter().map(|answer| answer.cwnd).collect();
        assert_eq!(doubled, plain, "{label}");
    }
}

/// In the round trip after a pause a window grows by no more than it does without.
#[test]
fn a_pause_grows_no_window() {
    for label in WINDOWS {
        for seconds in [1, 15] {
            let at = 1200;
            let paused = Stream { pause: (at, seconds * 1_000_000_000), ..Stream::PLAIN }.run(label, at + 10);
            let plain = Stream::PLAIN.run(label, at + 10);
            let last = |answers: &[Answer]| answers[answers.len() - 1].cwnd;
            assert!(
                last(&paused) <= last(&plain) + 2,
                "{label}, a pause of {seconds} s: {} segments for {}",
                last(&paused),
                last(&plain)
            );
        }
    }
}
