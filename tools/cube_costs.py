"""Measure the cost of wrong cube decisions by cubeful rollouts, for docs/explanation/cube-model.md.

Contact positions and races come from motif's games against itself, one per game, on unused seeds, evenly
spread over cubeless equities. Each is rolled out to the end for money, with a centred cube and after a double
and a take. One half of the trials determines the best action, the other half the cost of the alternatives,
and vice versa, so that chance does not count as an error. Single costs may therefore be negative.

``python -m tools.cube_costs docs/explanation/cube-model.md [POSITIONS] [TRIALS]``
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motif.board.match_state import MatchState
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.doubling.cube_states import cube_model_for
from motif.doubling.efficiency_fit import boards_of_self_play
from motif.doubling.equities import efficiency_classes
from motif.evaluators import Evaluator, load_evaluator, load_static
from motif.evaluators.cube_model import cube_pairs
from motif.evaluators.known_players import default_player
from motif.evaluators.probabilities import EQUITY_HEAD, HEADS, equities
from motif.parameters.position_class import CLASS_NAMES
from motif.rollouts.rollout_settings import RolloutSettings
from motif.rollouts.trials import CubeStart, tally_trials
from motif.runtime.arrays import BoolArray, FloatArray
from motif.runtime.parallel import one_thread
from tools.marked_page import write_region
from tools.text_gnubg import TextGnubg, gnubg_path

REGION = "cube costs"
KINDS = "wrong doubles", "missed doubles", "wrong takes", "wrong passes"
FITTED = {"contact": 0.734, "race": 0.742}
"""x fitted by `motif cube-efficiency --seed 1` to other positions."""
_SEED = 770_001
_SELF_PLAY_TRIAL = 2**41
_FROM, _TO, _SLICES = 0.2, 0.9, 14
_GAMES_A_POSITION = 6
_HALVES = 2
_STATE = MatchState()
_WORDS = {"contact": "with contact", "race": "races"}
_USUAL = "308", "432"


class Decisions(NamedTuple):
    """Decisions of a player in n positions."""

    doubles: BoolArray
    takes: BoolArray
    """Answers of the opponent to a double."""
    values: FloatArray
    """(n, 2): equities without a double and after a take."""


class Rolled(NamedTuple):
    """Rollout equities (halves, n, 2) without a double and after a take, and their standard errors."""

    values: FloatArray
    errors: FloatArray


def near_doubles(evaluator: Evaluator, count: int, kind: str) -> Board:
    """Return boards (count, 26) of a class, evenly spread over cubeless equities, from different games."""
    games = _GAMES_A_POSITION * count
    parts = []
    for numbers, boards in boards_of_self_play(evaluator, games, _SEED, _SELF_PLAY_TRIAL):
        rows = efficiency_classes(boards) == CLASS_NAMES.index(kind)
        parts.append((numbers[rows], boards[rows]))
    numbers, boards = map(np.concatenate, zip(*parts, strict=True))
    values = equities(evaluator.evaluate_many(boards))
    slices = np.floor((values - _FROM) / (_TO - _FROM) * _SLICES).astype(np.int64)
    left = np.full(_SLICES, -(-count // _SLICES))
    taken: list[int] = []
    seen: set[int] = set()
    for row in np.random.default_rng(_SEED).permutation(len(boards)).tolist():
        place, game = int(slices[row]), int(numbers[row])
        if 0 <= place < _SLICES and left[place] and game not in seen:
            left[place] -= 1
            seen.add(game)
            taken.append(row)
    return boards[taken[:count]]


def rolled_out(name: str, boards: Board, trials: int) -> Rolled:
    """Roll out `boards` (n, 26) with the cube, with `trials` in each half."""
    evaluator, cubes = load_static(name), cube_model_for(_STATE)
    taken = int(cubes.doubled[0, 0])
    means, errors = [], []
    for half in range(_HALVES):
        settings = RolloutSettings(trials, stop_at_bearoff=True, stratified=True, seed=_SEED + half)
        tallies = tally_trials(
            settings.player_of(evaluator),
            settings,
            pack_many(np.repeat(boards, 2, axis=0)),
            np.repeat(np.arange(len(boards)), 2),
            together=2,
            cube=CubeStart(cubes, (0, taken)),
            label="cubeful rollouts",
            jobs=1,
        )
        columns = slice(EQUITY_HEAD, None, len(HEADS))
        means.append([tally.mean()[columns] for tally in tallies])
        errors.append([tally.errors()[columns] for tally in tallies])
    return Rolled(np.array(means), np.array(errors))


def by_chances(chances: FloatArray, boards: Board, x: float | None = None) -> Decisions:
    """Return the model's decisions for `chances` (n, 5), with efficiency `x` or gnubg's."""
    held, taken = cube_pairs(cube_model_for(_STATE, efficiency=x), 0, pack_many(boards), chances).T
    return _decisions(held, taken, 1.0)


def _decisions(no_double: FloatArray, taken: FloatArray, passed: FloatArray | float) -> Decisions:
    doubles = np.minimum(taken, passed) >= no_double
    return Decisions(doubles, taken < passed, np.stack([no_double, taken], 1))


def looking_ahead(judge: Evaluator, boards: Board) -> Decisions:
    """Return the cube decisions of `judge` with lookahead."""
    held, taken = judge.cube_equities(boards, cube_model_for(_STATE), 0).T
    return _decisions(held, taken, 1.0)


def by_gnubg(boards: Board) -> Decisions:
    """Return gnubg's 0-ply decisions."""
    path = gnubg_path()
    if path is None:
        raise SystemExit("gnubg is not installed")
    with tempfile.TemporaryDirectory() as home:
        questions = [(Position(board), _STATE) for board in boards]
        analyses = TextGnubg(path, Path(home)).cube_analyses(questions)
    columns = (np.array([it.equities[name] for it in analyses]) for name in ("double", "take", "pass"))
    return _decisions(*columns)


