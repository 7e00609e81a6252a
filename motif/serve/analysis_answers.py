"""Models of the answers of motif's own HTTP interface about matches: analyses and reviews."""

from typing import Literal

from motif.serve.answers import Answer, Number, ReasonAnswer, Roll


class CostAnswer(Answer):
    """A cost or result in the unit of the match: one of these fields."""

    points: Number = None
    """Points, in money play."""
    mwc: Number = None
    """Match winning chances, 0 to 1, in a match."""


class ErrorsAnswer(CostAnswer):
    """Totals of a set of decisions."""

    decisions: int
    error_rate: Number
    """Millipoints of normalised equity per decision."""
    se: Number
    """Standard error of `error_rate`."""
    total: float
    """Normalised equity lost."""
    blunders: int


class LuckAnswer(CostAnswer):
    """Total luck of a player's rolls."""

    rolls: int
    total: float
    """Normalised equity."""


class MistakesAnswer(CostAnswer):
    """Total loss of cube mistakes of one kind."""

    count: int
    total: float
    """Normalised equity."""


class RatesAnswer(Answer):
    """A player's ratings."""

    name: str
    unit: Literal["points", "mwc"] | None
    """Unit of costs and results."""
    rating: str | None
    """Name of the error rate; null for few decisions, and for the analyst."""
    error_rate: Number
    """Millipoints of normalised equity per decision."""
    error_rate_se: Number
    pr: Number
    """Performance rating as in eXtreme Gammon: half the error rate."""
    pr_word: str | None = None
    """eXtreme Gammon's name for it, in a review."""
    snowie_error_rate: Number
    """Millipoints lost per roll of both players, as in gnubg."""


class PlayerTotalsAnswer(RatesAnswer):
    """The results of one player."""

    decisions: int
    """Number of decisions behind the error rate, those of `overall`."""
    chequer: ErrorsAnswer
    cube: ErrorsAnswer
    overall: ErrorsAnswer
    forced: int
    """Rolls with a single legal play, which are not decisions."""
    luck: LuckAnswer
    mistakes: dict[str, MistakesAnswer]
    """Cube mistakes by kind, such as missed double."""
    marks: dict[str, int]
    """Number of doubtful, bad and very bad decisions."""
    kinds: dict[str, ErrorsAnswer]
    """Totals by kind of decision, such as contact or take."""
    result: Number
    """Points won in money play, or match winning chances gained from even."""
    luck_adjusted_result: Number


class MomentAnswer(Answer):
    """A moment of a match."""

    game: int
    move: int
    player: str
    xgid: str
    """The position and the match, as seen by the player on roll."""


class ErrorAnswer(MomentAnswer):
    """An error."""

    roll: str
    """Such as 31; empty for a cube decision."""
    done: str | None
    """The play or cube action."""
    best: str | None
    error: float
    """Millipoints of normalised equity."""
    error_se: Number
    """Standard error of `error` by a rollout."""
    mark: str
    """doubtful, bad, very bad or empty."""
    source: str
    """Source of `error`: 0-ply, 2-ply ..., rollout or exact."""


class CandidateAnswer(Answer):
    """A possible action and its equity."""

    done: str
    equity: float
    """Normalised, for the player to decide."""
    source: str
    se: Number = None
    """Standard error of an equity from a rollout."""
    lookahead: Number = None
    """Equity by lookahead, if `equity` is from a rollout."""
    difference: Number = None
    """From the best one, in a review."""


class MatchDecisionAnswer(ErrorAnswer, CostAnswer):
    """A decision of a match, with its error in the unit of the match."""

    kind: str
    """Kind of decision, such as contact or take."""
    position: str
    counts: bool
    """Whether it counts as a decision."""
    trials: int
    """Trials of the rollout; 0 without one."""
    too_close: bool
    """Whether a rollout did not confirm the error of a cube action, which then does not count.  An error of
    a play that a rollout does not confirm counts, but has no mark."""
    candidates: list[CandidateAnswer]


class WorstPlayAnswer(MomentAnswer, CostAnswer):
    """A play that lost equity, with the reasons for the better one."""

    position: str
    roll: Roll
    played: str
    better: str
    loss: float
    """Millipoints of normalised equity."""
    summary: str
    sentences: list[str]
    reasons: list[ReasonAnswer]


class WorstCubeAnswer(MomentAnswer, CostAnswer):
    """A cube decision that lost equity; equities are normalised, for the player on roll."""

    position: str
    mistake: str
    """missed double, wrong double, wrong take or wrong pass."""
    done: str
    action: str
    """The right actions."""
    loss: float
    """Millipoints of normalised equity."""
    no_double: float
    double_take: Number = None
    double_pass: Number = None
    words: str


