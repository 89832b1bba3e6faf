"""`selfclock lab`: the page is served to this machine alone, with a scenario in the link if one is given."""

from __future__ import annotations

import base64
import json
import threading
import zlib
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from selfclock import lab
from selfclock.cli import main
from selfclock.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.client import HTTPResponse

ROOT = Path(__file__).parents[2]


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page as built by `make lab`, in its place."""
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html>", encoding="utf-8")
    (folder / "selfclock.wasm").write_bytes(b"\0asm")
    monkeypatch.setattr(lab, "PAGE", folder)
    return folder


@pytest.fixture
def port(built: Path) -> Iterator[int]:
    assert lab.page() == built
    with lab.server(built) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert server.server_address[0] == "127.0.0.1"
        yield server.server_port
        server.shutdown()


def got(port: int, path: str) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(connection):
        connection.request("GET", path)
        response = connection.getresponse()
        return response, response.read()


def test_the_page_is_served_with_types_that_browsers_accept(port: int, capfd: pytest.CaptureFixture[str]) -> None:
    response, body = got(port, "/")
    assert (response.status, body) == (200, b"<!doctype html>")
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["Cache-Control"] == "no-cache"
    assert got(port, "/selfclock.wasm")[0].headers["Content-Type"] == "application/wasm"
    assert got(port, "/../__init__.py")[0].status == 404
    assert capfd.readouterr() == ("", ""), "a server for one reader needs no log"


def test_without_the_page_the_command_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab, "PAGE", tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(["lab", "--no-browser"])
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "run `make lab` in a checkout" in said


def test_a_port_that_is_taken_is_refused(built: Path) -> None:
    with lab.server(built) as other, pytest.raises(BadInputError, match=f"port {other.server_port}: .* name another"):
        lab.server(built, other.server_port)


def unpacked(fragment: str) -> str:
    """Return the TOML of a link, as the page decodes it."""
    packed = fragment.removeprefix("#s1=")
    padded = packed + "=" * (-len(packed) % 4)
    return str(json.loads(zlib.decompress(base64.urlsafe_b64decode(padded), -zlib.MAX_WBITS))["toml"])


@pytest.mark.usefixtures("built")
def test_a_scenario_goes_into_the_link(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    opened: list[str] = []

    def open_browser(url: str) -> bool:
        opened.append(url)
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", open_browser)
    with pytest.raises(SystemExit):
        main(["lab", str(ROOT / "examples/lte.toml"), "--set", "duration=3 s"])
    (url,) = opened
    assert capsys.readouterr().out == f"{url}\nCtrl-C ends it.\n"
    toml = unpacked(url[url.index("#") :])
    assert 'duration = "3 s"' in toml
    assert "opportunities" in toml, "a browser has no files: the delivery trace is in the text"


def test_what_no_link_holds_is_refused() -> None:
    noise = zlib.compress(bytes(range(256)), 0).hex()
    assert unpacked(lab.fragment(noise)) == noise
    # All eight bits of every byte are random, so it is incompressible.
    state, letters = 1, []
    for _ in range(400_000):
        state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
        letters.append(chr(33 + (state >> 33) % 90))
    with pytest.raises(BadInputError, match="too large for a link"):
        lab.fragment("".join(letters))


@pytest.mark.usefixtures("built")
def test_the_server_runs_until_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(_server: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("socketserver.BaseServer.serve_forever", interrupt)
    with pytest.raises(SystemExit) as ended:
        main(["lab", "--no-browser"])
    assert ended.value.code in {0, None}
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")
    with pytest.raises(SystemExit, match="2"):
        main(["lab", "--set", "duration=3 s"])
    assert "--set needs a scenario to change" in capsys.readouterr().err
