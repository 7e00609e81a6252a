"""What the decisions of a match cost against the best ones, and how lucky its rolls were.

Values are normalised equities of a player at the score, with the cube where it lies (Janowski's model at the
leaves, see `motif.evaluators.stakes`): losing and winning a single game at the present cube are -1 and +1, as
gnubg does (EMG), which makes errors at different scores and cubes comparable.  Where nobody has a cube, a
game ends at the present one.

The error of a play is the value of the best one less that of the play made; the luck of a roll is the value
of its best play less the mean over all rolls, 1-ply lookahead therefore.  The first roll of a game also
decides who begins: its luck is measured against the mean over the 15 openings of either player.

With the cube every turn on which the player on roll may double is judged, and every answer to a double.  As
gnubg does, a double that was not made is counted as a decision only where it was close: where doubling would
have cost less than `CLOSE`, or would have been right.  Doubles, takes and passes always count; a beaver is
judged as a take, and a raccoon is not judged.

Errors may be confirmed by a short rollout of the best play and the play made, with the same dice.

The judge calls that play the best whose estimate is highest, and so overrates it: where his estimates are no
better than the player's, most of the errors that he sees are his own.  A rollout of the two plays knows
nothing of that choice.  What it says takes the place of his estimate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.analysis.match.record_walk import CubeChance, PlayedRoll
from motif.board.match_state import MatchState
from motif.board.movegen import OPENING_SHARES, ROLL_SHARES, ROLLS, roll_numbers
from motif.board.moves import PlayBatch, legal_plays, play_batches
from motif.board.packed import BOARD_SIZE, Board, pack_many
from motif.cube import CubeDecision, cube_decision_by
from motif.cube.cube_states import stakes_of as state_stakes
from motif.cube.equities import scale
from motif.evaluators import Evaluator, Probabilities, StaticEvaluator
from motif.evaluators.kernels import WEIGHTS
from motif.evaluators.model import Model
from motif.evaluators.probabilities import turned_equities
from motif.evaluators.stakes import NO_CUBE, Stakes, without_cube
from motif.rollout.comparison import staked_stage
from motif.rollout.playout import ROUND
from motif.rollout.rollout_evaluator import items_of
from motif.rollout.rollout_settings import RolloutSettings
from motif.rollout.tally import Tally
from motif.rollout.trials import RESULT_NAMES, results_of_trials
from motif.runtime.errors import RecordError
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress

CLOSE = 0.16
"""Normalised equity that a double costs at most where leaving the cube alone is a decision (gnubg's
`isCloseCubedecision`)."""
NO_DOUBLE, DOUBLE, TAKE, PASS = "no double", "double", "take", "pass"
_MISTAKES = {NO_DOUBLE: "missed double", DOUBLE: "wrong double", TAKE: "wrong take", PASS: "wrong pass"}
KINDS = tuple(_MISTAKES.values())
CANDIDATES = 5
"""Plays that are kept of a roll, to be shown beside the one made."""
_NEGLIGIBLE = 1e-6
"""Probabilities are float32: less than this is no mistake."""
_PLAYS_AT_ONCE = 1 << 17
_DECISIONS_AT_ONCE = 512
_LOOKAHEAD_DECISIONS_AT_ONCE = 8
"""Lookahead is slow enough for small parts to keep every worker busy."""

DOUBTFUL = 0.008
"""Normalised equity: what the judge calls a smaller error is believed."""
CERTAIN = 3.0
"""Standard errors by which an error must be above 0 to be confirmed."""
SHORT = RolloutSettings(36 * ROUND, cut=12, stop_at_bearoff=True, stratified=True)
"""The rollout of each play."""
LONG = RolloutSettings(144 * ROUND, cut=16, stop_at_bearoff=True, stratified=True)
_AT_ONCE = 4


class AtStake(NamedTuple):
    """What a game is worth to the player on roll, or after `turned` to his opponent."""

    stakes: Stakes
    side: int
    unit: float
    """What 1 of normalised equity is worth: points in money play (the cube), MWC in a match."""

    def turned(self) -> "AtStake":
        """As it is for the other player, were he on roll."""
        return self._replace(side=1 - self.side)


class JudgedPlay(NamedTuple):
    """One roll, as the evaluator sees it."""

    legal: int
    """How many plays there were."""
    best: int
    """Index of the best one among `legal_plays`; the play made where none is better."""
    error: float
    """Normalised equity that the play cost, at least 0."""
    se: float | None = None
    """Standard error of `error` where it comes from a rollout; None where the evaluator says so."""
    is_sure: bool = True
    """Whether something was surely lost: where plays are rolled out, whether that has confirmed it."""
    candidates: tuple[tuple[int, float], ...] = ()
    """Indices among `legal_plays` and normalised equities of the best plays and of the one made, the best
    first, by the evaluator."""


@dataclass(frozen=True)
class CubeAct:
    """A double, one that was not made, a take or a pass, and what it cost."""

    chance: CubeChance
    decision: CubeDecision
    player: int
    """Who decided."""
    done: str
    """``no double``, ``double``, ``take`` or ``pass``."""
    error: float
    """Normalised equity that it cost, at least 0."""
    unit: float
    """What 1 of normalised equity was worth, in points or MWC."""

    @property
    def mistake(self) -> str | None:
        """Which of `KINDS` it was; None where it cost nothing."""
        return _MISTAKES[self.done] if self.error > _NEGLIGIBLE else None

    @property
    def counts(self) -> bool:
        """Whether it counts as a decision."""
        if self.done != NO_DOUBLE or self.mistake:
            return True
        return self.decision.cost(DOUBLE) < CLOSE


def judge_plays(
    rolls: Sequence[PlayedRoll], evaluator: Evaluator, *, cube: bool = True, jobs: int | None = None
) -> list[JudgedPlay]:
    """What each of `rolls`, all of which were played, was worth to its player by `evaluator`.

    Without `cube` nobody can double.
    """
    quick = isinstance(evaluator, StaticEvaluator)
    size = _DECISIONS_AT_ONCE if quick else _LOOKAHEAD_DECISIONS_AT_ONCE
    parts = [rolls[k : k + size] for k in range(0, len(rolls), size)]
    judgements: list[JudgedPlay] = []
    with progress(f"{evaluator.name} judges the plays", len(rolls)) as advance:
        calls = ((part,) for part in parts)
        for batch in run_ordered(
            partial(_judged, evaluator, cube), calls, 1 if quick or len(parts) < 2 else jobs
        ):
            advance(len(batch))
            judgements += batch
    return judgements


def roll_luck(
    rolls: Sequence[PlayedRoll], evaluator: Evaluator, *, cube: bool = True
) -> npt.NDArray[np.float64]:
    """How much better than the average roll each of `rolls` was, in normalised equity of its player: (n,)."""
    luck = np.empty(len(rolls))
    dice = np.array([roll.roll for roll in rolls]).reshape(len(rolls), 2)
    places = roll_numbers(dice)
    for k in range(0, len(rolls), _DECISIONS_AT_ONCE):
        part = slice(k, min(k + _DECISIONS_AT_ONCE, len(rolls)))
        boards = np.array([roll.position.board for roll in rolls[part]])
        stakes = [stakes_of(roll.state, cube) for roll in rolls[part]]
        values = _best_of_each_roll(boards, stakes, evaluator)
        means = (values * ROLL_SHARES).sum(axis=1)
        openings = [row for row, roll in enumerate(rolls[part]) if roll.opening]
        if openings:
            others = _best_of_each_roll(
                boards[openings], [stakes[row].turned() for row in openings], evaluator
            )
            own_mean = (values[openings] * OPENING_SHARES).sum(axis=1)
            other_mean = (others * OPENING_SHARES).sum(axis=1)
            means[openings] = (own_mean + turned_equities(other_mean)) / 2
        luck[part] = values[np.arange(len(values)), places[part]] - means
    return luck


def judge_cube(chances: Sequence[CubeChance], evaluator: Evaluator, *, jobs: int | None = 1) -> list[CubeAct]:
    """What was done at each of `chances`, and its answer, by the five probabilities of `evaluator`."""
    quick = evaluator.without_lookahead is evaluator
    size = _DECISIONS_AT_ONCE if quick else _LOOKAHEAD_DECISIONS_AT_ONCE
    parts = [chances[k : k + size] for k in range(0, len(chances), size)]
    acts: list[CubeAct] = []
    with progress(f"{evaluator.name} judges the cube", len(chances)) as advance:
        calls = ((part,) for part in parts)
        judged = run_ordered(
            partial(_cube_decisions, evaluator), calls, 1 if quick or len(parts) < 2 else jobs
        )
        for part, decisions in zip(parts, judged, strict=True):
            advance(len(part))
            for chance, decision in zip(part, decisions, strict=True):
                acts += _acts(chance, decision)
    return acts


def _cube_decisions(evaluator: Evaluator, chances: Sequence[CubeChance]) -> list[CubeDecision]:
    boards = np.array([chance.position.board for chance in chances])
    rows = evaluator.evaluate_many(boards).astype(np.float64).tolist()
    return [
        cube_decision_by(evaluator, chance.position, Probabilities(*row), chance.state)
        for chance, row in zip(chances, rows, strict=True)
    ]


def stakes_of(state: MatchState, cube: bool = True) -> AtStake:
    """What the game is worth to the player on roll in `state`; without `cube` nobody can double."""
    # Dice change nothing, nor do rules of money play in a match.
    if state.length:
        state = replace(state, jacoby=False, beavers=False)
    return _at_stake(replace(state, dice=None), cube)


def play_values(
    before: Board, plays: PlayBatch, stakes: Sequence[AtStake], evaluator: Evaluator
) -> npt.NDArray[np.float64]:
    """Normalised equity of each of `plays` (m) of the decisions on `before` (n, 26) to its mover: (m,).

    `stakes` are those of the n decisions.
    """
    values = np.empty(len(plays.boards))
    groups: dict[int, list[int]] = {}
    for decision, one in enumerate(stakes):
        groups.setdefault(id(one), []).append(decision)
    for decisions in groups.values():
        part, rows = plays.some(np.array(decisions))
        one = stakes[decisions[0]]
        at_stake = evaluator.staked(one.stakes, one.side)
        values[rows] = at_stake.play_equities(before[decisions], part)
    return values


@lru_cache(maxsize=1024)
def _at_stake(state: MatchState, cube: bool) -> AtStake:
    unit = scale(state).half if state.length else float(state.cube)
    stakes = state_stakes(state)
    if not cube:
        plain = not state.length and not (state.jacoby and state.cube_owner == "centre")
        stakes = NO_CUBE if plain else without_cube(stakes)
    return AtStake(stakes, 0, unit)


def _judged(evaluator: Evaluator, cube: bool, rolls: Sequence[PlayedRoll]) -> list[JudgedPlay]:
    boards = np.array([roll.position.board for roll in rolls])
    dice = np.array([roll.roll for roll in rolls])
    stakes = [stakes_of(roll.state, cube) for roll in rolls]
    judgements: list[JudgedPlay] = []
    for batch in play_batches(boards, dice, _PLAYS_AT_ONCE):
        here, ends = batch.decisions, batch.offsets.tolist()
        values = play_values(boards[here], batch, stakes[here], evaluator)
        for roll, start, end in zip(rolls[here], ends[:-1], ends[1:], strict=True):
            assert roll.play is not None
            same = (batch.boards[start:end] == roll.play.position.board).all(axis=1)
            if not same.any():
                raise RecordError(f"game {roll.game}, move {roll.move}: the play is not legal")
            choice, own = np.argmax(same), values[start:end]
            best = choice if own[choice] == own.max() else np.argmax(own)
            order = np.argsort(-own, kind="stable")[:CANDIDATES].tolist()
            shown = [*order[: CANDIDATES - 1], int(choice)] if choice not in order else order
            error = float(own[best]) - float(own[choice])
            candidates = tuple((k, float(own[k])) for k in shown)
            judgements.append(JudgedPlay(end - start, int(best), error, candidates=candidates))
    return judgements


def _best_of_each_roll(
    boards: Board, stakes: Sequence[AtStake], evaluator: Evaluator
) -> npt.NDArray[np.float64]:
    """The mover's value of the best play of each of the 21 rolls on `boards` (n, 26): (n, 21)."""
    before = np.repeat(boards, len(ROLLS), axis=0)
    rolls = np.tile(ROLLS, (len(boards), 1))
    stakes_of_each = [one for one in stakes for _ in range(len(ROLLS))]
    best = np.empty(len(rolls))
    for batch in play_batches(before, rolls, _PLAYS_AT_ONCE):
        here = batch.decisions
        values = play_values(before[here], batch, stakes_of_each[here], evaluator)
        best[here] = np.maximum.reduceat(values, batch.offsets[:-1])
    return best.reshape(len(boards), len(ROLLS))


