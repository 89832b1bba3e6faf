//! Room for SACK blocks on an ACK, and their cost on the wire.

mod common;

use common::run;
use selfclock_simulator::record::packets::PacketEvent;
use selfclock_simulator::record::packets::PacketKind;
use selfclock_simulator::scenario::Scenario;

/// "A SACK option that specifies n blocks will have a length of 8*n+2 bytes, so the 40 bytes
/// available for TCP options can specify a maximum of 4 blocks. It is expected that SACK will often
/// be used in conjunction with the Timestamp option [...] thus a maximum of 3 SACK blocks will be
/// allowed in this case" (RFC 2018, section 3). With two bytes of padding.
#[test]
fn three_blocks_beside_timestamps_and_four_without() {
    for (timestamps, most, header) in [(true, 3, 40 + 12), (false, 4, 40)] {
        let text = format!(
            "schema = 1\nduration = \"20 s\"\n[record]\ninterval = \"off\"\npackets = true\n\
             [network]\ntopology = \"dumbbell\"\n\
             bottleneck = {{ rate = \"10 Mbps\", delay = \"20 ms\", queue = \"unlimited\", loss = {{ probability = 0.1 }} }}\n\
             access = {{ rate = \"100 Mbps\", delay = \"1 ms\" }}\n\
             [transport]\ntimestamps = {timestamps}\ninitial_window = \"100 segments\"\nreceive_window = \"unlimited\"\nhandshake = false\nrecovery = \"sack\"\n[[flow]]\n"
        );
        let scenario = Scenario::parse(&text, "sack", &[]).unwrap_or_else(|error| panic!("{error}"));
        let outcome = run(&scenario.plan);
        let acknowledgements = outcome
            .packets
            .iter()
            .filter(|record| record.event == PacketEvent::Send && record.kind == PacketKind::Ack);
        let sizes: std::collections::BTreeSet<u32> = acknowledgements.map(|record| record.size).collect();
        let expected = (0..=most).map(|blocks| header + if blocks == 0 { 0 } else { 4 + 8 * blocks });
        assert_eq!(sizes, expected.collect(), "timestamps {timestamps}");
    }
}
