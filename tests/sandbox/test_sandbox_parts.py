"""The pure parts of the sandbox: what is shown where, the arguments, the filter."""

import errno
import struct
import sys
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.bots.sandbox import arguments, places, seccomp
from tournament.bots.sandbox.arguments import Descriptors
from tournament.bots.sandbox.limits import Limits
from tournament.bots.sandbox.places import Kind, Place

# --- places ---------------------------------------------------------------------------------------

_names = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(
    lambda one: "/" + "/".join(one)
)
_places = st.builds(
    Place, inside=_names, kind=st.sampled_from(Kind), shows=_names.map(lambda name: "/none" + name)
)


def above(inside: str) -> set[str]:
    return {str(path) for path in PurePosixPath(inside).parents}


@given(st.lists(_places, max_size=12))
def test_no_place_is_made_twice_or_covered_later(found: list[Place]) -> None:
    ordered = list(places.in_order(found).values())
    names = [place.inside for place in ordered]
    assert len(names) == len(set(names))
    for number, name in enumerate(names):
        assert not above(name) & set(names[number:])
    firsts = {place.inside: place for place in reversed(found)}
    assert all(firsts[place.inside] is place for place in ordered)


@given(st.lists(_places, max_size=12))
def test_a_place_is_left_out_only_where_it_can_not_be_or_is_there(found: list[Place]) -> None:
    ordered = places.in_order(found)
    for place in found:
        if place.inside in ordered:
            continue
        over = [ordered[name] for name in above(place.inside) if name in ordered]
        nearest = max(over, key=lambda one: len(one.inside))
        rest = place.inside.removeprefix(nearest.inside)
        assert nearest.kind is Kind.LINK or (
            nearest.kind is Kind.READ_ONLY and nearest.shows + rest == place.shows
        )


@given(st.lists(_places, max_size=8), _names)
def test_the_nearest_place_is_the_deepest_above(found: list[Place], inside: str) -> None:
    by_name = {place.inside: place for place in found}
    over = [name for name in by_name if name in above(inside)]
    nearest = places.nearest(inside, by_name)
    assert (nearest.inside if nearest else None) == (max(over, key=len) if over else None)


def test_the_system_is_shown_without_its_secrets(tmp_path: Path) -> None:
    for name in ("usr/bin", "usr/lib", "opt", "home/me", "root", "etc/ssl", "etc/ssh", "var/lib"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("shadow", "passwd", "ld.so.cache", "resolv.conf"):
        (tmp_path / "etc" / name).touch()
    (tmp_path / "bin").symlink_to("usr/bin")
    shown = {place.inside: place for place in places.system_places(tmp_path)}
    assert set(shown) == {"/usr", "/opt", "/bin", "/etc/ssl", "/etc/ld.so.cache"}
    assert shown["/bin"] == Place("/bin", Kind.LINK, "usr/bin")
    network = places.system_places(tmp_path, has_network=True)
    assert {place.inside for place in network} - set(shown) == {"/etc/resolv.conf"}


def test_the_interpreter_is_shown_and_not_what_is_above_it() -> None:
    shown = [Path(place.inside) for place in places.interpreter_places()]
    program = Path(sys.executable).resolve()
    assert any(program.is_relative_to(path) for path in shown)
    assert Path("/") not in shown


def test_a_place_behind_links_is_shown_under_both_names(tmp_path: Path) -> None:
    (tmp_path / "true").mkdir()
    (tmp_path / "link").symlink_to("true")
    shown = {place.inside: place.shows for place in places.shown(tmp_path / "link")}
    true = str((tmp_path / "true").resolve())
    assert shown == {str(tmp_path / "link"): true, true: true}


def test_only_what_is_shown_is_hidden(tmp_path: Path) -> None:
    for name in ("opt/data", "home/data"):
        (tmp_path / name).mkdir(parents=True)
    shown = [Place(str(tmp_path / "opt"), Kind.READ_ONLY, str(tmp_path / "opt"))]
    hidden = [tmp_path / name for name in ("opt/data", "home/data", "opt/absent")]
    assert places.hidden_places(hidden, shown) == [
        Place(str(tmp_path / "opt" / "data"), Kind.HIDDEN)
    ]


def test_of_import_paths_only_the_packages_are_shown(tmp_path: Path) -> None:
    (tmp_path / "rummy").mkdir()
    (tmp_path / "rummy-data").mkdir()
    assert places.package_folders([str(tmp_path)]) == [tmp_path / "rummy"]


# --- arguments ------------------------------------------------------------------------------------

DESCRIPTORS = Descriptors(arguments=3, filter=4, files={"/etc/passwd": 5}, info=6)
BOT = [Place("/bot", Kind.READ_ONLY, "/data/bots/x"), Place("/usr", Kind.READ_ONLY, "/usr")]


def options(user: int | None = None, *, has_network: bool = False) -> list[str]:
    return arguments.options(
        places=[*BOT, Place("/home/me", Kind.HIDDEN)],
        descriptors=DESCRIPTORS,
        limits=Limits(disk_mb=7),
        user=user,
        has_network=has_network,
        socket="/run/x.sock",
    )


def follows(words: list[str], *wanted: str) -> bool:
    size = len(wanted)
    return any(tuple(words[n : n + size]) == wanted for n in range(len(words)))


def test_every_namespace_is_new_and_files_are_closed_last() -> None:
    words = options()
    for name in ("ipc", "pid", "uts", "cgroup", "net", "user"):
        assert f"--unshare-{name}" in words
    assert {"--disable-userns", "--die-with-parent"} <= set(words)
    assert follows(words, "--cap-drop", "ALL")
    assert follows(words, "--ro-bind", "/data/bots/x", "/bot")
    assert follows(words, "--ro-bind", "/run/x.sock", "/run/rummy/referee.sock")
    assert follows(words, "--size", str(7 << 20), "--tmpfs", "/tmp")
    assert follows(words, "--size", str(7 << 20), "--tmpfs", "/dev/shm")
    last = words.index("--remount-ro")
    assert words[last:] == [
        "--remount-ro", "/dev", "--remount-ro", "/", "--remount-ro", "/home/me", "--chdir", "/bot",
    ]  # fmt: skip
    assert "--cap-add" not in words


def test_a_user_of_its_own_takes_the_place_of_a_user_namespace() -> None:
    words = options(user=1_000_000_000)
    assert "--unshare-user" not in words
    added = [words[n + 1] for n, word in enumerate(words) if word == "--cap-add"]
    assert added == ["CAP_SETUID", "CAP_SETGID"]


def test_a_build_may_keep_the_network() -> None:
    assert "--unshare-net" not in options(has_network=True)


def test_the_command_line_names_no_path_outside() -> None:
    words = arguments.command(
        "/usr/bin/bwrap",
        ["python3", "bot.py"],
        interpreter="/usr/bin/python3",
        descriptors=DESCRIPTORS,
        groups=[Path("/sys/fs/cgroup/x/cgroup.procs")],
        limits=Limits(memory_mb=3, processes=4, tcp=True),
        user=77,
        has_socket=True,
    )
    assert follows(words, "/usr/bin/bwrap", "--args", "3", "--", "/usr/bin/python3")
    own = words[words.index("/run/rummy/enter.py") + 1 :]
    assert {f"data={3 << 20}", "nproc=4", "core=0", "user=77"} <= set(own)
    assert "forward=/run/rummy/referee.sock" in own
    assert own[own.index("--") :] == ["--", "python3", "bot.py"]


def test_the_environment_inside_has_its_own_paths() -> None:
    outside = {"HOME": "/home/me", "TMPDIR": "/scratch", "RUMMY_REFEREE": "unix:/x", "LANG": "C"}
    inside = arguments.inside_environment(outside, home="/tmp/home", has_socket=True)
    assert inside == {
        "HOME": "/tmp/home", "USER": "bot", "LOGNAME": "bot", "LANG": "C",
        "RUMMY_REFEREE": "unix:/run/rummy/referee.sock",
    }  # fmt: skip


# --- the filter -----------------------------------------------------------------------------------

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x50000


def answer(code: bytes, audit: int, number: int, first: int = 0) -> int:
    """What the kernel would answer to a system call: an interpreter of classic BPF."""
    data = struct.pack("=IIQ6Q", number, audit, 0, first, 0, 0, 0, 0, 0)
    value, at = 0, 0
    steps = list(struct.iter_unpack("=HBBI", code))
    while True:
        what, if_true, if_false, operand = steps[at]
        at += 1
        if what == 0x20:
            (value,) = struct.unpack_from("=I", data, operand)
        elif what == 0x06:
            return int(operand)
        else:
            is_so = {
                0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)
            }[what]  # fmt: skip
            at += if_true if is_so else if_false


