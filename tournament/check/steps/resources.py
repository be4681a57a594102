"""Steps about what the bot takes: time, memory, processes, output, and how it ends."""

from collections.abc import Sequence

from tournament.bots.launch import KILLED
from tournament.bots.output import LOG_CAP_BYTES
from tournament.check.report import Status, Verdict
from tournament.check.room import Room, failed
from tournament.check.subject import Launched
from tournament.check.usage import can_be_seen
from tournament.check.where import Where

NEAR = 0.5
"""The part of a limit from which on a step warns, for times."""
NEAR_FULL = 0.8
"""The same for memory and processes."""
_MIB = 1024 * 1024


def share(sorted_values: Sequence[int], part: float) -> int:
    """Return the smallest value that `part` of them do not exceed."""
    count = len(sorted_values)
    rank = -int(-part * count // 1)  # upwards
    return sorted_values[max(0, min(count, rank) - 1)]


async def time_use(room: Room) -> Verdict:
    """Thinking times of the regular matches, against the time for a decision."""
    times = sorted(us for played in room.regular for us in played.charged_us())
    if not times:
        return Verdict(Status.NOT_RUN, "there were no decisions to measure")
    p50, p99, worst = (
        value / 1_000 for value in (share(times, 0.5), share(times, 0.99), times[-1])
    )
    limit = room.settings.per_decision_ms
    text = f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, worst {worst:.1f} ms of {limit} ms"
    figures = {
        "decisions": len(times),
        "p50_ms": round(p50, 3),
        "p99_ms": round(p99, 3),
        "worst_ms": round(worst, 3),
        "per_decision_ms": limit,
    }
    expected = f"99 of 100 decisions within {limit} ms; the bank is for the rest"
    late = sum(played.outcome.time_strikes for played in room.regular)
    if late or p99 > limit:
        text += f"; {late} out of time" if late else ""
        return Verdict(Status.FAILED, text, "", expected, Where.CLOCK, figures)
    used_bank = any(played.seen.used_bank for played in room.regular)
    if p99 > NEAR * limit or used_bank:
        text += "; it used the bank" if used_bank else ""
        return Verdict(Status.WARNING, text, "", expected, Where.CLOCK, figures)
    return Verdict(Status.PASSED, text, figures=figures)


async def memory(room: Room) -> Verdict:
    """Memory and processes of the bot's tree at their peak, against its limits."""
    subject = room.subject
    assert isinstance(subject, Launched), "the step is for processes of this machine"
    limits, peak = subject.program.limits, subject.peak
    used_mb = peak.memory_bytes / _MIB
    text = f"{used_mb:.0f} of {limits.memory_mb} MiB, {peak.processes} of {limits.processes}"
    text += " processes and threads"
    figures = {
        "memory_mb": round(used_mb, 1),
        "memory_limit_mb": limits.memory_mb,
        "processes": peak.processes,
        "processes_limit": limits.processes,
    }
    expected = (
        f"at most {limits.memory_mb} MiB in all its processes"
        f" (limits.memory_mb of bot.toml), and {limits.processes} processes and threads"
    )
    if subject.killed:
        why = f"the sandbox ended it: {subject.killed[0]}"
        return Verdict(Status.FAILED, why, "", expected, Where.INSIDE, figures)
    if not can_be_seen():
        return Verdict(Status.NOT_SEEN, "this system does not tell what a process uses")
    if not peak.looks:
        return Verdict(Status.NOT_RUN, "the bot was not there long enough to be looked at")
    parts = (used_mb / limits.memory_mb, peak.processes / limits.processes)
    if max(parts) > 1:
        return Verdict(Status.FAILED, text, "", expected, Where.INSIDE, figures)
    if max(parts) > NEAR_FULL:
        return Verdict(Status.WARNING, text, "", expected, Where.INSIDE, figures)
    return Verdict(Status.PASSED, text, figures=figures)


async def output(room: Room) -> Verdict:
    """What the bot prints fits into a log."""
    subject = room.subject
    assert isinstance(subject, Launched), "the step is for processes of this machine"
    printed, most = subject.printed_bytes, LOG_CAP_BYTES
    figures = {"printed_bytes": printed, "log_bytes": most}
    if subject.filled_log:
        return Verdict(
            Status.FAILED,
            f"it printed more than the {most} bytes that a log takes: the rest is lost",
            subject.tail()[-1] if subject.tail() else "",
            "little output: what matters for understanding a match",
            Where.STEPS,
            figures,
        )
    return Verdict(Status.PASSED, f"{printed} bytes on stdout and stderr", figures=figures)


async def stop(room: Room) -> Verdict:
    """SIGTERM ends the bot in time."""
    subject = room.subject
    assert isinstance(subject, Launched), "the step is for processes of this machine"
    process = subject.process
    await subject.stop()
    assert process is not None, "it was connected a moment ago"
    allowed_s = room.settings.stop_s
    if process.exit_text is not None and process.exit_text.startswith(KILLED):
        return failed(
            f"it had not ended {allowed_s:g} s after SIGTERM, and was killed",
            "nothing",
            f"that it ends within {allowed_s:g} s",
            Where.MANIFEST,
        )
    return Verdict(Status.PASSED, f"ended with {process.exit_text} within {allowed_s:g} s")
