package greedy

import (
	"maps"
	"slices"

	pb "greedy-go/rummypb"
)

// turn is the rest of a turn, played ahead in the mind: what is in hand, on the table, and planned.
//
// Every step is checked by a rule that is stricter than the referee's (see leavesAnEnd), so a plan
// made here is legal under every set of rules without wild cards.
type turn struct {
	rules    *pb.RuleSet
	hand     []pb.Card
	table    map[uint32][]pb.Card
	taken    pb.Card
	melds    uint32 // laid in this turn, planned ones included
	layoffs  bool   // are open
	planning []*pb.Action
}

func newTurn(seen *pb.Observation, rules *pb.RuleSet) *turn {
	table := make(map[uint32][]pb.Card, len(seen.GetTable()))
	for _, meld := range seen.GetTable() {
		table[meld.GetMeldId()] = meld.GetCards()
	}
	return &turn{
		rules:   rules,
		hand:    slices.Sorted(slices.Values(seen.GetHand())),
		table:   table,
		taken:   seen.GetTaken(),
		melds:   seen.GetMeldsThisTurn(),
		layoffs: areLayoffsOpen(seen, rules),
	}
}

// areLayoffsOpen tells whether the seat may lay off before it melds anything.
func areLayoffsOpen(seen *pb.Observation, rules *pb.RuleSet) bool {
	if rules.GetLayoffGate() != pb.LayoffGate_LAYOFF_GATE_OWN_MELD_FIRST {
		return true
	}
	seat, played := int(seen.GetSeat()), seen.GetPlayed()
	return seen.GetMeldsThisTurn() > 0 || seat < len(played) && played[seat]
}

// plan plays the turn to its end: melds, layoffs, the discard.
func (t *turn) plan() []*pb.Action {
	for t.mayMeld() {
		meld := t.bestMeld()
		if meld == nil {
			break
		}
		t.meld(meld)
	}
	for t.layoffs {
		card, id := t.firstLayoff()
		if card == 0 {
			break
		}
		t.layOff(card, id)
	}
	if len(t.hand) > 0 {
		allowed := slices.DeleteFunc(slices.Clone(t.hand), func(card pb.Card) bool {
			return !t.mayDiscard(card, t.hand)
		})
		if len(allowed) > 0 {
			t.discard(dearestLoose(t.hand, allowed, t.rules))
		}
	}
	return t.planning
}

func (t *turn) mayMeld() bool {
	return t.rules.MaxMeldsPerTurn == nil || t.melds < t.rules.GetMaxMeldsPerTurn()
}

// mayDiscard tells whether the card of that hand may end the turn.
func (t *turn) mayDiscard(card pb.Card, hand []pb.Card) bool {
	if card != t.taken {
		return true
	}
	forbidden := pb.SameCardDiscard_SAME_CARD_DISCARD_FORBIDDEN
	return len(hand) == 1 && t.rules.GetSameCardDiscard() != forbidden
}

// leavesAnEnd tells whether the turn can end at once after these cards have left the hand.
func (t *turn) leavesAnEnd(used ...pb.Card) bool {
	rest := without(t.hand, used...)
	if len(rest) == 0 {
		return t.rules.GetGoOut() != pb.GoOut_GO_OUT_MUST_DISCARD
	}
	return slices.ContainsFunc(rest, func(card pb.Card) bool { return t.mayDiscard(card, rest) })
}

// bestMeld returns the meld of most points, then of most cards, then of lowest cards; nil if none
// may be laid.
func (t *turn) bestMeld() []pb.Card {
	var best []pb.Card
	for _, meld := range meldsWithin(t.hand, t.rules) {
		if t.leavesAnEnd(meld...) && (best == nil || t.isBetter(meld, best)) {
			best = meld
		}
	}
	return best
}

func (t *turn) isBetter(meld, other []pb.Card) bool {
	worth, otherWorth := sumOfPoints(meld, t.rules), sumOfPoints(other, t.rules)
	if worth != otherWorth {
		return worth > otherWorth
	}
	if len(meld) != len(other) {
		return len(meld) > len(other)
	}
	return slices.Compare(
		slices.Sorted(slices.Values(meld)), slices.Sorted(slices.Values(other))) < 0
}

// firstLayoff returns a card and the meld that it fits: the first meld that takes any, and its
// first card. The card is 0 if there is none.
func (t *turn) firstLayoff() (card pb.Card, meldID uint32) {
	for _, id := range slices.Sorted(maps.Keys(t.table)) {
		for _, card := range t.hand {
			if fits(card, t.table[id], t.rules) && t.leavesAnEnd(card) {
				return card, id
			}
		}
	}
	return 0, 0
}

func (t *turn) meld(cards []pb.Card) {
	t.add(&pb.Action{Type: pb.ActionType_ACTION_TYPE_MELD, Cards: cards})
	var highest uint32
	for id := range t.table {
		highest = max(highest, id)
	}
	t.table[highest+1] = cards
	t.melds++
	t.layoffs = true
}

func (t *turn) layOff(card pb.Card, id uint32) {
	t.add(&pb.Action{
		Type:   pb.ActionType_ACTION_TYPE_LAY_OFF,
		Cards:  []pb.Card{card},
		MeldId: id,
	})
	t.table[id] = extended(t.table[id], card)
}

func (t *turn) discard(card pb.Card) {
	t.add(&pb.Action{Type: pb.ActionType_ACTION_TYPE_DISCARD, Cards: []pb.Card{card}})
}

func (t *turn) add(action *pb.Action) {
	t.planning = append(t.planning, action)
	t.hand = without(t.hand, action.GetCards()...)
}
