//! TCP options on real connections: blocks as the kernel part writes them, and events about options
//! as the algorithm receives them.

use selfclock_congestion::option::{PacketPairKind, PacketPairOption, PairMark, SwiftStartOption};
use selfclock_congestion::receiver::Partner;
use selfclock_congestion::trace::{Reader, Record, Recorder};
use selfclock_congestion::{Event, PeerOption, Selection, Setup};
use selfclock_kernel::bridge::{Block, Bridge, Outgoing, RECEIVER};
use selfclock_kernel::event::{KernelEvent, kind};
use selfclock_kernel::log::{Entry, LogError, Writer, replay};

const LABEL: &str =
    "reno+packet-pair:option_kind=253,probing=both-sides,timer_rounding=exact,pairs_at_once=every";
const MSS: u32 = 1448;

fn pair(mark: Option<(PairMark, u8)>, reply: Option<(u8, u16)>) -> PeerOption {
    PeerOption::PacketPair(PacketPairOption { kind: PacketPairKind::Kind253, mark, reply })
}

/// The event that reports a block.
fn reported(block: &Block, event: KernelEvent) -> KernelEvent {
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|index| block.first[at + index]));
    KernelEvent {
        peer_0: word(0),
        peer_1: word(4),
        peer_2: word(8),
        peer_3: word(12),
        pacing: u64::from_le_bytes(block.second),
        ..event
    }
}

/// Bytes as the papers' options have them on the wire (RFC 6994), without padding. A mark and a
/// reply have different kinds, because Linux refuses two options of one kind and ExID.
#[test]
fn blocks_are_the_options_of_the_library() {
    let both = Block::of(pair(Some((PairMark::Second, 7)), Some((7, 0x0102)))).expect("of kind 253");
    assert_eq!(both.first[..7], [253, 6, b'P', b'P', 2, 7, 0]);
    assert_eq!(both.second, [254, 8, b'P', b'P', 3, 7, 1, 2]);
    let reply = Block::of(pair(None, Some((7, 4)))).expect("of kind 253");
    assert_eq!((&reply.first[..8], reply.second[1]), (&[253, 8, b'P', b'P', 3, 7, 0, 4][..], 0));
    let swift = PeerOption::SwiftStart(SwiftStartOption::Reply { id: 5, microseconds: 242 });
    let bytes = Block::of(swift).expect("of kind 253");
    assert_eq!(bytes.first[..9], [253, 9, b'S', b'W', 0xc5, 0, 0, 0, 242]);
    // Kind 6 belongs to Echo on real segments.
    assert_eq!(Block::of(PeerOption::PacketPair(PacketPairOption::default())), None);
    for block in [both, reply, bytes] {
        assert_eq!(Block::reported(&reported(&block, KernelEvent::default())), block);
    }
    assert_eq!(bytes.option(), Some(swift));
    let Some(PeerOption::PacketPair(read)) = both.option() else { panic!("{both:?}") };
    assert_eq!((read.mark, read.reply), (Some((PairMark::Second, 7)), Some((7, 0x0102))));
    assert_eq!(Block::default().option(), None);
}

fn selected(label: &str) -> Selection {
    selfclock_congestion::Registry::built_in().read(label).expect("built in")
}

fn selection() -> Selection {
    selected(LABEL)
}

/// A connection that begins has pairs 0 to 7 ready; Reno has nothing to carry.
#[test]
fn the_options_of_a_connection_that_begins() {
    let opening = Outgoing::opening(selection().controller(Setup::default())).expect("it probes");
    let marks: Vec<_> = opening.marks.1.iter().map(Block::option).collect();
    for (number, mark) in marks.iter().enumerate() {
        let part = if number % 2 == 0 { PairMark::First } else { PairMark::Second };
        assert_eq!(*mark, Some(pair(Some((part, number as u8 / 2)), None)), "{number}");
    }
    assert_eq!(marks.len(), 16);
    let bytes = opening.bytes(true);
    assert_eq!((bytes.len(), bytes[12], opening.bytes(false)[12]), (Outgoing::SIZE, 16, 0));
    let reno = Selection::from_label("reno").expect("listed");
    assert!(Outgoing::opening(reno.controller(Setup::default())).is_none());
}

fn first() -> KernelEvent {
    KernelEvent {
        id: 5,
        now: 1_000_000,
        number: 1,
        cwnd: 10,
        ssthresh: u32::MAX,
        mss: MSS,
        srtt_us: 20_000,
        rtt_us: -1,
        family: 2,
        tcp_header: 32,
        kind: kind::INIT,
        ..KernelEvent::default()
    }
}

fn about(kind: u8, id: u64, now: u64, number: u32, block: &Block) -> KernelEvent {
    let slot = if id == 5 { 0 } else { u32::MAX };
    reported(block, KernelEvent { id, now, number: 0, kind, slot, prior_delivered: number, ..first() })
}

