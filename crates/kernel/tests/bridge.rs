//! Translation of kernel events into events of the algorithms, one rule at a time, as a recorder in
//! the trace format sees them.

use selfclock_congestion::entry::{AfterIdle, InRecovery};
use selfclock_congestion::registry::ENTRIES;
use selfclock_congestion::trace::{Reader, Record, Recorder};
use selfclock_congestion::{Bytes, Controller, Duration, Event, Selection, Setup};
use selfclock_kernel::bridge::{Answer, Bridge, Flow, NO_THRESHOLD, flags};
use selfclock_kernel::event::{KernelEvent, flag, kind, state};

const MSS: u32 = 1448;

/// A connection over IPv4 with timestamps, ten segments of window, RTT 20 ms.
fn first() -> KernelEvent {
    KernelEvent {
        id: 5,
        now: 1_000_000,
        number: 1,
        bytes_acked: 1,
        rtt_us: -1,
        interval_us: -1,
        delivered: -1,
        cwnd: 10,
        ssthresh: NO_THRESHOLD,
        mss: MSS,
        srtt_us: 20_000,
        family: 2,
        tcp_header: 32,
        kind: kind::INIT,
        ..KernelEvent::default()
    }
}

/// The next event, this much later, of this kind.
fn next(before: &KernelEvent, kind: u8) -> KernelEvent {
    let KernelEvent { now, number, .. } = *before;
    KernelEvent { kind, now: now + 1_000_000, number: number + 1, state: before.new_state, ..*before }
}

/// An ACK of two full segments out of a full window.
fn ack(before: &KernelEvent) -> KernelEvent {
    KernelEvent {
        bytes_acked: before.bytes_acked + 2 * u64::from(MSS),
        tp_delivered: before.tp_delivered + 2,
        data_segs_out: before.data_segs_out + 4,
        flag: 0x404,
        rtt_us: 20_500,
        acked_sacked: 2,
        packets_out: 10,
        prior_in_flight: 10,
        max_packets_out: 10,
        snd_nxt: before.snd_una.wrapping_add(10 * MSS),
        ..next(before, kind::ACK)
    }
}

fn flow(label: &str) -> Flow<Recorder> {
    let selection = Selection::from_label(label).expect("listed");
    Flow::new(&first(), |setup| Recorder::new(&selection, setup))
}

/// Events received.
fn told(flow: Flow<Recorder>) -> Vec<Event> {
    let trace = flow.into_control().finish();
    let records = Reader::new(&trace).expect("a trace").map(|record| record.expect("whole"));
    records.filter_map(|record| if let Record::Event(event) = record { Some(event) } else { None }).collect()
}

/// Feeds events to a connection, the first of which begins it.
fn tell(label: &str, events: &[KernelEvent]) -> (Vec<Answer>, Vec<Event>) {
    let mut flow = flow(label);
    let answers = events.iter().map(|event| flow.on(event)).collect();
    (answers, told(flow))
}

fn change(before: &KernelEvent, to: u8) -> KernelEvent {
    KernelEvent { new_state: to, packets_out: 10, lost_out: 1, delivered: 1, ..next(before, kind::STATE) }
}

#[test]
fn a_connection_begins() {
    let Setup { mss, header, initial_window, initial_ssthresh, seed, .. } =
        selfclock_kernel::bridge::setup(&first());
    assert_eq!(
        (mss, header, initial_window, initial_ssthresh, seed),
        (Bytes(1448), Bytes(52), 10.0, f64::INFINITY, 5)
    );
    // IPv6 without timestamps, taken over in congestion avoidance.
    let other = KernelEvent { family: 10, tcp_header: 20, ssthresh: 40, cwnd: 50, ..first() };
    let Setup { header, initial_window, initial_ssthresh, .. } = selfclock_kernel::bridge::setup(&other);
    assert_eq!((header, initial_window, initial_ssthresh), (Bytes(60), 50.0, 40.0));
    let (_, events) = tell("reno", &[first()]);
    assert!(
        matches!(events[..], [Event::Established(event)] if event.rtt == Some(Duration::from_milliseconds(20)))
    );
}

