//! Loss recovery without a network: ACKs in, verdicts out. Segments are numbered from 0 and have
//! 1000 bytes.

use super::*;
use selfclock_congestion::{Bytes, RestartCause};

pub(super) const MSS: u64 = 1000;

pub(super) struct Rig {
    pub(super) recovery: LossRecovery,
    pub(super) rtt: RttEstimator,
    /// The timestamp that ACKs echo.
    pub(super) echo: Option<Time>,
}

pub(super) fn at(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_milliseconds(milliseconds)
}

impl Rig {
    /// `segments` segments were sent at time zero; the round-trip time is 100 ms.
    pub(super) fn new(transport: &Transport, segments: u64) -> Self {
        let mut rtt = RttEstimator::new(transport.timer);
        rtt.sample_handshake(at(0), at(100));
        let mut rig = Self { recovery: LossRecovery::new(transport), rtt, echo: None };
        rig.send(0, segments);
        rig
    }

    /// The same with this recovery, without proportional rate reduction.
    pub(super) fn of(recovery: Recovery, segments: u64) -> Self {
        Self::new(&transport(recovery), segments)
    }

    /// Sends this number of new segments.
    pub(super) fn send(&mut self, milliseconds: u64, segments: u64) {
        for _ in 0..segments {
            self.recovery.on_new_data(at(milliseconds), MSS);
        }
    }

    /// An ACK expects segment `next` and reports segments from the first number of each pair to
    /// before the second.
    pub(super) fn ack(&mut self, milliseconds: u64, next: u64, sack: &[(u64, u64)]) -> Verdict {
        self.take(milliseconds, next, sack, false)
    }

    /// The same with an echo of a CE mark.
    pub(super) fn echo(&mut self, milliseconds: u64, next: u64) -> Verdict {
        self.take(milliseconds, next, &[], true)
    }

    fn take(&mut self, milliseconds: u64, next: u64, sack: &[(u64, u64)], congestion_echo: bool) -> Verdict {
        let (now, acknowledgement) = (at(milliseconds), next * MSS);
        let (echo, minimum_rtt) = (self.echo, self.rtt.minimum());
        let mut news = News { now, acknowledgement, congestion_echo, echo, ..News::default() };
        self.recovery.begin_ack();
        let blocks: Vec<_> = sack.iter().map(|&(first, end)| (first * MSS, end * MSS)).collect();
        self.recovery.take_duplicate(&blocks, &mut news);
        let highest = self.recovery.highest_delivered();
        for &(first, end) in sack {
            self.recovery.take_block((first * MSS, end * MSS), (echo, minimum_rtt), &mut news, |_, _| {});
        }
        if acknowledgement > self.recovery.una() {
            news.advance =
                self.recovery.take_cumulative::<true>(now, (acknowledgement, highest), echo, minimum_rtt);
        }
        self.recovery.judge(&news, &self.rtt)
    }

    /// Duplicate ACKs of segment `next`; the verdict of the last.
    fn duplicates(&mut self, milliseconds: u64, next: u64, count: u64) -> Verdict {
        (0..count).map(|_| self.ack(milliseconds, next, &[])).last().expect("at least one")
    }

    /// Retransmits everything lost. Returns the numbers of the segments.
    pub(super) fn retransmit(&mut self, milliseconds: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        while let Some(index) = self.recovery.next_retransmission() {
            numbers.push(self.recovery.retransmit(index, at(milliseconds)).sequence / MSS);
        }
        numbers
    }

    /// Segments in flight for a window of this many segments.
    fn pipe(&self, window: u64) -> u64 {
        self.recovery.pipe(window * MSS) / MSS
    }

    pub(super) fn rack_timer(&mut self, milliseconds: u64) -> RackTimer {
        self.recovery.rack_timer(at(milliseconds), &self.rtt, true, false, at(10_000))
    }
}

pub(super) fn transport(recovery: Recovery) -> Transport {
    Transport { mss: Bytes(MSS), recovery, prr: false, limited_transmit: false, ..Transport::modern() }
}

fn loss(segments: u64) -> Option<Event> {
    Some(Event::Loss { flight_size: segments * MSS, lost: MSS, reduces: true })
}

fn restart(segments: u64, repeated: bool, cause: RestartCause) -> Option<Event> {
    Some(Event::Restart { flight_size: segments * MSS, repeated, cause })
}

