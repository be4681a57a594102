"""Reads a record: its bytes as typed lines. What is not exactly as it was written is refused."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSet, RuleSetError
from referee.match.outcome import Forfeit, Termination
from referee.match.record import FORMAT, spelled
from referee.match.spec import TimeControl

_HEX: Final = frozenset("0123456789abcdef")
_MOST: Final = 2**53 - 1
"""Numbers that every JSON reader keeps exactly."""
_DEEPEST: Final = 3
"""Levels of objects and lists in a line: the header has rules with maps by seats."""
_LONGEST_TEXT: Final = 300
"""Characters of an error: what a stranger wrote may be long."""


class RecordError(ValueError):
    """A record that is not what a referee wrote; `line` is from 1."""

    def __init__(self, line: int, text: str) -> None:
        self.line = line
        self.text = text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
        super().__init__(f"line {line}: {self.text}")


@dataclass(frozen=True, slots=True)
class Header:
    """What was fixed before the match."""

    match_id: str
    rules: RuleSet
    bots: tuple[str, ...]
    """By seat."""
    versions: tuple[str, ...]
    first_dealer: int
    time_control: TimeControl
    illegal_tolerated: int
    time_tolerated: int
    commitment: bytes
    has_own_suits: bool


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """A decision and what came of it; times in microseconds."""

    seat: int
    decision_id: int
    deal: int
    actions: tuple[str, ...]
    charged_us: int
    forgiven_us: int
    was_away: bool
    rejected: str
    """Why not all of the answer counted; empty if it did."""
    tried: str
    forced: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForcedLine:
    """A turn played for a seat that has forfeited."""

    seat: int
    deal: int
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DealEndedLine:
    """How a deal ended."""

    deal: int
    ended: str
    winner: int | None
    points: tuple[int, ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ForfeitLine:
    """A seat is out of contention."""

    seat: int
    fault: Forfeit


@dataclass(frozen=True, slots=True)
class MatchEndedLine:
    """The result and the secrets."""

    termination: Termination
    text: str
    places: tuple[int, ...]
    totals: tuple[int, ...]
    salt: bytes
    secret: bytes
    randomness: tuple[bytes, ...]


Line = DecisionLine | ForcedLine | DealEndedLine | ForfeitLine


@dataclass(frozen=True, slots=True)
class RecordLines:
    """A whole record. Line 1 is the header, the last one `end`; `lines[0]` is line 2."""

    header: Header
    lines: tuple[Line, ...]
    end: MatchEndedLine


class _Fields:
    """The values of one JSON object, taken one by one; every refusal names the key."""

    def __init__(self, line: int, values: object, where: str = "") -> None:
        self.line = line
        self._where = where
        if not isinstance(values, dict):
            raise self.refuse(f"{where or 'the line'} is {_shown(values)}: it must be an object")
        self._values: dict[str, Any] = dict(values)
        self._taken: list[str] = []

    def refuse(self, text: str) -> RecordError:
        return RecordError(self.line, text)

    def _take(self, key: str, is_right: Callable[[Any], bool], allowed: str) -> Any:
        if key not in self._values:
            raise self.refuse(f"{self._where}{key} is missing")
        value = self._values[key]
        self._taken.append(key)
        if not is_right(value):
            raise self.refuse(f"{self._where}{key} is {_shown(value)}: allowed is {allowed}")
        return value

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def whole(self, key: str, least: int = 0) -> int:
        allowed = f"a number from {least} to {_MOST}"
        return int(self._take(key, lambda value: _is_whole(value, least), allowed))

    def seat_or_none(self, key: str) -> int | None:
        allowed = "a seat or null"
        value = self._take(key, lambda value: value is None or _is_whole(value, 0), allowed)
        return None if value is None else int(value)

    def text(self, key: str, least: int = 0) -> str:
        allowed = "a text that is not empty" if least else "a text"
        return str(
            self._take(key, lambda value: isinstance(value, str) and len(value) >= least, allowed)
        )

    def digest(self, key: str) -> bytes:
        return bytes.fromhex(self._take(key, _is_digest, "64 hexadecimal digits in lower case"))

    def true(self, key: str) -> bool:
        """A mark that is either there or left out."""
        return key in self and bool(self._take(key, lambda value: value is True, "true"))

    def list_of(
        self, key: str, is_right: Callable[[Any], bool], allowed: str, least: int = 0
    ) -> tuple[Any, ...]:
        def all_right(values: object) -> bool:
            return isinstance(values, list) and len(values) >= least and all(map(is_right, values))

        return tuple(self._take(key, all_right, f"a list of {allowed}"))

    def texts(self, key: str, least: int = 0) -> tuple[str, ...]:
        allowed = "texts that is not empty" if least else "texts"
        return self.list_of(key, lambda value: isinstance(value, str), allowed, least)

    def wholes(self, key: str) -> tuple[int, ...]:
        return self.list_of(key, lambda value: _is_whole(value, -_MOST), "numbers")

    def inner(self, key: str) -> "_Fields":
        values = self._take(key, lambda value: isinstance(value, dict), "an object")
        return _Fields(self.line, values, f"{self._where}{key}.")

    def rest(self) -> Mapping[str, Any]:
        """All that has not been taken yet."""
        rest = {key: value for key, value in self._values.items() if key not in self._taken}
        self._taken += rest
        return rest

    def done(self) -> None:
        """Raise RecordError unless just what was taken is there, in that order."""
        for key in self._values:
            if key not in self._taken:
                raise self.refuse(f"{self._where}{_shown(key)} is unknown here")
        if list(self._values) != self._taken:
            raise self.refuse(f"the keys must come in the order {', '.join(self._taken)}")


def _is_whole(value: object, least: int) -> bool:
    return type(value) is int and least <= value <= _MOST


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and _HEX.issuperset(value)


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_flat(value: object, levels: int) -> bool:
    """Whether objects and lists are nested in at most so many levels."""
    if isinstance(value, dict):
        value = list(value.values())
    return not isinstance(value, list) or (
        levels > 0 and all(_is_flat(one, levels - 1) for one in value)
    )


def _parse(number: int, line: bytes) -> _Fields:
    """One line as it was written: JSON without spaces, no key twice, an end of line."""
    if not line.endswith(b"\n"):
        raise RecordError(number, "it has no newline at its end: the file was cut")
    if line.endswith(b"\r\n"):
        raise RecordError(number, "it ends with CR LF: in a record a newline alone ends a line")
    try:
        values = json.loads(line)
        if not _is_flat(values, _DEEPEST):
            raise RecursionError
        again = spelled(values).encode() + b"\n"
    except RecursionError:
        raise RecordError(number, "it is nested too deeply") from None
    except ValueError as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise RecordError(number, f"it is not JSON: {why}") from None
    if again != line:
        raise RecordError(number, "it is not spelled as a referee spells it")
    return _Fields(number, values)


def split_lines(content: bytes) -> list[bytes]:
    """Lines with their ends. A newline alone ends one, as for the tools that count lines."""
    *whole, rest = content.split(b"\n")
    return [*(line + b"\n" for line in whole), *([rest] if rest else [])]


def read_record(content: bytes) -> RecordLines:
    """The lines of a record without their chain. Raises RecordError at the first that is wrong."""
    raw = split_lines(content)
    if not raw:
        raise RecordError(1, "the file is empty")
    parsed: list[_Fields] = []
    kinds: list[str] = []
    for number, line in enumerate(raw, 1):
        parsed.append(_parse(number, line))
        kinds.append(parsed[-1].text("kind"))
    _check_order(kinds)
    header = _header(parsed[0])
    lines = tuple(
        _LINES[kind](fields) for kind, fields in zip(kinds[1:-1], parsed[1:-1], strict=True)
    )
    end = _match_ended(parsed[-1], len(header.bots))
    for fields in parsed:
        fields.text("prev")
        fields.done()
    return RecordLines(header, lines, end)


def _check_order(kinds: list[str]) -> None:
    if kinds[0] != "match":
        raise RecordError(1, f"a record begins with a line of kind match, not {kinds[0]!r}")
    if kinds[-1] != "match_ended":
        raise RecordError(len(kinds), "the end is missing: a last line of kind match_ended")
    for number, kind in enumerate(kinds[1:-1], 2):
        if kind not in _LINES:
            raise RecordError(number, f"kind is {kind!r}: allowed are {', '.join(_LINES)}")


def _header(fields: _Fields) -> Header:
    version = fields.whole("format")
    if version != FORMAT:
        raise fields.refuse(f"format is {version}: this program reads {FORMAT}")
    match_id = fields.text("match_id")
    rules = _rules(fields.inner("rules"))
    seats = [
        _Fields(fields.line, seat, f"seats[{place}].")
        for place, seat in enumerate(fields.list_of("seats", lambda _: True, "seats"))
    ]
    first_dealer = fields.whole("first_dealer")
    time_control = _time_control(fields.inner("time_control"))
    strikes = fields.inner("strikes_tolerated")
    header = Header(
        match_id=match_id,
        rules=rules,
        bots=tuple(seat.text("bot") for seat in seats),
        versions=tuple(seat.text("version") for seat in seats),
        first_dealer=first_dealer,
        time_control=time_control,
        illegal_tolerated=strikes.whole("illegal"),
        time_tolerated=strikes.whole("time"),
        commitment=fields.digest("commitment"),
        has_own_suits=fields.true("own_suits"),
    )
    for part in (*seats, strikes):
        part.done()
    try:
        rules.check_seats(len(seats))
    except RuleSetError as error:
        raise fields.refuse(str(error)) from None
    if first_dealer >= len(seats):
        raise fields.refuse(f"first_dealer is {first_dealer}: allowed are 0–{len(seats) - 1}")
    return header


def _rules(fields: _Fields) -> RuleSet:
    preset = fields.text("preset")
    values = fields.rest()
    try:
        rules = make_ruleset(preset, values)
    except RuleSetError as error:
        raise fields.refuse(f"rules: {error}") from None
    fields.done()
    if spelled(rules.to_dict()) != spelled({"preset": preset, **values}):
        raise fields.refuse("rules: a record holds every field, in the order of the rules")
    return rules


def _time_control(fields: _Fields) -> TimeControl:
    values = {name: fields.whole(name) for name in TimeControl.__slots__}
    fields.done()
    try:
        return TimeControl(**values)
    except ValueError as error:
        raise fields.refuse(f"time_control: {error}") from None


def _decision(fields: _Fields) -> DecisionLine:
    is_rejected = "rejected" in fields
    return DecisionLine(
        seat=fields.whole("seat"),
        decision_id=fields.whole("id", 1),
        deal=fields.whole("deal", 1),
        actions=fields.texts("actions"),
        charged_us=fields.whole("charged_us"),
        forgiven_us=fields.whole("forgiven_us"),
        was_away=fields.true("away"),
        rejected=fields.text("rejected", least=1) if is_rejected else "",
        tried=fields.text("tried") if is_rejected else "",
        forced=fields.texts("forced", least=1) if "forced" in fields else (),
    )


def _forced(fields: _Fields) -> ForcedLine:
    return ForcedLine(fields.whole("seat"), fields.whole("deal", 1), fields.texts("actions"))


def _deal_ended(fields: _Fields) -> DealEndedLine:
    return DealEndedLine(
        deal=fields.whole("deal", 1),
        ended=fields.text("ended"),
        winner=fields.seat_or_none("winner"),
        points=fields.wholes("points"),
        totals=fields.wholes("totals"),
    )


def _forfeit(fields: _Fields) -> ForfeitLine:
    seat, fault = fields.whole("seat"), fields.text("fault")
    if fault not in set(Forfeit):
        raise fields.refuse(f"fault is {fault!r}: allowed are {', '.join(Forfeit)}")
    return ForfeitLine(seat, Forfeit(fault))


def _match_ended(fields: _Fields, seats: int) -> MatchEndedLine:
    termination = fields.text("termination")
    if termination not in set(Termination):
        raise fields.refuse(f"termination is {termination!r}: it may be {', '.join(Termination)}")
    end = MatchEndedLine(
        termination=Termination(termination),
        text=fields.text("text"),
        places=fields.wholes("places"),
        totals=fields.wholes("totals"),
        salt=fields.digest("salt"),
        secret=fields.digest("secret"),
        randomness=tuple(
            map(bytes.fromhex, fields.list_of("randomness", _is_digest, "64 hexadecimal digits"))
        ),
    )
    if len(end.randomness) != seats:
        raise fields.refuse(f"randomness is for {len(end.randomness)} seats: there are {seats}")
    return end


_LINES: Final[Mapping[str, Callable[[_Fields], Line]]] = {
    "decision": _decision,
    "forced": _forced,
    "deal_ended": _deal_ended,
    "forfeit": _forfeit,
}
