"""Build sdist and wheel, and use the wheel in an empty environment.

``python -m tools.wheel_check dist`` builds into that folder, checks the contents of the wheel, installs it in
a clean environment outside the checkout, and runs motif's commands there in an empty folder, with a read-only
home. It ends with 1 and a message at the first fault.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree

import yaml

from tools.import_graph import ROOT

MAX_SIZE = 6_000_000
"""Maximum size of a wheel in bytes."""
NEEDED = (
    "motif/py.typed",
    "motif/weights/README.md",
    "motif/weights/keith-v1.yaml",
    "motif/data/presets/demo.yaml",
    "motif/data/met/Kazaross-XG2.xml",
    "motif/data/wildbg/contact.onnx",
    "motif/reports/templates/page.html",
    "motif/serve/web/index.html",
    "motif/serve/web/texts/de.json",
)
_START, _RACE = "4HPwATDgc/ABMA", "dPexAAB07zMAAA"
_SMALL = {"games": 40, "trials": 4, "rate": 0.2, "candidates": 4}
"""Settings of a run of a few seconds."""


class WheelError(Exception):
    """The wheel has a fault."""


def build(folder: Path) -> Path:
    """Build sdist and wheel into `folder`, check their metadata, and return the wheel's path."""
    rmtree(folder, ignore_errors=True)
    rmtree(ROOT / "build", ignore_errors=True)
    _run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)])
    made = sorted(map(str, folder.iterdir()))
    _run([sys.executable, "-m", "twine", "check", "--strict", *made])
    wheels = list(folder.glob("*-py3-none-any.whl"))
    if len(wheels) != 1 or len(made) != 2:
        raise WheelError(f"expected a source archive and a pure wheel, got {', '.join(made)}")
    return wheels[0]


def check_contents(wheel: Path) -> None:
    """Raise `WheelError` for a wheel that is too large, incomplete, or contains unwanted files."""
    if (size := wheel.stat().st_size) > MAX_SIZE:
        raise WheelError(f"{wheel.name} has {size / 1e6:.1f} MB, more than {MAX_SIZE / 1e6:.0f}")
    names = zipfile.ZipFile(wheel).namelist()
    weights = [f"motif/weights/{path.name}" for path in (ROOT / "weights").glob("*.yaml*")]
    if missing := [name for name in (*NEEDED, *weights) if name not in names]:
        raise WheelError(f"{wheel.name} lacks {', '.join(missing)}")
    foreign = [name for name in names if not name.startswith(("motif/", "motif_backgammon-"))]
    if foreign := [*foreign, *(name for name in names if "__pycache__" in name)]:
        raise WheelError(f"{wheel.name} contains unwanted files: {', '.join(foreign[:5])}")
    print(f"{wheel.name}: {size / 1e6:.1f} MB, {len(names)} files")


def install(wheel: Path, folder: Path) -> Path:
    """Install `wheel` in a new environment in `folder`; return the path of its program motif."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    _run([str(programs / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel)])
    return programs / "motif"


class Use:
    """Run the installed program in an empty folder."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program, self._folder = program, folder
        no_home = folder.with_name("no-home")
        no_home.touch()
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("XDG_", "PYTHON", "NUMBA"))
        }
        self._environment = {**kept, "HOME": str(no_home / "home"), "TMPDIR": str(folder.parent)}

    def command(self, line: str, typed: str = "") -> str:
        """Return the output of the command `line`, given `typed` as input."""
        return self._timed(f"motif {line}", [str(self._program), *line.split()], typed)

    def python(self, source: str) -> str:
        """Return the output of a line of Python."""
        return self._timed(f"python -c '{source}'", [str(self._program.with_name("python")), "-c", source])

    def _timed(self, shown: str, words: Sequence[str], typed: str = "") -> str:
        started = time.monotonic()
        output = _run(words, cwd=self._folder, env=self._environment, input=typed)
        print(f"{time.monotonic() - started:6.1f} s  {shown}", flush=True)
        return output


def use(run: Use, folder: Path) -> None:
    """Run the commands of a new user; raises `WheelError` for a wrong answer."""
    hinted = json.loads(run.command(f"hint {_START} 3 1 --json"))
    _check("the opening 31", hinted["plays"][0]["notation"] == "8/5 6/5", hinted["plays"][0])
    _check("the judge", hinted["player"].startswith("motif-v"), hinted["player"])
    cube = json.loads(run.command(f"cube {_RACE} --json"))
    _check("a race's cube", cube["action"] == "double, take", cube["action"])
    explained = json.loads(run.command(f"explain {_START} 3 1 --html why.html --json"))
    _check("why", explained["better"]["notation"] == "8/5 6/5" and (folder / "why.html").is_file(), explained)
    run.command("play --seed 1 --save match.mat", "roll\nhint\n1\nquit\n")
    _check("the record of play", (folder / "match.mat").is_file(), sorted(folder.iterdir()))
    run.command("play latest pubeval --length 1 --seed 1 --save game.mat")
    analysed = json.loads(run.command("analyse game.mat --json"))
    _check("an analysis", analysed["players"][1]["error_rate"] > 0, analysed["players"])
    run.command("sample --out data --games 40 --trials 6 --rate 0.2")
    run.command("fit data --out own.yaml --plot own.png")
    run.command(f"hint {_START} 3 1 --player own.yaml")
    (folder / "small.yaml").write_text(yaml.safe_dump(_small_preset()), encoding="utf-8")
    run.command("bootstrap --config small.yaml --out runs/small")
    _check("a run", (folder / "runs/small/report.html").is_file(), sorted((folder / "runs/small").iterdir()))
    best = run.python(f"import motif; print(motif.rank('{_START}', '31').best)")
    _check("the library", best == "8/5 6/5\n", best)


def _small_preset() -> dict[str, object]:
    """Return the preset ``demo``, scaled down."""
    preset: dict[str, object] = yaml.safe_load((ROOT / "motif/data/presets/demo.yaml").read_text("utf-8"))
    smaller = {"name": "small", "strength_games": 60, "fit": {"parameters": "keith"}}
    return {**preset, **smaller, "versions": [dict(_SMALL), dict(_SMALL)]}


def _check(what: str, is_right: bool, seen: object) -> None:
    if not is_right:
        raise WheelError(f"{what}: {seen}")


def _run(words: Sequence[str], **settings: object) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, **settings)  # type: ignore[call-overload]
    if done.returncode:
        raise WheelError(
            f"{' '.join(words)}: ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return str(done.stdout)


def main(words: Sequence[str]) -> int:
    """Build into the folder in `words` and check; return the exit code."""
    started = time.monotonic()
    try:
        wheel = build(Path(words[0]).resolve())
        check_contents(wheel)
        with tempfile.TemporaryDirectory() as temporary:
            place = Path(temporary)
            begun = time.monotonic()
            program = install(wheel, place / "environment")
            print(f"{time.monotonic() - begun:6.1f} s  pip install {wheel.name}", flush=True)
            folder = place / "empty"
            folder.mkdir()
            use(Use(program, folder), folder)
    except WheelError as fault:
        print(f"wheel: {fault}", file=sys.stderr)
        return 1
    print(f"the wheel passed all checks in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
