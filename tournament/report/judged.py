"""What was wrong with an answer, and what would have been right: in words for a bot's author.

Made only of what the seat itself knew: its hand, its legal actions, the public table.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from referee.engine.actions import MalformedAction, Verb
from referee.engine.cards import Cards, cards_of, cards_text, count_of, faces_of
from referee.engine.notation import parse_action
from referee.match.clock import SeatClock
from referee.match.hindsight import Answered
from referee.match.policy import Policy
from referee.match.record_lines import DecisionLine

LEGAL_SHOWN: Final = 12
"""Legal actions that are named; of more, the number is told as well."""

_EXPECTED: Final[Mapping[str, str]] = {
    "malformed": "either actions or a legal_action_index, and in each action just the fields that"
    " its type has",
    "plan_too_long": f"at most {Policy().max_plan} actions in one choice",
    "plan_past_turn": "nothing after the end of the turn: the discard, or the action that empties"
    " the hand, comes last",
    "no_upcard": "draw stock: the discard pile is empty",
    "stock_empty": "draw discard: the stock is empty and can't be made anew",
    "meld_limit": "no further meld in this turn",
    "layoff_gate": "a meld of its own before it lays off or swaps",
    "bad_wild": "a meaning for each joker, none for a card that is not wild, and in a new meld at"
    " least two natural cards; a swap only where the rules have it",
    "not_a_meld": "three or more cards: of one rank, in suits as set_suits of the rules allows, or"
    " in sequence in one suit",
    "does_not_fit": "cards that extend just this meld; for a swap, the card that a wild one in it"
    " stands for",
    "same_card": "a discard of another face than the one taken from the discard pile",
    "must_discard": "one card kept for the discard: it must end the deal",
    "strands_turn": "a hand from which the turn can still be ended",
}

_WRONG: Final[Mapping[str, str]] = {
    "malformed": "it could not be read as an answer",
    "bad_index": "the index is outside the legal actions",
    "plan_too_long": "the plan was too long: none of it counted",
    "plan_past_turn": "the plan went on after the end of the turn",
    "time_up": "no answer came in time",
    "wrong_phase": "it was not the time for this kind of action",
    "card_not_in_hand": "the hand does not hold these cards",
    "stock_empty": "there was nothing to draw from the stock",
    "no_upcard": "there was nothing to take from the discard pile",
    "no_such_meld": "no meld on the table has this number",
    "meld_limit": "the rules allow no further meld in this turn",
    "layoff_gate": "the rules ask for an own meld first",
    "bad_wild": "a wild card was used as the rules don't allow",
    "not_a_meld": "the cards are neither a set nor a run",
    "does_not_fit": "the cards don't extend this meld",
    "same_card": "the card was taken from the discard pile in this turn",
    "must_discard": "it would have emptied the hand without a discard",
    "strands_turn": "the turn could not have been ended after it",
}


def wrong(line: DecisionLine) -> str:
    """Say what was wrong with an answer; empty if nothing was."""
    return _WRONG.get(line.rejected, line.rejected)


def sent(line: DecisionLine) -> str:
    """Say what came from the bot, as far as the record has it: the refused action is the last."""
    if line.rejected == "time_up":
        return "nothing in time"
    tried = [line.tried] if line.rejected else []
    return "; ".join([*line.actions, *tried]) or "nothing"


def expected(answered: Answered) -> str:
    """Say what would have been accepted in the place of what was refused; empty if nothing was."""
    line, asked = answered.line, answered.asked
    match line.rejected:
        case "":
            return ""
        case "time_up":
            return _in_time(asked.clock)
        case "bad_index":
            return f"an index 0–{len(asked.legal) - 1}, or a plan"
        case "wrong_phase":
            # Whoever has drawn in this plan already is past the draw.
            if asked.is_draw and not line.actions:
                return "a draw first: draw stock or draw discard"
            return "no second draw: melds, layoffs and swaps, then a discard"
        case "card_not_in_hand":
            return f"cards of the hand: it does not hold {_missing(line.tried, answered.hand)}"
        case "no_such_meld":
            return _melds(answered)
        case reason:
            return _EXPECTED.get(reason, "")


def match_left_us(clock: SeatClock) -> int:
    """Return how much may still be charged in the match."""
    return max(0, 1_000 * clock.control.match_cap_ms - clock.charged_us)


def legal_then(answered: Answered) -> Sequence[str]:
    """Return what was legal when the refused action was tried, after what had been applied."""
    return answered.legal or answered.asked.legal


def some(legal: Sequence[str]) -> str:
    """Name legal actions, the first ones of many."""
    more = len(legal) - LEGAL_SHOWN
    shown = "; ".join(legal[:LEGAL_SHOWN])
    return f"{shown}; and {more} more" if more > 0 else shown


def _in_time(clock: SeatClock) -> str:
    if match_left_us(clock) < clock.decision_left_us + clock.bank_left_us:
        most = clock.control.match_cap_ms
        left = match_left_us(clock) // 1_000
        return f"less time in the match: at most {most} ms are charged, and {left} ms were left"
    return "an answer within the time of the decision and the bank"


def _missing(tried: str, hand: Cards) -> str:
    try:
        used = parse_action(tried).used
    except MalformedAction:
        return "them all"
    lacking = [card for card in faces_of(used) if count_of(used, card) > count_of(hand, card)]
    shown = cards_text(lacking)
    return f"{shown} (it holds {cards_text(cards_of(hand)) or 'nothing'})"


def _melds(answered: Answered) -> str:
    # Melds of the same plan are numbered on from those that were on the table.
    new = sum(text.startswith(f"{Verb.MELD.value} ") for text in answered.line.actions)
    count = len(answered.asked.observation.table) + new
    return f"the number of a meld on the table: 1–{count}" if count else "no meld is on the table"