@pytest.mark.parametrize("machine", sorted(seccomp.MACHINES))
@pytest.mark.parametrize("may_lead", [False, True])
def test_the_filter_refuses_its_calls_and_no_others(machine: str, may_lead: bool) -> None:
    code = seccomp.program(machine, may_lead_sessions=may_lead)
    known = seccomp.MACHINES[machine]
    expected = {numbers[known.column]: ERRNO | errno.EPERM for numbers in seccomp._REFUSED.values()}
    expected |= {
        numbers[known.column]: ERRNO | errno.ENOSYS for numbers in seccomp._ABSENT.values()
    }
    if not may_lead:
        expected[seccomp._SETSID[known.column]] = ERRNO | errno.EPERM
    special = (seccomp._CLONE[known.column], seccomp._SOCKET[known.column])
    for number in range(600):
        if number not in special:
            assert answer(code, known.audit, number) == expected.get(number, ALLOW), number
    assert answer(code, known.audit ^ 1, 0) == KILL


@pytest.mark.parametrize("machine", sorted(seccomp.MACHINES))
def test_the_filter_looks_at_flags_and_families(machine: str) -> None:
    code = seccomp.program(machine, may_lead_sessions=False)
    known = seccomp.MACHINES[machine]
    clone, socket = seccomp._CLONE[known.column], seccomp._SOCKET[known.column]
    threads_and_forks = (0x3D0F00, 0x1200011, 0x4111)
    assert {answer(code, known.audit, clone, flags) for flags in threads_and_forks} == {ALLOW}
    namespaces = (0x10000000, 0x40000011, 0x20000, 0x80, 0x2000000, 0x4000000, 0x8000000)
    for flags in (*namespaces, 0x20000000):
        assert answer(code, known.audit, clone, flags) == ERRNO | errno.EPERM
    for family in range(60):
        allowed = family in seccomp.FAMILIES
        expected = ALLOW if allowed else ERRNO | errno.EAFNOSUPPORT
        assert answer(code, known.audit, socket, family) == expected


def test_the_third_kind_of_call_is_absent() -> None:
    code = seccomp.program("x86_64", may_lead_sessions=True)
    assert answer(code, seccomp.MACHINES["x86_64"].audit, 0x40000001) == ERRNO | errno.ENOSYS
