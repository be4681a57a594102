"""`leaderboard --watch`: a clock of its own, results that come in between two looks, every end."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from tests.tournament.cups import play, store_cup
from tests.tournament.fakes import command
from tournament.commands import watch
from tournament.errors import StoreError, UsageError
from tournament.rating.order_free import Fit
from tournament.report.leaderboard import leaderboard_view
from tournament.report.render import Format, render
from tournament.report.results import load
from tournament.schedule.fixtures import Fixture
from tournament.store.store import Store
from tournament.store.stored import FINISHED


class Clock:
    """A clock that moves only while somebody waits; what happens meanwhile is done then."""

    def __init__(self, steps: Iterator[Callable[[], None]]) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self._steps = steps

    def monotonic(self) -> float:
        """Return the time."""
        return self.now

    def sleep(self, seconds: float, /) -> None:
        """Let the time go on, and do what is done meanwhile."""
        self.waits.append(seconds)
        self.now += seconds
        next(self._steps)()


def terminal(width: int = 120, height: int = 40) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(force_terminal=True, width=width, height=height, file=file), file


@pytest.fixture(autouse=True)
def term(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a terminal that can do something."""
    monkeypatch.setenv("TERM", "xterm")


def finishing(store: Store, legs: list[Fixture]) -> Iterator[Callable[[], None]]:
    """Play two legs between looks, then nothing once, then end the tournament."""

    def two() -> None:
        for _ in range(2):
            play(store, "t1", next(waiting))

    waiting = iter(legs)
    yield from [two] * (len(legs) // 2)
    yield lambda: None
    yield lambda: store.set_status("t1", FINISHED)


def test_it_shows_what_comes_in_until_the_end(tmp_path: Path) -> None:
    legs = store_cup(tmp_path, encounters=1, legs=0)
    console, file = terminal()
    with Store.open(tmp_path) as writer, Store.view(tmp_path) as store:
        clock = Clock(finishing(writer, legs))
        watch.watch(store, "t1", 5, Format.TABLE, console=console, clock=clock)
    text = Text.from_ansi(file.getvalue()).plain
    for played in (0, 2, 4, 6):
        assert f"Tournament t1: {played} of 6 matches, provisional" in text
    assert "Tournament t1: 6 of 6 matches\n" in text
    assert "Ctrl-C ends watching" in file.getvalue()
    # One look at first and one after every wait, of which none was shorter than asked for.
    assert clock.waits == [5.0] * 5


def test_a_look_that_takes_long_is_followed_by_a_longer_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    legs = store_cup(tmp_path, encounters=1, legs=0)
    with Store.open(tmp_path) as writer, Store.view(tmp_path) as store:
        clock = Clock(finishing(writer, legs))

        def slowly(*words: object, **more: object) -> object:
            clock.now += 3
            return load(*words, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(watch, "load", slowly)
        console, _ = terminal()
        watch.watch(store, "t1", 1, Format.TABLE, console=console, clock=clock)
    # Where nothing is new there is nothing to compute.
    assert clock.waits == [6.0, 6.0, 6.0, 6.0, 1.0]


def test_each_fit_starts_from_the_one_before_and_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = []

    def noted(store: Store, tournament: str, **more: object) -> object:
        starts.append(more.get("start"))
        return load(store, tournament, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(watch, "load", noted)
    legs = store_cup(tmp_path, encounters=2, legs=0)
    console, _ = terminal()
    with Store.open(tmp_path) as writer, Store.view(tmp_path) as store:
        clock = Clock(finishing(writer, legs))
        watch.watch(store, "t1", 1, Format.TABLE, console=console, clock=clock)
        before = starts[-1]
        assert isinstance(before, Fit)
        warm, cold = load(store, "t1", start=before), load(store, "t1")
        shown = [
            render(leaderboard_view(one.tournament, one.standings), Format.TABLE)
            for one in (warm, cold)
        ]
    assert starts[0] is None
    assert None not in starts[1:]
    assert shown[0] == shown[1]


def test_a_writer_never_waits_for_it(tmp_path: Path) -> None:
    legs = store_cup(tmp_path, encounters=1, legs=0)
    console, _ = terminal()
    with Store.view(tmp_path) as store:

        def steps() -> Iterator[Callable[[], None]]:
            def write() -> None:
                # A writer of its own, with a lock that it would fail to get at once.
                with Store.open(tmp_path) as writer:
                    for leg in legs:
                        play(writer, "t1", leg)
                    writer.set_status("t1", FINISHED)

            yield write

        watch.watch(store, "t1", 1, Format.TABLE, console=console, clock=Clock(steps()))
        assert store.tournament("t1").matches == 6


def test_an_interrupt_leaves_the_last_picture_and_the_cursor(tmp_path: Path) -> None:
    store_cup(tmp_path, legs=2)
    console, file = terminal()

    def interrupt() -> None:
        raise KeyboardInterrupt

    clock = Clock(iter([interrupt]))
    with Store.view(tmp_path) as store, pytest.raises(KeyboardInterrupt):
        watch.watch(store, "t1", 1, Format.TABLE, console=console, clock=clock)
    written = file.getvalue()
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")
    assert "2 of 24 matches, provisional" in Text.from_ansi(written).plain


def test_it_says_when_perhaps_nobody_plays(tmp_path: Path) -> None:
    legs = store_cup(tmp_path, encounters=1, legs=2)
    console, file = terminal()
    seen: list[str] = []
    with Store.open(tmp_path) as writer, Store.view(tmp_path) as store:

        def note(do: Callable[[], object] = lambda: None) -> Callable[[], None]:
            def step() -> None:
                seen.append(Text.from_ansi(file.getvalue()).plain)
                file.truncate(file.seek(0))
                do()

            return step

        steps = [
            *[note()] * 3,
            note(lambda: play(writer, "t1", legs[2])),
            note(),
            note(lambda: writer.set_status("t1", FINISHED)),
        ]
        clock = Clock(iter(steps))
        watch.watch(store, "t1", 5, Format.TABLE, console=console, clock=clock)
    waiting = (
        "Waiting: nothing new for {} s. If nobody plays it now, `tournament resume t1` goes on"
    )
    # Looks are 5 s apart, and a result comes before the fifth.
    assert ["Waiting" in text for text in seen] == [False, False, True, True, False, False]
    assert waiting.format(10) in seen[2]
    assert waiting.format(15) in seen[3]
    assert all("Ctrl-C ends watching and nothing else." in text for text in seen)


@pytest.mark.parametrize("width", [30, 60, 90])
def test_no_line_of_the_picture_is_wider_than_the_terminal(tmp_path: Path, width: int) -> None:
    store_cup(tmp_path, ["a" * 64, "b" * 64, "c" * 64], legs=4)
    for height in (8, 40):
        console, _ = terminal(width, height)
        with Store.view(tmp_path) as store:
            lines = watch.picture(load(store, "t1"), console, quiet_s=60).plain.splitlines()
        assert max(map(len, lines)) <= width
        assert len(lines) < height
    # Both ends of each name are there.
    assert all(any(f"{name}…{name}" in line for line in lines) for name in "abc")


def test_a_low_terminal_shows_the_best(tmp_path: Path) -> None:
    names = [f"bot-{number:02}" for number in range(30)]
    store_cup(tmp_path, names, encounters=1, legs=0)
    console, _ = terminal(height=12)
    with Store.view(tmp_path) as store:
        lines = watch.picture(load(store, "t1"), console).plain.splitlines()
    assert len(lines) == 11
    assert "bot-00" in lines[4]
    assert lines[-1].startswith("… ")


def test_a_finished_tournament_ends_at_once(tmp_path: Path) -> None:
    store_cup(tmp_path)
    console, file = terminal()
    with Store.view(tmp_path) as store:
        clock = Clock(iter([]))
        watch.watch(store, "t1", 1, Format.TABLE, console=console, clock=clock)
    assert clock.waits == []
    assert "provisional" not in file.getvalue()


@pytest.mark.parametrize(
    ("console", "format_", "text"),
    [
        (Console(file=io.StringIO()), Format.TABLE, "--watch draws on a terminal, and this is"),
        (terminal()[0], Format.JSON, "--watch draws a table: --format json can't be watched"),
    ],
)
def test_where_it_cannot_draw_it_says_so(
    tmp_path: Path, console: Console, format_: Format, text: str
) -> None:
    store_cup(tmp_path)
    with Store.view(tmp_path) as store, pytest.raises(UsageError, match=text):
        watch.watch(store, "t1", 1, format_, console=console)


def test_a_terminal_that_can_do_nothing_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    store_cup(tmp_path)
    with Store.view(tmp_path) as store, pytest.raises(UsageError, match="draws on a terminal"):
        watch.watch(store, "t1", 1, Format.TABLE, console=terminal()[0])


def test_a_store_that_goes_away_is_explained(tmp_path: Path) -> None:
    store_cup(tmp_path, legs=1)
    console, _ = terminal()

    def remove() -> None:
        (tmp_path / "rummy.sqlite3").unlink()

    clock = Clock(iter([remove]))
    with Store.view(tmp_path) as store, pytest.raises(StoreError):
        watch.watch(store, "t1", 1, Format.TABLE, console=console, clock=clock)


@pytest.mark.parametrize(
    ("text", "seconds"), [(None, watch.DEFAULT_S), ("1", 1.0), ("2.5", 2.5), ("3600", 3600.0)]
)
def test_seconds_between_looks(text: str | None, seconds: float) -> None:
    assert watch.interval_s(text) == seconds


@pytest.mark.parametrize("text", ["0", "0.9", "3601", "-1", "nan", "inf", "soon", ""])
def test_seconds_that_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="allowed are 1–3600 seconds"):
        watch.interval_s(text)


def test_the_command_refuses_what_is_no_terminal(tmp_path: Path) -> None:
    store_cup(tmp_path / "rummy-data")
    done = command("leaderboard", "--watch", "5", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: --watch draws on a terminal" in done.stderr
