"""What the decisions of a match cost against the best ones, and how lucky its rolls were.

Values are normalised equities of a player at the score, with the cube where it lies and a cube decision at
every node (see `motif.evaluators.cube_model`): losing and winning a single game at the present cube are -1
and +1, as gnubg does (EMG), which makes errors at different scores and cubes, of plays and with the cube,
comparable.  Where nobody has a cube, a game ends at the present one.

The error of a play is the value of the best one less that of the play made; the luck of a roll is the value
of its best play less the mean over all rolls, 1-ply lookahead therefore.  The first roll of a game also
decides who begins: its luck is measured against the mean over the 15 openings of either player.

With the cube every turn on which the player on roll may double is judged, and every answer to a double.  As
gnubg does, a double that was not made is counted as a decision only where it was close: where doubling would
have cost less than `CLOSE`, or would have been right.  Doubles, takes and passes always count; a beaver is
judged as a take, and a raccoon is not judged.

What looks like an error is confirmed by a rollout, of the best play and the play made or of the cube
decision: see `motif.analysis.confirmation`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.analysis.confirmation import (
    DOUBTFUL,
    ComparedPair,
    JudgedCube,
    RolledCube,
    RolledPair,
    roll_out_cubes,
    roll_out_pairs,
)
from motif.analysis.match.record_walk import CubeChance, PlayedRoll
from motif.board.match_state import MatchState
from motif.board.movegen import OPENING_SHARES, ROLL_SHARES, ROLLS, roll_numbers
from motif.board.moves import PlayBatch, legal_plays, play_batches
from motif.board.packed import BOARD_SIZE, Board
from motif.doubling import CubeDecision, cube_decision_by
from motif.doubling.equities import scale
from motif.evaluators import Evaluator, Probabilities, StaticEvaluator
from motif.evaluators.cube_model import CubeModel
from motif.evaluators.evaluator import PlayEstimates
from motif.evaluators.probabilities import switched_equities
from motif.players.ranking import (
    EXACT,
    ROLLOUT,
    CubeContext,
    RankedPlay,
    estimate_plays,
    plies_of,
    source_words,
)
from motif.rollouts.rollout_settings import RolloutSettings
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


class CubeSide(NamedTuple):
    """A cube model and the side that is on roll."""

    cube_model: CubeModel
    side: int
    unit: float
    """What 1 of normalised equity is worth: points in money play (the cube), MWC in a match."""

    def turned(self) -> "CubeSide":
        """Return it for the other player, on roll."""
        return self._replace(side=1 - self.side)


class JudgedCandidate(NamedTuple):
    """A play that could be made, and what it is worth."""

    number: int
    """Its index among `legal_plays`."""
    equity: float
    """Normalised, by the best estimate."""
    source: str
    """Where `equity` comes from: see `motif.players.ranking.RankedPlay`."""
    lookahead: float
    """Normalised equity by lookahead; `equity` where that is no rollout's."""
    plies: str
    """Where `lookahead` comes from."""
    se: float | None = None
    """Standard error of an equity from a rollout."""


class JudgedRoll(NamedTuple):
    """One roll, as the evaluator sees it."""

    legal: int
    """How many plays there were."""
    best: int
    """Index of the best one among `legal_plays`; the play made where none is better."""
    error: float
    """Normalised equity that the play cost, at least 0."""
    se: float | None = None
    """Standard error of `error` where it comes from a rollout; None where lookahead says so."""
    is_sure: bool = True
    """Whether something was surely lost: where plays are rolled out, whether that has confirmed it."""
    candidates: tuple[JudgedCandidate, ...] = ()
    """The best plays and the one made, the best first: those that were rolled out before the others."""
    played: int = 0
    """Index of the play made."""
    source: str = ""
    """Where `error` comes from."""
    rolled: RolledPair | None = None
    """The rollout of what lookahead called the best and of the play made."""

    @property
    def is_exact(self) -> bool:
        """Whether the best play or the one made is exactly known, so that no rollout says more."""
        compared = self.best, self.played
        return any(one.source == EXACT and one.number in compared for one in self.candidates)

    def choice(self, roll: PlayedRoll) -> ComparedPair:
        """Return the best play of the `roll` and the play made, in an order that `rolled` has."""
        plays = legal_plays(roll.position, roll.roll)
        known = {one.number: one for one in self.candidates}
        best = max(self.candidates, key=lambda one: one.lookahead).number
        top = known[best].lookahead
        first, second = (
            RankedPlay(plays[k], known[k].lookahead, known[k].lookahead - top, known[k].plies)
            for k in (best if self.rolled else self.best, self.played)
        )
        return ComparedPair(first, second, self.rolled)


