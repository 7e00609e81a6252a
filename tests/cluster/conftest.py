import pytest

from tests.cluster.processes import machines


@pytest.fixture(scope="session")
def cluster():
    """Address of a scheduler with two workers that live as long as the tests."""
    with machines(2) as started:
        yield started.address
