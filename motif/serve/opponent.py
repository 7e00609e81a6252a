"""A player for programs that run the game and ask for single decisions.

Plays are chosen for the score and the cube; the player doubles, takes, drops, beavers and resigns.
"""

from dataclasses import replace

from motif.board.match_state import MatchState, Raise
from motif.board.moves import Play, check_goes_on, legal_plays
from motif.board.position import Position
from motif.board.rules import gammons_count
from motif.doubling import CubeDecision, cube_decision
from motif.doubling.cube_states import without_doubles
from motif.doubling.equities import scale
from motif.evaluators.known_players import default_player, entry_of, without_plies
from motif.players import Player, load
from motif.players.player import cube_evaluator
from motif.players.ranking import cube_model_of
from motif.players.resignations import LOSSES, certain_loss, is_accepted
from motif.runtime.settings import check_seed
from motif.runtime.streams import derive_states


class Opponent:
    """The player called `name`; raises `PlayerError` for an unknown name.

    `seed` decides random choices: the same questions in the same order get the same answers.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        check_seed(seed)
        self.name = name
        self.seed = seed
        self._player: Player = load(name)
        # The default player, static, decides on the cube for players without calibrated probabilities.
        self._cube = cube_evaluator(self._player) or load(default_player()).require_evaluator()
        self._plays = 0
        self._at_plies: dict[int, Opponent] = {}

    @property
    def name_without_plies(self) -> str:
        """The player's name without its lookahead."""
        return without_plies(self.name)

    @property
    def plies(self) -> int:
        """The player's lookahead in plies, in gnubg's count."""
        return int(self.name.removeprefix(self.name_without_plies)[1:2] or 0)

    @property
    def looks_ahead(self) -> bool:
        """Whether any lookahead can be chosen."""
        entry = entry_of(self.name_without_plies)
        return entry is None or entry.looks_ahead

    def at_plies(self, plies: int) -> "Opponent":
        """Return the player with another lookahead; raises `PlayerError` if that is impossible."""
        if plies == self.plies:
            return self
        if plies not in self._at_plies:
            base = self.name_without_plies
            self._at_plies[plies] = Opponent(f"{base}@{plies}" if plies else base, self.seed)
        return self._at_plies[plies]

    def seeded(self, seed: int) -> "Opponent":
        """Return the player with another seed; raises `SettingError` for an invalid one."""
        return Opponent(self.name, seed)

    def warm_up(self) -> None:
        """Decide once, so that everything is compiled before the first request."""
        start, state = Position.start(), MatchState()
        self.play(start, (3, 1), state)
        self.cube(start, state)
        self._plays = 0

    def play(self, position: Position, roll: tuple[int, int], state: MatchState | None) -> Play:
        """Return a legal play; without a `state` the game is a cubeless money game.

        Raises `PositionError` when the game is over.
        """
        plays = legal_plays(position, roll)
        number, self._plays = self._plays, self._plays + 1
        if len(plays) == 1:
            return plays[0]
        cubeful = self._player.with_cube(cube_model_of(state))
        chance = int(derive_states(self.seed, number, 1, 0)[0] >> 1)
        return cubeful.choose(position, roll, chance)

    def cube(self, position: Position, state: MatchState) -> CubeDecision:
        """Return the cube decision of the player on roll; raises `PositionError` when the game is over."""
        check_goes_on(position)
        return cube_decision(self._cube.evaluate(position), state.before_double(), position, self._cube)

    def answer(self, position: Position, state: MatchState, raised: Raise | None = None) -> str:
        """Return ``take``, ``drop`` or, if allowed, ``beaver`` to `raised`, or to what `state` offers."""
        answer = self.cube(position, state).answer_to(raised or state.raised or "double")
        return "drop" if answer == "pass" else answer

    def resignation(self, position: Position, roll: tuple[int, int] | None, state: MatchState) -> str | None:
        """Return the certain loss that the opponent, on roll, resigns (see `certain_loss`), or None."""
        loss = certain_loss(position, roll)
        return loss if loss is None or gammons_count(state) else "single"

    def agrees(self, position: Position, state: MatchState, points: int) -> bool:
        """Return whether the opponent should accept when the player on roll offers to lose `points` cubes."""
        return is_accepted(position, state, self._cube, LOSSES[points])

    def evaluation(self, position: Position, state: MatchState, *, cubeful: bool) -> tuple[float, ...]:
        """Return the five probabilities of the player on roll, and their value.

        The value is an equity in units of the cube for money, and the chance to win the match in a match;
        `cubeful` values it with the cube, otherwise the cube is out of play.
        """
        if cubeful:
            value = self.cube(position, state).value
        else:
            # Without the cube there is no Jacoby rule, either.
            no_cube = without_doubles(replace(state, jacoby=False))
            value = float(self._cube.cubeful_equities(position.board[None], no_cube, 0)[0])
        return *self._cube.evaluate(position), scale(state).value(value)
