"""The number of inputs for each reader, and their seed.

The ordinary test run gives each reader a few; `make fuzz` sets FUZZ_CASES to 20,000. FUZZ_SEED, 0 by default,
selects other sequences; the same seed gives the same inputs.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from tests.fuzz.reader_process import Check, ReaderProcess

CASES = int(os.environ.get("FUZZ_CASES", "60"))
SEED = int(os.environ.get("FUZZ_SEED", "0"))
CASES_AT_ONCE = 10
PROFILE = hypothesis.settings(
    database=None,
    deadline=None,  # the reading process has its own deadline
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
    print_blob=False,
    verbosity=hypothesis.Verbosity.quiet,  # the error shows the input
)

_report: list[str] = []


class _Several:
    """Inputs of one call; its representation is short, because an error shows the relevant input."""

    def __init__(self, cases: list[Any]) -> None:
        self.cases = cases

    def __repr__(self) -> str:
        return f"{len(self.cases)} inputs"


Fuzz = Callable[..., None]


@pytest.fixture(scope="session")
def reader(tmp_path_factory) -> Iterator[ReaderProcess]:
    process = ReaderProcess(tmp_path_factory.mktemp("fuzz"))
    yield process
    process.stop()


@pytest.fixture
def fuzz(reader, request) -> Fuzz:
    """Give `check` the `inputs`, `CASES` of them, after it has accepted all of `valid`."""

    def run(check: Check, inputs: st.SearchStrategy[Any], *, valid: Sequence[Any]) -> None:
        reader.warm_up(check, valid)
        count, accepted, slowest = 0, 0, 0.0

        @hypothesis.seed(f"{check.__name__} {SEED}")
        @hypothesis.settings(PROFILE, max_examples=-(-CASES // CASES_AT_ONCE))
        @given(st.lists(inputs, min_size=CASES_AT_ONCE, max_size=CASES_AT_ONCE).map(_Several))
        def cases(some: _Several) -> None:
            nonlocal count, accepted, slowest
            outcome = reader.run(check, some.cases)
            count += len(some.cases)
            accepted += outcome.accepted
            slowest = max(slowest, outcome.slowest)

        cases()
        name = request.node.name.removeprefix("test_").replace("_", " ")
        _report.append(f"{name}: {count} inputs, {accepted} accepted, the slowest {1000 * slowest:.0f} ms")
        assert count >= CASES

    return run


def pytest_terminal_summary(terminalreporter) -> None:
    if "FUZZ_CASES" in os.environ:
        for line in _report:
            terminalreporter.write_line(line)
