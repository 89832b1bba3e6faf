//! Every start with every window algorithm, every model and every estimator, with any parameters,
//! under events in any order, including impossible ones: random events, and those that the fuzzer
//! of `fuzz/` has kept.

mod harness;

use harness::{Case, Connection, MSS, Step, groups, names, ordinary, subjects};
use proptest::prelude::*;
use selfclock_congestion::entry::Part;
use selfclock_congestion::option::{
    PacketPairOption, PairMark, QuickStartOption, SwiftStartOption, XcpOption,
};
use selfclock_congestion::registry::Selection;
use selfclock_congestion::state::Setup;
use selfclock_congestion::{
    Acknowledged, Bytes, DuplicateAck, Duration, EcnEcho, Established, HandshakeLost, LossDetected,
    MssChanged, PeerOption, Rate, RateSample, RecoveryEnded, Resumed, Sent, SpuriousLoss, Stamped, Time,
    Timeout,
};

/// Mostly realistic sizes, including the ends of the range.
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
        .prop_map(|(mark, reply)| PacketPairOption { mark, reply, ..PacketPairOption::default() })
        .prop_map(PeerOption::PacketPair);
    let swift = prop_oneof![
        (any::<u8>(), prop_oneof![0..10_000_u32, any::<u32>()])
            .prop_map(|(id, microseconds)| SwiftStartOption::Reply { id, microseconds }),
        any::<u8>().prop_map(|id| SwiftStartOption::Mark(PairMark::First, id)),
    ]
    .prop_map(PeerOption::SwiftStart);
    // A made-up nonce from a receiver is hardly ever right: `answer_request` supplies it.
    let quick = (any::<u8>(), any::<u8>(), any::<u32>())
        .prop_map(|(rate, ttl_difference, nonce)| QuickStartOption::Response { rate, ttl_difference, nonce })
        .prop_map(PeerOption::QuickStart);
    let xcp = any::<i32>().prop_map(|feedback| PeerOption::Xcp(XcpOption::Reply { feedback }));
    proptest::option::of(prop_oneof![pair, swift, quick, xcp])
}

fn rate() -> impl Strategy<Value = Option<RateSample>> {
    let sizes = (bytes(), bytes(), bytes(), bytes());
    let losses = (prop_oneof![2 => Just(0), 1 => bytes()], prop_oneof![2 => Just(0), 1 => bytes()], bytes());
    let bits = prop_oneof![4 => 1000..1_000_000_000_u64, 1 => any::<u64>(), 1 => Just(0)];
    let sample = (sizes, losses, bits, span(), any::<bool>()).prop_map(
        |(sizes, (newly_lost, lost, tx_in_flight), bits, interval, is_app_limited)| {
            let mut sample = RateSample::default();
            sample.delivery_rate = Rate::from_bits_per_second(bits);
            sample.interval = interval;
            sample.delivered = Bytes(sizes.0);
            sample.delivered_total = Bytes(sizes.1);
            sample.prior_delivered = Bytes(sizes.2);
            sample.newly_acked = Bytes(sizes.3);
            sample.newly_lost = Bytes(newly_lost);
            sample.lost = Bytes(lost);
            sample.tx_in_flight = Bytes(tx_in_flight);
            sample.is_app_limited = is_app_limited;
            sample
        },
    );
    proptest::option::weighted(0.8, sample)
}

