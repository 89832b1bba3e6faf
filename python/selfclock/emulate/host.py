"""A host of an emulation, seen from inside: a process in its own namespaces that runs the host's commands.

It is started by `sandbox.Sandbox` and controlled by messages on a socket. Its child is the first
process of its PID namespace; when that ends the kernel kills every process there. Both end with
their parents, so that nothing is left of a host whose selfclock was killed: devices and namespaces
go with the last process that holds them.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pwd
import select
import signal
import socket
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from selfclock.emulate import kernel, sockets, sysctl, tun

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The path of a host to all others.
DEVICE = "path0"

#: Maximum length of a message; longer command lines are refused.
MOST_BYTES = 150_000

#: Signals that a terminal sends to all processes of a job: those of a host end only on request.
TERMINAL = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGHUP,
    signal.SIGTERM,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)


class SetupError(Exception):
    """A host cannot be created; the message says what is missing."""


@dataclass(frozen=True)
class Setup:
    """Settings of a host."""

    #: Host name inside.
    name: str
    address: str
    #: Lines that go before those of /etc/hosts.
    hosts: str
    #: It is made in a user namespace of its own, without privileges.
    unprivileged: bool
    #: Whether everything outside the network also uses the path.
    way_out: bool
    #: Settings of the kernel inside, as "net.ipv4.tcp_congestion_control" to "reno".
    sysctls: dict[str, str]
    #: Text for /etc/resolv.conf; None keeps the existing one.
    resolver: str | None
    #: User and group of the commands; None: those of this process.
    user: tuple[int, int] | None = None

    def message(self) -> bytes:
        """Return the setup as the first message to the host."""
        return json.dumps(asdict(self)).encode()


def main(control: int) -> None:
    """Act as a host until the other side of the socket is closed."""
    for number in TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=control) as wire:
        message = wire.recv(MOST_BYTES)
        if not message:
            return
        setup = Setup(**json.loads(message))
        user = None if setup.user is None else (setup.user[0], setup.user[1])
        try:
            device = _make(setup)
            with _step("a PID namespace"):
                first, lifeline = _first_process(wire.fileno(), device)
        except SetupError as error:
            _tell(wire, failed=str(error))
            return
        try:
            ready = {"ready": True, "algorithm": sockets.default_algorithm()}
            with sockets.open_diag() as diag:
                socket.send_fds(wire, [json.dumps(ready).encode()], [device, diag.fileno()])
        except BrokenPipeError:
            return
        # The emulator's descriptor is the last and keeps the device.
        os.close(device)
        _Commands(wire, user).serve()
        os.close(lifeline)
        # It ends when every process of the namespace has; commands are reaped here.
        while os.wait()[0] != first:
            pass


def _make(setup: Setup) -> int:
    """Make the host around this process; return its device."""
    with _step("new namespaces"):
        if setup.unprivileged:
            kernel.own_user_namespace()
        kernel.unshare(kernel.CLONE_NEWNET | kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWUTS)
    # After the change of credentials; a parent killed earlier has closed the socket.
    kernel.die_with_parent()
    with _step("its name"):
        kernel.set_host_name(setup.name)
    with _step("the sysctl net.ipv6.conf.all.disable_ipv6"):
        tun.turn_off_ipv6("all", "default")
    if setup.unprivileged or setup.user is not None:
        # So that a server on port 80 needs no root there either.
        _set_sysctl("net.ipv4.ip_unprivileged_port_start", "0")
    with _step(tun.DEVICE, "load the module (modprobe tun), or give the container the device"):
        device = tun.open_tun(DEVICE)
    with _step("addresses and routes"):
        tun.bring_up("lo")
        tun.bring_up(DEVICE, setup.address)
        if setup.way_out:
            tun.route_everything(DEVICE)
    for name, value in setup.sysctls.items():
        _set_sysctl(name, value)
    with _step("files in a mount namespace"):
        kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
        _replace("/etc/hosts", setup.hosts + _text("/etc/hosts"))
        if setup.resolver is not None:
            _replace("/etc/resolv.conf", setup.resolver)
    return device


@contextlib.contextmanager
def _step(what: str, remedy: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = f"{what}: {error.strerror or error}"
        raise SetupError(f"{said}; {remedy}" if remedy else said) from None


def _set_sysctl(name: str, value: str) -> None:
    try:
        sysctl.write(name, value)
    except sysctl.SysctlError as error:
        raise SetupError(f"sysctl {error}") from None


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _replace(path: str, text: str) -> None:
    """Replace a file's text in this mount namespace, through an in-memory file system that disappears with it."""
    where = os.path.realpath(path)
    if not Path(where).is_file():
        return
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV)  # noqa: S108  ours alone
    try:
        written = Path("/tmp/file")  # noqa: S108
        written.write_text(text, encoding="utf-8")
        written.chmod(0o644)
        kernel.mount(str(written), where, flags=kernel.MS_BIND)
    finally:
        kernel.unmount("/tmp")  # noqa: S108


