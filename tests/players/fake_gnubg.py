"""A stand-in for gnubg: it listens and answers as gnubg does, or fails in a way that a test asks for.

It is run by itself, with the variable FAKE_GNUBG for the folder with its script.json.
Everything that it is told goes into files there.
"""

import json
import os
import socket
import sys
import time
from pathlib import Path

FOREVER = 1000.0


def main() -> None:
    """Read commands; at ``external NAME`` listen there and answer until the caller is gone."""
    folder = Path(os.environ["FAKE_GNUBG"])
    script = json.loads((folder / "script.json").read_text())
    start = {"pid": os.getpid(), "session": os.getsid(0), "folder": str(Path.cwd()), "words": sys.argv[1:]}
    note(folder / "starts", json.dumps({**start, "environment": dict(os.environ)}))
    if script["fails"] == "at the start":
        sys.exit("gnubg: cannot open weights")
    for line in sys.stdin:
        command = line.strip()
        note(folder / "commands", command)
        if not command.startswith("external "):
            continue
        if script["fails"] == "to listen":
            time.sleep(FOREVER)
        with socket.socket(socket.AF_UNIX) as listener:
            try:
                listener.bind(command.split()[1])
            except OSError:
                continue
            listener.listen(1)
            caller, _ = listener.accept()
        with caller, caller.makefile("rw") as lines:
            for question in lines:
                answer(question.strip(), folder, script, lines)


def answer(question: str, folder: Path, script: dict, lines) -> None:
    note(folder / "questions", question)
    asked = len((folder / "questions").read_text().splitlines())
    if asked in script["dies_at"]:
        print("what a terrible position", flush=True)
        os._exit(3)
    if script["fails"] == "to answer":
        time.sleep(FOREVER)
    while len((folder / "questions").read_text().splitlines()) < script["waits_for"]:
        time.sleep(0.01)
    known = script["answers"]
    lines.write(known.get(question, known.get("", "?")) + "\n")
    lines.flush()


def note(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    main()
