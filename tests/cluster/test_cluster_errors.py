"""Unusable clusters: a one-line message, within seconds."""

import shutil
import socket
import sys
import time

import pytest

from motif.cli.main import main
from motif.runtime import cluster as cluster_module
from motif.runtime.errors import ClusterError
from motif.runtime.package import install_command
from motif.runtime.parallel import run_ordered, working_on
from tests.cluster.work import napping
from tools.local_cluster import HOST, ROOT, machines


@pytest.fixture
def impatient(monkeypatch):
    for name in ("_ANSWER_SECONDS", "_FIRST_WORKER_SECONDS", "_WITHOUT_WORKERS_SECONDS"):
        monkeypatch.setattr(cluster_module, name, 1)


def refusal(address: str) -> str:
    with pytest.raises(ClusterError) as caught, working_on(address):
        pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["", "localhost", f"{HOST}:8786", "tcp://", "tcp://:8786", f"tcp://{HOST}", f"tcp://{HOST}:x",
     f"tcp://{HOST}:99999", f"http://{HOST}:8786", f"tcp://{HOST}:8786/path"],
)  # fmt: skip
def test_a_malformed_address(address):
    assert refusal(address) == f"invalid cluster {address!r}: it must be tcp://HOST:PORT"


def test_dask_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert refusal(f"tcp://{HOST}:8786") == f"a cluster requires dask: {install_command('cluster')}"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("listens", [False, True])
def test_no_answer(listens):
    with socket.socket() as stranger:
        stranger.bind((HOST, 0))
        if listens:
            stranger.listen()
        address = f"tcp://{HOST}:{stranger.getsockname()[1]}"
        started = time.monotonic()
        assert refusal(address).startswith(f"{address}: no dask scheduler answers: ")
        # Dask's default timeout is 30.
        assert time.monotonic() - started < 25


@pytest.mark.parametrize(
    "words",
    [
        ("sample", "--out", "{}", "--games", "1", "--trials", "1"),
        ("bootstrap", "--out", "{}"),
        ("match", "pubeval", "random"),
    ],
)
def test_the_commands_say_so(tmp_path, capfd, words):
    filled = [word.format(tmp_path / "out") for word in words]
    assert main([*filled, "--cluster", "tcp:/127.0.0.1"]) == 2
    assert capfd.readouterr() == (
        "",
        "motif: error: invalid cluster 'tcp:/127.0.0.1': it must be tcp://HOST:PORT\n",
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_workers_and_scheduler_disappear(monkeypatch):
    monkeypatch.setattr(cluster_module, "_WITHOUT_WORKERS_SECONDS", 1)
    with machines(0) as started:
        with monkeypatch.context() as changed:
            changed.setattr(cluster_module, "_FIRST_WORKER_SECONDS", 1)
            assert refusal(started.address) == f"{started.address}: the scheduler has no workers"
        worker = started.add_worker()
        started.wait_for_workers()
        with working_on(started.address):
            calls = ((number, 0.1) for number in range(100))
            results = run_ordered(napping, calls)
            assert next(results) == 0
            worker.kill()
            with pytest.raises(ClusterError, match=r": no worker for 1 seconds$"):
                list(results)
            results = run_ordered(napping, [(1,)])
            started.scheduler.kill()
            for _ in range(2):
                with pytest.raises(ClusterError, match=r": the scheduler is no longer reachable$"):
                    list(results)
                results = run_ordered(napping, [(1,)])


@pytest.fixture
def other_source(tmp_path):
    """Make a folder with a motif that differs by one comment."""
    ignored = shutil.ignore_patterns("__pycache__")
    package = shutil.copytree(ROOT / "motif", tmp_path / "motif", ignore=ignored)
    with open(package / "board" / "dice.py", "a", encoding="utf-8") as changed:
        changed.write("# a thought\n")
    return tmp_path


@pytest.mark.slow
def test_a_worker_without_motif(tmp_path):
    (tmp_path / "motif.py").write_text("raise ImportError('not here')")
    with machines(0) as started:
        started.add_worker(PYTHONPATH=str(tmp_path))
        started.wait_for_workers()
        assert ": cannot run motif: ImportError('not here')" in refusal(started.address)


def test_a_worker_with_another_source(other_source):
    with machines(1) as started:
        with working_on(started.address):
            started.add_worker(PYTHONPATH=f"{other_source}:{ROOT}")
            started.wait_for_workers()
            with pytest.raises(ClusterError, match="its motif or its libraries differ from this program's"):
                list(run_ordered(napping, ((number, 0.05) for number in range(400))))
        said = refusal(started.address)
        assert said.startswith(f"tcp://{HOST}:")
        assert ": has source " in said
        assert said.endswith("; results would differ")
