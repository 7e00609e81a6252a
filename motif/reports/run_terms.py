"""The terms that matter of the last version of a run, with standard errors where these can be had."""

from collections.abc import Callable
from dataclasses import dataclass

from motif.fitting.term_table import HeadTerms
from motif.learning.bootstrap_run import TERMS
from motif.learning.rows import class_rows
from motif.learning.term_errors import settings_of, term_errors
from motif.reports.run_benchmark import static_player
from motif.reports.run_files import RunFiles
from motif.reports.terms import ToldTerm, board_terms, chosen_head, game_boards, table_terms, told_terms

CLASS = "contact"
"""The class whose terms the report of a run tells: most decisions are made there."""
_POSITIONS = 2000


@dataclass(frozen=True)
class RunTerms:
    """Terms of the head that chooses plays in contact."""

    head: str
    count: int
    """How many terms it has but for the bias."""
    source: str
    """Over which positions they are compared: "the positions that it was fitted to", say."""
    told: tuple[ToldTerm, ...]
    """Those that move its value most, most first."""


def run_terms(
    run: RunFiles,
    top: int,
    *,
    seed: int = 0,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> RunTerms:
    """The `top` terms of the last version that matter most.

    From its table of terms, or else from the samples that it was fitted to, both with standard errors;
    where these are gone, from its own games, drawn by `seed`, without.  Raises a `MotifError` for files
    that cannot be read.
    """
    weights = run.weights[run.last]
    head = chosen_head(weights, CLASS, None, None)
    found, source = _found(run, head, seed, jobs, tell)
    return RunTerms(head, len(found.names) - 1, source, told_terms(weights, found, top))


def _found(
    run: RunFiles, head: str, seed: int, jobs: int | None, tell: Callable[[str], None]
) -> tuple[HeadTerms, str]:
    weights, fitted = run.weights[run.last], "the positions that it was fitted to"
    table, place = run.homes[run.last] / TERMS, (CLASS, "", head)
    if table.exists():
        return table_terms(table, weights, *place), fitted
    if run.pools is not None:
        tell(f"{weights.name}: standard errors of the terms")
        settings = settings_of(weights)
        with class_rows(run.pools, weights.parameters, settings.validation, settings.seed) as rows:
            return term_errors(rows, weights, settings, *place), fitted
    boards = game_boards(static_player(weights), _POSITIONS, CLASS, "", seed=seed, jobs=jobs)
    found, count = board_terms(boards, weights, *place)
    return found, f"{count:,} positions of its own games"
