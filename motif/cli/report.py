"""The command report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypedDict

import typer

from motif.cli.common import JobsOption, JsonOption, SeedOption, example
from motif.cli.run_report import report_on_run
from motif.cli.weights_report import report_on_weights
from motif.runtime.errors import SettingError

_CONTACT = "contact"
_USUAL_TERMS, _USUAL_WORST, _MOST_WORST = 20, 10, 1000


class _Common(TypedDict):
    """What both kinds of reports are told."""

    top: int
    html: Path | None
    json: bool
    seed: int
    jobs: int | None


def register(app: typer.Typer) -> None:
    """Add this command to `app`."""
    lines = (
        "runs/demo",
        "runs/demo --html demo.html --benchmark data/bench/race.bm.gz --worst 5",
        "motif-v2",
        "runs/demo/v1/weights.yaml --data runs/demo/v1/samples --class race --top 5",
    )
    app.command(epilog=example(*(f"motif report {line}" for line in lines)))(report)


def report(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="RUN|WEIGHTS",
            help="The folder of a run; or a weight file, the name of one, bras or phase.",
        ),
    ],
    benchmark: Annotated[
        list[Path] | None,
        typer.Option(
            "--benchmark",
            metavar="FILE",
            help="Of a run: measure its versions on this file, too; may be given again.",
            show_default="data/bench",
        ),
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(
            "--worst",
            metavar="N",
            min=0,
            max=_MOST_WORST,
            help="Of a run: draw the N decisions there that cost its last version most.",
            show_default=str(_USUAL_WORST),
        ),
    ] = None,
    terms: Annotated[
        Path | None, typer.Option("--terms", metavar="FILE", help="The table of terms made with the weights.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The dataset they were fitted to.")
    ] = None,
    positions: Annotated[
        str | None,
        typer.Option(
            "--positions",
            metavar="FILE",
            help="Positions, one a line, over which terms are compared; - is standard input.",
            show_default="2000 of its own games",
        ),
    ] = None,
    head: Annotated[
        Literal["win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon", "equity"] | None,
        typer.Option("--head", help="What they judge.", show_default="what chooses plays"),
    ] = None,
    class_name: Annotated[
        Literal["contact", "crashed", "race"] | None,
        typer.Option("--class", help="Positions of which class.", show_default=_CONTACT),
    ] = None,
    plan: Annotated[
        str | None, typer.Option("--plan", metavar="NAME", help="The weights of this game plan of the class.")
    ] = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many terms.")] = _USUAL_TERMS,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="The page to write; of a run RUN/report.html, of weights none."
        ),
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Report on a run, or on a weight file.

    Of a run: write a page that tells how it went, how strong each version plays, which terms matter, the
    worst decisions of the last version on benchmark lines, and what to try next.

    Of a weight file: say in words which terms matter most; with --terms or --data also how sure each is,
    the standard error of its weight.
    """
    common: _Common = {"top": top, "html": html, "json": json, "seed": seed, "jobs": jobs}
    folder = Path(subject)
    if folder.is_dir():
        of_weights = {
            "--terms": terms, "--data": data, "--positions": positions, "--head": head, "--class": class_name,
            "--plan": plan,
        }  # fmt: skip
        _refuse(of_weights, f"{folder} is the folder of a run")
        report_on_run(folder, benchmarks=benchmark, worst=_USUAL_WORST if worst is None else worst, **common)
        return
    _refuse({"--benchmark": benchmark, "--worst": worst}, f"{subject!r} is no folder of a run")
    report_on_weights(
        subject,
        terms=terms,
        data=data,
        positions=positions,
        head=head,
        class_name=class_name or _CONTACT,
        plan=plan,
        **common,
    )


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Raise `SettingError` when one of `options`, by name, is given."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise SettingError(f"{', '.join(given)}: {why}")
