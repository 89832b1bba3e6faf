use super::super::payload::Secrets;
use super::*;
use crate::packet::Codepoint;
use crate::plan::Name;
use crate::plan::{
    Arrivals, Flow, Protocol, QueueSize, ReceiveWindow, RecordPlan, Recovery, UdpPlan, graph, mbps, ms, s,
    tcp, wire,
};
use etherparse::TcpOptionElement;
use pcap_file::pcapng::{Block, PcapNgReader};
use proptest::prelude::*;
use selfclock_congestion::PeerOption;
use selfclock_congestion::option::{PacketPairKind, PacketPairOption, PairMark, QuickStartOption};
use selfclock_congestion::units::{Bytes, Time};

/// `a` —link 0→ `b`, `b` —link 1→ `a`; flow 0 is TCP, flow 1 is UDP.
fn plan(transport: Transport) -> Plan {
    let udp = UdpPlan::steady(Bytes(500), mbps(1), Arrivals::Constant);
    let mut plan = graph(&["a", "b"])
        .link("a", "b", wire(mbps(10), ms(5)).queue(QueueSize::Unlimited))
        .flow(tcp("reno").named("tcp").between("a", "b"))
        .flow(Flow::from(udp).named("udp").between("a", "b"))
        .named("two nodes")
        .duration(s(1))
        .seed(7)
        .record(RecordPlan { interval: None, packets: true, ..RecordPlan::NOTHING })
        .plan()
        .expect("a plan");
    // Any settings, also those that no connection has, and any record on either link.
    let Protocol::Tcp(tcp) = &mut plan.flows[0].protocol else { unreachable!("a TCP flow") };
    tcp.transport = transport;
    plan.flows[1].reverse = vec![1];
    plan
}

/// A full segment of the modern profile on link 0.
fn data() -> PacketRecord {
    PacketRecord {
        time: Time::from_picoseconds(1_234_567_890_123),
        event: PacketEvent::Transmit,
        link: 0,
        flow: 0,
        connection: 0,
        kind: PacketKind::Data,
        retransmission: false,
        ecn: Codepoint::NotEct,
        ece: false,
        cwr: false,
        marked: 0,
        packet: 0x1_0005,
        sequence: 1448,
        payload: 1448,
        size: 1500,
        acknowledgement: 0,
        receive_window: 0,
        timestamps: Some((17, 4)),
        sack: [(0, 0); MAXIMUM_SACK_BLOCKS],
        sack_blocks: 0,
        option: None,
        resource: None,
    }
}

/// An acknowledgement on link 1.
fn acknowledgement() -> PacketRecord {
    PacketRecord {
        link: 1,
        kind: PacketKind::Ack,
        sequence: 0,
        payload: 0,
        size: 52,
        acknowledgement: 2896,
        receive_window: 1 << 20,
        ..data()
    }
}

fn bytes(plan: &Plan, packets: &[PacketRecord], link: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, plan, packets.iter().copied(), &Payloads::default(), Tap::Link(link)).unwrap();
    bytes
}

struct Captured {
    nanoseconds: u128,
    original_length: u32,
    data: Vec<u8>,
}

impl Captured {
    fn ip(&self) -> Ipv4Header {
        let (header, _) = Ipv4Header::from_slice(&self.data).unwrap();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        header
    }

    /// The TCP header. Its checksum must be that of a payload of zeros.
    fn tcp(&self) -> TcpHeader {
        let ip = self.ip();
        assert_eq!(ip.protocol, IpNumber::TCP);
        let (header, rest) = TcpHeader::from_slice(&self.data[ip.header_len()..]).unwrap();
        assert!(rest.is_empty(), "payload is not stored");
        let zeros = vec![0; ip.total_len as usize - ip.header_len() - header.header_len()];
        assert_eq!(header.checksum, header.calc_checksum_ipv4(&ip, &zeros).unwrap());
        header
    }

