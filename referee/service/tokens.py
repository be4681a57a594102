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


def _key(token: str) -> str:
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
        key = _key(token)
        self._known[key] = Identity(key, bot, version)
        return token

    def identify(self, token: str) -> Identity | None:
        """Whose token it is; None if it may not play. An organiser's token plays for nobody."""
        key = _key(token)
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
        key = _key(token)
        self._organisers.add(key)
        self._revoked.discard(key)

    def is_organiser(self, token: str) -> bool:
        """Whether this token may organise."""
        return _key(token) in self._organisers

    # --- both -----------------------------------------------------------------------------------

    def revoke(self, token: str) -> None:
        """The token is refused from now on, also where any other is let in."""
        self.revoke_key(_key(token))

    def revoke_key(self, key: str) -> None:
        """As `revoke`, for the token with this key of an Identity."""
        self._known.pop(key, None)
        self._organisers.discard(key)
        if self.is_open:
            self._revoked.add(key)
