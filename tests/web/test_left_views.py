"""What arrives late, or fails on the way: answers for positions and views that have been left."""

import json
import time

import pytest

from tests.board.test_mat_file import BY_GNUBG
from tests.web.test_other_views import XGID
from tests.web.visits import asked, begin, board, decide, game_of, move, play_on, press

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
    end = time.monotonic() + 120
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


def analyse(page, server, folder):
    """Analyse a match file, fast, and wait for the end."""
    path = folder / "gnubg.mat"
    path.write_text(BY_GNUBG)
    page.goto(f"{server.address}/#/analyse")
    page.check("#fast")
    page.set_input_files("#match-file", path)
    page.wait_for_selector("#players")


def test_late_reasons_are_dropped_at_the_next_decision(page, server, later, tmp_path):
    analyse(page, server, tmp_path)
    sent = later("**/api/v1/{explain,hint,cube}")
    page.click("#explain")
    page.click("#next")
    wait_for(page, sent)
    assert page.text_content(".advice") == ""


@pytest.mark.parametrize(("button", "route"), [("#setup-hint", "hint"), ("#setup-cube", "cube")])
def test_two_presses_ask_one_question(page, server, later, button, route):
    asked = []
    page.on("request", lambda request: asked.append(request.url.endswith(route)))
    page.goto(f"{server.address}/#/position/{XGID}")
    sent = later(f"**/api/v1/{route}")
    page.dblclick(f"{button}:enabled")
    wait_for(page, sent)
    page.wait_for_selector(".hint, .cube-panel")
    assert sum(asked) == 1


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


def away(page, path):
    """Let the page's next request of a path fail, as if the server were away."""
    page.route(f"**/api/v1/{path}", lambda route: route.abort(), times=1)


def test_a_request_that_is_not_repeated_says_so(page, server):
    page.goto(f"{server.address}/#/start")
    page.wait_for_selector("#start")
    away(page, "games")
    page.click("#start")
    page.wait_for_selector(".fault:has-text('then try again')")
    page.click("#new-game")
    page.wait_for_selector(".levels input")
    away(page, "games")
    page.click("#begin")
    page.wait_for_selector("dialog .fault:has-text('then try again')")
    page.click("#begin")
    page.wait_for_selector(".table[data-asks]")
    away(page, "games/*/mat")
    page.click("#save")
    page.wait_for_selector(".toast:has-text('then try again')")
    page.goto(f"{server.address}/#/position/{XGID}")
    page.wait_for_selector("#save-svg")
    away(page, "rollout")
    page.click(".roll-out")
    page.wait_for_selector(".rolled .fault:has-text('then try again')")
    page.click(".roll-out")
    page.wait_for_selector(".rolled .rollout")


def test_the_buttons_can_be_reached_below_a_notice(new_page, server):
    page = new_page(size=(1366, 768), language="de-DE")
    begin(page, server, opponent="pubeval", seed=4)
    move(page)
    busy = {"status": 503, "json": {"message": "too many questions"}}
    page.route("**/api/v1/games/*", lambda route: route.fulfill(**busy), times=1)
    page.click("#ok")
    page.wait_for_selector(".notice:has-text('ausgelastet')")
    decide(page, "#ok")
    page.wait_for_selector(".notice:has-text('ausgelastet')", state="detached")


def test_two_presses_start_one_game(page, server):
    page.goto(f"{server.address}/#/start")
    page.wait_for_selector("#start")
    # The server lists only the newest games.
    before = {one["game"] for one in asked(server, "/api/v1/games")["games"]}
    page.dblclick("#start")
    page.wait_for_selector(".table[data-asks]")
    page.wait_for_timeout(500)
    after = {one["game"] for one in asked(server, "/api/v1/games")["games"]}
    assert len(after - before) == 1


def test_the_start_page_takes_back_that_the_server_is_away(page, server):
    page.goto(f"{server.address}/#/start")
    page.wait_for_selector("#start")
    page.wait_for_load_state("networkidle")
    page.route("**/api/v1/games", lambda route: route.abort(), times=2)
    page.reload()
    page.wait_for_selector(".fault:has-text('Retrying')")
    page.click("#start")
    page.wait_for_selector(".fault:has-text('then try again')")
    page.wait_for_function("() => !document.querySelector('main').textContent.includes('reach motif')")


