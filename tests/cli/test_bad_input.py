"""Bad input from a user: one line that explains it, exit code 2, nothing on stdout."""

import pytest

from motif.sampling.dataset_files import MANIFEST, write_manifest

START = "4HPwATDgc/ABMA"
SIXTEEN = "4OfgA2DAz8EHwA"
"""The start with a sixth checker on each 6 point."""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("evaluate", "4HPwATDgc"), "has 9 characters"),
        (("evaluate", SIXTEEN), "the player on roll has 16 checkers (maximum 15)"),
        (("evaluate", ""), "it is empty"),
        (("evaluate", "4HPwATDgc/ABM\n"), "has 13 characters"),
        (("plays", START, "7", "1"), "each die must be 1 to 6, not 7"),
        (("plays", START, "3", "x"), "each die must be 1 to 6, not 'x'"),
        (("plays", START, "3"), "a roll must be two dice"),
        (("plays", START), "missing argument: D1 D2"),
        (("plays", START, "-1", "3"), "option"),
        (("plays", START, "3", "1", "2"), "unexpected argument '2'"),
        (("explain", START, "3", "1", "8/5 6/5"), "unexpected argument '8/5 6/5': a play follows --versus"),
        (("explain", START, "31", "8/5 6/5"), "invalid roll: '31' has both dice, so '8/5 6/5' is too much"),
        (("plays",), "missing argument: ID D1 D2, or --batch FILE"),
        (("plays", START, "3", "1", "--batch", "x"), "ID D1 D2 and --batch cannot be combined"),
        (("hint", START, "3", "1", "--player", "random"), "'random' chooses plays but cannot evaluate"),
        (("hint", START, "3", "1", "--player", "nobody"), "no player is called 'nobody'"),
        (("hint", START, "3", "1", "--player", "pubeval@9"), "lookahead must be 1 to 3 plies"),
        (("evaluate", START, "--player", "none.yaml"), "none.yaml: no such weight file"),
        (("rollout", START, "--seed", "-1"), "--seed must be 0 to"),
        (("rollout", START, "--seed", "one"), "--seed"),
        (("rollout", START, "--seed"), "--seed"),
        (("evaluate", START, "--jobs", "0"), "--jobs must be at least 1"),
        (("evaluate", START, "--unknown"), "--unknown"),
        (("--unknown",), "--unknown"),
        (("frobnicate",), "frobnicate"),
        (("rollout",), "ID"),
        (("rollout", START, "--trials", "0"), "--trials must be at least 1, not 0"),
        (("rollout", START, "--cut", "-1"), "--cut must be at least 0, not -1"),
        (("rollout", START, "--se", "-1"), "--se must be at least 0 and finite, not -1.0"),
        (("rollout", START, "--scoring", "chess"), "--scoring must be money, dmp or no-gammons, not 'chess'"),
        (("rollout", START, "--luck-plies", "some"), "--luck-plies must be a number of plies or all"),
        (("rollout", START, "3", "1"), "D1 D2 requires --compare"),
        (("rollout", START, "--play", "8/5"), "--play requires --compare"),
        (("rollout", START, "--eliminate"), "--eliminate requires --compare"),
        (("rollout", START, "3", "1", "--compare", "--significance", "1"), "--significance must be above 0"),
        (("rollout", START, "--significance", "0.3"), "--significance: has no effect without --eliminate"),
        (
            ("rollout", START, "--cubeful", "--raccoons"),
            "--raccoons: has no effect in cubeful rollouts, which are played without beavers",
        ),
        (
            ("rollout", START, "3", "1", "--compare", "--raccoons"),
            "--raccoons: has no effect in cubeful rollouts, which are played without beavers",
        ),
        (("rollout", START, "--cubeful", "--scoring", "dmp"), "determines the scoring, not --scoring=dmp"),
        (("rollout", START, "--static-cube"), "--static-cube: has no effect without a cube"),
        (("rollout", START, "3", "1", "--compare", "--static-cube"), "--static-cube: has no effect without"),
        (
            ("cube", START, "--cube", "1", "--owner", "me"),
            "--cube: nobody owns a cube at 1: give another --cube or no --owner",
        ),
        # Arabic-Indic digits, which int() accepts.
        (
            ("cube", START, "--length", "7", "--score", "\u0663-5"),
            "invalid score '\u0663-5': it must be two whole numbers",
        ),
        (
            ("evaluate", START, "--player", "rollout:pubeval,eliminate,significance=0.\u0661"),
            "the value must be a number",
        ),
        (("rollout", START, "--trials", "1\udcff"), "--trials must be a whole number, not '1\\udcff'"),
        (("rollout", START, "--se", "1\udcff"), "--se must be a number, not '1\\udcff'"),
        (
            ("rollout", START, "--trials", "9" * 5000),
            "--trials must be a whole number of at most 4300 digits, not",
        ),
        (("hint", START, "3", "1", "--trials", "36"), "--trials requires --rollout"),
        (("hint", START, "3", "1", "--rollout", "--candidates", "0"), "--candidates must be at least 1"),
        (("hint", "--batch", "-", "--rollout"), "--rollout and --batch cannot be combined"),
        (("hint", START, "3", "1", "--rollout", "--player", "random"), "cannot evaluate"),
        (("rollout", START, "--compare"), "missing argument: D1 D2"),
        (("rollout", START, "3", "7", "--compare"), "each die must be 1 to 6, not 7"),
        (("rollout", START, "3", "1", "--compare", "--play", "8/1"), "'8/1' is not a legal play"),
        (("rollout", START, "3", "1", "--compare", "--candidates", "0"), "--candidates must be at least 1"),
        (("evaluate", START, "--player", "rollout:pubeval,fast"), "invalid option 'fast'"),
        (("match", "pubeval"), "B"),
        (("match", "pubeval", "nobody"), "no player is called 'nobody'"),
        (("match", "pubeval", "random", "--games", "0"), "--games must be at least 2, not 0"),
        (("benchmark",), "FILE"),
        (("benchmark", "none.bm"), "none.bm: no such benchmark file"),
        (("sample", "--games", "1", "--trials", "1"), "--out"),
        (("sample", "--out", "x", "--games", "1", "--trials", "0"), "--trials must be at least 1, not 0"),
        (("sample", "--out", "x", "--games", "0", "--trials", "1"), "--games must be at least 1, not 0"),
        (("sample", "--out", "x", "--games", "1", "--trials", "1", "--rate", "0"), "--rate must be above 0"),
        (("sample", "--out", "x", "--games", "1", "--trials", "1", "--decide", "dice"), "--decide"),
        (("sample", "--out", "x", "--games", "1", "--trials", "1", "--player", "random"), "cannot evaluate"),
        (("fit", "--out", "x.yaml"), "DIR"),
        (("fit", "none", "--out", "x.yaml"), "none: not a dataset"),
        (("fit", "none", "--out", "."), "is a folder"),
        (("fit", "none", "--out", "x.yaml", "--method", "guess"), "--method"),
        (("fit", "none", "--out", "x.yaml", "--parameters", "none"), "unknown parameter set 'none'"),
        (("fit", "none", "--out", "x.yaml", "--validation", "1"), "--validation must be"),
        (("fit", "none", "--out", "x.yaml", "--passes", "0"), "--passes must be at least 1, not 0"),
        (("fit", "none", "--out", "x.yaml", "--ridge", "nan"), "--ridge must be finite"),
        (("fit", "none", "--out", "x.yaml", "--hidden", "513"), "--hidden must be 0 to 512 units, not 513"),
        (
            ("fit", "none", "--out", "x.yaml", "--hidden", "4", "--heads", "win"),
            "--hidden: hidden units need heads all",
        ),
        (("sample", "--out", "x", "--games", "1", "--trials", "35", "--stratified"), "--stratified: "),
        (("bootstrap", "--out", "x", "--preset", "none"), "no preset is called 'none'"),
        (
            ("bootstrap", "--out", "x", "--preset", "demo", "--config", "x.yaml"),
            "--preset: has no effect with a file of settings",
        ),
        (("explain", START, "3", "1", "--html", "x.txt"), "x.txt: the name must end in .html or .htm"),
        (("analyse", "x.mat", "--html", "x.txt"), "x.txt: the name must end in .html or .htm"),
        (("terms", "motif-v1", "--html", "x.txt"), "x.txt: the name must end in .html or .htm"),
        (("benchmark", "x.bm", "--html", "x.txt"), "x.txt: the name must end in .html or .htm"),
        (("export", "motif-v1", "--onnx", "x.txt"), "x.txt: the name must end in .onnx"),
        (("play", "--save", "x.xyz"), "x.xyz: the suffix of a match file must be .mat or .sgf"),
        (("web", "--port", "abc"), "--port must be a whole number, not 'abc'"),
        (("hint", START, "3", "1", "--plays", "0"), "--plays must be at least 1, not 0"),
        (("cube", START, "--efficiency", "x"), "--efficiency must be a number, not 'x'"),
        (("fit", "none", "--out", "x.yaml", "--heads", "foo"), "--heads must be all or win, not 'foo'"),
    ],
)
def test_a_bad_word_is_named(fault, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    assert said in fault(*words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("page.html", ("analyse", "page.html", "--html", "page.html")),
        ("page.html", ("benchmark", "page.html", "--html", "page.html")),
        ("page.html", ("report", ".", "--benchmark", "page.html", "--html", "page.html")),
        ("page.html", ("terms", "bras", "--positions", "page.html", "--html", "page.html")),
        ("own.bm", ("benchmark make", "own.bm", "--from", "own.bm")),
        ("own.yaml", ("fit", "data", "--config", "own.yaml", "--out", "own.yaml")),
        ("own.yaml", ("fit", "data", "--start", "own.yaml", "--out", "own.yaml")),
        ("own.yaml", ("calibrate", "scores.csv", "--player", "own.yaml", "--out", "own.yaml")),
    ],
)
def test_a_file_that_is_read_is_not_overwritten(fault, tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("")
    assert fault(*words) == f"{name}: is also read; name another file"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda text: text.replace("bias: 0.125", "bias: .nan", 1),
            "contact.win.bias: must be a finite number",
        ),
        (
            lambda text: text.replace("linear:\n", "linear:\n        luck: 1.0\n", 1),
            "luck: no such parameter",
        ),
        (lambda text: text.replace("sha256:", "sha256:0", 1), "parameters.fingerprint"),
        (lambda text: text[: len(text) // 2], ""),
        (lambda text: text[: text.index("race:") + 9], "classes.race"),
        (lambda text: "", "document"),
        (lambda text: "\0" + text, ""),
        (lambda text: text.replace("motif-weights/1", "motif-weights/9"), "format"),
    ],
)
@pytest.mark.parametrize("command", [("evaluate", START), ("rollout", START, "--trials", "1")])
def test_a_bad_weight_file_is_named(fault, weight_file, tmp_path, change, said, command):
    path = tmp_path / "bad.yaml"
    path.write_text(change(weight_file.read_text()))
    line = fault(*command, "--player", path)
    assert line.startswith(f"{path}: ")
    assert said in line


