"""How a game of a record ended, cube and all, in figures and in words."""

from dataclasses import dataclass
from typing import Any

from motif.board.game_record import CubeAction, GameProgress, GameRecord, GameResult, Turn
from motif.board.outcome import Outcome, outcome


@dataclass(frozen=True)
class GameFacts:
    """What there is to tell of a game that has ended."""

    result: GameResult
    cube: int
    """What the cube showed at the end; a double that was dropped does not count."""
    doubles: int
    """Doubles and beavers offered."""
    dropped: bool
    turns: int
    """Rolls that were played."""
    kind: str | None
    """``single``, ``gammon`` or ``backgammon``; None where a double was dropped."""
    jacoby: bool
    """Whether a gammon counted no more than a single game, for want of a double."""

    def as_dict(self, players: tuple[str, str]) -> dict[str, Any]:
        """Facts for JSON; the winner by his name among `players`."""
        return {
            "winner": players[self.result.winner],
            "points": self.result.points,
            "resigned": self.result.resigned,
            "turns": self.turns,
            "cube": self.cube,
            "doubles": self.doubles,
            "dropped": self.dropped,
        }

    def in_words(self, loser: str) -> str:
        """What was won, such as ``a gammon with the cube at 2: 4 points``; `loser` is the other's name."""
        points = f"{self.result.points} point" + "s" * (self.result.points > 1)
        if self.kind is None:
            return f"{points}: {loser} passed the double"
        words = "a single game" if self.kind == "single" else f"a {self.kind}"
        if self.cube > 1:
            words += f" with the cube at {self.cube}: {points}"
        if self.jacoby:
            words += f", which counts {points} without a double (Jacoby rule)"
        if self.result.resigned:
            words += f"{',' if self.cube > 1 else ':'} {loser} resigned"
        return words


def game_facts(game: GameRecord) -> GameFacts | None:
    """The facts of `game`; None where it has not ended."""
    if game.result is None:
        return None
    progress = GameProgress()
    for action in game.actions:
        progress.apply(action)
    cube_actions = [action.kind for action in game.actions if isinstance(action, CubeAction)]
    is_dropped = "drop" in cube_actions
    won = 1 if is_dropped or game.result.resigned else abs(outcome(progress.position))
    jacoby = not game.result.resigned and game.result.points < won * progress.cube
    size = won if jacoby else game.result.points // progress.cube
    return GameFacts(
        result=game.result,
        cube=progress.cube,
        doubles=sum(kind not in ("take", "drop") for kind in cube_actions),
        dropped=is_dropped,
        turns=sum(isinstance(action, Turn) and action.play is not None for action in game.actions),
        kind=None if is_dropped else Outcome(size).name.removeprefix("WIN_").lower(),
        jacoby=jacoby,
    )
