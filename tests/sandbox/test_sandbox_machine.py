"""What the sandbox needs of the machine: users, owners, groups; and which tier is chosen."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.bots.sandbox import choose, groups
from tournament.bots.sandbox.groups import Group, Groups, Hierarchy, find_groups
from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.ownership import make_readable
from tournament.bots.sandbox.plain import Plain, tasks_of_user
from tournament.bots.sandbox.tree import Tree
from tournament.bots.sandbox.users import Users, find_users
from tournament.bots.sandbox.watch import excess
from tournament.bots.sandbox.wrapped import SandboxError, Wrapped, check_trust

# --- users ----------------------------------------------------------------------------------------


def test_users_differ_while_they_are_taken() -> None:
    users = Users()
    taken = [users.take() for _ in range(64)]
    assert len(set(taken)) == 64
    users.give_back(taken[5])
    assert users.take() == taken[5]


def test_users_are_taken_from_those_that_a_container_knows(tmp_path: Path) -> None:
    uid_map = tmp_path / "uid_map"
    uid_map.write_text("         0     100000      65536\n")
    taken = {find_users(uid_map).take() for _ in range(3)}
    assert all(32_768 <= user < 65_536 for user in taken)
    uid_map.write_text("         0          0 4294967295\n")
    assert find_users(uid_map).take() >= 1_000_000_000


# --- owners ---------------------------------------------------------------------------------------


def test_files_are_made_readable_and_nothing_outside(tmp_path: Path) -> None:
    folder, outside = tmp_path / "bot", tmp_path / "outside"
    (folder / "sub").mkdir(parents=True, mode=0o700)
    outside.touch(mode=0o600)
    modes = {"run": 0o4700, "text": 0o600, "sub/odd": 0o2010}
    for name, mode in modes.items():
        (folder / name).touch()
        (folder / name).chmod(mode)
    (folder / "link").symlink_to(outside)
    make_readable(folder)
    found = {name: (folder / name).stat().st_mode & 0o7777 for name in (*modes, "sub", ".")}
    assert found == {"run": 0o755, "text": 0o644, "sub/odd": 0o644, "sub": 0o755, ".": 0o755}
    assert outside.stat().st_mode & 0o777 == 0o600


# --- control groups -------------------------------------------------------------------------------


def second(folder: Path) -> Hierarchy:
    return Hierarchy(folder, frozenset({"memory", "pids", "cpu"}), is_second_version=True)


def test_what_a_group_of_either_version_bounds(tmp_path: Path) -> None:
    limits = Limits(memory_mb=100, disk_mb=10, processes=5, cpu_weight=50)
    files = groups.settings(limits, second(tmp_path))
    assert files["memory.max"] == str((100 + 20 + 16) << 20)
    assert (files["pids.max"], files["cpu.weight"]) == ("9", "50")
    for controller, file in (
        ("memory", "memory.limit_in_bytes"), ("pids", "pids.max"), ("cpu", "cpu.shares"),
    ):  # fmt: skip
        first = Hierarchy(tmp_path, frozenset({controller}), is_second_version=False)
        assert file in groups.settings(limits, first)


def test_a_group_is_made_in_each_hierarchy_and_removed(tmp_path: Path) -> None:
    group = Groups([second(tmp_path)]).create(Limits(processes=3))
    (door,) = group.doors
    assert (door.parent / "pids.max").read_text() == "7"
    assert not (door.parent / "memory.swap.max").exists()  # it was not there
    for file in door.parent.iterdir():  # these vanish by themselves in the true file system
        file.unlink()
    group.remove()
    assert list(tmp_path.iterdir()) == []


def test_why_the_kernel_killed(tmp_path: Path) -> None:
    events = tmp_path / "memory.events"
    group = Group([tmp_path])
    assert group.reason() is None
    events.write_text("low 0\noom 0\noom_kill 0\n")
    assert group.reason() is None
    events.write_text("low 0\noom 1\noom_kill 1\n")
    assert "memory" in (group.reason() or "")


def test_groups_of_dead_launchers_are_removed(tmp_path: Path) -> None:
    for name in ("rummy-999999999-1", f"rummy-{os.getpid()}-1", "other-1"):
        (tmp_path / name).mkdir()
    Groups([second(tmp_path)]).remove_abandoned()
    assert {path.name for path in tmp_path.iterdir()} == {f"rummy-{os.getpid()}-1", "other-1"}


def test_without_controllers_there_are_no_groups(tmp_path: Path) -> None:
    mounts, own = tmp_path / "mounts", tmp_path / "own"
    assert find_groups(mounts, own) is None
    mounts.write_text(f"cgroup2 {tmp_path} cgroup2 rw 0 0\n")
    own.write_text("0::/\n")
    (tmp_path / "cgroup.subtree_control").write_text("cpu\n")
    assert find_groups(mounts, own) is None


# --- the watch ------------------------------------------------------------------------------------


def test_nothing_is_counted_before_the_walls_stand() -> None:
    # Until then its root is this machine's, and so is what lies below /proc and /tmp there.
    process = subprocess.Popen(["sleep", "600"])
    tree = Tree(process.pid)
    try:
        assert not tree.is_inside()
        assert len(list(tree.processes())) > 1
        assert excess(tree, most_bytes=0) is None
    finally:
        tree.close()
        process.kill()
        process.wait()


# --- limits alone ---------------------------------------------------------------------------------


def test_threads_of_the_user_are_counted() -> None:
    wait = threading.Event()
    threads = [threading.Thread(target=wait.wait) for _ in range(40)]
    before = tasks_of_user()
    for thread in threads:
        thread.start()
    try:
        # Other processes of this user may come and go meanwhile.
        assert tasks_of_user() >= max(40, before + 40 - 30)
    finally:
        wait.set()
        for thread in threads:
            thread.join()


def test_limits_alone_leave_room_for_what_the_user_runs_already(tmp_path: Path) -> None:
    wrapped = Plain(has_limits=True).wrap(
        ["x"], folder=tmp_path, environment={}, socket=None, limits=Limits(processes=10)
    )
    (word,) = [word for word in wrapped.argv if word.startswith("nproc=")]
    assert int(word.removeprefix("nproc=")) > 160


# --- the choice -----------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty PATH, and a choice that tries anew."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    choose._tried.cache_clear()
    yield programs
    choose._tried.cache_clear()


def test_the_best_tier_that_works_is_chosen() -> None:
    assert choose.choose("auto").name == "bubblewrap"
    assert choose.choose("auto").is_for_untrusted
    assert "no network" in choose.choose("auto").announcement


def test_without_bubblewrap_there_are_limits_and_a_warning(path: Path) -> None:
    assert list(path.iterdir()) == []
    found = choose.choose("auto")
    assert found.name == "rlimits"
    assert found.announcement.startswith("WARNING")
    with pytest.raises(SandboxError, match="install the package bubblewrap"):
        choose.choose("bubblewrap")


def test_a_tier_that_does_not_work_says_what_it_said(path: Path) -> None:
    program = path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: no permissions'\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(
        SandboxError, match=r"does not work here: bwrap: no permissions; .*AppArmor"
    ):
        choose.choose("bubblewrap")
    assert choose.choose("auto").name == "rlimits"


def test_a_tier_is_tried_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []
    monkeypatch.setattr(shutil, "which", tries.append)
    assert list(path.iterdir()) == []
    for _ in range(3):
        choose.choose("auto")
    assert tries == ["bwrap"]


def test_what_a_killed_trial_left_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "rummy-trial-12345678"
    left.mkdir()
    (left / "run.lock").touch()
    assert choose.trial(Plain(has_limits=False)) is None
    assert list(tmp_path.iterdir()) == []


def test_a_tier_that_is_none_is_refused() -> None:
    with pytest.raises(SandboxError, match="sandbox is 'docker': allowed are auto, bubblewrap"):
        choose.choose("docker")


@pytest.mark.parametrize("has_limits", [False, True])
def test_untrusted_bots_need_walls(has_limits: bool) -> None:
    check_trust(Plain(has_limits=has_limits), [])
    with pytest.raises(SandboxError, match="untrusted \\(a, b\\)"):
        check_trust(Plain(has_limits=has_limits), ["b", "a"])
    check_trust(choose.choose("bubblewrap"), ["a"])


@given(st.integers(-64, 255))
def test_only_turned_exit_codes_are_turned_back(code: int) -> None:
    plain = Wrapped(["x"], {}, Path("/"))
    turned = Wrapped(["x"], {}, Path("/"), is_turned=True)
    assert plain.exit_code(code) == code
    assert turned.exit_code(code) == (128 - code if 129 <= code <= 192 else code)
