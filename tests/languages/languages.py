"""The sample bots that are not in Python: one row each, all that the tests need to know of them.

How to add one: docstring of `Language`, and a row in `LANGUAGES`.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pytest


@dataclass(frozen=True, slots=True)
class Language:
    """A folder of `sample_bots` whose bot.toml says how it is built and run.

    `programs` must be on the PATH to build it and to check it. Each of the `checks` (unit tests,
    formatter, linter) is a command that is run in the built folder and must end with exit code 0;
    RUMMY_VECTORS and RUMMY_PROTO are in its environment.
    """

    name: str
    programs: tuple[str, ...]
    checks: Mapping[str, tuple[str, ...]] = field(hash=False)


# The build leaves out what is for checks only.
_NPM_CHECKERS: Final = "npm install --no-save --silent --ignore-scripts"

LANGUAGES: Final = (
    Language(
        "go",
        programs=("go", "gofmt", "protoc"),
        checks={
            "unit tests": ("go", "test", "./..."),
            "formatter": ("sh", "-c", 'files=$(gofmt -l .); echo "$files"; test -z "$files"'),
            "linter": ("go", "vet", "./..."),
        },
    ),
    Language(
        "typescript",
        programs=("node", "npm"),
        checks={
            "unit tests": ("npm", "run", "--silent", "test"),
            "formatter": ("sh", "-c", f"{_NPM_CHECKERS} && npm run --silent format"),
            "linter": ("sh", "-c", f"{_NPM_CHECKERS} && npm run --silent lint"),
        },
    ),
    Language(
        "java",
        programs=("java", "javac", "mvn"),
        checks={
            "unit tests": ("mvn", "--batch-mode", "--quiet", "test"),
            "formatter": ("mvn", "--batch-mode", "--quiet", "spotless:check"),
            "linter": ("mvn", "--batch-mode", "--quiet", "-Plint", "test-compile"),
        },
    ),
    Language(
        "rust",
        programs=("cargo", "protoc"),
        checks={
            "unit tests": ("cargo", "test", "--release", "--quiet"),
            "formatter": ("cargo", "fmt", "--check"),
            "linter": (
                *("cargo", "clippy", "--release", "--all-targets", "--quiet"),
                *("--", "-D", "warnings"),
            ),
        },
    ),
    Language(
        "cpp",
        programs=("cmake", "c++", "protoc", "grpc_cpp_plugin", "clang-format", "clang-tidy"),
        checks={
            "unit tests": ("sh", "check.sh", "tests"),
            "formatter": ("sh", "check.sh", "format"),
            "linter": ("sh", "check.sh", "lint"),
        },
    ),
)


def language(name: str) -> Language:
    """The row of this name. Raises ValueError."""
    for row in LANGUAGES:
        if row.name == name:
            return row
    raise ValueError(f"{name!r}: known are {', '.join(row.name for row in LANGUAGES)}")


def need_toolchain(row: Language) -> None:
    """Skip the test if a program is missing; where skips are failures, this is one."""
    missing = [program for program in row.programs if not shutil.which(program)]
    if missing:
        pytest.skip(f"{row.name}: {', '.join(missing)} not found on the PATH")


def has_toolchain(row: Language) -> bool:
    """Whether all its programs are there."""
    return all(map(shutil.which, row.programs))


def is_ci() -> bool:
    """Whether nothing may be left out."""
    return os.environ.get("CI", "").lower() == "true"