    fn options(&self) -> Vec<TcpOptionElement> {
        let tcp = self.tcp();
        let known = |element: &Result<TcpOptionElement, _>| !matches!(element, Ok(TcpOptionElement::Noop));
        tcp.options_iterator().filter(known).map(|element| element.unwrap()).collect()
    }
}

/// The packets in a capture of `link`.
fn captured(plan: &Plan, packets: &[PacketRecord], link: usize) -> Vec<Captured> {
    let bytes = bytes(plan, packets, link);
    let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
    let mut found = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            assert!(packet.data.len() <= packet.original_len as usize);
            found.push(Captured {
                nanoseconds: packet.timestamp.as_nanos(),
                original_length: packet.original_len,
                data: packet.data.into_owned(),
            });
        }
    }
    found
}

fn one(plan: &Plan, packet: PacketRecord) -> Captured {
    let mut found = captured(plan, &[packet], packet.link as usize);
    assert_eq!(found.len(), 1);
    found.remove(0)
}

#[test]
fn file_says_where_it_comes_from() {
    let plan = plan(Transport::modern());
    let bytes = bytes(&plan, &[], 1);
    let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
    assert_eq!(
        reader.section().options,
        [
            SectionHeaderOption::Comment("scenario \"two nodes\", seed 7".into()),
            SectionHeaderOption::UserApplication(format!("selfclock {}", env!("CARGO_PKG_VERSION")).into()),
        ]
    );
    let interface = reader.next_block().unwrap().unwrap().into_owned();
    let Block::InterfaceDescription(interface) = interface else { panic!("{interface:?}") };
    assert_eq!(u32::from(interface.linktype), 101);
    assert_eq!(
        interface.options,
        [
            InterfaceDescriptionOption::IfName("b-a".into()),
            InterfaceDescriptionOption::IfSpeed(10_000_000),
            InterfaceDescriptionOption::IfTsResol(9),
        ]
    );
    let names = reader.next_block().unwrap().unwrap().into_owned();
    let Block::NameResolution(names) = names else { panic!("{names:?}") };
    let record = |ip: [u8; 4], name: &'static str| {
        Record::Ipv4(Ipv4Record { ip_addr: ip.to_vec().into(), names: vec![name.into()] })
    };
    assert_eq!(names.records, [record([10, 0, 0, 1], "a"), record([10, 0, 0, 2], "b")]);
    assert!(reader.next_block().is_none());
}

#[test]
fn data_segment() {
    let packet = one(&plan(Transport::modern()), data());
    assert_eq!(packet.nanoseconds, 1_234_567_890);
    assert_eq!((packet.data.len(), packet.original_length), (52, 1500));
    let ip = packet.ip();
    assert_eq!((ip.source, ip.destination), ([10, 0, 0, 1], [10, 0, 0, 2]));
    assert_eq!((ip.total_len, ip.identification, ip.dont_fragment), (1500, 5, true));
    let tcp = packet.tcp();
    assert_eq!((tcp.source_port, tcp.destination_port), (50_000, 40_000));
    assert_eq!((tcp.sequence_number, tcp.acknowledgment_number), (1449, 1));
    assert!(tcp.ack && !tcp.syn && !tcp.fin && !tcp.rst);
    assert_eq!(packet.options(), [TcpOptionElement::Timestamp(17, 4)]);
}

