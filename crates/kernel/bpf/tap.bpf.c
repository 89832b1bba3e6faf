/* SPDX-License-Identifier: GPL-2.0 */
/* Reports each data packet that a device takes from a connection under the algorithm, for which a
 * congestion control has no hook. Runs at the device's egress, before its queue. */
#include "outside.h"
#include "packet.h"

char gpl[] SEC("license") = "GPL";

SEC("tcx/egress")
int sent(struct sk_buff *skb)
{
	struct segment s;
	struct tcp_sock *tp;
	struct event *e;
	void *sk = skb->sk;

	if (!sk || !read_segment(skb, &s) || !s.payload)
		return NEXT;
	tp = tcp_sock_of(sk);
	if (!tp)
		return NEXT;
	e = event_outside(tp, SENT);
	if (!e)
		return NEXT;
	/* Of this packet: the bytes of its payload, its segments, its first sequence number. */
	e->delivered = s.payload;
	e->acked_sacked = MAX(skb->gso_segs, 1u);
	e->prior_delivered = s.sequence;
	e->prior_in_flight = flight_of(tp);
	e->app_limited = tp->app_limited != 0;
	submit(e);
	return NEXT;
}
