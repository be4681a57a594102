"""The engine and the brute-force reference side by side: one position, compared in everything."""

import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

from referee.engine.actions import Action, IllegalAction, MalformedAction
from referee.engine.cards import cards_of, cards_text
from referee.engine.game import RummyGame
from referee.engine.legality import legal_actions, violation
from referee.engine.notation import action_text, meld_text, parse_action
from referee.engine.ruleset import RuleSet
from referee.engine.scoring import is_rummy, score, standing
from referee.engine.state import Phase, State
from referee.engine.transition import apply, forced_action
from referee.engine.vector_position import load_position
from tests.engine.reference import Game, deal_cards
from tests.engine.reference_cards import deal_seed
from tests.engine.reference_rules import make_rules
from tests.engine.reference_vectors import load

OPEN_AFTER_THE_END = ("taken", "turn", "turns", "totals")
"""Keys of a position whose value after the end of a deal docs/vectors.md leaves open."""


def engine_state(state: State) -> dict[str, object]:
    """A state of the engine under the keys of a position."""
    return {
        "deal": state.deal,
        "out": [group[0] if len(group) == 1 else sorted(group) for group in state.out],
        "turn": state.turn,
        "phase": state.phase.value,
        "hands": [" ".join(sorted(cards_text(cards_of(hand)).split())) for hand in state.hands],
        "stock": cards_text(reversed(state.stock)),
        "discard": cards_text(state.discards),
        "table": [meld_text(meld) for meld in state.table],
        "played": list(state.played),
        "taken": None if state.taken is None else cards_text([state.taken]),
        "recycles": state.recycles,
        "turns": state.turns,
        "totals": list(state.totals),
    }


def engine_reason(state: State, seat: int, text: str) -> str | None:
    """Why the engine refuses an action text, or None."""
    try:
        reason = violation(state, seat, parse_action(text))
    except MalformedAction:
        return "malformed"
    return None if reason is None else reason.value


class Twins:
    """One deal in both, and the deals after it. Every difference is an AssertionError."""

    def __init__(self, state: State, reference: Game, case: str, start: object) -> None:
        self.state = state
        self.reference = reference
        self.case = case
        """What to say so that somebody can repeat it: the seed and the command."""
        self.start = start
        self.done: list[str] = []

    def check(self, what: str, engine: object, reference: object) -> None:
        """Fail unless both say the same."""
        if engine != reference:
            lines = (
                f"{what}: the engine says {engine!r}, the reference {reference!r}",
                f"rules and start: {json.dumps(self.start)}",
                f"done since: {self.done}",
                f"position: {json.dumps(self.reference.state())}",
                self.case,
            )
            raise AssertionError("\n".join(lines))

    def compare(self) -> list[str]:
        """Compare all of a position; return the legal actions as texts, in a fixed order."""
        self.compare_states()
        legal = legal_actions(self.state)
        texts = self.reference.legal_actions()
        tables = self.state.tables
        named = {parse_action(text): text for text in texts}
        self.check(
            "legal actions",
            sorted(action_text(action, tables) for action in legal),
            sorted(action_text(action, tables) for action in named),
        )
        self.check("legal actions by content", set(legal), set(named))
        self.check("as many texts as actions", len(named), len(texts))
        forced = None
        if legal:
            forced = action_text(forced_action(self.state), tables)
        wanted = self.reference.forced()
        if wanted is not None:
            wanted = action_text(parse_action(wanted), tables)
        self.check("forced action", forced, wanted)
        return sorted(texts)

    def compare_states(self) -> None:
        """Compare the two states, the score so far and, after the end, the match."""
        engine, reference = engine_state(self.state), self.reference.state()
        for key, value in reference.items():
            if self.state.phase is not Phase.OVER or key not in OPEN_AFTER_THE_END:
                self.check(key, engine[key], value)
        self.check("over", self.state.phase is Phase.OVER, self.reference.deal_result is not None)
        if self.state.phase is Phase.OVER:
            self._compare_results()

    def _compare_results(self) -> None:
        ours, theirs = score(self.state), self.reference.deal_result
        assert theirs is not None
        assert ours.termination is not None
        self.check("ended", ours.termination.value, theirs.ended)
        self.check("winner", ours.winner, theirs.winner)
        self.check("by", ours.by and ours.by.value, theirs.by)
        self.check("rummy", (ours.rummy, is_rummy(self.state)), (theirs.rummy, theirs.rummy))
        self.check("points", ours.points, theirs.points)
        self.check("totals", ours.totals, theirs.totals)
        now, match = standing(self.state), self.reference.match_result
        assert match is not None
        self.check("match over", now.over, match.over)
        self.check("places", now.places, match.places)
        self.check("next dealer", now.next_dealer, match.next_dealer)
        self.check("out", _sorted_groups(now.out), _sorted_groups(match.out))

    def compare_reasons(self, tries: Iterable[tuple[int, str]]) -> None:
        """Compare why actions, legal or not, are refused."""
        for seat, text in tries:
            wanted = self.reference.violation(seat, text)
            self.check(f"seat {seat} {text!r}", engine_reason(self.state, seat, text), wanted)

    def do(self, text: str) -> None:
        """Play a legal action in both."""
        self.done.append(text)
        self.reference.do(self.reference.turn, text)
        self._apply(parse_action(text))

    def _apply(self, action: Action) -> None:
        try:
            apply(self.state, action)
        except IllegalAction as error:
            self.check(f"apply {self.done[-1]!r}", error.reason.value, None)

    @property
    def over(self) -> bool:
        """Whether the deal is over."""
        return self.state.phase is Phase.OVER


