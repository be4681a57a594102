"""The command `referee` as a user runs it: what it prints, and its exit codes.

How `referee serve` runs and stops is in tests/service/test_serve.py.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from referee.engine.presets import PRESETS
from referee.engine.rule_fields import FIELDS
from tests.commands import explanation, referee, refused, within

ROOT = Path(__file__).resolve().parent.parent
VECTORS = ROOT / "tests" / "vectors"
GOOD = {"name": "good", "rules": {"preset": "basic", "set": {"hand_size": {"2": 99}}},
        "rules_error": "hand_size"}  # fmt: skip
BAD = {**GOOD, "name": "bad one", "rules_error": "packs"}


# --- the program itself ---------------------------------------------------------------------------


def test_help_and_version() -> None:
    done = referee("--help")
    assert done.returncode == 0
    for command in ("rules", "vectors", "serve", "verify", "replay", "bench"):
        assert command in done.stdout
    done = referee("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"referee \d+\.\d+\.\d+\S*\n", done.stdout)


@pytest.mark.parametrize("command", ["rules", "vectors", "serve", "bench engine", "bench wire"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = within(*command.split(), "--help")
    assert done.returncode == 0
    assert f"referee {command}" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["--nonsense"], ["rules", "--nonsense"], ["vectors"]]
)
def test_wrong_use(arguments: Sequence[str]) -> None:
    assert refused(*arguments)


# --- rules ----------------------------------------------------------------------------------------


def test_rules_side_by_side() -> None:
    done = referee("rules")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[: 1 + len(PRESETS)] == ["field", *PRESETS]
    for name in FIELDS:
        assert re.search(rf"^{name} ", done.stdout, re.MULTILINE), name
    assert "2:10 3:7 4:7 5:6 6:6" in done.stdout


def test_rules_as_json() -> None:
    done = within("rules", "--format", "json")
    assert [one["preset"] for one in json.loads(done.stdout)] == list(PRESETS)
    done = within("rules", "standard", "--format", "json")
    assert json.loads(done.stdout) == PRESETS["standard"].to_dict()


def test_rules_with_overrides() -> None:
    done = within(
        "rules", "basic", "--set", "hand_size.2=7", "--set", "hand_size.3=5",
        "--set", "ace=high_or_low", "--set", "recycles_allowed=null", "--format", "json",
    )  # fmt: skip
    rules = json.loads(done.stdout)
    assert (rules["hand_size"]["2"], rules["hand_size"]["3"], rules["hand_size"]["4"]) == (7, 5, 7)
    assert (rules["ace"], rules["recycles_allowed"]) == ("high_or_low", None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], ["'nope'", "basic", "classic"]),
        (["basic", "--set", "nope=1"], ["'nope'", "hand_size"]),
        (["basic", "--set", "ace"], ["'ace'", "field=value"]),
        (["basic", "--set", "ace=up"], ["ace", "'up'", "high_or_low"]),
        (["basic", "--set", "hand_size.2=99"], ["hand_size", "3–13"]),
        (["basic", "--set", "hand_size.9=5"], ["hand_size"]),
        (["basic", "--set", "jokers=2"], ["wilds", "jokers"]),
        (["--set", "ace=low"], ["preset"]),
        (["basic", "--format", "xml"], ["xml", "json"]),
    ],
)
def test_rules_errors_name_what_is_wrong_and_what_is_allowed(
    arguments: Sequence[str], words: Sequence[str]
) -> None:
    text = refused("rules", *arguments)
    for word in words:
        assert word in text


def test_error_of_the_installed_command() -> None:
    text = explanation(referee("rules", "basic", "--set", "jokers=2"))
    assert text.startswith("error: ")
    assert "wilds" in text


# --- vectors --------------------------------------------------------------------------------------


def test_all_vectors_of_the_project_pass() -> None:
    done = referee("vectors", str(VECTORS))
    assert done.returncode == 0, done.stdout
    *lines, last = done.stdout.splitlines()
    assert all(line.startswith("ok ") for line in lines)
    assert last == f"{len(lines)} passed, 0 failed"
    assert len(lines) > 100


def test_vectors_that_fail(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([GOOD, BAD]))
    (tmp_path / "b.jsonl").write_text(f"{json.dumps(GOOD)}\n\n{json.dumps({'name': 'none'})}\n")
    (tmp_path / "notes.txt").write_text("no vectors")
    done = referee("vectors", str(tmp_path))
    assert done.returncode == 1
    ok, failed, again, nothing, last = done.stdout.splitlines()
    assert (ok, again) == ("ok good", "ok good")
    assert failed.startswith("FAIL bad one: ")
    assert nothing.startswith("FAIL none: ")
    assert last == "2 passed, 2 failed"
    done = within("vectors", str(tmp_path / "b.jsonl"), str(tmp_path / "a.json"))
    assert done.stdout.splitlines()[-1] == "2 passed, 2 failed"


def test_no_vectors(tmp_path: Path) -> None:
    assert "no vector" in explanation(referee("vectors", str(tmp_path)))
    (tmp_path / "empty.json").write_text("[]")
    assert "no vector" in refused("vectors", str(tmp_path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b"{"),
        ("a.json", b"\xff\xfe"),
        ("a.jsonl", b"{}x\n"),
        ("a.json", b"[" * 100_000),
        ("a.json", None),
    ],
)
def test_bad_vector_file(tmp_path: Path, name: str, content: bytes | None) -> None:
    path = tmp_path / name
    if content is None:
        assert name in refused("vectors", str(path))
        return
    path.write_bytes(content)
    good = VECTORS / "00-format-example.json"
    done = within("vectors", str(path), str(good))
    assert done.returncode == 1
    first, second, last = done.stdout.splitlines()
    assert first.startswith(f"FAIL {path}")
    assert second.startswith("ok ")
    assert last == "1 passed, 1 failed"


@pytest.mark.parametrize("content", ["1", "null", '"text"', "[[]]", '{"steps": 3}', "{}"])
def test_vectors_that_are_none_fail_with_a_reason(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    done = within("vectors", str(path))
    assert done.returncode == 1
    first, last = done.stdout.splitlines()
    assert re.match(rf"FAIL {re.escape(str(path))}.*: .+", first)
    assert last == "0 passed, 1 failed"


# --- bench ----------------------------------------------------------------------------------------


def test_bench_engine_as_json() -> None:
    done = referee("bench", "engine", "--seconds", "0.2", "--format", "json", "--rules", "classic")
    assert done.returncode == 0
    row = json.loads(done.stdout)
    assert row["actions_per_second"] > 1_000
    assert (row["rules"], row["seats"]) == ("classic", 2)


def test_bench_refuses_what_cannot_be_played() -> None:
    assert "2–4" in refused("bench", "engine", "--rules", "traditional", "--seats", "6")
    assert "--matches" in refused("bench", "wire", "--matches", "1,x")
    assert "seconds" in refused("bench", "engine", "--seconds", "0")


# --- serve ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--listen", "0.0.0.0:0"], ["0.0.0.0:0", "--insecure", "127.0.0.1"]),
        (["--listen", "[::]:0"], ["--insecure"]),
        (["--listen", "example.org:50051"], ["--insecure"]),
        (["--listen", "127.0.0.1"], ["'127.0.0.1'", "HOST:PORT"]),
        (["--listen", "127.0.0.1:99999"], ["99999"]),
        (["--listen", "unix:"], ["path"]),
        (["--listen", f"unix:/tmp/{'x' * 120}"], ["107"]),
        (["--seats", "5", "--rules", "traditional"], ["2–4"]),
        (["--seats", "1"], ["2–6"]),
        (["--rules", "nope"], ["'nope'", "basic"]),
        (["--set", "ace=up"], ["ace", "low"]),
        (["--matches", "-1"], ["matches"]),
    ],
)
def test_serve_refuses(arguments: Sequence[str], words: Sequence[str]) -> None:
    text = refused("serve", *arguments)
    for word in words:
        assert word in text
