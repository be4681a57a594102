"""A PostgreSQL server of the tests' own: made in a temporary folder, on loopback, ended by pid."""

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from sqlalchemy import create_engine, exc, text

PASSWORD = "let-me:in/@all"  # what has to be quoted in a URL
QUOTED = "let-me%3Ain%2F%40all"
USER = "rummy"

_FOLDERS = (
    "/usr/lib/postgresql/*/bin",  # Debian and Ubuntu
    "/usr/pgsql-*/bin",  # Fedora and its kin
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
)
_START_S = 60
_CONFIGURATION = """
listen_addresses = '127.0.0.1'
max_connections = 30
shared_buffers = 16MB
"""

_AS_USER = """
import os, sys
user, group, *command = sys.argv[1:]
os.setgroups([])
os.setgid(int(group))
os.setuid(int(user))
os.execv(command[0], command)
"""


def programs() -> Path | None:
    """Return the folder of PostgreSQL's newest programs, None where it is not installed."""
    known = shutil.which("initdb")
    found = [path for pattern in _FOLDERS for path in Path("/").glob(pattern.lstrip("/"))]
    found += [Path(known).resolve().parent] if known else []
    return max(
        (path for path in found if (path / "initdb").exists() and (path / "postgres").exists()),
        key=_version,
        default=None,
    )


def _version(folder: Path) -> int:
    told = subprocess.run([folder / "postgres", "--version"], capture_output=True, check=True)
    number = re.search(rb"\d+", told.stdout)
    assert number is not None
    return int(number[0])


class Server:
    """A server with its files in a folder of its own. It does not run as root."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self._programs = programs
        self._user, self._group = _ordinary_user()
        self._process: subprocess.Popen[bytes] | None = None

    def make(self, *, is_durable: bool) -> None:
        """Make its files; without durability it is faster."""
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        if self._user is not None and self._group is not None:
            for path in (self.folder, secret):
                os.chown(path, self._user, self._group)
        # An order of words, not of bytes, as servers for people have it.
        order = (
            ["--locale-provider=icu", "--icu-locale=en"] if _version(self._programs) > 14 else []
        )
        self._run(
            "initdb",
            *("--pgdata", str(self._data), "--username", USER, "--pwfile", str(secret)),
            *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync"),
            *order,
        )
        lines = f"{_CONFIGURATION}port = {self.port}\nunix_socket_directories = '{self.folder}'\n"
        if not is_durable:
            lines += "fsync = off\n"
        elif sys.platform == "linux":
            lines += "recovery_init_sync_method = syncfs\n"  # not each file by itself
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(lines)

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            self._command(program, *words), cwd=self.folder, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()

    def _command(self, program: str, *words: str) -> list[str]:
        """Return how it is started by an ordinary user.

        It is another process that takes the other user, for Popen would fork this one, and gRPC may
        be at work in it.
        """
        command = [str(self._programs / program), *words]
        if self._user is None:
            return command
        return [sys.executable, "-c", _AS_USER, str(self._user), str(self._group), *command]

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command("postgres", "-D", str(self._data)),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until = time.monotonic() + _START_S
        while not self._answers():
            assert self._process.poll() is None, self._log()
            assert time.monotonic() < until, self._log()
            time.sleep(0.05)

    def _log(self) -> str:
        return (self.folder / "log").read_text()

    def _answers(self) -> bool:
        try:
            self.run_sql("SELECT 1")
        except exc.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """End it and all its connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_START_S)
            self._process = None

    def kill(self) -> None:
        """End it as a crash would: SIGKILL for it and all its processes."""
        assert self._process is not None
        pids = [int(str(pid)) for pid in self.run_sql("SELECT pid FROM pg_stat_activity")]
        self._process.kill()
        self._process.wait(_START_S)
        self._process = None
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def url(self, database: str = "postgres") -> str:
        """Return the URL of a database, password included."""
        return f"postgresql://{USER}:{QUOTED}@127.0.0.1:{self.port}/{database}"

    def run_sql(self, statement: str, database: str = "postgres") -> list[object]:
        """Run a statement outside of any transaction; return the first column."""
        url = self.url(database).replace("postgresql:", "postgresql+psycopg:")
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as db:
                result = db.execute(text(statement))
                return list(result.scalars()) if result.returns_rows else []
        finally:
            engine.dispose()

    @contextmanager
    def database(self) -> Iterator[str]:
        """Make an empty database, give its URL, and remove it."""
        name = f"t{uuid4().hex}"
        self.run_sql(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            self.run_sql(f"DROP DATABASE {name} WITH (FORCE)")


def _ordinary_user() -> tuple[int | None, int | None]:
    """Return somebody to run the server as when the tests run as root, whom it refuses."""
    if os.geteuid() != 0:
        return None, None
    names = {user.pw_name: user for user in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    return user.pw_uid, user.pw_gid


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_server(programs: Path, *, is_durable: bool) -> Iterator[Server]:
    """Run a server; in the end it and its folder are gone."""
    # Not pytest's folder: no other user may enter that, and a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="rummy-pg-", dir="/tmp"))
    server = Server(folder, programs)
    try:
        server.make(is_durable=is_durable)
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
