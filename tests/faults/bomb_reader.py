"""Read the given files one after another, and report on each.

``python -m tests.faults.bomb_reader READER FILE READER FILE ...``

It is a separate process, so that its peak memory is that of the readers only. It prints a line of JSON for
each file: the kind of the error, its message, the seconds of processor time, and the peak memory in bytes
beyond that before.
"""

import contextlib
import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from motif.analysis.batch_files import read_decisions, read_positions
from motif.benchmarks import read_benchmark
from motif.board.match_file import read_match
from motif.doubling.match_equity import match_equity_table
from motif.evaluators.nets import load_net
from motif.evaluators.weight_reader import read_weight_file
from motif.fitting.significance import read_terms
from motif.learning.bootstrap_config import load_config
from motif.reports.run_files import read_history
from motif.runtime.errors import MotifError
from motif.sampling.dataset import read_dataset
from motif.sampling.label_files import read_labels
from tests.fuzz.reader_process import peak_memory

READERS: dict[str, Callable[[Path], Any]] = {
    "match": read_match,
    "weights": read_weight_file,
    "config": load_config,
    "benchmark": read_benchmark,
    "labels": lambda path: sum(len(rows.boards) for rows in read_labels(path)),
    "positions": lambda path: read_positions(str(path)),
    "decisions": lambda path: read_decisions(str(path)),
    "dataset": lambda path: read_dataset(path.parent),
    "terms": read_terms,
    "equities": lambda path: match_equity_table(str(path)),
    "net": lambda path: load_net(str(path)),
    "history": lambda path: read_history(path.parent),
}


def _begin_peak() -> int:
    """Reset the peak where the system can do that; return the memory in use, in bytes."""
    gc.collect()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def main() -> None:
    for reader, file in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        before, started = _begin_peak(), time.process_time()
        try:
            READERS[reader](Path(file))
            said = ["accepted", ""]
        except Exception as error:
            known = "MotifError" if isinstance(error, MotifError) else type(error).__name__
            said = [known, str(error)]
        taken = time.process_time() - started
        print(json.dumps([*said, taken, peak_memory() - before]), flush=True)


if __name__ == "__main__":
    main()
