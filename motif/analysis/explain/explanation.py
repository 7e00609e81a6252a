"""Why one play is better than another, and what makes up the value of one position.

What changed on the board is told in words, each thing with what it brings (`concepts`, `reasons`); what the
terms of the weights add, and the groups that they are filed under, is there for who wants to see it all.

The yardstick of one position is the same position with the sides exchanged, the same player on roll.  Half
the difference of the two values is what one's checkers stand better than the opponent's, split over terms as
for plays; half their sum, which belongs to neither, is what being on roll is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from motif.analysis.confirmation import Choice, choice_of
from motif.analysis.explain.concepts import Part, parts_between
from motif.analysis.explain.judged import FloatArray, both_races, bound_of, explainable, judged
from motif.analysis.explain.reasons import Reason, Side, reasons_of
from motif.analysis.explain.replies import Replies, hit_rolls, replies
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
from motif.analysis.ranking import MONEY, CubeContext
from motif.benchmark.losses import MILLIPOINTS
from motif.board.diagram import svg_diagram
from motif.board.identifiers import gnubg_id
from motif.board.movegen import ROLL_COUNTS
from motif.board.moves import Play, checked_roll, legal_plays
from motif.board.notation import NO_MOVE
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.evaluators import Evaluator, LookaheadEvaluator, WeightFile
from motif.evaluators.pattern_words import pattern_term, words_of_patterns
from motif.evaluators.probabilities import OUTPUTS, turned, turned_equities
from motif.evaluators.stakes import EVEN, Stakes
from motif.runtime.errors import PlayError
from motif.runtime.layout import html_lines, side_by_side

ON_ROLL = "being on roll"
SCORE, LOOKAHEAD, LOOKAHEAD_HITS = "score", "lookahead", "replies"
BEYOND = SCORE, LOOKAHEAD, LOOKAHEAD_HITS
"""Concepts of the reasons that the board after the plays does not show."""
_MOST_FOR, _MOST_AGAINST = 3, 2
"""Reasons that are told for the better play, and for the other one."""
_LEAST_SHARE, _LEAST_OF_WEAK = 0.1, 0.25
"""What a reason that is told brings at least, of the largest; and one that says little."""
_TOLD_CHANGE, _LARGE_SHARE = 0.02, 0.5
"""What score, lookahead or gammons must change to be told: so many points, and such a share of the
difference."""
_POINTS = np.arange(-EVEN, EVEN + 1)
"""What games are worth for money, as in `Stakes.worth`."""
_SHOWN = 0.0005
"""The least difference that is not nothing in the digits that are shown."""
_SURE = (("clear", 8.0), ("likely", 2.0))
"""How many times the average error a difference is that is called so.  In 111 decisions of self-play, rolled
out, the best play of motif-v6@2 was better than its second best in 60 % of those below, 80 % and 98 %."""


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
    group_sentences: tuple[str, ...]
    """The largest groups with what is measured of them, and the rest; amounts in `unit`."""
    reasons: tuple[Reason, ...]
    """What makes the difference, the largest first.  Those of the board add up to `equity_difference`, in
    points; with those of `BEYOND` all add up to what the plays were chosen by."""
    parts: tuple[Part, ...] = field(repr=False)
    """The same without the words."""
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

    @property
    def term_words(self) -> dict[str, str]:
        """What the patterns among the `terms` are about, by the names of these; their player on roll is the
        opponent, as that of all terms is."""
        return _term_words(self.terms, self.weights)

    @property
    def overruled(self) -> bool:
        """Whether lookahead prefers the play that is not better by the terms alone."""
        return self.ahead is not None and self.equity_difference < 0 < self.ahead[0] - self.ahead[1]

    @property
    def judged(self) -> tuple[float, float]:
        """The best estimate of both plays: rolled out, looked ahead, for the score, or their `equities`."""
        return self.estimate or self.ahead or self.staked or self.equities

    @property
    def sentences(self) -> tuple[str, ...]:
        """The `told` reasons."""
        return tuple(reason.sentence for reason in self.told)

    @property
    def told(self) -> tuple[Reason, ...]:
        """The reasons that count: those of the better play first, then what speaks for the other one."""
        largest = max((reason.amount for reason in self.reasons), default=0.0)
        hits = {reason.play for reason in self.reasons if reason.concept == LOOKAHEAD_HITS}
        count = [
            reason
            for reason in self.reasons
            if reason.amount >= largest * (_LEAST_OF_WEAK if reason.is_weak else _LEAST_SHARE)
            # With the rolls that hit it is said already how many they are.
            and not (reason.concept == "shots" and reason.play in hits)
        ]
        sides: list[tuple[Side, int]] = [("better", _MOST_FOR), ("worse", _MOST_AGAINST)]
        if _difference(self.judged) < 0:
            sides = [("worse", _MOST_FOR), ("better", _MOST_AGAINST)]
        return tuple(
            reason for play, most in sides for reason in [one for one in count if one.play == play][:most]
        )

    @property
    def grid(self) -> list[list[float]] | None:
        """By how much the first play is better after each roll of the opponent, by his two dice: 6 rows of 6.

        None where nobody looked ahead.
        """
        return None if self.replies is None else self.replies.grid

    @property
    def ahead_in_words(self) -> tuple[str, ...]:
        """What lookahead says of both plays; empty where nobody looked ahead."""
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
        return tuple(filter(None, (self.summary, *self.sentences, self.gammons, self.certainty)))

    @property
    def detailed_lines(self) -> tuple[str, ...]:
        """How the values come about: formula, score, lookahead, and the groups with what is measured."""
        said = self.values_in_words, self.staked_in_words, *self.ahead_in_words, *self.group_sentences
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
        """What the patterns among the `terms` are about, by the names of these."""
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


def explain_choice(
    evaluator: Evaluator,
    position: Position,
    roll: tuple[int, int],
    better: Play | None = None,
    worse: Play | None = None,
    *,
    context: CubeContext = MONEY,
    language: str = LANGUAGE,
    choice: Choice | None = None,
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
    better, worse = choice.better.play, choice.worse.play
    staked = None if ranking is static else tuple(_to_mover(ranking, (better, worse)).tolist())
    hits = hit_rolls(static, (better, worse), stakes)
    shots = (int(hits[0] @ ROLL_COUNTS), int(hits[1] @ ROLL_COUNTS))
    ahead, seen, played_out = None, None, False
    if isinstance(evaluator, LookaheadEvaluator):
        ahead = choice.better.equity, choice.worse.equity
        if not any(outcome(play.position) for play in (better, worse)):
            seen = replies(evaluator, better, worse, stakes, hits)
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
    names = better.notation or words.say("no_move"), worse.notation or words.say("no_move")
    boards = position.board, better.position.switch_sides().board, worse.position.switch_sides().board
    parts = parts_between(static, better, worse, shots[1] - shots[0])
    reasons = reasons_of(parts, boards, shots, (better, worse), words)
    estimate = None if choice.rolled is None else choice.rolled.equities
    steps = [_difference(values), *(_difference(two) for two in (staked, ahead, estimate) if two is not None)]
    reasons += _beyond(steps, staked is not None, seen, played_out, names, words)
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
        reasons=tuple(sorted(reasons, key=lambda reason: -reason.amount)),
        summary=_verdict(names, steps[-1], scale.win_only and staked is None, words),
        gammons=_gammons(evaluator, (better, worse), stakes, steps[-1], names, words),
        certainty=_certainty(evaluator.name, steps[-1], words),
        words=words,
        scale=scale,
        weights=weights,
        staked=staked,
        ahead=ahead,
        replies=seen,
        played_out=played_out,
        estimate=estimate,
    )


def _difference(two: Sequence[float]) -> float:
    return two[0] - two[1]


def _beyond(
    steps: Sequence[float],
    staked: bool,
    seen: Replies | None,
    played_out: bool,
    names: tuple[str, str],
    words: Phrases,
) -> tuple[Reason, ...]:
    """Reasons that the board after the plays does not show: what the score and what lookahead change.

    `steps` are the differences of the plays: that of the board, then at the score and looked ahead.
    """
    reasons = []
    for number, (before, after) in enumerate(pairwise(steps)):
        change = after - before
        if abs(change) < _TOLD_CHANGE or (before * after > 0 and abs(change) < _LARGE_SHARE * abs(before)):
            continue
        side: Side = "better" if change > 0 else "worse"
        name = names[side == "worse"]
        amount = words.amount(abs(change))
        if staked and number == 0:
            concept, told = SCORE, words.say("beyond", "score", play=name, amount=amount)
        elif played_out or seen is None:
            concept, told = LOOKAHEAD, words.say("beyond", "ending", play=name, amount=amount)
        else:
            concept = LOOKAHEAD_HITS if seen.is_of_hits(change) else LOOKAHEAD
            told = seen.in_words(change, names, words)
        reasons.append(Reason(concept, side, abs(change), told))
    return tuple(reasons)


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
    worth = _POINTS if stakes.is_cubeless else stakes.worth[stakes.state, 0, 0]
    after = np.array([play.position.board for play in plays])
    chances = turned(evaluator.evaluate_many(after)).astype(np.float64)
    won, lost = (chances[:, OUTPUTS.index(output)].tolist() for output in ("win_gammon", "lose_gammon"))
    amounts = (
        (worth[EVEN + 2] - worth[EVEN + 1]) * _difference(won),
        (worth[EVEN - 2] - worth[EVEN - 1]) * _difference(lost),
    )
    which = int(abs(amounts[1]) > abs(amounts[0]))
    if abs(amounts[which]) < max(_TOLD_CHANGE, _LARGE_SHARE * abs(difference)):
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
        weights=weights,
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
    context: CubeContext,
) -> Choice:
    """The two plays to compare, of the legal ones, and what they are worth."""
    plays = legal_plays(position, roll)
    for play in (better, worse):
        if play is not None and all(play.position != legal.position for legal in plays):
            raise PlayError(f"{play.notation or NO_MOVE!r} is not a legal play of this roll")
    if len(plays) == 1:
        raise PlayError(f"{plays[0].notation or NO_MOVE} is the only legal play: there is nothing to compare")
    choice = choice_of(position, checked_roll(*roll), evaluator, context, better, worse)
    if choice.better.play.position == choice.worse.play.position:
        raise PlayError(f"{choice.worse.play.notation!r} cannot be compared with itself; name another play")
    return choice


def _term_words(terms: Terms, weights: WeightFile) -> dict[str, str]:
    there = {name for name, _ in terms}
    named = {
        pattern_term(class_name, name): about.words
        for class_name in weights.patterns_by_class
        for name, about in words_of_patterns(weights, class_name).items()
    }
    return {name: words for name, words in named.items() if name in there}


def _parts_dict(explanation: Explanation | PositionExplanation) -> dict[str, Any]:
    """Sentences, groups and terms for JSON; of patterns also what they are about."""
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
