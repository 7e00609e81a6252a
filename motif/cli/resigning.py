"""How a person at the table resigns."""

from motif.cli.asking import Asking
from motif.evaluators import Evaluator
from motif.players.game_session import GameSession
from motif.players.resignation import RESIGNATIONS, expected_loss, is_accepted


def offer_resignation(session: GameSession, asking: Asking, adviser: Evaluator) -> bool:
    """Ask what is offered and whether the other player accepts; whether the game has ended so.

    The `adviser` judges for a player without an opinion of his own.
    """
    possible = session.resignations()
    offered = possible[0]
    if len(possible) > 1:
        offered = asking.choose("Resign what?", [*possible, "back"])
        if offered == "back":
            return False
    points = RESIGNATIONS[offered] * session.cube
    other = session.seats[1 - session.on_roll]
    if not asking.agree(f"Give {other.name} {points} point{'s' * (points > 1)} and end the game?"):
        return False
    expects = ""
    if other.player is None:
        accepted = asking.agree(f"{other.name}, do you accept?")
    else:
        judge = other.player.evaluator or adviser
        accepted = is_accepted(session, judge, offered)
        worth = expected_loss(session.position, session.roll, judge) * session.cube
        expects = f": to {other.name} playing on is worth {worth:.2f} points"
    if accepted:
        session.resign(offered)
    else:
        asking.say(f"{other.name} declines{expects}.")
    return accepted
