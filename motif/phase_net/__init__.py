"""A course project's network, trained on its heuristic and then on game outcomes.

It has 48 inputs, two hidden layers of 64 units and one output.  The inputs are the 48 features of the
parameter set ``phase``; the output scores a board for the player who has just moved, 0 to 1.  In stage 1 the
target is the min-max score of the heuristic `phase` on boards of random play.  In stage 2, the target is 1
for the boards of the winner and 0 for those of the loser in games of `best-of-four`; training proceeds in
rounds on a replay buffer with random replacement.
"""

from typing import TYPE_CHECKING

from motif.runtime.lazy_imports import lazy_names

if TYPE_CHECKING:
    from motif.phase_net.phase_run import PhaseNetTraining as PhaseNetTraining
    from motif.phase_net.phase_run import train_phase_net as train_phase_net
    from motif.phase_net.phase_settings import PhaseNetSettings as PhaseNetSettings

# Imported on first use, so that importing only the settings is fast.
__getattr__, __dir__ = lazy_names(__name__, __file__)
