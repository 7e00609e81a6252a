"""The examples in every command's help can be typed as they are, and work.

Parsing is checked with every word as shown. To save time, the words for the amount of work are replaced
according to `SMALLER`; the files that examples name are made in advance, or by earlier examples.
"""

import gzip
import io
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from motif.board.match_file import write_match
from motif.cli.main import app
from tests.board.test_mat_file import played

ROOT = Path(__file__).resolve().parent.parent.parent

SMALLER = {
    "--trials 1296": "--trials 36",
    "--compare --eliminate --cut 10": "--compare --eliminate --cut 10 --player pubeval --trials 36",
    "3 1 --rollout": "3 1 --rollout --player pubeval --trials 36",
    "match pubeval random --games 1000": "match pubeval random --games 10",
    "--cube --games 100 --luck-adjusted": "--cube --games 4 --luck-adjusted",
    "--until-certain": "--until-certain --games 20",
    "tournament simple pubeval bras --games 1000": "tournament simple pubeval bras --games 8",
    "speed --seconds 2": "speed --seconds 0.02 --player pubeval",
    "inspect bras --out runs/bras": "inspect bras --out runs/bras --positions 300",
    "--out runs/contact --class contact": "--out runs/contact --class contact --positions 300",
    "analyse match.mat": "analyse match.mat --fast",
    "--save match.mat": "--save another.mat",
    "sample --out runs/try --games 100 --trials 36": "sample --out runs/try --games 20 --trials 2",
    "sample --out runs/taught --games 100 --label wildbg": "sample --out runs/taught --games 4 --label bras",
    "--rate 0.2 --label latest@2": "--rate 0.2 --label latest",
    "sample --out runs/rare --games 1000": "sample --out runs/rare --games 10 --trials 2",
    "bootstrap --out runs/demo --preset demo": "bootstrap --out runs/demo --config small.yaml",
    "--from runs/try --decisions 200": "--from runs/try --decisions 2 --rollers pubeval",
    "--from match.mat --rollers latest,gnubg": "--from match.mat --decisions 2 --rollers pubeval",
    "train-phase-net --out runs/phase-net": "train-phase-net --out runs/phase-net --games 20 --boards 1000 "
    "--epochs 2 --rounds 2 --round-games 60 --round-epochs 2 --buffer 100 --test-games 60 --final-games 60",
    "--start a.onnx": "--start runs/phase-net/pretrained.onnx --rounds 1 "
    "--round-games 60 --round-epochs 2 --buffer 100 --test-games 60 --final-games 60 --games 20",
}
"""Part of an example -> what stands for it when the example is run."""

QUICK = {"evaluate", "plays", "hint", "cube", "match", "benchmark"}
"""Commands whose examples run in every test; those of the others take a minute or more together."""
LAST = ("benchmark make", "report", "terms", "calibrate", "convert")
"""Commands whose examples need files that those of others make."""
ASKS = {"play", "serve ubgi"}
"""Commands that read what is typed; here nothing is."""
SERVES = {"serve gnubg", "serve http", "web"}
"""Commands that end when they are interrupted; tests/serve and tests/web run them."""

BATCH = {"evaluate": "4HPwATDgc/ABMA\n", "plays": "4HPwATDgc/ABMA 3 1\n", "hint": "4HPwATDgc/ABMA 3 1\n"}
BATCH["cube"] = BATCH["sample"] = BATCH["evaluate"]
"""What the examples' FILE holds."""
SMALL_RUN = """
name: demo
start: simple
seed: 1
strength_games: 60
fit: {parameters: keith}
versions:
  - {games: 30, trials: 2, candidates: 8}
  - {games: 30, trials: 2, candidates: 8}
"""


def commands() -> dict[str, object]:
    """Every command by its full name, subcommands included."""
    return dict(_walk(typer.main.get_command(app), ()))


