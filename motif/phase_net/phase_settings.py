"""Settings of a training of the phase net."""

import math
import re
from dataclasses import dataclass, fields
from typing import Literal

from motif.runtime.errors import SEED_LIMIT, SettingError, check_seed
from motif.runtime.settings import setting

ITSELF = "best-of-four"
"""The player of stage 2, and by default its opponent."""
_NEXT_PLAYER = re.compile(r",(?!\w+=)")
"""Between players: the commas of ``rollout:PLAYER,trials=36`` are its own."""
_SEEDS_A_RUN = 10_000
_FIRST_ROUND_SEED = 100
_MAX_ROUNDS = _SEEDS_A_RUN - _FIRST_ROUND_SEED


@dataclass(frozen=True)
class PhaseNetSettings:
    """All that is needed to repeat a training run.

    Stage 1, the buffer and the batch are the source's.  Its stage 2 has 100 epochs a round, and no word
    of another learning rate; so trained the net soon loses to the heuristic that it came from.  One
    label a game and small steps make it better instead.
    """

    seed: int = 0
    stage: Literal["both", "1", "2"] = setting(
        "both", "Which stages: the heuristic's scores (1), who won (2), or both."
    )
    start: str | None = setting(
        None,
        "Go on training this net, which the command made, in place of a new one; stage 2 alone needs one.",
    )
    opponent: str = setting(
        "best-of-four",
        "Players that best-of-four meets in stage 2, separated by commas: as many games with each.",
    )
    scaling: bool = setting(
        True,
        "Scale inputs to shares of the largest that occur; without it the net sees plain counts and pips.",
    )
    games: int = setting(5000, "Games of random play whose boards teach the heuristic.")
    boards: int = setting(
        100_000, "Boards of these games at most, taken evenly; every tenth of them is held out."
    )
    epochs: int = setting(200, "Passes over them at most.")
    rate: float = setting(0.001, "Adam's learning rate while the heuristic is taught.")
    batch: int = setting(50, "Boards a step.")
    patience: int = setting(
        10, "Stage 1 ends after so many epochs that do not better the best one by `gain`."
    )
    gain: float = setting(0.0001, "What an epoch must gain, in squared errors added up, as in the source.")
    rounds: int = setting(20, "Rounds of stage 2 at most; winning every game of a round's match ends it too.")
    round_games: int = setting(5000, "Games of best-of-four that a round adds.")
    boards_a_game: int = setting(
        1, "Boards of each of them that enter the buffer: those of one game share an outcome."
    )
    buffer: int = setting(10_000, "Boards that are kept.")
    round_epochs: int = setting(10, "Passes over the buffer in a round.")
    round_rate: float = setting(0.00003, "Adam's learning rate in stage 2.")
    test_games: int = setting(2000, "Games of each match after a round; the refined net is chosen by them.")
    final_games: int = setting(10_000, "Games of each match at the end, with dice that chose nothing.")

    @property
    def opponents(self) -> tuple[str, ...]:
        """Names of the players that best-of-four meets in stage 2; a player's own commas are kept."""
        return tuple(name.strip() for name in _NEXT_PLAYER.split(self.opponent))

    def check(self) -> None:
        """Raise `SettingError` for a number out of range and for settings that exclude each other."""
        if self.stage == "2" and self.start is None:
            raise SettingError("stage 2 continues from a net: give {start}, too", "start")
        if len(set(self.opponents)) < len(self.opponents) or not all(self.opponents):
            raise SettingError(f"opponent must be different players, not {self.opponent!r}", "opponent")
        from motif.contests.result import MIN_PAIRS
        from motif.rollouts.rollout_settings import check_count

        check_seed(self.seed)
        if self.seed >= SEED_LIMIT // _SEEDS_A_RUN:
            raise SettingError(f"seed must be below {SEED_LIMIT // _SEEDS_A_RUN}, not {self.seed}", "seed")
        least = dict.fromkeys(("test_games", "final_games"), 2 * MIN_PAIRS) | dict.fromkeys(
            ("boards", "buffer"), 2 * self.batch
        )
        least["round_games"] = 2 * len(self.opponents) if self.opponents != (ITSELF,) else 1
        for item in fields(self):
            if item.type is int and item.name != "seed":
                check_count(item.name, getattr(self, item.name), least.get(item.name, 1))
        if self.rounds > _MAX_ROUNDS:
            raise SettingError(f"rounds must be at most {_MAX_ROUNDS}, not {self.rounds}", "rounds")
        for name in ("rate", "round_rate"):
            value = getattr(self, name)
            if not (math.isfinite(value) and 0 < value <= 1):
                raise SettingError(f"{name} must be above 0 and at most 1, not {value:g}", name)
        if not self.gain >= 0:
            raise SettingError(f"gain must be at least 0, not {self.gain:g}", "gain")

    def step_seed(self, step: int) -> int:
        """Seed of one step of the run; every step has its own."""
        return self.seed * _SEEDS_A_RUN + step

    def round_seed(self, number: int) -> int:
        """Seed of the games of round `number`, from 1 on."""
        return self.step_seed(_FIRST_ROUND_SEED + number - 1)
