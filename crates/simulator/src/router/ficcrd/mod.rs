//! Fair Intelligent Congestion Control Resource Discovery: Yu, Li, Hoang, Feng.
//!
//! The first router of the domain on a flow's path, its *ingress*, estimates the flow's rate and
//! sends a resource discovery packet after every N data packets. Each router on the way notes the
//! rate it carries; the last one, the *egress*, turns it round; on the way back each router lowers
//! its explicit rate to what the flow's output queue allows. The ingress then limits the source to
//! that rate, by the window in its ACKs or by their timing.
//!
//! Resource discovery packets are real packets: they wait in queues, their bytes count, and they
//! can be lost.

mod alone;
mod core;
mod flow;
mod settings;

pub use alone::{Data, FlowState, LoneRouter};
pub use settings::{
    ControlUnit, DiscoveryBytes, DiscoveryInterval, EdgeRtt, Feedback, FirstDiscovery, MaprRule, Parameters,
};

use self::core::{CoreQueue, Occupancy};
use self::flow::EdgeFlow;
use super::mechanism::{Fate, FlowLayout, Layout, Mechanism, Placement, RouterSite, Station};
use crate::engine::Timer;
use crate::packet::{Extra, Flags, NO_EXTRA, Packet, PacketKind, ResourceDiscovery};
use selfclock_congestion::units::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Silence, as a multiple of the rate's time constant.
const SILENT: u64 = 4;
/// Time without data after which a flow's table entry may be replaced, and its timed packets stop.
const IDLE: Duration = Duration::from_milliseconds(10_000);
/// Time since its last data within which a flow is active: the active flows of a class share its
/// rate.
const ACTIVE: Duration = Duration::from_milliseconds(1000);

/// The routers of one domain.
#[derive(Clone, Debug)]
pub(crate) struct Ficcrd {
    settings: Parameters,
    /// State of each link as an output queue.
    queues: Vec<CoreQueue>,
    /// Node that each link leaves.
    node_before: Vec<usize>,
    /// Path of each flow through the domain; `None` if not controlled.
    paths: Vec<Option<FlowPath>>,
    /// By number of flow or connection, or of class.
    loops: BTreeMap<u32, ControlLoop>,
    flows: BTreeMap<u32, EdgeFlow>,
    /// Table entries of each node.
    entries: Vec<u32>,
    wakes: BTreeSet<(Time, Wake)>,
    timer: Timer,
}

/// Work due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wake {
    /// A resource discovery packet of this loop.
    Discover(u32),
    /// Release of a held ACK of this flow.
    Release(u32),
}

/// A flow's path through the domain.
#[derive(Clone, Copy, Debug)]
struct FlowPath {
    ingress: usize,
    egress: usize,
    /// Position, in the route of ACKs, of the link that leaves the egress.
    turn_position: u32,
    control_loop: u32,
    /// Advertised window, and the shift of its field.
    window: u64,
    shift: u8,
    /// The source's access link, whose rate is the initial "ER".
    access_link: usize,
    /// Whether routers cannot read its transport header.
    encrypted: bool,
}

/// Ingress and egress, for one flow or one class.
#[derive(Clone, Copy, Debug)]
struct ControlLoop {
    /// "APR", bit/s.
    rate: f64,
    last_arrival: Time,
    /// Bytes that arrived at the same time as the previous packet.
    at_once: u32,
    /// Data packets, or bytes of them, since the last resource discovery packet.
    since_discovery: u32,
    next_timed: Time,
    /// The flow whose data came last, and the position of its outgoing link: resource discovery
    /// packets take that path.
    flow: u32,
    hop: u32,
    /// Rate allowed per flow by the last returned packet, bit/s.
    allowed: Option<f64>,
}

impl ControlLoop {
    const NEW: Self = Self {
        rate: 0.0,
        last_arrival: Time::NEVER,
        at_once: 0,
        since_discovery: 0,
        next_timed: Time::NEVER,
        flow: 0,
        hop: 0,
        allowed: None,
    };

