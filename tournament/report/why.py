"""Why a bot lost a match, or did not: for its author, so from its own side alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from referee.engine.cards import CARD_TEXTS, cards_of, cards_text
from referee.engine.notation import meld_text
from referee.match.hindsight import Answered, Asked, DealScore, Hindsight
from referee.match.record_lines import Header
from tournament.report.cells import listed, or_dash, rounded
from tournament.report.judged import expected, legal_then, match_left_us, sent, some, wrong
from tournament.report.render import Column, Part, Row, View
from tournament.report.why_words import Lost, why
from tournament.store.stored import MatchDetails, Tournament

_US_PER_MS: Final = 1_000
_DEALS_SHOWN: Final = 5
_DECISIONS_SHOWN: Final = 5
DECIDED, PENDING = "decided", "pending"


@dataclass(frozen=True, slots=True)
class Case:
    """All that is known of a bot in a match: `log_lines` are the last ones that it wrote in it."""

    tournament: Tournament
    details: MatchDetails
    seat: int
    header: Header
    hindsight: Hindsight
    own_reason: str
    """What the organiser was told of its process; empty if nothing was wrong with it."""
    log_lines: Sequence[str]


def _in_lines(value: object) -> str:
    assert isinstance(value, list)
    return some(value) if value else "none"


def _texts(value: object) -> str:
    assert isinstance(value, list)
    return "; ".join(value) or "none"


_MS = rounded(1)
_MATCH = (
    Column("bot", "Bot"),
    Column("version", "Version"),
    Column("position", "Number"),
    Column("match_id", "Match"),
    Column("seat", "Seat"),
    Column("seats", "Seats", listed),
    Column("places", "Places", listed),
    Column("totals", "Points", listed),
    Column("termination", "End"),
    Column("text", "Told to all"),
    Column("has_lost", "Lost", for_people=False),
    Column("forfeit", "Forfeit", or_dash),
    Column("why", "Why"),
    Column("process", "Its process", or_dash),
    Column("illegal_strikes", "Illegal choices", for_people=False),
    Column("illegal_tolerated", "Tolerated", for_people=False),
    Column("time_strikes", "Times late", for_people=False),
    Column("time_tolerated", "Tolerated", for_people=False),
    Column("is_encounter_over", "Encounter over", for_people=False),
)
_DECISION = (
    Column("state", "State", for_people=False),
    Column("deal", "Deal"),
    Column("decision_id", "Decision"),
    Column("asked", "Asked for"),
    Column("hand", "Its hand"),
    Column("upcard", "Upcard", or_dash),
    Column("table", "Melds on the table", _texts),
    Column("legal_count", "Legal actions"),
    Column("legal", "They were", _in_lines),
    Column("sent", "It sent", or_dash),
    Column("applied", "Of that was applied", _texts),
    Column("reason", "Reason", or_dash),
    Column("wrong", "What was wrong", or_dash),
    Column("expected", "Expected", or_dash),
    Column("legal_then", "Legal then", _in_lines),
    Column("forced", "Played for it", _texts),
    Column("own_left_ms", "Own time, ms", _MS),
    Column("bank_left_ms", "Bank, ms", _MS),
    Column("reconnect_left_ms", "To come back, ms", _MS),
    Column("match_left_ms", "Left of the match's most, ms", _MS, for_people=False),
    Column("total_ms", "It took, ms", _MS),
    Column("forgiven_ms", "Of that forgiven, ms", _MS),
    Column("charged_ms", "Charged, ms", _MS),
    Column("bank_after_ms", "Bank left, ms", _MS),
)
_STRIKES = (
    Column("kind", "Strike"),
    Column("number", "No.", is_number=True),
    Column("tolerated", "Tolerated", is_number=True, spare=4),
    Column("deal", "Deal", is_number=True, spare=2),
    Column("decision_id", "Decision", is_number=True),
    Column("asked", "Asked for", spare=5),
    Column("sent", "It sent", wraps=True),
    Column("reason", "Reason"),
    Column("expected", "Expected", or_dash, wraps=True),
    Column("charged_ms", "Charged ms", _MS, is_number=True, spare=1),
    Column("forgiven_ms", "Forgiven ms", _MS, is_number=True, spare=3),
)
_DEALS = (
    Column("deal", "Deal", is_number=True),
    Column("ended", "End"),
    Column("winner", "Won by", or_dash, is_names=True),
    Column("points", "Its points", is_number=True),
    Column("best", "Best of the others", is_number=True),
    Column("lost", "Lost", is_number=True),
    Column("hand", "It had left", or_dash, wraps=True),
)
_CLOCK = (
    Column("deal", "Deal", is_number=True),
    Column("decision_id", "Decision", is_number=True),
    Column("asked", "Asked for", spare=3),
    Column("total_ms", "It took ms", _MS, is_number=True),
    Column("forgiven_ms", "Forgiven ms", _MS, is_number=True, spare=2),
    Column("charged_ms", "Charged ms", _MS, is_number=True),
    Column("own_left_ms", "Own time ms", _MS, is_number=True, spare=1),
    Column("bank_after_ms", "Bank left ms", _MS, is_number=True),
    Column("sent", "It sent", wraps=True),
)
_LOG = (Column("line", "Line", wraps=True),)

WAIT: Final = (
    "Not all matches of this encounter, which have the same deals, are over: wait with giving this"
    " to anybody."
)
_REASONS: Final = (
    "proto/README.md has every reason, docs/judgement.md the clock and what is a strike."
)


def why_view(case: Case, *, for_people: bool) -> View:
    """Return everything; for people only the parts that have something to say.

    What others held, thought, were refused or charged is in none of it.
    """
    hindsight = case.hindsight
    own = hindsight.decisive or hindsight.pending
    heading = f"The decision that {'decided it' if hindsight.decisive else 'waited for an answer'}"
    has_forfeited = hindsight.forfeit is not None
    deals = _deals(case)
    is_over = all(leg.termination for leg in case.details.legs)
    wait = "" if is_over else WAIT
    match = Part("match", _MATCH, [_match(case, is_over)], "Match", is_single=True, remark=wait)
    asked = Part("decision", _DECISION, [_decision(hindsight)], heading, is_single=True)
    parts = [
        match,
        asked,
        Part("strikes", _STRIKES, _strikes(case), "Strikes, in order", notes=[_REASONS]),
        Part("deals", _DEALS, deals, "Deals that it lost most points in"),
        Part("clock", _CLOCK, _clock(hindsight), "Its longest decisions"),
        Part("log", _LOG, [{"line": line} for line in case.log_lines], "The end of what it wrote"),
    ]
    said = {
        "match": True,
        "decision": own is not None,
        "strikes": bool(hindsight.strikes),
        "deals": bool(deals) and not has_forfeited,
        "clock": bool(hindsight.decisions),
        "log": bool(case.log_lines) and has_forfeited,
    }
    return View(
        about={"id": case.tournament.id},
        parts=[_upright(part) for part in parts if said[part.name]] if for_people else parts,
        title=f"Tournament {case.tournament.id}",
    )


def _upright(part: Part) -> Part:
    """Leave out the lines of a single row that have nothing to say."""
    if not part.is_single:
        return part
    [row] = part.rows
    columns = [one for one in part.columns if row[one.name] not in (None, "", [])]
    return Part(part.name, columns, part.rows, part.heading, is_single=True, remark=part.remark)


def _match(case: Case, is_over: bool) -> Row:
    match, own = case.details.match, case.details.match.seats[case.seat]
    header = case.header
    lost = Lost(
        header=header,
        seat=case.seat,
        places=[seat.place for seat in match.seats],
        totals=[seat.total for seat in match.seats],
        forfeits=[seat.forfeit for seat in match.seats],
        termination=match.termination,
        hindsight=case.hindsight,
    )
    return {
        "bot": header.bots[case.seat],
        "version": header.versions[case.seat],
        "position": match.fixture.position,
        "match_id": match.match_id,
        "seat": case.seat,
        "seats": list(match.fixture.seats),
        "places": lost.places,
        "totals": lost.totals,
        "termination": match.termination,
        "text": match.text,
        "has_lost": lost.is_so,
        "forfeit": own.forfeit and own.forfeit.value,
        "why": why(lost),
        "process": case.own_reason,
        "illegal_strikes": own.illegal_strikes,
        "illegal_tolerated": header.illegal_tolerated,
        "time_strikes": own.time_strikes,
        "time_tolerated": header.time_tolerated,
        "is_encounter_over": is_over,
    }


def _decision(hindsight: Hindsight) -> Row:
    """The decision by which it forfeited, or what it was asked then; without any, nothing."""
    row: dict[str, object] = dict.fromkeys(column.name for column in _DECISION)
    row |= {"table": [], "legal": [], "applied": [], "legal_then": [], "forced": []}
    answered = hindsight.decisive
    asked = answered.asked if answered else hindsight.pending
    if asked is None:
        return row
    row |= {"state": DECIDED if answered else PENDING, **_asked_row(asked)}
    if answered:
        line = answered.line
        was_applied = bool(line.actions)
        row |= {
            "sent": sent(line),
            "applied": list(line.actions),
            "reason": line.rejected or None,
            "wrong": wrong(line) or None,
            "expected": expected(answered) or None,
            "legal_then": list(legal_then(answered)) if was_applied and line.rejected else [],
            "forced": list(line.forced),
            "reconnect_left_ms": _ms(asked.clock.reconnect_left_us) if line.was_away else None,
            **_time(answered),
        }
    return row


def _asked_row(asked: Asked) -> Mapping[str, object]:
    seen, clock = asked.observation, asked.clock
    return {
        "deal": seen.deal,
        "decision_id": asked.decision_id,
        "asked": _what(asked),
        "hand": cards_text(cards_of(seen.hand)),
        "upcard": CARD_TEXTS[seen.discards[-1]] if seen.discards else None,
        "table": [f"{meld.meld_id}: {meld_text(meld)}" for meld in seen.table],
        "legal_count": len(asked.legal),
        "legal": list(asked.legal),
        "own_left_ms": _ms(clock.decision_left_us),
        "bank_left_ms": _ms(clock.bank_left_us),
        "match_left_ms": _ms(match_left_us(clock)),
    }


def _what(asked: Asked) -> str:
    return "the draw" if asked.is_draw else "the rest of the turn"


def _time(answered: Answered) -> Mapping[str, object]:
    line = answered.line
    return {
        "total_ms": _ms(line.charged_us + line.forgiven_us),
        "forgiven_ms": _ms(line.forgiven_us),
        "charged_ms": _ms(line.charged_us),
        "own_left_ms": _ms(answered.asked.clock.decision_left_us),
        "bank_after_ms": _ms(answered.clock.bank_left_us),
    }


def _ms(microseconds: int) -> float:
    return microseconds / _US_PER_MS


def _strikes(case: Case) -> list[Row]:
    rows: list[Row] = []
    for one in case.hindsight.strikes:
        line, is_late = one.line, one.line.rejected == "time_up"
        rows.append(
            {
                "kind": "time" if is_late else "illegal",
                "number": one.strikes,
                "tolerated": case.header.time_tolerated
                if is_late
                else case.header.illegal_tolerated,
                "deal": line.deal,
                "decision_id": line.decision_id,
                "asked": _what(one.asked),
                "sent": sent(line),
                "reason": line.rejected,
                "expected": expected(one),
                **_time(one),
            }
        )
    return rows


def _deals(case: Case) -> list[Row]:
    """The deals that it lost points in, most first."""
    fewer = case.header.rules.scoring == "penalty"
    rows = [_deal(one, case, fewer=fewer) for one in case.hindsight.deals]
    lost = [(lost, row) for lost, row in rows if lost > 0]
    return [row for _, row in sorted(lost, key=lambda one: -one[0])][:_DEALS_SHOWN]


def _deal(score: DealScore, case: Case, *, fewer: bool) -> tuple[int, Row]:
    own = score.points[case.seat]
    others = [points for seat, points in enumerate(score.points) if seat != case.seat]
    best = min(others) if fewer else max(others)
    lost = own - best if fewer else best - own
    names = case.details.match.fixture.seats
    row: Row = {
        "deal": score.deal,
        "ended": score.ended,
        "winner": None if score.winner is None else names[score.winner],
        "points": own,
        "best": best,
        "lost": lost,
        "hand": cards_text(cards_of(score.hand)),
    }
    return lost, row


def _clock(hindsight: Hindsight) -> list[Row]:
    """The decisions that were charged most, most first."""
    longest = sorted(hindsight.decisions, key=lambda one: -one.line.charged_us)
    return [
        {
            "deal": one.line.deal,
            "decision_id": one.line.decision_id,
            "asked": _what(one.asked),
            "sent": sent(one.line),
            **_time(one),
        }
        for one in longest[:_DECISIONS_SHOWN]
    ]
