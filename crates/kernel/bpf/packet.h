/* SPDX-License-Identifier: GPL-2.0 */
/* Packets on a device: their headers, and the helpers that device programs may call. */
#ifndef SELFCLOCK_PACKET_H
#define SELFCLOCK_PACKET_H

#include "helpers.h"

/* The fields of struct __sk_buff that are read (include/uapi/linux/bpf.h): a stable interface. */
struct sk_buff {
	u32 len, unread[18], data, data_end, unread_too[20], gso_segs;
	void *sk;
};
_Static_assert(__builtin_offsetof(struct sk_buff, data) == 76 && __builtin_offsetof(struct sk_buff, gso_segs) == 164, "__sk_buff");

enum { NEXT = -1 };				/* TCX_NEXT: the packet goes on */
enum { TCP = 6, FIN = 1, SYN = 2, RST = 4, ACKED = 16 };
enum { OPTION_END, OPTION_NONE, OPTION_SCALE = 3 };
enum { MOST_OPTIONS = 40 };

static long (*const store_bytes)(void *skb, u32 at, const void *from, u32 length, u64 flags) = (void *)9;
static long (*const replace_checksum)(void *skb, u32 at, u64 from, u64 to, u64 flags) = (void *)11;
static long (*const load_bytes)(const void *skb, u32 at, void *to, u32 length) = (void *)26;

/* The device's link-layer header; written by user space. */
struct device {
	u32 link_header;	/* bytes before the IP header */
	u32 reserved;
};

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct device);
} device SEC(".maps");

/* The headers of a TCP segment over IPv4, in host byte order. */
struct segment {
	u32 source, destination;	/* as on the wire */
	u16 source_port, destination_port;
	u32 sequence, acknowledgement;
	u16 window;
	u8 flags;
	u8 options;			/* bytes */
	u32 tcp;			/* where the TCP header begins */
	u32 payload;
};

/* Reads the headers; 0 if the packet is not TCP over IPv4, or a fragment without a TCP header. */
INLINE bool read_segment(struct sk_buff *skb, struct segment *s)
{
	u32 zero = 0, ip, header;
	struct device *own = map_lookup(&device, &zero);
	u8 v4[20], tcp[20];

	if (!own)
		return 0;
	ip = own->link_header;
	if (load_bytes(skb, ip, v4, sizeof(v4)) || v4[0] >> 4 != 4 || v4[9] != TCP || (v4[6] & 0x1f) | v4[7])
		return 0;
	header = (v4[0] & 15) * 4;
	s->tcp = ip + header;
	if (load_bytes(skb, s->tcp, tcp, sizeof(tcp)))
		return 0;
	s->source = *(u32 *)&v4[12];
	s->destination = *(u32 *)&v4[16];
	s->source_port = tcp[0] << 8 | tcp[1];
	s->destination_port = tcp[2] << 8 | tcp[3];
	s->sequence = (u32)tcp[4] << 24 | tcp[5] << 16 | tcp[6] << 8 | tcp[7];
	s->acknowledgement = (u32)tcp[8] << 24 | tcp[9] << 16 | tcp[10] << 8 | tcp[11];
	s->options = (tcp[12] >> 4) * 4 - 20;
	s->flags = tcp[13];
	s->window = tcp[14] << 8 | tcp[15];
	header = s->tcp + 20 + s->options;
	s->payload = skb->len > header ? skb->len - header : 0;
 /* Short Ethernet frames are padded, so the length comes from the IP header; a super-packet's
  * length may not fit there. */
	u32 told = ip + (v4[2] << 8 | v4[3]);
	if (told > ip && told < skb->len && skb->len <= ip + 65535)
		s->payload = told > header ? told - header : 0;
	return s->options <= MOST_OPTIONS;
}

#endif
