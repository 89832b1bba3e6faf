/* SPDX-License-Identifier: GPL-2.0 */
/* Decided in user space, with cong_control: an algorithm that paces, or that uses delivery rates. */

SEC("struct_ops/set_state")
int change_state(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	u8 new_state = context[1];

	report(sk, STATE, 0, new_state, NULL);
	flow->asked = 0;
	enters_recovery(tcp_of(sk), new_state, flags_of(flow));
	if (new_state == RECOVERY || new_state == CWR) {
		flow->prr_delivered = 0;
  /* Whether CWR is due to a CE mark shows at the next ACK. */
		flow->floor = flow->number + (new_state == CWR);
	} else if (new_state == LOSS) {
		flow->floor = flow->number;
	} else if (new_state == OPEN && (flow->state == RECOVERY || flow->state == CWR)) {
		tcp_of(sk)->snd_cwnd = MAX(flow->target, 1u);
	}
	flow->state = new_state;
	return 0;
}

/* A segment leaves while nothing is in flight. On paths of microseconds that is half of all events,
 * so it is reported only after one RTT of idle time, where it is a restart. An answer would come when
 * the flight has left: the window restarts here, and the answers of before no longer hold. */
SEC("struct_ops/cwnd_event")
int restart(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	struct tcp_sock *tp = tcp_of(sk);
	u64 silence;
	bool restart;

	if (context[1] != CA_EVENT_TX_START || !flow->id)
		return 0;
	silence = ktime() - flow->last;
	if (silence <= (u64)(tp->srtt_us >> 3) * 1000)
		return 0;
	restart = restarts_after_idle(sk);
	report(sk, START, 0, restart, NULL);
	if (restart && flags_of(flow) & RESTART && restarts(tp, flow, pause_of(tp, silence, flow->last_jiffies)))
		flow->floor = flow->number;
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
	struct slot *slot = slot_at_last(sk, flow);
	u64 now = ktime(), answers;
	u32 flags, cwnd, limited = is_limited(tp) ? LIMITED : 0;

	answers = answers_of(flow, slot, &flags);
	if (slot)
		watch(sk, flow, slot, answers, flags, now);
	flow->last = now;
	flow->last_jiffies = jiffies64();
	if (slot && answers && !flow->fallback) {
		apply(sk, flow, slot, answers, flags, tp->delivered);
	} else {
		flags = PRR;
		if (slot)
			slot->fallback_acks++;
		if (flow->state != CWR && flow->state != RECOVERY)
			flow->target = reno(tp, flow, flag, rs->acked_sacked);
	}

	cwnd = flow->target;
	if (flow->state == RECOVERY || flow->state == CWR) {
		if (flags & PRR)
			cwnd = reduced(tp, flow, flag, rs);
	} else if (flow->state == LOSS && !flow->fallback && answers < flow->floor) {
  /* A timeout not answered yet: slow start from the window the kernel left. */
		cwnd = flow->target = tp->snd_cwnd + rs->acked_sacked;
	}
	tp->snd_cwnd = MIN(MAX(cwnd, 1u), tp->snd_cwnd_clamp);
	if (!flow->paced || flow->fallback)
		size_bursts(sk);
	report(sk, ACK, flag, limited, rs);
	if (slot)
		slot->number = flow->number;
	return 0;
}
