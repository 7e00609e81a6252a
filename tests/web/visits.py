"""A visitor's actions on the page, by clicks."""

import json
import subprocess
import sys
from urllib.request import Request, urlopen

from tests.web.conftest import ROOT


def begin(page, server, *, opponent="random", length=0, seed=4, jacoby=None):
    """Start a game in the dialog of the page."""
    page.goto(f"{server.address}/#/start")
    page.wait_for_selector("#start")
    choose(page, opponent=opponent, length=length, seed=seed, jacoby=jacoby)


def choose(page, *, opponent, length, seed, jacoby=None):
    """Open the dialog for a new game, fill it in, and wait for the game."""
    page.click("#new-game")
    page.wait_for_selector(".levels input")
    page.click("#more summary")
    page.select_option("#opponent", opponent)
    page.select_option("#length", str(length))
    if jacoby is not None:
        page.set_checked("#rule-jacoby", jacoby)
    page.fill("#seed", str(seed))
    page.click("#begin")
    page.wait_for_selector(".table[data-asks]")


def asks(page) -> str:
    return page.get_attribute(".table", "data-asks")


def revision(page) -> int:
    return int(page.get_attribute(".table", "data-revision"))


def press(page, place: int) -> None:
    """Click on a point."""
    page.click(f'[data-place="{place}"]')


def walk(page, place: int) -> None:
    """Go to a point with the arrow keys."""
    page.keyboard.press("ArrowLeft")
    for _ in range(40):
        here = int(page.evaluate("document.activeElement.dataset.place"))
        if here == place:
            return
        is_top, goal_is_top = 12 < here < 25, 12 < place < 25
        if is_top != goal_is_top:
            page.keyboard.press("ArrowUp" if goal_is_top else "ArrowDown")
            continue
        page.keyboard.press("ArrowRight" if _column(place) > _column(here) else "ArrowLeft")
    raise AssertionError(f"no way to {place}")


def _column(place: int) -> float:
    """From the left; the bar is between two points."""
    if place == 25:
        return 6.5
    return place - 12 if place > 12 else 13 - place


def move(page) -> None:
    """Move checkers by clicks until the roll is played."""
    page.mouse.move(0, 0)  # away from the hints, which draw on the board
    while page.is_disabled("#ok"):
        page.click(".target.movable")


def decide(page, button: str) -> None:
    """Press a button, and wait for the result."""
    before = revision(page)
    page.click(button)
    page.wait_for_function(
        "before => Number(document.querySelector('.table').dataset.revision) > before", arg=before
    )


def turn(page, answer="#take", double=False) -> None:
    """Make one decision of any kind."""
    match asks(page):
        case "play":
            move(page)
            decide(page, "#ok")
        case "answer":
            decide(page, answer)
        case _:
            decide(page, "#double" if double and page.query_selector("#double") else "#roll")


def play_on(page, **how) -> None:
    """Play to the end of the game."""
    while asks(page) not in ("next", "nothing"):
        turn(page, **how)


def board(page) -> str:
    """The board in words, as for screen readers."""
    return page.text_content(".board-place p")


def game_of(page) -> str:
    """The name of the game in the address."""
    return page.url.rpartition("/")[2]


def asked(server, path, question=None):
    """The server's answer."""
    data = None if question is None else json.dumps(question).encode()
    with urlopen(Request(server.address + path, data, {"content-type": "application/json"})) as answer:
        return json.load(answer)


def commanded(*words) -> dict:
    """The JSON output of a command of motif."""
    done = subprocess.run(
        [sys.executable, "cli.py", *words, "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)
