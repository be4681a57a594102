"""Whatever the service writes by hand is read back with the generated code, field by field."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest

from referee.engine.actions import (
    DISCARDS,
    DRAW_DISCARD,
    DRAW_STOCK,
    Action,
    MalformedAction,
    Verb,
    Wild,
)
from referee.engine.cards import CARD_TEXTS, JOKER, Card, cards_of
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
from referee.engine.legality import legal_actions
from referee.engine.observation import Observation, observe, view
from referee.engine.shuffle import SeededShuffler
from referee.engine.state import State, TableMeld
from referee.engine.transition import apply, start_deal
from referee.match.clock import SeatClock
from referee.match.policy import Policy
from referee.match.seat_player import Decision
from referee.match.spec import TimeControl
from referee.service.codec import action_bytes, decode_action, event_bytes, observation_bytes
from referee.service.messages import MatchMessages
from rummy.referee.v1 import play_pb2 as play
from rummy.referee.v1 import rummy_pb2 as pb
from tests.engine.random_rules import TABLES, random_rules
from tests.match.fakes import make_spec

DEALS_PER_TABLE = 4


# --- what is expected ----------------------------------------------------------------------------


def card_number(card: Card | None) -> int:
    """By the name of the enum value: the number in the schema is not the engine's."""
    return 0 if card is None else pb.Card.Value(f"CARD_{CARD_TEXTS[card]}")


def card_numbers(cards: Sequence[Card]) -> list[int]:
    return [card_number(card) for card in cards]


def check_meanings(
    cards: Sequence[int],
    meanings: Sequence[int],
    order: Sequence[Card],
    wilds: Sequence[Wild],
    *,
    in_order: bool,
) -> None:
    """Cards with meanings stand for `order`, and their wild ones are `wilds`."""
    if not wilds:
        assert list(meanings) == []
        assert list(cards) == card_numbers(order)
        return
    assert len(meanings) == len(cards)
    pairs = list(zip(cards, meanings, strict=True))
    stand_for = [meaning or card for card, meaning in pairs]
    wanted = card_numbers(order)
    assert stand_for == wanted if in_order else sorted(stand_for) == sorted(wanted)
    assert Counter(pair for pair in pairs if pair[1]) == Counter(
        (card_number(face), card_number(meaning)) for face, meaning in wilds
    )


def check_action(message: pb.Action, action: Action) -> None:
    name = {Verb.LAY_OFF: "LAY_OFF"}.get(action.verb, action.verb.value.replace(" ", "_").upper())
    assert pb.ActionType.Name(message.type) == f"ACTION_TYPE_{name}"
    order = cards_of(action.meaning)
    check_meanings(message.cards, message.meanings, order, action.wilds, in_order=False)
    assert message.meld_id == action.meld_id


def check_meld(message: pb.Meld, meld: TableMeld) -> None:
    assert message.meld_id == meld.meld_id
    check_meanings(message.cards, message.meanings, meld.shape.cards, meld.wilds, in_order=True)


def check_observation(message: pb.Observation, seen: Observation) -> None:
    assert message.seat == (seen.seat or 0)
    assert (message.deal, message.dealer, message.turn) == (seen.deal, seen.dealer, seen.turn)
    assert pb.Phase.Name(message.phase) == f"PHASE_{seen.phase.value.upper()}"
    assert list(message.hand) == card_numbers(cards_of(seen.hand))
    assert tuple(message.hand_counts) == seen.hand_counts
    assert message.stock_count == seen.stock_count
    assert list(message.discard_pile) == card_numbers(seen.discards)
    assert len(message.table) == len(seen.table)
    for meld_message, meld in zip(message.table, seen.table, strict=True):
        check_meld(meld_message, meld)
    assert tuple(message.played) == seen.played
    assert message.taken == card_number(seen.taken)
    assert message.melds_this_turn == seen.melds_now
    assert (message.recycles, message.turns) == (seen.recycles, seen.turns)
    assert tuple(message.totals) == seen.totals
    assert tuple(message.eliminated) == seen.out