#[test]
fn acknowledgement_comes_back_with_sack_blocks_and_scaled_window() {
    let mut transport = Transport::modern();
    transport.receive_window = ReceiveWindow::Fixed(Bytes(1 << 20));
    let mut packet = acknowledgement();
    packet.sack[..3].copy_from_slice(&[(5792, 7240), (10_136, 11_584), (14_480, 15_928)]);
    packet.sack_blocks = 3;
    packet.receive_window = (1 << 20) - 1;
    let packet = one(&plan(transport), packet);
    let ip = packet.ip();
    assert_eq!((ip.source, ip.destination), ([10, 0, 0, 2], [10, 0, 0, 1]));
    assert_eq!((ip.total_len as usize, packet.original_length), (packet.data.len(), 80));
    let tcp = packet.tcp();
    assert_eq!((tcp.source_port, tcp.destination_port), (40_000, 50_000));
    assert_eq!((tcp.sequence_number, tcp.acknowledgment_number), (1, 2897));
    // 2^20 needs a shift of 5: 2^20 >> 4 is one more than the field holds.
    assert_eq!(tcp.window_size, 1 << 15);
    assert_eq!(
        packet.options(),
        [
            TcpOptionElement::Timestamp(17, 4),
            TcpOptionElement::SelectiveAcknowledgement(
                (5793, 7241),
                [Some((10_137, 11_585)), Some((14_481, 15_929)), None]
            ),
        ]
    );
}

#[test]
fn congestion_marks_stand_in_both_headers() {
    let transport = Transport { ecn: Ecn::Classic, ..Transport::modern() };
    let plan = plan(transport);
    let packet = one(&plan, PacketRecord { ecn: Codepoint::Ce, cwr: true, ..data() });
    assert_eq!(packet.ip().ecn, IpEcn::THREE);
    assert!(packet.tcp().cwr && !packet.tcp().ece);
    let packet = one(&plan, PacketRecord { ece: true, ..acknowledgement() });
    assert_eq!(packet.ip().ecn, IpEcn::ZERO);
    assert!(packet.tcp().ece && !packet.tcp().cwr);
    let syn = PacketRecord { kind: PacketKind::Syn, sequence: 0, payload: 0, size: 60, ..data() };
    let packet = one(&plan, syn);
    assert!(packet.tcp().ece && packet.tcp().cwr);
    let packet = one(&plan, PacketRecord { link: 1, kind: PacketKind::SynAck, ..syn });
    assert!(packet.tcp().ece && !packet.tcp().cwr);
}

#[test]
fn four_sack_blocks_fit_without_timestamps() {
    let mut packet = acknowledgement();
    packet.timestamps = None;
    packet.sack = [(10, 20), (30, 40), (50, 60), (70, 80)];
    packet.sack_blocks = 4;
    let packet = one(&plan(Transport::modern()), packet);
    let blocks = [Some((31, 41)), Some((51, 61)), Some((71, 81))];
    assert_eq!(packet.options(), [TcpOptionElement::SelectiveAcknowledgement((11, 21), blocks)]);
}

#[test]
fn handshake_negotiates_what_the_plan_says() {
    let transport = Transport::modern();
    let syn = PacketRecord { kind: PacketKind::Syn, sequence: 0, payload: 0, size: 60, ..data() };
    let answer = PacketRecord { link: 1, kind: PacketKind::SynAck, acknowledgement: 0, ..syn };
    let options = [
        TcpOptionElement::MaximumSegmentSize(1448),
        TcpOptionElement::SelectiveAcknowledgementPermitted,
        TcpOptionElement::Timestamp(17, 4),
        TcpOptionElement::WindowScale(10),
    ];
    let plan_modern = plan(transport.clone());
    let packet = one(&plan_modern, syn);
    let tcp = packet.tcp();
    assert!(tcp.syn && !tcp.ack);
    assert_eq!((tcp.sequence_number, tcp.acknowledgment_number, tcp.window_size), (0, 0, 65_160));
    assert_eq!(packet.options(), options);
    assert_eq!((packet.data.len(), packet.original_length), (60, 60));
    let packet = one(&plan_modern, answer);
    let tcp = packet.tcp();
    assert!(tcp.syn && tcp.ack);
    assert_eq!((tcp.sequence_number, tcp.acknowledgment_number), (0, 1));
    assert_eq!(packet.options(), options);

    let plain = Transport {
        mss: Bytes(536),
        recovery: Recovery::Reno,
        window_scaling: false,
        timestamps: false,
        receive_window: ReceiveWindow::Fixed(Bytes(8192)),
        ..transport.clone()
    };
    let bare = PacketRecord { timestamps: None, ..syn };
    let packet = one(&plan(plain.clone()), bare);
    assert_eq!(packet.options(), [TcpOptionElement::MaximumSegmentSize(536)]);
    assert_eq!(packet.tcp().window_size, 8192);

    let sack = Transport { recovery: Recovery::Sack, ..plain.clone() };
    let permitted = TcpOptionElement::SelectiveAcknowledgementPermitted;
    assert_eq!(one(&plan(sack), bare).options(), [TcpOptionElement::MaximumSegmentSize(536), permitted]);
    let timestamps = Transport { timestamps: true, ..plain };
    let zeros = TcpOptionElement::Timestamp(0, 0);
    assert_eq!(one(&plan(timestamps), bare).options(), [TcpOptionElement::MaximumSegmentSize(536), zeros]);
}

