/* SPDX-License-Identifier: GPL-2.0 */
/* Fields of `struct flow` that only an algorithm without cong_control has: see avoid.h. */
#ifndef SELFCLOCK_FLOW_H
#define SELFCLOCK_FLOW_H

#ifdef WINDOW
#define FLOW_OF_WINDOW                                                                    \
	u32 acked;		/* tp->bytes_acked as last seen */                        \
	u32 delivered;		/* tp->delivered as last reported */                      \
	s32 rtt_us;		/* newest sample not reported yet; -1: none */            \
	u32 given;		/* window as last set; 0: the kernel may have changed it */ \
	u32 extra;		/* segments in flight at a timeout */                     \
	u32 sacked;		/* segments that may raise the window with the next ACK */ \
	u8 pending : 1;		/* an ACK is not reported yet */                          \
	u8 marked : 1;		/* the ACK echoes a CE mark */                            \
	u8 resumed : 1;		/* a restart of the window was reported */                \
	u8 lowered : 1;		/* the application did not use the window */
#else
#define FLOW_OF_WINDOW
#endif

#endif
