"""The versions of a run on benchmark lines: error rates, and the last one's worst decisions."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from motif.benchmark import BenchmarkFile, ErrorRate, ErrorRates
from motif.benchmark.choices import player_choices, summary
from motif.benchmark.worst_decisions import WorstDecision, worst_decisions
from motif.evaluators import WeightFile
from motif.evaluators.static import from_weights
from motif.players.player import CompiledPlayer


@dataclass(frozen=True)
class RunBenchmark:
    """What measuring a run's versions on benchmark files gave."""

    rates: Sequence[ErrorRates]
    """Of each version."""
    worst: Sequence[WorstDecision]
    """Of the last version, the one that cost most first."""

    def rows(self) -> dict[str, list[ErrorRate]]:
        """The error rates of the versions by file, and on all files together where there are several."""
        paths = list(self.rates[0].files)
        names = dict(zip(paths, _short_names(paths), strict=True))
        found = {name: [rates.files[path] for rates in self.rates] for path, name in names.items()}
        return found if len(found) == 1 else {**found, "all": [rates.overall for rates in self.rates]}


def static_player(weights: WeightFile) -> CompiledPlayer:
    """Who plays by `weights` without looking ahead."""
    evaluator = from_weights(weights)
    return CompiledPlayer(weights.name, evaluator.model, evaluator)


def run_benchmark(
    versions: Sequence[WeightFile], files: Sequence[BenchmarkFile], worst: int
) -> RunBenchmark | None:
    """Measure all `versions` on `files`, and find the `worst` decisions of the last; None for no file."""
    if not files:
        return None
    # Less work than it is to start processes: static evaluators play thousands of decisions a second.
    choices = [[player_choices(static_player(one), file, jobs=1) for file in files] for one in versions]
    return RunBenchmark(list(map(summary, choices)), worst_decisions(choices[-1], worst))


def _short_names(paths: Sequence[str]) -> list[str]:
    """The names of files without folders and endings, where these still differ."""
    names = [PurePath(path).name.partition(".")[0] for path in paths]
    return names if all(names) and len(set(names)) == len(names) else list(paths)
