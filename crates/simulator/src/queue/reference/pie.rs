//! RFC 8033: the pseudo-code of appendices A and B, and sections 4 and 5.

use super::{
    Fifo, Item, Published, Room, Step, Stream, Time, Value, compare, plan, rate_at, room, stream, time,
    traffics,
};
use selfclock_congestion::units::{Bytes, Duration, Rate};

#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub qdelay_ref: f64,
    pub t_update: Duration,
    pub max_burst: Duration,
    pub ecn: bool,
}

/// "PIE->".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variables {
    drop_prob: f64,
    qdelay_old: f64,
    burst_allowance: Duration,
    pub accu_prob: f64,
}

impl Variables {
    pub fn new(k: &Constants) -> Self {
        Self { drop_prob: 0.0, qdelay_old: 0.0, burst_allowance: k.max_burst, accu_prob: 0.0 }
    }

    /// True: drop, or mark.
    fn drop_early(&mut self, k: &Constants, byte_length: u64, random: &mut Stream) -> bool {
        if (self.qdelay_old < k.qdelay_ref / 2.0 && self.drop_prob < 0.2) || byte_length <= 2 * 1500 {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        if self.accu_prob < 0.85 {
            return false;
        }
        if self.accu_prob >= 8.5 || random.uniform() < self.drop_prob {
            self.accu_prob = 0.0;
            return true;
        }
        false
    }

    /// False: the packet is dropped.
    pub fn enque(
        &mut self,
        k: &Constants,
        current_qdelay: f64,
        byte_length: u64,
        packet: &mut Item,
        random: &mut Stream,
    ) -> bool {
        let half = k.qdelay_ref / 2.0;
        if self.drop_prob == 0.0 && current_qdelay < half && self.qdelay_old < half {
            self.burst_allowance = k.max_burst;
        }
        if self.burst_allowance.is_zero() && self.drop_early(k, byte_length, random) {
            // Section 5.1: marked up to "mark_ecnth".
            return k.ecn && self.drop_prob <= 0.1 && packet.mark();
        }
        true
    }

    /// Every T_UPDATE.
    pub fn calculate_drop_prob(&mut self, k: &Constants, current_qdelay: f64) {
        let mut p = 0.125 * (current_qdelay - k.qdelay_ref) + 1.25 * (current_qdelay - self.qdelay_old);
        let steps = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
        p /= steps.iter().find(|(below, _)| self.drop_prob < *below).map_or(1.0, |(_, divisor)| *divisor);
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        // Section 4.2. The appendix decays below half of the target; Linux and ns-3 follow 4.2.
        if current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = current_qdelay;
        self.burst_allowance = self.burst_allowance.saturating_sub(k.t_update);
    }

    /// Updates due, with the delay at each; many in a row that change nothing are one.
    pub fn run_timer(&mut self, k: &Constants, next: &mut Time, now: Time, delay: impl Fn(Time) -> f64) {
        while *next <= now {
            let before = *self;
            self.calculate_drop_prob(k, delay(*next));
            let idle = now.since(*next).picoseconds() / k.t_update.picoseconds();
            *next += k.t_update.times(if before == *self && delay(now) == 0.0 { idle + 1 } else { 1 });
        }
    }
}

struct Pie<'a> {
    k: Constants,
    room: Room,
    /// Rate of the line: section 4.2, "current_qdelay = queue_.byte_length() /
    /// dequeue_rate".
    rate: &'a dyn Fn(Time) -> Rate,
    random: Stream,
    queue: Fifo,
    variables: Variables,
    next_update: Time,
}

impl Pie<'_> {
    fn qdelay(&self, at: Time) -> f64 {
        let rate = (self.rate)(at);
        rate.transmission_time(Bytes(self.queue.bytes())).seconds()
    }

    fn run_timer(&mut self, now: Time) {
        let (mut variables, mut next) = (self.variables, self.next_update);
        variables.run_timer(&self.k, &mut next, now, |at| self.qdelay(at));
        (self.variables, self.next_update) = (variables, next);
    }
}

impl Published for Pie<'_> {
    fn enqueue(&mut self, now: Time, mut packet: Item, step: &mut Step) {
        self.run_timer(now);
        let (delay, bytes) = (self.qdelay(now), self.queue.bytes());
        let Self { k, random, variables, .. } = self;
        if !self.queue.with(&packet, self.room) {
            // Appendix B: a full queue drops and begins to accumulate anew.
            variables.accu_prob = 0.0;
            // The allowance depends on the delay alone: section 4.4.
            let half = k.qdelay_ref / 2.0;
            if variables.drop_prob == 0.0 && delay < half && variables.qdelay_old < half {
                variables.burst_allowance = k.max_burst;
            }
            return step.dropped.push(packet.id);
        }
        if !variables.enque(k, delay, bytes, &mut packet, random) {
            return step.dropped.push(packet.id);
        }
        self.queue.0.push_back(packet);
    }

    fn dequeue(&mut self, now: Time, _: &mut Step) -> Option<Item> {
        self.run_timer(now);
        self.queue.0.pop_front()
    }
}

/// Bursts that pass by their allowance, the return of the allowance after an idle time,
/// probabilities from none to one, marks up to a tenth.
#[test]
fn pie_is_that_of_the_rfc() {
    let (mut drops, mut marks) = (0, 0);
    for (target, update, burst) in [(15.0, 15.0, 150.0), (1.0, 5.0, 0.0), (100.0, 30.0, 500.0)] {
        for ecn in [false, true] {
            for traffic in traffics(true) {
                let rates = traffic.generate().1;
                let room = room(traffic.seed);
                let ms = |value: f64| Duration::from_picoseconds((value * 1e9) as u64);
                let k =
                    Constants { qdelay_ref: target / 1e3, t_update: ms(update), max_burst: ms(burst), ecn };
                let mut reference = Pie {
                    k,
                    room,
                    rate: &|time| rate_at(&rates, time),
                    random: stream(traffic.seed),
                    queue: Fifo::default(),
                    variables: Variables::new(&k),
                    next_update: Time::ZERO + k.t_update,
                };
                let settings = [
                    ("target", time(target)),
                    ("update", time(update)),
                    ("burst", time(burst)),
                    ("ecn", Value::Switch(ecn)),
                ];
                let done = compare(plan("pie", &settings), room, &traffic, &mut reference);
                (drops, marks) = (drops + done.0, marks + done.1);
            }
        }
    }
    assert!(drops > 10_000 && marks > 20, "{drops} {marks}");
}
