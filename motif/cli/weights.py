"""Commands about weight files: terms, inspect, calibrate, export."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from motif.analysis.judge import evaluator_of
from motif.cli.options import (
    DEFAULT_PLAYER,
    PLAYERS,
    HtmlOption,
    JobsOption,
    JsonOption,
    SeedOption,
    command,
    complete_player,
    option,
    player_option,
)
from motif.cli.printing import json_line, print_table, say
from motif.runtime.errors import PlayerError, SettingError
from motif.runtime.files import check_target

if TYPE_CHECKING:
    from motif.analysis.term_report import EffectSummary, TermSummary
    from motif.analysis.unit_report import UnitSummary
    from motif.board.packed import Board
    from motif.evaluators import StaticEvaluator, WeightFile
    from motif.fitting.significance import HeadTerms
    from motif.learning.recalibration import Calibration, Change, Measured

_OWN_GAMES = 2000
"""Positions of an evaluator's own games over which its terms are compared."""
_Head = Literal["win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon", "equity"]
_Weights = Annotated[
    str,
    typer.Argument(
        metavar="WEIGHTS",
        help="A weight file, the name of one, bras or phase.",
        autocompletion=complete_player,
    ),
]
TopOption = Annotated[int, option("How many terms.", min=1)]


@command(
    "terms motif-v1",
    "terms runs/demo/v1/weights.yaml --data runs/demo/v1/samples",
    "terms motif-v14 --unit opp_bar",
)
def terms(
    weights: _Weights,
    table: Annotated[Path | None, option("The table of terms made with the weights.", name="--terms")] = None,
    data: Annotated[Path | None, option("The dataset they were fitted to.", "DIR")] = None,
    positions: Annotated[
        str | None,
        option(
            "Positions, one a line, over which terms are compared; - is standard input.",
            "FILE",
            show_default=f"{_OWN_GAMES} of its own games",
        ),
    ] = None,
    head: Annotated[_Head | None, option("What they judge.", show_default="what chooses plays")] = None,
    class_name: Annotated[
        Literal["contact", "crashed", "race"], option("Positions of which class.", name="--class")
    ] = "contact",
    top: TopOption = 20,
    unit: Annotated[
        str | None, option("Draw where this hidden unit is largest and smallest.", "NAME")
    ] = None,
    boards_shown: Annotated[
        int, option("How many boards of each kind with --unit.", name="--boards", min=1)
    ] = 3,
    html: HtmlOption = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Tell in words what a weight file looks at, and which of its terms matter most.

    First what more of each parameter is worth along positions that occur, then the terms, then the hidden
    units where the file has any. With --terms or --data also how sure each weight is, its standard error.
    With --unit boards on which that unit is largest and smallest, and nothing else.
    """
    from motif.analysis.term_report import chosen_head, effect_summaries, observed_positions, term_summaries
    from motif.analysis.unit_report import unit_summaries
    from motif.evaluators import load_static
    from motif.reports.term_pages import reading, terms_page

    _only_one({"--terms": table, "--data": data, "--positions": positions})
    evaluator = load_static(weights)
    if evaluator.weights is None:
        raise SettingError(f"{weights!r} has no weights to report on")
    if unit is not None:
        _only_one({"--unit": unit, "--terms": table, "--head": head, "--html": html})
        _show_unit(evaluator, (class_name, unit), (data, positions, seed, jobs), boards_shown, json)
        return
    head_name = chosen_head(evaluator.weights, class_name, head)
    place = class_name, head_name
    statistics, source, boards = _statistics(evaluator, place, table, data, positions, seed, jobs)
    seen = observed_positions(evaluator.weights, boards, *place)
    effects, sentences = effect_summaries(seen, top), term_summaries(evaluator.weights, statistics, seen, top)
    title = f"{evaluator.weights.name}: its terms in {class_name} positions"
    count = len(statistics.names) - 1
    every = unit_summaries(evaluator.weights, class_name, head_name, seen.boards)
    beside, units = f" and {len(every)} hidden units" if every else "", every[:top]
    opening = (
        f"The {len(effects)} parameters that move the {head_name} head most, and the {len(sentences)} most "
        f"important of its {count:,} terms{beside}, from {source}. "
        "The values are those of the player on roll."
    )
    notes = reading(sentences, head_name)
    if html is not None:
        from motif.reports.analysis_plots import effects_picture
        from motif.runtime.files import write_text

        shown = effects_picture(seen, effects, f"{evaluator.weights.name}: what more of it is worth")
        page = terms_page(title, opening, notes, sentences, effects, shown, head_name, units)
        write_text(html, page)
    if json:
        asked = {"weights": evaluator.weights.name, "class": class_name, "head": head_name}
        facts = {"source": source, "count": count, "slope": statistics.statistics.slope, "html": html}
        told = {"parameters": [*map(asdict, effects)], "terms": [*map(asdict, sentences)]}
        print(json_line({**asked, **facts, **told, "patterns": [*map(asdict, units)]}))
        return
    say(f"{title}\n{opening}")
    _print_terms(effects, sentences, head_name)
    say("\n".join(notes))
    if units:
        _print_units(units)


def _only_one(options: Mapping[str, object]) -> None:
    """Raise `SettingError` where more than one of the `options` is given."""
    named = [option for option, value in options.items() if value is not None]
    if len(named) > 1:
        raise SettingError(f"{' and '.join(named)} exclude each other")


def _print_terms(effects: "Sequence[EffectSummary]", terms: "Sequence[TermSummary]", head: str) -> None:
    """Print what more of parameters is worth, and the terms of the head called `head`."""
    from motif.reports.term_pages import effects_reading, errors_known, moved, signed

    print_table(
        ("what more of it is worth", "moves"),
        [(f"{effect.sentence}\n{effect.name}", moved(effect, head)) for effect in effects],
    )
    say(effects_reading(head))
    titles = ("term", "moves", *(["z of effect"] if errors_known(terms) else []))
    above = {effect.name for effect in effects}
    rows = [
        (
            term.name if term.name in above else f"{term.sentence}\n{term.name}",
            moved(term, head),
            signed(term.effect_z, 1),
        )[: len(titles)]
        for term in terms
    ]
    print_table(titles, rows)


def _print_units(units: "Sequence[UnitSummary]") -> None:
    from motif.reports.term_pages import signed, units_reading

    print_table(
        ("where a unit is large", "moves", "largest", "smallest", "on"),
        [
            (
                f"{one.words}\n{one.name}",
                f"{one.moves:.3f}",
                signed(one.high, 3),
                signed(one.low, 3),
                f"{one.on:.0%}",
            )
            for one in units
        ],
    )
    say(units_reading())


def _show_unit(
    evaluator: "StaticEvaluator",
    unit: tuple[str, str],
    source: tuple[Path | None, str | None, int, int | None],
    count: int,
    json: bool,
) -> None:
    """Print where a hidden `unit` (class, name) is largest and smallest among positions.

    These come from `source` (dataset, file, seed, jobs).
    """
    from motif.analysis.unit_report import (
        UnitBoard,
        extremes,
        extremes_text,
        facts_of,
        layer_with,
        unit_summaries,
    )
    from motif.board.identifiers import gnubg_ids

    (class_name, name), weights = unit, evaluator.weights
    assert weights is not None
    layer_with(weights, class_name, name)
    boards = _positions(evaluator, class_name, *source)
    told = next(of for of in unit_summaries(weights, class_name, "win", boards) if of.name == name)
    found = extremes(weights, class_name, name, boards, count)

    def records(found_boards: "Sequence[UnitBoard]") -> list[dict[str, Any]]:
        ids = gnubg_ids([of.board for of in found_boards])
        return [
            {"position": id, "pattern": of.squashed, "equity": of.equity, "adds": of.adds}
            for id, of in zip(ids, found_boards, strict=True)
        ]

    if json:
        facts = {"weights": weights.name, "class": class_name, "pattern": asdict(told)}
        both = {"largest": records(found.largest), "smallest": records(found.smallest)}
        print(json_line({**facts, **both}))
        return
    say(f"{name}: {told.words}\n{facts_of(told)}\n")
    print(extremes_text(found))


def _positions(
    evaluator: "StaticEvaluator",
    class_name: str,
    data: Path | None,
    positions: str | None,
    seed: int,
    jobs: int | None,
) -> "Board":
    """Return positions of a class: of a dataset, of a file, or of the evaluator's own games."""
    from motif.analysis.term_report import dataset_boards, game_boards
    from motif.players.player import static_player

    if data is not None:
        return dataset_boards(data, class_name)
    if positions is not None:
        from motif.analysis.position_records import read_positions

        return read_positions(positions)
    return game_boards(static_player(evaluator), _OWN_GAMES, class_name, seed=seed, jobs=jobs)


def _statistics(
    evaluator: "StaticEvaluator",
    place: tuple[str, str],
    table: Path | None,
    data: Path | None,
    positions: str | None,
    seed: int,
    jobs: int | None,
) -> "tuple[HeadTerms, str, Board]":
    """Return the statistics of the head at `place` (class, head), their source, and positions."""
    from motif.analysis.term_report import board_terms, dataset_terms, table_terms

    weights = evaluator.weights
    assert weights is not None
    known, source = None, ""
    if table is not None:
        known, source = table_terms(table, weights, *place), str(table)
    elif data is not None:
        known, count = dataset_terms(data, weights, *place)
        source = f"{count:,} positions in {data}"
    boards = _positions(evaluator, place[0], data, positions, seed, jobs)
    if known is not None:
        return known, source, boards
    statistics, count = board_terms(boards, weights, *place)
    where = f"in {positions}" if positions is not None else "of its own games"
    return statistics, f"{count:,} positions {where}", boards


@command("inspect bras --out runs/bras", "inspect motif-v1 --out runs/contact --class contact")
def inspect(
    weights: _Weights,
    out: Annotated[Path, option("The folder that it makes.", "DIR")],
    player: Annotated[
        str | None,
        player_option(f"Whose games give the positions: random, too. {PLAYERS}", show_default="WEIGHTS"),
    ] = None,
    dataset: Annotated[Path | None, option("Take a dataset's positions instead.", "DIR")] = None,
    positions: Annotated[int, option("How many, of a dataset at most.")] = 10_000,
    class_name: Annotated[
        Literal["contact", "crashed", "race", "all"], option("Only positions of this class.", name="--class")
    ] = "all",
    head: Annotated[_Head, option("What the weights judge.")] = "win",
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Analyse the features of an evaluator.

    Scores, features, how these hang together, which are important, and how much each moves the score:
    pictures, tables and a page, in a new folder; docs/how-to/analysis.md in motif's source explains them.
    """
    from motif.evaluators import load_static
    from motif.players import load
    from motif.reports.analysis_page import analyse as make_analysis

    facts = make_analysis(
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
        print(json_line({**facts, "out": out, "files": [out / name for name in facts["files"]]}))
        return
    rows = [
        (feature["name"], f"{feature['weight']:+.3f}", f"{feature['importance']:.3f}")
        for feature in facts["most_important"]
    ]
    print_table(("most important", "weight", "|weight| x SD"), rows)
    raw, value = facts["raw"], facts["value"]
    unit = f" {value['unit']}" if value["unit"] else ""
    say(
        f"{raw['name']} {raw['mean']:.2f} ± {raw['std']:.2f}, {value['name']} {value['mean']:.2f} ± "
        f"{value['std']:.2f}{unit} (SD), over {facts['positions']} positions"
    )
    print(out / "report.html")


@command(
    "calibrate runs/try --player bras --out better.yaml --plot bras.png",
    "evaluate 4HPwATDgc/ABMA --player better.yaml",
    "calibrate matches/ --player motif-v1",
    "calibrate scores.csv --plot scores.png",
)
def calibrate(
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA...",
            help="A dataset made by sample; match files and folders of these; or a CSV with the columns "
            "outcome (1 where the player on roll won, else 0) and position, score or chance.",
        ),
    ],
    player: Annotated[str | None, player_option(PLAYERS, show_default=DEFAULT_PLAYER)] = None,
    out: Annotated[Path | None, option("Write the player's weights, calibrated: NAME.yaml.")] = None,
    plot: Annotated[Path | None, option("Draw chances before and after, to a PNG or SVG.")] = None,
    share: Annotated[float, option("Share of the games to fit on.", "SHARE")] = 0.5,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Make the win chances of a player agree with rollouts, or with games that were played.

    For each class of positions a rising curve from the stated chance to the share of rollouts or games
    won is fitted to some of the games. The Brier score and the log-loss, before and after, are those on
    the other games; differences are after less before, with their standard errors over games. The curve
    rises: two plays of one class that the win chance ranks keep their order. The scores of a CSV are
    calibrated as they are, in one class; with --player and --out they are taken for that player's.
    """
    from motif.learning.recalibration import ALL, calibrated_weights, fitted_to, weights_behind
    from motif.learning.recalibration import calibrate as make_calibration
    from motif.reports.style import check_picture
    from motif.sampling.game_results import ScoreResults, read_results

    for target in filter(None, (out, plot)):
        check_target(target)
    if out is not None and out.suffix not in (".yaml", ".yml"):
        raise SettingError(f"--out {out}: a weight file's name must end in .yaml or .yml")
    if plot is not None:
        check_picture(plot)
    # A player that makes no sense is refused before files are read.
    named = None if player is None else evaluator_of(player)
    if out is not None and named is not None:
        weights_behind(named)
    results = read_results(data)
    if not isinstance(results, ScoreResults):
        player = player or DEFAULT_PLAYER
        named = named or evaluator_of(player)
    elif out is not None and named is None:
        raise SettingError(f"--out {out}: --player must say whose scores {results.name} holds")
    calibration = make_calibration(results, named, share=share, seed=seed, jobs=jobs)
    seen = fitted_to(named, results)
    if out is not None and named is not None:
        calibrated_weights(named, calibration, out.stem).save(out)
    if plot is not None:
        from motif.reports.calibration_plots import plot_recalibration

        plot_recalibration(calibration, player or results.name, plot)
    if json:
        print(
            json_line(
                {"player": player}
                | calibration.to_dict()
                | {"seen": seen, "files": {"weights": out, "plot": plot}}
            )
        )
        return
    _print_groups(calibration)
    whole = calibration.groups[ALL]
    say(
        f"fitted on {calibration.facts['positions']:,} positions of {calibration.facts['games']:,} games, "
        f"measured on {whole.positions:,} of {whole.games:,} others"
    )
    say(_verdict(whole.log_loss))
    if seen:
        say(f"{player} was itself fitted to this dataset: games that it has not seen tell more")
    for path in filter(None, (out, plot)):
        print(path)


def _print_groups(calibration: "Calibration") -> None:
    columns = ("class", "positions", "games", "knots", "log-loss", "after", "difference", "Brier", "after")
    print_table(
        (*columns, "difference"),
        [_cells(name, of, calibration.knots) for name, of in calibration.groups.items()],
    )


def _cells(name: str, measured: "Measured", knots: Mapping[str, Any]) -> list[str]:
    counts = f"{measured.positions:,}", f"{measured.games:,}", str(len(knots[name])) if name in knots else ""
    return [name, *counts, *_change_cells(measured.log_loss), *_change_cells(measured.brier)]


def _change_cells(of: "Change") -> tuple[str, str, str]:
    return f"{of.before:.4f}", f"{of.after:.4f}", f"{of.difference:+.4f} ± {of.se:.4f}"


def _verdict(log_loss: "Change") -> str:
    if log_loss.clear:
        return "a clear gain: the log-loss falls by more than its standard error"
    return "no clear gain: the log-loss does not fall by more than its standard error"


@command("export motif-v1 --onnx motif-v1.onnx")
def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE.yaml", help="A weight file, or the name of one: motif-v1, bras.")
    ],
    onnx: Annotated[str, option("The ONNX file; in a folder that exists, evaluator.onnx.", "OUT")],
    json: JsonOption = False,
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
    say(f"{path}: {weights.name} as ONNX, {size:,} bytes; it plays as onnx:{path}")


def _weights_of(name: str) -> "WeightFile":
    """Return the weight file called `name`; raises `PlayerError` for a player that is none."""
    from motif.evaluators import load_static
    from motif.evaluators.static import BEAROFF_SUFFIX

    weights = load_static(name).weights
    if weights is None:
        raise PlayerError(f"{name!r} has no weights to export; a weight file is needed")
    if name.endswith(BEAROFF_SUFFIX):
        raise PlayerError(f"{name!r} has tables beside its weights; only a weight file can be exported")
    return weights
