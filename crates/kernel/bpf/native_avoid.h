/* SPDX-License-Identifier: GPL-2.0 */
/* Decided in the kernel, without cong_control: an algorithm that only sets a window. */

/* Reports an ACK that has newly delivered this many segments. */
INLINE void tell_ack(struct sock *sk, struct flow *flow, struct state *state, u32 newly)
{
	decide(sk, state, ACK | (u64)newly << 32, flags_of_ack(flow), NULL);
	apply(sk, flow, &state->now.decision);
}

SEC("struct_ops/set_state")
int change_state(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct tcp_sock *tp = tcp_of(sk);
	struct flow *flow = flow_of(sk);
	struct state *state = state_of(sk);
	u8 new_state = context[1];

	if (state)
		decide(sk, state, STATE | (u32)new_state << 8, 0, NULL);
	flow->asked = 0;
	note_state(tp, flow, new_state);
	if (!state)
		return 0;
 /* The ACK that begins the reduction, which shows whether CWR is due to a CE mark. */
	if (is_reducing(flow) && flow->pending)
		tell_ack(sk, flow, state, tp->delivered - flow->delivered);
	else if (new_state != CWR)
		apply(sk, flow, &state->now.decision);
	return 0;
}

/* The kernel restarts the window after idle, or a segment leaves while nothing is in flight, after
 * one RTT of idle time. */
SEC("struct_ops/cwnd_event")
int restart(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	u32 event = context[1];
	bool is_idle = event == CA_EVENT_TX_START && !flow->resumed &&
		       ktime() - flow->last > (u64)(tcp_of(sk)->srtt_us >> 3) * 1000;
	struct state *state;

	if (event != CA_EVENT_CWND_RESTART && !is_idle)
		return 0;
	flow->resumed = event == CA_EVENT_CWND_RESTART;
	state = state_of(sk);
	if (!state)
		return 0;
	decide(sk, state, START | (u32)flow->resumed << 8, 0, NULL);
	apply(sk, flow, &state->now.decision);
	flow->given = 0;
	return 0;
}

SEC("struct_ops/in_ack_event")
int see_flags(u64 *context)
{
	flow_of((struct sock *)context[0])->marked = (context[1] & CA_ACK_ECE) != 0;
	return 0;
}

SEC("struct_ops/pkts_acked")
int see_ack(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	const struct ack_sample *sample = (const struct ack_sample *)context[1];
	struct tcp_sock *tp = tcp_of(sk);
	struct flow *flow = flow_of(sk);
	struct state *state;

	if (!flow->id)
		return 0;
	flow->last = ktime();
	flow->last_jiffies = jiffies64();
	if (!notes_ack(tp, flow, sample->rtt_us))
		return 0;
	state = state_of(sk);
	if (state)
		tell_ack(sk, flow, state, tp->delivered - flow->delivered);
	return 0;
}

SEC("struct_ops/cong_avoid")
int control_window(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	u32 acked = context[2];
	struct tcp_sock *tp = tcp_of(sk);
	struct flow *flow = flow_of(sk);
	struct state *state = state_of(sk);
	struct native_control *all;

	if (state) {
		if (flow->pending)
			tell_ack(sk, flow, state, may_raise(flow, acked));
		else
			flow->sacked += acked;
		raise_window(tp, flow, acked);
		return 0;
	}
	all = the_control();
	if (all)
		__sync_fetch_and_add(&all->fallback_acks, 1);
	set_window(tp, reno(tp, flow, FLAG_SND_UNA_ADVANCED, acked));
	return 0;
}
