"""The schema as bot authors read it: documented, named alike, stable, and readable when unknown."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FileDescriptor

from rummy.referee.v1 import play_pb2, rummy_pb2

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
SOURCES = sorted(path.relative_to(PROTO).as_posix() for path in PROTO.rglob("*.proto"))
FILES: dict[str, FileDescriptor] = {
    name: import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2").DESCRIPTOR
    for name in SOURCES
}
DECLARATION = re.compile(
    r"^\s*(?:(?:message|enum|service|oneof)\s+\w+\s*\{"
    r"|rpc\s+\w+\("
    r"|(?:repeated\s+|optional\s+)?(?:map<[^>]+>|[\w.]+)\s+\w+\s*=\s*\d+"
    r"|[A-Z][A-Z0-9_]*\s*=\s*\d+)"
)


def messages(file: FileDescriptor) -> Iterator[Descriptor]:
    """All messages of a file, nested ones included; those of maps are not written by anybody."""
    waiting = list(file.message_types_by_name.values())
    while waiting:
        message = waiting.pop()
        if not message.GetOptions().map_entry:
            yield message
            waiting += message.nested_types


ALL_MESSAGES = [message for file in FILES.values() for message in messages(file)]
ALL_ENUMS: list[EnumDescriptor] = [
    enum for file in FILES.values() for enum in file.enum_types_by_name.values()
]


def snake(name: str) -> str:
    """`DealStarted` → `deal_started`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@pytest.mark.parametrize("name", SOURCES)
def test_everything_is_documented(name: str) -> None:
    """Each message, field, oneof, enum, value, service and method has a comment right above it."""
    lines = (PROTO / name).read_text(encoding="utf-8").splitlines()
    bare = [
        f"{name}:{number}: {line.strip()}"
        for number, line in enumerate(lines, 1)
        if DECLARATION.match(line) and not lines[number - 2].strip().startswith("//")
    ]
    assert not bare, "\n".join(bare)


@pytest.mark.parametrize("name", SOURCES)
def test_comments_are_sentences(name: str) -> None:
    """A comment begins with a capital or a code word, ends with a stop, and fits on a line."""
    lines = (PROTO / name).read_text(encoding="utf-8").splitlines()
    bad = []
    for number, line in enumerate(lines, 1):
        is_comment = line.strip().startswith("//")
        is_last = is_comment and not lines[number].strip().startswith("//")
        if is_last and line.rstrip()[-1] not in ".?!":
            bad.append(f"{name}:{number}: no full stop: {line.strip()}")
        if len(line) > 105:
            bad.append(f"{name}:{number}: {len(line)} characters")
    assert not bad, "\n".join(bad)


def test_the_regular_expression_sees_every_declaration() -> None:
    """As many declarations are found as the descriptors know of."""
    found = sum(
        bool(DECLARATION.match(line))
        for name in SOURCES
        for line in (PROTO / name).read_text(encoding="utf-8").splitlines()
    )
    known = sum(
        1 + len(message.fields) + sum(not one.name.startswith("_") for one in message.oneofs)
        for message in ALL_MESSAGES
    )
    known += sum(1 + len(enum.values) for enum in ALL_ENUMS)
    known += sum(
        1 + len(service.methods) for file in FILES.values()
        for service in file.services_by_name.values()
    )  # fmt: skip
    assert found == known
    assert "rummy/referee/v1/play.proto" in FILES


def test_names() -> None:
    for message in ALL_MESSAGES:
        assert re.fullmatch(r"([A-Z][a-z0-9]+)+", message.name), message.full_name
        for field in message.fields:
            assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", field.name), field.full_name
    for enum in ALL_ENUMS:
        assert re.fullmatch(r"([A-Z][a-z0-9]+)+", enum.name), enum.full_name
        prefix = f"{snake(enum.name).upper()}_"
        for value in enum.values:
            assert value.name.startswith(prefix), value.name
        assert (enum.values[0].name, enum.values[0].number) == (f"{prefix}UNSPECIFIED", 0)
    for file in FILES.values():
        assert file.package == str(Path(file.name).parent).replace("/", ".")
        for service in file.services_by_name.values():
            assert service.name.endswith("Service")
            for method in service.methods:
                assert method.input_type.name == f"{method.name}Request"
                assert method.output_type.name == f"{method.name}Response"


def test_cases_of_a_oneof_are_named_after_their_messages() -> None:
    for message in ALL_MESSAGES:
        for oneof in message.oneofs:
            if oneof.name.startswith("_"):
                continue
            for field in oneof.fields:
                assert field.message_type is not None, field.full_name
                assert field.name == snake(field.message_type.name), field.full_name


def test_time_spans_carry_their_unit_and_ids_say_of_what() -> None:
    for message in ALL_MESSAGES:
        for field in message.fields:
            assert field.name != "id", field.full_name
            if re.search(r"(time|left|charged|forgiven|startup|reconnect|bank)", field.name):
                allowed = field.name.endswith(("_ms", "_us")) or field.message_type is not None
                allowed = allowed or field.name in ("strikes_left", "time_strikes")
                assert allowed, f"{field.full_name} has no unit"


