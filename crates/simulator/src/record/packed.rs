//! Packet records in memory: 48 bytes each, in chunks that are each in the order of time.

use super::packets::{PacketEvent, PacketRecord};
use super::payload::{Payloads, Secrets};
use crate::packet::{Extra, Flags, NO_EXTRA, Packet, PacketKind};
use crate::plan::Plan;
use selfclock_congestion::units::Time;
use std::sync::Arc;

/// A packet event. SACK blocks, options and whatever else few packets carry stand in a side table.
#[derive(Clone, Copy, Debug)]
struct Packed {
    time: Time,
    /// As [`Packet::sequence`]: of an acknowledgement the next byte expected.
    sequence: u64,
    /// Value and echo of the timestamps option, µs; without meaning where the flow has no
    /// timestamps.
    timestamps: (u32, u32),
    link: u32,
    /// As [`Packet::flow`].
    connection: u32,
    /// As [`Packet::payload`]: of an acknowledgement the count of marked payload.
    payload: u32,
    number: u32,
    /// Place in the side table of the chunk, or [`NO_EXTRA`].
    extra: u32,
    size: u16,
    /// The number of the event, and from [`KIND_SHIFT`] on that of the kind.
    event_and_kind: u8,
    flags: Flags,
}

const _: () = assert!(size_of::<Packed>() == 48, "memory per packet event");

const KIND_SHIFT: u32 = 4;

/// Fields shared by the records of a flow.
#[derive(Clone, Copy, Debug)]
struct FlowFacts {
    advertised_window: u64,
    has_timestamps: bool,
}

/// Records, and what few of their packets carry.
#[derive(Clone, Debug, Default)]
struct Chunk {
    records: Vec<Packed>,
    extras: Vec<Extra>,
}

impl Chunk {
    fn add(&mut self, mut record: Packed, extra: Option<&Extra>) {
        record.extra = extra.map_or(NO_EXTRA, |extra| keep(&mut self.extras, extra));
        self.records.push(record);
    }

    fn extra(&self, record: &Packed) -> Option<&Extra> {
        self.extras.get(record.extra as usize)
    }

    /// Drops the records before `time`. The others stay in their memory.
    fn keep_from(&mut self, time: Time) {
        self.records.retain(|record| record.time >= time);
        let extras = std::mem::take(&mut self.extras);
        for record in self.records.iter_mut().filter(|record| record.extra != NO_EXTRA) {
            record.extra = keep(&mut self.extras, &extras[record.extra as usize]);
        }
    }
}

/// Adds to a side table, and returns the place there. The events of a packet on a stretch of its
/// way follow one another and share one.
fn keep(extras: &mut Vec<Extra>, extra: &Extra) -> u32 {
    if extras.last() != Some(extra) {
        extras.push(*extra);
    }
    extras.len() as u32 - 1
}

/// Packet events in the order of time, those at equal times in the order in which they came to be.
#[derive(Clone, Default)]
pub struct Packets {
    chunks: Vec<Chunk>,
    flows: Arc<[FlowFacts]>,
    /// The flow of each short connection.
    connections: Arc<Vec<u32>>,
    /// Payload of datagrams, if the plan asks for it: of packets sent since the last records were
    /// taken.
    payloads: Payloads,
}

/// Most packet events that a run holds in memory: 1 GB, and three times as much as a table.
pub const MOST_RECORDS: usize = 20_000_000;

/// Events that are sorted together: 0.8 MB, which a second-level cache holds.
const SORTED_TOGETHER: usize = 1 << 14;

/// Collects packet records.
#[derive(Clone, Debug)]
pub struct PacketRecorder {
    /// In the order in which they came to be; none is earlier than `since`.
    pending: Chunk,
    since: Time,
    /// Pending records from which on it is worth while to sort.
    enough: usize,
    settled: Packets,
    settled_records: usize,
    overflowed: bool,
    keeps_payload: bool,
}

impl PacketRecorder {
    /// An empty record of this plan.
    pub fn new(plan: &Plan) -> Self {
        Self {
            pending: Chunk::default(),
            since: Time::ZERO,
            enough: SORTED_TOGETHER,
            settled: Packets { flows: facts(plan), ..Packets::default() },
            settled_records: 0,
            overflowed: false,
            keeps_payload: plan.record.payload,
        }
    }

