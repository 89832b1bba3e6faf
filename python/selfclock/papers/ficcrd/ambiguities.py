"""Where the paper can be read in several ways, and how."""

from __future__ import annotations

from selfclock.claims import Ambiguity, Reading

#: RD packets, one for this many data packets.
PROPORTIONS = (32, 16, 8, 4, 2)


def one_in(number: int) -> str:
    """Return the identifier of the reading with an RD packet for this many data packets."""
    return f"one-in-{number}"


TIMED, BY_BYTES, WINDOW, ACK_BUCKET = "timed", "by-bytes", "window", "ack-bucket"
COUNTED, FIRST_DATA, FIRST_RATE = "counted", "first-data", "first-rate"
AT_ONCE, RANDOM, APART = "at-once", "random", "apart"
FAST, SLOW = "10-mbps", "1.5-mbps"
OUTER_ELSE, LITERAL, AS_ICC = "outer-else", "literal", "as-icc"
K_100_MS, K_1_S = "k-100-ms", "k-1-s"
SMOOTHED, BASE = "smoothed-rtt", "base-rtt"

#: Readings of table 1, of equation 1's constant and of the edge's round-trip time, unless a
#: mechanism has others.
SETTLED = (OUTER_ELSE, K_100_MS, SMOOTHED)

_CELLS = {
    32: "ATM's number counts cells of 53 bytes. Here 32 packets of 4 KB are a whole receive window, so that an RD "
    "packet leaves once in a window at most, and the first one after it.",
}

