package native_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// What a caller made that is gone is taken over, and only if neither side of a change has it.
func TestCallersOfBothSides(t *testing.T) {
	const head = `{"north": {"north-a": "Atlas"}}`
	const taken = `caller "gone" is gone: it is taken over`
	for name, tt := range map[string]struct {
		base, want string
		callers    []string // of both sides, where they are not the shards
	}{
		"a run without base":          {"", taken, nil},
		"nobody has the caller":       {`{"north": {}}`, taken, nil},
		"the change removes it":       {`{"north": {}, "gone": {}}`, "error OWNED_BY_OTHER ", nil},
		"callers are not known":       {"", "error OWNED_BY_OTHER ", []string{"?"}},
		"nobody has it on both sides": {`{"north": {}, "gone": {}}`, taken, []string{"north"}},
	} {
		s := &shelf{things: map[reconcile.Key]reconcile.Thing{
			"north-a": {Key: "north-a", Body: "old", Mark: reconcile.Mark{Integration: "books", Caller: "gone"}},
		}}
		if tt.callers != nil {
			s.desire = func(d *native.Desired) {
				if d.Callers = tt.callers; tt.callers[0] == "?" {
					d.Callers = nil
				}
			}
		}
		said, err := s.run(t, tt.base, head, true, nil)
		if err != nil || !strings.Contains(said, tt.want) {
			t.Errorf("%s: got %q, %v, want %q", name, said, err, tt.want)
		}
	}
}

// The static shards of a task share its items: each item belongs to one of them, that of its key.
func TestStaticShards(t *testing.T) {
	data, all := map[string]string{}, map[string]int{}
	for i := range 20 {
		data[fmt.Sprintf("north-%d", i)] = "Atlas"
	}
	raw, err := json.Marshal(map[string]any{"north": data})
	if err != nil {
		t.Fatal(err)
	}
	for id := range 3 {
		s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
		said, err := s.run(t, "", string(raw), true,
			func(e *integration.Environment) { e.Static = plan.Fraction{Part: id + 1, Of: 3} })
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(said) {
			key := strings.TrimPrefix(strings.TrimSpace(line), "create ")
			if all[key]++; sharding.Index(key, 3) != id {
				t.Errorf("shard %d: %s", id, line)
			}
		}
	}
	for key := range data {
		if all[key] != 1 {
			t.Errorf("%s is done %d times", key, all[key])
		}
	}
}

// Data that cannot be read end a run, and say so.
func TestDataThatCannotBeRead(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	for _, isDry := range []bool{true, false} {
		_, err := s.run(t, "", "[]", isDry, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "nothing could be done: reading the desired state: json: ") {
			t.Errorf("got %v", err)
		}
	}
}
