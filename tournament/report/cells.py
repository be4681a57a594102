"""How single values read: for people, and as characters that no format or terminal obeys."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass

NOTHING = "–"
BETWEEN_NAMES = " – "
"""What stands between the items of a list."""
_MARKDOWN = re.compile(r"([\\`*\[\]<>|~$&])|(?<![a-zA-Z0-9])_|_(?![a-zA-Z0-9])")


def printable(text: str, *, keep: str = "") -> str:
    r"""Return the text with a space for each line break and `\x1b` for what is not to be seen.

    That are control characters, marks that turn the direction of writing, halves of characters.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else _spelt(one) for one in text)


def _spelt(one: str) -> str:
    if one in "\n\r\t\u2028\u2029\u00a0":
        return " "
    code = ord(one)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escaped(json_text: str) -> str:
    r"""Return json in which everything that is no character to see stands as `\uXXXX`.

    It is the same data: outside of its strings json has only visible characters and line breaks.
    """
    if json_text.replace("\n", "").isprintable():
        return json_text
    return "".join(
        one if one.isprintable() or one == "\n" else _json_escape(one) for one in json_text
    )


def _json_escape(one: str) -> str:
    units = one.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def markdown(text: str) -> str:
    """Return the text for a cell of a markdown table: one line, in which no mark has a meaning."""
    return _MARKDOWN.sub(lambda found: f"\\{found[0]}", printable(text))


def data(value: object) -> object:
    """Return the value as json has it; a number without a finite value is null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [data(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return data(asdict(value))
    return value


def rounded(digits: int, *, sign: bool = False) -> Callable[[object], str]:
    """Return what shows a number, or that there is none, with so many digits after the point."""

    def show(value: object) -> str:
        if not isinstance(value, int | float):
            return NOTHING
        # No "-0.00".
        return f"{round(value, digits) + 0.0:{'+' if sign else ''}.{digits}f}"

    return show


def percent(value: object) -> str:
    """Show a share of 1 as per cent; a share that is not all or nothing never reads as such."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return NOTHING
    shown = f"{100 * value:.1f} %"
    if shown == "100.0 %" and value < 1:
        return "> 99.9 %"
    return "< 0.1 %" if shown == "0.0 %" and value > 0 else shown


def interval(low: object, high: object, digits: int) -> str:
    """Show from where to where a value may lie."""
    if low is None or high is None:
        return ""
    show = rounded(digits)
    return f"{show(low)} to {show(high)}"


def counts(value: object) -> str:
    """Show a map of kinds to counts."""
    assert isinstance(value, Mapping)
    return ", ".join(f"{kind} {count}" for kind, count in value.items()) or NOTHING


def listed(value: object) -> str:
    """Show a list."""
    assert isinstance(value, list | tuple)
    return BETWEEN_NAMES.join(str(item) for item in value)


def or_dash(value: object) -> str:
    """Show a value or that there is none."""
    return NOTHING if value in (None, "") else str(value)


def short_hash(value: object) -> str:
    """Show the beginning of a hash."""
    return str(value or "")[:12] or NOTHING


def yes(value: object) -> str:
    """Show a truth."""
    return NOTHING if value is None else "yes" if value else "no"
