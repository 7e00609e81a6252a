"""Games played on the page by clicks, drags and keys: to the end, with the cube, and through failures."""

import re

import pytest

from motif.board.parsing import parse_position
from motif.evaluators.known_players import load_evaluator
from motif.players.ranking import rank_plays
from tests.web.visits import (
    asked,
    asks,
    begin,
    board,
    commanded,
    decide,
    game_of,
    move,
    play_on,
    press,
    revision,
    turn,
)


def equities(page, rows):
    first_words = "cells => cells.map(cell => cell.firstChild.textContent)"
    cells = page.eval_on_selector_all(".hint .equity", first_words)
    return [float(cell.replace("\u2212", "-")) for cell in cells[:rows]]


def test_a_whole_money_game_by_clicks(page, server):
    begin(page, server, seed=4)
    assert page.text_content("#seed-shown") == "4"
    play_on(page)
    assert asks(page) == "next"
    assert re.search(r"(You win|random wins) \d+ point", page.text_content("#message"))
    page.click("#rolls")
    page.wait_for_selector("#faces")
    assert "seed 4" in page.text_content(".advice")
    decide(page, "#next")
    assert "Game 2" in page.text_content(".about")
    with page.expect_download() as download:
        page.click("#save")
    text = download.value.path().read_text()
    assert text.count(" Game ") == 2


def test_a_match_to_3_with_the_cube(page, server):
    begin(page, server, opponent="pubeval", length=3, seed=3)
    cubes = set()
    while asks(page) != "nothing":
        if asks(page) == "next":
            decide(page, "#next")
        turn(page, double=True)
        cubes.add(page.text_content(".board .cube text"))
    assert "2" in cubes
    assert "the match" in page.text_content("#message")
    state = asked(server, f"/api/v1/games/{game_of(page)}")
    assert max(state["score"]) >= 3
    page.click("#analyse")
    page.wait_for_selector("#players")


def test_undo_before_ok_and_take_back_after_it(page, server):
    begin(page, server, opponent="pubeval", seed=4)
    start = board(page)
    assert page.is_disabled("#ok")
    assert page.is_disabled("#undo")
    press(page, 24)
    moved = board(page)
    assert moved != start
    page.click("#undo")
    assert board(page) == start
    press(page, 24)
    press(page, 13)
    assert page.is_enabled("#ok")
    decide(page, "#ok")
    decide(page, "#take-back")
    assert (asks(page), board(page)) == ("play", start)


def test_one_click_on_the_destination_moves_the_nearest_checker(page, server):
    begin(page, server, seed=4)  # 4-3
    press(page, 4)
    assert "5 on 13, 2 on 8, 5 on 6, 1 on 4" in board(page)
    page.click("#undo")
    press(page, 17)
    press(page, 20)
    assert "1 on 24, 1 on 20" in board(page)
    page.click("#undo")
    page.click('[data-place="6"]', modifiers=["Shift"])  # a destination, although it has checkers
    assert "4 on 13" in board(page)
    assert page.is_enabled("#ok")


def test_the_die_that_is_played_first_can_be_chosen(page, server):
    begin(page, server, seed=4)
    page.click(".die >> nth=0")
    press(page, 13)
    assert "1 on 10" in board(page)


