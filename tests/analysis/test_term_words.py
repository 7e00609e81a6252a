"""Terms in words: sentences for each kind of term and every parameter."""

import math

import pytest

from motif.analysis.phrases import languages, phrases
from motif.analysis.term_report import (
    Gain,
    effect_words,
    pair_words,
    square_words,
    subject,
    typical_amount,
)
from motif.evaluators.weight_file import HEAD_NAMES
from motif.parameters import PARAMETER_SETS, parameter_set

_NAN = float("nan")
_ENGLISH = phrases()


def _parameter(name: str, chosen: str = "motif"):
    known = parameter_set(chosen)
    return known.parameters[known.names.index(name)]


def _equity(value: float, error: float = _NAN) -> Gain:
    return Gain("equity", value, error)


_SINGLE = {
    ("hitting_rolls_opponent", 5, _equity(-0.0312, 0.0041)): (
        "5 more rolls of 36 with which the opponent can hit (with several checkers on the bar: by entering) "
        "cost 0.031 ± 0.004 points of equity."
    ),
    ("home_points", 1, _equity(0.2)): (
        "One more home point that the player on roll has made is worth 0.20 points of equity."
    ),
    ("on_bar", 1, _equity(-0.17)): (
        "One more checker of the player on roll on the bar costs 0.17 points of equity."
    ),
    ("pip_lead", 20, _equity(0.1)): (
        "20 pips by which the player on roll leads are worth 0.10 points of equity."
    ),
    ("nothing_off", 1, Gain("win", -0.012, 0.0003)): (
        "That the player on roll has yet to bear off a checker takes 1.20 ± 0.03 percentage points off the "
        "win probability."
    ),
    ("pip_count", 10, Gain("lose_gammon", 0.02, _NAN)): (
        "10 more pips that the player on roll must still travel add 2.0 percentage points to the "
        "probability of losing a gammon."
    ),
    ("longest_prime", 1, _equity(0.0423)): (
        "One more point in the longest run of points in a row that the player on roll has made is worth "
        "0.042 points of equity."
    ),
    ("longest_prime", 2, _equity(-0.0123)): (
        "2 more points in the longest run of points in a row that the player on roll has made make hardly "
        "any difference (\N{MINUS SIGN}0.01)."
    ),
    ("spread", 200, _equity(-0.5)): (
        "200 more in the sum of the squared distances of the player on roll's checkers from the "
        "8 point cost 0.50 points of equity."
    ),
    ("rearmost_opponent", 5, Gain("win", 0.0931)): (
        "5 more pips that the opponent's rearmost checker needs to bear off add 9.3 percentage points to the "
        "win probability."
    ),
    ("best_block_opponent", 5, _equity(-0.13)): (
        "5 more rolls of 36 that a checker stuck behind the opponent's best block could not play in full "
        "cost 0.13 points of equity."
    ),
    ("on_bar_opponent", 1, Gain("win", 0.003)): (
        "One more checker of the opponent on the bar makes hardly any difference (+0.3 percentage points)."
    ),
}


@pytest.mark.parametrize(("term", "words"), _SINGLE.items())
def test_single_terms(term, words):
    name, amount, gain = term
    assert effect_words(_parameter(name), amount, gain, _ENGLISH) == words


@pytest.mark.parametrize(
    ("own", "value", "words"),
    [(1, 0.02, "are worth 0.020 points of equity more"), (1, -0.02, "are worth 0.020 points of equity less"),
     (-1, 0.02, "cost 0.020 points of equity less"), (-1, -0.02, "cost 0.020 points of equity more")],
)  # fmt: skip
def test_pairs_say_which_way_the_other_turns_it(own, value, words):
    main, other = (_parameter("pip_lead"), 10), (_parameter("on_bar"), 1)
    told = pair_words(main, other, own, _equity(value), _ENGLISH)
    ending = "for every further checker of the player on roll on the bar."
    assert told == f"10 pips by which the player on roll leads {words} {ending}"


