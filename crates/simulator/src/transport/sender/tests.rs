//! A single sender, ACK by ACK. Segments are numbered from 0 and have 1000 bytes.

use super::*;
use crate::engine::EventQueue;
use crate::network::{Hosts, Network};
use crate::packet::{Extra, Flags, NO_EXTRA, Packet};
use crate::plan::{
    Flow, QueueSize, ReceiveWindow, RecordPlan, Recovery, RttSamples, Source, Transport, gbps, graph, ms, s,
    wire,
};
use crate::record::packets::{PacketEvent, PacketRecord};
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::Rate;

pub(super) const MSS: u64 = 1000;

pub(super) struct Rig {
    events: EventQueue,
    network: Network,
    pub(super) sender: Sender,
    reported: usize,
    /// Feedback in ACKs.
    pub(super) flags: Flags,
    pub(super) marked: u32,
    pub(super) echo: Time,
}

impl Rig {
    /// A sender that starts at time 0.
    fn new(source: Source, transport: Transport) -> Self {
        Self::with(Selection::default(), source, transport)
    }

    /// The same with another congestion control.
    pub(super) fn with(control: Selection, source: Source, transport: Transport) -> Self {
        let plan = graph(&["a", "b"])
            .link("a", "b", wire(gbps(1000), ms(10)).queue(QueueSize::Unlimited))
            .flow(Flow::from(control).source(source).transport(transport).between("a", "b"))
            .duration(s(100))
            .record(RecordPlan { interval: None, packets: true, ..RecordPlan::NOTHING })
            .plan()
            .expect("a plan");
        let tcp = plan.flows[0].protocol.tcp().expect("a TCP flow");
        let network = Network::new(&plan, Hosts::Simulated);
        let routes = network.flow_routes.clone();
        let sender = Sender::new(0, routes[0], tcp, (Time::ZERO, Time::NEVER), 0, None);
        let mut rig = Self {
            events: EventQueue::default(),
            network,
            sender,
            reported: 0,
            flags: Flags::NONE,
            marked: 0,
            echo: Time::NEVER,
        };
        let Self { events, network, sender, .. } = &mut rig;
        sender.schedule_start(&mut Context { now: Time::ZERO, events, network }, Time::ZERO);
        rig.run_until(0);
        rig
    }

    /// Runs the sender's timers without ACKs.
    pub(super) fn run_until(&mut self, milliseconds: u64) {
        self.run_until_time(Time::ZERO + Duration::from_milliseconds(milliseconds));
    }

    /// The same until this time.
    pub(super) fn run_until_time(&mut self, until: Time) {
        while let Some(event) = self.events.peek()
            && event.time <= until
        {
            let Self { events, network, sender, .. } = self;
            if let Target::Packets(lane) = event.target {
                let packet = network.take_first(events, lane);
                network.arrive(events, &packet);
                continue;
            }
            events.pop();
            let mut context = Context { now: event.time, events, network };
            sender.on_timer(&mut context, event.target);
        }
    }

    /// A packet arrives at this time, up to this byte, with an out-of-line part only if needed.
    pub(super) fn arrive(&mut self, milliseconds: u64, kind: PacketKind, byte: u64, extra: Option<Extra>) {
        self.arrive_at(Time::ZERO + Duration::from_milliseconds(milliseconds), kind, byte, extra);
    }

    /// The same at this time.
    pub(super) fn arrive_at(&mut self, now: Time, kind: PacketKind, byte: u64, extra: Option<Extra>) {
        self.run_until_time(now);
        let Self { events, network, sender, .. } = self;
        let packet = Packet {
            arrival: now,
            order: 0,
            sequence: byte,
            sent: now,
            echo: self.echo,
            flow: 0,
            hop: 0,
            payload: self.marked,
            size: 40,
            kind,
            flags: self.flags,
            extra: extra.map_or(NO_EXTRA, |extra| network.extras.put(extra)),
            number: 0,
        };
        sender.on_packet(&mut Context { now, events, network }, &packet);
    }

