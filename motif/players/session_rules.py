"""What a session of games is played for: money or a match, with the cube or without it.

Source of the rules: the US Backgammon Federation's, which gnubg follows too.  Players are 0 and 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from motif.board.game_record import GameProgress, GameResult
from motif.runtime.errors import SettingError

LONGEST_MATCH = 64
"""What gnubg reads."""
HIGHEST_CUBE = 4096
"""What gnubg's cube goes up to."""

Score = tuple[int, int]


@dataclass(frozen=True)
class SessionRules:
    """Raises `SettingError` for rules that do not go together."""

    length: int = 0
    """Points that the match is played to; 0 is money play."""
    cube: bool = True
    jacoby: bool = False
    """Money play: gammons count only after a double was taken."""
    beavers: bool = False
    """Money play: whoever is doubled may double again at once and keep the cube."""

    def __post_init__(self) -> None:
        if not 0 <= self.length <= LONGEST_MATCH:
            raise SettingError(f"a match is to 1 to {LONGEST_MATCH} points (0: money), not {self.length}")
        for name, wanted in (("the Jacoby rule", self.jacoby), ("beavers", self.beavers)):
            if wanted and self.length:
                raise SettingError(f"a match knows no {name.removeprefix('the ')}: that is for money play")
            if wanted and not self.cube:
                raise SettingError(f"{name} cannot be without the cube")

    def winner(self, score: Score) -> int | None:
        """Who has won the match; None while it goes on, and in money play always."""
        return score.index(max(score)) if self.length and max(score) >= self.length else None

    def is_crawford(self, score: Score, before: Iterable[Score]) -> bool:
        """Whether the game at `score` is the Crawford game, that of the match at which the cube rests.

        `before` are the scores at which the games until then began.  A match to one point has none: its
        cube is dead anyway.
        """
        at_match_point = self.length - 1
        return at_match_point > 0 and max(score) == at_match_point > max(map(max, before), default=0)

    def may_double(self, player: int, progress: GameProgress, score: Score, *, crawford: bool) -> bool:
        """Whether a double by `player`, on roll before the roll, is allowed and not senseless.

        A cube is dead to whom its points win the match already.
        """
        alive = not self.length or score[player] + progress.cube < self.length
        turned = progress.cube_owner in (None, player) and 2 * progress.cube <= HIGHEST_CUBE
        return self.cube and turned and alive and not crawford

    def may_beaver(self, cube: int) -> bool:
        """Whether a double of a cube at `cube` may be beavered."""
        return self.beavers and 4 * cube <= HIGHEST_CUBE

    def gammons_count(self, progress: GameProgress) -> bool:
        """Whether a gammon is worth more than a single game: not so with the Jacoby rule before a double."""
        return not self.jacoby or progress.cube_owner is not None

    def counted(self, result: GameResult, progress: GameProgress) -> GameResult:
        """`result` with the points that it counts by these rules."""
        if self.gammons_count(progress):
            return result
        return replace(result, points=min(result.points, progress.cube))
