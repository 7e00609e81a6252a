"""Standard streams may be closed: ``<&-``, ``>&-``, ``2>&-``."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.processes import ROOT

ID = "4HPwATDgc/ABMA"
full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes the streams")
@pytest.mark.parametrize(
    ("command", "code", "errors"),
    [
        ("--help >&-", 0, ""),
        (f"evaluate {ID} --player pubeval >&-", 0, ""),
        (f"evaluate {ID} --player nobody 2>&-", 2, ""),
        pytest.param(f"evaluate {ID} --player nobody 2>/dev/full", 2, "", marks=full_device),
        # A contest has worker processes, which inherit the streams, and a note on stderr.
        ("match pubeval random --games 5 --jobs 2 2>&-", 0, ""),
        pytest.param("match pubeval random --games 5 --jobs 1 2>/dev/full", 0, "", marks=full_device),
        ("evaluate --batch - --player pubeval <&-", 0, ""),
        ("serve ubgi --player pubeval <&-", 0, ""),
    ],
)
def test_a_closed_stream_is_no_internal_error(command, code, errors):
    line = f"{sys.executable} {ROOT / 'cli.py'} {command}"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (code, errors)
