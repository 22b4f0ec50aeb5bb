"""`croupier credentials` makes what a house proves itself by, changes nothing that is there, and says what it did."""

import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.access.certificates import ends, hosts_of
from services.access.creds import Creds
from services.access.guests import listed
from services.access.house import House
from services.access.nkeys import public_of
from services.access.revocation import Revoked
from services.access.server_files import KEYS
from services.access.tokens import read
from services.bus.accounts import SERVICES
from services.bus.credentials import Credentials
from services.command_line.commands import run

type Croupier = Callable[..., tuple[int, str, str]]


@pytest.fixture
def croupier(capsys: pytest.CaptureFixture[str]) -> Croupier:
    """Runs `croupier credentials`: exit code, and what it printed."""

    def called(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["credentials", *map(str, arguments)])
        return code, *capsys.readouterr()

    return called


@pytest.fixture
def house(tmp_path: Path, croupier: Croupier) -> House:
    """A house, as the command line makes it."""
    assert croupier("house", tmp_path / "house", "--host", "nats", "--host", "127.0.0.1")[0] == 0
    return House(tmp_path / "house")


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_house_gives_each_service_its_own_identity_and_no_others(house: House) -> None:
    for user in SERVICES:
        credentials = Credentials.read(house.credentials_file(user))
        assert (credentials.users, credentials.url) == ((user,), "tls://nats:4222")
        assert credentials.ca == str(house.folder / user / "ca.pem")
        assert house.keys()[f"{user.upper()}_NKEY"] == public_of("user", credentials.seeds[user])
    assert set(house.keys()) == set(KEYS)
    assert hosts_of(house.certificate_file.read_bytes()) == ("nats", "127.0.0.1")


def test_nobody_else_can_read_what_is_secret(tmp_path: Path, croupier: Croupier) -> None:
    """Also under a mask that would leave everything open."""
    mask = os.umask(0)
    try:
        croupier("house", tmp_path / "house")
        croupier("operator", "ann", "--house", tmp_path / "house")
    finally:
        os.umask(mask)
    for path in [tmp_path / "house", *(tmp_path / "house").rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        known = path.suffix in (".conf", ".pem") and not path.name.endswith("-key.pem")
        assert mode == (0o700 if path.is_dir() else 0o640 if known else 0o600), path


def test_what_is_there_is_never_written_over(house: House, croupier: Croupier) -> None:
    before = content(house.folder)
    code, out, _ = croupier("house", house.folder, "--host", "elsewhere", "--url", "tls://elsewhere:1")
    assert (code, content(house.folder)) == (0, before)
    assert out.splitlines()[0] == "nothing was missing"
    assert "services go to tls://nats:4222" in out
    assert "not for elsewhere: `croupier credentials certificate`" in out


def test_what_was_taken_to_where_it_is_needed_is_not_made_again(house: House, croupier: Croupier) -> None:
    """Else the servers would know another key than the service has."""
    before = content(house.folder)
    taken = [name for name in before if name.startswith(("table/", "doorman/", "issuer/", "ca/"))]
    for name in taken:
        (house.folder / name).unlink()
    for folder in ("table", "doorman", "issuer", "ca"):
        (house.folder / folder).rmdir()
    code, out, _ = croupier("house", house.folder)
    assert code == 0
    assert [line.split(" is not here")[0] for line in out.splitlines() if "is not here" in line] == [
        str(house.folder / name)
        for name in ("table/credentials.json", "doorman/credentials.json", "doorman/callout.json")
    ]
    assert content(house.folder) == {name: text for name, text in before.items() if name not in taken}


def test_a_service_that_the_servers_do_not_know_yet_is_added(house: House, croupier: Croupier) -> None:
    """As after an update that brings a service."""
    before = content(house.folder)
    keys = [f"{name}: {public}\n" for name, public in house.keys().items() if name != "VIEWS_NKEY"]
    house.keys_file.write_text("".join(keys))
    for file in ("credentials.json", "ca.pem"):
        (house.folder / "views" / file).unlink()
    assert croupier("house", house.folder)[0] == 0
    after = content(house.folder)
    assert set(after) == set(before)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"views/credentials.json", "nats/keys.conf"}
    assert set(house.keys()) == set(KEYS)


def test_credentials_of_another_house_are_told(house: House, croupier: Croupier) -> None:
    other = Credentials.read(house.credentials_file("rake"))
    house.credentials_file("rake").unlink()
    Credentials(url=other.url, seeds={"rake": Credentials.read(house.credentials_file("table")).seeds["table"]}).write(
        house.credentials_file("rake")
    )
    code, _, err = croupier("house", house.folder)
    assert (code, "rake/credentials.json is not what" in err) == (2, True)


def test_without_a_file_a_players_credential_is_printed_and_nothing_else(house: House, croupier: Croupier) -> None:
    """Out of a container it comes by the standard output."""
    code, out, err = croupier("player", "P7", "--house", house.folder, "--days", 30)
    assert (code, err) == (0, "")
    assert out == Creds.read(out).written()


