"""Where the documents say what a step wants: a file and the name of one of its sections."""

from enum import StrEnum


class Where(StrEnum):
    """A document, a comma, and a heading in it."""

    CONNECT = "proto/README.md, Connect"
    MESSAGES = "proto/README.md, Messages"
    DECISIONS = "proto/README.md, Decisions and choices"
    REJECTIONS = "proto/README.md, Rejections"
    CLOCK = "proto/README.md, The clock"
    LOST = "proto/README.md, Lost connections"
    CHANGE = "proto/README.md, What may change"
    MANIFEST = "docs/submitting.md, `bot.toml`"
    INSIDE = "docs/sandbox.md, What a bot finds inside"
    STEPS = "docs/check.md, The steps"
