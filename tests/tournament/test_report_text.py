"""What bots and authors write stays text in every format, and tables fit where they are drawn."""

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tests.scale import repeatable
from tournament.report.cells import interval, markdown, percent, printable, rounded
from tournament.report.layout import Sheet, SheetColumn, shortened
from tournament.report.render import Column, Format, Part, View, render
from tournament.report.tables import draw

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20) | st.text(
    "|\\`*_[]<>&~$\x1b\x9b\r\n\t \"'a,"
)
COLUMNS = (Column("first", "First"), Column("second", "Second", wraps=True))


def view(rows: list[tuple[str, str]]) -> View:
    part = Part("rows", COLUMNS, [{"first": one, "second": two} for one, two in rows])
    return View(about={"id": "t1"}, parts=[part], title="Title")


def terminal(width: int, height: int = 25) -> Console:
    return Console(force_terminal=True, width=width, height=height, file=io.StringIO())


@repeatable
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
def test_data_loses_nothing_and_holds_no_control_character(rows: list[tuple[str, str]]) -> None:
    expected = [{"first": one, "second": two} for one, two in rows]
    text = render(view(rows), Format.JSON)
    assert json.loads(text)["rows"] == expected
    assert text.replace("\n", "").isprintable()
    text = render(view(rows), Format.CSV)
    assert list(csv.DictReader(io.StringIO(text, newline=""))) == expected


@repeatable
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5), st.integers(30, 120))
def test_what_people_see_has_a_line_for_each_row(rows: list[tuple[str, str]], width: int) -> None:
    for console in (None, terminal(width)):
        for format_ in (Format.TABLE, Format.MARKDOWN):
            text = render(view(rows), format_, console=console)
            plain = Text.from_ansi(text).plain if console else text
            assert all(line.isprintable() for line in plain.split("\n"))
    lines = render(view(rows), Format.MARKDOWN).splitlines()
    assert len(lines) == 2 + len(rows)
    # A cell ends at a bar with no backslash before it, but for backslashes that are escaped.
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines)
    shown = render(view(rows), Format.CSV, console=terminal(width))
    assert shown.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain äöü 日本", "plain äöü 日本"),
        ("a\nb\r\nc\td", "a b  c d"),
        ("\x1b[2J\x07\x9b1m\x00", "\\x1b[2J\\x07\\x9b1m\\x00"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\ud83d\U000e0001", "\\ud83d\\U000e0001"),
    ],
)
def test_characters_that_cannot_be_seen_are_spelt(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_markdown_marks_have_no_meaning() -> None:
    assert markdown("a|b <i>*x*</i> `c` [d](e)") == (
        "a\\|b \\<i\\>\\*x\\*\\</i\\> \\`c\\` \\[d\\](e)"
    )
    assert markdown("my_bot _x_ a\\") == "my_bot \\_x\\_ a\\\\"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "50.0 %"), (1.0, "100.0 %"), (0.99999, "> 99.9 %"), (0, "0.0 %"), (1e-9, "< 0.1 %"),
     (None, "–"), (float("nan"), "–")],
)  # fmt: skip
def test_a_share_is_certain_only_if_it_is(value: float | None, text: str) -> None:
    assert percent(value) == text


def test_numbers_without_a_value_are_dashes_and_null() -> None:
    assert rounded(2)(-0.001) == "0.00"
    assert rounded(1)(None) == "–"
    assert interval(None, 1.0, 1) == ""
    assert interval(-1.25, 1.0, 1) == "-1.2 to 1.0"
    part = Part("rows", (Column("x", "X"),), [{"x": float("inf")}, {"x": {"y": float("nan")}}])
    body = json.loads(render(View({}, [part]), Format.JSON))
    assert body["rows"] == [{"x": None}, {"x": {"y": None}}]


CELLS = st.text("ab 日", max_size=30).map(str.strip)
SPARES = st.integers(0, 3)
NAMES = st.text("abc-", min_size=1, max_size=64)


def drawn(sheet: Sheet, width: int) -> tuple[list[str], str]:
    """Return the lines of the table on a terminal, and what is said below about what it lacks."""
    lines = Text.from_ansi(draw(sheet, terminal(width))).plain.splitlines()
    assert max(map(cell_len, lines)) <= width
    at = next((at for at, line in enumerate(lines) if line.startswith("(")), len(lines))
    return lines[:at], " ".join(lines[at:])


