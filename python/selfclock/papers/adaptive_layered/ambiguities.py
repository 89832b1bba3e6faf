"""Where the paper can be read in several ways, and how."""

from __future__ import annotations

from dataclasses import dataclass

from selfclock.claims import Ambiguity, Reading

TWO, COMPETITION = "two-dimensions", "competition"
RENO, PRINTED = "first-layer-tcp", "first-layer-printed"
CUBE_ROOT, THIRD = "cube-root", "a-third"
PATH_PRODUCT, LINK_PRODUCT = "path-product", "link-product"
UNTIL_DRAINED, TEN_ROUND_TRIPS = "until-drained", "ten-round-trips"
OWN_SETUP, PUBLIC_SETUP = "own-setup", "public-setup"
FAST_LINK, SLOW_LINK = "250-mbps", "10-mbps"
AT_A_QUEUE, AT_THE_SAME_TIMES = "at-a-queue", "at-the-same-times"

AMBIGUITIES = (
    Ambiguity(
        "third-dimension",
        "abstract, sections 3, 4 and 7",
        asks="Is the intermediate control a part of ALTCP?",
        readings=(
            Reading(
                TWO,
                "two dimensions",
                does="Layers and K_R alone.",
                allowed_by='"The pseudo-code of the ALTCP is presented below" has no more, and the conclusion has '
                '"Adaptive TCP, another protocol"',
                against='"ALTCP uses a three-dimensional congestion control framework" (abstract).',
                options='competition = "ignore"',
            ),
            Reading(
                COMPETITION,
                "the third dimension",
                does="Where Adaptive TCP's detector finds competition or congestion, k = 1: TCP's increase and "
                "decrease.",
                allowed_by='"ALTCP uses a three-dimensional congestion control framework ... Third the intermediate '
                'control" (abstract), whose behaviour is "setting the strength ... to k = 1 to ensure '
                'TCP-friendliness whenever it detects competition" (section 3)',
                against="The pseudo-code has no detector, and section 3 speaks of Adaptive TCP there. Detector and "
                "threshold are those of Adaptive TCP here, which are ours.",
                options='competition = "detect"',
            ),
        ),
        default_by="The pseudo-code is the most exact description of ALTCP, and says that it is of ALTCP.",
    ),
    Ambiguity(
        "first-layer",
        "section 4",
        asks="What is ALTCP below the second layer, in windows up to 50 segments?",
        readings=(
            Reading(
                RENO,
                "the first layer is TCP",
                does="No K_R, and half of the window at a loss.",
                allowed_by='"ALTCP modifies the TCP flow by using the concept of virtual layers"; Layered TCP, which '
                "it follows, is TCP in its first layer (draft-bhandarkar-ltcp-01)",
                against="The handlers of the pseudo-code know no first layer.",
                options='first_layer = "reno"',
            ),
            Reading(
                PRINTED,
                "the first layer as printed",
                does="K_R and beta, as in every layer.",
                allowed_by='"cwnd = cwnd + (KR* K)/cwnd" and "cwnd = (1 - beta) * cwnd" for every K, of which 1 is '
                "the first",
                against="In a window of a few segments it is then 2.5 times as fast as TCP.",
                options='first_layer = "printed"',
            ),
        ),
        default_by="Layered TCP, whose pseudo-code this is, has it so; the paper prints no other value either that "
        "belongs to layers.",
    ),
    Ambiguity(
        "k-r",
        "equation 2 and section 4",
        asks="How does K_R depend on the round-trip time?",
        readings=(
            Reading(
                CUBE_ROOT,
                "its cube root",
                does="K_R = 0.5 RTT^(1/3), in milliseconds: 2.5 at 120 ms.",
                allowed_by='"0.5(RTT) 1/3" in equation 2, an exponent set on the line; with it throughput falls with '
                "RTT^-2, as TCP's, where losses are at the same times",
                against='"stored K_R = 0.5(RTT)/3" in the pseudo-code.',
                options='rtt_form = "cube-root"',
            ),
            Reading(
                THIRD,
                "a third of it",
                does="K_R = 0.5 RTT/3, in milliseconds: 20 at 120 ms.",
                allowed_by='"stored K_R = 0.5(RTT)/3;" (section 4)',
                against="It is not what equation 2 prints, and RTT^-0.5 is not TCP's law.",
                options='rtt_form = "third"',
            ),
        ),
        default_by='Equation 2 is the definition, and "1/3" without a sign between is an exponent.',
    ),
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

_OPTIONS: dict[str, dict[str, object]] = {
    COMPETITION: {"competition": "detect"},
    PRINTED: {"first_layer": "printed"},
    THIRD: {"rtt_form": "third"},
}
_READINGS = {one.id: one for each in AMBIGUITIES for one in each.readings}


@dataclass(frozen=True)
class Altcp:
    """ALTCP under a combination of readings."""

    third: str = TWO
    first: str = RENO
    k_r: str = CUBE_ROOT

    @property
    def readings(self) -> tuple[str, ...]:
        """Their identifiers."""
        return self.third, self.first, self.k_r

    @property
    def control(self) -> dict[str, object]:
        """The congestion control."""
        options = [_OPTIONS[name] for name in self.readings if name in _OPTIONS]
        return {"window": "altcp", **{key: value for each in options for key, value in each.items()}}

    @property
    def name(self) -> str:
        """Part of the names of its scenarios."""
        return "-".join(["altcp", *(name for name in self.readings if name in _OPTIONS)])

    @property
    def variant(self) -> str:
        """As claims say it."""
        options = ", ".join(_READINGS[name].options for name in self.readings)
        return f"altcp: beta = 0.15, W_T = 50 (Layered TCP's), compensation = paper, {options}"

    @property
    def label(self) -> str:
        """As tables say it."""
        changed = [_READINGS[name].name for name in self.readings if name in _OPTIONS]
        return f"ALTCP, {', '.join(changed)}" if changed else "ALTCP"


#: Those that are judged, the default first: one change each, what section 4 prints, and that with
#: the third dimension.
COMBINATIONS = (
    Altcp(),
    Altcp(third=COMPETITION),
    Altcp(first=PRINTED),
    Altcp(k_r=THIRD),
    Altcp(first=PRINTED, k_r=THIRD),
    Altcp(third=COMPETITION, first=PRINTED, k_r=THIRD),
)
DEFAULT = COMBINATIONS[0]
