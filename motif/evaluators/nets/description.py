"""What a net says of itself: a few texts in the metadata of its ONNX file.

========================  ==============================================================
``motif.format``          ``motif-net/1``
``motif.name``            what the net is called
``motif.inputs``          one of `INPUTS`
``motif.outputs``         one of `OUTPUTS_OF`, which goes with the inputs
``motif.parameters``      name of the parameter set, where features of one are read
``motif.fingerprint``     of that set, or of what it was before it grew: others are refused
``motif.names``           its parameters in the order of the features, joined by commas
``motif.classes``         what each number of ``position_class`` means, joined by commas
``motif.plans``           what each number of ``game_plan`` means, joined by semicolons; others are refused
``motif.bearoff``         one of `BEAROFF_RANKINGS`, where bearoff tables' values stand for the net's
========================  ==============================================================

The last six stand only where they apply.  Whatever else the metadata hold is passed over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from motif.evaluators.nets.net import onnx_package
from motif.parameters import KNOWN_SETS, ParameterSet, fitted_set
from motif.parameters.position_class import CLASS_NAMES, PLANS
from motif.runtime.errors import ParameterError, PlayerError, shown

FORMAT = "motif-net/1"

WILDBG_CONTACT = "wildbg-contact"
"""202 numbers of any position, see `motif.evaluators.nets.wildbg`."""
WILDBG_RACE = "wildbg-race"
"""186 numbers of a race."""
FEATURES = "features"
"""What `motif.parameters.sets.features` gives: the scaled features of a set, in its order."""
EVALUATOR_INPUTS = "features, position_class, checkers_off"
"""Three inputs of a whole evaluator, see `motif.evaluators.nets.graph_inputs`."""
PLANNED_INPUTS = EVALUATOR_INPUTS + ", game_plan, checkers"
"""Five inputs of an evaluator that has weights of game plans, or of checkers by their places."""
WHOLE_EVALUATORS = (EVALUATOR_INPUTS, PLANNED_INPUTS)
INPUTS = (WILDBG_CONTACT, WILDBG_RACE, FEATURES, *WHOLE_EVALUATORS)

EXCLUSIVE_CHANCES = "six exclusive chances"
"""(n, 6), adding to 1: the player on roll wins single, gammon, backgammon, loses single, and so on."""
MOVER_SCORE = "score of the player who has just moved"
"""(n,) or (n, 1): how good the position is for the player who is NOT on roll, 0 to 1."""
CHANCES_AND_EQUITY = "probabilities, equity"
"""(n, 5) cumulative probabilities and (n,) the equity that ranks plays, both of the player on roll."""

OUTPUTS_OF = {
    WILDBG_CONTACT: EXCLUSIVE_CHANCES,
    WILDBG_RACE: EXCLUSIVE_CHANCES,
    FEATURES: MOVER_SCORE,
    EVALUATOR_INPUTS: CHANCES_AND_EQUITY,
    PLANNED_INPUTS: CHANCES_AND_EQUITY,
}
"""What comes out of each kind of inputs."""

FINISHED_NAMES = ("won or lost single", "gammon", "backgammon")
"""Numbers of ``position_class`` after those of `CLASS_NAMES`: how a finished game ended."""

BY_EQUITY, BY_WIN = BEAROFF_RANKINGS = ("equity", "win")
"""What of the tables' values ranks plays: like the evaluator's own, all five or the win chance alone."""

_PREFIX = "motif."
_SEPARATOR = ","
_PLAN_SEPARATOR = ";"
"""Names of plans hold commas."""


@dataclass(frozen=True)
class NetDescription:
    """What goes into a net and what comes out."""

    name: str
    inputs: str
    """One of `INPUTS`; it decides the outputs."""
    parameters: ParameterSet | None = None
    """Whose features are read, where any are."""
    bearoff: str | None = None
    """What ranks plays where the bearoff tables' values stand for the net's; None where these are its own."""

    @property
    def outputs(self) -> str:
        """What comes out."""
        return OUTPUTS_OF[self.inputs]

    def metadata(self) -> dict[str, str]:
        """The texts that stand for it in an ONNX file."""
        texts = {"format": FORMAT, "name": self.name, "inputs": self.inputs, "outputs": self.outputs}
        if self.parameters is not None:
            texts["parameters"] = self.parameters.name
            texts["fingerprint"] = self.parameters.fingerprint
            texts["names"] = _SEPARATOR.join(self.parameters.names)
        if self.inputs in WHOLE_EVALUATORS:
            texts["classes"] = _SEPARATOR.join((*CLASS_NAMES, *FINISHED_NAMES))
        if self.inputs == PLANNED_INPUTS:
            texts["plans"] = _PLAN_SEPARATOR.join(PLANS)
        if self.bearoff is not None:
            texts["bearoff"] = self.bearoff
        return {_PREFIX + key: text for key, text in texts.items()}


def described(model: bytes, description: NetDescription) -> bytes:
    """The ONNX file `model` with `description` in it, in place of any that it had.

    Raises `PlayerError` when the package onnx is missing.
    """
    onnx = onnx_package()
    proto = onnx.load_model_from_string(model)
    metadata = {entry.key: entry.value for entry in proto.metadata_props}
    kept = {key: text for key, text in metadata.items() if not key.startswith(_PREFIX)}
    onnx.helper.set_model_props(proto, {**kept, **description.metadata()})
    return bytes(proto.SerializeToString())


def read_description(metadata: Mapping[str, str], folder: Path = Path()) -> NetDescription | None:
    """The description among the texts of an ONNX file in `folder`; None where there is none.

    Raises `PlayerError`, which does not name the file, for one that this program cannot follow.
    """
    texts = {key.removeprefix(_PREFIX): text for key, text in metadata.items() if key.startswith(_PREFIX)}
    if not texts:
        return None
    if texts.get("format") != FORMAT:
        _refuse("format", texts, f"{FORMAT!r}")
    inputs = texts.get("inputs", "")
    if inputs not in INPUTS:
        _refuse("inputs", texts, "one of " + "; ".join(INPUTS))
    if texts.get("outputs") != OUTPUTS_OF[inputs]:
        _refuse("outputs", texts, f"{OUTPUTS_OF[inputs]!r}")
    parameters = None
    if inputs in (FEATURES, *WHOLE_EVALUATORS):
        try:
            names = texts.get("names", "").split(_SEPARATOR)
            parameters = fitted_set(texts.get("parameters"), texts.get("fingerprint"), folder, names)
        except ParameterError as error:
            raise PlayerError(f"the metadata {_PREFIX}parameters: {error}") from None
        if parameters is None:
            _refuse("parameters", texts, f"one of {', '.join(KNOWN_SETS)}")
        if texts.get("fingerprint") != parameters.fingerprint:
            expected = f"that of the set {parameters.name}, {parameters.fingerprint[:19]}..."
            _refuse("fingerprint", texts, expected)
    if inputs == PLANNED_INPUTS and texts.get("plans") != _PLAN_SEPARATOR.join(PLANS):
        _refuse("plans", texts, f"the {len(PLANS)} game plans of this program")
    bearoff = texts.get("bearoff")
    if bearoff is not None and bearoff not in BEAROFF_RANKINGS:
        _refuse("bearoff", texts, " or ".join(BEAROFF_RANKINGS))
    return NetDescription(texts.get("name", ""), inputs, parameters, bearoff)


def _refuse(key: str, texts: Mapping[str, str], expected: str) -> NoReturn:
    given = shown(texts[key]) if key in texts else "missing"
    raise PlayerError(f"the metadata {_PREFIX}{key} must be {expected}, not {given}")
