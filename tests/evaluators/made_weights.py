"""Made-up weight files: random weights, for tests that must hold whatever a fit finds."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from motif.evaluators import OUTPUTS, StaticEvaluator, WeightFile
from motif.evaluators.probabilities import HEADS
from motif.evaluators.static import weights_model
from motif.evaluators.weight_file import FILTER_STEPS, HeadWeights, Patterns, PreFilter, class_of_plan
from motif.parameters import parameter_set

FIT = {"method": "made up", "samples": 12, "rmse_train": 0.0312, "rmse_validation": None}


def head_weights(rng: np.random.Generator, size: int, pairs: int, points: bool = False) -> HeadWeights:
    """Weights that give raw sums of the order of one, with `pairs` second-degree terms and maybe points."""
    rows, columns = np.triu_indices(size)
    chosen = np.sort(rng.permutation(len(rows))[:pairs])
    return HeadWeights(
        float(np.float32(rng.normal(0, 0.3))),
        rng.normal(0, 0.3, size).astype(np.float32),
        np.stack([rows[chosen], columns[chosen]], axis=1),
        rng.normal(0, 0.5 / np.sqrt(max(pairs, 1)), pairs).astype(np.float32),
        random_steps(rng) * np.float32(0.1) if points else None,
    )


def made_weights(
    set_name: str = "keith",
    *,
    classes: Mapping[str, Sequence[str]] | None = None,
    pairs: int = 0,
    kept: int = 0,
    points: Collection[str] = (),
    plans: Mapping[str, Sequence[str]] | None = None,
    patterns: Mapping[str, int] | None = None,
    amounts: Collection[str] = (),
    hidden: Mapping[str, int] | None = None,
    bearoff: bool = False,
    seed: int = 0,
    name: str = "made-up",
) -> WeightFile:
    """Random weights for the heads listed for each class; by default all chances in all classes.

    With `kept` it has a random pre-filter, and the heads listed in `points` have point terms; `plans` lists
    heads for game plans, `patterns` says how many each class has, and `amounts` which plans have their own.
    Of `hidden` units, which add to the probabilities, it says how many each class has.
    """
    chosen, rng = parameter_set(set_name), np.random.default_rng(seed)
    heads = classes or dict.fromkeys(("contact", "crashed", "race"), OUTPUTS)

    def made(wanted: Sequence[str]) -> dict[str, HeadWeights]:
        size = len(chosen)
        return {head: head_weights(rng, size, pairs, head in points) for head in HEADS if head in wanted}

    weights = {class_name: made(wanted) for class_name, wanted in heads.items()}
    steps = {class_name: random_steps(rng) for class_name in ("contact", "race")}
    of_plans = {plan: made(wanted) for plan, wanted in (plans or {}).items()}
    pre_filter = PreFilter(kept, steps) if kept else None
    learned = {name: made_patterns(rng, len(chosen), count) for name, count in (patterns or {}).items()}
    learned |= {name: made_units(rng, len(chosen), count) for name, count in (hidden or {}).items()}
    made_up = WeightFile(
        name, 1, "parent", chosen, weights, pre_filter, FIT, of_plans, bearoff, patterns=learned
    )
    own = {plan: rng.normal(0, 0.2, len(learned[class_of_plan(plan)].names)) for plan in amounts}
    return replace(made_up, plan_amounts={plan: values.astype(np.float32) for plan, values in own.items()})


def made_patterns(rng: np.random.Generator, size: int, count: int) -> Patterns:
    """Patterns of which some reach both ends of their squash; every third input is not there."""
    inputs = rng.normal(0, 1.5, (count, size)).astype(np.float32)
    inputs[:, ::3] = 0
    points = np.stack([random_steps(rng) for _ in range(count)]) * np.float32(0.3)
    points[:, :, ::4] = 0
    amounts, bias = rng.normal(0, 0.2, (2, count)).astype(np.float32)
    return Patterns(tuple(f"p{k + 1}" for k in range(count)), amounts, bias, inputs, points)


def made_units(rng: np.random.Generator, size: int, count: int) -> Patterns:
    """Hidden units, which add to all five probabilities."""
    outputs = rng.normal(0, 0.15, (len(OUTPUTS), count)).astype(np.float32)
    units = made_patterns(rng, size, count)
    return replace(units, amounts=np.zeros(count, np.float32), outputs=outputs)


def random_steps(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(0, 1, (2, 25, FILTER_STEPS)).astype(np.float32)


def evaluator_of(weights: WeightFile) -> StaticEvaluator:
    return StaticEvaluator(weights.name, weights_model(weights), weights)
