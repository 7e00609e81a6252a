"""Set-up positions, analysed matches, and the appearance of all views."""

import os
import re
from pathlib import Path

import pytest

from tests.board.test_mat_file import BY_GNUBG
from tests.web.conftest import MIDDLE, NARROW, ROOT, WIDE
from tests.web.visits import begin, board, commanded, press, turn

AXE = Path(os.environ.get("AXE", ROOT / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"))
XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:1:0:5:10"
RACE = "dPexAAB07zMAAA"
BEAVERED = "XGID=--B--BC-Ca--bB--Abbbf-B---:1:1:1:00:0:0:3:0:10"


def shown_id(page):
    return page.input_value("#id")


def test_a_pasted_id_is_shown_judged_and_linked(page, server):
    page.goto(f"{server.address}/#/position")
    page.wait_for_selector("#save-svg")
    page.fill("#id", XGID)
    page.click("#show-id")
    page.wait_for_function("() => location.hash.includes('31')")
    assert (page.input_value("#set-length"), page.input_value("#set-own")) == ("5", "2")
    page.click("#setup-hint")
    page.wait_for_selector(".hint .equity")
    best = commanded("hint", XGID)["plays"][0]
    assert page.text_content(".hint .play") == best["notation"]
    cell = page.eval_on_selector(".hint .equity", "cell => cell.firstChild.textContent")
    shown = float(cell.replace("\u2212", "-"))
    assert shown == pytest.approx(best["equity"], abs=0.0005)
    link, before = page.url, board(page)
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("#save-svg")
    assert (board(page), shown_id(page)) == (before, XGID)


def test_a_race_has_its_cube(page, server):
    page.goto(f"{server.address}/#/position/{RACE}")
    page.wait_for_selector("#save-svg")
    page.click("#setup-cube")
    page.wait_for_selector(".cube-panel")
    assert page.text_content(".cube-panel h3") == "Double, take"


def test_beavers_are_shown_judged_and_linked(page, server):
    page.goto(f"{server.address}/#/position/{BEAVERED}")
    page.wait_for_selector("#save-svg")
    assert page.is_checked("#set-beavers")
    page.click("#setup-cube")
    page.wait_for_selector(".cube-panel")
    assert page.text_content(".cube-panel h3") == "No redouble, beaver"
    actions = page.locator(".cube-panel tbody").first.locator("th").all_text_contents()
    assert actions == ["No redouble", "Redouble, take", "Redouble, pass", "Redouble, beaver"]
    page.select_option("#set-dice", "31")
    page.wait_for_function("() => location.hash.includes('31')")
    assert shown_id(page) == BEAVERED.replace(":00:", ":31:")
    page.uncheck("#set-beavers")
    page.wait_for_function("() => location.hash.includes('1%3A0%3A10')")
    assert shown_id(page).endswith(":1:0:10")


def test_a_large_cube_can_be_set(page, server):
    page.goto(f"{server.address}/#/position/{XGID.replace(':0:0:1:31:2:1:0:5:', ':7:1:1:00:0:0:0:0:')}")
    page.wait_for_selector("#save-svg")
    assert page.input_value("#set-cube") == "128"
    page.select_option("#set-dice", "31")
    page.wait_for_function("() => location.hash.includes('31')")
    assert ":7:1:1:31:" in shown_id(page)


def test_checkers_are_placed_and_removed(page, server):
    page.goto(f"{server.address}/#/position")
    page.wait_for_selector("#save-svg")
    page.click("button:has-text('Clear')")
    page.wait_for_selector("#message:has-text('The board is empty')")
    assert page.is_disabled("#setup-cube")
    for place in (6, 6, 5, 25):
        press(page, place)
    page.check("[value=theirs]")
    for place in (20, 20, -1):
        press(page, place)
    page.wait_for_selector("#save-svg")
    assert re.search(r"1 on the bar, 2 on 6, 1 on 5; 11 off", board(page))
    assert "1 on the bar, 2 on 5; 12 off" in board(page)
    page.click('[data-place="6"]', button="right")
    page.wait_for_function("() => document.querySelector('.board-place p').textContent.includes('1 on 6')")
    page.select_option("#set-dice", "61")
    page.wait_for_function("() => location.hash.includes('61')")
    page.click("#setup-hint")
    page.wait_for_selector(".hint")
    with page.expect_download() as svg:
        page.click("#save-svg")
    assert svg.value.path().read_text().startswith("<svg")
    with page.expect_download() as png:
        page.click("#save-png")
    assert png.value.path().read_bytes().startswith(b"\x89PNG")


def test_an_id_that_is_none_says_why(page, server):
    page.goto(f"{server.address}/#/position")
    page.wait_for_selector("#save-svg")
    before = board(page)
    page.fill("#id", "4HPwATDgc/ABM")
    page.click("#show-id")
    page.wait_for_selector(".fault:has-text('it has 13 characters')")
    assert board(page) == before


@pytest.fixture(name="analysed")
def _analysed(page, server, tmp_path):
    path = tmp_path / "gnubg.mat"
    path.write_text(BY_GNUBG)
    page.goto(f"{server.address}/#/analyse")
    page.set_input_files("#match-file", path)
    page.wait_for_selector("#players")
    return page, path


def test_a_match_of_gnubg_is_analysed(analysed):
    page, path = analysed
    report = commanded("analyse", str(path))
    rates = page.locator("#players tbody tr:nth-child(2) td").all_text_contents()
    assert rates == [f"{one['error_rate']:.1f}" for one in report["players"]]
    page.select_option("#which", "marked")
    marked = sum(sum(one["marks"].values()) for one in report["players"])
    assert page.locator("#decisions tr[data-number]").count() == marked
    page.select_option("#which", "all")
    page.click("#decisions tr:has-text('Ann Lee: doubles') .play")
    actions = page.locator(".candidates tbody th").all_text_contents()
    assert actions == ["No redouble", "Redouble, take", "Redouble, pass"]
    first = page.text_content(".decision-words")
    page.click("#next")
    assert page.text_content(".decision-words") != first
    page.click("#explain")
    page.wait_for_selector(".why-panel, .hint, .cube-panel")
    assert page.get_attribute(".curve", "aria-label").startswith("Match-winning chances: Ann Lee. From ")
    page.locator(".curve").click(position={"x": 400, "y": 60})
    assert page.locator("#decisions tr[aria-current]").count() == 1


@pytest.mark.parametrize("size", [(794, 1123), (1123, 794)], ids=["portrait", "landscape"])
def test_printing_shows_the_whole_panel(analysed, size):
    page, _ = analysed
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(media="print")
    cut = "parts => parts.filter(part => part.scrollHeight > part.clientHeight + 1).map(part => part.id)"
    assert page.eval_on_selector_all(".panel, .decisions", cut) == []
    bottom = page.eval_on_selector(".panel", "panel => panel.getBoundingClientRect().bottom")
    assert bottom <= page.evaluate("() => document.documentElement.scrollHeight")


def test_a_dark_page_is_printed_in_dark_ink(page, server):
    page.add_init_script("localStorage.setItem('motif-preferences', JSON.stringify({ theme: 'dark' }))")
    page.goto(f"{server.address}/#/analyse")
    page.wait_for_selector("h1")
    ink = "parseInt(getComputedStyle(document.body).color.match(/\\d+/)[0])"
    assert page.evaluate(ink) > 200
    page.emulate_media(media="print")
    assert page.evaluate(ink) < 60


def test_a_file_without_a_match_gets_an_error(page, server, tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ann,\n")
    page.goto(f"{server.address}/#/analyse")
    page.set_input_files("#match-file", path)
    page.wait_for_selector(".fault:has-text('letter.txt')")


def test_german(new_page, server):
    page = new_page(language="de-DE")
    page.goto(server.address)
    page.wait_for_selector("#start")
    assert page.get_attribute("html", "lang") == "de"
    assert "Spielen" in page.text_content("nav")
    page.click("#settings")
    page.select_option("#languages", "en")
    page.wait_for_selector("nav:has-text('Play')")
    page.reload()
    page.wait_for_selector("nav:has-text('Play')")


def test_the_grid_of_rolls_is_not_cut_in_german(new_page, server):
    page = new_page(language="de-DE", size=(1280, 900))
    begin(page, server, opponent="pubeval", seed=4)
    page.click("#hint-button")
    page.click(".hint button.small >> nth=1")
    page.wait_for_selector(".grid")
    cells = page.locator(".grid td").all_text_contents()
    assert any(cells)
    assert all(re.fullmatch(r"[+\u2212]?\d?,\d\d", cell) for cell in cells if cell)
    assert not any(re.match(r"[+\u2212]?0", cell) for cell in cells)
    assert page.eval_on_selector(".grid .wide", "one => one.scrollWidth <= one.clientWidth")


def test_refusals_are_german_too(new_page, server, tmp_path):
    page = new_page(language="de-DE")
    page.goto(f"{server.address}/#/position")
    page.wait_for_selector("#save-svg")
    page.fill("#id", "4HPwATDgc/ABM")
    page.click("#show-id")
    page.wait_for_selector(".fault:has-text('Ungültige Stellung')")
    reason = page.locator("#id-fault [lang=en]")
    assert not reason.is_visible()
    page.click("#id-fault summary")
    assert "it has 13 characters" in reason.text_content()
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ann,\n")
    page.goto(f"{server.address}/#/analyse")
    page.set_input_files("#match-file", path)
    page.wait_for_selector(".fault:has-text('Match nicht lesbar')")
    assert "letter.txt" in page.text_content(".fault [lang=en]")


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
@pytest.mark.parametrize("width", [360, 390, 1280])
def test_words_of_twice_the_size_do_not_overlap(new_page, server, language, width):
    page = new_page(language=language, size=(width, 844))
    page.goto(f"{server.address}/#/start")
    page.wait_for_selector("#start")
    assert page.evaluate("document.querySelector('header').offsetHeight") < 88  # in one line
    page.evaluate("() => { document.documentElement.style.fontSize = '200%'; }")
    assert page.evaluate(
        "[...document.querySelectorAll('nav a')].every(one => one.scrollWidth <= one.clientWidth)"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_faults_of_the_record_are_said(page, server, tmp_path):
    path = tmp_path / "faulty.mat"
    path.write_text(BY_GNUBG.replace("Ann Lee : 4", "Ann Lee : 3").replace("8/5 6/5", "8/5"))
    page.goto(f"{server.address}/#/analyse")
    page.check("#fast")
    page.set_input_files("#match-file", path)
    page.wait_for_selector("#players")
    words = page.text_content("main")
    assert "In the record, game 3 begins at 3\u20130, although the game before ended at 4\u20130." in words
    assert "Illegal, not judged: game 1, move 1, Ann Lee, 31: 8/5." in words
    page.reload()
    page.wait_for_selector(".source:has-text('game 3 begins at 3')")


def views(page, server, path):
    """Show every view and panel, by name, one after the other."""
    yield from views_of_play(page, server)
    yield from views_of_analysis(page, server, path)
    yield from views_of_learning(page, server)


def views_of_play(page, server):
    page.goto(f"{server.address}/")
    page.wait_for_selector("#start")
    yield "start"
    page.click("#new-game")
    page.wait_for_selector(".levels input")
    yield "new game"
    page.keyboard.press("Escape")
    begin(page, server, opponent="pubeval", length=5, seed=4)
    yield "game"
    page.click("#hint-button")
    page.wait_for_selector(".hint .chances")
    page.click(".hint button.small >> nth=1")
    page.wait_for_selector(".why-panel")
    yield "hint"
    page.check("#tutor")
    press(page, 6)
    press(page, 6)
    page.click("#ok")
    page.wait_for_selector("#anyway")
    page.click("#tutor-why")
    page.wait_for_selector(".tutor .why-panel")
    yield "tutor"
    page.uncheck("#tutor")
    page.click("#think-again")
    while not page.query_selector("#double"):
        turn(page)
    page.click("#cube-button")
    page.wait_for_selector(".cube-panel")
    yield "cube"


def views_of_analysis(page, server, path):
    page.goto(f"{server.address}/#/position/{XGID}")
    page.wait_for_selector("#save-svg")
    page.click("#setup-hint")
    page.wait_for_selector(".hint .chances")
    yield "position"
    page.goto(f"{server.address}/#/analyse")
    page.wait_for_selector("#match-file")
    yield "analyse"
    page.check("#fast")
    page.set_input_files("#match-file", path)
    page.wait_for_selector("#players")
    page.click("#explain")
    page.wait_for_selector(".why-panel, .hint .chances, .cube-panel")
    yield "analysed"


def views_of_learning(page, server):
    page.goto(f"{server.address}/#/learn")
    page.wait_for_selector("#learn-opening")
    yield "learn"
    page.click("#learn-opening")
    page.wait_for_selector("#ok")
    yield "quiz"
    page.goto(f"{server.address}/#/history")
    page.wait_for_selector("#export")
    yield "history"
    page.keyboard.press("?")
    page.wait_for_selector("dialog.help")
    yield "help"
    page.keyboard.press("Escape")
    page.click("#settings")
    page.wait_for_selector("#prefer-speed")
    yield "settings"
    page.goto(f"{server.address}/#/from/{XGID}")
    page.wait_for_selector(".practice #ok")
    yield "practice"


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("size", [NARROW, MIDDLE, WIDE], ids=lambda size: str(size[0]))
def test_every_view_fits_and_has_no_serious_fault(new_page, server, size, look, tmp_path):
    """No view is wider than the window, and axe-core, if installed, finds no serious fault.

    Pictures are written to the folder named by SHOTS.
    """
    path = tmp_path / "gnubg.mat"
    path.write_text(BY_GNUBG)
    page = new_page(size=size, look=look, bypass_csp=True)
    faults = []
    for name in views(page, server, path):
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > size[0]:
            faults.append(f"{name}: {width} pixels wide")
        if shots := os.environ.get("SHOTS"):
            page.screenshot(path=Path(shots) / f"{name}-{size[0]}-{look}.png", full_page=True)
        if AXE.is_file():
            faults += [f"{name}: {fault}" for fault in axe_faults(page)]
    assert not faults, "\n".join(faults)
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: make test-web does; views were only measured")


def axe_faults(page):
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:150]}" for one in serious]
