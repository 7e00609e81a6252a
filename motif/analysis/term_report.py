"""How much each parameter and term of a weight file's head matters, as numbers and in words.

A sentence states the effect of a round amount near one standard deviation, in the parameter's own unit: "6
more rolls of 36 with which the opponent can hit cost 0.031 points of equity."  For a pair it states how the
second parameter changes the effect of the first.

Effects are measured over positions from play (`motif.analysis.observed_effects`), because single weights
offset each other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from motif.analysis.evaluator_analysis import MIN_BOARDS, dataset_positions, judgement, of_class, spread_rows
from motif.analysis.observed_effects import CurveStep, Observed, observed
from motif.analysis.phrases import LANGUAGE, Phrases, phrases
from motif.board.packed import Board
from motif.evaluators import WeightFile
from motif.evaluators.hidden_unit_words import typical_boards
from motif.evaluators.probabilities import HEADS, bounds
from motif.evaluators.weight_file import HeadKey
from motif.fitting.problem import Link
from motif.fitting.significance import HeadTerms, read_terms, term_names, term_statistics, weight_vector
from motif.fitting.terms import Terms
from motif.learning.fit_settings import FitSettings
from motif.learning.heads import fitted_datasets, has_hidden_units, rows_of_head, settings_of, term_errors
from motif.learning.rows import class_rows
from motif.parameters import Parameter
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import DatasetError, SettingError
from motif.runtime.layout import sentence
from motif.runtime.parallel import one_thread
from motif.runtime.settings import check_word
from motif.sampling.dataset_files import read_manifest

WORDS = 20
"""Parameters described in a weight file."""
MAX_BOARDS = 10_000
"""Maximum number of positions over which effects are measured."""
_ROUND = (1.0, 2.0, 5.0, 10.0)
_SLIGHT = 1 / 200
"""Share of a head's range below which an effect is negligible: for the equity, 0.03 points."""
_STAGE_ROWS = 200
"""Minimum number of positions in a stage of the game."""
_CHANGES = 0.5
"""Minimum relative change of an effect between stages for both to be shown."""
_ROUND_PIPS = 5
_SAME = 1e-5
"""Relative tolerance when comparing a table's weights with a weight file's, which are float32."""


@dataclass(frozen=True)
class Gain:
    """A change of a head's value."""

    head: str
    value: float
    """Points of equity, or a probability from -1 to 1."""
    error: float = math.nan
    """Standard error of `value`; NaN if unknown."""

    @property
    def is_slight(self) -> bool:
        """Whether the change is negligible."""
        low, high = bounds(self.head)
        return abs(self.value) < _SLIGHT * (high - low)

    def in_words(self, subject: str, count: int, words: Phrases, against: float | None = None) -> str:
        """Return the effect of the `subject`, singular or plural by its `count`.

        With `against`, describe it as more or less of an effect that has the sign of `against`.
        """
        rises = (self.value if against is None else against) >= 0
        change = "" if against is None else "more" if (self.value >= 0) == rises else "less"
        is_equity = self.head == "equity"
        return words.say(
            "terms",
            "equity" if is_equity else "chance",
            "up" if rises else "down",
            subject=subject,
            count=count,
            amount=self._amount(words, *((1, 2) if is_equity else (100, 1))),
            change=change and words.say("terms", "changes", change),
            head=words.say("terms", "heads", self.head),
        )

    def size(self, words: Phrases, *, with_unit: bool = True) -> str:
        """Return the value with its sign, in points or, `with_unit`, in percentage points."""
        is_equity = self.head == "equity"
        # Adding 0 removes the sign of a negative zero.
        size = (round(self.value, 2) if is_equity else round(100 * self.value, 1)) + 0.0
        unit = "" if is_equity or not with_unit else f" {words.say('units', 'chances')}"
        return words.signed(size, 2 if is_equity else 1).replace("-", "\N{MINUS SIGN}") + unit

    def _amount(self, words: Phrases, factor: int, least: int) -> str:
        """Return two significant digits of the value and one of the error, with at least `least` decimals."""
        size, error = factor * abs(self.value), factor * self.error
        first = (1 - math.floor(math.log10(size))) if size > 0 else 0
        of_error = -math.floor(math.log10(error)) if error > 0 else 0
        digits = min(max(first, of_error, least), 6)
        return words.amount(size, digits) + (
            f" ± {words.amount(error, digits)}" if math.isfinite(error) else ""
        )