    pub(super) fn answer(&mut self, milliseconds: u64, kind: PacketKind, next: u64, sack: &[(u64, u64)]) {
        let mut parts = Extra { sack_blocks: sack.len() as u8, ..Extra::default() };
        for (block, &(first, end)) in parts.sack.iter_mut().zip(sack) {
            *block = (first * MSS, end * MSS);
        }
        self.arrive(milliseconds, kind, next * MSS, (!sack.is_empty()).then_some(parts));
    }

    /// An ACK arrives at this time that expects segment `next` and reports the segments from the
    /// first number of each pair to before the second.
    pub(super) fn ack(&mut self, milliseconds: u64, next: u64, sack: &[(u64, u64)]) {
        self.answer(milliseconds, PacketKind::Ack, next, sack);
    }

    /// An ACK up to this byte, with a window of zero.
    pub(super) fn close_window(&mut self, milliseconds: u64, byte: u64) {
        let extra = Extra { receive_window: Some(0), ..Extra::default() };
        self.arrive(milliseconds, PacketKind::Ack, byte, Some(extra));
    }

    /// The application of a script has written this many bytes so far, the last of them now.
    pub(super) fn write_up_to(&mut self, now: Time, bytes: u64) {
        self.run_until_time(now);
        let Self { events, network, sender, .. } = self;
        sender.application.write_up_to(bytes);
        sender.send(&mut Context { now, events, network }, Opportunity::Application);
    }

    /// When the next event is due.
    pub(super) fn next_event(&mut self) -> Option<Time> {
        self.events.peek().map(|event| event.time)
    }

    /// Every packet event so far.
    pub(super) fn records(&self) -> Vec<PacketRecord> {
        self.network.recorder.clone().expect("packets are recorded").finish().iter().collect()
    }

    /// The segments sent since the last call.
    pub(super) fn sent(&mut self) -> Vec<u64> {
        let records = self.network.recorder.clone().expect("packets are recorded").finish();
        let sent: Vec<u64> = records
            .iter()
            .filter(|record| record.event == PacketEvent::Send && record.kind == PacketKind::Data)
            .map(|record| record.sequence / MSS)
            .collect();
        let new = sent[self.reported..].to_vec();
        self.reported = sent.len();
        new
    }

    /// In segments.
    pub(super) fn cwnd(&self) -> f64 {
        self.sender.controller().snapshot().cwnd_segments
    }

    /// In segments.
    pub(super) fn ssthresh(&self) -> f64 {
        self.sender.controller().snapshot().ssthresh_segments
    }
}

/// Without handshake, timestamps, Limited Transmit and proportional rate reduction.
pub(super) fn transport(recovery: Recovery, initial_window: f64) -> Transport {
    Transport {
        mss: Bytes(MSS),
        recovery,
        prr: false,
        handshake: false,
        timestamps: false,
        limited_transmit: false,
        initial_window,
        // The rig's ACKs show no window.
        receive_window: ReceiveWindow::UNLIMITED,
        ..Transport::modern()
    }
}

/// Savage et al., section 2.2: a receiver that repeats an ACK arbitrarily often. Each repetition
/// used to release one more segment, without end; of twenty outstanding segments at most nineteen
/// can have arrived beyond a gap (RFC 5681, section 3.2).
#[test]
fn made_up_duplicate_acknowledgements_inflate_no_further_than_what_was_outstanding() {
    let mut rig = Rig::new(Source::Bulk, transport(Recovery::NewReno, 20.0));
    assert_eq!(rig.sent(), up_to(20));
    for time in 100..300 {
        rig.ack(time, 0, &[]);
    }
    // Half of the window of 20 and 20 for possible arrivals, less the 20 outstanding: ten, beside
    // the retransmission.
    assert_eq!(rig.sent(), std::iter::once(0).chain(20..30).collect::<Vec<u64>>());
}

/// And since each ACK of the segments that were never missing looks like a partial one, another set
/// of repetitions must not count before a round trip has passed, which an honest partial ACK takes.
#[test]
fn partial_acknowledgements_within_a_round_trip_allow_no_more_repetitions() {
    let mut rig = Rig::new(Source::Bulk, transport(Recovery::NewReno, 20.0));
    rig.ack(100, 1, &[]);
    let before = rig.sent().len();
    for next in 1..15 {
        for _ in 0..40 {
            rig.ack(101 + next, next, &[]);
        }
    }
    // ssthresh is 10. 21 were outstanding at the beginning; each partial ACK deflates by its
    // segment and adds one back, so that it releases the segment that it retransmits.
    let new = rig.sent().iter().filter(|&&segment| segment >= 22).count();
    assert!(new <= 21 - 10 + 14, "{new} new segments after {before}");
}

