//! Floyd and Jacobson 1993, figure 2: the detailed algorithm; "gentle" of 2000 and the adaptation
//! of Floyd, Gummadi and Shenker 2001, figure 1.

use super::{
    Bytes, Fifo, Item, Published, Rate, Room, Step, Stream, Time, Value, compare, plan, rate_at, room,
    stream, traffics,
};
use selfclock_congestion::units::Duration;

#[derive(Clone, Copy, Debug)]
struct Settings {
    min_th: f64,
    max_th: f64,
    max_p: f64,
    w_q: f64,
    gentle: bool,
    adaptive: bool,
    ecn: bool,
    hard_drop: bool,
}

struct RandomEarlyDetection<'a> {
    k: Settings,
    room: Room,
    /// Rate of the line.
    rate: &'a dyn Fn(Time) -> Rate,
    random: Stream,
    queue: Fifo,
    avg: f64,
    count: i64,
    /// Start of the idle time, while there is one.
    q_time: Option<Time>,
    max_p: f64,
    next_interval: Time,
}

impl RandomEarlyDetection<'_> {
    /// Time of a "small packet" of 1000 B.
    fn s(&self, now: Time) -> Duration {
        (self.rate)(now).transmission_time(Bytes(1000))
    }
}

impl Published for RandomEarlyDetection<'_> {
    fn enqueue(&mut self, now: Time, mut packet: Item, step: &mut Step) {
        let q = self.queue.0.len() as f64;
        let idle_from = self.q_time.take();
        if let Some(since) = idle_from {
            // ns-2's `m + 1`: the arrival finds an empty queue, too.
            let m = now.since(since).picoseconds() as f64 / self.s(now).picoseconds() as f64;
            self.avg *= libm::pow(1.0 - self.k.w_q, m);
        }
        self.avg += self.k.w_q * (q - self.avg);
        // Every interval of 0.5 s, with the average of the arrival that follows: none is computed
        // without arrivals.
        while self.k.adaptive && self.next_interval <= now {
            self.next_interval += Duration::from_milliseconds(500);
            let third = self.k.max_th - self.k.min_th;
            if self.avg > self.k.min_th + 0.6 * third && self.max_p <= 0.5 {
                self.max_p += f64::min(0.01, self.max_p / 4.0);
            } else if self.avg < self.k.min_th + 0.4 * third && self.max_p >= 0.01 {
                self.max_p *= 0.9;
            }
        }
        let mut congested = false;
        if self.avg < self.k.min_th {
            self.count = -1;
        } else {
            let p_b = if self.avg < self.k.max_th {
                self.max_p * ((self.avg - self.k.min_th) / (self.k.max_th - self.k.min_th))
            } else if self.k.gentle {
                self.max_p + (1.0 - self.max_p) * (self.avg - self.k.max_th) / self.k.max_th
            } else {
                1.0
            };
            if p_b >= 1.0 {
                congested = true;
            } else {
                self.count += 1;
                let p_a = p_b / (1.0 - self.count as f64 * p_b);
                congested = !(0.0..1.0).contains(&p_a) || self.random.uniform() < p_a;
            }
            if congested {
                self.count = 0;
            }
        }
        let may_mark = self.k.ecn && !(self.k.hard_drop && self.avg >= self.k.max_th);
        if !self.queue.with(&packet, self.room) || (congested && !(may_mark && packet.mark())) {
            step.dropped.push(packet.id);
            if self.queue.0.is_empty() {
                // The time until now is in the average; the line may still be busy.
                self.q_time = idle_from.max(Some(now));
            }
            return;
        }
        self.queue.0.push_back(packet);
    }

    fn dequeue(&mut self, now: Time, _: &mut Step) -> Option<Item> {
        let packet = self.queue.0.pop_front()?;
        if self.queue.0.is_empty() {
            // The line is idle once it has sent this packet, counted as a small one.
            self.q_time = Some(now + self.s(now));
        }
        Some(packet)
    }
}

/// Fixed, gentle and adaptive RED; with a step in the place of the ramp; after silences of many
/// idle packet times.
#[test]
fn red_is_that_of_the_papers() {
    let usual = Settings {
        min_th: 5.0,
        max_th: 15.0,
        max_p: 0.1,
        w_q: 0.002,
        gentle: true,
        adaptive: false,
        ecn: true,
        hard_drop: true,
    };
    let quick = Settings { w_q: 0.2, max_p: 0.3, ..usual };
    let step =
        Settings { min_th: 7.0, max_th: 7.0, w_q: 1.0, max_p: 1.0, gentle: false, hard_drop: false, ..usual };
    let (mut drops, mut marks) = (0, 0);
    for k in [
        usual,
        quick,
        step,
        Settings { gentle: false, ..quick },
        Settings { adaptive: true, ..usual },
        Settings { adaptive: true, ecn: false, ..quick },
        Settings { hard_drop: false, ..quick },
        Settings { hard_drop: false, gentle: false, ..usual },
    ] {
        for traffic in traffics(true) {
            let rates = traffic.generate().1;
            let room = room(traffic.seed);
            let mut reference = RandomEarlyDetection {
                k,
                room,
                rate: &|time| rate_at(&rates, time),
                random: stream(traffic.seed),
                queue: Fifo::default(),
                avg: 0.0,
                count: -1,
                q_time: Some(Time::ZERO),
                max_p: k.max_p,
                next_interval: Time::ZERO + Duration::from_milliseconds(500),
            };
            let settings = [
                ("minimum", Value::Packets(k.min_th as u64)),
                ("maximum", Value::Packets(k.max_th as u64)),
                ("max_probability", Value::Number(k.max_p)),
                ("weight", Value::Number(k.w_q)),
                ("gentle", Value::Switch(k.gentle)),
                ("adaptive", Value::Switch(k.adaptive)),
                ("ecn", Value::Switch(k.ecn)),
                ("hard_drop", Value::Switch(k.hard_drop)),
            ];
            let done = compare(plan("red", &settings), room, &traffic, &mut reference);
            (drops, marks) = (drops + done.0, marks + done.1);
        }
    }
    assert!(drops > 10_000 && marks > 10_000, "{drops} {marks}");
}
