"""The command explain: why one play is better than another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motif.cli.common import (
    DEFAULT_PLAYER,
    JobsOption,
    JsonOption,
    SeedOption,
    check_target,
    evaluator_of,
    example,
    json_line,
    print_table,
)

if TYPE_CHECKING:
    from motif.analysis.explain import Explanation

_BOARD_WIDTH = 48
"""Letters of a text diagram from its left rim to the checkers borne off."""
_GAP = "   "


def register(app: typer.Typer) -> None:
    """Add this command to `app`."""
    one = "4HPwATDgc/ABMA 3 1"
    lines = (one, f'{one} --versus "24/23 13/10" --html why.html')
    app.command(epilog=example(*(f"motif explain {line}" for line in lines)))(explain)


def explain(
    identifier: Annotated[
        str,
        typer.Argument(metavar="ID", help="A GNUbg ID, PositionID:MatchID, an XGID or a 20-letter key."),
    ],
    die1: Annotated[str, typer.Argument(metavar="D1", help="One die.")],
    die2: Annotated[
        str | None, typer.Argument(metavar="D2", help="The other die.", show_default=False)
    ] = None,
    player: Annotated[
        str,
        typer.Option("--player", metavar="PLAYER", help="Whose choice: a weight file, bras or phase."),
    ] = DEFAULT_PLAYER,
    versus: Annotated[
        str | None,
        typer.Option(
            "--versus",
            metavar="PLAY",
            help="The play to compare with the best, such as '13/8 6/5'.",
            show_default="the second best",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the explanation to a page, too.")
    ] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
) -> None:
    """Tell why one play is better than another.

    The difference of the two evaluations is split exactly over the terms of the weights and told in groups,
    the largest first: what speaks for the better play has a plus.  docs/user/explain.md says how.
    """
    from motif.analysis.explain import explain_choice
    from motif.board.moves import legal_plays
    from motif.board.notation import find_play
    from motif.board.parsing import parse_position, parse_roll

    if html is not None:
        check_target(html)
    position, match = parse_position(identifier)
    roll = parse_roll(die1, die2)
    worse = None if versus is None else find_play(versus, legal_plays(position, roll))
    found = explain_choice(evaluator_of(player), position, roll, worse=worse)
    if html is not None:
        from motif.reports.explain_page import write_explanation

        write_explanation(found, html, match)
    if json:
        print(json_line({**found.to_dict(), "html": None if html is None else str(html)}))
        return
    print(_boards(found))
    print(f"\n{found.summary}\n{found.values_in_words}\n")
    for sentence in found.sentences:
        print(sentence)
    rows = [(name, found.scale.told(value)) for name, value in found.shown_groups]
    print_table(("group", found.unit), rows)


def _boards(found: "Explanation") -> str:
    """The boards after both plays, seen by the mover, side by side where there is room."""
    from rich.console import Console

    from motif.board.diagram import text_diagram

    blocks = []
    for play in (found.better, found.worse):
        rows = text_diagram(play.position.switch_sides()).splitlines()[1:]
        blocks.append([play.notation, *(row[:_BOARD_WIDTH].rstrip() for row in rows)])
    console = Console()
    if console.is_terminal and console.width < 2 * _BOARD_WIDTH + len(_GAP):
        return "\n\n".join("\n".join(block) for block in blocks)
    return "\n".join(
        f"{left:{_BOARD_WIDTH}}{_GAP}{right}".rstrip() for left, right in zip(*blocks, strict=True)
    )
