"""bot.toml: what is right, and how wrong values are refused; content hashes; frozen copies."""

import json
from pathlib import Path

import pytest

from tests.tournament.fakes import bot_folder, freeze_here
from tournament.bots.find import DEFAULT_BOTS, find_bots
from tournament.bots.folder import changed_files, content_hash, read_bot_folder
from tournament.bots.frozen import frozen_folder
from tournament.errors import BotFolderError, FreezeError, UsageError


def test_a_complete_folder(tmp_path: Path) -> None:
    bot = read_bot_folder(
        bot_folder(
            tmp_path,
            "my-bot_1",
            changes={"build": ["make", "all"], "limits": {"memory_mb": 512, "tcp": True}},
        )
    )
    assert (bot.name, bot.version, bot.author, bot.language) == (
        "my-bot_1", "1.0", "somebody", "python",
    )  # fmt: skip
    assert (bot.build, bot.run) == (("make", "all"), ("python3", "bot.py"))
    assert (bot.memory_mb, bot.tcp, bot.is_untrusted) == (512, True, False)
    assert bot.content_hash == content_hash(tmp_path / "my-bot_1")
    assert bot.manifest["limits"] == {"memory_mb": 512, "tcp": True}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"name": "My Bot"}, "name is 'My Bot': allowed is 1–64 characters of a–z, 0–9, _ and -"),
        ({"name": "x" * 65}, "name is 'xxxx"),
        ({"name": "line\n"}, "name is 'line"),
        ({"name": 3}, "name is 3: allowed"),
        ({"name": None}, "name is missing: it must be 1–64 characters"),
        ({"version": ""}, "version is '': allowed is a text of 1–64 printable"),
        ({"version": 1.5}, "version is 1.5: allowed"),
        ({"author": None}, "author is missing"),
        ({"language": None}, "language is missing"),
        ({"run": None}, "run is missing: it must be a list of one or more texts"),
        ({"run": []}, "run is []: allowed is a list"),
        ({"run": "python3 bot.py"}, "run is 'python3 bot.py': allowed is a list"),
        ({"run": ["python3", 1]}, "run is ['python3', 1]: allowed"),
        ({"build": [""]}, "build is ['']: allowed"),
        ({"colour": "red"}, "there is no key 'colour': allowed are name, version, author"),
        ({"limits": 5}, "limits is 5: allowed is a table with memory_mb"),
        ({"limits": {"cpu": 1}}, "there is no key 'limits.cpu': allowed are limits.memory_mb and"),
        ({"limits": {"tcp": 1}}, "limits.tcp is 1: allowed is true or false"),
        ({"limits": {"memory_mb": 1}}, "limits.memory_mb is 1: allowed is a whole number 64–"),
    ],
)
def test_wrong_values_are_refused_by_file_key_and_value(
    tmp_path: Path, changes: dict[str, object], expected: str
) -> None:
    folder = bot_folder(tmp_path, "bot", changes=changes)
    with pytest.raises(BotFolderError) as caught:
        read_bot_folder(folder)
    assert str(caught.value).startswith(f"{folder}/bot.toml: {expected}")


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(BotFolderError, match="nothing is not a folder"):
        read_bot_folder(tmp_path / "nothing")
    with pytest.raises(BotFolderError, match=r"has no bot\.toml"):
        read_bot_folder(tmp_path)
    (tmp_path / "bot.toml").write_text("name = ")
    with pytest.raises(BotFolderError, match=r"bot\.toml is not TOML: "):
        read_bot_folder(tmp_path)
    (tmp_path / "bot.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BotFolderError, match=r"bot\.toml is not TOML: "):
        read_bot_folder(tmp_path)


def test_the_hash_is_of_paths_bytes_and_modes_alone(tmp_path: Path) -> None:
    one = bot_folder(tmp_path / "1", "bot")
    two = bot_folder(tmp_path / "2", "bot")
    (one / "__pycache__").mkdir()
    (one / "__pycache__" / "bot.pyc").write_bytes(b"x")
    same = content_hash(one)
    assert same == content_hash(two)
    (two / "data").mkdir()
    (two / "data" / "a").write_text("")
    hashes = {same, content_hash(two)}
    (two / "data" / "a").rename(two / "data" / "b")
    hashes.add(content_hash(two))
    (two / "data" / "b").write_text("x")
    hashes.add(content_hash(two))
    (two / "data" / "b").chmod(0o755)
    hashes.add(content_hash(two))
    assert len(hashes) == 5


def test_what_a_bot_ignores_is_no_part_of_it(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    with (folder / "bot.toml").open("a") as manifest:
        manifest.write("ignore = ['bin', '*.o']\n")
    before = read_bot_folder(folder)
    (folder / "bin").mkdir()
    (folder / "bin" / "bot").write_bytes(b"x")
    (folder / "src").mkdir()
    (folder / "src" / "bot.o").write_bytes(b"x")
    built = read_bot_folder(folder)
    assert built.content_hash == before.content_hash
    assert built.ignore == ("bin", "*.o")
    copy = freeze_here(built, tmp_path / "data")
    assert sorted(path.name for path in copy.glob("[!.]*")) == ["bot.py", "bot.toml", "src"]
    (folder / "binary").write_bytes(b"x")
    assert read_bot_folder(folder).content_hash != before.content_hash


@pytest.mark.parametrize("value", ["'bin'", "[3]", "['']", "['a/b']", "['*.toml']", "['*']"])
def test_what_cannot_be_ignored(tmp_path: Path, value: str) -> None:
    folder = bot_folder(tmp_path, "bot")
    with (folder / "bot.toml").open("a") as manifest:
        manifest.write(f"ignore = {value}\n")
    with pytest.raises(BotFolderError, match=r"ignore is .*: allowed is a list of names"):
        read_bot_folder(folder)


def test_a_build_finds_schema_and_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=mod")
    monkeypatch.setenv("RUMMY_TOKEN", "secret")
    monkeypatch.setenv("HOMEWORK", "secret")
    folder = bot_folder(tmp_path, "bot")
    with (folder / "bot.toml").open("a") as manifest:
        code = "import json, os; json.dump(dict(os.environ), open('seen', 'w'))"
        manifest.write(f'build = ["python3", "-c", "{code}"]\n')
    seen = json.loads(
        (freeze_here(read_bot_folder(folder), tmp_path / "data") / "seen").read_text()
    )
    assert (seen["GOFLAGS"], seen["HOME"]) == ("-mod=mod", str(Path.home()))
    assert "secret" not in seen.values()
    assert Path(seen["RUMMY_PROTO"], "rummy/referee/v1/play.proto").is_file()


def test_links_must_stay_inside(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    (folder / "inside").symlink_to("bot.py")
    read_bot_folder(folder)
    (folder / "outside").symlink_to("/etc/hostname")
    with pytest.raises(BotFolderError, match="outside is a link to outside the bot's folder"):
        read_bot_folder(folder)


def test_a_frozen_copy_is_whole_and_stays_when_the_folder_changes(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    (folder / "link").symlink_to("bot.py")
    (folder / "__pycache__").mkdir()
    bot = read_bot_folder(folder)
    copy = freeze_here(bot, tmp_path / "data")
    assert copy == frozen_folder(tmp_path / "data", bot.content_hash)
    assert content_hash(copy) == bot.content_hash
    assert sorted(file.name for file in copy.glob("[!.]*")) == ["bot.py", "bot.toml", "link"]
    (folder / "bot.py").write_text("changed")
    assert freeze_here(bot, tmp_path / "data") == copy
    assert content_hash(copy) == bot.content_hash


def test_a_bot_is_built_in_its_copy(tmp_path: Path) -> None:
    build = ["python3", "-c", "open('built', 'w').write('yes')"]
    bot = read_bot_folder(bot_folder(tmp_path, "bot", changes={"build": build}))
    copy = freeze_here(bot, tmp_path / "data")
    assert (copy / "built").read_text() == "yes"
    assert not (tmp_path / "bot" / "built").exists()


def test_a_build_that_fails_is_shown_and_leaves_no_copy(tmp_path: Path) -> None:
    build = ["python3", "-c", "raise SystemExit('no compiler')"]
    bot = read_bot_folder(bot_folder(tmp_path, "bot", changes={"build": build}))
    with pytest.raises(FreezeError, match=r"(?s)ended with exit code 1:\nno compiler"):
        freeze_here(bot, tmp_path / "data")
    assert list((tmp_path / "data" / "bots").iterdir()) == []
    bot = read_bot_folder(bot_folder(tmp_path, "bot2", changes={"build": ["no-such-program"]}))
    with pytest.raises(FreezeError, match="of its `build` was not found"):
        freeze_here(bot, tmp_path / "data")


def test_a_folder_that_changed_after_it_was_read_is_refused(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    bot = read_bot_folder(folder)
    (folder / "bot.py").write_text("other")
    with pytest.raises(FreezeError, match="changed while it was copied"):
        freeze_here(bot, tmp_path / "data")


def test_the_data_folder_is_no_part_of_a_bot(tmp_path: Path) -> None:
    bot = read_bot_folder(bot_folder(tmp_path, "bot"))
    copy = freeze_here(bot, bot.path / "rummy-data")
    assert sorted(file.name for file in copy.glob("[!.]*")) == ["bot.py", "bot.toml"]
    assert content_hash(bot.path) == bot.content_hash
    with pytest.raises(UsageError, match=r"lies inside the bot's folder .*--data"):
        freeze_here(bot, bot.path / "other")


def test_bots_are_found_by_folder_by_folder_of_folders_and_by_name(tmp_path: Path) -> None:
    bot_folder(tmp_path / "all", "one")
    bot_folder(tmp_path / "all", "two")
    assert [bot.name for bot in find_bots([str(tmp_path / "all")])] == ["one", "two"]
    found = find_bots([str(tmp_path / "all" / "two"), "greedy"])
    assert [bot.name for bot in found] == ["two", "greedy"]
    assert tuple(bot.name for bot in find_bots([])) == DEFAULT_BOTS


def test_bots_that_are_none_or_the_same_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'nobody' is neither a folder nor a sample bot.*greedy"):
        find_bots(["nobody"])
    folder = bot_folder(tmp_path, "one")
    with pytest.raises(UsageError, match=r"one and .*one are the same bot, 'one': name it once"):
        find_bots([str(folder), str(folder)])
    other = bot_folder(tmp_path / "other", "one", changes={"version": "2"})
    with pytest.raises(UsageError, match=f"^{folder} and {other} are both named 'one'"):
        find_bots([str(folder), str(other)])
    with pytest.raises(UsageError, match="'' is neither a folder"):
        find_bots([""])
    with pytest.raises(UsageError, match=r"^cup\.toml: bots: 'nobody' is neither"):
        find_bots(["nobody"], "cup.toml")


def test_an_empty_folder_that_hides_a_sample_bot_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "greedy").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"greedy has no bot\.toml and hides the sample bot"):
        find_bots(["greedy", "random"])
    with pytest.raises(UsageError, match=r"hides the sample bot 'greedy'"):
        find_bots([str(tmp_path / "greedy")])


def test_a_manifest_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = bot_folder(tmp_path, "one") / "bot.toml"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert read_bot_folder(file.parent).name == "one"


def test_changed_files_are_named(tmp_path: Path) -> None:
    before, now = bot_folder(tmp_path / "a", "one"), bot_folder(tmp_path / "b", "one")
    assert changed_files(before, now, built=False) == []
    (now / "bot.py").write_text("other")
    (now / "new").touch()
    (before / "old").touch()
    assert changed_files(before, now, built=True) == ["bot.py changed", "new added"]
    assert changed_files(before, now, built=False)[-1] == "old removed"


def test_all_that_lies_in_a_folder_can_be_named(tmp_path: Path) -> None:
    bot_folder(tmp_path, "one")
    bot_folder(tmp_path, "two", changes={"needs": ["no-such-compiler", "python3"]})
    (tmp_path / "notes").mkdir()
    (tmp_path / "readme.md").write_text("")
    texts = [str(path) for path in sorted(tmp_path.iterdir())]
    told: list[str] = []
    assert [bot.name for bot in find_bots(texts, leave_out=told.append)] == ["one"]
    assert told == [
        f"left out, having no bot.toml: {tmp_path / 'notes'}, {tmp_path / 'readme.md'}",
        "two is left out: it needs no-such-compiler, not found on the PATH",
    ]
    with pytest.raises(UsageError, match="two can't be built or run here: it needs no-such-comp"):
        find_bots([str(tmp_path / "two")])
    with pytest.raises(UsageError, match=r"readme\.md is not a folder"):
        find_bots([str(tmp_path / "readme.md")])
    with pytest.raises(UsageError, match="nothing' is neither a folder nor a sample bot"):
        find_bots([str(tmp_path / "nothing")], leave_out=told.append)


@pytest.mark.parametrize("value", ["'go'", "[3]", "['']", "['a/b']"])
def test_what_cannot_be_needed(tmp_path: Path, value: str) -> None:
    folder = bot_folder(tmp_path, "bot")
    with (folder / "bot.toml").open("a") as manifest:
        manifest.write(f"needs = {value}\n")
    with pytest.raises(
        BotFolderError, match=r"needs is .*: allowed is a list of names of programs"
    ):
        read_bot_folder(folder)
