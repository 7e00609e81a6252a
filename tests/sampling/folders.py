"""Small datasets, and folders compared byte by byte."""

from collections.abc import Callable
from pathlib import Path

from motif.sampling.sample import SampleSettings, sample

QUICK = SampleSettings(player="pubeval", games=7, trials=3, candidates=3, rate=0.3, cut=3, seed=5)


def files(folder: Path) -> dict[str, bytes]:
    """All files in a folder, including hidden files."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def differences(one: Path, other: Path) -> list[str]:
    """Names of the files that differ between the two folders."""
    here, there = files(one), files(other)
    return sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))


def made(folder: Path, settings: SampleSettings = QUICK, **options) -> Path:
    sample(settings, folder, **{"jobs": 1, **options})
    return folder


def on_call(number: int, real: Callable, instead: Callable) -> Callable:
    """A function that calls `real`, except on its call with that number, counted from 1, when it calls
    `instead`.
    """
    calls = 0

    def counted(*arguments, **options):
        nonlocal calls
        calls += 1
        return (instead if calls == number else real)(*arguments, **options)

    return counted