def costs(decisions: Decisions, rolled: FloatArray) -> FloatArray:
    """Return the cost of each decision (n, `KINDS`) by the rollouts `rolled` (halves, n, 2)."""
    total = np.zeros((len(decisions.doubles), len(KINDS)))
    for judge, measure in ((0, 1), (1, 0)):
        best_takes = rolled[judge, :, 1] < 1
        best_doubles = np.minimum(rolled[judge, :, 1], 1) >= rolled[judge, :, 0]
        no_double, taken = rolled[measure].T
        gain = np.where(best_takes, taken, 1.0) - no_double
        total[:, 0] -= gain * (decisions.doubles & ~best_doubles)
        total[:, 1] += gain * (~decisions.doubles & best_doubles)
        total[:, 2] += (taken - 1) * (decisions.takes & ~best_takes)
        total[:, 3] += (1 - taken) * (~decisions.takes & best_takes)
    return total / _HALVES


def rms_error(decisions: Decisions, rolled: Rolled) -> float:
    """Return the RMS error of the equities, less the noise of the rollouts."""
    noise = (rolled.errors**2).sum(axis=0) / _HALVES**2
    square = float(((decisions.values - rolled.values.mean(axis=0)) ** 2 - noise).mean())
    return float(np.sqrt(max(square, 0.0)))


def table(kind: str, count: int, trials: int) -> Iterator[str]:
    """Return the table of a class, for `count` positions and two halves of `trials` trials."""
    name = default_player()
    evaluator, deep = load_static(name), load_evaluator(f"{name}@2")
    boards = near_doubles(evaluator, count, kind)
    chances, deeper = (it.evaluate_many(boards).astype(np.float64) for it in (evaluator, deep))
    rows = {
        name: by_chances(chances, boards),
        f"{name}, x = {FITTED[kind]}": by_chances(chances, boards, FITTED[kind]),
        f"{name}@2": by_chances(deeper, boards),
        f"{name}@2, x = {FITTED[kind]}": by_chances(deeper, boards, FITTED[kind]),
        f"{name}@2, with cube lookahead": looking_ahead(deep, boards),
        "gnubg, 0-ply": by_gnubg(boards),
    }
    rolled = rolled_out(name, boards, trials)
    errors = np.sqrt((rolled.errors**2).mean(axis=(0, 1)) / _HALVES)
    best = rolled.values.mean(axis=0)
    right = int((np.minimum(best[:, 1], 1) >= best[:, 0]).sum()), int((best[:, 1] < 1).sum())
    yield (
        f"{len(boards)} positions, {_WORDS[kind]}, rolled out {_HALVES * trials:,} times with {name}: "
        f"standard errors {errors[0]:.3f} without a double, {errors[1]:.3f} after a take. Doubling is right "
        f"in {right[0]} of them, taking in {right[1]}."
    )
    yield ""
    yield f"| millipoints per position | {' | '.join(KINDS)} | all | all, minus {name}'s | RMS error |"
    yield "|---|" + "---|" * (len(KINDS) + 3)
    first = costs(rows[name], rolled.values).sum(axis=1)
    for row, decisions in rows.items():
        lost = costs(decisions, rolled.values)
        cells = [_amount(kind) for kind in (*lost.T, lost.sum(axis=1))]
        cells += [_amount(lost.sum(axis=1) - first) if row != name else ""]
        yield f"| {row} | {' | '.join(cells)} | {rms_error(decisions, rolled):.3f} |"


def _amount(lost: FloatArray) -> str:
    return f"{1000 * lost.mean():.1f} ± {1000 * lost.std(ddof=1) / np.sqrt(len(lost)):.1f}"


def main(words: Sequence[str]) -> None:
    """Write the tables into a page: ``PAGE [POSITIONS [TRIALS]]``."""
    count, trials = (int(word) for word in (*words[1:], *_USUAL[len(words) - 1 :]))

    def lines() -> Iterator[str]:
        yield from table("contact", count, trials)
        yield ""
        yield from table("race", count * 2 // 3, trials)

    with one_thread():
        write_region(Path(words[0]), REGION, lines(), is_shown=True)


if __name__ == "__main__":
    main(sys.argv[1:])
