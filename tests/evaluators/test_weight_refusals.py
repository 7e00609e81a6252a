"""Bad weight files, and the names of their faults."""

import re

import pytest

from motif.evaluators import load_static, read_weight_file
from motif.runtime.errors import WeightFileError
from tests.evaluators.made_weights import made_weights
from tests.evaluators.test_weight_file import same_content

WEIGHTS = made_weights(pairs=3, kept=4, hidden={"contact": 2}, bearoff=True, seed=1)
SMALL = made_weights(classes={"contact": ["win"], "race": ["win"]}, pairs=3, kept=4, hidden={"race": 1})
OF_UNIT = "classes.contact.hidden.p1"


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("whole") / "weights.yaml"
    WEIGHTS.save(path)
    return path.read_text()


def complaint(text: str | bytes, folder) -> str:
    """The one-line message, without the file's name."""
    path = folder / "bad.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(WeightFileError) as caught:
        read_weight_file(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


UNKNOWN: list[tuple[str, str, str]] = [
    ("name: made-up", "name: made-up\nauthor: me", "author"),
    ("{set: keith", "{date: 1, set: keith", "parameters.date"),
    ("  crashed:", "  smashed:", "classes.smashed"),
    ("classes:", "words: {smashed: [Blots cost.]}\nclasses:", "words.smashed"),
    ("    win:", "    draw: 1\n    win:", "classes.contact.draw"),
    ("      bias:", "      offset: 1\n      bias:", "classes.contact.win.offset"),
    ("  kept: 4", "  kept: 4\n  blots: 1", "filter.blots"),
    ("\n    own:", "\n    mine: 1\n    own:", "filter.contact.mine"),
    ("\n      25: [", "\n      26: [1, 1, 1, 1]\n      25: [", "filter.contact.own.26"),
    ("        own:", "        mine: 1\n        own:", f"{OF_UNIT}.mine"),
]


@pytest.mark.parametrize(("old", "new", "key"), UNKNOWN, ids=[row[2] for row in UNKNOWN])
def test_unknown_keys_at_every_level(text, tmp_path, old, new, key):
    assert old in text
    assert complaint(text.replace(old, new, 1), tmp_path).startswith(f"{key}: unknown key; known keys: ")


WRONG: list[tuple[str, str, str]] = [
    (r"format: .*", "format: motif-weights/2", "format: must be 'motif-weights/1', not 'motif-weights/2'"),
    (r"format: .*\n", "", "format: missing"),
    (r"name: .*\n", "", "name: missing"),
    (r"name: .*", "name: 3", "name: must be text, not 3"),
    (r"name: .*", "name: ' '", "name: must be a line of 1 to 1000 visible characters, not ' '"),
    (r"name: .*", "name: ''", "name: must be a line of 1 to 1000 visible characters, not ''"),
    (
        r"name: .*",
        r'name: "\\e[31m"',
        r"name: must be a line of 1 to 1000 visible characters, not '\x1b[31m'",
    ),
    (r"parent: .*", r'parent: "\\n"', r"parent: must be a line of 1 to 1000 visible characters, not '\n'"),
    (r"      p1:", r'      "p\\e1":', "classes.contact.hidden.name of a hidden unit: must be a line of"),
    (r"version: .*\n", "", "version: missing"),
    (r"version: 1", "version: 1.0", "version: must be a whole number from 0, not 1.0"),
    (r"version: 1", "version: -1", "version: must be a whole number from 0, not -1"),
    (r"version: 1", "version: true", "version: must be a whole number from 0, not True"),
    (r"parent: .*", "parent: [a]", "parent: must be text or null, not ['a']"),
    (r"parameters: .*\n", "", "parameters: missing"),
    (r"parameters: .*", "parameters: keith", "parameters: must be a mapping, not 'keith'"),
    (r"set: keith", "set: tesauro", "parameters.set: no such set: 'tesauro'; there are motif, keith"),
    (r"set: keith", "set: [keith]", "parameters.set: no such set: ['keith']; there are motif, keith"),
    (r"set: keith, ", "", "parameters.set: no such set: None; there are motif, keith"),
    (
        r"set: keith",
        "set: motif",
        "parameters.fingerprint: the file was fitted to another revision of the set motif: it says 'sha256:",
    ),
    (
        r"sha256:[0-9a-f]*",
        "sha256:0",
        "parameters.fingerprint: the file was fitted to another revision of the set keith: it says 'sha256",
    ),
    (r", fingerprint: \S*}", "}", "parameters.fingerprint: the file was fitted to another revision"),
    (r"classes:(.|\n)*(?=filter:)", "classes: {}\n", "classes.contact: missing"),
    (r"classes:(.|\n)*(?=filter:)", "classes:\n", "classes: must be a mapping, not None"),
    (r"  race:(.|\n)*(?=filter:)", "", "classes.race: missing"),
    (r"    win:\n", "    equity:\n", "classes.contact.win: missing"),
    (r"      bias: .*\n", "", "classes.contact.win.bias: missing"),
    (r"      bias: .*", "      bias: null", "classes.contact.win.bias: must be a number, not None"),
    (r"      bias: .*", "      bias: '1'", "classes.contact.win.bias: must be a number, not '1'"),
    (r"      bias: .*", "      bias: true", "classes.contact.win.bias: must be a number, not True"),
    (r"      bias: .*", "      bias: .nan", "classes.contact.win.bias: must be a finite number, not nan"),
    (r"      bias: .*", "      bias: -.inf", "classes.contact.win.bias: must be a finite number, not -inf"),
    (
        r"      bias: .*",
        "      bias: 1.0e+39",
        "classes.contact.win.bias: must be a number below 1e+06 in magnitude, not 1e+39",
    ),
    (
        r"      bias: .*",
        "      bias: -1.0e+6",
        "classes.contact.win.bias: must be a number below 1e+06 in magnitude, not -1000000.0",
    ),
    (
        r"      bias: .*",
        "      bias: 1" + 400 * "0",
        "classes.contact.win.bias: must be a finite number, not 1" + 36 * "0" + "...",
    ),
    (
        r"        blots: .*\n",
        "",
        "classes.contact.win.linear.blots: missing",
    ),
    (
        r"        blots: .*",
        "        blots: .inf",
        "classes.contact.win.linear.blots: must be a finite number, not inf",
    ),
    (
        r"        blots: (.*)",
        r"        blots: \1\n        blobs: 1",
        "classes.contact.win.linear.blobs: no such parameter in the set keith",
    ),
    (
        r"      linear:\n(        .*\n)*",
        "      linear: 3\n",
        "classes.contact.win.linear: must be a mapping, not 3",
    ),
    (
        r"      quadratic:\n",
        '      quadratic:\n        "blots": 1.0\n',
        "classes.contact.win.quadratic.blots: must be two parameters joined by *",
    ),
    (
        r"      quadratic:\n",
        '      quadratic:\n        "blots*on_bar*rearmost": 1.0\n',
        "classes.contact.win.quadratic.blots*on_bar*rearmost: must be two parameters joined by *",
    ),
    (
        r"      quadratic:\n",
        '      quadratic:\n        "blots*luck": 1.0\n',
        "classes.contact.win.quadratic.blots*luck: no parameter 'luck' in the set keith",
    ),
    (
        r"      quadratic:\n",
        '      quadratic:\n        "blots*on_bar": .nan\n',
        "classes.contact.win.quadratic.blots*on_bar: must be a finite number, not nan",
    ),
    (
        r"      quadratic:\n",
        '      quadratic:\n        "blots*on_bar": 1.0\n        "on_bar*blots": 1.0\n',
        "classes.contact.win.quadratic.on_bar*blots: the pair is given twice",
    ),
    (r"kept: 4", "kept: 0", "filter.kept: must be a whole number from 1 to 32, not 0"),
    (r"kept: 4", "kept: 33", "filter.kept: must be a whole number from 1 to 32, not 33"),
    (r"kept: 4", "kept: true", "filter.kept: must be a whole number from 1 to 32, not True"),
    (r"  kept: 4\n", "", "filter.kept: must be a whole number from 1 to 32, not None"),
    (r"filter:(.|\n)*(?=fit:)", "filter: {kept: 3}\n", "filter.contact: missing"),
    (r"filter:(.|\n)*(?=fit:)", "filter:\n", "filter: must be a mapping, not None"),
    (r"\n      7: \[.*", "", "filter.contact.own.7: must be 4 numbers, not None"),
    (r"\n      7: \[.*", "\n      7: [1, 2, 3]", "filter.contact.own.7: must be 4 numbers, not [1, 2, 3]"),
    (
        r"\n      7: \[.*",
        "\n      7: [1, 2, 3, .nan]",
        "filter.contact.own.7: must be a finite number, not nan",
    ),
    (r"\n    own:\n(      .*\n)*", "\n", "filter.contact.own: must be a mapping, not None"),
    (r"bearoff: true", "bearoff: 1", "bearoff: must be true or false, not 1"),
    (r"bearoff: true", "bearoff:", "bearoff: must be true or false, not None"),
    (r"    hidden:\n(      .*\n)*", "    hidden: 3\n", "classes.contact.hidden: must be a mapping, not 3"),
    (
        r"    hidden:\n(      .*\n)*",
        "    hidden: {}\n",
        "classes.contact.hidden: must be 1 to 512 hidden units",
    ),
    (r"      p1:\n(        .*\n)*", "      p1: 1\n", f"{OF_UNIT}: must be a mapping, not 1"),
    (r"        outputs: \[.*", "        outputs: [1, 2]", f"{OF_UNIT}.outputs: must be 5 numbers"),
    (r"        own: \[", "        own: [.inf, ", f"{OF_UNIT}.own: must be 100 numbers"),
    (r"fit: .*\n", "", "fit: missing"),
    (r"fit: .*", "fit: well", "fit: must be a mapping, not 'well'"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG, ids=[row[2][:50] for row in WRONG])
def test_faults_are_named_by_their_key(text, tmp_path, old, new, message):
    wrong, count = re.subn(old, new, text, count=1)
    assert count == 1
    assert complaint(wrong, tmp_path).startswith(message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r"    hidden:\n(      .*\n)*", "    hidden: {}\n", "must be 1 to 16 hidden units, not 0"),
        (r"    hidden:\n(      .*\n)*", "    hidden: 1\n", "must be a mapping, not 1"),
        (
            r"    hidden:\n",
            "    hidden:\n" + "".join(f"      a{k}: 1\n" for k in range(16)),
            "must be 1 to 16",
        ),
        (r"        output: .*\n", "", "1.output: missing"),
        (r"        output: .*\n", "        output: .nan\n", "1.output: must be a finite number, not nan"),
        (r"        bias: .*\n", "        bias: 1e7\n", "1.bias: must be"),
        (
            r"        bias:",
            "        inputs: 1\n        bias:",
            "1.inputs: unknown key; known keys: bias, output",
        ),
        (r"        own: \[", "        own: [1, ", "1.own: must be 100 numbers"),
    ],
)
def test_faults_of_a_filters_hidden_units(tmp_path, old, new, message):
    path = tmp_path / "filter.yaml"
    made_weights(kept=4, filter_units=2).save(path)
    wrong, count = re.subn(old, new, path.read_text(), count=1)
    assert count == 1
    found = complaint(wrong, tmp_path)
    assert found.removeprefix("filter.contact.hidden").lstrip(".: ").startswith(message)


