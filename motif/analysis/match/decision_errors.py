"""Errors of the decisions of a match, and the luck of its rolls.

Values are normalised cubeful equities at the score (see `motif.evaluators.cube_model`): a single game at the
current cube is worth +1 if won and -1 if lost, as in gnubg (EMG).  Errors at different scores and cubes, of
plays and of cube actions, are therefore comparable.

The error of a play is the value of the best play minus the value of the play made.  The luck of a roll is the
value of its best play minus the mean over all rolls, that is, 1-ply lookahead.  The first roll of a game also
decides who starts, so its luck is measured against the mean over both players' 15 opening rolls.

Every possible double and every answer to a double is judged.  As in gnubg, not doubling counts as a decision
only if it was close: if doubling would have cost less than `CLOSE` or been right.  Doubles, takes and passes
always count; a beaver is judged as a take unless the state allows beavers, and raccoons are not judged.

Apparent errors are confirmed by rollouts (`motif.analysis.confirmation`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from motif.analysis.confirmation import (
    CONFIRMED_Z,
    ROLLOUT_THRESHOLD,
    ComparedPair,
    RolledPair,
    cube_source,
    in_batches,
    roll_out_pairs,
)
from motif.analysis.cube_records import cube_answers
from motif.analysis.match.record_walk import CubeChance, PlayedRoll
from motif.board.match_state import MatchState
from motif.board.movegen import OPENING_SHARES, ROLL_SHARES, ROLLS, roll_numbers
from motif.board.moves import PlayBatch, legal_plays, play_batches
from motif.board.packed import BOARD_SIZE, Board
from motif.doubling import CubeDecision
from motif.doubling.cube_states import state_after_take
from motif.doubling.cubeful_rollout import roll_out_cube
from motif.doubling.decision import ANSWERS, with_rollout
from motif.evaluators import Evaluator, StaticEvaluator
from motif.evaluators.evaluator import PlayEstimates
from motif.evaluators.probabilities import switched_equities
from motif.players.ranking import (
    EXACT,
    ROLLOUT,
    RankedPlay,
    best_first,
    cube_model_of,
    estimate_plays,
    rows_by_state,
    source_words,
)
from motif.rollouts.rollout_settings import RolloutSettings
from motif.runtime.arrays import BoolArray, FloatArray, IntArray, slices
from motif.runtime.errors import RecordError

CLOSE = 0.16
"""Normalised equity: not doubling counts as a decision if a double costs less (gnubg's
`isCloseCubedecision`)."""
NO_DOUBLE, DOUBLE, TAKE, PASS, BEAVER = "no double", "double", "take", "pass", "beaver"
_MISTAKES = {NO_DOUBLE: "missed double", DOUBLE: "wrong double", TAKE: "wrong take", PASS: "wrong pass"}
MISTAKE_KINDS = tuple(_MISTAKES.values())
_PLAYS_KEPT = 5
"""Number of plays kept for each roll."""
_NEGLIGIBLE = 1e-6
"""Smallest error that counts as a mistake, because probabilities are float32."""
_MORE_TRIALS = 2
"""Factor by which the trials of inconclusive cube decisions and of confirmed errors are increased."""
_PLAYS_AT_ONCE = 1 << 17
_DECISIONS_AT_ONCE = 512
_LOOKAHEAD_AT_ONCE = 8
"""Small batches keep all workers busy with lookahead."""


@dataclass(frozen=True)
class Candidate:
    """A possible action and its equity."""

    done: str
    """A play in notation, or a cube action such as ``double, take``."""
    equity: float
    """Normalised equity for the player to decide: the best available estimate."""
    source: str
    """Source of the equity: ``0-ply``, ``2-ply`` ..., ``rollout`` or ``exact``."""
    se: float | None = None
    """Standard error of an equity from a rollout."""
    lookahead: float | None = None
    """Equity by lookahead, if `equity` is from a confirming rollout; lookahead itself may be a rollout."""
    plies: str = ""
    """Source of the equity by lookahead."""
    number: int = 0
    """Index of a play among `legal_plays`."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON record."""
        record: dict[str, object] = {"done": self.done, "equity": self.equity, "source": self.source}
        rolled = {"se": self.se, "lookahead": self.lookahead}
        return record | {name: value for name, value in rolled.items() if value is not None}

    @property
    def label(self) -> str:
        """Source in brackets, with the standard error of a rollout."""
        doubt = "" if self.se is None else f" ±{self.se:.3f}"
        return f"({self.source}{doubt})" if self.source else ""


