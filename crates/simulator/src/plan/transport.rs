//! Transport settings of a TCP connection, and the two named profiles.

use super::PlanError;
use crate::catalogue::setting::settings;
use crate::packet::Flags;
use selfclock_congestion::entry::Marks;
use selfclock_congestion::units::{Bytes, Duration, Rate};

/// Largest shift count of the window scale option, RFC 7323 section 2.3.
const LARGEST_SHIFT: u8 = 14;
/// Largest window without the window scale option.
const UNSCALED: Bytes = Bytes(65_535);
/// Part of Linux's receive buffers that is advertised, bytes. The rest holds what a packet takes
/// beside its data. Before packets show their size, a half is assumed (`TCP_DEFAULT_SCALING_RATIO`)
/// of `tcp_rmem[1]` (131072); then 0.625 of `tcp_rmem[2]` (33554432 since Linux 6.16), which is
/// 160/256 with 1448 B of payload in packets of 2304 B, as a host of Linux 6.18 advertised.
const INITIAL_SPACE: u64 = 65_536;
const LARGEST_SPACE: u64 = 20_971_520;

settings! {
    /// Transport settings of one connection; the named profiles are two values of this: a current
    /// Linux (RACK-TLP with PRR, timestamps, D-SACK, undo and F-RTO, initial window 10, its RTO
    /// with a minimum of 200 ms, 40 ms delayed ACK with quick ACKs, an autotuned receive window),
    /// and the papers' simulators (Reno, a 20-segment window, no handshake, every segment
    /// acknowledged, coarse timers).
    #[derive(Clone, Debug, PartialEq)]
    pub struct Transport {
        /// Payload of a full segment.
        mss: Bytes = Bytes(1448), Bytes(1000);
        /// TCP and IP header on the wire, without options.
        header: Bytes = Bytes(40);
        /// Size of an ACK without data and options on the wire.
        ack: Bytes = Bytes(40);
        /// Loss recovery.
        recovery: Recovery = Recovery::Rack, Recovery::Reno;
        /// Proportional rate reduction, RFC 9937: in fast recovery with SACK or RACK the window is
        /// reduced over a round trip. Other recoveries ignore it.
        prr: bool = true, false;
        /// Limited Transmit, RFC 3042: a new segment on each of the first two duplicate ACKs.
        limited_transmit: bool = true, false;
        /// No fast retransmit until everything outstanding at the last one, or at the last timeout,
        /// is acknowledged (RFC 6582, "recover"). Off: Reno as in 4.3BSD, which cuts the window
        /// again for each loss of one window. With SACK always on (RFC 6675).
        one_recovery_per_window: bool = true;
        /// Initial window, in segments.
        initial_window: f64 = 10.0, 1.0;
        /// Initial slow start threshold, in segments; infinite without one.
        initial_ssthresh: f64 = f64::INFINITY;
        /// The window that the receiver advertises.
        receive_window: ReceiveWindow = ReceiveWindow::Auto, ReceiveWindow::Fixed(Bytes(20_000));
        /// Window scale option: without it at most 65535 bytes can be advertised.
        window_scaling: bool = true;
        /// SYN and SYN-ACK before the first data. The third packet of the handshake is the first
        /// data segment.
        handshake: bool = true, false;
        /// Timestamps option: 12 bytes on every segment, a round-trip sample on every ACK.
        timestamps: bool = true, false;
        /// The receiver reports duplicate segments (D-SACK, RFC 2883). Recoveries without SACK
        /// ignore it.
        dsack: bool = true, false;
        /// Undo the response to a loss or timeout that proves spurious: by timestamps (Eifel, RFC
        /// 3522), by D-SACK (RFC 3708), by F-RTO. Needs one of `timestamps`, `dsack` and `frto`.
        undo: bool = true, false;
        /// After a timeout, send new data before further retransmissions, to see whether it was
        /// spurious (F-RTO, RFC 5682). Without `undo` ignored.
        frto: bool = true, false;
        /// Timeouts of the SYN after which the initial window is one segment.
        // "TCP implementations SHOULD NOT reset the initial window to 1 MSS unless there have
        // been multiple SYN or SYN/ACK retransmissions" (RFC 6928, section 2; Linux,
        // `tcp_init_transfer`).
        syn_timeouts: u32 = 2, 1;
        /// Delayed acknowledgement.
        delayed_ack: DelayedAck = DelayedAck::modern(), DelayedAck::classic();
        /// Explicit congestion notification.
        ecn: Ecn = Ecn::Off;
        /// Retransmission timer.
        timer: RetransmissionTimer = RetransmissionTimer::modern(), RetransmissionTimer::classic();
        /// Grow the window only while it limits the sender.
        grow_only_when_limited: bool = true, false;
        /// Count acknowledged bytes, as in Linux, instead of ACKs in slow start and in the increase
        /// of every window.
        byte_counting: bool = true, false;
        /// The window restarts after an idle period (RFC 5681, section 4.1).
        restart_after_idle: bool = true, false;
        /// Pace segments at `pacing_gain` × cwnd / srtt even if the algorithm does not request it;
        /// `None` to disable.
        pacing_gain: Option<f64> = None;
        /// A paced segment that left later than it might have shortens the wait of the next.
        pacing_credit: bool = false;
        /// A leaky bucket that shapes all outgoing traffic.
        shaper: Option<Shaper> = None;
        /// Whether the receiver supports the algorithm's option. If not, it ignores it.
        peer_knows_option: bool = true;
        /// Misbehaviour of the receiver; `None` for an honest one.
        misbehaviour: Option<MisbehaviourPlan> = None;
        /// Whether routers can neither read nor change its transport header (IPsec, QUIC).
        encrypted: bool = false;
    }

    /// Delayed acknowledgement.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DelayedAck {
        /// Full segments per ACK; 1 acknowledges each.
        every: u32 = 2, 1;
        /// Maximum delay of an ACK.
        timer: Duration = Duration::from_milliseconds(40), Duration::from_milliseconds(200);
        /// Start of the timer.
        clock: AckClock = AckClock::Segment, AckClock::Grid;
        /// Quick ACKs, as in Linux: the first segments, those after a pause or a duplicate, and the
        /// end of what the application has written are acknowledged at once.
        quick: bool = true, false;
    }

    /// Retransmission timer, RFC 6298.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RetransmissionTimer {
        /// Before the first round-trip sample.
        initial: Duration = Duration::from_milliseconds(1000), Duration::from_milliseconds(3000);
        /// Smallest value.
        minimum: Duration = Duration::from_milliseconds(200), Duration::from_milliseconds(1000);
        /// Largest value.
        maximum: Duration = Duration::from_milliseconds(120_000), Duration::from_milliseconds(64_000);
        /// Clock granularity G. Zero: exact.
        granularity: Duration = Duration::from_milliseconds(1), Duration::from_milliseconds(500);
        /// Factor at each timeout.
        backoff: f64 = 2.0;
        /// The first timeouts of the SYN, which leave the timeout as it is.
        // `net.ipv4.tcp_syn_linear_timeouts`.
        linear_syn_timeouts: u32 = 4, 0;
        /// How samples become srtt and rttvar.
        arithmetic: TimerArithmetic = TimerArithmetic::Linux, TimerArithmetic::Bsd;
        /// Which segments are timed.
        samples: RttSamples = RttSamples::EverySegment, RttSamples::OneAtATime;
    }

    /// Misbehaviour of a receiver; in both profiles honest.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct MisbehaviourPlan {
        /// Number of ACKs that replace one; 1 disables division.
        ack_parts: u32 = 1;
        /// Acknowledges across gaps, and this many segments beyond the data received.
        ack_ahead: Option<u32> = None;
        /// Number of copies sent after each ACK.
        ack_repeats: u32 = 0;
        /// With every Nth ACK that carries SACK blocks, discards the data just reported (reneging).
        renege_every: Option<u32> = None;
        /// Factor by which it multiplies a pair's interval, and divides rates and feedback, before
        /// it reports them.
        interval_factor: f64 = 1.0;
    }
}

