"""The configuration of a bootstrap run: its versions, how each is sampled and fitted, and its seeds."""

import re
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from motif.contests.result import MIN_PAIRS
from motif.evaluators.lookahead import DEFAULT_DEPTH, DEPTHS, MAX_PLIES
from motif.evaluators.weight_file import LINE_WANTED, is_line
from motif.learning.fit import NO_TERM_TABLE
from motif.learning.fit_settings import FitSettings
from motif.runtime.documents import Entry, yaml_document, yaml_text
from motif.runtime.errors import MotifError, SettingError, plain_text, shown
from motif.runtime.files import text_of, write_text
from motif.runtime.limits import YAML_FILE
from motif.runtime.settings import SEED_LIMIT, changed, check_seed
from motif.sampling.dataset_files import ROLLOUTS
from motif.sampling.sample import OF_ROLLOUTS, SamplePlan, SampleSettings

CONFIG = "config.yaml"
_DEFAULT_PRESET = "demo"
_SEEDS_A_RUN = 1000
_FIRST_STRENGTH_SEED = 900
_MAX_VERSIONS = _SEEDS_A_RUN - _FIRST_STRENGTH_SEED
MIN_STRENGTH_GAMES = 2 * MIN_PAIRS
"""Fewer games have no standard error."""
_SEED_LIMIT = SEED_LIMIT // _SEEDS_A_RUN
_LOOKAHEAD = re.compile(rf"@([1-{MAX_PLIES}])(?::(.*))?")
_PRESETS = resources.files("motif").joinpath("data", "presets")


@dataclass(frozen=True)
class VersionStep(SamplePlan):
    """Settings of one version: its samples, and the earlier samples that its fit includes."""

    labels: str = ROLLOUTS
    """The labeller of the samples: `rollout`, or lookahead by the previous version, such as ``@2:thin``."""
    pooled: int = 0
    """Number of earlier versions whose samples are included in the fit."""
    fit: dict[str, object] = field(default_factory=dict)
    """Fields of `FitSettings` that differ from the run's."""

    def plan(self) -> dict[str, object]:
        """Return the fields of `SamplePlan`."""
        return {item.name: getattr(self, item.name) for item in fields(SamplePlan)}

    @property
    def is_rolled_out(self) -> bool:
        """Whether rollouts label the samples."""
        return self.labels == ROLLOUTS

    def pooled_versions(self, version: int) -> range:
        """Return the versions whose samples the fit of this `version` includes; its own are last."""
        return range(max(0, version - self.pooled), version + 1)

    def check_labels(self) -> None:
        """Raise `SettingError` unless `labels` is ``rollout`` or lookahead, such as ``@2:thin``."""
        ahead = _LOOKAHEAD.fullmatch(self.labels)
        if not self.is_rolled_out and (ahead is None or (ahead[2] or DEFAULT_DEPTH) not in DEPTHS):
            raise SettingError(
                f"labels must be rollout or lookahead such as @2:thin, not {shown(self.labels)}"
            )

    def sample_settings(self, player: str, seed: int) -> SampleSettings:
        """Return settings for sampling with `player`; those of rollouts only if rollouts label it."""
        label = self.labels if self.is_rolled_out else player + self.labels
        without = () if self.is_rolled_out else OF_ROLLOUTS
        plan = {name: value for name, value in self.plan().items() if name not in without}
        return changed(SampleSettings(player=player, label=label, seed=seed), plan)


