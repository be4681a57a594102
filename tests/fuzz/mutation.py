"""Messages that are nearly right: bytes turned about, and fields given values at their limits."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

CORPUS: Final = Path(__file__).parent / "corpus"
_NUMBERS: Final = (0, 1, 2, 13, 32, 33, 52, 53, 54, 127, 128, 255, 2**16, 2**31 - 1, 2**32 - 1)
_MOST_BYTES: Final = 64 * 1024
"""A larger message never reaches the service."""


def corpus(kind: str) -> list[bytes]:
    """The seeds of one kind, in a fixed order."""
    return [path.read_bytes() for path in sorted((CORPUS / kind).glob("*.bin"))]


def mutated(chance: random.Random, seeds: Sequence[bytes], kind: type[Message]) -> bytes:
    """A seed after some changes; one time in ten nothing but random bytes."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.choice((0, 1, 3, 10, 200)))
    raw = chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        if chance.random() < 0.6:
            raw = _with_fields_changed(chance, raw, kind)
        else:
            raw = _with_bytes_changed(chance, raw, seeds)
    return raw[:_MOST_BYTES]


def _with_bytes_changed(chance: random.Random, raw: bytes, seeds: Sequence[bytes]) -> bytes:
    begin, end = sorted(chance.randint(0, len(raw)) for _ in range(2))
    match chance.randrange(6):
        case 0:
            return raw[:begin] + raw[end:]
        case 1:
            return raw[:end] + raw[begin:]
        case 2:
            return raw[:begin] + chance.randbytes(chance.randint(1, 4)) + raw[begin:]
        case 3:
            other = chance.choice(seeds)
            return raw[:begin] + other[chance.randint(0, len(other)) :]
        case 4:
            return raw[:begin] + bytes([chance.choice((0, 1, 0x7F, 0x80, 0xFF))]) + raw[begin + 1 :]
        case _:
            bit = 1 << chance.randrange(8)
            return (
                raw[:begin]
                + bytes([byte ^ bit for byte in raw[begin : begin + 1]])
                + raw[begin + 1 :]
            )


def _with_fields_changed(chance: random.Random, raw: bytes, kind: type[Message]) -> bytes:
    message = kind()
    try:
        message.ParseFromString(raw)
    except DecodeError:
        return raw
    _change(chance, message)
    return message.SerializeToString()


def _change(chance: random.Random, message: Message) -> None:
    """Change one field, here or further in."""
    fields: Sequence[Any] = message.DESCRIPTOR.fields
    if not fields:
        return
    field = chance.choice(fields)
    name = field.name
    if field.is_repeated:
        _change_list(chance, field, getattr(message, name))
    elif field.message_type is not None:
        if chance.random() < 0.1:
            message.ClearField(name)
        else:
            part = getattr(message, name)
            part.SetInParent()
            _change(chance, part)
    elif chance.random() < 0.2:
        message.ClearField(name)
    else:
        setattr(message, name, _value(chance, field))


def _change_list(chance: random.Random, field: FieldDescriptor, values: Any) -> None:
    what = chance.randrange(5)
    if what == 0 and values:
        del values[chance.randrange(len(values)) :]
    elif what == 1 and values and len(values) < 2_000:
        values.extend(list(values))
    elif field.message_type is None:
        values.append(_value(chance, field))
    elif what == 2 or not values:
        _change(chance, values.add())
    else:
        _change(chance, chance.choice(values))


def _value(chance: random.Random, field: FieldDescriptor) -> Any:
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        if field.type == FieldDescriptor.TYPE_BYTES:
            return chance.randbytes(chance.choice((0, 1, 32, 33)))
        return chance.choice(("", "m-1", "m-2", "x" * 65, "x" * 5_000, "ü\0\n", "🂡" * 20))
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return chance.random() < 0.5
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        return chance.choice((*range(60), -1, 2**31 - 1, -(2**31)))
    if field.cpp_type == FieldDescriptor.CPPTYPE_UINT64:
        return chance.choice((*_NUMBERS, 2**64 - 1))
    return chance.choice((*_NUMBERS, *range(10)))
