"""Guards against user-defined algorithms that run away, never return, exit, print or contain typos."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import selfclock as sc
from conftest import POSIX

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]


def register(name: str, attributes: dict[str, Any] | None = None, **events: str) -> type[sc.CongestionControl]:
    """Register a class whose methods have these bodies."""
    bodies = {"on_ack": "pass", "on_loss": "pass", "on_timeout": "pass", **events}
    arguments = {name: "self" if name == "__init__" else "self, event" for name in bodies}
    methods = "\n".join(f"    def {name}({arguments[name]}): {body}" for name, body in bodies.items())
    space: dict[str, Any] = {"sc": sc}
    exec(f"class Own(sc.CongestionControl):\n{methods}\n", space)  # noqa: S102
    return sc.algorithm(name)(type("Own", (space["Own"],), attributes or {}))


#: Ten runaway algorithms; the last five are stopped by the transport, because a loss never raises
#: the window, an RTO sets it to one segment, and lost data is retransmitted before anything new.
RUNAWAY = {
    "doubles": {"on_ack": "self.cwnd *= 2"},
    "huge": {"on_ack": "self.cwnd = 1e300"},
    "bytes": {"on_ack": "self.cwnd_bytes = 1e18"},
    "million": {"on_ack": "self.cwnd += 1e6"},
    "begins": {"__init__": "self.cwnd = 1e9", "on_ack": "self.cwnd = 1e9"},
    "paced": {"on_ack": "self.cwnd, self.pacing_bps = 1e9, 1e9"},
    "sends": {"on_sent": "self.cwnd *= 2"},
    "repeats": {"on_duplicate_ack": "self.cwnd *= 2"},
    "loses": {"on_loss": "self.cwnd *= 2"},
    "expires": {"on_timeout": "self.cwnd = self.ssthresh = 1e300"},
}
ENDS = ("doubles", "huge", "bytes", "million", "begins", "sends")

#: Maximum memory of all of them in one process: a window of 1 GiB takes 740,000 segments of 88
#: bytes, in two rings that grow by an eighth, and the process itself 80 MB.
MOST_BYTES = 400e6


def run_runaways() -> None:
    """Run them in this process; after each, print its result and the peak of memory."""
    for name, events in RUNAWAY.items():
        register(name, **events)
        # An autotuned receive window would be the smaller limit.
        flow = {"congestion_control": name, "transport": {"receive_window": "unlimited"}}
        scenario = sc.dumbbell(bottleneck="20 Mbps", flows=[flow], duration="2 s").unrecorded()
        try:
            scenario.run()
            said = "ends"
        except sc.RunError as error:
            said = str(error)
        # Not getrusage: its peak includes memory of the process that started this one, before exec.
        peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
        assert peak is not None
        print(json.dumps([name, said, int(peak[1]) * 1024]))


def test_a_runaway_algorithm_ends_with_its_name_and_little_memory() -> None:
    program = "import test_guards; test_guards.run_runaways()"
    directory = __file__.rsplit("/", 1)[0]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=directory, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    said = {name: (text, peak) for name, text, peak in map(json.loads, done.stdout.splitlines())}
    assert set(said) == set(RUNAWAY)
    for name, (text, peak) in said.items():
        assert peak < MOST_BYTES, name
        if name in ENDS:
            assert re.search(rf"flow1: {name} failed at \d\.\d+ s of simulated time: cwnd is [\d.e+]+ segments", text)
            assert re.search(r"74\d{4} segments \(107\d MB\) are in flight: more than the largest TCP window", text)


def test_memory_sets_the_limit_where_there_is_little(tmp_path: Path) -> None:
    """With 20 flows, 1 GiB in flight each would take 1.9 GB."""
    (tmp_path / "own.py").write_text(
        "import selfclock as sc\n@sc.algorithm('doubles')\nclass Own(sc.CongestionControl):\n"
        "    def on_ack(self, event): self.cwnd *= 2\n    def on_loss(self, event): pass\n"
        "    def on_timeout(self, event): pass\n",
        encoding="utf-8",
    )
    program = (
        "import resource, selfclock as sc\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "sc.load_algorithms('own.py')\n"
        "flow = {'congestion_control': 'doubles', 'count': 20, 'transport': {'receive_window': 'unlimited'}}\n"
        "try:\n    sc.dumbbell(flows=[flow], duration='1 s').run()\n"
        "except sc.RunError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert re.search(r"flow1-\d+: doubles failed at 0\.\d+ s .* this machine has no memory for more", done.stdout), done


def test_a_large_window_that_is_not_filled_is_no_error() -> None:
    """The application has 1 MB to send, whatever the window."""
    register("wide", on_ack="self.cwnd = 1e9")
    result = sc.dumbbell(flows=[{"congestion_control": "wide", "traffic": {"size": "1 MB"}}], duration="5 s").run()
    assert result.summary["flows"][0]["completion_s"] is not None


@pytest.mark.parametrize("statement", ["raise SystemExit", "import sys; sys.exit(3)", "exit()"])
def test_an_algorithm_that_exits_is_an_error_of_it(statement: str) -> None:
    register("exits", on_ack=statement)
    scenarios = [sc.dumbbell(flows=["exits"], duration="1 s").with_seed(seed) for seed in (1, 2)]
    with pytest.raises(sc.RunError, match=r"exits failed at 0\.\d+ s of simulated time: SystemExit") as caught:
        scenarios[0].run()
    assert isinstance(caught.value.__cause__, SystemExit)
    with pytest.raises(sc.RunError, match="exits failed"):
        sc.run_many(scenarios)


ALGORITHMS = """\
import itertools
import collections
import selfclock as sc

print("loaded")