@pytest.mark.parametrize(
    ("units", "margin", "message"),
    [
        (2, "-0.1", "must be at least 0, not -0.1"),
        (2, "wide", "must be a number, not 'wide'"),
        (0, "0.1", "only a filter with hidden units has a margin"),
    ],
)
def test_faults_of_a_filters_margin(tmp_path, units, margin, message):
    path = tmp_path / "filter.yaml"
    made_weights(kept=4, filter_units=units).save(path)
    wrong = path.read_text().replace("\n    own:", f"\n    margin: {margin}\n    own:", 1)
    assert complaint(wrong, tmp_path) == f"filter.contact.margin: {message}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: made-up", "name: made-up\nname: other", "line 3: duplicate key 'name'"),
        ("    win:", "    win: {}\n    win:", "duplicate key 'win'"),
        ("        blots:", "        blots: 1\n        blots:", "duplicate key 'blots'"),
        ("\n      1: [", "\n      0x1: [1, 1, 1, 1]\n      1: [", "duplicate key '1'"),
    ],
)
def test_a_key_given_twice(text, tmp_path, old, new, message):
    assert message in complaint(text.replace(old, new, 1), tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[1, 2]",
        b"words",
        b"\xff\xfe",
        b"\x00",
        b"format: [",
        b"a: " + b"[" * 20_000,
        b"a: " + b"[" * 20_000 + b"]" * 20_000,
        b"? {a: 1}\n: 2",
        b"? [a]\n: 2",
        b"a: !!python/object/apply:os.getcwd []",
        b"a: 2001-99-99",
        b"a: 1" + 5000 * b"0",
        b"a: 1\n---\nb: 2\n",
        b"a: &a [1]\nb: *a\n",
        b'format: !!int ""',
        b"version: 0x" + b"f" * 5000,
        b"{a: " * 50_000,
    ],
)
def test_files_other_than_weight_files(content, tmp_path):
    assert complaint(content, tmp_path)


