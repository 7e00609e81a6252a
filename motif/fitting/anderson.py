"""Anderson extrapolation of a sequence of weight vectors.

Source: Bertrand and Massias, "Anderson acceleration of coordinate descent" (AISTATS 2021), as in
skglm: of the last K + 1 iterates, the combination with coefficients that sum to 1 and make the
combined difference smallest.
"""

import numpy as np

from motif.fitting.terms import FloatArray

MEMORY = 5
"""K: passes between two extrapolations."""


class Extrapolation:
    """Collects iterates and proposes an extrapolated one after every `memory` of them."""

    def __init__(self, start: FloatArray, memory: int = MEMORY) -> None:
        self._memory = memory
        self._iterates = [start.copy()]

    def restart(self, weights: FloatArray) -> None:
        """Forget the past; `weights` is the new first iterate."""
        self._iterates = [weights.copy()]

    def propose(self, weights: FloatArray) -> FloatArray | None:
        """Take the next iterate; every `memory` of them, the extrapolated weights (else None)."""
        self._iterates.append(weights.copy())
        if len(self._iterates) <= self._memory:
            return None
        iterates = np.array(self._iterates)
        differences = np.diff(iterates, axis=0)
        # Minimise |sum c_k differences_k| with sum c = 1: proportional to G^-1 1, with a trace of
        # the diagonal added because the differences soon become parallel.
        gram = differences @ differences.T
        gram[np.diag_indices_from(gram)] += 1e-12 * np.trace(gram)
        try:
            coefficients = np.linalg.solve(gram, np.ones(len(gram)))
        except np.linalg.LinAlgError:
            return None
        total = coefficients.sum()
        if not np.isfinite(total) or total == 0:
            return None
        return coefficients @ iterates[1:] / total
