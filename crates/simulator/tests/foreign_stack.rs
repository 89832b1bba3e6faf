//! A flow of a foreign stack: a toy that sends datagrams in a window and has each acknowledged.

use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::Simulation;
use selfclock_simulator::environment::Environment;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::stack::{self, Codepoint, Endpoint, Pair, Setup, Stack, StackControl, State};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Datagrams in flight.
const WINDOW: u64 = 4;
/// Log of a connection.
const SECRETS: &str = "CLIENT_RANDOM 00 01\n";
/// Time after which an unacknowledged datagram is retransmitted.
const PATIENCE: Duration = Duration::from_milliseconds(500);

#[derive(Debug)]
struct Toy;

impl Stack for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }
    fn about(&self) -> &'static str {
        "Four datagrams at a time."
    }
    fn controllers(&self) -> &'static [&'static str] {
        &["four", "none"]
    }
    fn check(&self, control: &Selection) -> Result<(), String> {
        Err(format!("toy cannot carry {}", control.label()))
    }
    fn connect(&self, setup: &Setup<'_>) -> Result<Pair, String> {
        if matches!(setup.control, StackControl::Own("none")) {
            return Err("there is no connection".to_owned());
        }
        let read = Arc::new(AtomicU64::new(0));
        let size = u64::from(setup.datagram);
        let sender = Sender { size, read: Arc::clone(&read), ..Sender::default() };
        Ok((Box::new(sender), Box::new(Receiver { read, owed: 0, secrets: Some(SECRETS) })))
    }
}

#[derive(Debug, Default)]
struct Sender {
    size: u64,
    written: u64,
    sent: u64,
    acknowledged: u64,
    finished: bool,
    last_sent: Time,
    lost: u64,
    sample: Option<Duration>,
    read: Arc<AtomicU64>,
}

