"""Legs for tests of statistics: built by hand, and drawn by hypothesis as whole encounters."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from referee.match.outcome import Forfeit, Termination
from tournament.statistics.standings import LegResult, SeatRow


def seat(bot: str, place: int, forfeit: Forfeit | None = None, **numbers: int) -> SeatRow:
    values = {"total": 30, "decisions": 10, "charged_us": 20_000, "longest_us": 9_000} | numbers
    return SeatRow(bot=bot, place=place, forfeit=forfeit, **values)


def leg(
    encounter: str,
    position: int,
    *seats: SeatRow,
    has_result: bool = True,
    first_dealer: int = 0,
    termination: Termination = Termination.COMPLETED,
) -> LegResult:
    return LegResult(
        encounter, position, has_result, seats, first_dealer=first_dealer, termination=termination
    )


def pair(encounter: str, position: int, letters: str, bots: str = "ab") -> list[LegResult]:
    """Two legs of an encounter with these results for the first of two bots, as in "WL"."""
    places = {"W": (1, 2), "D": (1, 1), "L": (2, 1)}
    first, second = (places[letter] for letter in letters)
    return [
        leg(encounter, position, seat(bots[0], first[0]), seat(bots[1], first[1])),
        leg(encounter, position + 1, seat(bots[1], second[1]), seat(bots[0], second[0])),
    ]


def places_of(ranks: Sequence[int]) -> list[int]:
    """Places from 1, shared as in 1 1 3, for the ranks of seats."""
    return [1 + sum(other < rank for other in ranks) for rank in ranks]


@st.composite
def whole_encounters(draw: st.DrawFn, *, seats: int | None = None) -> list[LegResult]:
    """Legs of whole encounters, in plan order: each set of bots sits in every rotation."""
    size = draw(st.integers(2, 4)) if seats is None else seats
    names = "abcdefg"[: draw(st.integers(size, size + 2))]
    chance = Random(draw(st.integers(0, 2**16)))  # for what no property turns on
    legs: list[LegResult] = []
    for number in range(draw(st.integers(0, 8))):
        bots = draw(st.permutations(names))[:size]
        dealer = draw(st.integers(0, size - 1))
        for rotation in range(size):
            ranks = draw(st.lists(st.integers(0, size), min_size=size, max_size=size))
            rows = tuple(
                seat(
                    bots[(rotation + index) % size],
                    place,
                    chance.choice([None, None, None, Forfeit.TIME, Forfeit.CRASH]),
                    total=chance.randint(-50, 300),
                    decisions=chance.randint(0, 40),
                    charged_us=chance.randint(0, 10**7),
                    longest_us=chance.randint(0, 10**6),
                    forgiven_us=chance.randint(0, 10**5),
                )
                for index, place in enumerate(places_of(ranks))
            )
            legs.append(leg(f"e{number}", len(legs), *rows, first_dealer=dealer))
    return legs


def renamed(legs: Sequence[LegResult], names: dict[str, str]) -> list[LegResult]:
    """The same legs of bots with other names."""
    return [
        replace(each, seats=tuple(replace(row, bot=names[row.bot]) for row in each.seats))
        for each in legs
    ]


def bots_of(legs: Sequence[LegResult]) -> list[str]:
    return sorted({row.bot for each in legs for row in each.seats})
