//! A bottleneck in plain code, packet by packet, to test a model without a transport. Every
//! transmission is a separate packet that is acknowledged or lost: a retransmission counts as new
//! data.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::controller::Controller;
use crate::decision::Phase;
use crate::event::{Acknowledged, LossDetected, RateSample, RecoveryEnded, Sent, Timeout};
use crate::random::Random;
use crate::registry::Selection;
use crate::state::Setup;
use crate::units::{Bytes, Duration, Rate, Time};

const MSS: u64 = 1448;
/// Number of later ACKs after which an unacknowledged packet counts as lost.
const REORDERING: u64 = 3;
const TIMEOUT: Duration = Duration::from_milliseconds(1000);

/// The path: one queue, then half of the round-trip time each way.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Payload rate in bit/s.
    pub rate: f64,
    /// Round-trip time without a queue, in seconds.
    pub rtt: f64,
    /// Packets that the queue holds.
    pub buffer: usize,
    /// Packets in the queue at which an arriving packet is marked.
    pub mark_at: usize,
    /// Probability that a packet is lost before the queue.
    pub loss: f64,
}

impl Path {
    /// A path whose queue holds this many BDP.
    pub fn new(rate: f64, rtt: f64, buffer_bdp: f64) -> Self {
        let mut path = Self { rate, rtt, buffer: 0, mark_at: usize::MAX, loss: 0.0 };
        path.buffer = (path.bdp() * buffer_bdp) as usize;
        path
    }
    /// Bandwidth-delay product in packets.
    pub fn bdp(&self) -> f64 {
        self.rate * self.rtt / 8.0 / MSS as f64
    }
}

/// Per-packet state for rate sampling (draft-ietf-ccwg-bbr, section 4.1) and loss detection.
#[derive(Clone, Copy, Debug)]
struct Packet {
    sent: Time,
    first_send_time: Time,
    delivered_time: Time,
    delivered: u64,
    lost: u64,
    in_flight: u64,
}

#[derive(Debug)]
struct Flow {
    control: Controller,
    /// Packets from `base` on; `None` once acknowledged or lost.
    packets: VecDeque<Option<Packet>>,
    base: u64,
    in_flight: u64,
    delivered: u64,
    lost: u64,
    sent: u64,
    delivered_time: Time,
    first_send_time: Time,
    next_release: Time,
    waiting: bool,
    smoothed_rtt: Option<f64>,
    minimum_rtt: Option<Duration>,
    recover: Option<u64>,
    last_heard: Time,
    limited: bool,
}

impl Flow {
    /// Payload that an ACK of packet `number` shows to be lost.
    fn detect_losses(&mut self, number: u64) -> u64 {
        let mut newly_lost = 0;
        while self.base + REORDERING <= number || self.packets.front().is_some_and(Option::is_none) {
            if self.packets.pop_front().flatten().is_some() {
                newly_lost += MSS;
            }
            self.base += 1;
        }
        self.in_flight -= newly_lost;
        self.lost += newly_lost;
        newly_lost
    }

    fn rate_sample(&self, now: Time, packet: &Packet, newly_lost: u64) -> RateSample {
        let interval = packet.sent.since(packet.first_send_time).max(now.since(packet.delivered_time));
        let delivered = self.delivered - packet.delivered;
        let reliable = Some(interval) >= self.minimum_rtt;
        let rate = if reliable { delivered as f64 * 8.0 / interval.seconds() } else { 0.0 };
        RateSample {
            delivery_rate: Rate::from_bits_per_second(rate as u64),
            interval,
            delivered: Bytes(delivered),
            delivered_total: Bytes(self.delivered),
            prior_delivered: Bytes(packet.delivered),
            newly_acked: Bytes(MSS),
            newly_lost: Bytes(newly_lost),
            lost: Bytes(self.lost - packet.lost),
            tx_in_flight: Bytes(packet.in_flight),
            is_app_limited: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Start,
    Release,
    Departure,
    Ack { packet: u64, marked: bool },
    Timer,
}

/// State sampled every millisecond.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub now: f64,
    pub queue: usize,
    pub cwnd: f64,
    pub phase: Phase,
    pub delivered: [u64; 2],
}

#[derive(Debug)]
pub struct Bench {
    path: Path,
    flows: Vec<Flow>,
    events: BinaryHeap<Reverse<(Time, u64, usize, What)>>,
    number: u64,
    queue: VecDeque<(usize, u64, bool)>,
    random: Random,
    pub looks: Vec<Look>,
    pub drops: u64,
}

impl Bench {
    /// Flows under this algorithm that begin at these times.
    pub fn new(path: Path, selection: Selection, starts: &[f64]) -> Self {
        let mut bench = Self {
            path,
            flows: Vec::new(),
            events: BinaryHeap::new(),
            number: 0,
            queue: VecDeque::new(),
            random: Random::new(5),
            looks: Vec::new(),
            drops: 0,
        };
        for (i, start) in starts.iter().enumerate() {
            let start = Time::ZERO + Duration::from_seconds(*start);
            bench.flows.push(Flow {
                control: selection.controller(Setup {
                    mss: Bytes(MSS),
                    header: Bytes(52),
                    initial_window: 10.0,
                    initial_ssthresh: f64::INFINITY,
                    receive_window: Bytes::MAX,
                    selective_acks: true,
                    byte_counting: false,
                    restart_after_idle: false,
                    paced: false,
                    seed: 100 + i as u64,
                }),
                packets: VecDeque::new(),
                base: 0,
                in_flight: 0,
                delivered: 0,
                lost: 0,
                sent: 0,
                delivered_time: start,
                first_send_time: start,
                next_release: start,
                waiting: false,
                smoothed_rtt: None,
                minimum_rtt: None,
                recover: None,
                last_heard: start,
                limited: false,
            });
            bench.schedule(start, i, What::Start);
        }
        bench
    }