def test_files_that_cannot_be_read(tmp_path):
    missing = tmp_path / "none.yaml"
    with pytest.raises(WeightFileError, match=r"none\.yaml: no such weight file$"):
        read_weight_file(missing)
    with pytest.raises(WeightFileError, match=r"none\.yaml: no such weight file$"):
        load_static(str(missing))
    with pytest.raises(WeightFileError, match="cannot be read: "):
        read_weight_file(tmp_path)


@pytest.mark.parametrize("name", ["zero\0byte.yaml", "x" * 5000 + ".yaml", "\ud800.yaml", "two\nlines.yaml"])
def test_names_that_no_file_has(name):
    with pytest.raises(WeightFileError) as caught:
        load_static(name)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_key_of_two_lines(text, tmp_path):
    changed = text.replace("name: made-up", 'name: made-up\n"two\\nlines": 1')
    assert complaint(changed, tmp_path).startswith("'two\\nlines': unknown key; known keys: ")


def test_a_truncated_file_is_never_accepted(tmp_path):
    path = tmp_path / "torn.yaml"
    SMALL.save(path)
    text = path.read_text()
    ends_of_lines = [match.end() for match in re.finditer("\n", text)]
    cuts = {*range(0, len(text), 97), *ends_of_lines, *(end - 3 for end in ends_of_lines[::4]), len(text) - 1}
    whole = 0
    for cut in sorted(cuts):
        path.write_text(text[:cut])
        try:
            read = read_weight_file(path)
        except WeightFileError:
            continue
        assert same_content(read, SMALL), f"cut at {cut}: {text[cut - 40 : cut]!r}"
        whole += 1
    assert whole == 2  # with its last line break and without
