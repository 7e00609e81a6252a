"""The build identifies everything that affects the bytes of a result, and is the same in all processes of a
machine.
"""

import os
import subprocess
import sys
from pathlib import Path

from motif.runtime.cluster import build_facts, build_id

ROOT = Path(__file__).resolve().parent.parent.parent


def elsewhere(name: str, **environment: str) -> str:
    command = [sys.executable, "-c", f"from motif.runtime import cluster; print(cluster.{name}())"]
    surroundings = {**os.environ, **environment}
    ended = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=True)
    return ended.stdout.strip()


def test_another_process_is_the_same():
    assert elsewhere("build_facts") == str(build_facts())


def test_compiled_for_another_processor():
    assert elsewhere("build_id", NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") != build_id()
