"""How `run`, `play`, `test` and `resume` have a tournament played, and how they end."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import typer

from tournament.bots.folder import BotFolder
from tournament.bots.sandbox.wrapped import check_trust
from tournament.commands import output
from tournament.commands.options import DATABASE_VARIABLE, DEFAULT_SANDBOX
from tournament.commands.output import people, say
from tournament.commands.sandbox import open_sandbox
from tournament.commands.verdict import verdict_view
from tournament.commands.views import show_leaderboard, show_matches
from tournament.config import Config
from tournament.errors import StoreError, TournamentError
from tournament.report.render import Format
from tournament.runner import run
from tournament.runner.early_stop import read_trial, sprt_of
from tournament.runner.interrupts import Interrupted, run_until_signal, sigterm_interrupts
from tournament.runner.progress import make_progress
from tournament.schedule.fixtures import MATCHES_MOST
from tournament.schedule.formats import SINGLE, TEST
from tournament.statistics.standings import counted
from tournament.store.queries import leg_results, legs_per_encounter
from tournament.store.store import Store
from tournament.store.stored import Tournament

UNPLAYED_EXIT, INTERRUPTED_EXIT = 3, 130
LONG_PLAN = 20_000
"""Matches whose planning takes longer than somebody waits without a word."""


def begin_and_play(
    config: Config,
    bots: Sequence[BotFolder],
    data: Path,
    file: Path | None,
    *,
    sandbox: str = DEFAULT_SANDBOX,
    build_network: bool | None = None,
    build_caches: bool | None = None,
    database: str | None = None,
    format_: Format = Format.TABLE,
) -> None:
    """Store a new tournament and play it, in the wanted sandbox or not at all.

    What builds may do is up to build_rights where it is None.
    """
    check_trust(opened := open_sandbox(sandbox, data), run.untrusted_among(config, bots))
    with sigterm_interrupts(), Store.open(data, database) as store:
        planned = config.match_count(len(bots))
        if LONG_PLAN <= planned <= MATCHES_MOST:
            say(f"planning {planned} matches …")
        tournament = run.new_id()
        with store.lock(tournament):
            try:
                run.begin(
                    store,
                    data,
                    config,
                    bots,
                    file,
                    tournament,
                    sandbox=opened,
                    build_network=build_network,
                    build_caches=build_caches,
                    tell=say,
                )
            except KeyboardInterrupt:
                if _is_stored(store, tournament):
                    go_on = _resume(store, tournament, data)
                    say(f"interrupted: it is planned; go on with: {go_on}")
                else:
                    say("interrupted while planning: nothing is stored")
                raise typer.Exit(INTERRUPTED_EXIT) from None
            play_locked(store, data, tournament, None, opened.name, format_)


def resume_and_play(
    data: Path,
    tournament: str | None,
    workers: int | None,
    *,
    sandbox: str = DEFAULT_SANDBOX,
    database: str | None = None,
) -> None:
    """Go on with a tournament, or the latest that is not finished."""
    with sigterm_interrupts(), Store.open(data, database, create=False) as store:
        chosen = store.tournament(tournament) if tournament else run.latest_unfinished(store)
        with store.lock(chosen.id):
            opened = open_sandbox(sandbox, data)
            run.check_unchanged(store, data, chosen, sandbox=opened)
            play_locked(store, data, chosen.id, workers, opened.name, verb="goes on in")


def _is_stored(store: Store, tournament: str) -> bool:
    try:
        store.tournament(tournament)
    except StoreError:
        return False
    return True


def _resume(store: Store, tournament: str, data: Path) -> str:
    words = f"tournament resume {tournament} --data {shlex.quote(str(data))}"
    # A database that the environment names is found there again.
    if "://" in store.name and not os.environ.get(DATABASE_VARIABLE):
        words += f" --database {shlex.quote(store.name)}"
    return words


def play_locked(
    store: Store,
    data: Path,
    tournament: str,
    workers: int | None,
    sandbox: str,
    format_: Format = Format.TABLE,
    verb: str = "in",
) -> None:
    """Play what is pending, show what came of it, and leave with the right exit code.

    `sandbox` names the tier that bots are started in.
    """
    chosen = store.tournament(tournament)
    config = run.stored_config(chosen)
    count = run.worker_count(config.workers if workers is None else workers)
    say(f"tournament {tournament} {verb} {store.name}")
    playing = run.play(
        store, data, chosen, workers=count, progress=make_progress(people), sandbox=sandbox
    )
    try:
        run_until_signal(playing, lambda: say("stopping: ending the bots …"))
    except Interrupted:
        now = store.tournament(tournament)
        say(
            f"interrupted: {now.matches} of {now.planned} matches are stored;"
            f" go on with: {_resume(store, tournament, data)}"
        )
        raise typer.Exit(INTERRUPTED_EXIT) from None
    except TournamentError as error:
        if store.is_there:
            hint = f"What is stored stays; go on with: {_resume(store, tournament, data)}"
            raise type(error)(f"{error}\n{hint}") from error
        raise
    try:
        unplayed = _show(store, store.tournament(tournament), config, format_)
    except KeyboardInterrupt:
        say("interrupted: every match is stored, `tournament leaderboard` shows what came of them")
        raise typer.Exit(INTERRUPTED_EXIT) from None
    if unplayed:
        logs = run.log_folder(data, tournament)
        say(f"{unplayed}; `tournament matches` says why, logs are in {logs}")
        raise typer.Exit(UNPLAYED_EXIT)


def _show(store: Store, tournament: Tournament, config: Config, format_: Format) -> str:
    """Show what came of it, and return in words which encounters have no result, if any."""
    if config.format == TEST:
        sprt = sprt_of(config)
        trial = read_trial(store, tournament.id, sprt)
        output.write(verdict_view(tournament, trial, sprt), format_)
        return f"{trial.unplayed} encounters have no result and do not count" * bool(trial.unplayed)
    if config.format == SINGLE:
        show_matches(store, tournament, format_)
    else:
        show_leaderboard(store, tournament, format_)
    legs = leg_results(store, tournament.id)
    planned = legs_per_encounter(store, tournament.id)
    missing = len(planned) - len({leg.encounter_id for leg in counted(legs, planned)})
    if not missing:
        return ""
    return f"{missing} of {len(planned)} encounters have no result and do not count"
