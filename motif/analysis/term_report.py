"""What a head of a weight file looks at, in words: how much a typical amount of each parameter is worth.

Sentences are made from the registry's and can be read aloud: "6 more rolls of 36 with which the opponent
can hit cost 0.031 points." For a pair it says what one of the two does when there is more of the other.
Amounts are round numbers near one standard deviation of the parameter, in its own unit.

What is shown is never the part of a single weight, which others may take back, but what the value does along
positions that occur: see `motif.analysis.observed_effects`.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from motif.analysis.evaluator_analysis import FEWEST, dataset_positions, judgement, self_play_positions
from motif.analysis.observed_effects import CurveStep, Observed, observed
from motif.board.packed import Board, pack_many
from motif.evaluators import WeightFile
from motif.evaluators.hidden_unit_words import typical_boards
from motif.evaluators.probabilities import bounds
from motif.evaluators.weight_file import HEAD_NAMES
from motif.fitting.problem import Link
from motif.fitting.significance import HeadTerms, read_terms, term_names, term_statistics, weight_vector
from motif.fitting.terms import Terms
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import rows_of_head, settings_of, term_errors
from motif.learning.rows import class_rows
from motif.parameters import Parameter, ParameterSet
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players import Player
from motif.runtime.errors import DatasetError, PlayerError, SettingError
from motif.runtime.parallel import one_thread

YES_OR_NO = "yes or no"
WORDS = 20
"""Parameters that a weight file tells of."""
MOST = 10_000
"""Positions that effects are measured over, at most."""
_WHETHER = "whether "
_ROUND = (1.0, 2.0, 5.0, 10.0)
_SLIGHT = 1 / 200
"""Share of a head's range below which a gain makes hardly any difference: 0.03 points of equity."""
_STAGE_ROWS = 200
"""Positions of a stage of the game at least."""
_CHANGES = 0.5
"""Share of its size by which a parameter's worth must change in the course of the game to be shown."""
_ROUND_PIPS = 5
_SAME = 1e-5
"""Relative difference of weights that a table and a weight file have in common: the file's are float32."""


@dataclass(frozen=True)
class Gain:
    """A change of a head's value, and how it is shown."""

    head: str
    value: float
    """Points of equity, or a chance from -1 to 1."""
    error: float
    """Standard error of `value`; NaN where nobody knows it."""

    @property
    def slight(self) -> bool:
        """Whether it is hardly worth a word."""
        low, high = bounds(self.head)
        return abs(self.value) < _SLIGHT * (high - low)

    def told(self, plural: bool, against: float | None = None) -> str:
        """Verb and amount; with `against`, how much more or less than a gain of its sign that is.

        `plural` is the number of what comes before the verb.
        """
        rises = (self.value if against is None else against) >= 0
        grows = "" if against is None else (" more" if (self.value >= 0) == rises else " less")
        ending = "" if plural else "s"
        if self.head == "equity":
            verb = ("are worth" if plural else "is worth") if rises else f"cost{ending}"
            return f"{verb} {self._amount(1, 2)} points of equity{grows}"
        chance = HEAD_NAMES[self.head]
        verb, goal = (f"add{ending}", f"to the {chance}") if rises else (f"take{ending}", f"off the {chance}")
        return f"{verb} {self._amount(100, 1)} %{grows} {goal}"

    @property
    def size(self) -> str:
        """With its sign, in the unit that sentences use."""
        # Adding 0 takes the sign off a zero.
        equity = self.head == "equity"
        size = (round(self.value, 2) if equity else round(100 * self.value, 1)) + 0.0
        text = f"{size:+.2f}" if equity else f"{size:+.1f} %"
        return text.replace("-", "\N{MINUS SIGN}")

    def _amount(self, factor: int, least: int) -> str:
        """Two figures that matter, one of the error, and at least so many decimals."""
        size, error = factor * abs(self.value), factor * self.error
        first = (1 - math.floor(math.log10(size))) if size > 0 else 0
        of_error = -math.floor(math.log10(error)) if error > 0 else 0
        digits = min(max(first, of_error, least), 6)
        return f"{size:.{digits}f}" + (f" ± {error:.{digits}f}" if math.isfinite(error) else "")


