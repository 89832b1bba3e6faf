"""`selfclock emulate` from the command line: real programs on a scenario's path. Needs user namespaces, no root."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import namespaces
import selfclock as sc
from selfclock.verify import verify_path

if TYPE_CHECKING:
    from collections.abc import Callable

TRAFFIC = [sys.executable, str(Path(__file__).parents[1] / "live/traffic.py")]

#: A run on a busy machine is late; these tests check results, not times.
ANY_TIME = ("--p99", "1 min", "--worst", "1 min", "--no-live")

#: 50 ms each way; room for ten packets, so that a TCP connection of a second has losses.
PATH = """\
schema = 1
duration = "1 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "5 Mbps", delay = "48 ms", queue = "10 packets" }
access = { rate = "1 Gbps", delay = "1 ms" }
[[flow]]
congestion_control = "reno"
"""

pytestmark = pytest.mark.skipif(namespaces.obstacle() is not None, reason=str(namespaces.obstacle()))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The scenario."""
    file = tmp_path / "path.toml"
    file.write_text(PATH, encoding="utf-8")
    return file


def words(path: Path, *more: str) -> list[str]:
    """Return a command line, with its result beside the scenario."""
    return [sys.executable, "-m", "selfclock", "emulate", str(path), "--out", str(path.parent / "out"), *more]


