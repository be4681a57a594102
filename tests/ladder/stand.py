"""A ladder in the process of a test, at a port of its own, with a clock that is patient."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from google.protobuf.message import Message

from referee.match.policy import Policy
from tests.ladder.visitors import Caller, Visitor
from tests.service.match_clients import Refused
from tournament.ladder.ladder import Ladder
from tournament.ladder.serve import Host, LadderOptions, prepare_ladder, serving
from tournament.ladder.settings import Asked, config_to_play, stored_table
from tournament.store.ladder import create_ladder, ladder_of
from tournament.store.store import Store

PATIENCE_S = 120.0
ONE_DEAL = {"match_end": "fixed_deals", "deals": 1}


class Stand:
    """A ladder that is served, and what calls and visits it."""

    def __init__(self, host: Host, store: Store, data: Path) -> None:
        self.host = host
        self.store = store
        self.data = data
        self.address = host.addresses[0]
        self.caller = Caller(self.address)
        self.visitors: list[Visitor] = []

    @property
    def ladder(self) -> Ladder:
        """The ladder itself."""
        return self.host.ladder

    @property
    def organiser(self) -> str:
        """The organiser's token."""
        return (self.data / "organiser.token").read_text().strip()

    async def visitor(
        self, bot: str, *, token: str = "", at_once: int = 1, is_broken: bool = False
    ) -> Visitor:
        """A bot that comes; it is registered if it has no token yet."""
        token = token or await self.caller.register(bot)
        found = Visitor(self.address, token, at_once=at_once, is_broken=is_broken)
        self.visitors.append(found)
        found.come()
        return found

    async def until(self, is_so: Callable[[], object], what: str) -> None:
        """Wait until something is so."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not is_so():  # noqa: ASYNC110 - nothing tells
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"not within {PATIENCE_S:g} s: {what}") from None


@asynccontextmanager
async def standing(
    data: Path,
    *,
    by_invitation: bool = False,
    first_pause_s: float = 30.0,
    most: int = 8,
    seats: int = 2,
    time: Sequence[str] = (),
    is_patient: bool = True,
) -> AsyncIterator[Stand]:
    """Serve a ladder of one-deal matches on what is in the folder; end all of it at the end.

    With `is_patient` any time is forgiven: a machine that is busy with other tests is no reason to
    abort matches.
    """
    options = LadderOptions(
        listen=("127.0.0.1:0",),
        data=data,
        by_invitation=by_invitation,
        most_matches=most,
        first_pause_s=first_pause_s,
    )
    with Store.open(data) as store:
        known = ladder_of(store)
        config = config_to_play(Asked(seats=seats, rules=ONE_DEAL, time=time), known)
        prepared = prepare_ladder(options, config)
        if known is None:
            new = f"ladder-{secrets.token_hex(4)}"
            known = create_ladder(store, new, stored_table(config), config.rules_hash)
        async with serving(options, prepared, config, store, known.id) as host:
            if is_patient:
                host.referee._policy = Policy(
                    most_forgiven_us_per_decision=10**12, most_forgiven_us_per_match=10**12
                )
            stand = Stand(host, store, data)
            running = asyncio.create_task(host.ladder.run())
            try:
                yield stand
                assert not running.done(), "the ladder runs on"
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                for visitor in stand.visitors:
                    await visitor.close()
                await stand.caller.channel.close()


async def refused(
    stand: Stand, request: Message | bytes, kind: type[Message], token: str = ""
) -> tuple[str, str]:
    """Status and reason of a call that must be refused."""
    with pytest.raises(Refused) as caught:
        await stand.caller(request, kind, token)
    return caught.value.code.name, caught.value.reason
