/* SPDX-License-Identifier: GPL-2.0 */
/* Pairs of segments and the times of their arrival, in TCP options: at the sender two segments in a row are marked, at the
 * receiver the interval in which they arrive is written into ACKs. One option for every algorithm that probes with pairs:
 * kind 253, ExID "SW", a byte with part and number, and in a reply the interval in microseconds (RFC 6994; the layout of
 * crates/congestion/src/option/swift_start.rs). A reply of 0 says that the first of a pair has arrived.
 * Runs for the sockets of a cgroup; both ends need it. */
#include "outside.h"

char gpl[] SEC("license") = "GPL";

/* struct bpf_sock_ops of include/uapi/linux/bpf.h, as far as it is read: an interface, the same on every kernel. */
struct sock_ops {
	u32 op, args[4], unread[16], callbacks, unread_too[4], snd_nxt, snd_una, mss_cache, unread_three[12];
	u64 bytes[2];
	void *sk;
	void *skb_data, *skb_data_end;
	u32 skb_len;
};
_Static_assert(__builtin_offsetof(struct sock_ops, callbacks) == 84, "bpf_sock_ops");
_Static_assert(__builtin_offsetof(struct sock_ops, snd_nxt) == 104, "bpf_sock_ops");
_Static_assert(__builtin_offsetof(struct sock_ops, sk) == 184, "bpf_sock_ops");

/* BPF_SOCK_OPS_*. */
enum { CONNECTED = 4, ACCEPTED = 5, PARSE = 13, LENGTH = 14, WRITE = 15 };
/* BPF_SOCK_OPS_*_CB_FLAG: options that TCP does not know, and room for ours. */
enum { HEAR_UNKNOWN = 1 << 5, HEAR_WRITE = 1 << 6 };
enum { FOR_MSS = 1 };			/* BPF_WRITE_HDR_TCP_CURRENT_MSS */
enum { IPPROTO_TCP = 6, TCP_CONGESTION = 13 };
enum { KIND = 253, MARK_LENGTH = 5, REPLY_LENGTH = 9, HEADER = 20 };
enum { FIRST = 1, SECOND = 2, REPLY = 3 };
/* A pair is two segments of one burst: those that leave further apart are none, ns. */
#define BURST (100 * 1000ull)
/* A reply is on so many ACKs: one may be lost. */
enum { REPLIES = 4 };

static long (*const get_option)(void *ops, int level, int name, void *value, int length) = (void *)57;
static long (*const set_callbacks)(void *ops, int flags) = (void *)59;
static long (*const load_option)(void *ops, void *option, u32 length, u64 flags) = (void *)142;
static long (*const store_option)(void *ops, const void *option, u32 length, u64 flags) = (void *)143;
static long (*const reserve_option)(void *ops, u32 length, u64 flags) = (void *)144;

/* What is known of a socket. */
struct memory {
	u64 first_left, first_came;	/* times */
	u32 microseconds;		/* of the reply */
	u8 mine;			/* under the algorithm */
	u8 open, number;		/* the first of pair `number` has left */
	u8 waiting, came;		/* the first of pair `came` has come */
	u8 replies, replied;		/* ACKs that are still to have a reply to pair `replied` */
	u8 reserved;
};

struct {
	NUMBER(type, MAP_SK_STORAGE);
	NUMBER(map_flags, NO_PREALLOC);
	TYPE(key, int);
	TYPE(value, struct memory);
} sockets SEC(".maps");

INLINE void begin(struct sock_ops *ops, void *sk)
{
	struct memory *memory = sk_storage(&sockets, sk, NULL, STORAGE_CREATE);
	struct control *all = the_control();
	u64 name[2] = { 0, 0 };

	if (!memory || !all)
		return;
	get_option(ops, IPPROTO_TCP, TCP_CONGESTION, name, sizeof(name));
	memory->mine = name[0] == ((u64 *)all->name)[0] && name[1] == ((u64 *)all->name)[1];
	set_callbacks(ops, ops->callbacks | HEAR_UNKNOWN | (memory->mine ? HEAR_WRITE : 0));
}

