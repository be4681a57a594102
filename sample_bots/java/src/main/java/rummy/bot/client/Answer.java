package rummy.bot.client;

import java.util.List;
import rummy.referee.v1.Rummy.Action;

/** What a strategy does about a decision. */
public sealed interface Answer {
  /**
   * Actions to be applied in this order.
   *
   * @param actions from 1 to 32
   */
  record Plan(List<Action> actions) implements Answer {}

  /**
   * One of the decision's legal actions.
   *
   * @param index into the list, from 0
   */
  record Index(int index) implements Answer {}
}
