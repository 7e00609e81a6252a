import io
import json
from typing import NamedTuple

import numpy as np
import pytest

from motif.cli.main import main
from motif.evaluators.weight_file import HeadWeights, WeightFile
from motif.parameters import parameter_set


class Ending(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def motif(capsys):
    """Run a command in this process."""

    def run(*words: object) -> Ending:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Ending(code, *capsys.readouterr())

    return run


@pytest.fixture
def fault(motif):
    """Run a command that must fail, and return its message."""

    def run(*words: object) -> str:
        ending = motif(*words)
        assert (ending.code, ending.out) == (2, "")
        assert ending.err.startswith("motif: error: ")
        assert ending.err.endswith("\n")
        assert ending.err.count("\n") == 1
        return ending.err.removeprefix("motif: error: ").strip()

    return run


@pytest.fixture
def typing(monkeypatch, motif):
    """Run `motif play` with lines typed in advance."""

    def run(lines, *words):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return motif("play", *words)

    return run


@pytest.fixture
def motif_json(motif):
    """Run a command with --json and return the object that it prints."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    def run(*words: object) -> dict:
        ending = motif(*words, "--json")
        assert (ending.code, ending.err) == (0, "")
        assert ending.out.count("\n") == 1
        document = json.loads(ending.out, parse_constant=refuse)
        assert isinstance(document, dict)
        return document

    return run


@pytest.fixture(scope="session")
def weight_file(tmp_path_factory):
    """A small weight file."""
    chosen = parameter_set("keith")
    rng = np.random.default_rng(7)

    def head() -> HeadWeights:
        linear = rng.normal(scale=0.3, size=len(chosen)).astype(np.float32)
        return HeadWeights(0.125, linear, np.array([[0, 1]]), np.array([0.5], np.float32))

    path = tmp_path_factory.mktemp("weights") / "small.yaml"
    classes = {name: {"win": head(), "win_gammon": head()} for name in ("contact", "race")}
    WeightFile("small", 1, None, chosen, classes).save(path)
    return path


@pytest.fixture(scope="session")
def dataset(tmp_path_factory):
    """A small dataset, made by the command itself."""
    folder = tmp_path_factory.mktemp("dataset") / "samples"
    words = ["sample", "--out", str(folder), "--player", "pubeval", "--games", "12", "--trials", "2"]
    assert main([*words, "--jobs", "1"]) == 0
    return folder
