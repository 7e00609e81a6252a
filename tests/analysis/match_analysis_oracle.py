"""A slow, independent match analysis: plain loops over plays and rolls, probabilities by hand."""

import math

import numpy as np

from motif.board.moves import legal_plays
from motif.doubling import match_equity_table
from motif.evaluators import Evaluator
from motif.evaluators.probabilities import OUTPUTS

TABLE = match_equity_table()


class PipsEvaluator(Evaluator):
    """Favours the side with fewer pips and fewer blots; blots lose gammons."""

    name = "pips"

    def evaluate_many(self, positions):
        boards = np.asarray(positions)
        return np.array([chances(board) for board in boards.tolist()], np.float32).reshape(-1, len(OUTPUTS))


def chances(board):
    """Five probabilities of the player on roll."""
    own = sum(place * count for place, count in enumerate(board) if count > 0)
    opponent = sum((25 - place) * -count for place, count in enumerate(board) if count < 0)
    if not own or not opponent:
        return [float(not own), 0.0, 0.0, 0.0, 0.0]
    blots = sum(count == 1 for count in board)
    win = 1 / (1 + math.exp((own - opponent - 8 + 5 * blots - 4 * sum(count == -1 for count in board)) / 20))
    own_gammon, lost_gammon = 0.1 + 0.01 * (blots % 3), 0.1 + 0.04 * blots
    return [
        win,
        win * own_gammon,
        win * own_gammon * 0.1,
        (1 - win) * lost_gammon,
        (1 - win) * lost_gammon * 0.2,
    ]


def after_play(play):
    """The mover's six probabilities after a play: win 3, 2, 1, lose 1, 2, 3 points."""
    win, gammon, backgammon, lost_gammon, lost_backgammon = (
        float(np.float32(chance)) for chance in chances(play.position.board.tolist())
    )
    theirs = (backgammon, gammon - backgammon, win - gammon)
    ours = (lost_backgammon, lost_gammon - lost_backgammon, 1 - win - lost_gammon)
    return {3: ours[0], 2: ours[1], 1: ours[2], -1: theirs[2], -2: theirs[1], -3: theirs[0]}


def value(play, state):
    """The normalised value of `play` for its mover in `state`."""
    six = after_play(play)
    if not state.length:
        counts_gammons = not (state.jacoby and state.cube_owner == "centre")
        return sum(chance * (points if counts_gammons else np.sign(points)) for points, chance in six.items())
    worth = {points: mwc(state, points) for points in six}
    mean = sum(chance * worth[points] for points, chance in six.items())
    return 2 * (mean - worth[-1]) / (worth[1] - worth[-1]) - 1


def mwc(state, points):
    """Match winning chance of a player who has won `points` times the cube, or lost them."""
    own, other = state.length - state.own_score, state.length - state.opponent_score
    post = state.crawford or min(own, other) == 1
    own, other = own - state.cube * max(points, 0), other - state.cube * max(-points, 0)
    if own <= 0 or other <= 0:
        return float(own <= 0)
    return TABLE.chance(own, other, post_crawford=post)


def unit(state):
    """The value of 1 in normalised equity: points, or MWC."""
    return (mwc(state, 1) - mwc(state, -1)) / 2 if state.length else state.cube


def best(position, roll, state):
    """The value of the best play."""
    return max(value(play, state) for play in legal_plays(position, roll))


def error(roll):
    """The loss of an actual play, and the number of legal plays."""
    plays = legal_plays(roll.position, roll.roll)
    return best(roll.position, roll.roll, roll.state) - value(roll.play, roll.state), len(plays)
