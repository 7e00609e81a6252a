"""gnubg's marks for errors and luck, and names for error rates and performance ratings.

An error is the equity lost by a decision, normalised so that winning a single game at the current cube is
+1 and losing it -1. A millipoint is a thousandth of this unit.

Source: gnubg 1.07.001.  Marks are the defaults of its ``set analysis threshold`` (gnubg.c, ``arSkillLevel``
and ``arLuckLevel``); names of error rates are ``aszRating`` and ``arThrsRating`` of analysis.c.
"""

from typing import Literal

MILLIPOINTS = 1000
"""Millipoints per point."""
Mark = Literal["", "doubtful", "bad", "very bad"]

DOUBTFUL, BAD, VERY_BAD = 0.03, 0.06, 0.12
"""Smallest error for each mark."""
MARKS: tuple[tuple[float, Mark], ...] = ((VERY_BAD, "very bad"), (BAD, "bad"), (DOUBTFUL, "doubtful"))
SIGNS: dict[Mark, str] = {"": "", "doubtful": "?!", "bad": "?", "very bad": "??"}
"""Symbol shown after a play with each mark, in order of the size of the error."""
BLUNDER = VERY_BAD
"""Smallest error that counts as a blunder, which gnubg marks ``??``."""
LUCK_MARKS: tuple[tuple[float, str], ...] = ((0.6, "very "), (0.3, ""))
"""Smallest luck, good or bad, for the marks "very lucky" (or unlucky) and "lucky" (or unlucky)."""
RATINGS: tuple[tuple[float, str], ...] = (
    (2, "supernatural"),
    (5, "world class"),
    (8, "expert"),
    (12, "advanced"),
    (18, "intermediate"),
    (26, "casual player"),
    (35, "beginner"),
)
"""Names of error rates, each with its upper limit in millipoints per decision."""
LOWEST_RATING = "awful"
PR_RATINGS: tuple[tuple[float, str], ...] = (
    (2.5, "world champion"),
    (5, "world class"),
    (7.5, "expert"),
    (12.5, "advanced"),
    (17.5, "intermediate"),
    (22.5, "casual player"),
    (30, "beginner"),
)
"""eXtreme Gammon's names for levels of play, each with its upper limit of the performance rating (PR)."""
LOWEST_PR_RATING = "distracted"
MIN_RATED = 20
"""Decisions below which an error rate gets no name: fewer say little about a player."""


def mark_of(error: float) -> Mark:
    """Return the mark of an error in normalised equity."""
    return next((mark for limit, mark in MARKS if error >= limit), "")


def rating(error_rate: float) -> str:
    """Return the name of an error rate in millipoints per decision."""
    return next((word for limit, word in RATINGS if error_rate < limit), LOWEST_RATING)


def pr_rating(pr: float) -> str:
    """Return eXtreme Gammon's name for a performance rating."""
    return next((word for limit, word in PR_RATINGS if pr < limit), LOWEST_PR_RATING)
