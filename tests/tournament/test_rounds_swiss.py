"""Swiss tournaments: each round is planned once, from the one before, whatever is interrupted."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tournament.fakes import store_plan
from tests.tournament.stage import Stage, processes_of, set_up, until
from tournament.config import Config
from tournament.runner.rounds import Rounds, score_of
from tournament.store.queries import encounter_scores, leg_results, matches, record, round_counts
from tournament.store.stored import FINISHED, UNFINISHED, EncounterScore

NAMES = ("ann", "bob", "cid", "dan")
SWISS = Config(format="swiss", rounds=3, encounters=1, seed=7)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with set_up(tmp_path, monkeypatch) as stage:
        yield stage


def plan(stage: Stage, tournament: str) -> list[tuple[object, ...]]:
    """Return what was planned and how it ended, secrets by what the fake referee made of them."""
    return [
        (
            row.fixture, row.round, row.number, row.match_id, row.record_hash,
            [seat.place for seat in row.seats],
        )
        for row in matches(stage.store, tournament)
    ]  # fmt: skip


async def test_rounds_follow_one_another(stage: Stage) -> None:
    tournament = stage.begin(*NAMES, config=SWISS)
    assert stage.store.tournament(tournament).planned == 4
    assert await stage.play(tournament) == []
    rows = matches(stage.store, tournament)
    assert [row.fixture.position for row in rows] == list(range(12))
    assert [row.round for row in rows] == [0] * 4 + [1] * 4 + [2] * 4
    assert stage.store.tournament(tournament).status == FINISHED
    # Nobody meets anybody twice while it can be helped, and a round is played before the next.
    pairs = [frozenset(e.bots) for e in encounter_scores(stage.store, tournament)]
    assert len(set(pairs)) == 6
    by_arrival = sorted(rows, key=lambda row: row.sequence or 0)
    assert [row.round for row in by_arrival] == sorted(row.round for row in rows)
    assert [text for text in stage.said if text.startswith("round")] == [
        f"round {number} of 3" for number in (1, 2, 3)
    ]
    assert "12 matches to play, 0 of 12 are done" in stage.said
    assert stage.said[-1].startswith("12/12 matches")


def has_stored(stage: Stage, tournament: str, matches: int) -> Callable[[], bool]:
    return lambda: len(leg_results(stage.store, tournament)) >= matches


async def test_an_interrupted_tournament_ends_like_one_that_was_not(stage: Stage) -> None:
    whole = stage.begin(*NAMES, config=SWISS)
    await stage.play(whole)
    for stored in (1, 4, 9):
        tournament = stage.begin(*NAMES, config=SWISS)
        playing = asyncio.create_task(stage.play(tournament))
        await until(has_stored(stage, tournament, stored))
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        assert not processes_of(stage.root)
        await stage.play(tournament, workers=1)
        assert plan(stage, tournament) == plan(stage, whole), stage.said
        assert stage.store.tournament(tournament).status == FINISHED


async def test_a_round_that_was_planned_is_not_planned_again(stage: Stage) -> None:
    tournament = stage.begin(*NAMES, config=SWISS)
    with pytest.raises(ValueError, match="stop here"):
        await _play_until_planned(stage, tournament, rounds=2)
    before = stage.store.pending(tournament)
    assert [count.round for count in round_counts(stage.store, tournament)] == [0, 1]
    await stage.play(tournament)
    rows = {row.fixture.fixture_id: row for row in matches(stage.store, tournament)}
    for leg in before:
        # On the secret that it was planned with.
        row = rows[leg.fixture.fixture_id]
        assert leg.secret.hex().encode() in record(stage.store, tournament, row.fixture.fixture_id)
    assert len(round_counts(stage.store, tournament)) == 3


async def _play_until_planned(stage: Stage, tournament: str, rounds: int) -> None:
    """Stop, as a kill would, right after a round was added."""
    add = stage.store.add_encounters

    def add_and_stop(*arguments: object) -> None:
        add(*arguments)  # type: ignore[arg-type]
        if len(round_counts(stage.store, tournament)) == rounds:
            raise ValueError("stop here")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage.store, "add_encounters", add_and_stop)
        await stage.play(tournament)


async def test_a_leg_that_stays_unplayed_counts_half_and_the_rounds_go_on(stage: Stage) -> None:
    config = Config(format="swiss", rounds=2, encounters=1)
    tournament = stage.begin("ann", "bob", "cid", "never", config=config)
    unplayed = await stage.play(tournament)
    assert {"never" in item.leg.fixture.seats for item in unplayed} == {True}
    assert len(unplayed) == 4  # two legs in each round
    assert [count.matches for count in round_counts(stage.store, tournament)] == [2, 2]
    assert stage.store.tournament(tournament).status == UNFINISHED


@pytest.mark.parametrize(
    ("shares", "points"),
    [
        ({"a": 1.0, "b": 0.0}, {"a": 1.0, "b": 0.0}),
        ({"a": 0.75, "b": 0.25}, {"a": 1.0, "b": 0.0}),
        ({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5}),
        ({"a": 0.25, "b": 0.75}, {"a": 0.0, "b": 1.0}),
        (None, {"a": 0.5, "b": 0.5}),
    ],
)
def test_an_encounter_is_won_drawn_lost_or_unplayed(
    shares: dict[str, float] | None, points: dict[str, float]
) -> None:
    encounter = EncounterScore("e", 3, 0, ("a", "b"), legs=2, played=2, scores=shares)
    score = score_of(encounter)
    assert (score.encounter_id, score.round, score.points) == ("e", 3, points)


async def test_after_the_last_round_there_is_nothing_more(stage: Stage) -> None:
    store_plan(stage.store, "ab", identity="last")
    told: list[int] = []
    config = Config(format="swiss", rounds=1, encounters=1)
    assert await Rounds(stage.store, "last", config, told.append).more() == ()
    assert told == []
