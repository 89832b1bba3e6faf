//! RFC 9332, appendix A: DualPI2 with its overload code.

use super::{Fifo, Item, Published, Room, Step, Time, Value, compare, plan, room, time, traffics};
use selfclock_congestion::units::Duration;

struct Constants {
    target: f64,
    tupdate: Duration,
    k: f64,
    min_th: f64,
    range: f64,
}

struct DualPi2 {
    c: Constants,
    room: Room,
    lq: Fifo,
    cq: Fifo,
    lq_count: f64,
    cq_count: f64,
    /// "p'".
    p: f64,
    prevq: f64,
    next_update: Time,
    /// Bytes that the classic queue may still send by the weighted round robin.
    credit: f64,
}

fn recur(count: &mut f64, likelihood: f64) -> bool {
    *count += likelihood;
    if *count > 1.0 {
        *count -= 1.0;
        return true;
    }
    false
}

impl DualPi2 {
    fn time(queue: &Fifo, now: Time) -> f64 {
        queue.0.front().map_or(0.0, |head| now.since(head.arrival).seconds())
    }

    /// Every Tupdate: "dualpi2_update", with the longer of both delays as in Linux, so that an
    /// overload of the low-latency queue alone is controlled, too.
    fn update(&mut self, at: Time) {
        let rtt_max = 0.1;
        let alpha = 0.1 * self.c.tupdate.seconds() / (rtt_max * rtt_max);
        let beta = 0.3 / rtt_max;
        let curq = f64::max(Self::time(&self.lq, at), Self::time(&self.cq, at));
        self.p += alpha * (curq - self.c.target) + beta * (curq - self.prevq);
        self.p = self.p.clamp(0.0, 1.0);
        self.prevq = curq;
    }

    fn run_timer(&mut self, now: Time) {
        while self.next_update <= now {
            let before = (self.p, self.prevq);
            self.update(self.next_update);
            let is_empty = self.lq.0.is_empty() && self.cq.0.is_empty();
            let idle = now.since(self.next_update).picoseconds() / self.c.tupdate.picoseconds();
            let unchanged = is_empty && before == (self.p, self.prevq);
            self.next_update += self.c.tupdate.times(if unchanged { idle + 1 } else { 1 });
        }
    }

    /// "scheduler()": priority for the low-latency queue, with a sixteenth of the bytes for the
    /// classic one (section 4.1).
    fn is_low_latency_next(&self) -> bool {
        match (self.lq.0.front(), self.cq.0.front()) {
            (Some(_), Some(classic)) => self.credit < classic.size as f64,
            (low_latency, _) => low_latency.is_some(),
        }
    }
}

impl Published for DualPi2 {
    fn enqueue(&mut self, now: Time, packet: Item, step: &mut Step) {
        self.run_timer(now);
        if !self.room.holds(self.lq.0.iter().chain(&self.cq.0).chain([&packet])) {
            return step.dropped.push(packet.id);
        }
        let queue = if packet.ecn % 2 == 1 { &mut self.lq } else { &mut self.cq };
        queue.0.push_back(packet);
    }

    fn dequeue(&mut self, now: Time, step: &mut Step) -> Option<Item> {
        self.run_timer(now);
        let p_cmax = f64::min(1.0 / (self.c.k * self.c.k), 1.0);
        let p_lmax = f64::min(self.c.k * p_cmax.sqrt(), 1.0);
        let (p_c, p_cl) = (self.p * self.p, self.c.k * self.p);
        loop {
            // Linux: nothing is dropped, nor marked in the classic queue, up to two packets.
            let backlog = self.lq.bytes() + self.cq.bytes();
            if self.is_low_latency_next() {
                let mut packet = self.lq.0.pop_front()?;
                self.credit = match self.cq.0.is_empty() {
                    true => 0.0,
                    false => self.credit + packet.size as f64 * (1.0 / 16.0) / (1.0 - 1.0 / 16.0),
                };
                if p_cl < p_lmax {
                    let qdelay = now.since(packet.arrival).seconds();
                    let native = if self.lq.0.is_empty() || qdelay < self.c.min_th {
                        0.0
                    } else if qdelay >= self.c.min_th + self.c.range {
                        1.0
                    } else {
                        (qdelay - self.c.min_th) / self.c.range
                    };
                    if recur(&mut self.lq_count, f64::max(native, p_cl)) {
                        packet.mark();
                    }
                } else {
                    if backlog > 2 * 1500 && recur(&mut self.lq_count, p_c) {
                        step.dropped.push(packet.id);
                        continue;
                    }
                    // A likelihood of one or more marks every packet.
                    if p_cl >= 1.0 || recur(&mut self.lq_count, p_cl) {
                        packet.mark();
                    }
                }
                return Some(packet);
            }
            let mut packet = self.cq.0.pop_front()?;
            self.credit = f64::max(self.credit - packet.size as f64, 0.0);
            if backlog > 2 * 1500 && recur(&mut self.cq_count, p_c) && (p_c >= p_cmax || !packet.mark()) {
                step.dropped.push(packet.id);
                continue;
            }
            return Some(packet);
        }
    }
}

/// From an empty link to an overload of four times the rate; couplings below and above one.
#[test]
fn dualpi2_is_that_of_the_rfc() {
    let (mut drops, mut marks) = (0, 0);
    for (target, k, min_th, range) in [(15.0, 2.0, 0.8, 0.4), (15.0, 0.5, 0.8, 0.4), (1.0, 4.0, 5.0, 0.0)] {
        for traffic in traffics(true) {
            let room = room(traffic.seed);
            let tupdate = Duration::from_milliseconds(16);
            let c = Constants { target: target / 1e3, tupdate, k, min_th: min_th / 1e3, range: range / 1e3 };
            let mut reference = DualPi2 {
                c,
                room,
                lq: Fifo::default(),
                cq: Fifo::default(),
                lq_count: 0.0,
                cq_count: 0.0,
                p: 0.0,
                prevq: 0.0,
                next_update: Time::ZERO + tupdate,
                credit: 0.0,
            };
            let settings = [
                ("target", time(target)),
                ("coupling", Value::Number(k)),
                ("ramp_begin", time(min_th)),
                ("ramp_length", time(range)),
            ];
            let done = compare(plan("dualpi2", &settings), room, &traffic, &mut reference);
            (drops, marks) = (drops + done.0, marks + done.1);
        }
    }
    assert!(drops > 10_000 && marks > 1000, "{drops} {marks}");
}
