/** Melds and lays off all it can, and throws what costs most: the same as `greedy` in Python. */

import type { Answer, Strategy } from "../client/bot.js";
import { ActionType } from "../generated/rummy/referee/v1/ActionType.js";
import type { Card } from "../generated/rummy/referee/v1/Card.js";
import type { Decision } from "../generated/rummy/referee/v1/Decision.js";
import type { MatchStarting } from "../generated/rummy/referee/v1/MatchStarting.js";
import type { Observation } from "../generated/rummy/referee/v1/Observation.js";
import { Phase } from "../generated/rummy/referee/v1/Phase.js";
import type { RuleSet } from "../generated/rummy/referee/v1/RuleSet.js";
import { hasWilds, isWild, sumOfPoints } from "./cards.js";
import { asMeld, fits, meldsWithin } from "./melds.js";
import { Turn, areLayoffsOpen, dearestLoose, firstBy } from "./turn.js";

/** Needs no memory: each decision says all that it looks at. */
export class Greedy implements Strategy {
  readonly #rules: RuleSet;

  constructor(starting: MatchStarting) {
    if (!starting.rules) throw new Error("a match without rules");
    this.#rules = starting.rules;
  }

  choose(decision: Decision): Answer {
    const seen = decision.observation;
    if (!seen) return 0;
    if (seen.phase === Phase.PHASE_DRAW) return this.#draw(decision, seen);
    if (hasWilds(this.#rules)) return this.#oneAction(decision, seen);
    return new Turn(seen, this.#rules).plan();
  }

  #draw(decision: Decision, seen: Observation): number {
    const types = decision.legalActions.map((action) => action.type);
    const stock = types.indexOf(ActionType.ACTION_TYPE_DRAW_STOCK);
    const discard = types.indexOf(ActionType.ACTION_TYPE_DRAW_DISCARD);
    if (discard < 0) return Math.max(stock, 0);
    return stock < 0 || this.#wantsUpcard(seen) ? discard : stock;
  }

  #wantsUpcard(seen: Observation): boolean {
    const rules = this.#rules;
    const upcard = seen.discardPile.at(-1);
    if (upcard === undefined) return false;
    if (isWild(upcard, rules)) return true;
    const melds = meldsWithin([...seen.hand, upcard], rules);
    if (melds.some((meld) => meld.includes(upcard))) return true;
    // Melds with wild cards are passed over: what fits them is not worth the code.
    const natural = seen.table.filter((meld) => meld.meanings.length === 0);
    return (
      areLayoffsOpen(seen, rules) && natural.some((meld) => fits(upcard, asMeld(meld.cards), rules))
    );
  }

  /** The index of the action that empties the hand of most points, melds first. */
  #oneAction(decision: Decision, seen: Observation): number {
    const actions = [...decision.legalActions.entries()];
    for (const type of [ActionType.ACTION_TYPE_MELD, ActionType.ACTION_TYPE_LAY_OFF]) {
      const dearest = firstBy(
        actions.filter(([, action]) => action.type === type),
        ([, { cards }]) => [-sumOfPoints(cards, this.#rules), -cards.length],
      );
      if (dearest) return dearest[0];
    }
    const indices = new Map<Card, number>();
    for (const [index, { type, cards }] of actions) {
      const [card] = cards;
      if (type === ActionType.ACTION_TYPE_DISCARD && card !== undefined) indices.set(card, index);
    }
    const card = dearestLoose(seen.hand, [...indices.keys()], this.#rules);
    return card === undefined ? 0 : (indices.get(card) ?? 0);
  }
}
