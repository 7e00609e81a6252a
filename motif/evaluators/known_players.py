"""Players by name: the list that loading, help, completion and error messages use.

To add a player, write the module that makes it and add a `PlayerSpec` to `known_players`; to measure its
strength, name it in tools/player_table.py too. Weight files in `weights/` are listed by their short names.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motif.runtime.errors import PlayerError, did_you_mean, shown
from motif.runtime.layout import listed

if TYPE_CHECKING:
    from motif.evaluators.evaluator import Evaluator
    from motif.evaluators.lookahead import LookaheadEvaluator, ShortRollouts
    from motif.evaluators.static import StaticEvaluator
    from motif.evaluators.weight_file import WeightFile


LATEST = "latest"
"""Name that stands for the newest ``motif-vN``."""
_PACKAGE = Path(__file__).resolve().parent.parent
_FOLDERS = (_PACKAGE / "weights", _PACKAGE.parent / "weights")
"""Possible folders of weights: in the installed package, or beside the package in a checkout."""
WEIGHT_SUFFIXES = (".yaml", ".yml", ".yaml.xz", ".yml.xz")
"""Suffixes of weight files; the last two are compressed."""
WRITTEN_WEIGHT_SUFFIXES = (".yaml", ".yml")
"""Suffixes of the weight files that motif writes."""
_ASKED_FOR_LATEST = re.compile(rf"(?<![^:]){LATEST}(?=$|[@+,])")
_VERSION = re.compile(r"motif-v(\d+)")


@cache
def shipped_weights() -> dict[str, Path]:
    """Return the weight files that come with motif, if any, by short name, such as ``motif-v1``."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])
    paths = (path for path in folder.glob("*") if path.name.endswith(WEIGHT_SUFFIXES))
    by_name = {path.name.partition(".")[0]: path for path in paths}
    return {name: by_name[name] for name in sorted(by_name, key=_in_order)}


