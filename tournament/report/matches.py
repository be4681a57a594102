"""The matches of a tournament in plan order."""

from collections.abc import Sequence

from tournament.report.about import about, title, with_points
from tournament.report.cells import listed, or_dash, short_hash
from tournament.report.render import Column, Part, Row, View
from tournament.store.stored import MatchRow, Tournament

MATCHES = (
    Column("position", "#", is_number=True),
    Column("fixture", "Fixture", for_people=False),
    Column("encounter", "Encounter", for_people=False),
    Column("round", "Round", for_people=False),
    Column("leg", "Leg", is_number=True, spare=4),
    Column("seats", "Seats", listed, is_names=True),
    Column("places", "Places", listed),
    Column("totals", "Points", listed, spare=2),
    Column("deals", "Deals", or_dash, is_number=True, spare=3),
    Column("termination", "End", or_dash, spare=1),
    Column("text", "Why", or_dash, wraps=True),
    Column("match_id", "Match", for_people=False),
    Column("record_hash", "Record", short_hash, spare=5),
)


def matches_view(tournament: Tournament, rows: Sequence[MatchRow]) -> View:
    """Return the matches of a tournament, those to come included."""
    return View(
        about=about(tournament),
        parts=with_points([Part("matches", MATCHES, [match_row(row) for row in rows])], tournament),
        title=title(tournament),
    )


def match_row(row: MatchRow) -> Row:
    """Return one match as the columns have it."""
    return {
        "position": row.fixture.position,
        "fixture": row.fixture.fixture_id,
        "encounter": row.fixture.encounter_id,
        "round": row.round,
        "leg": row.fixture.leg,
        "seats": list(row.fixture.seats),
        "places": [seat.place for seat in row.seats],
        "totals": [seat.total for seat in row.seats],
        "deals": row.deals,
        "termination": row.termination,
        "text": row.text,
        "match_id": row.match_id,
        "record_hash": row.record_hash,
    }
