//! The shortcut for plain ACKs against the general path, step by step.

use super::Sender;
use super::tests::{MSS, Rig, transport};
use crate::packet::{Extra, Flags, PacketKind};
use crate::plan::{Activity, Period, ReceiveWindow, Recovery, RttSamples, Source, Transport};
use proptest::prelude::*;
use selfclock_congestion::{Bytes, Duration, Rate, Selection, Time};

/// Events of a sender: an ACK of this many more segments (less a fraction), this many duplicates of
/// the last, one with a SACK block, one that closes the window; each this many milliseconds after
/// the last.
#[derive(Clone, Copy, Debug)]
enum Step {
    New { segments: u64, less: u64 },
    Duplicates(u64),
    Sack { first: u64, segments: u64 },
    CloseWindow,
    Silence,
}

impl Rig {
    /// Applies the step; true if the shortcut applies to it.
    fn take(&mut self, time: u64, step: Step) -> bool {
        self.run_until(time);
        let (una, next) = (self.sender.recovery.una(), self.sender.recovery.next());
        if self.flags.has(Flags::WINDOW) {
            // The window in place of a count of marks: it grows for a while.
            self.marked = self.marked.max(((3 * una).min(60 * MSS) + 65 * MSS) as u32);
        }
        match step {
            Step::New { segments, less } => {
                let byte = (una + segments * MSS).saturating_sub(less).clamp(una, next);
                let plain = self.sender.plain == u32::MAX
                    && byte > una
                    && self.sender.sends_plainly()
                    && self.sender.recovery.outstanding().is_plain();
                self.arrive(time, PacketKind::Ack, byte, None);
                return plain;
            }
            Step::Duplicates(count) => {
                for _ in 0..count {
                    self.arrive(time, PacketKind::Ack, una, None);
                }
            }
            Step::Sack { first, segments } => {
                let first = (una / MSS + first) * MSS;
                let mut extra = Extra { sack_blocks: 1, ..Extra::default() };
                extra.sack[0] = (first, (first + segments * MSS).min(next));
                self.arrive(time, PacketKind::Ack, una, Some(extra));
            }
            Step::CloseWindow => self.close_window(time, una),
            Step::Silence => {}
        }
        false
    }

    /// Segments sent since the last call, and all state that determines the next ones.
    fn state(&mut self) -> String {
        let sent = self.sent();
        let Sender { recovery, estimators, congestion, totals, completed, receive_window, .. } = &self.sender;
        let timers = [self.sender.retransmission_timer, self.sender.rack_timer].map(|timer| timer.deadline());
        let rtt = &estimators.rtt;
        format!(
            "{sent:?} {timers:?} {totals:?} {completed:?} {receive_window} {:?} {:?} {:?}",
            (recovery.una(), recovery.next(), recovery.outstanding()),
            (rtt.smoothed(), rtt.minimum(), rtt.timeout(), estimators.timed),
            (
                (congestion.limited_by_window, congestion.usage),
                congestion.controller.decision(),
                congestion.controller.snapshot()
            ),
        )
    }
}

/// Shows the same steps to two senders, one of which takes no shortcut, and compares what they send
/// and decide. The other is modified first. Returns the number of plain ACKs, and the step at which
/// the two diverge.
fn compare_with_general_way(
    (control, source, settings): (&Selection, Source, &Transport),
    steps: &[(u64, Step)],
    change: fn(&mut Sender),
) -> (usize, Option<usize>) {
    let [mut rig, mut general] =
        [(); 2].map(|()| Rig::with(control.clone(), source.clone(), settings.clone()));
    change(&mut rig.sender);
    general.sender.take_no_shortcut();
    if settings.receive_window == ReceiveWindow::Auto {
        (rig.flags, general.flags) = (Flags::WINDOW, Flags::WINDOW);
    }
    let (mut time, mut plain) = (0, 0);
    for (number, &(wait, step)) in steps.iter().enumerate() {
        time += wait;
        plain += usize::from(rig.take(time, step));
        general.take(time, step);
        if rig.state() != general.state() {
            return (plain, Some(number));
        }
    }
    (plain, None)
}

