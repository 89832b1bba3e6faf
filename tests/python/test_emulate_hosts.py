"""Hosts of an emulation: their properties, their commands, and that nothing of them remains. No root is needed."""

from __future__ import annotations

import os
import re
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import namespaces
import selfclock as sc
from selfclock.emulate import sysctl
from selfclock.emulate.addresses import emulated_hosts, environment, hosts_file, named
from selfclock.emulate.commands import commands
from selfclock.emulate.sandbox import CommandError, Sandbox, SandboxError, sandboxes
from selfclock.emulate.session import behind_sudo
from selfclock.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where hosts can be made, also without root.
NAMESPACES = pytest.mark.skipif(namespaces.obstacle() is not None, reason=str(namespaces.obstacle()))


@pytest.fixture
def hosts() -> Iterator[tuple[Sandbox, Sandbox]]:
    """Two hosts, or a reason why there are none on this machine."""
    if namespaces.obstacle() is not None:
        pytest.skip(str(namespaces.obstacle()))
    with sandboxes([namespaces.setup("a", "10.201.0.1"), namespaces.setup("b", "10.201.0.2")]) as (a, b):
        yield a, b


def ended(host: Sandbox, *words: str) -> int:
    """Run a command to completion; return its status."""
    host.run(words, {})
    return int(host.heard()["exited"])


# --- names and commands
# ----------------------------------------------------------------------------------------------


def test_names_of_hosts() -> None:
    one = emulated_hosts(sc.dumbbell())
    assert [(host.name, host.node, host.address, host.peers) for host in one] == [
        ("a", "source1", "10.201.0.1", ("b",)),
        ("b", "sink1", "10.201.0.2", ("a",)),
    ]
    graph = emulated_hosts(sc.Scenario.load(Path(__file__).parents[2] / "examples/two-paths-graph.toml"))
    assert {host.name: host.peers for host in graph} == {"a": ("b",), "r3": ("b",), "b": ("a", "r3")}
    assert hosts_file(one) == "10.201.0.1 a source1\n10.201.0.2 b sink1\n"
    assert environment(one[0], one) == {
        "SELFCLOCK_HOST": "a",
        "SELFCLOCK_ADDRESS": "10.201.0.1",
        "SELFCLOCK_PEER": "b",
        "SELFCLOCK_PEER_ADDRESS": "10.201.0.2",
        "SELFCLOCK_PEERS": "b",
    }
    assert named(one, "sink1") is one[1]


@pytest.mark.parametrize(
    ("words", "first", "found"),
    [
        (["curl", "-s", "http://b"], None, [("a", "curl -s http://b")]),
        (["serve", "--host", "a", "--", "fetch"], "b", [("b", "serve"), ("a", "fetch")]),
        # The command without a host starts last: it is the foreground command.
        (["fetch", "--host", "b", "--", "serve", "-p", "80"], None, [("b", "serve -p 80"), ("a", "fetch")]),
        # Neither an option --host of a command nor its own -- separates commands.
        (["ssh", "--host", "--", "ls"], "b", [("b", "ssh --host -- ls")]),
    ],
)
def test_words_of_commands(words: list[str], first: str | None, found: list[tuple[str, str]]) -> None:
    hosts = emulated_hosts(sc.dumbbell())
    assert [(each.host.name, " ".join(each.words)) for each in commands(words, first, hosts)] == found


def test_without_a_command_it_is_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/zsh")
    [only] = commands([], None, emulated_hosts(sc.dumbbell()))
    assert (only.host.name, only.words) == ("a", ("/bin/zsh",))


