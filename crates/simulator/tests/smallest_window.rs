//! The smallest windows under CE marks.

use selfclock_simulator::Simulation;
use selfclock_simulator::scenario::Scenario;

/// Forty flows share what holds a third of a segment of each, behind CoDel. A CE mark reduces the
/// window to one segment, and then the retransmission timer clocks the sender (RFC 3168, section
/// 6.1.2; RFC 9438, section 4.6), as a loss at such windows does: the queue is no longer with marks
/// than with drops. Windows that stopped at two segments kept nearly twice that. Half as much again
/// is allowed for the marked packets themselves, which stay in the queue where a dropped one
/// leaves.
#[test]
fn a_queue_with_marks_is_no_longer_than_with_drops() {
    for algorithm in ["reno", "cubic"] {
        let queue = |ecn: &str| {
            let text = format!(
                r#"
                schema = 1
                duration = "40 s"
                [network]
                topology = "dumbbell"
                access = {{ rate = "1 Gbps", delay = "0.5 ms" }}
                [network.bottleneck]
                rate = "4 Mbps"
                delay = "9 ms"
                queue = {{ discipline = "codel", limit = "1000 packets", ecn = true }}
                [transport]
                ecn = "{ecn}"
                [record]
                interval = "off"
                [[flow]]
                congestion_control = "{algorithm}"
                count = 40
                start_jitter = "1 s"
                "#
            );
            let scenario = Scenario::parse(&text, "smallest", &[]).expect("valid");
            let outcome = Simulation::new(&scenario.plan).run().expect("no failure");
            outcome.summary.links[0].queue_mean_packets
        };
        let (marks, drops) = (queue("classic"), queue("off"));
        println!("{algorithm}: {marks:.1} packets with marks, {drops:.1} with drops");
        assert!(marks < 1.5 * drops, "{algorithm}: {marks} and {drops}");
    }
}
