//! Real connections of both stacks over a link in memory, in simulated time: TLS, packets, loss
//! recovery and ACK ranges are the stack's, and the congestion control is ours.
#![allow(clippy::disallowed_methods, reason = "stacks take instants: simulated time begins now")]

mod link;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use link::{Transfer, Wire, transfer};
use selfclock_congestion::entry::Part;
use selfclock_congestion::registry::ENTRIES;
use selfclock_congestion::trace::{Reader, Record, replay};
use selfclock_congestion::{Event, Rate, Registry};
use selfclock_quic::{Factory, FactoryError, Noq, Quinn, Traces};

/// Bit/s, and seconds there and back.
const RATE: f64 = 20e6;
const RTT: f64 = 0.04;
/// Bytes that fill the path: 100 kB.
const BDP: u64 = (RATE * RTT / 8.0) as u64;
/// QUIC's packets here: the smallest that every path takes.
const PACKET: u64 = 1200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stack {
    Quinn,
    Noq,
}

const STACKS: [Stack; 2] = [Stack::Quinn, Stack::Noq];

/// Conditions of a connection.
#[derive(Clone, Copy, Debug)]
struct Path {
    size: u64,
    /// In bytes.
    queue: u64,
    loss: f64,
    late: f64,
    mark_above: u64,
    /// Nothing arrives from the one to the other, seconds.
    outage: (f64, f64),
    discover_mtu: bool,
}

const CLEAN: Path = Path {
    size: 4_000_000,
    queue: BDP,
    loss: 0.0,
    late: 0.0,
    mark_above: u64::MAX,
    outage: (0.0, 0.0),
    discover_mtu: false,
};

/// One datagram in 150 is lost, and one overtaken.
const ROUGH: Path = Path { size: 1_500_000, loss: 1.0 / 150.0, late: 1.0 / 150.0, queue: BDP / 2, ..CLEAN };

/// The transfer, and the trace of the client.
fn run(stack: Stack, text: &str, path: Path) -> (Transfer, Vec<u8>) {
    let (start, traces) = (Instant::now(), Traces::in_memory());
    let delay = Duration::from_secs_f64(RTT / 2.0);
    let at = |seconds| start + Duration::from_secs_f64(seconds);
    let mut there = Wire::new(RATE, delay, path.queue);
    (there.loss, there.late, there.mark_above) = (path.loss, path.late, path.mark_above);
    there.outage = Some((at(path.outage.0), at(path.outage.1)));
    let mut back = Wire::new(RATE, delay, path.queue);
    let limit = Duration::from_secs(120);
    let seen = match stack {
        Stack::Quinn => {
            let factory = Factory::<Quinn>::read(text).expect(text).traced(&traces);
            let mut settings = link::quinn::Settings::new(Arc::new(factory));
            settings.discover_mtu = path.discover_mtu;
            let (mut client, mut server) = link::quinn::pair(&settings, start, path.size);
            transfer(start, (&mut client, &mut server), (&mut there, &mut back), limit)
        }
        Stack::Noq => {
            let factory = Factory::<Noq>::read(text).expect(text).traced(&traces);
            let mut settings = link::noq::Settings::new(Arc::new(factory));
            settings.discover_mtu = path.discover_mtu;
            let (mut client, mut server) = link::noq::pair(&settings, start, path.size);
            transfer(start, (&mut client, &mut server), (&mut there, &mut back), limit)
        }
    };
    let mut recorded = traces.take();
    assert_eq!(recorded.len(), 1, "one connection has one trace");
    assert!(traces.error().is_none());
    (seen, recorded.remove(0))
}

fn events(trace: &[u8]) -> Vec<Event> {
    let records = Reader::new(trace).expect("a header").map(|record| record.expect("a record"));
    records.filter_map(|record| if let Record::Event(event) = record { Some(event) } else { None }).collect()
}

fn refusal(stack: Stack, text: &str) -> Option<FactoryError> {
    match stack {
        Stack::Quinn => Factory::<Quinn>::read(text).err(),
        Stack::Noq => Factory::<Noq>::read(text).err(),
    }
}

/// Every window with every start, every model and every estimator.
fn labels() -> Vec<String> {
    let named = |part| ENTRIES.iter().filter(move |entry| entry.part == part).map(|entry| entry.name);
    let pairs = named(Part::Window)
        .flat_map(|window| named(Part::Start).map(move |start| format!("{window}+{start}")));
    let estimates = named(Part::Estimate).map(|estimate| format!("reno+{estimate}"));
    pairs.chain(named(Part::Model).map(str::to_owned)).chain(estimates).collect()
}

