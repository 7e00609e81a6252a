"""The commands that play games, for users and programs."""

import re

import pytest
from matplotlib.image import imread

WORDS = ("random", "pubeval", "simple", "--games", 60, "--jobs", 1)


def test_the_table_of_a_tournament(motif_json):
    record = motif_json("tournament", *WORDS, "--seed", 3)
    assert [row["player"] for row in record["table"]] == ["pubeval", "simple", "random"]
    assert record["players"] == ["random", "pubeval", "simple"]
    assert (record["games"], record["seed"]) == (60, 3)
    for pairing in record["pairings"]:
        again = motif_json(
            "match", *pairing["players"], "--games", 60, "--seed", pairing["seed"], "--jobs", 1
        )
        assert again == pairing


def test_people_see_the_best_player(motif):
    ending = motif("tournament", *WORDS)
    assert ending.err == ""
    lines = ending.out.splitlines()
    assert max(map(len, lines)) <= 100
    ratings = [re.match(r" ?([A-C])   (\w+) .* \d+\.\d %.* ± .* ± .* ± ", line) for line in lines]
    assert [(it[1], it[2]) for it in ratings if it] == [("A", "pubeval"), ("B", "simple"), ("C", "random")]
    cross = next(k for k, line in enumerate(lines) if re.fullmatch(r" +A +B +C", line))
    assert re.fullmatch(r"A {10,}\+\d\.\d{3}  \+\d\.\d{3}", lines[cross + 1])
    assert re.fullmatch(r" {10,}±\d\.\d{3}  ±\d\.\d{3}", lines[cross + 2])


def test_many_players_fit_a_terminal(motif, monkeypatch, weight_file, tmp_path):
    copies = [tmp_path / f"copy{k}.yaml" for k in range(12)]
    for copy in copies:
        copy.write_bytes(weight_file.read_bytes())
    monkeypatch.setenv("COLUMNS", "80")
    lines = motif("tournament", *copies, "--games", 60, "--jobs", 1).out.splitlines()
    start = next(k for k, line in enumerate(lines) if re.fullmatch(" +A.* L", line))
    cross = lines[start : start + 25]
    assert max(map(len, cross)) <= 80
    assert cross[1].startswith("A")
    assert cross[23].startswith("L")
    # No player meets itself.
    assert cross[1].split() == ["A", *cross[1].split()[1:]]
    assert len(cross[1].split()) == 12
    monkeypatch.setenv("COLUMNS", "40")
    narrow = motif("tournament", *copies, "--games", 2, "--jobs", 1).out.splitlines()
    heads = [line.split() for line in narrow if re.fullmatch(r"( +[A-L])+", line)]
    assert "".join(label for head in heads for label in head) == "ABCDEFGHIJKL"


def test_a_tournament_of_matches(motif, motif_json, tmp_path):
    words = ("pubeval", "random", "bras", "--length", 3, "--games", 4, "--jobs", 1)
    record = motif_json("tournament", *words, "--seed", 3)
    assert (record["matches"], record["length"]) == (4, 3)
    assert record["table"][-1]["player"] == "random"
    for row in record["table"]:
        assert row["mwc"] == pytest.approx(row["wins"] / row["matches"])
        for other, against in row["against"].items():
            back = next(it for it in record["table"] if it["player"] == other)["against"][row["player"]]
            assert against["mwc"] + back["mwc"] == pytest.approx(1)
    pairing = record["pairings"][0]
    match = ("match", *pairing["players"], "--length", 3, "--games", 4, "--seed", pairing["seed"])
    assert motif_json(*match, "--jobs", 1) == pairing
    out = motif("tournament", *words, "--no-cube", "--plot", tmp_path / "ratings.png").out
    assert "Percent of matches won, row against column" in out
    assert re.search(r"C +random +\d+\.\d % ", out)


def test_a_tournament_is_drawn(motif, tmp_path):
    picture = tmp_path / "ratings.png"
    assert motif("tournament", *WORDS, "--plot", picture).code == 0
    assert (imread(picture)[..., :3].min(axis=2) < 0.5).any()


@pytest.mark.parametrize("rules", [(), ("--cube", "--no-jacoby"), ("--length", 2)])
def test_a_luck_adjusted_tournament(motif, motif_json, rules):
    words = ("bras", "pubeval", "motif-v1", "--games", 2, "--jobs", 1, *rules)
    record, raw = (motif_json("tournament", *words, *more) for more in (["--luck-adjusted"], []))
    judge, what = record["luck_adjusted"], "mwc" if "--length" in rules else "ppg"
    for pairing, with_luck in zip(record["pairings"], raw["pairings"], strict=True):
        left = pairing.pop("luck_adjusted")
        assert pairing == with_luck
        assert left["judge"] == judge
        first, second = (
            next(it for it in record["table"] if it["player"] == name) for name in pairing["players"]
        )
        against = first["against"][second["player"]]
        assert (against[what], against["se"]) == pytest.approx((left["mean"], left["se"]))
    wins, with_luck = ({it["player"]: it["wins"] for it in table["table"]} for table in (record, raw))
    assert wins == with_luck
    out = motif("tournament", *words, "--luck-adjusted").out
    assert f"luck-adjusted by {judge};" in " ".join(out.split())


