//! Mechanisms in routers.

use super::{DUMBBELL, plan, refused};
use crate::plan::MechanismPlan;
use selfclock_congestion::units::Duration;

/// Without a list of links the router's part of Quick-Start precedes exactly the links that leave a
/// router.
#[test]
fn mechanisms_of_the_ways_to_begin_are_read() {
    let plan = plan(&format!("{DUMBBELL}[[router]]\nmechanism = \"quick-start\"\n"));
    let names: Vec<&str> = plan.routers[0].links.iter().map(|&link| plan.links[link].name.as_str()).collect();
    assert_eq!(names, ["bottleneck", "reverse", "left-source1", "right-sink1"]);
    let MechanismPlan::QuickStart(quick_start) = &plan.routers[0].mechanism else { panic!("quick-start") };
    assert_eq!((quick_start.share, quick_start.interval), (0.9, Duration::from_milliseconds(150)));
    let limit =
        "[[router]]\nmechanism = \"forwarding-limit\"\nlinks = [\"reverse\"]\npackets_per_second = 5000\n";
    let plan = super::plan(&format!("{DUMBBELL}{limit}"));
    let MechanismPlan::ForwardingLimit(limit) = &plan.routers[0].mechanism else {
        panic!("forwarding-limit")
    };
    assert_eq!((limit.packets_per_second, limit.limit.0), (5000.0, u64::MAX));
    refused(
        &format!(
            "{DUMBBELL}[[router]]\nmechanism = \"ack-thinning\"\nlinks = [\"reverse\"]\ninterval = \"0 s\"\n"
        ),
        (14, 12),
        "router[0].interval",
        "must be above zero",
        "",
    );
}