    /// A data packet of this size on the wire arrives. Whether a resource discovery packet is due.
    fn on_data(&mut self, now: Time, size: u16, settings: &Parameters) -> bool {
        let (count, most) = match settings.bytes_per_discovery.0 {
            Some(most) => (u32::from(size), most.get()),
            None => (1, settings.packets_per_discovery.into()),
        };
        self.since_discovery = self.since_discovery.saturating_add(count);
        let first = match settings.first_discovery {
            FirstDiscovery::Counted => false,
            FirstDiscovery::FirstData => self.last_arrival == Time::NEVER,
            FirstDiscovery::FirstRate => self.last_arrival != Time::NEVER && self.rate <= 0.0,
        };
        self.note_rate(now, size, settings.rate_constant);
        let begins = settings.first_discovery == FirstDiscovery::FirstData || self.rate > 0.0;
        first && begins || u64::from(self.since_discovery) >= most
    }

    /// Equation 1: "APR = (1 - exp(-T/K)) l/T + exp(-T/K) APR".
    fn note_rate(&mut self, now: Time, size: u16, constant: Duration) {
        if self.last_arrival == Time::NEVER {
            self.last_arrival = now;
            return;
        }
        let gap = now.since(self.last_arrival);
        if gap.is_zero() {
            self.at_once += u32::from(size);
            return;
        }
        let bits = f64::from(u32::from(size) + self.at_once) * 8.0;
        let kept = libm::exp(-gap.seconds() / constant.seconds());
        self.rate = (1.0 - kept) * bits / gap.seconds() + kept * self.rate;
        self.last_arrival = now;
        self.at_once = 0;
    }
}

impl Mechanism for Ficcrd {
    type Settings = Parameters;
    const PLACEMENT: Placement = Placement::Nodes;

    fn new(settings: Parameters, site: &RouterSite<'_>) -> Self {
        let layout = site.layout;
        Self {
            settings,
            queues: vec![CoreQueue::default(); layout.links.len()],
            node_before: layout.links.iter().map(|link| link.from).collect(),
            paths: paths(settings.unit, site),
            loops: BTreeMap::new(),
            flows: BTreeMap::new(),
            entries: vec![0; layout.nodes],
            wakes: BTreeSet::new(),
            timer: Timer::default(),
        }
    }

    /// Acknowledgements held.
    fn held(&self) -> u64 {
        self.flows.values().map(|flow| flow.held.len() as u64).sum()
    }

    /// A packet is about to leave a router of the domain.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        let Some(path) = self.path_of(station, packet) else { return Fate::Pass };
        let node = self.node_before[station.link];
        match packet.kind {
            PacketKind::Data | PacketKind::Syn if node == path.ingress => self.on_data(station, packet, path),
            PacketKind::Ack | PacketKind::SynAck if node == path.ingress => {
                self.on_acknowledgement(station, packet, path)
            }
            PacketKind::ResourceDiscovery => self.on_discovery(station, packet, path, node),
            _ => Fate::Pass,
        }
    }

    /// The timer fires.
    fn on_timer(&mut self, station: &mut Station<'_>) {
        if !station.timer_is_due(&mut self.timer) {
            return;
        }
        while let Some(&(at, wake)) = self.wakes.first()
            && at <= station.now
        {
            self.wakes.pop_first();
            match wake {
                Wake::Discover(index) => self.discover_in_time(station, index),
                Wake::Release(flow) => self.release_held(station, flow),
            }
        }
        self.set_timer(station);
    }
}

impl Ficcrd {
    /// The path of the packet's flow. A short connection has that of its flow in the plan, but its
    /// own loop.
    fn path_of(&self, station: &Station<'_>, packet: &Packet) -> Option<FlowPath> {
        let flow = packet.flow as usize;
        if flow < self.paths.len() {
            return self.paths[flow];
        }
        let mut path = self.paths[station.network.flow_at(packet.hop)]?;
        if self.settings.unit == ControlUnit::Flow {
            path.control_loop = packet.flow;
        }
        Some(path)
    }

    fn set_timer(&mut self, station: &mut Station<'_>) {
        if let Some(&(first, _)) = self.wakes.first()
            && (first < self.timer.deadline() || !self.timer.is_set())
        {
            station.set_timer(&mut self.timer, first);
        }
    }

    // --- the ingress: rates
    // -------------------------------------------------------------------------------------

