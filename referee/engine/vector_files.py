"""Conformance vectors out of files: one, a list, or one a line (docs/vectors.md)."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path


class VectorFileError(ValueError):
    """A file, or a line of one, cannot be read."""


def read_vectors(paths: Iterable[Path]) -> Iterator[tuple[str, object]]:
    """All vectors of files and, by name, of the .json and .jsonl files in folders.

    Each comes with its place, such as `FILE item 3`. What cannot be read comes as the
    VectorFileError that says why.
    """
    for path in paths:
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.suffix in (".json", ".jsonl"))
        for file in files:
            yield from _read(file)


def _read(path: Path) -> Iterator[tuple[str, object]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        yield str(path), VectorFileError(f"it cannot be read: {error}")
        return
    if path.suffix == ".jsonl":
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield f"{path} line {number}", _parsed(line)
        return
    content = _parsed(text)
    if isinstance(content, list):
        for number, vector in enumerate(content, 1):
            yield f"{path} item {number}", vector
    else:
        yield str(path), content


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twin = next(key for place, (key, _) in enumerate(pairs) if key in dict(pairs[:place]))
        raise ValueError(f"the key {twin!r} is there twice")
    return found


def _parsed(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        return VectorFileError(f"it is not JSON: {error}")
