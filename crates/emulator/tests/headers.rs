//! The emulator modifies only marks and windows in real headers.

mod common;

use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TcpOptionElement, TransportSlice};
use selfclock_congestion::parameter::Value;
use selfclock_congestion::units::{Bytes, Time};
use selfclock_emulator::{Emulation, Header, Host, Settings};
use selfclock_simulator::named::Named;
use selfclock_simulator::plan::{MechanismPlan, Plan, RouterPlan, dumbbell, mbps, ms, packets, s};
use std::net::{IpAddr, Ipv4Addr};

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];

/// A path whose routers write this window into ACKs on their way back.
fn plan(window: u64) -> Plan {
    let mut plan =
        dumbbell(mbps(10), ms(20)).queue(packets(50)).flow("reno").duration(s(10)).plan().expect("a plan");
    let mut mechanism = MechanismPlan::named("tampering").expect("it is listed");
    mechanism.set("receive_window", Value::Bytes(Bytes(window))).unwrap_or_else(|error| panic!("{error}"));
    let back = plan.flows[0].reverse[1];
    plan.routers = vec![RouterPlan { links: vec![back], mechanism }];
    plan
}

/// The client receives the plan's data: it acknowledges.
fn between(plan: &Plan) -> Emulation {
    let flow = &plan.flows[0];
    let host =
        |node: usize, address: [u8; 4]| Host::new(&plan.nodes[node], &[IpAddr::V4(Ipv4Addr::from(address))]);
    let hosts = vec![host(flow.to, CLIENT), host(flow.from, SERVER)];
    Emulation::new(plan, hosts, Settings::default()).expect("an emulation")
}

struct Sent {
    from_client: bool,
    syn: bool,
    scale: Option<u8>,
    window: u16,
}

fn segment(sent: &Sent) -> Vec<u8> {
    let (from, to) = if sent.from_client { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
    let (source, destination) = if sent.from_client { (4000, 80) } else { (80, 4000) };
    let mut tcp = PacketBuilder::ipv4(from, to, 64).tcp(source, destination, 77, sent.window);
    if sent.syn {
        tcp = tcp.syn();
    }
    if !sent.syn || !sent.from_client {
        tcp = tcp.ack(78);
    }
    let options: Vec<_> = sent.scale.map(TcpOptionElement::WindowScale).into_iter().collect();
    let mut bytes = Vec::new();
    tcp.options(&options).expect("they fit").write(&mut bytes, &[]).expect("a vector takes it");
    bytes
}

/// Sends the segments in turn, and returns each as it arrives.
fn cross(plan: &Plan, all: &[Sent]) -> Vec<Vec<u8>> {
    let mut emulation = between(plan);
    let mut arrived = Vec::new();
    let mut now = Time::ZERO;
    for sent in all {
        common::advance(&mut emulation, now, |_, _, bytes| arrived.push(bytes.to_vec()));
        emulation.send(now, usize::from(!sent.from_client), &segment(sent));
        now += ms(100);
    }
    common::advance(&mut emulation, now, |_, _, bytes| arrived.push(bytes.to_vec()));
    assert_eq!(arrived.len(), all.len());
    arrived
}

fn checksum_holds(packet: &[u8]) -> bool {
    let sliced = SlicedPacket::from_ip(packet).expect("a packet");
    let (Some(TransportSlice::Tcp(tcp)), Some(NetSlice::Ipv4(ip))) = (&sliced.transport, &sliced.net) else {
        return false;
    };
    let header = ip.header();
    tcp.calc_checksum_ipv4(header.source(), header.destination()) == Ok(tcp.checksum())
}

fn window_of(packet: &[u8]) -> u16 {
    Header::read(packet).and_then(|header| header.segment).expect("TCP").window
}

fn handshake(scales: [Option<u8>; 2]) -> [Sent; 2] {
    [
        Sent { from_client: true, syn: true, scale: scales[0], window: 64_000 },
        Sent { from_client: false, syn: true, scale: scales[1], window: 64_000 },
    ]
}

fn with_ack(scales: [Option<u8>; 2], window: u16) -> Vec<Sent> {
    let ack = Sent { from_client: true, syn: false, scale: None, window };
    handshake(scales).into_iter().chain([ack]).collect()
}

/// Both offered scaling, the client by 2^7: 30,000 bytes are 234 units, rounded down. SYNs have no
/// scaled window and stay as they are.
#[test]
fn a_router_writes_windows_in_units_of_the_scale() {
    let all = with_ack([Some(7), Some(2)], 500);
    let arrived = cross(&plan(30_000), &all);
    assert_eq!(arrived[..2], [segment(&all[0]), segment(&all[1])]);
    assert_eq!(window_of(&arrived[2]), 234);
    assert!(checksum_holds(&arrived[2]));
    let mut expected = segment(&all[2]);
    expected[34..38].copy_from_slice(&arrived[2][34..38]);
    assert_eq!(arrived[2], expected, "nothing but window and checksum has changed");
}

/// RFC 7323, section 1.3: scaling is on only if both have offered it.
#[test]
fn without_scaling_of_both_the_unit_is_a_byte() {
    for scales in [[Some(7), None], [None, Some(7)], [None, None]] {
        let arrived = cross(&plan(30_000), &with_ack(scales, 60_000));
        assert_eq!(window_of(&arrived[2]), 30_000, "{scales:?}");
    }
}

#[test]
fn a_window_is_never_raised_and_not_rounded_to_nothing() {
    let arrived = cross(&plan(30_000), &with_ack([Some(7), Some(7)], 100));
    assert_eq!(window_of(&arrived[2]), 100, "12,800 bytes are less than the router allows");
    let arrived = cross(&plan(5), &with_ack([Some(7), Some(7)], 100));
    assert_eq!(window_of(&arrived[2]), 1, "5 bytes are not a closed window");
    let arrived = cross(&plan(0), &with_ack([Some(7), Some(7)], 100));
    assert_eq!(window_of(&arrived[2]), 0, "a closed window is");
}

/// For a connection older than the emulation the scale is unknown.
#[test]
fn without_its_syns_a_connection_is_left_alone() {
    let all = [Sent { from_client: true, syn: false, scale: None, window: 500 }];
    assert_eq!(cross(&plan(30_000), &all), [segment(&all[0])]);
}
