"""Writes a new bot's folder from the template of its language."""

import importlib.util
import json
import re
import shutil
import tomllib
from pathlib import Path

from tournament.bots.find import opponents, sample_bot_folders, typed
from tournament.bots.folder import MANIFEST, read_bot_folder
from tournament.bots.manifest import NAME, NAME_ALLOWED
from tournament.errors import BotFolderError, UsageError

LANGUAGES = ("python",)

_TEXT_MOST = 64
_SUFFIX = ".txt"
"""Of a template's files, so that no tool takes them for what they will be."""


def write_starter(folder: Path, *, name: str, author: str, language: str, version: str) -> None:
    """Write a bot that works as it is. Raises UsageError, also if there is such a folder already.

    `version` is that of rummy-referee, whose way to the referee the bot gets a copy of.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"NAME is {name!r}: allowed are {NAME_ALLOWED}")
    if not 1 <= len(author) <= _TEXT_MOST or not author.isprintable():
        raise UsageError(
            f"--author is {author!r}: allowed is a text of 1–{_TEXT_MOST} printable characters"
        )
    if language not in LANGUAGES:
        raise UsageError(_no_template(language))
    words = {
        "@NAME@": name,
        "@NAME_TEXT@": json.dumps(name),
        "@AUTHOR_TEXT@": json.dumps(author, ensure_ascii=False),
        "@VERSION@": version,
        "@FOLDER@": typed(Path(folder.resolve().name)),
        "@OPPONENTS@": opponents(name),
    }
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageError(f"{folder} is there already: nothing is overwritten") from None
    except OSError as error:
        raise UsageError(f"{folder} can't be made: {error.strerror}") from error
    try:
        for template in sorted((Path(__file__).parent / language).glob(f"*{_SUFFIX}")):
            text = re.sub(
                r"@[A-Z_]+@", lambda word: words[word[0]], template.read_text(encoding="utf-8")
            )
            (folder / template.name.removesuffix(_SUFFIX)).write_text(text, encoding="utf-8")
        shutil.copyfile(_client(), folder / "client.py")
        read_bot_folder(folder)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise UsageError(f"{folder} can't be written: {error.strerror}") from error
        raise


def _client() -> Path:
    """Return the sample bots' own way to the referee."""
    spec = importlib.util.find_spec("sample_bots")
    for location in (spec and spec.submodule_search_locations) or ():
        if (file := Path(location) / "client.py").is_file():
            return file
    raise BotFolderError("the sample bots are not installed: install rummy-referee whole")


def _no_template(language: str) -> str:
    samples: dict[str, Path] = {}
    for folder in sample_bot_folders().values():
        manifest = tomllib.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        samples.setdefault(str(manifest["language"]), folder)
    text = f"--language is {language!r}: allowed is {' or '.join(LANGUAGES)}"
    if language in samples:
        return f"{text}; for {language} copy the sample bot {samples[language]} and rename it"
    others = ", ".join(sorted({*samples} - {*LANGUAGES})) or "no other language"
    return f"{text}; there are sample bots to copy in {others}"
