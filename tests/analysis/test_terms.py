"""The most important terms: numbers in sentences, compared with the evaluator's own sums."""

from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.observed_effects import Observed
from motif.analysis.term_report import (
    board_terms,
    chosen_head,
    effect_summaries,
    observed_positions,
    table_terms,
    term_summaries,
)
from motif.board.packed import Board, pack_many
from motif.evaluators.weight_file import HeadWeights, WeightFile
from motif.fitting.significance import weight_vector, write_terms
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.runtime.errors import DatasetError, SettingError
from tests.reports.made_run import made_boards

_KEITH = parameter_set("keith")
_NAMES = _KEITH.names
_BOARDS = made_boards(900, np.random.default_rng(0))


def _head(seed: int) -> HeadWeights:
    rng, size = np.random.default_rng(seed), len(_KEITH)
    pairs = np.array([[0, 5], [2, 9], [4, 4], [5, 18]])
    return HeadWeights(
        0.1,
        rng.normal(0, 0.3, size).astype(np.float32),
        pairs,
        rng.normal(0, 0.3, len(pairs)).astype(np.float32),
    )


def _weights() -> WeightFile:
    classes = {"contact": {"win": _head(0), "equity": _head(1)}, "race": {"win": _head(2)}}
    return WeightFile("made", 0, None, _KEITH, classes)


def _contact() -> Board:
    return _BOARDS[classify_many(pack_many(_BOARDS)) == CLASS_NAMES.index("contact")]


def _seen(head: str = "win") -> Observed:
    return observed_positions(_weights(), _BOARDS, "contact", head)


def test_each_kind_of_term_is_reported():
    weights = _weights()
    found, count = board_terms(_BOARDS, weights, "contact", "equity")
    assert count == len(_contact())
    told = {term.name: term for term in term_summaries(weights, found, _seen("equity"), 10_000)}
    assert len(told) == len(found.names) - 1
    effects = effect_summaries(_seen("equity"), len(_NAMES))
    assert len(effects) > len(_NAMES) / 2
    for effect in effects:
        name, amount, gain = effect.name, effect.amount, effect.gain
        assert told[name].sentence.startswith(f"{amount:g} " if amount != 1 else ("One ", "That "))
        if abs(gain) < 0.03:
            assert "hardly any difference" in told[name].sentence
        else:
            assert (" worth " in told[name].sentence) == (gain > 0)
    assert told["on_bar*pip_count_opponent"].full == ("2 checkers", "167 pips")


def test_the_most_important_come_first():
    found, _ = board_terms(_BOARDS, _weights(), "contact", "win")
    moves = [term.moves for term in term_summaries(_weights(), found, _seen(), 10_000)]
    assert moves == sorted(moves, reverse=True)
    first = term_summaries(_weights(), found, _seen(), 3)
    assert [term.moves for term in first] == moves[:3]
    terms, vector = weight_vector(_weights().classes["contact"]["win"])
    values = terms.expand(features(_KEITH, _contact())).astype(float)
    term = first[0]
    place = found.names.index(term.name)
    assert term.weight == vector[place]
    assert term.spread == pytest.approx(abs(vector[place]) * values[:, place].std(), rel=1e-4)
    assert np.isnan([term.se, term.z, term.effect_se]).all()


def test_the_head_that_chooses_plays():
    weights = _weights()
    assert chosen_head(weights, "contact", None) == "equity"
    assert chosen_head(weights, "race", None) == "win"
    assert chosen_head(weights, "contact", "win") == "win"
    for arguments, words in (
        (("race", "equity"), "have no head 'equity' for race positions; there are win"),
        (("crashed", None), "has no weights of its own for crashed positions"),
    ):
        with pytest.raises(SettingError, match=words):
            chosen_head(weights, *arguments)


def test_a_table_must_be_that_of_the_weights(tmp_path):
    weights, path = _weights(), tmp_path / "terms.parquet"
    found, _ = board_terms(_BOARDS, weights, "race", "win")
    write_terms(path, [found])
    read = table_terms(path, weights, "race", "win")
    races = observed_positions(weights, _BOARDS, "race", "win")
    told, again = (term_summaries(weights, terms, races, 5) for terms in (found, read))
    assert list(map(str, told)) == list(map(str, again))  # NaN does not equal itself
    with pytest.raises(DatasetError, match="has no terms of contact win"):
        table_terms(path, weights, "contact", "win")
    others = replace(weights, classes={**weights.classes, "race": {"win": _head(8)}})
    with pytest.raises(DatasetError, match="belongs to weights other than 'made'"):
        table_terms(path, others, "race", "win")
    fewer = replace(_head(2), pairs=np.zeros((0, 2), np.int64), quadratic=np.zeros(0, np.float32))
    with pytest.raises(DatasetError, match="belongs to weights other"):
        table_terms(path, replace(weights, classes={"race": {"win": fewer}}), "race", "win")


def test_positions_that_the_head_does_not_judge_are_left_out():
    weights = _weights()
    races = _BOARDS[classify_many(pack_many(_BOARDS)) == CLASS_NAMES.index("race")]
    heads = {**weights.classes, "race": {"win": _head(2), "win_gammon": _head(4)}}
    gammons = replace(weights, classes=heads)
    assert board_terms(_BOARDS, gammons, "race", "win")[1] == len(races)
    still_there = np.minimum(races, 0).sum(axis=1) == -15
    assert 0 < still_there.sum() < len(races)
    assert board_terms(_BOARDS, gammons, "race", "win_gammon")[1] == still_there.sum()
    # All generated races are in the home boards, which the tables cover.
    with pytest.raises(DatasetError, match=r"at least 100 race positions are needed .*, not 0"):
        board_terms(_BOARDS, replace(weights, bearoff=True), "race", "win")


def test_too_few_positions():
    with pytest.raises(DatasetError, match=r"at least 100 race positions are needed .* not 0"):
        board_terms(_contact(), _weights(), "race", "win")
