"""Commands about weight files: terms, inspect, calibrate and export."""

import sys
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from motif.analysis.judge import evaluator_of
from motif.analysis.phrases import LANGUAGE, Phrases, phrases
from motif.cli.options import (
    DEFAULT_PLAYER,
    PLAYERS,
    HtmlOption,
    JobsOption,
    JsonOption,
    LanguageOption,
    SeedOption,
    Settings,
    argument,
    command,
    complete_player,
    option,
    picture_option,
    player_option,
    weights_name,
    weights_option,
)
from motif.cli.printing import note, print_table, printed_json, say
from motif.runtime.errors import PlayerError, SettingError
from motif.runtime.files import check_apart, check_target
from motif.runtime.layout import columns, counted, percent, plus_minus
from motif.runtime.settings import check_only_one

if TYPE_CHECKING:
    from motif.analysis.unit_report import UnitSummary
    from motif.evaluators import StaticEvaluator
    from motif.learning.recalibration import Calibration, Measured
    from motif.reports.term_pages import TermReport

_Head = Literal["win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon", "equity"]
_Weights = Annotated[
    str,
    argument(
        "Weight file, or name of weights such as motif-v1, bras or phase.",
        "WEIGHTS",
        autocompletion=complete_player,
    ),
]


@dataclass(frozen=True)
class TermSource:
    """Source of the positions over which terms are compared, or of statistics of terms."""

    table: Annotated[
        Path | None, option("Table of terms written by `motif fit --term-table`.", name="--terms")
    ] = None
    data: Annotated[Path | None, option("Dataset to which the weights were fitted.", "DIR")] = None
    positions: Annotated[
        str | None,
        option(
            "File of positions, one per line; - for standard input.",
            "FILE",
            show_default="2000 self-play positions",
        ),
    ] = None


@dataclass(frozen=True)
class UnitChoice:
    """A hidden unit to show."""

    unit: Annotated[
        str | None, option("Hidden unit to show, with boards on which it is largest and smallest.", "NAME")
    ] = None
    boards_shown: Annotated[
        int, option("With --unit: number of boards for each extreme.", name="--boards", min=1)
    ] = 3