impl Endpoint for Sender {
    fn on_datagram(&mut self, now: Time, datagram: &[u8], ecn: Codepoint) {
        assert_eq!(ecn, Codepoint::NotEct);
        let bytes = datagram.try_into().map(u64::from_le_bytes).expect("eight bytes");
        self.acknowledged += bytes;
        self.sample = Some(now.since(self.last_sent));
    }
    fn on_timer(&mut self, now: Time) {
        self.lost += 1;
        self.sent = self.acknowledged;
        self.last_sent = now;
    }
    fn poll_datagram(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Codepoint> {
        let size = self.size.min(self.written - self.sent);
        if size == 0 || self.sent - self.acknowledged >= WINDOW * self.size {
            return None;
        }
        buffer.resize(size as usize, self.sent as u8);
        self.sent += size;
        self.last_sent = now;
        Some(Codepoint::Ect0)
    }
    fn next_timeout(&mut self) -> Option<Time> {
        (self.sent > self.acknowledged).then(|| self.last_sent + PATIENCE)
    }
    fn write(&mut self, bytes: u64) -> u64 {
        let taken = bytes.min(self.acknowledged + 2 * WINDOW * self.size - self.written);
        self.written += taken;
        taken
    }
    fn finish(&mut self) {
        self.finished = true;
    }
    fn state(&self) -> State {
        State {
            window: WINDOW * self.size,
            in_flight: self.sent - self.acknowledged,
            sent: self.sent,
            lost_packets: self.lost,
            minimum_rtt: self.sample,
            read: self.read.load(Relaxed),
            complete: self.finished && self.acknowledged == self.written,
            ..State::default()
        }
    }
    fn take_round_trip(&mut self) -> Option<Duration> {
        self.sample.take()
    }
    fn take_secrets(&mut self) -> Option<String> {
        None
    }
    fn failure(&self) -> Option<String> {
        (self.lost > 2).then(|| "nobody answers".to_owned())
    }
}

#[derive(Debug)]
struct Receiver {
    read: Arc<AtomicU64>,
    owed: u64,
    secrets: Option<&'static str>,
}

impl Endpoint for Receiver {
    fn on_datagram(&mut self, _now: Time, datagram: &[u8], _ecn: Codepoint) {
        self.owed = datagram.len() as u64;
        self.read.fetch_add(self.owed, Relaxed);
    }
    fn on_timer(&mut self, _now: Time) {}
    fn poll_datagram(&mut self, _now: Time, buffer: &mut Vec<u8>) -> Option<Codepoint> {
        let owed = std::mem::take(&mut self.owed);
        buffer.extend_from_slice(&owed.to_le_bytes());
        (owed > 0).then_some(Codepoint::NotEct)
    }
    fn next_timeout(&mut self) -> Option<Time> {
        None
    }
    fn write(&mut self, _bytes: u64) -> u64 {
        0
    }
    fn finish(&mut self) {}
    fn state(&self) -> State {
        State { read: self.read.load(Relaxed), ..State::default() }
    }
    fn take_round_trip(&mut self) -> Option<Duration> {
        None
    }
    /// Secrets are known from the beginning of a connection.
    fn take_secrets(&mut self) -> Option<String> {
        self.secrets.take().map(str::to_owned)
    }
    fn failure(&self) -> Option<String> {
        None
    }
}

fn plan(flow: &str) -> Plan {
    stack::register(&Toy);
    let text = format!(
        "schema = 1\nname = \"toy\"\nduration = \"10 s\"\n[network]\ntopology = \"dumbbell\"\n\
         bottleneck = {{ rate = \"100 Mbps\", delay = \"18 ms\" }}\naccess = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}\n\
         [[flow]]\nstack = \"toy\"\n{flow}\n"
    );
    Scenario::parse(&text, "toy", &[]).unwrap_or_else(|error| panic!("{error}")).plan
}

/// Four datagrams of 1472 bytes per round trip of 40 ms plus the transmission times of a datagram
/// (1500 bytes: 0.120 ms and two times 0.012) and its reply (36 bytes: 3 µs).
#[test]
fn a_window_in_each_round_trip() {
    let outcome = Simulation::new(&plan("")).run().expect("a run");
    let flow = &outcome.summary.flows[0];
    let expected = 4.0 * 1472.0 * 8.0 / 0.040147;
    // One window of 249: the last is in flight when the run ends.
    assert!((flow.goodput_bps / expected - 1.0).abs() < 5e-3, "{} {expected}", flow.goodput_bps);
    assert_eq!(flow.algorithm, "toy:four");
    assert!(flow.sent_segments - flow.delivered_segments <= WINDOW);
    assert_eq!(flow.retransmitted_segments, 0);
    let series = outcome.flow_series.columns();
    assert!(series.cwnd_bytes.iter().all(|&bytes| bytes == 4.0 * 1472.0));
}

#[test]
fn a_size_is_complete_when_it_is_acknowledged() {
    let outcome = Simulation::new(&plan("traffic = { size = \"14720 B\" }")).run().expect("a run");
    let flow = &outcome.summary.flows[0];
    assert_eq!((flow.delivered_bytes, flow.sent_segments), (14_720, 10));
    // Ten datagrams are three windows.
    assert!(flow.completion_s.is_some_and(|seconds| (0.120..0.122).contains(&seconds)), "{flow:?}");
}

#[test]
fn packets_go_there_as_datagrams_and_back_as_replies() {
    let plan = plan("traffic = { size = \"14720 B\" }\n[record]\npackets = true");
    let outcome = Simulation::new(&plan).run().expect("a run");
    let kinds = |kind: &str| {
        outcome
            .packets
            .iter()
            .filter(|packet| packet.kind.name() == kind && packet.event.name() == "deliver")
            .count()
    };
    assert_eq!((kinds("datagram"), kinds("reply")), (10, 10));
    // The ECN codepoint is removed if the transport has no ECN.
    assert!(outcome.packets.iter().all(|packet| packet.ecn == Codepoint::NotEct));
}

/// Without replies the toy gives up at its third timeout; the flow beside it has the bottleneck to
/// itself.
#[test]
fn a_connection_that_fails_is_dead_and_the_run_goes_on() {
    let text = "[[flow]]\nname = \"tcp\"\ncongestion_control = \"reno\"\n[[router]]\nmechanism = \"loss\"\n\
                links = [\"bottleneck\"]\nkinds = [\"datagram\"]\nprobability = 1";
    let outcome = Simulation::new(&plan(text)).run().expect("a run");
    let [dead, tcp] = &outcome.summary.flows[..] else { panic!("two flows") };
    let failure = dead.failure.as_ref().expect("a failure");
    assert_eq!((failure.time_s, failure.reason.as_str()), (1.5, "nobody answers"));
    assert_eq!((dead.delivered_bytes, dead.completion_s), (0, None));
    assert!(tcp.failure.is_none() && tcp.goodput_bps > 50e6, "{tcp:?}");
    assert_eq!(outcome.summary.simulated_s, 10.0);
}

#[test]
fn a_stack_that_has_no_connection_stops_the_run() {
    let plan = plan("congestion_control = \"toy:none\"");
    let stopped = Simulation::new(&plan).run().expect_err("no connection").to_string();
    assert_eq!(stopped, "toy, seed 1, flow1: no connection of toy: there is no connection");
}

/// The sender fills each datagram with the count of bytes before it. The receiver knows the secrets
/// with the first.
#[test]
fn payload_and_secrets_are_kept_where_the_plan_asks_for_them() {
    let text = "traffic = { size = \"14720 B\" }\n[record]\npackets = true\n";
    let without = Simulation::new(&plan(text)).run().expect("a run").packets;
    assert!(without.payloads().is_empty() && without.payloads().secrets().is_empty());

    let plan = plan(&format!("{text}payload = true\n"));
    let with = Simulation::new(&plan).run().expect("a run").packets;
    assert_eq!(format!("{with:?}"), format!("{without:?}"), "the records are the same");
    let payloads = with.payloads();
    assert_eq!(payloads.len(), 20, "ten datagrams and their replies");
    for sent in with.iter().filter(|packet| packet.event.name() == "send") {
        let bytes = payloads.of(sent.packet).expect("payload");
        assert_eq!(bytes.len(), sent.payload as usize);
        if sent.kind.name() == "datagram" {
            assert!(bytes.iter().all(|&byte| byte == sent.sequence as u8));
        }
    }
    let first = with.iter().find(|packet| packet.event.name() == "deliver").expect("a delivery");
    let [secrets] = payloads.secrets() else { panic!("one connection") };
    assert_eq!((secrets.time, secrets.flow, secrets.key_log.as_str()), (first.time, 0, SECRETS));
}

#[test]
fn what_a_stack_refuses_is_said_and_what_cannot_be_copied_is_not() {
    let plan = plan("");
    assert!(plan.has_foreign_stacks() && plan.same_until(&plan).is_err());
    assert!(Environment::new(&plan, "flow1").is_err_and(|error| error.to_string().contains("foreign stack")));
    let copy = Simulation::new(&plan).fork().run().expect_err("a copy has no stack");
    assert!(copy.to_string().contains("cannot be copied"));
    assert_eq!(stack::named("toy").map(|toy| toy.about()), Some("Four datagrams at a time."));
    assert_eq!(stack::all().len(), 1);
    let ours = "schema = 1\nduration = \"1 s\"\n[network]\ntopology = \"dumbbell\"\n\
                bottleneck = { rate = \"1 Mbps\", delay = \"1 ms\" }\naccess = { rate = \"1 Mbps\", delay = \"1 ms\" }\n\
                [[flow]]\nstack = \"toy\"\ncongestion_control = \"cubic\"\n";
    let error = Scenario::parse(ours, "toy", &[]).expect_err("refused");
    assert!(
        error.to_string().contains("toy cannot carry cubic") && error.to_string().contains("toy:four"),
        "{error}"
    );
}
