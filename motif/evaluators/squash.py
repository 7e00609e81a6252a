"""Squashing: from a raw sum x to a value between two bounds, y = low + (high - low) (tanh x + 1) / 2.

Source: Tom Keith, "How Motif Works" (2004), with low = 0 and high = 1.  Fits use the same squash as
`motif.fitting.link.Link`; a test holds the two together.
"""

import math

from motif.runtime.jit import inline_kernel

EQUITY_BOUND = 3.0
"""Money equity lies between minus and plus this (a backgammon lost or won)."""

BOUNDS = {"equity": (-EQUITY_BOUND, EQUITY_BOUND)}
_PROBABILITY_BOUNDS = (0.0, 1.0)


def bounds(head: str) -> tuple[float, float]:
    """Lowest and highest value of the head called `head`."""
    return BOUNDS.get(head, _PROBABILITY_BOUNDS)


@inline_kernel
def squash_probability(x):
    """The probability that one raw sum stands for."""
    return 0.5 * (math.tanh(x) + 1.0)


@inline_kernel
def squash_equity(x):
    """The equity that one raw sum stands for."""
    return EQUITY_BOUND * math.tanh(x)


@inline_kernel
def _unsquashed(share):
    return math.atanh(min(max(share, -0.9999999999999), 0.9999999999999))


@inline_kernel
def probability_to_raw(probability):
    """The raw sum whose squashed probability is `probability`; about plus or minus 15 at the bounds."""
    return _unsquashed(2.0 * probability - 1.0)


@inline_kernel
def equity_to_raw(equity):
    """The raw sum whose squashed equity is `equity`; about plus or minus 15 at the bounds."""
    return _unsquashed(equity / EQUITY_BOUND)
