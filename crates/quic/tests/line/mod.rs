//! A driver on a path by itself, without a stack: a sender that paces like quinn and noq, one
//! bottleneck with a drop-tail queue, and a receiver that acknowledges every nth packet.
#![allow(dead_code, missing_docs, reason = "each test uses a part")]

use std::collections::{BTreeMap, VecDeque};

use selfclock_congestion::{Bytes, Duration, Selection, Setup, Time};
use selfclock_quic::driver::{Congestion, Driver};

/// "max_ack_delay", 25 ms by default (RFC 9000, section 18.2).
const ACK_DELAY: u64 = 25_000_000;
/// "kPacketThreshold" (RFC 9002, section 6.1.1).
const THRESHOLD: u64 = 3;
/// Both stacks pace at 1.25 windows per round trip.
const PACING_GAIN: f64 = 1.25;

/// Data of the application.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    Nothing,
    Bulk,
    /// A number of bytes in each period, nanoseconds.
    Writes(u64, u64),
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    number: u64,
    sent: u64,
    size: u64,
}

/// Times are nanoseconds.
#[derive(Debug)]
pub struct Line {
    pub driver: Driver,
    /// Packets in one ACK frame.
    pub every: usize,
    pub rtt: u64,
    /// Bit/s.
    pub rate: f64,
    /// Packets that wait; beyond that they are dropped.
    pub queue: u64,
    /// Distance of dropped packets, in packets.
    pub drop_every: Option<u64>,
    /// Packets with these numbers are dropped.
    pub drops: Vec<std::ops::Range<u64>>,
    pub source: Source,
    /// Packets that may leave at once after a pause, of both stacks ten; none: no pacing at all.
    pub burst: Option<u64>,
    pub now: u64,
    pub largest_flight: u64,
    pub lost: u64,
    backlog: u64,
    next_write: u64,
    sent: u64,
    last_sent: u64,
    pace_at: u64,
    link_free: u64,
    flying: VecDeque<(u64, Packet)>,
    received: Vec<Packet>,
    ack_due: u64,
    outstanding: BTreeMap<u64, Packet>,
    smoothed: f64,
}

fn time(nanoseconds: u64) -> Time {
    Time::ZERO + Duration::from_picoseconds(1000 * nanoseconds)
}

impl Line {
    /// Ten packets at the beginning, 100 Mbit/s, 40 ms, four BDP of queue, frames of two.
    pub fn new(label: &str, packet: u64) -> Self {
        Self::with_threshold(label, packet, f64::INFINITY)
    }

    /// With this slow start threshold at the beginning, packets.
    pub fn with_threshold(label: &str, packet: u64, initial_ssthresh: f64) -> Self {
        let setup = Setup { mss: Bytes(packet), header: Bytes::ZERO, initial_ssthresh, ..Setup::default() };
        Self {
            driver: Driver::new(&Selection::from_label(label).expect("listed"), setup, None),
            every: 2,
            rtt: 40_000_000,
            rate: 100e6,
            queue: 4 * 500_000 / packet,
            drop_every: None,
            drops: Vec::new(),
            source: Source::Bulk,
            burst: Some(10),
            now: 0,
            largest_flight: 0,
            lost: 0,
            backlog: 0,
            next_write: 0,
            sent: 0,
            last_sent: 0,
            pace_at: 0,
            link_free: 0,
            flying: VecDeque::new(),
            received: Vec::new(),
            ack_due: u64::MAX,
            outstanding: BTreeMap::new(),
            smoothed: 0.0,
        }
    }

    /// Packets that the window allows.
    pub fn window(&self) -> f64 {
        self.driver.window() as f64 / self.driver.mtu() as f64
    }

