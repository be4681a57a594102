"""`python -m tournament` is the same as the command `tournament`."""

from tournament.cli import main

if __name__ == "__main__":
    main()