/// With any recovery: an ACK of new data restarts the timer, the last one cancels it (RFC 6298,
/// rules 5.2 and 5.3), and nothing else follows.
#[test]
fn without_a_loss_only_the_timer_changes() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        let mut rig = Rig::of(recovery, 3);
        for (next, timer, in_flight) in
            [(2, RetransmissionTimer::Restart, 1), (3, RetransmissionTimer::Cancel, 0)]
        {
            let expected =
                Verdict { ack: AckKind::NewData, timer, in_flight: in_flight * MSS, ..Verdict::default() };
            assert_eq!(rig.ack(100, next, &[]), expected, "{recovery:?}");
        }
        assert_eq!(rig.ack(101, 3, &[]), Verdict::default(), "{recovery:?}: nothing is outstanding");
    }
}

/// RFC 5681, section 3.2: "The TCP sender SHOULD use the 'fast retransmit' algorithm [...] based on
/// [...] 3 duplicate ACKs".
#[test]
fn the_third_duplicate_ack_begins_a_recovery() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let mut rig = Rig::of(recovery, 10);
        let verdict = rig.duplicates(100, 0, 2);
        assert_eq!(
            (verdict.ack, verdict.event, verdict.retransmit_first),
            (AckKind::Duplicate(2), None, false)
        );
        let verdict = rig.duplicates(100, 0, 1);
        assert_eq!((verdict.event, verdict.retransmit_first), (loss(10), true));
        assert!(verdict.is_fast_retransmit());
        assert_eq!(rig.retransmit(100), [0]);
        // "cwnd MUST be set to ssthresh plus 3*SMSS", and for each further one by one: expressed as
        // less in flight.
        assert_eq!(rig.pipe(5), 10 - 3);
        assert_eq!(rig.duplicates(101, 0, 2).event, None);
        assert_eq!(rig.pipe(5), 10 - 5);
    }
}

#[test]
fn a_tahoe_sender_restarts_at_the_third_duplicate_ack() {
    let mut rig = Rig::of(Recovery::Tahoe, 10);
    let verdict = rig.duplicates(100, 0, 3);
    assert_eq!(verdict.event, restart(10, false, RestartCause::TahoeFastRetransmit));
    assert!(verdict.is_fast_retransmit() && !rig.recovery.is_recovering());
    assert_eq!(rig.retransmit(100), (0..10).collect::<Vec<_>>());
    assert_eq!(rig.duplicates(101, 0, 3).event, None, "once");
}

/// RFC 5681: any ACK of new data ends the recovery of Reno. RFC 6582: a partial one retransmits,
/// and only the first restarts the timer.
#[test]
fn a_partial_ack_ends_the_recovery_of_reno_and_not_of_newreno() {
    let mut reno = Rig::of(Recovery::Reno, 10);
    reno.duplicates(100, 0, 3);
    reno.retransmit(100);
    let verdict = reno.ack(200, 4, &[]);
    assert_eq!((verdict.ended, verdict.was_recovering, verdict.retransmit_first), (true, true, false));

    let mut rig = Rig::of(Recovery::NewReno, 10);
    rig.duplicates(100, 0, 3);
    rig.retransmit(100);
    for (time, next, timer) in [(200, 4, RetransmissionTimer::Restart), (300, 6, RetransmissionTimer::Keep)] {
        let verdict = rig.ack(time, next, &[]);
        assert_eq!((verdict.ended, verdict.retransmit_first, verdict.timer), (false, true, timer));
        assert_eq!(rig.retransmit(time), [next]);
    }
    let verdict = rig.ack(400, 10, &[]);
    assert_eq!((verdict.ended, verdict.timer), (true, RetransmissionTimer::Cancel));
}

/// RFC 6582, section 3.2, step 3: a partial ACK of four segments after three duplicate ACKs leaves
/// an inflation of 3 - 4 + 1.
#[test]
fn a_partial_ack_deflates_by_what_it_acknowledges() {
    let mut rig = Rig::of(Recovery::NewReno, 10);
    rig.duplicates(100, 0, 3);
    rig.retransmit(100);
    rig.ack(200, 4, &[]);
    rig.retransmit(200);
    assert_eq!(rig.pipe(5), 6);
}

/// RFC 6582, section 3.2, step 1: duplicate ACKs of data sent before a timeout begin no recovery.
#[test]
fn after_a_timeout_duplicates_below_recover_begin_nothing() {
    for (once, event) in [(true, None), (false, loss(8))] {
        let settings = Transport { one_recovery_per_window: once, ..transport(Recovery::NewReno) };
        let mut rig = Rig::new(&settings, 10);
        let verdict = rig.recovery.on_timeout(at(1000), &rig.rtt);
        assert_eq!(verdict.event, restart(10, false, RestartCause::TimerExpired));
        assert!(verdict.retransmit_first && !verdict.is_fast_retransmit());
        assert_eq!(rig.retransmit(1000).len(), 10);
        rig.ack(1100, 2, &[]);
        assert_eq!(rig.duplicates(1101, 2, 3).event, event);
    }
}

