/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by an object that decides in the kernel and its loader. NATIVE_LAYOUT changes with any of
 * it, and with `struct event`. */
#ifndef SELFCLOCK_NATIVE_H
#define SELFCLOCK_NATIVE_H

#include "shared.h"

enum { NATIVE_LAYOUT = 1, PARAMETERS = 64 };

/* A decision in the kernel's units: `Answer` of src/bridge/answer.rs. */
struct decision {
	u32 cwnd, ssthresh;
	u64 pacing;		/* bytes/s of payload; 0: none */
	u32 flags;		/* enum answer */
	u32 slope;
};

/* One per event while a recorder runs. */
struct native_record {
	struct event event;
	struct decision decision;
};

/* `Selection::parameter_words`: the count, then the words. */
struct parameters { u64 words[PARAMETERS]; };

struct native_control {
	/* User space writes. */
	u64 layout;
	u64 recording;		/* 1: events and decisions go to the ring */
	u64 quiet;		/* 1: do not wake the reader of the ring */
	u64 owner;
	char name[16];		/* of the algorithm in the kernel */
	/* The kernel writes. */
	u64 flows;		/* flows so far: the last id */
	u64 ended;		/* those that are over */
	u64 events;		/* events decided */
	u64 acks;		/* those of them that were ACKs */
	u64 without_state;	/* flows that found no memory: Reno */
	u64 fallback_acks;	/* their ACKs */
	u64 lost_records;	/* the ring was full */
	u64 recorded;
	u64 rest[2];
};
_Static_assert(sizeof(struct native_control) == 128 && sizeof(struct native_record) == 208, "of NATIVE_LAYOUT");

#endif
