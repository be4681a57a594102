package client

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "greedy-go/rummypb"
)

// recorder remembers the events and answers as the test wants.
type recorder struct {
	events []uint32
	answer Answer
}

func (r *recorder) Choose(*pb.Decision) Answer {
	return r.answer
}

func (r *recorder) Observe(event *pb.Event) {
	r.events = append(r.events, event.GetDrew().GetSeat())
}

func newRecorder(answer Answer) (*Bot, *recorder, *bytes.Buffer) {
	var log bytes.Buffer
	strategy := &recorder{answer: answer}
	factory := func(*pb.MatchStarting) Strategy { return strategy }
	return NewBot("recorder", "9", factory, &log), strategy, &log
}

func starting(id string) *pb.PlayResponse {
	return &pb.PlayResponse{Message: &pb.PlayResponse_MatchStarting{
		MatchStarting: &pb.MatchStarting{
			MatchId:     id,
			TimeControl: &pb.TimeControl{ReconnectMs: 1500},
		},
	}}
}

func updated(update *pb.Update) *pb.PlayResponse {
	return &pb.PlayResponse{Message: &pb.PlayResponse_Update{Update: update}}
}

func drew(seats ...uint32) []*pb.Event {
	var events []*pb.Event
	for _, seat := range seats {
		events = append(events, &pb.Event{Event: &pb.Event_Drew{Drew: &pb.Drew{Seat: seat}}})
	}
	return events
}

func TestMatchesComeAndGo(t *testing.T) {
	bot, _, _ := newRecorder(Index(0))
	if bot.IsPlaying() || bot.ReconnectTime() != 0 {
		t.Error("plays before a match begins")
	}
	if ready := bot.Answer(starting("m")); ready.GetReady().GetMatchId() != "m" {
		t.Errorf("answered %v", ready)
	}
	if !bot.IsPlaying() || bot.ReconnectTime() != 1500*time.Millisecond {
		t.Error("does not play")
	}
	ended := &pb.PlayResponse_MatchEnded{MatchEnded: &pb.MatchEnded{MatchId: "m"}}
	if answer := bot.Answer(&pb.PlayResponse{Message: ended}); answer != nil {
		t.Errorf("answered %v", answer)
	}
	if bot.IsPlaying() {
		t.Error("plays on")
	}
}

func TestAnswersWithAnIndexOrAPlan(t *testing.T) {
	plan := []*pb.Action{{Type: pb.ActionType_ACTION_TYPE_DISCARD, Cards: []pb.Card{1}}}
	zero := uint32(0)
	for name, test := range map[string]struct {
		answer Answer
		want   *pb.Choice
	}{
		"index": {Index(0), &pb.Choice{MatchId: "m", DecisionId: 7, LegalActionIndex: &zero}},
		"plan":  {Plan(plan), &pb.Choice{MatchId: "m", DecisionId: 7, Actions: plan}},
	} {
		t.Run(name, func(t *testing.T) {
			bot, _, _ := newRecorder(test.answer)
			bot.Answer(starting("m"))
			decision := &pb.Decision{DecisionId: 7}
			got := bot.Answer(updated(&pb.Update{MatchId: "m", Decision: decision})).GetChoice()
			if !proto.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestEventsComeOnceAndInOrder(t *testing.T) {
	bot, strategy, _ := newRecorder(Index(0))
	bot.Answer(starting("m"))
	bot.Answer(updated(&pb.Update{MatchId: "m", FirstEventNumber: 1, Events: drew(0, 1)}))
	bot.Answer(starting("m")) // the stream was lost
	answer := bot.Answer(
		updated(&pb.Update{MatchId: "m", FirstEventNumber: 1, Events: drew(0, 1, 2)}))
	if answer != nil {
		t.Errorf("answered %v", answer)
	}
	if want := []uint32{0, 1, 2}; !slices.Equal(strategy.events, want) {
		t.Errorf("saw %v, want %v", strategy.events, want)
	}
}

func TestSkipsWhatItDoesNotKnow(t *testing.T) {
	bot, _, _ := newRecorder(Index(0))
	for _, message := range []*pb.PlayResponse{
		{},
		updated(&pb.Update{MatchId: "unknown", Decision: &pb.Decision{}}),
		{Message: &pb.PlayResponse_Pong{Pong: &pb.Pong{Nonce: 1}}},
	} {
		if answer := bot.Answer(message); answer != nil {
			t.Errorf("answered %v to %v", answer, message)
		}
	}
}

func TestWhatIsNotResumedIsOver(t *testing.T) {
	bot, _, _ := newRecorder(Index(0))
	bot.Answer(starting("a"))
	bot.Answer(starting("b"))
	welcome := &pb.Welcome{ResumedMatchIds: []string{"b", "c"}}
	bot.Answer(&pb.PlayResponse{Message: &pb.PlayResponse_Welcome{Welcome: welcome}})
	for id, plays := range map[string]bool{"a": false, "b": true, "c": false} {
		update := &pb.Update{MatchId: id, Decision: &pb.Decision{DecisionId: 1}}
		if answer := bot.Answer(updated(update)); (answer != nil) != plays {
			t.Errorf("match %s: answered %v", id, answer)
		}
	}
}

func TestRejectionsAreToldToTheAuthor(t *testing.T) {
	bot, _, log := newRecorder(Index(0))
	rejected := &pb.Rejected{Text: "discard KC: the hand does not hold KC"}
	bot.Answer(&pb.PlayResponse{Message: &pb.PlayResponse_Rejected{Rejected: rejected}})
	want := "recorder: choice rejected: discard KC: the hand does not hold KC\n"
	if log.String() != want {
		t.Errorf("told %q, want %q", log.String(), want)
	}
}
