//! DualPI2: a short queue for scalable congestion controls beside a classic one, their marking
//! coupled by a square. RFC 9332, appendix A.

use super::managed::{ActsAbove, Discipline, LinkSite, UsualLimit, Work};
use crate::engine::Ring;
use crate::named::settings;
use crate::packet::{Flags, Packet};
use selfclock_congestion::units::{Duration, Time};

/// Maximum round-trip time for which the controller is stable, s: "RTT_max".
const LONGEST_RTT: f64 = 0.1;
/// Minimum share of the classic queue, by bytes, while both wait: the weight of the scheduler in
/// section 4.1, one sixteenth.
const CLASSIC_SHARE: f64 = 1.0 / 16.0;
/// Backlog in bytes up to which nothing is dropped.
const LEAST_BACKLOG: u64 = 2 * 1500;

selfclock_congestion::parameters! {
    /// Settings of DualPI2.
    Parameters {
        /// Delay of the classic queue that the controller aims at.
        target: Duration = Duration::from_milliseconds(15), shown "15 ms", unit "s", range (1e-9, 1000.0), source "RFC 9332, appendix A.1";
        /// Interval of its updates.
        update: Duration = Duration::from_milliseconds(16), shown "16 ms", unit "s", range (1e-9, 1000.0), source "RFC 9332, appendix A.1";
        /// Coupling factor: "k".
        coupling: f64 = 2.0, shown "2", unit "", range (0.1, 10.0), source "RFC 9332, appendix A.1";
        /// Delay in the low-latency queue above which that queue marks.
        ramp_begin: Duration = Duration::from_microseconds(800), shown "800 us", unit "s", range (0.0, 1000.0), source "RFC 9332, appendix A.1: minTh";
        /// How much more it takes to mark every packet; "0 s" is a step.
        ramp_length: Duration = Duration::from_microseconds(400), shown "400 us", unit "s", range (0.0, 1000.0), source "RFC 9332, appendix A.1: range";
    }
}
settings!(
    Parameters,
    "dualpi2",
    "A short queue for what carries ECT(1) beside one for the rest, coupled.",
    "RFC 9332"
);

/// The two queues.
#[derive(Clone, Debug)]
pub(crate) struct DualPi2 {
    plan: Parameters,
    low_latency: Ring<Packet>,
    classic: Ring<Packet>,
    control: Control,
    next_update: Time,
    /// Accumulated probabilities of both queues: `recur` marks evenly, not at random.
    low_latency_count: f64,
    classic_count: f64,
    /// Bytes that the classic queue may send before the other.
    classic_credit: f64,
}

/// The proportional-integral controller and its coupled probabilities.
#[derive(Clone, Copy, Debug, Default)]
struct Control {
    /// "p'".
    base: f64,
    /// Delay at the last update, s.
    delay_before: f64,
}

impl Control {
    /// `dualpi2_update`, from the current delay, s.
    fn update(&mut self, plan: &Parameters, delay: f64) {
        let integral = 0.1 * plan.update.seconds() / (LONGEST_RTT * LONGEST_RTT);
        let proportional = 0.3 / LONGEST_RTT;
        self.base += integral * (delay - plan.target.seconds()) + proportional * (delay - self.delay_before);
        self.base = self.base.clamp(0.0, 1.0);
        self.delay_before = delay;
    }

    /// "p_C": probability of a drop or mark in the classic queue.
    fn classic(self) -> f64 {
        self.base * self.base
    }

    /// "p_CL": probability of a mark in the other queue that is coupled to it.
    fn coupled(self, coupling: f64) -> f64 {
        coupling * self.base
    }
}

impl DualPi2 {
    /// Runs updates that are due. The queue has not changed since, only aged.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            let at = self.next_update;
            let age =
                |queue: &Ring<Packet>| queue.front().map_or(Duration::ZERO, |first| at.since(first.arrival));
            let delay = age(&self.low_latency).max(age(&self.classic));
            self.control.update(&self.plan, delay.seconds());
            self.next_update += self.plan.update;
            if delay.is_zero() && self.control.base == 0.0 {
                // Nothing changes before the next packet.
                let missed = now.since(self.next_update).picoseconds() / self.plan.update.picoseconds();
                self.next_update += self.plan.update.times(missed);
            }
        }
    }

    /// The next packet in the scheduler's order, and whether it is from the classic queue: the
    /// other has priority, apart from the classic queue's share.
    fn take(&mut self) -> Option<(Packet, bool)> {
        let Some(classic) = self.classic.front() else {
            self.classic_credit = 0.0;
            return self.low_latency.pop().map(|packet| (packet, false));
        };
        if !self.low_latency.is_empty() && self.classic_credit < f64::from(classic.size) {
            let packet = self.low_latency.pop()?;
            self.classic_credit += f64::from(packet.size) * CLASSIC_SHARE / (1.0 - CLASSIC_SHARE);
            return Some((packet, false));
        }
        let packet = self.classic.pop()?;
        self.classic_credit = (self.classic_credit - f64::from(packet.size)).max(0.0);
        Some((packet, true))
    }
}

impl Discipline for DualPi2 {
    type Settings = Parameters;

