//! Every start with every window algorithm, every model and every estimator, whatever parameters, under events in any order, also impossible ones.

use proptest::prelude::*;
use selfclock_congestion::controller::{MAXIMUM_WINDOW_SEGMENTS, Setup, WindowState};
use selfclock_congestion::custom::Custom;
use selfclock_congestion::event::{ProbePart, RestartCause};
use selfclock_congestion::model::ModelPart;
use selfclock_congestion::option::{
    PacketPairOption, PairMark, QuickStartOption, SwiftStartOption, XcpOption,
};
use selfclock_congestion::parameter::{Kind, Parameter, ParameterError, Value};
use selfclock_congestion::receiver::INITIAL_TTL;
use selfclock_congestion::registry::{ENTRIES, Entry, Part, Selection};
use selfclock_congestion::window::Group;
use selfclock_congestion::{
    Acknowledged, Bytes, Controller, DuplicateAck, Duration, EcnEcho, Established, LossDetected, Pacing,
    PeerOption, Rate, RateSample, RecoveryEnded, Sent, Time, Timeout,
};

const MSS: u64 = 1000;

/// An algorithm of another crate that sets any window, also impossible ones.
#[derive(Clone, Copy, Debug)]
struct Wild;

impl Custom for Wild {
    type Model = Self;
    fn entry(&self) -> Entry {
        Entry { name: "wild", part: Part::Model, about: "", source: "", parameters: &[] }
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

/// Something that happens.
#[derive(Clone, Debug)]
enum Event {
    /// So many acknowledgements, each after `interval`.
    Acknowledged {
        repeat: u32,
        interval: Duration,
        event: Acknowledged,
    },
    Duplicate {
        count: u32,
        marked: u64,
        rate: Option<RateSample>,
        option: Option<PeerOption>,
    },
    /// With so many bytes in flight; `None`: the whole window.
    Loss(Option<u64>),
    /// With so many bytes in flight; `None`: the whole window.
    Echo(Option<u64>),
    Timeout {
        flight: Option<u64>,
        repeated: bool,
    },
    RecoveryEnded,
    Sent {
        size: u64,
        held_back: u64,
    },
    HandshakeLoss,
    /// The SYN is answered; Quick-Start's routers have left this rate.
    Established {
        rtt: Option<Duration>,
        rate: u8,
    },
}

/// Mostly like what happens, with the ends of the range among it.
fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => Just(MSS),
        3 => 0..100_000_u64,
        1 => any::<u64>(),
        1 => Just(0),
        1 => Just(u64::MAX),
    ]
}

fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![
        6 => (0..500_000_u64).prop_map(Duration::from_microseconds),
        1 => Just(Duration::ZERO),
        1 => Just(Duration::from_picoseconds(1)),
        1 => any::<u64>().prop_map(Duration::from_picoseconds),
        1 => Just(Duration::MAX),
    ]
}

fn option() -> impl Strategy<Value = Option<PeerOption>> {
    let mark = prop_oneof![Just(PairMark::First), Just(PairMark::Second)];
    let pair = (proptest::option::of((mark, any::<u8>())), proptest::option::of(any::<(u8, u16)>()))
        .prop_map(|(mark, reply)| PeerOption::PacketPair(PacketPairOption { mark, reply }));
    let swift = prop_oneof![
        (any::<u8>(), prop_oneof![0..10_000_u32, any::<u32>()])
            .prop_map(|(id, microseconds)| SwiftStartOption::Reply { id, microseconds }),
        any::<u8>().prop_map(|id| SwiftStartOption::Mark(PairMark::First, id)),
    ]
    .prop_map(PeerOption::SwiftStart);
    // What a receiver answers that makes up the nonce is hardly ever right: `answer_request` tells it.
    let quick = (any::<u8>(), any::<u8>(), any::<u32>())
        .prop_map(|(rate, ttl_difference, nonce)| QuickStartOption::Response { rate, ttl_difference, nonce })
        .prop_map(PeerOption::QuickStart);
    let xcp = any::<i32>().prop_map(|feedback| PeerOption::Xcp(XcpOption::Reply { feedback }));
    proptest::option::of(prop_oneof![pair, swift, quick, xcp])
}

/// What a receiver without a router before it answers when so much of the request was left.
fn answer_request(request: Option<PeerOption>, left: u8) -> Option<PeerOption> {
    let Some(PeerOption::QuickStart(QuickStartOption::Request { rate, ttl, nonce })) = request else {
        return None;
    };
    let ttl_difference = INITIAL_TTL.wrapping_sub(ttl);
    Some(PeerOption::QuickStart(QuickStartOption::Response { rate: rate.min(left), ttl_difference, nonce }))
}

