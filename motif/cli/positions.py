"""Commands about positions: evaluate, plays, hint, explain and bearoff."""

import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from motif.analysis.judge import JUDGE, MatchOptions, evaluator_of, for_match, valued_record
from motif.analysis.phrases import LANGUAGE
from motif.cli.options import (
    DEFAULT_PLAYER,
    DecisionBatch,
    FirstDie,
    HtmlOption,
    IdArgument,
    JobsOption,
    JsonOption,
    Judge,
    JudgeChoice,
    LanguageOption,
    MatchChoice,
    MaybeId,
    PlayerOption,
    PositionBatch,
    SecondDie,
    Settings,
    check_choice,
    command,
    option,
    player_option,
)
from motif.cli.printing import (
    print_board,
    print_table,
    print_valued,
    printed_json,
    say,
    write_records,
)
from motif.evaluators.known_players import without_plies
from motif.runtime.errors import PositionError, SettingError
from motif.runtime.frames import Record
from motif.runtime.layout import columns, counted, percent

if TYPE_CHECKING:
    from motif.analysis.explain.explanation import Explanation
    from motif.board.match_state import MatchState
    from motif.board.position import Position
    from motif.evaluators.bearoff import BearoffChances, RaceDistribution
    from motif.evaluators.cube_model import CubeModel
    from motif.players.ranking import RankedPlay, Ranking
    from motif.rollouts import Comparison

_START = "4HPwATDgc/ABMA"
_MAX_TERMS = 15
"""Number of rows of a table that --detailed prints without --all."""
_AS_GOOD_AS_CERTAIN = 0.9999


def _check_all(every: bool, detailed: bool) -> None:
    """Raise `SettingError` if --all is given without --detailed."""
    if every and not detailed:
        raise SettingError("--all requires --detailed")


