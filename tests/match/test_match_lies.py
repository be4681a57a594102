"""Records written anew by a liar, with a chain that fits: what was played, and the result."""

import pytest

from referee.match.outcome import MatchResult
from referee.match.verify import verify
from tests.match.fakes import lines_of
from tests.match.lies import (
    AWAY,
    BAD_INDEX,
    DEAL_ENDED,
    DISCARDED,
    FORCED,
    FORFEITED,
    HEADER,
    LAST,
    LOST,
    PAST_TURN,
    RESIGNED,
    RICH,
    STOPPED_SHORT,
    TIME_UP,
    WRONG_PHASE,
    Lie,
    backwards,
    both,
    check_found_alone,
    cut,
    drop,
    flipped,
    insert,
    inside,
    more,
    one_more,
    put,
    take,
)
from tests.match.tampering import written

LIES: dict[str, tuple[Lie, int, str]] = {
    # What was played.
    "other card": (put(DISCARDED, actions=["discard 7C"]), DISCARDED, "card_not_in_hand"),
    "action dropped": (put(DISCARDED, actions=[]), DISCARDED + 1, "seat 0 acts"),
    "draw dropped": (put(AWAY, actions=[]), DISCARDED, "wrong_phase"),
    "action added": (put(AWAY, actions=more("discard KD")), DISCARDED, "seat 2 acts"),
    "turn too long": (put(DISCARDED, actions=more("draw stock")), DISCARDED, "end of the turn"),
    "no action": (put(DISCARDED, actions=["pass"]), DISCARDED, "no action"),
    "spelled otherwise": (put(WRONG_PHASE, tried="discard 7C "), WRONG_PHASE, "no action"),
    "cards in another order": (
        put(WRONG_PHASE, tried="lay 8C 7C on 1"),
        WRONG_PHASE,
        "is written 'lay 7C 8C on 1'",
    ),
    "line dropped": (drop(DISCARDED), DISCARDED, "seat 0 acts"),
    "line doubled": (lambda lines: lines.insert(4, lines[4]), DISCARDED, "this is decision 2"),
    "lines swapped": (
        lambda lines: lines.insert(BAD_INDEX - 1, lines.pop(WRONG_PHASE - 1)),
        BAD_INDEX,
        "this is decision 1",
    ),
    "seat": (put(DISCARDED, seat=0), DISCARDED, "seat 2 is to act"),
    "no such seat": (put(DISCARDED, seat=6), DISCARDED, "seat 2 is to act"),
    "id": (put(DISCARDED, id=3), DISCARDED, "this is decision 2"),
    "deal": (put(DISCARDED, deal=2), DISCARDED, "deal 1 is being played"),
    # What was played for a seat.
    "forced action": (
        put(TIME_UP, forced=["draw stock", "discard KS"]),
        TIME_UP,
        "forced action is",
    ),
    "forced actions removed": (take(TIME_UP, "forced"), TIME_UP, "not nothing"),
    "forced actions added": (put(TIME_UP, forced=more("draw stock")), TIME_UP, "end of the turn"),
    "forced though in time": (put(DISCARDED, forced=["discard KD"]), DISCARDED, "forced"),
    "other forced line": (
        put(FORCED, actions=["draw discard", "discard TH"]),
        FORCED,
        "forced action is",
    ),
    "forced line removed": (drop(FORCED), FORCED, "seat 0 acts"),
    "forced line for another seat": (put(FORCED, seat=0), FORCED, "seat 2 is to act"),
    "forced line in another deal": (put(FORCED, deal=2), FORCED, "deal 1 is being played"),
    "forced line without a forfeit": (
        lambda lines: lines.insert(1, {**lines[FORCED - 1], "seat": 1}),
        BAD_INDEX,
        "has not forfeited",
    ),
    "decision after the forfeit": (
        both(
            drop(FORCED),
            insert(
                FORCED,
                kind="decision",
                seat=2,
                id=3,
                deal=1,
                actions=["draw stock"],
                charged_us=0,
                forgiven_us=0,
            ),
        ),
        FORCED,
        "acts, and has forfeited",
    ),
    # What was rejected.
    "reason": (put(WRONG_PHASE, rejected="not_a_meld"), WRONG_PHASE, "says wrong_phase"),
    "no such reason": (put(WRONG_PHASE, rejected="rude"), WRONG_PHASE, "no such reason"),
    "tried a legal action": (put(WRONG_PHASE, tried="draw stock"), WRONG_PHASE, "is legal"),
    "tried no action": (put(WRONG_PHASE, tried="pass"), WRONG_PHASE, "no action"),
    "bad index and yet played": (
        put(STOPPED_SHORT, rejected="bad_index"),
        STOPPED_SHORT,
        "nothing can be played",
    ),
    "past a turn that goes on": (
        put(STOPPED_SHORT, rejected="plan_past_turn"),
        STOPPED_SHORT,
        "was not over",
    ),
    "not past the turn": (put(PAST_TURN, rejected="wrong_phase"), PAST_TURN, "the turn was over"),
    "past the turn with no action": (put(PAST_TURN, tried="pass"), PAST_TURN, "no action"),
    "strike removed": (drop(BAD_INDEX), BAD_INDEX, "this is decision 1"),
    "fourth strike is none": (
        inside(HEADER, "strikes_tolerated", "illegal", new=1),
        TIME_UP,
        "had to forfeit",
    ),
    # Time.
    "called late in time": (put(TIME_UP, charged_us=1_499_999), TIME_UP, "was not up"),
    "late, and yet played": (put(TIME_UP, actions=["draw stock"]), TIME_UP, "played or tried"),
    "late, and yet tried": (put(TIME_UP, tried="draw stock"), TIME_UP, "played or tried"),
    "lateness forgiven": (put(AWAY, charged_us=3_505_001), AWAY, "time was up"),
    "lateness without being away": (take(AWAY, "away"), AWAY, "time was up"),
    "bank used twice": (put(PAST_TURN, charged_us=1_005_001), PAST_TURN, "time was up"),
    "less time to come back": (
        inside(HEADER, "time_control", "reconnect_ms", new=100),
        AWAY,
        "time was up",
    ),
    "more bank": (inside(HEADER, "time_control", "bank_ms", new=501), TIME_UP, "was not up"),
    "never away": (put(DISCARDED, away=False), DISCARDED, "allowed is true"),
    # Forfeits.
    "forfeit removed": (drop(RESIGNED), RESIGNED, "has not forfeited"),
    "forfeit of another seat": (put(RESIGNED, seat=0), FORCED, "has not forfeited"),
    "forfeit of no seat": (put(RESIGNED, seat=3), RESIGNED, "cannot forfeit"),
    "forfeit twice": (insert(FORCED, kind="forfeit", seat=2, fault="crash"), FORCED, "cannot"),
    "forfeit with strikes left": (put(RESIGNED, fault="illegal"), RESIGNED, "strikes left"),
    "forfeit with time left": (put(RESIGNED, fault="time"), RESIGNED, "strikes left"),
    "forfeit while connected": (put(RESIGNED, fault="disconnect"), RESIGNED, "time left"),
    "forfeit of a seat that was ready": (put(RESIGNED, fault="startup"), RESIGNED, "was ready"),
    "forfeit for nothing": (put(RESIGNED, fault="rude"), RESIGNED, "allowed are"),
    "forfeit invented": (
        insert(FORCED, kind="forfeit", seat=0, fault="crash"),
        FORCED + 1,
        "was over",
    ),
    "not ready in another order": (
        both(
            insert(2, kind="forfeit", seat=0, fault="startup"),
            insert(2, kind="forfeit", seat=1, fault="startup"),
        ),
        3,
        "forfeits before seat 1",
    ),
    "not ready after a crash in play": (
        both(
            insert(2, kind="forfeit", seat=2, fault="startup"),
            insert(3, kind="forfeit", seat=0, fault="crash"),
            insert(4, kind="forfeit", seat=1, fault="startup"),
        ),
        4,
        "was over",
    ),
    # Scores.
    "number of a deal": (put(DEAL_ENDED, deal=2), DEAL_ENDED, "deal is 2"),
    "end of a deal": (put(DEAL_ENDED, ended="turn_cap"), DEAL_ENDED, "ended is 'turn_cap'"),
    "winner": (put(DEAL_ENDED, winner=1), DEAL_ENDED, "winner is 1"),
    "no winner": (put(DEAL_ENDED, winner=None), DEAL_ENDED, "winner is None"),
    "points": (put(DEAL_ENDED, points=one_more), DEAL_ENDED, "points is"),
    "points for fewer": (put(DEAL_ENDED, points=[51]), DEAL_ENDED, "points is"),
    "totals of a deal": (put(DEAL_ENDED, totals=one_more), DEAL_ENDED, "totals is"),
    "end of the last deal removed": (drop(LAST - 1), LAST - 1, "was not over"),
    "end of a deal removed": (drop(DEAL_ENDED), DEAL_ENDED, "the deal is over"),
    "deal ended early": (
        lambda lines: lines.insert(4, lines[DEAL_ENDED - 1]),
        AWAY,
        "the deal is not over",
    ),
    "played after the end": (
        lambda lines: lines.insert(-1, lines[DISCARDED - 1]),
        LAST,
        "the match was over",
    ),
    "places": (put(LAST, places=backwards), LAST, "places is"),
    "totals": (put(LAST, totals=one_more), LAST, "totals is"),
    "termination": (put(LAST, termination="forfeit"), LAST, "termination is"),
    "never started": (put(LAST, termination="not_started"), LAST, "termination is"),
    "aborted with places": (put(LAST, termination="aborted"), LAST, "places is"),
    "no such termination": (put(LAST, termination="won"), LAST, "it may be"),
    "ended early": (cut(DISCARDED), DISCARDED, "was not over"),
    "never started, after a crash": (
        both(
            cut(BAD_INDEX, termination="not_started", places=[0, 0, 0], totals=[0, 0, 0]),
            insert(2, kind="forfeit", seat=1, fault="startup"),
        ),
        3,
        "was not over",
    ),
    # Decks.
    "secret": (put(LAST, secret=flipped), LAST, "salt and secret"),
    "salt": (put(LAST, salt=flipped), LAST, "salt and secret"),
    "commitment": (put(HEADER, commitment=flipped), LAST, "salt and secret"),
    "first dealer": (put(HEADER, first_dealer=1), BAD_INDEX, "seat 2 is to act"),
    "no such dealer": (put(HEADER, first_dealer=3), HEADER, "allowed are 0–2"),
    "seats": (lambda lines: lines[0]["seats"].pop(), LAST, "there are 2"),
    "seats and randomness": (
        lambda lines: [lines[0]["seats"].pop(), lines[-1]["randomness"].pop()],
        TIME_UP,
        "forced action",
    ),
    "one seat": (lambda lines: lines[0].update(seats=lines[0]["seats"][:1]), HEADER, "1 seats"),
}


