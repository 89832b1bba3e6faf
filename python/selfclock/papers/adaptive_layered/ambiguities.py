"""Where the paper can be read in several ways, and how."""

from __future__ import annotations

from selfclock.claims import Ambiguity, Reading

PATH_PRODUCT, LINK_PRODUCT = "path-product", "link-product"
UNTIL_DRAINED, TEN_ROUND_TRIPS = "until-drained", "ten-round-trips"
OWN_SETUP, PUBLIC_SETUP = "own-setup", "public-setup"
FAST_LINK, SLOW_LINK = "250-mbps", "10-mbps"
AT_A_QUEUE, AT_THE_SAME_TIMES = "at-a-queue", "at-the-same-times"

AMBIGUITIES = (
    Ambiguity(
        "product",
        "section 5",
        asks='Which delay has "the product of bottleneck link bandwidth and delay", the buffer?',
        readings=(
            Reading(
                PATH_PRODUCT,
                "the path's delay",
                does="The buffer is the product of the path, 120 ms: 10000 packets.",
                allowed_by='"end-to-end RTT for each flow is set to 120ms"; a product is that of a path',
                against="The sentence names the bottleneck link.",
                options="queue = 1 bdp",
            ),
            Reading(
                LINK_PRODUCT,
                "the link's delay",
                does="The buffer is the bottleneck's rate times its own delay, 40 ms: 3333 packets.",
                allowed_by='"the bottleneck link capacity is set to 1Gbps with a delay of 40ms"',
                against="With it no flow of the path fills the link after a loss by half.",
                options="queue = 3333 packets",
            ),
        ),
        default_by="A buffer of a product is that of the path wherever the term is used.",
    ),
    Ambiguity(
        "hold",
        "section 3",
        asks="How long does A-TCP assume competition that it has found?",
        readings=(
            Reading(
                UNTIL_DRAINED,
                "until the queue drains",
                does="Until the queue has drained without a loss.",
                allowed_by='k = 1 "whenever it detects competition with other flows"; time alone ends no competition',
                against="Alone, A-TCP sometimes mistakes its own noise for competition. Chosen when both results were "
                "known.",
                options="competition_hold = drain",
            ),
            Reading(
                TEN_ROUND_TRIPS,
                "ten round trips",
                does="For ten round trips.",
                allowed_by="No rule is printed.",
                against="A loss empties a short queue, without which competition cannot be found.",
                options="competition_hold = 10 round trips",
            ),
        ),
        default_by='"Whenever" has no end in time.',
    ),
    Ambiguity(
        "setup",
        "sections 5 and 6",
        asks="Which paths and buffer have the two flows of figures 4 and 5?",
        readings=(
            Reading(
                OWN_SETUP,
                "the default buffer",
                does="One product of the longest path, delays of ours, twice the delay for the second flow of unequal "
                "pairs.",
                allowed_by='"The default queue size at the routers is set to be equal to the product"; no delays are '
                "printed",
                against="The sentences of section 6 are those of reference 9, whose buffer is smaller.",
                options="queue = 1 bdp; 20, 60, 160 ms at 250 Mbit/s, 16 to 160 ms at 10 Mbit/s",
            ),
            Reading(
                PUBLIC_SETUP,
                "the public set-up",
                does="That of the tests whose text section 6 repeats: 16, 22, 42, 82, 162 ms, a fifth of a product.",
                allowed_by='"Tests are of 10 minutes duration", "this basic test reveals some striking behavior" are '
                "sentences of reference 9",
                against="Section 5 has another default. It was adopted after the first set-up had been run.",
                options="queue = 0.2 bdp; 16, 22, 42, 82, 162 ms",
            ),
        ),
        default_by='Section 5: "unless otherwise specified".',
    ),
    Ambiguity(
        "friendly-link",
        "abstract and section 7",
        asks="On which link is friendliness to TCP claimed?",
        readings=(
            Reading(
                FAST_LINK,
                "250 Mbit/s",
                does="On figure 4's link, with 60 ms.",
                allowed_by='"high-speed protocols namely High-speed TCP and Scalable TCP"',
                against="",
                options="rate = 250 Mbps, rtt = 60 ms",
            ),
            Reading(
                SLOW_LINK,
                "10 Mbit/s",
                does="On figure 5's link, with 80 ms.",
                allowed_by="Figure 5's link for A-TCP; the abstract names none.",
                against="HighSpeed TCP is nearly TCP there, and nothing is friendlier than that.",
                options="rate = 10 Mbps, rtt = 80 ms",
            ),
        ),
        default_by="The two algorithms that are compared are made for fast links.",
    ),
    Ambiguity(
        "losses",
        "sections 1 and 3",
        asks="With which losses does throughput fall with the round-trip time as TCP's?",
        readings=(
            Reading(
                AT_A_QUEUE,
                "losses at a queue",
                does="Two flows beside a drop-tail queue.",
                allowed_by='"Drop-tail queue management scheme is used at the routers."',
                against="",
                options="queue = 0.2 bdp, ten seeds",
            ),
            Reading(
                AT_THE_SAME_TIMES,
                "losses at the same times",
                does="Two flows that lose in the same bursts, at fixed intervals.",
                allowed_by="The argument for K_R of Layered TCP, its source, assumes synchronized losses.",
                against="No simulation of the paper has them.",
                options="a burst every 2 s on 1 Gbit/s",
            ),
        ),
        default_by="It is the paper's queue.",
    ),
)