#[test]
fn the_option_of_the_algorithm_is_on_the_wire() {
    let option = PeerOption::PacketPair(PacketPairOption {
        kind: PacketPairKind::Six,
        mark: Some((PairMark::Second, 3)),
        reply: Some((3, 0x1234)),
    });
    let mut packet = acknowledgement();
    packet.option = Some(option);
    packet.sack = [(10, 20), (30, 40), (50, 60), (70, 80)];
    packet.sack_blocks = 4;
    let tcp = one(&plan(Transport::modern()), packet).tcp();
    assert_eq!(PeerOption::decode(tcp.options.as_slice()), Ok(Some(option)));
    // 12 bytes each for timestamps and the option leave room for one block.
    assert_eq!(tcp.options.as_slice().len(), 36);
    assert_eq!(&tcp.options.as_slice()[12..24], [1, 1, 5, 10, 0, 0, 0, 11, 0, 0, 0, 21]);
    assert_eq!(&tcp.options.as_slice()[24..], [6, 4, 2, 3, 1, 1, 6, 6, 3, 3, 0x12, 0x34]);
}

/// A Quick-Start Request stands in the IP header (RFC 4782, section 3.1), the answer in the TCP
/// header.
#[test]
fn quick_start_asks_in_the_ip_header() {
    let request = PeerOption::QuickStart(QuickStartOption::Request { rate: 5, ttl: 9, nonce: 77 });
    let mut packet = PacketRecord { kind: PacketKind::Syn, payload: 0, size: 48, ..data() };
    packet.option = Some(request);
    let captured = one(&plan(Transport::classic()), packet);
    assert_eq!(PeerOption::decode(captured.ip().options.as_slice()), Ok(Some(request)));
    assert_eq!(PeerOption::decode(captured.tcp().options.as_slice()), Ok(None));
    let response = QuickStartOption::Response { rate: 5, ttl_difference: 55, nonce: 77 };
    let mut packet = PacketRecord { kind: PacketKind::SynAck, ..acknowledgement() };
    packet.option = Some(PeerOption::QuickStart(response));
    let captured = one(&plan(Transport::classic()), packet);
    assert!(captured.ip().options.as_slice().is_empty());
    assert_eq!(PeerOption::decode(captured.tcp().options.as_slice()), Ok(packet.option));
}

#[test]
fn sequence_numbers_wrap() {
    let plan = plan(Transport::modern());
    let mut packet = data();
    packet.sequence = (1 << 32) - 1;
    assert_eq!(one(&plan, packet).tcp().sequence_number, 0);
    packet.sequence = (5 << 32) + 41;
    assert_eq!(one(&plan, packet).tcp().sequence_number, 42);
    let mut packet = acknowledgement();
    packet.acknowledgement = (1 << 32) + 9;
    assert_eq!(one(&plan, packet).tcp().acknowledgment_number, 10);
}