fn ack(number: u64, now: u64) -> KernelEvent {
    KernelEvent {
        number,
        now,
        bytes_acked: (number - 1) * u64::from(MSS),
        rtt_us: 20_500,
        kind: kind::ACK,
        flag: 0x404,
        acked_sacked: 1,
        packets_out: 9,
        prior_in_flight: 10,
        ..first()
    }
}

fn mark(part: PairMark, id: u8) -> Block {
    Block::of(pair(Some((part, id)), None)).expect("of kind 253")
}

/// The events of a connection with both ends under one session: a pair leaves, arrives 600 us
/// apart, and its ACKs come back 700 us apart.
fn exchange() -> Vec<KernelEvent> {
    let receiver = RECEIVER | 9;
    let (one, two) = (mark(PairMark::First, 0), mark(PairMark::Second, 0));
    let reply = Block::of(pair(Some((PairMark::Second, 0)), Some((0, 60)))).expect("of kind 253");
    let back = Block { first: [0; 16], second: [254, 8, b'P', b'P', 3, 0, 0, 70] };
    vec![
        first(),
        about(kind::WROTE, 5, 2_000_000, 0, &one),
        about(kind::WROTE, 5, 2_010_000, 1, &two),
        about(kind::ARRIVED, receiver, 12_000_000, 0, &one),
        about(kind::ARRIVED, receiver, 12_600_000, 0, &two),
        about(kind::WROTE, receiver, 12_700_000, 0, &one),
        about(kind::WROTE, receiver, 13_400_000, 1, &reply),
        about(kind::HEARD, 5, 22_700_000, 0, &one),
        ack(2, 22_700_001),
        about(kind::HEARD, 5, 23_400_000, 0, &reply),
        ack(3, 23_400_001),
        about(kind::WROTE, 5, 23_500_000, 2, &back),
    ]
}

/// The receiver's part times the pair, its reply reaches the algorithm with the ACK, the algorithm
/// paces by it and reports the interval of the ACKs, and every block that left is the one given.
#[test]
fn both_ends_of_a_connection() {
    let selection = selection();
    let mut bridge = Bridge::new(|setup| Recorder::new(&selection, setup)).with_partner(selection.partner());
    let (mut given, mut changes) = (Vec::new(), Vec::new());
    for event in exchange() {
        let (answer, _) = bridge.on(&event);
        assert_eq!(answer.is_some(), kind::is_answered(event.kind));
        changes.extend(bridge.take_outgoing().map(|(key, bytes)| {
            assert_eq!(bytes.len(), Outgoing::SIZE);
            key
        }));
        if let Some(block) = bridge.wrote(&event) {
            assert_eq!(block, Block::reported(&event));
            given.push(event.now);
        }
    }
    assert_eq!(given.len(), 5, "{given:?}");
    assert_eq!(changes, [5, 5, RECEIVER | 9, RECEIVER | 9, 5, 5]);
    let flow = bridge.into_flows().next().expect("one");
    // 1500 bytes in 600 us on the wire; the kernel counts payload.
    let pacing = flow.control().controller().decision().pacing.expect("paced");
    assert_eq!(pacing.interval.picoseconds(), 600_000_000);
    let trace = flow.into_control().finish();
    let options: Vec<_> = Reader::new(&trace)
        .expect("a trace")
        .filter_map(|record| match record.expect("whole") {
            Record::Event(Event::Acknowledged(event)) => Some(event.option),
            _ => None,
        })
        .collect();
    assert_eq!(options[0], Some(pair(Some((PairMark::First, 0)), None)));
    let Some(Some(PeerOption::PacketPair(second))) = options.get(1) else { panic!("{options:?}") };
    assert_eq!((second.mark, second.reply), (Some((PairMark::Second, 0)), Some((0, 60))));
}

/// A record has these events; a replay compares the options of every segment with those given.
#[test]
fn a_record_with_options_replays() {
    let selection = selection();
    let registry = selfclock_congestion::Registry::built_in();
    let log = |events: &[KernelEvent]| {
        let mut bridge = Bridge::new(|setup| selection.controller(setup)).with_partner(selection.partner());
        let mut writer = Writer::new(Vec::new(), &selection, "a test").expect("memory");
        for event in events {
            let answer = bridge.on(event).0;
            writer.write(&Entry { event: *event, answer }).expect("memory");
        }
        writer.finish().expect("memory")
    };
    let mut events = exchange();
    let done = replay(&registry, &log(&events), None).expect("equal");
    assert_eq!((done.options, done.answers, done.phases["option of the peer"]), (5, 3, 2));
    events[2] = about(kind::WROTE, 5, 2_010_000, 1, &mark(PairMark::Second, 3));
    let error = replay(&registry, &log(&events), None).expect_err("another pair-id");
    assert!(matches!(error, LogError::OtherOptions(3, _, _)), "{error}");
    assert!(error.to_string().contains("on record"), "{error}");
}

