//! The answer to the kernel: the part of `struct slot` that user space writes.

use selfclock_congestion::Controller;
use selfclock_congestion::composition::Composition;
use selfclock_congestion::units::Bytes;

/// Bits of [`Answer::flags`].
pub mod flags {
    /// The kernel part lowers the window by proportional rate reduction.
    pub const PRR: u32 = 1;
    /// [`Answer::pacing`](super::Answer::pacing) holds.
    pub const PACE: u32 = 2;
    /// The window grows by [`Answer::slope`](super::Answer::slope) until the next answer.
    pub const EXTRAPOLATE: u32 = 4;
    /// The algorithm has failed: Reno must take over at once.
    pub const GIVE_UP: u32 = 8;
    /// The window restarts after a pause longer than the retransmission timeout. The kernel part
    /// does that before an answer can come.
    pub const RESTART: u32 = 16;
}

/// The kernel's `TCP_INFINITE_SSTHRESH`.
pub const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// A decision in the kernel's units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Answer {
    /// Congestion window, in segments.
    pub cwnd: u32,
    /// Slow start threshold, in segments.
    pub ssthresh: u32,
    /// Pacing rate in bytes/s of payload, as the kernel counts; 0 without pacing.
    pub pacing: u64,
    /// See [`flags`].
    pub flags: u32,
    /// Increase of the window per delivered segment until the next answer, in units of 2^-16
    /// segments.
    pub slope: u32,
}

impl Answer {
    /// Number of fields.
    pub const FIELDS: usize = 5;

    /// The decision for this connection. `slope` is what a delivered segment added at the last ACK.
    pub fn of<A: Composition>(control: &Controller<A>, mss: Bytes, header: Bytes, slope: f64) -> Self {
        let (decision, snapshot) = (control.decision(), control.snapshot());
        // A paced window need not follow every ACK; slow start without pacing must.
        let mut flags = if decision.pacing.is_some() { 0 } else { flags::EXTRAPOLATE };
        if !control.owns_window_in_recovery() {
            flags |= flags::PRR;
        }
        if control.restarts_after_idle() {
            flags |= flags::RESTART;
        }
        let pacing = decision.pacing.map_or(0, |pacing| {
            flags |= flags::PACE;
            // sk_pacing_rate counts payload: a rate on the wire would be 3.6 % too high with 1448
            // of 1500 bytes.
            (pacing.bytes_per_second() * (mss.get() as f64 / (mss + header).get() as f64)) as u64
        });
        if control.failure().is_some() {
            flags |= flags::GIVE_UP;
        }
        Self {
            cwnd: (decision.window.get() / mss.get()).clamp(1, 1 << 30) as u32,
            // `as` saturates.
            ssthresh: (snapshot.ssthresh_segments as u32).min(NO_THRESHOLD),
            pacing,
            flags,
            slope: (slope * 65536.0) as u32,
        }
    }

    /// The fields as numbers.
    pub const fn numbers(&self) -> [u64; Self::FIELDS] {
        [self.cwnd as u64, self.ssthresh as u64, self.pacing, self.flags as u64, self.slope as u64]
    }

    /// The answer with these fields.
    pub const fn from_numbers([cwnd, ssthresh, pacing, flags, slope]: [u64; Self::FIELDS]) -> Self {
        Self {
            cwnd: cwnd as u32,
            ssthresh: ssthresh as u32,
            pacing,
            flags: flags as u32,
            slope: slope as u32,
        }
    }
}
