/* SPDX-License-Identifier: GPL-2.0 */
/* Decided in user space, without cong_control: an algorithm that only sets a window. */

/* Applies the newest answer, if one is to be had, at an ACK that newly delivered this many segments.
 * True if Reno is in control instead. */
INLINE bool follow(struct sock *sk, struct flow *flow, struct slot *slot, u32 newly)
{
	u32 flags;
	u64 answers = answers_of(flow, slot, &flags);

	if (slot)
		watch(sk, flow, slot, answers, flags, ktime());
	if (!slot || !answers || flow->fallback)
		return 1;
	apply(sk, flow, slot, answers, flags, flow->delivered + newly);
	return 0;
}

SEC("struct_ops/set_state")
int change_state(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct tcp_sock *tp = tcp_of(sk);
	struct flow *flow = flow_of(sk);
	u8 new_state = context[1];

	report(sk, STATE, 0, new_state, NULL);
	flow->asked = 0;
	note_state(tp, flow, new_state);
	if (new_state >= CWR)
		flow->floor = flow->number;
 /* The ACK that begins the reduction, which shows whether CWR is due to a CE mark. */
	if (is_reducing(flow) && flow->pending) {
		report(sk, ACK, flags_of_ack(flow), tp->delivered - flow->delivered, NULL);
		flow->floor = flow->number;
	} else if (new_state == CWR) {
		flow->floor = flow->number + 1;
	}
	return 0;
}

/* The kernel restarts the window after idle, or a segment leaves while nothing is in flight, after
 * one RTT of idle time. The answers of before a restart no longer hold. */
SEC("struct_ops/cwnd_event")
int restart(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	struct flow *flow = flow_of(sk);
	u32 event = context[1];
	bool is_idle = event == CA_EVENT_TX_START && !flow->resumed &&
		       ktime() - flow->last > (u64)(tcp_of(sk)->srtt_us >> 3) * 1000;

	if (!flow->id || (event != CA_EVENT_CWND_RESTART && !is_idle))
		return 0;
	flow->resumed = event == CA_EVENT_CWND_RESTART;
	report(sk, START, 0, flow->resumed, NULL);
	if (flow->resumed)
		flow->floor = flow->number;
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

	if (!flow->id)
		return 0;
	flow->last = ktime();
	flow->last_jiffies = jiffies64();
	if (!notes_ack(tp, flow, sample->rtt_us))
		return 0;
 /* The kernel reduces towards the threshold, which the answer to the loss sets. */
	if (is_reducing(flow))
		follow(sk, flow, slot_of(flow), tp->delivered - flow->delivered);
	report(sk, ACK, flags_of_ack(flow), tp->delivered - flow->delivered, NULL);
	return 0;
}

SEC("struct_ops/cong_avoid")
int control_window(u64 *context)
{
	struct sock *sk = (struct sock *)context[0];
	u32 acked = context[2];
	struct tcp_sock *tp = tcp_of(sk);
	struct flow *flow = flow_of(sk);
	struct slot *slot = slot_at_last(sk, flow);
	u32 cwnd = tp->snd_cwnd, limited = is_limited(tp) ? LIMITED : 0;

	if (follow(sk, flow, slot, acked)) {
		if (slot)
			slot->fallback_acks++;
		flow->target = reno(tp, flow, FLAG_SND_UNA_ADVANCED, acked);
		tp->snd_cwnd = MIN(MAX(flow->target, 1u), tp->snd_cwnd_clamp);
		flow->given = 0;
	} else if (ONCE(slot->answers) < flow->floor) {
  /* A change not answered yet: from the window that the kernel left. */
		flow->target = cwnd;
		if (cwnd < tp->snd_ssthresh && limited)
			flow->target = MIN(cwnd + acked, tp->snd_ssthresh);
		tp->snd_cwnd = MIN(MAX(flow->target, 1u), tp->snd_cwnd_clamp);
		flow->given = 0;
	} else {
		raise_window(tp, flow, acked);
	}
	if (flow->pending)
		report(sk, ACK, flags_of_ack(flow), may_raise(flow, acked) | limited, NULL);
	else
		flow->sacked += acked;
	if (slot)
		slot->number = flow->number;
	return 0;
}
