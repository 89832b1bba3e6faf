"""Where the thesis can be read in several ways, and how."""

from __future__ import annotations

from selfclock.claims import Ambiguity, Reading

AS_PRINTED, CORRECTED = "icim-printed", "icim-corrected"
PACKETS, BYTES = "buffer-packets", "buffer-bytes"
MIX, LARGE = "udp-mix", "udp-1500"

AMBIGUITIES = (
    Ambiguity(
        "icim",
        "sections 2.2.2 and 2.2.3",
        asks="What is a burst, and at which rate are bursts stretched?",
        readings=(
            Reading(
                AS_PRINTED,
                "ICIM as printed",
                does="A burst is the segments of one interrupt; A is the first rate at which bursts are stretched; "
                "arrivals count when the kernel sees them.",
                allowed_by='"If from burst number j, j = 1..k, the arrival interval of the bursts becomes larger, then '
                'B_j is considered to be the value"',
                against="A receiver's card rounds the interval of two such bursts up to its own timer, so that slow "
                "bursts rarely appear stretched.",
                options='span = 0, reading = "edge", within_interrupt = false',
            ),
            Reading(
                CORRECTED,
                "ICIM corrected",
                does="A burst is a sixteenth of a round trip, many interrupts; A is where stretching begins on the "
                "line R/S = 1 + (B - A)/K; arrivals are interpolated within an interrupt.",
                allowed_by='"the two bursts are passed to the kernel in two different interrupts" and "in the same '
                'intervals", which bursts of one interrupt do not keep',
                against="The three corrections are ours, found by searching for accurate estimates.",
                options='span = 1/16 RTT, reading = "line", within_interrupt = true',
            ),
        ),
        default_by="Section 2.2.3 prints it.",
    ),
    Ambiguity(
        "buffer",
        "section 3.1",
        asks='In which unit is a buffer "equivalent to the bandwidth-delay product"?',
        readings=(
            Reading(
                PACKETS,
                "a buffer of 25000 packets",
                does="25000 packets of any size.",
                allowed_by="ns-2's drop-tail queue counts packets.",
                against="Beside small UDP packets it holds a third to two thirds of a product.",
                options="queue = 25000 packets",
            ),
            Reading(
                BYTES,
                "a buffer of 37.5 MB",
                does="37.5 MB, whatever the packets are.",
                allowed_by='"equivalent to the bandwidth-delay product between sender and receiver host": a product '
                "is in bytes",
                against="ns-2 needs a setting for it that the thesis does not name.",
                options="queue = 37500000 B",
            ),
        ),
        default_by='"We use ns-2", and its queue counts packets.',
    ),
    Ambiguity(
        "udp-size",
        "section 3.1",
        asks="How large are the packets of UDP?",
        readings=(
            Reading(
                MIX,
                "UDP of mixed sizes",
                does="40, 576 and 1500 B as 7 : 4 : 1.",
                allowed_by='"the packet size distribution follows the traffic observation results in the Internet"',
                against="",
                options="packet = imix",
            ),
            Reading(
                LARGE,
                "UDP of 1500 B",
                does="1500 B.",
                allowed_by='"The packet size is set to 1500 [KByte]"',
                against="The sentence on the distribution speaks of UDP, this one of no flow.",
                options="packet = 1500 B",
            ),
        ),
        default_by="The sentence speaks of UDP.",
    ),
)
