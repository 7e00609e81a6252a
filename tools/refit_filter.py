"""Fit the move filter of a weight file with hidden units again, to positions of datasets.

    python -m tools.refit_filter weights.yaml runs/positions --out weights.yaml

The weights remain the same; so do the plays without lookahead.  The labels of the datasets do not matter.
"""

import argparse
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from motif.evaluators.known_players import load_weighted
from motif.evaluators.static import weights_of
from motif.learning.move_filter import DECISIONS, imitate, imitating_filter
from motif.learning.rows import class_rows
from motif.runtime.parallel import run_ordered

_VALIDATION = 0.1


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", help="weight file, or name of weights")
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--out", required=True, type=Path, help="weight file to write")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--decisions", type=int, default=DECISIONS, help="most decisions of a class")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    weights = weights_of(load_weighted(options.weights))
    with class_rows(options.datasets, weights.parameters, _VALIDATION, options.seed) as rows:
        calls = [(part, weights, options.seed, options.decisions) for part in rows.values()]
        with closing(run_ordered(imitate, calls, options.jobs)) as results:
            fitted = dict(zip(rows, results, strict=True))
    for name, part in fitted.items():
        losses = 1000 * part.losses / part.decisions
        print(f"{name}: {part.decisions} decisions, millipoints lost with 1, 2, ... plays kept:")
        print("  " + " ".join(f"{loss:.2f}" for loss in losses[:12]))
    move_filter = imitating_filter(fitted)
    print(f"kept: {move_filter.kept}")
    replace(weights, move_filter=move_filter).save(options.out)


if __name__ == "__main__":
    main()
