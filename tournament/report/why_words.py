"""Sentences: how a match ended for one bot."""

from collections.abc import Sequence
from dataclasses import dataclass

from referee.match.hindsight import Hindsight
from referee.match.outcome import Forfeit, Termination
from referee.match.record_lines import Header


@dataclass(frozen=True, slots=True)
class Lost:
    """How a match ended, by seat, and whose side it is told from; `is_so`: whether it lost."""

    header: Header
    seat: int
    places: Sequence[int]
    totals: Sequence[int]
    forfeits: Sequence[Forfeit | None]
    termination: str
    hindsight: Hindsight

    @property
    def is_so(self) -> bool:
        """Whether somebody was placed before it."""
        return self.places[self.seat] > 1

    @property
    def is_draw(self) -> bool:
        """Whether it shares the first place."""
        return self.places[self.seat] == 1 and self.places.count(1) > 1


def why(lost: Lost) -> str:
    """Say in words why it lost, or that it did not."""
    forfeit = lost.forfeits[lost.seat]
    if lost.termination == Termination.NOT_STARTED:
        return "no seat was ready in time: the match has no result"
    if lost.termination == Termination.ABORTED:
        return "the match was called off through nobody's fault: it has no result"
    if forfeit is not None:
        return _forfeited(lost, forfeit)
    if lost.termination == Termination.FORFEIT:
        return "it won: every other seat forfeited"
    return _by_points(lost)


def _by_points(lost: Lost) -> str:
    place = lost.places[lost.seat]
    others = [total for seat, total in enumerate(lost.totals) if seat != lost.seat]
    points = f"{lost.totals[lost.seat]} points against {_listed(others)}"
    if lost.header.rules.scoring == "penalty":
        points += " (penalty points: fewer are better)"
    end = ""
    if lost.termination == Termination.ADJUDICATED:
        end = "; the most deals were played, and the points as they stood counted"
    if lost.is_draw:
        return f"it did not lose: it shares the first place, with {points}{end}"
    if not lost.is_so:
        return f"it won, with {points}{end}"
    return f"it lost by points: place {place} of {len(lost.places)}, with {points}{end}"


def _forfeited(lost: Lost, forfeit: Forfeit) -> str:
    header, control = lost.header, lost.header.time_control
    strikes = [one.line.rejected for one in lost.hindsight.strikes]
    late = strikes.count("time_up")
    match forfeit:
        case Forfeit.ILLEGAL:
            count, most = len(strikes) - late, header.illegal_tolerated
            text = f"it made {count} illegal or malformed choices, and {most} are tolerated"
        case Forfeit.TIME:
            text = f"it was out of time {late} times, and {header.time_tolerated} are tolerated"
        case Forfeit.DISCONNECT:
            text = (
                "its connection was lost while it was to act, and the time of the decision, the"
                " bank and the time to come back were spent"
            )
        case Forfeit.CRASH:
            text = "its process ended during the match"
        case Forfeit.STARTUP:
            text = (
                f"it was not ready to play within {control.startup_ms} ms, or its process ended"
                " before it was"
            )
        case Forfeit.RESIGN:
            text = "it said goodbye while the match was running"
        case Forfeit.PROTOCOL:
            text = "its stream was closed repeatedly for what it sent"
    return f"it forfeited: {text}{_before_play(lost)}"


def _before_play(lost: Lost) -> str:
    if not lost.hindsight.may_precede_play:
        return ""
    return ". Nothing had been played: it may have been before its first decision was put to it"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
