"""Bots that nobody vouches for, and ladders: what `run` and `resume` refuse, what they store."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tournament.fakes import bot_folder, store_plan
from tests.tournament.stage import Stage, set_up
from tournament.bots.find import find_bots
from tournament.bots.frozen import frozen_folder
from tournament.bots.sandbox.choose import choose
from tournament.bots.sandbox.wrapped import SandboxError
from tournament.config import Config
from tournament.errors import ConfigError, ResumeError, UsageError
from tournament.runner import run


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with set_up(tmp_path, monkeypatch) as stage:
        yield stage


def begin(stage: Stage, config: Config, tier: str, *, submitted: str = "") -> str:
    names = ("ann", "bob")
    for name in names:
        if not (stage.root / "bots" / name).exists():
            bot_folder(stage.root / "bots", name)
    bots = [
        replace(bot, is_untrusted=bot.name == submitted)
        for bot in find_bots([str(stage.root / "bots" / name) for name in names])
    ]
    return run.begin(stage.store, stage.data, config, bots, None, sandbox=choose(tier))


@pytest.mark.parametrize("tier", ["none", "rlimits"])
@pytest.mark.parametrize(
    ("untrusted", "submitted", "named"),
    [
        (("bob",), "", "bob"),
        (True, "", "ann, bob"),
        ((), "ann", "ann"),
        (("bob",), "ann", "ann, b"),
    ],
)
def test_untrusted_bots_need_walls_and_nothing_is_stored_without(
    stage: Stage, tier: str, untrusted: tuple[str, ...] | bool, submitted: str, named: str
) -> None:
    config = Config(encounters=1, untrusted=untrusted)
    with pytest.raises(SandboxError, match=rf"'{tier}' does not hold .*untrusted \({named}"):
        begin(stage, config, tier, submitted=submitted)
    assert stage.store.tournaments() == []
    assert not (stage.data / "bots").exists()


def test_a_resume_knows_whom_nobody_vouches_for(stage: Stage) -> None:
    identity = begin(stage, Config(encounters=1, untrusted=("bob",)), "bubblewrap", submitted="ann")
    tournament = stage.store.tournament(identity)
    assert tournament.config["untrusted"] == ["ann", "bob"]
    run.check_unchanged(stage.store, stage.data, tournament, sandbox=choose("bubblewrap"))
    with pytest.raises(SandboxError, match=r"untrusted \(ann, bob\)"):
        run.check_unchanged(stage.store, stage.data, tournament, sandbox=choose("rlimits"))


def test_who_is_named_untrusted_must_take_part(stage: Stage) -> None:
    with pytest.raises(ConfigError, match="untrusted names 'cid', which is no bot here"):
        begin(stage, Config(encounters=1, untrusted=("cid",)), "bubblewrap")
    assert stage.store.tournaments() == []


def test_a_resume_leaves_ladders_alone(stage: Stage) -> None:
    store_plan(stage.store, identity="t1")
    store_plan(stage.store, identity="t2", config={"format": "ladder"})
    assert run.latest_unfinished(stage.store).id == "t1"
    with pytest.raises(UsageError, match="t2 is a ladder: `tournament ladder` goes on with it"):
        run.check_unchanged(
            stage.store, stage.data, stage.store.tournament("t2"), sandbox=choose("none")
        )


def test_a_submitted_bot_is_its_copy_and_what_its_build_made_is_no_change(stage: Stage) -> None:
    changes = {"build": ["python3", "-c", "open('built', 'w')"]}
    bot_folder(stage.root / "bots", "ann", changes=changes)
    identity = begin(stage, Config(encounters=1), "none")
    first, *_ = stage.store.entries(identity)
    copy = frozen_folder(stage.data, first.content_hash)
    bots = find_bots([str(stage.root / "bots" / name) for name in ("ann", "bob")])
    submitted = [replace(bots[0], path=copy), bots[1]]
    again = run.begin(
        stage.store, stage.data, Config(encounters=1), submitted, None, sandbox=choose("none")
    )
    tournament = stage.store.tournament(again)
    run.check_unchanged(stage.store, stage.data, tournament, sandbox=choose("none"))
    (copy / "built").write_text("changed")
    with pytest.raises(ResumeError, match="the copy of ann is gone or was changed"):
        run.check_unchanged(stage.store, stage.data, tournament, sandbox=choose("none"))
