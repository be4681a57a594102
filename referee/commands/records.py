"""`referee verify` and `referee replay`: records of matches, checked and seen again."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from referee.commands.options import Format, FormatOption, err, fail, out, whole_option
from referee.commands.replay_text import ReplayText
from referee.engine.events import DealStarted
from referee.match.record_lines import Header, RecordError, RecordLines, read_record
from referee.match.replay import Step
from referee.match.replay import replay as play_again
from referee.match.verify import Problem, Verdict
from referee.match.verify import verify as verify_record

_MOST_PROBLEMS = 5
_RED_SUITS = r"\b(?:[2-9TJQKA][DH]|XX)\b"


# --- verify -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Checked:
    file: Path
    verdict: Verdict


def verify(
    files: Annotated[list[Path], typer.Argument(help="Records of matches, JSON lines.")],
    head: Annotated[
        str, typer.Option(metavar="HEX", help="Head hash that the one file must have.")
    ] = "",
    heads: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Heads of many matches: lines `HEX MATCH_ID`."),
    ] = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Check records of matches: hash chain, decks, every action, scores and result.

    A record that is right in itself could have been written anew by someone who knows its secret.
    The head hash shows that it was not: each bot got it when the match ended, and
    `tournament export` writes the heads of all matches into heads.txt.

    Exit code 0 if all records are right, 1 if one is not, 2 if one cannot be read.

    \b
    Examples:
      referee verify match.jsonl --head 5f3c…
      referee verify export/records/*.jsonl --heads export/heads.txt
    """  # noqa: D301 - \b keeps the lines below it as they are
    if head and len(files) > 1:
        fail("--head is for one file: give several of them by --heads FILE", 2)
    if head and not re.fullmatch("[0-9a-fA-F]{64}", head):
        fail(f"--head is {head!r}: a head hash has 64 hexadecimal digits", 2)
    known = None if heads is None else _read_heads(heads)
    checked: list[_Checked] = []
    with err.status("verifying") as status:
        for number, file in enumerate(files, 1):
            status.update(f"verifying {number}/{len(files)}")
            verdict = verify_record(_content(file))
            if head:
                verdict = verdict.anchored(head.lower())
            elif known is not None:
                verdict = _anchored(verdict, known)
            checked.append(_Checked(file, verdict))
    if output is Format.JSON:
        typer.echo(json.dumps([_as_json(one) for one in checked], indent=2))
    else:
        _print_verdicts(checked)
    if any(one.verdict.problems for one in checked):
        raise typer.Exit(1)


def _anchored(verdict: Verdict, known: Mapping[str, str]) -> Verdict:
    """Compare with the known head; a match that is not among the known ones is a problem."""
    known_head = known.get(verdict.match_id)
    if known_head is not None:
        return verdict.anchored(known_head)
    missing = Problem(1, f"no head is known for match {verdict.match_id!r}")
    return replace(verdict, problems=(*verdict.problems, missing))


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        fail(f"{file} cannot be read: {error.strerror}", 2)


def _read_heads(file: Path) -> Mapping[str, str]:
    found: dict[str, str] = {}
    try:
        lines = _content(file).decode().splitlines()
    except UnicodeDecodeError:
        fail(f"{file} is not a text: a line of it is `HEX MATCH_ID`", 2)
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if len(parts) != 2 or not re.fullmatch("[0-9a-f]{64}", parts[0]):
            fail(f"{file} line {number} is {line!r}: it must be `HEX MATCH_ID`", 2)
        found[parts[1]] = parts[0]
    return found


def _as_json(one: _Checked) -> dict[str, object]:
    verdict = asdict(one.verdict)
    return {"file": str(one.file), "ok": not one.verdict.problems, **verdict}


def _print_verdicts(checked: Sequence[_Checked]) -> None:
    failed = unanchored = 0
    for one in checked:
        verdict = one.verdict
        if verdict.problems:
            failed += 1
            typer.echo(f"FAIL {one.file}")
            for problem in verdict.problems[:_MOST_PROBLEMS]:
                typer.echo(f"  line {problem.line}: {problem.text}")
            if len(verdict.problems) > _MOST_PROBLEMS:
                typer.echo(f"  and {len(verdict.problems) - _MOST_PROBLEMS} more")
            continue
        unanchored += not verdict.is_anchored
        anchor = "anchored" if verdict.is_anchored else "consistent, not anchored"
        typer.echo(
            f"ok {one.file}: {verdict.termination}, deals {verdict.deals}, lines {verdict.lines};"
            f" {anchor}, head {verdict.head}"
        )
    typer.echo(f"{len(checked) - failed} ok, {failed} failed")
    if unanchored:
        err.print(
            "not anchored: compare the head with the one that was told when the match ended"
            " (--head, --heads)",
            soft_wrap=True,
        )


