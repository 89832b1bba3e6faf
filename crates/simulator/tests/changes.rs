//! Links whose rate and delay change.
//!
//! The laws need no other program: a link sends no more than its rate allows, it is never idle
//! while something waits, and two descriptions of one queue give one result.

mod common;

use common::run;
use proptest::prelude::*;
use selfclock_simulator::Outcome;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::PacketEvent;
use selfclock_simulator::scenario::Scenario;
use std::collections::BTreeMap;

const PS: u64 = 1_000_000_000_000;
/// Bits of a packet of 1500 B.
const PACKET: u128 = 8 * 1500;

fn plan(text: &str) -> Plan {
    Scenario::parse(text, "changes.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}")).plan
}

/// A flow of TCP, and one of UDP while it sends, across a bottleneck with these keys.
fn text(bottleneck: &str, record: &str, flows: &str) -> String {
    format!(
        "schema = 1\nduration = \"9 s\"\n[record]\n{record}\n[network]\ntopology = \"dumbbell\"\n\
         bottleneck = {{ delay = \"10 ms\", {bottleneck} }}\n\
         reverse = {{ rate = \"100 Mbps\", delay = \"10 ms\", queue = \"unlimited\" }}\n\
         access = {{ rate = \"100 Mbps\", delay = \"1 ms\" }}\n{flows}"
    )
}

const TCP: &str = "[[flow]]\ncongestion_control = \"cubic\"\n";
const UDP: &str = "[[flow]]\nprotocol = \"udp\"\nstart = \"2 s\"\nstop = \"5 s\"\ntraffic = { rate = \"7 Mbps\", arrivals = \"poisson\" }\n";

/// Everything measured, to the bit, but the number of events.
fn told(outcome: &mut Outcome) -> String {
    outcome.summary.events = 0;
    format!("{:?} {:?} {:?}", outcome.summary, outcome.flow_series, outcome.link_series)
}

/// Rates of the seconds of a run, Mbit/s.
const RATES: [u64; 9] = [8, 2, 6, 1, 1, 12, 3, 9, 4];

fn each_second(rates: &[u64]) -> String {
    let changes = rates.iter().enumerate().skip(1);
    let changes: Vec<_> =
        changes.map(|(at, rate)| format!("{{ at = \"{at} s\", rate = \"{rate} Mbps\" }}")).collect();
    format!("rate = \"{} Mbps\", changes = [{}]", rates[0], changes.join(", "))
}

/// Integral of the rate over a time, bits times ps.
fn integral(rates: &[u64], from: u64, until: u64) -> u128 {
    let second = |index: u64| (index * PS).clamp(from, until);
    let each = rates.iter().zip(0..);
    each.map(|(rate, index)| u128::from(rate * 1_000_000) * u128::from(second(index + 1) - second(index)))
        .sum()
}

const DISCIPLINES: [&str; 8] = ["drop-tail", "codel", "fq-codel", "pie", "fq-pie", "red", "dualpi2", "drr"];

