"""Properties of readers for any input; each check runs in the reading process.

A check raises `MotifError` if the reader refuses the input. Otherwise the result must be valid, and the same
after writing and reading it again.
"""

import contextlib
import gzip
import hashlib
import json
import os
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from motif.analysis.batch_files import read_decisions, read_positions
from motif.benchmarks import BenchmarkFile, read_benchmark
from motif.board.game_record import MatchRecord
from motif.board.identifiers import (
    boards_from_gnubg_ids,
    boards_from_keys,
    gnubg_id,
    gnubg_ids,
    position_from_gnubg_id,
    position_from_key,
    position_key,
)
from motif.board.mat_file import mat_text, parse_mat
from motif.board.match_file import WRITTEN_SUFFIXES, read_match, write_match
from motif.board.match_state import match_id, match_state_from_id
from motif.board.moves import legal_plays, parse_roll
from motif.board.notation import find_play, format_moves, parse_moves
from motif.board.packed import BOARD_SIZE
from motif.board.parsing import parse_position
from motif.board.position import Position, faults
from motif.board.xg_file import parse_bgf, parse_xg
from motif.board.xgid_ogid import ogid, position_from_ogid, position_from_xgid, xgid
from motif.compiler.kernel_cache import kernel_folder, load_or_make
from motif.evaluators.bras import load_bras
from motif.evaluators.static import StaticEvaluator, filtered, weights_model
from motif.evaluators.weight_reader import read_weight_file
from motif.learning.bootstrap_config import CONFIG, load_config
from motif.parameters.position_class import CLASS_NAMES
from motif.players import CompiledPlayer, EvaluatorPlayer, load
from motif.runtime.errors import IncompleteDatasetWarning, ParameterError, PositionError, RecordError
from motif.sampling.dataset import read_dataset
from motif.sampling.dataset_files import MANIFEST, read_manifest, write_manifest
from motif.sampling.game_results import ScoreResults, csv_results
from motif.sampling.label_files import SUFFIXES, read_labels, rewrite_labels
from motif.serve.game_store import GameStore
from tests.serve.kept_games import begun, put

PART = "part-00000.parquet"
KERNEL = "kernel-0123"
"""The name of the kernel whose file is read."""


def gnubg_id_check(text: str, folder: Path) -> None:
    assert gnubg_id(position_from_gnubg_id(text)) == text


def key_check(text: str, folder: Path) -> None:
    assert position_key(position_from_key(text)) == text


def match_id_check(text: str, folder: Path) -> None:
    state = match_state_from_id(text)
    assert match_state_from_id(match_id(state)) == state


def xgid_check(text: str, folder: Path) -> None:
    position, state = position_from_xgid(text)
    # Written with the player on roll in capitals.
    assert position_from_xgid(xgid(position, state)) == (position, replace(state, player=1))


def ogid_check(text: str, folder: Path) -> None:
    position, state = position_from_ogid(text)
    if state.game_state == "playing":
        assert position_from_ogid(ogid(position, state)) == (position, replace(state, player=1))


def position_check(text: str, folder: Path) -> None:
    position, state = parse_position(text)
    assert not faults(position.board)
    written = gnubg_id(position) + (f":{match_id(state)}" if state else "")
    again, state_again = parse_position(written)
    assert again == position
    assert state is None or state_again == replace(state, beavers=False)


def _bulk(decode: Callable, read: Callable[[str], Position], texts: list[str]) -> None:
    """Check that `decode` accepts the `texts` if and only if `read` accepts each of them, with the same
    result.
    """
    try:
        expected = [read(text).board for text in texts]
    except PositionError:
        expected = None
    boards = decode(texts)
    assert expected is not None, "the decoder of many texts accepts what the reader of one refuses"
    assert (boards.shape, boards.dtype) == ((len(texts), BOARD_SIZE), np.int8)
    assert not texts or (boards == np.array(expected)).all()


def bulk_ids_check(texts: list[str], folder: Path) -> None:
    _bulk(boards_from_gnubg_ids, position_from_gnubg_id, texts)
    assert gnubg_ids(boards_from_gnubg_ids(texts)) == texts


def bulk_keys_check(texts: list[str], folder: Path) -> None:
    _bulk(boards_from_keys, position_from_key, texts)


def roll_check(dice: tuple[str | int, str | int | None], folder: Path) -> None:
    high, low = parse_roll(*dice)
    assert 1 <= low <= high <= 6
    assert parse_roll(f"{high}{low}") == parse_roll(f"{low}-{high}") == parse_roll(low, high) == (high, low)


