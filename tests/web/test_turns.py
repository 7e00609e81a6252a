"""The opponent's actions are shown step by step at a readable speed; turns by finger and by keys."""

import json
import re
from contextlib import suppress

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is missing: make test-web")
from playwright.sync_api import Error

from tests.web.conftest import NARROW
from tests.web.visits import asks, begin, board, decide, move, press, turn, walk

MAX_SHIFT = 0.05
"""Cumulative layout shift of a game."""
SHIFTS = """() => {
    window.shift = 0;
    const add = (list) => {
        for (const one of list.getEntries()) if (!one.hadRecentInput) window.shift += one.value;
    };
    new PerformanceObserver(add).observe({ type: "layout-shift", buffered: false });
}"""


@pytest.fixture(name="paced")
def _paced(new_page, server):
    """A game at normal speed, at the reader's first play, on a page with a stopped clock."""
    page = new_page(speed=None, reduced_motion="no-preference")
    page.clock.install()
    begin(page, server, opponent="pubeval", seed=4)
    page.clock.run_for(20_000)
    page.wait_for_selector(".target.movable")
    move(page)
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    return page


def answered(page, change):
    """Let `change` edit the server's answer to the next decision."""

    def handle(route):
        answer = route.fetch()
        document = answer.json()
        change(document)
        route.fulfill(response=answer, body=json.dumps(document))

    page.route("**/api/v1/games/*", handle, times=1)


def test_dice_are_shown_before_checkers_move(paced):
    paced.click("#ok")
    paced.wait_for_selector(".die.theirs")
    before = board(paced)
    assert paced.locator(".table[data-tells]").count() == 1
    paced.clock.run_for(600)
    assert board(paced) == before
    for _ in range(12):
        paced.clock.run_for(300)
    paced.wait_for_selector(".table:not([data-tells])")
    assert board(paced) != before
    assert paced.locator(".board .arrow.last").count() > 0
    assert "pubeval" in paced.text_content("#last")


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([{"do": "play", "roll": [6, 6], "play": "", "moves": [], "forced": True}], "No move"),
        ([{"do": "double"}], "pubeval doubles to 2"),
        ([{"do": "take"}], "pubeval takes"),
        ([{"do": "drop"}], "pubeval passes"),
    ],
    ids=["dance", "double", "take", "pass"],
)
def test_actions_without_a_move_are_shown_over_the_board_for_a_second(paced, events, words):
    def change(state):
        shown = [{"who": "opponent", "board": state["board"], **event} for event in events]
        state["events"] = shown

    answered(paced, change)
    paced.click("#ok")
    paced.wait_for_selector(".banner")
    assert words in paced.text_content(".banner")
    paced.clock.run_for(990)
    assert paced.locator(".banner").count() == 1
    paced.clock.run_for(3000)
    paced.wait_for_selector(".table:not([data-tells])")
    assert paced.locator(".banner").count() == 0


def test_a_reader_without_a_move_is_told_so(paced):
    own = {"do": "play", "roll": [6, 6], "play": "", "moves": [], "forced": True}

    def change(state):
        state["events"] = [{"who": "me", "board": state["board"], **own}]

    answered(paced, change)
    paced.click("#ok")
    paced.wait_for_selector(".banner")
    assert paced.text_content(".banner") == paced.text_content("#announcer") == "You: 6-6. No move"


def test_the_opening_roll_is_shown(new_page, server):
    page = new_page(speed=None)
    page.goto(f"{server.address}/#/start")
    page.click("#start")
    page.wait_for_selector(".banner")
    assert re.search(r"You roll \d, .+ rolls \d\. (You begin|.+ begins)\.", page.text_content(".banner"))
    assert page.locator(".board .die").count() == 2
    assert page.locator(".board .die.theirs").count() == 1


def test_with_reduced_motion_each_move_is_an_arrow(new_page, server):
    page = new_page(speed="fast")
    begin(page, server, opponent="pubeval", seed=4)
    page.wait_for_selector(".target.movable")
    move(page)
    page.click("#ok")
    page.wait_for_selector(".table[data-tells] .board .die.theirs")
    page.wait_for_selector(".table[data-tells] .board .arrow.last")
    page.wait_for_selector(".table:not([data-tells]) .board .arrow.last")


