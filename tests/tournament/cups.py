"""Stored tournaments to show: played by the strength of names, with text that could do harm."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from referee.match.outcome import Forfeit, Termination
from tests.tournament.fakes import entry, match_result
from tournament.config import Config
from tournament.schedule.fixtures import Entrant, Fixture
from tournament.schedule.round_robin import round_robin
from tournament.store.store import Store
from tournament.store.stored import FINISHED, Entry

HARM = 'x|y\\z `c` *b* <script>alert("&")</script> \x1b[31mred\x9b2J\u202e\r\n\t"q",=1+1'
"""What an author may write: marks of every format, control characters, a turn of direction."""


def harmful(name: str) -> Entry:
    """Return a bot whose texts hold all of it."""
    return replace(entry(name), version=HARM, author=HARM, language=HARM)


def store_cup(
    data: Path,
    names: Sequence[str] = ("a", "b", "c"),
    *,
    identity: str = "t1",
    encounters: int = 4,
    seats: int = 2,
    legs: int | None = None,
    seed: int | None = None,
    entries: Sequence[Entry] | None = None,
    is_finished: bool | None = None,
) -> list[Fixture]:
    """Store a round-robin of which the first `legs` (default: all) are played; return its plan.

    Bots that come earlier in the alphabet mostly win. The last leg is a forfeit of its last place.
    """
    config = Config(seats=seats, encounters=encounters, seed=seed)
    entries = entries or [entry(name) for name in names]
    plan = round_robin(
        [Entrant(one.bot, one.content_hash) for one in entries],
        seats=seats,
        encounters=encounters,
        rules=config.rules_hash,
    )
    with Store.open(data) as store:
        store.create_tournament(
            identity,
            config={**config.to_dict(), "file": "/home/somebody/cup.toml"},
            config_hash=config.hash,
            entries=entries,
            plan=plan,
            secrets={one.encounter_id: b"s" * 32 for one in plan},
            salts={leg.fixture_id: b"s" * 32 for one in plan for leg in one.legs},
        )
        fixtures = [leg for one in plan for leg in one.legs]
        played = fixtures[:legs]
        for leg in played:
            play(store, identity, leg, forfeits=leg == fixtures[-1])
        if is_finished or (is_finished is None and len(played) == len(fixtures)):
            store.set_status(identity, FINISHED)
    return fixtures


def play(store: Store, identity: str, leg: Fixture, *, forfeits: bool = False) -> None:
    """Store a result of a leg: the same one for the same leg."""
    luck = hashlib.sha256(leg.fixture_id.encode()).digest()
    order = sorted(leg.seats)
    if luck[0] < 80:
        order.reverse()
    places = [order.index(bot) + 1 for bot in leg.seats]
    last = leg.seats.index(order[-1])
    store.save_result(
        identity,
        leg.fixture_id,
        match_result(
            places,
            termination=Termination.FORFEIT if forfeits else Termination.COMPLETED,
            match_id=f"match{leg.position}",
            forfeits={last: Forfeit.TIME} if forfeits else None,
            text=HARM if forfeits else "played to its end",
        ),
        reasons="a word for the organiser",
    )
