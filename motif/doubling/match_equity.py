"""Match equity tables: match-winning probabilities by score.

Scores are the points still needed ("away"). A table has the probabilities up to the Crawford game, which is
the 1-away row, and the trailer's probabilities after the Crawford game.

Tables are read in gnubg's XML format (`met.dtd`), type ``explicit``, for players of equal strength.
Kazaross-XG2 (Neil Kazaross, 2011) and Rockwell-Kazaross (David Rockwell and Neil Kazaross, 2008-2010) are
included; their files contain the notices.

Beyond the longest score of a table, the score difference is modelled as a random walk: a player who needs a
points against b points wins with probability Phi(k (b - a) / sqrt(a + b)), where k is chosen to match the
edge of the table.  After the Crawford game, the trailer's probability is extrapolated with the table's last
ratio for every two points.
"""

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from motif.board.match_state import MatchState
from motif.runtime.arrays import FloatArray
from motif.runtime.errors import SettingError, shown
from motif.runtime.files import text_of
from motif.runtime.limits import EQUITY_TABLE_FILE
from motif.runtime.settings import number_in

DEFAULT_TABLE = "kazaross-xg2"
TABLE_FILES = {"kazaross-xg2": "Kazaross-XG2.xml", "rockwell-kazaross": "Rockwell-Kazaross.xml"}
"""File of each included table."""

_SHORTEST = 3
_ENTITY = "<!ENTITY"
"""Start of an entity declaration; nested entities could expand a small file to any size."""
_ROUNDED = 0.005
"""Largest error, from rounding, of the sum of both players' chances: gnubg's ``ortega.xml`` needs 0.002."""


@dataclass(frozen=True, eq=False)
class MatchEquityTable:
    """Match-winning probabilities by score."""

    name: str
    description: str
    before: FloatArray
    """Match-winning probabilities (n, n) of a player ``row + 1`` away against an opponent ``column + 1``
    away; row 0 is the Crawford game.
    """
    after: FloatArray
    """Probabilities (n or n - 1,) of a trailer who is ``index + 1`` away after the Crawford game."""

    @property
    def length(self) -> int:
        """Largest score in the table, in points away."""
        return len(self.before)

    def chance(self, own_away: int, opponent_away: int, post_crawford: bool = False) -> float:
        """Return the match-winning probability at a score; 0 away or less is a won match.

        `post_crawford` says that the Crawford game has been played, so that one player is 1-away.  Raises
        `SettingError` if neither player is 1-away after it, or if both have won.
        """
        if own_away <= 0 or opponent_away <= 0:
            if own_away <= 0 and opponent_away <= 0:
                raise SettingError("a match cannot be won by both players")
            return float(own_away <= 0)
        if post_crawford:
            if min(own_away, opponent_away) != 1:
                raise SettingError(
                    f"after the Crawford game a player must be 1-away, not {own_away} and {opponent_away}"
                )
            if opponent_away == 1:
                return self._trailer(own_away)
            return 1 - self._trailer(opponent_away)
        if max(own_away, opponent_away) <= self.length:
            return float(self.before[own_away - 1, opponent_away - 1])
        if own_away > opponent_away:
            return self._beyond(own_away, opponent_away)
        return 1 - self._beyond(opponent_away, own_away)

    def after_game(self, state: MatchState, points: int) -> float:
        """Return the player on roll's probability after winning `points` (or losing, if negative)."""
        own, opponent = aways(state)
        post_crawford = state.crawford or own == 1 or opponent == 1
        own, opponent = own - max(points, 0), opponent - max(-points, 0)
        return self.chance(own, opponent, post_crawford and min(own, opponent) > 0)

    def _beyond(self, more: int, less: int) -> float:
        """Return the probability beyond the table of a player `more` away against an opponent `less` away."""
        # On the diagonal, there is no score difference from which to compute k.
        edge = min(less, self.length - 1)
        # Import here, because SciPy's special functions take a tenth of a second to import.
        from scipy.special import ndtr, ndtri

        step = ndtri(self.before[-1, edge - 1]) * np.sqrt(self.length + edge) / (edge - self.length)
        return float(ndtr(step * (less - more) / np.sqrt(more + less)))

    def _trailer(self, away: int) -> float:
        known = len(self.after)
        if away <= known:
            return float(self.after[away - 1])
        steps = (away - known + 1) // 2
        last = away - 2 * steps
        return float(self.after[last - 1] * (self.after[-1] / self.after[-3]) ** steps)


