"""Records kept from earlier: still verified, and the same inputs still make the same bytes."""

from pathlib import Path

import pytest

from referee.engine.notation import parse_action
from referee.match.outcome import Forfeit
from referee.match.record_lines import DecisionLine, ForfeitLine, RecordLines, read_record
from referee.match.seat_player import Choice
from referee.match.spec import MatchSpec, SeatSpec
from referee.match.verify import verify
from tests.match.fakes import Table

FOLDER = Path(__file__).parent.parent / "golden"
RECORDS = sorted(FOLDER.glob("*.jsonl"))


def spec_of(record: RecordLines) -> MatchSpec:
    header, end = record.header, record.end
    return MatchSpec(
        match_id=header.match_id,
        rules=header.rules,
        seats=tuple(map(SeatSpec, header.bots, header.versions, end.randomness)),
        secret=end.secret,
        salt=end.salt,
        first_dealer=header.first_dealer,
        time_control=header.time_control,
    )


def answer(table: Table, line: DecisionLine) -> None:
    """Let the time pass that it took, and answer as it was answered."""
    table.clock.advance(line.charged_us / 1_000)
    if line.rejected == "time_up":
        return
    if line.rejected == "bad_index":
        table.choose(Choice(index=int(line.tried.removeprefix("index "))), seat=line.seat)
        return
    tried = [line.tried] if line.rejected else []
    plan = [parse_action(text) for text in (*line.actions, *tried)]
    table.choose(Choice(plan=plan), seat=line.seat)


@pytest.mark.parametrize("file", RECORDS, ids=lambda file: file.stem)
def test_golden_record(file: Path) -> None:
    content = file.read_bytes()
    heads = dict(line.split()[::-1] for line in (FOLDER / "heads.txt").read_text().splitlines())
    assert verify(content, heads[file.stem]).problems == ()
    record = read_record(content)
    table = Table(spec_of(record)).begin()
    for line in record.lines:
        if isinstance(line, DecisionLine):
            answer(table, line)
        elif isinstance(line, ForfeitLine) and line.fault is Forfeit.RESIGN:
            table.match.forfeit(line.seat, line.fault)
    assert table.result.record.splitlines() == content.splitlines()


def test_golden_records_show_every_kind_of_line_and_fault() -> None:
    assert len(RECORDS) >= 4
    whole = b"".join(file.read_bytes() for file in RECORDS)
    for word in ("decision", "forced", "deal_ended", "forfeit", "match_ended", "bad_index",
                 "time_up", "card_not_in_hand", "XX=", "resign"):  # fmt: skip
        assert word.encode() in whole, word