    fn on_data(&mut self, station: &mut Station<'_>, packet: &Packet, path: FlowPath) -> Fate {
        let now = station.now;
        if !self.flows.contains_key(&packet.flow) && !self.enter_table(now, packet.flow, path) {
            return Fate::Pass;
        }
        if let Some(flow) = self.flows.get_mut(&packet.flow) {
            flow.on_data(now, packet);
        }
        let control = self.loops.entry(path.control_loop).or_insert(ControlLoop::NEW);
        (control.flow, control.hop) = (packet.flow, packet.hop);
        if control.on_data(now, packet.size, &self.settings) {
            self.discover(station, path.control_loop);
        } else if control.next_timed == Time::NEVER {
            self.time_discovery(now, path.control_loop);
        }
        self.set_timer(station);
        Fate::Pass
    }

    /// Adds a flow to the table of its ingress; false if there is none.
    fn enter_table(&mut self, now: Time, flow: u32, path: FlowPath) -> bool {
        if self.entries[path.ingress] >= self.settings.flows {
            let idlest = self
                .flows
                .iter()
                .filter(|(_, entry)| entry.path.ingress == path.ingress && entry.held.is_empty())
                .filter(|(_, entry)| now.since(entry.last_data) > IDLE)
                .min_by_key(|(_, entry)| entry.last_data)
                .map(|(&flow, _)| flow);
            let Some(idlest) = idlest else { return false };
            self.flows.remove(&idlest);
            if self.settings.unit == ControlUnit::Flow {
                self.forget_loop(idlest);
            }
            self.entries[path.ingress] -= 1;
        }
        self.entries[path.ingress] += 1;
        self.flows.insert(flow, EdgeFlow::new(now, path));
        true
    }

    fn forget_loop(&mut self, index: u32) {
        if let Some(control) = self.loops.remove(&index) {
            self.wakes.remove(&(control.next_timed, Wake::Discover(index)));
        }
    }

    /// The next timed packet of a loop.
    fn time_discovery(&mut self, now: Time, index: u32) {
        let Some(control) = self.loops.get_mut(&index) else { return };
        if control.next_timed != Time::NEVER {
            self.wakes.remove(&(control.next_timed, Wake::Discover(index)));
        }
        control.next_timed = match self.settings.discovery_interval.0 {
            Some(interval) => now + interval,
            None => Time::NEVER,
        };
        if control.next_timed != Time::NEVER {
            self.wakes.insert((control.next_timed, Wake::Discover(index)));
        }
    }

    fn discover_in_time(&mut self, station: &mut Station<'_>, index: u32) {
        let Some(control) = self.loops.get_mut(&index) else { return };
        control.next_timed = Time::NEVER;
        let silence = station.now.since(control.last_arrival);
        if silence > IDLE {
            return;
        }
        // Equation 1 changes only with packets: a silent flow would keep its old rate forever. Its
        // packets still fetch its allowed rate, but report no rate.
        if silence > self.settings.rate_constant.times(SILENT) {
            control.rate = 0.0;
        }
        self.discover(station, index);
    }

    /// Sends a resource discovery packet.
    fn discover(&mut self, station: &mut Station<'_>, index: u32) {
        let Some(control) = self.loops.get_mut(&index) else { return };
        control.since_discovery = 0;
        let (rate, flow, hop) = (control.rate, control.flow, control.hop);
        self.time_discovery(station.now, index);
        let Some(path) = self.paths[station.network.flow_at(hop)] else { return };
        let access_rate = station.network.rate(path.access_link, station.now).bits_per_second() as f64;
        let resource = ResourceDiscovery { rate, allowed: access_rate, backward: false };
        let extra = Extra { resource: Some(resource), ..Extra::default() };
        let packet = Packet {
            arrival: station.now,
            order: 0,
            sequence: 0,
            sent: station.now,
            echo: Time::NEVER,
            flow,
            hop,
            payload: 0,
            size: self.settings.discovery_size.get() as u16,
            kind: PacketKind::ResourceDiscovery,
            flags: Flags::NONE,
            extra: station.network.extras().put(extra),
            number: 0,
        };
        let link = station.network.link_at(hop);
        self.note_rate(station, link, rate);
        station.send(packet);
    }