@pytest.mark.parametrize(
    ("words", "first", "said"),
    [
        (["true"], "c", "no host is named 'c'; there are a, b"),
        ([], "b", "--host b: no command"),
        (["x", "--host", "b", "--", "y"], "b", "--host b: two commands on one host"),
    ],
)
def test_commands_that_make_no_sense(words: list[str], first: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        commands(words, first, emulated_hosts(sc.dumbbell()))


# --- what a host is
# --------------------------------------------------------------------------------------------------


def test_a_packet_to_another_host_leaves_through_the_device(hosts: tuple[Sandbox, Sandbox]) -> None:
    """A datagram is an IP packet of its length, with the right addresses and checksum; nothing else arrives."""
    code = "import socket; socket.socket(2, 2).sendto(b'x' * 1000, ('b', 9))"
    assert ended(hosts[0], sys.executable, "-c", code) == 0
    packet = os.read(hosts[0].device, 65536)
    assert len(packet) == 1028
    assert packet[0] == 0x45
    assert socket.inet_ntoa(packet[12:16]) == "10.201.0.1"
    assert socket.inet_ntoa(packet[16:20]) == "10.201.0.2"
    header = struct.unpack("!10H", packet[:20])
    assert sum(header) % 0xFFFF == 0, "the header's checksum"
    with pytest.raises(BlockingIOError):
        os.read(hosts[0].device, 65536)


def test_a_host_sees_itself_and_not_the_machine(hosts: tuple[Sandbox, Sandbox]) -> None:
    a, _ = hosts
    assert ended(a, "sh", "-c", "test $(hostname) = a") == 0
    # The host's init process, sh and ps; processes outside are invisible.
    assert ended(a, "sh", "-c", "test $(ls /proc | grep -c '^[0-9]') -le 5") == 0
    assert ended(a, sys.executable, "-c", "import os; assert sorted(os.listdir('/sys/class/net'))") == 0
    devices = "import socket; assert {name for _, name in socket.if_nameindex()} == {'lo', 'path0'}"
    assert ended(a, sys.executable, "-c", devices) == 0
    user = f"import os; assert os.getuid() == {os.getuid()}"
    assert ended(a, sys.executable, "-c", user) == 0
    # Any user may bind port 80 there.
    assert ended(a, sys.executable, "-c", "import socket; socket.create_server(('', 80))") == 0


def test_mtu_and_queue_of_the_device(hosts: tuple[Sandbox, Sandbox]) -> None:
    code = (
        "import fcntl, socket, struct; s = socket.socket();"
        "get = lambda what: struct.unpack_from('i', fcntl.ioctl(s, what, struct.pack('16s24x', b'path0')), 16)[0];"
        "assert (get(0x8921), get(0x8942)) == (1500, 10000)"
    )
    assert ended(hosts[0], sys.executable, "-c", code) == 0


def test_the_status_of_a_command(hosts: tuple[Sandbox, Sandbox]) -> None:
    a, _ = hosts
    assert ended(a, "sh", "-c", "exit 7") == 7
    assert ended(a, "sh", "-c", "kill -9 $$") == 137
    with pytest.raises(CommandError, match="nothing-of-the-kind: command not found") as missing:
        a.run(["nothing-of-the-kind"], {})
    assert missing.value.status == 127
    with pytest.raises(CommandError, match="/etc/passwd: Permission denied") as refused:
        a.run(["/etc/passwd"], {})
    assert refused.value.status == 126


def test_whether_a_host_has_a_socket(hosts: tuple[Sandbox, Sandbox]) -> None:
    _, b = hosts
    assert not b.has_socket()
    b.run([sys.executable, "-c", "import socket, time; s = socket.create_server(('', 80)); time.sleep(60)"], {})
    until = time.monotonic() + 10
    while not b.has_socket():
        assert time.monotonic() < until
        time.sleep(0.01)
    assert not b.has_ended()
    b.signal(15)
    assert b.heard() == {"exited": 143}
    assert b.has_ended()


@NAMESPACES
def test_settings_of_the_kernel() -> None:
    chosen = {"net.ipv4.tcp_congestion_control": "reno"}
    with sandboxes([namespaces.setup("a", "10.201.0.1", sysctls=chosen)]) as (a,):
        said = "test $(cat /proc/sys/net/ipv4/tcp_congestion_control) = reno"
        assert ended(a, "sh", "-c", said) == 0
    for wrong, said in (
        ("net.ipv4.nothing", "there is none of that name"),
        ("net.ipv4.ip_forward", "Invalid argument"),
    ):
        with (
            pytest.raises(SandboxError, match=said),
            sandboxes([namespaces.setup("a", "10.201.0.1", sysctls={wrong: "x"})]),
        ):
            pass


# --- that nothing stays
# ----------------------------------------------------------------------------------------------


def test_what_a_command_leaves_running_ends_with_the_host() -> None:
    """A daemon in its own session, whose parent has ended."""
    if namespaces.obstacle() is not None:
        pytest.skip(str(namespaces.obstacle()))
    mark = f"MARK=forks-{os.getpid()}"
    with sandboxes([namespaces.setup("a", "10.201.0.1")]) as (a,):
        assert ended(a, "env", mark, "sh", "-c", "setsid sleep 1000 & sleep 1000 & exit 0") == 0
        assert len(namespaces.living(mark)) == 2, "the test can see them"
    assert namespaces.living(mark) == []


def test_nothing_is_left_of_a_process_that_was_killed() -> None:
    """The process with the hosts is killed with -9: commands, daemons, namespaces and devices end with it."""
    if namespaces.obstacle() is not None:
        pytest.skip(str(namespaces.obstacle()))
    mark = f"MARK=killed-{os.getpid()}"
    code = f"""
import sys, time
sys.path[:] = {sys.path!r}
import namespaces
from selfclock.emulate.sandbox import sandboxes
with sandboxes([namespaces.setup("a", "10.201.0.1")]) as (a,):
    a.run(["env", {mark!r}, "sh", "-c", "setsid sleep 1000 & trap '' TERM HUP INT; sleep 1000 & wait"], {{}})
    print("there", flush=True)
    time.sleep(1000)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as maker:
        assert maker.stdout is not None
        assert maker.stdout.readline() == b"there\n"
        until = time.monotonic() + 10
        while len(namespaces.living(mark)) < 3:
            assert time.monotonic() < until
        inside = Path(f"/proc/{namespaces.living(mark)[0]}/ns/net").stat().st_ino
        maker.kill()
    while namespaces.living(mark) or _in_namespace(inside):
        assert time.monotonic() < until, "processes are left"


def _in_namespace(number: int) -> list[int]:
    """Return the processes in a network namespace, which ends with the last of them and of its devices."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and (entry / "ns/net").stat().st_ino == number:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


# --- settings of the kernel, and whose the commands are
# ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kernel.printk_ratelimit_burst", "names below net."),
        ("/etc/victim", "names below net."),
        ("net", "names below net."),
        ("vm.swappiness", "names below net."),
        ("net/../kernel/printk", "'..' is no part"),
        ("net.ipv4//etc/x", "is no part"),
        ("net..kernel", "is no part"),
        ("net.ipv4.x\0y", "is no part"),
    ],
)
def test_settings_of_the_machine_are_refused(name: str, said: str) -> None:
    """Regression: any name below /proc/sys was written, and an absolute one anywhere, as root and for ever."""
    with pytest.raises(sysctl.SysctlError, match=re.escape(said)):
        sysctl.parts(name)


