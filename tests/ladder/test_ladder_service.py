"""`TournamentService`: what it answers, whom it refuses, and what nobody is told."""

from pathlib import Path

import pytest
from sqlalchemy import select

from referee.match.verify import verify
from rummy.referee.v1 import play_pb2
from rummy.tournament.v1 import tournament_pb2 as pb
from tests.ladder.stand import Stand, refused, standing
from tests.ladder.visitors import Visitor
from tests.service.match_clients import Refused
from tournament.store import schema as t
from tournament.store.registry import Registry, outside_hash
from tournament.store.stored import Entry

# --- registering ----------------------------------------------------------------------------------


async def test_register_gives_a_token_that_is_kept_as_a_hash_only(stand: Stand) -> None:
    request = pb.RegisterRequest(bot="My.bot-1", version="0.9_b", author="Ä. Uthor", language="C++")
    answer = await stand.caller(request, pb.RegisterResponse)
    assert answer.entrant == "My.bot-1@0.9_b"
    [stored] = Registry(stand.store).all()
    assert (stored.bot, stored.version, stored.author, stored.language) == (
        "My.bot-1",
        "0.9_b",
        "Ä. Uthor",
        "C++",
    )
    assert stored.is_elsewhere
    assert stored.content_hash == outside_hash("My.bot-1", "0.9_b")
    place = stand.ladder.entrants.of_token(answer.token)
    assert stored.token_key == place.token_key
    for file in stand.data.rglob("*"):
        assert not file.is_file() or answer.token.encode() not in file.read_bytes(), file


async def test_another_version_takes_the_token_of_an_older_one(stand: Stand) -> None:
    mine, theirs = await stand.caller.register("mine"), await stand.caller.register("theirs")
    request = pb.RegisterRequest(bot="mine", version="2")
    answers = [
        await refused(stand, request, pb.RegisterResponse, token) for token in ("", theirs, "wrong")
    ]
    assert answers == [
        ("PERMISSION_DENIED", "NOT_YOURS"),
        ("PERMISSION_DENIED", "NOT_YOURS"),
        ("UNAUTHENTICATED", "BAD_TOKEN"),
    ]
    second = await stand.caller.register("mine", "2", mine)
    assert len({mine, theirs, second}) == 3
    third = await stand.caller.register("mine", "3", second)
    assert stand.ladder.entrants.of_token(third).entrant == "mine@3"
    again = await refused(stand, request, pb.RegisterResponse, mine)
    assert again == ("ALREADY_EXISTS", "VERSION_TAKEN")
    # The old version plays on with its own token.
    assert stand.ladder.entrants.of_token(mine).entrant == "mine@1"


async def test_an_invited_bot_takes_an_organisers_token(tmp_path: Path) -> None:
    async with standing(tmp_path, by_invitation=True) as stand:
        request = pb.RegisterRequest(bot="guest", version="1")
        for token in ("", "wrong"):
            answer = await refused(stand, request, pb.RegisterResponse, token)
            assert answer == ("PERMISSION_DENIED", "BY_INVITATION")
        with pytest.raises(Refused, match="that of this call is none"):
            await stand.caller(request, pb.RegisterResponse, "wrong")
        assert (tmp_path / "organiser.token").stat().st_mode & 0o077 == 0
        token = await stand.caller.register("guest", token=stand.organiser)
        # Who was invited brings the next version without asking.
        await stand.caller.register("guest", "2", token)
        assert (await stand.caller.status()).by_invitation
        # An organiser does not play, and no bot organises.
        lurker = Visitor(stand.address, stand.organiser)
        stand.visitors.append(lurker)
        lurker.come()
        await stand.until(lambda: lurker.codes, "refused")
        assert lurker.codes[0] == "UNAUTHENTICATED"
        request = pb.RegisterRequest(bot="friend", version="1")
        answer = await refused(stand, request, pb.RegisterResponse, token)
        assert answer == ("PERMISSION_DENIED", "BY_INVITATION")


