/* SPDX-License-Identifier: GPL-2.0 */
/* Events of connections under the algorithm from programs that no operation of a congestion control is: at a device, at a
 * cgroup. */
#ifndef SELFCLOCK_OUTSIDE_H
#define SELFCLOCK_OUTSIDE_H

#include "report.h"

static struct tcp_sock *(*const tcp_sock_of)(void *sk) = (void *)137;

/* A word of the flow's memory: smaller members of it cannot be read from here. */
#define WORD_OF(tp, member) (((u64 *)(tp)->inet_conn.icsk_ca_priv)[__builtin_offsetof(struct flow, member) / 8])

/* The slot of a connection. The memory is another's if the socket is under another control: then its slot does not have
 * this number. */
INLINE struct slot *slot_outside(struct tcp_sock *tp)
{
	u64 id = WORD_OF(tp, id);
	u32 number = (u32)WORD_OF(tp, slot);
	struct slot *slot;

	if (!id || number >= SLOTS)
		return NULL;
	slot = map_lookup(&slots, &number);
	return slot && slot->flow == id ? slot : NULL;
}

/* An event, with the number of the one before; NULL: the connection is none of ours, or the ring is full. */
INLINE struct event *event_outside(struct tcp_sock *tp, u32 kind)
{
	struct event *e;
	u64 word;

	if (!slot_outside(tp))
		return NULL;
	e = ring_reserve(&events, sizeof(*e), 0);
	if (!e)
		return NULL;
	e->id = WORD_OF(tp, id);
	e->now = ktime();
	e->number = WORD_OF(tp, number);
	e->applied = WORD_OF(tp, applied);
	e->slot = (u32)WORD_OF(tp, slot);
	e->flag = 0;
	e->kind = kind;
	word = WORD_OF(tp, state);
	e->state = e->new_state = (u8)word;
	e->fallback = (u8)(word >> 8);
	describe_sample(e, NULL);
	describe_connection(e, (struct sock *)tp);
	return e;
}

INLINE void submit(struct event *e)
{
	struct control *all = the_control();

	ring_submit(e, all && ONCE(all->quiet) ? NO_WAKEUP : 0);
}

#endif
