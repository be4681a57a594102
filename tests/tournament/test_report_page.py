"""The page of an export: what it shows, that it needs nothing else, that no text breaks it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scale import repeatable
from tests.tournament.cups import HARM, harmful, store_cup
from tournament.report import page as pages
from tournament.report.cells import printable
from tournament.report.page import Page, html
from tournament.report.results import Results, load
from tournament.report.scale import Scale
from tournament.statistics.crosstable import crosstable
from tournament.store.queries import matches
from tournament.store.store import Store
from tournament.store.stored import FINISHED

VOID = {"meta", "link", "br", "img", "input", "hr", "line", "circle"}


class Reader(HTMLParser):
    """Reads a page strictly: every element is closed in order; keeps tags, links and words."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Note an element that may have to be closed."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Note an element that closes itself."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """See that what was opened last is closed first."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep what is to be read."""
        self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        """The attributes of all elements of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(
    data: Path, *, rules: Mapping[str, object] | None = None
) -> tuple[str, Reader, Results]:
    """Return the page of the tournament in a folder, as text and read."""
    with Store.view(data) as store:
        results = load(store, "t1")
        rows = matches(store, "t1")
    if rules is not None:
        stored = results.tournament
        changed = replace(stored, config={**stored.config, "rules": rules})
        results = replace(results, tournament=changed)
    page = Page(
        results=results,
        cells=crosstable(results.bots, results.legs),
        matches=rows,
        recorded={row.fixture.fixture_id for row in rows if row.record_hash},
        configuration='format = "round_robin"\n',
        files=["heads.txt", "matches.csv"],
        version="1.2.3",
    )
    text = html(page)
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return text, reader, results


def test_the_page_needs_no_network_and_no_script(tmp_path: Path) -> None:
    store_cup(tmp_path)
    text, reader, _ = page_of(tmp_path)
    assert text.lstrip().startswith("<!doctype html>")
    assert not {tag for tag, _ in reader.tags} & {"script", "link", "img", "iframe", "object"}
    assert "://" not in text
    assert "url(" not in text
    links = [link["href"] for link in reader.all("a")]
    ids = {attributes["id"] for _, attributes in reader.tags if "id" in attributes}
    for link in links:
        if link.startswith("#"):
            assert link[1:] in ids
        else:
            assert link.removeprefix("records/") in {
                "heads.txt", "leaderboard.csv", "matches.csv", "matches.json", "crosstable.csv",
                "statistics.json", "statistics.csv",
                *(f"match{number}.jsonl" for number in range(24)),
            }  # fmt: skip
    assert sum(link.startswith("records/") for link in links) == 24


def test_tables_can_be_read_aloud(tmp_path: Path) -> None:
    store_cup(tmp_path)
    _, reader, results = page_of(tmp_path)
    ids = {attributes["id"] for _, attributes in reader.tags if "id" in attributes}
    for table in reader.all("table"):
        assert table["aria-labelledby"] in ids
    assert all(head["scope"] in ("row", "col") for head in reader.all("th"))
    labels = [svg["aria-label"] for svg in reader.all("svg") if "aria-hidden" not in svg]
    assert len(labels) == len(results.standings)
    assert labels[0].startswith(f"μ {results.standings[0].mu:.2f}")
    assert reader.all("html") == [{"lang": "en"}]
    levels = [int(tag[1]) for tag, _ in reader.tags if tag in ("h1", "h2", "h3")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_texts_that_could_do_harm_stay_texts(tmp_path: Path) -> None:
    store_cup(tmp_path, entries=[harmful("a"), harmful("b"), harmful("c")])
    text, reader, _ = page_of(tmp_path)
    assert "<script" not in text
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)
    assert text.replace("\n", "").isprintable()
    words = "".join(reader.words)
    assert '<script>alert("&")</script> \\x1b[31mred\\x9b2J\\u202e' in words
    assert HARM not in text


@repeatable
@given(st.text(max_size=60))
def test_no_text_breaks_the_page(text: str) -> None:
    templates = pages._templates()
    source = '<p title="{{ text }}">{{ text }}</p><pre>{{ text | lines }}</pre>'
    reader = Reader()
    reader.feed(templates.from_string(source).render(text=text))
    reader.close()
    assert [tag for tag, _ in reader.tags] == ["p", "pre"]
    assert reader.tags[0][1]["title"] == printable(text)
    assert "".join(reader.words) == printable(text) + printable(text, keep="\n")


def test_an_unfinished_tournament_says_so_and_names_no_winner(tmp_path: Path) -> None:
    store_cup(tmp_path, legs=4)
    text, reader, _ = page_of(tmp_path)
    assert "Provisional: the tournament is not finished. Not whole yet: 10 of 12 encounters" in text
    words = [word.strip() for word in reader.words if word.strip()]
    at = words.index("Rummy tournament")
    assert words[at + 1 : at + 3] == ["3 bots", "not finished yet"]
    assert "playing" not in text


def test_a_page_says_which_points_are_bad(tmp_path: Path) -> None:
    store_cup(tmp_path)
    assert "fewer are better" not in page_of(tmp_path)[0]
    _, reader, _ = page_of(tmp_path, rules={"preset": "standard"})
    assert "Points" not in reader.words
    assert reader.words.count("Penalty points") >= 3
    words = "".join(reader.words)
    for heading in ("Leaderboard", "Matches"):
        assert "Penalty points: fewer are better." in words.split(f"{heading}\n")[-1]


def test_a_page_of_a_test_says_when_it_was_decided(tmp_path: Path) -> None:
    store_cup(tmp_path, "ab", encounters=9, legs=12)
    with Store.open(tmp_path) as store:
        store.set_status("t1", FINISHED, counted=5)
    text, _, _ = page_of(tmp_path)
    assert "<dt>Matches</dt><dd>12, decided after 5 encounters</dd>" in text
    assert "<dt>Whole encounters</dt><dd>5 of 5</dd>" in text


def test_a_winner_is_named_only_if_that_is_settled(tmp_path: Path) -> None:
    store_cup(tmp_path, "ab", encounters=150)
    text, _, results = page_of(tmp_path)
    assert results.standings[0].is_significant
    assert "comes first of 2<" in text
    store_cup(tmp_path / "few", "ab", encounters=1)
    text, _, results = page_of(tmp_path / "few")
    assert not results.standings[0].is_significant
    assert "comes first of 2, not by enough to be sure" in text


def test_encounters_that_stayed_unplayed_are_counted(tmp_path: Path) -> None:
    store_cup(tmp_path, legs=20, is_finished=True)
    assert "Without a result: 2 of 12 encounters; they do not count." in page_of(tmp_path)[0]


def test_nothing_played_one_bot_and_long_names(tmp_path: Path) -> None:
    store_cup(tmp_path / "none", ["a" * 64, "b" * 64], legs=0)
    text, _, _ = page_of(tmp_path / "none")
    assert "No encounter is whole yet." in text
    assert 'Forfeits</h2>\n<p class="quiet">None.</p>' in text
    with Store.open(tmp_path / "one") as store:
        store.create_tournament(
            "t1", config={"format": "round_robin"}, config_hash="", entries=[harmful("a")],
            plan=[], secrets={}, salts={},
        )  # fmt: skip
    assert "There are no two bots to compare." in page_of(tmp_path / "one")[0]


def test_a_page_stays_of_a_size_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MATCHES_MOST", 5)
    monkeypatch.setattr(pages, "MATRIX_MOST", 2)
    monkeypatch.setattr(pages, "FORFEITS_MOST", 0)
    store_cup(tmp_path)
    text, reader, _ = page_of(tmp_path)
    assert "19 more matches are in" in text
    assert "1 further down left out here" in text
    assert sum(link["href"].startswith("records/") for link in reader.all("a")) == 5


VALUES = st.floats(-1e6, 1e6)


@repeatable
@given(st.lists(VALUES))
def test_all_that_is_drawn_lies_on_the_scale(values: list[float]) -> None:
    scale = Scale.over(values)
    assert all(0 <= scale.percent(value) <= 100 for value in values)
    in_order = sorted(values)
    drawn = [scale.percent(value) for value in in_order]
    assert drawn == sorted(drawn)
    ticks = scale.ticks
    assert 2 <= len(ticks) <= 6
    assert all(scale.low <= tick <= scale.high or math.isclose(tick, scale.low) for tick in ticks)
    steps = [after - before for before, after in pairwise(ticks)]
    assert all(math.isclose(step, steps[0], rel_tol=1e-6) for step in steps)
