/* SPDX-License-Identifier: GPL-2.0 */
/* An algorithm that only sets a window has no cong_control: Linux then itself does proportional rate
 * reduction, the restart after idle, the decay of a window that the application does not use, undo,
 * and the rate that sizes bursts. In place of cong_control three operations show the ACKs:
 * pkts_acked and in_ack_event, which every ACK of outstanding data calls before the state changes,
 * and cong_avoid, which only those call after which the window may grow.
 * The includer defines `struct flow`. */
#ifndef SELFCLOCK_AVOID_H
#define SELFCLOCK_AVOID_H

#include "reno.h"

INLINE bool is_reducing(const struct flow *flow) { return flow->state == CWR || flow->state == RECOVERY; }

/* What is known of an ACK before the kernel changes the state. True if it is to be reported at once:
 * a duplicate with SACK blocks, or one that lets a reduction go on. Any other is reported by
 * cong_avoid, or by set_state if it begins a reduction. */
INLINE bool notes_ack(struct tcp_sock *tp, struct flow *flow, s32 rtt_us)
{
	u32 acked = tp->bytes_acked;
	bool advanced = acked != flow->acked;

	flow->acked = acked;
	flow->resumed = 0;
	if (rtt_us >= 0)
		flow->rtt_us = rtt_us;
	if (!advanced)
		return tp->delivered != flow->delivered;
	flow->pending = 1;
	return is_reducing(flow) && (s32)(tp->snd_una - tp->high_seq) < 0;
}

/* Flags of an ACK, as far as known, when it is reported. */
INLINE s32 flags_of_ack(struct flow *flow)
{
	s32 flag = flow->marked ? FLAG_ECE : 0;

	flag |= flow->pending ? FLAG_SND_UNA_ADVANCED : FLAG_DATA_SACKED;
	flow->pending = 0;
	return flag;
}

/* Segments for which an ACK may raise the window. Where reordering is known, Linux also counts those
 * that a duplicate ACK reports (tcp_may_raise_cwnd); for the algorithm they count with the next. */
INLINE u32 may_raise(struct flow *flow, u32 acked)
{
	acked += flow->sacked;
	flow->sacked = 0;
	return acked;
}

/* The state changes, after the event. tcp_enter_loss() leaves a window of what is still in flight,
 * and one segment: the algorithm's own window begins at that one. */
INLINE void note_state(struct tcp_sock *tp, struct flow *flow, u8 state)
{
	flow->extra = state == LOSS && tp->snd_cwnd ? tp->snd_cwnd - 1 : state == OPEN ? flow->extra : 0;
	flow->given = 0;
	if (state >= CWR)
		flow->sacked = 0;
	flow->lowered &= state <= DISORDER;
	flow->state = state;
}

/* Sets the window after an ACK that may raise it. If the kernel has lowered it meanwhile, because
 * the application did not use it (tcp_cwnd_application_limited), it returns to the algorithm's as
 * there: by slow start to three quarters, then by one segment a window. */
INLINE void raise_window(struct tcp_sock *tp, struct flow *flow, u32 acked)
{
	u32 cwnd = MAX(flow->target, 1u), threshold;

	if (cwnd >= tp->snd_ssthresh)
		flow->extra = 0;
	cwnd = MIN(cwnd + flow->extra, MAX(tp->snd_ssthresh, cwnd));
	if (flow->given && tp->snd_cwnd < flow->given) {
		flow->lowered = 1;
		flow->count = 0;
	}
	if (flow->lowered) {
		threshold = tp->snd_ssthresh;
		tp->snd_ssthresh = MAX((cwnd >> 1) + (cwnd >> 2), 2u);
		cwnd = MIN(cwnd, reno(tp, flow, FLAG_SND_UNA_ADVANCED, acked));
		if (cwnd >= flow->target) {
			flow->lowered = 0;
			tp->snd_ssthresh = threshold;
		}
	}
	tp->snd_cwnd = MIN(cwnd, tp->snd_cwnd_clamp);
	flow->given = tp->snd_cwnd;
}

#endif
