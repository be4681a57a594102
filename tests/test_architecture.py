"""Who may import whom: the table of layers.py, held against the syntax trees of all project files.

The table names what is allowed, so a new import of something else fails here first.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.layers import HOSTS, LAYERS, LOADS_LATE, OUT_OF_REACH, REFEREE, Layer

ROOT = Path(__file__).parent.parent
PACKAGES = ("referee", "tournament", "sample_bots")
MOST_LINES = 450


@dataclass(frozen=True)
class Module:
    """One file of the project."""

    name: str
    path: Path
    is_package: bool
    tree: ast.Module


def modules(root: Path) -> dict[str, Module]:
    """All modules of the packages under a root, by dotted name; generated code is left out."""
    found: dict[str, Module] = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
            found[name] = Module(name, path, is_package, tree)
    return found


def _loaded_at_once(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those inside of functions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def imports(
    module: Module, known: dict[str, Module], *, at_once: bool = False
) -> Iterator[tuple[str, int]]:
    """Dotted names that a module imports anywhere in it, with their lines.

    `at_once`: only those that come with the module, not those that its functions load.
    """
    for node in _loaded_at_once(module.tree) if at_once else ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.name.split(".")
                up = parts[: len(parts) - node.level + module.is_package]
                base = ".".join([*up, base]) if base else ".".join(up)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield (inner if inner in known else base), node.lineno
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            called = node.func.id if isinstance(node.func, ast.Name) else called
            if called in ("import_module", "__import__") and node.args:
                named = node.args[0]
                text = named.value if isinstance(named, ast.Constant) else "(computed)"
                yield str(text), node.lineno


def fits(name: str, pattern: str) -> bool:
    """Whether a dotted name is what the pattern names."""
    stem = pattern.removesuffix(".*")
    return name == stem or (stem != pattern and name.startswith(f"{stem}."))


def layer_of(name: str) -> Layer | None:
    """The line of the table for a module."""
    fitting = [pattern for pattern in LAYERS if fits(name, pattern)]
    fitting.sort(key=lambda pattern: (len(pattern.removesuffix(".*")), not pattern.endswith(".*")))
    return LAYERS[fitting[-1]] if fitting else None


def _is_allowed(name: str, layer: Layer) -> bool:
    top = name.split(".", maxsplit=1)[0]
    if top in (*PACKAGES, "rummy", "tests"):
        return any(fits(name, pattern) for pattern in layer.project)
    if top in sys.stdlib_module_names:
        return top not in layer.not_from_stdlib
    return top in layer.libraries


def import_faults(root: Path) -> list[str]:
    """Every import that the table does not allow."""
    known = modules(root)
    faults = []
    for module in known.values():
        layer = layer_of(module.name)
        if layer is None:
            faults.append(f"{module.name}: no line of the table is for it")
            continue
        faults += [
            f"{module.name}:{line} may not import {name}"
            for name, line in imports(module, known)
            if not _is_allowed(name, layer)
        ]
    return faults


def _reached(name: str, known: dict[str, Module], *, at_once: bool = False) -> set[str]:
    """All that is imported when a module is, packages above it and above those included.

    `at_once`: without what functions load when they run.
    """
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        now = waiting.pop()
        parts = now.split(".")
        for count in range(1, len(parts) + 1):
            one = ".".join(parts[:count])
            if one not in seen:
                seen.add(one)
                if one in known:
                    waiting += [name for name, _ in imports(known[one], known, at_once=at_once)]
    return seen


def reach_faults(root: Path) -> list[str]:
    """Every module that brings in, through others, what must stay away from it."""
    known = modules(root)
    faults = []
    for name in known:
        reached = _reached(name, known)
        away = {one for place, names in OUT_OF_REACH.items() if fits(name, place) for one in names}
        faults += [f"{name} reaches {one}" for one in sorted(away & reached)]
        if not fits(name, "tournament.*") or any(fits(name, place) for place in HOSTS):
            continue
        is_late = any(fits(name, place) for place in LOADS_LATE)
        if REFEREE in (_reached(name, known, at_once=True) if is_late else reached):
            faults.append(f"{name} reaches {REFEREE}")
    return faults


def file_faults(root: Path) -> list[str]:
    """Files that are too long, and packages that do not say what they are."""
    faults = []
    for place in (*PACKAGES, "tests", "proto"):
        for path in sorted((root / place).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            name = path.relative_to(root)
            lines = len(text.splitlines())
            if lines > MOST_LINES and "_pb2" not in path.name:
                faults.append(f"{name} has {lines} lines, more than {MOST_LINES}")
            if path.name == "__init__.py" and not ast.get_docstring(ast.parse(text)):
                faults.append(f"{name} has no docstring")
            # Folders of bots and of tests are no packages.
            if place in ("referee", "tournament") and not (path.parent / "__init__.py").exists():
                faults.append(f"{name.parent} has no __init__.py")
    return faults


# --- the project ----------------------------------------------------------------------------------


def test_every_import_is_in_the_table() -> None:
    assert import_faults(ROOT) == []


def test_nothing_is_brought_in_through_others() -> None:
    assert reach_faults(ROOT) == []


def test_files_are_short_and_packages_say_what_they_are() -> None:
    assert file_faults(ROOT) == []


def test_every_line_of_the_table_is_for_something() -> None:
    known = modules(ROOT)
    assert [place for place in LAYERS if not any(fits(name, place) for name in known)] == []


# --- the checks find what they are for ------------------------------------------------------------

_TREE = {
    "referee/__init__.py": '"""Doc."""\n__version__ = "1"\n',
    "referee/engine/__init__.py": '"""Doc."""\n',
    "referee/engine/cards.py": "from dataclasses import dataclass\n",
    "referee/match/__init__.py": '"""Doc."""\n',
    "referee/match/outcome.py": "from referee.engine import cards\n",
    "referee/service/__init__.py": '"""Doc."""\n',
    "referee/service/server.py": "import asyncio\nimport grpc\nfrom referee.match import outcome\n",
    "tournament/__init__.py": '"""Doc."""\nfrom referee import __version__\n',
    "tournament/rating/__init__.py": '"""Doc."""\n',
    "tournament/rating/fit.py": "import trueskill\n",
    "tournament/store/__init__.py": '"""Doc."""\n',
    "tournament/store/results.py": "import sqlalchemy\nfrom referee.match import outcome\n",
    "tournament/worker/__init__.py": '"""Doc."""\n',
    "tournament/worker/__main__.py": "from referee.service.server import Server\n",
    "tournament/ladder/__init__.py": '"""Doc."""\n',
    "tournament/ladder/serve.py": "from referee.service.server import Server\n",
    "tournament/commands/__init__.py": '"""Doc."""\n',
    "tournament/commands/play.py": "def f():\n    from tournament.ladder import serve\n",
    "sample_bots/__init__.py": '"""Doc."""\n',
    "sample_bots/random/bot.py": "import random\nimport grpc\nfrom rummy.referee.v1 import x\n",
}


def _plant(root: Path, changes: dict[str, str]) -> None:
    for name, text in (_TREE | changes).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_a_good_tree_has_no_faults(tmp_path: Path) -> None:
    _plant(tmp_path, {})
    assert import_faults(tmp_path) + reach_faults(tmp_path) + file_faults(tmp_path) == []


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("referee/engine/cards.py", "import time", "referee.engine.cards:1 may not import time"),
        ("referee/engine/cards.py", "\nfrom os import path", "cards:2 may not import os"),
        ("referee/engine/cards.py", "def f():\n    import random", "cards:2 may not import random"),
        ("referee/engine/cards.py", "import concurrent.futures", "import concurrent.futures"),
        ("referee/engine/cards.py", "import grpc.aio", "may not import grpc.aio"),
        (
            "referee/engine/cards.py",
            "from google.protobuf import message",
            "import google.protobuf",
        ),
        ("referee/engine/cards.py", "from rummy.referee.v1 import x", "import rummy.referee.v1"),
        ("referee/engine/cards.py", "from referee.match import outcome", "referee.match.outcome"),
        ("referee/engine/cards.py", "from ..match import outcome", "referee.match.outcome"),
        ("referee/engine/cards.py", "from .. import service", "may not import referee.service"),
        ("referee/engine/cards.py", "import numpy", "may not import numpy"),
        ("referee/engine/__init__.py", '"""D."""\nfrom . import cards\nimport time', "import time"),
        ("referee/engine/cards.py", "import importlib\nimportlib.import_module('time')", "time"),
        ("referee/engine/cards.py", "__import__(name)", "may not import (computed)"),
        ("referee/match/outcome.py", "import asyncio", "may not import asyncio"),
        ("referee/match/outcome.py", "import grpc", "may not import grpc"),
        ("referee/match/outcome.py", "import referee.service.server", "referee.service.server"),
        ("referee/service/server.py", "import tournament", "may not import tournament"),
        ("referee/service/server.py", "import sample_bots", "may not import sample_bots"),
        ("referee/service/server.py", "import sqlalchemy", "may not import sqlalchemy"),
        ("referee/other.py", "import time", "referee.other: no line of the table is for it"),
        ("tournament/rating/fit.py", "import grpc", "may not import grpc"),
        ("tournament/rating/fit.py", "from tournament.store import X", "import tournament.store"),
        ("tournament/rating/fit.py", "import sqlalchemy as sa", "may not import sqlalchemy"),
        ("tournament/store/results.py", "from referee.service import server", "service.server"),
        (
            "tournament/store/results.py",
            "import sample_bots.random",
            "may not import sample_bots.random",
        ),
        ("sample_bots/random/bot.py", "import referee", "may not import referee"),
        ("sample_bots/random/bot.py", "import tournament.store", "may not import tournament.store"),
        ("sample_bots/random/bot.py", "import structlog", "may not import structlog"),
    ],
)
def test_a_planted_import_is_found(tmp_path: Path, file: str, text: str, fault: str) -> None:
    _plant(tmp_path, {file: text})
    assert any(fault in found for found in import_faults(tmp_path)), import_faults(tmp_path)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"referee/__init__.py": '"""Doc."""\nimport grpc\n'},
            "referee.engine.cards reaches grpc",
        ),
        (
            {"tournament/rating/fit.py": "from tournament.store import results"},
            "tournament.rating.fit reaches sqlalchemy",
        ),
        (
            {"tournament/store/results.py": "from tournament.worker import __main__"},
            "tournament.store.results reaches referee.service",
        ),
        (
            {"tournament/store/results.py": "def f():\n    from tournament.ladder import serve"},
            "tournament.store.results reaches referee.service",
        ),
        (
            {"tournament/commands/play.py": "from tournament.ladder import serve"},
            "tournament.commands.play reaches referee.service",
        ),
        (
            {"tournament/commands/play.py": "class A:\n    from tournament.ladder import serve"},
            "tournament.commands.play reaches referee.service",
        ),
    ],
)
def test_what_is_brought_in_through_others_is_found(
    tmp_path: Path, changes: dict[str, str], fault: str
) -> None:
    _plant(tmp_path, changes)
    assert fault in reach_faults(tmp_path)


def test_a_spec_looked_up_by_its_name_is_no_import(tmp_path: Path) -> None:
    text = "from importlib.util import find_spec\nfind_spec('sample_bots')\n"
    _plant(tmp_path, {"tournament/worker/__main__.py": text, "referee/service/server.py": text})
    assert import_faults(tmp_path) == []


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("referee/engine/long.py", "x = 1\n" * 451, "long.py has 451 lines, more than 450"),
        ("tests/test_long.py", "x = 1\n" * 500, "test_long.py has 500 lines"),
        ("referee/engine/__init__.py", "x = 1\n", "engine/__init__.py has no docstring"),
        ("tournament/web/pages.py", "x = 1\n", "tournament/web has no __init__.py"),
    ],
)
def test_a_planted_file_is_found(tmp_path: Path, file: str, text: str, fault: str) -> None:
    _plant(tmp_path, {file: text, "proto/rummy/x_pb2.py": "x = 1\n" * 900})
    assert [fault in found for found in file_faults(tmp_path)] == [True]