/// Four segments have left since the last report, then two are acknowledged: slow start adds two.
#[test]
fn an_ack_advances() {
    let begun = first();
    let (answers, events) = tell("reno", &[begun, ack(&begun)]);
    let [_, Event::Sent(sent), Event::Acknowledged(acked)] = events[..] else { panic!("{events:?}") };
    assert_eq!((sent.size, sent.in_flight), (Bytes(4 * 1448), Bytes(10 * 1448)));
    assert_eq!((acked.size, acked.acknowledged_total), (Bytes(2896), Bytes(2896)));
    assert_eq!(acked.sent_total, Bytes(2896 + 14480));
    assert_eq!(
        (acked.rtt, acked.smoothed_rtt),
        (Some(Duration::from_microseconds(20_500)), Some(Duration::from_milliseconds(20)))
    );
    assert_eq!(acked.minimum_rtt, acked.rtt);
    // In slow start the window is the limit while it is below twice the flight.
    assert!(acked.window_limited && !acked.recovering && acked.rate.is_none());
    assert_eq!(
        answers[0],
        Answer {
            cwnd: 10,
            ssthresh: NO_THRESHOLD,
            pacing: 0,
            flags: flags::PRR | flags::EXTRAPOLATE | flags::RESTART,
            slope: 65536
        }
    );
    // One segment for each delivered, 1 in 16.16; in slow start that holds before the first ACK.
    assert_eq!((answers[1].cwnd, answers[1].slope), (12, 65536));
}