/// From a packet that finds the transmitter free, the bits sent are the integral of the rate for as
/// long as something waits. A packet keeps the rate with which its transmission began, so a fall
/// can add up to one packet, and a rise from one rate to another can cost their ratio less one:
/// what the rest of a packet could have been.
///
/// With drop-tail packets kept the rate of their arrival: a full queue left at the old rate.
#[test]
fn a_link_sends_what_its_rate_allows() {
    for discipline in DISCIPLINES {
        for queue in ["30 packets", "200 kB"] {
            let bottleneck = format!(
                "{}, queue = {{ discipline = \"{discipline}\", limit = \"{queue}\" }}",
                each_second(&RATES)
            );
            let outcome = run(&plan(&text(&bottleneck, "packets = true", &format!("{TCP}{UDP}"))));
            let mut waiting = BTreeMap::new();
            let mut events: Vec<_> = outcome.packets.iter().filter(|record| record.link == 0).collect();
            events.sort_by_key(|record| (record.time, record.event != PacketEvent::Transmit));
            // Beginning of the busy period, and bits sent in it.
            let (mut since, mut bits) = (0, 0_u128);
            let mut checked = 0;
            for record in events {
                let now = record.time.picoseconds();
                match record.event {
                    PacketEvent::Enqueue => {
                        waiting.insert(record.packet, now);
                    }
                    PacketEvent::Drop => {
                        waiting.remove(&record.packet);
                    }
                    PacketEvent::Transmit => {
                        let arrived = waiting.remove(&record.packet).unwrap_or(now);
                        if arrived == now {
                            // The transmitter was free.
                            (since, bits) = (now, 0);
                        }
                        let allowed = integral(&RATES, since, now) / u128::from(PS);
                        let steps = RATES.windows(2).zip(1..);
                        let within = steps.filter(|&(_, at)| (since..now).contains(&(at * PS)));
                        let (mut above, mut below) = (1, 1);
                        for (step, _) in within {
                            above += if step[1] < step[0] { PACKET } else { 0 };
                            below += PACKET * step[1].saturating_sub(step[0]) as u128 / step[0] as u128;
                        }
                        assert!(
                            bits <= allowed + above && bits + below >= allowed,
                            "{discipline}, {queue}: {bits} bits of {allowed} from {since} to {now} ps"
                        );
                        bits += u128::from(8 * record.size);
                        checked += 1;
                    }
                    _ => {}
                }
            }
            assert!(checked > 500, "{checked}");
            let link = &outcome.summary.links[0];
            let all = integral(&RATES, 0, 9 * PS) / u128::from(PS);
            assert!(u128::from(8 * link.bytes) <= all + PACKET && link.utilization <= 1.0, "{link:?}");
        }
    }
}

/// 24 and then 12 Mbit/s, half of 60 s each, without a limit: 1080 Mbit, and of 1500 B 1448 are
/// payload, so at most 17.4 Mbit/s. A link whose queue was full sent at 24 to the end: 23.1.
#[test]
fn a_full_queue_leaves_at_the_new_rate() {
    let bottleneck =
        "rate = \"24 Mbps\", queue = \"unlimited\", changes = [{ at = \"30 s\", rate = \"12 Mbps\" }]";
    let text = text(bottleneck, "interval = \"1 s\"", TCP).replace("\"9 s\"", "\"60 s\"");
    let outcome = run(&plan(&text));
    let goodput = outcome.summary.flows[0].goodput_bps;
    // The queue is never empty after the start of 0.1 s.
    assert!((17.3e6..=1080e6 / 60.0 * 1448.0 / 1500.0).contains(&goodput), "{goodput}");
    let series = outcome.link_series.columns();
    let full: Vec<f64> = (0..series.time_s.len())
        .filter(|&index| series.link[index] == 0 && series.time_s[index] > 1.5)
        .map(|index| series.utilization[index])
        .collect();
    assert!(full.len() >= 58 && full.iter().all(|&used| used == 1.0), "{full:?}");
}

prop_compose! {
    /// Keys of a link with changes, and with some of loss, jitter and a short queue.
    fn links()(
        changes in prop::collection::vec((50_u64..2500, 1_u64..40, 1_u64..40, 0_u8..3), 0..8),
        rate in 1_u64..30, loss in prop_oneof![Just(0.0), Just(0.01)], jitter in prop_oneof![Just(0_u64), 1_u64..4000],
        queue in prop_oneof![
            Just("1 packets".to_owned()), (2_u64..60).prop_map(|limit| format!("{limit} packets")),
            (600_u64..90_000).prop_map(|limit| format!("{limit} B"))
        ],
        in_system: bool,
    ) -> (String, String) {
        let mut at = 0;
        let changes = changes.into_iter().map(|(gap, rate, delay, which)| {
            at += gap;
            let rate = if which == 1 { String::new() } else { format!(", rate = \"{rate} Mbps\"") };
            let delay = if which == 2 { String::new() } else { format!(", delay = \"{delay} ms\"") };
            format!("{{ at = \"{at} ms\"{rate}{delay} }}")
        });
        let changes: Vec<_> = changes.collect();
        let changes = if changes.is_empty() { String::new() } else { format!(", changes = [{}]", changes.join(", ")) };
        let loss = if loss > 0.0 { format!(", loss = {{ probability = {loss} }}") } else { String::new() };
        let counts = if in_system { "in-system" } else { "waiting" };
        (queue, format!("rate = \"{rate} Mbps\", jitter = \"{jitter} us\", queue_counts = \"{counts}\"{changes}{loss}"))
    }
}

