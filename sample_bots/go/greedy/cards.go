// Package greedy plays what helps now: it melds and lays off all it can, and throws what costs
// most. The strategy is the same as that of the sample bot `greedy` in Python, action by action.
package greedy

import (
	"slices"

	pb "greedy-go/rummypb"
)

const (
	ace     = 1
	king    = 13
	aceHigh = king + 1
	joker   = pb.Card_CARD_XX
)

// rank returns 1 (ace) to 13 (king).
func rank(card pb.Card) int {
	return (int(card)-1)%13 + 1
}

// suit returns 0 to 3 in the order C D H S.
func suit(card pb.Card) int {
	return (int(card) - 1) / 13
}

// hasWilds tells whether some cards may stand for others.
func hasWilds(rules *pb.RuleSet) bool {
	wilds := rules.GetWilds()
	return wilds != pb.Wilds_WILDS_UNSPECIFIED && wilds != pb.Wilds_WILDS_NONE
}

// isWild tells whether the card may stand for another.
func isWild(card pb.Card, rules *pb.RuleSet) bool {
	switch rules.GetWilds() {
	case pb.Wilds_WILDS_DEUCES, pb.Wilds_WILDS_JOKERS_AND_DEUCES:
		return card == joker || rank(card) == 2
	default:
		return card == joker
	}
}

// isAceHigh tells whether an ace may also stand above the king.
func isAceHigh(rules *pb.RuleSet) bool {
	return rules.GetAce() == pb.Ace_ACE_HIGH_OR_LOW
}

// points returns what the card costs when it is left in hand.
func points(card pb.Card, rules *pb.RuleSet) int {
	switch {
	case isWild(card, rules):
		return 15
	case rank(card) == ace:
		return max(1, int(rules.GetAcePoints()))
	default:
		return min(rank(card), 10)
	}
}

func sumOfPoints(cards []pb.Card, rules *pb.RuleSet) int {
	sum := 0
	for _, card := range cards {
		sum += points(card, rules)
	}
	return sum
}

// without returns the hand less one copy of each used card.
func without(hand []pb.Card, used ...pb.Card) []pb.Card {
	rest := slices.Clone(hand)
	for _, card := range used {
		if at := slices.Index(rest, card); at >= 0 {
			rest = slices.Delete(rest, at, at+1)
		}
	}
	return rest
}

// isConnected tells whether the card is a step from a meld with one of the others: a pair, or the
// same suit within two ranks.
func isConnected(card pb.Card, others []pb.Card, rules *pb.RuleSet) bool {
	for _, other := range others {
		if isWild(other, rules) {
			continue
		}
		low, high := min(rank(card), rank(other)), max(rank(card), rank(other))
		switch {
		case low == high:
			if other != card || rules.GetSetSuits() == pb.SetSuits_SET_SUITS_ANY {
				return true
			}
		case suit(card) == suit(other):
			if high-low <= 2 || isAceHigh(rules) && low == ace && high >= king-1 {
				return true
			}
		}
	}
	return false
}
