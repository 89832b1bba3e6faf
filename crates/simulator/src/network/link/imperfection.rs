//! Imperfections of some links' wires: loss, jitter, a limit on what is on its way, changes of the
//! path, transmission at the opportunities of a delivery trace or with the tokens of a bucket.

use super::bucket::Bucket;
use super::change::Changes;
use super::loss::Loss;
use super::{Entrance, Link, Rare, places};
use crate::delivery_trace::Server;
use crate::engine::Ring;
use crate::engine::random::{Purpose, Stream};
use crate::plan::LinkPlan;
use crate::queue::MarkAbove;
use selfclock_congestion::units::{Duration, Time};

/// The imperfections of a link; most links have none.
#[derive(Clone, Debug)]
pub(super) struct Imperfections {
    loss: Option<Loss>,
    jitter: Duration,
    jitter_stream: Stream,
    pub last_arrival: Time,
    /// Times of losses not yet in the totals: a packet is lost when its transmission ends.
    losses: Ring<Time>,
    /// The most packets on the link, and when those in transmission and on the wire arrive.
    total_limit: Option<u64>,
    arrivals: Ring<Time>,
    /// Changes of the path, if any.
    pub changes: Option<Changes>,
    /// Its opportunities, if it follows a trace.
    pub server: Option<Server>,
    /// Its token bucket, if it shapes with one.
    pub bucket: Option<Bucket>,
    /// With a trace: whether a packet keeps its place in a drop-tail queue until its last byte has
    /// left, instead of its first.
    in_system: bool,
    /// Whether delay and changes of the path are all it has.
    is_simple: bool,
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
            total_limit: plan.total_limit,
            arrivals: Ring::default(),
            changes: (!plan.changes.is_empty()).then(|| Changes::new(plan)),
            server: plan.trace.clone().map(Server::new),
            bucket: Bucket::new(plan),
            in_system: plan.counts_packet_in_service,
            is_simple: false,
        };
        let is_simple =
            own.loss.is_none() && own.server.is_none() && own.bucket.is_none() && own.total_limit.is_none();
        let own = Self { is_simple, ..own };
        let has_any = !(own.only_delays() && own.jitter.is_zero());
        has_any.then(|| Box::new(own))
    }

    /// Whether delay is its only effect on packets.
    #[inline]
    pub fn only_delays(&self) -> bool {
        self.is_simple && self.next_change() == Time::NEVER
    }

    /// Whether jitter is all it has.
    #[inline]
    pub fn only_jitters(&self) -> bool {
        self.is_simple && self.changes.is_none()
    }

    /// Whether the next packet, whose transmission ends at `end`, is lost on the wire.
    #[inline]
    pub fn loses(&mut self, end: Time) -> bool {
        let is_lost = self.loss.as_mut().is_some_and(|loss| loss.strikes(end));
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
        if self.total_limit.is_some() {
            self.arrivals.push(arrival);
        }
        arrival
    }

    /// Whether the link holds as many packets as it may; `waiting` of them in its managed queue.
    fn is_full(&mut self, now: Time, waiting: u64) -> bool {
        let Some(limit) = self.total_limit else { return false };
        while self.arrivals.front().is_some_and(|&arrival| arrival <= now) {
            self.arrivals.drop_front();
        }
        (self.arrivals.len() + self.losses_after(now)) as u64 + waiting >= limit
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
    #[inline]
    pub fn next_change(&self) -> Time {
        self.changes.as_ref().map_or(Time::NEVER, Changes::next)
    }
}

impl Link {
    /// Whether the link holds as many packets as it may, waiting and on the wire.
    #[inline]
    pub(in crate::network) fn is_full(&mut self, now: Time) -> bool {
        let Some(Rare { imperfections: Some(own), managed, .. }) = self.rare.as_deref_mut() else {
            return false;
        };
        own.is_full(now, managed.as_ref().map_or(0, |managed| managed.work.backlog.packets))
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
