"""Functions that measure players: error rates, terms, cube efficiencies and windows."""

from pathlib import Path
from typing import TYPE_CHECKING

from motif.analysis.phrases import LANGUAGE
from motif.benchmarks.benchmark_files import read_benchmark, shipped_lines
from motif.benchmarks.choices import BenchmarkResult, benchmark_players, dataset_decisions
from motif.board.position import Positions, as_boards
from motif.doubling.bras_windows import DoublingSet, doubling_set
from motif.doubling.efficiency_fit import EfficiencyFit, fit_efficiency
from motif.evaluators.bras import ARTICLE, BrasFormula
from motif.evaluators.known_players import LATEST
from motif.players.player import PlayerLike, evaluator_of, load_player, static_evaluator, weighted_evaluator
from motif.runtime.errors import SettingError, shown
from motif.runtime.files import path_if_given, path_of
from motif.runtime.settings import check_count, check_seed, given_items
from motif.sampling.dataset import Dataset, in_one_pool, read_dataset, without_copies
from motif.sampling.dataset_folders import Data

if TYPE_CHECKING:
    # Slow imports.
    from motif.reports.term_pages import TermReport


def cube_windows(
    player: PlayerLike, games: int, *, formula: BrasFormula = ARTICLE, seed: int = 0
) -> DoublingSet:
    """Collect positions and cube decisions from money games of a player against itself.

    Each game counts up to its first double, without the Jacoby rule.  Races are left out, because the BRAS
    score says little about them.

    Parameters
    ----------
    player
        A player in any form, which plays and decides.
    games
        Number of games.
    formula
        The BRAS score to measure, by default the article's.
    seed
        Random seed.

    Returns
    -------
    DoublingSet
        The positions with their scores, win probabilities and decisions.

    Raises
    ------
    PlayerError, WeightFileError, SettingError
        For an invalid player; if `games` is below 2, or `formula` or `seed` is invalid.
    """
    if not isinstance(formula, BrasFormula):
        raise SettingError(f"formula must be a BrasFormula, not {shown(formula)}", "formula")
    return doubling_set(evaluator_of(player), games, formula=formula, seed=seed)


def cube_efficiency(
    player: PlayerLike,
    positions: int,
    trials: int,
    *,
    rounds: int = 2,
    seed: int = 0,
    jobs: int | None = None,
) -> EfficiencyFit:
    """Fit the cube efficiency x of each position class to cubeful rollouts.

    Parameters
    ----------
    player
        Weights in any form, without lookahead; they play both sides.
    positions
        Number of positions per class, from the player's games.
    trials
        Number of rollout trials per position.
    rounds
        Number of rounds of rollouts, each with the x of the previous round.
    seed
        Random seed.
    jobs
        Number of processes, by default all cores; the result does not depend on it.

    Returns
    -------
    EfficiencyFit
        The x of each class, 0 for a dead cube and 1 for a live cube, with standard errors; estimates may be
        outside this range.  A class without two usable positions is left out.

    Raises
    ------
    PlayerError, WeightFileError, SettingError
        For a player that is not a static evaluator; if a count is too small to fit any class.
    """
    evaluator = static_evaluator(player, "cube_efficiency")
    return fit_efficiency(evaluator, positions, trials, rounds=rounds, seed=seed, jobs=jobs)


