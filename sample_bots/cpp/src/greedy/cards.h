// Cards by their numbers: what they are, cost and go with.
#pragma once

#include <vector>

#include "schema.h"

namespace greedy {

// A value of the enum Card: 1 (AC) to 52 (KS), 53 for the joker.
using CardNumber = int;
using Cards = std::vector<CardNumber>;

constexpr int kAce = 1;
constexpr int kKing = 13;
constexpr CardNumber kJoker = pb::CARD_XX;

// 1 (ace) to 13 (king).
constexpr int Rank(CardNumber card) { return (card - 1) % 13 + 1; }

// 0 to 3 in the order C D H S.
constexpr int Suit(CardNumber card) { return (card - 1) / 13; }

// Whether some cards may stand for others.
bool HasWilds(const pb::RuleSet& rules);

// Whether the card may stand for another.
bool IsWild(CardNumber card, const pb::RuleSet& rules);

// Whether an ace may also stand above the king.
bool IsAceHigh(const pb::RuleSet& rules);

// Whether a set may hold one suit twice.
bool AreSuitsFree(const pb::RuleSet& rules);

// What the card costs when it is left in hand.
int Points(CardNumber card, const pb::RuleSet& rules);

// What the cards cost together.
int SumOfPoints(const Cards& cards, const pb::RuleSet& rules);

// The hand less one copy of each used card.
Cards Without(Cards hand, const Cards& used);

bool Contains(const Cards& cards, CardNumber card);

// Whether the card is a step from a meld with one of the others: a pair, or the same suit within
// two ranks.
bool IsConnected(CardNumber card, const Cards& others, const pb::RuleSet& rules);

}  // namespace greedy