@dataclass(frozen=True)
class BootstrapConfig:
    """Everything needed to repeat a run."""

    name: str
    """Versions are called NAME-v0, NAME-v1, ..."""
    start: str
    """The player for version zero's games and rollouts."""
    seed: int
    strength_games: int
    """Number of money games that measure a version."""
    fit: dict[str, object] = field(default_factory=dict)
    """Fields of `FitSettings` that differ from its defaults."""
    versions: tuple[VersionStep, ...] = ()
    terms: bool = False
    """Whether to write the table of each version's terms with their standard errors."""

    def fit_settings(self, version: int | None = None) -> FitSettings:
        """Return the settings of the run's fits, or of one version's."""
        own = {} if version is None else self.versions[version].fit
        return changed(FitSettings(seed=self.seed), {**self.fit, **own})

    def check(self, *, find_parameters: bool = True) -> None:
        """Raise a `MotifError` for an invalid value; if `find_parameters`, also for an unknown set."""
        if not is_line(self.name) or not is_line(self.label(_MAX_VERSIONS)):
            raise SettingError(f"name {LINE_WANTED}, including the version, not {shown(self.name)}")
        if not 0 <= self.seed < _SEED_LIMIT:
            raise SettingError(f"seed must be at least 0 and below {_SEED_LIMIT}, not {shown(self.seed)}")
        check_fit = FitSettings.check if find_parameters else FitSettings.check_values
        check_fit(self.fit_settings())
        for version, step in enumerate(self.versions):
            try:
                step.sample_settings(self.start, self.step_seed(version)).check()
                check_fit(self.fit_settings(version))
                if self.terms and self.fit_settings(version).hidden:
                    raise SettingError(NO_TERM_TABLE.replace("term_table", "terms", 1))
                step.check_labels()
                if step.pooled < 0:
                    raise SettingError(f"pooled must be at least 0, not {shown(step.pooled)}")
            except MotifError as error:
                raise SettingError(f"versions[{version}]: {error}") from None
        if len(self.versions) > _MAX_VERSIONS:
            raise SettingError(f"versions: there must be at most {_MAX_VERSIONS}, not {len(self.versions)}")
        if self.strength_games < MIN_STRENGTH_GAMES:
            raise SettingError(
                f"strength_games must be at least {MIN_STRENGTH_GAMES}, not {shown(self.strength_games)}"
            )

    def step_seed(self, version: int) -> int:
        """Return the seed of a version's samples, which have their own random streams."""
        return self.seed * _SEEDS_A_RUN + version

    def strength_seed(self, version: int) -> int:
        """Return the seed of the games that measure a version, unused by sampling."""
        return self.seed * _SEEDS_A_RUN + _FIRST_STRENGTH_SEED + version

    def label(self, version: int) -> str:
        """Return the name of a version, or of the start player for -1."""
        return self.start if version < 0 else f"{self.name}-v{version}"

    def save(self, folder: Path) -> None:
        """Write `config.yaml`."""
        write_text(folder / CONFIG, yaml_text(asdict(self)))


def preset_names() -> list[str]:
    """Return the names of the presets that come with motif."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _PRESETS.iterdir())


def load_preset(name: str) -> BootstrapConfig:
    """Return the preset called `name`; raises `SettingError` if there is none."""
    if not isinstance(name, str) or name not in preset_names():
        raise SettingError(f"no preset is called {shown(name)}; there are {', '.join(preset_names())}")
    return parse_config(_PRESETS.joinpath(f"{name}.yaml").read_text(encoding="utf-8"), f"preset {name}")


def load_config(path: Path, *, find_parameters: bool = True) -> BootstrapConfig:
    """Return the configuration in a file; raises `SettingError`.

    That of a run that was started elsewhere may name a parameter file that only its weights find; see
    `BootstrapConfig.check` for `find_parameters`.
    """
    text = text_of(path, SettingError, YAML_FILE)
    return parse_config(text, plain_text(str(path)), find_parameters=find_parameters)


def read_fit_settings(path: Path) -> FitSettings:
    """Return the settings of a fit from a YAML file; raises `SettingError`."""
    text = text_of(path, SettingError, YAML_FILE)
    entry = yaml_document(text, plain_text(str(path)), SettingError, joint=": ")
    return changed(FitSettings(), entry.fields(FitSettings, partly=True))


def parse_config(text: str, where: str, *, find_parameters: bool = True) -> BootstrapConfig:
    """Read a configuration; raises `SettingError`, which names `where` and the invalid key."""
    entry = yaml_document(text, where, SettingError, joint=": ")
    values = _values(entry, BootstrapConfig)
    steps = entry.get("versions")
    if not isinstance(steps.value, list) or not steps.value:
        steps.fail("must list at least one version")
    values["versions"] = tuple(VersionStep(**_values(step, VersionStep)) for step in steps.entries())
    config = BootstrapConfig(**values)
    try:
        config.check(find_parameters=find_parameters)
    except MotifError as error:
        raise SettingError(f"{where}: {error}") from None
    return config


def _values(entry: Entry, kind: type[VersionStep | BootstrapConfig]) -> dict[str, Any]:
    """Return the fields of `kind`, including the nested settings of the fit."""
    return {**entry.fields(kind), "fit": entry.get("fit", {}).fields(FitSettings, partly=True)}


def configured(preset: str | None, config: Path | None) -> BootstrapConfig:
    """Return the configuration in a file, or that of a preset, by default ``demo``.

    Raises `SettingError` if both are given, or as `load_preset` and `load_config` do.
    """
    if config is None:
        return load_preset(_DEFAULT_PRESET if preset is None else preset)
    if preset is not None:
        raise SettingError("preset: has no effect with a file of settings: give one of the two", "preset")
    return load_config(config)


def with_seed(config: BootstrapConfig, seed: int | None) -> BootstrapConfig:
    """Return the configuration with another seed; unchanged for None.  Raises `SettingError`."""
    if seed is None:
        return config
    check_seed(seed)
    return replace(config, seed=seed)