#[test]
fn window_saturates_and_is_rounded_up() {
    let field = |scaling, whole: u64, now: u64| {
        let mut transport = Transport::modern();
        transport.window_scaling = scaling;
        transport.receive_window = ReceiveWindow::Fixed(Bytes(whole));
        let packet = PacketRecord { receive_window: now, ..acknowledgement() };
        one(&plan(transport), packet).tcp().window_size
    };
    assert_eq!(field(true, u64::MAX, u64::MAX), 65_535);
    assert_eq!(field(true, u64::MAX, 1 << 14), 1);
    assert_eq!(field(true, u64::MAX, 1), 1);
    assert_eq!(field(true, u64::MAX, 0), 0);
    assert_eq!(field(true, 20_000, 20_000), 20_000);
    assert_eq!(field(true, 65_536, 65_536), 32_768);
    assert_eq!(field(false, 1 << 20, 1 << 20), 65_535);
}

#[test]
fn datagram() {
    let packet = PacketRecord {
        flow: 1,
        connection: 1,
        kind: PacketKind::Datagram,
        size: 500,
        payload: 472,
        timestamps: None,
        ..data()
    };
    let captured = one(&plan(Transport::modern()), packet);
    assert_eq!((captured.data.len(), captured.original_length), (28, 500));
    let ip = captured.ip();
    assert_eq!((ip.total_len, ip.protocol), (500, IpNumber::UDP));
    let (udp, rest) = UdpHeader::from_slice(&captured.data[20..]).unwrap();
    assert!(rest.is_empty());
    assert_eq!((udp.source_port, udp.destination_port, udp.length), (50_001, 40_000, 480));
    assert_eq!(udp.checksum, udp.calc_checksum_ipv4(&ip, &[0; 472]).unwrap());

    let lengths = |size| {
        let mut packet = packet;
        packet.size = size;
        let captured = one(&plan(Transport::modern()), packet);
        (captured.ip().total_len, captured.original_length)
    };
    assert_eq!(lengths(10), (28, 28));
    assert_eq!(lengths(90_000), (65_535, 90_000));
}

#[test]
fn lengths_where_the_plan_counts_other_headers() {
    let plan = plan(Transport::modern());
    let lengths = |size| {
        let packet = one(&plan, PacketRecord { size, ..data() });
        (packet.original_length, packet.ip().total_len)
    };
    assert_eq!(lengths(1448), (1500, 1500), "headers of 0 bytes");
    assert_eq!(lengths(1538), (1538, 1500), "Ethernet framing counted");
    let large = one(&plan, PacketRecord { payload: 100_000, size: 100_052, ..data() });
    let (ip, _) = Ipv4Header::from_slice(&large.data).unwrap();
    assert_eq!((large.original_length, ip.total_len), (100_052, 0));
}

#[test]
fn only_transmissions_of_the_link() {
    let at =
        |picoseconds, packet| PacketRecord { time: Time::from_picoseconds(picoseconds), packet, ..data() };
    let packets = [
        at(1000, 2),
        at(1000, 6),
        PacketRecord { event: PacketEvent::Enqueue, ..at(1500, 3) },
        PacketRecord { link: 1, ..at(1600, 4) },
        at(1999, 5),
        at(3000, 1),
    ];
    let found: Vec<_> = captured(&plan(Transport::modern()), &packets, 0)
        .iter()
        .map(|packet| (packet.nanoseconds, packet.ip().identification))
        .collect();
    assert_eq!(found, [(1, 2), (1, 6), (1, 5), (3, 1)]);
}

