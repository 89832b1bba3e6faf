//! An ingress edge's state of one flow: progress of data and ACKs, RTT, the window granted, held
//! ACKs.

use super::FlowPath;
use super::settings::{EdgeRtt, Parameters};
use crate::engine::Ring;
use crate::packet::Packet;
use selfclock_congestion::units::{Duration, Time};

/// Segments acknowledged between two checks of a source's growth: few enough for slow start, enough
/// that one or two between edge and source are negligible.
const ROUND: u64 = 8;

/// A flow in the table of an edge.
#[derive(Clone, Debug)]
pub(super) struct EdgeFlow {
    /// Its path through the domain.
    pub path: FlowPath,
    /// Last data seen.
    pub last_data: Time,
    /// Byte after the highest data seen.
    pub highest: u64,
    /// Highest ACK received.
    pub seen: u64,
    /// Highest ACK forwarded.
    pub acknowledged: u64,
    /// Largest payload seen, bytes.
    pub mss: u64,
    /// Furthest right edge advertised to the source.
    pub right_edge: u64,
    /// From the edge to the receiver and back: the timed segment (its end, and when it passed),
    /// smoothed, smallest.
    timed: Option<(u64, Time)>,
    smoothed: Option<Duration>,
    smallest: Duration,
    /// From the edge to the source and back: when the timed ACK passed, when the last one did,
    /// smallest.
    answer_since: Option<Time>,
    last_ack: Time,
    answer: Option<Duration>,
    /// Held ACKs; `arrival` is their time of arrival.
    pub held: Ring<Packet>,
    /// Bytes that ACKs may release.
    pub credit: f64,
    /// Last update of the credit.
    pub credit_at: Time,
    /// Data seen and ACKs forwarded at the last check of the growth.
    round: (u64, u64),
    /// Whether between the last two checks the source sent more than 1.5 times the data
    /// acknowledged to it.
    pub slow_start: bool,
}

impl EdgeFlow {
    /// A new flow with this path.
    pub fn new(now: Time, path: FlowPath) -> Self {
        Self {
            path,
            last_data: now,
            highest: 0,
            seen: 0,
            acknowledged: 0,
            mss: 0,
            right_edge: path.window,
            timed: None,
            smoothed: None,
            smallest: Duration::MAX,
            answer_since: None,
            last_ack: Time::ZERO,
            answer: None,
            held: Ring::default(),
            credit: 0.0,
            credit_at: now,
            round: (0, 0),
            slow_start: true,
        }
    }

    /// Data passes.
    pub fn on_data(&mut self, now: Time, packet: &Packet) {
        let end = packet.sequence + u64::from(packet.payload);
        self.last_data = now;
        self.mss = self.mss.max(u64::from(packet.payload));
        if end <= self.highest && packet.payload > 0 {
            // Karn: retransmissions are not timed.
            if self.timed.is_some_and(|(timed, _)| packet.sequence < timed) {
                self.timed = None;
            }
            self.answer_since = None;
            return;
        }
        if let Some(since) = self.answer_since.take() {
            let answer = now.since(since);
            self.answer = Some(self.answer.map_or(answer, |smallest| smallest.min(answer)));
        }
        self.highest = end;
        if self.timed.is_none() {
            self.timed = Some((end, now));
        }
    }

    /// A new ACK arrives from the receiver's side.
    pub fn on_new_ack(&mut self, now: Time, acknowledgement: u64) {
        if let Some((end, since)) = self.timed
            && acknowledgement >= end
        {
            let sample = now.since(since);
            self.timed = None;
            self.smallest = self.smallest.min(sample);
            // RFC 6298's weight.
            self.smoothed = Some(self.smoothed.map_or(sample, |smoothed| {
                Duration::from_picoseconds((smoothed.picoseconds() / 8) * 7 + sample.picoseconds() / 8)
            }));
        }
    }

    /// Forwards an ACK to the source. After silence the data it releases comes next.
    pub fn on_ack_passed(&mut self, now: Time, acknowledgement: u64) {
        let silence = self.answer.map_or(Duration::ZERO, |answer| answer.times(4));
        if self.answer_since.is_none() && now.since(self.last_ack) >= silence {
            self.answer_since = Some(now);
        }
        self.last_ack = now;
        self.acknowledged = self.acknowledged.max(acknowledgement);
        let (data, acknowledged) = self.round;
        let newly = self.acknowledged - acknowledged;
        if newly >= ROUND * self.mss {
            self.slow_start = self.highest - data > newly + newly / 2;
            self.round = (self.highest, self.acknowledged);
        }
    }

    /// Current round-trip time of the flow; `None` until both parts are known.
    pub fn current_rtt(&self) -> Option<Duration> {
        Some(self.smoothed? + self.answer?)
    }

    /// Smallest round-trip time of the flow.
    pub fn base_rtt(&self) -> Option<Duration> {
        Some(self.smallest + self.answer?)
    }

    /// Bytes that an allowed rate, bit/s, sends in a round trip; `None` while either is unknown.
    pub fn allowed_window(&self, settings: &Parameters, allowed: Option<f64>) -> Option<u64> {
        let rtt = match settings.rtt {
            EdgeRtt::Current => self.current_rtt(),
            EdgeRtt::Base => self.base_rtt(),
        };
        let floor = settings.floor * self.mss as f64;
        Some((allowed? * rtt?.seconds() / 8.0).max(floor) as u64)
    }

    /// Bytes of new data that the first held ACK would release.
    pub fn needed(&self, acknowledgement: u64) -> f64 {
        let factor = if self.slow_start { 2.0 } else { 1.0 };
        acknowledgement.saturating_sub(self.acknowledged) as f64 * factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Flags, NO_EXTRA, PacketKind};

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    fn data(sequence: u64) -> Packet {
        Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence,
            sent: Time::ZERO,
            echo: Time::NEVER,
            flow: 0,
            hop: 0,
            payload: 1000,
            size: 1040,
            kind: PacketKind::Data,
            flags: Flags::NONE,
            extra: NO_EXTRA,
            number: 0,
        }
    }

    /// From the edge to the receiver 50 and 70 ms, and from the edge to the source 10 ms: smoothed
    /// as RFC 6298 does, 52.5 and 10; at the smallest, 50 and 10.
    #[test]
    fn both_parts_of_the_round_trip_are_timed() {
        let path = FlowPath {
            ingress: 0,
            egress: 1,
            turn_position: 0,
            control_loop: 0,
            window: 65_535,
            shift: 0,
            access_link: 0,
            encrypted: false,
        };
        let mut flow = EdgeFlow::new(at(0), path);
        flow.on_data(at(0), &data(0));
        flow.on_new_ack(at(50), 1000);
        assert_eq!(flow.current_rtt(), None, "the part of the source is not known");
        flow.on_ack_passed(at(50), 1000);
        flow.on_data(at(60), &data(1000));
        flow.on_new_ack(at(130), 2000);
        assert_eq!(flow.current_rtt(), Some(Duration::from_microseconds(62_500)));
        assert_eq!(flow.base_rtt(), Some(Duration::from_milliseconds(60)));
        // Karn: retransmissions are not timed.
        flow.on_data(at(140), &data(2000));
        flow.on_data(at(300), &data(2000));
        flow.on_new_ack(at(310), 3000);
        assert_eq!(flow.current_rtt(), Some(Duration::from_microseconds(62_500)));
    }
}
