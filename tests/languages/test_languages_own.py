"""What each language says about its own bot, how it plays, and what its folder holds."""

import re
from itertools import islice

import pytest

from tests.languages.building import ROOT, BuiltBot, check
from tests.languages.encounters import play, tables
from tests.languages.languages import LANGUAGES, Language, need_toolchain
from tournament.bots.folder import read_bot_folder

CHECKS = [
    pytest.param(row, name, id=f"{row.name}-{name.replace(' ', '-')}")
    for row in LANGUAGES
    for name in row.checks
]
EVERY_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES, ids=lambda row: row.name)


@pytest.mark.timeout(1_800)  # the first one builds
def test_builds(bot: BuiltBot) -> None:
    assert bot.argv


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("language", "name"), CHECKS)
def test_passes_its_own_checks(language: Language, name: str) -> None:
    need_toolchain(language)
    check(language, name)


@pytest.mark.timeout(900)
async def test_both_legs_of_mirrored_encounters_come_out_equal(bot: BuiltBot) -> None:
    assert await play(bot, list(islice(tables(most_seats=4), 12))) > 100


@EVERY_LANGUAGE
def test_manifest(language: Language) -> None:
    manifest = read_bot_folder(ROOT / "sample_bots" / language.name)
    assert manifest.name == f"greedy-{language.name}"
    assert manifest.version == "1.0.0"
    assert manifest.language == language.name
    assert manifest.build
    assert (manifest.path / "README.md").is_file()


@EVERY_LANGUAGE
def test_every_check_is_there(language: Language) -> None:
    assert {"unit tests", "formatter", "linter"} <= set(language.checks)


@EVERY_LANGUAGE
def test_no_file_names_a_registry(language: Language) -> None:
    folder = ROOT / "sample_bots" / language.name
    for name in ("package-lock.json", "Cargo.lock", ".npmrc", "settings.xml"):
        file = folder / name
        if file.exists():
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"resolved|registry", text), file
