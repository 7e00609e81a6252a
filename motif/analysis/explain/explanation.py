"""Explanations of why one play is better than another, and of the value of a position.

The difference between two plays is split twice: over the changes on the board, in words (`concepts`,
`reasons`), and over the terms of the weights and their groups (`split`, `groups`).

A position is compared with its mirror image, in which the sides are exchanged and the same player is on roll.
Half the difference of the two values measures how much better your checkers are placed, and is split over
terms as for plays; half their sum is the value of being on roll.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from motif.analysis.confirmation import CONFIRMED_Z, ComparedPair, compare_pair
from motif.analysis.explain.concepts import Contribution, parts_between
from motif.analysis.explain.evidence import LITTLE, Evidence, gather_evidence
from motif.analysis.explain.exposure import Exposure, risky_rolls
from motif.analysis.explain.groups import (
    AmountScale,
    Group,
    MeasuredDifference,
    Viewpoint,
    group_facts,
    group_lines,
    grouped,
    groups_with_amounts,
)
from motif.analysis.explain.reasons import (
    MIN_SHOWN,
    STEPS_OF_CHANCES,
    Reason,
    reasons_of,
    shown_rows,
    with_shown,
)
from motif.analysis.explain.replies import best_replies
from motif.analysis.explain.situation import Situation
from motif.analysis.explain.split import NamedTerms, split
from motif.analysis.explain.valued_position import (
    ValuedPosition,
    both_races,
    bound_of,
    explainable,
    valued_position,
)
from motif.analysis.judge import known_error_rate
from motif.analysis.phrases import LANGUAGE, Phrases, phrases
from motif.board.diagram import svg_diagram
from motif.board.identifiers import gnubg_id
from motif.board.marks import MILLIPOINTS
from motif.board.match_state import MatchState
from motif.board.movegen import ROLL_COUNTS
from motif.board.moves import Play, checked_roll, legal_plays
from motif.board.notation import NO_MOVE
from motif.board.position import Position
from motif.evaluators import Evaluator, StaticEvaluator, WeightFile
from motif.evaluators.cube_model import CubeModel, backgammon_value_lost, gammon_gains, gammon_values
from motif.evaluators.hidden_unit_words import unit_term, words_of_units
from motif.evaluators.probabilities import (
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    WIN_GAMMON,
    switch_sides,
    switched_equities,
)
from motif.evaluators.static import weights_of
from motif.players.ranking import cube_model_of
from motif.runtime.errors import PlayError
from motif.runtime.frames import Tabular
from motif.runtime.layout import html_lines, side_by_side
from motif.runtime.streams import DICE_PAIRS

_MIN_GAMMONS, _LARGE_SHARE = 0.02, 0.5
"""Minimum points of equity due to gammons, and their minimum share of a difference, for a sentence on
gammons.
"""
_SOME_GAMMONS = 0.02
"""Minimum probability of losing a gammon or backgammon, and of saving a gammon, at which it is a reason."""
_SUMMED_UP = 5
"""Maximum number of groups in the summary of a position."""
_SURE = (("clear", 20.0), ("likely", 6.0))
_SURE_ROLLED = (("clear", 8.0), ("likely", 2.0))
"""Minimum ratio of a difference, by lookahead or by a rollout, to the average error for each word
(docs/explanation/reasons.md).
"""
_OPEN = 2.0
"""Minimum ratio of a difference to its standard error by a rollout; below, the better play is unknown."""
_TOO_CLOSE = ("noisy", "open")
"""Kinds of certainty at which either play may be better."""


@dataclass(frozen=True)
class WeighedTerms:
    """The terms and groups that add up to a raw sum or a difference."""

    terms: NamedTerms
    """Name in the weight file and contribution of every nonzero term."""
    groups: tuple[tuple[str, float], ...]
    """Groups of terms with their contributions, largest first; same sum."""
    sentences: tuple[str, ...]
    """Sentences on the largest groups and the rest; amounts in the unit of `scale`."""
    scale: AmountScale = field(repr=False)
    weights: WeightFile = field(repr=False, compare=False)

    @property
    def term_words(self) -> dict[str, str]:
        """Descriptions of the hidden units among the `terms`, by name."""
        there = {name for name, _ in self.terms}
        named = {
            unit_term(class_name, name): about.words
            for class_name in self.weights.hidden_layers
            for name, about in words_of_units(self.weights, class_name).items()
        }
        return {name: words for name, words in named.items() if name in there}

    @property
    def shown_groups(self) -> tuple[tuple[str, float], ...]:
        """The `groups` that do not round to 0."""
        return tuple(group for group in self.groups if self.scale.counts(group[1]))

    def term_records(self) -> list[dict[str, object]]:
        """Return the JSON record of each nonzero term."""
        about = self.term_words
        return [
            {"name": name, "contribution": value, **({"words": about[name]} if name in about else {})}
            for name, value in self.terms
        ]

    def to_dict(self, sentences: Sequence[str]) -> dict[str, object]:
        """Return the JSON record with `sentences`; `amount` is in the unit of `scale`."""
        return {
            "sentences": list(sentences),
            "groups": [
                {"name": name, "contribution": value, "amount": self.scale.amount(value)}
                for name, value in self.groups
            ],
            "terms": self.term_records(),
        }


@dataclass(frozen=True)
class StaticComparison:
    """The static, cubeless comparison of two plays, seen by the mover.

    Contributions add up to `difference_x`; negative ones favour the second play.  In the terms, the player on
    roll is the opponent.
    """

    x: tuple[float, float]
    """Raw sums of both plays."""
    equities: tuple[float, float]
    """Equities in points, 3 tanh x; 2 win - 1 = tanh x for weights with only a win head."""
    parts: WeighedTerms

    @property
    def difference_x(self) -> float:
        """The first raw sum minus the second."""
        return self.x[0] - self.x[1]

    @property
    def equity_difference(self) -> float:
        """The first equity minus the second."""
        return self.equities[0] - self.equities[1]

    def in_words(self, words: Phrases) -> str:
        """Return a sentence with x and the values of both plays."""
        first, second = (words.signed(each, 4) for each in self.x)
        key, (better, worse) = "value", map(words.signed, self.equities)
        if self.parts.scale.win_only:
            key, (better, worse) = "value_chances", (words.amount(50 + 50 * one, 1) for one in self.equities)
        return words.say("detail", key, first=first, second=second, better=better, worse=worse)


@dataclass(frozen=True, repr=False, eq=False)
class Explanation(Tabular):
    """Why one play is better than another, seen by the mover."""

    evaluator: str
    position: Position
    """The position before the roll."""
    roll: tuple[int, int]
    better: Play
    """The play named as the better one, even if it is not."""
    worse: Play
    static: StaticComparison = field(repr=False)
    evidence: Evidence = field(repr=False)
    """Values by score and cube, lookahead and a rollout."""
    reasons: tuple[Reason, ...]
    """The parts of the `difference` in points: changes on the board and the effects of score, lookahead and
    rollout, largest first, and then the rest.  They add up exactly."""
    parts: tuple[Contribution, ...] = field(repr=False)
    """All parts of the static equity difference, without words."""
    summary: str
    gammons: str
    """A sentence on the difference in gammons; empty if it matters little."""
    certainty: str
    """A sentence on the certainty; empty if unknown."""
    words: Phrases = field(repr=False)

    @property
    def difference(self) -> float:
        """Equity of the first play minus that of the second, by the best estimate."""
        return self.evidence.difference

    @property
    def se(self) -> float | None:
        """Standard error of the `difference` by a rollout; None for other sources."""
        rolled = self.evidence.pair.rolled
        return rolled and rolled.se

    @property
    def shown_reasons(self) -> tuple[Reason, ...]:
        """The `reasons` that are not shown as 0, with the contributions shown in `unit`."""
        reasons = self.reasons
        if self._is_in_chances:
            reasons = with_shown(reasons, self.difference, STEPS_OF_CHANCES)
        return tuple(reason for reason in reasons if reason.shown)

    @property
    def _is_in_chances(self) -> bool:
        """Whether amounts are percentage points of win probability, not points."""
        return self.static.parts.scale.win_only and self.evidence.cubeful is None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The `shown_reasons` without the amounts."""
        return tuple(reason.sentence for reason in self.shown_reasons)

    @property
    def grid(self) -> list[list[float]] | None:
        """Advantage of the first play by the opponent's dice (6 x 6); None without lookahead."""
        return None if self.evidence.replies is None else self.evidence.replies.grid

    @property
    def names(self) -> tuple[str, str]:
        """The two plays in notation."""
        return self.evidence.names

    @property
    def unit(self) -> str:
        """Unit of the reasons' amounts, in the language of `words`."""
        return self.static.parts.scale.unit_in(self.words)

    def amount_in_words(self, reason: Reason) -> str:
        """Return the contribution of one of the `shown_reasons` in `unit`, such as ``+0.042``."""
        if self._is_in_chances:
            return self.words.signed(50 * reason.shown, 1)
        return self.words.signed(reason.shown)

    @property
    def lines(self) -> tuple[str, ...]:
        """The explanation in words, with the contribution of each reason."""
        rows = (f"{self.amount_in_words(reason)}  {reason.sentence}" for reason in self.shown_reasons)
        return tuple(filter(None, (self.summary, *rows, self.gammons, self.certainty)))

    @property
    def detailed_lines(self) -> tuple[str, ...]:
        """Details: formula, score, lookahead, and groups with measurements."""
        beyond = self.evidence.in_words()
        return self.static.in_words(self.words), *beyond, *self.static.parts.sentences

    def records(self) -> list[dict[str, object]]:
        """Return one row per nonzero term."""
        return self.static.parts.term_records()

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        boards = [
            f"<b>{escape(str(play))}</b><br>" + svg_diagram(self.position, moves=play.moves, size=340)
            for play in (self.better, self.worse)
        ]
        return side_by_side(*boards) + html_lines(self.lines)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON record.

        ``judged_difference`` is the difference by the best estimate, in points of equity, as are the amounts
        of reasons; if ``unit`` is a percentage of winning chances, 1 point is 50 %.  ``difference`` is static
        and in x, the scale before tanh, like the contributions of terms, which add up to it;
        ``equity_difference`` is the same in points.
        """
        static, evidence = self.static, self.evidence
        better, worse = (
            {"notation": play.notation, "position": gnubg_id(play.position), "x": x, "equity": equity}
            for play, x, equity in zip((self.better, self.worse), static.x, static.equities, strict=True)
        )
        return {
            "player": self.evaluator,
            "position": gnubg_id(self.position),
            "roll": list(self.roll),
            "better": better,
            "worse": worse,
            "difference": static.difference_x,
            "equity_difference": static.equity_difference,
            "judged": list(evidence.judged),
            "judged_difference": self.difference,
            "judged_source": evidence.pair.source,
            "judged_se": self.se,
            "unit": static.parts.scale.unit,
            "summary": self.summary,
            "reasons": [reason.to_dict() for reason in self.reasons],
            "gammons": self.gammons,
            "certainty": self.certainty,
            "grid": self.grid,
            "values": static.in_words(self.words),
            **evidence.to_dict(),
            **static.parts.to_dict(self.sentences),
        }


@dataclass(frozen=True)
class PositionExplanation:
    """The parts of a position's value for the player on roll."""

    x: float
    """See `motif.analysis.explain.valued_position.ValuedPosition`."""
    on_roll: float
    """The part of x due to being on roll; the contributions make up the rest of x."""
    parts: WeighedTerms
    summary: str

    def to_dict(self) -> dict[str, object]:
        """Return the JSON record; `amount` is a contribution in `unit`."""
        facts = {"x": self.x, "on_roll": self.on_roll, "unit": self.parts.scale.unit, "summary": self.summary}
        return {**facts, **self.parts.to_dict(self.parts.sentences)}


