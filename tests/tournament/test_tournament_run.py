"""Whole runs through real worker and bot processes; only the referee inside is a fake."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tournament.fakes import BOT, bot_folder
from tests.tournament.stage import COMMAND, Stage, processes_of, set_up, until
from tournament.bots.find import find_bots
from tournament.bots.frozen import frozen_folder
from tournament.bots.logs import match_log
from tournament.bots.sandbox.choose import choose
from tournament.config import Config
from tournament.errors import ResumeError, TournamentError, WorkerError
from tournament.runner import run
from tournament.runner.progress import LineProgress
from tournament.store.queries import leg_results, matches, record
from tournament.store.stored import FINISHED, UNFINISHED, Entry
from tournament.worker.messages import Setup


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with set_up(tmp_path, monkeypatch) as stage:
        yield stage


async def test_a_round_robin_is_played_and_finished(stage: Stage) -> None:
    tournament = stage.begin("ann", "bob", "cid")
    assert await stage.play(tournament) == []
    legs = leg_results(stage.store, tournament)
    assert len(legs) == 12
    assert all(leg.has_result for leg in legs)
    assert stage.store.tournament(tournament).status == FINISHED
    assert stage.said[-1].startswith("12/12 matches")
    row = matches(stage.store, tournament)[0]
    assert row.match_id.encode() in record(stage.store, tournament, row.fixture.fixture_id)


async def test_legs_share_the_secret_and_processes_play_one_leg_index_only(stage: Stage) -> None:
    tournament = stage.begin("ann", "bob", encounters=4)
    await stage.play(tournament, workers=1)
    by_encounter: dict[str, set[bytes]] = {}
    for row in matches(stage.store, tournament):
        secret = record(stage.store, tournament, row.fixture.fixture_id).split()[1]
        by_encounter.setdefault(row.fixture.encounter_id, set()).add(secret)
    assert [len(secrets) for secrets in by_encounter.values()] == [1] * 4
    assert len(set.union(*by_encounter.values())) == 4
    logs = run.log_folder(stage.data, tournament) / "bots"
    # Two bots, two leg indexes: four processes for sixteen seats.
    assert sorted(str(log.relative_to(logs)) for log in logs.glob("*/*-leg*")) == [
        "ann/0001-leg0.log", "ann/0002-leg1.log", "bob/0001-leg0.log", "bob/0002-leg1.log",
    ]  # fmt: skip
    # Each says hello once, before its first match or, if the pipe is slow, in the log of that.
    for bot in ("ann", "bob"):
        assert sum("hello" in log.read_text() for log in logs.glob(f"{bot}/*")) >= 2


async def test_a_killed_workers_leg_is_played_again_and_stored_once(stage: Stage) -> None:
    tournament = stage.begin("ann", "killer", encounters=2)
    assert await stage.play(tournament, workers=1) == []
    rows = matches(stage.store, tournament)
    assert [row.termination for row in rows] == ["completed"] * 4
    assert any("will be played again: the worker has ended" in text for text in stage.said)
    assert (stage.marks / "killer").exists()


@pytest.mark.parametrize("name", ["raiser", "aborter"])
async def test_a_leg_without_a_fault_of_bots_is_played_again(stage: Stage, name: str) -> None:
    tournament = stage.begin("ann", name, encounters=1)
    assert await stage.play(tournament, workers=2) == []
    assert len(leg_results(stage.store, tournament)) == 2
    assert sum("will be played again" in text for text in stage.said) == 1


async def test_three_aborts_leave_a_leg_unplayed_and_the_rest_played(stage: Stage) -> None:
    tournament = stage.begin("ann", "bob", "never", encounters=1)
    unplayed = await stage.play(tournament)
    assert {"never" in item.leg.fixture.seats for item in unplayed} == {True}
    assert len(unplayed) == 4
    assert len(leg_results(stage.store, tournament)) == 2
    assert stage.store.tournament(tournament).status == UNFINISHED
    assert {leg.aborts for leg in stage.store.pending(tournament)} == {3}


async def test_a_bot_that_ends_at_once_forfeits_and_is_given_up_after_three_times(
    stage: Stage,
) -> None:
    bot_folder(stage.root / "bots", "dud", script="import sys; print('no'); sys.exit(7)")
    tournament = stage.begin("ann", "dud", encounters=3)
    assert await stage.play(tournament, workers=1) == []
    rows = matches(stage.store, tournament)
    forfeits = [seat.forfeit for row in rows for seat in row.seats if seat.bot == "dud"]
    assert forfeits == ["startup"] * 6
    assert "exit code 7" in rows[0].reasons
    assert "exit code 7" not in rows[0].text
    assert "withdrawn" in rows[5].reasons
    logs = run.log_folder(stage.data, tournament) / "bots"
    of_processes = list((logs / "dud").glob("*-leg*.log"))
    of_matches = [match_log(logs, "dud", row.match_id) for row in rows[:3]]
    assert {log.read_text() for log in (*of_processes, *of_matches)} == {"no\n"}
    assert len(of_processes) == 3
    assert len(list((logs / "dud").iterdir())) == 6


async def test_a_program_that_does_not_exist_forfeits(stage: Stage) -> None:
    bot_folder(stage.root / "bots", "gone", changes={"run": ["no-such-program"]})
    tournament = stage.begin("ann", "gone", encounters=1)
    assert await stage.play(tournament, workers=1) == []
    text = "gone could not be started: the program 'no-such-program' of its `run` was not found"
    assert text in matches(stage.store, tournament)[0].reasons
    assert sum(line.startswith("gone (leg 0) could not be started: ") for line in stage.said) == 1


async def test_the_organiser_is_told_once_why_a_bot_does_not_start(stage: Stage) -> None:

    folder = bot_folder(stage.root / "bots", "plain", changes={"run": ["./python.py"]})
    (folder / "python.py").write_text("#!/no/such/program\n")
    (folder / "python.py").chmod(0o755)
    bot_folder(stage.root / "bots", "typo", script="import no_such_module")
    bot_folder(stage.root / "bots", "silent", script="raise SystemExit(3)")
    tournament = stage.begin("plain", "typo", "silent", encounters=1)
    await stage.play(tournament, workers=1)
    notes = [text for text in stage.said if " (leg " in text and " failed " not in text]
    assert len(notes) == 3
    plain, silent, typo = sorted(notes)
    assert "the program './python.py' of its `run` was not found (or, if it is a script" in plain
    logs = run.log_folder(stage.data, tournament) / "bots"
    assert typo.startswith(
        "typo (leg 0) ended with exit code 1 before its hello; its output ends with:"
        f" ModuleNotFoundError: No module named 'no_such_module';"
        f" log: {logs / 'typo'}/"
    )
    assert silent.startswith(
        "silent (leg 0) ended with exit code 3 before its hello; it wrote no output; log: "
    )
    rows = matches(stage.store, tournament)
    log = match_log(logs, "typo", next(row.match_id for row in rows if "typo" in row.reasons))
    assert typo.endswith(f"log: {log}")
    assert log.read_text().startswith("Traceback")
    assert sum("typo ended with exit code 1 before its hello" in row.reasons for row in rows) == 3
    assert not any("exit code" in row.text for row in rows)


async def test_a_bot_that_hangs_before_hello_forfeits(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = run.make_setup

    def impatient(
        config: Config, entries: Sequence[Entry], data_dir: Path, log_dir: Path, sandbox: str
    ) -> Setup:
        return replace(original(config, entries, data_dir, log_dir, sandbox), launch_s=0.5)

    monkeypatch.setattr(run, "make_setup", impatient)
    bot_folder(stage.root / "bots", "mute", script="import time; time.sleep(600)")
    tournament = stage.begin("mute", "mute2", encounters=1)
    await stage.play(tournament, workers=1)
    assert "mute said no hello within 0.5 s" in matches(stage.store, tournament)[0].reasons
    assert any(line.startswith("mute (leg 0) said no hello within 0.5 s") for line in stage.said)


async def test_cancelling_ends_every_process_and_a_resume_plays_the_rest(stage: Stage) -> None:
    tournament = stage.begin("ann", "bob", "sleeper", encounters=1)
    playing = asyncio.create_task(stage.play(tournament))
    await until((stage.marks / "sleeper").exists)
    assert processes_of(stage.root)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert not processes_of(stage.root)
    before = {leg.position for leg in leg_results(stage.store, tournament)}
    chosen = run.latest_unfinished(stage.store)
    run.check_unchanged(stage.store, stage.data, chosen, sandbox=choose("none"))
    pending = stage.store.pending(tournament)
    assert {leg.fixture.position for leg in pending} == set(range(6)) - before


async def test_a_worker_that_loses_its_runner_ends_with_its_bots(stage: Stage) -> None:
    tournament = stage.begin("ann", "sleeper", encounters=1)
    script = f"""
