"""Questions of the page's trainers: opening rolls and replies, bearoffs, and doubles.

Replies follow motif's best opening plays; bearoffs and doubles come from its games against itself.
"""

import random
from collections.abc import Iterator
from functools import cache
from typing import TypedDict

from motif.analysis.judge import JUDGE
from motif.board.identifiers import gnubg_id
from motif.board.match_state import MatchState, match_id
from motif.board.moves import legal_plays
from motif.board.outcome import outcome
from motif.board.packed import HOME
from motif.board.position import Position
from motif.doubling.decision import cube_decision
from motif.evaluators import Evaluator
from motif.evaluators.known_players import default_player, load_evaluator
from motif.players import load
from motif.players.player import Player

TRAINER_KINDS = ("opening", "reply", "bearoff", "cube")
_DICE = random.SystemRandom()
_CLOSE = ("borderline", "close")
"""How clear at least one of the decisions of a cube question is; see `Verdict.degree`."""


class TrainerQuestion(TypedDict):
    """A question of a trainer, for JSON."""

    id: str
    dice: list[int] | None
    """None for a cube question."""
    board: list[int]
    is_play: bool


def new_question(kind: str) -> tuple[str, TrainerQuestion]:
    """Make a question of a trainer, one of `TRAINER_KINDS`.

    Returns its key and the position as ``id``, with ``dice`` except for a cube question.
    """
    match kind:
        case "opening":
            high, low = _two_different()
            return f"opening:{high}{low}", _question(Position.start(), (high, low))
        case "reply":
            first, second = _two_different(), _roll()
            after = _best(Position.start(), first)
            return "reply:{}{}:{}{}".format(*first, *second), _question(after, second)
        case "bearoff":
            position, roll = next(_bearoffs())
            return "bearoff:{}:{}{}".format(gnubg_id(position), *roll), _question(position, roll)
        case _:
            position = next(_doubles())
            return f"cube:{gnubg_id(position)}", _question(position, None)


def _question(position: Position, roll: tuple[int, int] | None) -> TrainerQuestion:
    state = MatchState(dice=roll)
    return {
        "id": f"{gnubg_id(position)}:{match_id(state)}",
        "dice": None if roll is None else list(roll),
        "board": position.board.tolist(),
        "is_play": roll is not None,
    }


@cache
def _player() -> Player:
    return load(default_player())


def _roll() -> tuple[int, int]:
    first, second = _DICE.randint(1, 6), _DICE.randint(1, 6)
    return max(first, second), min(first, second)


def _two_different() -> tuple[int, int]:
    low, high = sorted(_DICE.sample(range(1, 7), 2))
    return high, low


def _best(position: Position, roll: tuple[int, int]) -> Position:
    """Return the position after the best play, seen by the next player."""
    return _player().choose(position, roll, 0).position


def _played() -> Iterator[tuple[Position, tuple[int, int]]]:
    """Yield positions and rolls of a game that motif plays against itself."""
    position, roll = Position.start(), _two_different()
    while not outcome(position):
        yield position, roll
        position, roll = _best(position, roll), _roll()


def _bearoffs() -> Iterator[tuple[Position, tuple[int, int]]]:
    """Yield bearoff positions with rolls that offer a choice."""
    while True:
        for position, roll in _played():
            at_home = not (position.board[HOME + 1 :] > 0).any()
            if at_home and 0 < position.own_off < 12 and len(legal_plays(position, roll)) > 2:
                yield position, roll


def _doubles() -> Iterator[Position]:
    """Yield positions with a close double or take, by the judge of the answers."""
    judge = load_evaluator(JUDGE)
    static = judge.without_lookahead
    while True:
        for position, _ in _played():
            # The static evaluation, which is faster, rules out most positions.
            if 0.55 < static.evaluate(position).win < 0.9 and all(
                _is_close(position, evaluator) for evaluator in (static, judge)
            ):
                yield position


def _is_close(position: Position, evaluator: Evaluator) -> bool:
    """Return whether the double or the take is called close, or closer."""
    decision = cube_decision(evaluator.evaluate(position), MatchState(), position, evaluator)
    return any(verdict.degree in _CLOSE for verdict in decision.verdicts)
