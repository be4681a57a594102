"""What a tournament is to be: a TOML file, changed by options of the command line, checked."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from referee.engine.presets import make_ruleset
from referee.engine.rule_fields import FIELDS
from referee.engine.ruleset import RuleSet, RuleSetError
from referee.match.spec import TimeControl
from tournament.errors import ConfigError, UsageError
from tournament.keys import Keys, as_toml
from tournament.schedule.fixtures import (
    SEATS_LEAST,
    SEATS_MOST,
    Encounter,
    Entrant,
    rules_hash,
    short_hash,
)
from tournament.schedule.formats import FILE_FORMATS, FORMATS, ROUND_ROBIN, SWISS, TEST
from tournament.schedule.plan import first_plan, plan_size

DEFAULT_PRESET = "basic"
DEFAULT_SEATS = 2
DEFAULT_ENCOUNTERS = 25
DEFAULT_SWISS_ENCOUNTERS = 1
WORKERS_MOST = 1_000
SEED_MOST = 2**63 - 1
_COMMAND_LINE = "command line"
_TIME_FIELDS = tuple(item.name for item in fields(TimeControl))
_HIDDEN = ("preset", "overrides", "source")
"""Parts of a configuration that are no keys of a file."""


@dataclass(frozen=True, slots=True)
class Config:
    """A checked tournament. `workers` 0 means one for each core; `bots` are folders or names.

    `challengers` are names of bots, for a gauntlet; `rounds` are there for swiss alone, `sprt`
    (elo0, elo1, alpha, beta) for a test. With `tables` that many balanced encounters are played in
    all, and `encounters`, otherwise those of each set of bots, is 1. `untrusted` are names of bots
    that nobody vouches for, or True for all of them. `source` is where all of it
    stands, for what can be found wrong only later; it makes no difference to what is equal.
    """

    format: str = ROUND_ROBIN
    seats: int = DEFAULT_SEATS
    encounters: int = DEFAULT_ENCOUNTERS
    preset: str = DEFAULT_PRESET
    overrides: Mapping[str, object] = field(default_factory=dict)
    time_control: TimeControl = field(default_factory=TimeControl)
    workers: int = 0
    bots: tuple[str, ...] = ()
    seed: int | None = None
    challengers: tuple[str, ...] = ()
    tables: int | None = None
    rounds: int | None = None
    sprt: Mapping[str, float] | None = None
    untrusted: tuple[str, ...] | bool = ()
    source: str = field(default=_COMMAND_LINE, compare=False)

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
        ingredients = [self.rules_hash, self.format, str(self.encounters), str(self.seed)]
        # A key that is not there leaves no trace, so that a hash outlives new keys.
        for key, value in (
            ("challengers", sorted(self.challengers)),
            ("tables", self.tables),
            ("rounds", self.rounds),
            ("sprt", self.sprt),
        ):
            if value:
                ingredients.append(json.dumps({key: value}, sort_keys=True))
        return short_hash("config", *ingredients)

    def match_count(self, bots: int) -> int:
        """Return how many matches this is with so many bots, all rounds together."""
        return plan_size(
            bots,
            format=self.format,
            seats=self.seats,
            encounters=self.encounters,
            challengers=len(self.challengers),
            tables=self.tables,
            rounds=self.rounds,
        ).matches

    def first_plan(self, entrants: Sequence[Entrant]) -> list[Encounter]:
        """Plan all of it, or the first round of a swiss one.

        Raises ConfigError, which names the source, for what can't be played by these bots.
        """
        try:
            return first_plan(
                entrants,
                format=self.format,
                seats=self.seats,
                encounters=self.encounters,
                rules=self.rules_hash,
                challengers=self.challengers,
                tables=self.tables,
                rounds=self.rounds,
            )
        except ValueError as error:
            raise ConfigError(f"{self.source}: {error}") from error

    def untrusted_among(self, bots: Sequence[str]) -> tuple[str, ...]:
        """Return which of these bots nobody vouches for.

        Raises ConfigError, which names the source, for a name that is none of theirs.
        """
        if isinstance(self.untrusted, bool):
            return tuple(bots) if self.untrusted else ()
        for name in self.untrusted:
            if name not in bots:
                raise ConfigError(
                    f"{self.source}: untrusted names {name!r}, which is no bot here: the bots are"
                    f" {', '.join(bots)}"
                )
        return self.untrusted

    def to_dict(self) -> dict[str, object]:
        """Return the tables that `from_table` reads."""
        table: dict[str, object] = {
            "format": self.format,
            "seats": self.seats,
            "workers": self.workers,
            "rules": {"preset": self.preset, **self.overrides},
            "time_control": asdict(self.time_control),
        }
        # TOML has no way to say nothing but to leave a key out.
        optional = {
            "encounters": self.encounters if self.tables is None else None,
            "bots": list(self.bots) or None,
            "seed": self.seed,
            "challengers": list(self.challengers) or None,
            "tables": self.tables,
            "rounds": self.rounds,
            "sprt": None if self.sprt is None else dict(self.sprt),
            "untrusted": self._untrusted_value,
        }
        return table | {key: value for key, value in optional.items() if value is not None}

    @property
    def _untrusted_value(self) -> bool | list[str] | None:
        if isinstance(self.untrusted, bool):
            return self.untrusted or None
        return list(self.untrusted) or None


@dataclass(frozen=True, slots=True)
class Overrides:
    """Options of the command line; None leaves what the file says."""

    seats: int | None = None
    encounters: int | None = None
    tables: int | None = None
    rounds: int | None = None
    workers: int | None = None
    seed: int | None = None
    preset: str | None = None
    rules: Mapping[str, object] = field(default_factory=dict)
    bots: Sequence[str] = ()


def read_config(file: Path) -> dict[str, object]:
    """Read a tournament file into a table, unchecked but for being TOML. Raises ConfigError."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}") from error
    try:
        return tomllib.loads(content.decode("utf-8-sig"))  # some editors begin with a BOM
    except tomllib.TOMLDecodeError as error:
        last = len(content.splitlines())
        where = str(error).replace("at end of document", f"at the end, line {last}")
        # A key is told as a tuple of its parts.
        where = re.sub(r"\(('[^()]*)\)", lambda key: ".".join(re.findall("'(.*?)'", key[1])), where)
        raise ConfigError(f"{file} is not TOML: {where}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file} is not TOML: line {line} is not UTF-8") from error


