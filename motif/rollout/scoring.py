"""What a game is played for.

``money``: a gammon counts two points and a backgammon three.  ``dmp``, double match point: whoever wins
the game wins the match.  ``no-gammons``: every win counts one point, as under the Jacoby rule while
nobody has turned the cube.  Without a cube the last two are the same game: equity = 2 win - 1, and
plays are chosen by the chance to win.
"""

import numpy as np
import numpy.typing as npt

from motif.evaluators.model import Model
from motif.evaluators.probabilities import WIN, equities
from motif.runtime.errors import SettingError, shown

MONEY = "money"
SCORINGS = (MONEY, "dmp", "no-gammons")


def check_scoring(scoring: str) -> None:
    """Raise `SettingError` unless `scoring` is one of `SCORINGS`."""
    if scoring not in SCORINGS:
        raise SettingError(
            f"--scoring must be {', '.join(SCORINGS[:-1])} or {SCORINGS[-1]}, not {shown(scoring)}"
        )


def scored_equities(probabilities: npt.NDArray[np.floating], scoring: str) -> npt.NDArray[np.float64]:
    """Cubeless equity (...,) of each row of (..., 5), -3 to 3 points for money, otherwise -1 to 1."""
    if scoring == MONEY:
        return equities(probabilities)
    return np.asarray(2.0 * probabilities[..., WIN] - 1, np.float64)


def playing_for(model: Model, scoring: str) -> Model:
    """The model, made to choose plays for `scoring`.

    A point table has one score for everything, and plays as it always does; so does a pre-filter.
    """
    return model if scoring == MONEY else model._replace(win_only=True)