def notation_check(text: str, folder: Path) -> None:
    moves = parse_moves(text)
    assert all(25 >= start > end >= 0 and not (hit and end == 0) for start, end, hit in moves)
    assert len(moves) <= 4
    steps = [(start, end) for start, end, _ in moves]
    written = format_moves(steps, [hit for _, _, hit in moves])
    # The same checkers reach the same points, whatever the intermediate stops.
    assert _shift([move[:2] for move in parse_moves(written)]) == _shift(steps)


def _shift(moves: list[tuple[int, int]]) -> list[int]:
    change = [0] * BOARD_SIZE
    for start, end in moves:
        change[start] -= 1
        change[end] += 1
    return change


def play_check(given: tuple[str, tuple[int, int], str], folder: Path) -> None:
    identifier, roll, text = given
    plays = legal_plays(position_from_gnubg_id(identifier), roll)
    play = find_play(text, plays)
    assert find_play(play.notation, plays) is play


def mat_check(content: bytes, folder: Path) -> None:
    path = folder / "games.mat"
    path.write_bytes(content)
    record = read_match(path)
    write_match(path, record)
    assert read_match(path) == record


def sgf_check(content: bytes, folder: Path) -> None:
    _match_check(folder / "games.sgf", content)


def xg_check(content: bytes, folder: Path) -> None:
    record = parse_xg(content, "games.xg")
    assert parse_mat(mat_text(record)).games == record.games


def bgf_check(content: bytes, folder: Path) -> None:
    record = parse_bgf(content, "games.bgf")
    assert parse_mat(mat_text(record)).games == record.games


def match_check(content: bytes, folder: Path) -> None:
    path = folder / "match"
    path.write_bytes(content)
    _written_and_read(path, read_match(path))