def test_numbers_are_used_once_and_never_reserved_ones() -> None:
    for name in SOURCES:
        block: list[set[int]] = []
        for line in (PROTO / name).read_text(encoding="utf-8").splitlines():
            code = line.split("//")[0]
            if re.search(r"\b(message|enum)\s+\w+\s*\{", code):
                block.append(set())
            elif re.match(r"\s*oneof\s+\w+\s*\{", code):
                block.append(block[-1])
            reserved = re.match(r"\s*reserved\s+([\d,\s to]+);", code)
            if reserved:
                for part in reserved[1].split(","):
                    first, _, last = part.strip().partition(" to ")
                    taken = set(range(int(first), int(last or first) + 1))
                    assert not taken & block[-1], line
                    block[-1].update(taken)
            numbered = re.search(r"=\s*(\d+)\s*(\[.*\])?;", code)
            if numbered and block:
                number = int(numbered[1])
                assert number not in block[-1], f"{name}: {line.strip()}"
                block[-1].add(number)
            if "}" in code and block and "{" not in code:
                block.pop()


@pytest.mark.parametrize("message", ALL_MESSAGES, ids=lambda message: str(message.name))
def test_fields_are_numbered_without_holes(message: Descriptor) -> None:
    """Nothing was ever removed; if that changes, `reserved` must say so and this test with it."""
    numbers = [field.number for field in message.fields]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


def test_cards_are_numbered_by_suit_and_rank() -> None:
    names = [f"CARD_{rank}{suit}" for suit in "CDHS" for rank in "A23456789TJQK"]
    assert rummy_pb2.Card.keys() == ["CARD_UNSPECIFIED", *names, "CARD_XX"]
    assert rummy_pb2.Card.values() == list(range(54))


# --- what is not known yet ------------------------------------------------------------------------


def test_unknown_case_of_a_oneof_is_none() -> None:
    field_31 = b"\xfa\x01\x03abc"
    for kind in (play_pb2.PlayRequest, play_pb2.PlayResponse):
        assert kind.FromString(field_31).WhichOneof("message") is None
        assert kind.FromString(field_31).SerializeToString() == field_31
    assert rummy_pb2.Event.FromString(field_31).WhichOneof("event") is None


def test_unknown_enum_value_is_kept_as_a_number() -> None:
    action = rummy_pb2.Action.FromString(b"\x08\x63\x12\x02\x63\x01")
    assert action.type == 99
    assert list(action.cards) == [99, 1]
    assert action.SerializeToString() == b"\x08\x63\x12\x02\x63\x01"
    rejected = play_pb2.Rejected.FromString(b"\x18\xe7\x07")
    assert rejected.reason == 999
    with pytest.raises(ValueError, match="999"):
        play_pb2.Reason.Name(rejected.reason)


def test_unknown_fields_survive() -> None:
    known = rummy_pb2.Meld(meld_id=3, cards=[rummy_pb2.CARD_AC]).SerializeToString()
    later = known + b"\xf8\x01\x05"
    meld = rummy_pb2.Meld.FromString(later)
    assert (meld.meld_id, list(meld.cards)) == (3, [rummy_pb2.CARD_AC])
    assert meld.SerializeToString() == later


def test_lists_of_cards_are_packed() -> None:
    packed = rummy_pb2.Meld(cards=[rummy_pb2.CARD_AC, rummy_pb2.CARD_XX]).SerializeToString()
    assert packed == b"\x12\x02\x01\x35"
    # Both ways of writing a list must be read.
    assert rummy_pb2.Meld.FromString(b"\x10\x01\x10\x35").SerializeToString() == packed


# --- tools ----------------------------------------------------------------------------------------


def test_generated_code_is_what_the_schema_generates() -> None:
    """Needs the generator of the extra `dev`."""
    if find_spec("grpc_tools") is None:
        pytest.skip("grpc_tools is not installed")
    done = subprocess.run(
        [sys.executable, str(PROTO / "regenerate.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_schema_passes_buf() -> None:
    """STANDARD and COMMENTS, as proto/buf.yaml says."""
    buf = Path(sys.executable).parent / "buf"
    if not buf.exists():
        pytest.skip("buf is not installed")
    done = subprocess.run(
        [str(buf), "lint"], cwd=PROTO, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_schema_imports_nothing_but_itself() -> None:
    for file in FILES.values():
        assert all(one.name.startswith("rummy/") for one in file.dependencies), file.name


def test_every_message_is_named_in_the_guide() -> None:
    """The guide for authors speaks of every message that can be sent, and every reason."""
    guide = (PROTO / "README.md").read_text(encoding="utf-8")
    for kind in (play_pb2.PlayRequest, play_pb2.PlayResponse):
        for field in kind.DESCRIPTOR.oneofs_by_name["message"].fields:
            assert f"`{field.name}`" in guide or f"`{field.name}` " in guide, field.name
    for reason in play_pb2.Reason.keys()[1:]:
        assert f"`{reason.removeprefix('REASON_')}`" in guide, reason
