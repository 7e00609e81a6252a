"""Stored and reopened analyses, questions, history; and views without their server."""

import re

import pytest

from tests.board.test_mat_file import BY_GNUBG
from tests.web.conftest import MIDDLE, NARROW, WIDE
from tests.web.test_other_views import XGID
from tests.web.visits import asked, begin, board, move, play_on

BEAVERED = "XGID=---BbBD-C----B---cbdbb--B-:0:0:1:00:0:0:2:0:10"
"""A wrong double, which the opponent should beaver."""
DOUBLED = "XGID=-a-B--E-B-a-dDB--b-bcb----:1:1:1:D:0:0:0:0:10"
"""Light has doubled, and dark should take."""
CRAWFORD = "XGID=-A----------------------a-:0:0:1:00:4:3:1:5:10"
"""Any roll wins a single game."""
SIZES = [NARROW, (640, 450), (720, 450), (844, 390), MIDDLE, (1366, 657), WIDE, (1920, 1080)]
SMALL = """() => [...document.querySelectorAll("button, a, select, input, summary, textarea")]
    .filter((one) => {
        const box = (one.closest("label") ?? one).getBoundingClientRect();
        return box.width && !one.closest(".unseen") && (box.width < 43.5 || box.height < 43.5);
    }).map((one) => one.outerHTML.slice(0, 90))"""


@pytest.fixture(name="analysed")
def _analysed(page, server, tmp_path):
    path = tmp_path / "gnubg.mat"
    path.write_text(BY_GNUBG)
    page.goto(f"{server.address}/#/analyse")
    page.set_input_files("#match-file", path)
    page.wait_for_selector("#players")
    return page


def test_an_analysis_is_reopened_by_its_address_after_a_restart(analysed, server):
    page = analysed
    page.select_option("#which", "all")
    page.click("#next")
    shown = page.url, page.text_content(".decision-words"), page.text_content("#players")
    server.stop()
    server.start()
    page.goto("about:blank")
    page.goto(shown[0])
    page.wait_for_selector("#players")
    assert (page.url, page.text_content(".decision-words"), page.text_content("#players")) == shown
    page.goto(f"{server.address}/#/analyse")
    page.click(".kept a >> nth=0")
    page.wait_for_selector("#players")


def test_every_error_is_listed_and_they_sum_up_to_the_totals(analysed):
    page = analysed
    costs = [
        float(cell.split()[0].replace("\u2212", "-"))
        for cell in page.locator("#decisions tr[data-number] td:nth-child(3)").all_text_contents()
    ]
    assert costs == sorted(costs)
    lost = [
        float(cell.split()[0])
        for row in (5, 6)
        for cell in page.locator(f"#players tbody tr:nth-child({row}) td").all_text_contents()
    ]
    assert sum(lost) == pytest.approx(-sum(costs), abs=0.004)


def test_two_presses_ask_for_one_question(page, server):
    page.goto(f"{server.address}/#/learn/opening")
    page.wait_for_selector("#ok")
    move(page)
    page.click("#ok")
    page.wait_for_selector("#next-question")
    asked_for = []
    page.on("request", lambda one: asked_for.append(one) if one.url.endswith("/learn/next") else None)
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.wait_for_selector("#ok")
    page.wait_for_timeout(1000)
    assert len(asked_for) == 1


def test_sides_stay_where_they_are(analysed):
    page = analysed
    page.select_option("#which", "all")
    names = set()
    for _ in range(page.locator("#decisions tr[data-number]").count()):
        names.add((page.text_content(".side-bar.opponent strong"), page.text_content(".side-bar.own strong")))
        page.keyboard.press("ArrowRight")
    assert names == {("bob", "Ann Lee")}


def test_the_played_and_the_better_play_are_drawn_in_two_colours(page, server):
    begin(page, server, opponent="pubeval", length=1, seed=4)
    play_on(page)
    page.click("#analyse")
    page.wait_for_selector("#players")
    page.select_option("#whom", "0")
    for number in page.eval_on_selector_all(
        "#decisions tr[data-number]", "rows => rows.map(row => row.dataset.number)"
    ):
        page.click(f'#decisions tr[data-number="{number}"] button')
        if page.query_selector("#better"):
            break
    assert page.locator(".board .arrow.played").count() > 0
    assert page.locator(".board .arrow.better").count() > 0
    colours = page.eval_on_selector_all(
        ".board .arrow .line", "lines => [...new Set(lines.map(line => getComputedStyle(line).stroke))]"
    )
    assert len(colours) == 2
    error = re.search(r"by (\d\.\d{3})", page.text_content(".decision-words"))[1]
    row = page.text_content(".candidates tr.made td:nth-child(3)")
    assert row.strip("\u2212") == error
    page.click("#explain")
    page.wait_for_selector(".why-panel")
    assert f"by {error} points" in page.text_content(".why-panel")
    assert page.text_content(".why-panel .total").startswith(f"In all: +{error} (")


