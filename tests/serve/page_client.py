"""A client of the application, in the test's own process."""

import warnings
from pathlib import Path

from motif.serve.http import create_app
from motif.serve.serve_settings import ServeSettings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # renamed in newer versions of httpx
    from starlette.testclient import TestClient


def opened(folder: Path, **limits: int) -> TestClient:
    """A client of a server that stores games in `folder`."""
    return TestClient(create_app(ServeSettings(games=str(folder), **limits)), base_url="http://localhost")