def test_a_checker_is_dragged(page, server):
    begin(page, server, seed=4)
    boxes = [page.locator(f'[data-place="{place}"]').bounding_box() for place in (13, 6)]
    (x1, y1), (x2, y2) = ((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes)
    page.mouse.move(x1, y1)
    page.mouse.down()
    page.mouse.move((x1 + x2) / 2, (y1 + y2) / 2, steps=3)
    page.mouse.move(x2, y2, steps=3)
    page.mouse.up()
    assert "4 on 13, 3 on 8, 6 on 6" in board(page)
    assert page.is_enabled("#ok")


def test_a_turn_by_the_keyboard_alone(page, server):
    begin(page, server, seed=4)
    before = revision(page)
    page.focus('[data-place="24"]')
    page.keyboard.press("Enter")
    assert "24 to 20" in page.text_content("#announcer")
    page.keyboard.press("u")
    for _ in range(11):
        page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.place") == "13"
    assert "5 of yours; can move" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    page.keyboard.press(" ")
    page.keyboard.press("o")
    page.wait_for_function("b => Number(document.querySelector('.table').dataset.revision) > b", arg=before)
    assert page.evaluate("document.activeElement !== document.body")


def test_a_key_that_is_held_down_presses_once(page, server):
    begin(page, server, opponent="pubeval", seed=5)  # pubeval has begun
    before = revision(page)
    hold(page, "Enter")
    assert (asks(page), revision(page)) == ("play", before + 1)
    assert page.is_disabled("#undo")
    move(page)
    page.focus("#ok")
    hold(page, "Enter")
    assert (asks(page), page.locator(".log .me").count()) == ("roll", 1)
    decide(page, "#roll")
    move(page)
    decide(page, "#ok")
    hold(page, "b")
    assert page.locator(".log .me").count() == 1


def hold(page, key):
    page.keyboard.down(key)
    for _ in range(6):
        page.wait_for_timeout(250)
        page.keyboard.down(key)
    page.keyboard.up(key)


def test_screen_readers_do_not_read_the_numbers_of_the_drawing(page, server):
    begin(page, server, opponent="pubeval", seed=4)
    assert page.text_content(".board .cube") == "64"
    assert board(page).endswith("Cube at 1, centred.")
    assert "text:" not in page.locator(".board").aria_snapshot()


def test_a_game_survives_a_reload(page, server):
    begin(page, server, opponent="pubeval", seed=9)
    for _ in range(4):
        turn(page)
    before = board(page), asks(page), revision(page), page.text_content(".log")
    page.reload()
    page.wait_for_selector(".table[data-asks]")
    assert (board(page), asks(page), revision(page), page.text_content(".log")) == before
    page.goto(f"{server.address}/")  # without the game's address: the last game
    page.wait_for_selector(".table[data-asks]")
    assert revision(page) == before[2]


def test_the_server_is_killed_and_started_again(page, server):
    begin(page, server, opponent="pubeval", seed=9)
    turn(page)
    while asks(page) != "play":
        turn(page)
    move(page)
    before, shown = revision(page), board(page)
    server.kill()
    page.click("#ok")
    page.wait_for_selector(".notice:has-text('reach motif')")
    assert board(page) == shown
    server.start()
    page.wait_for_function("() => document.querySelector('.notice').textContent === ''")
    assert revision(page) == before
    assert board(page) == shown
    decide(page, "#ok")


def test_a_second_tab_shows_that_the_game_continued(page, server):
    begin(page, server, opponent="pubeval", seed=4)
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".table[data-asks]")
    turn(page)
    move(other)
    other.click("#ok")
    other.wait_for_selector("#reload")
    assert "another tab" in other.text_content(".notice")
    other.click("#reload")
    other.wait_for_function("() => document.querySelector('.notice').textContent === ''")
    assert (board(other), revision(other)) == (board(page), revision(page))


@pytest.mark.parametrize("seed", ["9007199254740993", "99999999999999999999999", "1.5"])
def test_a_seed_that_would_lose_digits_is_refused(page, server, seed):
    page.goto(f"{server.address}/#/start")
    page.click("#new-game")
    page.click("#more summary")
    page.fill("#seed", seed)
    page.click("#begin")
    assert page.text_content("#seed-fault") == "The seed must be a whole number below 2⁵³."


def test_a_game_that_is_not_kept_any_more(page, server):
    page.goto(f"{server.address}/#/play/AAAAAAAAAAAA")
    page.wait_for_selector("#start")
    assert "unknown game" in page.text_content(".fault")


def test_hints_say_what_the_command_says(page, server):
    begin(page, server, opponent="pubeval", seed=4, jacoby=True)
    page.click("button:has-text('Hint')")
    page.wait_for_selector(".hint .chances")
    identifier = asked(server, f"/api/v1/games/{game_of(page)}")["id"]
    plays = commanded("hint", identifier, "4", "3")["plays"]
    assert equities(page, 5) == pytest.approx([one["equity"] for one in plays[:5]], abs=0.0005)
    assert page.text_content(".hint tbody .play") == plays[0]["notation"]
    page.hover(".hint tbody tr:nth-child(2)")
    assert page.locator(".board .arrow").count() == 2
    page.mouse.move(5, 5)
    assert page.locator(".board .arrow").count() == 0
    page.click(".hint tbody .play >> nth=0")
    assert page.is_enabled("#ok")
    page.click(".hint button:has-text('Why') >> nth=1")
    page.wait_for_selector(".why-panel")
    why = page.text_content(".why-panel h3")
    assert plays[0]["notation"] in why
    assert plays[1]["notation"] in why
    assert page.locator(".why-panel .bar-piece").count() > 0
    row = ".hint tbody tr:nth-child(6)"
    assert "2-ply" in page.text_content(row)  # every play shown is judged at one depth
    difference = page.text_content(f"{row} td:nth-of-type(3)").removeprefix("\u2212")
    page.click(f"{row} button.small")
    # The command judges fewer plays to full depth than the page shows.
    position, state = parse_position(identifier)
    shown = rank_plays(position, (4, 3), load_evaluator("latest@2"), state, full_depth=8)[:8]
    assert equities(page, 8) == pytest.approx([one.equity for one in shown], abs=0.0005)
    page.wait_for_selector(f".why-panel h3:has-text('{shown[5].play.notation}')")
    assert page.text_content(".why-panel .total") == f"In all: +{difference} (2-ply)"


