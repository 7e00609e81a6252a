"""Kernels that read a `Model`: values, ranking scores and the choice of a play.

Scores rank plays. They are the equities of the five probabilities if all classes have these, and raw sums
otherwise: values before the squash, because squashed values tie near the bounds.
"""

import math

import numpy as np

from motif.board.movegen import ROLLS, generate_scored, generate_with_steps, generate_within
from motif.board.outcome import checkers_on_board, finished_points
from motif.board.packed import (
    CHECKERS,
    PACKED_SIZE,
    PACKED_WORDS,
    has_same_half,
    made,
    occupied,
    pack,
    unpack,
)
from motif.compiler.jit import NOTHING, WHOLE, WHOLES, inline_kernel, kernel, lean_kernel, words_of
from motif.compiler.simd import GROUP, TOGETHER
from motif.evaluators.bearoff.lookup import bearoff_probabilities, covered
from motif.evaluators.calibration import calibrated
from motif.evaluators.cube_model import CUBELESS, held_and_taken, value_for_side
from motif.evaluators.filter_units import add_filter_units, has_filter_units
from motif.evaluators.hidden_layer import add_hidden_layer, load_point_rows
from motif.evaluators.point_table import table_score_of_mover
from motif.evaluators.probabilities import (
    EQUITY_HEAD,
    LOSE_GAMMON,
    OUTPUTS,
    WIN,
    agree_with_equity,
    certain,
    equity_of,
    equity_to_raw,
    make_consistent,
    probability_to_raw,
    squash_equity,
    squash_probability,
    switch_value,
)
from motif.evaluators.quadratic_forms import ABSENT, AGAIN, APART, FIRST, add_forms, find_nonzero
from motif.parameters.position_class import LATE_CONTACT, RACE, classify
from motif.parameters.sets import measure, take_places
from motif.runtime.streams import next_below

RANDOM_MODEL, TABLE_MODEL, WEIGHTS_MODEL = range(3)
"""Kinds of model."""
SOURCES = ("finished game", "bearoff tables", "weights", "point table")
"""Sources of a value; the first one that applies is used."""
FINISHED, TABLES, BY_WEIGHTS, BY_TABLE = range(len(SOURCES))

_FINISHED_SCORE = 1e6
_AT_ONCE = 32
"""Number of boards that `evaluate_packed` looks through for boards with sums in common."""


@inline_kernel
def _has_hidden_layer(model, position_class):
    counts = model.hidden.counts
    return counts.shape[0] > 0 and counts[position_class] > 0


