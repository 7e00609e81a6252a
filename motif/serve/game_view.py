"""A game as the page shows it: the JSON document that answers every decision.

Players are "me", the person, and "opponent"; boards are seen by the person, moves by their player.
"""

from collections.abc import Sequence
from typing import Any

from motif.board.game_record import Action, MatchRecord, Turn, game_facts
from motif.board.identifiers import gnubg_id
from motif.board.match_ids import xgid
from motif.board.match_state import match_id
from motif.board.moves import Play, play_tree
from motif.board.position import Position
from motif.session.event_game import GameStep, Objection
from motif.session.kept_game import KeptGame, default_advisor


def game_view(name: str, revision: int, game: KeptGame, steps: Sequence[GameStep] = ()) -> dict[str, Any]:
    """Describe the state of a game, with every legal decision.

    A decision is to be made at `revision`; the page shows `steps` one by one.
    """
    session, settings = game.session, game.settings
    seat = settings.seat
    state = session.state()
    position = session.position
    asks = game.asks
    owner = {"me": "opponent", "opponent": "me"}.get(state.cube_owner, "centre")
    if session.on_roll == seat:
        owner = state.cube_owner
    without_match = not settings.rules.cube and not settings.rules.length
    identifier = gnubg_id(position) if without_match else f"{gnubg_id(position)}:{match_id(state)}"
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
            "undo": asks not in ("next", "nothing", "wait") and session.can_undo,
            "resign": session.resignations() if asks in ("roll", "play") else [],
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
    return tuple(one for one in actions if not isinstance(one, Turn) or one.play is not None)


def _logged(action: Action, seat: int) -> dict[str, Any]:
    who = _who(action.player, seat)
    if isinstance(action, Turn):
        notation = "" if action.play is None else action.play.notation
        return {"do": "play", "who": who, "roll": action.roll, "play": notation}
    return {"do": action.kind, "who": who}


def _who(player: int, seat: int) -> str:
    return "me" if player == seat else "opponent"


def own_first(pair: tuple[int, int], seat: int) -> list[int]:
    """Order what both players have, the person's first."""
    return [pair[seat], pair[1 - seat]]


def tree_view(position: Position, roll: tuple[int, int], plays: list[Play]) -> dict[str, Any]:
    """Return `play_tree` for JSON: each step's start, end, die and node, and each node's play."""
    nodes = play_tree(position, roll, plays)
    return {
        "steps": [[[step.start, step.end, step.die, step.node] for step in node.steps] for node in nodes],
        "plays": [None if node.play is None else plays[node.play].notation for node in nodes],
    }


def _board(position: Position, on_roll: int, seat: int) -> list[int]:
    """Return the 26 numbers of a position that the player `on_roll` sees, seen by the person."""
    seen = position if on_roll == seat else position.switch_sides()
    return [int(count) for count in seen.board]


def _event(step: GameStep, seat: int) -> dict[str, Any]:
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
        return {**words, "dice": own_first((dice[0], dice[1]), seat) if step.word == "begin" else dice}
    return words


def _result(record: MatchRecord, seat: int) -> dict[str, Any]:
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


def objection_view(objection: Objection) -> dict[str, Any]:
    """Describe the tutor's warning."""
    choice = objection.choice
    words: dict[str, Any] = {
        "cost": objection.cost,
        "better": objection.better,
        "player": default_advisor().name,
    }
    if choice is None:
        return words
    plays = choice.better.play, choice.worse.play
    return {
        **words,
        "source": choice.source,
        "plays": [
            {"notation": play.notation, "equity": equity, "position": gnubg_id(play.position)}
            for play, equity in zip(plays, choice.equities, strict=True)
        ],
    }


def rolls_view(game: KeptGame) -> dict[str, Any]:
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
        who: sum(one[0] == who and one[1] == one[2] for rolls in games for one in rolls) for who in faces
    }
    counts = {who: sum(faces[who]) // 2 for who in faces}
    return {"seed": game.settings.seed, "games": games, "faces": faces, "rolls": counts, "doubles": doubles}
