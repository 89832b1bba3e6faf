"""Where the paper can be read in several ways, and how."""

from __future__ import annotations

from selfclock.claims import Ambiguity, Reading

DIFFERENCE, SPREAD = "difference", "spread"
FREEZE, FALL_BACK = "freeze", "fall-back"
NO_THRESHOLD, RFC_2001 = "no-threshold", "rfc-2001"
TEXT_386, CAPTION_486 = "386-ms", "486-ms"

#: Figure 4's alpha. With 4 and 8 a tenth of a round trip has no segment or one: no burst can be
#: seen.
ALPHAS = (2, 1)


def alpha(value: int) -> str:
    """Return the identifier of a reading of alpha."""
    return f"alpha-{value}"


AMBIGUITIES = (
    Ambiguity(
        "burst",
        "sections 3 and 4.1",
        asks="How does the sender pace a window that it has estimated?",
        readings=(
            Reading(
                DIFFERENCE,
                "the difference in a burst",
                does="What the window exceeds the last one by leaves at once, the rest is spread over the round trip.",
                allowed_by='"subtracts the previous sending rate from the new calculated one, and the difference is '
                'sent in burst, then the reset of the window will be paced"',
                against="",
                options='burst = "difference"',
            ),
            Reading(
                SPREAD,
                "the whole window spread",
                does="The whole window is spread evenly over the round trip.",
                allowed_by='"using pacing to spread out the congestion window over RTT"',
                against="Section 4.1 explains figure 4 by a burst.",
                options='burst = "none"',
            ),
        ),
        default_by="Section 4.1 describes the sender of the figure; points A and B are then true by construction.",
    ),
    Ambiguity(
        "alpha",
        "section 3.1",
        asks="By which alpha does the original divide its estimate in figure 4?",
        readings=tuple(
            Reading(
                alpha(value),
                f"alpha = {value}",
                does=f"The window is the capacity over {value}.",
                allowed_by='"a variable a which indicates the rates between 1 and 8"',
                against={
                    1: "With it the capacity is reached in the second round trip: nothing is left for point B.",
                }.get(value, "No value is printed."),
                options=f"swift_alpha = {value}",
            )
            for value in ALPHAS
        ),
        default_by="Point B needs a second increase, and 2 is the smallest integer with one; chosen when the runs were "
        "known.",
    ),
    Ambiguity(
        "no-estimate",
        "section 4.2",
        asks="What does the original do without an estimate?",
        readings=(
            Reading(
                FREEZE,
                "the window stays at four",
                does="Without an estimate the window stays at its four segments.",
                allowed_by='"the congestion window will not be increased than the IW which is set to 4 segments", "its '
                'CWND remain 4 segments"',
                against="The code that NASA measured (reference 20) went on in slow start.",
                options='no_estimate = "freeze"',
            ),
            Reading(
                FALL_BACK,
                "slow start goes on",
                does="Without an estimate the sender goes on in slow start.",
                allowed_by="Section 3 does not say what happens without an estimate.",
                against="Section 4.2 does.",
                options='no_estimate = "slow-start"',
            ),
        ),
        default_by="Section 4.2 says it twice; what follows from it is true by construction.",
    ),
    Ambiguity(
        "threshold",
        "section 4.1, figure 4",
        asks="With which threshold does slow start begin?",
        readings=(
            Reading(
                NO_THRESHOLD,
                "no threshold",
                does="Slow start begins without a threshold.",
                allowed_by="None is printed.",
                against="",
                options="initial_ssthresh = none",
            ),
            Reading(
                RFC_2001,
                "RFC 2001's threshold",
                does="Slow start begins with a threshold of 65535 B.",
                allowed_by='"certain threshold SSTHRESH"; reference 10 is RFC 2001, which begins with 65535 B',
                against="The paper explains point C by a queue. This reading was added when the other was known.",
                options="initial_ssthresh = 65535 B",
            ),
        ),
        default_by="It adds nothing to the text.",
    ),
    Ambiguity(
        "rtt",
        "section 4.3, figure 9",
        asks="Which round-trip time has figure 9?",
        readings=(
            Reading(
                TEXT_386,
                "386 ms",
                does="386 ms.",
                allowed_by='"RTT= 274 ms and RTT= 386 ms respectively"',
                against="The caption has 486 ms.",
                options="rtt = 386 ms",
            ),
            Reading(
                CAPTION_486,
                "486 ms",
                does="486 ms.",
                allowed_by='"Figure 9 ... for RTT=486 ms"',
                against="The text has 386 ms.",
                options="rtt = 486 ms",
            ),
        ),
        default_by="Nothing decides; the text comes first.",
    ),
)
