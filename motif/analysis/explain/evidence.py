"""Evidence on two plays beyond the board: score and cube, lookahead and rollout."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from motif.analysis.confirmation import ComparedPair, RolledPair, difference_shown
from motif.analysis.explain.reasons import (
    LOOKAHEAD_STEP,
    MIN_SHOWN,
    ROLLOUT_STEP,
    SCORE_STEP,
    Reason,
    counted_as_well,
    play_names,
    row,
)
from motif.analysis.explain.replies import BestReplies, Replies, replies
from motif.analysis.phrases import Phrases
from motif.board.match_state import MatchState
from motif.board.outcome import outcome
from motif.evaluators import Evaluator, LookaheadEvaluator
from motif.evaluators.cube_model import DEAD, NO_STATE, CubeModel, gammon_gains, gammon_values
from motif.evaluators.probabilities import LOSE_GAMMON, WIN_GAMMON, switch_sides, switched_equities
from motif.players.ranking import EXACT, cube_model_of

LITTLE, _MUCH = 0.15, 0.65
"""Gammon values (0.5 in money play) below which gammons count for little, and above which for more."""
_NOTHING = 1e-6
"""Gammon value up to which gammons count for nothing."""


@dataclass(frozen=True)
class Evidence:
    """The evidence on two plays beyond the static value of the board."""

    names: tuple[str, str]
    """Both plays in notation."""
    words: Phrases = field(repr=False)
    player: str
    pair: ComparedPair
    """Both plays with their best estimates."""
    cube_model: CubeModel = field(repr=False)
    static_difference: float
    """Static, cubeless equity of the first play minus that of the second."""
    cubeful: tuple[float, float] | None
    """Static normalised equities at the score with the cube; None in cubeless money play."""
    looks_ahead: bool
    """Whether the plays were chosen by lookahead."""
    replies: Replies | None
    """The opponent's replies; None without lookahead or if a play ends the game."""
    played_out: bool
    """Whether lookahead played a late ending to its end."""
    gammons: tuple[float, float]
    """Gammons won and lost after the first play, less those after the second, by the static evaluation."""
    is_match: bool

    @property
    def ahead(self) -> tuple[float, float] | None:
        """Equities of both plays by lookahead; None without lookahead."""
        return (self.pair.better.equity, self.pair.worse.equity) if self.looks_ahead else None

    @property
    def rolled(self) -> tuple[float, float] | None:
        """Equities of both plays by a rollout; None without a rollout."""
        return self.pair.rolled and self.pair.rolled.equities

    @property
    def judged(self) -> tuple[float, float]:
        """Best estimates of both plays: exact, rollout, lookahead or static."""
        return self.pair.equities

    @property
    def difference(self) -> float:
        """Equity of the first play minus that of the second, by the best estimate."""
        return _difference(self.judged)

    @property
    def overrules(self) -> bool:
        """Whether lookahead prefers the play that is worse by the terms."""
        return self.ahead is not None and self.static_difference < 0 < _difference(self.ahead)

    def rows(self, board: Sequence[Reason]) -> tuple[Reason, ...]:
        """Return a reason for each step from the static difference to the best estimate.

        Facts covered by a larger reason of the `board` are not repeated.
        """
        rows, known = [], self.static_difference

        def said(key: str, change: float) -> str:
            names = {"play": self.names[change < 0], "other": self.names[change >= 0]}
            return self.words.say("beyond", key, **names, **self._stakes)

        if self.cubeful is not None:
            change = _difference(self.cubeful) - known
            phrase = self._score_phrase(change)
            rows.append(row(SCORE_STEP, change, said(phrase, change), phrase))
            known = _difference(self.cubeful)
        is_exact = EXACT in (self.pair.better.source, self.pair.worse.source)
        if self.looks_ahead or is_exact:
            reached = self.pair.better.equity - self.pair.worse.equity
            change = reached - known
            if is_exact or self.played_out or self.replies is None:
                phrase = "exact" if is_exact else "ending"
                rows.append(row(LOOKAHEAD_STEP, change, said(phrase, change), phrase))
            else:
                reply = self.replies.main_reason(change, self.names, self.words)
                if counted_as_well(reply, board):
                    reply = self.replies.of_rolls(change, self.names, self.words)
                rows.append(reply)
            known = reached
        if self.rolled is not None:
            change = self.difference - known
            # Late endings were rolled out before, with fewer trials.
            phrase = "more_trials" if self.played_out else "rollout"
            rows.append(row(ROLLOUT_STEP, change, said(phrase, change)))
        return tuple(rows)

    @property
    def _stakes(self) -> dict[str, str]:
        """What values the plays at a score, in words; a dead cube at 1 plays no part."""
        model = self.cube_model
        is_alone = model.kind[model.state] == DEAD and model.cube[model.state] == 1
        table = "score_alone" if is_alone else "with_cube"
        return {key: self.words.say("stakes", table, key) for key in ("favour", "at", "valued")}

    def _score_phrase(self, change: float) -> str:
        """Return the key of a phrase for a `change` that score and cube bring."""
        cashed = self._cashed
        if all(cashed):
            return "both_cashed"
        if cashed[change >= 0]:
            return "cashed"
        if self.cubeful is not None and abs(_difference(self.cubeful)) < MIN_SHOWN:
            return "score_equal" if self.is_match else "cube_equal"
        # Gammons are named only if they make up half of the change.
        values, more = gammon_values(self.cube_model), self.gammons
        side = 1 if change >= 0 else -1
        if max(values) < LITTLE and side * (more[1] - more[0]) >= abs(change) / 2:
            if not self.is_match:
                return "cube_no_gammons"
            return "score_no_gammons" if max(values) > _NOTHING else "score_dead_gammons"
        won, lost = gammon_gains(self.cube_model)  # both are 1 in money play
        gains = side * (won - 1) * more[0], -side * (lost - 1) * more[1]
        which = int(gains[1] > gains[0])
        if values[which] > _MUCH and gains[which] >= abs(change) / 2:
            return ("score_gammon_go", "score_gammon_save")[which]
        return "score" if self.is_match else "cube"

    @property
    def _cashed(self) -> tuple[bool, bool]:
        """Whether the opponent doubles and wins at once after each play."""
        pairs = zip(self.cubeful or (), (self.pair.better.equity, self.pair.worse.equity), strict=False)
        may_double = self.cube_model.doubled[self.cube_model.state, 1] != NO_STATE
        first, second = (
            bool(may_double) and max(abs(1 + value) for value in two) < MIN_SHOWN for two in pairs
        )
        return first, second

    def ahead_in_words(self) -> tuple[str, ...]:
        """Return sentences on lookahead and rollout; empty without lookahead."""
        if self.ahead is None or self.replies is None:
            return ()
        view = self._compared("ending" if self.played_out else "ahead", self.ahead)
        if self.overrules:
            view += "  " + self.words.say("detail", "overruled", worse=self.names[1])
        rolled = () if self.pair.rolled is None else (self._rolled_in_words(self.pair.rolled),)
        return view, *rolled, *self.replies.sentences(self.names, self.words)

    def in_words(self) -> tuple[str, ...]:
        """Return sentences on score and cube, lookahead and rollout."""
        key = "with_score" if self.is_match else "with_cube"
        cubeful = () if self.cubeful is None else (self._compared(key, self.cubeful),)
        return *cubeful, *self.ahead_in_words()

    def _rolled_in_words(self, rolled: RolledPair) -> str:
        if rolled.se is None:
            return self._compared("rollout", rolled.equities)
        return self._compared("rollout_se", rolled.equities, se=self.words.amount(rolled.se))

    def _compared(self, key: str, two: tuple[float, float], **more: str) -> str:
        first, second = (self.words.signed(value) for value in two)
        difference = self.words.signed(difference_shown(*two)).removeprefix("+")
        facts = {"first": first, "second": second, "difference": difference, "player": self.player}
        facts |= self._stakes | more
        return self.words.say("detail", key, better=self.names[0], worse=self.names[1], **facts)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON record."""
        facts: dict[str, object] = {} if self.cubeful is None else {"staked": list(self.cubeful)}
        if self.ahead is None or self.replies is None:
            return facts
        return facts | {
            "ahead": list(self.ahead),
            "overruled": self.overrules,
            "replies": {**self.replies.to_dict(), "sentences": list(self.ahead_in_words())},
        }


def gather_evidence(
    evaluator: Evaluator,
    pair: ComparedPair,
    state: MatchState | None,
    replied: BestReplies,
    risks: tuple[int, int],
    static_difference: float,
    words: Phrases,
) -> Evidence:
    """Return the evidence of `evaluator` on a `pair` of plays; see `Replies` for `risks`."""
    plays = pair.better.play, pair.worse.play
    boards = np.array([play.position.board for play in plays])
    static, cube_model = evaluator.without_lookahead, cube_model_of(state)
    chances = switch_sides(static.evaluate_many(boards).astype(np.float64))
    won, lost = (chances[0] - chances[1])[[WIN_GAMMON, LOSE_GAMMON]]
    valued, cubeful = static.with_cube(cube_model, side=1), None
    if valued is not static:
        first, second = switched_equities(valued.equity_many(boards)).tolist()
        cubeful = first, second
    ahead = evaluator if isinstance(evaluator, LookaheadEvaluator) else None
    is_over = any(outcome(play.position) for play in plays)
    return Evidence(
        names=play_names(plays, words),
        words=words,
        player=evaluator.name,
        pair=pair,
        cube_model=cube_model,
        static_difference=static_difference,
        cubeful=cubeful,
        looks_ahead=ahead is not None,
        replies=None if ahead is None or is_over else replies(ahead, replied, cube_model, risks),
        played_out=ahead is not None and bool(ahead.plays_out(boards).any()),
        gammons=(float(won), float(lost)),
        is_match=state is not None and state.length > 0,
    )


def _difference(two: Sequence[float]) -> float:
    return two[0] - two[1]
