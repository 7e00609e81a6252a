"""Marks for errors and luck, and words for players: gnubg's, so that figures and words compare with its own.

An error is the equity that a decision costs, normalised so that winning a single game at the present cube is
+1 and losing it -1.  A thousandth of it is a millipoint.

Source: gnubg 1.07.001.  Marks are the defaults of its ``set analysis threshold`` (gnubg.c, ``arSkillLevel``
and ``arLuckLevel``); words for error rates are ``aszRating`` and ``arThrsRating`` of analysis.c.
"""

from typing import Literal

Mark = Literal["", "doubtful", "bad", "very bad"]

DOUBTFUL, BAD, VERY_BAD = 0.03, 0.06, 0.12
"""Errors from which on a decision is marked so."""
MARKS: tuple[tuple[float, Mark], ...] = ((VERY_BAD, "very bad"), (BAD, "bad"), (DOUBTFUL, "doubtful"))
SIGNS: dict[Mark, str] = {"": "", "doubtful": "?!", "bad": "?", "very bad": "??"}
"""What stands behind a play that is marked."""
BLUNDER = VERY_BAD
"""The error from which on a decision is called a blunder: what gnubg marks ``??``."""
LUCK_MARKS: tuple[tuple[float, str], ...] = ((0.6, "very "), (0.3, ""))
"""Luck of a roll, either way, from which on it is called very lucky, and lucky, or as much unlucky."""
RATINGS: tuple[tuple[float, str], ...] = (
    (2, "supernatural"),
    (5, "world class"),
    (8, "expert"),
    (12, "advanced"),
    (18, "intermediate"),
    (26, "casual player"),
    (35, "beginner"),
)
"""Error rates, in millipoints per decision, below which a player is called so."""
LOWEST_RATING = "awful"


def mark_of(error: float) -> Mark:
    """Give the mark for an error, in normalised equity."""
    return next((mark for limit, mark in MARKS if error >= limit), "")


def rating(error_rate: float) -> str:
    """Give the word for a player's error rate, in millipoints per decision."""
    return next((word for limit, word in RATINGS if error_rate < limit), LOWEST_RATING)