class JudgedRoll(NamedTuple):
    """The evaluator's judgement of a played roll."""

    roll: PlayedRoll
    legal: int
    """Number of legal plays."""
    best: int
    """Index of the best play among `legal_plays`; the play made if none is better."""
    error: float
    """Normalised equity lost by the play, at least 0."""
    candidates: tuple[Candidate, ...]
    """The best plays and the play made, best first; those of `rolled` precede the others."""
    played: int
    """Index of the play made."""
    source: str
    """Source of `error`."""
    is_sure: bool = True
    """Whether the error is certain: confirmed, if plays are rolled out."""
    rolled: RolledPair | None = None
    """The rollout of lookahead's best play and the play made."""

    @property
    def is_exact(self) -> bool:
        """Whether the best play or the play made has an exact equity, so that no rollout is needed."""
        return EXACT in (self.of(self.best).source, self.of(self.played).source)

    @property
    def is_doubtful(self) -> bool:
        """Whether lookahead sees an error that needs a rollout."""
        return self.error >= ROLLOUT_THRESHOLD and not self.is_exact

    def of(self, number: int) -> Candidate:
        """Return the candidate with an index among `legal_plays`."""
        return next(candidate for candidate in self.candidates if candidate.number == number)

    @property
    def choice(self) -> ComparedPair:
        """The comparison of the best play and the play made, in the order of `rolled`."""
        plays = legal_plays(self.roll.position, self.roll.roll)
        known = {
            candidate.number: candidate.equity if candidate.lookahead is None else candidate.lookahead
            for candidate in self.candidates
        }
        best = max(known, key=lambda number: known[number])
        first, second = (
            RankedPlay(plays[k], known[k], known[k] - known[best], self.of(k).plies)
            for k in (best if self.rolled else self.best, self.played)
        )
        return ComparedPair(first, second, self.rolled)


class RolledCube(NamedTuple):
    """A cube decision that was rolled out."""

    decision: CubeDecision
    cost: float
    """Normalised equity lost by the action, at least 0."""
    se: float
    """Standard error of the gain or loss."""
    trials: int
    equity_se: tuple[float, float]
    """Standard errors of the equities of no double and double/take."""

    @property
    def confirmed(self) -> float:
        """`cost` if it is significant, otherwise 0."""
        return self.cost if self.cost > CONFIRMED_Z * self.se else 0.0


@dataclass(frozen=True)
class CubeAct:
    """A cube action, including not doubling, and its error."""

    chance: CubeChance
    decision: CubeDecision
    """Best available estimate: rolled out if lookahead saw an error."""
    player: int
    """The player who decided."""
    done: str
    """The action, as `CubeDecision.cost` names it."""
    error: float
    """Normalised equity lost, at least 0; 0 unless a rollout confirms it."""
    source: str = ""
    """Source of `error`: ``0-ply``, ``2-ply`` ..., ``rollout`` or ``exact``."""
    rolled: RolledCube | None = None
    """The rollout, if lookahead saw an error."""

    @property
    def se(self) -> float | None:
        """Standard error of `error` by a rollout."""
        return self.rolled and self.rolled.se

    @property
    def is_doubtful(self) -> bool:
        """Whether lookahead sees an error that needs a rollout."""
        return self.error >= ROLLOUT_THRESHOLD and not self.decision.exact

    @property
    def mistake(self) -> str | None:
        """Kind of mistake, one of `MISTAKE_KINDS`; None if nothing was lost, and for raccoons."""
        done = TAKE if self.done == BEAVER else self.done
        return _MISTAKES.get(done) if self.error > _NEGLIGIBLE else None

    @property
    def is_too_close(self) -> bool:
        """Whether a rollout did not confirm the error seen by lookahead."""
        return self.source == ROLLOUT and not self.mistake

    @property
    def counts(self) -> bool:
        """Whether the action counts as a decision."""
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
    """Judge the play of each of `rolls` by `evaluator`.

    Without `cube`, the cube is ignored. Errors of `ROLLOUT_THRESHOLD` and more come from a rollout with the
    settings `confirm`; with None, lookahead is trusted.
    """
    work = partial(_judged, evaluator, cube)
    label = f"{evaluator.name} judges the plays"
    judgements = in_batches(work, rolls, label, *_pace(evaluator, jobs))
    return judgements if confirm is None else _confirmed(judgements, evaluator, cube, confirm, jobs)


