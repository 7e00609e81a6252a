"""The command analyse: how well matches were played."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motif.analysis.judge import judge_of
from motif.cli.options import (
    DeepOption,
    FastOption,
    HtmlOption,
    JobsOption,
    JsonOption,
    JudgeOption,
    command,
    moved,
    option,
)
from motif.cli.printing import PIPED_WIDTH, json_line, print_table, say, tell
from motif.evaluators.named import WEIGHT_SUFFIXES
from motif.runtime.errors import RecordError, SettingError

if TYPE_CHECKING:
    from motif.analysis.match import MatchAnalysis

_ELSEWHERE = "`motif inspect WEIGHTS --out DIR` shows what an evaluator looks at"


@command(
    "analyse match.mat --html match.html",
    cls=moved(("--out", "--dataset", "--positions", "--class", "--head"), _ELSEWHERE),
)
def analyse(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.mat...", help="Records of matches.")],
    player: JudgeOption = None,
    fast: FastOption = False,
    deep: DeepOption = False,
    worst: Annotated[
        int, option("Show the N plays and cube decisions that cost most.", min=0, max=1000)
    ] = 10,
    html: HtmlOption = None,
    no_cube: Annotated[bool, option("Leave out the cube, where nobody had one.")] = False,
    jacoby: Annotated[
        bool | None,
        option("For money play: gammons count only after a double.", show_default="as the record shows"),
    ] = None,
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Analyse matches.

    Both players are rated, by error rates of chequer plays and of cube decisions and by luck; then comes
    what cost most, with the better play and why; docs/how-to/match-analysis.md explains it.  What looks like
    an error is rolled out, and listed only where that confirms it, but for --fast.  With --json several
    records are a list, `matches`.
    """
    from motif.analysis.match import analyse_match
    from motif.analysis.match.confirmation import confirmed_by
    from motif.board.mat_file import read_mat
    from motif.reports.match_report import match_page
    from motif.runtime.files import write_text

    for path in files:
        if not path.is_file() and (path.name.endswith(WEIGHT_SUFFIXES) or not path.suffix):
            raise SettingError(f"{path}: no record of a match; {_ELSEWHERE}")
    if html is not None and len(files) > 1:
        raise SettingError("--html: a page is about one match, not several")
    records = [read_mat(path) for path in files]
    _, evaluator = judge_of(player, fast, deep)
    confirm = confirmed_by(fast, deep)
    documents = []
    for path, record in zip(files, records, strict=True):
        tell(f"{evaluator.name} analyses {path}")
        try:
            match = analyse_match(
                record, evaluator, worst=worst, cube=not no_cube, jacoby=jacoby, confirm=confirm, jobs=jobs
            )
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from None
        if html is not None:
            write_text(html, match_page(match))
        documents.append({"file": path, **match.as_dict(), "html": html})
        if not json:
            _print(match)
    if json:
        print(json_line(documents[0] if len(documents) == 1 else {"matches": documents}))
    elif html is not None:
        print(html)


def _print(match: "MatchAnalysis") -> None:
    from motif.reports.match_report import reading, sections, worst_lines

    say(f"{match.title}: {match.opening}")
    table = [row for name, rows in sections(match) for row in ((name, "", ""), *_indented(rows))]
    print_table(("", *match.names), table)
    for sentence in reading(match):
        say(sentence)
    say("")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH
    for line in worst_lines(match, width):
        print(line)


def _indented(rows: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [(f"  {what}", first, second) for what, first, second in rows]