prop_compose! {
    fn settings()(
        recovery in prop::sample::select(vec![
            Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack, Recovery::Rack,
        ]),
        initial_window in 1_u64..40, prr: bool, limited_transmit: bool, grow_only_when_limited: bool,
        one_at_a_time: bool, handshake in Just(false), window in 4_u64..80, more in 0_u64..MSS, grows: bool,
    ) -> Transport {
        let mut settings = Transport {
            prr, limited_transmit, grow_only_when_limited, handshake,
            receive_window: if grows {
                ReceiveWindow::Auto
            } else {
                ReceiveWindow::Fixed(Bytes(window * MSS + more))
            },
            ..transport(recovery, initial_window as f64)
        };
        settings.timer.samples = if one_at_a_time { RttSamples::OneAtATime } else { RttSamples::EverySegment };
        settings
    }
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        20 => (1_u64..4, prop_oneof![4 => Just(0), 1 => 0..MSS])
            .prop_map(|(segments, less)| Step::New { segments, less }),
        1 => (10_u64..60).prop_map(|segments| Step::New { segments, less: 0 }),
        1 => (1_u64..6).prop_map(Step::Duplicates),
        2 => (1_u64..12, 1_u64..6).prop_map(|(first, segments)| Step::Sack { first, segments }),
        1 => Just(Step::CloseWindow),
        1 => Just(Step::Silence),
    ];
    let wait = prop_oneof![8 => 0_u64..5, 2 => 20_u64..200, 1 => 500_u64..3000];
    prop::collection::vec((wait, step), 1..80)
}

fn sources() -> impl Strategy<Value = Source> {
    let rate = || (10_000_u64..50_000_000).prop_map(Rate::from_bits_per_second);
    prop_oneof![
        3 => Just(Source::Bulk),
        1 => (1_u64..200_000).prop_map(|bytes| Source::Size(Bytes(bytes))),
        1 => rate().prop_map(Source::Rate),
        1 => (1_u64..3000, 1_u64..3000).prop_map(|(pause, length)| {
            let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
            let periods = [
                (at(0), Activity::Bulk),
                (at(pause), Activity::Silence),
                (at(pause + length), Activity::Bulk),
            ];
            Source::Steps(periods.map(|(from, activity)| Period { from, activity }).as_slice().into())
        }),
        1 => (rate(), 1_u64..50_000).prop_map(|(rate, size)| Source::Writes { rate, size: Bytes(size) }),
        // With pauses of seconds, after which all of a large write may leave.
        1 => (10_000_u64..500_000, 50_000_u64..300_000).prop_map(|(rate, size)| Source::Writes {
            rate: Rate::from_bits_per_second(rate),
            size: Bytes(size),
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    /// The shortcut for plain ACKs equals the general path: same segments, timers, RTTs and
    /// windows.
    #[test]
    fn plain_acks_take_no_part_in_the_result(
        window in prop::sample::select(vec!["reno", "cubic", "highspeed", "vegas", "bic", "altcp"]),
        source in sources(), settings in settings(), steps in steps(),
    ) {
        let control = Selection::new("slow-start", window).expect("known names");
        let (_, parts) = compare_with_general_way((&control, source, &settings), &steps, |_| {});
        prop_assert_eq!(parts, None);
    }
}

/// The comparison takes the shortcut on most ACKs, and detects it where it does not apply: on a
/// paced sender.
#[test]
fn the_comparison_sees_a_shortcut_that_does_not_apply() {
    let control = Selection::new("slow-start", "reno").expect("known names");
    let steps = [(10, Step::New { segments: 2, less: 0 }); 50];
    let settings = transport(Recovery::Rack, 10.0);
    let (plain, parts) = compare_with_general_way((&control, Source::Bulk, &settings), &steps, |_| {});
    assert_eq!((plain, parts), (50, None));
    let spaced = Transport { pacing_gain: Some(1.0), ..settings };
    let (plain, _) = compare_with_general_way((&control, Source::Bulk, &spaced), &steps, |_| {});
    assert_eq!(plain, 0, "a sender that is spaced has no plain ACKs");
    let (_, parts) = compare_with_general_way((&control, Source::Bulk, &spaced), &steps, |sender| {
        sender.window_alone = true
    });
    assert!(parts.is_some());
}
