//! Expected amount of work of a run.

use super::Plan;
use super::flow::{FlowPlan, Protocol};
use super::traffic::{Activity, Period, Source, UdpPlan};
use super::transport::Transport;
use selfclock_congestion::units::Time;

impl Plan {
    /// Expected number of packet-hops if every flow carries its offered load or its bottleneck's
    /// capacity, data and ACKs together. An estimate for scheduling many runs: ignores losses,
    /// windows and starts.
    pub fn expected_packet_hops(&self) -> f64 {
        let offered: Vec<f64> = self.flows.iter().map(|flow| self.offered_bytes(flow)).collect();
        let mut wanted = vec![0.0; self.links.len()];
        for (flow, &bytes) in self.flows.iter().zip(&offered) {
            for &link in &flow.forward {
                wanted[link] += bytes;
            }
        }
        let part = |&link: &usize| {
            let capacity = self.links[link].rate.bits_per_second() as f64 / 8.0 * self.duration.seconds();
            (capacity / wanted[link].max(1.0)).min(1.0)
        };
        let flows = self.flows.iter().zip(&offered);
        flows
            .map(|(flow, bytes)| {
                bytes * flow.forward.iter().map(part).fold(1.0, f64::min) * hops_per_byte(flow)
            })
            .sum()
    }

    /// Bytes on the wire that a flow would send on an otherwise empty network.
    fn offered_bytes(&self, flow: &FlowPlan) -> f64 {
        let end = Time::ZERO + self.duration;
        let seconds = flow.stop.min(end).since(flow.start).seconds();
        let rates = flow.forward.iter().map(|&link| self.links[link].rate.bits_per_second() as f64);
        let most = rates.fold(f64::INFINITY, f64::min) / 8.0 * seconds;
        let offered = match &flow.protocol {
            Protocol::Tcp(tcp) => source_bytes(&tcp.source, flow.start, flow.stop.min(end)),
            Protocol::Connections(each) => each.size.mean() * seconds / each.interval.seconds(),
            Protocol::Udp(udp) => udp_bytes(udp, flow.start, flow.stop.min(end)),
            Protocol::Stack(stack) => source_bytes(&stack.source, flow.start, flow.stop.min(end)),
        };
        offered.min(most)
    }
}

/// Bytes that an application offers between two times.
fn source_bytes(source: &Source, start: Time, stop: Time) -> f64 {
    match source {
        Source::Bulk => f64::INFINITY,
        Source::Size(size) => size.get() as f64,
        Source::Rate(rate) | Source::Writes { rate, .. } => {
            rate.bits_per_second() as f64 / 8.0 * stop.since(start).seconds()
        }
        Source::Steps(periods) => periods_bytes(periods, start, stop),
    }
}

/// Bytes that an application with steps offers between two times.
fn periods_bytes(periods: &[Period], start: Time, stop: Time) -> f64 {
    let ends = periods.iter().skip(1).map(|period| period.from).chain([stop]);
    let bytes = periods.iter().zip(ends).map(|(period, end)| {
        let seconds = end.min(stop).since(period.from.max(start)).seconds();
        match period.activity {
            Activity::Silence => 0.0,
            _ if seconds == 0.0 => 0.0,
            Activity::Bulk => f64::INFINITY,
            Activity::Rate { rate, .. } => rate.bits_per_second() as f64 / 8.0 * seconds,
        }
    });
    bytes.sum()
}

/// Bytes that a UDP source sends between two times.
fn udp_bytes(udp: &UdpPlan, start: Time, stop: Time) -> f64 {
    let ends = udp.rates.iter().skip(1).map(|&(time, _)| time).chain([stop]);
    let periods = udp.rates.iter().zip(ends);
    let bytes = periods.map(|(&(from, rate), to)| {
        rate.bits_per_second() as f64 / 8.0 * to.min(stop).since(from.max(start)).seconds()
    });
    bytes.sum()
}

/// Segments that an application writes at once.
fn segments_of_a_write(source: &Source, transport: &Transport) -> f64 {
    match source {
        Source::Rate(_) => 1.0,
        Source::Writes { size, .. } => (size.get() as f64 / transport.mss.get() as f64).ceil(),
        Source::Bulk | Source::Size(_) | Source::Steps(_) => f64::INFINITY,
    }
}

/// Hops per byte, of data and its ACKs.
fn hops_per_byte(flow: &FlowPlan) -> f64 {
    let there = flow.forward.len() as f64;
    let and_back = |transport: &Transport, write: f64| {
        let packet = (transport.mss + transport.header).get() as f64;
        let delayed = transport.delayed_ack;
        // The end of a write is acknowledged at once.
        let most = if delayed.quick { write } else { f64::INFINITY };
        (there + flow.reverse.len() as f64 / f64::from(delayed.every.max(1)).min(most)) / packet
    };
    match &flow.protocol {
        Protocol::Tcp(tcp) => and_back(&tcp.transport, segments_of_a_write(&tcp.source, &tcp.transport)),
        Protocol::Connections(each) => and_back(&each.tcp.transport, f64::INFINITY),
        // Both stacks acknowledge every second packet (RFC 9000, section 13.2.2).
        Protocol::Stack(stack) => (there + flow.reverse.len() as f64 / 2.0) / f64::from(stack.datagram),
        Protocol::Udp(udp) => {
            let weights: f64 = udp.packets.iter().map(|&(_, weight)| weight).sum();
            let bytes: f64 = udp.packets.iter().map(|&(size, weight)| size.get() as f64 * weight).sum();
            there * weights / bytes
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Simulation;
    use crate::scenario::Scenario;

    /// On full or underloaded paths, the expectation matches the carried bytes within a tenth:
    /// start-up and sawtooth leave capacity unused, and losses are retransmitted. While the receive
    /// window opens, each segment of a short transfer has an ACK instead of every second one: a
    /// sixth more packets.
    #[test]
    fn expected_is_what_is_simulated() {
        let network = "[network]\ntopology = \"dumbbell\"\nbottleneck = { rate = \"20 Mbps\", delay = \"5 ms\" }\naccess = { rate = \"1 Gbps\", delay = \"1 ms\" }\n";
        for flows in [
            "[[flow]]\ncongestion_control = \"cubic\"",
            "[[flow]]\ncongestion_control = \"cubic\"\n[[flow]]\ncongestion_control = \"reno\"\nstart = \"4 s\"",
            "[[flow]]\ncongestion_control = \"reno\"\ntraffic = { size = \"2 MB\" }",
            "[[flow]]\ncongestion_control = \"reno\"\ntraffic = { rate = \"3 Mbps\" }",
            "[[flow]]\nprotocol = \"udp\"\ntraffic = { rate = \"4 Mbps\", steps = [{ at = \"5 s\", rate = \"1 Mbps\" }], packet = \"imix\" }",
            "[[flow]]\nprotocol = \"udp\"\ntraffic = { rate = \"4 Mbps\", packet = \"500 B\" }\nstop = \"3 s\"",
        ] {
            let text = format!("schema = 1\nname = \"expected\"\nduration = \"10 s\"\n{network}{flows}\n");
            let plan = Scenario::parse(&text, "expected", &[]).expect("a scenario").plan;
            let outcome = Simulation::new(&plan).run().expect("built-in algorithms");
            let ratio = plan.expected_packet_hops() / outcome.summary.packet_hops as f64;
            assert!((0.83..1.1).contains(&ratio), "{flows}: {ratio}");
        }
    }
}
