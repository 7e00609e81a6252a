"""What commands say about statistics that do not hold, or that hold for less than one may think."""

import numpy as np
import pytest

from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.cli.rollouts import print_comparison
from motif.rollouts.comparison import ComparedPlay, Comparison
from tests.evaluators.made_weights import made_weights

WORDS = "--jobs", 1


def test_a_benchmark_on_the_dataset_of_the_fit(motif, dataset, tmp_path):
    fitted = tmp_path / "fitted.yaml"
    words = "--parameters", "keith", "--terms", "linear", "--heads", "win"
    assert motif("fit", dataset, "--out", fitted, *words, *WORDS).code == 0
    note = f"was fitted to {dataset}; held-out games are a better test"
    assert note in motif("benchmark", dataset, "--player", fitted, *WORDS).err
    assert note in motif("benchmark", dataset, "--player", "simple", "--versus", fitted, *WORDS).err
    assert motif("benchmark", dataset, "--player", "simple", *WORDS).err == ""


def test_terms_without_standard_errors(motif, dataset, tmp_path):
    made_weights("keith").save(tmp_path / "made.yaml")
    ending = motif("terms", tmp_path / "made.yaml", "--data", dataset, "--top", 2)
    assert ending.err == f"motif: no standard errors: made-up has no record of a fit to {dataset}\n"
    assert "standard error" not in ending.out


@pytest.mark.parametrize(
    ("errors", "doubt"),
    [
        ([0.01], "(p = 0.0027 if the plays were equal)"),
        ([0.01, 0.02], "(sum of the p-values of its rivals = 0.015 if the plays were equal)"),
        ([0.001, 0.002], "(sum of the p-values of its rivals < 0.0001 if the plays were equal)"),
    ],
)
def test_the_verdict_names_its_p_value(capsys, errors, doubt):
    plays = legal_plays(Position.start(), (3, 1))
    compared = [
        ComparedPlay(play, 9000, False, np.zeros(6), np.zeros(6), difference, error)
        for play, difference, error in zip(plays, (0.0, -0.03, -0.05), (0.0, *errors), strict=False)
    ]
    print_comparison(Comparison(tuple(compared), 9000, 1.0, "money", None), "simple")
    assert f"{plays[0]} is best: 0.0300 ± {errors[0]:.4f} ahead of {plays[1]} {doubt}" in " ".join(
        capsys.readouterr().out.split()
    )


def test_plays_with_the_same_result_in_every_trial(capsys):
    plays = legal_plays(Position.start(), (3, 1))[:2]
    compared = [ComparedPlay(play, 9, False, np.zeros(6), np.zeros(6), 0.0, 0.0) for play in plays]
    print_comparison(Comparison(tuple(compared), 9, 1.0, "money", None), "simple")
    said = capsys.readouterr().out
    assert f"{plays[0]} is as good as {plays[1]} in every trial" in said
    assert "-0.0000" not in said
