"""`tournament why`: the whole text for each way in which a match ends, and who may read it.

`python -m tests.tournament.test_why_command` writes tests/golden/why anew.
"""

import io
import json
import random
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import referee.engine.game
from referee.engine.actions import DRAW_STOCK, discard
from referee.engine.cards import Card
from referee.engine.notation import parse_action
from referee.engine.shuffle import SeededShuffler, Suits, deal_seed
from referee.match.hindsight import look_back
from referee.match.outcome import Forfeit
from referee.match.record_lines import DecisionLine, read_record
from referee.match.seat_player import Choice
from rummy.referee.v1 import play_pb2 as pb
from tests.match.fakes import Table, lines_of, make_spec
from tests.scale import cases, repeating
from tests.tournament.told_why import BOTS, CONTROL, ENDINGS, log_of, new_table, played, stored
from tournament.commands.why import last_lines, own_reason, why
from tournament.errors import StoreError, TournamentError, UsageError
from tournament.report.judged import expected, wrong
from tournament.report.render import Format
from tournament.store import queries
from tournament.store.store import Store

GOLDEN = Path(__file__).parents[1] / "golden" / "why"
REASONS = "bot0 ended with exit code 3; bot1 said no hello within 30 s"
PARTS = {"tournament", "match", "decision", "strikes", "deals", "clock", "log"}


def told(
    data: Path, bot: str | None = None, format_: Format = Format.TABLE, match: str = "0"
) -> str:
    text = io.StringIO()
    with redirect_stdout(text):
        why(match=match, bot=bot, data=data, format_=format_)
    return text.getvalue()


def body(data: Path, bot: str | None = None) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(told(data, bot, Format.JSON))
    return read


def story(ending: str, data: Path) -> str:
    """Play a match that ends so, and tell it; where a process fails there are words and a log."""
    has_reason = ending.startswith(("crash", "startup", "not started"))
    stored(data, played(ending), reasons=REASONS if has_reason else "")
    if ending == "crash":
        log_of(data, "bot0").write_text("thinking\nValueError: \x1b[31mno card\x1b[0m\n")
    return told(data, "bot0" if ending == "not started" else None)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_whole_text(ending: str, tmp_path: Path) -> None:
    golden = (GOLDEN / f"{ending.replace(' ', '-')}.txt").read_text(encoding="utf-8")
    assert story(ending, tmp_path) == golden


@pytest.mark.parametrize("ending", ENDINGS)
def test_data_has_the_same_parts_and_names_whatever_happened(ending: str, tmp_path: Path) -> None:
    stored(tmp_path, played(ending))
    read = body(tmp_path, "bot0")
    assert set(read) == PARTS
    assert read["tournament"] == {"id": "t1"}
    first = json.loads(PLAIN.read_text(encoding="utf-8"))
    assert {name: sorted(read[name]) for name in ("match", "decision")} == first
    for format_ in (Format.CSV, Format.MARKDOWN):
        assert told(tmp_path, "bot0", format_).startswith(("part,", "|", "### "))


PLAIN = GOLDEN / "names.json"


def test_a_bot_that_won_is_told_so(tmp_path: Path) -> None:
    stored(tmp_path, played("illegal"))
    match = body(tmp_path, "bot1")["match"]
    assert (match["why"], match["has_lost"]) == ("it won: every other seat forfeited", False)
    assert body(tmp_path, "bot1")["decision"]["state"] is None


@pytest.mark.parametrize(
    ("preset", "text"),
    [
        ("standard", "it lost by points: place 2 of 2, with 167 points against 0 (penalty"),
        ("basic", "it lost by points: place 2 of 2, with 0 points against 149"),
    ],
)
def test_points_are_read_as_the_rules_say(tmp_path: Path, preset: str, text: str) -> None:
    table = new_table(preset=preset)
    ENDINGS["points"](table)
    stored(tmp_path, table.result)
    read = body(tmp_path)
    assert read["match"]["why"].startswith(text)
    deals = read["deals"]
    assert deals
    assert [row["lost"] for row in deals] == sorted((row["lost"] for row in deals), reverse=True)
    for row in deals:
        assert row["lost"] == abs(row["points"] - row["best"]) > 0
    assert body(tmp_path, "bot1")["match"]["why"].startswith("it won, with ")
    assert body(tmp_path, "bot1")["deals"] == []


def test_a_shared_first_place_is_no_loss(tmp_path: Path) -> None:
    table = new_table(deals=1)
    table.begin()
    while not table.is_over:
        table.play()
    stored(tmp_path, table.result)
    assert table.places == (1, 1)
    assert body(tmp_path, "bot0")["match"]["why"] == (
        "it did not lose: it shares the first place, with 0 points against 0"
    )
    with pytest.raises(UsageError, match="say which bot: match 0 is between bot0, bot1, and not"):
        told(tmp_path)