/// RFC 5681, section 3.1: at the second timeout of one segment ssthresh stays.
#[test]
fn a_second_timeout_of_one_segment_is_repeated() {
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        let mut rig = Rig::of(recovery, 4);
        for (time, repeated) in [(1000, false), (3000, true)] {
            let verdict = rig.recovery.on_timeout(at(time), &rig.rtt);
            assert_eq!(verdict.event, restart(4, repeated, RestartCause::TimerExpired), "{recovery:?}");
            rig.retransmit(time);
        }
        rig.ack(3100, 1, &[]);
        let verdict = rig.recovery.on_timeout(at(5000), &rig.rtt);
        assert_eq!(
            verdict.event,
            restart(3, false, RestartCause::TimerExpired),
            "{recovery:?}: another segment"
        );
    }
}

/// RFC 6675, section 5: "if DupAcks < DupThresh but IsLost (HighACK + 1) returns true".
#[test]
fn three_sacked_segments_on_one_ack_are_enough() {
    let mut rig = Rig::of(Recovery::Sack, 10);
    let verdict = rig.ack(100, 0, &[(1, 4)]);
    assert_eq!((verdict.ack, verdict.event), (AckKind::Duplicate(1), loss(10)));
    // "SetPipe": ten, less three SACKed and one lost, and the retransmission.
    assert_eq!(verdict.in_flight, 6 * MSS);
    assert_eq!(rig.retransmit(100), [0]);
    assert_eq!(rig.pipe(5), 7);
    assert_eq!(rig.ack(101, 0, &[(1, 4)]).ack, AckKind::Repetition);
}

/// NextSeg: IsLost's segments first, and rule 3's only on request.
#[test]
fn a_hole_with_less_than_three_above_may_be_lost() {
    let mut rig = Rig::of(Recovery::Sack, 10);
    rig.ack(100, 0, &[(1, 4), (5, 6)]);
    assert_eq!(rig.retransmit(100), [0]);
    assert_eq!(rig.recovery.next_possibly_lost(), Some(4));
}

/// RFC 6675, section 5: an ACK of the recovery point ends recovery; losses of later data begin
/// another at once.
#[test]
fn the_recovery_point_ends_a_recovery_and_may_begin_another() {
    let mut rig = Rig::of(Recovery::Sack, 10);
    rig.ack(100, 0, &[(1, 10)]);
    rig.retransmit(100);
    rig.send(101, 5);
    assert!(!rig.ack(200, 9, &[]).ended);
    let verdict = rig.ack(201, 10, &[(11, 14)]);
    assert_eq!((verdict.ended, verdict.event, verdict.retransmit_first), (true, loss(6), true));
    assert_eq!(rig.retransmit(201), [10]);
}

/// RFC 2018, section 8: reported but discarded data is retransmitted after a timeout.
#[test]
fn a_timeout_of_a_sacked_segment_forgets_all_sacks() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut rig = Rig::of(recovery, 4);
        rig.ack(100, 0, &[(1, 2)]);
        rig.ack(101, 1, &[]);
        assert_eq!(rig.recovery.outstanding().sacked_bytes(), MSS, "{recovery:?}: it reneges on segment 1");
        rig.recovery.on_timeout(at(1000), &rig.rtt);
        assert_eq!(rig.retransmit(1000)[0], 1, "{recovery:?}");
        assert_eq!(rig.recovery.outstanding().sacked_bytes(), 0);
    }
}

/// RFC 8985, section 6.2: one SACKed segment above a gap leaves it a quarter of the round trip;
/// then the timer finds it lost.
#[test]
fn rack_waits_a_quarter_of_the_round_trip() {
    let mut rig = Rig::of(Recovery::Rack, 1);
    rig.send(1, 1);
    assert_eq!(rig.ack(101, 0, &[(1, 2)]).event, None);
    assert_eq!(rig.rack_timer(101), RackTimer::Set(at(126)));
    assert!(!rig.recovery.timer_is_for_probe());
    let verdict = rig.recovery.on_reordering_timer(at(126), &rig.rtt);
    assert_eq!((verdict.event, verdict.retransmit_first), (loss(2), true));
    assert_eq!(rig.retransmit(126), [0]);
}

