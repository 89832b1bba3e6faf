/* SPDX-License-Identifier: GPL-2.0 */
/* Reports events of connections through a ring buffer. */
#ifndef SELFCLOCK_REPORT_H
#define SELFCLOCK_REPORT_H

#include "helpers.h"
#include "shared.h"

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

/* A flow's own memory: icsk_ca_priv, of 104 bytes. */
struct flow {
	u64 id, number;
	u64 seen;		/* last number of an answer */
	u64 since;		/* when that was, or when the first event after it was reported */
	u64 floor;		/* an answer that knows less than this event is of before a reduction */
	u64 applied;		/* number of the event whose answer is in force */
	u64 last;		/* time of the last ACK */
	u32 slot, target;
	u32 prr_delivered, count;
	u8 state, fallback, paced, started;
};
_Static_assert(sizeof(struct flow) <= 104, "icsk_ca_priv");
_Static_assert(sizeof(struct slot) == 128 && sizeof(struct control) == 128, "a slot is two cache lines");

INLINE struct tcp_sock *tcp_of(struct sock *sk) { return (struct tcp_sock *)sk; }
INLINE struct flow *flow_of(struct sock *sk)
{
	return (struct flow *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}
INLINE u32 flight_of(struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
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

INLINE void describe_sample(struct event *e, const struct rate_sample *rs)
{
	if (rs) {
		e->rtt_us = rs->rtt_us;
		e->interval_us = rs->interval_us;
		e->delivered = rs->delivered;
		e->losses = rs->losses;
		e->prior_delivered = rs->prior_delivered;
		e->acked_sacked = rs->acked_sacked;
		e->prior_in_flight = rs->prior_in_flight;
		e->app_limited = rs->is_app_limited;
	} else {
		e->rtt_us = e->interval_us = e->delivered = -1;
		e->losses = 0;
		e->prior_delivered = e->acked_sacked = e->prior_in_flight = 0;
		e->app_limited = 0;
	}
}

INLINE void describe_connection(struct event *e, struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct sock_common *common = &sk->__sk_common;

	e->bytes_acked = tp->bytes_acked;
	e->pacing = sk->sk_pacing_rate;
	e->tp_delivered = tp->delivered;
	e->tp_delivered_ce = tp->delivered_ce;
	e->tp_lost = tp->lost;
	e->packets_out = tp->packets_out;
	e->sacked_out = tp->sacked_out;
	e->lost_out = tp->lost_out;
	e->retrans_out = tp->retrans_out;
	e->cwnd = tp->snd_cwnd;
	e->ssthresh = tp->snd_ssthresh;
	e->snd_una = tp->snd_una;
	e->snd_nxt = tp->snd_nxt;
	e->srtt_us = tp->srtt_us >> 3;
	e->mss = tp->mss_cache;
	e->snd_wnd = tp->snd_wnd;
	e->data_segs_out = tp->data_segs_out;
	e->total_retrans = tp->total_retrans;
	e->max_packets_out = tp->max_packets_out;
	e->tcp_header = tp->tcp_header_len;
	e->ecn = tp->ecn_flags;
	e->cwnd_limited = BITS(tp, is_cwnd_limited);
	e->retransmits = ((struct inet_connection_sock *)sk)->icsk_retransmits;
	e->family = common->skc_family;
	e->port = common->skc_num;
	e->peer_port = __builtin_bswap16(common->skc_dport);
	if (e->family == 2) {
		e->peer[0] = common->skc_daddr;
		e->peer[1] = e->peer[2] = e->peer[3] = 0;
	} else {
		e->peer[0] = common->skc_v6_daddr.in6_u.u6_addr32[0];
		e->peer[1] = common->skc_v6_daddr.in6_u.u6_addr32[1];
		e->peer[2] = common->skc_v6_daddr.in6_u.u6_addr32[2];
		e->peer[3] = common->skc_v6_daddr.in6_u.u6_addr32[3];
	}
}

/* Not inlined: it is half of the object, and there are six callers; the programs at a device have none. */
static __attribute__((noinline, unused)) int report(struct sock *sk, u32 kind, s32 flag, u32 new_state, const struct rate_sample *rs)
{
	struct flow *flow = flow_of(sk);
	struct control *all = the_control();
	u64 now = ktime(), number = flow->number + 1;
	struct event *e;

	/* Before `init` (a SYN is sent or times out) the memory is all zero, and slot 0 somebody else's. */
	if (!flow->id)
		return 0;
	flow->number = number;
	if (flow->slot == NO_SLOT || !all)
		return 0;
	/* Nothing was unanswered: the wait for an answer begins. */
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
	e->new_state = new_state;
	e->fallback = flow->fallback;
	describe_sample(e, rs);
	describe_connection(e, sk);
	ring_submit(e, ONCE(all->quiet) ? NO_WAKEUP : 0);
	return 0;
}

#endif