def _match_check(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    record = read_match(path)
    _written_and_read(path, record)
    write_match(path, record)
    assert read_match(path) == record


def _written_and_read(path: Path, record: MatchRecord) -> None:
    for suffix in WRITTEN_SUFFIXES:
        again = path.with_suffix(suffix)
        write_match(again, record)
        assert read_match(again).games == record.games


class _Games:
    """A store with one valid game and one with a damaged row."""

    stores: ClassVar[dict[Path, "_Games"]] = {}

    def __init__(self, folder: Path) -> None:
        self.store = GameStore(folder)
        self.sound, self.damaged = (begun(self.store)["game"] for _ in range(2))


def game_check(document: bytes | str, folder: Path) -> None:
    """Check the row of a game, which the store reads together with a valid one."""
    if folder not in _Games.stores:
        _Games.stores[folder] = _Games(folder / "games")
    games = _Games.stores[folder]
    store, name = games.store, games.damaged
    put(folder / "games", name, document)
    assert {one["game"] for one in store.summaries()} == {games.sound, name}
    state = store.state(name)
    json.dumps([state, store.rolls(name)], allow_nan=False)
    assert parse_mat(store.mat(name)).length == state["rules"]["length"]
    for word in ("roll", "next", "take", "undo"):
        with contextlib.suppress(RecordError):
            state = store.decide(name, state["revision"], word)
    again = GameStore(folder / "games").state(name)
    assert again == {**state, "events": [], "revision": again["revision"]}


def labels_check(content: bytes, folder: Path) -> None:
    path = folder / "labels"
    path.write_bytes(content)
    pieces = list(read_labels(path))
    for rows in pieces:
        assert (rows.boards.shape[1], rows.probabilities.shape[1]) == (BOARD_SIZE, 5)
        assert np.isfinite(rows.probabilities).all()
    for suffix in SUFFIXES:
        written = path.with_suffix(suffix)
        assert rewrite_labels([path], written)[0] == sum(len(rows.boards) for rows in pieces)
        again = list(read_labels(written)) if pieces else []
        for name in ("boards", "probabilities"):
            both = ([getattr(rows, name) for rows in some] for some in (pieces, again))
            one, other = (np.concatenate(arrays) if arrays else np.empty(0) for arrays in both)
            assert (one == other).all()


def results_check(content: bytes, folder: Path) -> None:
    path = folder / "results.csv"
    path.write_bytes(content)
    results = csv_results(path)
    if isinstance(results, ScoreResults):
        assert ((results.chances >= 0) & (results.chances <= 1)).all()
        assert np.isin(results.won, (0, 1)).all()
        assert 0 < len(results.chances) == len(results.won) == len(results.game)
        return
    (samples,) = results.parts
    assert results.positions == len(samples) > 0
    assert np.isin(samples.probabilities[:, 0], (0, 1)).all()
    assert not any(faults(board) for board in samples.boards[:20])


def bras_check(content: bytes, folder: Path) -> None:
    path = folder / "bras.yaml"
    path.write_bytes(content)
    scores = load_bras(str(path)).formula.percent(Position.start().board[None])
    assert 0 <= scores[0] <= 100


def benchmark_check(content: bytes, folder: Path) -> None:
    _benchmark(folder / "some.bm", content)


def gzip_check(content: bytes, folder: Path) -> None:
    _benchmark(folder / "some.bm.gz", content)


def _benchmark(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    benchmark = read_benchmark(path)
    count, record = len(benchmark), benchmark.record
    assert benchmark.rolls.shape == (count, 2)
    assert (benchmark.offsets[0], benchmark.offsets[-1]) == (0, len(benchmark.listed))
    assert (np.diff(benchmark.offsets) > 0).all()
    assert np.isfinite(benchmark.losses).all()
    assert (benchmark.losses >= 0).all()
    written = "".join(f"{line}\n" for line in _benchmark_lines(benchmark)).encode("ascii")
    path.write_bytes(gzip.compress(written, 1) if path.suffix == ".gz" else written)
    again = read_benchmark(path)
    for name in ("boards", "rolls", "offsets", "listed", "losses"):
        assert (getattr(again, name) == getattr(benchmark, name)).all(), name
    assert [note.text for note in again.record.notes] == [note.text for note in record.notes]
    assert again.record.settings == record.settings
    assert again.record.cube_decisions == record.cube_decisions


def _benchmark_lines(benchmark: BenchmarkFile) -> list[str]:
    """Return the lines of a benchmark file for what was read, in order."""
    record = benchmark.record
    lines = {note.line: note.text for note in record.notes}
    for k, board in enumerate(benchmark.boards):
        part = slice(*benchmark.offsets[k : k + 2].tolist())
        keys = [position_key(Position(after)) for after in benchmark.listed[part]]
        plays = [word for pair in zip(keys, benchmark.losses[part].tolist(), strict=True) for word in pair]
        words = ("m", position_key(Position(board)), *benchmark.rolls[k].tolist(), *plays)
        lines[int(record.lines[k])] = " ".join(map(str, words))
    return [lines[number] for number in sorted(lines)]


def weight_file_check(content: bytes, folder: Path) -> None:
    path = folder / "weights.yaml"
    path.write_bytes(content)
    weights = read_weight_file(path)
    weights.save(path)
    text = path.read_text("utf-8")
    again = read_weight_file(path)
    again.save(path)
    assert path.read_text("utf-8") == text
    for name, heads in weights.classes.items():
        for head, chosen in heads.items():
            read = again.classes[name][head]
            assert (chosen.bias, chosen.pairs.tolist()) == (read.bias, read.pairs.tolist())
            assert (chosen.linear.tolist(), chosen.quadratic.tolist()) == (
                read.linear.tolist(),
                read.quadratic.tolist(),
            )
    assert set(weights.hidden_layers) == set(again.hidden_layers)
    for name, layer in weights.hidden_layers.items():
        assert layer.names == again.hidden_layers[name].names
        for part in ("bias", "inputs", "points", "outputs"):
            assert np.array_equal(getattr(layer, part), getattr(again.hidden_layers[name], part))
    evaluator = filtered(StaticEvaluator("fuzz", weights_model(weights), weights))
    chances = evaluator.evaluate_many(Position.start().board[None])
    assert chances.shape == (1, 5)
    assert ((chances >= 0) & (chances <= 1)).all()
    player = CompiledPlayer("fuzz", evaluator.model, evaluator)
    assert player.choose(Position.start(), (3, 1)) in legal_plays(Position.start(), (3, 1))


def config_check(content: bytes, folder: Path) -> None:
    path = folder / CONFIG
    path.write_bytes(content)
    config = load_config(path)
    config.check()
    config.save(folder)
    assert load_config(path) == config
    json.dumps(asdict(config), allow_nan=False)


def manifest_check(given: tuple[bytes, bytes], folder: Path) -> None:
    """Check a manifest, and the part that it should name."""
    content, part = given
    (folder / MANIFEST).write_bytes(content)
    (folder / PART).write_bytes(part)
    manifest = read_manifest(folder)
    write_manifest(folder, manifest.settings, manifest.parts, manifest.complete)
    again = read_manifest(folder)
    # Compared as text, because a NaN does not equal itself.
    assert json.dumps([again.settings, again.complete]) == json.dumps([manifest.settings, manifest.complete])
    assert again.parts == manifest.parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteDatasetWarning)
        read_dataset(folder)


def torn_part_check(parts: tuple[bytes, bytes, int], folder: Path) -> None:
    """Check a part whose checksum differs from the manifest's: `parts` are its bytes and their rows."""
    found, meant, rows = parts
    (folder / PART).write_bytes(found)
    _vouch(folder, meant, rows)
    read_dataset(folder)
    assert found == meant


def part_check(given: tuple[bytes, int], folder: Path) -> None:
    """Check a part whose bytes, whatever they are, have the manifest's checksum."""
    content, rows = given
    (folder / PART).write_bytes(content)
    _vouch(folder, content, rows)
    samples = read_dataset(folder)
    assert len(samples) == rows
    assert not any(faults(board) for board in samples.boards)
    assert samples.probabilities.shape == (rows, 5)
    for name, kind in (
        ("probabilities", "f4"), ("equity", "f4"), ("equity_se", "f4"), ("trials", "i4"), ("game", "i4"),
        ("ply", "i4"), ("decision", "i8"), ("chosen", "b1"), ("position_class", "i1"),
    ):  # fmt: skip
        values = getattr(samples, name)
        assert (len(values), values.dtype) == (rows, np.dtype(kind)), name
    assert set(samples.position_class.tolist()) <= set(range(len(CLASS_NAMES)))


def _vouch(folder: Path, content: bytes, rows: int) -> None:
    """Write a manifest for one part with this content."""
    part = {"name": PART, "rows": rows, "sha256": hashlib.sha256(content).hexdigest()}
    document = {
        "format": "motif-dataset/1",
        "complete": True,
        "positions": rows,
        "settings": {},
        "parts": [part],
    }
    (folder / MANIFEST).write_text(json.dumps(document), encoding="utf-8")


def positions_file_check(content: bytes, folder: Path) -> None:
    path = folder / "lines.txt"
    path.write_bytes(content)
    boards = read_positions(str(path))
    path.write_text("".join(f"{name}\n" for name in gnubg_ids(boards)), encoding="ascii")
    assert (read_positions(str(path)) == boards).all()


def decisions_file_check(content: bytes, folder: Path) -> None:
    path = folder / "lines.txt"
    path.write_bytes(content)
    boards, rolls, _ = read_decisions(str(path))
    lines = (f"{name} {die1} {die2}\n" for name, (die1, die2) in zip(gnubg_ids(boards), rolls, strict=True))
    path.write_text("".join(lines), encoding="ascii")
    boards_again, rolls_again, _ = read_decisions(str(path))
    assert (boards_again == boards).all()
    assert (rolls_again == rolls).all()


def player_check(name: str, folder: Path) -> None:
    player = load(name)
    assert player.name
    if isinstance(player, EvaluatorPlayer) and not name.endswith("@1"):
        return  # two or three plies of lookahead take time
    play = player.choose(Position.start(), (3, 1))
    assert play in legal_plays(Position.start(), (3, 1))


def seed_check(seed: Any, folder: Path) -> None:
    player = load("random")
    assert player.choose(Position.start(), (3, 1), seed=seed) == player.choose(Position.start(), (3, 1), seed)


def kernel_file_check(case: tuple[bytes, Any], folder: Path) -> None:
    """Check that a loaded file equals the written one; `case` is a file and its content."""
    content, contents = case
    os.environ["NUMBA_CACHE_DIR"] = str(folder / "cache")
    path = kernel_folder() / f"{KERNEL}.kernel"
    path.write_bytes(content)
    path.chmod(0o600)
    loaded = load_or_make(KERNEL, _taken_apart, lambda: (None, None))
    if loaded is None:
        raise ParameterError("compiled again")
    # Compared as text, because a NaN does not equal itself.
    assert repr(loaded) == repr(_taken_apart(contents))


def _taken_apart(contents: Any) -> Any:
    """Decode cached content like `motif.compiler.linker.Kernel`."""
    cells, reduced = contents
    return [(name, of, tuple(kinds)) for name, of, kinds in cells], tuple(reduced)
