"""Reports of a match analysis: text, an HTML page, annotated match files and tables of decisions."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from motif.analysis.confirmation import CONFIRMED_Z, ROLLOUT_THRESHOLD
from motif.analysis.cube_records import cube_words
from motif.analysis.explain.explanation import Explanation
from motif.analysis.match.decisions import (
    KINDS_OF_DECISION,
    CostUnit,
    Errors,
    MatchDecision,
    PlayerAnalysis,
    Sum,
)
from motif.analysis.match.match_analysis import MatchAnalysis, WorstCube, WorstPlay
from motif.board.diagram import boards_after, text_diagram
from motif.board.game_record import ScoreJump, illegal_plays, score_jumps
from motif.board.marks import BLUNDER, MARKS, MILLIPOINTS, MIN_RATED
from motif.board.match_file import WRITTEN_SUFFIXES, write_match
from motif.board.notation import NO_MOVE
from motif.reports.document import ShownAction, ShownDecision, rendered
from motif.runtime.errors import SettingError
from motif.runtime.files import csv_text, write_text
from motif.runtime.layout import counted, encodable, plus_minus

_Row = tuple[str, ...]
"""A label and the figures of both players."""
_NONE = "-"

TABLE_SUFFIXES = (".csv", ".parquet")
_COLUMNS = (
    "file", "match", "analyst", "game", "move", "player", "kind", "position", "xgid", "roll", "done", "best",
    "error", "error_se", "source", "trials", "too_close", "mark", "counts", "lost", "unit", "luck",
    "candidates",
)  # fmt: skip
"""Columns of a table; `error` and `error_se` are in millipoints, `lost` in points or MWC, `luck` in
equity."""


def reading_of_figures(analysis: MatchAnalysis) -> list[str]:
    """Return sentences that explain the figures."""
    unit = (
        "normalised so that winning a single game at the present cube is +1 and losing it -1"
        if analysis.length
        else "per point of the cube"
    )
    lost = "match winning chances (MWC)" if analysis.length else "points, including the cube"
    sentences = [
        *map(_jump_sentence, score_jumps(analysis.record)),
        *(f"Illegal play, recorded but not judged: {illegal}." for illegal in illegal_plays(analysis.record)),
        f"Error rates are in millipoints per decision, thousandths of an equity {unit}; ± is one standard "
        f"error. Losses and luck are also given in {lost}: what is at stake differs from roll to roll, so "
        "sums of luck in the two units can even have different signs.",
        "Decisions are unforced plays, and close or actual cube decisions. "
        f"A blunder costs {MILLIPOINTS * BLUNDER:.0f} millipoints or more.",
        f"Errors are as judged by {analysis.analyst}, cubeful.",
        "Each figure is rounded on its own and totals are sums of exact values, so a total may "
        "differ from its rounded parts in the last digit.",
        "PR, as in eXtreme Gammon, is half the error rate; the Snowie error rate, as in gnubg, is the loss "
        "per roll, counting both players' rolls and forced plays. An error is marked "
        + ", ".join(f"{mark} from {MILLIPOINTS * limit:.0f} millipoints" for limit, mark in reversed(MARKS))
        + ".",
    ]
    if analysis.own_error_rate is not None:
        sentences.append(
            f"The judge's own error rate is {analysis.own_error_rate:.1f} millipoints per decision in "
            "contact positions (docs/explanation/frontier.md in motif's source); below that, trust the "
            "ranking, not the numbers."
        )
    if analysis.trials:
        sentences.append(
            f"Errors of {MILLIPOINTS * ROLLOUT_THRESHOLD:.0f} millipoints and more come from rollouts of "
            f"{analysis.trials} trials (more for close cube decisions), smaller ones from lookahead. An "
            f"error is marked, and listed among the largest, if it exceeds {CONFIRMED_Z:.0f} standard "
            "errors; a smaller cube error is too close to call."
        )
    if any(player.is_analyst for player in analysis.players):
        sentences.append("The analyst is not rated.")
    if any(player.overall.decisions < MIN_RATED for player in analysis.players):
        sentences.append(f"Fewer than {MIN_RATED} decisions are not rated.")
    if any(play.why and play.why.sentences for play in analysis.plays):
        sentences.append(
            "Reasons are sorted by importance; + marks those for the better play, - those for the actual "
            "play. Score and lookahead may also contribute to a loss."
        )
    return sentences


def _jump_sentence(jump: ScoreJump) -> str:
    return (
        "In the record, game {} begins at {}-{}, although game {} ended at {}-{}; plays are judged at the "
        "recorded score."
    ).format(jump.game, *jump.begins, jump.game - 1, *jump.ended)


def sections(analysis: MatchAnalysis) -> list[tuple[str, list[_Row]]]:
    """Return the rows of each section."""
    both, unit = analysis.players, analysis.unit

    def error_rows(every: Sequence[Errors]) -> list[_Row]:
        return [
            ("error rate", *map(_rate, every)),
            ("decisions", *(str(errors.decisions) for errors in every)),
            ("blunders", *(str(errors.blunders) for errors in every)),
            ("lost", *(_amount(errors.total, errors.cost, unit) for errors in every)),
        ]

    overall = [
        ("rating", *(player.rating or _NONE for player in both)),
        *error_rows([player.overall for player in both]),
        ("PR", *(_number(player.pr) for player in both)),
        ("Snowie error rate", *(_number(player.snowie) for player in both)),
        *((mark, *(str(player.marks.get(mark, 0)) for player in both)) for mark in both[0].marks),
    ]
    forced = ("forced plays", *(str(player.forced) for player in both))
    chequer = [*error_rows([player.chequer for player in both]), forced]
    cube = [
        (_plural(kind), *(_mistakes(player.mistakes[kind], unit) for player in both))
        for kind in both[0].mistakes
    ]
    luck = [
        ("rolls", *(str(player.luck.count) for player in both)),
        ("luck", *(_amount(player.luck.total, player.luck.result, unit, sign="+") for player in both)),
    ]
    if both[0].result is not None:
        luck.append(("result", *(_result(player.result, unit) for player in both)))
        luck.append(("luck-adjusted result", *(_result(player.luck_adjusted, unit) for player in both)))
    by_kind = [
        (kind, *(_of_kind(player.kinds.get(kind)) for player in both))
        for kind in KINDS_OF_DECISION
        if any(kind in player.kinds for player in both)
    ]
    return [
        ("All decisions", overall),
        ("Checker plays", chequer),
        ("Cube", [*error_rows([player.cube for player in both]), *cube]),
        ("Luck", luck),
        ("By kind of decision", by_kind),
    ]


def _mistakes(mistakes: Sum, unit: CostUnit) -> str:
    lost = f", lost {_amount(mistakes.total, mistakes.result, unit)}" if mistakes.count else ""
    return f"{mistakes.count}{lost}"


def game_rows(analysis: MatchAnalysis) -> list[tuple[str, ...]]:
    """Return each game's number, score, winner and points, and both players' error rates and luck."""
    rows: list[tuple[str, ...]] = []
    for number, (game, pair) in enumerate(zip(analysis.record.games, analysis.by_game, strict=True), 1):
        won = _NONE
        if game.result is not None:
            won = f"{analysis.names[game.result.winner]}, {counted(game.result.points, 'point')}"
        cells = [(_rate(player.overall, with_se=False), f"{player.luck.total:+z.3f}") for player in pair]
        rows.append((str(number), "{}-{}".format(*game.score), won, *cells[0], *cells[1]))
    return rows


def player_rows(players: Sequence[PlayerAnalysis]) -> list[tuple[str, ...]]:
    """Return the totals of each of `players`, under `PLAYER_TITLES`."""
    return [
        (
            player.name,
            str(player.overall.decisions),
            _rate(player.overall),
            player.rating or _NONE,
            _number(player.pr),
            _number(player.snowie),
            f"{player.luck.total:+z.3f}",
            _result(player.result, player.unit),
            _result(player.luck_adjusted, player.unit),
        )
        for player in players
    ]


def error_rows(errors: Sequence[MatchDecision], names: tuple[str, str]) -> list[tuple[str, ...]]:
    """Return a row for each of `errors`, under `ERROR_TITLES`, and the total."""
    rows = [
        (
            f"{decision.moment.game}.{decision.moment.move}",
            names[decision.player],
            f"{decision.roll} {decision.done or NO_MOVE}".strip(),
            decision.best or NO_MOVE,
            _cost(decision.error, decision.se),
            decision.source,
            decision.mark,
        )
        for decision in errors
    ]
    total = sum(decision.error for decision in errors)
    return [*rows, ("", "", "", "total", f"{MILLIPOINTS * total:.1f}", "", "")]


def _cost(error: float, se: float | None) -> str:
    return f"{MILLIPOINTS * error:.1f}{plus_minus(se and MILLIPOINTS * se, '.1f')}"


ERROR_TITLES = ("move", "player", "played", "better", "millipoints", "source", "mark")
PLAYER_TITLES = (
    "player", "decisions", "error rate", "rating", "PR", "Snowie", "luck", "result", "luck-adjusted",
)  # fmt: skip
GAME_TITLES = ("game", "score", "won by")


def _of_kind(errors: Errors | None) -> str:
    if errors is None:
        return _NONE
    return f"{_rate(errors, with_se=False)} ({counted(errors.decisions, 'decision')})"


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.1f}"


def _result(value: float | None, unit: CostUnit | None, sign: str = "+") -> str:
    return _NONE if value is None or unit is None else unit.text(value, sign)


def loss_text(error: float, cost: float, unit: CostUnit) -> str:
    """Return the loss of one decision as text."""
    return f"{MILLIPOINTS * error:.0f} millipoints ({unit.text(cost)})"


def play_text(play: WorstPlay) -> tuple[str, str]:
    """Return captions of the play made and the better one."""
    return f"Played: {play.played.notation or NO_MOVE}", f"Better: {play.better.notation or NO_MOVE}"


def _rate(errors: Errors, *, with_se: bool = True) -> str:
    if errors.rate is None:
        return _NONE
    return f"{errors.rate:.1f}" + plus_minus(errors.se, ".1f") * with_se


def _amount(total: float, result: float | None, unit: CostUnit, sign: str = "") -> str:
    return f"{total:{sign}.3f} ({_result(result, unit, sign)})"


def _plural(kind: str) -> str:
    return kind + ("es" if kind.endswith("s") else "s")


def worst_lines(analysis: MatchAnalysis, width: int) -> Iterator[str]:
    """Yield lines on the worst decisions, with boards side by side if they fit into `width` columns."""
    unit = analysis.unit
    if analysis.plays:
        yield from ("The worst plays", "")
    for number, play in enumerate(analysis.plays, 1):
        yield from _play_lines(number, play, unit, width)
    if analysis.cubes:
        yield from ("The worst cube decisions", "")
    for number, cube in enumerate(analysis.cubes, 1):
        yield from _cube_lines(number, cube, analysis.names, unit)
    yield from _small_errors(analysis)


def _small_errors(analysis: MatchAnalysis) -> Iterator[str]:
    """Yield the total of the errors that are not shown."""
    shown = [decision.moment for decision in analysis.plays]
    acts = [(decision.act.chance, decision.act.done) for decision in analysis.cubes]
    rest = [
        decision
        for decision in analysis.errors()
        if decision.moment not in shown and (decision.moment, decision.done) not in acts
    ]
    if rest:
        lost = MILLIPOINTS * sum(decision.error for decision in rest)
        kind = "smaller or uncertain " * bool(shown or acts)
        what = counted(len(rest), f"{kind}error")
        yield f"{what}: {lost:.1f} millipoints in total; --html lists each, --moves every decision"
        yield ""


def _play_lines(number: int, play: WorstPlay, unit: CostUnit, width: int) -> Iterator[str]:
    moment = play.moment
    yield f"{number}. {play.heading}: loses {loss_text(play.shown, play.cost, unit)}"
    yield f" {moment.id}"
    captions = (f" {caption}" for caption in play_text(play))
    after = (play.played.position, play.better.position)
    yield from boards_after(list(zip(captions, after, strict=True)), width)
    if play.why:
        yield f" {play.why.summary}"
        yield from (f" {reason}" for reason in _reasons(play.why))
    yield ""


def _reasons(why: Explanation) -> list[str]:
    """Return the sentences of `why`, marked + if they favour the better play and - if the actual play."""
    return [f"{'+' if reason.play == 'better' else '-'} {reason.sentence}" for reason in why.shown_reasons]


def _cube_lines(number: int, cube: WorstCube, names: tuple[str, str], unit: CostUnit) -> Iterator[str]:
    moment = cube.act.chance
    seats = names[moment.player], names[1 - moment.player]
    yield f"{number}. {cube.heading}, loses {loss_text(cube.shown, cube.cost, unit)}"
    yield text_diagram(moment.position, cube.shown_state, seats)
    yield " " + "; ".join(f"{what} {value:+z.3f}" for what, value in cube.act.decision.equities.items())
    yield from (f" {cube_words(cube.act.decision)}", "")


def match_page(analysis: MatchAnalysis) -> str:
    """Return the self-contained HTML page of `analysis`."""
    unit = analysis.unit
    return rendered(
        "match_page.html",
        analysis.title,
        names=analysis.names,
        opening=analysis.opening,
        figures={
            name: {what: list(map(_unbroken, figures)) for what, *figures in rows}
            for name, rows in sections(analysis)
        },
        games=_games(analysis),
        reading=reading_of_figures(analysis),
        jokers=[luck.line(analysis.names[luck.roll.player]) for luck in analysis.jokers(_JOKERS)],
        errors=error_rows(analysis.errors(), analysis.names),
        error_titles=ERROR_TITLES,
        plays=[_play_decision(play, unit) for play in analysis.plays],
        cubes=[_cube_decision(cube, unit) for cube in analysis.cubes],
    )


_JOKERS = 5
"""Number of luckiest rolls on the page."""


def _games(analysis: MatchAnalysis) -> dict[str, dict[str, list[str]]]:
    """Return figures by game; empty for a single game."""
    if analysis.games < 2:
        return {}
    rows = {}
    for number, score, won, rate, luck, other_rate, other_luck in game_rows(analysis):
        figures = [won, f"{rate} / {other_rate}", f"{luck} / {other_luck}"]
        rows[_unbroken(f"game {number} at {score}")] = figures
    return {"": rows}


def _play_decision(play: WorstPlay, unit: CostUnit) -> ShownDecision:
    drawn = play.played.moves, play.better.moves
    return ShownDecision(
        f"{play.heading}: loses {_unbroken(loss_text(play.shown, play.cost, unit))}",
        play.moment.position,
        play.moment.state,
        list(zip(play_text(play), drawn, strict=True)),
        words=play.why.summary if play.why else "",
        reasons=_reasons(play.why) if play.why else [],
    )


def _cube_decision(cube: WorstCube, unit: CostUnit) -> ShownDecision:
    return ShownDecision(
        f"{cube.heading}, loses {_unbroken(loss_text(cube.shown, cube.cost, unit))}",
        cube.act.chance.position,
        cube.act.chance.state,
        [("", ())],
        ("equity", "action"),
        [ShownAction(f"{value:+z.3f}", what) for what, value in cube.act.decision.equities.items()],
        cube.shown_state,
        words=cube_words(cube.act.decision),
    )


def _unbroken(text: str) -> str:
    """Return `text` with non-breaking spaces between numbers and units, and hyphens between scores."""
    space = "\N{NO-BREAK SPACE}"
    text = text.replace(" % MWC", f"{space}%{space}MWC")
    text = re.sub(r"(?<=\d) (?=point|decision)", space, text)
    return re.sub(r"(?<=\d)-(?=\d)", "\N{NON-BREAKING HYPHEN}", text)


def check_export(path: Path, matches: int) -> None:
    """Raise `SettingError` unless the format of `path` can hold that many analysed `matches`."""
    suffix = path.suffix.lower()
    if suffix not in (*WRITTEN_SUFFIXES, *TABLE_SUFFIXES):
        known = ", ".join((*WRITTEN_SUFFIXES, *TABLE_SUFFIXES))
        raise SettingError(f"{path}: the name must end in one of {known}")
    if suffix in WRITTEN_SUFFIXES and matches > 1:
        raise SettingError(f"{path}: a {suffix} file holds one match, not {matches}")


def write_export(path: Path, analyses: Sequence[tuple[str, MatchAnalysis]]) -> None:
    """Write `analyses`, each with its file name, to `path` in the format of its suffix.

    A .mat or .sgf file is the annotated record, in .sgf with gnubg's marks; .csv and .parquet have a row per
    decision.  The format must be able to hold them (`check_export`).  Raises `FileError`.
    """
    suffix = path.suffix.lower()
    if suffix in WRITTEN_SUFFIXES:
        analysis = analyses[0][1]
        write_match(path, analysis.record, analysis.notes())
        return
    rows = [{"file": encodable(name), **row} for name, one in analyses for row in one.rows()]
    if suffix == ".csv":
        write_text(path, csv_text(_COLUMNS, ([_cell(row[column]) for column in _COLUMNS] for row in rows)))
        return
    import pyarrow as pa

    from motif.runtime.parquet import write_parquet

    write_parquet(path, pa.table({column: [row[column] for row in rows] for column in _COLUMNS}))


_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of texts that spreadsheets evaluate; names come from other people's files."""


def _cell(value: object) -> object:
    """Return `value` for CSV: empty for None, six significant digits for numbers, no formula."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULAS) else value
    if isinstance(value, bool):
        return int(value)
    return f"{value:.6g}" if isinstance(value, float) else value
