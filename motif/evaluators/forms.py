"""The distinct weights in a weight file, and which of them each head of each class and game plan takes."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.evaluators.model import ABSENT, HEADS
from motif.evaluators.weight_file import HeadWeights, WeightFile
from motif.parameters.game_plan import PLAN_CLASS, PLANS
from motif.parameters.position_class import CLASS_NAMES


class Forms(NamedTuple):
    """Weights by number."""

    form: npt.NDArray[np.int16]
    """(slots, heads): number of a head's weights, or ABSENT; the slots are those of `slots_of`."""
    weights: tuple[HeadWeights, ...]
    """Each once, however many slots share them."""


def slots_of(weights: WeightFile) -> list[tuple[str, str | None]]:
    """Class and game plan of each slot: the classes, without a plan, then the plans where any has weights."""
    slots: list[tuple[str, str | None]] = [(class_name, None) for class_name in CLASS_NAMES]
    if weights.plans:
        slots += [(CLASS_NAMES[code], plan) for code, plan in zip(PLAN_CLASS, PLANS, strict=True)]
    return slots


def forms_of(weights: WeightFile) -> Forms:
    """The forms of a weight file: those of a class go to all its plans that have none of their own."""
    slots = slots_of(weights)
    form = np.full((len(slots), len(HEADS)), ABSENT, np.int16)
    numbers: dict[int, int] = {}
    found: list[HeadWeights] = []
    for slot, (class_name, plan) in enumerate(slots):
        for head, chosen in weights.heads_at(class_name, plan).items():
            if id(chosen) not in numbers:
                numbers[id(chosen)] = len(found)
                found.append(chosen)
            form[slot, HEADS.index(head)] = numbers[id(chosen)]
    return Forms(form, tuple(found))
