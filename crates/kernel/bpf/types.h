/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel types that are read, by name and member only: the kernel that loads the object fills
 * in its own offsets (CO-RE), so nothing here depends on a version. */
#ifndef SELFCLOCK_TYPES_H
#define SELFCLOCK_TYPES_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
typedef _Bool bool;
#define NULL ((void *)0)

enum { OPEN, DISORDER, CWR, RECOVERY, LOSS };		   /* enum tcp_ca_state */
enum { CA_EVENT_TX_START, CA_EVENT_CWND_RESTART };	   /* enum tcp_ca_event */
enum { PACING_NONE, PACING_NEEDED };			   /* enum sk_pacing */
enum { FLAG_DATA_SACKED = 0x20, FLAG_ECE = 0x40, FLAG_SND_UNA_ADVANCED = 0x400 }; /* net/ipv4/tcp_input.c */
enum { CA_ACK_ECE = 4 };				   /* enum tcp_ca_ack_event_flags */
enum { TCP_CONG_NON_RESTRICTED = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_union { u32 u6_addr32[4]; };
struct in6_addr { struct in6_union in6_u; };
struct netns_ipv4 { u8 sysctl_tcp_slow_start_after_idle; };
struct net { struct netns_ipv4 ipv4; };
typedef struct { struct net *net; } possible_net_t;
struct sock_common {
	u32 skc_daddr;
	u16 skc_dport, skc_num, skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
};
struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate, sk_max_pacing_rate;
	u32 sk_pacing_status;
};
struct inet_sock { struct sock sk; };
struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u8 icsk_ca_state : 5;
	u8 icsk_retransmits;
	u32 icsk_rto;
	u64 icsk_ca_priv[13];
};
struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u16 tcp_header_len;
	u32 mss_cache, snd_cwnd, snd_cwnd_clamp, snd_ssthresh, prior_cwnd, prr_out, max_packets_out;
	u32 packets_out, sacked_out, lost_out, retrans_out, lost, delivered, delivered_ce;
	u32 snd_una, snd_nxt, high_seq, snd_wnd, srtt_us, lsndtime, rttvar_us, data_segs_out, total_retrans, app_limited;
	u64 bytes_acked;
	u8 ecn_flags;
	u8 is_cwnd_limited : 1;
};
struct rate_sample {
	u32 prior_delivered;
	s32 delivered;
	long interval_us, rtt_us;
	int losses;
	u32 acked_sacked, prior_in_flight;
	bool is_app_limited;
};
struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
};
struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *);
	void (*set_state)(struct sock *, u8);
	void (*cong_avoid)(struct sock *, u32, u32);
	void (*cwnd_event)(struct sock *, u32);
	void (*in_ack_event)(struct sock *, u32);
	void (*pkts_acked)(struct sock *, const struct ack_sample *);
	void (*cong_control)(struct sock *, u32, int, const struct rate_sample *);
	u32 (*undo_cwnd)(struct sock *);
	char name[16];
	u32 flags;
	void (*init)(struct sock *);
	void (*release)(struct sock *);
};

#pragma clang attribute pop

#endif