@repeatable
@given(st.data(), st.integers(20, 150))
def test_a_terminal_loses_first_what_can_be_spared(data: st.DataObject, width: int) -> None:
    spares = data.draw(st.lists(SPARES, min_size=1, max_size=7))
    names = data.draw(st.sets(st.integers(0, len(spares) - 1), max_size=2))
    columns = [
        SheetColumn(
            f"H{at}", data.draw(st.booleans()), 0 if at in names else spare, False, at in names
        )
        for at, spare in enumerate(spares)
    ]
    row = st.tuples(*(NAMES if column.is_names else CELLS for column in columns))
    rows = data.draw(st.lists(row, max_size=4))
    sheet = Sheet(columns, rows)
    full = draw(sheet, None).splitlines()
    assert len(full) == 3 + len(rows)
    for line, cells in zip(full[3:], rows, strict=True):
        assert all(cell in line for cell in cells)
    table, said = drawn(sheet, width)
    kept = [at for at in range(len(columns)) if f"H{at}" in " ".join(table[:2]).split()]
    lost = [at for at in range(len(columns)) if at not in kept]
    # Whatever is kept could be spared no less than what is left out, and names always stay.
    assert names <= {*kept}
    if any(columns[at].spare for at in kept):
        assert max(columns[at].spare for at in kept) <= min(
            (columns[at].spare for at in lost), default=9
        )
    is_cut = any("…" in line for line in table)
    if len(kept) > 1 and (is_cut or any(not columns[at].spare for at in lost)):
        assert not any(columns[at].spare for at in kept)
    assert ("more columns" in said) == bool(lost)
    assert ("whole names" in said) == is_cut
    # And nothing is lost needlessly: the table as a whole would not have fitted.
    assert (not lost and not is_cut) == (max(map(cell_len, full)) <= width)


@repeatable
@given(NAMES, st.integers(1, 70))
def test_a_name_keeps_both_ends(name: str, width: int) -> None:
    cut = shortened(name, width)
    if len(name) <= width:
        assert cut == name
        return
    head, tail = cut.split("…")
    assert len(cut) == width
    assert name.startswith(head)
    assert name.endswith(tail)
    assert 0 <= len(head) - len(tail) <= 1


@repeatable
@given(st.lists(NAMES, min_size=2, max_size=6), st.integers(20, 150))
def test_a_list_of_names_keeps_each_of_them(names: list[str], width: int) -> None:
    sheet = Sheet(
        [
            SheetColumn("#", True, 0, wraps=False),
            SheetColumn("Seats", False, 0, wraps=False, is_names=True),
            SheetColumn("Why", False, 0, wraps=True),
        ],
        [["1", " – ".join(names), "z" * 30]],
    )
    table, _ = drawn(sheet, width)
    seats = re.sub(r"[#1z─]|Seats|Why", "", " ".join(table))
    shown = [one.replace(" ", "") for one in seats.split("–")]
    assert len(shown) == len(names)
    for name, one in zip(names, shown, strict=True):
        head, _, tail = one.partition("…")
        assert (one == name) or (name.startswith(head) and name.endswith(tail) and "…" in one)


@repeatable
@given(st.lists(st.text("ab ", max_size=200), max_size=4), st.integers(30, 90))
def test_a_column_that_wraps_keeps_every_word(texts: list[str], width: int) -> None:
    sheet = Sheet(
        [SheetColumn("A", False, 0, wraps=False), SheetColumn("B", False, 0, wraps=True)],
        [[str(number), text] for number, text in enumerate(texts)],
    )
    lines, _ = drawn(sheet, width)
    letters = "".join(line[3:] for line in lines[2:])
    assert letters.replace(" ", "").replace("─", "").removeprefix("B") == "".join(texts).replace(
        " ", ""
    )


def test_many_rows_are_drawn_in_a_moment() -> None:
    rows = [[str(number), "a – b", "played to its end"] for number in range(20_000)]
    columns = [SheetColumn(name, False, 0, wraps=False) for name in ("#", "Seats", "Why")]
    assert len(draw(Sheet(columns, rows), None).splitlines()) == 20_003


def test_truth_is_written_alike_in_json_and_csv() -> None:
    columns = (Column("x", "X"), Column("y", "Y"), Column("z", "Z"))
    part = Part("rows", columns, [{"x": True, "y": False, "z": None}])
    assert render(View({}, [part]), Format.CSV) == "x,y,z\ntrue,false,\n"
    [row] = json.loads(render(View({}, [part]), Format.JSON))["rows"]
    assert row == {"x": True, "y": False, "z": None}


def test_titles_and_notes_are_folded_like_tables() -> None:
    part = Part("rows", COLUMNS, [{"first": "a", "second": "b"}], notes=["a note " * 9])
    text = render(View({}, [part], title="a title " * 9), Format.TABLE, console=terminal(30))
    lines = Text.from_ansi(text).plain.splitlines()
    assert max(map(cell_len, lines)) <= 30
    assert " ".join(lines).count("title") == " ".join(lines).count("note") == 9


def test_several_parts_share_one_csv() -> None:
    head = Part("head", (Column("a", "A"), Column("b", "B")), [{"a": 1, "b": 2}], "Head", True)
    tail = Part("tail", (Column("b", "B"), Column("c", "C")), [{"b": 3, "c": [4]}], "Tail")
    both = View({"id": "t"}, [head, tail], title="Title")
    assert render(both, Format.CSV) == "part,a,b,c\nhead,1,2,\ntail,,3,[4]\n"
    assert json.loads(render(both, Format.JSON)) == {
        "tournament": {"id": "t"}, "head": {"a": 1, "b": 2}, "tail": [{"b": 3, "c": [4]}],
    }  # fmt: skip
    lines = render(both, Format.MARKDOWN).splitlines()
    assert lines[0] == "### Head"
    assert "| A | 1 |" in lines
    assert "### Tail" in lines