async def test_a_replaced_token_is_worth_nothing_and_matches_go_on(stand: Stand) -> None:
    old = await stand.caller.register("bot")
    visitor = await stand.visitor("bot", token=old)
    await stand.visitor("other")
    place = stand.ladder.field.places["bot@1"]
    await stand.until(lambda: place.busy, "it plays")
    await visitor.hold()
    answer = await stand.caller(pb.ReplaceTokenRequest(), pb.ReplaceTokenResponse, old)
    new = await stand.visitor("bot", token=answer.token)
    await stand.until(lambda: len(visitor.codes) >= 2, "the old one is refused")
    assert set(visitor.codes) == {"UNAUTHENTICATED"}
    assert (visitor.reasons[0], visitor.reasons[1]) == ("REPLACED_TOKEN", "BAD_TOKEN")
    assert "the token was replaced" in visitor.texts[0]
    await stand.until(lambda: new.ended >= 3, "it plays on")
    found = await refused(stand, pb.ReplaceTokenRequest(), pb.ReplaceTokenResponse, old)
    assert found == ("UNAUTHENTICATED", "BAD_TOKEN")
    rows = await stand.caller.leaderboard()
    assert sum(row.forfeits for row in rows) == 0
    own = await stand.caller(pb.GetOwnLogRequest(), pb.GetOwnLogResponse, answer.token)
    assert {match.forfeit for match in own.matches} == {play_pb2.FORFEIT_UNSPECIFIED}


async def test_only_its_own_author_or_an_organiser_withdraws_a_bot(stand: Stand) -> None:
    mine, theirs = await stand.caller.register("mine"), await stand.caller.register("theirs")
    await stand.caller.register("mine", "2", mine)

    async def denied(token: str, bot: str = "mine", version: str = "") -> tuple[str, str]:
        request = pb.WithdrawRequest(bot=bot, version=version)
        return await refused(stand, request, pb.WithdrawResponse, token)

    assert await denied(theirs) == ("PERMISSION_DENIED", "NOT_YOURS")
    assert await denied("") == ("PERMISSION_DENIED", "NOT_YOURS")
    assert await denied("", bot="") == ("UNAUTHENTICATED", "NO_TOKEN")
    assert await denied(mine, version="7") == ("NOT_FOUND", "NO_SUCH_BOT")
    assert await denied(stand.organiser, bot="") == ("INVALID_ARGUMENT", "BAD_NAME")
    assert await denied(stand.organiser, bot="nobody") == ("NOT_FOUND", "NO_SUCH_BOT")
    with pytest.raises(Refused, match="no bot 'nobody' is registered"):
        await stand.caller(pb.WithdrawRequest(bot="nobody"), pb.WithdrawResponse, stand.organiser)
    one = await stand.caller(pb.WithdrawRequest(bot="mine", version="2"), pb.WithdrawResponse, mine)
    assert list(one.entrants) == ["mine@2"]
    both = await stand.caller(pb.WithdrawRequest(bot="mine"), pb.WithdrawResponse, stand.organiser)
    assert list(both.entrants) == ["mine@1"]
    assert await denied(mine) == ("UNAUTHENTICATED", "BAD_TOKEN")
    # The name stays its author's, whose tokens are gone: an organiser can help.
    request = pb.RegisterRequest(bot="mine", version="3")
    assert (await refused(stand, request, pb.RegisterResponse))[1] == "NOT_YOURS"
    await stand.caller.register("mine", "3", stand.organiser)


async def test_what_another_process_registers_is_let_in(stand: Stand) -> None:
    token = await stand.caller.register("bot")
    registry = Registry(stand.store)
    [own] = registry.all()
    registry.withdraw("bot")
    await stand.ladder.entrants.load()
    with pytest.raises(Exception, match="withdrawn"):
        stand.ladder.entrants.of_token(token)
    assert stand.ladder.field.places["bot@1"].withdrawn
    assert own.bot == "bot"


async def test_the_name_of_a_bot_that_was_submitted_is_not_for_strangers(stand: Stand) -> None:
    entry = Entry("barn", "1", "A", "python", "5" * 64, "", {})
    Registry(stand.store).register(entry, is_elsewhere=False)
    # One that nobody has looked for yet is found out when it is stored.
    taken = await refused(stand, pb.RegisterRequest(bot="barn", version="1"), pb.RegisterResponse)
    assert taken == ("ALREADY_EXISTS", "VERSION_TAKEN")
    await stand.ladder.entrants.load()
    assert "barn@1" not in stand.ladder.field.places
    request = pb.RegisterRequest(bot="barn", version="2")
    answer = await refused(stand, request, pb.RegisterResponse)
    assert answer == ("PERMISSION_DENIED", "NOT_YOURS")
    with pytest.raises(Refused, match="its folder was submitted here; take another name"):
        await stand.caller(request, pb.RegisterResponse, "")
    await stand.caller.register("barn", "2", stand.organiser)


# --- what everybody sees --------------------------------------------------------------------------


