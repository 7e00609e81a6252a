"""Your own parameters: measured as in Python, found by weight files, and refused if they are invalid."""

import hashlib
import importlib.util
import pickle
import py_compile
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest
from numba.core import errors as numba_errors

import motif
from motif.board.position import Position
from motif.evaluators import load_static
from motif.evaluators.model import own_set_of
from motif.evaluators.static import model_fingerprint, weights_model
from motif.evaluators.weight_file import WeightFile, linear_head
from motif.learning.bootstrap_config import load_preset
from motif.learning.bootstrap_run import run_bootstrap
from motif.parameters import named_sets, parameter_set
from motif.parameters.named_sets import check_found, features
from motif.parameters.registry import GROUPS
from motif.parameters.sets import PARAMETER_SETS
from motif.runtime.errors import ParameterError, WeightFileError
from tests.evaluators.written_out import row_sum
from tests.faults.made_runs import TINY
from tests.fitting.fitting_samples import random_boards

FILE = "tall_towers.py"
TEXT = """
from motif.parameters import extend

mine = extend("{base}")

@mine.side(
    "checkers of {{side}} above the second on {{other}}'s bar point", unit="checkers", full=5, group="timing"
)
def tower(board):
    return max(board[18] - 2, 0)

@mine.difference(
    "half the checkers on the bar that the player on roll has more", unit="checkers", full=1, group="attack"
)
def on_the_bar(board):
    return board[25] / 2

@mine.shared("pips between the rearmost checkers", unit="pips", full=24, group="race")
def apart(board):
    own, other = 0, 25
    for place in range(26):
        if board[place] > 0:
            own = place
        if board[25 - place] < 0:
            other = 25 - place
    return own - other
"""


@pytest.fixture(autouse=True)
def kept_elsewhere(tmp_path_factory, monkeypatch):
    """Keep these tests' files out of the permanent cache folder; motif's own kernels stay there."""
    monkeypatch.setattr("motif.parameters.named_sets.cache_folder", tmp_path_factory.mktemp)


def written(folder, text=None, base="keith", name=FILE):
    path = folder / name
    path.write_text(TEXT.format(base=base) if text is None else text)
    return path


def own_values(board: np.ndarray) -> list[float]:
    """The results of the functions of `TEXT`, for the player on roll and the opponent."""
    turned = -board[::-1]
    rear = max(place for place in range(26) if board[place] > 0) if (board > 0).any() else 0
    other_rear = min(place for place in range(26) if board[place] < 0) if (board < 0).any() else 25
    return [
        max(int(board[18]) - 2, 0),
        max(int(turned[18]) - 2, 0),
        (int(board[25]) + int(board[0])) / 2,
        rear - other_rear,
    ]


@pytest.mark.parametrize("base", ["motif", "keith", "bras", "phase"])
def test_a_set_measures_its_base_and_what_is_added(tmp_path, base):
    boards = random_boards(300, seed=3)
    boards[1:5] = Position.start().board
    chosen, known = parameter_set(str(written(tmp_path, base=base))), parameter_set(base)
    values = features(chosen, boards)
    places = {name: k for k, name in enumerate(chosen.names)}
    assert np.array_equal(values[:, [places[name] for name in known.names]], features(known, boards))
    mine = values[:, [places[name] for name in ("tower", "tower_opponent", "on_the_bar", "apart")]]
    expected = np.array([own_values(board) for board in boards], np.float32)
    assert np.array_equal(mine, expected * np.array([0.2, 0.2, 1, 1 / 24], np.float32))


def test_declarations_follow_those_of_the_base(tmp_path):
    chosen, keith = parameter_set(str(written(tmp_path))), parameter_set("keith")
    n = keith.side_count
    assert chosen.names[: n + 1] == (*keith.names[:n], "tower")
    assert chosen.names[-3:] == ("pip_lead", "on_the_bar", "apart")
    sides = [chosen.parameters[chosen.names.index(name)] for name in ("tower", "tower_opponent")]
    assert sides[0].sentence == "checkers of the player on roll above the second on the opponent's bar point"
    assert sides[1].sentence == "checkers of the opponent above the second on the player on roll's bar point"
    assert [parameter.side for parameter in chosen.parameters[-2:]] == ["difference", "both"]


def test_a_set_may_have_no_base(tmp_path):
    text = TEXT.replace('"{base}"', "").format()
    chosen = parameter_set(str(written(tmp_path, text)))
    assert chosen.names == ("tower", "tower_opponent", "on_the_bar", "apart")
    board = random_boards(1, seed=5)
    assert features(chosen, board)[0] / chosen.scales == pytest.approx(own_values(board[0]))


