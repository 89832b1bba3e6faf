//! Transport settings of a TCP connection, and the two named profiles.

use super::PlanError;
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

/// Transport settings of one connection; the named profiles are two values of this.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// Payload of a full segment.
    pub mss: Bytes,
    /// TCP and IP header on the wire, without options.
    pub header: Bytes,
    /// Size of an ACK without data and options on the wire.
    pub ack: Bytes,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Proportional rate reduction, RFC 9937: in fast recovery with SACK or RACK the window is
    /// reduced over a round trip. Other recoveries ignore it.
    pub prr: bool,
    /// Limited Transmit, RFC 3042: a new segment on each of the first two duplicate ACKs.
    pub limited_transmit: bool,
    /// No fast retransmit until everything outstanding at the last one, or at the last timeout, is
    /// acknowledged (RFC 6582, "recover"). Off: Reno as in 4.3BSD, which cuts the window again for
    /// each loss of one window. With SACK always on (RFC 6675).
    pub one_recovery_per_window: bool,
    /// Initial window, in segments.
    pub initial_window: f64,
    /// Initial slow start threshold, in segments; infinite without one.
    pub initial_ssthresh: f64,
    /// The window that the receiver advertises.
    pub receive_window: ReceiveWindow,
    /// Window scale option: without it at most 65535 bytes can be advertised.
    pub window_scaling: bool,
    /// SYN and SYN-ACK before the first data. The third packet of the handshake is the first data
    /// segment.
    pub handshake: bool,
    /// Timestamps option: 12 bytes on every segment, a round-trip sample on every ACK.
    pub timestamps: bool,
    /// The receiver reports duplicate segments (D-SACK, RFC 2883). Recoveries without SACK ignore
    /// it.
    pub dsack: bool,
    /// Undo the response to a loss or timeout that proves spurious: by timestamps (Eifel, RFC
    /// 3522), by D-SACK (RFC 3708), by F-RTO. Needs one of `timestamps`, `dsack` and `frto`.
    pub undo: bool,
    /// After a timeout, send new data before further retransmissions, to see whether it was
    /// spurious (F-RTO, RFC 5682). Without `undo` ignored.
    pub frto: bool,
    /// Timeouts of the SYN after which the initial window is one segment.
    pub syn_timeouts: u32,
    /// Delayed acknowledgement.
    pub delayed_ack: DelayedAck,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// Retransmission timer.
    pub timer: RetransmissionTimer,
    /// Grow the window only while it limits the sender.
    pub grow_only_when_limited: bool,
    /// Count acknowledged bytes, as in Linux, instead of ACKs in slow start and in the increase of
    /// every window.
    pub byte_counting: bool,
    /// The window restarts after an idle period (RFC 5681, section 4.1).
    pub restart_after_idle: bool,
    /// Pace segments at `pacing_gain` × cwnd / srtt even if the algorithm does not request it;
    /// `None` to disable.
    pub pacing_gain: Option<f64>,
    /// A paced segment that left later than it might have shortens the wait of the next.
    pub pacing_credit: bool,
    /// A leaky bucket that shapes all outgoing traffic.
    pub shaper: Option<Shaper>,
    /// Whether the receiver supports the algorithm's option. If not, it ignores it.
    pub peer_knows_option: bool,
    /// Misbehaviour of the receiver; `None` for an honest one.
    pub misbehaviour: Option<MisbehaviourPlan>,
    /// Whether routers can neither read nor change its transport header (IPsec, QUIC).
    pub encrypted: bool,
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

    /// Settings of a current Linux: RACK-TLP with PRR, timestamps, D-SACK, undo and F-RTO, initial
    /// window 10, its RTO with a minimum of 200 ms, 40 ms delayed ACK with quick ACKs, an autotuned
    /// receive window.
    pub fn modern() -> Self {
        Self {
            mss: Bytes(1448),
            header: Bytes(40),
            ack: Bytes(40),
            recovery: Recovery::Rack,
            prr: true,
            limited_transmit: true,
            one_recovery_per_window: true,
            initial_window: 10.0,
            initial_ssthresh: f64::INFINITY,
            receive_window: ReceiveWindow::Auto,
            window_scaling: true,
            handshake: true,
            timestamps: true,
            dsack: true,
            undo: true,
            frto: true,
            // "TCP implementations SHOULD NOT reset the initial window to 1 MSS unless there have
            // been multiple SYN or SYN/ACK retransmissions" (RFC 6928, section 2; Linux,
            // `tcp_init_transfer`).
            syn_timeouts: 2,
            ecn: Ecn::Off,
            delayed_ack: DelayedAck {
                every: 2,
                timer: Duration::from_milliseconds(40),
                clock: AckClock::Segment,
                quick: true,
            },
            timer: RetransmissionTimer {
                initial: Duration::from_milliseconds(1000),
                minimum: Duration::from_milliseconds(200),
                maximum: Duration::from_milliseconds(120_000),
                granularity: Duration::from_milliseconds(1),
                backoff: 2.0,
                // `net.ipv4.tcp_syn_linear_timeouts`.
                linear_syn_timeouts: 4,
                arithmetic: TimerArithmetic::Linux,
                samples: RttSamples::EverySegment,
            },
            grow_only_when_limited: true,
            byte_counting: true,
            restart_after_idle: true,
            pacing_gain: None,
            pacing_credit: true,
            shaper: None,
            peer_knows_option: true,
            misbehaviour: None,
            encrypted: false,
        }
    }

    /// Settings of the papers' simulators: Reno, a 20-segment window, no handshake, every segment
    /// acknowledged, coarse timers.
    pub fn classic() -> Self {
        let mss = Bytes(1000);
        Self {
            mss,
            header: Bytes(40),
            ack: Bytes(40),
            recovery: Recovery::Reno,
            prr: false,
            limited_transmit: false,
            one_recovery_per_window: true,
            initial_window: 1.0,
            initial_ssthresh: f64::INFINITY,
            receive_window: ReceiveWindow::Fixed(Bytes(20 * mss.get())),
            window_scaling: true,
            handshake: false,
            timestamps: false,
            dsack: false,
            undo: false,
            frto: false,
            syn_timeouts: 1,
            ecn: Ecn::Off,
            delayed_ack: DelayedAck {
                every: 1,
                timer: Duration::from_milliseconds(200),
                clock: AckClock::Grid,
                quick: false,
            },
            timer: RetransmissionTimer {
                initial: Duration::from_milliseconds(3000),
                minimum: Duration::from_milliseconds(1000),
                maximum: Duration::from_milliseconds(64_000),
                granularity: Duration::from_milliseconds(500),
                backoff: 2.0,
                linear_syn_timeouts: 0,
                arithmetic: TimerArithmetic::Bsd,
                samples: RttSamples::OneAtATime,
            },
            grow_only_when_limited: false,
            byte_counting: false,
            restart_after_idle: false,
            pacing_gain: None,
            pacing_credit: false,
            shaper: None,
            peer_knows_option: true,
            misbehaviour: None,
            encrypted: false,
        }
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

/// Delayed acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// Full segments per ACK; 1 acknowledges each.
    pub every: u32,
    /// Maximum delay of an ACK.
    pub timer: Duration,
    /// Start of the timer.
    pub clock: AckClock,
    /// Quick ACKs, as in Linux: the first segments, those after a pause or a duplicate, and the end
    /// of what the application has written are acknowledged at once.
    pub quick: bool,
}

