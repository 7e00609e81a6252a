"""Match equity tables, compared with the published tables."""

from pathlib import Path

import numpy as np
import pytest

from motif.board.match_state import MatchState
from motif.doubling import match_equity_table
from motif.doubling.match_equity import TABLE_FILES, aways, read_table
from motif.runtime.errors import SettingError

GNUBG_TABLES = Path("/usr/share/gnubg/met")
STRENGTH = "a table for players of different strength is not supported"
VALUES = {
    "kazaross-xg2": {
        (1, 2): 0.67736,
        (1, 3): 0.75076,
        (2, 3): 0.59947,
        (2, 4): 0.66870,
        (3, 4): 0.57150,
        (3, 5): 0.64795,
        (5, 7): 0.62638,
        (5, 9): 0.72540,
    },
    "rockwell-kazaross": {
        (1, 2): 0.676888,
        (1, 3): 0.751179,
        (2, 3): 0.598994,
        (2, 4): 0.668586,
        (3, 4): 0.571438,
        (3, 5): 0.647713,
        (5, 7): 0.626658,
        (5, 9): 0.725507,
    },
}
AFTER = {
    "kazaross-xg2": [0.5, 0.48803, 0.32264, 0.31002, 0.19012, 0.18072],
    "rockwell-kazaross": [0.5, 0.487677, 0.323112, 0.310299, 0.190796, 0.181162],
}


def met_text(*before: list[float]) -> str:
    """A table in gnubg's format, with three chances after the Crawford game."""
    rows = "".join(f"<row>{''.join(f'<me>{chance}</me>' for chance in row)}</row>" for row in before)
    return (
        f"<met><info><description>Small</description></info><pre-crawford-table type='explicit'>{rows}"
        "</pre-crawford-table><post-crawford-table type='explicit' player='both'>"
        "<row><me>0.5</me><me>0.48</me><me>0.3</me></row></post-crawford-table></met>"
    )


SMALL = met_text([0.5, 0.7, 0.75], [0.3, 0.5, 0.6], [0.25, 0.4, 0.5])


@pytest.mark.parametrize("name", TABLE_FILES)
def test_published_values(name):
    table = match_equity_table(name)
    for score, chance in VALUES[name].items():
        assert table.chance(*score) == pytest.approx(chance, abs=1e-6)
        assert table.chance(*reversed(score)) == pytest.approx(1 - chance, abs=1e-6)
    for away, chance in enumerate(AFTER[name], 1):
        assert table.chance(away, 1, post_crawford=True) == pytest.approx(chance, abs=1e-6)
        assert table.chance(1, away, post_crawford=True) == pytest.approx(1 - chance, abs=1e-6)
    assert table.length == 25
    assert table.description


@pytest.mark.parametrize("name", TABLE_FILES)
def test_tables_are_extrapolated(name):
    table = match_equity_table(name)
    lengths = np.arange(1, 41)
    chances = np.array([[table.chance(own, other) for other in lengths] for own in lengths])
    assert chances == pytest.approx(1 - chances.T)
    assert (np.diff(chances, axis=0) < 0).all()
    # No jump at the end of the table: the next point has about the value of the last one.
    steps = -np.diff(chances, axis=0)[:, :20]
    assert steps[24] == pytest.approx(steps[23], rel=0.4, abs=1e-3)
    after = np.array([table.chance(away, 1, post_crawford=True) for away in range(1, 41)])
    assert (np.diff(after) < 0).all()
    assert after[25:] / after[23:38] == pytest.approx(np.full(15, after[24] / after[22]))
    assert 0 < table.chance(3000, 2900) < 0.5


def test_after_a_game():
    table = match_equity_table()
    state = MatchState(length=7, own_score=3, opponent_score=5)
    assert table.after_game(state, 1) == table.chance(3, 2)
    assert table.after_game(state, -1) == table.chance(4, 1)
    assert (table.after_game(state, 4), table.after_game(state, -2)) == (1, 0)
    for crawford in (True, False):
        late = MatchState(length=7, own_score=6, opponent_score=3, crawford=crawford)
        assert table.after_game(late, -2) == table.chance(1, 2, post_crawford=True)
    double_match_point = MatchState(length=1)
    assert (table.after_game(double_match_point, 1), table.after_game(double_match_point, -1)) == (1, 0)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (MatchState(), "money play has no score"),
        (MatchState(length=3, own_score=3, game_state="over"), "the match to 3 is over at 3-0"),
    ],
)
def test_no_score(state, words):
    with pytest.raises(SettingError, match=words):
        aways(state)


