//! A sender, a bottleneck and a receiver in a few lines, to record connections. 10 Mbit/s, 40 ms, a
//! queue of 30 packets that marks above 20; random losses and marks, a blackout that ends in a
//! timeout, a spurious loss.

use std::collections::{BTreeMap, VecDeque};

use selfclock_congestion::option::{PeerOption, QuickStartOption, XcpOption};
use selfclock_congestion::random::Random;
use selfclock_congestion::receiver::{INITIAL_TTL, Partner};
use selfclock_congestion::trace::Recorder;
use selfclock_congestion::{
    Acknowledged, Bytes, DuplicateAck, Duration, EcnEcho, Established, LossDetected, MssChanged, Probe,
    ProbePart, Rate, RateSample, RecoveryEnded, Resumed, Selection, Sent, Setup, SpuriousLoss, Time, Timeout,
};

const MSS: u64 = 1448;
const EVENTS: u32 = 1200;
const RTT: Duration = Duration::from_milliseconds(40);
const BOTTLENECK: Rate = Rate::from_bits_per_second(10_000_000);
const QUEUE: u64 = 30;
const MARK_ABOVE: u64 = 20;
/// Period in which everything sent is lost.
const BLACKOUT: (Duration, Duration) = (Duration::from_milliseconds(350), Duration::from_milliseconds(450));

/// A segment in flight, and its ACK.
#[derive(Clone, Copy)]
struct Segment {
    sequence: u64,
    sent: Time,
    delivered_before: u64,
    marked: bool,
    option: Option<PeerOption>,
}

struct Connection {
    recorder: Recorder,
    partner: Partner,
    accurate_marks: bool,
    random: Random,
    now: Time,
    events: u32,
    /// Pending ACKs, in order of arrival.
    acks: VecDeque<(Time, Segment)>,
    /// Unacknowledged segments: lost ones with the number of segments acknowledged after them.
    outstanding: BTreeMap<u64, (Segment, u32)>,
    next: u64,
    delivered: u64,
    link_free: Time,
    next_release: Time,
    allowed: u64,
    recover: Option<u64>,
    losses: u32,
    duplicates: u32,
    echoed_until: Time,
    last_progress: Time,
}

/// A connection under this algorithm, as a trace.
pub fn record(selection: &Selection) -> Vec<u8> {
    let setup = Setup { seed: 7, ..Setup::default() };
    let mut connection = Connection {
        recorder: Recorder::new(selection, setup),
        partner: selection.partner(),
        accurate_marks: !selection.responds_to_marks(false),
        random: Random::new(7),
        now: Time::ZERO,
        events: 0,
        acks: VecDeque::new(),
        outstanding: BTreeMap::new(),
        next: 0,
        delivered: 0,
        link_free: Time::ZERO,
        next_release: Time::ZERO,
        allowed: 0,
        recover: None,
        losses: 0,
        duplicates: 0,
        echoed_until: Time::ZERO,
        last_progress: Time::ZERO,
    };
    connection.run();
    connection.recorder.finish()
}

/// Routers on the path approve a small part of the request.
fn through_routers(option: Option<PeerOption>) -> Option<PeerOption> {
    match option {
        Some(PeerOption::QuickStart(QuickStartOption::Request { rate, ttl, nonce })) => {
            let (rate, ttl) = (rate.min(7), ttl.wrapping_sub(1));
            // A router that lowers a rate overwrites the nonce's bits above it; the sender checks
            // only those below.
            Some(PeerOption::QuickStart(QuickStartOption::Request { rate, ttl, nonce }))
        }
        Some(PeerOption::Xcp(XcpOption::Request { window, rtt_us, .. })) => {
            let feedback = 16 * (60_000 - i64::from(window).min(90_000)) as i32 / 40;
            Some(PeerOption::Xcp(XcpOption::Request { window, rtt_us, feedback }))
        }
        other => other,
    }
}

