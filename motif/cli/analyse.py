"""Commands about match records: analyse and convert."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from motif.cli.options import (
    HtmlOption,
    IntoOne,
    JobsOption,
    JsonOption,
    JudgeChoice,
    argument,
    command,
    option,
)
from motif.cli.printing import PIPED_WIDTH, note, print_table, printed_json, say, tell
from motif.evaluators.known_players import entry_of, own_name, without_plies
from motif.runtime.errors import RecordError, SettingError
from motif.runtime.files import check_target
from motif.runtime.layout import columns, counted

if TYPE_CHECKING:
    from motif.analysis.match.match_analysis import MatchAnalysis
    from motif.board.game_record import MatchRecord

_ELSEWHERE = "use `motif inspect WEIGHTS --out DIR` to analyse an evaluator"


@command(
    "analyse match.mat --html match.html",
    "analyse match.mat --moves --export all.sgf --export all.csv",
)
def analyse(
    files: Annotated[
        list[Path],
        argument("Match files (.mat, .sgf, .xg, .bgf) or folders; - for standard input.", "FILE..."),
    ],
    *,
    judge: JudgeChoice,
    worst: Annotated[
        int, option("Number of worst plays and worst cube decisions to show.", min=0, max=1000)
    ] = 10,
    moves: Annotated[bool, option("List every decision with its candidate plays.")] = False,
    jokers: Annotated[int, option("Number of luckiest rolls to show.", min=0, max=1000)] = 5,
    export: Annotated[
        list[Path] | None,
        option(
            "Annotated match (.mat, .sgf) or table of all decisions (.csv, .parquet) to write; repeatable.",
            show_default=False,
        ),
    ] = None,
    html: HtmlOption = None,
    no_cube: Annotated[bool, option("Ignore the cube, for records of games without one.")] = False,
    jacoby: Annotated[bool | None, option("Jacoby rule in money play.", show_default="as recorded")] = None,
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Analyse matches.

    Shows the error rates of both players for checker plays and cube decisions, their luck, and the worst
    decisions, each with the better play and the reasons for it.  Apparent errors are rolled out, except with
    --fast, and the rollout decides.  After several matches, the totals of each player follow; --json then has
    the keys `matches` and `players`.  See docs/how-to/match-analysis.md in motif's source.
    """
    from motif.analysis.match.match_analysis import analyse_match, over_all
    from motif.reports.match_report import PLAYER_TITLES, match_page, player_rows, write_export
    from motif.runtime.files import write_text

    paths = _checked(files, exports := export or [], html)
    records = _read(paths, jacoby, exports)
    _, evaluator = judge.load(with_cube=True)
    analyses = []
    for number, (path, record) in enumerate(zip(paths, records, strict=True), 1):
        of = f" ({number} of {len(paths)})" * (len(paths) > 1)
        tell(f"analysing {path}{of} with {evaluator.name}")
        try:
            match = analyse_match(record, evaluator, worst=worst, cube=not no_cube, jacoby=jacoby, jobs=jobs)
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from None
        if html is not None:
            write_text(html, match_page(match))
        analyses.append((str(path), match))
        if not (json or exports):
            _print(match, moves, jokers)
    matches = [match for _, match in analyses]
    for target in exports:
        write_export(target, analyses)
    for match in matches if exports and not json else ():  # printed last: a closed pipe ends the program
        _print(match, moves, jokers)
    totals = over_all(matches)
    documents = [{"file": name, **match.with_lists(jokers, moves), "html": html} for name, match in analyses]
    several = {"matches": documents, "players": [player.to_dict() for player in totals]}
    if printed_json(json, several if len(matches) > 1 else documents[0]):
        return
    if len(matches) > 1:
        say(f"All {len(matches)} matches")
        print_table(PLAYER_TITLES, player_rows(totals))
    for written in filter(None, (*exports, html)):
        print(written)