def test_scores_that_cannot_be():
    table = match_equity_table()
    with pytest.raises(SettingError, match="a player must be 1-away, not 2 and 3"):
        table.chance(2, 3, post_crawford=True)
    with pytest.raises(SettingError, match="won by both"):
        table.chance(0, -1)


def test_a_table_of_your_own(tmp_path):
    path = tmp_path / "small.xml"
    path.write_text(SMALL)
    table = match_equity_table(str(path))
    assert (table.length, table.description) == (3, "Small")
    assert table.chance(1, 2) == 0.7
    assert table.chance(3, 1, post_crawford=True) == 0.3


def test_a_table_of_rounded_chances():
    """Neighbours may be equal, and both players' chances add up to 1 only almost."""
    table = read_table(SMALL.replace("0.75", "0.7").replace("0.25", "0.298"), "mine.xml")
    assert table.chance(1, 3) == pytest.approx(0.701)
    assert table.chance(3, 1) == pytest.approx(0.299)
    assert read_table(SMALL.replace("0.6<", "0.5<").replace("0.4<", "0.5<"), "mine.xml").chance(2, 3) == 0.5


def test_a_table_without_the_last_chance_after_the_crawford_game():
    before = [0.5, 0.7, 0.75, 0.85], [0.3, 0.5, 0.6, 0.7], [0.25, 0.4, 0.5, 0.6], [0.15, 0.3, 0.4, 0.5]
    table = read_table(met_text(*before), "mine.xml")
    assert table.length == 4
    assert table.chance(4, 3) == pytest.approx(0.4)
    assert table.chance(4, 1, post_crawford=True) == pytest.approx(0.48 * 0.3 / 0.5)


@pytest.mark.parametrize(
    ("name", "length", "chance"),
    [
        ("g11", 25, 0.67184),
        ("jacobs", 25, 0.686),
        ("mec26", 25, 0.664),
        ("ortega", 15, 0.678),
        ("snowie", 15, 0.664),
        ("woolsey", 15, 0.68),
    ],
)
def test_tables_of_gnubg(name, length, chance):
    path = GNUBG_TABLES / f"{name}.xml"
    if not path.exists():
        pytest.skip("gnubg is not installed")
    table = match_equity_table(str(path))
    assert table.length == length
    assert table.chance(2, 4) == pytest.approx(chance)
    chances = np.array([[table.chance(own, other) for other in range(1, 31)] for own in range(1, 31)])
    assert chances == pytest.approx(1 - chances.T)
    # The tables have three decimals, the chances beyond them have more.
    assert (np.diff(chances, axis=0) < 1e-3).all()
    # A table of the default's length is close to it where it is extrapolated, too.
    assert table.chance(40, 30) == pytest.approx(match_equity_table().chance(40, 30), abs=0.02)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<met>", "invalid match equity table: no element found"),
        ("<net/>", "pre-crawford-table is missing"),
        (SMALL.replace("type='explicit'", "type='zadeh'", 1), "must be of type explicit"),
        (SMALL.replace("0.75", "often"), "'often' is not a probability"),
        (SMALL.replace("0.75", "0.\u0667\u0665"), "'0.\u0667\u0665' is not a probability"),
        (SMALL.replace("0.75", "0.76"), "must add up to 1"),
        (
            SMALL.replace("</row></post", "</row><row><me>0.5</me><me>0.4</me><me>0.3</me></row></post"),
            STRENGTH,
        ),
        (SMALL.replace("<me>0.75</me>", ""), "must be square"),
        (SMALL.replace("<me>0.48</me><me>0.3</me>", ""), "must have 3 chances"),
        (SMALL.replace("<me>0.3</me></row></post", "</row></post"), "must have 3 chances"),
        (SMALL.replace("0.48", "0.2"), "must not increase"),
        (SMALL.replace("0.7<", "0.4<").replace("0.3<", "0.6<", 1), "must not increase"),
    ],
)
def test_faults_of_a_file(text, words):
    with pytest.raises(SettingError, match=words) as caught:
        read_table(text, "mine.xml")
    assert str(caught.value).startswith("mine.xml: ")
    assert "\n" not in str(caught.value)


def test_unknown_names(tmp_path):
    with pytest.raises(SettingError, match="kazaross-xg2, rockwell-kazaross"):
        match_equity_table("woolsey")
    with pytest.raises(SettingError, match="No such file"):
        match_equity_table(str(tmp_path / "none.xml"))


def test_a_table_is_read_once():
    assert match_equity_table() is match_equity_table("kazaross-xg2") is match_equity_table("Kazaross-XG2")
