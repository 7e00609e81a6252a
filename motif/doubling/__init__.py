"""Whether to double or take: cube decisions for money and in matches.

`cube_decision` decides from a position's five cubeless probabilities and the state of the match, by
Janowski's model, and `cube_decision_at` exactly where few checkers are left to bear off (`exact_equities`);
`cubeful_equity` values a position with the cube where it lies; `match_equity_table` gives match-winning
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