def explain_play(
    evaluator: Evaluator,
    position: Position,
    roll: tuple[int, int],
    better: Play | None = None,
    worse: Play | None = None,
    *,
    state: MatchState | None = None,
    language: str = LANGUAGE,
    choice: ComparedPair | None = None,
) -> Explanation:
    """Explain why `evaluator` prefers one play of `roll` to another.

    By default, compare the best play with the second best; if only one is given, compare it with the best of
    the others.  Plays are ranked at the score and cube of `state`, with lookahead and confirming rollouts
    (`motif.analysis.confirmation`) if the evaluator looks ahead; terms are static and cubeless.  `choice` is
    an existing comparison of the two plays; `language` is one of `motif.analysis.phrases.languages`.
    Raises `PlayerError` unless the evaluator is a weight file, bras or phase, `PlayError` for an illegal or
    forced play, `SettingError` for an unknown language.
    """
    words = phrases(language)
    static = explainable(evaluator.without_lookahead)
    cube_model = cube_model_of(state)
    choice = choice or _chosen(evaluator, position, roll, better, worse, state)
    plays = better, worse = choice.better.play, choice.worse.play
    after = better.position.switch_sides().board, worse.position.switch_sides().board
    situation = Situation(position.board, after, *_losses_at_stake(static, plays, cube_model))
    risks = risky_rolls(after) if situation.is_bringing_in else (DICE_PAIRS, DICE_PAIRS)
    replied = best_replies(static, plays, cube_model)
    comparison = _compared(static, plays, words)
    static_difference = comparison.equity_difference
    evidence = gather_evidence(evaluator, choice, state, replied, risks, static_difference, words)
    names = evidence.names
    hits = replied.hits @ ROLL_COUNTS
    exposures = Exposure.of(after[0]), Exposure.of(after[1])
    fewer = min(int(hits[1] - hits[0]), exposures[1].shots - exposures[0].shots, key=abs)
    parts = parts_between(static, better, worse, fewer, situation)
    board = reasons_of(parts, situation, exposures, risks, plays, words)
    beyond = evidence.rows(board)
    difference = evidence.difference
    in_chances = comparison.parts.scale.win_only and evidence.cubeful is None
    shown = difference if in_chances else choice.shown_difference
    certainty, error = _certainty(evaluator.name, choice, shown)
    return Explanation(
        evaluator=evaluator.name,
        position=position,
        roll=(max(roll), min(roll)),
        better=better,
        worse=worse,
        static=comparison,
        evidence=evidence,
        reasons=with_shown(shown_rows(board, beyond, difference, names, words), choice.shown_difference),
        parts=parts,
        summary=_verdict(names, shown, in_chances, certainty in _TOO_CLOSE, words),
        gammons=_gammons(evaluator, plays, names, cube_model, difference, words),
        certainty=words.say("certainty", certainty, player=evaluator.name, error=words.amount(error)),
        words=words,
    )


