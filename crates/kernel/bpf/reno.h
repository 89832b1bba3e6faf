/* SPDX-License-Identifier: GPL-2.0 */
/* Reno, for a flow whose algorithm does not answer, and the pacing that it leaves. The includer
 * defines `struct flow`. */
#ifndef SELFCLOCK_RENO_H
#define SELFCLOCK_RENO_H

#include "describe.h"

/* Reno, counting segments as tcp_reno_cong_avoid() does. */
INLINE u32 reno(struct tcp_sock *tp, struct flow *flow, int flag, u32 acked)
{
	u32 cwnd = tp->snd_cwnd;

	if (!(flag & FLAG_SND_UNA_ADVANCED) || !acked)
		return cwnd;
	if (cwnd < tp->snd_ssthresh)
		return is_limited(tp) ? MIN(cwnd + acked, MAX(tp->snd_ssthresh, cwnd + 1)) : cwnd;
	if (!BITS(tp, is_cwnd_limited))
		return cwnd;
	flow->count += acked;
	if (flow->count < cwnd)
		return cwnd;
	flow->count -= cwnd;
	return cwnd + 1;
}

/* An unpaced algorithm must not inherit the pacing of the previous congestion control, unless the
 * application set a limit. */
INLINE void unpace(struct sock *sk)
{
	if (sk->sk_pacing_status == PACING_NEEDED && sk->sk_max_pacing_rate == ~0ul)
		sk->sk_pacing_status = PACING_NONE;
}

#endif
