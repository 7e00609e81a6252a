"""What commands share: options, the default player, ways to print."""

import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motif.cli.completion import complete_player
from motif.evaluators.shipped import default_player
from motif.runtime.errors import PlayerError, SettingError
from motif.runtime.parallel import worker_count

if TYPE_CHECKING:
    from motif.evaluators import Evaluator, StaticEvaluator

_PIPED_WIDTH = 120
_LARGEST_SEED = 2**53


DEFAULT_PLAYER = default_player()
"""Who evaluates when nobody is named."""


def _checked_jobs(jobs: int | None) -> int | None:
    if jobs is not None:
        worker_count(jobs)
    return jobs


def checked_seed(seed: int | None) -> int | None:
    """`seed` if it is one, or None; raises `SettingError` otherwise."""
    if seed is not None and not 0 <= seed <= _LARGEST_SEED:
        raise SettingError(f"--seed must be 0 to {_LARGEST_SEED}, not {seed}")
    return seed


JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
SeedOption = Annotated[
    int,
    typer.Option("--seed", metavar="N", callback=checked_seed, help="Where chance plays a part, its seed."),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        callback=_checked_jobs,
        show_default="all cores",
        help="Processes for long work.",
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="tcp://HOST:PORT",
        help="Let the dask cluster with this scheduler do long work, instead of this machine.",
    ),
]
PLAYERS = (
    "A weight file, pubeval, bras, phase, simple, wildbg or onnx:PATH, each with @1 or @2 to look ahead; "
    "gnubg; rollout:PLAYER."
)
PlayerOption = Annotated[
    str, typer.Option("--player", metavar="PLAYER", help=PLAYERS, autocompletion=complete_player)
]
StaticOption = Annotated[
    str,
    typer.Option(
        "--player",
        metavar="PLAYER",
        help="Plays both sides: a weight file, pubeval, bras, phase or simple.",
        autocompletion=complete_player,
    ),
]
CutOption = Annotated[
    int, typer.Option("--cut", metavar="N", help="End rollouts after N plies by the evaluator; 0: never.")
]
StopAtRaceOption = Annotated[
    bool, typer.Option("--stop-at-race", help="End rollouts by the evaluator when contact ends.")
]
StopAtBearoffOption = Annotated[
    bool,
    typer.Option("--stop-at-bearoff", help="End rollouts by the bearoff tables where both are home."),
]

StratifiedOption = Annotated[
    bool, typer.Option("--stratified", help="Let the first two rolls run evenly through all there are.")
]


def example(*lines: str) -> str:
    """The end of a command's help: each of `lines` as it would be typed."""
    return "\n".join(("\b", "Example:", *(f"  {line}" for line in lines)))


def check_target(path: Path) -> None:
    """Fail before the work, not after it, when the file `path` cannot be written; raises `SettingError`."""
    if path.is_dir():
        raise SettingError(f"{path}: is a folder, not a file to write")
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise SettingError(f"{path}: cannot be written: {parent} is not a folder open to writing")


def one_line(text: str) -> str:
    """`text` without line breaks and other control characters."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def evaluator_of(name: str) -> "Evaluator":
    """The evaluator of the player called `name`; raises `PlayerError` when he has none."""
    from motif.players import load

    evaluator = load(name).evaluator
    if evaluator is None:
        raise PlayerError(f"the player {name!r} chooses plays but cannot evaluate a position")
    return evaluator


def static_evaluator(name: str) -> "StaticEvaluator":
    """The evaluator of the player called `name`; raises `PlayerError` when he is not a static one."""
    from motif.evaluators import StaticEvaluator

    evaluator = evaluator_of(name)
    if not isinstance(evaluator, StaticEvaluator):
        raise PlayerError(
            "rollouts are played by a weight file, pubeval, bras, phase or simple, without lookahead, "
            f"not by {name!r}"
        )
    return evaluator


def json_line(document: Any) -> str:
    """`document` as JSON on one line; a number that is not finite becomes null."""
    try:
        return json.dumps(document, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(document), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def error_text(error: float | None) -> str:
    """An error of a fit for a table; nothing where there is none."""
    return "" if error is None else f"{error:.4f}"


def tell(line: str) -> None:
    """Say on a terminal what begins or has been done."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print a table; its first `left` columns are aligned to the left, numbers to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console()
    if not console.is_terminal:
        console.width = _PIPED_WIDTH
    console.print(table)
