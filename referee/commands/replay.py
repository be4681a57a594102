"""`referee replay`: a match out of its record, seen again step by step."""

import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.text import Text

from referee.commands.files import UnreadableError, content_of, printable, shown_path
from referee.commands.options import fail, out, whole_option
from referee.commands.replay_text import ReplayText
from referee.engine.events import DealStarted
from referee.match.record_lines import Header, RecordError, RecordLines, read_record
from referee.match.replay import Step
from referee.match.replay import replay as play_again

_RED_SUITS = r"\b(?:[2-9TJQKA][DH]|XX)\b"
_ON = ("\r", "\n", " ", "n", "\x1b[C", "\x1b[B", "\x1bOC", "\x1bOB")
_BACK = ("b", "p", "\x7f", "\x08", "\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA")
_QUIT = ("q", "Q", "\x03", "\x04", "\x1b", "")
_SUSPEND = "\x1a"


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
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Record of a match, JSON lines.")],
    viewer: Annotated[
        int | None,
        typer.Option("--as", parser=_viewer, metavar="VIEWER", help="all, spectator, or a seat."),
    ] = "all",  # type: ignore[assignment] # it goes through the parser
    deal: Annotated[int, whole_option("Deal to begin with.", 1, 1_000)] = 1,
    plain: Annotated[
        bool, typer.Option("--plain", help="Write all steps at once, as it is done into a pipe.")
    ] = False,
) -> None:
    """Show a match again, step by step: with all cards, or as one seat or a spectator saw it.

    At a terminal, Enter or an arrow goes on, b or an arrow goes back, d to the next deal, q ends;
    the number of a seat, s and a change the viewer to it, to a spectator, or to all cards.

    \b
    Examples:
      referee replay match.jsonl
      referee replay match.jsonl --as 1 --deal 3
      referee replay match.jsonl --plain | less
    """  # noqa: D301 - \b keeps the lines below it as they are
    name = shown_path(file)
    try:
        record = read_record(content_of(file))
    except UnreadableError as error:
        fail(f"{name}: {error}", 2)
    except RecordError as error:
        fail(f"{name}: {error}")
    seats = len(record.header.bots)
    if viewer is not None and viewer >= seats:
        fail(f"--as is {viewer}: the match has seats 0–{seats - 1}", 2)
    steps, broken = _played_again(record)
    starts = _deal_starts(steps)
    if deal not in starts:
        allowed = f"1–{max(starts)}" if starts else "none"
        fail(
            f"--deal is {deal}: allowed are {allowed}{f' ({name}: {broken})' if broken else ''}", 2
        )
    if plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _write_all(ReplayText(record.header, viewer), steps[starts[deal] :])
    else:
        _Screen(record.header, steps, starts, viewer).show_from(starts[deal])
    if broken:
        fail(f"{name}: {broken}")


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


def _show(lines: Sequence[str], *, wraps: bool = False) -> None:
    for line in lines:
        text = Text(printable(line))  # a record may come from anybody
        text.highlight_regex(_RED_SUITS, "red")
        out.print(text, soft_wrap=not wraps)


class _Screen:
    """A terminal that shows one step at a time, as the keys say."""

    def __init__(
        self,
        header: Header,
        steps: Sequence[Step],
        starts: Mapping[int, int],
        viewer: int | None,
    ) -> None:
        self._header = header
        self._steps = steps
        self._starts = starts
        self._viewer = viewer
        self._place = 0
        self._note = ""
        self._views: dict[str, int | None] = {"a": ReplayText.ALL, "s": None}
        self._views |= {str(seat): seat for seat in range(len(header.bots))}

    def show_from(self, place: int) -> None:
        """Show steps until a key ends it."""
        self._place = place
        before = signal.signal(signal.SIGWINCH, self._resized)
        try:
            while True:
                self._draw()
                if not self._follow(typer.getchar()):
                    return
        finally:
            signal.signal(signal.SIGWINCH, before)

    def _resized(self, _signal: int, _frame: FrameType | None) -> None:
        self._draw()

    def _draw(self) -> None:
        """The position, and below it, nearest to the eye, what happened in the step."""
        step, text = self._steps[self._place], ReplayText(self._header, self._viewer)
        out.clear()
        _show([*text.head(), "", *text.position(step), "", *text.step(step), ""], wraps=True)
        seats = f"0–{len(self._header.bots) - 1}"
        out.print(
            f"step {self._place + 1} of {len(self._steps)} · {text.viewer} ·"
            f" Enter on, b back, d deal, {seats} a s viewer, q quit{self._note}",
            style="dim",
        )

    def _follow(self, key: str) -> bool:
        """Do what a key says; whether to go on."""
        self._note = ""
        if key in _QUIT:
            return False
        if key == _SUSPEND:
            os.kill(os.getpid(), signal.SIGTSTP)
        elif key in self._views:
            self._viewer = self._views[key]
        elif key in _ON:
            return self._move(1) or key not in ("\r", "\n")
        elif key in _BACK:
            self._move(-1)
        elif key == "d":
            later = [at for at in self._starts.values() if at > self._place]
            self._place = min(later, default=len(self._steps) - 1)
        else:
            self._note = f" · {key!r} is no key here"
        return True

    def _move(self, by: int) -> bool:
        """To the next step of which the viewer sees something; whether there was another one."""
        place = self._place + by
        text = ReplayText(self._header, self._viewer)
        while 0 < place < len(self._steps) - 1 and not text.step(self._steps[place]):
            place += by
        if not 0 <= place < len(self._steps):
            return False
        self._place = place
        return True
