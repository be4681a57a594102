"""Names on a ladder: of bots, of their versions, and of an entrant, which is one version."""

import re

NAME_MOST, VERSION_MOST, AUTHOR_MOST, LANGUAGE_MOST = 40, 20, 100, 40
HOUSE, PARTNER = "house", "ladder-partner"
_ALLOWED = "letters A–Z and a–z, digits, '.', '_', '-', not only dots and not '-' first"
# A name that begins with '-' looks like an option, and dots alone like a folder.
_WORD = re.compile(r"(?!-|\.+\Z)[A-Za-z0-9._-]+")


def entrant_of(bot: str, version: str) -> str:
    """Return what a version is called in seats and tables."""
    return f"{bot}@{version}"


def parts_of(entrant: str) -> tuple[str, str]:
    """Return bot and version of an entrant."""
    bot, _, version = entrant.rpartition("@")
    return bot, version


def check_names(bot: str, version: str) -> None:
    """Raise ValueError, naming the value and what is allowed, for what is no name or version."""
    for what, value, most in (("bot", bot, NAME_MOST), ("version", version, VERSION_MOST)):
        if not 1 <= len(value) <= most or not _WORD.fullmatch(value):
            raise ValueError(f"{what} is {value[:80]!r}: allowed are 1–{most} of {_ALLOWED}")


def check_unreserved(bot: str) -> None:
    """Raise ValueError for a name that says it is the ladder's own, in letters of any size."""
    name = bot.lower()
    if name in (HOUSE, PARTNER) or name.startswith(f"{HOUSE}-"):
        raise ValueError(
            f"bot is {bot!r}: {HOUSE!r}, {PARTNER!r} and what begins with '{HOUSE}-' are names of"
            " the ladder's own bots, and take an organiser's token"
        )


def check_words(author: str, language: str) -> None:
    """Raise ValueError for what is too long, or cannot be printed in a line."""
    for what, value, most in (
        ("author", author, AUTHOR_MOST),
        ("language", language, LANGUAGE_MOST),
    ):
        if len(value) > most or not value.isprintable():
            raise ValueError(
                f"{what} is {value[:120]!r}: allowed are at most {most} printable characters"
            )
