"""The kernels that read a `Model`: values, ranking scores, the choice of a play, and lookahead.

Scores rank plays; they are values BEFORE the squash, because squashed floats tie near 0 and 1.
"""

import math

import numpy as np

from motif.board.movegen import ROLL_SHARES, ROLLS, generate_scored, generate_with_steps, generate_within
from motif.board.outcome import checkers_on_board, finished_points
from motif.board.packed import (
    CHECKERS,
    OPPONENT_HALF,
    PACKED_SIZE,
    PACKED_WORDS,
    copy_words,
    made,
    occupied,
    pack,
    unpack,
)
from motif.evaluators.bearoff.lookup import bearoff_probabilities, covered, is_exact
from motif.evaluators.calibration import calibrated
from motif.evaluators.patterns import sum_patterns, take_in
from motif.evaluators.point_table import points_of_side, table_score_of_mover
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
    turn_probabilities,
    turn_value,
)
from motif.evaluators.stakes import (
    CUBELESS,
    MAX_STATES,
    first_value,
    held_and_taken,
    hold_states,
    is_known,
    value_for_side,
    with_doubles,
)
from motif.parameters.position_class import CLASS_NAMES, NO_PLAN, PLAN_CLASS, classify, plan_of
from motif.parameters.sets import measure, take_places
from motif.runtime.jit import (
    DOUBLE,
    NOTHING,
    WHOLE,
    WHOLES,
    inline_kernel,
    kernel,
    lean_kernel,
    words_of,
)
from motif.runtime.simd import TOGETHER, weighted_form
from motif.runtime.streams import next_below

RANDOM, TABLE, WEIGHTS = range(3)
"""Kinds of model."""
ABSENT = -1
"""Number of the form of a head that is not there."""
SOURCES = ("finished game", "bearoff tables", "weights", "point table")
"""What a value comes from; the first that applies."""
FINISHED, TABLES, BY_WEIGHTS, BY_TABLE = range(len(SOURCES))

_FINISHED_SCORE = 1e6
_COMPLETE = np.int64(-1)
"""Instead of a slot: no pattern is missing from a score."""
_NOWHERE = (np.uint64(0), np.uint64(0))
_CLASS_OF_SLOT = np.array((*range(len(CLASS_NAMES)), *PLAN_CLASS))
_RIVALS_WITHIN = 0.2
"""Plays of the same roll that are worse by more than this, in money equity without a cube, are taken to be
worse for any stakes."""


CLEARLY = 0.02
"""Equity by which a reply is clearly better than another one: less is mostly error of static values."""


@inline_kernel
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
def _has_patterns(model, slot):
    """Whether patterns add to the equity head of a slot."""
    counts = model.patterns.counts
    return counts.shape[0] > 0 and counts[_CLASS_OF_SLOT[slot]] > 0


@inline_kernel
def _equity_head(model, slot, packed, places, space):
    """Raw sum of the equity head, which is present, with the patterns of its class."""
    raw = _head(model, slot, EQUITY_HEAD, packed, places, space.features)
    if _has_patterns(model, slot):
        code = _CLASS_OF_SLOT[slot]
        take_in(model.patterns, space.patterns, 0, code, slot, packed, places, space.features)
        sum_patterns(model.patterns, code, space.patterns, 1)
        raw += space.patterns.sums[0, 0]
    return raw


@inline_kernel
def _has_outputs(model, slot):
    """Whether patterns add to the probabilities of a slot."""
    return model.patterns.outputs.shape[0] > 0 and _has_patterns(model, slot)


