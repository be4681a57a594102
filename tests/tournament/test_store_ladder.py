"""What is stored of a ladder, and found again."""

import hashlib
import json

import pytest

from referee.match.outcome import Forfeit, MatchResult, SeatResult, Termination
from tournament.ladder.rater import fitted_of
from tournament.ladder.standing import read, tail_bytes, written
from tournament.rating.error_bars import error_bars
from tournament.rating.order_free import fit
from tournament.schedule.fixtures import Encounter, Entrant, make_encounter
from tournament.statistics.standings import rated_matches, standings
from tournament.store import ladder as lad
from tournament.store import queries
from tournament.store.registry import Registry, outside_hash
from tournament.store.store import Store
from tournament.store.stored import Entry

LADDER = "ladder-1"


@pytest.fixture
def store(store: Store) -> Store:
    """One that holds an empty ladder."""
    table = {"seats": 2, "rules": {"preset": "basic"}, "time_control": {}}
    lad.create_ladder(store, LADDER, table, "hash")
    return store


def enter(store: Store, *names: str) -> dict[str, str]:
    hashes = {}
    for name in names:
        bot, version = name.split("@")
        content = outside_hash(bot, version)
        entry = Entry(bot, version, "A", "python", content, "", {"elsewhere": True})
        Registry(store).register(entry, is_elsewhere=True)
        hashes[name] = content
    lad.add_entrants(store, LADDER, hashes)
    return hashes


def add(store: Store, number: int, *names: str) -> Encounter:
    entrants = [Entrant(name, outside_hash(*name.split("@"))) for name in names]
    position = lad.next_position(store, LADDER)
    encounter = make_encounter(entrants, number, "rules", first_position=position)
    salts = {
        leg.fixture_id: hashlib.sha256(leg.fixture_id.encode()).digest() for leg in encounter.legs
    }
    lad.add_encounter(store, LADDER, encounter, b"s" * 32, salts)
    return encounter


def result(match_id: str, *places: int, forfeit: Forfeit | None = None) -> MatchResult:
    seats = tuple(
        SeatResult(place, 10 - place, forfeit if place > 1 else None, 5, 100, 1, 50, 0, 0)
        for place in places
    )
    record = f"record of {match_id}\n".encode()
    head = hashlib.sha256(record).digest()
    has_result = all(places)
    termination = Termination.COMPLETED if has_result else Termination.NOT_STARTED
    return MatchResult(match_id, termination, "text", seats, 1, record, head)


def save(store: Store, encounter: Encounter, leg: int, found: MatchResult) -> None:
    assert store.save_result(LADDER, encounter.legs[leg].fixture_id, found)


def test_a_database_has_one_ladder(store: Store) -> None:
    found = lad.ladder_of(store)
    assert found is not None
    assert (found.id, found.config["format"], found.matches) == (LADDER, "ladder", 0)
    assert lad.next_position(store, LADDER) == 0
    assert lad.past_encounters(store, LADDER) == []
    assert lad.ended_matches(store, LADDER, most=5) == []


def test_entrants_are_added_once(store: Store) -> None:
    enter(store, "b@1", "a@1")
    enter(store, "a@1", "a@2")
    assert [(e.bot, e.version) for e in store.entries(LADDER)] == [
        ("a@1", "1"),
        ("a@2", "2"),
        ("b@1", "1"),
    ]


def test_what_is_open_is_closed_and_counts_for_nothing(store: Store) -> None:
    enter(store, "a@1", "b@1")
    first, second, third = (add(store, number, "a@1", "b@1") for number in range(3))
    save(store, first, 0, result("m0", 1, 2))
    save(store, first, 1, result("m1", 2, 1))
    save(store, second, 0, result("m2", 1, 2))
    lad.close_encounters(store, LADDER, "aborted", third.encounter_id)
    assert [row.aborts for row in queries.matches(store, LADDER)] == [0, 0, 0, 0, 1, 1]
    lad.close_encounters(store, LADDER, "cut")
    lad.close_encounters(store, LADDER, "cut again")
    rows = queries.matches(store, LADDER)
    assert [(row.termination, row.aborts, row.text) for row in rows] == [
        ("completed", 0, "text"),
        ("completed", 0, "text"),
        ("completed", 0, "text"),
        ("", 1, "cut"),
        ("", 1, "aborted"),
        ("", 1, "aborted"),
    ]
    assert [leg.position for leg in queries.counted_legs(store, LADDER)] == [0, 1]
    assert lad.whole_encounters(store, LADDER) == 1
    assert lad.past_encounters(store, LADDER) == [("a@1", "b@1")] * 3
    assert lad.next_position(store, LADDER) == 6


