"""What `motif analyse FILE.mat` does; `motif.cli.analyse` hands over to it."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from motif.cli.common import DEFAULT_PLAYER, evaluator_of, json_line, print_table, tell
from motif.runtime.errors import RecordError

if TYPE_CHECKING:
    from motif.reports.match_analysis import MatchAnalysis

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
    from motif.board.mat_file import read_mat
    from motif.reports.match_analysis import WORST, analyse_match, write_match_page

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
    from motif.reports.match_analysis import opening, reading, sections, title, worst_lines

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
