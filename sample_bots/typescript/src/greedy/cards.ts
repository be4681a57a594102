/** Cards by their number on the wire: 1 (AC) to 52 (KS), 53 for the joker. */

import { Ace } from "../generated/rummy/referee/v1/Ace.js";
import { Card } from "../generated/rummy/referee/v1/Card.js";
import type { RuleSet } from "../generated/rummy/referee/v1/RuleSet.js";
import { SetSuits } from "../generated/rummy/referee/v1/SetSuits.js";
import { Wilds } from "../generated/rummy/referee/v1/Wilds.js";

export const ACE = 1;
export const KING = 13;
export const JOKER: Card = Card.CARD_XX;

/** From 1 (ace) to 13 (king). */
export function rank(card: Card): number {
  return ((card - 1) % 13) + 1;
}

/** From 0 to 3 in the order C D H S. */
export function suit(card: Card): number {
  return Math.floor((card - 1) / 13);
}

/** Whether some cards may stand for others. */
export function hasWilds(rules: RuleSet): boolean {
  return rules.wilds !== Wilds.WILDS_UNSPECIFIED && rules.wilds !== Wilds.WILDS_NONE;
}

/** Whether the card may stand for another. */
export function isWild(card: Card, rules: RuleSet): boolean {
  const { wilds } = rules;
  const deuces = wilds === Wilds.WILDS_DEUCES || wilds === Wilds.WILDS_JOKERS_AND_DEUCES;
  return card === JOKER || (deuces && rank(card) === 2);
}

/** Whether an ace may also stand above the king. */
export function isAceHigh(rules: RuleSet): boolean {
  return rules.ace === Ace.ACE_HIGH_OR_LOW;
}

/** Whether a set may hold a suit twice. */
export function hasAnySuits(rules: RuleSet): boolean {
  return rules.setSuits === SetSuits.SET_SUITS_ANY;
}

/** What the card costs when it is left in hand. */
export function points(card: Card, rules: RuleSet): number {
  if (isWild(card, rules)) return 15;
  return rank(card) === ACE ? rules.acePoints || 1 : Math.min(rank(card), 10);
}

export function sumOfPoints(cards: readonly Card[], rules: RuleSet): number {
  return cards.reduce<number>((sum, card) => sum + points(card, rules), 0);
}

/** The cards upwards by number. */
export function sorted(cards: readonly Card[]): Card[] {
  return [...cards].sort((one, other) => one - other);
}

/** The hand less one copy of each used card. */
export function without(hand: readonly Card[], used: readonly Card[]): Card[] {
  const rest = [...hand];
  for (const card of used) {
    const at = rest.indexOf(card);
    if (at >= 0) rest.splice(at, 1);
  }
  return rest;
}

/** Whether the card is a step from a meld: a pair, or the same suit within two ranks. */
export function isConnected(card: Card, others: readonly Card[], rules: RuleSet): boolean {
  return others.some((other) => {
    if (isWild(other, rules)) return false;
    const low = Math.min(rank(card), rank(other));
    const high = Math.max(rank(card), rank(other));
    if (low === high) return other !== card || hasAnySuits(rules);
    if (suit(card) !== suit(other)) return false;
    return high - low <= 2 || (isAceHigh(rules) && low === ACE && high >= KING - 1);
  });
}