def test_the_file_may_use_what_numpy_and_python_offer(tmp_path):
    text = (
        "import numpy as np\nfrom motif.parameters import extend\n"
        "from motif.compiler.jit import inline_kernel\n"
        "mine = extend('bras')\n@inline_kernel\ndef twice(n):\n    return 2 * n\n"
        "@mine.side('x', unit='x', full=1, group='race')\ndef doubled(board):\n"
        "    return twice(np.maximum(board[1:7], 0).sum())\n"
    )
    chosen = parameter_set(str(written(tmp_path, text)))
    assert features(chosen, Position.start().board[None])[0, chosen.names.index("doubled")] == 10


def test_the_example_of_the_docstring_works(tmp_path):
    example = named_sets.__doc__.partition("\n\n")[2].partition("\n\nA function")[0]
    chosen = parameter_set(str(written(tmp_path, textwrap.dedent(example))))
    board = np.zeros((1, 26), np.int8)
    board[0, [19, 20, 24, 18, 1, 2]] = 1, 2, 1, 1, -1, -2
    values = features(chosen, board, scaled=False)[0]
    assert values[chosen.names.index("blots_back")] == 2
    assert values[chosen.names.index("blots_back_opponent")] == 1


@pytest.mark.parametrize(
    ("result", "value"),
    [
        ("(board[1:7] == 2).sum()", 0),
        ("np.sum(board[19:25] == 2)", 1),
        ("board[1:7].max()", 5),
        ("board[1:7].mean()", 0.5),
        ("np.maximum(board, 0).sum()", 15),
        ("sum([board[point] == 5 for point in range(1, 25)])", 2),
        ("(board > 0).any()", 1),
    ],
)
def test_reductions_of_the_board_are_numbers(tmp_path, result, value):
    head = "import numpy as np\nfrom motif.parameters import extend\nmine = extend()\n"
    declared = "@mine.shared('x', unit='x', full=1, group='race')\ndef own(board):\n    return "
    chosen = parameter_set(str(written(tmp_path, head + declared + result)))
    assert features(chosen, Position.start().board[None])[0, 0] == value
    with pytest.raises(ParameterError, match=r"own: board\[26\] is out of range"):
        parameter_set(str(written(tmp_path, head + declared + result + " + board[26]")))


@pytest.mark.parametrize("change", ["board[6] -= 1", "board[1:7] = 0", "clear(board)"])
def test_a_function_must_not_change_the_board(tmp_path, change):
    text = (
        "from motif.parameters import extend\nfrom motif.compiler.jit import inline_kernel\n"
        "@inline_kernel\ndef clear(board):\n    board[24] = 0\n"
        "mine = extend()\n@mine.side('x', unit='x', full=1, group='race')\ndef one(board):\n"
        f"    {{}}\n    {change}\n    return max(board[6], 0)\n"
    )
    with pytest.raises(ParameterError, match=r"one: must not change the board; change a copy, board\.copy"):
        parameter_set(str(written(tmp_path, text.format("pass"))))
    chosen = parameter_set(str(written(tmp_path, text.format("board = board.copy()"))))
    assert features(chosen, Position.start().board[None]).shape == (1, 2)


def weights_of(chosen, seed=0) -> WeightFile:
    rng = np.random.default_rng(seed)
    heads = {"win": linear_head(0.1, rng.normal(scale=0.2, size=len(chosen)))}
    return WeightFile("small", 0, None, chosen, {"contact": heads, "race": heads})


@pytest.mark.parametrize("base", ["motif", "keith"])
def test_play_reads_what_a_fit_has_measured(tmp_path, base):
    chosen = parameter_set(str(written(tmp_path, base=base)))
    weights_of(chosen).save(tmp_path / "small.yaml")
    evaluator = load_static(str(tmp_path / "small.yaml"))
    assert evaluator.weights.parameters == chosen
    boards = random_boards(200, seed=8)
    head = evaluator.weights.classes["contact"]["win"]
    raw = [row_sum(head, row) for row in features(chosen, boards)]
    # Another evaluator uses the same memory between two calls.
    load_static("motif-v1").evaluate_many(boards)
    unfinished = (boards > 0).any(axis=1) & (boards < 0).any(axis=1)
    found = evaluator.evaluate_many(boards)[unfinished, 0]
    assert found == pytest.approx((np.tanh(raw)[unfinished] + 1) / 2, abs=2e-6)


