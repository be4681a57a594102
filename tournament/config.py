"""What a tournament is to be: a TOML file, changed by options of the command line, checked."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from referee.engine.presets import make_ruleset
from referee.engine.rule_fields import FIELDS
from referee.engine.ruleset import RuleSet, RuleSetError
from referee.match.spec import TimeControl
from tournament.errors import ConfigError, UsageError
from tournament.schedule import formats
from tournament.schedule.fixtures import SEATS_LEAST, SEATS_MOST, rules_hash, short_hash
from tournament.schedule.plan import plan_size

ROUND_ROBIN = formats.ROUND_ROBIN
GAUNTLET = formats.GAUNTLET
SWISS = formats.SWISS
SINGLE = formats.SINGLE
TEST = formats.TEST

DEFAULT_PRESET = "basic"
DEFAULT_SEATS = 2
DEFAULT_ENCOUNTERS = 25
DEFAULT_SWISS_ENCOUNTERS = 1
DEFAULT_SPRT: Mapping[str, float] = {"elo0": 0.0, "elo1": 10.0, "alpha": 0.05, "beta": 0.05}
COUNT_MOST = 1_000_000
WORKERS_MOST = 1_000
SEED_MOST = 2**63 - 1
_COMMAND_LINE = "command line"
_TIME_FIELDS = tuple(item.name for item in fields(TimeControl))
_KEY_OF_FORMAT = {
    "challengers": GAUNTLET,
    "tables": ROUND_ROBIN,
    "rounds": SWISS,
    "sprt": TEST,
}
"""Keys that only one format has a meaning for."""
_ELO_MOST = 1_000.0


@dataclass(frozen=True, slots=True)
class Config:
    """A checked tournament. `workers` 0 means one for each core; `bots` are folders or names.

    `challengers` are names of bots, for a gauntlet; `rounds` are there for swiss alone, `sprt`
    (elo0, elo1, alpha, beta) for a test. With `tables` that many balanced encounters are played in
    all, and `encounters`, otherwise those of each set of bots, is 1.
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
        }
        return table | {key: value for key, value in optional.items() if value is not None}


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
        raise ConfigError(f"{file} is not TOML: {where}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file} is not TOML: line {line} is not UTF-8") from error


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
    hidden = ("preset", "overrides") if stored else ("preset", "overrides", "sprt")
    keys.only([item.name for item in fields(Config) if item.name not in hidden] + ["rules"])
    format_ = keys.choice("format", formats.FORMATS if stored else formats.FILE_FORMATS)
    seats = keys.number("seats", DEFAULT_SEATS, SEATS_LEAST, SEATS_MOST)
    keys.fit(format_, seats)
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
        format=format_,
        seats=seats,
        encounters=keys.number("encounters", _default_encounters(format_, table), 1, COUNT_MOST),
        workers=keys.number("workers", 0, 0, WORKERS_MOST),
        seed=keys.number("seed", 0, 0, SEED_MOST) if "seed" in table else None,
        bots=keys.bots(base),
        preset=preset,
        overrides=rules,
        time_control=clock,
        challengers=keys.names("challengers"),
        tables=keys.number("tables", 0, 1, COUNT_MOST) if "tables" in table else None,
        rounds=keys.number("rounds", 0, 1, COUNT_MOST) if "rounds" in table else None,
        sprt=keys.sprt() if format_ == TEST else None,
    )
    _check_rules(config, source)
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
        "workers", "seed",
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

    def fit(self, format_: str, seats: int) -> None:
        """See that the keys belong to the format, and that none which it needs is missing."""
        for key, owner in _KEY_OF_FORMAT.items():
            if key in self._table and format_ != owner:
                raise ConfigError(
                    f"{self._source}: {key} is {self._table[key]!r}: allowed is no value, as"
                    f" format is {format_!r} and {key} goes with {owner!r}"
                )
        if "tables" in self._table and "encounters" in self._table:
            raise ConfigError(
                f"{self._source}: encounters is {self._table['encounters']!r}: allowed is no value"
                " beside tables, which are the encounters of all bots together"
            )
        if "tables" in self._table and seats == SEATS_LEAST:
            raise ConfigError(
                f"{self._source}: tables is {self._table['tables']!r}: allowed is no value, as"
                f" seats is {seats} and tables are for 3–{SEATS_MOST}"
            )
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
