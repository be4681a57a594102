"""`referee verify` and `referee replay` as a user runs them."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import ENVIRONMENT, referee, refused, within
from tests.match.tampering import rechained

GOLDEN = Path(__file__).parent / "golden"
RECORD = GOLDEN / "standard-4-seats-with-faults.jsonl"
HEADS = GOLDEN / "heads.txt"
HEAD = HEADS.read_text().split(f"  {RECORD.stem}")[0].split()[-1]


# --- verify ---------------------------------------------------------------------------------------


def test_verified_records_are_anchored_by_their_heads() -> None:
    files = sorted(map(str, GOLDEN.glob("*.jsonl")))
    done = within("verify", *files, "--heads", str(HEADS))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == [f"ok {file}" for file in files]
    assert all("; anchored, head " in line for line in lines[:-1])
    assert lines[-1] == f"{len(files)} ok, 0 failed"
    assert within("verify", str(RECORD), "--head", HEAD.upper()).returncode == 0


def test_a_folder_stands_for_the_records_in_it(tmp_path: Path) -> None:
    said = within("verify", *sorted(map(str, GOLDEN.glob("*.jsonl"))), "--heads", str(HEADS)).stdout
    assert within("verify", str(GOLDEN), "--heads", str(HEADS)).stdout == said
    # An export has them in a folder of their own.
    export = tmp_path / "export"
    shutil.copytree(GOLDEN, export / "records")
    done = within("verify", str(export), "--heads", str(HEADS))
    assert done.returncode == 0
    assert done.stdout == said.replace(str(GOLDEN), str(export / "records"))


def test_a_match_that_was_left_out_of_a_folder_is_missed(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path / "records")
    (tmp_path / "records" / RECORD.name).unlink()
    done = within("verify", str(tmp_path), "--heads", str(HEADS))
    assert done.returncode == 1
    assert f"FAIL {HEADS}\n  match '{RECORD.stem}' has no record\n" in done.stdout
    # A record that is broken is told once.
    (tmp_path / "records" / RECORD.name).write_bytes(b"")
    done = within("verify", str(tmp_path), "--heads", str(HEADS))
    assert done.returncode == 1
    assert done.stdout.count("FAIL") == 1
    # Of single files nothing is known to be missing.
    [first, *_] = GOLDEN.glob("*.jsonl")
    assert within("verify", str(first), "--heads", str(HEADS)).returncode == 0


def test_without_a_head_a_record_is_consistent_only() -> None:
    done = within("verify", str(RECORD))
    assert done.returncode == 0
    assert f"consistent, not anchored, head {HEAD}" in done.stdout
    assert "--heads" in done.stderr


def test_what_is_wrong_is_named_with_its_line(tmp_path: Path) -> None:
    lines = RECORD.read_bytes().splitlines(keepends=True)
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"".join(lines[:10] + lines[11:]))
    done = within("verify", str(RECORD), str(bad))
    assert done.returncode == 1
    assert f"FAIL {bad}\n  line 11: line 10 was changed, or a line" in done.stdout
    assert done.stdout.endswith("1 ok, 1 failed\n")
    told = json.loads(within("verify", str(bad), "--format", "json").stdout)
    assert [(one["ok"], one["is_anchored"], one["lines"]) for one in told] == [
        (False, False, len(lines) - 1)
    ]
    assert told[0]["problems"][0]["line"] == 11


def test_another_head_is_named() -> None:
    done = within("verify", str(RECORD), "--head", "0" * 64)
    assert done.returncode == 1
    assert f"the head hash is {HEAD}, not {'0' * 64}" in done.stdout


def test_a_match_that_is_not_among_the_heads_fails(tmp_path: Path) -> None:
    heads = tmp_path / "heads.txt"
    heads.write_text(f"{HEAD}  another\n")
    done = within("verify", str(RECORD), "--heads", str(heads))
    assert done.returncode == 1
    assert f"no head is known for match '{RECORD.stem}'" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([str(RECORD), "--head", ""], "--head is '': a head hash has 64"),
        ([str(RECORD), "--head", "12"], "--head is '12': a head hash has 64 hexadecimal digits"),
        ([str(RECORD), str(RECORD), "--head", "0" * 64], "--head is for one file"),
        ([str(RECORD), "--heads", str(RECORD)], "line 1 is"),
        ([str(RECORD), "--heads", str(HEADS), "--head", HEAD], "--head is for one file"),
        ([str(RECORD), "--heads", "no.txt"], "no.txt: it cannot be read"),
    ],
)
def test_wrong_calls_of_verify(arguments: list[str], word: str) -> None:
    assert word in refused("verify", *arguments)


def test_what_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    odd = tmp_path / "a\nok forged.jsonl: anchored"
    odd.write_bytes(RECORD.read_bytes())
    empty = tmp_path / "empty"
    empty.mkdir()
    files = [str(RECORD), "no.jsonl", str(empty), str(odd)]
    done = within("verify", *files)
    assert done.returncode == 2
    assert f"ok {RECORD}" in done.stdout
    assert "FAIL no.jsonl\n  it cannot be read: No such file" in done.stdout
    assert f"FAIL {empty}\n  it is a folder in which no name ends in .jsonl" in done.stdout
    assert f"ok {str(odd)!r}: completed" in done.stdout
    assert done.stdout.endswith("2 ok, 2 failed\n")
    told = json.loads(within("verify", *files, "--format", "json").stdout)
    assert [one["ok"] for one in told] == [True, False, False, True]


def test_a_file_without_end_is_not_read() -> None:
    done = within("verify", "/dev/zero")
    assert done.returncode == 2
    assert "64 MiB" in done.stdout


def test_a_file_larger_than_any_record_is_not_read(tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    with large.open("wb") as file:
        file.truncate((64 << 20) + 1)
    done = within("verify", str(large))
    assert (done.returncode, "more than 64 MiB" in done.stdout) == (2, True)


def test_two_heads_for_one_match_are_refused(tmp_path: Path) -> None:
    heads = tmp_path / "heads.txt"
    heads.write_text(f"{HEAD.upper()}  {RECORD.stem}\n{'0' * 64} {RECORD.stem}\n")
    text = refused("verify", str(RECORD), "--heads", str(heads))
    assert f"line 2: match '{RECORD.stem}' has another head further up" in text


@pytest.mark.parametrize(
    ("change", "line", "word"),
    [
        (lambda content: content[:-1], 119, "it has no newline at its end"),
        (lambda content: content.replace(b"\n", b"\r\n"), 1, "it ends with CR LF"),
        (lambda content: b"\xef\xbb\xbf" + content, 1, "it is not spelled"),
        (lambda content: content + b"\n", 120, "it is not JSON: Expecting value"),
    ],
)
def test_what_editors_do_to_a_file_is_named(
    tmp_path: Path, change: Callable[[bytes], bytes], line: int, word: str
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(change(RECORD.read_bytes()))
    assert f"line {line}: {word}" in within("verify", str(bad)).stdout


# --- replay ---------------------------------------------------------------------------------------


def test_replay_shows_all_cards_and_what_each_seat_did() -> None:
    done = within("replay", str(RECORD))
    assert (done.returncode, done.stderr) == (0, "")
    text = done.stdout
    assert text.startswith(f"match {RECORD.stem} · rules standard\n")
    assert len(re.findall(r"^deal \d+ · seat \d deals", text, re.MULTILINE)) == 1
    assert "rejected, bad_index: index 10000" in text
    assert "played by the referee: it has forfeited" in text
    assert "forfeit: resign" in text
    assert "??" not in text


@pytest.mark.parametrize("viewer", ["0", "1", "2", "3", "spectator"])
def test_a_viewer_sees_no_card_of_others(viewer: str) -> None:
    """Cards that come off the stock are seen by who drew them, rejections by who sent them."""
    text = within("replay", str(RECORD), "--as", viewer).stdout
    drawn = set(re.findall(r"seat (\d) bot\d +draws (?!a card)", text))
    assert drawn <= {viewer}
    assert set(re.findall(r"^seat (\d) .*decision", text, re.MULTILINE)) <= {viewer}
    assert set(re.findall(r"seat (\d) bot\d +holds", text)) <= {viewer}
    opening = text.split("deal ended")[0]
    assert opening.count("??") == 7 * (4 if viewer == "spectator" else 3)
    if viewer != "spectator":
        assert f"seat {viewer} bot{viewer}  draws " in text


def test_what_a_record_says_gives_no_orders_to_a_terminal(tmp_path: Path) -> None:
    lines = RECORD.read_bytes().splitlines(keepends=True)
    name = json.loads(lines[0])["seats"][0]["bot"].encode()
    lines[0] = lines[0].replace(b'"%s"' % name, b'"%s\\u001b[31m\\u0007\\nok all"' % name, 1)
    strange = tmp_path / "strange.jsonl"
    strange.write_bytes(rechained(lines))
    assert "FAIL" not in within("verify", str(strange)).stdout
    done = within("replay", str(strange))
    assert done.returncode == 0, done.stderr
    assert f"seat 0 {name.decode()}\\x1b[31m\\x07\\nok all " in done.stdout
    assert not {c for c in done.stdout if not c.isprintable()} - {"\n"}


def test_replay_begins_with_a_deal() -> None:
    text = within("replay", str(GOLDEN / "basic-2-seats.jsonl"), "--deal", "2").stdout
    assert "deal 1 ·" not in text
    assert "deal 2 ·" in text


def test_wild_cards_are_shown_with_their_meanings() -> None:
    text = within("replay", str(GOLDEN / "wild-cards.jsonl")).stdout
    assert re.search(r" (XX|2[CDHS])=[2-9TJQKA][CDHS] ", text)


def test_a_record_that_breaks_off_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    lines = RECORD.read_bytes().splitlines(keepends=True)
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"".join([*lines[:10], *lines[11:]]))
    done = within("replay", str(bad))
    assert done.returncode == 1
    assert "decision" in done.stdout
    assert f"{bad}: line 11: " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["no.jsonl"], 2, "no.jsonl: it cannot be read"),
        ([str(HEADS)], 1, "line 1: it is not JSON"),
        ([str(RECORD), "--as", "4"], 2, "--as is 4: the match has seats 0–3"),
        ([str(RECORD), "--as", "me"], 2, "'me': allowed are all, spectator, and seats 0–5"),
        ([str(RECORD), "--deal", "9"], 2, "--deal is 9: allowed are 1–1"),
    ],
)
def test_wrong_calls_of_replay(arguments: list[str], code: int, word: str) -> None:
    assert word in refused("replay", *arguments, code=code)


def read_until(terminal: int, word: str, seconds: float = 30) -> str:
    """What a program writes on its terminal until a word comes. Fails if it does not come."""
    text, end = "", time.monotonic() + seconds
    while word not in text:
        assert time.monotonic() < end, f"{word!r} did not come: {text!r}"
        if select.select([terminal], [], [], 0.2)[0]:
            text += os.read(terminal, 65_536).decode(errors="replace")
    return text


def press(master: int, slave: int, key: str) -> None:
    """Press a key once the program waits for one: what comes earlier, it throws away."""
    end = time.monotonic() + 30
    while termios.tcgetattr(slave)[3] & termios.ICANON:
        assert time.monotonic() < end, "the program does not wait for a key"
        time.sleep(0.01)
    os.write(master, key.encode())


def test_stepping_through_at_a_terminal() -> None:
    """Forth, back, another viewer, the next deal, the end."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "referee", "replay", str(GOLDEN / "basic-2-seats.jsonl")]
    environment = {**ENVIRONMENT, "TERM": "xterm", "LINES": "40"}
    program = subprocess.Popen(
        command, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    try:
        assert "with all cards" in read_until(master, "q quit")
        for key, word in [
            ("\r", "step 2 of"),
            ("b", "step 1 of"),
            ("\x1b[C", "step 2 of"),
            ("\x1b[D", "step 1 of"),
            ("\x1b[D", "step 1 of"),
            ("z", "'z' is no key here"),
            ("5", "'5' is no key here"),
            ("1", "as seat 1 saw it"),
            ("s", "as a spectator saw it"),
            ("d", "deal 2 · seat"),
            ("a", "with all cards"),
        ]:
            press(master, slave, key)
            read_until(master, word)
        press(master, slave, "q")
        assert program.wait(30) == 0
    finally:
        if program.poll() is None:
            program.kill()
            program.wait()
        os.close(master)
        os.close(slave)


def test_a_record_into_a_pipe_that_is_closed_is_no_failure_to_explain() -> None:
    head = shutil.which("head")
    assert head
    command = f"{sys.executable} -m referee replay {RECORD} | {head} -n 1"
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"match {RECORD.stem} · rules standard\n"
    assert done.stderr == ""


def test_help_names_the_commands() -> None:
    for command in ("verify", "replay"):
        done = referee(command, "--help")
        assert "Examples:" in done.stdout