    /// Changes the rate of the path.
    pub fn set_rate(&mut self, rate: f64) {
        self.path.rate = rate;
    }

    fn schedule(&mut self, at: Time, flow: usize, what: What) {
        self.number += 1;
        self.events.push(Reverse((at, self.number, flow, what)));
    }

    /// Runs until this time, in seconds.
    pub fn run(&mut self, until: f64) {
        let end = Time::ZERO + Duration::from_seconds(until);
        while let Some(Reverse((now, _, flow, what))) = self.events.pop() {
            while self.looks.len() as f64 / 1000.0 < now.seconds().min(until) {
                let mut delivered = [0; 2];
                for (flow, delivered) in self.flows.iter().zip(&mut delivered) {
                    *delivered = flow.delivered;
                }
                let snapshot = self.flows[0].control.snapshot();
                self.looks.push(Look {
                    now: self.looks.len() as f64 / 1000.0,
                    queue: self.queue.len(),
                    cwnd: snapshot.cwnd_segments,
                    phase: snapshot.phase,
                    delivered,
                });
            }
            if now > end {
                self.schedule(now, flow, what);
                return;
            }
            match what {
                What::Start => {
                    self.schedule(now + TIMEOUT, flow, What::Timer);
                    self.send(now, flow);
                }
                What::Release => {
                    self.flows[flow].waiting = false;
                    self.send(now, flow);
                }
                What::Departure => self.depart(now),
                What::Ack { packet, marked } => self.acknowledge(now, flow, packet, marked),
                What::Timer => self.timer(now, flow),
            }
        }
    }

    fn send(&mut self, now: Time, i: usize) {
        loop {
            let flow = &mut self.flows[i];
            let decision = flow.control.decision();
            flow.limited = true;
            if flow.in_flight + MSS > decision.window.get() || flow.waiting {
                return;
            }
            if flow.next_release > now && decision.pacing.is_some() {
                flow.waiting = true;
                let at = flow.next_release;
                return self.schedule(at, i, What::Release);
            }
            if flow.in_flight == 0 {
                (flow.first_send_time, flow.delivered_time) = (now, now);
                flow.last_heard = now;
            }
            flow.in_flight += MSS;
            flow.sent += MSS;
            let packet = flow.base + flow.packets.len() as u64;
            flow.packets.push_back(Some(Packet {
                sent: now,
                first_send_time: flow.first_send_time,
                delivered_time: flow.delivered_time,
                delivered: flow.delivered,
                lost: flow.lost,
                in_flight: flow.in_flight,
            }));
            flow.control.on_sent(&Sent::new(now, Bytes(MSS), Bytes(flow.in_flight)));
            if let Some(pacing) = decision.pacing {
                flow.next_release = flow.next_release.max(now) + pacing.interval;
            }
            self.enqueue(now, i, packet);
        }
    }

    fn transmission(&self) -> Duration {
        Duration::from_seconds(MSS as f64 * 8.0 / self.path.rate)
    }

    fn enqueue(&mut self, now: Time, flow: usize, packet: u64) {
        if self.random.uniform() < self.path.loss {
            return;
        }
        if self.queue.len() >= self.path.buffer.max(1) {
            self.drops += 1;
            return;
        }
        let marked = self.queue.len() >= self.path.mark_at;
        self.queue.push_back((flow, packet, marked));
        if self.queue.len() == 1 {
            self.schedule(now + self.transmission(), flow, What::Departure);
        }
    }