def test_a_players_credential_names_the_player_and_ends(house: House, croupier: Croupier, tmp_path: Path) -> None:
    file = tmp_path / "P7.creds"
    assert croupier("player", "P7", "--house", house.folder, "--days", 30, "--to", file)[0] == 0
    creds = Creds.read(file.read_text())
    claims = read(creds.token, [public_of("account", house.issuer_file.read_text())])
    assert (claims.name, claims.sub) == ("P7", public_of("user", creds.seed))
    assert claims.exp - claims.iat == 30 * 86_400
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_players_credential_is_printed_where_no_file_is_named(house: House, croupier: Croupier) -> None:
    code, out, err = croupier("player", "P7", "--house", house.folder, "--days", 1)
    creds = Creds.read(out)
    assert (code, err, out) == (0, "", creds.written())
    assert read(creds.token, [public_of("account", house.issuer_file.read_text())]).name == "P7"


def test_a_newer_credential_takes_the_place_of_the_older_and_of_nothing_else(
    house: House, croupier: Croupier, tmp_path: Path
) -> None:
    file = tmp_path / "P7.creds"
    order = ("player", "P7", "--house", house.folder, "--days", "0.5", "--to", file)
    assert croupier(*order)[0] == 0
    first = file.read_text()
    assert croupier(*order)[0] == 0
    assert file.read_text() != first
    file.write_text("a diary")
    assert croupier(*order) == (2, "", f"croupier: {file} is there, and is no player's credential\n")
    assert file.read_text() == "a diary"


@pytest.mark.parametrize(("kind", "place"), [("operator", "operators"), ("lobby", "lobbies")])
def test_a_guest_is_let_in_once_and_sent_away_for_good(house: House, croupier: Croupier, kind: str, place: str) -> None:
    rights, file = house.nats / f"{place}.conf", house.folder / place / "ann" / "credentials.json"
    assert croupier(kind, "bob", "--house", house.folder)[0] == 0
    assert croupier(kind, "ann", "--house", house.folder)[0] == 0
    before = content(house.folder)
    assert croupier(kind, "ann", "--house", house.folder) == (0, "nothing was missing\n", "")
    assert content(house.folder) == before
    first = Credentials.read(file)
    assert listed(rights.read_text())["ann"] == public_of("user", first.seeds["ann"])
    assert croupier("revoke", kind, "ann", "--house", house.folder)[0] == 0
    assert set(listed(rights.read_text())) == {"bob"}
    assert croupier("revoke", kind, "ann", "--house", house.folder)[::2] == (
        2,
        f"croupier: {rights} knows no {kind} ann; it knows bob\n",
    )
    assert croupier(kind, "ann", "--house", house.folder)[0] == 0
    assert Credentials.read(file).seeds["ann"] != first.seeds["ann"]


def test_a_player_who_was_given_a_credential_here_is_cut_off(house: House, croupier: Croupier, tmp_path: Path) -> None:
    croupier("player", "P7", "--house", house.folder, "--days", 1, "--to", tmp_path / "P7.creds")
    assert croupier("revoke", "player", "P7", "--house", house.folder) == (
        *(0, f"{house.revoked_file}: what P7 has had lets nobody in; doormen know it at once\n"),
        "",
    )


def test_a_name_for_which_no_credential_was_made_here_is_told(house: House, croupier: Croupier) -> None:
    """A typo: who was meant comes in as before. It is revoked all the same: others may make credentials too."""
    croupier("player", "P7", "--house", house.folder, "--days", 1)
    revoke = ("revoke", "player", "P77", "--house", house.folder)
    code, out, err = croupier(*revoke)
    assert (code, out) == (1, f"{house.revoked_file}: what P77 has had lets nobody in; doormen know it at once\n")
    assert f"croupier: no credential of player P77 is known here, by {house.issued_file}" in err
    assert "like it: P7" in err
    assert "--elsewhere" in err
    assert set(Revoked.read(house.revoked_file).players) == {"P77"}
    assert croupier(*revoke, "--elsewhere")[::2] == (0, "")


def test_a_credential_is_made_where_it_cannot_be_noted_and_that_is_told(
    house: House, croupier: Croupier, tmp_path: Path
) -> None:
    house.issued_file.mkdir()
    file = tmp_path / "P7.creds"
    code, _, err = croupier("player", "P7", "--house", house.folder, "--days", 1, "--to", file)
    assert (code, file.exists()) == (0, True)
    assert f"croupier: {house.issued_file} cannot be written" in err
    code, _, err = croupier("revoke", "player", "P7", "--house", house.folder)
    assert (code, f"{house.issued_file} cannot be read" in err) == (1, True)


