"""The command `tournament`, which is also `python -m tournament`."""

import sys


def main() -> None:
    """Run the command. Ctrl-C ends it quietly even while its parts are still being loaded."""
    try:
        from tournament import cli  # noqa: PLC0415 - loading takes a moment

        cli.main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
