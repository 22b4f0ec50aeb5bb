"""Compares who came to the showdown, who showed, and in which order, as far as the source of a hand defines it."""

import re
from typing import Final

from services.conformance.findings import Findings
from services.conformance.outcome import Outcome
from services.conformance.recorded import Recorded

CHRONOLOGICAL: Final = re.compile(r"PokerStars|/Stars/|/pluribus/")
"""Sources that write down the showdown as it went; others list by seat, or the winner first."""


def compare_showdown(findings: Findings, hand: Recorded, got: Outcome) -> None:
    """Compares what every record defines: the contenders, and that whoever wins at the showdown has shown.

    Not compared is which losers showed, where they may muck: that was each player's choice. A winner without showdown
    may show too; here nobody has to.
    """
    if len(got.contenders) == 1:
        findings.compare("shown without a showdown", [], [*got.shown, *got.mucked])
        return
    findings.compare("hands at the showdown", sorted(got.contenders), sorted([*got.shown, *got.mucked]))
    listed = {*hand.shown, *hand.mucked}
    findings.compare("recorded at the showdown", [], sorted(listed - set(got.contenders)))
    findings.compare("winners that did not show", [], sorted(set(got.payouts) - set(got.shown) - _uncontested(got)))
    if CHRONOLOGICAL.search(hand.source) is not None:
        _compare_order(findings, hand, got)


def _compare_order(findings: Findings, hand: Recorded, got: Outcome) -> None:
    """After betting on the river the hands come in one order (R81 to R83), and none is mucked that has to be shown.

    Hands tabled before the board is complete are all seen at once: every room lists them as it likes.
    """
    if got.closed is None or got.closed.street != "river":
        return
    showing = [seat for seat in got.closed.showing if seat in hand.shown]
    findings.compare("order of showing", list(hand.shown), showing)
    if not got.closed.all_show:
        findings.compare("recorded as mucked, shown here", [], [seat for seat in hand.mucked if seat in got.shown])


def _uncontested(got: Outcome) -> set[int]:
    """Who won a pot that nobody else contested: there is nothing to show for it (R78)."""
    pots = got.awards.pots if got.awards is not None else ()
    return {share.seat for pot in pots if pot.uncontested for share in pot.high.shares}
