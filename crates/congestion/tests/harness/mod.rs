//! Every start with every window algorithm, every model and every estimator, with any parameters,
//! under events in any order, including impossible ones. The events come from elsewhere: strategies
//! of proptest in `any_order.rs`, bytes of a fuzzer in `fuzz/`.
#![allow(dead_code)]

use selfclock_congestion::custom::Custom;
use selfclock_congestion::decision::ProbePart;
use selfclock_congestion::entry::{Entry, Need, Part};
use selfclock_congestion::option::{PeerOption, QuickStartOption};
use selfclock_congestion::parameter::{Kind, Parameter, ParameterError, Value};
use selfclock_congestion::part::ModelPart;
use selfclock_congestion::receiver::INITIAL_TTL;
use selfclock_congestion::registry::{ENTRIES, Selection};
use selfclock_congestion::state::{MAXIMUM_WINDOW_SEGMENTS, Setup, WindowState};
use selfclock_congestion::window::Group;
use selfclock_congestion::{
    Acknowledged, Bytes, Controller, Duration, Event, LossDetected, Pacing, Rate, RateSample, RecoveryEnded,
    Sent, Time, Timeout,
};

pub mod bytes;

/// Payload of a full segment.
pub const MSS: u64 = 1000;

/// An algorithm of another crate that sets any window, including impossible ones.
#[derive(Clone, Copy, Debug)]
struct Wild;

impl Custom for Wild {
    type Part = Self;
    fn entry(&self) -> Entry {
        Entry { name: "wild", ..Entry::MODEL }
    }
    fn set(&mut self, _name: &str, _value: Value<'_>) -> Result<(), ParameterError> {
        Err(ParameterError::Unknown)
    }
    fn build(&self) -> Self {
        *self
    }
}

impl ModelPart for Wild {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let any = f64::from_bits(event.in_flight.get().rotate_left(32) ^ event.size.get());
        match event.sent_total.get() % 4 {
            0 => state.cwnd = any,
            1 => state.ssthresh = any,
            _ => state.cwnd *= 2.0,
        }
    }
    fn on_loss(&mut self, _event: &LossDetected, state: &mut WindowState) {
        state.cwnd /= 2.0;
    }
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        state.cwnd = f64::from_bits(event.flight_size.get());
    }
    fn on_sent(&mut self, event: &Sent, state: &mut WindowState) {
        state.cwnd -= event.held_back.get() as f64;
    }
    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        let interval = Duration::from_seconds(1.0 / state.cwnd - 0.01);
        Some(Pacing { interval, size: Bytes::ZERO, tick: Duration::ZERO })
    }
}

/// An event to feed now, whatever time it carries.
#[derive(Clone, Debug)]
pub struct Step {
    pub event: Event,
    /// For an ACK: how often it is repeated, each after `interval`.
    pub repeat: u32,
    pub interval: Duration,
    /// For a loss, a CE mark or a timeout: the whole window is in flight, whatever the event says.
    pub whole_window: bool,
    /// For a SYN-ACK: the rate that Quick-Start's routers have left.
    pub approved: u8,
}

impl<E: Into<Event>> From<E> for Step {
    fn from(event: E) -> Self {
        Self { event: event.into(), repeat: 1, interval: Duration::ZERO, whole_window: false, approved: 0 }
    }
}

impl Step {
    /// A step with a congestion event of this flight; `None` for the whole window.
    pub fn with_flight<E: Into<Event>>(flight: Option<u64>, event: impl FnOnce(Time, Bytes) -> E) -> Self {
        let whole_window = flight.is_none();
        Self { whole_window, ..event(Time::ZERO, Bytes(flight.unwrap_or(0))).into().into() }
    }
}

/// The response of a receiver without a router in between, for this remainder of the request.
fn answer_request(request: Option<PeerOption>, left: u8) -> Option<PeerOption> {
    let Some(PeerOption::QuickStart(QuickStartOption::Request { rate, ttl, nonce })) = request else {
        return None;
    };
    let ttl_difference = INITIAL_TTL.wrapping_sub(ttl);
    Some(PeerOption::QuickStart(QuickStartOption::Response { rate: rate.min(left), ttl_difference, nonce }))
}

