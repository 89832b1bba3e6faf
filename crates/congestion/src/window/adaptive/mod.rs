//! Adaptive TCP (A-TCP) of Cho and Bettati, as the ALTCP paper describes it: a flow grows like k
//! flows of TCP while it is alone and the queue is short, and is Reno otherwise.
//!
//! The paper describes A-TCP's behaviour, not its mechanism: "It does so by keeping track of the
//! minimum and maximum of the smoothed Round Trip Time (srtt_min and srtt_max, respectively) and
//! triggers detection when the estimated queue build-up (srtt - srtt_min) exceeds some threshold".
//! The threshold, the growth of k and the detector are ours; each is marked "our choice".

mod detector;
mod group;
mod parameters;

pub use group::Group;
pub use parameters::{Hold, Increase, Parameters};

use super::reno::Reno;
use crate::entry::Entry;
use crate::estimate::round_trip::{RoundTrip, RoundTripTimes};
use crate::event::{Acknowledged, LossDetected, Resumed, Timeout};
use crate::held::Held;
use crate::part::WindowPart;
use crate::state::WindowState;
use crate::units::{Duration, Time};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "adaptive",
    about: "As strong as k flows while it is alone and the queue is short, Reno in congestion or competition.",
    source: "Cho, Bettati: Adaptive TCP, as described in Kavidha, Sadasivam: Exploring Round Trip Time fairness for \
             Adaptive Layered Transmission Control Protocol",
    parameters: Parameters::TABLE,
    groups: true,
    ..Entry::WINDOW
};

/// Adaptive TCP.
#[derive(Clone, Debug)]
pub struct Adaptive {
    parameters: Parameters,
    reno: Reno,
    /// Its own knowledge, or that of its group. Boxed to keep other window algorithms small.
    group: Held<Group>,
    round: RoundTrip,
    times: RoundTripTimes,
    /// As a member of a group: its window in the sum, and the group's losses it has responded to.
    counted: Option<f64>,
    answered: u64,
}

impl Adaptive {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            reno: Reno::STANDARD,
            group: Held::new(Group { members: 1.0, ..Group::default() }),
            round: RoundTrip::default(),
            times: RoundTripTimes::NONE,
            counted: None,
            answered: 0,
        }
    }

    /// The window whose growth makes the queue; for a group, the sum.
    pub(super) fn window(&self, state: &WindowState) -> f64 {
        self.counted.map_or(state.cwnd, |counted| self.group.window - counted + state.cwnd)
    }

    /// Flows that it shares its knowledge with, itself included.
    pub(super) fn members(&self) -> f64 {
        self.group.members
    }

    /// Whether k is above 1: it is alone, and the queue is short.
    pub(super) fn is_strong(&self) -> bool {
        self.group.strength > 1.0
    }

    /// A loss to which all members respond, keeping this part of each window.
    pub(super) fn lose(&mut self, now: Time, kept: f64) {
        self.answered = self.group.lose(now, kept);
    }

    /// Whether this member has responded to a loss of the group at most a round trip ago.
    pub(super) fn has_answered(&self, now: Time) -> bool {
        let since = now.since(self.group.lost_at).seconds();
        self.group.members > 1.0
            && self.answered > 0
            && self.answered == self.group.epoch
            && since < self.group.srtt.latest
    }
}

impl WindowPart for Adaptive {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if let Some(smoothed) = event.smoothed_rtt {
            self.group.srtt.record(smoothed.seconds());
        }
        if let Some(rtt) = event.rtt {
            self.times.record(rtt.seconds());
        }
        if self.round.ended(event) && self.group.ends_round(event.now) {
            let times = core::mem::replace(&mut self.times, RoundTripTimes::NONE);
            let window = self.window(state);
            // Otherwise the window has not grown as it would in congestion avoidance.
            let grew = !event.recovering && !state.in_slow_start() && event.window_limited;
            let base = event.minimum_rtt.map_or(0.0, Duration::seconds);
            self.group.end_round(&times, base, window, grew, &self.parameters);
        }
        self.group.check_congestion(&self.parameters);
    }

    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let (strength, members) = (self.group.strength, self.group.members);
        let one = strength <= 1.0 || self.parameters.k_increase == Increase::One;
        if one && members <= 1.0 {
            // "Adaptive TCP is identical to standard TCP when its strength k = 1".
            self.reno.grow(event, state);
        } else {
            let increase = if one { 1.0 } else { strength } / members;
            state.cwnd += increase * state.counted(event.size) / state.cwnd;
        }
    }

    /// Windows and round-trip times before the pause say nothing about those after it. A group's
    /// other members go on.
    fn on_resumed(&mut self, _event: &Resumed, _state: &mut WindowState) {
        if self.group.members <= 1.0 {
            self.times = RoundTripTimes::NONE;
            self.group.detector.begin_epoch();
        }
    }

    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        if self.has_answered(event.now) {
            return state.reduce_to(state.cwnd);
        }
        // Equation 4: an epoch lasts W/(2k) round trips, so W/(2k) is what a loss takes.
        let kept = 1.0 - 1.0 / (2.0 * self.group.strength);
        if self.group.strength <= 1.0 {
            self.reno.on_loss(event, state);
        } else {
            let kept = state.window_in_use() * kept;
            state.reduce_to(kept);
        }
        self.lose(event.now, kept);
    }

    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.reno.on_timeout(event, state);
        self.lose(event.now, 0.5);
    }
}

