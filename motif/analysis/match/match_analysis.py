"""The analysis of a match: ratings, errors and luck of both players, and the worst decisions."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from motif.analysis.confirmation import DIGITS, confirming_rollout
from motif.analysis.cube_records import cube_words
from motif.analysis.explain.explanation import Explanation, explain_play
from motif.analysis.judge import known_error_rate
from motif.analysis.match.decision_errors import (
    NO_DOUBLE,
    CubeAct,
    JudgedRoll,
    judge_cube,
    judge_plays,
    roll_luck,
    valued_state,
)
from motif.analysis.match.decisions import (
    CostUnit,
    MatchDecision,
    PlayerAnalysis,
    RollLuck,
    decision_of_act,
    match_decisions,
    notes_of,
    player_analysis,
)
from motif.analysis.match.record_walk import PlayedRoll, walk
from motif.board.game_record import (
    Annotation,
    GameRecord,
    MatchRecord,
    crawford_game,
    illegal_plays,
    jacoby_rule,
    occasion_of,
    score_jumps,
    uses_cube,
)
from motif.board.marks import MILLIPOINTS
from motif.board.match_state import MatchState
from motif.board.moves import Play
from motif.board.notation import NO_MOVE
from motif.board.rules import is_match_point
from motif.doubling.match_equity import match_equity_table
from motif.evaluators import Evaluator
from motif.evaluators.known_players import own_name, without_plies
from motif.rollouts.rollout_settings import RolloutSettings
from motif.runtime.errors import PlayerError, RecordError, SettingError, shown
from motif.runtime.frames import Tabular
from motif.runtime.layout import capitalized, counted, html_lines, html_table, text_table
from motif.runtime.settings import check_count, is_truth

WORST = 10


@dataclass(frozen=True)
class WorstPlay:
    """A play that lost equity, and the best one."""

    moment: PlayedRoll
    name: str
    played: Play
    better: Play
    error: float
    """Normalised equity."""
    shown: float
    """The error as the difference of the equities shown."""
    why: Explanation | None = field(repr=False, compare=False)
    """None if the evaluator has no terms."""

    @property
    def cost(self) -> float:
        """Points in money play, or match winning chances in a match."""
        return self.error * self.moment.unit

    @property
    def heading(self) -> str:
        """Game, move, player and roll."""
        high, low = self.moment.roll
        return capitalized(f"{self.moment.heading(self.name)} to play {high}{low}")

    @property
    def line(self) -> str:
        """The decision in one line."""
        loss = f"{MILLIPOINTS * self.shown:.0f} millipoints"
        return f"{self.heading}: {self.played}; {self.better} is better by {loss}"

    def to_dict(self, unit: CostUnit) -> dict[str, object]:
        """Return the JSON record."""
        why = self.why
        return {
            **self.moment.to_dict(self.name),
            "roll": list(self.moment.roll),
            "played": self.played.notation,
            "better": self.better.notation,
            "loss": MILLIPOINTS * self.error,
            unit: self.cost,
            "summary": why.summary if why else "",
            "sentences": list(why.sentences) if why else [],
            "reasons": [reason.to_dict() for reason in why.reasons] if why else [],
        }


@dataclass(frozen=True)
class WorstCube:
    """A cube decision that lost equity."""

    act: CubeAct
    name: str
    """Name of the player who decided."""

    @property
    def cost(self) -> float:
        """Points in money play, or match winning chances in a match."""
        return self.act.error * self.act.chance.unit

    @property
    def shown(self) -> float:
        """The error as the difference of the equities shown."""
        return decision_of_act(self.act).rounded().error

    @property
    def heading(self) -> str:
        """Game, move, player and mistake."""
        return capitalized(f"{self.act.chance.heading(self.name)}: {self.act.mistake}")

    @property
    def shown_state(self) -> MatchState:
        """The state to draw, with a double on offer if there was one."""
        state = self.act.chance.state
        return state if self.act.done == NO_DOUBLE else replace(state, doubled=True, decision="opponent")

    def to_dict(self, unit: CostUnit) -> dict[str, object]:
        """Return the JSON record; the equities are those of the player on roll."""
        equities = self.act.decision.equities
        return {
            **self.act.chance.to_dict(self.name),
            "mistake": self.act.mistake,
            "done": self.act.done,
            "action": self.act.decision.action,
            "loss": MILLIPOINTS * self.act.error,
            unit: self.cost,
            **{what.replace(", ", "_").replace(" ", "_"): value for what, value in equities.items()},
            "words": cube_words(self.act.decision),
        }


def worst_plays(
    judgements: Sequence[JudgedRoll],
    names: tuple[str, str],
    evaluator: Evaluator,
    count: int,
    *,
    cube: bool = True,
) -> list[WorstPlay]:
    """Return the `count` worst plays with certain errors, with reasons by `evaluator`."""
    shown = (judged for judged in judgements if judged.is_sure and round(judged.error, DIGITS) > 0)
    wrong = sorted(shown, key=lambda judged: -judged.error)
    plays = []
    for judged in wrong[:count]:
        roll, choice = judged.roll, judged.choice
        assert roll.play is not None
        why, state = None, valued_state(roll.state, cube)
        with suppress(PlayerError):
            why = explain_play(evaluator, roll.position, roll.roll, state=state, choice=choice)
        better, less = choice.better.play, choice.shown_difference
        plays.append(WorstPlay(roll, names[roll.player], roll.play, better, judged.error, less, why))
    return plays


@dataclass(frozen=True, repr=False)
class MatchAnalysis(Tabular):
    """An evaluator's analysis of a match."""

    analyst: str
    """Name of the evaluator."""
    own_error_rate: float | None
    """The analyst's own error rate in contact positions, in millipoints per decision; None if unknown."""
    trials: int
    """Number of trials of the rollouts that confirm errors; 0 if the evaluator was trusted."""
    names: tuple[str, str]
    length: int
    """Match length in points; 0 for money play."""
    jacoby: bool
    """Whether gammons count only after a double (money play)."""
    games: int
    finished: int
    """Number of games with a result."""
    score: tuple[int, int]
    """Score after the last game."""
    players: tuple[PlayerAnalysis, PlayerAnalysis]
    plays: tuple[WorstPlay, ...]
    """The worst plays."""
    cubes: tuple[WorstCube, ...]
    """The worst cube decisions."""
    decisions: tuple[MatchDecision, ...] = field(repr=False)
    """All decisions in order of play."""
    lucks: tuple[RollLuck, ...] = field(repr=False)
    """The luck of every roll."""
    record: MatchRecord = field(repr=False)

    @property
    def unit(self) -> CostUnit:
        """Unit of costs and results."""
        return CostUnit.of_length(self.length)

    def jokers(self, count: int) -> list[RollLuck]:
        """Return the `count` luckiest rolls."""
        gains = [luck for luck in self.lucks if luck.luck > 0]
        return sorted(gains, key=lambda one: one.luck, reverse=True)[:count]

    @property
    def by_game(self) -> tuple[tuple[PlayerAnalysis, PlayerAnalysis], ...]:
        """The totals of both players by game."""
        return tuple(
            both_players(
                self.record,
                self.analyst,
                [decision for decision in self.decisions if decision.moment.game == number],
                [luck for luck in self.lucks if luck.roll.game == number],
                None if game.result is None or self.length else _points(game),
            )
            for number, game in enumerate(self.record.games, 1)
        )

    def errors(self, player: int | None = None) -> list[MatchDecision]:
        """Return the errors of one player or both, largest first; they add up to the totals."""
        wrong = [decision for decision in self.decisions if decision.counts and decision.error > 0]
        own = [decision for decision in wrong if player is None or decision.player == player]
        return sorted(own, key=lambda one: -one.error)

    def notes(self) -> dict[tuple[int, int], Annotation]:
        """Return annotations for the actions of the record."""
        return notes_of(self.decisions, self.lucks)

    def rows(self) -> list[dict[str, object]]:
        """Return one table row per decision."""
        luck = {(luck.roll.game, luck.roll.action): luck.luck for luck in self.lucks}
        unit = self.unit
        rows = []
        for one in self.decisions:
            row = one.to_dict(self.names, unit)
            facts = {
                "lost": row.pop(unit),
                "unit": str(unit),
                "luck": luck[one.moment.game, one.moment.action] if one.is_play else None,
                "candidates": "; ".join(f"{it.done or NO_MOVE} {it.equity:+z.4f}" for it in one.candidates),
            }
            del row["candidates"]
            rows.append({"match": self.title, "analyst": self.analyst, **row, **facts})
        return rows

    def _rows(self) -> list[tuple[str, ...]]:
        def error_rate(player: PlayerAnalysis) -> str:
            rate = player.overall.rate
            return "" if rate is None else f"{rate:.1f}" + f" ({player.rating})" * (player.rating is not None)

        first, second = self.players
        return [
            ("error rate, millipoints per decision", error_rate(first), error_rate(second)),
            ("decisions", str(first.overall.decisions), str(second.overall.decisions)),
            ("luck", f"{first.luck.total:+z.3f}", f"{second.luck.total:+z.3f}"),
        ]

    @property
    def title(self) -> str:
        """The players and the match length."""
        first, second = self.names
        what = f"{self.length}-point match" if self.length else "money play"
        return f"{first} - {second}, {what}"

    @property
    def opening(self) -> str:
        """A sentence on the occasion, the games, the score and the analyst."""
        first, second = self.score
        games = counted(self.games, "game")
        unfinished = self.games - self.finished
        if unfinished:
            games += f", {unfinished} unfinished"
        rule = ", Jacoby rule" if self.jacoby else ""
        occasion = f"{where}; " if (where := str(occasion_of(self.record))) else ""
        return f"{occasion}{games}{rule}, score {first} to {second}; analysed by {self.analyst}."

    def __str__(self) -> str:
        table = text_table(("", *self.names), self._rows())
        return "\n".join([f"{self.title}: {self.opening}", table, *(play.line for play in self.plays)])

    def _repr_html_(self) -> str:
        table = html_table(("", *self.names), self._rows())
        worst = html_lines(play.line for play in self.plays)
        return html_lines([f"{self.title}: {self.opening}"]) + table + worst

    def to_dict(self) -> dict[str, object]:
        """Return the JSON record: rates and losses in millipoints, totals and luck in normalised equity."""
        unit = self.unit
        plain = ("analyst", "own_error_rate", "trials", "length", "jacoby", "games", "finished")
        return {
            **{name: getattr(self, name) for name in plain},
            **occasion_of(self.record)._asdict(),
            "score": list(self.score),
            "score_jumps": [jump._asdict() for jump in score_jumps(self.record)],
            "illegal_plays": [illegal._asdict() for illegal in illegal_plays(self.record)],
            "players": [player.to_dict() for player in self.players],
            "errors": [decision.error_dict(self.names) for decision in self.errors()],
            "worst": [play.to_dict(unit) for play in self.plays],
            "worst_cube": [cube.to_dict(unit) for cube in self.cubes],
            "by_game": [[_game_dict(player, unit) for player in pair] for pair in self.by_game],
        }

    def records(self) -> list[dict[str, object]]:
        """Return one row per player."""
        plain = (str, int, float, bool, type(None))
        rows = [player.to_dict() for player in self.players]
        return [{name: value for name, value in row.items() if isinstance(value, plain)} for row in rows]

    def with_lists(self, jokers: int, decisions: bool = False) -> dict[str, object]:
        """Return `to_dict` with the luckiest rolls, `jokers` of them, and optionally all decisions."""
        unit = self.unit
        document = self.to_dict()
        document["jokers"] = [luck.to_dict(self.names, unit) for luck in self.jokers(jokers)]
        if decisions:
            document["decisions"] = [decision.to_dict(self.names, unit) for decision in self.decisions]
        return document