def test_back_from_a_new_game_leads_to_the_start_page(page, server):
    page.goto(server.address)
    page.click("#start")
    page.wait_for_selector(".table[data-asks]")
    page.go_back()
    page.wait_for_selector("#start")
    page.go_forward()
    page.wait_for_selector(".table[data-asks]")


def test_an_analysis_that_could_not_begin_can_be_tried_again(page, server, tmp_path):
    path = tmp_path / "gnubg.mat"
    path.write_text(BY_GNUBG)
    page.goto(f"{server.address}/#/analyse")
    page.check("#fast")
    away(page, "review")
    page.set_input_files("#match-file", path)
    page.click(".fault button")
    page.wait_for_selector("#players")


def test_two_presses_start_one_analysis(page, server):
    page.goto(f"{server.address}/#/analyse")
    page.check("#fast")
    page.fill("#match-text", BY_GNUBG)
    started = []
    page.on("request", lambda request: started.append(request) if request.url.endswith("/review") else None)
    page.focus("#analyse-text")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_selector("#players")
    page.wait_for_timeout(1000)
    assert len(started) == 1


def test_a_file_that_cannot_be_read_is_reported(page, server):
    page.goto(f"{server.address}/#/analyse")
    page.wait_for_selector("#match-file")
    page.evaluate("() => { File.prototype.arrayBuffer = () => Promise.reject(new Error('no file')); }")
    page.set_input_files("#match-file", {"name": "games", "mimeType": "", "buffer": b""})
    page.wait_for_selector(".fault:has-text('no file')")


def test_a_game_that_could_not_be_deleted_is_shown_again(page, server):
    page.clock.install()
    begin(page, server, opponent="pubeval", seed=4)
    link = f"a[href$='{game_of(page)}']"
    page.goto(f"{server.address}/#/history")
    page.click(f"li:has({link}) button")
    page.wait_for_selector(link, state="hidden")
    away(page, "games/*")
    page.clock.fast_forward(8000)
    page.wait_for_selector(link)


def test_a_game_deleted_elsewhere_stays_deleted(page, server):
    page.clock.install()
    begin(page, server, opponent="pubeval", seed=4)
    game = game_of(page)
    page.goto(f"{server.address}/#/history")
    page.click(f"li:has(a[href$='{game}']) button")
    page.request.delete(f"{server.address}/api/v1/games/{game}")
    with page.expect_response(f"**/games/{game}"):
        page.clock.fast_forward(8000)
    page.wait_for_function("() => !document.querySelector('.toast')")
    assert not page.is_visible(f"a[href$='{game}']")


@pytest.mark.parametrize("view", ["start", "history"])
def test_a_deleted_game_does_not_come_back_in_another_list(page, server, view):
    begin(page, server, opponent="pubeval", seed=4)
    game = game_of(page)
    page.goto(f"{server.address}/#/history")
    page.click(f"li:has(a[href$='{game}']) button")
    page.evaluate("location.hash = '#/learn'")
    page.wait_for_selector("#learn-opening")
    with page.expect_response("**/api/v1/games"):
        page.evaluate(f"location.hash = '#/{view}'")
    page.wait_for_timeout(500)
    assert not page.query_selector(f"a[href$='{game}']")
    page.click("#undo-delete")
    page.evaluate("location.hash = '#/learn'")
    page.wait_for_selector("#learn-opening")
    page.evaluate("location.hash = '#/history'")
    page.wait_for_selector(f"a[href$='{game}']")


@pytest.mark.parametrize("leaves", ["view", "position"])
def test_a_rollout_that_was_left_is_stopped(page, server, leaves):
    page.goto(f"{server.address}/#/position/{XGID}")
    page.wait_for_selector("#save-svg")
    stopped = []
    page.on("requestfailed", lambda request: stopped.append(request.url.rpartition("/")[2]))
    page.click(".roll-out")
    page.wait_for_selector(".rolled progress")
    if leaves == "view":
        page.evaluate("location.hash = '#/learn'")
    else:
        page.fill("#id", "no ID")
        page.click("#show-id")
        page.wait_for_selector("#id-fault:not(:empty)")
        assert not page.text_content(".rolled")
    page.wait_for_timeout(1500)
    assert stopped == ["rollout"]


