package rummy.bot.client;

import rummy.referee.v1.Play.Decision;
import rummy.referee.v1.Rummy.Event;

/** Plays one seat of one match. All calls come one after another, from one thread at a time. */
public interface Strategy {
  /** Answers a decision. */
  Answer choose(Decision decision);

  /**
   * Takes note of what happened. Each event of the match comes once, in order, and before the
   * decision that it led to.
   */
  default void observe(Event event) {}
}