def _sorted_groups(groups: Iterable[Iterable[int]]) -> list[list[int]]:
    return [sorted(group) for group in groups]


def twins_of_vector(
    rules: RuleSet, vector: Mapping[str, Any], case: str, start: object = None
) -> Twins:
    """Both at the position of a conformance vector."""
    reference_rules = make_rules(vector["rules"]["preset"], vector["rules"].get("set"))
    state = load_position(rules, vector)
    return Twins(state, load(vector, reference_rules), case, start or vector)


class TwinMatch:
    """A whole match in both, deal after deal from one secret."""

    def __init__(
        self, rules: RuleSet, overrides: Mapping[str, object], seats: int, case: str, secret: bytes
    ) -> None:
        self._rules = make_rules(rules.preset, overrides)
        self._seats = seats
        self._case = case
        self._secret = secret
        self._start = {"preset": rules.preset, "set": dict(overrides), "seats": seats}
        dealer = secret[0] % seats
        self.game = RummyGame(rules, seats, secret, dealer)
        dealt = deal_cards(self._rules, seats, deal_seed(secret, 1), dealer=dealer)
        self.twins = self._twins(dealt)

    def _twins(self, reference: Game) -> Twins:
        seed = deal_seed(self._secret, reference.deal).hex()
        start = {**self._start, "seed": seed, "deal": reference.deal, "dealer": reference.dealer}
        return Twins(self.game.state, reference, self._case, start)

    @property
    def over(self) -> bool:
        """Whether the match is over."""
        result = self.twins.reference.match_result
        return result is not None and result.over

    def next_deal(self) -> None:
        """Deal again in both."""
        before = self.twins.reference
        result = before.match_result
        assert result is not None
        assert result.next_dealer is not None
        self.game.next_deal()
        deal = before.deal + 1
        dealt = deal_cards(
            self._rules,
            self._seats,
            deal_seed(self._secret, deal),
            dealer=result.next_dealer,
            deal=deal,
            out=result.out,
            totals=result.totals,
        )
        self.twins = self._twins(dealt)


STYLES = ("greedy", "shy", "taker", "forced", "any")


def choose(chance: random.Random, style: str, legal: list[str], forced: str | None) -> str:
    """One of the legal actions, as a seat of this style would choose it."""
    if style == "forced" and forced is not None and chance.random() < 0.8:
        return forced
    plays = [text for text in legal if text.split()[0] in ("meld", "lay", "swap")]
    eager = {"greedy": 0.9, "any": 0.5}.get(style, 0.1)
    if plays and chance.random() < eager:
        return chance.choice(plays)
    if "draw discard" in legal and style == "taker":
        return "draw discard"
    others = [text for text in legal if text not in plays]
    return chance.choice(others or plays)
