//! Transport settings over a profile.

use super::{DUMBBELL, flow_with, plan, plan_with, refused, refused_flow, tcp};
use crate::plan::{AckClock, MisbehaviourPlan, ReceiveWindow, Recovery, TimerArithmetic};
use crate::scenario::layer::KeyDefault;
use crate::scenario::schema::transport_defaults;
use selfclock_congestion::units::{Bytes, Duration};

#[test]
fn the_settings_of_a_flow_go_over_those_of_all() {
    let text = format!(
        "{DUMBBELL}transport = {{ mss = \"512 B\", timer = {{ minimum = \"1 s\" }} }}\n[[flow]]\n\
         [transport]\nmss = \"1000 B\"\nrecovery = \"newreno\"\ntimer = {{ backoff = 3, granularity = \"10 ms\" }}\n"
    );
    let plan = plan(&text);
    let (first, second) = (&tcp(&plan, 0).transport, &tcp(&plan, 1).transport);
    assert_eq!((first.mss, second.mss), (Bytes(512), Bytes(1000)));
    assert_eq!((first.recovery, second.recovery), (Recovery::NewReno, Recovery::NewReno));
    assert_eq!((first.timer.backoff, second.timer.backoff), (3.0, 3.0));
    assert_eq!(first.timer.minimum, Duration::from_milliseconds(1000));
    assert_eq!(second.timer.minimum, Duration::from_milliseconds(200));
}

#[test]
fn a_window_in_segments_follows_the_mss() {
    let window = |overrides: &[&str]| tcp(&plan_with(DUMBBELL, overrides), 0).transport.receive_window;
    assert_eq!(window(&["profile=classic", "transport.mss=512 B"]), ReceiveWindow::Fixed(Bytes(20 * 512)));
    assert_eq!(
        window(&["transport.receive_window=2.5 segments", "flow.0.transport.mss=100 B"]),
        ReceiveWindow::Fixed(Bytes(250))
    );
    assert_eq!(window(&["transport.receive_window=64 kB"]), ReceiveWindow::Fixed(Bytes(64_000)));
    assert_eq!(window(&["profile=classic", "transport.receive_window=unlimited"]), ReceiveWindow::UNLIMITED);
    assert_eq!(window(&[]), ReceiveWindow::Auto);
    assert_eq!(window(&["profile=classic", "transport.receive_window=auto"]), ReceiveWindow::Auto);
}

#[test]
fn every_transport_key() {
    let plan = flow_with(
        r#"[flow.transport]
mss = "512 B"
header = "20 B"
ack = "64 B"
recovery = "tahoe"
limited_transmit = false
initial_window = "2 segments"
initial_ssthresh = "20 segments"
receive_window = "20 segments"
window_scaling = false
handshake = false
timestamps = false
delayed_ack = { every = 3, timer = "200 ms", clock = "grid" }
timer = { initial = "3 s", minimum = "1 s", maximum = "64 s", granularity = "500 ms", backoff = 1.5, arithmetic = "bsd", samples = "one-at-a-time" }
grow_only_when_limited = false
pacing_gain = 1.2
pacing_credit = true
shaper = { rate = "1 Mbps", burst = "3000 B" }
peer_knows_option = false"#,
    );
    let transport = &tcp(&plan, 0).transport;
    assert_eq!((transport.header, transport.ack), (Bytes(20), Bytes(64)));
    assert_eq!((transport.initial_window, transport.initial_ssthresh), (2.0, 20.0));
    assert_eq!((transport.delayed_ack.every, transport.delayed_ack.clock), (3, AckClock::Grid));
    assert_eq!((transport.timer.backoff, transport.timer.arithmetic), (1.5, TimerArithmetic::Bsd));
    assert_eq!(transport.pacing_gain, Some(1.2));
    assert_eq!(transport.shaper.map(|shaper| shaper.burst), Some(Bytes(3000)));
    let switches = [
        transport.limited_transmit,
        transport.window_scaling,
        transport.handshake,
        transport.timestamps,
        transport.grow_only_when_limited,
        transport.peer_knows_option,
    ];
    assert_eq!(switches, [false; 6]);
    assert!(transport.pacing_credit);
}

