"""Attacks by bots, each beside an honest bot: contained, and nobody else is harmed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox import launchers

KILLED = -9
CONTAINED = (
    "big_file", "daemon", "descriptors", "devices", "disk_fill", "fork_bomb", "look_around",
    "memory_bomb", "memory_hidden", "namespaces", "network", "read_secrets", "read_token", "setuid",
    "trace", "write_own",
)  # fmt: skip
"""Attacks that end by themselves, having found that nothing works."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with launchers.world_readable() as path:
        yield path


def attacked(folder: Path, user: str, tier: str, attack: str) -> dict[str, Any]:
    """Run an attack; whatever it does, the honest bot and the launcher are unharmed."""
    report = launchers.attacked(folder, user, tier, attack)
    assert report["tier"] == tier
    assert report["hello"], report
    assert report["honest"], report
    assert report["honest_exit"] == 0, report
    assert report["left"] == [], report
    assert report["groups"] == [], report
    assert report["reached"] == 0, report
    assert report["told"] == [], report
    assert [line for line in report["output"].splitlines() if line.startswith("broken")] == []
    return report


@pytest.mark.parametrize("user", launchers.USERS)
@pytest.mark.parametrize("attack", CONTAINED)
def test_an_attack_gets_nowhere(folder: Path, user: str, attack: str) -> None:
    report = attacked(folder, user, "bubblewrap", attack)
    assert report["codes"] == [0], report
    assert "held" in report["output"], report


@pytest.mark.parametrize("user", launchers.USERS)
def test_processes_that_take_too_much_together_are_killed(folder: Path, user: str) -> None:
    report = attacked(folder, user, "bubblewrap", "memory_herd")
    # The kernel may kill one of them first, or the watch all of them.
    assert report["codes"] in ([KILLED], [0]), report
    assert "memory" in report["reasons"][0]


@pytest.mark.parametrize("user", launchers.USERS)
def test_who_makes_too_many_files_is_killed(folder: Path, user: str) -> None:
    report = attacked(folder, user, "bubblewrap", "many_files")
    assert report["codes"] == [KILLED], report
    assert "files in /tmp" in report["reasons"][0]


@pytest.mark.parametrize("user", launchers.USERS)
def test_two_bots_can_not_talk(folder: Path, user: str) -> None:
    report = attacked(folder, user, "bubblewrap", "collude")
    assert report["codes"] == [0, 0], report
    assert report["output"].count("held") == 2


@pytest.mark.parametrize("user", launchers.USERS)
def test_killing_everything_kills_nothing(folder: Path, user: str) -> None:
    report = attacked(folder, user, "bubblewrap", "kill_all")
    assert "held so far" in report["output"]
    # It finds nobody to kill, or only its own.
    assert report["codes"] in ([1], [KILLED]), report


@pytest.mark.parametrize("user", launchers.USERS)
def test_a_flood_of_output_is_drained(folder: Path, user: str) -> None:
    report = attacked(folder, user, "bubblewrap", "flood")
    assert report["codes"] == [0], report
    assert report["came"] > 60 << 20


@pytest.mark.parametrize("user", launchers.USERS)
def test_a_hog_leaves_the_neighbour_its_share_of_the_processor(folder: Path, user: str) -> None:
    report = attacked(folder, user, "bubblewrap", "cpu_hog")
    used_s = float(report["output"].split("used ")[1])
    # Both are on one processor, for 1.5 and for 2.5 seconds; one process of nine would get 1/8.
    assert report["share"] / 1.5 > used_s / 2.5 / 3, report


# --- what the tier with limits alone promises -----------------------------------------------------


@pytest.mark.parametrize("user", launchers.USERS)
@pytest.mark.parametrize("attack", ["big_file", "descriptors", "memory_bomb"])
def test_limits_alone_bound_each_process(folder: Path, user: str, attack: str) -> None:
    report = attacked(folder, user, "rlimits", attack)
    assert report["codes"] == [0], report
    assert "held" in report["output"], report


def test_limits_alone_bound_the_processes_of_an_ordinary_user(folder: Path) -> None:
    report = attacked(folder, "ordinary", "rlimits", "fork_bomb")
    assert "held after" in report["output"], report


@pytest.mark.parametrize("user", launchers.USERS)
def test_limits_alone_drain_a_flood(folder: Path, user: str) -> None:
    assert attacked(folder, user, "rlimits", "flood")["codes"] == [0]


# --- the attacks work where nothing holds them ----------------------------------------------------


@pytest.mark.parametrize("attack", ["read_token", "read_secrets", "write_own", "memory_hidden"])
def test_without_a_sandbox_an_attack_succeeds(folder: Path, attack: str) -> None:
    report = launchers.attacked(folder, "ordinary", "none", attack)
    lines = report["output"].splitlines()
    assert report["told"] or any(line.startswith("broken") for line in lines), report
