"""What a ladder plays: seats, rules and clock, from a file, options, or what is stored already."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSet, RuleSetError
from tournament.config import Config, differences, from_table, read_config
from tournament.errors import ConfigError, ResumeError, UsageError
from tournament.keys import as_toml
from tournament.schedule.formats import LADDER
from tournament.store.stored import Tournament

_KEYS = ("format", "seats", "rules", "time_control")
_COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody wants a ladder to be; nothing at all goes on with the one that there is."""

    file: Path | None = None
    seats: int | None = None
    preset: str | None = None
    rules: Mapping[str, object] = field(default_factory=dict)
    time: Sequence[str] = ()
    """Changes of the clock, each `field=milliseconds`."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked for."""
        return self == Asked()


def read_asked(asked: Asked) -> Config:
    """Return the configuration that was asked for.

    Raises ConfigError for the file and UsageError for the options, naming key and value.
    """
    table = {} if asked.file is None else read_config(asked.file)
    source = _COMMAND_LINE if asked.file is None else str(asked.file)
    for key in table:
        if key not in _KEYS:
            allowed = ", ".join(_KEYS)
            raise ConfigError(
                f"{source}: a ladder has no key {as_toml(key)}: allowed are {allowed}"
            )
    if table.pop("format", LADDER) != LADDER:
        raise ConfigError(
            f"{source}: format is for a ladder: allowed is {as_toml(LADDER)}, or none"
        )
    config = from_table(table, source)
    if asked.seats is None and not (asked.preset or asked.rules or asked.time):
        return config
    kept = config.overrides if asked.preset in (None, config.preset) else {}
    over: dict[str, object] = {
        "seats": config.seats if asked.seats is None else asked.seats,
        "rules": {"preset": asked.preset or config.preset, **kept, **asked.rules},
        "time_control": {**asdict(config.time_control), **_times(asked.time)},
    }
    try:
        return from_table(over, _COMMAND_LINE)
    except ConfigError as error:
        raise UsageError(str(error)) from error


def _times(changes: Sequence[str]) -> dict[str, object]:
    times: dict[str, object] = {}
    for change in changes:
        name, mark, value = change.partition("=")
        if not mark or not value.isascii() or not value.isdecimal() or len(value) > 9:
            raise UsageError(
                f"--time {change}: allowed is FIELD=MILLISECONDS, such as per_decision_ms=500"
            )
        times[name] = int(value)
    return times


def stored_table(config: Config) -> dict[str, object]:
    """Return what is stored of a ladder's configuration."""
    return {
        "seats": config.seats,
        "rules": {"preset": config.preset, **config.overrides},
        "time_control": asdict(config.time_control),
    }


def config_to_play(asked: Asked, stored: Tournament | None) -> Config:
    """Return what is to be played: what is stored, if there is a ladder, else what was asked for.

    Raises ResumeError if there is one and something else was asked for.
    """
    if stored is None:
        return read_asked(asked)
    table = {key: value for key, value in stored.config.items() if key in _KEYS and key != "format"}
    try:
        config = from_table(table, f"ladder {stored.id}", stored=True)
    except ConfigError as error:
        raise ResumeError(f"{error}; it was begun by another version of rummy-referee") from error
    if config.rules_hash != stored.config_hash:
        raise ResumeError(
            f"ladder {stored.id} was begun under rules or defaults that this version of"
            " rummy-referee reads differently: go on with the version that began it"
        )
    if not asked.is_empty:
        changed = differences(table, stored_table(read_asked(asked)))
        if changed:
            raise ResumeError(
                f"ladder {stored.id} was begun otherwise: {'; '.join(changed)}. Leave file and"
                " options out to go on with it; another ladder needs another --data"
            )
    return config


def check_rules(config: Config) -> RuleSet:
    """Return the rules of a short match: one deal of the ladder's, if its rules allow that."""
    try:
        return make_ruleset(
            config.preset, {**config.overrides, "match_end": "fixed_deals", "deals": 1}
        )
    except RuleSetError:
        return config.rules