def test_who_was_revoked_stays_revoked_where_the_list_was_lost_before_the_next(
    house: House, croupier: Croupier
) -> None:
    """A doorman takes the list that it reads for all of it: one with the last name alone would let the first in."""
    croupier("revoke", "player", "P7", "--house", house.folder, "--elsewhere")
    until = Revoked.read(house.revoked_file).players["P7"]
    house.revoked_file.unlink()
    assert croupier("revoke", "player", "P8", "--house", house.folder, "--elsewhere")[0] == 0
    assert Revoked.read(house.revoked_file).players.keys() == {"P7", "P8"}
    assert Revoked.read(house.revoked_file).players["P7"] == until
    house.revoked_copy.unlink()
    assert croupier("revoke", "player", "P9", "--house", house.folder, "--elsewhere")[0] == 0
    assert Revoked.read(house.revoked_copy) == Revoked.read(house.revoked_file)
    assert Revoked.read(house.revoked_copy).players.keys() == {"P7", "P8", "P9"}


@pytest.mark.parametrize("damaged", [b"{", b"\xff", b'{"players": []}'])
def test_a_damaged_list_of_who_is_revoked_is_named_and_left_as_it_is(
    house: House, croupier: Croupier, damaged: bytes
) -> None:
    house.revoked_file.write_bytes(damaged)
    for asked in (("revoke", "player", "P7"), ("player", "P7", "--days", 1)):
        code, out, err = croupier(*asked, "--house", house.folder)
        assert (code, out) == (2, "")
        assert err.startswith(f"croupier: {house.revoked_file} cannot be read: ")
        assert err.endswith("; put it back from the house's backup\n")
    assert house.revoked_file.read_bytes() == damaged


@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_nobody_is_revoked_in_a_folder_that_is_no_house(croupier: Croupier, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("no folder")
    code, out, err = croupier("revoke", "player", "P7", "--house", tmp_path / place)
    assert (code, out) == (2, "")
    assert err == f"croupier: {tmp_path / place} is no house: `croupier credentials house` makes one\n"
    assert not (tmp_path / "nowhere").exists()


def test_a_guest_whose_key_was_taken_away_gets_no_second_one_unsaid(house: House, croupier: Croupier) -> None:
    croupier("operator", "ann", "--house", house.folder)
    (house.folder / "operators" / "ann" / "credentials.json").unlink()
    code, _, err = croupier("operator", "ann", "--house", house.folder)
    assert (code, "revoke ann for a new one" in err) == (2, True)


def test_an_operator_may_read_logs_as_replay_does(house: House, croupier: Croupier) -> None:
    croupier("operator", "ann", "--house", house.folder, "--reads-logs")
    found = Credentials.read(house.folder / "operators" / "ann" / "credentials.json")
    assert found.users == ("ann", "replay")
    assert found.seeds["replay"] == Credentials.read(house.credentials_file("replay")).seeds["replay"]


def test_a_service_gets_a_new_key_that_the_servers_file_knows(house: House, croupier: Croupier) -> None:
    before = house.keys()
    assert croupier("service", "table", "--house", house.folder)[0] == 0
    seed = Credentials.read(house.credentials_file("table")).seeds["table"]
    assert house.keys() == {**before, "TABLE_NKEY": public_of("user", seed)}
    assert croupier("service", "frobnicate", "--house", house.folder)[0] == 2


def test_servers_get_a_new_certificate_for_the_same_or_for_other_hosts(house: House, croupier: Croupier) -> None:
    first = house.certificate_file.read_bytes()
    assert croupier("certificate", "--house", house.folder)[0] == 0
    second = house.certificate_file.read_bytes()
    assert (second != first, hosts_of(second)) == (True, ("nats", "127.0.0.1"))
    assert ends(second) - datetime.now(UTC) > timedelta(days=396)
    assert croupier("certificate", "--house", house.folder, "--host", "nats-0", "--host", "::1")[0] == 0
    assert hosts_of(house.certificate_file.read_bytes()) == ("nats-0", "::1")


def test_without_the_authority_nobody_certifies_a_server(house: House, croupier: Croupier) -> None:
    (house.folder / "ca" / "ca-key.pem").unlink()
    code, _, err = croupier("certificate", "--house", house.folder)
    assert (code, "ca-key.pem is not here" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("player", "P 7", "--house", "HOUSE", "--days", 1, "--to", "x"), "'P 7' is no name"),
        (("operator", "a.b", "--house", "HOUSE"), "'a.b' is no name"),
        (("player", "P7", "--house", "NOWHERE", "--days", 1, "--to", "x"), "issuer.nk is not here"),
        (("operator", "ann", "--house", "NOWHERE"), "is no house: `croupier credentials house` makes one"),
        (("service", "table", "--house", "NOWHERE"), "is no house"),
        (("certificate", "--house", "NOWHERE"), "is no house"),
        (("issuer", "--house", "NOWHERE"), "callout.json: `croupier credentials house` makes it"),
        (("certificate", "--house", "HOUSE", "--host", "näts"), "'näts' is no name of a host"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    house: House, croupier: Croupier, tmp_path: Path, arguments: tuple[object, ...], said: str
) -> None:
    before = content(tmp_path)
    places = {"HOUSE": house.folder, "NOWHERE": tmp_path / "nowhere"}
    code, out, err = croupier(*(places.get(str(each), each) for each in arguments))
    assert (code, out) == (2, "")
    assert said in err
    assert content(tmp_path) == before
