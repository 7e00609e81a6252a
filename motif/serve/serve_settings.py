"""Settings of the HTTP server: where it listens, who may ask, and how much at a time."""

from dataclasses import dataclass

from motif.runtime.errors import SettingError, shown
from motif.runtime.settings import setting

_LOWEST = {
    "port": 0,
    "body": 1024,
    "batch": 1,
    "trials": 1,
    "rollouts": 1,
    "waiting": 1,
    "budget": 1,
    "reading": 1,
    "connections": 16,
    "patience": 1,
    "workers": 1,
}
_HIGHEST = {"port": 65535}


@dataclass(frozen=True)
class ServeAddress:
    """Where the HTTP server listens, and who may ask."""

    host: str = setting("127.0.0.1", "Address to listen at; 0.0.0.0 is every one of this machine.")
    port: int = setting(8080, "Port to listen at; 0 is a free one.")
    player: str | None = setting(None, "Player who answers where a request names none.")
    cors: str = setting(
        "", "Origins whose pages may ask, separated by commas, such as https://example.org; * is every one."
    )
    names: str = setting(
        "",
        "Names, separated by commas, by which the server may be called besides localhost and IP addresses.",
    )


@dataclass(frozen=True)
class ServeSettings(ServeAddress):
    """Address and limits of the HTTP server."""

    body: int = setting(4_000_000, "Most bytes of a request's body.")
    batch: int = setting(10_000, "Most positions of a batch, and rolls of a match.")
    trials: int = setting(20_736, "Most trials of a rollout.")
    rollouts: int = setting(2, "Rollouts and analyses at a time; others are refused with the status 503.")
    waiting: int = setting(
        64, "Most requests, quick or slow, that wait for a free thread; others get the status 503."
    )
    budget: int = setting(
        600, "Most seconds of computing for a request: as estimated before it begins, and as measured."
    )
    reading: int = setting(20, "Seconds that reading a match file may take.")
    connections: int = setting(2000, "Most connections at a time; others are refused with the status 503.")
    patience: int = setting(30, "Seconds that a client may take to send a request, and to read the answer.")
    workers: int = setting(1, "Processes that answer, each with these limits; one that dies is replaced.")
    games: str = setting("", "Folder in which games played on the page are kept; empty: that of this user.")

    def check(self) -> None:
        """Raise `SettingError` for an invalid value."""
        for name, low in _LOWEST.items():
            value, high = getattr(self, name), _HIGHEST.get(name, 2**31 - 1)
            if not low <= value <= high:
                raise SettingError(f"{name} must be {low} to {high}, not {value}", name)
        for origin in self.origins:
            scheme, _, rest = origin.partition("://")
            if origin != "*" and (scheme not in ("http", "https") or not rest or "/" in rest):
                raise SettingError(
                    f"cors must be * or origins such as https://example.org, not {shown(origin)}", "cors"
                )

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins of `cors`."""
        return _items(self.cors)

    @property
    def known_names(self) -> frozenset[str]:
        """Names by which the server may be called, without IP addresses."""
        return frozenset(("localhost", self.host.lower(), *(name.lower() for name in _items(self.names))))


def _items(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (item.strip() for item in text.split(","))))
