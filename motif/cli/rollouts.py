"""The command rollout: a position, or the plays of a roll, played out many times."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from motif.analysis.judge import MatchOptions, for_match
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
    from motif.board.match_state import MatchState
    from motif.board.moves import Play
    from motif.board.position import Position
    from motif.cube import CubeDecision
    from motif.cube.cubeful_rollout import CubeRollout
    from motif.evaluators import StaticEvaluator
    from motif.rollout import Comparison, RolloutResult, RolloutSettings


@command(
    "rollout 4HPwATDgc/ABMA --player pubeval --trials 1296",
    "rollout 4HPwATDgc/ABMA 3 1 --compare --eliminate --cut 10 --stratified",
    "rollout dPexAAB07zMAAA --cubeful --stratified --length 7 --score 3-5",
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
    cubeful: Annotated[bool, option("Let both sides double; without --compare, whether to double.")] = False,
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

    That gives chances and equity with their standard errors; docs/how-to/rollouts.md weighs the options.
    With a match or a cube, from options or from the ID, --compare values the plays by what their chances are
    worth at the score and with the cube where it lies.  With --cubeful both sides double, take and pass in
    the trials, for money or for the match.
    """
    from motif.board.parsing import parse_decision
    from motif.rollout.rollout_settings import parse_luck_plies

    settings = replace(settings, luck_plies=parse_luck_plies(luck_plies))
    settings.check(with_cube=cubeful)
    state = options.stakes_state(None)
    given = {"--candidates": candidates, "--play": play or None, "--eliminate": settings.eliminate or None}
    _check_comparing(compare, die1, given if cubeful else {**given, _MATCH: state})
    if candidates is not None and play:
        raise SettingError("give either --candidates or --play, not both")
    position, match, roll = parse_decision(identifier, die1, die2)
    if compare and roll is None:
        raise SettingError("missing argument: D1 D2, the roll whose plays --compare rolls out")
    if cubeful:
        match = options.state_of(match)
    work = _Rollout(position, match, static_evaluator(player), settings, cubeful, jobs, json)
    with working_on(cluster):
        if compare and roll is not None:
            work.compare(roll, options, candidates, play or [])
        elif cubeful:
            work.decide()
        else:
            work.play_out()


_MATCH = "a match or a cube"


class _Rollout(NamedTuple):
    """What is rolled out, how, and how it is printed."""

    position: "Position"
    match: "MatchState | None"
    """That of the ID; with a cube, of the options as well."""
    evaluator: "StaticEvaluator"
    settings: "RolloutSettings"
    cubeful: bool
    jobs: int | None
    json: bool

    @property
    def state(self) -> "MatchState":
        """The match where there is a cube."""
        assert self.match is not None
        return self.match

    @property
    def by_whom(self) -> str:
        """Who plays, and what for."""
        what_for = "both sides doubling" if self.cubeful else f"for {self.settings.scoring}"
        return f"{self.evaluator.name}, {what_for}"

    def record(self, record: dict[str, Any]) -> str:
        """`record` as JSON, with what goes for all results."""
        settings = self.settings
        played: dict[str, Any] = {
            "player": self.evaluator.name,
            "scoring": settings.scoring,
            "seed": settings.seed,
        }
        if self.cubeful:
            played["cubeful"] = True
        return json_line(record | played | {"position": self.position.gnubg_id})

    def play_out(self) -> None:
        """The position without a cube."""
        from motif.rollout import rollout as roll_out

        result = roll_out(self.position, self.evaluator, self.settings, jobs=self.jobs)
        if self.json:
            print(self.record(_result_record(result)))
            return
        print_board(self.position, self.match)
        _print_result(result)
        say(f"{result.trials[0]} trials by {self.by_whom}, in {result.seconds:.1f} s")

    def decide(self) -> None:
        """The cube decision, the static one beside it."""
        from motif.cube import cube_decision_at
        from motif.cube.cubeful_rollout import roll_out_cube

        result = roll_out_cube(self.position, self.state, self.evaluator, self.settings, jobs=self.jobs)
        static = cube_decision_at(self.position, self.evaluator.evaluate(self.position), result.state)
        if self.json:
            print(self.record(_cube_record(result, static)))
            return
        print_board(self.position, self.state)
        _print_cube(result, static)
        say(f"{result.trials} trials of each by {self.by_whom}, in {result.seconds:.1f} s")

    def compare(
        self, roll: tuple[int, int], options: MatchOptions, candidates: int | None, named: list[str]
    ) -> None:
        """The plays of a roll."""
        from motif.cube.cubeful_rollout import cube_maker
        from motif.rollout import compare_plays
        from motif.rollout.comparison import CANDIDATES

        stakes, valued = for_match(self.evaluator, options, self.match)
        comparison = compare_plays(
            self.position,
            roll,
            self.evaluator,
            self.settings,
            plays=_named_plays(self.position, roll, named) if named else None,
            candidates=CANDIDATES if candidates is None else candidates,
            stakes=stakes,
            cubes=cube_maker(self.state) if self.cubeful else None,
            jobs=self.jobs,
        )
        if self.json:
            print(self.record(comparison_record(comparison) | valued | {"roll": list(roll)}))
            return
        print_board(self.position, options.stakes_state(self.match))
        print_comparison(comparison, self.by_whom)
        print_valued(valued)


