/* SPDX-License-Identifier: GPL-2.0 */
/* TCP options between an algorithm and its peer, on connections of the processes of a cgroup: user
 * space prepares them, this program writes them as segments leave, and reports the peer's. */
#include "report.h"
#include "options.h"

char gpl[] SEC("license") = "GPL";

/* struct bpf_sock_ops (include/uapi/linux/bpf.h): a stable interface. */
struct sock_ops {
	u32 op;
	u32 args[4];
	u32 unread[13];
	u32 is_fullsock;
	u32 unread_too[2], flags, unread_more[24];
	void *sk, *skb_data, *skb_data_end;
	u32 skb_len, skb_tcp_flags;
};
#define PLACE(field) __builtin_offsetof(struct sock_ops, field)
_Static_assert(PLACE(is_fullsock) == 72 && PLACE(flags) == 84 && PLACE(sk) == 184 && PLACE(skb_len) == 208, "bpf_sock_ops");

enum { ACTIVE_ESTABLISHED = 4, PASSIVE_ESTABLISHED, PARSE = 13, LENGTH, WRITE };
enum { PARSE_UNKNOWN = 32, WRITES = 64 };
/* args[0] of LENGTH: no segment, the maximum is asked for. */
enum { CURRENT_MSS = 1 };
/* The kernel discards what a program did that returns 0. */
enum { DONE = 1 };
enum { SYN = 2, FIN = 1 };
enum { LRU_HASH = 9, CONNECTIONS = 8192 };
/* Kinds for experiments (RFC 4727), followed by an ExID (RFC 6994). */
enum { EXPERIMENT = 253, EXPERIMENT_2 = 254 };
/* Segments of one burst leave microseconds apart; 1500 bytes at 100 Mbit/s take 120 us. */
#define BACK_TO_BACK 100000ull

static u64 (*const cookie_of)(void *context) = (void *)46;
static long (*const set_flags)(void *context, u32 flags) = (void *)59;
static struct tcp_sock *(*const tcp_sock_of)(void *sk) = (void *)137;
static long (*const load_option)(void *context, void *found, u32 length, u64 flags) = (void *)142;
static long (*const store_option)(void *context, const void *option, u32 length, u64 flags) = (void *)143;
static long (*const reserve)(void *context, u32 length, u64 flags) = (void *)144;

struct {
	NUMBER(type, LRU_HASH);
	NUMBER(max_entries, CONNECTIONS);
	TYPE(key, u64);
	TYPE(value, struct outgoing);
} outgoing SEC(".maps");

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct settings);
} settings SEC(".maps");

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct counts);
} counts SEC(".maps");

/* Of a socket: the blocks written so far. */
struct progress {
	u64 generation;
	u32 mark, reply, extra;	/* numbers of the next */
	u32 second;		/* sequence number at which the second segment of a pair begins */
	u32 acknowledged;	/* snd_una when the first left */
	u32 reserved;
	u64 first;		/* time at which it left */
};
struct {
	NUMBER(type, MAP_SK_STORAGE);
	NUMBER(map_flags, NO_PREALLOC);
	TYPE(key, u32);
	TYPE(value, struct progress);
} progress SEC(".maps");

/* A connection. */
struct end {
	struct tcp_sock *tp;
	u64 id;			/* of the flow; 0: not under the algorithm */
	u32 slot;
	struct outgoing *out;	/* NULL: nothing to write */
	struct progress *own;
};

/* The flow of a socket under the algorithm; 0 of any other. */
INLINE u64 flow_of_socket(struct tcp_sock *tp, u32 *number)
{
	u64 id = ((struct flow *)tp->inet_conn.icsk_ca_priv)->id;
	struct slot *slot;

	*number = (u32)FLOW_FIELD(tp, slot);
	if (!id || *number >= SLOTS)
		return 0;
	slot = map_lookup(&slots, number);
	return slot && slot->flow == id ? id : 0;
}

INLINE bool find(struct sock_ops *context, struct end *end)
{
	void *sk = context->sk;

	if (!sk || !context->is_fullsock)
		return 0;
	end->tp = tcp_sock_of(sk);
	if (!end->tp)
		return 0;
	end->slot = NO_SLOT;
	end->id = flow_of_socket(end->tp, &end->slot);
	return 1;
}

INLINE struct settings *the_settings(void)
{
	u32 zero = 0;
	return map_lookup(&settings, &zero);
}