@dataclass(frozen=True)
class Subject:
    """An amount of one parameter, as the subject of a sentence."""

    text: str
    plural: bool

    @property
    def before_verb(self) -> str:
        """With a comma where it ends in a clause that began with one."""
        return f"{self.text}," if "," in self.text else self.text


@dataclass(frozen=True)
class ToldTerm:
    """One term of a head; numbers that nobody knows are NaN."""

    name: str
    """See `motif.fitting.significance.term_names`."""
    sentence: str
    """What the term's parameters do along the positions that occur; of a pair, how one changes the other."""
    full: tuple[str, ...]
    """The measured values that count as 1 in its features, as "36 rolls"; none for a point term."""
    moves: float
    """How far the term moves the head's value: one standard deviation, in points or as a chance."""
    weight: float
    se: float
    z: float
    """Of the weight."""
    spread: float
    """|weight| times the standard deviation of the term's value."""
    effect: float
    """The weight where features are measured from their means: of a single one, in an average position."""
    effect_se: float
    effect_z: float


@dataclass(frozen=True)
class ToldEffect:
    """What more of one parameter is worth along positions that occur."""

    name: str
    gist: str
    """What `amount` more of it is worth."""
    sentence: str
    """The same, where that changes in the course of the game, and why the sign is
    not the one that every player expects, if it is not."""
    held: str
    """What was held still."""
    amount: float
    """A round number near one standard deviation, in the parameter's unit."""
    gain: float
    """What that much more is worth: points of equity, or a chance from -1 to 1."""
    moves: float
    """How far the parameter moves the value: one standard deviation."""
    expected: bool
    """Whether the sign is the one that every player expects, or nobody expects any, or it is hardly worth
    a word."""
    curve: tuple[CurveStep, ...]
    """Values in the parameter's unit, with the value of the head that goes with them."""


def typical_amount(parameter: Parameter, deviation: float) -> float:
    """Return a round number near one standard deviation, in the parameter's unit; at least 1.

    `deviation` is that of the feature, so of the measured value times the parameter's scale.
    """
    size = deviation / parameter.scale
    if parameter.unit == YES_OR_NO or not size > 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(size))
    return min((power * step for step in _ROUND), key=lambda amount: abs(math.log(amount / size)))


def full_value(parameter: Parameter) -> str:
    """Return the measured value that counts as 1."""
    if parameter.unit == YES_OR_NO:
        return "yes"
    # The registry keeps 1 / full; rounding takes off what the two divisions leave behind.
    return f"{round(1 / parameter.scale, 6):g} {parameter.unit}"


def subject(parameter: Parameter, amount: float) -> Subject:
    """`amount` of a parameter more, such as "2 more blots of the opponent"."""
    if parameter.unit == YES_OR_NO:
        return Subject("that " + parameter.sentence.removeprefix(_WHETHER), False)
    plural = amount != 1
    number = f"{amount:g}" if plural else "one"
    phrase = _counted(parameter, plural)
    if phrase is None:
        unit = parameter.unit if plural else _singular(parameter.unit)
        return Subject(f"{number} {unit} more in the {parameter.sentence}", plural)
    more = "" if parameter.side == "difference" else "more "
    return Subject(f"{number} {more}{phrase}", plural)


def effect_words(parameter: Parameter, amount: float, gain: Gain) -> str:
    """Return what `amount` of a parameter more is worth."""
    words = subject(parameter, amount)
    if gain.slight:
        verb = "make" if words.plural else "makes"
        return _sentence(f"{words.before_verb} {verb} hardly any difference ({gain.size})")
    return _sentence(f"{words.before_verb} {gain.told(words.plural)}")


def pair_words(
    main: Parameter, amount: float, other: Parameter, other_amount: float, own: float, gain: Gain
) -> str:
    """How much more or less `amount` of `main` counts for every `other_amount` of `other`.

    `own` is what a little more of `main` gains by itself, of which the sign alone matters.
    """
    words, circumstance = subject(main, amount), subject(other, other_amount).text
    if other.unit == YES_OR_NO:
        condition = "when " + circumstance.removeprefix("that ")
    else:
        each = circumstance.removeprefix("one ")
        condition = "for every " + (
            "further " + each.removeprefix("more ") if each.startswith("more ") else each
        )
    return _sentence(f"{words.before_verb} {gain.told(words.plural, own)} {condition}")


