"""Where the chance of a ladder comes from: the operating system, always."""

import secrets
from random import Random

from referee.match.spec import MatchSpec, SeatSpec
from tournament.config import Config
from tournament.ladder.names import parts_of
from tournament.schedule.fixtures import Encounter, Fixture
from tournament.schedule.matchmaking import Chance
from tournament.schedule.seeds import SECRET_BYTES


def below(bound: int) -> int:
    """Return a number below `bound`, each as likely."""
    return secrets.randbelow(bound)


def quick_chance() -> Chance:
    """Return chance for what need not be secret, such as who meets whom: it is asked for often."""
    return Random(new_secret()).randrange  # noqa: S311 - no secret


def new_secret() -> bytes:
    """Return 32 random bytes."""
    return secrets.token_bytes(SECRET_BYTES)


def new_match_id() -> str:
    """Return an id that tells nothing and links no legs."""
    return secrets.token_hex(12)


def salts_for(encounter: Encounter) -> dict[str, bytes]:
    """Return a new salt for each leg, by the id of its fixture."""
    return {leg.fixture_id: new_secret() for leg in encounter.legs}


def match_of(config: Config, leg: Fixture, secret: bytes, salt: bytes) -> MatchSpec:
    """Return the match of a leg, under a new id. `secret` is that of its encounter.

    Nothing on the wire links it to other legs: the id is new, the commitment is salted, and the
    suits are exchanged.
    """
    return MatchSpec(
        match_id=new_match_id(),
        rules=config.rules,
        seats=tuple(SeatSpec(*parts_of(entrant), new_secret()) for entrant in leg.seats),
        secret=secret,
        salt=salt,
        first_dealer=leg.first_dealer,
        time_control=config.time_control,
        has_own_suits=True,
    )
