"""Messages that are nearly right: a bounded number; tests/fuzz/run.py goes on longer."""

import subprocess
import sys
from pathlib import Path

import pytest

from referee.engine.actions import MalformedAction
from referee.service import codec, session
from rummy.referee.v1 import rummy_pb2 as pb
from tests.fuzz import targets
from tests.fuzz.mutation import CORPUS
from tests.fuzz.run import feed
from tests.fuzz.targets import TARGETS
from tests.scale import cases, repeating

BATCHES = 100


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_answers_comes_out(name: str) -> None:
    inputs = 0
    for case in cases(BATCHES):
        seed = f"ci/{case}"
        with repeating(__file__, f"test_nothing_but_answers_comes_out[{name}]", seed, case):
            inputs += feed(name, seed)
    assert inputs >= 200


def test_corpus_is_small_and_holds_good_and_bad() -> None:
    paths = sorted(CORPUS.glob("*/*.bin"))
    assert {path.parent.name for path in paths} == {folder for _, _, folder in TARGETS.values()}
    for folder in ("action", "choice", "request"):
        names = [path.stem for path in paths if path.parent.name == folder]
        assert sum(name.startswith("bad-") for name in names) >= 5, folder
        assert sum(not name.startswith("bad-") for name in names) >= 5, folder
    assert sum(path.stat().st_size for path in paths) < 20_000


@pytest.mark.parametrize("path", sorted(CORPUS.glob("action/*.bin")), ids=lambda path: path.stem)
def test_seeds_are_what_their_names_say(path: Path) -> None:
    message = pb.Action.FromString(path.read_bytes())
    try:
        codec.decode_action(message)
        is_malformed = False
    except MalformedAction:
        is_malformed = True
    # What is no meld or no wild card is for the rules to say, not for the codec.
    for_the_rules = {"bad-all-wild", "bad-same-card-thrice", "bad-meaning-of-natural"}
    for_the_rules.add("bad-meld-id-most")
    expected = path.stem.startswith("bad-") and path.stem not in for_the_rules
    assert is_malformed == expected


def _feed_all(name: str) -> None:
    for case in range(BATCHES):
        feed(name, f"ci/{case}")


def test_planted_bugs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A codec that forgets one check, and a session that lets an error through."""
    monkeypatch.setattr(codec, "_check_fields", lambda *_args, **_names: None)
    monkeypatch.setattr(session, "DecodeError", KeyError)
    for name in ("action", "session"):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is
            _feed_all(name)
        assert f"target {name}" in caught.value.__notes__[0]


def test_command_repeats_a_seed() -> None:
    root = Path(targets.__file__).parent.parent.parent
    command = [sys.executable, "-m", "tests.fuzz.run", "--target", "choice", "--seed", "ci/0"]
    assert subprocess.run(command, check=False, cwd=root).returncode == 0
