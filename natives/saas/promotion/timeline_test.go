package promotion

import (
	"errors"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/saas"
)

// A publisher runs c, a, b, and then a again. The record of a has the time of the second run
// alone, and still c ran only until the first one.
func TestGoingBackKeepsTheTimeOfOthers(t *testing.T) {
	b, at := newBucket(), RecordPlace{"stage", "p"}
	for i, commit := range []string{"c", "a", "b", "a"} {
		if err := Publish(t.Context(), b, at, commit,
			Result{Success: true, At: now.Add(hours(float64(i - 20)))}); err != nil {
			t.Fatal(err)
		}
	}
	s := Subject{Channels: []Channel{{"stage", []string{"p"}}}, SoakTime: hours(24)}
	logs := NewRecords(b, 2).Read(t.Context(), s, "a")
	for commit, want := range map[string]float64{"c": 23, "b": 23, "a": 24 - 17} {
		if left, opens, err := soaked(s, commit, logs, now); left != hours(want) || err != nil ||
			opens.IsZero() != (commit != "a") {
			t.Errorf("%s must run %v longer until %v, %v, want %vh", commit, left, opens, err, want)
		}
	}
}

func TestTimelineThatCannotBeReadIsUnknown(t *testing.T) {
	for name, damage := range map[string]func(b *testBucket, key string){
		"no answer":     func(b *testBucket, key string) { b.fail[key] = errors.New("no answer") },
		"damaged":       func(b *testBucket, key string) { b.objects[key] = stored{[]byte(`{"version":1,"runs":[`), 1} },
		"newer version": func(b *testBucket, key string) { b.objects[key] = stored{[]byte(`{"version":2,"runs":[]}`), 1} },
		"unknown key":   func(b *testBucket, key string) { b.objects[key] = stored{[]byte(`{"version":1,"more":1}`), 1} },
		"two documents": func(b *testBucket, key string) { b.objects[key] = stored{[]byte(`{"version":1}{"version":1}`), 1} },
		"too large": func(b *testBucket, key string) {
			b.objects[key] = stored{[]byte(strings.Repeat(" ", maxTimeline) + `{"version":1}`), 1}
		},
	} {
		b, at := newBucket(), RecordPlace{"stage", "p"}
		b.put(t, at, "a", `{"success": true, "check_in": "2026-01-01 00:00:00+00:00"}`)
		damage(b, "state/prcheck-saas-deploy/runs/stage/p")
		s := Subject{Channels: []Channel{{"stage", []string{"p"}}}, SoakTime: hours(24)}
		if v := Gate(s, "a", NewRecords(b, 1).Read(t.Context(), s, "a"), now); v.Open || v.Err == nil {
			t.Errorf("%s: got %+v", name, v)
		}
		if err := Publish(t.Context(), b, at, "a", Result{Success: true, At: now}); err == nil {
			t.Errorf("%s: a run was noted on top of it", name)
		}
	}
}

func TestTimelineIsBounded(t *testing.T) {
	b, at := newBucket(), RecordPlace{"stage", "p"}
	for i := range maxRuns + 10 {
		if _, err := noteRun(t.Context(), b, at, strings.Repeat("ab"[i%2:i%2+1], 40), now); err != nil {
			t.Fatal(err)
		}
	}
	line, _, err := readTimeline(t.Context(), b, at)
	if err != nil || len(line.Runs) != maxRuns ||
		len(b.objects["state/prcheck-saas-deploy/runs/stage/p"].raw) > maxTimeline {
		t.Errorf("got %d runs, %v", len(line.Runs), err)
	}
}

func TestNotedPutsNotesInPlace(t *testing.T) {
	data := []saas.ChannelData{{Channel: "a", Parents: []saas.ParentConfig{{Saas: "x", Hash: "1"},
		{Saas: "y", Hash: "2"}}}}
	got := Notes(Noted(data, []Note{{"a", "y", "3"}, {"b", "x", "4"}}))
	if want := []Note{{"a", "x", "1"}, {"a", "y", "3"}, {"b", "x", "4"}}; len(got) != 3 || got[0] != want[0] ||
		got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %v, want %v", got, want)
	}
	if data[0].Parents[1].Hash != "2" {
		t.Error("the data that were given changed")
	}
}
