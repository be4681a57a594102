package rummy.bot.greedy;

import java.util.Arrays;
import java.util.stream.IntStream;
import rummy.referee.v1.Rummy.Ace;
import rummy.referee.v1.Rummy.Card;
import rummy.referee.v1.Rummy.RuleSet;
import rummy.referee.v1.Rummy.SetSuits;

/**
 * Cards by their numbers in the schema, and what the rules of a match make of them.
 *
 * @param rules of the match
 */
record Cards(RuleSet rules) {
  static final int ACE = 1;
  static final int KING = 13;
  static final int ACE_HIGH = KING + 1;
  static final int SUITS = 4;
  static final int JOKER = Card.CARD_XX_VALUE;

  /** Returns 1 (ace) to 13 (king). */
  static int rank(int card) {
    return (card - 1) % 13 + 1;
  }

  /** Returns 0 to 3 in the order C D H S. */
  static int suit(int card) {
    return (card - 1) / 13;
  }

  static boolean contains(int[] cards, int card) {
    return Arrays.stream(cards).anyMatch(other -> other == card);
  }

  static int[] with(int[] cards, int card) {
    int[] more = Arrays.copyOf(cards, cards.length + 1);
    more[cards.length] = card;
    return more;
  }

  static int[] sorted(int[] cards) {
    return Arrays.stream(cards).sorted().toArray();
  }

  /** Returns the hand less one copy of each used card. */
  static int[] without(int[] hand, int... used) {
    int[] rest = hand.clone();
    int size = rest.length;
    for (int card : used) {
      for (int at = 0; at < size; at++) {
        if (rest[at] == card) {
          size--;
          System.arraycopy(rest, at + 1, rest, at, size - at);
          break;
        }
      }
    }
    return Arrays.copyOf(rest, size);
  }

  /** Tells whether some cards may stand for others. */
  boolean haveWilds() {
    return switch (rules.getWilds()) {
      case WILDS_UNSPECIFIED, WILDS_NONE -> false;
      default -> true;
    };
  }

  /** Tells whether the card may stand for another. */
  boolean isWild(int card) {
    return switch (rules.getWilds()) {
      case WILDS_DEUCES, WILDS_JOKERS_AND_DEUCES -> card == JOKER || rank(card) == 2;
      default -> card == JOKER;
    };
  }

  /** Tells whether an ace may also stand above the king. */
  boolean isAceHigh() {
    return rules.getAce() == Ace.ACE_HIGH_OR_LOW;
  }

  /** Tells whether a set may hold a suit twice. */
  boolean isAnySuits() {
    return rules.getSetSuits() == SetSuits.SET_SUITS_ANY;
  }

  /** Returns what the card costs when it is left in hand. */
  int points(int card) {
    if (isWild(card)) {
      return 15;
    }
    return rank(card) == ACE ? Math.max(1, rules.getAcePoints()) : Math.min(rank(card), 10);
  }

  int sumOfPoints(int[] cards) {
    return IntStream.of(cards).map(this::points).sum();
  }

  /**
   * Tells whether the card is a step from a meld with one of the others: a pair, or the same suit
   * within two ranks.
   */
  boolean isConnected(int card, int[] others) {
    return Arrays.stream(others).anyMatch(other -> !isWild(other) && areNear(card, other));
  }

  private boolean areNear(int card, int other) {
    int low = Math.min(rank(card), rank(other));
    int high = Math.max(rank(card), rank(other));
    if (low == high) {
      return other != card || isAnySuits();
    }
    boolean isAceAbove = isAceHigh() && low == ACE && high >= KING - 1;
    return suit(card) == suit(other) && (high - low <= 2 || isAceAbove);
  }
}
