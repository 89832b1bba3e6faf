/* SPDX-License-Identifier: GPL-2.0 */
/* Reports events of connections through a ring buffer. */
#ifndef SELFCLOCK_REPORT_H
#define SELFCLOCK_REPORT_H

#include "describe.h"
#include "flow.h"

#define LIMITED (1u << 31)

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(map_flags, MMAPABLE);
	NUMBER(max_entries, SLOTS);
	TYPE(key, u32);
	TYPE(value, struct slot);
} slots SEC(".maps");

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(map_flags, MMAPABLE);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct control);
} control SEC(".maps");

struct {
	NUMBER(type, MAP_RINGBUF);
	NUMBER(max_entries, 1 << 22);
} events SEC(".maps");

struct {
	NUMBER(type, MAP_STACK);
	NUMBER(max_entries, SLOTS);
	NUMBER(value_size, 4);
} free_slots SEC(".maps");

/* The flow's icsk_ca_priv, of 104 bytes. */
struct flow {
	u64 id, number;
	u64 seen;		/* last number of an answer */
	u64 since;		/* when that was, or when the first event after it was reported */
	u64 floor;		/* an answer that knows less than this event is of before a reduction */
	u64 applied;		/* number of the event whose answer is in force */
	u64 last;		/* time of the last ACK */
	u32 last_jiffies;	/* the same in jiffies */
	u32 slot, target;
	u32 count;
	u8 state, fallback : 1, paced : 1, asked : 1;
#ifndef WINDOW
	u32 initial, prr_delivered;
#endif
	FLOW_OF_WINDOW
};
_Static_assert(sizeof(struct flow) <= 104, "icsk_ca_priv");
_Static_assert(sizeof(struct slot) == 128 && sizeof(struct control) == 128, "a slot is two cache lines");

/* A field of the flow of a connection that is only read: the verifier allows whole words of
 * icsk_ca_priv. Byte order is that of the BPF target, little-endian. */
#define FLOW_FIELD(tp, field) \
	(((u64 *)(tp)->inet_conn.icsk_ca_priv)[__builtin_offsetof(struct flow, field) / 8] \
	 >> __builtin_offsetof(struct flow, field) % 8 * 8)

INLINE struct flow *flow_of(struct sock *sk)
{
	return (struct flow *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}
INLINE struct control *the_control(void)
{
	u32 zero = 0;
	return map_lookup(&control, &zero);
}
INLINE struct slot *slot_of(struct flow *flow)
{
	u32 number = flow->slot;
	return number == NO_SLOT ? NULL : map_lookup(&slots, &number);
}

INLINE void lost(struct flow *flow, struct control *all)
{
	struct slot *slot = slot_of(flow);
	if (slot)
		slot->lost_events++;
	__sync_fetch_and_add(&all->lost_events, 1);
}

/* `more` is the new state of STATE; of START, whether the window restarts; of an ACK, LIMITED if the
 * window before it limited the sender, and without `rs` the segments that it newly delivered. Not inlined: it is half of the object, and has six callers;
 * device programs have none. */
static __attribute__((noinline, unused)) int report(struct sock *sk, u32 kind, s32 flag, u32 more, const struct rate_sample *rs)
{
	struct flow *flow = flow_of(sk);
	struct control *all = the_control();
	u64 now = ktime(), number = flow->number + 1;
	struct event *e;

 /* Before `init` (a SYN is sent or times out) the memory is all zero, and slot 0 is another flow's. */
	if (!flow->id)
		return 0;
	flow->number = number;
	if (flow->slot == NO_SLOT || !all)
		return 0;
 /* Nothing was unanswered: the wait for an answer starts here. */
	if (flow->seen == number - 1)
		flow->since = now;
	e = ring_reserve(&events, sizeof(*e), 0);
	if (!e) {
		lost(flow, all);
		return 0;
	}
	e->id = flow->id;
	e->now = now;
	e->number = number;
	e->applied = flow->applied;
	e->slot = flow->slot;
	e->flag = flag;
	e->kind = kind;
	e->state = flow->state;
	e->new_state = kind == STATE ? more : 0;
	e->fallback = flow->fallback;
	describe_sample(e, rs);
	if (kind == START)
		describe_pause(e, tcp_of(sk), pause_of(tcp_of(sk), now - flow->last, flow->last_jiffies), more);
	if (kind == STATE)
		e->delivered = flow->asked;
#ifdef WINDOW
	if (kind == ACK) {
		describe_ack(e, tcp_of(sk), flow->rtt_us, more & ~LIMITED);
		flow->rtt_us = -1;
		flow->delivered = tcp_of(sk)->delivered;
	}
#endif
	describe_connection(e, sk);
 /* The window in force may have grown already. */
	if (kind == ACK)
		e->cwnd_limited = more >> 31;
	ring_submit(e, ONCE(all->quiet) ? NO_WAKEUP : 0);
	return 0;
}

#endif