/// An ACK that acknowledges nothing is a duplicate if it has SACK blocks, or changes nothing; a
/// window update is not one.
#[test]
fn duplicates() {
    let begun = first();
    let advanced = ack(&begun);
    let still = |before: &KernelEvent, flag| KernelEvent { flag, ..next(before, kind::ACK) };
    let sacked = KernelEvent { rtt_us: 21_000, ..still(&advanced, flag::DATA_SACKED) };
    let plain = still(&sacked, 0);
    let update = still(&plain, 0x02);
    let (_, events) = tell("reno", &[begun, advanced, sacked, plain, update]);
    let counts: Vec<_> = events
        .iter()
        .filter_map(|event| {
            if let Event::DuplicateAck(event) = event { Some((event.count, event.rtt)) } else { None }
        })
        .collect();
    // The kernel part reports an RTT only when measured: the test's events repeat it.
    assert_eq!(counts.iter().map(|(count, _)| *count).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(counts[0].1, Some(Duration::from_milliseconds(21)));
}

/// Fast recovery: reported at its beginning with the flight, ended after the ACK that ends it, on
/// which nothing grows.
#[test]
fn recovery() {
    let begun = first();
    let advanced = ack(&begun);
    let enter = change(&advanced, state::RECOVERY);
    let inside = ack(&enter);
    let leave = change(&inside, state::OPEN);
    let last = ack(&leave);
    let (answers, events) = tell("reno", &[begun, advanced, enter, inside, leave, last]);
    let told: Vec<_> = events.iter().filter(|event| !matches!(event, Event::Sent(_))).collect();
    let [
        _,
        _,
        Event::LossDetected(loss),
        Event::Acknowledged(during),
        Event::Acknowledged(ending),
        Event::RecoveryEnded(ended),
    ] = told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!((loss.flight_size, loss.lost), (Bytes(14480), Bytes(1448)));
    assert!(during.recovering && ending.recovering && ended.now == ending.now);
    // Half of the ten in flight, without extrapolation.
    assert_eq!(
        answers[2..].iter().map(|answer| (answer.cwnd, answer.slope)).collect::<Vec<_>>(),
        [(5, 0); 4]
    );
}

/// CWR is due to a CE mark if the next ACK echoes one and ECN is negotiated; otherwise to a loss
/// recovered by a tail loss probe.
#[test]
fn marks_and_repaired_losses() {
    for (ecn, flag, is_mark) in
        [(1, 0x404 | flag::ECE, true), (1, 0x404, false), (0, 0x404 | flag::ECE, false)]
    {
        let begun = KernelEvent { ecn, ..first() };
        let enter = change(&begun, state::CWR);
        let following = KernelEvent { flag, ..ack(&enter) };
        let (answers, events) = tell("reno", &[begun, enter, following]);
        assert_eq!(events.iter().any(|event| matches!(event, Event::EcnEcho(_))), is_mark, "{ecn} {flag}");
        assert_eq!(
            events.iter().any(|event| matches!(event, Event::LossDetected(_))),
            !is_mark,
            "{ecn} {flag}"
        );
        // Not before the cause is known.
        assert_eq!((answers[1].cwnd, answers[2].cwnd), (10, 5));
    }
}

/// A timeout, a second one, for which the kernel asks for no new threshold, and the discovery that
/// both were spurious: the window is restored.
#[test]
fn timeouts_and_undo() {
    let begun = first();
    let advanced = ack(&begun);
    let timeout = change(&advanced, state::LOSS);
    let again = KernelEvent { delivered: 0, ..change(&timeout, state::LOSS) };
    let undone = next(&again, kind::UNDO);
    let (answers, events) = tell("reno", &[begun, advanced, timeout, again, undone]);
    let repeated: Vec<_> = events
        .iter()
        .filter_map(|event| if let Event::Timeout(event) = event { Some(event.repeated) } else { None })
        .collect();
    assert_eq!(repeated, [false, true]);
    assert_eq!(answers.iter().map(|answer| answer.cwnd).collect::<Vec<_>>(), [10, 12, 1, 1, 12]);
}

/// Who sets the window in recovery, and whose window restarts after idle, reaches the kernel part
/// as the registry declares it.
#[test]
fn what_the_kernel_part_may_do_to_the_window() {
    for entry in ENTRIES {
        let (answers, _) = tell(entry.name, &[first()]);
        let prr = entry.recovery == InRecovery::Transport;
        assert_eq!(answers[0].flags & flags::PRR != 0, prr, "{}", entry.name);
        let restarts = entry.after_idle == AfterIdle::Restarts;
        assert_eq!(answers[0].flags & flags::RESTART != 0, restarts, "{}", entry.name);
    }
}

/// RFC 5681, section 4.1, as `tcp_cwnd_restart` of Linux: 15 s are 60 timeouts of 220 ms and more,
/// so ten segments are left of any window; 500 ms halve it twice. BBR and the other models keep
/// theirs. A flow that the pacer has held, and the first data, have not paused.
#[test]
fn a_window_restarts_after_idle() {
    let begun = KernelEvent { data_segs_out: 200, cwnd: 10, ..first() };
    let mut grown = vec![begun];
    for _ in 0..75 {
        grown.push(KernelEvent { cwnd_limited: 1, ..ack(&grown[grown.len() - 1]) });
    }
    let last = grown[grown.len() - 1];
    let start = |silence_us: i32| KernelEvent {
        interval_us: silence_us,
        rtt_us: 220_000,
        app_limited: 1,
        flag: 0,
        ..next(&last, kind::START)
    };
    for (silence_us, left) in [(15_000_000, 10), (500_000, 160 / 4), (210_000, 160)] {
        let mut events = grown.clone();
        events.push(start(silence_us));
        let (answers, told) = tell("reno", &events);
        assert_eq!(answers[75].cwnd, 160, "slow start");
        assert_eq!(answers[76].cwnd, left, "{silence_us} us");
        let [.., Event::Resumed(resumed), Event::Sent(sent)] = told[..] else { panic!("{told:?}") };
        assert_eq!(resumed.idle, Duration::from_microseconds(silence_us as u64));
        assert_eq!(resumed.timeout, Duration::from_milliseconds(220));
        assert_eq!(sent.now, resumed.now);
    }
    for (name, held) in [("bbr3", false), ("bbr3", true), ("prague", false), ("xcp", false)] {
        let mut events = grown.clone();
        events.push(KernelEvent { app_limited: u8::from(!held), ..start(15_000_000) });
        let (answers, told) = tell(name, &events);
        assert_eq!(answers[75].cwnd, answers[76].cwnd, "{name}");
        let resumptions = told.iter().filter(|event| matches!(event, Event::Resumed(_))).count();
        assert_eq!(resumptions, usize::from(!held), "{name}");
    }
    // net.ipv4.tcp_slow_start_after_idle = 0: a pause, and no timeout to compare it with.
    let mut events = grown.clone();
    events.push(KernelEvent { rtt_us: 0, ..start(15_000_000) });
    let (answers, told) = tell("reno", &events);
    assert_eq!(answers[76].cwnd, 160, "it does not restart");
    assert!(told.iter().any(|event| matches!(event, Event::Resumed(_))));
    let (_, told) = tell("reno", &[first(), KernelEvent { data_segs_out: 0, ..start(15_000_000) }]);
    assert!(told.iter().all(|event| !matches!(event, Event::Resumed(_))), "{told:?}");
}

/// A path without a bound on its rate, whose receiver acknowledges each flight of up to 64 kB
/// segments at once, as over a virtual link with GRO: 25 us a round trip and 100 ns a segment. The
/// window stays below 2.25 BDP and what 100 ms of the rate deliver, and nothing is a restart.
#[test]
fn one_ack_per_flight_in_the_kernel() {
    let selection = Selection::from_label("bbr3").expect("listed");
    let mut event = KernelEvent { data_segs_out: 0, srtt_us: 25, ..first() };
    let mut flow = Flow::new(&event, |setup| selection.controller(setup));
    let mut cwnd = flow.on(&event).cwnd;
    let mut fastest = 0.0_f64;
    for _ in 0..200_000 {
        // The send buffer allows 4 MB.
        let flight = cwnd.min(2_800);
        let took_us = 25 + flight / 10;
        fastest = fastest.max(f64::from(flight) / f64::from(took_us) * 1e6);
        event = KernelEvent {
            now: event.now + u64::from(took_us) * 1000,
            number: event.number + 1,
            kind: kind::ACK,
            flag: 0x404,
            bytes_acked: event.bytes_acked + u64::from(flight) * u64::from(MSS),
            prior_delivered: event.tp_delivered,
            tp_delivered: event.tp_delivered.wrapping_add(flight),
            delivered: flight as i32,
            interval_us: took_us as i32,
            acked_sacked: flight,
            rtt_us: took_us as i32,
            data_segs_out: event.data_segs_out.wrapping_add(flight),
            prior_in_flight: flight,
            max_packets_out: flight,
            cwnd_limited: u8::from(flight == cwnd),
            ..event
        };
        cwnd = flow.on(&event).cwnd;
        let bound = fastest * (0.1 + 2.25 * 305e-6) + 2.0;
        assert!(f64::from(cwnd) <= bound.max(2_800.0 * 4.25), "{cwnd} segments, {bound}");
    }
    let per_flight = 2_800.0 * (2.25 + 1.0) + 2.0;
    assert!(f64::from(cwnd) <= per_flight, "{cwnd} segments: one flight of aggregation, not all of them");
}

/// The kernel counts segments in 32 bits, and a segment may change its size: neither is a step
/// backwards of what has been delivered.
#[test]
fn counts_of_the_kernel_overflow() {
    let begun = KernelEvent { tp_delivered: u32::MAX - 1, ..first() };
    let sample = |before: &KernelEvent| KernelEvent {
        tp_delivered: before.tp_delivered.wrapping_add(2),
        prior_delivered: before.tp_delivered,
        delivered: 2,
        interval_us: 20_000,
        ..ack(&KernelEvent { tp_delivered: 0, ..*before })
    };
    let one = sample(&begun);
    let smaller = KernelEvent { mss: 724, ..sample(&one) };
    let selection = Selection::from_label("bbr3").expect("listed");
    let mut flow = Flow::new(&begun, |setup| Recorder::new(&selection, setup));
    for event in [begun, one, smaller] {
        flow.on(&event);
    }
    let events = told(flow);
    let totals: Vec<_> = events
        .iter()
        .filter_map(|event| if let Event::Acknowledged(event) = event { event.rate } else { None })
        .map(|rate| (rate.delivered_total, rate.prior_delivered))
        .collect();
    let base = u64::from(u32::MAX - 1) * 1448;
    assert_eq!(
        totals,
        [(Bytes(base + 2 * 1448), Bytes(base)), (Bytes(base + 2 * 1448 + 2 * 724), Bytes(base + 2 * 1448))]
    );
}

/// A segment after an idle time is reported once, not again with the next ACK.
#[test]
fn restart_from_idle() {
    let begun = first();
    let start = KernelEvent { app_limited: 1, ..next(&begun, kind::START) };
    let acked = KernelEvent { data_segs_out: 1, prior_in_flight: 1, ..ack(&start) };
    let (_, events) = tell("bbr3", &[begun, start, acked]);
    let sent: Vec<_> = events.iter().filter(|event| matches!(event, Event::Sent(_))).collect();
    let [Event::Sent(sent)] = sent[..] else { panic!("{sent:?}") };
    assert!(sent.app_limited && sent.in_flight == Bytes(1448));
}

/// Segments that SACK blocks had reported do not count again when they are acknowledged: Linux
/// passes newly delivered segments to tcp_cong_avoid(). A part of a segment is not a whole one.
#[test]
fn what_was_sacked_counts_once() {
    let begun = first();
    let advanced =
        KernelEvent { bytes_acked: begun.bytes_acked + 8 * u64::from(MSS), acked_sacked: 3, ..ack(&begun) };
    let part = KernelEvent { bytes_acked: advanced.bytes_acked + 100, acked_sacked: 1, ..ack(&advanced) };
    let (_, events) = tell("reno", &[begun, advanced, part]);
    let acked: Vec<_> = events
        .iter()
        .filter_map(|event| if let Event::Acknowledged(event) = event { Some(event) } else { None })
        .map(|event| (event.size, event.acknowledged_total))
        .collect();
    assert_eq!(acked, [(Bytes(3 * 1448), Bytes(8 * 1448)), (Bytes(100), Bytes(8 * 1448 + 100))]);
}

/// tcp_end_cwnd_reduction() of Linux does not act after a timeout: the ACK of everything that was
/// outstanding raises the window, which goes on in slow start.
#[test]
fn the_ack_that_ends_a_timeout_counts() {
    let begun = first();
    let timeout = change(&begun, state::LOSS);
    let leave = change(&KernelEvent { new_state: state::LOSS, ..timeout }, state::OPEN);
    let last = ack(&KernelEvent { state: state::LOSS, ..leave });
    let (answers, events) = tell("reno", &[begun, timeout, leave, last]);
    assert_eq!(answers.iter().map(|answer| answer.cwnd).collect::<Vec<_>>(), [10, 1, 1, 2]);
    assert!(matches!(events[..], [.., Event::Acknowledged(_), Event::RecoveryEnded(_)]), "{events:?}");
}

/// A change of state that the ACK causes is reported before the ACK itself: the marks that it
/// reports are the ACK's nevertheless.
#[test]
fn marks_survive_a_change_of_state() {
    let begun = KernelEvent { ecn: 1, ..first() };
    let enter = KernelEvent { tp_delivered_ce: 2, ..change(&begun, state::CWR) };
    let acked = KernelEvent { flag: 0x404 | flag::ECE, ..ack(&enter) };
    let (_, events) = tell("prague", &[begun, enter, acked]);
    let Some(Event::Acknowledged(told)) = events.iter().find(|it| matches!(it, Event::Acknowledged(_)))
    else {
        panic!("{events:?}")
    };
    assert_eq!(told.marked, Bytes(2 * 1448));
}

/// The rate sample by hand: 4 segments in 10 ms are 4.63 Mbit/s; 2 were lost since the segment
/// left.
#[test]
fn rate_samples_and_pacing() {
    let begun = KernelEvent { tp_delivered: 2, ..first() };
    let sample = KernelEvent {
        delivered: 4,
        interval_us: 10_000,
        prior_delivered: 0,
        losses: 2,
        tp_lost: 2,
        ..ack(&begun)
    };
    let (answers, events) = tell("bbr3", &[begun, sample]);
    let rate = events
        .iter()
        .find_map(|event| if let Event::Acknowledged(event) = event { event.rate } else { None });
    let rate = rate.expect("it asks for rates");
    assert_eq!(rate.delivery_rate.bits_per_second(), 4 * 1448 * 8 * 100);
    assert_eq!(
        (rate.newly_lost, rate.delivered, rate.delivered_total),
        (Bytes(2896), Bytes(5792), Bytes(5792))
    );
    assert_eq!(
        rate.tx_in_flight,
        Bytes(4 * 1448),
        "what was delivered since, nothing being known of losses before"
    );
    // BBR paces: nothing is extrapolated. Its rate counts payload, 1448 of 1500 bytes.
    let bbr = Selection::from_label("bbr3").expect("listed");
    let mut flow = Flow::new(&begun, |setup| bbr.controller(setup));
    flow.on(&begun);
    flow.on(&sample);
    let wire = flow.control().decision().pacing.expect("paced").bytes_per_second();
    assert_eq!(answers[1].flags, flags::PACE, "neither PRR nor a restart after idle");
    assert!((answers[1].pacing as f64 - wire * 1448.0 / 1500.0).abs() < 1.0);
}

/// After a change of the segment size the window stays the same number of bytes.
#[test]
fn segments_change_their_size() {
    let begun = first();
    let smaller = KernelEvent { mss: 724, ..next(&begun, kind::ACK) };
    let (answers, _) = tell("reno", &[begun, smaller]);
    assert_eq!((answers[0].cwnd, answers[1].cwnd), (10, 20));
}

/// The table: a reused slot is another connection; a gap in the events restarts the algorithm from
/// the window in force; the end of an unknown connection is ignored.
#[test]
fn connections_come_and_go() {
    let selection = Selection::default();
    let mut bridge = Bridge::new(|setup| -> Controller { selection.controller(setup) });
    let begun = first();
    let advanced = ack(&begun);
    for event in [begun, advanced] {
        assert!(bridge.on(&event).0.is_some());
    }
    let missed = KernelEvent { number: 9, cwnd: 33, ssthresh: 20, fallback: 1, ..ack(&advanced) };
    let (answer, ended) = bridge.on(&missed);
    assert_eq!(answer.map(|answer| answer.cwnd), Some(33));
    assert!(ended.is_some());
    let reused = KernelEvent { id: 6, ..first() };
    assert_eq!(bridge.on(&reused).1.map(|flow| flow.last().id), Some(5));
    let gone = KernelEvent { kind: kind::RELEASE, ..next(&missed, kind::RELEASE) };
    assert!(matches!(bridge.on(&gone), (None, None)), "of the connection before");
    let over = next(&reused, kind::RELEASE);
    assert_eq!(bridge.on(&over).1.map(|flow| flow.last().id), Some(6));
    let counts = bridge.counts();
    assert_eq!(
        (counts.events, counts.flows, counts.adopted, counts.gaps, counts.fallback_events),
        (6, 2, 1, 1, 2)
    );
    assert_eq!(bridge.flows().count(), 0);
}

/// A device takes a packet of three segments, the last of them short: each is reported when it
/// leaves, and not again at the ACK. The packet has the number of the event before it; one of an
/// unknown connection is ignored.
#[test]
fn packets_are_told_as_a_device_takes_them() {
    let begun = first();
    let sent = KernelEvent {
        kind: kind::SENT,
        now: begun.now + 500_000,
        data_segs_out: begun.data_segs_out + 3,
        acked_sacked: 3,
        delivered: 2 * 1448 + 100,
        prior_in_flight: 4,
        ..begun
    };
    let acked = KernelEvent { data_segs_out: sent.data_segs_out, ..ack(&begun) };
    let (_, events) = tell("reno", &[begun, sent, acked]);
    let [_, Event::Sent(one), Event::Sent(_), Event::Sent(last), Event::Acknowledged(_)] = events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((one.size, one.in_flight), (Bytes(1448), Bytes(5 * 1448)));
    assert_eq!((last.size, last.in_flight), (Bytes(100), Bytes(6 * 1448 + 100)));
    assert_eq!(one.now, selfclock_congestion::Time::ZERO + Duration::from_microseconds(500));
    let selection = Selection::from_label("reno").expect("listed");
    let mut bridge = Bridge::new(|setup| selection.controller(setup));
    assert_eq!(bridge.on(&sent).0, None);
    bridge.on(&begun);
    assert!(bridge.on(&sent).0.is_some());
    assert!(bridge.on(&ack(&begun)).0.is_some());
    assert_eq!((bridge.counts().flows, bridge.counts().gaps), (1, 0));
}
