"""The command analyse: of an evaluator, what it looks at; of a match, how well it was played.

What `motif analyse FILE.mat` does; `motif.cli.analyse` hands over to it.
"""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from motif.cli.common import (
    DEFAULT_PLAYER,
    PLAYERS,
    JobsOption,
    JsonOption,
    SeedOption,
    evaluator_of,
    example,
    json_line,
    print_table,
    tell,
)
from motif.runtime.errors import RecordError, SettingError

if TYPE_CHECKING:
    from motif.analysis.match import MatchAnalysis


MAT_SUFFIX = ".mat"
_WEIGHT_SUFFIXES = (".yaml", ".yml")
_PIPED_WIDTH = 120


def is_match(word: str, has_folder: bool) -> bool:
    """Whether `word` means the record of a match: FILE.mat; or, unless a folder is to be made, any file
    that is no weight file."""
    if word.lower().endswith(MAT_SUFFIX):
        return True
    return not has_folder and not word.lower().endswith(_WEIGHT_SUFFIXES) and Path(word).is_file()


def analyse_file(
    path: Path,
    *,
    player: str | None,
    worst: int | None,
    cube: bool,
    jacoby: bool | None,
    html: Path | None,
    json: bool,
    jobs: int | None,
) -> None:
    """Read, analyse, draw and print; None stands for what the option does when it is not given."""
    from motif.analysis.match import WORST, analyse_match
    from motif.board.mat_file import read_mat
    from motif.reports.match_page import write_match_page

    record = read_mat(path)
    evaluator = evaluator_of(DEFAULT_PLAYER if player is None else player)
    tell(f"{evaluator.name} analyses {path}")
    try:
        found = analyse_match(
            record,
            evaluator,
            worst=WORST if worst is None else worst,
            cube=cube,
            jacoby=jacoby,
            jobs=jobs,
        )
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from None
    if html is not None:
        write_match_page(found, html)
    if json:
        print(json_line({"file": str(path), **found.as_dict(), "html": None if html is None else str(html)}))
        return
    _print(found)
    if html is not None:
        print(html)


def _print(found: "MatchAnalysis") -> None:
    from motif.reports.match_rows import opening, reading, sections, title, worst_lines

    print(f"{title(found)}: {opening(found)}")
    table = [row for name, rows in sections(found) for row in ((name, "", ""), *_indented(rows))]
    print_table(("", *found.names), table)
    for sentence in reading(found):
        print(sentence)
    print()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPED_WIDTH
    for line in worst_lines(found, width):
        print(line)


def _indented(rows: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [(f"  {what}", first, second) for what, first, second in rows]


_POSITIONS = 10_000
_WORST, _MOST_SHOWN = 10, 1000
_ClassName = Literal["contact", "crashed", "race", "all"]
_Head = Literal["win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon", "equity"]


def register(app: typer.Typer) -> None:
    """Add this command to `app`."""
    lines = (
        "bras --out runs/bras",
        "motif-v2 --out runs/contact --class contact",
        "match.mat --player latest@1 --html match.html",
    )
    app.command(epilog=example(*(f"motif analyse {line}" for line in lines)))(analyse)


def analyse(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="WEIGHTS|FILE.mat",
            help="A weight file, the name of one, bras or phase; or the record of a match.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Of an evaluator: the folder that it makes."),
    ] = None,
    player: Annotated[
        str | None,
        typer.Option(
            "--player",
            metavar="PLAYER",
            help="Of an evaluator: whose games give the positions, random too; of a match: who judges it. "
            + PLAYERS,
            show_default=f"WEIGHTS; {DEFAULT_PLAYER} for a match",
        ),
    ] = None,
    dataset: Annotated[
        Path | None,
        typer.Option("--dataset", metavar="DIR", help="Of an evaluator: take a dataset's positions instead."),
    ] = None,
    positions: Annotated[
        int | None,
        typer.Option(
            "--positions",
            metavar="N",
            help="Of an evaluator: how many, of a dataset at most.",
            show_default=str(_POSITIONS),
        ),
    ] = None,
    class_name: Annotated[
        _ClassName | None,
        typer.Option("--class", help="Of an evaluator: only positions of this class.", show_default="all"),
    ] = None,
    head: Annotated[
        _Head | None,
        typer.Option("--head", help="Of an evaluator: what the weights judge.", show_default="win"),
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(
            "--worst",
            metavar="N",
            min=0,
            max=_MOST_SHOWN,
            help="Of a match: show the N plays and cube decisions that cost most.",
            show_default=str(_WORST),
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Of a match: write a page with boards too."),
    ] = None,
    no_cube: Annotated[
        bool, typer.Option("--no-cube", help="Of a match: leave out the cube, where nobody had one.")
    ] = False,
    jacoby: Annotated[
        bool | None,
        typer.Option(
            "--jacoby/--no-jacoby",
            help="Of money play: gammons count only after a double.",
            show_default="as the record shows",
        ),
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Analyse an evaluator, or a match.

    WEIGHTS: scores, features, how these hang together, which are important, and how much each moves the
    score: pictures, tables and a page, in a new folder; docs/user/analysis.md explains them.

    FILE.mat: both players rated, by error rates of chequer plays and of cube decisions and by luck; and what
    cost most, with the better play and why; docs/user/match-analysis.md explains it.
    """
    if is_match(subject, has_folder=out is not None):
        _refuse(
            "a match",
            ("--out", out),
            ("--dataset", dataset),
            ("--positions", positions),
            ("--class", class_name),
            ("--head", head),
        )
        analyse_file(
            Path(subject),
            player=player,
            worst=worst,
            cube=not no_cube,
            jacoby=jacoby,
            html=html,
            json=json,
            jobs=jobs,
        )
        return
    _refuse(
        "an evaluator",
        ("--worst", worst),
        ("--html", html),
        ("--no-cube", no_cube or None),
        ("--jacoby", jacoby),
    )
    if out is None:
        raise SettingError("Missing option '--out': the analysis of an evaluator is a folder of files")
    _analyse_evaluator(
        subject,
        out,
        player=player,
        dataset=dataset,
        positions=_POSITIONS if positions is None else positions,
        head=head or "win",
        class_name=None if class_name in (None, "all") else class_name,
        json=json,
        seed=seed,
        jobs=jobs,
    )


def _refuse(subject: str, *options: tuple[str, object]) -> None:
    """Raise `SettingError` for the first of `options` (name and value) that is given."""
    for name, value in options:
        if value is not None:
            raise SettingError(f"{name} does not go with the analysis of {subject}")


def _analyse_evaluator(
    weights: str,
    out: Path,
    *,
    player: str | None,
    dataset: Path | None,
    positions: int,
    head: _Head,
    class_name: str | None,
    json: bool,
    seed: int,
    jobs: int | None,
) -> None:
    from motif.evaluators import load_static
    from motif.players import load
    from motif.reports.analysis_page import analyse as make_analysis

    found = make_analysis(
        load_static(weights),
        out,
        player=None if player is None else load(player),
        dataset=dataset,
        positions=positions,
        head=head,
        class_name=class_name,
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