impl Adaptive {
    /// Before an event of a member of a group: takes the group's knowledge. Whether another member
    /// has met a loss since, to which this one now responds.
    pub(super) fn take_from(&mut self, group: &Group, state: &mut WindowState) -> bool {
        (*self.group).clone_from(group);
        if self.counted.is_none() {
            self.counted = Some(0.0);
            self.group.members += 1.0;
            self.answered = self.group.epoch;
        }
        let lost = self.answered != self.group.epoch;
        if lost {
            self.answered = self.group.epoch;
            let before = state.cwnd;
            state.reduce_to(before * self.group.kept);
            // After a timeout it is below the smallest window that a loss leaves.
            state.cwnd = state.cwnd.min(before);
        }
        lost
    }

    /// After an event: shares its knowledge with the group.
    pub(super) fn give_to(&mut self, group: &mut Group, state: &WindowState) {
        self.group.window += state.cwnd - self.counted.replace(state.cwnd).unwrap_or(0.0);
        group.clone_from(&*self.group);
    }
}

#[cfg(test)]
mod tests {
    use super::detector::Detection;
    use super::*;
    use crate::fixtures::ack_at;
    use crate::fixtures::{LoneFlow, avoiding, loss};

    /// TCP/k: one segment per round trip, W/(2k) at a loss: sqrt((4k - 1)/2)/(RTT sqrt(p)) segments
    /// per second.
    #[test]
    fn tcp_k_has_the_throughput_of_equation_4() {
        let p: f64 = 1e-5;
        for (k, constant) in [(1.0, 1.2247), (2.0, 1.8708), (4.0, 2.7386), (8.0, 3.9370)] {
            let parameters = Parameters { k_increase: Increase::One, k_step: 0.0, ..Parameters::default() };
            let mut adaptive = Adaptive::new(parameters);
            let mut state = avoiding(constant / p.sqrt());
            let mut flow = LoneFlow::without_queue(0.1);
            let mut begin = 0.0;
            for cycle in 0..60 {
                if cycle == 40 {
                    begin = flow.now;
                }
                adaptive.group.strength = k;
                for _ in 0..(1.0 / p) as u64 {
                    let event = flow.next(state.cwnd);
                    adaptive.grow(&event, &mut state);
                }
                adaptive.on_loss(&loss(&state), &mut state);
            }
            let measured = 20.0 / p * 0.1 / (flow.now - begin) * p.sqrt();
            println!("TCP/{k}: {measured:.4}, equation 4 {constant}");
            assert!((measured / constant - 1.0).abs() < 0.003, "k {k}: {measured} against {constant}");
        }
    }

    #[test]
    fn k_of_one_is_reno_bit_for_bit() {
        let mut adaptive = Adaptive::new(Parameters { maximum_k: 1.0, ..Parameters::default() });
        let mut reno = Reno::STANDARD;
        let (mut one, mut other) = (avoiding(10.0), avoiding(10.0));
        let (mut first, mut second) = (LoneFlow::new(0.05, 2000.0), LoneFlow::new(0.05, 2000.0));
        for _ in 0..20 {
            first.run(&mut adaptive, &mut one, 3000);
            second.run(&mut reno, &mut other, 3000);
            assert_eq!(one, other);
            adaptive.on_loss(&loss(&one), &mut one);
            reno.on_loss(&loss(&other), &mut other);
            assert_eq!(one, other);
        }
    }

