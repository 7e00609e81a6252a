"""Players by name: which exist, how they load, and the messages for unknown ones."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from motif.board.match_state import MatchState
from motif.cli.options import NAMES
from motif.evaluators import known_players as shipped
from motif.evaluators import load_evaluator, load_static
from motif.evaluators.bras import BrasEvaluator
from motif.evaluators.known_players import (
    LATEST,
    Kind,
    default_player,
    entry_of,
    known_players,
    player_words,
    shipped_weights,
    static_words,
)
from motif.players import load
from motif.players.player import cube_evaluator
from motif.players.ranking import cube_model_of
from motif.runtime.errors import PlayerError


def test_every_entry_has_a_home_a_name_and_a_line():
    entries = known_players()
    assert len({entry.name for entry in entries}) == len(entries)
    for entry in entries:
        assert len(entry.description.splitlines()) == 1
        module, _, function = entry.home.partition(":")
        assert callable(getattr(import_module(module), function)) if entry.home else entry.name == "human"
        if entry.is_one:
            assert entry_of(entry.name).name == entry.name
        if entry.looks_ahead:
            assert module.startswith("motif.evaluators.")


def test_whose_probabilities_are_good_enough_for_the_cube(tmp_path):
    for entry in known_players():
        if entry.is_one and entry.kind in (Kind.STATIC, Kind.NET):
            evaluator = load_evaluator(entry.name)
            assert evaluator.gives_chances == entry.gives_chances, entry.name
    poor = ("bras+bearoff", "phase+bearoff@1", "bras@2:narrow", "composite:race=motif-v1,contact=pubeval")
    good = (
        "motif-v1+bearoff",
        "keith-v1@1",
        "rollout:bras,trials=36",
        "composite:race=motif-v1,contact=wildbg",
    )
    assert [load(name).evaluator.gives_chances for name in (*poor, *good)] == [False] * 4 + [True] * 4
    assert [cube_evaluator(load(name)) is None for name in (*poor, *good)] == [True] * 4 + [False] * 4
    assert not BrasEvaluator(name="mine").gives_chances
    phase_net = Path(__file__).parents[2] / "weights" / "phase-net" / "pretrained.onnx"
    assert not load_evaluator(f"onnx:{phase_net}").gives_chances
    cubeful = load_evaluator("bras").with_cube(cube_model_of(MatchState()))
    assert not cubeful.gives_chances


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bras", Kind.STATIC),
        ("bras:some.yaml", Kind.STATIC),
        ("latest", Kind.STATIC),
        ("motif-v1", Kind.STATIC),
        ("some/file.yml", Kind.STATIC),
        ("wildbg", Kind.NET),
        ("onnx:some.yaml", Kind.NET),
        ("rollout:some.yaml", Kind.ROLLOUT),
        ("gnubg@2", Kind.PROGRAM),
        ("human", Kind.CHOOSER),
        ("bras@1", None),
        ("motif-v1+bearoff", None),
        ("", None),
    ],
)
def test_whose_name_it_is(name, kind):
    entry = entry_of(name)
    assert (entry and entry.kind) == kind


@pytest.mark.parametrize(("name", "what"), [("gnubg", "another program"), ("rollout:bras", "a rollout")])
def test_players_other_than_static_evaluators(name, what):
    with pytest.raises(PlayerError, match=f"^'{name}' is {what}; a static "):
        load_static(name)


@pytest.mark.parametrize("name", ["best-of-four@1", "human@1"])
def test_who_only_chooses_cannot_look_ahead(name):
    with pytest.raises(PlayerError, match=f"^the player '{name[:-2]}' has no values: it cannot evaluate"):
        load(name)


def test_words():
    assert static_words() == "a weight file, pubeval, simple, bras, bras:FILE.yaml or phase"
    assert player_words() == (
        "a weight file, pubeval, simple, bras, bras:FILE.yaml, phase, wildbg, onnx:PATH, FILE.py or "
        "composite:race=PLAYER,..., each with @1 to @3 to look ahead; gnubg, gnubg@N, rollout:PLAYER"
    )


@pytest.fixture
def no_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "_FOLDERS", (tmp_path,))
    shipped_weights.cache_clear()
    yield
    shipped_weights.cache_clear()


@pytest.mark.usefixtures("no_weights")
@pytest.mark.parametrize("name", ["latest", "latest@1", "latest+bearoff"])
def test_missing_weights_have_no_substitute(name):
    assert default_player() == LATEST
    for loader in (load, load_evaluator):
        with pytest.raises(PlayerError, match=r"^this installation of motif has no weights for 'latest': "):
            loader(name)
    with pytest.raises(PlayerError, match=r"^no player is called 'motif-v1'; there are pubeval, "):
        load("motif-v1")


def test_the_names_cost_no_players():
    """Help and completion need the names without loading any player."""
    code = (
        "import sys; from motif.evaluators.known_players import known_players;"
        "names = [entry.name for entry in known_players()];"
        "assert not [name for name in sys.modules if name.startswith(('motif.players', 'motif.rollouts'))];"
        "print(len(names))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ended.stdout) > len(NAMES)
