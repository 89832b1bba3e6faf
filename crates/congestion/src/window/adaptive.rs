//! Adaptive TCP (A-TCP) of Cho and Bettati, as the ALTCP paper describes it: a flow grows as strong as k flows of
//! TCP while it is alone and the queue is short, and is Reno otherwise.
//!
//! The paper says what A-TCP does, not how: "It does so by keeping track of the minimum and maximum of the smoothed
//! Round Trip Time (srtt_min and srtt_max, respectively) and triggers detection when the estimated queue build-up
//! (srtt - srtt_min) exceeds some threshold". The threshold, the growth of k and the detector are ours; each is
//! marked "our choice".
//!
//! # Groups
//!
//! "The collaborative congestion control scheme has shown the usefulness and benefit of collaboration among parallel TCP
//! flows by sharing dynamic congestion information": what a flow knows of its path is a value, a [`Group`], that parallel
//! flows can pass from one to the other. Together they are then one A-TCP of strength k (our reconstruction; the paper
//! gives no more than this sentence and that A-TCP adjusts "the group strength k of parallel TCP flows"): each of N
//! members grows by k/N, a loss of one is a loss of all, and the detector looks at the sum of their windows.
//!
//! # The detector
//!
//! A flow alone on a link that queues has its whole increase in the queue: with the link at cwnd/RTT segments per
//! second, the gradient g = (dRTT * cwnd/RTT)/dcwnd is 1 whatever k is. With a share s of the link, and others that
//! grow by m segments per round trip while this flow grows by k, it is g = s (k + m)/k. So g is measured twice:
//! before k drops to 1, when a large k makes g close to the share s, and after, when k = 1 makes the increase of
//! others weigh most. If either is away from 1, others compete.

use super::decrease::cut_to;
use super::reno::Reno;
use crate::entry::Entry;
use crate::estimate::round_trip::{RoundTrip, RoundTripTimes};
use crate::event::{Acknowledged, LossDetected, Timeout};
use crate::part::WindowPart;
use crate::state::WindowState;
use crate::units::{Duration, Time};
use crate::{choice, parameters};

/// What `selfclock algorithms` says.
pub const ENTRY: Entry = Entry {
    name: "adaptive",
    about: "As strong as k flows while it is alone and the queue is short, Reno in congestion or competition.",
    source: "Cho, Bettati: Adaptive TCP, as described in Kavidha, Sadasivam: Exploring Round Trip Time fairness for \
             Adaptive Layered Transmission Control Protocol",
    parameters: Parameters::TABLE,
    groups: true,
    ..Entry::WINDOW
};

choice! {
    /// What the strength k does to the increase.
    Increase {
        /// One segment per round trip: TCP/k, on which equation 4 of the paper rests.
        One = "one",
        /// k segments per round trip, as figure 3 of the paper shows it.
        K = "k",
    }
}

parameters! {
    /// Parameters of Adaptive TCP.
    Parameters {
        /// Increase per round trip: one segment, or k.
        k_increase: Increase = Increase::K, shown "k", unit "", range (0.0, 0.0),
            source "our choice: the paper's prose and figure 3 grow quickly, its equation 4 holds for one";
        /// Largest strength k; 1 is Reno.
        maximum_k: f64 = 64.0, shown "64", unit "", range (1.0, 1e4),
            source "our choice: the paper gives none";
        /// What is added to k per round trip without congestion and competition.
        k_step: f64 = 1.0, shown "1", unit "per round trip", range (0.0, 1e3),
            source "our choice: the paper says quickly";
        /// Queueing delay that counts as congestion, as a part of srtt_max - srtt_min over the last two loss
        /// epochs.
        congested_part: f64 = 0.25, shown "0.25", unit "", range (0.0, 1.0),
            source "our choice: the paper says some threshold";
        /// The same before the first loss, as a part of srtt_min.
        congested_part_at_start: f64 = 0.05, shown "0.05", unit "", range (0.0, 1.0),
            source "our choice: the paper says some threshold";
        /// Smallest queueing delay that counts as congestion.
        congested_minimum: Duration = Duration::from_milliseconds(1), shown "1 ms", unit "s", range (0.0, 10.0),
            source "our choice: below it timing is noise";
        /// How far from 1 the gradient of the queue must be to count as competition.
        gradient_tolerance: f64 = 0.25, shown "0.25", unit "", range (0.0, 10.0),
            source "our choice";
        /// For how long competition is believed: a number of round trips, or until the queue drains without a loss.
        competition_hold: Hold = Hold::Drain, shown "drain", unit "", range (0.0, 0.0),
            source "our choice: the paper has k = 1 while there is competition, and time alone ends none";
        /// Round trips for which competition is believed with "round-trips", unless the queue drains without a loss before.
        competing_rounds: f64 = 10.0, shown "10", unit "round trips", range (1.0, 1e6),
            source "our choice";
    }
}

