package greedy

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "greedy-go/rummypb"
)

// vectors are real decisions with the answers that every language's bot must give.
type vectors struct {
	Rules []struct {
		Rules []byte `json:"rules"`
	} `json:"rules"`
	Decisions []struct {
		Rules    int    `json:"rules"`
		Decision []byte `json:"decision"`
		About    string `json:"about"`
		Answer   answer `json:"answer"`
	} `json:"decisions"`
}

type answer struct {
	Index   *int     `json:"index,omitempty"`
	Actions []action `json:"actions,omitempty"`
}

type action struct {
	Type   string   `json:"type"`
	Cards  []string `json:"cards"`
	MeldID uint32   `json:"meld_id,omitempty"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	file := os.Getenv("RUMMY_VECTORS")
	if file == "" {
		file = "../../vectors/greedy.json"
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var read vectors
	if err := json.Unmarshal(content, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func TestEveryVectorGetsItsAnswer(t *testing.T) {
	read := readVectors(t)
	if len(read.Decisions) < 1000 {
		t.Fatalf("only %d decisions", len(read.Decisions))
	}
	rules := make([]*pb.RuleSet, len(read.Rules))
	for number, entry := range read.Rules {
		rules[number] = &pb.RuleSet{}
		if err := proto.Unmarshal(entry.Rules, rules[number]); err != nil {
			t.Fatal(err)
		}
	}
	for number, entry := range read.Decisions {
		var decision pb.Decision
		if err := proto.Unmarshal(entry.Decision, &decision); err != nil {
			t.Fatal(err)
		}
		got := text(t, chosen(rules[entry.Rules], &decision))
		if want := text(t, entry.Answer); got != want {
			t.Errorf("decision %d: %s\n got %s\nwant %s", number, entry.About, got, want)
		}
	}
}

// chosen returns the bot's answer in the form of the vectors.
func chosen(rules *pb.RuleSet, decision *pb.Decision) answer {
	chosen := New(&pb.MatchStarting{Rules: rules}).Choose(decision)
	if index, ok := chosen.LegalAction(); ok {
		return answer{Index: &index}
	}
	var actions []action
	for _, planned := range chosen.Actions() {
		entry := action{
			Type:   strings.TrimPrefix(planned.GetType().String(), "ACTION_TYPE_"),
			MeldID: planned.GetMeldId(),
		}
		for _, card := range slices.Sorted(slices.Values(planned.GetCards())) {
			entry.Cards = append(entry.Cards, strings.TrimPrefix(card.String(), "CARD_"))
		}
		actions = append(actions, entry)
	}
	return answer{Actions: actions}
}

func text(t *testing.T, value answer) string {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