    // --- every router
    // -------------------------------------------------------------------------------------------

    fn occupancy(station: &mut Station<'_>, link: usize) -> Option<Occupancy> {
        Occupancy::new(station.network.waiting(link, station.now))
    }

    /// A resource discovery packet goes forward through the output queue of this link.
    fn note_rate(&mut self, station: &mut Station<'_>, link: usize, rate: f64) {
        if let Some(occupancy) = Self::occupancy(station, link) {
            self.queues[link].on_forward(&self.settings, occupancy, rate);
        }
    }

    fn on_discovery(
        &mut self,
        station: &mut Station<'_>,
        packet: &mut Packet,
        path: FlowPath,
        node: usize,
    ) -> Fate {
        let Some(mut resource) = station.network.extras().get(packet.extra).resource else {
            return Fate::Pass;
        };
        if !resource.backward && node != path.egress {
            self.note_rate(station, station.link, resource.rate);
            return Fate::Pass;
        }
        // The relevant queue is the one in which the flow's data waits at this router.
        let flow = station.network.flow_at(packet.hop);
        if let Some(link) = station.network.first_link(flow, &|link| self.node_before[link] == node)
            && let Some(occupancy) = Self::occupancy(station, link)
            && let Some(allowed) = self.queues[link].allowed_rate(&self.settings, occupancy)
        {
            resource.allowed = resource.allowed.min(allowed);
        }
        if resource.backward && node == path.ingress {
            self.obey(station, path, resource.allowed);
            station.consume(packet);
            return Fate::Taken;
        }
        let turn = !resource.backward;
        resource.backward = true;
        if let Some(extra) = station.network.extras().get_mut(packet.extra) {
            extra.resource = Some(resource);
        }
        if !turn {
            return Fate::Pass;
        }
        packet.hop = station.network.acknowledgement_hop(flow, path.turn_position);
        station.release(*packet);
        Fate::Taken
    }

    // --- the ingress: feedback
    // ----------------------------------------------------------------------------------

    /// Applies the rate that the network allows, bit/s: to one flow, or to a class, whose active
    /// flows share it.
    fn obey(&mut self, station: &mut Station<'_>, path: FlowPath, allowed: f64) {
        let now = station.now;
        let mut sharers = 1.0;
        if self.settings.unit == ControlUnit::Class {
            let active = self
                .members(path.control_loop)
                .filter(|flow| self.flows.get(flow).is_some_and(|entry| now.since(entry.last_data) < ACTIVE));
            sharers = active.count().max(1) as f64;
        }
        if self.settings.feedback == Feedback::AckBucket {
            let members: Vec<u32> = self.members(path.control_loop).collect();
            // Credit until now accrued at the old rate.
            for &flow in &members {
                self.accrue(now, flow, path.control_loop);
            }
            self.set_allowed(path.control_loop, allowed / sharers);
            for flow in members {
                self.release_held(station, flow);
            }
            self.set_timer(station);
        }
        self.set_allowed(path.control_loop, allowed / sharers);
    }

    fn set_allowed(&mut self, control_loop: u32, allowed: f64) {
        if let Some(control) = self.loops.get_mut(&control_loop) {
            control.allowed = Some(allowed);
        }
    }

    fn allowed(&self, control_loop: u32) -> Option<f64> {
        self.loops.get(&control_loop)?.allowed
    }