async def test_matches_come_page_by_page_and_by_bot(stand: Stand) -> None:
    for name in ("a", "b", "c", "a.b"):
        await stand.visitor(name)
    await stand.until(lambda: stand.ladder.field.matches >= 12, "12 matches")
    found = await stand.caller.matches(size=5)
    assert len({match.match_id for match in found}) == len(found) >= 12
    times = [match.ended_unix_ms for match in found]
    assert times == sorted(times, reverse=True)
    own = await stand.caller.matches("a", size=3)
    assert own
    assert all("a" in [seat.bot for seat in match.seats] for match in own)
    await stand.caller.register("idle")
    assert await stand.caller.matches("idle") == []
    for bot, version in (("a", "2"), ("nobody", ""), ("a b", ""), ("a\0", "")):
        request = pb.ListMatchesRequest(bot=bot, version=version)
        answer = await refused(stand, request, pb.ListMatchesResponse)
        assert answer == ("NOT_FOUND", "NO_SUCH_BOT")
    for request, reason in (
        (pb.ListMatchesRequest(version="1"), "BAD_VERSION"),
        (pb.ListMatchesRequest(page_token="x"), "BAD_PAGE_TOKEN"),
        (pb.ListMatchesRequest(page_token="1-2"), "BAD_PAGE_TOKEN"),
    ):
        answer = await refused(stand, request, pb.ListMatchesResponse)
        assert answer == ("INVALID_ARGUMENT", reason)
    assert await refused(stand, b"\xff", pb.ListMatchesResponse) == (
        "INVALID_ARGUMENT",
        "MALFORMED_MESSAGE",
    )


async def test_the_leaderboard_comes_page_by_page(stand: Stand) -> None:
    for number in range(5):
        await stand.caller.register(f"bot{number}")
    answer = await stand.caller(pb.GetLeaderboardRequest(page_size=2), pb.GetLeaderboardResponse)
    names = [row.bot for row in answer.rows]
    while answer.next_page_token:
        request = pb.GetLeaderboardRequest(page_size=2, page_token=answer.next_page_token)
        answer = await stand.caller(request, pb.GetLeaderboardResponse)
        names += [row.bot for row in answer.rows]
    assert names == [f"bot{number}" for number in range(5)]
    assert {row.rank for row in answer.rows} == {0}
    gone = await refused(
        stand, pb.GetLeaderboardRequest(page_token="99-2"), pb.GetLeaderboardResponse
    )
    assert gone == ("ABORTED", "STANDINGS_CHANGED")
    wrong = await refused(
        stand, pb.GetLeaderboardRequest(page_token="1"), pb.GetLeaderboardResponse
    )
    assert wrong == ("INVALID_ARGUMENT", "BAD_PAGE_TOKEN")


async def test_a_record_can_be_had_when_the_encounter_has_ended(stand: Stand) -> None:
    for name in ("a", "b"):
        await stand.visitor(name)
    # Of a first leg whose second one is to come, and of one whose encounter is whole.
    field = stand.ladder.field
    await stand.until(lambda: field.whole >= 1 and field.matches > 2 * field.whole, "both")
    open_, whole = None, None
    for match in await stand.caller.matches():
        if match.has_public_record:
            whole = match
        else:
            open_ = match
    assert whole is not None
    assert whole.encounter_id
    content = b""
    while True:
        request = pb.GetRecordRequest(match_id=whole.match_id, offset=len(content))
        part = await stand.caller(request, pb.GetRecordResponse)
        content += part.content
        if len(content) == part.size:
            break
    verdict = verify(content, part.record_hash.hex())
    assert (verdict.problems, verdict.match_id) == ((), whole.match_id)
    assert part.record_hash == whole.record_hash
    got = await stand.caller(pb.GetMatchRequest(match_id=whole.match_id), pb.GetMatchResponse)
    assert got.match == whole
    assert len(got.encounter_match_ids) == 2
    too_far = pb.GetRecordRequest(match_id=whole.match_id, offset=part.size + 1)
    assert (await refused(stand, too_far, pb.GetRecordResponse))[1] == "BAD_OFFSET"
    for match_id in ("0", "nonsense", "", "\0"):
        request = pb.GetRecordRequest(match_id=match_id)
        answer = await refused(stand, request, pb.GetRecordResponse)
        assert answer == ("NOT_FOUND", "NO_SUCH_MATCH")
    if open_ is not None:
        assert not open_.encounter_id