AMBIGUITIES = (
    Ambiguity(
        "proportion",
        "sections 2.1 and 2.2",
        asks="Which part of the packets are RD packets?",
        readings=(
            *(
                Reading(
                    one_in(number),
                    f"an RD packet for {number}",
                    does=f"An RD packet for every {number} data packets of a flow, and no others.",
                    allowed_by='"generated for each flow proportionally based on the packet arrival rate"; no '
                    "proportion is printed",
                    against=_CELLS.get(number, "No number is printed."),
                    options=f"packets_per_discovery = {number}, discovery_interval = off",
                )
                for number in PROPORTIONS
            ),
            Reading(
                TIMED,
                "timed RD packets, too",
                does="An RD packet for every 32 data packets of a flow, and one every 100 ms for a known flow.",
                allowed_by='"feedback control loops between edge routers" need a report before a window has left',
                against='"proportionally" excludes packets of a timer.',
                options="packets_per_discovery = 32, discovery_interval = 100 ms",
            ),
            Reading(
                BY_BYTES,
                "an RD packet for 32 cells' bytes",
                does="An RD packet for every 1696 bytes of data, 32 cells of 53 bytes, at most one with a packet: here "
                "one with each.",
                allowed_by='"proportionally based on the packet arrival rate", which equation 1 has in bytes, and a '
                "cell of ATM has 53",
                against="No number is printed, and packets are none of ATM's cells.",
                options="bytes_per_discovery = 1696 B, discovery_interval = off",
            ),
        ),
        default_by='The scheme is the one "deployed ... successfully for ATM\'s ABR congestion control", where one '
        "cell in 32 is of resource management: the only number that the text leads to.",
    ),
    Ambiguity(
        "first",
        "section 2.2",
        asks="When does the first RD packet of a flow leave?",
        readings=(
            Reading(
                COUNTED,
                "after as many packets as each other",
                does="The first RD packet follows as many data packets as each later one.",
                allowed_by='"generated proportionally to the TCP traffic": none before there is traffic',
                against="Until it is back a flow has no rate.",
                options='first_discovery = "counted"',
            ),
            Reading(
                FIRST_DATA,
                "with the first data",
                does="The first RD packet follows the first data packet; it has no rate to tell, and fetches the "
                "allowed one.",
                allowed_by="A source of ATM begins with a cell of resource management; nothing in the text forbids it.",
                against="Equation 1 has no rate after one packet.",
                options='first_discovery = "first-data"',
            ),
            Reading(
                FIRST_RATE,
                "with the first rate",
                does="The first RD packet follows the second data packet, after which equation 1 has a rate.",
                allowed_by='"RD-packet will carry the arrival packet rate": from the first rate on',
                against="No proportion gives it.",
                options='first_discovery = "first-rate"',
            ),
        ),
        default_by='"Proportionally" says it of every RD packet.',
    ),
    Ambiguity(
        "feedback",
        "section 2.2",
        asks="By which of its two methods does an edge router limit a source in the figures?",
        readings=(
            Reading(
                WINDOW,
                "window adaptation",
                does="The edge lowers the window that the receiver advertises.",
                allowed_by='"Explicit Window Adaptation technique controls the maximum receiver window"',
                against="",
                options="feedback = window",
            ),
            Reading(
                ACK_BUCKET,
                "ACK bucket",
                does="The edge withholds ACKs, for a second at most.",
                allowed_by='"ACK Bucket Control ... withholding the Acknowledgments at edge router"',
                against="",
                options="feedback = ack-bucket, longest_hold = 1 s",
            ),
        ),
        default_by="The text names it first, and its keywords name it alone.",
    ),
    Ambiguity(
        "start",
        "section 3.1",
        asks="When do the ten sources start, and is anything random?",
        readings=(
            Reading(
                AT_ONCE,
                "all at once",
                does="All sources start at time 0, and nothing is random: one run.",
                allowed_by="No start and no randomness is printed.",
                against="Links of one rate have phase effects, which decide who loses.",
                options="start = 0 s",
            ),
            Reading(
                RANDOM,
                "random send delays",
                does="Every packet of a source is delayed at random below 10 ms; ten seeds, the worst of which counts.",
                allowed_by="ns-2, which the paper used, has overhead_ against phase effects.",
                against="The paper does not say that it used it.",
                options="jitter = 10 ms, seeds 1 to 10",
            ),
            Reading(
                APART,
                "starts apart",
                does="The sources start 0.1 s or 1 s apart, the worse of which counts.",
                allowed_by="No start is printed.",
                against="No spacing is printed. This reading was added when the common start had been seen.",
                options="start = 0.1 s or 1 s times the number of the source",
            ),
        ),
        default_by="It adds nothing to the text.",
    ),
    Ambiguity(
        "bottleneck",
        "section 3.1, figure 3",
        asks="What is the rate of the bottleneck?",
        readings=(
            Reading(
                FAST,
                "10 Mbit/s",
                does="The bottleneck has 10 Mbit/s: a fair share of 1 Mbit/s.",
                allowed_by="Section 3.1 prints 10 Mbit/s.",
                against='Figure 3 is "normalised by the bottleneck fair share (0.15 Mbits/s)".',
                options="network.links.11-12.rate = 10 Mbps",
            ),
            Reading(
                SLOW,
                "1.5 Mbit/s",
                does="The bottleneck alone has 1.5 Mbit/s: ten shares of 0.15 Mbit/s.",
                allowed_by='"the bottleneck fair share (0.15 Mbits/s)" of ten flows',
                against="Section 3.1 prints 10 Mbit/s.",
                options="network.links.11-12.rate = 1.5 Mbps",
            ),
        ),
        default_by="Section 3.1 describes the network; the caption of a figure names only a share.",
    ),
    Ambiguity(
        "table-1",
        "table 1",
        asks="Which branch has the else, when both have the same line?",
        readings=(
            Reading(
                OUTER_ELSE,
                "the else of the outer condition",
                does="With a queue above the target only rates below the mean enter it; below the target all do.",
                allowed_by="Table 1 indents the else in neither way; only so have its conditions a purpose.",
                against="",
                options='rule = "outer-else"',
            ),
            Reading(
                LITERAL,
                "table 1 literally",
                does="Every rate enters the mean, as both lines say.",
                allowed_by="Both branches print MAPR = MAPR + β (APR - MAPR).",
                against="The two conditions then do nothing.",
                options='rule = "literal"',
            ),
            Reading(
                AS_ICC,
                "table 1 as ICC",
                does="Above the target rates below the mean enter it, below the target those above 7/8 of it: the "
                "rule of the ATM ancestor.",
                allowed_by='"Fair Intelligent Congestion Control (FICC) scheme [8,9] is used at each core router"',
                against="No such line is printed.",
                options='rule = "icc"',
            ),
        ),
        default_by="The conditions are printed, so they do something.",
    ),
    Ambiguity(
        "constant",
        "equation 1",
        asks="Which constant K averages the arrival rate?",
        readings=(
            Reading(
                K_100_MS,
                "K = 100 ms",
                does="K = 100 ms.",
                allowed_by='"exponential averaging formula as in CSFQ [7]", which has 100 ms',
                against="",
                options='rate_constant = "100 ms"',
            ),
            Reading(
                K_1_S,
                "K = 1 s",
                does="K = 1 s.",
                allowed_by='"K is a constant"',
                against="CSFQ has 100 ms.",
                options='rate_constant = "1 s"',
            ),
        ),
        default_by="It is that of the reference.",
    ),
    Ambiguity(
        "edge-rtt",
        "section 2.2",
        asks="Over which round-trip time does window adaptation turn a rate into a window?",
        readings=(
            Reading(
                SMOOTHED,
                "the smoothed round-trip time",
                does="The round-trip time that the edge sees, smoothed.",
                allowed_by="Neither kind of feedback is described; their papers are references 10 and 11.",
                against="",
                options='rtt = "current"',
            ),
            Reading(
                BASE,
                "the smallest round-trip time",
                does="The smallest that the edge has seen.",
                allowed_by="Neither kind of feedback is described.",
                against="The queue then settles at almost nothing, and not at the target.",
                options='rtt = "base"',
            ),
        ),
        default_by="With it the operating point is the target queue that the text describes.",
    ),
)