def aways(state: MatchState) -> tuple[int, int]:
    """Return the numbers of points that the player on roll and the opponent still need.

    Raises `SettingError` for money play and for a finished match.
    """
    if not state.length:
        raise SettingError("money play has no score")
    own, opponent = state.length - state.own_score, state.length - state.opponent_score
    if own <= 0 or opponent <= 0:
        raise SettingError(f"the match to {state.length} is over at {state.own_score}-{state.opponent_score}")
    return own, opponent


def match_equity_table(name: str = DEFAULT_TABLE) -> MatchEquityTable:
    """Return the table `name`: one of `TABLE_FILES`, or the path of a file in gnubg's XML format.

    Raises `SettingError` for an unknown name or an invalid file.
    """
    return _table(name.lower() if name.lower() in TABLE_FILES else name)


@lru_cache(maxsize=16)
def _table(name: str) -> MatchEquityTable:
    if name in TABLE_FILES:
        file = resources.files("motif").joinpath("data", "met", TABLE_FILES[name])
        return read_table(file.read_text(encoding="utf-8"), name)
    if not name.lower().endswith(".xml"):
        names = ", ".join(TABLE_FILES)
        raise SettingError(
            f"unknown match equity table {name!r}: it must be {names} or a file in gnubg's format, NAME.xml"
        )
    return read_table(text_of(Path(name), SettingError, EQUITY_TABLE_FILE), name)


def read_table(text: str, name: str) -> MatchEquityTable:
    """Parse the XML `text` of a table; raise `SettingError`, which names the file `name` and the fault."""
    if _ENTITY in text:
        raise SettingError(f"{name}: invalid match equity table: entities are not supported")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise SettingError(f"{name}: invalid match equity table: {error}") from None
    before = _rows(root, "pre-crawford-table", name)
    after = _rows(root, "post-crawford-table", name)
    length = len(before)
    if length < _SHORTEST or any(len(row) != length for row in before):
        raise SettingError(f"{name}: the pre-Crawford table must be square, with at least {_SHORTEST} rows")
    if len(after) not in (1, 2) or any(len(row) < max(length - 1, _SHORTEST) for row in after):
        raise SettingError(f"{name}: the post-Crawford table must have {length} chances")
    if after[0] != after[-1]:
        raise SettingError(f"{name}: a table for players of different strength is not supported")
    pre, post = np.array(before), np.array(after[0][:length])
    missing = 1 - (pre + pre.T)
    if np.abs(missing).max() > _ROUNDED:
        raise SettingError(f"{name}: the chances of the two players must add up to 1")
    pre += missing / 2
    if (np.diff(pre, axis=0) > 0).any() or (np.diff(post) > 0).any():
        raise SettingError(f"{name}: the chances must not increase with the points needed")
    return MatchEquityTable(name, (root.findtext("info/description") or "").strip(), pre, post)


def _rows(root: ElementTree.Element, name: str, file: str) -> list[list[float]]:
    """Return the rows of the table `name`; raise `SettingError` for an invalid probability."""
    tables = root.findall(name)
    if root.tag != "met" or not tables:
        raise SettingError(f"{file}: invalid match equity table: {name} is missing")
    if any(table.get("type") != "explicit" for table in tables):
        raise SettingError(f"{file}: the {name} must be of type explicit")
    rows: list[list[float]] = []
    for row in (row for table in tables for row in table.findall("row")):
        chances = []
        for cell in row.findall("me"):
            chance = number_in(cell.text or "")
            if not 0 < chance < 1:
                raise SettingError(f"{file}: {name}: {shown((cell.text or '').strip())} is not a probability")
            chances.append(chance)
        rows.append(chances)
    return rows