def emulate(path: Path, *more: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run it to completion."""
    return subprocess.run(
        words(path, *ANY_TIME, *more), capture_output=True, text=True, check=False, timeout=60, input=given
    )


def summary(path: Path) -> dict[str, Any]:
    """Return the summary of its result."""
    found: dict[str, Any] = json.loads((path.parent / "out/summary.json").read_text(encoding="utf-8"))
    return found


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def test_a_datagram_there_and_back_takes_two_delays(path: Path) -> None:
    """50 ms and transmission each way: a physical lower bound; the upper one allows for a busy machine."""
    servers = ["--host", "b", "--", *TRAFFIC, "echo", "9"]
    probe = ["--host", "a", "--", *TRAFFIC, "probe", "b", "9", "--for", "0.6", "--every", "0.02"]
    done = emulate(path, *servers, *probe)
    assert done.returncode == 0, done.stderr
    times = json.loads(done.stdout)
    # 44 bytes at 5 Mbit/s and twice at 1 Gbit/s, both ways.
    least = 2 * (0.050 + 44 * 8 / 5e6 + 2 * 44 * 8 / 1e9)
    assert least <= times["least"]
    assert times["p50"] < least + 0.050
    found = summary(path)
    [bottleneck] = [link for link in found["links"] if link["name"] == "bottleneck"]
    assert bottleneck["packets"] == times["sent"]
    assert [(flow["algorithm"], flow["from"], flow["to"]) for flow in found["flows"]] == [("udp", "source1", "sink1")]
    assert found["emulation"]["lateness"]["valid"]
    assert "Report:" in done.stderr
    assert "s emulated with" in done.stderr


def test_who_sent_the_data_is_shown(path: Path) -> None:
    """As `iperf3 -R`: the client opens the connection, the server sends. The row's name begins with the client."""
    serve = "import socket; s = socket.create_server(('', 80)).accept()[0]; s.sendall(bytes(100_000)); s.close()"
    fetch = "import socket; s = socket.create_connection(('b', 80))\nwhile s.recv(65536): pass"
    python = sys.executable
    done = emulate(path, "--host", "b", "--", python, "-c", serve, "--host", "a", "--", python, "-c", fetch)
    assert done.returncode == 0, done.stderr
    [flow] = summary(path)["flows"]
    assert (flow["initiator"], flow["from"], flow["delivered_bytes"]) == ("source1", "sink1", 100_000)
    assert [address.rsplit(":", 1)[0] for address in flow["addresses"]] == ["10.201.0.2", "10.201.0.1"]
    assert flow["addresses"][0].endswith(":80")
    assert "data" in done.stderr
    assert " sink1 " in done.stderr


def test_datagrams_in_fragments_are_a_flow(path: Path) -> None:
    """8,192 B in six fragments each (RFC 791), 100 ms apart: no queue. The receiver asks for them."""
    bind = "import socket, time; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('', 9))\n"
    send = f"{bind}who = s.recvfrom(9)[1]\nfor _ in range(4): s.sendto(bytes(8192), who); time.sleep(.1)"
    receive = f"{bind}s.sendto(b'go', ('a', 9)); [s.recv(9999) for _ in range(4)]"
    python = sys.executable
    done = emulate(path, "--host", "a", "--", python, "-c", send, "--host", "b", "--", python, "-c", receive)
    assert done.returncode == 0, done.stderr
    [flow] = summary(path)["flows"]
    assert (flow["name"], flow["from"]) == ("sink1:9-source1:9 udp", "source1")
    assert (flow["sent_segments"], flow["delivered_segments"], flow["delivered_bytes"]) == (4, 4, 4 * 8192)
    assert flow["reverse_bytes"] == 2


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a recorded transfer that fills the queue."""
    file = tmp_path_factory.mktemp("recorded") / "path.toml"
    file.write_text(PATH, encoding="utf-8")
    send = ["send", "b", "5001", "--for", "1.5", "--control", "reno"]
    done = emulate(
        file, "--record", "--host", "b", "--", *TRAFFIC, "receive", "5001", "--host", "a", "--", *TRAFFIC, *send
    )
    assert done.returncode == 0, done.stderr
    return file.parent / "out"


def test_a_transfer_is_a_flow_of_the_result(recorded: Path) -> None:
    result = sc.Result.load(recorded)
    [flow] = result.summary["flows"]
    assert (flow["algorithm"], flow["algorithm_seen"]) == ("reno", True), "the sender's socket has said so"
    assert (flow["initiator"], flow["from"]) == ("source1", "source1")
    assert flow["timeouts"] is None, "only the sender knows"
    # At most the link's payload, 1448 of 1500 bytes, and at least what slow start sends in a
    # second.
    assert 0.2e6 < flow["goodput_bps"] < 5e6 * 1448 / 1500
    assert flow["rtt_min_s"] is not None
    assert flow["rtt_min_s"] > 0.100
    [bottleneck] = [link for link in result.summary["links"] if link["name"] == "bottleneck"]
    assert bottleneck["queue_max_packets"] <= 10
    assert bottleneck["drops"] > 0, "slow start overflows ten packets"
    assert result.scenario.flow_names == [flow["name"]]
    page = (recorded / "report.html").read_text(encoding="utf-8")
    assert "s emulated" in page
    assert "flow.congestion_control" in page
    assert 'aria-label="Lateness"' in page
    assert result.plot.overview().column[0].y.label == "in flight (segments)"
    for host in ("source1", "sink1"):
        assert (recorded / f"{host}.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


def test_what_was_recorded_can_be_replayed(recorded: Path, tmp_path: Path) -> None:
    findings = verify_path(recorded)
    assert findings.violations == []
    assert findings.checked["replay"] > 100
    # One drop fewer than recorded, to show that the test can fail.
    copy = tmp_path / "tampered"
    copy.mkdir()
    (copy / "summary.json").write_bytes((recorded / "summary.json").read_bytes())
    table = pl.read_parquet(recorded / "packets.parquet")
    drop = table.with_row_index().filter(pl.col("event").cast(pl.String) == "drop")["index"][0]
    rest = pl.concat([table[:drop], table[drop + 1 :]])
    about = pl.read_parquet_metadata(recorded / "packets.parquet")
    rest.write_parquet(copy / "packets.parquet", metadata=about, compression="snappy")
    assert "replay" in {violation.rule for violation in verify_path(copy).violations}


def test_the_status_of_the_last_command(path: Path) -> None:
    assert emulate(path, "--", "sh", "-c", "exit 7").returncode == 7
    assert summary(path)["emulation"]["packets"] == 0
    assert emulate(path, "--", "sh", "-c", "kill -9 $$").returncode == 137


def test_standard_output_is_that_of_the_command(path: Path) -> None:
    done = emulate(path, "--", "sh", "-c", "cat; echo $SELFCLOCK_PEER $SELFCLOCK_PEER_ADDRESS", given="given\n")
    assert done.stdout == "given\nb 10.201.0.2\n"


def test_it_ends_after_its_time(path: Path) -> None:
    done = emulate(path, "--for", "300 ms", "--", "sleep", "60")
    assert done.returncode == 0, done.stderr
    # To the picosecond: it is the time at which the emulator ended.
    assert summary(path)["simulated_s"] == pytest.approx(0.3, abs=1e-3)


def test_a_late_run_is_invalid(path: Path) -> None:
    probe = [*TRAFFIC, "probe", "b", "9", "--for", "0.2"]
    bounds = ["--p99", "1 ns", "--worst", "1 us"]
    done = emulate(path, *bounds, "--host", "b", "--", *TRAFFIC, "echo", "9", "--host", "a", "--", *probe)
    assert done.returncode == 1
    assert "selfclock: the run is invalid: packets left up to" in done.stderr
    assert not summary(path)["emulation"]["lateness"]["valid"]


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        (["--", "nothing-of-the-kind"], 127, "selfclock: nothing-of-the-kind: command not found"),
        (["--", "/etc/passwd"], 126, "selfclock: /etc/passwd: Permission denied"),
        (["--host", "c", "--", "true"], 2, "selfclock: --host: no host is named 'c'; there are a, b"),
        (["--for", "30", "--", "true"], 2, "selfclock: --for: '30' is not a time; write a time such as"),
        (["--p99", "0 s", "--", "true"], 2, "selfclock: --p99: '0 s' is not a time above 0"),
        (["--sysctl", "tcp=1", "--", "true"], 2, "selfclock: --sysctl tcp: is none of a network namespace"),
        (["--sysctl", "net.tcp=1", "--", "true"], 1, "selfclock: host a: sysctl net.tcp: there is none of that name"),
        (
            ["--sysctl", "net.ipv4.tcp_congestion_control=none", "--", "true"],
            1,
            "selfclock: host a: sysctl net.ipv4.tcp_congestion_control=none: this kernel has no algorithm of that name",
        ),
        (
            ["--sysctl", "net.core.rmem_max=4096", "--", "true"],
            1,
            "selfclock: host a: sysctl net.core.rmem_max: it belongs to the machine, not to a host; set it there",
        ),
        (["--sysctl", "tcp", "--", "true"], 2, "selfclock: --sysctl: 'tcp'; write NAME=VALUE"),
        (["--internet", "--", "true"], 2, "selfclock: --internet: needs --outside NAME"),
        (["--outside", "a", "--", "true"], 2, "selfclock: --outside a: it is this machine; start its programs"),
        (["--outside", "d", "--", "true"], 2, "selfclock: --outside: no host is named 'd'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line_and_no_result(path: Path, more: list[str], status: int, said: str) -> None:
    done = emulate(path, *more)
    assert (done.returncode, done.stderr.splitlines()[-1][: len(said)]) == (status, said), done.stderr
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_whole_result_and_no_process(path: Path, number: int) -> None:
    mark = f"MARK=signalled-{number}-{os.getpid()}"
    command = ["--", "env", mark, "sh", "-c", "trap '' INT TERM; setsid sleep 1000 & sleep 1000; sleep 1000"]
    with subprocess.Popen(words(path, *ANY_TIME, *command), stderr=subprocess.PIPE, text=True) as process:
        until(lambda: len(namespaces.living(mark)) >= 3)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number, said
    assert namespaces.living(mark) == []
    result = sc.Result.load(path.parent / "out")
    assert result.summary["simulated_s"] > 0
    assert sorted(file.name for file in path.parent.iterdir()) == ["out", "path.toml"]


def test_nothing_is_left_of_a_killed_emulation(path: Path) -> None:
    """No processes, namespaces or devices remain; half-written files are removed by the next run."""
    mark = f"MARK=killed-{os.getpid()}"
    command = ["--record", "--", "env", mark, "sh", "-c", "trap '' INT TERM HUP; setsid sleep 1000 & sleep 1000"]
    with subprocess.Popen(words(path, *ANY_TIME, *command), stderr=subprocess.DEVNULL) as process:
        until(lambda: len(namespaces.living(mark)) >= 2)
        inside = {Path(f"/proc/{number}/ns/net").stat().st_ino for number in namespaces.living(mark)}
        assert inside != {Path("/proc/self/ns/net").stat().st_ino}
        process.kill()
    until(lambda: not namespaces.living(mark))
    until(lambda: not namespaces_with_processes() & inside)
    assert not (path.parent / "out").exists()
    assert len(list(path.parent.glob(".out.*.partial"))) == 1
    assert emulate(path, "--", "true").returncode == 0
    assert sorted(file.name for file in path.parent.iterdir()) == ["out", "path.toml"]


def namespaces_with_processes() -> set[int]:
    """Return the network namespaces that have a process: without a process or a descriptor, a namespace is gone."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal():
                found.add((entry / "ns/net").stat().st_ino)
        except OSError:
            continue
    return found


# --- a terminal
# ------------------------------------------------------------------------------------------------------


def on_terminal(command: list[str], keys: list[tuple[str, str]]) -> tuple[str, int]:
    """Run a command on its own terminal, and press keys after certain text; return output and status."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ |= {"TERM": "xterm", "SHELL": "/bin/sh", "PS1": "prompt> ", "ENV": ""}
        os.execvp(command[0], command)  # noqa: S606
    import fcntl  # noqa: PLC0415
    import struct  # noqa: PLC0415
    import termios  # noqa: PLC0415

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
    shown, seen, end = "", 0, time.monotonic() + 40
    waiting = list(keys)
    while time.monotonic() < end:
        readable, _, _ = select.select([terminal], [], [], 0.1)
        if readable:
            try:
                some = os.read(terminal, 65536)
            except OSError:
                break
            shown += some.decode(errors="replace")
        if waiting and waiting[0][0] in shown[seen:]:
            seen = len(shown)
            os.write(terminal, waiting.pop(0)[1].encode())
    os.close(terminal)
    _, status = os.waitpid(process, 0)
    return shown, os.waitstatus_to_exitcode(status)


def test_a_shell_has_the_terminal(path: Path) -> None:
    """Ctrl-C ends the program in the shell, not the shell or the emulation."""
    shown, status = on_terminal(
        words(path, "--p99", "1 min", "--worst", "1 min"),
        [("prompt> ", "sh -c 'tty; exec sleep 1000'\r"), ("/dev/pts/", "\x03"),
         ("prompt> ", "echo on $SELFCLOCK_HOST\r"), ("on a", "exit 5\r")],
    )  # fmt: skip
    assert status == 5, shown
    assert "Report:" in shown
    # Between prompts no line changes.
    assert "late 99 %" not in shown


def test_the_live_line(path: Path) -> None:
    shown, status = on_terminal(
        words(path, "--p99", "1 min", "--worst", "1 min", "--", "sh", "-c", "sleep 0.7; echo done"), []
    )
    assert status == 0, shown
    assert "bottleneck 0 bit/s  queue 0 (0.0 ms)  drops 0  CE 0  late 99 %" in shown
    # The scrolling region is reset afterwards.
    assert shown.index("late 99 %") < shown.index("\033[r") < shown.index("Report:")


# --- the machine as a host
# -------------------------------------------------------------------------------------------

#: Root in a user namespace with its own network: changes do not affect the machine.
AS_ROOT = (sys.executable, str(Path(__file__).parent / "namespaces.py"))


def test_outside_needs_root(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("this is root")
    done = emulate(path, "--outside", "b", "--", "true")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2, "selfclock: --outside needs root: it makes a network device on this machine"
    )  # fmt: skip


def test_a_server_of_the_machine_is_reached_across_the_path(path: Path) -> None:
    code = """
import socket, time
begun = time.monotonic()
print(socket.create_connection(("b", 8000)).recv(5).decode(), time.monotonic() - begun >= 0.1)
"""
    server = "import socket; s = socket.create_server(('', 8000)); s.accept()[0].send(b'hello')"
    run = " ".join(map(_quoted, words(path, *ANY_TIME, "--outside", "b", "--", sys.executable, "-c", code)))
    script = f"{_quoted(sys.executable)} -c {_quoted(server)} & {run}; status=$?; wait; ls /sys/class/net; exit $status"
    done = subprocess.run([*AS_ROOT, "sh", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "hello True"
    assert "selfclock0" not in done.stdout, "the device is gone"
    assert "note: b is this machine, at 10.201.0.2" in done.stderr


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def test_what_the_internet_needs_is_undone(path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With a stand-in for the firewall that records its commands."""
    tools = tmp_path_factory.mktemp("tools")
    log, wall = tools / "log", tools / "iptables"
    wall.write_text(f'#!/bin/sh\necho "$@" >> {log}\n', encoding="utf-8")
    wall.chmod(0o755)
    run = " ".join(map(_quoted, words(path, *ANY_TIME, "--outside", "b", "--internet", "--", "sh", "-c")))
    switch = "cat /proc/sys/net/ipv4/ip_forward"
    clean = f"{_quoted(sys.executable)} -m selfclock emulate --clean"
    # Once to completion, once killed after all changes.
    script = f"""
        {run} 'tail -n +2 /proc/net/route | wc -l'; {switch}; ls /run/selfclock | wc -l
        {run} 'sleep 1000' & until test $({switch}) = 1; do sleep 0.01; done; kill -9 $!; wait; {switch}
        {clean}; {switch}; ls /run/selfclock | wc -l
    """
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(
        [*AS_ROOT, "sh", "-c", script], capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    # Two routes on the host: its network, and the default. Then the switch and the files, after
    # each.
    assert done.stdout.split() == ["2", "0", "0", "1", "0", "0"], done.stderr
    made = [line for line in log.read_text(encoding="utf-8").splitlines() if "-I" in line]
    undone = [line for line in log.read_text(encoding="utf-8").splitlines() if "-D" in line]
    assert [line.replace("-I", "-D") for line in made] == undone
    assert len(made) == 6
    assert "note: removed after a killed emulation: net.ipv4.ip_forward = 0" in done.stderr
