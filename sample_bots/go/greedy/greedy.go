package greedy

import (
	"cmp"
	"slices"

	"greedy-go/client"
	pb "greedy-go/rummypb"
)

// Bot needs no memory: each decision says all that it looks at.
type Bot struct {
	rules *pb.RuleSet
}

// New returns the bot for a match that begins.
func New(starting *pb.MatchStarting) client.Strategy {
	return &Bot{rules: starting.GetRules()}
}

// Choose draws, or plans the rest of the turn; with wild cards it takes one legal action at a time.
func (b *Bot) Choose(decision *pb.Decision) client.Answer {
	switch {
	case decision.GetObservation().GetPhase() == pb.Phase_PHASE_DRAW:
		return client.Index(b.draw(decision))
	case hasWilds(b.rules):
		return client.Index(b.oneAction(decision))
	default:
		return client.Plan(newTurn(decision.GetObservation(), b.rules).plan())
	}
}

func (b *Bot) draw(decision *pb.Decision) int {
	stock := indexOf(decision, pb.ActionType_ACTION_TYPE_DRAW_STOCK)
	discard := indexOf(decision, pb.ActionType_ACTION_TYPE_DRAW_DISCARD)
	switch {
	case discard < 0:
		return max(stock, 0)
	case stock < 0 || b.wantsUpcard(decision.GetObservation()):
		return discard
	default:
		return stock
	}
}

func indexOf(decision *pb.Decision, kind pb.ActionType) int {
	return slices.IndexFunc(decision.GetLegalActions(), func(action *pb.Action) bool {
		return action.GetType() == kind
	})
}

func (b *Bot) wantsUpcard(seen *pb.Observation) bool {
	pile := seen.GetDiscardPile()
	if len(pile) == 0 {
		return false
	}
	upcard := pile[len(pile)-1]
	if isWild(upcard, b.rules) {
		return true
	}
	hand := slices.Concat(seen.GetHand(), []pb.Card{upcard})
	for _, meld := range meldsWithin(hand, b.rules) {
		if slices.Contains(meld, upcard) {
			return true
		}
	}
	if !areLayoffsOpen(seen, b.rules) {
		return false
	}
	return slices.ContainsFunc(seen.GetTable(), func(meld *pb.Meld) bool {
		// Melds with wild cards are passed over: what fits them is not worth the code.
		return len(meld.GetMeanings()) == 0 && fits(upcard, meld.GetCards(), b.rules)
	})
}

// oneAction returns the index of the action that empties the hand of most points, melds first.
func (b *Bot) oneAction(decision *pb.Decision) int {
	for _, kind := range []pb.ActionType{
		pb.ActionType_ACTION_TYPE_MELD,
		pb.ActionType_ACTION_TYPE_LAY_OFF,
	} {
		if index := b.dearest(decision.GetLegalActions(), kind); index >= 0 {
			return index
		}
	}
	var allowed []pb.Card
	indices := map[pb.Card]int{}
	for index, action := range decision.GetLegalActions() {
		if action.GetType() == pb.ActionType_ACTION_TYPE_DISCARD && len(action.GetCards()) == 1 {
			card := action.GetCards()[0]
			allowed = append(allowed, card)
			indices[card] = index
		}
	}
	if len(allowed) == 0 {
		return 0
	}
	return indices[dearestLoose(decision.GetObservation().GetHand(), allowed, b.rules)]
}

// dearest returns the index of the action of this kind with most points, then most cards; the
// first of equals, -1 if there is none.
func (b *Bot) dearest(actions []*pb.Action, kind pb.ActionType) int {
	best, mostPoints, mostCards := -1, 0, 0
	for index, action := range actions {
		if action.GetType() != kind {
			continue
		}
		worth, size := sumOfPoints(action.GetCards(), b.rules), len(action.GetCards())
		if best < 0 || worth > mostPoints || worth == mostPoints && size > mostCards {
			best, mostPoints, mostCards = index, worth, size
		}
	}
	return best
}

// dearestLoose returns the allowed card to throw: natural before wild, loose before connected, then
// the dearest, then the highest number.
func dearestLoose(hand, allowed []pb.Card, rules *pb.RuleSet) pb.Card {
	return slices.MaxFunc(allowed, func(one, other pb.Card) int {
		return cmp.Or(
			compareBools(!isWild(one, rules), !isWild(other, rules)),
			compareBools(isLoose(one, hand, rules), isLoose(other, hand, rules)),
			cmp.Compare(points(one, rules), points(other, rules)),
			cmp.Compare(one, other),
		)
	})
}

func isLoose(card pb.Card, hand []pb.Card, rules *pb.RuleSet) bool {
	return !isConnected(card, without(hand, card), rules)
}

func compareBools(one, other bool) int {
	switch {
	case one == other:
		return 0
	case one:
		return 1
	default:
		return -1
	}
}