def test_seats_of_the_past_come_as_they_came_in(store: Store) -> None:
    enter(store, "a@1", "b@1")
    one, two = add(store, 0, "a@1", "b@1"), add(store, 1, "a@1", "b@1")
    save(store, two, 0, result("m", 2, 1, forfeit=Forfeit.TIME))
    save(store, one, 0, result("n", 0, 0))
    save(store, one, 1, result("o", 1, 2))
    past = [(seat.entrant, seat.failed) for seat in lad.past_seats(store, LADDER)]
    assert past == [
        ("a@1", True),
        ("b@1", False),
        ("a@1", True),
        ("b@1", True),
        ("b@1", False),
        ("a@1", False),
    ]


def test_matches_are_found_by_bot_version_and_page(store: Store) -> None:
    enter(store, "a@1", "a@2", "a.b@1", "b@1", "A@1")
    encounters = [
        add(store, 0, "a@1", "b@1"),
        add(store, 0, "a@2", "b@1"),
        add(store, 0, "a.b@1", "b@1"),
        add(store, 0, "A@1", "b@1"),
    ]
    for number, encounter in enumerate(encounters):
        save(store, encounter, 0, result(f"m{number}", 1, 2))

    def ids(**asked: object) -> list[str]:
        found = lad.ended_matches(store, LADDER, **{"most": 9, **asked})  # type: ignore[arg-type]
        return [match.match_id for match in found]

    assert ids() == ["m3", "m2", "m1", "m0"]
    assert ids(most=2) == ["m3", "m2"]
    assert ids(before=3) == ["m1", "m0"]
    assert ids(bot="a", version="2") == ["m1"]
    assert ids(bot="a.b") == ["m2"]
    assert "m2" not in ids(bot="a")
    assert {"m0", "m1"} <= set(ids(bot="a"))
    assert ids(bot="%") == ids(bot="a_b") == []
    [match] = lad.ended_match(store, LADDER, "m1")
    assert match.seats[0].bot == "a@2"
    assert (match.seats[1].place, match.seats[1].total, match.seats[1].charged_us) == (2, 8, 100)
    assert lad.ended_match(store, LADDER, encounters[0].legs[0].fixture_id) == []


def test_both_legs_of_an_encounter_are_found_by_either(store: Store) -> None:
    enter(store, "a@1", "b@1")
    encounter = add(store, 0, "a@1", "b@1")
    save(store, encounter, 1, result("second", 2, 1))
    save(store, encounter, 0, result("first", 1, 2))
    for match_id in ("first", "second"):
        legs = lad.ended_match(store, LADDER, match_id)
        assert [leg.match_id for leg in legs] == ["first", "second"]


def test_bots_named_alike_but_for_case_are_told_apart(store: Store) -> None:
    enter(store, "a@1", "A@1", "b@1")
    save(store, add(store, 0, "a@1", "b@1"), 0, result("small", 1, 2))
    save(store, add(store, 0, "A@1", "b@1"), 0, result("large", 1, 2))
    found = lad.ended_matches(store, LADDER, bot="A", most=9)
    assert [match.match_id for match in found] == ["large"]


# --- the standings between two processes ----------------------------------------------------------


def test_what_the_other_process_computes_is_what_the_views_show(store: Store) -> None:
    names = ["a@1", "b@1", "c@1", "idle@1"]
    enter(store, *names)
    for number in range(4):
        for one, other in (("a@1", "b@1"), ("b@1", "c@1"), ("a@1", "c@1")):
            encounter = add(store, number, one, other)
            save(store, encounter, 0, result(f"{one}{other}{number}0", 1, 2))
            if number != 3:
                save(
                    store,
                    encounter,
                    1,
                    result(f"{one}{other}{number}1", 1 + number % 2, 2 - number % 2),
                )
    fitted, first = fitted_of(store, LADDER, None)
    message = written(fitted)
    head, _, tail = message.partition(b"\n")
    parsed = json.loads(head)
    assert tail_bytes(parsed) == len(tail)
    found = read(parsed, tail, number=3, computed_ms=5)
    legs = queries.counted_legs(store, LADDER)
    assert len(legs) == found.matches == 18
    versions = dict.fromkeys(["a@1", "b@1", "c@1"], "1")
    assert found.rows == standings(versions, legs)
    assert (found.number, found.computed_ms) == (3, 5)
    # The covariance is that of which the error bars are made, but for what was seen of scatter.
    alone = fit(rated_matches(legs))
    bars = error_bars(alone, rated_matches(legs))
    for one, other in (("a@1", "b@1"), ("b@1", "c@1")):
        mean, variance = found.skills.difference(one, other)
        assert mean == pytest.approx(alone.ratings[one].mu - alone.ratings[other].mu, abs=1e-6)
        i, j = found.skills.index[one], found.skills.index[other]
        wanted = bars._covariance
        assert variance == pytest.approx(wanted[i][i] + wanted[j][j] - 2 * wanted[i][j], rel=1e-6)
    assert found.skills.mean("idle@1") == 25.0
    again, _ = fitted_of(store, LADDER, first)
    assert [row.bot for row in again.rows] == [row.bot for row in found.rows]
    assert again.rows[0].rating == pytest.approx(found.rows[0].rating, abs=1e-6)
