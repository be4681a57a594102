"""Reads a stored record for one seat; what is not what the match ended with is refused."""

from referee.match.hindsight import Hindsight, look_back
from referee.match.record_lines import Header, read_record
from referee.match.verify import verify
from tournament.errors import StoreError
from tournament.store.stored import MatchRow


def read_back(match: MatchRow, content: bytes, seat: int) -> tuple[Header, Hindsight]:
    """Return who played what, and the match from a seat's side. Raises StoreError."""
    problems = verify(content, match.record_hash).problems
    if problems:
        first, number = problems[0], match.fixture.position
        raise StoreError(
            f"the record of match {number} is damaged: line {first.line}: {first.text}."
            f" `tournament show {number}` has the result"
        )
    record = read_record(content)
    return record.header, look_back(record, seat)
