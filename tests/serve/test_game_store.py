"""Stored games: one winner per revision, no losses through kills, and limited damage."""

import json
import os
import random
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from motif.runtime.errors import MotifError, PlayerError, RecordError
from motif.runtime.progress import stopped_by
from motif.serve import database, game_store
from motif.serve.database import NoRoomError, NotStoredError, StorageError
from motif.serve.game_database import (
    GAMES_FILE,
    GameDatabase,
    GameWentOn,
)
from motif.serve.game_store import GameStore
from motif.serve.lanes import Cancellation, WorkCancelledError
from tests.serve import contenders
from tests.serve.conftest import damage_the_middle
from tests.serve.contenders import CONTEXT, PATIENCE, DatabaseContender, StoreContender, contested
from tests.serve.kept_games import begun, decided, decisions, put, rows

ROOT = Path(__file__).resolve().parent.parent.parent
ID = "AAAAAAAAAAAA"


@pytest.fixture(name="folder")
def _folder(tmp_path) -> Path:
    return tmp_path / "games"


@pytest.fixture(name="store")
def _store(folder) -> GameStore:
    return GameStore(folder)


def listed(store: GameStore) -> set[str]:
    return {one["game"] for one in store.summaries()}


def aged(folder: Path, **days: int) -> None:
    """Set the last change of games this many days back."""
    with closing(sqlite3.connect(folder / GAMES_FILE)) as connection, connection:
        for game, ago in days.items():
            then = time.time_ns() - ago * 86_400 * 10**9
            connection.execute("UPDATE games SET changed = ? WHERE id = ?", (then, game))


# One revision, one winner


def check_contest(folder: Path, games: list[str], rounds: int) -> list[int]:
    """Check that each round has one winner, whose decision alone is recorded; return the wins per server."""
    accepted = contested(StoreContender, folder, games, rounds)
    won = sorted((game, revision, event) for one in accepted for game, revision, event in one)
    assert len({(game, revision) for game, revision, _ in won}) == len(won) == len(games) * rounds
    for game in games:
        _, document = rows(folder)[game]
        assert decisions(document) == [event for name, _, event in won if name == game]
    return [len(one) for one in accepted]


def test_of_eight_decisions_at_a_revision_one_is_accepted(folder, store):
    # On a busy machine one server may win all ten rounds.
    check_contest(folder, [begun(store)["game"]], 10)


@pytest.mark.slow
def test_of_two_thousand_decisions_at_contested_revisions_none_is_accepted_twice(folder, store):
    won = check_contest(folder, [begun(store, seed)["game"] for seed in range(25)], 10)
    assert all(won), "each server wins at times"


