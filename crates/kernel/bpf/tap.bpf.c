/* SPDX-License-Identifier: GPL-2.0 */
/* Reports each data packet that a device takes from a connection under the algorithm, for which a
 * congestion control has no hook. Runs at the device's egress, before its queue. */
#include "report.h"
#include "packet.h"

char gpl[] SEC("license") = "GPL";

static struct tcp_sock *(*const tcp_sock_of)(void *sk) = (void *)137;

SEC("tcx/egress")
int sent(struct sk_buff *skb)
{
	struct segment s;
	struct tcp_sock *tp;
	struct slot *slot;
	struct event *e;
	struct control *all = the_control();
	void *sk = skb->sk;
	u64 id, word;
	u32 number;

	if (!sk || !all || !read_segment(skb, &s) || !s.payload)
		return NEXT;
	tp = tcp_sock_of(sk);
	if (!tp)
		return NEXT;
	/* The memory is another's if the socket is under another control: then its slot does not have this number. */
	id = ((struct flow *)tp->inet_conn.icsk_ca_priv)->id;
	number = (u32)FLOW_FIELD(tp, slot);
	if (!id || number >= SLOTS)
		return NEXT;
	slot = map_lookup(&slots, &number);
	if (!slot || slot->flow != id)
		return NEXT;
	e = ring_reserve(&events, sizeof(*e), 0);
	if (!e)
		return NEXT;
	e->id = id;
	e->now = ktime();
	e->number = ((struct flow *)tp->inet_conn.icsk_ca_priv)->number;
	e->applied = ((struct flow *)tp->inet_conn.icsk_ca_priv)->applied;
	e->slot = number;
	e->flag = 0;
	e->kind = SENT;
	word = FLOW_FIELD(tp, state);
	e->state = e->new_state = (u8)word;
	e->fallback = word >> 8 & 1;
	describe_sample(e, NULL);
	describe_connection(e, (struct sock *)tp);
	/* Of this packet: the bytes of its payload, its segments, its first sequence number. */
	e->delivered = s.payload;
	e->acked_sacked = MAX(skb->gso_segs, 1u);
	e->prior_delivered = s.sequence;
	e->prior_in_flight = flight_of(tp);
	e->app_limited = tp->app_limited != 0;
	ring_submit(e, ONCE(all->quiet) ? NO_WAKEUP : 0);
	return NEXT;
}
