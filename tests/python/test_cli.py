"""The command line: its documents, exit statuses and messages."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, get_type_hints

import polars as pl
import pytest
from scapy.layers.inet import IP
from scapy.utils import PcapNgReader

import selfclock as sc
from conftest import GRAPH, SMALL
from selfclock.bench import Case
from selfclock.claims import ClaimRow
from selfclock.cli import completion
from selfclock.provenance import Made
from selfclock.result import FlowSummary, LinkSummary, Summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]


def test_run_prints_a_table_and_writes_results(selfclock: Command, small: Path, tmp_path: Path) -> None:
    done = selfclock("run", small)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "Mbit/s" in done.stdout
    names = {path.name for path in (tmp_path / "results" / "small").iterdir()}
    tables = {"report.html", "summary.json", "flows.parquet", "links.parquet"}
    assert names == tables


def test_figures_have_the_formats_that_are_asked_for(selfclock: Command, small: Path, tmp_path: Path) -> None:
    """They match the page's figures; figures of an earlier run in other formats are removed."""
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for formats in ("png", "svg,pdf"):
        done = selfclock("run", small, "--out", "out", "--format", formats, "--set", "duration=1 s")
        assert done.returncode == 0, done.stderr
        chosen = formats.split(",")
        found = {path.suffix[1:] for path in (tmp_path / "out").glob("overview.*")}
        assert found == set(chosen)
        assert {path.stem for path in (tmp_path / "out").iterdir() if path.suffix[1:] in chosen} == {
            "overview",
            "sequence",
        }
        for kind in chosen:
            assert (tmp_path / "out" / f"overview.{kind}").read_bytes().startswith(starts[kind])
    before = [(tmp_path / "out" / f"overview.{kind}").read_bytes() for kind in ("svg", "pdf")]
    selfclock("run", small, "--out", "out", "--format", "svg,pdf", "--set", "duration=1 s")
    assert before == [(tmp_path / "out" / f"overview.{kind}").read_bytes() for kind in ("svg", "pdf")]
    refused = selfclock("run", small, "--format", "gif")
    assert refused.returncode == 2
    assert "allowed: png, svg, pdf" in refused.stderr


def test_run_json_has_the_keys_of_the_contract(selfclock: Command, small: Path, tmp_path: Path) -> None:
    done = selfclock("run", small, "--seed", 7, "--json", "--set", "duration=1 s")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    # A simulation has no entry for an emulation, and none for what is not asked for.
    keys = [key for key in get_type_hints(Summary) if key not in {"emulation", "measure_from_s"}]
    assert list(summary) == [*keys, "notes", "made"]
    assert list(summary["made"]) == list(get_type_hints(Made))
    assert summary["made"]["files"] == []
    assert list(tmp_path.iterdir()) == [small], "it prints and writes nothing"
    assert summary["seed"] == 7
    assert summary["simulated_s"] == 1.0
    assert [flow["algorithm"] for flow in summary["flows"]] == ["reno", "packet-pair"]
    for flow in summary["flows"]:
        # Only a QUIC stack's connection can fail, and the ends of a simulation need no addresses.
        others = {"delays", "failure", "initiator", "addresses", "algorithm_seen"}
        assert list(flow) == [key for key in get_type_hints(FlowSummary) if key not in others]
    for link in summary["links"]:
        assert list(link) == [key for key in get_type_hints(LinkSummary) if key != "waits"]