def check_event(message: pb.Event, event: Event) -> None:
    kind = message.WhichOneof("event")
    match event:
        case DealStarted():
            assert kind == "deal_started"
            started = message.deal_started
            assert (started.deal, started.dealer) == (event.deal, event.dealer)
            own = [hand for hand in event.hands if hand is not None]
            assert len(own) <= 1
            assert list(started.hand) == card_numbers(cards_of(sum(own)))
            assert tuple(started.hand_counts) == event.hand_counts
            assert started.upcard == card_number(event.upcard)
            assert started.stock_count == event.stock_count
            assert tuple(started.totals) == event.totals
        case Drew():
            assert kind == "drew"
            drew = message.drew
            assert (drew.seat, drew.from_discard) == (event.seat, event.from_discard)
            assert drew.card == card_number(event.card)
        case Melded():
            assert kind == "melded"
            assert message.melded.seat == event.seat
            check_meld(message.melded.meld, event.meld)
        case LaidOff():
            assert kind == "laid_off"
            laid = message.laid_off
            assert (laid.seat, laid.meld_id) == (event.seat, event.meld_id)
            order = cards_of(event.meaning)
            check_meanings(laid.cards, laid.meanings, order, event.wilds, in_order=False)
        case Swapped():
            assert kind == "swapped"
            swapped = message.swapped
            assert (swapped.seat, swapped.meld_id) == (event.seat, event.meld_id)
            assert (swapped.card, swapped.wild) == (
                card_number(event.card),
                card_number(event.wild),
            )
        case Discarded():
            assert kind == "discarded"
            assert message.discarded.seat == event.seat
            assert message.discarded.card == card_number(event.card)
        case Recycled():
            assert kind == "recycled"
            recycled = message.recycled
            assert (recycled.recycles, recycled.stock_count) == (event.recycles, event.stock_count)
            assert recycled.shuffled == event.shuffled
            assert recycled.upcard == card_number(event.upcard)
        case DealEnded():
            assert kind == "deal_ended"
            check_deal_ended(message.deal_ended, event)


def check_deal_ended(ended: pb.DealEnded, event: DealEnded) -> None:
    name = f"DEAL_TERMINATION_{event.termination.value.upper()}"
    assert pb.DealTermination.Name(ended.termination) == name
    assert (ended.winner if ended.HasField("winner") else None) == event.winner
    by = {None: "UNSPECIFIED", Verb.MELD: "MELD", Verb.LAY_OFF: "LAY_OFF", Verb.DISCARD: "DISCARD"}
    assert pb.ActionType.Name(ended.by) == f"ACTION_TYPE_{by[event.by]}"
    assert ended.rummy == event.rummy
    assert tuple(ended.points) == event.points
    assert tuple(ended.totals) == event.totals
    hands = [card_numbers(cards_of(hand)) for hand in event.hands]
    assert [list(hand.cards) for hand in ended.hands] == hands
    assert tuple(ended.eliminated) == event.out


# --- random play ---------------------------------------------------------------------------------


def random_play(preset: str, seats: int) -> Iterator[tuple[State, list[Event], str]]:
    """Positions of whole deals under random rules, with the events that led to each."""
    chance = random.Random(f"codec {preset} {seats}")
    for deal in range(DEALS_PER_TABLE):
        rules, overrides = random_rules(chance, preset, seats)
        totals = [chance.choice((0, 7, 127, 128, 300)) for _ in range(seats)]
        case = f"seed 'codec {preset} {seats}', deal {deal}, {overrides}"
        shuffler = SeededShuffler(chance.randbytes(32))
        number, dealer = chance.choice((1, 127, 128)), chance.randrange(seats)
        state, events = start_deal(rules, totals, shuffler, deal=number, dealer=dealer)
        eager = chance.random()
        while True:
            yield state, events, case
            legal = legal_actions(state)
            if not legal:
                break
            plays = [action for action in legal if action.size > 1 or action.verb is Verb.SWAP]
            some = plays if plays and chance.random() < eager else legal
            events = apply(state, chance.choice(some))


@pytest.mark.parametrize(("preset", "seats"), TABLES)
def test_everything_reads_back_as_it_was(preset: str, seats: int) -> None:
    chance = random.Random(f"viewer {preset} {seats}")
    kinds = set()
    for state, events, case in random_play(preset, seats):
        viewer: int | None = chance.choice([None, *range(seats)])
        seen = observe(state, viewer)
        written = observation_bytes(seen)
        observation = pb.Observation.FromString(written)
        try:
            check_observation(observation, seen)
            # Nothing unknown, nothing twice, defaults left out, fields in their order.
            assert observation.SerializeToString() == written
            for event in events:
                viewed = view(event, viewer)
                event_written = event_bytes(viewed)
                message = pb.Event.FromString(event_written)
                check_event(message, viewed)
                assert message.SerializeToString() == event_written
                kinds.add(type(event))
            for action in chance.sample(list(legal_actions(state)), len(legal_actions(state)))[:12]:
                action_written = action_bytes(action)
                parsed = pb.Action.FromString(action_written)
                check_action(parsed, action)
                assert parsed.SerializeToString() == action_written
                assert decode_action(shuffled(chance, parsed)) == action
        except AssertionError as error:
            raise AssertionError(f"{case}: {error}") from error
    assert kinds >= {DealStarted, Drew, Discarded, DealEnded}