/// One value of a parameter's range: mostly the default, otherwise its ends and between.
pub fn set(selection: &mut Selection, parameter: &Parameter, choice: u8) {
    let (low, high) = parameter.range;
    let number = match choice % 8 {
        0 => low,
        1 => high,
        2 => (low + high) / 2.0,
        3 => low + (high - low) / 1000.0,
        _ => return,
    };
    let value = match parameter.kind {
        Kind::Switch => Value::Switch(choice.is_multiple_of(2)),
        Kind::Number => Value::Number(number),
        Kind::Duration => Value::Duration(Duration::from_seconds(number)),
        Kind::Bytes => Value::Bytes(Bytes(number as u64)),
        Kind::Rate => Value::Rate(Rate::from_bits_per_second(number as u64)),
        Kind::Count => Value::Count(number as u64),
        Kind::Packets => Value::Packets(number as u64),
        Kind::Choice(words) => Value::Choice(words[usize::from(choice) % words.len()]),
        Kind::OrWord(_, word) => Value::Choice(word),
        Kind::Either(..) | Kind::Several(_) | Kind::Counts => return,
    };
    let result = selection.set(parameter.name, value);
    assert_eq!(result, Ok(()), "{} = {value:?}", parameter.name);
}

pub struct Connection {
    pub control: Controller,
    pub now: Time,
    mss: u64,
}

impl Connection {
    pub fn new(control: Controller) -> Self {
        Self { control, now: Time::ZERO, mss: MSS }
    }

    pub fn cwnd(&self) -> f64 {
        self.control.snapshot().cwnd_segments
    }

    fn whole_window(&self) -> Bytes {
        Bytes((self.cwnd() * self.mss as f64) as u64)
    }

    /// The event with the current time and state.
    fn placed(&mut self, step: &Step) -> Event {
        let flight = if step.whole_window { Some(self.whole_window()) } else { None };
        let mut event = step.event.at(self.now);
        match &mut event {
            Event::LossDetected(event) => event.flight_size = flight.unwrap_or(event.flight_size),
            Event::EcnEcho(event) => event.flight_size = flight.unwrap_or(event.flight_size),
            Event::Timeout(event) => event.flight_size = flight.unwrap_or(event.flight_size),
            Event::Established(event) => {
                event.option = answer_request(self.control.option_for_syn(), step.approved);
            }
            _ => {}
        }
        event
    }

    fn happen(&mut self, step: &Step) {
        if let Event::Acknowledged(event) = step.event {
            return self.acknowledge(step, event);
        }
        let before = self.cwnd();
        let event = self.placed(step);
        self.control.on(&event);
        match event {
            Event::LossDetected(_) | Event::EcnEcho(_) => {
                assert!(
                    self.cwnd() <= before,
                    "{event:?} raised the window from {before} to {}",
                    self.cwnd()
                );
            }
            Event::Timeout(_) => assert_eq!(self.cwnd(), 1.0),
            Event::Sent(_) => {
                for part in [ProbePart::Single, ProbePart::PairFirst, ProbePart::PairSecond] {
                    let _ = self.control.option_for(part);
                }
            }
            Event::MssChanged(event) if event.mss > Bytes::ZERO => self.mss = event.mss.get(),
            _ => {}
        }
        self.check();
    }

    fn acknowledge(&mut self, step: &Step, mut event: Acknowledged) {
        let (size, Acknowledged { acknowledged_total, sent_total, rate, .. }) = (event.size.get(), event);
        for i in 0..u64::from(step.repeat) {
            self.now += step.interval;
            let total = |bytes: Bytes| Bytes(bytes.get().saturating_add(size.saturating_mul(i)));
            event.now = self.now;
            event.acknowledged_total = total(acknowledged_total);
            event.sent_total = total(sent_total);
            // A sample advances with every ACK.
            event.rate = rate.map(|mut rate| {
                rate.delivered_total = total(rate.delivered_total);
                rate.prior_delivered = total(rate.prior_delivered);
                rate
            });
            self.control.on(&event.into());
            self.check();
        }
    }

    fn check(&self) {
        let snapshot = self.control.snapshot();
        let (cwnd, ssthresh) = (snapshot.cwnd_segments, snapshot.ssthresh_segments);
        assert!((1.0..=MAXIMUM_WINDOW_SEGMENTS).contains(&cwnd), "cwnd {cwnd}: {:?}", self.control);
        assert!(ssthresh >= 2.0, "ssthresh {ssthresh}: {:?}", self.control);
        let decision = self.control.decision();
        assert_eq!(decision.window, self.whole_window());
        assert!(decision.window >= Bytes(self.mss));
        if let Some(pacing) = decision.pacing {
            assert!(!pacing.interval.is_zero(), "{:?}", self.control);
            assert!(pacing.size > Bytes::ZERO);
        }
    }

