"""What cannot be meant is refused in a sentence: nothing is rounded, passed over or half done."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cyclopts import App

from services.access.house import House
from services.command_line.commands import app, run
from services.command_line.numbers import of_tokens
from services.command_line.overview import SUMMARIES
from tests.golden.logs import HERE

LOG, LEDGER = HERE / "v2" / "nlhe.jsonl", HERE / "ledgers" / "v2" / "real-USD.jsonl"
NO_SERVER = "nats://127.0.0.1:1"

type Croupier = Callable[..., tuple[int, str, str]]


@pytest.fixture
def croupier(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Croupier:
    """Runs a command in an empty folder: exit code, and what it printed."""
    monkeypatch.chdir(tmp_path)

    def called(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(list(map(str, arguments)))
        return code, *capsys.readouterr()

    return called


def commands(of: App) -> Iterator[App]:
    """Every command, and those that stand under another one."""
    for name in of:
        if not name.startswith("-"):
            yield of[name]
            yield from commands(of[name])


def test_no_command_rounds_a_number() -> None:
    """Cyclopts takes 1.5 for 2, 0x10 for 16 and 1e3 for 1000: the number of another hand, or of another port."""
    assert set(SUMMARIES) <= set(app)
    rounding = [
        f"{' '.join(each.name)} {argument.name}"
        for each in commands(app)
        if each.default_command is not None
        for argument in each.assemble_argument_collection()
        if argument.hint is int and argument.parameter.converter is not of_tokens
    ]
    assert rounding == []


ADDRESSES = ("nats://127.0.0.1:99999", "nats://[::1", "http://127.0.0.1:4222", "foo bar", "", "nats://", "nats://x:0")
WHAT_IS_AN_ADDRESS = "is no address of a server: nats://HOST:PORT is"


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("command", [("tables",), ("pause", "T1"), ("streams",), ("serve", "all"), ("bots",)])
def test_what_is_no_address_of_a_server_is_never_tried(
    croupier: Croupier, tmp_path: Path, command: tuple[str, ...], address: str
) -> None:
    file = tmp_path / "credentials.json"
    file.write_text('{"url": "nats://127.0.0.1:1", "passwords": {"replay": "a", "lobby": "b", "players": "c"}}')
    code, out, err = croupier(*command, "--nats", address, "--credentials", file)
    assert (code in (1, 2), out) == (True, "")
    assert f"{address!r} {WHAT_IS_AN_ADDRESS}" in err


def test_an_address_in_a_file_of_credentials_is_looked_at_too(croupier: Croupier, tmp_path: Path) -> None:
    file = tmp_path / "credentials.json"
    file.write_text('{"url": "nats://127.0.0.1:99999", "passwords": {"replay": "a"}}')
    code, _, err = croupier("tables", "--nats", NO_SERVER, "--credentials", file)
    said = f"{file} does not hold credentials: 'nats://127.0.0.1:99999' {WHAT_IS_AN_ADDRESS}"
    assert (code, said in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--ledger", "play-EUR", "--file", LEDGER), f"{LEDGER} is not the log of ledger play-EUR, but of real-USD"),
        (("--ledger", "real-USD", "--file", LOG), f"{LOG} is not the log of ledger real-USD, but of table nlhe-1"),
        (("nlhe", "--file", LEDGER), f"{LEDGER} is the log of ledger real-USD: it has no TABLE"),
        (("nlhe", "3", "--file", LEDGER), f"{LEDGER} is the log of ledger real-USD: it has no TABLE"),
        (("--hand-keys", "keys.json", "--file", LEDGER), f"{LEDGER} is the log of ledger real-USD: it has no TABLE"),
        (("--room", "a b", "--file", LEDGER), "--room 'a b' is no name of a room"),
        (("nlhe", "--ledger", "real-USD"), "--ledger has a ledger verified instead of tables"),
        (("--hand-keys", "keys.json", "--ledger", "real-USD"), "--ledger has a ledger verified instead of tables"),
    ],
)
def test_nothing_else_is_verified_than_what_is_named(
    croupier: Croupier, arguments: tuple[object, ...], said: str
) -> None:
    """It ended with 0, and was about something else."""
    code, out, err = croupier("verify", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"croupier: {said}")


def test_a_table_that_is_in_none_of_the_files_has_no_rake(croupier: Croupier) -> None:
    assert croupier("rake", LOG, "--table", "T9") == (
        *(2, ""),
        "croupier: none of the files is the log of table T9\n",
    )


@pytest.mark.parametrize("option", [("--new-log",), ("--port", "4222"), ("--lazy-sync",)])
def test_a_server_of_ones_own_is_not_told_anything_where_there_is_none(
    croupier: Croupier, option: tuple[str, ...]
) -> None:
    """`--new-log` was taken, and nothing was done."""
    code, _, err = croupier("serve", "all", "--nats", NO_SERVER, *option)
    assert (code, "`croupier streams --new-log`" in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--over", "TABLES"), "--over goes with --new-log"),
        (("--new-log", "--over", "TABELS"), "--over names a stream, one of TABLES, HEADS, REFUSALS, LEDGER"),
    ],
)
def test_only_a_stream_is_created_over_what_lies_there(
    croupier: Croupier, arguments: tuple[str, ...], said: str
) -> None:
    code, _, err = croupier("streams", *arguments)
    assert (code, err.startswith(f"croupier: {said}")) == (2, True)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--replicas", "7"), "replicas must be from 1 to 5, not 7"),
        (("--replicas", "0"), "replicas must be from 1 to 5, not 0"),
    ],
)
def test_a_stream_lies_on_so_many_servers_as_there_can_be(
    croupier: Croupier, option: tuple[str, ...], said: str
) -> None:
    code, _, err = croupier("streams", *option)
    assert (code, said in err) == (1, True)


@pytest.mark.parametrize("option", ["--port", "--http"])
def test_a_port_that_there_is_not_is_not_listened_on(croupier: Croupier, option: str) -> None:
    code, _, err = croupier("serve", "all", option, "99999")
    assert (code, "port must be from 1 to 65535, not 99999" in err) == (1, True)


@pytest.mark.parametrize("command", [("rake",), ("reconcile",), ("verify", "--file")])
def test_a_folder_is_named_that_stands_in_the_place_of_a_log(croupier: Croupier, command: tuple[str, ...]) -> None:
    Path("folder").mkdir()
    assert croupier(*command, "folder") == (2, "", "croupier: folder: Is a directory\n")
    assert croupier(*command, "nothing") == (2, "", "croupier: nothing: No such file or directory\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("house", "new", "--host", ""), "'' is no name of a host: letters, digits"),
        (("house", "new", "--host", "a b"), "'a b' is no name of a host: letters, digits"),
        (("house", "new", "--host", "x/y"), "'x/y' is no name of a host: letters, digits"),
        (("house", "new", "--url", "tls://nats:99999"), f"'tls://nats:99999' {WHAT_IS_AN_ADDRESS}"),
        (("certificate", "--house", "house", "--host", "x/y"), "'x/y' is no name of a host: letters, digits"),
        (("player", "P7", "--house", "house", "--days", "1e-9"), "--days 1e-09 ends at once"),
        (("operator", "replay", "--house", "house"), "replay is a service of every house"),
        (("lobby", "table", "--house", "house"), "table is a service of every house"),
    ],
)
def test_no_credential_or_certificate_is_made_that_nobody_can_use(
    croupier: Croupier, arguments: tuple[str, ...], said: str
) -> None:
    croupier("credentials", "house", "house")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    code, out, err = croupier("credentials", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"croupier: {said}")
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    assert not House(Path("new")).folder.exists()
