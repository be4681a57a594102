"""One match with all that is stored of it, for the organiser."""

import json

from tournament.report.about import about, with_points
from tournament.report.cells import NOTHING, listed, or_dash, rounded
from tournament.report.matches import match_row
from tournament.report.render import Column, Part, Row, View
from tournament.store.stored import MatchDetails, MatchRow, Tournament

_US_PER_MS = 1_000

_MATCH = (
    Column("position", "Number"),
    Column("seats", "Seats", listed),
    Column("places", "Places", lambda value: listed(value) or NOTHING),
    Column("totals", "Points", lambda value: listed(value) or NOTHING),
    Column("deals", "Deals", or_dash),
    Column("termination", "End", lambda value: str(value) or "not played yet"),
    Column("text", "Why", or_dash),
    Column("reasons", "For the organiser", or_dash),
    Column("aborts", "Attempts without a result"),
    Column("first_dealer", "First dealer, seat"),
    Column("round", "Round"),
    Column("encounter", "Encounter"),
    Column("number", "Encounter of this set"),
    Column("leg", "Leg"),
    Column("fixture", "Fixture"),
    Column("match_id", "Match", or_dash),
    Column("sequence", "Came in as", or_dash),
    Column("record_hash", "Record's head", or_dash),
    Column("commitment", "Commitment", or_dash),
)
_SEATS = (
    Column("seat", "Seat", is_number=True),
    Column("bot", "Bot", is_names=True),
    Column("place", "Place", or_dash, is_number=True),
    Column("total", "Points", or_dash, is_number=True),
    Column("forfeit", "Forfeit", or_dash, spare=1),
    Column("decisions", "Decisions", or_dash, is_number=True, spare=6),
    Column("mean_ms", "Mean ms", rounded(2), is_number=True),
    Column("worst_ms", "Worst ms", rounded(1), is_number=True),
    Column("charged_ms", "Charged ms", rounded(1), is_number=True, spare=5),
    Column("forgiven_ms", "Forgiven ms", rounded(1), is_number=True, spare=4),
    Column("illegal_strikes", "Illegal", or_dash, is_number=True, spare=3),
    Column("time_strikes", "Late", or_dash, is_number=True, spare=2),
)
_LEGS = (
    Column("position", "#", is_number=True),
    Column("leg", "Leg", is_number=True),
    Column("is_this", "This", lambda value: "this" if value else "", spare=3),
    Column("seats", "Seats", listed, is_names=True),
    Column("places", "Places", lambda value: listed(value) or NOTHING),
    Column("totals", "Points", lambda value: listed(value) or NOTHING, spare=2),
    Column("termination", "End", or_dash),
    Column("fixture", "Fixture", for_people=False),
    Column("match_id", "Match", or_dash, spare=1),
)


def match_view(tournament: Tournament, details: MatchDetails, record: bytes) -> View:
    """Return all about a match; its `record` is empty if there is none."""
    match = details.match
    return View(
        about=about(tournament),
        parts=with_points(
            [
                Part("match", _MATCH, [_match(match, record)], "Match", is_single=True),
                Part("seats", _SEATS, _seats(match), "Seats"),
                Part("legs", _LEGS, [_leg(leg, match) for leg in details.legs], "Encounter"),
            ],
            tournament,
        ),
        title=f"Tournament {tournament.id}",
    )


def commitment_of(record: bytes) -> str:
    """Return what the bots were told of the secret before the match; empty without a record."""
    line = record.split(b"\n", 1)[0]
    try:
        header = json.loads(line)
    except ValueError:
        return ""
    return str(header.get("commitment", "")) if isinstance(header, dict) else ""


def _match(match: MatchRow, record: bytes) -> Row:
    return {
        **match_row(match),
        "reasons": match.reasons,
        "aborts": match.aborts,
        "first_dealer": match.fixture.first_dealer,
        "round": match.round,
        "number": match.number,
        "sequence": match.sequence,
        "commitment": commitment_of(record),
    }


def _seats(match: MatchRow) -> list[Row]:
    if not match.seats:
        nothing = dict.fromkeys(column.name for column in _SEATS)
        return [
            {**nothing, "seat": seat, "bot": bot} for seat, bot in enumerate(match.fixture.seats)
        ]
    return [
        {
            "seat": number,
            "bot": seat.bot,
            "place": seat.place,
            "total": seat.total,
            "forfeit": seat.forfeit,
            "decisions": seat.decisions,
            "mean_ms": seat.charged_us / seat.decisions / _US_PER_MS if seat.decisions else None,
            "worst_ms": seat.longest_us / _US_PER_MS,
            "charged_ms": seat.charged_us / _US_PER_MS,
            "forgiven_ms": seat.forgiven_us / _US_PER_MS,
            "illegal_strikes": seat.illegal_strikes,
            "time_strikes": seat.time_strikes,
        }
        for number, seat in enumerate(match.seats)
    ]


def _leg(leg: MatchRow, match: MatchRow) -> Row:
    return {**match_row(leg), "is_this": leg.fixture == match.fixture}
