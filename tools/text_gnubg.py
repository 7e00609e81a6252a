"""Ask a real gnubg questions in text mode."""

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import motif
from motif.board.identifiers import gnubg_ids
from motif.board.match_state import MatchState, match_id
from motif.board.position import Position
from motif.evaluators import Probabilities
from motif.players.gnubg_process import gnubg_path as gnubg_path

_TWO_PEOPLE_PLAYER_1_ON_ROLL = [
    "set automatic game off",
    "set automatic roll off",
    "set automatic move off",
    "set player 0 human",
    "set player 1 human",
    "new session",
    "set turn 1",
]
_SECONDS = 120
# Plain 0-ply playouts to the end on one thread, like motif's own full rollouts.
_FULL_ROLLOUTS = [
    "set threads 1",
    "set rollout cubeful off",
    "set rollout varredn off",
    "set rollout quasirandom off",
    "set rollout truncation enable off",
    "set rollout bearofftruncation exact off",
    "set rollout bearofftruncation onesided off",
    "set rollout initial off",
    "set rollout late enable off",
    "set rollout limit enable off",
    "set rollout jsd stop off",
    "set rollout chequerplay plies 0",
    "set rollout seed 1",
]


TABLE = Path(motif.__file__).parent / "data" / "met" / "Kazaross-XG2.xml"
"""gnubg's match equity table, the same as motif's."""
_CUBE_SETTINGS = [
    "set output digits 6",
    "set output matchpc off",
    "set output winpc off",
    f"set met {TABLE}",
    *(f"set evaluation cubedecision evaluation {what}" for what in ("cubeful on", "prune off", "noise 0")),
]
_EQUITY = re.compile(r"[123]\. (No (?:re)?double|(?:Double|Redouble), (?:take|pass|beaver)) +([-+][0-9.]+)")
_CUBE_ACTION = "Proper cube action:"


class CubeAnalysis(NamedTuple):
    """gnubg's analysis of a cube decision."""

    chances: Probabilities
    equities: dict[str, float]
    """Equities by the last word of the action: double (no double), take, pass."""
    action: str


def simple_board(position: Position) -> str:
    """Return `position` for `set board`: the bar of the player on roll, the 24 points, the other bar."""
    board = position.board.tolist()
    return "simple " + " ".join(map(str, [board[25], *board[1:25], board[0]]))


class TextGnubg:
    """gnubg in text mode; `path` is the program, and `home` the folder for its settings."""

    def __init__(self, path: str, home: Path) -> None:
        self.path = path
        self.home = home

    def raw_boards(self, commands: list[str]) -> list[list[int]]:
        """Return the 26 numbers of each board that gnubg prints in answer to `commands`.

        Player 1 is on roll and positive, so these are motif's boards, signs and bars included.
        """
        lines = [line.split(":") for line in self._answers("on", commands)]
        return [[int(field) for field in fields[6:32]] for fields in lines if fields[0] == "board"]

    def position_ids(self, commands: list[str]) -> list[str]:
        """Return the position ID of each board that gnubg draws in answer to `commands`."""
        lines = self._answers("off", commands)
        return [line.split()[-1] for line in lines if "Position ID:" in line]

    def plays(self, decisions: list[tuple[Position, tuple[int, int]]]) -> list[list[str]]:
        """Return every legal play of each of `decisions`, in gnubg's notation; none for a dance."""
        commands = []
        for position, (high, low) in decisions:
            commands += [f"set board {simple_board(position)}", f"set dice {high} {low}", "hint 9999"]
        plays: list[list[str]] = []
        for line in self._answers("on", commands):
            if line.startswith("board:"):
                plays.append([])
            elif play := re.match(r" *\d+\. Cubeful \S+ +(.*?) {2,}", line):
                plays[-1].append(play[1])
        return plays

    def cube_analyses(
        self, questions: list[tuple[Position, MatchState]], plies: int = 0
    ) -> list[CubeAnalysis]:
        """Return the analysis at `plies` of each of `questions`, in which the player on roll may double."""
        commands = [*_CUBE_SETTINGS, f"set evaluation cubedecision evaluation plies {plies}"]
        for position, state in questions:
            name = gnubg_ids(position.board[None])[0]
            commands += [f"set gnubgid {name}:{match_id(state)}"]
            commands += [f"set beavers {3 if state.beavers else 0}", "hint"]
        text = "\n".join(self._answers("off", commands))
        analyses = [_cube_analysis(part) for part in text.split("Cube analysis\n")[1:]]
        if len(analyses) != len(questions):
            raise RuntimeError(f"gnubg has answered {len(analyses)} of {len(questions)} questions")
        return analyses

    def best_plays(self, decisions: list[tuple[Position, tuple[int, int]]], plies: int) -> list[str]:
        """Return the play that gnubg ranks first, cubeless at `plies`, for each of `decisions`."""
        settings = [
            f"set evaluation chequerplay evaluation {what}" for what in (f"plies {plies}", "cubeful off")
        ]
        commands = ["set jacoby off", *settings]
        for position, (high, low) in decisions:
            commands += [f"set board {simple_board(position)}", f"set dice {high} {low}", "hint 1"]
        lines = self._answers("on", commands)
        return [play[1] for line in lines if (play := re.match(r" *1\. Cubeless \S+ +(.*?) {2,}", line))]

    def rollout_seconds(self, position: Position, trials: int) -> float:
        """Return the processor time of full 0-ply playouts of `position`, start-up included."""
        commands = [*_FULL_ROLLOUTS, f"set rollout trials {trials}", f"set board {simple_board(position)}"]
        before = os.times()
        text = self._run([*_TWO_PEOPLE_PLAYER_1_ON_ROLL, *commands, "rollout"])
        after = os.times()
        if "Rollout done" not in text:
            raise RuntimeError("gnubg did not roll out")
        return after.children_user + after.children_system - before.children_user - before.children_system

    def _answers(self, raw: str, commands: list[str]) -> list[str]:
        # The answers to `commands` follow the known answer to `set output rawboard`.
        script = [*_TWO_PEOPLE_PLAYER_1_ON_ROLL, f"set output rawboard {raw}", *commands]
        return self._run(script).partition("TTY boards will be given in ")[2].splitlines()

    def _run(self, script: list[str], seconds: float = _SECONDS) -> str:
        done = subprocess.run(
            [self.path, "-t", "-q"],
            input="\n".join([*script, "quit", "y", ""]),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
            env={**os.environ, "HOME": str(self.home), "LC_ALL": "C"},
        )
        return done.stdout


def _cube_analysis(text: str) -> CubeAnalysis:
    lines = text.split("\n")
    numbers = [float(word) for word in lines[1].replace(" - ", " ").split()]
    chances = Probabilities(*numbers[:3], *numbers[4:])
    equities = {}
    for line in lines:
        if match := _EQUITY.match(line):
            equities[match[1].lower().rpartition(" ")[2].removeprefix("re")] = float(match[2])
    action = next(line for line in lines if line.startswith(_CUBE_ACTION))
    return CubeAnalysis(chances, equities, action.removeprefix(_CUBE_ACTION).split("(")[0].strip().lower())