/// The kernel part writes what it has: a segment that leaves while the next interval is on its way
/// to it carries the last one. After the next, the last one would be wrong.
#[test]
fn a_segment_may_leave_before_a_new_interval_reaches_the_kernel() {
    let selection = selection();
    let mut bridge = Bridge::new(|setup| selection.controller(setup)).with_partner(selection.partner());
    let one = mark(PairMark::First, 1);
    let two = Block::of(pair(Some((PairMark::Second, 1)), Some((1, 60)))).expect("of kind 253");
    let [older, newer] = [[0, 70], [1, 90]]
        .map(|[id, us]| Block { first: [0; 16], second: [254, 8, b'P', b'P', 3, id, 0, us] });
    let mut events = exchange();
    events.pop();
    events.extend([
        about(kind::HEARD, 5, 42_700_000, 0, &one),
        ack(4, 42_700_001),
        about(kind::HEARD, 5, 43_600_000, 0, &two),
        ack(5, 43_600_001),
    ]);
    for event in &events {
        bridge.on(event);
    }
    for (number, carried, given) in [(2, older, older), (3, newer, newer), (4, older, newer)] {
        let event = about(kind::WROTE, 5, 43_700_000, number, &carried);
        bridge.on(&event);
        assert_eq!(bridge.wrote(&event), Some(given), "segment {number}");
    }
}

/// Figure 5 of the paper has one pair a round trip: the kernel part has the blocks of one, then
/// none until the reply has come.
#[test]
fn one_pair_at_a_time() {
    let selection = selected(&LABEL.replace("every", "one"));
    let opening = Outgoing::opening(selection.controller(Setup::default())).expect("it probes");
    assert_eq!(Vec::from(opening.marks.1), [mark(PairMark::First, 0), mark(PairMark::Second, 0)]);
    let mut bridge = Bridge::new(|setup| selection.controller(setup)).with_partner(selection.partner());
    let mut offered = Vec::new();
    for event in exchange() {
        // Eight more segments of the initial window are on their way.
        let event = KernelEvent { snd_nxt: event.snd_una + 8 * MSS, ..event };
        bridge.on(&event);
        if let Some(block) = bridge.wrote(&event) {
            assert_eq!(block, Block::reported(&event));
        }
        // Number of the first block for data, and how many there are.
        offered.extend(
            bridge.take_outgoing().filter(|(key, _)| *key == 5).map(|(_, bytes)| (bytes[8], bytes[12])),
        );
    }
    // After each of the pair's segments; after the ACK with the reply; as the next segment leaves.
    assert_eq!(offered, [(1, 1), (2, 0), (2, 2), (2, 2)]);
}

/// A flow taken over counts its blocks from zero again, under a generation of its own.
#[test]
fn a_flow_taken_over_counts_anew() {
    let selection = selection();
    let mut bridge = Bridge::new(|setup| selection.controller(setup));
    bridge.on(&ack(7, 50_000_000));
    bridge.on(&about(kind::WROTE, 5, 51_000_000, 1234, &mark(PairMark::First, 99)));
    let (key, bytes) = bridge.take_outgoing().expect("prepared");
    let generation = u64::from_ne_bytes(std::array::from_fn(|index| bytes[index]));
    assert_eq!((key, generation, bytes[8], bytes[12]), (5, 50_000_000, 0, 16));
    let event = about(kind::WROTE, 5, 52_000_000, 0, &mark(PairMark::First, 0));
    let event = KernelEvent { number: generation, ..event };
    bridge.on(&event);
    assert_eq!(bridge.wrote(&event), Some(mark(PairMark::First, 0)));
}

/// Replies wait in a queue of eight; a session without a receiver's part answers nothing.
#[test]
fn more_replies_than_acks() {
    let selection = selection();
    let receiver = RECEIVER | 3;
    let mut bridge = Bridge::new(|setup| selection.controller(setup)).with_partner(selection.partner());
    for number in 0..12 {
        let block = mark(PairMark::First, number);
        bridge.on(&about(kind::ARRIVED, receiver, 1_000_000 * u64::from(number), 0, &block));
    }
    let (_, bytes) = bridge.take_outgoing().expect("a reply");
    // Number of the first, and count.
    assert_eq!((bytes[16], bytes[20]), (4, 8));
    let mut none = Bridge::new(|setup| selection.controller(setup)).with_partner(Partner::NONE);
    none.on(&about(kind::ARRIVED, receiver, 0, 0, &mark(PairMark::First, 0)));
    assert_eq!(none.take_outgoing(), None);
}
