"""Settings for training the phase net."""

import math
import re
from dataclasses import dataclass, fields
from typing import Literal

from motif.runtime.errors import SettingError
from motif.runtime.settings import (
    SEED_LIMIT,
    SettingFields,
    check_count,
    check_seed,
    check_types,
    documented,
    setting,
)

ITSELF = "best-of-four"
"""The player of stage 2, and its default opponent."""
_NEXT_PLAYER = re.compile(r",(?!\w+=)")
"""Separator of players; the comma in ``rollout:PLAYER,trials=36`` belongs to the name."""
_SEEDS_A_RUN = 10_000
_FIRST_ROUND_SEED = 100
_MAX_ROUNDS = _SEEDS_A_RUN - _FIRST_ROUND_SEED


@dataclass(frozen=True)
class _GeneralSettings(SettingFields):
    seed: int = setting(0, "Random seed.")
    stage: Literal["both", "1", "2"] = setting(
        "both", "Stages: the heuristic's scores (1), game outcomes (2), or both."
    )
    start: str | None = setting(
        None, "Continue training this net, written by this command; required for stage 2 alone."
    )
    opponent: str = setting(
        "best-of-four",
        "Opponents of best-of-four in stage 2 (comma-separated), with equal numbers of games.",
    )
    scaling: bool = setting(
        True, "Scale inputs to shares of their largest values; otherwise they are counts and pips."
    )


@dataclass(frozen=True)
class _HeuristicSettings(_GeneralSettings):
    """Settings of stage 1, with the source's values."""

    games: int = setting(5000, "Games of random play in stage 1.")
    boards: int = setting(100_000, "Maximum boards of these games, evenly spaced; every tenth is held out.")
    epochs: int = setting(200, "Maximum epochs of stage 1.")
    rate: float = setting(0.001, "Adam's learning rate in stage 1.")
    batch: int = setting(50, "Batch size.")
    patience: int = setting(
        10, "Stage 1 ends after this many epochs without an improvement of at least `gain`."
    )
    gain: float = setting(0.0001, "Minimum improvement of the sum of squared errors.")


@documented
@dataclass(frozen=True)
class PhaseNetSettings(_HeuristicSettings):
    """All settings that determine a training run.

    Stage 1, the buffer and the batch size are those of the source. The source's stage 2 has 100 epochs per
    round and the same learning rate, which makes the net worse than the heuristic that it learned; one label
    per game and small steps improve it.
    """

    rounds: int = setting(
        20, "Maximum rounds of stage 2, which also ends when a round's net wins all its test games."
    )
    round_games: int = setting(5000, "Games of best-of-four per round.")
    boards_a_game: int = setting(
        1, "Boards per game that enter the buffer (boards of one game share the outcome)."
    )
    buffer: int = setting(10_000, "Size of the replay buffer in boards.")
    round_epochs: int = setting(10, "Epochs per round.")
    round_rate: float = setting(0.00003, "Adam's learning rate in stage 2.")
    test_games: int = setting(2000, "Money games after each round, by which the refined net is chosen.")
    final_games: int = setting(10_000, "Money games per final contest, with other dice.")

    @property
    def opponents(self) -> tuple[str, ...]:
        """Names of the opponents of best-of-four in stage 2."""
        return tuple(name.strip() for name in _NEXT_PLAYER.split(self.opponent))

    def check(self) -> None:
        """Raise `SettingError` for an invalid or contradictory setting."""
        check_types(self, SettingError)
        if self.stage == "2" and self.start is None:
            raise SettingError("stage 2 alone requires {start}, a net to continue from", "start")
        if len(set(self.opponents)) < len(self.opponents) or not all(self.opponents):
            raise SettingError(f"opponent must name different players, not {self.opponent!r}", "opponent")
        from motif.contests.result import MIN_PAIRS

        check_seed(self.seed)
        if self.seed >= SEED_LIMIT // _SEEDS_A_RUN:
            raise SettingError(f"seed must be below {SEED_LIMIT // _SEEDS_A_RUN}, not {self.seed}", "seed")
        least = dict.fromkeys(("test_games", "final_games"), 2 * MIN_PAIRS) | dict.fromkeys(
            ("boards", "buffer"), 2 * self.batch
        )
        # Every tenth board is held out, so with fewer than ten there are none to train on or to test.
        least["boards"] = max(least["boards"], 10)
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
        """Return the seed of a step of the run."""
        return self.seed * _SEEDS_A_RUN + step

    def round_seed(self, number: int) -> int:
        """Return the seed of the games of round `number`, from 1."""
        return self.step_seed(_FIRST_ROUND_SEED + number - 1)