@inline_kernel
def _read_heads(model, words, packed, slot, places, space, raws):
    """Write the raw sums of the five probabilities of an unfinished position, without patterns, to `raws`:
    no gammon head is read in vain, and what is impossible has minus infinity."""
    own_off = CHECKERS - checkers_on_board(words, 0)
    opponent_off = CHECKERS - checkers_on_board(words, PACKED_WORDS // 2)
    for head in range(EQUITY_HEAD):
        raws[head] = -np.inf
        is_of_loss = head >= LOSE_GAMMON
        is_possible = head == WIN or (own_off if is_of_loss else opponent_off) == 0
        if is_possible and model.form[slot, head] != ABSENT:
            raws[head] = _head(model, slot, head, packed, places, space.features)


@inline_kernel
def _squash_heads(raws, row):
    """Write the five probabilities of raw sums, made to agree."""
    for head in range(EQUITY_HEAD):
        row[head] = squash_probability(raws[head])
    make_consistent(row, 0, 0)


@inline_kernel
def _fill_probabilities(model, words, packed, slot, places, space, row):
    """Write the five probabilities of an unfinished position, and the raw sums that they come from, as far as
    they are possible, to ``space.raws``."""
    room, place = space.patterns, TOGETHER
    if _has_outputs(model, slot):
        code, place = _CLASS_OF_SLOT[slot], 0
        take_in(model.patterns, room, 0, code, slot, packed, places, space.features)
        _read_heads(model, words, packed, slot, places, space, room.raws[0])
        sum_patterns(model.patterns, code, room, 1)
    else:
        _read_heads(model, words, packed, slot, places, space, room.raws[TOGETHER])
    for head in range(EQUITY_HEAD):
        if room.raws[place, head] != -np.inf:
            space.raws[head] = room.raws[place, head]
    _squash_heads(room.raws[place], row)


@inline_kernel
def _agree_with_ranking(model, slot, packed, places, space, row):
    """Make the five probabilities' equity that by which plays are ranked, as far as it goes."""
    if model.form[slot, EQUITY_HEAD] != ABSENT and not model.win_only:
        space.raws[EQUITY_HEAD] = _equity_head(model, slot, packed, places, space)
        agree_with_equity(row, squash_equity(space.raws[EQUITY_HEAD]))


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
def _source(model, words, packed):
    """What a value comes from, and what a finished game wins, in points."""
    points = finished_points(words)
    if points != 0:
        return FINISHED, points
    if covered(model.bearoff, words, packed):
        return TABLES, points
    return BY_WEIGHTS if model.kind == WEIGHTS else BY_TABLE, points


@inline_kernel
def _weights_score(model, words, packed, space):
    """Score of a board by a weights model, for the player on roll: higher is better for him.

    With it the slot whose patterns are still to be added, or `_COMPLETE`, and the occupied places.
    """
    source, points = _source(model, words, packed)
    if source == FINISHED:
        score = _FINISHED_SCORE * points if model.win_only else equity_to_raw(np.float64(points))
        return score, _COMPLETE, _NOWHERE
    if source == TABLES:
        bearoff_probabilities(model.bearoff, words, packed, space.row)
        score = probability_to_raw(space.row[WIN]) if model.win_only else equity_to_raw(equity_of(space.row))
        return score, _COMPLETE, _NOWHERE
    slot, places = _measured(model, words, packed, space)
    if model.win_only:
        raw = _head(model, slot, WIN, packed, places, space.features)
        score = calibrated(model.knots[slot], raw) if model.knots.shape[0] > 0 else raw
        return score, _COMPLETE, _NOWHERE
    if model.form[slot, EQUITY_HEAD] != ABSENT:
        score = _head(model, slot, EQUITY_HEAD, packed, places, space.features)
        return score, np.int64(slot) if _has_patterns(model, slot) else _COMPLETE, places
    if _has_outputs(model, slot):
        return 0.0, np.int64(slot), places
    _fill_probabilities(model, words, packed, slot, places, space, space.row)
    _calibrate(model, slot, space.row)
    return equity_to_raw(equity_of(space.row)), _COMPLETE, _NOWHERE


@inline_kernel
def _add_patterns(model, position_class, waiting, space, scores):
    """Finish the scores of the boards that wait by what the patterns of their class say."""
    room = space.patterns
    sum_patterns(model.patterns, position_class, room, waiting)
    for k in range(waiting):
        if model.patterns.outputs.shape[0] > 0:
            _squash_heads(room.raws[k], space.row)
            _calibrate(model, room.slots[k], space.row)
            scores[room.boards[k]] = equity_to_raw(equity_of(space.row))
        else:
            scores[room.boards[k]] += room.sums[k, 0]


@inline_kernel
def _score_boards(model, words, boards, order, count, space, scores):
    """Write the scores of the first `count` boards, or of those that `order` names where it is not empty."""
    room, waiting, waiting_class = space.patterns, 0, 0
    for k in range(count):
        place = order[k] if order.shape[0] > 0 else k
        scores[k], slot, places = _weights_score(model, words[place], boards[place], space)
        if slot == _COMPLETE:
            continue
        position_class = _CLASS_OF_SLOT[slot]
        if waiting == TOGETHER or (waiting > 0 and position_class != waiting_class):
            _add_patterns(model, waiting_class, waiting, space, scores)
            waiting = 0
        take_in(model.patterns, room, waiting, position_class, slot, boards[place], places, space.features)
        if model.patterns.outputs.shape[0] > 0:
            _read_heads(model, words[place], boards[place], slot, places, space, room.raws[waiting])
        room.boards[waiting] = k
        waiting, waiting_class = waiting + 1, position_class
    if waiting > 0:
        _add_patterns(model, waiting_class, waiting, space, scores)


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


@inline_kernel
def _filtered(model, count, space):
    """How many of `count` plays are to be scored, and which: those in the array, all where it is empty."""
    if 0 < model.kept < count:
        _pre_filter(count, model.kept, space)
        return model.kept, space.filter_kept
    return count, space.filter_kept[:0]


@inline_kernel
def _best_scored(considered, order, space):
    """The best of the plays whose scores for the next player are in ``space.scores``, and the mover's."""
    best, best_score = 0, -np.inf
    for k in range(considered):
        mover_score = turn_value(space.scores[k])
        if mover_score > best_score:
            best, best_score = order[k] if order.shape[0] > 0 else k, mover_score
    return best, best_score


@inline_kernel
def choose_within(model, words, packed, high, low, space, stream):
    """Generate the plays of a roll into ``space.plays``; return the chosen one's number and their count."""
    if model.kind == TABLE or model.kept > 0:
        steps = model.steps[_class_of(words, packed)]
        count = generate_scored(words, packed, high, low, space.plays, steps)
    else:
        count = generate_within(words, high, low, space.plays)
    if count == 1:
        return 0, 1
    if model.kind == RANDOM:
        return next_below(stream, count), count
    if model.kind == TABLE:
        return _best_by_table(count, space.plays.scores), count
    considered, order = _filtered(model, count, space)
    _score_boards(model, space.plays.words, space.plays.boards, order, considered, space, space.scores)
    return _best_scored(considered, order, space)[0], count


@inline_kernel
def generate_for(model, words, packed, high, low, space):
    """Generate the plays of a roll into ``space.plays``, with table scores where the model wants them; return
    their number."""
    scored, steps = model.kind == TABLE or model.kept > 0, space.plays.no_steps
    if scored:
        steps = model.steps[_class_of(words, packed)]
    return generate_with_steps(words, packed, high, low, space.plays, steps, scored)


@lean_kernel(NOTHING)
def score_boards(model, words, boards, order, count, space, scores):
    """`_score_boards`, for kernels to call: compiled once for all."""
    _score_boards(model, words, boards, order, count, space, scores)


@inline_kernel
def _equity_of_score(model, score):
    """The equity for which a score of a weights model stands."""
    return math.tanh(score) if model.win_only else squash_equity(score)


@inline_kernel
def _table_equity(model, words, packed, play, space):
    """What a play in ``space.plays`` is worth to the mover by a point table, that of the class before it."""
    points = finished_points(space.plays.words[play])
    if points != 0:
        return turn_value(np.float64(points))
    position_class = _class_of(words, packed)
    intercept, slope = model.calibration[position_class, 0], model.calibration[position_class, 1]
    score = model.unit * table_score_of_mover(space.plays.boards[play], model.tables[position_class])
    return turn_value(math.tanh(intercept + slope * turn_value(score)))


@lean_kernel(WHOLE)
def _best_at_stake(model, stakes, side, equity, considered, order, space):
    """Of the plays that were scored, the best one for the `stakes` of the mover, who is `side`; plays much
    worse than `equity` without a cube are left out."""
    best, value = np.int64(0), -np.inf
    for k in range(considered):
        if _equity_of_score(model, turn_value(space.scores[k])) < equity - _RIVALS_WITHIN:
            continue
        play = order[k] if order.shape[0] > 0 else k
        words, packed = space.plays.words[play], space.plays.boards[play]
        trace_value(model, words, packed, space, space.row)
        worth = turn_value(value_for_side(stakes, 1 - side, words, packed, space.row))
        if worth > value:
            best, value = np.int64(play), worth
    return best


@inline_kernel
def best_reply(model, words, packed, high, low, space):
    """Generate the plays of a roll into ``space.plays``; return the best one's number and what it is worth
    to the mover, as the evaluator's `play_equities` has it without a cube."""
    count = generate_for(model, words, packed, high, low, space)
    if model.kind != WEIGHTS:
        best = np.int64(_best_by_table(count, space.plays.scores))
        return best, _table_equity(model, words, packed, best, space)
    considered, order = _filtered(model, count, space)
    score_boards(model, space.plays.words, space.plays.boards, order, considered, space, space.scores)
    best, score = _best_scored(considered, order, space)
    return np.int64(best), _equity_of_score(model, score)


@inline_kernel
def best_reply_at_stake(model, stakes, side, words, packed, high, low, space):
    """Generate the plays of a roll into ``space.plays``; return the number of the best one for the `stakes`
    of the mover, who is `side`."""
    count = generate_for(model, words, packed, high, low, space)
    if model.kind != WEIGHTS:
        return np.int64(_best_by_table(count, space.plays.scores))
    considered, order = _filtered(model, count, space)
    score_boards(model, space.plays.words, space.plays.boards, order, considered, space, space.scores)
    best, score = _best_scored(considered, order, space)
    if stakes.kind[stakes.state] == CUBELESS:
        return np.int64(best)
    equity = _equity_of_score(model, score)
    return _best_at_stake(model, stakes, side, equity, considered, order, space)


@lean_kernel(WHOLES)
def choose(model, words, packed, high, low, space, stream):
    """`choose_within`, for kernels to call: a tenth of a microsecond slower, and compiled once for all."""
    return choose_within(model, words, packed, high, low, space, stream)


@lean_kernel(NOTHING)
def score_plays(model, words, packed, count, space, scores):
    """Write to `scores` how good each of the `count` plays in ``space.plays`` is for the mover."""
    if model.kind == RANDOM:
        scores[:count] = 0.0
    elif model.kind == TABLE:
        table = model.tables[_class_of(words, packed)]
        for k in range(count):
            scores[k] = model.unit * table_score_of_mover(space.plays.boards[k], table)
    else:
        everything = space.filter_kept[:0]
        score_boards(model, space.plays.words, space.plays.boards, everything, count, space, scores)
        for k in range(count):
            scores[k] = turn_value(scores[k])


@lean_kernel(WHOLES)
def trace_value(model, words, packed, space, row):
    """Write the five probabilities of the player on roll to `row`; return what they come from, one of
    `SOURCES`, and the slot of the weights, or the position class.

    Of weights ``space.features`` and ``space.raws`` hold what was measured and the raw sums of the heads that
    were read; what was there of other heads stays.
    """
    source, points = _source(model, words, packed)
    if source == BY_WEIGHTS:
        slot, places = _measured(model, words, packed, space)
        _fill_probabilities(model, words, packed, slot, places, space, row)
        _agree_with_ranking(model, slot, packed, places, space, row)
        _calibrate(model, slot, row)
        return source, np.int64(slot)
    position_class = np.int64(_class_of(words, packed))
    if source == FINISHED:
        certain(points, row)
    elif source == TABLES:
        bearoff_probabilities(model.bearoff, words, packed, row)
    else:
        score = turn_value(model.unit * table_score_of_mover(packed, model.tables[position_class]))
        intercept, slope = model.calibration[position_class, 0], model.calibration[position_class, 1]
        certain(0, row)
        row[WIN] = squash_probability(intercept + slope * score)
    return source, position_class


@lean_kernel(WHOLES)
def trace_packed(model, packed, space):
    """`trace_value` of the one board of `packed` (1, 64), with its probabilities in ``space.row``."""
    return trace_value(model, words_of(packed)[0], packed[0], space, space.row)


@lean_kernel(NOTHING)
def evaluate_packed(model, packed, space, rows):
    """The probabilities of each packed board (n, 64): written to float32 (n, 5) `rows`."""
    words = words_of(packed)
    for k in range(packed.shape[0]):
        trace_value(model, words[k], packed[k], space, space.row)
        for j in range(space.row.shape[0]):
            rows[k, j] = space.row[j]


@lean_kernel(NOTHING)
def stake_packed(model, stakes, side, packed, space, pairs):
    """Write to `pairs` float64 (n, 2) the `held_and_taken` of packed boards (n, 64), `side` being on roll."""
    words = words_of(packed)
    for k in range(packed.shape[0]):
        trace_value(model, words[k], packed[k], space, space.row)
        pairs[k, 0], pairs[k, 1] = held_and_taken(stakes, side, words[k], packed[k], space.row)


@lean_kernel(NOTHING)
def score_packed(model, packed, space, scores):
    """Ranking scores float64 (n,) of packed boards (n, 64) for the player on roll, by a weights model."""
    words, everything = words_of(packed), space.filter_kept[:0]
    score_boards(model, words, packed, everything, packed.shape[0], space, scores)


@lean_kernel(NOTHING)
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
    words = words_of(packed)
    stream = np.zeros(1, np.uint64)
    for row in range(boards.shape[0]):
        _choose_board(model, boards[row], rolls[row], states[row], space, packed, words, stream, results[row])


_ROLL_COUNT = len(ROLLS)
_THIRDS = np.array(
    # 11  21 22  31 32 33  41 42 43 44  51 52 53 54 55  61 62 63 64 65 66
    [0, 0, 1, 1, 2, 2, 1, 2, 0, 2, 0, 1, 2, 2, 1, 2, 0, 1, 1, 0, 0]
)
"""By roll, one of three groups: each holds two doubles, five others, every die, and as many pips."""
_SEVENTHS = np.array([5, 1, 3, 0, 2, 4, 3, 0, 1, 2, 4, 6, 6, 5, 1, 2, 4, 5, 6, 3, 0])
"""By roll, one of seven groups of three, as alike in pips and dice as can be; the last has no double."""
_THROWS = 36
_SEVENTH_OF_THROW = np.repeat(np.arange(7), (5, 5, 5, 5, 5, 5, 6))
_SEVENTH_SHARES = _THROWS * ROLL_SHARES / np.bincount(_SEVENTH_OF_THROW)[_SEVENTHS]
"""How likely a roll is in its group."""
_THROW_OF_ROLL = np.arange(len(ROLLS)) * 12 // 7
"""By roll, one of the throws: spread evenly over them."""
EVERY_ROLL, A_THIRD, A_SEVENTH = range(3)
"""How many rolls the last ply of lookahead sees."""
_CHANCES = len(OUTPUTS)


@inline_kernel
def _is_known(model, words, packed):
    """Whether lookahead would change nothing: the game is over, or the tables are exact."""
    return finished_points(words) != 0 or is_exact(model.bearoff, words, packed)


@inline_kernel
def _add_row(row, share, total):
    for j in range(_CHANCES):
        total[j] += share * row[j]


@inline_kernel
def _worth(model, words, packed, space, row):
    """Write the five probabilities of the player on roll to `row`; return their equity."""
    trace_value(model, words, packed, space, row)
    return equity_of(row)


@inline_kernel
def _share(number, seen):
    """How likely a roll is among those that are `seen`."""
    if seen == A_SEVENTH:
        return _SEVENTH_SHARES[number]
    return 3 * ROLL_SHARES[number] if seen == A_THIRD else ROLL_SHARES[number]


@inline_kernel
def _lot(words):
    """A throw drawn by the checkers of the player on roll: plays that hit nothing share it."""
    key = np.uint64(0)
    for k in range(PACKED_WORDS // 2):
        key = (key ^ np.uint64(words[k])) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return np.int64((key >> np.uint64(33)) % np.uint64(_THROWS))


@inline_kernel
def _is_seen(number, before, seen, lot):
    """Whether the last ply sees a roll after that of number `before`."""
    if seen == A_SEVENTH:
        return _SEVENTHS[number] == _SEVENTH_OF_THROW[(_THROW_OF_ROLL[before] + lot) % _THROWS]
    return seen == EVERY_ROLL or _THIRDS[number] == _THIRDS[before]


@lean_kernel(DOUBLE)
def look_ahead(model, plies, last, space, tree, wants_rows):
    """The equity without a cube, `plies` further, of the packed board in ``tree.words[0]``.

    It is that of the player on roll.  With `wants_rows` the five probabilities are left in ``tree.rows[0]``.
    Replies are those that the model finds best without lookahead.  Of several plies the last sees `last`:
    every roll, or a third of them, those of the group that the roll before is in, or a seventh, a group that
    the position draws for each roll before, each with the same probability.
    """
    if plies == 0 or _is_known(model, tree.words[0], tree.boards[0]):
        return _worth(model, tree.words[0], tree.boards[0], space, tree.rows[0])
    level, lot = 0, _lot(tree.words[0])
    tree.number[0], tree.equity[0] = 0, 0.0
    tree.rows[0, :] = 0.0
    while True:
        number = tree.number[level]
        seen = last if 0 < level == plies - 1 else EVERY_ROLL
        if number < _ROLL_COUNT and seen and not _is_seen(number, tree.number[level - 1], seen, lot):
            tree.number[level] += 1
            continue
        if number < _ROLL_COUNT:
            high, low = ROLLS[number, 0], ROLLS[number, 1]
            words, packed = tree.words[level], tree.boards[level]
            play, equity = best_reply(model, words, packed, high, low, space)
            after, board = space.plays.words[play], space.plays.boards[play]
            is_leaf = level + 1 == plies
            if not is_leaf and not _is_known(model, after, board):
                level += 1
                copy_words(after, tree.words[level])
                tree.number[level], tree.equity[level] = 0, 0.0
                tree.rows[level, :] = 0.0
                continue
            if wants_rows or not is_leaf:
                worth = turn_value(_worth(model, after, board, space, space.row))
                turn_probabilities(space.row)
                _add_row(space.row, _share(number, seen), tree.rows[level])
                equity = equity if is_leaf else worth
        elif level == 0:
            return tree.equity[0]
        else:
            equity = turn_value(tree.equity[level])
            turn_probabilities(tree.rows[level])
            level -= 1
            number, seen = tree.number[level], EVERY_ROLL
            _add_row(tree.rows[level + 1], ROLL_SHARES[number], tree.rows[level])
        tree.equity[level] += _share(number, seen) * equity
        tree.number[level] += 1


@lean_kernel(NOTHING)
def look_ahead_many(model, packed, plies, last, space, tree, equities, rows):
    """`look_ahead` of packed boards (n, 64): writes float64 (n,) `equities` and, unless it is empty, float64
    (n, 5) `rows`."""
    words, wants_rows = words_of(packed), rows.shape[0] > 0
    for k in range(packed.shape[0]):
        copy_words(words[k], tree.words[0])
        equities[k] = look_ahead(model, plies, last, space, tree, wants_rows)
        if wants_rows:
            for j in range(_CHANCES):
                rows[k, j] = tree.rows[0, j]


@inline_kernel
def _is_settled(stakes, words):
    """Whether lookahead with a cube changes nothing: the game is over, or exact tables have the board."""
    return finished_points(words) != 0 or is_known(stakes, words)


@inline_kernel
def _take_if_better(stakes, states, side, play, tree, level):
    """Note a `play` of `side` for each of `states` in which it is the best so far; ``tree.held_after`` is
    what the opponent, on roll after it, has without a double."""
    now = stakes.like[stakes.state]
    value = turn_value(first_value(stakes, now, 1 - side, tree.held_after))
    is_played = value > tree.best[level, now]
    for state in range(MAX_STATES):
        if states >> state & 1:
            value = turn_value(first_value(stakes, state, 1 - side, tree.held_after))
            if is_played:
                tree.played[state] = value
            if value > tree.best[level, state]:
                tree.best[level, state], tree.play[level, state] = value, play


@inline_kernel
def _follow_the_present(stakes, states, tree, level):
    """Take for all `states` the reply of the present one where no other is clearly better.

    So a double now and one a roll later differ by the cube, and not by what the plays are worth by chance.
    """
    now = stakes.like[stakes.state]
    for state in range(MAX_STATES):
        if states >> state & 1 and tree.best[level, state] < tree.played[state] + CLEARLY:
            tree.best[level, state], tree.play[level, state] = tree.played[state], tree.play[level, now]


@lean_kernel(NOTHING)
def _choose_replies(model, stakes, side, level, high, low, space, tree):
    """Generate the plays of a roll into ``space.plays``, and find the best of them in each state of the cube.

    Of ``tree.words[level]``, where `side` moves; of the states ``tree.states[level]``.  The plays are left in
    ``tree.play[level]``, what they are worth to `side` in ``tree.best[level]``.
    """
    states, words, packed = tree.states[level], tree.words[level], tree.boards[level]
    after_states = with_doubles(stakes, states, 1 - side)
    count = generate_for(model, words, packed, high, low, space)
    considered, order = 1, space.filter_kept[:0]
    first, least = np.int64(0), -np.inf
    if model.kind != WEIGHTS:
        first = np.int64(_best_by_table(count, space.plays.scores))
    elif count > 1:
        considered, order = _filtered(model, count, space)
        score_boards(model, space.plays.words, space.plays.boards, order, considered, space, space.scores)
        least = _equity_of_score(model, _best_scored(considered, order, space)[1]) - _RIVALS_WITHIN
        if order.shape[0] > 0:
            first = np.int64(order[0])
    for state in range(MAX_STATES):
        tree.best[level, state], tree.play[level, state] = -np.inf, first
    for k in range(considered):
        if considered > 1 and _equity_of_score(model, turn_value(space.scores[k])) < least:
            continue
        play = first
        if considered > 1:
            play = np.int64(order[k] if order.shape[0] > 0 else k)
        after, board = space.plays.words[play], space.plays.boards[play]
        trace_value(model, after, board, space, space.row)
        hold_states(stakes, after_states, 1 - side, after, board, space.row, tree.held_after)
        _take_if_better(stakes, states, side, play, tree, level)
    _follow_the_present(stakes, states, tree, level)


@inline_kernel
def _open_level(tree, level):
    tree.number[level], tree.waiting[level] = 0, 0
    tree.held[level, :] = 0.0
    tree.rows[level, :] = 0.0


@inline_kernel
def _go_deeper(stakes, mover, level, tree):
    """Take one of the boards that wait at a `level`, where `mover` has moved, to the next level."""
    tree.waiting[level] -= 1
    place = tree.waiting[level]
    copy_words(tree.next_words[level, place], tree.words[level + 1])
    tree.wanted[level + 1] = tree.next_states[level, place]
    tree.states[level + 1] = with_doubles(stakes, tree.wanted[level + 1], 1 - mover)
    _open_level(tree, level + 1)


@inline_kernel
def _close_level(stakes, side, level, tree, wants_rows):
    """Add to the level above what the board of this one is worth, where `side`, on roll, may double first."""
    share = tree.share[level - 1]
    for state in range(MAX_STATES):
        if tree.wanted[level] >> state & 1:
            value = turn_value(first_value(stakes, state, side, tree.held[level]))
            tree.held[level - 1, state] += share * value
    if wants_rows and tree.wanted[level] >> stakes.like[stakes.state] & 1:
        turn_probabilities(tree.rows[level])
        _add_row(tree.rows[level], share, tree.rows[level - 1])


@inline_kernel
def _with_same_play(tree, level, states, first):
    """Those of `states`, from the `first` of them on, in which the reply is that of the `first`."""
    alike = 0
    for state in range(first, MAX_STATES):
        if states >> state & 1 and tree.play[level, state] == tree.play[level, first]:
            alike |= 1 << state
    return alike


@inline_kernel
def _take_replies(model, stakes, level, is_leaf, space, tree, wants_rows):
    """Add the replies in ``tree.play[level]`` to what the level holds, or have them wait to be looked at."""
    left, share = tree.states[level], tree.share[level]
    for first in range(MAX_STATES):
        if not left >> first & 1:
            continue
        play = tree.play[level, first]
        alike = _with_same_play(tree, level, left, first)
        left &= ~alike
        after = space.plays.words[play]
        if not is_leaf and not _is_settled(stakes, after):
            place = tree.waiting[level]
            copy_words(after, tree.next_words[level, place])
            tree.next_states[level, place] = alike
            tree.waiting[level] += 1
            continue
        for state in range(first, MAX_STATES):
            if alike >> state & 1:
                tree.held[level, state] += share * tree.best[level, state]
        if wants_rows and alike >> stakes.like[stakes.state] & 1:
            trace_value(model, after, space.plays.boards[play], space, space.row)
            turn_probabilities(space.row)
            _add_row(space.row, share, tree.rows[level])


@lean_kernel(NOTHING)
def look_ahead_with_cube(model, stakes, side, plies, last, space, tree, wants_rows):
    """Leave in ``tree.held[0]`` what the packed board in ``tree.words[0]`` is worth, `plies` further, to
    `side`, on roll, without a double before this roll, in each of the states ``tree.states[0]``.

    Both sides double and answer as is best for them at every later node.  A reply is the one that is best
    without lookahead: in the present state of the cube, or, where it is clearly better, in its own.  `last`
    and `wants_rows` are those of `look_ahead`; the probabilities are those of the present state.
    """
    if plies == 0 or _is_settled(stakes, tree.words[0]):
        trace_value(model, tree.words[0], tree.boards[0], space, tree.rows[0])
        hold_states(stakes, tree.states[0], side, tree.words[0], tree.boards[0], tree.rows[0], tree.held[0])
        return
    level, lot = 0, _lot(tree.words[0])
    _open_level(tree, 0)
    while level >= 0:
        mover = (side + level) % 2
        if tree.waiting[level] > 0:
            _go_deeper(stakes, mover, level, tree)
            level += 1
            continue
        number = tree.number[level]
        if number == _ROLL_COUNT:
            if level > 0:
                _close_level(stakes, mover, level, tree, wants_rows)
            level -= 1
            continue
        tree.number[level] += 1
        is_leaf = level + 1 == plies
        seen = last if level > 0 and is_leaf else EVERY_ROLL
        if seen and not _is_seen(number, tree.number[level - 1] - 1, seen, lot):
            continue
        tree.share[level] = _share(number, seen)
        _choose_replies(model, stakes, mover, level, ROLLS[number, 0], ROLLS[number, 1], space, tree)
        _take_replies(model, stakes, level, is_leaf, space, tree, wants_rows)


@lean_kernel(NOTHING)
def look_ahead_with_cube_many(model, stakes, side, packed, plies, last, space, tree, pairs, rows):
    """`look_ahead_with_cube` of packed boards (n, 64): writes float64 (n, 2) `pairs`, without a double and
    after one that is taken, and, unless it is empty, float64 (n, 5) `rows`."""
    words, wants_rows = words_of(packed), rows.shape[0] > 0
    state, ratio = stakes.like[stakes.state], stakes.ratio[stakes.state]
    doubled = stakes.doubled[stakes.state, side]
    states = np.int64(1) << state
    for k in range(packed.shape[0]):
        copy_words(words[k], tree.words[0])
        tree.states[0] = states if doubled < 0 else states | np.int64(1) << stakes.like[doubled]
        look_ahead_with_cube(model, stakes, side, plies, last, space, tree, wants_rows)
        pairs[k, 0] = pairs[k, 1] = ratio * tree.held[0, state]
        if doubled >= 0:
            pairs[k, 1] = stakes.ratio[doubled] * tree.held[0, stakes.like[doubled]]
        if wants_rows:
            for j in range(_CHANCES):
                rows[k, j] = tree.rows[0, j]
