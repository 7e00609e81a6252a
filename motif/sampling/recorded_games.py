"""Read recorded games, and record and label their positions.

Match files contain games of people and programs, whose positions are representative, unlike those of
self-play.  Each decision of a recorded game is sampled as in self-play: the actual play and other plays of
the same roll, at the rates of the settings.  The labels come from rollouts, an evaluator or the result of
the game.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.game_record import GameProgress, GameRecord, Turn, game_facts
from motif.board.match_file import match_paths, read_match
from motif.board.movegen import generate
from motif.board.packed import PACKED_WORDS, Board, pack_many
from motif.board.rules import RESIGNATIONS
from motif.compiler.jit import kernel, words_of
from motif.evaluators.probabilities import OUTPUTS
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.errors import RecordError
from motif.sampling.self_play import DECISIONS_A_GAME, begin_game, label, put_plays, record_decision

NO_ONE = -1
"""Winner of an unfinished game."""


class RecordedGame(NamedTuple):
    """The n plays of one game."""

    before: Board
    """Packed boards before each roll, int8 (n, 64), from the side of the player on roll."""
    rolls: IntArray
    """Rolls (n, 2), the higher die first."""
    after: Board
    """Packed boards after each play, int8 (n, 64), from the side of the next player on roll."""
    movers: IntArray
    """Player who made each play (n,)."""
    winner: int
    """Winner, 0 or 1; `NO_ONE` for an unfinished game."""
    size: int
    """Size of the win: 1, 2 or 3 for a single game, gammon or backgammon; a passed double is a single game.
    """

    @property
    def is_finished(self) -> bool:
        """Whether the game has a winner."""
        return self.winner != NO_ONE

    @property
    def hash(self) -> str:
        """Hash of the plays, 16 hexadecimal digits, which identifies the game in all files that have it."""
        digest = hashlib.sha256()
        for values in (self.rolls, self.after, self.movers):
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()[:16]


def read_games(paths: Iterable[Path]) -> list[RecordedGame]:
    """Read the games in match files, and in the match files of folders.

    The games are in the order of the files, without games in which no play was made. Raises `RecordError` if
    a file is not a match, or no file contains a play.
    """
    games = [
        game
        for path in match_paths(paths)
        for record in read_match(path).games
        if (game := recorded_game(record)) is not None
    ]
    if not games:
        raise RecordError("the match files contain no play to sample")
    return games


def recorded_game(record: GameRecord) -> RecordedGame | None:
    """Convert a record, without its illegal plays; return None if no play was made."""
    progress = GameProgress(record.first_cube)
    before, rolls, after, movers = [], [], [], []
    for action in record.actions:
        if isinstance(action, Turn) and action.play is not None and action.play.is_legal:
            before.append(progress.position.board)
            rolls.append(action.roll)
            after.append(action.play.position.board)
            movers.append(action.player)
        progress.apply(action)
    if not before:
        return None
    facts = game_facts(record)
    return RecordedGame(
        pack_many(np.array(before)),
        np.array(rolls, np.int64),
        pack_many(np.array(after)),
        np.array(movers, np.int64),
        NO_ONE if facts is None else facts.result.winner,
        0 if facts is None else RESIGNATIONS.get(facts.kind or "", 1),
    )


def finished(games: Sequence[RecordedGame]) -> list[RecordedGame]:
    """Return the games that have a winner; raise `RecordError` if there are none."""
    ended = [game for game in games if game.is_finished]
    if not ended:
        raise RecordError("the match files contain no finished game")
    return ended


def games_fingerprint(games: Sequence[RecordedGame]) -> str:
    """Return a hash of the plays and results, which identifies the games of a sample."""
    digest = hashlib.sha256()
    for game in games:
        for values in (game.rolls, game.after, game.movers, np.array([game.winner, game.size])):
            digest.update(np.ascontiguousarray(values).tobytes())
    return f"sha256:{digest.hexdigest()}"


def outcome_labels(game: RecordedGame, plies: npt.NDArray[np.int32]) -> FloatArray:
    """Label positions with the result of their game, as probabilities of 0 and 1, float64 (n, 5).

    `plies` (n,) are the numbers, from 1, of the plays that led to the positions; the player on roll is the
    opponent of the player who made the play.
    """
    wins = game.movers[plies - 1] != game.winner
    ends = np.array([game.size >= 1, game.size >= 2, game.size >= 3])
    labels = np.zeros((len(plies), len(OUTPUTS)))
    labels[wins, :3] = ends
    labels[~wins, 3:] = ends[1:]
    return labels


@kernel
def record_game(model, before, rolls, after, game, rules, memory, record):
    """Record and label positions of a game; return their number.

    `before`, `rolls` and `after` are from a `RecordedGame`; the other arguments are the same as for
    `motif.sampling.self_play.self_play`.
    """
    begin_game(rules, game, memory)
    plays = memory.space.plays
    starts, ends = words_of(before), words_of(after)
    rows = 0
    for turn in range(len(rolls)):
        words, ply = starts[turn], turn + 1
        count = generate(words, rolls[turn, 0], rolls[turn, 1], plays)
        play = 0
        for k in range(count):
            same = True
            for word in range(PACKED_WORDS):
                same = same and plays.words[k, word] == ends[turn, word]
            if same:
                play = k
        put_plays(memory.tried, plays, count, game * DECISIONS_A_GAME + ply, ply)
        more = record_decision(model, words, before[turn], play, count, rules, memory, record, rows)
        if more < 0:
            break
        rows = more
    if rules.trials > 0:
        label(model, record, rows, rules, memory.space)
    return rows
