"""Where the matches of a check are played: a referee, partners, and the bot between them."""

import asyncio
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from statistics import fmean

from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSet
from referee.match.outcome import Forfeit, MatchResult, SeatResult, Termination
from referee.match.policy import Policy
from referee.match.spec import MatchSpec, SeatSpec, TimeControl
from referee.service.server import Referee
from tournament.check import partner
from tournament.check.report import Settings, Status, Verdict
from tournament.check.subject import Subject
from tournament.check.where import Where
from tournament.check.wire import Script, Seen, Wire

TRIES = 3
"""How often a match is played that the machine spoils."""
TURNS, LEAST_TURNS = 20, 3
"""Turns of a deal for each seat, at the most: two seats use up a pack in fewer. A slow bot gets
fewer, and never less than the second number: each of them has a draw and what follows it."""
QUICK_PART = 0.1
"""Up to this part of the time for a decision, on average, a bot is not slow."""

_FOREVER_US = 10**12
POLICY = Policy(most_forgiven_us_per_decision=_FOREVER_US, most_forgiven_us_per_match=_FOREVER_US)
"""What a busy machine loses is not charged; it is no reason to play a match again, unrated here."""


CUT = "CHECK"
"""The reason with which the check itself ends a stream."""
_NO_REFUSALS = ("ENDED", "GOODBYE", CUT)


class Unclear(Exception):
    """The machine was too busy to tell whether the bot did well."""


def turns_for(part: float) -> int:
    """Return how many turns a deal may have for a bot that takes this `part` of its time.

    A deal takes a slow bot no longer than one that just is not slow, until so few turns are left
    that there can't be fewer.
    """
    return TURNS if part <= QUICK_PART else max(LEAST_TURNS, int(TURNS * QUICK_PART / part))


@dataclass(frozen=True, slots=True)
class Played:
    """A match that was played. `seat` is the bot's."""

    result: MatchResult
    seen: Seen
    seat: int
    control: TimeControl

    @property
    def outcome(self) -> SeatResult:
        """What it was for the bot."""
        return self.result.seats[self.seat]

    def charged_us(self) -> list[int]:
        """Return what each of the bot's decisions was charged, in order."""
        lines = map(json.loads, self.result.record.splitlines())
        return [
            line["charged_us"]
            for line in lines
            if line["kind"] == "decision" and line["seat"] == self.seat
        ]


@dataclass(slots=True)
class Room:
    """All that the steps share."""

    referee: Referee
    subject: Subject
    wire: Wire
    settings: Settings
    partners: Sequence[str]
    """Tokens of those who are at the table with the bot."""
    on_presets: list[Played] = field(default_factory=list)
    """Matches on the presets as they are, but short."""
    special: list[Played] = field(default_factory=list)
    """Other matches in which nothing was done to the bot."""
    hurry_at: float = math.inf
    """Time of the loop from which on matches are as short as they may be."""
    tell: Callable[[str], None] = lambda _: None
    """Gets words for what is played when a match begins."""
    pace: float = 0.0
    """The part of its time that a decision took on average, in the match where that was most."""
    _matches: int = 0

    def short(
        self, preset: str, changes: Mapping[str, object] | None = None, *, deals: int = 1
    ) -> RuleSet:
        """Return rules of a preset for a match of so many deals, with as few turns as it takes.

        That depends on how slow the bot was so far, and on the time that is left.
        """
        is_late = asyncio.get_running_loop().time() >= self.hurry_at
        turns = LEAST_TURNS if is_late else turns_for(self.pace)
        ends = {"match_end": "fixed_deals", "deals": deals}
        rules = make_ruleset(preset, {**ends, **(changes or {})})
        # Fewer than a tournament may ask for: a check is no contest.
        return replace(rules, turn_cap_per_seat=turns)

    @property
    def regular(self) -> list[Played]:
        """All matches in which nothing was done to the bot."""
        return [*self.on_presets, *self.special]

    @property
    def refusals(self) -> list[str]:
        """Why the referee itself has ended streams, in the words of ErrorInfo."""
        return [one for one in self.referee.sessions_ended if one not in _NO_REFUSALS]

    @property
    def is_struck(self) -> bool:
        """Whether the bot chose illegally on the presets: no news in other matches."""
        return any(one.seen.strikes for one in self.on_presets)

    @property
    def is_late(self) -> bool:
        """Whether the bot was out of time on the presets: no news in other matches."""
        return any(one.seen.late for one in self.on_presets)

    @property
    def control(self) -> TimeControl:
        """The clock of regular matches."""
        settings = self.settings
        return TimeControl(
            per_decision_ms=settings.per_decision_ms,
            bank_ms=settings.bank_ms,
            startup_ms=settings.startup_ms,
            reconnect_ms=settings.reconnect_ms,
        )

    async def play(
        self,
        rules: RuleSet,
        *,
        seats: int = 2,
        seat: int = 0,
        script: Callable[[], Script] = Script,
        first_partner: int = 0,
    ) -> Played:
        """Play a match with the bot at `seat`; it acts first. Raises NotThere, Unclear.

        What the machine spoils, or a partner, is played again with a new `script`.
        """
        others = list(self.partners[first_partner : first_partner + seats - 1])
        for _ in range(TRIES):
            await self.subject.ensure()
            self._matches += 1
            spec = self._spec(f"check-{self._matches}", rules, seats, seat)
            seen = self.wire.watch(spec.match_id, script())
            tokens = [*others[:seat], self.subject.token, *others[seat:]]
            self.tell(
                f"match {self._matches}, {rules.preset}, {seats} seats,"
                f" {rules.turn_cap_per_seat} turns a deal"
            )
            result = await self.referee.play(spec, tokens)
            faulty = [one for one, of in enumerate(result.seats) if of.forfeit and one != seat]
            if result.termination is not Termination.ABORTED and not faulty:
                played = Played(result, seen, seat, spec.time_control)
                charged = played.charged_us()
                if charged:
                    allowed_us = 1_000 * self.settings.per_decision_ms
                    self.pace = max(self.pace, fmean(charged) / allowed_us)
                return played
        raise Unclear(f"in {TRIES} tries no match was undisturbed: {result.text}")

    def _spec(self, match_id: str, rules: RuleSet, seats: int, seat: int) -> MatchSpec:
        """Return the match of this name: its decks are the same in every check."""
        names = [(partner.NAME, partner.VERSION)] * seats
        names[seat] = (self.subject.name or "bot", self.subject.version)
        return MatchSpec(
            match_id=match_id,
            rules=rules,
            seats=tuple(
                SeatSpec(bot, version, _bytes(f"{match_id} seat {number}"))
                for number, (bot, version) in enumerate(names)
            ),
            secret=_bytes(f"{match_id} secret"),
            salt=_bytes(f"{match_id} salt"),
            first_dealer=(seat - 1) % seats,
            time_control=self.control,
        )