/// Queues that never do what they are for: first in, first out, up to the limit. Not those for
/// several flows, which push out a packet that waits: see below.
const INERT: [&str; 4] = [
    "discipline = \"codel\", target = \"1000 s\"",
    "discipline = \"pie\", target = \"1000 s\"",
    "discipline = \"red\", minimum = \"100000 packets\", maximum = \"200000 packets\"",
    "discipline = \"drop-tail\", mark_above = \"1000 s\"",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// A discipline with nothing to do and one flow is drop-tail, to the bit: one computes a
    /// packet's times on arrival, the others serve it in its turn. They disagreed on every link
    /// with changes, and on limits below a packet, for which only drop-tail let pass what need not
    /// wait.
    #[test]
    fn an_idle_discipline_is_drop_tail((queue, link) in links(), seed in 0_u64..1000, record: bool, udp: bool) {
        let flow = if udp { UDP.replace("7 Mbps", "11 Mbps") } else { TCP.to_owned() };
        let record = if record { "packets = true\ninterval = \"off\"" } else { "interval = \"7 ms\"" };
        let of = |discipline: &str| {
            let bottleneck = format!("{link}, queue = {{ {discipline}, limit = \"{queue}\" }}");
            let text = text(&bottleneck, record, &flow).replacen("schema = 1", &format!("schema = 1\nseed = {seed}"), 1);
            told(&mut run(&plan(&text)))
        };
        let expected = of("discipline = \"drop-tail\"");
        for discipline in INERT {
            let found = of(discipline);
            prop_assert!(found == expected, "{discipline}\n{found}\n{expected}");
        }
    }

    /// Without a limit, fair queueing of one flow is a FIFO queue.
    #[test]
    fn fair_queueing_of_one_flow_is_drop_tail((_, link) in links(), udp: bool) {
        let flow = if udp { UDP } else { TCP };
        let of = |discipline: &str| {
            let bottleneck = format!("{link}, queue = {{ {discipline}, limit = \"unlimited\" }}");
            told(&mut run(&plan(&text(&bottleneck, "interval = \"7 ms\"", flow))))
        };
        let expected = of("discipline = \"drop-tail\"");
        for discipline in [
            "discipline = \"drr\"",
            "discipline = \"fq-codel\", target = \"1000 s\"",
            "discipline = \"fq-pie\", target = \"1000 s\"",
        ] {
            let found = of(discipline);
            prop_assert!(found == expected, "{discipline}\n{found}\n{expected}");
        }
    }

    /// Packet records disable every shortcut, and change nothing.
    #[test]
    fn packet_records_change_nothing((queue, link) in links(), discipline in prop::sample::select(&DISCIPLINES[..])) {
        let of = |record: &str| {
            let bottleneck = format!("{link}, queue = {{ discipline = \"{discipline}\", limit = \"{queue}\" }}");
            told(&mut run(&plan(&text(&bottleneck, record, &format!("{TCP}{UDP}")))))
        };
        prop_assert!(of("interval = \"5 ms\"") == of("interval = \"5 ms\"\npackets = true"));
    }
}

