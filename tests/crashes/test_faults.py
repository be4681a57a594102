"""What goes wrong around a tournament is explained, loses nothing, and can be put right."""

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.crashes.arena import ROOT, Arena, Plan, arena, hit
from tests.crashes.chains import COMMITTED
from tests.crashes.faults import as_ordinary_user, give_room, small_disk, with_file_limit
from tests.crashes.finished import FILE, Finished
from tests.crashes.killer import Kill

_FILE = """
encounters = 1
seed = 3
workers = 2
bots = ["random", "greedy", "my-bot"]
[rules]
preset = "basic"
target = 50
"""
_BEGIN = ("run", "cup.toml")
_PAGE = 4096
_LEFT_KIB = 100
"""Room for a result or two, and for the side files of the database."""


def _provide(here: Arena) -> None:
    shutil.copytree(ROOT / "sample_bots" / "counting", here.folder / "my-bot")
    manifest = here.folder / "my-bot" / "bot.toml"
    manifest.write_text(manifest.read_text().replace('name = "counting"', 'name = "my-bot"'))
    (here.folder / "cup.toml").write_text(_FILE)


@pytest.fixture(scope="module")
def begun() -> Iterator[Arena]:
    """A tournament with two of six results, begun with a file and a bot of its own."""
    with arena() as here:
        _provide(here)
        hit(here, Plan(), Kill(COMMITTED, "saved", 2), words=_BEGIN)
        assert here.check_stored() == 2
        yield here


@pytest.fixture(scope="module")
def expected() -> tuple[Finished, str]:
    """The same tournament, played without any trouble."""
    with arena() as here:
        _provide(here)
        assert here.run(*_BEGIN).returncode == 0
        return here.finished()


@contextmanager
def _copied(begun: Arena) -> Iterator[Arena]:
    """A copy of its data folder, to be spoilt."""
    with arena() as here:
        shutil.copytree(begun.data, here.data, dirs_exist_ok=True)
        here.kept = dict(begun.kept)
        yield here