def benchmark(
    player: PlayerLike = LATEST,
    files: Data | None = None,
    *,
    versus: PlayerLike | None = None,
    worst: int = 0,
    seed: int = 0,
    jobs: int | None = None,
) -> BenchmarkResult:
    """Measure the error rate of a player in millipoints per decision.

    Parameters
    ----------
    player
        A player in any form, by default the newest weights without lookahead.
    files
        GNUbg benchmark files (also .gz) or datasets; by default the files in data/bench of motif's source.
    versus
        Player to compare with, decision by decision; the table shows the difference of the error rates, which
        is negative if `player` loses less.
    worst
        Number of worst decisions to return.
    seed
        Random seed for players that choose plays at random.
    jobs
        Number of processes, by default all cores; the result does not depend on it.

    Returns
    -------
    BenchmarkResult
        Error rates, such as ``.overall.er``, with standard errors.

    Raises
    ------
    BenchmarkError, DatasetError
        For a file or a dataset that cannot be read, or an empty list.
    PlayerError, WeightFileError, SettingError
        For an invalid player or contradictory arguments, or if this installation has no files.

    Examples
    --------
    >>> import motif
    >>> motif.benchmark("latest").overall.er  # doctest: +SKIP
    """
    check_count("worst", worst, 0)
    check_seed(seed)
    players = [load_player(one) for one in ([player] if versus is None else [player, versus])]
    lines = list(shipped_lines()) if files is None else []
    if files is None and not lines:
        raise SettingError("files: missing benchmark files or datasets; this installation has none", "files")
    given = [] if files is None else given_items(files)
    if wrong := [one for one in given if not isinstance(one, str | Path | Dataset)]:
        raise SettingError(f"files must be benchmark files or datasets, not {shown(wrong[0])}", "files")
    # A decision must not count twice, even if its file is named in two ways.
    paths = list({one if isinstance(one, Dataset) else Path(one).absolute(): one for one in given}.values())
    folders = [path for path in paths if isinstance(path, Dataset) or path_of("files", path).is_dir()]
    if folders and len(folders) < len(paths):
        raise SettingError("files: datasets and benchmark files cannot be measured together", "files")
    if folders and worst:
        raise SettingError("worst: a dataset does not contain the positions before its plays", "worst")
    unnamed = sum(isinstance(source, Dataset) for source in folders)
    named: dict[str, Dataset] = {}
    for number, source in enumerate(folders, 1):
        if isinstance(source, Dataset):
            named["the dataset" if unnamed == 1 else f"dataset {number}"] = source
        else:
            named[str(source)] = read_dataset(source)
    data = without_copies(named)
    datasets = list(map(dataset_decisions, data, in_one_pool([*data.values()])))
    lines += [read_benchmark(str(path)) for path in paths if not folders]
    return benchmark_players(players, lines, datasets, worst=worst, seed=seed, jobs=jobs)


def terms(
    weights: PlayerLike,
    *,
    table: Path | str | None = None,
    data: Path | str | Dataset | None = None,
    positions: Positions | None = None,
    head: str | None = None,
    position_class: str = "contact",
    top: int = 20,
    language: str = LANGUAGE,
    seed: int = 0,
    jobs: int | None = None,
) -> "TermReport":
    """Describe weights and their most important terms in words.

    Parameters
    ----------
    weights
        A name such as ``"motif-v1"``, a weight file, weights, or a `Fit`.
    table, data
        Table of ``fit(..., term_table=...)``, or the one fitted dataset or its folder: standard errors.
    positions
        Positions in any form, if there is no such source; by default 2,000 from games of the weights.
    head
        Output to report on; by default ``"equity"``, or ``"win"`` if the weights have no equity.
    position_class
        ``"contact"``, ``"crashed"`` or ``"race"``.
    top
        Number of parameters, of terms and of hidden units.
    language
        Language of the sentences: ``"en"`` or ``"de"``; hidden units are described in English.
    seed, jobs
        Random seed of the games, and number of processes, by default all cores.

    Returns
    -------
    TermReport
        ``.effects`` of parameters, ``.terms`` and hidden ``.units``; ``unit(name)`` has a unit's extremes.

    Raises
    ------
    PlayerError, WeightFileError, DatasetError, PositionError, SettingError
        For a player without weights, or weights that lack the head; an unusable table or dataset; an invalid
        position or setting, or fewer than 100 positions of the class.
    """
    from motif.reports.term_pages import term_report

    return term_report(
        weighted_evaluator(weights),
        table=path_if_given("table", table),
        data=data,
        positions=None if positions is None else as_boards(positions),
        head=head,
        position_class=position_class,
        top=top,
        language=language,
        seed=seed,
        jobs=jobs,
    )
