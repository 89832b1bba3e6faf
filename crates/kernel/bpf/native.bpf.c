/* SPDX-License-Identifier: GPL-2.0 */
/* A congestion control that decides in the kernel: the algorithm is Rust, compiled to BPF and
 * linked in (src/native.rs). It receives the same events as in bridge.bpf.c, and its decision takes
 * effect at once. */
#include "native.h"
#include "describe.h"
#include "flow.h"

char gpl[] SEC("license") = "GPL";

/* The flow's icsk_ca_priv, for everything but the algorithm. */
struct flow {
	u64 id, number;
	u64 last;		/* time of the last ACK */
	u32 last_jiffies;	/* the same in jiffies */
	u32 target;		/* the window decided on */
	u32 initial;
	u32 prr_delivered, count;
	u8 state, paced, asked;
	FLOW_OF_WINDOW
};
_Static_assert(sizeof(struct flow) <= 104, "icsk_ca_priv");

#ifdef WINDOW
#include "avoid.h"
#else
#include "window.h"
#endif

/* A connection of the algorithm, FLOW_WORDS long. */
struct state {
	struct native_record now;
	u64 flow[FLOW_WORDS];
};

extern void sc_begin(void *flow, const struct event *event, const u64 *words);
extern void sc_ack(void *flow, const struct event *event, struct decision *decision);
extern void sc_other(void *flow, const struct event *event, struct decision *decision);

struct {
	NUMBER(type, MAP_SK_STORAGE);
	NUMBER(map_flags, NO_PREALLOC);
	TYPE(key, int);
	TYPE(value, struct state);
} flows SEC(".maps");

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct parameters);
} parameters SEC(".maps");

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(map_flags, MMAPABLE);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct native_control);
} control SEC(".maps");

struct {
	NUMBER(type, MAP_RINGBUF);
	NUMBER(max_entries, 1 << 22);
} records SEC(".maps");

INLINE struct flow *flow_of(struct sock *sk)
{
	return (struct flow *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}
INLINE struct native_control *the_control(void)
{
	u32 zero = 0;
	return map_lookup(&control, &zero);
}
/* NULL before `init` (a SYN is sent or times out), or if memory ran out. */
INLINE struct state *state_of(struct sock *sk) { return flow_of(sk)->id ? sk_storage(&flows, sk, NULL, 0) : NULL; }

static __attribute__((noinline)) int record(struct state *state, struct native_control *all)
{
	struct native_record *record;

	if (!state || !all)
		return 0;
	record = ring_reserve(&records, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&all->lost_records, 1);
		return 0;
	}
	__builtin_memcpy(record, &state->now, sizeof(*record));
	ring_submit(record, ONCE(all->quiet) ? NO_WAKEUP : 0);
	__sync_fetch_and_add(&all->recorded, 1);
	return 0;
}

/* The algorithm, in separate functions: each has its own stack of 512 bytes, shared with its
 * callees. */
static __attribute__((noinline)) int decide_begin(struct state *state, struct parameters *given)
{
	if (state && given)
		sc_begin(state->flow, &state->now.event, given->words);
	return 0;
}
static __attribute__((noinline)) int decide_ack(struct state *state)
{
	if (state)
		sc_ack(state->flow, &state->now.event, &state->now.decision);
	return 0;
}
static __attribute__((noinline)) int decide_other(struct state *state)
{
	if (state)
		sc_other(state->flow, &state->now.event, &state->now.decision);
	return 0;
}

static __attribute__((noinline)) int describe(struct sock *sk, struct state *state, u64 how, s32 flag, const struct rate_sample *rs)
{
	struct flow *flow = flow_of(sk);
	struct event *e;

	if (!state)
		return 0;
	e = &state->now.event;
	e->id = flow->id;
	e->now = ktime();
	e->applied = flow->number;
	e->number = ++flow->number;
	e->slot = flow->id;
	e->flag = flag;
	e->kind = how & 0xff;
	e->state = flow->state;
	e->new_state = e->kind == STATE ? how >> 8 : 0;
	e->fallback = 0;
	describe_sample(e, rs);
	if (e->kind == START)
		describe_pause(e, tcp_of(sk), pause_of(tcp_of(sk), e->now - flow->last, flow->last_jiffies), how >> 8 & 1);
	if (e->kind == STATE)
		e->delivered = flow->asked;
#ifdef WINDOW
	if (e->kind == ACK) {
		describe_ack(e, tcp_of(sk), flow->rtt_us, how >> 32);
		flow->rtt_us = -1;
		flow->delivered = tcp_of(sk)->delivered;
	}
#endif
	describe_connection(e, sk);
	return 0;
}

