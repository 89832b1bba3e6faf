//! Shortcuts of [`Link::accept`]: the same result for the usual packet in fewer steps.
//!
//! Each returns the packet's arrival at the far end, or `None`: it does not apply, the state is
//! unchanged, and the next shortcut or `accept` must be tried. The test below,
//! `shortcuts_equal_accept`, runs random packets through random links both ways and compares
//! departures, samples, totals and drops.

use super::{Link, Rare, places};
use crate::record::series::{LinkSample, Rows};
use selfclock_congestion::units::Time;

impl Link {
    /// Disables the shortcut [`Link::accept_plain`] from this time on.
    pub(in crate::network) fn limit_plain(&mut self, until: Time) {
        self.plain_limit = self.plain_limit.min(until);
        self.plain_until = self.plain_until.min(until);
    }

    /// A packet of `size` bytes arrives at `now`, not before the previous one.
    ///
    /// Applies until `plain_until` (no sample is due, and the link has no imperfections), to a
    /// packet of the previous size that finds the transmitter free, or waits behind packets of its
    /// size, no longer than an earlier one has. Skips the checks for samples, imperfections and
    /// marks, the computation of the transmission time, the queue's served packets, and the maximum
    /// of waiting packets, which cannot grow.
    #[inline(always)]
    pub(in crate::network) fn accept_plain(&mut self, now: Time, size: u32) -> Option<Time> {
        if now >= self.plain_until || size != self.recent_size {
            return None;
        }
        if self.free_at > now {
            let wait = self.free_at.since(now);
            if wait > self.most_wait || !self.queue.extend(self.free_at, size) {
                return self.accept_waiting(now, size);
            }
            self.waited += u128::from(wait.picoseconds());
            self.order += 1;
            self.free_at = self.free_at.after(self.recent_time);
            return Some(self.free_at.after(self.delay));
        }
        self.order += 1;
        // Served packets are dropped from the queue when the next packet has to wait.
        self.free_at = now.after(self.recent_time);
        Some(self.free_at.after(self.delay))
    }

    /// Applies where [`Link::accept_plain`] does, to a packet that waits longer than any before it
    /// or behind packets of another size, if the link does not mark. Skips the checks for samples
    /// and imperfections, and the computation of the transmission time.
    #[inline(never)]
    fn accept_waiting(&mut self, now: Time, size: u32) -> Option<Time> {
        if self.marks || !self.queue.admits(now, size, size, places(&self.settings)) {
            return None;
        }
        self.wait(now, size, size);
        self.order += 1;
        self.free_at += self.recent_time;
        Some(self.free_at + self.delay)
    }

