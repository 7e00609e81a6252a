"""Rows of games stored by the server: each damaged one is refused separately, whatever it contains."""

import json

from hypothesis import strategies as st

from tests.fuzz import checks
from tests.fuzz.mutations import ODD_TOKENS, mutated_file, mutated_tree

SETTINGS = {
    "opponent": "random",
    "seed": 4,
    "day": "2026-11-22",
    "rules": {"length": 0, "cube": True, "jacoby": False, "beavers": True, "raccoons": True},
    "name": "You",
    "seat": 0,
}
MATCH = {
    **SETTINGS,
    "opponent": "pubeval",
    "rules": {"length": 3, "cube": True, "jacoby": False, "beavers": False, "raccoons": False},
    "seat": 1,
}
DOCUMENTS = [
    {"format": "motif-game/1", "settings": settings, "events": events}
    for settings, events in (
        (SETTINGS, [["begin", 4, 3], ["play", "24/20 13/10"], ["roll", 6, 1], ["play", "13/7 8/7"]]),
        (SETTINGS, [["begin", 3, 1], ["play", "8/5 6/5"], ["double"], ["beaver"], ["raccoon"]]),
        (
            SETTINGS,
            [["begin", 3, 1], ["play", "8/5 6/5"], ["undo"], ["resign", "gammon", 0], ["begin", 2, 1]],
        ),
        (MATCH, [["begin", 1, 3], ["play", "8/5 6/5"], ["double"], ["take"], ["roll", 2, 1]]),
        (MATCH, [["begin", 1, 3], ["play", "8/5 6/5"], ["double"], ["drop"], ["begin", 6, 2]]),
    )
]
TEXTS = [json.dumps(document).encode() for document in DOCUMENTS]
TOKENS = [
    *ODD_TOKENS, b"[" * 300, b"[" * 100_000, b'{"a":' * 50_000, b'"\\ud800"', b"1E400", b"[]", b"{}",
    b'["undo"],', b'["begin",6,5],', b'["resign","single",0],', b'["double"],', b'["take"],', b'"gnubg"',
    b'"weights/x.yaml"', b'"latest@2"', b'"length":64', b'"events":null', b'"seat":1',
]  # fmt: skip


def test_rows_of_games(fuzz):
    trees = st.sampled_from(DOCUMENTS).flatmap(mutated_tree).map(json.dumps)
    fuzz(checks.game_check, mutated_file(TEXTS, TOKENS) | trees, valid=TEXTS)
