"""The reading process detects every way in which a reader can misbehave."""

import os
import signal
import time
import warnings

import numpy as np
import pytest

from motif.runtime.errors import SettingError
from tests.fuzz import reader_process
from tests.fuzz.reader_process import Outcome, ReaderFault, ReaderProcess


def behave(how: str, folder) -> None:
    """Read nothing, and behave as given."""
    if how == "refuse":
        raise SettingError("no")
    if how == "refuse on two lines":
        raise SettingError("no\nno")
    if how == "raise":
        raise KeyError("no")
    if how == "warn":
        warnings.warn("no", RuntimeWarning, stacklevel=2)
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "hang":
        time.sleep(1000)
    if how == "fill memory":
        np.ones(2 * reader_process.MAX_MEMORY, np.uint8)
    if how == "map memory":
        np.empty(1 << 40, np.uint8)


@pytest.fixture(scope="module")
def misled(tmp_path_factory):
    process = ReaderProcess(tmp_path_factory.mktemp("misled"))
    process.warm_up(behave, ["accept"])
    yield process
    process.stop()


def test_accepted_and_refused(misled):
    outcome = misled.run(behave, ["accept", "refuse", "accept"])
    assert isinstance(outcome, Outcome)
    assert outcome.accepted == 2


FAULTS = [
    ("refuse on two lines", "one line"),
    ("raise", "KeyError"),
    ("warn", "RuntimeWarning"),
    ("crash", "died with code -11"),
    ("fill memory", "MiB of memory"),
    ("map memory", "MemoryError"),
]


@pytest.mark.parametrize(("how", "said"), FAULTS)
def test_faults_are_detected(misled, how, said):
    with pytest.raises(ReaderFault, match=said):
        misled.run(behave, ["accept", how])
    assert misled.run(behave, ["accept"]).accepted == 1


def test_a_hang_is_detected(misled, monkeypatch):
    monkeypatch.setattr(reader_process, "SECONDS_TO_ANSWER", 0.5)
    with pytest.raises(ReaderFault, match="no answer within"):
        misled.run(behave, ["hang"])
    monkeypatch.undo()
    assert misled.run(behave, ["accept"]).accepted == 1


def test_valid_input_must_be_accepted(misled):
    with pytest.raises(ReaderFault, match="a valid input is refused: no"):
        misled.warm_up(behave, ["accept", "refuse"])
