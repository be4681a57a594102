"""`tournament submit`: check a bot, freeze it and register it, or register one that runs elsewhere.

What is registered is whole: the row in the database comes last, after the copy and the check.
"""

import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from tournament.bots.builds import build_rights
from tournament.bots.find import lacking, opponents, sample_bot_folders
from tournament.bots.folder import MANIFEST, BotFolder, read_bot_folder
from tournament.bots.frozen import freeze, frozen_folder, is_intact
from tournament.bots.sandbox.wrapped import Sandbox, check_trust
from tournament.bots.submission import check_submittable
from tournament.commands import output
from tournament.commands.options import (
    DEFAULT_DATA,
    DEFAULT_SANDBOX,
    BuildCachesOption,
    BuildNetworkOption,
    DatabaseOption,
    DataOption,
    FormatOption,
    SandboxOption,
)
from tournament.commands.output import say
from tournament.commands.playing import INTERRUPTED_EXIT
from tournament.commands.sandbox import open_sandbox
from tournament.commands.submitted import name_of
from tournament.errors import OutputError, ResumeError, StoreError, TournamentError, UsageError
from tournament.ladder.names import check_names, check_words
from tournament.report.bots import submission_view
from tournament.report.render import Format
from tournament.runner.interrupts import sigterm_interrupts
from tournament.runner.run import entry_of
from tournament.store.registry import (
    Registration,
    Registry,
    check_version,
    outside_hash,
    unused,
)
from tournament.store.store import Store
from tournament.store.stored import Entry


