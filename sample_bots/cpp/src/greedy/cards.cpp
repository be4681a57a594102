#include "greedy/cards.h"

#include <algorithm>

namespace greedy {

bool HasWilds(const pb::RuleSet& rules) {
  return rules.wilds() != pb::WILDS_UNSPECIFIED && rules.wilds() != pb::WILDS_NONE;
}

bool IsWild(CardNumber card, const pb::RuleSet& rules) {
  const bool are_deuces_wild =
      rules.wilds() == pb::WILDS_DEUCES || rules.wilds() == pb::WILDS_JOKERS_AND_DEUCES;
  return card == kJoker || (are_deuces_wild && Rank(card) == 2);
}

bool IsAceHigh(const pb::RuleSet& rules) { return rules.ace() == pb::ACE_HIGH_OR_LOW; }

bool AreSuitsFree(const pb::RuleSet& rules) { return rules.set_suits() == pb::SET_SUITS_ANY; }

int Points(CardNumber card, const pb::RuleSet& rules) {
  if (IsWild(card, rules)) return 15;
  if (Rank(card) == kAce) return std::max(1, static_cast<int>(rules.ace_points()));
  return std::min(Rank(card), 10);
}

int SumOfPoints(const Cards& cards, const pb::RuleSet& rules) {
  int sum = 0;
  for (const CardNumber card : cards) sum += Points(card, rules);
  return sum;
}

Cards Without(Cards hand, const Cards& used) {
  for (const CardNumber card : used) {
    const auto found = std::find(hand.begin(), hand.end(), card);
    if (found != hand.end()) hand.erase(found);
  }
  return hand;
}

bool Contains(const Cards& cards, CardNumber card) {
  return std::find(cards.begin(), cards.end(), card) != cards.end();
}

bool IsConnected(CardNumber card, const Cards& others, const pb::RuleSet& rules) {
  return std::any_of(others.begin(), others.end(), [&](CardNumber other) {
    if (IsWild(other, rules)) return false;
    const auto [low, high] = std::minmax({Rank(card), Rank(other)});
    if (low == high) return other != card || AreSuitsFree(rules);
    const bool is_around_the_ace = IsAceHigh(rules) && low == kAce && high >= kKing - 1;
    return Suit(card) == Suit(other) && (high - low <= 2 || is_around_the_ace);
  });
}

}  // namespace greedy
