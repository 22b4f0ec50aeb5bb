"""What a server asks a doorman when somebody connects: NATS' auth callout, as far as it matters here."""

import msgspec

from services.access.tokens import NoToken, unproven


class ServerId(msgspec.Struct, frozen=True):
    """Which server asks."""

    id: str
    name: str = ""


class ClientInfo(msgspec.Struct, frozen=True):
    """Who connects, as the server sees it; `nonce` is what it asked to have signed."""

    host: str = ""
    nonce: str = ""


class ConnectOptions(msgspec.Struct, frozen=True):
    """What the client showed; a server that is not run by NATS' operators passes no JWT on, so it comes as a token."""

    auth_token: str = ""
    sig: str = ""

    def __repr__(self) -> str:
        """Without what nobody else may know."""
        return "ConnectOptions(...)"


class Question(msgspec.Struct, frozen=True):
    """Somebody connects, whom the server does not know; `user_nkey` names this one connection."""

    server_id: ServerId
    user_nkey: str
    client_info: ClientInfo
    connect_opts: ConnectOptions


class NoQuestion(ValueError):
    """What arrived is no question of a server."""


def asked(token: str) -> Question:
    """The question in a server's token, which came sealed by the server. Raises `NoQuestion`."""
    try:
        return msgspec.convert(unproven(token).nats, Question)
    except (NoToken, msgspec.ValidationError) as fault:
        raise NoQuestion(str(fault)) from None
