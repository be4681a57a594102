"""What the referee noted about one bot in a match, from the record: its own seat's lines alone."""

import json

from rummy.referee.v1 import play_pb2
from rummy.tournament.v1 import tournament_pb2 as pb

MOST_REJECTIONS = 50
MOST_CHARACTERS = 200


def rejections(record: bytes, seat: int) -> tuple[list[pb.OwnRejection], int]:
    """Return the first choices of a seat that were not accepted, and how many there were."""
    found: list[pb.OwnRejection] = []
    count = 0
    for line in record.splitlines():
        # Most lines are not parsed at all.
        if b'"rejected":"' not in line:
            continue
        fields = json.loads(line)
        if fields["kind"] != "decision" or fields["seat"] != seat:
            continue
        count += 1
        if count <= MOST_REJECTIONS:
            found.append(
                pb.OwnRejection(
                    deal=fields["deal"],
                    decision_id=fields["id"],
                    reason=play_pb2.Reason.Value(f"REASON_{fields['rejected'].upper()}"),
                    tried=fields["tried"][:MOST_CHARACTERS],
                    applied=fields["actions"],
                    forced=fields.get("forced", ()),
                    charged_us=fields["charged_us"],
                )
            )
    return found, count
