"""The tests of `make live-test`, as root: the examples of the documents, effects of root privileges, the firewall.

Everything happens in the tests' own network namespaces, except for devices and rules that are
removed afterwards.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pages

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root"),
]

EXAMPLES = [block for block in pages.blocks("docs/emulate.md") if block.commands.startswith("selfclock emulate")]

PATH = """\
schema = 1
duration = "1 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbps", delay = "5 ms" }
access = { rate = "1 Gbps", delay = "1 ms" }
[[flow]]
congestion_control = "reno"
"""

TRAFFIC = [sys.executable, str(Path(__file__).parents[1] / "live/traffic.py")]


def test_the_examples_of_the_page(tmp_path: Path) -> None:
    """As a reader would run them, in order, in a directory with the files that the page creates."""
    if shutil.which("curl") is None:
        pytest.skip("the examples call curl")
    assert len(EXAMPLES) == 3
    for block in pages.blocks("docs/emulate.md"):
        if block.title:
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
    environment = pages.surroundings(tmp_path)
    for block in EXAMPLES:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.text], cwd=tmp_path, env=environment, text=True,
            capture_output=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, f"line {block.line}: {done.stderr}"
    original = (Path(pages.ROOT) / "examples/lte.trace").read_bytes()
    assert [(tmp_path / name).read_bytes() == original for name in ("copy.trace", "near", "far")] == [True] * 3
    lossy = json.loads((tmp_path / "netem/summary.json").read_text(encoding="utf-8"))
    assert lossy["flows"][0]["retransmitted_segments"] > 0, "one packet in a hundred is lost"


def test_a_run_of_root_has_real_time(tmp_path: Path) -> None:
    """The median packet is less than 1 ms late, whatever else runs."""
    scenario = tmp_path / "path.toml"
    scenario.write_text(PATH, encoding="utf-8")
    words = [
        sys.executable,
        "-m",
        "selfclock",
        "emulate",
        str(scenario),
        "--out",
        str(tmp_path / "out"),
        "--worst",
        "1 s",
    ]
    servers = ["--host", "b", "--", *TRAFFIC, "echo", "9"]
    probe = ["--host", "a", "--", *TRAFFIC, "probe", "b", "9", "--for", "3"]
    subprocess.run([*words, *servers, *probe], check=True, capture_output=True, timeout=60)
    found: dict[str, Any] = json.loads((tmp_path / "out/summary.json").read_text(encoding="utf-8"))["emulation"]
    assert found["fifo"], found["notes"]
    assert found["locked"], found["notes"]
    assert found["lateness"]["p50_s"] < 1e-3


@pytest.mark.parametrize("wall", ["iptables", "nft"])
def test_the_internet_is_reached_and_the_firewall_is_left_as_it_was(
    wall: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A "machine" between the host and a server beyond: its own namespace, with the real firewall."""
    for tool in (wall, "ip"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool}")
    rest = [
        path
        for path in os.environ["PATH"].split(os.pathsep)
        if wall == "iptables" or not (Path(path) / "iptables").exists()
    ]
    if wall == "nft":
        tools = tmp_path / "tools"
        tools.mkdir()
        for tool in ("nft", "ip", "sh", "cat", "ls", "seq", "sleep"):
            (tools / tool).symlink_to(str(shutil.which(tool)))
        rest = [str(tools), str(Path(sys.executable).parent), *rest]
    monkeypatch.setenv("PATH", os.pathsep.join(rest))
    scenario = tmp_path / "path.toml"
    scenario.write_text(PATH, encoding="utf-8")
    python = sys.executable
    there = "('198.51.100.2', 80)"
    answer = f"import socket; c, who = socket.create_server({there}).accept(); c.send(who[0].encode())"
    ask = f"import socket; print(socket.create_connection({there}, 5).recv(99).decode())"
    serve, fetch = f'{python} -c "{answer}"', f'{python} -c "{ask}"'
    rules = "iptables -S; iptables -t nat -S" if wall == "iptables" else "nft list ruleset"
    script = f"""
        ip link set lo up
        ip netns add beyond-{os.getpid()}
        ip link add out type veth peer name in netns beyond-{os.getpid()}
        ip addr add 198.51.100.1/24 dev out; ip link set out up
        ip -n beyond-{os.getpid()} addr add 198.51.100.2/24 dev in; ip -n beyond-{os.getpid()} link set in up
        {{ {rules}; }} > {tmp_path}/before
        ip netns exec beyond-{os.getpid()} {serve} &
        sleep 1
        {python} -m selfclock emulate {scenario} --out {tmp_path}/out --worst '1 min' --outside b --internet -- {fetch}
        status=$?
        {{ {rules}; }} > {tmp_path}/after
        ip netns del beyond-{os.getpid()}
        exit $status
    """
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    # The server beyond sees the machine, not the host.
    assert done.stdout.strip() == "198.51.100.1"
    before, after = ((tmp_path / name).read_text(encoding="utf-8") for name in ("before", "after"))
    assert before == after