    fn depart(&mut self, now: Time) {
        let (flow, packet, marked) = self.queue.pop_front().expect("a departure is of a packet");
        self.schedule(now + Duration::from_seconds(self.path.rtt), flow, What::Ack { packet, marked });
        if !self.queue.is_empty() {
            self.schedule(now + self.transmission(), flow, What::Departure);
        }
    }

    fn acknowledge(&mut self, now: Time, i: usize, number: u64, marked: bool) {
        let flow = &mut self.flows[i];
        let Some(packet) = number.checked_sub(flow.base).and_then(|at| flow.packets[at as usize].take())
        else {
            return;
        };
        flow.last_heard = now;
        flow.delivered += MSS;
        flow.in_flight -= MSS;
        flow.delivered_time = now;
        flow.first_send_time = packet.sent;
        let rtt = now.since(packet.sent);
        let smoothed = flow.smoothed_rtt.map_or(rtt.seconds(), |old| old + (rtt.seconds() - old) / 8.0);
        flow.smoothed_rtt = Some(smoothed);
        flow.minimum_rtt = Some(flow.minimum_rtt.map_or(rtt, |minimum| minimum.min(rtt)));
        let newly_lost = flow.detect_losses(number);
        let rate = flow.rate_sample(now, &packet, newly_lost);
        let next = flow.base + flow.packets.len() as u64;
        flow.control.on_ack(&Acknowledged {
            acknowledged_total: Bytes(flow.delivered),
            sent_total: Bytes(flow.delivered + flow.in_flight),
            rtt: Some(rtt),
            smoothed_rtt: Some(Duration::from_seconds(smoothed)),
            minimum_rtt: flow.minimum_rtt,
            in_flight: Bytes(flow.in_flight),
            window_limited: flow.limited,
            recovering: flow.recover.is_some(),
            marked: Bytes(if marked { MSS } else { 0 }),
            rate: Some(rate),
            option: None,
            ..Acknowledged::new(now, Bytes(MSS))
        });
        if flow.recover.is_some_and(|recover| flow.base >= recover) {
            flow.recover = None;
            flow.control.on_recovery_ended(&RecoveryEnded::new(now));
        }
        if newly_lost > 0 && flow.recover.is_none() {
            flow.recover = Some(next);
            flow.control.on_loss(&LossDetected::new(now, Bytes(flow.in_flight + newly_lost)));
        }
        self.send(now, i);
    }

    fn timer(&mut self, now: Time, i: usize) {
        let flow = &mut self.flows[i];
        if flow.in_flight > 0 && now >= flow.last_heard + TIMEOUT {
            let flight_size = Bytes(flow.in_flight);
            flow.control.on_timeout(&Timeout::new(now, flight_size));
            flow.lost += flow.in_flight;
            flow.in_flight = 0;
            flow.base += flow.packets.len() as u64;
            flow.packets.clear();
            flow.recover = None;
            flow.last_heard = now;
            self.send(now, i);
        }
        let next = self.flows[i].last_heard.max(now) + TIMEOUT;
        self.schedule(next, i, What::Timer);
    }

    fn between(&self, from: f64, to: f64) -> &[Look] {
        &self.looks[(from * 1000.0) as usize..(to * 1000.0) as usize]
    }

    /// Share of the path's capacity delivered as payload between these times.
    pub fn utilization(&self, from: f64, to: f64) -> f64 {
        self.shares(from, to).iter().sum::<f64>()
    }

    /// Share of the capacity delivered by each flow.
    pub fn shares(&self, from: f64, to: f64) -> [f64; 2] {
        let looks = self.between(from, to);
        let (first, last) = (&looks[0], &looks[looks.len() - 1]);
        let capacity = self.path.rate / 8.0 * (last.now - first.now);
        [0, 1].map(|i| (last.delivered[i] - first.delivered[i]) as f64 / capacity)
    }

    /// Mean queue in packets.
    pub fn mean_queue(&self, from: f64, to: f64) -> f64 {
        let looks = self.between(from, to);
        looks.iter().map(|look| look.queue as f64).sum::<f64>() / looks.len() as f64
    }

    /// Times at which the first flow entered this phase.
    pub fn entries(&self, phase: Phase) -> Vec<f64> {
        self.looks
            .windows(2)
            .filter(|pair| pair[0].phase != phase && pair[1].phase == phase)
            .map(|pair| pair[1].now)
            .collect()
    }

    /// Smallest and largest window of the first flow.
    pub fn window_range(&self, from: f64, to: f64) -> (f64, f64) {
        let range = |(low, high): (f64, f64), look: &Look| (low.min(look.cwnd), high.max(look.cwnd));
        self.between(from, to).iter().fold((f64::INFINITY, 0.0), range)
    }
}
