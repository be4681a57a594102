"""Submitted bots are found by name, after folders and before sample bots; plans name versions."""

import tomllib
from pathlib import Path

import pytest

from tests.tournament.conftest import Place
from tests.tournament.fakes import bot_folder
from tournament.bots.find import DEFAULT_BOTS, find_bots
from tournament.bots.folder import BotFolder, read_bot_folder
from tournament.bots.frozen import freeze, frozen_folder
from tournament.bots.sandbox.choose import choose
from tournament.commands.asked import read_asked
from tournament.commands.plan import plan
from tournament.commands.submitted import SubmittedBots
from tournament.config import Config, Overrides
from tournament.errors import ResumeError, UsageError
from tournament.report.bots import submitted_view
from tournament.report.render import Format, render
from tournament.runner.run import begin, check_unchanged, entry_of
from tournament.store.registry import Registry, outside_hash, registrations_in
from tournament.store.stored import Entry


def _hand_in(place: Place, name: str, version: str = "1.0", **changes: object) -> BotFolder:
    """Freeze and register a bot as `submit` does, without a check."""
    source = place.data.parent / "sources" / version.replace(" ", "-")
    bot = read_bot_folder(bot_folder(source, name, changes={"version": version, **changes}))
    freeze(bot, place.data, sandbox=choose("none"), build_network=False)
    with place.open() as store:
        Registry(store).register(entry_of(bot), is_elsewhere=False)
    return bot


def _outside(place: Place, name: str, version: str) -> None:
    entry = Entry(
        bot=name,
        version=version,
        author="a",
        language="go",
        content_hash=outside_hash(name, version),
        folder="",
        manifest={"elsewhere": True},
    )
    with place.open() as store:
        Registry(store).register(entry, is_elsewhere=True)


def _submitted(place: Place) -> SubmittedBots:
    return SubmittedBots(place.data, place.url)


def test_a_submitted_bot_is_played_from_its_copy(place: Place) -> None:
    first = _hand_in(place, "one", "1.0", limits={"memory_mb": 256, "tcp": True})
    second = _hand_in(place, "one", "1.1 beta")
    submitted = _submitted(place)
    [newest] = find_bots(["one"], submitted=submitted)
    [old] = find_bots(["one@1.0"], submitted=submitted)
    assert find_bots(["one@1.1 beta"], submitted=submitted) == [newest]
    for bot, source in ((newest, second), (old, first)):
        assert bot.path == frozen_folder(place.data, source.content_hash)
        assert (bot.name, bot.version, bot.content_hash) == (
            source.name, source.version, source.content_hash,
        )  # fmt: skip
        assert bot.manifest == source.manifest
        assert submitted.text_of(bot) == f"one@{bot.version}"
        assert submitted.text_of(source) is None
    with pytest.raises(UsageError, match=r"^one@1\.1 beta and one@1\.0 are both named 'one'.*copy"):
        find_bots(["one@1.1 beta", "one@1.0"], submitted=submitted)
    with pytest.raises(UsageError, match=r"^one@1\.1 beta and one are the same bot, 'one'"):
        find_bots(["one@1.1 beta", "one"], submitted=submitted)
    with pytest.raises(
        UsageError, match=r"'one@2': one has no version '2': submitted are 1\.0, 1\.1 b"
    ):
        find_bots(["one@2"], submitted=submitted)


