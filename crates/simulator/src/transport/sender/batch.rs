//! A sender's part in a batch of ACKs: see `simulation::batch`.
//!
//! *When it applies.* To plain ACKs, each of which acknowledges as many full segments as it then
//! lets go. *What it skips.* The packets that leave are not shown to the network one by one. *Which
//! test proves it equal.* `batches_change_nothing` in `simulation/batch.rs`.

use super::{Opportunity, Sender};
use crate::packet::{NO_EXTRA, Packet};
use crate::transport::Context;
use selfclock_congestion::units::Time;

impl Sender {
    /// The full segments that this ACK, the next to arrive, lets leave if it is one of a batch: as
    /// many as it acknowledges. `None`: it is none.
    pub fn batch_segments(&self, packet: &Packet) -> Option<u64> {
        let acknowledged = packet.sequence.checked_sub(self.recovery.una())?;
        let plain = self.plain == u32::MAX
            && self.is_plain_ack(packet)
            && self.receive_window >= self.mss
            && acknowledged.is_multiple_of(self.mss);
        plain.then_some(acknowledged / self.mss)
    }

    /// SND.NXT: the next new byte.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.recovery.next()
    }

    /// Bytes of a full segment on the wire, and of its payload.
    pub fn full_segment(&self) -> (u32, u64) {
        (self.mss as u32 + self.outbox.overhead(), self.mss)
    }

    /// An ACK of a batch arrives, with this number and this echo. True: this number of full
    /// segments leave, and are outstanding, but have not yet entered the network. False: something
    /// else will leave, and [`Sender::leave_batch`] comes next.
    #[inline(never)]
    pub fn on_batch_ack(&mut self, context: &mut Context<'_>, told: (u64, Time), segments: u64) -> bool {
        self.sample_before(context);
        if self.recovery.uses_rack() {
            self.take_batch_ack::<true>(context, told, segments)
        } else {
            self.take_batch_ack::<false>(context, told, segments)
        }
    }

    #[inline(always)]
    fn take_batch_ack<const RACK: bool>(
        &mut self,
        context: &mut Context<'_>,
        (acknowledgement, echo): (u64, Time),
        segments: u64,
    ) -> bool {
        self.take_plain_ack::<RACK>(context, acknowledgement, echo);
        if RACK && !self.recovery.outstanding().is_plain() || self.wants_more() {
            return false;
        }
        // The reasons for which sending ends, in the order in which `transmit_plainly` looks for
        // them.
        let next = self.recovery.next();
        let produced = self.application.produced(context.now, next);
        let limit = self.limit(produced);
        let (mss, pipe) = (self.mss, self.recovery.outstanding().pipe_bytes());
        let window = self.congestion.controller.window().get();
        let size = segments * mss;
        let Some(left) = limit.checked_sub(next + size) else { return false };
        if pipe + size > window {
            return false;
        }
        let ended_by_limit = left == 0 || (left < mss && limit < produced);
        if !ended_by_limit && (left < mss || pipe + size + mss <= window) {
            return false;
        }
        for _ in 0..segments {
            self.put_outstanding(context, mss);
        }
        self.totals.sent += segments;
        self.congestion.limited_by_window = !ended_by_limit;
        if RACK {
            self.set_rack_timer(context, Opportunity::NewAck);
        }
        true
    }

    /// The ACK that was taken last was not one of the batch: sends what it lets leave.
    pub fn leave_batch(&mut self, context: &mut Context<'_>) {
        if self.recovery.uses_rack() {
            self.follow_plain_ack::<true>(context);
        } else {
            self.follow_plain_ack::<false>(context);
        }
    }

    /// The next ACK may be one of a batch, too, as far as this sender knows.
    #[inline]
    pub fn goes_on_with_batch(&self, packet: &Packet) -> bool {
        packet.sequence > self.recovery.una()
            && packet.sequence <= self.recovery.next()
            && packet.extra == NO_EXTRA
    }
}
