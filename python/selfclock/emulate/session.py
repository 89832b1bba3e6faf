"""A run of an emulation: hosts and commands around the emulator."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from selfclock import _core, interrupts
from selfclock.emulate import kernel
from selfclock.emulate.addresses import environment, hosts_file
from selfclock.emulate.host import Setup
from selfclock.emulate.live_line import REDRAW_S, LiveLine
from selfclock.emulate.only_simulated import notes
from selfclock.emulate.outside import outside, resolver
from selfclock.emulate.sandbox import sandboxes
from selfclock.emulate.sockets import Asker, default_algorithm, open_diag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from selfclock.emulate.addresses import EmulatedHost
    from selfclock.emulate.sandbox import Sandbox
    from selfclock.scenario import Scenario

#: Default route, as the address of a host.
EVERYWHERE = "0.0.0.0/0"

#: Time a command has after SIGTERM.
GRACE_S = 2.0

#: Time a command waits for earlier ones to open a socket.
PATIENCE_S = 1.0


@dataclass(frozen=True)
class Command:
    """A command on a host."""

    host: EmulatedHost
    words: tuple[str, ...]


@dataclass(frozen=True)
class Settings:
    """Options of an emulation, beside its scenario and commands."""

    #: Time limit, if the last command has not ended; None for no limit.
    seconds: float | None = None
    #: Settings of the kernel on every host.
    sysctls: dict[str, str] = field(default_factory=dict)
    #: Name of the host that is the machine itself, and whether it lets the others reach the
    #: Internet.
    outside: str | None = None
    internet: bool = False
    #: Whether a line on the terminal shows the progress.
    live: bool = False
    #: Called some four times a second with a function that returns the progress, as JSON text.
    watch: Callable[[Callable[[], str]], object] | None = None
    #: Valid if 99 % of the packets, and each of them, left no later than this.
    bound_p99_s: float = 1e-3
    bound_worst_s: float = 10e-3
    #: Under sudo, whether commands are root's; otherwise they are those of the user who called it.
    as_root: bool = False


@dataclass(frozen=True)
class Files:
    """Files of the packets, written while they cross the path."""

    #: The table of packet events, and its metadata.
    packets: tuple[Path, list[tuple[str, str]]] | None = None
    #: Captures: node and file.
    captures: tuple[tuple[str, Path], ...] = ()


@dataclass(frozen=True)
class Emulated:
    """The results of an emulation."""

    outcome: _core.Outcome
    #: Exit status of the last command, in the shell's convention; 128 plus the signal that ended
    #: the emulation.
    status: int


def behind_sudo() -> tuple[int, int] | None:
    """Return user and group of the caller of sudo; None without sudo."""
    user, group = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() != 0 or not (user.isdecimal() and group.isdecimal()) or int(user) == 0:
        return None
    return int(user), int(group)


class Session:
    """Commands on hosts of a scenario, until the last of them ends."""

    def __init__(
        self,
        scenario: Scenario,
        hosts: Sequence[EmulatedHost],
        commands: Sequence[Command],
        settings: Settings,
        files: Files,
    ) -> None:
        self._scenario, self._hosts, self._commands = scenario, hosts, commands
        self._settings, self._files = settings, files

    def run(self) -> Emulated:
        """Create the hosts, run the commands, and return the emulator's record."""
        apart = [host for host in self._hosts if host.name != self._settings.outside]
        with self._outside() as device, sandboxes([self._setup(host) for host in apart]) as made:
            at = {host.name: sandbox for host, sandbox in zip(apart, made, strict=True)}
            emulator = _core.Emulator(
                self._scenario._core,
                hosts=[self._end(host, at[host.name].device if host.name in at else device) for host in self._hosts],
                packets=self._files.packets,
                captures=self._files.captures,
                duration_s=self._settings.seconds,
                bound_p99_s=self._settings.bound_p99_s,
                bound_worst_s=self._settings.bound_worst_s,
            )
            with _Running(emulator) as running:
                live = LiveLine(self._scenario, wanted=self._settings.live)
                with self._asker(at) as asker, _terminal_kept(), live as line:
                    try:
                        status = self._follow(at, running, line)
                    except KeyboardInterrupt as error:
                        status = interrupts.status(error)
                defaults = self._defaults(at)
                emulator.tell(asker.found(), list(defaults.items()), notes(self._scenario, defaults))
                outcome = running.end()
            _end_commands(made)
        return Emulated(outcome, status)

    @contextlib.contextmanager
    def _asker(self, at: Mapping[str, Sandbox]) -> Iterator[Asker]:
        """Ask all hosts, the machine too if it is one, about their sockets during the block."""
        with contextlib.ExitStack() as stack:
            diags = {
                host.address: at[host.name].diag if host.name in at else stack.enter_context(open_diag())
                for host in self._hosts
            }
            yield stack.enter_context(Asker(diags))

    def _defaults(self, at: Mapping[str, Sandbox]) -> dict[str, str]:
        """Return the congestion control of new sockets, by node."""
        return {host.node: at[host.name].algorithm if host.name in at else default_algorithm() for host in self._hosts}

    def _end(self, host: EmulatedHost, device: int) -> tuple[str, int, list[str]]:
        """Return an end of a path in the emulator's form; the machine's is also the default route."""
        everywhere = [EVERYWHERE] if self._settings.internet and host.name == self._settings.outside else []
        return host.node, device, [host.address, *everywhere]

    @contextlib.contextmanager
    def _outside(self) -> Iterator[int]:
        """Make the machine a host if requested; return its device."""
        machine = next((host for host in self._hosts if host.name == self._settings.outside), None)
        if machine is None:
            yield -1
            return
        with outside(machine, internet=self._settings.internet) as device:
            yield device

    def _setup(self, host: EmulatedHost) -> Setup:
        return Setup(
            name=host.name,
            address=host.address,
            hosts=hosts_file(self._hosts),
            unprivileged=not kernel.is_administrator(),
            way_out=self._settings.internet,
            sysctls=self._settings.sysctls,
            resolver=resolver() if self._settings.internet else None,
            user=None if self._settings.as_root else behind_sudo(),
        )

    def _follow(self, at: Mapping[str, Sandbox], running: _Running, line: LiveLine) -> int:
        """Run the commands; return the status of the last one."""
        *others, last = self._commands
        started: list[Sandbox] = []
        for command in others:
            _wait_for_sockets(started)
            started.append(at[command.host.name])
            started[-1].run(command.words, environment(command.host, self._hosts))
        _wait_for_sockets(started)
        followed = at[last.host.name]
        foreground = sys.stdin.isatty() and os.tcgetpgrp(0) == os.getpgrp()
        followed.run(last.words, environment(last.host, self._hosts), stdin=True, terminal=foreground)
        for sandbox, message in _messages([at[command.host.name] for command in self._commands], running):
            if sandbox is followed and message is not None and "exited" in message:
                return int(message["exited"])
            line.update(running.emulator.status)
            if self._settings.watch is not None:
                self._settings.watch(running.emulator.status)
        return 0


