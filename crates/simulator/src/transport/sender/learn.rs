//! The first of a sender's three stages: the information in an ACK.
//!
//! Scoreboard, RTT, delivery rate and ECN counts process the packet and return [`News`].

use crate::packet::{Extra, Flags, Packet};
use crate::plan::{Ecn, RttSamples, Transport};
use crate::transport::delivery_rate::DeliveryRate;
use crate::transport::recovery::{Advance, LossRecovery, News, Segment};
use crate::transport::rto::RttEstimator;
use crate::transport::rtt_histogram::RttHistogram;
use selfclock_congestion::{Duration, RateSample, Time};

/// A sender's measurements.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Estimators {
    /// Round-trip time and retransmission timeout.
    pub rtt: RttEstimator,
    samples: RttSamples,
    timestamps: bool,
    /// Round-trip times of the handshake and of segments of data.
    pub rtt_samples: RttHistogram,
    /// The timed segment, with one sample at a time: its end, and its send time.
    pub(super) timed: Option<(u64, Time)>,
    /// Measures delivery rates, if the congestion control requests them.
    pub rate: Option<Box<DeliveryRate>>,
    ecn: Ecn,
    /// The receiver's count of CE-marked bytes, as last reported.
    pub(super) marked_seen: u32,
    /// CE-marked bytes not yet reported to the congestion control.
    pub(super) newly_marked: u64,
}

impl Estimators {
    /// Before any ACK.
    pub fn new(transport: &Transport, measures_rate: bool) -> Self {
        Self {
            rtt: RttEstimator::new(transport.timer),
            samples: transport.timer.samples,
            timestamps: transport.timestamps,
            rtt_samples: RttHistogram::default(),
            timed: None,
            rate: measures_rate.then(Box::default),
            ecn: transport.ecn,
            marked_seen: 0,
            newly_marked: 0,
        }
    }

    /// Processes an ACK with its out-of-line part.
    pub fn learn(
        &mut self,
        now: Time,
        packet: &Packet,
        extra: Option<&Extra>,
        recovery: &mut LossRecovery,
    ) -> News {
        let blocks = extra.map_or(&[][..], |extra| &extra.sack[..usize::from(extra.sack_blocks)]);
        let mut news = News {
            now,
            acknowledgement: packet.sequence,
            echo: echo_of(packet.echo),
            option: extra.and_then(|extra| extra.option),
            ..News::default()
        };
        let (echo, minimum_rtt) = (news.echo, self.rtt.minimum());
        recovery.begin_ack();
        recovery.take_duplicate(blocks, &mut news);
        let highest = recovery.highest_delivered();
        // "Order SACK blocks to allow in order walk" (Linux, `tcp_sacktag_write_queue`): of what
        // one ACK reports nothing was delivered before the rest.
        let mut ascending = extra.map_or([(0, 0); 4], |extra| extra.sack);
        let ascending = &mut ascending[..blocks.len()];
        ascending.sort_unstable();
        for &mut block in ascending {
            recovery.take_block(block, (echo, minimum_rtt), &mut news, |index, segment| {
                if let Some(rate) = &mut self.rate {
                    rate.on_delivered(index, segment, now);
                }
            });
        }
        self.read_marks(packet, &mut news);
        if packet.sequence > recovery.una() {
            if let Some(rate) = &mut self.rate {
                rate.on_cumulative_ack(recovery.outstanding(), packet.sequence, now);
            }
            news.advance =
                recovery.take_cumulative::<true>(now, (packet.sequence, highest), echo, minimum_rtt);
            let range = (packet.sequence, recovery.next());
            news.rtt = self.take_rtt_sample(now, range, packet.echo, &news.advance);
        } else if let Some(sent) = news.oldest_sacked.filter(|_| self.rtt.times_sacked()) {
            self.rtt.sample(sent, now, (recovery.una(), recovery.next()));
        }
        news
    }

    /// Reads the ACK's count of CE-marked data.
    fn read_marks(&mut self, packet: &Packet, news: &mut News) {
        match self.ecn {
            Ecn::Off => {}
            Ecn::Classic => news.congestion_echo = packet.flags.has(Flags::ECE),
            Ecn::Accurate => {
                let marked = packet.marked_bytes().wrapping_sub(self.marked_seen);
                // A reordered ACK carries an older count.
                if marked != 0 && marked < u32::MAX / 2 {
                    self.marked_seen = packet.marked_bytes();
                    news.marked = u64::from(marked);
                    news.congestion_echo = true;
                }
                news.marked += std::mem::take(&mut self.newly_marked);
            }
        }
    }

