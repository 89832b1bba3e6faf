//! Delivery rate per ACK: draft-ietf-ccwg-bbr, section 4.1 (formerly
//! draft-cheng-iccrg-delivery-rate-estimation).
//!
//! A segment stores how much had been delivered when it was sent. When it is delivered itself, the
//! amount delivered since, over the longer of the send and the ACK interval, is a sample of the
//! rate. Names in quotation marks are the draft's.
//!
//! The transport keeps the [`Sending`] of each segment in flight beside the segment.

use crate::event::RateSample;
use crate::units::{Bytes, Duration, PICOSECONDS_PER_SECOND, Rate, Time};

/// State recorded with a segment when it was last sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sending {
    /// "P.delivered": payload delivered by then, bytes.
    delivered: u64,
    /// "P.delivered_time": when that last increased.
    delivered_time: Time,
    /// "P.first_send_time": send time of the segment whose delivery began the current sampling
    /// interval.
    first_sent_time: Time,
    /// "P.tx_in_flight": payload in flight, this segment included, bytes.
    tx_in_flight: u64,
    /// "P.lost": payload marked lost by then, bytes.
    lost: u64,
    /// "P.is_app_limited".
    app_limited: bool,
}

/// The newest segment that the current ACK delivers, which the sample describes.
#[derive(Clone, Copy, Debug)]
struct Newest {
    sending: Sending,
    sent: Time,
    order: u64,
}

/// Delivery-rate state of one connection.
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    /// "C.delivered": payload delivered since the connection began, bytes.
    delivered: u64,
    /// "C.delivered_time".
    delivered_time: Time,
    /// "C.first_send_time".
    first_sent_time: Time,
    /// "C.app_limited": until more than this has been delivered, bytes, delivered data may include
    /// segments sent while the application was idle. Zero: not app-limited.
    app_limited: u64,
    newest: Option<Newest>,
    newly_delivered: u64,
    /// Payload marked lost up to the previous sample, bytes.
    lost_before: u64,
}

impl DeliveryRate {
    /// Call when a segment of `size` bytes is sent at `now`. `in_flight` bytes are then in flight;
    /// `lost` bytes have been marked lost since the connection began.
    #[inline]
    pub fn on_sent(&mut self, now: Time, size: u64, in_flight: u64, lost: u64) -> Sending {
        // Nothing was in flight before: an interval excludes the idle time.
        if in_flight <= size {
            self.first_sent_time = now;
            self.delivered_time = now;
        }
        Sending {
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent_time: self.first_sent_time,
            tx_in_flight: in_flight,
            lost,
            app_limited: self.app_limited != 0,
        }
    }

    /// Call when a segment of `size` bytes, last sent at `sent`, is first acknowledged or SACKed at
    /// `now`. `order` is greater for the newer of two segments sent at the same time.
    #[inline]
    pub fn on_delivered(&mut self, sending: &Sending, sent: Time, order: u64, size: u64, now: Time) {
        self.newly_delivered += size;
        self.delivered += size;
        self.delivered_time = now;
        let newer = self
            .newest
            .is_none_or(|newest| sent > newest.sent || (sent == newest.sent && order > newest.order));
        if newer {
            self.newest = Some(Newest { sending: *sending, sent, order });
            self.first_sent_time = sent;
        }
    }