#[test]
fn addresses_and_ports_are_distinct_and_run_out_with_an_error() {
    assert_eq!(address(0).unwrap(), [10, 0, 0, 1]);
    assert_eq!(address(255).unwrap(), [10, 0, 1, 0]);
    assert_eq!(address((1 << 24) - 3).unwrap(), [10, 255, 255, 254]);
    assert!(address((1 << 24) - 2).is_err());
    assert!(address(usize::MAX).is_err());
    let ports: BTreeSet<_> =
        (0..100_000).map(|flow| (sender_port(flow), receiver_port(flow).unwrap())).collect();
    assert_eq!(ports.len(), 100_000);
    assert_eq!(receiver_port(SENDER_PORTS * RECEIVER_PORTS - 1).unwrap(), 49_151);
    assert!(receiver_port(SENDER_PORTS * RECEIVER_PORTS).is_err());
}

#[test]
fn records_of_another_plan_are_refused() {
    let plan = plan(Transport::modern());
    let refused = |packet: PacketRecord, link| {
        let error =
            write(&mut Vec::new(), &plan, [packet], &Payloads::default(), Tap::Link(link)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        error.to_string()
    };
    assert_eq!(refused(data(), 2), "no link 2: the plan has 2");
    assert_eq!(refused(PacketRecord { flow: 2, ..data() }, 0), "packet 65541 is of flow 2: the plan has 2");
    assert_eq!(
        refused(PacketRecord { flow: 1, ..data() }, 0),
        "packet 65541 of flow 1, which is UDP, is of kind data"
    );
}

#[test]
fn any_names_can_be_written() {
    let mut plan = plan(Transport::modern());
    plan.name = "é".repeat(100_000);
    plan.links[0].name = "x".repeat(100_000).into();
    plan.nodes = vec!["zero\0byte".into(), "ü".repeat(3_000).into()].into();
    assert_eq!(captured(&plan, &[data()], 0).len(), 1);
    plan.nodes = vec![Name::default()].into();
    assert_eq!(captured(&plan, &[data()], 0).len(), 1);
}

#[test]
fn a_failing_writer_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = write(&mut Full, &plan(Transport::modern()), [data()], &Payloads::default(), Tap::Link(0))
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

prop_compose! {
    fn any_option()(
        mark in proptest::option::of((any::<bool>(), any::<u8>())),
        reply in any::<Option<(u8, u16)>>(),
        kind in proptest::sample::select(
            &[PacketPairKind::Six, PacketPairKind::Kind253, PacketPairKind::Kind254][..]
        ),
    ) -> PeerOption {
        let mark = mark.map(|(first, id)| (if first { PairMark::First } else { PairMark::Second }, id));
        PeerOption::PacketPair(PacketPairOption { kind, mark, reply })
    }
}

prop_compose! {
    fn any_record()(
        time in any::<u64>(),
        event in prop_oneof![
            3 => Just(PacketEvent::Transmit),
            1 => proptest::sample::select(&PacketEvent::ALL[..]),
        ],
        (link, flow) in (0_u32..3, 0_u32..3),
        kind in proptest::sample::select(&PacketKind::ALL[..]),
        (packet, sequence, acknowledgement, receive_window) in any::<(u64, u64, u64, u64)>(),
        (payload, size) in prop_oneof![any::<(u32, u32)>(), (0_u32..3000, 0_u32..3000)],
        timestamps in any::<Option<(u32, u32)>>(),
        (sack, sack_blocks) in any::<([(u64, u64); MAXIMUM_SACK_BLOCKS], u8)>(),
        option in proptest::option::of(any_option()),
    ) -> PacketRecord {
        PacketRecord {
            time: Time::from_picoseconds(time),
            event,
            link,
            flow,
            connection: flow,
            kind,
            retransmission: false,
        ecn: Codepoint::NotEct,
        ece: false,
        cwr: false,
        marked: 0,
            packet,
            sequence,
            payload,
            size,
            acknowledgement,
            receive_window,
            timestamps,
            sack,
            sack_blocks,
            option,
            resource: None,
        }
    }
}

prop_compose! {
    fn any_transport()(
        (mss, receive_window, window_scaling, timestamps, sack) in any::<(u64, u64, bool, bool, bool)>(),
    ) -> Transport {
        Transport {
            mss: Bytes(mss),
            receive_window: ReceiveWindow::Fixed(Bytes(receive_window)),
            window_scaling,
            timestamps,
            recovery: if sack { Recovery::Sack } else { Recovery::NewReno },
            ..Transport::modern()
        }
    }
}

proptest! {
    #[test]
    fn any_record_is_refused_or_read_back(transport in any_transport(), packet in any_record()) {
        let plan = plan(transport);
        let mut file = Vec::new();
        if write(&mut file, &plan, [packet], &Payloads::default(), Tap::Link(packet.link as usize)).is_ok() {
            let found = captured(&plan, &[packet], packet.link as usize);
            prop_assert_eq!(found.len(), usize::from(packet.event == PacketEvent::Transmit));
            for one in found {
                prop_assert_eq!(one.nanoseconds, u128::from(packet.time.picoseconds() / 1000));
                prop_assert!(one.original_length >= packet.size);
                let (ip, rest) = Ipv4Header::from_slice(&one.data).unwrap();
                prop_assert_eq!(ip.header_checksum, ip.calc_header_checksum());
                if matches!(packet.kind, PacketKind::Datagram | PacketKind::Reply) {
                    prop_assert_eq!(rest.len(), UdpHeader::LEN);
                } else if packet.kind == PacketKind::ResourceDiscovery {
                    prop_assert_eq!((ip.protocol, rest.len()), (IpNumber(253), RESOURCE_DISCOVERY));
                } else {
                    let (tcp, rest) = TcpHeader::from_slice(rest).unwrap();
                    prop_assert!(rest.is_empty());
                    let option = packet.option.filter(|option| option.wire_length() > 0);
                    prop_assert_eq!(PeerOption::decode(tcp.options.as_slice()), Ok(option));
                }
            }
        }
    }
}

/// Interface, flags and the source in the IP header.
type Seen = (u32, u32, [u8; 4]);

/// Contents of a host's capture: the names of its interfaces, and each packet.
fn host(plan: &Plan, packets: &[PacketRecord], host: usize) -> (Vec<String>, Vec<Seen>) {
    let mut bytes = Vec::new();
    write(&mut bytes, plan, packets.iter().copied(), &Payloads::default(), Tap::Host(host)).unwrap();
    let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
    let (mut interfaces, mut found) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => {
                let name = interface.options.iter().find_map(|option| match option {
                    InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
                    _ => None,
                });
                interfaces.push(name.unwrap());
            }
            Block::EnhancedPacket(packet) => {
                let [EnhancedPacketOption::Flags(flags)] = packet.options[..] else { panic!("no flags") };
                let (ip, _) = Ipv4Header::from_slice(&packet.data).unwrap();
                found.push((packet.interface_id, flags, ip.source));
            }
            _ => {}
        }
    }
    (interfaces, found)
}

