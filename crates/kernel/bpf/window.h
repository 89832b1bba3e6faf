/* SPDX-License-Identifier: GPL-2.0 */
/* The parts that Linux leaves to an algorithm with cong_control: PRR, the rate that sizes bursts,
 * the restart after idle. The includer defines `struct flow`, which holds the target and the initial
 * window. */
#ifndef SELFCLOCK_WINDOW_H
#define SELFCLOCK_WINDOW_H

#include "reno.h"

/* RFC 6937 with its slow-start bound, like tcp_cwnd_reduction() of Linux: one step of the window
 * towards its target. */
INLINE u32 reduced(struct tcp_sock *tp, struct flow *flow, int flag, const struct rate_sample *rs)
{
	u32 flight = flight_of(tp), acked = rs->acked_sacked, prior = MAX(tp->prior_cwnd, 1u);
	s32 room = (s32)flow->target - (s32)flight, count, least = tp->prr_out ? 0 : 1;

	if (!acked)
		return tp->snd_cwnd;
	flow->prr_delivered += acked;
	if (room < 0) {
		count = (s32)(((u64)flow->target * flow->prr_delivered + prior - 1) / prior) - (s32)tp->prr_out;
	} else {
		count = MAX((s32)flow->prr_delivered - (s32)tp->prr_out, (s32)acked);
		if (flag & FLAG_SND_UNA_ADVANCED && rs->losses == 0)
			count++;
		count = MIN(count, room);
	}
	return flight + MAX(count, least);
}

/* If the reordering timer finds a loss, tcp_rack_reo_timeout() retransmits before any ACK: a window
 * of one segment more than in flight, as tcp_cwnd_reduction() sets there but with cong_control. */
INLINE void enters_recovery(struct tcp_sock *tp, u8 state, u32 flags)
{
	if (state == RECOVERY && flags & PRR)
		tp->snd_cwnd = flight_of(tp) + 1;
}

/* Linux restarts the window after idle (RFC 5681, section 4.1) for no algorithm with cong_control.
 * Like tcp_cwnd_restart(): halved for each timeout of the pause. A paced flow that the application
 * does not limit has been held by the pacer. True if the window has changed. */
INLINE bool restarts(struct tcp_sock *tp, struct flow *flow, struct pause pause)
{
	u32 cwnd = tp->snd_cwnd, least = MIN(flow->initial, cwnd);
	u64 halvings;

	if (!pause.timeout || pause.idle <= pause.timeout || cwnd <= least || (flow->paced && !tp->app_limited))
		return 0;
	halvings = (pause.idle - 1) / pause.timeout;
	tp->snd_ssthresh = MAX(tp->snd_ssthresh, (cwnd >> 1) + (cwnd >> 2));
	tp->snd_cwnd = flow->target = MAX(cwnd >> MIN(halvings, 31ull), least);
	return 1;
}

/* Like tcp_update_pacing_rate(): sizes bursts of flows that are not paced. */
INLINE void size_bursts(struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	u64 percent = tp->snd_cwnd < tp->snd_ssthresh / 2 ? 200 : 120;
	u64 rate = (u64)tp->mss_cache * ((1000000 / 100) << 3) * percent * MAX(tp->snd_cwnd, tp->packets_out);
	u32 srtt = tp->srtt_us;

	if (srtt)
		rate /= srtt;
	sk->sk_pacing_rate = MIN(rate, sk->sk_max_pacing_rate);
}

#endif
