#include "greedy/greedy.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "greedy/cards.h"
#include "greedy/melds.h"
#include "greedy/turn.h"

namespace greedy {
namespace {

// The indices of the legal actions of a type.
std::vector<std::uint32_t> IndicesOf(const pb::Decision& decision, pb::ActionType type) {
  std::vector<std::uint32_t> indices;
  for (int index = 0; index < decision.legal_actions_size(); ++index) {
    if (decision.legal_actions(index).type() == type) indices.push_back(index);
  }
  return indices;
}

template <typename Repeated>
Cards Listed(const Repeated& numbers) {
  return Cards(numbers.begin(), numbers.end());
}

}  // namespace

client::Answer Greedy::Choose(const pb::Decision& decision) {
  if (decision.observation().phase() == pb::PHASE_DRAW) return Draw(decision);
  if (HasWilds(rules_)) return OneAction(decision);
  return Turn(decision.observation(), rules_).Plan();
}

Greedy::Index Greedy::Draw(const pb::Decision& decision) const {
  const auto stock = IndicesOf(decision, pb::ACTION_TYPE_DRAW_STOCK);
  const auto discard = IndicesOf(decision, pb::ACTION_TYPE_DRAW_DISCARD);
  if (discard.empty()) return stock.empty() ? 0 : stock.front();
  if (stock.empty() || WantsUpcard(decision.observation())) return discard.front();
  return stock.front();
}

bool Greedy::WantsUpcard(const pb::Observation& seen) const {
  if (seen.discard_pile().empty()) return false;
  const CardNumber upcard = *seen.discard_pile().rbegin();
  if (IsWild(upcard, rules_)) return true;
  Cards hand = Listed(seen.hand());
  hand.push_back(upcard);
  const auto melds = MeldsWithin(std::move(hand), rules_);
  if (std::any_of(melds.begin(), melds.end(),
                  [&](const Cards& meld) { return Contains(meld, upcard); })) {
    return true;
  }
  if (!AreLayoffsOpen(seen, rules_)) return false;
  return std::any_of(seen.table().begin(), seen.table().end(), [&](const pb::Meld& meld) {
    // Melds with wild cards are passed over: what fits them is not worth the code.
    return meld.meanings().empty() && Fits(upcard, Listed(meld.cards()), rules_);
  });
}

// The index of the action that empties the hand of most points, melds first.
Greedy::Index Greedy::OneAction(const pb::Decision& decision) const {
  for (const pb::ActionType type : {pb::ACTION_TYPE_MELD, pb::ACTION_TYPE_LAY_OFF}) {
    if (const auto index = Dearest(decision, type)) return *index;
  }
  std::map<CardNumber, Index> discards;
  Cards allowed;
  for (const Index index : IndicesOf(decision, pb::ACTION_TYPE_DISCARD)) {
    for (const CardNumber card : decision.legal_actions(static_cast<int>(index)).cards()) {
      discards[card] = index;
      allowed.push_back(card);
    }
  }
  const auto card = DearestLoose(Listed(decision.observation().hand()), allowed, rules_);
  return card ? discards.at(*card) : 0;
}

// The index of the action of this type with most points, then most cards; the first of equals.
std::optional<Greedy::Index> Greedy::Dearest(const pb::Decision& decision,
                                             pb::ActionType type) const {
  const auto indices = IndicesOf(decision, type);
  const auto order = [&](Index index) {
    const Cards cards = Listed(decision.legal_actions(static_cast<int>(index)).cards());
    return std::pair(SumOfPoints(cards, rules_), cards.size());
  };
  const auto best = std::max_element(indices.begin(), indices.end(), [&](Index one, Index other) {
    return order(one) < order(other);
  });
  if (best == indices.end()) return std::nullopt;
  return *best;
}

}  // namespace greedy