def test_a_hint_is_dropped_when_an_id_is_none(page, server):
    page.goto(f"{server.address}/#/position/{XGID}")
    page.wait_for_selector("#save-svg")
    page.click("#setup-hint")
    page.wait_for_selector(".advice .working")
    page.fill("#id", "no ID")
    page.click("#show-id")
    page.wait_for_selector("#id-fault:not(:empty)")
    assert not page.text_content(".advice")
    page.click("#setup-hint")
    page.wait_for_selector(".hint .equity")


def test_keys_wait_for_the_first_decisions(page, server):
    faults = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    heading = {"names": ["Ann", "Bob"], "length": 3, "player": "motif", "rolls": 9, "analysis": None}
    page.route("**/api/v1/review", lambda route: route.fulfill(body=json.dumps({"match": heading}) + "\n"))
    page.goto(f"{server.address}/#/analyse")
    page.fill("#match-text", BY_GNUBG)
    page.click("#analyse-text")
    page.wait_for_selector("#decisions", state="attached")
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "Enter", "h"):
        page.keyboard.press(key)
    assert faults == []


def test_a_match_that_takes_too_long_can_be_analysed_fast(new_page, server):
    page = new_page(language="de-DE")
    words = "a request may take 1 s of computing time"
    refusal = {"status": 400, "json": {"message": words, "fields": ["fast"]}}
    page.route("**/api/v1/review", lambda route: route.fulfill(**refusal), times=1)
    page.goto(f"{server.address}/#/analyse")
    page.fill("#match-text", BY_GNUBG)
    page.click("#analyse-text")
    page.wait_for_selector(".fault:has-text('Zu lang für eine Analyse mit Vorausschau.')")
    with page.expect_request("**/api/v1/review") as begun:
        page.click(".fault button:has-text('Schnell')")
    assert begun.value.post_data_json["fast"] is True
    page.wait_for_selector("#players")


def test_a_position_is_set_up_once_the_server_is_back(page, server):
    page.goto(f"{server.address}/#/position")
    page.wait_for_selector("#save-svg")
    away(page, "position")
    page.select_option("#set-dice", "61")
    page.wait_for_selector(".fault:has-text('Retrying')")
    assert page.is_disabled("#setup-cube")
    page.wait_for_function("() => location.hash.includes('61')")
    assert page.is_enabled("#setup-cube")
    assert page.locator(".fault:has-text('motif')").count() == 0


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


def test_an_analysis_that_was_left_goes_on(page, server, tmp_path):
    reviews = []
    page.on("request", lambda request: reviews.append(request.url.endswith("review")))
    path = tmp_path / "gnubg.mat"
    path.write_text(BY_GNUBG)
    page.goto(f"{server.address}/#/analyse")
    page.set_input_files("#match-file", path)
    page.wait_for_selector(".analysing")
    speak(page, "de")
    page.click("nav a[href='#/learn']")
    page.wait_for_selector(".trainers .card")
    page.go_back()
    page.wait_for_selector("#players")
    assert sum(reviews) == 1


def test_the_end_of_an_analysis_keeps_the_decision_that_is_read(page, server, tmp_path):
    analyse(page, server, tmp_path)
    ended = """async (name) => {
        const { Analysis } = await import("/analysis.js");
        const { match, decisions, players } = await (await fetch(`/api/v1/analyses/${name}`)).json();
        return [0, 3].map((chosen) => {
            const one = new Analysis(document.getElementById("view"));
            one.open(match);
            one.add(decisions);
            one.select(chosen);
            one.finish(players);
            return one.at === one.numbers()[0] ? "worst" : one.at;
        });
    }"""
    assert page.evaluate(ended, page.url.split("/")[-2]) == ["worst", 3]


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


def speak(page, language):
    """Change the language of the page."""
    head = page.query_selector("nav a")
    page.click("#settings")
    page.select_option("#languages", language)
    page.wait_for_function("one => !one.isConnected", arg=head)
    page.keyboard.press("Escape")


