"""Bots that can't be started in a sandbox, and logs by match: only the referee's gate is a fake."""

import asyncio
import errno
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tournament.stage import until
from tests.tournament.test_bot_pool import FakeGate
from tournament.bots.logs import match_log
from tournament.bots.sandbox.choose import choose
from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.wrapped import Sandbox, SandboxError, Wrapped
from tournament.worker.messages import BotSpec, Failure, Message, Setup
from tournament.worker.pool import BotPool

LIMIT_S = 60.0
TALKS = "import sys, time; print('up'); time.sleep(600)"


class Gate(FakeGate):
    """Waits until a bot has ended, if it is told to."""

    def __init__(self, *, is_slow: bool) -> None:
        super().__init__()
        self._is_slow = is_slow
        self._exited: dict[str, asyncio.Event] = {}

    async def wait_connected(self, token: str, timeout_s: float) -> None:
        """Answer when the bot has ended, as the referee does."""
        if self._is_slow:
            await asyncio.wait_for(self._exit_of(token).wait(), timeout_s)
            raise ConnectionError

    def report_exit(self, token: str, reason: str) -> None:
        """Note it."""
        super().report_exit(token, reason)
        self._exit_of(token).set()

    def _exit_of(self, token: str) -> asyncio.Event:
        return self._exited.setdefault(token, asyncio.Event())


@dataclass
class Broken:
    """A sandbox that fails for some folders."""

    inner: Sandbox
    error: Exception

    name = "broken"
    announcement = ""
    is_for_untrusted = False

    def wrap(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        socket: Path | None,
        limits: Limits,
        writable: Path | None = None,
        read_only: Sequence[Path] = (),
    ) -> Wrapped:
        """Fail for the folder `b`."""
        if folder.name == "b":
            raise self.error
        return self.inner.wrap(
            argv,
            folder=folder,
            environment=environment,
            socket=socket,
            limits=limits,
            writable=writable,
            read_only=read_only,
        )

    def wrap_build(self, *_: object, **__: object) -> Wrapped:
        """Never asked for."""
        raise NotImplementedError


def make_pool(root: Path, gate: Gate, sandbox: Sandbox, run: tuple[str, ...]) -> BotPool:
    (root / "sockets").mkdir(exist_ok=True)
    (root / "sockets" / "referee.sock").touch()
    for name in "ab":
        (root / name).mkdir()
        (root / name).chmod(0o755)
        (root / name / "plain.txt").write_text("no program")
        (root / name / "no-such-interpreter").write_text("#!/no/such/interpreter\n")
        (root / name / "no-such-interpreter").chmod(0o755)
    setup = Setup(
        socket_dir=str(root / "sockets"),
        log_dir=str(root / "logs"),
        sandbox=sandbox.name,
        hidden=(),
        preset="basic",
        overrides={},
        time_control={"startup_ms": 10_000},
        bots=tuple(BotSpec(name, "1", str(root / name), run) for name in "ab"),
        launch_s=LIMIT_S,
    )
    said: list[Message] = []
    return BotPool(gate, f"unix:{root}/sockets/referee.sock", setup, sandbox, said.append)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("tier", ["none", "rlimits", "bubblewrap"])
@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("no-such-program", "was not found (or, if it is a script, the program that its first li"),
        ("./no-such-interpreter", "was not found (or, if it is a script, the program"),
        ("./plain.txt", "is not an executable file"),
    ],
)
async def test_what_does_not_start_is_named_in_every_tier(
    tmp_path: Path, tier: str, program: str, expected: str
) -> None:
    gate = Gate(is_slow=tier != "none")
    pool = make_pool(tmp_path, gate, choose(tier), (program,))
    try:
        await pool.seat("a", 0, fresh=False, withdrawn=())
        pool.begin_match("a", 0, "m1")
        [failure] = await pool.failures("a", 0)
        pool.end_match("a", 0, "m1")
    finally:
        await pool.close()
    assert failure.failure is Failure.NOT_STARTED
    assert failure.text.startswith(
        f"could not be started: the program {program!r} of its `run` {expected}"
    )
    assert [text for _, text in gate.exits] == ["no process was started"]
    assert not list((tmp_path / "sockets").glob("home-*"))


@pytest.mark.parametrize("tier", ["none", "rlimits", "bubblewrap"])
async def test_a_program_that_ends_with_the_same_code_did_start(tmp_path: Path, tier: str) -> None:
    gate = Gate(is_slow=True)
    pool = make_pool(tmp_path, gate, choose(tier), ("sh", "-c", "echo gone; exit 127"))
    try:
        await pool.seat("a", 0, fresh=False, withdrawn=())
        [failure] = await pool.failures("a", 0)
    finally:
        await pool.close()
    assert (failure.failure, failure.text, failure.tail) == (
        Failure.ENDED, "ended with exit code 127 before its hello", "gone",
    )  # fmt: skip


@pytest.mark.parametrize(
    "error", [SandboxError("no walls here"), OSError(errno.EMFILE, "too many files")]
)
async def test_a_sandbox_that_fails_is_no_fault_of_a_bot(tmp_path: Path, error: Exception) -> None:
    gate = Gate(is_slow=False)
    sandbox = Broken(choose("none"), error)
    pool = make_pool(tmp_path, gate, sandbox, ("python3", "-c", TALKS))
    before = open_files()
    try:
        with pytest.raises(type(error)):
            await pool.seat("ab", 0, fresh=False, withdrawn=())
        assert gate.exits == []  # nobody forfeits
        assert [home.name for home in (tmp_path / "sockets").glob("home-*")] == ["home-0"]
        assert gate.revoked == [token for token in gate.issued if token.startswith("b@")]
        assert len(await pool.seat("a", 0, fresh=False, withdrawn=())) == 1
    finally:
        await pool.close()
    assert not list((tmp_path / "sockets").glob("home-*"))
    assert open_files() == before


@pytest.fixture
async def talking(tmp_path: Path) -> AsyncIterator[BotPool]:
    pool = make_pool(tmp_path, Gate(is_slow=False), choose("none"), ("python3", "-c", TALKS))
    yield pool
    await pool.close()


async def test_what_bots_write_goes_to_their_logs_of_the_match(
    tmp_path: Path, talking: BotPool
) -> None:
    await talking.seat("ab", 0, fresh=False, withdrawn=())
    talking.begin_match("ab", 0, "m1")
    logs = [match_log(tmp_path / "logs", name, "m1") for name in "ab"]
    await until(lambda: all(log.exists() and log.read_text() == "up\n" for log in logs))
    talking.end_match("ab", 0, "m1")
    await talking.close()  # before the moment is over in which it lingers
    assert not match_log(tmp_path / "logs", "a", "m2").exists()
