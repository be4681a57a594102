"""Conformance vectors out of files: one, a list, or one a line (docs/vectors.md)."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path


class VectorFileError(ValueError):
    """A file cannot be read; the message names it and the line."""


def read_vectors(paths: Iterable[Path]) -> Iterator[object]:
    """All vectors of files and, by name, of the .json and .jsonl files in folders.

    Raises VectorFileError.
    """
    for path in paths:
        if path.is_dir():
            files = [file for file in path.rglob("*") if file.suffix in (".json", ".jsonl")]
            for file in sorted(files):
                yield from _read(file)
        else:
            yield from _read(path)


def _read(path: Path) -> Iterator[object]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise VectorFileError(f"{path} cannot be read: {error}") from error
    if path.suffix == ".jsonl":
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield _parse(line, f"{path} line {number}")
        return
    content = _parse(text, str(path))
    if isinstance(content, list):
        yield from content
    else:
        yield content


def _parse(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise VectorFileError(f"{where} is not JSON: {error}") from error
