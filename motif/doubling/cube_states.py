"""The `CubeModel` of a match state, with all cube states that can follow by doubles."""

from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from motif.board.match_state import MatchState, owner_seen_by
from motif.board.rules import may_double
from motif.doubling.equities import (
    Efficiency,
    EquityScale,
    as_efficiency,
    check_valued,
    fixed_cube_model,
    scale,
)
from motif.doubling.exact import (
    MONEY_COLUMNS,
    cube_levels,
    level_after_take,
    levels_after_doubles,
    match_values,
)
from motif.doubling.match_equity import MatchEquityTable
from motif.evaluators.bearoff.two_sided_cubes import money_cubes
from motif.evaluators.cube_model import (
    MAX_STATES,
    NO_TABLE,
    CubeModel,
    ExactValues,
    share_table,
    without_cube,
)
from motif.runtime.arrays import FloatArray
from motif.runtime.sized_cache import kept_within

MATCH_CHECKERS = 4
"""Maximum number of checkers per side for which match values of all positions are computed."""
_KEPT = 256
_MAX_BYTES = 128_000_000
"""Maximum size of the exact tables of match values in the cache, 1 to 9 MB each."""


def cube_model_for(
    state: MatchState, table: MatchEquityTable | None = None, efficiency: float | Efficiency | None = None
) -> CubeModel:
    """Return the cube model of `state`, whose player on roll is side 0.

    Matches use `table`, by default Kazaross-XG2, with exact values for up to `MATCH_CHECKERS` checkers per
    side; money play has exact tables for up to six checkers.  `efficiency` is one number or a value for
    each class (by default gnubg's). Raises `SettingError` for a finished match or an invalid efficiency.
    """
    check_valued(state)
    state = replace(state, dice=None, doubled=False, decision="me", player=0)
    # The rules of money play have no effect in a match.
    if state.length:
        state = replace(state, jacoby=False, beavers=False, raccoons=False)
    model = _without_table(state, table, as_efficiency(efficiency))
    exact = _match_table(_first_state(state), table) if state.length else _money_table()
    return model._replace(exact=model.exact._replace(table=exact))


@lru_cache(maxsize=_KEPT)
def _without_table(state: MatchState, table: MatchEquityTable | None, efficiency: Efficiency) -> CubeModel:
    """Return the model of `cube_model_for` without its exact table, which is large."""
    levels = cube_levels(state)
    unit = scale(state, table)
    parts = []
    for shown, owner in levels:
        there = replace(state, cube=shown, cube_owner=owner_seen_by(owner, 0))
        own_unit = unit if state.length else EquityScale(half=state.cube / shown)
        parts.append(fixed_cube_model(there, table, own_unit, efficiency))
    cube = np.array([shown for shown, _ in levels], np.int64)
    if state.length:
        places = cube_levels(_first_state(state))
        column = np.array([[places[level]] * 2 for level in levels])
        like, ratio = np.arange(len(levels)), np.ones(len(levels))
        middle, factor = np.array([unit.middle, 1 - unit.middle]), np.full(len(levels), 1 / unit.half)
    else:
        owners = [owner for _, owner in levels]
        like = np.array([owners.index(owner) for owner in owners])
        ratio = cube / cube[like]
        column = np.array(
            [[MONEY_COLUMNS[owner_seen_by(level[1], side)] for side in (0, 1)] for level in levels]
        )
        middle, factor = np.zeros(2), cube / state.cube
    assert like.max() < MAX_STATES
    by_part = [part.equities[0] for part in parts]
    most = max(equities.shape[1] for equities in by_part)
    padded = [np.pad(equities, ((0, 0), (0, most - equities.shape[1]), (0, 0))) for equities in by_part]
    return CubeModel(
        0,
        np.concatenate([part.kind for part in parts]),
        np.concatenate([part.owner for part in parts]),
        np.concatenate([part.last for part in parts]),
        np.stack(padded),
        np.concatenate([part.played_out for part in parts]),
        parts[0].efficiency,
        cube,
        levels_after_doubles(state, levels).T.copy(),
        like.astype(np.int64),
        ratio,
        state.beavers,
        ExactValues(NO_TABLE, column.astype(np.int64), middle, factor),
    )


@kept_within(_MAX_BYTES, lambda table: table.nbytes)
def _match_table(state: MatchState, table: MatchEquityTable | None) -> FloatArray:
    if state.own_score <= state.opponent_score:
        values = match_values(state, MATCH_CHECKERS, table)
    else:  # those of the mirrored score with the sides exchanged, which takes a tenth of the time
        mirrored = replace(state.switch_sides(), player=0)
        places = cube_levels(mirrored)
        columns = [places[cube, owner if owner is None else 1 - owner] for cube, owner in cube_levels(state)]
        values = np.take(_match_table(mirrored, table)[::-1], columns, axis=-1)
    return share_table(values, partial(_match_table, state, table))


def state_after_take(state: MatchState) -> int:
    """Return the number of the cube state after double and take in `cube_model_for` the `state`.

    It is 0, the number of `state`, if the player on roll may not double, and if a double changes nothing
    because neither player can use the cube.
    """
    return level_after_take(state, cube_levels(state)) if may_double(state) else 0


@lru_cache(maxsize=1)
def _money_table() -> FloatArray:
    return share_table(money_cubes()[None], _money_table)


def _first_state(state: MatchState) -> MatchState:
    """Return the state before the first double, if possible, because its exact values cover every cube."""
    first = replace(state, cube=1, cube_owner="centre")
    return first if cube_levels(state).keys() <= cube_levels(first).keys() else state


@lru_cache(maxsize=_KEPT)
def without_doubles(state: MatchState) -> CubeModel:
    """Return a model without further doubles, for the cube in `state`."""
    return without_cube(cube_model_for(state))
