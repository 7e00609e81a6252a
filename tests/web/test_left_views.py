"""What arrives late, or fails on the way: answers for positions and views that have been left."""

import time

import pytest

from tests.board.test_mat_file import BY_GNUBG
from tests.web.test_other_views import XGID
from tests.web.visits import begin, board, decide, game_of, move, play_on

LATE = 1.5
"""Seconds by which an answer is late."""


@pytest.fixture(name="later")
def _later(page):
    """Delay the next answer to a request of the page; the result says whether it has been sent."""

    def delay(pattern):
        sent = []

        def handle(route):
            answer = route.fetch()
            page.wait_for_timeout(1000 * LATE)
            sent.append(pattern)
            route.fulfill(response=answer)

        page.route(pattern, handle, times=1)
        return sent

    return delay


def wait_for(page, sent):
    """Wait until a late answer was sent and read."""
    end = time.monotonic() + 30
    while not sent and time.monotonic() < end:
        page.wait_for_timeout(100)
    assert sent
    page.wait_for_timeout(500)


def test_a_late_hint_is_dropped_after_the_play(page, server, later):
    begin(page, server, opponent="pubeval", seed=4)
    sent = later("**/api/v1/hint")
    page.click("#hint-button")
    move(page)
    decide(page, "#ok")
    wait_for(page, sent)
    assert page.locator(".hint").count() == 0


def test_an_unknown_play_is_refused(page, server):
    begin(page, server, opponent="pubeval", seed=4)  # 4-3
    page.click("#hint-button")
    page.wait_for_selector(".hint .chances")
    page.evaluate("document.querySelector('.hint .play').dispatchEvent(new Event('click'))")
    assert page.is_enabled("#ok")
    shown = board(page)
    illegal = """async () => {
        const { Turn } = await import("/turn.js");
        const turn = new Turn(new Array(26).fill(0), [2, 1], { steps: [[]], plays: [""] });
        return [turn.take("13/7"), turn.take(""), turn.path.length];
    }"""
    assert page.evaluate(illegal) == [False, True, 0]
    assert board(page) == shown


def test_late_reasons_are_dropped_at_the_next_decision(page, server, later, tmp_path):
    path = tmp_path / "gnubg.mat"
    path.write_text(BY_GNUBG)
    page.goto(f"{server.address}/#/analyse")
    page.check("#fast")
    page.set_input_files("#match-file", path)
    page.wait_for_selector("#players")
    sent = later("**/api/v1/{explain,hint,cube}")
    page.click("#explain")
    page.click("#next")
    wait_for(page, sent)
    assert page.text_content(".advice") == ""


def test_a_late_hint_is_dropped_after_a_change_of_the_position(page, server, later):
    page.goto(f"{server.address}/#/position/{XGID}")
    page.wait_for_selector("#save-svg")
    sent = later("**/api/v1/hint")
    page.click("#setup-hint")
    page.select_option("#set-dice", "61")
    page.wait_for_function("() => location.hash.includes('61')")
    wait_for(page, sent)
    assert page.text_content(".advice") == ""


def test_a_hint_is_asked_for_again_when_the_server_is_back(page, server):
    begin(page, server, opponent="pubeval", seed=4)
    page.evaluate("import('/advice.js')")
    page.route("**/api/v1/hint", lambda route: route.abort(), times=1)
    page.click("#hint-button")
    page.wait_for_selector(".advice .fault:has-text('reach motif')")
    page.wait_for_selector(".hint .chances")


def test_an_analysis_that_was_left_keeps_to_itself(page, server, later):
    begin(page, server, opponent="random", length=1, seed=4)
    play_on(page)
    page.wait_for_selector(".result-card a[href^='#/analyse']")
    sent = later("**/api/v1/review")
    page.click("#analyse")
    page.wait_for_selector("main > .working")
    page.evaluate("location.hash = '#/learn'")
    page.wait_for_selector("#learn-opening")
    wait_for(page, sent)
    assert page.url.endswith("#/learn")
    assert "Both players" not in page.text_content("#announcer")
    page.goto(f"{server.address}/#/analyse")
    page.click(".kept a >> nth=0")
    page.wait_for_selector("#players")


def test_a_game_that_arrives_late_is_not_shown(page, server, later):
    begin(page, server, opponent="pubeval", seed=4)
    name = game_of(page)
    page.goto(f"{server.address}/#/history")
    page.wait_for_selector("#export")
    sent = later(f"**/api/v1/games/{name}")
    page.evaluate("location.hash = '#/play'")
    page.wait_for_selector(".working")
    page.evaluate("location.hash = '#/learn'")
    page.wait_for_selector("#learn-opening")
    wait_for(page, sent)
    assert page.url.endswith("#/learn")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    assert page.locator("dialog, .table").count() == 0


def test_a_position_that_was_left_does_not_change_the_address(page, server, later):
    page.goto(f"{server.address}/#/position/{XGID}")
    page.wait_for_selector("#save-svg")
    sent = later("**/api/v1/position")
    page.click("button:has-text('Starting position')")
    page.evaluate("location.hash = '#/learn'")
    page.wait_for_selector("#learn-opening")
    wait_for(page, sent)
    assert page.url.endswith("#/learn")


def test_the_focus_goes_to_the_view_that_is_shown(page, server):
    page.goto(f"{server.address}/#/learn")
    page.wait_for_selector("#learn-opening")
    for address in ("position", f"from/{XGID}", "history"):
        page.evaluate("document.activeElement.blur()")
        page.evaluate("address => { location.hash = `#/${address}`; }", address)
        page.wait_for_function("() => document.activeElement?.closest('main')")


def test_what_is_not_found_is_said_in_german_with_a_way_on(new_page, server):
    page = new_page(language="de-DE")
    page.goto(f"{server.address}/#/analyse/BBBBBBBBBBBB")
    page.wait_for_selector(".fault:has-text('Nicht gefunden')")
    page.click("main a[href='#/analyse']")
    page.wait_for_selector("#match-file")
    page.goto(f"{server.address}/#/play/BBBBBBBBBBBB")
    page.wait_for_selector(".fault:has-text('Nicht gefunden')")
    assert page.is_visible("#start")


def test_a_position_started_again_goes_on_alone(new_page, server):
    page = new_page(speed="normal")
    page.goto(f"{server.address}/#/from/{XGID}")
    page.wait_for_selector(".practice #ok")
    move(page)
    page.click("#ok")
    page.wait_for_selector(".banner, .log .opponent, .die.theirs")
    page.click("#restart")
    page.wait_for_selector("#ok")
    page.wait_for_timeout(4000)
    assert page.locator(".log li").count() == 0
    assert page.locator("#ok").count() == 1
