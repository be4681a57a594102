"""The command `referee`: serve, rules, vectors, verify, replay, bench."""

import io
import os
import sys
from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from referee.commands import bench, replay, rules, serve, vectors, verify
from referee.commands.options import SETTINGS, err

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)
bench_app = typer.Typer(
    help="Measure engine and wire on this machine.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=SETTINGS,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"referee {installed_version('rummy-referee')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Referee bots that play Rummy over gRPC.

    \b
    Examples:
      referee serve --play greedy          a house bot for whoever connects
      referee rules standard               what a preset says
      referee verify match.jsonl           check the record of a match
      referee replay match.jsonl           see it played again
      referee bench wire --format json     how fast it is here
    """  # noqa: D301 - \b keeps the lines below it as they are


app.command()(serve.serve)
app.command()(rules.rules)
app.command()(vectors.vectors)
app.command()(verify.verify)
app.command()(replay.replay)
app.add_typer(bench_app, name="bench")
bench_app.command()(bench.engine)
bench_app.command()(bench.wire)
bench_app.command()(bench.stalls)


def main() -> None:
    """Run the program. What it explains goes to standard error, with exit code 1 or 2."""
    # What the library would log we say ourselves; it reads this when it is first imported.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    if sys.stdout is None:
        sys.exit("error: standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that has no sign for a suit or a dash gets a question mark.
        sys.stdout.reconfigure(errors="replace")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does.
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        err.print(
            f"error: {error.filename or 'standard output'} can't be written: {error.strerror}",
            markup=False,
            soft_wrap=True,
        )
        # What is still buffered cannot be written either.
        os._exit(1)


if __name__ == "__main__":
    main()
