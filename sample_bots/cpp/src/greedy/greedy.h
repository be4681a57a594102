// Plays what helps now: it melds and lays off all it can, and throws what costs most.
//
// The strategy is the same as that of the sample bot `greedy` in Python, action by action.
#pragma once

#include "client/bot.h"

namespace greedy {

// Needs no memory: each decision says all that it looks at.
class Greedy : public client::Strategy {
 public:
  explicit Greedy(const pb::MatchStarting& starting) : rules_(starting.rules()) {}

  // Draws, or plans the rest of the turn; with wild cards it takes one legal action at a time.
  client::Answer Choose(const pb::Decision& decision) override;

 private:
  using Index = std::uint32_t;

  [[nodiscard]] Index Draw(const pb::Decision& decision) const;
  [[nodiscard]] bool WantsUpcard(const pb::Observation& seen) const;
  [[nodiscard]] Index OneAction(const pb::Decision& decision) const;
  [[nodiscard]] std::optional<Index> Dearest(const pb::Decision& decision,
                                             pb::ActionType type) const;

  pb::RuleSet rules_;
};

}  // namespace greedy
