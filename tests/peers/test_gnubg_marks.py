"""motif's thresholds for marks are those of gnubg."""

import os
import re
import subprocess

from motif.board.marks import BAD, DOUBTFUL, LUCK_MARKS, VERY_BAD
from motif.players.gnubg_process import installed_gnubg


def test_the_defaults_of_gnubg(gnubg, tmp_path):
    subprocess.run(
        [installed_gnubg(), "-t", "-q"],
        input="save settings\n",
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    (settings,) = tmp_path.rglob("*autorc")
    found = dict(re.findall(r"^set analysis threshold (\w+) ([\d.]+)$", settings.read_text(), re.MULTILINE))
    (very, _), (lucky, _) = LUCK_MARKS
    expected = {"doubtful": DOUBTFUL, "bad": BAD, "verybad": VERY_BAD}
    expected |= {"lucky": lucky, "unlucky": lucky, "verylucky": very, "veryunlucky": very}
    assert {name: float(value) for name, value in found.items()} == expected
