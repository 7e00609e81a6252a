"""A person who knows only what the screen offers."""

import random
import re

_OFFER = re.compile(r"^  (\S.*?)  +\S", re.MULTILINE)
PROMPT = re.compile(r"^(?P<head>.*) \[(?P<offers>[^\[\]]*)\]: $")
GOES_ON = {"roll", "take", "pass", "yes", "no"}
"""Words that continue where no play can be typed."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
MAX_ANSWERS = 2000


class Robot:
    """Types each word that is offered at least once, and otherwise plays any move offered.

    It plays game 1 to the end, resigns in game 2, and quits in game 3.
    """

    def __init__(self, file: str, seed: int = 0) -> None:
        self.typed: list[str] = []
        """Kinds of answers: the words that were offered."""
        self.screen = ""
        """All that was shown so far."""
        self._file = file
        self._offers: list[str] = []
        """What the list that ``?`` asks for says; empty before it was asked for."""
        self._asked = 0
        self._chance = random.Random(seed)

    def answer(self, shown: str) -> str:
        """The next input after `shown`, which ends with a prompt, has appeared."""
        assert len(self.typed) < MAX_ANSWERS, self.screen[-2000:]
        self.screen += COLOURS.sub("", shown.replace("\r\n", "\n"))
        found = PROMPT.match(self.screen.rpartition("\n")[2])
        assert found, self.screen[-500:]
        if not self._offers:
            self._asked = len(self.screen)
            self._offers = ["?"]
            return "?"
        self._offers = _OFFER.findall(self.screen[self._asked :])
        kind = self._chosen(found["head"].split()[0], self._offers)
        self._offers = []
        self.typed.append(kind)
        return self._words(kind)

    @property
    def games_begun(self) -> int:
        return len(re.findall(r"^Game \d+\. ", self.screen, re.MULTILINE))

    def _chosen(self, head: str, offers: list[str]) -> str:
        if head == "Another":
            return "yes" if self.typed[-1] == "save FILE" else "save FILE"
        if head == "Give":
            return "yes" if self.games_begun == 2 else "no"
        if head == "Resign":
            return "back" if "back" not in self.typed else offers[offers.index("back") - 1]
        if head == "Save":
            return "back" if self.typed.count("quit") < 2 else "no"
        at_most = {
            "quit": (self.games_begun > 2) * 9,
            "resign": (2, 9)[self.games_begun == 2],
            "double": 5,
            "no": 9,
            "yes": 9,
        }
        fresh = [offer for offer in offers if self.typed.count(offer) < at_most.get(offer, 1)]
        plays = [offer for offer in offers if " " in offer and offer != "save FILE"]
        if fresh and self._chance.random() < 0.7:
            return fresh[-1]
        return self._chance.choice(plays or [offer for offer in offers if offer in GOES_ON] or offers)

    def _words(self, kind: str) -> str:
        if kind == "save FILE":
            return f"save {self._file}"
        if kind.startswith("its number "):
            first, last = map(int, kind.removeprefix("its number ").split("-"))
            return str(self._chance.randint(first, last))
        if kind.startswith("two dice such as "):
            example = kind.removeprefix("two dice such as ")
            dice = [str(self._chance.randint(1, 6)) for _ in range(2)]
            return example if example == "52" else "".join(dice)
        return kind.removeprefix("a play such as ")
