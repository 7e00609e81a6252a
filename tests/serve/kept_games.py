"""Games in a folder for tests: started, played, inspected and damaged behind the server's back."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

from motif.serve.game_database import GAMES_FILE
from motif.serve.game_store import GameStore, new_settings
from motif.session.kept_game import GameSettings, KeptGame
from motif.session.session import SessionRules

DAY = "2026-11-22"


def begun(store: GameStore, seed: int = 4, length: int = 0) -> dict:
    """A new game against a quick opponent."""
    return store.begin(new_settings("random", SessionRules(length, cube=False), seed, DAY, "You"))


def a_play(state: dict, chance: random.Random) -> str:
    """A legal play of the roll."""
    return chance.choice([play for play in state["tree"]["plays"] if play is not None])


def decided(store: GameStore, state: dict, chance: random.Random) -> tuple[dict, list]:
    """A decision at the revision of `state`: the store's answer, and its event."""
    word, play = ("play", a_play(state, chance)) if state["asks"] == "play" else ("next", "")
    answer = store.decide(state["game"], state["revision"], word, play)
    return answer, ["play", play] if word == "play" else ["begin"]


def rows(folder: Path) -> dict[str, tuple[int, str]]:
    """Revision and document of every game in the database, by name."""
    with closing(sqlite3.connect(folder / GAMES_FILE)) as connection:
        found = connection.execute("SELECT id, revision, document FROM games").fetchall()
    return {game: (revision, document) for game, revision, document in found}


def put(folder: Path, name: str, document: object) -> None:
    """Replace the document and revision in a game's row, so that it is read again."""
    with closing(sqlite3.connect(folder / GAMES_FILE)) as connection, connection:
        connection.execute(
            "UPDATE games SET document = ?, revision = revision + 1 WHERE id = ?", (document, name)
        )


def decisions(document: str) -> list[list]:
    """The person's decisions in a game without the cube, except the first "next"."""
    kept = json.loads(document)
    game = KeptGame(GameSettings.from_dict(kept["settings"]), kept["events"])
    found = []
    for step in game.steps[1:]:
        if step.word == "begin":
            found.append(["begin"])
        elif step.word == "play" and step.player == game.settings.seat and not step.is_forced:
            found.append(step.event)
    return found