    /// Flows in the table that belong to a loop.
    fn members(&self, control_loop: u32) -> impl Iterator<Item = u32> + '_ {
        let flows: Box<dyn Iterator<Item = u32>> = match self.settings.unit {
            ControlUnit::Flow => {
                Box::new(self.flows.contains_key(&control_loop).then_some(control_loop).into_iter())
            }
            ControlUnit::Class => Box::new(
                self.flows
                    .iter()
                    .filter(move |(_, flow)| flow.path.control_loop == control_loop)
                    .map(|(&index, _)| index),
            ),
        };
        flows
    }

    fn on_acknowledgement(&mut self, station: &mut Station<'_>, packet: &mut Packet, path: FlowPath) -> Fate {
        let now = station.now;
        let Some(flow) = self.flows.get_mut(&packet.flow) else { return Fate::Pass };
        if path.encrypted {
            return Fate::Pass;
        }
        let is_new = packet.kind == PacketKind::Ack && packet.sequence > flow.seen;
        if is_new {
            flow.seen = packet.sequence;
            flow.on_new_ack(now, packet.sequence);
        }
        match self.settings.feedback {
            Feedback::None => {}
            Feedback::Window => self.rewrite_window(station, packet, path),
            // "The duplicate and the selective ones pass at once": they report losses, not room.
            Feedback::AckBucket if is_new && packet.extra == NO_EXTRA => {
                packet.arrival = now;
                flow.held.push(*packet);
                self.release_held(station, packet.flow);
                self.set_timer(station);
                return Fate::Taken;
            }
            Feedback::AckBucket => {}
        }
        if let Some(flow) = self.flows.get_mut(&packet.flow) {
            flow.on_ack_passed(now, packet.sequence);
        }
        Fate::Pass
    }

    /// Explicit window adaptation: the ACK's window becomes the allowed rate times a round trip, in
    /// units of its scale, but the right edge never moves left.
    fn rewrite_window(&mut self, station: &mut Station<'_>, packet: &mut Packet, path: FlowPath) {
        let allowed = self.allowed(path.control_loop);
        let Some(flow) = self.flows.get_mut(&packet.flow) else { return };
        if packet.kind != PacketKind::Ack {
            return;
        }
        let offered = station.network.extras().get(packet.extra).receive_window;
        let offered = offered.or(packet.window()).unwrap_or(path.window);
        let mut window =
            flow.allowed_window(&self.settings, allowed).map_or(offered, |most| offered.min(most));
        // A duplicate must not look like a window update: its right edge stays.
        if packet.sequence <= flow.acknowledged && flow.acknowledged > 0 {
            window = 0;
        }
        window = window.max(flow.right_edge.saturating_sub(packet.sequence));
        let unit = 1_u64 << path.shift;
        window = window.div_ceil(unit).saturating_mul(unit).min(offered);
        flow.right_edge = flow.right_edge.max(packet.sequence.saturating_add(window));
        if window < offered {
            station.network.extras().of(packet).receive_window = Some(window);
        }
    }

    /// Adds the allowed rate since the last update to a flow's credit.
    fn accrue(&mut self, now: Time, flow: u32, control_loop: u32) {
        let allowed = self.allowed(control_loop);
        let Some(entry) = self.flows.get_mut(&flow) else { return };
        let span = now.since(entry.credit_at).seconds();
        entry.credit_at = now;
        let Some(allowed) = allowed else { return };
        // An idle flow saves at most the credit of one ACK of two segments.
        let most = (4 * entry.mss) as f64;
        entry.credit = (entry.credit + allowed * span / 8.0).min(most);
    }

    /// ACK bucket control: forwards held ACKs that have credit, or were held too long.
    fn release_held(&mut self, station: &mut Station<'_>, index: u32) {
        let now = station.now;
        let Some(control_loop) = self.flows.get(&index).map(|flow| flow.path.control_loop) else { return };
        self.accrue(now, index, control_loop);
        let allowed = self.allowed(control_loop);
        let Some(flow) = self.flows.get_mut(&index) else { return };
        while let Some(&first) = flow.held.front() {
            let needed = flow.needed(first.sequence);
            let due = first.arrival + self.settings.longest_hold;
            if let Some(allowed) = allowed
                && flow.credit < needed
                && now < due
            {
                let missing = (needed - flow.credit) * 8.0 / allowed.max(1.0);
                // A picosecond more, so that the credit suffices then.
                let enough = now + Duration::from_seconds(missing) + Duration::from_picoseconds(1);
                let wake = enough.min(due);
                self.wakes.insert((wake, Wake::Release(index)));
                return;
            }
            flow.credit = (flow.credit - needed).max(0.0);
            flow.held.drop_front();
            flow.on_ack_passed(now, first.sequence);
            station.release(first);
        }
    }
}

