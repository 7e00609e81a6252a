"""A tiny hand-written bootstrap run, with the same files as `run_bootstrap` leaves."""

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from motif.board.identifiers import boards_from_gnubg_ids, gnubg_ids
from motif.board.packed import Board, pack_many
from motif.evaluators import OUTPUTS, WeightFile
from motif.evaluators.weight_file import HeadWeights
from motif.learning.bootstrap_config import BootstrapConfig, VersionStep
from motif.learning.cross_check import CrossCheck
from motif.learning.label_noise import NoiseFreeError
from motif.learning.version_summary import VersionSummary
from motif.parameters import parameter_set
from motif.parameters.position_class import classify_many
from motif.sampling.dataset import Dataset
from motif.sampling.dataset_files import write_manifest, write_part

GAMES, POSITIONS_A_GAME = 40, 10


def made_rows(
    fits: Sequence[tuple[str, str]], passes: int = 4, validation: bool = True
) -> list[dict[str, Any]]:
    """History rows whose errors fall from pass to pass."""
    return [
        {
            "class": class_name,
            "head": head,
            "pass": k,
            "error": 0.1 / (k + 1),
            "rmse_train": 0.3 / (k + 1),
            "rmse_validation": 0.35 / (k + 1) if validation else None,
            "seconds": 0.5 * k,
            "label_noise": 0.05 if head == "equity" else None,
        }
        for class_name, head in fits
        for k in range(passes + 1)
    ]


def made_boards(count: int, rng: np.random.Generator) -> Board:
    """Boards of all kinds: each side's checkers on different places, some borne off in races."""
    boards = np.zeros((count, 26), np.int8)
    for row, board in enumerate(boards):
        race = row % 3 == 0
        own, other = (np.arange(1, 7), np.arange(19, 25)) if race else np.split(rng.permutation(24) + 1, 2)
        for places, sign in ((own, 1), (other, -1)):
            checkers = int(rng.integers(8, 16)) if race and row % 2 else 15
            np.add.at(board, rng.choice(places, checkers), np.int8(sign))
    return boards


def made_samples(seed: int = 0, games: int = GAMES, trials: int = 9) -> Dataset:
    """Random boards with random labels."""
    rng, count = np.random.default_rng(seed), games * POSITIONS_A_GAME
    boards = made_boards(count, rng)
    chances = np.sort(rng.random((count, 5)).astype(np.float32), axis=1)
    return Dataset(
        boards=boards,
        probabilities=chances[:, [4, 1, 0, 3, 2]],
        equity=np.clip(rng.normal(0, 1, count), -3, 3).astype(np.float32),
        equity_se=np.full(count, 0.2, np.float32),
        trials=np.full(count, trials, np.int32),
        game=np.repeat(np.arange(games, dtype=np.int32), POSITIONS_A_GAME),
        ply=np.zeros(count, np.int32),
        decision=np.arange(count, dtype=np.int64),
        chosen=np.ones(count, np.bool_),
        position_class=classify_many(pack_many(boards)),
    )


def made_weights(name: str, heads: Sequence[str], pairs: bool = True) -> WeightFile:
    """Small weights of the set keith; the same heads in every class."""
    chosen, rng = parameter_set("keith"), np.random.default_rng(3)
    size = len(chosen)
    indices = np.array([[i, j] for j in range(size) for i in range(j + 1)] if pairs else [], np.int64)

    def head() -> HeadWeights:
        linear, quadratic = (rng.normal(0, 0.2, n).astype(np.float32) for n in (size, len(indices)))
        return HeadWeights(0.0, linear, indices.reshape(-1, 2), quadratic)

    classes = {kind: {output: head() for output in heads} for kind in ("contact", "race")}
    return WeightFile(name, 0, None, chosen, classes)


def write_samples(folder: Path, samples: Dataset) -> None:
    columns = {name: samples.probabilities[:, k] for k, name in enumerate(OUTPUTS)}
    names = ("equity", "equity_se", "trials", "game", "ply", "decision", "chosen")
    columns |= {name: getattr(samples, name) for name in names}
    columns |= {"position": gnubg_ids(samples.boards), "cls": samples.position_class}
    write_manifest(folder, {}, [write_part(folder, 0, columns, {})], complete=True)
    assert (boards_from_gnubg_ids(columns["position"]) == samples.boards).all()


def made_summary(name: str, version: int, validation: bool = True) -> VersionSummary:
    return VersionSummary(
        version=version,
        name=f"{name}-v{version}",
        positions=12345,
        trials=9,
        sample_settings={},
        seconds=60.0,
        seconds_by_step={"sample": 30.0, "fit": 20.0, "measure": 10.0},
        rmse_train=0.1234,
        rmse_validation=0.1432 if validation else None,
        validation_errors={
            "win": NoiseFreeError(0.1432 if validation else None, None),
            "equity": NoiseFreeError(0.3413, math.sqrt(0.3413**2 - (0.126 - 0.01 * version) ** 2)),
        },
        sweeps=6,
        stopped="converged",
        samples=12345,
        cross_check=CrossCheck(
            place="race.win_gammon",
            terms=209,
            positions=4321,
            method="gauss-newton",
            rmse_train=0.0711111,
            seconds=1.25,
            check_method="least-squares",
            check_rmse_train=0.0711112,
            seconds_check=2.5,
            check_stopped="converged",
            error_difference=3e-9,
            weight_difference=4e-5,
        ),
        choice_error={},
        choice_error_se={},
        choice_error_before_pruning={},
        heads={},
        warnings=[],
        ppg_vs_pubeval=0.111 * (version + 1),
        ppg_se=0.012,
        ppg_vs_previous=-0.222,
        ppg_vs_previous_se=0.013,
    )


def write_run(
    folder: Path,
    versions: int = 2,
    *,
    name: str = "tiny",
    planned: int | None = None,
    heads: Sequence[str] = (*OUTPUTS, "equity"),
    validation: float = 0.2,
    pooled: int = 0,
) -> BootstrapConfig:
    """Write a run of `versions` finished versions out of `planned`."""
    steps = tuple(VersionStep(GAMES, 9, cut=7 * k, pooled=pooled) for k in range(planned or versions))
    fit = {"parameters": "keith", "validation": validation}
    config = BootstrapConfig(name, "simple", 5, 100, fit, steps)
    config.save(folder)
    for version in range(versions):
        home = folder / f"v{version}"
        write_samples(home / "samples", made_samples(version))
        made_weights(f"{name}-v{version}", heads).save(home / "weights.yaml")
        rows = made_rows([(kind, head) for kind in ("contact", "race") for head in heads], 4, validation > 0)
        with open(home / "history.csv", "w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        summary = made_summary(name, version, validation > 0)
        (home / "summary.json").write_text(json.dumps(summary.to_dict()), encoding="utf-8")
    return config
