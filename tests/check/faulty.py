"""Folders of bots for the check: a healthy one, and others that do one thing wrong each."""

from pathlib import Path

_PROGRAM = '''
import os, queue, signal, subprocess, sys, time
import grpc
from rummy.referee.v1 import play_pb2 as pb, rummy_pb2
from rummy.referee.v1.play_pb2_grpc import PlayServiceStub

FAULT = {fault!r}
NOTE = {note!r}
token = ("authorization", "Bearer " + os.environ["RUMMY_TOKEN"])
rules, answered, ignoring, hog = {{}}, {{}}, set(), []


def wrong():
    return dict(actions=[rummy_pb2.Action(type=rummy_pb2.ACTION_TYPE_DISCARD, cards=[53])])


def choose(match_id, decision):
    """Meld and lay off what there is, else the last legal action."""
    number = answered[match_id] = answered.get(match_id, 0) + 1
    starting = rules[match_id]
    if FAULT == "acts illegally" and number == 1:
        return wrong()
    if FAULT == "errs with wild cards" and number == 1:
        if starting.rules.wilds != rummy_pb2.WILDS_NONE:
            return dict(actions=[rummy_pb2.Action(type=rummy_pb2.ACTION_TYPE_SWAP, meld_id=1)])
    if FAULT == "is slow" and number % 50 == 7:
        time.sleep(0.12)
    if FAULT == "thinks long":
        time.sleep(0.03)
    for index, action in enumerate(decision.legal_actions):
        if action.type in (rummy_pb2.ACTION_TYPE_MELD, rummy_pb2.ACTION_TYPE_LAY_OFF):
            return dict(legal_action_index=index)
    return dict(legal_action_index=len(decision.legal_actions) - 1)


def start(starting, say):
    match_id = starting.match_id
    if FAULT == "claims two, plays one" and rules and match_id not in rules:
        return
    if FAULT == "breaks at six" and starting.seats == 6:
        sys.exit("six are too many")
    if FAULT == "breaks with two packs" and starting.rules.packs[2] == 2:
        sys.exit("two packs are too many")
    if FAULT == "prints much":
        print("blah " * 20_000, file=sys.stderr)
    if FAULT == "takes memory" and not hog:
        hog.append(True)
        hold = "import time; held = bytearray(b'x') * (64 << 20); time.sleep(3600)"
        hog.extend(subprocess.Popen([sys.executable, "-c", hold]) for _ in range(6))
    if FAULT == "takes threads" and not hog:
        import threading
        for _ in range(70):
            thread = threading.Thread(target=time.sleep, args=(3600,), daemon=True)
            try:
                thread.start()
            except RuntimeError:
                break
            hog.append(thread)
    rules[match_id] = starting
    if FAULT != "is never ready":
        say(ready=pb.Ready(match_id=match_id))


def play(channel):
    outbox = queue.SimpleQueue()

    def say(**message):
        outbox.put(pb.PlayRequest(**message))

    if FAULT == "speaks before hello":
        say(ping=pb.Ping(nonce=1))
    name = "somebody-else" if FAULT == "has another name" else {name!r}
    version = "2" if FAULT == "has another version" else "1"
    at_once = 2 if FAULT == "claims two, plays one" else {at_once}
    say(hello=pb.Hello(bot=name, version=version, max_concurrent_matches=at_once))
    calls = PlayServiceStub(channel).Play(iter(outbox.get, None), metadata=[token])
    try:
        for response in calls:
            handle(response, say, outbox)
    except grpc.RpcError as error:
        return error.code()
    finally:
        outbox.put(None)
    return grpc.StatusCode.OK


def handle(response, say, outbox):
    kind = response.WhichOneof("message")
    if kind is None and FAULT == "dies on an unknown message":
        sys.exit("what is that?")
    if kind == "match_starting":
        start(response.match_starting, say)
    elif kind == "update":
        update = response.update
        for event in update.events:
            if FAULT == "dies on an unknown event" and event.WhichOneof("event") is None:
                sys.exit("what happened?")
            if FAULT == "dies in a second deal" and event.deal_started.deal == 2:
                sys.exit("one was enough")
        if update.HasField("decision"):
            if FAULT == "never answers" or update.match_id in ignoring:
                ignoring.discard(update.match_id)
                return
            if FAULT == "says goodbye":
                say(goodbye=pb.Goodbye(reason="enough"))
                return
            answer = choose(update.match_id, update.decision)
            number = update.decision.decision_id
            say(choice=pb.Choice(match_id=update.match_id, decision_id=number, **answer))
    elif kind == "rejected":
        rejected = response.rejected
        if FAULT == "dies on an unknown reason":
            pb.Reason.Name(rejected.reason)
        if FAULT == "ignores a rejection" and rejected.HasField("strikes_left"):
            ignoring.add(rejected.match_id)
        if FAULT == "dies of a rejection" and rejected.HasField("strikes_left"):
            sys.exit("how rude")
    elif kind == "match_ended":
        rules.pop(response.match_ended.match_id, None)
    elif kind == "ping" and FAULT != "answers no ping":
        say(pong=pb.Pong(nonce=response.ping.nonce))


if NOTE:
    with open(NOTE, "a") as note:
        note.write(str(os.getpid()) + "\\n")
if FAULT == "does not start":
    sys.exit("\\x1b[31mbroken on purpose")
if FAULT == "never says hello":
    time.sleep(3600)
if FAULT == "ignores SIGTERM":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with grpc.insecure_channel(os.environ["RUMMY_REFEREE"]) as channel:
    while True:
        code = play(channel)
        if code is grpc.StatusCode.FAILED_PRECONDITION:
            sys.exit("refused")
        if code is grpc.StatusCode.OK and not rules:
            break
        if FAULT == "ends when cut off":
            sys.exit(0)
        if FAULT == "hangs when cut off":
            time.sleep(3600)
        time.sleep(0.05)
'''


def write_bot(
    parent: Path, fault: str = "", *, memory_mb: int | None = None, at_once: int = 4, note: str = ""
) -> Path:
    """A bot's folder; without a fault it is healthy. It adds its process id to the file `note`."""
    name = (fault or "healthy").lower().replace(" ", "-").replace(",", "")
    folder = parent / name
    folder.mkdir(parents=True)
    program = _PROGRAM.format(fault=fault, name=name, at_once=at_once, note=note)
    (folder / "bot.py").write_text(program)
    limits = f"[limits]\nmemory_mb = {memory_mb}\n" if memory_mb is not None else ""
    (folder / "bot.toml").write_text(
        f'name = "{name}"\nversion = "1"\nauthor = "tests"\nlanguage = "python"\n'
        f'run = ["python3", "bot.py"]\n{limits}'
    )
    return folder