#[test]
fn only_a_syn_that_is_sent_again_is_a_retransmission() {
    let mut rig = Rig::new(Source::Bulk, Transport { handshake: true, ..transport(Recovery::Sack, 2.0) });
    rig.run_until(10_000);
    let records = rig.network.recorder.clone().expect("packets are recorded").finish();
    let sent = records.iter().filter(|record| record.event == PacketEvent::Send);
    let again: Vec<bool> = sent
        .inspect(|record| assert_eq!(record.kind, PacketKind::Syn))
        .map(|record| record.retransmission)
        .collect();
    // After 1, 2, 3, 4, 5 and 7 s (Linux: `tcp_syn_linear_timeouts`).
    assert_eq!(again, [false, true, true, true, true, true, true]);
}

/// Two segments make a pair if window and available data have room for both; one and a half is no
/// room.
#[test]
fn a_pair_needs_room_for_both_of_its_segments() {
    for (window, bytes, sent) in [
        (1.5, u64::MAX, 1),
        (2.0, u64::MAX, 2),
        (3.5, u64::MAX, 3),
        (4.0, 1500, 2),
        (4.0, 2000, 2),
        (4.0, 3500, 4),
    ] {
        let source = if bytes == u64::MAX { Source::Bulk } else { Source::Size(Bytes(bytes)) };
        let control = Selection::new("packet-pair", "reno").expect("known names");
        let mut rig = Rig::with(control, source, transport(Recovery::Sack, window));
        assert_eq!(rig.sent(), up_to(sent), "a window of {window}, {bytes} bytes");
        assert!(
            rig.sender.recovery.next() <= bytes,
            "a window of {window}, {bytes} bytes: {} are sent",
            rig.sender.recovery.next()
        );
    }
}

/// A closed window is probed only while there is something to send.
#[test]
fn a_closed_window_is_not_probed_by_who_has_nothing_to_send() {
    let mut rig = Rig::new(Source::Size(Bytes(2 * MSS)), transport(Recovery::Sack, 4.0));
    rig.close_window(100, 2 * MSS);
    assert!(!rig.sender.retransmission_timer.is_set());
}

/// Found by a router that closes the window: the probes of a closed window came at a constant
/// interval as long as they were acknowledged, because each ACK ended the timer's backoff. "SHOULD
/// increase exponentially the interval between successive probes" (RFC 9293, section 3.8.6.1).
#[test]
fn probes_of_a_closed_window_become_rarer() {
    let mut rig = Rig::new(Source::Bulk, transport(Recovery::Sack, 2.0));
    assert_eq!(rig.sent(), [0, 1]);
    let mut probes = Vec::new();
    let mut acknowledged = 2 * MSS;
    rig.close_window(100, acknowledged);
    for time in 101..20_000 {
        rig.run_until(time);
        if !rig.sent().is_empty() {
            probes.push(time);
            // One byte, acknowledged 100 ms later.
            acknowledged += 1;
            rig.close_window(time + 100, acknowledged);
        }
    }
    let gaps: Vec<u64> = probes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() >= 4 && gaps.windows(2).all(|pair| pair[1] > pair[0] * 3 / 2), "{probes:?}");
}

fn up_to(end: u64) -> Vec<u64> {
    (0..end).collect()
}

/// RFC 6582, section 3.2: a partial ACK deflates the window by the amount it acknowledges. Most
/// duplicate ACKs are lost here, so that this exceeds the inflation. The sender used to stop at
/// ssthresh (10), and sent two new segments beyond eight of unknown fate.
#[test]
fn a_partial_acknowledgement_deflates_below_ssthresh() {
    let mut rig = Rig::new(Source::Bulk, transport(Recovery::NewReno, 20.0));
    assert_eq!(rig.sent(), up_to(20));
    for time in [100, 101, 102] {
        rig.ack(time, 0, &[]);
    }
    assert_eq!(rig.sent(), [0]);
    // 10 + 3 - 12 + 1 = 2, and 8 are outstanding.
    rig.ack(200, 12, &[]);
    assert_eq!(rig.sent(), [12]);
    // All of them arrived: ssthresh again.
    rig.ack(300, 20, &[]);
    assert_eq!(rig.sent(), (20..30).collect::<Vec<_>>());
}