def _game_dict(player: PlayerAnalysis, unit: CostUnit) -> dict[str, object]:
    luck = player.luck
    return {
        "name": player.name,
        "decisions": player.overall.decisions,
        "error_rate": player.overall.rate,
        "total": player.overall.total,
        "blunders": player.overall.blunders,
        "luck": luck.total,
        unit: luck.result,
    }


def over_all(analyses: Sequence[MatchAnalysis]) -> list[PlayerAnalysis]:
    """Return the totals of every player over all their matches.

    Costs and results are summed if all matches of a player have the same unit, points or MWC.
    """
    names = dict.fromkeys(name for analysis in analyses for name in analysis.names)
    return [_over_all(name, [analysis for analysis in analyses if name in analysis.names]) for name in names]


def _over_all(name: str, analyses: Sequence[MatchAnalysis]) -> PlayerAnalysis:
    own = [(analysis, player) for analysis in analyses for player in (0, 1) if analysis.names[player] == name]
    units = {analysis.unit for analysis in analyses}
    unit = units.pop() if len(units) == 1 else None
    total = player_analysis(
        name,
        [it for one, player in own for it in one.decisions if it.player == player],
        [it for one, player in own for it in one.lucks if it.roll.player == player],
        unit,
        is_analyst=any(one.players[player].is_analyst for one, player in own),
        rolls_of_both=sum(one.players[player].rolls_of_both for one, player in own),
    )
    known = [one.players[player] for one, player in own if one.players[player].result is not None]
    if unit is None or not known:
        return total
    return replace(
        total,
        result=sum(one.result or 0.0 for one in known),
        luck_adjusted=sum(one.luck_adjusted or 0.0 for one in known),
    )


