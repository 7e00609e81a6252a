"""Commands about the cube: cube, cube-efficiency and cube-windows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from motif.analysis.judge import MatchOptions, evaluator_of
from motif.cli.options import (
    DEFAULT_PLAYER,
    JobsOption,
    JsonOption,
    JudgeChoice,
    MaybeId,
    PlayerOption,
    PositionBatch,
    SeedOption,
    Settings,
    StaticOption,
    check_choice,
    command,
    complete_player,
    option,
    picture_option,
)
from motif.cli.printing import note, print_board, print_table, printed_json, say, write_records
from motif.evaluators.known_players import static_words, without_plies
from motif.runtime.errors import PlayerError
from motif.runtime.frames import Record
from motif.runtime.layout import percent, sentence

if TYPE_CHECKING:
    from motif.analysis.cube_records import CubeAnswer
    from motif.doubling.bras_windows import DoublingSet, ScoreWindow
    from motif.doubling.decision import MarketWindow


@command("cube-efficiency --positions 5 --trials 40 --rounds 1 --jobs 1 --seed 1")
def cube_efficiency(
    player: StaticOption = DEFAULT_PLAYER,
    positions: Annotated[int, option("Number of positions per class, from games of the player.")] = 60,
    trials: Annotated[int, option("Number of rollout trials per position.")] = 300,
    rounds: Annotated[
        int, option("Number of rounds of rollouts, each with the x of the previous round.")
    ] = 2,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Fit the cube efficiency of each class of positions.

    The player plays both sides of cubeful money rollouts, with cube decisions by Janowski's model.  The
    efficiency x places the result of the rollouts between a dead cube (0) and a live cube (1).
    """
    from motif.doubling.efficiency_fit import fit_efficiency
    from motif.evaluators import StaticEvaluator

    evaluator = evaluator_of(player)
    if not isinstance(evaluator, StaticEvaluator):
        raise PlayerError(f"invalid player {player!r}: it must be {static_words()}, without lookahead")
    fit = fit_efficiency(evaluator, positions, trials, rounds=rounds, seed=seed, jobs=jobs)
    classes = [vars(of) for of in fit.classes]
    if printed_json(json, {"classes": classes, "rounds": fit.rounds, "trials": trials, "player": player}):
        return
    rows = [
        (of.name, *(f"{x:.3f}" for x in (of.x, of.se, of.default)), f"{of.positions:,}", f"{of.games:,}")
        for of in fit.classes
    ]
    print_table(("class", "x", "standard error", "gnubg's x", "positions", "games"), rows)


@command(
    "cube-windows --games 200 --seed 1",
    "cube-windows --games 200 --plot windows.png",
)
def cube_windows(
    player: PlayerOption = DEFAULT_PLAYER,
    games: Annotated[int, option("Number of games of the player.")] = 1000,
    score: Annotated[
        str,
        option(
            "Score S to measure: bras, or bras:FILE.yaml with your own weights.",
            "BRAS",
            autocompletion=complete_player,
        ),
    ] = "bras",
    plot: Annotated[Path | None, picture_option("Plot of windows, decisions and early zone by S")] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
) -> None:
    """Measure the BRAS scores from which to double and to pass in money play.

    S is the BRAS score of the player on roll.  The decisions are those of --player in the doubling set: the
    contact positions of its self-play games, up to the first double of each game.  Also shows the mean and
    standard deviation of p over that set, a table by ranges of D, and the share of doubles in the article's
    early zone (D at least 0.5).
    """
    from motif.doubling.bras_windows import doubling_set, window_in
    from motif.evaluators.bras import formula_of

    positions = doubling_set(evaluator_of(player), games, formula=formula_of(score), seed=seed)
    window, facts = window_in(positions, seed), positions.to_dict()
    if plot is not None:
        from motif.reports.window_plots import draw_windows

        draw_windows(positions, window, plot)
    if printed_json(json, {**vars(window), "score": score, **facts, "plot": plot}):
        return
    _print_window(positions, window)
    if plot is not None:
        print(plot)


