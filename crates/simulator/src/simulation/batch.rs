//! Batches of ACKs.
//!
//! A window arrives at the bottleneck evenly, and so its ACKs return evenly: "the 'self-clocking'
//! property" (Jacobson 1988). Where a round trip has no stop but the sender, and each ACK releases
//! as much as it acknowledges, every packet crosses the network like the previous one, only later:
//! it waits as long at every link. So in a sequence of many ACKs, each is processed by the sender
//! and its congestion control, and the released segments become an ACK in flight; links and
//! receiver are updated once, for all of them. This changes no result: the batch ends before any
//! other event.

use super::Simulation;
use super::ends::{ReceivingEnd, SendingEnd};
use crate::network::batch::{Batch, MOST_SEGMENTS, Passage};
use crate::packet::Packet;
use crate::transport::sender::batch::Told;
use crate::transport::{Context, Receiver};
use selfclock_congestion::units::Duration;

/// Minimum number of ACKs in a batch; fewer do not pay.
const FEWEST: u64 = 3;
/// After `ATTEMPTS` consecutive failures, back off exponentially, up to `MOST_PATIENCE` ACKs
/// between attempts.
const ATTEMPTS: u32 = 4;
const MOST_PATIENCE: u32 = 64;

/// When to try the next batch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    /// ACKs to process before that.
    waits: u32,
    /// Consecutive failed attempts.
    failures: u32,
}

impl Patience {
    fn is_over(&mut self) -> bool {
        let over = self.waits == 0;
        self.waits = self.waits.saturating_sub(1);
        over
    }
    fn after(&mut self, taken: u64) {
        self.failures = if taken < FEWEST { self.failures + 1 } else { 0 };
        self.waits = match self.failures.checked_sub(ATTEMPTS) {
            None => 0,
            Some(more) => 1_u32.checked_shl(more).map_or(MOST_PATIENCE, |waits| waits.min(MOST_PATIENCE)),
        };
    }
}

impl Simulation {
    /// The next event is the head of this lane. If it begins a batch, processes all of it, up to
    /// `most` events. Returns the number of events; zero if there is no batch.
    #[inline]
    pub(super) fn run_batch(&mut self, lane: u32, most: u64) -> u64 {
        let Some(first) = self.network.first_of(lane) else { return 0 };
        let one_stop =
            self.network.flow_routes.get(first.flow as usize).is_some_and(|routes| routes.one_stop);
        if !one_stop || !self.patience.is_over() {
            return 0;
        }
        let taken = self.try_batch(lane, most).unwrap_or(0);
        self.patience.after(taken);
        taken
    }

    /// The batch that begins with the head of this lane, if it can be predicted completely.
    #[inline(always)]
    fn find_batch(&self, lane: u32, most: u64) -> Option<Found> {
        let Self { network, sources, sinks, groups, .. } = self;
        let gap = network.batch_gap(lane)?;
        let first = *network.first_of(lane)?;
        let flow = first.flow as usize;
        let (SendingEnd::Tcp(sender), ReceivingEnd::Tcp(receiver)) = (sources.get(flow)?, sinks.get(flow)?)
        else {
            return None;
        };
        let segments = sender.batch_segments(&first).filter(|&segments| segments <= MOST_SEGMENTS as u64)?;
        if groups.has(first.flow) {
            return None;
        }
        let (segment_size, payload) = sender.full_segment();
        let (acknowledgement, left) = receiver.batch_acknowledgement(segments, sender.sent(), payload)?;
        let batch = Batch {
            routes: network.flow_routes[flow],
            start: first.arrival,
            gap,
            segments,
            left,
            segment_size,
            acknowledgement_size: acknowledgement.size.into(),
        };
        let passage = network.passage(&batch)?;
        let times = passage.received(&batch);
        if !receiver.sets_timer_quietly(times, left, gap) {
            return None;
        }
        let most = most.min(receiver.steady_groups(times, gap));
        // One stays behind, so that the lane is never empty.
        let most = most.min(passage.groups).min(network.batch_length(lane) - 1);
        (most >= FEWEST).then_some(Found { first, batch, passage, acknowledgement, payload, most })
    }