/* Passes the event to the algorithm, which leaves its decision in `state`. */
INLINE void decide(struct sock *sk, struct state *state, u64 how, s32 flag, const struct rate_sample *rs)
{
	struct native_control *all = the_control();
	u32 kind = how & 0xff, zero = 0;

	if (!state || !all)
		return;
	describe(sk, state, how, flag, rs);
	if (kind == INIT)
		decide_begin(state, map_lookup(&parameters, &zero));
	if (kind == ACK) {
		decide_ack(state);
		__sync_fetch_and_add(&all->acks, 1);
	} else if (kind != RELEASE) {
		decide_other(state);
	}
	if (kind != RELEASE)
		__sync_fetch_and_add(&all->events, 1);
	if (ONCE(all->recording))
		record(state, all);
}

/* Applies the decision. The window is a target, which PRR approaches in recovery. */
INLINE void apply(struct sock *sk, struct flow *flow, const struct decision *decision)
{
	tcp_of(sk)->snd_ssthresh = decision->ssthresh;
	flow->target = decision->cwnd;
	if (decision->flags & PACE) {
		if (!flow->paced && sk->sk_pacing_status == PACING_NONE)
			sk->sk_pacing_status = PACING_NEEDED;
		flow->paced = 1;
		sk->sk_pacing_rate = MIN(decision->pacing, sk->sk_max_pacing_rate);
	} else if (flow->paced) {
		flow->paced = 0;
		unpace(sk);
	}
}

INLINE void set_window(struct tcp_sock *tp, u32 cwnd) { tp->snd_cwnd = MIN(MAX(cwnd, 1u), tp->snd_cwnd_clamp); }

SEC("struct_ops/init")
int begin(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	struct native_control *all = the_control();
	struct state *state;

	*flow = (struct flow){ .target = tcp_of(sk)->snd_cwnd, .last = ktime() };
	flow->initial = flow->target;
	flow->last_jiffies = jiffies64();
#ifdef WINDOW
	flow->rtt_us = -1;
	flow->acked = tcp_of(sk)->bytes_acked;
	flow->delivered = tcp_of(sk)->delivered;
#endif
	if (!all)
		return 0;
	flow->id = __sync_fetch_and_add(&all->flows, 1) + 1;
	unpace(sk);
	state = sk_storage(&flows, sk, NULL, STORAGE_CREATE);
	if (!state) {
		__sync_fetch_and_add(&all->without_state, 1);
		return 0;
	}
	decide(sk, state, INIT, 0, NULL);
	apply(sk, flow, &state->now.decision);
	set_window(tcp_of(sk), flow->target);
	return 0;
}

SEC("struct_ops/release")
int end(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	struct native_control *all = the_control();

	if (!flow->id || !all)
		return 0;
	decide(sk, state_of(sk), RELEASE, 0, NULL);
	__sync_fetch_and_add(&all->ended, 1);
	flow->id = 0;
	return 0;
}

/* Called before the change of state, at which the algorithm decides: half the window until then,
 * unless the algorithm sets its window in recovery itself. */
SEC("struct_ops/ssthresh")
int threshold(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct state *state = state_of(sk);
	u32 half = MAX(tcp_of(sk)->snd_cwnd >> 1, 2u);

	flow_of(sk)->asked = 1;
	if (state && !(state->now.decision.flags & PRR))
		return tcp_of(sk)->snd_ssthresh;
	flow_of(sk)->target = half;
	return half;
}

SEC("struct_ops/undo_cwnd")
int undo(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	struct state *state = state_of(sk);

	if (state) {
		decide(sk, state, UNDO, 0, NULL);
		apply(sk, flow, &state->now.decision);
	} else {
		flow->target = MAX(tcp_of(sk)->snd_cwnd, tcp_of(sk)->prior_cwnd);
	}
#ifdef WINDOW
	flow->extra = flow->given = flow->lowered = 0;
#endif
	return MAX(flow->target, 1u);
}

#ifdef WINDOW
#include "native_avoid.h"
#else
#include "native_control.h"
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