@sc.algorithm("prints")
class Prints(sc.CongestionControl):
    def on_ack(self, event): print("hello")
    def on_loss(self, event): pass
    def on_timeout(self, event): pass

@sc.algorithm("exits")
class Exits(sc.CongestionControl):
    def on_ack(self, event): raise SystemExit
    def on_loss(self, event): pass
    def on_timeout(self, event): pass

@sc.algorithm("loops")
class Loops(sc.CongestionControl):
    def on_ack(self, event):
        while True:
            pass
    def on_loss(self, event): pass
    def on_timeout(self, event): pass

@sc.algorithm("stuck")
class Stuck(sc.CongestionControl):
    def on_ack(self, event): collections.deque(itertools.repeat(0), maxlen=0)
    def on_loss(self, event): pass
    def on_timeout(self, event): pass
"""


@pytest.fixture
def own(tmp_path: Path) -> Callable[[str], list[list[str]]]:
    """Write the files; return the four commands that run an algorithm."""
    (tmp_path / "own.py").write_text(ALGORITHMS, encoding="utf-8")

    def commands(name: str) -> list[list[str]]:
        (tmp_path / f"{name}.toml").write_text(
            'schema = 1\nduration = "1 s"\n[network]\ntopology = "dumbbell"\n'
            'bottleneck = { rate = "5 Mbps", delay = "10 ms", queue = "1 bdp" }\n'
            f'access = {{ rate = "1 Gbps", delay = "1 ms" }}\n[[flow]]\ncongestion_control = "{name}"\n',
            encoding="utf-8",
        )
        (tmp_path / f"{name}-grid.toml").write_text(
            f'schema = 1\nscenario = "{name}.toml"\nseeds = 2\n[grid]\n"flow.0.start" = ["0 s", "1 ms"]\n',
            encoding="utf-8",
        )
        compared = ["compare", name, "--duration", "1s", "--rate", "5Mbps"]
        return [
            ["run", f"{name}.toml", "--algorithm", "own.py"],
            [*compared, "--algorithm", "own.py"],
            ["evaluate", name, "--rows", "S1", "--against", "reno", "--algorithm", "own.py"],
            ["sweep", f"{name}-grid.toml", "--algorithm", "own.py"],
        ]

    return commands


def test_every_command_says_that_an_algorithm_exited(selfclock: Command, own: Callable[[str], list[list[str]]]) -> None:
    for command in own("exits"):
        done = selfclock(*command)
        assert done.returncode == 1, command
        assert re.search(r"exits failed at 0\.\d+ s of simulated time: SystemExit \(own\.py, line 15", done.stderr)
        assert "selfclock/" not in done.stderr, "only the author's own part of the traceback"


def test_what_an_algorithm_prints_leaves_documents_alone(
    selfclock: Command, own: Callable[[str], list[list[str]]]
) -> None:
    """`evaluate` runs like `sweep`; its row would print 100,000 lines."""
    run, compare, _, sweep = own("prints")
    for command in (run, compare, sweep):
        done = selfclock(*command, "--json")
        assert done.returncode == 0, done.stderr
        json.loads(done.stdout)
        # When two threads print, each writes its text and its newline in separate steps.
        assert done.stderr.startswith("loaded\nhello")


@POSIX
def test_ctrl_c_ends_what_never_returns(tmp_path: Path, own: Callable[[str], list[list[str]]]) -> None:
    """A loop in Python ends at the first Ctrl-C, one in C at the second, and both are named after 10 s.

    They run at once, so that the 10 s pass only once.
    """
    started: list[tuple[str, Path, subprocess.Popen[bytes]]] = []
    for name, command in [("loops", each) for each in own("loops")] + [("stuck", each) for each in own("stuck")[:2]]:
        said = tmp_path / f"{name}-{command[0]}.txt"
        with said.open("wb") as stderr:
            started.append((name, said, subprocess.Popen(
                [sys.executable, "-m", "selfclock", *command], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=stderr
            )))  # fmt: skip
    try:
        for name, said, process in started:
            named = re.compile(rf"seed \d+: {name} has been in on_ack for 10 s, at \d\.\d+ s of simulated time")
            waited = time.monotonic()
            while not named.search(said.read_text()):
                assert time.monotonic() - waited < 60, said.read_text()
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            if name == "stuck":
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == 130, (said, said.read_text())
            ends = "interrupted twice\n" if name == "stuck" else "interrupted\n"
            assert said.read_text().endswith(ends), said.read_text()
    finally:
        for *_, process in started:
            process.kill()


@pytest.mark.parametrize(
    ("statement", "meant"),
    [
        ("self.cwdn = 5", "cwnd"),
        ("self.cwn = 5", "cwnd"),
        ("self.CWND = 5", "cwnd"),
        ("self.cwnd_byte = 5", "cwnd_bytes"),
        ("self.sstresh = 5", "ssthresh"),
        ("self.pacing_bsp = 5", "pacing_bps"),
        ("self.increse = 5", "increase"),
    ],
)
def test_a_misspelt_attribute_is_refused(statement: str, meant: str) -> None:
    with pytest.raises(sc.AlgorithmError, match=rf"is assigned and never read; did you mean self\.{meant}\?"):
        register("slip", {"increase": sc.parameter(1.0)}, on_ack=statement)


@pytest.mark.parametrize(
    "body",
    [
        "self.cwnd_2 = 5",
        "self.cwnd_ = 5",
        "self.cwdn = 5; self.cwnd += self.cwdn",
        "self.cwdn = 5; getattr(self, 'cwdn')",
        "self.largest = 5",
        "self.seen = self.need = 5",
    ],
)
def test_an_attribute_of_ones_own_is_not(body: str) -> None:
    register("fine", on_ack=body)
