"""What a term does, in words: how much a typical amount of it is worth, from the registry's sentences.

A sentence can be read aloud: "6 more rolls of 36 with which the opponent can hit cost 0.031 points."
For a pair it says what one of the two does when there is more of the other.  Amounts are round numbers
near one standard deviation of the parameter, in its own unit.
"""

import math
from dataclasses import dataclass

from motif.parameters import Parameter

YES_OR_NO = "yes or no"
_WHETHER = "whether "
_ROUND = (1.0, 2.0, 5.0, 10.0)
HEAD_NAMES = {
    "equity": "equity",
    "win": "win chance",
    "win_gammon": "chance of winning a gammon",
    "win_backgammon": "chance of winning a backgammon",
    "lose_gammon": "chance of losing a gammon",
    "lose_backgammon": "chance of losing a backgammon",
}
"""What heads are called in sentences."""
_SIDES = ("the player on roll", "the opponent")
_STEPS = ("a single checker", "exactly two checkers", "exactly three checkers", "every further checker")
_BAR = 25


@dataclass(frozen=True)
class Gain:
    """A change of a head's value, and how it is told."""

    head: str
    value: float
    """Points of equity, or a chance from -1 to 1."""
    error: float
    """Standard error of `value`; NaN where nobody knows it."""

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


def typical_amount(parameter: Parameter, deviation: float) -> float:
    """A round number near one standard deviation, in the parameter's unit; at least 1.

    `deviation` is that of the feature, so of the measured value times the parameter's scale.
    """
    size = deviation / parameter.scale
    if parameter.unit == YES_OR_NO or not size > 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(size))
    return min((power * step for step in _ROUND), key=lambda amount: abs(math.log(amount / size)))


def full_value(parameter: Parameter) -> str:
    """The measured value that counts as 1."""
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
    counted = _counted(parameter, plural)
    if counted is None:
        unit = parameter.unit if plural else _singular(parameter.unit)
        return Subject(f"{number} {unit} more in the {parameter.sentence}", plural)
    more = "" if parameter.side == "difference" else "more "
    return Subject(f"{number} {more}{counted}", plural)


def linear_words(parameter: Parameter, amount: float, gain: Gain) -> str:
    """What `amount` of a parameter more is worth."""
    told = subject(parameter, amount)
    return _sentence(f"{told.before_verb} {gain.told(told.plural)}")


def pair_words(
    main: Parameter, amount: float, other: Parameter, other_amount: float, own: float, gain: Gain
) -> str:
    """How much more or less `amount` of `main` counts for every `other_amount` of `other`.

    `own` is what a little more of `main` gains by itself, of which the sign alone matters.
    """
    told, circumstance = subject(main, amount), subject(other, other_amount).text
    if other.unit == YES_OR_NO:
        joined = "when " + circumstance.removeprefix("that ")
    else:
        each = circumstance.removeprefix("one ")
        joined = "for every " + (
            "further " + each.removeprefix("more ") if each.startswith("more ") else each
        )
    return _sentence(f"{told.before_verb} {gain.told(told.plural, own)} {joined}")


def square_words(parameter: Parameter, amount: float, own: float, gain: Gain) -> str:
    """How much more or less each further `amount` of a parameter counts than the one before."""
    told = subject(parameter, amount)
    before = f"{amount:g}" if told.plural else "one"
    return _sentence(f"{told.before_verb} {gain.told(told.plural, own)} than the {before} before")


def point_words(side: int, place: int, step: int, gain: Gain) -> str:
    """What the checkers of a step on a place add: sides own and opponent, places 1 to 25 (the bar)."""
    where = "on the bar" if place == _BAR else f"on his {place} point"
    return _sentence(f"{_STEPS[step]} of {_SIDES[side]} {where} {gain.told(step in (1, 2))}")


def _counted(parameter: Parameter, plural: bool) -> str | None:
    """The parameter's sentence where it begins with what is counted ("home points that ..."), or None."""
    words = parameter.sentence.split(" ")
    for place, word in enumerate(words[:2]):
        if word == parameter.unit:
            return " ".join([*words[:place], word if plural else _singular(word), *words[place + 1 :]])
    return None


def _singular(unit: str) -> str:
    return unit.removesuffix("s")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
