"""Compares the end of a recorded hand: chips, pots, rake, cards, and who came to the showdown."""

from services.conformance.findings import Findings
from services.conformance.outcome import Outcome
from services.conformance.recorded import Recorded
from services.conformance.showdown import compare_showdown


def compare_results(findings: Findings, hand: Recorded, got: Outcome, overbet: int) -> None:
    """Compares everything that the record states; `overbet`: chips of a wager that was not even offered here (R148)."""
    findings.compare("uncalled bet", _uncalled(hand, overbet), got.uncalled)
    if hand.total_pot is not None:
        findings.compare("total pot", hand.total_pot, sum(_pots(got)))
    if hand.rake is not None:
        findings.compare("rake", hand.rake, got.rake.total if got.rake is not None else None)
    findings.compare("payouts", _paid(hand.payouts or {}), dict(sorted(got.payouts.items())))
    if hand.finishing is not None:
        findings.compare(
            "finishing stacks", dict(sorted(hand.finishing.items())), dict(sorted((got.stacks or {}).items()))
        )
    findings.compare("board", list(hand.board), got.board)
    _compare_pots(findings, hand, got)
    compare_showdown(findings, hand, got)
    _compare_expected(findings, hand, got)


def _paid(payouts: dict[int, int]) -> dict[int, int]:
    return {seat: amount for seat, amount in sorted(payouts.items()) if amount}


def _uncalled(hand: Recorded, overbet: int) -> dict[int, int]:
    if hand.uncalled is None or hand.uncalled.amount == overbet:
        return {}
    return {hand.uncalled.seat: hand.uncalled.amount - overbet}


def _pots(got: Outcome) -> list[int]:
    return [pot.amount for pot in got.closed.pots] if got.closed is not None else []


def _compare_pots(findings: Findings, hand: Recorded, got: Outcome) -> None:
    """The pots that the source prints: most before rake, PokerStars after it.

    Pots after rake say how it was rounded, which only the payouts define: where two pots go to one player, a unit more
    or less of either is the same. So each may be one unit off, and their sum may not.
    """
    if hand.pots is None:
        return
    before = _pots(got)
    rakes = got.rake.per_pot if got.rake is not None else (0,) * len(before)
    after = [pot - rake for pot, rake in zip(before, rakes, strict=True)]
    printed_after_rake = (
        len(after) == len(hand.pots)
        and sum(after) == sum(hand.pots)
        and all(abs(ours - printed) <= 1 for ours, printed in zip(after, hand.pots, strict=True))
    )
    if not printed_after_rake:
        findings.compare("pots", list(hand.pots), before)


def _compare_expected(findings: Findings, hand: Recorded, got: Outcome) -> None:
    """What a fault case states besides."""
    expect = hand.expect
    if expect is None:
        return
    if expect.payouts is not None:
        findings.compare("expected payouts", _paid(expect.payouts), dict(sorted(got.payouts.items())))
    if expect.uncalled is not None:
        findings.compare("expected uncalled bet", {expect.uncalled.seat: expect.uncalled.amount}, got.uncalled)
    if expect.rake is not None:
        findings.compare("expected rake", expect.rake, got.rake.total if got.rake is not None else None)
    if expect.pots is not None and got.closed is not None:
        expected = [(pot.amount, sorted(pot.seats)) for pot in expect.pots]
        findings.compare("expected pots", expected, [(pot.amount, sorted(pot.seats)) for pot in got.closed.pots])
