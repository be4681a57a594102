"""The bot in proto/README.md, run as it stands there."""

import asyncio
import os
import re
import sys
from pathlib import Path

from rummy.referee.v1.play_pb2 import MatchEnded, MatchStarting, Ping, PlayResponse
from tests.bots.scripted_referee import Session, draw_update, scripted_referee

ROOT = Path(__file__).resolve().parents[2]


async def test_the_bot_in_the_readme_plays(tmp_path: Path) -> None:
    text = (ROOT / "proto" / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    script = tmp_path / "bot.py"
    script.write_text(code, encoding="utf-8")

    async def play(session: Session) -> None:
        assert (await session.greet()).hello.bot == "my-first-bot"
        assert session.token == "Bearer t"
        await session.send(PlayResponse(match_starting=MatchStarting(match_id="m")))
        assert (await session.receive()).ready.match_id == "m"
        await session.send(PlayResponse())
        await session.send(PlayResponse(ping=Ping(nonce=7)))
        assert (await session.receive()).pong.nonce == 7
        for decision_id in (1, 2):
            await session.send(draw_update("m", decision_id))
            choice = (await session.receive()).choice
            assert (choice.decision_id, choice.legal_action_index) == (decision_id, 0)
        await session.send(PlayResponse(match_ended=MatchEnded(match_id="m")))

    async with scripted_referee(tmp_path, play) as address:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(script),
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT / "proto"),
                "RUMMY_REFEREE": address,
                "RUMMY_TOKEN": "t",
            },
            stderr=asyncio.subprocess.PIPE,
        )
        _, error = await process.communicate()
    assert (process.returncode, error) == (0, b"")
