// The rest of a turn, played ahead in the mind.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "client/bot.h"
#include "greedy/cards.h"

namespace greedy {

// Whether the seat may lay off before it melds anything.
bool AreLayoffsOpen(const pb::Observation& seen, const pb::RuleSet& rules);

// The allowed card to throw: natural before wild, loose before connected, then the dearest, then
// the highest number. Nothing if none is allowed.
std::optional<CardNumber> DearestLoose(const Cards& hand, const Cards& allowed,
                                       const pb::RuleSet& rules);

// What is in hand, on the table, and planned.
//
// Every step is checked by a rule that is stricter than the referee's (see LeavesAnEnd), so a plan
// made here is legal under every set of rules without wild cards.
class Turn {
 public:
  // `rules` must outlive the turn.
  Turn(const pb::Observation& seen, const pb::RuleSet& rules);

  // Plays the turn to its end: melds, layoffs, the discard.
  client::Plan Plan() &&;

 private:
  [[nodiscard]] std::optional<Cards> BestMeld() const;
  [[nodiscard]] bool IsBetter(const Cards& meld, const Cards& other) const;
  [[nodiscard]] std::optional<std::pair<CardNumber, std::uint32_t>> FirstLayoff() const;
  [[nodiscard]] bool MayDiscard(CardNumber card, const Cards& hand) const;
  [[nodiscard]] bool LeavesAnEnd(const Cards& used) const;
  void Meld(const Cards& cards);
  void LayOff(CardNumber card, std::uint32_t meld_id);
  void Add(pb::ActionType type, const Cards& cards, std::uint32_t meld_id);

  const pb::RuleSet& rules_;
  Cards hand_;
  std::map<std::uint32_t, Cards> table_;
  CardNumber taken_;
  std::uint32_t melds_;  // laid in this turn, planned ones included
  bool are_layoffs_open_;
  client::Plan planned_;
};

}  // namespace greedy