fn step() -> impl Strategy<Value = Step> {
    let sizes = (bytes(), bytes(), bytes(), bytes());
    let times =
        (span(), proptest::option::of(span()), proptest::option::of(span()), proptest::option::of(span()));
    let marked = || prop_oneof![4 => Just(0), 1 => bytes()];
    let more = (marked(), rate());
    let acknowledged = (1..300_u32, sizes, times, any::<(bool, bool)>(), option(), more).prop_map(
        |(repeat, sizes, times, (window_limited, unlikely), option, (marked, rate))| {
            let (size, acknowledged, sent, in_flight) = sizes;
            let (interval, rtt, smoothed_rtt, minimum_rtt) = times;
            let mut event = Acknowledged::new(Time::ZERO, Bytes(size));
            (event.acknowledged_total, event.sent_total) = (Bytes(acknowledged), Bytes(sent));
            (event.rtt, event.smoothed_rtt, event.minimum_rtt) = (rtt, smoothed_rtt, minimum_rtt);
            (event.in_flight, event.marked) = (Bytes(in_flight), Bytes(marked));
            event.window_limited = window_limited;
            event.recovering = unlikely && !window_limited;
            (event.rate, event.option) = (rate, option);
            Step { repeat, interval, ..event.into() }
        },
    );
    let duplicate = (0..10_u32, marked(), rate(), option()).prop_map(|(count, marked, rate, option)| {
        let mut event = DuplicateAck::new(Time::ZERO, count);
        (event.marked, event.rate, event.option) = (Bytes(marked), rate, option);
        event.into()
    });
    let timeout = (proptest::option::of(bytes()), any::<bool>()).prop_map(|(flight, repeated)| {
        Step::with_flight(flight, |now, flight| {
            let mut event = Timeout::new(now, flight);
            event.repeated = repeated;
            event
        })
    });
    let sent = (bytes(), bytes(), any::<bool>()).prop_map(|(size, held_back, app_limited)| {
        let mut event = Sent::new(Time::ZERO, Bytes(size), Bytes(size));
        (event.held_back, event.app_limited) = (Bytes(held_back), app_limited);
        event.into()
    });
    prop_oneof![
        8 => acknowledged,
        1 => duplicate,
        2 => proptest::option::of(bytes()).prop_map(|flight| Step::with_flight(flight, LossDetected::new)),
        1 => proptest::option::of(bytes()).prop_map(|flight| Step::with_flight(flight, EcnEcho::new)),
        1 => timeout,
        1 => Just(RecoveryEnded::default().into()),
        2 => sent,
        1 => Just(HandshakeLost::default().into()),
        1 => (proptest::option::of(span()), 0..16_u8).prop_map(|(rtt, approved)| {
            Step { approved, ..Established::new(Time::ZERO, rtt).into() }
        }),
        1 => Just(SpuriousLoss::default().into()),
        1 => (span(), span()).prop_map(|(card, peer)| {
            Stamped::new(Time::ZERO, Time::ZERO + card, Time::ZERO + peer).into()
        }),
        1 => (span(), span()).prop_map(|(idle, timeout)| Resumed::new(Time::ZERO, idle, timeout).into()),
        1 => prop_oneof![Just(0), 1..65_536_u64].prop_map(|mss| MssChanged::new(Time::ZERO, Bytes(mss)).into()),
    ]
}

/// Dividing ACKs grows no window faster than one ACK per segment: "a security hole TCP receivers
/// can use to induce the sender into increasing the sending rate too rapidly" (RFC 3465). Windows
/// that grow per ACK used to grow ten times as fast for ten parts of a segment.
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
                byte_counting: false,
                restart_after_idle: true,
                paced: false,
                seed: 1,
            };
            let mut connection = Connection::new(selection.controller(setup));
            // Ten round trips of 40 ms at 100 segments each.
            let (interval, mut total) = (Duration::from_microseconds(400), 0);
            for _ in 0..1000 {
                connection.now += interval;
                for _ in 0..parts {
                    total += MSS / parts;
                    let mut ack = ordinary(Duration::from_milliseconds(40));
                    (ack.now, ack.size, ack.in_flight) =
                        (connection.now, Bytes(MSS / parts), Bytes(100 * MSS));
                    (ack.acknowledged_total, ack.sent_total) = (Bytes(total), Bytes(total + 100 * MSS));
                    connection.control.on_ack(&ack);
                }
            }
            connection.cwnd()
        };
        let (whole, divided) = (grown(1), grown(10));
        // The increase is a fraction of the current window: second-order differences.
        assert!(divided - 100.0 <= 1.02 * (whole - 100.0) + 1e-9, "{window}: {whole} and {divided} segments");
    }
}

/// Fuzzer findings worth keeping.
#[test]
fn the_corpus_of_the_fuzzer() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/any_order");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("the corpus") {
        let path = file.expect("a file").path();
        harness::bytes::run(&std::fs::read(&path).expect("bytes"));
        seen += 1;
    }
    assert!(seen > 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_events_leaves_a_usable_window(
        events in prop::collection::vec(step(), 1..60),
        choices in prop::collection::vec(any::<u8>(), 32),
        initial_window in prop_oneof![Just(1.0), Just(10.0), Just(1e9), 1.0..1e5_f64],
        initial_ssthresh in prop_oneof![Just(f64::INFINITY), 1.0..1e4_f64],
        receive_window in prop_oneof![Just(Bytes::MAX), (MSS..10_000_000).prop_map(Bytes)],
        selective_acks in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let events = events.into_iter().map(|event| (0, event)).collect();
        let case =
            Case { events, choices, initial_window, initial_ssthresh, receive_window, selective_acks, seed };
        for subject in subjects() {
            case.one(subject);
        }
    }

    #[test]
    fn any_order_of_events_leaves_usable_windows_in_a_group(
        events in prop::collection::vec((0..64_usize, step()), 1..90),
        members in 1..9_usize,
        choices in prop::collection::vec(any::<u8>(), 32),
        initial_window in prop_oneof![Just(10.0), Just(1e9), 1.0..1e5_f64],
        initial_ssthresh in prop_oneof![Just(f64::INFINITY), 1.0..1e4_f64],
        seed in any::<u64>(),
    ) {
        let case = Case {
            events, choices, initial_window, initial_ssthresh, receive_window: Bytes::MAX, selective_acks: true,
            seed,
        };
        for subject in groups() {
            case.group(subject, members);
        }
    }
}
