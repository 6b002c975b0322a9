package peer_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/queue/peer"
)

// Worlds made at random are answered as the functions of the peer answered them.
func TestRecorded(t *testing.T) {
	raw, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Area, Name string
		Input      json.RawMessage
		Expected   json.RawMessage
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	held := map[string]int{}
	for _, one := range all {
		t.Run(one.Name, func(t *testing.T) { holdRecorded(t, one.Area, one.Input, one.Expected) })
		held[one.Area]++
	}
	for _, area := range []string{"merge_queue", "merge_serial", "merge_group", "merge_rebase", "merge_health",
		"merge_stale", "merge_foreign", "merge_labels"} {
		if held[area] < 10 {
			t.Errorf("only %d worlds of the area %s", held[area], area)
		}
	}
}

func holdRecorded(t *testing.T, area string, input, expected json.RawMessage) {
	t.Helper()
	if area == "merge_labels" {
		var c labelsCase
		decode(t, input, &c.Input)
		decode(t, expected, &c.Expected)
		holdLabels(t, c)
		return
	}
	var w world
	decode(t, input, &w)
	switch area {
	case "merge_queue":
		var want struct {
			Queue, Errors []int
			Actions       []action
		}
		decode(t, expected, &want)
		got := peer.Queue(w.snapshot(t))
		if !slices.Equal(got.Queue, want.Queue) || !slices.Equal(got.Errors, want.Errors) {
			t.Errorf("queue %v, errors %v, want %v and %v", got.Queue, got.Errors, want.Queue, want.Errors)
		}
		compare(t, "", got.Actions, want.Actions)
	case "merge_foreign":
		var c foreignCase
		decode(t, expected, &c.Expected)
		if got := peer.GoesOn(w.snapshot(t)); got != c.Expected.Continues {
			t.Errorf("goes on: %v, want %v", got, c.Expected.Continues)
		}
	default:
		c := loopCase{Input: w}
		decode(t, expected, &c.Expected)
		switch area {
		case "merge_health":
			compare(t, "", peer.Health(w.snapshot(t)), c.Expected.Actions)
		case "merge_stale":
			compare(t, "", peer.Stale(w.snapshot(t)), c.Expected.Actions)
		case "merge_rebase":
			holdLoop(t, c, peer.RebaseAll)
		default:
			holdLoop(t, c, peer.MergeAll)
		}
	}
}

func decode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}
