"""Bots that were handed in: what may be, and how one is played from its frozen copy."""

from collections.abc import Mapping
from pathlib import Path

from tournament.bots.folder import MANIFEST, BotFolder
from tournament.errors import UsageError


def submitted_bot(
    copy: Path, manifest: Mapping[str, object], content_hash: str, *, is_untrusted: bool
) -> BotFolder:
    """Return a bot as it was submitted: its frozen `copy`, what its bot.toml said, its hash.

    What a build has added to the copy is no part of the content that the hash stands for.
    """
    limits = manifest.get("limits", {})
    assert isinstance(limits, Mapping)
    return BotFolder(
        path=copy,
        name=str(manifest["name"]),
        version=str(manifest["version"]),
        author=str(manifest["author"]),
        language=str(manifest["language"]),
        build=_words(manifest, "build"),
        run=_words(manifest, "run"),
        ignore=_words(manifest, "ignore"),
        needs=_words(manifest, "needs"),
        memory_mb=limits.get("memory_mb"),
        tcp=limits.get("tcp", False),
        content_hash=content_hash,
        is_untrusted=is_untrusted,
    )


def _words(manifest: Mapping[str, object], key: str) -> tuple[str, ...]:
    words = manifest.get(key, ())
    assert isinstance(words, list | tuple)
    return tuple(words)


def check_submittable(bot: BotFolder) -> None:
    """See that NAME@VERSION can name the bot, in a file too. Raises UsageError."""
    if "/" in bot.version:
        raise UsageError(
            f"{bot.path / MANIFEST}: version is {bot.version!r}: allowed in a bot that is submitted"
            " is a text without /"
        )
