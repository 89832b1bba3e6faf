//! Delivery rates of a TCP connection: [`selfclock_congestion::delivery_rate`] beside the
//! scoreboard, segment for segment. Present only if the congestion control requests it.

use super::recovery::{Scoreboard, Segment};
use crate::engine::Ring;
use selfclock_congestion::RateSample;
use selfclock_congestion::delivery_rate::{self, Sending};
use selfclock_congestion::units::{Duration, Time};

/// Delivery-rate state of one connection.
#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    rate: delivery_rate::DeliveryRate,
    /// One per outstanding segment.
    sendings: Ring<Sending>,
    #[cfg(test)]
    latest: Option<RateSample>,
}

impl DeliveryRate {
    /// Outstanding segment `index`, a new or an earlier one, is sent at `now`. `in_flight` bytes
    /// are then in flight; `lost` bytes have been marked lost since the connection began.
    pub fn on_sent(&mut self, index: usize, segment: &Segment, now: Time, in_flight: u64, lost: u64) {
        let sending = self.rate.on_sent(now, segment.length.into(), in_flight, lost);
        match self.sendings.get_mut(index) {
            Some(earlier) => *earlier = sending,
            None => {
                self.sendings.push(sending);
            }
        }
    }

    /// Outstanding segment `index` is acknowledged or SACKed at `now`, for the first time.
    pub fn on_delivered(&mut self, index: usize, segment: &Segment, now: Time) {
        let sending = &self.sendings[index];
        self.rate.on_delivered(sending, segment.sent, segment.end(), segment.length.into(), now);
    }

    /// Everything below `acknowledgement` is acknowledged at `now`, and still on the scoreboard.
    pub fn on_cumulative_ack(&mut self, board: &Scoreboard, acknowledgement: u64, now: Time) {
        let mut index = 0;
        while index < board.len() && board[index].end() <= acknowledgement {
            if !board[index].is_sacked() {
                self.on_delivered(0, &board[index], now);
            }
            self.sendings.drop_front();
            index += 1;
        }
        // The flow's next ACK will read it.
        self.sendings.prefetch(1);
    }

    /// The sample of an ACK after [`DeliveryRate::on_delivered`] for each of its segments; `None`
    /// if it delivered nothing. `lost`: payload marked lost since the connection began, bytes.
    pub fn sample(&mut self, minimum_rtt: Option<Duration>, lost: u64) -> Option<RateSample> {
        let sample = self.rate.sample(minimum_rtt, lost)?;
        #[cfg(test)]
        {
            self.latest = Some(sample);
        }
        Some(sample)
    }

    /// The application has nothing to send although the window has room and every loss is
    /// retransmitted: samples are app-limited until this much more has been delivered.
    pub fn mark_app_limited(&mut self, in_flight: u64) {
        self.rate.mark_app_limited(in_flight);
    }

