"""The command rollout: a position, or the plays of a roll, played out many times."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from motif.analysis.judge import for_match
from motif.cli.options import (
    DEFAULT_PLAYER,
    ClusterOption,
    FirstDie,
    IdArgument,
    JobsOption,
    JsonOption,
    MatchChoice,
    SecondDie,
    Settings,
    StaticOption,
    command,
    option,
    static_evaluator,
)
from motif.cli.printing import json_line, p_text, percent, print_board, print_table, print_valued, say
from motif.runtime.errors import SettingError
from motif.runtime.parallel import working_on

if TYPE_CHECKING:
    from motif.board.moves import Play
    from motif.board.position import Position
    from motif.rollout import Comparison, RolloutResult, RolloutSettings


@command(
    "rollout 4HPwATDgc/ABMA --player pubeval --trials 1296",
    "rollout 4HPwATDgc/ABMA 3 1 --compare --eliminate --cut 10 --stratified",
)
def rollout(
    identifier: IdArgument,
    settings: Annotated[
        "RolloutSettings", Settings("motif.rollout.rollout_settings", without=("luck_plies",))
    ],
    options: MatchChoice,
    die1: FirstDie = None,
    die2: SecondDie = None,
    player: StaticOption = DEFAULT_PLAYER,
    luck_plies: Annotated[str, option("Take off the luck of the first N rolls, or of all.", "N")] = "0",
    compare: Annotated[bool, option("Roll out the best plays of the roll D1 D2 with the same dice.")] = False,
    candidates: Annotated[int | None, option("How many plays to compare.", show_default="5")] = None,
    play: Annotated[
        list[str] | None, option("Compare this play, such as '8/5 6/5'; may be repeated.", "PLAY")
    ] = None,
    json: JsonOption = False,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Play a position to its end many times.

    That gives chances and equity with their standard errors; docs/user/rollouts.md weighs the options.  With
    a match or a cube, from options or from the ID, --compare values the plays by what their chances are worth
    at the score and with the cube where it lies.
    """
    from motif.board.parsing import parse_decision
    from motif.rollout import compare_plays
    from motif.rollout import rollout as roll_out
    from motif.rollout.comparison import CANDIDATES
    from motif.rollout.rollout_settings import parse_luck_plies

    settings = replace(settings, luck_plies=parse_luck_plies(luck_plies))
    settings.check()
    state = options.stakes_state(None)
    given = {"--candidates": candidates, "--play": play or None, "--eliminate": settings.eliminate or None}
    _check_comparing(compare, die1, {**given, "a match or a cube": state})
    if settings.eliminate and state is not None:
        raise SettingError("--eliminate compares plays for money without a cube: leave out match and cube")
    if candidates is not None and play:
        raise SettingError("give either --candidates or --play, not both")
    position, match, roll = parse_decision(identifier, die1, die2)
    evaluator = static_evaluator(player)
    played: dict[str, Any] = {"player": evaluator.name, "scoring": settings.scoring, "seed": settings.seed}
    by_whom = f"{evaluator.name}, for {settings.scoring}"
    if not compare:
        with working_on(cluster):
            result = roll_out(position, evaluator, settings, jobs=jobs)
        if json:
            print(json_line(_result_record(result) | played | {"position": position.gnubg_id}))
            return
        print_board(position, match)
        _print_result(result)
        say(f"{result.trials[0]} trials by {by_whom}, in {result.seconds:.1f} s")
        return
    if roll is None:
        raise SettingError("missing argument: D1 D2, the roll whose plays --compare rolls out")
    # The match of an ID is drawn, but plays are eliminated for money.
    stakes, valued = for_match(evaluator, options, None if settings.eliminate else match)
    plays = _named_plays(position, roll, play) if play else None
    count = CANDIDATES if candidates is None else candidates
    with working_on(cluster):
        comparison = compare_plays(
            position, roll, evaluator, settings, plays=plays, candidates=count, stakes=stakes, jobs=jobs
        )
    if json:
        where = {"position": position.gnubg_id, "roll": list(roll)}
        print(json_line(comparison_record(comparison) | played | valued | where))
        return
    print_board(position, options.stakes_state(match))
    print_comparison(comparison, by_whom)
    print_valued(valued)


def _check_comparing(compare: bool, die1: str | None, settings: dict[str, Any]) -> None:
    """Raise `SettingError` for what only plays that are compared can use."""
    for word, value in {"D1 D2": die1, **settings}.items():
        if value is not None and not compare:
            raise SettingError(f"{word} is for comparing plays: add --compare")


