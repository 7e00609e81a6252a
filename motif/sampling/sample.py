"""Sample labelled positions from games in parallel, and write them to a dataset.

The games are self-play or recorded games.  `SampleSettings` determine the positions of the dataset and the
source of their labels: rollouts by the player, any evaluator or, for recorded games, the result of the
game.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from motif.board.identifiers import gnubg_ids
from motif.board.moves import check_all_go_on
from motif.board.packed import Board, pack_many, unpack_many
from motif.board.position import Position
from motif.compiler.background import precompile_in_background
from motif.compiler.jit import compile_ahead
from motif.evaluators import Evaluator, StaticEvaluator
from motif.evaluators.model import Model
from motif.evaluators.own import as_evaluator
from motif.evaluators.probabilities import OUTPUTS, equities
from motif.evaluators.static import filtered, prepared, simple
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.players import load
from motif.rollouts.playout import MAX_GAME_PLIES, ROUND, board_trials, first_rolls, play_out
from motif.rollouts.rollout_settings import RolloutSettings
from motif.rollouts.tally import Tally, mean_and_error
from motif.runtime.arrays import FloatArray, slices
from motif.runtime.errors import SettingError, shown
from motif.runtime.files import clear_temporaries, working_in
from motif.runtime.frames import Row, Tabular
from motif.runtime.package import VERSION
from motif.runtime.parallel import check_stop, run_until, stop_request, worker_count
from motif.runtime.progress import Stopwatch, progress
from motif.runtime.settings import (
    SettingFields,
    check_count,
    check_seed,
    check_types,
    check_unused,
    documented,
    require,
    setting,
)
from motif.sampling.dataset import Dataset, joined
from motif.sampling.dataset_files import (
    ROLLOUTS,
    DatasetPart,
    kept_parts,
    part_name,
    write_manifest,
    write_part,
)
from motif.sampling.player_games import few_candidates, games_of, rolled_out
from motif.sampling.recorded_games import (
    RecordedGame,
    finished,
    games_fingerprint,
    outcome_labels,
    record_game,
)
from motif.sampling.self_play import SampledPositions, SamplingRules, new_memory, new_record, self_play

OF_ROLLOUTS = ("trials", "cut", "stop_at_race", "stop_at_bearoff", "stratified")
"""Settings of the labelling rollouts."""


@dataclass(frozen=True)
class SamplePlan(SettingFields):
    """Settings of sampling that do not depend on the player and the seed."""

    games: int = field(metadata={"help": "Number of self-play games."})
    trials: int = setting(36, "Number of rollout trials per position.")
    decide: Literal["evaluator", "rollout"] = setting(
        "evaluator", "Choose plays by the evaluator, or by rollouts of every legal play."
    )
    candidates: int = setting(
        0, "Maximum number of plays recorded per decision, including the chosen one; 0 for all."
    )
    replies: bool = setting(
        False, "Record the position after a roll and the best reply to each of these plays instead."
    )
    rate: float = setting(
        1.0, "Share of decisions to record; 0 to record only crashed positions or races, at their rates."
    )
    crashed_rate: float | None = setting(
        None, "Share of decisions in crashed positions, which are rare; by default `rate`."
    )
    race_rate: float | None = setting(None, "Share of decisions in races; by default `rate`.")
    noise: float = setting(0.0, "Share of plays chosen at random, for unusual positions.")
    plies: int = setting(0, "Number of plies after which a game of self-play is left; 0 for never.")
    cut: int = setting(0, "Truncate rollouts after this many plies; 0 for never.")
    stop_at_race: bool = setting(False, "Truncate rollouts when contact ends.")
    stop_at_bearoff: bool = setting(False, "Truncate rollouts at positions in the bearoff tables.")
    stratified: bool = setting(False, "Stratify the first two rolls of the rollouts.")

    def rates(self) -> FloatArray:
        """Return the share of decisions to record, by position class."""
        own_rates = {"crashed": self.crashed_rate, "race": self.race_rate}
        rates = (own_rates.get(name) for name in CLASS_NAMES)
        return np.array([self.rate if rate is None else rate for rate in rates])

    def check(self) -> None:
        """Raise `SettingError` for an invalid value."""
        check_types(self, SettingError)
        for name, low in (("games", 1), ("trials", 1), ("candidates", 0), ("plies", 0), ("cut", 0)):
            check_count(name, getattr(self, name), low)
        if self.stratified and self.trials % ROUND:
            message = f"stratified: {{trials}} must be a multiple of {ROUND}, not {shown(self.trials)}"
            raise SettingError(message, "stratified", "trials")
        for name in ("rate", "crashed_rate", "race_rate"):
            value = getattr(self, name)
            require(value is None or 0 <= value <= 1, name, value, "between 0 and 1")
        if not self.rates().any():
            message = f"rate must be above 0 if {{crashed_rate}} and {{race_rate}} are not, not {self.rate}"
            raise SettingError(message, "rate", "crashed_rate", "race_rate")
        require(0 <= self.noise < 1, "noise", self.noise, "at least 0 and below 1")
        if self.replies and self.decide == "rollout":
            raise SettingError("replies: not allowed with decisions by rollouts", "replies", "decide")


@documented
@dataclass(frozen=True)
class SampleSettings(SamplePlan):
    """All settings that determine a dataset."""

    games: int = setting(0, "Number of self-play games; required unless games are recorded.")
    player: str = field(
        kw_only=True,
        metadata={
            "help": "Name of the player of the games and rollouts; weights are about a hundred times as "
            "fast as other players."
        },
    )
    label: str = setting(
        ROLLOUTS,
        "Source of labels: `rollout`, a player such as wildbg, gnubg or a weight file, or, for recorded "
        "games, `outcome`.",
    )
    seed: int = field(default=0, kw_only=True, metadata={"help": "Random seed."})

    def rollouts(self) -> RolloutSettings:
        """Return the settings of the labelling rollouts."""
        return RolloutSettings(**{name: getattr(self, name) for name in (*OF_ROLLOUTS, "seed")})

    def sampling_rules(self) -> SamplingRules:
        """Return the settings for kernels."""
        return SamplingRules(
            self.seed,
            self.candidates,
            self.replies,
            self.decide == "rollout",
            self.noise,
            self.plies or MAX_GAME_PLIES - 1,
            self.rates(),
            self.trials if self.is_rolled_out else 0,
            self.rollouts().rules(),
        )

    @property
    def is_rolled_out(self) -> bool:
        """Whether rollouts label the positions."""
        return self.label == ROLLOUTS

    @property
    def is_by_outcome(self) -> bool:
        """Whether the results of recorded games label the positions."""
        return self.label == OUTCOME

    def check(self) -> None:
        """See `SamplePlan.check`."""
        super().check()
        check_seed(self.seed)
        if self.decide == "rollout" and not self.is_rolled_out:
            raise SettingError("decide: rollouts can choose plays only if they also label them", "decide")
        if self.is_by_outcome:
            raise SettingError("label: outcome applies only to recorded games", "label")

    def check_effects(self) -> None:
        """Raise `SettingError` for a setting other than its default that has no effect on these labels."""
        if not self.is_rolled_out:
            check_unused(self, OF_ROLLOUTS, SettingError, "on labels without rollouts")

    def of_recorded(self, games: int) -> "SampleSettings":
        """Return the settings for a number of recorded games.

        Raises `SettingError` for settings that do not apply to recorded games.
        """
        if self.games not in (0, games):
            raise SettingError("games: not allowed with recorded games, which are all used", "games")
        by_rollout = self.decide == "rollout"
        for name, given in (("noise", self.noise), ("plies", self.plies), ("decide", by_rollout)):
            if given:
                raise SettingError(f"{name}: not allowed with recorded games", name)
        if not self.is_by_outcome:
            settings = replace(self, games=games)
            settings.check()
            return settings
        if self.candidates not in (0, 1):
            raise SettingError("candidates: the label outcome allows only actual plays", "candidates")
        if self.replies:
            raise SettingError("replies: the label outcome allows only actual plays", "replies")
        # `check` allows only labels for self-play.
        replace(self, games=games, label=ROLLOUTS).check()
        return replace(self, games=games, candidates=1)


OUTCOME = "outcome"
"""Value of the setting `label` for labels from the results of recorded games."""
_PARTS = 64
"""Approximate number of parts of a dataset; unfinished parts are lost if a run is killed."""
_MAX_PART = 50_000
"""Approximate maximum number of positions per part; a large dataset has more parts."""
_MIN_POSITIONS = 1e-6
"""Lower bound of the estimated number of positions per game."""
_DECISIONS_A_GAME = np.array([41, 5, 13])
"""Mean number of decisions per game by position class, in self-play."""
_PLAYS_A_DECISION = 16
_TRIALS_A_CALL = 40_000
"""Approximate number of rollout trials per task of a worker; a task takes some seconds and can be stopped
only at its end.
"""
_TRIALS_A_LABEL, _TRIALS_A_FURTHER_PLY = 3, 20
"""Cost of a label with one ply of lookahead, in trials, and the factor for each additional ply."""
_LABELS_AT_ONCE = 16
"""Number of positions labelled by lookahead between checks for a stop."""
_STOPPING = "finishing parts that take only a few seconds; Ctrl-C again stops immediately"


@dataclass(frozen=True, repr=False)
class SampleResult(Tabular):
    """Summary of a sampled dataset."""

    folder: Path
    positions: int
    trials: int
    """Number of rollout trials per position."""
    games: int
    played: int
    """Number of games that were sampled now; smaller than `games` if a stopped sample was resumed."""
    seconds: float

    def to_dict(self) -> Row:
        """Return a dict of the numbers for JSON."""
        return {
            "positions": self.positions,
            "trials": self.trials,
            "games": self.games,
            "seconds": self.seconds,
            "games_per_second": self.played / self.seconds if self.seconds > 0 else 0.0,
        }


def sample(
    settings: SampleSettings,
    folder: Path | str,
    *,
    recorded: Sequence[RecordedGame] = (),
    starts: Board | None = None,
    resume: bool = False,
    jobs: int | None = None,
    player_label: str | None = None,
    player: Evaluator | None = None,
    labeller: Evaluator | None = None,
) -> SampleResult:
    """Sample a dataset from self-play or `recorded` games, and write it to `folder`.

    Game g of self-play begins at row g modulo n of the boards `starts` (n, 26), by default at the starting
    position. The same settings give the same bytes for any number of `jobs`, also after a stop and `resume`.
    After a first Ctrl-C, SIGTERM or SIGHUP, parts that take only a few seconds are finished and written
    before `KeyboardInterrupt` is raised; a second one raises it immediately.

    `player_label` is the player's name in the dataset, by default the name in the settings; the dataset
    also has a fingerprint of the player's weights.  `player` and `labeller` are for objects that cannot be
    loaded by name.

    Raises `SettingError` for settings or `starts` that do not apply, `PositionError` if the game is over at
    one of the `starts`, `DatasetError` if `folder` contains a dataset and `resume` is not set, or one with
    other settings, and `FileError` if the dataset cannot be written, or another run is using the folder.
    """
    unused = 0
    if recorded:
        if starts is not None:
            raise SettingError("starts: not allowed with recorded games", "starts")
        if settings.is_by_outcome:
            unused = len(recorded) - len(finished(recorded))
        settings = settings.of_recorded(len(recorded))
    else:
        settings.check()
    if settings.is_rolled_out and worker_count(jobs) > 1:
        precompile_in_background("motif.sampling.sample:warm_up")
    folder = Path(folder)
    chosen = as_evaluator(settings.player if player is None else player)
    evaluator = filtered(chosen) if isinstance(chosen, StaticEvaluator) else chosen
    if not isinstance(evaluator, StaticEvaluator):
        _check_not_compiled(settings, starts, chosen.name)
    if starts is not None:
        require(len(starts) > 0, "starts", len(starts), "at least one position")
        check_all_go_on(starts)
    if labeller is None and not (settings.is_rolled_out or settings.is_by_outcome):
        labeller = load(settings.label).require_evaluator()
    firsts = range(0, settings.games, games_a_part(settings))
    taught = "" if labeller is None else labeller.without_lookahead.fingerprint
    provenance: Mapping[str, object] = {
        **asdict(settings),
        "player": player_label or settings.player,
        "label": _label_name(settings, player_label or settings.player),
        "player_fingerprint": evaluator.fingerprint,
        **({"label_fingerprint": taught} if taught else {}),
        **({"recorded": games_fingerprint(recorded)} if recorded else {}),
        **({} if starts is None else {"starts": _fingerprint(starts)}),
        "games_a_part": firsts.step,
        "motif": VERSION,
    }
    stopwatch = Stopwatch()
    with working_in(folder):
        kept, provenance = kept_parts(folder, provenance, firsts, resume)
        clear_temporaries(folder)
        parts = _all_parts(
            settings, evaluator, labeller, recorded, starts, provenance, folder, firsts, kept, jobs
        )
    positions = sum(part.rows for part in parts)
    trials = settings.trials if settings.is_rolled_out else 1
    made = (first for number, first in enumerate(firsts) if part_name(number) not in kept)
    played = sum(min(firsts.step, settings.games - first) for first in made)
    return SampleResult(folder, positions, trials, settings.games - unused, played, stopwatch.seconds)


def _check_not_compiled(settings: SampleSettings, starts: Board | None, player: str) -> None:
    """Raise `SettingError` for settings that only compiled players can follow."""
    if settings.decide == "rollout":
        raise SettingError(f"decide: {player} cannot choose plays by rollouts", "decide")
    if settings.replies:
        raise SettingError(f"replies: {player} cannot choose them; a weight file can", "replies")
    if settings.plies:
        raise SettingError(f"plies: {player} cannot leave games early; a weight file can", "plies")
    if starts is not None:
        raise SettingError(f"starts: {player} cannot begin at them; a weight file can", "starts")


def _fingerprint(boards: Board) -> str:
    return f"sha256:{hashlib.sha256(boards.tobytes()).hexdigest()}"


def warm_up() -> None:
    """Compile the kernels that sampling needs at the end.

    This runs in a separate process during a first run, whose workers compile the other kernels.
    """
    model, space = prepared(filtered(simple()).model)
    boards = pack_many(Position.start().board[None])
    # Without trials, the kernels are compiled but not run.
    rules = RolloutSettings().rules()
    board_trials(model, rules, boards.view(np.int64)[0], 0, 0, 0, space, np.empty((0, len(OUTPUTS))))
    compile_ahead(play_out)
    gnubg_ids(unpack_many(boards))
    classify_many(boards)


def _label_name(settings: SampleSettings, player: str) -> str:
    """Return the labeller's name in a dataset in which the player is called `player`."""
    name, mark, depth = settings.label.rpartition("@")
    return player + mark + depth if mark and name == settings.player else settings.label


