//! Send times of a UDP source, by hand.

mod common;

use common::run;
use selfclock_simulator::Outcome;
use selfclock_simulator::record::packets::PacketEvent;
use selfclock_simulator::record::packets::PacketKind;
use selfclock_simulator::scenario::Scenario;

/// A UDP flow with these keys over a link of 1 Gbit/s.
fn udp(duration: &str, flow: &str) -> Outcome {
    let text = format!(
        "schema = 1\nduration = \"{duration}\"\n[record]\npackets = true\n\
         [network]\ntopology = \"graph\"\nnodes = [\"a\", \"b\"]\n\
         [[network.link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbps\"\ndelay = \"0 s\"\nqueue = \"unlimited\"\n\
         [[flow]]\nprotocol = \"udp\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    );
    let scenario = Scenario::parse(&text, "udp", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario.plan)
}

/// When packets left, us, and their sizes.
fn sent(duration: &str, flow: &str) -> Vec<(f64, u32)> {
    let outcome = udp(duration, flow);
    let sent = outcome.packets.iter().filter(|record| record.event == PacketEvent::Send);
    sent.map(|record| {
        assert_eq!(record.kind, PacketKind::Datagram);
        (record.time.picoseconds() as f64 / 1e6, record.size)
    })
    .collect()
}

fn times(duration: &str, flow: &str) -> Vec<f64> {
    sent(duration, flow).into_iter().map(|(time, _)| time).collect()
}

/// 1500 B at 12 Mbit/s take 1 ms.
#[test]
fn a_constant_rate() {
    let flow = "traffic = { rate = \"12 Mbps\" }\nstart = \"0.3 ms\"";
    assert_eq!(times("4 ms", flow), [300.0, 1300.0, 2300.0, 3300.0]);
    // Nothing leaves at the stop time itself.
    assert_eq!(times("9 ms", &format!("{flow}\nstop = \"2.3 ms\"")), [300.0, 1300.0]);
    assert_eq!(times("9 ms", &format!("{flow}\nstop = \"2.300001 ms\"")), [300.0, 1300.0, 2300.0]);
    let outcome = udp("4 ms", flow);
    let flow = &outcome.summary.flows[0];
    // 28 B of IP and UDP headers; the last packet takes 12 us.
    assert_eq!((flow.delivered_bytes, flow.sent_segments), (4 * 1472, 4));
}

/// When the rate changes, the rest of a gap keeps its number of bits at the new rate.
#[test]
fn a_rate_that_changes() {
    let flow = |steps: &str| format!("traffic = {{ rate = \"12 Mbps\", steps = [{steps}] }}");
    let step = |at: &str, rate: &str| format!("{{ at = \"{at}\", rate = \"{rate}\" }}, ");
    // Half of a packet is left at 2.5 ms: 1 ms at half of the rate, and then 2 ms for each packet.
    let slower = flow(&step("2.5 ms", "6 Mbps"));
    assert_eq!(times("8 ms", &slower), [0.0, 1000.0, 2000.0, 3500.0, 5500.0, 7500.0]);
    // Twice in one gap: 0.25 at 12 Mbit/s, 0.25 in 0.5 ms at 6, and the other half in 0.25 ms at
    // 24.
    let twice = flow(&format!("{}{}", step("1.25 ms", "6 Mbps"), step("1.75 ms", "24 Mbps")));
    assert_eq!(times("3.2 ms", &twice), [0.0, 1000.0, 2000.0, 2500.0, 3000.0]);
    // A packet due exactly at the change leaves then, at the old rate.
    let on_time = flow(&step("2 ms", "6 Mbps"));
    assert_eq!(times("6.1 ms", &on_time), [0.0, 1000.0, 2000.0, 4000.0, 6000.0]);
    // Silence ends with a packet, whatever was left before it.
    let silence = flow(&format!("{}{}", step("1.5 ms", "0 bps"), step("7 ms", "6 Mbps")));
    assert_eq!(times("10 ms", &silence), [0.0, 1000.0, 7000.0, 9000.0]);
    assert_eq!(times("10 ms", &flow(&step("1.5 ms", "0 bps"))), [0.0, 1000.0], "silence for ever");
    // A later start uses the rate of that time.
    let later = format!(
        "{}\nstart = \"5 ms\"",
        flow(&format!("{}{}", step("1 ms", "1 Mbps"), step("5 ms", "6 Mbps")))
    );
    assert_eq!(times("10 ms", &later), [5000.0, 7000.0, 9000.0]);
    // Or in silence, which is over 1 ms later.
    let silent = format!(
        "{}\nstart = \"5 ms\"",
        flow(&format!("{}{}", step("1 ms", "0 bps"), step("6 ms", "6 Mbps")))
    );
    assert_eq!(times("9 ms", &silent), [6000.0, 8000.0]);
}

/// The bit rate is constant: each packet delays the next one by its own duration. Small ones are
/// three in four, within four standard errors of 3000 draws, 3.2 %.
#[test]
fn a_mix_of_sizes() {
    let mix = "traffic = { rate = \"8 Mbps\", packet = [{ size = \"100 B\", weight = 6 }, { size = \"1000 B\", weight = 2 }] }";
    let sent = sent("1 s", mix);
    for pair in sent.windows(2) {
        let ((before, size), (after, _)) = (pair[0], pair[1]);
        assert!((after - before - f64::from(size)).abs() < 1e-6, "{pair:?}");
    }
    let small = sent.iter().filter(|(_, size)| *size == 100).count() as f64 / sent.len() as f64;
    assert!(sent.len() > 2900 && (small - 0.75).abs() < 0.032, "{small} of {}", sent.len());
    assert!(sent.iter().all(|(_, size)| [100, 1000].contains(size)));
}

/// Gaps of a Poisson source have their mean and, being exponential, a standard deviation as large;
/// the first packet waits, too. 20,000 gaps: four standard errors are 2.8 % of the mean, and 4 % of
/// the deviation.
#[test]
fn a_poisson_source() {
    for mix in ["", ", packet = \"imix\""] {
        let times =
            times("20 s", &format!("traffic = {{ rate = \"12 Mbps\"{mix}, arrivals = \"poisson\" }}"));
        assert!(times[0] > 0.0);
        // Simple IMIX: 340 B in the mean.
        let mean = if mix.is_empty() { 1000.0 } else { 1000.0 * 340.0 / 1500.0 };
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let found = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let squares: f64 = gaps.iter().map(|gap| (gap - found) * (gap - found)).sum();
        let deviation = (squares / gaps.len() as f64).sqrt();
        assert!((found / mean - 1.0).abs() < 0.028, "{found} of {mean}");
        assert!((deviation / mean - 1.0).abs() < 0.04, "{deviation} of {mean}");
    }
}

/// Two senders of 10 Mbit/s on a link of 10 Mbit/s: the payload that each delivers, in packets.
fn delivered(queue: &str, overhead: &str, seed: u64) -> Vec<u64> {
    let text = format!(
        "schema = 1\nduration = \"10 s\"\nseed = {seed}\n[network]\ntopology = \"dumbbell\"\n\
         bottleneck = {{ rate = \"10 Mbps\", delay = \"10 ms\", queue = {queue} }}\n\
         access = {{ rate = \"100 Mbps\", delay = \"1 ms\" }}\n\
         [[flow]]\ncount = 2\nprotocol = \"udp\"\ntraffic = {{ rate = \"10 Mbps\" }}\noverhead = \"{overhead}\"\n"
    );
    let scenario = Scenario::parse(&text, "equal", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario.plan)
        .summary
        .flows
        .iter()
        .map(|flow| (flow.goodput_bps * 10.0 / 8.0 / 1472.0) as u64)
        .collect()
}

/// By symmetry equal senders have equal shares: half each. Floyd and Jacobson (1992): a network
/// without noise prefers one, and a random time of up to one service time at the senders ends it.
/// Of 8,333 packets, if each were drawn by lot, half are 4,167 with a deviation of 46: 230 are
/// five.
#[test]
fn equal_senders_share_equally_with_an_overhead() {
    for queue in [
        "\"50 packets\"",
        "{ discipline = \"codel\" }",
        "{ discipline = \"red\" }",
        "{ discipline = \"pie\" }",
    ] {
        for seed in 1..4 {
            let shares = delivered(queue, "1 packet", seed);
            assert!(shares[0].abs_diff(shares[1]) < 2 * 230, "{queue}: {shares:?}");
        }
    }
    let without = delivered("\"50 packets\"", "0 s", 1);
    assert!(without[1] * 10 < without[0], "the phase effect that the overhead ends: {without:?}");
}

/// The overhead is a delay below its bound, and packets stay in order.
#[test]
fn an_overhead_delays_and_does_not_reorder() {
    // 1500 B at 1 Gbit/s take 12 us: packets leave every 12 us, and arrive 12 us later without it.
    let outcome = udp("20 ms", "traffic = { rate = \"1 Gbps\" }\noverhead = \"3 packets\"");
    let times = |event: PacketEvent| -> Vec<f64> {
        let records = outcome.packets.iter().filter(|record| record.event == event);
        records.map(|record| record.time.picoseconds() as f64 / 1e6).collect()
    };
    let (sent, received) = (times(PacketEvent::Send), times(PacketEvent::Deliver));
    assert!(received.len() > 1600);
    let delays: Vec<f64> =
        sent.iter().zip(&received).map(|(sent, received)| received - sent - 12.0).collect();
    assert!(delays.iter().all(|delay| (-1e-6..36.0).contains(delay)));
    assert!(received.is_sorted());
    // A packet waits for those before it: each mean is above that of its own time, half the bound.
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert!((18.0..30.0).contains(&mean), "{mean}");
}
