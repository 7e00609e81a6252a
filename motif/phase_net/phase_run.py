"""The whole training: both stages, the matches that watch over it, and the files that it leaves.

A match is told as the share of games won, which is what the source reports.
"""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from motif.evaluators.nets.net import Net
from motif.evaluators.nets.net_evaluators import MoverScoreEvaluator
from motif.parameters.phase_set import PHASE_SET
from motif.phase_net.phase_classifier import PhaseNet, check_packages, onnx_bytes
from motif.phase_net.phase_samples import ReplayBuffer, Samples, heuristic_samples, outcome_samples
from motif.phase_net.phase_settings import PhaseNetSettings
from motif.players import EvaluatorPlayer, Player, load
from motif.players.match import match_points, match_result
from motif.runtime.errors import SettingError
from motif.runtime.files import contents, csv_text, replacing, working_in, write_text
from motif.runtime.progress import Stopwatch, progress


def duel(first: Player, second: Player, games: int, *, seed: int, jobs: int | None) -> dict[str, Any]:
    """How `first` did: ``games``, ``wins``, ``win_share``, ``ppg`` and standard errors of the last two.

    Dice are paired, as in `play_match`; the errors are taken over pairs of games.
    """
    points = match_points(first, second, games, seed, jobs)
    result = match_result(points)
    shares = (points > 0).mean(axis=1)
    return {
        "games": result.games,
        "wins": result.wins,
        "win_share": float(shares.mean()),
        "win_share_se": float(shares.std(ddof=1) / math.sqrt(len(shares))),
        "ppg": result.ppg,
        "ppg_se": result.se,
    }


SMALL_GAIN, ALL_EPOCHS = "small gain", "all epochs"
"""Why stage 1 ended."""


class Epoch(NamedTuple):
    """One pass over the boards of a round; stage 1 is round 0."""

    round: int
    epoch: int
    """From 1 on."""
    boards: int
    rmse_train: float
    """Over the pass, each batch before its step."""
    rmse_validation: float
    """After it, on boards of games that taught nothing (stage 1: boards that did not)."""


def learn_heuristic(
    net: PhaseNet, settings: PhaseNetSettings, samples: Samples, validation: Samples
) -> tuple[list[Epoch], str]:
    """Stage 1: train until the loss falls no more; return its epochs and why it ended.

    As in the source the loss is the sum of the squared errors of an epoch's batches.
    """
    epochs: list[Epoch] = []
    best, waited = math.inf, 0
    for epoch in _trained(
        "learning the heuristic", net, 0, samples, validation, settings.epochs, settings.rate
    ):
        epochs.append(epoch)
        loss = epoch.rmse_train**2 * epoch.boards
        waited = 0 if loss < best - settings.gain else waited + 1
        best = min(best, loss)
        if waited == settings.patience:
            return epochs, SMALL_GAIN
    return epochs, ALL_EPOCHS


def learn_outcomes(
    net: PhaseNet, number: int, settings: PhaseNetSettings, samples: Samples, validation: Samples
) -> list[Epoch]:
    """Round `number` of stage 2: train on the buffer's `samples`; return its epochs."""
    epochs, rate = settings.round_epochs, settings.round_rate
    return list(_trained(f"round {number}", net, number, samples, validation, epochs, rate))


def _trained(
    label: str, net: PhaseNet, number: int, samples: Samples, validation: Samples, epochs: int, rate: float
) -> Iterator[Epoch]:
    with progress(label, epochs) as advance:
        for epoch, loss in enumerate(net.train(*samples, epochs, rate), 1):
            yield Epoch(number, epoch, len(samples.targets), math.sqrt(loss), net.rmse(*validation))
            advance(1)


PRETRAINED, REFINED = "pretrained", "refined"
HISTORY, SUMMARY = "history.csv", "phase-net.json"
HEURISTIC, RANDOM = "phase", "random"
"""Players that the network is measured against."""
WON_EVERY_GAME, ALL_ROUNDS = "won every game", "all rounds"
"""Why stage 2 ended."""
# Steps of a run, each with a seed of its own.
_GAMES, _NET, _BUFFER, _VALIDATION, _CHOOSING, _REPORTING = range(6)
Tell = Callable[[str], None]


class PhaseNetTraining(NamedTuple):
    """What came of a run."""

    summary: dict[str, Any]
    """What ``phase-net.json`` holds: settings, stages, matches with standard errors, seconds."""
    epochs: list[Epoch]
    """The rows of ``history.csv``."""


