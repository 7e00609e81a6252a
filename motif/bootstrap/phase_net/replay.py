"""The replay buffer of stage 2: boards with outcomes, of which new ones push out old ones by lot.

So most of it is recent, and some of it old: a board in a full buffer is still there after k rounds of m
new ones with the chance (1 - m / size)**k.  The source trims its file of samples to a size; which of
them go it does not say.
"""

import numpy as np

from motif.bootstrap.phase_net.samples import Samples


class ReplayBuffer:
    """At most `size` boards, with what they came to."""

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.samples: Samples | None = None
        self._random = np.random.default_rng(seed)

    def add(self, new: Samples) -> Samples:
        """Take in `new` ones and return what the buffer holds; of more than `size`, so many by lot."""
        new = self._some(new, self.size)
        if self.samples is None:
            self.samples = new
        else:
            kept = self._some(self.samples, self.size - len(new.targets))
            self.samples = Samples(*map(np.concatenate, zip(kept, new, strict=True)))
        return self.samples

    def _some(self, samples: Samples, most: int) -> Samples:
        count = len(samples.targets)
        if count <= most:
            return samples
        rows = self._random.choice(count, most, replace=False)
        return Samples(*(column[rows] for column in samples))