def test_another_language_keeps_a_half_made_play(page, server):
    begin(page, server, opponent="pubeval", seed=4)  # 4-3
    press(page, 24)
    speak(page, "de")
    page.wait_for_selector("#ok:has-text('Bestätigen')")
    assert "1 auf 24, 1 auf 20" in board(page)
    page.click("#undo")
    press(page, 13)
    press(page, 24)
    speak(page, "en")
    page.wait_for_selector("#ok:has-text('Confirm')")
    decide(page, "#ok")
    assert "13/9 24/21" in page.text_content(".log").replace("24/21 13/9", "13/9 24/21")
    decide(page, "#take-back")
    assert page.is_disabled("#undo")


def test_a_reload_keeps_a_half_made_play(page, server):
    begin(page, server, opponent="pubeval", seed=4)  # 4-3
    press(page, 24)
    shown = board(page)
    page.reload()
    page.wait_for_selector("#undo:enabled")
    assert board(page) == shown
    page.click("#undo-all")
    page.reload()
    page.wait_for_selector("#ok")
    assert page.is_disabled("#undo")


def test_a_half_made_play_stays_in_its_view(page, server):
    begin(page, server, opponent="pubeval", seed=4)  # 4-3
    press(page, 24)
    page.evaluate("() => { location.hash = '#/from/4HPwATDgc/ABMA:cAkOAAAAAAAE'; }")  # the same roll
    page.wait_for_selector(".practice #ok")
    assert pips(page) == [167, 167]


def test_another_language_keeps_a_practice_game(page, server):
    page.goto(f"{server.address}/#/from/{XGID}")  # 3-1
    page.wait_for_selector(".practice #ok")
    move(page)
    page.click("#ok")
    page.wait_for_selector("#ok:disabled, #roll, #take")
    while not page.query_selector("#ok"):
        page.click("#roll, #take")
        page.wait_for_timeout(200)
    page.click(".target.movable >> nth=0")
    before = page.locator(".log li").count(), page.locator(".board .checker, .board circle").count()
    moved = pips(page)
    speak(page, "de")
    page.wait_for_selector("#ok:has-text('Bestätigen')")
    assert page.locator(".log li").count() == before[0]
    assert pips(page) == moved
    page.click("#restart")
    page.wait_for_selector(".log li", state="detached")
    page.wait_for_selector("#ok:disabled")


def pips(page):
    return [
        int(words.split()[0]) for words in page.locator(".side-bar span:has-text('ip')").all_text_contents()
    ]


def test_another_language_keeps_a_question(page, server):
    page.goto(f"{server.address}/#/learn/opening")
    page.wait_for_selector("#ok")
    move(page)
    page.click("#ok")
    page.click("#next-question")
    page.wait_for_selector("#ok")
    move(page)
    roll, shown = page.text_content("#message"), pips(page)
    speak(page, "de")
    page.wait_for_selector("#ok:has-text('Bestätigen')")
    assert page.text_content("#message").split(".")[0].split()[-1] in roll
    assert pips(page) == shown
    assert "von 1 richtig" in page.text_content(".panel")
    assert page.is_enabled("#ok")


def test_another_language_keeps_the_focus(page, server):
    page.goto(f"{server.address}/#/learn/opening")
    page.wait_for_selector("#ok")
    page.click("#settings")
    page.focus("#languages")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("dialog[aria-label='Einstellungen']")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert page.evaluate("document.activeElement.id") == "settings"


def test_another_language_keeps_what_was_typed(page, server):
    page.goto(f"{server.address}/#/position/{XGID}")
    page.wait_for_selector("#save-svg")
    page.fill("#set-own", "9")
    page.fill("#id", "half an ID")
    speak(page, "de")
    page.wait_for_selector(".fault:has-text('Spielstand')")
    assert (page.input_value("#set-own"), page.input_value("#id")) == ("9", "half an ID")
    page.click("button:has-text('Leeren')")
    press(page, 6)
    speak(page, "en")
    page.wait_for_function("() => document.querySelector('.board-place p')?.textContent.includes('1 on 6')")
    page.goto(f"{server.address}/#/analyse")
    page.fill("#match-text", "3 point match")
    page.check("#fast")
    speak(page, "de")
    page.wait_for_selector("h1:has-text('Match analysieren')")
    assert (page.input_value("#match-text"), page.is_checked("#fast")) == ("3 point match", True)