@dataclass(frozen=True)
class TermSummary:
    """One term of a head; unknown numbers are NaN."""

    name: str
    """See `motif.fitting.significance.term_names`."""
    sentence: str
    """Sentence on the effect of the term's parameters over positions from play."""
    full: tuple[str, ...]
    """The measured values that correspond to a feature of 1, such as "36 rolls"."""
    moves: float
    """One standard deviation of the term's contribution to the head's value, in points or as a
    probability."""
    weight: float
    se: float
    z: float
    """The weight divided by its standard error."""
    spread: float
    """|weight| times the standard deviation of the term's value."""
    effect: float
    """The weight with features measured from their means: for a single feature, its effect in an average
    position."""
    effect_se: float
    effect_z: float


@dataclass(frozen=True)
class EffectSummary:
    """The effect of one parameter over positions from play."""

    name: str
    gist: str
    """Sentence on the effect of `amount` more of the parameter."""
    sentence: str
    """The same, with the change of the effect during the game and an explanation of an unexpected sign."""
    held: str
    """The facts held constant, in words."""
    amount: float
    """A round number near one standard deviation, in the parameter's unit."""
    gain: float
    """The effect of `amount`: points of equity, or a probability from -1 to 1."""
    moves: float
    """The effect of one standard deviation."""
    expected: bool
    """Whether the sign is what players expect; also true if they expect none or the effect is negligible."""
    curve: tuple[CurveStep, ...]
    """Values in the parameter's unit, with the head's value at each."""


def typical_amount(parameter: Parameter, deviation: float) -> float:
    """Return a round number near one standard deviation, in the parameter's unit; at least 1.

    `deviation` is the standard deviation of the feature: the measured value times the parameter's scale.
    """
    size = deviation / parameter.scale
    if parameter.is_flag or not size > 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(size))
    return min((power * step for step in _ROUND), key=lambda amount: abs(math.log(amount / size)))


def full_value(parameter: Parameter) -> str:
    """Return the measured value that corresponds to a feature of 1."""
    if parameter.is_flag:
        return "yes"
    # Rounding removes the error of dividing twice.
    return f"{round(1 / parameter.scale, 6):g} {parameter.unit}"


def subject(parameter: Parameter, amount: float, words: Phrases) -> str:
    """Return an `amount` of a parameter, such as "2 more blots of the opponent"."""
    phrase, facts = _counted(parameter, int(amount), words)
    return words.say("terms", phrase, **facts)


def effect_words(parameter: Parameter, amount: float, gain: Gain, words: Phrases) -> str:
    """Return a sentence on the effect of `amount` more of a parameter."""
    text = _before_verb(subject(parameter, amount, words))
    if gain.is_slight:
        return sentence(words.say("terms", "slight", subject=text, count=int(amount), size=gain.size(words)))
    return sentence(gain.in_words(text, int(amount), words))


def pair_words(
    main: tuple[Parameter, float], other: tuple[Parameter, float], own: float, gain: Gain, words: Phrases
) -> str:
    """Return how the effect of an amount of `main` changes with every amount of `other`.

    Only the sign of `own`, the effect of `main`, matters.
    """
    effect = _against(*main, own, gain, words)
    phrase, facts = _counted(other[0], int(other[1]), words)
    return sentence(words.say("terms", f"every_{phrase}", effect=effect, **facts))


def square_words(parameter: Parameter, amount: float, own: float, gain: Gain, words: Phrases) -> str:
    """Return how the effect of each further `amount` of a parameter differs from that of the one before."""
    effect = _against(parameter, amount, own, gain, words)
    return sentence(words.say("terms", "square", effect=effect, count=int(amount), number=f"{amount:g}"))


def _against(parameter: Parameter, amount: float, own: float, gain: Gain, words: Phrases) -> str:
    return gain.in_words(_before_verb(subject(parameter, amount, words)), int(amount), words, own)


def _before_verb(text: str) -> str:
    """Return a subject, with a final comma if it contains a comma."""
    return f"{text}," if "," in text and ":" not in text else text


