"""Who may play: a token stands for a bot and a version, and is kept as a hash only."""

import secrets
from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Identity:
    """What a token stands for. `bot` is empty where the bot names itself in its hello."""

    key: str
    """Opaque; equal for equal tokens."""
    bot: str
    version: str


def _key(token: str) -> str:
    return sha256(token.encode()).hexdigest()


class Tokens:
    """Tokens that were issued. With `is_open`, any token is accepted and names nobody."""

    def __init__(self, *, is_open: bool = False) -> None:
        self.is_open = is_open
        self._known: dict[str, Identity] = {}

    def issue(self, bot: str, version: str) -> str:
        """A new random token."""
        token = secrets.token_urlsafe(32)
        key = _key(token)
        self._known[key] = Identity(key, bot, version)
        return token

    def revoke(self, token: str) -> None:
        """The token is refused from now on."""
        self._known.pop(_key(token), None)

    def identify(self, token: str) -> Identity | None:
        """Who it stands for. Looked up by its hash, so timing tells nothing about other tokens."""
        key = _key(token)
        known = self._known.get(key)
        return Identity(key, "", "") if known is None and self.is_open else known