def test_memory_is_valid_for_the_next_evaluator(tmp_path):
    boards, other = random_boards(50, seed=9), load_static("motif-v1")
    expected = other.evaluate_many(boards)
    chosen = parameter_set(str(written(tmp_path, base="motif")))
    weights_of(chosen).save(tmp_path / "small.yaml")
    mine = load_static(str(tmp_path / "small.yaml"))
    for row in range(len(boards)):
        mine.evaluate_many(boards[row : row + 1])
        assert np.array_equal(other.evaluate_many(boards[row : row + 1]), expected[row : row + 1])


def test_sets_and_models_can_be_pickled(tmp_path):
    chosen = parameter_set(str(written(tmp_path)))
    model = weights_model(weights_of(chosen))
    boards = random_boards(20, seed=2)
    written_to = tmp_path / "pickled"
    written_to.write_bytes(pickle.dumps((chosen, model, boards)))
    (tmp_path / FILE).unlink()
    code = (
        "import pickle, sys; from motif.evaluators.static import StaticEvaluator, model_fingerprint;"
        "chosen, model, boards = pickle.load(open(sys.argv[1], 'rb'));"
        "rows = StaticEvaluator('x', model).evaluate_many(boards);"
        "print(chosen.fingerprint, model_fingerprint(model), rows.tobytes().hex())"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(written_to)], capture_output=True, text=True)
    evaluated = load_evaluated(model, boards)
    assert ended.stdout.split() == [chosen.fingerprint, model_fingerprint(model), evaluated.tobytes().hex()]


def load_evaluated(model, boards):
    from motif.evaluators.static import StaticEvaluator

    return StaticEvaluator("x", model).evaluate_many(boards)


def test_a_models_fingerprint_depends_on_its_play(tmp_path):
    chosen = parameter_set(str(written(tmp_path)))
    (tmp_path / "other").mkdir()
    changed = parameter_set(
        str(written(tmp_path / "other", TEXT.format(base="keith").replace("[18]", "[17]")))
    )
    assert chosen.names == changed.names
    assert chosen.fingerprint != changed.fingerprint
    prints = [model_fingerprint(weights_model(weights_of(found))) for found in (chosen, chosen, changed)]
    assert prints[0] == prints[1] != prints[2]
    plain = weights_model(weights_of(parameter_set("keith")))
    assert own_set_of(plain) is None


def test_weights_find_their_file_in_all_folders(tmp_path, monkeypatch):
    away = tmp_path / "away"
    away.mkdir()
    monkeypatch.chdir(away)
    path = written(tmp_path)
    weights = weights_of(parameter_set(str(path)))
    for place in ("runs/mine/v0/weights.yaml", "weights.yaml"):
        weights.save(tmp_path / place)
        assert load_static(str(tmp_path / place)).weights.parameters.name == FILE
    assert f'{{set: {FILE}, fingerprint: "sha256:' in (tmp_path / "weights.yaml").read_text()
    path.rename(away / FILE)
    assert load_static(str(tmp_path / "weights.yaml")).weights.parameters.name == FILE
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (away / FILE).rename(elsewhere / FILE)
    with pytest.raises(WeightFileError, match=r"weights\.yaml: parameters\.set: no tall_towers\.py in "):
        load_static(str(tmp_path / "weights.yaml"))
    monkeypatch.setenv("MOTIF_PARAMETERS", f"{tmp_path / 'none'}:{elsewhere}")
    assert load_static(str(tmp_path / "weights.yaml")).weights.parameters.name == FILE


def test_a_file_that_weights_would_not_find_is_named_before_the_fit(tmp_path, monkeypatch):
    for name in ("away", "own", "runs"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "away")
    path = written(tmp_path / "own")
    runs = tmp_path / "runs"
    said = f"parameters: weights in {runs} would not find them: no {FILE} in .*; copy the file there"
    with pytest.raises(ParameterError, match=said) as refused:
        motif.fit("no dataset", parameters=path, out=tmp_path / "runs" / "x.yaml")
    assert refused.value.fields == ("parameters",)
    config = load_preset("demo")
    with pytest.raises(ParameterError, match=said.replace("runs", "runs/v0")):
        run_bootstrap(tmp_path / "runs", replace(config, fit={**config.fit, "parameters": str(path)}), jobs=1)
    assert not list((tmp_path / "runs").iterdir())
    check_found(path, tmp_path / "own" / "runs")
    check_found("keith", tmp_path / "runs")
    monkeypatch.setenv("MOTIF_PARAMETERS", str(tmp_path / "own"))
    check_found(path, tmp_path / "runs")


