"""Why one play is better than another, and what makes up the value of one position: by terms, in words.

The yardstick of one position is the same position with the sides exchanged, the same player on roll.  Half
the difference of the two values is what one's checkers stand better than the opponent's, split over terms as
for plays; half their sum, which belongs to neither, is what being on roll is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from motif.analysis.explain.form import FloatArray
from motif.analysis.explain.judged import both_races, bound_of, explainable, judged
from motif.analysis.explain.replies import Replies, replies
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
from motif.analysis.judge import COMPARABLE
from motif.board.identifiers import gnubg_id
from motif.board.moves import Play, checked_roll, legal_plays, play_batches
from motif.board.notation import NO_MOVE
from motif.board.position import Position
from motif.board.svg import svg_diagram
from motif.evaluators import Evaluator, LookaheadEvaluator
from motif.evaluators.probabilities import turned_equities
from motif.evaluators.stakes import NO_CUBE, Stakes
from motif.runtime.errors import PlayError
from motif.runtime.layout import html_lines, side_by_side

ON_ROLL = "being on roll"


@dataclass(frozen=True)
class Explanation:
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
    sentences: tuple[str, ...]
    """What matters most, largest first, and the rest; amounts in `unit`."""
    summary: str
    scale: Scale = field(repr=False)
    staked: tuple[float, float] | None = None
    """What both plays are worth at the score and with the cube where it lies, in normalised equity, and were
    chosen by; None where they were valued for money without a cube."""

    ahead: tuple[float, float] | None = None
    """What both plays are worth by the lookahead that chose them; None where nobody looked ahead."""
    replies: Replies | None = field(default=None, repr=False)
    """The replies that it saw."""
    played_out: bool = False
    """Whether `ahead` comes from playing a late ending to its end."""

    @property
    def overruled(self) -> bool:
        """Whether lookahead prefers the play that is not better by the terms alone."""
        return self.ahead is not None and self.equity_difference < 0 < self.ahead[0] - self.ahead[1]

    @property
    def ahead_in_words(self) -> tuple[str, ...]:
        """What lookahead says of both plays, and the replies that make the difference."""
        if self.ahead is None or self.replies is None:
            return ()
        names = [play.notation or NO_MOVE for play in (self.better, self.worse)]
        first, second = self.ahead
        view = (
            f"{self.replies.evaluator} {'plays on to the end' if self.played_out else 'looks ahead'}: "
            f"{names[0]} {first:+.3f}, {names[1]} {second:+.3f}, "
            f"a difference of {first - second:.3f}."
        )
        if self.overruled:
            view += f"  That overrules the terms, by which {names[1]} is better."
        return view, *self.replies.sentences(self.better, self.worse)

    @property
    def staked_in_words(self) -> str:
        """What both plays are worth at the score and with the cube; empty where nothing was said of these."""
        if self.staked is None:
            return ""
        names = (play.notation or NO_MOVE for play in (self.better, self.worse))
        worth = ", ".join(f"{name} {value:+.3f}" for name, value in zip(names, self.staked, strict=True))
        return f"With score and cube: {worth}.  The terms are those of money without a cube."

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
        return value_line(self.scale, self.x, self.equities)

    @property
    def lines(self) -> tuple[str, ...]:
        """All that it says in words."""
        said = self.summary, self.staked_in_words, *self.ahead_in_words, *self.sentences
        return tuple(filter(None, said))

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
            "unit": self.unit,
            "summary": self.summary,
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

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON; `amount` is a contribution in `unit`."""
        return {
            "x": self.x,
            "on_roll": self.on_roll,
            "unit": self.scale.unit,
            "summary": self.summary,
            **_parts_dict(self),
        }