def _compared(static: StaticEvaluator, plays: tuple[Play, Play], words: Phrases) -> StaticComparison:
    first, second = (valued_position(static, play.position) for play in plays)
    # The opponent's checkers come first after a play and differ only by hits.
    hit = not np.array_equal(first.inputs.checkers[0], second.inputs.checkers[0])
    view = Viewpoint(you_are_on_roll=False, race=both_races(first, second), hit=hit)
    x, values = switched_equities(np.array([[first.x, second.x], [first.value, second.value]])).tolist()
    parts = _weighed(static, (first, second), view, words)
    return StaticComparison((x[0], x[1]), (values[0], values[1]), parts)


def _weighed(
    static: StaticEvaluator, two: tuple[ValuedPosition, ValuedPosition], view: Viewpoint, words: Phrases
) -> WeighedTerms:
    """Return the parts of the difference of two plays, or of half that of a position and its mirror image."""
    weights = weights_of(static)
    of_one, scale = view.you_are_on_roll, AmountScale.between(*two, bound_of(static))
    pieces = split(weights, *two, of_other_player=not of_one)
    if of_one:
        pieces = pieces.converted(lambda values: values / 2)
    groups = grouped(weights.parameters, pieces, view)

    def facts(group: Group) -> list[str]:
        news: list[MeasuredDifference] = []
        for fact in group_facts(group, pieces.cause, weights.parameters, two, view, words):
            # Skip the same measurement seen from the other side.
            if not of_one or all((fact.second, fact.first) != (it.first, it.second) for it in news):
                news.append(fact)
        return [fact.sentence(words, "of_one" if of_one else "compared") for fact in news]

    amounts = tuple((group.name, group.contribution) for group in groups)
    return WeighedTerms(
        pieces.terms, amounts, tuple(group_lines(groups, scale, words, facts)), scale, weights
    )


