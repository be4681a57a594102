"""Ratings by version: each content is an entrant of its own, over all tournaments at once."""

from dataclasses import replace

import pytest

from tests.tournament.statistics_cases import pair
from tournament.rating.environment import RatedMatch
from tournament.rating.sequential import rate
from tournament.statistics.standings import LegResult, Method, standings
from tournament.statistics.versions import BotVersion, PlayedTournament, version_standings

A1 = BotVersion("a", "1.0", "hash-a1")
A2 = BotVersion("a", "2.0", "hash-a2")
A2_AGAIN = BotVersion("a", "2.0", "hash-a2-changed")
B = BotVersion("b", "1.0", "hash-b")
C = BotVersion("c", "1.0", "hash-c")


def played(bots: str, *results: str) -> list[LegResult]:
    return [
        each
        for number, result in enumerate(results)
        for each in pair(f"{bots}{number}", 2 * number, result, bots)
    ]


OLD = PlayedTournament("t1", None, {"a": A1, "b": B}, played("ab", "LL", "LL", "WL", "LW", "LL"))
NEW = PlayedTournament("t2", None, {"a": A2, "b": B}, played("ab", "WW", "WL", "WW", "WW", "WL"))


def test_versions_that_never_met_are_compared_through_others() -> None:
    rows = version_standings([NEW, OLD])
    assert [(row.standing.bot, row.standing.version) for row in rows] == [
        ("a", "2.0"), ("b", "1.0"), ("a", "1.0"),
    ]  # fmt: skip
    assert [row.content_hash for row in rows] == ["hash-a2", "hash-b", "hash-a1"]
    assert [row.standing.rank for row in rows] == [1, 2, 3]
    assert [row.standing.matches for row in rows] == [10, 20, 10]
    assert rows[0].standing.gap is not None
    assert rows[0].standing.gap > 0
    assert rows[0].standing.error is not None
    assert version_standings([OLD, NEW]) == rows


def test_versions_of_one_bot_are_ranked_among_themselves() -> None:
    everything = {row.content_hash: row.standing for row in version_standings([OLD, NEW])}
    new, old = version_standings([OLD, NEW], bot="a")
    assert (new.content_hash, new.standing.rank) == ("hash-a2", 1)
    assert (old.content_hash, old.standing.rank) == ("hash-a1", 2)
    assert new.standing.mu == everything["hash-a2"].mu
    assert new.standing.gap == new.standing.mu - old.standing.mu
    assert new.standing.superiority is not None
    assert new.standing.superiority > 0.9
    assert version_standings([OLD, NEW], bot="nobody") == []


def test_one_tournament_is_its_leaderboard() -> None:
    rows = version_standings([OLD])
    expected = standings({"a": "1.0", "b": "1.0"}, OLD.legs)
    for row, standing in zip(rows, expected, strict=True):
        assert (row.standing.bot, row.standing.wins) == (standing.bot, standing.wins)
        assert row.standing.mu == pytest.approx(standing.mu, abs=1e-9)
        assert row.standing.error == pytest.approx(standing.error, abs=1e-9)


def test_the_same_version_text_with_another_content_is_apart() -> None:
    again = replace(NEW, id="t3", entrants={"a": A2_AGAIN, "b": B})
    rows = version_standings([NEW, again], bot="a")
    assert {row.content_hash for row in rows} == {"hash-a2", "hash-a2-changed"}
    assert {row.standing.version for row in rows} == {"2.0"}


def test_tournaments_have_deals_of_their_own_unless_they_have_a_seed() -> None:
    apart = version_standings([OLD, replace(OLD, id="t3")])
    seeded = replace(OLD, seed=7)
    shared = version_standings([seeded, replace(seeded, id="t3")])
    assert [row.standing.mu for row in apart] == [row.standing.mu for row in shared]
    assert [row.standing.matches for row in apart] == [20, 20]
    # A repeated run tells nothing new: the error is not that of twice as many encounters.
    one, two = apart[0].standing.error, shared[0].standing.error
    assert one is not None
    assert two is not None
    assert two > 1.1 * one
    # Nor is a tournament mistaken for a seed by its name.
    named = [replace(OLD, id="seed 7"), replace(OLD, id="t3", seed=7)]
    assert [row.standing.error for row in version_standings(named)] == [
        row.standing.error for row in apart
    ]


def test_sequential_ratings_take_one_tournament_after_the_other() -> None:
    matches: list[RatedMatch] = []
    for tournament in (OLD, NEW):
        content = {bot: version.content_hash for bot, version in tournament.entrants.items()}
        for leg in tournament.legs:
            places = {content[row.bot]: row.place for row in leg.seats}
            matches.append(RatedMatch(len(matches), leg.encounter_id, places))
    rows = version_standings([NEW, OLD], method=Method.SEQUENTIAL)
    expected = rate(matches)
    assert {row.content_hash: row.standing.mu for row in rows} == {
        name: rating.mu for name, rating in expected.items()
    }


def test_nothing_and_unplayed_tournaments() -> None:
    assert version_standings([]) == []
    rows = version_standings([PlayedTournament("t", None, {"a": A1, "c": C}, [])])
    assert [(row.standing.bot, row.standing.matches) for row in rows] == [("a", 0), ("c", 0)]
    sequential = version_standings([OLD], method=Method.SEQUENTIAL)
    assert {row.standing.error for row in sequential} == {None}
