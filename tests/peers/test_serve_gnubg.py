"""`motif serve gnubg` with a real gnubg as client: whole matches and money sessions, on both sides."""

import math
import os
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from motif.board.game_record import GameProgress, GameRecord, MatchRecord, Turn
from motif.board.match_file import read_match
from motif.board.moves import legal_plays
from motif.serve.gnubg_server import GnubgServer
from motif.serve.opponent import Opponent

SECONDS = 600
SESSIONS = [(0, 0, 75), (1, 0, 75), (0, 5, 8), (1, 5, 8)]
"""Which of gnubg's players motif is, the length of matches (0: money), and how many games or matches."""


class RecordingServer(GnubgServer):
    """A server that records questions and answers."""

    def __init__(self) -> None:
        super().__init__(Opponent("latest"), "127.0.0.1", 0)
        self.heard: list[tuple[str, str | None]] = []

    def ask(self, conversation, line):
        answer = super().ask(conversation, line)
        self.heard.append((line, answer))
        return answer


@pytest.fixture
def server():
    with RecordingServer() as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield listening
        listening.shutdown()
        thread.join()


def play(gnubg: str, folder: Path, server: GnubgServer, side: int, length: int, number: int) -> list[Path]:
    """Have gnubg play, at 0-ply, against its external player `side`; return the records."""
    other = 1 - side
    commands = [
        "set automatic game off",
        "set seed 4",
        f"set player {side} external {server.address}",
        f"set player {other} gnubg",
        f"set player {other} chequerplay evaluation plies 0",
        f"set player {other} cubedecision evaluation plies 0",
    ]
    paths = [folder / f"{k}.mat" for k in range(number if length else 1)]
    if length:
        commands.append("set automatic game on")
        for path in paths:
            commands += [f"new match {length}", f"export match mat {path}"]
    else:
        # gnubg stops after its external player has taken a beaver: `play` continues.
        going_on = ["play"] * 3
        commands += ["new session", *going_on, *["new game", *going_on] * (number - 1)]
        commands.append(f"export match mat {paths[0]}")
    done = subprocess.run(
        [gnubg, "--tty", "--quiet", "--no-rc", f"--prefsdir={folder}"],
        input="\n".join([*commands, "quit", "y", ""]),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "HOME": str(folder), "LC_ALL": "C"},
    )
    assert done.returncode == 0, done.stdout[-2000:]
    for word in ("Error", "Warning", "llegal", "onnection closed"):
        assert word not in done.stdout
    return paths


def check_dances(record: MatchRecord) -> None:
    """Check that no side that could move danced: gnubg ignores an illegal answer."""
    for game in record.games:
        progress = GameProgress()
        for action in game.actions:
            if isinstance(action, Turn) and action.play is not None and not action.play.moves:
                assert progress.turn in (None, action.player)
                position = progress.position
                assert not legal_plays(position, action.roll)[0].moves
            progress.apply(action)


@pytest.mark.parametrize(("side", "length", "number"), SESSIONS)
def test_whole_games(gnubg, tmp_path, server, side, length, number, capsys):
    paths = play(gnubg.path, tmp_path, server, side, length, number)
    records = [read_match(path) for path in paths]
    games = [game for record in records for game in record.games]
    assert all(game.result is not None for game in games)
    assert length or len(games) == number
    for record in records:
        check_dances(record)
    answers = [answer or "" for _, answer in server.heard]
    assert len(answers) > 10 * len(games)
    assert not [answer for answer in answers if answer.startswith("Error")]
    assert {"roll", "double", "take"} <= set(answers)
    report(side, length, games, capsys)


def report(side: int, length: int, games: list[GameRecord], capsys) -> None:
    """Print the result; a random player would lose more than a point per game."""
    points = [won(game, length) * (1 if game.result.winner == side else -1) for game in games]
    mean, error = np.mean(points), np.std(points, ddof=1) / math.sqrt(len(points))
    kind = f"matches to {length}" if length else "money"
    with capsys.disabled():
        print(
            f"\nmotif is player {side}, {kind}: {len(games)} games, {mean:+.3f} ± {error:.3f} points per game"
        )
    assert mean > -1


def won(game: GameRecord, length: int) -> int:
    """Return the points won; in a match, only those that the winner needed."""
    return min(game.result.points, length - game.score[game.result.winner]) if length else game.result.points
