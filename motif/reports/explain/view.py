"""The registry's sentences told to one of the two players, who becomes "you".

Parameters speak of the player on roll and the opponent.  After a play the other player is on roll, and the
one who is told about it has just moved.
"""

import re
from dataclasses import dataclass

from motif.board.position import HOME, POINTS
from motif.parameters import Parameter
from motif.parameters.registry import BAR, OPPONENT_SUFFIX

_ON_ROLL, _OPPONENT = "the player on roll", "the opponent"
_MOVED_LAST = "the player who moved last"
_IRREGULAR = {"has": "have", "is": "are", "was": "were", "does": "do"}
_CLAUSE = r"\byou ([a-z]+)\b((?:(?!\byou\b).)*)"
"""What "you" do, up to the next "you"."""
_ASIDE = re.compile(r" \([^)]*\)|:.*")
BACK_CHECKERS, PLACEMENT, DISTRIBUTION, RACE = "back checkers", "placement", "distribution", "race"
_OF_RACES = (RACE, "timing")
_GROUPS = {"back game": BACK_CHECKERS}
"""Groups whose name says too much of an ordinary play."""
ATTACK, HITTING, SAFETY = "attack", "hitting", "safety"
_OF_THE_HIT = ("contained", "pips_to_pass", "pips_past")
_OF_BOTH_SIDES = ("pip_lead", "contact_left")
"""Besides the opponent's own measurements and the attack on him, what changes when he is hit: how one
stands towards his rearmost checker."""
_OF_BACK_CHECKERS = ("blots_back",)
"""Whether checkers back are split or anchored is one matter, though one parameter counts blots."""


@dataclass(frozen=True)
class View:
    """Whose eyes a position is seen with that is given by the player on roll."""

    you_are_on_roll: bool
    race: bool = False
    """Whether there is no contact: then nobody blocks or attacks, and all but the race is distribution."""
    hit: bool = False
    """Whether the opponent's checkers differ: then all that they bring is one matter, that of the hit."""

    def sentence(self, parameter: Parameter) -> str:
        """What the parameter measures, told to the viewer in short, beginning with a capital letter.

        What stands in brackets or behind a colon in the registry is left out.
        """
        text = _ASIDE.sub("", parameter.sentence.removeprefix("whether "))
        if self.you_are_on_roll or parameter.side == "difference":
            you, other = _ON_ROLL, _MOVED_LAST
        else:
            you, other = _OPPONENT, _ON_ROLL
        if _MOVED_LAST in text:
            you, other = (_ON_ROLL, _MOVED_LAST) if self.you_are_on_roll else (_MOVED_LAST, _ON_ROLL)
        text = text.replace(other, "\0").replace(you, "you").replace("\0", _OPPONENT)
        text = _addressed(text)
        return text[0].upper() + text[1:]

    def value(self, parameter: Parameter, feature: float) -> str:
        """A feature as the measured value that `sentence` speaks of."""
        measured = feature / parameter.scale
        if parameter.unit == "yes or no":
            return "yes" if measured > 0.5 else "no"
        if parameter.side == "difference" and not self.you_are_on_roll:
            measured = -measured
        rounded = round(measured, 1)
        return f"{rounded + 0.0:g}"

    def place_group(self, side: int, place: int) -> str:
        """The same for the checkers of side 0, the player on roll, or 1 on a place of his, counted from 0."""
        if self.race:
            return DISTRIBUTION
        yours = (side == 0) == self.you_are_on_roll
        if self.hit and not yours:
            return HITTING
        if place < POINTS - HOME:
            return PLACEMENT
        return BACK_CHECKERS if yours else ATTACK

    def tells(self, parameter: Parameter) -> bool:
        """Whether the parameter's value says something where it is seen: in a race nobody blocks or hits."""
        return not self.race or parameter.group in _OF_RACES

    def speaks_for(self, parameter: Parameter, more: bool) -> bool | None:
        """Whether more of a parameter, or less, speaks for the viewer; None where that depends."""
        group = self.group(parameter)
        if self.race or group not in (ATTACK, SAFETY) or parameter.side not in ("own", "opponent"):
            return None
        return more == (group == ATTACK)

    def group(self, parameter: Parameter) -> str:
        """What the viewer would file it under: a threat of the opponent's is a matter of his own safety."""
        name = parameter.name.removesuffix(OPPONENT_SUFFIX)
        if self.race:
            return parameter.group if parameter.group == RACE else DISTRIBUTION
        if parameter.side not in ("own", "opponent"):
            hit = self.hit and name in _OF_BOTH_SIDES
            return HITTING if hit else _GROUPS.get(parameter.group, parameter.group)
        yours = parameter.side == ("own" if self.you_are_on_roll else "opponent")
        group = self._side_group(parameter.group, name, yours)
        if self.hit and (group == ATTACK or (name in _OF_THE_HIT if yours else group != SAFETY)):
            return HITTING
        return group

    def _side_group(self, group: str, name: str, yours: bool) -> str:
        if name in _OF_BACK_CHECKERS:
            return BACK_CHECKERS if yours else ATTACK
        # A checker on the bar is under attack; all else in that group attacks.
        if group == ATTACK and name != BAR["name"]:
            return ATTACK if yours else SAFETY
        if group in (ATTACK, SAFETY):
            return SAFETY if yours else ATTACK
        return _GROUPS.get(group, group)


def _addressed(text: str) -> str:
    """`text` about "you" with verbs and pronouns that agree."""
    text = re.sub(r"\byou's\b", "your", text)
    text = re.sub(r"\bthe ([a-z]+(?: [a-z]+)?) of you\b", r"your \1", text)
    text = re.sub(r"^([a-z]+) of you\b", r"your \1", text)
    text = re.sub(r"\b(an? [a-z]+) of you\b", r"\1 of yours", text)
    return re.sub(_CLAUSE, lambda match: f"you {_plural(match[1])}{_yours(match[2])}", text)


def _plural(verb: str) -> str:
    """The form of a verb that goes with "you"; other words stay as they are."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if re.search(r"(s|x|z|ch|sh)es$", verb) and not verb.endswith("ses"):
        return verb.removesuffix("es")
    return verb if verb.endswith("ss") else verb.removesuffix("s")


def _yours(rest: str) -> str:
    """What follows a verb of "you": his things are yours, unless the opponent comes in between."""
    before, mark, behind = rest.partition(_OPPONENT)
    return re.sub(r"\bhis\b", "your", before) + mark + behind
