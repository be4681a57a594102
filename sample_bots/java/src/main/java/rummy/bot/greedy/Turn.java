package rummy.bot.greedy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import rummy.referee.v1.Rummy.Action;
import rummy.referee.v1.Rummy.ActionType;
import rummy.referee.v1.Rummy.GoOut;
import rummy.referee.v1.Rummy.LayoffGate;
import rummy.referee.v1.Rummy.Meld;
import rummy.referee.v1.Rummy.Observation;
import rummy.referee.v1.Rummy.RuleSet;
import rummy.referee.v1.Rummy.SameCardDiscard;

/**
 * The rest of a turn, played ahead in the mind: what is in hand, on the table, and planned.
 *
 * <p>Every step is checked by a rule that is stricter than the referee's ({@link #leavesAnEnd}), so
 * a plan made here is legal under every set of rules without wild cards.
 */
final class Turn {
  private final Cards cards;
  private final RuleSet rules;
  private final int taken;
  private final TreeMap<Integer, int[]> table = new TreeMap<>();
  private final List<Action> planned = new ArrayList<>();
  private int[] hand;
  private int melds; // laid in this turn, planned ones included
  private boolean layoffsAreOpen;

  private Turn(Observation seen, Cards cards) {
    this.cards = cards;
    rules = cards.rules();
    taken = seen.getTakenValue();
    hand = Cards.sorted(numbers(seen.getHandValueList()));
    for (Meld meld : seen.getTableList()) {
      table.put(meld.getMeldId(), numbers(meld.getCardsValueList()));
    }
    melds = seen.getMeldsThisTurn();
    layoffsAreOpen = areLayoffsOpen(seen, rules);
  }

  /** Plays the turn to its end: melds, layoffs, the discard. */
  static List<Action> plan(Observation seen, Cards cards) {
    Turn turn = new Turn(seen, cards);
    turn.meldAll();
    turn.layOffAll();
    turn.discard();
    return turn.planned;
  }

  /** Tells whether the seat may lay off before it melds anything. */
  static boolean areLayoffsOpen(Observation seen, RuleSet rules) {
    if (rules.getLayoffGate() != LayoffGate.LAYOFF_GATE_OWN_MELD_FIRST) {
      return true;
    }
    int seat = seen.getSeat();
    return seen.getMeldsThisTurn() > 0 || (seat < seen.getPlayedCount() && seen.getPlayed(seat));
  }

  /** Returns the card to throw: natural before wild, loose before connected, dear before cheap. */
  static int dearestLoose(int[] hand, int[] allowed, Cards cards) {
    int best = allowed[0];
    for (int card : allowed) {
      // Each part weighs more than all that follow.
      if (throwingOrder(card, hand, cards) > throwingOrder(best, hand, cards)) {
        best = card;
      }
    }
    return best;
  }

  private static int throwingOrder(int card, int[] hand, Cards cards) {
    int order = cards.isWild(card) ? 0 : 1;
    order = 2 * order + (cards.isConnected(card, Cards.without(hand, card)) ? 0 : 1);
    order = 100 * order + cards.points(card);
    return 100 * order + card;
  }

  static int[] numbers(List<Integer> cards) {
    return cards.stream().mapToInt(Integer::intValue).toArray();
  }

  private void meldAll() {
    while (!rules.hasMaxMeldsPerTurn() || melds < rules.getMaxMeldsPerTurn()) {
      int[] best = null;
      for (int[] meld : Melds.within(hand, cards)) {
        if (leavesAnEnd(meld) && (best == null || isBetter(meld, best))) {
          best = meld;
        }
      }
      if (best == null) {
        return;
      }
      add(ActionType.ACTION_TYPE_MELD, 0, best);
      table.put(table.isEmpty() ? 1 : table.lastKey() + 1, best);
      melds++;
      layoffsAreOpen = true;
    }
  }

  /** Compares points, then number of cards, then the cards upwards, where the lower is better. */
  private boolean isBetter(int[] meld, int[] other) {
    int byPoints = cards.sumOfPoints(meld) - cards.sumOfPoints(other);
    if (byPoints != 0) {
      return byPoints > 0;
    }
    if (meld.length != other.length) {
      return meld.length > other.length;
    }
    return Arrays.compare(Cards.sorted(meld), Cards.sorted(other)) < 0;
  }

  private void layOffAll() {
    boolean goesOn = layoffsAreOpen;
    while (goesOn) {
      goesOn = layOffOne();
    }
  }

  /** Lays off on the first meld that takes any card, and the first card that it takes. */
  private boolean layOffOne() {
    for (Map.Entry<Integer, int[]> meld : table.entrySet()) {
      for (int card : hand) {
        if (Melds.fits(card, meld.getValue(), cards) && leavesAnEnd(card)) {
          add(ActionType.ACTION_TYPE_LAY_OFF, meld.getKey(), card);
          meld.setValue(Melds.extended(meld.getValue(), card));
          return true;
        }
      }
    }
    return false;
  }

  private void discard() {
    int[] allowed = IntStream.of(hand).filter(card -> mayDiscard(card, hand)).toArray();
    if (allowed.length > 0) {
      add(ActionType.ACTION_TYPE_DISCARD, 0, dearestLoose(hand, allowed, cards));
    }
  }

  /** Tells whether the card of that hand may end the turn. */
  private boolean mayDiscard(int card, int[] from) {
    boolean isForbidden = rules.getSameCardDiscard() == SameCardDiscard.SAME_CARD_DISCARD_FORBIDDEN;
    return card != taken || (from.length == 1 && !isForbidden);
  }

  /** Tells whether the turn can end at once after these cards have left the hand. */
  private boolean leavesAnEnd(int... used) {
    int[] rest = Cards.without(hand, used);
    if (rest.length == 0) {
      return rules.getGoOut() != GoOut.GO_OUT_MUST_DISCARD;
    }
    return IntStream.of(rest).anyMatch(card -> mayDiscard(card, rest));
  }

  private void add(ActionType type, int meldId, int... used) {
    Action.Builder action = Action.newBuilder().setType(type).setMeldId(meldId);
    for (int card : used) {
      action.addCardsValue(card);
    }
    planned.add(action.build());
    hand = Cards.without(hand, used);
  }
}