def test_a_run_can_be_reported_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "own").mkdir()
    written(tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    config = replace(TINY, fit={**TINY.fit, "parameters": FILE}, versions=TINY.versions[:1])
    run_bootstrap("run", config, jobs=1)
    monkeypatch.chdir(tmp_path)
    page = motif.report("own/run", jobs=1).page.read_text("utf-8")
    assert f"--parameters ../{FILE}" in page
    report = motif.terms("own/run/v0/weights.yaml", data="own/run/v0/samples", jobs=1)
    assert report.note == ""
    assert all(term.se > 0 for term in report.terms)
    with pytest.raises(ParameterError, match=f"{FILE}: no such parameter file"):
        run_bootstrap("another", config, jobs=1)


def test_weights_run_only_the_file_they_were_fitted_to(tmp_path):
    path = written(tmp_path)
    weights_of(parameter_set(str(path))).save(tmp_path / "runs" / "weights.yaml")
    written(tmp_path / "runs", TEXT.format(base="keith") + "\nraise SystemExit('was run')\n")
    assert load_static(str(tmp_path / "runs" / "weights.yaml")).weights.parameters.name == FILE
    path.unlink()
    with pytest.raises(WeightFileError, match=r"set: fitted to another tall_towers\.py than .*runs"):
        load_static(str(tmp_path / "runs" / "weights.yaml"))


def kept_file(cache, path):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return cache / "parameters" / digest / path.name


def test_the_file_is_run_and_not_its_copy(tmp_path, monkeypatch):
    monkeypatch.setattr("motif.parameters.named_sets.cache_folder", lambda name: tmp_path / "cache" / name)
    path, mark = written(tmp_path, TEXT.format(base="keith") + "\n# kept but not run\n"), tmp_path / "ran"
    kept = kept_file(tmp_path / "cache", path)
    kept.parent.mkdir(parents=True)
    kept.write_text(f"open({str(mark)!r}, 'w')")
    (kept.parent / "__pycache__").mkdir()
    py_compile.compile(str(kept), cfile=importlib.util.cache_from_source(str(kept)))
    assert len(parameter_set(str(path))) > len(PARAMETER_SETS["keith"])
    assert not mark.exists()


def test_a_file_runs_without_a_cache_folder(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr("motif.parameters.named_sets.cache_folder", lambda name: tmp_path / "file" / name)
    path = written(tmp_path, TEXT.format(base="keith") + "\n# not kept\n")
    assert len(parameter_set(str(path))) > len(PARAMETER_SETS["keith"])
    path = written(tmp_path, TEXT.format(base="keith") + "\n\n1 / 0\n")
    line = path.read_text().count("\n")
    with pytest.raises(ParameterError, match=rf"{FILE}:{line}: ZeroDivisionError: division by zero$"):
        parameter_set(str(path))


def test_an_edited_file_is_another_set(tmp_path):
    path = written(tmp_path)
    first = parameter_set(str(path))
    weights_of(first).save(tmp_path / "weights.yaml")
    path.write_text(path.read_text().replace("full=5", "full=4"))
    second = parameter_set(str(path))
    assert (first.scales[9], second.scales[9]) == pytest.approx((0.2, 0.25))
    with pytest.raises(WeightFileError, match=f"its fingerprint is {second.fingerprint}, not 'sha256:"):
        load_static(str(tmp_path / "weights.yaml"))


HEAD = "from motif.parameters import extend\nmine = extend('keith')\n"
DECLARED = "@mine.side('x', unit='x', full=1, group='race')\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"must call extend once, not 0 times"),
        ("a = (", r"tall_towers\.py:1: '\(' was never closed"),
        (HEAD, r"declares no parameters"),
        ("from motif.parameters import extend\nextend('keith')", r"must be assigned to one name"),
        (
            "from motif.parameters import extend\nmine = extend('tesauro')",
            r"unknown parameter set 'tesauro': it must be one of motif",
        ),
        (
            "from motif.parameters import extend\nx = 'keith'\nmine = extend(x)",
            r"\.py:3: write the name of the set",
        ),
        (HEAD + "\n1 / 0", r"tall_towers\.py:4: ZeroDivisionError: division by zero"),
        (HEAD + DECLARED + "def blots(board):\n    return 1", r"blots: the set already has a parameter"),
        (
            HEAD + DECLARED + "def Own(board):\n    return 1",
            r"Own: a parameter name must be lowercase letters",
        ),
        (
            HEAD + DECLARED.replace("'x', ", "'{me}', ", 1) + "def own(board):\n    return 1",
            r"own: only {side}",
        ),
        (HEAD + DECLARED.replace("full=1", "full=0") + "def own(board):\n    return 1", r"own: full must be"),
        (
            HEAD + DECLARED.replace("unit='x'", "unit=''") + "def own(board):\n    return 1",
            r"own: unit must be",
        ),
        (
            HEAD + DECLARED.replace("'race'", "'saftey'") + "def own(board):\n    return 1",
            r"own: group must be one of race, safety, blocking, .*back game, not 'saftey'",
        ),
        (HEAD + DECLARED + "def own(board):\n    return board[26]", r"own: board\[26\] is out of range"),
        (HEAD + DECLARED + "def own(board):\n    return board[-1]", r"own: board\[-1\] is out of range"),
        (
            HEAD + DECLARED + "def own(board):\n    return 'many'",
            r"own: must return a finite number, not 'many'",
        ),
        (
            HEAD + DECLARED + "def own(board):\n    return board[1:4]",
            r"own: must return a finite number, not array\(\[-2, +0, +0\]\), for \[0, -2,",
        ),
        (
            HEAD + DECLARED + "def own(board):\n    return sum(board[point] for point in range(26))",
            r"own: generator expressions are not supported; write a list, as in sum\(\[\.\.\.\]\), or a loop",
        ),
        (HEAD + DECLARED + "def own(board):\n    return 1 / board[25]", r"own: .*, on the board \["),
        (HEAD + DECLARED + "def own(board):\n    return {}['x']", r"own: .+"),
        (HEAD + DECLARED + "def own(board):\n    return board.points", r"own: .*points"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(tmp_path, text, message):
    with pytest.raises(ParameterError, match=message) as raised:
        parameter_set(str(written(tmp_path, text)))
    assert FILE in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_coloured_message_is_understood(tmp_path, monkeypatch):
    """Numba colours its messages if colorama is installed."""
    for part in ("errmsg", "filename", "highlight", "code", "indicate"):
        monkeypatch.setattr(numba_errors.termcolor(), part, lambda text: f"\x1b[1m\x1b[33m{text}\x1b[0m")
    text = HEAD + DECLARED + "def own(board):\n    return board.points"
    with pytest.raises(ParameterError, match=r"own: Unknown attribute 'points' of type array[^\x1b]*$"):
        parameter_set(str(written(tmp_path, text)))


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.py", r"none\.py: no such parameter file"), ("two words.py", r"must be NAME\.py")],
)
def test_a_file_that_is_not_there_is_refused(tmp_path, name, message):
    with pytest.raises(ParameterError, match=message):
        parameter_set(str(tmp_path / name))


def test_a_large_file_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"towers\.py: the file holds more than 1 MB, the limit"):
        parameter_set(str(written(tmp_path, "#" * (1 << 21))))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path, mark):
    text = HEAD + DECLARED + "def own(board):\n    return 1.0\n"
    fingerprint = parameter_set(str(written(tmp_path, text))).fingerprint
    (tmp_path / FILE).write_bytes(mark + text.replace("\n", "\r\n").encode())
    assert parameter_set(str(tmp_path / FILE)).fingerprint == fingerprint


def test_a_non_finite_value_is_reported_by_a_fit_and_is_zero_in_play(tmp_path):
    # No trial board has five checkers on the bar.
    text = HEAD + DECLARED + "def own(board):\n    return 1e300 * 1e300 if board[25] == 9 else 1.0"
    chosen = parameter_set(str(written(tmp_path, text)))
    board = np.zeros((1, 26), np.int8)
    board[0, [25, 3, 1]] = 9, 1, -2
    with pytest.raises(ParameterError, match=r"tall_towers\.py: the values of some positions are not finite"):
        features(chosen, board)
    weights_of(chosen).save(tmp_path / "weights.yaml")
    assert np.isfinite(load_static(str(tmp_path / "weights.yaml")).evaluate_many(board)).all()


@pytest.mark.parametrize("parameters", PARAMETER_SETS.values(), ids=lambda parameters: parameters.name)
def test_built_in_sets_use_the_allowed_groups(parameters):
    assert {parameter.group for parameter in parameters.parameters} <= set(GROUPS)
