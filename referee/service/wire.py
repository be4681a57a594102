"""Protobuf's wire format, as far as it takes to join ready fragments into messages.

A message is the concatenation of its fields, so bytes that are the same for many recipients or
decisions are made once. Small numbers under low field numbers, nearly all there are, come out of
a table.
"""

from collections.abc import Iterable
from typing import Final


def varint(number: int) -> bytes:
    """A base-128 number, least significant group first."""
    if number < 0x80:
        return _BYTES[number]
    if number < 0x4000:
        return bytes((number & 0x7F | 0x80, number >> 7))
    if number < 0x200000:
        return bytes((number & 0x7F | 0x80, number >> 7 & 0x7F | 0x80, number >> 14))
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


_BYTES: Final = tuple(bytes((number,)) for number in range(256))
_FIELDS: Final = range(32)
_NUMBER_TAGS: Final = tuple(varint(field << 3) for field in _FIELDS)
_LENGTH_TAGS: Final = tuple(varint(field << 3 | 2) for field in _FIELDS)
SMALL_NUMBERS: Final = tuple(
    (b"", *(tag + _BYTES[number] for number in range(1, 128))) for tag in _NUMBER_TAGS
)
"""`SMALL_NUMBERS[field][number]`: the field with a number below 128; nothing for 0, the default."""
_LENGTHS: Final = tuple(
    tuple(tag + _BYTES[length] for length in range(128)) for tag in _LENGTH_TAGS
)
PACKED: Final = tuple((b"", *lengths[1:]) for lengths in _LENGTHS)
"""`PACKED[field][length]`: what stands before a packed list of fewer than 128 bytes, if it is
not empty."""


def number_field(field: int, number: int) -> bytes:
    """A number; nothing for 0. Times of up to 268 s have branches of their own."""
    if number < 128:
        return SMALL_NUMBERS[field][number]
    if field < 16 and number < 0x10000000:
        tag, low = field << 3, number & 0x7F | 0x80
        if number < 0x4000:
            return bytes((tag, low, number >> 7))
        second = number >> 7 & 0x7F | 0x80
        if number < 0x200000:
            return bytes((tag, low, second, number >> 14))
        return bytes((tag, low, second, number >> 14 & 0x7F | 0x80, number >> 21))
    return _NUMBER_TAGS[field] + varint(number)


def bytes_field(field: int, content: bytes) -> bytes:
    """Bytes, text, a message or a packed list; also when empty."""
    length = len(content)
    if length < 128:
        return _LENGTHS[field][length] + content
    return _LENGTH_TAGS[field] + varint(length) + content


def packed_field(field: int, content: bytes) -> bytes:
    """A packed list; nothing when empty."""
    return bytes_field(field, content) if content else b""


def numbers_field(field: int, numbers: Iterable[int]) -> bytes:
    """A packed list of numbers."""
    return packed_field(field, b"".join([varint(number) for number in numbers]))