impl Transport {
    /// Finds contradictory settings.
    ///
    /// # Errors
    /// The receive window is below a segment, nothing tells undo what is spurious, or the timer has
    /// no possible value.
    pub fn check(&self) -> Result<(), PlanError> {
        let RetransmissionTimer { minimum, maximum, arithmetic, granularity, .. } = self.timer;
        if self.receive_window.maximum() < self.mss {
            return Err(PlanError::ReceiveWindow { mss: self.mss });
        }
        if self.undo && !self.detects_spurious() {
            return Err(PlanError::Undo);
        }
        if maximum < minimum {
            return Err(PlanError::TimerBounds { maximum, minimum });
        }
        if arithmetic == TimerArithmetic::Bsd && granularity.is_zero() {
            return Err(PlanError::TimerTicks);
        }
        Ok(())
    }

    /// Whether anything shows that a loss or a timeout was spurious.
    pub const fn detects_spurious(&self) -> bool {
        self.timestamps || self.reports_duplicates() || self.frto
    }

    /// Whether the receiver reports duplicate segments.
    pub const fn reports_duplicates(&self) -> bool {
        self.dsack && self.recovery.uses_sack()
    }

    /// The largest window that the receiver advertises: at most 65535 bytes without the window
    /// scale option.
    pub fn advertised_window(&self) -> Bytes {
        let window = self.receive_window.maximum();
        if self.window_scaling { window } else { window.min(UNSCALED) }
    }

    /// The window that the receiver advertises first.
    pub fn first_window(&self) -> Bytes {
        match self.receive_window {
            ReceiveWindow::Fixed(_) => self.advertised_window(),
            // Half of `tcp_rmem[1]` = 131072 B in whole segments (Linux:
            // `tcp_select_initial_window`).
            ReceiveWindow::Auto => {
                let Bytes(mss) = self.mss;
                self.advertised_window().min(Bytes((INITIAL_SPACE / mss * mss).max(mss)))
            }
        }
    }

