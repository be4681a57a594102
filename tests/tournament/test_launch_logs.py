"""Logs of bots: one for each process, the latest of each bot, numbers that rise."""

from pathlib import Path

import pytest

from tournament.bots.logs import LOGS_KEPT, new_log


def test_numbers_rise_and_the_oldest_logs_go(tmp_path: Path) -> None:
    logs = [new_log(tmp_path, "ann", number % 2) for number in range(LOGS_KEPT + 5)]
    assert [log.name for log in logs[:3]] == ["0001-leg0.log", "0002-leg1.log", "0003-leg0.log"]
    assert sorted((tmp_path / "ann").iterdir()) == sorted(logs[-LOGS_KEPT:])
    assert oct(logs[-1].stat().st_mode)[-3:] == "600"
    assert oct((tmp_path / "ann").stat().st_mode)[-3:] == "700"


def test_a_bot_takes_no_room_from_another(tmp_path: Path) -> None:
    first = new_log(tmp_path, "ann", 0)
    for _ in range(LOGS_KEPT + 1):
        new_log(tmp_path, "ann-leg0", 0)
    assert first.exists()


def test_two_workers_that_start_a_process_at_once_get_different_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = new_log(tmp_path, "ann", 0)
    # The other worker looked before the log was made.
    monkeypatch.setattr("tournament.bots.logs._numbered", lambda _: iter(()))
    assert new_log(tmp_path, "ann", 0) != first


def test_files_of_other_names_are_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "ann" / "my-legs.log"
    other.parent.mkdir()
    other.touch()
    assert new_log(tmp_path, "ann", 0).name == "0001-leg0.log"
    assert other.exists()
