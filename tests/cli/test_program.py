"""The program as users start it: help, exit codes, appearance."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import motif.cli.main as program
from motif.board.position import Position
from motif.runtime.progress import ON_COMPILING

ROOT = Path(__file__).resolve().parent.parent.parent
FULL = Path("/dev/full")
SECONDS = 600
"""Only what hangs takes so long, also where kernels are compiled and the machine is busy."""
START = "4HPwATDgc/ABMA"
NO_CHANCE = {
    "evaluate", "plays", "hint", "bearoff", "cube", "explain", "speed", "warm", "analyse", "convert", "export"
}  # fmt: skip
"""Commands in which chance plays no part."""
AT_ONCE = {"plays", "bearoff", "cube-windows", "explain", "play", "convert", "export"}
"""Commands whose work is spread over no processes."""
SECTIONS = {
    "Learn": [
        "sample", "fit", "bootstrap", "report", "terms", "inspect", "calibrate", "export", "train-phase-net",
    ],
    "Ask": ["evaluate", "hint", "explain", "cube", "rollout", "plays", "bearoff", "cube-windows"],
    "Play": ["play", "web"],
    "Analyse": ["analyse", "convert"],
    "Measure": ["benchmark", "match", "tournament", "cube-efficiency", "speed", "warm"],
    "Serve": ["serve"],
}  # fmt: skip
LISTED = [name for names in SECTIONS.values() for name in names]
COMMANDS = [name for name in LISTED if name not in ("web", "serve")]
"""Those that print something, instead of answering others."""


def start(*words: str, **options) -> subprocess.Popen:
    command = [sys.executable, str(ROOT / "cli.py"), *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **{**pipes, **options})


def finish(process: subprocess.Popen) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out, _without_compiling(err)


def _without_compiling(err: str) -> str:
    """The output, without the line about compiling kernels."""
    return err.replace(f"{ON_COMPILING}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_the_common_options(motif, command):
    ending = motif(command, "--help")
    assert (ending.code, ending.err) == (0, "")
    assert re.search(rf"\n  Example:\n    motif {command}[ \n]", ending.out)
    assert "--json" in ending.out
    assert ("--seed" in ending.out) == (command not in NO_CHANCE)
    assert ("--jobs" in ending.out) == (command not in AT_ONCE)
    assert "\x1b" not in ending.out


@pytest.mark.parametrize("width", [60, 80])
def test_help_breaks_no_word_at_a_hyphen(motif, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for command in ("", "fit", "hint", "explain", "terms", "serve"):
        out = motif(*command.split(), "--help").out
        assert "\N{NON-BREAKING HYPHEN}" not in out
        assert not re.search(r"\w-\n", out), command


def test_the_examples_that_need_no_files_work(motif):
    for command in ("evaluate", "plays", "hint"):
        for example in re.findall(r"^    motif (.*)$", motif(command, "--help").out, re.MULTILINE):
            if "FILE" not in example:
                assert motif(*example.split()).code == 0


def test_help_lists_every_command(motif):
    for words in ((), ("--help",), ("-h",)):
        ending = motif(*words)
        assert ending.code == 0
        assert re.findall(r"^  (\w[\w-]*)  ", ending.out, re.MULTILINE) == LISTED
        assert re.findall(r"^(\w+):$", ending.out, re.MULTILINE) == ["Options", *SECTIONS]
        assert max(map(len, ending.out.splitlines())) <= 80


def test_a_group_lists_its_commands(motif):
    ending = motif("serve", "--help")
    assert re.findall(r"^  (\w[\w-]*)  ", ending.out, re.MULTILINE) == ["http", "gnubg", "ubgi"]
    assert (motif("serve").code, motif("serve", "gnubgg").code) == (2, 2)


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from motif.cli.main import main; main(['fit', '--help']);"
        "heavy = {'numpy', 'numba', 'scipy', 'pyarrow', 'joblib', 'rich', 'yaml', 'matplotlib'};"
        "sys.exit(' '.join(heavy & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ended.stderr == "\n"


def test_version(motif):
    assert re.fullmatch(r"motif \d+\.\d+\.\d+\n", motif("--version").out)


def test_people_see_a_board_and_no_colour_codes(motif):
    for words in (("evaluate", START), ("plays", START, 3, 1), ("hint", START, 3, 1, "--player", "pubeval")):
        ending = motif(*words)
        assert "+13-14-15-16-17-18------19-20-21-22-23-24-+" in ending.out
        assert "\x1b" not in ending.out
        assert max(map(len, ending.out.splitlines())) <= 80
    assert "8/5 6/5" in ending.out
    assert "16 legal plays of 31, ranked by pubeval" in ending.out


def test_people_get_a_sentence_from_a_match(motif):
    ending = motif("match", "random", "pubeval", "--games", 60, "--jobs", 1)
    assert re.search(r"pubeval beats random by \d\.\d+ ± \d\.\d+ points per game over 60 games", ending.out)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("rollout", START, "--player", "pubeval", "--trials", 4), "4 trials by pubeval, for money"),
        (
            ("rollout", START, "3", "1", "--compare", "--player", "pubeval", "--trials", 4),
            "4 trials per play by pubeval",
        ),
        (("evaluate", START, "--player", "pubeval"), "(contact position, by pubeval)"),
    ],
)
def test_people_get_a_last_line(motif, command, said):
    assert said in motif(*command).out.splitlines()[-1]


def test_the_script_runs_from_anywhere(tmp_path):
    code, out, err = finish(start("evaluate", START, "--player", "pubeval", "--json", cwd=tmp_path))
    assert (code, err) == (0, "")
    assert json.loads(out)["position"] == START


def test_the_script_fails_with_one_line(tmp_path):
    code, out, err = finish(start("plays", START, "7", "1", cwd=tmp_path))
    assert (code, out, err) == (2, "", "motif: error: invalid roll: each die must be 1 to 6, not 7\n")


def test_a_reader_who_leaves_is_no_error(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text(f"{START}\n" * 20000)
    process = start("evaluate", "--batch", str(path), "--player", "pubeval")
    with process.stdout, process.stderr:
        process.stdout.readline()
        process.stdout.close()
        assert _without_compiling(process.stderr.read()) == ""
    assert process.wait(SECONDS) == 1


@pytest.mark.skipif(not FULL.exists(), reason="needs a full device")
def test_a_full_disk_is_an_error():
    with FULL.open("w") as full:
        process = start("evaluate", START, "--player", "pubeval", stdout=full)
        said = _without_compiling(process.communicate(timeout=SECONDS)[1])
        assert said == "motif: error: No space left on device\n"
    assert process.returncode == 2


def test_a_folder_that_no_longer_exists_is_named(motif, tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    result = motif("fit", "samples", "--out", "weights.yaml")
    assert result.code == 2
    assert result.err == "motif: error: the current folder: No such file or directory\n"


def test_an_interrupt_elsewhere_is_one_line(motif, monkeypatch):
    def interrupt(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("motif.analysis.batch_files.read_positions", interrupt)
    assert motif("evaluate", "--batch", "x") == (130, "", "motif: interrupted\n")


def test_a_file_that_the_system_refuses_is_named(motif, monkeypatch):
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("motif.analysis.batch_files.read_positions", refuse)
    assert motif("evaluate", "--batch", "x") == (2, "", "motif: error: x: Permission denied\n")


def test_a_fault_of_the_program_shows_its_traceback_on_demand(motif, monkeypatch):
    def fail(path: str) -> None:
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr("motif.analysis.batch_files.read_positions", fail)
    ending = motif("evaluate", "--batch", "x")
    assert ending.code == 1
    assert ending.err.startswith("motif: internal error: ZeroDivisionError: two lines (set MOTIF_TRACEBACK=1")
    assert ending.err.count("\n") == 1
    monkeypatch.setenv(program.TRACEBACK_VARIABLE, "1")
    with pytest.raises(ZeroDivisionError):
        motif("evaluate", "--batch", "x")


@pytest.mark.parametrize("fault", [MemoryError(), RuntimeError("can't start new thread")])
@pytest.mark.parametrize("is_cause", [False, True])
def test_lack_of_memory_is_one_line(motif, monkeypatch, fault, is_cause):
    def fail(path: str) -> None:
        try:
            raise fault
        finally:
            if is_cause:
                raise ValueError("closed")

    monkeypatch.setattr("motif.analysis.batch_files.read_positions", fail)
    code, out, err = motif("evaluate", "--batch", "x")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("motif: error: not enough memory; ")


def test_with_json_only_the_object_is_on_stdout():
    code = f"""
