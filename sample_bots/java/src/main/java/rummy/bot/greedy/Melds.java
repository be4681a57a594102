package rummy.bot.greedy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Sets and runs of natural cards. */
final class Melds {
  private Melds() {}

  /** Tells a set from a run. */
  private static boolean isSet(int[] meld) {
    return Cards.rank(meld[0]) == Cards.rank(meld[1]);
  }

  /** Tells whether the natural card may be laid off on the meld: a set, or a run upwards. */
  static boolean fits(int card, int[] meld, Cards cards) {
    int rank = Cards.rank(card);
    int low = Cards.rank(meld[0]);
    if (isSet(meld)) {
      boolean isNew = cards.isAnySuits() || !Cards.contains(meld, card);
      return rank == low && meld.length < 4 && isNew;
    }
    if (Cards.suit(card) != Cards.suit(meld[0])) {
      return false;
    }
    int high = low + meld.length - 1;
    return rank == low - 1
        || rank == high + 1
        || (cards.isAceHigh() && rank == Cards.ACE && high == Cards.KING && low != Cards.ACE);
  }

  /** Returns the meld with a card that fits, a run still upwards. */
  static int[] extended(int[] meld, int card) {
    if (isSet(meld) || Cards.rank(card) != Cards.rank(meld[0]) - 1) {
      return Cards.with(meld, card);
    }
    int[] longer = new int[meld.length + 1];
    longer[0] = card;
    System.arraycopy(meld, 0, longer, 1, meld.length);
    return longer;
  }

  /** Returns every set and run of natural cards in the hand, runs upwards. */
  static List<int[]> within(int[] hand, Cards cards) {
    int[][] byRank = new int[Cards.KING + 1][0];
    int[][] bySuit = new int[Cards.SUITS][Cards.ACE_HIGH + 1]; // 0 where the hand has no such card
    for (int card : Cards.sorted(hand)) {
      if (card == Cards.JOKER) {
        continue;
      }
      int rank = Cards.rank(card);
      if (cards.isAnySuits() || !Cards.contains(byRank[rank], card)) {
        byRank[rank] = Cards.with(byRank[rank], card);
      }
      int[] places = bySuit[Cards.suit(card)];
      places[rank] = card;
      if (rank == Cards.ACE && cards.isAceHigh()) {
        places[Cards.ACE_HIGH] = card;
      }
    }
    List<int[]> melds = new ArrayList<>();
    for (int[] same : byRank) {
      addSets(melds, new int[0], same, 0);
    }
    for (int[] places : bySuit) {
      addRuns(melds, places);
    }
    return melds;
  }

  /** Adds every choice of three or four cards that goes on from the chosen ones. */
  private static void addSets(List<int[]> melds, int[] chosen, int[] same, int next) {
    if (chosen.length >= 3) {
      melds.add(chosen);
    }
    if (chosen.length == 4) {
      return;
    }
    for (int at = next; at < same.length; at++) {
      addSets(melds, Cards.with(chosen, same[at]), same, at + 1);
    }
  }

  /**
   * Adds every run of one suit. None holds the ace at both ends: from the ace it stops at the king.
   */
  private static void addRuns(List<int[]> melds, int[] places) {
    for (int low = Cards.ACE; low <= Cards.KING; low++) {
      int end = low;
      while (end <= Cards.ACE_HIGH && places[end] != 0 && end - low < Cards.KING) {
        end++;
        if (end - low >= 3) {
          melds.add(Arrays.copyOfRange(places, low, end));
        }
      }
    }
  }
}
