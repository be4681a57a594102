import assert from "node:assert/strict";
import { test } from "node:test";

import type { IPlayResponse, PlayResponse } from "../generated/rummy/referee/v1/PlayResponse.js";
import { type Answer, Bot } from "./bot.js";
import { schema } from "./schema.js";

/** A message as it comes out of the wire. */
function received(message: IPlayResponse): PlayResponse {
  const { serialize, deserialize } = schema.PlayResponse;
  return deserialize(serialize(message));
}

/** A bot that answers as the test wants, and what it saw and told. */
function recorder(answer: Answer) {
  const events: (number | undefined)[] = [];
  const told: string[] = [];
  const strategy = {
    choose: () => answer,
    observe: (event: { drew?: { seat: number } | null }) => events.push(event.drew?.seat),
  };
  const bot = new Bot(
    "recorder",
    "9",
    () => strategy,
    (text) => told.push(text),
  );
  return { bot, events, told };
}

function starting(matchId: string): PlayResponse {
  return received({ matchStarting: { matchId, timeControl: { reconnectMs: 1_500 } } });
}

function drew(...seats: number[]) {
  return seats.map((seat) => ({ drew: { seat } }));
}

test("matches come and go", () => {
  const { bot } = recorder(0);
  assert.deepEqual([bot.isPlaying, bot.reconnectMs], [false, 0]);
  assert.deepEqual(bot.answer(starting("m")), { ready: { matchId: "m" } });
  assert.deepEqual([bot.isPlaying, bot.reconnectMs], [true, 1_500]);
  assert.equal(bot.answer(received({ matchEnded: { matchId: "m" } })), undefined);
  assert.equal(bot.isPlaying, false);
});

test("answers with an index or a plan", () => {
  const update = received({ update: { matchId: "m", decision: { decisionId: 7 } } });
  const plan = [{ type: 6, cards: [1] }] as const;
  for (const [answer, what] of [
    [0, { legalActionIndex: 0 }],
    [[...plan], { actions: [...plan] }],
  ] as [Answer, object][]) {
    const { bot } = recorder(answer);
    bot.answer(starting("m"));
    assert.deepEqual(bot.answer(update), { choice: { matchId: "m", decisionId: 7, ...what } });
  }
});

test("events come once and in order", () => {
  const { bot, events } = recorder(0);
  bot.answer(starting("m"));
  bot.answer(received({ update: { matchId: "m", firstEventNumber: 1, events: drew(0, 1) } }));
  bot.answer(starting("m")); // the stream was lost
  const again = { matchId: "m", firstEventNumber: 1, events: drew(0, 1, 2) };
  assert.equal(bot.answer(received({ update: again })), undefined);
  assert.deepEqual(events, [0, 1, 2]);
});

test("skips what it does not know", () => {
  const { bot } = recorder(0);
  const unknown: IPlayResponse[] = [
    {},
    { update: { matchId: "unknown", decision: {} } },
    { pong: { nonce: 1 } },
  ];
  for (const message of unknown) assert.equal(bot.answer(received(message)), undefined);
});

test("a nonce may be larger than a number can hold", () => {
  const { bot } = recorder(0);
  const nonce = "9223372036854775809";
  assert.deepEqual(bot.answer(received({ ping: { nonce } })), { pong: { nonce } });
});

test("what is not resumed is over", () => {
  const { bot } = recorder(0);
  bot.answer(starting("a"));
  bot.answer(starting("b"));
  bot.answer(received({ welcome: { resumedMatchIds: ["b", "c"] } }));
  const answers = ["a", "b", "c"].map((matchId) =>
    bot.answer(received({ update: { matchId, decision: { decisionId: 1 } } })),
  );
  assert.deepEqual(
    answers.map((answer) => answer !== undefined),
    [false, true, false],
  );
});

test("rejections are told to the author", () => {
  const { bot, told } = recorder(0);
  const text = "discard KC: the hand does not hold KC";
  assert.equal(bot.answer(received({ rejected: { text } })), undefined);
  assert.deepEqual(told, [`recorder: choice rejected: ${text}`]);
});
