"""A stand-in for gnubg that listens and answers like gnubg, or fails in a way that a test specifies.

It runs as a separate program; the environment variable FAKE_GNUBG names the folder with its script.json. It
records everything that it receives in files there.
"""

import json
import os
import socket
import sys
import time
from pathlib import Path

FOREVER = 1000.0


def main() -> None:
    """Read commands; at ``external HOST:PORT`` listen there and answer until the caller disconnects."""
    folder = Path(os.environ["FAKE_GNUBG"])
    script = json.loads((folder / "script.json").read_text())
    start = {"pid": os.getpid(), "session": os.getsid(0), "folder": str(Path.cwd()), "words": sys.argv[1:]}
    note(folder / "starts", json.dumps({**start, "environment": dict(os.environ)}))
    if script["fails"] == "at the start":
        sys.exit("gnubg: cannot open weights")
    for line in sys.stdin:
        command = line.strip()
        note(folder / "commands", command)
        if command == "quit":
            sys.exit()
        if not command.startswith("external "):
            continue
        if script["fails"] == "to listen":
            time.sleep(FOREVER)
        host, _, port = command.removeprefix("external ").partition(":")
        is_taken = len((folder / "starts").read_text().splitlines()) <= script["taken"]
        while not is_taken:
            caller = called(host, int(port))
            with caller, caller.makefile("rw") as lines:
                for question in lines:
                    answer(question.strip(), folder, script, lines)
        print(f"{host}:{port}: Address already in use", flush=True)


def called(host: str, port: int) -> socket.socket:
    """The next caller; gnubg listens again when a caller has disconnected."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1)
        return listener.accept()[0]


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
