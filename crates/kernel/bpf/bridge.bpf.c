/* SPDX-License-Identifier: GPL-2.0 */
/* A congestion control whose decisions are made in user space. Every event of a connection goes
 * there through a ring buffer; the answer comes back through a slot of an array. A flow without
 * answers falls back to Reno. */
#include "report.h"
#ifdef WINDOW
#include "avoid.h"
#else
#include "window.h"
#endif

char gpl[] SEC("license") = "GPL";

#define MS 1000000ull

/* Number of events after which a flow without a slot asks again. */
enum { ASK_AGAIN = 256 };

INLINE bool take_slot(struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	u32 number;
	struct slot *slot;

	if (map_pop(&free_slots, &number))
		return 0;
	flow->slot = number;
	slot = slot_of(flow);
	if (!slot)
		return 0;
	slot->flow = flow->id;
	slot->number = slot->fallbacks = slot->fallback_acks = slot->lost_events = 0;
	slot->applied = slot->torn = slot->late = 0;
	return 1;
}

SEC("struct_ops/init")
int begin(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	struct control *all = the_control();

	*flow = (struct flow){ .slot = NO_SLOT, .target = tcp_of(sk)->snd_cwnd, .since = ktime() };
	flow->last = flow->since;
	flow->last_jiffies = jiffies64();
#ifdef WINDOW
	flow->rtt_us = -1;
	flow->acked = tcp_of(sk)->bytes_acked;
	flow->delivered = tcp_of(sk)->delivered;
#else
	flow->initial = flow->target;
#endif
	if (!all)
		return 0;
	flow->id = __sync_fetch_and_add(&all->flows, 1) + 1;
	unpace(sk);
	if (take_slot(sk)) {
		report(sk, INIT, 0, 0, NULL);
	} else {
		flow->fallback = 1;
		__sync_fetch_and_add(&all->without_slot, 1);
	}
	return 0;
}

SEC("struct_ops/release")
int end(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	struct slot *slot = slot_of(flow);
	u32 number = flow->slot;

	if (!flow->id)
		return 0;
	report(sk, RELEASE, 0, 0, NULL);
	if (slot)
		slot->flow = 0;
	if (number != NO_SLOT)
		map_push(&free_slots, &number, 0);
	flow->slot = NO_SLOT;
	return 0;
}

/* A full barrier: a fetching atomic operation is one (Documentation/bpf/standardization/
 * instruction-set.rst: atomic operations are sequentially consistent). Loads alone are reordered by
 * ARM, not by x86. */
INLINE void barrier(void)
{
	u64 word = 0;

	__sync_fetch_and_add((volatile u64 *)&word, 0);
}

/* Number of the newest answer, 0 without one, and its flags: the number is read before the rest,
 * which user space writes before it. */
INLINE u64 answers_of(struct flow *flow, struct slot *slot, u32 *flags)
{
	u64 answers = 0;

	*flags = PRR;
	if (slot && ONCE(slot->id) == flow->id) {
		answers = ONCE(slot->answers);
		barrier();
		if (answers)
			*flags = ONCE(slot->flags);
	}
	return answers;
}

/* Flags of the newest answer; without one Reno's. */
INLINE u32 flags_of(struct flow *flow)
{
	u32 flags;

	if (flow->fallback || !answers_of(flow, slot_of(flow), &flags))
		return PRR | RESTART;
	return flags;
}

/* Called at the beginning of a reduction, before user space can react: half the window until its
 * answer comes, unless the algorithm sets its window in recovery itself. */
SEC("struct_ops/ssthresh")
int threshold(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	u32 half = MAX(tcp_of(sk)->snd_cwnd >> 1, 2u);

	flow->asked = 1;
	if (!(flags_of(flow) & PRR))
		return tcp_of(sk)->snd_ssthresh;
	flow->target = half;
	return half;
}

SEC("struct_ops/undo_cwnd")
int undo(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct tcp_sock *tp = tcp_of(sk);
	struct flow *flow = flow_of(sk);
	u32 cwnd = MAX(tp->snd_cwnd, tp->prior_cwnd);

	report(sk, UNDO, 0, 0, NULL);
	flow->target = cwnd;
	flow->floor = flow->number;
#ifdef WINDOW
	flow->extra = flow->given = flow->lowered = 0;
#endif
	return cwnd;
}