def _print_window(positions: "DoublingSet", window: "ScoreWindow") -> None:
    from motif.doubling.bras_windows import DROP_FROM, EARLY_FROM, LIVE_FROM

    low, high = LIVE_FROM
    rows = [
        ("double from", f"{window.double_from:.1f}", f"{window.double_se:.1f}", f"{low:.0f} to {high:.0f}"),
        ("pass from", f"{window.drop_from:.1f}", f"{window.drop_se:.1f}", f"{DROP_FROM:.0f}"),
    ]
    print_table(("", "S", "standard error", "the article's S"), rows)
    print_table(
        ("D", "positions", "S", "wins", "doubles", "passes"),
        [
            (
                f"{span.d_from:+z.1f} to {span.d_to:+z.1f}",
                f"{span.positions:,}",
                f"{span.score:.1f}",
                *(percent(share) for share in (span.chance, span.doubles, span.drops)),
            )
            for span in positions.ranges()
        ],
    )
    facts = positions.to_dict()
    early = positions.early
    say(
        f"doubling set: {window.positions:,} positions of {window.games:,} games of {window.player}; "
        f"mean of p {facts['score_mean']:.3f}, SD {facts['score_sd']:.3f} by S / 100; "
        f"{facts['chance_mean']:.3f}, SD {facts['chance_sd']:.3f} by {window.player}"
    )
    say(
        f"early zone, D at least {EARLY_FROM} (S at least {early['score_from']:.1f}): "
        f"{percent(early['share'])} of the positions, of which {percent(early['doubles'])} are doubles; "
        f"{percent(early['share_of_doubles'])} of all doubles"
    )


_NEVER = 0.9995
"""Smallest probability that would be shown as 100.0 %."""


