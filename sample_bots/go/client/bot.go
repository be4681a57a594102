// Package client is the way from a strategy to the referee: one stream, any number of matches
// over it.
//
// A bot is a [Strategy] made anew for each match. [Bot] says what is answered to each message and
// does no input or output of its own; [Main] runs it on a stream, and dials again when that is
// lost.
package client

import (
	"fmt"
	"io"
	"time"

	pb "greedy-go/rummypb"
)

const maxConcurrentMatches = 16

// Strategy plays one seat of one match.
type Strategy interface {
	// Choose answers a decision: with a plan made by [Plan], or an index made by [Index].
	Choose(decision *pb.Decision) Answer
}

// Observer is what a strategy is too that wants to know what happened. Each event of the match
// comes once, in order, and before the decision that it led to.
type Observer interface {
	Observe(event *pb.Event)
}

// Answer is a plan of actions or an index into the legal actions.
type Answer struct {
	plan  []*pb.Action
	index *uint32
}

// Plan answers with actions to be applied in this order.
func Plan(actions []*pb.Action) Answer {
	return Answer{plan: actions}
}

// Index answers with one of the decision's legal actions.
func Index(index int) Answer {
	number := uint32(index)
	return Answer{index: &number}
}

// Actions returns the plan; nil if the answer is an index.
func (a Answer) Actions() []*pb.Action {
	return a.plan
}

// LegalAction returns the index, and whether the answer is one.
func (a Answer) LegalAction() (index int, ok bool) {
	if a.index == nil {
		return 0, false
	}
	return int(*a.index), true
}

// Factory makes the strategy for a match that begins.
type Factory func(starting *pb.MatchStarting) Strategy

// Bot keeps the running matches and knows the answer to each message.
type Bot struct {
	name    string
	version string
	factory Factory
	log     io.Writer
	seats   map[string]*seat
}

// seat is a running match.
type seat struct {
	strategy  Strategy
	reconnect time.Duration
	nextEvent uint32 // number of the first event that the strategy has not seen
}

// NewBot returns a bot without matches. Rejected choices are told to log.
func NewBot(name, version string, factory Factory, log io.Writer) *Bot {
	return &Bot{
		name:    name,
		version: version,
		factory: factory,
		log:     log,
		seats:   map[string]*seat{},
	}
}

// IsPlaying tells whether a match is running.
func (b *Bot) IsPlaying() bool {
	return len(b.seats) > 0
}

// ReconnectTime returns how long the running matches wait for a lost stream to come back.
func (b *Bot) ReconnectTime() time.Duration {
	var longest time.Duration
	for _, seat := range b.seats {
		longest = max(longest, seat.reconnect)
	}
	return longest
}

// Hello returns the first message of a stream.
func (b *Bot) Hello() *pb.PlayRequest {
	hello := &pb.Hello{
		Bot:                  b.name,
		Version:              b.version,
		MaxConcurrentMatches: maxConcurrentMatches,
	}
	return &pb.PlayRequest{Message: &pb.PlayRequest_Hello{Hello: hello}}
}

// Answer returns the answer to a message, nil if it needs none or is not known here.
func (b *Bot) Answer(response *pb.PlayResponse) *pb.PlayRequest {
	switch message := response.GetMessage().(type) {
	case *pb.PlayResponse_Update:
		return b.update(message.Update)
	case *pb.PlayResponse_MatchStarting:
		return b.matchStarting(message.MatchStarting)
	case *pb.PlayResponse_MatchEnded:
		delete(b.seats, message.MatchEnded.GetMatchId())
	case *pb.PlayResponse_Ping:
		pong := &pb.Pong{Nonce: message.Ping.GetNonce()}
		return &pb.PlayRequest{Message: &pb.PlayRequest_Pong{Pong: pong}}
	case *pb.PlayResponse_Rejected:
		fmt.Fprintf(b.log, "%s: choice rejected: %s\n", b.name, message.Rejected.GetText())
	case *pb.PlayResponse_Welcome:
		b.welcome(message.Welcome)
	}
	return nil
}

func (b *Bot) matchStarting(starting *pb.MatchStarting) *pb.PlayRequest {
	id := starting.GetMatchId()
	// After a reconnect it may come again: the strategy then goes on.
	if _, known := b.seats[id]; !known {
		milliseconds := starting.GetTimeControl().GetReconnectMs()
		b.seats[id] = &seat{
			strategy:  b.factory(starting),
			reconnect: time.Duration(milliseconds) * time.Millisecond,
			nextEvent: 1,
		}
	}
	return &pb.PlayRequest{Message: &pb.PlayRequest_Ready{Ready: &pb.Ready{MatchId: id}}}
}

func (b *Bot) update(update *pb.Update) *pb.PlayRequest {
	seat, known := b.seats[update.GetMatchId()]
	if !known {
		return nil
	}
	seat.observe(update)
	decision := update.GetDecision()
	if decision == nil {
		return nil
	}
	answer := seat.strategy.Choose(decision)
	choice := &pb.Choice{
		MatchId:          update.GetMatchId(),
		DecisionId:       decision.GetDecisionId(),
		Actions:          answer.plan,
		LegalActionIndex: answer.index,
	}
	return &pb.PlayRequest{Message: &pb.PlayRequest_Choice{Choice: choice}}
}

// observe shows the events that are new: after a reconnect those of the current deal come again
// under their old numbers.
func (s *seat) observe(update *pb.Update) {
	observer, observes := s.strategy.(Observer)
	if !observes {
		return
	}
	for offset, event := range update.GetEvents() {
		number := update.GetFirstEventNumber() + uint32(offset)
		if number >= s.nextEvent {
			observer.Observe(event)
			s.nextEvent = number + 1
		}
	}
}

// welcome forgets the matches that the new stream does not take over: they have ended meanwhile.
func (b *Bot) welcome(welcome *pb.Welcome) {
	resumed := map[string]*seat{}
	for _, id := range welcome.GetResumedMatchIds() {
		if seat, known := b.seats[id]; known {
			resumed[id] = seat
		}
	}
	b.seats = resumed
}
