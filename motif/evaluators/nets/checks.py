"""Whether a net has the inputs and outputs that its description promises."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.evaluators.nets.description import (
    EXCLUSIVE_CHANCES,
    PLANNED_INPUTS,
    WHOLE_EVALUATORS,
    WILDBG_CONTACT,
    WILDBG_RACE,
    NetDescription,
)
from motif.evaluators.nets.encodings import CONTACT_WIDTH, RACE_WIDTH
from motif.evaluators.nets.graph_evaluator import (
    CHECKERS_INPUT,
    CHECKERS_WIDTH,
    CLASS_INPUT,
    EQUITY_OUTPUT,
    FEATURES_INPUT,
    OFF_INPUT,
    PLAN_INPUT,
    PROBABILITIES_OUTPUT,
)
from motif.evaluators.nets.net import Net
from motif.evaluators.nets.wildbg import EXCLUSIVE
from motif.evaluators.probabilities import OUTPUTS
from motif.runtime.errors import PlayerError


def check_fits(net: Net, description: NetDescription) -> None:
    """Raise `PlayerError` naming what is wrong unless `net` takes and gives what `description` says."""
    size = 0 if description.parameters is None else len(description.parameters)
    if description.inputs in WHOLE_EVALUATORS:
        _check_evaluator(net, size, description.inputs == PLANNED_INPUTS)
        return
    width = {WILDBG_CONTACT: CONTACT_WIDTH, WILDBG_RACE: RACE_WIDTH}.get(description.inputs, size)
    found = list(net.inputs.values())
    if len(found) != 1 or found[0] not in (width, None):
        what = ", ".join(str(number or "unknown") for number in found)
        raise PlayerError(f"{net.where}: one input of width {width} is needed, not width {what}")
    given = net.run_one(np.zeros((1, width), np.float32))
    numbers = EXCLUSIVE if description.outputs == EXCLUSIVE_CHANCES else 1
    if given.size != numbers:
        raise PlayerError(f"{net.where}: the net must give {numbers} numbers a position, not {given.size}")


def _check_evaluator(net: Net, size: int, planned: bool) -> None:
    widths: dict[str, int | None] = {FEATURES_INPUT: size, CLASS_INPUT: 1, OFF_INPUT: 2}
    zeros: dict[str, npt.NDArray[Any]] = {
        FEATURES_INPUT: np.zeros((1, size), np.float32),
        CLASS_INPUT: np.zeros(1, np.int64),
        OFF_INPUT: np.zeros((1, 2), np.int64),
    }
    if planned:
        widths |= {PLAN_INPUT: 1, CHECKERS_INPUT: CHECKERS_WIDTH}
        zeros |= {PLAN_INPUT: np.zeros(1, np.int64), CHECKERS_INPUT: np.zeros((1, CHECKERS_WIDTH), np.int64)}
    if net.inputs != widths:
        raise PlayerError(f"{net.where}: the inputs must be {_listed(widths)}, not {_listed(net.inputs)}")
    given = net.run(zeros)
    shapes = {name: output.shape[1:] for name, output in given.items()}
    if shapes != {PROBABILITIES_OUTPUT: (len(OUTPUTS),), EQUITY_OUTPUT: ()}:
        needed = f"{PROBABILITIES_OUTPUT} (n, {len(OUTPUTS)}) and {EQUITY_OUTPUT} (n,)"
        raise PlayerError(f"{net.where}: the outputs must be {needed}, not {', '.join(shapes) or 'none'}")


def _listed(widths: Mapping[str, int | None]) -> str:
    return ", ".join(f"{name} ({width or 'unknown'})" for name, width in widths.items())