choice! {
    /// For how long competition is believed.
    Hold {
        /// A number of round trips, or until the queue drains without a loss.
        RoundTrips = "round-trips",
        /// Until the queue drains without a loss.
        Drain = "drain",
    }
}

/// Round trips over which a gradient is measured at most (our choice): the mean of so many.
const GRADIENT_ROUNDS: usize = 3;

/// Round-trip times and windows of the latest round trips, the oldest first.
#[derive(Clone, Copy, Debug, Default)]
struct Gradient {
    rounds: [(f64, f64); GRADIENT_ROUNDS + 1],
    count: usize,
}

impl Gradient {
    /// A round trip whose segments were sent under this mean window, in segments, and had this mean round-trip
    /// time, in seconds.
    fn record(&mut self, rtt: f64, window: f64) {
        if self.count == self.rounds.len() {
            self.rounds.rotate_left(1);
            self.count -= 1;
        }
        self.rounds[self.count] = (rtt, window);
        self.count += 1;
    }

    fn is_complete(&self) -> bool {
        self.count == self.rounds.len()
    }

    /// g, over what there is.
    fn value(&self) -> Option<f64> {
        let (first, last) = (self.rounds.first()?, self.rounds.get(self.count.checked_sub(1)?)?);
        let growth = last.1 - first.1;
        (growth > 0.0 && last.0 > 0.0).then(|| (last.0 - first.0) * last.1 / last.0 / growth)
    }
}

/// What the detector is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Detection {
    /// Waiting for the queue to pass the threshold.
    Waiting,
    /// It has, and k has dropped to 1, in this round trip; k was above 1 (`true`) or 1 already.
    Triggered(bool),
    /// What is acknowledged in this round trip was sent in that one, in part while k was high: the last of the
    /// first gradient.
    Settling(bool),
    /// The second gradient, with k = 1, is being measured.
    Confirming,
    /// Both are measured; waiting for the queue to go down.
    Decided,
}

/// Competition, as long as it is believed.
#[derive(Clone, Copy, Debug)]
struct Competition {
    rounds: f64,
    /// There has been a queue since it was last empty.
    queued: bool,
    /// There has been a loss, too: that the queue drains then says nothing of the others.
    lost: bool,
}

/// What a flow of Adaptive TCP knows of its path, alone or together with others: a plain value.
#[derive(Clone, Debug)]
pub struct Group {
    /// Flows that have joined.
    members: f64,
    /// Sum of their windows, in segments.
    window: f64,
    /// k.
    strength: f64,
    /// srtt and srtt_min, in seconds.
    smoothed: f64,
    smoothed_minimum: f64,
    /// Largest srtt in this loss epoch and in the one before, in seconds; 0 where there was none.
    smoothed_maximum: [f64; 2],
    /// When the last round trip of the group was over.
    round_over: Time,
    /// Sums of the windows at the ends of the last two round trips, the latest first; 0 where a loss was between.
    windows: [f64; 2],
    gradient: Gradient,
    detection: Detection,
    competition: Option<Competition>,
    /// Losses of the group so far, when the last of them was, and what it left of each window.
    epoch: u64,
    lost_at: Time,
    kept: f64,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            members: 0.0,
            window: 0.0,
            strength: 1.0,
            smoothed: 0.0,
            smoothed_minimum: f64::INFINITY,
            smoothed_maximum: [0.0; 2],
            round_over: Time::ZERO,
            windows: [0.0; 2],
            gradient: Gradient::default(),
            detection: Detection::Waiting,
            competition: None,
            epoch: 0,
            lost_at: Time::ZERO,
            kept: 1.0,
        }
    }
}

/// Adaptive TCP.
#[derive(Clone, Debug)]
pub struct Adaptive {
    parameters: Parameters,
    reno: Reno,
    /// What it knows; of a member of a group, what the group knows. Boxed, or every window algorithm would be as large.
    group: Box<Group>,
    round: RoundTrip,
    times: RoundTripTimes,
    /// As a member of a group: its window in the sum, and the group's losses that it has answered.
    counted: Option<f64>,
    answered: u64,
}

