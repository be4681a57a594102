// Sets and runs: which are in a hand, and what fits those on the table.
#pragma once

#include <vector>

#include "greedy/cards.h"

namespace greedy {

// Whether the natural card may be laid off on the meld: a set, or a run upwards.
bool Fits(CardNumber card, const Cards& meld, const pb::RuleSet& rules);

// Adds a card that fits; a run is still upwards.
void Extend(Cards& meld, CardNumber card);

// Every set and run of natural cards in the hand, runs upwards.
std::vector<Cards> MeldsWithin(Cards hand, const pb::RuleSet& rules);

}  // namespace greedy