/* What a peer says. */
INLINE void hear(struct sock_ops *ops, void *sk, struct memory *memory)
{
	u8 option[12] = { KIND, 4, 'S', 'W' }, part, number;
	struct tcp_sock *tp = tcp_sock_of(sk);
	long length = load_option(ops, option, sizeof(option), 0);
	u64 now = ktime();

	if (!tp || (length != MARK_LENGTH && length != REPLY_LENGTH))
		return;
	part = option[4] >> 6;
	number = option[4] & 63;
	if (part == REPLY && length == REPLY_LENGTH) {
		struct event *e = event_outside(tp, OPTION);
		if (!e)
			return;
		/* Of this option: the pair's number, and the interval. */
		e->acked_sacked = number;
		e->prior_delivered = (u32)option[5] << 24 | option[6] << 16 | option[7] << 8 | option[8];
		submit(e);
		return;
	}
	if (part == FIRST) {
		memory->first_came = now;
		memory->came = number;
		memory->waiting = 1;
		memory->microseconds = 0;
		memory->replies = 1;
	} else if (part == SECOND && memory->waiting && memory->came == number) {
		memory->waiting = 0;
		memory->microseconds = MAX((u32)((now - memory->first_came) / 1000), 1u);
		memory->replies = REPLIES;
	} else {
		return;
	}
	memory->replied = number;
	if (!(ops->callbacks & HEAR_WRITE))
		set_callbacks(ops, ops->callbacks | HEAR_WRITE);
	struct slot *slot = slot_outside(tp);
	if (slot)
		slot->at_once = 1;
}

/* Room for a mark is kept in every segment of data, or the size of segments would change with every pair. */
INLINE void reserve(struct sock_ops *ops, struct memory *memory)
{
	if (ops->args[0] == FOR_MSS || ops->skb_len) {
		if (memory->mine)
			reserve_option(ops, MARK_LENGTH, 0);
	} else if (memory->replies) {
		reserve_option(ops, REPLY_LENGTH, 0);
	}
}

INLINE void mark(struct sock_ops *ops, void *sk, struct memory *memory)
{
	u8 option[8] = { KIND, MARK_LENGTH, 'S', 'W' };
	struct tcp_sock *tp = tcp_sock_of(sk);
	struct slot *slot = tp ? slot_outside(tp) : NULL;
	u64 now = ktime();

	if (memory->open && now - memory->first_left <= BURST) {
		option[4] = SECOND << 6 | (memory->number & 63);
		memory->open = 0;
	} else if (slot && ONCE(slot->id) == slot->flow && ONCE(slot->flags) & PAIRS) {
		memory->number++;
		option[4] = FIRST << 6 | (memory->number & 63);
		memory->open = 1;
		memory->first_left = now;
	} else {
		return;
	}
	if (store_option(ops, option, MARK_LENGTH, 0))
		memory->open = 0;
}

INLINE void write(struct sock_ops *ops, void *sk, struct memory *memory)
{
	u8 *header = ops->skb_data, *end = ops->skb_data_end;
	u8 option[12] = { KIND, REPLY_LENGTH, 'S', 'W' };
	u32 sequence, payload, us = memory->microseconds;

	if (header + HEADER > end)
		return;
	sequence = (u32)header[4] << 24 | header[5] << 16 | header[6] << 8 | header[7];
	payload = ops->skb_len - (header[12] >> 4) * 4;
	if (payload) {
		/* Full, new and one alone: an option is written once for all segments of a super-packet. */
		if (memory->mine && payload == ops->mss_cache && sequence == ops->snd_nxt)
			mark(ops, sk, memory);
	} else if (memory->replies) {
		option[4] = REPLY << 6 | (memory->replied & 63);
		option[5] = us >> 24;
		option[6] = us >> 16;
		option[7] = us >> 8;
		option[8] = us;
		if (!store_option(ops, option, REPLY_LENGTH, 0))
			memory->replies--;
	}
}

SEC("sockops")
int options(struct sock_ops *ops)
{
	struct memory *memory;
	void *sk = ops->sk;
	u32 op = ops->op;

	if (!sk)
		return 1;
	if (op == CONNECTED || op == ACCEPTED) {
		begin(ops, sk);
		return 1;
	}
	if (op != PARSE && op != LENGTH && op != WRITE)
		return 1;
	memory = sk_storage(&sockets, sk, NULL, 0);
	if (!memory)
		return 1;
	if (op == PARSE)
		hear(ops, sk, memory);
	else if (op == LENGTH)
		reserve(ops, memory);
	else
		write(ops, sk, memory);
	return 1;
}
