//! Utilization and mean queue of a link, from a time of the run on.

use super::{Link, Rare, Totals, packet_order, part};
use crate::record::summary::DelaySummary;
use crate::transport::measured::Delays;
use selfclock_congestion::units::{PICOSECONDS_PER_SECOND, Time};

/// When a run's rates begin to count, and what the link had done by then.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    from: Time,
    before: Option<Progress>,
    /// Waits of the packets that arrive later, if measured.
    waits: Option<Delays>,
}

/// Totals of a link until a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    time: Time,
    /// Transmission time used, ps; with a trace or a bucket, bytes used.
    busy: u64,
    /// With a trace or a bucket: bytes offered.
    offered: u64,
    /// Sum of the waiting times, ps: of the packets kept, and of those dropped from the queue.
    waited: u128,
    dropped: u128,
    /// Packets accepted and not dropped from the queue.
    accepted: u64,
}

impl Progress {
    /// At the beginning of the run, of the link with this index.
    pub fn none(index: usize) -> Self {
        let accepted = packet_order(index, 0);
        Self { time: Time::ZERO, busy: 0, offered: 0, waited: 0, dropped: 0, accepted }
    }

    /// Time average of the waiting packets since another progress.
    pub fn mean_waiting(&self, before: &Self) -> f64 {
        let waited = (self.waited + self.dropped).saturating_sub(before.waited + before.dropped);
        waited as f64 / self.time.since(before.time).picoseconds() as f64
    }

    /// Mean waiting time of the packets accepted since another progress, s: what was waited since
    /// then, for each of them.
    pub fn mean_wait(&self, before: &Self) -> f64 {
        match self.accepted.saturating_sub(before.accepted) {
            0 => 0.0,
            accepted => {
                let waited = self.waited.saturating_sub(before.waited);
                waited as f64 / PICOSECONDS_PER_SECOND as f64 / accepted as f64
            }
        }
    }
}

impl Rare {
    /// Whether the wait of each packet is measured.
    #[inline]
    pub(super) fn measures_waits(&self) -> bool {
        self.measured.as_ref().is_some_and(|measured| measured.waits.is_some())
    }
}

impl Link {
    /// Measures utilization and queue from this time of the run on, and the wait of each packet or
    /// not.
    pub fn measured_from(mut self, from: Time, waits: bool) -> Self {
        if from > Time::ZERO || waits {
            let waits = waits.then(Delays::default);
            self.rare().measured = Some(Box::new(Measured { from, before: None, waits }));
        }
        if from > Time::ZERO {
            self.next_sample = self.next_sample.min(from);
            self.plain_until = self.plain_until.min(from);
        }
        if waits {
            // The shortcuts do not tell one wait from another.
            self.limit_plain(Time::ZERO);
        }
        self
    }

    /// The time from which the link is measured, if it has not come.
    pub(super) fn measures_at(&self) -> Option<Time> {
        let measured = self.rare.as_deref()?.measured.as_deref()?;
        (measured.from > Time::ZERO && measured.before.is_none()).then_some(measured.from)
    }

    /// A packet that arrived at `arrival` begins its transmission at `start`.
    #[inline]
    pub(super) fn note_wait(&mut self, arrival: Time, start: Time) {
        if let Some(Rare { measured: Some(measured), .. }) = self.rare.as_deref_mut()
            && arrival > measured.from
            && let Some(waits) = &mut measured.waits
        {
            waits.add(start.since(arrival));
        }
    }

    /// The waits, if measured.
    pub(super) fn waits(&self) -> Option<DelaySummary> {
        self.rare.as_deref()?.measured.as_deref()?.waits.as_ref()?.summary()
    }

    /// Notes what the link has done, at the time from which it is measured.
    pub(super) fn begin_measurement(&mut self, time: Time) {
        let progress = self.progress_at(time).0;
        if let Some(Rare { measured: Some(measured), .. }) = self.rare.as_deref_mut() {
            measured.before = Some(progress);
        }
    }

    /// Progress of the link of this index when its measurement began.
    pub(super) fn measured_before(&self, index: usize) -> Progress {
        let measured = self.rare.as_deref().and_then(|rare| rare.measured.as_deref());
        measured.and_then(|measured| measured.before).unwrap_or(Progress::none(index))
    }

    /// Progress of the link until `time`, its totals then, and the maximum of waiting packets.
    /// Recent packets must be in the totals, and the changes of the path until then applied.
    pub(super) fn progress_at(&self, time: Time) -> (Progress, Totals, u64) {
        let (totals, waited, dropped, most_waiting) = self.totals_at(time);
        let own = self.imperfections();
        let (busy, offered) = match own.map(|own| (&own.server, &own.bucket)) {
            Some((Some(server), _)) => server.used_and_offered_until(time),
            Some((_, Some(bucket))) => (totals.accepted_bytes, bucket.offered_until(time)),
            _ => (totals.busy, 0),
        };
        // A managed queue counts departures, and packets that wait are added; a drop-tail queue
        // counts arrivals.
        let waiting = self.managed().map_or(0, |managed| managed.work.backlog.packets);
        let accepted = self.totals.counted + waiting;
        (Progress { time, busy, offered, waited, dropped, accepted }, totals, most_waiting)
    }

    /// Utilization between two times.
    pub(super) fn utilization(&self, before: &Progress, until: &Progress) -> f64 {
        let busy = until.busy.saturating_sub(before.busy);
        if self.imperfections().is_some_and(|own| own.server.is_some() || own.bucket.is_some()) {
            return part(busy, until.offered - before.offered);
        }
        match self.changes() {
            Some(changes) => changes.utilization((before.time, before.busy), (until.time, until.busy)),
            None => part(busy, until.time.since(before.time).picoseconds()),
        }
    }
}
