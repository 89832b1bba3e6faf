"""Where the thesis can be read in several ways, and how."""

from __future__ import annotations

from selfclock.claims import Ambiguity, Reading

AS_PRINTED, EXACT, CORRECTED = "icim-printed", "icim-printed-exact", "icim-corrected"
PACKETS, BYTES, ONE_WAY = "buffer-packets", "buffer-bytes", "buffer-one-way"
NO_THRESHOLD, HALF = "no-threshold", "half-threshold"
BURSTS, PAIRS = "k-from-bursts", "k-from-pairs"
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
                EXACT,
                "ICIM as printed, with exact arrivals",
                does="The same, but no card falsifies the arrivals: the sender's alone collects, and the ACK tells "
                "when the receiver had the segment.",
                allowed_by='"The TCP receiver then sends the ACK of the two bursts in the same intervals to the sender '
                'TCP", and section 3.1 gives the simulated receiver no card',
                against="Section 2.2.2 has the bursts pass the receiver's card, in two interrupts; a clock of the "
                "receiver is not mentioned.",
                options='clock = "receiver", coalescing = 0 s at the receiver',
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
        asks='How large is a buffer "equivalent to the bandwidth-delay product between sender and receiver host"?',
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
            Reading(
                ONE_WAY,
                "a buffer of 18.75 MB",
                does="18.75 MB: the rate times the way from sender to receiver, 30 ms.",
                allowed_by='"between sender and receiver host": 5 + 20 + 5 ms, one way',
                against="A bandwidth-delay product is with the round-trip time.",
                options="queue = 18750000 B",
            ),
        ),
        default_by='"We use ns-2", and its queue counts packets.',
    ),
    Ambiguity(
        "luck",
        "section 4.1",
        asks='What is "otherwise", where Reno\'s ssthresh is not about the product?',
        readings=(
            Reading(
                NO_THRESHOLD,
                "no threshold",
                does="Slow start ends at a loss.",
                allowed_by='"ssthresh is set to the window size almost equal to bandwidth-delay product. Otherwise": a '
                "connection knows no threshold at first",
                against="With a buffer of a product half of the window at the loss is the product: the same luck.",
                options="initial_ssthresh = none",
            ),
            Reading(
                HALF,
                "a threshold that does not fit",
                does="Slow start ends at half of the product.",
                allowed_by='"Otherwise" is any other threshold, and Reno "increases congestion window size very '
                'slightly" from there',
                against="No other value is printed.",
                options="initial_ssthresh = 12500 segments",
            ),
        ),
        default_by="It adds nothing to the text.",
    ),
    Ambiguity(
        "k",
        "section 2.2.4",
        asks="From which spacings is the physical bandwidth K measured?",
        readings=(
            Reading(
                BURSTS,
                "K from bursts",
                does="C = (N P - A S)/(R - S), from bursts of twice A.",
                allowed_by="Reference 17 was not available; behind a card pairs show nothing, and this is its formula "
                "for bursts",
                against='"Essentially based on the packet pair technique" (abstract of reference 17).',
                options='capacity = "bursts"',
            ),
            Reading(
                PAIRS,
                "K from pairs",
                does="C = (P - A S)/(R - S) with the mean R of pairs of segments, no card at the receiver.",
                allowed_by='"we employ the same algorithm in [17]", which is "based on the packet pair technique"',
                against="Cards that collect packets hand both segments over together.",
                options='capacity = "pairs", clock = "receiver"',
            ),
        ),
        default_by="The cards of section 2.2.2.",
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
