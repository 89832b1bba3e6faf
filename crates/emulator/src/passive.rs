//! Properties of one direction of a TCP connection that can be observed on its path.
//!
//! The path begins where the sender hands a packet to its device and ends where it is written to
//! that of the receiver. The sender knows the contents of ACKs written to its device.

use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::RttHistogram;
use selfclock_simulator::record::packets::MAXIMUM_SACK_BLOCKS;
use std::collections::VecDeque;

/// Maximum number of segments stored until acknowledged; for a receiver that never acknowledges,
/// the oldest are dropped.
const MOST_OUTSTANDING: usize = 1 << 16;

/// A segment that is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    first: u64,
    end: u64,
    sent: Time,
    retransmitted: bool,
    sacked: bool,
}

/// Data in one direction, and its ACKs.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// Number on the wire of the first payload byte; of a connection whose SYN was not seen, of the
    /// first byte seen.
    first_number: Option<u32>,
    /// Send time of its SYN, if sent once and not yet acknowledged.
    begun: Option<Time>,
    /// Highest payload byte sent.
    pub sent: u64,
    /// Payload acknowledged, as far as its sender knows.
    pub acknowledged: u64,
    /// Payload that SACK blocks report beyond that.
    sacked: u64,
    /// Acknowledged by the receiver, whether or not its sender knows: what its application could
    /// have read.
    pub read: u64,
    /// Segments with payload, or datagrams, handed to the path; retransmissions among them;
    /// arrivals. A datagram in fragments is one, and arrives when all of them have.
    pub segments: u64,
    pub retransmitted: u64,
    pub arrived_segments: u64,
    /// All arrivals: payload, and whole packets.
    pub arrived_payload: u64,
    pub arrived_bytes: u64,
    outstanding: VecDeque<Outstanding>,
    /// Round-trip samples.
    pub rtt: RttHistogram,
    pub minimum_rtt: Option<Duration>,
    pub smoothed_rtt: Option<Duration>,
}

impl Data {
    /// The sender starts at this sequence number, that of its SYN. A retransmitted SYN gives no RTT
    /// sample.
    pub fn begin(&mut self, now: Time, syn: u32) {
        let first = Some(syn.wrapping_add(1));
        self.begun = (self.first_number != first).then_some(now);
        self.first_number = first;
    }

    /// The SYN-ACK reaches the sender for the first time.
    pub fn on_begun(&mut self, now: Time) {
        if let Some(sent) = self.begun.take() {
            self.on_sample(now.since(sent), now.since(sent));
        }
    }

    /// The first sequence number, from data or an ACK if the SYN was not seen.
    fn number(&mut self, wire: u32) -> u32 {
        *self.first_number.get_or_insert(wire)
    }

    /// Position of a sequence number near a known position; `None` before the first byte.
    fn position(&mut self, wire: u32, near: u64) -> Option<u64> {
        let expected = self.number(wire).wrapping_add(near as u32);
        near.checked_add_signed(i64::from(wire.wrapping_sub(expected) as i32))
    }

    /// The sender hands a segment with payload to the path. Returns the position of its first byte,
    /// and whether it is a retransmission.
    pub fn on_sent(&mut self, now: Time, wire: u32, payload: u32) -> (u64, bool) {
        let first = self.position(wire, self.sent).unwrap_or(0);
        let end = first + u64::from(payload);
        let again = first < self.sent;
        self.segments += 1;
        if again {
            self.retransmitted += 1;
            for each in self.outstanding.iter_mut().filter(|each| each.first < end && first < each.end) {
                each.retransmitted = true;
            }
        }
        if end > self.sent {
            let first = first.max(self.sent);
            self.outstanding.push_back(Outstanding {
                first,
                end,
                sent: now,
                retransmitted: again,
                sacked: false,
            });
            self.sent = end;
            if self.outstanding.len() > MOST_OUTSTANDING {
                self.outstanding.pop_front();
            }
        }
        (first, again)
    }

    /// The receiver hands an ACK to the path. Returns the position of the next expected byte.
    pub fn on_ack_sent(&mut self, wire: u32) -> u64 {
        // A FIN takes a number, too.
        let next = self.position(wire, self.read).unwrap_or(0);
        self.read = self.read.max(next.min(self.sent));
        next
    }

    /// An ACK reaches the sender.
    pub fn on_ack_arrived(&mut self, now: Time, wire: u32, sack: &[Option<(u32, u32)>; MAXIMUM_SACK_BLOCKS]) {
        let acknowledged = self.position(wire, self.acknowledged).unwrap_or(0).min(self.sent);
        let (mut oldest, mut newest) = (None, None);
        let mut ambiguous = false;
        while let Some(first) = self.outstanding.front()
            && first.end <= acknowledged
        {
            ambiguous |= first.retransmitted;
            if first.sacked {
                self.sacked -= first.end - first.first;
            } else {
                oldest = oldest.or(Some(first.sent));
                newest = Some(first.sent);
            }
            self.outstanding.pop_front();
        }
        self.acknowledged = self.acknowledged.max(acknowledged);
        for (first, end) in sack.iter().flatten() {
            let (Some(first), Some(end)) =
                (self.position(*first, self.acknowledged), self.position(*end, self.acknowledged))
            else {
                continue;
            };
            self.on_sack(first, end);
        }
        // Karn's rule: it is unknown which of the two was acknowledged.
        if let (Some(oldest), Some(newest), false) = (oldest, newest, ambiguous) {
            self.on_sample(now.since(oldest), now.since(newest));
        }
    }

