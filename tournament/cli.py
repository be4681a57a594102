"""The command `tournament`. Data goes to stdout, words for people to stderr.

Exit codes: 0 done, 1 a failure that is explained, 2 wrong use or wrong files, 3 encounters stayed
unplayed, 130 interrupted.
"""

import sys
from typing import Annotated

import typer

from tournament import __version__
from tournament.commands import (
    bench,
    bots,
    check,
    export,
    ladder,
    logs,
    new_bot,
    output,
    plan,
    play,
    playing,
    register,
    submit,
    test,
    views,
    why,
)
from tournament.commands.output import say
from tournament.errors import TournamentError, UsageError

# Typer brings click along under one name or another.
_WrongUse = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

app = typer.Typer(
    name="tournament",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tournament {__version__}")
        raise typer.Exit


@app.callback()
def common(
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Have Rummy bots play against each other, and rate them.

    \b
    Examples:
      tournament run                                  the sample bots, a few seconds
      tournament run --bots my-bot greedy --seed 7    a folder against a sample bot
      tournament plan cup.toml                        check a file before it is played
      tournament run cup.toml --workers 4             what a file says
      tournament test new-bot old-bot --elo1 30       until it is sure which is better
      tournament check my-bot                         may it compete, and what is wrong if not
      tournament new-bot my-bot                       a folder with a bot to begin from
      tournament submit my-bot                        check a bot, keep it, register it
      tournament leaderboard --format json

    \b
    Exit codes:
      0    done; forfeits are results too, stderr tells why a bot did not play
      1    the work failed: database, disk, a bot's build, a resume that is impossible
      2    wrong use: command line, tournament file, a bot that is missing or wrong
      3    encounters stayed without a result and do not count
      130  interrupted; `tournament resume` goes on
    """  # noqa: D301 - \b keeps the lines below it as they are


app.command("run")(play.run_command)
app.command("resume")(play.resume)
app.command("plan")(plan.plan)
app.command("play")(play.play)
app.command("test")(test.play_test)
app.command("verdict")(test.verdict)
app.command("check")(check.check)
app.command("submit")(submit.submit)
app.command("new-bot")(new_bot.new_bot)
app.command("bots")(bots.bots_command)
app.command("withdraw")(bots.withdraw)
app.command("leaderboard")(views.leaderboard)
app.command("crosstable")(views.crosstable_command)
app.command("statistics")(views.statistics)
app.command("matches")(views.matches_command)
app.command("show")(views.show)
app.command("why")(why.why)
app.command("logs")(logs.logs)
app.command("versions")(views.versions)
app.command("export")(export.export_command)
app.command("ladder")(ladder.ladder)
app.command("register")(register.register)
app.command("bench")(bench.bench)


def main() -> None:
    """Run the command; what goes wrong is explained without a traceback."""
    sys.exit(_exit_code())


def _exit_code() -> int:
    try:
        output.prepare()
        code = app(standalone_mode=False, prog_name="tournament")
        sys.stdout.flush()
    except TournamentError as error:
        say(f"error: {error}")
        output.give_up_stdout()
        return error.exit_code
    except _WrongUse as error:  # type: ignore[misc] # a class, though only found above
        text = error.format_message()
        say(text if text.startswith("Usage") else f"error: {text}{_hint(error)}")
        return UsageError.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return playing.INTERRUPTED_EXIT
    except BrokenPipeError:
        # The reader of stdout has seen enough.
        output.give_up_stdout()
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        say(f"error: {where}{error.strerror or error}")
        output.give_up_stdout()
        return 1
    return code if isinstance(code, int) else 0


def _hint(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return f" (`{context.command_path} --help` shows more)" if context else ""