def test_a_match_says_why_it_ended(motif, motif_json):
    words = ("match", "pubeval", "random", "--games", 500, "--until-certain", "--jobs", 1)
    record = motif_json(*words, "--significance", 0.01)
    assert record["stopped"] == "certain"
    assert record["games"] < 100
    assert record["significance"] == 0.01
    assert 0 < record["interval"][0] < record["ppg"] < record["interval"][1]
    out = motif(*words).out
    ended = r"pubeval is better \(95 % confidence\)"
    assert re.search(
        rf"stopped after \d+ games: {ended}; from \+\S+ to \+\S+ points per game for pubeval\n", out
    )
    assert re.search(r"pubeval beats random by .* \(p = 0\.0\d+, valid under optional stopping\)", out)
    turned = motif("match", "random", "pubeval", "--games", 500, "--until-certain", "--jobs", 1).out
    assert re.search(r"games: pubeval is better .*; from -\S+ to -\S+ points per game for random\n", turned)
    even = ("match", "simple", "simple", "--games", 20, "--until-certain", "--jobs", 1)
    assert "stopped after 20 games: no significant difference" in motif(*even).out
    assert motif_json(*even)["stopped"] == "all games played"


def test_both_sentences_on_a_match_use_its_significance_level(motif):
    words = ("match", "simple", "random", "--games", 40, "--until-certain", "--jobs", 1, "--significance")
    strict, lax = (" ".join(motif(*words, level).out.split()) for level in (0.001, 0.06))
    assert "no significant difference (99.9 % confidence)" in strict
    assert re.search(r"simple is ahead of random by .* \(p = 0\.0[1-4]\d*, valid", strict)
    assert "simple is better (94 % confidence)" in lax
    assert re.search(r"simple beats random by .* \(p = 0\.05\d*, valid", lax)


def test_a_lead_by_luck_is_not_significant(motif):
    out = motif("match", "simple", "simple", "--games", 60, "--jobs", 1).out
    assert "simple and simple are even: 0.000 ± 0.000 points per game over 60 games (p = 1)" in out
    out = motif("match", "simple", "bras", "--games", 60, "--jobs", 1).out
    assert re.search(
        r"(simple|bras) (is ahead of|beats) (simple|bras) by \S+ ± \S+ points per game over 60", out
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((2, "--seed", 6), r"motif-v1 and pubeval are even: 0\.000 points per game over 2 games\n"),
        ((3,), r"motif-v1 is ahead of pubeval by 0\.500 points per game over 4 games\n"),
        ((4, "--cube"), r"is ahead of [\w-]+ by \d\.\d{3} points per game over 4 games; with the cube, "),
        (
            (2, "--length", 1),
            r"wins \d+\.\d % of 2 matches to 1 point against pubeval \(1\.0 games per match\)\n",
        ),
        ((2, "--luck-adjusted"), r"by \d\.\d{3} points per game\n2 games: fewer than 60 games are"),
    ],
)
def test_a_handful_of_games_proves_nothing(motif, words, said):
    out = motif("match", "motif-v1", "pubeval", "--jobs", 1, "--games", *words).out
    assert re.search(said, out), out
    assert not re.search(r"nan|beats|p [=<]|±", out)
    what = "matches" if "--length" in words else "games"
    assert f"fewer than 60 {what} are too few for a standard error\n" in out


@pytest.mark.parametrize("rules", [(), ("--length", 1), ("--length", 1, "--luck-adjusted"), ("--cube",)])
def test_a_short_tournament_has_no_errors(motif, tmp_path, rules):
    picture = tmp_path / "ratings.svg"
    words = ("tournament", "pubeval", "random", "bras", "--games", 4, "--jobs", 1, *rules)
    out = motif(*words, "--plot", picture).out
    assert not re.search(r"nan|[±?]", out)
    what = "matches" if "--length" in rules else "games"
    assert f"Ratings have mean 0; fewer than 60 {what} are too few for a standard error." in out
    assert "nan" not in picture.read_text()


def test_an_odd_number_of_games_is_one_more(motif):
    for words in (("match", "pubeval", "simple"), ("tournament", "pubeval", "simple")):
        assert "4 games instead of 3\n" in motif(*words, "--games", 3, "--jobs", 1).err
        assert motif(*words, "--games", 4, "--jobs", 1).err == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tournament",), "PLAYER"),
        (("tournament", "pubeval"), "at least 2 players, not 1"),
        (("tournament", "pubeval", "nobody"), "no player is called 'nobody'"),
        (("tournament", "pubeval", "pubeval"), "duplicate player 'pubeval'"),
        (("tournament", "pubeval", "random", "--games", "1"), "--games must be at least 2, not 1"),
        (("tournament", "pubeval", "random", "--plot", "x.txt"), "x.txt: the name of a picture must end in"),
        (("tournament", "pubeval", "random", "--length", "65"), "--length must be 1 to 64 points"),
        (("match", "pubeval", "random", "--games", "1"), "--games must be at least 2, not 1"),
        (("match", "pubeval", "random", "--games", "9" * 20), "--games must be below 2**31"),
        (("match", "pubeval", "random", "--significance", "1"), "--significance must be above 0 and below 1"),
        (("match", "pubeval", "random", "--cube", "--until-certain"), "requires money games without a cube"),
        (
            ("match", "pubeval", "random", "--length", "3", "--significance", "0.1"),
            "--significance: has no effect in matches and with a cube",
        ),
        (("match", "pubeval", "random", "--cube", "--significance", "5"), "--significance: has no effect in"),
        (("match", "pubeval", "random", "--jacoby"), "require money games with --cube"),
        (
            ("tournament", "pubeval", "random", "--length", "3", "--no-jacoby"),
            "with --cube, without --length",
        ),
    ],
)
def test_bad_input(fault, words, said):
    assert said in fault(*words)