#[test]
fn a_flow_can_switch_off_what_all_flows_have() {
    let text = format!(
        "{DUMBBELL}transport = {{ pacing_gain = \"off\", shaper = \"off\", delayed_ack = \"off\", initial_ssthresh = \"unlimited\" }}\n\
         [transport]\npacing_gain = 2\nshaper = {{ rate = \"1 Mbps\", burst = \"3 kB\" }}\ninitial_ssthresh = \"4 segments\"\n"
    );
    let plan = plan(&text);
    let transport = &tcp(&plan, 0).transport;
    assert_eq!((transport.pacing_gain, transport.shaper, transport.delayed_ack.every), (None, None, 1));
    assert_eq!(transport.initial_ssthresh, f64::INFINITY);
}

#[test]
fn settings_that_do_not_fit_each_other() {
    let message = "the receive window is smaller than a segment";
    let line = "transport = { mss = \"1000 B\", receive_window = \"999 B\" }";
    refused_flow(line, 48, "flow[0].transport.receive_window", message, "at least 1000 B");
    let line = "transport = { timer = { minimum = \"5 s\", maximum = \"1 s\" } }";
    refused_flow(line, 23, "flow[0].transport.timer", "maximum 1 s is below minimum 5 s", "");
    let line = "transport = { timer = { arithmetic = \"bsd\", granularity = \"0 s\" } }";
    let message = "arithmetic \"bsd\" counts ticks of the granularity, which is zero";
    refused_flow(line, 23, "flow[0].transport.timer", message, "rfc6298");
    let udp = format!("{DUMBBELL}protocol = \"udp\"\n");
    refused(&udp, (9, 1), "flow[0]", "UDP traffic needs a rate", "traffic =");
}

/// RFC 3390, section 1, and RFC 6928, section 2.
#[test]
fn initial_windows_by_name_follow_the_mss() {
    for (name, mss, segments) in [
        ("rfc3390", 536, 4.0),
        ("rfc3390", 1460, 3.0),
        ("rfc3390", 9000, 2.0),
        ("rfc6928", 1460, 10.0),
        ("rfc6928", 9000, 2.0),
    ] {
        let plan = flow_with(&format!("transport = {{ mss = \"{mss} B\", initial_window = \"{name}\" }}"));
        assert_eq!(tcp(&plan, 0).transport.initial_window, segments, "{name} {mss}");
    }
    refused_flow(
        "transport = { initial_window = \"rfc9999\" }",
        32,
        "flow[0].transport.initial_window",
        "unknown initial window \"rfc9999\"",
        "\"rfc3390\" or \"rfc6928\"",
    );
}

/// A key written with its default changes nothing, in either profile; so no description can name
/// another default than the plan has.
#[test]
fn a_default_is_what_a_key_that_is_not_written_has() {
    fn leaves(path: &str, defaults: &[KeyDefault], profile: usize, found: &mut Vec<(String, String)>) {
        for default in defaults {
            let path = format!("{path}.{}", default.key);
            leaves(&path, &default.below, profile, found);
            let value = default.profiles[profile].clone();
            if !value.is_empty() && default.below.is_empty() {
                found.push((path, value));
            }
        }
    }
    for (number, profile) in ["modern", "classic"].into_iter().enumerate() {
        let profile = format!("profile={profile}");
        let plain = tcp(&plan_with(DUMBBELL, &[&profile]), 0).transport.clone();
        let mut found = Vec::new();
        leaves("transport", &transport_defaults(), number, &mut found);
        assert!(found.len() > 35, "{found:?}");
        for (path, value) in found {
            let written = plan_with(DUMBBELL, &[&profile, &format!("{path}={}", value.trim_matches('"'))]);
            let mut transport = tcp(&written, 0).transport.clone();
            // An honest receiver is none that misbehaves.
            transport.misbehaviour = transport.misbehaviour.filter(|plan| *plan != MisbehaviourPlan::NONE);
            assert_eq!(transport, plain, "{path} = {value}");
        }
    }
}