def submit(
    *,
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="The bot's folder, with its bot.toml.")
    ] = None,
    is_untrusted: Annotated[
        bool,
        typer.Option(
            "--untrusted", help="Nobody vouches for it: it is played in bubblewrap or not at all."
        ),
    ] = False,
    elsewhere: Annotated[
        str | None,
        typer.Option(
            "--elsewhere",
            metavar="NAME",
            help="Register a bot that its author runs, and show its token; needs the next three.",
        ),
    ] = None,
    version: Annotated[
        str | None, typer.Option("--version", metavar="V", help="With --elsewhere, --new-token.")
    ] = None,
    author: Annotated[
        str | None, typer.Option("--author", metavar="A", help="With --elsewhere.")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", metavar="L", help="With --elsewhere.")
    ] = None,
    renewed: Annotated[
        str | None,
        typer.Option(
            "--new-token",
            metavar="NAME",
            help="Replace the token of a bot that runs elsewhere: of --version, or its newest.",
        ),
    ] = None,
    sandbox: SandboxOption = DEFAULT_SANDBOX,
    build_network: BuildNetworkOption = None,
    build_caches: BuildCachesOption = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Check a bot, keep a frozen copy of it, and register its name and version.

    The copy is what is checked and what is played. A folder that has not changed is the same
    version; a changed one needs another `version` in its bot.toml, and the old one keeps its
    results and its rating. `tournament bots` lists what was submitted, `withdraw` retires it.

    \b
    Examples:
      tournament submit my-bot
      tournament submit my-bot --untrusted --sandbox bubblewrap
      tournament submit --elsewhere my-bot --version 1.0 --author me --language go
      tournament submit --new-token my-bot

    \b
    Exit codes: 0 when it is registered, also if it was before; 1 when it did not pass the check or
    could not be built; 2 when folder, bot.toml or options are wrong.
    """  # noqa: D301 - \b keeps the lines below it as they are
    given = [one for one in (folder, elsewhere, renewed) if one is not None]
    if len(given) != 1:
        raise UsageError(
            f"{'nothing' if not given else ' and '.join(map(repr, map(str, given)))} to submit:"
            " allowed is one of FOLDER, --elsewhere NAME and --new-token NAME"
        )
    _check_options(
        {"--author": author, "--language": language},
        is_allowed=elsewhere is not None,
        where="--elsewhere",
    )
    if folder is not None:
        _check_options({"--version": version}, is_allowed=False, where="--elsewhere or --new-token")
        done = _submit_folder(
            folder,
            data,
            database,
            sandbox,
            is_untrusted=is_untrusted,
            network=build_network,
            caches=build_caches,
        )
        output.write(submission_view(done, None), format_)
        for line in _how_to_play(done, data):
            say(line)
        return
    if is_untrusted:
        raise UsageError("--untrusted goes with FOLDER: who runs elsewhere is in no sandbox here")
    if elsewhere is not None:
        needed = {"--version": version, "--author": author, "--language": language}
        done, token = _register_outside(_outside_entry(elsewhere, needed), data, database)
    else:
        assert renewed is not None
        done, token = _renew_token(renewed, version, data, database)
    try:
        output.write(submission_view(done, token), format_)
    except (OutputError, BrokenPipeError) as error:
        raise OutputError(
            f"{error}: the token is lost; `tournament submit --new-token {done.bot} --version"
            f" {done.version}` makes another"
        ) from error
    say(
        "The token is shown this once: only its hash is kept. Give it to the bot's author, who sets"
        " RUMMY_TOKEN to it, and RUMMY_REFEREE to the address that `tournament ladder` shows."
    )


def _check_options(options: Mapping[str, str | None], *, is_allowed: bool, where: str) -> None:
    for option, value in options.items():
        if value is not None and not is_allowed:
            raise UsageError(
                f"{option} {value!r} goes with {where}; a folder's bot.toml says its own"
            )


# Bots that are played here


def _submit_folder(
    folder: Path,
    data: Path,
    database: str | None,
    sandbox: str,
    *,
    is_untrusted: bool,
    network: bool | None,
    caches: bool | None,
) -> Registration:
    bot = read_bot_folder(folder)
    check_submittable(bot)
    problem = lacking(bot)
    if problem is not None:
        raise UsageError(f"{bot.name} can't be built or run here: {problem}")
    walls = open_sandbox(sandbox, data)
    check_trust(walls, [bot.name] if is_untrusted else [])
    rights = build_rights(bot, is_untrusted=is_untrusted, network=network, caches=caches)
    with sigterm_interrupts(), Store.open(data, database) as store:
        try:
            with _nobody_else_submits(store, bot):
                old = _registered_before(store, bot)
                with _copy_kept_if_used(store, bot, data):
                    copy = freeze(
                        bot,
                        data,
                        sandbox=walls,
                        build_network=rights.has_network,
                        build_caches=rights.has_caches,
                        tell=say,
                    )
                    if old is None:
                        _check(bot, copy, walls)
                    done = Registry(store).register(
                        entry_of(bot), is_elsewhere=False, is_untrusted=is_untrusted
                    )
        except KeyboardInterrupt:
            is_in = any(
                one.content_hash == bot.content_hash for one in Registry(store).of(bot.name)
            )
            say(f"interrupted: {bot.name} {bot.version} is {'' if is_in else 'not '}submitted")
            raise typer.Exit(INTERRUPTED_EXIT) from None
    if old is None:
        say(f"{done.bot} is submitted as version {done.version}")
    else:
        say(f"{done.bot} is submitted already as version {done.version}: nothing has changed")
    if done.is_untrusted and not is_untrusted:
        say("it stays marked untrusted, as it was submitted before")
    return done


@contextmanager
def _nobody_else_submits(store: Store, bot: BotFolder) -> Iterator[None]:
    try:
        with store.lock(f"submit-{bot.name}"):
            yield
    except ResumeError as error:
        raise ResumeError(
            f"{bot.name} is being submitted by another process: wait for it"
        ) from error


def _registered_before(store: Store, bot: BotFolder) -> Registration | None:
    """Return the registration of this very content. Raises UsageError if it can't be submitted."""
    known = Registry(store).of(bot.name)
    check_version(entry_of(bot), known)
    old = next((one for one in known if one.content_hash == bot.content_hash), None)
    if old is not None and old.withdrawn is not None:
        raise UsageError(
            f"{bot.name} {bot.version} was withdrawn, at {old.withdrawn}: to submit it again give"
            f" it another `version` in {bot.path / MANIFEST}"
        )
    return old