import asyncio, pathlib, sys
from tournament.runner import run
from tournament.runner.progress import LineProgress
from tournament.store.store import Store
store = Store.open(pathlib.Path({str(stage.data)!r}))
asyncio.run(run.play(store, pathlib.Path({str(stage.data)!r}), store.tournament({tournament!r}),
    workers=1, progress=LineProgress(print), sandbox="none", command={COMMAND!r}))
"""
    runner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.DEVNULL
    )
    await until((stage.marks / "sleeper").exists)
    assert len(processes_of(stage.root)) == 2
    assert len(list(stage.temp.glob("rummy-*"))) == 1
    runner.kill()
    await runner.wait()
    await until(lambda: not processes_of(stage.root))
    await until(lambda: not list(stage.temp.glob("rummy-*")))


async def test_a_worker_that_cannot_begin_is_explained_with_its_log(stage: Stage) -> None:
    tournament = stage.begin("ann", "bob", encounters=1)
    with pytest.raises(WorkerError, match=r"(?s)did not become ready.*ends with:.*no such thing"):
        await run.play(
            stage.store,
            stage.data,
            stage.store.tournament(tournament),
            workers=2,
            progress=LineProgress(stage.said.append),
            sandbox="none",
            command=(sys.executable, "-c", "raise SystemExit('no such thing')"),
        )


async def test_a_worker_that_is_killed_while_starting_is_explained_without_noise(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    tournament = stage.begin("ann", "bob", encounters=1)
    log = run.log_folder(stage.data, tournament) / "worker-2.log"  # it was tried three times
    with pytest.raises(WorkerError, match=f"the worker has ended.*it wrote nothing to {log}$"):
        await run.play(
            stage.store,
            stage.data,
            stage.store.tournament(tournament),
            workers=1,
            progress=LineProgress(stage.said.append),
            sandbox="none",
            command=(sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"),
        )
    assert caplog.messages == []


def test_cancelling_while_workers_start_leaves_nothing(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    tournament = stage.begin("ann", "bob", encounters=1)

    async def cancel_after(turns: int) -> None:
        playing = asyncio.create_task(stage.play(tournament))
        for _ in range(turns):
            await asyncio.sleep(0)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing

    for turns in (1, 2, 3, 4, 5, 8, 13):
        asyncio.run(cancel_after(turns))
        assert not processes_of(stage.root)
        assert list(stage.temp.iterdir()) == []
    assert caplog.messages == []


def test_a_resume_is_refused_when_a_bot_changed(stage: Stage) -> None:
    tournament = stage.store.tournament(stage.begin("ann", "bob"))
    run.check_unchanged(stage.store, stage.data, tournament, sandbox=choose("none"))
    (stage.root / "bots" / "ann" / "bot.py").write_text(BOT + "# better\n")
    with pytest.raises(
        ResumeError, match=r"ann changed since ann began the tournament: bot\.py changed\."
    ):
        run.check_unchanged(stage.store, stage.data, tournament, sandbox=choose("none"))


def test_a_seed_makes_the_same_deals_and_without_one_they_differ(stage: Stage) -> None:
    folders = [str(bot_folder(stage.root / "bots", name)) for name in ("ann", "bob")]

    def secrets_of(seed: int | None) -> list[tuple[bytes, bytes]]:
        config = Config(encounters=2, seed=seed)
        tournament = run.begin(
            stage.store, stage.data, config, find_bots(folders), None, sandbox=choose("none")
        )
        return [(leg.secret, leg.salt) for leg in stage.store.pending(tournament)]

    assert secrets_of(7) == secrets_of(7)
    assert secrets_of(7) != secrets_of(8)
    assert not set(secrets_of(None)) & set(secrets_of(None))


def test_bots_are_played_from_frozen_copies(stage: Stage) -> None:
    tournament = stage.begin("ann", "bob")
    entries = stage.store.entries(tournament)
    for item in entries:
        copy = frozen_folder(stage.data, item.content_hash)
        assert (copy / "bot.py").read_text() == BOT
    assert oct((stage.data / "bots").stat().st_mode)[-3:] == "700"


def test_errors_have_one_base_class() -> None:
    assert issubclass(ResumeError, TournamentError)