/// RFC 3042 allows previously unsent data on the first two duplicate ACKs. After a timeout the
/// sender used to retransmit a segment on each, beyond the window of slow start.
#[test]
fn limited_transmit_sends_nothing_again() {
    let settings = Transport { limited_transmit: true, undo: false, ..transport(Recovery::Reno, 4.0) };
    let mut rig = Rig::new(Source::Bulk, settings.clone());
    assert_eq!(rig.sent(), up_to(4));
    rig.run_until(1000);
    assert_eq!(rig.sent(), [0]);
    rig.ack(1100, 0, &[]);
    rig.ack(1101, 0, &[]);
    assert!(rig.sent().is_empty());
    rig.ack(1102, 1, &[]);
    assert_eq!(rig.sent(), [1, 2]);
    // Without pending retransmissions, it does send.
    let mut rig = Rig::new(Source::Bulk, settings);
    rig.ack(100, 0, &[]);
    rig.ack(101, 0, &[]);
    assert_eq!(rig.sent(), up_to(6));
}

/// An ACK of two segments: the timer's sample is of the older, the congestion control's of the
/// newer; the shorter handshake RTT is only in the timer's, and is the minimum as long as there is
/// no other.
#[test]
fn the_timer_and_the_congestion_control_have_samples_of_their_own() {
    for (samples, srtt_ms) in [(RttSamples::EverySegment, 200.0), (RttSamples::OneAtATime, 100.0)] {
        let mut settings = transport(Recovery::Sack, 1.0);
        settings.timer.samples = samples;
        let mut rig = Rig::new(Source::Bulk, settings);
        // Segment 0 left at 0 and is acknowledged at 100 ms; 1 and 2 leave, and 3 when 1 is
        // acknowledged, at 200 ms, ...
        rig.ack(100, 1, &[]);
        assert_eq!(rig.sender.minimum_rtt(), Some(Duration::from_milliseconds(100)));
        rig.ack(200, 2, &[]);
        // ... 2, of 100 ms, and 3, of 200 ms, are acknowledged together at 300 ms.
        rig.ack(300, 4, &[]);
        assert_eq!(rig.sender.minimum_rtt(), Some(Duration::from_milliseconds(100)));
        let (mut srtt, mut expected) = (100.0, 100.0);
        for sample in [100.0, srtt_ms] {
            expected = srtt + (sample - srtt) / 8.0;
            srtt = expected;
        }
        let found = rig.sender.estimators.rtt.smoothed().expect("samples").seconds() * 1e3;
        assert!((found - expected).abs() < 1e-6, "{samples:?}: {found} against {expected}");
        assert_eq!(rig.sender.rtt_samples().mean_seconds(), Some(0.1), "{samples:?}");
    }
}

/// Karn: with one segment timed at a time, a segment first sent during recovery, lost, and
/// retransmitted in the same recovery, used to give a sample that began at its first transmission.
#[test]
fn a_timed_segment_that_is_sent_again_gives_no_sample() {
    let mut settings = transport(Recovery::Sack, 10.0);
    settings.timer.samples = RttSamples::OneAtATime;
    let mut rig = Rig::new(Source::Bulk, settings);
    for end in 2..=10 {
        rig.ack(100 + end, 0, &[(1, end)]);
    }
    rig.sent();
    // Recovery from segment 0 has sent 10 to 13, of which 10 is timed; it is lost.
    assert!(rig.sender.estimators.timed.is_some_and(|(end, _)| end == 11 * MSS));
    for end in 12..=14 {
        rig.ack(200 + end, 0, &[(11, end), (1, 10)]);
    }
    assert!(rig.sent().contains(&10));
    rig.ack(300, 14, &[]);
    assert_eq!(rig.sender.minimum_rtt(), None);
}

