"""Generate the Python code beside the schema: `python proto/regenerate.py [--check]`.

With `--check` nothing is written; exit 1 names each file that differs from what would be generated.
"""

import argparse
import filecmp
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from sysconfig import get_path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent
GENERATED = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")


def generate(target: Path) -> None:
    """Write the generated code of every schema under `proto/` into `target`."""
    schemas = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.proto"))
    includes = [f"-I{ROOT}", f"-I{files('grpc_tools') / '_proto'}"]
    outputs = [
        f"--{plugin}_out={target}" for plugin in ("python", "grpc_python", "mypy", "mypy_grpc")
    ]
    # The plugins of this environment, whether or not it is activated.
    scripts = Path(get_path("scripts"))
    plugins = [
        f"--plugin=protoc-gen-{plugin}={scripts / f'protoc-gen-{plugin}'}"
        for plugin in ("mypy", "mypy_grpc")
    ]
    if protoc.main(["protoc", *includes, *plugins, *outputs, *schemas]) != 0:
        raise SystemExit("regenerate: protoc failed, see above")


def generated_files(root: Path) -> set[Path]:
    """Paths, relative to `root`, of all generated files under it."""
    return {path.relative_to(root) for pattern in GENERATED for path in root.rglob(pattern)}


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on a difference")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch)
        generate(fresh)
        wanted, present = generated_files(fresh), generated_files(ROOT)
        stale = sorted(
            path
            for path in wanted | present
            if path not in wanted
            or path not in present
            or not filecmp.cmp(fresh / path, ROOT / path, shallow=False)
        )
        if check:
            for path in stale:
                print(
                    f"proto/{path} is not what the schema generates: run python proto/regenerate.py"
                )
            return 1 if stale else 0
        for path in stale:
            if path in wanted:
                shutil.copyfile(fresh / path, ROOT / path)
            else:
                (ROOT / path).unlink()
            print(f"proto/{path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
