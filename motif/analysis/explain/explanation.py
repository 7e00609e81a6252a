"""Why one play is better than another, and what makes up the value of one position.

What changed on the board is told in words, each thing with what it brings (`concepts`, `reasons`); what the
terms of the weights add, and the groups that they are filed under, is there for who wants to see it all.

The yardstick of one position is the same position with the sides exchanged, the same player on roll.  Half
the difference of the two values is what one's checkers stand better than the opponent's, split over terms as
for plays; half their sum, which belongs to neither, is what being on roll is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.analysis.confirmation import ComparedPair, compare_plays
from motif.analysis.explain.concepts import Contribution, parts_between
from motif.analysis.explain.exposure import Exposure, risky_rolls
from motif.analysis.explain.judged import both_races, bound_of, explainable, judged
from motif.analysis.explain.reasons import (
    LOOKAHEAD,
    LOOKAHEAD_HITS,
    ROLLOUT,
    SCORE,
    Reason,
    counted_as_well,
    reasons_of,
    row,
    rows_told,
)
from motif.analysis.explain.replies import Replies, hit_rolls, replies
from motif.analysis.explain.situation import Situation
from motif.analysis.explain.split import Terms, split
from motif.analysis.explain.words import (
    Fact,
    Group,
    Scale,
    View,
    group_facts,
    grouped,
    listed,
    told_groups,
    value_line,
)
from motif.analysis.judge import known_error_rate
from motif.analysis.phrases import LANGUAGE, Phrases, phrases
from motif.benchmark.losses import MILLIPOINTS
from motif.board.diagram import svg_diagram
from motif.board.identifiers import gnubg_id
from motif.board.movegen import ROLL_COUNTS
from motif.board.moves import Play, checked_roll, legal_plays
from motif.board.notation import NO_MOVE
from motif.board.outcome import outcome
from motif.board.packed import Board
from motif.board.position import Position
from motif.evaluators import Evaluator, LookaheadEvaluator, WeightFile
from motif.evaluators.hidden_unit_words import unit_term, words_of_units
from motif.evaluators.probabilities import OUTPUTS, turned, turned_equities
from motif.evaluators.stakes import EVEN, Stakes
from motif.players.ranking import EXACT, MONEY, CubeContext
from motif.runtime.errors import PlayError
from motif.runtime.frames import Tabular
from motif.runtime.layout import html_lines, side_by_side
from motif.runtime.streams import THROWS

ON_ROLL = "being on roll"
_MIN_GAMMONS, _LARGE_SHARE = 0.02, 0.5
"""What gammons must make of a difference to be told: so many points, and such a share."""
_LITTLE, _MUCH = 0.3, 1.3
"""Values of a gammon, of 1 for money, below which it counts for little, and beyond which for more."""
_POINTS = np.arange(-EVEN, EVEN + 1)
"""What games are worth for money, as in `Stakes.worth`."""
_SHOWN = 0.0005
"""The least difference that is not nothing in the digits that are shown."""
_SURE = (("clear", 8.0), ("likely", 2.0))
"""How many times the average error a difference is that is called so.  In 111 decisions of self-play, rolled
out, the best play of motif-v6@2 was better than its second best in 60 % of those below, 80 % and 98 %."""


@dataclass(frozen=True, repr=False)
class Explanation(Tabular):
    """How the value of one play exceeds that of another, all of it seen by the player who makes them.

    Contributions are parts of `difference_x`; negative ones speak for the worse play.
    """

    evaluator: str
    position: Position
    """Before the roll, seen by the mover."""
    roll: tuple[int, int]
    better: Play
    worse: Play
    x: tuple[float, float]
    """The raw sums of both plays."""
    equities: tuple[float, float]
    """What both plays are ranked by: equities in points, 3 tanh x; of a file that has only win chances
    2 win - 1 = tanh x."""
    difference_x: float
    equity_difference: float
    """`equities`, the first less the second; below 0 when `better` was given and is not better."""
    terms: Terms
    """Name and contribution of every term that differs, in the names of the weight file, whose player on
    roll is the opponent; they add up to `difference_x`."""
    groups: tuple[tuple[str, float], ...]
    """What players would file the terms under, largest first; contributions add up to `difference_x`, too."""
    group_sentences: tuple[str, ...]
    """The largest groups with what is measured of them, and the rest; amounts in `unit`."""
    reasons: tuple[Reason, ...]
    """What makes the difference of `judged`, the largest first, in the unit of `equities`: what the plays do
    on the board, what score, lookahead and rollout change, and the rest.  They add up to it exactly."""
    parts: tuple[Contribution, ...] = field(repr=False)
    """What the board brings, all of it, without the words: the parts of `equity_difference`."""
    summary: str
    gammons: str
    """How the plays differ in gammons, in a sentence; empty where that makes little of the difference."""
    certainty: str
    """How sure it is, in a sentence; empty where nobody knows."""
    words: Phrases = field(repr=False)
    scale: Scale = field(repr=False)
    weights: WeightFile = field(repr=False, compare=False)
    """Those that the terms are of."""
    staked: tuple[float, float] | None = None
    """What both plays are worth at the score and with the cube where it lies, in normalised equity, and were
    chosen by; None where they were valued for money without a cube."""

    ahead: tuple[float, float] | None = None
    """What both plays are worth by the lookahead that chose them; None where nobody looked ahead."""
    replies: Replies | None = field(default=None, repr=False)
    """The replies that it saw."""
    played_out: bool = False
    """Whether `ahead` comes from playing a late ending to its end."""
    estimate: tuple[float, float] | None = None
    """The equities of both plays by a rollout; None where there was none."""
    judged: tuple[float, float] = (0.0, 0.0)
    """The best estimate of both plays: exact, rolled out, looked ahead, or that of the board."""

    @property
    def term_words(self) -> dict[str, str]:
        """Return what the hidden units among the `terms` are about, by name.

        Their player on roll is the opponent, as that of all terms is.
        """
        return _term_words(self.terms, self.weights)

    @property
    def overruled(self) -> bool:
        """Whether lookahead prefers the play that is not better by the terms alone."""
        return self.ahead is not None and self.equity_difference < 0 < self.ahead[0] - self.ahead[1]

    @property
    def shown_reasons(self) -> tuple[Reason, ...]:
        """The `reasons` that are not nothing in the digits shown."""
        return tuple(reason for reason in self.reasons if reason.amount >= _SHOWN)

    @property
    def judged_difference(self) -> float:
        """By how much the first play is better, by the best estimate."""
        return _difference(self.judged)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The `shown_reasons` without the amounts."""
        return tuple(reason.sentence for reason in self.shown_reasons)

    @property
    def grid(self) -> list[list[float]] | None:
        """By how much the first play is better after each roll of the opponent, by his two dice: 6 rows of 6.

        None where nobody looked ahead.
        """
        return None if self.replies is None else self.replies.grid

    @property
    def names(self) -> tuple[str, str]:
        """The two plays as they are written."""
        return _named((self.better, self.worse), self.words)

    @property
    def ahead_in_words(self) -> tuple[str, ...]:
        """What lookahead, and a rollout, say of both plays; empty where nobody looked ahead."""
        if self.ahead is None or self.replies is None:
            return ()
        view = self._compared("ending" if self.played_out else "ahead", self.ahead)
        if self.overruled:
            view += "  " + self.words.say("detail", "overruled", worse=self.names[1])
        rolled = () if self.estimate is None else (self._compared("rollout", self.estimate),)
        return view, *rolled, *self.replies.sentences(self.names, self.words)

    @property
    def staked_in_words(self) -> str:
        """What both plays are worth at the score and with the cube; empty where nothing was said of these."""
        return "" if self.staked is None else self._compared("staked", self.staked)

    def _compared(self, key: str, two: tuple[float, float]) -> str:
        first, second = (self.words.signed(value) for value in two)
        difference = self.words.signed(_difference(two)).removeprefix("+")
        facts = {"first": first, "second": second, "difference": difference, "player": self.evaluator}
        return self.words.say("detail", key, better=self.names[0], worse=self.names[1], **facts)

    def amount_in_words(self, reason: Reason) -> str:
        """Return what a reason brings, signed, such as ``+0.042``; in per cent for a file of win chances."""
        if self.scale.win_only and self.staked is None:
            return self.words.signed(50 * reason.contribution, 1)
        return self.words.signed(reason.contribution)

    @property
    def unit(self) -> str:
        """Unit of the amounts in sentences: points, or % of winning chances."""
        return self.scale.unit

    @property
    def shown_groups(self) -> tuple[tuple[str, float], ...]:
        """The `groups` that are not nothing in the digits shown."""
        return tuple(group for group in self.groups if self.scale.counts(group[1]))

    @property
    def values_in_words(self) -> str:
        """The values of both plays, and how they come from x."""
        return value_line(self.scale, self.x, self.equities, self.words)

    @property
    def lines(self) -> tuple[str, ...]:
        """All that it says in words, the reasons with what each brings."""
        rows = (f"{self.amount_in_words(reason)}  {reason.sentence}" for reason in self.shown_reasons)
        return tuple(filter(None, (self.summary, *rows, self.gammons, self.certainty)))

    @property
    def detailed_lines(self) -> tuple[str, ...]:
        """How the values come about: formula, score, lookahead, and the groups with what is measured.

        The registry of parameters, which says what is measured, speaks English alone.
        """
        groups = self.group_sentences if self.words.language == LANGUAGE else ()
        said = self.values_in_words, self.staked_in_words, *self.ahead_in_words, *groups
        return tuple(filter(None, said))

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each term that counts."""
        return list(self.to_dict()["terms"])

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        boards = [
            f"<b>{escape(str(play))}</b><br>" + svg_diagram(self.position, moves=play.moves, size=340)
            for play in (self.better, self.worse)
        ]
        return side_by_side(*boards) + html_lines(self.lines)

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON; `amount` is a contribution in `unit`."""

        def play_dict(play: Play, x: float, equity: float) -> dict[str, Any]:
            return {
                "notation": play.notation,
                "position": gnubg_id(play.position),
                "x": x,
                "equity": equity,
            }

        return {
            "player": self.evaluator,
            "position": gnubg_id(self.position),
            "roll": list(self.roll),
            "better": play_dict(self.better, self.x[0], self.equities[0]),
            "worse": play_dict(self.worse, self.x[1], self.equities[1]),
            "difference": self.difference_x,
            "equity_difference": self.equity_difference,
            "judged": list(self.judged),
            "judged_difference": self.judged_difference,
            "unit": self.unit,
            "summary": self.summary,
            "reasons": [reason.to_dict() for reason in self.reasons],
            "gammons": self.gammons,
            "certainty": self.certainty,
            "grid": self.grid,
            "values": self.values_in_words,
            **({} if self.staked is None else {"staked": list(self.staked)}),
            **(
                {}
                if self.ahead is None or self.replies is None
                else {
                    "ahead": list(self.ahead),
                    "overruled": self.overruled,
                    "replies": {**self.replies.to_dict(), "sentences": list(self.ahead_in_words)},
                }
            ),
            **_parts_dict(self),
        }


