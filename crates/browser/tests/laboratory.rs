//! Requests and replies, as a page has them.

use selfclock_browser::laboratory::Laboratory;
use selfclock_browser::reply::Reply;
use selfclock_simulator::fingerprint::fingerprint;
use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::{Outcome, Simulation};
use serde_json::{Value, json};

const SCENARIO: &str = r#"
schema = 1
name = "two"
duration = "10 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbps", delay = "10 ms", queue = "40 packets" }
access = { rate = "100 Mbps", delay = "1 ms" }
[[flow]]
name = "a"
congestion_control = "cubic"
[[flow]]
name = "b"
protocol = "udp"
traffic = { rate = "1 Mbps" }
start = "2 s"
"#;

#[derive(Default)]
struct Page(Laboratory);

impl Page {
    fn reply(&mut self, request: &Value) -> (Value, Reply) {
        let reply = self.0.answer(&request.to_string());
        (serde_json::from_str(&reply.json).expect("JSON"), reply)
    }

    fn ask(&mut self, request: Value) -> Value {
        self.reply(&request).0
    }

    /// Opens a run with additional keys in the request.
    fn open(&mut self, more: Value) -> Value {
        let mut request = json!({
            "scenario": { "toml": SCENARIO },
            "limits": { "most_packet_hops": 1e7, "packet_hops_per_s": 1e6 },
        });
        request.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        self.ask(json!({ "open": request }))
    }

    /// Runs to the end in slices of `events` events.
    fn run(&mut self, run: &Value, events: u64) {
        loop {
            let reply = self.ask(json!({ "advance": { "run": run, "events": events } }));
            match &reply["finished"] {
                Value::Bool(true) => return,
                Value::Bool(false) => {}
                _ => panic!("{reply}"),
            }
        }
    }
}

/// The numbers of an array in a reply.
fn reals(slot: &Value, reply: &Reply) -> Vec<f64> {
    assert_eq!(slot["array"], "f64");
    let at = slot["at"].as_u64().expect("a place") as usize;
    let length = slot["length"].as_u64().expect("a length") as usize;
    let bytes = reply.arrays.bytes()[at..at + 8 * length].chunks_exact(8);
    bytes.map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes"))).collect()
}

