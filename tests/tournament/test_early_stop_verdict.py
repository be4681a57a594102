"""A test of two bots stops by its results in plan order, whatever order they come in."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.match.outcome import MatchResult, Termination
from tests.scale import repeatable
from tests.tournament.fakes import command, match_result
from tests.tournament.hall import planned
from tests.tournament.stage import Stage, set_up
from tournament.commands.verdict import in_words, verdict_view
from tournament.config import Config
from tournament.report.render import Format, render
from tournament.report.results import load
from tournament.runner.early_stop import EarlyStop, Trial, judge, read_trial, sprt_of
from tournament.statistics.sprt import Outcome, Sprt
from tournament.statistics.standings import LegResult, SeatRow, standings
from tournament.store.queries import counted_legs, leg_results
from tournament.store.stored import FINISHED, UNFINISHED, PlannedLeg

SPRT = Sprt(elo0=0, elo1=200)
BOTS = ("a", "b")


def result(places: tuple[int, int] | None) -> MatchResult:
    if places is None:
        return match_result([0, 0], termination=Termination.NOT_STARTED)
    return match_result(places)


def stored(leg: PlannedLeg, places: tuple[int, int] | None) -> LegResult:
    rows = zip(leg.fixture.seats, places or (0, 0), strict=True)
    seats = tuple(SeatRow(bot, place, 0, None, 1, 1, 1) for bot, place in rows)
    return LegResult(
        leg.fixture.encounter_id, leg.fixture.position, has_result=places is not None, seats=seats
    )


def plan_of(legs: list[PlannedLeg]) -> dict[str, int]:
    return {leg.fixture.encounter_id: 2 for leg in legs}


@st.composite
def histories(
    draw: st.DrawFn,
) -> tuple[list[PlannedLeg], dict[int, tuple[int, int] | None], list[int], set[int], int]:
    """Results by position, the order they come in, legs that are given up, and a resume."""
    legs = planned("ab", draw(st.integers(1, 20)))
    # From the first bot's view, one outcome likelier than the others.
    outcome = st.sampled_from([(1, 2)] * 6 + [(2, 1), (1, 1), None])
    places = {}
    for leg in legs:
        first = draw(outcome)
        is_turned = leg.fixture.seats != BOTS
        places[leg.fixture.position] = first[::-1] if first and is_turned else first
    order = draw(st.permutations(range(len(legs))))
    lost = draw(st.sets(st.sampled_from(range(len(legs))), max_size=3))
    return legs, places, list(order), lost, draw(st.integers(0, len(legs)))


@repeatable
@given(histories())
def test_the_order_of_arrival_changes_no_verdict(
    history: tuple[list[PlannedLeg], dict[int, tuple[int, int] | None], list[int], set[int], int],
) -> None:
    legs, places, order, lost, resumed_at = history
    before = [stored(legs[n], places[n]) for n in order[:resumed_at] if n not in lost]
    given_up = {legs[n].fixture.encounter_id for n in lost}
    course = EarlyStop(SPRT, "a", plan_of(legs), before)
    for n in [*[n for n in order[:resumed_at] if n in lost], *order[resumed_at:]]:
        if n in lost:
            course.given_up(legs[n].fixture)
        else:
            course.stored(legs[n].fixture, result(places[n]))
    ended = [stored(legs[n], places[n]) for n in range(len(legs)) if n not in lost]
    trial = judge(SPRT, BOTS, plan_of(legs), ended, given_up)
    assert course.is_decided == trial.is_decided
    # A sum of whole encounters in plan order that can be done by hand.
    by_hand = []
    for n in range(0, len(legs), 2):
        both = [pair for pair in (places[n], places[n + 1]) if pair is not None]
        if legs[n].fixture.encounter_id in given_up or len(both) < 2:
            continue
        shares = [
            {-1: 1.0, 0: 0.5, 1: 0.0}[(mine > other) - (mine < other)]
            for (first, second), leg in zip(both, legs[n : n + 2], strict=True)
            for mine, other in [(first, second) if leg.fixture.seats == BOTS else (second, first)]
        ]
        by_hand.append(sum(shares) / 2)
    assert list(trial.scores) == by_hand[: trial.verdict.at]
    assert trial.verdict == SPRT.judge(by_hand)


@repeatable
@given(histories())
def test_it_is_decided_as_soon_as_the_beginning_of_the_plan_decides_it(
    history: tuple[list[PlannedLeg], dict[int, tuple[int, int] | None], list[int], set[int], int],
) -> None:
    legs, places, order, lost, _ = history
    course = EarlyStop(SPRT, "a", plan_of(legs), [])
    ended: list[LegResult] = []
    given_up: set[str] = set()
    for n in order:
        if n in lost:
            course.given_up(legs[n].fixture)
            given_up.add(legs[n].fixture.encounter_id)
        else:
            course.stored(legs[n].fixture, result(places[n]))
            ended.append(stored(legs[n], places[n]))
        assert course.is_decided == judge(SPRT, BOTS, plan_of(legs), ended, given_up).is_decided


def test_unplayed_encounters_after_the_verdict_are_not_counted() -> None:
    legs = planned("ab", 30)
    won = [
        stored(leg, (1, 2) if leg.fixture.seats == BOTS else (2, 1))
        for leg in legs
        if leg.fixture.encounter_id != legs[2].fixture.encounter_id
    ]
    given_up = {legs[2].fixture.encounter_id, legs[59].fixture.encounter_id}
    trial = judge(SPRT, BOTS, plan_of(legs), won, given_up)
    assert (trial.verdict.outcome, trial.unplayed) == (Outcome.ACCEPTED_H1, 1)


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([1.0] * 30, "a is stronger than b by 200 Elo rather than 0"),
        ([0.0] * 30, "a is not stronger than b by 200 Elo, 0 is more likely"),
        ([0.5], "Undecided: 1 encounters tell neither that a is 200 Elo stronger than b"),
    ],
)
def test_the_verdict_is_said_in_words(scores: list[float], words: str) -> None:
    trial = Trial("a", "b", SPRT.judge(scores), scores, planned=40, unplayed=0)
    assert in_words(trial, SPRT).startswith(words)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with set_up(tmp_path, monkeypatch) as stage:
        yield stage


def config(encounters: int = 40) -> Config:
    sprt = {"elo0": 0.0, "elo1": 200.0, "alpha": 0.05, "beta": 0.05}
    return Config(format="test", encounters=encounters, sprt=sprt)


async def test_a_test_ends_early_is_finished_and_plays_no_more(stage: Stage) -> None:
    tournament = stage.begin("ann", "bob", config=config())
    # Of two workers one may play on for as long as the other is slow with an earlier leg.
    assert await stage.play(tournament, workers=1) == []
    trial = read_trial(stage.store, tournament, sprt_of(config()))
    assert (trial.bot, trial.opponent) == ("ann", "bob")
    assert trial.verdict.outcome is Outcome.ACCEPTED_H1
    assert trial.verdict.at == len(trial.scores) < 40
    legs = leg_results(stage.store, tournament)
    assert 2 * len(trial.scores) <= len(legs) <= 2 * len(trial.scores) + 2
    assert stage.store.tournament(tournament).status == FINISHED
    await stage.play(tournament)
    assert leg_results(stage.store, tournament) == legs
    view = verdict_view(stage.store.tournament(tournament), trial, sprt_of(config()))
    data = json.loads(render(view, Format.JSON))["test"]
    assert (data["outcome"], data["encounters"], data["ww"], data["score"], data["elo"]) == (
        "accepted_h1", len(trial.scores), len(trial.scores), 1.0, None,
    )  # fmt: skip


async def test_only_what_the_verdict_rests_on_counts(stage: Stage) -> None:
    tournament = stage.begin("ann", "bob", config=config())
    await stage.play(tournament, workers=1)
    store = stage.store
    at = read_trial(store, tournament, sprt_of(config())).verdict.at
    assert store.tournament(tournament).counted == at
    rows = load(store, tournament).standings
    # A leg of another worker that was under way when it fell comes in later.
    for late in store.pending(tournament)[:4]:
        store.save_result(tournament, late.fixture.fixture_id, match_result([2, 1]))
    versions = {entry.bot: entry.version for entry in store.entries(tournament)}
    counting = standings(versions, counted_legs(store, tournament))
    assert load(store, tournament).standings == rows == counting
    assert len(counted_legs(store, tournament)) == 2 * (at or 0)
    assert len(leg_results(store, tournament)) == 2 * (at or 0) + 4


async def test_a_test_whose_end_was_not_noted_is_finished_by_a_resume(stage: Stage) -> None:
    tournament = stage.begin("ann", "bob", config=config())
    await stage.play(tournament)
    stage.store.set_status(tournament, UNFINISHED)  # as if it was killed a moment before
    before = leg_results(stage.store, tournament)
    await stage.play(tournament)
    assert leg_results(stage.store, tournament) == before
    assert stage.store.tournament(tournament).status == FINISHED


async def test_an_encounter_that_is_given_up_is_passed_over(stage: Stage) -> None:
    tournament = stage.begin("ann", "never", config=config(3))
    unplayed = await stage.play(tournament)
    assert len(unplayed) == 6
    trial = read_trial(stage.store, tournament, sprt_of(config()))
    assert (trial.scores, trial.unplayed, trial.is_decided) == ([], 3, False)
    assert stage.store.tournament(tournament).status == UNFINISHED


async def test_the_first_bot_is_the_one_that_is_tested(stage: Stage) -> None:
    tournament = stage.begin("bob", "ann", config=config())
    await stage.play(tournament, workers=1)
    trial = read_trial(stage.store, tournament, sprt_of(config()))
    assert (trial.bot, trial.opponent) == ("bob", "ann")
    assert trial.verdict.outcome is Outcome.ACCEPTED_H0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["greedy"], "Missing argument 'B'"),
        (["greedy", "greedy"], "greedy and greedy are the same bot, 'greedy'"),
        (["greedy", "random", "--elo1", "-1"], "elo1 is -1.0: allowed is more than elo0, 0.0"),
        (["greedy", "random", "--alpha", "0.5"], "alpha is 0.5: allowed is"),
        (["greedy", "random", "--encounters", "0"], "encounters is 0: allowed is"),
        (["greedy", "random", "--rules", "poker"], "preset is 'poker': allowed are basic"),
    ],
)
def test_wrong_use_is_explained(tmp_path: Path, words: list[str], text: str) -> None:
    done = command("test", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert text in done.stderr
    assert "Traceback" not in done.stderr