impl Adaptive {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            reno: Reno::STANDARD,
            group: Box::new(Group { members: 1.0, ..Group::default() }),
            round: RoundTrip::default(),
            times: RoundTripTimes::NONE,
            counted: None,
            answered: 0,
        }
    }

    /// Queueing delay that counts as congestion and starts the detector, in seconds: "This work uses the same value
    /// for this as the threshold queuing delay level used to trigger the competition detector".
    fn threshold(&self) -> f64 {
        let Parameters { congested_part, congested_part_at_start, congested_minimum, .. } = self.parameters;
        // Before the first loss there is no epoch before this one, and srtt_max says nothing of the size of the
        // queue.
        let part = if self.group.smoothed_maximum[1] > 0.0 {
            let maximum = self.group.smoothed_maximum[0].max(self.group.smoothed_maximum[1]);
            congested_part * (maximum - self.group.smoothed_minimum)
        } else {
            congested_part_at_start * self.group.smoothed_minimum
        };
        part.max(congested_minimum.seconds())
    }

    /// "by congestion mean that the network queuing delay estimated by Adaptive TCP is larger than a reference
    /// queuing delay level".
    fn is_congested(&self) -> bool {
        self.group.smoothed - self.group.smoothed_minimum > self.threshold()
    }

    /// The window whose growth makes the queue: of a group, the sum.
    fn window(&self, state: &WindowState) -> f64 {
        self.counted.map_or(state.cwnd, |counted| self.group.window - counted + state.cwnd)
    }

    /// The group has had a loss a round trip ago at most, and this member has answered it.
    fn has_answered(&self, now: Time) -> bool {
        let since = now.since(self.group.lost_at).seconds();
        self.group.members > 1.0
            && self.answered > 0
            && self.answered == self.group.epoch
            && since < self.group.smoothed
    }

    /// A loss that all members answer, and which leaves this part of each window.
    fn lose(&mut self, now: Time, kept: f64) {
        self.group.epoch += 1;
        self.answered = self.group.epoch;
        self.group.lost_at = now;
        self.group.kept = kept;
        self.begin_epoch();
    }

    fn believe(&mut self, gradient: Option<f64>) {
        if gradient.is_some_and(|gradient| (gradient - 1.0).abs() > self.parameters.gradient_tolerance) {
            self.group.competition =
                Some(Competition { rounds: self.parameters.competing_rounds, queued: true, lost: false });
        }
    }

    /// A round trip is over: measures the gradient, and adapts k.
    fn end_round(&mut self, event: &Acknowledged, state: &WindowState) {
        let times = core::mem::replace(&mut self.times, RoundTripTimes::NONE);
        // What was acknowledged in this round trip was sent in the one before, when the window went from one of
        // these to the other.
        let [end, begin] = self.group.windows;
        self.group.windows = [self.window(state), end];
        if event.recovering || state.in_slow_start() || !event.window_limited {
            // The window has not grown as it would in congestion avoidance.
            self.group.gradient = Gradient::default();
            return;
        }
        let base = event.minimum_rtt.map_or(0.0, Duration::seconds);
        // Our choice: a queue counts as one when it has stood above a tenth of the threshold for a whole round
        // trip.
        let queued = times.minimum.is_finite() && times.minimum - base > 0.1 * self.threshold();
        match times.mean() {
            Some(mean) if queued && begin > 0.0 => self.group.gradient.record(mean, (begin + end) / 2.0),
            _ => self.group.gradient = Gradient::default(),
        }
        match self.group.detection {
            Detection::Triggered(strong) => self.group.detection = Detection::Settling(strong),
            Detection::Settling(strong) => {
                self.believe(self.group.gradient.value().filter(|_| strong));
                self.group.gradient = Gradient::default();
                self.group.detection = Detection::Confirming;
            }
            Detection::Confirming if self.group.gradient.is_complete() => {
                self.believe(self.group.gradient.value());
                self.group.detection = Detection::Decided;
            }
            Detection::Waiting | Detection::Confirming | Detection::Decided => {}
        }
        if let Some(competition) = &mut self.group.competition {
            competition.rounds -= 1.0;
            let over = self.parameters.competition_hold == Hold::RoundTrips && competition.rounds < 0.0;
            let drained = competition.queued && !queued && times.count > 0;
            let loss_free = !competition.lost;
            if drained {
                competition.lost = false;
            }
            competition.queued = queued || competition.queued && !drained;
            if over || drained && loss_free {
                self.group.competition = None;
            }
        }
        // "quickly increase the strength k [...] when there is no competition".
        self.group.strength = if self.group.competition.is_some() || self.is_congested() {
            1.0
        } else {
            (self.group.strength + self.parameters.k_step).min(self.parameters.maximum_k)
        };
    }

    /// Whatever drained the queue or stopped the increase, the measurement begins anew, and so does k: "the
    /// strength k of Adaptive TCP is dynamically decided" within each epoch (equation 5 has it go from 1 to its
    /// knee).
    fn begin_epoch(&mut self) {
        self.group.strength = 1.0;
        self.group.windows = [0.0; 2];
        self.group.gradient = Gradient::default();
        self.group.detection = Detection::Waiting;
        self.group.smoothed_maximum = [self.group.smoothed, self.group.smoothed_maximum[0]];
        if let Some(competition) = &mut self.group.competition {
            competition.lost = true;
        }
    }
}

