/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the kernel part and user space: the event, a flow's slot, the control page.
 * src/event.rs and src/linux/slots.rs mirror it; LAYOUT changes with any of it. */
#ifndef SELFCLOCK_SHARED_H
#define SELFCLOCK_SHARED_H

#include "types.h"

enum { LAYOUT = 1, SLOTS = 1024, NO_SLOT = 0xffffffff };
enum kind { INIT, ACK, STATE, UNDO, START, RELEASE, SENT };

struct event {
	u64 id;			/* of the flow, never used again */
	u64 now;		/* CLOCK_MONOTONIC, ns */
	u64 number;		/* of this flow, from 1 */
	u64 applied;		/* number of the event whose answer is in force */
	u64 bytes_acked;
	u64 pacing;		/* rate in force, bytes/s of payload */
	u32 slot;
	s32 flag;		/* of tcp_ack() */
	s32 rtt_us, interval_us, delivered, losses;	/* -1: none; of START and STATE: see src/event.rs */
	u32 prior_delivered, acked_sacked, prior_in_flight;
	u32 tp_delivered, tp_delivered_ce, tp_lost;
	u32 packets_out, sacked_out, lost_out, retrans_out;
	u32 cwnd, ssthresh, snd_una, snd_nxt, srtt_us, mss, snd_wnd;
	u32 data_segs_out, total_retrans, max_packets_out;
	u32 peer[4];		/* as on the wire; IPv4: the first */
	u16 port, peer_port, family, tcp_header;
	u8 kind, state, new_state, retransmits, app_limited, cwnd_limited, fallback, ecn;
};

struct slot {
 /* Written by user space: `began` before the rest and `answers` after it. If they differ, an answer
  * is being written. */
	u64 id;			/* of the flow that the answer is for */
	u64 began;
	u64 answers;		/* number of the newest event that the answer knows */
	u64 pacing;		/* bytes/s of payload */
	u32 cwnd, ssthresh;
	u32 flags;
	u32 slope;		/* growth of cwnd per segment delivered, 16.16 */
	u32 delivered;		/* tp->delivered at that event */
	u32 reserved[3];
	/* The kernel writes. */
	u64 flow;		/* whose slot it is; 0: nobody's */
	u64 number;		/* of the last event */
	u64 fallbacks;		/* times that Reno took over */
	u64 fallback_acks;	/* ACKs under Reno */
	u64 lost_events;	/* the ring was full */
	u64 applied;		/* ACKs under an answer */
	u64 torn;		/* ACKs that met an answer being written */
	u64 late;		/* ACKs whose answer did not know the ACK before */
};

enum answer { PRR = 1, PACE = 2, EXTRAPOLATE = 4, GIVE_UP = 8, RESTART = 16 };

struct control {
	/* User space writes. */
	u64 layout;
	u64 quiet;		/* 1: do not wake the reader of the ring */
	u64 stop;		/* someone asks the owner to end */
	u64 owner;		/* process */
	char name[16];		/* of the algorithm in the kernel */
	u32 maps[4];		/* ids: slots, events, free_slots, and of the registration */
	/* The kernel writes. */
	u64 flows;		/* flows so far: the last id */
	u64 without_slot;	/* flows that found no slot */
	u64 lost_events;
	u64 fallbacks;
	u64 rest[4];
};

#endif