    /// Round trips that deliver one segment and lose three quarters of the window, according to
    /// their rate samples, reduce any window, too: at most to what the largest gains make of one
    /// segment.
    fn lose_with_samples(&mut self) {
        self.happen(&Step::with_flight(None, LossDetected::new));
        let rtt = Duration::from_milliseconds(40);
        for round in 1..5000 {
            if round > 1 && self.cwnd() < 32.0 {
                return;
            }
            self.now += rtt;
            let mut sample = RateSample::default();
            sample.delivery_rate = Rate::from_bits_per_second(MSS * 8 * 25);
            sample.interval = rtt;
            sample.delivered = Bytes(MSS);
            sample.delivered_total = Bytes(MSS * round);
            sample.prior_delivered = Bytes(MSS * (round - 1));
            sample.newly_acked = Bytes(MSS);
            sample.tx_in_flight = self.whole_window();
            sample.lost = Bytes(sample.tx_in_flight.get() / 4 * 3);
            sample.newly_lost = sample.lost;
            let mut event = ordinary(rtt);
            event.now = self.now;
            event.recovering = true;
            event.rate = Some(sample);
            self.control.on(&event.into());
            self.check();
        }
        panic!("{} segments after 5000 round trips with losses: {:?}", self.cwnd(), self.control);
    }

    /// Losses of whole windows reduce any window to a few segments.
    fn lose_everything(&mut self) {
        for _ in 0..5000 {
            let before = self.cwnd();
            if before < 4.0 {
                return;
            }
            self.happen(&Step::with_flight(None, LossDetected::new));
            self.happen(&RecoveryEnded::default().into());
        }
        panic!("{} segments after 5000 losses: {:?}", self.cwnd(), self.control);
    }
}

/// A segment acknowledged after this round trip.
pub fn ordinary(rtt: Duration) -> Acknowledged {
    let mut event = Acknowledged::new(Time::ZERO, Bytes(MSS));
    (event.acknowledged_total, event.sent_total) = (Bytes::MAX, Bytes::MAX);
    (event.rtt, event.smoothed_rtt, event.minimum_rtt) = (Some(rtt), Some(rtt), Some(rtt));
    event
}

/// Members of one group: its knowledge goes to a member before each event and back after it, as in
/// a simulation.
pub struct Parallel {
    members: Vec<Connection>,
    group: Group,
}

impl Parallel {
    fn new(members: usize, control: impl Fn() -> Controller) -> Self {
        Self { members: (0..members).map(|_| Connection::new(control())).collect(), group: Group::default() }
    }

    fn now(&self) -> Time {
        self.members.iter().map(|member| member.now).max().unwrap_or(Time::ZERO)
    }

    /// An event of one member, at the time of the last event: no member's clock is behind
    /// another's.
    fn happen(&mut self, member: usize, step: &Step) {
        let now = self.now();
        let connection = &mut self.members[member];
        connection.now = now;
        let before = connection.cwnd();
        connection.control.take_from(&self.group);
        assert!(connection.cwnd() <= before, "a loss of another raised the window from {before}");
        connection.check();
        // Not to the end of time, where all losses would fall in one round trip.
        let interval = step.interval.min(Duration::from_seconds(1.0));
        connection.happen(&Step { interval, ..step.clone() });
        connection.control.give_to(&mut self.group);
    }

    /// Losses of a single member reduce every window of the group to a few segments: each member
    /// responds at its next event.
    fn lose_everything(&mut self) {
        // Whatever round-trip times it has seen, from now on they are ordinary.
        let interval = Duration::from_milliseconds(40);
        self.happen(0, &Step { interval, ..ordinary(interval).into() });
        for _ in 0..5000 {
            if self.members.iter().all(|member| member.cwnd() < 4.0) {
                return;
            }
            // Losses within a round trip that a member has responded to are one loss.
            self.members[0].now = self.now() + Duration::from_seconds(1.0);
            self.happen(0, &Step::with_flight(None, LossDetected::new));
            for member in 0..self.members.len() {
                self.happen(member, &RecoveryEnded::default().into());
            }
        }
        panic!("5000 losses left {:?}", self.members.iter().map(Connection::cwnd).collect::<Vec<_>>());
    }
}