import atexit, os, subprocess, sys
from motif.cli.main import main

def others():
    os.write(1, b"a library\\n")
    subprocess.run([sys.executable, "-c", "print('a worker')"])
atexit.register(others)
sys.argv = ["motif", "plays", "{START}", "3", "1", "--json"]
ended = main()
others()
sys.exit(ended)
"""
    ending = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert ending.returncode == 0
    assert ending.stdout.count("\n") == 1
    assert json.loads(ending.stdout)
    assert ending.stderr.replace(f"{ON_COMPILING}\n", "") == "a library\na worker\n" * 2


@pytest.mark.parametrize("begin", ["import cli", "from motif.__main__ import run; sys.exit(run())"])
def test_an_interrupt_while_modules_are_imported_is_one_line(begin):
    code = f"""
import sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == "motif.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
{begin}
"""
    ending = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS
    )
    assert (ending.returncode, ending.stdout, ending.stderr) == (130, "", "motif: interrupted\n")


def test_a_python_without_the_packages_names_the_place_where_they_are():
    command = [sys.executable, "-S", str(ROOT / "cli.py"), "hint"]  # -S: without installed packages
    ending = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert (ending.returncode, ending.stdout, ending.stderr.count("\n")) == (2, "", 1)
    assert ending.stderr.startswith("motif: error: typer is not installed: run `make demo` once")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((START,), "1 trial (no standard error) by pubeval"),
        ((START, "3", "1", "--compare"), "1 trial per play (no standard error) by pubeval"),
        ((START, "--cubeful"), "1 trial (no standard error) of each by pubeval"),
    ],
)
def test_a_single_trial_has_no_standard_error(motif, words, said):
    out = motif("rollout", *words, "--player", "pubeval", "--trials", 1, "--jobs", 1).out
    assert said in out
    assert "nan" not in out
    assert "±" not in out


@pytest.mark.parametrize("words", [(), ("--stratified",), ("--cubeful",)])
def test_trials_without_differences_say_what_their_error_leaves_out(motif, words):
    almost_won = Position.from_points({1: 2}, {6: 3, 12: 12}).gnubg_id
    rollout = ("rollout", "--player", "pubeval", "--trials", 36, "--jobs", 1, *words)
    note = "36 trials (a standard error of 0 leaves out results that did not occur)"
    assert note in motif(*rollout, almost_won).out
    assert "leaves out" not in motif(*rollout, START).out


def test_columns_of_a_hint_line_up_at_100_percent(motif):
    out = motif("hint", "nwEAAL82gwAQAA", 2, 1, "--player", "motif-v1").out
    rows = [line for line in out.splitlines() if re.match(r" \d+\. ", line)]
    assert " -  100 " in out
    assert len({line.index(" - ") for line in rows}) == 1
    assert max(map(len, rows)) <= 80


def test_probabilities_are_percentages_wherever_they_are_shown(motif, motif_json):
    rollout = ("rollout", START, "--player", "pubeval", "--trials", 36, "--jobs", 1)
    of = motif_json(*rollout)
    shown = f"{100 * of['mean']['win']:.2f} % ± {100 * of['se']['win']:.2f} "
    assert shown in motif(*rollout).out
    assert f"{of['mean']['equity']:+.4f} ± {of['se']['equity']:.4f} " in motif(*rollout).out
    assert re.search(r"player on roll +\d\d\.\d %", motif("evaluate", START, "--player", "pubeval").out)
