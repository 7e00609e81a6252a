"""The command web: the server that it starts, and that it opens the page; tests/web tests the page."""

from queue import Queue

import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from motif.cli.main import main
from motif.runtime.errors import SettingError
from motif.serve import http


@pytest.fixture(name="started")
def _started(monkeypatch):
    """Settings of the servers started; each listens at its port, or at 8181 if that is 0."""
    started = []

    def serve(settings, ready):
        started.append(settings)
        ready(f"http://127.0.0.1:{settings.port or 8181}/")

    monkeypatch.setattr(http, "serve", serve)
    return started


@pytest.fixture(name="opened")
def _opened(monkeypatch):
    opened: Queue[str] = Queue()
    monkeypatch.setattr("webbrowser.open", opened.put)
    return opened


def test_the_page_is_opened_when_the_server_is_ready(started, opened):
    assert main(["web"]) == 0
    assert [(one.host, one.port) for one in started] == [("127.0.0.1", 8080)]
    assert opened.get() == "http://127.0.0.1:8080/"


def test_no_browser_is_opened_on_request(started, opened):
    assert main(["web", "--no-open", "--port", "8123"]) == 0
    assert (started[0].port, opened.empty()) == (8123, True)


def test_a_taken_port_is_an_error_only_where_it_was_asked_for(started, opened, monkeypatch, capsys):
    serve = http.serve

    def taken(settings, ready):
        if settings.port in (8080, 8123):
            raise SettingError(f"cannot listen at 127.0.0.1:{settings.port}: it is taken", "port")
        serve(settings, ready)

    monkeypatch.setattr(http, "serve", taken)
    assert main(["web", "--no-open"]) == 0
    assert started[0].port == 0
    assert main(["web", "--no-open", "--port", "8123"]) == 2
    assert "cannot listen at 127.0.0.1:8123" in capsys.readouterr().err
