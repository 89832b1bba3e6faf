//! The event that the kernel part reports: `struct event` of `bpf/shared.h`.

/// Declares the fields of [`KernelEvent`] in memory order, the longest first, so that there is no
/// padding.
macro_rules! fields {
    ($($(#[$about:meta])* $name:ident: $kind:ty,)+) => {
        /// An event of a connection, as the kernel part reports it.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(C)]
        pub struct KernelEvent {
            $($(#[$about])* pub $name: $kind,)+
        }

        impl KernelEvent {
            /// Bytes of an event in the ring.
            pub const SIZE: usize = 0 $(+ size_of::<$kind>())+;
            /// Number of fields.
            pub const FIELDS: usize = [$(stringify!($name)),+].len();

            /// Reads an event from the ring.
            pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
                let mut rest = bytes.iter().copied();
                Self { $($name: <$kind>::from_le_bytes(core::array::from_fn(|_| rest.next().unwrap_or(0))),)+ }
            }

            /// The fields as numbers, in their order.
            pub fn numbers(&self) -> [u64; Self::FIELDS] {
                [$(self.$name as u64,)+]
            }

            /// The event with these fields. Values are truncated to their fields.
            pub fn from_numbers(numbers: [u64; Self::FIELDS]) -> Self {
                let [$($name,)+] = numbers;
                Self { $($name: $name as $kind,)+ }
            }
        }
    };
}

fields! {
    /// Number of the flow, never reused.
    id: u64,
    /// Time, in nanoseconds of `CLOCK_MONOTONIC`.
    now: u64,
    /// Number of the event in its flow, from 1.
    number: u64,
    /// Number of the event whose answer is in force.
    applied: u64,
    /// Bytes acknowledged, SYN and FIN included.
    bytes_acked: u64,
    /// Pacing rate in force, bytes/s of payload.
    pacing: u64,
    /// Slot of the flow.
    slot: u32,
    /// Flags of `tcp_ack`: see [`flag`].
    flag: i32,
    /// Round-trip time of the newest segment acknowledged, µs; negative if not measured.
    rtt_us: i32,
    /// Interval of the rate sample, µs; negative without a sample.
    interval_us: i32,
    /// Segments delivered over the interval; negative without a sample.
    delivered: i32,
    /// Segments marked lost on this ACK.
    losses: i32,
    /// `tp_delivered` when the newest segment acknowledged here was sent.
    prior_delivered: u32,
    /// Segments newly acknowledged or SACKed.
    acked_sacked: u32,
    /// Segments in flight before this ACK.
    prior_in_flight: u32,
    /// Segments delivered so far.
    tp_delivered: u32,
    /// Segments of `tp_delivered` that were CE-marked.
    tp_delivered_ce: u32,
    /// Segments marked lost so far.
    tp_lost: u32,
    /// Segments sent and not acknowledged.
    packets_out: u32,
    /// Segments of `packets_out` that are SACKed.
    sacked_out: u32,
    /// Segments of `packets_out` that are marked lost.
    lost_out: u32,
    /// Retransmissions in flight.
    retrans_out: u32,
    /// Congestion window in force, segments.
    cwnd: u32,
    /// Slow start threshold in force, segments.
    ssthresh: u32,
    /// Oldest sequence number not acknowledged.
    snd_una: u32,
    /// Next sequence number.
    snd_nxt: u32,
    /// Smoothed round-trip time, µs.
    srtt_us: u32,
    /// Payload of a full segment.
    mss: u32,
    /// Receive window, bytes.
    snd_wnd: u32,
    /// Segments with data sent so far, retransmissions included.
    data_segs_out: u32,
    /// Retransmissions so far.
    total_retrans: u32,
    /// Maximum number of segments in flight in the last window.
    max_packets_out: u32,
    /// Address of the peer, in network byte order.
    peer_0: u32,
    /// IPv6 alone.
    peer_1: u32,
    /// IPv6 alone.
    peer_2: u32,
    /// IPv6 alone.
    peer_3: u32,
    /// Own port.
    port: u16,
    /// The peer's port.
    peer_port: u16,
    /// Address family: 2 for IPv4, 10 for IPv6.
    family: u16,
    /// Bytes of the TCP header with its constant options.
    tcp_header: u16,
    /// See [`kind`].
    kind: u8,
    /// State before this event: see [`state`].
    state: u8,
    /// The new state, of a change of state.
    new_state: u8,
    /// Consecutive retransmission timeouts.
    retransmits: u8,
    /// The rate sample is limited by the application.
    app_limited: u8,
    /// The window limits the sender.
    cwnd_limited: u8,
    /// Reno controls the flow because no answer has come.
    fallback: u8,
    /// `TCP_ECN_*`; 1: negotiated.
    ecn: u8,
}

/// Kinds of events.
pub mod kind {
    /// A flow begins, or switches to this congestion control.
    pub const INIT: u8 = 0;
    /// An ACK.
    pub const ACK: u8 = 1;
    /// The state changes: `delivered` is 1 if the kernel has asked for a slow start threshold since
    /// the last change, which it does once for a flight, else 0.
    pub const STATE: u8 = 2;
    /// The last reduction was spurious.
    pub const UNDO: u8 = 3;
    /// A segment leaves after an idle time: `interval_us` is the time since the last segment left,
    /// `rtt_us` the retransmission timeout, or 0 if the window does not restart, and `app_limited`
    /// says that the application was silent.
    pub const START: u8 = 4;
    /// The flow ends, or switches to another congestion control.
    pub const RELEASE: u8 = 5;
    /// A device takes a data packet: `delivered` is its payload in bytes, `acked_sacked` its
    /// segments, `prior_delivered` its first sequence number, and `number` that of the preceding
    /// event.
    pub const SENT: u8 = 6;
    /// An ACK with an option of the peer has arrived; its own event follows. Of this and the next
    /// two kinds, `peer_0` to `peer_3` and `pacing` are the options (`bpf/options.h`).
    pub const HEARD: u8 = 7;
    /// Data with an option has arrived at a receiver, whose key is `id`.
    pub const ARRIVED: u8 = 8;
    /// A segment has left with an option: `prior_delivered` is the number of its block, `id` the
    /// flow or the receiver's key, and `number` the generation of the blocks.
    pub const WROTE: u8 = 9;

    /// Whether an event of this kind has an answer.
    pub const fn is_answered(kind: u8) -> bool {
        !matches!(kind, RELEASE | HEARD | ARRIVED | WROTE)
    }
}

/// `enum tcp_ca_state`.
pub mod state {
    /// Nothing dubious.
    pub const OPEN: u8 = 0;
    /// Duplicate ACKs or SACK blocks.
    pub const DISORDER: u8 = 1;
    /// The window is being reduced without a retransmission.
    pub const CWR: u8 = 2;
    /// Fast recovery.
    pub const RECOVERY: u8 = 3;
    /// After a retransmission timeout.
    pub const LOSS: u8 = 4;
}

/// Flags of `tcp_ack` (`net/ipv4/tcp_input.c`).
pub mod flag {
    /// The segment has data, changes the receive window, or acknowledges data or a SYN: not a
    /// duplicate (`FLAG_NOT_DUP`).
    pub const NOT_DUPLICATE: i32 = 0x01 | 0x02 | 0x04 | 0x10;
    /// It has new SACK blocks.
    pub const DATA_SACKED: i32 = 0x20;
    /// It echoes a CE mark.
    pub const ECE: i32 = 0x40;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The C side has the same size, with no padding; the object's BTF is compared in
    /// `tests/object.rs`.
    #[test]
    fn an_event_of_the_ring() {
        assert_eq!(KernelEvent::SIZE, 184);
        let mut bytes = [0_u8; KernelEvent::SIZE];
        bytes[0] = 7;
        bytes[16..18].copy_from_slice(&[1, 2]);
        bytes[56..60].copy_from_slice(&(-1_i32).to_le_bytes());
        bytes[183] = 1;
        let event = KernelEvent::from_bytes(&bytes);
        assert_eq!((event.id, event.number, event.rtt_us, event.ecn), (7, 513, -1, 1));
        assert_eq!(KernelEvent::from_numbers(event.numbers()), event);
    }
}
