"""Folders of bots that misbehave in one way each, written with the contract alone."""

from pathlib import Path

_PROGRAM = """
import os, queue, sys, time
import grpc
from rummy.referee.v1 import play_pb2 as pb, rummy_pb2
from rummy.referee.v1.play_pb2_grpc import PlayServiceStub

FAULT = {fault!r}
outbox = queue.SimpleQueue()


def say(**message):
    outbox.put(pb.PlayRequest(**message))


if FAULT == "does not start":
    sys.exit("broken on purpose")
if FAULT == "never says hello":
    time.sleep(3600)
say(hello=pb.Hello(bot="faulty", version="1"))
channel = grpc.insecure_channel(os.environ["RUMMY_REFEREE"])
token = ("authorization", "Bearer " + os.environ["RUMMY_TOKEN"])
answered = 0
for response in PlayServiceStub(channel).Play(iter(outbox.get, None), metadata=[token]):
    kind = response.WhichOneof("message")
    if kind == "match_starting":
        answered = 0
        if FAULT != "never gets ready":
            say(ready=pb.Ready(match_id=response.match_starting.match_id))
        if FAULT == "answers out of turn":
            # Nobody asked: stale, no strike, nothing happens.
            match_id = response.match_starting.match_id
            for number in range(1, 4):
                say(choice=pb.Choice(match_id=match_id, decision_id=900, legal_action_index=0))
    elif kind == "update" and response.update.HasField("decision"):
        match_id, decision = response.update.match_id, response.update.decision
        answer = dict(match_id=match_id, decision_id=decision.decision_id)
        answered += 1
        if FAULT == "dies" and answered == 3:
            os._exit(3)
        if FAULT == "says goodbye" and answered == 3:
            say(goodbye=pb.Goodbye(reason="enough"))
            outbox.put(None)
        elif FAULT == "plays illegally":
            card = rummy_pb2.CARD_XX
            discard = rummy_pb2.Action(type=rummy_pb2.ACTION_TYPE_DISCARD, cards=[card])
            say(choice=pb.Choice(actions=[discard], **answer))
        elif FAULT == "is late" and answered >= 2:
            pass
        else:
            say(choice=pb.Choice(legal_action_index=0, **answer))
    elif kind == "ping":
        say(pong=pb.Pong(nonce=response.ping.nonce))
"""


def write_bot(parent: Path, fault: str) -> Path:
    """A bot folder named after its fault."""
    name = fault.replace(" ", "-")
    folder = parent / name
    folder.mkdir(parents=True)
    (folder / "bot.py").write_text(_PROGRAM.format(fault=fault))
    (folder / "bot.toml").write_text(
        f'name = "{name}"\nversion = "1"\nauthor = "tests"\nlanguage = "python"\n'
        'run = ["python3", "bot.py"]\n'
    )
    return folder