def _first_process(*others: int) -> tuple[int, int]:
    """Fork the first process of the PID namespace; return its number and a descriptor that ends it when closed.

    It closes the descriptors `others`.
    """
    ready, says_ready = os.pipe()
    ends, lifeline = os.pipe()
    first = os.fork()
    if first == 0:
        for number in (*others, ready, lifeline):
            os.close(number)
        _be_first(says_ready, ends)
    os.close(says_ready)
    os.close(ends)
    with os.fdopen(ready, "rb") as answer:
        if answer.read(1) != b"+":
            raise OSError(errno.EPERM, "its first process ended")
    return first, lifeline


def _be_first(says_ready: int, ends: int) -> NoReturn:
    """Live as long as the host; the kernel reaps orphans below, since SIGCHLD is ignored."""
    try:
        kernel.die_with_parent()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        # Where a container hides parts of /proc no new one can be mounted: `ps` then shows outside
        # processes.
        with contextlib.suppress(OSError):
            kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
        os.write(says_ready, b"+")
        os.close(says_ready)
        os.read(ends, 1)
    finally:
        os._exit(0)


def _groups(uid: int, gid: int) -> list[int]:
    try:
        return os.getgrouplist(pwd.getpwuid(uid).pw_name, gid)
    except KeyError:
        return [gid]


def _home(uid: int) -> dict[str, str]:
    """Return the variables by which programs find a user's own files."""
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return {}
    return {"HOME": entry.pw_dir, "USER": entry.pw_name, "LOGNAME": entry.pw_name}


class _Commands:
    """The commands of a host: started, signalled and awaited on request."""

    def __init__(self, wire: socket.socket, user: tuple[int, int] | None) -> None:
        self._wire, self._user = wire, user
        self._running: subprocess.Popen[bytes] | None = None

    def serve(self) -> None:
        """Follow messages until the socket is closed."""
        read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._wire, select.POLLIN)
        poll.register(read, select.POLLIN)
        while True:
            events = dict(poll.poll())
            if read in events:
                os.read(read, 4096)
                self._look()
            if self._wire.fileno() in events:
                message = self._wire.recv(MOST_BYTES)
                if not message:
                    return
                self._follow(json.loads(message))

    def _follow(self, order: dict[str, Any]) -> None:
        if order["do"] == "run":
            self._run(order["command"], order["environment"], stdin=order["stdin"], terminal=order["terminal"])
        elif order["do"] == "signal" and self._running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._running.pid, order["number"])

    def _run(self, command: list[str], environment: dict[str, str], *, stdin: bool, terminal: bool) -> None:
        def before() -> None:
            # While SIGTTOU is still ignored: a background process may not take the terminal.
            if terminal:
                os.tcsetpgrp(0, os.getpid())
            for number in (*TERMINAL, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)

        as_user: dict[str, Any] = {}
        if self._user is not None:
            uid, gid = self._user
            as_user = {"user": uid, "group": gid, "extra_groups": _groups(uid, gid)}
            environment = _home(uid) | environment
        try:
            self._running = subprocess.Popen(  # noqa: S603  the user's own command
                command,
                stdin=None if stdin else subprocess.DEVNULL,
                env=os.environ | environment,
                process_group=0,
                preexec_fn=before,  # noqa: PLW1509  there is one thread
                **as_user,
            )
        except FileNotFoundError:
            _tell(self._wire, missing=f"{command[0]}: command not found", status=127)
        except OSError as error:
            _tell(self._wire, missing=f"{command[0]}: {error.strerror}", status=126)
        else:
            _tell(self._wire, started=self._running.pid)

    def _look(self) -> None:
        """Report that the command has ended; continue one that a key has stopped."""
        if self._running is None:
            return
        process, status = os.waitpid(self._running.pid, os.WNOHANG | os.WUNTRACED)
        if process == 0:
            return
        if os.WIFSTOPPED(status):
            # The path continues while a command is stopped; no shell here could resume it.
            if os.WSTOPSIG(status) == signal.SIGTSTP:
                os.killpg(self._running.pid, signal.SIGCONT)
            return
        code = os.waitstatus_to_exitcode(status)
        self._running.returncode = code
        self._running = None
        _tell(self._wire, exited=code if code >= 0 else 128 - code)


def _tell(wire: socket.socket, **message: object) -> None:
    with contextlib.suppress(BrokenPipeError):
        wire.send(json.dumps(message).encode())