#[test]
fn a_host_has_both_directions_of_its_own_packets() {
    let plan = plan(Transport::modern());
    let event = |event, link, packet: PacketRecord| PacketRecord { event, link, ..packet };
    let packets = [
        event(PacketEvent::Send, u32::MAX, data()),
        event(PacketEvent::Transmit, 0, data()),
        event(PacketEvent::Deliver, u32::MAX, data()),
        event(PacketEvent::Transmit, 1, acknowledgement()),
        event(PacketEvent::Drop, 1, acknowledgement()),
        event(PacketEvent::Deliver, u32::MAX, acknowledgement()),
    ];
    let (a, b) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    // Flow 0 sends data on link 0 and its acknowledgements on link 1.
    let (names, found) = host(&plan, &packets, 0);
    assert_eq!(names, [plan.links[0].name.as_str()]);
    assert_eq!(found, [(0, OUTBOUND, a), (0, INBOUND, b)]);
    let (names, found) = host(&plan, &packets, 1);
    assert_eq!(names, [plan.links[1].name.as_str()]);
    assert_eq!(found, [(0, INBOUND, a), (0, OUTBOUND, b)]);
    assert!(write(&mut Vec::new(), &plan, packets, &Payloads::default(), Tap::Host(2)).is_err());
}

#[test]
fn a_host_with_two_neighbours_has_two_interfaces() {
    let plan = graph(&["a", "r", "b", "c"])
        .link("a", "r", wire(mbps(10), ms(5)))
        .link("r", "b", wire(mbps(10), ms(5)))
        .link("a", "c", wire(mbps(10), ms(5)))
        .flow(tcp("reno").named("there").between("a", "b"))
        .flow(tcp("reno").named("here").between("c", "a"))
        .duration(s(1))
        .plan()
        .expect("a plan");
    let [there, here] = &plan.flows[..] else { panic!("two flows") };
    let packets = [
        PacketRecord { event: PacketEvent::Transmit, link: there.forward[0] as u32, flow: 0, ..data() },
        // Forwarded by the router: no host's own.
        PacketRecord { event: PacketEvent::Transmit, link: there.forward[1] as u32, flow: 0, ..data() },
        PacketRecord { event: PacketEvent::Deliver, link: u32::MAX, flow: 1, connection: 1, ..data() },
        PacketRecord { link: here.reverse[0] as u32, flow: 1, connection: 1, ..acknowledgement() },
    ];
    let (names, found) = host(&plan, &packets, 0);
    assert_eq!(names, [there.forward[0], here.reverse[0]].map(|link| plan.links[link].name.clone()));
    let (a, c) = ([10, 0, 0, 1], [10, 0, 0, 4]);
    assert_eq!(found, [(0, OUTBOUND, a), (1, INBOUND, c), (1, OUTBOUND, a)]);
    assert_eq!(host(&plan, &packets, 1).1, []);
}

