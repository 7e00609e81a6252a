"""A game of backgammon for bots and notebooks, like python-chess's ``Board``."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from motif.board.diagram import svg_diagram, text_diagram
from motif.board.game_record import GameResult, MatchRecord
from motif.board.match_file import write_match
from motif.board.moves import Play, RollLike, as_roll
from motif.board.position import Position
from motif.board.rules import RESIGNATIONS
from motif.evaluators.weight_file import is_line
from motif.library import legal_play
from motif.rollouts.games import SeededDice
from motif.runtime.errors import PlayError, RecordError, SettingError, did_you_mean, shown
from motif.runtime.frames import Row
from motif.runtime.layout import listed
from motif.session.advisor import default_advisor
from motif.session.event_game import EventGame
from motif.session.session import GameSession, Seat, SessionRules

_CUBE_WORDS = ("double", "take", "pass", "beaver", "raccoon")


class Game:
    """A session of money games, or a match, between players 0 and 1.

    Parameters
    ----------
    length : int
        Match length in points, 1 to 64; 0 for money play.
    cube : bool
        Whether there is a doubling cube; without one, plays are valued without a cube.
    jacoby : bool, optional
        Whether the Jacoby rule applies; by default in money play with a cube, as in ``motif play``.
    beavers, raccoons : bool
        Whether these are allowed, in money play with a cube.
    names : tuple of str
        Names of the players in records.
    seed : int, optional
        Dice seed, which gives the dice of ``motif play --seed``; random by default.

    Raises
    ------
    SettingError
        For contradictory rules or an invalid seed.

    Examples
    --------
    >>> import motif
    >>> game = motif.Game(length=5, seed=1)
    >>> while not game.is_over:
    ...     dice = game.roll()
    ...     game.push(motif.load_player("pubeval").choose(game.position, dice))
    >>> game.result.points
    1
    """

    def __init__(
        self,
        length: int = 0,
        *,
        cube: bool = True,
        jacoby: bool | None = None,
        beavers: bool = False,
        raccoons: bool = False,
        names: tuple[str, str] = ("player 0", "player 1"),
        seed: int | None = None,
    ) -> None:
        is_pair = isinstance(names, Sequence) and not isinstance(names, str) and len(names) == 2
        if not is_pair or not all(map(is_line, names)):
            raise SettingError(f"names must be two names, not {shown(names)}", "names")
        jacoby = bool(cube and not length) if jacoby is None else jacoby
        rules = SessionRules(length, cube=cube, jacoby=jacoby, beavers=beavers, raccoons=raccoons)
        self._session = GameSession((Seat(names[0]), Seat(names[1])), rules=rules)
        self._game = EventGame(self._session, SeededDice(seed), default_advisor)

    @property
    def position(self) -> Position:
        """The position with its match state, as seen by the player on roll: ``motif.rank(game.position)``.

        Functions value it at the score and the cube of the game, and without a cube if the game has none.
        """
        state = self._session.state() if self._game.events else None
        return Position(self._session.position.board, state)

    @property
    def turn(self) -> int:
        """The player on roll, 0 or 1; the player who decides next is `to_decide`."""
        return self._session.on_roll

    @property
    def to_decide(self) -> int:
        """The player who decides next: the player who was doubled, otherwise the player on roll."""
        return self._session.to_decide

    @property
    def dice(self) -> tuple[int, int] | None:
        """The roll to play, the higher die first; None before the roll."""
        return self._session.roll

    @property
    def legal_plays(self) -> list[Play]:
        """The legal plays of the roll; empty before the roll and after the game."""
        return list(self._session.plays)

    @property
    def cube(self) -> int:
        """The value of the cube; an offered double does not change it."""
        return self._session.cube

    @property
    def can_double(self) -> bool:
        """Whether the player on roll may double now."""
        return self._session.is_going and self._session.can_double

    @property
    def is_doubled(self) -> bool:
        """Whether a double awaits a response."""
        return self._session.doubled

    @property
    def score(self) -> tuple[int, int]:
        """Points of both players in finished games."""
        return self._session.score

    @property
    def is_over(self) -> bool:
        """Whether the game has ended; `roll` begins the next one, unless the match has ended too."""
        return self._session.result is not None

    @property
    def result(self) -> GameResult | None:
        """The winner of the game and the points won; None during a game."""
        return self._session.result

    @property
    def match_winner(self) -> int | None:
        """The winner of the match; None during a match, and in money play."""
        return self._session.match_winner

    @property
    def record(self) -> MatchRecord:
        """The record of all games, for `motif.analyse`."""
        return self._session.record()

    def roll(self, dice: RollLike | None = None) -> tuple[int, int]:
        """Roll the dice, and begin a game if none is in progress.

        Parameters
        ----------
        dice
            The roll, random by default.  For the first roll of a game, the die of player 0 and the die of
            player 1, which must differ; the player with the higher die plays both.

        Returns
        -------
        tuple of int
            The two dice, the higher one first.

        Raises
        ------
        PlayError
            For an invalid roll, or if the last roll has not been played yet.
        RecordError
            If a double awaits a response, or the match is over.
        """
        if self.dice is not None:
            raise PlayError("the roll {}{} has not been played yet: push a play".format(*self.dice))
        if not self._session.is_going:
            self._game.follow(self._game.opening() if dice is None else ["begin", *_in_order(dice)])
        elif dice is None:
            self._game.decide("roll")
        else:
            self._game.follow(["roll", *as_roll(dice)])
        assert self.dice is not None
        return self.dice

    def push(self, play: Play | str) -> None:
        """Make a play or a cube action.

        Parameters
        ----------
        play
            A legal play, as a `Play` or in notation such as ``"8/5 6/5"``; or ``"double"``, ``"take"``,
            ``"pass"``, ``"beaver"`` or ``"raccoon"``.

        Raises
        ------
        PlayError
            For an illegal play.
        RecordError
            For a cube action that is not allowed now.
        """
        if isinstance(play, str) and play in _CUBE_WORDS:
            self._game.follow(["drop" if play == "pass" else play])
            return
        if self.dice is None:
            raise PlayError(f"no roll to play {shown(str(play))} with: call roll() first")
        if not isinstance(play, str):
            play = legal_play(play, self.legal_plays, self.dice).notation
        self._game.follow(["play", play])

    def double(self) -> None:
        """Double.

        Raises
        ------
        RecordError
            Unless `can_double`.
        """
        self.push("double")

    def take(self) -> None:
        """Take the offered double.

        Raises
        ------
        RecordError
            If there is no double to take.
        """
        self.push("take")

    def drop(self) -> None:
        """Pass the offered double, which loses the game.

        Raises
        ------
        RecordError
            If there is no double to pass.
        """
        self.push("pass")

    def resign(self, loss: str = "single") -> None:
        """Resign the game for the player on roll.

        Parameters
        ----------
        loss
            The size of the loss: ``"single"``, ``"gammon"`` or ``"backgammon"``.

        Raises
        ------
        SettingError
            For any other `loss`.
        RecordError
            If no game is in progress, or if a loss of this size is impossible: under the Jacoby rule before a
            double, or after a checker has been borne off.
        """
        if not isinstance(loss, str) or loss not in RESIGNATIONS:
            hint = did_you_mean(loss, RESIGNATIONS)
            raise SettingError(
                f"invalid resignation {shown(loss)}: it must be {listed([*RESIGNATIONS], 'or')}{hint}"
            )
        if not self.is_over and loss not in self._session.resignations():
            raise RecordError(f"cannot resign a {loss}: {self._session.why_single}")
        self._game.follow(["resign", loss, self.turn])

    def pop(self) -> None:
        """Take back the last decision of this game; the dice stay the same.

        Raises
        ------
        RecordError
            If there is no decision to take back.
        """
        if not self._session.is_going:
            raise RecordError("no decision to take back: no game is in progress")
        self._game.follow(["undo"])

    def write(self, path: Path | str) -> Path:
        """Write the record of all games to a file.

        Parameters
        ----------
        path
            The .mat or .sgf file.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        RecordError, FileError
            For another format, or a file that cannot be written.
        """
        write_match(path, self.record)
        return Path(path)

    def to_dict(self) -> Row:
        """Return the state of the game as a dict that JSON can represent."""
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
        length = self._session.rules.length
        kind = f"{length}-point match" if length else "money game"
        return f"<{kind}, {self.score[0]}-{self.score[1]}, cube {self.cube}, {ends}>"

    def _repr_svg_(self) -> str:
        return svg_diagram(self._session.position, self._session.state())


def _in_order(dice: RollLike) -> tuple[int, int]:
    """Return the dice in the order in which they were given."""
    if isinstance(dice, Iterable) and not isinstance(dice, str) and getattr(dice, "ndim", 1) == 1:
        dice = list(dice)
    high, low = as_roll(dice)
    written = dice if isinstance(dice, Sequence) else str(dice)
    first = next(int(die) for die in written if str(die).strip().isdigit())
    return (high, low) if first == high else (low, high)