    /// A block gives no RTT sample: with timestamps (RFC 7323, section 4.1), too, only an ACK that
    /// advances does.
    fn on_sack(&mut self, first: u64, end: u64) {
        let from = self.outstanding.partition_point(|each| each.first < first);
        for each in self.outstanding.iter_mut().skip(from).take_while(|each| each.end <= end) {
            if !each.sacked {
                each.sacked = true;
                self.sacked += each.end - each.first;
            }
        }
    }

    /// As in the simulator and in Linux: the smoothed RTT includes the delay of ACKs, and so is of
    /// the oldest acknowledged segment; samples are of the newest. RFC 6298, section 2.3: the
    /// weight of a new one is one eighth.
    fn on_sample(&mut self, oldest: Duration, newest: Duration) {
        self.rtt.add(newest);
        self.minimum_rtt = Some(self.minimum_rtt.map_or(newest, |least| least.min(newest)));
        self.smoothed_rtt = Some(self.smoothed_rtt.map_or(oldest, |smoothed| {
            Duration::from_picoseconds(smoothed.picoseconds() / 8 * 7 + oldest.picoseconds() / 8)
        }));
    }

    /// A packet with payload reaches the receiver.
    pub fn on_arrived(&mut self, payload: u32, size: u64) {
        self.arrived_segments += 1;
        self.arrived_payload += u64::from(payload);
        self.arrived_bytes += size;
    }

    /// A datagram with this payload has arrived whole, which nobody acknowledges.
    pub fn on_whole_datagram(&mut self, payload: u32) {
        self.arrived_segments += 1;
        self.arrived_payload += u64::from(payload);
        self.acknowledged = self.arrived_payload;
    }

    /// Payload that the sender knows to have arrived, in order or not.
    pub fn delivered(&self) -> u64 {
        self.acknowledged + self.sacked
    }

    /// Payload sent and not known to have arrived; lost data counts until it is retransmitted and
    /// acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.sent - self.delivered().min(self.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_SACK: [Option<(u32, u32)>; MAXIMUM_SACK_BLOCKS] = [None; MAXIMUM_SACK_BLOCKS];

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// Numbers wrap in the middle of the third segment.
    #[test]
    fn positions_go_on_where_numbers_wrap() {
        let mut data = Data::default();
        data.begin(at(0), u32::MAX - 2500);
        let number = |position: u32| (u32::MAX - 2500).wrapping_add(1 + position);
        for position in [0, 1000, 2000, 3000] {
            assert_eq!(data.on_sent(at(1), number(position), 1000), (u64::from(position), false));
        }
        assert_eq!(data.on_ack_sent(number(3000)), 3000);
        data.on_ack_arrived(at(21), number(3000), &NO_SACK);
        assert_eq!((data.sent, data.acknowledged, data.read, data.in_flight()), (4000, 3000, 3000, 1000));
        // The FIN's number is no payload.
        assert_eq!(data.on_ack_sent(number(4001)), 4001);
        assert_eq!(data.read, 4000);
    }

    /// 20 ms. The second is lost: the ACK that fills the hole gives no sample.
    #[test]
    fn round_trips_by_karns_rule() {
        let mut data = Data::default();
        data.begin(at(0), 99);
        for position in 0..4 {
            data.on_sent(at(u64::from(position)), 100 + position * 1000, 1000);
        }
        data.on_ack_arrived(at(20), 1100, &NO_SACK);
        let mut sack = NO_SACK;
        sack[0] = Some((2100, 3100));
        data.on_ack_arrived(at(22), 1100, &sack);
        assert_eq!((data.delivered(), data.in_flight()), (2000, 2000));
        sack[0] = Some((2100, 4100));
        data.on_ack_arrived(at(23), 1100, &sack);
        assert_eq!(data.on_sent(at(24), 1100, 1000), (1000, true));
        data.on_ack_arrived(at(99), 4100, &NO_SACK);
        assert_eq!((data.acknowledged, data.delivered(), data.in_flight()), (4000, 4000, 0));
        assert_eq!(data.minimum_rtt, Some(Duration::from_milliseconds(20)));
        assert!((data.rtt.mean_seconds().expect("samples") - 0.020).abs() < 1e-9, "no sample of 75 ms");
        assert_eq!((data.segments, data.retransmitted), (5, 1));
    }
}
