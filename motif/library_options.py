"""Settings as keyword arguments, typed for type checkers and listed by `inspect.signature`."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, Literal, TypedDict, TypeVar

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


class RolloutKeywords(TypedDict, total=False):
    """The fields of `motif.RolloutSettings`."""

    trials: int
    cut: int
    stop_at_race: bool
    stop_at_bearoff: bool
    stratified: bool
    luck_plies: int
    every_play: bool
    se: float
    eliminate: bool
    error_rate: float
    scoring: str
    seed: int


class ComparedKeywords(MatchKeywords, RolloutKeywords, total=False):
    """Match, cube and the fields of `motif.RolloutSettings`."""


class SampleKeywords(TypedDict, total=False):
    """The fields of `motif.SampleSettings` except player and label."""

    games: int
    trials: int
    decide: Literal["evaluator", "rollout"]
    candidates: int
    rate: float
    crashed_rate: float | None
    race_rate: float | None
    noise: float
    cut: int
    stop_at_race: bool
    stop_at_bearoff: bool
    stratified: bool
    seed: int


class FitKeywords(TypedDict, total=False):
    """The fields of `motif.FitSettings`."""

    method: Literal["coordinate", "least-squares", "gauss-newton", "keith"]
    parameters: str
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


def lists_fields(settings: type, *, without: tuple[str, ...] = ()) -> Callable[[_Function], _Function]:
    """Make the signature of a function list the fields of `settings`, which it takes as ``**keywords``."""

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind != one.VAR_KEYWORD]
        listed: list[inspect.Parameter] = []
        for field in fields(settings):
            if field.name in without or field.name in signature.parameters:
                continue
            default: Any = inspect.Parameter.empty if field.default is MISSING else field.default
            listed.append(
                inspect.Parameter(
                    field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.type
                )
            )
        named: Any = function
        named.__signature__ = signature.replace(parameters=[*own, *listed])
        return function

    return decorate