class _Running:
    """The emulator in a thread, which returns its outcome when it is stopped."""

    def __init__(self, emulator: _core.Emulator) -> None:
        self.emulator = emulator
        self._stop, self._say_stop = os.pipe()
        self._ended, self._say_ended = os.pipe()
        self._outcome: _core.Outcome | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="emulator", daemon=True)

    def _run(self) -> None:
        try:
            self._outcome = self.emulator.run(self._stop)
        except BaseException as error:
            self._error = error
        finally:
            os.close(self._say_ended)

    def __enter__(self) -> _Running:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            os.close(self._say_stop)
            self._thread.join()
        os.close(self._stop)
        os.close(self._ended)

    def fileno(self) -> int:
        """Return a descriptor that is readable when the emulator has ended by itself."""
        return self._ended

    def end(self) -> _core.Outcome:
        """Stop the emulator and return its outcome."""
        os.write(self._say_stop, b"x")
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._outcome is not None
        return self._outcome


def _messages(waiting: Sequence[Sandbox], running: _Running) -> Iterator[tuple[Sandbox | None, dict[str, Any] | None]]:
    """Yield the hosts' reports, and None now and then, until the emulator ends."""
    poll = select.poll()
    by_number = {sandbox.fileno(): sandbox for sandbox in waiting}
    for number in (*by_number, running.fileno()):
        poll.register(number, select.POLLIN)
    while True:
        events = poll.poll(REDRAW_S * 1e3)
        for number, _ in events:
            if number == running.fileno():
                return
            sandbox = by_number[number]
            yield sandbox, sandbox.heard()
        if not events:
            yield None, None


def _wait_for_sockets(started: Sequence[Sandbox]) -> None:
    """Wait until each host has a socket, or its command has ended: a client that starts too early is refused."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and not all(one.has_socket() or one.has_ended() for one in started):
        time.sleep(0.01)


def _end_commands(made: Sequence[Sandbox]) -> None:
    """Ask running commands to end, and wait a moment; the rest are killed with their host."""
    left = {sandbox.fileno(): sandbox for sandbox in made if sandbox.process is not None}
    for sandbox in left.values():
        sandbox.signal(signal.SIGTERM)
    until = time.monotonic() + GRACE_S
    while left and time.monotonic() < until:
        readable, _, _ = select.select(list(left), [], [], max(0.0, until - time.monotonic()))
        for number in readable:
            if "exited" in left[number].heard():
                del left[number]


@contextlib.contextmanager
def _terminal_kept() -> Iterator[None]:
    """Take the terminal back from a command at the end of the block, with its settings."""
    if not sys.stdin.isatty():
        yield
        return
    import termios  # noqa: PLC0415

    settings, group = termios.tcgetattr(0), os.getpgrp()
    # While a command is in the foreground this process is not: drawing on or taking the terminal
    # would stop it.
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, termios.error):
            os.tcsetpgrp(0, group)
            termios.tcsetattr(0, termios.TCSADRAIN, settings)
        signal.signal(signal.SIGTTOU, before)
