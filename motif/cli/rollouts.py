"""The command rollout, for positions, the plays of a roll, and cube decisions."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from motif.analysis.judge import evaluator_of
from motif.cli.options import (
    DEFAULT_PLAYER,
    ClusterOption,
    FirstDie,
    IdArgument,
    JobsOption,
    JsonOption,
    MatchChoice,
    PlayerOption,
    SecondDie,
    Settings,
    command,
    option,
)
from motif.cli.printing import note, print_board, print_table, print_valued, printed_json, say
from motif.runtime.errors import SettingError
from motif.runtime.layout import capitalized, counted, p_text, percent, plus_minus
from motif.runtime.parallel import working_on

if TYPE_CHECKING:
    from collections.abc import Collection

    from motif.analysis.rollout_records import RolloutQuestion
    from motif.board.match_state import MatchState
    from motif.doubling import CubeDecision
    from motif.doubling.cubeful_rollout import CubeRollout
    from motif.rollouts import Comparison, RolloutResult, RolloutSettings


@dataclass(frozen=True)
class PlayComparison:
    """Options for comparing plays."""

    compare: Annotated[bool, option("Roll out the best plays of the roll D1 D2 with the same dice.")] = False
    candidates: Annotated[int | None, option("Number of plays to compare.", show_default="5")] = None
    play: Annotated[list[str] | None, option("Play to compare, such as '8/5 6/5'; repeatable.", "PLAY")] = (
        None
    )

    def check(self, die1: str | None, eliminate: bool, state: "MatchState | None") -> None:
        """Raise `SettingError` for options that require --compare, or cannot be combined."""
        for is_given, what in (
            (die1 is not None, "D1 D2 requires --compare"),
            (self.candidates is not None, "--candidates requires --compare"),
            (self.play, "--play requires --compare"),
            (eliminate, "--eliminate requires --compare"),
            (state is not None, "a match or a cube requires --compare or --cubeful"),
        ):
            if is_given and not self.compare:
                raise SettingError(what)
        if self.candidates is not None and self.play:
            raise SettingError("--candidates and --play cannot be combined")


@command(
    "rollout 4HPwATDgc/ABMA --player pubeval --trials 1296",
    "rollout 4HPwATDgc/ABMA 3 1 --compare --eliminate --cut 10 --stratified",
    "rollout dPexAAB07zMAAA --cubeful --stratified --length 7 --score 3-5",
)
def rollout(
    identifier: IdArgument,
    settings: Annotated[
        "RolloutSettings", Settings("motif.rollouts.rollout_settings", without=("luck_plies",))
    ],
    options: MatchChoice,
    die1: FirstDie = None,
    die2: SecondDie = None,
    *,
    player: PlayerOption = DEFAULT_PLAYER,
    luck_plies: Annotated[str, option("Variance reduction for the first N rolls, or for all.", "N")] = "0",
    cubeful: Annotated[
        bool, option("Roll out the cube decision; with --compare, put the cube in play.")
    ] = False,
    plays: Annotated[PlayComparison, Settings()],
    json: JsonOption = False,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Roll out a position, the plays of a roll, or a cube decision.

    Shows probabilities and equity with their standard errors; docs/how-to/rollouts.md in motif's source
    compares the options.  With --cubeful, or with --compare and a match or a cube in the options or in the
    ID, both sides double, take and pass in the trials.
    """
    from motif.analysis.rollout_records import RolloutQuestion
    from motif.board.parsing import parse_decision
    from motif.rollouts.rollout_settings import parse_luck_plies

    settings = replace(settings, luck_plies=parse_luck_plies(luck_plies))
    settings.check_question(cubeful, plays.compare)
    settings.check_effects(compared=True)
    plays.check(die1, settings.eliminate, None if cubeful else options.given_state(None))
    position, match, roll = parse_decision(identifier, die1, die2)
    if plays.compare and roll is None:
        raise SettingError("missing argument: D1 D2, which --compare requires")
    options.check_rollout()
    evaluator = evaluator_of(player)
    state = options.state_of(match) if cubeful else None
    question = RolloutQuestion(position, match, options, evaluator, settings, state, jobs)
    with working_on(cluster):
        if plays.compare and roll is not None:
            comparison, record = question.compare(roll, plays.candidates, plays.play or [])
            if printed_json(json, record):
                return
            print_board(position, state or options.given_state(match))
            print_comparison(comparison, _by_whom(question, "cubeful" in record))
            print_valued(record)
        elif cubeful:
            _decide(question, json)
        else:
            _play_out(question, json)


def _play_out(question: "RolloutQuestion", json: bool) -> None:
    result, record = question.play_out()
    if question.match and question.match.length:
        note("the match in the ID is not used; --cubeful rolls out the cube decision at its score")
    if printed_json(json, record):
        return
    print_board(question.position, question.match)
    _print_result(result)
    trials = _counted(int(result.trials[0]), [float(result.se[0, -1])])
    say(f"{trials} by {_by_whom(question)}, in {result.seconds:.1f} s")


def _decide(question: "RolloutQuestion", json: bool) -> None:
    """Roll out a cube decision and print it next to the static one."""
    result, static, record = question.decide()
    if printed_json(json, record):
        return
    print_board(question.position, question.state)
    _print_cube(result, static)
    trials = _counted(result.trials, [float(result.se[-1]), result.double_take_se])
    say(f"{trials} of each by {_by_whom(question)}, in {result.seconds:.1f} s")


