"""Making of benchmarks: decisions are selected from positions, and their plays are rolled out.

As in the GNUbg team's benchmarks, some positions are chosen at random and some because 0-ply and 2-ply choose
different plays; each gets a random roll.  A decision depends only on the seed and its number.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from motif.benchmarks.benchmark_files import RolledDecision, keyed_decision, write_benchmark
from motif.benchmarks.roller_rollouts import Roller, Rule, rolled_plays
from motif.board.moves import play_batches
from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many
from motif.board.position import Positions, as_boards
from motif.evaluators import Evaluator, StaticEvaluator, load_evaluator, load_static
from motif.evaluators.known_players import LATEST, own_name, without_plies
from motif.evaluators.probabilities import switch_sides
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players import Player, load
from motif.players.gnubg import GnubgPlayer
from motif.rollouts.games import Choose
from motif.rollouts.player_trials import Portion, player_trials
from motif.rollouts.playout import MAX_GAME_PLIES
from motif.rollouts.rollout_settings import RolloutSettings
from motif.rollouts.trials import results_of_trials
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.errors import BenchmarkError, FileError, SettingError, shown
from motif.runtime.files import clear_temporaries, json_of, path_of, whole_lines, working_in, write_text
from motif.runtime.package import VERSION
from motif.runtime.parallel import run_ordered
from motif.runtime.progress import progress
from motif.runtime.settings import (
    SettingFields,
    check_count,
    check_flag,
    check_seed,
    check_types,
    documented,
    require,
    setting,
    settings_with,
)
from motif.runtime.streams import derive_states

ANY_CLASS = "any"
PARTIAL_SUFFIX = ".partial"
"""Suffix of the folder with finished decisions of an incomplete file."""
_DONE, _MADE_WITH = "decisions.jsonl", "settings.json"
_ADJUSTED_COST = 60.0
"""Cost of a luck-adjusted trial of another player, relative to a compiled trial."""
_PLAIN_PORTION, _ADJUSTED_PORTION = 1296, 36
_AT_ONCE = 64
"""Decisions checked together for a difference between 0-ply and 2-ply."""


@documented
@dataclass(frozen=True)
class MakeSettings(SettingFields):
    """Settings for the selection and the rollouts of decisions."""

    decisions: int = setting(1000, "Number of decisions; fewer if there are too few positions.")
    disagree: float = setting(
        0.5, "Share of decisions on which 0-ply and 2-ply of the first player disagree."
    )
    position_class: Literal["any", "contact", "crashed", "race"] = setting(
        "any", "Position class before the roll."
    )
    players: str = setting("latest,latest@2", "Players whose plays are rolled out (comma-separated).")
    plays: int = setting(5, "Plays rolled out per decision: those of `players`, then the next best.")
    rollers: str = setting("latest", "Players that roll out (comma-separated), with equal weights.")
    certain: float = setting(
        0.95, "Confidence that a play is worse or better than the best one at which its rollout stops."
    )
    se: float = setting(
        0.02, "Standard error of the difference to the best play at which the rollout of a play stops."
    )
    most: int = setting(36_000, "Maximum trials per play and roller.")
    seed: int = setting(0, "Random seed.")

    def check(self) -> None:
        """Raise `SettingError` for an invalid value, `PlayerError` for an unknown player."""
        check_types(self, SettingError)
        for name, low in (("decisions", 1), ("plays", 2), ("most", _PLAIN_PORTION)):
            check_count(name, getattr(self, name), low)
        require(0 <= self.disagree <= 1, "disagree", self.disagree, "0 to 1")
        require(0.5 < self.certain < 1, "certain", self.certain, "above 0.5 and below 1")
        require(0 < self.se < float("inf"), "se", self.se, "above 0 and finite")
        check_seed(self.seed)
        self.first_evaluator()
        for name in (*names(self.players, "players"), *names(self.rollers, "rollers")):
            player(name)

    def rule(self) -> Rule:
        """Return the stopping rule of the rollouts."""
        from scipy.special import ndtri

        return Rule(self.se, float(ndtri(self.certain)), self.most)

    def first_evaluator(self, plies: int = 0) -> Evaluator:
        """Return the evaluator of the first of `players`, with `plies` of lookahead; raises `PlayerError`."""
        name = without_plies(names(self.players, "players")[0])
        return load_evaluator(f"{name}@{plies}" if plies else name)


def names(text: str, setting: str) -> tuple[str, ...]:
    """Split player names at commas, without duplicates; raise `SettingError` if there are none."""
    found = tuple(dict.fromkeys(own_name(word.strip()) for word in text.split(",") if word.strip()))
    if not found:
        raise SettingError(f"{setting} must name a player, not {shown(text)}", setting)
    return found


@cache
def player(name: str) -> Player:
    """Load a player, once per process."""
    return load(name)


def roller_of(name: str, seed: int, portion: int | None = None) -> Roller:
    """Return a roller that plays a player's trials to the end of the game or the bearoff tables.

    Static evaluators play plain trials, compiled. Trials of other players are far slower, so they are
    luck-adjusted by the default player, which makes them as precise as sixteen times as many trials.
    """
    own = player(name)
    evaluator = own.evaluator
    if isinstance(evaluator, StaticEvaluator):
        play = partial(_plain_trials, evaluator, seed)
        return Roller(name, play, portion or _PLAIN_PORTION, 1.0)
    play = partial(_adjusted_trials, _choose(own), load_static(LATEST), seed)
    return Roller(name, play, portion or _ADJUSTED_PORTION, _ADJUSTED_COST)


def _choose(own: Player) -> Choose:
    """Return the function by which a player chooses plays in trials; gnubg also breaks ties itself."""
    if isinstance(own, GnubgPlayer):
        return lambda boards, rolls, _: own.own_plays(boards, rolls)
    return own.choose_many


def _plain_trials(
    evaluator: StaticEvaluator, seed: int, packed: Board, item: int, first: int, count: int
) -> FloatArray:
    settings = RolloutSettings(stop_at_bearoff=True, seed=seed)
    player, items = settings.player_of(evaluator), np.full(len(packed), item)
    results = results_of_trials(player, settings, packed, items, first, count, after_a_play=True, jobs=1)
    return results[..., :-1]


def _adjusted_trials(
    choose: Choose,
    judge: StaticEvaluator,
    seed: int,
    packed: Board,
    item: int,
    first: int,
    count: int,
) -> FloatArray:
    settings = RolloutSettings(stop_at_bearoff=True, luck_plies=MAX_GAME_PLIES, seed=seed)
    of_luck, items = settings.player_of(judge), np.full(len(packed), item)
    results = player_trials(choose, of_luck, settings.rules(), seed, Portion(packed, items, first, count))
    return np.asarray(switch_sides(results))


def selected(boards: Board, settings: MakeSettings, jobs: int | None = None) -> tuple[Board, IntArray, int]:
    """Select decisions from positions (m, 26), each at most once, without forced plays.

    Returns the boards (n, 26), the rolls (n, 2), the higher die first, and the number of decisions selected
    because 0-ply and 2-ply choose different plays. Raises `BenchmarkError` if there are no decisions.
    """
    rng = np.random.default_rng(settings.seed)
    boards = np.unique(boards, axis=0)
    packed = pack_many(boards)
    usable = finished_points_many(packed.view(np.int64)) == 0
    if settings.position_class != ANY_CLASS:
        usable &= classify_many(packed) == CLASS_NAMES.index(settings.position_class)
    order = rng.permutation(np.flatnonzero(usable))
    rolls = -np.sort(-rng.integers(1, 7, (len(order), 2)), axis=1)
    interesting = round(settings.disagree * settings.decisions)
    candidates = _decisions(boards[order], rolls)
    random = list(islice(candidates, settings.decisions - interesting))
    differing = _differing(boards[order], rolls, candidates, settings, interesting, jobs)
    rows = rng.permutation(np.array([*random, *differing], np.int64))
    if not len(rows):
        what = "" if settings.position_class == ANY_CLASS else f"{settings.position_class} "
        raise BenchmarkError(f"no {what}decision between two plays among the {len(boards):,} positions")
    return boards[order][rows], rolls[rows], len(differing)


def _decisions(boards: Board, rolls: IntArray) -> Iterator[int]:
    """Yield the rows of decisions with at least two different plays."""
    for batch in play_batches(boards, rolls, _AT_ONCE):
        choices = np.diff(batch.offsets)
        yield from (batch.decisions.start + np.flatnonzero(choices > 1)).tolist()


def _differing(
    boards: Board,
    rolls: IntArray,
    candidates: Iterator[int],
    settings: MakeSettings,
    wanted: int,
    jobs: int | None,
) -> list[int]:
    """Return up to `wanted` of the rows `candidates` in which 0-ply and 2-ply choose different plays."""
    found: list[int] = []
    if not wanted:
        return found
    deep = settings.first_evaluator(2)
    calls = ((deep, boards[rows], rolls[rows], rows) for rows in _portions(candidates))
    with (
        progress("finding decisions on which lookahead matters", wanted) as advance,
        closing(run_ordered(_rows_that_differ, calls, jobs)) as parts,
    ):
        for rows in parts:
            advance(min(len(rows), wanted - len(found)))
            found += rows[: wanted - len(found)]
            if len(found) == wanted:
                break
    return found


def _portions(rows: Iterator[int]) -> Iterator[IntArray]:
    while portion := list(islice(rows, _AT_ONCE)):
        yield np.array(portion)


def _rows_that_differ(deep: Evaluator, boards: Board, rolls: IntArray, rows: IntArray) -> list[int]:
    """Return those of `rows` (n,) in which lookahead changes the play; runs in a worker process."""
    shallow = deep.without_lookahead
    first, second = (one.best_plays(boards, rolls).boards for one in (shallow, deep))
    return rows[(first != second).any(axis=1)].tolist()


def decided(settings: MakeSettings, number: int, board: Board, roll: IntArray) -> RolledDecision:
    """Let the players choose in decision `number`; roll out their choices and the next best plays."""
    state = derive_states(settings.seed, number, 1, 0)
    batch = next(play_batches(board[None], roll[None], 1))
    order = np.argsort(-settings.first_evaluator().play_equities(board[None], batch), kind="stable").tolist()
    choices = {}
    for name in names(settings.players, "players"):
        chosen = player(name).choose_many(board[None], roll[None], state)[0]
        choices[name] = int(np.argmax((batch.boards == chosen).all(axis=1)))
    rows = list(dict.fromkeys([*choices.values(), *order]))
    rows = rows[: max(settings.plays, len(set(choices.values())))]
    after = batch.boards[rows]
    rollers = [roller_of(name, settings.seed) for name in names(settings.rollers, "rollers")]
    plays = rolled_plays(rollers, pack_many(after), number, settings.rule())
    return keyed_decision(
        board, roll.tolist(), after, plays, {name: rows.index(row) for name, row in choices.items()}
    )


@dataclass(frozen=True)
class MadeBenchmark:
    """A finished benchmark file."""

    path: Path
    decisions: int
    disagree: int
    """Decisions selected because 0-ply and 2-ply choose different plays."""
    plays: int
    """Plays rolled out."""
    trials: int
    """Trials of all plays and rollers."""
    open: int
    """Decisions with a play that is neither certainly worse nor known to the required standard error."""

    def to_dict(self) -> dict[str, object]:
        """Return all fields by name, for JSON."""
        return asdict(self) | {"path": str(self.path)}


def make_benchmark(
    path: Path | str,
    boards: Positions,
    settings: MakeSettings | None = None,
    *,
    resume: bool = False,
    jobs: int | None = None,
) -> MadeBenchmark:
    """Make a benchmark file from positions.

    Finished decisions are stored in a folder beside the file until all are done.

    Parameters
    ----------
    path
        The file, compressed if its name ends in .gz.
    boards
        Positions before the roll: boards int8 (m, 26), or a list of positions and IDs.
    settings
        Settings for the selection and the rollouts of decisions; by default those of ``MakeSettings()``.
    resume
        Continue an interrupted run with the same positions and settings.
    jobs
        Number of processes; does not affect the file.

    Returns
    -------
    MadeBenchmark
        The file and its contents.

    Raises
    ------
    SettingError, PlayerError, PositionError
        For invalid settings or positions.
    BenchmarkError
        If no position leads to a decision; without `resume`, if there is an interrupted run; with `resume`,
        if there is none or its positions or settings differ.
    FileError
        If a file cannot be written.
    """
    settings = settings_with(MakeSettings, settings)
    settings.check()
    check_flag("resume", resume)
    path, boards = path_of("path", path), as_boards(boards)
    folder = path.with_name(path.name + PARTIAL_SUFFIX)
    positions = hashlib.sha256(np.unique(boards, axis=0).tobytes()).hexdigest()
    record = {"settings": asdict(settings), "version": VERSION, "positions": positions}
    _check_resume(folder, record, resume)
    with _working_beside(folder):
        with nullcontext() if resume else _begun(folder, record):
            before, rolls, disagree = selected(boards, settings, jobs)
        decisions = _all_decided(folder / _DONE, before, rolls, settings, jobs)
        write_benchmark(path, _facts(settings, len(decisions)), decisions)
        for name in (_DONE, _MADE_WITH):
            (folder / name).unlink(missing_ok=True)
    return _counted(path, decisions, disagree, settings.rule())


def _counted(path: Path, decisions: list[RolledDecision], disagree: int, rule: Rule) -> MadeBenchmark:
    plays = [play for decision in decisions for _, play in decision.plays]
    trials = sum(sum(play.trials) for play in plays)
    unknown = sum(not _is_known(decision, rule) for decision in decisions)
    return MadeBenchmark(path, len(decisions), disagree, len(plays), trials, unknown)


def _facts(settings: MakeSettings, decisions: int) -> dict[str, str]:
    """Return the settings for the first line of the file."""
    facts = {"motif": VERSION, "nDecisions": decisions}
    facts |= {name: getattr(settings, name) for name in ("seed", "certain", "se", "most")}
    facts |= {name: ",".join(names(getattr(settings, name), name)) for name in ("players", "rollers")}
    return {name: "_".join(str(value).split()) for name, value in facts.items()}


@contextmanager
def _working_beside(folder: Path) -> Iterator[None]:
    """Lock `folder`, and remove it afterwards if it is empty."""
    try:
        with working_in(folder):
            clear_temporaries(folder)
            yield
    finally:
        with suppress(OSError):
            folder.rmdir()


def _is_known(decision: RolledDecision, rule: Rule) -> bool:
    plays = (play for _, play in decision.plays)
    return all(play.loss_se <= rule.se or play.loss >= rule.certain * play.loss_se for play in plays)


def _check_resume(folder: Path, record: dict[str, Any], resume: bool) -> None:
    there = (folder / _MADE_WITH).exists()
    if there and not resume:
        raise BenchmarkError(f"{folder}: contains an interrupted run; continue it with --resume")
    if resume and not there:
        raise BenchmarkError(f"{folder}: no interrupted run to resume")
    if there and (before := json_of(folder / _MADE_WITH, FileError)) != record:
        known = before.get("settings", {}) if isinstance(before, dict) else {}
        differing = [name for name, value in record["settings"].items() if known.get(name) != value]
        what = f"settings ({', '.join(differing)})" if differing else "positions or another version of motif"
        raise BenchmarkError(f"{folder}: the run was started with other {what}")


@contextmanager
def _begun(folder: Path, record: dict[str, Any]) -> Iterator[None]:
    """Write the record of a new run in place of what an older one left; remove it if the block fails."""
    (folder / _DONE).unlink(missing_ok=True)
    write_text(folder / _MADE_WITH, json.dumps(record))
    try:
        yield
    except Exception:  # there is nothing to resume
        (folder / _MADE_WITH).unlink()
        raise


def _all_decided(
    path: Path, boards: Board, rolls: IntArray, settings: MakeSettings, jobs: int | None
) -> list[RolledDecision]:
    """Roll out the remaining decisions; each is written to `path` when it is finished."""
    done = [RolledDecision.from_dict(json.loads(line)) for line in whole_lines(path)]
    write_text(path, "".join(f"{json.dumps(asdict(one))}\n" for one in done))
    calls = ((k, boards[k], rolls[k]) for k in range(len(done), len(boards)))
    with (
        path.open("a", encoding="utf-8") as file,
        progress("rolling out decisions", len(boards)) as advance,
        closing(run_ordered(partial(decided, settings), calls, jobs)) as results,
    ):
        advance(len(done))
        for decision in results:
            file.write(f"{json.dumps(asdict(decision))}\n")
            file.flush()
            done.append(decision)
            advance(1)
    return done
