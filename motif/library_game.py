"""A game of backgammon to play on, for bots and notebooks: in the way of python-chess's ``Board``."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from motif.board.diagram import svg_diagram, text_diagram
from motif.board.game_record import GameResult, MatchRecord
from motif.board.match_file import write_match
from motif.board.moves import Play, RollLike, as_roll
from motif.board.notation import find_play
from motif.board.position import Position
from motif.board.rules import RESIGNATIONS
from motif.runtime.errors import PlayError, SettingError, did_you_mean, shown
from motif.session.session import GameSession, Seat, SessionRules

_CUBE_WORDS = ("double", "take", "pass", "beaver", "raccoon")


class Game:
    """A game between players 0 and 1, for money or in a match: dice, plays, the cube and the score.

    Parameters
    ----------
    length : int
        Points of the match; 0 is money play.
    cube, jacoby, beavers, raccoons : bool
        The rules; the last three are for money play.
    names : tuple of str
        What the players are called in records.
    seed : int, optional
        Of the dice; without one they are different each time.

    Examples
    --------
    >>> import motif
    >>> game = motif.Game(length=5, seed=1)
    >>> while not game.is_over:
    ...     dice = game.roll()
    ...     game.push(motif.load("pubeval").choose(game.position, dice))
    >>> game.result.points
    1
    """

    def __init__(
        self,
        length: int = 0,
        *,
        cube: bool = True,
        jacoby: bool = False,
        beavers: bool = False,
        raccoons: bool = False,
        names: tuple[str, str] = ("player 0", "player 1"),
        seed: int | None = None,
    ) -> None:
        rules = SessionRules(length, cube=cube, jacoby=jacoby, beavers=beavers, raccoons=raccoons)
        self._session = GameSession((Seat(names[0]), Seat(names[1])), rules=rules)
        self._random = np.random.default_rng(seed)
        self._has_begun = False

    @property
    def position(self) -> Position:
        """The position with its match state, seen by the player on roll: ``motif.rank(game.position)``."""
        state = self._session.state() if self._has_begun else None
        return Position(self._session.position.board, state)

    @property
    def turn(self) -> int:
        """The player on roll, 0 or 1; the one who decides next is `to_decide`."""
        return self._session.on_roll

    @property
    def to_decide(self) -> int:
        """The player who decides next: the one who was doubled, or else the player on roll."""
        return self._session.to_decide

    @property
    def dice(self) -> tuple[int, int] | None:
        """The roll to play, the higher die first; None before the roll."""
        return self._session.roll

    @property
    def legal_plays(self) -> list[Play]:
        """The legal plays of the roll; empty before it and after the game."""
        return list(self._session.plays)

    @property
    def cube(self) -> int:
        """The value of the cube, before a double that is on offer."""
        return self._session.cube

    @property
    def can_double(self) -> bool:
        """Whether the player on roll may double now."""
        return self._has_begun and self._session.can_double

    @property
    def is_doubled(self) -> bool:
        """Whether a double waits for an answer."""
        return self._session.doubled

    @property
    def score(self) -> tuple[int, int]:
        """Points of both players in the games that have ended."""
        return self._session.score

    @property
    def is_over(self) -> bool:
        """Whether the game has ended; `roll` begins the next one, unless the match is over too."""
        return self._session.result is not None

    @property
    def result(self) -> GameResult | None:
        """The winner of the game and the points won; None while it goes on."""
        return self._session.result

    @property
    def match_winner(self) -> int | None:
        """The winner of the match; None while it goes on, and in money play."""
        return self._session.match_winner

    @property
    def record(self) -> MatchRecord:
        """Everything that was played, as `motif.analyse` takes it."""
        return self._session.record()

    def roll(self, dice: RollLike | None = None) -> tuple[int, int]:
        """Roll the dice, or set them as `dice`; return them, the higher one first.

        The first roll of a game begins it: each player rolls one die, the higher one plays both, and `dice`
        are player 0's and player 1's.  Raises `RecordError` where a roll or a double waits to be played.
        """
        if self._session.plays:
            raise PlayError("the roll {}{} is not played yet: push a play".format(*(self.dice or ())))
        if not self._has_begun or self.is_over:
            first, second = self._opening() if dice is None else _as_thrown(dice)
            self._session.begin((first, second))
            self._has_begun = True
        else:
            thrown = self._session.known_roll or self._throw() if dice is None else as_roll(dice)
            self._session.throw(thrown)
        assert self.dice is not None
        return self.dice

    def push(self, play: Play | str) -> None:
        """Make a play of the roll, ``"8/5 6/5"``, or turn the cube: ``"double"``, ``"take"``, ``"pass"``.

        Raises `PlayError` for what is not legal, `RecordError` for a cube that cannot be turned now.
        """
        if isinstance(play, str) and play in _CUBE_WORDS:
            self._turn_cube(play)
            return
        if self.dice is None:
            raise PlayError(f"no roll to play {shown(str(play))} with: call roll() first")
        plays = self._session.plays
        if isinstance(play, str):
            play = find_play(play, plays)
        for legal in plays:
            if legal.position == play.position:
                self._session.play(legal)
                return
        raise PlayError("{} is no legal play of {}{}".format(play, *self.dice))

    def double(self) -> None:
        """Let the player on roll double; raises `RecordError` unless `can_double`."""
        self._turn_cube("double")

    def take(self) -> None:
        """Take the double that is on offer."""
        self._turn_cube("take")

    def drop(self) -> None:
        """Pass the double that is on offer, which loses the game."""
        self._turn_cube("pass")

    def resign(self, loss: str = "single") -> None:
        """End the game: the player on roll loses a ``single`` game, a ``gammon`` or a ``backgammon``."""
        if loss not in RESIGNATIONS:
            known = ", ".join(RESIGNATIONS)
            raise SettingError(
                f"a resignation is {known}, not {shown(loss)}{did_you_mean(loss, RESIGNATIONS)}"
            )
        self._session.resign(loss)

    def pop(self) -> None:
        """Take back the last choice of this game; the dice stay as they fell."""
        self._session.undo()

    def write(self, path: Path | str) -> Path:
        """Write what was played to a .mat or .sgf file; return its path."""
        write_match(path, self.record)
        return Path(path)

    def to_dict(self) -> dict[str, Any]:
        """Return where the game stands, for JSON."""
        result = self.result
        return {
            "position": self.position.gnubg_id,
            "turn": self.turn,
            "dice": None if self.dice is None else list(self.dice),
            "cube": self.cube,
            "cube_owner": self._session.state().cube_owner,
            "doubled": self.is_doubled,
            "score": list(self.score),
            "length": self._session.rules.length,
            "winner": None if result is None else result.winner,
            "points": None if result is None else result.points,
        }

    def __str__(self) -> str:
        return text_diagram(self._session.position, self._session.state())

    def __repr__(self) -> str:
        ends = "over" if self.is_over else f"player {self.turn} on roll"
        return f"<game {self.score[0]}-{self.score[1]}, cube {self.cube}, {ends}>"

    def _repr_svg_(self) -> str:
        return svg_diagram(self._session.position, replace(self._session.state()))

    def _turn_cube(self, word: str) -> None:
        self._session.turn_cube("drop" if word == "pass" else word)

    def _throw(self) -> tuple[int, int]:
        first, second = self._random.integers(1, 7, 2).tolist()
        return as_roll((first, second))

    def _opening(self) -> tuple[int, int]:
        first, second = 1, 1
        while first == second:
            first, second = self._random.integers(1, 7, 2).tolist()
        return first, second


def _as_thrown(dice: RollLike) -> tuple[int, int]:
    """Return the dice in the order that they were given."""
    high, low = as_roll(dice)
    text = "".join(filter(str.isdigit, str(dice)))
    return (high, low) if text.startswith(str(high)) else (low, high)