impl WindowPart for Adaptive {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if let Some(smoothed) = event.smoothed_rtt {
            self.group.smoothed = smoothed.seconds();
            self.group.smoothed_minimum = self.group.smoothed_minimum.min(self.group.smoothed);
            self.group.smoothed_maximum[0] = self.group.smoothed_maximum[0].max(self.group.smoothed);
        }
        if let Some(rtt) = event.rtt {
            self.times.record(rtt.seconds());
        }
        // A group has one round trip at a time, whichever member sees its end.
        let alone = self.group.members <= 1.0;
        if self.round.ended(event)
            && (alone || event.now.since(self.group.round_over).seconds() >= self.group.smoothed)
        {
            self.group.round_over = event.now;
            self.end_round(event, state);
        }
        if !self.is_congested() {
            self.group.detection = Detection::Waiting;
        } else if self.group.detection == Detection::Waiting {
            // "Adaptive TCP sets k = 1 during periods of congestion to reduce packet loss regardless of the result
            // of competition detection."
            self.group.detection = Detection::Triggered(self.group.strength > 1.0);
            self.group.strength = 1.0;
        }
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
            state.cwnd += increase * state.acknowledgements(event.size) / state.cwnd;
        }
    }

    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        if self.has_answered(event.now) {
            return cut_to(state.cwnd, state);
        }
        // Equation 4: an epoch lasts W/(2k) round trips, so W/(2k) is what a loss takes.
        let kept = 1.0 - 1.0 / (2.0 * self.group.strength);
        if self.group.strength <= 1.0 {
            self.reno.on_loss(event, state);
        } else {
            cut_to(state.window_in_use() * kept, state);
        }
        self.lose(event.now, kept);
    }

    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.reno.on_timeout(event, state);
        self.lose(event.now, 0.5);
    }
}

impl Adaptive {
    /// Before an event of a member of a group: it takes what the group knows.
    pub(super) fn take_from(&mut self, group: &Group, state: &mut WindowState) {
        (*self.group).clone_from(group);
        if self.counted.is_none() {
            self.counted = Some(0.0);
            self.group.members += 1.0;
            self.answered = self.group.epoch;
        }
        if self.answered != self.group.epoch {
            self.answered = self.group.epoch;
            let before = state.cwnd;
            cut_to(before * self.group.kept, state);
            // After a timeout it is below the smallest window that a loss leaves.
            state.cwnd = state.cwnd.min(before);
        }
    }