    /// The sample of an ACK after [`DeliveryRate::on_delivered`] for each of its segments; `None`
    /// if it delivered nothing. `lost`: payload marked lost since the connection began, bytes.
    pub fn sample(&mut self, minimum_rtt: Option<Duration>, lost: u64) -> Option<RateSample> {
        let newest = self.newest.take()?;
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let sending = newest.sending;
        let send_elapsed = newest.sent.since(sending.first_sent_time);
        let ack_elapsed = self.delivered_time.since(sending.delivered_time);
        let interval = send_elapsed.max(ack_elapsed);
        let delivered = self.delivered - sending.delivered;
        // "Normally we expect interval >= MinRTT": no sample below that, as after a spurious
        // retransmission.
        let reliable = !interval.is_zero() && minimum_rtt.is_none_or(|minimum| interval >= minimum);
        let mut sample = RateSample::default();
        if reliable {
            sample.delivery_rate = rate(delivered, interval);
        }
        sample.interval = interval;
        sample.delivered = Bytes(delivered);
        sample.delivered_total = Bytes(self.delivered);
        sample.prior_delivered = Bytes(sending.delivered);
        sample.newly_acked = Bytes(core::mem::take(&mut self.newly_delivered));
        sample.newly_lost = Bytes(lost - core::mem::replace(&mut self.lost_before, lost));
        sample.lost = Bytes(lost - sending.lost);
        sample.tx_in_flight = Bytes(sending.tx_in_flight);
        sample.is_app_limited = sending.app_limited;
        Some(sample)
    }

    /// Call when the application has nothing to send although the window has room and every loss is
    /// retransmitted: samples are app-limited until this much more has been delivered.
    pub fn mark_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }
}

/// Rounded down. Up to 2.3 MB, more than most windows, without a division of 128 bits.
fn rate(delivered: u64, interval: Duration) -> Rate {
    const SCALE: u64 = 8 * PICOSECONDS_PER_SECOND;
    let interval = interval.picoseconds();
    let bits = match delivered.checked_mul(SCALE) {
        Some(scaled) => scaled / interval,
        None => rate_of_many(delivered, interval),
    };
    Rate::from_bits_per_second(bits)
}

#[cold]
fn rate_of_many(delivered: u64, interval: u64) -> u64 {
    let scaled = u128::from(delivered) * 8 * u128::from(PICOSECONDS_PER_SECOND);
    (scaled / u128::from(interval)).min(u64::MAX.into()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// With and without the shortcut for small amounts, on both sides of its bound.
        #[test]
        fn a_rate_without_long_division(
            delivered in prop_oneof![0_u64..4_000_000, 2_305_800_u64..2_305_900, any::<u64>()],
            interval in 1_u64..10_000_000_000_000,
        ) {
            let bits = rate(delivered, Duration::from_picoseconds(interval)).bits_per_second();
            prop_assert_eq!(bits, rate_of_many(delivered, interval));
        }
    }

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// Two segments of 1000 bytes sent at once, the second lost, and one more; the clock restarts
    /// after a pause. Tests of the simulator's sender cover rates of whole windows.
    #[test]
    fn by_hand() {
        let mut rate = DeliveryRate::default();
        let first = rate.on_sent(at(0), 1000, 1000, 0);
        rate.on_sent(at(0), 1000, 2000, 0);
        let third = rate.on_sent(at(10), 1000, 3000, 0);
        assert!(rate.sample(None, 0).is_none(), "nothing is delivered");
        rate.on_delivered(&first, at(0), 0, 1000, at(100));
        rate.on_delivered(&third, at(10), 2, 1000, at(110));
        let sample = rate.sample(Some(Duration::from_milliseconds(100)), 1000).expect("two are delivered");
        // 2000 B in the 110 ms since the first left.
        assert_eq!(sample.delivery_rate, Rate::from_bits_per_second(145_454));
        assert_eq!(
            (sample.newly_lost, sample.lost, sample.tx_in_flight),
            (Bytes(1000), Bytes(1000), Bytes(3000))
        );
        // A second of silence belongs to no interval.
        rate.mark_app_limited(0);
        let fourth = rate.on_sent(at(1110), 1000, 1000, 1000);
        rate.on_delivered(&fourth, at(1110), 3, 1000, at(1210));
        let sample = rate.sample(None, 1000).expect("one is delivered");
        assert_eq!((sample.interval, sample.delivered), (Duration::from_milliseconds(100), Bytes(1000)));
        assert!(sample.is_app_limited && sample.newly_lost == Bytes::ZERO);
    }
}
