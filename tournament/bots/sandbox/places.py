"""What a program sees of this machine's files: an allow-list, and what is hidden within it."""

import functools
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
    "/gnu/store",
)  # fmt: skip
_ETC = (
    "alternatives", "ca-certificates", "crypto-policies", "fonts", "java*", "ld.so.cache",
    "ld.so.conf", "ld.so.conf.d", "localtime", "maven", "mime.types", "pki", "protocols",
    "services", "ssl", "timezone",
)  # fmt: skip
"""Of /etc only what runtimes read; names and patterns."""
_ETC_FOR_NETWORK = ("resolv.conf", "gai.conf")
_PACKAGES = ("rummy", "sample_bots")


class Kind(Enum):
    """What is done at a place inside; the first three values are bubblewrap's words."""

    READ_ONLY = "--ro-bind"
    WRITABLE = "--bind"
    LINK = "--symlink"
    HIDDEN = "an empty folder"
    SCRATCH = "a folder in memory to write to"


@dataclass(frozen=True, slots=True)
class Place:
    """One place inside: what it is, and what it shows (a path, the text of a link, or nothing)."""

    inside: str
    kind: Kind
    shows: str = ""


def shown(path: Path) -> list[Place]:
    """Return the places that show a file or folder, read-only, under its own name.

    One that is reached through links is there under its true name too.
    """
    names = dict.fromkeys((os.path.normpath(path.absolute()), os.path.realpath(path)))
    return [Place(name, Kind.READ_ONLY, os.path.realpath(path)) for name in names]


@functools.cache
def system_places(root: Path = Path("/"), *, has_network: bool = False) -> Sequence[Place]:
    """Return the system's programs and libraries, and what of /etc they need."""
    places = []
    for name in _SYSTEM:
        path = root / name[1:]
        if path.is_symlink():
            places.append(Place(name, Kind.LINK, str(path.readlink())))
        elif path.is_dir():
            places.append(Place(name, Kind.READ_ONLY, str(path)))
    patterns = (*_ETC, *(_ETC_FOR_NETWORK if has_network else ()))
    found = [path for pattern in patterns for path in sorted((root / "etc").glob(pattern))]
    # A link may lead to where nothing is shown: what it names is put there itself.
    places += [
        Place(f"/etc/{path.name}", Kind.READ_ONLY, os.path.realpath(path))
        for path in found
        if path.exists()
    ]
    return places


@functools.cache
def interpreter_places() -> Sequence[Place]:
    """Return this interpreter, its libraries, and the packages of its environment."""
    program = Path(sys.executable).resolve()
    base = Path(sys.base_prefix).resolve()
    folders = [sys.prefix, sys.base_prefix, sys.exec_prefix]
    if not program.is_relative_to(base):
        folders.append(str(program.parent))
    return [place for folder in dict.fromkeys(folders) for place in shown(Path(folder))]


def package_folders(import_paths: Iterable[str]) -> list[Path]:
    """Return the folders of the stubs and the sample bots in these folders, and nothing else."""
    candidates = [Path(path, name) for path in import_paths for name in _PACKAGES]
    return [path for path in candidates if path.is_dir()]


def hidden_places(hidden: Iterable[Path], places: Sequence[Place]) -> list[Place]:
    """Return empty folders over those of `hidden` that lie within what is shown.

    A place that lies within a hidden folder is shown all the same: it is asked for by name.
    """
    open_folders = {Path(place.inside) for place in places if place.kind is not Kind.LINK}
    return [
        Place(str(path), Kind.HIDDEN)
        for path in dict.fromkeys(Path(os.path.realpath(path)) for path in hidden)
        if path.is_dir() and not open_folders.isdisjoint(path.parents)
    ]


def in_order(places: Iterable[Place]) -> dict[str, Place]:
    """Return the places as they are to be made: by name, none after what lies in it.

    Of two for one name the first one stays. One whose parent shows it in the same way already is
    left out, unless something is hidden in between.
    """
    chosen: dict[str, Place] = {}
    for place in places:
        chosen.setdefault(place.inside, place)
    ordered: dict[str, Place] = {}
    for place in sorted(chosen.values(), key=lambda place: (place.inside.count("/"), place.inside)):
        above = nearest(place.inside, ordered)
        # Below a link nothing can be made: what it leads to has a place of its own.
        if above is None or not (above.kind is Kind.LINK or _shows(above, place)):
            ordered[place.inside] = place
    return ordered


def folders_above(inside: str) -> list[str]:
    """Return the folders above a place, the nearest first, without the root."""
    parts = inside.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 1, -1)]


def nearest(inside: str, places: Mapping[str, Place]) -> Place | None:
    """Return the place that another one lies in, if any."""
    return next((places[name] for name in folders_above(inside) if name in places), None)


def _shows(above: Place, place: Place) -> bool:
    if above.kind is not Kind.READ_ONLY or place.kind is not Kind.READ_ONLY:
        return False
    inner = place.inside[len(above.inside) + 1 :]
    return os.path.realpath(os.path.join(above.shows, inner)) == os.path.realpath(place.shows)  # noqa: PTH118
