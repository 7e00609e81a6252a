"""Settings of the HTTP server: its address, who may ask, and limits."""

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

    host: str = setting("127.0.0.1", "Address to listen at; 0.0.0.0 is every address of this machine.")
    port: int = setting(8080, "Port to listen at; 0 is a free one.")
    player: str | None = setting(None, "Default player of requests.")
    cors: str = setting(
        "", "Comma-separated origins whose pages may ask, such as https://example.org; * allows all."
    )
    names: str = setting(
        "",
        "Comma-separated names of the server besides localhost and IP addresses.",
    )


@dataclass(frozen=True)
class ServeSettings(ServeAddress):
    """Address and limits of the HTTP server."""

    body: int = setting(4_000_000, "Most bytes of a request's body.")
    batch: int = setting(10_000, "Most positions per batch, and rolls per match.")
    trials: int = setting(20_736, "Most trials per rollout.")
    rollouts: int = setting(2, "Most simultaneous rollouts and analyses; others get the status 503.")
    waiting: int = setting(64, "Most requests waiting for a thread; others get the status 503.")
    budget: int = setting(600, "Most seconds of computing per request, estimated and measured.")
    reading: int = setting(20, "Most seconds for reading a match file.")
    connections: int = setting(2000, "Most simultaneous connections; others get the status 503.")
    patience: int = setting(30, "Most seconds for a client to send a request, and to read the answer.")
    workers: int = setting(1, "Number of processes, each with these limits; one that dies is replaced.")
    games: str = setting("", "Folder for games played on the page; by default a folder of this user.")

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