    /// Packets sent so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    fn has_data(&self) -> bool {
        self.source == Source::Bulk || self.backlog >= self.driver.mtu()
    }

    fn has_room(&self) -> bool {
        self.driver.in_flight() + self.driver.mtu() <= self.driver.window()
    }

    /// Until this time, seconds.
    pub fn run(&mut self, seconds: f64) {
        let until = (seconds * 1e9) as u64;
        self.next_write = self.now;
        loop {
            let write = if let Source::Writes(..) = self.source { self.next_write } else { u64::MAX };
            let arrival = self.flying.front().map_or(u64::MAX, |(at, _)| *at);
            let send = if self.has_data() && self.has_room() { self.pace_at.max(self.now) } else { u64::MAX };
            let silent = self.flying.is_empty() && self.received.is_empty() && !self.outstanding.is_empty();
            let probe = if silent { (self.last_sent + 3 * self.rtt).max(self.now) } else { u64::MAX };
            let next = write.min(arrival).min(send).min(self.ack_due).min(probe);
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            if next == arrival {
                self.arrive();
            } else if next == self.ack_due {
                self.acknowledge();
            } else if next == write {
                let Source::Writes(bytes, period) = self.source else { unreachable!() };
                (self.backlog, self.next_write) = (self.backlog + bytes, next + period);
            } else if next == send {
                self.send();
            } else {
                self.detect(u64::MAX);
            }
        }
    }

    fn send(&mut self) {
        let size = self.driver.mtu();
        if self.source != Source::Bulk {
            self.backlog -= size;
        }
        self.driver.on_packet_sent(time(self.now), size);
        self.largest_flight = self.largest_flight.max(self.driver.in_flight());
        let packet = Packet { number: self.sent, sent: self.now, size };
        (self.sent, self.last_sent) = (self.sent + 1, self.now);
        self.outstanding.insert(packet.number, packet);
        self.pace(size);
        let transmission = (size as f64 * 8e9 / self.rate) as u64;
        let waiting = self.link_free.saturating_sub(self.now) / transmission.max(1);
        let dropped = self.drop_every.is_some_and(|every| packet.number % every == every - 1)
            || self.drops.iter().any(|range| range.contains(&packet.number));
        if waiting <= self.queue && !dropped {
            self.link_free = self.link_free.max(self.now) + transmission;
            self.flying.push_back((self.link_free + self.rtt, packet));
        }
    }

    fn pace(&mut self, size: u64) {
        let Some(burst) = self.burst else { return };
        let rate = match self.driver.pacing_rate() {
            Some(rate) => rate as f64,
            None if self.smoothed > 0.0 => PACING_GAIN * self.driver.window() as f64 / (self.smoothed / 1e9),
            None => return,
        };
        let interval = (size as f64 * 1e9 / rate) as u64;
        self.pace_at = self.pace_at.max(self.now.saturating_sub(burst * interval)) + interval;
    }

    fn arrive(&mut self) {
        let Some((_, packet)) = self.flying.pop_front() else { return };
        self.received.push(packet);
        if self.received.len() == 1 {
            self.ack_due = self.now + ACK_DELAY;
        }
        if self.received.len() >= self.every {
            self.acknowledge();
        }
    }

    fn acknowledge(&mut self) {
        self.ack_due = u64::MAX;
        let frame = std::mem::take(&mut self.received);
        let mut largest = 0;
        for packet in frame {
            if self.outstanding.remove(&packet.number).is_some() {
                self.driver.on_packet_acked(time(self.now), time(packet.sent), packet.size);
                largest = packet.number;
                let sample = (self.now - packet.sent) as f64;
                self.smoothed =
                    if self.smoothed > 0.0 { 0.875 * self.smoothed + 0.125 * sample } else { sample };
            }
        }
        let in_flight = self.outstanding.values().map(|packet| packet.size).sum();
        let app_limited = !self.has_data() && in_flight + self.driver.mtu() <= self.driver.window();
        self.driver.on_acks_end(time(self.now), Some(in_flight), app_limited);
        self.detect(largest.saturating_sub(THRESHOLD - 1));
    }

    /// Declares what was sent before this packet lost, and queues its data again.
    fn detect(&mut self, before: u64) {
        let kept = self.outstanding.split_off(&before);
        let lost = std::mem::replace(&mut self.outstanding, kept);
        let Some((_, newest)) = lost.last_key_value() else { return };
        let bytes = lost.values().map(|packet| packet.size).sum();
        let congestion = Congestion::Lost { sent: time(newest.sent), bytes, persistent: false };
        self.lost += lost.len() as u64;
        self.backlog += bytes;
        self.driver.on_congestion(time(self.now), congestion);
    }
}
