"""Points of a deal and the end of a match (docs/rules.md, scoring and match end)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from referee.engine.actions import Verb
from referee.engine.cards import JOKER, Card, Cards, cards_of
from referee.engine.ruleset import RuleSet
from referee.engine.state import DealTermination, Out, State

MAX_DEALS: Final = 200
"""After this deal a match is over whatever the totals say."""
_RANK_POINTS: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)


@dataclass(frozen=True, slots=True)
class DealScore:
    """What a deal is worth."""

    termination: DealTermination | None
    """None while it is being played."""
    winner: int | None
    by: Verb | None
    """How the winner went out; None if nobody did."""
    rummy: bool
    """The winner went rummy, whatever the multiplier makes of it."""
    points: tuple[int, ...]
    """What each seat adds to its total."""
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchStanding:
    """Where a match stands after a deal."""

    over: bool
    out: Out
    """Seats eliminated so far, first out first."""
    places: tuple[int, ...] | None
    """1 + number of seats strictly better, by seat; None while the match goes on."""
    next_dealer: int | None
    """None when the match is over."""
    capped: bool = False
    """The match ended because no further deal is allowed."""


def card_points(rules: RuleSet, card: Card) -> int:
    """Points of one card left in hand."""
    if card == JOKER or (card % 13 == 1 and rules.has_wild_deuces):
        return 15
    return rules.ace_points if card % 13 == 0 else _RANK_POINTS[card % 13]


def hand_points(rules: RuleSet, hand: Cards) -> int:
    """Points of all cards of a hand."""
    return sum(card_points(rules, card) for card in cards_of(hand))


def is_rummy(state: State) -> bool:
    """Whether the seat that went out went rummy."""
    if state.winner is None or state.played[state.winner]:
        return False
    return not state.rules.rummy_requires_final_discard or state.by is Verb.DISCARD


def score(state: State) -> DealScore:
    """Score a deal. While it is being played nobody has won and nobody has scored."""
    rules = state.rules
    if state.ended is None:
        nothing = (0,) * state.seats
        return DealScore(None, None, None, rummy=False, points=nothing, totals=state.totals)
    worth = [hand_points(rules, hand) for hand in state.hands]
    winner, rummy = state.winner, is_rummy(state)
    shared: list[int] = []
    if state.ended is not DealTermination.WENT_OUT and _result(state) == "lowest_hand":
        lowest = min(worth[seat] for seat in state.seats_in())
        shared = [seat for seat in state.seats_in() if worth[seat] == lowest]
        winner = shared[0] if len(shared) == 1 else None
    points = [0] * state.seats
    if rules.scoring == "winner_takes_all":
        if winner is not None:
            points[winner] = (sum(worth) - worth[winner]) * (rules.rummy_multiplier if rummy else 1)
    elif winner is not None or shared:
        points = [
            0 if seat == winner or seat in shared else worth[seat] for seat in range(state.seats)
        ]
    totals = tuple(total + more for total, more in zip(state.totals, points, strict=True))
    return DealScore(state.ended, winner, state.by, rummy, tuple(points), totals)


def _result(state: State) -> str:
    if state.ended is DealTermination.TURN_CAP:
        return state.rules.cap_result
    return state.rules.exhausted_result


def standing(state: State) -> MatchStanding:
    """Where the match stands after a deal; while one is played, nobody knows who deals next."""
    if state.ended is None:
        return MatchStanding(over=False, out=state.out, places=None, next_dealer=None)
    rules, totals = state.rules, score(state).totals
    out, over = _ENDS[rules.match_end](state, totals)
    capped = not over and state.deal >= MAX_DEALS
    if over or capped:
        return MatchStanding(
            over=True,
            out=out,
            places=_places(rules, totals, out),
            next_dealer=None,
            capped=capped,
        )
    gone = {seat for group in out for seat in group}
    dealer = (state.dealer + 1) % state.seats
    while dealer in gone:
        dealer = (dealer + 1) % state.seats
    return MatchStanding(over=False, out=out, places=None, next_dealer=dealer)


def _target(state: State, totals: Sequence[int]) -> tuple[Out, bool]:
    best = max(totals)
    return state.out, best >= state.rules.target and totals.count(best) == 1


def _first_over(state: State, totals: Sequence[int]) -> tuple[Out, bool]:
    over = max(totals) > state.rules.ceiling
    return state.out, over and totals.count(min(totals)) == 1


def _fixed_deals(state: State, _totals: Sequence[int]) -> tuple[Out, bool]:
    return state.out, state.deal >= state.rules.deals


def _elimination(state: State, totals: Sequence[int]) -> tuple[Out, bool]:
    """Seats over the ceiling drop out; if all would, the lowest among them stay."""
    still_in = state.seats_in()
    staying = [seat for seat in still_in if totals[seat] <= state.rules.ceiling]
    if not staying:
        lowest = min(totals[seat] for seat in still_in)
        staying = [seat for seat in still_in if totals[seat] == lowest]
    leaving = [seat for seat in still_in if seat not in staying]
    groups = [
        tuple(seat for seat in leaving if totals[seat] == total)
        for total in sorted({totals[seat] for seat in leaving}, reverse=True)
    ]
    return (*state.out, *groups), len(staying) == 1


_ENDS: Final[dict[str, Callable[[State, Sequence[int]], tuple[Out, bool]]]] = {
    "target": _target,
    "first_over_lowest_wins": _first_over,
    "fixed_deals": _fixed_deals,
    "elimination": _elimination,
}


def _places(rules: RuleSet, totals: Sequence[int], out: Out) -> tuple[int, ...]:
    """Places by elimination first, then by total; equal seats share."""
    dropped = {seat: order for order, group in enumerate(out) for seat in group}
    sign = -1 if rules.scoring == "penalty" else 1

    def merit(seat: int) -> tuple[int, int]:
        if seat in dropped:
            return dropped[seat] - len(out), 0
        return 0, sign * totals[seat]

    return places_by_merit([merit(seat) for seat in range(len(totals))])


def places_by_merit(merits: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """1 + number of strictly better, for each (1 1 3 when two share the first)."""
    known = list(merits)
    return tuple(1 + sum(other > merit for other in known) for merit in known)
