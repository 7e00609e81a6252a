"""Matches played and saved by gnubg: motif's analysis compared with gnubg's, and the ranking of players."""

import re
from pathlib import Path

import numpy as np
import pytest

from motif.analysis.match.decisions import MatchDecision
from motif.analysis.match.match_analysis import MatchAnalysis, analyse_match
from motif.board.game_record import MatchRecord
from motif.board.match_file import read_match
from motif.evaluators import load_evaluator
from motif.players import load
from motif.rollouts.games import SeededDice
from motif.session.session import GameSession, Seat
from tests.peers.test_gnubg_mat import GNUBG_PLAYS_GNUBG, ONLY_READ

MATCHES = 40
RATES_APART = 1.0
"""Maximum difference of the mean error rates of motif and gnubg, in millipoints per decision."""
LARGE = 0.04
"""Cube errors above this many points are compared with gnubg's 2-ply."""
CONFIRMED = 0.85
"""Minimum share of these that are errors by gnubg's 2-ply as well."""
_SEED = 70_000


def played_by_gnubg(gnubg, path: Path, plies: tuple[int, int], length: int, seed: int) -> MatchRecord:
    """Let gnubg play a match against itself and save it; the left player plays at `plies[0]`."""
    settings = [
        f"set player {player} {what} evaluation plies {plies[player]}"
        for player in (0, 1)
        for what in ("chequer", "cube")
    ]
    play = [f"set seed {seed}", "set threads 1", f"new match {length}", f"export match mat {path}"]
    gnubg._run([*GNUBG_PLAYS_GNUBG, *settings, *play])
    return read_match(path)


def statistics(gnubg, path: Path, plies: int = 0) -> list[dict[str, list[float]]]:
    """Return gnubg's statistics of plays, cube decisions and luck of both players, by line."""
    depths = [f"set analysis {what} evaluation plies {plies}" for what in ("chequerplay", "cubedecision")]
    commands = [f"import mat {path}", "analyse match", "show statistics match"]
    said = gnubg._run([*ONLY_READ, "set threads 1", *depths, *commands], seconds=600)
    return [figures_under(said, heading) for heading in ("Chequerplay", "Cube", "Luck")]


def figures_under(said: str, heading: str) -> dict[str, list[float]]:
    """Return the figures below one of the headings of gnubg's statistics."""
    part = re.split(r"\n\S+ statistics\n", said.partition(f"\n{heading} statistics\n")[2])[0]
    found = {}
    for line in part.splitlines():
        # Brackets contain the same in match winning chances, or as an average.
        if match := re.match(r"(.*?) (?:\(.*?\)+)? {2,}([-+]?[\d.]+)(?: +\(.*?\))? +([-+]?[\d.]+)", line):
            found[match[1].strip()] = [float(match[2]), float(match[3])]
    return found


@pytest.mark.parametrize("seed", [3, 21])
def test_gnubg_counts_and_judges_alike(gnubg, tmp_path, seed):
    path = tmp_path / "match.mat"
    found = analyse_match(played_by_gnubg(gnubg, path, (2, 0), 3, seed), load("gnubg").evaluator, jobs=1)
    players = found.players
    plays, cube, luck = statistics(gnubg, path)
    assert plays["Total moves"] == [one.chequer.decisions + one.forced for one in players]
    assert plays["Unforced moves"] == [one.chequer.decisions for one in players]
    for number, ours in enumerate(players):
        # gnubg's values of plays and rolls are cubeful, motif's are not, hence the tolerance.
        total = -plays["Error total EMG"][number]
        assert ours.chequer.total == pytest.approx(total, abs=0.25 + 0.25 * total)
        assert ours.luck.total == pytest.approx(luck["Luck total EMG"][number], abs=2)
        assert ours.cube.decisions == pytest.approx(cube["Close or actual cube decisions"][number], abs=1)
        assert ours.cube.total == pytest.approx(-cube["Error total EMG"][number], abs=0.02)


