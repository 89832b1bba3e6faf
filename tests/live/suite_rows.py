"""The paths of the suite: what a stack meets between two hosts, each once.

Where a path differs from the kernel for a known cause, the row names it; a row without a cause that
differs is a failure of the suite.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Payload of a full segment with timestamps, bytes.
SEGMENT_BYTES = 1448

#: Segments of the short transfers: around the initial window of ten, odd and even, and up to 40.
SHORT = (1, 2, 3, 4, 5, 7, 8, 10, 11, 14, 20, 30, 40)


@dataclass(frozen=True)
class Transfers:
    """Short transfers on connections of their own."""

    #: Sizes, segments.
    segments: tuple[int, ...]
    #: How often each.
    repeats: int
    #: Mean time between two starts, s, and whether they are random (a Poisson process).
    gap_s: float
    poisson: bool = False


@dataclass(frozen=True)
class Path:
    """A path, what crosses it, and why the simulator may differ there."""

    name: str
    title: str
    #: The network and routers, as a scenario file has them.
    network: str
    #: None: one bulk flow.
    transfers: Transfers | None = None
    #: Length of a bulk flow, s.
    seconds: float = 12.0
    #: Whether both ends negotiate ECN.
    ecn: bool = False
    #: Algorithms for which a difference is expected, and its cause; "*" is all of them.
    reasons: tuple[tuple[str, str], ...] = ()

    def scenario(
        self, control: str, seed: int, *, traffic: str = '"bulk"', seconds: float | None = None, start_s: float = 0.0
    ) -> str:
        """Return the scenario file of one flow that starts at `start_s` and lasts `seconds`; `control` as TOML."""
        ecn = 'transport = { ecn = "classic" }\n' if self.ecn else ""
        end_s = start_s + (seconds or self.seconds)
        return (
            f'schema = 1\nname = "{self.name}"\nseed = {seed}\nduration = "{end_s:.6f} s"\n{self.network}\n[[flow]]\n'
            f'congestion_control = {control}\nstart = "{start_s:.6f} s"\ntraffic = {traffic}\n{ecn}'
        )

    def reason(self, control: str) -> str | None:
        """Return the cause of an expected difference."""
        return next((why for who, why in self.reasons if who in {control, "*"}), None)


def network(forward: str = "", back: str = "", routers: str = "") -> str:
    """Return a dumbbell; the defaults are 20 Mbit/s, 40 ms, a buffer of one BDP, and a reverse path without drops."""
    usual = {"rate": '"20 Mbps"', "delay": '"20 ms"', "queue": '"1 bdp"'}
    back_usual = {**usual, "queue": '"unlimited"'}
    return "\n".join(
        (
            '[network]\ntopology = "dumbbell"\naccess = { rate = "1 Gbps", delay = "0 ms" }',
            f"bottleneck = {_link(usual, forward)}",
            f"reverse = {_link(back_usual, back)}",
            routers,
        )
    )


def _link(usual: dict[str, str], given: str) -> str:
    """Return a link; `given` are further keys, "key = value; ...", which replace the usual ones."""
    changed = dict(pair.split(" = ", 1) for pair in given.split("; ") if pair)
    return "{ " + ", ".join(f"{key} = {value}" for key, value in {**usual, **changed}.items()) + " }"


def _router(mechanism: str, link: str, settings: str) -> str:
    return f'[[router]]\nmechanism = "{mechanism}"\nlinks = ["{link}"]\n{settings}'


def _lost(link: str, kinds: str, settings: str) -> str:
    return _router("loss", link, f"kinds = [{kinds}]\n{settings}")


#: Kinds of packets of a TCP connection in one direction.
ALL_DATA, ALL_ACKS = '"data", "syn"', '"ack", "syn-ack"'

#: Causes of differences: algorithm or all of them, and what it is.
BURSTS = (
    "*",
    "a Linux host hands over the segments of one write together, so a queue of a few packets overflows "
    "earlier than behind the simulator's evenly clocked sender",
)
SPREAD = (
    "*",
    "a small window crosses this policer as one burst; the scheduling of a real host spreads it, as 0.1 ms of "
    "`overhead` does in the simulator (8 to 11 Mbit/s)",
)
TIMER = (
    "*",
    "Linux adds its 200 ms to SRTT (`tcp_rtt_estimator`: RTTVAR counts as at least `tcp_rto_min`), RFC 6298 takes the "
    "larger of 200 ms and SRTT + 4 RTTVAR: its backed-off timer is later (`timer.minimum` of SRTT + 200 ms gives 11.3 "
    "to 11.7 Mbit/s after the outages)",
)
ALPHA = (
    "cubic",
    "once the Reno-friendly window has regained cwnd_prior, the simulator adds a segment per round trip (RFC 9438, "
    "4.3), Linux 0.53 (RFC 8312, `tcp_cubic.c`), and in whole segments",
)

CLEAN = (
    Path("clean", "20 Mbit/s, 40 ms, 1 BDP", network()),
    Path("clean-quarter", "buffer of a quarter BDP", network('queue = "0.25 bdp"')),
    Path("clean-deep", "buffer of 4 BDP", network('queue = "4 bdp"'), seconds=20.0),
    Path("clean-4-packets", "buffer of 4 packets", network('queue = "4 packets"'), reasons=(BURSTS,)),
    Path("clean-short", "RTT 4 ms", network('delay = "2 ms"', 'delay = "2 ms"')),
    Path("clean-long", "RTT 300 ms", network('delay = "150 ms"', 'delay = "150 ms"'), seconds=30.0),
    Path("clean-slow", "1 Mbit/s", network('rate = "1 Mbps"; queue = "20 packets"', 'rate = "1 Mbps"'), seconds=20.0),
)

LOSS = (
    *(
        Path(
            f"loss-{percent}",
            f"{percent} % random loss",
            network(f"loss = {{ probability = {percent / 100} }}"),
            seconds=seconds,
            reasons=(ALPHA,),
        )
        for percent, seconds in ((0.1, 30.0), (1, 20.0), (5, 20.0))
    ),
    Path(
        "loss-bursts",
        "bursts of loss: Gilbert-Elliott, 1 in 500 packets begins one of 5 on average",
        network("loss = { good_to_bad = 0.002, bad_to_good = 0.2 }"),
        seconds=20.0,
        reasons=(ALPHA,),
    ),
    Path(
        "outage-data",
        "3 s without data packets",
        network(routers=_lost("bottleneck", ALL_DATA, 'probability = 1\nfrom = "4 s"\nuntil = "7 s"')),
        reasons=(TIMER,),
    ),
    Path(
        "outage-acks",
        "3 s without ACKs",
        network(routers=_lost("reverse", ALL_ACKS, 'probability = 1\nfrom = "4 s"\nuntil = "7 s"')),
        reasons=(TIMER,),
    ),
    Path(
        "outage-short",
        "100 ms without data packets, every 3 s",
        network(
            routers="\n".join(
                _lost("bottleneck", ALL_DATA, f'probability = 1\nfrom = "{at} s"\nuntil = "{at}.1 s"')
                for at in (3, 6, 9)
            )
        ),
    ),
)

REORDERING = (
    Path("jitter", "30 ms of jitter, no overtaking", network('jitter = "30 ms"')),
    *(
        Path(
            f"reorder-{percent}-{ms}ms",
            f"{percent} % of the packets held for {ms} ms",
            network(routers=_router("reordering", "right-sink1", f'probability = {percent / 100}\ndelay = "{ms} ms"')),
            seconds=20.0,
        )
        for percent, ms in ((1, 5), (10, 20), (50, 10))
    ),
    Path(
        "delay-step",
        "one second of 400 ms more",
        network('changes = [{ at = "5 s", delay = "420 ms" }, { at = "6 s", delay = "20 ms" }]'),
    ),
    Path("rate-down", "20 to 5 Mbit/s at 6 s", network('changes = [{ at = "6 s", rate = "5 Mbps" }]')),
    Path(
        "rate-up",
        "5 to 20 Mbit/s at 6 s",
        network('rate = "5 Mbps"; changes = [{ at = "6 s", rate = "20 Mbps" }]'),
        reasons=(ALPHA,),
    ),
)

ACKS = (
    *(
        Path(
            f"acks-lost-{percent}",
            f"{percent} % of the ACKs lost",
            network(routers=_lost("reverse", '"ack"', f"probability = {percent / 100}")),
        )
        for percent in (30, 50, 70, 80)
    ),
    Path("reverse-lost-30", "30 % of all packets lost on the way back", network(back="loss = { probability = 0.3 }")),
    Path(
        "acks-thinned",
        "ACKs within 10 ms of one another thinned",
        network(routers=_router("ack-thinning", "reverse", 'interval = "10 ms"')),
    ),
)

POLICERS = tuple(
    Path(
        f"policer-{burst.replace(' ', '')}",
        f"policer 20 Mbit/s, burst {burst}, behind {rate} Mbit/s",
        network(
            f'rate = "{rate} Mbps"; queue = "4000 packets"',
            f'rate = "{rate} Mbps"',
            _router("policer", "bottleneck", f'rate = "20 Mbps"\nburst = "{burst}"'),
        ),
        reasons=(SPREAD,) if burst == "30 kB" else (),
    )
    for burst, rate in (("30 kB", 100), ("100 kB", 100), ("500 kB", 100), ("2 MB", 200))
)

QUEUES = (
    *(
        Path(
            f"queue-{discipline}",
            f"{discipline}, 250 packets",
            network(f'queue = {{ discipline = "{discipline}", limit = "250 packets"{more} }}'),
            seconds=20.0,
        )
        for discipline, more in (
            ("drop-tail", ""),
            ("codel", ""),
            ("fq-codel", ""),
            ("pie", ""),
            ("fq-pie", ""),
            ("red", ', minimum = "30 packets", maximum = "90 packets"'),
            ("dualpi2", ""),
            ("drr", ""),
        )
    ),
    *(
        Path(
            f"ecn-{discipline}",
            f"{discipline} with ECN (RFC 3168)",
            network(f'queue = {{ discipline = "{discipline}", limit = "250 packets"{more} }}'),
            seconds=20.0,
            ecn=True,
        )
        for discipline, more in (
            ("codel", ""),
            ("pie", ""),
            ("red", ', minimum = "30 packets", maximum = "90 packets"'),
            ("dualpi2", ""),
        )
    ),
)

#: Gaps leave a transfer alone on a path where it is short; on long ones they overlap, at a rate at
#: which 40 segments take 5 ms.
TRANSFERS = tuple(
    Path(
        f"short-{name}",
        f"alone, RTT {rtt}",
        network(
            f'rate = "100 Mbps"; delay = "{one_way}"; queue = "1000 packets"',
            f'rate = "100 Mbps"; delay = "{one_way}"',
        ),
        transfers=Transfers(SHORT, repeats, gap_s),
    )
    for name, rtt, one_way, repeats, gap_s in (
        ("40us", "40 us", "20 us", 5, 0.06),
        ("20ms", "20 ms", "10 ms", 5, 0.16),
        ("300ms", "300 ms", "150 ms", 3, 0.047),
        ("1200ms", "1.2 s", "600 ms", 3, 0.047),
    )
)

RANDOM_TRANSFERS = tuple(
    Path(
        f"transfers-{name}",
        title,
        network(forward, back, routers),
        transfers=Transfers((segments,), 200, 0.1, poisson=True),
        reasons=(TIMER,) if name in {"acks-lost", "loss-bursts"} else (),
    )
    for name, title, segments, forward, back, routers in (
        ("loss-5", "5 % random loss", 20, 'queue = "unlimited"; loss = { probability = 0.05 }', "", ""),
        (
            "loss-bursts",
            "bursts of loss, 1 in 50 packets begins one of 3",
            10,
            'queue = "unlimited"; loss = { good_to_bad = 0.02, bad_to_good = 0.33 }',
            "",
            "",
        ),
        (
            "syn-lost",
            "30 % of the SYNs lost",
            10,
            'queue = "unlimited"',
            "",
            _lost("bottleneck", '"syn"', "probability = 0.3"),
        ),
        (
            "syn-ack-lost",
            "30 % of the SYN-ACKs lost",
            10,
            'queue = "unlimited"',
            "",
            _lost("reverse", '"syn-ack"', "probability = 0.3"),
        ),
        (
            "acks-lost",
            "50 % of the ACKs lost",
            10,
            'queue = "unlimited"',
            "",
            _lost("reverse", '"ack"', "probability = 0.5"),
        ),
        (
            "reordered",
            "10 % of the packets held for 10 ms",
            20,
            'queue = "unlimited"',
            "",
            _router("reordering", "right-sink1", 'probability = 0.1\ndelay = "10 ms"'),
        ),
    )
)

#: Headings and their paths.
GROUPS: dict[str, tuple[Path, ...]] = {
    "Clean paths": CLEAN,
    "Loss and outages": LOSS,
    "Jitter, reordering, changes": REORDERING,
    "Lost and thinned ACKs": ACKS,
    "Policers": POLICERS,
    "Queue disciplines": QUEUES,
    "Short transfers": TRANSFERS,
    "Short transfers on bad paths": RANDOM_TRANSFERS,
}
