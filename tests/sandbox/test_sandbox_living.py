"""What a program in a sandbox can rely on, and what is left when it has ended."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.sandbox.yard import Bot
from tournament.bots.sandbox.choose import choose
from tournament.bots.sandbox.limits import BUILD, Limits
from tournament.bots.sandbox.wrapped import Sandbox, SandboxError, Wrapped

LIMIT_S = 60.0
ENVIRONMENT = {"PATH": os.defpath, "RUMMY_TOKEN": "t"}
TIERS = ("bubblewrap", "rlimits", "none")


@pytest.fixture(params=TIERS)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return choose(str(request.param))


@pytest.fixture
def walls() -> Sandbox:
    return choose("bubblewrap")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "bots" / "frozen"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    return folder


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[Path]:
    """A referee's socket that answers each connection with what came, when that has ended."""
    path = tmp_path / "e.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def answer(connection: socket.socket) -> None:
        with connection:
            data = b""
            while chunk := connection.recv(65536):
                data += chunk
            connection.sendall(data[::-1])

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield path
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(LIMIT_S)


def write(folder: Path, script: str) -> None:
    (folder / "bot.py").write_text(script)
    (folder / "bot.py").chmod(0o644)


def start(
    sandbox: Sandbox,
    folder: Path,
    script: str,
    *,
    socket: Path | None = None,
    limits: Limits | None = None,
) -> Bot:
    write(folder, script)
    return Bot(
        sandbox.wrap(
            [sys.executable, "-u", "bot.py"],
            folder=folder,
            environment=ENVIRONMENT,
            socket=socket,
            limits=limits or Limits(),
        )
    )


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("raise SystemExit(0)", 0),
        ("raise SystemExit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV),
    ],
)
@pytest.mark.parametrize("tcp", [False, True])
def test_the_exit_code_is_the_program_s(
    sandbox: Sandbox, folder: Path, echo: Path, script: str, code: int, tcp: bool
) -> None:
    bot = start(sandbox, folder, script, socket=echo, limits=Limits(tcp=tcp))
    assert bot.end(LIMIT_S) == code


def test_a_program_that_is_not_there_is_named(folder: Path) -> None:
    for tier in ("bubblewrap", "rlimits"):
        wrapped = choose(tier).wrap(
            ["./nothing"],
            folder=folder,
            environment=ENVIRONMENT,
            socket=None,
            limits=Limits(),
        )
        bot = Bot(wrapped)
        assert bot.end(LIMIT_S) == 127
        assert b"'./nothing' was not found" in bot.output


@pytest.mark.parametrize("tcp", [False, True])
def test_sigterm_reaches_the_program(sandbox: Sandbox, folder: Path, echo: Path, tcp: bool) -> None:
    script = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('bye'), sys.exit(5)))\n"
        "print('ready')\n"
        "time.sleep(60)\n"
    )
    bot = start(sandbox, folder, script, socket=echo, limits=Limits(tcp=tcp))
    until(lambda: b"ready" in bot.output)
    os.killpg(bot.process.pid, signal.SIGTERM)
    assert bot.end(LIMIT_S) == 5
    assert b"bye" in bot.output


@pytest.mark.parametrize("tcp", [False, True])
def test_the_referee_is_where_the_environment_says(
    sandbox: Sandbox, folder: Path, echo: Path, tcp: bool
) -> None:
    script = (
        "import os, socket\n"
        "address = os.environ['RUMMY_REFEREE']\n"
        "print(address)\n"
        "for size in (1, 3_000_000):\n"
        "    if address.startswith('unix:'):\n"
        "        c = socket.socket(socket.AF_UNIX)\n"
        "        c.connect(address[5:])\n"
        "    else:\n"
        "        host, port = address.split(':')\n"
        "        c = socket.create_connection((host, int(port)))\n"
        "    c.sendall(b'a' + b'b' * size)\n"
        "    c.shutdown(socket.SHUT_WR)\n"
        "    came = b''\n"
        "    while part := c.recv(65536):\n"
        "        came += part\n"
        "    print(came == b'b' * size + b'a')\n"
    )
    bot = start(sandbox, folder, script, socket=echo, limits=Limits(tcp=tcp))
    assert bot.end(LIMIT_S) == 0, bot.output
    lines = bot.output.decode().split()
    assert lines[0].startswith("127.0.0.1:" if tcp else "unix:")
    assert lines[1:] == ["True", "True"]


def test_a_bot_has_a_home_and_room_for_a_moment(walls: Sandbox, folder: Path) -> None:
    script = (
        "import getpass, os, tempfile, pathlib\n"
        "print(os.getcwd(), os.path.expanduser('~'), getpass.getuser())\n"
        "pathlib.Path.home().joinpath('x').write_text('x')\n"
        "tempfile.TemporaryFile().write(b'x')\n"
        "pathlib.Path('/dev/shm/x').write_text('x')\n"
        "print(pathlib.Path('/dev/null').write_text('x'), len(os.urandom(3)))\n"
    )
    bot = start(walls, folder, script)
    assert bot.end(LIMIT_S) == 0, bot.output
    assert bot.output.decode().split() == ["/bot", "/tmp/home", "bot", "1", "3"]


