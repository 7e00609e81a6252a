"""Identifiers of positions and matches, one at a time and many at once."""

from hypothesis import strategies as st

from motif.board.identifiers import gnubg_id, position_key
from motif.board.match_state import MatchState, match_id
from motif.board.position import Position
from motif.board.xgid_ogid import ogid, xgid
from tests.fuzz import checks
from tests.fuzz.mutations import mutated, mutated_text

POSITIONS = [
    Position.start(),
    Position.from_points({25: 2, 6: 5, 24: 1}, {24: 2, 13: 5}),
    Position.from_points({1: 1}, {25: 1, 3: 14}),
    Position.from_points({24: 15}, {24: 15}),
]
STATES = [
    MatchState(),
    MatchState(7, 3, 6, crawford=True, dice=(6, 1)),
    MatchState(5, 1, 2, cube=4, cube_owner="me", doubled=True, decision="opponent", player=0),
    MatchState(cube=32, cube_owner="me", jacoby=True, beavers=True),
    MatchState(3, 0, 5, resignation="gammon", game_state="over", decision="opponent"),
]
IDS = [gnubg_id(position) for position in POSITIONS]
KEYS = [position_key(position) for position in POSITIONS]
MATCH_IDS = [match_id(state) for state in STATES]
XGIDS = [xgid(position, state) for position in POSITIONS for state in STATES[:-1]] + [
    "XGID=-b----E-C---eE---c-e----B-:1:-1:-1:D:2:3:0:5:10"
]
OGIDS = [ogid(position, state) for position in POSITIONS for state in STATES] + [
    "cccccgghhhjjjjj:112233666777dll:N0O::B:D:0:0:3:11",
    "OGID=00jjj:66pppq:?0N",
]
IN_FULL = [f"{position}:{match}" for position in IDS for match in MATCH_IDS]


def same_length(texts: list[str]) -> st.SearchStrategy[str]:
    """Change a few characters, so that a reader must check more than the length."""

    def put(text: str, changes: list[tuple[int, str]]) -> str:
        for place, character in changes:
            place %= len(text)
            text = text[:place] + character + text[place + 1 :]
        return text

    characters = st.sampled_from("".join(sorted(set("".join(texts))))) | st.characters()
    changes = st.lists(st.tuples(st.integers(0, 99), characters), min_size=1, max_size=3)
    return st.builds(put, st.sampled_from(texts), changes)


def damaged(texts: list[str]) -> st.SearchStrategy[str]:
    return mutated_text(texts) | same_length(texts)


def test_gnubg_ids(fuzz):
    fuzz(checks.gnubg_id_check, damaged(IDS), valid=IDS)


def test_keys(fuzz):
    fuzz(checks.key_check, damaged(KEYS), valid=KEYS)


def test_match_ids(fuzz):
    fuzz(checks.match_id_check, damaged(MATCH_IDS), valid=MATCH_IDS)


def test_xgids(fuzz):
    fuzz(checks.xgid_check, damaged(XGIDS), valid=XGIDS)


def test_ogids(fuzz):
    fuzz(checks.ogid_check, damaged(OGIDS), valid=OGIDS)


def test_positions_in_any_form(fuzz):
    forms = [*IDS, *KEYS, *IN_FULL, *XGIDS[:5], *OGIDS[:4]]
    fuzz(checks.position_check, damaged(forms), valid=forms)


def several(texts: list[str]) -> st.SearchStrategy[list[str]]:
    """Return a few valid identifiers, often with a damaged one among them."""
    valid = st.sampled_from([texts[first:last] for first in range(3) for last in range(first, 4)])
    return st.builds(
        lambda before, one, after: [*before, *one, *after],
        valid,
        st.lists(damaged(texts), max_size=1),
        valid,
    )


def test_many_ids_at_once(fuzz):
    fuzz(checks.bulk_ids_check, several(IDS), valid=[IDS, []])


def test_many_keys_at_once(fuzz):
    fuzz(checks.bulk_keys_check, several(KEYS), valid=[KEYS, []])


BATCH = "\n".join(["# comment", *IDS, "", *KEYS, *IN_FULL[:3], *XGIDS[:2]]).encode()
DECISIONS = "\n".join(f"{text} {die} 3" for die, text in enumerate([*IDS, XGIDS[0], KEYS[1]], 1)).encode()


def test_files_of_positions(fuzz):
    fuzz(checks.positions_file_check, mutated([BATCH, b"\n".join(BATCH.split())[9:]]), valid=[BATCH, b""])


def test_files_of_decisions(fuzz):
    fuzz(checks.decisions_file_check, mutated([DECISIONS, DECISIONS[:40]]), valid=[DECISIONS, b""])
