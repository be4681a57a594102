"""`tournament submit`: what is registered is whole, once for each content, and can be played."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from referee.service.tokens import key_of
from tests.tournament.fakes import bot_folder
from tournament.bots.find import find_bots, sample_bot_folders
from tournament.bots.folder import BotFolder, read_bot_folder
from tournament.bots.frozen import frozen_folder, is_intact
from tournament.bots.sandbox.choose import choose
from tournament.bots.sandbox.wrapped import SandboxError
from tournament.commands import checking, output
from tournament.commands import submit as module
from tournament.commands.sandbox import open_sandbox
from tournament.commands.submit import submit
from tournament.commands.submitted import SubmittedBots
from tournament.config import Config
from tournament.errors import (
    BotFolderError,
    FreezeError,
    OutputError,
    TournamentError,
    UsageError,
)
from tournament.report.render import Format
from tournament.runner import run
from tournament.store.registry import Registration, Registry, registrations_in
from tournament.store.store import Store


@dataclass
class Desk:
    """A folder of bots and one of data, and the check, which is told what to find."""

    root: Path
    passes: bool = True
    checked: list[str] = field(default_factory=list)
    during: Callable[[], None] = lambda: None

    @property
    def data(self) -> Path:
        """The data folder, which is made when it is needed."""
        return self.root / "data"

    def check(self, bot: BotFolder, copy: Path, _sandbox: object) -> None:
        """Stand in for the check: it sees a whole copy."""
        assert is_intact(copy)
        assert copy == frozen_folder(self.data, bot.content_hash)
        self.checked.append(f"{bot.name} {bot.version}")
        self.during()
        if not self.passes:
            raise TournamentError(f"{bot.name} did not pass")

    def submit(self, folder: Path | None = None, **options: object) -> None:
        """Run the command."""
        given: dict[str, Any] = {
            "sandbox": "none", "data": self.data, "format_": Format.JSON, **options,
        }  # fmt: skip
        submit(folder=folder, **given)

    def all(self) -> list[Registration]:
        """What is registered."""
        return registrations_in(self.data)

    def copies(self) -> list[str]:
        """Names of all that lies beside the frozen copies."""
        place = self.data / "bots"
        return sorted(path.name for path in place.iterdir()) if place.exists() else []


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A desk where bots are handed in."""
    desk = Desk(tmp_path)
    monkeypatch.setattr(module, "_check", desk.check)
    yield desk
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_bot_is_checked_frozen_and_registered(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bot_folder(desk.root, "one")
    desk.submit(folder)
    bot = read_bot_folder(folder)
    [made] = desk.all()
    assert (made.bot, made.version, made.content_hash) == ("one", "1.0", bot.content_hash)
    assert made.manifest == bot.manifest
    assert not made.is_elsewhere
    assert not made.is_untrusted
    assert desk.checked == ["one 1.0"]
    assert desk.copies() == [bot.content_hash]
    told = capsys.readouterr()
    shown = json.loads(told.out)["submitted"]
    assert (shown["bot"], shown["version"]) == ("one", "1.0")
    assert shown["content_hash"] == bot.content_hash
    assert shown["token"] is None
    assert "one is submitted as version 1.0" in told.err
    assert f"tournament run --bots one@1.0 greedy counting --data {desk.data}" in told.err


def test_an_unchanged_folder_is_the_same_version(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bot_folder(desk.root, "one")
    desk.submit(folder)
    before = desk.all()
    capsys.readouterr()
    desk.submit(folder)
    (folder / "__pycache__").mkdir()  # no part of a bot
    desk.submit(folder)
    assert desk.all() == before
    assert desk.checked == ["one 1.0"]
    told = capsys.readouterr()
    assert told.err.count("one is submitted already as version 1.0: nothing has changed") == 2
    assert before[0].content_hash in told.out


def test_a_copy_that_was_damaged_is_made_again(desk: Desk) -> None:
    folder = bot_folder(desk.root, "one")
    desk.submit(folder)
    copy = desk.data / "bots" / desk.all()[0].content_hash
    (copy / "bot.py").write_text("other")
    with pytest.raises(UsageError, match=r"copy of one 1\.0 that was submitted was changed"):
        SubmittedBots(desk.data).find("one")
    desk.submit(folder)
    assert is_intact(copy)
    assert SubmittedBots(desk.data).find("one") is not None


def test_a_changed_folder_needs_another_version(desk: Desk) -> None:
    folder = bot_folder(desk.root, "one")
    desk.submit(folder)
    first = desk.all()
    (folder / "bot.py").write_text("print('better')")
    with pytest.raises(UsageError, match=r"one has a version '1\.0' already.*`version` of its own"):
        desk.submit(folder)
    assert desk.all() == first
    assert len(desk.copies()) == 1
    manifest = folder / "bot.toml"
    manifest.write_text(manifest.read_text().replace('"1.0"', '"1.1"'))
    desk.submit(folder)
    assert [one.version for one in desk.all()] == ["1.0", "1.1"]
    assert desk.checked == ["one 1.0", "one 1.1"]
    assert len(desk.copies()) == 2


def test_who_does_not_pass_is_not_there(desk: Desk) -> None:
    folder = bot_folder(desk.root, "one")
    desk.passes = False
    with pytest.raises(TournamentError, match="one did not pass") as caught:
        desk.submit(folder)
    assert caught.value.exit_code == 1
    assert desk.all() == []
    assert desk.copies() == []
    desk.passes = True
    desk.submit(folder)
    assert len(desk.all()) == 1


def test_who_does_not_pass_stays_if_a_tournament_has_it(desk: Desk) -> None:
    """Its copy was lost, say, and is made again: what has a right to it still finds it."""
    folders = [bot_folder(desk.root, name) for name in ("one", "two")]
    bots = [read_bot_folder(folder) for folder in folders]
    hash_of = bots[0].content_hash
    with Store.open(desk.data) as store:
        sandbox = open_sandbox("none", desk.data)
        run.begin(store, desk.data, Config(encounters=1), bots, None, sandbox=sandbox)
    (desk.data / "bots" / hash_of / "bot.py").unlink()
    desk.passes = False
    with pytest.raises(TournamentError):
        desk.submit(folders[0])
    assert is_intact(desk.data / "bots" / hash_of)
    assert desk.all() == []


def test_interrupted_in_the_middle_nothing_is_there(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bot_folder(desk.root, "one")
    desk.during = lambda: os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(typer.Exit) as caught:
        desk.submit(folder)
    assert caught.value.exit_code == 130
    assert "interrupted: one 1.0 is not submitted" in capsys.readouterr().err
    assert desk.all() == []
    assert desk.copies() == []
    assert list((desk.data / "locks").iterdir()) == []


def test_a_failing_build_leaves_nothing(desk: Desk) -> None:
    folder = bot_folder(desk.root, "one", changes={"build": ["false"]})
    with pytest.raises(FreezeError, match="build"):
        desk.submit(folder)
    assert desk.all() == []
    assert desk.copies() == []
    assert desk.checked == []


def test_what_a_build_made_is_played(desk: Desk) -> None:
    folder = bot_folder(desk.root, "one", changes={"build": ["touch", "made"]})
    desk.submit(folder)
    bot = SubmittedBots(desk.data).find("one")
    assert bot is not None
    assert (bot.path / "made").exists()
    assert bot.content_hash == read_bot_folder(folder).content_hash
    assert bot.build == ("touch", "made")


@pytest.mark.parametrize(
    ("name", "others"), [("greedy", "counting random"), ("counting", "greedy random")]
)
def test_who_hides_a_sample_bot_is_told_so(
    desk: Desk, capsys: pytest.CaptureFixture[str], name: str, others: str
) -> None:
    desk.submit(bot_folder(desk.root, name))
    told = capsys.readouterr().err
    assert f"there is a sample bot {name!r} too: that name now means the submitted bot" in told
    assert str(sample_bot_folders()[name]) in told
    assert f"tournament run --bots {name}@1.0 {others} --data {desk.data}" in told
    # What it says to do can be done.
    texts = [f"{name}@1.0", *others.split()]
    assert len(find_bots(texts, submitted=SubmittedBots(desk.data))) == 3


def test_who_hides_none_is_told_nothing_of_it(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.submit(bot_folder(desk.root, "one"))
    assert "sample bot" not in capsys.readouterr().err


def test_hostile_and_wrong_folders_are_refused_before_anything_is_kept(desk: Desk) -> None:
    folder = bot_folder(desk.root, "one")
    (folder / "out").symlink_to("/etc")
    with pytest.raises(BotFolderError, match="out"):
        desk.submit(folder)
    with pytest.raises(BotFolderError, match="is not a folder"):
        desk.submit(desk.root / "nothing")
    slash = bot_folder(desk.root, "two", changes={"version": "1/2"})
    with pytest.raises(UsageError, match="version is '1/2': allowed in a bot that is submitted"):
        desk.submit(slash)
    needy = bot_folder(desk.root, "three", changes={"needs": ["no-such-program"]})
    with pytest.raises(UsageError, match="three can't be built or run here: it needs no-such"):
        desk.submit(needy)
    assert not desk.data.exists()


def test_untrusted_bots_need_walls(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    folder = bot_folder(desk.root, "one")
    with pytest.raises(SandboxError, match=r"'none' does not hold bots .*untrusted \(one\)"):
        desk.submit(folder, is_untrusted=True)
    assert not desk.data.exists()
    with Store.open(desk.data) as store:
        Registry(store).register(
            run.entry_of(read_bot_folder(folder)), is_elsewhere=False, is_untrusted=True
        )
    desk.submit(folder)
    assert "it stays marked untrusted" in capsys.readouterr().err
    bot = SubmittedBots(desk.data).find("one")
    assert bot is not None
    assert bot.is_untrusted
    bots = [bot, read_bot_folder(bot_folder(desk.root, "two"))]
    sandbox = open_sandbox("none", desk.data)
    with Store.open(desk.data) as store, pytest.raises(SandboxError, match="untrusted"):
        run.begin(store, desk.data, Config(encounters=1), bots, None, sandbox=sandbox)


def test_a_withdrawn_version_does_not_come_back(desk: Desk) -> None:
    folder = bot_folder(desk.root, "one")
    desk.submit(folder)
    with Store.open(desk.data) as store:
        Registry(store).withdraw("one")
    with pytest.raises(UsageError, match=r"one 1\.0 was withdrawn, at .*another `version`"):
        desk.submit(folder)


def test_two_may_not_submit_one_bot_at_once(desk: Desk) -> None:
    folder = bot_folder(desk.root, "one")
    with (
        Store.open(desk.data) as store,
        store.lock("submit-one"),
        pytest.raises(TournamentError, match="one is being submitted by another p") as caught,
    ):
        desk.submit(folder)
    assert caught.value.exit_code == 1  # it passes
    desk.submit(folder)


# Bots that run elsewhere


def _outside(desk: Desk, **changes: object) -> None:
    options = {"elsewhere": "far", "version": "1.0", "author": "A", "language": "go"} | changes
    desk.submit(None, **options)


def test_a_bot_that_runs_elsewhere_gets_a_token(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    _outside(desk)
    told = capsys.readouterr()
    token = json.loads(told.out)["submitted"]["token"]
    [made] = desk.all()
    assert (made.bot, made.author, made.language) == ("far", "A", "go")
    assert made.is_elsewhere
    assert made.token_key == key_of(token)
    assert token.encode() not in (desk.data / "rummy.sqlite3").read_bytes()
    assert token not in told.err
    with pytest.raises(UsageError, match=r"far 1\.0 is registered already: --new-token far"):
        _outside(desk)
    assert desk.all() == [made]
    assert desk.checked == []
    with pytest.raises(UsageError, match=r"far 1\.0 runs elsewhere: only `tournament ladder`"):
        SubmittedBots(desk.data).find("far")


def test_a_token_that_could_not_be_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OutputError("stdout can't be written: No space left on device")

    monkeypatch.setattr(output, "write", full)
    with pytest.raises(OutputError, match=r"left on device: the token is lost; .*--new-token far "):
        _outside(desk)


def test_a_new_token_replaces_the_old(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    _outside(desk)
    _outside(desk, version="1.1")
    before = {one.version: one.token_key for one in desk.all()}
    capsys.readouterr()
    desk.submit(renewed="far")
    token = json.loads(capsys.readouterr().out)["submitted"]["token"]
    after = {one.version: one.token_key for one in desk.all()}
    assert after == before | {"1.1": key_of(token)}
    desk.submit(renewed="far", version="1.0")
    assert {one.version: one.token_key for one in desk.all()}["1.0"] != before["1.0"]
    with pytest.raises(UsageError, match=r"far has no version '2' that .* are 1\.0, 1\.1"):
        desk.submit(renewed="far", version="2")
    with pytest.raises(UsageError, match=r"no bot 'near' runs elsewhere: .* are far$"):
        desk.submit(renewed="near")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "nothing to submit: allowed is one of FOLDER, --elsewhere NAME and --new-token"),
        ({"elsewhere": "a", "renewed": "b"}, "'a' and 'b' to submit: allowed is one of"),
        ({"folder": Path("x"), "version": "1"}, "--version '1' goes with --elsewhere or --new-to"),
        ({"folder": Path("x"), "author": "me"}, "--author 'me' goes with --elsewhere"),
        ({"renewed": "a", "language": "go"}, "--language 'go' goes with --elsewhere"),
        ({"elsewhere": "a", "version": "1"}, "--author and --language must be given with --elsew"),
        (
            {"elsewhere": "a b", "version": "1", "author": "m", "language": "g"},
            "--elsewhere: bot is 'a b': allowed are 1–40 of letters",
        ),
        (
            {"elsewhere": "a", "version": "1 2", "author": "m", "language": "g"},
            "--elsewhere: version is '1 2': allowed are 1–20 of",
        ),
        (
            {"elsewhere": "a", "version": "1", "author": "x" * 101, "language": "g"},
            "--elsewhere: author is 'xxx",
        ),
        (
            {"elsewhere": "a", "version": "1", "author": "m", "language": "\n"},
            r"--elsewhere: language is '\n': allowed are at most",
        ),
        (
            {
                "elsewhere": "a",
                "version": "1",
                "author": "m",
                "language": "g",
                "is_untrusted": True,
            },
            "--untrusted goes with FOLDER",
        ),
    ],
)
def test_wrong_options_are_named(desk: Desk, options: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        desk.submit(**options)
    assert expected in str(caught.value)
    assert not desk.data.exists()


def test_the_check_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `run_check` reports is what `submit` acts on."""
    bot = read_bot_folder(bot_folder(tmp_path, "one"))
    for may in (True, False):
        report = SimpleNamespace(may_compete=may)
        monkeypatch.setattr(checking, "run_check", lambda *_, report=report: report)
        if may:
            module._check(bot, tmp_path, choose("none"))
        else:
            with pytest.raises(TournamentError, match="did not pass the check, and is not subm"):
                module._check(bot, tmp_path, choose("none"))
