"""Commands about records: analyse, how well matches were played, and convert, to another kind of file."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motif.analysis.judge import judge_of
from motif.cli.options import (
    NORMAL_DEPTH,
    DepthChoice,
    HtmlOption,
    JobsOption,
    JsonOption,
    JudgeOption,
    command,
    option,
)
from motif.cli.printing import PIPED_WIDTH, counted, json_line, note, print_table, say, tell
from motif.evaluators.named import WEIGHT_SUFFIXES
from motif.runtime.errors import RecordError, SettingError
from motif.runtime.files import check_target

if TYPE_CHECKING:
    from motif.analysis.match import MatchAnalysis

_ELSEWHERE = "`motif inspect WEIGHTS --out DIR` analyses the features of an evaluator"

_EXAMPLES = (
    "convert match.mat match.sgf",
    "convert match.sgf another.mat converted/ --to mat",
    "convert runs/try labels.csv",
    "convert labels.csv runs/labels",
)


@command(
    "analyse match.mat --html match.html",
    "analyse match.mat --moves --export all.sgf --export all.csv",
)
def analyse(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Matches: .mat, .sgf, .xg, .bgf, folders; - is stdin."),
    ],
    player: JudgeOption = None,
    depth: DepthChoice = NORMAL_DEPTH,
    worst: Annotated[
        int, option("Show the N plays and cube decisions that cost most.", min=0, max=1000)
    ] = 10,
    moves: Annotated[bool, option("List every decision with its candidates.")] = False,
    jokers: Annotated[int, option("Show the N luckiest rolls.", min=0, max=1000)] = 5,
    export: Annotated[
        list[Path] | None,
        option(
            "Write the match with comments (.mat, .sgf), or a table of all decisions (.csv, .parquet); "
            "may be given again.",
            show_default=False,
        ),
    ] = None,
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
    what cost most, with the better play and why; docs/how-to/match-analysis.md in motif's source explains it.
    What looks like an error, of a play or with the cube, is rolled out and counts as the rollout has it, but
    for --fast.  Of several matches each player's totals come last; with --json they are `players`, and the
    matches the list `matches`.
    """
    from motif.analysis.match import analyse_match
    from motif.board.match_file import read_match
    from motif.reports.match_report import match_page, write_export
    from motif.runtime.files import write_text

    paths, exports = _checked(files, export or [], html)
    records = [read_match(path) for path in paths]
    _, evaluator = judge_of(player, depth.fast, depth.deep)
    analyses = []
    for number, (path, record) in enumerate(zip(paths, records, strict=True), 1):
        of = f" ({number} of {len(paths)})" * (len(paths) > 1)
        tell(f"{evaluator.name} analyses {path}{of}")
        try:
            match = analyse_match(record, evaluator, worst=worst, cube=not no_cube, jacoby=jacoby, jobs=jobs)
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from None
        if html is not None:
            write_text(html, match_page(match))
        analyses.append((str(path), match))
        if not json:
            _print(match, moves, jokers)
    for target in exports:
        write_export(target, analyses)
    if json:
        print(json_line(_document(analyses, moves, jokers, html)))
        return
    if len(analyses) > 1:
        _print_together([match for _, match in analyses])
    for written in filter(None, (*exports, html)):
        print(written)


def _checked(files: list[Path], exports: list[Path], html: Path | None) -> tuple[list[Path], list[Path]]:
    """Return the matches to read, folders looked into, and what to write; raises `SettingError`."""
    from motif.board.match_file import STDIN, match_paths
    from motif.reports.match_report import check_export

    for path in files:
        is_weights = path.name.endswith(WEIGHT_SUFFIXES) or not path.suffix
        if not path.exists() and is_weights and str(path) != STDIN:
            raise SettingError(f"{path}: no record of a match; {_ELSEWHERE}")
    paths = list(match_paths(files))
    if html is not None and len(paths) > 1:
        raise SettingError("--html: a page is about one match, not several")
    for target in exports:
        check_export(target, len(paths))
        check_target(target)
    return paths, exports


def _document(
    analyses: "list[tuple[str, MatchAnalysis]]", moves: bool, jokers: int, html: Path | None
) -> dict[str, Any]:
    """Return what --json prints."""
    from motif.analysis.match import over_all

    documents = [{"file": name, **match.with_lists(jokers, moves), "html": html} for name, match in analyses]
    if len(documents) == 1:
        return documents[0]
    matches = [match for _, match in analyses]
    return {
        "matches": documents,
        "players": [one.to_dict(bool(matches[0].length)) for one in over_all(matches)],
    }


def _print(match: "MatchAnalysis", moves: bool, jokers: int) -> None:
    from motif.reports.match_report import GAME_TITLES, game_rows, reading, sections, worst_lines

    say(f"{match.title}: {match.opening}")
    table = [row for name, rows in sections(match) for row in ((name, "", ""), *_indented(rows))]
    print_table(("", *match.names), table)
    if match.games > 1:
        both = (f"{match.names[0]}: errors", "luck", f"{match.names[1]}: errors", "luck")
        print_table((*GAME_TITLES, *both), game_rows(match), left=3)
    for sentence in reading(match):
        say(sentence)
    say("")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH
    for line in worst_lines(match, width):
        print(line)
    if lucky := match.jokers(jokers):
        print("The luckiest rolls\n")
        for number, one in enumerate(lucky, 1):
            say(f"{number}. {one.line(match.names[one.roll.player])}")
        print()
    if moves:
        print("Every decision\n")
        for decision in match.decisions:
            if decision.counts:
                say(decision.line(match.names[decision.player]))
                for line in decision.candidate_lines():
                    print(f"   {line}")


def _print_together(matches: "list[MatchAnalysis]") -> None:
    from motif.analysis.match import over_all
    from motif.reports.match_report import PLAYER_TITLES, player_rows

    say(f"{len(matches)} matches together")
    print_table(PLAYER_TITLES, player_rows(over_all(matches), bool(matches[0].length)))


def _indented(rows: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [(f"  {what}", first, second) for what, first, second in rows]


@command(*_EXAMPLES)
def convert(
    sources: Annotated[
        list[Path], typer.Argument(metavar="IN...", help="Files, or folders; - is stdin, for one match.")
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A file, or a folder.")],
    to: Annotated[
        str | None, option("Where OUT is a folder for matches: mat or sgf.", show_default="mat")
    ] = None,
    drop_doubtful: Annotated[
        bool, option("Leave out positions that have lost checkers of the opponent.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Convert matches and datasets.

    Matches are read from .mat, .sgf, .xg and .bgf and written as .mat or .sgf, by OUT's suffix; several, or
    those of a folder, go into the folder OUT.  Datasets become wildbg's CSV (.csv) or gnubg-nn's lines
    (.txt); a folder OUT becomes a dataset of such files.  docs/how-to/files.md in motif's source tells more.
    """
    from motif.sampling.conversion import convert as converted

    facts = converted(sources, out, to=to, drop_doubtful=drop_doubtful)
    if doubtful := facts.get("doubtful"):
        done = "left out" if drop_doubtful else "kept: --drop-doubtful leaves them out"
        note(
            f"{doubtful} positions have lost checkers of the opponent, probably from the bar, as in "
            f"older files of wildbg's; they were {done}"
        )
    if json:
        print(json_line({**facts, "out": out}))
    elif "games" in facts:
        say(f"{counted(facts['games'], 'game')} of {counted(facts['files'], 'match', 'matches')} in {out}")
    else:
        say(f"{facts['rows']} positions in {out}")
