"""The ways into a match: what goes wrong behind them is the referee's own fault."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

_Arguments = ParamSpec("_Arguments")


class Faultable(Protocol):
    """Something that can take note of its own failure."""

    def fault(self, error: Exception) -> None:
        """The method that was called has failed."""
        ...


_Self = TypeVar("_Self", bound=Faultable)


def entry(
    method: Callable[Concatenate[_Self, _Arguments], None],
) -> Callable[Concatenate[_Self, _Arguments], None]:
    """A method that never raises: an exception goes to `fault`, and no bot is to blame."""

    @wraps(method)
    def guarded(owner: _Self, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> None:
        try:
            method(owner, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever it is
            owner.fault(error)

    return guarded