fn rate() -> impl Strategy<Value = Option<RateSample>> {
    let sizes = (bytes(), bytes(), bytes(), bytes());
    let losses = (prop_oneof![2 => Just(0), 1 => bytes()], prop_oneof![2 => Just(0), 1 => bytes()], bytes());
    let bits = prop_oneof![4 => 1000..1_000_000_000_u64, 1 => any::<u64>(), 1 => Just(0)];
    let sample = (sizes, losses, bits, span(), any::<bool>()).prop_map(
        |(sizes, (newly_lost, lost, tx_in_flight), bits, interval, is_app_limited)| RateSample {
            delivery_rate: Rate::from_bits_per_second(bits),
            interval,
            delivered: Bytes(sizes.0),
            delivered_total: Bytes(sizes.1),
            prior_delivered: Bytes(sizes.2),
            newly_acked: Bytes(sizes.3),
            newly_lost: Bytes(newly_lost),
            lost: Bytes(lost),
            tx_in_flight: Bytes(tx_in_flight),
            is_app_limited,
        },
    );
    proptest::option::weighted(0.8, sample)
}

fn event() -> impl Strategy<Value = Event> {
    let sizes = (bytes(), bytes(), bytes(), bytes());
    let times =
        (span(), proptest::option::of(span()), proptest::option::of(span()), proptest::option::of(span()));
    let marked = || prop_oneof![4 => Just(0), 1 => bytes()];
    let more = (marked(), rate());
    let acknowledged = (1..300_u32, sizes, times, any::<(bool, bool)>(), option(), more).prop_map(
        |(repeat, sizes, times, (window_limited, unlikely), option, (marked, rate))| {
            let (size, acknowledged, sent, in_flight) = sizes;
            let (interval, rtt, smoothed_rtt, minimum_rtt) = times;
            let event = Acknowledged {
                now: Time::ZERO,
                size: Bytes(size),
                acknowledged_total: Bytes(acknowledged),
                sent_total: Bytes(sent),
                rtt,
                smoothed_rtt,
                minimum_rtt,
                in_flight: Bytes(in_flight),
                window_limited,
                recovering: unlikely && !window_limited,
                marked: Bytes(marked),
                rate,
                option,
            };
            Event::Acknowledged { repeat, interval, event }
        },
    );
    prop_oneof![
        8 => acknowledged,
        1 => (0..10_u32, marked(), rate(), option())
            .prop_map(|(count, marked, rate, option)| Event::Duplicate { count, marked, rate, option }),
        2 => proptest::option::of(bytes()).prop_map(Event::Loss),
        1 => proptest::option::of(bytes()).prop_map(Event::Echo),
        1 => (proptest::option::of(bytes()), any::<bool>())
            .prop_map(|(flight, repeated)| Event::Timeout { flight, repeated }),
        1 => Just(Event::RecoveryEnded),
        2 => (bytes(), bytes()).prop_map(|(size, held_back)| Event::Sent { size, held_back }),
        1 => Just(Event::HandshakeLoss),
        1 => (proptest::option::of(span()), 0..16_u8).prop_map(|(rtt, rate)| Event::Established { rtt, rate }),
    ]
}

/// One value of a parameter's range: mostly the default, else its ends and between.
fn set(selection: &mut Selection, parameter: &Parameter, choice: u8) {
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
        Kind::Choice(words) => Value::Choice(words[usize::from(choice) % words.len()]),
    };
    let result = selection.set(parameter.name, value);
    assert_eq!(result, Ok(()), "{} = {value:?}", parameter.name);
}

struct Connection {
    control: Controller,
    now: Time,
}

impl Connection {
    fn cwnd(&self) -> f64 {
        self.control.snapshot().cwnd_segments
    }

    fn flight(&self, flight: Option<u64>) -> Bytes {
        Bytes(flight.unwrap_or((self.cwnd() * MSS as f64) as u64))
    }

