"""Makes 60,000 empty files."""

# It tells what happened, by plain calls of the system.
# ruff: noqa: PTH123, T201

count = 0
try:
    for count in range(60_000):
        open(f"/tmp/many-{count}", "w").close()
except OSError as error:
    print(f"held after {count}: {error.strerror}")
else:
    import time

    time.sleep(2)  # it may be killed a moment later
    print("broken: 60,000 files")
