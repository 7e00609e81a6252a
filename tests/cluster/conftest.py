import pytest

from motif.runtime import cluster as cluster_module
from tools.local_cluster import PATIENCE, machines


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Give a cluster enough time to answer on a busy machine."""
    for name in ("_ANSWER_SECONDS", "_FIRST_WORKER_SECONDS", "_WITHOUT_WORKERS_SECONDS"):
        monkeypatch.setattr(cluster_module, name, PATIENCE)


@pytest.fixture(scope="session")
def cluster():
    """Yield the address of a scheduler with two workers that last for all tests."""
    # By default, every two seconds the scheduler lets workers forget data that none of their calls needs now,
    # and later sends it again.
    with machines(2, DASK_DISTRIBUTED__SCHEDULER__ACTIVE_MEMORY_MANAGER__START="False") as started:
        yield started.address