    #[inline(never)]
    fn try_batch(&mut self, lane: u32, most: u64) -> Option<u64> {
        let Found { first, batch, passage, mut acknowledgement, payload, most } =
            self.find_batch(lane, most)?;
        let Self { now, end, events, network, sources, sinks, .. } = self;
        let flow = first.flow as usize;
        let (SendingEnd::Tcp(sender), ReceivingEnd::Tcp(receiver)) =
            (sources.get_mut(flow)?, sinks.get_mut(flow)?)
        else {
            return None;
        };
        let (mut groups, mut taken, mut is_left) = (0, 0, false);
        let mut lag = Duration::ZERO;
        // The first acknowledged segment determines the echo: of this group, or of the previous one
        // if some were left.
        let mut echo_of_left = receiver.recent_timestamp();
        while taken < most {
            let time = batch.start + lag;
            let Some(packet) = network.first_of(lane) else { break };
            let is_next = packet.arrival == time
                && packet.flow == first.flow
                && packet.hop == first.hop
                && sender.goes_on_with_batch(packet);
            if !is_next || time >= events.second_time() || time > *end {
                break;
            }
            let told = Told {
                number: packet.sequence,
                echo: packet.echo,
                sent: packet.sent,
                window: packet.window(),
            };
            network.drop_of_batch(lane);
            taken += 1;
            *now = time;
            let mut context = Context { now: time, events, network };
            if !sender.on_batch_ack(&mut context, &told, batch.segments) {
                is_left = true;
                break;
            }
            acknowledgement.sequence = sender.sent() - batch.left * payload;
            acknowledgement.echo = if batch.left == 0 { time } else { echo_of_left };
            echo_of_left = time;
            network.land_acknowledgement(events, &batch, &passage, (groups, lag), &mut acknowledgement);
            groups += 1;
            lag += batch.gap;
        }
        if groups > 0 {
            network.take_batch(&batch, groups);
            tell_receiver(receiver, &batch, &passage, payload, groups);
        }
        if taken > 0 {
            network.advance_lane(events, lane);
        }
        if is_left {
            sender.leave_batch(&mut Context { now: *now, events, network });
        }
        Some(taken)
    }
}

/// A batch that can be taken.
struct Found {
    /// The ACK that begins it.
    first: Packet,
    batch: Batch,
    passage: Passage,
    /// The ACK of a group, to be completed for each.
    acknowledgement: Packet,
    /// Payload of a segment, bytes.
    payload: u64,
    /// Maximum number of ACKs to take.
    most: u64,
}

