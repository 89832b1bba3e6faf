/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's own algorithms behind thin BPF programs that only call them, so that
 * kernel.bpf_stats_enabled counts their time as it counts that of the compiled algorithms:
 * native_tables.py compiles and registers this. `empty` in place of the call gives the cost of a
 * program itself. */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
/* Only the kinds of types are compared with the kernel's. */
struct sock { u8 any; };
struct rate_sample { u8 any; };
struct ack_sample { u8 any; };
enum tcp_ca_event { ANY };

#define SEC(name) __attribute__((section(name), used))
#define KERNEL __attribute__((section(".ksyms")))
#define SK ((struct sock *)context[0])

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *);
	void (*cong_avoid)(struct sock *, u32, u32);
	void (*set_state)(struct sock *, u8);
	void (*cwnd_event)(struct sock *, u32);
	void (*pkts_acked)(struct sock *, const struct ack_sample *);
	u32 (*min_tso_segs)(struct sock *);
	void (*cong_control)(struct sock *, u32, int, const struct rate_sample *);
	u32 (*undo_cwnd)(struct sock *);
	u32 (*sndbuf_expand)(struct sock *);
	char name[16];
	void (*init)(struct sock *);
} __attribute__((preserve_access_index));

extern void cubictcp_init(struct sock *) KERNEL;
extern u32 cubictcp_recalc_ssthresh(struct sock *) KERNEL;
extern void cubictcp_cong_avoid(struct sock *, u32, u32) KERNEL;
extern void cubictcp_state(struct sock *, u8) KERNEL;
extern void cubictcp_cwnd_event(struct sock *, enum tcp_ca_event) KERNEL;
extern void cubictcp_acked(struct sock *, const struct ack_sample *) KERNEL;
extern void bbr_init(struct sock *) KERNEL;
extern void bbr_main(struct sock *, u32, int, const struct rate_sample *) KERNEL;
extern u32 bbr_sndbuf_expand(struct sock *) KERNEL;
extern u32 bbr_undo_cwnd(struct sock *) KERNEL;
extern void bbr_cwnd_event(struct sock *, enum tcp_ca_event) KERNEL;
extern u32 bbr_ssthresh(struct sock *) KERNEL;
extern u32 bbr_min_tso_segs(struct sock *) KERNEL;
extern void bbr_set_state(struct sock *, u8) KERNEL;
extern u32 tcp_reno_ssthresh(struct sock *) KERNEL;
extern u32 tcp_reno_undo_cwnd(struct sock *) KERNEL;
extern void tcp_reno_cong_avoid(struct sock *, u32, u32) KERNEL;

char gpl[] SEC("license") = "GPL";

#define NOTHING(operation, name, call) \
	SEC("struct_ops/" #name) void name(u64 *context) { call; }
#define RETURNS(operation, name, call) \
	SEC("struct_ops/" #name) u32 name(u64 *context) { return call; }

#if defined(CUBIC)
NOTHING(init, init, cubictcp_init(SK))
RETURNS(ssthresh, ssthresh, cubictcp_recalc_ssthresh(SK))
NOTHING(cong_avoid, cong_avoid, cubictcp_cong_avoid(SK, context[1], context[2]))
NOTHING(set_state, set_state, cubictcp_state(SK, context[1]))
NOTHING(cwnd_event, cwnd_event, cubictcp_cwnd_event(SK, context[1]))
NOTHING(pkts_acked, pkts_acked, cubictcp_acked(SK, (const struct ack_sample *)context[1]))
RETURNS(undo_cwnd, undo_cwnd, tcp_reno_undo_cwnd(SK))
#elif defined(BBR)
NOTHING(init, init, bbr_init(SK))
RETURNS(ssthresh, ssthresh, bbr_ssthresh(SK))
NOTHING(cong_control, cong_control, bbr_main(SK, context[1], context[2], (const struct rate_sample *)context[3]))
NOTHING(set_state, set_state, bbr_set_state(SK, context[1]))
NOTHING(cwnd_event, cwnd_event, bbr_cwnd_event(SK, context[1]))
RETURNS(min_tso_segs, min_tso_segs, bbr_min_tso_segs(SK))
RETURNS(undo_cwnd, undo_cwnd, bbr_undo_cwnd(SK))
RETURNS(sndbuf_expand, sndbuf_expand, bbr_sndbuf_expand(SK))
#else
RETURNS(ssthresh, ssthresh, tcp_reno_ssthresh(SK))
NOTHING(cong_avoid, cong_avoid, tcp_reno_cong_avoid(SK, context[1], context[2]))
RETURNS(undo_cwnd, undo_cwnd, tcp_reno_undo_cwnd(SK))
NOTHING(pkts_acked, pkts_acked, )
#endif

SEC(".struct_ops")
struct tcp_congestion_ops operations = {
	.ssthresh = (void *)ssthresh,
	.undo_cwnd = (void *)undo_cwnd,
#if defined(BBR)
	.cong_control = (void *)cong_control,
	.min_tso_segs = (void *)min_tso_segs,
	.sndbuf_expand = (void *)sndbuf_expand,
#else
	.cong_avoid = (void *)cong_avoid,
	.pkts_acked = (void *)pkts_acked,
#endif
#if defined(BBR) || defined(CUBIC)
	.init = (void *)init,
	.set_state = (void *)set_state,
	.cwnd_event = (void *)cwnd_event,
#endif
	.name = NAME,
};
