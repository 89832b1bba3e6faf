"""Hosts of an emulation, seen from outside: each a process in its own namespaces, controlled by messages."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfclock.emulate.host import MOST_BYTES, Setup
from selfclock.errors import BadInputError, WorkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Making namespaces and a device takes some 0.1 s; a machine stopped for longer has other problems.
PATIENCE_S = 20.0

#: Where the kernel or its administrator denies a host's requirements.
_REFUSED = (
    "without root it needs user namespaces for everyone (sysctl kernel.unprivileged_userns_clone=1, "
    "user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0)"
)


class SandboxError(WorkError):
    """A host of the emulation cannot be made."""


class Sandbox:
    """A host with its own namespaces: network, mounts, processes, host name."""

    def __init__(self, setup: Setup) -> None:
        self.name = setup.name
        self.address = setup.address
        #: The command's first process; None without a command.
        self.process: int | None = None
        self._wire, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._wire.settimeout(PATIENCE_S)
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; from selfclock.emulate.host import main; main({theirs.fileno()})"
        )
        with theirs:
            # -I: no module from the current directory is imported.
            self._host = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-c", code], pass_fds=[theirs.fileno()]
            )
        try:
            #: Its device, a socket that answers about its connections, and their default congestion
            #: control.
            self.device, self.diag, self.algorithm = self._made(setup)
        except BaseException:
            self.close()
            raise

    def _made(self, setup: Setup) -> tuple[int, socket.socket, str]:
        """Send the setup; return the device, socket and name that come back."""
        self._wire.send(setup.message())
        try:
            message, devices, _, _ = socket.recv_fds(self._wire, MOST_BYTES, 2)
        except TimeoutError:
            raise SandboxError(f"host {self.name} was not there after {PATIENCE_S:g} s") from None
        answer = json.loads(message) if message else {"failed": "its process ended"}
        if "failed" in answer:
            said = f"host {self.name}: {answer['failed']}"
            raise SandboxError(f"{said}: {_REFUSED}" if "namespace" in said and os.geteuid() != 0 else said)
        return devices[0], socket.socket(fileno=devices[1]), str(answer["algorithm"])

    def fileno(self) -> int:
        """Return the descriptor to wait for: it is readable when the host has a report."""
        return self._wire.fileno()

    def run(
        self, command: Sequence[str], environment: dict[str, str], *, stdin: bool = False, terminal: bool = False
    ) -> None:
        """Start a command, with or without standard input, in the foreground or background of the terminal.

        A missing command is an error at once.
        """
        order = {"do": "run", "command": list(command), "environment": environment, "stdin": stdin}
        self._order({**order, "terminal": terminal})
        answer = self.heard()
        if "missing" in answer:
            raise CommandError(str(answer["missing"]), int(answer["status"]))
        self.process = int(answer["started"])

    def signal(self, number: int) -> None:
        """Send a signal to the process group of the command."""
        with contextlib.suppress(BrokenPipeError):
            self._order({"do": "signal", "number": number})

    def _order(self, order: dict[str, object]) -> None:
        try:
            self._wire.send(json.dumps(order).encode())
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise BadInputError(f"the command line for host {self.name} is too long: {error.strerror}") from None

    def heard(self) -> dict[str, Any]:
        """Return the next message of the host; `exited` is the status of its command, in the shell's convention."""
        message = self._wire.recv(MOST_BYTES)
        if not message:
            raise SandboxError(f"host {self.name} ended before its command did")
        found: dict[str, Any] = json.loads(message)
        if "exited" in found:
            self.process = None
        return found

    def has_socket(self) -> bool:
        """Tell whether the host has a TCP socket that listens, connects or is connected, or a UDP port."""
        if self.process is None:
            return False
        for table in ("tcp", "tcp6", "udp", "udp6"):
            with contextlib.suppress(OSError):
                # The first line has the headings. Other TCP sockets are not listed.
                if len(Path(f"/proc/{self.process}/net/{table}").read_text(encoding="ascii").splitlines()) > 1:
                    return True
        return False

    def has_ended(self) -> bool:
        """Tell whether the command's process is gone."""
        return self.process is None or not Path(f"/proc/{self.process}").exists()

    def close(self) -> None:
        """End every process of the host, and wait until they are gone."""
        self._wire.close()
        try:
            self._host.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._host.kill()
            self._host.wait()


class CommandError(WorkError):
    """A command cannot be started; `status` is the shell's exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@contextlib.contextmanager
def sandboxes(setups: Sequence[Setup]) -> Iterator[list[Sandbox]]:
    """Yield hosts that are gone at the end of the block, with every process and device."""
    made: list[Sandbox] = []
    try:
        for setup in setups:
            made.append(Sandbox(setup))  # noqa: PERF401  those made are closed if one fails
        yield made
    finally:
        for sandbox in made:
            with contextlib.suppress(OSError):
                os.close(sandbox.device)
            sandbox.diag.close()
            sandbox.close()
