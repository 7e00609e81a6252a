"""Legal plays by the rules: slow and plain, and independent of motif's generator.

A board is a tuple of 26 numbers from the side of the mover, who moves from 24 to 1. 25 is the mover's bar
and 0 the other player's bar; the mover's checkers are positive and the other player's negative.
"""

BAR = 25
OTHERS_BAR = 0
HOME = range(1, 7)
OUTSIDE_HOME = range(7, 26)
POINTS = range(1, 25)

PlainBoard = tuple[int, ...]


def may_move(board: PlainBoard, source: int, die: int) -> bool:
    """Whether the checker on `source` may move by `die`."""
    if board[source] <= 0:
        return False
    if board[BAR] > 0 and source != BAR:
        return False
    target = source - die
    if target >= 1:
        others_there = -board[target]
        return others_there < 2
    if any(board[point] > 0 for point in OUTSIDE_HOME):
        return False
    checkers_behind = any(board[point] > 0 for point in HOME if point > source)
    return target == 0 or not checkers_behind


def after_move(board: PlainBoard, source: int, die: int) -> PlainBoard:
    """The board after the checker on `source` has moved by `die`, hitting a blot if there is one."""
    after = list(board)
    after[source] -= 1
    target = source - die
    if target >= 1:
        if after[target] == -1:
            after[target] = 0
            after[OTHERS_BAR] -= 1
        after[target] += 1
    return tuple(after)


def play_in_order(board: PlainBoard, dice: list[int]) -> tuple[int, set[PlainBoard]]:
    """Play the dice in this order as far as possible; return the number played and every board reached."""
    boards = {board}
    for played, die in enumerate(dice):
        next_boards = {
            after_move(before, source, die)
            for before in boards
            for source in [BAR, *POINTS]
            if may_move(before, source, die)
        }
        if not next_boards:
            return played, boards
        boards = next_boards
    return len(dice), boards


def boards_after(board: PlainBoard, roll: tuple[int, int]) -> set[PlainBoard]:
    """Every board after a legal play of `roll`, still from the mover's side."""
    high, low = max(roll), min(roll)
    if high == low:
        return play_in_order(board, [high] * 4)[1]
    high_first, boards_high_first = play_in_order(board, [high, low])
    low_first, boards_low_first = play_in_order(board, [low, high])
    if high_first == low_first == 2:
        return boards_high_first | boards_low_first
    # Here at least one order does not allow both dice.  If the other order does, both must be played; if
    # only one die can be played, it must be the higher die where possible.
    return boards_high_first if high_first >= low_first else boards_low_first


def other_view(board: PlainBoard) -> PlainBoard:
    """The board from the other player's side."""
    return tuple(-checkers for checkers in reversed(board))


def legal_results(board: PlainBoard, roll: tuple[int, int]) -> set[PlainBoard]:
    """Every board after a legal play of `roll`, from the side of the other player, who is next."""
    return {other_view(after) for after in boards_after(board, roll)}