def games_a_part(settings: SampleSettings) -> int:
    """Return the number of games per part."""
    return max(1, min(-(-settings.games // _PARTS), int(_MAX_PART / _positions_a_game(settings))))


def _positions_a_game(settings: SampleSettings) -> float:
    """Estimate the number of recorded positions per game, which is above 0."""
    plays = min(settings.candidates or _PLAYS_A_DECISION, _PLAYS_A_DECISION)
    return max(float(settings.rates() @ _DECISIONS_A_GAME) * plays, _MIN_POSITIONS)


def games_a_call(settings: SampleSettings, labeller: Evaluator | None) -> int:
    """Return the number of games per task, which is smaller than in a part if labels are expensive.

    The content of a part does not depend on this number, except for the random candidate plays of
    players that are not compiled.
    """
    plies = getattr(labeller, "plies", 0)
    if labeller is None:
        trials = settings.trials if settings.is_rolled_out else 1
    else:
        trials = _TRIALS_A_LABEL * _TRIALS_A_FURTHER_PLY ** (plies - 1) if plies else 1
    return max(1, int(_TRIALS_A_CALL / (trials * _positions_a_game(settings))))


def _all_parts(
    settings: SampleSettings,
    evaluator: Evaluator,
    labeller: Evaluator | None,
    recorded: Sequence[RecordedGame],
    starts: Board | None,
    provenance: Mapping[str, object],
    folder: Path,
    firsts: range,
    kept: dict[str, DatasetPart],
    jobs: int | None,
) -> list[DatasetPart]:
    """Return all parts in order; make the missing parts, and rewrite the manifest after each of them."""
    names = [part_name(k) for k in range(len(firsts))]
    missing = [k for k, name in enumerate(names) if name not in kept]
    make: Callable[..., Dataset] = partial(sample_evaluator_games, settings, evaluator, labeller=labeller)
    if isinstance(evaluator, StaticEvaluator):
        make = partial(sample_games, settings, evaluator.model, labeller=labeller)
    at_once = games_a_call(settings, labeller)
    ends = {k: min(firsts[k] + firsts.step, settings.games) for k in missing}
    pieces = {
        k: [range(first, min(first + at_once, ends[k])) for first in range(firsts[k], ends[k], at_once)]
        for k in missing
    }
    calls = (
        (
            games.start,
            len(games),
            recorded[games.start : games.stop],
            None if starts is None else starts[np.arange(games.start, games.stop) % len(starts)],
        )
        for games in chain.from_iterable(pieces.values())
    )
    what = "recorded games" if recorded else f"games of {settings.player}"
    whole, hashes = dict(kept), [game.hash for game in recorded]

    def record(complete: bool) -> list[DatasetPart]:
        parts = [whole[name] for name in names if name in whole]
        write_manifest(folder, provenance, parts, complete, hashes)
        return parts

    with (
        stop_request(_STOPPING) as stop,
        progress(f"sampling {settings.games:,} {what}", settings.games) as advance,
        closing(run_until(stop, make, calls, jobs)) as made,
    ):
        record(complete=False)
        advance(settings.games - sum(ends[k] - firsts[k] for k in missing))
        for k in missing:
            done = [data for data in islice(made, len(pieces[k])) if data is not None]
            # After a request to stop, some parts may be missing.
            if len(done) == len(pieces[k]):
                whole[names[k]] = write_part(folder, k, joined(done).columns(), provenance)
                record(complete=False)
                advance(ends[k] - firsts[k])
        parts = record(complete=len(whole) == len(names))
        if stop.made:
            raise KeyboardInterrupt(f"{folder}: {len(parts)} of {len(names)} parts are complete")
    return parts


def sample_games(
    settings: SampleSettings,
    model: Model,
    first: int,
    count: int,
    recorded: Sequence[RecordedGame] = (),
    starts: Board | None = None,
    labeller: Evaluator | None = None,
) -> Dataset:
    """Return the positions of games `first`, ..., `first` + `count` - 1 of self-play or `recorded`.

    Self-play begins at the rows of `starts` (`count`, 26), by default at the starting position.  The
    labels come from `labeller`, by default from rollouts or the results of the games.  A stop is possible
    between games.
    """
    opening = Position.start().board
    starts = np.repeat(opening[None], count, axis=0) if starts is None else starts
    openings = (starts == opening).all(axis=1).tolist()
    rules = settings.sampling_rules()
    kept = rules.trials if settings.stratified else 0
    model, space = prepared(model)
    record, memory = new_record(trials=kept), new_memory(space, kept)
    trials = max(rules.trials, 1)
    made: list[Dataset] = []
    for number, start in enumerate(pack_many(starts)):
        check_stop()
        game = first + number
        if recorded:
            played = recorded[number]
            moves = played.before, played.rolls, played.after
            is_used = played.is_finished or not settings.is_by_outcome
            rows = record_game(model, *moves, game, rules, memory, record) if is_used else 0
        else:
            rows = self_play(model, start, openings[number], game, rules, memory, record)
        means, errors = mean_and_error(record.sums[:rows], record.squares[:rows], trials)
        equity_errors = _stratified_errors(record, rows, settings.seed) if kept else errors[:, -1]
        if settings.is_by_outcome:
            means = outcome_labels(played, record.plies[:rows])
            means = np.column_stack([means, equities(means)])
            equity_errors = np.full(rows, np.nan)
        data = Dataset(
            boards=unpack_many(record.boards[:rows]),
            probabilities=means[:, :-1].astype(np.float32),
            equity=means[:, -1].astype(np.float32),
            equity_se=equity_errors.astype(np.float32),
            trials=np.full(rows, trials, np.int32),
            game=np.full(rows, game, np.int32),
            ply=record.plies[:rows].copy(),
            decision=record.items[:rows].copy(),
            chosen=record.chosen[:rows].copy(),
            position_class=classify_many(record.boards[:rows]),
        )
        made.append(data)
    data = joined(made)
    return data if labeller is None else _with_labels_by(data, labeller)


def sample_evaluator_games(
    settings: SampleSettings,
    evaluator: Evaluator,
    first: int,
    count: int,
    recorded: Sequence[RecordedGame] = (),
    starts: None = None,
    labeller: Evaluator | None = None,
) -> Dataset:
    """Do the work of `sample_games` with an evaluator that is not compiled, without starting positions."""
    check_stop()
    games = recorded or games_of(evaluator, settings.seed, settings.noise, first, count)
    unlabelled = replace(settings, candidates=0, label=OUTCOME if settings.is_by_outcome else "")
    data = sample_games(unlabelled, simple().model, first, count, games)
    if settings.candidates:
        data = data.rows(few_candidates(evaluator, data, settings.candidates, settings.seed))
    if labeller is not None:
        return _with_labels_by(data, labeller)
    return data if settings.is_by_outcome else rolled_out(evaluator, data, settings.rollouts())


def _with_labels_by(data: Dataset, labeller: Evaluator) -> Dataset:
    # The values do not depend on how positions are batched.
    at_once = _LABELS_AT_ONCE if getattr(labeller, "plies", 0) else max(1, len(data))
    rows = np.empty((len(data), len(OUTPUTS)), np.float32)
    for part in slices(len(data), at_once):
        check_stop()
        rows[part] = labeller.evaluate_many(data.boards[part])
    equity = equities(rows.astype(np.float64)).astype(np.float32)
    return replace(data, probabilities=rows, equity=equity)


def _stratified_errors(record: SampledPositions, rows: int, seed: int) -> FloatArray:
    """Return the standard errors (rows,) of the mean equities of stratified rollouts."""
    errors = np.empty(rows)
    _, starts = np.unique(record.items[:rows], return_index=True)
    # All plays of a decision are rolled out with the same dice.
    for first, last in pairwise([*starts.tolist(), rows]):
        tally = Tally(last - first, partial(first_rolls, seed, int(record.items[first])))
        tally.add(record.trials[first:last].T)
        errors[first:last] = tally.errors()
    return errors
