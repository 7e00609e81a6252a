"""The command analyse."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from motif.cli.common import (
    PLAYERS,
    JobsOption,
    JsonOption,
    SeedOption,
    example,
    json_line,
    print_table,
)

_POSITIONS = 10_000


def register(app: typer.Typer) -> None:
    """Add this command to `app`."""
    lines = ("bras --out runs/bras", "motif-v2 --out runs/contact --class contact")
    app.command(epilog=example(*(f"motif analyse {line}" for line in lines)))(analyse)


def analyse(
    weights: Annotated[
        str, typer.Argument(metavar="WEIGHTS", help="A weight file, the name of one, bras or phase.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder that it makes.")],
    player: Annotated[
        str | None,
        typer.Option(
            "--player",
            metavar="PLAYER",
            help=f"Whose games give the positions: random, {PLAYERS}",
            show_default="WEIGHTS",
        ),
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option("--dataset", metavar="DIR", help="Take a dataset's positions instead.")
    ] = None,
    positions: Annotated[
        int, typer.Option("--positions", metavar="N", help="How many, of a dataset at most.")
    ] = _POSITIONS,
    class_name: Annotated[
        Literal["contact", "crashed", "race", "all"],
        typer.Option("--class", help="Only positions of this class."),
    ] = "all",
    head: Annotated[
        Literal["win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon", "equity"],
        typer.Option("--head", help="What the weights judge."),
    ] = "win",
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Analyse what an evaluator looks at.

    Scores, features, how these hang together, which are important, and how much each moves the score:
    pictures, tables and a page, in a new folder; docs/analysis.md explains them.
    """
    from motif.evaluators import load_static
    from motif.players import load
    from motif.reports.analysis import analyse as make_analysis

    found = make_analysis(
        load_static(weights),
        out,
        player=None if player is None else load(player),
        dataset=dataset,
        positions=positions,
        head=head,
        class_name=None if class_name == "all" else class_name,
        seed=seed,
        jobs=jobs,
    )
    if json:
        print(json_line({**found, "out": str(out), "files": [str(out / name) for name in found["files"]]}))
        return
    rows = [
        (feature["name"], f"{feature['weight']:+.3f}", f"{feature['importance']:.3f}")
        for feature in found["most_important"]
    ]
    print_table(("most important", "weight", "|weight| x SD"), rows)
    raw, value = found["raw"], found["value"]
    unit = f" {value['unit']}" if value["unit"] else ""
    print(
        f"{raw['name']} {raw['mean']:.2f} ± {raw['std']:.2f}, {value['name']} {value['mean']:.2f} ± "
        f"{value['std']:.2f}{unit} (SD), over {found['positions']} positions"
    )
    print(out / "report.html")
