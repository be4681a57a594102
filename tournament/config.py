"""What a tournament is to be: a TOML file, changed by options of the command line, checked."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSet, RuleSetError
from referee.match.spec import TimeControl
from tournament.errors import ConfigError, UsageError
from tournament.schedule.fixtures import SEATS_LEAST, SEATS_MOST, rules_hash, short_hash

ROUND_ROBIN = "round_robin"
SINGLE = "single"
"""One encounter, made by `tournament play`; not for files."""

DEFAULT_PRESET = "basic"
DEFAULT_SEATS = 2
DEFAULT_ENCOUNTERS = 25
WORKERS_MOST = 1_000
SEED_MOST = 2**63 - 1
_COMMAND_LINE = "command line"
_TIME_FIELDS = tuple(item.name for item in fields(TimeControl))


@dataclass(frozen=True, slots=True)
class Config:
    """A checked tournament. `workers` 0 means one for each core; `bots` are folders or names."""

    format: str = ROUND_ROBIN
    seats: int = DEFAULT_SEATS
    encounters: int = DEFAULT_ENCOUNTERS
    preset: str = DEFAULT_PRESET
    overrides: Mapping[str, object] = field(default_factory=dict)
    time_control: TimeControl = field(default_factory=TimeControl)
    workers: int = 0
    bots: tuple[str, ...] = ()
    seed: int | None = None

    @property
    def rules(self) -> RuleSet:
        """The rules in full."""
        return make_ruleset(self.preset, self.overrides)

    @property
    def rules_hash(self) -> str:
        """The hash of all that, besides the bots, decides how a match is played."""
        return rules_hash(self.rules.to_dict(), asdict(self.time_control), self.seats)

    @property
    def hash(self) -> str:
        """The hash of the plan's ingredients but for the bots."""
        return short_hash(
            "config", self.rules_hash, self.format, str(self.encounters), str(self.seed)
        )

    def to_dict(self) -> dict[str, object]:
        """Return the tables that `from_table` reads."""
        table: dict[str, object] = {
            "format": self.format,
            "seats": self.seats,
            "encounters": self.encounters,
            "workers": self.workers,
            "rules": {"preset": self.preset, **self.overrides},
            "time_control": asdict(self.time_control),
        }
        # TOML has no way to say nothing but to leave a key out.
        if self.bots:
            table["bots"] = list(self.bots)
        if self.seed is not None:
            table["seed"] = self.seed
        return table


@dataclass(frozen=True, slots=True)
class Overrides:
    """Options of the command line; None leaves what the file says."""

    seats: int | None = None
    encounters: int | None = None
    workers: int | None = None
    seed: int | None = None
    preset: str | None = None
    rules: Mapping[str, object] = field(default_factory=dict)
    bots: Sequence[str] = ()


