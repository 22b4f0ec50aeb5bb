"""Keys, tokens and sealed messages are those of NATS: what its own library makes we read, and the other way round."""

import nkeys as nats_nkeys
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.creds import Creds, NoCreds
from services.access.nkeys import Kind, NoKey, has_signed, public_of, raw_of, secret_of, seed_of, sign, written
from services.access.sealing import NONCE_BYTES, CannotOpen, Sealer
from services.access.tokens import Claims, NoToken, read, signed

PREFIXES = {"user": nats_nkeys.PREFIX_BYTE_USER, "account": nats_nkeys.PREFIX_BYTE_ACCOUNT}
SECRETS = st.binary(min_size=32, max_size=32)
OWNERS = st.sampled_from(["user", "account"])
NONCE = bytes(range(NONCE_BYTES))


@given(SECRETS, OWNERS, st.binary())
def test_keys_are_those_of_nats(secret: bytes, kind: Kind, text: bytes) -> None:
    assert kind != "curve"
    seed = seed_of(kind, secret)
    assert seed == nats_nkeys.encode_seed(secret, PREFIXES[kind]).decode()
    pair = nats_nkeys.from_seed(bytearray(seed.encode()))
    public = public_of(kind, seed)
    assert public == pair.public_key.decode()
    assert sign(kind, seed, text) == pair.sign(text)
    assert has_signed(kind, public, text, pair.sign(text))
    assert not has_signed(kind, public, text + b"x", pair.sign(text))


@given(SECRETS, st.sampled_from(["user", "account", "curve"]))
def test_a_key_is_read_as_what_it_is_and_nothing_else(secret: bytes, kind: Kind) -> None:
    assert secret_of(kind, seed_of(kind, secret)) == secret
    assert raw_of(kind, written(kind, secret)) == secret
    others: list[Kind] = [other for other in ("user", "account", "curve") if other != kind]
    for other in others:
        with pytest.raises(NoKey):
            secret_of(other, seed_of(kind, secret))
        with pytest.raises(NoKey):
            raw_of(other, written(kind, secret))


@given(st.text(max_size=80))
def test_what_is_no_key_is_said_and_never_shown(text: str) -> None:
    for kind in ("user", "account", "curve"):
        for reading in (secret_of, raw_of):
            with pytest.raises(NoKey) as said:
                reading(kind, text)
            assert len(text) < 4 or text not in str(said.value)


def test_a_key_with_one_letter_changed_is_none() -> None:
    seed = seed_of("user", bytes(32))
    for place in range(len(seed)):
        other = "A" if seed[place] != "A" else "B"
        with pytest.raises(NoKey):
            secret_of("user", seed[:place] + other + seed[place + 1 :])


@given(st.text(), st.integers(min_value=0, max_value=2**40), st.dictionaries(st.text(), st.text()))
def test_a_token_says_what_was_signed(name: str, exp: int, nats: dict[str, str]) -> None:
    seed = seed_of("account", bytes(32))
    claims = read(signed(Claims(sub="U", name=name, exp=exp, nats=nats), seed), [public_of("account", seed)])
    assert (claims.sub, claims.name, claims.exp, claims.nats) == ("U", name, exp, nats)
    assert claims.jti


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=255))
def test_a_token_that_was_changed_anywhere_is_none(place: int, change: int) -> None:
    seed = seed_of("account", bytes(32))
    token = bytearray(signed(Claims(sub="U", name="P7", exp=1), seed).encode())
    token[place % len(token)] ^= change
    changed = token.decode("latin-1")
    try:
        claims = read(changed, [public_of("account", seed)])
    except NoToken:
        return
    assert (claims.sub, claims.name, claims.exp) == ("U", "P7", 1)  # the last letter of base64 has bits to spare


@given(st.binary(max_size=3000))
def test_what_is_sealed_only_the_other_side_opens(text: bytes) -> None:
    ours, theirs, third = (Sealer(seed_of("curve", bytes([n]) * 32)) for n in (1, 2, 3))
    sealed = ours.sealed(text, theirs.public, NONCE)
    assert sealed.startswith(b"xkv1")
    assert theirs.opened(sealed, ours.public) == text
    for who, by in ((third, ours.public), (theirs, third.public)):
        with pytest.raises(CannotOpen):
            who.opened(sealed, by)
    for broken in (sealed[:-1], sealed[4:], b"xkv1", sealed[:-1] + bytes([sealed[-1] ^ 1])):
        with pytest.raises(CannotOpen):
            theirs.opened(broken, ours.public)


def test_a_credential_is_read_as_it_was_written() -> None:
    creds = Creds("eyJ0.eyJ9.c2ln", seed_of("user", bytes(32)))
    assert Creds.read(creds.written()) == creds
    assert Creds.read(creds.written().replace("\n", "\r\n")) == creds
    for text in ("", creds.token, creds.written().split("****")[0]):
        with pytest.raises(NoCreds):
            Creds.read(text)