@command(
    "cube dPexAAB07zMAAA",
    "cube dPexAAB07zMAAA --cube 2 --owner me --jacoby",
    "cube dPexAAB07zMAAA --length 7 --score 3-5",
    "cube --batch FILE --json",
)
def cube(
    options: Annotated[MatchOptions, Settings()],
    identifier: MaybeId = None,
    *,
    met: Annotated[
        str | None,
        option(
            "Match equity table: kazaross-xg2, rockwell-kazaross, or a file in gnubg's XML format.",
            "NAME",
            show_default="kazaross-xg2",
        ),
    ] = None,
    efficiency: Annotated[
        float | None, option("Cube efficiency, 0 (dead) to 1 (live).", show_default="by class of position")
    ] = None,
    judge: JudgeChoice,
    batch: PositionBatch = None,
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Decide whether to double and whether to take.

    The decision is before the roll; dice in the ID are ignored.  Cube, score and rules are those of the ID,
    overridden by options; the default is money play with a centred cube.  Equities are those of the player on
    roll: for money in units of the cube before the double, in a match normalised so that a single game at
    that cube is -1 or 1.  They are exact when few checkers are left to bear off, unless --efficiency is
    given.
    """
    from motif.analysis.batch_files import read_states
    from motif.analysis.cube_records import cube_answers
    from motif.board.parsing import parse_position
    from motif.doubling import match_equity_table

    check_choice(identifier, batch, "ID")
    table = match_equity_table(met) if met else None
    player, evaluator = judge.load(with_cube=True)
    items = [parse_position(identifier)] if identifier is not None else read_states(batch or "")
    questions = [(position, options.state_of(match)) for position, match in items]
    answers = cube_answers(questions, evaluator, player, efficiency=efficiency, table=table, jobs=jobs)
    if batch is not None:
        write_records((answer.record() for answer in answers), len(questions), json, _line)
        return
    print_answer(next(answers), player, json, modelled=efficiency is not None)


def print_answer(answer: "CubeAnswer", player: str, json: bool, *, modelled: bool = False) -> None:
    """Print a cube decision of the player named `player`, with equities of the cube model if `modelled`."""
    record = answer.record()
    if printed_json(json, record):
        return
    print_board(answer.position, answer.decision.state)
    _print_decision(answer, player, modelled)
    if not answer.evaluator.gives_chances and not answer.decision.exact:
        note(f"{player}'s probabilities only rank plays: they are too inaccurate for cube decisions")
    if "bras" in record:
        _print_bras(record["bras"])


def _line(record: Record) -> str:
    names = "no_double", "double_take", "double_pass"
    equities = (
        f"{name.replace('_', ' ')} {record[name]:+z.4f}" for name in names if record[name] is not None
    )
    exact = "  exact" * record["exact"]
    return f"{record['position']}  {'  '.join(equities)}  {record['action']}{exact}"


def _print_bras(bras: Record) -> None:
    low, high = bras["live_from"]
    measured = bras.get("measured")
    say(f"\nThe BRAS score S of the player on roll is {bras['S']:.1f}.")
    say(
        f"The article doubles from about {low:.0f} to {high:.0f} and passes from {bras['drop_from']:.0f}: "
        f"{bras['action']}."
    )
    if measured is None:
        say("`motif cube-windows` measures the scores from which these weights double and pass.")
        return
    say(
        f"In contact positions {measured['player']} doubles from {measured['double_from']:.1f} "
        f"(±{measured['double_se']:.1f}) and passes from {measured['drop_from']:.1f} "
        f"(±{measured['drop_se']:.1f}): {bras['measured_action']}."
    )


_NO_DOUBLE = ("crawford", "owned", "dead")
"""Verdicts that say why there is no double, as `CubeDecision.action` does."""


def _print_decision(answer: "CubeAnswer", player: str, modelled: bool) -> None:
    from motif.analysis.confirmation import cube_source
    from motif.analysis.cube_records import cube_words

    decision, chances = answer.decision, answer.decision.probabilities
    how = "" if decision.exact else f"; cube efficiency {decision.efficiency:.2f}"
    mwc = decision.state.length > 0
    say(
        f"{player}: {percent(chances.win)} wins ({percent(chances.win_gammon)} gammons), "
        f"{percent(1 - chances.win)} losses ({percent(chances.lose_gammon)} gammons), "
        f"cubeless {chances.equity:+z.3f}{' for money' * mwc}{how}"
    )
    rows = [
        (
            row.action,
            f"{row.equity:+z.3f}",
            "" if row.difference is None else f"{row.difference:+z.3f}",
            *([percent(row.mwc or 0, 2)] * mwc),
        )
        for row in answer.table().rows
    ]
    print_table(("", "equity", "against best action", *(["MWC"] * mwc)), rows)
    for columns, windows in (
        (("your window", "double from", "opponent takes from", "cash from"), decision.windows),
        (("opponent's window", "doubles from", "you take from", "cashes from"), decision.opponent_windows),
    ):
        # The model's windows would contradict exact equities.
        if windows and not decision.exact:
            print_table((*columns, "too good from"), [_window_row(window) for window in windows])
    if decision.windows and not decision.exact and without_plies(player) != player:
        plies = cube_source(decision, answer.evaluator)
        say(
            f"The windows and equities are those of the cube model; the probabilities are {plies}.\n"
            if modelled
            else "The windows are those of the cube model without lookahead; the equities look ahead.\n"
        )
    words = cube_words(decision)
    says_why = decision.verdicts[0].key in _NO_DOUBLE
    say(words if says_why else f"{sentence(decision.action)}  {words}")


def _window_row(window: "MarketWindow") -> tuple[str, ...]:
    name = f"efficiency {window.efficiency:.2f}" if window.name == "efficiency" else f"{window.name} cube"
    points = window.double_point, window.take_point, window.cash_point, window.too_good_point
    return (name, *("never" if point is None or point > _NEVER else percent(point) for point in points))
