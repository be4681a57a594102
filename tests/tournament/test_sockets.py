"""Folders of sockets: gone at the end, and what dead runs left is removed by the next one."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest

from tests.tournament.fakes import clean_temp, environment
from tournament.bots.scratch import remove_abandoned
from tournament.worker.sockets import socket_folder

HOLD = """
import os, signal
from tournament.worker.sockets import socket_folder
with socket_folder() as folder:
    (folder / "0").mkdir()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def temp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with clean_temp(monkeypatch) as temp:
        yield temp


def test_the_folder_is_private_and_gone_at_the_end(temp: Path) -> None:
    with socket_folder() as folder:
        assert folder.parent == temp
        assert oct(folder.stat().st_mode)[-3:] == "700"
        (folder / "0").mkdir()
        (folder / "0" / "referee.sock").touch()
        remove_abandoned(folder)
        with socket_folder() as other:
            assert folder.is_dir()
            assert other != folder


def test_what_a_killed_run_left_is_removed_by_the_next(temp: Path) -> None:
    subprocess.run([sys.executable, "-c", HOLD], env=environment(), check=False)
    [left] = temp.glob("rummy-*")
    foreign = temp / "rummy-not-ours"
    foreign.mkdir()
    with socket_folder():
        assert not left.exists()
    assert list(temp.iterdir()) == [foreign]
    foreign.rmdir()


def test_what_somebody_still_fills_is_removed_later(
    temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run([sys.executable, "-c", HOLD], env=environment(), check=False)
    [left] = temp.glob("rummy-*")

    def refill(path: Path, **_options: object) -> None:
        rmtree(path)
        (left / "1" / "home-0").mkdir(parents=True)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", refill)
        remove_abandoned(left)
    assert {path.name for path in left.iterdir()} == {"1", "run.lock"}
    remove_abandoned(left)
    assert not left.exists()


def test_too_long_a_path_for_a_socket_is_avoided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("x" * 90)))
    with socket_folder() as folder:
        assert folder.parent == Path("/tmp")