    /// Shift count of the window scale option (RFC 7323): the smallest that lets the header's 16
    /// bits hold the window.
    pub fn window_shift(&self) -> u8 {
        if !self.window_scaling {
            return 0;
        }
        let window = match self.receive_window {
            ReceiveWindow::Fixed(Bytes(window)) => window,
            // For the whole buffer, of which the window is a half (`tcp_select_initial_window`).
            ReceiveWindow::Auto => 2 * LARGEST_SPACE,
        };
        (0..LARGEST_SHIFT).find(|shift| window >> shift <= u16::MAX as u64).unwrap_or(LARGEST_SHIFT)
    }
}

/// The receive window of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// Constant.
    Fixed(Bytes),
    /// It grows with what arrives, as in Linux.
    Auto,
}

impl ReceiveWindow {
    /// Any amount.
    pub const UNLIMITED: Self = Self::Fixed(Bytes::MAX);

    /// The most it can be.
    pub const fn maximum(self) -> Bytes {
        match self {
            Self::Fixed(size) => size,
            Self::Auto => Bytes(LARGEST_SPACE),
        }
    }
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit, then slow start.
    Tahoe,
    /// Fast recovery that ends at the first new ACK, RFC 2581.
    Reno,
    /// Fast recovery that continues through partial ACKs, RFC 6582.
    NewReno,
    /// Selective acknowledgements, RFC 6675.
    Sack,
    /// SACK, time-based loss detection, and tail loss probes: RACK-TLP, RFC 8985.
    Rack,
}

impl Recovery {
    /// Whether the receiver sends SACK blocks.
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// No ECN: a queue can only drop.
    Off,
    /// RFC 3168: the receiver echoes CE until the sender confirms a reduction of its window.
    Classic,
    /// The receiver reports how many bytes were marked, as in AccECN (RFC 9768). Only the count is
    /// modelled, not its encoding in header and option, which does not enlarge an ACK.
    Accurate,
}

impl Ecn {
    /// Codepoint of segments of new data. `marks` is the algorithm's response to CE marks.
    pub const fn codepoint(self, marks: Marks) -> Flags {
        match (self, marks) {
            (Self::Off, _) => Flags::NONE,
            (Self::Accurate, Marks::InProportion) => Flags::ECT_1,
            (Self::Classic | Self::Accurate, _) => Flags::ECT_0,
        }
    }

    /// Codepoint of all other packets after the handshake: retransmissions and ACKs. With accurate
    /// feedback that of data (draft-ietf-tcpm-generalized-ecn, section 3.2; Linux: `tcp_ecn_send`);
    /// otherwise none (RFC 3168, sections 6.1.4 and 6.1.5).
    pub const fn codepoint_of_all(self, marks: Marks) -> Flags {
        match self {
            Self::Accurate => self.codepoint(marks),
            Self::Off | Self::Classic => Flags::NONE,
        }
    }

    /// Codepoint of SYN and SYN-ACK: that of data if the algorithm needs ECN and has accurate
    /// feedback (Linux: `tcp_ecn_send_syn`, `tcp_ecn_send_synack`).
    pub const fn codepoint_of_handshake(self, marks: Marks) -> Flags {
        match marks {
            Marks::InProportion => self.codepoint_of_all(marks),
            _ => Flags::NONE,
        }
    }
}

/// Start of the delayed-ACK timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckClock {
    /// The first segment not yet acknowledged.
    Segment,
    /// A free-running clock with this period, as in 4.4BSD: pending ACKs leave at its ticks.
    Grid,
}

/// How round-trip samples become srtt and rttvar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerArithmetic {
    /// RFC 6298 as written: RTO = SRTT + max(G, 4 RTTVAR), at least the minimum.
    Rfc6298,
    /// Linux: the minimum bounds the variation, RTO = SRTT + max(4 RTTVAR, minimum); RTTVAR falls
    /// once per round trip, and slowly with a falling RTT (`tcp_rtt_estimator`). Tail loss probes
    /// of one segment wait for the minimum, too (`tcp_schedule_loss_probe`).
    Linux,
    /// Jacobson 1988 as in 4.3BSD: samples in whole ticks of G, srtt scaled by 8 and rttvar by 4 in
    /// integers.
    Bsd,
}

/// Which segments are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSamples {
    /// One at a time.
    OneAtATime,
    /// Every segment sent only once (with timestamps, or with a send time per segment).
    EverySegment,
}

impl MisbehaviourPlan {
    /// An honest receiver.
    pub const NONE: Self = Self::modern();
}

/// A leaky bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shaper {
    /// Rate on the wire.
    pub rate: Rate,
    /// Bytes that may leave at once after an idle period.
    pub burst: Bytes,
}
