"""Check of a fit: SciPy's least squares fits one of the heads again.

Both minimise the same error and stop by the same rules, so they should reach the same weights. The head that
is fastest to fit is checked, so the check takes little time compared with the fits that run beside it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from motif.evaluators.weight_file import HeadKey
from motif.fitting import least_squares
from motif.fitting.objective import FitResult
from motif.fitting.solvers import solver
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import HeadFit, head_problem, head_terms, rows_of_head
from motif.learning.rows import ClassRows


@dataclass(frozen=True)
class CrossCheck:
    """A head fitted by the method of a run and by SciPy."""

    place: str
    """Class and head: "race.win"."""
    terms: int
    """Number of weights without the bias."""
    positions: int
    """Number of positions of both fits."""
    method: str
    rmse_train: float
    seconds: float
    check_method: str
    check_rmse_train: float
    seconds_check: float
    check_stopped: str
    error_difference: float
    """Relative difference between the two objectives."""
    weight_difference: float
    """Largest difference between weights, relative to the largest weight."""

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for a report."""
        return asdict(self)


def head_to_check(
    rows: Mapping[str, ClassRows], heads: Iterable[HeadKey], settings: FitSettings
) -> HeadKey | None:
    """Return class and head of the fastest fit of `heads`; None if SciPy fits all of them anyway.

    Heads with second-degree terms are preferred.
    """
    if settings.method == least_squares.METHOD:
        return None

    def cost(key: HeadKey) -> tuple[bool, int, str, str]:
        part = rows[key.class_name]
        terms = head_terms(*key, part.features.shape[1], settings)
        boards = part.boards[: part.training]
        count = int(np.count_nonzero(rows_of_head(boards, key.head, settings)))
        return not len(terms.pairs), count * terms.count, *key

    return min(heads, key=cost, default=None)


def check_fit(rows: ClassRows, head: str, settings: FitSettings) -> tuple[FitResult, int]:
    """Fit a head by SciPy to the same objective as `fit_head`; return the fit and the number of positions."""
    problem = head_problem(rows, head, settings)
    # The number of passes depends on the method.
    result = solver(least_squares.METHOD)(problem, tolerance=settings.tolerance)
    return result, len(problem.train)


def compared(key: HeadKey, fit: HeadFit, check: tuple[FitResult, int]) -> CrossCheck:
    """Return both fits of the head `key`; for a pruned head, the fit with every term."""
    own, (other, positions) = (fit.unpruned or fit).result, check
    least = min(own.errors[-1], other.errors[-1])
    difference = abs(own.errors[-1] - other.errors[-1])
    largest = float(np.abs(other.weights).max())
    apart = float(np.abs(own.weights - other.weights).max())
    return CrossCheck(
        ".".join(key),
        own.terms,
        positions,
        own.method,
        own.rmse_train,
        own.seconds,
        other.method,
        other.rmse_train,
        other.seconds,
        other.stopped,
        difference / least if least > 0 else 0.0,
        apart / largest if largest > 0 else 0.0,
    )