/// Delay, loss and reordering: every algorithm that maps brings the file over, its window stays
/// within bounds, and the trace says the same again, to the bit. In the slow start before the first
/// loss the window is at most twice what the path and the queue hold, and a burst of the stack;
/// models keep below that too.
#[test]
fn every_algorithm_that_maps() {
    for stack in STACKS {
        let accepted: Vec<String> =
            labels().into_iter().filter(|label| refusal(stack, label).is_none()).collect();
        // 11 windows with 3 starts; noq paces, so that it has a start more, and BBR.
        assert_eq!(accepted.len(), if stack == Stack::Quinn { 33 } else { 45 }, "{accepted:?}");
        for label in accepted {
            let (seen, trace) = run(stack, &label, ROUGH);
            assert!(seen.dropped > 0 && seen.reordered > 0, "{stack:?} {label}: {seen:?}");
            assert_eq!(seen.received, ROUGH.size, "{stack:?} {label}");
            assert!(seen.smallest_window >= 2 * PACKET, "{stack:?} {label}: {seen:?}");
            let bound = 2 * (BDP + ROUGH.queue) + 10 * PACKET;
            assert!(seen.largest_window <= bound, "{stack:?} {label}: {seen:?}");
            let done = replay(&Registry::built_in(), &trace);
            let done = done.unwrap_or_else(|error| panic!("{stack:?} {label}: {error}"));
            assert!(done.events > 300, "{stack:?} {label}: {done:?}");
            println!("{stack:?} {label}: {:.2} Mbit/s, {seen:?}", seen.goodput() / 1e6);
        }
    }
}

/// Simulated time and seeded identifiers: a connection repeats itself.
#[test]
fn the_same_again() {
    for stack in STACKS {
        let [(first, trace), (second, again)] = [0, 1].map(|_| run(stack, "cubic+hystart++", ROUGH));
        assert_eq!(first, second);
        assert!(trace == again, "{stack:?}: the traces differ");
    }
}

/// A factory refuses algorithms that a stack cannot carry, in one line that names the stack and the
/// missing service.
#[test]
fn refusals() {
    let refused =
        |stack| labels().into_iter().filter_map(move |label| Some((refusal(stack, &label)?, label)));
    for stack in STACKS {
        let mut reasons = BTreeSet::new();
        for (error, label) in refused(stack) {
            let message = error.to_string();
            assert!(matches!(error, FactoryError::Refused { .. }), "{label}: {message}");
            assert!(message.lines().count() == 1 && message.len() < 240, "{message}");
            reasons.insert(message.split(" it needs ").nth(1).expect(&message).to_owned());
        }
        // Two router mechanisms, a partner, counts of marks, trains, and pacing or, where there is
        // pacing, an ACK of every segment.
        assert_eq!(reasons.len(), 6, "{reasons:?}");
    }
    for (stack, label, message) in [
        (
            Stack::Quinn,
            "bbr3",
            "it needs pacing at the algorithm's rate, and quinn always paces at 1.25 windows per round trip",
        ),
        (
            Stack::Noq,
            "prague",
            "it needs counts of CE marks on packets with ECT(1), and noq reports only that",
        ),
        (Stack::Noq, "xcp", "it needs routers with the mechanism xcp, for which QUIC packets carry nothing"),
        (
            Stack::Quinn,
            "packet-pair",
            "it needs a partner at the receiver, which replies in TCP options; QUIC has none",
        ),
        (
            Stack::Noq,
            "reno+icim",
            "it needs segments held back and released in pairs or trains, and noq sends",
        ),
        (Stack::Noq, "swift-start", "it needs an ACK of every segment, and QUIC receivers"),
    ] {
        let given = refusal(stack, label).expect(label).to_string();
        let expected = format!("{label} cannot run in {}: {message}", format!("{stack:?}").to_lowercase());
        assert!(given.starts_with(&expected), "{given}");
    }
    assert!(refusal(Stack::Noq, "cubicc").expect("no name").to_string().contains("did you mean 'cubic'?"));
    assert!(
        refusal(Stack::Noq, "cubic:beta=2")
            .expect("too much")
            .to_string()
            .starts_with("beta: 2 is outside of")
    );
}

