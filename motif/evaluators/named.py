"""Evaluators by name: ``pubeval``, ``bras``, ``motif-v2``, ``FILE.yaml``, any with ``@1`` or ``@2``.

``latest`` is the newest ``motif-vN`` that came along.
Weights also with ``+bearoff``, as in ``motif-v2+bearoff@1``; ``wildbg`` and ``onnx:PATH`` are nets.
"""

import re
from collections.abc import Callable

from motif.board.identifiers import quoted
from motif.evaluators.bras import BrasEvaluator
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.lookahead import LookaheadEvaluator
from motif.evaluators.phase import PhaseEvaluator
from motif.evaluators.shipped import (
    LATEST,
    NET_PREFIX,
    RANDOM_NAME,
    WILDBG_NAME,
    default_player,
    shipped_weights,
)
from motif.evaluators.static import (
    BEAROFF_SUFFIX,
    StaticEvaluator,
    from_weight_file,
    pubeval,
    simple,
    with_bearoff,
)
from motif.runtime.errors import PlayerError

# Each loads the static evaluator of that name.
_STATIC: dict[str, Callable[[], StaticEvaluator]] = {
    "pubeval": pubeval,
    "simple": simple,
    "bras": BrasEvaluator,
    "phase": PhaseEvaluator,
}
_WITH_PLIES = re.compile(r"(.+)@([0-9]{1,9})")


def load_static(name: str) -> StaticEvaluator:
    """The static evaluator called `name`: a known one, weights that come with motif, or a file's path.

    Raises `PlayerError` for a name that means nothing, `WeightFileError` for a bad file.
    """
    if name.endswith(BEAROFF_SUFFIX):
        without = name.removesuffix(BEAROFF_SUFFIX)
        if without.endswith(BEAROFF_SUFFIX):
            raise PlayerError(f"{quoted(name)} has {BEAROFF_SUFFIX} more than once")
        return with_bearoff(load_static(without))
    if name == LATEST:
        return load_static(default_player())
    if name in _STATIC:
        return _STATIC[name]()
    if name.endswith((".yaml", ".yml")):
        return from_weight_file(name)
    if name in shipped_weights():
        return from_weight_file(shipped_weights()[name], name)
    if _WITH_PLIES.fullmatch(name):
        raise PlayerError(f"{quoted(name)} looks ahead; a player without @ is needed here")
    if name == RANDOM_NAME:
        raise PlayerError("the player 'random' has no values: it cannot evaluate, look ahead or roll out")
    if name == WILDBG_NAME or name.startswith(NET_PREFIX):
        raise PlayerError(
            f"{quoted(name)} is a net; rollouts and self-play need a static evaluator of motif's"
        )
    known = ", ".join((*_STATIC, LATEST, *shipped_weights(), "FILE.yaml", WILDBG_NAME, f"{NET_PREFIX}PATH"))
    raise PlayerError(
        f"no player is called {quoted(name)}; there are {known}, each also with @1 or @2, and random, "
        "best-of-four, gnubg, rollout:PLAYER"
    )


def load_evaluator(name: str) -> Evaluator:
    """The evaluator called `name`, with its lookahead: ``weights/motif-v1.yaml@1``, say."""
    if match := _WITH_PLIES.fullmatch(name):
        plies = int(match[2])
        base = _load_base(match[1])
        return LookaheadEvaluator(base, plies) if plies else base
    return _load_base(name)


def _load_base(name: str) -> Evaluator:
    """The evaluator without lookahead called `name`, a net too."""
    if name == WILDBG_NAME or name.startswith(NET_PREFIX):
        from motif.evaluators.nets import load_net, load_wildbg

        return load_wildbg() if name == WILDBG_NAME else load_net(name.removeprefix(NET_PREFIX))
    return load_static(name)
