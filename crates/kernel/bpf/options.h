/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by options.bpf.c and user space: TCP options to write, and how events report them.
 * src/bridge/options.rs and src/linux/options.rs mirror it. */
#ifndef SELFCLOCK_OPTIONS_H
#define SELFCLOCK_OPTIONS_H

#include "types.h"

/* Kinds of events, after those of shared.h: an option of the peer on an ACK for a flow; data with
 * an option at a receiver; a segment that left with an option. */
enum { HEARD = 7, ARRIVED = 8, WROTE = 9 };

/* Keys: the id of a flow, or the socket cookie of a receiver with this bit. */
#define RECEIVER (1ull << 63)

enum { MARKS = 16, REPLIES = 8 };

/* One or two options of a segment, each with its kind and length; length 0: none. The kernel
 * refuses two options of one kind and ExID on a segment. */
struct block {
	u8 first[16], second[8];
};

/* Written by user space: the options that a connection's next segments carry. */
struct outgoing {
	u64 generation;		/* a new one counts from zero again */
	u32 mark, marks;	/* number of the first block for data, and count */
	u32 reply, replies;	/* the same for ACKs */
	u32 extra, reserved;	/* number of an option that one data segment carries beside its block */
	u8 extra_bytes[8];
	struct block data[MARKS], acks[REPLIES];
};

/* Settings of a session. */
struct settings {
	u8 exid[2];
	u8 reserved[2];
	u32 bytes;		/* of a data segment's options, at most */
	struct outgoing opening;	/* of a flow that user space has not seen yet */
};

/* Counters, over all connections. */
struct counts {
	u64 marked;		/* data segments that left with an option */
	u64 replied;		/* ACKs that left with an option */
	u64 apart;		/* first segments of a pair whose second did not follow at once */
	u64 bundled;		/* packets of several segments, which cannot be marked one by one */
	u64 crowded;		/* segments without room, because of SACK blocks */
	u64 heard;		/* ACKs with an option of the peer */
	u64 arrived;		/* data segments with an option */
	u64 lost;		/* reports that found no room in the ring */
};

#endif