def test_a_forfeit_among_many_is_told_with_all_that_came_after(tmp_path: Path) -> None:
    table = new_table(seats=3)
    table.begin().play_until_turn_of(2)
    table.match.forfeit(2, Forfeit.RESIGN)
    while not table.is_over:
        table.play()
    stored(tmp_path, table.result, names=("bot0", "bot1", "bot2"))
    match = body(tmp_path)["match"]
    assert (match["bot"], match["places"][2]) == ("bot2", 3)
    assert match["why"] == "it forfeited: it said goodbye while the match was running"


def test_when_the_time_of_the_match_is_spent_that_is_said(tmp_path: Path) -> None:
    control = replace(CONTROL, match_cap_ms=1_200)
    table = Table(make_spec(control=control)).begin()
    for _ in range(3):
        table.play_until_turn_of(0)
        table.clock.advance(2_000)
    stored(tmp_path, table.result)
    told_expected = [row["expected"] for row in body(tmp_path)["strikes"]]
    assert told_expected == [
        f"less time in the match: at most 1200 ms are charged, and {left} ms were left"
        for left in (1_200, 0, 0)
    ]


# --- what is said of refused answers --------------------------------------------------------------


def _refused(*plan: str) -> tuple[str, str]:
    """Answer the draw with a plan of which the last action is refused; what is said of it."""
    table = new_table().begin()
    seat = table.turn
    table.plan(*map(parse_action, plan))
    told_of = table.players[seat].rejections
    table.match.forfeit(seat, Forfeit.RESIGN)
    [line] = [line for line in lines_of(table.result.record) if line.get("rejected")]
    assert [one.reason for one in told_of] == [line["rejected"]]
    [strike] = look_back(read_record(table.result.record), seat).strikes
    return strike.line.rejected, expected(strike)


def test_what_was_expected_names_what_is_wrong() -> None:
    assert _refused("draw stock", "draw stock") == (
        "wrong_phase",
        "no second draw: melds, layoffs and swaps, then a discard",
    )
    assert _refused("discard AC") == (
        "wrong_phase",
        "a draw first: draw stock or draw discard",
    )
    # Seat 1 begins with 4C 2D 3D 4D JD 7H TH KH QS KS.
    assert _refused("draw stock", "lay KH on 3") == ("no_such_meld", "no meld is on the table")
    assert _refused("draw stock", "meld 2D 3D 4D", "lay KH on 3") == (
        "no_such_meld",
        "the number of a meld on the table: 1–1",
    )
    reason, text = _refused("draw stock", "meld 2C 2D 2H")
    assert reason == "card_not_in_hand"
    assert text.startswith("cards of the hand: it does not hold 2C 2H (it holds 4C ")


def test_every_reason_of_the_wire_has_words() -> None:
    own = DecisionLine(0, 1, 1, (), 0, 0, was_away=False, rejected="", tried="", forced=())
    assert wrong(own) == ""
    for value in pb.Reason.DESCRIPTOR.values:
        reason = value.name.removeprefix("REASON_").lower()
        is_told = reason not in ("unspecified", "deal_over", "not_your_turn", "stale_decision")
        assert (wrong(replace(own, rejected=reason)) != reason) == is_told, reason


# --- what others may not know ---------------------------------------------------------------------


class _Twin:
    """Deals all that seat 0 does not see anew: the hand of seat 1 but for one card, the stock."""

    def __init__(self, seed: bytes, suits: Suits) -> None:
        self._real = SeededShuffler(seed, suits)

    def deal(self, deck: Sequence[Card]) -> list[Card]:
        order = self._real.deal(deck)
        # Seat 1 has places 0, 2, …, 18 and discards the card of place 0; it draws that of place 21,
        # and seat 0 the next one. Place 20 is the upcard.
        hidden = [*range(2, 20, 2), 21, *range(23, len(order))]
        cards = [order[place] for place in hidden]
        random.Random(CASE[0]).shuffle(cards)
        for place, card in zip(hidden, cards, strict=True):
            order[place] = card
        return order

    def recycle(self, number: int, cards: Sequence[Card]) -> list[Card]:
        return self._real.recycle(number, cards)


CASE = [0]


def _asked(case: int, ending: str, data: Path) -> tuple[bytes, tuple[str, str]]:
    """Tell a match to seat 0; the case is all that it can't know: cards, tries, clock of seat 1."""
    CASE[0] = case
    chance = random.Random(case)
    table = new_table().begin()
    first = SeededShuffler(deal_seed(table.spec.secret, 1)).deal(range(52))[0]
    for _ in range(chance.randrange(3)):
        table.choose(Choice(index=1_000 + case))
    table.clock.advance(chance.randrange(900))
    table.plan(DRAW_STOCK, discard(first))
    assert table.turn == 0
    ENDINGS[ending](table)
    stored(data, table.result, reasons=f"bot1 has words of its own {case}")
    log_of(data, "bot1").write_text(f"a secret {case}")
    return table.result.record, (told(data, "bot0"), told(data, "bot0", Format.JSON))