    /// The run continues as that of another plan, in which flows without packets so far may differ.
    pub fn change_plan(&mut self, plan: &Plan) {
        self.settled.flows = facts(plan);
    }

    /// A short connection of this flow starts: the next number is its.
    pub fn on_connection_start(&mut self, flow: u32) {
        Arc::make_mut(&mut self.settled.connections).push(flow);
    }

    /// Adds one event of one packet.
    pub fn add(&mut self, event: PacketEvent, time: Time, link: u32, packet: &Packet, extra: Option<&Extra>) {
        debug_assert!(time >= self.since, "nothing happens before what has been settled");
        if self.settled_records + self.pending.records.len() >= MOST_RECORDS {
            self.overflowed = true;
            return;
        }
        // Microseconds, wrapping at 32 bits as the option does.
        let microseconds =
            |time: Time| if time == Time::NEVER { 0 } else { (time.picoseconds() / 1_000_000) as u32 };
        let record = Packed {
            time,
            sequence: packet.sequence,
            timestamps: (microseconds(packet.sent), microseconds(packet.echo)),
            link,
            connection: packet.flow,
            payload: packet.payload,
            number: packet.number,
            extra: NO_EXTRA,
            size: packet.size,
            event_and_kind: event as u8 | (packet.kind as u8) << KIND_SHIFT,
            flags: packet.flags,
        };
        self.pending.add(record, extra.filter(|extra| extra.is_recorded()));
    }

    /// The plan asks for the payload of datagrams.
    pub fn keeps_payload(&self) -> bool {
        self.keeps_payload
    }

    /// Adds the payload of a datagram, the packet with this number.
    pub fn add_payload(&mut self, packet: u32, bytes: &[u8]) {
        self.settled.payloads.add(packet, bytes);
    }

    /// Adds the secrets of a connection. The time is not before that of those added last.
    pub fn add_secrets(&mut self, secrets: Secrets) {
        self.settled.payloads.add_secrets(secrets);
    }

    /// There was more to record than [`MOST_RECORDS`]: the record is not whole.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Brings what happened before `now` into its order, if that is enough to be worth while.
    /// Nothing may be added that happened before `now`.
    #[inline]
    pub fn settle(&mut self, now: Time) {
        if self.pending.records.len() >= self.enough {
            self.sort_before(now);
            self.enough = SORTED_TOGETHER + 2 * self.pending.records.len();
        }
    }

    /// A link that is served ahead of the clock writes ahead, too, so records do not come in the
    /// order of time.
    fn sort_before(&mut self, now: Time) {
        let pending = &mut self.pending;
        let order = order_before(&pending.records, self.since, now);
        let mut sorted = Chunk { records: Vec::with_capacity(order.len()), extras: Vec::new() };
        for index in order {
            let record = pending.records[index];
            sorted.add(record, pending.extra(&record));
        }
        pending.keep_from(now);
        self.settled_records += sorted.records.len();
        self.settled.chunks.push(sorted);
        self.since = now;
    }

    /// Takes the records of what happened before `now`, however few. Nothing may be added that
    /// happened before `now`.
    pub fn take_before(&mut self, now: Time) -> Packets {
        self.sort_before(now);
        self.take_settled()
    }

    /// Takes the records that are in their order: nothing that is still to come goes before them.
    pub fn take_settled(&mut self) -> Packets {
        self.settled_records = 0;
        let chunks = std::mem::take(&mut self.settled.chunks);
        let payloads = std::mem::take(&mut self.settled.payloads);
        Packets { chunks, payloads, ..self.settled.clone() }
    }

    /// All remaining records.
    pub fn finish(mut self) -> Packets {
        self.sort_before(Time::NEVER);
        self.settled
    }
}

/// Fields shared by the records of each flow of a plan.
fn facts(plan: &Plan) -> Arc<[FlowFacts]> {
    let facts = plan.flows.iter().map(|flow| {
        let transport = flow.protocol.tcp().map(|tcp| &tcp.transport);
        FlowFacts {
            advertised_window: transport.map_or(0, |transport| transport.advertised_window().get()),
            has_timestamps: transport.is_some_and(|transport| transport.timestamps),
        }
    });
    facts.collect()
}