def check_jacoby(record: MatchRecord, jacoby: bool | None) -> None:
    """Raise `SettingError` if `record` is a match, in which there is no Jacoby rule."""
    if jacoby and record.length:
        raise SettingError(
            f"jacoby is for money play, not for the record's {record.length}-point match", "jacoby"
        )


def analyse_match(
    record: MatchRecord,
    evaluator: Evaluator,
    *,
    worst: int = WORST,
    cube: bool = True,
    jacoby: bool | None = None,
    confirm: RolloutSettings | bool = True,
    jobs: int | None = None,
) -> MatchAnalysis:
    """Rate both players of `record` by `evaluator`, and list the `worst` plays and cube decisions.

    Apparent errors seen by lookahead are rolled out (`motif.analysis.confirmation`); `confirm` may give the
    settings, or False to trust the evaluator.  Without `cube`, or if the record says that there is none,
    cube decisions are left out and the cube is ignored.  `jacoby` is the rule in money play, by default as
    recorded.  Raises `RecordError` for a record without rolls or with games after the end of the match,
    `SettingError` for a negative `worst` and as `check_jacoby` does.
    """
    check_count("worst", worst, 0)
    if not isinstance(confirm, RolloutSettings) and not is_truth(confirm):
        raise SettingError(f"confirm must be RolloutSettings, True or False, not {shown(confirm)}", "confirm")
    check_jacoby(record, jacoby)
    decisions, cube = walk(record, jacoby=jacoby), cube and uses_cube(record)
    if not decisions.rolls:
        raise RecordError("nothing to analyse: the record has no rolls")
    static = evaluator.without_lookahead
    rolls = [roll for roll in decisions.rolls if roll.is_judged]
    default = confirming_rollout(evaluator) if confirm else None
    settings = confirm if isinstance(confirm, RolloutSettings) else default
    judgements = judge_plays(rolls, evaluator, cube=cube, confirm=settings, jobs=jobs)
    acts = judge_cube(decisions.chances, evaluator, confirm=settings, jobs=jobs) if cube else []
    lucks = tuple(map(RollLuck, decisions.rolls, roll_luck(decisions.rolls, static, cube=cube).tolist()))
    every = tuple(match_decisions(judgements, acts))
    mistakes = sorted((act for act in acts if act.mistake), key=lambda act: act.error, reverse=True)
    return MatchAnalysis(
        analyst=evaluator.name,
        own_error_rate=known_error_rate(evaluator.name),
        trials=0 if settings is None else settings.trials,
        names=record.players,
        length=record.length,
        jacoby=not record.length and (jacoby_rule(record) if jacoby is None else jacoby),
        games=len(record.games),
        finished=sum(game.result is not None for game in record.games),
        score=_final_score(record),
        players=both_players(record, evaluator.name, every, lucks, result_of(record)),
        plays=tuple(worst_plays(judgements, record.players, evaluator, worst, cube=cube)),
        cubes=tuple(WorstCube(act, record.players[act.player]) for act in mistakes[:worst]),
        decisions=every,
        lucks=lucks,
        record=record,
    )


