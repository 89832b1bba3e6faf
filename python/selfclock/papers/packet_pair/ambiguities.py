"""Where the paper can be read in several ways, and how."""

from __future__ import annotations

from selfclock.claims import Ambiguity, Reading

ONE, EVERY = "one-pair", "every-pair"
BY_ACK, BY_TIME, BY_LOSS = "until-acknowledged", "two-round-trips", "until-loss"
TENTH, TIES, TEN_MS, START_ALONE = "tenth-of-a-packet", "0.1-ms", "10-ms", "start-alone"
UNPAIRED, ALL = "d-unpaired", "d-of-all"
PER_ACK, ACKNOWLEDGED = "per-ack", "acknowledged-data"
WITH_TRANSMISSION, PROPAGATION_ALONE = "with-transmission", "propagation-alone"

_NOTHING_ON_PAIRS = "Nothing in the text says when a pair without a reply is given up."

AMBIGUITIES = (
    Ambiguity(
        "pairs",
        "section 4.2.1, figure 5",
        asks="How often does the sender send a pair?",
        readings=(
            Reading(
                ONE,
                "one pair at a time",
                does="A pair leaves only if the one before it has been answered.",
                allowed_by='"packet pair option is used 0.300msec, 0.540msec, 0.780msec", one pair in a round trip, '
                'and the segment at 0.900, for which the window has opened by two, is "transmitted by leaky bucket '
                'scheme"',
                against='"there are always chance of two packets transmission at a time in slow-start phase"',
                options='pairs_at_once = "one"',
            ),
            Reading(
                EVERY,
                "a pair with every two segments",
                does="In slow start every two segments that may leave together are a pair.",
                allowed_by='"always chance of two packets transmission at a time ... Packet pair option is used in '
                'this two packets transmission"',
                against="Figure 5 then has a fourth pair, at 0.900, which its text counts among the shaped segments.",
                options='pairs_at_once = "every"',
            ),
        ),
        default_by="Figure 5 gives the time of every pair and of every shaped segment.",
    ),
    Ambiguity(
        "unanswered",
        "section 4.1.2",
        asks="When is a pair without a reply given up, with one pair at a time?",
        readings=(
            Reading(
                BY_ACK,
                "at an ACK without the reply",
                does="When its second segment is acknowledged without a reply, at a loss or at a timeout.",
                allowed_by='"The acknowledgement of packet with packet pair 2 type option is transmitted with packet '
                'pair reply type option": an ACK without it says that there is none',
                against=_NOTHING_ON_PAIRS,
                options='unanswered_pair = "acknowledged"',
            ),
            Reading(
                BY_TIME,
                "after two round trips",
                does="After two smoothed round-trip times, at a loss or at a timeout.",
                allowed_by=_NOTHING_ON_PAIRS,
                against="It needs a number that is not printed.",
                options='unanswered_pair = "two-round-trips"',
            ),
            Reading(
                BY_LOSS,
                "at a loss alone",
                does="At a loss or at a timeout alone.",
                allowed_by=_NOTHING_ON_PAIRS,
                against="The loss of an ACK ends the measurement until data is lost.",
                options='unanswered_pair = "loss"',
            ),
        ),
        default_by="Section 4.1.2 ties the reply to the ACK of the second segment.",
    ),
    Ambiguity(
        "thinned",
        "section 4.2.1, figure 6",
        asks="Which segments does d count, one acknowledgement for three or four?",
        readings=(
            Reading(
                UNPAIRED,
                "those in no pair",
                does="Both segments of a pair are acknowledged at once, and d counts the others.",
                allowed_by='"the acknowledgement for data packet with packet pair 1 option is transmitted '
                'immediately", as figure 6 has it',
                against="In slow start, which alone is shaped, most segments are in pairs then.",
                options='ack_ratio_of = "unpaired"',
            ),
            Reading(
                ALL,
                "all",
                does="Once the path is known to be asymmetric, pairs are acknowledged like other segments.",
                allowed_by='"When new TCP finds an asymmetric link, acknowledgement packet is transmitted every three '
                'or four packet arrival"; only slow start is shaped (section 4.2.3), so only there is "the new TCP '
                'not affected by aggregated acknowledgement"',
                against="The second segment of a pair is acknowledged immediately (section 4.1.2).",
                options='ack_ratio_of = "all"',
            ),
        ),
        default_by="Section 4.1.2 and figure 6 say of both segments of a pair that they are acknowledged at once.",
    ),
    Ambiguity(
        "randomness",
        "section 5",
        asks="What is random in the simulations?",
        readings=(
            Reading(
                TENTH,
                "a tenth of a packet's time of random delay",
                does="Every packet is delayed at random by up to a tenth of its time on the bottleneck, 1.6 ms, on the "
                "sender's link, and the start by up to 1 s; fifty seeds.",
                allowed_by="Nothing random is printed. A queue of five places without randomness has phase effects, "
                "against which ns has overhead_, a random delay of every packet.",
                against="No delay is printed.",
                options="network.access.jitter = 1.6 ms, start_jitter = 1 s",
            ),
            Reading(
                TIES,
                "0.1 ms of random delay",
                does="The same with up to 0.1 ms, a hundredth of the printed tick, which breaks ties at the queue.",
                allowed_by="The same words.",
                against="Packets 16 ms apart keep their order at the queue, and with it most of its phase effects.",
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
        default_by="No words do. The randomness of a test has to be small beside what it tests, a packet's time, and "
        "large enough to matter: a tenth of it.",
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
