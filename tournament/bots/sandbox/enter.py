"""The first program inside: sets limits, gives up its user, forwards TCP, becomes the bot.

It is read from a file by an interpreter without site packages, and imports the standard library
alone: `enter.py NAME=VALUE... -- PROGRAM ARGUMENTS...`. Names are those of RLIMIT_* in lower case,
`user` (a number to become) and `forward` (a unix socket that is to be reached by TCP too).
"""

# Few imports: every bot's start waits for them. `signal` and `contextlib` would double the time.
import _signal as signal  # type: ignore[import-not-found]
import os
import resource
import sys

NOT_FOUND, NOT_STARTED = 127, 126
_OWN = ("user", "forward")
_CONNECTIONS = 16


def main(words: list[str]) -> None:
    """Do all that the words say; it returns only with an exception."""
    middle = words.index("--")
    settings = dict(word.split("=", 1) for word in words[:middle])
    for name, value in settings.items():
        if name not in _OWN:
            _limit(getattr(resource, f"RLIMIT_{name.upper()}", None), int(value))
    if "user" in settings:
        user = int(settings["user"])
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if "forward" in settings:
        os.environ["RUMMY_REFEREE"] = _forward_beside(settings["forward"])
    become(words[middle + 1 :])


def _limit(kind: int | None, most: int) -> None:
    """Lower a limit; one that is lower already stays, and one that this system lacks is none."""
    if kind is None:
        return
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    try:
        resource.setrlimit(kind, (most, most))
    except (ValueError, OSError):
        return  # macOS refuses some


def become(argv: list[str]) -> None:
    """Run the program in place of this one, with signals and descriptors as any program has."""
    for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.closerange(3, 1024)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - that is the purpose
    except FileNotFoundError:
        text = "was not found (or, if it is a script, the program that its first line names)"
        code = NOT_FOUND
    except PermissionError:
        text, code = "is not an executable file, or not for this user", NOT_STARTED
    except OSError as error:
        text, code = f"could not be started: {error.strerror}", NOT_STARTED
    os.write(2, f"{_before(argv[0])}{text}\n".encode(errors="replace"))
    os._exit(code)


def _before(program: str) -> str:
    return f"sandbox: the program {program!r} "


def told(program: str, line: str) -> str | None:
    """Return what a line of output says about a program that was not started, if it does."""
    before = _before(program)
    return line[len(before) :] if line.startswith(before) else None


def _forward_beside(socket_path: str) -> str:
    """Fork: the child returns, with the address that the parent forwards from until it ends."""
    import contextlib  # noqa: PLC0415
    import socket  # noqa: PLC0415 - only who forwards pays for these
    import threading  # noqa: PLC0415

    listener = socket.create_server(("127.0.0.1", 0), backlog=_CONNECTIONS)
    child = os.fork()
    if child == 0:
        return f"127.0.0.1:{listener.getsockname()[1]}"
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # meant for the bot, which ends this too
    free = threading.Semaphore(_CONNECTIONS)

    def accept() -> None:
        while True:
            client, _ = listener.accept()
            free.acquire()
            threading.Thread(target=join, args=(client,), daemon=True).start()

    def join(client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server.connect(socket_path)
            back = threading.Thread(target=copy, args=(server, client), daemon=True)
            back.start()
            copy(client, server)
            back.join()
        free.release()

    def copy(source: socket.socket, target: socket.socket) -> None:
        """Copy until the source ends, and say so to the target."""
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:  # one side is gone: so is the connection
            for side in (source, target):
                with contextlib.suppress(OSError):
                    side.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=accept, daemon=True).start()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main(sys.argv[1:])
