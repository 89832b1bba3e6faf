//! RFC 8289, section 5: the pseudo-code of `deque` and `dodeque`.

use super::{Duration, Fifo, Item, Published, Room, Step, Time, Value, compare, plan, room, time, traffics};

/// Variables of one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    first_above_time: Option<Time>,
    drop_next: Time,
    pub count: u64,
    lastcount: u64,
    dropping: bool,
    maxpacket: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub target: Duration,
    pub interval: Duration,
    /// Mark instead of dropping what can be marked. The RFC leaves it open; the packet is then the
    /// one that leaves, and nothing else is taken in its place.
    pub ecn: bool,
}

struct DodequeResult {
    p: Option<Item>,
    ok_to_drop: bool,
}

impl Constants {
    fn control_law(&self, t: Time, count: u64) -> Time {
        t + Duration::from_picoseconds((self.interval.picoseconds() as f64 / (count as f64).sqrt()) as u64)
    }
}

impl Variables {
    pub fn seen(&mut self, packet: &Item) {
        self.maxpacket = self.maxpacket.max(packet.size);
    }

    /// `bytes` are those that wait here and elsewhere, where these count too.
    fn dodeque(&mut self, now: Time, k: &Constants, queue: &mut Fifo, elsewhere: u64) -> DodequeResult {
        let Some(p) = queue.0.pop_front() else {
            self.first_above_time = None;
            return DodequeResult { p: None, ok_to_drop: false };
        };
        let mut ok_to_drop = false;
        let sojourn_time = now.since(p.arrival);
        if sojourn_time < k.target || queue.bytes() + elsewhere <= self.maxpacket {
            self.first_above_time = None;
        } else {
            match self.first_above_time {
                None => self.first_above_time = Some(now + k.interval),
                Some(since) => ok_to_drop = now >= since,
            }
        }
        DodequeResult { p: Some(p), ok_to_drop }
    }

    pub fn deque(
        &mut self,
        now: Time,
        k: &Constants,
        queue: &mut Fifo,
        elsewhere: u64,
        dropped: &mut Vec<u32>,
    ) -> Option<Item> {
        let mut r = self.dodeque(now, k, queue, elsewhere);
        if self.dropping {
            if !r.ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                let mut packet = r.p.expect("only packets are dropped");
                self.count += 1;
                if k.ecn && packet.mark() {
                    self.drop_next = k.control_law(self.drop_next, self.count);
                    return Some(packet);
                }
                dropped.push(packet.id);
                r = self.dodeque(now, k, queue, elsewhere);
                if !r.ok_to_drop {
                    self.dropping = false;
                } else {
                    self.drop_next = k.control_law(self.drop_next, self.count);
                }
            }
        } else if r.ok_to_drop {
            let mut packet = r.p.expect("only packets are dropped");
            if k.ecn && packet.mark() {
                r.p = Some(packet);
            } else {
                dropped.push(packet.id);
                r = self.dodeque(now, k, queue, elsewhere);
            }
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            let since = now.picoseconds() as i128 - self.drop_next.picoseconds() as i128;
            if delta > 1 && since < 16 * i128::from(k.interval.picoseconds()) {
                self.count = delta;
            }
            self.drop_next = k.control_law(now, self.count);
            self.lastcount = self.count;
        }
        r.p
    }
}

pub(super) struct CoDel {
    k: Constants,
    room: Room,
    queue: Fifo,
    variables: Variables,
}

impl CoDel {
    pub fn new(k: Constants, room: Room) -> Self {
        Self { k, room, queue: Fifo::default(), variables: Variables::default() }
    }
}

impl Published for CoDel {
    fn enqueue(&mut self, _: Time, packet: Item, step: &mut Step) {
        if !self.queue.with(&packet, self.room) {
            return step.dropped.push(packet.id);
        }
        self.variables.seen(&packet);
        self.queue.0.push_back(packet);
    }

    fn dequeue(&mut self, now: Time, step: &mut Step) -> Option<Item> {
        self.variables.deque(now, &self.k, &mut self.queue, 0, &mut step.dropped)
    }
}

/// Targets and intervals from far below a packet time to far above; the memory of `count` is used
/// when drops resume within 16 intervals, and not after the long silences.
#[test]
fn codel_is_that_of_the_rfc() {
    let (mut drops, mut marks) = (0, 0);
    for (target, interval) in [(5.0, 100.0), (0.1, 1.0), (20.0, 10.0), (0.0, 300.0)] {
        for ecn in [false, true] {
            for traffic in traffics(true) {
                let room = room(traffic.seed);
                let ms = |value: f64| Duration::from_picoseconds((value * 1e9) as u64);
                let k = Constants { target: ms(target), interval: ms(interval), ecn };
                let mut reference = CoDel::new(k, room);
                let settings =
                    [("target", time(target)), ("interval", time(interval)), ("ecn", Value::Switch(ecn))];
                let done = compare(plan("codel", &settings), room, &traffic, &mut reference);
                (drops, marks) = (drops + done.0, marks + done.1);
            }
        }
    }
    assert!(drops > 10_000 && marks > 1000, "{drops} {marks}");
}
