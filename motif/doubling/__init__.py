"""Cube decisions for money and in matches.

`cube_decision` decides by Janowski's model from the cubeless probabilities and the match state, with
lookahead, or exactly in bearoffs with few checkers (`exact_equities`). `cubeful_equities` returns equities
with the cube; `match_equity_table` returns a table of match-winning probabilities by score.
"""

from motif.doubling.decision import CubeDecision, cube_decision
from motif.doubling.equities import DEFAULT_EFFICIENCY, Efficiency, cubeful_equities
from motif.doubling.exact import CubeValues, exact_equities
from motif.doubling.match_equity import MatchEquityTable, match_equity_table

__all__ = [
    "DEFAULT_EFFICIENCY",
    "CubeDecision",
    "CubeValues",
    "Efficiency",
    "MatchEquityTable",
    "cube_decision",
    "cubeful_equities",
    "exact_equities",
    "match_equity_table",
]