def test_two_bots_are_two_users_where_the_launcher_is_root(walls: Sandbox, tmp_path: Path) -> None:
    bots = []
    for name in "ab":
        folder = tmp_path / name
        folder.mkdir(mode=0o755)
        script = "import os\nprint(os.getuid())\ninput() if os.getuid() == 0 else None\n"
        bots.append(start(walls, folder, script))
    assert [bot.end(LIMIT_S) for bot in bots] == [0, 0]
    users = {bytes(bot.output) for bot in bots}
    assert b"0\n" not in users
    assert len(users) == (2 if os.geteuid() == 0 else 1)


def test_the_data_folder_is_hidden_in_what_is_shown(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "data" / "secret").write_text("x")
    (tmp_path / "shown").write_text("x")
    tmp_path.chmod(0o755)
    walls = choose("bubblewrap", hidden=[tmp_path / "data"])
    write(
        folder,
        "import os, sys\nprint([os.path.exists(path) for path in sys.argv[1:]])\n"
        "print(os.listdir(os.path.dirname(sys.argv[1])))\n",
    )
    paths = [tmp_path / "data" / "secret", tmp_path / "shown"]
    wrapped = walls.wrap(
        [sys.executable, "bot.py", *map(str, paths)],
        folder=folder,
        environment=ENVIRONMENT,
        socket=None,
        limits=Limits(),
        read_only=[tmp_path],
    )
    bot = Bot(wrapped)
    assert bot.end(LIMIT_S) == 0, bot.output
    assert bot.output.decode().splitlines() == ["[False, True]", "[]"]


def test_a_socket_with_too_long_a_path_is_refused(walls: Sandbox, folder: Path) -> None:
    path = Path("/tmp") / ("x" * 110)
    with pytest.raises(SandboxError, match="107 bytes"):
        walls.wrap(["x"], folder=folder, environment={}, socket=path, limits=Limits())


def test_a_killed_launcher_takes_its_bots_along(folder: Path) -> None:
    launcher = (
        "import sys, time\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\n"
        "from tests.sandbox.test_sandbox_living import start, choose\n"
        "script = 'import time; print(1); time.sleep(120)'\n"
        "bot = start(choose('bubblewrap'), Path(sys.argv[1]), script)\n"
        "while not bot.output: time.sleep(0.01)\n"
        "print(bot.process.pid, flush=True)\n"
        "time.sleep(120)\n"
    )
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", launcher, str(folder), root], stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        inside = children(pid)
        assert inside
        process.kill()
    for one in (pid, *inside):
        until(partial(has_ended, one))


def children(pid: int) -> list[int]:
    """All processes below one."""
    found = [int(x) for x in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return found + [two for one in found for two in children(one)]


def has_ended(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def test_nothing_is_left_open(sandbox: Sandbox, folder: Path) -> None:
    start(sandbox, folder, "").end(LIMIT_S)
    before = descriptors()
    for _ in range(3):
        assert start(sandbox, folder, "").end(LIMIT_S) == 0
        unused = sandbox.wrap(["x"], folder=folder, environment={}, socket=None, limits=Limits())
        unused.close()
        unused.close()
    assert descriptors() == before


# --- builds ---------------------------------------------------------------------------------------


def build(
    sandbox: Sandbox, folder: Path, script: str, *, network: bool = False, cache: Path | None = None
) -> Bot:
    wrapped: Wrapped = sandbox.wrap_build(
        ["/bin/sh", "-c", script],
        folder=folder,
        environment=ENVIRONMENT | {"HOME": "/home/somebody"},
        limits=BUILD,
        has_network=network,
        caches=[cache] if cache is not None else [],
    )
    return Bot(wrapped)


def test_a_build_writes_to_its_folder_and_leaves_nothing_special(
    walls: Sandbox, folder: Path
) -> None:
    (folder / "sub").mkdir(mode=0o700)
    (folder / "sub" / "kept").write_text("x")
    (folder / "sub" / "kept").chmod(0o600)
    script = (
        "pwd; mkdir out; cp /bin/sh out/program; chmod 4755 out/program; echo x >out/text;"
        " chmod 600 out/text; ln -s ../../../secret out/link; cat sub/kept"
    )
    bot = build(walls, folder, script)
    assert bot.end(LIMIT_S) == 0, bot.output
    assert bot.output.decode().split() == ["/bot", "x"]
    for path in (folder, *folder.rglob("*")):
        state = path.lstat()
        assert state.st_uid == os.geteuid()
        assert path.is_symlink() or state.st_mode & 0o7000 == 0 or os.geteuid() != 0
    if os.geteuid() == 0:
        assert (folder / "out" / "text").stat().st_mode & 0o777 == 0o644


def test_a_build_may_have_the_network_or_not(walls: Sandbox, folder: Path) -> None:
    script = "grep -c : /proc/net/dev"
    counts = []
    for network in (False, True):
        bot = build(walls, folder, script, network=network)
        assert bot.end(LIMIT_S) == 0, bot.output
        counts.append(bot.output.decode().strip())
    expected = len([line for line in Path("/proc/net/dev").read_text().split("\n") if ":" in line])
    assert counts == ["1", str(expected)]


def test_a_build_sees_and_writes_the_caches_it_is_given(
    walls: Sandbox, folder: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (tmp_path / "secret").write_text("x")
    script = f"echo $HOME; touch $HOME/x; echo y >{cache}/y; ls {tmp_path}"
    bot = build(walls, folder, script, cache=cache)
    assert bot.end(LIMIT_S) == 0, bot.output
    assert bot.output.decode().split() == ["/home/somebody", "cache"]
    assert (cache / "y").read_text() == "y\n"
