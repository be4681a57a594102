"""What a file says and its bots can't play is refused when it is planned, by the file's name."""

from pathlib import Path

import pytest

from tournament.config import Overrides, load_config
from tournament.errors import ConfigError
from tournament.schedule.fixtures import Entrant

ENTRANTS = [Entrant(name, name * 8) for name in "abcde"]


def write(folder: Path, text: str) -> Path:
    file = folder / "cup.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "bots", "expected"),
    [
        ("", 1, "there is 1 bot: a table of 2 seats needs 2"),
        ("seats = 4", 3, "there are 3 bots: a table of 4 seats needs 4"),
        ('format = "swiss"\nrounds = 6', 5, "rounds is 6: allowed are 1–5 with 5 bots"),
        (
            'format = "gauntlet"\nchallengers = ["z"]',
            3,
            "challengers has 'z', which takes no part: allowed are a, b, c",
        ),
        *(
            (
                f"encounters = {encounters}",
                2,
                (
                    f"2 bots at 2 seats in {encounters} encounters of each set make"
                    f" {encounters * 2} matches: allowed are 200000; take fewer encounters or bots"
                ),
            )
            for encounters in (100_001, 1_000_000, 1_000_001, 10**20)
        ),
        (
            "seats = 3\ntables = 1000001",
            5,
            "1000001 tables of 3 seats make 3000003 matches: allowed are 200000; take fewer tables",
        ),
    ],
)
def test_what_these_bots_cannot_play_is_refused_by_file(
    tmp_path: Path, text: str, bots: int, expected: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(file, Overrides(workers=2, seed=1)).first_plan(ENTRANTS[:bots])
    assert str(caught.value).startswith(f"{file}: {expected}")


def test_counts_from_options_are_not_blamed_on_the_file_alone(tmp_path: Path) -> None:
    file = write(tmp_path, 'format = "swiss"\nrounds = 3\n')
    with pytest.raises(ConfigError) as caught:
        load_config(file, Overrides(rounds=6)).first_plan(ENTRANTS)
    expected = f"{file} with options of the command line: rounds is 6: allowed are 1–5"
    assert str(caught.value).startswith(expected)
    for options in (Overrides(encounters=2), Overrides(bots=["a", "b"]), Overrides(seats=2)):
        source = load_config(file, options).source
        assert source == f"{file} with options of the command line"
    with pytest.raises(ConfigError, match=r"^command line: there is 1 bot: a table"):
        load_config(None, Overrides()).first_plan(ENTRANTS[:1])