/// RFC 6298, rule 5.7: after a lost SYN the timer starts data transmission at 3 s. It used to
/// continue with the doubled 1 s.
#[test]
fn a_lost_syn_makes_the_first_timeout_three_seconds() {
    let mut rig = Rig::new(Source::Bulk, Transport { handshake: true, ..transport(Recovery::Reno, 4.0) });
    rig.run_until(1050);
    rig.answer(1100, PacketKind::SynAck, 0, &[]);
    assert_eq!(rig.sent(), up_to(4), "one timeout leaves the initial window");
    rig.run_until(4099);
    assert!(rig.sent().is_empty());
    rig.run_until(4100);
    assert_eq!(rig.sent(), [0]);
}

/// RFC 6675, sections 2 and 5: an ACK that advances and reports three segments above a gap shows a
/// loss, and begins a recovery with half the window: what the ACK acknowledges was in flight. The
/// sender used to fill the gap without reducing its window.
#[test]
fn a_loss_told_by_a_new_acknowledgement_begins_a_recovery() {
    let mut rig = Rig::new(Source::Bulk, transport(Recovery::Sack, 20.0));
    assert_eq!(rig.sent(), up_to(20));
    rig.ack(100, 5, &[(6, 10)]);
    assert_eq!(rig.sent(), [5]);
    assert_eq!((rig.sender.totals.fast_retransmits, rig.ssthresh()), (1, 10.0));
}

/// The same at the end of a recovery, when data sent during it was lost.
#[test]
fn a_loss_known_at_the_end_of_a_recovery_begins_another() {
    let mut rig = Rig::new(Source::Bulk, transport(Recovery::Sack, 10.0));
    for end in 2..=10 {
        rig.ack(100 + end, 0, &[(1, end)]);
    }
    assert_eq!(rig.sent(), [(0..10).collect::<Vec<_>>(), (0..1).collect(), (10..14).collect()].concat());
    rig.ack(200, 10, &[(11, 14)]);
    assert_eq!(rig.sent().first(), Some(&10));
    assert_eq!(rig.sender.totals.fast_retransmits, 2);
}

/// After a timeout with SACK no new recovery begins until everything outstanding then is
/// acknowledged (RFC 6675, section 5.1).
#[test]
fn no_recovery_below_the_recovery_point() {
    let mut rig = Rig::new(Source::Bulk, Transport { undo: false, ..transport(Recovery::Sack, 8.0) });
    rig.run_until(1000);
    assert_eq!(rig.sent(), [up_to(8), vec![0]].concat());
    for end in [3, 4, 5] {
        rig.ack(1100, 1, &[(2, end)]);
    }
    assert_eq!(rig.sender.totals.fast_retransmits, 0);
    assert_eq!(rig.sent(), [1, 3, 4, 5]);
}

/// RFC 5681, section 3.2: FlightSize excludes only segments sent by Limited Transmit. Data that the
/// application wrote between duplicate ACKs and that fitted the window used to be excluded, too.
#[test]
fn limited_transmit_is_what_the_window_would_not_have_let_go() {
    let settings = Transport { limited_transmit: true, ..transport(Recovery::Reno, 20.0) };
    // A segment every 10 ms.
    let mut rig = Rig::new(Source::Rate(Rate::from_bits_per_second(800_000)), settings.clone());
    rig.ack(99, 0, &[]);
    rig.ack(149, 0, &[]);
    let before = rig.sent().len();
    rig.ack(150, 0, &[]);
    assert!(before >= 14, "{before}");
    assert!((rig.ssthresh() * 2.0 - before as f64).abs() <= 1.0, "{} of {before}", rig.ssthresh());
    // A bulk sender's two segments are excluded.
    let mut rig = Rig::new(Source::Bulk, settings);
    for time in [100, 101, 102] {
        rig.ack(time, 0, &[]);
    }
    assert_eq!(rig.ssthresh(), 10.0);
}

