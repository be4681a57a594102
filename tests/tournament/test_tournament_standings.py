"""The leaderboard's rows: who won how often, and only whole encounters."""

import random

import pytest

from referee.match.outcome import Forfeit
from tournament.statistics.standings import LegResult, SeatRow, counted, standings


def seat(bot: str, place: int, forfeit: Forfeit | None = None, **times: int) -> SeatRow:
    numbers = {"total": 30, "decisions": 10, "charged_us": 20_000, "longest_us": 9_000} | times
    return SeatRow(bot=bot, place=place, forfeit=forfeit, **numbers)


def leg(encounter: str, position: int, *seats: SeatRow, has_result: bool = True) -> LegResult:
    return LegResult(encounter, position, has_result=has_result, seats=seats)


def test_an_encounter_counts_only_whole() -> None:
    legs = [
        leg("e1", 1, seat("b", 1), seat("a", 2)),
        leg("e1", 0, seat("a", 1), seat("b", 2)),
        leg("e2", 2, seat("a", 1), seat("b", 2)),
        leg("e3", 4, seat("a", 1), seat("b", 2)),
        leg("e3", 5, seat("a", 0), seat("b", 0), has_result=False),
    ]
    assert [x.position for x in counted(legs, {"e1": 2, "e2": 2, "e3": 2, "e4": 2})] == [0, 1]


def test_a_row_adds_up() -> None:
    legs = [
        leg("e1", 0, seat("a", 1, total=100), seat("b", 2, Forfeit.TIME, total=20)),
        leg("e1", 1, seat("b", 2, Forfeit.CRASH, total=10), seat("a", 1, longest_us=12_345)),
        leg("e2", 2, seat("a", 1), seat("b", 1)),
        leg("e2", 3, seat("b", 2, Forfeit.TIME, charged_us=30_000), seat("a", 1)),
    ]
    first, second = standings({"a": "1.0", "b": "2.0"}, legs)
    assert (first.rank, first.bot, first.version, first.matches) == (1, "a", "1.0", 4)
    assert (first.wins, first.draws, first.losses) == (3, 1, 0)
    assert first.rating == pytest.approx(first.mu - 3 * first.sigma)
    assert first.points_per_match == (100 + 30 + 30 + 30) / 4
    assert (first.mean_place, first.worst_ms, first.mean_ms) == (1.0, 12.345, 2.0)
    assert (second.rank, second.wins, second.draws, second.losses) == (2, 0, 1, 3)
    assert second.forfeits == {"crash": 1, "time": 2}
    assert second.mean_place == 7 / 4
    assert second.mean_ms == (20 + 20 + 20 + 30) / 40


def test_a_shared_first_place_of_many_seats_is_a_draw_and_a_shared_second_a_loss() -> None:
    rows = standings(
        dict.fromkeys("abcd", "1"),
        [
            leg("e", 0, seat("a", 1), seat("b", 1), seat("c", 3), seat("d", 3)),
            leg("f", 1, seat("a", 1), seat("b", 2), seat("c", 2), seat("d", 4)),
        ],
    )
    assert {r.bot: (r.wins, r.draws, r.losses) for r in rows} == {
        "a": (1, 1, 0), "b": (0, 1, 1), "c": (0, 0, 2), "d": (0, 0, 2),
    }  # fmt: skip


def test_bots_without_matches_share_a_rank_in_order_of_names() -> None:
    rows = standings({"b": "1", "a": "1"}, [])
    assert [(row.rank, row.bot, row.rating) for row in rows] == [(1, "a", 0.0), (1, "b", 0.0)]
    assert (rows[0].mean_place, rows[0].points_per_match, rows[0].mean_ms) == (None, None, None)


def test_a_bot_that_never_decided_has_no_thinking_time() -> None:
    idle = seat("b", 2, Forfeit.STARTUP, decisions=0, charged_us=0, longest_us=0)
    rows = standings({"a": "1", "b": "1"}, [leg("e", 0, seat("a", 1), idle)])
    assert (rows[1].mean_ms, rows[1].worst_ms) == (None, None)


def test_the_table_does_not_depend_on_the_order_of_finishing() -> None:
    shuffler = random.Random(5)
    legs = []
    for position in range(60):
        bots = shuffler.sample("abcd", 2)
        legs.append(leg(f"e{position}", position, seat(bots[0], 1), seat(bots[1], 2)))
    whole = {f"e{position}": 1 for position in range(60)}
    versions = dict.fromkeys("abcd", "1")
    expected = standings(versions, counted(legs, whole))
    for _ in range(5):
        shuffler.shuffle(legs)
        assert standings(versions, counted(legs, whole)) == expected
