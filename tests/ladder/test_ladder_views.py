"""`tournament versions` on a ladder: its entrants are versions already."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from referee.match.outcome import MatchResult, SeatResult, Termination
from tournament.commands import views
from tournament.config import Config
from tournament.errors import TournamentError
from tournament.ladder.settings import Asked, config_to_play, stored_table
from tournament.report.render import Format
from tournament.schedule.fixtures import Entrant, make_encounter
from tournament.store.ladder import add_encounter, add_entrants, create_ladder
from tournament.store.registry import Registry, outside_hash
from tournament.store.store import Store
from tournament.store.stored import Entry

LADDER = "ladder-1"


def result(match_id: str, places: tuple[int, int]) -> MatchResult:
    seats = tuple(SeatResult(place, 10 - place, None, 5, 100, 1, 50, 0, 0) for place in places)
    record = f"record of {match_id}\n".encode()
    head = hashlib.sha256(record).digest()
    return MatchResult(match_id, Termination.COMPLETED, "text", seats, 1, record, head)


def store_ladder(data: Path, *pairs: tuple[str, str]) -> Config:
    """Store a ladder of whole encounters, each of which its first entrant won."""
    config = config_to_play(Asked(seats=2, rules={"ceiling": 60}), None)
    with Store.open(data) as store:
        create_ladder(store, LADDER, stored_table(config), config.rules_hash)
        for entrant in sorted({entrant for pair in pairs for entrant in pair}):
            bot, version = entrant.split("@")
            content = outside_hash(bot, version)
            entry = Entry(bot, version, "A", "python", content, "", {"elsewhere": True})
            Registry(store).register(entry, is_elsewhere=True)
            add_entrants(store, LADDER, {entrant: content})
        for number, pair in enumerate(pairs):
            entrants = [Entrant(one, outside_hash(*one.split("@"))) for one in pair]
            encounter = make_encounter(
                entrants, number, config.rules_hash, first_position=2 * number
            )
            salts = {leg.fixture_id: bytes(32) for leg in encounter.legs}
            add_encounter(store, LADDER, encounter, bytes(32), salts)
            for leg in encounter.legs:
                places = (1, 2) if leg.seats[0] == pair[0] else (2, 1)
                store.save_result(LADDER, leg.fixture_id, result(leg.fixture_id, places))
    return config


def test_versions_of_a_ladder_are_rated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_ladder(tmp_path, ("one@2", "one@1"), ("two@1", "one@1"), ("one@2", "two@1"))

    def shown(bot: str | None = None) -> list[dict[str, Any]]:
        views.versions(bot=bot, data=tmp_path, format_=Format.JSON)
        rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["versions"]
        return rows

    ranks = {(row["bot"], row["version"]): row["rank"] for row in shown()}
    assert ranks == {("one", "2"): 1, ("two", "1"): 2, ("one", "1"): 3}
    assert [(row["bot"], row["version"]) for row in shown("one")] == [("one", "2"), ("one", "1")]
    views.versions(data=tmp_path)
    assert "two" in capsys.readouterr().out


def test_a_ladder_of_another_program_is_not_compared(tmp_path: Path) -> None:
    config = config_to_play(Asked(seats=2), None)
    with Store.open(tmp_path) as store:
        create_ladder(store, LADDER, stored_table(config), "another")
    with pytest.raises(TournamentError, match="ladder-1 was played under rules or defaults"):
        views.versions(data=tmp_path)
