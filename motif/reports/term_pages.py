"""HTML pages of `motif explain` and `motif terms`, and the report of `motif terms`.

The page of `explain` shows both plays as boards, the reasons with bars, a grid of the opponent's rolls, and
all terms.  The grid is readable without colours: squares have signed numbers, and negative ones a frame.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from motif.analysis.phrases import LANGUAGE, Phrases, phrases
from motif.board.match_state import MatchState
from motif.reports.document import rendered
from motif.runtime.files import PAGE_SUFFIXES, check_target, path_of, write_text
from motif.runtime.frames import Row, Tabular
from motif.runtime.layout import html_lines, percent, sentence
from motif.runtime.settings import check_count, check_only_one, check_seed

if TYPE_CHECKING:
    # Slow imports.
    from motif.analysis.explain.explanation import Explanation
    from motif.analysis.term_report import EffectSummary, Observed, TermSummary
    from motif.analysis.unit_report import Extremes, UnitSummary
    from motif.board.packed import Board
    from motif.evaluators import StaticEvaluator, WeightFile
    from motif.evaluators.weight_file import HeadKey
    from motif.fitting.significance import HeadTerms
    from motif.sampling.dataset import Dataset

_GREEN, _RED, _NEUTRAL = "#2e7d4f", "#b3202c", "#8a8178"
_STRONG = 0.3
"""Points of equity with full colour."""
_NOTHING = 0.005
"""Points of equity below which a square shows 0."""
OWN_POSITIONS = 2000
"""Number of self-play positions over which the terms of an evaluator are compared."""
_FIGURES = ("weight", "se", "z", "effect", "effect_se", "effect_z")


def explanation_page(explanation: "Explanation", match: MatchState | None = None) -> str:
    """Return the self-contained HTML page of an explanation; `match` adds score and cube."""
    plays = explanation.better, explanation.worse
    words = explanation.words
    names, parts = explanation.names, explanation.static.parts
    largest_first, about = sorted(parts.terms, key=lambda term: -abs(term[1])), parts.term_words
    return rendered(
        "explain_page.html",
        words.say("page", "title", roll="{}{}".format(*explanation.roll), better=names[0], worse=names[1]),
        why=explanation,
        language=words.language,
        match=match,
        names=names,
        boards=[
            (_caption(explanation, name, equity), play.moves)
            for name, play, equity in zip(names, plays, explanation.evidence.judged, strict=True)
        ],
        board_captions=_board_captions(explanation, match),
        largest_reason=max((reason.amount for reason in explanation.reasons), default=1.0),
        largest=max((abs(value) for _, value in parts.groups), default=1.0),
        roll_grid=roll_grid,
        grid_caption=words.say("roll_grid", "caption", better=names[0], worse=names[1]),
        terms=[
            {"number": words.signed(value, 6), "name": name, "about": about.get(name, "")}
            for name, value in largest_first
        ],
    )


def _caption(explanation: "Explanation", play: str, equity: float) -> str:
    """Return the play with its equity, or its winning chance if the weights have only a win head."""
    words = explanation.words
    if explanation.static.parts.scale.win_only:
        return words.say("page", "chance", play=play, amount=words.amount(50 + 50 * equity, 1))
    return words.say("page", "equity", play=play, amount=words.signed(equity))


def _board_captions(explanation: "Explanation", match: MatchState | None) -> tuple[str, ...]:
    """Return captions for the corners of a board; none in English, which diagrams have themselves."""
    words, position = explanation.words, explanation.position
    if words.language == LANGUAGE:
        return ()
    top = words.say("board", "opponent", pips=position.pip_count_opponent)
    return top, words.score(match) if match else "", words.say("board", "mover", pips=position.pip_count)


@dataclass(frozen=True, eq=False, repr=False)
class TermReport(Tabular):
    """The most important parameters, terms and hidden units of a head, in words."""

    _printed = ("sentence", "name", "kind", "moves")

    weights: "WeightFile"
    key: "HeadKey"
    """Class and head."""
    statistics: "HeadTerms"
    """Statistics of all terms."""
    source: str
    """The positions or the table that the statistics are from, in words."""
    note: str
    """Why a dataset gave no standard errors; otherwise empty."""
    effects: "Sequence[EffectSummary]"
    """Effects of the parameters, largest first."""
    terms: "Sequence[TermSummary]"
    """The terms that move the value most."""
    units: "Sequence[UnitSummary]"
    """The hidden units that move the equity most."""
    boards: "Board"
    """The positions (n, 26) over which effects are measured."""
    seen: "Observed"
    """Those that the head evaluates, with its values."""
    words: Phrases

    @property
    def title(self) -> str:
        """Title of the report."""
        kind = self.words.say("classes", self.key.class_name)
        return self.words.say("term_report", "title", weights=self.weights.name, kind=kind)

    @property
    def unit_names(self) -> tuple[str, ...]:
        """Names of all hidden units that add to the head, in the order of the weights."""
        layer = self.weights.hidden_of(self.key.class_name)
        return () if layer is None or layer.added_to(self.key.head) is None else layer.names

    @property
    def opening(self) -> str:
        """First sentences of the report."""
        words = self.words
        count, head = words.count(len(self.statistics.names) - 1), words.say("terms", "heads", self.key.head)
        unit_count = len(self.unit_names)
        units = words.say("term_report", "units", number=unit_count) if unit_count else ""
        return words.say(
            "term_report",
            "opening",
            effects=words.say("term_report", "effects", count=len(self.effects), head=head),
            terms=words.say("term_report", "terms", count=len(self.terms), number=count),
            units=units,
            source=self.source,
        )

    def records(self) -> list[Row]:
        """Return a row for each parameter, term and hidden unit; figures that it lacks are NaN."""
        return [
            {"kind": kind, "name": one.name, "sentence": text, "moves": one.moves}
            | {name: getattr(one, name, math.nan) for name in _FIGURES}
            for kind, one, text, _ in self._rows()
        ]

    def _rows(self) -> Iterator[tuple[str, "EffectSummary | TermSummary | UnitSummary", str, str]]:
        """Yield the kind of each row, its subject, its sentence and its effect on the value with the unit."""
        head, words = self.key.head, self.words
        for effect in self.effects:
            yield "parameter", effect, effect.sentence, moved(effect, head, words)
        for term in self.terms:
            yield "term", term, term.sentence, moved(term, head, words)
        for unit in self.units:
            yield "hidden unit", unit, sentence(unit.words), words.amount(unit.moves)

    def __str__(self) -> str:
        rows = (f"{amount}  {one.name}: {text}" for _, one, text, amount in self._rows())
        return "\n".join((self.title, self.opening, *rows))

    def _repr_html_(self) -> str:
        return html_lines((self.title, self.opening)) + super()._repr_html_()

    def to_dict(self) -> Row:
        """Return the report for JSON."""
        return {
            "weights": self.weights.name,
            "class": self.key.class_name,
            "head": self.key.head,
            "source": self.source,
            "count": len(self.statistics.names) - 1,
            "slope": self.statistics.statistics.slope,
            "parameters": [*map(asdict, self.effects)],
            "terms": [*map(asdict, self.terms)],
            "hidden_units": [*map(asdict, self.units)],
        }

    def unit(self, name: str, boards: int = 3) -> "Extremes":
        """Return the positions on which a hidden unit is largest and smallest.

        Parameters
        ----------
        name
            Name of the unit, one of `unit_names`.
        boards
            Number of positions for each extreme.

        Returns
        -------
        Extremes
            The unit, with ``.largest`` and ``.smallest``; ``print`` shows the boards.

        Raises
        ------
        SettingError
            For an unknown unit, or an invalid number of positions.
        """
        from motif.analysis.unit_report import extremes

        return extremes(
            self.weights, self.key.class_name, name, self.boards, check_count("boards", boards, 1)
        )

    def write(self, path: Path | str) -> Path:
        """Write an HTML page, which also has the effects as curves.

        Parameters
        ----------
        path
            The file, ``NAME.html``.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        SettingError, FileError
            For a name that is not that of a page, or a file that cannot be written.
        """
        from motif.reports.analysis_plots import effects_picture

        file = path_of("path", path)
        check_target(file, *PAGE_SUFFIXES)
        head, language = self.key.head, self.words.language
        page = rendered(
            "terms_page.html",
            self.title,
            opening=self.opening,
            notes=reading_of_terms(self.terms, head, language),
            effects_picture=effects_picture(self.seen, self.effects, self.weights.name, language),
            language=language,
            words=self.words,
            **effects_and_terms(self.effects, self.terms, self.units, head, language),
        )
        write_text(file, page)
        return file


def term_report(
    evaluator: "StaticEvaluator",
    *,
    table: Path | None,
    data: "Path | str | Dataset | None",
    positions: "Board | str | None",
    head: str | None,
    position_class: str,
    top: int,
    language: str,
    seed: int,
    jobs: int | None,
) -> TermReport:
    """Return the report on the `top` parameters, terms and hidden units of a head of weights.

    The statistics are those of `table`, a table of terms, or are measured over a dataset `data`, over
    `positions`, boards (n, 26) or a file, or over self-play.  Raises a `MotifError` for weights that lack the
    head, invalid settings, and files that cannot be read.
    """
    # Slow imports.
    from motif.analysis import term_report as measured
    from motif.analysis.unit_report import unit_summaries
    from motif.evaluators.static import weights_of
    from motif.evaluators.weight_file import HeadKey
    from motif.sampling.dataset_folders import dataset_folder

    words = phrases(language)
    check_count("top", top, 1)
    check_seed(seed)
    check_only_one(table=table, data=data, positions=positions)
    weights = weights_of(evaluator)
    key = HeadKey(position_class, measured.chosen_head(weights, position_class, head))
    note, statistics, is_in_memory = "", None, not isinstance(data, str | Path | None)
    if table is not None:
        statistics, source = measured.table_terms(table, weights, *key), str(table)
    with nullcontext() if data is None else dataset_folder("data", data) as folder:
        if folder is not None and not (note := measured.no_errors(folder, weights, *key, is_in_memory)):
            statistics, count = measured.fitted_terms([folder], weights, *key)
        boards = term_boards(
            evaluator, position_class, data=folder, positions=positions, seed=seed, jobs=jobs
        )
    if statistics is None:
        statistics, count = measured.board_terms(boards, weights, *key)
    if table is None:
        home = positions if data is None else data
        kind = "self_play" if home is None else "positions" if isinstance(home, str | Path) else "given"
        source = words.say("term_report", kind, number=words.count(count), place=home)
    seen = measured.observed_positions(weights, boards, *key)
    effects = measured.effect_summaries(seen, top, language)
    terms = measured.term_summaries(weights, statistics, seen, top, language)
    units = unit_summaries(weights, *key, seen.boards)[:top]
    return TermReport(weights, key, statistics, source, note, effects, terms, units, boards, seen, words)


def term_boards(
    evaluator: "StaticEvaluator",
    position_class: str,
    *,
    data: Path | None,
    positions: "Board | str | None",
    seed: int,
    jobs: int | None,
) -> "Board":
    """Return positions (n, 26): those of a dataset, those given or in a file, or self-play of a class."""
    # Slow imports.
    from motif.analysis.batch_files import read_positions
    from motif.analysis.evaluator_analysis import self_play_positions
    from motif.analysis.term_report import dataset_boards
    from motif.players.player import static_player

    if data is not None:
        return dataset_boards(data, position_class)
    if positions is not None:
        return read_positions(positions) if isinstance(positions, str) else positions
    return self_play_positions(static_player(evaluator), OWN_POSITIONS, position_class, seed=seed, jobs=jobs)


class TermRow(NamedTuple):
    """A parameter, term or hidden unit in a table."""

    number: str
    """How much it moves the value."""
    sentence: str
    facts: str


def effects_and_terms(
    effects: Sequence["EffectSummary"],
    terms: Sequence["TermSummary"],
    units: Sequence["UnitSummary"],
    head: str,
    language: str = LANGUAGE,
) -> dict[str, object]:
    """Return the facts of the template parts about `effects`, `terms` and hidden `units` of a head."""
    words = phrases(language)
    return {
        "effects": effect_rows(effects, head, language),
        "effects_note": effects_reading(head, language),
        "terms": [TermRow(moved(term, head, words), term.sentence, _facts(term, words)) for term in terms],
        "units": [
            TermRow(
                words.amount(unit.moves), sentence(unit.words), f"{unit.name}; {_in_numbers(unit, words)}"
            )
            for unit in units
        ],
        "units_note": words.say("term_report", "units_note"),
    }


def effect_rows(effects: Sequence["EffectSummary"], head: str, language: str = LANGUAGE) -> list[TermRow]:
    """Return the table rows of `effects` on `head`."""
    words = phrases(language)
    rows = []
    for place, effect in enumerate(effects, 1):
        facts = f"{place}. {effect.name}; {words.say('term_report', 'held', things=effect.held)}"
        rows.append(TermRow(moved(effect, head, words), effect.sentence, facts))
    return rows


def effects_reading(head: str, language: str = LANGUAGE) -> str:
    """Explain a list of effects on `head`."""
    words = phrases(language)
    return words.say("term_report", "effects_note", head=words.say("terms", "heads", head))


def _in_numbers(unit: "UnitSummary", words: Phrases) -> str:
    numbers = {name: signed(getattr(unit, name), 3, words) for name in ("high", "low", "amount")}
    shares = {name: percent(getattr(unit, name), 0) for name in ("on", "off", "share")}
    return words.say("term_report", "unit_facts", **numbers, **shares)


def reading_of_terms(terms: Sequence["TermSummary"], head: str, language: str = LANGUAGE) -> list[str]:
    """Return sentences that explain a list of `terms` of `head`."""
    words = phrases(language)
    unit = words.say("term_report", "in_points") if head == "equity" else ""
    notes = [words.say("term_report", "moves_note", head=words.say("terms", "heads", head), unit=unit)]
    if errors_known(terms):
        notes.append(words.say("term_report", "errors_note"))
    return notes


def errors_known(terms: Sequence["TermSummary"]) -> bool:
    """Return whether any of `terms` has a standard error."""
    return any(math.isfinite(term.effect_se) for term in terms)


def moved(term: "TermSummary | EffectSummary", head: str, words: Phrases) -> str:
    """Return the amount by which a term or parameter moves the value of `head`, with its unit."""
    return words.amount(term.moves) if head == "equity" else f"{words.amount(100 * term.moves, 2)} %"


def signed(value: float, digits: int, words: Phrases) -> str:
    """Return a number with its sign; empty if unknown."""
    return words.signed(value, digits) if math.isfinite(value) else ""


def _facts(term: "TermSummary", words: Phrases) -> str:
    """Return the term's name with the scale of its features, its effect and its weight."""
    name = f"{term.name} (1 = {', 1 = '.join(dict.fromkeys(term.full))})" if term.full else term.name
    effect = _with_z("effect", term.effect, term.effect_se, term.effect_z, words)
    return "; ".join([name, effect, _with_z("weight", term.weight, term.se, term.z, words)])