def _counted(trials: int, errors: "Collection[float | None]", what: str = "") -> str:
    """Return a number of trials, with a note on a single one or on `errors` of equities that are 0."""
    note = " (no standard error)" if trials == 1 else ""
    if 0 in errors:
        note = " (a standard error of 0 leaves out results that did not occur)"
    return counted(trials, "trial") + what + note


def _known(error: float | None, text: str) -> str:
    """Return `text` about a standard error or p-value; empty after a single trial, when `error` is NaN."""
    return "" if error is None or math.isnan(error) else text


def _by_whom(question: "RolloutQuestion", cubeful: bool = False) -> str:
    what_for = "cubeful" if cubeful or question.state else f"for {question.settings.scoring}"
    return f"{question.evaluator.name}, {what_for}"


def _print_cube(result: "CubeRollout", static: "CubeDecision") -> None:
    chances, errors = result.mean, result.se
    say(
        f"{percent(chances[0])}{_known(errors[0], f' ± {percent(errors[0])}')} wins "
        f"({percent(chances[1])} gammons), "
        f"{percent(1 - chances[0])} losses ({percent(chances[3])} gammons), passed games by static evaluation"
    )
    double = static.double_name
    rows = [
        (f"no {double}", result.no_double, float(errors[-1]), static.no_double),
        (f"{double}, take", result.double_take, result.double_take_se, static.double_take),
        (f"{double}, pass", result.double_pass, 0.0, static.double_pass),
    ]
    match = ["MWC"] * bool(result.state.length)
    print_table(
        ("", "equity", "standard error", "static", *match),
        [
            (
                name,
                f"{equity:+z.4f}",
                _known(se, f"{se:.4f}"),
                "" if known is None else f"{known:+z.3f}",
                *(percent(result.mwc(equity) or 0, 2) for _ in match),
            )
            for name, equity, se, known in rows
            if equity is not None
        ],
    )
    said = capitalized(result.action)
    if result.difference is not None:
        ahead = f"{result.difference:+z.4f}{plus_minus(result.difference_se, '.4f')}"
        said += f": {double} {ahead} compared with no {double}"
    say(f"{said}.  Static: {static.action}.")


def _print_result(result: "RolloutResult") -> None:
    from motif.evaluators.probabilities import HEADS

    *figures, (name, mean, se, sd) = zip(HEADS, result.mean[0], result.se[0], result.sd[0], strict=True)
    rows = [
        (
            what.replace("_", " "),
            f"{percent(share, 2)}{plus_minus(100 * error)}",
            _known(spread, percent(spread)),
        )
        for what, share, error, spread in figures
    ]
    rows.append((name, f"{mean:+z.4f}{plus_minus(se, '.4f')}", _known(sd, f"{sd:.3f}")))
    print_table(("player on roll", f"mean{_known(se, ' ± standard error')}", "SD per trial"), rows)


def print_comparison(comparison: "Comparison", by_whom: str) -> None:
    """Print the plays, best first, and the verdict."""
    early = comparison.significance is not None
    columns = ("", "play", "equity", "standard error", "difference", "its standard error", "p", "trials")
    count = len(columns) - (not early)
    rows = []
    for rank, of in enumerate(comparison.plays, 1):
        doubt = f"{of.difference_se:.4f}", p_text(of.p_value, "")
        behind = f"{of.difference:.4f}", *(_known(of.difference_se, text) for text in doubt)
        equity, trials = f"{of.mean[-1]:+z.4f}", f"{of.trials}{', dropped' * of.dropped}"
        cells = equity, _known(of.se[-1], f"{of.se[-1]:.4f}"), *(behind if rank > 1 else ("", "", "")), trials
        rows.append((f"{rank}.", str(of.play), *cells)[:count])
    print_table(columns[:count], rows, left=2)
    say(_verdict(comparison))
    each = _counted(comparison.trials, [float(play.se[-1]) for play in comparison.plays], " per play")
    trials = f"{comparison.all_trials:,} trials in total" if early and comparison.trials > 1 else each
    say(f"{trials} by {by_whom}, in {comparison.seconds:.1f} s")


def _verdict(result: "Comparison") -> str:
    """Return whether the best play is significantly better, in a sentence."""
    best, *rivals = result.plays
    name = str(best.play)
    if not rivals:
        return f"{name} is the only play compared"
    second = rivals[0]
    if second.difference == second.difference_se == 0:
        return f"{name} is as good as {second.play} in every trial"
    lead = f"{-second.difference:.4f}{plus_minus(second.difference_se, '.4f')} ahead of {second.play}"
    if result.settled and second.dropped:
        chance = f"probability that a dropped play is best: at most {result.significance:g}"
        return f"{name} is best, the others were dropped as significantly worse: {lead} ({chance})"
    if result.settled:
        doubt = p_text(result.doubt, "sum of the p-values of its rivals = " if len(rivals) > 1 else "p = ")
        return f"{name} is best: {lead} ({doubt} if the plays were equal)"
    return f"{name} is best, but not significantly: {lead}; run more trials"
