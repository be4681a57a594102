#include "greedy/turn.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "greedy/melds.h"

namespace greedy {

bool AreLayoffsOpen(const pb::Observation& seen, const pb::RuleSet& rules) {
  if (rules.layoff_gate() != pb::LAYOFF_GATE_OWN_MELD_FIRST || seen.melds_this_turn() > 0) {
    return true;
  }
  const int seat = static_cast<int>(seen.seat());
  return seat < seen.played_size() && seen.played(seat);
}

std::optional<CardNumber> DearestLoose(const Cards& hand, const Cards& allowed,
                                       const pb::RuleSet& rules) {
  const auto order = [&](CardNumber card) {
    const bool is_loose = !IsConnected(card, Without(hand, {card}), rules);
    return std::make_tuple(!IsWild(card, rules), is_loose, Points(card, rules), card);
  };
  const auto best =
      std::max_element(allowed.begin(), allowed.end(),
                       [&](CardNumber one, CardNumber other) { return order(one) < order(other); });
  if (best == allowed.end()) return std::nullopt;
  return *best;
}

Turn::Turn(const pb::Observation& seen, const pb::RuleSet& rules)
    : rules_(rules),
      hand_(seen.hand().begin(), seen.hand().end()),
      taken_(seen.taken()),
      melds_(seen.melds_this_turn()),
      are_layoffs_open_(AreLayoffsOpen(seen, rules)) {
  std::sort(hand_.begin(), hand_.end());
  for (const pb::Meld& meld : seen.table()) {
    table_[meld.meld_id()] = Cards(meld.cards().begin(), meld.cards().end());
  }
}

client::Plan Turn::Plan() && {
  while (const auto cards = BestMeld()) Meld(*cards);
  while (const auto layoff = FirstLayoff()) LayOff(layoff->first, layoff->second);
  Cards allowed;
  std::copy_if(hand_.begin(), hand_.end(), std::back_inserter(allowed),
               [&](CardNumber card) { return MayDiscard(card, hand_); });
  if (const auto card = DearestLoose(hand_, allowed, rules_)) {
    Add(pb::ACTION_TYPE_DISCARD, {*card}, 0);
  }
  return std::move(planned_);
}

// The best of the melds that may be laid.
std::optional<Cards> Turn::BestMeld() const {
  if (rules_.has_max_melds_per_turn() && melds_ >= rules_.max_melds_per_turn()) {
    return std::nullopt;
  }
  std::optional<Cards> best;
  for (Cards& meld : MeldsWithin(hand_, rules_)) {
    if (LeavesAnEnd(meld) && (!best || IsBetter(meld, *best))) best = std::move(meld);
  }
  return best;
}

// The meld of most points, then of most cards, then of lowest cards.
bool Turn::IsBetter(const Cards& meld, const Cards& other) const {
  const int worth = SumOfPoints(meld, rules_);
  const int other_worth = SumOfPoints(other, rules_);
  if (worth != other_worth) return worth > other_worth;
  if (meld.size() != other.size()) return meld.size() > other.size();
  Cards upwards = meld;
  Cards other_upwards = other;
  std::sort(upwards.begin(), upwards.end());
  std::sort(other_upwards.begin(), other_upwards.end());
  return upwards < other_upwards;
}

// A card and the meld that it fits: the first meld that takes any, and its first card.
std::optional<std::pair<CardNumber, std::uint32_t>> Turn::FirstLayoff() const {
  if (!are_layoffs_open_) return std::nullopt;
  for (const auto& [meld_id, meld] : table_) {
    for (const CardNumber card : hand_) {
      if (Fits(card, meld, rules_) && LeavesAnEnd({card})) return std::pair(card, meld_id);
    }
  }
  return std::nullopt;
}

// Whether the card of that hand may end the turn.
bool Turn::MayDiscard(CardNumber card, const Cards& hand) const {
  const bool is_forbidden = rules_.same_card_discard() == pb::SAME_CARD_DISCARD_FORBIDDEN;
  return card != taken_ || (hand.size() == 1 && !is_forbidden);
}

// Whether the turn can end at once after these cards have left the hand.
bool Turn::LeavesAnEnd(const Cards& used) const {
  const Cards rest = Without(hand_, used);
  if (rest.empty()) return rules_.go_out() != pb::GO_OUT_MUST_DISCARD;
  return std::any_of(rest.begin(), rest.end(),
                     [&](CardNumber card) { return MayDiscard(card, rest); });
}

void Turn::Meld(const Cards& cards) {
  const std::uint32_t highest = table_.empty() ? 0 : table_.rbegin()->first;
  table_[highest + 1] = cards;
  ++melds_;
  are_layoffs_open_ = true;
  Add(pb::ACTION_TYPE_MELD, cards, 0);
}

void Turn::LayOff(CardNumber card, std::uint32_t meld_id) {
  Extend(table_.at(meld_id), card);
  Add(pb::ACTION_TYPE_LAY_OFF, {card}, meld_id);
}

void Turn::Add(pb::ActionType type, const Cards& cards, std::uint32_t meld_id) {
  hand_ = Without(std::move(hand_), cards);
  pb::Action& action = planned_.emplace_back();
  action.set_type(type);
  action.mutable_cards()->Assign(cards.begin(), cards.end());
  action.set_meld_id(meld_id);
}

}  // namespace greedy
