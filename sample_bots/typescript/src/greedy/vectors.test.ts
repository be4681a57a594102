import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { schema } from "../client/schema.js";
import type { IAction } from "../generated/rummy/referee/v1/Action.js";
import { ActionType } from "../generated/rummy/referee/v1/ActionType.js";
import { Card } from "../generated/rummy/referee/v1/Card.js";
import type { MatchStarting } from "../generated/rummy/referee/v1/MatchStarting.js";
import { Greedy } from "./greedy.js";

/** Real decisions with the answers that every language's bot must give. */
interface Vectors {
  rules: { rules: string }[];
  decisions: { rules: number; decision: string; about: string; answer: unknown }[];
}

const file =
  process.env.RUMMY_VECTORS ??
  fileURLToPath(new URL("../../../vectors/greedy.json", import.meta.url));
const vectors = JSON.parse(readFileSync(file, "utf8")) as Vectors;

function nameOf(numbers: Record<string, number>, prefix: string, wanted: unknown): string {
  const found = Object.entries(numbers).find(([, number]) => number === wanted);
  assert(found, `${prefix} has no value ${String(wanted)}`);
  return found[0].slice(prefix.length);
}

/** An action in the form of the vectors. */
function entryOf({ type, cards, meldId }: IAction): unknown {
  const numbers = (cards ?? []).map(Number).sort((one, other) => one - other);
  return {
    type: nameOf(ActionType, "ACTION_TYPE_", type),
    cards: numbers.map((number) => nameOf(Card, "CARD_", number)),
    ...(meldId ? { meld_id: meldId } : {}),
  };
}

test("every vector gets its answer", () => {
  assert(vectors.decisions.length >= 1_000);
  const rules = vectors.rules.map((entry) =>
    schema.RuleSet.deserialize(Buffer.from(entry.rules, "base64")),
  );
  for (const entry of vectors.decisions) {
    const content = Buffer.from(entry.decision, "base64");
    const decision = schema.Decision.deserialize(content);
    const bot = new Greedy({ rules: rules[entry.rules] } as MatchStarting);
    const chosen = bot.choose(decision);
    const answer =
      typeof chosen === "number" ? { index: chosen } : { actions: chosen.map(entryOf) };
    assert.deepEqual(answer, entry.answer, entry.about);
  }
});
