"""What `motif play` tells of a session besides the conversation: its first line, and its result as JSON."""

from typing import Any

from motif.board.diagram import describe_rules
from motif.cli.tutor import Tutor
from motif.players.game_facts import game_facts
from motif.players.game_session import GameSession


def opening_line(session: GameSession) -> str:
    """Who plays, and for what."""
    rules = session.rules
    against = f"{session.seats[0].name} against {session.seats[1].name}"
    if rules.length:
        return f"{against}: a {describe_rules(session.state())}{', cubeless' * (not rules.cube)}."
    return f"{against}: {describe_rules(session.state()) if rules.cube else 'cubeless money games'}."


def play_result(session: GameSession, tutor: Tutor | None) -> dict[str, Any]:
    """The result of `session` as JSON has it; errors of persons where there was a `tutor`."""
    record, rules, winner = session.record(), session.rules, session.match_winner
    found = [game_facts(game) for game in record.games]
    return {
        "players": list(record.players),
        "length": rules.length,
        "cube": rules.cube,
        "jacoby": rules.jacoby,
        "beavers": rules.beavers,
        "score": list(session.score),
        "winner": None if winner is None else record.players[winner],
        "games": [facts.as_dict(record.players) for facts in found if facts is not None],
        "unfinished": None in found,
        "errors": None if tutor is None else {report.name: report.as_dict() for report in tutor.reports()},
    }
