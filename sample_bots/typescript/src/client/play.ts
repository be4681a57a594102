/**
 * The way from a bot to the referee: one stream, any number of matches over it, dialled again when
 * it is lost.
 */

import { type ChannelCredentials, Metadata, credentials, status } from "@grpc/grpc-js";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import type { PlayResponse } from "../generated/rummy/referee/v1/PlayResponse.js";
import type { Bot } from "./bot.js";
import { schema } from "./schema.js";

const PATIENCE_MS = 10_000;
const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 1_000;

/** Losing a stream with one of these is worth another try; any other answer will not change. */
const PASSING = new Set([
  status.OK,
  status.UNAVAILABLE,
  status.RESOURCE_EXHAUSTED,
  status.UNKNOWN,
  status.INTERNAL,
  status.CANCELLED,
  status.DEADLINE_EXCEEDED,
]);

/** Something to tell the bot's author; `exitCode` is what the process ends with. */
class BotError extends Error {
  constructor(
    readonly exitCode: number,
    message: string,
  ) {
    super(message);
  }
}

/** How a stream ended. */
interface End {
  wasWelcome: boolean;
  code: status;
  details: string;
}

/**
 * Plays with the address and token of the environment. The result is the exit code: 0 the referee
 * ended the stream, 1 it refused or could not be reached, 2 the environment is not right. A signal
 * ends the process with 0.
 */
export async function main(bot: Bot, environment: NodeJS.ProcessEnv): Promise<number> {
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => process.exit(0));
  try {
    const address = environment.RUMMY_REFEREE;
    if (!address) {
      const what = "the referee's address, HOST:PORT or unix:PATH";
      throw new BotError(2, `RUMMY_REFEREE must be set: ${what}`);
    }
    const trust = trusted(environment.RUMMY_TLS_CA);
    await play(bot, address, environment.RUMMY_TOKEN ?? "", trust);
    return 0;
  } catch (error) {
    if (!(error instanceof BotError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
}

/** TLS with a PEM file of whom to trust; without a file there is none. */
function trusted(file: string | undefined): ChannelCredentials {
  if (!file) return credentials.createInsecure();
  try {
    return credentials.createSsl(readFileSync(file));
  } catch (error) {
    throw new BotError(2, `RUMMY_TLS_CA: ${file} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Keeps a stream to the referee until that ends one cleanly while no match is running.
 *
 * A lost stream is dialled again for ten seconds, or for the reconnect time of the running matches
 * if that is longer.
 */
async function play(
  bot: Bot,
  address: string,
  token: string,
  trust: ChannelCredentials,
): Promise<void> {
  let lostAt = performance.now();
  let backoff = FIRST_BACKOFF_MS;
  for (;;) {
    const end = await session(bot, address, token, trust);
    if (end.code === status.OK && !bot.isPlaying) return;
    const text = `${status[end.code]}: ${end.details}`;
    if (!PASSING.has(end.code)) {
      throw new BotError(1, `the referee at ${address} refused: ${text}`);
    }
    if (end.wasWelcome) {
      lostAt = performance.now();
      backoff = FIRST_BACKOFF_MS;
    }
    const tried = performance.now() - lostAt;
    if (tried + backoff > Math.max(PATIENCE_MS, bot.reconnectMs)) {
      throw new BotError(1, `no referee at ${address} in ${(tried / 1000).toFixed(1)} s: ${text}`);
    }
    await sleep(backoff);
    backoff = Math.min(2 * backoff, LONGEST_BACKOFF_MS);
  }
}

/** Runs one stream to its end. */
function session(
  bot: Bot,
  address: string,
  token: string,
  trust: ChannelCredentials,
): Promise<End> {
  // A connection of its own: a shared one would sit out pauses that it chooses by itself.
  const client = new schema.PlayService(address, trust, { "grpc.use_local_subchannel_pool": 1 });
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  const stream = client.play(metadata);
  return new Promise<End>((resolve) => {
    let wasWelcome = false;
    const ended = (code: status, details: string) => {
      client.close();
      resolve({ wasWelcome, code, details });
    };
    stream.on("data", (response: PlayResponse) => {
      wasWelcome ||= !!response.welcome;
      const request = bot.answer(response);
      if (request) stream.write(request);
    });
    stream.on("error", (error) => {
      const { code, details } = error as Error & { code: status; details: string };
      ended(code, details);
    });
    // After an error this comes too, and changes nothing any more.
    stream.on("end", () => {
      ended(status.OK, "the referee ended the stream");
    });
    stream.write(bot.hello());
  });
}
