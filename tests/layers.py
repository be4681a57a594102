"""Who may import whom: the table that test_architecture.py holds against the project."""

from dataclasses import dataclass

IMPURE = (
    "asyncio", "concurrent", "datetime", "io", "logging", "multiprocessing", "os", "random",
    "secrets", "select", "selectors", "signal", "socket", "subprocess", "sys", "tempfile",
    "threading", "time", "uuid",
)  # fmt: skip
"""Parts of the standard library that bring in time, chance or the machine."""


@dataclass(frozen=True)
class Layer:
    """What modules of one place may import; `X.*` is a package and all in it, `X` just that."""

    project: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    not_from_stdlib: tuple[str, ...] = ()


PURE = ("schedule", "rating", "statistics")
"""The packages of `tournament` that are pure; each may import itself and those before it."""

# The most exact name that fits a module counts.
LAYERS: dict[str, Layer] = {
    "referee": Layer(),
    "referee.engine.*": Layer(("referee.engine.*",), not_from_stdlib=IMPURE),
    "referee.match.*": Layer(("referee.engine.*", "referee.match.*"), not_from_stdlib=IMPURE),
    "referee.service.*": Layer(
        ("referee", "referee.engine.*", "referee.match.*", "referee.service.*", "rummy.*"),
        ("grpc", "grpc_health", "grpc_reflection", "grpc_status", "google", "structlog"),
    ),
    "referee.service.metrics": Layer(("referee", "referee.service.*"), ("prometheus_client",)),
    "referee.bench.*": Layer(
        ("referee.engine.*", "referee.match.*", "referee.service.*", "referee.bench.*", "rummy.*"),
        ("grpc", "pyspiel"),
    ),
    "referee.cli": Layer(("referee.commands.*",), ("typer",)),
    "referee.commands.*": Layer(("referee.*",), ("typer", "rich")),
    "referee.__main__": Layer(("referee.cli",)),
    "tournament": Layer(("referee",)),
    "tournament.errors": Layer(),
    "tournament.schedule.*": Layer(("tournament.schedule.*",), not_from_stdlib=IMPURE),
    "tournament.rating.*": Layer(("tournament.rating.*",), ("trueskill",), IMPURE),
    "tournament.statistics.*": Layer(
        ("referee.match.outcome", *(f"tournament.{name}.*" for name in PURE)),
        not_from_stdlib=IMPURE,
    ),
    "tournament.keys": Layer(("tournament.errors", "tournament.schedule.*")),
    "tournament.config": Layer(
        (
            "referee.engine.*",
            "referee.match.*",
            "tournament.errors",
            "tournament.keys",
            "tournament.schedule.*",
        )
    ),
    "tournament.store.*": Layer(
        (
            "referee.match.outcome",
            "tournament.errors",
            "tournament.store.*",
            *(f"tournament.{name}.*" for name in PURE),
        ),
        ("alembic", "sqlalchemy"),
    ),
    "tournament.bots.*": Layer(("tournament.errors", "tournament.bots.*")),
    "tournament.worker.*": Layer(
        (
            "referee.engine.*",
            "referee.match.*",
            "tournament.errors",
            "tournament.bots.*",
            "tournament.worker.*",
        )
    ),
    "tournament.worker.__main__": Layer(("tournament.worker.*", "referee.service.*")),
    "tournament.runner.*": Layer(
        (
            "referee.match.*",
            "tournament.config",
            "tournament.errors",
            "tournament.bots.*",
            "tournament.runner.*",
            "tournament.store.*",
            "tournament.worker.*",
            *(f"tournament.{name}.*" for name in PURE),
        ),
        ("rich",),
    ),
    "tournament.report.*": Layer(
        (
            "referee.engine.*",
            "referee.match.*",
            "tournament.errors",
            "tournament.report.*",
            "tournament.store.*",
            *(f"tournament.{name}.*" for name in PURE),
        ),
        ("rich", "jinja2", "markupsafe", "tomli_w"),
    ),
    "tournament.check.*": Layer(
        (
            "referee.engine.*",
            "referee.match.*",
            "referee.service.*",
            "rummy.*",
            "tournament.errors",
            "tournament.bots.*",
            "tournament.check.*",
            "tournament.report.cells",
        ),
        ("google", "grpc", "rich"),
    ),
    "tournament.ladder.*": Layer(
        (
            "referee.engine.*",
            "referee.match.*",
            "referee.service.*",
            "rummy.*",
            "tournament.config",
            "tournament.errors",
            "tournament.keys",
            "tournament.ladder.*",
            "tournament.store.*",
            *(f"tournament.{name}.*" for name in PURE),
        ),
        ("google", "grpc", "structlog"),
    ),
    "tournament.bench.*": Layer(
        ("tournament.bench.*", "tournament.bots.*", "tournament.errors", "tournament.store.*")
    ),
    "tournament.commands.*": Layer(
        ("tournament.*", "referee.engine.*"), ("rich", "tomli_w", "typer")
    ),
    "tournament.commands.ladder": Layer(("tournament.*", "referee.service.*"), ("typer",)),
    "tournament.commands.submit": Layer(("tournament.*", "referee.service.tokens"), ("typer",)),
    "tournament.commands.register": Layer(
        ("tournament.commands.*", "tournament.errors", "rummy.*"), ("grpc", "typer")
    ),
    "tournament.cli": Layer(
        ("tournament", "tournament.commands.*", "tournament.errors"), ("typer",)
    ),
    "tournament.__main__": Layer(("tournament.cli",)),
    "sample_bots.*": Layer(("sample_bots.*", "rummy.*"), ("grpc",)),
}

# What a module must not bring in through others either.
OUT_OF_REACH: dict[str, tuple[str, ...]] = {
    "referee.engine.*": ("rummy", "grpc", "google", "referee.match", "referee.service", *IMPURE),
    "referee.match.*": ("rummy", "grpc", "google", "asyncio", "referee.service"),
    "referee.*": ("tournament", "sample_bots"),
    **{
        f"tournament.{name}.*": ("grpc", "google", "sqlalchemy", "alembic", "tournament.store")
        for name in PURE
    },
    "tournament.*": ("sample_bots",),
    "sample_bots.*": ("referee", "tournament"),
}
REFEREE = "referee.service"
"""What takes long to load: the referee itself, gRPC with it."""
HOSTS = ("tournament.worker.__main__", "tournament.check.*", "tournament.ladder.*")
"""The places in `tournament` that host a referee; others may not reach it."""
LOADS_LATE = ("tournament.commands.*", "tournament.cli", "tournament.__main__")
"""These may, inside of functions: a command loads it when it runs."""