    /// One link, this flow, and others that together have `others` segments in flight and add
    /// `others_add` per round trip.
    struct Link {
        capacity: f64,
        base_rtt: f64,
        others: f64,
        others_add: f64,
        /// This flow's window a round trip ago.
        before: f64,
        acknowledged: u64,
        smoothed: f64,
        /// Maximum strength so far.
        strongest: f64,
    }

    impl Link {
        /// About 100 Mbit/s over 50 ms: a BDP of 500 segments.
        fn new(others: f64, others_add: f64) -> Self {
            Self {
                capacity: 10_000.0,
                base_rtt: 0.05,
                others,
                others_add,
                before: 0.0,
                acknowledged: 0,
                smoothed: 0.05,
                strongest: 0.0,
            }
        }

        /// A round trip: every segment of the window is acknowledged, with the queue it found when
        /// sent, while the windows grew from their old to their new values.
        fn round(&mut self, adaptive: &mut Adaptive, state: &mut WindowState) {
            let window = state.cwnd;
            let grown = self.others_add + window - self.before;
            for segment in 0..window as u64 {
                let part = segment as f64 / window;
                let found = self.before + self.others - self.others_add + grown * part;
                let rtt = self.base_rtt.max(found / self.capacity);
                self.smoothed += (rtt - self.smoothed) * 8.0 / window.max(8.0);
                self.acknowledged += 1000;
                let seconds = |seconds| Some(Duration::from_seconds(seconds));
                let event = Acknowledged {
                    rtt: seconds(rtt),
                    smoothed_rtt: seconds(self.smoothed),
                    minimum_rtt: seconds(self.base_rtt),
                    acknowledged_total: crate::units::Bytes(self.acknowledged),
                    sent_total: crate::units::Bytes(self.acknowledged + window as u64 * 1000),
                    ..crate::fixtures::ack(1000)
                };
                adaptive.on_ack(&event, state);
                adaptive.grow(&event, state);
                self.strongest = self.strongest.max(adaptive.group.strength);
            }
            self.others += self.others_add;
            self.before = window;
        }

        /// Runs until this holds; returns the number of round trips.
        fn run_until(
            &mut self,
            adaptive: &mut Adaptive,
            state: &mut WindowState,
            holds: impl Fn(&Adaptive) -> bool,
        ) -> usize {
            let rounds = (1..200).find(|_| {
                self.round(adaptive, state);
                holds(adaptive)
            });
            rounds.unwrap_or_else(|| panic!("not within 200 round trips: {adaptive:?}"))
        }
    }

    #[test]
    fn alone_it_grows_strong_and_is_reno_once_the_queue_builds_up() {
        let mut adaptive = Adaptive::new(Parameters::default());
        let mut state = avoiding(100.0);
        let mut link = Link::new(0.0, 0.0);
        for _ in 0..40 {
            link.round(&mut adaptive, &mut state);
        }
        assert!(link.strongest > 20.0, "{}", link.strongest);
        assert_eq!(adaptive.group.strength, 1.0);
        assert_eq!(adaptive.group.detector.detection, Detection::Decided);
        assert!(!adaptive.group.detector.is_competing(), "{adaptive:?}");
        assert!(state.cwnd > 500.0);
        // After a loss the queue is empty, and its strength grows again.
        adaptive.on_loss(&loss(&state), &mut state);
        for _ in 0..5 {
            link.round(&mut adaptive, &mut state);
        }
        assert!(adaptive.group.strength > 4.0, "{}", adaptive.group.strength);
    }

    #[test]
    fn an_equal_competitor_is_found_while_k_is_high() {
        let mut adaptive = Adaptive::new(Parameters::default());
        let mut state = avoiding(200.0);
        let mut link = Link::new(200.0, 1.0);
        link.run_until(&mut adaptive, &mut state, |adaptive| adaptive.group.detector.is_competing());
        assert_ne!(adaptive.group.detector.detection, Detection::Decided, "before the second gradient");
        assert!(adaptive.group.detector.is_competing(), "{adaptive:?}");
    }

    #[test]
    fn a_small_competitor_that_grows_is_found_at_k_of_one() {
        let mut adaptive = Adaptive::new(Parameters::default());
        let mut state = avoiding(300.0);
        let mut link = Link::new(20.0, 1.0);
        link.run_until(&mut adaptive, &mut state, |adaptive| {
            adaptive.group.detector.detection == Detection::Decided
        });
        assert!(adaptive.group.detector.is_competing(), "g is nearly 2: {adaptive:?}");
        assert_eq!(adaptive.group.strength, 1.0);
    }

