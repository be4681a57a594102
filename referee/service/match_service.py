"""`MatchService`: who may ask for what, and the answers (docs/organisers.md)."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import grpc
import structlog
from google.protobuf.message import Message

from referee.match.outcome import MatchResult
from referee.service.access import bearer_of, check_organiser
from referee.service.bots import Bot
from referee.service.errors import CallError, abort, refuse
from referee.service.match_codec import (
    STATES,
    bot_id_of,
    bot_message,
    match_message,
    read_rules,
    read_time_control,
)
from referee.service.ordered_match import MatchState, OrderedMatch
from referee.service.organiser import Matches, MatchHost, MatchLimits, MatchOrder
from referee.service.spectators import Turnstile, Watcher
from referee.service.unary import Context, Handler, method, read
from rummy.referee.v1 import match_pb2 as pb

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["MatchService"].full_name
_MOST_BOTS_IN_PAGE: Final = 100
_MOST_MATCHES_IN_PAGE: Final = 50
_MOST_RECORD_BYTES: Final = 1 << 20
_MOST_MS: Final = 86_400_000
_CONNECT_MS: Final = 60_000
_NAME_CHARACTERS: Final = 64
_ABORT_S: Final = 1.0
"""How long a stream that is not read may take to be told why it ends."""
_log = structlog.get_logger()

_Request = TypeVar("_Request", bound=Message)


class MatchService:
    """The service of one referee, for organisers and spectators."""

    name: Final = _SERVICE

    def __init__(self, host: MatchHost, limits: MatchLimits = MatchLimits()) -> None:  # noqa: B008
        self._host = host
        self._limits = limits
        self._matches = Matches(host, limits)
        self._turnstile = Turnstile()
        self._watchers = {True: 0, False: 0}
        """Streams that are open, by whether they are an organiser's."""
        self._second = 0.0
        self._calls = 0
        """Calls of spectators in this second."""

    def handler(self) -> grpc.GenericRpcHandler:
        """The service for a server. Messages are read here, so that every error has its reason."""
        for_organisers = [
            self._unary(pb.IssueTokenRequest, self._issue_token),
            self._unary(pb.RevokeTokenRequest, self._revoke_token),
            self._unary(pb.ListBotsRequest, self._list_bots),
            self._unary(pb.CreateMatchRequest, self._create_match),
            self._unary(pb.CancelMatchRequest, self._cancel_match),
            self._unary(pb.ReleaseMatchRequest, self._release_match),
        ]
        for_all = [
            self._unary_for_all(pb.GetMatchRequest, self._get_match),
            self._unary_for_all(pb.ListMatchesRequest, self._list_matches),
            self._unary_for_all(pb.GetRecordRequest, self._get_record),
        ]
        methods = dict([*for_organisers, *for_all])
        watch: Handler = grpc.unary_stream_rpc_method_handler(self._watch_match)
        return grpc.method_handlers_generic_handler(_SERVICE, {**methods, "WatchMatch": watch})

    def arrived(self, bot: Bot) -> None:  # noqa: ARG002 - a callback
        """A bot has said hello: perhaps a match can begin."""
        self._matches.look()

    def close(self) -> None:
        """The referee is stopping: call off what has not begun."""
        self._matches.close()

    # --- calls ----------------------------------------------------------------------------------

    def _unary(
        self, kind: type[_Request], answer: Callable[[_Request], Message | Awaitable[Message]]
    ) -> tuple[str, Handler]:
        """A method for organisers, under its name."""

        def checked(raw: bytes, context: Context) -> Message | Awaitable[Message]:
            check_organiser(self._host.tokens, bearer_of(context))
            return answer(read(kind, raw))

        return method(kind, checked)

    def _unary_for_all(
        self, kind: type[_Request], answer: Callable[[_Request, bool], Message]
    ) -> tuple[str, Handler]:
        """A method for everybody, who is told whether an organiser asks."""

        def checked(raw: bytes, context: Context) -> Message:
            is_organiser = self._is_organiser(context)
            return answer(read(kind, raw), is_organiser)

        return method(kind, checked)

    def _is_organiser(self, context: Context) -> bool:
        """Whether an organiser calls. Raises CallError if spectators call too often."""
        token = bearer_of(context)
        if token and self._host.tokens.is_organiser(token):
            return True
        now = asyncio.get_running_loop().time()
        if now - self._second >= 1.0:
            self._second, self._calls = now, 0
        self._calls += 1
        if self._calls > self._limits.most_spectator_calls:
            text = f"more than {self._limits.most_spectator_calls} calls of spectators in a second"
            raise CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE", text)
        return False

    def _visible(self, match_id: str, *, to_organiser: bool) -> OrderedMatch:
        """A match that may be seen. Raises CallError."""
        match = self._matches.find(match_id)
        if not to_organiser and not match.is_for_everybody:
            text = f"match {match_id} is not open to spectators: it takes an organiser's token"
            raise CallError(grpc.StatusCode.PERMISSION_DENIED, "NOT_OPEN", text)
        return match

    # --- bots -----------------------------------------------------------------------------------

    def _issue_token(self, request: pb.IssueTokenRequest) -> pb.IssueTokenResponse:
        for name, value, least in (("bot", request.bot, 1), ("version", request.version, 0)):
            is_blank = bool(value) and value.isspace()
            is_long = not least <= len(value) <= _NAME_CHARACTERS
            if is_long or is_blank or not value.isprintable():
                text = f"{name} is {value[:80]!r}: allowed are {least}–{_NAME_CHARACTERS} printable"
                raise refuse("BAD_NAME", f"{text} characters")
        if sum(1 for _ in self._host.bots()) >= self._limits.most_bots:
            text = f"{self._limits.most_bots} bots are known: revoke the tokens of some"
            raise CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "BOTS", text)
        token = self._host.issue_token(request.bot, request.version)
        bot_id = bot_id_of(self._host.bot(token))
        _log.info("token issued", bot=request.bot, version=request.version, bot_id=bot_id)
        return pb.IssueTokenResponse(bot_id=bot_id, token=token)

    def _revoke_token(self, request: pb.RevokeTokenRequest) -> pb.RevokeTokenResponse:
        bot = self._bot(request.bot_id, self._bots())
        self._host.revoke_bot(bot)
        _log.info("token revoked", bot=bot.name, bot_id=request.bot_id)
        return pb.RevokeTokenResponse()

    def _list_bots(self, request: pb.ListBotsRequest) -> pb.ListBotsResponse:
        most = min(request.page_size or _MOST_BOTS_IN_PAGE, _MOST_BOTS_IN_PAGE)
        bots = self._bots()
        if not re.fullmatch("[0-9a-f]{16}|", request.page_token):
            raise _bad_page_token(request.page_token)
        ids = sorted(bot_id for bot_id in bots if bot_id > request.page_token)
        page = ids[:most]
        return pb.ListBotsResponse(
            bots=[bot_message(bots[bot_id]) for bot_id in page],
            next_page_token=page[-1] if len(ids) > most else "",
        )

    def _bots(self) -> dict[str, Bot]:
        return {bot_id_of(bot): bot for bot in self._host.bots() if not bot.is_house}

    def _bot(self, bot_id: str, bots: dict[str, Bot]) -> Bot:
        bot = bots.get(bot_id)
        if bot is None:
            text = f"no bot {bot_id[:64]!r} is known: ListBots has the ids of all"
            raise CallError(grpc.StatusCode.NOT_FOUND, "NO_SUCH_BOT", text)
        return bot

    # --- matches --------------------------------------------------------------------------------

    def _create_match(self, request: pb.CreateMatchRequest) -> pb.CreateMatchResponse:
        bots = self._bots()
        if len(set(request.bot_ids)) != len(request.bot_ids):
            text = "bot_ids names a bot twice: each process has one seat, issue it another token"
            raise refuse("BOT_TWICE", text)
        for name, value in (("secret", request.secret), ("salt", request.salt)):
            if len(value) not in (0, 32):
                raise refuse(
                    "BAD_SECRET", f"{name} has {len(value)} bytes: allowed are 32, or none"
                )
        if request.connect_ms > _MOST_MS:
            text = f"connect_ms is {request.connect_ms}: allowed are 0–{_MOST_MS}"
            raise refuse("BAD_CONNECT_MS", text)
        order = MatchOrder(
            rules=read_rules(request),
            bots=tuple(self._bot(bot_id, bots) for bot_id in request.bot_ids),
            time_control=read_time_control(request),
            first_dealer=request.first_dealer,
            connect_ms=request.connect_ms or _CONNECT_MS,
            is_open=request.open_to_spectators,
            is_published=request.publish_record,
            secret=request.secret,
            salt=request.salt,
        )
        match = self._matches.create(order)
        return pb.CreateMatchResponse(match=match_message(match, for_organiser=True))

    def _get_match(self, request: pb.GetMatchRequest, is_organiser: bool) -> pb.GetMatchResponse:
        match = self._visible(request.match_id, to_organiser=is_organiser)
        return pb.GetMatchResponse(match=match_message(match, for_organiser=is_organiser))

    def _list_matches(
        self, request: pb.ListMatchesRequest, is_organiser: bool
    ) -> pb.ListMatchesResponse:
        after = _number(request.page_token)
        most = min(request.page_size or _MOST_MATCHES_IN_PAGE, _MOST_MATCHES_IN_PAGE)
        known = {STATES[state]: state for state in MatchState}
        if unknown := set(request.states) - set(known):
            text = f"states holds {min(unknown)}: allowed are {min(known)}–{max(known)}"
            raise refuse("BAD_STATE", text)
        states = {known[number] for number in request.states}
        found = [
            match
            for match in self._matches
            if match.number > after
            and (is_organiser or match.is_for_everybody)
            and (not request.states or match.state in states)
        ]
        page = found[:most]
        return pb.ListMatchesResponse(
            matches=[
                match_message(match, for_organiser=is_organiser, with_rules=False) for match in page
            ],
            next_page_token=str(page[-1].number) if len(found) > most else "",
        )

    async def _cancel_match(self, request: pb.CancelMatchRequest) -> pb.CancelMatchResponse:
        match = self._matches.find(request.match_id)
        if match.result is None:
            self._matches.cancel(match, "called off by an organiser")
            _log.info("match called off", match_id=request.match_id)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_ABORT_S):
                    await match.is_over.wait()
        return pb.CancelMatchResponse(match=match_message(match, for_organiser=True))

    def _release_match(self, request: pb.ReleaseMatchRequest) -> pb.ReleaseMatchResponse:
        match = self._matches.find(request.match_id)
        self._matches.release(match)
        return pb.ReleaseMatchResponse(match=match_message(match, for_organiser=True))

    def _get_record(self, request: pb.GetRecordRequest, is_organiser: bool) -> pb.GetRecordResponse:
        match = self._matches.find(request.match_id)
        if not is_organiser and not match.is_published:
            text = f"the record of match {request.match_id} is not published: it takes the token of"
            raise CallError(
                grpc.StatusCode.PERMISSION_DENIED, "NOT_PUBLISHED", f"{text} an organiser"
            )
        result = _result_with_record(match)
        size = len(result.record)
        if request.offset > size:
            raise refuse("BAD_OFFSET", f"offset is {request.offset}: allowed are 0–{size}")
        return pb.GetRecordResponse(
            content=result.record[request.offset : request.offset + _MOST_RECORD_BYTES],
            size=size,
            record_hash=result.record_hash,
        )

    # --- watching -------------------------------------------------------------------------------

    async def _watch_match(self, raw: bytes, context: Context) -> None:
        try:
            error = await self._watched(raw, context)
        except CallError as refusal:
            error = refusal
        if error is None:
            return
        _log.info("watcher ended", reason=error.reason, text=error.text, peer=context.peer())
        try:
            async with asyncio.timeout(_ABORT_S):
                await abort(context, error)
        except TimeoutError:
            # The status waits behind what is not read. gRPC keeps it; nothing here waits for it.
            raise asyncio.CancelledError from None

    async def _watched(self, raw: bytes, context: Context) -> CallError | None:
        is_organiser = self._is_organiser(context)
        request = read(pb.WatchMatchRequest, raw)
        match = self._visible(request.match_id, to_organiser=is_organiser)
        whole = request.perspective == pb.PERSPECTIVE_ALL_HANDS
        if whole and not is_organiser:
            text = "PERSPECTIVE_ALL_HANDS takes an organiser's token: spectators see public facts"
            raise CallError(grpc.StatusCode.PERMISSION_DENIED, "ORGANISERS_ONLY", text)
        if request.perspective not in pb.Perspective.values():
            text = f"perspective is {request.perspective}: allowed are 0–{pb.PERSPECTIVE_ALL_HANDS}"
            raise refuse("BAD_PERSPECTIVE", text)
        log = match.log
        has_place = request.HasField("after_event_number")
        after = request.after_event_number if has_place else log.before_deal
        log.check(after)
        if self._watchers[is_organiser] >= self._limits.most_watchers:
            text = f"all {self._limits.most_watchers} places to watch are taken: try again later"
            raise CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "WATCHERS", text)
        now = match_message(match, for_organiser=is_organiser)
        first = pb.WatchMatchResponse(match=now).SerializeToString()
        self._watchers[is_organiser] += 1
        try:
            watcher = Watcher(context, log, self._turnstile, whole=whole, after=after)
            return await watcher.run(first, self._limits.unread_s)
        finally:
            self._watchers[is_organiser] -= 1


def _number(page_token: str) -> int:
    if not page_token:
        return 0
    if not page_token.isascii() or not page_token.isdigit() or len(page_token) > 18:
        raise _bad_page_token(page_token)
    return int(page_token)


def _bad_page_token(page_token: str) -> CallError:
    text = f"page_token is {page_token[:64]!r}: allowed is the next_page_token of an answer"
    return refuse("BAD_PAGE_TOKEN", text)


def _result_with_record(match: OrderedMatch) -> MatchResult:
    """The result of a match that has a record. Raises CallError."""
    match_id, result = match.spec.match_id, match.result
    if result is None:
        text = f"match {match_id} is {match.state.value}: its record is there when it has ended"
        raise CallError(grpc.StatusCode.FAILED_PRECONDITION, "NOT_ENDED", text)
    if not result.record:
        text = f"match {match_id} has no record: it never began"
        raise CallError(grpc.StatusCode.FAILED_PRECONDITION, "NO_RECORD", text)
    return result