def test_pcap_links_writes_a_capture_per_link(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("run", small, "--pcap-links", "--json", "--out", "out")
    assert done.returncode == 0, done.stderr
    packets = {link["name"]: link["packets"] for link in json.loads(done.stdout)["links"]}
    for link, count in packets.items():
        with PcapNgReader(str(tmp_path / "out" / f"link-{link}.pcapng")) as capture:
            assert abs(sum(1 for _ in capture) - count) <= 1, link
    assert (tmp_path / "out" / "packets.parquet").exists()


def test_pcap_writes_what_each_host_sends_and_receives(command: Command, small: Path, tmp_path: Path) -> None:
    """As tcpdump on that host: both directions in one file, in order of time."""
    done = command("run", small, "--pcap", "--out", "out")
    assert done.returncode == 0, done.stderr
    hosts = ["source1", "sink1", "source2", "sink2"]
    assert {path.stem for path in (tmp_path / "out").glob("*.pcapng")} == set(hosts)
    events = pl.read_parquet(tmp_path / "out" / "packets.parquet").with_columns(pl.col("link").cast(pl.String))
    for host in hosts:
        number = host[-1]
        card = f"source{number}-left" if host.startswith("source") else f"sink{number}-right"
        sent = events.filter(pl.col("event") == "transmit", pl.col("link") == card)
        back = ["ack", "syn-ack"]
        theirs = pl.col("kind").cast(pl.String).is_in(back)
        received = events.filter(
            pl.col("event") == "deliver",
            pl.col("flow").cast(pl.String) == sent["flow"].cast(pl.String)[0],
            theirs if host.startswith("source") else ~theirs,
        )
        with PcapNgReader(str(tmp_path / "out" / f"{host}.pcapng")) as capture:
            packets = list(capture)
        addresses = [(IP(bytes(packet)).src, IP(bytes(packet)).dst) for packet in packets]
        times = [float(packet.time) for packet in packets]
        assert times == sorted(times)
        # A source sends first.
        own = addresses[0][0 if host.startswith("source") else 1]
        for place, table in enumerate((sent, received)):
            assert table.height > 30
            found = [time for time, ends in zip(times, addresses, strict=True) if ends[place] == own]
            assert found == pytest.approx(table["time_s"].to_list(), abs=2e-9)


def test_a_later_run_leaves_no_packets_of_an_earlier_one(selfclock: Command, small: Path, tmp_path: Path) -> None:
    assert selfclock("run", small, "--out", "out", "--set", "record.packets=true").returncode == 0
    assert (tmp_path / "out" / "packets.parquet").exists()
    assert selfclock("run", small, "--out", "out").returncode == 0
    assert not (tmp_path / "out" / "packets.parquet").exists()


GRAPH_WITHOUT_ROUTE = GRAPH.removesuffix('to = "b"\n') + 'to = "c"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (SMALL.replace("start_jitter", "start_jiter"), 15, ["start_jiter", "start_jitter"]),
        (SMALL.replace('"1 Mbps"', "1"), 7, ["rate", "unit"]),
        (SMALL.replace('"1 Mbps"', '"1"'), 7, ["rate", "unit"]),
        (SMALL.replace('"2 s"', '"-2 s"'), 3, ["duration", "negative"]),
        (SMALL.replace('"5 packets"', '"0 packets"'), 7, ["queue"]),
        (SMALL.replace('"reno"', '"renoo"'), 11, ["renoo", "reno", "packet-pair"]),
        (GRAPH_WITHOUT_ROUTE, None, ["a", "c"]),
        (SMALL.replace("[[flow]]", "[[flow]", 1), 10, []),
    ],
)
def test_a_bad_file_is_one_located_message(
    selfclock: Command, tmp_path: Path, text: str, line: int | None, words: list[str]
) -> None:
    (tmp_path / "bad.toml").write_text(text, encoding="utf-8")
    done = selfclock("run", "bad.toml", "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "bad.toml" in done.stderr
    assert "Traceback" not in done.stderr
    assert line is None or f"bad.toml:{line}:" in done.stderr
    for word in words:
        assert word in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("content", [b'schema = 1\nname = "\xff"\n', None])
def test_a_file_that_cannot_be_read(selfclock: Command, tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "bad.toml").write_bytes(content)
    done = selfclock("run", "bad.toml")
    assert done.returncode == 2
    assert "bad.toml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run", "small.toml", "--seed", "-1"], "seed"),
        (["run", "small.toml", "--seed", "many"], "seed"),
        (["run", "small.toml", "--set", "duration"], "duration"),
        (["run", "small.toml", "--set", "durations=1 s"], "durations"),
        (["run", "small.toml", "--out", "small.toml"], "not a directory"),
        (["run", "small.toml", "--out", "small.toml/deeper"], "not a directory"),
        (["run", "small.toml", "--out", "/proc/none"], "/proc"),
        (["run"], "SCENARIO"),
        (["algorithms", "renoo"], "did you mean 'reno'?"),
        (["reproduce", "no-such-paper"], "packet-pair"),
        (["reproduce", "--out", "small.toml"], "not a directory"),
        (["bench", "C1"], "did you mean 'C10k'?"),
        (["compute"], "compute"),
    ],
)
def test_bad_usage(selfclock: Command, small: Path, tmp_path: Path, arguments: list[str], word: str) -> None:
    done = selfclock(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert word.lower() in done.stderr.lower()
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [small]


def test_ten_thousand_flows_run(selfclock: Command, small: Path) -> None:
    done = selfclock("run", small, "--json", "--set", "flow.0.count=10000", "--set", "duration=100 ms")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["flows"]) == 10_001


