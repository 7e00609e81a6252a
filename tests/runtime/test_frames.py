"""Tables of results."""

import math
import typing

from motif.runtime.frames import Tabular


class Result(Tabular):
    def to_dict(self):
        return {"ppg": 0.5, "p_value": 0.25, "luck_adjusted": {"judge": "motif-v1", "mean": 0.125}}


class Rates(Tabular):
    def records(self):
        return [{"file": "one", "er": 4.5}, {"file": "two", "er": 9.25}]


def test_a_table_spells_out_names_that_are_short_in_json():
    lines = str(Result()).splitlines()
    titles = ["points per game", "p value", "luck-adjusted judge", "luck-adjusted mean"]
    assert [line.rsplit(maxsplit=1)[0] for line in lines] == titles
    assert ">error rate<" in Rates()._repr_html_()
    assert str(Rates()).split("\n", maxsplit=1)[0].split() == ["file", "error", "rate"]


class Measured(Tabular):
    _decimals: typing.ClassVar = {"elo": 1}
    _printed = "elo", "p"

    def to_dict(self):
        return {"elo": -5.2e-10, "p": 1e-12, "se": math.nan, "of": [{"x": (1.0, math.inf)}]}


def test_a_dict_has_no_numbers_that_json_lacks():
    """Tables still have them."""
    assert Measured().to_dict() == {"elo": -5.2e-10, "p": 1e-12, "se": None, "of": [{"x": [1.0, None]}]}
    assert math.isnan(Measured().records()[0]["se"])


def test_a_table_has_chosen_columns_and_decimals():
    assert str(Measured()).split() == ["elo", "0.0", "p", "1e-12"]


def test_records_keep_the_names_of_json():
    assert Result().records() == [
        {"ppg": 0.5, "p_value": 0.25, "luck_adjusted_judge": "motif-v1", "luck_adjusted_mean": 0.125}
    ]