def square_words(parameter: Parameter, amount: float, own: float, gain: Gain) -> str:
    """How much more or less each further `amount` of a parameter counts than the one before."""
    words = subject(parameter, amount)
    before = f"{amount:g}" if words.plural else "one"
    return _sentence(f"{words.before_verb} {gain.told(words.plural, own)} than the {before} before")


def _counted(parameter: Parameter, plural: bool) -> str | None:
    """Return the parameter's sentence where it begins with what is counted, or None."""
    words = parameter.sentence.split(" ")
    for place, word in enumerate(words[:2]):
        if word == parameter.unit:
            return " ".join([*words[:place], word if plural else _singular(word), *words[place + 1 :]])
    return None


def _singular(unit: str) -> str:
    return unit.removesuffix("s")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def chosen_head(weights: WeightFile, class_name: str, head: str | None) -> str:
    """Return the head to report on: `head`, or the one that ranks plays.

    Raises `SettingError` when the file has no such weights of its own.
    """
    heads = weights.classes.get(class_name, {})
    if not heads:
        raise SettingError(f"the weights {weights.name!r} have none of their own for {class_name} positions")
    name = head or ("equity" if "equity" in heads else next(iter(heads)))
    if name not in heads:
        raise SettingError(
            f"the weights {weights.name!r} have no head {name!r} for {class_name} positions; there are "
            f"{', '.join(heads)}"
        )
    return name


def table_terms(path: Path, weights: WeightFile, class_name: str, head: str) -> HeadTerms:
    """Return the statistics of a head in the table of terms `path`.

    Raises `DatasetError` for a table that lacks this head, or was made of other weights.
    """
    place = class_name, head
    head_terms = next((terms for terms in read_terms(path) if terms.place == place), None)
    if head_terms is None:
        raise DatasetError(f"{path}: the table has no terms of {' '.join(place)}")
    terms, vector = weight_vector(weights.classes[class_name][head])
    same = head_terms.names == term_names(terms, weights.parameters)
    if not (same and np.allclose(head_terms.statistics.weights, vector, rtol=_SAME, atol=1e-30)):
        raise DatasetError(f"{path}: the table is that of other weights than {weights.name!r}")
    return head_terms


def dataset_terms(folder: Path, weights: WeightFile, class_name: str, head: str) -> tuple[HeadTerms, int]:
    """Return the statistics of a head with standard errors, from a dataset that it was fitted to.

    Also the number of the dataset's positions of the class that train.
    """
    settings = settings_of(weights)
    with class_rows([folder], weights.parameters, settings.validation, settings.seed) as rows:
        terms = term_errors(rows, weights, settings, class_name, head)
        return terms, rows[class_name].training


def board_terms(boards: Board, weights: WeightFile, class_name: str, head: str) -> tuple[HeadTerms, int]:
    """Return the statistics of a head over its own of `boards` (n, 26), without standard errors.

    Left out are those where the head's chance is 0 by the rules, and those that bearoff tables judge.  Also
    how many they are.  Raises `DatasetError` when they are fewer than `FEWEST`.
    """
    own = _own_of_head(boards, weights, class_name, head)
    terms, vector = weight_vector(weights.classes[class_name][head])
    rows = features(weights.parameters, own)
    link = Link(*bounds(head))
    statistics = term_statistics(terms, vector, link, rows)
    layer = weights.hidden_of(class_name)
    if layer is not None and layer.added_to(head) is not None:
        # What a unit of the raw sum is worth depends on all that adds to it.
        with one_thread():
            slope = float(link.slope(judgement(weights, head, own).raw).mean())
        statistics = replace(statistics, slope=slope)
    return HeadTerms(class_name, head, term_names(terms, weights.parameters), statistics), len(own)


