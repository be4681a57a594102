/** The rest of a turn, played ahead in the mind. */

import type { IAction } from "../generated/rummy/referee/v1/Action.js";
import { ActionType } from "../generated/rummy/referee/v1/ActionType.js";
import type { Card } from "../generated/rummy/referee/v1/Card.js";
import { GoOut } from "../generated/rummy/referee/v1/GoOut.js";
import { LayoffGate } from "../generated/rummy/referee/v1/LayoffGate.js";
import type { Observation } from "../generated/rummy/referee/v1/Observation.js";
import type { RuleSet } from "../generated/rummy/referee/v1/RuleSet.js";
import { SameCardDiscard } from "../generated/rummy/referee/v1/SameCardDiscard.js";
import { isConnected, isWild, points, sorted, sumOfPoints, without } from "./cards.js";
import { type Meld, asMeld, extended, fits, meldsWithin } from "./melds.js";

/** Whether the seat may lay off before it melds anything. */
export function areLayoffsOpen(seen: Observation, rules: RuleSet): boolean {
  return (
    rules.layoffGate !== LayoffGate.LAYOFF_GATE_OWN_MELD_FIRST ||
    seen.meldsThisTurn > 0 ||
    seen.played[seen.seat] === true
  );
}

/**
 * The first of the items by the keys: a list of numbers each, compared one by one, the lower ones
 * first; of equals the earlier item.
 */
export function firstBy<T>(
  items: readonly T[],
  keys: (item: T) => readonly number[],
): T | undefined {
  let best: T | undefined;
  let bestKeys: readonly number[] | undefined;
  for (const item of items) {
    const itsKeys = keys(item);
    if (bestKeys === undefined || isBefore(itsKeys, bestKeys)) {
      best = item;
      bestKeys = itsKeys;
    }
  }
  return best;
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  for (const [at, key] of one.entries()) {
    const difference = key - (other[at] ?? -Infinity);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** The card to throw: natural before wild, loose before connected, dearest, highest number. */
export function dearestLoose(
  hand: readonly Card[],
  allowed: readonly Card[],
  rules: RuleSet,
): Card | undefined {
  return firstBy(allowed, (card) => [
    Number(isWild(card, rules)),
    Number(isConnected(card, without(hand, [card]), rules)),
    -points(card, rules),
    -card,
  ]);
}

/**
 * What is in hand, on the table, and planned.
 *
 * Every step is checked by a rule that is stricter than the referee's (see leavesAnEnd), so a plan
 * made here is legal under every set of rules without wild cards.
 */
export class Turn {
  #hand: Card[];
  readonly #table: Map<number, Meld>;
  readonly #taken: Card;
  #melds: number;
  #layoffsAreOpen: boolean;
  readonly #actions: IAction[] = [];

  constructor(
    seen: Observation,
    private readonly rules: RuleSet,
  ) {
    this.#hand = sorted(seen.hand);
    this.#table = new Map(seen.table.map((meld) => [meld.meldId, asMeld(meld.cards)]));
    this.#taken = seen.taken;
    this.#melds = seen.meldsThisTurn;
    this.#layoffsAreOpen = areLayoffsOpen(seen, rules);
  }

  /** Plays the turn to its end: melds, layoffs, the discard. */
  plan(): IAction[] {
    while (this.#mayMeld()) {
      const meld = this.#bestMeld();
      if (!meld) break;
      this.#meld(meld);
    }
    while (this.#layoffsAreOpen) {
      const layoff = this.#firstLayoff();
      if (!layoff) break;
      this.#layOff(...layoff);
    }
    const allowed = this.#hand.filter((card) => this.#mayDiscard(card, this.#hand));
    const card = dearestLoose(this.#hand, allowed, this.rules);
    if (card !== undefined) this.#add({ type: ActionType.ACTION_TYPE_DISCARD, cards: [card] });
    return this.#actions;
  }

  #mayMeld(): boolean {
    // Absent: any number.
    return this.#melds < (this.rules.maxMeldsPerTurn ?? Infinity);
  }

  /** Whether the card of that hand may end the turn. */
  #mayDiscard(card: Card, hand: readonly Card[]): boolean {
    if (card !== this.#taken) return true;
    const { sameCardDiscard } = this.rules;
    return hand.length === 1 && sameCardDiscard !== SameCardDiscard.SAME_CARD_DISCARD_FORBIDDEN;
  }

  /** Whether the turn can end at once after these cards have left the hand. */
  #leavesAnEnd(used: readonly Card[]): boolean {
    const rest = without(this.#hand, used);
    if (rest.length === 0) return this.rules.goOut !== GoOut.GO_OUT_MUST_DISCARD;
    return rest.some((card) => this.#mayDiscard(card, rest));
  }

  /** The meld of most points, then of most cards, then of lowest cards. */
  #bestMeld(): Meld | undefined {
    const allowed = meldsWithin(this.#hand, this.rules).filter((meld) => this.#leavesAnEnd(meld));
    return firstBy(allowed, (meld) => [
      -sumOfPoints(meld, this.rules),
      -meld.length,
      ...sorted(meld),
    ]);
  }

  /** The first meld that takes any card, and the first card that it takes. */
  #firstLayoff(): [Card, number] | undefined {
    for (const meldId of [...this.#table.keys()].sort((one, other) => one - other)) {
      const meld = this.#table.get(meldId);
      const card = this.#hand.find(
        (card) => meld && fits(card, meld, this.rules) && this.#leavesAnEnd([card]),
      );
      if (card !== undefined) return [card, meldId];
    }
    return undefined;
  }

  #meld(meld: Meld): void {
    this.#add({ type: ActionType.ACTION_TYPE_MELD, cards: [...meld] });
    this.#table.set(Math.max(0, ...this.#table.keys()) + 1, meld);
    this.#melds += 1;
    this.#layoffsAreOpen = true;
  }

  #layOff(card: Card, meldId: number): void {
    const cards = [card];
    this.#add({ type: ActionType.ACTION_TYPE_LAY_OFF, cards, meldId });
    const meld = this.#table.get(meldId);
    if (meld) this.#table.set(meldId, extended(meld, card));
  }

  #add(action: IAction & { cards: Card[] }): void {
    this.#actions.push(action);
    this.#hand = without(this.#hand, action.cards);
  }
}
