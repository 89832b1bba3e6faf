"""The built page, served as by `selfclock lab`, and Chromium."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, sync_playwright

from selfclock import lab

sys.path.insert(0, str(Path(__file__).parents[1]))
from skips import pytest_sessionfinish, pytest_terminal_summary

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary"]

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")


@pytest.fixture(scope="session")
def dist() -> Path:
    """The folder that `make lab` has built."""
    folder = ROOT / "lab/dist"
    assert (folder / "index.html").is_file(), "make lab builds it"
    return folder


@pytest.fixture(scope="session")
def address(dist: Path) -> Iterator[str]:
    with lab.server(dist) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert path is not None, f"no Chromium, under none of {', '.join(CHROMIUM)}; CHROMIUM=path says where one is"
    with sync_playwright() as playwright:
        # In a container there is no sandbox to be had, and the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
