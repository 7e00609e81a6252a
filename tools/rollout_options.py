"""Measure the cost, gain and bias of each rollout option, for docs/how-to/rollouts.md.

Fifty positions from games of the player against itself are rolled out with each option, and with long full
rollouts as the truth. The positions are fixed, so errors are those of the dice. Everything runs on one core;
everything but the times is reproducible.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from motif.board.packed import Board, pack_many
from motif.evaluators import StaticEvaluator, load_static
from motif.evaluators.known_players import default_player
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players import static_player
from motif.rollouts import RolloutResult, RolloutSettings, rollout
from motif.rollouts.games import Streams, lockstep, starts
from motif.runtime.arrays import IntArray
from motif.runtime.errors import SettingError
from motif.runtime.streams import DICE_PAIRS, derive_states
from tools.marked_page import write_region

POSITIONS = {"contact": 40, "crashed": 5, "race": 5}
"""Number of positions of each class."""
WANTED_ERROR = 0.01
REGION = "rollouts"

_GAMES = 600
_CHANCES = {"contact": 0.004, "crashed": 0.05, "race": 0.01}
"""Probability of taking a game's position at a ply; small, so that positions come from all stages."""
_SAMPLED_PLIES = range(7, 61)
_REFERENCE = RolloutSettings(36 * 1296, stratified=True, seed=1)
_CUT10 = RolloutSettings(4 * 1296, cut=10)
_OPTIONS = {
    "none: to the end of the game": RolloutSettings(4 * 1296),
    "`--every-play`": RolloutSettings(2 * 1296, every_play=True),
    "`--stop-at-bearoff`": RolloutSettings(4 * 1296, stop_at_bearoff=True),
    "`--stop-at-race`": RolloutSettings(4 * 1296, stop_at_race=True),
    "`--cut 14`": replace(_CUT10, cut=14),
    "`--cut 10`": _CUT10,
    "`--cut 6`": replace(_CUT10, cut=6),
    "`--stratified`": RolloutSettings(4 * 1296, stratified=True),
    "`--luck-plies 1`": RolloutSettings(2 * 1296, luck_plies=1),
    "`--luck-plies 2`": RolloutSettings(2 * 1296, luck_plies=2),
    "`--luck-plies 4`": RolloutSettings(1296, luck_plies=4),
    "`--luck-plies all`": RolloutSettings(72, luck_plies=3000),
    "`--stratified --stop-at-bearoff`": RolloutSettings(4 * 1296, stratified=True, stop_at_bearoff=True),
    "`--cut 10 --stratified`": replace(_CUT10, stratified=True),
    "`--cut 10 --stratified --stop-at-bearoff`": replace(_CUT10, stratified=True, stop_at_bearoff=True),
    "`--cut 10 --stratified --luck-plies 2`": replace(_CUT10, trials=1296, stratified=True, luck_plies=2),
    "`--cut 10 --luck-plies all`": RolloutSettings(360, cut=10, luck_plies=10),
    "`--cut 6 --stratified --stop-at-bearoff`": replace(_CUT10, cut=6, stratified=True, stop_at_bearoff=True),
}


@dataclass(frozen=True)
class Bias:
    """Difference between an option's results and the truth, in points of equity, with standard errors."""

    mean: float
    mean_se: float
    square: float
    """Mean square of the difference minus the part due to the dice; it may be negative."""
    square_se: float

    @property
    def rms(self) -> str:
        """Square root of `square` with its error, or an upper bound."""
        if self.square <= 2 * self.square_se:
            return f"< {math.sqrt(max(self.square, 0.0) + 2 * self.square_se):.3f}"
        root = math.sqrt(self.square)
        return f"{root:.3f} ± {self.square_se / (2 * root):.3f}"


def bias(result: RolloutResult, truth: RolloutResult) -> Bias:
    """Return the bias of `result` against `truth`, over the same positions with different dice.

    For a difference d with standard error s, d^2 - s^2 estimates the squared bias b^2, with variance 4 b^2
    s^2 + 2 s^4.
    """
    difference = result.mean[:, -1] - truth.mean[:, -1]
    noise = result.se[:, -1] ** 2 + truth.se[:, -1] ** 2
    squares = difference**2 - noise
    variance = 4 * np.maximum(squares, 0) * noise + 2 * noise**2
    count = len(difference)
    return Bias(
        float(difference.mean()),
        float(np.sqrt(noise.sum()) / count),
        float(squares.mean()),
        float(np.sqrt(variance.sum()) / count),
    )


