"""Folders of bots that mean harm, or are not fit to be copied: each is refused with the reason."""

import os
import shutil
import socket
import stat
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tournament.fakes import bot_folder, freeze_here
from tournament.bots import contents, frozen
from tournament.bots.contents import BUILT, SOURCE, Bounds, link_problem
from tournament.bots.find import find_bots
from tournament.bots.folder import content_hash, read_bot_folder
from tournament.errors import BotFolderError, FreezeError


def refused(folder: Path) -> str:
    with pytest.raises(BotFolderError) as caught:
        read_bot_folder(folder)
    text = str(caught.value)
    assert text.isprintable()
    return text


@pytest.mark.parametrize(
    "target",
    ["/etc/hostname", "../other", "../../etc", "sub/../../other", "sub/up/../../other", "../bot/x"],
)
def test_links_out_of_the_folder(tmp_path: Path, target: str) -> None:
    folder = bot_folder(tmp_path, "bot")
    (folder / "sub").mkdir()
    (folder / "sub" / "up").symlink_to("..")
    (folder / "way").symlink_to(target)
    assert f"{folder}/way is a link to outside the bot's folder" in refused(folder)


def test_a_chain_of_links_out_of_the_folder(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("c/x")
    (folder / "c").symlink_to("/etc")
    assert "is a link to outside the bot's folder, '/etc'" in refused(folder)


def test_links_in_circles(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    assert "is a link that leads in circles" in refused(folder)


def test_absolute_links_into_the_folder_itself(tmp_path: Path) -> None:
    # In the copy it would lead to the original, which may change.
    folder = bot_folder(tmp_path, "bot")
    (folder / "a").symlink_to(folder / "bot.py")
    assert "/a is a link to outside" in refused(folder)


@given(
    links=st.dictionaries(
        st.sampled_from("abcde"),
        st.lists(st.sampled_from(["a", "b", "c", "d", "..", ".", "sub"]), min_size=1, max_size=5),
    )
)
def test_a_link_that_is_let_in_leads_nowhere_else(
    tmp_path_factory: pytest.TempPathFactory, links: dict[str, list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("links") / "bot"
    (folder / "sub").mkdir(parents=True)
    for name, parts in links.items():
        (folder / name).symlink_to("/".join(parts))
    for name in links:
        if link_problem(folder, name) is None:
            assert Path(os.path.realpath(folder / name)).is_relative_to(folder.resolve())


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path must be short
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)


@pytest.mark.parametrize("make", [fifo, unix_socket])
def test_special_files(tmp_path: Path, make: Callable[[Path], None]) -> None:
    folder = bot_folder(tmp_path, "bot")
    make(folder / "odd")
    assert f"{folder}/odd is neither a file nor a folder: remove it" in refused(folder)


def test_a_fifo_in_place_of_the_manifest_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "bot").mkdir()
    os.mkfifo(tmp_path / "bot" / "bot.toml")
    assert "bot.toml is neither a file nor a folder" in refused(tmp_path / "bot")


def test_a_link_in_place_of_the_manifest(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    (folder / "bot.toml").rename(folder / "other.toml")
    (folder / "bot.toml").symlink_to("other.toml")
    assert refused(folder) == f"{folder}/bot.toml is a link: allowed is a file"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#" * 1024 * 1024 + "\n", "has 1048577 bytes: allowed are 1048576"),
        ("name = " + "[" * 100_000, "is not TOML: "),
        ("name = " + "9" * 100_000, "is not TOML: "),
        ("'" + "k" * 100_000 + "' = 1", "there is no key"),
    ],
)
def test_a_manifest_that_is_too_much(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "bot.toml").write_text(text)
    told = refused(tmp_path)
    assert expected in told
    assert len(told) < 1_000 + len(str(tmp_path))


def test_one_huge_file_is_refused_without_being_read(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    with (folder / "huge").open("wb") as file:
        file.truncate(10 << 30)  # it takes no room on the disk
    assert f"{folder}/huge has 10240 MiB: allowed are 128 MiB for one file" in refused(folder)


def test_many_large_files(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    for name in "abc":
        with (folder / name).open("wb") as file:
            file.truncate(100 << 20)
    assert f"{folder} holds more than 256 MiB: allowed are 256" in refused(folder)


def test_too_many_files_and_folders(tmp_path: Path) -> None:
    assert SOURCE.entries == 20_000
    folder = bot_folder(tmp_path, "bot")
    few = Bounds(total_mb=1, file_mb=1, entries=10, path=100, is_plain=True)
    for number in range(8):
        (folder / str(number)).mkdir()
    content_hash(folder, bounds=few)
    (folder / "one more").mkdir()
    with pytest.raises(BotFolderError, match="holds more than 10 files and folders: allowed are"):
        content_hash(folder, bounds=few)
    (folder / "one more").rename(folder / "__pycache__")
    content_hash(folder, bounds=few)


@pytest.mark.parametrize(
    "name", [b"line\nbreak", b"\x1b[31mred", b"tab\t", b"\xff\xfe", "\u202eright".encode()]
)
def test_names_that_can_not_be_shown(tmp_path: Path, name: bytes) -> None:
    folder = bot_folder(tmp_path, "bot")
    (folder / os.fsdecode(name)).touch()
    assert "allowed are names of printable characters in UTF-8" in refused(folder)
    (folder / os.fsdecode(name)).unlink()
    (folder / os.fsdecode(name)).mkdir()
    assert "allowed are names of printable characters in UTF-8" in refused(folder)


def test_plain_names_of_any_language(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    for name in ("Änderung über.txt", "手札", string.punctuation.replace("/", "")):
        (folder / name).touch()
    read_bot_folder(folder)


def test_paths_that_are_too_long(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    folder.joinpath(*["x" * 150] * 3).mkdir(parents=True)
    assert "holds a path of 452 bytes" in refused(folder)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("../other/bot", "leads out of the bot's folder: allowed are a name, or a path in the"),
        ("sub/../../bot", "leads out of the bot's folder"),
        ("/no/such/program", "is not an executable file: allowed are a name, or a path"),
        ("/etc/passwd", "is not an executable file"),
        ("/etc", "is not an executable file"),
        ("./no-such-program", "is not there"),
        ("./sub", "is a folder: allowed is an executable file"),
        (".", "is a folder: allowed are a name"),
        ("lonely", "is looked for on the PATH, and not there: write './lonely'"),
        ("./bot.py", "is not executable: `chmod +x ./bot.py` makes it so"),
    ],
)
def test_programs_that_can_not_be_run(tmp_path: Path, run: str, expected: str) -> None:
    folder = bot_folder(tmp_path, "bot", changes={"run": [run]})
    (folder / "sub").mkdir()
    (folder / "lonely").touch()
    assert f"{folder}/bot.toml: the program {run!r} of run {expected}" in refused(folder)
    if run.startswith("./"):
        # It may be what the build makes; a build's own program must be there.
        with (folder / "bot.toml").open("a") as manifest:
            manifest.write('build = ["true"]\n')
        bot = read_bot_folder(folder)
        with pytest.raises(FreezeError, match=r"of run is .* after its `build`"):
            freeze_here(bot, tmp_path / "data")


def test_a_program_named_by_its_place_in_the_original(tmp_path: Path) -> None:
    program = str(tmp_path / "bot" / "bot.py")
    folder = bot_folder(tmp_path, "bot", changes={"run": [program]})
    assert "lies in the bot's folder: write it relative to that" in refused(folder)


def test_a_folder_that_may_not_be_looked_into_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bot_folder(tmp_path, "bot")
    look = Path.stat

    def closed(path: Path, **options: bool) -> os.stat_result:
        if path.parent == folder:
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, **options)

    def is_link(path: Path) -> bool:
        return stat.S_ISLNK(closed(path, follow_symlinks=False).st_mode)

    monkeypatch.setattr(Path, "stat", closed)
    monkeypatch.setattr(Path, "is_symlink", is_link)
    with pytest.raises(BotFolderError, match=r"bot\.toml can't be read: Permission denied"):
        find_bots([str(folder)])


@pytest.mark.parametrize("count", [1, 100])
def test_arguments_that_no_system_takes(tmp_path: Path, count: int) -> None:
    words = ["sh", *["x" * (40_000 // count)] * count]
    folder = bot_folder(tmp_path, "bot", changes={"run": words})
    assert "bot.toml: run has 40002 bytes: allowed are 32768 in all its texts" in refused(folder)


@pytest.mark.parametrize("version", [" ", "   "])
def test_a_version_of_blanks(tmp_path: Path, version: str) -> None:
    folder = bot_folder(tmp_path, "bot", changes={"version": version})
    assert f"version is {version!r}: allowed is a text of 1–64 printable" in refused(folder)


def test_a_name_that_looks_like_an_option(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot", changes={"name": "-x"})
    assert "name is '-x': allowed is 1–64 characters of a–z, 0–9, _ and -, the fir" in refused(
        folder
    )


def test_what_can_not_be_copied_is_told_in_words() -> None:
    full = "[Errno 28] No space left on device: '/x'"
    many = shutil.Error([("a", "/x", full), ("b", "/y", "other")])
    assert frozen._reason(many) == full
    assert frozen._reason(shutil.SameFileError("the same file")) == "the same file"
    assert frozen._reason(OSError(28, "No space left on device")) == full.partition(": ")[0]


def test_a_manifest_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "bot" / "bot.toml").mkdir(parents=True)
    assert "bot.toml is a folder: allowed is a file" in refused(tmp_path / "bot")


def test_a_python_in_the_folder_is_not_what_python_means(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot", changes={"run": ["python", "bot.py"]})
    (folder / "python").touch()
    assert read_bot_folder(folder).run[0] == "python"


def test_programs_that_can_be_run(tmp_path: Path) -> None:
    for number, run in enumerate(("./bot.py", "/bin/sh", "sh", "no-such-program")):
        folder = bot_folder(tmp_path / str(number), "bot", changes={"run": [run]})
        (folder / "bot.py").chmod(0o755)
        assert read_bot_folder(folder).run == (run,)


def test_a_program_that_the_copy_leaves_out(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot", changes={"run": ["bin/bot"], "ignore": ["bin"]})
    (folder / "bin").mkdir()
    (folder / "bin" / "bot").touch(0o755)
    with pytest.raises(FreezeError, match="is not there in the copy without what it ignores"):
        freeze_here(read_bot_folder(folder), tmp_path / "data")


def test_a_file_that_grows_while_it_is_read_ends(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    with contents._opened(file) as (number, size):
        with file.open("ab") as more:
            more.write(b"y" * 1000)
        assert b"".join(contents._chunks(number, size, file)) == b"x" * 100
    with contents._opened(file) as (number, size):
        os.truncate(file, 10)
        with pytest.raises(BotFolderError, match="changed while it was read"):
            list(contents._chunks(number, size, file))


def test_a_build_may_leave_what_an_author_may_not(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    (folder / "python").symlink_to("/usr/bin/python3")
    (folder / "odd\nname").touch()
    with pytest.raises(BotFolderError):
        content_hash(folder)
    before = content_hash(folder, bounds=BUILT)
    (folder / "python").unlink()
    (folder / "python").symlink_to("/usr/bin/python2")
    assert content_hash(folder, bounds=BUILT) != before  # its text counts, not what it leads to


def test_copies_are_readable_by_all_and_special_to_none(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "bot")
    (folder / "sub").mkdir(0o700)
    (folder / "sub" / "tool").touch(0o700)
    (folder / "sub" / "tool").chmod(0o4700)
    (folder / "bot.py").chmod(0o600)
    copy = freeze_here(read_bot_folder(folder), tmp_path / "data")
    modes = {
        path.name: stat.S_IMODE((copy / path).stat().st_mode)
        for path in (Path("bot.py"), Path("sub"), Path("sub/tool"))
    }
    assert modes == {"bot.py": 0o644, "sub": 0o755, "tool": 0o755}
    assert stat.S_IMODE((tmp_path / "data" / "bots").stat().st_mode) == 0o700
