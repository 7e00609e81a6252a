"""Draw the pictures of the documentation: ``python -m tools.images [NAME...]`` writes into docs/images.

Commands of motif draw most pictures. Screenshots need Chromium and Playwright, and are left unchanged without
them. ``make frontier`` and ``make bench-fit`` draw the pictures of speed.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from motif.evaluators.known_players import default_player
from motif.reports.style import BLUE, FAINT, SMALL, VERMILION, picture
from tools.import_graph import ROOT
from tools.player_table import read_records
from tools.strength_table import NEWEST, RECORDS

IMAGES = ROOT / "docs" / "images"
WORK = ROOT / "runs" / "images"
"""Where commands leave datasets and pages."""
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
VERSIONS = ("keith-v0", "keith-v1", *(f"motif-v{number}" for number in range(NEWEST + 1)))
"""Versions in the picture of strength, in the order in which they were learned."""
OTHERS = {"pubeval": "PubEval", "wildbg": "wildbg's nets", "gnubg": "gnubg, 0-ply"}
"""Other players in that picture."""
EXPLAINED = "z92DAADNdgEwGA 3 2 --versus '18/15* 6/4'"


def motif(line: str) -> None:
    """Run the command ``motif LINE`` in the working folder."""
    print(f"motif {line}", flush=True)
    subprocess.run(
        [sys.executable, ROOT / "cli.py", *shlex.split(line)], cwd=WORK, check=True, stdout=subprocess.DEVNULL
    )


def strength(path: Path) -> None:
    """Draw error rates in contact positions, and points per game against PubEval, by version."""
    records = {name: one for name, one in read_records(ROOT / RECORDS).items() if not one.missing}
    names = [name for name in VERSIONS if name in records]
    with picture(path, 5.6, "Strength by version, without lookahead") as figure:
        upper, lower = figure.subplots(2, 1, sharex=True)
        rates = [records[name].error_rates["contact"] for name in names]
        look: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 3.5, "capsize": 4}
        upper.errorbar(range(len(names)), [rate.er for rate in rates], [rate.se for rate in rates], **look)
        upper.set_ylabel("millipoints per\ncontact decision")
        upper.set_yscale("log")
        upper.set_yticks([5, 10, 20, 40], ["5", "10", "20", "40"])
        upper.minorticks_off()
        points = [(records[name].ppg or 0.0, records[name].se or 0.0) for name in names]
        look |= {"color": VERMILION, "marker": "s"}
        lower.errorbar(range(len(names)), *map(list, zip(*points, strict=True)), **look)
        lower.set_ylabel("points per game\nagainst PubEval")
        for name, shown in OTHERS.items():
            if name not in records:
                continue
            upper_level, lower_level = records[name].error_rates["contact"].er, records[name].ppg or 0.0
            for axes, level in ((upper, upper_level), (lower, lower_level)):
                side = "top" if axes is lower and name == "wildbg" else "bottom"
                # The end that is far from the line of the versions.
                is_left = axes is lower and name == "gnubg"
                place, end = (0.2, "left") if is_left else (len(names) - 0.8, "right")
                axes.axhline(level, color=FAINT, linewidth=1, linestyle=":")
                axes.annotate(shown, (place, level), fontsize=SMALL - 1, va=side, ha=end, color=FAINT)
        lower.set_xticks(range(len(names)), names, rotation=60, ha="right")
        figure.supxlabel("Bars: one standard error.", fontsize=SMALL)


def convergence(path: Path) -> None:
    """Fit Keith's model to a small dataset."""
    shutil.rmtree(WORK / "first", ignore_errors=True)
    motif("sample --out first --player simple --games 500 --trials 36 --rate 0.1 --candidates 8")
    motif(f"fit first --out keith.yaml --parameters keith --heads win --plot {path}")


def calibration(path: Path) -> None:
    """Calibrate BRAS against rollouts by the default player."""
    rates = "--rate 0.1 --crashed-rate 0.3 --race-rate 0.2 --candidates 1 --stop-at-bearoff"
    shutil.rmtree(WORK / "chances", ignore_errors=True)
    motif(f"sample --out chances --player latest --games 6000 --trials 36 {rates} --seed 61996")
    motif(f"calibrate chances --player bras --plot {path}")


def bras_importance(path: Path) -> None:
    """Show what moves BRAS."""
    motif("inspect bras --out bras")
    shutil.copy(WORK / "bras" / "04_importance.png", path)


def bras_windows(path: Path) -> None:
    """Show BRAS's doubling window beside the default player's decisions."""
    motif(f"cube-windows --player {default_player()} --games 4000 --seed 1 --plot {path}")


@contextmanager
def chromium(width: int, height: int) -> Iterator[Any]:
    """Provide a page in a Chromium window of this size."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": width, "height": height})
        browser.close()


def explain(path: Path) -> None:
    """Take a screenshot of an explanation."""
    motif(f"explain {EXPLAINED} --html why.html")
    with chromium(800, 1500) as page:
        page.goto((WORK / "why.html").as_uri())
        page.screenshot(path=path)


def report(path: Path) -> None:
    """Take a screenshot of the demo's report: strength, and the worst decision."""
    motif("bootstrap --preset demo --out demo")
    with chromium(760, 900) as page:
        page.goto((WORK / "demo" / "report.html").as_uri())
        top = page.locator("h2", has_text="Strength by version").bounding_box()
        bottom = page.locator("h3").nth(1).bounding_box()
        height = min(bottom["y"] - top["y"] if bottom else 1500, 1800)
        clip = {"x": 0, "y": top["y"] - 10, "width": 760, "height": height}
        page.screenshot(path=path, clip=clip, full_page=True)


def web(path: Path) -> None:
    """Take a screenshot of a game in the browser, with a hint and its reasons."""
    words = [sys.executable, str(ROOT / "cli.py"), "web", "--no-open", "--port", "0"]
    environment = {**os.environ, "XDG_STATE_HOME": str(WORK / "state")}
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = next(
                re.search(r"http://[\d.:]+", line) for line in server.stderr or () if "listening" in line
            )
            with chromium(1280, 1170) as page:
                page.goto(f"{address[0] if address else ''}/#/start")
                page.click("#new-game")
                page.click("#more summary")
                page.fill("#seed", "4")
                page.click("#begin")
                page.wait_for_selector(".table[data-asks=play]", timeout=60_000)
                page.click("#hint-button")
                page.wait_for_selector(".hint tbody .play", timeout=60_000)
                page.click(".hint button:has-text('Why') >> nth=1")
                page.wait_for_timeout(3000)
                page.screenshot(path=path)
        finally:
            server.terminate()


PICTURES: dict[str, Callable[[Path], None]] = {
    "strength": strength,
    "convergence": convergence,
    "calibration": calibration,
    "bras-importance": bras_importance,
    "bras-windows": bras_windows,
    "explain": explain,
    "report": report,
    "web": web,
}
PHOTOGRAPHED = ("explain", "report", "web")


def main() -> int:
    """Draw the pictures named on the command line, or all."""
    WORK.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        if name not in PICTURES:
            print(f"unknown picture '{name}': choose from {', '.join(PICTURES)}", file=sys.stderr)
            return 2
        if name in PHOTOGRAPHED and not can_photograph():
            print(f"{name}.png is unchanged: it needs Chromium and Playwright (pip install '.[browser]')")
            continue
        PICTURES[name](IMAGES / f"{name}.png")
        print(f"docs/images/{name}.png", flush=True)
    return 0


def can_photograph() -> bool:
    """Return whether Chromium and Playwright are installed."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return False
    return CHROMIUM is not None


if __name__ == "__main__":
    sys.exit(main())
