//! A link whose queue holds its packets (see [`crate::queue::managed`]): they come at the time of the clock, and the
//! transmitter takes the next one when it is free.

use super::{Link, Rare};
use crate::packet::Packet;
use crate::record::series::{LinkSample, Rows};
use selfclock_congestion::units::Time;

impl Link {
    /// The transmitter has nothing to send at `now`.
    pub(in crate::network) fn is_free(&self, now: Time) -> bool {
        self.free_at <= now
    }

    /// When the transmitter will be free.
    pub(in crate::network) fn free_at(&self) -> Time {
        self.free_at
    }

    /// A packet arrives at the managed queue.
    pub(in crate::network) fn enqueue(&mut self, now: Time, packet: &Packet, samples: &mut Rows<LinkSample>) {
        self.sample_before(now, samples);
        let in_service = (!self.is_free(now)).then_some(self.recent_size);
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
        managed.enqueue(now, packet, in_service, waits);
    }

    /// The next packet of the managed queue.
    pub(in crate::network) fn dequeue(
        &mut self,
        now: Time,
        samples: &mut Rows<LinkSample>,
    ) -> Option<Packet> {
        self.sample_before(now, samples);
        self.managed_mut()?.dequeue(now)
    }
}