def read_config(file: Path) -> dict[str, object]:
    """Read a tournament file into a table, unchecked but for being TOML. Raises ConfigError."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))  # some editors begin with a BOM
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not TOML: {error}") from error


def load_config(file: Path | None, options: Overrides) -> Config:
    """Read a tournament file, if any, put the options over it, and check all.

    Raises ConfigError for the file, UsageError for the options.

    Folders of bots in a file are relative to the file.
    """
    table = {} if file is None else read_config(file)
    source = _COMMAND_LINE if file is None else str(file)
    config = from_table(table, source, base=None if file is None else file.resolve().parent)
    return _overridden(config, options)


def from_table(
    table: Mapping[str, object], source: str, *, base: Path | None = None, stored: bool = False
) -> Config:
    """Check a table and return what it says. Errors name `source`, key, value, what is allowed."""
    keys = _Keys(source, table)
    keys.only(
        [item.name for item in fields(Config) if item.name not in ("preset", "overrides")]
        + ["rules"]
    )
    rules = keys.table("rules")
    time_control = keys.table("time_control")
    for key in time_control:
        if key not in _TIME_FIELDS:
            raise keys.unknown(f"time_control.{key}", [f"time_control.{n}" for n in _TIME_FIELDS])
    try:
        clock = TimeControl(**time_control)  # type: ignore[arg-type]
    except ValueError as error:
        raise ConfigError(f"{source}: time_control.{error}") from error
    preset = rules.pop("preset", DEFAULT_PRESET)
    if not isinstance(preset, str):
        raise keys.wrong("rules.preset", preset, "a text")
    config = Config(
        format=keys.choice("format", [ROUND_ROBIN, SINGLE] if stored else [ROUND_ROBIN]),
        seats=keys.number("seats", DEFAULT_SEATS, SEATS_LEAST, SEATS_MOST),
        encounters=keys.number("encounters", DEFAULT_ENCOUNTERS, 1, 1_000_000),
        workers=keys.number("workers", 0, 0, WORKERS_MOST),
        seed=keys.number("seed", 0, 0, SEED_MOST) if "seed" in table else None,
        bots=keys.bots(base),
        preset=preset,
        overrides=rules,
        time_control=clock,
    )
    _check_rules(config, source)
    return config


def _overridden(config: Config, options: Overrides) -> Config:
    table = config.to_dict()
    for name in ("seats", "encounters", "workers", "seed"):
        value = getattr(options, name)
        if value is not None:
            table[name] = value
    if options.bots:
        table["bots"] = list(options.bots)
    # Another preset makes a fresh start: rules of the file were meant for the file's preset.
    kept = config.overrides if options.preset in (None, config.preset) else {}
    table["rules"] = {"preset": options.preset or config.preset, **_merged(kept, options.rules)}
    try:
        return from_table(table, _COMMAND_LINE)
    except ConfigError as error:
        raise UsageError(str(error)) from error


def _merged(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    merged = dict(below)
    for name, value in above.items():
        earlier = merged.get(name)
        both = isinstance(earlier, Mapping) and isinstance(value, Mapping)
        merged[name] = {**earlier, **value} if both else value  # type: ignore[dict-item]
    return merged


def _check_rules(config: Config, source: str) -> None:
    try:
        config.rules.check_seats(config.seats)
    except RuleSetError as error:
        raise ConfigError(f"{source}: rules: {error}") from error


def differences(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return a line for every key in which two tables differ."""
    lines = []
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if before != after:
            lines.append(f"{key} was {before!r} and is {after!r}")
    return lines


class _Keys:
    """The keys of one table, taken out one by one."""

    def __init__(self, source: str, table: Mapping[str, object]) -> None:
        self._source = source
        self._table = table

    def wrong(self, key: str, value: object, allowed: str) -> ConfigError:
        return ConfigError(f"{self._source}: {key} is {value!r}: allowed is {allowed}")

    def unknown(self, key: str, allowed: Sequence[str]) -> ConfigError:
        return ConfigError(
            f"{self._source}: there is no key {key!r}: allowed are {', '.join(allowed)}"
        )

    def only(self, allowed: Sequence[str]) -> None:
        for key in self._table:
            if key not in allowed:
                raise self.unknown(key, allowed)

    def number(self, key: str, default: int, least: int, most: int) -> int:
        value = self._table.get(key, default)
        if type(value) is not int or not least <= value <= most:
            raise self.wrong(key, value, f"a whole number {least}–{most}")
        return value

    def choice(self, key: str, allowed: Sequence[str]) -> str:
        value = self._table.get(key, allowed[0])
        if not isinstance(value, str) or value not in allowed:
            raise self.wrong(key, value, " or ".join(allowed))
        return value

    def table(self, key: str) -> dict[str, object]:
        value = self._table.get(key, {})
        if not isinstance(value, Mapping):
            raise self.wrong(key, value, "a table")
        return dict(value)

    def bots(self, base: Path | None) -> tuple[str, ...]:
        if "bots" not in self._table:
            return ()
        value = self._table["bots"]
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(bot, str) and bot for bot in value)
        ):
            raise self.wrong("bots", value, "a list of folders or names of sample bots, not empty")
        if base is None:
            return tuple(value)
        # A plain name that is no folder beside the file is a sample bot's.
        return tuple(
            str(base / bot) if (base / bot).exists() or "/" in bot else bot for bot in value
        )
