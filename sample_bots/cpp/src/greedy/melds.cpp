#include "greedy/melds.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace greedy {
namespace {

constexpr std::size_t kFewest = 3;
constexpr std::size_t kLargestSet = 4;
constexpr std::size_t kLongestRun = 13;
constexpr int kSuits = 4;

// One suit of a hand by rank, up to the ace above the king; 0 where the hand has no such card.
using Places = std::array<CardNumber, kKing + 2>;

// Tells a set from a run.
bool IsSet(const Cards& meld) { return meld.size() > 1 && Rank(meld[0]) == Rank(meld[1]); }

// Adds every choice of three or four of the cards from `begin` on that goes on from the chosen
// ones.
void AddSets(std::vector<Cards>& melds, Cards& chosen, const Cards& cards, std::size_t begin) {
  if (chosen.size() >= kFewest) melds.push_back(chosen);
  if (chosen.size() == kLargestSet) return;
  for (std::size_t at = begin; at < cards.size(); ++at) {
    chosen.push_back(cards[at]);
    AddSets(melds, chosen, cards, at + 1);
    chosen.pop_back();
  }
}

// Adds every run of one suit. None holds the ace at both ends: from the ace it stops at the king.
void AddRuns(std::vector<Cards>& melds, const Places& places) {
  for (std::size_t low = kAce; low <= kKing; ++low) {
    Cards run;
    for (std::size_t at = low; at < places.size() && places[at] != 0; ++at) {
      if (run.size() == kLongestRun) break;
      run.push_back(places[at]);
      if (run.size() >= kFewest) melds.push_back(run);
    }
  }
}

}  // namespace

bool Fits(CardNumber card, const Cards& meld, const pb::RuleSet& rules) {
  if (meld.empty()) return false;
  if (IsSet(meld)) {
    const bool is_new = AreSuitsFree(rules) || !Contains(meld, card);
    return Rank(card) == Rank(meld[0]) && meld.size() < kLargestSet && is_new;
  }
  const int low = Rank(meld[0]);
  const int high = low + static_cast<int>(meld.size()) - 1;
  const bool is_next = Rank(card) == low - 1 || Rank(card) == high + 1;
  const bool is_on_top = IsAceHigh(rules) && Rank(card) == kAce && high == kKing && low != kAce;
  return Suit(card) == Suit(meld[0]) && (is_next || is_on_top);
}

void Extend(Cards& meld, CardNumber card) {
  const bool is_below = !IsSet(meld) && Rank(card) == Rank(meld[0]) - 1;
  meld.insert(is_below ? meld.begin() : meld.end(), card);
}

std::vector<Cards> MeldsWithin(Cards hand, const pb::RuleSet& rules) {
  std::sort(hand.begin(), hand.end());
  std::array<Cards, kKing + 1> by_rank;
  std::array<Places, kSuits> by_suit{};
  for (const CardNumber card : hand) {
    if (card < 1 || card >= kJoker) continue;
    Cards& same = by_rank.at(Rank(card));
    if (AreSuitsFree(rules) || !Contains(same, card)) same.push_back(card);
    Places& places = by_suit.at(Suit(card));
    places.at(Rank(card)) = card;
    if (Rank(card) == kAce && IsAceHigh(rules)) places.back() = card;
  }
  std::vector<Cards> melds;
  Cards chosen;
  for (const Cards& same : by_rank) AddSets(melds, chosen, same, 0);
  for (const Places& places : by_suit) AddRuns(melds, places);
  return melds;
}

}  // namespace greedy