def train_phase_net(
    folder: Path | str,
    settings: PhaseNetSettings,
    *,
    jobs: int | None = None,
    tell: Tell = lambda line: None,
) -> PhaseNetTraining:
    """Train the network, and write it to `folder` as it is before and after stage 2.

    The folder then holds ``pretrained.onnx``, ``refined.onnx``, ``history.csv`` (a row an epoch) and
    ``phase-net.json``, all written at the end.  Of the rounds of stage 2 the one
    that wins most games against the heuristic is kept; the matches that are reported at the end have
    other dice.  The same settings give the same nets for any number of `jobs`.  `tell` is given a line
    about each step.  Raises `SettingError` for settings out of range or a folder that is not empty,
    `FileError` when it cannot be written, `PlayerError` or `SettingError` when a package is missing.
    """
    settings.check()
    check_packages()
    folder = Path(folder)
    with working_in(folder):
        if files := contents(folder):
            raise SettingError(f"{folder}: is not empty (it holds {files[0].name}); choose another folder")
        training = _Training(settings, jobs, tell)
        summary = training.run()
        for name, model in training.models.items():
            with replacing(folder / f"{name}.onnx") as temporary:
                temporary.write_bytes(model)
        write_text(folder / HISTORY, csv_text(Epoch._fields, training.epochs))
        write_text(folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
    return PhaseNetTraining(summary, training.epochs)


class _Training:
    """One run: what it is made with, and what it has come to so far."""

    def __init__(self, settings: PhaseNetSettings, jobs: int | None, tell: Tell) -> None:
        self.settings, self.jobs, self.tell = settings, jobs, tell
        self.net = PhaseNet(settings.batch, settings.step_seed(_NET))
        self.epochs: list[Epoch] = []
        self.models: dict[str, bytes] = {}

    def run(self) -> dict[str, Any]:
        whole = Stopwatch()
        document: dict[str, Any] = {"settings": vars(self.settings)}
        seconds: dict[str, float] = {}
        steps = {"stage_1": self._pretrain, "stage_2": self._refine, "matches": self._report}
        for name, step in steps.items():
            stopwatch = Stopwatch()
            document[name] = step()
            seconds[name] = stopwatch.seconds
        return {**document, "seconds": whole.seconds, "seconds_by_step": seconds}

    def _pretrain(self) -> dict[str, Any]:
        settings = self.settings
        self.tell(f"{settings.games} games of random play")
        samples, validation = heuristic_samples(settings, settings.step_seed(_GAMES))
        self.tell(f"learning the heuristic from {len(samples.targets)} boards")
        epochs, stopped = learn_heuristic(self.net, settings, samples, validation)
        self.epochs += epochs
        self.models[PRETRAINED] = self._model(PRETRAINED)
        return {
            "boards": len(samples.targets),
            "epochs": len(epochs),
            "stopped": stopped,
            "rmse_train": epochs[-1].rmse_train,
            "rmse_validation": epochs[-1].rmse_validation,
        }

    def _refine(self) -> dict[str, Any]:
        settings = self.settings
        buffer = ReplayBuffer(settings.buffer, settings.step_seed(_BUFFER))
        validation = outcome_samples(settings, settings.step_seed(_VALIDATION))
        before = self.net.rmse(*validation)
        previous, rounds = self._player(PRETRAINED), []
        best, stopped = -1, ALL_ROUNDS
        for number in range(1, settings.rounds + 1):
            samples = buffer.add(outcome_samples(settings, settings.round_seed(number)))
            epochs = learn_outcomes(self.net, number, settings, samples, validation)
            self.epochs += epochs
            model = self._model(f"round-{number}")
            player = _player(f"round-{number}", model)
            match = self._duel(player, load(HEURISTIC), settings.test_games, _CHOOSING)
            rounds.append(
                {
                    "round": number,
                    "boards": len(samples.targets),
                    "rmse_train": epochs[-1].rmse_train,
                    "rmse_validation": epochs[-1].rmse_validation,
                    "versus_heuristic": match,
                    "versus_previous": self._duel(player, previous, settings.test_games, _CHOOSING),
                }
            )
            self.tell(f"round {number}: {_said(match)} against the heuristic")
            if match["wins"] > best:
                best, best_round = match["wins"], number
                self.models[REFINED] = self._model(REFINED)
            if match["wins"] == match["games"]:
                stopped = WON_EVERY_GAME
                break
            previous = player
        return {
            "stopped": stopped,
            "chosen_round": best_round,
            "rmse_validation_before": before,
            "rounds": rounds,
        }

    def _report(self) -> list[dict[str, Any]]:
        """Matches with dice that chose nothing."""
        nets = {name: self._player(name) for name in (PRETRAINED, REFINED)}
        others = {name: load(name) for name in (RANDOM, HEURISTIC)}
        pairs = [(name, other) for name in nets for other in others] + [(REFINED, PRETRAINED)]
        matches = []
        for name, other in pairs:
            opponent = nets.get(other) or others[other]
            match = self._duel(nets[name], opponent, self.settings.final_games, _REPORTING)
            matches.append({"player": name, "opponent": other, **match})
            self.tell(f"{name} against {other}: {_said(match)}")
        return matches

    def _duel(self, first: Player, second: Player, games: int, step: int) -> dict[str, Any]:
        return duel(first, second, games, seed=self.settings.step_seed(step), jobs=self.jobs)

    def _model(self, name: str) -> bytes:
        return onnx_bytes(self.net, f"phase-net-{name}")

    def _player(self, name: str) -> Player:
        return _player(name, self.models[name])


def _player(name: str, model: bytes) -> Player:
    """The player that a net's ONNX file makes: the one that later plays is the one that is measured."""
    return EvaluatorPlayer(MoverScoreEvaluator(name, Net(model, name), PHASE_SET))


def _said(match: dict[str, Any]) -> str:
    return (
        f"wins {100 * match['win_share']:.1f} ± {100 * match['win_share_se']:.1f} % of {match['games']} games"
    )