@dataclass(frozen=True)
class CubeAct:
    """A double, one that was not made, a take or a pass, and what it cost."""

    chance: CubeChance
    decision: CubeDecision
    """By the best estimate: rolled out where lookahead saw an error."""
    player: int
    """Who decided."""
    done: str
    """``no double``, ``double``, ``take`` or ``pass``."""
    error: float
    """Normalised equity that it cost, at least 0; 0 where the rollout does not confirm it."""
    unit: float
    """What 1 of normalised equity was worth, in points or MWC."""
    source: str = ""
    """Where `error` comes from: ``0-ply``, ``2-ply`` ..., ``rollout`` or ``exact``."""
    se: float | None = None
    """Standard error of what the rollout says that it cost."""
    trials: int = 0
    """Of the rollout."""

    @property
    def mistake(self) -> str | None:
        """Which of `KINDS` it was; None where it cost nothing."""
        return _MISTAKES[self.done] if self.error > _NEGLIGIBLE else None

    @property
    def is_too_close(self) -> bool:
        """Whether lookahead saw an error that the rollout does not confirm."""
        return self.source == ROLLOUT and not self.mistake

    @property
    def counts(self) -> bool:
        """Whether it counts as a decision."""
        if self.done != NO_DOUBLE or self.mistake:
            return True
        return self.decision.doubled is not None and self.decision.cost(DOUBLE) < CLOSE


def judge_plays(
    rolls: Sequence[PlayedRoll],
    evaluator: Evaluator,
    *,
    cube: bool = True,
    confirm: RolloutSettings | None = None,
    jobs: int | None = None,
) -> list[JudgedRoll]:
    """Return what each of `rolls`, all of which were played, was worth to its player by `evaluator`.

    Without `cube` nobody can double.  Errors of `DOUBTFUL` and more are those of a rollout as `confirm` says;
    None: lookahead is believed.
    """
    quick = isinstance(evaluator, StaticEvaluator)
    size = _DECISIONS_AT_ONCE if quick else _LOOKAHEAD_DECISIONS_AT_ONCE
    parts = [rolls[k : k + size] for k in range(0, len(rolls), size)]
    judgements: list[JudgedRoll] = []
    with progress(f"{evaluator.name} judges the plays", len(rolls)) as advance:
        calls = ((part,) for part in parts)
        for batch in run_ordered(
            partial(_judged, evaluator, cube), calls, 1 if quick or len(parts) < 2 else jobs
        ):
            advance(len(batch))
            judgements += batch
    return judgements if confirm is None else _confirmed(rolls, judgements, evaluator, cube, confirm, jobs)


def _confirmed(
    rolls: Sequence[PlayedRoll],
    judgements: Sequence[JudgedRoll],
    evaluator: Evaluator,
    cube: bool,
    settings: RolloutSettings,
    jobs: int | None,
) -> list[JudgedRoll]:
    """`judgements` with the errors that they doubt as a rollout has them."""
    rows = [row for row, one in enumerate(judgements) if one.error >= DOUBTFUL and not one.is_exact]
    pairs = np.empty((len(rows), 2, BOARD_SIZE), np.int8)
    for number, row in enumerate(rows):
        roll, one = rolls[row], judgements[row]
        assert roll.play is not None
        best = legal_plays(roll.position, roll.roll)[one.best]
        pairs[number] = best.position.board, roll.play.position.board
    before = np.array([rolls[row].position.board for row in rows], np.int8)
    cube_models = [cube_side(rolls[row].state, cube).cube_model for row in rows]
    rolled = dict(
        zip(rows, roll_out_pairs(before, pairs, cube_models, evaluator, settings, jobs=jobs), strict=True)
    )
    return [
        _with_rollout(one, rolled[row]) if row in rolled else one._replace(is_sure=one.is_exact)
        for row, one in enumerate(judgements)
    ]


