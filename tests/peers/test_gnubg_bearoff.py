"""The bearoff tables that gnubg ships and makes, compared with motif's: every position of both.

gnubg stores probabilities and equities as 16-bit fractions, and computes each table from the stored values.
Where rounding hides which of two plays needs fewer rolls, gnubg may choose the other play. So its
distributions are compared twice: with motif's, and with those of the plays that gnubg's stored means imply,
which must agree up to rounding.

The formats, as the files show: 40 bytes of header (``gnubg-OS-06-15-1-1-0``: 6 points, 15 checkers, with
gammons, compressed; ``gnubg-TS-06-06-1``: 6 points, 6 checkers, cubeful). One-sided: 8 bytes per position
(where its probabilities start, how many there are, and the number of rolls of the first, for all checkers and
then for the first of fifteen), then the probabilities, in 1/65535. Two-sided: four numbers per pair: the
cubeless equity, then the equities without a double before this roll, with the cube owned by the player on
roll, in the centre, and owned by the opponent; 0 to 65535 stands for -1 to 1.
"""

from pathlib import Path

import numpy as np
import pytest

from motif.board.movegen import MAX_PLAYS, ROLL_COUNTS, ROLLS, new_play_buffer
from motif.compiler.jit import kernel
from motif.evaluators.bearoff import bearoff_tables
from motif.evaluators.bearoff.lookup import (
    FIRST_FULL,
    FIRST_OFF,
    HOME_POSITIONS,
    TWO_SIDED_POSITIONS,
    home_words,
)
from motif.evaluators.bearoff.one_sided import home_plays
from motif.evaluators.bearoff.tables import cubeless_equities, distribution, mean_rolls
from motif.evaluators.bearoff.two_sided_cubes import CENTRED, OPPONENTS, OWN, money_cubes

FOLDERS = [
    Path("/usr/share/gnubg"),
    Path("/usr/lib/gnubg"),
    Path("/var/lib/gnubg"),
    Path("/usr/local/share/gnubg"),
]
HEADER = 40
ROLLS_KEPT = 32
ONE = 65535
ENTRY = np.dtype([("start", "<u4"), ("all", "u1"), ("all_from", "u1"), ("first", "u1"), ("first_from", "u1")])


def contents_of(name: str, magic: bytes) -> bytes:
    """Return the contents of gnubg's file `name` after the header."""
    for path in (folder / name for folder in FOLDERS):
        if path.is_file():
            contents = path.read_bytes()
            if not contents.startswith(magic):
                pytest.skip(f"{path} has another format: {contents[:20]!r}")
            return contents[HEADER:]
    pytest.skip(
        f"gnubg's {name} is not installed (Debian: apt install gnubg-data, or gnubg for a two-sided table)"
    )


@pytest.fixture(scope="module")
def stored():
    """Return gnubg's probabilities (2, 54264, 32), in 1/65535: for all checkers, and for the first."""
    contents = contents_of("gnubg_os0.bd", b"gnubg-OS-06-15-1-1-0")
    entries = np.frombuffer(contents, ENTRY, HOME_POSITIONS)
    chances = np.frombuffer(contents[entries.nbytes :], "<u2").astype(np.int64)
    found = np.zeros((2, HOME_POSITIONS, ROLLS_KEPT), np.int64)
    for number, (start, count, fewest, first_count, first_fewest) in enumerate(entries.tolist()):
        end = start + count
        found[0, number, fewest : fewest + count] = chances[start:end]
        found[1, number, first_fewest : first_fewest + first_count] = chances[end : end + first_count]
    return found


@pytest.fixture(scope="module")
def ours():
    """Return motif's probabilities, in the same form, not rounded."""
    tables = bearoff_tables()
    found = np.zeros((2, HOME_POSITIONS, ROLLS_KEPT))
    for number in range(HOME_POSITIONS):
        chances = distribution(tables, number)
        found[0, number, : len(chances)] = chances * ONE
    found[1, :FIRST_FULL, 0] = ONE
    for number in range(FIRST_FULL, HOME_POSITIONS):
        chances = distribution(tables, number + FIRST_OFF)
        found[1, number, : len(chances)] = chances * ONE
    return found


