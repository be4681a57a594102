"""Random positions as conformance vectors, and random actions that are nearly legal."""

import random
from collections import Counter
from typing import Any

from referee.engine.ruleset import RuleSet
from tests.engine.reference_cards import FACES, JOKER, deck, has_meaning, meaning, own_face
from tests.engine.reference_melds import additions, all_melds
from tests.engine.twins import Twins


def random_position(
    chance: random.Random, rules: RuleSet, overrides: dict[str, object], seats: int
) -> dict[str, Any]:
    """A small position with melds on the table, hands that nearly fit them, and totals at edges."""
    out = _random_out(chance, rules, seats)
    still_in = [seat for seat in range(seats) if all(seat not in group for group in out)]
    cards = deck(rules.packs[len(still_in)], rules.jokers)
    chance.shuffle(cards)
    table = _random_table(chance, rules, cards)
    wanted = {
        face
        for meld in table
        for added in additions(
            tuple(sorted(meaning(card) for card in meld)), rules.ace, rules.set_suits
        )
        for face in added[:1]
    }
    wanted |= {meaning(card) for meld in table for card in meld if has_meaning(card)}
    # Wild cards, and cards that fit, come first as often as not.
    cards.sort(key=lambda face: (face in wanted or face == JOKER) and chance.random() < 0.6)
    hands = [""] * seats
    turn = chance.choice(still_in)
    spare = len(cards) // len(still_in)
    copies = _copies_of_one_face(chance, cards, wanted)
    for seat in sorted(still_in, key=lambda seat: seat != turn):
        hand: list[str] = []
        if seat == turn and chance.random() < 0.4:
            hand = chance.choice(_random_table(chance, rules, cards) or [[]])
        if seat == turn and copies:
            hands[seat] = " ".join(copies[1:])
            continue
        number = chance.choice((1, 1, 2, 2, 3, 4, 7, 10)) if not hand else chance.choice((0, 1, 2))
        drawn = _draw(chance, cards, min(number, max(1, spare - 4)))
        hands[seat] = " ".join(_with_few_wilds([*map(own_face, hand), *drawn]))
    position: dict[str, Any] = {
        "deal": chance.choice((1, 2, 5, 199, 200)),
        "out": [list(group) for group in out],
        "turn": turn,
        "hands": hands,
        "table": [" ".join(meld) for meld in table],
        "stock": " ".join(_draw(chance, cards, chance.choice((0, 0, 1, 2, 6)))),
        "discard": " ".join([*_draw(chance, cards, chance.choice((0, 1, 1, 2, 5))), *copies[:1]]),
        "played": [seat in still_in and chance.random() < 0.5 for seat in range(seats)],
        "recycles": chance.randint(0, rules.recycles_allowed or 0),
        "turns": _random_turns(chance, rules, len(still_in)),
        "totals": _random_totals(chance, rules, out, seats),
    }
    if not copies and chance.random() < 0.6:
        position["phase"] = "play"
        if chance.random() < 0.7:
            position["taken"] = chance.choice(hands[position["turn"]].split())
    return {
        "rules": {"preset": rules.preset, "set": overrides},
        "seats": seats,
        "dealer": chance.choice(still_in),
        "position": position,
    }


def _with_few_wilds(hand: list[str]) -> list[str]:
    """At most five jokers and deuces: each choice of meanings is an action, so lists explode."""
    wild = [card for card in hand if card == JOKER or card[0] == "2"]
    return [*(card for card in hand if card not in wild), *wild[:5]]


def _copies_of_one_face(chance: random.Random, cards: list[str], wanted: set[str]) -> list[str]:
    """Now and then two or more copies of a face, off the cards: an upcard, and a hand like it."""
    counts = Counter(cards)
    twice = [face for face in sorted(counts) if counts[face] > 1]
    fitting = [face for face in twice if face in wanted or face == JOKER]
    if not twice or chance.random() < 0.7:
        return []
    face = chance.choice(fitting if fitting and chance.random() < 0.9 else twice)
    number = min(counts[face], chance.choice((2, 2, 2, 3, 4)))
    for _ in range(number):
        cards.remove(face)
    return [face] * number


def _draw(chance: random.Random, cards: list[str], number: int) -> list[str]:
    """Take cards off the end; now and then a second copy of one that was just taken."""
    drawn: list[str] = []
    while cards and len(drawn) < number:
        again = [face for face in drawn if face in cards]
        if again and chance.random() < 0.3:
            drawn.append(chance.choice(again))
            cards.remove(drawn[-1])
        else:
            drawn.append(cards.pop())
    return drawn


def _random_table(chance: random.Random, rules: RuleSet, cards: list[str]) -> list[list[str]]:
    """Up to three melds out of the cards, which lose them; wild cards fill gaps at random."""
    wilds = ({JOKER} if rules.has_wild_jokers else set()) | (
        {"2C", "2D", "2H", "2S"} if rules.has_wild_deuces else set()
    )
    table: list[list[str]] = []
    shapes = all_melds(rules.ace, rules.set_suits)
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        meld: list[str] = []
        left = Counter(cards)
        for face in chance.choice(shapes if chance.random() < 0.5 else shapes[:200]):
            choices = [wild for wild in sorted(wilds) if left[wild] and wild != face]
            if left[face] and (not choices or chance.random() < 0.6):
                used = face
            elif choices:
                used = JOKER if JOKER in choices and chance.random() < 0.6 else choices[-1]
            else:
                break
            left[used] -= 1
            meld.append(used if used == face else f"{used}={face}")
        else:
            for card in meld:
                cards.remove(own_face(card))
            table.append(meld)
    return table