def _check_comparing(compare: bool, die1: str | None, settings: dict[str, Any]) -> None:
    """Raise `SettingError` for what only plays that are compared can use."""
    for word, value in {"D1 D2": die1, **settings}.items():
        if value is not None and not compare:
            otherwise = " or --cubeful" * (word == _MATCH)
            raise SettingError(f"{word} is for comparing plays: add --compare{otherwise}")


def _cube_record(result: "CubeRollout", static: "CubeDecision") -> dict[str, Any]:
    state = result.state
    record = {
        "action": result.action,
        "no_double": result.no_double,
        "no_double_se": float(result.se[-1]),
        "double_take": result.double_take,
        "double_take_se": result.double_take_se,
        "double_pass": result.double_pass,
        "difference": result.difference,
        "difference_se": result.difference_se,
        "mean": _by_name(result.mean),
        "se": _by_name(result.se),
        "static": {
            name: getattr(static, name)
            for name in ("action", "no_double", "double_take", "double_pass", "exact")
        },
        "trials": result.trials,
        "seconds": result.seconds,
        "cube": state.cube,
        "owner": state.cube_owner,
        "length": state.length,
    }
    if not state.length:
        return record | {"jacoby": state.jacoby}
    equities = {name: getattr(result, name) for name in ("no_double", "double_take", "double_pass")}
    chances = {f"mwc_{name}": None if it is None else result.mwc(it) for name, it in equities.items()}
    score = {"score": [state.own_score, state.opponent_score], "crawford": state.crawford}
    return record | chances | score


def _print_cube(result: "CubeRollout", static: "CubeDecision") -> None:
    chances, errors = result.mean, result.se
    say(
        f"{percent(chances[0])} ± {percent(errors[0])} wins ({percent(chances[1])} gammons), "
        f"{percent(1 - chances[0])} losses ({percent(chances[3])} gammons), as far as the games went"
    )
    double = "redouble" if result.state.cube_owner == "me" else "double"
    rows = [
        (f"no {double}", result.no_double, float(errors[-1]), static.no_double),
        (f"{double}, take", result.double_take, result.double_take_se, static.double_take),
        (f"{double}, pass", result.double_pass, 0.0, static.double_pass),
    ]
    match = ["match won"] * bool(result.state.length)
    print_table(
        ("", "equity", "standard error", "static", *match),
        [
            (
                *(name, f"{equity:+.4f}", f"{se:.4f}", "" if known is None else f"{known:+.3f}"),
                *(percent(result.mwc(equity) or 0, 2) for _ in match),
            )
            for name, equity, se, known in rows
            if equity is not None
        ],
    )
    by_how_much = ""
    if result.difference is not None:
        by_how_much = f": {double} {result.difference:+.4f} ± {result.difference_se:.4f} against waiting"
    say(f"{result.action[0].upper()}{result.action[1:]}{by_how_much}.  Static: {static.action}.")


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
    return str(play)
