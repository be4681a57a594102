"""Run one conformance vector through the brute-force reference (docs/vectors.md).

It imports the standard library and its sister modules only and never the engine.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.engine.reference import Game, Shuffler, deal_cards
from tests.engine.reference_cards import FACES, JOKER, has_meaning, meaning, own_face
from tests.engine.reference_match import OutGroups
from tests.engine.reference_melds import is_meld
from tests.engine.reference_rules import Rules, RulesError, make_rules
from tests.engine.reference_turn import Action, RejectedError, parse

POSITION_KEYS = {
    *("deal", "out", "turn", "phase", "hands", "stock", "discard", "table"),
    *("played", "taken", "recycles", "turns", "totals"),
}


class VectorError(Exception):
    """A vector that fails: it is wrong itself, or something else came than it expects."""


def run_vector(vector: Mapping[str, Any]) -> str | None:
    """Run one vector; return None, or why it failed (docs/vectors.md)."""
    try:
        _run(vector)
    except VectorError as error:
        return str(error)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        return f"the vector is wrong: {error!r}"
    return None


def _run(vector: Mapping[str, Any]) -> None:
    chosen = vector.get("rules", {})
    try:
        rules = make_rules(chosen.get("preset", "basic"), chosen.get("set"))
    except RulesError as error:
        wanted = vector.get("rules_error")
        if wanted is None:
            raise VectorError(f"the rules are refused: {error}") from error
        _compare("rules_error", True, wanted in error.fields, f"{wanted} in {error.fields}")
        return
    if "rules_error" in vector:
        raise VectorError(f"expected a rules error on {vector['rules_error']}, none came")
    game = load(vector, rules)
    for number, step in enumerate(vector.get("steps", []), start=1):
        _run_step(game, step, f"step {number}")
    _check_results(game, vector)


def load(vector: Mapping[str, Any], rules: Rules) -> Game:
    """Load the position or deal of a vector, with all checks (docs/vectors.md, Position)."""
    seats, dealer = vector["seats"], vector.get("dealer", 0)
    if not rules.seats_min <= seats <= rules.seats_max:
        raise VectorError(f"{seats} seats are not allowed")
    if dealer not in range(seats):
        raise VectorError(f"there is no seat {dealer} to deal")
    if ("from" in vector) == ("position" in vector):
        raise VectorError("a vector has either `position` or `from`")
    if "from" in vector:
        if "reshuffles" in vector:
            raise VectorError("`reshuffles` does not stand with `from`")
        seed = bytes.fromhex(vector["from"]["seed"])
        if len(seed) != 32:
            raise VectorError("a seed is 64 hexadecimal digits")
        return deal_cards(rules, seats, seed, dealer=dealer)
    return _load_position(vector, rules, seats, dealer)


def _load_position(vector: Mapping[str, Any], rules: Rules, seats: int, dealer: int) -> Game:
    position: Mapping[str, Any] = vector["position"]
    if unknown := set(position) - POSITION_KEYS:
        raise VectorError(f"unknown in a position: {', '.join(sorted(unknown))}")
    out: OutGroups = tuple(_group(entry) for entry in position.get("out", []))
    gone = [seat for group in out for seat in group]
    still_in = [seat for seat in range(seats) if seat not in gone]
    if len(set(gone)) != len(gone) or not set(gone) <= set(range(seats)) or len(still_in) < 2:
        raise VectorError(f"these seats cannot be out: {gone}")
    hands = [hand.split() for hand in position.get("hands", [""] * seats)]
    table = [meld.split() for meld in position.get("table", [])]
    stock, discard = position.get("stock", "").split(), position.get("discard", "").split()
    for name in ("hands", "played", "totals"):
        if name in position and len(position[name]) != seats:
            raise VectorError(f"{name} does not have one entry a seat")
    for seat, hand in enumerate(hands):
        if (seat in still_in) != bool(hand):
            raise VectorError(f"the hand of seat {seat} should not be {hand}")
    _check_cards([*hands, stock, discard], table, rules, len(still_in))
    phase, taken = position.get("phase", "draw"), position.get("taken")
    if phase not in ("draw", "play"):
        raise VectorError(f"phase {phase!r} is neither draw nor play")
    turn = position.get("turn")
    if turn is not None and turn not in still_in:
        raise VectorError(f"seat {turn} cannot be on turn")
    if taken is not None and phase == "draw":
        raise VectorError("nothing is taken in phase draw")
    game = Game(
        rules,
        hands,
        stock=stock,
        discard=discard,
        table=table,
        dealer=dealer,
        deal=position.get("deal", 1),
        out=out,
        turn=turn,
        phase=phase,
        played=position.get("played"),
        taken=taken,
        recycles=position.get("recycles", 0),
        turns=position.get("turns", 0),
        totals=position.get("totals"),
        shuffler=_listed_shuffles([order.split() for order in vector.get("reshuffles", [])]),
    )
    if taken is not None and not game.hands[game.turn][taken]:
        raise VectorError(f"the taken {taken} is not in the hand of the seat on turn")
    return game


def _group(entry: Any) -> tuple[int, ...]:
    return tuple(entry) if isinstance(entry, list) else (entry,)


def _listed_shuffles(orders: list[list[str]]) -> Shuffler:
    def shuffle(cards: list[str], _recycle: int) -> list[str]:
        if not orders:
            return cards
        order = orders.pop(0)
        if Counter(order) != Counter(cards):
            raise VectorError(f"reshuffle {order} does not hold the recycled cards {cards}")
        return order

    return shuffle


def _check_cards(
    piles: Sequence[Sequence[str]], table: Sequence[Sequence[str]], rules: Rules, seats: int
) -> None:
    for meld in table:
        for card in meld:
            wild = own_face(card)
            fine = wild in rules.wild_faces() and meaning(card) in FACES and wild != meaning(card)
            if has_meaning(card) and not fine:
                raise VectorError(f"{card} may not lie in a meld")
            if card == JOKER:
                raise VectorError("a joker on the table needs a meaning")
        if not all(own_face(card) in (*FACES, JOKER) for card in meld) or not is_meld(meld, rules):
            raise VectorError(f"{' '.join(meld)} is not a meld")
    held = Counter(card for pile in piles for card in pile)
    held.update(own_face(card) for meld in table for card in meld)
    for face, number in held.items():
        if face not in (*FACES, JOKER):
            raise VectorError(f"{face!r} is no card")
        allowed = rules.jokers if face == JOKER else rules.packs[seats]
        if number > allowed:
            raise VectorError(f"{face} is named {number} times of {allowed}")


def _run_step(game: Game, step: Mapping[str, Any], where: str) -> None:
    seat = step.get("seat", game.turn)
    if "do" in step:
        try:
            game.do(seat, step["do"])
        except RejectedError as error:
            raise VectorError(f"{where}: expected it to be accepted, {error}") from error
    elif "try" in step:
        before = game.state()
        reason = game.violation(seat, step["try"])
        _compare(f"{where}: {step['try']}", step["rejected"], reason)
        _compare(f"{where}: the state", before, game.state())
    elif step.keys() & {"legal", "legal_has", "legal_lacks"}:
        _check_legal(game, step, where)
    elif "forced" in step:
        _compare(f"{where}: forced", _action(step["forced"]), _action(game.forced()))
    elif "state" in step:
        came = game.state()
        for key, value in step["state"].items():
            _compare(f"{where}: {key}", _plain(key, value), _plain(key, came[key]))
    else:
        raise VectorError(f"{where}: nothing is known to do with {dict(step)}")


def _check_legal(game: Game, step: Mapping[str, Any], where: str) -> None:
    legal = {_action(text) for text in game.legal_actions()}
    if "legal" in step:
        wanted = {_action(text) for text in step["legal"]}
        _compare(f"{where}: missing", [], sorted(map(str, wanted - legal)))
        _compare(f"{where}: too much", [], sorted(map(str, legal - wanted)))
    for text in step.get("legal_has", []):
        _compare(f"{where}: legal {text}", True, _action(text) in legal)
    for text in step.get("legal_lacks", []):
        _compare(f"{where}: legal {text}", False, _action(text) in legal)


def _action(text: str | None) -> Action | None:
    if text is None:
        return None
    action = parse(text)
    if action is None:
        raise VectorError(f"{text!r} is no action")
    return action


def _plain(key: str, value: Any) -> Any:
    """Bring a value of a state into a form that can be compared."""
    if key in ("hands", "table"):
        return [sorted(cards.split()) for cards in value]
    if key in ("stock", "discard"):
        return value.split()
    if key == "out":
        return [sorted(_group(entry)) for entry in value]
    return value


def _check_results(game: Game, vector: Mapping[str, Any]) -> None:
    deal, match = game.deal_result, game.match_result
    came_deal: dict[str, Any] = {
        "ended": deal.ended if deal else "playing",
        "winner": deal.winner if deal else None,
        "by": deal.by if deal else None,
        "rummy": deal.rummy if deal else False,
        "points": list(deal.points) if deal else [0] * game.seats,
        "totals": list(game.totals),
    }
    came_match: dict[str, Any] = {
        "over": match.over if match else False,
        "places": list(match.places) if match and match.places else None,
        "totals": list(game.totals),
        "next_dealer": match.next_dealer if match else None,
    }
    for key, value in vector.get("deal", {}).items():
        _compare(f"deal {key}", value, came_deal[key])
    for key, value in vector.get("match", {}).items():
        _compare(f"match {key}", value, came_match[key])


def _compare(what: str, expected: object, came: object, detail: str = "") -> None:
    if expected != came or type(expected) is not type(came):
        raise VectorError(f"{what}: expected {expected}, came {detail or came}")
