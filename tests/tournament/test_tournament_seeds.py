"""Chance that is derived is what the documentation says, and differs wherever it should."""

import hashlib

import pytest

from tournament.schedule.seeds import bot_randomness, match_id, seeded_salt, seeded_secret

SECRET = bytes(range(32))


def number(value: int) -> bytes:
    return value.to_bytes(8, "big")


def test_derivations_are_what_is_documented() -> None:
    expected = hashlib.sha256(b"rummy-seed" + number(7) + b"abc").digest()
    assert seeded_secret(7, "abc") == expected
    assert seeded_salt(SECRET, 1) == hashlib.sha256(SECRET + b"rummy-salt" + number(1)).digest()
    expected = hashlib.sha256(SECRET + b"rummy-bot" + number(1) + number(2)).digest()
    assert bot_randomness(SECRET, 1, 2) == expected


def test_everything_derived_is_distinct() -> None:
    derived = [bot_randomness(SECRET, leg, seat) for leg in range(6) for seat in range(6)]
    derived += [seeded_salt(SECRET, leg) for leg in range(6)]
    derived += [seeded_secret(seed, encounter) for seed in range(4) for encounter in ("a", "b")]
    assert len(set(derived)) == len(derived)
    assert len({match_id(SECRET, leg, attempt) for leg in range(3) for attempt in range(3)}) == 9


def test_a_secret_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="the secret has 3 bytes: it must have 32"):
        bot_randomness(b"abc", 0, 0)
