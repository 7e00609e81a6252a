"""The command export."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motif.cli.common import JobsOption, JsonOption, SeedOption, example, json_line
from motif.runtime.errors import PlayerError, SettingError

if TYPE_CHECKING:
    from motif.evaluators import WeightFile


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    app.command(epilog=example("motif export motif-v2 --onnx motif-v2.onnx"))(export)


def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE.yaml", help="A weight file, or the name of one: motif-v2, bras.")
    ],
    onnx: Annotated[
        str,
        typer.Option("--onnx", metavar="OUT", help="The ONNX file; in a folder that exists, evaluator.onnx."),
    ],
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Write a fitted evaluator as one ONNX graph.

    It gives the same probabilities and the same ranking of plays in any program that runs ONNX, and
    is a player called onnx:OUT here.
    """
    from motif.evaluators.nets import write_exported

    weights = _weights_of(file)
    if Path(file).exists() and Path(onnx).exists() and Path(file).samefile(onnx):
        raise SettingError(f"--onnx {onnx} is the weight file itself")
    path = write_exported(weights, onnx)
    size = path.stat().st_size
    classes = {name: list(heads) for name, heads in weights.classes.items()}
    if json:
        record = {"file": str(path), "bytes": size, "player": f"onnx:{path}", "name": weights.name}
        print(json_line({**record, "parameters": weights.parameters.name, "classes": classes}))
        return
    print(f"{path}: {weights.name} as ONNX, {size:,} bytes; it plays as onnx:{path}")


def _weights_of(name: str) -> "WeightFile":
    """The weight file called `name`; raises `PlayerError` for a player that is none."""
    from motif.evaluators import load_static
    from motif.evaluators.static import BEAROFF_SUFFIX

    weights = load_static(name).weights
    if weights is None:
        raise PlayerError(f"{name!r} has no weights to export; a weight file is needed")
    if name.endswith(BEAROFF_SUFFIX):
        raise PlayerError(f"{name!r} has tables beside its weights; only a weight file can be exported")
    return weights