/* Finds what the segments of a flow carry. */
INLINE bool sends(struct sock_ops *context, struct end *end)
{
	struct settings *all = the_settings();
	void *sk = context->sk;

	if (!end->id || !all || !sk)
		return 0;
	end->out = map_lookup(&outgoing, &end->id);
	if (!end->out)
		end->out = &all->opening;
	end->own = sk_storage(&progress, sk, NULL, STORAGE_CREATE);
	if (!end->own)
		return 0;
	if (end->own->generation != end->out->generation) {
		end->own->generation = end->out->generation;
		end->own->mark = end->own->extra = 0;
	}
	return 1;
}

/* Finds what the ACKs of a receiver carry. */
INLINE bool answers(struct sock_ops *context, struct end *end)
{
	u64 key = cookie_of(context) | RECEIVER;
	void *sk = context->sk;

	end->out = map_lookup(&outgoing, &key);
	if (!end->out || !sk)
		return 0;
	end->own = sk_storage(&progress, sk, NULL, STORAGE_CREATE);
	if (!end->own)
		return 0;
	/* User space discards replies when there are too many. */
	if ((s32)(end->out->reply - end->own->reply) > 0)
		end->own->reply = end->out->reply;
	return 1;
}

/* A paced segment does not follow another at once, so that it cannot be of a pair. */
INLINE bool has_mark(const struct end *end)
{
	return end->own->mark - end->out->mark < end->out->marks && ((struct sock *)end->tp)->sk_pacing_status != PACING_NEEDED;
}
INLINE bool has_reply(const struct end *end) { return end->own->reply - end->out->reply < end->out->replies; }
INLINE bool has_extra(const struct end *end) { return end->own->extra != end->out->extra; }

INLINE struct counts *the_counts(void)
{
	u32 zero = 0;
	return map_lookup(&counts, &zero);
}
#define COUNT(what)                                            \
	({                                                     \
		struct counts *sums = the_counts();            \
		if (sums)                                      \
			__sync_fetch_and_add(&sums->what, 1);  \
	})

/* Not inlined: it has four callers. */
static __attribute__((noinline)) int tell(const struct end *end, u64 id, u32 kind, u32 number, const struct block *block)
{
	struct control *all = the_control();
	struct event *e;

	if (!all)
		return 0;
	e = ring_reserve(&events, sizeof(*e), 0);
	if (!e) {
		COUNT(lost);
		return 0;
	}
	e->id = id;
	e->now = ktime();
	e->number = end->own ? end->own->generation : 0;
	e->applied = 0;
	e->slot = id & RECEIVER ? NO_SLOT : end->slot;
	e->flag = 0;
	e->kind = kind;
	e->state = e->new_state = e->fallback = 0;
	describe_sample(e, NULL);
	describe_connection(e, (struct sock *)end->tp);
	/* The options of the segment, and the number of their block. */
	__builtin_memcpy(e->peer, block->first, sizeof(block->first));
	__builtin_memcpy(&e->pacing, block->second, sizeof(block->second));
	e->prior_delivered = number;
	ring_submit(e, ONCE(all->quiet) ? NO_WAKEUP : 0);
	return 0;
}

INLINE void make_room(struct sock_ops *context, struct end *end)
{
	struct settings *all = the_settings();
	u32 length = 0;

	if (!all || context->skb_tcp_flags & SYN)
		return;
	if (context->args[0] == CURRENT_MSS) {
		/* One MSS for the whole connection. */
		length = end->id ? all->bytes : 0;
	} else if (context->skb_len) {
		length = sends(context, end) && (has_mark(end) || has_extra(end)) ? all->bytes : 0;
	} else if (answers(context, end) && has_reply(end)) {
		const struct block *next = &end->out->acks[end->own->reply - end->out->reply & (REPLIES - 1)];
		length = next->first[1] + next->second[1];
	}
	if (length && reserve(context, length, 0))
		COUNT(crowded);
}

/* Whether this segment takes the next block: the first of a pair if the window has room for both, the
 * second if it follows at once. */
INLINE bool takes_mark(const struct end *end, u32 sequence, u32 payload)
{
	struct tcp_sock *tp = end->tp;
	struct progress *own = end->own;
	struct settings *all = the_settings();
	/* mss_cache does not deduct what is reserved here. */
	u32 mss = tp->mss_cache - (all ? all->bytes : 0);

	if (!has_mark(end) || sequence != tp->snd_nxt || payload < mss)
		return 0;
	if (payload > mss) {
		COUNT(bundled);
		return 0;
	}
	if (own->mark & 1) {
		if (sequence == own->second && tp->snd_una == own->acknowledged && ktime() - own->first < BACK_TO_BACK)
			return 1;
		COUNT(apart);
		own->mark++;
	}
	return has_mark(end) && tp->snd_cwnd >= flight_of(tp) + 2;
}