def _losses_at_stake(
    static: StaticEvaluator, plays: tuple[Play, Play], cube_model: CubeModel
) -> tuple[bool, bool]:
    """Return whether a gammon and a backgammon cost more than the next smaller loss, and are in doubt.

    A backgammon is at stake only if it makes a larger difference between the plays than a gammon.
    """
    chances = switch_sides(static.evaluate_many(np.array([play.position.board for play in plays])))
    gammons, backgammons = chances[:, LOSE_GAMMON], chances[:, LOSE_BACKGAMMON]
    values = gammon_values(cube_model)[1], backgammon_value_lost(cube_model)
    decides = values[1] * np.ptp(backgammons) > values[0] * np.ptp(gammons)
    return (
        values[0] >= LITTLE and bool(gammons.max() >= _SOME_GAMMONS and gammons.min() <= 1 - _SOME_GAMMONS),
        values[1] >= LITTLE and bool(backgammons.max() >= _SOME_GAMMONS and decides),
    )


def _gammons(
    evaluator: Evaluator,
    plays: tuple[Play, Play],
    names: tuple[str, str],
    cube_model: CubeModel,
    difference: float,
    words: Phrases,
) -> str:
    """Return a sentence on gammons won or lost, if these make up much of the `difference`.

    Gammons, which include backgammons, count their value beyond a single game.  Their probabilities are those
    of play at the score and cube, as in a ranking.
    """
    after = np.array([play.position.board for play in plays])
    opponents = evaluator.with_cube(cube_model, side=1)
    chances = switch_sides(opponents.evaluate_many(after)).astype(np.float64)
    two = chances[:, [WIN_GAMMON, LOSE_GAMMON]].T.tolist()
    amounts = [
        gain * (first - second) for gain, (first, second) in zip(gammon_gains(cube_model), two, strict=True)
    ]
    which = int(abs(amounts[1]) > abs(amounts[0]))
    if abs(amounts[which]) < max(_MIN_GAMMONS, _LARGE_SHARE * abs(difference)):
        return ""
    first, second = (f"{100 * share:.0f}" for share in two[which])
    key = "lost" if which else "won"
    return words.say("gammons", key, better=names[0], worse=names[1], first=first, second=second)


