"""What a check found: one finding for each step, and whether the bot may compete."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from tournament.check.where import Where


class Status(StrEnum):
    """How a step went."""

    PASSED = "passed"
    WARNING = "warning"
    """The bot may compete, and its author should look at this."""
    FAILED = "failed"
    """The bot may not compete."""
    NOT_CLAIMED = "not claimed"
    """The bot does not say that it can do this, and need not."""
    NOT_SEEN = "not seen"
    """The bot runs elsewhere: the check can't look at its process."""
    NOT_RUN = "not run"
    """The step could not be tried, because of what another one found."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a step says. `sent`, `expected` and `where` are for what went wrong."""

    status: Status
    text: str
    sent: str = ""
    expected: str = ""
    where: Where | None = None
    figures: Mapping[str, float | int | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """A step's verdict. `number` counts the steps from 1, `seconds` is what the step took."""

    number: int
    step: str
    title: str
    verdict: Verdict
    seconds: float

    def to_dict(self) -> dict[str, object]:
        """Return it in plain values."""
        verdict = self.verdict
        return {
            "number": self.number,
            "step": self.step,
            "title": self.title,
            "status": verdict.status.value,
            "text": verdict.text,
            "sent": verdict.sent,
            "expected": verdict.expected,
            "where": verdict.where.value if verdict.where is not None else "",
            "figures": dict(verdict.figures),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Settings:
    """How long things may take. The times of a match are told to the bot; those in `_s` are not."""

    per_decision_ms: int = 1_000
    bank_ms: int = 5_000
    startup_ms: int = 10_000
    reconnect_ms: int = 10_000
    launch_s: float = 30.0
    """From the start of its process to its hello."""
    answer_s: float = 5.0
    """For a pong."""
    stop_s: float = 2.0
    """From SIGTERM to its end."""
    limit_s: float = 600.0
    """For all steps together."""


@dataclass(frozen=True, slots=True)
class Report:
    """All findings on one bot. `output` is the end of what it printed, made safe to show."""

    bot: str
    version: str
    sandbox: str
    """The tier that it ran in; empty if it ran elsewhere."""
    settings: Settings
    findings: Sequence[Finding]
    seconds: float
    output: Sequence[str]

    @property
    def may_compete(self) -> bool:
        """Whether no step failed."""
        return not self.failed

    @property
    def failed(self) -> list[Finding]:
        """The steps that failed."""
        return [one for one in self.findings if one.verdict.status is Status.FAILED]

    @property
    def counts(self) -> dict[Status, int]:
        """How many steps went how, in the order of Status; only what there is."""
        counted = Counter(one.verdict.status for one in self.findings)
        return {status: counted[status] for status in Status if counted[status]}

    def to_dict(self) -> dict[str, object]:
        """Return it in plain values, as `tournament check --format json` writes it."""
        return {
            "bot": self.bot,
            "version": self.version,
            "may_compete": self.may_compete,
            "sandbox": self.sandbox,
            "seconds": round(self.seconds, 3),
            "settings": asdict(self.settings),
            "findings": [one.to_dict() for one in self.findings],
            "output": list(self.output),
        }
