"""Conformance vectors: a position, what is played from it, what must come (docs/vectors.md)."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from referee.engine.actions import IllegalAction, MalformedAction, Reason
from referee.engine.cards import cards_of, cards_text, multiset
from referee.engine.legality import legal_actions, violation
from referee.engine.notation import action_text, meld_text, parse_action, parse_cards
from referee.engine.presets import make_ruleset
from referee.engine.ruleset import RuleSet, RuleSetError
from referee.engine.scoring import is_rummy, score, standing
from referee.engine.state import State
from referee.engine.transition import apply, forced_action
from referee.engine.vector_position import VectorError, keys_within, load_position

_EXPECTATIONS: Final = ("steps", "deal", "match", "rules_error")


def run_vector(vector: object) -> str | None:
    """Run one vector: None if all is as it says, else what was expected and what came."""
    try:
        if not isinstance(vector, Mapping):
            return "a vector is a JSON object"
        if not any(key in vector for key in _EXPECTATIONS):
            return f"the vector expects nothing: it has none of {', '.join(_EXPECTATIONS)}"
        _run(vector)
    except VectorError as error:
        return str(error)
    return None


def vector_name(vector: object) -> str:
    """The vector's name, for reports; empty if it has none."""
    name = vector.get("name") if isinstance(vector, Mapping) else None
    return name if isinstance(name, str) else ""


def _run(vector: Mapping[str, Any]) -> None:
    try:
        rules = _rules(vector.get("rules"))
    except RuleSetError as error:
        wanted = vector.get("rules_error")
        if wanted is None:
            raise VectorError(f"the rules are refused: {error}") from None
        if wanted not in error.fields:
            named = ", ".join(error.fields)
            raise VectorError(f"expected the error to name {wanted!r}, it names {named}") from None
        return
    if "rules_error" in vector:
        raise VectorError(
            f"expected rules refused for {vector['rules_error']!r}, they are accepted"
        )
    state = load_position(rules, vector)
    steps = vector.get("steps", [])
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        raise VectorError("steps must be a list")
    for number, step in enumerate(steps, 1):
        try:
            if not isinstance(step, Mapping):
                raise VectorError("a step is a JSON object")
            _step(state, step)
        except VectorError as error:
            raise VectorError(f"step {number}: {error}") from None
    _compare(vector.get("deal", {}), _DEAL, state, "deal")
    _compare(vector.get("match", {}), _MATCH, state, "match")


def _rules(spec: object) -> RuleSet:
    if not isinstance(spec, Mapping):
        raise VectorError("rules must be an object with preset and set")
    keys_within(spec, ("preset", "set"), "rules")
    preset, overrides = spec.get("preset", "basic"), spec.get("set") or {}
    if not isinstance(preset, str) or not isinstance(overrides, Mapping):
        raise VectorError("rules.preset must be text and rules.set an object")
    return make_ruleset(preset, overrides)


_STEP_KINDS: Final = ("do", "try", "legal", "legal_has", "legal_lacks", "forced", "state")


def _step(state: State, step: Mapping[str, Any]) -> None:
    keys_within(step, ("seat", "rejected", *_STEP_KINDS), "a step")
    if not any(kind in step for kind in _STEP_KINDS):
        raise VectorError(f"a step has one of {', '.join(_STEP_KINDS)}")
    seat = step.get("seat", state.turn)
    if "do" in step:
        _do(state, seat, step["do"])
    if "try" in step:
        _try(state, seat, step["try"], step.get("rejected"))
    if "legal" in step:
        _legal(state, step["legal"], exact=True)
    if "legal_has" in step:
        _legal(state, step["legal_has"], exact=False)
    if "legal_lacks" in step:
        present = _legal_texts(state) & _canonical(state, step["legal_lacks"])
        if present:
            raise VectorError(f"expected not to be legal, but is: {_listed(present)}")
    if "forced" in step:
        forced = action_text(forced_action(state), state.tables) if legal_actions(state) else None
        wanted = None if step["forced"] is None else _canonical(state, [step["forced"]]).pop()
        if forced != wanted:
            raise VectorError(f"expected forced {step['forced']!r}, came {forced!r}")
    if "state" in step:
        if not isinstance(step["state"], Mapping):
            raise VectorError("state must be an object")
        _compare(step["state"], _STATE, state, "state")


def _do(state: State, seat: object, text: object) -> None:
    reason = _reason(state, seat, text)
    if reason is not None:
        raise VectorError(f"expected {text!r} accepted, it is rejected: {reason.value}")
    try:
        apply(state, parse_action(str(text)))
    except IllegalAction as error:  # pragma: no cover - violation and apply are one
        raise VectorError(f"expected {text!r} accepted, it is rejected: {error}") from None