def _with_z(key: str, value: float, error: float, z: float, words: Phrases) -> str:
    """Return a number with its error if known: "weight +1.284 ± 0.031 (z +41.4)"."""
    about = f" ± {words.amount(error)}" if math.isfinite(error) else ""
    beside = f" (z {signed(z, 1, words)})" if math.isfinite(z) else ""
    return f"{words.say('term_report', key)} {signed(value, 3, words)}{about}{beside}"


def roll_grid(grid: Sequence[Sequence[float]], title: str, description: str) -> str:
    """Return an SVG of `grid` (6, 6): the advantage of the first play by the opponent's dice."""
    squares = [[_square(value) for value in values] for values in grid]
    return rendered("roll_grid.svg", title, squares=squares, description=description)


def _square(value: float) -> dict[str, object]:
    """Return the text of a square, and the strength and colour of its shade."""
    if abs(value) < _NOTHING:
        return {"text": "0", "depth": 0.12, "colour": _NEUTRAL, "is_framed": False}
    is_worse = value < 0
    return {
        "text": f"{'−' if is_worse else '+'}{100 * abs(value):.0f}",
        "depth": 0.15 + 0.45 * min(abs(value) / _STRONG, 1),
        "colour": _RED if is_worse else _GREEN,
        "is_framed": is_worse,
    }