def game_boards(player: Player, most: int, class_name: str, *, seed: int, jobs: int | None = None) -> Board:
    """About `most` positions (n, 26) of a class from a player's money games.

    The same `seed` gives the same ones for any number of `jobs`.  Raises `PlayerError` when there are
    hardly any.
    """
    own = _own(self_play_positions(player, most, class_name, seed=seed, jobs=jobs), class_name)
    if len(own) < FEWEST:
        raise PlayerError(
            f"games of {player.name!r} hold {len(own)} {class_name} positions: a dataset or a file of "
            "positions is needed"
        )
    return own[:most]


def dataset_boards(folder: Path, class_name: str) -> Board:
    """Positions (n, 26) of a class spread over a dataset: enough to see effects in."""
    return _own(dataset_positions(folder, MOST, class_name), class_name)


def observed_positions(
    weights: WeightFile, boards: Board, class_name: str, head: str, most: int = MOST
) -> Observed:
    """Return what a head makes of its own of `boards` (n, 26), of at most `most` spread over them.

    Raises `DatasetError` when they are fewer than `FEWEST`.
    """
    own = _own_of_head(boards, weights, class_name, head)
    return observed(weights, own[np.linspace(0, len(own) - 1, min(most, len(own))).astype(np.int64)], head)


@one_thread()
def told_effects(positions: Observed, count: int) -> tuple[ToldEffect, ...]:
    """Return the `count` parameters that move the value of `positions` most, and what each is worth."""
    gains = [positions.feature_gain(k) for k in range(len(positions.parameters))]
    moves = np.abs(gains) * positions.deviations
    order = [int(k) for k in np.argsort(-moves, kind="stable") if moves[k] > 0]
    return tuple(_told_effect(positions, k, gains[k]) for k in order[:count])


def with_words(weights: WeightFile, count: int = WORDS) -> WeightFile:
    """`weights` with sentences on the `count` parameters that matter most in each class, for its file.

    They are shown along the positions that motif carries, so that they depend on nothing but the weights.
    """
    words = {}
    for class_name in weights.classes:
        head = chosen_head(weights, class_name, None)
        own = _own_of_head(typical_boards(class_name), weights, class_name, head)
        positions = observed(weights, own, head)
        words[class_name] = tuple(effect.gist for effect in told_effects(positions, count))
    return replace(weights, words=words)


def _told_effect(positions: Observed, feature: int, gain: float) -> ToldEffect:
    parameter = positions.parameters.parameters[feature]
    deviation = float(positions.deviations[feature])
    amount = typical_amount(parameter, deviation)
    step = amount * parameter.scale
    told = Gain(positions.head, gain * step, math.nan)
    expected = told.slight or parameter.better in ("", "more" if gain > 0 else "less")
    sentences = [effect_words(parameter, amount, told), _by_stage(positions, feature, step, told)]
    if not expected:
        sentences.append(_excuse(positions, feature, gain))
    return ToldEffect(
        name=parameter.name,
        gist=sentences[0],
        sentence=" ".join(filter(None, sentences)),
        held=positions.feature_frame(feature).words,
        amount=amount,
        gain=told.value,
        moves=abs(gain) * deviation,
        expected=expected,
        curve=tuple(replace(step, value=step.value / parameter.scale) for step in positions.curve(feature)),
    )


def _by_stage(positions: Observed, feature: int, step: float, told: Gain) -> str:
    """How the gain of `step` changes in the course of the game; nothing where it hardly does."""
    parts = positions.stages
    if told.slight or min(len(part.values) for part in parts) < _STAGE_ROWS:
        return ""
    gains = [step * part.feature_gain(feature) for part in parts]
    early, late = (Gain(told.head, gain, math.nan) for gain in gains)
    change = Gain(told.head, late.value - early.value, math.nan)
    turns = min(gain * told.value for gain in gains) < 0
    if change.slight or turns or abs(change.value) < _CHANGES * abs(told.value):
        return ""
    many, few = (_ROUND_PIPS * round(float(part.pips.mean()) / _ROUND_PIPS) for part in parts)
    return f"With about {many} pips to go it is {early.size}, with about {few} it is {late.size}."