async def test_a_record_cannot_be_had_before(stand: Stand) -> None:
    """The bots leave between two legs, so that one encounter stays open."""
    first, second = await stand.visitor("a"), await stand.visitor("b")
    field = stand.ladder.field
    await stand.until(
        lambda: any(one.to_come and one.since_s for one in field.open.values()), "a leg is to come"
    )
    await stand.until(lambda: stand.ladder.running, "one is played")
    [running] = stand.ladder.running
    for request, kind in (
        (pb.GetRecordRequest(match_id=running), pb.GetRecordResponse),
        (pb.GetMatchRequest(match_id=running), pb.GetMatchResponse),
    ):
        assert await refused(stand, request, kind) == ("FAILED_PRECONDITION", "NOT_ENDED")
    await first.leave()
    await second.leave()
    await stand.until(lambda: not stand.ladder.running, "nothing is played")
    waiting = [one for one in field.open.values() if one.to_come and one.since_s]
    assert waiting
    ids = {one.encounter.encounter_id for one in waiting}
    with stand.store.reading() as db:
        query = select(t.results.c.match_id).select_from(t.results.join(t.fixtures))
        query = query.where(t.fixtures.c.encounter.in_(ids))
        match_ids = list(db.execute(query).scalars())
    assert match_ids
    for match_id in match_ids:
        request = pb.GetRecordRequest(match_id=match_id)
        for token in ("", stand.organiser):
            answer = await refused(stand, request, pb.GetRecordResponse, token)
            assert answer == ("FAILED_PRECONDITION", "ENCOUNTER_OPEN")
        got = await stand.caller(pb.GetMatchRequest(match_id=match_id), pb.GetMatchResponse)
        assert not got.match.has_public_record
        assert (got.match.encounter_id, list(got.encounter_match_ids)) == ("", [match_id])


# --- one's own log --------------------------------------------------------------------------------


async def test_each_author_reads_what_was_noted_about_their_own_bot(tmp_path: Path) -> None:
    async with standing(tmp_path) as stand:
        tokens = {name: await stand.caller.register(name) for name in ("broken", "well")}
        await stand.visitor("broken", token=tokens["broken"], is_broken=True)
        await stand.visitor("well", token=tokens["well"])
        place = stand.ladder.field.places["broken@1"]
        await stand.until(lambda: place.paused, "paused")

        async def log(name: str) -> pb.GetOwnLogResponse:
            request = pb.GetOwnLogRequest(page_size=2)
            return await stand.caller(request, pb.GetOwnLogResponse, tokens[name])

        own = await log("broken")
        assert own.entrant == "broken@1"
        assert "3 matches in a row" in own.paused
        assert own.next_page_token
        for match in own.matches:
            assert match.forfeit == play_pb2.FORFEIT_ILLEGAL
            assert match.illegal_strikes == match.rejection_count == len(match.rejections) == 4
            assert {one.reason for one in match.rejections} == {play_pb2.REASON_BAD_INDEX}
            assert all(one.tried == "index 100000" for one in match.rejections)
        others = await log("well")
        assert others.paused == ""
        assert [len(match.rejections) for match in others.matches] == [0, 0]
        assert {match.place for match in others.matches} == {1}
        for token in ("", "wrong", stand.organiser):
            answer = await refused(stand, pb.GetOwnLogRequest(), pb.GetOwnLogResponse, token)
            assert answer[0] == "UNAUTHENTICATED"


# --- secrets --------------------------------------------------------------------------------------


async def test_no_message_holds_a_secret(tmp_path: Path) -> None:
    """Neither answers nor the bots' streams hold a secret, a salt, or anybody else's token."""
    async with standing(tmp_path) as stand:
        tokens = {name: await stand.caller.register(name) for name in ("a", "b", "c")}
        registered = len(stand.caller.seen)
        visitors = [await stand.visitor(name, token=token) for name, token in tokens.items()]
        for visitor in visitors:
            visitor.keeps = True
        await stand.until(lambda: stand.ladder.field.whole >= 3, "three encounters")
        await stand.caller.leaderboard()
        for match in await stand.caller.matches():
            request = pb.GetMatchRequest(match_id=match.match_id)
            await stand.caller(request, pb.GetMatchResponse)
        for token in tokens.values():
            await stand.caller(pb.GetOwnLogRequest(), pb.GetOwnLogResponse, token)
        await stand.caller.status()
        with stand.store.reading() as db:
            hidden = [bytes(row) for row in db.execute(select(t.encounters.c.secret)).scalars()]
            hidden += [bytes(row) for row in db.execute(select(t.fixtures.c.salt)).scalars()]
        hidden += [value.hex().encode() for value in hidden]
        hidden += [token.encode() for token in (*tokens.values(), stand.organiser)]
        hidden += [place.token_key.encode() for place in stand.ladder.field.places.values()]
        assert len(hidden) > 20
        seen = b"".join(stand.caller.seen[registered:])
        streams = b"".join(message for visitor in visitors for message in visitor.seen)
        assert len(seen) > 1_000
        assert len(streams) > 10_000
        for value in hidden:
            assert value not in seen
            assert value not in streams