@pytest.mark.parametrize("case", LIES)
def test_lie_is_found_without_the_head(case: str) -> None:
    check_found_alone(RICH, *LIES[case])


def test_truth_written_anew_is_the_same() -> None:
    assert written(lines_of(RICH.record)) == RICH.record


CHARGED = lines_of(LOST.record)[1]["charged_us"]
LIES_ABOUT_FORFEITS: dict[str, tuple[MatchResult, Lie, int, str]] = {
    "other fault": (FORFEITED, put(6, fault="time"), 6, "had to forfeit (illegal)"),
    "other seat": (FORFEITED, put(6, seat=0), 6, "seat 1 had to forfeit"),
    "not after the last strike": (
        FORFEITED,
        cut(6, termination="completed"),
        6,
        "was not over",
    ),
    "a fifth try": (
        FORFEITED,
        lambda lines: lines.insert(5, {**lines[4], "id": 5}),
        6,
        "had to forfeit",
    ),
    "forced after the last time": (
        FORFEITED,
        put(5, rejected="bad_index", forced=["draw stock"]),
        5,
        "forced",
    ),
    "not lost": (LOST, put(2, charged_us=CHARGED - 1), 3, "time left"),
    "not away": (LOST, take(2, "away"), 2, "time was up"),
    "away and played": (LOST, put(2, actions=["draw stock"]), 3, "time left"),
    "lost, another fault": (
        LOST,
        both(put(2, charged_us=CHARGED + 9_000), put(3, fault="crash")),
        3,
        "had to forfeit (disconnect)",
    ),
    "lost, another seat": (LOST, put(3, seat=0), 3, "time left"),
    "lost before": (LOST, insert(3, kind="forfeit", seat=0, fault="crash"), 4, "was over"),
}


