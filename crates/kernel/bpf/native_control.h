/* SPDX-License-Identifier: GPL-2.0 */
/* Decided in the kernel, with cong_control: an algorithm that paces, or that uses delivery rates. */

SEC("struct_ops/set_state")
int change_state(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	struct state *state = state_of(sk);
	u8 new_state = context[1];

	if (state) {
		decide(sk, state, STATE | (u32)new_state << 8, 0, NULL);
		flow->asked = 0;
  /* Whether CWR is due to a CE mark shows at the next ACK. */
		if (new_state != CWR)
			apply(sk, flow, &state->now.decision);
	}
	enters_recovery(tcp_of(sk), new_state, state ? state->now.decision.flags : PRR);
	if (new_state == RECOVERY || new_state == CWR)
		flow->prr_delivered = 0;
	else if (new_state == OPEN && (flow->state == RECOVERY || flow->state == CWR))
		tcp_of(sk)->snd_cwnd = MAX(flow->target, 1u);
	flow->state = new_state;
	return 0;
}

/* A restart: a segment leaves while nothing is in flight, after one RTT of idle time. The decision
 * holds for this flight already. */
SEC("struct_ops/cwnd_event")
int restart(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	struct tcp_sock *tp = tcp_of(sk);
	struct state *state;
	u64 silence;
	u32 restart;

	if (context[1] != CA_EVENT_TX_START || !flow->id)
		return 0;
	silence = ktime() - flow->last;
	if (silence <= (u64)(tp->srtt_us >> 3) * 1000)
		return 0;
	state = state_of(sk);
	restart = restarts_after_idle(sk);
	if (state) {
		decide(sk, state, START | restart << 8, 0, NULL);
		apply(sk, flow, &state->now.decision);
		if (flow->state != CWR && flow->state != RECOVERY)
			set_window(tp, flow->target);
	} else if (restart) {
		restarts(tp, flow, pause_of(tp, silence, flow->last_jiffies));
	}
	return 0;
}

SEC("struct_ops/cong_control")
int control_window(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	int flag = context[2];
	const struct rate_sample *rs = (const struct rate_sample *)context[3];
	struct tcp_sock *tp = tcp_of(sk);
	struct flow *flow = flow_of(sk);
	struct state *state = state_of(sk);
	u32 flags = PRR, cwnd;

	flow->last = ktime();
	flow->last_jiffies = jiffies64();
	if (state) {
		decide(sk, state, ACK, flag, rs);
		apply(sk, flow, &state->now.decision);
		flags = state->now.decision.flags;
	} else {
		struct native_control *all = the_control();

		if (all)
			__sync_fetch_and_add(&all->fallback_acks, 1);
		if (flow->state != CWR && flow->state != RECOVERY)
			flow->target = reno(tp, flow, flag, rs->acked_sacked);
	}
	cwnd = flow->target;
	if (flags & PRR && (flow->state == RECOVERY || flow->state == CWR))
		cwnd = reduced(tp, flow, flag, rs);
	set_window(tp, cwnd);
	if (!flow->paced)
		size_bursts(sk);
	return 0;
}
