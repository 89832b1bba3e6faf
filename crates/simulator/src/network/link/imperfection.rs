//! Imperfections of some links' wires: loss, jitter, changes of the path, and transmission at the
//! opportunities of a delivery trace.

use super::loss::Loss;
use super::{Entrance, Link, Rare, places};
use crate::delivery_trace::Server;
use crate::engine::Ring;
use crate::engine::random::{Purpose, Stream};
use crate::plan::{LinkChange, LinkPlan};
use crate::queue::MarkAbove;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

/// The imperfections of a link; most links have none.
#[derive(Clone, Debug)]
pub(super) struct Imperfections {
    loss: Option<Loss>,
    jitter: Duration,
    jitter_stream: Stream,
    last_arrival: Time,
    /// Times of losses not yet in the totals: a packet is lost when its transmission ends.
    losses: Ring<Time>,
    /// Pending changes, the next one last.
    changes: Vec<LinkChange>,
    /// Its opportunities, if it follows a trace.
    pub server: Option<Server>,
    /// Rate of the transmitter after the changes so far, if any.
    pub changed_rate: Option<Rate>,
    /// With a trace: whether a packet keeps its place in a drop-tail queue until its last byte has
    /// left, instead of its first.
    in_system: bool,
}

impl Imperfections {
    /// Those of this link; `None` if it has none.
    pub fn new(plan: &LinkPlan, seed: u64, index: usize) -> Option<Box<Self>> {
        let own = Self {
            loss: Loss::new(plan.loss, seed, index),
            jitter: plan.jitter,
            jitter_stream: Stream::new(seed, Purpose::LinkJitter, index),
            last_arrival: Time::ZERO,
            losses: Ring::default(),
            changes: plan.changes.iter().rev().copied().collect(),
            server: plan.trace.clone().map(Server::new),
            changed_rate: None,
            in_system: plan.counts_packet_in_service,
        };
        let has_any = !(own.only_delays() && own.jitter.is_zero());
        has_any.then(|| Box::new(own))
    }

    /// Whether delay is its only effect on packets.
    #[inline]
    pub fn only_delays(&self) -> bool {
        self.loss.is_none() && self.changes.is_empty() && self.server.is_none() && self.losses.is_empty()
    }

    /// Whether the next packet, whose transmission ends at `end`, is lost on the wire.
    #[inline]
    pub fn loses(&mut self, end: Time) -> bool {
        let is_lost = self.loss.as_mut().is_some_and(Loss::strikes);
        if is_lost {
            self.losses.push(end);
        }
        is_lost
    }

    /// Arrival of a packet that without jitter would arrive at `arrival`.
    #[inline]
    pub fn delayed(&mut self, arrival: Time) -> Time {
        let mut arrival = arrival;
        if !self.jitter.is_zero() {
            arrival += self.jitter_stream.duration_below(self.jitter);
        }
        // A link never reorders, whatever the jitter or a shorter path.
        arrival = arrival.max(self.last_arrival);
        self.last_arrival = arrival;
        arrival
    }

    /// New losses until `time`.
    pub fn losses_until(&mut self, time: Time) -> u64 {
        let mut count = 0;
        while self.losses.front().is_some_and(|&lost| lost <= time) {
            self.losses.drop_front();
            count += 1;
        }
        count
    }

    /// Packets in transmission at `now` that will be lost.
    pub fn losses_after(&self, now: Time) -> usize {
        self.losses.iter().filter(|&&lost| lost > now).count()
    }

    /// Time of the next change of the path.
    pub fn next_change(&self) -> Time {
        self.changes.last().map_or(Time::NEVER, |change| change.at)
    }

    /// Rate after changes of the path until `now`, if any.
    pub fn rate_at(&self, now: Time) -> Option<Rate> {
        let come = self.changes.iter().rev().take_while(|change| change.at <= now);
        come.last().map(|change| change.rate)
    }
}

impl Link {
    /// Takes pending changes from another plan, which is identical up to now.
    pub fn change_plan(&mut self, old: &LinkPlan, new: &LinkPlan, seed: u64, index: usize) {
        if let Some(own) = self.imperfections_mut() {
            let come = old.changes.len() - own.changes.len();
            own.changes = new.changes[come..].iter().rev().copied().collect();
            return;
        }
        if let Some(mut own) = Imperfections::new(new, seed, index) {
            if self.free_at > Time::ZERO {
                own.last_arrival = self.free_at + self.delay;
            }
            self.rare().imperfections = Some(own);
        }
        self.limit_plain(Time::ZERO);
    }

    /// Applies the changes of the path due at `now`.
    #[cold]
    pub(super) fn change_path(&mut self, now: Time) {
        // Packets counted so far took the time of the old rate.
        self.count_recent();
        let Some(Rare { imperfections: Some(own), .. }) = self.rare.as_deref_mut() else { return };
        while own.next_change() <= now
            && let Some(change) = own.changes.pop()
        {
            (own.changed_rate, self.delay) = (Some(change.rate), change.delay);
        }
        self.recent_time = self.current_rate().transmission_time(Bytes(self.recent_size.into()));
        self.most_wait = Duration::ZERO;
    }

    /// Like [`Link::enter`], on a link that follows a trace: every packet waits for an opportunity.
    #[cold]
    pub(super) fn enter_with_trace(&mut self, now: Time, size: u32) -> Option<Entrance> {
        let Rare { imperfections: Some(own), managed, .. } = self.rare.as_deref_mut()? else { return None };
        let server = own.server.as_mut()?;
        let mut above = false;
        // A managed queue hands over a packet at its opportunity.
        let is_drop_tail = managed.is_none();
        if is_drop_tail {
            server.skip_until(now);
            if !self.queue.admits(now, size, 0, places(&self.settings)) {
                return None;
            }
            above = match self.settings.discipline.mark_above() {
                None => false,
                Some(MarkAbove::Packets(threshold)) => self.queue.packets() > threshold,
                Some(MarkAbove::Wait(threshold)) => server.next().since(now) > threshold,
            };
        }
        let (start, end) = server.serve(size);
        self.free_at = server.next();
        self.order += 1;
        self.totals.counted += 1;
        self.totals.accepted_bytes += u64::from(size);
        if is_drop_tail {
            let left = if own.in_system { end } else { start };
            self.queue.add(left, size, Duration::ZERO, 0);
            self.most_waiting = self.most_waiting.max(self.queue.packets() as u32);
            self.waited += u128::from(left.since(now).picoseconds());
        }
        Some(Entrance { start, end, above })
    }
}
