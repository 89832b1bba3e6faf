"""The mechanism of a run in the words of the claims, with every option that differs from its default."""

from __future__ import annotations

#: Of both.
_STACK = (
    "Window: reno with halved = window and threshold = whole-segments. Transport: classic, one_recovery_per_window = "
    "false, delayed ACKs of every second segment after 200 ms, timer arithmetic bsd"
)
RENO = f"Reno. {_STACK}, retransmission timer of 500 ms."
SENDER_ONLY = (
    "packet-pair with its defaults: probing = sender-only, tick = 10 ms, counter difference, the last interval "
    f"counts, 0 ticks unshaped, safe-transmit. {_STACK}, retransmission timer of 10 ms (section 3.1)."
)
BOTH_SIDES = SENDER_ONLY.replace(
    "packet-pair with its defaults: probing = sender-only", "packet-pair with probing = both-sides, else its defaults:"
)
LADDER = (
    "packet-pair with its defaults: probing = sender-only, tick = 10 ms; segments of 512 B, delayed ACKs on a clock "
    "of 200 ms that runs freely; from time 0, no randomness"
)
#: Without what is random, which `Setting.randomness` says.
OF_FIGURE = {8: RENO, 9: SENDER_ONLY, 11: RENO, 12: SENDER_ONLY, 13: BOTH_SIDES}