impl Connection {
    fn run(&mut self) {
        let syn = through_routers(self.recorder.option_for_syn());
        let mut event = Established::new(Time::ZERO + RTT, Some(RTT));
        event.option = self.partner.on_syn(Time::ZERO, syn, INITIAL_TTL - 1);
        self.now = event.now;
        self.last_progress = self.now;
        self.tell(event);
        self.transmit();
        while self.events < EVENTS {
            self.step();
        }
        self.pause(Duration::from_milliseconds(2000));
        while self.events < EVENTS + 200 {
            self.step();
        }
        let (now, half) = (self.now, Bytes(MSS / 2));
        self.tell(MssChanged::new(now, half));
        let mut event = Acknowledged::new(now, half);
        event.smoothed_rtt = Some(RTT);
        self.tell(event);
    }

    fn tell(&mut self, event: impl Into<selfclock_congestion::Event>) {
        self.recorder.on(&event.into());
        self.events += 1;
    }

    /// The next event: an ACK, a release, or the timeout.
    fn step(&mut self) {
        let timeout = self.last_progress + Duration::from_milliseconds(300);
        let ack = self.acks.front().map_or(Time::NEVER, |(time, _)| *time);
        let release = if self.may_send() { self.next_release.max(self.now) } else { Time::NEVER };
        self.now = ack.min(release).min(timeout);
        if self.now == timeout && timeout < ack {
            self.time_out();
        } else if ack <= release
            && let Some((_, segment)) = self.acks.pop_front()
        {
            self.acknowledge(segment);
        }
        self.transmit();
    }

    /// The application pauses; meanwhile the last ACKs arrive unseen.
    fn pause(&mut self, idle: Duration) {
        self.outstanding.clear();
        self.acks.clear();
        self.now += idle;
        self.last_progress = self.now;
        self.tell(Resumed::new(self.now, idle, Duration::from_milliseconds(300)));
        self.transmit();
    }

    fn in_flight(&self) -> u64 {
        self.outstanding.len() as u64 * MSS
    }

    fn may_send(&self) -> bool {
        let decision = self.recorder.controller().decision();
        self.in_flight() + MSS <= decision.window.get()
            && (self.allowed >= MSS || self.outstanding.is_empty())
    }

    fn transmit(&mut self) {
        for _ in 0..50 {
            if !self.may_send() || self.next_release > self.now {
                return;
            }
            let decision = self.recorder.controller().decision();
            let parts: &[ProbePart] = match decision.probe {
                Some(Probe::Pair) if self.in_flight() + 2 * MSS <= decision.window.get() => {
                    &[ProbePart::PairFirst, ProbePart::PairSecond]
                }
                _ => &[ProbePart::Single],
            };
            for part in parts {
                let sequence = self.next;
                self.next += MSS;
                self.send(sequence, *part);
            }
            if let Some(pacing) = decision.pacing {
                let after = pacing.interval.times(parts.len() as u64);
                self.next_release = self.now.max(self.next_release) + after;
            }
        }
    }

    fn send(&mut self, sequence: u64, part: ProbePart) {
        let option = through_routers(self.recorder.option_for(part));
        let waiting = self.link_free.since(self.now).picoseconds();
        let size = Bytes(MSS + 52);
        let queue = waiting / BOTTLENECK.transmission_time(size).picoseconds();
        let marked = queue > MARK_ABOVE || self.random.bits().is_multiple_of(40);
        let mut segment =
            Segment { sequence, sent: self.now, delivered_before: self.delivered, marked, option: None };
        let since = self.now.since(Time::ZERO);
        let lost = queue >= QUEUE
            || (BLACKOUT.0..BLACKOUT.1).contains(&since)
            || self.random.bits().is_multiple_of(60);
        if !lost {
            self.link_free = self.link_free.max(self.now) + BOTTLENECK.transmission_time(size);
            let arrival = self.link_free + Duration::from_milliseconds(20);
            let request = self.partner.on_data(arrival, option, INITIAL_TTL - 1);
            segment.option = request.option.or_else(|| self.partner.option_for_ack(arrival));
            self.acks.push_back((arrival + Duration::from_milliseconds(20), segment));
        }
        self.outstanding.insert(sequence, (segment, 0));
        self.allowed = self.allowed.saturating_sub(MSS);
        let mut event = Sent::new(self.now, Bytes(MSS), Bytes(self.in_flight()));
        let window = self.recorder.controller().decision().window.get();
        event.held_back = Bytes(window.saturating_sub(self.in_flight()));
        self.tell(event);
    }

