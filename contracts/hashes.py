"""The hash under which a card is published before it is dealt, and which anyone can compute again (R31)."""

from hashlib import sha256
from typing import Final

from contracts.cards import Card, DealtCard, Position
from contracts.data import Hex, Id, Sha256

CARD_DOMAIN: Final = "croupier-card-v1"
"""Keeps this hash apart from every other use of SHA-256."""


def card_hash(table: Id, hand: int, position: Position, card: Card, salt: Hex) -> Sha256:
    """SHA-256 of the ASCII text `croupier-card-v1|<table>|<hand>|<position>|<card>|<salt>`, in hexadecimal.

    Numbers are decimal without leading zeros, the salt is lower-case hexadecimal, nothing follows it. The eighteenth
    card of a hand: `croupier-card-v1|T1|42|17|As|00112233445566778899aabbccddeeff`.
    """
    return sha256(f"{CARD_DOMAIN}|{table}|{hand}|{position}|{card}|{salt}".encode()).hexdigest()


def is_published(hashes: tuple[Sha256, ...], table: Id, hand: int, dealt: DealtCard) -> bool:
    """Whether a card laid open is the one that was published for its position before the deal."""
    return (
        dealt.position < len(hashes)
        and card_hash(table, hand, dealt.position, dealt.card, dealt.salt) == hashes[dealt.position]
    )