/// Rates that are whole packets per millisecond, as changes and as a delivery trace, which is
/// served at its opportunities: one queue of 400 packets under 30 Mbit/s. The trace sends at the
/// end of each millisecond, so a packet waits up to 1 ms longer, of 130 ms in the mean; each of the
/// eight changes can cost one packet of some 18,000.
#[test]
fn rates_are_what_a_trace_of_them_is() {
    let rates = [24_u64, 12, 36, 12, 24, 12, 48, 24, 12];
    let opportunities: Vec<String> =
        (0..9000_usize).map(|at| format!("{}x{}", at + 1, rates[at / 1000] / 12)).collect();
    let trace = format!("delivery_trace = {{ opportunities = \"{}\" }}", opportunities.join(" "));
    let flow = "[[flow]]\nprotocol = \"udp\"\ntraffic = { rate = \"30 Mbps\", arrivals = \"poisson\" }\n";
    let of = |link: &str| {
        let bottleneck = format!("{link}, queue = \"400 packets\"");
        run(&plan(&text(&bottleneck, "interval = \"off\"", flow))).summary.links[0].clone()
    };
    let (changes, trace) = (of(&each_second(&rates)), of(&trace));
    assert!(changes.drops > 1000 && changes.packets > 15_000, "{changes:?}");
    assert!(changes.packets.abs_diff(trace.packets) <= 9, "{changes:?} {trace:?}");
    assert!((changes.queue_mean_s - trace.queue_mean_s).abs() < 1e-3, "{changes:?} {trace:?}");
    assert!((changes.utilization - trace.utilization).abs() < 1e-3, "{changes:?} {trace:?}");
}

/// Eight CUBIC flows, 80 and then 10 Mbit/s: PIE holds its target of 15 ms ("QDELAY_REF", RFC 8033,
/// section 4.2: the delay is the queue over the current rate at which it drains). It kept the rate
/// of time 0, and held 120 ms. The swing about the target is some ms on a constant link.
#[test]
fn pie_holds_its_target_after_a_change() {
    let bottleneck = "rate = \"80 Mbps\", queue = { discipline = \"pie\", limit = \"3000 packets\" }, changes = [{ at = \"20 s\", rate = \"10 Mbps\" }]";
    let flows = "[[flow]]\ncongestion_control = \"cubic\"\ncount = 8\nstart_jitter = \"1 s\"\n";
    let text = text(bottleneck, "interval = \"10 ms\"", flows).replace("\"9 s\"", "\"60 s\"");
    let outcome = run(&plan(&text));
    let series = outcome.link_series.columns();
    let waiting: Vec<f64> = (0..series.time_s.len())
        .filter(|&index| series.link[index] == 0 && series.time_s[index] > 40.0)
        .map(|index| series.queue_packets[index] as f64)
        .collect();
    // 1500 B take 1.2 ms.
    let mean = waiting.iter().sum::<f64>() / waiting.len() as f64 * 1.2;
    assert!((12.0..18.0).contains(&mean), "{mean} ms");
}

/// The same on a delivery trace, 84 and then 12 Mbit/s, mean 36: the delay is that of the packet
/// that left last (section 4.3). With the mean it was a third of the real one, and PIE held 45 ms.
/// A time stamp is late by the wait itself, so the queue swings about the target.
#[test]
fn pie_holds_its_target_on_a_trace() {
    let opportunities: Vec<String> =
        (1..=60_000).map(|at| format!("{at}x{}", if at <= 20_000 { 7 } else { 1 })).collect();
    let bottleneck = format!(
        "delivery_trace = {{ opportunities = \"{}\" }}, queue = {{ discipline = \"pie\", limit = \"3000 packets\" }}",
        opportunities.join(" ")
    );
    let flows = "[[flow]]\ncongestion_control = \"cubic\"\ncount = 8\nstart_jitter = \"1 s\"\n";
    let text = text(&bottleneck, "interval = \"10 ms\"", flows).replace("\"9 s\"", "\"60 s\"");
    let outcome = run(&plan(&text));
    let series = outcome.link_series.columns();
    let waiting: Vec<f64> = (0..series.time_s.len())
        .filter(|&index| series.link[index] == 0 && series.time_s[index] > 40.0)
        .map(|index| series.queue_packets[index] as f64)
        .collect();
    // A packet takes 1 ms.
    let mean = waiting.iter().sum::<f64>() / waiting.len() as f64;
    assert!((11.0..21.0).contains(&mean), "{mean} ms");
}