def test_errors_of_a_game_are_tried_again(page, server):
    begin(page, server, opponent="random", length=1, seed=4)
    play_on(page)
    page.click("#try-again")
    page.wait_for_selector(".quiz #ok, .quiz #answer-double, .quiz #answer-take")
    while not page.query_selector(".quiz #ok"):
        page.click(".quiz .actions button >> nth=0")
        page.click("#next-question")
        page.wait_for_selector(".quiz #ok, .quiz #answer-double, .quiz #answer-take, #quiz-done")
    move(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("#next-question")
    assert page.locator("h2.right, h2.wrong").count() == 1
    progress = asked(server, "/api/v1/learn")["progress"]["error"]
    assert progress["asked"] > 0
    assert progress["cards"] >= progress["asked"]
    page.goto(f"{server.address}/#/history")
    page.wait_for_selector("#themes li")
    assert re.search(r"PR \d+\.\d \([a-z ]+ on XG's scale\)", page.text_content("main"))
    dot = page.locator(".curve .dot").first.bounding_box()
    reach = page.locator(".curve a").first.bounding_box()
    assert dot["width"] < 12 < 24 <= min(reach["width"], reach["height"])
    page.mouse.click(dot["x"] + dot["width"] / 2 + 11, dot["y"] + dot["height"] / 2)
    page.wait_for_selector("#players")


@pytest.mark.parametrize("kind", ["opening", "reply", "bearoff"])
def test_a_trainer_of_plays(page, server, kind):
    page.goto(f"{server.address}/#/learn")
    page.click(f"#learn-{kind}")
    page.wait_for_selector("#ok")
    move(page)
    page.click("#ok")
    page.wait_for_selector("#next-question")
    page.keyboard.press("w")
    page.wait_for_selector(".why-panel")
    if cost := re.search(r"gives up (?:only )?(\d\.\d{3})", page.text_content("#message")):
        assert page.text_content(".why-panel .total").startswith(f"In all: +{cost[1]} (")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ok")


def test_a_trainer_of_doubles(page, server):
    page.goto(f"{server.address}/#/learn/cube")
    page.click("#answer-double-take")
    page.wait_for_selector("#next-question")
    assert page.locator("h2.right, h2.wrong").count() == 1


def test_a_question_shows_both_pip_counts(page, server):
    page.goto(f"{server.address}/#/learn/opening")
    page.wait_for_selector("#ok")
    assert page.locator(".side-bar:has-text('167 pips')").count() == 2
    move(page)
    assert page.locator(".side-bar.own:has-text('167 pips')").count() == 0


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
@pytest.mark.parametrize("size", [NARROW, (1280, 900)], ids=lambda size: str(size[0]))
def test_wide_tables_fit(new_page, server, tmp_path, size, language):
    """Neither all decisions of a match nor the plays of a rollout are cut, on a phone or beside the board."""
    page = new_page(size=size, language=language)
    path = tmp_path / "gnubg.mat"
    path.write_text(BY_GNUBG)
    page.goto(f"{server.address}/#/analyse")
    page.set_input_files("#match-file", path)
    page.wait_for_selector("#players")
    page.select_option("#which", "all")
    cut = """() => [...document.querySelectorAll(".wide")]
        .filter((one) => one.scrollWidth > one.clientWidth + 1).length"""
    assert page.evaluate(cut) == 0
    page.goto(f"{server.address}/#/position/{XGID}")
    page.wait_for_selector("#save-svg")
    page.click(".roll-out")
    page.wait_for_selector(".rolled table")
    page.click(".rolled .small")
    assert page.evaluate(cut) == 0


def test_a_position_is_found_in_what_xg_copies(page, server):
    page.goto(f"{server.address}/#/position")
    page.wait_for_selector("#save-svg")
    page.fill("#id", f"{XGID}\nX:Ann   O:Bob\nScore is X:2 O:1 5 pt.(s) match.\n +13-14-15--+")
    page.click("#show-id")
    page.wait_for_function("() => location.hash.includes('31')")
    page.fill("#set-own", "7")
    page.keyboard.press("Tab")
    page.wait_for_selector("#match-fault:has-text('The score must be below the match length, 5, not 7.')")
    page.fill("#set-length", "-3")
    page.keyboard.press("Tab")
    page.wait_for_selector("#match-fault:has-text('length: must be greater than or equal to 0, not -3')")


def test_a_position_is_rolled_out_and_played_from(page, server):
    page.goto(f"{server.address}/#/position/{XGID}")
    page.wait_for_selector("#save-svg")
    page.click(".roll-out")
    page.wait_for_selector(".rolled table")
    assert "\u00b1" in page.text_content(".rolled table")
    page.click(".rolled button:has-text('Stop')")
    page.wait_for_selector(".rolled progress", state="detached")
    page.click("#play-here")
    page.wait_for_selector(".practice #ok")
    before = board(page)
    move(page)
    page.click("#ok")
    page.wait_for_selector("#roll, #take")
    assert board(page) != before


def test_a_pending_double_is_said_and_answered(page, server):
    page.goto(f"{server.address}/#/position/{DOUBLED}")
    page.wait_for_selector("#save-svg")
    assert "Light has doubled; dark has to answer." in page.text_content("#message")
    assert board(page).endswith("Cube offered at 4.")
    page.click("#play-here")
    page.wait_for_selector("#ok, .practice .log li:nth-child(3)")
    assert page.locator(".log li").all_text_contents()[:2] == ["You: doubles", "motif: takes"]


def test_motif_beavers_in_a_game_from_a_position(page, server):
    page.goto(f"{server.address}/#/from/{BEAVERED}")
    page.wait_for_selector("#double")
    assert "Money game, beavers." in page.text_content(".panel")
    page.click("#double")
    page.wait_for_selector(".log li:has-text('motif: beavers')")
    page.wait_for_selector("#ok, .log li:has-text('You')")
    assert page.text_content(".cube text") == "4"


def test_the_record_of_a_game_from_a_position_has_the_readers_answer(page, server):
    dance = "XGID=-BBBB--------------bbbbbbA:0:0:1:66:0:0:0:0:10"
    page.goto(f"{server.address}/#/from/{dance}")
    page.click("#drop")
    page.wait_for_selector("#again")
    assert page.locator(".log li").all_text_contents() == [
        "You 6-6: no move",
        "motif: doubles",
        "You: passes",
    ]


def test_a_game_from_a_position_keeps_the_rules_and_says_how_it_ended(page, server):
    page.goto(f"{server.address}/#/from/{CRAWFORD}")
    page.wait_for_selector("#roll")
    assert page.locator(".side-bar.opponent .tag").text_content() == "Crawford game"
    assert page.query_selector("#double") is None
    page.click("#roll")
    while not page.query_selector("#again"):
        page.wait_for_selector("#again, #roll, #ok")
        if page.query_selector("#roll"):
            page.click("#roll")
        elif page.query_selector("#ok"):
            move(page)
            page.click("#ok")
    assert "You win 1 point (a single game). You win the match, 5 to 3." in page.text_content("#message")
    scores = page.locator(".side-bar .score").all_text_contents()
    assert scores == ["3 points", "5 points"]
    assert page.locator(".side-bar .tag").count() == 0


def test_all_is_deleted_only_when_that_is_sure(page, server):
    begin(page, server, opponent="random", seed=4)
    page.goto(f"{server.address}/#/history")
    page.click("#delete-all")
    page.keyboard.press("Escape")
    assert asked(server, "/api/v1/games")["games"]
    with page.expect_download() as download:
        page.click("#export")
    assert '"games"' in download.value.path().read_text()
    page.click("#delete-all")
    page.click("#yes")
    page.wait_for_function("() => !document.querySelector('.kept')")
    assert not asked(server, "/api/v1/games")["games"]


@pytest.mark.parametrize(
    "address", ["play", "start", "position", "analyse", "learn", "learn/opening", "history"]
)
def test_a_view_without_its_server_says_so_and_recovers(page, server, address):
    begin(page, server, opponent="random", seed=4)
    page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
    page.reload()
    page.goto("about:blank")
    server.kill()
    page.goto(f"{server.address}/#/{address}")
    try:
        if address == "start":
            page.wait_for_selector("#start")
            page.click("#start")
        page.wait_for_selector("main:has-text('reach motif')")
    finally:
        server.start()
    if address == "start":
        page.click("#start")
    wanted = (
        ".table[data-asks], .kept, .trainers h2, #ok, #save-svg, #export, main p:has-text('analysed yet')"
    )
    page.wait_for_selector(wanted)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_what_is_to_be_pressed_is_large_and_in_the_window(new_page, server, size):
    page = new_page(size=size)
    begin(page, server, opponent="pubeval", seed=4)
    for selector in (".board", "#ok", "#undo", "#swap", "#hint-button"):
        box = page.locator(selector).bounding_box()
        assert box["y"] >= 0, selector
        assert box["y"] + box["height"] <= size[1] + 1, selector
        assert box["x"] + box["width"] <= size[0] + 1, selector
    panel = page.locator(".panel").bounding_box()
    assert (panel["width"] >= 280, panel["height"] >= 140) == (True, True)
    page.click("#hint-button")
    page.wait_for_selector(".hint .chances")
    assert not page.evaluate(SMALL)
    assert page.evaluate("document.documentElement.scrollHeight") <= size[1]
    for address in ("position", "analyse", "learn", "history", "start"):
        page.goto(f"{server.address}/#/{address}")
        page.wait_for_selector("#save-svg, #match-file, .trainers h2, #export, #start")
        assert not page.evaluate(SMALL), address


@pytest.mark.parametrize(
    "size", [(375, 548), (320, 568), (360, 640), (390, 664)], ids=lambda size: str(size[1])
)
def test_on_a_short_screen_the_page_scrolls_to_a_usable_panel(new_page, server, size):
    page = new_page(size=size)
    begin(page, server, opponent="pubeval", seed=4)
    for address, last in (("", "#forget"), ("position", "#save-png"), ("learn/opening", "#ok")):
        if address:
            page.goto(f"{server.address}/#/{address}")
        page.wait_for_selector(last)
        assert page.locator(".panel").bounding_box()["height"] >= 200, address
        page.evaluate("scrollTo(0, 10_000)")
        end = page.locator(".panel").bounding_box()
        assert end["y"] + end["height"] < size[1] + 1, address
        page.locator(last).scroll_into_view_if_needed()
        box = page.locator(last).bounding_box()
        assert 0 <= box["y"] <= size[1] - box["height"], address
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_with_large_text_the_page_scrolls_and_buttons_wrap(new_page, server):
    page = new_page(size=NARROW)
    begin(page, server, opponent="pubeval", seed=4)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.locator(".panel").bounding_box()["height"] >= 400
    for selector in ("#ok", "#undo", "#swap"):
        box = page.locator(selector).bounding_box()
        assert (box["x"] >= 0, box["x"] + box["width"] <= NARROW[0]) == (True, True), selector
    page.evaluate("location.hash = '#/learn'")
    page.wait_for_selector("#learn-opening")
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW[0]
    for opener, last in (("#settings", "#languages"), ("#new-game", ".levels label >> nth=-1")):
        if opener == "#new-game":
            page.keyboard.press("Escape")
            page.evaluate("location.hash = '#/start'")
        page.click(opener)
        box, dialog = page.locator(last).bounding_box(), page.locator("dialog").bounding_box()
        assert box["x"] + box["width"] < dialog["x"] + dialog["width"], opener


@pytest.mark.parametrize("size", [(360, 640), (1280, 800)], ids=lambda size: str(size[0]))
def test_long_names_fit(new_page, server, tmp_path, size):
    page = new_page(size=size)
    path = tmp_path / "long.mat"
    long = {"Ann Lee": "Bartholomaeus_Wolfeschlegelsteinhausenbergerdorff", "bob": "B" * 50}
    path.write_text(BY_GNUBG.replace("Ann Lee", long["Ann Lee"]).replace("bob", long["bob"]))
    page.goto(f"{server.address}/#/analyse")
    page.check("#fast")
    page.set_input_files("#match-file", path)
    page.wait_for_selector("#players")
    page.select_option("#which", "all")
    wide = """() => [...document.querySelectorAll("html, .panel, .wide, .side-bar, h2, .kept")]
        .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 90))"""
    assert page.evaluate(wide) == []
    broken = """() => [...document.querySelectorAll("#decisions tbody tr > :first-child")].filter((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        return range.getClientRects().length > 1;
    }).map((one) => one.textContent)"""
    assert page.evaluate(broken) == []
    page.click("#decisions tr:has-text('doubles') .play")
    page.click("#explain")
    page.wait_for_selector(".cube-panel")
    assert page.evaluate(wide) == []
    page.goto(f"{server.address}/#/history")
    page.wait_for_selector(".kept a")
    assert page.evaluate(wide) == []


def test_a_name_from_right_to_left_turns_no_roll_around(page, server, tmp_path):
    path = tmp_path / "right_to_left.mat"
    path.write_text(BY_GNUBG.replace("Ann Lee", "محمد"), encoding="utf-8")
    page.goto(f"{server.address}/#/analyse")
    page.check("#fast")
    page.set_input_files("#match-file", path)
    page.wait_for_selector("#players")
    page.select_option("#which", "all")
    page.click("[data-number='0'] .play")
    lefts = """() => {
        const text = document.getElementById("last").firstChild, range = document.createRange();
        return ["3-1", "1 ·"].map((words) => {
            const from = text.data.indexOf(words);
            range.setStart(text, from);
            range.setEnd(text, from + 1);
            return range.getBoundingClientRect().left;
        });
    }"""
    high, low = page.evaluate(lefts)
    assert high < low
