"""How much of a ladder's service one caller, and all strangers together, may use."""

from collections import Counter
from collections.abc import Callable
from typing import Final

import grpc

from referee.service.errors import CallError

_MOST_CALLS: Final = 200
"""Calls of all strangers together in a second."""
_MOST_CALLS_OF_ONE: Final = 100
"""Calls with one token, or of strangers from one address, in a second."""
_REGISTRATIONS: Final = 500
"""New bots that strangers may register at once; each second allows one more."""


class Rates:
    """Counts what is asked for; `now_s` is any clock that never goes back."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._second = 0.0
        self._calls: Counter[str] = Counter()
        """Calls in this second, by caller: a key of a token, or an address."""
        self._strangers = 0
        self._registrations = float(_REGISTRATIONS)
        """How many new bots strangers may register now."""
        self._counted_s = now_s()

    def call(self, peer: str, key: str) -> None:
        """Count a call. `key` is that of a bot's token, empty for a stranger; `peer` as in gRPC.

        Raises CallError if there are too many in this second: of this caller, or of strangers.
        """
        now = self._now_s()
        if now - self._second >= 1.0:
            self._second, self._strangers = now, 0
            self._calls.clear()
        caller = key or _address(peer)
        if self._calls[caller] >= _MOST_CALLS_OF_ONE:
            whose = "with one token" if key else "without a token from one address"
            raise _too_many(f"{_MOST_CALLS_OF_ONE} calls {whose}")
        if not key:
            if self._strangers >= _MOST_CALLS:
                raise _too_many(f"{_MOST_CALLS} calls without a token")
            self._strangers += 1
        self._calls[caller] += 1

    def registration(self) -> None:
        """Count a new bot of a stranger. Raises CallError if there were many of late."""
        now = self._now_s()
        allowed = self._registrations + now - self._counted_s
        self._registrations, self._counted_s = min(allowed, float(_REGISTRATIONS)), now
        if self._registrations < 1:
            text = f"{_REGISTRATIONS} new bots were registered just now: allowed is one more each"
            text += " second, so try again in a few seconds"
            raise CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "REGISTRATIONS", text)
        self._registrations -= 1


def _too_many(what: str) -> CallError:
    text = f"more than {what} in a second: try again in the next"
    return CallError(grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE", text)


def _address(peer: str) -> str:
    """Return `ipv4:1.2.3.4` of `ipv4:1.2.3.4:50000`: a machine has as many ports as it likes."""
    return peer.rpartition(":")[0] or peer
