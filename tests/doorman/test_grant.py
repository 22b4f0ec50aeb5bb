"""Who comes in, until when, and why not: from the credential and the time alone."""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.nkeys import public_of, seed_of, sign
from services.access.tokens import Claims, read, signed, unproven
from services.doorman.answer import answer
from services.doorman.disconnecting import newly
from services.doorman.grant import Fault, Grant, Refusal, grant
from services.doorman.question import ClientInfo, ConnectOptions, NoQuestion, Question, ServerId, asked

ISSUER, OTHER, CALLOUT = (seed_of("account", bytes([n]) * 32) for n in (1, 2, 3))
PLAYER, THIEF = (seed_of("user", bytes([n]) * 32) for n in (4, 5))
NONCE = "t4Rw3-MJ2LOVDMc"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECOND = int(NOW.timestamp())
CREDENTIAL = Claims(
    sub=public_of("user", PLAYER), name="P7", iat=SECOND - 60, exp=SECOND + 60, nats={"type": "user", "version": 2}
)


def question(token: str, signature: bytes | str = b"", nonce: str = NONCE) -> Question:
    """What a server asks about somebody who shows this."""
    sig = signature if isinstance(signature, str) else base64.b64encode(signature).decode()
    return Question(
        ServerId("NSERVER"), "UCONNECTION", ClientInfo(nonce=nonce), ConnectOptions(auth_token=token, sig=sig)
    )


def shown(token: str, by: str = PLAYER) -> Question:
    """The same, with the nonce signed by the owner of a seed."""
    return question(token, sign("user", by, NONCE.encode()))


def found(
    asked: Question, revoked: Mapping[str, int] | None = None, at: datetime = NOW, issuer: str = ISSUER
) -> Grant | Refusal:
    return grant(asked, [public_of("account", issuer)], revoked or {}, at)


def credential(**changes: Any) -> str:
    """A good credential with claims changed."""
    return signed(
        Claims(**{name: getattr(CREDENTIAL, name) for name in CREDENTIAL.__struct_fields__} | changes), ISSUER
    )


def fault(told: Grant | Refusal) -> Fault | None:
    return told.fault if isinstance(told, Refusal) else None


def test_a_credential_with_its_key_lets_the_player_in_until_it_ends() -> None:
    assert found(shown(credential())) == Grant("P7", NOW + timedelta(seconds=60))


def test_clients_write_signatures_in_either_alphabet() -> None:
    signature = sign("user", PLAYER, NONCE.encode())
    for written in (base64.b64encode(signature), base64.urlsafe_b64encode(signature).rstrip(b"=")):
        assert isinstance(found(question(credential(), written.decode())), Grant)


@pytest.mark.parametrize(
    ("seconds", "told"), [(-121, "not_yet"), (-61, None), (59, None), (60, "expired"), (10**6, "expired")]
)
def test_a_credential_holds_from_its_beginning_to_its_end(seconds: int, told: Fault | None) -> None:
    token = credential(nbf=SECOND - 120)
    assert fault(found(shown(token), at=NOW + timedelta(seconds=seconds))) == told


@pytest.mark.parametrize(("second", "told"), [(SECOND - 61, None), (SECOND - 60, "revoked"), (SECOND, "revoked")])
def test_what_was_issued_up_to_a_revocation_lets_nobody_in(second: int, told: Fault | None) -> None:
    assert fault(found(shown(credential()), {"P7": second})) == told
    assert fault(found(shown(credential()), {"P8": second})) is None


def test_a_token_without_its_key_opens_nothing() -> None:
    token = credential()
    assert fault(found(shown(token, by=THIEF))) == "not_proven"
    assert fault(found(question(token))) == "not_proven"
    assert fault(found(question(token, sign("user", PLAYER, b"another nonce")))) == "not_proven"
    assert fault(found(question(token, "not base64!"))) == "not_proven"
    assert fault(found(question(token, sign("user", PLAYER, b""), nonce=""))) == "not_proven"


def test_only_what_the_houses_issuer_signed_is_a_credential() -> None:
    good = credential()
    head, body, signature = good.split(".")
    forged = [
        signed(CREDENTIAL, OTHER),
        f"{head}.{body}.{signed(CREDENTIAL, OTHER).split('.')[2]}",
        f"{head}.{credential(name='P8').split('.')[1]}.{signature}",
        f"{head}.{body}.",
        f"{head}.{body}",
        base64.urlsafe_b64encode(b'{"typ":"JWT","alg":"none"}').rstrip(b"=").decode() + f".{body}.{signature}",
        credential(exp=0),
        credential(name=""),
        credential(name="P7.>"),
        credential(name="*"),
        credential(sub="not a key", nats={"type": "account"}),
        credential(nats={}),
        "nonsense",
        "a.b.c",
        "\ud800",
    ]
    assert [fault(found(shown(token))) for token in forged] == ["bad_credential"] * len(forged)
    assert fault(found(shown(""))) == "no_credential"


def test_a_key_that_is_none_proves_nothing() -> None:
    assert fault(found(shown(credential(sub="not a key")))) == "not_proven"
    assert fault(found(shown(credential(sub=public_of("account", ISSUER))))) == "not_proven"


@given(st.text(), st.text(), st.text())
def test_whatever_is_shown_is_refused_and_nothing_breaks(token: str, signature: str, nonce: str) -> None:
    assert isinstance(found(question(token, signature, nonce)), Refusal)


def test_the_answer_gives_a_player_what_is_the_players_own_and_nothing_else() -> None:
    asked_about = shown(credential())
    whole = read(answer(asked_about, found(asked_about), CALLOUT, NOW).decode(), [public_of("account", CALLOUT)])
    assert (whole.sub, whole.aud, whole.nats["type"]) == ("UCONNECTION", "NSERVER", "authorization_response")
    user = read(whole.nats["jwt"], [public_of("account", CALLOUT)])
    assert (user.sub, user.aud, user.name, user.exp) == ("UCONNECTION", "PLAYERS", "P7", CREDENTIAL.exp)
    assert user.nats["pub"] == {"allow": ["command.*.*.player.P7", "query.*.*.*.player.P7"]}
    assert set(user.nats["sub"]["allow"]) == {"view.*.*.public", "view.*.*.player.P7", "account.P7", "_INBOX.P7.>"}
    assert set(user.nats) == {"pub", "sub", "subs", "data", "payload", "type", "version"}


def test_a_refusal_names_its_code_and_lets_nobody_in() -> None:
    asked_about = shown("nonsense")
    whole = unproven(answer(asked_about, found(asked_about), CALLOUT, NOW).decode())
    assert whole.nats == {"error": "bad_credential", "type": "authorization_response", "version": 2}


@pytest.mark.parametrize("text", ["", "a.b.c", credential(), signed(Claims(sub="x"), ISSUER)])
def test_what_is_no_question_is_told(text: str) -> None:
    with pytest.raises(NoQuestion):
        asked(text)


def test_who_was_revoked_is_sent_away_once() -> None:
    """A doorman who comes later ends only what began before: since then the player may have a new credential."""
    assert list(newly(None, {"P7": 10})) == [("P7", 10)]
    assert list(newly({"P7": 10}, {"P7": 10})) == []
    assert list(newly({"P7": 10}, {"P7": 11, "P8": 3})) == [("P7", None), ("P8", None)]
    assert list(newly({"P7": 10}, {})) == []
