/** What a bot answers to each message. Nothing here does input or output. */

import type { IAction } from "../generated/rummy/referee/v1/Action.js";
import type { Decision } from "../generated/rummy/referee/v1/Decision.js";
import type { Event } from "../generated/rummy/referee/v1/Event.js";
import type { MatchStarting } from "../generated/rummy/referee/v1/MatchStarting.js";
import type { IPlayRequest } from "../generated/rummy/referee/v1/PlayRequest.js";
import type { PlayResponse } from "../generated/rummy/referee/v1/PlayResponse.js";
import type { Update } from "../generated/rummy/referee/v1/Update.js";

const MAX_CONCURRENT_MATCHES = 16;

/** A plan of actions, or an index into the decision's legal actions. */
export type Answer = IAction[] | number;

/** Plays one seat of one match. */
export interface Strategy {
  choose(decision: Decision): Answer;
  /** Takes note of what happened. Each event of the match comes once, in order. */
  observe?(event: Event): void;
}

export type Factory = (starting: MatchStarting) => Strategy;

/** A running match. */
interface Seat {
  strategy: Strategy;
  reconnectMs: number;
  /** Number of the first event that the strategy has not seen. */
  nextEvent: number;
}

/** Keeps the running matches, each with a strategy of its own. */
export class Bot {
  readonly #seats = new Map<string, Seat>();

  constructor(
    readonly name: string,
    readonly version: string,
    private readonly factory: Factory,
    private readonly tell: (text: string) => void = (text) => {
      process.stderr.write(`${text}\n`);
    },
  ) {}

  get isPlaying(): boolean {
    return this.#seats.size > 0;
  }

  /** For how long the running matches wait for a lost stream to come back. */
  get reconnectMs(): number {
    return Math.max(0, ...[...this.#seats.values()].map((seat) => seat.reconnectMs));
  }

  /** The first message of a stream. */
  hello(): IPlayRequest {
    const { name, version } = this;
    return { hello: { bot: name, version, maxConcurrentMatches: MAX_CONCURRENT_MATCHES } };
  }

  /** The answer to a message, undefined if it needs none or is not known here. */
  answer(response: PlayResponse): IPlayRequest | undefined {
    if (response.update) return this.#update(response.update);
    if (response.matchStarting) return this.#matchStarting(response.matchStarting);
    if (response.ping) return { pong: { nonce: response.ping.nonce } };
    if (response.matchEnded) this.#seats.delete(response.matchEnded.matchId);
    if (response.rejected) this.tell(`${this.name}: choice rejected: ${response.rejected.text}`);
    if (response.welcome) this.#welcome(response.welcome.resumedMatchIds);
    return undefined;
  }

  #matchStarting(starting: MatchStarting): IPlayRequest {
    const { matchId } = starting;
    // After a reconnect it may come again: the strategy then goes on.
    if (!this.#seats.has(matchId)) {
      this.#seats.set(matchId, {
        strategy: this.factory(starting),
        reconnectMs: starting.timeControl?.reconnectMs ?? 0,
        nextEvent: 1,
      });
    }
    return { ready: { matchId } };
  }

  #update(update: Update): IPlayRequest | undefined {
    const { matchId, decision } = update;
    const seat = this.#seats.get(matchId);
    if (!seat) return undefined;
    update.events.forEach((event, offset) => {
      const number = update.firstEventNumber + offset;
      // After a reconnect the current deal's events come again under their old numbers.
      if (number >= seat.nextEvent) {
        seat.strategy.observe?.(event);
        seat.nextEvent = number + 1;
      }
    });
    if (!decision) return undefined;
    const chosen = seat.strategy.choose(decision);
    const what = typeof chosen === "number" ? { legalActionIndex: chosen } : { actions: chosen };
    return { choice: { matchId, decisionId: decision.decisionId, ...what } };
  }

  /** Whatever the new stream does not take over has ended in the meantime. */
  #welcome(resumed: string[]): void {
    for (const matchId of [...this.#seats.keys()]) {
      if (!resumed.includes(matchId)) this.#seats.delete(matchId);
    }
  }
}