def test_names_of_settings() -> None:
    """Dots or slashes, as in sysctl(8): a device's name may have dots."""
    assert sysctl.parts("net.ipv4.tcp_rmem") == ["ipv4", "tcp_rmem"]
    assert sysctl.parts("net/ipv4/conf/eth0.1/forwarding") == ["ipv4", "conf", "eth0.1", "forwarding"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        # Global: ipv4_table of net/ipv4/sysctl_net_ipv4.c is registered in the first namespace
        # only.
        ("net.ipv4.tcp_mem", "there is none of that name in a network namespace"),
        ("net.ipv4.no_such", "there is none of that name in a network namespace"),
        ("net.ipv4", "there is none of that name in a network namespace"),
        # Read-only everywhere, in the machine's own namespace too.
        ("net.ipv4.tcp_available_congestion_control", "only the kernel itself sets it"),
        # Read-only in other namespaces than the machine's: it is one for all of them.
        ("net.ipv4.tcp_allowed_congestion_control", "it belongs to the machine, not to a host; set it there"),
    ],
)
def test_settings_that_a_namespace_lacks(name: str, said: str) -> None:
    if namespaces.obstacle() is not None:
        pytest.skip(str(namespaces.obstacle()))
    setup = namespaces.setup("a", "10.201.0.1", sysctls={name: "1"})
    with pytest.raises(SandboxError, match=said), sandboxes([setup]):
        pass


def test_a_setting_of_the_host_alone() -> None:
    if namespaces.obstacle() is not None:
        pytest.skip(str(namespaces.obstacle()))
    path = Path("/proc/sys/net/ipv4/tcp_retries2")
    before = path.read_text(encoding="ascii")
    with sandboxes([namespaces.setup("a", "10.201.0.1", sysctls={"net.ipv4.tcp_retries2": "7"})]) as [a]:
        assert ended(a, "grep", "-q", "^7$", str(path)) == 0
        assert path.read_text(encoding="ascii") == before


@NAMESPACES
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, whose capabilities it drops")
def test_root_of_a_container_uses_a_user_namespace() -> None:
    """Regression: root without CAP_SYS_ADMIN, as Docker has it by default, was refused."""
    # Docker's; a map of root needs CAP_SETFCAP (user_namespaces(7), since Linux 5.12).
    kept = "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw"
    kept += ",+sys_chroot,+mknod,+audit_write,+setfcap"
    dropped = ["setpriv", f"--bounding-set={kept}", "--inh-caps=-all"]
    code = """
import namespaces
from selfclock.emulate import kernel
from selfclock.emulate.sandbox import sandboxes
assert not kernel.is_administrator()
with sandboxes([namespaces.setup("a", "10.201.0.1", unprivileged=not kernel.is_administrator())]) as [a]:
    a.run(["true"], {})
    raise SystemExit(a.heard()["exited"])
"""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [*dropped, sys.executable, "-c", code]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@NAMESPACES
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_commands_under_sudo_are_the_callers() -> None:
    """As mahimahi's are. Regression: they had all rights of root on the machine."""
    with sandboxes([namespaces.setup("a", "10.201.0.1", unprivileged=False, user=(65534, 65534))]) as [a]:
        check = 'test "$(id -u)" = 65534 && test "$(id -G)" = 65534 && grep -q "CapEff:.0*$" /proc/self/status'
        assert ended(a, "sh", "-c", check) == 0
        # A server on a port of the system's.
        code = "import socket; socket.create_server(('', 80))"
        # Not this interpreter, which may be in root's home.
        assert ended(a, "/usr/bin/env", "python3", "-c", code) == 0
    with sandboxes([namespaces.setup("a", "10.201.0.1", unprivileged=False)]) as [a]:
        assert ended(a, "sh", "-c", 'test "$(id -u)" = 0') == 0


def test_whose_commands_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for user, group, found in [("1000", "100", (1000, 100)), ("0", "0", None), ("", "", None), ("x", "1", None)]:
        monkeypatch.setenv("SUDO_UID", user)
        monkeypatch.setenv("SUDO_GID", group)
        assert behind_sudo() == found
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("SUDO_UID", "1000")
    assert behind_sudo() is None