def _acts(chance: CubeChance, decision: CubeDecision) -> Iterator[CubeAct]:
    unit = stakes_of(chance.state).unit
    acts = [(chance.player, DOUBLE if chance.doubled else NO_DOUBLE)]
    if chance.answer is not None:
        acts.append((1 - chance.player, PASS if chance.answer == "drop" else TAKE))
    for player, act in acts:
        yield CubeAct(chance, decision, player, act, decision.cost(act), unit)


def confirmed_by(fast: bool, deep: bool) -> RolloutSettings | None:
    """The rollout that confirms errors for a judge; None for one who is `fast` and believes himself."""
    return None if fast else LONG if deep else SHORT


class RolledError(NamedTuple):
    """The value of the best play less that of the play made."""

    error: float
    """Normalised equity; negative where the play made is better."""
    se: float
    """Its standard error, as that of plays compared has it (`motif.rollout.comparison`)."""

    @property
    def is_confirmed(self) -> bool:
        """Whether it is certain that something was lost."""
        return self.error > CERTAIN * self.se


def can_roll_out(evaluator: Evaluator) -> bool:
    """Whether errors can be confirmed with `evaluator`, without its lookahead, playing both sides."""
    static = evaluator.without_lookahead
    return isinstance(static, StaticEvaluator) and static.model.kind == WEIGHTS