/// The indices of the records before `until`, in the order of time, equal times as they stand. None
/// is before `since`.
fn order_before(records: &[Packed], since: Time, until: Time) -> Vec<usize> {
    let bits = (usize::BITS - records.len().leading_zeros()).max(1);
    let before = records.iter().enumerate().filter(|(_, record)| record.time < until);
    let latest = records.iter().map(|record| record.time).max().unwrap_or(since);
    if latest.since(since).picoseconds() >> (u64::BITS - bits) != 0 {
        let mut order: Vec<usize> = before.map(|(index, _)| index).collect();
        order.sort_by_key(|&index| records[index].time);
        return order;
    }
    // Time and index in one number: a sort of numbers takes a third of the time of one that looks
    // records up.
    let mut keys: Vec<u64> =
        before.map(|(index, record)| record.time.since(since).picoseconds() << bits | index as u64).collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| (key & ((1 << bits) - 1)) as usize).collect()
}

impl Packets {
    /// Number of records.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.records.len()).sum()
    }

    /// None present.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Payload of datagrams, if the plan asks for it. What was taken before has that of packets
    /// sent before.
    pub fn payloads(&self) -> &Payloads {
        &self.payloads
    }

    /// Takes the payload out.
    pub fn take_payloads(&mut self) -> Payloads {
        std::mem::take(&mut self.payloads)
    }

    /// The records, each unpacked when its turn comes.
    pub fn iter(&self) -> Iter<'_> {
        Iter { packets: self, chunk: 0, index: 0 }
    }

    /// Unpacked. Compiled into its callers, which then unpack the fields that they read.
    #[inline(always)]
    fn unpack(&self, chunk: &Chunk, packed: &Packed) -> PacketRecord {
        let short = (packed.connection as usize).checked_sub(self.flows.len());
        let flow = short.map_or(packed.connection, |connection| self.connections[connection]);
        let facts = self.flows[flow as usize];
        let kind = PacketKind::ALL[(packed.event_and_kind >> KIND_SHIFT) as usize];
        let acknowledges = kind.acknowledges();
        let extra = chunk.extra(packed);
        let shows_window = packed.flags.has(Flags::WINDOW);
        PacketRecord {
            time: packed.time,
            event: PacketEvent::ALL[(packed.event_and_kind & ((1 << KIND_SHIFT) - 1)) as usize],
            link: packed.link,
            flow,
            connection: packed.connection,
            kind,
            retransmission: packed.flags.has(Flags::RETRANSMISSION),
            ecn: packed.flags.codepoint(),
            ece: packed.flags.has(Flags::ECE),
            cwr: packed.flags.has(Flags::CWR),
            marked: if acknowledges && !shows_window { packed.payload } else { 0 },
            packet: u64::from(packed.number),
            sequence: if acknowledges { 0 } else { packed.sequence },
            payload: if acknowledges { 0 } else { packed.payload },
            size: u32::from(packed.size),
            acknowledgement: if acknowledges { packed.sequence } else { 0 },
            receive_window: match extra.and_then(|extra| extra.receive_window) {
                _ if !acknowledges => u64::MAX,
                Some(window) => window,
                None if shows_window => u64::from(packed.payload),
                None => facts.advertised_window,
            },
            timestamps: facts.has_timestamps.then_some(packed.timestamps),
            sack: extra.map_or_else(Default::default, |extra| extra.sack),
            sack_blocks: extra.map_or(0, |extra| extra.sack_blocks),
            option: extra.and_then(|extra| extra.option),
            resource: extra.and_then(|extra| extra.resource),
        }
    }
}

/// See [`Packets::iter`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    packets: &'a Packets,
    chunk: usize,
    index: usize,
}

