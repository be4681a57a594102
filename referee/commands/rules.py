"""`referee rules`: the presets side by side, and what each field says."""

import json
from collections.abc import Mapping
from typing import Annotated

import typer
from rich.table import Table

from referee.commands.options import Format, FormatOption, Set, fail, out, plain_table, rules_of
from referee.engine.presets import PRESETS
from referee.engine.rule_fields import FIELDS
from referee.engine.ruleset import RuleSet

_FIELD_WIDTH = 30
_PRESET_WIDTH = 23


def rules(
    preset: Annotated[
        str, typer.Argument(metavar="[PRESET]", help="A preset; without one all are compared.")
    ] = "",
    overrides: Set = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show the presets side by side, or what comes of one preset and overrides.

    \b
    Examples:
      referee rules
      referee rules standard --set ace=high_or_low
      referee rules basic --set hand_size.2=7 --format json
    """  # noqa: D301 - \b keeps the lines below it as they are
    if overrides and not preset:
        fail("--set needs a preset: referee rules PRESET --set field=value", 2)
    wanted = rules_of(preset, overrides) if preset else None
    if output is Format.JSON:
        every = [one.to_dict() for one in PRESETS.values()]
        typer.echo(json.dumps(every if wanted is None else wanted.to_dict(), indent=2))
        return
    if wanted is not None:
        # What was asked for comes last, where it is seen on a terminal.
        _print_meanings()
        out.print()
        columns = {preset: PRESETS[preset]}
        out.print(_values({**columns, "with --set": wanted} if overrides else columns))
        return
    # Too narrow for all presets side by side, they come a few at a time.
    at_once = max(1, (out.width - _FIELD_WIDTH) // _PRESET_WIDTH)
    names = list(PRESETS)
    for start in range(0, len(names), at_once):
        out.print(_values({name: PRESETS[name] for name in names[start : start + at_once]}))
        out.print()
    _print_meanings()


def _print_meanings() -> None:
    meanings = plain_table()
    for title in ("field", "what it says", "allowed"):
        meanings.add_column(title, overflow="fold")
    for name, spec in FIELDS.items():
        meanings.add_row(name, spec.about, spec.allowed)
    out.print(meanings)


def _values(columns: Mapping[str, RuleSet]) -> Table:
    """A column for each title; what the last of two changes is marked."""
    table = plain_table()
    table.add_column("field", no_wrap=True, min_width=_FIELD_WIDTH - 2)
    for title in columns:
        table.add_column(title, no_wrap=True)
    for name in FIELDS:
        cells = [_cell(one, name) for one in columns.values()]
        if len(cells) == 2 and cells[0] != cells[1]:
            cells[1] += "  (changed)"
        table.add_row(name, *cells)
    return table


def _cell(one: RuleSet, name: str) -> str:
    text = _text(one, name)
    return text if one.is_used(name) else f"not used ({text})"


def _text(one: RuleSet, name: str) -> str:
    value = one.to_dict()[name]
    if isinstance(value, dict):
        return " ".join(f"{seats}:{entry}" for seats, entry in value.items())
    if value is None:
        return FIELDS[name].none_word or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