def _walk(command, words) -> Iterator[tuple[str, object]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield " ".join(words), command
        return
    for name, part in below.items():
        yield from _walk(part, (*words, name))


def examples(command) -> list[str]:
    """The lines below ``Example:`` in a command's help."""
    _, _, lines = (command.epilog or "").partition("Example:\n")
    return [line.strip() for line in lines.splitlines() if line.strip()]


COMMANDS = commands()
SHOWN = [(name, line) for name, command in COMMANDS.items() for line in examples(command)]


def words_of(line: str) -> list[str]:
    """Split `line` like a shell, without the program's name."""
    program, *words = shlex.split(line)
    assert program == "motif"
    return [
        found for word in words for found in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
    ]


def command_of(words: list[str]) -> str:
    """The command that `words` call."""
    return max((name for name in COMMANDS if words[: len(name.split())] == name.split()), key=len)


def smaller(line: str) -> str:
    for part, instead in SMALLER.items():
        line = line.replace(part, instead)
    return line


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """A folder with the files that examples name but do not make."""
    folder = tmp_path_factory.mktemp("workshop")
    bench = folder / "data" / "bench"
    bench.mkdir(parents=True)
    for path in (ROOT / "tests" / "data").glob("*.bm"):
        (bench / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    (folder / "small.yaml").write_text(SMALL_RUN)
    (folder / "matches").mkdir()
    for seed in range(3):
        write_match(folder / "matches" / f"{seed}.mat", played(seed))
    rows = [f"{40 + row % 20},{int(row % 20 > row % 7 + 6)}" for row in range(400)]
    (folder / "scores.csv").write_text("\n".join(["score,outcome", *rows]))
    return folder


@pytest.fixture(scope="session")
def samples(workshop, dataset):
    """The dataset that an example measures on."""
    return shutil.copytree(dataset, workshop / "runs" / "strong" / "v2" / "samples")


@pytest.fixture
def in_workshop(workshop, monkeypatch):
    monkeypatch.chdir(workshop)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_of_its_own(name):
    lines = examples(COMMANDS[name])
    assert lines, f"motif {name} --help has no example"
    assert lines[0].startswith(f"motif {name}")
    assert all(command_of(shlex.split(line)[1:]) for line in lines)


@pytest.mark.parametrize(("name", "line"), SHOWN)
def test_every_word_of_an_example_is_understood(in_workshop, name, line):
    words = words_of(line)
    called = command_of(words)
    command = COMMANDS[called]
    rest = words[len(called.split()) :]
    with command.make_context(called, list(rest)) as context:
        options = {f"--{key.replace('_', '-')}" for key in context.params}
    assert options


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_into_80_columns(motif, monkeypatch, name):
    for variable in ("COLUMNS", "TERMINAL_WIDTH"):
        monkeypatch.setenv(variable, "80")
    lines = motif(*name.split(), "--help").out.splitlines()
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_where_pages_and_lines_are_that_the_wheel_lacks(name):
    command = COMMANDS[name]
    texts = [command.help or "", *(getattr(item, "help", None) or "" for item in command.params)]
    texts += [
        item.show_default for item in command.params if isinstance(getattr(item, "show_default", 0), str)
    ]
    named = [
        found for text in texts for found in re.findall(r"\b(?:docs|data|weights)/\S+(?: \S+){0,3}", text)
    ]
    assert [found for found in named if "in motif's source" not in found] == []
    assert all((ROOT / found.split()[0]).exists() for found in named)


def test_every_replacement_is_needed():
    shown = [line for _, line in SHOWN]
    assert [part for part in SMALLER if not any(part in line for line in shown)] == []


def run(motif, monkeypatch, name: str, line: str) -> None:
    """Run an example and check that it succeeds."""
    if name in BATCH:
        Path("FILE").write_text(BATCH[name])
    words = words_of(smaller(line))
    if command_of(words) in ASKS:
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
    offered = any("--jobs" in parameter.opts for parameter in COMMANDS[command_of(words)].params)
    jobs = ("--jobs", "1") if offered and "--jobs" not in words else ()
    ending = motif(*words, *jobs)
    assert ending.code == 0, f"{line}: {ending.err}"
    assert ending.out or name in ASKS


@pytest.mark.parametrize(("name", "line"), [shown for shown in SHOWN if shown[0] in QUICK])
def test_the_example_of_a_quick_command_works(motif, in_workshop, samples, monkeypatch, name, line):
    run(motif, monkeypatch, name, line)


@pytest.mark.slow
def test_the_examples_of_the_other_commands_work(motif, in_workshop, monkeypatch):
    if any("export" in line for _, line in SHOWN):
        pytest.importorskip("onnx", reason="an example exports to ONNX")
    assert motif("play", "pubeval", "random", "--games", 1, "--save", "match.mat").code == 0
    for name, line in sorted(SHOWN, key=lambda shown: shown[0] in LAST):
        if name not in QUICK | SERVES:
            run(motif, monkeypatch, name, line)
