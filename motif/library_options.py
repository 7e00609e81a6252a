"""Settings as keyword arguments, typed for type checkers and listed by `inspect.signature` and `help`."""

import inspect
from collections.abc import Callable
from typing import Any, Literal, TypedDict, TypeVar, Unpack, get_args, get_origin

from motif.parameters import ParametersLike
from motif.runtime.settings import field_lines

_AFTER_PARAMETERS = "\n\nReturns\n"
_Function = TypeVar("_Function", bound=Callable[..., object])


class MatchKeywords(TypedDict, total=False):
    """The fields of `motif.analysis.judge.MatchOptions`; the score may also be two numbers."""

    length: int | None
    score: tuple[int, int] | list[int] | str | None
    cube: int | None
    owner: str | None
    crawford: bool | None
    jacoby: bool | None
    beavers: bool | None
    raccoons: bool | None


class TrialKeywords(TypedDict, total=False):
    """The fields that `motif.RolloutSettings` and `motif.SampleSettings` share."""

    trials: int
    cut: int
    stop_at_race: bool
    stop_at_bearoff: bool
    stratified: bool
    seed: int


class RolloutKeywords(TrialKeywords, total=False):
    """The fields of `motif.RolloutSettings`."""

    luck_plies: int | Literal["all"]
    every_play: bool
    static_cube: bool
    se: float
    eliminate: bool
    significance: float
    scoring: str


class ComparedKeywords(MatchKeywords, RolloutKeywords, total=False):
    """Match, cube and the fields of `motif.RolloutSettings`."""


class SampleKeywords(TrialKeywords, total=False):
    """The fields of `motif.SampleSettings` except player and label."""

    games: int
    decide: Literal["evaluator", "rollout"]
    candidates: int
    replies: bool
    rate: float
    crashed_rate: float | None
    race_rate: float | None
    noise: float
    plies: int


class FitKeywords(TypedDict, total=False):
    """The fields of `motif.FitSettings`."""

    method: Literal["coordinate", "least-squares", "gauss-newton", "keith"]
    parameters: ParametersLike
    terms: Literal["pairs", "linear"]
    backgammons: Literal["pairs", "race", "linear"]
    heads: Literal["all", "win"]
    hidden: int
    ranking: float | None
    ridge: float
    equity_ridge: float
    prune: float | None
    bearoff: bool
    validation: float
    passes: int | None
    tolerance: float | None
    seed: int


def lists_fields(settings: type) -> Callable[[_Function], _Function]:
    """Make the signature of a function list the fields of `settings`, which it takes as ``**keywords``.

    The section Parameters of its docstring describes them after the other parameters.  Their types are those
    of the keywords, which may be more than a field has after its conversion.
    """

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = {name: one for name, one in signature.parameters.items() if one.kind != one.VAR_KEYWORD}
        fields = inspect.signature(settings).parameters
        described: Any = function
        (keywords,) = (one for one in described.__annotations__.values() if get_origin(one) is Unpack)
        types = get_args(keywords)[0].__annotations__
        listed = [
            one.replace(kind=one.KEYWORD_ONLY, annotation=types[name])
            for name, one in fields.items()
            if name not in own
        ]
        described.__signature__ = signature.replace(parameters=[*own.values(), *listed])
        head, returns, rest = inspect.cleandoc(described.__doc__ or "").partition(_AFTER_PARAMETERS)
        described.__doc__ = f"{head}\n{field_lines(settings, own, types)}{returns}{rest}"
        return function

    return decorate
