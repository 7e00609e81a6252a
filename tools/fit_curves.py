"""Measure how the error of a fit falls, by pass and by second, for each of motif's solvers.

``python -m tools.fit_curves docs/explanation/fit-speed.md`` writes the table into the page and the picture to
``docs/images/fit-curves.png``; ``--json`` prints the curves as one JSON object. `make bench-fit` includes it.

The samples are those of `tools.fit_speed`, as many as version one of Tom Keith's procedure has: 56,133
positions, 19 parameters and their pairs. Each solver runs to convergence in its own process on one core,
measured in processor seconds. The error is the square root of the objective, ridge included, relative to the
lowest of all solvers.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from motif.evaluators.known_players import default_player
from motif.fitting.objective import PassRecord
from motif.fitting.problem import Problem
from motif.fitting.solvers import solver
from motif.fitting.terms import Terms
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.reports.style import BLUE, FAINT, GREEN, INK, SMALL, VERMILION, picture, sample_line
from motif.runtime.arrays import Float32Array, FloatArray
from motif.runtime.errors import SettingError
from motif.runtime.parallel import one_thread
from tools.fit_speed import made_samples, stay_on_one_core, worked_apart
from tools.import_graph import ROOT
from tools.marked_page import reporting, write_region

REGION = "fit curves"
POSITIONS = 56_133
PICTURE = ROOT / "docs" / "images" / "fit-curves.png"
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "keith": ("Keith's descent", {"color": VERMILION, "linestyle": "-"}),
    "coordinate": ("coordinate descent on a model", {"color": BLUE, "linestyle": "--", "marker": "s"}),
    "gauss-newton": ("Gauss-Newton", {"color": GREEN, "linestyle": "-.", "marker": "o"}),
    "least-squares": ("SciPy's least squares", {"color": INK, "linestyle": ":", "marker": "^"}),
}
"""Solvers, with their names and styles in the picture."""
SHARES = (0.1, 0.01, 0.001, 0.0001)
"""Errors above the minimum, the columns of the table."""
_RIDGE = 5.0
_MIN_DRAWN = 1e-6
"""Share above the minimum at which the picture ends."""
_SIGNIFICANT = 10.0


@dataclass(frozen=True)
class Curve:
    """Errors of one fit."""

    method: str
    seconds: Sequence[float]
    """Processor seconds since the fit began, at the start and after each pass."""
    errors: Sequence[float]
    """Square root of the objective, in the same order."""
    stopped: str

    def reached(self, error: float) -> int | None:
        """Return the first pass with at most this error; None if there is none."""
        return next((k for k, value in enumerate(self.errors) if value <= error), None)


def fitted_curve(method: str, values: Float32Array, labels: FloatArray) -> Curve:
    """Fit with one of `METHODS` until it stops."""
    terms, ridge = Terms.all_pairs(values.shape[1]), _RIDGE / len(labels)
    few = Problem(values[:3000], labels[:3000], terms, ridge=ridge)
    solver(method)(few, max_passes=3)  # compiles
    problem, ends = Problem(values, labels, terms, ridge=ridge), list[tuple[float, float]]()
    begin = time.process_time()

    def note(record: PassRecord) -> None:
        ends.append((time.process_time() - begin, float(np.sqrt(record.error))))

    result = solver(method)(problem, on_pass=note)
    seconds, errors = zip(*ends, strict=True)
    return Curve(method, seconds, errors, result.stopped)


def measured(positions: int) -> list[Curve]:
    """Return the curves of all methods, each from its own process."""
    curves = []
    with tempfile.TemporaryDirectory(prefix="motif-fit-curves-") as place:
        boards, labels = made_samples(positions)
        np.save(Path(place) / "features.npy", features(parameter_set("keith"), boards))
        np.save(Path(place) / "labels.npy", labels)
        for method in METHODS:
            done = worked_apart("tools.fit_curves", place, method)
            if done.returncode:
                raise SettingError(f"the fit by {method} ended with code {done.returncode}")
            curves.append(Curve(**json.loads(done.stdout.splitlines()[-1])))
            print(f"{method}: {len(curves[-1].errors) - 1} passes", file=sys.stderr)
    return curves


def least_error(curves: Sequence[Curve]) -> float:
    """Return the lowest error of all fits."""
    return min(error for curve in curves for error in curve.errors)


def draw(curves: Sequence[Curve], path: Path) -> None:
    """Draw the error by pass and by second, in two panels."""
    least = least_error(curves)
    with picture(path, 7.2, "How the error falls, by pass and by second") as figure:
        upper, lower = figure.subplots(2, 1, sharey=True)
        for curve in curves:
            above = [100 * (error / least - 1) for error in curve.errors[1:]]
            drawn = [k for k, share in enumerate(above) if share > 100 * _MIN_DRAWN]
            look = {"markersize": 4, **METHODS[curve.method][1]}
            upper.plot([1 + k for k in drawn], [above[k] for k in drawn], **look)
            lower.plot([curve.seconds[1 + k] for k in drawn], [above[k] for k in drawn], **look)
        for axes, label in ((upper, "passes (sweeps of Keith's descent)"), (lower, "processor seconds")):
            _dress(axes, label)
        figure.supylabel("error above the minimum, %", fontsize=SMALL)
        figure.legend(
            handles=[sample_line(METHODS[curve.method][1], METHODS[curve.method][0]) for curve in curves],
            loc="outside lower center",
            ncols=2,
        )


def _dress(axes: Axes, label: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axhline(1, color=FAINT, linewidth=1)
    axes.set_xlabel(label)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter("{x:g}")


def table(curves: Sequence[Curve]) -> list[str]:
    """Return the passes and seconds that each method takes to several errors, as Markdown."""
    least = least_error(curves)
    lines = [
        f"{POSITIONS:,} positions, set `keith`, 210 columns with the bias; minimum error {least:.5f}. Passes "
        "and processor seconds until the error is above the minimum by no more than",
        "",
        f"| | {' | '.join(f'{100 * share:g} %' for share in SHARES)} | at the end |",
        f"|---|{'---|' * (len(SHARES) + 1)}",
    ]
    for curve in curves:
        ends = [curve.reached(least * (1 + share)) for share in SHARES]
        cells = ["never" if end is None else _cell(curve, end) for end in ends]
        cells.append(f"{_cell(curve, len(curve.errors) - 1)}: {curve.stopped}")
        lines.append(f"| {METHODS[curve.method][0]} | {' | '.join(cells)} |")
    return lines


def _cell(curve: Curve, end: int) -> str:
    seconds = curve.seconds[end]
    return f"{end:,} in {seconds:.{0 if seconds >= _SIGNIFICANT else 2}f} s"


def work(place: Path, method: str) -> Curve:
    """Fit the samples in `place` with one method; runs in its own process."""
    stay_on_one_core()
    with one_thread():
        return fitted_curve(method, np.load(place / "features.npy"), np.load(place / "labels.npy"))


@reporting
def main() -> None:
    """Measure, print, and write the page and picture if a page is given."""
    parser = argparse.ArgumentParser(prog="tools.fit_curves", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("page", nargs="?", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        place, method = options.work
        print(json.dumps(asdict(work(Path(place), method))))
        return
    curves = measured(POSITIONS)
    lines = table(curves)
    facts = {"labels": default_player(), "curves": [asdict(curve) for curve in curves]}
    print(json.dumps(facts) if options.json else "\n".join(lines))
    if options.page:
        draw(curves, PICTURE)
        write_region(options.page, REGION, lines)


if __name__ == "__main__":
    sys.exit(main())