    fn happen(&mut self, event: &Event) {
        let before = self.cwnd();
        let now = self.now;
        match event {
            Event::Acknowledged { repeat, interval, event } => {
                for i in 0..u64::from(*repeat) {
                    self.now += *interval;
                    let total =
                        |bytes: Bytes| Bytes(bytes.get().saturating_add(event.size.get().saturating_mul(i)));
                    self.control.on_ack(&Acknowledged {
                        now: self.now,
                        acknowledged_total: total(event.acknowledged_total),
                        sent_total: total(event.sent_total),
                        // A sample moves on with every acknowledgement.
                        rate: event.rate.map(|rate| RateSample {
                            delivered_total: total(rate.delivered_total),
                            prior_delivered: total(rate.prior_delivered),
                            ..rate
                        }),
                        ..*event
                    });
                    self.check();
                }
            }
            Event::Duplicate { count, marked, rate, option } => {
                self.control.on_duplicate_ack(&DuplicateAck {
                    now,
                    count: *count,
                    rtt: None,
                    in_flight: Bytes::ZERO,
                    marked: Bytes(*marked),
                    rate: *rate,
                    option: *option,
                });
            }
            Event::Loss(flight) => {
                let flight_size = self.flight(*flight);
                self.control.on_loss(&LossDetected { now, flight_size });
                assert!(self.cwnd() <= before, "a loss raised the window from {before} to {}", self.cwnd());
            }
            Event::Echo(flight) => {
                let flight_size = self.flight(*flight);
                self.control.on_ecn_echo(&EcnEcho { now, flight_size });
                assert!(self.cwnd() <= before, "a mark raised the window from {before} to {}", self.cwnd());
            }
            Event::Timeout { flight, repeated } => {
                let flight_size = self.flight(*flight);
                let (repeated, cause) = (*repeated, RestartCause::TimerExpired);
                self.control.on_timeout(&Timeout { now, flight_size, repeated, cause });
                assert_eq!(self.cwnd(), 1.0);
            }
            Event::RecoveryEnded => self.control.on_recovery_ended(&RecoveryEnded { now }),
            Event::Sent { size, held_back } => {
                let (size, held_back) = (Bytes(*size), Bytes(*held_back));
                self.control.on_sent(&Sent { now, size, in_flight: size, held_back });
                for part in [ProbePart::Single, ProbePart::PairFirst, ProbePart::PairSecond] {
                    let _ = self.control.option_for(part);
                }
            }
            Event::HandshakeLoss => self.control.on_handshake_loss(),
            Event::Established { rtt, rate } => {
                let option = answer_request(self.control.option_for_syn(), *rate);
                self.control.on_established(&Established { now, rtt: *rtt, option });
            }
        }
        self.check();
    }

    fn check(&self) {
        let snapshot = self.control.snapshot();
        let (cwnd, ssthresh) = (snapshot.cwnd_segments, snapshot.ssthresh_segments);
        assert!((1.0..=MAXIMUM_WINDOW_SEGMENTS).contains(&cwnd), "cwnd {cwnd}: {:?}", self.control);
        assert!(ssthresh >= 2.0, "ssthresh {ssthresh}: {:?}", self.control);
        let decision = self.control.decision();
        assert_eq!(decision.window, Bytes((cwnd * MSS as f64) as u64));
        assert!(decision.window >= Bytes(MSS));
        if let Some(pacing) = decision.pacing {
            assert!(!pacing.interval.is_zero(), "{:?}", self.control);
            assert!(pacing.size > Bytes::ZERO);
        }
    }

    /// Round trips that deliver one segment and lose three quarters of the window, as rate samples report them, bring
    /// any window down too: to what the largest gains make of one segment, at most.
    fn lose_with_samples(&mut self) {
        self.control.on_loss(&LossDetected { now: self.now, flight_size: self.flight(None) });
        for round in 1..5000 {
            if round > 1 && self.cwnd() < 32.0 {
                return;
            }
            self.now += Duration::from_milliseconds(40);
            let lost = Bytes(self.flight(None).get() / 4 * 3);
            self.control.on_ack(&Acknowledged {
                now: self.now,
                size: Bytes(MSS),
                acknowledged_total: Bytes::MAX,
                sent_total: Bytes::MAX,
                rtt: Some(Duration::from_milliseconds(40)),
                smoothed_rtt: Some(Duration::from_milliseconds(40)),
                minimum_rtt: Some(Duration::from_milliseconds(40)),
                in_flight: Bytes::ZERO,
                window_limited: true,
                recovering: true,
                marked: Bytes::ZERO,
                rate: Some(RateSample {
                    delivery_rate: Rate::from_bits_per_second(MSS * 8 * 25),
                    interval: Duration::from_milliseconds(40),
                    delivered: Bytes(MSS),
                    delivered_total: Bytes(MSS * round),
                    prior_delivered: Bytes(MSS * (round - 1)),
                    newly_acked: Bytes(MSS),
                    newly_lost: lost,
                    lost,
                    tx_in_flight: self.flight(None),
                    is_app_limited: false,
                }),
                option: None,
            });
            self.check();
        }
        panic!("{} segments after 5000 round trips with losses: {:?}", self.cwnd(), self.control);
    }

