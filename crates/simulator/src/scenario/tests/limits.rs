//! Scenarios that exceed any memory, and the resolution of series.

use super::{DUMBBELL, PARKING_LOT, edited, parse, plan_with, refused_flow};
use selfclock_congestion::units::{Duration, Time};

#[test]
fn series_are_coarser_in_a_large_network() {
    // 1000 flows and 4002 links: 399 samples of 5002 rows stay below two million.
    let plan = plan_with(DUMBBELL, &["flow.0.count=1000", "duration=399 s"]);
    assert_eq!(plan.record.interval, Some(Duration::from_milliseconds(1000)));
    let record = |value: &str| plan_with(DUMBBELL, &[&format!("record.interval={value}")]).record.interval;
    assert_eq!(record("off"), None);
    assert_eq!(record("20 ms"), Some(Duration::from_milliseconds(20)));
    assert!(plan_with(DUMBBELL, &["record.packets=true"]).record.packets);
}

#[test]
fn packets_are_recorded_for_a_span() {
    let span = "record={ packets = true, packets_from = \"1 s\", packets_until = \"1.5 s\" }";
    let record = plan_with(DUMBBELL, &[span]).record;
    let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
    assert_eq!((record.packets_from, record.packets_until), (at(1000), at(1500)));
    let whole = plan_with(DUMBBELL, &["record.packets=true"]).record;
    assert_eq!((whole.packets_from, whole.packets_until), (Time::ZERO, Time::NEVER));
    let refused = |keys: &str| {
        let error = parse(&format!("{DUMBBELL}[record]\npackets = true\n{keys}\n")).unwrap_err();
        (error.line(), error.key.clone())
    };
    assert_eq!(refused("packets_from = \"1000 h\""), (Some(13), "record.packets_from".to_owned()));
    let empty = "packets_from = \"1 s\"\npackets_until = \"1 s\"";
    assert_eq!(refused(empty), (Some(14), "record.packets_until".to_owned()));
}

#[test]
fn what_no_memory_can_hold_is_refused_at_once() {
    let message = "needs about 6899 GiB of memory, 3814 GiB of it for 4000000002 links";
    refused_flow("count = 1000000000", 9, "flow[0].count", message, "at most 16 GiB");
    let text = edited("bottleneck =", "hosts = 9223372036854775807\nbottleneck =");
    let error = parse(&text).unwrap_err();
    assert_eq!(error.key, "network.hosts", "{error}");
    let error = parse(&PARKING_LOT.replace("hops = 3", "hops = 9223372036854775807")).unwrap_err();
    assert_eq!(error.key, "network.hops", "{error}");
    let flows = "[[flow]]\ncount = 9223372036854775807\n".repeat(4);
    let error = parse(&format!("{}{flows}", PARKING_LOT.replace("hops = 3", "hops = 9223372036854775807")))
        .unwrap_err();
    assert_eq!(error.key, "flow[4].count", "{error}");
    let error = parse(&format!("{DUMBBELL}[record]\ninterval = \"1 ps\"\n")).unwrap_err();
    assert_eq!((error.line(), error.key.as_str()), (Some(12), "record.interval"), "{error}");
    assert!(error.message.contains("rows of series"), "{error}");
}
