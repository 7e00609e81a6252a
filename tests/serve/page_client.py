"""A client of the application, in the test's own process."""

import warnings
from pathlib import Path
from typing import Any

from motif.serve.http import create_app
from motif.serve.serve_settings import ServeSettings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # renamed in newer versions of httpx
    from starlette.testclient import TestClient


def answered(client: TestClient, path: str, **question: Any) -> Any:
    """The answer to a question of motif's own interface, which must be valid."""
    answer = client.post(f"/api/v1/{path}", json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


def opened(folder: Path, **limits: int) -> TestClient:
    """A client of a server that stores games in `folder`."""
    return TestClient(create_app(ServeSettings(games=str(folder), **limits)), base_url="http://localhost")
