"""The command `referee`, which is also `python -m referee`."""

import sys


def main() -> None:
    """Run the command. Ctrl-C ends it quietly even while its parts are still being loaded."""
    try:
        from referee import cli  # noqa: PLC0415 - loading takes a moment

        cli.main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
