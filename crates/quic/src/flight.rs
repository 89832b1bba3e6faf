//! Packets in flight, and the delivery rate measured with them.

use std::collections::VecDeque;

use selfclock_congestion::delivery_rate::{DeliveryRate, Sending};
use selfclock_congestion::{Duration, RateSample, Time};

/// Bytes in flight, and the packets if the algorithm uses delivery rates.
#[derive(Clone, Debug)]
pub struct Flight {
    bytes: u64,
    /// Bytes declared lost since the start of the connection.
    lost: u64,
    rates: Option<Box<Rates>>,
}

#[derive(Clone, Debug, Default)]
struct Rates {
    rate: DeliveryRate,
    /// In send order.
    packets: VecDeque<Packet>,
    sent: u64,
}

/// A packet, or several sent at once.
#[derive(Clone, Copy, Debug)]
struct Packet {
    sent: Time,
    order: u64,
    /// Bytes that are neither acknowledged nor lost.
    left: u64,
    sending: Sending,
}

impl Flight {
    /// An empty flight.
    pub fn new(measures_rates: bool) -> Self {
        Self { bytes: 0, lost: 0, rates: measures_rates.then(Box::default) }
    }

    /// Whether the algorithm uses delivery rates.
    pub const fn measures_rates(&self) -> bool {
        self.rates.is_some()
    }

    /// Bytes in flight.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// This many bytes are sent at `now`, not before the last.
    pub fn sent(&mut self, now: Time, size: u64) {
        self.bytes += size;
        let Some(rates) = &mut self.rates else { return };
        let sending = rates.rate.on_sent(now, size, self.bytes, self.lost);
        rates.sent += 1;
        rates.packets.push_back(Packet { sent: now, order: rates.sent, left: size, sending });
    }

    /// This many of the bytes sent at `sent` arrived.
    pub fn acknowledged(&mut self, now: Time, sent: Time, size: u64) {
        self.bytes = self.bytes.saturating_sub(size);
        let Some(rates) = &mut self.rates else { return };
        let Some(index) = rates.find(sent, size) else { return };
        let packet = &mut rates.packets[index];
        packet.left = packet.left.saturating_sub(size);
        let Packet { order, sending, .. } = *packet;
        rates.rate.on_delivered(&sending, sent, order, size, now);
        rates.drop_finished();
    }

    /// This many bytes were lost, the newest of which were sent at `sent`. Older ones have arrived
    /// or are lost: loss is detected in packet order (RFC 9002, section 6.1).
    pub fn lost(&mut self, sent: Time, size: u64) {
        self.bytes = self.bytes.saturating_sub(size);
        self.lost += size;
        if let Some(rates) = &mut self.rates {
            let gone = rates.packets.partition_point(|packet| packet.sent < sent);
            rates.packets.drain(..gone);
        }
    }

    /// The stack reports the bytes in flight.
    pub fn correct(&mut self, bytes: u64) {
        self.bytes = bytes;
        if let Some(rates) = &mut self.rates
            && bytes == 0
        {
            rates.packets.clear();
        }
    }

    /// Forgets packets sent so long before `newest_acked` that the stack must have declared them
    /// lost: [`Flight::lost`] cannot distinguish packets sent at once. "9/8, or
    /// 1.125, is RECOMMENDED" as a number of round-trip times after which a packet is lost (RFC
    /// 9002, section 6.1.2).
    pub fn forget_before(&mut self, newest_acked: Time, round_trip: Duration) {
        if let Some(rates) = &mut self.rates {
            let is_old = |packet: &Packet| newest_acked.since(packet.sent) > round_trip.times(2);
            while rates.packets.front().is_some_and(|packet| packet.sent < newest_acked && is_old(packet)) {
                rates.packets.pop_front();
            }
        }
    }

    /// Number of stored packets.
    #[cfg(test)]
    pub fn packets(&self) -> usize {
        self.rates.as_ref().map_or(0, |rates| rates.packets.len())
    }

    /// The delivery rate measured by the ACKs since the last sample. `app_limited`:
    /// the application had nothing to send before them.
    pub fn rate_sample(&mut self, minimum_rtt: Option<Duration>, app_limited: bool) -> Option<RateSample> {
        let rates = self.rates.as_mut()?;
        let mut sample = rates.rate.sample(minimum_rtt, self.lost)?;
        if app_limited {
            rates.rate.mark_app_limited(self.bytes);
            // Stacks report it with the next ACK, and some packets of the sample were sent before.
            sample.is_app_limited = true;
        }
        Some(sample)
    }
}

impl Rates {
    /// A packet of this size sent then, or else any sent then.
    fn find(&self, sent: Time, size: u64) -> Option<usize> {
        let first = self.packets.partition_point(|packet| packet.sent < sent);
        let at_once = self.packets.range(first..).take_while(|packet| packet.sent == sent);
        let mut outstanding = at_once
            .enumerate()
            .filter(|(_, packet)| packet.left > 0)
            .map(|(i, packet)| (first + i, packet.left));
        let same = outstanding.clone().find(|&(_, left)| left == size);
        same.or_else(|| outstanding.next()).map(|(index, _)| index)
    }

    fn drop_finished(&mut self) {
        while self.packets.front().is_some_and(|packet| packet.left == 0) {
            self.packets.pop_front();
        }
    }
}