/* Watchdog: Reno takes over when no event has been answered for four round trips and 100 ms. */
INLINE void watch(struct sock *sk, struct flow *flow, struct slot *slot, u64 answers, u32 flags, u64 now)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct control *all;

	if (answers != flow->seen) {
		flow->seen = answers;
		flow->since = now;
		flow->fallback = !!(flags & GIVE_UP);
		return;
	}
	if (flow->fallback || flow->number == answers || now - flow->since <= MAX(4 * (u64)(tp->srtt_us >> 3) * 1000, 100 * MS))
		return;
	flow->fallback = 1;
 /* A paced algorithm may have no threshold: Reno must not slow-start from its window. */
	if (flow->applied && (flags & PACE || !(flags & PRR)))
		tp->snd_ssthresh = MIN(tp->snd_ssthresh, tp->snd_cwnd);
	slot->fallbacks++;
	all = the_control();
	if (all)
		__sync_fetch_and_add(&all->fallbacks, 1);
}

/* The newest answer. `delivered` counts the segments that may raise the window, this ACK's included. */
INLINE void apply(struct sock *sk, struct flow *flow, struct slot *slot, u64 answers, u32 flags, u32 delivered)
{
	struct tcp_sock *tp = tcp_of(sk);
	u32 cwnd = ONCE(slot->cwnd), ssthresh = ONCE(slot->ssthresh), slope = ONCE(slot->slope);
	u32 since = delivered - ONCE(slot->delivered);
	u64 pacing = ONCE(slot->pacing);

	slot->applied++;
 /* `began` is read after the rest, which user space writes after it. */
	barrier();
	if (ONCE(slot->began) != answers) {
		slot->torn++;
		return;
	}
	if (flow->number != answers)
		slot->late++;
	if (answers >= flow->floor) {
  /* Predicted growth from this ACK and from those not answered yet, while the window limits. */
		bool limited = is_limited(tp);

		if (flags & EXTRAPOLATE && flow->state != CWR && flow->state != RECOVERY && since < 1u << 20) {
			u32 grown = cwnd + (u32)(((u64)since * slope) >> 16);

			if (!limited)
				grown = MIN(grown, MAX(tp->snd_cwnd, cwnd));
			cwnd = cwnd < ssthresh ? MIN(grown, MAX(ssthresh, cwnd)) : grown;
		}
		tp->snd_ssthresh = ssthresh;
		flow->target = cwnd;
		flow->applied = answers;
	}
	if (flags & PACE) {
		if (!flow->paced && sk->sk_pacing_status == PACING_NONE)
			sk->sk_pacing_status = PACING_NEEDED;
		flow->paced = 1;
		sk->sk_pacing_rate = MIN(pacing, sk->sk_max_pacing_rate);
	} else if (flow->paced) {
		flow->paced = 0;
		unpace(sk);
	}
}

/* A flow without a slot asks again now and then. */
INLINE struct slot *slot_at_last(struct sock *sk, struct flow *flow)
{
	struct slot *slot = slot_of(flow);

	if (!slot && !(flow->number % ASK_AGAIN) && take_slot(sk)) {
		report(sk, INIT, 0, 0, NULL);
		slot = slot_of(flow);
	}
	return slot;
}

#ifdef WINDOW
#include "bridge_avoid.h"
#else
#include "bridge_control.h"
#endif

SEC(".struct_ops.link")
struct tcp_congestion_ops selfclock = {
 /* Allowed as the default of a namespace. */
	.flags = TCP_CONG_NON_RESTRICTED,
	.init = (void *)begin,
	.release = (void *)end,
	.ssthresh = (void *)threshold,
	.set_state = (void *)change_state,
	.undo_cwnd = (void *)undo,
	.cwnd_event = (void *)restart,
#ifdef WINDOW
	.cong_avoid = (void *)control_window,
	.in_ack_event = (void *)see_flags,
	.pkts_acked = (void *)see_ack,
#else
	.cong_control = (void *)control_window,
#endif
	.name = "selfclock",
};
