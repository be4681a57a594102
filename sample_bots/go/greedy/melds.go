package greedy

import (
	"slices"

	pb "greedy-go/rummypb"
)

// isSet tells a set from a run.
func isSet(meld []pb.Card) bool {
	return rank(meld[0]) == rank(meld[1])
}

// fits tells whether the natural card may be laid off on the meld: a set, or a run upwards.
func fits(card pb.Card, meld []pb.Card, rules *pb.RuleSet) bool {
	if isSet(meld) {
		isNew := rules.GetSetSuits() == pb.SetSuits_SET_SUITS_ANY || !slices.Contains(meld, card)
		return rank(card) == rank(meld[0]) && len(meld) < 4 && isNew
	}
	if suit(card) != suit(meld[0]) {
		return false
	}
	low := rank(meld[0])
	high := low + len(meld) - 1
	if rank(card) == low-1 || rank(card) == high+1 {
		return true
	}
	return isAceHigh(rules) && rank(card) == ace && high == king && low != ace
}

// extended returns the meld with a card that fits, a run still upwards.
func extended(meld []pb.Card, card pb.Card) []pb.Card {
	if !isSet(meld) && rank(card) == rank(meld[0])-1 {
		return slices.Concat([]pb.Card{card}, meld)
	}
	return slices.Concat(meld, []pb.Card{card})
}

// meldsWithin returns every set and run of natural cards in the hand, runs upwards.
func meldsWithin(hand []pb.Card, rules *pb.RuleSet) [][]pb.Card {
	var byRank [king + 1][]pb.Card
	var bySuit [4][aceHigh + 1]pb.Card // 0 where the hand has no such card
	anySuits := rules.GetSetSuits() == pb.SetSuits_SET_SUITS_ANY
	for _, card := range slices.Sorted(slices.Values(hand)) {
		if card == joker {
			continue
		}
		same := byRank[rank(card)]
		if anySuits || !slices.Contains(same, card) {
			byRank[rank(card)] = append(same, card)
		}
		places := &bySuit[suit(card)]
		places[rank(card)] = card
		if rank(card) == ace && isAceHigh(rules) {
			places[aceHigh] = card
		}
	}
	var melds [][]pb.Card
	for _, cards := range byRank {
		melds = appendSets(melds, nil, cards)
	}
	for suit := range bySuit {
		melds = appendRuns(melds, &bySuit[suit])
	}
	return melds
}

// appendSets appends every choice of three or four of the cards that goes on from the chosen ones.
func appendSets(melds [][]pb.Card, chosen, cards []pb.Card) [][]pb.Card {
	if len(chosen) >= 3 {
		melds = append(melds, chosen)
	}
	if len(chosen) == 4 {
		return melds
	}
	for at, card := range cards {
		melds = appendSets(melds, slices.Concat(chosen, []pb.Card{card}), cards[at+1:])
	}
	return melds
}

// appendRuns appends every run of one suit. None holds the ace at both ends: from the ace it stops
// at the king.
func appendRuns(melds [][]pb.Card, places *[aceHigh + 1]pb.Card) [][]pb.Card {
	for low := ace; low <= king; low++ {
		end := low
		for end <= aceHigh && places[end] != 0 && end-low < king {
			end++
			if end-low >= 3 {
				melds = append(melds, slices.Clone(places[low:end]))
			}
		}
	}
	return melds
}
