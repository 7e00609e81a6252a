"""The course project's network: 48-64-64-1, taught by its heuristic, then by the outcomes of games.

The inputs are the 48 values of the parameter set ``phase``; the output scores a board for the player
who has just moved, 0 to 1.  In stage 1 the target is the min-max score of the heuristic `phase` on
boards of random play.  In stage 2 it is 1 for boards that the winner of a game made and 0 for the
loser's, in games of `best-of-four`; training goes in rounds, on a buffer that new boards enter and
old ones leave by lot.
"""

from typing import TYPE_CHECKING

from motif.runtime.package import lazy_names

if TYPE_CHECKING:
    from motif.phase_net.phase_run import PhaseNetTraining, train_phase_net
    from motif.phase_net.phase_settings import PhaseNetSettings

__all__ = ["PhaseNetSettings", "PhaseNetTraining", "train_phase_net"]

# Imported on first use: the settings are light.
__getattr__ = lazy_names(
    __name__,
    {
        "motif.phase_net.phase_run": ("PhaseNetTraining", "train_phase_net"),
        "motif.phase_net.phase_settings": ("PhaseNetSettings",),
    },
)