/// Floyd 1994: Reno without a memory of earlier responses cuts its window once for every loss of
/// one window of data; RFC 6582's "recover" allows one cut.
#[test]
fn one_recovery_per_window_or_one_per_loss() {
    for (one_recovery_per_window, recoveries, ssthresh) in [(true, 1, 10.0), (false, 2, 5.0)] {
        let settings = Transport { one_recovery_per_window, ..transport(Recovery::Reno, 20.0) };
        let mut rig = Rig::new(Source::Bulk, settings);
        // Segments 0 and 10 of 20 are lost.
        for time in 100..103 {
            rig.ack(time, 0, &[]);
        }
        rig.ack(110, 10, &[]);
        for time in 111..114 {
            rig.ack(time, 10, &[]);
        }
        assert_eq!(rig.sender.totals.fast_retransmits, recoveries);
        assert_eq!(rig.ssthresh(), ssthresh);
    }
}

/// In Linux the ACK that ends a recovery is one of congestion avoidance: the window grows by what
/// it newly delivers, one segment here (`tcp_ack`: `tcp_fastretrans_alert`, then
/// `tcp_cong_control`). RFC 6675 does not say; without RACK the ACK belongs to the recovery.
#[test]
fn the_ack_that_ends_a_recovery_grows_the_window() {
    for (recovery, window) in [(Recovery::Sack, 10.0), (Recovery::Rack, 10.1)] {
        let mut rig = Rig::new(Source::Bulk, transport(recovery, 20.0));
        rig.ack(100, 0, &[(1, 20)]);
        assert_eq!(rig.ssthresh(), 10.0);
        rig.ack(200, 20, &[]);
        let grown = rig.sender.controller().snapshot().cwnd_segments;
        assert!((grown - window).abs() < 1e-9, "{recovery:?}: {grown}");
    }
}

/// RFC 3168, section 6.1.2: one reduction per window of data whatever the number of ACKs that echo
/// the mark, announced by CWR on the next new segment, and no growth on those ACKs.
#[test]
fn marks_reduce_the_window_once_per_window_of_data() {
    let mut rig = Rig::new(Source::Bulk, Transport { ecn: Ecn::Classic, ..transport(Recovery::Sack, 20.0) });
    rig.flags = Flags::ECE;
    rig.ack(100, 1, &[]);
    assert_eq!(rig.sender.controller().snapshot().cwnd_segments, 10.0);
    for next in 2..=20 {
        rig.ack(100 + next, next, &[]);
    }
    assert_eq!(rig.sender.controller().snapshot().cwnd_segments, 10.0);
    rig.ack(121, 21, &[]);
    assert!(rig.ssthresh() < 10.0, "the window after it");
    let records = rig.network.recorder.clone().expect("packets are recorded").finish();
    let announced: Vec<u64> = records
        .iter()
        .filter(|record| record.event == PacketEvent::Send && record.cwr)
        .map(|record| record.sequence / MSS)
        .collect();
    assert_eq!(announced[0], 20);
    assert!(announced.len() <= 2);
}

/// The same section: a loss and a mark in one window of data reduce it once.
#[test]
fn a_loss_beside_a_mark_reduces_no_further() {
    let mut rig = Rig::new(Source::Bulk, Transport { ecn: Ecn::Classic, ..transport(Recovery::Sack, 20.0) });
    rig.flags = Flags::ECE;
    rig.ack(100, 1, &[]);
    for end in 3..=6 {
        rig.ack(101, 1, &[(2, end)]);
    }
    assert_eq!((rig.sender.totals.fast_retransmits, rig.ssthresh()), (1, 10.0));
    // The reverse order.
    let mut rig = Rig::new(Source::Bulk, Transport { ecn: Ecn::Classic, ..transport(Recovery::Sack, 20.0) });
    for end in 2..=5 {
        rig.ack(100, 0, &[(1, end)]);
    }
    rig.flags = Flags::ECE;
    rig.ack(102, 5, &[]);
    rig.ack(103, 6, &[]);
    assert_eq!((rig.sender.totals.fast_retransmits, rig.ssthresh()), (1, 10.0));
}

