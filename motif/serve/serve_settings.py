"""Settings of the HTTP server: its address, access rights and limits."""

from dataclasses import dataclass
from pathlib import Path

from motif.runtime.errors import SettingError, shown
from motif.runtime.settings import setting

_MAX_NUMBER = 2**31 - 1
MAX_PORT = 2**16 - 1
_LIMITS = {"port": (0, MAX_PORT), "body": (1024, _MAX_NUMBER), "connections": (16, _MAX_NUMBER)}
"""Limits of numbers, which otherwise are at least 1."""


@dataclass(frozen=True)
class ServeAddress:
    """Address of the HTTP server, and the pages and host names that may use it."""

    host: str = setting("127.0.0.1", "Address to listen on; 0.0.0.0 for all addresses of this machine.")
    port: int = setting(8080, "Port to listen on; 0 for any free port.")
    player: str | None = setting(None, "Default player for requests.")
    cors: str = setting(
        "", "Comma-separated origins of pages that may send requests, such as https://example.org; * for all."
    )
    names: str = setting(
        "", "Comma-separated host names of the server, in addition to localhost and IP addresses."
    )


@dataclass(frozen=True)
class ServeSettings(ServeAddress):
    """Address and limits of the HTTP server."""

    body: int = setting(4_000_000, "Maximum size of a request body in bytes.")
    batch: int = setting(10_000, "Maximum number of positions per batch, and of rolls per match.")
    trials: int = setting(20_736, "Maximum number of trials per rollout.")
    rollouts: int = setting(
        2, "Maximum number of simultaneous rollouts and analyses; further ones get status 503."
    )
    waiting: int = setting(
        64, "Maximum number of requests that wait for a thread; further ones get status 503."
    )
    budget: int = setting(600, "Maximum computing time per request in seconds, estimated and measured.")
    reading: int = setting(20, "Maximum computing time for reading a match file in seconds.")
    connections: int = setting(
        2000, "Maximum number of simultaneous connections; further ones get status 503."
    )
    patience: int = setting(30, "Maximum time for a client to send a request or read an answer, in seconds.")
    workers: int = setting(1, "Number of processes, each with these limits; a process that dies is replaced.")
    games: str = setting(
        "", "Folder for games played on the page; by default, a folder in your home directory."
    )

    def check(self) -> None:
        """Raise `SettingError` for an invalid value."""
        for name, value in vars(self).items():
            low, high = _LIMITS.get(name, (1, _MAX_NUMBER))
            if isinstance(value, int) and not low <= value <= high:
                raise SettingError(f"{name} must be {low} to {high}, not {value}", name)
        for origin in self.origins:
            scheme, _, rest = origin.partition("://")
            if origin != "*" and (scheme not in ("http", "https") or not rest or "/" in rest):
                raise SettingError(
                    f"cors must be * or origins such as https://example.org, not {shown(origin)}", "cors"
                )
        if self.games and Path(self.games).exists() and not Path(self.games).is_dir():
            raise SettingError(f"games must be a folder, and {shown(self.games)} is a file", "games")

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins of `cors`."""
        return _items(self.cors)

    @property
    def known_names(self) -> frozenset[str]:
        """Host names that requests may use, in addition to IP addresses."""
        return frozenset(("localhost", self.host.lower(), *(name.lower() for name in _items(self.names))))


def _items(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (item.strip() for item in text.split(","))))