def rolled_errors(
    rolls: Sequence[PlayedRoll],
    judgements: Sequence[JudgedPlay],
    evaluator: Evaluator,
    *,
    settings: RolloutSettings = SHORT,
    cube: bool = True,
    jobs: int | None = None,
) -> dict[int, RolledError]:
    """By their numbers among `rolls`: the plays that `judgements` doubt, rolled out.

    The same settings give the same errors for any number of `jobs`.
    """
    static = evaluator.without_lookahead
    assert isinstance(static, StaticEvaluator)
    rows = [row for row, one in enumerate(judgements) if one.error >= DOUBTFUL]
    pairs, stakes = np.empty((len(rows), 2, BOARD_SIZE), np.int8), []
    for number, row in enumerate(rows):
        roll = rolls[row]
        assert roll.play is not None
        best = legal_plays(roll.position, roll.roll)[judgements[row].best]
        pairs[number] = best.position.board, roll.play.position.board
        stakes.append(stakes_of(roll.state, cube).stakes)
    items = items_of(
        pack_many(np.array([rolls[row].position.board for row in rows], np.int8).reshape(-1, 26))
    )
    parts = [slice(k, k + _AT_ONCE) for k in range(0, len(rows), _AT_ONCE)]
    calls = ((pairs[part], items[part], stakes[part]) for part in parts)
    work = partial(_roll_out, settings.model_of(static), settings)
    errors: list[RolledError] = []
    with progress(f"{static.name} rolls out doubtful plays", len(rows)) as advance:
        for done in run_ordered(work, calls, 1 if len(parts) < 2 else jobs):
            advance(len(done))
            errors += done
    return dict(zip(rows, errors, strict=True))


def _roll_out(
    model: Model,
    settings: RolloutSettings,
    pairs: Board,
    items: npt.NDArray[np.int64],
    stakes: Sequence[Stakes],
) -> list[RolledError]:
    """The errors of some pairs (n, 2, 26) of positions after the best play and the play made."""
    both, errors = np.arange(2), []
    for pair, item, at_stake in zip(pairs, items.tolist(), stakes, strict=True):
        packed = pack_many(pair)
        results = results_of_trials(
            model, settings, packed, np.array([item, item]), 0, settings.trials, after_a_play=True, jobs=1
        )
        tally = Tally(2 * len(RESULT_NAMES), settings.rolls_of(item))
        tally.add(results.transpose(1, 0, 2).reshape(settings.trials, -1))
        best, made = both.tolist()
        errors.append(RolledError(*staked_stage(at_stake, packed, tally, both).difference(best, made)))
    return errors
