"""A whole tournament in bubblewrap, in which one bot attacks before it plays."""

import json
import secrets
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import processes_under, run
from tests.tournament.fakes import bot_folder
from tournament.bots.logs import match_log
from tournament.runner.run import log_folder

# It tells in its output what it got hold of, then plays at random.
ATTACKER = """
import contextlib, glob, os, signal, socket, subprocess, sys

MARK, PORT, SECRET, FORKS = {mark!r}, {port}, {secret!r}, {forks}
own = os.environ["RUMMY_TOKEN"]

tokens = set()
for path in glob.glob("/proc/[0-9]*/environ"):
    with contextlib.suppress(OSError), open(path, "rb") as file:
        for part in file.read().split(b"\\0"):
            if part.startswith(b"RUMMY_TOKEN=") and part != b"RUMMY_TOKEN=" + own.encode():
                tokens.add(part)
print("tokens of others:", len(tokens))

for name, address in (("here", ("127.0.0.1", PORT)), ("out", ("192.0.2.1", 80))):
    try:
        socket.create_connection(address, 1).close()
        print(name, "reached")
    except OSError:
        print(name, "out of reach")

try:
    print("secret:", open(SECRET).read())
except OSError:
    print("secret: out of sight")

try:
    open("bot.py", "a").write("# changed")
    print("its own folder: written")
except OSError:
    print("its own folder: closed")

if os.fork() == 0:
    with contextlib.suppress(OSError):
        os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", MARK])

children = []
with contextlib.suppress(OSError):
    while len(children) < FORKS:
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
print("forks:", len(children))
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print("\\x1b]0;title\\x07then it plays", flush=True)

from random import Random
from sample_bots.client import Strategy, run

class Bot(Strategy):
    def __init__(self, starting):
        self._random = Random(starting.randomness)

    def choose(self, decision):
        return self._random.randrange(len(decision.legal_actions))

run("attacker", "1.0", Bot)
"""


def _json(folder: Path, view: str) -> dict[str, Any]:
    result = run(["tournament", view, "--format", "json"], folder)
    assert result.returncode == 0, result.stderr
    return dict(json.loads(result.stdout))


def marked(mark: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("sandbox", ["auto", "none"])
def test_an_attacking_bot_harms_neither_the_honest_one_nor_the_tournament(
    tmp_path: Path, sandbox: str
) -> None:
    mark, secret = f"mark-{secrets.token_hex(8)}", tmp_path / "rummy-data" / "secret"
    secret.parent.mkdir()
    secret.write_text("nobody may know")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        forks = 500 if sandbox == "auto" else 3
        script = ATTACKER.format(mark=mark, port=port, secret=str(secret), forks=forks)
        if sandbox == "none":  # where it would outlive this test
            script = script.replace("os.setsid()", "pass")
        folder = bot_folder(tmp_path, "attacker", script, {"run": ["python3", "bot.py"]})
        before = (folder / "bot.py").read_text()
        command = ["tournament", "run", "--bots", str(folder), "greedy", "--encounters", "2"]
        result = run([*command, "--seed", "5", "--sandbox", sandbox], tmp_path)
    assert result.returncode == 0, result.stderr
    view = _json(tmp_path, "matches")
    logs = log_folder(tmp_path / "rummy-data", view["tournament"]["id"]) / "bots"
    first = next(
        log.read_text()
        for match in view["matches"]
        if (log := match_log(logs, "attacker", match["match_id"])).exists()
    )
    if sandbox == "none":  # without walls it would have got what it was after
        assert "tokens of others: 0" not in first
        assert "here reached" in first
        assert "secret: nobody may know" in first
        return
    assert "Bots run in bubblewrap" in result.stderr
    assert "tokens of others: 0\nhere out of reach\nout out of reach\n" in first
    assert "secret: out of sight\nits own folder: closed\n" in first
    assert 0 < int(first.partition("forks: ")[2].partition("\n")[0]) < 64
    assert marked(mark) == []
    assert processes_under(tmp_path) == []
    assert (folder / "bot.py").read_text() == before
    assert all(match["termination"] == "completed" for match in view["matches"])
    assert len(view["matches"]) == 4
    standings = {row["bot"]: row for row in _json(tmp_path, "leaderboard")["standings"]}
    assert not any(standings["greedy"]["forfeits"].values())
    assert standings["greedy"]["matches"] == 4


def test_a_bot_that_takes_too_much_memory_forfeits_and_says_why(tmp_path: Path) -> None:
    script = "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n"
    script += "        held = b'x' * (200 << 20)\n        time.sleep(600)\ntime.sleep(600)\n"
    bot_folder(tmp_path, "glutton", script)
    command = ["tournament", "play", "glutton", "greedy", "--sandbox", "bubblewrap"]
    result = run(command, tmp_path)
    assert result.returncode == 0, result.stderr
    assert "glutton (leg 0) ended with signal SIGKILL: used " in result.stderr
    for match in _json(tmp_path, "matches")["matches"]:
        assert match["text"].endswith("was not ready in time: no process is left")


def test_untrusted_bots_are_refused_before_anything_is_stored(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text('untrusted = ["random"]\nencounters = 1\n')
    result = run(["tournament", "run", "cup.toml", "--sandbox", "rlimits"], tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith(
        "error: the sandbox 'rlimits' does not hold bots that are marked untrusted (random):"
        " allowed is 'bubblewrap'\n"
    )
    assert not (tmp_path / "rummy-data").exists()


def test_a_tier_that_does_not_work_is_refused_before_anything_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run(["tournament", "run", "--sandbox", "bubblewrap"], tmp_path)
    assert result.returncode == 2
    assert "error: the sandbox 'bubblewrap' needs the program bwrap" in result.stderr
    assert not (tmp_path / "rummy-data").exists()
    result = run(["tournament", "run", "--sandbox", "strong"], tmp_path)
    assert result.returncode == 2
    assert "'strong': allowed is auto|bubblewrap|rlimits|none" in result.stderr


def test_auto_says_why_it_is_not_stronger_and_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run(["tournament", "play", "random", "greedy"], tmp_path)
    assert result.returncode == 0, result.stderr
    first, second, *_ = result.stderr.splitlines()
    assert first.startswith("WARNING: bots run without a sandbox, with limits on each process alo")
    assert second.startswith("It could be stronger: the sandbox 'bubblewrap' needs the program bw")