class JokerAnswer(MomentAnswer, CostAnswer):
    """A lucky roll; its luck also in the unit of the match."""

    roll: Roll
    luck: float
    """Normalised equity gained against the average roll."""
    mark: str
    """very lucky, lucky or empty."""


class GameTotalsAnswer(CostAnswer):
    """A player's totals in one game; `points` or `mwc` is the luck."""

    name: str
    decisions: int
    error_rate: Number
    total: float
    blunders: int
    luck: float
    """Normalised equity."""


class AnalystAnswer(Answer):
    """The file and the analyst of an analysis."""

    file: str
    """Name of the file in a form."""
    analyst: str
    own_error_rate: Number
    """The analyst's own error rate in contact positions, in millipoints per decision; null if unknown."""
    trials: int
    """Trials of the rollouts that confirm errors; 0 if there were none."""


class ScoreJumpAnswer(Answer):
    """A game that does not begin at the score at which the previous game ended."""

    game: int
    begins: tuple[int, int]
    ended: tuple[int, int]


class IllegalPlayAnswer(Answer):
    """A play that the rules forbid, made as recorded."""

    game: int
    move: int
    player: str
    roll: str
    play: str


class OccasionAnswer(Answer):
    """Where and when a match was played; null where its record does not say it."""

    event: str | None
    site: str | None
    date: str | None


class AnalysisAnswer(AnalystAnswer, OccasionAnswer):
    """Analysis of a match."""

    length: int
    """Points of the match; 0: money play."""
    jacoby: bool
    games: int
    finished: int
    """Number of games with a result."""
    score: tuple[int, int]
    """Score after the last game."""
    score_jumps: list[ScoreJumpAnswer]
    """Games whose recorded score contradicts the previous game."""
    illegal_plays: list[IllegalPlayAnswer]
    """Plays that the rules forbid, which are not judged."""
    players: list[PlayerTotalsAnswer]
    errors: list[ErrorAnswer]
    """All errors of both players, the largest first."""
    worst: list[WorstPlayAnswer]
    worst_cube: list[WorstCubeAnswer]
    by_game: list[list[GameTotalsAnswer]]
    """Both players' totals, by game."""
    jokers: list[JokerAnswer]
    """The luckiest rolls."""
    decisions: list[MatchDecisionAnswer] | None = None
    """All decisions, with `moves`."""


class ReviewHeadingAnswer(OccasionAnswer):
    """The match of a review, and its analyst."""

    names: list[str]
    length: int
    player: str
    rolls: int
    """Number of rolls of the match."""
    score_jumps: list[ScoreJumpAnswer]
    """Games whose recorded score contradicts the previous game."""
    illegal_plays: list[IllegalPlayAnswer]
    """Plays that the rules forbid, which are not judged."""
    analysis: str | None = None
    """ID of the stored analysis, with `keep`; null if it cannot be stored."""
    seat: int | None = None
    """The reader's seat in a game of the page."""


class KnownCubeAnswer(Answer):
    """The equities of a cube decision, as requests of /api/v1/cube take them."""

    no_double: Number
    double_take: Number
    source: str
    se: Number


class ReviewShownAnswer(Answer):
    """What a display of the board needs, as seen by the player on roll."""

    on_roll: int
    """Number of the player on roll, 0 or 1."""
    decider: int
    """Number of the player who decided."""
    is_play: bool
    id: str
    board: list[int]
    cube: int
    owner: Literal["centre", "me", "opponent"]
    score: tuple[int, int]


class ReviewedDecisionAnswer(ReviewShownAnswer, CostAnswer):
    """A play or a cube action of a review; without a play, only what is known of the roll."""

    game: int
    move: int
    xgid: str
    done: str | None
    best: str | None
    error: float
    """Millipoints of normalised equity."""
    mark: str
    counts: bool
    player: str | None = None
    kind: str | None = None
    position: str | None = None
    roll: str | None = None
    error_se: Number = None


class ReviewedAnswer(ReviewedDecisionAnswer):
    """A play with its luck, or a cube action with the right one."""

    source: str | None = None
    trials: int | None = None
    too_close: bool | None = None
    candidates: list[CandidateAnswer] | None = None
    dice: Roll | None = None
    luck: Number = None
    """Normalised equity gained against the average roll."""
    luck_mark: str | None = None
    chance: Number = None
    """Player 0's winning chance before the roll."""
    action: str | None = None
    """The right cube actions of both players."""
    known: KnownCubeAnswer | None = None


class ReviewLineAnswer(Answer):
    """A line of a review, with one of these fields: first the match, then decisions, then the totals."""

    match: ReviewHeadingAnswer | None = None
    decisions: list[ReviewedAnswer] | None = None
    players: list[PlayerTotalsAnswer] | None = None
    themes: dict[str, str] | None = None
    """Themes of errors, by the numbers of their decisions, with `keep`."""
    message: str | None = None
    """Why the review ended early."""