def _pace(evaluator: Evaluator, jobs: int | None) -> tuple[int, int | None]:
    """Return the number of decisions of a batch and of workers: one for a static evaluator."""
    return (_DECISIONS_AT_ONCE, 1) if isinstance(evaluator, StaticEvaluator) else (_LOOKAHEAD_AT_ONCE, jobs)


def _confirmed(
    judgements: Sequence[JudgedRoll],
    evaluator: Evaluator,
    cube: bool,
    settings: RolloutSettings,
    jobs: int | None,
) -> list[JudgedRoll]:
    """Return the `judgements` with doubtful errors replaced by a rollout's."""
    doubtful = [judged for judged in judgements if judged.is_doubtful]
    pairs = np.empty((len(doubtful), 2, BOARD_SIZE), np.int8)
    for number, judged in enumerate(doubtful):
        plays = legal_plays(judged.roll.position, judged.roll.roll)
        pairs[number] = plays[judged.best].position.board, plays[judged.played].position.board
    before = np.array([judged.roll.position.board for judged in doubtful], np.int8)
    cube_models = [cube_model_of(valued_state(judged.roll.state, cube)) for judged in doubtful]
    rolled = iter(roll_out_pairs(before, pairs, cube_models, evaluator, settings, jobs=jobs))
    return [
        _with_rollout(judged, next(rolled))
        if judged.is_doubtful
        else judged._replace(is_sure=judged.is_exact)
        for judged in judgements
    ]


def _with_rollout(judged: JudgedRoll, rolled: RolledPair) -> JudgedRoll:
    """Return a judgement with the rollout of its best play and the play made, in this order."""
    candidates = {candidate.number: candidate for candidate in judged.candidates}
    for number, equity, se in zip(
        (judged.best, judged.played), rolled.equities, rolled.equity_se, strict=True
    ):
        one = candidates[number]
        candidates[number] = replace(one, equity=equity, source=ROLLOUT, se=se, lookahead=one.equity)
    return judged._replace(
        best=judged.best if rolled.difference > 0 else judged.played,
        error=max(0.0, rolled.difference),
        is_sure=rolled.is_confirmed,
        candidates=tuple(sorted(candidates.values(), key=lambda one: (one.lookahead is None, -one.equity))),
        source=ROLLOUT,
        rolled=rolled,
    )


