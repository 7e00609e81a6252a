"""Commands about single positions, or about every line of a file: evaluate, plays, hint.

What a player sees in a position, printed for people.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motif.cli.common import (
    DEFAULT_PLAYER,
    JobsOption,
    JsonOption,
    PlayerOption,
    SeedOption,
    evaluator_of,
    example,
    json_line,
    print_table,
)
from motif.runtime.errors import SettingError
from motif.runtime.progress import Advance, progress

if TYPE_CHECKING:
    from motif.analysis.explain import PositionExplanation
    from motif.board.match_state import MatchState
    from motif.board.position import Position
    from motif.cli.records import Rolls
    from motif.evaluators import Evaluator


_PLAYS_SHOWN = 10
_LINES_AT_ONCE = 1000
IdArgument = Annotated[
    str | None,
    typer.Argument(metavar="ID", help="A GNUbg ID, PositionID:MatchID, an XGID or a 20-letter key."),
]
FirstDie = Annotated[str | None, typer.Argument(metavar="D1", help="One die.", show_default=False)]
SecondDie = Annotated[str | None, typer.Argument(metavar="D2", help="The other die.", show_default=False)]
PositionBatch = Annotated[
    str | None,
    typer.Option("--batch", metavar="FILE", help="Instead of ID: a file with one a line; - is stdin."),
]
DecisionBatch = Annotated[
    str | None,
    typer.Option("--batch", metavar="FILE", help="Instead of ID D1 D2: a file with them a line; - is stdin."),
]


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    one, many = "4HPwATDgc/ABMA", "--batch FILE --json"
    detailed = f"motif evaluate {one} --player bras --detailed"
    app.command(epilog=example(f"motif evaluate {one}", detailed, f"motif evaluate {many}"))(evaluate)
    app.command(epilog=example(f"motif plays {one} 3 1", f"motif plays {many}"))(plays)
    app.command(epilog=example(f"motif hint {one} 3 1 --player pubeval@1", f"motif hint {many}"))(hint)


def evaluate(
    identifier: IdArgument = None,
    player: PlayerOption = DEFAULT_PLAYER,
    batch: PositionBatch = None,
    detailed: Annotated[bool, typer.Option("--detailed", help="Show what the player sees, by name.")] = False,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Show the chances and the equity of a position.

    They belong to the player on roll, before the roll; the equity is cubeless.  With --detailed come the
    features that weights multiply and the sums they make, and what makes up the value, in words; of bras D,
    g(D) and the scores S.
    """
    from motif.cli.records import evaluations, read_positions

    _check_choice(identifier, batch, "ID")
    evaluator = evaluator_of(player)
    if batch is not None:
        if detailed:
            raise SettingError("--detailed is for one position, not for --batch")
        boards = read_positions(batch)
        _write(evaluations(boards, evaluator, player, jobs), len(boards), json, _evaluation_line)
        return
    position, match = _position(identifier)
    record = next(evaluations(position.board[None], evaluator, player))
    details = evaluator.details(position) if detailed else {}
    explanation = what_makes_up(evaluator, position, details)
    if json:
        told = {} if explanation is None else {"explanation": explanation.to_dict()}
        print(json_line({**record, "details": details, **told} if detailed else record))
        return
    _draw(position, match)
    print_details(details)
    wins = record["win"], record["win_gammon"], record["win_backgammon"]
    losses = 1 - record["win"], record["lose_gammon"], record["lose_backgammon"]
    rows = [("player on roll", *map(_percent, wins)), ("opponent", *map(_percent, losses))]
    print_table(("", "wins", "by a gammon", "by a backgammon"), rows)
    print(f"equity {record['equity']:+.3f} in a {record['class']} position, says {player}")
    if explanation is not None:
        print_explanation(explanation)