impl Iterator for Iter<'_> {
    type Item = PacketRecord;

    #[inline(always)]
    fn next(&mut self) -> Option<PacketRecord> {
        loop {
            let chunk = self.packets.chunks.get(self.chunk)?;
            if let Some(packed) = chunk.records.get(self.index) {
                self.index += 1;
                return Some(self.packets.unpack(chunk, packed));
            }
            (self.chunk, self.index) = (self.chunk + 1, 0);
        }
    }

    /// Chunk by chunk, so that the compiler can drop unused fields.
    #[inline(always)]
    fn fold<B, F: FnMut(B, PacketRecord) -> B>(self, first: B, mut each: F) -> B {
        let mut folded = first;
        let mut from = self.index;
        for chunk in self.packets.chunks.iter().skip(self.chunk) {
            for packed in &chunk.records[from.min(chunk.records.len())..] {
                folded = each(folded, self.packets.unpack(chunk, packed));
            }
            from = 0;
        }
        folded
    }
}

impl<'a> IntoIterator for &'a Packets {
    type Item = PacketRecord;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl std::fmt::Debug for Packets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{graph, mbps, ms, s, tcp, wire};
    use proptest::prelude::*;

    fn plan() -> Plan {
        graph(&["a", "b"])
            .link("a", "b", wire(mbps(10), ms(20)))
            .flow(tcp("reno").between("a", "b"))
            .duration(s(1))
            .plan()
            .expect("a plan")
    }

    fn packet(number: u32) -> Packet {
        Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence: 0,
            sent: Time::ZERO,
            echo: Time::NEVER,
            flow: 0,
            hop: 0,
            payload: 1448,
            size: 1500,
            kind: PacketKind::Data,
            flags: Flags::NONE,
            extra: NO_EXTRA,
            number,
        }
    }

    proptest! {
        /// However the clock and the records run, the record is what a stable sort by time makes of
        /// it.
        #[test]
        fn records_are_in_the_order_of_time(
            steps in prop::collection::vec((0_u64..50, prop::collection::vec((0_u64..300, 0_u64..3), 0..20)), 1..60),
            enough in 1_usize..40, far in prop::bool::ANY, takes in prop::bool::ANY,
        ) {
            let mut recorder = PacketRecorder::new(&plan());
            recorder.enough = enough;
            // With a unit of an hour the distance of two times and an index do not fit into 64
            // bits.
            let unit = if far { 3_600 * 1_000_000_000_000 } else { 1 };
            let (mut now, mut expected, mut found) = (Time::ZERO, Vec::new(), Vec::new());
            for (passes, ahead) in steps {
                now += selfclock_congestion::units::Duration::from_picoseconds(passes * unit);
                recorder.settle(now);
                for (later, window) in ahead {
                    let time = now + selfclock_congestion::units::Duration::from_picoseconds(later * unit);
                    let extra = Extra { receive_window: Some(window), ..Extra::default() };
                    let packet = Packet { kind: PacketKind::Ack, ..packet(expected.len() as u32) };
                    recorder.add(PacketEvent::Send, time, 0, &packet, (window > 0).then_some(&extra));
                    expected.push((time, u64::from(packet.number), window));
                }
                if takes {
                    found.extend(recorder.take_settled().iter());
                }
            }
            expected.sort_by_key(|&(time, ..)| time);
            found.extend(recorder.finish().iter());
            let seen = found.iter().map(|record| (record.time, record.packet, record.receive_window));
            let advertised = plan().flows[0].protocol.tcp().expect("TCP").transport.advertised_window().get();
            let of = |window| if window > 0 { window } else { advertised };
            prop_assert!(seen.eq(expected.into_iter().map(|(time, number, window)| (time, number, of(window)))));
        }
    }

    /// Rare fields are stored once for the events of a packet on a stretch of its path.
    #[test]
    fn events_of_one_packet_share_what_it_carries() {
        let mut recorder = PacketRecorder::new(&plan());
        let extra = Extra { sack_blocks: 1, ..Extra::default() };
        for event in [PacketEvent::Send, PacketEvent::Enqueue, PacketEvent::Transmit] {
            recorder.add(event, Time::ZERO, 0, &packet(0), Some(&extra));
        }
        let label = Extra { label: Some(1.0), ..Extra::default() };
        recorder.add(PacketEvent::Deliver, Time::ZERO, 0, &packet(1), Some(&label));
        assert_eq!(recorder.pending.extras.len(), 1);
        let blocks: Vec<u8> = recorder.finish().iter().map(|record| record.sack_blocks).collect();
        assert_eq!(blocks, [1, 1, 1, 0]);
    }
}
