"""The laboratory in a browser: the page built by `make lab`, and a server for this machine only."""

from __future__ import annotations

import base64
import json
import zlib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from selfclock.errors import BadInputError

#: Output of `make lab`. Not in git; a wheel contains it if it was built.
PAGE = Path(__file__).parent / "static"

#: Version of the format of links, and the most characters of one that the page reads
#: (`lab/src/share.ts`).
VERSION, MOST_CHARACTERS = "s1", 262_144


def page() -> Path:
    """Return the folder of the page, which any web server can host. Raises `BadInputError` if it was not built."""
    if not (PAGE / "index.html").is_file():
        raise BadInputError(
            "the page of the laboratory is not part of this installation: run `make lab` in a checkout of selfclock, "
            "or install a wheel of `make package`"
        )
    return PAGE


def fragment(toml: str) -> str:
    """Return the end of a link that opens the page with a scenario, from `#` on.

    Raises `BadInputError` if it is too long for a link.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    text = json.dumps({"toml": toml}, ensure_ascii=False, separators=(",", ":")).encode()
    packed = base64.urlsafe_b64encode(packer.compress(text) + packer.flush()).decode().rstrip("=")
    if len(packed) > MOST_CHARACTERS:
        raise BadInputError(
            f"the scenario is too large for a link ({len(packed):,} characters, at most {MOST_CHARACTERS:,}): "
            "open the page without it and paste its text"
        )
    return f"#{VERSION}={packed}"


class _Handler(SimpleHTTPRequestHandler):
    """Files of one folder, without a log."""

    # Windows takes the types from its registry, which programs modify.
    extensions_map = {  # noqa: RUF012  as in the base class
        "": "application/octet-stream",
        ".css": "text/css",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript",
        ".json": "application/json",
        ".svg": "image/svg+xml",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        """Have the browser revalidate: another version may be installed later under the same address."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name of the base class
        """Write nothing."""


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of the folder that listens on the loopback interface; port 0 is any free one.

    Raises `BadInputError` if the port is not available.
    """
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        raise BadInputError(f"port {port}: {error.strerror}; name another, or none for one that is free") from error