/// A count on a duplicate ACK without other information is not lost: the next ACK reports it.
#[test]
fn marked_bytes_are_reported_once() {
    let mut rig = Rig::new(Source::Bulk, Transport { ecn: Ecn::Accurate, ..transport(Recovery::Sack, 20.0) });
    rig.marked = 3000;
    rig.ack(100, 0, &[]);
    assert_eq!((rig.sender.estimators.newly_marked, rig.ssthresh()), (3000, 10.0));
    rig.ack(101, 1, &[]);
    assert_eq!((rig.sender.estimators.newly_marked, rig.sender.estimators.marked_seen), (0, 3000));
    // A reordered ACK with an older count.
    rig.marked = 1000;
    rig.ack(102, 2, &[]);
    assert_eq!((rig.sender.estimators.newly_marked, rig.sender.estimators.marked_seen), (0, 3000));
}

/// RFC 8985, section 7: the last segment of a transfer is lost. Two smoothed RTTs and 200 ms for a
/// delayed ACK later it is retransmitted, at the latest when the retransmission timer expires, in
/// whose place it leaves (Linux, `tcp_schedule_loss_probe`).
#[test]
fn a_lost_tail_is_probed() {
    let source = Source::Size(Bytes(4 * MSS));
    let mut rig = Rig::new(source, transport(Recovery::Rack, 4.0));
    rig.ack(100, 3, &[]);
    assert_eq!(rig.sent(), up_to(4));
    // SRTT 100 ms, 200 ms of delay: 400 ms. The retransmission timer would be at 400 ms.
    rig.run_until(399);
    assert!(rig.sent().is_empty());
    rig.run_until(400);
    assert_eq!(rig.sent(), [3]);
    rig.ack(500, 4, &[]);
    assert_eq!((rig.sender.totals.timeouts, rig.sender.completed().is_some()), (0, true));
}

/// With new data the probe is new data, beyond the window; SACKed, it shows that the segments
/// before it were lost.
#[test]
fn a_probe_of_new_data_shows_a_lost_flight() {
    let mut rig = Rig::new(Source::Bulk, transport(Recovery::Rack, 4.0));
    rig.ack(100, 4, &[]);
    assert_eq!(rig.sent(), up_to(12), "slow start: four segments acknowledged at once add four");
    rig.run_until(302);
    assert_eq!(rig.sent(), [12]);
    rig.ack(402, 4, &[(12, 13)]);
    // The whole flight was sent 200 ms before the probe, and the reordering window is 25 ms.
    assert_eq!(rig.sent()[..2], [4, 5]);
    assert_eq!((rig.sender.totals.timeouts, rig.sender.totals.fast_retransmits), (0, 1));
}

/// "PTO = 1 second" without an RTT sample, and never beyond the retransmission timer, which is then
/// a timeout later.
#[test]
fn a_probe_comes_before_the_first_timeout() {
    let mut rig = Rig::new(Source::Size(Bytes(2 * MSS)), transport(Recovery::Rack, 4.0));
    rig.run_until(1000);
    assert_eq!((rig.sent(), rig.sender.totals.timeouts), (vec![0, 1, 1], 0));
    rig.run_until(1999);
    assert!(rig.sent().is_empty());
    rig.run_until(2000);
    assert_eq!(rig.sender.totals.timeouts, 1);
    assert_eq!(rig.sent(), [0]);
}

/// Section 7.4: a probe that recovered a loss costs as much as a loss; one whose segment arrived
/// twice costs nothing.
#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window() {
    for (arrived_twice, reduced) in [(true, false), (false, true)] {
        let mut rig =
            Rig::new(Source::Rate(Rate::from_bits_per_second(16_000)), transport(Recovery::Rack, 10.0));
        // A segment each 500 ms.
        rig.ack(100, 1, &[]);
        rig.run_until(900);
        assert_eq!(rig.sent(), [0, 1, 1], "sent at 500 ms, probed at 740 ms");
        rig.ack(910, 2, &[]);
        if arrived_twice {
            rig.ack(920, 2, &[]);
        }
        rig.ack(1100, 3, &[]);
        assert_eq!(rig.ssthresh().is_finite(), reduced);
    }
}

