"""Which names a ladder takes, and from whom."""

import pytest

from rummy.tournament.v1 import tournament_pb2 as pb
from tests.ladder.stand import Stand, refused
from tests.service.match_clients import Refused
from tournament.store.registry import Registry


@pytest.mark.parametrize(
    ("bot", "version", "author", "language"),
    [
        ("", "1", "", ""),
        ("a" * 41, "1", "", ""),
        ("a b", "1", "", ""),
        ("a@b", "1", "", ""),
        ("ä", "1", "", ""),
        ("a\n", "1", "", ""),
        ("a", "", "", ""),
        ("a", "1" * 21, "", ""),
        ("a", "1/2", "", ""),
        ("a", "1", "x" * 101, ""),
        ("a", "1", "x\x1b[2J", ""),
        ("a", "1", "", "x" * 41),
        ("a", "1", "", "\0"),
        ("-", "1", "", ""),
        ("--help", "1", "", ""),
        (".", "1", "", ""),
        ("..", "1", "", ""),
        ("a", "-1", "", ""),
        ("a", "..", "", ""),
        ("house", "1", "", ""),
        ("house-random", "1", "", ""),
        ("House-random", "1", "", ""),
        ("ladder-partner", "1", "", ""),
    ],
)
async def test_names_are_checked(
    stand: Stand, bot: str, version: str, author: str, language: str
) -> None:
    request = pb.RegisterRequest(bot=bot, version=version, author=author, language=language)
    assert await refused(stand, request, pb.RegisterResponse) == ("INVALID_ARGUMENT", "BAD_NAME")
    assert Registry(stand.store).all() == []


async def test_names_that_look_odd_are_allowed(stand: Stand) -> None:
    for bot, version in (
        ("a", "1"),
        (".a", "1.-"),
        ("a.", "_"),
        ("_", "1-"),
        ("A", "1"),
        ("houses", "1"),
        ("a-house", "1"),
        ("0", "0"),
    ):
        request = pb.RegisterRequest(bot=bot, version=version, author="  ", language=" C ")
        answer = await stand.caller(request, pb.RegisterResponse)
        assert answer.entrant == f"{bot}@{version}"
        place = stand.ladder.entrants.of_token(answer.token)
        assert (place.author, place.language) == ("", "C")


async def test_the_house_names_its_own_bots(stand: Stand) -> None:
    token = await stand.caller.register("house-random", token=stand.organiser)
    await stand.caller.register("house-random", "2", token)


async def test_a_new_name_takes_no_token_but_a_known_one(stand: Stand) -> None:
    """Whoever sends one means a bot that is there: the name is misspelt, or the token is stale."""
    request = pb.RegisterRequest(bot="new", version="1")
    answer = await refused(stand, request, pb.RegisterResponse, "wrong")
    assert answer == ("UNAUTHENTICATED", "BAD_TOKEN")
    with pytest.raises(Refused, match="'new' would be a new bot, which takes none"):
        await stand.caller.register("new", token="wrong")
    assert Registry(stand.store).all() == []
    mine = await stand.caller.register("mine")
    await stand.caller.register("new", token=mine)
