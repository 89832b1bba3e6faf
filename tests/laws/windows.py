"""Windows and timers over time: curves, order relations and single ACKs that a source fixes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from laws.generator import names, path, recoveries
from laws.law import Document, holds, law, require, within
from laws.measure import SECOND, changed, flow, goodput, picoseconds, recorded, run, seconds

if TYPE_CHECKING:
    from laws.draw import Draw


# --- curves ---------------------------------------------------------------------------------------


def one_cut(draw: Draw) -> Document:
    """Return CUBIC above its Reno-friendly region, and a loss."""
    threshold, every = draw.pair([300, 450, 700], [1, 2, 8, 16])
    made = path(
        "10 Gbps",
        100,
        "unlimited",
        duration="14 s",
        interval="20 ms",
        access="10 Gbps",
        flows=[
            {
                "congestion_control": "cubic",
                "transport": {
                    "recovery": draw.pick(["newreno", "sack", "rack"]),
                    "initial_ssthresh": f"{threshold} segments",
                    "receive_window": "unlimited",
                    "delayed_ack": {"every": every, "timer": "5 ms"},
                },
            }
        ],
    )
    made["router"] = [{"mechanism": "loss", "kinds": ["data"], "every": threshold * 45, "links": ["bottleneck"]}]
    return made


@law(one_cut, share=0.7)
def cubic_return(document: Document) -> None:
    """After a loss CUBIC is back at 95 % of W_max when its function says so, for any ACK policy.

    Condition: 300 segments and more at 100 ms, where the Reno-friendly window is below; from the
    end of the recovery, two round trips after the loss; within 10 % and three round trips.
    Source: RFC 9438, equations 1 and 2: W(t) = C (t - K)^3 + W_max, K = cbrt(W_max (1 - beta)/C).
    """
    rows = pl.DataFrame(run(document).flows)
    windows, times = rows["cwnd_bytes"].to_list(), rows["time_s"].to_list()
    thresholds = rows["ssthresh_bytes"].to_list()
    place = next((n for n in range(1, len(windows)) if thresholds[n] != thresholds[n - 1]), None)
    holds(place is not None, "no loss")
    assert place is not None
    most = windows[place - 1] / 1448
    again = next((n for n in range(place + 5, len(windows)) if thresholds[n] != thresholds[place]), len(windows))
    back = next((n for n in range(place + 15, again) if windows[n] >= 0.95 * most * 1448), None)
    right = math.cbrt(most * 0.3 / 0.4) - math.cbrt(most * 0.05 / 0.4)
    holds(back is not None or times[again - 1] > times[place] + 1.5 * right, "lost again before")
    found = times[back] - times[place] - 0.2 if back is not None else math.inf
    within(found, right, f"time from 70 to 95 % of {most:.0f} segments, s", relative=0.1, absolute=0.3)


#: Windows that are never to be slower than Reno, and where that is said.
NOT_SLOWER = ("cubic", "highspeed", "scalable", "bic", "ltcp")


def periodic(draw: Draw) -> Document:
    """Return a window under periodic losses on a short or a long path."""
    window, (rtt, every) = draw.pair(NOT_SLOWER, [(10, 300), (10, 4000), (30, 1000), (100, 1000)])
    made = path("10 Gbps", rtt, "unlimited", access="10 Gbps", duration=f"{max(20, rtt * every**0.5 / 100):.0f} s",
                flows=[{"congestion_control": window}])  # fmt: skip
    made["transport"] = {"recovery": draw.pick(["newreno", "sack", "rack"]), "receive_window": "unlimited"}
    made["router"] = [{"mechanism": "loss", "kinds": ["data"], "every": every, "links": ["bottleneck"]}]
    return made


@law(periodic)
def not_below_reno(document: Document) -> None:
    """Windows for fast networks get at least 85 % of what Reno gets under the same losses.

    Condition: one packet in N is lost; 8 cycles or more.
    Source: RFC 9438, 4.3; RFC 3649, 5; Kelly 2003, 5 (the legacy window); Xu, Harfoush, Rhee 2004;
    Bhandarkar, Jain, Reddy 2006: each is Reno where Reno is faster.
    """
    reno = changed(document, lambda each: each["flow"][0].update(congestion_control="reno"))
    least, found = 0.85 * goodput(run(reno)), goodput(run(document))
    require(found >= least, "goodput, bit/s", found, f"at least {least}")


def two_writes(draw: Draw) -> Document:
    """Return an application that writes 4 MB, pauses, and writes again."""
    return path(
        "50 Mbps",
        60,
        "unlimited",
        duration="40 s",
        interval="20 ms",
        access="1 Gbps",
        flows=[
            {
                "congestion_control": draw.turn(names("window")),
                "transport": {"receive_window": "unlimited", "initial_ssthresh": f"{draw.pick([40, 60])} segments"},
            }
        ],
    )


@law(two_writes, share=0.6)
def length_of_a_pause(document: Document) -> None:
    """The window after a write does not depend on whether the pause before it took 9 s or 20.

    Condition: both pauses are longer than ten RTOs, so that both restart from the initial window;
    the largest window of the 4 s after the pause, within 3 %.
    Source: RFC 5681, 4.1; RFC 9438, 4.2 and 5.8: time without data is not time of the epoch.
    """
    found = []
    for length in (9, 20):
        given = changed(document, lambda each, length=length: each["flow"][0].update(
            traffic={"rate": f"{4_000_000 * 8 // length} bps", "write": "4000000 B"}))  # fmt: skip
        rows = pl.DataFrame(run(given).flows).filter((pl.col("time_s") > length) & (pl.col("time_s") < length + 4))
        found.append(float(rows["cwnd_bytes"].max() or 0))
    within(found[1], found[0], "largest window after a pause of 20 s, bytes", relative=0.03)


# --- single ACKs ----------------------------------------------------------------------------------


def holes(draw: Draw) -> Document:
    """Return NewReno with several losses a window."""
    made = path("1 Gbps", draw.whole(20, 80), "unlimited", duration="6 s", seed=draw.whole(1, 999), flows=[
        {"congestion_control": draw.turn(["reno", "cubic"]), "transport": {
            "recovery": "newreno", "receive_window": "unlimited", "initial_window": f"{draw.whole(20, 60)} segments",
            "delayed_ack": draw.pick(["off", {"every": 2, "timer": "40 ms"}])}}],
        access="10 Gbps", loss={"probability": draw.pick([0.01, 0.03])})  # fmt: skip
    made["network"]["reverse"]["loss"] = {"probability": 0}
    return made


@law(holes, share=0.8)
def partial_ack(document: Document) -> None:
    """In a recovery of NewReno a partial ACK lets one retransmission out, and one new segment at most.

    Condition: until the first timeout; ACKs are not lost.
    Source: RFC 6582, 3.2, step 3: the window is deflated by what the ACK acknowledges, and a
    segment is added back.
    """
    _, packets = recorded(document)
    sends = (pl.col("event") == "send") & (pl.col("kind") == "data")
    acks = (pl.col("event") == "deliver") & (pl.col("kind") == "ack")
    columns = ("time", "event", "sequence", "payload_bytes", "acknowledgement", "retransmission")
    rows = packets.filter(sends | acks).select(columns).rows()
    una, top, recover, partial, judged = 0, 0, None, None, 0
    at, sent, again = 0, 0, 0
    for time, event, sequence, size, ack, retransmission in rows:
        if event == "deliver":
            if partial:
                judged += 1
                require(sent <= 1, f"new segments on the partial ACK at {at} ps", sent, "at most 1")
                require(again <= 1, f"retransmissions on the partial ACK at {at} ps", again, "at most 1")
            partial = recover is not None and una < ack < recover
            if recover is not None and ack >= recover:
                recover = None
            at, una, sent, again = time, max(una, ack), 0, 0
        elif retransmission:
            if time > at:  # no ACK: the timer
                break
            recover = top if recover is None else recover
            again += 1
        else:
            sent += 1
            top = max(top, sequence + size)
    holds(judged > 3, "few partial ACKs")


def proportional(draw: Draw) -> Document:
    """Return a window that loses one segment, with PRR."""
    made = path("1 Gbps", draw.whole(20, 80), "unlimited", duration="8 s", access="10 Gbps", flows=[
        {"congestion_control": draw.turn(["reno", "cubic"]), "transport": {
            "recovery": draw.pick(["sack", "rack"]), "prr": True, "receive_window": "unlimited",
            "initial_ssthresh": f"{draw.whole(60, 200)} segments", "delayed_ack": "off"}}])  # fmt: skip
    every = draw.whole(2000, 4000)
    made["router"] = [{"mechanism": "loss", "kinds": ["data"], "every": every, "links": ["bottleneck"]}]
    return made


@law(proportional, share=0.5)
def proportional_reduction(document: Document) -> None:
    """Through the recovery of one loss PRR sends the window's factor of what is delivered.

    Condition: one loss in a window of 60 segments or more, an ACK per segment; three segments for
    rounding and the retransmission.
    Source: RFC 9937, 6.2: SndCnt = CEIL(prr_delivered ssthresh / RecoverFS) - prr_out; RFC 5681
    and RFC 9438, 4.6: 0.5 and 0.7.
    """
    _, packets = recorded(document)
    sends = (pl.col("event") == "send") & (pl.col("kind") == "data")
    acks = (pl.col("event") == "deliver") & (pl.col("kind") == "ack")
    rows = packets.filter(sends | acks).select("event", "sequence", "acknowledgement", "retransmission").rows()
    first = next((place for place, row in enumerate(rows) if row[3] and row[0] == "send"), None)
    holds(first is not None, "no loss")
    assert first is not None
    top = max(row[1] for row in rows[:first] if row[0] == "send")
    sent = delivered = 0
    for event, _, ack, _ in rows[first:]:
        if event == "deliver":
            if ack > top:
                break
            delivered += 1
        else:
            sent += 1
    holds(delivered > 40, "a short recovery")
    factor = {"reno": 0.5, "cubic": 0.7}[document["flow"][0]["congestion_control"]]
    within(sent, factor * delivered, f"segments sent while {delivered} were delivered", absolute=3)


def silenced(draw: Draw) -> Document:
    """Return a flow of a constant RTT whose path loses everything from a time on."""
    minimum = draw.pick([200, 400, 1000])
    made = path(
        "100 Mbps",
        draw.whole(20, 300),
        "unlimited",
        duration="12 s",
        flows=[
            {
                "congestion_control": draw.pick(["reno", "cubic"]),
                "transport": {
                    "recovery": draw.turn([each for each in recoveries() if each != "rack"]),
                    "receive_window": "20 segments",
                    "timer": {"minimum": f"{minimum} ms", "arithmetic": draw.pick(["linux", "rfc6298"])},
                },
            }
        ],
    )
    made["router"] = [
        {"mechanism": "loss", "kinds": ["data"], "probability": 1, "from": f"{draw.whole(6000, 8000)} ms",
         "links": ["bottleneck"]}
    ]  # fmt: skip
    return made


@law(silenced, share=0.5)
def timer_of_a_constant_path(document: Document) -> None:
    """On a path of constant RTT the first timeout comes a minimum of the timer after the RTT, or at it.

    Condition: RTTVAR has decayed to nothing; Linux adds the minimum to SRTT, RFC 6298 takes the
    larger of the two; from the last ACK of new data; within 5 % and 10 ms, the time that 20
    segments and their ACKs are apart.
    Source: RFC 6298, 2.3, 2.4 and 5.3; Linux, __tcp_set_rto and tcp_rtt_estimator.
    """
    result, packets = recorded(document)
    timer = document["flow"][0]["transport"]["timer"]
    minimum, rtt = seconds(timer["minimum"]), flow(result)["rtt_min_s"]
    dead = picoseconds(document["router"][0]["from"])
    acks = packets.filter((pl.col("event") == "deliver") & (pl.col("kind") == "ack"))
    last = acks.filter(pl.col("acknowledgement") == acks["acknowledgement"].max())["time"].min()
    again = packets.filter(
        (pl.col("event") == "send") & pl.col("retransmission") & (pl.col("time") > dead) & (pl.col("time") > last)
    )
    holds(again.height, "no timeout")
    found = (again["time"].min() - last) / SECOND
    right = rtt + minimum if timer["arithmetic"] == "linux" else max(rtt, minimum)
    within(found, right, "first timeout after the last ACK, s", relative=0.05, absolute=0.01)
