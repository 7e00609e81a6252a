"""Players that are nets: ``wildbg``, and ``onnx:PATH``, where a net must fit its description."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from motif.board.position import Position
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.named import NET_PREFIX, WILDBG_NAME
from motif.evaluators.nets.description import (
    EXCLUSIVE_CHANCES,
    WHOLE_EVALUATORS,
    WILDBG_CONTACT,
    WILDBG_RACE,
    NetDescription,
    read_description,
)
from motif.evaluators.nets.net import Net, read_net
from motif.evaluators.nets.net_evaluators import (
    EQUITY_OUTPUT,
    PROBABILITIES_OUTPUT,
    GraphEvaluator,
    MoverScoreEvaluator,
    graph_inputs,
)
from motif.evaluators.nets.wildbg import CONTACT_WIDTH, EXCLUSIVE, RACE_WIDTH, WildbgEvaluator
from motif.evaluators.probabilities import OUTPUTS
from motif.runtime.errors import PlayerError, plain_text


def check_fits(net: Net, description: NetDescription) -> None:
    """Raise `PlayerError` naming what is wrong unless `net` takes and gives what `description` says."""
    if description.inputs in WHOLE_EVALUATORS:
        _check_evaluator(net, description)
        return
    size = 0 if description.parameters is None else len(description.parameters)
    width = {WILDBG_CONTACT: CONTACT_WIDTH, WILDBG_RACE: RACE_WIDTH}.get(description.inputs, size)
    widths = list(net.inputs.values())
    if len(widths) != 1 or widths[0] not in (width, None):
        what = ", ".join(str(number or "unknown") for number in widths)
        raise PlayerError(f"{net.where}: one input of width {width} is needed, not width {what}")
    given = net.run_one(np.zeros((1, width), np.float32))
    numbers = EXCLUSIVE if description.outputs == EXCLUSIVE_CHANCES else 1
    if given.size != numbers:
        raise PlayerError(f"{net.where}: the net must give {numbers} numbers a position, not {given.size}")


def _check_evaluator(net: Net, description: NetDescription) -> None:
    assert description.parameters is not None  # `read_description` sees to it
    rows = graph_inputs(description.parameters, Position.start().board[None], description.inputs)
    widths = {name: values.size for name, values in rows.items()}
    if net.inputs != widths:
        raise PlayerError(f"{net.where}: the inputs must be {_listed(widths)}, not {_listed(net.inputs)}")
    given = net.run(rows)
    shapes = {name: output.shape[1:] for name, output in given.items()}
    if shapes != {PROBABILITIES_OUTPUT: (len(OUTPUTS),), EQUITY_OUTPUT: ()}:
        needed = f"{PROBABILITIES_OUTPUT} (n, {len(OUTPUTS)}) and {EQUITY_OUTPUT} (n,)"
        raise PlayerError(f"{net.where}: the outputs must be {needed}, not {', '.join(shapes) or 'none'}")


def _listed(widths: Mapping[str, int | None]) -> str:
    return ", ".join(f"{name} ({width or 'unknown'})" for name, width in widths.items())


SUFFIX = ".onnx"
CONTACT_FILE, RACE_FILE = "contact" + SUFFIX, "race" + SUFFIX
_WILDBG_FOLDER = Path(__file__).resolve().parent.parent.parent / "data" / "wildbg"
_WIDTHS = {CONTACT_WIDTH: WILDBG_CONTACT, RACE_WIDTH: WILDBG_RACE}
"""What a net without a description expects, by its input's width."""


def load_wildbg() -> Evaluator:
    """wildbg's nets as they come with motif; raises `PlayerError` where a package is missing."""
    return _composite(WILDBG_NAME, _WILDBG_FOLDER)


def load_net(path: str) -> Evaluator:
    """The evaluator at `path`: an ``.onnx`` file, a folder with one, or one with a contact and a race net.

    It is called ``onnx:PATH``.  Raises `PlayerError` for a path where there is none, a file that is
    torn, or a net that expects something else than motif can give.
    """
    name, place = NET_PREFIX + path, Path(path)
    where = plain_text(path)
    if not path:
        raise PlayerError(f"{NET_PREFIX!r} needs the path of a net behind it")
    if not _is_folder(place):
        return _single(name, read_net(place))
    files = sorted(
        file for file in place.iterdir() if file.suffix == SUFFIX and not file.name.startswith(".")
    )
    if {CONTACT_FILE, RACE_FILE} <= {file.name for file in files}:
        return _composite(name, place)
    if len(files) != 1:
        needed = f"one, or {CONTACT_FILE} and {RACE_FILE}, must be there"
        raise PlayerError(f"{where}: a folder with {len(files)} {SUFFIX} files; {needed}")
    return _single(name, read_net(files[0]))


def _is_folder(path: Path) -> bool:
    """Whether it is; a name that no file can have is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _composite(name: str, folder: Path) -> WildbgEvaluator:
    nets = []
    for file, inputs in ((CONTACT_FILE, WILDBG_CONTACT), (RACE_FILE, WILDBG_RACE)):
        net = read_net(folder / file)
        described = _description(net).inputs
        if described != inputs:
            raise PlayerError(f"{net.where}: a net for {inputs} must be there, not one for {described}")
        check_fits(net, NetDescription("", inputs))
        nets.append(net)
    return WildbgEvaluator(name, *nets)


def _single(name: str, net: Net) -> Evaluator:
    description = _description(net)
    check_fits(net, description)
    if description.inputs == WILDBG_CONTACT:
        return WildbgEvaluator(name, net, None)
    if description.inputs == WILDBG_RACE:
        raise PlayerError(f"{net.where}: a net for races alone; {CONTACT_FILE} must be beside {RACE_FILE}")
    assert description.parameters is not None  # `read_description` sees to it
    if description.inputs in WHOLE_EVALUATORS:
        return GraphEvaluator(name, net, description)
    return MoverScoreEvaluator(name, net, description.parameters)


def _description(net: Net) -> NetDescription:
    """What `net` says that it expects, or what its width says."""
    try:
        description = read_description(net.metadata, Path(net.where).parent)
    except PlayerError as error:
        raise PlayerError(f"{net.where}: {error}") from None
    if description is not None:
        return description
    widths = list(net.inputs.values())
    if len(widths) != 1 or widths[0] not in _WIDTHS:
        known = " or ".join(f"{width} ({inputs})" for width, inputs in _WIDTHS.items())
        given = f"{len(widths)} inputs" if len(widths) != 1 else f"an input of width {widths[0] or 'unknown'}"
        raise PlayerError(f"{net.where}: a net without motif's description must have {known}, not {given}")
    return NetDescription("", _WIDTHS[widths[0]])