    fn new(plan: Parameters, _: LinkSite) -> Self {
        Self {
            plan,
            low_latency: Ring::default(),
            classic: Ring::default(),
            control: Control::default(),
            next_update: Time::ZERO + plan.update,
            low_latency_count: 0.0,
            classic_count: 0.0,
            classic_credit: 0.0,
        }
    }

    fn enqueue(&mut self, packet: Packet, work: &mut Work) {
        self.catch_up(work.now);
        if !work.backlog.has_room(packet.size) {
            return work.drop(packet);
        }
        work.entered(&packet);
        // "ecn(pkt) modulo 2 == 1": ECT(1) or CE.
        let low_latency = packet.flags.has(Flags::ECT_1) || packet.flags.has(Flags::CE);
        if low_latency { &mut self.low_latency } else { &mut self.classic }.push(packet);
    }

    fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        self.catch_up(work.now);
        loop {
            let backlog = work.backlog.bytes;
            let (mut packet, classic) = self.take()?;
            work.left(&packet);
            let coupling = self.plan.coupling;
            let (dropping, coupled) = (self.control.classic(), self.control.coupled(coupling));
            if classic {
                if backlog > LEAST_BACKLOG && recur(&mut self.classic_count, dropping) {
                    // "p_Cmax": above it a scalable control's response to marks would not suffice.
                    let most = (1.0 / (coupling * coupling)).min(1.0);
                    if dropping >= most || !work.mark(&mut packet) {
                        work.drop(packet);
                        continue;
                    }
                }
                return Some(packet);
            }
            // "p_Lmax": what the other queue marks when the classic one begins to drop.
            if coupled < coupling.min(1.0) {
                let native = ramp(&self.plan, work.now.since(packet.arrival), self.low_latency.is_empty());
                if recur(&mut self.low_latency_count, native.max(coupled)) {
                    work.mark(&mut packet);
                }
            } else {
                // Overload: drops replace marks that no longer carry information.
                if backlog > LEAST_BACKLOG && recur(&mut self.low_latency_count, dropping) {
                    work.drop(packet);
                    continue;
                }
                if coupled >= 1.0 || recur(&mut self.low_latency_count, coupled) {
                    work.mark(&mut packet);
                }
            }
            return Some(packet);
        }
    }

    fn for_each(&self, show: &mut dyn FnMut(&Packet)) {
        self.low_latency.iter().chain(self.classic.iter()).for_each(show);
    }

    fn marks(_: &Parameters) -> bool {
        true
    }

    fn usual_limit(_: &Parameters) -> Option<UsualLimit> {
        Some(UsualLimit { packets: 10_000, source: "Linux tc-dualpi2(8)" })
    }

    fn acts_above(settings: &Parameters) -> Option<ActsAbove> {
        Some(ActsAbove::Delay(settings.target))
    }
}

/// `laqm`: the low-latency queue's own marking, a ramp over its delay; not for the only packet
/// ("Th_len").
fn ramp(plan: &Parameters, delay: Duration, is_last: bool) -> f64 {
    if delay < plan.ramp_begin || is_last {
        return 0.0;
    }
    let above = delay.saturating_sub(plan.ramp_begin).picoseconds() as f64;
    match plan.ramp_length.picoseconds() {
        0 => 1.0,
        length => (above / length as f64).min(1.0),
    }
}

/// True each time the accumulated probability passes a whole number.
fn recur(count: &mut f64, probability: f64) -> bool {
    *count += probability;
    let whole = *count > 1.0;
    if whole {
        *count -= 1.0;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Parameters {
        let us = Duration::from_microseconds;
        Parameters {
            target: us(15_000),
            update: us(16_000),
            coupling: 2.0,
            ramp_begin: us(800),
            ramp_length: us(400),
        }
    }

    /// By hand: 0.16 (delay - target) + 3 (delay - before), in seconds and hertz.
    #[test]
    fn updates_are_those_of_the_pseudo_code() {
        let mut control = Control { base: 0.1, delay_before: 0.020 };
        control.update(&plan(), 0.025);
        assert!((control.base - (0.1 + 0.16 * 0.010 + 3.0 * 0.005)).abs() < 1e-12, "{}", control.base);
    }

    /// p_C = (p_CL / k)^2, with k = 2.
    #[test]
    fn marking_is_coupled_by_a_square() {
        for base in [0.01, 0.1, 0.3] {
            let control = Control { base, delay_before: 0.0 };
            let (classic, coupled) = (control.classic(), control.coupled(2.0));
            assert!((classic - (coupled / 2.0) * (coupled / 2.0)).abs() < 1e-15);
        }
    }

    /// Marks come at the rate of the probability, evenly.
    #[test]
    fn marks_are_even() {
        let (mut count, mut marks) = (0.0, 0);
        for _ in 0..10_000 {
            marks += u32::from(recur(&mut count, 0.13));
        }
        assert!((1299..=1300).contains(&marks), "{marks}");
    }

    #[test]
    fn the_ramp_goes_from_800_to_1200_microseconds() {
        let us = Duration::from_microseconds;
        for (delay, expected) in [(799, 0.0), (1000, 0.5), (1200, 1.0), (5000, 1.0)] {
            assert!((ramp(&plan(), us(delay), false) - expected).abs() < 1e-12, "{delay}");
        }
        assert_eq!(ramp(&plan(), us(5000), true), 0.0);
    }
}