def self_play_positions(evaluator: StaticEvaluator, seed: int = 0) -> Board:
    """Return boards (50, 26), `POSITIONS` of them of each class, from different games of `evaluator`."""
    player = static_player(evaluator)
    wanted = dict(POSITIONS)
    taken: list[Board] = []
    free = np.ones(_GAMES, np.bool_)
    random = np.random.default_rng(seed)
    games = lockstep(player.choose_many, partial(_rolls, seed), starts(_GAMES))
    for ply in islice(games, _SAMPLED_PLIES.start, _SAMPLED_PLIES.stop):
        rows = np.flatnonzero(free[ply.games] & (ply.points == 0))
        classes = classify_many(pack_many(ply.boards))
        for row in random.permutation(rows).tolist():
            name = CLASS_NAMES[classes[row]]
            if wanted[name] and random.random() < _CHANCES[name]:
                wanted[name] -= 1
                free[ply.games[row]] = False
                taken.append(ply.boards[row])
    if any(wanted.values()):
        raise SettingError(f"too few games: {wanted} positions are missing")
    return np.array(taken)


def _rolls(seed: int, games: IntArray, ply: int) -> tuple[IntArray, Streams]:
    """Return the dice of the self-play games, fixed so that the table keeps its positions."""
    states = derive_states(seed, 0, _GAMES, ply)[games]
    pairs = (states % np.uint64(DICE_PAIRS)).astype(np.int64)
    return np.sort(np.stack(np.divmod(pairs, 6), axis=1) + 1, axis=1)[:, ::-1], states


def option_table(share: float = 1.0) -> Iterator[str]:
    """Yield the lines of the table as they are measured, with `share` of the usual trials."""
    player = default_player()
    evaluator = load_static(player)
    boards = self_play_positions(evaluator)
    truth = rollout(boards, evaluator, _shorter(_REFERENCE, share), jobs=1)
    error = math.sqrt((truth.se[:, -1] ** 2).mean())
    yield (
        f"{len(boards)} positions, {player}, one core. Reference: {int(truth.trials[0]):,} full stratified "
        f"trials each, standard error {error:.4f}."
    )
    yield ""
    yield "| options | trials/s | SD per trial | mean bias | RMS bias | seconds to a standard error of .01 |"
    yield "|---|---|---|---|---|---|"
    for name, settings in _OPTIONS.items():
        shorter = _shorter(settings, share)
        rollout(boards[:1], evaluator, replace(shorter, trials=1), jobs=1)  # loads tables, compiles
        result = rollout(boards, evaluator, shorter, jobs=1)
        yield _line(name, result, bias(result, truth))


def _shorter(settings: RolloutSettings, share: float) -> RolloutSettings:
    rounds = max(1, round(settings.trials * share / DICE_PAIRS / 2))
    return replace(settings, trials=2 * DICE_PAIRS * rounds)


def _line(name: str, result: RolloutResult, off: Bias) -> str:
    sd = math.sqrt((result.sd[:, -1] ** 2).mean())
    seconds = (sd / WANTED_ERROR) ** 2 / result.trials_per_second
    mean = f"{off.mean:+.4f} ± {off.mean_se:.4f}"
    return f"| {name} | {result.trials_per_second:,.0f} | {sd:.3f} | {mean} | {off.rms} | {seconds:.2f} |"


def write_table(page: Path, share: float = 1.0) -> None:
    """Write the table into `page`; raises `SettingError` if the markers are missing."""
    write_region(page, REGION, option_table(share), is_shown=True)


def main(words: Sequence[str]) -> None:
    """Write the table into a page, with a share of the usual trials: ``PAGE [SHARE]``."""
    write_table(Path(words[0]), float(words[1]) if len(words) > 1 else 1.0)


if __name__ == "__main__":
    main(sys.argv[1:])