    /// After it: it gives the group what it knows.
    pub(super) fn give_to(&mut self, group: &mut Group, state: &WindowState) {
        self.group.window += state.cwnd - self.counted.replace(state.cwnd).unwrap_or(0.0);
        group.clone_from(&*self.group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::ack_at;
    use crate::fixtures::{LoneFlow, avoiding, loss};

    /// TCP/k: one segment per round trip, W/(2k) at a loss: sqrt((4k - 1)/2)/(RTT sqrt(p)) segments per second.
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

    /// One link, this flow, and others that together have so many segments in flight and add so many per round
    /// trip.
    struct Link {
        capacity: f64,
        base_rtt: f64,
        others: f64,
        others_add: f64,
        /// This flow's window a round trip ago.
        before: f64,
        acknowledged: u64,
        smoothed: f64,
        /// Strongest it has been.
        strongest: f64,
    }

    impl Link {
        /// 100 Mbit/s or so over 50 ms: 500 segments in the path.
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

        /// A round trip: every segment of the window is acknowledged, with the queue that it found when it was
        /// sent, while the windows grew from what they were to what they are.
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

        /// Round trips until this holds; how many.
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
        assert_eq!(adaptive.group.detection, Detection::Decided);
        assert!(adaptive.group.competition.is_none(), "{adaptive:?}");
        assert!(state.cwnd > 500.0);
        // After a loss the queue is empty, and it grows strong again.
        adaptive.on_loss(&loss(&state), &mut state);
        for _ in 0..5 {
            link.round(&mut adaptive, &mut state);
        }
        assert!(adaptive.group.strength > 4.0, "{}", adaptive.group.strength);
    }

    /// The two gradients of the detector against s (k + m)/k.
    #[test]
    fn the_gradient_is_share_times_total_increase_over_own() {
        for (own, others, k, m) in [
            (600.0, 0.0, 8.0, 0.0),
            (300.0, 300.0, 8.0, 1.0),
            (570.0, 30.0, 1.0, 1.0),
            (570.0, 30.0, 1.0, 0.0),
        ] {
            let mut gradient = Gradient::default();
            for round in 0..4 {
                let (window, rest) = (own + k * f64::from(round), others + m * f64::from(round));
                gradient.record((window + rest) / 10_000.0, window);
            }
            let expected = own / (own + others) * (k + m) / k;
            let g = gradient.value().expect("complete");
            println!("gradient with {own} of {}: {g:.3}, formula {expected:.3}", own + others);
            assert!((g / expected - 1.0).abs() < 0.05, "{g} against {expected}");
        }
    }

    #[test]
    fn an_equal_competitor_is_found_while_k_is_high() {
        let mut adaptive = Adaptive::new(Parameters::default());
        let mut state = avoiding(200.0);
        let mut link = Link::new(200.0, 1.0);
        link.run_until(&mut adaptive, &mut state, |adaptive| adaptive.group.competition.is_some());
        assert_ne!(adaptive.group.detection, Detection::Decided, "before the second gradient");
        assert!(adaptive.group.competition.is_some(), "{adaptive:?}");
    }

    #[test]
    fn a_small_competitor_that_grows_is_found_at_k_of_one() {
        let mut adaptive = Adaptive::new(Parameters::default());
        let mut state = avoiding(300.0);
        let mut link = Link::new(20.0, 1.0);
        link.run_until(&mut adaptive, &mut state, |adaptive| adaptive.group.detection == Detection::Decided);
        assert!(adaptive.group.competition.is_some(), "g is nearly 2: {adaptive:?}");
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
            link.run_until(&mut adaptive, &mut state, |adaptive| adaptive.group.competition.is_some());
            if drains {
                link.others = 0.0;
                link.others_add = 0.0;
            } else {
                adaptive.on_loss(&loss(&state), &mut state);
            }
            let rounds = link.run_until(&mut adaptive, &mut state, |adaptive| {
                assert!(adaptive.group.strength == 1.0 || adaptive.group.competition.is_none());
                adaptive.group.competition.is_none()
            });
            println!("drains {drains}: competition believed for {rounds} more round trips");
            assert!(if drains { rounds <= 3 } else { (9..=12).contains(&rounds) }, "{rounds}");
        }
    }

    /// Held until the queue drains without a loss, competition outlives ten round trips and a queue that a loss has drained;
    /// when the other flows leave after that, the next drain ends it.
    #[test]
    fn a_drain_after_a_loss_does_not_end_competition() {
        let mut adaptive = Adaptive::new(Parameters::default());
        let mut state = avoiding(200.0);
        let mut link = Link::new(200.0, 1.0);
        link.run_until(&mut adaptive, &mut state, |adaptive| adaptive.group.competition.is_some());
        adaptive.on_loss(&loss(&state), &mut state);
        for _ in 0..150 {
            link.round(&mut adaptive, &mut state);
            assert!(adaptive.group.competition.is_some());
        }
        link.others = 0.0;
        link.others_add = 0.0;
        assert!(
            link.run_until(&mut adaptive, &mut state, |adaptive| adaptive.group.competition.is_none()) <= 3
        );
    }

    /// Four members grow together by k, and one loss takes W/(2k) of each, once.
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
        // The second and the third lose in one round trip; the others hear of it.
        group.smoothed = 0.1;
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

    /// What makes the queue that a member measures is the sum of the windows, with what its own has grown by since it last told
    /// the group.
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

    #[test]
    fn the_threshold_follows_the_round_trip_times_of_two_epochs() {
        let mut adaptive = Adaptive::new(Parameters::default());
        (adaptive.group.smoothed, adaptive.group.smoothed_minimum, adaptive.group.smoothed_maximum) =
            (0.06, 0.05, [0.06, 0.0]);
        assert!((adaptive.threshold() - 0.0025).abs() < 1e-9, "5 % of 50 ms before the first loss");
        adaptive.begin_epoch();
        assert!((adaptive.threshold() - 0.0025).abs() < 1e-9, "a quarter of 10 ms");
        (adaptive.group.smoothed, adaptive.group.smoothed_maximum[0]) = (0.09, 0.09);
        assert!((adaptive.threshold() - 0.01).abs() < 1e-9, "a quarter of 40 ms");
        adaptive.group.smoothed_maximum = [0.051, 0.051];
        assert_eq!(adaptive.threshold(), 0.001, "at least 1 ms");
    }
}