def _random_out(chance: random.Random, rules: RuleSet, seats: int) -> list[tuple[int, ...]]:
    if rules.match_end != "elimination" or seats == 2 or chance.random() < 0.4:
        return []
    gone = chance.sample(range(seats), chance.randint(1, seats - 2))
    if len(gone) > 1 and chance.random() < 0.3:
        return [tuple(sorted(gone[:2])), *((seat,) for seat in gone[2:])]
    return [(seat,) for seat in gone]


def _random_turns(chance: random.Random, rules: RuleSet, still_in: int) -> int:
    cap = rules.turn_cap_per_seat * still_in
    return chance.choice((0, 1, 7, cap - 2, cap - 1, cap))


def _random_totals(
    chance: random.Random, rules: RuleSet, out: list[tuple[int, ...]], seats: int
) -> list[int]:
    """Near the number that ends the match, often equal; eliminated seats are over the ceiling."""
    edge = rules.target if rules.match_end == "target" else rules.ceiling
    some = [chance.randint(0, edge + 20) for _ in range(3)] + [edge - 1, edge, edge + 1, 0]
    totals = [chance.choice(some) for _ in range(seats)]
    for group in out:
        shared = rules.ceiling + chance.randint(1, 40)
        for seat in group:
            totals[seat] = shared
    return totals


# --- actions that are nearly legal ------------------------------------------------------------

_NO_ACTIONS = (
    "", "draw", "draw Stock", "draw stock ", " draw stock", "meld", "meld ", "lay 8C", "lay on 1",
    "discard", "discard 8C 9C", "discard XX=4H", "discard 10H", "discard kc", "discard 8C\n",
    "swap XX=4H on 1", "swap 8C 9C on 1", "meld 8C  8D 8H", "meld 8C,8D,8H", "lay 8C on one",
    "lay 8C on -1", "lay 8C on", "lay 8C  on 1", "meld 8C=XX 8D 8H", "meld XX= 8D 8H",
    "meld =8C 8D 8H", "meld 8C 8D 8H on 1", "MELD 8C 8D 8H", "pass", "lay 8C on 1 ",
)  # fmt: skip


def near_misses(chance: random.Random, twins: Twins, legal: list[str]) -> list[tuple[int, str]]:
    """Seats and texts to try: changed legal actions, random cards with random meanings, no texts.

    The wrong phase, other seats, cards of others and melds that are not there all come up.
    """
    game = twins.reference
    hand = sorted(game.hands[game.turn].elements()) or [JOKER]
    tries: list[tuple[int, str]] = [
        (game.turn, "draw stock"),
        (game.turn, "draw discard"),
        (game.turn, chance.choice(_NO_ACTIONS)),
        (chance.randrange(game.seats), chance.choice([*legal, "draw stock", "discard 8C"])),
    ]
    plays = [text for text in legal if text.startswith(("meld", "lay", "swap"))]
    if plays:
        tries += [(game.turn, _changed(chance, chance.choice(plays))) for _ in range(3)]
    tries += [(game.turn, _random_text(chance, twins, hand)) for _ in range(6)]
    for face in sorted(set(hand))[:3]:
        tries += [(game.turn, f"lay {face} on {at + 1}") for at in range(len(game.table))]
    if game.taken is not None:
        tries.append((game.turn, f"discard {game.taken}"))
    return tries


def _changed(chance: random.Random, text: str) -> str:
    """A legal play with one thing changed."""
    words = text.split()
    place = chance.randrange(1, len(words))
    if words[place] == "on":
        place += 1
    if words[place].isdigit():
        words[place] = str(chance.randint(0, 4))
        return " ".join(words)
    card, kind = words[place], chance.randrange(4)
    if kind == 0:
        words[place] = chance.choice(FACES)
    elif kind == 1:
        words[place] = f"{own_face(card)}={chance.choice(FACES)}"
    elif kind == 2:
        words.insert(place, card)
    else:
        words.insert(place, f"XX={meaning(card)}" if chance.random() < 0.5 else own_face(card))
    return " ".join(words)


def _random_text(chance: random.Random, twins: Twins, hand: list[str]) -> str:
    game = twins.reference
    number = min(len(hand), chance.choice((1, 1, 2, 3, 4, 5)))
    cards = chance.sample(hand, number)
    if chance.random() < 0.15:
        cards[-1] = chance.choice((*FACES, JOKER))
    near = [face for meld in game.table for card in meld for face in _beside(meaning(card))]
    near = [*near, *map(own_face, hand)]
    placed = []
    for card in cards:
        wild = card == JOKER or (card[0] == "2" and chance.random() < 0.5)
        to = chance.choice(near) if chance.random() < 0.8 else chance.choice(FACES)
        named = wild and to != JOKER and chance.random() < 0.9
        placed.append(f"{card}={to}" if named else card)
    target = chance.randint(0, len(game.table) + 1)
    return chance.choice(
        (
            f"meld {' '.join(placed)}",
            f"lay {' '.join(placed)} on {target}",
            f"lay {placed[0]} on {target}",
            f"swap {own_face(placed[0])} on {target}",
            f"discard {own_face(placed[0])}",
        )
    )


def _beside(face: str) -> list[str]:
    place = FACES.index(face)
    return [FACES[(place + step) % 52] for step in (-1, 0, 1, 13)]