def shuffled(chance: random.Random, message: pb.Action) -> pb.Action:
    """The same action with its cards in another order; sometimes with meanings that say nothing."""
    order = list(range(len(message.cards)))
    chance.shuffle(order)
    meanings = list(message.meanings)
    if not meanings and chance.random() < 0.3:
        meanings = [pb.CARD_UNSPECIFIED] * len(order)
    return pb.Action(
        type=message.type,
        cards=[message.cards[place] for place in order],
        meanings=[meanings[place] for place in order] if meanings else [],
        meld_id=message.meld_id,
    )


def test_random_play_has_every_kind_of_event() -> None:
    plays = (random_play(preset, seats) for preset, seats in TABLES)
    assert (
        len({type(event) for played in plays for _, events, _ in played for event in events}) == 8
    )


@pytest.mark.parametrize("seat", range(6))
@pytest.mark.parametrize("number", [0, 1, 127, 128, 16_383, 16_384, 2_097_152, 2**31])
def test_numbers_of_any_size_and_seat_zero(seat: int, number: int) -> None:
    state, _ = start_deal(make_spec(6).rules, [number] * 6, SeededShuffler(bytes(32)))
    state.turns = state.recycles = number
    state.dealer = state.turn = seat
    state.out = ((0,), (5, 2))
    seen = observe(state, seat)
    check_observation(pb.Observation.FromString(observation_bytes(seen)), seen)
    assert seen.out == (0, 2, 5)


# --- actions that a bot sends --------------------------------------------------------------------

