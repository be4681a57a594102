"""The pages for people: links lead somewhere, and the commands they show exist with all options."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import referee.cli
import tournament.cli

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("proto/*.md"),
        *ROOT.glob("sample_bots/**/README.md"),
        *ROOT.glob("tests/**/*.md"),
    ]
)
PAGES = [page for page in PAGES if not {"node_modules", ".venv", "target"} & {*page.parts}]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
_LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^\s*```(\w*)\n(.*?)^\s*```$", re.DOTALL | re.MULTILINE)
_PROGRAMS = {"tournament": tournament.cli.app, "referee": referee.cli.app}
_ENDS = ("|", "&&", "||", ";", "&", ">", "2>", "<", ">>")


def prose(text: str) -> str:
    """The page without its blocks of code."""
    return _FENCE.sub("", text)


def anchors(text: str) -> set[str]:
    """The names of its headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+)$", prose(text), flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 0
        while (unique := f"{name}-{number}" if number else name) in found:
            number += 1
        found.add(unique)
    return found


def broken_links(page: Path) -> list[str]:
    """Relative links of a page that lead nowhere."""
    broken = []
    for link in _LINK.findall(prose(page.read_text(encoding="utf-8"))):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists():
            broken.append(f"{link}: no such file")
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            broken.append(f"{link}: no such heading")
    return broken


def commands(text: str) -> Iterator[list[str]]:
    """The words of every command of this project in the shell blocks of a page."""
    for language, block in _FENCE.findall(text):
        if language != "sh":
            continue
        for line in block.replace("\\\n", " ").splitlines():
            try:
                words = shlex.split(line, comments=True)
            except ValueError:
                continue  # a part of something longer
            for at, word in enumerate(words):
                begins = at == 0 or words[at - 1] in _ENDS or "=" in words[at - 1]
                program = word.rpartition("/")[2]
                if begins and program in _PROGRAMS and at + 1 < len(words):
                    rest = words[at + 1 :]
                    stop = next((n for n, one in enumerate(rest) if one in _ENDS), len(rest))
                    yield [program, *rest[:stop]]


def wrong_words(words: list[str]) -> list[str]:
    """What of a command there is not: the command itself, or options of it."""
    command: Any = typer.main.get_command(_PROGRAMS[words[0]])
    rest = words[1:]
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        if rest[0] not in command.commands:
            return [f"{words[0]}: no command {rest[0]}"]
        command = command.commands[rest.pop(0)]
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    known |= {"--help", "-h"}
    options = [word.partition("=")[0] for word in rest if re.match("--?[a-z]", word)]
    return [f"{shlex.join(words)}: no option {one}" for one in options if one not in known]


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    assert broken_links(ROOT / name) == []


@pytest.mark.parametrize("name", NAMES)
def test_commands_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert [fault for words in commands(text) for fault in wrong_words(words)] == []


def test_pages_and_commands_are_found() -> None:
    assert {"README.md", "docs/authors.md", "docs/prize-event.md", "proto/README.md"} <= {*NAMES}
    text = (ROOT / "docs" / "authors.md").read_text(encoding="utf-8")
    used = {words[1] for words in commands(text) if words[0] == "tournament"}
    steps = {"new-bot", "check", "run", "why", "logs", "submit", "bots", "register", "ladder"}
    assert used >= steps


def test_every_page_is_linked() -> None:
    linked = set()
    for page in PAGES:
        for link in _LINK.findall(prose(page.read_text(encoding="utf-8"))):
            linked.add((page.parent / link.partition("#")[0]).resolve())
    alone = [page.name for page in (ROOT / "docs").glob("*.md") if page.resolve() not in linked]
    assert alone == []


# --- the checks find what they are for ------------------------------------------------------------


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A *page*, `x`: two\n## Two\n## Two\n[1](page.md#a-page-x-two) [2](#two-1) [3](#two-2)\n"
        "[4](other.md) [5](https://example.org/x) [6](page.md#a)\n```sh\n# [7](no.md)\n```\n"
    )
    assert broken_links(page) == [
        "#two-2: no such heading",
        "other.md: no such file",
        "page.md#a: no such heading",
    ]


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("tournament run --bots a b", []),
        (".venv/bin/tournament fly", ["tournament: no command fly"]),
        ("X=1 tournament run --fast | tournament leaderboard --watch", ["run --fast: no option"]),
        ("cd x && referee verify r --heads h > out --x", []),
        ("referee bench wire --matchez=1  # tournament fly", ["no option --matchez"]),
        ("echo tournament fly", []),
    ],
)
def test_wrong_commands_are_found(line: str, faults: list[str]) -> None:
    found = [fault for words in commands(f"```sh\n{line}\n```\n") for fault in wrong_words(words)]
    assert len(found) == len(faults)
    assert all(fault in one for fault, one in zip(faults, found, strict=True))
