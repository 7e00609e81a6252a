"""The page's view of a game: the JSON document that answers every decision.

The players are "me", the reader, and "opponent"; boards are seen by the reader, moves by their player.
"""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from motif.analysis.cube_records import as_shown
from motif.board.game_record import Action, MatchRecord, Turn, game_facts
from motif.board.identifiers import gnubg_id
from motif.board.match_state import owner_seen_by, owning_player
from motif.board.moves import Play, play_tree
from motif.board.packed import HOME
from motif.board.position import Position
from motif.board.xgid_ogid import xgid
from motif.runtime.frames import Record
from motif.session.advisor import default_advisor
from motif.session.event_game import GameStep, Objection
from motif.session.kept_game import KeptGame


def game_view(name: str, revision: int, game: KeptGame, steps: Sequence[GameStep] = ()) -> Record:
    """Describe the state of a game, with every legal decision.

    The next decision names `revision`; the page shows `steps` one by one.
    """
    session, settings = game.session, game.settings
    seat = settings.seat
    state = session.state()
    position = session.position
    asks, allowed = game.asks, game.allowed()
    owner = owner_seen_by(owning_player(state.cube_owner, session.on_roll), seat)
    without_match = not settings.rules.cube and not settings.rules.length
    identifier = gnubg_id(position) if without_match else xgid(position, state)
    return {
        "game": name,
        "revision": revision,
        "asks": asks,
        "opponent": settings.opponent,
        "name": settings.name,
        "rules": settings.to_dict()["rules"],
        "seed": settings.seed,
        "seat": seat,
        "number": session.games + (session.result is None),
        "score": own_first(session.score, seat),
        "crawford": state.crawford,
        "board": _board(position, session.on_roll, seat),
        "on_roll": _who(session.on_roll, seat),
        "roll": list(session.roll) if session.roll else None,
        "cube": {"value": session.cube, "owner": owner, "offered": session.doubled},
        "can": {
            "double": asks == "roll" and session.can_double,
            "beaver": "beaver" in session.answers,
            "undo": allowed["undo"],
            "resign": session.resignations() if allowed["resign"] else [],
        },
        "id": identifier,
        "xgid": xgid(position, state),
        "tree": tree_view(session.position, session.roll, session.plays)
        if asks == "play" and session.roll
        else None,
        "result": _result(session.record(), seat) if asks in ("next", "nothing") and game.events else None,
        "winner": None if session.match_winner is None else _who(session.match_winner, seat),
        "log": [_logged(action, seat) for action in _actions(session.record())],
        "events": [_event(step, seat) for step in steps],
    }


def _actions(record: MatchRecord) -> tuple[Action, ...]:
    """Return the actions of the last game, without a roll that is still to be played."""
    actions = record.games[-1].actions if record.games else ()
    return tuple(action for action in actions if not isinstance(action, Turn) or action.play is not None)


def _logged(action: Action, seat: int) -> Record:
    who = _who(action.player, seat)
    if isinstance(action, Turn):
        notation = "" if action.play is None else action.play.notation
        return {"do": "play", "who": who, "roll": action.roll, "play": notation}
    return {"do": action.kind, "who": who}


def _who(player: int, seat: int) -> str:
    return "me" if player == seat else "opponent"


def own_first(pair: tuple[int, int], seat: int) -> list[int]:
    """Return the numbers of both players, the reader's first."""
    return [pair[seat], pair[1 - seat]]


class PlayTreeView(TypedDict):
    """A `play_tree` for JSON."""

    bearoff: str | None
    """In a race with all checkers home, the only play that bears off the most checkers, if any."""
    steps: list[list[list[int]]]
    """Steps from each node: start, end, die and the node that follows."""
    plays: list[str | None]
    """The play of each node, if it is one."""


def tree_view(position: Position, roll: tuple[int, int], plays: list[Play]) -> PlayTreeView:
    """Return the `play_tree` of a roll for JSON."""
    nodes = play_tree(position, roll, plays)
    return {
        "bearoff": _bearoff(position, plays),
        "steps": [[[step.start, step.end, step.die, step.node] for step in node.steps] for node in nodes],
        "plays": [None if node.play is None else plays[node.play].notation for node in nodes],
    }


def _bearoff(position: Position, plays: list[Play]) -> str | None:
    own, other = (np.flatnonzero(side > 0) for side in (position.board, -position.board))
    if own[-1] > HOME or other[0] < own[-1]:
        return None
    borne_off = [play.position.opponent_off for play in plays]
    most = max(borne_off)
    is_only = borne_off.count(most) == 1 and most > position.own_off
    return plays[borne_off.index(most)].notation if is_only else None


def _board(position: Position, on_roll: int, seat: int) -> list[int]:
    """Return the 26 numbers of a position of the player `on_roll`, seen by the reader."""
    seen = position if on_roll == seat else position.switch_sides()
    return [int(count) for count in seen.board]


def _event(step: GameStep, seat: int) -> Record:
    words = {
        "do": step.word,
        "who": _who(step.player, seat),
        "board": _board(step.position, step.on_roll, seat),
    }
    if step.play is not None:
        play = step.play
        moves = [[*move, hit] for move, hit in zip(play.moves, play.hits, strict=True)]
        more = {"play": play.notation, "moves": moves, "forced": step.is_forced}
        return {**words, "roll": list(step.roll or ()), **more}
    if step.word in ("begin", "roll"):
        dice = step.event[1:]
        return {**words, "dice": dice[::-1] if step.word == "begin" and seat else dice}
    return words


def _result(record: MatchRecord, seat: int) -> Record:
    facts = game_facts(record.games[-1])
    assert facts is not None
    return {
        "winner": _who(facts.result.winner, seat),
        "points": facts.result.points,
        "kind": facts.kind,
        "cube": facts.cube,
        "dropped": facts.dropped,
        "resigned": facts.result.resigned,
        "jacoby": facts.jacoby,
    }


def objection_view(objection: Objection) -> Record:
    """Describe the tutor's warning."""
    choice = objection.choice
    words: Record = {
        "cost": objection.cost,
        "better": objection.better,
        "player": default_advisor().name,
    }
    if choice is None:
        judged = objection.cube
        assert judged is not None
        equities = {"no_double": judged.decision.no_double, "double_take": judged.decision.double_take}
        cost = as_shown(judged.decision).cost(objection.action)
        known = {**equities, "source": judged.source, "se": judged.se}
        return {**words, "cost": cost, "se": judged.se, "known": known}
    plays = [
        {**one.to_dict(), "notation": one.play.notation, "position": gnubg_id(one.play.position)}
        for one in choice.known
    ]
    return {**words, "source": choice.source, "se": choice.rolled and choice.rolled.se, "plays": plays}


def rolls_view(game: KeptGame) -> Record:
    """List the rolls of all games that have ended, game by game, and count how often each die fell."""
    session, seat = game.session, game.settings.seat
    games, faces = [], {"me": [0] * 6, "opponent": [0] * 6}
    for one in session.record().games[: session.games]:
        rolls = [action for action in one.actions if isinstance(action, Turn)]
        games.append([[_who(turn.player, seat), *turn.roll] for turn in rolls])
        for turn in rolls:
            for die in turn.roll:
                faces[_who(turn.player, seat)][die - 1] += 1
    doubles = {
        who: sum(roll[0] == who and roll[1] == roll[2] for rolls in games for roll in rolls) for who in faces
    }
    counts = {who: sum(faces[who]) // 2 for who in faces}
    return {"seed": game.settings.seed, "games": games, "faces": faces, "rolls": counts, "doubles": doubles}