def _verdict(
    names: tuple[str, str], difference: float, in_chances: bool, is_close: bool, words: Phrases
) -> str:
    """Return a sentence on which play is better, and by how much."""
    table = ("on_chances",) if in_chances else ()
    value, digits = (50 * abs(difference), 1) if in_chances else (abs(difference), 3)
    amount = words.amount(value, digits)
    key = "equal" if not round(value, digits) else "better" if difference > 0 else "worse"
    if is_close and key != "equal":
        names = names if key == "better" else (names[1], names[0])
        key = "close"
    return words.say(*table, key, better=names[0], worse=names[1], difference=amount)


def _certainty(player: str, choice: ComparedPair, difference: float) -> tuple[str, float]:
    """Compare a `difference` with its standard error and the average error of a player.

    Returns the key of a sentence and the error that it names.
    """
    if choice.is_exact:
        return "exact", 0.0
    if abs(difference) < MIN_SHOWN:
        return "unknown", 0.0
    se = choice.rolled and choice.rolled.se
    if se is not None and abs(difference) < _OPEN * se:
        return "noisy", se
    rate = known_error_rate(player)
    if rate is None:
        return "unknown", 0.0
    error = rate / MILLIPOINTS
    sure = _SURE if choice.rolled is None else _SURE_ROLLED
    key = next((key for key, times in sure if abs(difference) >= times * error), "open")
    if key == "clear" and se is not None and abs(difference) < CONFIRMED_Z * se:
        return "likely_rolled", se
    return key, error


def explain_position(evaluator: Evaluator, position: Position) -> PositionExplanation:
    """Explain the static value of `position` by `evaluator`.

    Raises `PlayerError` unless the evaluator is a weight file, bras or phase.
    """
    static = explainable(evaluator)
    words = phrases(LANGUAGE)
    two = first, second = valued_position(static, position), valued_position(static, position.switch_sides())
    view = Viewpoint(you_are_on_roll=True, race=both_races(*two))
    parts = _weighed(static, two, view, words)

    def of_values(value: float) -> str:
        return AmountScale(1.0, parts.scale.win_only).in_words(value, words)

    on_roll = f"{words.say('position', 'on_roll')} {of_values((first.value + second.value) / 2)}"
    named = parts.shown_groups[:_SUMMED_UP]
    listed = [on_roll, *groups_with_amounts(named, parts.scale, words)]
    rest = sum(amount for _, amount in parts.groups[len(named) :])
    if parts.scale.counts(rest):
        listed.append(f"{words.say('position', 'rest')} {parts.scale.in_words(rest, words)}")
    summary = words.say(
        "position",
        "summary",
        even=words.say("position", "even_chances" if parts.scale.win_only else "even_game"),
        value=of_values(first.value),
        unit=parts.scale.unit_in(words),
        parts=", ".join(listed),
    )
    return PositionExplanation(first.x, (first.x + second.x) / 2, parts, summary)


def _chosen(
    evaluator: Evaluator,
    position: Position,
    roll: tuple[int, int],
    better: Play | None,
    worse: Play | None,
    state: MatchState | None,
) -> ComparedPair:
    """Return the comparison of the chosen legal plays."""
    plays = legal_plays(position, roll)
    for play in (better, worse):
        if play is not None and all(play.position != legal.position for legal in plays):
            raise PlayError(f"illegal play {play.notation or NO_MOVE!r} for this roll")
    if len(plays) == 1:
        only = plays[0].notation
        found = f"{only} is the only legal play" if only else "no play is legal"
        raise PlayError(f"{found}: there is nothing to compare")
    choice = compare_pair(position, checked_roll(*roll), evaluator, state, better, worse)
    if choice.better.play.position == choice.worse.play.position:
        raise PlayError(f"{choice.worse.play.notation!r} cannot be compared with itself; name another play")
    return choice