@pytest.mark.parametrize("ending", ["illegal", "crash", "disconnect", "resign", "protocol"])
def test_what_the_opponent_holds_tries_and_takes_changes_nothing(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(referee.engine.game, "SeededShuffler", _Twin)
    test = f"{test_what_the_opponent_holds_tries_and_takes_changes_nothing.__name__}[{ending}]"
    texts: set[tuple[str, str]] = set()
    records: set[bytes] = set()
    for case in (0, *cases(12)):
        with repeating(__file__, test, str(case), case):
            record, text = _asked(case, ending, tmp_path / f"{case}-{len(records)}")
            texts.add(text)
            records.add(record)
            assert len(texts) == 1
    assert len(records) > 1, "nothing differed"


def test_it_says_when_other_legs_are_to_come(tmp_path: Path) -> None:
    stored(tmp_path, played("resign"), legs=1)
    assert "which have the same deals, are over: wait" in told(tmp_path)
    assert body(tmp_path)["match"]["is_encounter_over"] is False


# --- what can't be told ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "text"),
    [
        ("2", r"no match '2' in .*The nearest: 1 \(positions are 0–1\)"),
        ("-1", r"The nearest: 0 \(positions are 0–1\)"),
        ("m-", "The nearest: m-1"),
        ("m1", "The nearest: m-1"),
        ("zzzzzzzzz", "no match 'zzzzzzzzz' in tournament 't1': allowed is the id of a"),
        ("", "no match '' in"),
        ("\x00", "no match"),
    ],
)
def test_no_such_match(tmp_path: Path, match: str, text: str) -> None:
    stored(tmp_path, played("resign"), legs=1)
    with pytest.raises(StoreError, match=text):
        told(tmp_path, match=match)


def test_no_such_bot_in_it(tmp_path: Path) -> None:
    stored(tmp_path, played("resign"))
    with pytest.raises(UsageError, match="'greedy' is not in it: match 0 is between bot0, bot1"):
        told(tmp_path, "greedy")


def test_not_played_yet(tmp_path: Path) -> None:
    stored(tmp_path, played("resign"), legs=1)
    with pytest.raises(TournamentError, match=r"match 1 .* has no record yet: it has not been"):
        told(tmp_path, "bot0", match="1")


def test_called_off(tmp_path: Path) -> None:
    stored(tmp_path, played("resign"), legs=0)
    with Store.open(tmp_path) as store:
        [fixture, _] = [row.fixture.fixture_id for row in queries.matches(store, "t1")]
        for _ in range(3):
            store.note_abort("t1", fixture, "the referee stood still")
    with pytest.raises(
        TournamentError,
        match="off 3 times through nobody's fault, the last time because the referee stood still",
    ):
        told(tmp_path, "bot0")


def test_a_record_that_was_changed(tmp_path: Path) -> None:
    result = played("resign")
    lines = result.record.splitlines(keepends=True)
    changed = [lines[0].replace(b'"bot0"', b'"bot9"'), *lines[1:]]
    stored(tmp_path, replace(result, record=b"".join(changed)))
    with pytest.raises(StoreError, match="the record of match 0 is damaged: line 2: line 1 was ch"):
        told(tmp_path)
    stored(tmp_path / "2", replace(result, record=lines[0]))
    with pytest.raises(
        StoreError, match=r"damaged: line 1: the end is missing.*show 0` has the re"
    ):
        told(tmp_path / "2")


def test_only_its_own_part_of_the_organisers_words_is_told() -> None:
    assert own_reason(REASONS, "bot0", BOTS) == "ended with exit code 3"
    assert own_reason(REASONS, "bot1", BOTS) == "said no hello within 30 s"
    assert own_reason("bot1 ended; with signal 9", "bot1", BOTS) == "ended; with signal 9"
    assert own_reason("", "bot0", BOTS) == own_reason("bot10 fell", "bot1", BOTS) == ""


def test_the_last_lines_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "m.log"
    assert last_lines(log) == []
    log.write_bytes(b"first\n\n  \nsecond  \r\n\xff\xfe")
    assert last_lines(log) == ["first", "second", "\ufffd\ufffd"]
    log.write_text("\n".join(f"line {number} {'x' * 2_000}" for number in range(20)))
    lines = last_lines(log)
    assert [line.split()[1] for line in lines] == ["16", "17", "18", "19"]


def _write_golden() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for ending in ENDINGS:
        with TemporaryDirectory() as name:
            text = story(ending, Path(name))
            names = {part: sorted(body(Path(name), "bot0")[part]) for part in ("match", "decision")}
        (GOLDEN / f"{ending.replace(' ', '-')}.txt").write_text(text, encoding="utf-8")
    PLAIN.write_text(json.dumps(names, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write_golden()
