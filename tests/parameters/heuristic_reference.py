"""The features of BRAS and of the phase heuristic, computed slowly as their sources describe them.

BRAS counts in my numbering: Y_i and O_i are my and the opponent's checkers on point i. The phase heuristic
looks at the player who moved last, in that player's numbering.
"""

from itertools import groupby

PlainBoard = tuple[int, ...]


def bras(board: PlainBoard) -> dict[str, float]:
    """The eleven features before normalisation, with risks in tenths."""
    y = {i: max(board[i], 0) for i in range(1, 25)}
    o = {i: max(-board[i], 0) for i in range(1, 25)}
    b_y, b_o = board[25], -board[0]
    off_y, off_o = 15 - sum(y.values()) - b_y, 15 - sum(o.values()) - b_o
    pip_y = sum(i * y[i] for i in y) + 25 * b_y
    pip_o = sum((25 - i) * o[i] for i in o) + 25 * b_o
    risk = {i: 15 if i <= 6 else 10 if i <= 18 else 12 for i in y}
    near, far, middle = range(1, 7), range(19, 25), range(7, 19)

    def held(side, points):
        return sum(side[i] >= 2 for i in points)

    def prime(side):
        runs = [len(list(run)) for closed, run in groupby(side[i] >= 2 for i in range(1, 25)) if closed]
        return min(max(runs, default=0), 6)

    def stacked(side):
        return sum(max(side[i] - 5, 0) for i in side)

    return {
        "pip": pip_o - pip_y,
        "bar": b_o - b_y,
        "off": off_y - off_o,
        "hb": held(y, near) - held(o, far),
        "prime": prime(y) - prime(o),
        "anch": held(y, far) - held(o, near),
        "blot": sum(risk[25 - i] for i in o if o[i] == 1) - sum(risk[i] for i in y if y[i] == 1),
        "stack": stacked(o) - stacked(y),
        "out": held(y, middle) - held(o, middle),
        "x1": held(y, near) * b_o - held(o, far) * b_y,
        "x2": prime(y) * held(o, near) - prime(o) * held(y, far),
    }


def _sixteen(board: PlainBoard) -> list[tuple[str, float]]:
    """Half of the 16 features, for the player whose checkers are positive."""
    points = {i: board[i] for i in range(1, 25) if board[i] > 0}
    on_bar = max(board[25], 0)
    in_play = sum(points.values()) + on_bar
    return [
        ("occupied_points", sum(n >= 2 for n in points.values())),
        ("borne_off", 15 - in_play),
        ("on_bar", on_bar),
        ("blot_distance", sum(i for i, n in points.items() if n == 1)),
        ("total_distance", sum(i * n for i, n in points.items())),
        ("excess_distance", sum((i - 6) * n for i, n in points.items() if i > 6)),
        ("blots", sum(n == 1 for n in points.values())),
        ("on_board", in_play),
    ]


def phase(board: PlainBoard) -> dict[str, float]:
    """The 48 gated features; `board` is from the side of the player on roll, who did not move last."""
    mover = tuple(-n for n in reversed(board))
    pieces_out = sum(n for i, n in enumerate(mover) if n > 0 and i > 6)
    current = "late" if pieces_out < 3 else "early" if pieces_out > 8 else "mid"
    names = [name for name, _ in _sixteen(mover)]
    values = dict(_sixteen(mover)) | {f"opponent_{name}": value for name, value in _sixteen(board)}
    order = [*names, *(f"opponent_{name}" for name in reversed(names))]
    return {
        f"{gate}_{name}": float(values[name]) if gate == current else 0.0
        for gate in ("early", "mid", "late")
        for name in order
    }