def test_pairs_with_more_of_the_other_or_with_a_condition():
    blots, lead, off = (_parameter(name) for name in ("blots_home", "pip_lead", "nothing_off_opponent"))
    assert pair_words((blots, 2), (lead, 20), -1, Gain("win", -0.01), _ENGLISH) == (
        "2 more blots of the player on roll in the home board take 1.0 percentage points more off the win "
        "probability for every 20 pips by which the player on roll leads."
    )
    assert pair_words((lead, 20), (blots, 2), 1, _equity(0.01), _ENGLISH).endswith(
        "equity more for every 2 more blots of the player on roll in the home board."
    )
    assert pair_words((lead, 20), (off, 1), 1, _equity(0.01), _ENGLISH).endswith(
        "equity more when the opponent has yet to bear off a checker."
    )


def test_squares_compare_with_the_amount_before():
    assert square_words(_parameter("blots_home"), 1, -1, _equity(-0.05), _ENGLISH) == (
        "One more blot of the player on roll in the home board costs 0.050 points of equity more than the "
        "one before."
    )
    assert square_words(_parameter("pip_lead"), 20, 1, _equity(-0.05), _ENGLISH).endswith(
        "equity less than the 20 before."
    )


@pytest.mark.parametrize(
    ("pips", "amount"), [(0, 1), (0.4, 1), (1.3, 1), (1.6, 2), (37, 50), (28, 20), (180, 200)]
)
def test_amounts_are_round(pips, amount):
    parameter = _parameter("pip_lead")
    assert typical_amount(parameter, pips * parameter.scale) == amount


def test_yes_or_no_is_one():
    assert typical_amount(_parameter("nothing_off"), 0.4) == 1


@pytest.mark.parametrize("name", sorted(PARAMETER_SETS))
def test_every_parameter_can_be_spoken_of(name):
    for parameter in parameter_set(name).parameters:
        for amount in (1, 10):
            told = subject(parameter, amount, _ENGLISH)
            assert parameter.is_flag or told.startswith("one " if amount == 1 else "10 ")
            assert "  " not in told
            # The measured quantity is named in full, except for singular and plural.
            assert parameter.sentence.split(" ", 3)[-1] in told


@pytest.mark.parametrize(("language", "first", "pair", "square"), [
    ("en", "2 more blots of the player on roll in the home board cost 0.10 points of equity.",
     "2 more blots of the player on roll in the home board cost 0.10 points of equity more when the opponent "
     "has yet to bear off a checker.",
     "20 pips by which the player on roll leads are worth 0.10 points of equity less than the 20 before."),
    ("de", "Blots im Heimfeld (Spieler am Wurf): 2 mehr kosten 0,10 Punkte Equity.",
     "Blots im Heimfeld (Spieler am Wurf): 2 mehr kosten 0,10 Punkte Equity mehr, wenn zutrifft: Auswürfeln "
     "noch nicht begonnen (Gegner).",
     "Vorsprung in Pips: 20 mehr bringen 0,10 Punkte Equity weniger als die 20 davor."),
])  # fmt: skip
def test_every_language_has_every_kind_of_sentence(language, first, pair, square):
    words, loss = phrases(language), _equity(-0.1)
    blots, lead, off = (_parameter(name) for name in ("blots_home", "pip_lead", "nothing_off_opponent"))
    assert effect_words(blots, 2, loss, words) == first
    assert pair_words((blots, 2), (off, 1), -1, loss, words) == pair
    assert square_words(lead, 20, 1, loss, words) == square


@pytest.mark.parametrize("head", sorted(HEAD_NAMES))
@pytest.mark.parametrize("value", [0.0, 1e-9, 2.5, -1e-9, math.pi])
def test_numbers_of_any_size_can_be_reported(head, value):
    for error in (_NAN, 0.0, 1e-9, 1.0):
        for language in languages():
            told = Gain(head, value, error).in_words("3 more", 3, phrases(language))
            assert "e-" not in told
            assert ("±" in told) == math.isfinite(error)