def test_folders_come_first_then_submitted_bots_then_samples(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    handed_in = _hand_in(place, "greedy")
    monkeypatch.chdir(tmp_path)
    submitted = _submitted(place)
    assert find_bots(["greedy"], submitted=submitted)[0].content_hash == handed_in.content_hash
    assert find_bots(["random"], submitted=submitted)[0].author == "Rummy Referee"
    # Without names they are the sample bots, whatever was submitted.
    samples = find_bots([], submitted=submitted)
    assert tuple(bot.name for bot in samples) == DEFAULT_BOTS
    assert {bot.author for bot in samples} == {"Rummy Referee"}
    folder = bot_folder(tmp_path, "greedy")
    [found] = find_bots(["greedy"], submitted=submitted)
    assert found.path == folder


def test_a_mark_stays_with_the_content_wherever_it_lies(place: Place, tmp_path: Path) -> None:
    bot = _hand_in(place, "one")
    with place.open() as store:
        Registry(store).register(entry_of(bot), is_elsewhere=False, is_untrusted=True)
    moved = bot.path.rename(tmp_path / "moved")
    other = bot_folder(tmp_path / "other", "two")
    submitted = _submitted(place)
    found = find_bots([str(moved), str(other)], submitted=submitted)
    assert [one.is_untrusted for one in found] == [True, False]
    assert find_bots([str(tmp_path / "other")], submitted=submitted)[0].is_untrusted is False
    (moved / "bot.py").write_text("another")
    assert find_bots([str(moved)], submitted=submitted)[0].is_untrusted is False


def test_what_was_withdrawn_or_runs_elsewhere_is_not_taken(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    for version in ("1", "2"):
        _hand_in(place, "one", version)
    _hand_in(place, "two")
    _outside(place, "far", "1")
    with place.open() as store:
        Registry(store).withdraw("one", "2")
        Registry(store).withdraw("two")
        since = Registry(store).of("two")[0].withdrawn
    submitted = _submitted(place)
    assert find_bots(["one"], submitted=submitted)[0].version == "1"
    assert since is not None
    with pytest.raises(UsageError, match=rf"two 1\.0 was withdrawn on {since[:10]}: what it"):
        find_bots(["two"], submitted=submitted)
    with pytest.raises(UsageError, match="one 2 was withdrawn on"):
        find_bots(["one@2"], submitted=submitted)
    with pytest.raises(UsageError, match="far 1 runs elsewhere: only `tournament ladder`"):
        find_bots(["far"], submitted=submitted)
    with pytest.raises(UsageError, match=r"'x' is neither a folder nor a .* submitted are one; "):
        find_bots(["x"], submitted=submitted)
    assert submitted.all() == ["one@1"]
    assert "left out, running elsewhere: far" in capsys.readouterr().err
    with place.open() as store:
        Registry(store).withdraw("one")
    with pytest.raises(UsageError, match="--submitted: no bot was submitted, or all were withdraw"):
        _submitted(place).all()


def test_a_sample_bot_is_not_hidden_by_what_cannot_be_played_here(place: Place) -> None:
    _outside(place, "greedy", "1")
    _hand_in(place, "random", "1")
    with place.open() as store:
        Registry(store).withdraw("random")
    submitted = _submitted(place)
    found = find_bots(["greedy", "random"], submitted=submitted)
    assert {bot.author for bot in found} == {"Rummy Referee"}
    # A version says which one is meant.
    with pytest.raises(UsageError, match="greedy 1 runs elsewhere"):
        find_bots(["greedy@1"], submitted=submitted)
    with pytest.raises(UsageError, match="random 1 was withdrawn"):
        find_bots(["random@1"], submitted=submitted)


def test_a_copy_that_is_gone_is_named(place: Place) -> None:
    bot = _hand_in(place, "one")
    copy = frozen_folder(place.data, bot.content_hash)
    copy.rename(copy.with_name("elsewhere"))
    with pytest.raises(UsageError, match=r"copy of one 1\.0 that was submitted is not there"):
        find_bots(["one"], submitted=_submitted(place))


def test_where_nothing_is_stored_nothing_is_submitted_nor_made(place: Place) -> None:
    submitted = _submitted(place)
    assert submitted.find("one") is None
    assert list(submitted.names) == []
    with pytest.raises(UsageError, match="'one' is neither a folder nor a sample bot: "):
        find_bots(["one"], submitted=submitted)
    assert not place.data.exists()


def test_all_that_are_submitted_come_after_those_that_are_named(place: Place) -> None:
    for name in ("one", "two"):
        _hand_in(place, name)
    _hand_in(place, "one", "2.0")
    asked = read_asked(
        [], ["random"], [], Overrides(), submitted=_submitted(place), all_submitted=True
    )
    assert [(bot.name, bot.version) for bot in asked.bots] == [
        ("random", "1.0.0"), ("one", "2.0"), ("two", "1.0"),
    ]  # fmt: skip
    assert asked.config.bots == ("random", "one@2.0", "two@1.0")
    assert asked.texts[1:] == ("one@2.0", "two@1.0")


def test_a_plan_names_versions_and_plans_the_same_again(
    place: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _hand_in(place, "one")
    _hand_in(place, "two", needs=["no-such-program"])
    options = {"data": place.data, "database": place.url}
    plan(bots=["random"], all_submitted=True, **options)  # type: ignore[arg-type]
    told = capsys.readouterr()
    assert "two is left out: it needs no-such-program" in told.err
    assert tomllib.loads(told.out)["bots"][1:] == ["one@1.0"]
    _hand_in(place, "one", "2.0")  # changes nothing for the file
    file = tmp_path / "cup.toml"
    file.write_text(told.out)
    plan(arguments=[file], **options)  # type: ignore[arg-type]
    assert tomllib.loads(capsys.readouterr().out) == tomllib.loads(told.out)


def test_the_list_of_submitted_bots(place: Place) -> None:
    first = _hand_in(place, "one")
    _outside(place, "far", "3")
    with place.open() as store:
        Registry(store).withdraw("one")
        Registry(store).pause(outside_hash("far", "3"), "three crashes")
    view = submitted_view(registrations_in(place.data, place.url), {first.content_hash: 12})
    text = render(view, Format.TABLE)
    lines = [line.split() for line in text.splitlines()]
    assert any({"one", "here", "12", "withdrawn"} <= {*line} for line in lines)
    assert any({"far", "elsewhere", "0", "paused:"} <= {*line} for line in lines)


def test_a_tournament_of_submitted_bots_can_be_resumed(place: Place) -> None:
    """What a build has added to the copy is no change of the bot."""
    for name in ("one", "two"):
        _hand_in(place, name, build=["touch", "made"])
    bots = find_bots(["one", "two"], submitted=_submitted(place))
    sandbox = choose("none")
    with place.open() as store:
        begun = begin(store, place.data, Config(encounters=1), bots, None, sandbox=sandbox)
        tournament = store.tournament(begun)
        assert [entry.version for entry in store.entries(begun)] == ["1.0", "1.0"]
        check_unchanged(store, place.data, tournament, sandbox=sandbox)
        (bots[0].path / "bot.py").write_text("other")
        with pytest.raises(ResumeError, match="copy of one is gone or was changed"):
            check_unchanged(store, place.data, tournament, sandbox=sandbox)
