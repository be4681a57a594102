"""Takes 1 GiB in one process."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: T201

blocks: list[bytes] = []
try:
    while len(blocks) < 64:
        blocks += [b"x" * (16 << 20)]
except MemoryError:
    print(f"held after {len(blocks)} blocks")
else:
    print("broken: took 1 GiB")