def _excuse(positions: Observed, feature: int, gain: float) -> str:
    """Return what goes with a parameter whose sign is not what a player expects."""
    through = positions.companions(feature)
    own = float(through[feature])
    through[feature] = 0.0
    if own * gain > 0 and abs(own) >= float((through * np.sign(gain)).max()):
        return "One expects the opposite, but this is what its own weights say."
    companion = int(np.argmax(through * np.sign(gain)))
    alone = positions.gradient[companion] * through[companion]
    parameter = positions.parameters.parameters[companion]
    # The companion grows where its own slope and what comes through it have one sign.
    way = "higher" if alone > 0 else "lower"
    return (
        "One expects the opposite, but it seldom comes alone: where there is more of it, this is usually "
        f"{way} as well, and that outweighs it: {parameter.sentence}."
    )


@one_thread()
def told_terms(weights: WeightFile, head: HeadTerms, positions: Observed, count: int) -> tuple[ToldTerm, ...]:
    """Return the `count` terms, but for the bias, that move the head's value most, and what they do in words.

    Words are about what the value does along `positions`, numbers about the weights.
    """
    terms, _ = weight_vector(weights.classes[head.class_name][head.head])
    statistics = head.statistics
    moves = statistics.moves
    order = 1 + np.argsort(-moves[1:], kind="stable")
    z, effect_z = statistics.z, statistics.effect_z
    return tuple(
        ToldTerm(
            name=head.names[k],
            sentence=_sentence_of_term(terms, positions, int(k)),
            full=tuple(full_value(parameter) for parameter in _features(terms, weights.parameters, int(k))),
            moves=float(moves[k]),
            weight=float(statistics.weights[k]),
            se=float(statistics.errors[k]),
            z=float(z[k]),
            spread=float(statistics.spreads[k]),
            effect=float(statistics.effects[k]),
            effect_se=float(statistics.effect_errors[k]),
            effect_z=float(effect_z[k]),
        )
        for k in order[:count]
    )


def _features(terms: Terms, parameters: ParameterSet, place: int) -> list[Parameter]:
    """Return what term number `place` of the weight vector multiplies: one or two features."""
    pair = [place - 1] if place <= terms.size else terms.pairs[place - 1 - terms.size].tolist()
    return [parameters.parameters[feature] for feature in pair]


def _sentence_of_term(terms: Terms, positions: Observed, place: int) -> str:
    """Term number `place` of the weight vector in words, by what the value does along `positions`."""
    parameters, features = positions.parameters.parameters, positions.features

    def gain(value: float) -> Gain:
        return Gain(positions.head, value, math.nan)

    def amount(feature: int) -> float:
        return typical_amount(parameters[feature], float(positions.deviations[feature]))

    if place <= terms.size:
        feature = place - 1
        parameter, much = parameters[feature], amount(feature)
        worth = positions.feature_gain(feature) * much * parameter.scale
        return effect_words(parameter, much, gain(worth))
    pair: list[int] = terms.pairs[place - 1 - terms.size].tolist()
    centred = {k: features[:, k] - features[:, k].mean() for k in pair}
    alone = {k: positions.feature_gain(k) for k in pair}
    # The one that counts more by itself is the subject, the other the circumstance.
    main, other = sorted(pair, key=lambda k: -abs(alone[k]) * float(positions.deviations[k]))
    first, second = parameters[main], parameters[other]
    steps = amount(main) * first.scale * amount(other) * second.scale
    if main == other and first.unit == YES_OR_NO:  # its square is itself
        return effect_words(first, 1, gain(alone[main]))
    together = positions.gain(centred[main] * centred[other], list(centred.values()))
    if main != other:
        return pair_words(first, amount(main), second, amount(other), alone[main], gain(together * steps))
    return square_words(first, amount(main), alone[main], gain(2 * together * steps))


def _own(boards: Board, class_name: str) -> Board:
    return boards[classify_many(pack_many(boards)) == CLASS_NAMES.index(class_name)]


def _own_of_head(boards: Board, weights: WeightFile, class_name: str, head: str) -> Board:
    """Those of `boards` that a head judges; raises `DatasetError` when they are fewer than `FEWEST`."""
    own = _own(boards, class_name)
    own = own[rows_of_head(own, head, FitSettings(bearoff=weights.bearoff))]
    if len(own) < FEWEST:
        raise DatasetError(
            f"at least {FEWEST} {class_name} positions are needed to tell how much a term matters, "
            f"not {len(own)}"
        )
    return own
