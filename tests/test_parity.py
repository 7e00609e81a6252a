"""Python offers everything that the command line does, under the same names."""

import inspect
from collections.abc import Iterator
from importlib import import_module

import pytest
import typer

import motif
from motif.cli.main import app
from motif.library_options import MatchKeywords

PRINTING = {"json", "html", "detailed", "every", "moves", "jokers", "top", "boards_shown", "doubtful"}
"""Options for what is printed, or for further files: results have `to_dict`, `to_frame` and `plot`."""
SHARED = {
    "cluster": "working_on",
    "identifier": "position",
    "die1": "roll",
    "die2": "roll",
    "folders": "data",
    "batch": "position",
    "files": "files",
    # A player's name includes its plies.
    "fast": "player",
    "deep": "player",
    "plot": "",
}
"""Option -> keyword with another name; empty if a method of the result replaces the option."""
FUNCTIONS = {
    "sample": ("sample", {}),
    "fit": ("fit", {"prune_z": "prune", "config": "settings"}),
    "bootstrap": ("bootstrap", {"config_file": "config"}),
    "report": ("report", {"top": "top", "html": "html"}),
    "calibrate": ("calibrate", {"out": ""}),
    "export": ("export", {"file": "player"}),
    "evaluate": ("evaluate", {"jobs": ""}),
    "hint": ("rank", {"plays": "", "rollout": "compare_plays", "trials": "", "candidates": "", "jobs": ""}),
    "explain": ("explain", {}),
    "cube": ("cube", {"jobs": ""}),
    "rollout": (
        "rollout",
        {
            "identifier": "positions",
            "cubeful": "rollout_cube",
            **dict.fromkeys(
                (*MatchKeywords.__annotations__, "compare", "play", "candidates"), "compare_plays"
            ),
            **dict.fromkeys(("die1", "die2"), "compare_plays"),
        },
    ),
    "plays": ("legal_plays", {"batch": ""}),
    "bearoff": ("bearoff", {}),
    "analyse": (
        "analyse",
        {"files": "record", "no_cube": "cube", "export": "", "fast": "fast", "deep": "deep"},
    ),
    "convert": ("convert", {}),
    "benchmark": ("benchmark", {}),
    "match": (
        "play_matches",
        {
            "games": "matches",
            **dict.fromkeys(("jacoby", "until_certain", "significance"), "play_money_games"),
        },
    ),
    "tournament": ("play_tournament", {"names": "players"}),
    "speed": ("speed", {}),
    "terms": ("terms", {"unit": ""}),
    "inspect": ("inspect", {}),
}
"""Command -> function of the library, and keywords with other names or functions for single options."""
ELSEWHERE = {
    "train-phase-net": "motif:train_phase_net",
    "cube-windows": "motif:cube_windows",
    "cube-efficiency": "motif:cube_efficiency",
    "benchmark make": "motif:make_benchmark",
    "warm": "motif.compiler.jit:compile_ahead",
    "play": "motif.library_game:Game",
}
"""Maintainers' and course commands, whose functions have settings of their own."""
SERVERS = {"web", "serve http", "serve gnubg", "serve ubgi"}


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield the commands and their parameters."""

    def inside(group, words):
        for name, command in group.commands.items():
            path = [*words, name]
            if getattr(command, "commands", None):
                if command.params and command.callback:
                    yield " ".join(path), [one.name for one in command.params]
                yield from inside(command, path)
            else:
                yield " ".join(path), [one.name for one in command.params]

    yield from inside(typer.main.get_command(app), [])


COMMANDS = dict(commands())


def test_every_command_has_a_function():
    missing = COMMANDS.keys() - FUNCTIONS.keys() - ELSEWHERE.keys() - SERVERS
    assert not missing
    assert not (FUNCTIONS.keys() | ELSEWHERE.keys()) - COMMANDS.keys()
    for place in ELSEWHERE.values():
        module, _, name = place.partition(":")
        assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("command", [name for name in FUNCTIONS if name in COMMANDS])
def test_options_are_keywords(command):
    function, own = FUNCTIONS[command]
    keywords = inspect.signature(getattr(motif, function)).parameters
    for option in COMMANDS[command]:
        if option in PRINTING - own.keys():
            continue
        keyword = {**SHARED, **own}.get(option, option)
        if not keyword or keyword in dir(motif):
            continue
        assert keyword in keywords, f"{command} --{option}: motif.{function} has no {keyword}"
