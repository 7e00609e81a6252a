"""The command bearoff."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motif.cli.common import JobsOption, JsonOption, SeedOption, example, json_line, print_table
from motif.runtime.errors import PositionError

if TYPE_CHECKING:
    from motif.board.position import Position
    from motif.evaluators.bearoff import BearoffChances, RaceDistribution

_AS_GOOD_AS_CERTAIN = 0.9999


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    app.command(epilog=example("motif bearoff 0QYAAJkDAAAAAA", "motif bearoff"))(bearoff)


def bearoff(
    identifier: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="A GNUbg ID, PositionID:MatchID, an XGID or a 20-letter key."),
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Show how many rolls a bearoff takes, and its chances.

    Of each side whose checkers are all in its home board, past the opponent's.  Without ID, what the
    tables hold and where they are kept; they are made on first use.
    """
    if identifier is None:
        _show_tables(json)
    else:
        _show_position(identifier, json)


def _show_tables(json: bool) -> None:
    from motif.evaluators.bearoff.numbering import HOME_POSITIONS, TWO_SIDED_POSITIONS
    from motif.evaluators.bearoff.tables import CHANCES, loaded_tables

    tables, file, built, seconds = loaded_tables()
    size = sum(array.nbytes for array in tables)
    counts = {
        "one_sided_positions": HOME_POSITIONS,
        "one_sided_chances": len(tables.values) - CHANCES,
        "two_sided_positions": TWO_SIDED_POSITIONS**2,
    }
    if json:
        kept = {"file": None if file is None else str(file), "built": built}
        print(json_line({**counts, "bytes": size, "seconds": seconds, **kept}))
        return
    print_table(("table", "entries"), [(name.replace("_", " "), f"{n:,}") for name, n in counts.items()])
    print(f"{'built' if built else 'loaded'} in {seconds:.2f} s, {size / 1e6:.1f} MB")
    print("in memory only: the cache folder cannot be written" if file is None else file)


def _show_position(identifier: str, json: bool) -> None:
    from motif.board.diagram import text_diagram
    from motif.board.identifiers import gnubg_id
    from motif.board.parsing import parse_position
    from motif.evaluators.bearoff import bearoff_chances

    position, match = parse_position(identifier)
    sides = _distributions(position)
    chances = None
    with suppress(PositionError):
        chances = bearoff_chances(position)
    if json:
        names = ("player_on_roll", "opponent")
        record: dict[str, Any] = {name: _record(side) for name, side in zip(names, sides, strict=True)}
        if chances is not None:
            exact, probabilities = chances.exact, chances.probabilities
            record = {**probabilities._asdict(), "equity": probabilities.equity, "exact": exact, **record}
        print(json_line({**record, "position": gnubg_id(position)}))
        return
    print(text_diagram(position, match))
    print()
    print_table(("off within", "player on roll", "opponent"), _rows(sides))
    if chances is not None:
        print(_summary(chances))


def _summary(chances: "BearoffChances") -> str:
    won = chances.probabilities
    gammons = f", gammons {won.win_gammon:.3%}, loses gammons {won.lose_gammon:.3%}"
    how = "(exact)" if chances.exact else "\n(each side playing for its fewest rolls)"
    return (
        f"wins {won.win:.3%}{gammons if won.win_gammon + won.lose_gammon else ''}, "
        f"equity {won.equity:+.4f} {how}"
    )


def _distributions(position: "Position") -> "list[RaceDistribution | None]":
    """Rolls of the player on roll and of the opponent; raises `PositionError` when neither bears off."""
    from motif.board.outcome import outcome
    from motif.evaluators.bearoff import race_distribution

    if outcome(position):
        raise PositionError("no bearoff: the game is over, one player has borne off all checkers")
    found: list[RaceDistribution | None] = []
    faults = []
    for who, seen in (("the player on roll", position), ("the opponent", position.switch_sides())):
        try:
            found.append(race_distribution(seen))
        except PositionError as error:
            found.append(None)
            faults.append(f"{who}: {str(error).removeprefix('no bearoff: ')}")
    if len(faults) == len(found):
        raise PositionError(f"no bearoff: {'; '.join(faults)}")
    return found


def _record(side: "RaceDistribution | None") -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "mean": side.mean,
        "sd": side.sd,
        "all_off": side.all_off.tolist(),
        "first_off": side.first_off.tolist(),
    }


def _rows(sides: "list[RaceDistribution | None]") -> list[tuple[str, ...]]:
    """Chances to be off within each number of rolls that matters, then mean and standard deviation."""
    within = [[] if side is None else side.all_off.cumsum().tolist() for side in sides]
    known = [chances for chances in within if chances]
    first = min(next(n for n, chance in enumerate(chances) if chance > 0) for chances in known)
    last = max(next(n for n, c in enumerate(chances) if c >= _AS_GOOD_AS_CERTAIN) for chances in known)
    rows = [
        (f"{n} roll{'s' * (n != 1)}", *(_chance_within(chances, n) for chances in within))
        for n in range(first, last + 1)
    ]
    rows.append(("mean rolls", *("-" if side is None else f"{side.mean:.3f}" for side in sides)))
    return [*rows, ("their SD", *("-" if side is None else f"{side.sd:.3f}" for side in sides))]


def _chance_within(chances: list[float], rolls: int) -> str:
    return f"{chances[min(rolls, len(chances) - 1)]:.2%}" if chances else "-"
