package rummy.bot.greedy;

import java.util.List;
import rummy.bot.client.Answer;
import rummy.bot.client.Strategy;
import rummy.referee.v1.Play.Decision;
import rummy.referee.v1.Play.MatchStarting;
import rummy.referee.v1.Rummy.Action;
import rummy.referee.v1.Rummy.ActionType;
import rummy.referee.v1.Rummy.Observation;
import rummy.referee.v1.Rummy.Phase;

/**
 * Plays what helps now: it melds and lays off all it can, and throws what costs most.
 *
 * <p>It needs no memory: each decision says all that it looks at. The strategy is the same as that
 * of the sample bot {@code greedy} in Python, action by action.
 */
public final class Greedy implements Strategy {
  private final Cards cards;

  /** Makes the strategy for a match that begins. */
  public Greedy(MatchStarting starting) {
    cards = new Cards(starting.getRules());
  }

  /** Draws, or plans the rest of the turn; with wild cards it takes one action at a time. */
  @Override
  public Answer choose(Decision decision) {
    if (decision.getObservation().getPhase() == Phase.PHASE_DRAW) {
      return new Answer.Index(draw(decision));
    }
    if (cards.haveWilds()) {
      return new Answer.Index(oneAction(decision));
    }
    return new Answer.Plan(Turn.plan(decision.getObservation(), cards));
  }

  private int draw(Decision decision) {
    int stock = indexOf(decision, ActionType.ACTION_TYPE_DRAW_STOCK);
    int discard = indexOf(decision, ActionType.ACTION_TYPE_DRAW_DISCARD);
    if (discard < 0) {
      return Math.max(stock, 0);
    }
    return stock < 0 || wantsUpcard(decision.getObservation()) ? discard : stock;
  }

  private static int indexOf(Decision decision, ActionType type) {
    for (int index = 0; index < decision.getLegalActionsCount(); index++) {
      if (decision.getLegalActions(index).getType() == type) {
        return index;
      }
    }
    return -1;
  }

  private boolean wantsUpcard(Observation seen) {
    if (seen.getDiscardPileCount() == 0) {
      return false;
    }
    int upcard = seen.getDiscardPileValue(seen.getDiscardPileCount() - 1);
    if (cards.isWild(upcard)) {
      return true;
    }
    int[] hand = Cards.with(Turn.numbers(seen.getHandValueList()), upcard);
    if (Melds.within(hand, cards).stream().anyMatch(meld -> Cards.contains(meld, upcard))) {
      return true;
    }
    // Melds with wild cards are passed over: what fits them is not worth the code.
    return Turn.areLayoffsOpen(seen, cards.rules())
        && seen.getTableList().stream()
            .filter(meld -> meld.getMeaningsCount() == 0)
            .anyMatch(meld -> Melds.fits(upcard, Turn.numbers(meld.getCardsValueList()), cards));
  }

  /** Returns the index of the action that empties the hand of most points, melds first. */
  private int oneAction(Decision decision) {
    for (ActionType type : List.of(ActionType.ACTION_TYPE_MELD, ActionType.ACTION_TYPE_LAY_OFF)) {
      int index = dearest(decision.getLegalActionsList(), type);
      if (index >= 0) {
        return index;
      }
    }
    return discard(decision);
  }

  /** Returns the action of this type with most points, then most cards; -1 if there is none. */
  private int dearest(List<Action> actions, ActionType type) {
    int best = -1;
    int mostPoints = 0;
    int mostCards = 0;
    for (int index = 0; index < actions.size(); index++) {
      Action action = actions.get(index);
      if (action.getType() != type) {
        continue;
      }
      int points = cards.sumOfPoints(Turn.numbers(action.getCardsValueList()));
      int size = action.getCardsCount();
      if (best < 0 || points > mostPoints || (points == mostPoints && size > mostCards)) {
        best = index;
        mostPoints = points;
        mostCards = size;
      }
    }
    return best;
  }

  private int discard(Decision decision) {
    int[] allowed =
        decision.getLegalActionsList().stream()
            .filter(Greedy::isDiscard)
            .mapToInt(action -> action.getCardsValue(0))
            .toArray();
    if (allowed.length == 0) {
      return 0;
    }
    int[] hand = Turn.numbers(decision.getObservation().getHandValueList());
    int card = Turn.dearestLoose(hand, allowed, cards);
    int index = 0;
    while (!isDiscard(decision.getLegalActions(index))
        || decision.getLegalActions(index).getCardsValue(0) != card) {
      index++;
    }
    return index;
  }

  private static boolean isDiscard(Action action) {
    return action.getType() == ActionType.ACTION_TYPE_DISCARD && action.getCardsCount() == 1;
  }
}
