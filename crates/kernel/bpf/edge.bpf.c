/* SPDX-License-Identifier: GPL-2.0 */
/* The edge of a network, at the device that faces the sources: reports incoming data, and limits
 * the window in outgoing ACKs to what user space allows their flow. Only TCP over IPv4; everything
 * else passes unchanged. */
#include "packet.h"

char gpl[] SEC("license") = "GPL";

static long (*const map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;

enum { LRU_HASH = 9, ANY = 0, FLOWS = 16384, CHECKSUM = 16, WINDOW = 14 };
enum what { SEEN_DATA, SEEN_ACK, SEEN_END };

/* A flow: from the source to the receiver. */
struct key {
	u32 source, receiver;
	u16 source_port, receiver_port;
};

/* State of a flow in these programs. */
struct entry {
	u32 edge;		/* right edge of the window advertised to the source */
	u32 scaled;		/* shift + 1 of the receiver's window; 0: its SYN was not seen */
	u32 told;		/* `edge` is set */
	u32 source_scales;	/* the source's SYN had the option, too */
};

struct {
	NUMBER(type, LRU_HASH);
	NUMBER(max_entries, FLOWS);
	TYPE(key, struct key);
	TYPE(value, struct entry);
} flows SEC(".maps");

/* Windows that user space allows, in bytes. */
struct {
	NUMBER(type, LRU_HASH);
	NUMBER(max_entries, FLOWS);
	TYPE(key, struct key);
	TYPE(value, u64);
} limits SEC(".maps");

struct passage {
	u64 now;		/* CLOCK_MONOTONIC, ns */
	struct key key;
	u32 sequence;		/* of data: its first byte; of an ACK: what it acknowledges */
	u32 payload, size;	/* bytes; size on the wire */
	u32 offered, window;	/* of an ACK, bytes: what the receiver offered, and what goes on */
	u32 what;
	u32 segments;		/* that it will be cut into */
};
_Static_assert(sizeof(struct passage) == 48, "as src/linux/edge.rs reads it");

struct {
	NUMBER(type, MAP_RINGBUF);
	NUMBER(max_entries, 1 << 22);
} passages SEC(".maps");

/* Shift + 1 of the window scale option; 0 without the option. */
INLINE u32 scale_of(struct sk_buff *skb, const struct segment *s)
{
	u32 at = s->tcp + 20, end = at + s->options;
	u8 option[3];

	for (int i = 0; i < MOST_OPTIONS; i++) {
		if (at >= end || load_bytes(skb, at, option, 2) || option[0] == OPTION_END)
			return 0;
		if (option[0] == OPTION_NONE) {
			at++;
			continue;
		}
		if (option[0] == OPTION_SCALE && option[1] == 3)
			return load_bytes(skb, at, option, 3) ? 0 : MIN((u32)option[2], 14u) + 1;
		if (option[1] < 2)
			return 0;
		at += option[1];
	}
	return 0;
}

INLINE void report(struct sk_buff *skb, const struct key *key, const struct segment *s, u32 what, u32 sequence, u32 offered, u32 window)
{
	struct passage *p = ring_reserve(&passages, sizeof(*p), 0);

	if (!p)
		return;
	p->now = ktime();
	p->key = *key;
	p->sequence = sequence;
	p->payload = s->payload;
	p->size = skb->len;
	p->offered = offered;
	p->window = window;
	p->what = what;
	p->segments = MAX(skb->gso_segs, 1u);
 /* The daemon polls: a wake-up costs more than all of this. */
	ring_submit(p, NO_WAKEUP);
}

SEC("tcx/ingress")
int from_source(struct sk_buff *skb)
{
	struct segment s;
	struct entry *entry;

	if (!read_segment(skb, &s))
		return NEXT;
	struct key key = { s.source, s.destination, s.source_port, s.destination_port };

	if (s.flags & SYN) {
		struct entry fresh = { .source_scales = scale_of(skb, &s) > 0 };
  /* The source answers the receiver's SYN, which is therefore known. */
		if (s.flags & ACKED && (entry = map_lookup(&flows, &key)))
			entry->source_scales = fresh.source_scales;
		else
			map_update(&flows, &key, &fresh, ANY);
	} else if (s.payload) {
		report(skb, &key, &s, SEEN_DATA, s.sequence, 0, 0);
	}
	if (s.flags & (FIN | RST))
		report(skb, &key, &s, SEEN_END, s.sequence, 0, 0);
	return NEXT;
}

/* The window that an ACK may offer: at most what is allowed, but its right edge never moves left. */
INLINE u32 allowed(const struct key *key, struct entry *entry, u32 acknowledgement, u32 offered)
{
	u64 *limit = map_lookup(&limits, key);
	u32 window = limit ? (u32)MIN(*limit, (u64)offered) : offered;

	if (entry->told) {
		s32 kept = (s32)(entry->edge - acknowledgement);
		if (kept > 0 && (u32)kept > window)
			window = MIN((u32)kept, offered);
	}
	return window;
}

SEC("tcx/egress")
int to_source(struct sk_buff *skb)
{
	struct segment s;
	struct entry *entry;
	u32 shift, offered, window, unit;

	if (!read_segment(skb, &s))
		return NEXT;
	struct key key = { s.destination, s.source, s.destination_port, s.source_port };

	entry = map_lookup(&flows, &key);
	if (s.flags & SYN) {
		struct entry fresh = { .scaled = scale_of(skb, &s) };
		if (!fresh.scaled)
			fresh.scaled = 1;
		if (s.flags & ACKED && entry)
			entry->scaled = fresh.scaled;
		else
			map_update(&flows, &key, &fresh, ANY);
		return NEXT;
	}
 /* Without its SYN a flow's scale is unknown: its windows pass unchanged. */
	if (!entry || !entry->scaled || !(s.flags & ACKED) || s.flags & RST)
		return NEXT;
	shift = entry->source_scales ? entry->scaled - 1 : 0;
	if (shift > 14)
		return NEXT;
	offered = (u32)s.window << shift;
	window = allowed(&key, entry, s.acknowledgement, offered);
 /* Rounded up to whole units: a window below one unit would be zero and stall the source. */
	unit = (window + (1u << shift) - 1) >> shift;
	if (unit < s.window) {
		u16 from = __builtin_bswap16(s.window), to = __builtin_bswap16((u16)unit);
		replace_checksum(skb, s.tcp + CHECKSUM, from, to, 2);
		store_bytes(skb, s.tcp + WINDOW, &to, 2, 0);
		window = unit << shift;
	} else {
		window = offered;
	}
	if (!entry->told || (s32)(s.acknowledgement + window - entry->edge) > 0) {
		entry->edge = s.acknowledgement + window;
		entry->told = 1;
	}
	report(skb, &key, &s, SEEN_ACK, s.acknowledgement, offered, window);
	return NEXT;
}