def _check(done: "subprocess.CompletedProcess[str]", code: int, *words: str) -> None:
    """It was refused or ended with these words, and nothing else was written."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    for word in words:
        assert word in done.stderr, done.stderr


def _goes_on(here: Arena, expected: tuple[Finished, str]) -> None:
    """What was stored is still there, and the rest is played as if nothing had been."""
    here.check_stored()
    done = here.run("resume")
    assert done.returncode == 0, done.stderr
    now, board = here.finished()
    assert now.differences(expected[0]) == []
    assert board == expected[1]


def _started(here: Arena) -> "subprocess.Popen[str]":
    """A resume that has read the plan and has no result yet."""
    process = here.start("resume", "--workers", "1")
    assert process.stderr is not None
    assert any("matches to play" in line for line in process.stderr)
    return process


def test_a_full_disk(begun: Arena, expected: tuple[Finished, str]) -> None:
    with arena() as here, small_disk(here.data, 20 * 1024) as is_real:
        shutil.copytree(begun.data, here.data, dirs_exist_ok=True)
        here.kept = dict(begun.kept)
        before: list[str] = []
        if is_real:
            free = shutil.disk_usage(here.data).free
            (here.data / "ballast").write_bytes(bytes(free - _LEFT_KIB * 1024))
        else:  # Mounting is not allowed here.
            before = with_file_limit(_LEFT_KIB)
        _check(here.run("resume", before=before), 1, FILE, "What is stored stays", "go on with")
        if is_real:
            give_room(here.data, 40 * 1024)
        _goes_on(here, expected)


def test_files_that_may_not_grow(begun: Arena, expected: tuple[Finished, str]) -> None:
    with _copied(begun) as here:
        size = (here.data / FILE).stat().st_size // 1024
        done = here.run("resume", before=with_file_limit(min(size, _LEFT_KIB)))
        _check(done, 1, FILE, "What is stored stays", "go on with: tournament resume")
        _goes_on(here, expected)


def test_a_database_that_is_locked(begun: Arena, expected: tuple[Finished, str]) -> None:
    with _copied(begun) as here:
        process = _started(here)
        with closing(sqlite3.connect(here.data / FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            _check(here.finish(process), 1, "locked by another process", "What is stored stays")
        _goes_on(here, expected)


@pytest.mark.parametrize("page", [0, 1])
def test_a_database_that_is_damaged(begun: Arena, page: int) -> None:
    with _copied(begun) as here:
        path = here.data / FILE
        with closing(sqlite3.connect(path)) as whole:
            whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        content = bytearray(path.read_bytes())
        content[page * _PAGE : (page + 1) * _PAGE] = b"\xa5" * _PAGE
        path.write_bytes(content)
        for words in (("resume",), ("leaderboard",)):
            _check(here.run(*words), 1, f"{path} is damaged or not a database", "restore a copy")
            assert path.read_bytes() == content, "it was written to"


@contextmanager
def _without_copies(here: Arena, begun: Arena) -> Iterator[tuple[str, ...]]:
    copies, kept = here.data / "bots", here.folder / "kept"
    copies.rename(kept)
    with _with_another_bot(here, begun):
        yield "the copy of my-bot", f"is gone: {copies}"
    shutil.rmtree(copies, ignore_errors=True)
    kept.rename(copies)


@contextmanager
def _with_damaged_copies(here: Arena, begun: Arena) -> Iterator[tuple[str, ...]]:
    before = {path: path.read_bytes() for path in (here.data / "bots").glob("*/bot.py")}
    for path in before:
        path.write_bytes(b"")
    with _with_another_bot(here, begun):
        yield "the copy of my-bot", "was changed: "
    for path, content in before.items():
        path.write_bytes(content)


@contextmanager
def _with_another_bot(_: Arena, begun: Arena) -> Iterator[tuple[str, ...]]:
    program = begun.folder / "my-bot" / "bot.py"
    before = program.read_text()
    program.write_text(f"{before}\n# better\n")
    yield str(program.parent), "changed since", "bot.py"
    program.write_text(before)


@contextmanager
def _with_another_file(_: Arena, begun: Arena) -> Iterator[tuple[str, ...]]:
    file = begun.folder / "cup.toml"
    file.write_text(_FILE.replace("target = 50", "target = 60"))
    yield str(file), "changed since", "target", "50", "60"
    file.write_text(_FILE)


def test_what_is_gone_or_changed_is_refused_until_it_is_put_back(
    begun: Arena, expected: tuple[Finished, str]
) -> None:
    with _copied(begun) as here:
        spoiled = (_without_copies, _with_damaged_copies, _with_another_bot, _with_another_file)
        for spoilt in spoiled:
            with spoilt(here, begun) as words:
                _check(here.run("resume"), 1, *words)
        _goes_on(here, expected)


def test_copies_that_are_gone_or_damaged_are_made_again(
    begun: Arena, expected: tuple[Finished, str]
) -> None:
    with _copied(begun) as here:
        one, *others = sorted((here.data / "bots").iterdir())
        shutil.rmtree(one)
        for other in others:
            (other / "bot.py").write_bytes(b"")
        _goes_on(here, expected)


def test_sources_that_are_gone_do_no_harm(expected: tuple[Finished, str]) -> None:
    with arena() as here:
        _provide(here)
        hit(here, Plan(), Kill(COMMITTED, "saved"), words=_BEGIN)
        shutil.rmtree(here.folder / "my-bot")
        (here.folder / "cup.toml").unlink()
        _goes_on(here, expected)


def test_a_data_folder_that_is_removed(begun: Arena, expected: tuple[Finished, str]) -> None:
    with _copied(begun) as here:
        process = _started(here)
        shutil.rmtree(here.data, ignore_errors=True)
        _check(here.finish(process), 1, "removed or replaced")
        shutil.rmtree(here.data, ignore_errors=True)  # logs may have been made anew
        _check(here.run("resume"), 1, f"{here.data / FILE} does not exist")
        shutil.copytree(begun.data, here.data)  # the organiser has a copy
        _goes_on(here, expected)


def test_a_data_folder_that_is_read_only(begun: Arena, expected: tuple[Finished, str]) -> None:
    with _copied(begun) as here:
        paths = [here.data, *here.data.rglob("*")]
        modes = {path: path.stat().st_mode for path in paths if not path.is_symlink()}
        _set_modes({path: mode & ~0o222 for path, mode in modes.items()})
        _check(here.run("resume", before=as_ordinary_user()), 1, "can't be opened or written")
        shown = here.run("matches", before=as_ordinary_user())
        assert shown.returncode == 0, shown.stderr
        _set_modes(modes)
        _goes_on(here, expected)


def _set_modes(modes: dict[Path, int]) -> None:
    for path, mode in modes.items():
        path.chmod(mode)
