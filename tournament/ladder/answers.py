"""Between what the ladder knows and the messages of tournament.proto."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from referee.match.outcome import Termination
from referee.service.messages import FORFEITS, TERMINATIONS, time_control_message
from referee.service.rules_message import rules_message
from rummy.referee.v1 import play_pb2
from rummy.tournament.v1 import tournament_pb2 as pb
from tournament.ladder.field import Place
from tournament.ladder.ladder import Ladder
from tournament.ladder.names import parts_of
from tournament.ladder.own_log import noted
from tournament.ladder.standing import Standings
from tournament.rating.environment import Rating
from tournament.statistics.standings import SeatRow, Standing
from tournament.store.ladder import EndedMatch

_PRIOR: Final = Rating()


def state_of(ladder: Ladder, place: Place) -> pb.EntrantState.ValueType:
    """Return what a version is doing."""
    if place.withdrawn:
        return pb.ENTRANT_STATE_WITHDRAWN
    if place.paused:
        return pb.ENTRANT_STATE_PAUSED
    if ladder.is_connected(place.entrant):
        return pb.ENTRANT_STATE_CONNECTED
    return pb.ENTRANT_STATE_AWAY


def ranked(ladder: Ladder, standings: Standings) -> list[tuple[Place, Standing | None]]:
    """Return all versions, best first; those that are not in the standings last, by name."""
    places = ladder.field.places
    found: list[tuple[Place, Standing | None]] = [
        (places[row.bot], row) for row in standings.rows if row.bot in places
    ]
    known = {place.entrant for place, _ in found}
    others = sorted(entrant for entrant in places if entrant not in known)
    return [*found, *((places[entrant], None) for entrant in others)]


def leaderboard_row(ladder: Ladder, place: Place, row: Standing | None) -> pb.LeaderboardRow:
    """Return the message of a row."""
    message = pb.LeaderboardRow(
        bot=place.bot,
        version=place.version,
        author=place.author,
        language=place.language,
        state=state_of(ladder, place),
        matches_ended=place.matches,
        rating=_PRIOR.conservative,
        mu=_PRIOR.mu,
        sigma=_PRIOR.sigma,
    )
    if row is None:
        return message
    message.rank = row.rank
    message.rating, message.mu, message.sigma = row.rating, row.mu, row.sigma
    message.matches, message.wins = row.matches, row.wins
    message.draws, message.losses = row.draws, row.losses
    message.forfeits = sum(row.forfeits.values())
    for name in ("error", "gap", "superiority", "points_per_match"):
        value = getattr(row, name)
        if value is not None:
            setattr(message, name, value)
    return message


def match_message(match: EndedMatch, *, is_open: bool) -> pb.LadderMatch:
    """Return the message of a match; `is_open` as long as its encounter has not ended."""
    return pb.LadderMatch(
        match_id=match.match_id,
        encounter_id="" if is_open else match.fixture.encounter_id,
        seats=[_seat(seat) for seat in match.seats],
        termination=_termination(match),
        text=match.text,
        deals=match.deals,
        record_hash=bytes.fromhex(match.record_hash),
        ended_unix_ms=_unix_ms(match.ended),
        has_public_record=not is_open,
    )


def _seat(seat: SeatRow) -> pb.LadderSeat:
    bot, version = parts_of(seat.bot)
    return pb.LadderSeat(
        bot=bot, version=version, place=seat.place, total=seat.total, forfeit=_forfeit(seat)
    )


def own_match(match: EndedMatch, entrant: str, record: bytes) -> pb.OwnMatch:
    """Return what was noted about one of a match's bots, and nothing about the others."""
    number = match.fixture.seats.index(entrant)
    message = noted(match.seats[number], number, record)
    message.match_id = match.match_id
    message.termination = _termination(match)
    message.text = match.text
    message.ended_unix_ms = _unix_ms(match.ended)
    return message


def status_message(ladder: Ladder, *, by_invitation: bool, stopping: bool) -> pb.GetStatusResponse:
    """Return how the ladder does."""
    field, config = ladder.field, ladder.config
    active = [place for place in field.places.values() if not place.withdrawn]
    return pb.GetStatusResponse(
        ladder=ladder.id,
        entrants=len(active),
        connected=sum(ladder.is_connected(place.entrant) for place in active),
        paused=sum(bool(place.paused) for place in active),
        running=len(ladder.running),
        matches=field.matches,
        encounters=field.whole,
        seats=config.seats,
        rules=rules_message(config.rules),
        time_control=time_control_message(config.time_control),
        by_invitation=by_invitation,
        stopping=stopping,
    )


def match_ids(legs: Sequence[EndedMatch]) -> list[str]:
    """Return the ids of an encounter's matches."""
    return [leg.match_id for leg in legs]


def _forfeit(seat: SeatRow) -> play_pb2.Forfeit.ValueType:
    return play_pb2.Forfeit.ValueType(FORFEITS[seat.forfeit] if seat.forfeit else 0)


def _termination(match: EndedMatch) -> play_pb2.Termination.ValueType:
    return play_pb2.Termination.ValueType(TERMINATIONS[Termination(match.termination)])


def _unix_ms(iso: str) -> int:
    return round(datetime.fromisoformat(iso).timestamp() * 1_000)