    /// The last sample.
    #[cfg(test)]
    pub fn latest(&self) -> Option<RateSample> {
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::recovery::Scoreboard;
    use selfclock_congestion::units::{Bytes, Rate};

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// Scoreboard and delivery rate side by side, as the sender keeps them; segments of 1000 bytes.
    #[derive(Default)]
    struct Rig {
        board: Scoreboard,
        rate: DeliveryRate,
        next: u64,
    }

    impl Rig {
        fn send(&mut self, milliseconds: u64) {
            self.board.push(self.next * 1000, 1000, at(milliseconds));
            self.next += 1;
            self.note_sent(self.board.len() - 1, milliseconds);
        }
        fn send_again(&mut self, index: usize, milliseconds: u64) {
            self.board.retransmit(index, at(milliseconds));
            self.note_sent(index, milliseconds);
        }
        fn note_sent(&mut self, index: usize, milliseconds: u64) {
            let (pipe, lost) = (self.board.pipe_bytes(), self.board.lost_total());
            self.rate.on_sent(index, &self.board[index], at(milliseconds), pipe, lost);
        }
        fn sack(&mut self, milliseconds: u64, first: u64, end: u64) {
            let rate = &mut self.rate;
            self.board.sack_each(first * 1000, end * 1000, |index, segment| {
                rate.on_delivered(index, segment, at(milliseconds));
            });
        }
        fn ack(&mut self, milliseconds: u64, end: u64) {
            self.rate.on_cumulative_ack(&self.board, end * 1000, at(milliseconds));
            self.board.advance(end * 1000);
        }
        fn sample(&mut self, minimum_milliseconds: u64) -> RateSample {
            let minimum = Duration::from_milliseconds(minimum_milliseconds);
            self.rate.sample(Some(minimum), self.board.lost_total()).expect("something was delivered")
        }
    }

    /// Four segments at 0, 10, 20 and 30 ms, each acknowledged 100 ms later; then two more.
    #[test]
    fn by_hand() {
        let mut rig = Rig::default();
        for time in [0, 10, 20, 30] {
            rig.send(time);
        }
        rig.ack(100, 1);
        // Sent in 0 ms, acknowledged 100 ms after the beginning: 1000 B in 100 ms.
        let first = rig.sample(100);
        assert_eq!(first.delivery_rate, Rate::from_bits_per_second(80_000));
        assert_eq!((first.newly_acked, first.delivered_total), (Bytes(1000), Bytes(1000)));
        assert_eq!((first.prior_delivered, first.tx_in_flight), (Bytes(0), Bytes(1000)));
        rig.send(100); // segment 4: 1000 B delivered, at 100 ms
        rig.ack(130, 4);
        // Segment 3 was sent when nothing had been delivered: 4000 B in 130 ms.
        let second = rig.sample(100);
        assert_eq!(second.interval, Duration::from_milliseconds(130));
        assert_eq!(second.delivered, Bytes(4000));
        assert_eq!(second.delivery_rate, Rate::from_bits_per_second(246_153));
        assert_eq!(second.tx_in_flight, Bytes(4000));
        rig.ack(200, 5);
        // Segment 4: "P.delivered" 1000 at 100 ms, so 4000 B in 100 ms; it was sent 100 ms after
        // segment 0.
        let third = rig.sample(100);
        assert_eq!(third.prior_delivered, Bytes(1000));
        assert_eq!(third.delivery_rate, Rate::from_bits_per_second(320_000));
        assert!(rig.rate.sample(None, 0).is_none(), "nothing was delivered since");
    }

    /// Segment 0 of four is lost, SACKs come for the others, and it is retransmitted.
    #[test]
    fn a_loss_by_hand() {
        let mut rig = Rig::default();
        for _ in 0..4 {
            rig.send(0);
        }
        rig.sack(100, 1, 3);
        let sample = rig.sample(50);
        assert_eq!(
            (sample.delivered, sample.newly_acked, sample.newly_lost),
            (Bytes(2000), Bytes(2000), Bytes(0))
        );
        rig.sack(101, 1, 4);
        rig.board.mark_lost_below_edge();
        let sample = rig.sample(50);
        assert_eq!((sample.newly_acked, sample.newly_lost), (Bytes(1000), Bytes(1000)));
        assert_eq!(
            (sample.delivered, sample.lost, sample.tx_in_flight),
            (Bytes(3000), Bytes(1000), Bytes(4000))
        );
        // Nothing is in flight: the interval restarts, and the loss precedes it.
        rig.send_again(0, 110);
        rig.ack(210, 4);
        let sample = rig.sample(50);
        assert_eq!((sample.delivered, sample.interval), (Bytes(1000), Duration::from_milliseconds(100)));
        assert_eq!((sample.newly_acked, sample.newly_lost, sample.lost), (Bytes(1000), Bytes(0), Bytes(0)));
        assert_eq!(sample.delivered_total, Bytes(4000));
    }

    /// A segment marked lost is acknowledged immediately after its retransmission: faster than any
    /// path.
    #[test]
    fn an_interval_below_the_smallest_round_trip_gives_no_rate() {
        let mut rig = Rig::default();
        rig.send(0);
        rig.board.mark_all_lost();
        rig.send_again(0, 100);
        rig.ack(110, 1);
        let sample = rig.sample(100);
        assert_eq!(sample.delivery_rate, Rate::from_bits_per_second(0));
        assert_eq!(sample.delivered, Bytes(1000));
    }

    #[test]
    fn app_limited_until_the_bubble_is_delivered() {
        let mut rig = Rig::default();
        rig.send(0);
        rig.send(0);
        rig.rate.mark_app_limited(2000);
        rig.send(50);
        rig.ack(100, 2);
        assert!(!rig.sample(10).is_app_limited, "sent before");
        rig.send(100);
        rig.ack(150, 3);
        assert!(rig.sample(10).is_app_limited);
        rig.send(150);
        rig.ack(200, 4);
        assert!(rig.sample(10).is_app_limited, "sent before 3000 bytes were delivered");
        rig.ack(250, 5);
        assert!(!rig.sample(10).is_app_limited);
    }
}
