"""The keys of a table, one by one: an error names source, key, value and what is allowed."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, time
from pathlib import Path

from tournament.errors import ConfigError
from tournament.schedule.fixtures import SEATS_LEAST, SEATS_MOST
from tournament.schedule.formats import GAUNTLET, ROUND_ROBIN, SWISS, TEST

DEFAULT_SPRT: Mapping[str, float] = {"elo0": 0.0, "elo1": 10.0, "alpha": 0.05, "beta": 0.05}
_KEY_OF_FORMAT = {
    "challengers": GAUNTLET,
    "tables": ROUND_ROBIN,
    "rounds": SWISS,
    "sprt": TEST,
}
"""Keys that only one format has a meaning for."""
_ELO_MOST = 1_000.0


class Keys:
    """The keys of one table, taken out one by one."""

    def __init__(self, source: str, table: Mapping[str, object]) -> None:
        self._source = source
        self._table = table

    def wrong(self, key: str, value: object, allowed: str) -> ConfigError:
        """Return the error of a value."""
        return ConfigError(f"{self._source}: {key} is {as_toml(value)}: allowed is {allowed}")

    def unknown(self, key: str, allowed: Sequence[str]) -> ConfigError:
        """Return the error of a key that there is not."""
        return ConfigError(
            f"{self._source}: there is no key {as_toml(key)}: allowed are {', '.join(allowed)}"
        )

    def only(self, allowed: Sequence[str]) -> None:
        """See that there are no other keys."""
        for key in self._table:
            if key not in allowed:
                raise self.unknown(key, allowed)

    def fit(self, format_: str, seats: int) -> None:
        """See that the keys belong to the format, and that none which it needs is missing."""
        for key, owner in _KEY_OF_FORMAT.items():
            if key in self._table and format_ != owner:
                why = f"no value, as format is {format_!r} and {key} goes with {owner!r}"
                raise self.wrong(key, self._table[key], why)
        if "tables" in self._table and "encounters" in self._table:
            why = "no value beside tables, which are the encounters of all bots together"
            raise self.wrong("encounters", self._table["encounters"], why)
        if "tables" in self._table and seats == SEATS_LEAST:
            why = f"no value, as seats is {seats} and tables are for 3–{SEATS_MOST}"
            raise self.wrong("tables", self._table["tables"], why)
        if format_ in (SWISS, TEST) and seats != SEATS_LEAST:
            raise self.wrong("seats", seats, f"{SEATS_LEAST}, as format is {format_!r}")
        for key, owner, allowed in (
            ("challengers", GAUNTLET, "a list of names of bots, not empty"),
            ("rounds", SWISS, "a whole number, 1 or more"),
        ):
            if format_ == owner and key not in self._table:
                raise ConfigError(
                    f"{self._source}: {key} is missing: format is {format_!r}, which needs it;"
                    f" allowed is {allowed}"
                )

    def number(self, key: str, default: int, least: int, most: int | None = None) -> int:
        """Return a whole number."""
        value = self._table.get(key, default)
        if type(value) is not int or value < least or (most is not None and value > most):
            limits = f", {least} or more" if most is None else f" {least}–{most}"
            raise self.wrong(key, value, f"a whole number{limits}")
        return value

    def choice(self, key: str, allowed: Sequence[str]) -> str:
        """Return one of the texts; the first if the key is missing."""
        value = self._table.get(key, allowed[0])
        if not isinstance(value, str) or value not in allowed:
            raise self.wrong(key, value, " or ".join(allowed))
        return value

    def table(self, key: str) -> dict[str, object]:
        """Return a table; an empty one if the key is missing."""
        value = self._table.get(key, {})
        if not isinstance(value, Mapping):
            raise self.wrong(key, value, "a table")
        return dict(value)

    def names(self, key: str) -> tuple[str, ...]:
        """Return names of bots; whether they take part is seen where the bots are known."""
        value = self._table.get(key)
        if value is None:
            return ()
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(name, str) and name for name in value)
            or len(set(value)) < len(value)
        ):
            raise self.wrong(key, value, "a list of names of bots, not empty, each once")
        return tuple(value)

    def untrusted(self) -> tuple[str, ...] | bool:
        """Return names of bots that nobody vouches for, or whether all are so."""
        value = self._table.get("untrusted", [])
        if isinstance(value, bool):
            return value
        if value == []:
            return ()
        if not isinstance(value, list):
            raise self.wrong("untrusted", value, "true, false or a list of names of bots")
        return self.names("untrusted")

    def sprt(self) -> dict[str, float]:
        """Return what a test tells apart: two differences in Elo, and the risks of being wrong."""
        table = self.table("sprt")
        values: dict[str, float] = {}
        for key in table:
            if key not in DEFAULT_SPRT:
                raise self.unknown(f"sprt.{key}", [f"sprt.{name}" for name in DEFAULT_SPRT])
        for key, default in DEFAULT_SPRT.items():
            value = table.get(key, default)
            if type(value) not in (int, float):
                raise self.wrong(f"sprt.{key}", value, "a number")
            assert isinstance(value, int | float)
            values[key] = float(value)
        for key in ("elo0", "elo1"):
            if not abs(values[key]) <= _ELO_MOST:  # NaN is not within either
                raise self.wrong(f"sprt.{key}", values[key], f"−{_ELO_MOST:g} to {_ELO_MOST:g}")
        for key in ("alpha", "beta"):
            if not 0 < values[key] < 0.5:
                raise self.wrong(f"sprt.{key}", values[key], "more than 0 and less than 0.5")
        if not values["elo0"] < values["elo1"]:
            raise self.wrong("sprt.elo1", values["elo1"], f"more than elo0, {values['elo0']:g}")
        return values

    def bots(self, base: Path | None) -> tuple[str, ...]:
        """Return folders, made absolute from `base`, and names of sample bots."""
        if "bots" not in self._table:
            return ()
        value = self._table["bots"]
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(bot, str) and bot for bot in value)
        ):
            raise self.wrong("bots", value, "a list of folders or names of bots, not empty")
        if base is None:
            return tuple(value)
        # A plain name that is no folder beside the file is a sample bot's.
        return tuple(
            str(base / bot) if (base / bot).exists() or "/" in bot else bot for bot in value
        )


def as_toml(value: object) -> str:
    """Return a value as TOML writes it in one line, a text in single quotes if it can be."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}'" if value.isprintable() and "'" not in value else json.dumps(value)
        case date() | time():
            return value.isoformat()
        case Mapping():
            bare = re.compile(r"[A-Za-z0-9_-]+")
            names = (name if bare.fullmatch(name) else as_toml(name) for name in map(str, value))
            pairs = zip(names, map(as_toml, value.values()), strict=True)
            return "{" + ", ".join(f"{name} = {inner}" for name, inner in pairs) + "}"
        case list() | tuple():
            return f"[{', '.join(map(as_toml, value))}]"
        case _:
            return str(value)
