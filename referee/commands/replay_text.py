"""A replayed match as text, as one seat saw it, as a spectator did, or with all cards."""

from collections.abc import Iterator

from referee.engine.cards import CARD_TEXTS, Card, Cards, cards_of, cards_text
from referee.engine.events import (
    DealEnded,
    DealStarted,
    Discarded,
    Drew,
    Event,
    LaidOff,
    Melded,
    Recycled,
    Swapped,
)
from referee.engine.notation import meld_text, spelled
from referee.engine.observation import Observation, view
from referee.match.record_lines import (
    DecisionLine,
    ForcedLine,
    ForfeitLine,
    Header,
    MatchEndedLine,
)
from referee.match.replay import Step


class ReplayText:
    """Writes steps for one viewer: a seat, None for a spectator, or `ALL` for who sees all."""

    ALL = -1

    def __init__(self, header: Header, viewer: int | None) -> None:
        self._header = header
        self._viewer = viewer
        width = max(len(bot) for bot in header.bots)
        self._names = [f"seat {seat} {bot:<{width}}" for seat, bot in enumerate(header.bots)]

    @property
    def viewer(self) -> str:
        """Who sees this, in words."""
        if self._viewer is None:
            return "as a spectator saw it"
        return "with all cards" if self._viewer == self.ALL else f"as seat {self._viewer} saw it"

    def _sees_seat(self, seat: int) -> bool:
        return self._viewer in (self.ALL, seat)

    def head(self) -> list[str]:
        """What is fixed for the whole match."""
        header = self._header
        bots = " · ".join(
            f"seat {seat} {bot} {version}"
            for seat, (bot, version) in enumerate(zip(header.bots, header.versions, strict=True))
        )
        return [f"match {header.match_id} · rules {header.rules.preset}", bots]

    def step(self, step: Step) -> list[str]:
        """What happened in a step, as far as the viewer may know it."""
        return [*self._line(step), *(line for event in step.events for line in self._event(event))]

    def _line(self, step: Step) -> Iterator[str]:
        line = step.line
        if isinstance(line, DecisionLine) and self._sees_seat(line.seat):
            yield f"{self._names[line.seat]} · decision {line.decision_id} · {_time(line)}"
            if line.rejected:
                tried = f": {line.tried}" if line.tried else ""
                yield f"  rejected, {line.rejected}{tried}"
            if line.forced:
                yield "  played by the referee"
        elif isinstance(line, ForcedLine) and self._viewer == self.ALL:
            yield f"{self._names[line.seat]} · played by the referee: it has forfeited"
        elif isinstance(line, ForfeitLine):
            yield f"{self._names[line.seat]} · forfeit: {line.fault.value}"
        elif isinstance(line, MatchEndedLine):
            yield f"match ended, {line.termination.value}: {line.text}"
            for seat, (place, total) in enumerate(zip(line.places, line.totals, strict=True)):
                yield f"  {self._names[seat]}  place {place or '–'}  total {total}"

    def _event(self, event: Event) -> list[str]:
        if self._viewer != self.ALL:
            event = view(event, self._viewer)
        if isinstance(event, DealEnded):
            return self._deal_ended(event)
        if isinstance(event, DealStarted):
            totals = " ".join(map(str, event.totals))
            return [f"deal {event.deal} · seat {event.dealer} deals · totals {totals}"]
        if isinstance(event, Recycled):
            how = "shuffled" if event.shuffled else "turned over"
            upcard = "none" if event.upcard is None else _card(event.upcard)
            return [f"  the discard pile is {how}: stock {event.stock_count}, upcard {upcard}"]
        return [f"  {self._names[event.seat]}  {_done(event)}"]

    def _deal_ended(self, event: DealEnded) -> list[str]:
        lines = [f"deal ended, {event.termination.value}" + (", rummy" if event.rummy else "")]
        for seat, hand in enumerate(event.hands):
            won = " · won" if seat == event.winner else ""
            lines.append(
                f"  {self._names[seat]}  {event.points[seat]:+d} = {event.totals[seat]}"
                f"  {_hand(hand)}{won}"
            )
        return lines

    def position(self, step: Step) -> list[str]:
        """The table after a step: hands, melds, piles."""
        public = step.observations[-1]
        lines = []
        for seat, count in enumerate(public.hand_counts):
            mark = ">" if seat == public.turn else " "
            hand = self._hand_of(step.observations[seat], count)
            lines.append(f"{mark} {self._names[seat]} {count:3d}  {hand}".rstrip())
        lines += [f"  meld {meld.meld_id}: {meld_text(meld)}" for meld in public.table]
        upcard = CARD_TEXTS[public.discards[-1]] if public.discards else "none"
        lines.append(
            f"  upcard {upcard} · discards {len(public.discards)} · stock {public.stock_count}"
            f" · totals {' '.join(map(str, public.totals))}"
        )
        return lines

    def hand_after(self, step: Step) -> list[str]:
        """The hand of the seat that acted, if the viewer sees it."""
        line = step.line
        if not isinstance(line, DecisionLine | ForcedLine) or not self._sees_seat(line.seat):
            return []
        return [f"  {self._names[line.seat]}  holds {_hand(step.observations[line.seat].hand)}"]

    def _hand_of(self, observation: Observation, count: int) -> str:
        if observation.seat is not None and self._sees_seat(observation.seat):
            return _hand(observation.hand)
        return "?? " * count


def _time(line: DecisionLine) -> str:
    text = f"{line.charged_us / 1000:.1f} ms"
    if line.forgiven_us:
        text += f", {line.forgiven_us / 1000:.1f} ms forgiven"
    return text + (", away" if line.was_away else "")


def _done(event: Drew | Melded | LaidOff | Swapped | Discarded) -> str:
    match event:
        case Drew():
            return f"{'takes the upcard' if event.from_discard else 'draws'} {_card(event.card)}"
        case Melded():
            return f"melds {meld_text(event.meld)} as {event.meld.meld_id}"
        case LaidOff():
            return f"lays off {spelled(cards_of(event.meaning), event.wilds)} on {event.meld_id}"
        case Swapped():
            return f"puts {_card(event.card)} for {_card(event.wild)} in {event.meld_id}"
        case Discarded():
            return f"discards {_card(event.card)}"


def _card(card: Card | None) -> str:
    return "a card" if card is None else CARD_TEXTS[card]


def _hand(hand: Cards) -> str:
    return cards_text(cards_of(hand)) or "nothing"