def plays(
    identifier: IdArgument = None,
    die1: FirstDie = None,
    die2: SecondDie = None,
    batch: DecisionBatch = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """List every legal play of a roll.

    With each comes the position after it, as the next player on roll sees it.
    """
    from motif.cli import records
    from motif.cli.records import read_decisions

    _check_choice(identifier, batch, "ID D1 D2")
    if batch is not None:
        boards, rolls = read_decisions(batch)
        _write(records.plays(boards, rolls), len(boards), json, _plays_line)
        return
    position, match, roll = _decision(identifier, die1, die2)
    record = next(records.plays(position.board[None], roll))
    if json:
        print(json_line(record))
        return
    _draw(position, match)
    rows = [(_named(play), play["position"]) for play in record["plays"]]
    print_table(("play", "position after it"), rows, left=2)
    print(_counted(record))


def hint(
    identifier: IdArgument = None,
    die1: FirstDie = None,
    die2: SecondDie = None,
    player: PlayerOption = DEFAULT_PLAYER,
    batch: DecisionBatch = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Rank the legal plays of a roll, the best first.

    Equities belong to the mover.
    """
    from motif.cli.records import hints, read_decisions

    _check_choice(identifier, batch, "ID D1 D2")
    evaluator = evaluator_of(player)
    if batch is not None:
        boards, rolls = read_decisions(batch)
        _write(hints(boards, rolls, evaluator, player, jobs), len(boards), json, _hint_line)
        return
    position, match, roll = _decision(identifier, die1, die2)
    record = next(hints(position.board[None], roll, evaluator, player))
    if json:
        print(json_line(record))
        return
    _draw(position, match)
    ranked = record["plays"]
    best = ranked[0]["equity"]
    rows = [
        (f"{rank}.", _named(play), f"{play['equity']:+.3f}", f"{play['equity'] - best:.3f}" * (rank > 1))
        for rank, play in enumerate(ranked[:_PLAYS_SHOWN], 1)
    ]
    print_table(("", "play", "equity", "difference"), rows, left=2)
    print(f"{_counted(record)}, ranked by {player}")


def _check_choice(identifier: str | None, batch: str | None, wanted: str) -> None:
    if identifier is None and batch is None:
        raise SettingError(f"missing argument: {wanted}, or --batch FILE")
    if identifier is not None and batch is not None:
        raise SettingError(f"give either {wanted} or --batch FILE, not both")


def _position(identifier: str | None) -> "tuple[Position, MatchState | None]":
    from motif.board.parsing import parse_position

    return parse_position(identifier or "")


def _decision(
    identifier: str | None, die1: str | None, die2: str | None
) -> "tuple[Position, MatchState | None, Rolls]":
    import numpy as np

    from motif.board.parsing import parse_roll

    position, match = _position(identifier)
    if die1 is None:
        raise SettingError("missing argument: D1 D2, the roll")
    return position, match, np.array([parse_roll(die1, die2)], np.int64)


def _draw(position: "Position", match: "MatchState | None") -> None:
    from motif.board.diagram import text_diagram

    print(text_diagram(position, match))
    print()


def _write(
    records: Iterator[dict[str, Any]], total: int, json: bool, describe: Callable[[dict[str, Any]], str]
) -> None:
    """Print each record as it comes; a bar shows how far that is unless the lines themselves do."""
    form = json_line if json else describe
    output = sys.stdout  # while the bar shows, rich puts something else in its place
    quiet: nullcontext[Advance] = nullcontext(lambda steps=1: None)
    with quiet if output.isatty() else progress(f"{total} lines", total) as advance:
        for number, record in enumerate(records, 1):
            output.write(form(record) + "\n")
            if number % _LINES_AT_ONCE == 0:
                advance(_LINES_AT_ONCE)


def _evaluation_line(record: dict[str, Any]) -> str:
    won = f"win {record['win']:.4f} {record['win_gammon']:.4f} {record['win_backgammon']:.4f}"
    lost = f"lose {1 - record['win']:.4f} {record['lose_gammon']:.4f} {record['lose_backgammon']:.4f}"
    return f"{record['position']}  {won}  {lost}  equity {record['equity']:+.4f}  {record['class']}"


def _plays_line(record: dict[str, Any]) -> str:
    return f"{_heading(record)}: {', '.join(map(_named, record['plays']))}"


def _hint_line(record: dict[str, Any]) -> str:
    ranked = (f"{_named(play)} {play['equity']:+.4f}" for play in record["plays"])
    return f"{_heading(record)}: {', '.join(ranked)}"


def _heading(record: dict[str, Any]) -> str:
    return "{} {}{}".format(record["position"], *record["roll"])


def _named(play: dict[str, Any]) -> str:
    return play["notation"] or "cannot move"


def _counted(record: dict[str, Any]) -> str:
    count = len(record["plays"])
    return f"{count} legal play{'s' * (count != 1)} of {record['roll'][0]}{record['roll'][1]}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def print_details(details: dict[str, Any]) -> None:
    """Print `Evaluator.details`: features and raw sums in a table each, scores in another."""
    for name, value in details.items():
        if isinstance(value, dict):
            print_table((name, ""), [(key, f"{number:+.4f}") for key, number in value.items()])
    rest = [(name, _shown(value)) for name, value in details.items() if not isinstance(value, dict)]
    if rest:
        print_table(("score", ""), [(name.replace("_", " "), text) for name, text in rest])


def what_makes_up(
    evaluator: "Evaluator", position: "Position", details: dict[str, Any]
) -> "PositionExplanation | None":
    """What the value of a position is made of, where `details` are those of a weight file's raw sums."""
    if "raw" not in details:
        return None
    from motif.analysis.explain import explain_position

    return explain_position(evaluator, position)


def print_explanation(explanation: "PositionExplanation") -> None:
    """Print what the value of a position is made of, in groups and sentences."""
    print("\nwhat makes it up, against the same position with the sides exchanged:")
    print(explanation.summary)
    for sentence in explanation.sentences:
        print(sentence)


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4f}"