/// Start of the delayed-ACK timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckClock {
    /// The first segment not yet acknowledged.
    Segment,
    /// A free-running clock with this period, as in 4.4BSD: pending ACKs leave at its ticks.
    Grid,
}

/// Retransmission timer, RFC 6298.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetransmissionTimer {
    /// Before the first round-trip sample.
    pub initial: Duration,
    /// Smallest value.
    pub minimum: Duration,
    /// Largest value.
    pub maximum: Duration,
    /// Clock granularity G. Zero: exact.
    pub granularity: Duration,
    /// Factor at each timeout.
    pub backoff: f64,
    /// The first timeouts of the SYN, which leave the timeout as it is.
    pub linear_syn_timeouts: u32,
    /// How samples become srtt and rttvar.
    pub arithmetic: TimerArithmetic,
    /// Which segments are timed.
    pub samples: RttSamples,
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

/// Misbehaviour of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MisbehaviourPlan {
    /// Number of ACKs that replace one; 1 disables division.
    pub parts: u32,
    /// Acknowledges across gaps, and this many segments beyond the data received.
    pub ahead: Option<u32>,
    /// Number of copies sent after each ACK.
    pub repeats: u32,
    /// With every Nth ACK that carries SACK blocks, discards the data just reported (reneging).
    pub renege_every: Option<u32>,
    /// Factor by which it multiplies a pair's interval, and divides rates and feedback, before it
    /// reports them.
    pub interval_factor: f64,
}

impl MisbehaviourPlan {
    /// An honest receiver.
    pub const NONE: Self =
        Self { parts: 1, ahead: None, repeats: 0, renege_every: None, interval_factor: 1.0 };
}

/// A leaky bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaper {
    /// Rate on the wire.
    pub rate: Rate,
    /// Bytes that may leave at once after an idle period.
    pub burst: Bytes,
}
