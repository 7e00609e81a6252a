"""Configurations of bootstrap runs: versions, how each is sampled and fitted, how strength is measured."""

import re
from dataclasses import asdict, dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from motif.evaluators.lookahead import DEFAULT_DEPTH, DEPTHS, MAX_PLIES
from motif.learning.fit import FitSettings
from motif.runtime.documents import Entry, YamlTextError, parse_yaml
from motif.runtime.errors import SEED_LIMIT, MotifError, SettingError, shown
from motif.runtime.files import write_text
from motif.sampling import SamplePlan, SampleSettings
from motif.sampling.dataset import ROLLOUTS

CONFIG = "config.yaml"
_SEEDS_A_RUN = 1000
_FIRST_STRENGTH_SEED = 900
_MOST_VERSIONS = _SEEDS_A_RUN - _FIRST_STRENGTH_SEED
_FEWEST_STRENGTH_GAMES = 4
_SEED_LIMIT = SEED_LIMIT // _SEEDS_A_RUN
_LOOKAHEAD = re.compile(rf"@([1-{MAX_PLIES}])(?::(.*))?")
_PRESETS = resources.files("motif").joinpath("data", "presets")


@dataclass(frozen=True)
class VersionStep(SamplePlan):
    """How one version comes about: its samples, and how far back the fit reaches."""

    labels: str = ROLLOUTS
    """What labels the samples: `rollout`, or lookahead by the version before, as ``@2:thin``."""
    pooled: int = 0
    """How many earlier versions' samples join this version's in the fit."""
    fit: dict[str, Any] = field(default_factory=dict)
    """Fields of `FitSettings` that differ from those of the run."""

    def plan(self) -> dict[str, Any]:
        """The fields of `SamplePlan` alone."""
        return {item.name: getattr(self, item.name) for item in fields(SamplePlan)}

    @property
    def is_rolled_out(self) -> bool:
        """Whether rollouts label the samples."""
        return self.labels == ROLLOUTS

    def pooled_versions(self, version: int) -> range:
        """The versions whose samples the fit takes, with its own, when the step makes this `version`."""
        return range(max(0, version - self.pooled), version + 1)

    def sample_settings(self, player: str, seed: int) -> SampleSettings:
        """Settings for sampling with `player`."""
        label = self.labels if self.is_rolled_out else player + self.labels
        return SampleSettings(player=player, label=label, seed=seed, **self.plan())


@dataclass(frozen=True)
class BootstrapConfig:
    """All that is needed to repeat a run."""

    name: str
    """Versions are called NAME-v0, NAME-v1, ..."""
    start: str
    """The player that version zero's samples are rolled out by."""
    seed: int
    strength_games: int
    """Games of each match that measures a version."""
    fit: dict[str, Any] = field(default_factory=dict)
    """Fields of `FitSettings` that differ from its defaults."""
    versions: tuple[VersionStep, ...] = ()
    terms: bool = False
    """Write the table of each version's terms with their standard errors, too."""

    def fit_settings(self, version: int | None = None) -> FitSettings:
        """Settings of the run's fits, or of that of one version."""
        own = {} if version is None else self.versions[version].fit
        return FitSettings(**{"seed": self.seed, **self.fit, **own})

    def check(self) -> None:
        """Raise a `MotifError` for a value that makes no sense."""
        if not 0 <= self.seed < _SEED_LIMIT:
            raise SettingError(f"seed must be at least 0 and below {_SEED_LIMIT}, not {shown(self.seed)}")
        self.fit_settings().check()
        for version, step in enumerate(self.versions):
            try:
                step.sample_settings(self.start, self.step_seed(version)).check()
                self.fit_settings(version).check()
            except MotifError as error:
                raise SettingError(f"versions[{version}]: {error}") from None
            check_labels(step.labels, f"versions[{version}]: labels")
            if step.pooled < 0:
                raise SettingError(
                    f"versions[{version}]: pooled must be at least 0, not {shown(step.pooled)}"
                )
        if len(self.versions) > _MOST_VERSIONS:
            raise SettingError(f"versions: at most {_MOST_VERSIONS} are possible, not {len(self.versions)}")
        # Games come in pairs, and a single pair has no standard error.
        if self.strength_games < _FEWEST_STRENGTH_GAMES:
            raise SettingError(
                f"strength_games must be at least {_FEWEST_STRENGTH_GAMES}, not {shown(self.strength_games)}"
            )

    def step_seed(self, version: int) -> int:
        """Seed of a version's samples: each version has random streams of its own."""
        return self.seed * _SEEDS_A_RUN + version

    def strength_seed(self, version: int) -> int:
        """Seed of the matches that measure a version: one that no sampling uses."""
        return self.seed * _SEEDS_A_RUN + _FIRST_STRENGTH_SEED + version

    def save(self, folder: Path) -> None:
        """Write `config.yaml`."""
        document = asdict(self)
        document["versions"] = [asdict(step) for step in self.versions]
        write_text(folder / CONFIG, yaml.safe_dump(document, sort_keys=False))


def check_labels(labels: str, where: str) -> None:
    """Raise `SettingError` unless `labels` is ``rollout`` or lookahead, as ``@2:thin``."""
    ahead = _LOOKAHEAD.fullmatch(labels)
    if labels != ROLLOUTS and (ahead is None or (ahead[2] or DEFAULT_DEPTH) not in DEPTHS):
        raise SettingError(f"{where} must be rollout, or lookahead such as @2:thin, not {shown(labels)}")


def preset_names() -> list[str]:
    """Names of the presets that come with motif."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _PRESETS.iterdir())


def load_preset(name: str) -> BootstrapConfig:
    """The preset called `name`; raises `SettingError` when there is none."""
    if name not in preset_names():
        raise SettingError(f"no preset is called {name!r}; there are {', '.join(preset_names())}")
    return parse_config(_PRESETS.joinpath(f"{name}.yaml").read_text(encoding="utf-8"), f"preset {name}")


def load_config(path: Path) -> BootstrapConfig:
    """The configuration in a file; raises `SettingError`."""
    try:
        return parse_config(path.read_text(encoding="utf-8"), str(path))
    # A name with a zero byte in it is a ValueError, as bytes that are no UTF-8 are.
    except (OSError, ValueError) as error:
        raise SettingError(f"{path}: cannot be read: {error}") from None


def parse_config(text: str, where: str) -> BootstrapConfig:
    """Read a configuration; raises `SettingError` naming `where` and the key that is wrong."""
    try:
        document = parse_yaml(text)
    except YamlTextError as error:
        raise SettingError(f"{where}: not YAML: {error}") from None
    entry = Entry(document, where, SettingError, joint=": ")
    values = _values(entry, BootstrapConfig)
    steps = entry.get("versions")
    if not isinstance(steps.value, list) or not steps.value:
        steps.fail("must list at least one version")
    values["versions"] = tuple(VersionStep(**_values(step, VersionStep)) for step in steps.entries())
    config = BootstrapConfig(**values)
    try:
        config.check()
    except MotifError as error:
        raise SettingError(f"{where}: {error}") from None
    return config


def _values(entry: Entry, kind: Any) -> dict[str, Any]:
    """The fields of `kind`, one of which says how to fit."""
    return {**entry.fields(kind), "fit": entry.get("fit", {}).fields(FitSettings, partly=True)}