/// Section 7.2: "PTO = 2 * SRTT" after an ACK of new data, with the maximum ACK delay for a single
/// segment; section 7.4: an ACK beyond the probe shows that it recovered a loss, a duplicate that
/// its segment had arrived.
#[test]
fn a_tail_probe_is_accounted_for() {
    for (arrived_before, repaired) in [(false, Some(2 * MSS)), (true, None)] {
        let mut rig = Rig::of(Recovery::Rack, 3);
        rig.ack(100, 1, &[]);
        assert_eq!(rig.rack_timer(100), RackTimer::Set(at(302)));
        rig.ack(101, 2, &[]);
        assert_eq!(rig.rack_timer(101), RackTimer::Set(at(501)), "200 ms for a delayed ACK");
        assert!(rig.recovery.timer_is_for_probe());
        let (index, segment) = rig.recovery.retransmit_as_probe(at(341));
        rig.recovery.on_probe_sent(true);
        assert_eq!((index, segment.sequence), (0, 2 * MSS));
        assert_eq!(rig.rack_timer(342), RackTimer::Cancel, "no second probe");
        rig.send(350, 1);
        rig.ack(400, 3, &[]);
        if arrived_before {
            assert!(rig.recovery.awaits_probe());
            rig.ack(441, 3, &[]);
        }
        rig.send(442, 1);
        let verdict = rig.ack(500, 4, &[]);
        assert_eq!((verdict.repaired_by_probe, verdict.event), (repaired, None));
        assert!(!rig.recovery.awaits_probe());
    }
}

/// RFC 9937: after the response to a loss of one of twenty segments the window is reduced to ten as
/// data is delivered; after recovery nothing is held back.
#[test]
fn a_reduction_lasts_as_long_as_its_recovery() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut rig = Rig::new(&Transport { prr: true, ..transport(recovery) }, 20);
        assert_eq!(rig.ack(100, 0, &[(1, 4)]).event, loss(20));
        rig.recovery.reduce_to(10 * MSS);
        assert_eq!(rig.retransmit(100), [0]);
        // "prr_delivered * ssthresh / RecoverFS" is two, of which one has left; the other may.
        assert_eq!(rig.pipe(10), 9, "{recovery:?}");
        assert!(rig.ack(200, 20, &[]).ended);
        assert_eq!(rig.pipe(10), 0, "{recovery:?}");
    }
}

/// RFC 3168, section 6.1.2: one response per window of data, to marks and losses together.
#[test]
fn a_window_of_data_is_reacted_to_once() {
    let classic = Transport { ecn: Ecn::Classic, ..transport(Recovery::Sack) };
    let mut rig = Rig::new(&classic, 20);
    assert_eq!(rig.echo(100, 1).event, Some(Event::CongestionEcho { flight_size: 20 * MSS }));
    rig.send(100, 5);
    for next in 2..=20 {
        assert_eq!(rig.echo(100 + next, next).event, None, "of the window before the reaction");
    }
    assert_eq!(rig.echo(121, 21).event, Some(Event::CongestionEcho { flight_size: 5 * MSS }));

    let mut rig = Rig::new(&classic, 20);
    rig.echo(100, 1);
    let verdict = rig.ack(101, 1, &[(2, 6)]);
    assert_eq!(verdict.event, Some(Event::Loss { flight_size: 19 * MSS, lost: MSS, reduces: false }));
    assert!(verdict.retransmit_first);

    let mut rig = Rig::new(&classic, 20);
    assert_eq!(rig.ack(100, 0, &[(1, 5)]).event, loss(20));
    assert_eq!(rig.echo(101, 6).event, None, "in the recovery");
}

/// RFC 3522: the ACK that ends the wait for a retransmission echoes the timestamp of the original,
/// or that of the retransmission.
#[test]
fn a_late_segment_makes_a_fast_retransmit_spurious() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        for (echo, spurious) in [(0, true), (103, false)] {
            let mut rig = Rig::new(&Transport { undo: true, ..transport(recovery) }, 10);
            if recovery.uses_sack() {
                rig.ack(103, 0, &[(1, 4)]);
            } else {
                rig.duplicates(103, 0, 3);
            }
            assert_eq!(rig.retransmit(103), [0]);
            rig.echo = Some(at(echo));
            let verdict = rig.ack(110, 4, &[]);
            assert_eq!(verdict.spurious, spurious, "{recovery:?}");
            assert!(verdict.was_recovering);
            if spurious {
                assert!(!rig.recovery.is_recovering() && !verdict.ended && verdict.event.is_none());
                assert_eq!((rig.pipe(10), rig.retransmit(110)), (6, vec![]), "{recovery:?}");
            }
            // Once.
            assert!(!rig.ack(111, 5, &[]).spurious);
        }
    }
}