def _counted(parameter: Parameter, count: int, words: Phrases) -> tuple[str, dict[str, object]]:
    """Return the phrase for a `count` of a parameter and the values of its placeholders."""
    unit, parts = parameter.unit, parameter.sentence.removeprefix("whether ").split(" ")
    # The registry's sentence usually begins with what is counted.
    place = next((k for k, part in enumerate(parts[:2]) if part == unit), None)
    phrase = "lead" if parameter.side == "difference" else "more"
    if parameter.is_flag:
        phrase = "fact"
    elif " " in unit:
        phrase = "product"
    elif place is None:
        phrase = "measure"
        unit = words.find("terms", "units", unit, default=unit, count=count)
    elif count == 1:
        parts[place] = unit.removesuffix("s")
    things = " ".join(parts)
    if words.language != LANGUAGE:
        label = words.find("parameters", parameter.base_name, default=parameter.template)
        things = label.replace("{side}", words.find("terms", "sides", parameter.side, default=""))
    return phrase, {"count": count, "number": f"{count:g}", "unit": unit, "things": things}


def chosen_head(weights: WeightFile, class_name: str, head: str | None) -> str:
    """Return the head to report on: `head`, by default the equity head, or the win head in files without one.

    Raises `SettingError` if the file has no such weights of its own.
    """
    check_word("position_class", class_name, CLASS_NAMES)
    if head is not None:
        check_word("head", head, HEADS)
    heads = weights.classes.get(class_name, {})
    if not heads:
        raise SettingError(f"{weights.name!r} has no weights of its own for {class_name} positions")
    name = head or ("equity" if "equity" in heads else next(iter(heads)))
    if name not in heads:
        raise SettingError(
            f"the weights {weights.name!r} have no head {name!r} for {class_name} positions; there are "
            f"{', '.join(heads)}"
        )
    return name


def table_terms(path: Path, weights: WeightFile, class_name: str, head: str) -> HeadTerms:
    """Read the statistics of a head from the table of terms at `path`.

    Raises `DatasetError` for a table that lacks this head or belongs to other weights.
    """
    key = HeadKey(class_name, head)
    head_terms = next((terms for terms in read_terms(path) if terms.key == key), None)
    if head_terms is None:
        raise DatasetError(f"{path}: the table has no terms of {' '.join(key)}")
    terms, vector = weight_vector(weights.classes[class_name][head])
    same = head_terms.names == term_names(terms, weights.parameters)
    if not (same and np.allclose(head_terms.statistics.weights, vector, rtol=_SAME, atol=1e-30)):
        raise DatasetError(f"{path}: the table belongs to weights other than {weights.name!r}")
    return head_terms


def fitted_terms(
    pools: Sequence[Path], weights: WeightFile, class_name: str, head: str
) -> tuple[HeadTerms, int]:
    """Return the statistics of a head with standard errors, from all datasets it was fitted to.

    Also return the number of training positions of the class.  There must be no reason in `no_errors`.
    """
    settings = settings_of(weights)
    with class_rows(pools, weights.parameters, settings.validation, settings.seed) as rows:
        return term_errors(rows, weights, settings, class_name, head), rows[class_name].training


def no_errors(
    folder: Path, weights: WeightFile, class_name: str, head: str, is_in_memory: bool = False
) -> str:
    """Return why the weights of a head have no standard errors from a dataset; empty if they have.

    The reason names the folder unless the dataset `is_in_memory`.
    """
    if has_hidden_units(weights, class_name, head):
        return "weights fitted together with hidden units have none"
    manifest, fitted = read_manifest(folder), weights.fit.get("samples")
    name = "the dataset" if is_in_memory else str(folder)
    if set(manifest.fingerprints).isdisjoint(fitted_datasets(weights)):
        return f"{weights.name} has no record of a fit to {name}"
    if fitted != manifest.positions:
        counts = f"{fitted} positions, not to the {manifest.positions} of {name}"
        return f"{weights.name} was fitted to {counts}; a table of its terms has them"
    if levels := weights.fit.get("levels"):
        return f"{weights.name} was fitted with the levels of {levels}; a table of its terms has them"
    return ""