pub fn names(part: Part) -> Vec<&'static str> {
    ENTRIES.iter().filter(|entry| entry.part == part).map(|entry| entry.name).collect()
}

/// A connection, or several in a group, and its events.
#[derive(Clone, Debug)]
pub struct Case {
    /// The events, each with the group member that receives it.
    pub events: Vec<(usize, Step)>,
    /// Encodes the parameter values.
    pub choices: Vec<u8>,
    pub initial_window: f64,
    pub initial_ssthresh: f64,
    pub receive_window: Bytes,
    pub selective_acks: bool,
    pub seed: u64,
}

impl Case {
    fn setup(&self) -> Setup {
        Setup {
            mss: Bytes(MSS),
            header: Bytes(40),
            initial_window: self.initial_window,
            initial_ssthresh: self.initial_ssthresh,
            receive_window: self.receive_window,
            selective_acks: self.selective_acks,
            byte_counting: true,
            restart_after_idle: true,
            paced: false,
            seed: self.seed,
        }
    }

    fn choose(&self, selection: &mut Selection) {
        let parameters: Vec<&Parameter> = selection.parameters().collect();
        for (parameter, choice) in parameters.iter().zip(self.choices.iter().cycle()) {
            set(selection, parameter, *choice);
        }
    }

    /// Asserts that one algorithm has a usable window after each event, can be printed, and
    /// responds to losses.
    pub fn one(&self, Subject { mut selection, is_model }: Subject) {
        self.choose(&mut selection);
        let setup = self.setup();
        let mut connection = Connection::new(selection.controller(setup));
        let needs: Vec<Need> = selection.needs().map(|(_, need)| need).collect();
        for (_, event) in &self.events {
            connection.happen(event);
            // An adapter refuses algorithms by their declared needs: these must be complete.
            let decision = connection.control.decision();
            if !selection.is_custom() {
                assert!(decision.pacing.is_none() || needs.contains(&Need::Pacing), "{selection:?} paces");
                let holds_back = decision.probe.is_some() || decision.allowance < Bytes::MAX;
                assert!(!holds_back || needs.contains(&Need::Trains), "{selection:?} holds back");
            }
        }
        assert!(format!("{:?}", connection.control).contains("cwnd"));
        if is_model && connection.control.wants_rate_samples() {
            // Responds to losses as samples report them; from the beginning, because a model built
            // on impossible samples can take any time to forget.
            Connection::new(selection.controller(setup)).lose_with_samples();
        } else {
            connection.lose_everything();
        }
    }

    /// The same for a group of `members` parallel connections.
    pub fn group(&self, Subject { mut selection, .. }: Subject, members: usize) {
        assert!(selection.forms_groups());
        self.choose(&mut selection);
        let setup = self.setup();
        let mut parallel = Parallel::new(members, || selection.controller(setup));
        for (member, event) in &self.events {
            parallel.happen(member % members, event);
        }
        parallel.lose_everything();
    }
}

/// An algorithm to test.
pub struct Subject {
    pub selection: Selection,
    /// Whether it is a model, which owns start and window.
    pub is_model: bool,
}

/// Every algorithm of the registry: a new one is included automatically.
pub fn subjects() -> Vec<Subject> {
    let models = names(Part::Model).into_iter().map(|name| Selection::model(name).expect("it is listed"));
    let mut subjects: Vec<Subject> = models.map(|selection| Subject { selection, is_model: true }).collect();
    let mut add = |selection| subjects.push(Subject { selection, is_model: false });
    add(Selection::custom(Wild));
    for start in names(Part::Start) {
        for window in names(Part::Window) {
            add(Selection::new(start, window).expect("both are listed"));
        }
    }
    for estimate in names(Part::Estimate) {
        for window in ["reno", "lotka-volterra"] {
            let parts = Selection::new("slow-start", window).expect("both are listed");
            add(parts.with_estimate(estimate).expect("it is listed"));
        }
    }
    subjects
}

/// Those that form groups.
pub fn groups() -> Vec<Subject> {
    subjects().into_iter().filter(|subject| subject.selection.forms_groups()).collect()
}
