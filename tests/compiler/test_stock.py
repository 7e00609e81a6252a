"""Kernels compiled by plain numba: with untested versions of numba, and by choice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
UNKNOWN = """
import numba
numba.__version__ = "0.99.0"
"""
SMALL = """
import numpy as np
from motif.board.outcome import finished_points_many
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.compiler.jit import way
from motif.parameters.position_class import classify_many

packed = pack_many(Position.start().board[None])
print(way(), finished_points_many(packed.view("int64")).tolist(), classify_many(packed).tolist())
"""
HINT = "from motif.cli.main import main\nmain(['hint', '4HPwATDgc/ABMA', '3', '1', '--json'])\n"
LEARN = """
import sys
from dataclasses import replace
from motif.learning.bootstrap_config import load_preset
from motif.learning.bootstrap_run import run_bootstrap

config = load_preset("demo")
step = replace(config.versions[0], games=12, trials=1)
config = replace(config, versions=(step,), strength_games=60, fit={**config.fit, "terms": "linear"})
run_bootstrap(sys.argv[1], config, jobs=2)
"""
WEB = """
import json, os, sys
from threading import Thread
from urllib.request import Request, urlopen
from motif.serve.http import serve
from motif.serve.serve_settings import ServeSettings

def ask(address):
    code = 1
    try:
        body = json.dumps({"id": "4HPwATDgc/ABMA", "dice": [3, 1]}).encode()
        request = Request(f"{address}/api/v1/hint", body, {"Content-Type": "application/json"})
        print(urlopen(request).read(), flush=True)
        code = 0
    finally:
        os._exit(code)

serve(ServeSettings(port=0), lambda address: Thread(target=ask, args=(address,)).start())
"""


def run(script: str, cache: Path, *words: str, way: str = "") -> tuple[str, str]:
    """Standard output and standard error of a process that compiles this way, with kernels in `cache`."""
    cache.mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "MOTIF_COMPILER": way}
    command = [sys.executable, "-c", script, *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_an_untested_numba_uses_documented_features(tmp_path):
    expected = run(SMALL, tmp_path / "linked")[0].removeprefix("linked ")
    said, told = run(UNKNOWN + SMALL, tmp_path / "stock")
    assert said == f"numba {expected}"
    assert [line for line in told.splitlines() if "numba" in line] == [
        "motif: numba 0.99.0 is not a tested version (0.68): kernels take longer to compile"
    ]
    kept = sorted((tmp_path / "stock" / "numba").rglob("*.nbc"))
    assert kept
    before = [path.stat().st_mtime_ns for path in kept]
    assert run(UNKNOWN + SMALL, tmp_path / "stock", way="numba") == (said, "")
    assert [path.stat().st_mtime_ns for path in kept] == before


def test_an_unknown_compiler_is_reported_and_ignored(tmp_path):
    script = "from motif.compiler.choice import way\nprint(way())"
    said, told = run(script, tmp_path / "cache", way="gcc")
    assert said == "linked\n"
    assert told == "motif: invalid MOTIF_COMPILER 'gcc': it must be linked or numba\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "way"), [("", "numba"), (UNKNOWN, "")], ids=["requested", "untested version"]
)
def test_stock_kernels_give_the_bytes_of_linked_ones(tmp_path, before, way):
    """For a hint, a small run that samples, fits and plays with two workers, and the page's server."""
    linked, stock = tmp_path / "linked", tmp_path / "stock"
    assert run(before + HINT, stock, way=way)[0] == run(HINT, linked)[0]
    for folder in (linked, stock):
        of_stock = folder is stock
        run(before * of_stock + LEARN, folder, str(folder / "run"), way=way if of_stock else "linked")
    learned = [
        [path.read_bytes() for path in sorted((folder / "run").rglob("*.yaml"))] for folder in (linked, stock)
    ]
    assert learned[0] == learned[1]
    assert run(before + WEB, stock, way=way)[0] == run(WEB, linked)[0]