@pytest.mark.slow
def test_gnubg_2_ply_ranks_above_0_ply_above_pubeval(gnubg, tmp_path):
    """docs/explanation/lab-notes.md has the figures of many more matches."""
    judge = load_evaluator("latest@1")
    two_plies, no_ply = [], []
    for seed in range(1, 25):
        # Each plays on the left in every other match.
        plies = (2, 0) if seed % 2 else (0, 2)
        record = played_by_gnubg(gnubg, tmp_path / f"{seed}.mat", plies, 7, seed)
        found = analyse_match(record, judge, worst=0)
        two_plies.append(found.players[plies.index(2)].chequer)
        no_ply.append(found.players[plies.index(0)].chequer)
    best, best_se = rate_of(two_plies)
    good, good_se = rate_of(no_ply)
    assert best < good
    session = pubeval_against_gnubg(20)
    gnubg_rate, pubeval_rate = (player.chequer for player in session.players)
    assert pubeval_rate.rate - gnubg_rate.rate > 4 * (pubeval_rate.se**2 + gnubg_rate.se**2) ** 0.5
    assert pubeval_rate.rate > max(best + 4 * best_se, good + 4 * good_se)


@pytest.mark.slow
def test_rates_and_cube_errors_of_many_matches_are_gnubgs(gnubg, tmp_path):
    """docs/how-to/match-analysis.md has the figures."""
    judge, cubes = load_evaluator("latest@2"), []
    ours, theirs = np.zeros(2), np.zeros(2)
    for seed in range(_SEED, _SEED + MATCHES):
        path = tmp_path / f"{seed}.mat"
        found = analyse_match(played_by_gnubg(gnubg, path, (0, 0), 7, seed), judge, worst=0)
        for player in found.players:
            ours += player.overall.total, player.overall.decisions
        plays, cube, _ = statistics(gnubg, path, plies=2)
        lost = sum(plays["Error total EMG"]) + sum(cube["Error total EMG"])
        counted = sum(plays["Unforced moves"]) + sum(cube["Close or actual cube decisions"])
        theirs += -lost, counted
        cubes += [one for one in found.decisions if not one.is_play and one.error > LARGE]
    rates = 1000 * np.array([ours[0] / ours[1], theirs[0] / theirs[1]])
    costs = [cost_by_gnubg(gnubg, one) for one in cubes]
    confirmed = sum(cost > 0 for cost in costs)
    listed = "\n".join(
        f"{one.moment.xgid} {one.done}: {one.error:.3f}, gnubg {cost:.3f}"
        for one, cost in zip(cubes, costs, strict=True)
    )
    print(f"motif {rates[0]:.2f}, gnubg {rates[1]:.2f} per decision; {confirmed} of {len(costs)} confirmed")
    print(listed)
    assert abs(rates[0] - rates[1]) <= RATES_APART
    assert confirmed >= CONFIRMED * len(costs), listed


def cost_by_gnubg(gnubg, one: MatchDecision) -> float:
    """Return what a cube action loses by gnubg's 2-ply."""
    ((_, equities, _),) = gnubg.cube_analyses([(one.moment.position, one.moment.state)], plies=2)
    single, take, drop = (equities[name] for name in ("double", "take", "pass"))
    doubled = min(take, drop)
    value = {"no double": single, "double": doubled, "take": take, "pass": drop}[one.done]
    return value - doubled if one.done in ("take", "pass") else max(single, doubled) - value


def rate_of(errors) -> tuple[float, float]:
    """Return the error rate of several matches together, and its standard error."""
    decisions = sum(one.decisions for one in errors)
    variance = sum((one.se * one.decisions) ** 2 for one in errors)
    return 1000 * sum(one.total for one in errors) / decisions, variance**0.5 / decisions


def pubeval_against_gnubg(games: int) -> MatchAnalysis:
    """Return money games without a cube; gnubg 0-ply plays on the left."""
    session = GameSession((Seat("gnubg", load("gnubg")), Seat("PubEval", load("pubeval"))))
    dice = SeededDice(5)
    for game in range(games):
        session.begin(dice.opening(game))
        while session.result is None:
            if session.roll is None:
                session.set_dice(dice.roll(game, session.ply))
            seat = session.seats[session.on_roll]
            session.play(seat.player.choose(session.position, session.roll))
    return analyse_match(session.record(), load_evaluator("latest@1"), cube=False, worst=0)