def _with_rollout(judged: JudgedRoll, rolled: RolledPair) -> JudgedRoll:
    """Return a judgement whose best play and play made were rolled out, in this order."""
    numbers = judged.best, judged.played
    values = dict(zip(numbers, zip(rolled.equities, rolled.equity_se, strict=True), strict=True))
    candidates = [
        one if one.number not in values
        else one._replace(equity=values[one.number][0], source=ROLLOUT, se=values[one.number][1])
        for one in judged.candidates
    ]  # fmt: skip
    return judged._replace(
        best=judged.best if rolled.difference > 0 else judged.played,
        error=max(0.0, rolled.difference),
        se=rolled.se,
        is_sure=rolled.is_confirmed,
        candidates=tuple(sorted(candidates, key=lambda one: (one.source != ROLLOUT, -one.equity))),
        source=ROLLOUT,
        rolled=rolled,
    )


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
        sides = [cube_side(roll.state, cube) for roll in rolls[part]]
        values = _best_of_each_roll(boards, sides, evaluator)
        means = (values * ROLL_SHARES).sum(axis=1)
        openings = [row for row, roll in enumerate(rolls[part]) if roll.opening]
        if openings:
            others = _best_of_each_roll(
                boards[openings], [sides[row].turned() for row in openings], evaluator
            )
            own_mean = (values[openings] * OPENING_SHARES).sum(axis=1)
            other_mean = (others * OPENING_SHARES).sum(axis=1)
            means[openings] = (own_mean + switched_equities(other_mean)) / 2
        luck[part] = values[np.arange(len(values)), places[part]] - means
    return luck


def judge_cube(
    chances: Sequence[CubeChance],
    evaluator: Evaluator,
    *,
    confirm: RolloutSettings | None = None,
    jobs: int | None = 1,
) -> list[CubeAct]:
    """Return what was done at each of `chances`, and its answer, and what that cost by `evaluator`.

    An error counts where a rollout as `confirm` says confirms it, and as much as that says; None: lookahead
    is believed.  Where few checkers are left decisions are exact, and need none.
    """
    quick = evaluator.without_lookahead is evaluator
    size = _DECISIONS_AT_ONCE if quick else _LOOKAHEAD_DECISIONS_AT_ONCE
    parts = [chances[k : k + size] for k in range(0, len(chances), size)]
    decisions: list[CubeDecision] = []
    with progress(f"{evaluator.name} judges the cube", len(chances)) as advance:
        calls = ((part,) for part in parts)
        judged = run_ordered(
            partial(_cube_decisions, evaluator), calls, 1 if quick or len(parts) < 2 else jobs
        )
        for part in judged:
            advance(len(part))
            decisions += part
    asked = [
        (chance, player, JudgedCube(chance.position, chance.state, decision, act))
        for chance, decision in zip(chances, decisions, strict=True)
        for player, act in _done(chance)
    ]
    doubtful = [] if confirm is None else [question for *_, question in asked if question.is_doubtful]
    rolled = iter(roll_out_cubes(doubtful, evaluator, confirm, jobs=jobs) if confirm is not None else ())
    acts = []
    for chance, player, question in asked:
        act = _act(chance, player, question, evaluator)
        if confirm is not None and not question.decision.exact:
            act = _confirmed_act(act, next(rolled) if question.is_doubtful else None)
        acts.append(act)
    return acts


def _cube_decisions(evaluator: Evaluator, chances: Sequence[CubeChance]) -> list[CubeDecision]:
    boards = np.array([chance.position.board for chance in chances])
    rows = evaluator.evaluate_many(boards).astype(np.float64).tolist()
    return [
        cube_decision_by(evaluator, chance.position, Probabilities(*row), chance.state)
        for chance, row in zip(chances, rows, strict=True)
    ]


def cube_side(state: MatchState, cube: bool = True) -> CubeSide:
    """Return what the game is worth to the player on roll in `state`; without `cube` nobody can double."""
    return _cube_side(context_of(state, cube))


def context_of(state: MatchState, cube: bool = True) -> CubeContext:
    """Return what plays are valued for in `state`, without what changes nothing there."""
    if state.length:
        state = replace(state, jacoby=False, beavers=False)
    return CubeContext(replace(state, dice=None), cube)


def play_values(
    before: Board, plays: PlayBatch, sides: Sequence[CubeSide], evaluator: Evaluator
) -> npt.NDArray[np.float64]:
    """Normalised equity of each of `plays` (m) of the decisions on `before` (n, 26) to its mover: (m,).

    `sides` are those of the n decisions.
    """
    values = np.empty(len(plays.boards))
    groups: dict[int, list[int]] = {}
    for decision, one in enumerate(sides):
        groups.setdefault(id(one), []).append(decision)
    for decisions in groups.values():
        part, rows = plays.take(np.array(decisions))
        one = sides[decisions[0]]
        valued = evaluator.with_cube(one.cube_model, one.side)
        values[rows] = valued.play_equities(before[decisions], part)
    return values


@lru_cache(maxsize=1024)
def _cube_side(context: CubeContext) -> CubeSide:
    state = context.state
    assert state is not None
    unit = scale(state).half if state.length else float(state.cube)
    return CubeSide(context.cube_model, 0, unit)


