//! A link whose queue holds its packets (see [`crate::queue::managed`]): they arrive at the clock's
//! time, and a free transmitter takes the next one.

use super::{Link, Rare};
use crate::packet::Packet;
use crate::queue::managed::Decision;
use crate::record::series::{LinkSample, Rows};
use selfclock_congestion::units::Time;

impl Link {
    /// Whether the transmitter is idle at `now`.
    pub(in crate::network) fn is_free(&self, now: Time) -> bool {
        self.free_at <= now
    }

    /// When the transmitter becomes free.
    pub(in crate::network) fn free_at(&self) -> Time {
        self.free_at
    }

    /// A packet arrives at the managed queue.
    pub(in crate::network) fn enqueue(&mut self, now: Time, packet: &Packet, samples: &mut Rows<LinkSample>) {
        self.catch_up(now, samples);
        self.sample_before(now, samples);
        self.queue.serve_until(now);
        let in_service = (!self.is_free(now)).then(|| self.queue.in_service(self.recent_size));
        let passed = (self.queue.packets(), self.queue.bytes());
        let Self { free_at, rare, .. } = self;
        let Some(Rare { imperfections, managed: Some(managed), .. }) = rare.as_deref_mut() else { return };
        let (in_service, waits) = match imperfections.as_mut().and_then(|own| own.server.as_mut()) {
            None => (in_service, in_service.is_some()),
            Some(server) => {
                server.skip_until(now);
                *free_at = server.next();
                (server.in_service(now), true)
            }
        };
        managed.enqueue(now, packet, in_service, waits, passed);
    }

    /// Shortcut of [`Link::enqueue`] and of the [`Link::dequeue`] that would follow: where the
    /// discipline can decide a packet's fate now, it need not be held until its turn.
    ///
    /// Applies where nothing is held, the link has no imperfections and packets are not recorded;
    /// for most disciplines, where the transmitter is free as well. Packets that have passed wait
    /// in the drop-tail queue, whose times are known. `Some`: when the packet is at the far end,
    /// unless it is dropped. `queues_decide_alike` in `tests/queues.rs` runs networks with and
    /// without it.
    #[inline]
    pub(in crate::network) fn decide(
        &mut self,
        now: Time,
        packet: &mut Packet,
        samples: &mut Rows<LinkSample>,
    ) -> Option<Option<Time>> {
        let rare = self.rare.as_deref()?;
        let Rare { imperfections: None, managed: Some(managed), .. } = rare else {
            return None;
        };
        if rare.measures_waits() || !managed.is_empty() || self.free_at > now && !managed.decides {
            return None;
        }
        self.catch_up(now, samples);
        self.sample_before(now, samples);
        let Self { queue, rare, .. } = self;
        let managed = rare.as_deref_mut()?.managed.as_mut()?;
        queue.serve_until(now);
        let start = self.free_at.max(now);
        let in_service = (self.free_at > now).then(|| queue.in_service(self.recent_size));
        let passed = (queue.packets(), queue.bytes());
        match managed.decide(now, packet, start, in_service, passed) {
            Decision::Later => None,
            Decision::Dropped => Some(None),
            Decision::Passes => {
                self.take_place(now, packet.size.into());
                Some(Some(self.free_at + self.delay))
            }
        }
    }

    /// Runs the discipline's own timers up to now, on the backlog they would have seen among
    /// packets that took the shortcut. Must precede any service; samples due earlier come first.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Time, samples: &mut Rows<LinkSample>) {
        while let Some(due) = self.managed().map(|managed| managed.due)
            && due <= now
        {
            self.sample_before(due, samples);
            self.update(due, now);
        }
        self.tell_rate(now);
    }

    /// [`Link::catch_up`] for a sample, before which no other is due. A sample serves the queue up
    /// to its time, so it would otherwise hide packets from updates due before.
    pub(super) fn update_until(&mut self, now: Time) {
        while let Some(due) = self.managed().map(|managed| managed.due)
            && due <= now
        {
            self.update(due, now);
        }
    }

    /// Runs the discipline's own timers from `due` on, as far as nothing changes, at most to `now`.
    fn update(&mut self, due: Time, now: Time) {
        // Packets that leave at that very time leave after it.
        self.queue.serve_until(Time::from_picoseconds(due.picoseconds().saturating_sub(1)));
        let unchanged = self.changes().map_or(Time::NEVER, |changes| changes.after(due));
        let until = if !self.queue.is_empty() {
            due
        } else if unchanged <= now {
            Time::from_picoseconds(unchanged.picoseconds() - 1)
        } else {
            now
        };
        self.tell_rate(due);
        let passed = (self.queue.packets(), self.queue.bytes());
        let Some(managed) = self.managed_mut() else { return };
        managed.catch_up(until, passed);
    }

    /// The next packet of the managed queue.
    pub(in crate::network) fn dequeue(
        &mut self,
        now: Time,
        samples: &mut Rows<LinkSample>,
    ) -> Option<Packet> {
        self.catch_up(now, samples);
        self.sample_before(now, samples);
        let packet = self.managed_mut()?.dequeue(now)?;
        self.note_wait(packet.arrival, now);
        Some(packet)
    }
}