def roll_luck(rolls: Sequence[PlayedRoll], evaluator: Evaluator, *, cube: bool = True) -> FloatArray:
    """Return the luck (n,) of `rolls`: normalised equity gained against the average roll."""
    luck = np.empty(len(rolls))
    dice = np.array([roll.roll for roll in rolls]).reshape(len(rolls), 2)
    places = roll_numbers(dice)
    for part in slices(len(rolls), _DECISIONS_AT_ONCE):
        boards = np.array([roll.position.board for roll in rolls[part]])
        states = [valued_state(roll.state, cube) for roll in rolls[part]]
        values = _best_of_each_roll(boards, states, evaluator)
        means = (values * ROLL_SHARES).sum(axis=1)
        openings = [row for row, roll in enumerate(rolls[part]) if roll.opening]
        if openings:
            of_openings = [states[row] for row in openings]
            others = _best_of_each_roll(boards[openings], of_openings, evaluator, side=1)
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
    """Judge the action at each of `chances`, and its answer, by `evaluator`.

    Errors are measured by rollouts with the settings `confirm`, and count if these confirm them; with None,
    lookahead is trusted.  Exact decisions, with few checkers left, need no rollout.
    """
    work = partial(_cube_decisions, evaluator)
    label = f"{evaluator.name} judges the cube"
    decisions = in_batches(work, chances, label, *_pace(evaluator, jobs))
    acts = [
        CubeAct(chance, decision, player, done, decision.cost(done), cube_source(decision, evaluator))
        for chance, decision in zip(chances, decisions, strict=True)
        for player, done in _done(chance)
    ]
    return confirmed_acts(acts, evaluator, confirm, jobs)


def confirmed_acts(
    acts: Sequence[CubeAct], evaluator: Evaluator, confirm: RolloutSettings | None, jobs: int | None = 1
) -> list[CubeAct]:
    """Return `acts` with doubtful errors measured by rollouts, and smaller ones that are not exact as 0.

    With `confirm` None, `evaluator` is trusted.
    """
    if confirm is None:
        return list(acts)
    static = evaluator.without_lookahead
    assert isinstance(static, StaticEvaluator)
    doubtful = [act for act in acts if act.is_doubtful]
    work = partial(_rolled_acts, static, confirm)
    rolled = iter(in_batches(work, doubtful, f"{static.name} rolls out cube decisions", 1, jobs))
    return [
        act if act.decision.exact else next(rolled) if act.is_doubtful else replace(act, error=0.0)
        for act in acts
    ]


def _cube_decisions(evaluator: Evaluator, chances: Sequence[CubeChance]) -> list[CubeDecision]:
    asked = [(chance.position, chance.state) for chance in chances]
    return [answer.decision for answer in cube_answers(asked, evaluator, evaluator.name, jobs=1)]


def valued_state(state: MatchState, cube: bool = True) -> MatchState:
    """Return the state in which plays are valued: `state` without the dice."""
    valued = replace(state, dice=None)
    return valued if cube else valued.without_cube()


def _judged(evaluator: Evaluator, cube: bool, rolls: Sequence[PlayedRoll]) -> list[JudgedRoll]:
    boards = np.array([roll.position.board for roll in rolls])
    dice = np.array([roll.roll for roll in rolls])
    judgements: list[JudgedRoll] = []
    for batch in play_batches(boards, dice, _PLAYS_AT_ONCE):
        here, ends = batch.decisions, batch.offsets.tolist()
        played = np.array([roll.play.position.board for roll in rolls[here] if roll.play is not None])
        same = (batch.boards == played[batch.decision]).all(axis=1)
        estimates = _estimates(boards[here], batch, rolls[here], cube, evaluator, same)
        (values, sources), order = estimates, best_first(estimates, boards[here], batch, evaluator)
        for roll, start, end in zip(rolls[here], ends[:-1], ends[1:], strict=True):
            if not same[start:end].any():
                raise RecordError(f"game {roll.game}, move {roll.move}: illegal play")
            made = int(np.argmax(same[start:end]))
            ranked = (order[start:end] - start).tolist()
            judgements.append(_judged_play(roll, values[start:end], sources[start:end], ranked, made))
    return judgements


def _estimates(
    before: Board,
    batch: PlayBatch,
    rolls: Sequence[PlayedRoll],
    cube: bool,
    evaluator: Evaluator,
    asked: BoolArray,
) -> PlayEstimates:
    """Return the mover's equity of each play of `rolls` (n), at full depth for the plays `asked` (m,)."""
    values, sources = np.empty(len(batch.boards)), np.empty(len(batch.boards), np.int64)
    for state, decisions in rows_by_state(valued_state(roll.state, cube) for roll in rolls).items():
        part, rows = batch.take(np.array(decisions))
        values[rows], sources[rows] = estimate_plays(
            before[decisions], part, evaluator, state, asked=asked[rows]
        )
    return PlayEstimates(values, sources)