/// The same after a timeout: segments marked lost are not retransmitted. An ACK of any
/// retransmission shows a loss.
#[test]
fn a_delay_makes_a_timeout_spurious() {
    for recovery in [Recovery::Tahoe, Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        for (timeouts, echo, spurious) in [(1, 0, true), (2, 0, true), (2, 1000, false), (2, 3000, false)] {
            let mut rig = Rig::new(&Transport { undo: true, frto: false, ..transport(recovery) }, 10);
            for time in [1000, 3000].into_iter().take(timeouts) {
                rig.recovery.on_timeout(at(time), &rig.rtt);
                let first = rig.recovery.next_retransmission().expect("the first segment");
                rig.recovery.retransmit(first, at(time));
            }
            rig.echo = Some(at(echo));
            assert_eq!(rig.ack(3100, 1, &[]).spurious, spurious, "{recovery:?}, {timeouts}, {echo}");
            assert_eq!(rig.retransmit(3100).is_empty(), spurious, "{recovery:?}, {timeouts}, {echo}");
        }
    }
}

/// Off, and without timestamps, nothing is undone.
#[test]
fn only_undo_with_timestamps_detects_spurious_recoveries() {
    for (undo, timestamps) in [(false, true), (true, false)] {
        let mut rig = Rig::new(&Transport { undo, timestamps, ..transport(Recovery::Sack) }, 10);
        rig.ack(103, 0, &[(1, 4)]);
        rig.retransmit(103);
        rig.echo = Some(at(0));
        assert!(!rig.ack(110, 4, &[]).spurious);
    }
}

/// RFC 5681, section 4.3: "the loss of a retransmission, should be taken as two indications of
/// congestion". After a timeout it begins a recovery, although SND.NXT of the timeout is not
/// reached; in that recovery proportional rate reduction, if it is on, bounds what leaves, and
/// nothing begins.
#[test]
fn a_retransmission_lost_after_a_timeout_begins_a_recovery() {
    for prr in [true, false] {
        let mut rig = Rig::new(&Transport { prr, ..transport(Recovery::Rack) }, 20);
        rig.recovery.on_timeout(at(1000), &rig.rtt);
        assert_eq!(rig.retransmit(1000).len(), 20);
        let verdict = rig.ack(1100, 1, &[(5, 8)]);
        // In flight were twenty retransmissions; one is acknowledged, three are SACKed.
        let expected = Event::Loss { flight_size: 16 * MSS, lost: 4 * MSS, reduces: true };
        assert_eq!((verdict.event, verdict.retransmit_first), (Some(expected), true));
        rig.recovery.reduce_to(8 * MSS);
        assert_eq!(rig.retransmit(1100).len(), 4);
        rig.ack(1150, 1, &[(5, 20)]);
        rig.send(1151, 5);
        let verdict = rig.ack(1251, 1, &[(5, 22)]);
        // Four retransmissions were lost a second time; three new segments are in flight.
        let again = Event::Loss { flight_size: 7 * MSS, lost: 4 * MSS, reduces: true };
        assert_eq!(verdict.event, if prr { None } else { Some(again) });
        assert_eq!(rig.retransmit(1251).len(), 4);
        assert!(rig.ack(1351, 25, &[]).ended);
    }
}

/// A retransmission of the time before the timeout belongs to the window that the timeout answers.
#[test]
fn a_retransmission_lost_before_the_timeout_begins_nothing() {
    let mut rig = Rig::of(Recovery::Rack, 10);
    assert!(rig.ack(100, 0, &[(2, 5)]).is_fast_retransmit());
    assert_eq!(rig.retransmit(950), [0, 1]);
    rig.recovery.on_timeout(at(1000), &rig.rtt);
    // Segment 1 may still arrive.
    assert_eq!(rig.retransmit(1000), [0, 5, 6, 7, 8, 9]);
    let verdict = rig.ack(1100, 1, &[(2, 6)]);
    assert_eq!((verdict.event, rig.retransmit(1100).first()), (None, Some(&1)));
}

/// Once per window of data: a probe whose ACK began a recovery is forgotten, as by Linux's
/// `tcp_init_cwnd_reduction`, and what it repaired reduces no further.
#[test]
fn a_recovery_answers_for_its_probe() {
    let mut rig = Rig::of(Recovery::Rack, 10);
    rig.ack(100, 5, &[]);
    rig.recovery.retransmit_as_probe(at(300));
    rig.recovery.on_probe_sent(true);
    assert!(rig.ack(400, 5, &[(9, 10)]).is_fast_retransmit());
    assert_eq!(rig.retransmit(400), [5, 6, 7, 8]);
    rig.send(401, 3);
    assert_eq!(rig.ack(500, 11, &[]).repaired_by_probe, None);
}