@inline_kernel
def _load_board(model, words, packed, position_class, points_of_both, space, k):
    """Store the inputs of the heads of a measured board as board `k` of the batch."""
    batch = space.batch
    size = model.ranking.rows.shape[2]
    # Unsigned numbers, because numba's test for negative indices would slow the loops down.
    leading = np.uint64(model.measured.leading)
    others = np.uint64(size) - leading
    for i in range(others):
        batch.features[k, i] = space.features[leading + i]
    for i in range(leading):
        batch.features[k, others + i] = space.features[i]
    for i in range(size, GROUP * ((size + GROUP - 1) // GROUP)):
        batch.features[k, i] = 0
    if _has_hidden_layer(model, position_class):
        load_point_rows(batch, k, position_class, packed, points_of_both)
    own_is_off = checkers_on_board(words, 0) < CHECKERS
    opponent_is_off = checkers_on_board(words, PACKED_WORDS // 2) < CHECKERS
    for head in range(EQUITY_HEAD + 1):
        batch.raws[k, head] = 0.0
    for head in range(EQUITY_HEAD):
        is_impossible = head != WIN and (own_is_off if head >= LOSE_GAMMON else opponent_is_off)
        if is_impossible or model.chances.first[position_class, head] == ABSENT:
            batch.raws[k, head] = -np.inf


@inline_kernel
def _squash_heads(raws, row):
    """Write the five probabilities of raw sums to `row`, made consistent."""
    for head in range(EQUITY_HEAD):
        row[head] = squash_probability(raws[head])
    make_consistent(row, 0, 0)


@inline_kernel
def _fill_probabilities(model, words, packed, position_class, points_of_both, space, row):
    """Write the five probabilities of an unfinished position to `row`.

    Their raw sums are written to ``space.raws``, except those of impossible results.
    """
    raws = space.batch.raws[0]
    _load_board(model, words, packed, position_class, points_of_both, space, 0)
    find_nonzero(space.batch, 1, model.chances.rows.shape[2], model.measured.steady)
    add_forms(model.chances, position_class, space.batch, 1, APART, 0)
    if _has_hidden_layer(model, position_class):
        add_hidden_layer(model.hidden, position_class, space.batch, 1, APART)
    for head in range(EQUITY_HEAD):
        if raws[head] != -np.inf:
            space.raws[head] = raws[head]
    _squash_heads(raws, row)


@inline_kernel
def _has_ranking_head(model, position_class):
    return model.ranking.first[position_class, 0] != ABSENT


@inline_kernel
def _agree_with_ranking(model, position_class, space, row):
    """Move the five probabilities towards the equity that ranks plays, as far as consistency allows."""
    if _has_ranking_head(model, position_class) and not model.win_only:
        add_forms(model.ranking, position_class, space.batch, 1, APART, EQUITY_HEAD)
        space.raws[EQUITY_HEAD] = space.batch.raws[0, EQUITY_HEAD]
        agree_with_equity(row, squash_equity(space.raws[EQUITY_HEAD]))


@inline_kernel
def _calibrate(model, position_class, row):
    """Calibrate the win probability of five consistent estimates.

    A gammon probability above that of the win or loss that includes it is lowered to it.
    """
    if model.knots.shape[0] > 0:
        raw = probability_to_raw(row[WIN])
        moved = calibrated(model.knots[position_class], raw)
        if moved != raw:
            row[WIN] = squash_probability(moved)
            make_consistent(row, 0, 0)


@inline_kernel
def _measured(model, words, packed, space):
    """Measure the board into ``space.features``; return its class and both sides' masks of points."""
    half = PACKED_WORDS // 2
    own, other = occupied(words, 0), occupied(words, half)
    features, known = space.features, space.known
    measure(
        model.measured.code,
        model.measured.own_functions,
        words,
        packed,
        own,
        made(words, 0),
        other,
        made(words, half),
        features,
        known,
    )
    if model.measured.places.shape[0] > 0:
        take_places(model.measured.places, features, known)
    return classify(words, packed, own, other), (own, other)


@inline_kernel
def _source(model, words):
    """Return the source of a value, and the points that a finished game wins."""
    points = finished_points(words)
    if points != 0:
        return FINISHED, points
    if covered(model.bearoff, words):
        return TABLES, points
    return BY_WEIGHTS if model.kind == WEIGHTS_MODEL else BY_TABLE, points


@inline_kernel
def _class_of(words, packed):
    return classify(words, packed, occupied(words, 0), occupied(words, PACKED_WORDS // 2))


@inline_kernel
def _table_raw(model, packed, position_class):
    """Return the raw sum of the win probability by a point table."""
    score = switch_value(model.unit * table_score_of_mover(packed, model.tables[position_class]))
    intercept, slope = model.calibration[position_class, 0], model.calibration[position_class, 1]
    return intercept + slope * score


@inline_kernel
def _score_of_equity(model, equity):
    return equity if model.scores_equities else equity_to_raw(equity)


@inline_kernel
def _store_row(space, k):
    for j in range(space.row.shape[0]):
        space.rows[k, j] = space.row[j]
    space.has_row[k] = True


@inline_kernel
def _score_known(model, source, points, words, packed, space, k):
    """Return the score of board `k`, which the weights do not evaluate; store its probabilities if known."""
    if source == BY_TABLE:
        space.has_row[k] = False
        return _table_raw(model, packed, _class_of(words, packed))
    if source == FINISHED:
        certain(points, space.row)
        _store_row(space, k)
        return _FINISHED_SCORE * points if model.win_only else _score_of_equity(model, np.float64(points))
    bearoff_probabilities(model.bearoff, words, space.row)
    _store_row(space, k)
    if model.win_only:
        return probability_to_raw(space.row[WIN])
    return _score_of_equity(model, equity_of(space.row))


@inline_kernel
def _score_batch(model, position_class, count, common, space, scores):
    """Write the scores of the first `count` boards of the batch, all of one class.

    The five probabilities are stored in ``space.rows`` if the scores are their equities.
    """
    batch = space.batch
    find_nonzero(batch, count, model.ranking.rows.shape[2], model.measured.steady)
    is_ranked = _has_ranking_head(model, position_class)
    # The function is long, so it is inlined only once.
    forms, first_head = model.chances, 0
    if is_ranked:
        forms, first_head = model.ranking, EQUITY_HEAD
    add_forms(forms, position_class, batch, count, common, first_head)
    if not is_ranked and _has_hidden_layer(model, position_class):
        add_hidden_layer(model.hidden, position_class, batch, count, common)
    for k in range(count):
        score = batch.raws[k, EQUITY_HEAD]
        space.has_row[batch.boards[k]] = False
        if model.win_only:
            if model.knots.shape[0] > 0:
                score = calibrated(model.knots[position_class], score)
        elif not is_ranked:
            _squash_heads(batch.raws[k], space.row)
            _calibrate(model, position_class, space.row)
            score = _score_of_equity(model, equity_of(space.row))
            _store_row(space, batch.boards[k])
        scores[batch.boards[k]] = score


@inline_kernel
def place_of(order, k):
    """Return the number of the k-th board in `order`, which is empty if all are in their own order."""
    return order[k] if order.shape[0] > 0 else np.int64(k)


@inline_kernel
def _score_boards(model, words, boards, order, count, space, scores):
    """Write the scores of the first `count` boards, or of those in `order` if it is not empty.

    A score ranks positions for the player on roll: higher is better. Boards on which this player has the same
    checkers are scored together, because they have many sums in common: most plays of a decision differ only
    in the checkers of the player who moved.
    """
    for group in range(_grouped(words, order, count, space.groups) + 1):
        _score_group(model, words, boards, order, count, group, space, scores)


@inline_kernel
def _grouped(words, order, count, groups):
    """Find groups of boards on which the player on roll has the same checkers, and return their number.

    The number of each board is written to `groups`; it is 0 for boards in groups too small to be worth it.
    """
    found = 0
    for k in range(count):
        groups[k] = -1
    for k in range(count):
        if groups[k] >= 0:
            continue
        one, alike = words[place_of(order, k)], 0
        for other in range(k, count):
            if groups[other] < 0 and has_same_half(words[place_of(order, other)], one):
                groups[other] = found + 1
                alike += 1
        if alike >= TOGETHER:
            found += 1
            continue
        for other in range(k, count):
            if groups[other] == found + 1:
                groups[other] = 0
    return found


@inline_kernel
def _score_group(model, words, boards, order, count, group, space, scores):
    """Do the work of `_score_boards` for the boards of one group."""
    k, common_class = 0, -1
    while k < count:
        waiting, batch_class = 0, 0
        while k < count and waiting < TOGETHER:
            if space.groups[k] != group:
                k += 1
                continue
            place = place_of(order, k)
            board_words, board = words[place], boards[place]
            source, points = _source(model, board_words)
            if source != BY_WEIGHTS:
                scores[k] = _score_known(model, source, points, board_words, board, space, k)
                k += 1
                continue
            position_class, points_of_both = _measured(model, board_words, board, space)
            if waiting > 0 and position_class != batch_class:
                break
            _load_board(model, board_words, board, position_class, points_of_both, space, waiting)
            space.batch.boards[waiting] = k
            batch_class = position_class
            waiting += 1
            k += 1
        if waiting > 0:
            common = APART
            if group > 0:
                common = AGAIN if batch_class == common_class else FIRST
            _score_batch(model, batch_class, waiting, common, space, scores)
            common_class = batch_class


@inline_kernel
def best_by_table(count, scores):
    """Return the number of the first of `count` plays with the highest score."""
    best = 0
    for k in range(1, count):
        if scores[k] > scores[best]:
            best = k
    return best


@inline_kernel
def _filter_by_table(count, kept, space):
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


@inline_kernel
def filtered_plays(model, words, packed, count, space):
    """Return how many of the `count` plays of a position to score, and which.

    These are the plays in the array, or all if it is empty.  A filter with hidden units also drops plays by a
    margin, except in late endings with contact, which are rare in the games that it learns from: there it
    keeps twice as many plays.
    """
    kept = model.kept
    if not 0 < kept < count:
        return count, space.filter_kept[:0]
    if not has_filter_units(model.filter_units):
        _filter_by_table(count, kept, space)
        return kept, space.filter_kept
    position_class = _class_of(words, packed)
    fewer = min(checkers_on_board(words, 0), checkers_on_board(words, PACKED_WORDS // 2))
    is_late = position_class != RACE and fewer <= LATE_CONTACT
    if is_late:
        kept = min(2 * kept, space.filter_kept.shape[0])
        if kept >= count:
            return count, space.filter_kept[:0]
    add_filter_units(model.filter_units, position_class, space.plays, count, space.batch)
    _filter_by_table(count, kept, space)
    if not is_late:
        least = space.filter_scores[0] - model.filter_units.margins[position_class]
        while kept > 1 and space.filter_scores[kept - 1] < least:
            kept -= 1
    return kept, space.filter_kept


@inline_kernel
def best_scored(considered, space):
    """Return which of the scored plays is the best one, and its score for the mover.

    ``space.scores`` are the scores for the next player on roll.
    """
    best, best_score = 0, -np.inf
    for k in range(considered):
        mover_score = switch_value(space.scores[k])
        if mover_score > best_score:
            best, best_score = k, mover_score
    return best, best_score


@inline_kernel
def choose_within(model, words, packed, high, low, space, stream):
    """Generate the plays of a roll into ``space.plays``; return the chosen play's number and their count."""
    if model.kind == TABLE_MODEL or model.kept > 0:
        steps = model.steps[_class_of(words, packed)]
        count = generate_scored(words, packed, high, low, space.plays, steps)
    else:
        count = generate_within(words, high, low, space.plays)
    if count == 1:
        return 0, 1
    if model.kind == RANDOM_MODEL:
        return next_below(stream, count), count
    if model.kind == TABLE_MODEL:
        return best_by_table(count, space.plays.scores), count
    considered, order = filtered_plays(model, words, packed, count, space)
    if considered == 1:
        return order[0], count
    _score_boards(model, space.plays.words, space.plays.boards, order, considered, space, space.scores)
    return place_of(order, best_scored(considered, space)[0]), count


@inline_kernel
def generate_for(model, words, packed, high, low, space):
    """Generate a roll's plays into ``space.plays``, scored if the model needs it; return their number."""
    scored, steps = model.kind == TABLE_MODEL or model.kept > 0, space.plays.no_steps
    if scored:
        steps = model.steps[_class_of(words, packed)]
    return generate_with_steps(words, packed, high, low, space.plays, steps, scored)


@lean_kernel(NOTHING)
def score_boards(model, words, boards, order, count, space, scores):
    """Call `_score_boards`; compiled only once for all kernels that call it."""
    _score_boards(model, words, boards, order, count, space, scores)


@inline_kernel
def equity_of_score(model, score):
    """Return the equity of a score of a weights model."""
    if model.scores_equities:
        return score
    return math.tanh(score) if model.win_only else squash_equity(score)


@inline_kernel
def _table_equity(model, words, packed, play, space):
    """Return the mover's equity of a play in ``space.plays``, by the point table of the previous class."""
    points = finished_points(space.plays.words[play])
    if points != 0:
        return switch_value(np.float64(points))
    position_class = _class_of(words, packed)
    intercept, slope = model.calibration[position_class, 0], model.calibration[position_class, 1]
    score = model.unit * table_score_of_mover(space.plays.boards[play], model.tables[position_class])
    return switch_value(math.tanh(intercept + slope * switch_value(score)))


NOT_SCORED = np.int64(-1)


@inline_kernel
def value_after(model, play, scored, space):
    """Write the probabilities of the player on roll after a play in ``space.plays`` to ``space.row``.

    `scored` is its number among the scored plays, whose probabilities may be known, or `NOT_SCORED`.
    """
    if scored >= 0 and space.has_row[scored]:
        for j in range(space.row.shape[0]):
            space.row[j] = space.rows[scored, j]
    else:
        trace_value(model, space.plays.words[play], space.plays.boards[play], space, space.row)


@inline_kernel
def is_better_play(value, score, best, best_score):
    """Return whether a play is better than the `best` one, from cubeful values and scores without the cube.

    After plays of equal value, such as those after which the opponent cashes, the opponent may make an error.
    """
    return value > best or (value == best and score > best_score)


@lean_kernel(WHOLE)
def _best_cubeful(model, cube_model, side, considered, order, space):
    """Return the number of the scored play with the highest cubeful equity for `side`, who moves."""
    best, best_value, best_score = np.int64(0), -np.inf, -np.inf
    for k in range(considered):
        play = place_of(order, k)
        words, packed = space.plays.words[play], space.plays.boards[play]
        value_after(model, play, k, space)
        value = switch_value(value_for_side(cube_model, 1 - side, words, packed, space.row))
        score = switch_value(space.scores[k])
        if is_better_play(value, score, best_value, best_score):
            best, best_value, best_score = np.int64(play), value, score
    return best


@inline_kernel
def best_reply(model, words, packed, high, low, space):
    """Generate the plays of a roll into ``space.plays``.

    Return the number of the best play, its number for `value_after`, and its cubeless equity for the mover,
    as in `Evaluator.play_equities`.
    """
    count = generate_for(model, words, packed, high, low, space)
    if model.kind != WEIGHTS_MODEL:
        best = np.int64(best_by_table(count, space.plays.scores))
        return best, NOT_SCORED, _table_equity(model, words, packed, best, space)
    considered, order = filtered_plays(model, words, packed, count, space)
    score_boards(model, space.plays.words, space.plays.boards, order, considered, space, space.scores)
    best, score = best_scored(considered, space)
    return place_of(order, best), np.int64(best), equity_of_score(model, score)


@lean_kernel(NOTHING)
def best_equities(model, packed, space, equities):
    """Write the movers' equities float64 (n, 21) of the best play of every roll on packed boards (n, 64)."""
    words = words_of(packed)
    for k in range(packed.shape[0]):
        for number in range(ROLLS.shape[0]):
            high, low = ROLLS[number, 0], ROLLS[number, 1]
            _, _, equities[k, number] = best_reply(model, words[k], packed[k], high, low, space)


@inline_kernel
def best_cubeful_reply(model, cube_model, side, words, packed, high, low, space):
    """Generate the plays of a roll into ``space.plays``.

    Return the number of the play with the highest cubeful equity for the mover, `side`.
    """
    count = generate_for(model, words, packed, high, low, space)
    if model.kind != WEIGHTS_MODEL:
        return np.int64(best_by_table(count, space.plays.scores))
    considered, order = filtered_plays(model, words, packed, count, space)
    if considered == 1:
        return place_of(order, np.int64(0))
    score_boards(model, space.plays.words, space.plays.boards, order, considered, space, space.scores)
    if cube_model.kind[cube_model.state] == CUBELESS:
        return place_of(order, best_scored(considered, space)[0])
    return _best_cubeful(model, cube_model, side, considered, order, space)


@lean_kernel(WHOLES)
def choose(model, words, packed, high, low, space, stream):
    """Call `choose_within`; a little slower, but compiled only once for all kernels that call it."""
    return choose_within(model, words, packed, high, low, space, stream)


@lean_kernel(NOTHING)
def score_plays(model, words, packed, count, space, scores):
    """Write to `scores` the scores of the `count` plays in ``space.plays`` for the mover."""
    if model.kind == RANDOM_MODEL:
        scores[:count] = 0.0
    elif model.kind == TABLE_MODEL:
        table = model.tables[_class_of(words, packed)]
        for k in range(count):
            scores[k] = model.unit * table_score_of_mover(space.plays.boards[k], table)
    else:
        everything = space.filter_kept[:0]
        score_boards(model, space.plays.words, space.plays.boards, everything, count, space, scores)
        for k in range(count):
            scores[k] = switch_value(scores[k])


@lean_kernel(WHOLES)
def trace_value(model, words, packed, space, row):
    """Write the five probabilities of the player on roll to `row`.

    Return their source, an index of `SOURCES`, and the position class.

    If the source is the weights, ``space.features`` has the measured parameters and ``space.raws`` the raw
    sums of the heads that were read; the entries of other heads are unchanged.
    """
    source, points = _source(model, words)
    if source == BY_WEIGHTS:
        position_class, points_of_both = _measured(model, words, packed, space)
        _fill_probabilities(model, words, packed, position_class, points_of_both, space, row)
        _agree_with_ranking(model, position_class, space, row)
        _calibrate(model, position_class, row)
        return source, np.int64(position_class)
    position_class = np.int64(_class_of(words, packed))
    if source == FINISHED:
        certain(points, row)
    elif source == TABLES:
        bearoff_probabilities(model.bearoff, words, row)
    else:
        certain(0, row)
        row[WIN] = squash_probability(_table_raw(model, packed, position_class))
    return source, position_class


@lean_kernel(WHOLES)
def trace_packed(model, packed, space):
    """Call `trace_value` for the one board of `packed` (1, 64), with its probabilities in ``space.row``."""
    return trace_value(model, words_of(packed)[0], packed[0], space, space.row)


@inline_kernel
def _value_boards(model, packed, first, last, space):
    """Write the probabilities of packed boards, from `first` to `last`, to ``space.rows`` from row 0 on."""
    words = words_of(packed)[first:last]
    boards, everything, count = packed[first:last], space.filter_kept[:0], last - first
    if model.scores_equities:
        score_boards(model, words, boards, everything, count, space, space.scores)
    else:
        space.has_row[:count] = False
    for k in range(count):
        if not space.has_row[k]:
            trace_value(model, words[k], boards[k], space, space.rows[k])


NO_SCORES = np.zeros(0)
NO_ROWS = np.zeros((0, len(OUTPUTS)), np.float32)


@lean_kernel(NOTHING)
def evaluate_packed(model, packed, space, scores, rows):
    """Write the ranking `scores` float64 (n,) of packed boards (n, 64) for the player on roll.

    If `scores` is empty, write the five probabilities of each board to float32 (n, 5) `rows` instead.  One
    kernel does both, because the arguments take most of the time to compile it.
    """
    words, everything = words_of(packed), space.filter_kept[:0]
    for first in range(0, packed.shape[0], _AT_ONCE):
        last = min(first + _AT_ONCE, packed.shape[0])
        if scores.shape[0] > 0:
            part, boards = words[first:last], packed[first:last]
            score_boards(model, part, boards, everything, last - first, space, scores[first:last])
            continue
        _value_boards(model, packed, first, last, space)
        for k in range(first, last):
            for j in range(space.row.shape[0]):
                rows[k, j] = space.rows[k - first, j]


@lean_kernel(NOTHING)
def cube_pairs_packed(model, cube_model, side, packed, space, pairs):
    """Write to `pairs` float64 (n, 2) the `held_and_taken` of packed boards (n, 64) for `side`, on roll."""
    words = words_of(packed)
    for first in range(0, packed.shape[0], _AT_ONCE):
        last = min(first + _AT_ONCE, packed.shape[0])
        _value_boards(model, packed, first, last, space)
        for k in range(first, last):
            row = space.rows[k - first]
            pairs[k, 0], pairs[k, 1] = held_and_taken(cube_model, side, words[k], packed[k], row)


@lean_kernel(NOTHING)
def score_by_tables(model, packed, classes, scores):
    """Write `scores` float64 (n,) of the players who moved to `packed`, by the tables of `classes` (n,)."""
    for k in range(packed.shape[0]):
        scores[k] = model.unit * table_score_of_mover(packed[k], model.tables[classes[k]])


@kernel
def choose_boards(model, boards, rolls, states, space, results):
    """Write the board after the chosen play for each of `boards` int8 (n, 26) and `rolls` (n, 2).

    `states` uint64 (n,) are the seeds of random choices, if the model makes any.
    """
    packed = np.empty(PACKED_SIZE, np.int8)
    words = words_of(packed)
    stream = np.zeros(1, np.uint64)
    for row in range(boards.shape[0]):
        pack(boards[row], packed)
        stream[0] = states[row]
        play, _ = choose(model, words, packed, rolls[row, 0], rolls[row, 1], space, stream)
        unpack(space.plays.boards[play], results[row])
