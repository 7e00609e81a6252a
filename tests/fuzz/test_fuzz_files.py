"""Benchmark files, weight files and configurations."""

import gzip
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import strategies as st

from motif.learning.bootstrap_config import load_preset
from tests.evaluators.made_weights import made_weights
from tests.fuzz import checks
from tests.fuzz.mutations import ODD_TOKENS, mutated, mutated_file, mutated_tree

DATA = Path(__file__).resolve().parent.parent / "data"
BENCHMARKS = [
    b"".join(line + b"\n" for line in (DATA / name).read_bytes().splitlines()[:3])
    for name in ("contact.bm", "race.bm")
]
_KEY = b"LAGHPAABDAOAHDPAABDA"
BENCHMARKS[0] = (
    b"s version 1.92 nRollOutGames 1296\n# a comment\n\nr 12345\n"
    + b"#R %b 0.5 0.25 0.01 0.125 0.005\n" % _KEY
    + BENCHMARKS[0]
    + b"r 7\no %b 0.5 0.25 0.01 0.125 0.005\nc %b 52.5 51.75 D/T\ne %b\n" % (_KEY, _KEY, _KEY)
)
BENCHMARK_TOKENS = [
    *ODD_TOKENS, b"m ", b"\nm ", b"\n#R ", b"\no ", b"\nc ", b"\nr 1\n", b"\ns ", b"TG", b"1_0",
    b"AAAAAAAAAAAAAAAAAAAA", b"PPPPPPPPPPPPPPPPPPPP",
]  # fmt: skip

YAML_TOKENS = [
    *ODD_TOKENS, b".nan", b"-.inf", b".inf", b"1.0e+999", b"1.0e+38", b"3.4e+38", b"1e38", b"0b1", b"0o7",
    b"1:30:00", b"1_000", b"~", b"yes", b"2001-01-01", b"=", b"<<: ", b"<<", b"&a ", b"*a", b"!!int ",
    b"!!map ", b"!!binary ", b"!", b"[", b"]", b"{", b"}", b": ", b"\n- ", b"\n  ", b"---\n", b"...\n",
    b"%YAML 9.9\n", b"|\n", b">\n", b"[" * 300, b"{a: " * 300, b"- " * 300, b"? " * 300, b"@", b"`",
    b"\xef\xbf\xbe", b"? ", b'"\\ud800"', b"!!python/name:os.system ", b"\n? [a]\n: b\n", b"bias: 1\n",
    b"name: a\n", b"a" * 20_000,
]  # fmt: skip

LAUGHS = "a: &a [ha, ha, ha, ha, ha, ha, ha, ha, ha]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghijklmnop", "bcdefghijklmnopq", strict=True)
)
MERGES = "a: &a {x: 1, y: 2}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 9)}]}}\n"
    for before, name in zip("abcdefghijklmnop", "bcdefghijklmnopq", strict=True)
)
BOMBS = [LAUGHS, MERGES, "a: " + "[" * 100_000, "{a: " * 50_000, "- " * 100_000, "a: &a [*a]", "&a {*a : *a}"]


def test_benchmark_files(fuzz):
    fuzz(checks.benchmark_check, mutated_file(BENCHMARKS, BENCHMARK_TOKENS), valid=BENCHMARKS)


def test_compressed_benchmark_files(fuzz):
    packed = [gzip.compress(content, mtime=0) for content in BENCHMARKS]
    damaged_inside = mutated(BENCHMARKS, BENCHMARK_TOKENS).map(
        lambda content: gzip.compress(content, mtime=0)
    )
    fuzz(checks.gzip_check, mutated_file(packed) | damaged_inside, valid=packed)


def weight_texts(folder: Path) -> list[bytes]:
    """Return small weight files: one or several heads, with and without pairs, move filter, hidden units."""
    made = (
        made_weights(classes={"contact": ["win"], "race": ["win"]}),
        made_weights(classes={"contact": ["win", "equity"], "race": ["win", "win_gammon"]}, pairs=3, seed=1),
        made_weights(classes={"contact": ["win"], "race": ["win"]}, kept=4, seed=2),
        made_weights(
            classes={"contact": ["win", "win_gammon"], "race": ["win"]}, hidden={"contact": 2}, seed=3
        ),
    )
    texts = []
    for weights in made:
        weights.save(folder / "weights.yaml")
        texts.append((folder / "weights.yaml").read_bytes())
    return texts


RESULTS = [
    b"outcome,position\n1,4HPwATDgc/ABMA\n0,4HPwATDgc/ABMA\n",
    b"game,S_me,outcome\n1,62.5,1\n1,40,1\n2,0,0\n",
    b'\xef\xbb\xbfOutcome,"chance",note\r\n1,0.5,"a, b"\r\n\r\n0,1e-3,\r\n',
]
RESULT_TOKENS = [
    *ODD_TOKENS, b",", b'"', b"\r", b"outcome", b"score,", b"nan", b"-inf", b"1e999", b"100.1", b"2",
]  # fmt: skip
BRAS = [
    b"format: motif-bras/1\nsigma: 2.5\nweights: {blot: 1.6, prime: -1.8}\n",
    b"format: motif-bras/1\n",
]


def test_results_of_games(fuzz):
    fuzz(checks.results_check, mutated_file(RESULTS, RESULT_TOKENS), valid=RESULTS)


def test_bras_weights(fuzz):
    documents = st.one_of(*(mutated_tree(yaml.safe_load(text)) for text in BRAS)).map(as_yaml)
    fuzz(checks.bras_check, mutated_file(BRAS, YAML_TOKENS) | documents, valid=BRAS)


def as_yaml(document: object) -> bytes:
    """Return JSON, which is YAML and quick to write."""
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def test_weight_files(fuzz, tmp_path):
    texts = weight_texts(tmp_path)
    documents = st.one_of(*(mutated_tree(yaml.safe_load(text)) for text in texts)).map(as_yaml)
    fuzz(checks.weight_file_check, mutated_file(texts, YAML_TOKENS) | documents, valid=texts)


def config_texts(folder: Path) -> list[bytes]:
    texts = []
    for name in ("demo", "classic"):
        load_preset(name).save(folder)
        texts.append((folder / "config.yaml").read_bytes())
    fit = b"fit: {method: coordinate, parameters: keith, ridge: 2, passes: 3, ranking: null, seed: 4}"
    return [*texts, texts[1][: texts[1].index(b"fit:")] + fit + b"\nversions:\n  - {games: 3, trials: 2}\n"]


def test_configurations(fuzz, tmp_path):
    texts = config_texts(tmp_path)
    documents = st.one_of(*(mutated_tree(yaml.safe_load(text)) for text in texts)).map(as_yaml)
    fuzz(checks.config_check, mutated_file(texts, YAML_TOKENS) | documents, valid=texts)


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:12])
@pytest.mark.parametrize("check", [checks.weight_file_check, checks.config_check])
def test_small_files_that_unfold(reader, tmp_path, check, bomb):
    texts = weight_texts(tmp_path) if check is checks.weight_file_check else config_texts(tmp_path)
    reader.warm_up(check, texts)
    inside = texts[0].replace(b"fit: ", b"fit: {a: 1}\nbomb:\n  ", 1)
    outcome = reader.run(check, [bomb.encode(), inside + bomb.replace("\n", "\n  ").encode()])
    assert outcome.accepted == 0
