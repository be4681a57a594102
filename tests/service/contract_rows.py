"""The tables of proto/README.md, and a match for the bot that does what one of their rows says."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

from referee.match.spec import TimeControl
from referee.service.server import Referee
from tests.misbehaviour.arena import Bad, Behaviour, Expected
from tests.service.clients import Chooser, Client, client

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "proto" / "README.md").read_text(encoding="utf-8")


def table(after: str) -> dict[str, list[str]]:
    """The rows of the first table after a text: cells by first cell."""
    _, _, rest = TEXT.partition(f"\n{after}")
    assert rest, f"proto/README.md has no {after!r}"
    lines = re.split(r"\n(?=\|)", rest, maxsplit=1)[1].split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].replace("`", ""): row[1:] for row in cells[2:]}


class Row:
    """One match of a bot that does what a row says, against a bot that plays along."""

    def __init__(self, referee: Referee, address: str, cells: list[str]) -> None:
        self.referee = referee
        self.address = address
        self.cells = cells
        self.bad: Bad
        self.good: Client

    async def begin(
        self,
        control: TimeControl | None = None,
        rules: Mapping[str, object] | None = None,
        choose: Chooser | None = None,
    ) -> Bad:
        """Let a match begin; the bot of this row is to come. The other one answers by `choose`."""
        control = control or TimeControl(per_decision_ms=20_000)
        behaviour = Behaviour("row", _unused, Expected(), control=control, rules=rules or {})
        self.bad = Bad(self.referee, self.address, behaviour)
        self.good_token = self.referee.issue_token("good", "1")
        self.good = await self.bad.stack.enter_async_context(client(self.address, self.good_token))
        await self.good.hello()
        self.playing = asyncio.create_task(
            self.referee.play(self.bad.spec, [self.bad.token, self.good_token])
        )
        self.answering = asyncio.create_task(self.good.play(choose))
        return self.bad

    async def close(self) -> None:
        """End the match, if there was one."""
        if hasattr(self, "bad"):
            self.playing.cancel()
            self.answering.cancel()
            await asyncio.gather(self.playing, self.answering, return_exceptions=True)
            await self.bad.stack.aclose()


async def _unused(_: Bad) -> None:
    raise AssertionError("the row acts itself")
