"""Cube decisions for money and in matches.

`cube_decision` decides by Janowski's model from the cubeless probabilities and the match state;
`cube_decision_at` decides exactly in bearoffs with few checkers (`exact_equities`). `cubeful_equity`
returns the equity of a position with the cube; `match_equity_table` returns a table of match-winning
probabilities by score.
"""

from motif.doubling.decision import CubeDecision, cube_decision, cube_decision_at, cube_decision_by
from motif.doubling.equities import DEFAULT_EFFICIENCY, Efficiency, cubeful_equities, cubeful_equity
from motif.doubling.exact import CubeValues, exact_equities
from motif.doubling.match_equity import MatchEquityTable, match_equity_table

__all__ = [
    "DEFAULT_EFFICIENCY",
    "CubeDecision",
    "CubeValues",
    "Efficiency",
    "MatchEquityTable",
    "cube_decision",
    "cube_decision_at",
    "cube_decision_by",
    "cubeful_equities",
    "cubeful_equity",
    "exact_equities",
    "match_equity_table",
]