def _judged_play(
    roll: PlayedRoll, values: FloatArray, sources: IntArray, ranked: list[int], played: int
) -> JudgedRoll:
    """Return a judgement from the values (m,) and sources of the legal plays, `ranked` best first."""
    best = played if values[played] == values[ranked[0]] else ranked[0]
    order = ranked[:_PLAYS_KEPT]
    shown = order if played in order else [*order[: _PLAYS_KEPT - 1], played]
    plays, words = legal_plays(roll.position, roll.roll), [source_words(one) for one in sources.tolist()]
    candidates = tuple(
        Candidate(plays[k].notation, float(values[k]), words[k], plies=words[k], number=k) for k in shown
    )
    # Ties are within rounding errors.
    error = max(0.0, float(values[best]) - float(values[played]))
    return JudgedRoll(roll, len(values), best, error, candidates, played, words[played])


def _best_of_each_roll(
    boards: Board, states: Sequence[MatchState], evaluator: Evaluator, side: int = 0
) -> FloatArray:
    """Return the values (n, 21) of the best play of each roll on `boards` (n, 26), for `side`, on roll."""
    best = np.empty((len(boards), len(ROLLS)))
    for state, decisions in rows_by_state(states).items():
        before, rolls = np.repeat(boards[decisions], len(ROLLS), axis=0), np.tile(ROLLS, (len(decisions), 1))
        valued, values = evaluator.with_cube(cube_model_of(state), side), np.empty(len(before))
        for batch in play_batches(before, rolls, _PLAYS_AT_ONCE):
            here = batch.decisions
            values[here] = np.maximum.reduceat(valued.play_equities(before[here], batch), batch.offsets[:-1])
        best[decisions] = values.reshape(-1, len(ROLLS))
    return best


def _done(chance: CubeChance) -> list[tuple[int, str]]:
    done = [(chance.player, DOUBLE if chance.doubled else NO_DOUBLE)]
    if chance.answer is not None:
        is_beaver = chance.answer == BEAVER and chance.state.beavers
        done.append((1 - chance.player, PASS if chance.answer == "drop" else BEAVER if is_beaver else TAKE))
    return done


def _rolled_acts(
    static: StaticEvaluator, settings: RolloutSettings, acts: Sequence[CubeAct]
) -> list[CubeAct]:
    return [_rolled_act(static, settings, act) if state_after_take(act.chance.state) else act for act in acts]


def _rolled_act(static: StaticEvaluator, settings: RolloutSettings, act: CubeAct) -> CubeAct:
    """Return `act` with its error by a rollout, which has more trials if the first ones are inconclusive.

    A confirmed error is measured again with other dice, because the dice that found it exaggerate it.
    """
    rolled = _rolled_cube(static, settings, act)
    more = replace(settings, trials=_MORE_TRIALS * settings.trials)
    if CONFIRMED_Z * rolled.se > rolled.cost > ROLLOUT_THRESHOLD - CONFIRMED_Z * rolled.se:
        rolled = _rolled_cube(static, more, act)
    if rolled.confirmed:
        rolled = _rolled_cube(static, replace(more, seed=more.seed + 1), act)
    return replace(act, decision=rolled.decision, error=rolled.confirmed, source=ROLLOUT, rolled=rolled)


def _rolled_cube(static: StaticEvaluator, settings: RolloutSettings, act: CubeAct) -> RolledCube:
    """Return a decision by a rollout; the cube must not be dead."""
    result = roll_out_cube(act.chance.position, act.chance.state, static, settings, jobs=1)
    assert result.double_take is not None
    assert result.double_take_se is not None
    assert result.difference_se is not None
    decision = with_rollout(act.decision, result.no_double, result.double_take)
    se = result.double_take_se if act.done in ANSWERS else result.difference_se
    both = float(result.se[-1]), result.double_take_se
    return RolledCube(decision, decision.cost(act.done), se, result.trials, both)
