/* SPDX-License-Identifier: GPL-2.0 */
/* The fields of an event that describe a connection and an ACK. */
#ifndef SELFCLOCK_DESCRIBE_H
#define SELFCLOCK_DESCRIBE_H

#include "helpers.h"
#include "shared.h"

INLINE struct tcp_sock *tcp_of(struct sock *sk) { return (struct tcp_sock *)sk; }
INLINE u32 flight_of(struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
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

/* Whether the window limits the sender, by the kernel's rule, tcp_is_cwnd_limited(). */
INLINE bool is_limited(struct tcp_sock *tp)
{
	return BITS(tp, is_cwnd_limited) || (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out);
}

/* An ACK without a rate sample, which only cong_control receives. */
INLINE void describe_ack(struct event *e, struct tcp_sock *tp, s32 rtt_us, u32 newly)
{
	e->rtt_us = rtt_us;
	e->acked_sacked = newly;
	e->prior_in_flight = flight_of(tp) + newly;
	e->app_limited = tp->app_limited != 0;
}

/* The pause before a segment leaves: how long nothing has left, and the retransmission timeout, in
 * us. */
struct pause { u64 idle, timeout; };

/* From the kernel's own times, which are in jiffies. Their rate shows in the time since the last
 * ACK, which was `silence` ns and began at `since`; a pause too short for that is no timeout, and
 * the last segment left about a round trip before the last ACK. */
INLINE struct pause pause_of(struct tcp_sock *tp, u64 silence, u32 since)
{
	u32 now = (u32)jiffies64(), srtt = tp->srtt_us >> 3;
	u64 rate, hz, timeout = ((struct inet_connection_sock *)tp)->icsk_rto;

	if (silence < 100000000)
		return (struct pause){ silence / 1000 + srtt, srtt + tp->rttvar_us };
	rate = (u64)(now - since) * 1000000000 / silence;
	hz = rate < 175 ? 100 : rate < 275 ? 250 : rate < 650 ? 300 : 1000;
	return (struct pause){ (u64)(now - tp->lsndtime) * 1000000 / hz, timeout * 1000000 / hz };
}

/* net.ipv4.tcp_slow_start_after_idle */
INLINE bool restarts_after_idle(struct sock *sk)
{
	struct net *net = sk->__sk_common.skc_net.net;
	return net->ipv4.sysctl_tcp_slow_start_after_idle != 0;
}

/* A restart from idle has no rate sample. In its place: the pause, whose timeout is 0 if the window
 * does not restart, and whether the application, not the pacer or the receiver, was silent. */
INLINE void describe_pause(struct event *e, struct tcp_sock *tp, struct pause pause, bool restart)
{
	e->interval_us = (s32)MIN(pause.idle, 0x7fffffffull);
	e->rtt_us = restart ? (s32)MIN(pause.timeout, 0x7fffffffull) : 0;
	e->app_limited = tp->app_limited != 0;
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

#endif