@pytest.mark.parametrize("case", LIES_ABOUT_FORFEITS)
def test_lie_about_a_forfeit_is_found_without_the_head(case: str) -> None:
    check_found_alone(*LIES_ABOUT_FORFEITS[case])


UNANCHORED: dict[str, Lie] = {
    "bot": inside(HEADER, "seats", 0, "bot", new="somebody"),
    "version": inside(HEADER, "seats", 0, "version", new="9"),
    "match id": put(HEADER, match_id="m-2"),
    "time within the budget": put(DISCARDED, charged_us=7),
    "time forgiven": put(DISCARDED, forgiven_us=7),
    "answer within the second look": put(DISCARDED, charged_us=1_005_000),
    "more strikes tolerated": inside(HEADER, "strikes_tolerated", "illegal", new=9),
    "time for the start": inside(HEADER, "time_control", "startup_ms", new=9),
    "index": put(BAD_INDEX, tried="index 77"),
    "words for no action": put(BAD_INDEX, rejected="malformed", tried="rude"),
    "what came after the turn": put(PAST_TURN, tried="draw discard"),
    "fault of a process": put(RESIGNED, fault="crash"),
    "name of the preset": inside(HEADER, "rules", "preset", new="classic"),
    "rule that did not matter": inside(HEADER, "rules", "ceiling", new=50),
    "text": put(LAST, text="won by far"),
    "randomness": inside(LAST, "randomness", 0, new="00" * 32),
    "aborted early": cut(FORCED, termination="aborted", places=[0] * 3, totals=[0] * 3),
    "resigned": both(
        cut(FORCED, termination="forfeit", places=[1, 2, 3], totals=[0] * 3),
        insert(FORCED, kind="forfeit", seat=1, fault="resign"),
    ),
}
"""What nobody can compute again, or what would have been right too."""


@pytest.mark.parametrize("case", UNANCHORED)
def test_lie_that_is_consistent_is_found_by_the_head_alone(case: str) -> None:
    lines = lines_of(RICH.record)
    UNANCHORED[case](lines)
    content = written(lines)
    assert content != RICH.record
    verdict = verify(content)
    assert verdict.problems == ()
    assert not verdict.is_anchored
    anchored = verify(content, RICH.record_hash.hex())
    assert anchored.is_anchored
    assert [problem.line for problem in anchored.problems] == [len(lines)]
    assert "head" in anchored.problems[0].text
