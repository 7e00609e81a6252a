"""A server for the tests, and a Chromium with its page; skipped with a message if either is missing."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
PREFER = """if (location.protocol === "http:" && !localStorage.getItem("motif-preferences"))
    localStorage.setItem("motif-preferences", '%s');"""
"""Nobody waits for checkers to fly, unless that is what is tested."""
NARROW, MIDDLE, WIDE = (390, 844), (820, 1180), (1440, 900)


class Server:
    """`motif web` in a separate process, which can be killed and restarted at the same port."""

    def __init__(self, state: Path) -> None:
        self._state, self.port = state, 0
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        words = [sys.executable, "cli.py", "web", "--no-open", "--port", str(self.port)]
        environment = {**os.environ, "XDG_STATE_HOME": str(self._state)}
        self._process = subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
        for line in self._process.stderr:
            if match := re.search(r"listening on http://127\.0\.0\.1:(\d+)", line):
                self.port = int(match[1])
                return
        raise AssertionError("the server has not started")

    def kill(self) -> None:
        """Kill it without warning."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it like Ctrl-C."""
        self._end(signal.SIGINT)

    def _end(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.wait(60)
        self._process.stderr.close()

    @property
    def address(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture(scope="session", name="server")
def _server(tmp_path_factory) -> Iterator[Server]:
    pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")
    server = Server(tmp_path_factory.mktemp("state"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session", name="browser")
def _browser() -> Iterator[object]:
    if CHROMIUM is None:
        pytest.skip("no Chromium here: install one (Debian: apt install chromium), or name it in CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing: make test-web")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(name="new_page")
def _new_page(browser) -> Iterator[object]:
    """Make pages of a new visitor; any error in the browser fails the test."""
    contexts, faults = [], []

    def made(size=WIDE, look="light", language="en-GB", speed="off", **more):
        how = {"reduced_motion": "reduce", "color_scheme": look, "locale": language, **more}
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **how)
        if speed is not None:
            context.add_init_script(PREFER % json.dumps({"speed": speed}))
        contexts.append(context)
        context.set_default_timeout(180_000)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        return page

    made.faults = faults
    yield made
    for context in contexts:
        context.close()
    # The browser logs a refusal by the server, however the page handles it.
    assert not [fault for fault in faults if "Failed to load resource" not in fault]


@pytest.fixture(name="page")
def _page(new_page):
    return new_page()
