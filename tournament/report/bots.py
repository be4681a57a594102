"""The bots of a tournament."""

from collections.abc import Sequence

from tournament.report.about import about
from tournament.report.cells import short_hash
from tournament.report.render import Column, Part, View
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


def bots_view(tournament: Tournament, entries: Sequence[Entry], *, is_public: bool = False) -> View:
    """Return the bots of a tournament, with the folders that they came from unless public."""
    columns = _PUBLIC if is_public else (*_PUBLIC, *_OWN)
    rows = [{column.name: getattr(entry, column.name) for column in columns} for entry in entries]
    return View(about=about(tournament), parts=[Part("bots", columns, rows)])