def test_a_record_that_no_memory_holds_is_given_up(small: Path) -> None:
    rates = ["network.bottleneck.rate=10 Gbps", "network.access.rate=100 Gbps", "record.packets=true"]
    settings = [*rates, "network.bottleneck.queue=1 bdp", "duration=100 s", "record.interval=off"]
    with pytest.raises(sc.RunError, match="more than 20000000 packet events in memory"):
        sc.Scenario.load(small, settings).run()


def test_a_billion_flows_are_refused(selfclock: Command, small: Path) -> None:
    done = selfclock("run", small, "--set", "flow.0.count=1000000000")
    assert done.returncode == 2
    assert "flow" in done.stderr


def test_algorithms(selfclock: Command) -> None:
    listed = json.loads(selfclock("algorithms", "--json").stdout)["algorithms"]
    assert {"reno", "slow-start", "packet-pair"} <= {algorithm["name"] for algorithm in listed}
    one = json.loads(selfclock("algorithms", "packet-pair", "--json").stdout)["algorithms"]
    assert [algorithm["name"] for algorithm in one] == ["packet-pair"]
    assert list(one[0]["parameters"][0]) == [
        "name", "about", "kind", "unit", "default", "allowed", "source", "requires",
    ]  # fmt: skip
    assert "10 ms" in selfclock("algorithms", "packet-pair").stdout
    both = json.loads(selfclock("algorithms", "--queues", "--routers", "--json").stdout)["algorithms"]
    assert {each["part"] for each in both} == {"queue", "router"}
    assert "rate, required" in selfclock("algorithms", "policer").stdout


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("selfclock ru", "run"),
        ("selfclock compare reno cub", "cubic"),
        ("selfclock reproduce swift", "swift-start"),
        ("selfclock bench A10", "A100\nA100L"),
        ("selfclock evaluate reno --against bbr3,cub", "bbr3,cubic"),
        ("selfclock algorithms fq-c", "fq-codel"),
    ],
)
def test_shells_complete_commands_and_names(line: str, completed: str) -> None:
    environment = os.environ | {
        "_SELFCLOCK_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    command = [sys.executable, "-m", "selfclock"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    kinds, names = zip(*(line.split(",", 1) for line in done.stdout.split()), strict=True)
    assert set(kinds) == {"plain"}
    assert "\n".join(names) == completed


@pytest.mark.parametrize(
    ("shell", "file", "asked", "read_from"),
    [
        ("bash", ".bash_completions/selfclock.sh", "bash_complete", ".bashrc"),
        ("zsh", ".zfunc/_selfclock", "zsh_complete", ".zshrc"),
        ("fish", ".config/fish/completions/selfclock.fish", "fish_complete", None),
    ],
)
def test_completion_is_installed_where_the_shell_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str, file: str, asked: str, read_from: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = tmp_path / (read_from or "none")
    if read_from:
        settings.write_text("alias ll='ls -l'", encoding="utf-8")
    for _ in range(2):
        assert completion.install(shell) == tmp_path / file
    written = (tmp_path / file).read_text(encoding="utf-8")
    assert f"_SELFCLOCK_COMPLETE={asked}" in written
    if read_from:
        first, *added = settings.read_text(encoding="utf-8").splitlines()
        assert first == "alias ll='ls -l'"
        # A second installation adds nothing.
        assert len(added) == 1


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_what_it_has_installed(tmp_path: Path) -> None:
    """Bash itself, with its own files, asks the command line and uses its answer."""
    program = tmp_path / "selfclock"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m selfclock "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = os.environ | {"HOME": str(tmp_path), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}

    def bash(script: str) -> str:
        command = ["bash", "--norc", "-c", script]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    # A further command keeps the shell from replacing itself with this one, without a parent to
    # ask.
    assert "installed" in bash("selfclock --install-completion; true")
    assert bash("selfclock --show-completion; true").strip() == (
        (tmp_path / ".bash_completions" / "selfclock.sh").read_text(encoding="utf-8").strip()
    )
    asked = "COMP_WORDS=(selfclock compare ve); COMP_CWORD=2; _selfclock_completion selfclock ve compare"
    assert bash(f'. "$HOME/.bashrc"; {asked}; echo "${{COMPREPLY[@]}}"').strip() == "vegas"


def test_a_terminal_without_a_letter_ends_no_command(tmp_path: Path) -> None:
    """Regression: a name outside the code page of a Windows terminal gave a traceback."""
    path = tmp_path / "lambda.toml"
    path.write_text(SMALL.replace('"small"', '"λ"'), encoding="utf-8")
    command = [sys.executable, "-m", "selfclock", "run", str(path), "--json", "--set", "duration=1 s"]
    environment = os.environ | {"PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scenario"] == "λ"


def test_schema_is_json(selfclock: Command) -> None:
    assert "properties" in json.loads(selfclock("schema").stdout)


def test_bench_measures_each_case_in_its_own_process(selfclock: Command) -> None:
    done = selfclock("bench", "A1", "--json")
    assert done.returncode == 0, done.stderr
    [case] = json.loads(done.stdout)["cases"]
    assert list(case) == list(get_type_hints(Case))
    assert case["case"] == "A1"
    assert case["packet_hops"] > 1_000_000
    assert case["peak_rss_bytes"] > 1_000_000
    # It moves the same packets, in addition to all other work of a simulator.
    assert 0 < case["of_bare_loop"] < 1


def test_reproduce(selfclock: Command, tmp_path: Path) -> None:
    done = selfclock("reproduce", "packet_pair", "--json", "--out", "report")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    claims = document["claims"]
    assert {claim["paper"] for claim in claims} == {"packet-pair"}
    [summary] = document["papers"]
    assert summary["claims"] == len(claims)
    assert sum(sum(counts.values()) for counts in summary["of"].values()) == len(claims)
    reproduced = [claim["of"] for claim in claims if claim["verdict"] == "reproduced"]
    assert summary["of"]["paper"]["reproduced"] == reproduced.count("paper")
    for claim in claims:
        assert list(claim) == list(get_type_hints(ClaimRow))
        assert claim["verdict"] in {"reproduced", "direction", "not reproduced"}
    html = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    # Figures 5, 6, 8, 9, 11, 12 and 13, two comparisons, bursts, and the counts of each run.
    assert html.count('class="chart"') + html.count('class="drawing"') == 11
    assert "<script src" not in html


@pytest.mark.alone
def test_ctrl_c_stops_within_a_second_and_leaves_nothing(tmp_path: Path, small: Path) -> None:
    endless = ["--set", "duration=100000 s", "--set", "network.bottleneck.rate=1 Gbps", "--set", "record.interval=off"]
    command = [sys.executable, "-m", "selfclock", "run", str(small), *endless]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(1.5)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        _, message = process.communicate(timeout=10)
        assert time.monotonic() - begun < 1
    assert process.returncode == 130
    assert message == "selfclock: interrupted\n"
    assert list(tmp_path.iterdir()) == [small]


def test_a_closed_pipe_is_no_traceback(tmp_path: Path) -> None:
    command = f"{sys.executable} -m selfclock schema | head -c 1"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "{"
    assert "Traceback" not in done.stderr
