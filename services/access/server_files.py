"""What a deployed NATS server reads: who may do what (`accounts.conf`), and how one server or three of them run.

`python -m services.access.server_files` writes them to `deploy/nats`, from the tables in `services.bus.accounts`.
They name no key: a server finds the public keys, and its own secrets, in the house's folder (`HOUSE`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from services.bus.accounts import (
    GUEST_PAYLOAD_BYTES_MAX,
    GUEST_SUBSCRIPTIONS_MAX,
    GUESTS,
    PLAYERS_MAX,
    SERVICES,
    SYSTEM,
    USERS,
    offers,
)

FOLDER: Final = Path(__file__).parents[2] / "deploy" / "nats"
HOUSE: Final = "/run/croupier/nats"
"""Where a server finds what `croupier credentials house` wrote to FOLDER/nats."""
INCLUDED: Final = "../../../.." + HOUSE
"""The same for `include`, which knows no absolute paths: from a folder up to four deep, where `..` of / is /."""
CALLOUT_S: Final = 0.9
"""So long a server waits for a doorman. Shorter than its first ping: some clients take that one for being let in."""
CONNECTIONS_MAX: Final = PLAYERS_MAX + 2_000
SUBSCRIPTIONS_MAX: Final = 10_000
PENDING_BYTES_MAX: Final = 16 * 1024 * 1024
"""What a connection has not read yet; then it is closed. Four times what a service reads of a log at once."""
NODES: Final = ("nats-0", "nats-1", "nats-2")

_GENERATED: Final = "# Written by `python -m services.access.server_files`: change it there.\n"


def nkey_variable(user: str) -> str:
    """Under which name `keys.conf` holds the public NKey of a service."""
    return f"{user.upper()}_NKEY"


KEYS: Final = (*map(nkey_variable, SERVICES), "CALLOUT_ISSUER", "CALLOUT_XKEY")
"""What `keys.conf` says: no more and no less, for a server takes a name that is not used for a mistake."""


def files() -> Mapping[str, str]:
    """Every file of `deploy/nats`, by its name."""
    return {"accounts.conf": _accounts(), "server.conf": _server(), "cluster.conf": _cluster()}


def _accounts() -> str:
    lines = [
        _GENERATED + "# Who may do what. An account can do what it imports, and nothing else: STORE owns the streams,",
        "# and no other account has JetStream. Services come in with an NKey each; operators and lobbies with the ones",
        "# in operators.conf and lobbies.conf; players with a credential that the doorman checks.",
        f'include "{INCLUDED}/keys.conf"',
        "",
        "authorization {",
        f"  timeout: {CALLOUT_S}",
        "  auth_callout {",
        "    issuer: $CALLOUT_ISSUER",
        "    xkey: $CALLOUT_XKEY",
        "    account: DOORMAN",
        "    # Whoever is known by an NKey of another account comes in without the doorman, also while there is none.",
        f"    allowed_accounts: [ {GUESTS['player']} ]",
        "    # There has to be a name, and a change of it would take a restart: so it is nobody's.",
        "    auth_users: [ nobody ]",
        "  }",
        "}",
        "",
        f"system_account: {SYSTEM}",
        "",
        "accounts {",
    ]
    for account, block in offers().items():
        lines += [f"  {account} {{", *_inside(account, block), "  }"]
    return "\n".join([*lines, "}", ""])


def _inside(account: str, block: Mapping[str, Any]) -> Iterator[str]:
    if "jetstream" in block:
        yield f"    jetstream: {block['jetstream']}"
    if account == GUESTS["player"]:
        yield f"    limits {{ max_connections: {PLAYERS_MAX}, {_GUEST_LIMITS} }}"
    elif account in GUESTS.values():
        yield f"    limits {{ {_GUEST_LIMITS} }}"
        name = "operators" if account == GUESTS["operator"] else "lobbies"
        yield f'    include "{INCLUDED}/{name}.conf"'
    elif account != SYSTEM:
        user = next(user for user in SERVICES if USERS[user] == account)
        yield f"    users: [ {{ nkey: ${nkey_variable(user)} }} ]"
    for name in ("exports", "imports"):
        if block[name]:
            yield f"    {name}: ["
            yield from (f"      {json.dumps(each)}" for each in block[name])
            yield "    ]"


_GUEST_LIMITS: Final = f"max_payload: {GUEST_PAYLOAD_BYTES_MAX}, max_subscriptions: {GUEST_SUBSCRIPTIONS_MAX}"


def _server() -> str:
    return f"""{_GENERATED}# One server, every commit on disk before it is acknowledged: nats-server -c server.conf
server_name: nats-0
{_common()}"""


def _cluster() -> str:
    routes = "\n".join(f"    nats-route://{node}:6222" for node in NODES)
    return f"""{_GENERATED}# One of three servers, each stream on all of them (`croupier streams --replicas 3`).
# The environment says which: SERVER_NAME={NODES[0]} nats-server -c cluster.conf
server_name: $SERVER_NAME
{_common()}
cluster {{
  name: croupier
  listen: 0.0.0.0:6222
  # Clients know all servers by name, as the certificate does, and not by address.
  no_advertise: true
  # Each shows the others the house's certificate; without one of this house's there is no route.
  tls {{
    cert_file: {HOUSE}/server.pem
    key_file: {HOUSE}/server-key.pem
    ca_file: {HOUSE}/ca.pem
    verify: true
    timeout: 5
  }}
  routes: [
{routes}
  ]
}}
"""


def _common() -> str:
    return f"""listen: 0.0.0.0:4222
# For a probe that runs beside the server (/healthz): its pages name every user and subject.
http: 127.0.0.1:8222

# A stopped member of a queue group swallows its share for as long as it is believed alive.
ping_interval: 1s
ping_max: 2
max_payload: 1MB
max_connections: {CONNECTIONS_MAX}
max_subscriptions: {SUBSCRIPTIONS_MAX}
max_pending: {PENDING_BYTES_MAX}
max_control_line: 4KB

tls {{
  cert_file: {HOUSE}/server.pem
  key_file: {HOUSE}/server-key.pem
  min_version: "1.2"
  timeout: 5
  # Ours begin with the handshake, on a slow line too; others wait so long for the first word of the server.
  handshake_first: "900ms"
}}

jetstream {{
  store_dir: /data
  sync_interval: always
  cipher: chachapoly
  include "{INCLUDED}/store.key"
}}

include "./accounts.conf"
"""


def write(folder: Path = FOLDER) -> Sequence[Path]:
    """Writes the files, and tells which."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text)
    return [folder / name for name in files()]


if __name__ == "__main__":
    write()