/// Secrets stand before the packets that need them, and not among those of another link. A packet
/// without payload on record has headers alone.
#[test]
fn payload_is_written_and_secrets_before_it() {
    let plan = plan(Transport::modern());
    let datagram = |packet: u64, microseconds: u64| PacketRecord {
        flow: 1,
        kind: PacketKind::Datagram,
        time: Time::from_picoseconds(microseconds * 1_000_000),
        packet,
        payload: 3,
        size: 31,
        ..data()
    };
    let mut payloads = Payloads::default();
    payloads.add(6, &[1, 2, 3]);
    for (flow, key_log) in [(1, "LABEL 00 01\n"), (9, "of no flow")] {
        payloads.add_secrets(Secrets {
            time: Time::from_picoseconds(2_000_000),
            flow,
            key_log: key_log.into(),
        });
    }
    let mut file = Vec::new();
    let packets = [datagram(5, 1), datagram(6, 2), datagram(7, 3)];
    write(&mut file, &plan, packets, &payloads, Tap::Link(0)).unwrap();

    let mut reader = PcapNgReader::new(&file[..]).unwrap();
    let mut found = Vec::new();
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::EnhancedPacket(packet) => {
                let udp = UdpHeader::from_slice(&packet.data[20..]).unwrap();
                let ip = Ipv4Header::from_slice(&packet.data).unwrap().0;
                let payload = if udp.1.is_empty() { &[0; 3] } else { udp.1 };
                assert_eq!(udp.0.checksum, udp.0.calc_checksum_ipv4(&ip, payload).unwrap());
                assert_eq!(packet.original_len, 31);
                found.push(udp.1.to_vec());
            }
            // As the format has it: "TLSK", the length, and the lines to a multiple of four bytes.
            Block::Unknown(block) if block.type_ == 10 => found.push(block.value.into_owned()),
            _ => {}
        }
    }
    let secrets = b"KSLT\x0c\0\0\0LABEL 00 01\n";
    assert_eq!(found, [&b""[..], secrets, &[1, 2, 3], b""]);
    payloads.forget(6);
    assert!(payloads.is_empty());
}
