"""Who is in the table of players, and what others have measured on the same lines."""

from dataclasses import dataclass

CLASSES = ("contact", "crashed", "race")
"""The benchmark files, by name, and the columns of error rates."""

REFERENCE = "pubeval"
"""Against whom everyone plays."""

_MOST, _MANY, _SOME = 40_000, 20_000, 6_000


@dataclass(frozen=True)
class Entry:
    """A player of the table."""

    name: str
    """By which it is loaded."""
    who: str
    """In one line."""
    games: int = _MANY
    """Against `REFERENCE`: few where a game takes long."""


PLAYERS = (
    Entry("random", "any legal play, each as likely as the others"),
    Entry("simple", "motif's hand-made table of points and blots, with which learning starts"),
    Entry(
        "pubeval",
        "Gerald Tesauro's public benchmark player of 1993: one linear table for contact, one for race",
    ),
    Entry("bras", "eleven hand-weighted features, as the article on BRAS gives them"),
    Entry("phase", "sixteen features, hand-weighted by early, middle and late phase"),
    Entry("best-of-four", "one of the four plays that `phase` likes best, by chance"),
    Entry(
        "onnx:weights/phase-net/pretrained.onnx",
        "a net of 48-64-64-1 that learned the opinion of `phase` in random games",
    ),
    Entry(
        "onnx:weights/phase-net/refined.onnx",
        "the same net, trained further on the results of games of `best-of-four`",
    ),
    Entry(
        "keith-v0", "Keith's programme of 1996: simple parameters, win chance alone; learned from `simple`"
    ),
    Entry("keith-v1", "the next version, learned from rollouts by `keith-v0`"),
    Entry("motif-v0", "70 parameters and all their pairs, gammons too; learned from `simple`"),
    Entry("motif-v1", "the next version, learned from rollouts by `motif-v0`"),
    Entry("motif-v2", "the next, by `motif-v1`; with raw point terms and weights for each game plan"),
    Entry("motif-v3", "the next, by `motif-v2`"),
    Entry("motif-v4", "the next, by `motif-v3`, and by those of `motif-v2` too", _MOST),
    Entry("motif-v5", "the next, by `motif-v4`, and by those of `motif-v3` too"),
    Entry("motif-v6", "the next, by `motif-v5`, and by those of two versions before too", _MOST),
    Entry("motif-v6@1", "`motif-v6`, looking one ply ahead", _SOME),
    Entry("wildbg", "wildbg's neural nets for contact and race, by Carsten Wenderdel"),
    Entry("gnubg", "GNU Backgammon's neural nets, 0-ply, in a process of its own", _SOME),
)

PUBLISHED = {
    "random": {"contact": (153.9, 1.6), "crashed": (122.4, 1.9), "race": (56.9, 1.8)},
    "pubeval": {"contact": (35.6, 0.8), "crashed": (33.1, 1.1), "race": (7.4, 0.9)},
    "wildbg": {"contact": (8.9, 0.3), "crashed": (10.5, 0.4), "race": (2.5, 0.2)},
    "gnubg": {"contact": (4.95, 0.17), "crashed": (5.3, 0.3), "race": (1.1, 0.1)},
}
"""Error rates and their standard errors, in millipoints, that came with the benchmark lines."""
