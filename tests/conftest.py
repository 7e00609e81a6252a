"""Settings for all tests."""

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from motif.runtime.progress import COMPILATION

# A busy machine is not an error: examples and their generation have no deadline.
settings.register_profile("busy", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
# If a shell starts tests in the background, or nohup does, they ignore a signal, and so would the processes
# that they start and interrupt.  Handlers are not inherited: those processes have the default again.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)
# The output of a command in a test must not depend on which kernels are in the cache.
COMPILATION.is_said = True


def pytest_collection_finish() -> None:
    """Exempt the thousands of collected tests from garbage collection, which would go over them again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(autouse=True, scope="session")
def _few_blocks() -> Iterator[None]:
    """Play short contests in one block, which takes half of the time; results do not depend on blocks."""
    from motif.contests import pairs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_MIN_AT_ONCE", 64)
        yield


@pytest.fixture
def undrawn(monkeypatch) -> None:
    """Save empty PNG pictures: drawing takes most of the time of reports, and tests/reports checks it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def print_png(self, path, *, metadata=None):
        Path(path).write_bytes(b"\x89PNG\r\n\x1a\n")

    monkeypatch.setattr(FigureCanvasAgg, "print_png", print_png)


@pytest.fixture(name="matches", scope="session")
def _matches(tmp_path_factory) -> Path:
    """A folder of three match files, the records `played` of the seeds 0 to 2."""
    from motif.board.match_file import write_match
    from tests.board.test_mat_file import played

    folder = tmp_path_factory.mktemp("matches")
    for seed in range(3):
        write_match(folder / f"{seed}.mat", played(seed))
    return folder
