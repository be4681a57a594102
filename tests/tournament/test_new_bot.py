"""`tournament new-bot`: what it writes is a bot, and nothing is overwritten."""

import ast
import getpass
import runpy
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.tournament.fakes import ROOT
from tournament.bots.folder import read_bot_folder
from tournament.bots.starters.write import write_starter
from tournament.commands.new_bot import new_bot
from tournament.errors import UsageError

FILES = ["README.md", "bot.py", "bot.toml", "client.py"]


def test_a_new_bot_is_a_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    new_bot(name="my-bot", author='Ä "q" \\ @NAME@')
    bot = read_bot_folder(tmp_path / "my-bot")
    assert (bot.name, bot.author, bot.language) == ("my-bot", 'Ä "q" \\ @NAME@', "python")
    assert bot.run == ("python3", "bot.py")
    assert sorted(path.name for path in bot.path.iterdir()) == FILES
    for name in ("bot.py", "client.py", "README.md"):
        text = (bot.path / name).read_text(encoding="utf-8")
        assert "@" not in text.replace("@abstractmethod", "").replace("@property", ""), name
    told = capsys.readouterr()
    assert told.out == ""
    for line in ("check my-bot", "submit my-bot", "run --bots my-bot greedy counting"):
        assert f"  tournament {line}\n" in told.err
        assert f"tournament {line}\n" in (bot.path / "README.md").read_text()


def test_what_comes_next_works_as_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    new_bot(name="greedy", folder=Path("-mine"))
    told = capsys.readouterr().err
    for line in ("check ./-mine", "submit ./-mine", "run --bots ./-mine counting random"):
        assert f"  tournament {line}\n" in told
    assert "run --bots -mine counting random\n" not in (tmp_path / "-mine/README.md").read_text()


def test_it_needs_nothing_but_what_every_bot_may_have(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    write_starter(folder, name="one", author="a", language="python", version="9")
    client = (folder / "client.py").read_text(encoding="utf-8")
    assert client == (ROOT / "sample_bots" / "client.py").read_text(encoding="utf-8")
    text = (folder / "bot.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 35
    for source in (text, client):
        tops = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                tops |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                tops.add((node.module or "").partition(".")[0])
        assert tops & {"sample_bots", "referee", "tournament", "tests"} == set()


def test_a_byte_order_mark_does_a_new_bot_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some editors put one there, and the tournament takes it."""
    folder = tmp_path / "one"
    write_starter(folder, name="one", author="a", language="python", version="9")
    manifest = folder / "bot.toml"
    manifest.write_text(manifest.read_text(encoding="utf-8"), encoding="utf-8-sig")
    said: list[str] = []
    client = SimpleNamespace(Strategy=object, run=lambda *words: said.extend(words[:2]))
    monkeypatch.setitem(sys.modules, "client", client)
    runpy.run_path(str(folder / "bot.py"), run_name="__main__")
    assert said == ["one", read_bot_folder(folder).version]


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("mine")
    for name in ("empty", "file"):
        with pytest.raises(UsageError, match=f"{name} is there already: nothing is overwritten"):
            new_bot(name="a", folder=tmp_path / name)
    assert list((tmp_path / "empty").iterdir()) == []
    assert (tmp_path / "file").read_text() == "mine"
    new_bot(name="a", folder=tmp_path / "new" / "deep er")
    assert "tournament check 'deep er'" in (tmp_path / "new" / "deep er" / "README.md").read_text()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"name": "My Bot"}, "NAME is 'My Bot': allowed are 1–64 characters of a–z"),
        ({"name": ""}, "NAME is '': allowed"),
        ({"name": "../x"}, "NAME is '../x': allowed"),
        (
            {"name": "-x"},
            "NAME is '-x': allowed are 1–64 characters of a–z, 0–9, _ and -, the first",
        ),
        ({"author": ""}, "--author is '': allowed is a text"),
        ({"author": "x" * 65}, "--author is 'xxx"),
        ({"author": "a\nb"}, r"--author is 'a\nb': allowed is a text of 1–64"),
        ({"language": "go"}, "allowed is python; for go copy the sample bot "),
        ({"language": "cobol"}, "allowed is python; there are sample bots to copy in cpp, go, ja"),
        ({"language": "../python"}, "--language is '../python': allowed is python; there are"),
    ],
)
def test_wrong_values_are_named(tmp_path: Path, changes: dict[str, str], expected: str) -> None:
    folder = tmp_path / "bot"
    given = {"name": "a", "author": "b", "language": "python", "version": "1"} | changes
    with pytest.raises(UsageError) as caught:
        write_starter(folder, **given)
    assert expected in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(UsageError, match="bot can't be written: No space left"):
        new_bot(name="a", folder=tmp_path / "bot")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="can't be made: Not a directory"):
        new_bot(name="a", folder=tmp_path / "file" / "bot")


def test_the_author_is_who_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("no such user")

    monkeypatch.setattr(getpass, "getuser", lambda: "ada")
    new_bot(name="a", folder=tmp_path / "a")
    monkeypatch.setattr(getpass, "getuser", nobody)
    new_bot(name="b", folder=tmp_path / "b")
    with pytest.raises(UsageError, match="--author is ''"):
        new_bot(name="c", folder=tmp_path / "c", author="")
    authors = [tomllib.loads((tmp_path / n / "bot.toml").read_text())["author"] for n in "ab"]
    assert authors == ["ada", "unknown"]