/// The paths of all flows.
fn paths(unit: ControlUnit, site: &RouterSite<'_>) -> Vec<Option<FlowPath>> {
    let Layout { links, flows, .. } = site.layout;
    let domain: BTreeSet<usize> = site.stands_before.iter().map(|&link| links[link].from).collect();
    let mut classes: BTreeMap<(usize, usize, u8), u32> = BTreeMap::new();
    let path = |(index, flow): (usize, &FlowLayout<'_>)| {
        let tcp = flow.tcp?;
        // Hosts are not routers of their own flows.
        let mut routers =
            flow.forward.iter().skip(1).map(|&link| links[link].from).filter(|node| domain.contains(node));
        let ingress = routers.next()?;
        let egress = routers.next_back()?;
        let leaves = |node: usize| flow.reverse.iter().position(|&link| links[link].from == node);
        let (Some(_), Some(turn), true) = (leaves(ingress), leaves(egress), ingress != egress) else {
            return None;
        };
        let control_loop = match unit {
            ControlUnit::Flow => index as u32,
            ControlUnit::Class => {
                let next = classes.len() as u32;
                *classes.entry((ingress, egress, flow.dscp)).or_insert(next)
            }
        };
        Some(FlowPath {
            ingress,
            egress,
            turn_position: turn as u32,
            control_loop,
            window: tcp.window,
            shift: tcp.window_shift,
            access_link: flow.forward[0],
            encrypted: tcp.encrypted,
        })
    };
    flows.iter().enumerate().map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfclock_congestion::units::Bytes;

    /// State per flow, bytes, as in docs/validation.md, without the packets held.
    #[test]
    fn state_for_each_flow() {
        assert_eq!(size_of::<EdgeFlow>() + size_of::<ControlLoop>(), 320);
    }

    /// Equation 1 by hand: a packet of 4096 B each 33 ms after an idle start; K = 100 ms.
    #[test]
    fn the_rate_is_averaged_exponentially() {
        let ms = Duration::from_milliseconds;
        let mut control = ControlLoop::NEW;
        for step in 0..10 {
            control.note_rate(Time::ZERO + ms(33 * step), 4096, ms(100));
        }
        let expected = 4096.0 * 8.0 / 0.033 * (1.0 - libm::exp(-9.0 * 0.33));
        assert!((control.rate / expected - 1.0).abs() < 1e-9, "{}", control.rate);
        // Two simultaneous packets count as one of twice the size.
        let before = control.rate;
        control.note_rate(Time::ZERO + ms(33 * 9), 4096, ms(100));
        assert_eq!(control.rate, before);
        control.note_rate(Time::ZERO + ms(33 * 10), 4096, ms(100));
        let kept = libm::exp(-0.33);
        let expected = (1.0 - kept) * 8192.0 * 8.0 / 0.033 + kept * before;
        assert!((control.rate / expected - 1.0).abs() < 1e-9, "{}", control.rate);
    }

    /// Which of a flow's packets of 4136 B, 4 ms apart, are followed by a resource discovery
    /// packet: by number, by bytes of 32 cells of ATM, or of ten packets of this size, and with the
    /// first one early.
    #[test]
    fn a_resource_discovery_packet_is_due_in_proportion() {
        let (packets, atm) = (Parameters { packets_per_discovery: 8, ..Parameters::default() }, 32 * 53);
        let bytes = |size| Parameters { bytes_per_discovery: DiscoveryBytes(Some(Bytes(size))), ..packets };
        let first = |first_discovery| Parameters { first_discovery, ..packets };
        for (settings, expected) in [
            (packets, &[8, 16, 24][..]),
            (bytes(41_360), &[10, 20]),
            (bytes(atm), &(1..=25).collect::<Vec<u64>>()),
            (first(FirstDiscovery::FirstData), &[1, 9, 17, 25]),
            (first(FirstDiscovery::FirstRate), &[2, 10, 18]),
        ] {
            let mut control = ControlLoop::NEW;
            let due = (1..=25).filter(|number| {
                let now = Time::ZERO + Duration::from_milliseconds(4 * number);
                let due = control.on_data(now, 4136, &settings);
                control.since_discovery = if due { 0 } else { control.since_discovery };
                due
            });
            assert_eq!(due.collect::<Vec<_>>(), expected, "{settings:?}");
        }
    }
}
