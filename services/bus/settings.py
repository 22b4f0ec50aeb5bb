"""Every setting of a process, in one struct that is passed on explicitly; units stand last in the names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, Self

import msgspec

from contracts.subjects import is_id
from services.bus.accounts import API_PREFIX
from services.bus.address import PORT_MAX, address

PREFIX: Final = "CROUPIER_"
SECRETS: Final = frozenset({f"{PREFIX}MASTER_KEYS"})
"""Variables that no other process may inherit."""


_AT_MOST: Final = {"replicas": 5, "listen_port": PORT_MAX, "http_port": PORT_MAX}
"""What these settings can be at most: a server keeps no stream on more than five."""


class Secret:
    """Text that is not to be seen: whatever prints or logs it shows nothing."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text."""
        return self._text

    def __repr__(self) -> str:
        """Shows nothing."""
        return "Secret(...)"

    def __eq__(self, other: object) -> bool:
        """Whether it is the same text."""
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        """As equal as the text."""
        return hash(self._text)


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """What a program that we start may know of the environment: no secrets."""
    return {name: value for name, value in environment.items() if name not in SECRETS}


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may differ between two processes of one release.

    From the environment each is `CROUPIER_` and its name in capitals: `CROUPIER_ROOMS=main,high`.
    """

    nats_url: str | None = None
    """The server (several with commas); none: the one that the credentials name."""
    credentials_path: Path | None = None
    """The file with the credentials; none: `credentials.json` in the data directory."""
    operator: str = "operator"
    """Under which name the command line sends an operator's commands."""
    data_path: Path = Path(".croupier")
    """Where a server of one's own keeps everything."""
    rooms: tuple[str, ...] = ("main",)
    api_prefix: str = API_PREFIX
    """How this account calls the JetStream API: `$JS.API` for the deploy role, which owns the streams."""
    replicas: int = 1
    """On how many servers each stream lies."""
    listen_port: int | None = None
    """Where a server of one's own listens; none: where it did before."""
    lazy_sync: bool = False
    """A server of one's own acknowledges before its disk has it: faster, and up to two minutes can be lost."""
    nudges: bool = True
    """Off: nothing but the sweep starts work; for tests of the sweep."""
    master_keys_path: Path | None = None
    """The dealer's master keys; none: `master-keys.json` beside the credentials, made where it is missing."""
    master_keys: Secret | None = None
    """What the file of master keys would hold, where there shall be none."""
    http_port: int | None = None
    """Where probes find `/live` and `/ready`, and Prometheus `/metrics`; none: nowhere."""
    http_host: str = "127.0.0.1"
    """Where the port is open: `0.0.0.0` where probes come from other machines, as in a container."""
    otlp_url: str | None = None
    """The collector that takes traces over OTLP/HTTP (`http://collector:4318`); none: there are no traces."""
    trace_ratio: float = 1.0
    """How many of the traces that begin here, or that a player names, are recorded: 0.01 is one in a hundred."""
    log_level: Literal["debug", "info", "warning", "error", "critical"] = "info"
    log_to: Literal["stdout", "stderr"] = "stderr"

    connect_timeout_ms: int = 10_000
    append_timeout_ms: int = 2_000
    read_timeout_ms: int = 5_000
    drain_timeout_ms: int = 5_000
    ping_interval_ms: int = 1_000
    reconnect_wait_ms: int = 250
    unanswered_ms: int = 6_000
    """No append was of any use for so long, and the connection moves to another server: this one may have no quorum."""
    leaderless_ms: int = 15_000
    """The same where the server knows of no leader for so long: an election takes less."""
    batch_messages_max: int = 1_000
    batch_bytes_max: int = 4 * 1024 * 1024
    command_bytes_max: int = 64 * 1024

    def __post_init__(self) -> None:
        """Raises `ValueError` for what can never work."""
        if self.nats_url is not None:
            address(self.nats_url)
        if not self.rooms:
            raise ValueError("a process serves one room or more")
        if wrong := [room for room in self.rooms if not is_id(room)]:
            said = ", ".join(map(repr, wrong))
            raise ValueError(f"a room's name has letters, digits, - and _, 40 at most: not {said}")
        if self.master_keys is not None and self.master_keys_path is not None:
            raise ValueError("the master keys are in the environment or in a file, not both")
        if not 0 <= self.trace_ratio <= 1:
            raise ValueError(f"trace_ratio must be from 0 to 1, not {self.trace_ratio}")
        if self.otlp_url is not None and not self.otlp_url.startswith(("http://", "https://")):
            raise ValueError(f"otlp_url must begin with http:// or https://, not {self.otlp_url!r}")
        if not is_id(self.operator):
            raise ValueError(f"an operator's name has letters, digits, - and _, 40 at most: not {self.operator!r}")
        for name in self.__struct_fields__:
            _in_bounds(name, getattr(self, name))

    @property
    def credentials_file(self) -> Path:
        """Where the passwords are."""
        return self.credentials_path or self.data_path / "credentials.json"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """The settings that the environment gives, defaults for the rest; raises `msgspec.ValidationError`.

        Other variables with the prefix are left alone: orchestrators invent some (`CROUPIER_PORT`).
        """
        given: dict[str, str | list[str]] = {}
        for name in cls.__struct_fields__:
            text = environment.get(PREFIX + name.upper())
            if text is not None:
                given[name] = [room.strip() for room in text.split(",")] if name == "rooms" else text
        return msgspec.convert(given, cls, strict=False, dec_hook=_from_text)


def _in_bounds(name: str, value: object) -> None:
    """Raises ValueError for a number that can never work."""
    if not isinstance(value, int) or isinstance(value, bool):
        return
    most = _AT_MOST.get(name)
    if value < 1 or (most is not None and value > most):
        bounds = "1 or more" if most is None else f"from 1 to {most}"
        raise ValueError(f"{name} must be {bounds}, not {value}")


def _from_text(kind: type, text: str) -> object:
    """What msgspec does not know: paths, and secrets."""
    if kind is Path:
        return Path(text)
    if kind is Secret:
        return Secret(text)
    raise NotImplementedError(kind)
