"""Captures as Wireshark's dissectors read them."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def dissected(capture: Path, shown: str, *fields: str) -> list[list[str]]:
    """Return fields of a capture's packets that match a Wireshark filter, as tshark decodes them."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("no tshark is installed, which reads captures")
    wanted = [argument for field in fields for argument in ("-e", field)]
    # Without name resolution and the machine's preferences.
    checked = [word for kind in ("ip", "tcp", "udp") for word in ("-o", f"{kind}.check_checksum:TRUE")]
    command = [tshark, "-n", "-r", str(capture), *checked, "-Y", shown, "-T", "fields", *wanted]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in said.splitlines()]