def _bytes(text: str) -> bytes:
    return sha256(f"rummy check {text}".encode()).digest()


def fault_of(room: Room, played: Played) -> Verdict | None:
    """Return what was wrong with how a match ended for the bot, if anything was."""
    forfeit, seen = played.outcome.forfeit, played.seen
    if played.result.termination is Termination.NOT_STARTED:
        forfeit = Forfeit.STARTUP
    if forfeit is None:
        return None
    control = played.control
    ending = room.subject.ending()
    if ending and forfeit in (Forfeit.STARTUP, Forfeit.DISCONNECT):
        forfeit = Forfeit.CRASH  # what it comes from
    waiting = f"nothing for decision {seen.last_decision}"
    match forfeit:
        case Forfeit.ILLEGAL:
            sent = seen.strikes[-1].sent if seen.strikes else ""
            text = f"it forfeited the match by {len(seen.strikes)} illegal or malformed choices"
            return failed(text, sent, "a legal action, or the index of one", Where.DECISIONS)
        case Forfeit.TIME:
            allowed = f"answers within {control.per_decision_ms} ms and the bank"
            sent = waiting if seen.last_decision not in seen.answered else "answers, but late"
            text = "it forfeited the match: it was out of time too often"
            return failed(text, sent, allowed, Where.CLOCK)
        case Forfeit.STARTUP:
            allowed = f"ready within {control.startup_ms} ms of match_starting"
            text = "it forfeited the match: it was not ready in time"
            return failed(text, "no ready", allowed, Where.MESSAGES)
        case Forfeit.CRASH:
            sent = waiting if seen.last_decision else "no ready"
            return failed(f"its process {ending}", sent, "that it plays on", Where.MESSAGES)
        case Forfeit.DISCONNECT:
            allowed = f"a new stream with hello within {control.reconnect_ms} ms"
            text = "it forfeited the match: it was disconnected for too long"
            return failed(text, "no hello after its stream had ended", allowed, Where.LOST)
        case Forfeit.RESIGN:
            text = "it forfeited the match: it said goodbye"
            return failed(text, "goodbye", "none while a match is running", Where.MESSAGES)
        case Forfeit.PROTOCOL:
            text = "it forfeited the match: it broke the protocol repeatedly"
            sent = f"what the referee refused as {', '.join(room.refusals) or 'a fault'}"
            return failed(text, sent, "messages within welcome.limits", Where.MESSAGES)


def failed(text: str, sent: str = "", expected: str = "", where: Where | None = None) -> Verdict:
    """Return that a step failed."""
    return Verdict(Status.FAILED, text, sent, expected, where)