def test_without_auto_roll_the_reader_rolls(page, server):
    page.goto(f"{server.address}/#/start")
    page.click("#settings")
    page.uncheck("#prefer-autoroll")
    page.click("dialog button:has-text('Done')")
    begin(page, server, opponent="random", length=1, seed=4)
    turn(page)
    assert asks(page) == "play"
    assert page.locator(".target.movable").count() == 0
    page.click("#roll")
    page.wait_for_selector(".target.movable")


def test_bearing_off_automatically(page, server):
    page.goto(f"{server.address}/#/start")
    page.click("#settings")
    page.check("#prefer-autobearoff")
    page.click("dialog button:has-text('Done')")
    begin(page, server, opponent="random", length=1, seed=4)
    confirmed = set()
    while asks(page) != "nothing":
        if asks(page) != "play":
            turn(page)
            continue
        before = page.get_attribute(".table", "data-revision")
        while page.get_attribute(".table", "data-revision") == before:
            with suppress(Error):  # it may be played automatically meanwhile
                if page.locator("#ok:enabled").count():
                    page.click("#ok", timeout=500)
                    confirmed.add(before)
                else:
                    page.click(".target.movable >> nth=0", timeout=500)
    played = page.locator(".log .me").count()
    assert len(confirmed) < played


def test_presses_on_dice_cube_and_board(page, server):
    page.clock.install()
    begin(page, server, opponent="pubeval", length=5, seed=4)
    move(page)
    before = page.text_content(".log")
    page.click(".board .die >> nth=0")
    page.wait_for_function("before => document.querySelector('.log').textContent !== before", arg=before)
    while not page.query_selector("#double"):
        turn(page)
    page.clock.fast_forward(1000)  # a press just after a play does not roll
    page.click('[data-place="18"]')
    page.wait_for_selector("#ok")
    while not page.query_selector("#double"):
        turn(page)
    page.click(".board .cube")
    page.wait_for_function("() => /doubles/.test(document.querySelector('.log').textContent)")


def drag_by_touch(page, places):
    """Move a finger from a point to another."""
    middle = []
    for place in places:
        box = page.locator(f'[data-place="{place}"]').bounding_box()
        middle.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    (x1, y1), (x2, y2) = middle
    client = page.context.new_cdp_session(page)

    def touch(kind, *points):
        client.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]}
        )

    touch("touchStart", (x1, y1))
    for k in range(1, 11):
        touch("touchMove", (x1 + (x2 - x1) * k / 10, y1 + (y2 - y1) * k / 10))
    touch("touchEnd")


