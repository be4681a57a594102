"""`referee verify`: records of matches, checked."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from referee.commands.files import UnreadableError, content_of, shown_path
from referee.commands.options import Format, FormatOption, err, fail
from referee.match.verify import MOST_BROKEN_LINKS, Problem, Verdict
from referee.match.verify import verify as verify_record

_MOST_PROBLEMS = 5
_HEX = "[0-9a-fA-F]{64}"


@dataclass(frozen=True, slots=True)
class _Checked:
    file: Path
    verdict: Verdict
    is_unreadable: bool = False
    """There was nothing to check."""


def verify(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE|FOLDER...",
            help="Records of matches, JSON lines; a folder: all in it, or in its records/.",
        ),
    ],
    head: Annotated[
        str | None, typer.Option(metavar="HEX", help="Head hash that the one file must have.")
    ] = None,
    heads: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Heads of many matches: lines `HEX MATCH_ID`."),
    ] = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Check records of matches: hash chain, decks, every action, scores and result.

    A record that is right in itself could have been written anew by someone who knows its secret.
    The head hash shows that it was not: each bot got it when the match ended, and
    `tournament export` writes the heads of all matches into heads.txt. Of a folder every match that
    has a head there must have a record.

    Exit code 0 if all records are right, 1 if one is not, 2 if a file cannot be read.

    \b
    Examples:
      referee verify match.jsonl --head 5f3c…
      referee verify export --heads export/heads.txt
    """  # noqa: D301 - \b keeps the lines below it as they are
    records = [record for file in files for record in _records_of(file)]
    has_folder = records != files
    if head is not None and (len(files) > 1 or has_folder or heads is not None):
        fail("--head is for one file: give heads of several files by --heads FILE alone", 2)
    if head is not None and not re.fullmatch(_HEX, head):
        fail(f"--head is {head!r}: a head hash has 64 hexadecimal digits", 2)
    known = None if heads is None else _read_heads(heads)
    checked: list[_Checked] = []
    with err.status("verifying") as status:
        for number, file in enumerate(records, 1):
            status.update(f"verifying {number}/{len(records)}")
            checked.append(_check(file, head, known))
    if heads is not None and known is not None and has_folder:
        checked += _left_out(heads, known, checked)
    if output is Format.JSON:
        typer.echo(json.dumps([_as_json(one) for one in checked], indent=2))
    else:
        _print(checked)
    if any(one.is_unreadable for one in checked):
        raise typer.Exit(2)
    if any(one.verdict.problems for one in checked):
        raise typer.Exit(1)


def _records_of(file: Path) -> Sequence[Path]:
    """Return the records in a folder in the order of their names; a file is one itself."""
    try:
        inner = file / "records"
        folder = inner if inner.is_dir() else file
        found = sorted(one for one in folder.iterdir() if one.suffix == ".jsonl")
    except OSError:  # no folder, or none that can be read: reading it will tell
        return [file]
    return found or [file]


def _check(file: Path, head: str | None, known: Mapping[str, str] | None) -> _Checked:
    try:
        verdict = verify_record(content_of(file))
    except UnreadableError as error:
        is_folder = isinstance(error.__cause__, IsADirectoryError)
        text = "it is a folder in which no name ends in .jsonl" if is_folder else str(error)
        return _Checked(file, Verdict((Problem(0, text),), ""), is_unreadable=True)
    if head is not None:
        verdict = verdict.anchored(head.lower())
    elif known is not None:
        verdict = _anchored(verdict, known)
    return _Checked(file, verdict)


def _anchored(verdict: Verdict, known: Mapping[str, str]) -> Verdict:
    """Compare with the known head; a match that is not among the known ones is a problem."""
    known_head = known.get(verdict.match_id)
    if known_head is not None:
        return verdict.anchored(known_head)
    missing = Problem(1, f"no head is known for match {verdict.match_id!r}")
    return replace(verdict, problems=(*verdict.problems, missing))


def _left_out(
    heads: Path, known: Mapping[str, str], checked: Sequence[_Checked]
) -> Sequence[_Checked]:
    """Return what is wrong with the folders: matches that have a head, but no record."""
    there = {one.verdict.match_id or one.file.stem for one in checked}
    problems = [Problem(0, f"match {name!r} has no record") for name in known if name not in there]
    return [_Checked(heads, Verdict(tuple(problems), ""))] if problems else []


def _read_heads(file: Path) -> Mapping[str, str]:
    name = shown_path(file)
    found: dict[str, str] = {}
    try:
        lines = content_of(file).decode().splitlines()
    except UnreadableError as error:
        fail(f"{name}: {error}", 2)
    except UnicodeDecodeError:
        fail(f"{name} is not a text: a line of it is `HEX MATCH_ID`", 2)
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if len(parts) != 2 or not re.fullmatch(_HEX, parts[0]):
            fail(f"{name} line {number} is {line[:100]!r}: it must be `HEX MATCH_ID`", 2)
        head, match_id = parts[0].lower(), parts[1]
        if found.setdefault(match_id, head) != head:
            fail(f"{name} line {number}: match {match_id!r} has another head further up", 2)
    return found


def _as_json(one: _Checked) -> dict[str, object]:
    return {"file": str(one.file), "ok": not one.verdict.problems, **asdict(one.verdict)}


def _print(checked: Sequence[_Checked]) -> None:
    failed = unanchored = 0
    for one in checked:
        verdict = one.verdict
        if verdict.problems:
            failed += 1
            typer.echo(f"FAIL {shown_path(one.file)}")
            for problem in verdict.problems[:_MOST_PROBLEMS]:
                place = f"line {problem.line}: " if problem.line else ""
                typer.echo(f"  {place}{problem.text}")
            if len(verdict.problems) > _MOST_PROBLEMS:
                least = "at least " if len(verdict.problems) >= MOST_BROKEN_LINKS else ""
                typer.echo(f"  and {least}{len(verdict.problems) - _MOST_PROBLEMS} more")
            continue
        unanchored += not verdict.is_anchored
        anchor = "anchored" if verdict.is_anchored else "consistent, not anchored"
        typer.echo(
            f"ok {shown_path(one.file)}: {verdict.termination}, deals {verdict.deals},"
            f" lines {verdict.lines}; {anchor}, head {verdict.head}"
        )
    typer.echo(f"{len(checked) - failed} ok, {failed} failed")
    if unanchored:
        err.print(
            "not anchored: compare the head with the one that was told when the match ended"
            " (--head, --heads)",
            soft_wrap=True,
        )
