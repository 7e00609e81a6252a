"""The heads of one position class: which there are, the rows that each is fitted to, and the fit."""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from motif.board.position import CHECKERS, Board
from motif.bootstrap.class_rows import LABELS, ClassRows
from motif.bootstrap.fit_settings import FitSettings
from motif.evaluators import OUTPUTS
from motif.evaluators.squash import bounds
from motif.fitting.link import Link
from motif.fitting.problem import Problem
from motif.fitting.result import FitResult
from motif.fitting.solve import solver
from motif.fitting.terms import Terms
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import FitError

_NEEDED_CLASSES = ("contact", "race")
"""The others are evaluated as contact where they have no weights of their own."""
# Backgammons are too rare for second-degree weights.
_LINEAR_HEADS = ("win_backgammon", "lose_backgammon")


def heads_to_fit(rows: Mapping[str, ClassRows], settings: FitSettings) -> Iterator[tuple[str, str]]:
    """Class and head of every fit that `rows`, by class, allow, in the weight file's order.

    Raises `FitError` when a class that no evaluator can do without has no rows to train on.
    """
    for class_name in CLASS_NAMES:
        if class_name not in rows or not rows[class_name].training:
            if class_name in _NEEDED_CLASSES:
                raise FitError(f"the dataset holds no {class_name} positions to train on: sample more games")
            continue
        boards = rows[class_name].boards[: rows[class_name].training]
        for head in _heads(class_name, settings):
            if possible(head, boards).any():
                yield class_name, head


def head_terms(head: str, size: int, settings: FitSettings) -> Terms:
    """What is weighted in a head of a parameter set of `size` parameters."""
    pairs = settings.terms == "pairs" and head not in _LINEAR_HEADS
    return Terms.all_pairs(size) if pairs else Terms.linear(size)


def fit_head(rows: ClassRows, head: str, settings: FitSettings) -> FitResult:
    """Fit one head of a class to its rows, at least one of which must train it."""
    problem = _problem(rows, head, settings)
    solve = solver(settings.method)
    if settings.max_passes is None:
        return solve(problem)
    return solve(problem, max_passes=settings.max_passes)


def _heads(class_name: str, settings: FitSettings) -> tuple[str, ...]:
    if settings.heads == "win":
        return ("win",)
    # A squashed equity cannot say that a race is won or lost for certain; chances can.
    return OUTPUTS if class_name == "race" else LABELS


def possible(head: str, boards: Board) -> npt.NDArray[np.bool_]:
    """Where the chance is not 0 by the rules: no gammon once the loser has borne off a checker."""
    if not head.startswith(("win_", "lose_")):
        return np.ones(len(boards), np.bool_)
    loser = -boards if head.startswith("win_") else boards
    all_there: npt.NDArray[np.bool_] = np.maximum(loser, 0).sum(axis=1) == CHECKERS
    return all_there


def _problem(rows: ClassRows, head: str, settings: FitSettings) -> Problem:
    use = possible(head, rows.boards)
    # All rows are used as they lie, mapped from their file; only a choice of them is a copy.
    which = slice(None) if use.all() else use
    training = (np.arange(len(rows)) < rows.training)[which]
    equity = head == "equity"
    return Problem(
        rows.features[which],
        rows.labels[which, LABELS.index(head)].astype(np.float64),
        head_terms(head, rows.features.shape[1], settings),
        Link(*bounds(head)),
        decisions=rows.decisions[which],
        training=training,
        # A problem's error is a mean, so the same prior weighs less the more rows there are.
        ridge=(settings.equity_ridge if equity else settings.ridge) / np.count_nonzero(training),
        ranking=settings.equity_ranking if equity else 0.0,
    )
