"""The kernels that read a `Model`: values, ranking scores, and the choice of a play.

Scores rank plays; they are values BEFORE the squash, because squashed floats tie near 0 and 1.
"""

import numpy as np

from motif.board.masks import made, occupied
from motif.board.movegen import generate, generate_scored
from motif.board.outcome import checkers_on_board, finished_points
from motif.board.position import CHECKERS, OPPONENT_HALF, PACKED_SIZE, PACKED_WORDS, pack, unpack
from motif.evaluators.bearoff.lookup import bearoff_probabilities, covered
from motif.evaluators.calibration import calibrated
from motif.evaluators.model import ABSENT, EQUITY_HEAD, RANDOM, TABLE, WEIGHTS
from motif.evaluators.point_table import points_of_side, table_score_of_mover
from motif.evaluators.probabilities import (
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
    agree_with_equity,
    certain,
    equity_of,
    equity_to_raw,
    make_consistent,
    probability_to_raw,
    squash_equity,
    squash_probability,
    turn_value,
)
from motif.parameters.game_plan import NO_PLAN, plan_of
from motif.parameters.position_class import CLASS_NAMES, classify
from motif.parameters.sets import measure, take_places
from motif.runtime.jit import inline_kernel, kernel, lean_kernel
from motif.runtime.simd import weighted_form
from motif.runtime.streams import next_below

_FINISHED_SCORE = 1e6


@lean_kernel
def _with_points(model, form, packed, places, raw):
    """`raw` with the point terms of a form, for a packed board whose occupied places are known."""
    tables = model.points[form]
    own = points_of_side(packed, 0, places[0], tables[0])
    return raw + (own + points_of_side(packed, OPPONENT_HALF, places[1], tables[1]))


@inline_kernel
def _head(model, slot, head, packed, places, features):
    """Raw sum of a head that is present."""
    form = model.form[slot, head]
    tiles = model.tiles[form]
    if not model.quadratic[form]:
        tiles = tiles[:0]
    raw = model.bias[form] + weighted_form(features, model.linear[form], tiles, model.blocks)
    if model.pointed[form]:
        raw = _with_points(model, form, packed, places, raw)
    return np.float64(raw)


@inline_kernel
def _probability(model, slot, head, packed, places, features):
    if model.form[slot, head] == ABSENT:
        return 0.0
    return squash_probability(_head(model, slot, head, packed, places, features))