@kernel
def by_plays_of(means, words, buffer, chances):
    """Fill `chances` (n, rolls) with distributions by the plays that leave the lowest of `means` (n,).

    Of plays with equal means, the highest number is taken: with the lowest, a few hundred positions differ.
    """
    board = np.zeros(8, np.int64)
    found = np.empty(MAX_PLAYS, np.int64)
    chances[0, 0] = 1
    for number in range(1, chances.shape[0]):
        for roll in range(ROLLS.shape[0]):
            count = home_plays(words[number], ROLLS[roll, 0], ROLLS[roll, 1], board, buffer, found)
            best = found[0]
            for k in range(1, count):
                after = found[k]
                if means[after] < means[best] or (means[after] == means[best] and after > best):
                    best = after
            for n in range(1, chances.shape[1]):
                chances[number, n] += ROLL_COUNTS[roll] * chances[best, n - 1] / 36


def test_mean_rolls_agree(stored):
    means = stored[0] @ np.arange(ROLLS_KEPT) / ONE
    assert np.abs(means - mean_rolls(bearoff_tables())).max() < 13 / ONE


def test_distributions_agree_except_for_plays_decided_by_rounding(stored, ours):
    apart = np.abs(stored[0] - ours[0]).max(axis=1)
    assert np.quantile(apart, 0.99) < 4
    assert apart.max() < 200


def test_distributions_of_gnubgs_plays_agree_up_to_rounding(stored):
    chances = np.zeros((HOME_POSITIONS, ROLLS_KEPT))
    means = (stored[0] * np.arange(ROLLS_KEPT)).sum(axis=1)
    by_plays_of(means, home_words(HOME_POSITIONS), new_play_buffer(), chances)
    assert np.abs(stored[0] - chances * ONE).max() < 4


def test_rolls_until_the_first_checker_is_off_agree(stored, ours):
    assert np.abs(stored[1] - ours[1]).max() < 2


@pytest.fixture(scope="module")
def two_sided():
    """Return gnubg's equities (924, 924, 4): cubeless, and with the cube in three places."""
    contents = contents_of("gnubg_ts0.bd", b"gnubg-TS-06-06-1")
    stored = np.frombuffer(contents, "<u2").reshape(TWO_SIDED_POSITIONS, TWO_SIDED_POSITIONS, 4)
    return stored / (ONE / 2) - 1


def test_two_sided_equities_agree(two_sided):
    # The equity of a finished game is never looked up.
    apart = np.abs(two_sided[..., 0] - cubeless_equities(bearoff_tables()))[1:, 1:]
    assert apart.max() * ONE / 2 < 4


def test_cubeful_equities_agree(two_sided):
    apart = np.abs(two_sided[..., 1:] - money_cubes()[..., [OWN, CENTRED, OPPONENTS]])[1:, 1:]
    assert apart.max() < 0.0002


@pytest.mark.parametrize("owner", [CENTRED, OWN])
def test_cube_actions_agree_except_for_ties_decided_by_rounding(two_sided, owner):
    ours, theirs = money_cubes()[1:, 1:], np.empty((TWO_SIDED_POSITIONS - 1, TWO_SIDED_POSITIONS - 1, 3))
    theirs[..., [OWN, CENTRED, OPPONENTS]] = two_sided[1:, 1:, 1:]
    actions, margins = [], []
    for values in (ours, theirs):
        taken = 2 * values[..., OPPONENTS]
        wins = np.minimum(taken, 1) - values[..., owner]
        actions.append(np.stack([wins >= 0, taken < 1]))
        margins.append(np.stack([np.abs(wins), np.abs(taken - 1)]))
    apart = actions[0] != actions[1]
    assert apart.mean() < 1e-4
    assert margins[0][apart].max() < 0.0002