fn integers(slot: &Value, reply: &Reply) -> Vec<u32> {
    let at = slot["at"].as_u64().expect("a place") as usize;
    let length = slot["length"].as_u64().expect("a length") as usize;
    match slot["array"].as_str() {
        Some("u8") => reply.arrays.bytes()[at..at + length].iter().map(|&byte| byte.into()).collect(),
        Some("u32") => {
            let bytes = reply.arrays.bytes()[at..at + 4 * length].chunks_exact(4);
            bytes.map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn natively() -> Outcome {
    natively_of(SCENARIO)
}

fn natively_of(toml: &str) -> Outcome {
    let plan = Scenario::parse(toml, "scenario.toml", &[]).expect("a scenario").plan;
    Simulation::new(&plan).run().expect("built-in algorithms")
}

#[test]
fn a_run_in_slices_leaves_what_a_run_at_once_does() {
    let mut page = Page::default();
    let opened = page.open(json!({}));
    page.run(&opened["run"], 777);
    let (reply, arrays) = page.reply(&json!({ "finish": { "run": opened["run"] } }));
    let outcome = natively();
    // As a text, too: the reader of JSON here may miss the last bit of a number.
    let summary: Value = serde_json::from_str(&json!(outcome.summary).to_string()).expect("JSON");
    assert_eq!(reply["summary"], summary);
    let (flows, links) = (outcome.flow_series.columns(), outcome.link_series.columns());
    assert_eq!(reals(&reply["time_s"], &arrays), flows.time_s);
    assert_eq!(reals(&reply["flows"][0]["cwnd_bytes"], &arrays), flows.cwnd_bytes);
    assert_eq!(reply["flows"][1], Value::Null, "UDP has no window");
    let samples = flows.time_s.len();
    for (index, link) in links.queue_packets.chunks(samples).enumerate() {
        let counts: Vec<f64> = link.iter().map(|&count| count as f64).collect();
        assert_eq!(reals(&reply["links"][index]["queue_packets"], &arrays), counts, "link {index}");
    }
    let gone = page.ask(json!({ "finish": { "run": opened["run"] } }));
    assert_eq!(gone["refusal"]["text"], format!("there is no run {}", opened["run"]));
}

#[test]
fn the_fingerprint_is_that_of_the_run() {
    let mut page = Page::default();
    let opened = page.open(json!({}));
    page.run(&opened["run"], 100_000);
    let reply = page.ask(json!({ "fingerprint": { "run": opened["run"] } }));
    assert_eq!(reply["fingerprint"], format!("{:016x}", fingerprint(natively())));
}

/// The columns during a run are the beginning of those at its end.
#[test]
fn columns_before_the_end_are_the_first_of_all() {
    let mut page = Page::default();
    let opened = page.open(json!({}));
    let run = &opened["run"];
    // Formerly a panic: links served ahead of the clock had more rows than flows.
    for _ in 0..80 {
        page.ask(json!({ "advance": { "run": run, "events": 97 } }));
        page.ask(json!({ "columns": { "run": run } }));
    }
    let under_way = page.ask(json!({ "advance": { "run": run, "events": 1_000 } }));
    assert_eq!(under_way["finished"], false);
    let (early, early_arrays) = page.reply(&json!({ "columns": { "run": run } }));
    page.run(run, 100_000);
    let (late, late_arrays) = page.reply(&json!({ "finish": { "run": run } }));
    let window = |reply: &Value, arrays| reals(&reply["flows"][0]["cwnd_bytes"], arrays);
    let (early, late) = (window(&early, &early_arrays), window(&late, &late_arrays));
    assert!(early.len() > 100 && early.len() < late.len(), "{} of {}", early.len(), late.len());
    assert_eq!(early, late[..early.len()]);
}

#[test]
fn a_scenario_is_described_and_its_error_located() {
    let mut page = Page::default();
    let check = |change: &str| {
        json!({ "check": {
            "scenario": { "toml": SCENARIO, "overrides": [change] },
            "limits": { "most_packet_hops": 1e7, "packet_hops_per_s": 1e6 },
        } })
    };
    let checked = page.ask(check("seed=7"));
    assert_eq!((&checked["name"], &checked["seed"]), (&json!("two"), &json!(7)));
    assert_eq!(checked["flows"][0]["algorithm"], "cubic");
    assert!(checked["text"].as_str().expect("TOML").contains("seed = 7"));
    let seconds = checked["size"]["packet_hops"].as_f64().map(|hops| hops / 1e6);
    assert_eq!(checked["size"]["seconds"].as_f64(), seconds);
    let refused = &page.ask(check("flow.0.start=1"))["refusal"];
    assert_eq!(refused["kind"], "error");
    assert_eq!(
        (&refused["line"], &refused["column"], &refused["source"]),
        (&json!(1), &json!(14), &json!("--set"))
    );
    let terminal = Scenario::parse(SCENARIO, "scenario.toml", &["flow.0.start=1".into()]);
    assert_eq!(refused["text"], terminal.expect_err("no unit").to_string());
}

#[test]
fn what_is_too_large_is_refused_with_what_it_would_need() {
    let mut page = Page::default();
    let limits = |most: f64| json!({ "most_packet_hops": most, "packet_hops_per_s": 1e6 });
    let refused = page.open(json!({ "limits": limits(1000.0) }));
    let refusal = &refused["refusal"];
    assert_eq!(refusal["kind"], "size");
    let text = refusal["text"].as_str().expect("a text");
    // 10 s of 10 Mbit/s: 8,300 packets, of three links, and acknowledgements.
    assert!(
        text.starts_with("too large for this page: about 3") && text.contains("thousand packet-hops"),
        "{text}"
    );
    assert!(refusal["size"]["packet_hops"].as_f64().is_some_and(|hops| hops > 25_000.0));
    // A window of packets at the beginning needs a tenth of it.
    let window = json!({ "from_s": 0.0, "until_s": 1.0, "most_hops": 10_000 });
    assert!(page.open(json!({ "limits": limits(10_000.0), "packets": window }))["run"].is_u64());
}

#[test]
fn requests_without_meaning_are_refused() {
    let mut page = Page::default();
    for (request, message) in [
        (json!("dance"), "unknown variant `dance`"),
        (json!({ "columns": { "run": 5 } }), "there is no run 5"),
        (json!([]), "expected value"),
    ] {
        let reply = page.ask(request);
        let text = reply["refusal"]["text"].as_str().expect("a refusal");
        assert!(text.contains(message), "{text}");
    }
    let opened = page.open(json!({}));
    let run = &opened["run"];
    let no_packets = page.ask(json!({ "hops": { "run": run } }));
    assert_eq!(no_packets["refusal"]["text"], "no packets of this run are recorded");
    let opened = page.open(json!({}));
    let step = page.ask(json!({ "step": { "run": opened["run"], "rate_bps": 1e6, "length_s": 0.1 } }));
    assert_eq!(step["refusal"]["text"], "no flow of this run is steered");
    page.ask(json!({ "close": { "run": opened["run"] } }));
    let closed = page.ask(json!({ "columns": { "run": opened["run"] } }));
    assert!(closed["refusal"].is_object());
    let nobody = page.open(json!({ "steer": "nobody" }));
    assert_eq!(nobody["refusal"]["text"], "no flow is named \"nobody\"; there are a, b");
}

#[test]
fn the_schema_and_all_names_are_told() {
    let mut page = Page::default();
    let about = page.ask(json!("about"));
    let algorithms = about["algorithms"].as_array().expect("a list");
    assert!(algorithms.iter().any(|each| each["name"] == "bbr3" && each["part"] == "model"));
    assert!(about["queues"].as_array().expect("a list").contains(&json!("dualpi2")));
    assert_eq!(page.ask(json!("schema"))["title"], "selfclock scenario");
}

/// A steered flow below the rate of its path, alone: what it delivers is what it sends, without
/// losses or queueing.
#[test]
fn a_steered_flow_sends_at_its_rate() {
    let mut page = Page::default();
    let alone = ["flow.1.start=9 s"];
    let opened = page.open(json!({ "steer": "a", "scenario": { "toml": SCENARIO, "overrides": alone } }));
    assert_eq!(opened["flows"][0]["algorithm"], "agent");
    let mut step = Value::Null;
    let request = |rate: f64| json!({ "step": { "run": opened["run"], "rate_bps": rate, "length_s": 1.0 } });
    for _ in 0..4 {
        step = page.ask(request(5e6));
    }
    // 5 Mbit/s on the wire, of whose packets 1448 of 1500 bytes are payload; within one packet.
    let delivered = step["delivered_bytes"].as_f64().expect("bytes");
    assert!((delivered - 5e6 / 8.0 * 1448.0 / 1500.0).abs() <= 2.0 * 1448.0, "{step}");
    assert_eq!((step["lost_bytes"].as_f64(), step["timeouts"].as_f64()), (Some(0.0), Some(0.0)));
    let rtt = step["rtt_s"].as_f64().expect("an RTT");
    assert!((0.024..0.030).contains(&rtt), "{rtt}");
    // Twice the link's rate fills 40 packets in a tenth of a second, and then half is lost.
    for _ in 0..2 {
        step = page.ask(request(20e6));
    }
    assert!(step["lost_bytes"].as_f64().is_some_and(|lost| lost > 100_000.0), "{step}");
    let refused = page.ask(request(-1.0));
    assert!(refused["refusal"]["text"].as_str().is_some_and(|text| text.contains("must be positive")));
    let advance = page.ask(json!({ "advance": { "run": opened["run"], "events": 1 } }));
    assert_eq!(advance["refusal"]["text"], "a steered run goes on by steps");
    let under_way = page.ask(json!({ "columns": { "run": opened["run"] } }));
    assert!(under_way["flows"][0].is_object());
    let finished = page.ask(json!({ "finish": { "run": opened["run"] } }));
    assert_eq!(finished["summary"]["flows"][0]["algorithm"], "agent");
}

/// The packets of a window are those of the run: what enters the bottleneck, what it drops, and
/// when, by the link's own counts.
#[test]
fn packets_in_motion_are_those_of_the_run() {
    let mut page = Page::default();
    let window = json!({ "from_s": 0.0, "until_s": 10.0, "most_hops": 1_000_000 });
    let opened = page.open(json!({ "packets": window }));
    page.run(&opened["run"], 5_000);
    let (hops, arrays) = page.reply(&json!({ "hops": { "run": opened["run"] } }));
    assert_eq!(hops["cut"], false);
    let summary = natively().summary;
    let (link, fate) = (integers(&hops["link"], &arrays), integers(&hops["fate"], &arrays));
    let bottleneck = summary.links.iter().position(|link| link.drops > 0).expect("a full queue") as u32;
    let dropped = link.iter().zip(&fate).filter(|&(&link, &fate)| link == bottleneck && fate == 1).count();
    assert_eq!(dropped as u64, summary.links[bottleneck as usize].drops);
    let (enter, start) = (reals(&hops["enter_s"], &arrays), reals(&hops["start_s"], &arrays));
    let (sent, arrive) = (reals(&hops["sent_s"], &arrays), reals(&hops["arrive_s"], &arrays));
    let (row, sizes) =
        (integers(&hops["packet"], &arrays), integers(&hops["packets"]["size_bytes"], &arrays));
    let size: Vec<u32> = row.iter().map(|&row| sizes[row as usize]).collect();
    let mut busy_until = 0.0;
    for row in 0..link.len() {
        assert!(enter[row] <= start[row] && start[row] <= sent[row] && sent[row] <= arrive[row], "row {row}");
        if link[row] == bottleneck && fate[row] != 1 && arrive[row].is_finite() {
            // One after the other, 10 Mbit/s and 10 ms; sums of picoseconds as real numbers.
            assert!(start[row] >= busy_until - 1e-11, "row {row}: {} before {busy_until}", start[row]);
            assert!((sent[row] - start[row] - f64::from(size[row]) * 8.0 / 10e6).abs() < 1e-11, "row {row}");
            assert!((arrive[row] - sent[row] - 0.01).abs() < 1e-11, "row {row}");
            busy_until = sent[row];
        }
    }
    let crossed = link.iter().zip(&start).filter(|&(&link, start)| link == bottleneck && start.is_finite());
    let crossed = crossed.count() as u64 - dropped as u64;
    assert_eq!(crossed, summary.links[bottleneck as usize].packets);
}

/// A packet that CoDel drops at the head of its queue leaves the queue when it is dropped: the
/// run's own longest queue is the most that wait at once, and nothing waits for ever.
#[test]
fn what_a_queue_drops_later_does_not_stay_in_it() {
    let mut page = Page::default();
    let toml = SCENARIO
        .replace(r#"queue = "40 packets""#, r#"queue = { discipline = "codel", limit = "1000 packets" }"#);
    let window = json!({ "from_s": 0.0, "until_s": 10.0, "most_hops": 1_000_000 });
    let opened = page.open(json!({ "scenario": { "toml": toml }, "packets": window }));
    page.run(&opened["run"], 5_000);
    let (hops, arrays) = page.reply(&json!({ "hops": { "run": opened["run"] } }));
    let summary = natively_of(&toml).summary;
    let bottleneck = summary.links.iter().position(|link| link.drops > 0).expect("CoDel drops");
    let (link, fate) = (integers(&hops["link"], &arrays), integers(&hops["fate"], &arrays));
    let (enter, start) = (reals(&hops["enter_s"], &arrays), reals(&hops["start_s"], &arrays));
    let at = |row: &usize| link[*row] as usize == bottleneck;
    let dropped: Vec<usize> = (0..link.len()).filter(at).filter(|&row| fate[row] == 1).collect();
    assert_eq!(dropped.len() as u64, summary.links[bottleneck].drops);
    // CoDel drops what has waited for its target of 5 ms.
    assert!(dropped.iter().all(|&row| start[row] - enter[row] >= 0.005), "{dropped:?}");
    let mut changes: Vec<(f64, i64)> = (0..link.len())
        .filter(at)
        .filter(|&row| start[row] > enter[row])
        .flat_map(|row| [(enter[row], 1), (start[row], -1)])
        .collect();
    changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut waiting, mut most) = (0, 0);
    for (_, change) in changes {
        waiting += change;
        most = most.max(waiting);
    }
    // A packet that begins to be transmitted when another arrives may count before it leaves.
    let longest = summary.links[bottleneck].queue_max_packets as i64;
    assert!((most - longest).abs() <= 1, "{most} drawn, {longest} in the run");
}

/// A window in the middle shows the same packets as a record from the beginning, including those in
/// flight at its beginning.
#[test]
fn a_window_shows_what_a_whole_record_does() {
    let mut page = Page::default();
    let mut rows = |from_s: f64, until_s: f64| {
        let window = json!({ "from_s": from_s, "until_s": until_s, "most_hops": 1_000_000 });
        let opened = page.open(json!({ "packets": window }));
        page.run(&opened["run"], 5_000);
        let (hops, arrays) = page.reply(&json!({ "hops": { "run": opened["run"] } }));
        let columns = ["enter_s", "start_s", "sent_s", "arrive_s"].map(|name| reals(&hops[name], &arrays));
        let (row, number) =
            (integers(&hops["packet"], &arrays), integers(&hops["packets"]["packet"], &arrays));
        let packet: Vec<u32> = row.iter().map(|&row| number[row as usize]).collect();
        let row =
            |row: usize| (packet[row], [0, 1, 2, 3].map(|column: usize| columns[column][row].to_bits()));
        let rows: Vec<_> = (0..packet.len()).map(row).collect();
        rows.into_iter().filter(|(_, times)| f64::from_bits(times[3]) >= 5.0).collect::<Vec<_>>()
    };
    let (whole, part) = (rows(0.0, 5.5), rows(5.0, 5.5));
    assert!(part.len() > 500, "{}", part.len());
    assert_eq!(whole, part);
}

#[test]
fn a_window_with_too_many_packets_is_cut() {
    let mut page = Page::default();
    let window = json!({ "from_s": 1.0, "until_s": 9.0, "most_hops": 500 });
    let opened = page.open(json!({ "packets": window }));
    page.run(&opened["run"], 5_000);
    let (hops, _) = page.reply(&json!({ "hops": { "run": opened["run"] } }));
    assert_eq!(hops["cut"], true);
    // Without those that enter at the very time at which it is cut.
    let rows = hops["link"]["length"].as_u64().expect("a length");
    assert!((490..=500).contains(&rows), "{rows}");
    assert!(hops["until_s"].as_f64().is_some_and(|until| until > 1.0 && until < 2.0), "{}", hops["until_s"]);
}