/// Updates the receiver after `groups` groups of a batch.
fn tell_receiver(receiver: &mut Receiver, batch: &Batch, passage: &Passage, payload: u64, groups: u64) {
    let before_last = batch.gap.times(groups - 1);
    let segments = groups * batch.segments;
    let end = receiver.delivered_bytes() + segments * payload;
    let timer_from = passage.first_left(batch).map(|first| first + before_last);
    let numbers = (end, end - batch.left * payload);
    let last = passage.last_received(batch) + before_last;
    let times = (batch.start + before_last, last);
    receiver.on_batch((segments, batch.segment_size), numbers, times, timer_from);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use crate::engine::Target;
    use crate::scenario::Scenario;
    use proptest::prelude::*;

    /// The outcome of a run with batches, and the number of events in them.
    fn with_batches(scenario: &Scenario) -> (Outcome, u64) {
        let mut simulation = Simulation::new(&scenario.plan);
        let mut in_batches = 0;
        while let Some(event) = simulation.events.peek()
            && event.time <= simulation.end
        {
            let taken = match event.target {
                Target::Packets(lane) => simulation.run_batch(lane, u64::MAX),
                _ => 0,
            };
            in_batches += taken;
            if taken > 0 {
                simulation.events_run += taken;
                simulation.run_receivers_ahead();
            } else {
                simulation.has_batches = false;
                simulation.run_events(simulation.events_run + 1);
                simulation.has_batches = true;
            }
        }
        assert!(simulation.run_events(u64::MAX).is_finished(), "nothing is left");
        (simulation.finish(), in_batches)
    }

    /// The outcome event by event, without batches; optionally also without the shortcut for plain
    /// ACKs.
    fn event_by_event(scenario: &Scenario, plain_acks: bool) -> Outcome {
        let mut simulation = Simulation::new(&scenario.plan);
        simulation.has_batches = false;
        for (_, source) in simulation.sources.iter_mut() {
            if let SendingEnd::Tcp(sender) = source
                && !plain_acks
            {
                sender.take_no_shortcut();
            }
        }
        simulation.run().expect("a built-in algorithm")
    }

    /// Asserts that batches and the shortcut for plain ACKs affect only speed. Returns the fraction
    /// of events in batches.
    fn part_in_batches(text: &str) -> f64 {
        let scenario =
            Scenario::parse(text, "scenario", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let expected = event_by_event(&scenario, true);
        let general = event_by_event(&scenario, false);
        assert!(
            format!("{expected:?}") == format!("{general:?}"),
            "another outcome with plain ACKs:\n{text}"
        );
        let (outcome, in_batches) = with_batches(&scenario);
        let deliveries = |outcome: &Outcome| -> Vec<Option<f64>> {
            outcome.summary.flows.iter().map(|flow| flow.delivery_s).collect()
        };
        assert_eq!(deliveries(&outcome), deliveries(&expected), "another delivery with batches:\n{text}");
        assert!(format!("{outcome:?}") == format!("{expected:?}"), "another outcome with batches:\n{text}");
        in_batches as f64 / expected.summary.events as f64
    }

    fn scenario(network: &str, transport: &str, flows: &str) -> String {
        format!(
            "schema = 1\nduration = \"3 s\"\n[network]\ntopology = \"dumbbell\"\n{network}\n[transport]\n{transport}\n{flows}\n"
        )
    }

    const FAST: &str = r#"
        bottleneck = { rate = "500 Mbps", delay = "8 ms", queue = "1 bdp" }
        access = { rate = "2 Gbps", delay = "1 ms" }"#;

    #[test]
    fn a_full_pipe_is_one_batch_after_another() {
        for recovery in ["sack", "rack", "newreno"] {
            for delayed_ack in ["\"off\"", "{ every = 2 }", "{ every = 3 }"] {
                let transport = format!(
                    "recovery = \"{recovery}\"\ndelayed_ack = {delayed_ack}\nreceive_window = \"900 segments\""
                );
                let flow = "[[flow]]\ncongestion_control = \"reno\"";
                let part = part_in_batches(&scenario(FAST, &transport, flow));
                // Slow start takes a fifth of a second of the three.
                assert!(part > 0.8, "{recovery}, {delayed_ack}: {part}");
            }
        }
    }

    #[test]
    fn a_window_that_grows_interrupts_batches() {
        for control in ["reno", "cubic", "highspeed", "scalable", "vegas"] {
            let flow = format!("[[flow]]\ncongestion_control = \"{control}\"");
            let part = part_in_batches(&scenario(FAST, "initial_ssthresh = \"600 segments\"", &flow));
            assert!(part > 0.1, "{control}: {part}");
        }
    }

    #[test]
    fn where_flows_meet_there_is_none() {
        let flows = "[[flow]]\ncount = 2\ncongestion_control = \"reno\"";
        assert_eq!(part_in_batches(&scenario(FAST, "receive_window = \"400 segments\"", flows)), 0.0);
    }

    prop_compose! {
        fn networks()(
            bottleneck in 1_u64..400, access in 1_u64..20, back in prop_oneof![Just(1_u64), 20_u64..200],
            delay in 0_u64..40, access_delay in 0_u64..5,
            queue in prop_oneof![Just("1 bdp".to_owned()), (1_u64..300).prop_map(|packets| format!("{packets} packets")),
                                 (3_u64..200).prop_map(|kilobytes| format!("{kilobytes} kB"))],
        ) -> String {
            let (access, back) = (bottleneck * access, 1000 * bottleneck / back);
            format!(
                "bottleneck = {{ rate = \"{bottleneck} Mbps\", delay = \"{delay} ms\", queue = \"{queue}\" }}\n\
                 access = {{ rate = \"{access} Mbps\", delay = \"{access_delay} ms\" }}\n\
                 reverse = {{ rate = \"{back} kbps\", delay = \"{delay} ms\", queue = \"1000 packets\" }}"
            )
        }
    }

    prop_compose! {
        fn transports()(
            recovery in prop::sample::select(vec!["tahoe", "reno", "newreno", "sack", "rack"]),
            timestamps: bool, handshake: bool, only_when_limited: bool,
            every in 1_u32..6, timer in 1_u64..200, grid: bool, quick: bool,
            mss in prop_oneof![Just(1448_u64), 200_u64..1400],
            window in prop::option::weighted(0.6, 2_u64..600), more in 0_u64..200,
        ) -> String {
            let clock = if grid { "grid" } else { "segment" };
            let window = window.map_or("auto".into(), |window| format!("{} B", window * mss + more));
            format!(
                "recovery = \"{recovery}\"\ntimestamps = {timestamps}\nhandshake = {handshake}\n\
                 grow_only_when_limited = {only_when_limited}\nmss = \"{mss} B\"\n\
                 delayed_ack = {{ every = {every}, timer = \"{timer} ms\", clock = \"{clock}\", quick = {quick} }}\n\
                 receive_window = \"{window}\""
            )
        }
    }

    prop_compose! {
        fn flows()(
            control in prop::sample::select(vec!["reno", "cubic", "scalable", "highspeed", "vegas", "bic", "altcp"]),
            traffic in prop_oneof![
                2 => Just(String::new()),
                2 => (1_u64..9000).prop_map(|size| format!("\ntraffic = {{ size = \"{size} kB\" }}")),
                // Application-limited, with pauses between the writes.
                1 => (100_u64..400_000, 1_u64..3000).prop_map(|(rate, write)| {
                    format!("\ntraffic = {{ rate = \"{rate} kbps\", write = \"{write} kB\" }}")
                }),
            ],
            start in 0_u64..500, stop in 600_u64..4000,
        ) -> String {
            format!("[[flow]]\ncongestion_control = \"{control}\"\nstart = \"{start} ms\"\nstop = \"{stop} ms\"{traffic}")
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn batches_change_nothing(network in networks(), transport in transports(), flow in flows()) {
            part_in_batches(&scenario(&network, &transport, &flow));
        }
    }
}