def _check(bot: BotFolder, copy: Path, sandbox: Sandbox) -> None:
    from tournament.commands.checking import run_check  # noqa: PLC0415 - it brings in the referee

    if not run_check(bot, copy, sandbox).may_compete:
        raise TournamentError(
            f"{bot.name} {bot.version} did not pass the check, and is not submitted"
        )


@contextmanager
def _copy_kept_if_used(store: Store, bot: BotFolder, data: Path) -> Iterator[None]:
    """Remove the bot's frozen copy if it is new and nobody has come to use it in the end."""
    target = frozen_folder(data, bot.content_hash)
    was_there = is_intact(target)
    try:
        yield
    finally:
        if not was_there:
            # What can't be looked up stays: an unused copy does no harm.
            with suppress(StoreError), unused(store, bot.content_hash) as is_unused:
                if is_unused:
                    shutil.rmtree(target, ignore_errors=True)


def _how_to_play(done: Registration, data: Path) -> Iterator[str]:
    """Yield commands that play the bot, and that it hides a sample bot, if it does."""
    hidden = sample_bot_folders().get(done.bot)
    if hidden is not None:
        yield (
            f"there is a sample bot {done.bot!r} too: that name now means the submitted bot;"
            f" the sample bot is in {shlex.quote(str(hidden))}"
        )
    name = shlex.quote(name_of(done))
    others = opponents(done.bot)
    place = "" if data == DEFAULT_DATA else f" --data {shlex.quote(str(data))}"
    yield f"play it:        tournament run --bots {name} {others}{place}"
    yield f"play them all:  tournament run --submitted --bots {others}{place}"


# Bots that run elsewhere


def _outside_entry(name: str, given: Mapping[str, str | None]) -> Entry:
    missing = [option for option, value in given.items() if value is None]
    if missing:
        raise UsageError(f"{' and '.join(missing)} must be given with --elsewhere {name}")
    version, author, language = (value or "" for value in given.values())
    try:
        check_names(name, version)
        check_words(author, language)
    except ValueError as error:
        raise UsageError(f"--elsewhere: {error}") from error
    return Entry(
        bot=name,
        version=version,
        author=author,
        language=language,
        content_hash=outside_hash(name, version),
        folder="",
        manifest={"elsewhere": True},
    )


def _register_outside(entry: Entry, data: Path, database: str | None) -> tuple[Registration, str]:
    token, key = _token_and_key()
    with Store.open(data, database) as store:
        done = Registry(store).register(entry, is_elsewhere=True, token_key=key)
    if done.token_key != key:
        if done.withdrawn is not None:
            raise UsageError(
                f"{entry.bot} {entry.version} was withdrawn, at {done.withdrawn}:"
                " register it again with another --version"
            )
        raise UsageError(
            f"{entry.bot} {entry.version} is registered already: --new-token {entry.bot} replaces"
            " its token, another --version registers a new one"
        )
    return done, token


def _renew_token(
    name: str, version: str | None, data: Path, database: str | None
) -> tuple[Registration, str]:
    token, key = _token_and_key()
    with Store.open(data, database, create=False) as store:
        registry = Registry(store)
        outside = [one for one in registry.of(name) if one.is_elsewhere and one.withdrawn is None]
        chosen = [one for one in outside if version in (None, one.version)]
        if not chosen:
            if outside:
                there = ", ".join(one.version for one in outside)
                raise UsageError(
                    f"--new-token: {name} has no version {version!r} that runs elsewhere: those"
                    f" that do are {there}"
                )
            others = dict.fromkeys(one.bot for one in registry.all() if one.is_elsewhere)
            raise UsageError(
                f"--new-token: no bot {name!r} runs elsewhere: those that do are"
                f" {', '.join(others) or 'none yet'}"
            )
        registry.set_token(chosen[-1].content_hash, key)
        return chosen[-1], token


def _token_and_key() -> tuple[str, str]:
    """Return a new token, and what is stored of it."""
    from referee.service.tokens import key_of, new_token  # noqa: PLC0415 - it is the referee's

    token = new_token()
    return token, key_of(token)
