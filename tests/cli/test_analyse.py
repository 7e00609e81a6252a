"""The command analyse for matches: what it prints, what it writes, what it refuses."""

import pytest

from tests.analysis.test_match_analysis import MATCH


@pytest.fixture
def mat(tmp_path):
    path = tmp_path / "ann.mat"
    path.write_text(MATCH)
    return path


def test_json_has_both_players_and_the_worst(motif_json, mat, tmp_path):
    page = tmp_path / "page.html"
    found = motif_json("analyse", mat, "--player", "bras", "--worst", 2, "--html", page)
    assert (found["file"], found["analyst"], found["length"]) == (str(mat), "bras", 3)
    assert [player["name"] for player in found["players"]] == ["Ann", "Bob"]
    for player in found["players"]:
        assert player["error_rate"] == player["overall"]["error_rate"]
        assert player["overall"]["decisions"] == player["chequer"]["decisions"] + player["cube"]["decisions"]
        assert set(player["mistakes"]) == {"missed double", "wrong double", "wrong take", "wrong pass"}
        assert set(player["luck"]) == {"rolls", "total", "mwc"}
    assert len(found["worst"]) == 2
    assert {"position", "xgid", "roll", "played", "better", "loss", "summary", "sentences"} <= set(
        found["worst"][0]
    )
    assert found["html"] == str(page)
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert motif_json("analyse", mat, "--player", "bras", "--worst", 2, "--html", page) == found


def test_the_evaluator_that_came_along_judges(motif_json, mat):
    from motif.cli.options import DEFAULT_PLAYER

    assert motif_json("analyse", mat, "--worst", 0)["analyst"] == f"{DEFAULT_PLAYER}@2"
    ahead = motif_json("analyse", mat, "--player", "latest@1", "--worst", 1, "--jobs", 1)
    assert ahead["analyst"] == f"{DEFAULT_PLAYER}@1"
    assert len(ahead["worst"]) == 1


def test_text_shows_players_boards_and_the_page(motif, mat, tmp_path):
    ending = motif("analyse", mat, "--player", "bras", "--worst", 1, "--html", tmp_path / "page.html")
    assert (ending.code, ending.err) == (0, "")
    assert ending.out.startswith("Ann - Bob, 3-point match: 3 games, score 2 to 2; analysed by bras.\n")
    for words in ("error rate", "missed doubles", "Played: ", "Better: ", "|BAR|", " is better than "):
        assert words in ending.out
    assert ending.out.endswith(f"{tmp_path / 'page.html'}\n")


def test_a_file_of_another_name_is_a_match_too(motif_json, mat):
    other = mat.rename(mat.with_suffix(".txt"))
    found = motif_json("analyse", other, "--player", "bras", "--worst", 0, "--no-cube")
    assert found["worst"] == []
    assert all(player["cube"]["decisions"] == 0 for player in found["players"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "folder"), "--out: `motif inspect WEIGHTS --out DIR` shows what an evaluator looks at"),
        (("--positions", "200"), "--positions: `motif inspect WEIGHTS --out DIR`"),
        (("--dataset", "folder"), "--dataset: `motif inspect"),
        (("--class", "race"), "--class: `motif inspect"),
        (("--head", "win"), "--head: `motif inspect"),
        (("--player", "random"), "'random' chooses plays but cannot evaluate"),
        (("--player", "nobody"), "no player is called 'nobody'"),
        (("--worst", "-1"), "--worst"),
        (("--jobs", "0"), "--jobs must be at least 1"),
    ],
)
def test_bad_options_are_one_line(motif, mat, words, said):
    ending = motif("analyse", mat, *words)
    assert (ending.code, ending.out) == (2, "")
    assert said in ending.err
    assert ending.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no .mat file: it must begin with a line such as '7 point match'"),
        ("Hello\n", "line 1: no .mat file"),
        (" 5 point match\n", "nothing to analyse: the record has no roll"),
        (MATCH.replace("13/8 6/4", "13/8 6/5"), "line 8: game 1, move 4"),
        (
            MATCH.replace("Ann : 2                    Bob : 1", "Ann : 3                    Bob : 1"),
            "game 3: no match",
        ),
    ],
)
def test_bad_files_are_one_line(motif, tmp_path, text, said):
    path = tmp_path / "bad.mat"
    path.write_text(text)
    ending = motif("analyse", path, "--html", tmp_path / "page.html")
    assert (ending.code, ending.out) == (2, "")
    assert f"{path}: " in ending.err
    assert said in ending.err
    assert ending.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_that_cannot_be_written(motif, mat, tmp_path):
    ending = motif("analyse", mat, "--player", "bras", "--html", tmp_path)
    assert (ending.code, ending.out) == (2, "")
    assert str(tmp_path) in ending.err
    assert ending.err.count("\n") == 1


def test_a_file_that_is_not_there(motif, tmp_path):
    ending = motif("analyse", tmp_path / "none.mat")
    assert (ending.code, ending.out) == (2, "")
    assert "none.mat: cannot be read" in ending.err


@pytest.mark.parametrize(
    "words", [("bras",), ("none.yaml",), ("bras", "--out", "folder"), ("bras", "--worst", "3")]
)
@pytest.mark.parametrize("name", ["bras", "none.yaml"])
def test_evaluators_are_the_subject_of_another_command(motif, name, words):
    ending = motif("analyse", name, *words)
    assert (ending.code, ending.out) == (2, "")
    assert "`motif inspect WEIGHTS --out DIR` shows what an evaluator looks at" in ending.err
    assert ending.err.count("\n") == 1


def test_several_matches_are_a_list(motif, motif_json, mat, tmp_path):
    other = tmp_path / "other.mat"
    other.write_text(MATCH)
    words = ("--player", "bras", "--worst", 0)
    matches = motif_json("analyse", mat, other, *words)["matches"]
    assert matches == [motif_json("analyse", path, *words) for path in (mat, other)]
    assert motif("analyse", mat, other, *words).out.count("analysed by bras.\n") == 2
    ending = motif("analyse", mat, other, "--html", tmp_path / "page.html")
    assert (ending.code, ending.err) == (2, "motif: error: --html: a page is about one match, not several\n")
