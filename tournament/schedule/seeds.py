"""Where the chance of a tournament comes from. Pure: bytes in, bytes out.

Every encounter has one secret of 32 bytes; all its decks come from it. What is derived here is
SHA-256 over a label and numbers of 8 bytes, big-endian, so that anyone can compute it again.
"""

import hashlib

SECRET_BYTES = 32


def _derive(secret: bytes, label: bytes, *numbers: int) -> bytes:
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"the secret has {len(secret)} bytes: it must have {SECRET_BYTES}")
    tail = b"".join(number.to_bytes(8, "big") for number in numbers)
    return hashlib.sha256(secret + label + tail).digest()


def seeded_secret(seed: int, encounter_id: str) -> bytes:
    """Return the secret of an encounter: SHA-256(`rummy-seed` ‖ N as 8 bytes ‖ encounter id).

    For runs that are to be repeated. Whoever guesses N knows every deck.
    """
    return hashlib.sha256(b"rummy-seed" + seed.to_bytes(8, "big") + encounter_id.encode()).digest()


def seeded_salt(secret: bytes, leg: int) -> bytes:
    """Return the salt of a leg's commitment in a seeded run: SHA-256(S ‖ `rummy-salt` ‖ leg)."""
    return _derive(secret, b"rummy-salt", leg)


def bot_randomness(secret: bytes, leg: int, seat: int) -> bytes:
    """Return the 32 bytes that one seat gets for itself: SHA-256(S ‖ `rummy-bot` ‖ leg ‖ seat)."""
    return _derive(secret, b"rummy-bot", leg, seat)


def match_id(secret: bytes, leg: int, attempt: int) -> str:
    """Return the id of a match: the same in a repeated run, and it links no legs for a bot."""
    return _derive(secret, b"rummy-match", leg, attempt).hex()[:24]
