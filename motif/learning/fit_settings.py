"""Settings of a fit of weights to a dataset."""

import sys
from dataclasses import dataclass
from typing import Literal

from motif.runtime.errors import FitError
from motif.runtime.settings import (
    SettingFields,
    check_seed,
    check_types,
    check_unused,
    documented,
    require,
    setting,
)

_RANKING, _HIDDEN_RANKING = 5.0, 10.0
_HIDDEN_PASSES = 12
_MAX_COUNT = 1_000_000
"""Largest penalty, ranking weight, threshold and tolerance, far above useful ones.

With much larger ones, numbers of a fit would overflow, some of which have single precision.
"""

_NOT_HIDDEN = ("method", "ridge", "equity_ridge", "tolerance", "backgammons")
"""Settings without effect on a fit with hidden units."""
_NOT_WIN = ("ranking", "equity_ridge", "backgammons")
"""Settings without effect on a fit of the win probability."""
_NOT_LINEAR = ("prune", "backgammons")
"""Settings without effect on a fit without pairs."""


@documented
@dataclass(frozen=True)
class FitSettings(SettingFields):
    """Settings of a fit."""

    method: Literal["coordinate", "least-squares", "gauss-newton", "keith"] = setting(
        "gauss-newton",
        "Solver; `keith` is Tom Keith's, which is slow because it updates one weight at a time.",
    )
    parameters: str = setting("motif", "Parameter set: motif, keith, bras, phase, or your own FILE.py.")
    terms: Literal["pairs", "linear"] = setting(
        "pairs", "Weights of parameters and of pairs, or of parameters only."
    )
    backgammons: Literal["pairs", "race", "linear"] = setting(
        "linear",
        "The same for backgammon probabilities, which are too rare in rollouts for pairs; `race`: pairs only "
        "in races.",
    )
    heads: Literal["all", "win"] = setting(
        "all",
        "All probabilities, and an equity for ranking contact and crashed plays; or the win probability.",
    )
    hidden: int = setting(
        0, "Number of hidden units per class, fitted with the pairs, without an equity head."
    )
    ranking: float | None = setting(
        None,
        "Weight of errors between the plays of a decision; by default 5 with gauss-newton, 10 with hidden "
        "units, otherwise 0.",
    )
    ridge: float = setting(5.0, "Ridge penalty of probability heads, relative to the sum of squared errors.")
    equity_ridge: float = setting(50.0, "Ridge penalty of equity heads, whose errors are larger.")
    prune: float | None = setting(
        None, "Remove pairs with weights below this many standard errors (see `motif.fitting.solvers`)."
    )
    bearoff: bool = setting(False, "Use the bearoff tables where they apply, in fits and in play.")
    validation: float = setting(0.1, "Share of the games held out for validation.")
    passes: int | None = setting(
        None, "Maximum number of passes (sweeps with keith); the default depends on the solver."
    )
    tolerance: float | None = setting(
        None, "Stop when a pass reduces the error by less than this share; by default 1e-6."
    )
    seed: int = setting(0, "Random seed of the validation games and the hidden units.")

    def check(self) -> None:
        """Raise `ParameterError` for an unknown parameter set, and errors as `check_values` does."""
        from motif.parameters import parameter_set

        self.check_values()
        parameter_set(self.parameters)

    def check_values(self) -> None:
        """Raise `FitError` for an invalid value, `SettingError` for an invalid seed.

        The parameter set is not looked up: a finished fit has its own.
        """
        from motif.fitting.solvers import solver

        check_seed(self.seed)
        solver(self.method)
        check_types(self, FitError)
        self._check_numbers()
        if self.hidden:
            self._check_hidden()

    def _check_numbers(self) -> None:
        from motif.evaluators.hidden_layer import MAX_UNITS

        is_share = 0 <= self.validation < 1
        require(is_share, "validation", self.validation, "at least 0 and below 1", FitError)
        for name in ("ranking", "ridge", "equity_ridge", "prune", "tolerance"):
            check_size(name, getattr(self, name))
        require(self.passes is None or self.passes >= 1, "passes", self.passes, "at least 1", FitError)
        require(0 <= self.hidden <= MAX_UNITS, "hidden", self.hidden, f"0 to {MAX_UNITS} units", FitError)

    def _check_hidden(self) -> None:
        if self.prune is not None:
            raise FitError("prune: not available with hidden units", "prune")
        if self.heads != "all" or self.terms != "pairs":
            raise FitError("hidden: hidden units need heads all and terms pairs", "hidden")

    def check_effects(self) -> None:
        """Raise `FitError` for a setting other than its default that has no effect in this fit.

        The settings of a bootstrap run may have an effect in another version.
        """
        if self.terms == "linear":
            check_unused(self, _NOT_LINEAR, FitError, "without pairs")
        if self.hidden:
            check_unused(self, _NOT_HIDDEN, FitError, "with hidden units")
        elif self.heads == "win":
            check_unused(self, _NOT_WIN, FitError, "on the win probability")

    @property
    def ranking_weight(self) -> float:
        """Weight of the ranking term of equity heads, or of a fit with hidden units."""
        if self.ranking is not None:
            return self.ranking
        if self.hidden:
            return _HIDDEN_RANKING
        return _RANKING if self.method == "gauss-newton" else 0.0

    @property
    def hidden_passes(self) -> int:
        """Number of passes of a fit with hidden units."""
        return _HIDDEN_PASSES if self.passes is None else self.passes


def check_size(name: str, value: float | None) -> None:
    """Raise `FitError` unless the setting called `name` is None, or at least 0 and at most `_MAX_COUNT`."""
    if value is not None:
        require(0 <= value <= sys.float_info.max, name, value, "finite and at least 0", FitError)
        require(value <= _MAX_COUNT, name, value, f"at most {_MAX_COUNT:,}", FitError)
