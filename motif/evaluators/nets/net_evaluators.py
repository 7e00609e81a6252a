"""Nets as evaluators: those that motif exported, nets with one output, and wildbg's.

A single output is a score of the position for the player who has just moved, 0 to 1. The players are
``wildbg`` and ``onnx:PATH``; the net at PATH must match its description.

wildbg has a net for races and one for all other positions; finished games have their exact value. Source:
carsten-wenderdel/wildbg and wildbg-training.

Inputs have the layout of the author's training code.  Counts of checkers become four numbers each:
[n = 1, n = 2, n >= 3, n - 3 if more].  All positions are from the perspective of the player on roll.

* contact (202): own checkers off, the opponent's off; own bar, own points 1 to 24; the opponent's
  bar, the opponent's checkers on points 1 to 24.
* race (186): the same without the bars, own point 24 and the opponent's checkers on point 1, which
  a race does not need.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.board.outcome import finished_points_many
from motif.board.packed import (
    CHECKERS,
    PACKED_BAR,
    POINTS,
    Board,
    pack_many,
)
from motif.board.position import Position, as_boards
from motif.evaluators.bearoff import bearoff_tables, covered_rows, no_tables
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.known_players import NET_PREFIX, WILDBG_NAME
from motif.evaluators.nets.net import (
    BY_WIN,
    CHECKERS_INPUTS,
    EVALUATOR_INPUTS,
    EXCLUSIVE_CHANCES,
    WHOLE_EVALUATORS,
    WILDBG_CONTACT,
    WILDBG_RACE,
    Net,
    NetDescription,
    read_description,
    read_net,
)
from motif.evaluators.point_columns import POINT_COLUMNS, POINT_SHAPE, fill_step_columns
from motif.evaluators.point_table import checkers_by_place
from motif.evaluators.probabilities import (
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    OUTPUTS,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
    equities,
    switched_equities,
    write_consistent,
    write_finished,
)
from motif.parameters import ParameterSet
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, RACE, classify_many
from motif.runtime.arrays import Float32Array, FloatArray, IntArray
from motif.runtime.errors import PlayerError, plain_text

FEATURES_INPUT, CLASS_INPUT, OFF_INPUT = "features", "position_class", "checkers_off"
CHECKERS_INPUT = "checkers"
PROBABILITIES_OUTPUT, EQUITY_OUTPUT = "probabilities", "equity"

CHECKERS_WIDTH = 2 * (PACKED_BAR + 1)
"""Row length of the input ``checkers``."""
LAST_CLASS = len(CLASS_NAMES) - 1
"""Highest `position_class` of an unfinished game; for a finished game, the points, 1, 2 or 3, are added."""

_OFF = np.arange(2)
_OWN, _OPPONENTS = len(_OFF) + np.arange(POINT_COLUMNS).reshape(POINT_SHAPE)
"""Columns of both sides as in `motif.evaluators.point_columns`, behind the checkers off."""
_CONTACT = np.concatenate([_OFF, _OWN[[PACKED_BAR, *range(POINTS)]], _OPPONENTS[::-1]], axis=None)
_RACE = np.concatenate([_OFF, _OWN[: POINTS - 1], _OPPONENTS[POINTS - 2 :: -1]], axis=None)
CONTACT_WIDTH, RACE_WIDTH = len(_CONTACT), len(_RACE)


def contact_inputs(boards: Board) -> Float32Array:
    """Return the inputs float32 (n, 202) of wildbg's contact net for `boards` int8 (n, 26)."""
    return _inputs(boards, _CONTACT)


def race_inputs(boards: Board) -> Float32Array:
    """Return the inputs float32 (n, 186) of wildbg's race net for `boards` int8 (n, 26), all races."""
    return _inputs(boards, _RACE)


def _inputs(boards: Board, columns: IntArray) -> Float32Array:
    """Return these columns of the checkers off and of all points."""
    rows = np.empty((len(boards), len(_OFF) + POINT_COLUMNS), np.float32)
    rows[:, _OFF] = CHECKERS - checkers_by_place(pack_many(boards)).sum(axis=2)
    fill_step_columns(np.ascontiguousarray(boards), len(_OFF), rows)
    return rows.take(columns, axis=1)


EXCLUSIVE = 6
"""Outputs of a net: single win, gammon, backgammon, then the same losses."""


class NetEvaluator(Evaluator):
    """An evaluator that runs nets."""

    def __init__(self, name: str, *nets: Net) -> None:
        self.name = name
        self._nets = nets

    @property
    def fingerprint(self) -> str:
        """See `Evaluator.fingerprint`."""
        return " ".join(net.fingerprint for net in self._nets)


