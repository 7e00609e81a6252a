"""Settings of a fit: how weights are fitted to a dataset."""

import sys
from dataclasses import dataclass
from typing import Literal

from motif.evaluators.patterns import MAX_PATTERNS
from motif.fitting.solve import solver
from motif.parameters import parameter_set
from motif.runtime.errors import FitError, check_seed, shown

_RANKING = 5.0
_SIZES = (
    "ranking",
    "ridge",
    "equity_ridge",
    "prune",
    "plan_shrinkage",
    "pattern_ranking",
    "pattern_rate",
    "pattern_shrinkage",
    "hidden_rate",
    "hidden_ranking",
    "tolerance",
)


@dataclass(frozen=True)
class FitSettings:
    """How weights are fitted."""

    method: Literal["coordinate", "least-squares", "gauss-newton", "keith"] = "gauss-newton"
    """The solver; `keith` is Tom Keith's own, one weight after another on every position, and slow."""
    parameters: str = "motif"
    """What is measured: motif, keith, bras, phase, or a FILE.py of one's own."""
    terms: Literal["pairs", "linear"] = "pairs"
    """Weights for pairs of parameters too, or for single ones alone."""
    backgammons: Literal["pairs", "race", "linear"] = "linear"
    """The same for chances of backgammons, too rare in rollouts for pairs; `race`: pairs in races alone."""
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
    patterns: int = 0
    """Learned patterns that are added to the equity heads of contact and crashed positions, so many each."""
    pattern_ranking: float = 40.0
    """How much the order of a decision's plays counts in the fit of patterns."""
    pattern_passes: int = 20
    """How often the fit of patterns sees each position."""
    pattern_plans: bool = False
    """Let each game plan that has an equity head weigh the patterns of its class in its own way."""
    pattern_start: str | None = None
    """A weight file whose patterns the fit of patterns goes on from."""
    pattern_rate: float = 2e-3
    """How fast patterns learn at first."""
    pattern_shrinkage: float = 10.0
    """How strongly inputs of patterns are drawn to 0; it counts less by the root of the positions."""
    hidden: int = 0
    """Hidden units of each class, fitted together with the pairs of its chances; without equity heads."""
    hidden_passes: int = 12
    """How often their fit sees each position."""
    hidden_rate: float = 1e-3
    """How fast they learn at first."""
    hidden_ranking: float = 10.0
    """How much the order of a decision's plays counts in their fit."""
    correct: str | None = None
    """A weight file to correct: what is fitted is what its heads lack of contact and crashed positions."""
    bearoff: bool = False
    """Leave positions that the bearoff tables cover to these, in fits and in play."""
    validation: float = 0.1
    """Share of the games held out for validation."""
    passes: int | None = None
    """Passes of each fit at most, sweeps with keith; when absent as many as suit the solver."""
    tolerance: float | None = None
    """A fit ends when a pass takes less than this share off its error; when absent 1e-6, 1e-5 for plans."""
    seed: int = 0
    """Draws the games for validation."""

    def check(self) -> None:
        """Raise `FitError`, or `SettingError` for the seed, for a value that makes no sense."""
        check_seed(self.seed)
        self._check_amounts()
        if self.terms not in ("pairs", "linear"):
            raise FitError(f"terms must be pairs or linear, not {shown(self.terms)}", "terms")
        if self.backgammons not in ("pairs", "race", "linear"):
            message = f"backgammons must be pairs, race or linear, not {shown(self.backgammons)}"
            raise FitError(message, "backgammons")
        if self.heads not in ("all", "win"):
            raise FitError(f"heads must be all or win, not {shown(self.heads)}", "heads")
        solver(self.method)
        self._check_together()
        parameter_set(self.parameters)

    def _check_amounts(self) -> None:
        if not 0 <= self.validation < 1:
            raise FitError(f"validation must be at least 0 and below 1, not {self.validation}", "validation")
        for name in _SIZES:
            check_size(name, getattr(self, name))
        for name in ("plan_rows", "pattern_passes", "hidden_passes", "passes"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise FitError(f"{name} must be at least 1, not {value}", name)
        if not 0 <= self.patterns <= MAX_PATTERNS:
            raise FitError(f"patterns must be 0 to {MAX_PATTERNS}, not {self.patterns}", "patterns")
        if not 0 <= self.hidden <= MAX_PATTERNS:
            raise FitError(f"hidden must be 0 to {MAX_PATTERNS} units, not {self.hidden}", "hidden")

    def _check_together(self) -> None:
        for name, what in (("plans", "game plans have"), ("patterns", "patterns add to")):
            if getattr(self, name) and self.heads != "all":
                raise FitError(f"{name}: {what} equity heads, so heads must be all", name, "heads")
        for name, needed in (
            ("pattern_plans", "plans"),
            ("pattern_plans", "patterns"),
            ("pattern_start", "patterns"),
        ):
            if getattr(self, name) and not getattr(self, needed):
                raise FitError(f"{name}: there must be {needed} too", name, needed)
        if self.hidden:
            self._check_hidden()
        for name in ("patterns", "prune"):
            if self.correct is not None and getattr(self, name):
                message = f"{name}: a fit that corrects weights leaves theirs as they are"
                raise FitError(message, name, "correct")
        if self.plans and self.prune is not None:
            message = "prune: with plans a class keeps all its terms, which its plans are drawn to"
            raise FitError(message, "prune", "plans")

    def _check_hidden(self) -> None:
        """Raise `FitError` for what does not go with hidden units."""
        for name in ("patterns", "plans", "points", "prune", "correct"):
            if getattr(self, name):
                raise FitError(f"{name}: hidden units are fitted without", name, "hidden")
        if self.heads != "all" or self.terms != "pairs":
            raise FitError("hidden: hidden units go with heads all and terms pairs", "hidden")

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