    fn rate_sample(&mut self, segment: &Segment) -> RateSample {
        let mut sample = RateSample::default();
        sample.delivered_total = Bytes(self.delivered);
        sample.prior_delivered = Bytes(segment.delivered_before);
        sample.delivered = Bytes(self.delivered - segment.delivered_before);
        sample.interval = self.now.since(segment.sent);
        let bits = sample.delivered.get() as f64 * 8.0 / sample.interval.seconds();
        sample.delivery_rate = Rate::from_bits_per_second(bits as u64);
        sample.newly_acked = Bytes(MSS);
        sample.tx_in_flight = Bytes(self.in_flight() + MSS);
        sample
    }

    fn acknowledge(&mut self, segment: Segment) {
        let Some(oldest) = self.outstanding.keys().next().copied() else { return };
        if self.outstanding.remove(&segment.sequence).is_none() {
            return;
        }
        self.delivered += MSS;
        self.last_progress = self.now;
        let rate = Some(self.rate_sample(&segment));
        let rtt = Some(self.now.since(segment.sent));
        let marked = Bytes(if segment.marked { MSS } else { 0 });
        if segment.marked && !self.accurate_marks && self.now >= self.echoed_until {
            self.echoed_until = self.now + RTT.times(4);
            self.tell(EcnEcho::new(self.now, Bytes(self.in_flight())));
        }
        if segment.sequence == oldest {
            self.duplicates = 0;
            let mut event = Acknowledged::new(self.now, Bytes(MSS));
            event.acknowledged_total = Bytes(self.delivered);
            event.sent_total = Bytes(self.next);
            (event.rtt, event.smoothed_rtt, event.minimum_rtt) = (rtt, rtt, Some(RTT));
            event.in_flight = Bytes(self.in_flight());
            event.recovering = self.recover.is_some();
            (event.marked, event.rate, event.option) = (marked, rate, segment.option);
            self.tell(event);
        } else {
            self.duplicates += 1;
            let mut event = DuplicateAck::new(self.now, self.duplicates);
            event.in_flight = Bytes(self.in_flight());
            (event.rtt, event.marked, event.rate, event.option) = (rtt, marked, rate, segment.option);
            self.tell(event);
        }
        self.detect_losses(segment.sequence);
        if self
            .recover
            .is_some_and(|recover| self.outstanding.keys().next().is_none_or(|&una| una >= recover))
        {
            self.recover = None;
            self.tell(RecoveryEnded::new(self.now));
        }
        self.allowed = self.recorder.controller().decision().allowance.get();
    }

    /// A segment is lost when three segments sent after it have been acknowledged.
    fn detect_losses(&mut self, acknowledged: u64) {
        let mut lost = Vec::new();
        for (sequence, (_, after)) in self.outstanding.range_mut(..acknowledged) {
            *after += 1;
            if *after == 3 {
                lost.push(*sequence);
            }
        }
        if !lost.is_empty() && self.recover.is_none() {
            self.recover = Some(self.next);
            self.losses += 1;
            let mut event = LossDetected::new(self.now, Bytes(self.in_flight()));
            event.lost = Bytes(lost.len() as u64 * MSS);
            self.tell(event);
            if self.losses.is_multiple_of(2) {
                self.tell(SpuriousLoss::new(self.now));
                self.recover = None;
            }
        }
        for sequence in lost {
            self.send(sequence, ProbePart::Single);
        }
    }

    fn time_out(&mut self) {
        self.tell(Timeout::new(self.now, Bytes(self.in_flight())));
        self.last_progress = self.now;
        (self.recover, self.duplicates) = (None, 0);
        self.acks.clear();
        let una = self.outstanding.keys().next().copied().unwrap_or(self.next);
        self.outstanding.clear();
        self.next = una;
        self.next_release = self.now;
    }
}
