"""Where the paper can be read in several ways, and how."""

from __future__ import annotations

from selfclock.claims import Ambiguity, Reading

TIES, TEN_MS, START_ALONE = "0.1-ms", "10-ms", "start-alone"
PER_ACK, ACKNOWLEDGED = "per-ack", "acknowledged-data"
WITH_TRANSMISSION, PROPAGATION_ALONE = "with-transmission", "propagation-alone"

AMBIGUITIES = (
    Ambiguity(
        "randomness",
        "section 5",
        asks="What is random in the simulations?",
        readings=(
            Reading(
                TIES,
                "0.1 ms of random delay",
                does="Every packet is delayed at random by up to 0.1 ms on the sender's link, and the start by up to "
                "1 s; fifty seeds.",
                allowed_by="Nothing random is printed. A queue of five places without randomness has phase effects, "
                "against which ns has overhead_, a random delay of every packet.",
                against="No delay is printed.",
                options="network.access.jitter = 0.1 ms, start_jitter = 1 s",
            ),
            Reading(
                TEN_MS,
                "10 ms of random delay",
                does="The same with up to 10 ms.",
                allowed_by="The same words; ns's own tests have delays of the size of a transmission.",
                against="It is as large as the intervals of 10 to 20 ms that the algorithm measures.",
                options="network.access.jitter = 10 ms, start_jitter = 1 s",
            ),
            Reading(
                START_ALONE,
                "a random start alone",
                does="Only the start is random.",
                allowed_by="Nothing random is printed.",
                against="It only shifts a flow against the clocks: all fifty runs of figure 8 are one run.",
                options="start_jitter = 1 s",
            ),
        ),
        default_by="A hundredth of the printed tick of 10 ms breaks ties at the queue, and leaves the measured "
        "intervals as they are.",
    ),
    Ambiguity(
        "growth",
        "section 4.2.1",
        asks="By how much does an ACK open the window in slow start?",
        readings=(
            Reading(
                PER_ACK,
                "a segment for each ACK",
                does="The window grows by one segment for each ACK.",
                allowed_by='"window size is increased by 1 segment for each ACK received"',
                against="",
                options="byte_counting = false",
            ),
            Reading(
                ACKNOWLEDGED,
                "what was acknowledged",
                does="The window grows by the acknowledged data, two segments at most (RFC 3465).",
                allowed_by='"opened window size is increased by amount of acknowledged data"',
                against="The sentence before has one segment for each ACK.",
                options="byte_counting = true",
            ),
        ),
        default_by="The sentence says so, and it is slow start as the paper's ns has it.",
    ),
    Ambiguity(
        "propagation",
        "section 4.2.1, figure 5",
        asks='Do the "100msec propagation delay" include the transmission of a packet?',
        readings=(
            Reading(
                WITH_TRANSMISSION,
                "100 ms with a transmission",
                does="A packet that meets no queue takes 100 ms from its first bit sent to its last bit received.",
                allowed_by='The printed "0.200msec, 0.300msec" are multiples of 100 ms.',
                against="A propagation delay has no transmission in it.",
                options="delay = 59.04 ms and 96.8 ms",
            ),
            Reading(
                PROPAGATION_ALONE,
                "100 ms and a transmission",
                does="The transmission comes on top: 41 ms for a segment, 3.2 ms for an ACK.",
                allowed_by='"100msec propagation delay"',
                against="The printed times of the first round trips leave no room for it.",
                options="delay = 100 ms",
            ),
        ),
        default_by="The times printed beside it follow only so.",
    ),
)
