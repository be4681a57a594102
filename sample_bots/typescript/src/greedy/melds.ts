/** Sets and runs of natural cards; wild cards are whatever the legal actions make of them. */

import type { Card } from "../generated/rummy/referee/v1/Card.js";
import type { RuleSet } from "../generated/rummy/referee/v1/RuleSet.js";
import { ACE, JOKER, KING, hasAnySuits, isAceHigh, rank, sorted, suit } from "./cards.js";

/** The cards of a meld; those of a run upwards. It holds at least three. */
export type Meld = readonly [Card, Card, ...Card[]];

/** Takes a list of cards for a meld; the referee has no shorter ones. */
export function asMeld(cards: readonly Card[]): Meld {
  const [first, second, ...rest] = cards;
  if (first === undefined || second === undefined) throw new Error("a meld of fewer than 2 cards");
  return [first, second, ...rest];
}

/** Tells a set from a run. */
function isSet(meld: Meld): boolean {
  return rank(meld[0]) === rank(meld[1]);
}

/** Whether the natural card may be laid off on the meld. */
export function fits(card: Card, meld: Meld, rules: RuleSet): boolean {
  if (isSet(meld)) {
    const isNew = hasAnySuits(rules) || !meld.includes(card);
    return rank(card) === rank(meld[0]) && meld.length < 4 && isNew;
  }
  if (suit(card) !== suit(meld[0])) return false;
  const low = rank(meld[0]);
  const high = low + meld.length - 1;
  if (rank(card) === low - 1 || rank(card) === high + 1) return true;
  return isAceHigh(rules) && rank(card) === ACE && high === KING && low !== ACE;
}

/** The meld with a card that fits, a run still upwards. */
export function extended(meld: Meld, card: Card): Meld {
  const isBelow = !isSet(meld) && rank(card) === rank(meld[0]) - 1;
  return isBelow ? [card, ...meld] : [...meld, card];
}

/** Every set and run of natural cards in the hand. */
export function meldsWithin(hand: readonly Card[], rules: RuleSet): Meld[] {
  const byRank = new Map<number, Card[]>();
  const bySuit = new Map<number, Map<number, Card>>();
  for (const card of sorted(hand)) {
    if (card === JOKER) continue;
    const same = byRank.get(rank(card)) ?? [];
    if (hasAnySuits(rules) || !same.includes(card)) same.push(card);
    byRank.set(rank(card), same);
    const places = bySuit.get(suit(card)) ?? new Map<number, Card>();
    places.set(rank(card), card);
    if (rank(card) === ACE && isAceHigh(rules)) places.set(KING + 1, card);
    bySuit.set(suit(card), places);
  }
  return [
    ...[...byRank.values()].flatMap((cards) => setsOf([], cards)),
    ...[...bySuit.values()].flatMap(runsOf),
  ];
}

/** Every choice of three or four of the cards that goes on from the chosen ones. */
function setsOf(chosen: readonly Card[], cards: readonly Card[]): Meld[] {
  const here = chosen.length >= 3 ? [asMeld(chosen)] : [];
  if (chosen.length === 4) return here;
  const further = cards.flatMap((card, at) => setsOf([...chosen, card], cards.slice(at + 1)));
  return [...here, ...further];
}

/** Every run of one suit. None holds the ace at both ends: from the ace it stops at the king. */
function runsOf(places: ReadonlyMap<number, Card>): Meld[] {
  const melds: Meld[] = [];
  for (const low of places.keys()) {
    const run: Card[] = [];
    while (run.length < KING) {
      const next = places.get(low + run.length);
      if (next === undefined) break;
      run.push(next);
      if (run.length >= 3) melds.push(asMeld(run));
    }
  }
  return melds;
}