def _try(state: State, seat: object, text: object, wanted: object) -> None:
    if wanted not in [reason.value for reason in Reason]:
        raise VectorError(f"rejected is {wanted!r}: allowed are {_listed(r.value for r in Reason)}")
    reason = _reason(state, seat, text)
    came = "accepted" if reason is None else reason.value
    if came != wanted:
        raise VectorError(f"expected {text!r} rejected as {wanted}, came {came}")


def _reason(state: State, seat: object, text: object) -> Reason | None:
    try:
        action = parse_action(text) if isinstance(text, str) else None
    except MalformedAction:
        action = None
    if action is None:
        return Reason.MALFORMED
    if type(seat) is not int or not 0 <= seat < state.seats:
        raise VectorError(f"seat is {seat!r}: allowed are 0–{state.seats - 1}")
    return violation(state, seat, action)


def _legal_texts(state: State) -> set[str]:
    return {action_text(action, state.tables) for action in legal_actions(state)}


def _canonical(state: State, texts: object) -> set[str]:
    if not isinstance(texts, Sequence) or isinstance(texts, str):
        raise VectorError("legal actions must be a list of texts")
    try:
        return {action_text(parse_action(str(text)), state.tables) for text in texts}
    except MalformedAction as error:
        raise VectorError(str(error)) from None


def _legal(state: State, texts: object, *, exact: bool) -> None:
    wanted, came = _canonical(state, texts), _legal_texts(state)
    if wanted - came:
        raise VectorError(f"expected to be legal, but is not: {_listed(wanted - came)}")
    if exact and came - wanted:
        raise VectorError(f"expected not to be legal, but is: {_listed(came - wanted)}")


def _listed(texts: Any) -> str:
    return ", ".join(sorted(texts))


# --- comparing: how each key is read off the state, and how its expected value is normalised ------

_Read = Callable[[State], object]
_Norm = Callable[[Any], object]


def _same(value: Any) -> object:
    return value


def _bag(text: Any) -> object:
    """A multiset of cards; None where the text is not cards."""
    try:
        naturals, wilds = parse_cards(text)
    except (MalformedAction, AttributeError):
        return None
    return multiset(naturals), tuple(sorted(wilds))


def _bags(texts: Any) -> object:
    return [_bag(text) for text in texts] if isinstance(texts, list) else texts


_STATE: Final[dict[str, tuple[_Read, _Norm]]] = {
    "deal": (lambda state: state.deal, _same),
    "out": (lambda state: _out(state.out), _same),
    "turn": (lambda state: state.turn, _same),
    "phase": (lambda state: state.phase.value, _same),
    "hands": (lambda state: [cards_text(cards_of(hand)) for hand in state.hands], _bags),
    "stock": (lambda state: cards_text(reversed(state.stock)), _same),
    "discard": (lambda state: cards_text(state.discards), _same),
    "table": (lambda state: [meld_text(meld) for meld in state.table], _bags),
    "played": (lambda state: list(state.played), _same),
    "taken": (lambda state: None if state.taken is None else cards_text([state.taken]), _same),
    "recycles": (lambda state: state.recycles, _same),
    "turns": (lambda state: state.turns, _same),
    "totals": (lambda state: list(state.totals), _same),
}
_DEAL: Final[dict[str, tuple[_Read, _Norm]]] = {
    "ended": (lambda state: state.ended.value if state.ended else "playing", _same),
    "winner": (lambda state: score(state).winner, _same),
    "by": (lambda state: state.by.value if state.by else None, _same),
    "rummy": (is_rummy, _same),
    "points": (lambda state: list(score(state).points), _same),
    "totals": (lambda state: list(score(state).totals), _same),
}
_MATCH: Final[dict[str, tuple[_Read, _Norm]]] = {
    "over": (lambda state: standing(state).over, _same),
    "places": (lambda state: _listed_or_none(standing(state).places), _same),
    "totals": (lambda state: list(score(state).totals), _same),
    "next_dealer": (lambda state: standing(state).next_dealer, _same),
}


def _out(groups: Sequence[Sequence[int]]) -> list[object]:
    return [group[0] if len(group) == 1 else list(group) for group in groups]


def _listed_or_none(places: Sequence[int] | None) -> list[int] | None:
    return None if places is None else list(places)


def _compare(
    wanted: object, readers: Mapping[str, tuple[_Read, _Norm]], state: State, where: str
) -> None:
    if not isinstance(wanted, Mapping):
        raise VectorError(f"{where} must be an object")
    keys_within(wanted, tuple(readers), where)
    for key, value in wanted.items():
        read, normal = readers[key]
        came = read(state)
        # As JSON, so that true is not 1.
        if json.dumps(normal(came)) != json.dumps(normal(value)):
            raise VectorError(f"{where}.{key}: expected {value!r}, came {came!r}")
