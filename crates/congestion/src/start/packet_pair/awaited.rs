//! The pair that a sender of one pair at a time waits for.
//!
//! Figure 5 of the paper has one pair in a round trip: at 0.300, 0.540 and 0.780, each when the
//! reply to the one before it arrives. Its text has the segment at 0.900 sent "by leaky bucket
//! scheme", although the window opens by two segments then, which would be a pair if a sender did
//! not wait.
//!
//! The paper does not say when a pair without a reply is given up. What it says of the reply is
//! that "the acknowledgement of packet with packet pair 2 type option is transmitted with packet
//! pair reply type option": so an ACK that covers the second segment is the answer, with the
//! interval or, if the first segment did not arrive before it, without.

use super::UnansweredPair;
use crate::event::Acknowledged;
use crate::units::{Bytes, Duration, Time};

/// A pair on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    id: u8,
    /// When its second segment left; not known before that.
    sent: Option<Time>,
    /// Payload sent after it.
    after: Bytes,
    /// First byte after the pair, known from the first ACK after it left.
    end: Option<Bytes>,
}

impl Awaited {
    /// The pair with this id, whose second segment is about to leave.
    pub(super) const fn new(id: u8) -> Self {
        Self { id, sent: None, after: Bytes::ZERO, end: None }
    }

    /// Whether this is the pair that a reply names.
    pub(super) const fn is(&self, id: u8) -> bool {
        self.id == id
    }

    /// A segment of this size left: the second of the pair, or a later one.
    pub(super) fn on_sent(&mut self, now: Time, size: Bytes) {
        if self.sent.is_none() {
            self.sent = Some(now);
        } else {
            self.after += size;
        }
    }

    /// An ACK without a reply to this pair arrived: whether there will be none.
    pub(super) fn is_unanswered(&mut self, event: &Acknowledged, rule: UnansweredPair) -> bool {
        let end = *self.end.get_or_insert(event.sent_total.saturating_sub(self.after));
        match rule {
            UnansweredPair::Acknowledged => event.acknowledged_total >= end,
            UnansweredPair::TwoRoundTrips => {
                self.sent.zip(event.smoothed_rtt).is_some_and(|(sent, round_trip): (Time, Duration)| {
                    event.now.since(sent) > round_trip.times(2)
                })
            }
            UnansweredPair::Loss => false,
        }
    }
}