/// A full queue loses several packets of a round trip; the window is reduced once for all of them
/// (RFC 9002, section 7.3.2).
#[test]
fn one_reduction_a_round_trip() {
    for stack in STACKS {
        let (seen, trace) = run(stack, "reno", Path { size: 16_000_000, queue: BDP / 4, ..CLEAN });
        let losses: Vec<_> = events(&trace)
            .into_iter()
            .filter_map(|event| if let Event::LossDetected(loss) = event { Some(loss.now) } else { None })
            .collect();
        assert!(losses.len() > 2 && seen.dropped > 2 * losses.len() as u64, "{stack:?}: {losses:?} {seen:?}");
        for pair in losses.windows(2) {
            assert!(pair[1].since(pair[0]).seconds() >= RTT, "{stack:?}: {pair:?}");
        }
    }
}

/// Marks in place of drops: the window is reduced, and nothing is lost. An algorithm without a
/// response to marks receives losses.
#[test]
fn marks() {
    for (stack, label) in [(Stack::Quinn, "cubic+hystart++"), (Stack::Noq, "cubic"), (Stack::Noq, "bbr3")] {
        let (seen, trace) = run(stack, label, Path { queue: 20 * BDP, mark_above: BDP / 4, ..CLEAN });
        let (mut echoes, mut losses) = (0, 0);
        for event in events(&trace) {
            match event {
                Event::EcnEcho(_) => echoes += 1,
                Event::LossDetected(loss) => {
                    assert_eq!(loss.lost.get(), 0);
                    losses += 1;
                }
                _ => {}
            }
        }
        assert!(seen.marked > 0 && seen.dropped == 0, "{stack:?} {label}: {seen:?}");
        assert_eq!(
            (echoes > 0, losses > 0),
            (label != "bbr3", label == "bbr3"),
            "{stack:?} {label}: {seen:?}"
        );
        assert!(seen.largest_window < 4 * BDP, "{stack:?} {label}: {seen:?}");
    }
}

/// Two seconds without a path are persistent congestion: the window goes down to two packets, and
/// the file still arrives.
#[test]
fn an_outage() {
    for (stack, label) in
        [(Stack::Quinn, "cubic"), (Stack::Quinn, "vegas"), (Stack::Noq, "reno"), (Stack::Noq, "bbr3")]
    {
        let (seen, trace) = run(stack, label, Path { outage: (0.5, 2.5), ..CLEAN });
        let timeouts = events(&trace).into_iter().filter(|event| matches!(event, Event::Timeout(_))).count();
        assert!(timeouts > 0, "{stack:?} {label}: {seen:?}");
        assert!((2 * PACKET..=2 * PACKET + 1).contains(&seen.smallest_window), "{stack:?} {label}: {seen:?}");
        assert_eq!(replay(&Registry::built_in(), &trace).map(|_| ()), Ok(()), "{stack:?} {label}");
    }
}

/// Larger packets, once the stack has found that the path takes them.
#[test]
fn a_larger_mtu() {
    for stack in STACKS {
        let (_, trace) = run(stack, "cubic", Path { discover_mtu: true, ..CLEAN });
        let sizes: Vec<u64> = events(&trace)
            .into_iter()
            .filter_map(
                |event| if let Event::MssChanged(changed) = event { Some(changed.mss.get()) } else { None },
            )
            .collect();
        assert!(sizes.last().is_some_and(|&size| size > 1400), "{stack:?}: {sizes:?}");
    }
}

/// noq paces BBR: it fills the path without filling the queue, and its samples of the delivery rate
/// are those of the link: 1200 of the 1228 bytes of a datagram. Two packets share one ACK frame, so
/// that over the shortest interval, one round trip of 83 packets, a sample may count one packet too
/// many.
#[test]
fn bbr_at_the_rate_of_the_path() {
    let (seen, trace) = run(Stack::Noq, "bbr3", Path { size: 12_000_000, queue: 4 * BDP, ..CLEAN });
    // Of 1228 bytes on the wire, some 1170 are the file's: 95 % at best, of which BBR is to reach
    // nine tenths with the handshake, the startup and a visit to ProbeRTT in it.
    assert!(seen.goodput() > 0.9 * 0.95 * RATE, "{:.3e} bit/s, {seen:?}", seen.goodput());
    assert_eq!(seen.dropped, 0, "{seen:?}");
    let rates = events(&trace).into_iter().filter_map(|event| match event {
        Event::Acknowledged(ack) => Some(ack.rate?.delivery_rate),
        _ => None,
    });
    let best = rates.map(Rate::bits_per_second).max().unwrap_or(0) as f64;
    let link = RATE * 1200.0 / 1228.0;
    assert!((0.99..1.0 + 2.0 / 83.0).contains(&(best / link)), "{best:.4e} of {link:.4e} bit/s");
}
