"""`referee vectors`: checks the engine with conformance vectors."""

from pathlib import Path
from typing import Annotated

import typer

from referee.commands.options import fail
from referee.engine.vector_files import VectorFileError, read_vectors
from referee.engine.vectors import run_vector, vector_name


def vectors(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Files (.json, .jsonl) or folders of them."),
    ],
) -> None:
    """Run conformance vectors: a line for each, exit 1 if any failed, 2 if none was found.

    \b
    Example:
      referee vectors tests/vectors
    """  # noqa: D301 - \b keeps the lines below it as they are
    passed = failed = 0
    missing = [path for path in paths if not path.exists()]
    if missing:
        fail(f"{missing[0]} does not exist", 2)
    for where, vector in read_vectors(paths):
        failure = str(vector) if isinstance(vector, VectorFileError) else run_vector(vector)
        name = vector_name(vector) or where
        if failure is None:
            passed += 1
            typer.echo(f"ok {name}")
        else:
            failed += 1
            typer.echo(f"FAIL {name}: {failure}")
    if not passed + failed:
        fail(f"no vector was found in {', '.join(map(str, paths))}", 2)
    typer.echo(f"{passed} passed, {failed} failed")
    if failed:
        raise typer.Exit(1)