def load_config(file: Path | None, options: Overrides) -> Config:
    """Read a tournament file, if any, put the options over it, and check all.

    Folders of bots in a file are relative to it. Raises ConfigError for the file, UsageError for
    the options.
    """
    table = {} if file is None else read_config(file)
    source = _COMMAND_LINE if file is None else str(file)
    config = from_table(table, source, base=None if file is None else file.resolve().parent)
    config = _overridden(config, options)
    counts = (options.seats, options.encounters, options.tables, options.rounds)
    if file is not None and (options.bots or any(count is not None for count in counts)):
        source = f"{file} with options of the {_COMMAND_LINE}"
    return replace(config, source=source)


def from_table(
    table: Mapping[str, object], source: str, *, base: Path | None = None, stored: bool = False
) -> Config:
    """Check a table and return what it says. Errors name `source`, key, value, what is allowed."""
    keys = Keys(source, table)
    hidden = _HIDDEN if stored else (*_HIDDEN, "sprt")
    keys.only([item.name for item in fields(Config) if item.name not in hidden] + ["rules"])
    format_ = keys.choice("format", FORMATS if stored else FILE_FORMATS)
    seats = keys.number("seats", DEFAULT_SEATS, SEATS_LEAST, SEATS_MOST)
    keys.fit(format_, seats)
    rules = keys.table("rules")
    time_control = keys.table("time_control")
    for key, value in time_control.items():
        if key not in _TIME_FIELDS:
            raise keys.unknown(f"time_control.{key}", [f"time_control.{n}" for n in _TIME_FIELDS])
        if type(value) is not int:
            raise keys.wrong(f"time_control.{key}", value, "a whole number of milliseconds")
    try:
        clock = TimeControl(**time_control)  # type: ignore[arg-type]
    except ValueError as error:
        raise ConfigError(f"{source}: time_control.{error}") from error
    preset = rules.pop("preset", DEFAULT_PRESET)
    if not isinstance(preset, str):
        raise keys.wrong("rules.preset", preset, "a text")
    config = Config(
        format=format_,
        seats=seats,
        encounters=keys.number("encounters", _default_encounters(format_, table), 1),
        workers=keys.number("workers", 0, 0, WORKERS_MOST),
        seed=keys.number("seed", 0, 0, SEED_MOST) if "seed" in table else None,
        bots=keys.bots(base),
        preset=preset,
        overrides=rules,
        time_control=clock,
        challengers=keys.names("challengers"),
        tables=keys.number("tables", 0, 1) if "tables" in table else None,
        rounds=keys.number("rounds", 0, 1) if "rounds" in table else None,
        sprt=keys.sprt() if format_ == TEST else None,
        untrusted=keys.untrusted(),
        source=source,
    )
    try:
        config.rules.check_seats(config.seats)
    except RuleSetError as error:
        raise ConfigError(f"{source}: rules: {error}") from error
    return config


def _default_encounters(format_: str, table: Mapping[str, object]) -> int:
    if "tables" in table:
        return 1
    return DEFAULT_SWISS_ENCOUNTERS if format_ == SWISS else DEFAULT_ENCOUNTERS


def full_table(config: Config) -> dict[str, object]:
    """Return what a tournament file says that leaves nothing to defaults; it plans the same.

    Every value can stand in TOML. Bots are left out where the configuration has none.
    """
    rules = {
        name: FIELDS[name].none_word if value is None else value
        for name, value in config.rules.to_dict().items()
        if name in FIELDS
    }
    table = config.to_dict() | {"rules": {"preset": config.preset, **rules}}
    order = [
        "format", "seats", "encounters", "tables", "rounds", "challengers", "bots",
        "untrusted", "workers", "seed",
    ]  # fmt: skip
    return {key: table[key] for key in sorted(table, key=[*order, *table].index)}


def _overridden(config: Config, options: Overrides) -> Config:
    table = config.to_dict()
    # Either of them says how much is played, so an option for one replaces the other of the file.
    if options.tables is not None:
        table.pop("encounters", None)
    if options.encounters is not None:
        table.pop("tables", None)
    for name in ("seats", "encounters", "tables", "rounds", "workers", "seed"):
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


def differences(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Return a line for every key in which two tables differ."""

    def shown(key: str, table: Mapping[str, object]) -> str:
        return as_toml(table[key]) if key in table else "not there"

    changed = (key for key in sorted({*old, *new}) if old.get(key) != new.get(key))
    return [f"{key} was {shown(key, old)} and is {shown(key, new)}" for key in changed]
