"""Rollouts as players, by name: ``rollout:PLAYER`` and after it any options, split by commas.

``rollout:motif-v2,trials=72,cut=7,stratified`` is motif-v2 rolled out.  The options are those of the
command rollout, without dashes in front, and ``candidates=N``: only the N best plays by static
evaluation are rolled out.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from motif.evaluators import load_static
from motif.rollout.rollout_evaluator import RolloutEvaluator
from motif.rollout.settings import RolloutSettings, parse_luck_plies
from motif.runtime.errors import PlayerError, SettingError, shown

PREFIX = "rollout:"
DEFAULT_TRIALS = 36
"""Trials of a position, unless the name says how many."""

_LONGEST_NUMBER = 20
_CANDIDATES = "candidates"


def _whole(text: str) -> int:
    # Limited, because a number of thousands of digits is refused by int() itself.
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER):
        raise SettingError("a whole number is needed")
    return int(text)


_READERS: dict[str, Callable[[str], Any]] = {
    **{item.name: _whole for item in fields(RolloutSettings) if item.type is int},
    "luck_plies": parse_luck_plies,
    "scoring": str,
    _CANDIDATES: _whole,
}
_FLAGS = [item.name for item in fields(RolloutSettings) if item.type is bool]


def load_rollout(name: str) -> RolloutEvaluator:
    """The rollout called `name`, which starts with `PREFIX`.

    Raises `PlayerError` that names the item it cannot read, or that nobody is left to play;
    `WeightFileError` for a bad weight file.
    """
    player, *items = name.removeprefix(PREFIX).split(",")
    if not player:
        raise PlayerError(f"{shown(name)}: a player is missing: {PREFIX}PLAYER")
    options: dict[str, Any] = {"trials": DEFAULT_TRIALS}
    given = set()
    for item in items:
        option, value = _read(name, item)
        if option in given:
            raise PlayerError(f"{shown(name)}: {shown(item)}: given twice")
        given.add(option)
        options[option] = value
    candidates = options.pop(_CANDIDATES, 0)
    evaluator = load_static(player)
    try:
        return RolloutEvaluator(name, evaluator, RolloutSettings(**options), candidates)
    except SettingError as error:
        raise PlayerError(f"{shown(name)}: {error}") from None


def _read(name: str, item: str) -> tuple[str, Any]:
    """The option that `item` sets, as a field's name, and its value."""
    word, equals, text = item.partition("=")
    option = word.replace("-", "_")
    if "_" not in word:
        if option in _FLAGS and not equals:
            return option, True
        if option in _READERS and equals:
            try:
                return option, _READERS[option](text)
            except SettingError as error:
                raise PlayerError(f"{shown(name)}: {shown(item)}: {error}") from None
    raise PlayerError(f"{shown(name)}: {shown(item)} is no option; there are {_known()}")


def _known() -> str:
    words = [*(f"{option}={'NAME' if read is str else 'N'}" for option, read in _READERS.items()), *_FLAGS]
    return ", ".join(word.replace("_", "-") for word in words)