    #[test]
    fn competition_is_believed_for_ten_round_trips_or_until_the_queue_drains_by_itself() {
        for (drains, competition_hold) in
            [(false, Hold::RoundTrips), (true, Hold::RoundTrips), (true, Hold::Drain)]
        {
            let mut adaptive = Adaptive::new(Parameters { competition_hold, ..Parameters::default() });
            let mut state = avoiding(200.0);
            let mut link = Link::new(200.0, 1.0);
            link.run_until(&mut adaptive, &mut state, |adaptive| adaptive.group.detector.is_competing());
            if drains {
                link.others = 0.0;
                link.others_add = 0.0;
            } else {
                adaptive.on_loss(&loss(&state), &mut state);
            }
            let rounds = link.run_until(&mut adaptive, &mut state, |adaptive| {
                assert!(adaptive.group.strength == 1.0 || !adaptive.group.detector.is_competing());
                !adaptive.group.detector.is_competing()
            });
            println!("drains {drains}: competition believed for {rounds} more round trips");
            assert!(if drains { rounds <= 3 } else { (9..=12).contains(&rounds) }, "{rounds}");
        }
    }

    /// With "drain", competition outlives ten round trips and a queue drained by a loss; when the
    /// other flows leave after that, the next drain ends it.
    #[test]
    fn a_drain_after_a_loss_does_not_end_competition() {
        let mut adaptive = Adaptive::new(Parameters::default());
        let mut state = avoiding(200.0);
        let mut link = Link::new(200.0, 1.0);
        link.run_until(&mut adaptive, &mut state, |adaptive| adaptive.group.detector.is_competing());
        adaptive.on_loss(&loss(&state), &mut state);
        for _ in 0..150 {
            link.round(&mut adaptive, &mut state);
            assert!(adaptive.group.detector.is_competing());
        }
        link.others = 0.0;
        link.others_add = 0.0;
        assert!(
            link.run_until(&mut adaptive, &mut state, |adaptive| !adaptive.group.detector.is_competing())
                <= 3
        );
    }

    /// Four members together grow by k, and one loss takes W/(2k) of each, once.
    #[test]
    fn a_group_grows_and_cuts_as_one_flow() {
        let mut group = Group::default();
        let mut members: Vec<_> =
            (0..4).map(|_| (Adaptive::new(Parameters::default()), avoiding(100.0))).collect();
        let mut each = |group: &mut Group, happen: &mut dyn FnMut(usize, &mut Adaptive, &mut WindowState)| {
            for (index, (member, state)) in members.iter_mut().enumerate() {
                member.take_from(group, state);
                happen(index, member, state);
                member.give_to(group, state);
            }
            members.iter().map(|(_, state)| state.cwnd).sum::<f64>()
        };
        // All join first.
        each(&mut group, &mut |_, _, _| {});
        assert_eq!((group.members, group.window), (4.0, 400.0));
        group.strength = 8.0;
        let grown = each(&mut group, &mut |_, member, state| {
            for _ in 0..100 {
                member.grow(&ack_at(1.0, 0.1), state);
            }
        });
        assert!((grown - 408.0).abs() < 0.1, "8 in a round trip: {grown}");
        // The second and the third lose in one round trip; the others are notified.
        group.srtt.latest = 0.1;
        each(&mut group, &mut |index, member, state| {
            if index == 1 || index == 2 {
                member.on_loss(&loss(state), state);
            }
        });
        let cut = each(&mut group, &mut |_, _, _| {});
        assert!((cut / grown - (1.0 - 1.0 / 16.0)).abs() < 1e-9, "{}", cut / grown);
        assert_eq!(group.epoch, 1);
        assert!((group.window / cut - 1.0).abs() < 1e-9, "the sum of the windows is kept");
    }

    /// The queue that a member measures comes from the sum of the windows, including its own growth
    /// since its last report to the group.
    #[test]
    fn a_member_sees_the_sum_of_the_windows() {
        let mut group = Group::default();
        let mut members =
            [100.0, 50.0, 30.0].map(|cwnd| (Adaptive::new(Parameters::default()), avoiding(cwnd)));
        for (member, state) in &mut members {
            member.take_from(&group, state);
            member.give_to(&mut group, state);
        }
        let (member, state) = &mut members[1];
        member.take_from(&group, state);
        state.cwnd += 7.0;
        assert_eq!(member.window(state), 187.0);
        member.give_to(&mut group, state);
        let (member, state) = &mut members[2];
        member.take_from(&group, state);
        assert_eq!(member.window(state), 187.0, "what the other has grown by, too");
    }
}
