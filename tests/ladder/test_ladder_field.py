"""The bookkeeping of a ladder, without bots, clock or database."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.scale import repeatable
from tournament.ladder.field import Field, Place, Rules
from tournament.ladder.standing import NOTHING_YET
from tournament.schedule.fixtures import Fixture


class Hall:
    """A field whose bots come and go as a test likes."""

    def __init__(self, *bots: str, **rules: int) -> None:
        self.rooms: dict[str, int] = {}
        settings = {"seats": 2, "most_matches": 10, "pool_wait_s": 2, **rules}
        self.field = Field(
            Rules(rules="rules", **settings),
            lambda entrant: self.rooms.get(entrant, 0),
            NOTHING_YET.skills,
        )
        self.chance = Random(5).randrange
        for bot in bots:
            self.enter(bot)

    def enter(self, bot: str, now_s: float = 0.0, room: int = 1) -> Place:
        """Let a new bot in that takes so many matches at once."""
        entrant = f"{bot}@1"
        place = Place(entrant, f"hash of {bot}", bot, "", "")
        self.field.enter(place)
        self.rooms[entrant] = room
        self.field.arrived(entrant, now_s)
        return place

    def make(self, now_s: float, *, only_newcomers: bool = False) -> list[Fixture]:
        """Make encounters; their first legs."""
        made = self.field.next_encounters(self.chance, now_s, only_newcomers=only_newcomers)
        return [encounter.legs[0] for encounter in made]

    def end(self, leg: Fixture, now_s: float, *failed: bool, counts: bool = True) -> list[str]:
        """End a leg; who is to be paused."""
        flags = failed or (False,) * len(leg.seats)
        return [p.entrant for p in self.field.ended(leg, flags, now_s, counts=counts)]


def test_an_encounter_is_each_bot_once_in_each_seat() -> None:
    hall = Hall("a", "b")
    [leg] = hall.make(10.0)
    assert hall.make(10.0) == []
    assert hall.end(leg, 11.0) == []
    hall.field.rules = Rules(2, "rules", legs_apart=0)
    later = hall.field.next_leg(11.0)
    assert later is not None
    assert later.seats == tuple(reversed(leg.seats))
    assert (later.first_dealer, later.position) == (leg.first_dealer, leg.position + 1)
    assert hall.field.whole == 0
    hall.end(later, 12.0)
    assert (hall.field.whole, hall.field.matches, hall.field.open) == (1, 2, {})
    [third] = hall.make(20.0)
    assert third.encounter_id != leg.encounter_id
    assert third.first_dealer != leg.first_dealer
    assert third.position == leg.position + 2


def test_legs_lie_apart_until_they_have_waited_long_enough() -> None:
    hall = Hall("a", "b")
    [first] = hall.make(10.0)
    hall.end(first, 11.0)
    assert hall.field.next_leg(12.0) is None
    [second] = hall.make(12.0)
    hall.end(second, 13.0)
    assert hall.field.next_leg(13.0) is None
    [third] = hall.make(13.0)
    hall.end(third, 14.0)
    # Both have begun two others since the first one.
    leg = hall.field.next_leg(14.0)
    assert leg is not None
    assert leg.encounter_id == first.encounter_id
    hall.end(leg, 15.0)
    # Now nothing else is played: time is enough.
    assert hall.field.next_leg(15.1) is not None


def test_a_leg_that_waited_too_long_keeps_its_bots() -> None:
    hall = Hall("a", "b", "c", "d")
    legs = hall.make(10.0)
    assert len(legs) == 2
    for leg in legs:
        hall.end(leg, 11.0)
    # One of each waits elsewhere, so no later leg can begin; and nobody begins anything else.
    first = set(legs[0].seats)
    [missing] = sorted(first)[:1]
    hall.field.places[missing].busy += 1
    assert hall.field._held(60.0) == {"a@1", "b@1", "c@1", "d@1"}
    assert hall.make(60.0) == []
    later = hall.field.next_leg(60.0)
    assert later is not None
    assert later.encounter_id == legs[1].encounter_id
    # Who left is not waited for.
    hall.rooms[missing] = 0
    assert hall.field._held(60.0).isdisjoint(first)


def test_newcomers_come_before_all_others() -> None:
    hall = Hall("a", "b", "c", "d", most_matches=2)
    for number in range(6):
        for leg in hall.make(10.0 + number):
            hall.end(leg, 10.5 + number)
    hall.enter("new", 20.0)
    [leg] = hall.make(23.0, only_newcomers=True)
    assert "new@1" in leg.seats
    assert hall.make(23.0, only_newcomers=True) == []


def test_there_is_a_choice_unless_somebody_waits_for_long() -> None:
    hall = Hall(*"abcdefgh")
    legs = hall.make(10.0)
    assert len(legs) == 4
    hall.end(legs[0], 11.0)
    assert hall.make(11.5) == []  # two of eight: they would meet again
    assert len(hall.make(13.1)) == 1
    hall.end(legs[1], 14.0)
    hall.end(legs[2], 14.0)
    assert len(hall.make(14.0)) == 2  # four of eight


def test_limits_on_matches_at_once() -> None:
    hall = Hall(most_matches=3, most_per_bot=2)
    for bot in "abcdefgh":
        hall.enter(bot, room=5)
    legs = hall.make(10.0)
    assert len(legs) == 3
    assert hall.make(10.0) == []
    wide = Hall(most_matches=100, most_per_bot=2)
    for bot in "ab":
        wide.enter(bot, room=5)
    assert [len(wide.make(10.0)) for _ in range(3)] == [1, 1, 0]


def test_an_overloaded_machine_gets_fewer_matches_for_a_while() -> None:
    hall = Hall(*(f"b{number}" for number in range(20)), most_matches=8)
    legs = hall.make(10.0)
    assert len(legs) == 8
    hall.field.adapt(is_overloaded=True)
    hall.field.adapt(is_overloaded=True)
    assert hall.field.most_now == 4  # 8, 6, 4.5
    for leg in legs[:4]:
        hall.field.aborted(leg, 11.0)
    assert hall.field.running == 4
    assert hall.make(20.0) == []
    for leg in legs[4:6]:
        hall.end(leg, 21.0)
    assert len(hall.make(30.0)) == 2
    # A match that was aborted says nothing about the machine.
    assert hall.field.most_now == 4


@given(st.lists(st.booleans()), st.integers(1, 1_000))
def test_a_quarter_of_the_matches_always_runs_and_all_of_them_again(
    loads: list[bool], most: int
) -> None:
    field = Hall(most_matches=most).field
    for is_overloaded in loads:
        before = field.most_now
        field.adapt(is_overloaded=is_overloaded)
        assert field.most_now <= before if is_overloaded else field.most_now >= before
        assert max(1, most // 4) <= field.most_now <= most
    for _ in range(12):
        field.adapt(is_overloaded=False)
    assert field.most_now == most


def test_three_failures_in_a_row_pause() -> None:
    hall = Hall("bad", "good", legs_apart=0)
    paused: list[str] = []
    now = 10.0
    for failed in (True, True, False, True, True, True):
        leg = hall.field.next_leg(now) or hall.make(now)[0]
        flags = [failed and entrant == "bad@1" for entrant in leg.seats]
        paused += hall.end(leg, now + 1, *flags)
        now += 10
        assert paused == [] or now > 60
    assert paused == ["bad@1"]
    place = hall.field.places["bad@1"]
    place.paused = "why"
    assert hall.make(100.0) == []
    assert hall.field.next_leg(100.0) is None
    hall.field.readmit(place)
    assert (place.paused, place.failures) == ("", 0)
    assert hall.field.next_leg(100.0) or hall.make(100.0)


def test_a_leg_without_result_closes_its_encounter() -> None:
    hall = Hall("a", "b", legs_apart=0)
    [leg] = hall.make(10.0)
    hall.end(leg, 11.0, True, True, counts=False)
    assert (hall.field.open, hall.field.whole) == ({}, 0)
    [leg] = hall.make(20.0)
    hall.field.aborted(leg, 21.0)
    assert (hall.field.open, hall.field.matches, hall.field.running) == ({}, 1, 0)
    [again] = hall.make(30.0)
    assert again.encounter_id != leg.encounter_id  # new deals


def test_a_leg_that_could_not_begin_comes_again() -> None:
    hall = Hall("a", "b")
    [leg] = hall.make(10.0)
    hall.field.put_back(leg, 10.0)
    assert {place.busy for place in hall.field.places.values()} == {0}
    assert hall.field.next_leg(50.0) == leg
    assert hall.field.next_leg(50.0) is None


def test_who_is_withdrawn_is_waited_for_no_more() -> None:
    hall = Hall("a", "b")
    [leg] = hall.make(10.0)
    hall.field.places["a@1"].withdrawn = True
    assert hall.field.closed_by_withdrawal() == []  # it is being played
    hall.end(leg, 11.0)
    assert hall.field.closed_by_withdrawal() == [leg.encounter_id]
    assert hall.field.open == {}


def test_a_stored_ladder_goes_on() -> None:
    hall = Hall("a", "b", "c")
    hall.field.begin_from([("a@1", "b@1"), ("b@1", "a@1"), ("gone@1", "a@1")], 2, 6)
    hall.field.past_seat("a@1", failed=True)
    hall.field.past_seat("a@1", failed=True)
    hall.field.past_seat("gone@1", failed=True)
    places = hall.field.places
    assert [places[f"{bot}@1"].games for bot in "abc"] == [3, 2, 0]
    assert (places["a@1"].matches, places["a@1"].failures) == (2, 2)
    assert hall.field.met("b@1", "a@1") == hall.field.met("a@1", "b@1") == 2
    [leg] = hall.make(10.0, only_newcomers=True)
    assert "c@1" in leg.seats
    assert leg.position == 6


@repeatable
@given(st.integers(), st.integers(2, 3), st.integers(2, 12))
def test_whatever_happens_the_books_are_right(seed: int, seats: int, bots: int) -> None:
    """Bots come, go, fail and are paused at random; what is counted is compared with a recount."""
    random = Random(seed)
    hall = Hall(seats=seats, most_matches=4, legs_apart=1, most_per_bot=2)
    for number in range(bots):
        hall.enter(f"b{number}", room=random.randint(0, 3))
    field, running, now = hall.field, list[Fixture](), 0.0
    ended, begun = 0, set[str]()
    for _ in range(60):
        now += random.random() * 20
        choice = random.random()
        if choice < 0.4 and running:
            leg = running.pop(random.randrange(len(running)))
            flags = [random.random() < 0.3 for _ in leg.seats]
            if random.random() < 0.8:
                for entrant in hall.end(leg, now, *flags):
                    field.places[entrant].paused = "it failed"
                ended += 1
            elif random.random() < 0.5:
                field.aborted(leg, now)
            else:
                field.put_back(leg, now)
                begun.discard(leg.fixture_id)
        elif choice < 0.6:
            place = random.choice(list(field.places.values()))
            hall.rooms[place.entrant] = random.randint(0, 3)
            if hall.rooms[place.entrant]:
                field.arrived(place.entrant, now)
            if place.paused:
                field.readmit(place)
        else:
            legs = hall.make(now, only_newcomers=random.random() < 0.3)
            while (later := field.next_leg(now)) is not None:
                legs.append(later)
            for leg in legs:
                assert leg.fixture_id not in begun  # each leg once
                begun.add(leg.fixture_id)
                assert all(not field.places[entrant].paused for entrant in leg.seats)
            running += legs
        busy = [entrant for leg in running for entrant in leg.seats]
        for place in field.places.values():
            assert place.busy == busy.count(place.entrant)
            assert place.busy <= 2
        assert field.running == len(running) <= 4
        assert field.matches == ended
        assert {leg.encounter_id for leg in running} <= set(field.open)
