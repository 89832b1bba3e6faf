/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of the kernel helpers called here (include/uapi/linux/bpf.h), and macros that declare
 * maps. */
#ifndef SELFCLOCK_HELPERS_H
#define SELFCLOCK_HELPERS_H

#include "types.h"

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))

/* A map is declared as a structure whose types describe it; the loader reads them from BTF. */
#define NUMBER(name, value) int (*name)[value]
#define TYPE(name, value) value *name

enum { MAP_ARRAY = 2, MAP_STACK = 23, MAP_SK_STORAGE = 24, MAP_RINGBUF = 27 };
enum { NO_PREALLOC = 1, MMAPABLE = 1 << 10 };
enum { NO_WAKEUP = 1 };
enum { STORAGE_CREATE = 1 };

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static u64 (*const ktime)(void) = (void *)5;
static long (*const map_push)(void *map, const void *value, u64 flags) = (void *)87;
static long (*const map_pop)(void *map, void *value) = (void *)88;
static u64 (*const jiffies64)(void) = (void *)118;
static void *(*const sk_storage)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static void *(*const ring_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*const ring_submit)(void *data, u64 flags) = (void *)132;

/* A bit field has no address to relocate: CO-RE supplies its bytes and shifts. */
#define BITS(pointer, field)                                                              \
	({                                                                                \
		const u8 *at = (const u8 *)(pointer) + FIELD_INFO(pointer, field, 0);     \
		asm volatile("" : "+r"(at));                                              \
		u64 value = 0;                                                            \
		switch (FIELD_INFO(pointer, field, 1)) {                                  \
		case 1: value = *at; break;                                               \
		case 2: value = *(const u16 *)at; break;                                  \
		case 4: value = *(const u32 *)at; break;                                  \
		case 8: value = *(const u64 *)at; break;                                  \
		}                                                                         \
		value << FIELD_INFO(pointer, field, 4) >> FIELD_INFO(pointer, field, 5); \
	})
#define FIELD_INFO(pointer, field, what) __builtin_preserve_field_info((pointer)->field, what)

/* Memory that user space writes: a single read. */
#define ONCE(place) (*(volatile typeof(place) *)&(place))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
