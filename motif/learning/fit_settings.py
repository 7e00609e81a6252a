"""Settings of a fit: how weights are fitted to a dataset."""

import sys
from dataclasses import dataclass
from typing import Literal

from motif.fitting import coordinate
from motif.fitting.solve import solver
from motif.parameters import parameter_set
from motif.runtime.errors import FitError, check_seed, shown

_RANKING = 5.0


@dataclass(frozen=True)
class FitSettings:
    """How weights are fitted."""

    method: Literal["coordinate", "least-squares", "gauss-newton"] = "gauss-newton"
    """The solver."""
    parameters: str = "motif"
    """What is measured: motif, keith, bras, phase, or a FILE.py of one's own."""
    terms: Literal["pairs", "linear"] = "pairs"
    """Weights for pairs of parameters too, or for single ones alone."""
    points: bool = False
    """Weigh the checkers on each place too, in every head but those of backgammons."""
    heads: Literal["all", "win"] = "all"
    """All chances, and for contact and crashed an equity that chooses plays; or the win chance alone."""
    ranking: float | None = None
    """How much the order of a decision's plays counts in equity heads; 5 with gauss-newton, else 0."""
    ridge: float = 5.0
    """Penalty on large weights of chances: the squared weights against the sum of squared errors."""
    equity_ridge: float = 50.0
    """Penalty on large weights of equity heads, whose errors are larger."""
    prune: float | None = None
    """Drop second-degree terms nearer to 0 than this many standard errors (see `motif.fitting.solve`)."""
    plans: bool = False
    """Fit an equity head to each game plan too, all of a class together, drawn to the class's head."""
    plan_shrinkage: float = 2000.0
    """How strongly a plan is drawn: as by so many positions that the class's head values perfectly."""
    plan_rows: int = 4000
    """A plan with fewer positions to train on keeps the weights of its class."""
    bearoff: bool = False
    """Leave positions that the bearoff tables cover to these, in fits and in play."""
    validation: float = 0.1
    """Share of the games held out for validation."""
    max_passes: int | None = None
    seed: int = 0
    """Draws the games for validation."""

    def check(self) -> None:
        """Raise `FitError`, or `SettingError` for the seed, for a value that makes no sense."""
        check_seed(self.seed)
        if not 0 <= self.validation < 1:
            raise FitError(f"validation must be at least 0 and below 1, not {self.validation}", "validation")
        for name in ("ranking", "ridge", "equity_ridge", "prune", "plan_shrinkage"):
            check_size(name, getattr(self, name))
        if self.plan_rows < 1:
            raise FitError(f"plan_rows must be at least 1, not {self.plan_rows}", "plan_rows")
        if self.max_passes is not None and self.max_passes < 1:
            raise FitError(f"max_passes must be at least 1, not {self.max_passes}", "max_passes")
        if self.terms not in ("pairs", "linear"):
            raise FitError(f"terms must be pairs or linear, not {shown(self.terms)}", "terms")
        if self.heads not in ("all", "win"):
            raise FitError(f"heads must be all or win, not {shown(self.heads)}", "heads")
        solver(self.method)
        if self.ranking and self.method == coordinate.METHOD:
            raise FitError(f"ranking: {coordinate.METHOD} descent does not know the ranking term", "ranking")
        if self.points and self.method == coordinate.METHOD:
            raise FitError(f"points: {coordinate.METHOD} descent does not know point terms", "points")
        if self.plans and self.heads != "all":
            message = "plans: game plans have equity heads, so heads must be all"
            raise FitError(message, "plans", "heads")
        if self.plans and self.prune is not None:
            message = "prune: with plans a class keeps all its terms, which its plans are drawn to"
            raise FitError(message, "prune", "plans")
        parameter_set(self.parameters)

    @property
    def equity_ranking(self) -> float:
        """Weight of the ranking term that equity heads are fitted with."""
        if self.ranking is not None:
            return self.ranking
        return _RANKING if self.method == "gauss-newton" else 0.0


def check_size(name: str, value: float | None) -> None:
    """Raise `FitError` unless the setting called `name` is None, or finite and at least 0."""
    if value is not None and not 0 <= value <= sys.float_info.max:
        raise FitError(f"{name} must be finite and at least 0, not {shown(value)}", name)
