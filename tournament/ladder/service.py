"""`TournamentService`: who may ask for what, and the answers (docs/ladder.md)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import grpc
from google.protobuf.message import Message

from referee.service.access import bearer_of
from referee.service.errors import CallError, refuse
from referee.service.server import Referee
from referee.service.tokens import key_of
from referee.service.unary import Context, Handler, method, read
from rummy.tournament.v1 import tournament_pb2 as pb
from tournament.errors import StoreError
from tournament.ladder.answers import (
    leaderboard_row,
    match_ids,
    match_message,
    own_match,
    ranked,
    status_message,
)
from tournament.ladder.desk import Desk
from tournament.ladder.field import Place
from tournament.ladder.ladder import Ladder
from tournament.ladder.names import check_unreserved, parts_of
from tournament.ladder.rates import Rates
from tournament.ladder.ratings import Ratings
from tournament.statistics.standings import Standing
from tournament.store import queries
from tournament.store.ladder import EndedMatch, ended_match, ended_matches
from tournament.store.store import Store

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["TournamentService"].full_name
_MOST_ROWS: Final = 200
_MOST_MATCHES: Final = 50
_MOST_OWN: Final = 20
_MOST_RECORD_BYTES: Final = 1 << 20
_MOST_READING: Final = 16
"""Calls that may wait for the database."""

_Request = TypeVar("_Request", bound=Message)
_Answer = TypeVar("_Answer")


class TournamentService:
    """The service of one ladder."""

    name: Final = _SERVICE

    def __init__(
        self,
        referee: Referee,
        ladder: Ladder,
        store: Store,
        desk: Desk,
        ratings: Ratings,
        *,
        by_invitation: bool,
    ) -> None:
        self._referee = referee
        self._ladder = ladder
        self._store = store
        self._desk = desk
        self._ratings = ratings
        self._by_invitation = by_invitation
        self._rates = Rates(asyncio.get_running_loop().time)
        self._reading = 0
        self._ranked: tuple[tuple[int, int], list[tuple[Place, Standing | None]]] = ((-1, 0), [])
        """The latest ranking that was made, by number of the standings and of the entrants."""

    def handler(self) -> grpc.GenericRpcHandler:
        """The service for a server. Messages are read here, so that every error has its reason."""
        methods = [
            self._method(pb.RegisterRequest, self._register),
            self._method(pb.ReplaceTokenRequest, self._replace_token),
            self._method(pb.WithdrawRequest, self._withdraw),
            self._method(pb.GetLeaderboardRequest, self._get_leaderboard),
            self._method(pb.ListMatchesRequest, self._list_matches),
            self._method(pb.GetMatchRequest, self._get_match),
            self._method(pb.GetRecordRequest, self._get_record),
            self._method(pb.GetOwnLogRequest, self._get_own_log),
            self._method(pb.GetStatusRequest, self._get_status),
        ]
        return grpc.method_handlers_generic_handler(_SERVICE, dict(methods))

    def _method(
        self, kind: type[_Request], answer: Callable[[_Request, str], Awaitable[Message]]
    ) -> tuple[str, Handler]:
        """A method under its name; its answer is told the token of the call."""

        async def checked(raw: bytes, context: Context) -> Message:
            token = bearer_of(context)
            self._count(context.peer(), token)
            try:
                return await answer(read(kind, raw), token)
            except StoreError as error:
                # Its text names files of the organiser.
                text = "the ladder's database cannot be used just now: try again later"
                raise CallError(grpc.StatusCode.UNAVAILABLE, "STORE", text) from error

        return method(kind, checked)

    def _is_organiser(self, token: str) -> bool:
        return bool(token) and self._referee.tokens.is_organiser(token)

    def _count(self, peer: str, token: str) -> None:
        """Raise CallError if there are too many calls in this second; an organiser's never are."""
        if not self._is_organiser(token):
            key = key_of(token) if token else ""
            is_known = self._ladder.entrants.of_key(key) is not None
            self._rates.call(peer, key if is_known else "")

    async def _read(self, call: Callable[[], _Answer]) -> _Answer:
        """Return what a call reads from the database, unless many wait for that already."""
        if self._reading >= _MOST_READING:
            text = f"{_MOST_READING} calls wait for the database: try again in a moment"
            raise CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "BUSY", text)
        self._reading += 1
        try:
            return await self._desk.read(call)
        finally:
            self._reading -= 1

    # --- bots -----------------------------------------------------------------------------------

    async def _register(self, request: pb.RegisterRequest, token: str) -> pb.RegisterResponse:
        entrants = self._ladder.entrants
        if self._referee.is_draining:
            text = "the ladder is about to stop: try again when it is back"
            raise CallError(grpc.StatusCode.UNAVAILABLE, "STOPPING", text)
        entrants.check_request(request.bot, request.version, request.author, request.language)
        if not self._is_organiser(token):
            if entrants.versions(request.bot) or entrants.is_submitted(request.bot):
                self._check_owner(request.bot, token)
            else:
                self._check_stranger(request.bot, token)
        new, entrant = await entrants.register(
            request.bot, request.version, request.author, request.language
        )
        return pb.RegisterResponse(token=new, entrant=entrant)

    def _check_stranger(self, bot: str, token: str) -> None:
        """Raise CallError if nobody may register this bot, or they have registered many of late."""
        if self._by_invitation:
            text = "this ladder is by invitation: a new bot takes an organiser's token"
            text += ", and that of this call is none" if token else ""
            raise CallError(grpc.StatusCode.PERMISSION_DENIED, "BY_INVITATION", text)
        try:
            check_unreserved(bot)
        except ValueError as error:
            raise refuse("BAD_NAME", str(error)) from error
        if token:
            # Whoever sends one means a bot that is here: perhaps its name is misspelt.
            self._check_known(bot, token)
        self._rates.registration()

    def _check_known(self, bot: str, token: str) -> None:
        """Raise CallError unless the token is of some bot."""
        try:
            self._ladder.entrants.of_token(token)
        except CallError as error:
            error.text += f"; {bot!r} would be a new bot, which takes none"
            raise

    def _check_owner(self, bot: str, token: str) -> None:
        """Raise CallError unless the token is of a version of this bot."""
        if not token or self._ladder.entrants.of_token(token).bot != bot:
            text = f"{bot!r} is not yours: it takes the token of one of its versions, in metadata"
            text += " `authorization: Bearer TOKEN`"
            versions = self._ladder.entrants.versions(bot)
            if not versions:
                text = f"{bot!r} is not yours: its folder was submitted here; take another name"
            elif all(place.withdrawn for place in versions):
                text = f"{bot!r} is not yours: all its versions were withdrawn, so that only an"
                text += " organiser of the ladder can register another"
            raise CallError(grpc.StatusCode.PERMISSION_DENIED, "NOT_YOURS", text)

    async def _replace_token(
        self, _request: pb.ReplaceTokenRequest, token: str
    ) -> pb.ReplaceTokenResponse:
        place = self._ladder.entrants.of_token(token)
        new = await self._ladder.entrants.replace_token(place)
        return pb.ReplaceTokenResponse(token=new, entrant=place.entrant)

    async def _withdraw(self, request: pb.WithdrawRequest, token: str) -> pb.WithdrawResponse:
        entrants = self._ladder.entrants
        if self._is_organiser(token):
            bot = request.bot
            if not bot:
                raise refuse("BAD_NAME", "bot is empty: an organiser says which one")
        else:
            bot = request.bot or entrants.of_token(token).bot
            self._check_owner(bot, token)
        places = [
            place for place in entrants.versions(bot) if request.version in ("", place.version)
        ]
        if not places:
            raise _no_such_bot(bot, request.version)
        return pb.WithdrawResponse(entrants=await entrants.withdraw(places))

    # --- standings ------------------------------------------------------------------------------

    async def _get_leaderboard(
        self, request: pb.GetLeaderboardRequest, _token: str
    ) -> pb.GetLeaderboardResponse:
        number, offset = _numbers(request.page_token, 2) or (self._ratings.latest.number, 0)
        standings = self._ratings.numbered(number)
        if standings is None:
            text = f"page_token is of standings {number}, which are not kept any more: begin again"
            raise CallError(grpc.StatusCode.ABORTED, "STANDINGS_CHANGED", text)
        key = (number, len(self._ladder.field.places))
        if self._ranked[0] != key:
            self._ranked = key, ranked(self._ladder, standings)
        rows = self._ranked[1]
        end = offset + min(request.page_size or _MOST_ROWS, _MOST_ROWS)
        return pb.GetLeaderboardResponse(
            rows=[leaderboard_row(self._ladder, *row) for row in rows[offset:end]],
            next_page_token=f"{number}-{end}" if end < len(rows) else "",
            fit_number=standings.number,
            matches=standings.matches,
            computed_unix_ms=standings.computed_ms,
        )

    async def _get_status(self, _request: pb.GetStatusRequest, _token: str) -> pb.GetStatusResponse:
        return status_message(
            self._ladder,
            by_invitation=self._by_invitation,
            stopping=self._referee.is_draining,
        )

    # --- matches --------------------------------------------------------------------------------

    async def _list_matches(
        self, request: pb.ListMatchesRequest, _token: str
    ) -> pb.ListMatchesResponse:
        if request.version and not request.bot:
            raise refuse("BAD_VERSION", "version is given without bot: allowed is both, or none")
        self._check_registered(request.bot, request.version)
        most = min(request.page_size or _MOST_MATCHES, _MOST_MATCHES)
        found, next_page = await self._page(
            request.page_token, most, request.bot or None, request.version or None
        )
        return pb.ListMatchesResponse(
            matches=[self._message(match) for match in found], next_page_token=next_page
        )

    def _check_registered(self, bot: str, version: str) -> None:
        """Raise CallError if a bot, or a version of it, is named that is not registered."""
        versions = self._ladder.entrants.versions(bot)
        if bot and not any(version in ("", place.version) for place in versions):
            raise _no_such_bot(bot, version)

    async def _page(
        self, page_token: str, most: int, bot: str | None, version: str | None
    ) -> tuple[list[EndedMatch], str]:
        """Return matches of a page, and what asks for the next."""
        place = _numbers(page_token, 1)

        def look() -> list[EndedMatch]:
            return ended_matches(
                self._store,
                self._ladder.id,
                bot=bot,
                version=version,
                before=place[0] if place else None,
                most=most + 1,
            )

        found = await self._read(look)
        return found[:most], str(found[most - 1].sequence) if len(found) > most else ""

    def _message(self, match: EndedMatch) -> pb.LadderMatch:
        return match_message(match, is_open=self._is_open(match))

    def _is_open(self, match: EndedMatch) -> bool:
        return match.fixture.encounter_id in self._ladder.field.open

    async def _found(self, match_id: str) -> tuple[EndedMatch, list[EndedMatch]]:
        """Return a match that has ended, and all legs of its encounter. Raises CallError."""
        if match_id in self._ladder.running:
            text = f"match {match_id} is being played: try again when it has ended"
            raise CallError(grpc.StatusCode.FAILED_PRECONDITION, "NOT_ENDED", text)
        legs = await self._read(lambda: ended_match(self._store, self._ladder.id, match_id))
        for leg in legs:
            if leg.match_id == match_id:
                return leg, legs
        text = f"no match {match_id[:64]!r} with a result is known: ListMatches has the ids of all"
        text += ", and an author's GetOwnLog those of matches that count for nothing"
        raise CallError(grpc.StatusCode.NOT_FOUND, "NO_SUCH_MATCH", text)

    async def _get_match(self, request: pb.GetMatchRequest, _token: str) -> pb.GetMatchResponse:
        match, legs = await self._found(request.match_id)
        shown = [match] if self._is_open(match) else legs
        return pb.GetMatchResponse(match=self._message(match), encounter_match_ids=match_ids(shown))

    async def _get_record(self, request: pb.GetRecordRequest, _token: str) -> pb.GetRecordResponse:
        match, _ = await self._found(request.match_id)
        if self._is_open(match):
            text = f"match {request.match_id} is a leg of an encounter that is being played: its"
            text += " record is there when all legs have ended"
            raise CallError(grpc.StatusCode.FAILED_PRECONDITION, "ENCOUNTER_OPEN", text)
        record = await self._read(lambda: self._record(match))
        size = len(record)
        if request.offset > size:
            raise refuse("BAD_OFFSET", f"offset is {request.offset}: allowed are 0–{size}")
        return pb.GetRecordResponse(
            content=record[request.offset : request.offset + _MOST_RECORD_BYTES],
            size=size,
            record_hash=bytes.fromhex(match.record_hash),
        )

    def _record(self, match: EndedMatch) -> bytes:
        return queries.record(self._store, self._ladder.id, match.fixture.fixture_id)

    async def _get_own_log(self, request: pb.GetOwnLogRequest, token: str) -> pb.GetOwnLogResponse:
        place: Place = self._ladder.entrants.of_token(token)
        most = min(request.page_size or _MOST_OWN, _MOST_OWN)
        found, next_page = await self._page(request.page_token, most, *parts_of(place.entrant))

        def look() -> list[pb.OwnMatch]:
            return [own_match(match, place.entrant, self._record(match)) for match in found]

        return pb.GetOwnLogResponse(
            entrant=place.entrant,
            matches=await self._read(look),
            next_page_token=next_page,
            paused=place.paused,
            uncounted=self._ladder.uncounted.of(place.entrant),
            tests_failed=place.tests_failed,
            next_test_unix_ms=place.next_test_ms,
        )


def _no_such_bot(bot: str, version: str) -> CallError:
    what = f"version {version[:80]!r} of {bot[:80]!r}" if version else f"bot {bot[:80]!r}"
    text = f"no {what} is registered: GetLeaderboard has the names of all"
    return CallError(grpc.StatusCode.NOT_FOUND, "NO_SUCH_BOT", text)


def _numbers(page_token: str, count: int) -> tuple[int, ...]:
    """Return the numbers in a page token; none if it is empty. Raises CallError."""
    if not page_token:
        return ()
    parts = page_token.split("-")
    if len(parts) != count or not all(
        part.isascii() and part.isdigit() and len(part) <= 9 for part in parts
    ):
        text = f"page_token is {page_token[:64]!r}: allowed is the next_page_token of an answer"
        raise refuse("BAD_PAGE_TOKEN", text)
    return tuple(int(part) for part in parts)