    /// Losses of whole windows bring any window down to a few segments.
    fn lose_everything(&mut self) {
        for _ in 0..5000 {
            let before = self.cwnd();
            if before < 4.0 {
                return;
            }
            self.happen(&Event::Loss(None));
            self.happen(&Event::RecoveryEnded);
        }
        panic!("{} segments after 5000 losses: {:?}", self.cwnd(), self.control);
    }
}

/// A segment acknowledged after this round trip.
fn ordinary(rtt: Duration) -> Acknowledged {
    Acknowledged {
        now: Time::ZERO,
        size: Bytes(MSS),
        acknowledged_total: Bytes::MAX,
        sent_total: Bytes::MAX,
        rtt: Some(rtt),
        smoothed_rtt: Some(rtt),
        minimum_rtt: Some(rtt),
        in_flight: Bytes::ZERO,
        window_limited: true,
        recovering: false,
        marked: Bytes::ZERO,
        rate: None,
        option: None,
    }
}

/// Members of one group: what it knows goes to a member before each event and back after it, as in a simulation.
struct Parallel {
    members: Vec<Connection>,
    group: Group,
}

impl Parallel {
    fn new(members: usize, control: impl Fn() -> Controller) -> Self {
        let connection = || Connection { control: control(), now: Time::ZERO };
        Self { members: (0..members).map(|_| connection()).collect(), group: Group::default() }
    }

    fn now(&self) -> Time {
        self.members.iter().map(|member| member.now).max().unwrap_or(Time::ZERO)
    }

    /// An event of one member. No clock is behind another's: it is the time of the event before.
    fn happen(&mut self, member: usize, event: &Event) {
        let now = self.now();
        let connection = &mut self.members[member];
        connection.now = now;
        let before = connection.cwnd();
        connection.control.take_from(&self.group);
        assert!(connection.cwnd() <= before, "a loss of another raised the window from {before}");
        connection.check();
        match event {
            // Not to the end of time, where all losses would be within one round trip.
            Event::Acknowledged { repeat, interval, event } => {
                let interval = (*interval).min(Duration::from_seconds(1.0));
                connection.happen(&Event::Acknowledged { repeat: *repeat, interval, event: *event });
            }
            _ => connection.happen(event),
        }
        connection.control.give_to(&mut self.group);
    }

    /// Losses of one member alone bring every window of the group down to a few segments: each member answers them when
    /// something happens to it next.
    fn lose_everything(&mut self) {
        // Whatever round-trip times it has been told, now they are ordinary.
        let interval = Duration::from_milliseconds(40);
        self.happen(0, &Event::Acknowledged { repeat: 1, interval, event: ordinary(interval) });
        for _ in 0..5000 {
            if self.members.iter().all(|member| member.cwnd() < 4.0) {
                return;
            }
            // Losses within a round trip that a member has answered are one loss.
            self.members[0].now = self.now() + Duration::from_seconds(1.0);
            self.happen(0, &Event::Loss(None));
            for member in 0..self.members.len() {
                self.happen(member, &Event::RecoveryEnded);
            }
        }
        panic!("5000 losses left {:?}", self.members.iter().map(Connection::cwnd).collect::<Vec<_>>());
    }
}

fn names(part: Part) -> Vec<&'static str> {
    ENTRIES.iter().filter(|entry| entry.part == part).map(|entry| entry.name).collect()
}