def _judged(evaluator: Evaluator, cube: bool, rolls: Sequence[PlayedRoll]) -> list[JudgedRoll]:
    boards = np.array([roll.position.board for roll in rolls])
    dice = np.array([roll.roll for roll in rolls])
    judgements: list[JudgedRoll] = []
    for batch in play_batches(boards, dice, _PLAYS_AT_ONCE):
        here, ends = batch.decisions, batch.offsets.tolist()
        played = np.array([roll.play.position.board for roll in rolls[here] if roll.play is not None])
        same = (batch.boards == played[batch.decision]).all(axis=1)
        values, sources = _estimates(boards[here], batch, rolls[here], cube, evaluator, same)
        for roll, start, end in zip(rolls[here], ends[:-1], ends[1:], strict=True):
            if not same[start:end].any():
                raise RecordError(f"game {roll.game}, move {roll.move}: the play is not legal")
            made = int(np.argmax(same[start:end]))
            judgements.append(_judged_play(values[start:end], sources[start:end], made))
    return judgements


def _estimates(
    before: Board,
    batch: PlayBatch,
    rolls: Sequence[PlayedRoll],
    cube: bool,
    evaluator: Evaluator,
    asked: npt.NDArray[np.bool_],
) -> PlayEstimates:
    """Return what the plays of `rolls` (n) are worth to their movers; those `asked` (m,) are seen fully."""
    values, sources = np.empty(len(batch.boards)), np.empty(len(batch.boards), np.int64)
    groups: dict[CubeContext, list[int]] = {}
    for decision, roll in enumerate(rolls):
        groups.setdefault(context_of(roll.state, cube), []).append(decision)
    for context, decisions in groups.items():
        part, rows = batch.take(np.array(decisions))
        values[rows], sources[rows] = estimate_plays(
            before[decisions], part, evaluator, context, asked=asked[rows]
        )
    return PlayEstimates(values, sources)


def _judged_play(values: npt.NDArray[np.float64], sources: npt.NDArray[np.int64], played: int) -> JudgedRoll:
    """Return a judgement by values (m,) of the legal plays and their sources."""
    best = played if values[played] == values.max() else int(np.argmax(values))
    order = np.argsort(-values, kind="stable")[:CANDIDATES].tolist()
    shown = order if played in order else [*order[: CANDIDATES - 1], played]
    words = [source_words(source) for source in sources.tolist()]
    equities = values.tolist()
    return JudgedRoll(
        len(values),
        best,
        float(values[best]) - float(values[played]),
        candidates=tuple(JudgedCandidate(k, equities[k], words[k], equities[k], words[k]) for k in shown),
        played=played,
        source=words[played],
    )


def _best_of_each_roll(
    boards: Board, sides: Sequence[CubeSide], evaluator: Evaluator
) -> npt.NDArray[np.float64]:
    """Return the mover's value of the best play of each of the 21 rolls on `boards` (n, 26): (n, 21)."""
    before = np.repeat(boards, len(ROLLS), axis=0)
    rolls = np.tile(ROLLS, (len(boards), 1))
    side_of_each = [one for one in sides for _ in range(len(ROLLS))]
    best = np.empty(len(rolls))
    for batch in play_batches(before, rolls, _PLAYS_AT_ONCE):
        here = batch.decisions
        values = play_values(before[here], batch, side_of_each[here], evaluator)
        best[here] = np.maximum.reduceat(values, batch.offsets[:-1])
    return best.reshape(len(boards), len(ROLLS))


def _done(chance: CubeChance) -> list[tuple[int, str]]:
    """Who did what."""
    done = [(chance.player, DOUBLE if chance.doubled else NO_DOUBLE)]
    if chance.answer is not None:
        done.append((1 - chance.player, PASS if chance.answer == "drop" else TAKE))
    return done


def _act(chance: CubeChance, player: int, question: JudgedCube, evaluator: Evaluator) -> CubeAct:
    """Return what was done and what it cost, as `evaluator` says."""
    decision = question.decision
    source = EXACT if decision.exact else source_words(plies_of(evaluator))
    unit = cube_side(chance.state).unit
    return CubeAct(chance, decision, player, question.done, decision.cost(question.done), unit, source)


def _confirmed_act(act: CubeAct, rolled: RolledCube | None) -> CubeAct:
    """`act` with what it cost by a rollout; nothing where lookahead saw too little to roll out."""
    if rolled is None:
        return replace(act, error=0.0)
    if not rolled.trials:
        return act
    return replace(
        act,
        decision=rolled.decision,
        error=rolled.confirmed,
        source=ROLLOUT,
        se=rolled.se,
        trials=rolled.trials,
    )
