"""Ratings with every digit, and beside them those that the order of results would have given."""

from tournament.report.about import about
from tournament.report.cells import or_dash
from tournament.report.render import Column, Part, View
from tournament.report.results import Results
from tournament.statistics.standings import Method, standings

_RATINGS = (
    *(Column(name, name) for name in ("bot", "version", "content_hash", "mu", "sigma", "rating")),
    Column("error", "error", or_dash),
    Column("sequential_mu", "sequential mu"),
    Column("sequential_sigma", "sequential sigma"),
)


def ratings_view(results: Results) -> View:
    """Return each bot's rating, best first; `sequential_…` took the results in plan order."""
    hashes = {entry.bot: entry.content_hash for entry in results.entries}
    versions = {entry.bot: entry.version for entry in results.entries}
    rows = standings(versions, results.legs, method=Method.SEQUENTIAL)
    sequential = {row.bot: row for row in rows}
    return View(
        about=about(results.tournament),
        parts=[
            Part(
                "ratings",
                _RATINGS,
                [
                    {
                        "bot": row.bot,
                        "version": row.version,
                        "content_hash": hashes[row.bot],
                        "mu": row.mu,
                        "sigma": row.sigma,
                        "rating": row.rating,
                        "error": row.error,
                        "sequential_mu": sequential[row.bot].mu,
                        "sequential_sigma": sequential[row.bot].sigma,
                    }
                    for row in results.standings
                ],
            )
        ],
    )
