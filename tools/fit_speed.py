"""Measure how fast motif's solvers and those of other libraries reach an error; part of `make bench`.

``python -m tools.fit_speed docs/explanation/fit-speed.md`` writes the table into the page; ``--json`` prints
it as one JSON object. ``--size small`` skips the large problem, which needs 8 GB of memory and about ten
minutes.

Positions are from PubEval's games against itself, features are those of a parameter set with all pairs, and
labels are the default player's win probability estimated by 36 coin tosses. Each method runs in its own
process on one core. motif minimises the error after tanh; the others solve the linear problem with the same
labels and the same ridge. Each must come within `TOLERANCE` of the lowest RMSE of its own problem. The others
receive the matrix of terms, centred, in their preferred layout and precision; the time to build it is not
included.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.packed import pack_many
from motif.evaluators import load_static
from motif.evaluators.known_players import default_player
from motif.fitting.problem import Problem
from motif.fitting.solvers import solver
from motif.fitting.terms import Terms
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.parameters.position_class import CONTACT, classify_many
from motif.players import load
from motif.rollouts.games import SeededDice, lockstep, starts
from motif.runtime.errors import FitError
from motif.runtime.layout import percent
from motif.runtime.parallel import one_thread
from tools.marked_page import reporting, write_region

TOLERANCE = 1e-3
"""Share by which an RMSE may exceed the lowest RMSE."""
SIZES = {"large": ("motif", 250_000), "small": ("keith", 100_000)}
"""Parameter set and positions."""
OWN = ("coordinate", "gauss-newton", "least-squares", "keith")
NAMES = {
    "reading": "reading the matrix of terms once",
    "coordinate": "motif, coordinate descent",
    "gauss-newton": "motif, Gauss-Newton",
    "least-squares": "motif, least squares (SciPy's `least_squares`)",
    "keith": "motif, Keith's own descent",
    "ridge": "scikit-learn `Ridge`, Cholesky",
    "elastic-net": "scikit-learn `ElasticNet`, sweeps over rows",
    "elastic-net-gram": "scikit-learn `ElasticNet`, sweeps over the Gram matrix",
    "skglm": "skglm `AndersonCD`",
    "lsq-linear": "SciPy `lsq_linear`, LSMR",
}
_RIDGE = 5.0
_TRIALS = 36
_POSITIONS_A_GAME = 35
_PLIES = 60
_EXACT = 1e-8
_SWEEPS = 10
"""Sweeps between checks of the error, whose time is not counted."""
_GROWTH = 1.5
"""LSMR reports no progress: it is restarted with more and more steps, and the last run counts."""
_MEBI = 1024**2
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Timed:
    """Cost of a method; None where unknown."""

    method: str
    seconds: float | None = None
    """Wall-clock seconds until the error was reached."""
    processor_seconds: float | None = None
    """Processor seconds of one core, which other work on the machine affects little."""
    passes: int | None = None
    """Passes, sweeps or steps."""
    pass_seconds: float | None = None
    """Median processor seconds of a pass after the first three."""
    rmse: float | None = None
    """The final RMSE."""
    memory: float | None = None
    """Peak memory of the process in MiB, including data and interpreter."""
    why_not: str | None = None


class _Clock:
    """Wall-clock and processor seconds."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._wall, time.process_time() - self._processor


