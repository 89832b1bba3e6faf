"""Inputs of careless users, named and grouped: input, exit status, and words of the message.

`test_careless.py` runs them. A case is a change of a small scenario, an algorithm, a grid, or a
command line. Cases that need more, such as a full disk or a signal, are in
`test_careless_places.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conftest import GRAPH, SMALL

if TYPE_CHECKING:
    from collections.abc import Iterator

SCENARIO = SMALL.replace('"2 s"', '"500 ms"')
GRID = """\
schema = 1
scenario = "small.toml"
seeds = 1
[grid]
"network.bottleneck.queue" = ["2 packets", "20 packets"]
"""
OWN = """\
import selfclock as sc

@sc.algorithm("test-own")
class Own(sc.CongestionControl):
    gain = sc.parameter(1.0, "Segments a round trip.", minimum=0.1, maximum=10.0)
    def on_ack(self, event):
        if not event.recovering:
            self.cwnd += self.gain / self.cwnd
    def on_loss(self, event):
        self.cwnd /= 2
    def on_timeout(self, event):
        self.cwnd = 1
"""


@dataclass(frozen=True)
class Case:
    """An input from a user."""

    group: str
    name: str
    arguments: tuple[str, ...]
    status: int
    #: Words of standard error; for accepted input, those of a note.
    words: tuple[str, ...] = ()
    files: tuple[tuple[str, str | bytes], ...] = ()
    #: Whether the message is a traceback of the user's own code.
    own_traceback: bool = False


RUN = ("run", "small.toml", "--format", "")


def _edits(group: str, edits: dict[str, tuple[str, str, int, str]]) -> Iterator[Case]:
    """Cases that change the scenario: old text, new text, status, words."""
    for name, (old, new, status, words) in edits.items():
        assert old in SCENARIO, name
        text = SCENARIO.replace(old, new, 1)
        yield Case(group, name, RUN, status, _split(words), (("small.toml", text),))


def _split(words: str) -> tuple[str, ...]:
    return tuple(word for word in words.split("|") if word)


def _settings(group: str, settings: dict[str, tuple[int, str]]) -> Iterator[Case]:
    """Cases of `--set`: status and words."""
    for setting, (status, words) in settings.items():
        yield Case(group, setting[:90], (*RUN, "--set", setting), status, _split(words))


def _commands(group: str, commands: dict[str, tuple[int, str]]) -> Iterator[Case]:
    """Command lines, words separated by spaces: status and words."""
    for line, (status, words) in commands.items():
        yield Case(group, line, tuple(word.replace("_", " ") if "__" not in word else word for word in line.split()),
                   status, _split(words))  # fmt: skip


# c1: the text of a scenario, units, names, encodings

RATE, DELAY, QUEUE = 'rate = "1 Mbps"', 'delay = "10 ms"', 'queue = "5 packets"'

C1 = [
    *_edits(
        "c1",
        {
            "a rate without a unit": (RATE, "rate = 1", 2, "rate|1 has no unit"),
            "a rate as text without a unit": (RATE, 'rate = "1"', 2, 'rate|"1" has no unit'),
            "a rate in bytes": (RATE, 'rate = "1 MB/s"', 2, "unknown unit|Mbps"),
            "a rate in small letters": (RATE, 'rate = "10 mbps"', 2, 'did you mean "Mbps"?'),
            "a rate in binary units": (RATE, 'rate = "10 Mibps"', 2, "unknown unit"),
            "a rate with an exponent": (RATE, 'rate = "1e7 bps"', 2, "an exponent is not read"),
            "a rate with a signed exponent": (RATE, 'rate = "1e+7 bps"', 2, "an exponent is not read"),
            "a rate with a decimal comma": (RATE, 'rate = "10,5 Mbps"', 2, "a comma is not read"),
            "a rate with thousands": (RATE, 'rate = "1,000,000 bps"', 2, "a comma is not read"),
            "a rate with underscores": (RATE, 'rate = "1_000 kbps"', 2, "an underscore is not read"),
            "a negative rate": (RATE, 'rate = "-1 Mbps"', 2, "negative"),
            "a rate of nothing": (RATE, 'rate = "0 bps"', 2, "rate"),
            "a rate of nan": (RATE, "rate = nan", 2, "rate"),
            "a rate of inf": (RATE, 'rate = "inf Mbps"', 2, "does not begin with a number"),
            "a rate of more than there is": (RATE, 'rate = "99999999999 Gbps"', 2, "is too large|allowed: at most"),
            "a rate in a time's unit": (RATE, 'rate = "1 s"', 2, "is a unit of time"),
            "a rate as a list": (RATE, "rate = [1]", 2, "rate"),
            "a rate as a table": (RATE, "rate = { bps = 1 }", 2, "rate"),
            "a rate of words": (RATE, 'rate = "fast"', 2, "does not begin with a number"),
            "a rate with two points": (RATE, 'rate = "1.2.3 Mbps"', 2, "malformed number"),
            "a delay without a unit": (DELAY, "delay = 10", 2, "10 has no unit"),
            "a negative delay": (DELAY, 'delay = "-10 ms"', 2, "negative"),
            "a delay in a rate's unit": (DELAY, 'delay = "10 Mbps"', 2, "is a unit of rate"),
            "a delay in capital letters": (DELAY, 'delay = "10 MS"', 2, 'did you mean "ms"?'),
            "a duration of nothing": ('"500 ms"', '"0 s"', 2, "duration"),
            "a duration of years": ('"500 ms"', '"300000 h"', 2, "duration"),
            "a duration as a number": ('"500 ms"', "5", 2, "duration|no unit"),
            "half a packet": (QUEUE, 'queue = "0.5 packets"', 2, "not a whole number"),
            "no packets": (QUEUE, 'queue = "0 packets"', 2, "a queue must hold something"),
            "a queue without a unit": (QUEUE, "queue = 5", 2, "no unit"),
            "a queue in time": (QUEUE, 'queue = "5 ms"', 2, "queue"),
            "a misspelt key": ("start_jitter", "start_jiter", 2, 'did you mean "start_jitter"?'),
            "a key in capitals": ("start_jitter", "START_JITTER", 2, 'did you mean "start_jitter"?'),
            "a misspelt section": ("[network]", "[netwrok]", 2, 'did you mean "network"?'),
            "no section": ("[network]", "", 2, "topology"),
            "a misspelt algorithm": ('"reno"', '"renoo"', 2, 'did you mean "reno"?'),
            "an algorithm in capitals": ('"reno"', '"RENO"', 2, 'did you mean "reno"?'),
            "an algorithm as a number": ('"reno"', "7", 2, "congestion_control"),
            "another version of the format": ("schema = 1", "schema = 2", 2, "schema|allowed: 1"),
            "no version of the format": ("schema = 1\n", "", 2, "schema"),
            "a bracket that does not close": ("[[flow]]", "[[flow]", 2, "small.toml:10"),
            "a key twice": ("[network]", 'duration = "1 s"\n[network]', 2, "duplicate key"),
            "a name with a slash": ('name = "small"', 'name = "../small"', 2, "name"),
            "letters of other alphabets": ('"reno"', '"reno"\nname = "größe"', 0, ""),
            "spaces in quantities": ('"1 Mbps"', '"  1   Mbps "', 0, ""),
            "a byte order mark": ("schema = 1", "\ufeffschema = 1", 0, ""),
            "Windows line ends": ("schema = 1\n", "schema = 1\r\n", 0, ""),
        },
    ),
    *(
        Case("c1", name, RUN, 2, ("small.toml", *words), (("small.toml", content),))
        for name, content, words in [
            ("an empty file", b"", ("schema",)),
            ("UTF-16", SCENARIO.encode("utf-16"), ("is not UTF-8",)),
            ("Latin 1", SCENARIO.replace("small", "größe").encode("latin-1"), ("is not UTF-8",)),
            ("NUL bytes", b"\0" * 100, ()),
            ("random bytes", bytes(range(256)), ("is not UTF-8",)),
            ("nested brackets", b"schema = " + b"[" * 100_000, ()),
            ("a megabyte on one line", b'name = "' + b"x" * 1_000_000, ()),
        ]
    ),
]

# c2: topologies, settings, options, names on the command line

C2 = [
    *_settings(
        "c2",
        {
            "duration": (2, 'no "="'),
            "=1": (2, "empty key"),
            "": (2, 'no "="'),
            "durations=1 s": (2, 'did you mean "duration"?'),
            "Duration=1 s": (2, 'did you mean "duration"?'),
            "duration=1": (2, "has no unit"),
            "duration=": (2, "duration"),
            "seed=-1": (2, "seed|allowed"),
            "seed=1.5": (2, "integer|allowed: from 0"),
            "seed=many": (2, "integer"),
            "flow.7.start=1 s": (2, "an index from 0 to 1"),
            "flow.x.start=1 s": (2, "is not an element"),
            "flow.0=1": (2, "name one of its keys"),
            "flow=1": (2, "flow"),
            "flow.*.count=0": (2, "allowed: from 1"),
            "flow.*.count=2.5": (2, "expected an integer|allowed: from 1"),
            "flow.*.count=nan": (2, "expected an integer|allowed"),
            "flow.*.count=1000000000": (2, "GiB of memory"),
            "flow.*.start=1": (2, "has no unit"),
            "flow.*.start=-1 s": (2, "negative"),
            "flow.0.stop=0 s": (2, "stops before it starts"),
            "flow.0.from=nowhere": (2, "nowhere"),
            "network.topology=dumbel": (2, 'did you mean "dumbbell"?'),
            "network.topology=Dumbbell": (2, 'did you mean "dumbbell"?'),
            "network.topology=graph": (2, "network"),
            "network.bottleneck=1": (2, "network.bottleneck"),
            "network.bottleneck.rate.x=1": (2, "not a table"),
            'network.bottleneck.queue={ discipline = "codell" }': (2, 'did you mean "codel"?'),
            'network.bottleneck.queue={ discipline = "CoDel" }': (2, 'did you mean "codel"?'),
            'network.bottleneck.queue={ discipline = "codel", targt = "5 ms" }': (2, "targt"),
            "network.bottleneck.loss={ probability = 1.5 }": (2, "1.5 is out of range|allowed: 0 to 1"),
            "network.bottleneck.loss={ probability = nan }": (2, "nan is not a finite number|allowed: 0 to 1"),
            "network.bottleneck.loss={ probability = inf }": (2, "inf is not a finite number|allowed: 0 to 1"),
            'network.bottleneck.loss={ probability = "a" }': (2, "expected a number"),
            "network.bottleneck.loss=0.1": (2, "loss"),
            "transport.mss=0 B": (2, "allowed: 1 B to 65535 B"),
            "transport.mss=70000 B": (2, "70000 B is out of range"),
            "transport.initial_window=0 segments": (2, "initial_window"),
            "transport.ecn=maybe": (2, "ecn"),
            "record.interval=1 ps": (2, "rows of series"),
            "record.packets=yes": (2, "true or false"),
            "profile=modren": (2, 'did you mean "modern"?'),
            ".".join("x" * 40) + "=1": (2, "too deep"),
            "network.access.rate=10 Gbps": (0, ""),
            "seed=0x10": (0, ""),
        },
    ),
    *_commands(
        "c2",
        {
            "run": (2, "Missing argument"),
            "run none.toml": (2, "none.toml|No such file"),
            "run .": (2, "is a directory"),
            "run small.toml none.toml": (2, "unexpected extra argument"),
            "run small.toml --seed -1": (2, "seed"),
            "run small.toml --seed many": (2, "seed"),
            "run small.toml --seed 99999999999999999999": (2, "seed"),
            "run small.toml --sed 1": (2, "--seed"),
            "run small.toml --out": (2, "--out"),
            "run small.toml --format gif": (2, "allowed: png, svg, pdf"),
            "run small.toml --format pngg": (2, "did you mean 'png'?"),
            "run grid.toml": (2, "grid.toml is a grid: selfclock sweep grid.toml"),
            "run own.py": (2, "--algorithm own.py"),
            "compute": (2, "did you mean 'compare'?"),
            "compare": (2, "no algorithm to compare"),
            "compare renoo": (2, "did you mean 'reno'?"),
            "compare CUBIC": (2, "did you mean 'cubic'?"),
            "compare cubic+hystart": (2, "did you mean 'cubic+hystart++'?"),
            "compare zzz": (2, "there are the windows"),
            "compare own.py": (2, "is a file|--algorithm own.py"),
            "compare reno --rate 10": (2, "is not a rate"),
            "compare reno --rtt fast": (2, "rtt"),
            "compare reno --flows 0": (2, "flows"),
            "compare reno --flows 2.5": (2, "flows"),
            "compare reno --buffer 3": (2, "1 bdp"),
            "compare cubic:betta=0.8": (2, 'did you mean "beta"?|algorithm:1:7'),
            "compare cubic:beta=7": (2, "7 is out of range|0.1 to 0.99"),
            "compare cubic:beta": (2, "write NAME=VALUE"),
            "compare cubic:": (2, "write NAME=VALUE"),
            "compare reno --queue codell": (2, 'did you mean "codel"?'),
            "compare reno --queue codel:target=5": (2, "5 has no unit"),
            "compare reno --queue codel:tarket=5ms": (2, 'did you mean "target"?'),
            "compare reno --buffer 1bdp --queue codel:limit=9packets": (2, "buffer|omit one"),
            "compare reno --ecn on": (2, "off, classic, accurate, auto"),
            "compare bbr3 --ecn accurate": (2, "does not respond to the marks|--ecn auto"),
            "compare reno --seeds 0": (2, "seeds"),
            "compare reno --flow flow1": (2, "--scenario"),
            "compare reno --set nonsense": (2, "PATH=VALUE"),
            "compare reno --scenario gone.toml": (2, "gone.toml"),
            "compare reno --scenario grid.toml": (2, "selfclock sweep grid.toml"),
            "compare reno --scenario small.toml --rate 10Mbps": (2, "rate: the path|--set"),
            "compare reno --scenario small.toml --flow web": (2, "flow"),
            "algorithms renno": (2, "did you mean 'reno'?"),
            "evaluate renno": (2, "did you mean 'reno'?"),
            "evaluate reno --rows s1": (2, "did you mean 'S1'?"),
            "evaluate reno --against cubick": (2, "did you mean 'cubic'?"),
            "reproduce packetpair": (2, "did you mean 'packet-pair'?"),
            "reproduce Packet-Pear": (2, "did you mean 'packet-pair'?"),
            "bench a1": (2, "did you mean 'A1'?"),
            "bench C1": (2, "did you mean 'C10k'?"),
            "verify none": (2, "none|no such file"),
            "verify small.toml": (2, "damaged or not a Parquet file"),
            "verify .": (2, "holds no packets.parquet"),
            "schema --gird": (2, "--grid"),
            "algorithms RENO": (2, "did you mean 'reno'?"),
        },
    ),
]
# A graph topology, with mistakes.
C2 += [
    Case("c2", name, RUN, 2, _split(words), (("small.toml", GRAPH.replace(old, new)),))
    for name, old, new, words in [
        ("no route", '[[flow]]\nfrom = "a"\nto = "b"', '[[flow]]\nfrom = "a"\nto = "c"', "no route from"),
        ("a node that there is not", '"a", "b", "c"', '"a", "c"', "b"),
        ("a node twice", '"a", "b", "c"', '"a", "b", "a"', "a"),
        ("a flow to itself", '[[flow]]\nfrom = "a"\nto = "b"', '[[flow]]\nfrom = "a"\nto = "a"', "flow"),
        ("no links", '[[network.link]]\nfrom = "a"\nto = "b"\nrate = "1 Mbps"\ndelay = "1 ms"\n', "", "link"),
    ]
]


# c3: algorithms in Python


def _own(name: str, old: str, new: str, status: int, words: str, *, traceback: bool = True) -> Case:
    assert old in OWN, name
    arguments = (*RUN, "--algorithm", "own.py", "--set", "flow.0.congestion_control=test-own")
    return Case("c3", name, arguments, status, _split(words), (("own.py", OWN.replace(old, new, 1)),), traceback)


ACK = "self.cwnd += self.gain / self.cwnd"
C3 = [
    _own("as it should be", ACK, ACK, 0, "", traceback=False),
    _own("an exception", ACK, "raise ValueError('boom')", 1, "boom|own.py"),
    _own("a name that there is not", ACK, "self.cwnd += gain", 1, "gain|own.py"),
    _own("an attribute that there is not", ACK, "self.cwnd += self.gian", 1, "gian|own.py"),
    _own("a division by zero", ACK, "self.cwnd += 1 / 0", 1, "ZeroDivisionError"),
    _own("an index", ACK, "self.cwnd += [1][2]", 1, "IndexError"),
    _own("a key", ACK, "self.cwnd += {}[1]", 1, "KeyError"),
    _own("a recursion", ACK, "self.on_ack(event)", 1, "RecursionError"),
    _own("an assertion", ACK, "assert False, 'never'", 1, "never"),
    _own("a window of nan", ACK, "self.cwnd = float('nan')", 1, "cwnd"),
    _own("a window of inf", ACK, "self.cwnd = float('inf')", 1, "cwnd"),
    _own("a window of none", ACK, "self.cwnd = None", 1, "own.py"),
    _own("a window of words", ACK, "self.cwnd = 'large'", 1, "own.py"),
    _own("a negative window", ACK, "self.cwnd = -1", 1, "cwnd"),
    _own("pacing at nothing", ACK, "self.pacing_bps = 0", 1, "pacing"),
    _own("pacing at nan", ACK, "self.pacing_bps = float('nan')", 1, "pacing"),
    _own("a returned value", ACK, "return 5", 1, "own|return"),
    _own("an event's attribute that there is not", ACK, "self.cwnd += event.size", 1, "size"),
    _own("an event that is written to", ACK, "event.size_bytes = 1", 1, "size_bytes"),
    _own("too few arguments", "def on_loss(self, event)", "def on_loss(self)", 1, "on_loss"),
    _own("an exception on a loss", "self.cwnd /= 2", "raise OSError('disk')", 1, "disk"),
    _own("an exception on a timeout", "self.cwnd /= 2", "raise RuntimeError('x')", 1, "RuntimeError"),
    _own("an event that is misspelt", "def on_ack", "def on_acks", 2, "did you mean on_ack", traceback=False),
    _own("an event that is not there", "def on_timeout", "def timeout", 2, "on_timeout", traceback=False),
    _own("another base", "(sc.CongestionControl)", "", 2, "does not derive from", traceback=False),
    _own("no decorator", '@sc.algorithm("test-own")\n', "", 2, "registers no algorithm", traceback=False),
    _own("a decorator without a name", '@sc.algorithm("test-own")', "@sc.algorithm", 2, "own.py"),
    _own("the name of a built-in", '"test-own"', '"reno"', 2, "reno", traceback=False),
    _own("an empty name", '"test-own"', '""', 2, "own.py", traceback=False),
    _own("a default out of range", "parameter(1.0", "parameter(100.0", 2, "gain", traceback=False),
    _own("an invalid default", "parameter(1.0", "parameter(None", 2, "gain"),
    _own("a syntax error", "def on_ack(self, event):", "def on_ack(self, event)", 2, "own.py|SyntaxError"),
    _own("an indentation", "        self.cwnd /= 2", "  self.cwnd /= 2", 2, "own.py|IndentationError"),
    _own("an import that fails", "import selfclock as sc", "import nowhere\nimport selfclock as sc", 2, "nowhere"),
    _own("an exception while loading", "import selfclock as sc", "1 / 0", 2, "ZeroDivisionError"),
    *(
        Case("c3", name, (*RUN, "--algorithm", given), 2, words, files)
        for name, given, words, files in [
            ("a file that there is not", "none.py", ("none.py: there is no such file",), ()),
            ("a directory", ".", ("is a directory; name a Python file in it",), ()),
            ("a scenario as algorithm", "small.toml", ("small.toml",), ()),
            ("an empty file of algorithms", "own.py", ("registers no algorithm",), (("own.py", ""),)),
            ("bytes as algorithm", "own.py", ("own.py",), (("own.py", b"\xff\xfe\0"),)),
        ]
    ),
    *(
        Case(
            "c3", f"parameter: {control}",
            (*RUN, "--algorithm", "own.py", "--set", f"flow.0.congestion_control={control}"), status, words,
            (("own.py", OWN),),
        )
        for control, status, words in [
            ("test-own", 0, ()),
            ("test-onw", 2, ('did you mean "test-own"?',)),
            ("TEST-OWN", 2, ('did you mean "test-own"?',)),
            ('{ model = "test-own", gain = 2 }', 0, ()),
            ('{ model = "test-own", gian = 2 }', 2, ('did you mean "gain"?',)),
            ('{ model = "test-own", gain = 100 }', 2, ("100 is out of range", "allowed: 0.1 to 10")),
            ('{ model = "test-own", gain = "2 s" }', 2, ("expected a number",)),
        ]
    ),
]  # fmt: skip

# c7: traces, grids, threads, places

GRIDS = {
    "a misspelt section": ("[grid]", "[gird]", 2, 'grid.toml:4|did you mean "grid"?'),
    "a path that there is not": ("bottleneck.queue", "bottleneck.quue", 2, 'grid.toml:5|did you mean "queue"?'),
    "one bad value": ('"20 packets"', '"20"', 2, "grid.toml:5:44|has no unit"),
    "one bad unit": ('"20 packets"', '"20 MB/s"', 2, "grid.toml:5:44|unknown unit"),
    "no values": ('["2 packets", "20 packets"]', "[]", 2, "at least one value"),
    "a value alone": ('["2 packets", "20 packets"]', '"2 packets"', 2, "a list of values"),
    "no seeds": ("seeds = 1", "seeds = 0", 2, "out of range"),
    "seeds of half": ("seeds = 1", "seeds = 1.5", 2, "integer"),
    "a seed twice": ("seeds = 1", "seeds = [1, 1]", 2, "twice"),
    "ten billion seeds": ("seeds = 1", "seeds = 10000000000", 2, "out of range"),
    "a scenario that there is not": ("small.toml", "none.toml", 2, "none.toml"),
    "itself as scenario": ("small.toml", "grid.toml", 2, "scenario"),
    "no scenario": ('scenario = "small.toml"\n', "", 2, "scenario"),
    "a confidence of one": ("seeds = 1", "confidence = 1.0", 2, "above 0 and below 1"),
    "a confidence in percent": ("seeds = 1", "confidence = 95", 2, "above 0 and below 1"),
    "a path without quotes": ('"network.bottleneck.queue"', "network.bottleneck.queue", 2, "in quotes"),
    "a range without steps": (
        '["2 packets", "20 packets"]', '{ from = "2 packets", to = "9 packets" }', 2, "needs steps"),
    "a range of two units": (
        '["2 packets", "20 packets"]', '{ from = "2 packets", to = "9 kB", steps = 3 }', 2, "unit"),
    "a range of one step": (
        '["2 packets", "20 packets"]', '{ from = "2 packets", to = "9 packets", steps = 1 }', 2, "out of range"),
    "a range from nothing, in ratios": (
        '["2 packets", "20 packets"]', '{ from = "0 packets", to = "9 packets", steps = 3, scale = "log" }', 2, "log"),
    "a range that begins with nothing": (
        '["2 packets", "20 packets"]', '{ from = "0 packets", to = "9 packets", steps = 3 }', 2,
        "grid.toml:5|a queue must hold something"),
    "a billion points": (
        '["2 packets", "20 packets"]', '{ from = 1, to = 9, steps = 1000000000 }', 2, "out of range"),
    "a misspelt algorithm": (
        '"network.bottleneck.queue" = ["2 packets", "20 packets"]',
        '"flow.0.congestion_control" = ["reno", "cubik"]', 2, 'grid.toml:5:40|did you mean "cubic"?'),
    "a set value without a unit": ("[grid]", '[set]\nduration = "5"\n[grid]', 2, "grid.toml:5:12|has no unit"),
    "the seed as an axis": ("[grid]", "[grid]\nseed = [1, 2]", 2, "grid.toml:5:1: seed|write seeds = [1, 2]"),
    "whole numbers beside fractions": (
        '"network.bottleneck.queue" = ["2 packets", "20 packets"]',
        '"network.bottleneck.loss.probability" = [0, 0.0001]', 0, ""),
    "a range from a whole number": (
        '"20 packets"]', ']\n"transport.pacing_gain" = { from = 1, to = 2, steps = 3 }', 0, ""),
    "the folder above as its name": ("[grid]", 'name = ".."\n[grid]', 2, "name: not a name|no dot at the beginning"),
    "a path twice": ("[grid]", '[set]\n"network.bottleneck.queue" = "1 bdp"\n[grid]', 2, "set twice"),
}  # fmt: skip

SWEEP = ("sweep", "grid.toml", "--format", "")
C7 = [
    *(
        Case("c7", f"dollars: {setting}", ("run", "small.toml", "--format", "svg", "--set", setting), 0)
        for setting in ("title=Cost $^$ of 5", "flow.0.name=a$^$b", "title=$5 and $6_", "title=$α$ {{7*7}} ${x}")
    ),
    *(
        Case("c7", f"grid: {name}", SWEEP, status, _split(words), (("grid.toml", GRID.replace(old, new, 1)),))
        for name, (old, new, status, words) in GRIDS.items()
    ),
    *_commands(
        "c7",
        {
            "sweep none.toml": (2, "none.toml"),
            "sweep small.toml": (2, "small.toml is a scenario: selfclock run small.toml"),
            "sweep grid.toml --threads 0": (2, "threads"),
            "sweep grid.toml --threads 1000000": (2, "threads|1024"),
            "sweep grid.toml --threads many": (2, "threads"),
            "sweep grid.toml --on dask://": (2, "dask://host:8786"),
            "sweep grid.toml --on dask": (2, "dask://host:8786"),
            "sweep grid.toml --on dask://a:b:c": (2, "dask://host:8786"),
            "sweep grid.toml --on ssh://somewhere": (2, "dask://host:8786"),
            "sweep grid.toml --format gif": (2, "allowed: png"),
        },
    ),
    *(
        Case(
            "c7", f"trace: {name}",
            (*RUN, "--set", 'network.bottleneck={ delivery_trace = "cell", delay = "10 ms", queue = "5 packets" }'),
            status, words, (("cell", content),),
        )
        for name, content, status, words in [
            ("as it should be", "1\n2\n5\n", 0, ()),
            ("empty", "", 2, ("cell",)),
            ("words", "one\ntwo\n", 2, ("cell",)),
            ("a comment", "# cell\n1\n", 2, ("cell",)),
            ("backwards", "5\n1\n", 2, ("cell",)),
            ("negative", "-1\n", 2, ("cell",)),
            ("halves", "0.5\n1.5\n", 2, ("cell",)),
            ("an empty line", "1\n\n2\n", 2, ("cell",)),
            ("bytes", b"\xff\x00\x01" * 100, 2, ("cell",)),
            ("too large a number", "99999999999999999999999\n", 2, ("cell",)),
        ]
    ),
]  # fmt: skip

# c10: parameters, disciplines, and nonsense that parses, which gets a note

C10 = [
    *_settings(
        "c10",
        {
            "name=.": (2, "name: not a name|no dot at the beginning"),
            "name=..": (2, "name: not a name|no dot at the beginning"),
            "flow.0.start=1 s": (0, "note: flow|starts after the end"),
            "flow.*.start=1 h": (0, "note: flows|starts after the end"),
            "flow.0.congestion_control=prague": (0, "note: flow|Prague without accurate ECN"),
            "flow.0.congestion_control=xcp": (0, "note: flow|has the mechanism xcp"),
            "flow.0.congestion_control=quick-start": (0, "note: flow|mechanism quick-start"),
            "network.bottleneck.loss={ probability = 1 }": (0, "note: link|loses every packet"),
            "network.bottleneck.queue=1 B": (0, "note: link|smaller than a packet"),
            'router=[{ mechanism = "policer", links = ["bottleneck"], rate = "1 Mbps", burst = "1 B" }]': (
                0, "note: link|burst"),
            'router=[{ mechanism = "loss", links = ["bottleneck"], kinds = ["data"], probability = 1.0 }]': (
                0, "note: link|loses every packet of the chosen kinds"),
            'router=[{ mechanism = "policr" }]': (2, 'did you mean "policer"?'),
            'router=[{ mechanism = "xcp" }]': (2, "links"),
            'router=[{ mechanism = "xcp", links = [] }]': (2, "links"),
            'router=[{ mechanism = "xcp", links = ["bottlneck"] }]': (2, 'did you mean "bottleneck"?'),
            'router=[{ mechanism = "xcp", links = ["bottleneck", "bottleneck"] }]': (2, "named twice"),
            'router=[{ mechanism = "loss", links = ["bottleneck"], kinds = ["data"] }]': (2, "probability, every"),
            'router=[{ mechanism = "policer", links = ["bottleneck"] }]': (2, "rate"),
            'flow.0.congestion_control={ window = "cubic", beta = 2 }': (2, "2 is out of range|allowed"),
            'flow.0.congestion_control={ window = "cubic", beta = nan }': (2, "not a finite number"),
            'flow.0.congestion_control={ window = "cubic", beta = "half" }': (2, "expected a number"),
            'flow.0.congestion_control={ window = "cubic", betta = 0.7 }': (2, 'did you mean "beta"?'),
            'flow.0.congestion_control={ model = "cubic" }': (2, "model"),
            'flow.0.congestion_control={ model = "bbr3", window = "cubic" }': (2, "model"),
            'flow.0.congestion_control={ window = "cubic", start = "hystart" }': (2, 'did you mean "hystart++"?'),
            "flow.0.congestion_control={}": (0, ""),
            'network.bottleneck.queue={ discipline = "red", minimum = 5 }': (2, "network.bottleneck.queue"),
            'network.bottleneck.queue={ discipline = "codel", limit = "0 packets" }': (2, "queue"),
            'network.bottleneck.queue={ discipline = "fq-codel", limit = "10 packets", flows = 0 }': (2, "flows"),
            'flow.0.traffic={ size = "0 B" }': (2, "flow[0].traffic"),
            'flow.0.traffic={ rate = "1 Mbps", size = "1 kB" }': (2, "flow[0].traffic"),
            "flow.0.transport.receive_window=1 B": (2, "smaller than a segment"),
        },
    ),
]  # fmt: skip

TABLE = [*C1, *C2, *C3, *C7, *C10]