def test_an_empty_dataset_is_named(fault, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    said = f"{folder}: not a dataset (there is no {MANIFEST})"
    assert fault("fit", folder, "--out", tmp_path / "x.yaml") == said
    write_manifest(folder, {}, [], complete=True)
    assert fault("fit", folder, "--out", tmp_path / "x.yaml") == f"{folder}: the dataset is empty"


def test_a_dataset_is_not_overwritten(fault, dataset):
    words = ("sample", "--out", dataset, "--player", "pubeval", "--games", 30, "--trials")
    assert "--resume continues it" in fault(*words, 2)
    assert "cannot be resumed" in fault(*words, 3, "--resume")


def test_a_dataset_cannot_be_made_of_a_file(fault, weight_file):
    line = fault("sample", "--out", weight_file, "--player", "pubeval", "--games", 1, "--trials", 1)
    assert str(weight_file) in line


def test_a_weight_file_cannot_be_written_into_a_file(fault, weight_file, dataset):
    assert "cannot be written" in fault("fit", dataset, "--out", weight_file / "x.yaml")


@pytest.mark.parametrize(
    ("command", "content", "said"),
    [
        ("evaluate", f"{START}\n\n# {START} 1 2\n{START[:9]}\n", "line 4: invalid position"),
        ("evaluate", f"{START}\n{SIXTEEN}\n{START[:9]}\n", "line 2: invalid position"),
        ("evaluate", f"{START}\n{START} 3 1\n", "line 2: expected one position, got 3 words"),
        ("plays", f"{START} 3 1\n{START} 7 1\n", "line 2: invalid roll: each die must be 1 to 6, not 7"),
        ("plays", f"{START} 3 1\n{START}\n", "line 2: expected a position and two dice, got 1 word"),
        ("hint", f"{START} 3 1\n{START} 3 1 1\n", "line 2: expected a position and two dice, got 4 words"),
        ("hint", f"XGID=-b----E-C 3 1\n{START} 3 9\n", "line 1: invalid position"),
        ("hint", f"{START} 3 1\n\xff\xfe 3 1\n", "line 2: invalid position"),
    ],
)
def test_a_bad_line_is_numbered_and_nothing_is_printed(fault, tmp_path, command, content, said):
    path = tmp_path / "lines.txt"
    path.write_bytes(content.encode("latin-1"))
    assert fault(command, "--batch", path, "--json").startswith(f"{path}: {said}")


def test_a_missing_batch_file_is_named(fault, tmp_path):
    assert fault("evaluate", "--batch", tmp_path / "none") == (
        f"{tmp_path / 'none'}: cannot be read: No such file or directory"
    )
    assert fault("evaluate", "--batch", tmp_path) == f"{tmp_path}: cannot be read: Is a directory"


def test_where_nothing_can_be_kept_nothing_is_compiled_ahead(fault, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert fault("warm") == f"{tmp_path / 'file'} is not a folder"


@pytest.mark.parametrize("threads", ["0", "-1", "many", ""])
def test_threads_with_which_numba_cannot_be_imported_are_named(fault, monkeypatch, threads):
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    said = f"NUMBA_NUM_THREADS must be a whole number from 1, not {threads!r}"
    assert fault("plays", START, "3", "1") == said


@pytest.mark.parametrize("switch", ["1", "2", "yes"])
def test_motif_needs_the_compiler(fault, monkeypatch, switch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", switch)
    said = f"NUMBA_DISABLE_JIT must be 0 or unset, not {switch!r}: motif needs numba's compiler"
    assert fault("plays", START, "3", "1") == said


@pytest.mark.parametrize("switch", ["0", "", " 0"])
def test_the_compiler_may_be_switched_on(motif, monkeypatch, switch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", switch)
    assert motif("plays", START, "3", "1").code == 0


@pytest.mark.parametrize("name", ["ranking", "ridge", "equity-ridge", "prune-z", "tolerance"])
def test_settings_with_which_a_fit_would_overflow(fault, name):
    said = fault("fit", "none", "--out", "own.yaml", f"--{name}", "1e308")
    assert said == f"--{name} must be at most 1,000,000, not 1e+308"


OVER = "cAAAAAAAAAAAAA"
ENDED = f"{OVER}: the game is over (one player has borne off all checkers)"


@pytest.mark.parametrize(
    "words",
    [
        ("plays", OVER, "3", "1"),
        ("hint", OVER, "3", "1", "--fast"),
        ("cube", OVER, "--fast"),
        ("explain", OVER, "3", "1", "--fast"),
        ("rollout", OVER, "--trials", "36"),
        ("rollout", OVER, "--trials", "36", "--cubeful"),
        ("rollout", OVER, "3", "1", "--compare", "--trials", "36"),
    ],
)
def test_of_a_game_that_is_over_nothing_is_decided(fault, words):
    assert fault(*words) == ENDED


@pytest.mark.parametrize("command", ["plays", "hint"])
def test_a_batch_says_in_which_line_a_game_is_over(fault, command, tmp_path):
    path = tmp_path / "decisions.txt"
    path.write_text(f"4HPwATDgc/ABMA 3 1\n{OVER} 3 1\n", "utf-8")
    assert fault(command, "--batch", path).endswith(f"line 2: {ENDED}")