/// Cases that RFC 6675 leaves to the retransmission timer, including a lost retransmission.
#[test]
fn a_lost_retransmission_needs_no_timeout() {
    let mut rig = Rig::new(Source::Bulk, transport(Recovery::Rack, 10.0));
    rig.sent();
    rig.ack(100, 0, &[(1, 4)]);
    assert_eq!(rig.sent(), [0]);
    for end in 5..=10 {
        rig.ack(100 + end, 0, &[(1, end)]);
    }
    let new = rig.sent();
    assert_eq!(new.first(), Some(&10));
    rig.ack(210, 0, &[(1, 11)]);
    assert_eq!(rig.sent().first(), Some(&0));
    // "The loss of a retransmission, should be taken as two indications of congestion" (RFC 5681,
    // section 4.3): without proportional rate reduction there are two.
    assert_eq!((rig.sender.totals.timeouts, rig.sender.totals.fast_retransmits), (0, 2));
}

/// One segment SACKed above a gap: a quarter of the smallest round-trip time for reordering, then
/// it is lost.
#[test]
fn the_reordering_timer_finds_a_loss() {
    let mut rig = Rig::new(Source::Size(Bytes(3 * MSS)), transport(Recovery::Rack, 10.0));
    rig.ack(100, 1, &[]);
    rig.sent();
    rig.ack(101, 1, &[(2, 3)]);
    rig.run_until(125);
    assert!(rig.sent().is_empty());
    rig.run_until(126);
    assert_eq!(rig.sent(), [1]);
}

/// RFC 9937: the transmissions of a recovery are spread over the round trip; otherwise there are
/// none in its first half.
#[test]
fn a_recovery_with_proportional_rate_reduction_is_never_silent() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        for (prr, longest_silence) in [(true, 2), (false, 7)] {
            let mut rig = Rig::new(Source::Bulk, Transport { prr, ..transport(recovery, 20.0) });
            rig.sent();
            let (mut silence, mut longest, mut sent) = (0, 0, 0);
            for end in 2..=20 {
                rig.ack(100 + end, 0, &[(1, end)]);
                let now = rig.sent().len();
                assert!(now <= if end == 4 { 2 } else { 1 }, "no burst: {now} at {end}");
                sent += now;
                silence = if now > 0 || sent == 0 { 0 } else { silence + 1 };
                longest = longest.max(silence);
            }
            assert!(
                if prr { longest <= longest_silence } else { longest >= longest_silence },
                "{prr}: {longest}"
            );
            assert!((9..=10).contains(&sent), "{recovery:?}, {prr}: {sent}");
            rig.ack(200, 20, &[]);
            assert_eq!(rig.ssthresh(), 10.0);
            assert_eq!(rig.sender.recovery.outstanding().pipe_bytes(), 10 * MSS);
            assert_eq!(rig.sender.recovery.pipe(0), 10 * MSS, "nothing reduces the window further");
        }
    }
}

/// RFC 9438, section 4.9: a reordering that CUBIC took for a loss leaves its window unchanged. The
/// ACK echoes the timestamp of segment 0, which was sent at time zero and arrived late; that of a
/// retransmission would be 103 ms.
#[test]
fn a_reordering_that_cubic_took_for_a_loss_is_undone() {
    for (recovery, undo, echo, undone) in [
        (Recovery::Sack, true, 0, true),
        (Recovery::Rack, true, 0, true),
        (Recovery::Sack, true, 103, false),
        (Recovery::Sack, false, 0, false),
    ] {
        let control = Selection::new("slow-start", "cubic").expect("known names");
        let settings = Transport { undo, timestamps: true, ..transport(recovery, 20.0) };
        let mut rig = Rig::with(control, Source::Bulk, settings);
        rig.sent();
        rig.ack(103, 0, &[(1, 4)]);
        assert_eq!(rig.sent()[0], 0);
        assert_eq!((rig.cwnd(), rig.ssthresh()), (14.0, 14.0));
        rig.echo = Time::ZERO + Duration::from_milliseconds(echo);
        rig.ack(110, 4, &[]);
        let window = if undone { (20.0, f64::INFINITY) } else { (14.0, 14.0) };
        assert_eq!((rig.cwnd(), rig.ssthresh()), window, "{recovery:?}, {undo}, {echo}");
        assert_eq!(rig.sender.recovery.is_recovering(), !undone);
        assert_eq!(rig.sent().contains(&20), undone, "new data leaves at once");
    }
}
