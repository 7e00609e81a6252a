"""One game as it is played: what was done and rolled, and how to go back in it."""

from motif.board.dice import checked_roll
from motif.board.game_record import Action, CubeAction, CubeKind, GameProgress, Turn
from motif.runtime.errors import RecordError


class GameHistory:
    """The actions of a game that player `begun_by` (0 or 1) began, and where they have led."""

    def __init__(self, begun_by: int) -> None:
        self.actions: list[Action] = []
        self.progress = GameProgress()
        """The game after its actions."""
        self.rolls: list[tuple[int, int]] = []
        """Every roll of the game, those too whose plays were taken back."""
        self._chosen: list[bool] = []
        """For each action, whether a person chose it."""
        self._begun_by = begun_by
        self.progress.turn = begun_by

    @property
    def ply(self) -> int:
        """Turns played."""
        return sum(isinstance(action, Turn) for action in self.actions)

    @property
    def known_roll(self) -> tuple[int, int] | None:
        """The roll of this turn where it has been thrown, if only before something was taken back."""
        return self.rolls[self.ply] if self.ply < len(self.rolls) else None

    @property
    def cube_kind(self) -> CubeKind | None:
        """The cube action that has just been made; None where it was none."""
        last = self.actions[-1] if self.actions else None
        return last.kind if isinstance(last, CubeAction) else None

    @property
    def cube(self) -> int:
        """What the cube shows, before a double that is on offer.

        A beaver is on, though the record has it taken by the roll that follows.
        """
        return self.progress.cube << (self.cube_kind == "beaver")

    @property
    def can_undo(self) -> bool:
        """Whether a person has made a choice."""
        return any(self._chosen)

    def throw(self, roll: tuple[int, int]) -> tuple[int, int]:
        """Roll for the player whose turn it is; the roll in force, which is the known one where one is.

        Raises `RecordError` where a double has not been answered, `PlayError` for dice that are none.
        """
        self.progress.check_turn(self.progress.turn or 0)
        if self.known_roll is None:
            self.rolls.append(checked_roll(*roll))
        return self.rolls[self.ply]

    def act(self, action: Action, *, chosen: bool) -> None:
        """Go on by `action`; raises `RecordError` where it cannot come."""
        self.progress.apply(action)
        self.actions.append(action)
        self._chosen.append(chosen)

    def undo(self) -> Action:
        """Go back to before the last action that a person chose, and return it.

        Raises `RecordError` where there is none.
        """
        if not self.can_undo:
            raise RecordError("there is nothing to take back in this game")
        last = max(place for place, chosen in enumerate(self._chosen) if chosen)
        taken_back = self.actions[last]
        del self.actions[last:], self._chosen[last:]
        self.progress = GameProgress()
        self.progress.turn = self._begun_by
        for action in self.actions:
            self.progress.apply(action)
        return taken_back
