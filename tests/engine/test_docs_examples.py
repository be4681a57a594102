"""Every Python example of docs/engine.md runs by itself and prints what it says."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "engine.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SAYS = re.compile(r"^\s*print\(.*\)  # (.+)$")


def examples(text: str) -> list[tuple[int, str]]:
    """The Python blocks of a page, each with the number of its first line."""
    return [(text.count("\n", 0, at.start(1)) + 1, at[1]) for at in _BLOCK.finditer(text)]


def run(first_line: int, code: str) -> None:
    """Run an example; what a line prints must be what the comment behind it says, if it has one.

    Several things that one line prints stand there with commas between.
    """
    printed: defaultdict[int, list[str]] = defaultdict(list)

    def record(*values: object) -> None:
        printed[sys._getframe(1).f_lineno].append(" ".join(map(str, values)))

    tree = ast.increment_lineno(ast.parse(code), first_line - 1)
    exec(compile(tree, str(PAGE), "exec"), {"__name__": "example", "print": record})
    for number, line in enumerate(code.splitlines(), start=first_line):
        said = _SAYS.match(line)
        if said:
            text = ", ".join(printed[number])
            assert text == said[1], f"{PAGE.name}:{number} says {said[1]!r} and prints {text!r}"


EXAMPLES = examples(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("first_line", "code"), EXAMPLES, ids=[f"{PAGE.name}:{line}" for line, _ in EXAMPLES]
)
def test_an_example(first_line: int, code: str) -> None:
    run(first_line, code)


def test_examples_are_typed_as_a_strict_program_is(tmp_path: Path) -> None:
    files = []
    for line, code in EXAMPLES:
        files.append(tmp_path / f"line_{line}.py")
        files[-1].write_text(code, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(tmp_path),
        *map(str, files),
    ]
    done = subprocess.run(command, cwd=PAGE.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_all_examples_are_found() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(EXAMPLES) == text.count("```python") >= 8
    assert sum(_SAYS.match(line) is not None for line in text.splitlines()) >= 3


@pytest.mark.parametrize(
    ("code", "fault"),
    [("print(1)  # 2\n", "engine.md:7 says '2' and prints '1'"), ("\nx = 1 / 0\n", "zero")],
)
def test_a_wrong_example_is_found(code: str, fault: str) -> None:
    with pytest.raises((AssertionError, ZeroDivisionError), match=fault):
        run(7, code)
