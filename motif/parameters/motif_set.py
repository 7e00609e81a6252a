"""The set ``motif``: 34 measurements a side and two that speak of both.

They follow the published ideas of Berliner's BKG 9.8, of Tesauro's and gnubg's input lists and of
Keith's Motif, each written from its definition in the sentence beside it; `motif_measures` takes them.
"""

from motif.parameters.common import BAR, BORNE_OFF, LEAD, PIP_COUNT, REAR
from motif.parameters.registry import SetBuilder

_builder = SetBuilder("motif", revision=2)
_side, _shared, _difference = _builder.side, _builder.shared, _builder.difference

PIPS = _side(**PIP_COUNT)
OFF = _side(**BORNE_OFF)
NOTHING_OFF = _side(
    "nothing_off", "whether {side} has yet to bear off a checker", unit="yes or no", full=1, group="race"
)
BRING_HOME = _side(
    "bring_home", "pips that {side} needs to bring every checker home", unit="pips", full=100, group="race"
)
REARMOST = _side(**REAR)
SPREAD = _side(
    "spread",
    "squared distance of {side}'s checkers from the 8 point, added up (the bar is 25)",
    unit="squared pips",
    full=1000,
    group="timing",
)
STACKED = _side(
    "stacked",
    "checkers of {side} above the third on any point or on the bar",
    unit="checkers",
    full=6,
    group="timing",
)
SPARES_HOME = _side(
    "spares_home",
    "checkers of {side} above the second on home points",
    unit="checkers",
    full=6,
    group="timing",
)
DEEP = _side(
    "deep_checkers",
    "checkers of {side} buried on the ace and deuce points",
    unit="checkers",
    full=6,
    group="timing",
)
ON_BAR = _side(**BAR)
HOME_MADE = _side("home_points", "home points that {side} has made", unit="points", full=6, group="blocking")
OUTFIELD_MADE = _side(
    "outfield_points",
    "points that {side} has made outside both home boards",
    unit="points",
    full=6,
    group="blocking",
)
PRIME = _side(
    "longest_prime",
    "longest run of points in a row that {side} has made",
    unit="points",
    full=6,
    group="blocking",
)
CONTAINED = _side(
    "contained",
    "rolls of 36 that {other}'s rearmost checker cannot play in full (of a double two dice) "
    "because of {side}'s points",
    unit="rolls",
    full=36,
    group="blocking",
)
BEST_BLOCK = _side(
    "best_block",
    "rolls of 36 that a checker could not play in full (of a double two dice) because of {side}'s "
    "points, at the worst of the places from {other}'s 16 point back to the bar",
    unit="rolls",
    full=36,
    group="blocking",
)
BOARD_ON_BAR = _side(
    "board_against_bar",
    "square of the number of home points that {side} has made, while {other} is on the bar",
    unit="squared points",
    full=36,
    group="attack",
)
BLOTS_HOME = _side("blots_home", "blots of {side} in the home board", unit="blots", full=3, group="safety")
BLOTS_ELSEWHERE = _side(
    "blots_elsewhere", "blots of {side} outside the home board", unit="blots", full=4, group="safety"
)
HITTING = _side(
    "hitting_rolls",
    "rolls of 36 with which {side} can hit (with several checkers on the bar: by entering)",
    unit="rolls",
    full=36,
    group="attack",
)
DIRECT = _side(
    "direct_shots",
    "rolls of 36 with which {side} can hit with one die",
    unit="rolls",
    full=36,
    group="attack",
)
HIT_LOSS = _side(
    "hit_loss",
    "pips that {other} loses to {side}'s next roll on average, the dearest blot of each roll counted",
    unit="pips",
    full=15,
    group="attack",
)
BACK = _side(
    "back_checkers",
    "checkers of {side} in {other}'s home board or on the bar",
    unit="checkers",
    full=4,
    group="back game",
)
ADVANCED_ANCHOR = _side(
    "advanced_anchor",
    "points that {side} has made among {other}'s bar, five and four points",
    unit="points",
    full=2,
    group="back game",
)
DEEP_ANCHORS = _side(
    "deep_anchors",
    "points that {side} has made among {other}'s three, deuce and ace points",
    unit="points",
    full=2,
    group="back game",
)
MIDFIELD = _side(
    "midfield_checkers",
    "checkers of {side} on the points 9 to 15, where they help to bring others home",
    unit="checkers",
    full=6,
    group="mobility",
)
MOBILITY = _side(
    "mobility",
    "rolls of 36 that each of {side}'s checkers outside the home board can play in full (of a double "
    "two dice), times its pips to get home, added up",
    unit="rolls x pips",
    full=3600,
    group="mobility",
)
SECOND_REAR = _side(
    "second_rear", "point of {side}'s rearmost checker but one (25 is the bar)",
    unit="points", full=25, group="race",
)  # fmt: skip
TO_PASS = _side(
    "pips_to_pass",
    "pips that {side}'s checkers need to pass {other}'s rearmost checker",
    unit="pips",
    full=100,
    group="race",
)
PASSED = _side(
    "pips_past",
    "pips left to those of {side}'s checkers that have met or passed {other}'s rearmost checker",
    unit="pips",
    full=50,
    group="race",
)
GAP = _side(
    "widest_gap",
    "pips beyond six between the two neighbouring places of {side}'s checkers that lie farthest apart",
    unit="pips",
    full=12,
    group="timing",
)
SPARE_PIPS = _side(
    "spare_pips",
    "pips that {side} can play without breaking a point or moving his back checkers: checkers beyond the "
    "second down to the ace point at home, such checkers and blots down to the six point elsewhere",
    unit="pips",
    full=40,
    group="timing",
)
BLOTS_BACK = _side(
    "blots_back", "blots of {side} in {other}'s home board", unit="blots", full=2, group="safety"
)
FACED = _side(
    "points_ahead",
    "points that {other} has made among the six in front of {side}'s rearmost checker",
    unit="points",
    full=6,
    group="blocking",
)
HELD_BACK = _side(
    "board_against_back",
    "home points that {side} has made, times {other}'s checkers in that board or on the bar",
    unit="points x checkers",
    full=12,
    group="attack",
)
PIP_LEAD = _difference(**LEAD)
CONTACT_LEFT = _shared(
    "contact_left",
    "pips by which the two rearmost checkers still have to pass each other",
    unit="pips",
    full=25,
    group="timing",
)

MOTIF_SET = _builder.build()
