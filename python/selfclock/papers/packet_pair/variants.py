"""The mechanism of a run in the words of the claims, with every option that differs from its default."""

from __future__ import annotations

#: Of both.
_STACK = (
    "Window: reno with halved = window and threshold = whole-segments. Transport: classic, one_recovery_per_window = "
    "false, delayed ACKs of every second segment after 200 ms, timer arithmetic bsd"
)
_HEADLINE = "Every packet is delayed by up to 10 ms at random on the sender's link, and the start by up to 1 s."

RENO = f"Reno. {_STACK}, retransmission timer of 500 ms. {_HEADLINE}"
SENDER_ONLY = (
    "packet-pair with its defaults: probing = sender-only, tick = 10 ms, counter difference, the last interval "
    f"counts, 0 ticks unshaped, safe-transmit. {_STACK}, retransmission timer of 10 ms (section 3.1). {_HEADLINE}"
)
BOTH_SIDES = SENDER_ONLY.replace(
    "packet-pair with its defaults: probing = sender-only", "packet-pair with probing = both-sides, else its defaults:"
)
LADDER = (
    "packet-pair with its defaults: probing = sender-only, tick = 10 ms; segments of 512 B, delayed ACKs on a clock "
    "of 200 ms that runs freely, 100 ms each way from the first bit sent to the last one received; from time 0, no "
    "randomness"
)
OF_FIGURE = {8: RENO, 9: SENDER_ONLY, 11: RENO, 12: SENDER_ONLY, 13: BOTH_SIDES}
