"""The rollout-truth set: results become benchmark files, and these the tables of the page."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from motif.benchmarks import read_benchmark
from motif.benchmarks.benchmark_files import by_play
from motif.board.identifiers import position_key
from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.evaluators.known_players import default_player
from motif.runtime.errors import BenchmarkError
from tools.rollout_truth import main, results_of
from tools.truth_decision import players_of
from tools.truth_table import pairs, read_truth, table

OWN = default_player()
ALL = players_of(OWN)
START = Position.start()
PLAYS = [position_key(play.position) for play in legal_plays(START, (3, 1))[:3]]


def rolled(key, number, loss, by, trials=(100, 10)):
    row = {"probabilities": [0.5, 0.1, 0.0, 0.1, 0.0], "equity": 0.2 - loss, "se": 0.01}
    more = {"loss": loss, "loss_se": 0.01 * (loss > 0), "trials": trials, "loss_by": by}
    return [key, {"number": number, **row, **more}]


def result(number, name, choices, plays):
    """Return a result; players not named in `choices` choose the first of `plays`."""
    chosen = by_play({player: PLAYS[choices.get(player, 0)] for player in ALL})
    place = {"key": position_key(START), "roll": [3, 1], "chosen_by": chosen}
    return {"decision": number, "class": name, **place, "plays": plays, "seconds": [1.0, 2.0]}


DISAGREED = [
    rolled(PLAYS[0], 0, 0.0, [0.0, 0.0]),
    rolled(PLAYS[1], 1, 0.02, [-0.01, 0.05]),
    rolled(PLAYS[2], 2, 0.1, [0.1, 0.1]),
]
AGREED = [rolled(PLAYS[0], 0, 0.0, [0.0, 0.0], (0, 0))]
NAMES = ["contact"] * 10 + ["crashed"] * 3 + ["race"] * 3


@pytest.fixture
def folder(tmp_path):
    """Write one complete round of results and an incomplete one, as after a kill."""
    results = [result(k, name, {}, AGREED) for k, name in enumerate([*NAMES, "contact"])]
    results[0] = result(0, "contact", {OWN: 1, "wildbg": 2}, DISAGREED)
    lines = [json.dumps(one) for one in (*results[1:], results[0])]
    (tmp_path / "results.jsonl").write_text("\n".join([*lines, '{"decision": 17']), "utf-8")
    state = {"player": OWN, "seed": 1, "games": 2, "decisions": []}
    (tmp_path / "decisions.json").write_text(json.dumps(state), "utf-8")
    return tmp_path


@pytest.fixture
def files(folder, monkeypatch):
    from tools import rollout_truth
    from tools.truth_decision import Roller

    # Only the rollers' names are needed: gnubg need not be installed.
    named = tuple(Roller(name, lambda *_: np.empty(0), 1, 1.0) for name in (OWN, "gnubg"))
    monkeypatch.setattr(rollout_truth, "rollers", lambda *_: named)
    assert main(["write", str(folder), str(folder / "set")]) == 0
    return [folder / "set" / f"{name}.bm.gz" for name in ("contact", "crashed", "race")]


def test_results_are_complete_and_in_order(folder):
    assert [one["decision"] for one in results_of(folder)] == list(range(17))


def test_whole_rounds_become_files(files):
    assert [len(read_benchmark(path)) for path in files] == [10, 3, 3]
    contact = read_benchmark(files[0])
    assert contact.losses[:3].tolist() == [0.0, 0.02, 0.1]
    with gzip.open(files[0], "rt") as lines:
        first = next(line.split() for line in lines if line.startswith("m "))
    assert float(first[5]) == pytest.approx(0.2)


def test_tables_show_the_players_losses(files, tmp_path):
    truths = [read_truth(path) for path in files]
    contact = truths[0]
    assert (contact.players, contact.rolled, contact.plays, contact.seconds) == (tuple(ALL), 1, 3, 30.0)
    assert contact.trials.tolist() == [300, 30]
    rows = {name: contact.players.index(name) for name in (OWN, "wildbg", "gnubg")}
    assert {name: contact.losses[row, 0] for name, row in rows.items()} == {
        OWN: 0.02,
        "wildbg": 0.1,
        "gnubg": 0,
    }
    # By motif's trials the second play is best, and by gnubg's it loses .05 against the first one:
    # by these the first gains .05. By gnubg's the first is best, and by motif's the second gains .01.
    assert contact.crossed[rows[OWN], 0] == pytest.approx((0 - 0.01) / 2)
    assert contact.crossed[rows["gnubg"], 0] == pytest.approx((-0.05 + 0) / 2)
    lines = table(truths)
    assert "Decisions: 10 contact (1 rolled out), 3 crashed (0 rolled out), 3 race (0 rolled out)." in lines
    assert next(line for line in lines if line.startswith(f"| `{OWN}` |")).startswith(
        f"| `{OWN}` | 2.00 ± 2.00 |"
    )
    assert any(line.startswith(f"| `gnubg` minus `{OWN}` | -2.00 ± 2.00 |") for line in lines)


def test_the_page_has_the_tables(files, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- generated: rollout truth -->\n<!-- end of rollout truth -->\nafter\n", "utf-8"
    )
    assert main(["table", str(page), "--lines", str(files[0].parent)]) == 0
    text = page.read_text("utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "`gnubg@2`" in text


def test_lines_without_choices_are_refused(tmp_path):
    with pytest.raises(BenchmarkError, match="lacks the players' choices"):
        read_truth(Path("tests/data/contact.bm"))


def test_lookahead_is_compared_with_the_next_shallower():
    found = pairs(ALL)
    assert (f"{OWN}@3", f"{OWN}@2") in found
    assert {name for pair in found for name in pair} == set(ALL)


def test_a_folder_without_decisions_is_refused(tmp_path, capsys):
    assert main(["run", str(tmp_path)]) == 2
    assert "no decisions: collect them first" in capsys.readouterr().err


def test_a_version_joins_the_set(files, monkeypatch):
    from tools import truth_extension
    from tools.truth_decision import Roller

    def play(packed, item, first, count):
        """Return the same outcomes for every play: nothing is lost."""
        wins = np.random.default_rng([item, first]).random(count) < 0.5
        return np.stack([np.where(wins[:, None], [1.0, 0, 0, 0, 0], 0.0)] * len(packed))

    fake = tuple(Roller(name, play, 36, 1.0) for name in ("motif-v1", "gnubg"))
    monkeypatch.setattr(truth_extension, "rollers", lambda *_: fake)
    monkeypatch.setattr(truth_extension, "_PLIES", ("", "@1"))
    before = [read_truth(path) for path in files]
    assert truth_extension.main(["motif-v1", str(files[0].parent), "--jobs", "1"]) == 0
    after = [read_truth(path) for path in files]
    for old, new in zip(before, after, strict=True):
        assert new.players == (*old.players, "motif-v1", "motif-v1@1")
        assert new.rollers == (f"{OWN}/motif-v1", "gnubg")
    # 8/5 6/5, which motif-v1 plays, is not among the plays of the files: every decision is rolled out again.
    assert all((new.losses == 0).all() for new in after)
    assert [new.rolled for new in after] == [10, 3, 3]
    written = [path.read_bytes() for path in files]
    assert truth_extension.main(["motif-v1", str(files[0].parent), "--jobs", "1"]) == 0
    assert [path.read_bytes() for path in files] == written
