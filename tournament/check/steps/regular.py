"""Steps that let the bot play: presets, tables, decks, and how it answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from referee.engine.presets import PRESETS
from rummy.referee.v1 import rummy_pb2
from tournament.check.report import Status, Verdict
from tournament.check.room import Played, Room, fault_of
from tournament.check.where import Where
from tournament.check.wire import Refused

_Tables = Sequence[tuple[str, Mapping[str, object]]]
_WILD_TABLES: Sequence[Mapping[str, object]] = (
    {"wilds": "jokers", "jokers": 4},
    {"wilds": "jokers_and_deuces", "jokers": 4, "wild_swap": True, "ace": "high_or_low"},
)


async def presets(room: Room) -> Verdict:
    """Two matches with two seats on each preset, of one deal and of two."""
    matches = room.on_presets
    for preset in PRESETS:
        for seat, deals in ((0, 1), (1, 2)):
            matches.append(await room.play(room.short(preset, deals=deals), seat=seat))
            fault = fault_of(room, matches[-1])
            if fault is not None:
                return _at(f"preset {preset}", fault)
    phases = _phases(matches)
    draws, plays = phases[rummy_pb2.PHASE_DRAW], phases[rummy_pb2.PHASE_PLAY]
    text = f"{', '.join(PRESETS)}: {draws} decisions to draw, {plays} to play"
    figures = {"matches": len(matches), "draws": draws, "plays": plays}
    return Verdict(Status.PASSED, text, figures=figures)


async def six_seats(room: Room) -> Verdict:
    """Two matches of six: one deal on one pack, and deals until seats are out of the match."""
    tables: _Tables = (("basic", {}), ("standard", {"match_end": "elimination", "ceiling": 50}))
    return _ended(room, await _all(room, tables, [2], seats=6), "six seats")


async def two_packs(room: Room) -> Verdict:
    """Two packs: every card is there twice."""
    tables = [(preset, {"packs": {"2": 2}}) for preset in ("standard", "basic")]
    return _ended(room, await _all(room, tables, [0]), "two packs")


async def wild_cards(room: Room) -> Verdict:
    """Wild jokers; then wild deuces too, with swaps and a high ace."""
    tables = [("basic", changes) for changes in _WILD_TABLES]
    matches = await _all(room, tables, [0, 1])
    held = sum(played.seen.wild_cards for played in matches)
    verdict = _ended(room, matches, "wild cards")
    return replace(verdict, figures={**verdict.figures, "held": held})


async def _all(
    room: Room,
    tables: _Tables,
    at: Sequence[int],
    seats: int = 2,
) -> list[Played]:
    """Play a match for each preset with its changes and each seat `at` which the bot sits.

    It ends with the first one that goes wrong, if one does.
    """
    matches: list[Played] = []
    for preset, changes in tables:
        for seat in at:
            rules = room.short(preset, changes)
            matches.append(await room.play(rules, seats=seats, seat=seat))
            if fault_of(room, matches[-1]) is not None:
                return matches
    return matches


def _ended(room: Room, matches: Sequence[Played], place: str) -> Verdict:
    """Return how special matches went. What went wrong in regular ones already is no news here."""
    room.special += matches
    for played in matches:
        fault = fault_of(room, played)
        if fault is not None:
            return _at(place, fault)
    decisions = sum(one.outcome.decisions for one in matches)
    text = f"{place}: {len(matches)} matches, {decisions} decisions"
    figures = {"matches": len(matches), "decisions": decisions}
    strikes = [one for played in matches for one in played.seen.strikes]
    if strikes:
        status = Status.WARNING if room.is_struck else Status.FAILED
        return _struck(status, strikes, text)
    late = [one for played in matches for one in played.seen.late]
    if late:
        status = Status.WARNING if room.is_late else Status.FAILED
        return _late(status, late, text)
    return Verdict(Status.PASSED, text, figures=figures)


async def answers(room: Room) -> Verdict:
    """How the bot answered on the presets: in what way, and without strikes."""
    played = [one for one in room.regular if one.seen.phases]
    indexes = sum(one.seen.indexes for one in played)
    plans = sum(one.seen.plans for one in played)
    longest = max((one.seen.longest for one in played), default=0)
    ways = []
    if indexes:
        ways.append(f"{indexes} indexes")
    if plans:
        whole = f"up to {longest} actions" if longest > 1 else "one action each: no turn plans"
        ways.append(f"{plans} plans ({whole})")
    text = " and ".join(ways) or "no answers in time"
    strikes = [one for match in room.on_presets for one in match.seen.strikes]
    if strikes:
        return _struck(Status.FAILED, strikes, text)
    late = [one for match in room.on_presets for one in match.seen.late]
    if late:
        return _late(Status.FAILED, late, text)
    if not ways:
        return Verdict(Status.NOT_RUN, "it made no choice in any match")
    figures = {"indexes": indexes, "plans": plans, "longest_plan": longest}
    return Verdict(Status.PASSED, text, figures=figures)


def _struck(status: Status, strikes: Sequence[Refused], text: str) -> Verdict:
    return Verdict(
        status,
        f"{text}; {len(strikes)} were illegal or malformed, the first: {strikes[0].text}",
        strikes[0].sent,
        "legal actions, or indexes of legal_actions",
        Where.REJECTIONS,
    )


def _late(status: Status, late: Sequence[Refused], text: str) -> Verdict:
    return Verdict(
        status,
        f"{text}; {len(late)} were out of time, the first: {late[0].text}",
        late[0].sent or f"nothing for decision {late[0].decision_id}",
        "answers in time",
        Where.CLOCK,
    )


def _at(place: str, fault: Verdict) -> Verdict:
    return Verdict(fault.status, f"{place}: {fault.text}", fault.sent, fault.expected, fault.where)


def _phases(matches: Sequence[Played]) -> Counter[int]:
    return sum((one.seen.phases for one in matches), Counter())