def made_samples(positions: int) -> tuple[Array, Array]:
    """Return distinct contact positions, boards (n, 26), and their labels (n,)."""
    games = -(-positions // _POSITIONS_A_GAME)
    dice = SeededDice(0).of(np.arange(games))
    plies = zip(range(_PLIES), lockstep(load("pubeval").choose_many, dice, starts(games)), strict=False)
    boards = np.concatenate([ply.boards for _, ply in plies])
    boards = np.unique(boards[classify_many(pack_many(boards)) == CONTACT], axis=0)
    random = np.random.default_rng(0)
    boards = boards[random.permutation(len(boards))[:positions]]
    chances = load_static(default_player()).evaluate_many(boards)[:, 0]
    return boards, random.binomial(_TRIALS, np.clip(chances, 0, 1)) / _TRIALS


def matrix_of(terms: Terms, values: Array, kind: type = np.float32) -> Array:
    """Return every term except the constant, centred, in column order."""
    matrix: Array = np.empty((len(values), terms.count - 1), kind, order="F")
    for begin in range(0, len(values), 1 << 13):
        part = slice(begin, begin + (1 << 13))
        matrix[part] = terms.expand(values[part])[:, 1:]
    for column in matrix.T:
        column -= column.mean(dtype=np.float64)
    return matrix


def _rmse(matrix: Array, labels: Array, weights: Array) -> float:
    return float(np.sqrt(np.mean((matrix @ weights.astype(matrix.dtype) - labels) ** 2)))


def of_own(method: str, terms: Terms, values: Array, labels: Array, least: float, limit: float) -> Timed:
    """Measure one of motif's solvers, stopped when it reaches the error."""
    ridge = _RIDGE / len(labels)
    try:
        few = Problem(values[:3000], labels[:3000], terms, ridge=ridge)
        solver(method)(few, max_passes=3)  # compiles
        problem, ends, clock = Problem(values, labels, terms, ridge=ridge), [], _Clock()

        def is_there(record: Any) -> bool:
            ends.append((*clock.read(), record.rmse_train))
            return record.rmse_train <= least * (1 + TOLERANCE) or ends[-1][1] > limit

        solver(method)(problem, on_pass=is_there, tolerance=_EXACT)
    except FitError as error:
        return Timed(method, why_not=str(error))
    wall, processor, rmse = ends[-1]
    lengths = np.diff([end[1] for end in ends])[3:]
    median = float(np.median(lengths)) if len(lengths) else None
    return Timed(method, wall, processor, len(ends) - 1, median, rmse)


def in_blocks(
    method: str, steps: Iterator[Array], rmse: Callable[[Array], float], least: float, limit: float
) -> Timed:
    """Return a peer whose `steps` each run `_SWEEPS` more sweeps and return the weights."""
    wall, processor, sweeps, reached = 0.0, 0.0, 0, np.inf
    while reached > least * (1 + TOLERANCE) and processor < limit:
        clock = _Clock()
        weights = next(steps)
        wall, processor = (sum(pair) for pair in zip((wall, processor), clock.read(), strict=True))
        reached, sweeps = rmse(weights), sweeps + _SWEEPS
    return Timed(method, wall, processor, sweeps, processor / sweeps, reached)


def _elastic_net(matrix: Array, labels: Array, ridge: float, from_gram: bool) -> Iterator[Array]:
    from sklearn.linear_model import ElasticNet

    net = ElasticNet(
        ridge, l1_ratio=0.0, fit_intercept=False, copy_X=False, warm_start=True, tol=0.0, max_iter=_SWEEPS
    )
    if from_gram:
        net.precompute = matrix.T @ matrix
    while True:
        yield net.fit(matrix, labels).coef_


def _anderson(matrix: Array, labels: Array, ridge: float) -> Iterator[Array]:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Quadratic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import AndersonCD

    how = AndersonCD(
        max_iter=1, max_epochs=_SWEEPS, p0=matrix.shape[1], tol=1e-12, ws_strategy="fixpoint",
        fit_intercept=False, warm_start=True,
    )  # fmt: skip
    model = GeneralizedLinearEstimator(Quadratic(), L1_plus_L2(ridge, 0.0), how)
    few = GeneralizedLinearEstimator(Quadratic(), L1_plus_L2(ridge, 0.0), how)
    few.fit(np.asfortranarray(matrix[:100]), labels[:100])  # compiles
    return (model.fit(matrix, labels).coef_ for _ in count())


def of_peer(method: str, terms: Terms, values: Array, labels: Array, least: float, limit: float) -> Timed:
    """Measure another library's solver on the linear problem, stopped when it reaches the error."""
    exact = method == "lsq-linear"
    matrix = matrix_of(terms, values, np.float64 if exact else np.float32)
    labels = (labels - labels.mean()).astype(matrix.dtype)
    ridge = _RIDGE / len(labels)
    if method == "reading":
        seconds = []
        for _ in range(5):
            clock = _Clock()
            labels @ matrix
            seconds.append(clock.read())
        wall, processor = np.min(seconds, axis=0)
        return Timed(method, wall, processor)
    if method == "ridge":
        from sklearn.linear_model import Ridge

        model, clock = Ridge(_RIDGE, fit_intercept=False, solver="cholesky", copy_X=False), _Clock()
        model.fit(matrix, labels)
        wall, processor = clock.read()
        return Timed(method, wall, processor, rmse=_rmse(matrix, labels, model.coef_))
    if method == "lsq-linear":
        return of_lsmr(matrix, labels, ridge, least, limit)
    blocks = {
        "elastic-net": lambda: _elastic_net(matrix, labels, ridge, False),
        "elastic-net-gram": lambda: _elastic_net(matrix, labels, ridge, True),
        "skglm": lambda: _anderson(matrix, labels, ridge),
    }[method]()
    return in_blocks(method, blocks, lambda weights: _rmse(matrix, labels, weights), least, limit)


def of_lsmr(matrix: Array, labels: Array, ridge: float, least: float, limit: float) -> Timed:
    """Measure `lsq_linear`, with rows for the ridge, restarted with more steps until it reaches the error."""
    from scipy.optimize import lsq_linear
    from scipy.sparse.linalg import LinearOperator

    size, root = matrix.shape[1], np.sqrt(ridge * len(labels))
    operator = LinearOperator(
        (len(labels) + size, size),
        matvec=lambda x: np.concatenate([matrix @ x, root * x]),
        rmatvec=lambda r: r[: len(labels)] @ matrix + root * r[len(labels) :],
        dtype=np.float64,
    )
    aims, steps = np.concatenate([labels, np.zeros(size)]), 20.0
    while True:
        clock = _Clock()
        found = lsq_linear(
            operator,
            aims,
            method="trf",
            lsq_solver="lsmr",
            tol=1e-14,
            lsmr_tol=1e-14,
            lsmr_maxiter=int(steps),
        )
        wall, processor = clock.read()
        reached = _rmse(matrix, labels, found.x)
        if reached <= least * (1 + TOLERANCE) or processor * _GROWTH > limit:
            return Timed("lsq-linear", wall, processor, int(steps), processor / int(steps), reached)
        steps *= _GROWTH


def stay_on_one_core() -> None:
    """Keep this process on one core, where the system allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def worked_apart(module: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run ``python -m MODULE --work WORDS`` in a process whose numerical libraries use one thread."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-m", module, "--work", *words]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)


def work(folder: Path, method: str, least: float, limit: float) -> Timed:
    """Measure one method on the samples in `folder`; runs in its own process."""
    warnings.simplefilter("ignore")
    stay_on_one_core()
    values, labels = np.load(folder / "features.npy"), np.load(folder / "labels.npy")
    terms = Terms.all_pairs(values.shape[1])
    with one_thread():
        if method in OWN:
            timed = of_own(method, terms, values, labels, least, limit)
        else:
            try:
                timed = of_peer(method, terms, values, labels, least, limit)
            except ImportError as error:
                return Timed(method, why_not=f"not installed ({error.name})")
    # In KiB, except on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _MEBI
    return Timed(**{**asdict(timed), "memory": memory})


def _in_process(folder: Path, method: str, least: float, limit: float) -> Timed:
    done = worked_apart("tools.fit_speed", str(folder), method, repr(least), repr(limit))
    if done.returncode:
        return Timed(method, why_not=f"ended with code {done.returncode} (memory?)")
    return Timed(**json.loads(done.stdout.splitlines()[-1]))


def measured(name: str, limit: float, positions: int | None = None) -> dict[str, Any]:
    """Measure all methods on the problem of one size; return the figures for JSON."""
    set_name, most = SIZES[name]
    parameters = parameter_set(set_name)
    with tempfile.TemporaryDirectory(prefix="motif-fit-speed-") as place:
        folder = Path(place)
        boards, labels = made_samples(positions or most)
        np.save(folder / "features.npy", features(parameters, boards))
        np.save(folder / "labels.npy", labels)
        # The lowest errors, after tanh and of the linear problem.
        exact = _in_process(folder, "gauss-newton", 0.0, np.inf)
        rows = {"ridge": _in_process(folder, "ridge", 0.0, np.inf)}
        squashed, linear = exact.rmse, rows["ridge"].rmse
        assert squashed is not None
        assert linear is not None
        for method in NAMES:
            if method not in rows:
                rows[method] = _in_process(folder, method, squashed if method in OWN else linear, limit)
            print(rows[method], file=sys.stderr)
    return {
        "size": name,
        "parameters": set_name,
        "positions": len(labels),
        "columns": Terms.all_pairs(len(parameters)).count,
        "labels": default_player(),
        "rmse_squashed": squashed,
        "rmse_linear": linear,
        "limit": limit,
        "load": os.getloadavg()[0],
        "methods": [asdict(rows[method]) for method in NAMES],
    }


def table(facts: dict[str, Any]) -> list[str]:
    """Return the table of one size as Markdown."""
    lines = [
        f"{facts['positions']:,} positions, set `{facts['parameters']}`, {facts['columns']:,} columns with "
        f"the bias; lowest RMSE {facts['rmse_squashed']:.5f} after tanh, {facts['rmse_linear']:.5f} linear:",
        "",
        "| | processor seconds | seconds | passes | per pass | above the lowest RMSE | memory, MiB |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in facts["methods"]:
        name = NAMES[row["method"]]
        if row["why_not"]:
            lines.append(f"| {name} | {row['why_not']} | | | | | |")
            continue
        least = facts["rmse_squashed" if row["method"] in OWN else "rmse_linear"]
        excess = None if row["rmse"] is None else row["rmse"] / least - 1
        late = excess is not None and excess > TOLERANCE
        cells = [
            ("over " if late else "") + f"{row['processor_seconds']:.2f}",
            f"{row['seconds']:.2f}",
            "" if row["passes"] is None else f"{row['passes']}",
            "" if row["pass_seconds"] is None else f"{row['pass_seconds']:.3f}",
            "" if excess is None else percent(excess, 2),
            f"{row['memory']:,.0f}",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, "", f"Load average at the end: {facts['load']:.1f}.", ""]


@reporting
def main() -> None:
    """Measure, print, and write the page if one is given."""
    parser = argparse.ArgumentParser(
        description="Measure the time to an error of motif's solvers and others."
    )
    parser.add_argument("page", nargs="?", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--size", choices=[*SIZES, "both"], default="both")
    parser.add_argument("--positions", type=int, help="number of positions instead of the default")
    parser.add_argument(
        "--limit", type=float, default=120.0, help="processor seconds after which a method is stopped"
    )
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        folder, method, least, limit = options.work
        print(json.dumps(asdict(work(Path(folder), method, float(least), float(limit)))))
        return
    names = list(SIZES) if options.size == "both" else [options.size]
    facts = [measured(name, options.limit, options.positions) for name in names]
    lines = [line for each in facts for line in table(each)]
    print(json.dumps({"sizes": facts}) if options.json else "\n".join(lines))
    if options.page:
        write_region(options.page, "fit speed", lines)


if __name__ == "__main__":
    sys.exit(main())