def explain_choice(
    evaluator: Evaluator,
    position: Position,
    roll: tuple[int, int],
    better: Play | None = None,
    worse: Play | None = None,
    *,
    stakes: Stakes = NO_CUBE,
) -> Explanation:
    """Why `evaluator` prefers one play of `roll` to another.

    By default the best play is compared with the second best; where one of the two is given, with the best
    of the others, for `stakes`, of which the mover is side 0; the terms are those of money without a cube.
    An evaluator that looks ahead chooses the plays by that and tells what it saw, while the terms are those
    of the weights without lookahead.  Raises `PlayerError` for an
    evaluator that is no weight file (nor bras nor phase), `PlayError` for a play that is not legal, and
    where there is only one.
    """
    static, weights = explainable(evaluator.without_lookahead)
    ranking = static.staked(stakes, side=1)
    better, worse = _chosen(evaluator, position, roll, better, worse, stakes)
    staked = None if ranking is static else tuple(_to_mover(ranking, (better, worse)).tolist())
    ahead, seen, played_out = None, None, False
    if isinstance(evaluator, LookaheadEvaluator):
        deep = evaluator.staked(stakes, side=1)
        ahead = tuple(_to_mover(deep, (better, worse)).tolist())
        seen = replies(evaluator, better, worse, stakes)
        played_out = bool(
            evaluator.plays_out(np.array([play.position.board for play in (better, worse)])).any()
        )
    two = first, second = judged(static, better.position), judged(static, worse.position)
    pieces = split(weights, first, second, of_other_player=True)
    scale = Scale.between(first, second, bound_of(static))
    # After a play the opponent is on roll: his checkers, which come first, differ by hits alone.
    hit = not np.array_equal(first.seen.checkers[0], second.seen.checkers[0])
    view = View(you_are_on_roll=False, race=both_races(first, second), hit=hit)
    groups = grouped(weights.parameters, pieces, view)

    def facts(group: Group) -> list[str]:
        return [fact.compared() for fact in group_facts(group, pieces.cause, weights.parameters, two, view)]

    x, values = turned_equities(np.array([[first.x, second.x], [first.value, second.value]])).tolist()
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
        sentences=tuple(told_groups(groups, scale, facts)),
        summary=_summary(better, worse, x[0] - x[1], groups, scale),
        scale=scale,
        staked=staked,
        ahead=ahead,
        replies=seen,
        played_out=played_out,
    )


def explain_position(evaluator: Evaluator, position: Position) -> PositionExplanation:
    """What makes up the value that `evaluator` gives to `position`, without lookahead.

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
    )


def _to_mover(evaluator: Evaluator, plays: Sequence[Play]) -> FloatArray:
    """What `plays` are worth to the mover (n,)."""
    return turned_equities(evaluator.equity_many(np.array([play.position.board for play in plays])))


def _chosen(
    evaluator: Evaluator,
    position: Position,
    roll: tuple[int, int],
    better: Play | None,
    worse: Play | None,
    stakes: Stakes,
) -> tuple[Play, Play]:
    """The two plays to compare, of the legal ones."""
    plays = legal_plays(position, roll)
    for play in (better, worse):
        if play is not None and all(play.position != legal.position for legal in plays):
            raise PlayError(f"{play.notation or NO_MOVE!r} is not a legal play of this roll")
    if len(plays) == 1:
        raise PlayError(f"{plays[0].notation or NO_MOVE} is the only legal play: there is nothing to compare")
    if better is None or worse is None:
        before = position.board[None]
        batch = next(play_batches(before, np.array([checked_roll(*roll)])))
        values = evaluator.thorough(COMPARABLE).staked(stakes).play_equities(before, batch)
        ranked = [plays[k] for k in np.argsort(-values, kind="stable")]
    if better is None:
        better = ranked[0]
    if worse is None:
        worse = next(play for play in ranked if play.position != better.position)
    if better.position == worse.position:
        raise PlayError(f"{better.notation!r} cannot be compared with itself; name another play")
    return better, worse


def _summary(better: Play, worse: Play, step: float, groups: Sequence[Group], scale: Scale) -> str:
    sentence = f"{better.notation} is {{}} {worse.notation}".format
    parts = f": {amounts}" if (amounts := listed(groups, scale)) else ""
    if not scale.counts(step):
        return f"{sentence('as good as')}{parts}."
    how = "better than" if step > 0 else "worse than"
    return f"{sentence(how)} by {scale.told(step, sign=False)} {scale.unit}{parts}."


def _parts_dict(explanation: Explanation | PositionExplanation) -> dict[str, Any]:
    """Sentences, groups and terms for JSON."""
    amount = explanation.scale.amount
    return {
        "sentences": list(explanation.sentences),
        "groups": [
            {"name": name, "contribution": value, "amount": amount(value)}
            for name, value in explanation.groups
        ],
        "terms": [{"name": name, "contribution": value} for name, value in explanation.terms],
    }
