"""How fits end and what they report: history, stop reasons, determinism, memory, errors."""

import itertools
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from motif.fitting import design
from motif.fitting.coordinate import solve_coordinate
from motif.fitting.objective import FAILURES, Ending, rmse
from motif.fitting.solvers import SOLVERS, solver
from motif.runtime.errors import FitError
from tests.fitting.fitting_samples import decision_ids, noisy_problem

ROOT = Path(__file__).resolve().parents[2]
every_solver = pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)


def test_the_documentation_lists_every_ending():
    text = (ROOT / "docs" / "explanation" / "how-it-learns.md").read_text("utf-8")
    table, _, rest = text.partition("| stopped | meaning |\n|---|---|\n")[2].partition("\n\n")
    listed = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    assert listed == [ending.value for ending in Ending]
    assert listed[-len(FAILURES) :] == [ending.value for ending in FAILURES]
    assert rest.startswith("The last four are failures.")


@every_solver
def test_history_shows_the_fit(solve):
    seen = []
    problem = noisy_problem(3000, 5, training=decision_ids(3000) % 5 != 0)
    result = solve(problem, on_pass=seen.append)
    assert tuple(seen) == result.history
    assert [record.number for record in seen] == list(range(result.passes + 1))
    for before, after in itertools.pairwise(seen):
        assert after.error <= before.error * (1 + 1e-12)
        assert after.seconds >= before.seconds
    assert result.rmse_train == seen[-1].rmse_train == pytest.approx(np.sqrt(seen[-1].error), rel=1e-6)
    assert result.rmse_train == pytest.approx(rmse(problem, problem.train, result.weights), rel=1e-6)
    assert result.rmse_validation == rmse(problem, problem.validation, result.weights)
    assert result.weights.dtype == np.float64
    assert result.weights.shape == (problem.terms.count,)


@every_solver
def test_same_bytes_for_any_number_of_threads(solve, monkeypatch):
    problem = noisy_problem(3 * design._CHUNK_ROWS, 8, training=decision_ids(3 * design._CHUNK_ROWS) % 9 != 0)
    results = []
    for threads in (1, 2, 4):
        monkeypatch.setattr(design, "threads_here", lambda threads=threads: threads)
        results.append(solve(problem, max_passes=4))
    for other in results[1:]:
        assert other.weights.tobytes() == results[0].weights.tobytes()
        assert other.rmse_validation == results[0].rmse_validation


@every_solver
def test_pass_limit(solve):
    result = solve(noisy_problem(2000, 8), max_passes=2)
    assert (result.stopped, result.passes) == ("pass limit", 2)


@every_solver
def test_caller_can_stop_a_fit(solve):
    result = solve(noisy_problem(2000, 8), on_pass=lambda record: record.number == 3)
    assert (result.stopped, result.passes) == ("stopped by the caller", 3)


@every_solver
def test_the_matrix_of_terms_is_never_held(solve):
    problem = noisy_problem(60_000, 16)
    solve(problem, max_passes=1)
    tracemalloc.start()
    try:
        solve(problem, max_passes=6)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    matrix = len(problem.train) * problem.terms.count * np.dtype(np.float32).itemsize
    assert peak < matrix / 2


def test_solver_by_name():
    assert solver("coordinate") is solve_coordinate
    with pytest.raises(FitError) as caught:
        solver("magic")
    assert str(caught.value) == (
        "unknown method 'magic': choose one of coordinate, least-squares, gauss-newton, keith"
    )
