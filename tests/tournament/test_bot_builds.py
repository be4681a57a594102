"""Builds in each tier: what they see, what they may reach, what is said when they fail."""

import os
import socket
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tournament.fakes import bot_folder
from tournament.bots.builds import BuildRights, build_rights
from tournament.bots.find import sample_bot_folders
from tournament.bots.folder import BotFolder, read_bot_folder
from tournament.bots.frozen import freeze, is_intact
from tournament.bots.sandbox.choose import choose
from tournament.errors import FreezeError

TIERS = ("none", "rlimits", "bubblewrap")


def bot_with_build(parent: Path, code: str) -> BotFolder:
    folder = bot_folder(parent, "mine", changes={"build": ["python3", "build.py"]})
    (folder / "build.py").write_text(code)
    return read_bot_folder(folder)


def frozen(
    bot: BotFolder, data: Path, tier: str, *, network: bool = False, caches: bool = False
) -> Path:
    sandbox = choose(tier, hidden=[data])
    return freeze(bot, data, sandbox=sandbox, build_network=network, build_caches=caches)


@pytest.mark.parametrize("tier", TIERS)
def test_a_build_makes_the_copy_and_nothing_else(tmp_path: Path, tier: str) -> None:
    code = """
import os, pathlib
os.mkdir("out", 0o700)
pathlib.Path("out/tool").write_text("#!/bin/sh")
os.chmod("out/tool", 0o4700)
pathlib.Path("seen").write_text(os.environ["RUMMY_PROTO"])
assert pathlib.Path(os.environ["RUMMY_PROTO"], "rummy/referee/v1/play.proto").is_file()
os.symlink("/usr/bin/env", "env")
"""
    bot = bot_with_build(tmp_path, code)
    copy = frozen(bot, tmp_path / "data", tier)
    assert not (tmp_path / "mine" / "out").exists()
    assert stat.S_IMODE((copy / "out" / "tool").stat().st_mode) == 0o755
    assert {path.stat().st_uid for path in copy.rglob("*")} == {os.geteuid()}
    assert is_intact(copy)
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]
    (copy / "env").unlink()
    (copy / "env").symlink_to("/bin/sh")
    assert not is_intact(copy)


def test_a_build_in_bubblewrap_sees_neither_home_nor_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".npm").mkdir(parents=True)
    (home / ".npm" / "kept").touch()
    (home / ".npmrc").touch()
    (home / ".cargo" / "bin").mkdir(parents=True)
    (home / "key").write_text("secret")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "results").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    code = f"""
import os
for name in ("home/key", "data/results", "home/.npm/kept", "home/.npmrc", "home/.cargo/bin"):
    print(name, os.path.exists({str(tmp_path)!r} + "/" + name))
with open(os.environ["HOME"] + "/made", "w") as file:
    file.write("for a moment")
try:
    open(os.environ["HOME"] + "/.npm/made", "w").write("for the next one")
except OSError:
    print("no cache")
raise SystemExit(3)
"""
    bot = bot_with_build(tmp_path, code)
    with pytest.raises(FreezeError) as caught:
        frozen(bot, tmp_path / "data", "bubblewrap")
    shown = [line.split() for line in str(caught.value).splitlines()[1:]]
    assert shown[:5] == [
        ["home/key", "False"],
        ["data/results", "False"],
        ["home/.npm/kept", "False"],
        ["home/.npmrc", "False"],
        ["home/.cargo/bin", "True"],
    ]
    assert shown[5] == ["no", "cache"]
    with pytest.raises(FreezeError) as caught:
        frozen(bot, tmp_path / "data", "bubblewrap", caches=True)
    shown = [line.split() for line in str(caught.value).splitlines()[1:]]
    assert [value for _, value in shown[:5]] == ["False", "False", "True", "True", "True"]
    assert (home / ".npm" / "made").read_text() == "for the next one"
    assert not (home / "made").exists()


def test_a_build_has_the_network_only_if_it_is_given(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        bot = bot_with_build(tmp_path, code)
        with pytest.raises(FreezeError, match=r"without network: --build-network gives it\)$"):
            frozen(bot, tmp_path / "data", "bubblewrap")
        assert is_intact(frozen(bot, tmp_path / "data", "bubblewrap", network=True))


@pytest.mark.parametrize("tier", TIERS)
def test_what_a_failing_build_says_commands_no_terminal(tmp_path: Path, tier: str) -> None:
    code = "print('\\x1b[31mno compiler\\x1b[0m\\x07'); raise SystemExit(2)"
    with pytest.raises(FreezeError) as caught:
        frozen(bot_with_build(tmp_path, code), tmp_path / "data", tier, network=True)
    first, second = str(caught.value).splitlines()
    assert first == f"{tmp_path}/mine: build `python3 build.py` ended with exit code 2:"
    assert second == "[31mno compiler [0m"
    assert list((tmp_path / "data" / "bots").iterdir()) == []


@pytest.mark.parametrize("tier", TIERS)
def test_a_build_whose_program_is_not_there_is_named(tmp_path: Path, tier: str) -> None:
    bot = read_bot_folder(bot_folder(tmp_path, "mine", changes={"build": ["no-such-make"]}))
    with pytest.raises(FreezeError) as caught:
        frozen(bot, tmp_path / "data", tier)
    assert str(caught.value).startswith(
        f"{tmp_path}/mine could not be started: the program 'no-such-make' of its `build` was not"
    )


def test_a_build_that_does_not_make_its_program_is_told(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "mine", changes={"build": ["true"], "run": ["bin/bot"]})
    with pytest.raises(FreezeError, match="'bin/bot' of run is not there after its `build`"):
        frozen(read_bot_folder(folder), tmp_path / "data", "none")


def test_a_submitted_copy_that_is_lost_can_not_be_made_again(tmp_path: Path) -> None:
    bot = read_bot_folder(bot_folder(tmp_path, "mine"))
    copy = frozen(bot, tmp_path / "data", "none")
    submitted = replace(bot, path=copy)
    assert frozen(submitted, tmp_path / "data", "none") == copy
    (copy / "bot.py").write_text("changed")
    with pytest.raises(FreezeError, match="was changed or lost"):
        frozen(submitted, tmp_path / "data", "none")


@pytest.mark.parametrize("network", [None, True, False])
@pytest.mark.parametrize("caches", [None, True, False])
@pytest.mark.parametrize("is_untrusted", [True, False])
def test_what_builds_may_do_is_the_organiser_s_word_or_trust(
    tmp_path: Path, network: bool | None, caches: bool | None, is_untrusted: bool
) -> None:
    own = read_bot_folder(bot_folder(tmp_path, "mine"))
    sample = read_bot_folder(sample_bot_folders()["greedy"])
    for bot in (own, sample):
        trusted = not is_untrusted
        assert build_rights(
            bot, is_untrusted=is_untrusted, network=network, caches=caches
        ) == BuildRights(
            has_network=trusted if network is None else network,
            has_caches=(trusted and bot is sample) if caches is None else caches,
        )
