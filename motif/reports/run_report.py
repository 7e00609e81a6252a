"""Draws what a bootstrap run's folder holds: plots of each version, plots and a page of the run."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from motif.bootstrap import BootstrapConfig, load_config
from motif.bootstrap.config import CONFIG
from motif.bootstrap.pool import held_out
from motif.bootstrap.run import HISTORY, SAMPLES, SUMMARY, TERMS, WEIGHTS
from motif.evaluators import StaticEvaluator, WeightFile, read_weight_file
from motif.evaluators.static import weights_model
from motif.fitting.term_table import HeadTerms
from motif.reports.calibration import plot_calibration
from motif.reports.convergence import Rows, plot_convergence, plot_run_convergence
from motif.reports.document import Picture
from motif.reports.largest_terms import CONTACT
from motif.reports.page import report_page
from motif.reports.strength import plot_strength
from motif.reports.terms import chosen_head, table_terms
from motif.runtime.errors import SettingError
from motif.runtime.files import write_text
from motif.sampling.manifest import MANIFEST

CONVERGENCE, CALIBRATION, STRENGTH = "convergence.png", "calibration.png", "strength.png"
REPORT = "report.html"

_NEEDED = {
    "version", "name", "positions", "trials", "seconds_by_step", "rmse_train", "rmse_validation", "sweeps",
    "stopped", "ppg_vs_pubeval", "ppg_se", "ppg_vs_previous", "ppg_vs_previous_se",
}  # fmt: skip
_READING = {
    STRENGTH: ("Strength", "Each version's points a game, against PubEval and against the one before."),
    CONVERGENCE: (
        "Convergence",
        "How the errors fell from pass to pass of each version's fits. A validation error that rises again "
        "belongs to a fit that learns its samples by heart. Errors hold the noise of the labels, so those of "
        "versions with other numbers of trials do not compare.",
    ),
    CALIBRATION: (
        "Calibration",
        "On positions of games that the fit never saw: how often what is called likely happens in rollouts. "
        "A curve on the diagonal says what it means; above it the chance is underrated, below it overrated.",
    ),
}


def draw_version(home: Path, summary: Mapping[str, Any]) -> None:
    """Draw convergence.png and calibration.png of one version into its folder, `home`.

    `summary` is that of `run_bootstrap`, whose `on_version` this can be.  Calibration needs the
    samples and is left out when they are gone.  Raises a `MotifError` for files that cannot be
    read or written.
    """
    config = load_config(home.parent / CONFIG)
    plot_convergence(_history(home), home / CONVERGENCE, title=f"{summary['name']}: error by pass")
    _draw_calibration(home, config, summary, home / CALIBRATION)


def draw_run(folder: Path) -> None:
    """Draw the plots and report.html of the run in `folder`, as far as its versions are finished.

    Raises a `MotifError` for files that cannot be read or written, and when no version is finished.
    """
    config = load_config(folder / CONFIG)
    summaries = _summaries(folder, config)
    homes = [folder / f"v{summary['version']}" for summary in summaries]
    # Whatever cannot be read is found before anything is drawn.
    histories = {home.name: _history(home) for home in homes}
    weights = read_weight_file(homes[-1] / WEIGHTS)
    terms = _terms(homes[-1], weights)
    plot_run_convergence(histories, folder / CONVERGENCE)
    plot_strength(summaries, folder / STRENGTH, start=config.start)
    drawn = [STRENGTH, CONVERGENCE]
    if _draw_calibration(homes[-1], config, summaries[-1], folder / CALIBRATION):
        drawn.append(CALIBRATION)
    pictures = [_picture(folder / name) for name in drawn]
    config_text = (folder / CONFIG).read_text(encoding="utf-8")
    page = report_page(config, config_text, summaries, weights, terms, pictures)
    write_text(folder / REPORT, page)


def _summaries(folder: Path, config: BootstrapConfig) -> list[dict[str, Any]]:
    """Summaries of the finished versions, in order."""
    found = []
    for version in range(len(config.versions)):
        path = folder / f"v{version}" / SUMMARY
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            break
        except (OSError, ValueError) as error:
            raise SettingError(f"{path}: cannot be read: {error}") from None
        if missing := _NEEDED - set(summary):
            raise SettingError(f"{path}: {min(missing)}: missing")
        found.append(summary)
    if not found:
        raise SettingError(f"{folder}: no version is finished yet")
    return found


def _history(home: Path) -> Rows:
    try:
        with open(home / HISTORY, encoding="utf-8", newline="") as handle:
            return list(csv.DictReader(handle))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{home / HISTORY}: cannot be read: {error}") from None


def _draw_calibration(home: Path, config: BootstrapConfig, summary: Mapping[str, Any], path: Path) -> bool:
    """Draw calibration to `path`; False when the samples are not there any more."""
    version = int(summary["version"])
    first = max(0, version - config.versions[version].pooled)
    pools = [home.parent / f"v{k}" / SAMPLES for k in range(first, version + 1)]
    if not all((pool / MANIFEST).exists() for pool in pools):
        return False
    settings = config.fit_settings(version)
    samples = held_out(pools, settings.validation, settings.seed)
    weights = read_weight_file(home / WEIGHTS)
    fitted = StaticEvaluator(weights.name, weights_model(weights)).evaluate_many(samples.boards)
    title = f"{summary['name']}: calibration"
    plot_calibration(samples, fitted, path, title=title, outputs=weights.head_names())
    return True


def _terms(home: Path, weights: WeightFile) -> HeadTerms | None:
    """What the version's table of terms, if it has one, knows of the head that chooses plays in contact."""
    if not (home / TERMS).exists():
        return None
    head = chosen_head(weights, CONTACT, None, None)
    return table_terms(home / TERMS, weights, CONTACT, "", head)


def _picture(path: Path) -> Picture:
    heading, caption = _READING[path.name]
    return Picture(heading, path.read_bytes(), f"Plot: {caption}", caption)