def test_a_checker_is_dragged_down_by_touch(new_page, server):
    page = new_page(size=NARROW, has_touch=True)
    begin(page, server, seed=4)
    drag_by_touch(page, (13, 10))
    assert "4 on 13, 1 on 10" in board(page)
    assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize(
    ("place", "share", "expected"),
    [(7, 0.1, "2 on 8"), (7, 0.5, "2 on 8"), (23, 0.9, "1 on 24, 1 on 20"), (18, 0.5, None)],
    ids=["just beside", "in the next column", "at the edge", "far away"],
)
def test_a_finger_takes_the_nearest_legal_point(new_page, server, place, share, expected):
    page = new_page(size=NARROW, has_touch=True)
    begin(page, server, seed=4)  # 4-3, which nothing on the points 7, 18 and 23 can play
    start = board(page)
    box = page.locator(f'[data-place="{place}"]').bounding_box()
    page.touchscreen.tap(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    if expected is None:
        assert board(page) == start
    else:
        assert expected in board(page)
        assert page.is_enabled("#undo")


def test_the_mouse_takes_the_point_that_it_hits(page, server):
    begin(page, server, seed=4)
    start = board(page)
    press(page, 7)
    assert board(page) == start


@pytest.mark.parametrize("length", [0, 1], ids=["money", "match"])
def test_a_game_by_touch_at_390(new_page, server, length):
    page = new_page(size=NARROW, has_touch=True)
    begin(page, server, opponent="random", length=length, seed=4)
    page.evaluate(SHIFTS)
    while asks(page) not in ("next", "nothing"):
        if asks(page) == "play":
            while page.is_disabled("#ok"):
                page.tap(".target.movable")
            decide(page, "#ok")
        else:
            turn(page)
    page.wait_for_selector(".result-card a[href^='#/analyse']")
    assert page.evaluate("window.shift") < MAX_SHIFT


def test_a_match_by_the_keyboard_alone(page, server):
    begin(page, server, opponent="random", length=3, seed=4)
    revisions = 0
    while asks(page) != "nothing":
        revisions += 1
        before = page.get_attribute(".table", "data-revision")
        if asks(page) == "play":
            while page.locator(".target.movable").count():
                walk(page, int(page.get_attribute(".target.movable >> nth=0", "data-place")))
                page.keyboard.press("Enter")
        page.keyboard.press("t" if asks(page) == "answer" else "n" if asks(page) == "next" else "Enter")
        page.wait_for_function("b => document.querySelector('.table').dataset.revision !== b", arg=before)
    assert revisions > 10
    page.keyboard.press("?")
    page.wait_for_selector("dialog.help kbd")


def test_enter_moves_from_the_point_that_has_the_focus(page, server):
    begin(page, server, seed=4)  # 4-3
    page.focus('[data-place="13"]')  # as assistive technology does, without arrow keys
    page.keyboard.press("Enter")
    assert "4 on 13, 1 on 9" in board(page)
    assert page.evaluate("document.activeElement.dataset.place") == "13"
    assert page.locator(".board [tabindex='0']").count() == 1


@pytest.mark.parametrize(
    ("language", "centred", "owned"),
    [
        ("en-GB", "Cube at 1, centred.", "Cube at 2, the opponent's."),
        ("de-DE", "Doppler auf 1, mittig.", "Doppler auf 2, beim Gegner."),
    ],
)
def test_the_cube_is_described_too(new_page, server, language, centred, owned):
    page = new_page(language=language)
    begin(page, server, opponent="pubeval", seed=4)
    assert board(page).endswith(centred)
    while not page.query_selector("#double"):
        turn(page)
    decide(page, "#double")
    assert board(page).endswith(owned)


def test_undo_by_keys(page, server):
    begin(page, server, seed=4)
    start = board(page)
    press(page, 24)
    page.keyboard.press("Control+z")
    assert board(page) == start
    press(page, 24)
    press(page, 13)
    page.keyboard.press("Escape")
    assert board(page) == start


def test_the_home_board_may_be_on_the_left(page, server):
    begin(page, server, seed=4)
    right = page.locator('[data-place="1"]').bounding_box()["x"]
    page.click("#settings")
    page.select_option("#prefer-home", "left")
    page.click("dialog button:has-text('Done')")
    assert page.locator('[data-place="1"]').bounding_box()["x"] < right
    press(page, 24)
    assert "1 on 20" in board(page)


def test_a_deleted_game_can_be_had_back(page, server):
    begin(page, server, opponent="pubeval", seed=4)
    game = page.url.rpartition("/")[2]
    page.click("#forget")
    page.wait_for_selector("#start")
    page.wait_for_load_state("networkidle")
    assert not page.query_selector(f".kept a[href$='{game}']")
    page.click("#undo-delete")
    page.wait_for_selector(".table[data-asks]")
    assert game in page.url


def test_the_button_of_a_message_is_not_cut(new_page, server):
    page = new_page(size=(360, 740), language="de-DE")
    begin(page, server, opponent="pubeval", seed=4)
    page.click("#forget")
    widths = """(button) => {
        const words = document.createRange(), { paddingLeft, paddingRight } = getComputedStyle(button);
        words.selectNodeContents(button);
        const room = button.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
        return [words.getBoundingClientRect().width, room];
    }"""
    words, room = page.eval_on_selector("#undo-delete", widths)
    assert words <= room + 0.5