    /// These CE-marked bytes were in no event: the next ACK reports them.
    pub fn keep_marked(&mut self, marked: u64) {
        self.newly_marked = marked;
    }

    /// The RTT sample of an ACK for the congestion control, if any: of the newest segment it
    /// acknowledges. `range`: SND.UNA, with this ACK, and SND.NXT. The retransmission timer takes a
    /// separate sample.
    ///
    /// The timer must cover the wait for a delayed ACK, so RFC 7323 (section 4.2) has the receiver
    /// echo the timestamp of the oldest segment that an ACK covers. To a delay-based algorithm that
    /// wait would look like a queue. Linux keeps the two apart: `tcp_clean_rtx_queue` takes the
    /// timer's sample from the first segment acknowledged and the congestion control's from the
    /// last, and falls back to the echo after a retransmission. ns-2's Vegas and FAST have their
    /// own send times, whatever their timer samples.
    #[inline(always)]
    pub fn take_rtt_sample(
        &mut self,
        now: Time,
        range: (u64, u64),
        echo: Time,
        advance: &Advance,
    ) -> Option<Duration> {
        let echo = (self.timestamps && echo != Time::NEVER).then_some(echo);
        // Karn: neither a retransmitted segment is timed, nor one that waited at the receiver
        // behind it.
        let (oldest, newest) = if advance.any_retransmitted {
            (None, None)
        } else {
            (advance.oldest_sent_once, advance.newest_sent_once)
        };
        let timed = match self.samples {
            RttSamples::EverySegment => echo.or(oldest),
            RttSamples::OneAtATime => {
                let timed = self.timed.filter(|&(end, _)| range.0 >= end);
                if timed.is_some() {
                    self.timed = None;
                }
                timed.map(|(_, sent)| sent)
            }
        };
        if let Some(sent) = timed {
            self.rtt.sample(sent, now, range);
        }
        newest.or(echo).map(|sent| {
            let rtt = now.since(sent);
            self.rtt.note_minimum(rtt);
            self.rtt_samples.add(rtt);
            rtt
        })
    }

    /// The SYN-ACK of a SYN sent at `sent` echoes this timestamp. The echo identifies the answered
    /// SYN; without timestamps Karn's rule forbids a sample after a second SYN.
    pub fn take_handshake(
        &mut self,
        now: Time,
        sent: Time,
        echo: Time,
        retransmitted: bool,
    ) -> Option<Duration> {
        let rtt = (self.timestamps || !retransmitted).then(|| {
            let sent = if self.timestamps { echo } else { sent };
            let rtt = self.rtt.sample_handshake(sent, now);
            self.rtt_samples.add(rtt);
            rtt
        });
        if retransmitted {
            self.rtt.after_handshake_loss();
        }
        rtt
    }

    /// The delivery rate sample of an ACK, if rates are measured. `lost_total`: total payload
    /// marked lost, including losses revealed by this ACK.
    pub fn rate_sample(&mut self, lost_total: u64) -> Option<RateSample> {
        self.rate.as_mut()?.sample(self.rtt.minimum(), lost_total)
    }

    /// The segment up to `next` was sent for the first time.
    #[inline(always)]
    pub fn on_new_data(&mut self, now: Time, next: u64) {
        if self.samples == RttSamples::OneAtATime && self.timed.is_none() {
            self.timed = Some((next, now));
        }
    }

    /// Karn: a retransmitted segment is not timed.
    pub fn on_retransmission(&mut self, segment: &Segment) {
        if self.timed.is_some_and(|(end, _)| segment.sequence < end && end <= segment.end()) {
            self.timed = None;
        }
    }

    /// A loss was detected: no segment is timed.
    pub fn time_none(&mut self) {
        self.timed = None;
    }

    /// For the delivery rate: outstanding segment `index` is sent now.
    #[inline]
    pub fn note_sending(&mut self, now: Time, index: usize, recovery: &LossRecovery) {
        if let Some(rate) = &mut self.rate {
            let board = recovery.outstanding();
            rate.on_sent(index, &board[index], now, board.pipe_bytes(), board.lost_total());
        }
    }
}

/// The timestamp echoed by an ACK.
#[inline(always)]
pub fn echo_of(echo: Time) -> Option<Time> {
    (echo != Time::NEVER).then_some(echo)
}