INLINE void write_data(struct sock_ops *context, const struct end *end, u32 sequence, u32 payload)
{
	struct progress *own = end->own;
	struct block written = {};
	u32 number = own->mark;

	if (takes_mark(end, sequence, payload)) {
		const struct block *next = &end->out->data[own->mark - end->out->mark & (MARKS - 1)];
		number = own->mark;
		if (!store_option(context, next->first, sizeof(next->first), 0)) {
			written = *next;
			own->second = sequence + payload;
			own->acknowledged = end->tp->snd_una;
			own->first = ktime();
			own->mark++;
		}
	}
	if (has_extra(end) && !store_option(context, end->out->extra_bytes, sizeof(end->out->extra_bytes), 0)) {
		__builtin_memcpy(written.second, end->out->extra_bytes, sizeof(written.second));
		own->extra = end->out->extra;
	}
	if (!written.first[1] && !written.second[1])
		return;
	COUNT(marked);
	tell(end, end->id, WROTE, number, &written);
}

INLINE void write_reply(struct sock_ops *context, const struct end *end)
{
	u32 number = end->own->reply;
	struct block written;

	if (!has_reply(end))
		return;
	written = end->out->acks[number - end->out->reply & (REPLIES - 1)];
	if (written.first[1] && store_option(context, written.first, sizeof(written.first), 0))
		return;
	if (written.second[1] && store_option(context, written.second, sizeof(written.second), 0))
		__builtin_memset(written.second, 0, sizeof(written.second));
	end->own->reply++;
	COUNT(replied);
	tell(end, cookie_of(context) | RECEIVER, WROTE, number, &written);
}

/* The header of a segment that is in the context; 0 if it cannot be read. */
INLINE bool header_of(struct sock_ops *context, u32 *sequence, u32 *payload)
{
	const u8 *h = context->skb_data;
	u32 length;

	if (h + 20 > (const u8 *)context->skb_data_end)
		return 0;
	*sequence = (u32)h[4] << 24 | h[5] << 16 | h[6] << 8 | h[7];
	length = (h[12] >> 4) * 4;
	*payload = context->skb_len > length ? context->skb_len - length : 0;
	return !(h[13] & SYN);
}

INLINE void write(struct sock_ops *context, struct end *end)
{
	u32 sequence, payload;

	if (!header_of(context, &sequence, &payload))
		return;
	if (!payload && answers(context, end))
		write_reply(context, end);
	else if (payload && sends(context, end))
		write_data(context, end, sequence, payload);
}

INLINE void read(struct sock_ops *context, const struct end *end)
{
	struct settings *all = the_settings();
	struct block block = {};
	u32 sequence, payload;

	if (!all || !header_of(context, &sequence, &payload))
		return;
	block.first[0] = EXPERIMENT;
	block.second[0] = EXPERIMENT_2;
	block.first[1] = block.second[1] = 4;
	__builtin_memcpy(block.first + 2, all->exid, 2);
	__builtin_memcpy(block.second + 2, all->exid, 2);
	if (load_option(context, block.first, sizeof(block.first), 0) < 0)
		block.first[1] = 0;
	if (load_option(context, block.second, sizeof(block.second), 0) < 0)
		block.second[1] = 0;
	if (!block.first[1] && !block.second[1])
		return;
	if (payload) {
		COUNT(arrived);
		tell(end, cookie_of(context) | RECEIVER, ARRIVED, 0, &block);
	} else if (end->id) {
		COUNT(heard);
		tell(end, end->id, HEARD, 0, &block);
	}
}

SEC("sockops")
int exchange(struct sock_ops *context)
{
	struct end end = {};

	switch (context->op) {
	case ACTIVE_ESTABLISHED:
	case PASSIVE_ESTABLISHED:
		set_flags(context, context->flags | PARSE_UNKNOWN | WRITES);
		break;
	case LENGTH:
		if (find(context, &end))
			make_room(context, &end);
		break;
	case WRITE:
		if (find(context, &end))
			write(context, &end);
		break;
	case PARSE:
		if (find(context, &end))
			read(context, &end);
		break;
	}
	return DONE;
}