A = pb.Action
MALFORMED: dict[str, Callable[[], pb.Action]] = {
    "no type": pb.Action,
    "unknown type": lambda: A(type=7),  # type: ignore[arg-type]
    "negative type": lambda: A(type=-1),  # type: ignore[arg-type]
    "draw with a card": lambda: A(type=pb.ACTION_TYPE_DRAW_STOCK, cards=[pb.CARD_AC]),
    "draw with a meld": lambda: A(type=pb.ACTION_TYPE_DRAW_DISCARD, meld_id=1),
    "draw with a meaning": lambda: A(type=pb.ACTION_TYPE_DRAW_STOCK, meanings=[pb.CARD_AC]),
    "meld of nothing": lambda: A(type=pb.ACTION_TYPE_MELD),
    "meld of fourteen": lambda: A(type=pb.ACTION_TYPE_MELD, cards=[pb.CARD_AC] * 14),
    "meld with a meld": lambda: A(type=pb.ACTION_TYPE_MELD, cards=[pb.CARD_AC], meld_id=1),
    "no card": lambda: A(type=pb.ACTION_TYPE_MELD, cards=[pb.CARD_UNSPECIFIED]),
    "card too high": lambda: A(type=pb.ACTION_TYPE_DISCARD, cards=[54]),  # type: ignore[list-item]
    "card negative": lambda: A(type=pb.ACTION_TYPE_DISCARD, cards=[-3]),  # type: ignore[list-item]
    "meaning a joker": lambda: A(
        type=pb.ACTION_TYPE_MELD, cards=[pb.CARD_XX], meanings=[pb.CARD_XX]
    ),
    "fewer meanings": lambda: A(
        type=pb.ACTION_TYPE_MELD, cards=[pb.CARD_XX, pb.CARD_AC], meanings=[pb.CARD_AC]
    ),
    "more meanings": lambda: A(
        type=pb.ACTION_TYPE_LAY_OFF,
        cards=[pb.CARD_XX],
        meanings=[pb.CARD_AC, pb.CARD_2C],
        meld_id=1,
    ),
    "layoff of nothing": lambda: A(type=pb.ACTION_TYPE_LAY_OFF, meld_id=1),
    "swap of two": lambda: A(type=pb.ACTION_TYPE_SWAP, cards=[pb.CARD_AC, pb.CARD_2C], meld_id=1),
    "swap of a meaning": lambda: A(
        type=pb.ACTION_TYPE_SWAP, cards=[pb.CARD_XX], meanings=[pb.CARD_AC], meld_id=1
    ),
    "discard of nothing": lambda: A(type=pb.ACTION_TYPE_DISCARD),
    "discard of two": lambda: A(type=pb.ACTION_TYPE_DISCARD, cards=[pb.CARD_AC, pb.CARD_AC]),
    "discard with a meld": lambda: A(type=pb.ACTION_TYPE_DISCARD, cards=[pb.CARD_AC], meld_id=2),
    "discard with a meaning": lambda: A(
        type=pb.ACTION_TYPE_DISCARD, cards=[pb.CARD_XX], meanings=[pb.CARD_AC]
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_action(case: str) -> None:
    with pytest.raises(MalformedAction) as caught:
        decode_action(MALFORMED[case]())
    # The author of the bot sits elsewhere: the text names the value and what is allowed.
    assert len(str(caught.value)) > 15


def test_random_messages_are_actions_or_malformed() -> None:
    """Bytes at random, messages at random: an action of the rules or a refusal, nothing else."""
    chance = random.Random("fuzz")
    state, _ = start_deal(make_spec().rules, [0, 0], SeededShuffler(bytes(32)))
    kinds = Counter[str]()
    for _ in range(4_000):
        size = chance.choice((0, 1, 1, 2, 3, 4, 13, 14))
        few = chance.sample(range(54), 2)
        cards = [
            chance.choice(few) if chance.random() < 0.5 else chance.randrange(56)
            for _ in range(size)
        ]
        message = pb.Action()
        message.type = chance.randrange(8)  # type: ignore[assignment]
        message.cards.extend(cards)  # type: ignore[arg-type]
        if chance.random() < 0.5:
            message.meanings.extend(chance.choice((0, 0, 1, 5, 53, 54)) for _ in cards)  # type: ignore[misc]
        message.meld_id = chance.choice((0, 0, 1, 2, 2**32 - 1))
        try:
            action = decode_action(message)
        except MalformedAction:
            kinds["malformed"] += 1
            continue
        kinds["action"] += 1
        assert decode_action(pb.Action.FromString(action_bytes(action))) == action
        assert action.size == len(message.cards)
        assert state.copy() == state
    assert min(kinds["malformed"], kinds["action"]) > 200


def test_actions_without_cards() -> None:
    assert decode_action(A(type=pb.ACTION_TYPE_DRAW_STOCK)) == DRAW_STOCK
    assert decode_action(A(type=pb.ACTION_TYPE_DRAW_DISCARD)) == DRAW_DISCARD
    for card in range(JOKER + 1):
        wire = A(type=pb.ACTION_TYPE_DISCARD, cards=[card_number(card)])  # type: ignore[list-item]
        assert decode_action(wire) == DISCARDS[card]


# --- a decision ----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_complete", [True, False])
@pytest.mark.parametrize("number", [0, 1, 2_500])
def test_decision(number: int, is_complete: bool) -> None:
    spec = make_spec(match_id="some match")
    state, events = start_deal(spec.rules, [0, 0], SeededShuffler(bytes(32)))
    clock = SeatClock(TimeControl())
    clock.grant()
    clock.charge(400_000, 7, with_reconnect=False)
    clock.charge(3_000_000, 9, with_reconnect=False)
    legal = [DISCARDS[place % 53] for place in range(number)]
    decision = Decision(300, observe(state, 1), legal, is_complete, clock)
    written = MatchMessages(spec, Policy()).update(1, 128, events, decision)
    response = play.PlayResponse.FromString(written)
    assert response.SerializeToString() == written
    assert response.WhichOneof("message") == "update"
    update = response.update
    assert (update.match_id, update.first_event_number) == ("some match", 128)
    assert len(update.events) == len(events)
    check_event(update.events[0], view(events[0], 1))
    told = update.decision
    assert told.decision_id == 300
    check_observation(told.observation, observe(state, 1))
    assert len(told.legal_actions) == number
    for message, action in zip(told.legal_actions, legal, strict=False):
        check_action(message, action)
    assert told.legal_actions_cut is not is_complete
    assert (told.decision_left_us, told.bank_left_us) == (0, 27_600_000)
    assert told.charged_us == 3_400_000
    assert (told.last_charged_us, told.last_forgiven_us) == (3_000_000, 9)


def test_update_without_decision_has_none() -> None:
    spec = make_spec()
    _, events = start_deal(spec.rules, [0, 0], SeededShuffler(bytes(32)))
    messages = MatchMessages(spec, Policy())
    update = play.PlayResponse.FromString(messages.update(0, 1, events, None)).update
    assert not update.HasField("decision")
    assert update.first_event_number == 1
    assert list(update.events[0].deal_started.hand) != []
