"""Where a bot's output goes: nothing of it is lost between logs, and none grows past its cap."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.bots.logs import (
    LOGS_KEPT,
    MATCH_LOG_CAP_BYTES,
    MATCH_LOGS_KEPT,
    make_match_log,
    match_log,
    new_log,
)
from tournament.bots.output import Output, plain_lines


def logged(folder: Path, name: str) -> bytes:
    path = match_log(folder, "ann", name)
    return path.read_bytes() if path.exists() else b""


def test_each_match_has_its_log_and_the_first_one_begins_with_the_start(tmp_path: Path) -> None:
    own = new_log(tmp_path, "ann", 0)
    output = Output(own)
    output.write(b"starting\n")
    output.begin_match(match_log(tmp_path, "ann", "m1"))
    output.write(b"one\n")
    assert output.log == match_log(tmp_path, "ann", "m1")
    output.end_match(match_log(tmp_path, "ann", "m1"))
    output.write(b"between\n")
    output.begin_match(match_log(tmp_path, "ann", "m2"))
    output.write(b"two\n")
    output.end_match(match_log(tmp_path, "ann", "m1"))  # late: another match has begun
    output.write(b"more\n")
    output.close()
    assert own.read_text() == "starting\nbetween\n"
    assert logged(tmp_path, "m1") == b"starting\none\n"
    assert logged(tmp_path, "m2") == b"two\nmore\n"
    assert oct(match_log(tmp_path, "ann", "m1").stat().st_mode)[-3:] == "600"


def test_a_process_that_has_ended_before_its_match_left_its_words_there(tmp_path: Path) -> None:
    output = Output(new_log(tmp_path, "ann", 0))
    output.write(b"Traceback\nno module\n")
    output.close()
    output.begin_match(match_log(tmp_path, "ann", "m1"))
    assert logged(tmp_path, "m1") == b"Traceback\nno module\n"
    assert output.last_line() == "no module"


def test_who_says_nothing_has_no_log_of_the_match(tmp_path: Path) -> None:
    own = new_log(tmp_path, "ann", 0)
    output = Output(own)
    output.begin_match(match_log(tmp_path, "ann", "m1"))
    assert output.log == own
    assert not match_log(tmp_path, "ann", "m1").exists()
    output.close()


@given(
    chunks=st.lists(st.binary(min_size=1, max_size=400), max_size=20),
    cap=st.integers(0, 1_000),
)
def test_the_beginning_and_the_end_are_kept(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], cap: int
) -> None:
    log = tmp_path_factory.mktemp("logs") / "log"
    output = Output(log, cap)
    for chunk in chunks:
        output.write(chunk)
    output.close()
    whole, kept = b"".join(chunks), log.read_bytes()
    if len(whole) <= cap:
        assert kept == whole
    else:
        assert kept.startswith(whole[:cap])
        assert kept.endswith(whole[-4_096:])
        assert len(kept) < cap + 4_096 + 100


def test_a_match_has_a_cap_of_its_own(tmp_path: Path) -> None:
    output = Output(new_log(tmp_path, "ann", 0))
    for name in ("m1", "m2"):
        output.begin_match(match_log(tmp_path, "ann", name))
        for _ in range(20):
            output.write(name.encode() * 4_096)
    output.close()
    for name in ("m1", "m2"):
        assert logged(tmp_path, name)[:2] == name.encode()
        assert MATCH_LOG_CAP_BYTES < len(logged(tmp_path, name)) < MATCH_LOG_CAP_BYTES + 5_000


def test_nothing_is_lost_while_matches_change(tmp_path: Path) -> None:
    own = new_log(tmp_path, "ann", 0)
    output = Output(own)
    lines = [f"{number}\n".encode() for number in range(2_000)]

    def write() -> None:
        for line in lines:
            output.write(line)

    writer = threading.Thread(target=write)
    output.begin_match(match_log(tmp_path, "ann", "first"))
    writer.start()
    for number in range(50):
        output.begin_match(match_log(tmp_path, "ann", f"m{number}"))
        output.end_match(match_log(tmp_path, "ann", f"m{number}"))
    writer.join()
    output.close()
    found = b"".join(path.read_bytes() for path in (tmp_path / "ann").iterdir()).split()
    assert sorted(map(int, found)) == list(range(2_000))


def test_of_each_bot_the_newest_logs_of_matches_stay(tmp_path: Path) -> None:
    own = [new_log(tmp_path, "ann", 0) for _ in range(LOGS_KEPT)]
    for number in range(MATCH_LOGS_KEPT + 3):
        output = Output(own[-1])
        output.begin_match(match_log(tmp_path, "ann", f"{number:024x}"))
        output.write(b"x")
        output.close()
    names = {path.name for path in (tmp_path / "ann").iterdir()} - {path.name for path in own}
    assert len(names) == MATCH_LOGS_KEPT
    assert f"{MATCH_LOGS_KEPT + 2:024x}.log" in names
    assert all(path.exists() for path in own)


def test_a_full_disk_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = Output(new_log(tmp_path, "ann", 0))

    def full(_log: Path) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tournament.bots.output.make_match_log", full)
    output.begin_match(match_log(tmp_path, "ann", "m1"))
    output.write(b"lost\n")
    assert output.last_line() == "lost"
    monkeypatch.setattr("tournament.bots.output.make_match_log", make_match_log)
    output.write(b"room again\n")
    output.close()
    assert logged(tmp_path, "m1") == b"room again\n"


@given(st.binary(max_size=200))
def test_what_people_are_shown_commands_no_terminal(data: bytes) -> None:
    shown = plain_lines(data)
    assert all(line.isprintable() for line in shown.split("\n"))


def test_lines_stay_lines() -> None:
    assert plain_lines(b"\x1b[31merror\x1b[0m:\tno\r\n  here \x07\n") == "[31merror [0m: no\n  here"