def test_enter_confirms_a_play_of_the_hint_list(page, server):
    begin(page, server, opponent="pubeval", seed=4)
    before = revision(page)
    page.keyboard.press("h")
    page.click(".hint tbody .play >> nth=1")
    notation = page.text_content(".hint tbody .play >> nth=1")
    assert page.is_enabled("#ok")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "before => Number(document.querySelector('.table').dataset.revision) > before", arg=before
    )
    assert f"You 4-3: {notation}" in page.text_content(".log")


def test_the_record_names_the_rules(page, server):
    rules = {"opponent": "pubeval", "length": 0, "cube": True, "jacoby": True, "beavers": True}
    game = asked(server, "/api/v1/games", {**rules, "seed": 4})["game"]
    page.goto(f"{server.address}/#/play/{game}")
    page.wait_for_selector(".about p")
    assert page.text_content(".about p >> nth=0") == "Money game, Jacoby rule, beavers. Game 1"


def test_the_tutor_objects_and_can_be_overruled(page, server):
    begin(page, server, opponent="pubeval", seed=4)
    page.check("#tutor")
    press(page, 6)
    press(page, 6)  # 6/2 6/3
    before = revision(page)
    page.click("#ok")
    page.wait_for_selector("#anyway")
    assert revision(page) == before
    warning = page.text_content(".tutor")
    assert re.search(r"This gives up 0\.\d{3} (±\u00a00\.\d{3} )?\(.*\)\. Better: ", warning)
    page.click("#tutor-why")
    page.wait_for_selector(".tutor .why-panel")
    page.click("#think-again")
    assert "5 on 6" in board(page)
    press(page, 6)
    press(page, 6)
    page.click("#ok")
    page.wait_for_selector("#anyway")
    decide(page, "#anyway")
    assert "6/3 6/2" in page.text_content(".log")


@pytest.mark.parametrize("change", ["the better play", "another checker"])
def test_a_warning_goes_when_the_play_changes(page, server, change):
    begin(page, server, opponent="pubeval", seed=4)
    page.check("#tutor")
    press(page, 6)
    press(page, 6)  # 6/2 6/3
    page.click("#ok")
    page.wait_for_selector("#anyway")
    if change == "the better play":
        page.click(".two-plays .play >> nth=0")
    else:
        page.click("#undo")
        press(page, 24)
    assert page.text_content(".tutor") == ""
    page.uncheck("#tutor")
    decide(page, "#ok")
    assert "6/3 6/2" not in page.text_content(".log")


def test_cube_advice_says_what_the_command_says(page, server):
    begin(page, server, opponent="pubeval", length=5, seed=5)
    while not page.query_selector("#double"):
        turn(page)
    page.click("button:has-text('Cube advice')")
    page.wait_for_selector(".cube-panel")
    identifier = asked(server, f"/api/v1/games/{game_of(page)}")["id"]
    cube = commanded("cube", identifier)
    shown = page.locator(".cube-panel tbody").first.locator("td:nth-child(2)").all_text_contents()
    values = [float(cell.replace("\u2212", "-")) for cell in shown]
    expected = [cube[name] for name in ("no_double", "double_take", "double_pass")]
    assert values == pytest.approx(expected, abs=0.0005)
    words = page.text_content(".cube-panel")
    assert re.search(r"pubeval needs \d+\.\d\d?\u00a0% to take and has \d+\.\d\d?\u00a0%\.", words)


def test_resigning_ends_the_game(page, server):
    begin(page, server, opponent="random", length=1, seed=7)
    page.select_option("#resign", "single")
    assert page.text_content("dialog h2") == "Resign and lose a single game (1 point)?"
    decide(page, "#yes")
    assert page.locator(".side-bar .score").all_text_contents() == ["1 point", "0 points"]
    assert asks(page) == "nothing"
    assert "random wins 1 point (resigned)" in page.text_content("#message")


def test_a_saved_match_is_gone_on_with(page, server, tmp_path):
    begin(page, server, opponent="pubeval", length=21, seed=6)
    for _ in range(4):
        turn(page)
    with page.expect_download() as download:
        page.click("#save")
    shown, path = board(page), tmp_path / "match.mat"
    download.value.save_as(path)
    page.goto(f"{server.address}/#/start")
    page.wait_for_selector(".kept a")
    page.click("#new-game")
    page.wait_for_selector(".levels input")
    page.select_option("#opponent", "pubeval", force=True)
    page.set_input_files("#load", path)
    page.wait_for_selector(".table[data-asks]")
    assert board(page) == shown
    turn(page)