@dataclass(frozen=True)
class PositionExplanation:
    """The value of a position for the player on roll, in parts."""

    x: float
    """By which the position is ranked; see `motif.analysis.explain.judged.Judged`."""
    on_roll: float
    """The part of x that exchanging the sides leaves as it is."""
    terms: Terms
    """Name and contribution of every term; with `on_roll` they add up to x."""
    groups: tuple[tuple[str, float], ...]
    """What players would file the terms under, largest first."""
    sentences: tuple[str, ...]
    summary: str
    scale: Scale = field(repr=False)
    weights: WeightFile = field(repr=False, compare=False)

    @property
    def term_words(self) -> dict[str, str]:
        """Return what the hidden units among the `terms` are about, by the names of these."""
        return _term_words(self.terms, self.weights)

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON; `amount` is a contribution in `unit`."""
        return {
            "x": self.x,
            "on_roll": self.on_roll,
            "unit": self.scale.unit,
            "summary": self.summary,
            **_parts_dict(self),
        }


def explain_play(
    evaluator: Evaluator,
    position: Position,
    roll: tuple[int, int],
    better: Play | None = None,
    worse: Play | None = None,
    *,
    context: CubeContext = MONEY,
    language: str = LANGUAGE,
    choice: ComparedPair | None = None,
) -> Explanation:
    """Why `evaluator` prefers one play of `roll` to another.

    By default the best play is compared with the second best; where one of the two is given, with the best
    of the others, for the score and the cube of `context`; the terms are those of money without a cube.
    An evaluator that looks ahead chooses the plays by that, lets a rollout confirm what looks like an error
    (`motif.analysis.confirmation`) and tells what it saw, while the terms are those of the weights without
    lookahead.  `choice` is what is known of the two plays already; `language` is one of
    `motif.analysis.phrases.languages`.
    Raises `PlayerError` for an evaluator that is no weight file (nor bras nor phase), `PlayError` for a play
    that is not legal, and where there is only one; `SettingError` for a language that there is not.
    """
    words = phrases(language)
    static, weights = explainable(evaluator.without_lookahead)
    stakes = context.stakes
    ranking = static.staked(stakes, side=1)
    choice = choice or _chosen(evaluator, position, roll, better, worse, context)
    plays = better, worse = choice.better.play, choice.worse.play
    names = _named(plays, words)
    staked = None if ranking is static else _to_mover(ranking, plays)
    gammons_cost = _gammon_values(stakes)[1] >= _LITTLE
    situation = Situation(position.board, (_own_view(better), _own_view(worse)), gammons_cost)
    risks = risky_rolls(situation.after) if situation.is_bringing_in else (THROWS, THROWS)
    hits = hit_rolls(static, plays, stakes)
    seen = _replies(evaluator, plays, stakes, hits, risks)
    two = first, second = judged(static, better.position), judged(static, worse.position)
    pieces = split(weights, first, second, of_other_player=True)
    scale = Scale.between(first, second, bound_of(static))
    # After a play the opponent is on roll, whose checkers come first: they differ by hits alone.
    hit = not np.array_equal(first.seen.checkers[0], second.seen.checkers[0])
    view = View(you_are_on_roll=False, race=both_races(first, second), hit=hit)
    groups = grouped(weights.parameters, pieces, view)

    def facts(group: Group) -> list[str]:
        return [fact.compared() for fact in group_facts(group, pieces.cause, weights.parameters, two, view)]

    x, values = turned_equities(np.array([[first.x, second.x], [first.value, second.value]])).tolist()
    exposures = Exposure.of(situation.after[0]), Exposure.of(situation.after[1])
    parts = parts_between(
        static, better, worse, int((hits[1] - hits[0].astype(int)) @ ROLL_COUNTS), situation
    )
    board = reasons_of(parts, situation, exposures, risks, plays, words)
    difference = _difference(choice.equities)
    told = Beyond(evaluator, choice, stakes, seen, names, words)
    beyond = told.rows((values[0], values[1]), staked, board)
    return Explanation(
        evaluator=evaluator.name,
        position=position,
        roll=(max(roll), min(roll)),
        better=better,
        worse=worse,
        x=(x[0], x[1]),
        equities=(values[0], values[1]),
        difference_x=x[0] - x[1],
        equity_difference=values[0] - values[1],
        terms=pieces.terms,
        groups=tuple((group.name, group.contribution) for group in groups),
        group_sentences=tuple(told_groups(groups, scale, facts)),
        parts=parts,
        reasons=rows_told(board, beyond, difference, names, words),
        summary=_verdict(names, difference, scale.win_only and staked is None, words),
        gammons=_gammons(evaluator, plays, stakes, difference, names, words),
        certainty=_certainty(evaluator.name, difference, words),
        words=words,
        scale=scale,
        weights=weights,
        staked=staked,
        ahead=told.ahead,
        replies=seen,
        played_out=told.played_out,
        estimate=None if choice.rolled is None else choice.rolled.equities,
        judged=choice.equities,
    )


def _difference(two: Sequence[float]) -> float:
    return two[0] - two[1]


def _named(plays: tuple[Play, Play], words: Phrases) -> tuple[str, str]:
    better, worse = (play.notation or words.say("no_move") for play in plays)
    return better, worse


def _own_view(play: Play) -> Board:
    """Return the board after a play, as the player sees it who has made it."""
    return play.position.switch_sides().board


def _replies(
    evaluator: Evaluator,
    plays: tuple[Play, Play],
    stakes: Stakes,
    hits: npt.NDArray[np.bool_],
    risks: tuple[int, int],
) -> Replies | None:
    """Return what the opponent replies to both plays; None where nobody looks ahead, or the game is over."""
    over = any(outcome(play.position) for play in plays)
    if over or not isinstance(evaluator, LookaheadEvaluator):
        return None
    return replies(evaluator, *plays, stakes, hits, risks)


@dataclass(frozen=True)
class Beyond:
    """What is known of two plays that the board after them does not show."""

    evaluator: Evaluator
    choice: ComparedPair
    stakes: Stakes
    seen: Replies | None
    names: tuple[str, str]
    words: Phrases

    @property
    def ahead(self) -> tuple[float, float] | None:
        """What both plays are worth by lookahead; None where nobody looked ahead."""
        if not isinstance(self.evaluator, LookaheadEvaluator):
            return None
        return self.choice.better.equity, self.choice.worse.equity

    @cached_property
    def played_out(self) -> bool:
        """Whether that comes from playing a late ending to its end."""
        if not isinstance(self.evaluator, LookaheadEvaluator):
            return False
        plays = self.choice.better.play, self.choice.worse.play
        return bool(self.evaluator.plays_out(np.array([play.position.board for play in plays])).any())

    def rows(
        self, values: tuple[float, float], staked: tuple[float, float] | None, board: Sequence[Reason]
    ) -> tuple[Reason, ...]:
        """Return a row for each step from the `values` of the board to the best estimate.

        `board` are the board's reasons: what a larger one of these counts is not counted again.
        """
        rows, known = [], _difference(values)
        if staked is not None:
            rows.append(self._score(_difference(staked) - known))
            known = _difference(staked)
        is_exact = EXACT in (self.choice.better.source, self.choice.worse.source)
        if self.ahead is not None or is_exact:
            reached = self.choice.better.equity - self.choice.worse.equity
            rows.append(self._lookahead(reached - known, is_exact, board))
            known = reached
        if self.choice.rolled is not None:
            change = _difference(self.choice.equities) - known
            rows.append(row(ROLLOUT, change, self._said("rollout", change)))
        return tuple(rows)

    def _said(self, key: str, change: float) -> str:
        return self.words.say("beyond", key, play=self.names[change < 0])

    def _score(self, change: float) -> Reason:
        won, lost = _gammon_values(self.stakes)
        phrase = "score"
        if max(won, lost) < _LITTLE:
            phrase = "score_no_gammons"
        elif max(won, lost) > _MUCH:
            phrase = "score_gammon_go" if won >= lost else "score_gammon_save"
        return row(SCORE, change, self._said(phrase, change), phrase)

    def _lookahead(self, change: float, is_exact: bool, board: Sequence[Reason]) -> Reason:
        if is_exact or self.played_out or self.seen is None:
            phrase = "exact" if is_exact else "ending"
            return row(LOOKAHEAD, change, self._said(phrase, change), phrase)
        told = self.seen.told(change, self.names, self.words)
        if counted_as_well(told.phrase, abs(change), board):
            told = self.seen.of_rolls(change, self.names, self.words)
        concept = LOOKAHEAD_HITS if told.phrase == "hits" else LOOKAHEAD
        return row(concept, change, told.sentence, told.phrase, **told.facts)


def _gammon_values(stakes: Stakes) -> tuple[float, float]:
    """Return what a gammon won, and one lost, count beyond a single game, which is 1 for money."""
    worth = _POINTS if stakes.is_cubeless else stakes.worth[stakes.state, 0, 0]
    won, lost = worth[EVEN + 2] - worth[EVEN + 1], worth[EVEN - 1] - worth[EVEN - 2]
    return float(won), float(lost)


def _gammons(
    evaluator: Evaluator,
    plays: tuple[Play, Play],
    stakes: Stakes,
    difference: float,
    names: tuple[str, str],
    words: Phrases,
) -> str:
    """How often the `plays` win gammons, or lose them, where that is a good part of their `difference`.

    A gammon counts what it is worth beyond a single game for the `stakes`; backgammons are gammons, too.
    """
    value_won, value_lost = _gammon_values(stakes)
    after = np.array([play.position.board for play in plays])
    chances = turned(evaluator.evaluate_many(after)).astype(np.float64)
    won, lost = (chances[:, OUTPUTS.index(output)].tolist() for output in ("win_gammon", "lose_gammon"))
    amounts = value_won * _difference(won), -value_lost * _difference(lost)
    which = int(abs(amounts[1]) > abs(amounts[0]))
    if abs(amounts[which]) < max(_MIN_GAMMONS, _LARGE_SHARE * abs(difference)):
        return ""
    first, second = (f"{100 * share:.0f}" for share in (won, lost)[which])
    key = "lost" if which else "won"
    return words.say("gammons", key, better=names[0], worse=names[1], first=first, second=second)


def _verdict(names: tuple[str, str], difference: float, win_only: bool, words: Phrases) -> str:
    """Which of the plays is better, and by how much."""
    table = ("on_chances",) if win_only else ()
    amount = words.amount(abs(difference))
    key = "equal" if abs(difference) < _SHOWN else "better" if difference > 0 else "worse"
    if win_only:
        amount = words.amount(50 * abs(difference), 1)
    return words.say(*table, key, better=names[0], worse=names[1], difference=amount)


def _certainty(player: str, difference: float, words: Phrases) -> str:
    """How sure a `difference` is, beside what the player errs on average."""
    rate = known_error_rate(player)
    if rate is None:
        return words.say("certainty", "unknown")
    error = rate / MILLIPOINTS
    key = next((key for key, times in _SURE if abs(difference) >= times * error), "open")
    return words.say("certainty", key, player=player, error=words.amount(error))


def explain_position(evaluator: Evaluator, position: Position) -> PositionExplanation:
    """Return what makes up the value that `evaluator` gives to `position`, without lookahead.

    Raises `PlayerError` for an evaluator that is no weight file (nor bras nor phase).
    """
    static, weights = explainable(evaluator)
    two = judged(static, position), judged(static, position.switch_sides())
    view = View(you_are_on_roll=True, race=both_races(*two))
    pieces = split(weights, *two, of_other_player=False)
    scale = Scale.between(*two, bound_of(static))
    halves = tuple((name, value / 2) for name, value in pieces.terms)
    groups = grouped(weights.parameters, pieces, view)
    half = Scale(scale.per_x / 2, scale.win_only)

    def facts(group: Group) -> list[str]:
        news: list[Fact] = []
        for fact in group_facts(group, pieces.cause, weights.parameters, two, view):
            # The same thing told of the other side says nothing new.
            if all((fact.second, fact.first) != (other.first, other.second) for other in news):
                news.append(fact)
        return [fact.of_one() for fact in news]

    def of_values(value: float) -> str:
        return Scale(1.0, scale.win_only).told(value)

    roll = of_values((two[0].value + two[1].value) / 2)
    parts = ", ".join(filter(None, [f"{ON_ROLL} {roll}", listed(groups, half)]))
    even = "50 % of the games" if scale.win_only else "an even game"
    return PositionExplanation(
        x=two[0].x,
        on_roll=(two[0].x + two[1].x) / 2,
        terms=halves,
        groups=tuple((group.name, group.contribution / 2) for group in groups),
        sentences=tuple(told_groups(groups, half, facts)),
        summary=f"Against {even}, {of_values(two[0].value)} {scale.unit}: {parts}.",
        scale=scale,
        weights=weights,
    )


def _to_mover(evaluator: Evaluator, plays: Sequence[Play]) -> tuple[float, float]:
    """Return what two `plays` are worth to the mover."""
    boards = np.array([play.position.board for play in plays])
    first, second = turned_equities(evaluator.equity_many(boards)).tolist()
    return first, second


def _chosen(
    evaluator: Evaluator,
    position: Position,
    roll: tuple[int, int],
    better: Play | None,
    worse: Play | None,
    context: CubeContext,
) -> ComparedPair:
    """Return the two plays to compare, of the legal ones, and what they are worth."""
    plays = legal_plays(position, roll)
    for play in (better, worse):
        if play is not None and all(play.position != legal.position for legal in plays):
            raise PlayError(f"{play.notation or NO_MOVE!r} is not a legal play of this roll")
    if len(plays) == 1:
        raise PlayError(f"{plays[0].notation or NO_MOVE} is the only legal play: there is nothing to compare")
    choice = compare_plays(position, checked_roll(*roll), evaluator, context, better, worse)
    if choice.better.play.position == choice.worse.play.position:
        raise PlayError(f"{choice.worse.play.notation!r} cannot be compared with itself; name another play")
    return choice


def _term_words(terms: Terms, weights: WeightFile) -> dict[str, str]:
    there = {name for name, _ in terms}
    named = {
        unit_term(class_name, name): about.words
        for class_name in weights.hidden_layers
        for name, about in words_of_units(weights, class_name).items()
    }
    return {name: words for name, words in named.items() if name in there}


def _parts_dict(explanation: Explanation | PositionExplanation) -> dict[str, Any]:
    """Sentences, groups and terms for JSON; of hidden units also what they are about."""
    amount, about = explanation.scale.amount, explanation.term_words
    return {
        "sentences": list(explanation.sentences),
        "groups": [
            {"name": name, "contribution": value, "amount": amount(value)}
            for name, value in explanation.groups
        ],
        "terms": [
            {"name": name, "contribution": value, **({"words": about[name]} if name in about else {})}
            for name, value in explanation.terms
        ],
    }