    /// Takes the samples due before the packet.
    ///
    /// Then applies where `accept_plain` does, and to a packet of any size on a link without
    /// marking and with at most a delay as imperfection. Skips the loss process, the changes of the
    /// path and the counting of losses: there are none.
    #[inline]
    pub(in crate::network) fn accept_simple(
        &mut self,
        now: Time,
        size: u32,
        samples: &mut Rows<LinkSample>,
    ) -> Option<Time> {
        if self.next_sample < now {
            self.sample_before(now, samples);
            if let Some(arrival) = self.accept_plain(now, size) {
                return Some(arrival);
            }
        }
        if self.marks || !self.rare.as_deref().is_none_or(Rare::only_delays) {
            return None;
        }
        let arrival = self.enter(now, size)?.end + self.delay;
        Some(self.imperfections_mut().map_or(arrival, |own| own.delayed(arrival)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery_trace::DeliveryTraceBuilder;
    use crate::network::link::Passage;
    use crate::plan::{LinkChange, LinkPlan, LinkSettings, LossPlan};
    use crate::queue::{DisciplinePlan, MarkAbove, QueueLimit};
    use crate::record::series::Sampling;
    use crate::subset::Subset;
    use proptest::prelude::*;
    use selfclock_congestion::units::{Bytes, Duration, Rate};
    use std::cell::Cell;
    use std::sync::Arc;

    /// 8 Mbit/s: a byte takes a microsecond.
    const RATE: Rate = Rate::from_bits_per_second(8_000_000);
    /// Length of a test run.
    const LENGTH_US: u64 = 60_000;

    fn us(microseconds: u64) -> Time {
        Time::ZERO + Duration::from_microseconds(microseconds)
    }

    fn limits() -> impl Strategy<Value = QueueLimit> {
        prop_oneof![
            Just(QueueLimit::Unlimited),
            (1_u64..12).prop_map(QueueLimit::Packets),
            (40_u64..9000).prop_map(|bytes| QueueLimit::Bytes(Bytes(bytes))),
        ]
    }

    fn disciplines() -> impl Strategy<Value = DisciplinePlan> {
        prop_oneof![
            4 => Just(DisciplinePlan::default()),
            1 => (0_u64..6).prop_map(|packets| DisciplinePlan::marking(MarkAbove::Packets(packets))),
            1 => (0_u64..5000).prop_map(|us| DisciplinePlan::marking(MarkAbove::Wait(Duration::from_microseconds(us)))),
        ]
    }

    prop_compose! {
        /// Properties beyond a queue and a delay: mostly none.
        fn imperfections()(
            loss in prop_oneof![4 => Just(LossPlan::None), 1 => (0.0..0.5).prop_map(LossPlan::Bernoulli)],
            jitter_us in prop_oneof![3 => Just(0), 1 => 1_u64..5000],
            changes in prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec((0..LENGTH_US / 4, 1_u64..40, 0_u64..20), 1..6)],
            trace in prop::option::weighted(0.1, prop::collection::vec((1_u64..4, 1_u64..3), 1..5)),
        ) -> LinkSettings {
            let mut at_us = 0;
            let changes = changes.into_iter().map(|(gap, megabits, delay)| {
                at_us += gap;
                LinkChange {
                    at: us(at_us),
                    rate: Rate::from_bits_per_second(megabits * 1_000_000),
                    delay: Duration::from_milliseconds(delay),
                }
            });
            let changes = changes.collect();
            let trace = trace.map(|steps| {
                let (mut builder, mut at) = (DeliveryTraceBuilder::default(), 0);
                for (step, count) in steps {
                    at += step;
                    builder.add(at, count).expect("a step");
                }
                Arc::new(builder.build().expect("a trace"))
            });
            let jitter = Duration::from_microseconds(jitter_us);
            LinkSettings { loss, jitter, changes, trace, ..LinkSettings::new(RATE, Duration::ZERO) }
        }
    }

    prop_compose! {
        fn links()(
            imperfect in imperfections(), is_perfect in prop::bool::weighted(0.6), delay_us in 0_u64..20_000,
            queue in limits(), discipline in disciplines(), counts_packet_in_service: bool,
        ) -> LinkPlan {
            let plain = LinkSettings::new(RATE, Duration::ZERO);
            let delay = Duration::from_microseconds(delay_us);
            let plan = if is_perfect { plain } else { imperfect };
            let settings = LinkSettings { delay, queue, discipline, counts_packet_in_service, ..plan };
            LinkPlan::of("link", (0, 1), settings)
        }
    }

    /// Times between packets, us, and sizes: mostly bursts of one size at about the link's rate.
    fn packets() -> impl Strategy<Value = Vec<(u64, u32)>> {
        let gap = prop_oneof![3 => Just(0_u64), 6 => Just(1000), 2 => Just(40), 2 => 900_u64..1100, 1 => 0_u64..12_000];
        let size = prop_oneof![6 => Just(1000_u32), 2 => Just(40), 1 => 1_u32..1500];
        prop::collection::vec((gap, size), 1..120)
    }

    /// A way to hand a packet to a link.
    type Accept<'a> = &'a dyn Fn(&mut Link, Time, u32, &mut Rows<LinkSample>) -> Passage;

    /// A link's reports: the passage of each packet, and the state at the end.
    fn outcome(
        plan: &LinkPlan,
        interval_us: Option<u64>,
        plain_until_us: u64,
        packets: &[(u64, u32)],
        accept: Accept<'_>,
    ) -> String {
        let sampling = interval_us.map(|us| {
            let interval = Duration::from_microseconds(us);
            Sampling { interval, expected: (LENGTH_US / us) as usize }
        });
        let mut link = Link::new(plan, 1, 0, sampling);
        link.limit_plain(us(plain_until_us));
        let mut samples = Rows::new(Subset::default(), 1, sampling);
        let (mut now, mut told) = (0, String::new());
        for &(gap, size) in packets {
            now += gap;
            let passage = accept(&mut link, us(now), size, &mut samples);
            // The start of transmission is for packet records, which disable shortcuts.
            told += &match passage {
                Passage::Crosses { arrival, above, .. } => format!("{arrival:?} {above}\n"),
                other => format!("{other:?}\n"),
            };
        }
        // The run ends while packets wait.
        let summary = link.finish((0, &plan.name), us(now), &mut samples);
        format!("{told}{summary:?}\n{:?}", samples.of(0).collect::<Vec<_>>())
    }

    fn by_accept(link: &mut Link, now: Time, size: u32, samples: &mut Rows<LinkSample>) -> Passage {
        link.accept(now, size, samples)
    }

    /// Like a network.
    fn by_shortcuts(
        taken: &[Cell<u32>; 2],
    ) -> impl Fn(&mut Link, Time, u32, &mut Rows<LinkSample>) -> Passage {
        |link, now, size, samples| {
            let plain = link.accept_plain(now, size).inspect(|_| taken[0].set(taken[0].get() + 1));
            let simple = |link: &mut Link, samples: &mut Rows<LinkSample>| {
                let arrival = link.accept_simple(now, size, samples);
                arrival.inspect(|_| taken[1].set(taken[1].get() + 1))
            };
            match plain.or_else(|| simple(link, samples)) {
                Some(arrival) => Passage::Crosses { start: Time::NEVER, arrival, above: false },
                None => link.accept(now, size, samples),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]
        #[test]
        fn shortcuts_equal_accept(
            plan in links(), packets in packets(),
            interval_us in prop::option::of(100_u64..20_000), plain_until_us in prop_oneof![3 => Just(u64::MAX / 2_000_000), 1 => 0..LENGTH_US],
        ) {
            let taken = [Cell::new(0), Cell::new(0)];
            let expected = outcome(&plan, interval_us, plain_until_us, &packets, &by_accept);
            let found = outcome(&plan, interval_us, plain_until_us, &packets, &by_shortcuts(&taken));
            prop_assert_eq!(found, expected);
        }
    }

    /// A full pipe takes the shortcuts, and the comparison detects a wrong one: here the maximum of
    /// waiting packets is never counted, as if any wait had occurred before.
    #[test]
    fn the_comparison_can_fail() {
        let plan = LinkPlan::new("link", (0, 1), RATE, Duration::ZERO);
        let packets: Vec<(u64, u32)> = (0..50).map(|number| (number % 3 * 600, 1000)).collect();
        let run = |accept: Accept<'_>| outcome(&plan, Some(7000), LENGTH_US, &packets, accept);
        let taken = [Cell::new(0), Cell::new(0)];
        let shortcuts = by_shortcuts(&taken);
        let expected = run(&by_accept);
        assert_eq!(run(&shortcuts), expected);
        assert!(taken[0].get() > 20 && taken[1].get() > 0, "{taken:?}");
        let wrong = run(&|link, now, size, samples| {
            link.most_wait = Duration::MAX;
            shortcuts(link, now, size, samples)
        });
        assert_ne!(wrong, expected);
    }
}
