"""Who may play: bots are registered, get tokens and are withdrawn, durably and at once."""

from collections.abc import Iterable

import grpc
import structlog

from referee.service.errors import CallError, refuse
from referee.service.server import Referee
from referee.service.tokens import key_of, new_token
from tournament.errors import UsageError
from tournament.ladder.desk import Desk
from tournament.ladder.field import Field, Place
from tournament.ladder.names import check_names, check_words, entrant_of
from tournament.store.ladder import add_entrants
from tournament.store.registry import Registration, Registry, outside_hash
from tournament.store.store import Store
from tournament.store.stored import Entry

MOST_VERSIONS = 100
"""Of a bot, those that are not withdrawn."""
MOST_VERSIONS_EVER = 1_000
MOST_ENTRANTS = 10_000
"""Of all bots, those that are not withdrawn."""
MOST_ENTRANTS_EVER = 100_000
_log = structlog.get_logger()


class Entrants:
    """The registrations of one ladder, in the store, at the referee's door and in the field."""

    def __init__(
        self, referee: Referee, store: Store, desk: Desk, ladder: str, field: Field
    ) -> None:
        self._referee = referee
        self._store = store
        self._registry = Registry(store)
        self._desk = desk
        self._ladder = ladder
        self._field = field
        self._by_key: dict[str, Place] = {}
        self._names: dict[str, list[Place]] = {}
        self._submitted: set[str] = set()
        """Names of bots whose folders were submitted here: no stranger takes them."""
        self._taken: set[str] = set()
        """Entrants that are being registered."""
        self._withdrawn = 0
        """Of all in the field."""
        self._changes = 0
        """Counts what was changed here: what was read before that is out of date."""

    def of_key(self, key: str) -> Place | None:
        """Return the entrant of a token's key."""
        return self._by_key.get(key)

    def of_token(self, token: str) -> Place:
        """Return the entrant of a token. Raises CallError (UNAUTHENTICATED)."""
        if not token:
            text = "metadata must hold `authorization: Bearer TOKEN`, with the token of a bot"
            raise CallError(grpc.StatusCode.UNAUTHENTICATED, "NO_TOKEN", text)
        place = self._by_key.get(key_of(token))
        if place is None:
            text = "the token is no bot's on this ladder, was replaced, or its bot was withdrawn"
            raise CallError(grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN", text)
        return place

    def versions(self, bot: str) -> list[Place]:
        """Return all versions of a bot, the oldest first."""
        return self._names.get(bot, [])

    def is_submitted(self, bot: str) -> bool:
        """Whether a bot of this name runs here, so that its name is not for strangers."""
        return bot in self._submitted

    # --- what others have stored ----------------------------------------------------------------

    async def load(self) -> None:
        """Take over what is stored, also what other processes have stored since the last time."""
        changes = -1
        while changes != self._changes:
            changes = self._changes
            stored = await self._desk.read(self._registry.all, with_withdrawn=True)
        self._submitted = {one.bot for one in stored if not one.is_elsewhere}
        elsewhere = [one for one in stored if one.is_elsewhere and _is_playable(one)]
        new = [one for one in elsewhere if _entrant(one) not in self._field.places]
        if new:
            hashes = {_entrant(one): one.content_hash for one in new}
            await self._desk.write(add_entrants, self._store, self._ladder, hashes)
        for one in elsewhere:
            place = self._field.places.get(_entrant(one))
            if place is None:
                place = _place(one)
                self._enter(place)
            if one.withdrawn is not None:
                self._retire(place)
            elif one.token_key and one.token_key != place.token_key:
                self._admit(place, one.token_key)

    def _enter(self, place: Place) -> None:
        self._changes += 1
        self._field.enter(place)
        self._names.setdefault(place.bot, []).append(place)

    def _admit(self, place: Place, key: str) -> None:
        self._changes += 1
        if place.token_key:
            self._by_key.pop(place.token_key, None)
            self._referee.replace_key(place.token_key, key)
        else:
            self._referee.tokens.admit_key(key, place.bot, place.version)
        place.token_key = key
        self._by_key[key] = place

    def _retire(self, place: Place) -> None:
        if place.withdrawn:
            return
        self._changes += 1
        self._withdrawn += 1
        place.withdrawn = True
        if place.token_key:
            self._by_key.pop(place.token_key, None)
            self._referee.withdraw_key(place.token_key, "it was withdrawn")

    # --- calls ----------------------------------------------------------------------------------

    @staticmethod
    def check_request(bot: str, version: str, author: str, language: str) -> None:
        """Raise CallError for names that nobody may register."""
        try:
            check_names(bot, version)
            check_words(author, language)
        except ValueError as error:
            raise refuse("BAD_NAME", str(error)) from error

    async def register(self, bot: str, version: str, author: str, language: str) -> tuple[str, str]:
        """Register a version; its new token and its name as an entrant. Raises CallError.

        Whether the caller may do so, and `check_request`, is for whoever calls.
        """
        entrant = entrant_of(bot, version)
        if entrant in self._field.places or entrant in self._taken:
            raise _taken(bot, version)
        self._check_room(bot)
        token = new_token()
        entry = Entry(
            bot=bot,
            version=version,
            author=author.strip(),
            language=language.strip(),
            content_hash=outside_hash(bot, version),
            folder="",
            manifest={"elsewhere": True},
        )
        self._taken.add(entrant)
        try:
            registered = await self._desk.write(self._store_new, entry, key_of(token))
        except UsageError:
            registered = None  # A folder with this version was submitted.
        finally:
            self._taken.discard(entrant)
        if registered is None or registered.token_key != key_of(token):
            raise _taken(bot, version)
        place = _place(registered)
        self._enter(place)
        self._admit(place, key_of(token))
        _log.info("bot registered", bot=entrant, author=entry.author)
        return token, entrant

    def _check_room(self, bot: str) -> None:
        """Raise CallError if no more versions of a bot, or of all, can be registered."""
        own, all_ = self.versions(bot), self._field.places
        own_now = sum(not place.withdrawn for place in own)
        all_now = len(all_) - self._withdrawn
        for what, count, most, besides in (
            (f"{bot} has", own_now, MOST_VERSIONS, "besides withdrawn ones"),
            (f"{bot} has had", len(own), MOST_VERSIONS_EVER, "with withdrawn ones"),
            ("the ladder has", all_now, MOST_ENTRANTS, "besides withdrawn ones"),
            ("the ladder has had", len(all_), MOST_ENTRANTS_EVER, "with withdrawn ones"),
        ):
            if count >= most:
                text = f"{what} {count} versions: allowed are {most}, {besides}"
                raise CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "ENTRANTS", text)

    def _store_new(self, entry: Entry, key: str) -> Registration:
        registered = self._registry.register(entry, is_elsewhere=True, token_key=key)
        hashes = {_entrant(registered): registered.content_hash}
        add_entrants(self._store, self._ladder, hashes)
        return registered

    async def replace_token(self, place: Place) -> str:
        """Return a new token for an entrant; the old one is refused from now on."""
        token = new_token()
        await self._desk.write(self._registry.set_token, place.content_hash, key_of(token))
        self._admit(place, key_of(token))
        _log.info("token replaced", bot=place.entrant)
        return token

    async def withdraw(self, places: Iterable[Place]) -> list[str]:
        """Withdraw these versions; those that were not withdrawn before."""
        fresh = [place for place in places if not place.withdrawn]
        for place in fresh:
            await self._desk.write(self._registry.withdraw, place.bot, place.version)
            self._retire(place)
            _log.info("bot withdrawn", bot=place.entrant)
        return [place.entrant for place in fresh]

    async def pause(self, place: Place, why: str | None) -> None:
        """Store why an entrant is not seated; None: it is again."""
        await self._desk.write(self._registry.pause, place.content_hash, why)


def _taken(bot: str, version: str) -> CallError:
    text = f"{bot} has a version {version!r} already: give this one a version of its own"
    return CallError(grpc.StatusCode.ALREADY_EXISTS, "VERSION_TAKEN", text)


def _is_playable(one: Registration) -> bool:
    try:
        check_names(one.bot, one.version)
    except ValueError:
        return False
    return True


def _entrant(one: Registration) -> str:
    return entrant_of(one.bot, one.version)


def _place(one: Registration) -> Place:
    return Place(
        entrant=_entrant(one),
        content_hash=one.content_hash,
        token_key="",
        author=one.author,
        language=one.language,
        paused=one.paused or "",
    )