class WildbgEvaluator(NetEvaluator):
    """An evaluator with a net for contact and one for races."""

    def __init__(self, name: str, contact: Net, race: Net | None) -> None:
        """Use the contact net for all positions if there is no `race` net."""
        super().__init__(name, *filter(None, (contact, race)))
        self._contact = contact
        self._race = race

    def evaluate_many(self, positions: npt.ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`."""
        boards = as_boards(positions)
        packed = pack_many(boards)
        exclusive = np.zeros((len(boards), EXCLUSIVE))
        going = finished_points_many(packed.view(np.int64)) == 0
        races = going & (classify_many(packed) == RACE) & (self._race is not None)
        others = going & ~races
        if self._race is not None and races.any():
            exclusive[races] = self._race.run_one(race_inputs(boards[races]))
        if others.any():
            exclusive[others] = self._contact.run_one(contact_inputs(boards[others]))
        wins, losses = exclusive[:, :3], exclusive[:, 3:]
        rows = np.empty((len(boards), len(OUTPUTS)))
        rows[:, WIN] = wins[:, 0] + wins[:, 1] + wins[:, 2]
        rows[:, WIN_GAMMON], rows[:, WIN_BACKGAMMON] = wins[:, 1] + wins[:, 2], wins[:, 2]
        rows[:, LOSE_GAMMON], rows[:, LOSE_BACKGAMMON] = losses[:, 1] + losses[:, 2], losses[:, 2]
        write_consistent(packed, rows)
        write_finished(packed, rows)
        return rows.astype(np.float32)


def graph_inputs(
    parameters: ParameterSet, positions: npt.ArrayLike, inputs: str = EVALUATOR_INPUTS
) -> dict[str, npt.NDArray[np.number]]:
    """Return the inputs of an exported evaluator, by name, for `positions` int8 (n, 26).

    * ``features`` float32 (n, len(parameters)): scaled, in the order of the set.
    * ``position_class`` int64 (n,): 0 contact, 1 crashed, 2 race; 3 a game that ended with a single win,
      4 with a gammon, 5 with a backgammon.
    * ``checkers_off`` int64 (n, 2): checkers that the player on roll and the opponent have borne off.

    If `inputs`, from the net's description, is `CHECKERS_INPUTS`, also

    * ``checkers`` int64 (n, 50): checkers of the player on roll on points 1 to 24 and the bar, then the
      opponent's on the opponent's points 1 to 24 and bar.

    Raises `PositionError`, which names the first invalid row.
    """
    boards = as_boards(positions)
    packed = pack_many(boards)
    points = np.abs(finished_points_many(packed.view(np.int64))).astype(np.int64)
    checkers = checkers_by_place(packed).astype(np.int64)
    arrays: dict[str, npt.NDArray[np.number]] = {
        FEATURES_INPUT: features(parameters, boards),
        CLASS_INPUT: np.where(points, LAST_CLASS + points, classify_many(packed).astype(np.int64)),
        OFF_INPUT: CHECKERS - checkers.sum(axis=2),
    }
    if inputs == CHECKERS_INPUTS:
        arrays[CHECKERS_INPUT] = checkers.reshape(-1, CHECKERS_WIDTH)
    return arrays


class GraphEvaluator(NetEvaluator):
    """An evaluator that runs an exported graph, with the values and the ranking of its weight file.

    If the file uses the bearoff tables, their values replace those of the graph.
    """

    def __init__(self, name: str, net: Net, description: NetDescription) -> None:
        assert description.parameters is not None  # complete evaluators read features
        super().__init__(name, net)
        self._net = net
        self._parameters, self._inputs = description.parameters, description.inputs
        self._bearoff = description.bearoff

    def evaluate_many(self, positions: npt.ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`."""
        rows = self._run(positions)[PROBABILITIES_OUTPUT].astype(np.float32)
        known, exact = self._bearoffs(positions)
        rows[known] = exact
        return rows

    def equity_many(self, boards: Board) -> FloatArray:
        """See `Evaluator.equity_many`."""
        values = self._run(boards)[EQUITY_OUTPUT].astype(np.float64)
        known, exact = self._bearoffs(boards)
        values[known] = 2 * exact[:, WIN] - 1 if self._bearoff == BY_WIN else equities(exact)
        return values

    def _run(self, positions: npt.ArrayLike) -> Mapping[str, npt.NDArray[np.number]]:
        return self._net.run(graph_inputs(self._parameters, positions, self._inputs))

    def _bearoffs(self, positions: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Return the numbers (m,) of the positions that the tables cover, and their probabilities (m, 5)."""
        tables = no_tables() if self._bearoff is None else bearoff_tables()
        return covered_rows(tables, pack_many(as_boards(positions)))


_STRAIGHT = 0.98
"""Equities up to this magnitude are those of the score; larger ones are compressed, see `_within`.
"""


class MoverScoreEvaluator(NetEvaluator):
    """An evaluator that ranks plays by the score of a net with one output, which ignores gammons.

    The win probability of the player on roll is 1 - score, limited to 0 and 1.
    """

    def __init__(self, name: str, net: Net, parameters: ParameterSet) -> None:
        super().__init__(name, net)
        self._net = net
        self._parameters = parameters

    @property
    def gives_chances(self) -> bool:
        """See `Evaluator.gives_chances`: the score is not a probability."""
        return False

    def evaluate_many(self, positions: npt.ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`."""
        boards = as_boards(positions)
        rows = np.zeros((len(boards), len(OUTPUTS)), np.float32)
        rows[:, WIN] = np.clip((1 + switched_equities(self._mover_equities(boards))) / 2, 0, 1)
        write_finished(pack_many(boards), rows)
        return rows

    def equity_many(self, boards: Board) -> FloatArray:
        """See `Evaluator.equity_many`; every win counts 1 and every loss -1, whatever its size."""
        boards = as_boards(boards)
        points = finished_points_many(pack_many(boards).view(np.int64))
        return np.where(points, np.sign(points), switched_equities(_within(self._mover_equities(boards))))

    def _mover_equities(self, boards: Board) -> FloatArray:
        """Return the scores, scaled from 0..1 to -1..1: float64 (n,)."""
        scores = self._net.run_one(features(self._parameters, boards))
        return 2 * scores.reshape(len(boards)).astype(np.float64) - 1


def _within(equities: FloatArray) -> FloatArray:
    """Return `equities` compressed to between -1 and 1, in the same order.

    The last layer of a net may be a plain sum, so a score can exceed that of a win.
    """
    room = 1 - _STRAIGHT
    beyond = np.maximum(np.abs(equities) - _STRAIGHT, 0)
    drawn_in = _STRAIGHT + room * beyond / (room + beyond)
    return np.where(beyond > 0, np.sign(equities) * drawn_in, equities)


def check_fits(net: Net, description: NetDescription) -> None:
    """Raise `PlayerError` with the fault unless `net` has the inputs and outputs of `description`."""
    if description.inputs in WHOLE_EVALUATORS:
        _check_evaluator(net, description)
        return
    size = 0 if description.parameters is None else len(description.parameters)
    width = {WILDBG_CONTACT: CONTACT_WIDTH, WILDBG_RACE: RACE_WIDTH}.get(description.inputs, size)
    widths = list(net.inputs.values())
    if len(widths) != 1 or widths[0] not in (width, None):
        what = ", ".join(str(number or "unknown") for number in widths)
        raise PlayerError(f"{net.where}: the net must have one input of width {width}, not {what}")
    given = net.run_one(np.zeros((1, width), np.float32))
    numbers = EXCLUSIVE if description.outputs == EXCLUSIVE_CHANCES else 1
    if given.size != numbers:
        raise PlayerError(
            f"{net.where}: the net must return {numbers} numbers per position, not {given.size}"
        )


def _check_evaluator(net: Net, description: NetDescription) -> None:
    assert description.parameters is not None  # guaranteed by `read_description`
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
"""The inputs of a net without a description, by width."""


def load_wildbg() -> Evaluator:
    """Load the wildbg nets that come with motif; raises `PlayerError` if a package is missing."""
    return _composite(WILDBG_NAME, _WILDBG_FOLDER)


def load_net(path: str) -> Evaluator:
    """Return the evaluator at `path`.

    `path` is an ``.onnx`` file, a folder with one, or a folder with a contact and a race net. The evaluator
    is called ``onnx:PATH``. Raises `PlayerError` for a missing path, a damaged file, or a net with
    unsupported inputs.
    """
    name, place = NET_PREFIX + path, Path(path)
    where = plain_text(path)
    if not path:
        raise PlayerError(f"{NET_PREFIX!r} must be followed by the path of a net")
    if not _is_folder(place):
        return _single(name, read_net(place))
    files = sorted(
        file for file in place.iterdir() if file.suffix == SUFFIX and not file.name.startswith(".")
    )
    if {CONTACT_FILE, RACE_FILE} <= {file.name for file in files}:
        return _composite(name, place)
    if len(files) != 1:
        needed = f"there must be one, or {CONTACT_FILE} and {RACE_FILE}"
        raise PlayerError(f"{where}: the folder has {len(files)} {SUFFIX} files: {needed}")
    return _single(name, read_net(files[0]))


def _is_folder(path: Path) -> bool:
    """Return whether `path` is a folder; an invalid file name is not."""
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
            raise PlayerError(f"{net.where}: the net must be for {inputs}, not for {described}")
        check_fits(net, NetDescription("", inputs))
        nets.append(net)
    return WildbgEvaluator(name, *nets)


def _single(name: str, net: Net) -> Evaluator:
    description = _description(net)
    check_fits(net, description)
    if description.inputs == WILDBG_CONTACT:
        return WildbgEvaluator(name, net, None)
    if description.inputs == WILDBG_RACE:
        raise PlayerError(
            f"{net.where}: the net is for races only: {CONTACT_FILE} must be beside {RACE_FILE}"
        )
    assert description.parameters is not None  # guaranteed by `read_description`
    if description.inputs in WHOLE_EVALUATORS:
        return GraphEvaluator(name, net, description)
    return MoverScoreEvaluator(name, net, description.parameters)


def _description(net: Net) -> NetDescription:
    """Return the description of `net`, or one derived from its width."""
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