# --- replay -----------------------------------------------------------------------------------


def _viewer(given: object) -> int | None:
    text = str(given)
    if text == "all":
        return ReplayText.ALL
    if text == "spectator":
        return None
    if re.fullmatch("[0-5]", text):
        return int(text)
    raise typer.BadParameter(f"{text!r}: allowed are all, spectator, and seats 0–5")


def replay(
    file: Annotated[Path, typer.Argument(help="Record of a match, JSON lines.")],
    viewer: Annotated[
        int | None,
        typer.Option("--as", parser=_viewer, metavar="VIEWER", help="all, spectator, or a seat."),
    ] = "all",  # type: ignore[assignment] # noqa: RUF100 - it goes through the parser
    deal: Annotated[int, whole_option("Deal to begin with.", 1, 1_000)] = 1,
    plain: Annotated[
        bool, typer.Option("--plain", help="Write all steps at once, as it is done into a pipe.")
    ] = False,
) -> None:
    """Show a match again, step by step: with all cards, or as one seat or a spectator saw it.

    At a terminal, Enter goes on, b goes back, d to the next deal, q ends; 0–5, s and a change the
    viewer to a seat, a spectator, or all cards.

    \b
    Examples:
      referee replay match.jsonl
      referee replay match.jsonl --as 1 --deal 3
      referee replay match.jsonl --plain | less
    """  # noqa: D301 - \b keeps the lines below it as they are
    try:
        record = read_record(_content(file))
    except RecordError as error:
        fail(f"{file}: {error}")
    seats = len(record.header.bots)
    if viewer is not None and viewer >= seats:
        fail(f"--as is {viewer}: the match has seats 0–{seats - 1}", 2)
    steps, broken = _played_again(record)
    starts = _deal_starts(steps)
    if deal not in starts:
        allowed = f"1–{max(starts)}" if starts else "none: it cannot be played"
        fail(
            f"--deal is {deal}: allowed are {allowed}{f' ({file}: {broken})' if broken else ''}", 2
        )
    if plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _write_all(ReplayText(record.header, viewer), steps[starts[deal] :])
    else:
        _step_through(record.header, steps, starts, starts[deal], viewer)
    if broken:
        fail(f"{file}: {broken}")


def _played_again(record: RecordLines) -> tuple[list[Step], RecordError | None]:
    """All steps up to the first that does not follow, and why not."""
    steps: list[Step] = []
    try:
        steps.extend(play_again(record))
    except RecordError as error:
        return steps, error
    return steps, None


def _deal_starts(steps: Sequence[Step]) -> dict[int, int]:
    """Place of the step in which each deal begins."""
    return {
        event.deal: place
        for place, step in enumerate(steps)
        for event in step.events
        if isinstance(event, DealStarted)
    }


def _write_all(text: ReplayText, steps: Sequence[Step]) -> None:
    _show(text.head())
    for step in steps:
        _show(text.step(step))
        if any(isinstance(event, DealStarted) for event in step.events):
            _show(text.position(step))
        else:
            _show(text.hand_after(step))


def _step_through(
    header: Header, steps: Sequence[Step], starts: Mapping[int, int], place: int, viewer: int | None
) -> None:
    """One step at a time, as the keys say."""
    views = {str(seat): seat for seat in range(len(header.bots))}
    views |= {"a": ReplayText.ALL, "s": None}  # type: ignore[dict-item]
    forward = 1
    while True:
        step, text = steps[place], ReplayText(header, viewer)
        if not text.step(step) and 0 < place < len(steps) - 1:
            place += forward  # The viewer saw nothing of it.
            continue
        forward = 1
        out.clear()
        _show([*text.head(), f"step {place + 1} of {len(steps)} · {text.viewer}", ""])
        _show([*text.step(step), "", *text.position(step), ""])
        out.print("Enter next · b back · d next deal · 0–5 a s viewer · q quit", style="dim")
        key = typer.getchar()
        if key in ("q", "Q", "\x03", "\x04", "\x1b"):
            return
        if key in views:
            viewer = views[key]
        elif key == "b":
            place, forward = max(0, place - 1), -1
        elif key == "d":
            place = min((at for at in starts.values() if at > place), default=len(steps) - 1)
        elif place + 1 < len(steps):
            place += 1
        else:
            return


def _show(lines: Sequence[str]) -> None:
    for line in lines:
        text = Text(line)
        text.highlight_regex(_RED_SUITS, "red")
        out.print(text, soft_wrap=True)