@command(
    "terms motif-v1",
    "terms runs/demo/v1/weights.yaml --data runs/demo/v1/samples",
    "terms latest --unit opp_bar",
    "terms motif-v1 --class race --language de",
)
def terms(
    weights: _Weights,
    *,
    source: Annotated[TermSource, Settings()],
    head: Annotated[
        _Head | None, option("Output to report on.", show_default="equity, or win if there is none")
    ] = None,
    position_class: Annotated[
        Literal["contact", "crashed", "race"], option("Class of positions.", name="--class")
    ] = "contact",
    top: Annotated[int, option("Number of terms to show.", min=1)] = 20,
    shown: Annotated[UnitChoice, Settings()],
    language: LanguageOption = LANGUAGE,
    html: HtmlOption = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Describe a weight file and its most important terms in words.

    Shows the effects of the parameters on the value in typical positions, then the most important terms, then
    any hidden units.  --terms and --data add the standard error of each weight.  --unit shows only the boards
    on which one hidden unit is largest and smallest.  Descriptions of hidden units are in English in every
    --language.
    """
    from motif.evaluators.known_players import load_weighted
    from motif.reports.term_pages import term_report

    phrases(language)  # An unknown language should fail before the weights are read.
    check_only_one(table=source.table, data=source.data, positions=source.positions)
    check_apart([weights, source.table, source.positions], html)
    evaluator = load_weighted(weights)
    if shown.unit is not None:
        check_only_one(unit=shown.unit, table=source.table, head=head, html=html)
        _show_unit(evaluator, position_class, shown.unit, source, shown.boards_shown, json, seed, jobs)
        return
    report = term_report(
        evaluator,
        table=source.table,
        data=source.data,
        positions=source.positions,
        head=head,
        position_class=position_class,
        top=top,
        language=language,
        seed=seed,
        jobs=jobs,
    )
    if report.note:
        note(f"no standard errors: {report.note}")
    if html is not None:
        report.write(html)
    if not printed_json(json, {**report.to_dict(), "html": html}):
        _print_terms(report)


def _print_terms(report: "TermReport") -> None:
    from motif.reports.term_pages import effects_reading, errors_known, moved, reading_of_terms, signed

    say(f"{report.title}\n{report.opening}")
    effects, terms, head, words = report.effects, report.terms, report.key.head, report.words
    print_table(
        _titles(words, "effect", "moves"),
        [(f"{effect.sentence}\n{effect.name}", moved(effect, head, words)) for effect in effects],
    )
    say(effects_reading(head, words.language))
    titles = _titles(words, "term", "moves", *(["z"] if errors_known(terms) else []))
    above = {effect.name for effect in effects}
    rows = [
        (
            term.name if term.name in above else f"{term.sentence}\n{term.name}",
            moved(term, head, words),
            signed(term.effect_z, 1, words),
        )[: len(titles)]
        for term in terms
    ]
    print_table(titles, rows)
    say("\n".join(reading_of_terms(terms, head, words.language)))
    if report.units:
        _print_units(report.units, words)


def _titles(words: Phrases, *names: str) -> list[str]:
    return [words.say("term_report", f"{name}_column") for name in names]


def _print_units(units: "Sequence[UnitSummary]", words: Phrases) -> None:
    from motif.reports.term_pages import signed

    rows = [
        (
            f"{of.words}\n{of.name}",
            *(words.amount(of.moves), signed(of.high, 3, words), signed(of.low, 3, words), percent(of.on, 0)),
        )
        for of in units
    ]
    print_table(_titles(words, "unit", "moves", "largest", "smallest", "on"), rows)
    say(words.say("term_report", "units_note"))


def _show_unit(
    evaluator: "StaticEvaluator",
    position_class: str,
    name: str,
    source: TermSource,
    count: int,
    json: bool,
    seed: int,
    jobs: int | None,
) -> None:
    """Print the `count` boards on which a hidden unit is largest, and as many on which it is smallest."""
    from motif.analysis.unit_report import extremes, extremes_text, facts_of, layer_with
    from motif.evaluators.static import weights_of
    from motif.reports.term_pages import term_boards

    weights = weights_of(evaluator)
    layer_with(weights, position_class, name)
    boards = term_boards(
        evaluator, position_class, data=source.data, positions=source.positions, seed=seed, jobs=jobs
    )
    found = extremes(weights, position_class, name, boards, count)
    if printed_json(json, found.to_dict()):
        return
    say(f"{name}: {found.unit.words}\n{facts_of(found.unit)}\n")
    print(extremes_text(found, columns(sys.stdout)))


@command("inspect bras --out runs/bras", "inspect motif-v1 --out runs/contact --class contact")
def inspect(
    weights: _Weights,
    out: Annotated[Path, option("Folder to write, new or empty.", "DIR")],
    player: Annotated[
        str | None,
        player_option(
            f"Player whose games provide the positions, also random. {PLAYERS}", show_default="WEIGHTS"
        ),
    ] = None,
    dataset: Annotated[Path | None, option("Dataset to take positions from instead of games.", "DIR")] = None,
    positions: Annotated[int, option("Number of positions; all of a smaller dataset.")] = 10_000,
    position_class: Annotated[
        Literal["contact", "crashed", "race", "all"], option("Class of positions.", name="--class")
    ] = "all",
    head: Annotated[_Head, option("Output to analyse.")] = "win",
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Analyse the features of an evaluator.

    Writes a folder with plots, tables and an HTML page on the scores and the features: their correlations,
    importance and effects.  docs/how-to/analysis.md in motif's source explains them.
    """
    from motif.analysis.evaluator_analysis import MAX_IMPORTANT
    from motif.reports.analysis_page import inspect as inspected

    written = inspected(
        weights,
        out,
        player=player,
        dataset=dataset,
        positions=positions,
        head=head,
        position_class=position_class,
        seed=seed,
        jobs=jobs,
    )
    if printed_json(json, written.to_dict()):
        return
    analysis = written.analysis
    table, scale, raw, values = analysis.table, analysis.scale, analysis.judged.raw, analysis.values
    rows = [
        (analysis.parameters.names[k], f"{table.weight[k]:+z.3f}", f"{table.importance[k]:.3f}")
        for k in analysis.by_importance[:MAX_IMPORTANT]
    ]
    print_table(("most important", "weight", "|weight| x SD"), rows)
    unit = f" {scale.unit}" if scale.unit else ""
    say(
        f"mean ± SD over {len(raw):,} positions: {scale.raw} {raw.mean():.2f} ± {raw.std():.2f}, "
        f"{scale.value} {values.mean():.2f} ± {values.std():.2f}{unit}"
    )
    print(written.page)


@command(
    "calibrate runs/try --player bras --out better.yaml --plot bras.png",
    "evaluate 4HPwATDgc/ABMA --player better.yaml",
    "calibrate matches/ --player motif-v1",
    "calibrate scores.csv --plot scores.png",
)
def calibrate(
    data: Annotated[
        list[Path],
        argument(
            "A dataset; or match files and folders of match files; or a CSV file with a column outcome (1 if "
            "the player on roll won, otherwise 0) and a column position, score or chance.",
            "DATA...",
        ),
    ],
    player: Annotated[str | None, player_option(PLAYERS, show_default=DEFAULT_PLAYER)] = None,
    out: Annotated[Path | None, weights_option("Calibrated weight file to write, NAME.yaml.")] = None,
    plot: Annotated[Path | None, picture_option("Plot of probabilities before and after")] = None,
    share: Annotated[float, option("Share of the games to fit on, 0 to 1.", "SHARE")] = 0.5,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Calibrate the win probabilities of a player to rollouts or to played games.

    Fits, for each class of positions, an increasing curve from the predicted probability to the share of wins
    on part of the games; plays of one class ranked by win probability keep their order.  Brier score and
    log-loss are those of the remaining games, with differences (after minus before) and their standard errors
    by game.  Scores in a CSV file are calibrated as one class; --out then requires --player, whose scores
    they are.
    """
    from motif.learning.recalibration import calibrate as make_calibration
    from motif.learning.recalibration import calibrated_weights, fitted_to, weights_behind
    from motif.sampling.game_results import ScoreResults, read_results

    check_apart([*data, player], out)
    name = "" if out is None else weights_name(out)
    # An invalid player is refused before files are read.
    named = None if player is None else evaluator_of(player)
    if out is not None and named is not None:
        weights_behind(named)
    results = read_results(data)
    if not isinstance(results, ScoreResults):
        player = player or DEFAULT_PLAYER
        named = named or evaluator_of(player)
    elif out is not None and named is None:
        raise SettingError(f"--out {out} requires --player, whose scores {results.name} contains")
    calibration = make_calibration(results, named, share=share, seed=seed, jobs=jobs)
    seen = fitted_to(named, [results.fingerprint])
    if out is not None and named is not None:
        calibrated_weights(named, calibration, name).save(out)
    if plot is not None:
        from motif.reports.calibration_plots import plot_recalibration

        plot_recalibration(calibration, player or results.name, plot)
    files = {"weights": out, "plot": plot}
    if printed_json(json, {"player": player, **calibration.to_dict(), "seen": seen, "files": files}):
        return
    _print_calibration(calibration)
    if seen:
        say(f"{player} was fitted to this dataset; held-out games are a better test")
    for path in filter(None, (out, plot)):
        print(path)


def _print_calibration(calibration: "Calibration") -> None:
    from motif.parameters.position_class import ALL

    after = ("after", "difference")
    rows = [_cells(name, of, calibration.knots) for name, of in calibration.groups.items()]
    print_table(("class", "positions", "games", "knots", "log-loss", *after, "Brier", *after), rows)
    facts: Mapping[str, Any] = calibration.facts
    whole = calibration.groups[ALL]
    say(
        f"fitted to {counted(facts['positions'], 'position')} of {counted(facts['games'], 'game')}, measured "
        f"on {counted(whole.positions, 'position')} of {counted(whole.games, 'other game')}"
    )
    improved = "improved: the log-loss decreases by more than its standard error"
    not_improved = "not improved: the log-loss does not decrease by more than its standard error"
    say(improved if whole.log_loss.clear else not_improved)


def _cells(name: str, measured: "Measured", knots: Mapping[str, Sized]) -> list[str]:
    cells = [name, f"{measured.positions:,}", f"{measured.games:,}"]
    cells.append(str(len(knots[name])) if name in knots else "")
    for of in (measured.log_loss, measured.brier):
        cells += [f"{of.before:.4f}", f"{of.after:.4f}", f"{of.difference:+z.4f}{plus_minus(of.se, '.4f')}"]
    return cells


@command("export motif-v1 --onnx motif-v1.onnx")
def export(
    file: Annotated[str, argument("Weight file, or name of weights such as motif-v1 or bras.", "FILE.yaml")],
    onnx: Annotated[
        str, option("ONNX file to write, or an existing folder for the file evaluator.onnx.", "OUT")
    ],
    json: JsonOption = False,
) -> None:
    """Export weights as an ONNX graph.

    In any program that runs ONNX, the graph returns the same probabilities and ranks plays in the same order.
    In motif it plays as onnx:OUT.
    """
    from motif.evaluators.known_players import weights_called
    from motif.evaluators.nets import write_exported
    from motif.evaluators.static import BEAROFF_SUFFIX

    weights = weights_called(file)
    if file.endswith(BEAROFF_SUFFIX):
        raise PlayerError(f"{file!r} has bearoff tables; only weights can be exported")
    check_apart([file], Path(onnx))
    if not Path(onnx).is_dir():
        check_target(Path(onnx), ".onnx")
    path = write_exported(weights, onnx)
    size = path.stat().st_size
    classes = {name: list(heads) for name, heads in weights.classes.items()}
    record = {"file": path, "bytes": size, "player": f"onnx:{path}", "name": weights.name}
    if printed_json(json, {**record, "parameters": weights.parameters.name, "classes": classes}):
        return
    say(f"{path}: {weights.name} as ONNX, {size:,} bytes; it plays as onnx:{path}")
