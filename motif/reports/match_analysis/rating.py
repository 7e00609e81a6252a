"""How strong a player is who makes so many millipoints of errors a decision, in words.

The words and thresholds are gnubg's (analysis.c, `aszRating`, `arThrsRating`), so that ratings can be
compared; they take the analysing player's word for what an error is.
"""

THRESHOLDS: tuple[tuple[float, str], ...] = (
    (2, "supernatural"),
    (5, "world class"),
    (8, "expert"),
    (12, "advanced"),
    (18, "intermediate"),
    (26, "casual player"),
    (35, "beginner"),
)
"""Millipoints a decision below which a word holds, ascending."""
WORST = "awful"


def rating(error_rate: float) -> str:
    """The word for `error_rate`, in millipoints a decision."""
    return next((word for limit, word in THRESHOLDS if error_rate < limit), WORST)
