"""The examples of docs/how-to/bearoff.md run and give the documented results."""

import doctest
import re
import runpy
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "bearoff.md"


def test_the_session_has_the_documented_output():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried > 5) == (0, True)


def test_the_script_runs(tmp_path, capsys):
    scripts = re.findall(r"```python\n(import .*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    path = tmp_path / "script.py"
    path.write_text("".join(scripts))
    rows = runpy.run_path(str(path))["rows"]
    assert rows[0].round(3).tolist() == [0.827, 0, 0, 0, 0]
    assert np.isnan(rows[1]).all()
    assert "nan" in capsys.readouterr().out