@inline_kernel
def _fill_probabilities(model, words, packed, slot, places, features, row):
    """Write the five probabilities of an unfinished position; no gammon head is read in vain."""
    own_off = CHECKERS - checkers_on_board(words, 0)
    opponent_off = CHECKERS - checkers_on_board(words, PACKED_WORDS // 2)
    row[WIN] = _probability(model, slot, WIN, packed, places, features)
    row[WIN_GAMMON] = row[WIN_BACKGAMMON] = row[LOSE_GAMMON] = row[LOSE_BACKGAMMON] = 0.0
    if opponent_off == 0:
        row[WIN_GAMMON] = _probability(model, slot, WIN_GAMMON, packed, places, features)
        row[WIN_BACKGAMMON] = _probability(model, slot, WIN_BACKGAMMON, packed, places, features)
    if own_off == 0:
        row[LOSE_GAMMON] = _probability(model, slot, LOSE_GAMMON, packed, places, features)
        row[LOSE_BACKGAMMON] = _probability(model, slot, LOSE_BACKGAMMON, packed, places, features)
    make_consistent(row, own_off, opponent_off)


@inline_kernel
def _agree_with_ranking(model, slot, packed, places, features, row):
    """Make the five probabilities' equity that by which plays are ranked, as far as it goes."""
    if model.form[slot, EQUITY_HEAD] != ABSENT and not model.win_only:
        agree_with_equity(row, squash_equity(_head(model, slot, EQUITY_HEAD, packed, places, features)))


@inline_kernel
def _calibrate(model, slot, row):
    """Make the win chance of five consistent estimates what it really stands for; a gammon chance that is
    more than the win or loss that it is part of becomes as likely as that."""
    if model.knots.shape[0] > 0:
        raw = probability_to_raw(row[WIN])
        moved = calibrated(model.knots[slot], raw)
        if moved != raw:
            row[WIN] = squash_probability(moved)
            make_consistent(row, 0, 0)


@inline_kernel
def _measured(model, words, packed, space):
    """Measure the board into ``space.features``; return its slot, and the places of both sides as masks."""
    half = PACKED_WORDS // 2
    own, own_made = occupied(words, 0), made(words, 0)
    other, other_made = occupied(words, half), made(words, half)
    features, known = space.features, space.known
    measure(
        model.set_code,
        model.own_functions,
        words,
        packed,
        own,
        own_made,
        other,
        other_made,
        features,
        known,
    )
    if model.places.shape[0] > 0:
        take_places(model.places, features, known)
    slot = classify(words, packed, own, other)
    if model.form.shape[0] > len(CLASS_NAMES):
        plan = plan_of(words, packed, own_made, other_made, slot)
        if plan != NO_PLAN:
            slot = len(CLASS_NAMES) + plan
    return slot, (own, other)


@inline_kernel
def weights_score(model, words, packed, space):
    """Score of a board by a weights model, for the player on roll: higher is better for him."""
    finished = finished_points(words)
    if finished != 0:
        if model.win_only:
            return _FINISHED_SCORE * finished
        return equity_to_raw(np.float64(finished))
    if covered(model.bearoff, words, packed):
        bearoff_probabilities(model.bearoff, words, packed, space.row)
        return probability_to_raw(space.row[WIN]) if model.win_only else equity_to_raw(equity_of(space.row))
    slot, places = _measured(model, words, packed, space)
    if model.win_only:
        raw = _head(model, slot, WIN, packed, places, space.features)
        return calibrated(model.knots[slot], raw) if model.knots.shape[0] > 0 else raw
    if model.form[slot, EQUITY_HEAD] != ABSENT:
        return _head(model, slot, EQUITY_HEAD, packed, places, space.features)
    _fill_probabilities(model, words, packed, slot, places, space.features, space.row)
    _calibrate(model, slot, space.row)
    return equity_to_raw(equity_of(space.row))


@inline_kernel
def _class_of(words, packed):
    return classify(words, packed, occupied(words, 0), occupied(words, PACKED_WORDS // 2))


@inline_kernel
def _best_by_table(count, scores):
    best = 0
    for k in range(1, count):
        if scores[k] > scores[best]:
            best = k
    return best


@inline_kernel
def _pre_filter(count, kept, space):
    """Write to `space.filter_kept` the `kept` best of `count` plays by their table scores."""
    scores, places = space.filter_scores, space.filter_kept
    filled = 0
    for k in range(count):
        score = space.plays.scores[k]
        if filled == kept:
            if score <= scores[kept - 1]:
                continue
        else:
            filled += 1
        slot = filled - 1
        while slot > 0 and scores[slot - 1] < score:
            scores[slot], places[slot] = scores[slot - 1], places[slot - 1]
            slot -= 1
        scores[slot], places[slot] = score, k


@lean_kernel
def choose(model, words, packed, high, low, space, stream):
    """Generate the plays of a roll into ``space.plays``; return the chosen one's number and their count."""
    if model.kind == TABLE or model.kept > 0:
        steps = model.steps[_class_of(words, packed)]
        count = generate_scored(words, packed, high, low, space.plays, steps)
    else:
        count = generate(words, high, low, space.plays)
    if count == 1:
        return 0, 1
    if model.kind == RANDOM:
        return next_below(stream, count), count
    if model.kind == TABLE:
        return _best_by_table(count, space.plays.scores), count
    considered = count
    filtered = 0 < model.kept < count
    if filtered:
        _pre_filter(count, model.kept, space)
        considered = model.kept
    best, best_score = 0, -np.inf
    for k in range(considered):
        play = space.filter_kept[k] if filtered else k
        value = weights_score(model, space.plays.words[play], space.plays.boards[play], space)
        mover_score = turn_value(value)
        if mover_score > best_score:
            best, best_score = play, mover_score
    return best, count


@lean_kernel
def score_plays(model, words, packed, count, space, scores):
    """Write to `scores` how good each of the `count` plays in ``space.plays`` is for the mover."""
    if model.kind == RANDOM:
        scores[:count] = 0.0
    elif model.kind == TABLE:
        table = model.tables[_class_of(words, packed)]
        for k in range(count):
            scores[k] = model.unit * table_score_of_mover(space.plays.boards[k], table)
    else:
        for k in range(count):
            value = weights_score(model, space.plays.words[k], space.plays.boards[k], space)
            scores[k] = turn_value(value)


@lean_kernel
def evaluate_into(model, words, packed, space, row):
    """Write the five probabilities of the player on roll to `row`."""
    finished = finished_points(words)
    if finished != 0:
        certain(finished, row)
    elif covered(model.bearoff, words, packed):
        bearoff_probabilities(model.bearoff, words, packed, row)
    elif model.kind == WEIGHTS:
        slot, places = _measured(model, words, packed, space)
        _fill_probabilities(model, words, packed, slot, places, space.features, row)
        _agree_with_ranking(model, slot, packed, places, space.features, row)
        _calibrate(model, slot, row)
    else:
        position_class = _class_of(words, packed)
        score = turn_value(model.unit * table_score_of_mover(packed, model.tables[position_class]))
        intercept, slope = model.calibration[position_class, 0], model.calibration[position_class, 1]
        certain(0, row)
        row[WIN] = squash_probability(intercept + slope * score)


@lean_kernel
def evaluate_packed(model, packed, space, rows):
    """`evaluate_into` for each packed board (n, 64): writes to float32 (n, 5) `rows`."""
    words = packed.view(np.int64)
    for k in range(packed.shape[0]):
        evaluate_into(model, words[k], packed[k], space, space.row)
        for j in range(space.row.shape[0]):
            rows[k, j] = space.row[j]


@lean_kernel
def score_packed(model, packed, space, scores):
    """Ranking scores float64 (n,) of packed boards (n, 64) for the player on roll, by a weights model."""
    words = packed.view(np.int64)
    for k in range(packed.shape[0]):
        scores[k] = weights_score(model, words[k], packed[k], space)


@lean_kernel
def score_by_tables(model, packed, classes, scores):
    """Scores float64 (n,) of the players who moved to `packed` (n, 64), by the tables of `classes` (n,)."""
    for k in range(packed.shape[0]):
        scores[k] = model.unit * table_score_of_mover(packed[k], model.tables[classes[k]])


@inline_kernel
def _choose_board(model, board, roll, state, space, packed, words, stream, result):
    pack(board, packed)
    stream[0] = state
    play, _ = choose(model, words, packed, roll[0], roll[1], space, stream)
    unpack(space.plays.boards[play], result)


@kernel
def choose_boards(model, boards, rolls, states, space, results):
    """For each of `boards` int8 (n, 26) and `rolls` (n, 2) write the board after the chosen play.

    `states` uint64 (n,) seed the random choices of the decision, where the model makes any.
    """
    packed = np.empty(PACKED_SIZE, np.int8)
    words = packed.view(np.int64)
    stream = np.zeros(1, np.uint64)
    for row in range(boards.shape[0]):
        _choose_board(model, boards[row], rolls[row], states[row], space, packed, words, stream, results[row])
