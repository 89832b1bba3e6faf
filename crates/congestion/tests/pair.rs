//! Controllers of types known at compile time, as compiled for the kernel, decide like those chosen
//! by name.

use selfclock_congestion::composition::{Alone, Composition, Pair};
use selfclock_congestion::model::{bbr3, prague};
use selfclock_congestion::start::{hystart_plus_plus, limited, slow_start};
use selfclock_congestion::window::{
    adaptive, altcp, bic, cubic, fast, highspeed, lotka_volterra, ltcp, reno,
};
use selfclock_congestion::window::{scalable, tri_s, vegas};
use selfclock_congestion::{
    Acknowledged, Bytes, Controller, DuplicateAck, Duration, EcnEcho, Established, Event, LossDetected,
    MssChanged, Rate, RateSample, RecoveryEnded, Resumed, Selection, Sent, Setup, SpuriousLoss, Time,
    Timeout,
};

/// SplitMix64 of Steele, Lea and Flood.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % limit
    }
}

const MSS: u64 = 1448;

/// Every kind of event, mostly ACKs, with delivery rates.
fn events() -> Vec<Event> {
    let mut random = Random(7);
    let (mut now, mut total) = (Time::ZERO, 0);
    let mut all: Vec<Event> = vec![Established::new(now, Some(Duration::from_milliseconds(20))).into()];
    for _ in 0..20_000 {
        now += Duration::from_microseconds(random.below(1500));
        let flight = Bytes(MSS * (10 + random.below(60)));
        let event: Event = match random.below(400) {
            0 => LossDetected::new(now, flight).into(),
            1 => EcnEcho::new(now, flight).into(),
            2 => {
                let mut timeout = Timeout::new(now, flight);
                timeout.repeated = random.below(2) == 0;
                timeout.into()
            }
            3 => SpuriousLoss::new(now).into(),
            4..10 => RecoveryEnded::new(now).into(),
            40..42 => {
                let timeout = Duration::from_microseconds(200_000);
                Resumed::new(now, Duration::from_microseconds(random.below(1_000_000)), timeout).into()
            }
            10 => MssChanged::new(now, Bytes(1000 + random.below(448))).into(),
            11..40 => DuplicateAck::new(now, 1 + random.below(5) as u32).into(),
            42..120 => Sent::new(now, Bytes(MSS), flight).into(),
            _ => {
                let size = Bytes(1 + random.below(2 * MSS));
                total += size.get();
                let mut ack = Acknowledged::new(now, size);
                ack.acknowledged_total = Bytes(total);
                ack.sent_total = Bytes(total) + flight;
                ack.in_flight = flight;
                let rtt = Duration::from_microseconds(20_000 + random.below(8000));
                (ack.rtt, ack.smoothed_rtt, ack.minimum_rtt) =
                    (Some(rtt), Some(rtt), Some(Duration::from_microseconds(20_000)));
                ack.window_limited = random.below(10) > 0;
                ack.recovering = random.below(30) == 0;
                ack.marked = Bytes(if random.below(50) == 0 { MSS } else { 0 });
                let mut rate = RateSample::default();
                rate.delivery_rate = Rate::from_bits_per_second(15_000_000 + random.below(5_000_000));
                (rate.interval, rate.delivered) = (rtt, flight);
                rate.delivered_total = Bytes(total);
                rate.prior_delivered = Bytes(total.saturating_sub(flight.get()));
                (rate.newly_acked, rate.tx_in_flight) = (size, flight);
                rate.lost = Bytes(MSS * (random.below(20) / 19));
                rate.newly_lost = rate.lost;
                ack.rate = Some(rate);
                ack.into()
            }
        };
        all.push(event);
    }
    all
}

fn compare<A: Composition>(label: &str, mut own: Controller<A>) {
    let selection = Selection::from_label(label).expect("listed");
    let mut named = selection.controller(Setup::default());
    assert_eq!(own.wants_rate_samples(), named.wants_rate_samples(), "{label}");
    assert_eq!(own.owns_window_in_recovery(), named.owns_window_in_recovery(), "{label}");
    assert_eq!(own.only_grows(), named.only_grows(), "{label}");
    for (number, event) in events().iter().enumerate() {
        own.on(event);
        named.on(event);
        let (own, named) = ((own.decision(), own.snapshot()), (named.decision(), named.snapshot()));
        assert_eq!(own, named, "{label}, event {number}: {event:?}");
    }
    assert!(own.option_for_syn().is_none() && own.failure().is_none() && !own.is_custom(), "{label}");
}

macro_rules! pairs {
    ($($label:literal: $start:ident::$begins:ident, $window:ident::$goes_on:ident;)+) => {
        $(compare($label, Controller::<Pair<_, _>>::of_parts(
            Setup::default(),
            $start::$begins::new($start::Parameters::default()),
            $window::$goes_on::new($window::Parameters::default()),
        ));)+
    };
}

#[test]
fn pairs_decide_as_those_chosen_by_name() {
    pairs! {
        "reno": slow_start::SlowStart, reno::Reno;
        "reno+hystart++": hystart_plus_plus::HyStartPlusPlus, reno::Reno;
        "reno+limited": limited::Limited, reno::Reno;
        "cubic": slow_start::SlowStart, cubic::Cubic;
        "cubic+hystart++": hystart_plus_plus::HyStartPlusPlus, cubic::Cubic;
        "highspeed": slow_start::SlowStart, highspeed::HighSpeed;
        "scalable": slow_start::SlowStart, scalable::Scalable;
        "fast": slow_start::SlowStart, fast::Fast;
        "bic": slow_start::SlowStart, bic::Bic;
        "vegas": slow_start::SlowStart, vegas::Vegas;
        "tri-s": slow_start::SlowStart, tri_s::TriS;
        "ltcp": slow_start::SlowStart, ltcp::Ltcp;
        "altcp": slow_start::SlowStart, altcp::Altcp;
        "adaptive": slow_start::SlowStart, adaptive::Adaptive;
    }
    let lotka = Selection::from_label("lotka-volterra").expect("listed");
    assert!(lotka.parameter_words().is_none(), "it has an estimator, which no kernel has");
    let _ = lotka_volterra::Parameters::default();
}

#[test]
fn models_decide_as_those_chosen_by_name() {
    let setup = Setup::default();
    let bbr3 = bbr3::Bbr3::new(bbr3::Parameters::default());
    compare("bbr3", Controller::<Alone<_>>::of_model(setup, bbr3));
    let prague = prague::Prague::new(prague::Parameters::default());
    compare("prague", Controller::<Alone<_>>::of_model(setup, prague));
}

/// Parameters of an object: their number, then each, those of the start first.
#[test]
fn parameters_as_words() {
    let mut cubic = Selection::from_label("cubic").expect("listed");
    let words = cubic.parameter_words().expect("built in");
    let start = slow_start::Parameters::TABLE.len();
    assert_eq!(words[0] as usize, words.len() - 1);
    assert_eq!(words.len() - 1, start + cubic::Parameters::TABLE.len());
    assert_eq!(f64::from_bits(words[1 + start]), 0.4, "C of CUBIC");
    cubic.set("beta", selfclock_congestion::parameter::Value::Number(0.8)).expect("in range");
    let words = cubic.parameter_words().expect("built in");
    assert_eq!(f64::from_bits(words[2 + start]), 0.8);
    let measured = Selection::from_label("reno").expect("listed").with_estimate("icim").expect("listed");
    assert!(measured.parameter_words().is_none());
}