def _result_record(result: "RolloutResult") -> dict[str, Any]:
    return {
        "mean": _by_name(result.mean[0]),
        "se": _by_name(result.se[0]),
        "sd": _by_name(result.sd[0]),
        "trials": int(result.trials[0]),
        "seconds": result.seconds,
        "trials_per_second": result.trials_per_second,
    }


def _print_result(result: "RolloutResult") -> None:
    from motif.rollout import RESULT_NAMES

    mean, se, sd = (_by_name(figures[0]) for figures in (result.mean, result.se, result.sd))
    rows = [
        (name.replace("_", " "), f"{percent(mean[name], 2)} ± {100 * se[name]:.2f}", percent(sd[name]))
        for name in RESULT_NAMES[:-1]
    ]
    name = RESULT_NAMES[-1]
    rows.append((name, f"{mean[name]:+.4f} ± {se[name]:.4f}", f"{sd[name]:.3f}"))
    print_table(("player on roll", "mean ± standard error", "SD a trial"), rows)


def comparison_record(comparison: "Comparison") -> dict[str, Any]:
    """What --json says of a comparison, for one that stops early what became of each play, too."""
    from motif.board.identifiers import gnubg_id

    plays = [
        {
            "notation": compared.play.notation,
            "position": gnubg_id(compared.play.position),
            "equity": float(compared.mean[-1]),
            "difference": compared.difference,
            "difference_se": compared.difference_se,
            "p_value": compared.p_value,
            "mean": _by_name(compared.mean),
            "se": _by_name(compared.se),
            "trials": compared.trials,
            "dropped": compared.dropped,
        }
        for compared in comparison.plays
    ]
    return {
        "plays": plays,
        "doubt": comparison.doubt,
        "settled": comparison.settled,
        "error_rate": comparison.error_rate,
        "trials": comparison.trials,
        "seconds": comparison.seconds,
        "trials_per_second": comparison.trials_per_second,
    }


def print_comparison(comparison: "Comparison", by_whom: str) -> None:
    """Print the plays, the best first, whether the best is settled, and what it took."""
    rows = []
    early = comparison.error_rate is not None
    for rank, compared in enumerate(comparison.plays, 1):
        behind = (
            f"{compared.difference:.4f}",
            f"{compared.difference_se:.4f}",
            p_text(compared.p_value, ""),
        )
        equity = f"{compared.mean[-1]:+.4f}", f"{compared.se[-1]:.4f}"
        trials = f"{compared.trials}{', dropped' if compared.dropped else ''}"
        row = f"{rank}.", _shown(compared.play), *equity, *(behind if rank > 1 else ("", "", ""))
        rows.append((*row, trials) if early else row)
    columns = ("", "play", "equity", "standard error", "difference", "its standard error", "p")
    print_table((*columns, "trials") if early else columns, rows, left=2)
    say(_verdict(comparison))
    trials = f"{comparison.all_trials} trials in all" if early else f"{comparison.trials} trials of each play"
    say(f"{trials} by {by_whom}, in {comparison.seconds:.1f} s")


def _named_plays(position: "Position", roll: tuple[int, int], texts: list[str]) -> "list[Play]":
    from motif.board.moves import legal_plays
    from motif.board.notation import find_play

    legal = legal_plays(position, roll)
    plays = (find_play(text, legal) for text in texts)
    return list({play.position: play for play in plays}.values())


def _verdict(result: "Comparison") -> str:
    """Whether the best play is really best, in a sentence."""
    best, *rivals = result.plays
    name = _shown(best.play)
    if not rivals:
        return f"{name} is the only play compared"
    second = rivals[0]
    lead = f"{-second.difference:.4f} ± {second.difference_se:.4f} ahead of {_shown(second.play)}"
    if result.settled and second.dropped:
        chance = f"chance that the best play is among the dropped: at most {result.error_rate:g}"
        return f"{name} is best, the others were dropped as certain to be worse: {lead} ({chance})"
    if result.settled:
        return f"{name} is best: {lead} ({p_text(result.doubt)} that a rival is as good)"
    return f"{name} came out first, but that may be luck: {lead}; more trials can tell"


def _by_name(row: Any) -> dict[str, float]:
    from motif.rollout import RESULT_NAMES

    return dict(zip(RESULT_NAMES, row.tolist(), strict=True))


def _shown(play: "Play") -> str:
    return play.notation or "cannot move"
