"""The joint fit of pairs and hidden units: gradients, planted weights, and bit-identical results."""

from dataclasses import replace

import numpy as np
import pytest

from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators.hidden_layer import squash_units
from motif.evaluators.probabilities import OUTPUTS
from motif.fitting import hidden_fit
from motif.fitting.hidden_fit import HiddenFit, HiddenRows, HiddenSettings, fit_hidden

SIZE = 6
SETTINGS = HiddenSettings(units=8, passes=3, rate=0.01, ranking=10.0, seed=2)


def planted(count: int = 4000, seed: int = 0) -> HiddenRows:
    """Rows whose probabilities depend on a product of two features, and on a bent function of two others."""
    random = np.random.default_rng(seed)
    features = random.random((count, SIZE)).astype(np.float32)
    bend = squash_units(5 * features[:, 2] + 5 * features[:, 3] - 5)
    raw = 2 * features[:, 0] * features[:, 1] - 0.5 + 0.4 * bend
    labels = np.zeros((count, len(OUTPUTS)), np.float32)
    labels[:, 0] = (np.tanh(raw) + 1) / 2
    labels[:, 1] = labels[:, 0] * 0.3
    boards = np.repeat(Position.start().board[None], count, axis=0)
    return HiddenRows(features, boards, labels, np.arange(count) // 4, count - count // 4)


def shown(fit: HiddenFit, rows: HiddenRows) -> np.ndarray:
    """The probabilities of `rows` by the weights in the form of a file."""
    squashed = squash_units(fit.weights.hidden.sums(rows.features, pack_many(rows.boards)))
    found = []
    for number, head in enumerate(fit.weights.heads.values()):
        products = rows.features[:, head.pairs[:, 0]] * rows.features[:, head.pairs[:, 1]]
        raw = head.bias + rows.features @ head.linear + products @ head.quadratic
        found.append((np.tanh(raw + squashed @ fit.weights.hidden.outputs[number]) + 1) / 2)
    return np.stack(found, axis=1)


def test_what_was_planted_is_found():
    rows = planted()
    fit = fit_hidden(rows, replace(SETTINGS, passes=200, rate=0.03))
    error = (shown(fit, rows) - rows.labels)[rows.training :, 0]
    assert np.sqrt(np.mean(error**2)) < 0.01
    assert fit.history[-1].rmse_validation < 0.1 * fit.history[0].rmse_validation
    assert np.abs(shown(fit, rows)[:, 2:]).max() < 0.02


def test_the_history_shows_what_the_weights_do():
    rows = planted()
    fit = fit_hidden(rows, replace(SETTINGS, passes=4))
    best = min(fit.history, key=lambda each: each.rmse_validation**2 + 10 * each.between_plays**2)
    assert fit.best == best
    error = ((shown(fit, rows) - rows.labels) * [2, 1, 1, -1, -1]).sum(axis=1)[rows.training :]
    apart = error - np.repeat(error.reshape(-1, 4).mean(axis=1), 4)
    assert np.sqrt(np.mean(error**2)) == pytest.approx(best.rmse_validation, rel=1e-3)
    assert np.sqrt(np.mean(apart**2)) == pytest.approx(best.between_plays, rel=1e-3)


def test_slopes_are_those_of_the_error():
    rows = planted(64)
    state = hidden_fit._FitState(hidden_fit._random_start(rows, SETTINGS), hidden_fit._scale(rows))
    random = np.random.default_rng(0)
    for weight in state.weights:
        weight += random.normal(0, 0.05, weight.shape).astype(np.float32)
    weights = hidden_fit._for_inputs(state.weights, state.scale)
    shard = np.arange(48), np.arange(0, 49, 4)

    def error(changed: hidden_fit._Weights) -> float:
        return float(hidden_fit._slopes(rows, state.scale, changed, 10.0, 48, shard)[1][0])

    slopes, _ = hidden_fit._slopes(rows, state.scale, weights, 10.0, 48, shard)
    for name, slope in zip(weights._fields, slopes, strict=True):
        array = getattr(weights, name)
        for _ in range(6):
            place = tuple(random.integers(0, length) for length in array.shape)
            step = 0.02
            sides = []
            for sign in (1, -1):
                moved = array.copy()
                moved[place] += sign * step
                sides.append(error(weights._replace(**{name: moved})))
            by_difference = (sides[0] - sides[1]) / (2 * step) / 48 / 2
            assert slope[place] == pytest.approx(by_difference, rel=0.05, abs=2e-5), name


def test_gammons_that_the_rules_exclude_have_no_slope():
    rows = planted(64)
    boards = rows.boards.copy()
    boards[:, :] = 0
    boards[:, 1], boards[:, 24] = 14, -14
    rows = replace(rows, boards=boards)
    state = hidden_fit._FitState(hidden_fit._random_start(rows, SETTINGS), hidden_fit._scale(rows))
    shard = np.arange(48), np.arange(0, 49, 4)
    slopes, _ = hidden_fit._slopes(
        rows, state.scale, hidden_fit._for_inputs(state.weights, state.scale), 10.0, 48, shard
    )
    assert (slopes[3][1:] == 0).all()
    assert slopes[3][0] != 0


@pytest.mark.parametrize("jobs", [2, 5])
def test_any_number_of_threads_gives_the_same_bytes(jobs):
    assert bytes_of(fit_hidden(planted(), SETTINGS)) == bytes_of(fit_hidden(planted(), SETTINGS, jobs=jobs))
    assert bytes_of(fit_hidden(planted(), SETTINGS)) != bytes_of(
        fit_hidden(planted(), replace(SETTINGS, seed=3))
    )


def test_an_interrupted_fit_goes_on(tmp_path):
    def stop(done):
        if done.number == 2:
            raise InterruptedError

    path = tmp_path / "state.npz"
    with pytest.raises(InterruptedError):
        fit_hidden(planted(), SETTINGS, checkpoint=path, on_pass=stop)
    numbers = []
    fit = fit_hidden(planted(), SETTINGS, checkpoint=path, on_pass=lambda done: numbers.append(done.number))
    assert numbers == [3]
    seconds = [each.seconds for each in fit.history]
    assert 0 < seconds[0] < seconds[1] < seconds[2]
    assert bytes_of(fit) == bytes_of(fit_hidden(planted(), SETTINGS))


def test_a_fit_that_starts_from_weights_begins_with_their_values():
    rows = planted()
    fit = fit_hidden(rows, replace(SETTINGS, passes=20, rate=0.03))
    on = fit_hidden(rows, replace(SETTINGS, passes=1, rate=0.0), start=fit.weights)
    assert shown(on, rows) == pytest.approx(shown(fit, rows), abs=1e-5)
    assert on.best.between_plays == pytest.approx(fit.best.between_plays, rel=1e-3)


@pytest.mark.parametrize("damage", ["torn", "another fit"])
def test_a_checkpoint_of_no_use_is_as_good_as_none(tmp_path, damage):
    path = tmp_path / "state.npz"
    fit_hidden(planted(), SETTINGS if damage == "torn" else replace(SETTINGS, units=5), checkpoint=path)
    if damage == "torn":
        path.write_bytes(path.read_bytes()[:1000])
    assert bytes_of(fit_hidden(planted(), SETTINGS, checkpoint=path)) == bytes_of(
        fit_hidden(planted(), SETTINGS)
    )


def test_without_validation_the_last_pass_counts():
    rows = planted()
    fit = fit_hidden(replace(rows, training=len(rows.labels)), SETTINGS)
    assert [each.rmse_validation for each in fit.history] == [None] * 3


def bytes_of(fit: HiddenFit) -> bytes:
    heads = [(head.linear, head.quadratic, np.array(head.bias)) for head in fit.weights.heads.values()]
    units = fit.weights.hidden
    arrays = [*sum(heads, ()), units.bias, units.inputs, units.points, units.outputs]
    return b"".join(each.tobytes() for each in arrays)