/// A receiver that divides its acknowledgements lets no window grow further than one that acknowledges each segment: "a
/// security hole TCP receivers can use to induce the sender into increasing the sending rate too rapidly" (RFC 3465). Windows
/// that add something per acknowledgement used to add it ten times for ten parts of a segment.
#[test]
fn divided_acknowledgements_gain_nothing() {
    for window in names(Part::Window) {
        let grown = |parts: u64| {
            let selection = Selection::new("slow-start", window).expect("it is listed");
            let setup = Setup {
                mss: Bytes(MSS),
                header: Bytes(40),
                initial_window: 100.0,
                initial_ssthresh: 2.0,
                receive_window: Bytes::MAX,
                selective_acks: true,
                seed: 1,
            };
            let mut connection = Connection { control: selection.controller(setup), now: Time::ZERO };
            // Ten round trips of 40 ms at 100 segments each.
            let (interval, mut total) = (Duration::from_microseconds(400), 0);
            for _ in 0..1000 {
                connection.now += interval;
                for _ in 0..parts {
                    total += MSS / parts;
                    connection.control.on_ack(&Acknowledged {
                        now: connection.now,
                        size: Bytes(MSS / parts),
                        acknowledged_total: Bytes(total),
                        sent_total: Bytes(total + 100 * MSS),
                        in_flight: Bytes(100 * MSS),
                        ..ordinary(Duration::from_milliseconds(40))
                    });
                }
            }
            connection.cwnd()
        };
        let (whole, divided) = (grown(1), grown(10));
        // What is added is a part of the window as it then is: second-order differences.
        assert!(divided - 100.0 <= 1.02 * (whole - 100.0) + 1e-9, "{window}: {whole} and {divided} segments");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_events_leaves_a_usable_window(
        events in prop::collection::vec(event(), 1..60),
        choices in prop::collection::vec(any::<u8>(), 32),
        initial_window in prop_oneof![Just(1.0), Just(10.0), Just(1e9), 1.0..1e5_f64],
        initial_ssthresh in prop_oneof![Just(f64::INFINITY), 1.0..1e4_f64],
        receive_window in prop_oneof![Just(Bytes::MAX), (MSS..10_000_000).prop_map(Bytes)],
        selective_acks in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut selections: Vec<Selection> =
            names(Part::Model).into_iter().map(|name| Selection::model(name).expect("it is listed")).collect();
        selections.push(Selection::custom(Wild));
        for start in names(Part::Start) {
            for window in names(Part::Window) {
                selections.push(Selection::new(start, window).expect("both are listed"));
            }
        }
        for estimate in names(Part::Estimate) {
            for window in ["reno", "lotka-volterra"] {
                let parts = Selection::new("slow-start", window).expect("both are listed");
                selections.push(parts.with_estimate(estimate).expect("it is listed"));
            }
        }
        let models = names(Part::Model).len();
        for (index, mut selection) in selections.into_iter().enumerate() {
            let parameters: Vec<&Parameter> = selection.parameters().collect();
            for (parameter, choice) in parameters.iter().zip(choices.iter().cycle()) {
                set(&mut selection, parameter, *choice);
            }
            let setup = Setup {
                mss: Bytes(MSS), header: Bytes(40), initial_window, initial_ssthresh, receive_window,
                selective_acks, seed,
            };
            let mut connection = Connection { control: selection.controller(setup), now: Time::ZERO };
            for event in &events {
                connection.happen(event);
            }
            let printed = format!("{:?}", connection.control);
            prop_assert!(printed.contains("cwnd"));
            if index < models && connection.control.wants_rate_samples() {
                // It responds to losses as the samples report them, and a model made of impossible samples can take any
                // time to forget: from the beginning.
                let control = selection.controller(setup);
                Connection { control, now: Time::ZERO }.lose_with_samples();
            } else {
                connection.lose_everything();
            }
        }
    }

    #[test]
    fn any_order_of_events_leaves_usable_windows_in_a_group(
        events in prop::collection::vec((any::<prop::sample::Index>(), event()), 1..90),
        members in 1..9_usize,
        choices in prop::collection::vec(any::<u8>(), 32),
        initial_window in prop_oneof![Just(10.0), Just(1e9), 1.0..1e5_f64],
        initial_ssthresh in prop_oneof![Just(f64::INFINITY), 1.0..1e4_f64],
        seed in any::<u64>(),
    ) {
        for start in names(Part::Start) {
            let mut selection = Selection::new(start, "adaptive").expect("both are listed");
            prop_assert!(selection.forms_groups());
            let parameters: Vec<&Parameter> = selection.parameters().collect();
            for (parameter, choice) in parameters.iter().zip(choices.iter().cycle()) {
                set(&mut selection, parameter, *choice);
            }
            let setup = Setup {
                mss: Bytes(MSS), header: Bytes(40), initial_window, initial_ssthresh,
                receive_window: Bytes::MAX, selective_acks: true, seed,
            };
            let mut parallel = Parallel::new(members, || selection.controller(setup));
            for (member, event) in &events {
                parallel.happen(member.index(members), event);
            }
            parallel.lose_everything();
        }
    }
}