def _read(paths: list[Path], jacoby: bool | None, exports: list[Path]) -> list["MatchRecord"]:
    """Read matches.

    Raises `SettingError` if one has no Jacoby rule, and `RecordError` if an export cannot hold it.
    """
    from motif.analysis.match.match_analysis import check_jacoby
    from motif.board.match_file import WRITTEN_SUFFIXES, match_text, read_match

    records = []
    for path in paths:
        records.append(read_match(path))
        try:
            check_jacoby(records[-1], jacoby)
        except SettingError as error:
            raise SettingError(f"{path}: {error.naming({'jacoby': '--jacoby'})}") from None
    for target in exports:
        if target.suffix.lower() in WRITTEN_SUFFIXES:
            match_text(target, records[0])  # before the analysis, which takes minutes
    return records


def _checked(files: list[Path], exports: list[Path], html: Path | None) -> list[Path]:
    """Return the files to read, including those in folders; raises `SettingError`, also for `exports`."""
    from motif.board.match_file import match_paths
    from motif.reports.match_report import check_export
    from motif.runtime.files import check_apart

    for path in files:
        if not path.exists() and entry_of(without_plies(own_name(str(path)))) is not None:
            raise SettingError(f"{path}: not a match record; {_ELSEWHERE}")
    paths = list(match_paths(files))
    if html is not None and len(paths) > 1:
        raise SettingError("--html: a page shows only one match")
    for target in exports:
        check_export(target, len(paths))
        check_target(target)
    check_apart(paths, *exports, html)
    return paths


def _print(match: "MatchAnalysis", moves: bool, jokers: int) -> None:
    from motif.reports.match_report import GAME_TITLES, game_rows, reading_of_figures, sections, worst_lines

    say(f"{match.title}: {match.opening}")
    table = []
    for name, rows in sections(match):
        table += [(name, "", ""), *((f"  {what}", *figures) for what, *figures in rows)]
    print_table(("", *match.names), table)
    if match.games > 1:
        both = (f"{match.names[0]}: errors", "luck", f"{match.names[1]}: errors", "luck")
        print_table((*GAME_TITLES, *both), game_rows(match), left=3)
    for sentence in reading_of_figures(match):
        say(sentence)
    say("")
    for line in worst_lines(match, columns(sys.stdout) or PIPED_WIDTH):
        say(line)
    if lucky := match.jokers(jokers):
        print("The luckiest rolls\n")
        for number, one in enumerate(lucky, 1):
            say(f"{number}. {one.line(match.names[one.roll.player])}")
        print()
    if moves:
        print("Every decision\n")
        for decision in (judged.rounded() for judged in match.decisions):
            if decision.counts:
                say(decision.line(match.names[decision.player]))
                for line in decision.candidate_lines():
                    print(f"   {line}")


@command(
    "convert match.mat match.sgf",
    "convert match.sgf another.mat converted/ --to mat",
    "convert runs/try labels.csv",
    "convert labels.csv runs/labels",
    cls=IntoOne,
)
def convert(
    sources: Annotated[list[Path], argument("Files or folders; - for a match from standard input.", "IN...")],
    out: Annotated[Path, argument("File or folder to write.", "OUT")],
    to: Annotated[
        str | None, option("Format of matches in a folder OUT: mat or sgf.", show_default="mat")
    ] = None,
    drop_doubtful: Annotated[
        bool, option("Skip positions in which checkers of the opponent are missing.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Convert matches and datasets.

    Reads .mat, .sgf, .xg and .bgf matches and writes .mat or .sgf, depending on the suffix of OUT; several
    matches require a folder OUT.  Converts a dataset to wildbg's CSV (.csv) or gnubg-nn's format (.txt), and
    such a file to a dataset, the folder OUT.  See docs/how-to/files.md in motif's source.
    """
    from motif.sampling.conversion import convert as converted

    facts = converted(sources, out, to=to, drop_doubtful=drop_doubtful)
    if doubtful := facts.get("doubtful"):
        done = "skipped" if drop_doubtful else "kept; --drop-doubtful skips them"
        note(
            f"checkers of the opponent are missing in {doubtful} positions, probably from the bar, as in "
            f"older files of wildbg; these positions were {done}"
        )
    if illegal := facts.get("illegal_plays"):
        note(f"{counted(illegal, 'illegal play')} converted as recorded; `motif analyse` lists them")
    if printed_json(json, {**facts, "out": out}):
        return
    if "games" in facts:
        say(f"{counted(facts['games'], 'game')} of {counted(facts['files'], 'match', 'matches')} in {out}")
    else:
        say(f"{facts['rows']} positions in {out}")