def both_players(
    record: MatchRecord,
    analyst: str,
    decisions: Sequence[MatchDecision],
    lucks: Sequence[RollLuck],
    result: float | None,
) -> tuple[PlayerAnalysis, PlayerAnalysis]:
    """Return the totals of both players of `record`, or of one of its games."""
    unit = CostUnit.of_length(record.length)
    first, second = (
        player_analysis(
            name,
            [decision for decision in decisions if decision.player == player],
            [luck for luck in lucks if luck.roll.player == player],
            unit,
            is_analyst=without_plies(own_name(name)) == without_plies(analyst),
            rolls_of_both=sum(decision.is_play for decision in decisions),
        )
        for player, name in enumerate(record.players)
    )
    if result is None:
        return first, second
    # An unfinished game counts as nothing in the result, and so does its luck.
    ended = [luck for luck in lucks if record.games[luck.roll.game - 1].result is not None]
    adjusted = result - sum(luck.luck * luck.roll.unit * (1 - 2 * luck.roll.player) for luck in ended)
    return (
        replace(first, result=result, luck_adjusted=adjusted),
        replace(second, result=-result, luck_adjusted=-adjusted),
    )


def result_of(record: MatchRecord) -> float | None:
    """Return the first player's result in points or MWC; None if no game has ended."""
    before, after = record.games[0].score, _final_score(record)
    if not any(game.result for game in record.games):
        return None
    if not record.length:
        return sum(map(_points, record.games))
    table, crawford = match_equity_table(), crawford_game(record)

    def chance(score: tuple[int, int], is_over: bool) -> float:
        away = [max(record.length - points, 0) for points in score]
        at_match_point = 1 in away and 0 not in away
        return table.chance(away[0], away[1], at_match_point and is_over)

    played = crawford is not None and record.games[crawford].result is not None
    started = crawford is None and is_match_point(record.length, before)
    return chance(after, played or started) - chance(before, started)


def _points(game: GameRecord) -> float:
    """Return the points that the first player won or lost."""
    return 0.0 if game.result is None else float(game.result.points * (1 - 2 * game.result.winner))


def _final_score(record: MatchRecord) -> tuple[int, int]:
    return record.games[-1].score_after if record.games else (0, 0)
