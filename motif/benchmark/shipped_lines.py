"""The benchmark lines that come with the checkout, in `data/bench/`."""

from dataclasses import replace
from pathlib import Path

from motif.benchmark.files import BenchmarkFile, read_benchmark

_CHECKOUT = Path(__file__).resolve().parent.parent.parent
_LINES = "data/bench"


def shipped_lines() -> list[BenchmarkFile]:
    """The files in order, named from the checkout on; none where motif was installed without it.

    Raises `BenchmarkError` for a file that cannot be read.
    """
    paths = sorted((_CHECKOUT / _LINES).glob("*.bm.gz"))
    return [replace(read_benchmark(path), path=path.relative_to(_CHECKOUT).as_posix()) for path in paths]