@pytest.mark.parametrize("revisions", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_every_revision_has_one_winner(folder, revisions):
    GameDatabase(folder, 10).insert(ID, "", False, "")
    accepted = contested(DatabaseContender, folder, ID, revisions)
    won = sorted((revision, mark) for one in accepted for _, revision, mark in one)
    assert [revision for revision, _ in won] == list(range(1, revisions + 1))
    assert rows(folder)[ID] == (revisions + 1, "".join(f" {mark}" for _, mark in won))


def test_a_decision_that_another_server_has_overtaken_is_refused(folder, store):
    state, chance = begun(store), random.Random(1)
    other = GameStore(folder)
    after, _ = decided(other, other.state(state["game"]), chance)
    with pytest.raises(GameWentOn, match="continued in another tab"):
        decided(store, state, chance)
    assert store.state(state["game"])["revision"] == after["revision"] > state["revision"]


def test_servers_that_reply_at_the_same_time_agree(folder, store, monkeypatch):
    """A server that finds another server's reply after computing its own shows the other one."""
    state, others = begun(store), []
    real = game_store.KeptGame.go_on

    def overtaken(game):
        if not others:
            others.append(None)
            others[0] = GameStore(folder).state(state["game"])
        real(game)

    monkeypatch.setattr(game_store.KeptGame, "go_on", overtaken)
    answer, _ = decided(store, state, random.Random(1))
    assert {**answer, "events": []} == {**others[0], "events": []}
    assert [one["who"] for one in answer["events"] if one["do"] == "play"][:2] == ["me", "opponent"]


# Nothing is lost


def killed(folder: Path, seed: int, lines: int) -> list[list[str]]:
    """Decisions that a server confirmed before it was killed, some time after this many."""
    command = [sys.executable, "-m", "tests.serve.contenders", str(folder), str(seed)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        said = [server.stdout.readline() for _ in range(lines)]
        server.kill()
        said += server.stdout.readlines()
    return [line.split(maxsplit=2) for line in said if line.endswith("\n")]


def check_kills(folder: Path, kills: int) -> None:
    chance, done = random.Random(kills), {}
    for seed in range(kills):
        for game, _, event in killed(folder, seed, chance.randint(1, 40)):
            done.setdefault(game, []).append(event.strip())
        store = GameStore(folder)
        for game, said in done.items():
            kept = [" ".join(one) for one in decisions(rows(folder)[game][1])]
            assert kept[: len(said)] == said
            assert len(kept) <= len(said) + 1  # the last one may be stored before it was reported
            assert store.state(game)["asks"] != "wait"
    assert len(done) >= kills


def test_what_was_accepted_survives_kills(folder):
    check_kills(folder, 2)


@pytest.mark.slow
def test_what_was_accepted_survives_many_kills(folder):
    check_kills(folder, 25)


def test_a_server_that_is_killed_holds_up_no_other(folder):
    command = [sys.executable, "-m", "tests.serve.contenders", str(folder)]
    with (
        subprocess.Popen([*command, "1"], cwd=ROOT, stdout=subprocess.PIPE, text=True) as one,
        subprocess.Popen([*command, "2"], cwd=ROOT, stdout=subprocess.PIPE, text=True) as other,
    ):
        try:
            assert one.stdout.readline()
            assert other.stdout.readline()
            one.kill()
            for _ in range(50):
                assert other.stdout.readline()
        finally:
            one.kill()
            other.kill()


def test_a_database_that_was_removed_is_started_again(folder, store):
    before = begun(store)["game"]
    for path in folder.iterdir():
        path.unlink()
    with pytest.raises(NotStoredError):
        store.state(before)
    after = begun(store)["game"]
    assert listed(GameStore(folder)) == {after}


# MemoryLimit


def finished(store: GameStore) -> str:
    """A finished money game."""
    state, chance = begun(store), random.Random(3)
    while state["asks"] == "play":
        state, _ = decided(store, state, chance)
    assert state["asks"] == "next"
    return state["game"]


def test_games_that_are_over_make_room_for_new_ones_the_oldest_first(folder):
    store = GameStore(folder, most=3)
    going, first, second = begun(store)["game"], finished(store), finished(store)
    aged(folder, **{going: 20, first: 5, second: 10})
    new = begun(store)["game"]
    assert set(rows(folder)) == {going, first, new}
    new, before = begun(store)["game"], new
    assert set(rows(folder)) == {going, before, new}


def test_a_game_in_progress_makes_room_for_none(folder):
    store = GameStore(folder, most=2)
    games = {begun(store, length=5)["game"], begun(store)["game"]}
    with pytest.raises(NoRoomError, match=r"^2 games are already in progress: finish or delete one first$"):
        begun(store)
    assert set(rows(folder)) == games
    store.delete(games.pop())
    begun(store)


def test_a_match_between_two_games_is_in_progress(folder):
    store = GameStore(folder, most=1)
    state, chance = begun(store, length=25), random.Random(3)
    while state["asks"] == "play":
        state, _ = decided(store, state, chance)
    with pytest.raises(NoRoomError):
        begun(store)


def test_a_game_that_was_left_for_a_month_makes_room_at_last(folder):
    store = GameStore(folder, most=3)
    left, month = begun(store)["game"], begun(store)["game"]
    finished(store)
    aged(folder, **{left: 29, month: 31})
    new = begun(store)["game"]
    assert set(rows(folder)) == {left, month, new}
    newest = begun(store)["game"]
    assert set(rows(folder)) == {left, new, newest}
    with pytest.raises(NoRoomError):
        begun(store)


# Damage


GOOD = ["begin", 4, 1]
DAMAGED = {
    "truncated": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "nothing": lambda text: None,
    "a number": lambda text: "5",
    "octets": lambda text: b"\xff\xfe\0",
    "a list": lambda text: "[]",
    "another format": lambda text: text.replace("motif-game/1", "motif-game/9"),
    "events alone": lambda text: '{"events":[["begin"]]}',
    "no dice": lambda text: changed(text, events=[["begin"]]),
    "no events": lambda text: changed(text, events=None),
    "an event twice": lambda text: changed(text, events=[GOOD, GOOD, ["play", "8/5"]]),
    "no beginning": lambda text: changed(text, events=[["roll", 3, 1]]),
    "an unknown event": lambda text: changed(text, events=[GOOD, ["dance"]]),
    "a number as name": lambda text: changed(text, name=5),
    "a deep name": lambda text: changed(text, name=nested(200)),
    "a seed below zero": lambda text: changed(text, seed=-1),
    "a seed as text": lambda text: changed(text, seed="4"),
    "a huge seed": lambda text: changed(text, seed=10**400),
    "no rules": lambda text: changed(text, rules=None),
    "a length as text": lambda text: changed(text, rules={"length": "7"}),
    "an unknown rule": lambda text: changed(text, rules={"luck": True}),
    "a third seat": lambda text: changed(text, seat=2),
    "true as seat": lambda text: changed(text, seat=True),
    "no day": lambda text: changed(text, day="today"),
    "one setting more": lambda text: changed(text, cheat=True),
    "a program as opponent": lambda text: changed(text, opponent="gnubg"),
    "a file as opponent": lambda text: changed(text, opponent="weights/secret.yaml"),
    "resigned by nobody": lambda text: changed(text, events=[GOOD, ["resign", "single", 7]]),
    "deep": lambda text: "[" * 100_000 + "]" * 100_000,
    "deep events": lambda text: text.replace('"events":', '"events":' + "[" * 50_000, 1),
}


def nested(depth: int) -> list:
    return [] if depth == 0 else [nested(depth - 1)]


def changed(text: str, **changes) -> str:
    kept = json.loads(text)
    for name, value in changes.items():
        (kept if name == "events" else kept["settings"])[name] = value
    return json.dumps(kept)


@pytest.mark.parametrize("how", DAMAGED)
@pytest.mark.parametrize("is_known", [True, False], ids=["in memory", "read first"])
def test_a_damaged_row_affects_its_game_alone(folder, store, how, is_known):
    good, bad = begun(store)["game"], begun(store)["game"]
    document = DAMAGED[how](rows(folder)[bad][1])
    put(folder, bad, document)
    if not is_known:
        store = GameStore(folder)
    assert listed(store) == {good, bad}  # a list reads no documents
    for ask in (store.state, store.mat, store.rolls, lambda game: store.decide(game, 2, "roll")):
        with pytest.raises(RecordError, match=r"^this game cannot be read: ") as caught:
            ask(bad)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 500
        assert str(folder) not in str(caught.value)
    assert rows(folder)[bad][1] == document
    assert decided(store, store.state(good), random.Random(1))[0]["game"] == good
    store.delete(bad)
    assert set(rows(folder)) == {good}


def test_a_revision_that_is_no_number_is_damage(folder, store):
    good, bad = begun(store)["game"], begun(store)["game"]
    with closing(sqlite3.connect(folder / GAMES_FILE)) as connection, connection:
        connection.execute("UPDATE games SET revision = 'x' WHERE id = ?", (bad,))
    assert listed(store) == {good, bad}
    with pytest.raises(RecordError):
        store.state(bad)


@pytest.mark.parametrize("changed", ["x", b"\xff"])
def test_a_time_that_is_no_number_affects_its_game_alone(folder, store, changed):
    good, bad = begun(store)["game"], begun(store)["game"]
    with closing(sqlite3.connect(folder / GAMES_FILE)) as connection, connection:
        connection.execute("UPDATE games SET changed = ? WHERE id = ?", (changed, bad))
    assert listed(store) == {good, bad}


def test_the_opponent_of_an_old_game_may_be_there_no_more(folder, store):
    game = begun(store)["game"]
    put(folder, game, rows(folder)[game][1].replace('"random"', '"motif-v0.5"'))
    with pytest.raises(RecordError, match=r"unknown opponent 'motif-v0\.5'"):
        store.state(game)


def set_aside(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("games.damaged*.sqlite3"))


@pytest.mark.parametrize("octets", [b"no database at all" * 500, b"SQLite format 3\0" + b"\xff" * 5000])
@pytest.mark.parametrize("is_open", [True, False])
def test_an_invalid_database_is_set_aside(folder, store, octets, is_open, capfd):
    begun(store)
    if not is_open:
        del store
    for suffix in ("-wal", "-shm"):
        (folder / f"{GAMES_FILE}{suffix}").unlink(missing_ok=True)
    (folder / GAMES_FILE).write_bytes(octets)
    store = GameStore(folder)
    assert store.summaries() == []
    assert set_aside(folder) == ["games.damaged.sqlite3"]
    assert (folder / "games.damaged.sqlite3").read_bytes() == octets
    game = begun(store)["game"]
    (line,) = capfd.readouterr().err.splitlines()
    assert "was damaged: it is now games.damaged.sqlite3, and 0 games of it could be read" in line
    assert listed(GameStore(folder)) == {game}


def test_a_second_damaged_database_gets_another_name(folder):
    folder.mkdir()
    for names in (["games.damaged.sqlite3"], ["games.damaged-2.sqlite3", "games.damaged.sqlite3"]):
        (folder / GAMES_FILE).write_bytes(b"nothing" * 1000)
        assert GameStore(folder).summaries() == []
        assert set_aside(folder) == names


def test_a_foreign_database_is_set_aside_and_a_newer_one_left_alone(folder):
    folder.mkdir()
    with closing(sqlite3.connect(folder / GAMES_FILE)) as connection, connection:
        connection.execute("CREATE TABLE songs (name)")
    assert GameStore(folder).summaries() == []
    assert set_aside(folder) == ["games.damaged.sqlite3"]
    with closing(sqlite3.connect(folder / GAMES_FILE)) as connection, connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(StorageError, match="newer version"):
        GameStore(folder).summaries()
    assert set_aside(folder) == ["games.damaged.sqlite3"]


def test_games_that_can_be_read_are_taken_from_a_damaged_database(folder, store, capfd):
    games = [begun(store)["game"] for _ in range(40)]
    before = {row.id: row for row in store._database.listed()}
    del store
    content = damage_the_middle(folder / GAMES_FILE)
    store = GameStore(folder)
    assert store.summaries()
    left = set(rows(folder))
    assert left < set(games)
    assert {row.id: row for row in store._database.listed()} == {name: before[name] for name in left}
    assert f"and {len(left)} games of it could be read" in capfd.readouterr().err
    for game in left:
        assert decided(store, store.state(game), random.Random(1))
    assert (folder / "games.damaged.sqlite3").read_bytes() == content


def damage_beneath(folder: Path) -> None:
    """Overwrite the database while a server has it open."""
    with closing(sqlite3.connect(folder / GAMES_FILE)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = folder / GAMES_FILE
    path.write_bytes(b"nothing " * (path.stat().st_size // 8))


def test_a_server_goes_on_in_the_new_database_when_another_one_has_set_the_old_one_aside(folder, store):
    begun(store)
    damage_beneath(folder)
    other = GameStore(folder)
    assert other.summaries() == []
    game = begun(store)["game"]
    assert len(set_aside(folder)) == 1
    assert listed(store) == listed(other) == listed(GameStore(folder)) == {game}
    del store
    assert listed(other) == {game}


def test_a_server_that_finds_its_database_damaged_sets_it_aside(folder, store):
    begun(store)
    damage_beneath(folder)
    store._database._open.connection.execute("PRAGMA shrink_memory")  # otherwise it would not read it again
    game = begun(store)["game"]
    assert len(set_aside(folder)) == 1
    assert listed(store) == {game}


def test_several_servers_set_a_damaged_database_aside_once(folder):
    folder.mkdir()
    (folder / GAMES_FILE).write_bytes(b"nothing" * 1000)
    assert opened_at_once(folder) == [[], [], []]
    assert set_aside(folder) == ["games.damaged.sqlite3"]


def opened_at_once(folder: Path) -> list[list[dict]]:
    """The lists of three servers that open the folder simultaneously."""
    barrier, pipes = CONTEXT.Barrier(3), [CONTEXT.Pipe(duplex=False) for _ in range(3)]
    processes = [
        CONTEXT.Process(target=contenders.open_at_once, args=(folder, barrier, sender)) for _, sender in pipes
    ]
    for process in processes:
        process.start()
    try:
        answers = []
        for receiver, _ in pipes:
            assert receiver.poll(PATIENCE)
            answers.append(receiver.recv())
        return answers
    finally:
        for process in processes:
            process.kill()
            process.join()


# Folders


def test_nothing_is_made_before_a_game_is_kept_and_then_for_this_user_alone(folder, store):
    assert store.summaries() == []
    with pytest.raises(NotStoredError):
        store.state(ID)
    with pytest.raises(NotStoredError):
        store.delete(ID)
    with pytest.raises(PlayerError):
        store.begin(game_store.new_settings("nobody", game_store.SessionRules(), 1, "2026-11-22", "You"))
    assert not folder.exists()
    before = os.umask(0)
    try:
        begun(store)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_database_that_others_could_read_is_closed_to_them(folder, store):
    begun(store)
    del store
    (folder / GAMES_FILE).chmod(0o644)
    GameStore(folder).summaries()
    assert stat.S_IMODE((folder / GAMES_FILE).stat().st_mode) == 0o600


def test_a_link_in_place_of_the_database_leaves_its_file_alone(tmp_path, folder, store):
    other = tmp_path / "other"
    other.write_text("not a game")
    other.chmod(0o644)
    folder.mkdir()
    (folder / GAMES_FILE).symlink_to(other)
    with pytest.raises(StorageError, match="is not a regular file"):
        begun(store)
    assert stat.S_IMODE(other.stat().st_mode) == 0o644
    assert other.read_text() == "not a game"


@pytest.mark.parametrize("below", ["games", "more/games"])
def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, below):
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / below
    store = GameStore(folder)
    with pytest.raises(StorageError) as caught:
        begun(store)
    assert str(tmp_path) not in str(caught.value)
    (tmp_path / "file").unlink()
    assert listed(store) == set()
    assert begun(store)["game"] in listed(store)


def test_names_that_cannot_be(store):
    for name in ("", "x", "../../etc/pass", "A" * 13, "ÄÄÄÄÄÄÄÄÄÄÄÄ", f"{ID}\n"):
        with pytest.raises(NotStoredError):
            store.state(name)
    assert issubclass(NotStoredError, MotifError)


# Lists


@pytest.fixture(name="replays")
def _replays(monkeypatch) -> list[int]:
    """Numbers of events of the games that were replayed."""
    found, real = [], game_store.KeptGame.__init__

    def replayed(game, settings, events=()):
        if events:
            found.append(len(events))
        real(game, settings, events)

    monkeypatch.setattr(game_store.KeptGame, "__init__", replayed)
    return found


def test_every_game_is_listed(store):
    games = [begun(store, seed)["game"] for seed in range(23)]
    assert [one["game"] for one in store.summaries()] == games[::-1]


def test_a_list_replays_nothing(folder, store, replays):
    state = begun(store, length=3)
    state, _ = decided(store, state, random.Random(1))
    before = store.summaries()
    assert GameStore(folder).summaries() == before
    assert (before[0]["length"], before[0]["asks"]) == (3, state["asks"])
    assert replays == []


@pytest.mark.parametrize("summary", ["{", "5", "{}", '{"score": 5}', b"\xff"])
def test_a_damaged_summary_affects_its_game_alone(folder, store, summary):
    good, bad = begun(store)["game"], begun(store)["game"]
    with closing(sqlite3.connect(folder / GAMES_FILE)) as connection, connection:
        connection.execute("UPDATE games SET summary = ? WHERE id = ?", (summary, bad))
    assert listed(GameStore(folder)) == {good}


def test_a_replay_ends_when_its_client_leaves(folder, store):
    game = begun(store)["game"]
    put(folder, game, rows(folder)[game][1])
    stop = Cancellation(60.0)
    stop.run(lambda: None)
    stop.cancel()
    for ask in (lambda one: one.state(game), lambda one: one.mat(game)):
        with stopped_by(stop.check), pytest.raises(WorkCancelledError):
            ask(GameStore(folder))
    assert listed(store) == {game}


def test_a_locked_database_is_refused_in_one_line(folder, store, monkeypatch):
    state = begun(store)
    monkeypatch.setattr(database, "MAX_WAIT", 0.05)
    with closing(sqlite3.connect(folder / GAMES_FILE, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for one in (store, GameStore(folder)):
            with pytest.raises(StorageError, match=r"^games cannot be .*database is locked$"):
                begun(one)
        assert listed(store) == {state["game"]}
        connection.execute("ROLLBACK")
    begun(store)


def test_what_waits_for_a_waiting_transaction_is_refused(folder, store, monkeypatch):
    begun(store)
    monkeypatch.setattr(database, "MAX_WAIT", 0.05)
    store._database._lock.acquire()
    with pytest.raises(StorageError, match="games are in use; try again later"):
        store.summaries()
    store._database._lock.release()
    assert store.summaries()