def _in_order(name: str) -> list[str | int]:
    """Return the sort key of a name: version 10 follows version 9."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]


def default_player() -> str:
    """Return the name of the newest ``motif-vN``; `LATEST`, which cannot be loaded, if there is none."""
    versions = [int(match[1]) for name in shipped_weights() if (match := _VERSION.fullmatch(name))]
    return f"motif-v{max(versions)}" if versions else LATEST


def own_name(name: str) -> str:
    """Return `name` with `LATEST` replaced by the newest weights, so that a player has only one name."""
    return _ASKED_FOR_LATEST.sub(default_player(), name)


def load_shipped(name: str) -> "StaticEvaluator":
    """Return the evaluator of weights that come with motif.

    Raises `PlayerError` if there are no weights of this name.
    """
    from motif.evaluators.static import from_weight_file

    if name not in shipped_weights():
        raise PlayerError(f"this installation of motif has no weights for {name!r}: name another player")
    return from_weight_file(shipped_weights()[name], name)


WILDBG_NAME, NET_PREFIX, ROLLOUT_PREFIX = "wildbg", "onnx:", "rollout:"
COMPOSITE_PREFIX, BRAS_PREFIX = "composite:", "bras:"
_FILLED_IN = re.compile("FILE|PATH|PLAYER|@N")
_WITH_PLIES = re.compile(r"(.+)@([0-9]{1,9})(?::([a-z]*))?")
_DEPTH = re.compile(r"@[0-9]{1,9}:([a-z]+)(?=$|,)")
"""A depth of lookahead in a name: at the end, or in a part of a composition."""
SERVED_PLIES = re.compile(r"(@[12](:(narrow|normal|wide|rollout))?)?")
"""Lookahead that a client of a server may ask for."""


class Kind(StrEnum):
    """Kind of a player, which determines what it can do."""

    STATIC = "a static evaluator"
    """Evaluates, looks ahead with ``@1``, rolls out and samples."""
    NET = "a net"
    """Evaluates and looks ahead; needs the extra ``onnx``."""
    COMPOSITION = "a composition"
    """Evaluates and looks ahead: a part for each position class."""
    OWN = "an evaluator of your own"
    """Evaluates and looks ahead; the Python file is run."""
    ROLLOUT = "a rollout"
    """Evaluates."""
    PROGRAM = "another program"
    """Evaluates and chooses plays, if it is installed."""
    CHOOSER = "no evaluator"
    """Chooses plays."""


@dataclass(frozen=True)
class PlayerSpec:
    """One player, or many of the same kind."""

    name: str
    """Name of the player; words in capitals are placeholders."""
    kind: Kind
    home: str = ""
    """``module:function`` that loads the player, imported when needed; empty for a human player."""
    pattern: str = ""
    """Regular expression of the names, by default `name` itself; its groups are the arguments of `home`."""
    description: str = ""
    """Description of one line."""
    gives_chances: bool = True
    """Whether its probabilities are good enough for cube decisions; otherwise they only rank positions."""

    @property
    def is_one(self) -> bool:
        """Whether the name stands for one player."""
        return not _FILLED_IN.search(self.name)

    @property
    def looks_ahead(self) -> bool:
        """Whether ``@1`` may follow the name."""
        return self.kind in (Kind.STATIC, Kind.NET, Kind.COMPOSITION, Kind.OWN)

    def match(self, name: str) -> re.Match[str] | None:
        """Return the match of `name` with the pattern; None if it does not fit."""
        return re.fullmatch(self.pattern or re.escape(self.name), name, re.DOTALL)

    def load(self, name: str) -> Any:
        """Return the evaluator called `name`, or the player if it is a program or only chooses plays."""
        match = self.match(name)
        assert match
        return _made(self.home)(*match.groups())


def _rollouts(function: str, evaluator: "StaticEvaluator", *settings: "ShortRollouts") -> "Evaluator":
    """Return the result of a function of rollouts; importing it takes a while."""
    rollouts: Evaluator = _made(f"motif.rollouts.rollout_evaluator:{function}")(evaluator, *settings)
    return rollouts


def _made(home: str) -> Any:
    """Return the function at ``module:function``."""
    module, _, function = home.partition(":")
    return getattr(import_module(module), function)


def known_players() -> tuple[PlayerSpec, ...]:
    """Return all players; the first one that matches a name is used."""
    evaluators, players = "motif.evaluators.", "motif.players."
    static, net, chooser, program = Kind.STATIC, Kind.NET, Kind.CHOOSER, Kind.PROGRAM
    return (
        PlayerSpec("pubeval", static, evaluators + "static:pubeval", gives_chances=False,
              description="Gerald Tesauro's public benchmark player of 1993: "
              "one linear table for contact, one for race"),
        PlayerSpec("simple", static, evaluators + "static:simple", gives_chances=False,
              description="motif's hand-made table of points and blots, with which learning starts"),
        PlayerSpec("bras", static, evaluators + "bras:BrasEvaluator", gives_chances=False,
              description="eleven hand-weighted features from the article on BRAS"),
        PlayerSpec("bras:FILE.yaml", static, evaluators + "bras:load_bras", f"{BRAS_PREFIX}(.*)",
              gives_chances=False, description="BRAS with weights of your own from a small YAML file"),
        PlayerSpec("phase", static, evaluators + "phase:PhaseEvaluator", gives_chances=False,
              description="sixteen hand-weighted features for the early, middle and late phase"),
        *(PlayerSpec(name, static, evaluators + "known_players:load_shipped", f"({re.escape(name)})",
                description="weights that come with motif")
          for name in (LATEST, *shipped_weights())),
        PlayerSpec("FILE.yaml", static, evaluators + "static:from_weight_file",
              rf"((?!{NET_PREFIX}|{ROLLOUT_PREFIX}|{COMPOSITE_PREFIX}|{BRAS_PREFIX}).*\.ya?ml(?:\.xz)?)",
              description="a weight file"),
        PlayerSpec(WILDBG_NAME, net, evaluators + "nets:load_wildbg",
              description="wildbg's neural nets for contact and race, by Carsten Wenderdel"),
        PlayerSpec("onnx:PATH", net, evaluators + "nets:load_net", f"{NET_PREFIX}(.*)",
              description="a net of your own"),
        PlayerSpec("FILE.py", Kind.OWN, evaluators + "own:load_own",
              rf"((?!{ROLLOUT_PREFIX}|{COMPOSITE_PREFIX}).*\.py(?::\w+)?)",
              description="an evaluator or a player of your own in a Python file, or FILE.py:NAME"),
        PlayerSpec("composite:race=PLAYER,...", Kind.COMPOSITION,
              evaluators + "composite:load_composite", f"{COMPOSITE_PREFIX}(.*)",
              description="an evaluator for races and one for contact, as in wildbg"),
        PlayerSpec("random", chooser, players + "player:random_player",
              description="any legal play, with equal probability"),
        PlayerSpec("best-of-four", chooser, players + "best_of_four:best_of_four",
              description="a random one of the four plays that `phase` ranks best"),
        PlayerSpec("gnubg", program, players + "gnubg:load_gnubg",
              description="GNU Backgammon's neural nets at 0-ply, in a separate process"),
        PlayerSpec("gnubg@N", program, players + "gnubg:load_gnubg", "(gnubg@.*)",
              description="`gnubg` with a lookahead of N plies, 1 to 3"),
        PlayerSpec("rollout:PLAYER", Kind.ROLLOUT, "motif.rollouts.rollout_evaluator:load_rollout",
              f"({ROLLOUT_PREFIX}.*)", description="rollouts of each play by another evaluator"),
        PlayerSpec("human", chooser, description="you, in `motif play`"),
    )  # fmt: skip


def entry_of(name: str) -> PlayerSpec | None:
    """Return the player of a name without ``+bearoff`` and lookahead; None if there is none."""
    return next((entry for entry in known_players() if entry.match(name)), None)


def description_of(name: str) -> str:
    """Return a colon and the description of a player, with its lookahead; empty for an unknown player."""
    entry = entry_of(without_plies(name))
    match = None if entry is None or entry.kind is Kind.PROGRAM else _WITH_PLIES.fullmatch(name)
    ahead = f", {match[2]}-ply lookahead" if match else ""
    return "" if entry is None else f": {entry.description}{ahead}"


def static_words() -> str:
    """Describe the players that can roll out and sample."""
    return listed(["a weight file", *_hand_made()], "or")


def player_words() -> str:
    """Describe the players that can evaluate."""
    nets = [entry.name for entry in known_players() if entry.kind in (Kind.NET, Kind.COMPOSITION, Kind.OWN)]
    others = [entry.name for entry in known_players() if entry.kind in (Kind.PROGRAM, Kind.ROLLOUT)]
    ahead = listed(["a weight file", *_hand_made(), *nets], "or")
    return f"{ahead}, each with @1 to @3 to look ahead; {', '.join(others)}"


def _hand_made() -> list[str]:
    static = (entry for entry in known_players() if entry.kind is Kind.STATIC)
    return [entry.name for entry in static if not entry.pattern or entry.name.startswith(BRAS_PREFIX)]


def load_static(name: str) -> "StaticEvaluator":
    """Return a static evaluator by name.

    Parameters
    ----------
    name
        Weights, such as ``"latest"`` or a file, or one of bras, phase, pubeval and simple; ``+bearoff`` adds
        the bearoff tables.

    Returns
    -------
    StaticEvaluator
        The evaluator, without lookahead.

    Raises
    ------
    PlayerError
        For an unknown name.
    WeightFileError
        For an invalid weight file.
    """
    return _static_called(name, [entry for entry in known_players() if entry.kind is Kind.STATIC])


def _static_called(name: str, offered: Sequence[PlayerSpec]) -> "StaticEvaluator":
    """Return `load_static` of a name; the message for an unknown one lists the players `offered`."""
    from motif.board.identifiers import quoted
    from motif.evaluators.static import BEAROFF_SUFFIX, with_bearoff

    if not isinstance(name, str):
        raise PlayerError(f"name must be a name such as {LATEST!r} or a weight file, not {shown(name)}")
    name = own_name(name)
    if name.endswith(BEAROFF_SUFFIX):
        without = name.removesuffix(BEAROFF_SUFFIX)
        if without.endswith(BEAROFF_SUFFIX):
            raise PlayerError(f"{quoted(name)} has {BEAROFF_SUFFIX} more than once")
        return with_bearoff(_static_called(without, offered))
    entry = entry_of(name)
    if entry is not None and entry.kind is Kind.STATIC:
        evaluator: StaticEvaluator = entry.load(name)
        return evaluator
    if _WITH_PLIES.fullmatch(name):
        raise PlayerError(f"{quoted(name)} looks ahead; a player without @ is needed here")
    if entry is None:
        known = ", ".join(entry.name for entry in offered if entry.looks_ahead)
        if others := ", ".join(entry.name for entry in offered if entry.home and not entry.looks_ahead):
            known += f", each also with @1 to @3, and {others}"
        hint = did_you_mean(name, [entry.name for entry in offered])
        raise PlayerError(f"no player is called {quoted(name)}{hint or f'; there are {known}'}")
    if entry.kind is Kind.CHOOSER:
        raise PlayerError(f"the player {name!r} has no values: it cannot evaluate, look ahead or roll out")
    raise PlayerError(f"{quoted(name)} is {entry.kind}; a static evaluator is needed here: {static_words()}")


def load_weighted(name: str) -> "StaticEvaluator":
    """Return `load_static` of a name, but refuse other players because they lack weights."""
    from motif.evaluators.static import no_weights

    entry = entry_of(own_name(name))
    if entry is not None and entry.kind is not Kind.STATIC:
        raise no_weights(name)
    return load_static(name)


def weights_called(name: str) -> "WeightFile":
    """Return the weights of the player called `name`; raises `PlayerError` for a player without weights."""
    from motif.evaluators.static import weights_of

    return weights_of(load_weighted(name))


def without_plies(name: str) -> str:
    """Return the name of a player without its lookahead."""
    match = _WITH_PLIES.fullmatch(name)
    return match[1] if match and not name.startswith(ROLLOUT_PREFIX) else name


def rolls_out(name: str) -> bool:
    """Return whether the values of the player called `name` come from rollouts, at least in part."""
    from motif.evaluators.lookahead import DEPTHS

    depths = (DEPTHS[depth] for depth in _DEPTH.findall(name) if depth in DEPTHS)
    return name.startswith(ROLLOUT_PREFIX) or any(depth.rollout is not None for depth in depths)


def load_evaluator(name: str) -> "Evaluator":
    """Return the evaluator called `name`, with its lookahead.

    For example, ``weights/motif-v1.yaml@1`` or ``latest@2:wide``.
    """
    name = own_name(name)
    match = _WITH_PLIES.fullmatch(name)
    without, plies, depth = match.groups() if match else (name, "0", None)
    entry = entry_of(without)
    if entry and entry.kind in (Kind.NET, Kind.COMPOSITION, Kind.OWN):
        evaluator: Evaluator = entry.load(without)
    else:
        evaluator = _static_called(without, known_players())
    return with_lookahead(evaluator, int(plies), depth) if int(plies) else evaluator


def with_lookahead(evaluator: "Evaluator", plies: int, depth: str | None = None) -> "LookaheadEvaluator":
    """Return `evaluator` with lookahead; weights also roll out what the `depth` wants rolled out.

    Raises `PlayerError` for an unknown `depth` or invalid `plies`.
    """
    from motif.evaluators.lookahead import DEFAULT_DEPTH, LookaheadEvaluator
    from motif.evaluators.static import StaticEvaluator

    ahead = LookaheadEvaluator(evaluator, plies, depth or DEFAULT_DEPTH)
    if not isinstance(evaluator, StaticEvaluator):
        return ahead
    endings = None if evaluator.weights is None else partial(_rollouts, "endings_of", evaluator)
    return ahead.with_rollouts(partial(_rollouts, "rolled_by", evaluator), endings)
