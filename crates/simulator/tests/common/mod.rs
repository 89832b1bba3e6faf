//! Plans built by hand, and running them.
#![allow(dead_code)]

use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use selfclock_simulator::plan::{
    FlowPlan, LinkPlan, Plan, Protocol, QueueLimit, RecordPlan, Source, TcpPlan, Transport,
};
use selfclock_simulator::{Outcome, Shared, Simulation};

/// A link with an unlimited queue.
pub fn link(name: &str, from: usize, to: usize, rate_bps: u64, delay: Duration) -> LinkPlan {
    LinkPlan::new(name, (from, to), Rate::from_bits_per_second(rate_bps), delay)
}

/// What distinguishes one dumbbell from another.
#[derive(Clone, Copy)]
pub struct Dumbbell {
    pub pairs: usize,
    pub access_bps: u64,
    pub access_delay: Duration,
    pub bottleneck_bps: u64,
    pub bottleneck_delay: Duration,
    pub reverse_bps: u64,
    pub reverse_delay: Duration,
    pub queue: QueueLimit,
    pub counts_packet_in_service: bool,
}

impl Dumbbell {
    /// Symmetric, with the queue limit of waiting packets.
    pub fn new(
        pairs: usize,
        access: (u64, Duration),
        bottleneck: (u64, Duration),
        queue: QueueLimit,
    ) -> Self {
        Self {
            pairs,
            access_bps: access.0,
            access_delay: access.1,
            bottleneck_bps: bottleneck.0,
            bottleneck_delay: bottleneck.1,
            reverse_bps: bottleneck.0,
            reverse_delay: bottleneck.1,
            queue,
            counts_packet_in_service: false,
        }
    }

    /// The plan without flows. Links: bottleneck, reverse bottleneck, then for each pair its source's and its sink's
    /// links, to and from.
    pub fn plan(&self, duration: Duration) -> Plan {
        let mut nodes = vec!["left".to_owned(), "right".to_owned()];
        let mut bottleneck = link("bottleneck", 0, 1, self.bottleneck_bps, self.bottleneck_delay);
        let mut reverse = link("reverse", 1, 0, self.reverse_bps, self.reverse_delay);
        for link in [&mut bottleneck, &mut reverse] {
            link.queue = self.queue;
            link.counts_packet_in_service = self.counts_packet_in_service;
        }
        let mut links = vec![bottleneck, reverse];
        for pair in 0..self.pairs {
            let (source, sink) = (nodes.len(), nodes.len() + 1);
            nodes.extend([format!("source{}", pair + 1), format!("sink{}", pair + 1)]);
            for (name, from, to) in
                [("up", source, 0), ("down", 0, source), ("out", 1, sink), ("back", sink, 1)]
            {
                links.push(link(&format!("{name}{pair}"), from, to, self.access_bps, self.access_delay));
            }
        }
        Plan {
            name: "test".to_owned(),
            seed: 1,
            duration,
            nodes: nodes.into(),
            links: links.into(),
            flows: Shared::default(),
            routers: Vec::new(),
            groups: Vec::new(),
            record: RecordPlan { interval: None, packets: false },
        }
    }
}

/// Adds a flow of the `pair`-th pair of a dumbbell.
pub fn add_flow(plan: &mut Plan, pair: usize, protocol: Protocol) {
    let first = 2 + 4 * pair;
    let name = format!("flow{}", plan.flows.len() + 1);
    plan.flows.push(FlowPlan {
        name,
        from: 2 + 2 * pair,
        to: 3 + 2 * pair,
        forward: vec![first, 0, first + 2],
        reverse: vec![first + 3, 1, first + 1],
        start: Time::ZERO,
        start_jitter: Duration::ZERO,
        stop: Time::NEVER,
        dscp: 0,
        protocol,
    });
}

/// A bulk TCP flow.
pub fn tcp(start: &str, window: &str, transport: Transport) -> Protocol {
    Protocol::Tcp(Shared::new(TcpPlan {
        control: Selection::new(start, window).expect("known names"),
        control_name: format!("{window}+{start}"),
        source: Source::Bulk,
        transport,
    }))
}

/// Runs to the end.
pub fn run(plan: &Plan) -> Outcome {
    Simulation::new(plan).run().expect("nothing stops the run")
}

/// So many milliseconds.
pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_milliseconds(milliseconds)
}

/// So many bytes.
pub const fn bytes(bytes: u64) -> Bytes {
    Bytes(bytes)
}
