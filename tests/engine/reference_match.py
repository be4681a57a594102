"""Scores of a deal and the end of a match, for the brute-force reference (docs/rules.md 5 and 6).

It imports the standard library and its sister modules only, never the engine.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.engine.reference_cards import DEUCES, JOKER
from tests.engine.reference_rules import Rules

DEALS_CAP = 200
# Seats eliminated, first out first; seats that share a place stand together.
OutGroups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class DealResult:
    """How a deal ended, `points` being what each seat adds to its total (docs/rules.md 5)."""

    ended: str
    winner: int | None
    by: str | None
    rummy: bool
    points: tuple[int, ...]
    totals: tuple[int, ...]


@dataclass(frozen=True)
class MatchResult:
    """Where a match stands after a deal; `places` only once it is over (docs/rules.md 6)."""

    over: bool
    places: tuple[int, ...] | None
    totals: tuple[int, ...]
    next_dealer: int | None
    out: OutGroups


def card_points(face: str, rules: Rules) -> int:
    """Return the points of a card left in hand (docs/rules.md 5; wild deuces: docs/rules.md 3)."""
    if face == JOKER or (face in DEUCES and face in rules.wild_faces()):
        return 15
    if face[0] == "A":
        return rules.ace_points
    return 10 if face[0] in "TJQK" else int(face[0])


def hand_points(hand: Counter[str], rules: Rules) -> int:
    """Return the points of a hand (docs/rules.md 5)."""
    return sum(card_points(face, rules) for face in hand.elements())


def won_points(winner: int, hands: Sequence[int], factor: int, rules: Rules) -> list[int]:
    """Return what each seat adds when one has won; `hands` are hand totals (docs/rules.md 5)."""
    others = [0 if seat == winner else points for seat, points in enumerate(hands)]
    if rules.scoring == "penalty":
        return others
    return [sum(others) * factor if seat == winner else 0 for seat in range(len(hands))]


def lowest_hand_points(
    seats_in: Sequence[int], hands: Sequence[int], rules: Rules
) -> tuple[int | None, list[int]]:
    """Return the winner, if just one, and the points under `lowest_hand` (docs/rules.md 5)."""
    lowest = min(hands[seat] for seat in seats_in)
    tied = [seat for seat in seats_in if hands[seat] == lowest]
    if len(tied) == 1:
        return tied[0], won_points(tied[0], hands, 1, rules)
    if rules.scoring == "winner_takes_all":
        return None, [0] * len(hands)
    return None, [0 if seat in tied else points for seat, points in enumerate(hands)]


def after_deal(
    rules: Rules, deal: int, dealer: int, out: OutGroups, totals: Sequence[int]
) -> MatchResult:
    """Decide after deal number `deal` whether the match is over (docs/rules.md 6)."""
    judge: Callable[[Rules, int, OutGroups, Sequence[int]], tuple[bool, list[int], OutGroups]]
    judge = _elimination if rules.match_end == "elimination" else _by_totals
    over, places, out_now = judge(rules, deal, out, totals)
    if over:
        return MatchResult(True, tuple(places), tuple(totals), None, out_now)
    gone = {seat for group in out_now for seat in group}
    seat = (dealer + 1) % len(totals)
    while seat in gone:
        seat = (seat + 1) % len(totals)
    return MatchResult(False, None, tuple(totals), seat, out_now)


def _by_totals(
    rules: Rules, deal: int, out: OutGroups, totals: Sequence[int]
) -> tuple[bool, list[int], OutGroups]:
    penalty = rules.scoring == "penalty"
    best = min(totals) if penalty else max(totals)
    alone = list(totals).count(best) == 1
    if rules.match_end == "fixed_deals":
        assert rules.deals is not None
        over = deal >= rules.deals
    elif rules.match_end == "target":
        assert rules.target is not None
        over = max(totals) >= rules.target and alone
    else:
        assert rules.ceiling is not None
        over = max(totals) > rules.ceiling and alone
    places = []
    for total in totals:
        better = [one for one in totals if (one < total if penalty else one > total)]
        places.append(1 + len(better))
    return over or deal >= DEALS_CAP, places, out


def _elimination(
    rules: Rules, deal: int, out: OutGroups, totals: Sequence[int]
) -> tuple[bool, list[int], OutGroups]:
    assert rules.ceiling is not None
    gone = {seat for group in out for seat in group}
    still_in = [seat for seat in range(len(totals)) if seat not in gone]
    stay = [seat for seat in still_in if totals[seat] <= rules.ceiling]
    if not stay:
        lowest = min(totals[seat] for seat in still_in)
        stay = [seat for seat in still_in if totals[seat] == lowest]
    leave = [seat for seat in still_in if seat not in stay]
    by_total = sorted({totals[seat] for seat in leave}, reverse=True)
    new = [tuple(seat for seat in leave if totals[seat] == total) for total in by_total]
    out_now = (*out, *new)
    over = len(stay) == 1 or deal >= DEALS_CAP
    # Best first: those still in by total, then the groups that went out, last out first.
    in_order = [
        tuple(seat for seat in stay if totals[seat] == total)
        for total in sorted({totals[seat] for seat in stay})
    ]
    places = [0] * len(totals)
    place = 1
    for group in (*in_order, *reversed(out_now)):
        for seat in group:
            places[seat] = place
        place += len(group)
    return over, places, out_now