def board_terms(boards: Board, weights: WeightFile, class_name: str, head: str) -> tuple[HeadTerms, int]:
    """Return the statistics of a head over its `boards` (n, 26), without standard errors.

    Boards where the head's probability is 0 by rule, or that bearoff tables cover, are left out.  Also return
    the number of boards used.  Raises `DatasetError` if there are fewer than `MIN_BOARDS`.
    """
    own = _own_of_head(boards, weights, class_name, head)
    terms, vector = weight_vector(weights.classes[class_name][head])
    rows = features(weights.parameters, own)
    link = Link(*bounds(head))
    statistics = term_statistics(terms, vector, link, rows)
    if has_hidden_units(weights, class_name, head):
        # The slope of the link depends on all contributions to the raw sum.
        with one_thread():
            slope = float(link.slope(judgement(weights, head, own).raw).mean())
        statistics = replace(statistics, slope=slope)
    return HeadTerms(class_name, head, term_names(terms, weights.parameters), statistics), len(own)


def dataset_boards(folder: Path, class_name: str) -> Board:
    """Return up to `MAX_BOARDS` positions (n, 26) of a class, spread evenly over a dataset."""
    return dataset_positions(folder, MAX_BOARDS, class_name)


def observed_positions(
    weights: WeightFile, boards: Board, class_name: str, head: str, most: int = MAX_BOARDS
) -> Observed:
    """Return a head's values on at most `most` of the `boards` (n, 26) that it evaluates.

    Raises `DatasetError` if there are fewer than `MIN_BOARDS`.
    """
    own = _own_of_head(boards, weights, class_name, head)
    return observed(weights, own[spread_rows(len(own), most)], head)


@one_thread()
def effect_summaries(positions: Observed, count: int, language: str = LANGUAGE) -> tuple[EffectSummary, ...]:
    """Return the effects of the `count` parameters that move the value of `positions` most."""
    gains = [positions.feature_gain(k) for k in range(len(positions.parameters))]
    moves = np.abs(gains) * positions.deviations
    order = [int(k) for k in np.argsort(-moves, kind="stable") if moves[k] > 0]
    return tuple(_effect_summary(positions, k, gains[k], phrases(language)) for k in order[:count])


def with_words(weights: WeightFile) -> WeightFile:
    """Return `weights` with sentences on the `WORDS` most important parameters of each class, for its file.

    Effects are measured on positions shipped with motif, so the sentences depend only on the weights.
    """
    words = {}
    for class_name in weights.classes:
        head = chosen_head(weights, class_name, None)
        own = _own_of_head(typical_boards(class_name), weights, class_name, head)
        positions = observed(weights, own, head)
        words[class_name] = tuple(effect.gist for effect in effect_summaries(positions, WORDS))
    return replace(weights, words=words)


def _effect_summary(positions: Observed, feature: int, gain: float, words: Phrases) -> EffectSummary:
    parameter, frame = positions.parameters.parameters[feature], positions.feature_frame(feature)
    deviation = float(positions.deviations[feature])
    amount = typical_amount(parameter, deviation)
    step = amount * parameter.scale
    effect = Gain(positions.head, gain * step)
    expected = effect.is_slight or parameter.better in ("", "more" if gain > 0 else "less")
    sentences = [
        effect_words(parameter, amount, effect, words),
        _by_stage(positions, feature, step, effect, words),
    ]
    if not expected:
        sentences.append(_excuse(positions, feature, gain, words))
    return EffectSummary(
        name=parameter.name,
        gist=sentences[0],
        sentence=" ".join(filter(None, sentences)),
        held=words.say("terms", "held", frame.name, pips=words.say("terms", "pips", frame.pips)),
        amount=amount,
        gain=effect.value,
        moves=abs(gain) * deviation,
        expected=expected,
        curve=tuple(replace(step, value=step.value / parameter.scale) for step in positions.curve(feature)),
    )


def _by_stage(positions: Observed, feature: int, step: float, effect: Gain, words: Phrases) -> str:
    """Return how the effect of `step` changes during the game; empty if it changes little."""
    parts = positions.stages
    if effect.is_slight or min(len(part.values) for part in parts) < _STAGE_ROWS:
        return ""
    gains = [step * part.feature_gain(feature) for part in parts]
    early, late = (Gain(effect.head, gain) for gain in gains)
    change = Gain(effect.head, late.value - early.value)
    turns = min(gain * effect.value for gain in gains) < 0
    if change.is_slight or turns or abs(change.value) < _CHANGES * abs(effect.value):
        return ""
    many, few = (_ROUND_PIPS * round(float(part.pips.mean()) / _ROUND_PIPS) for part in parts)
    sizes = {"early": early.size(words), "late": late.size(words, with_unit=False)}
    return words.say("terms", "stages", many=many, few=few, **sizes)


