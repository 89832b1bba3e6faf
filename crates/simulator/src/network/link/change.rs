//! Changes of a link's rate and delay.
//!
//! A packet takes the rate and the delay of the time at which its transmission begins. A drop-tail
//! link computes that time when the packet arrives, ahead of the clock. So its state is that of the
//! next transmission, and what it reports for an earlier time is computed from the changes until
//! then.

use super::imperfection::Imperfections;
use super::{Link, Rare};
use crate::plan::{LinkChange, LinkPlan};
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

/// The time from one change to the next.
#[derive(Clone, Copy, Debug)]
struct Period {
    from: Time,
    rate: Rate,
    delay: Duration,
    /// Integral of the rate before it, bit/s times ps.
    offered: u128,
    /// The part of it in which the transmitter was busy, and busy time before it, ps. Known once
    /// the period has begun at the transmitter.
    used: u128,
    busy: u64,
}

impl Period {
    /// The integral of the rate over this much of it.
    fn over(&self, picoseconds: u64) -> u128 {
        u128::from(self.rate.bits_per_second()) * u128::from(picoseconds)
    }
}

/// The changes of a link over the run.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    /// In the order of time; the first begins with the run.
    periods: Vec<Period>,
    /// The period of the next transmission.
    current: usize,
}

impl Changes {
    /// Those of a plan.
    pub fn new(plan: &LinkPlan) -> Self {
        let (rate, delay) = (plan.rate, plan.delay);
        let first = Period { from: Time::ZERO, rate, delay, offered: 0, used: 0, busy: 0 };
        let mut changes = Self { periods: vec![first], current: 0 };
        changes.plan(&plan.changes);
        changes
    }

    /// Replaces the changes that the transmitter has not reached by those of another plan.
    pub fn plan(&mut self, all: &[LinkChange]) {
        self.periods.truncate(self.current + 1);
        for change in all.iter().skip(self.current) {
            let Some(last) = self.periods.last() else { return };
            let offered = last.offered + last.over(change.at.since(last.from).picoseconds());
            let (rate, delay) = (change.rate, change.delay);
            self.periods.push(Period { from: change.at, rate, delay, offered, used: 0, busy: 0 });
        }
    }

    /// Time of the next change of the transmitter.
    #[inline]
    pub fn next(&self) -> Time {
        self.periods.get(self.current + 1).map_or(Time::NEVER, |period| period.from)
    }

    /// Time of the first change after `time`.
    pub fn after(&self, time: Time) -> Time {
        self.periods.get(self.index(time) + 1).map_or(Time::NEVER, |period| period.from)
    }

    fn index(&self, time: Time) -> usize {
        self.periods.partition_point(|period| period.from <= time).saturating_sub(1)
    }

    /// Rate at this time.
    pub fn rate_at(&self, time: Time) -> Rate {
        self.periods[self.index(time)].rate
    }

    /// Rate and delay of the next transmission.
    pub fn current(&self) -> (Rate, Duration) {
        let Period { rate, delay, .. } = self.periods[self.current];
        (rate, delay)
    }

    /// Passes the changes until `start`, the beginning of the next transmission, or a time before
    /// it. The transmitter was busy for `busy` ps in all, without a pause before `free_at`.
    fn pass(&mut self, start: Time, busy: u64, free_at: Time) {
        while self.next() <= start {
            let Period { from, used, busy: before, .. } = self.periods[self.current];
            let next = self.periods[self.current + 1].from;
            let busy = busy.saturating_sub(free_at.since(next.max(from)).picoseconds());
            let used = used + self.periods[self.current].over(busy.saturating_sub(before));
            self.current += 1;
            let period = &mut self.periods[self.current];
            (period.used, period.busy) = (used, busy);
        }
    }

    /// Bits, in bit/s times ps, that the transmitter could have sent until this time, and those of
    /// the time in which it was busy: `busy` ps. The changes until then must have been passed.
    fn used_and_offered_until(&self, time: Time, busy: u64) -> (u128, u128) {
        let period = &self.periods[self.index(time)];
        let used = period.used + period.over(busy.saturating_sub(period.busy));
        (used, period.offered + period.over(time.since(period.from).picoseconds()))
    }

    /// Utilization from one time to another, each with the busy time until then, ps.
    pub fn utilization(&self, (from, before): (Time, u64), (until, busy): (Time, u64)) -> f64 {
        let (used_before, offered_before) = self.used_and_offered_until(from, before);
        let (used, offered) = self.used_and_offered_until(until, busy);
        part_of(used.saturating_sub(used_before), offered - offered_before)
    }
}

/// Fraction of two large numbers, in lowest terms, so that equal fractions are equal to the bit: a
/// link of one rate has the fraction of time. 0 if nothing was offered.
fn part_of(used: u128, offered: u128) -> f64 {
    let (mut divisor, mut rest) = (offered, used);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    if offered == 0 { 0.0 } else { (used / divisor) as f64 / (offered / divisor) as f64 }
}

impl Link {
    pub(super) fn changes(&self) -> Option<&Changes> {
        self.imperfections()?.changes.as_ref()
    }

    /// Takes pending changes from another plan, which is identical up to now.
    pub fn change_plan(&mut self, new: &LinkPlan, seed: u64, index: usize) {
        self.count_recent();
        let free_at = self.free_at;
        let last_arrival = free_at + self.delay;
        let rare = self.rare();
        if rare.imperfections.is_none()
            && let Some(mut own) = Imperfections::new(new, seed, index)
        {
            if free_at > Time::ZERO {
                own.last_arrival = last_arrival;
            }
            rare.imperfections = Some(own);
        } else if let Some(own) = &mut rare.imperfections {
            own.changes.get_or_insert_with(|| Changes::new(new)).plan(&new.changes);
        }
        self.limit_plain(Time::ZERO);
    }

    /// Applies the changes of the path until `start`, the beginning of the next transmission, or a
    /// time before it.
    #[cold]
    pub(super) fn change_path(&mut self, start: Time) {
        // Packets counted so far took the time of the old rate.
        self.count_recent();
        let (busy, free_at) = (self.totals.busy, self.free_at);
        let Some(Rare { imperfections: Some(own), .. }) = self.rare.as_deref_mut() else { return };
        let Some(changes) = &mut own.changes else { return };
        changes.pass(start, busy, free_at);
        let (rate, delay) = changes.current();
        self.delay = delay;
        self.recent_time = rate.transmission_time(Bytes(self.recent_size.into()));
        self.most_wait = Duration::ZERO;
    }

    /// The discipline of a managed queue learns the rate at this time.
    #[inline]
    pub(super) fn tell_rate(&mut self, now: Time) {
        let Some(Rare { imperfections: Some(own), managed: Some(managed), .. }) = self.rare.as_deref_mut()
        else {
            return;
        };
        if let Some(changes) = &own.changes {
            managed.work.rate = changes.rate_at(now);
        }
    }
}
