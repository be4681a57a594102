"""Who may play and who may organise: tokens are random, and kept as hashes only.

They are looked up by their SHA-256. Who guesses cannot steer the hash, so how long a lookup takes
tells nothing about the tokens that are known.
"""

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


def new_token() -> str:
    """256 random bits, as 43 characters that are safe in URLs, shells and files."""
    return secrets.token_urlsafe(32)


def key_of(token: str) -> str:
    """The hash by which a token is known: SHA-256 in hexadecimal digits."""
    # A header may hold what is no text; it is then some unknown token.
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Tokens:
    """Tokens that were issued. With `is_open`, any token may play and names nobody.

    Being open lets nobody organise: that always takes a token that was issued or admitted for it.
    """

    def __init__(self, *, is_open: bool = False) -> None:
        self.is_open = is_open
        self._known: dict[str, Identity] = {}
        self._organisers: set[str] = set()
        self._revoked: set[str] = set()

    # --- bots -----------------------------------------------------------------------------------

    def issue(self, bot: str, version: str) -> str:
        """A new random token for a bot."""
        token = new_token()
        self.admit_key(key_of(token), bot, version)
        return token

    def admit_key(self, key: str, bot: str, version: str) -> None:
        """Let a bot in by a token that was issued earlier and of which only the key is known."""
        self._known[key] = Identity(key, bot, version)
        self._revoked.discard(key)

    def replace_key(self, old: str, new: str) -> None:
        """Let the bot of one key in by another, and refuse the old one. Raises KeyError."""
        known = self._known[old]
        self.revoke_key(old)
        self.admit_key(new, known.bot, known.version)

    def identify(self, token: str) -> Identity | None:
        """Whose token it is; None if it may not play. An organiser's token plays for nobody."""
        key = key_of(token)
        known = self._known.get(key)
        if known is not None or not self.is_open or self._is_barred(key):
            return known
        return Identity(key, "", "")

    def _is_barred(self, key: str) -> bool:
        return key in self._organisers or key in self._revoked

    # --- organisers -----------------------------------------------------------------------------

    def issue_organiser(self) -> str:
        """A new random token for an organiser."""
        token = new_token()
        self.admit_organiser(token)
        return token

    def admit_organiser(self, token: str) -> None:
        """Let an organiser in by a token that was made elsewhere. Raises ValueError if empty."""
        if not token:
            raise ValueError("an organiser's token is empty")
        key = key_of(token)
        self._organisers.add(key)
        self._revoked.discard(key)

    def is_organiser(self, token: str) -> bool:
        """Whether this token may organise."""
        return key_of(token) in self._organisers

    # --- both -----------------------------------------------------------------------------------

    def revoke(self, token: str) -> None:
        """The token is refused from now on, also where any other is let in."""
        self.revoke_key(key_of(token))

    def revoke_key(self, key: str) -> None:
        """As `revoke`, for the token with this key of an Identity."""
        self._known.pop(key, None)
        self._organisers.discard(key)
        if self.is_open:
            self._revoked.add(key)
