"""Bearoff tables, computed from the rules on first use."""

from motif.evaluators.bearoff.lookup import bearoff_probabilities, covered
from motif.evaluators.bearoff.race import (
    BearoffChances,
    RaceDistribution,
    bearoff_chances,
    covered_boards,
    covered_rows,
    race_distribution,
)
from motif.evaluators.bearoff.tables import BearoffTables, bearoff_tables, no_tables

__all__ = [
    "BearoffChances",
    "BearoffTables",
    "RaceDistribution",
    "bearoff_chances",
    "bearoff_probabilities",
    "bearoff_tables",
    "covered",
    "covered_boards",
    "covered_rows",
    "no_tables",
    "race_distribution",
]
