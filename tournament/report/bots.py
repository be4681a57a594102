"""The bots of a tournament, and those that were submitted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tournament.report.about import about
from tournament.report.cells import short_hash
from tournament.report.render import Column, Part, Row, View
from tournament.store.registry import Registration
from tournament.store.stored import Entry, Tournament

_PUBLIC = (
    Column("bot", "Bot", is_names=True),
    Column("version", "Version", is_names=True),
    Column("author", "Author", spare=2),
    Column("language", "Language", spare=1),
    Column("content_hash", "Content", short_hash, spare=3),
)
_OWN = (Column("folder", "Folder", spare=4),)
"""What only the organiser is told."""


def _state(row: Row) -> str:
    """Return how a submitted bot stands, as people read it."""
    if row["withdrawn"] is not None:
        return f"withdrawn {_day(row['withdrawn'])}"
    return "may play" if row["paused"] is None else f"paused: {row['paused']}"


def _day(when: object) -> str:
    return str(when).partition("T")[0]


def _place(runs: object, *, is_untrusted: object) -> str:
    return f"{runs}, untrusted" if is_untrusted else str(runs)


_SUBMITTED = (
    *_PUBLIC,
    Column(
        "runs",
        "Runs",
        spare=2,
        show_row=lambda row: _place(row["runs"], is_untrusted=row["is_untrusted"]),
    ),
    Column("is_untrusted", "Untrusted", for_people=False),
    Column("submitted", "Submitted", _day, spare=2),
    Column("matches", "Matches", is_number=True),
    Column("state", "State", in_data=False, show_row=_state, wraps=True),
    Column("withdrawn", "Withdrawn", for_people=False),
    Column("paused", "Paused", for_people=False),
)


def bots_view(tournament: Tournament, entries: Sequence[Entry], *, is_public: bool = False) -> View:
    """Return the bots of a tournament, with the folders that they came from unless public."""
    columns = _PUBLIC if is_public else (*_PUBLIC, *_OWN)
    rows = [{column.name: getattr(entry, column.name) for column in columns} for entry in entries]
    return View(about=about(tournament), parts=[Part("bots", columns, rows)])


def submitted_view(registrations: Sequence[Registration], matches: Mapping[str, int]) -> View:
    """Return the bots that were submitted; they belong to no tournament.

    `matches` are the results of each content, in all tournaments together.
    """
    rows = [
        _registered(one) | {"matches": matches.get(one.content_hash, 0)} for one in registrations
    ]
    return View(about=None, parts=[Part("bots", _SUBMITTED, rows)])


def submission_view(registration: Registration, token: str | None) -> View:
    """Return what was submitted; the `token` is that of a bot that runs elsewhere."""
    row = _registered(registration) | {"token": token}
    columns = [
        replace(column, show=str) if column.name == "content_hash" else column
        for column in _SUBMITTED
        if column.name not in ("matches", "state", "withdrawn", "paused")
    ]
    columns.append(Column("token", "Token", for_people=token is not None))
    return View(about=None, parts=[Part("submitted", columns, [row], is_single=True)])


def _registered(one: Registration) -> dict[str, object]:
    return {
        "bot": one.bot,
        "version": one.version,
        "author": one.author,
        "language": one.language,
        "content_hash": one.content_hash,
        "runs": "elsewhere" if one.is_elsewhere else "here",
        "is_untrusted": one.is_untrusted,
        "submitted": one.created,
        "withdrawn": one.withdrawn,
        "paused": one.paused,
    }