@command(f"evaluate {_START}", f"evaluate {_START} --player bras --detailed", "evaluate --batch FILE --json")
def evaluate(
    identifier: MaybeId = None,
    player: PlayerOption = DEFAULT_PLAYER,
    batch: PositionBatch = None,
    detailed: Annotated[bool, option("Explain the value in words, and show its features and sums.")] = False,
    every: Annotated[
        bool, option("With --detailed: show all features and hidden units.", name="--all")
    ] = False,
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Evaluate a position.

    Shows win, gammon and backgammon probabilities and the cubeless equity of the player on roll, before the
    roll.  --detailed explains the value in words, and adds the largest features and hidden units, and the
    weighted sums; for bras it shows D, g(D) and the scores S.
    """
    from motif.analysis.batch_files import read_positions
    from motif.analysis.position_records import details, evaluations
    from motif.board.parsing import parse_position
    from motif.board.xgid_ogid import ogid, xgid

    _check_all(every, detailed)
    check_choice(identifier, batch, "ID")
    evaluator = evaluator_of(player)
    if batch is not None:
        if detailed:
            raise SettingError("--detailed and --batch cannot be combined")
        boards = read_positions(batch)
        write_records(evaluations(boards, evaluator, player, jobs), len(boards), json, _evaluation_line)
        return
    position, match = parse_position(identifier or "")
    record = next(evaluations(position.board[None], evaluator, player))
    seen = details(position, evaluator) if detailed else None
    if printed_json(json, record if seen is None else {**record, **seen.to_dict()}):
        return
    print_board(position, match)
    if match is None or not match.is_won:
        print(xgid(position, match))
    print(f"OGID={ogid(position, match)}")
    wins = record["win"], record["win_gammon"], record["win_backgammon"]
    losses = 1 - record["win"], record["lose_gammon"], record["lose_backgammon"]
    rows = [("player on roll", *map(percent, wins)), ("opponent", *map(percent, losses))]
    print_table(("", "wins", "by a gammon", "by a backgammon"), rows)
    say(f"equity {record['equity']:+z.3f} ({record['class']} position, by {player})")
    if match is not None and match.dice is not None:
        say("before the roll; `motif hint` values the plays of a roll")
    if seen is not None and seen.explanation is not None:
        unit = seen.explanation.parts.scale.unit
        said = f"contributions to the value in {unit}, compared with the same position with sides switched"
        say(f"\n{said}; they often cancel each other:")
        say("\n".join([seen.explanation.summary, *seen.explanation.parts.sentences]))
    if seen is not None:
        _print_details(seen.seen, most=None if every else _MAX_TERMS)


@command(f"plays {_START} 3 1", "plays --batch FILE --json")
def plays(
    identifier: MaybeId = None,
    die1: FirstDie = None,
    die2: SecondDie = None,
    batch: DecisionBatch = None,
    json: JsonOption = False,
) -> None:
    """List the legal plays of a roll.

    Shows the position after each play as the next player on roll sees it.
    """
    import numpy as np

    from motif.analysis import position_records as records
    from motif.analysis.batch_files import read_decisions

    check_choice(identifier, batch, "ID D1 D2")
    if batch is not None:
        decisions = read_decisions(batch)
        listed = records.plays(decisions.boards, decisions.rolls)
        write_records(listed, len(decisions.boards), json, _plays_line)
        return
    position, match, roll = read_decision(identifier, die1, die2)
    record = next(records.plays(position.board[None], np.array([roll])))
    if printed_json(json, record):
        return
    print_board(position, _rolled(match, roll))
    rows = [(_named(play), play["position"]) for play in record["plays"]]
    print_table(("play", "position after it"), rows, left=2)
    say(_counted(record))


@dataclass(frozen=True)
class PlayRollout:
    """Options for rolling out the best plays of a hint."""

    rollout: Annotated[bool, option("Roll out the best plays.")] = False
    trials: Annotated[
        int | None, option("With --rollout: number of trials per play.", show_default="180")
    ] = None
    candidates: Annotated[
        int | None, option("With --rollout: number of plays to roll out.", show_default="5")
    ] = None

    def check(self, batch: str | None) -> None:
        """Raise `SettingError` for options that cannot be combined."""
        for value, word in ((self.trials, "--trials"), (self.candidates, "--candidates")):
            if value is not None and not self.rollout:
                raise SettingError(f"{word} requires --rollout")
        if self.rollout and batch is not None:
            raise SettingError("--rollout and --batch cannot be combined")


@command(
    f"hint {_START} 3 1 --player pubeval@1",
    f"hint {_START} 3 1 --rollout",
    f"hint {_START} 6 4 --length 5 --score 3-4 --crawford",
    "hint --batch FILE --json",
)
def hint(
    options: MatchChoice,
    identifier: MaybeId = None,
    die1: FirstDie = None,
    die2: SecondDie = None,
    *,
    judge: JudgeChoice,
    batch: DecisionBatch = None,
    plays: Annotated[int, option("Number of best plays to show; --json shows all.", min=1)] = 10,
    rolling: Annotated[PlayRollout, Settings()],
    json: JsonOption = False,
    jobs: JobsOption = None,
) -> None:
    """Rank the legal plays of a roll; without a roll, decide whether to double.

    Equities and probabilities (wins, gammons and backgammons in percent) are those of the player who moves.
    The source shows how deep each play was evaluated: weak plays get less lookahead, and their equity is at
    most that of the worst play at full depth, so several may show the same.  Plays are valued for the match
    and cube of the options or of the ID, with equities normalised so that a single game at that cube is worth
    1; otherwise for money play without a cube.  --rollout rolls out the best plays for 12 plies,
    luck-adjusted and with the same dice, as `motif explain` does; see also `motif rollout --compare`.
    """
    from motif.analysis.position_records import hint as hint_record
    from motif.board.parsing import parse_decision

    check_choice(identifier, batch, "ID D1 D2")
    rolling.check(batch)
    if batch is not None:
        _write_hints(batch, judge, plays, options, json, jobs)
        return
    position, match, roll = parse_decision(identifier or "", die1, die2)
    player, evaluator = judge.load(with_cube=roll is None or options.given_state(match) is not None)
    if roll is None:
        if rolling.rollout:
            raise SettingError("--rollout requires dice; for cube decisions see `motif rollout --cubeful`")
        from motif.analysis.cube_records import cube_answers
        from motif.cli.cube import print_answer

        asked = [(position, options.state_of(match))]
        print_answer(next(cube_answers(asked, evaluator, player, jobs=jobs)), player, json)
        return
    ranking, record = hint_record(position, roll, match, evaluator, player, options)
    comparison, by_whom = None, ""
    if rolling.rollout:
        from motif.players.ranking import cube_model_of

        cube_model = cube_model_of(for_match(evaluator, options, match))
        comparison, by_whom, record["rollout"] = _roll_out(ranking, position, cube_model, rolling, jobs)
    if printed_json(json, record):
        return
    print_board(position, _rolled(options.given_state(match), roll))
    if comparison is None:
        print_table(_HINT, [_hint_row(rank, one) for rank, one in enumerate(ranking[:plays], 1)])
        say(f"{_counted(record)}, ranked by {player}")
    else:
        from motif.cli.rollouts import print_comparison

        print_comparison(comparison, by_whom)
        say(f"{_counted(record)}; the best according to {player} were rolled out")
    print_valued(record)


def _write_hints(
    batch: str, judge: Judge, plays: int, options: MatchOptions, json: bool, jobs: int | None
) -> None:
    from motif.analysis.batch_files import read_decisions
    from motif.analysis.position_records import hints

    decisions = read_decisions(batch)
    with_cube = any(options.given_state(match) is not None for match in decisions.matches)
    player, evaluator = judge.load(with_cube)
    records = hints(decisions, evaluator, player, options, jobs)
    write_records(records, len(decisions.boards), json, partial(_hint_line, plays=plays))


_HINT = ("   play", "equity", "diff", "win    g  bg - lose    g  bg", "source")
"""Columns of a hint; probabilities are in percent, in gnubg's order."""


def _hint_row(rank: int, ranked: "RankedPlay") -> tuple[str, ...]:
    from motif.board.notation import NO_MOVE

    chances = ""
    if ranked.probabilities is not None:
        win, gammon, backgammon, lose_gammon, lose_backgammon = (100 * it for it in ranked.probabilities)
        won = f"{_fitted(win)} {_fitted(gammon)} {_fitted(backgammon, 3)}"
        chances = f"{won} - {_fitted(100 - win)} {_fitted(lose_gammon)} {_fitted(lose_backgammon, 3)}"
    play = f"{f'{rank}.':3} {ranked.play.notation or NO_MOVE}"
    return play, f"{ranked.equity:+z.3f}", ranked.shown_difference * (rank > 1), chances, ranked.source


def _fitted(share: float, width: int = 4) -> str:
    """Return a percentage in `width` columns: with a decimal, if there is room for it."""
    text = f"{share:{width}.1f}"
    return text if len(text) == width else f"{share:{width}.0f}"


def _roll_out(
    ranking: "Ranking", position: "Position", cube_model: "CubeModel", rolling: PlayRollout, jobs: int | None
) -> "tuple[Comparison, str, Record]":
    """Roll out the best plays of a ranking; also return by whom, in words, and the JSON record."""
    from motif.analysis.confirmation import SHORT
    from motif.rollouts import compare_plays
    from motif.rollouts.comparison import CANDIDATES
    from motif.runtime.settings import check_count

    count = CANDIDATES if rolling.candidates is None else rolling.candidates
    check_count("candidates", count, 1)
    settings = SHORT if rolling.trials is None else replace(SHORT, trials=rolling.trials)
    evaluator = evaluator_of(without_plies(ranking.player))
    best = [ranked.play for ranked in ranking[:count]]
    comparison = compare_plays(
        position, ranking.roll, evaluator, settings, plays=best, cube_model=cube_model, jobs=jobs
    )
    rolled: Record = {"player": evaluator.name, "scoring": settings.scoring, "seed": settings.seed}
    how = f"{evaluator.name}, {settings.cut} plies each"
    if not cube_model.is_cubeless:
        rolled["cubeful"], how = True, f"{how}, cubeful"
    return comparison, how, comparison.to_dict() | rolled


def read_decision(
    identifier: str | None, die1: str | None, die2: str | None
) -> "tuple[Position, MatchState | None, tuple[int, int]]":
    """Return the position, match state and roll of an ID and dice; the roll may be part of the ID."""
    from motif.board.parsing import parse_decision

    position, match, roll = parse_decision(identifier or "", die1, die2)
    if roll is None:
        raise SettingError("missing argument: D1 D2, because the ID has no roll")
    return position, match, roll


def _rolled(match: "MatchState | None", roll: tuple[int, int]) -> "MatchState | None":
    """Return `match` with the roll to show on the board."""
    if match is None or match.doubled:
        return match
    return replace(match, dice=(max(roll), min(roll)))


def _evaluation_line(record: Record) -> str:
    won = f"win {record['win']:.4f} {record['win_gammon']:.4f} {record['win_backgammon']:.4f}"
    lost = f"lose {1 - record['win']:.4f} {record['lose_gammon']:.4f} {record['lose_backgammon']:.4f}"
    return f"{record['position']}  {won}  {lost}  equity {record['equity']:+z.4f}  {record['class']}"


def _plays_line(record: Record) -> str:
    return f"{_heading(record)}: {', '.join(map(_named, record['plays']))}"


def _hint_line(record: Record, *, plays: int) -> str:
    ranked = (f"{_named(play)} {play['equity']:+z.4f}" for play in record["plays"][:plays])
    return f"{_heading(record)}: {', '.join(ranked)}"


def _heading(record: Record) -> str:
    return "{} {}{}".format(record["position"], *record["roll"])


def _named(play: Record) -> str:
    return play["notation"] or "cannot move"


def _counted(record: Record) -> str:
    plays = record["plays"]
    count = counted(len(plays), "legal play") if plays[0]["notation"] else "no legal play"
    return "{} of {}{}".format(count, *record["roll"])


_DETAILS = {"raw": ("raw sum", "before tanh, no unit"), "hidden_units": ("hidden unit", "from -1 to 1")}
"""Titles of the tables of details."""


def _print_details(details: Record, most: int | None) -> None:
    """Print the tables of `Evaluator.details`, features, sums and scores, with the `most` largest rows."""
    for name, value in details.items():
        if isinstance(value, dict):
            rows = list(value.items())
            if most is not None and len(rows) > most:
                rows = sorted(rows, key=lambda row: -abs(row[1]))[:most]
            print_table(_DETAILS.get(name, (name, "")), [(key, f"{number:+z.4f}") for key, number in rows])
            if len(rows) < len(value):
                say(f"the largest {len(rows)} of {len(value)}; --all shows the others")
    rest = [
        (name.replace("_", " "), value if isinstance(value, str) else f"{value:.4f}")
        for name, value in details.items()
        if not isinstance(value, dict)
    ]
    if rest:
        print_table(("score", ""), rest)


@dataclass(frozen=True)
class ExplainedPlayer(Judge):
    """The player whose plays are explained."""

    player: Annotated[
        str | None, player_option("Player to explain: a weight file, bras or phase.", show_default=JUDGE)
    ] = None


@command(
    f"explain {_START} 3 1",
    f"explain {_START} 3 1 --language de --detailed",
    f'explain {_START} 3 1 --versus "24/23 13/10" --html why.html',
)
def explain(
    identifier: IdArgument,
    options: MatchChoice,
    die1: FirstDie = None,
    die2: SecondDie = None,
    *,
    judge: Annotated[ExplainedPlayer, Settings()],
    versus: Annotated[
        str | None,
        option("Play to compare with the best, such as '13/8 6/5'.", "PLAY", show_default="the second best"),
    ] = None,
    detailed: Annotated[
        bool, option("Show the formula and the largest groups and terms of the values.")
    ] = False,
    every: Annotated[bool, option("With --detailed: show all groups and terms.", name="--all")] = False,
    language: LanguageOption = LANGUAGE,
    html: HtmlOption = None,
    json: JsonOption = False,
) -> None:
    """Explain why one play is better than another.

    Shows how certain the difference between the plays is, and the reasons for it, largest first, whose
    contributions add up to the difference.  --detailed adds the largest terms of the weights, and --all every
    term; all terms add up exactly.  Plays are valued for the match and cube given by the options or by the
    ID; terms are always for cubeless money play.  See docs/how-to/explain.md in motif's source.
    """
    from motif.analysis.explain.explanation import explain_play
    from motif.board.moves import legal_plays
    from motif.board.notation import find_play

    _check_all(every, detailed)
    position, match, roll = read_decision(identifier, die1, die2)
    worse = None if versus is None else find_play(versus, legal_plays(position, roll))
    _, evaluator = judge.load(with_cube=options.given_state(match) is not None)
    state = for_match(evaluator, options, match)
    valued = valued_record(state)
    explanation = explain_play(evaluator, position, roll, worse=worse, state=state, language=language)
    if html is not None:
        from motif.reports.term_pages import explanation_page
        from motif.runtime.files import write_text

        write_text(html, explanation_page(explanation, match))
    if printed_json(json, {**explanation.to_dict(), **valued, "html": html}):
        return
    from motif.board.diagram import boards_after

    both = [(play.notation, play.position) for play in (explanation.better, explanation.worse)]
    print(*boards_after(both, columns(sys.stdout)), sep="\n")
    say("")
    for sentence in explanation.lines:
        say(sentence)
    print_valued(valued, explanation.words, state)
    if detailed:
        _print_contributions(explanation, most=None if every else _MAX_TERMS)


def _print_contributions(explanation: "Explanation", most: int | None) -> None:
    """Print the `most` largest groups and terms of the difference between two plays; all for None."""
    say("")
    for sentence in explanation.detailed_lines:
        say(sentence)
    parts, words = explanation.static.parts, explanation.words
    rows = [(words.group(name), parts.scale.in_words(value, words)) for name, value in parts.shown_groups]
    print_table((words.say("detail", "group_column"), explanation.unit), rows[:most])
    terms, about = sorted(parts.terms, key=lambda term: -abs(term[1])), parts.term_words
    print_table(
        (words.say("detail", "term_column"), words.say("detail", "x_column")),
        [
            (f"{about[name]}\n{name}" if name in about else name, words.signed(value, 6))
            for name, value in terms[:most]
        ],
    )
    if most is not None and len(terms) > most:
        rest = words.signed(sum(value for _, value in terms[most:]), 6)
        say(words.say("detail", "other_terms", number=words.count(len(terms) - most), amount=rest))


@command("bearoff 0QYAAJkDAAAAAA", "bearoff")
def bearoff(identifier: MaybeId = None, json: JsonOption = False) -> None:
    """Show the probabilities of bearing off within each number of rolls.

    Shows them for each side that has all checkers in its home board, if there is no contact.  Without an ID,
    describes the bearoff tables, which are built on first use.
    """
    if identifier is None:
        _show_tables(json)
    else:
        _show_position(identifier, json)


def _show_tables(json: bool) -> None:
    from motif.evaluators.bearoff.lookup import HOME_POSITIONS, TWO_SIDED_POSITIONS
    from motif.evaluators.bearoff.tables import CHANCES, loaded_tables

    tables, file, built, seconds = loaded_tables()
    size = sum(array.nbytes for array in tables)
    counts = {
        "one_sided_positions": HOME_POSITIONS,
        "one_sided_chances": len(tables.values) - CHANCES,
        "two_sided_positions": TWO_SIDED_POSITIONS**2,
    }
    if printed_json(json, {**counts, "bytes": size, "seconds": seconds, "file": file, "built": built}):
        return
    print_table(("table", "entries"), [(name.replace("_", " "), f"{n:,}") for name, n in counts.items()])
    say(f"{'built' if built else 'loaded'} in {seconds:.2f} s, {size / 1e6:.1f} MB")
    say("in memory only, because the cache folder is not writable" if file is None else file)


def _show_position(identifier: str, json: bool) -> None:
    from motif.board.identifiers import gnubg_id
    from motif.board.parsing import parse_position
    from motif.evaluators.bearoff import bearoff_chances

    position, match = parse_position(identifier)
    sides = _distributions(position)
    chances = None
    with suppress(PositionError):
        chances = bearoff_chances(position)
    known = {} if chances is None else chances.to_dict()
    records = dict(zip(("player_on_roll", "opponent"), map(_record, sides), strict=True))
    if printed_json(json, {**known, **records, "position": gnubg_id(position)}):
        return
    print_board(position, match)
    print_table(("off within", "player on roll", "opponent"), _rows(sides))
    if chances is not None:
        say(_summary(chances))


def _summary(chances: "BearoffChances") -> str:
    won = chances.probabilities
    gammons = f", gammons {percent(won.win_gammon, 3)}, loses gammons {percent(won.lose_gammon, 3)}"
    how = "(exact)" if chances.exact else "\n(each side minimising its number of rolls)"
    return (
        f"wins {percent(won.win, 3)}{gammons if won.win_gammon + won.lose_gammon else ''}, "
        f"equity {won.equity:+z.4f} {how}"
    )


def _distributions(position: "Position") -> "list[RaceDistribution | None]":
    """Return the distributions of both sides; raises `PositionError` if neither side has one."""
    from motif.board.outcome import outcome
    from motif.evaluators.bearoff import race_distribution

    if outcome(position):
        raise PositionError("the game is over", about="no bearoff")
    distributions: list[RaceDistribution | None] = []
    faults = []
    for who, seen in (("the player on roll", position), ("the opponent", position.switch_sides())):
        try:
            distributions.append(race_distribution(seen))
        except PositionError as error:
            distributions.append(None)
            faults.append(f"{who}: {error.reason}")
    if len(faults) == len(distributions):
        raise PositionError("; ".join(faults), about="no bearoff")
    return distributions


def _record(side: "RaceDistribution | None") -> Record | None:
    if side is None:
        return None
    return {
        "mean": side.mean,
        "sd": side.sd,
        "all_off": side.all_off.tolist(),
        "first_off": side.first_off.tolist(),
    }


def _rows(sides: "list[RaceDistribution | None]") -> list[tuple[str, ...]]:
    """Return table rows: probabilities by number of rolls, then means and standard deviations."""
    within = [[] if side is None else side.all_off.cumsum().tolist() for side in sides]
    known = [chances for chances in within if chances]
    first = min(next(n for n, chance in enumerate(chances) if chance > 0) for chances in known)
    last = max(next(n for n, c in enumerate(chances) if c >= _AS_GOOD_AS_CERTAIN) for chances in known)
    rows: list[tuple[str, ...]] = [
        (counted(n, "roll"), *(percent(one[min(n, len(one) - 1)], 2) if one else "-" for one in within))
        for n in range(first, last + 1)
    ]
    rows.append(("mean", *("-" if side is None else f"{side.mean:.3f}" for side in sides)))
    return [*rows, ("standard deviation", *("-" if side is None else f"{side.sd:.3f}" for side in sides))]
