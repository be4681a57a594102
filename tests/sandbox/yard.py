"""Starts one attack in a sandbox beside an honest bot, and prints what happened as JSON.

It is a program of its own, so that tests can run it as another user: `yard.py TIER ATTACK`.
"""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tournament.bots.sandbox.choose import choose
from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.wrapped import Sandbox, Wrapped

ATTACKS = Path(__file__).parent / "attacks"
LIMITS = Limits(memory_mb=128, processes=24, open_files=64, file_mb=8, disk_mb=16)
ATTACK_S = 25.0
LIMIT_S = 30.0
OUTPUT_MOST = 512 * 1024


class Bot:
    """A process in a sandbox, its output, and its end."""

    def __init__(self, wrapped: Wrapped) -> None:
        self.wrapped = wrapped
        try:
            self.process = subprocess.Popen(
                wrapped.argv,
                env=wrapped.environment,
                cwd=wrapped.folder,
                pass_fds=wrapped.pass_fds,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except BaseException:
            wrapped.close()
            raise
        self.output = bytearray()
        self.came = 0
        self._drainer = threading.Thread(target=self._drain, daemon=True)
        self._drainer.start()
        wrapped.started(self.process.pid)

    def _drain(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as pipe:
            while chunk := os.read(pipe.fileno(), 65536):
                self.came += len(chunk)
                self.output += chunk[: OUTPUT_MOST - len(self.output)]

    def end(self, timeout_s: float) -> int | None:
        """Wait for its own end, kill what is left, clean up; None if it had to be killed."""
        try:
            code: int | None = self.wrapped.exit_code(self.process.wait(timeout_s))
        except subprocess.TimeoutExpired:
            code = None
        self.wrapped.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(2.0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.wrapped.close()
        self._drainer.join(2.0)
        return code


class Honest:
    """The launcher's side of the honest bot."""

    def __init__(self, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        connection.settimeout(LIMIT_S)
        self._connection = connection
        self._lines = connection.makefile("rw")
        self.hello = self._lines.readline().strip()

    def ask(self, text: str) -> str:
        """Return its answer."""
        print(text, file=self._lines, flush=True)
        return self._lines.readline().strip()

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):
            self._lines.close()
        self._connection.close()


class Yard:
    """Folders, sockets and secrets that an attack might reach."""

    def __init__(self, base: Path) -> None:
        base.chmod(0o755)
        self.base = base
        self.home = base / "home"
        self.data = base / "data"
        self.token, self.secret, self.mark = (secrets.token_hex(12) for _ in range(3))
        for folder in (self.home / ".ssh", self.data / "bots", base / "run"):
            folder.mkdir(parents=True)
        (self.home / ".ssh" / "id_ed25519").write_text(self.secret)
        (self.data / "rummy.sqlite3").write_text(self.secret)
        self.home.chmod(0o700)
        self.data.chmod(0o700)
        (base / "run").chmod(0o700)
        self.socket = base / "run" / "referee.sock"

    def folder(self, program: str) -> Path:
        """Return the frozen folder of a bot that consists of one of the attacks."""
        folder = self.data / "bots" / program
        folder.mkdir(exist_ok=True)
        (folder / "bot.py").write_text((ATTACKS / f"{program}.py").read_text())
        (folder / "bot.py").chmod(0o644)
        folder.chmod(0o755)
        return folder

    def start(
        self, sandbox: Sandbox, program: str, token: str, limits: Limits = LIMITS, **more: str
    ) -> Bot:
        """Start a program in the sandbox."""
        environment = {
            "PATH": os.defpath,
            "RUMMY_TOKEN": token,
            "RUMMY_REFEREE": f"unix:{self.socket}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            **more,
        }
        wrapped = sandbox.wrap(
            [sys.executable, "bot.py"],
            folder=self.folder(program),
            environment=environment,
            socket=self.socket,
            limits=limits,
            read_only=[self.base],
        )
        return Bot(wrapped)

    def left(self) -> list[str]:
        """Return the processes that carry the mark, other than this one."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (folder / "cmdline").read_bytes():
                    found.append(folder.name)
        return found


@contextmanager
def listening() -> Iterator[dict[str, Any]]:
    """Open sockets of this machine that no bot may reach; gives their addresses and hits."""
    abstract = f"rummy-{secrets.token_hex(6)}"
    sockets: list[tuple[int, int, Any]] = [
        (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{abstract}"),
    ]
    opened = [socket.socket(family, kind) for family, kind, _ in sockets]
    try:
        for one, (_, kind, address) in zip(opened, sockets, strict=True):
            one.bind(address)
            one.setblocking(False)
            if kind == socket.SOCK_STREAM:
                one.listen()
        addresses = {
            "tcp": opened[0].getsockname()[1],
            "udp": opened[1].getsockname()[1],
            "abstract": abstract,
        }
        yield {"addresses": addresses, "sockets": opened}
    finally:
        for one in opened:
            one.close()


def hits(opened: list[socket.socket]) -> int:
    """Return how many of the sockets were reached."""
    count = 0
    for one in opened:
        with contextlib.suppress(BlockingIOError):
            if one.type == socket.SOCK_STREAM:
                one.accept()[0].close()
            else:
                one.recv(100)
            count += 1
    return count


def run(tier: str, attack: str) -> dict[str, Any]:
    """Run one attack and return what happened."""
    with tempfile.TemporaryDirectory(prefix="yard-") as name, listening() as outside:
        yard = Yard(Path(name))
        os.environ["HOME"] = str(yard.home)
        sandbox = choose(tier, hidden=[yard.data])
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(yard.socket))
            listener.listen()
            listener.settimeout(LIMIT_S)
            honest_bot = yard.start(sandbox, "honest", yard.token)
            try:
                honest = Honest(listener)
                report = _attacked(yard, sandbox, attack, honest_bot, honest, outside)
                report["honest"] = honest.ask("echo still here") == "still here"
                report["hello"] = honest.hello == f"hello {yard.token}"
                honest.close()
            finally:
                report_honest = honest_bot.end(LIMIT_S)
        report["honest_exit"] = report_honest
        report["left"] = yard.left()
        report["groups"] = [
            str(path) for path in Path("/sys/fs/cgroup").glob(f"**/rummy-{os.getpid()}-*")
        ]
        report["tier"] = sandbox.name
        return report


def _attacked(
    yard: Yard,
    sandbox: Sandbox,
    attack: str,
    honest_bot: Bot,
    honest: Honest,
    outside: dict[str, Any],
) -> dict[str, Any]:
    hints = {
        "base": str(yard.base),
        "home": str(yard.home),
        "data": str(yard.data),
        "launcher": os.getpid(),
        "honest": honest_bot.process.pid,
        "mark": yard.mark,
        "machine": socket.gethostname(),
        **outside["addresses"],
    }
    begin = time.monotonic()
    own = secrets.token_hex(12)
    bots = [yard.start(sandbox, attack, own, HINTS=json.dumps(hints | {"role": "first"}))]
    if attack == "collude":
        bots.append(yard.start(sandbox, attack, own, HINTS=json.dumps(hints | {"role": "second"})))
    share = float(honest.ask("spin 1.5")) if attack == "cpu_hog" else 0.0
    codes = [bot.end(ATTACK_S) for bot in bots]
    output = b"".join(bytes(bot.output) for bot in bots).decode(errors="replace")
    return {
        "codes": codes,
        "reasons": [bot.wrapped.reason for bot in bots],
        "output": output[-20_000:],
        "came": sum(bot.came for bot in bots),
        "told": [name for name in ("token", "secret") if getattr(yard, name) in output],
        "reached": hits(outside["sockets"]),
        "share": share,
        "seconds": time.monotonic() - begin,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(sys.argv[1], sys.argv[2])))