def _excuse(positions: Observed, feature: int, gain: float, words: Phrases) -> str:
    """Return why a parameter's sign is not what players expect."""
    through = positions.companions(feature)
    own = float(through[feature])
    through[feature] = 0.0
    if own * gain > 0 and abs(own) >= float((through * np.sign(gain)).max()):
        return words.say("terms", "unexpected")
    companion = int(np.argmax(through * np.sign(gain)))
    alone = positions.gradient[companion] * through[companion]
    parameter = positions.parameters.parameters[companion]
    # The companion grows where its own slope and its contribution have the same sign.
    way = words.say("terms", "ways", "more" if alone > 0 else "less")
    _, facts = _counted(parameter, 2, words)
    return words.say("terms", "companion", way=way, things=facts["things"])


@one_thread()
def term_summaries(
    weights: WeightFile, head: HeadTerms, positions: Observed, count: int, language: str = LANGUAGE
) -> tuple[TermSummary, ...]:
    """Return the `count` terms, except the bias, that move the head's value most.

    The sentences describe the value over `positions`, the numbers describe the weights.
    """
    terms, _ = weight_vector(weights.classes[head.class_name][head.head])
    of = head.statistics
    order = 1 + np.argsort(-of.moves[1:], kind="stable")
    # In the order of the fields.
    columns = [of.moves, of.weights, of.errors, of.z, of.spreads, of.effects, of.effect_errors, of.effect_z]
    return tuple(
        TermSummary(
            head.names[k],
            _sentence_of_term(terms, positions, k, phrases(language)),
            tuple(full_value(weights.parameters.parameters[one]) for one in _features(terms, k)),
            *(float(column[k]) for column in columns),
        )
        for k in order[:count].tolist()
    )


def _features(terms: Terms, place: int) -> list[int]:
    """Return the one or two features that entry `place` of the weight vector multiplies."""
    return [place - 1] if place <= terms.size else terms.pairs[place - 1 - terms.size].tolist()


def _sentence_of_term(terms: Terms, positions: Observed, place: int, words: Phrases) -> str:
    """Return a sentence on entry `place` of the weight vector, measured over `positions`."""
    parameters, features = positions.parameters.parameters, positions.features

    def with_amount(feature: int) -> tuple[Parameter, float]:
        parameter = parameters[feature]
        return parameter, typical_amount(parameter, float(positions.deviations[feature]))

    pair = _features(terms, place)
    alone = {k: positions.feature_gain(k) for k in pair}
    if len(pair) == 1:
        parameter, amount = with_amount(pair[0])
        effect = alone[pair[0]] * amount * parameter.scale
        return effect_words(parameter, amount, Gain(positions.head, effect), words)
    centred = {k: features[:, k] - features[:, k].mean() for k in pair}
    # The parameter with the larger effect is the subject, the other one the condition.
    main, other = sorted(pair, key=lambda k: -abs(alone[k]) * float(positions.deviations[k]))
    first, second = with_amount(main), with_amount(other)
    if main == other and first[0].is_flag:  # its square is itself
        return effect_words(first[0], 1, Gain(positions.head, alone[main]), words)
    together = positions.gain(centred[main] * centred[other], list(centred.values()))
    steps = first[1] * first[0].scale * second[1] * second[0].scale
    if main != other:
        return pair_words(first, second, alone[main], Gain(positions.head, together * steps), words)
    return square_words(*first, alone[main], Gain(positions.head, 2 * together * steps), words)


def _own_of_head(boards: Board, weights: WeightFile, class_name: str, head: str) -> Board:
    """Return the `boards` that a head evaluates; raises `DatasetError` for fewer than `MIN_BOARDS`."""
    own = of_class(boards, class_name)
    own = own[rows_of_head(own, head, FitSettings(bearoff=weights.bearoff))]
    if len(own) < MIN_BOARDS:
        raise DatasetError(
            f"at least {MIN_BOARDS} {class_name} positions are needed to measure how much a term matters, "
            f"not {len(own)}"
        )
    return own
