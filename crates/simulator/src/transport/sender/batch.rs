//! A sender's part in a batch of ACKs: see `simulation::batch`.
//!
//! *When it applies.* To plain ACKs, each of which releases as many full segments as it
//! acknowledges. *What it skips.* The outgoing packets are not shown to the network one by one.
//! *Which test proves it equal.* `batches_change_nothing` in `simulation/batch.rs`.

use super::{Opportunity, Sender};
use crate::packet::{NO_EXTRA, Packet};
use crate::transport::Context;
use selfclock_congestion::units::Time;

/// Contents of an ACK of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Next byte expected.
    pub number: u64,
    /// The echoed timestamp.
    pub echo: Time,
    /// Its own timestamp.
    pub sent: Time,
    /// The window, if it grows.
    pub window: Option<u64>,
}

impl Sender {
    /// The number of full segments released by this ACK, the next to arrive, if it belongs to a
    /// batch: as many as it acknowledges. `None` otherwise.
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

    /// An ACK of a batch arrives. True: `segments` full segments leave
    /// and are outstanding, but have not yet entered the network. False: something else leaves, and
    /// [`Sender::leave_batch`] must follow.
    #[inline(never)]
    pub fn on_batch_ack(&mut self, context: &mut Context<'_>, told: &Told, segments: u64) -> bool {
        self.sample_before(context);
        self.outbox.note_ack(told.sent);
        self.take_plain_window(told.window);
        let told = (told.number, told.echo);
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
        let pause = self.recovery.outstanding().is_empty() && !self.congestion.limited_by_window;
        if RACK && !self.recovery.outstanding().is_plain() || self.wants_more() || pause {
            return false;
        }
        // The stop conditions, in the order of `transmit_plainly`.
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
        // The last segment of what the application has written has the PSH bit.
        if left == 0 && limit == produced {
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
        self.note_end(!ended_by_limit, pipe + size);
        if RACK {
            self.set_rack_timer(context, Opportunity::NewAck);
        }
        true
    }

    /// The last ACK was not one of the batch: sends what it releases.
    pub fn leave_batch(&mut self, context: &mut Context<'_>) {
        if self.recovery.uses_rack() {
            self.follow_plain_ack::<true>(context);
        } else {
            self.follow_plain_ack::<false>(context);
        }
    }

    /// Whether, as far as this sender knows, the next ACK may belong to a batch.
    #[inline]
    pub fn goes_on_with_batch(&self, packet: &Packet) -> bool {
        packet.sequence > self.recovery.una()
            && packet.sequence <= self.recovery.next()
            && packet.extra == NO_EXTRA
    }
}
